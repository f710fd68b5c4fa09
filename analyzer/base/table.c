/* table.c -- a hash table of chains through the entries, grown by doubling. */
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BITS_MIN = 6, BITS_MAX = 30, LISTS = 8 * sizeof(size_t) };

int bsa_table_init(struct bsa_table *t)
{
	*t = (struct bsa_table){ .bits = BITS_MIN };
	t->chains = calloc((size_t)1 << BITS_MIN, sizeof(struct bsa_entry *));
	return t->chains ? 0 : -ENOMEM;
}

void bsa_table_fini(struct bsa_table *t)
{
	free(t->chains);
	*t = (struct bsa_table){ 0 };
}

void bsa_table_clear(struct bsa_table *t)
{
	if (t->bits_unsorted)
		t->bits = t->bits_unsorted;
	t->bits_unsorted = 0;
	memset(t->chains, 0, ((size_t)1 << t->bits) * sizeof(struct bsa_entry *));
	t->n = 0;
}

static void table_grow(struct bsa_table *t)
{
	struct bsa_table old = *t;
	struct bsa_entry **chains = calloc((size_t)2 << t->bits, sizeof(struct bsa_entry *));

	if (!chains)
		return;
	t->chains = chains;
	t->bits++;
	for (size_t i = 0; i < (size_t)1 << old.bits; i++)
		for (struct bsa_entry *e = old.chains[i], *next; e; e = next) {
			struct bsa_entry **chain = bsa_table_chain(t, e->number);

			next = e->next;
			e->next = *chain;
			*chain = e;
		}
	free(old.chains);
}

void bsa_table_add(struct bsa_table *t, struct bsa_entry *entry, uint64_t number)
{
	struct bsa_entry **chain;

	assert(!t->bits_unsorted);
	if (t->n >> (t->bits - 1) && t->bits < BITS_MAX)
		table_grow(t);
	chain = bsa_table_chain(t, number);
	entry->number = number;
	entry->next = *chain;
	*chain = entry;
	t->n++;
}

void bsa_table_remove(struct bsa_table *t, struct bsa_entry *entry)
{
	struct bsa_entry **at = bsa_table_chain(t, entry->number);

	while (*at && *at != entry)
		at = &(*at)->next;
	assert(*at && t->n);
	*at = entry->next;
	t->n--;
}

/* ---- in order ---- */

static bool number_is_before(const struct bsa_entry *a, const struct bsa_entry *b)
{
	return a->number < b->number;
}

typedef bool is_before(const struct bsa_entry *a, const struct bsa_entry *b);

/* One list of two that are sorted. Of equal entries, those of @first are first. */
static struct bsa_entry *lists_merge(struct bsa_entry *first, struct bsa_entry *second, is_before *before)
{
	struct bsa_entry *ret = NULL, **end = &ret;

	while (first && second) {
		struct bsa_entry **least = before(second, first) ? &second : &first;

		*end = *least;
		end = &(*least)->next;
		*least = *end;
	}
	*end = first ? first : second;
	return ret;
}

void bsa_table_sort(struct bsa_table *t, bool (*before)(const struct bsa_entry *a, const struct bsa_entry *b))
{
	struct bsa_entry *sorted[LISTS] = { NULL }, *all = NULL; /* sorted[k]: a list of 2^k entries, or none */

	assert(!t->bits_unsorted);
	before = before ? before : number_is_before;
	for (size_t i = 0; i < (size_t)1 << t->bits; i++)
		for (struct bsa_entry *e = t->chains[i], *next; e; e = next) {
			size_t k = 0;

			next = e->next;
			e->next = NULL;
			for (; sorted[k]; k++) {
				e = lists_merge(sorted[k], e, before);
				sorted[k] = NULL;
			}
			sorted[k] = e;
		}
	for (size_t k = 0; k < LISTS; k++)
		all = lists_merge(sorted[k], all, before);
	memset(t->chains, 0, ((size_t)1 << t->bits) * sizeof(struct bsa_entry *));
	t->chains[0] = all;
	t->bits_unsorted = t->bits;
	t->bits = 0;
}

void bsa_table_unsort(struct bsa_table *t)
{
	struct bsa_entry *e, *next, *reversed = NULL;

	if (!t->bits_unsorted)
		return;
	/* Each entry goes to the head of its chain: from the last to the first, equal ones keep their order. */
	for (e = t->chains[0]; e; e = next) {
		next = e->next;
		e->next = reversed;
		reversed = e;
	}
	t->chains[0] = NULL;
	t->bits = t->bits_unsorted;
	t->bits_unsorted = 0;
	for (e = reversed; e; e = next) {
		struct bsa_entry **chain = bsa_table_chain(t, e->number);

		next = e->next;
		e->next = *chain;
		*chain = e;
	}
}

struct bsa_entry *bsa_table_any(const struct bsa_table *t, size_t *from)
{
	for (; *from < (size_t)1 << t->bits; ++*from)
		if (t->chains[*from])
			return t->chains[*from];
	return NULL;
}

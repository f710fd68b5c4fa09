/* table.c -- a hash table of chains through the entries, grown by doubling. */
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BITS_MIN = 6, BITS_MAX = 30 };

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

struct bsa_entry *bsa_table_any(const struct bsa_table *t, size_t *from)
{
	for (; *from < (size_t)1 << t->bits; ++*from)
		if (t->chains[*from])
			return t->chains[*from];
	return NULL;
}

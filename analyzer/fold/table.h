/*
 * table.h -- entries by number: a hash table of chains through the entries themselves.
 *
 * The caller owns the entries, and puts a struct bsa_entry first into each. Several may have the same number: bsa_table_next
 * goes from one to the next. Numbers are strangers' and well mixed before use; the table grows as it fills, so chains stay
 * short whatever they are.
 */
#ifndef BSA_FOLD_TABLE_H
#define BSA_FOLD_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct bsa_entry {
	struct bsa_entry *next;
	uint64_t number;
};

struct bsa_table {
	struct bsa_entry **chains;
	size_t n;
	unsigned bits; /* 2^bits chains */
};

/* 0 or -ENOMEM. */
int bsa_table_init(struct bsa_table *t);

/* Its entries are the caller's still. */
void bsa_table_fini(struct bsa_table *t);

/* Cannot fail: without memory to grow, chains get longer. */
void bsa_table_add(struct bsa_table *t, struct bsa_entry *entry, uint64_t number);

/* It is in there. */
void bsa_table_remove(struct bsa_table *t, struct bsa_entry *entry);

/* One of them, while there are any; @from is 0 at first, and then as it was left. For who removes them all. */
struct bsa_entry *bsa_table_any(const struct bsa_table *t, size_t *from);

static inline uint64_t bsa_mixed(uint64_t v)
{
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 32;
}

/* NULL: there is none. */
static inline void *bsa_table_find(const struct bsa_table *t, uint64_t number)
{
	struct bsa_entry *e = t->chains[bsa_mixed(number) >> (64 - t->bits)];

	while (e && e->number != number)
		e = e->next;
	return e;
}

/* The next one with the number of @entry. */
static inline void *bsa_table_next(const void *entry)
{
	const struct bsa_entry *e = entry;
	struct bsa_entry *next = e->next;

	while (next && next->number != e->number)
		next = next->next;
	return next;
}

#endif

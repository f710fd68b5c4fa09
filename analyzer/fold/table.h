/*
 * table.h -- entries by number: a hash table of chains through the entries themselves.
 *
 * The caller owns the entries; a struct bsa_entry is the first member of each. Several entries may have the same number:
 * bsa_table_next iterates over them. Numbers are untrusted, and mixed before use, but for their lowest bits: numbers that follow each other, as
 * those of a stream's executions do, have chains beside each other, in the same cache lines, and never the same chain. The table
 * is at most half full: with more chains than entries, a number that is not there is mostly not there without a look at an entry, which
 * would be out of the cache.
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

/* Free the table. The caller keeps the entries. */
void bsa_table_fini(struct bsa_table *t);

/* Never fails: without memory to grow, chains get longer. */
void bsa_table_add(struct bsa_table *t, struct bsa_entry *entry, uint64_t number);

/* Remove @entry, which must be in the table. */
void bsa_table_remove(struct bsa_table *t, struct bsa_entry *entry);

/* Any entry, or NULL if the table is empty; for removing all. *from is 0 at first, then unchanged between calls. */
struct bsa_entry *bsa_table_any(const struct bsa_table *t, size_t *from);

static inline uint64_t bsa_mixed(uint64_t v)
{
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 32;
}

/* A number for @text, and for @number besides: what has the same number can still differ. */
uint64_t bsa_mixed_text(uint64_t number, const char *text);

enum { BSA_TABLE_NEAR_BITS = 12 };

static inline struct bsa_entry **bsa_table_chain(const struct bsa_table *t, uint64_t number)
{
	return &t->chains[(bsa_mixed(number >> BSA_TABLE_NEAR_BITS) + number) & (((size_t)1 << t->bits) - 1)];
}

/* The first entry with @number, or NULL. */
static inline void *bsa_table_find(const struct bsa_table *t, uint64_t number)
{
	struct bsa_entry *e = *bsa_table_chain(t, number);

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

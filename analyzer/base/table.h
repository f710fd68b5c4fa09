/*
 * base/table.h -- entries by number: a hash table of chains through the entries themselves.
 *
 * For elements that stay where they are in memory until they are removed: each is allocated by itself, or its
 * array never moves. Adding cannot fail, and entries can be removed. Where elements are in an array that
 * grows, or are so many and so small that two pointers for each are too much, see base/index.h.
 *
 * The caller owns the entries; a struct bsa_entry is the first member of each. Several entries may have the
 * same number: bsa_table_next iterates over them. Numbers are untrusted, and mixed before use with a secret, but for
 * their lowest bits: numbers that follow each other, as those of a stream's executions do, have chains beside each
 * other, in the same cache lines, and never the same chain. Numbers that differ only in these bits lead to as many
 * chains as there are, up to 2^BSA_TABLE_NEAR_BITS; where their first chain is, no one can choose. The table is at
 * most half full: with more chains than entries, a number that is not there is mostly not there without a look at an
 * entry, which would be out of the cache.
 */
#ifndef BSA_BASE_TABLE_H
#define BSA_BASE_TABLE_H

#include "base/mixed.h"

#include <stdbool.h>
#include <stddef.h>

struct bsa_entry {
	struct bsa_entry *next;
	uint64_t number;
};

struct bsa_table {
	struct bsa_entry **chains;
	size_t n;
	unsigned bits;          /* 2^bits chains; sorted: 0 */
	unsigned bits_unsorted; /* of a sorted table; 0: it is not sorted */
};

/* 0 or -ENOMEM. */
int bsa_table_init(struct bsa_table *t);

/* Free the table. The caller keeps the entries. */
void bsa_table_fini(struct bsa_table *t);

/* Remove all entries, without a look at them: they may have been freed. The table keeps its chains. */
void bsa_table_clear(struct bsa_table *t);

/* Never fails: without memory to grow, chains get longer. */
void bsa_table_add(struct bsa_table *t, struct bsa_entry *entry, uint64_t number);

/* Remove @entry, which must be in the table. */
void bsa_table_remove(struct bsa_table *t, struct bsa_entry *entry);

/*
 * Sort the entries by number, or by @before, if that is not NULL: then, bsa_table_walk and bsa_table_any return them
 * in that order, whatever the secret of mixed.h. For facts that reach a database. Entries that are equal keep the order
 * of bsa_table_next. All are in one chain then, so to find an entry, or to remove it, takes a walk to it, and none
 * can be added.
 */
void bsa_table_sort(struct bsa_table *t, bool (*before)(const struct bsa_entry *a, const struct bsa_entry *b));

/* End that. */
void bsa_table_unsort(struct bsa_table *t);

/* Any entry, or NULL if the table is empty; for removing all. *from is 0 at first, then unchanged between calls. */
struct bsa_entry *bsa_table_any(const struct bsa_table *t, size_t *from);

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

/*
 * An iteration over all entries, in any order, which differs from process to process, unless the table is sorted. All
 * zeroes: before the first entry.
 */
struct bsa_table_walk {
	size_t chain; /* the next one */
	struct bsa_entry *next;
};

/*
 * The next entry, or NULL at the end. The caller may remove, and free, the entry that was returned last; any
 * other change of the table ends the iteration.
 */
static inline void *bsa_table_walk(const struct bsa_table *t, struct bsa_table_walk *walk)
{
	struct bsa_entry *e = walk->next;

	while (!e && walk->chain < (size_t)1 << t->bits)
		e = t->chains[walk->chain++];
	walk->next = e ? e->next : NULL;
	return e;
}

#endif

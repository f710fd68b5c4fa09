/*
 * sort.h -- more pairs than fit into memory, in the order of their keys; those of one key as they came.
 *
 * Runs are sorted in memory, written to a file without a name, and merged.
 */
#ifndef BSA_STORE_SORT_H
#define BSA_STORE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct bsa_sort;
struct bsa_store_file;

struct bsa_sort_pair {
	uint64_t key, id;
};

/* @file is borrowed. NULL: no memory. */
struct bsa_sort *bsa_sort_new(const struct bsa_store_file *file);
struct bsa_sort *bsa_sort_free(struct bsa_sort *s);

/* 0, or -1 and errno; bsa_sort_next likewise. */
int bsa_sort_add(struct bsa_sort *s, struct bsa_sort_pair pair);

/* How many there are. */
size_t bsa_sort_n(const struct bsa_sort *s);

/* The next one; after the last bsa_sort_add, at most bsa_sort_n times. */
int bsa_sort_next(struct bsa_sort *s, struct bsa_sort_pair *ret);

#endif

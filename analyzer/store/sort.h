/*
 * sort.h -- more pairs than fit into memory, in the order of their keys; those of one key as they came.
 *
 * Runs are sorted in memory, written to a file without a name, and merged.
 */
#ifndef BSA_STORE_SORT_H
#define BSA_STORE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort;
struct store_file;

struct pair {
	uint64_t key, id;
};

/* @file is borrowed. NULL: no memory. */
struct sort *bsa_sort_new(const struct store_file *file);
struct sort *bsa_sort_free(struct sort *s);

/* 0, or -1 and errno; bsa_sort_next likewise. */
int bsa_sort_add(struct sort *s, struct pair pair);

/* How many there are. */
size_t bsa_sort_n(const struct sort *s);

/* The next one; after the last bsa_sort_add, at most bsa_sort_n times. */
int bsa_sort_next(struct sort *s, struct pair *ret);

#endif

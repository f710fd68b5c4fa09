/*
 * inverted.h -- inversions, in a space that grows with the executions, not with their square.
 *
 * Where n executions of high priority wait while n of low priority run, there are n * n inversions. A
 * database has INVERTED_FREE rows of stored_inversion, and INVERTED_OF_AN_EXECUTION for each execution. Where
 * there are more, each wait keeps the INVERTED_KEPT that went on longest beyond the step of who held the
 * lane, and the others of it are one row of lesser_inversion: so the worst of every wait is reported in any
 * case. One thread. Memory is that of one wait's row.
 */
#ifndef BSA_STORE_INVERTED_H
#define BSA_STORE_INVERTED_H

#include "fold/facts.h"

#include <stddef.h>

struct bsa_store;

enum { INVERTED_FREE = 1 << 13, INVERTED_OF_AN_EXECUTION = 2, INVERTED_KEPT = 2 };

struct bsa_inverted_wait {
	struct bsa_inverted kept[INVERTED_KEPT]; /* inversions of the current wait, the longest first */
	size_t n_kept;
	uint64_t n_lesser, longest, held, began, ended; /* those that are added up */
	uint64_t rows, joined; /* over all waits: rows of stored_inversion; inversions without a row */
};

/* The next inversion: those of one wait come one after the other. */
void bsa_inverted_add(struct bsa_store *s, const struct bsa_inverted *i);

/* There are no more of this clock. */
void bsa_inverted_finish(struct bsa_store *s);

#endif

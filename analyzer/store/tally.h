/* tally.h -- counts the executions during an import: by kind, and by time; and keeps the worst ones. */
#ifndef BSA_STORE_TALLY_H
#define BSA_STORE_TALLY_H

#include "fold/facts.h"

struct bsa_store;
struct bsa_tally;

/* NULL: no memory. */
struct bsa_tally *bsa_tally_new(void);
struct bsa_tally *bsa_tally_free(struct bsa_tally *t);

/* @at: its boundaries, as they are stored. 0, or negative: no memory. */
int bsa_tally_add(struct bsa_tally *t, const struct bsa_execution *x, const int64_t at[BSA_BOUNDARIES]);

/* Executions that are counted without their app and model, because there were too many kinds for their number. */
uint64_t bsa_tally_joined(const struct bsa_tally *t);

/*
 * execution_count, id_block and what is worst, when executions and misses are in their tables. 0, or the code
 * that is kept.
 */
int bsa_tally_write(struct bsa_store *s);

#endif

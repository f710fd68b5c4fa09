/* tally.h -- counts the executions during an import: by kind, and by time; and keeps the worst ones. */
#ifndef BSA_STORE_TALLY_H
#define BSA_STORE_TALLY_H

#include "fold/facts.h"

struct bsa_store;
struct tally;

/* NULL: no memory. */
struct tally *tally_new(void);
struct tally *tally_free(struct tally *t);

/* @at: its boundaries, as they are stored. 0, or negative: no memory. */
int tally_add(struct tally *t, const struct bsa_execution *x, const int64_t at[BSA_BOUNDARIES]);

/* Executions that are counted without their app and model, because there were too many kinds for their number. */
uint64_t tally_joined(const struct tally *t);

/* execution_count, id_block and what is worst, when executions and misses are in their tables. 0, or the code that is kept. */
int tally_write(struct bsa_store *s);

#endif

/* execution.h -- an execution, packed for its table (relations.def has the layout) and unpacked again. */
#ifndef BSA_STORE_EXECUTION_H
#define BSA_STORE_EXECUTION_H

#include "fold/facts.h"

struct bsa_store;

/* Into its batches, or pages. */
void bsa_execution_store(struct bsa_store *s, const struct bsa_execution *x);

/*
 * Executions are reported when they end, in nearly the order of their ids, and pages want them in that order:
 * a window of them is sorted. NULL: no memory.
 */
struct window *bsa_window_new(void);
struct window *bsa_window_free(struct window *w);

/* All of it into the pages. */
void bsa_window_empty(struct bsa_store *s);

#endif

/* overhead.h -- the time of an execution outside its useful run, by cause (docs/figures.md). */
#ifndef BSA_FOLD_OVERHEAD_H
#define BSA_FOLD_OVERHEAD_H

#include "fold/facts.h"

/*
 * Returns e2e - (run - redo), and writes its parts by cause into @ret, which sum to it. BSA_NEVER: unknown,
 * and @ret is 0. For complete executions.
 */
uint64_t bsa_overhead(const struct bsa_execution *x, uint64_t ret[BSA_CAUSES]);

#endif

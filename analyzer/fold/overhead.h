/* overhead.h -- where the time of an execution went that was not its useful run, by cause (docs/figures.md). */
#ifndef BSA_FOLD_OVERHEAD_H
#define BSA_FOLD_OVERHEAD_H

#include "fold/facts.h"

/*
 * e2e - (run - redo); what each cause has of it is in @ret, and sums to it. BSA_NEVER: it is unknown, and nobody has any. For
 * complete executions.
 */
uint64_t bsa_overhead(const struct bsa_execution *x, uint64_t ret[BSA_CAUSES]);

#endif

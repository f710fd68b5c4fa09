/*
 * execution.h -- passes an execution of the fold on to those that count executions (bsa/live.h).
 */
#ifndef BSA_LIVE_EXECUTION_H
#define BSA_LIVE_EXECUTION_H

#include "live/rows.h"

/* @cause: as bsa_rows_execution has it. @until: what ended before it is known. */
void bsa_live_execution_of(const struct bsa_live_calls *to, const struct bsa_rows *rows, const struct bsa_execution *x,
                           unsigned cause, uint64_t until);

#endif

/*
 * tell.h -- an execution of the fold, as who counts executions wants it (bsa/live.h).
 */
#ifndef BSA_LIVE_TELL_H
#define BSA_LIVE_TELL_H

#include "live/rows.h"

/* @cause: as bsa_rows_execution has it. @until: what ended before it is known. */
void bsa_tell_execution(const struct bsa_live_tells *to, const struct bsa_rows *rows, const struct bsa_execution *x,
                        unsigned cause, uint64_t until);

#endif

/*
 * execution.h -- what answers ask of an execution that C reads (bsa/executions.h). Conditions have the names that they
 * have in reports/, where SQL asks the same.
 */
#ifndef BSV_INPUT_EXECUTION_H
#define BSV_INPUT_EXECUTION_H

#include <string.h>

#include "bsa/executions.h"
#include "input/group.h"

/* Is a text of an execution @wanted? NULL is no text. */
static inline bool bsv_is(const char *text, const char *wanted)
{
	return text && !strcmp(text, wanted);
}

/* @a - @b, or the nearest number that there is. BSA_NULL_INT: one of them is NULL. */
int64_t bsv_minus(int64_t a, int64_t b);

/* The time in ns; BSA_NULL_INT: NULL. @phase is not BSV_OVERHEAD. */
int64_t bsv_phase_of(const struct bsa_execution_row *x, enum bsv_phase phase);

/* The latency; of an execution whose submission was not recorded, at least what was seen of it; BSA_NULL_INT: NULL. */
int64_t bsv_latency_seen(const struct bsa_execution_row *x);

/* Does a loss hide a part of it? */
bool bsv_lost_in_part(const struct bsa_execution_row *x);

/* A trial run may be all that it is: its path was not recorded, and no app is known to have asked for it. */
bool bsv_may_be_trial(const struct bsa_execution_row *x);

/* Whether there was a deadline was not recorded. */
bool bsv_deadline_unknown(const struct bsa_execution_row *x);

/* The side that records the end was not recorded. */
bool bsv_one_side(const struct bsa_execution_row *x);

#endif

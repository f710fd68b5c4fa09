/* outcomes.h -- counts of missed deadlines, where a loss may hide deadlines or their outcomes. */
#ifndef BSV_OUTCOMES_H
#define BSV_OUTCOMES_H

#include "input/input.h"

/* SQL: the number of executions that may or may not have had a deadline. Owned by the caller; NULL: no memory. */
char *bsv_unknown_deadlines(const struct bsv_input *input);

/*
 * SQL: a condition on executions that had a deadline and may or may not have met it; and an
 * expression for their number. Owned by the caller; NULL: no memory.
 */
char *bsv_outcome_unknown(const struct bsv_input *input);
char *bsv_unseen_outcomes(const struct bsv_input *input);

struct bsv_missed {
	int64_t deadlines, missed;
	int64_t unknown; /* executions that may have had a deadline */
	int64_t unseen;  /* number of deadlines that may or may not have been met */
	bool lost;       /* whether executions may have been lost: then the deadlines are those that were recorded */
};

/* "330", or, if executions may have been lost, "the 330 recorded". Returns @to. */
enum { BSV_RECORDED_TEXT = 64 };
const char *bsv_recorded(char to[BSV_RECORDED_TEXT], int64_t n, bool lost);

/* The sentence for people where unknown or unseen is not 0. Owned by the caller; NULL: no memory. */
char *bsv_missed_at_least(const struct bsv_missed *m);

/* Writes "1.5" or "99.96", never rounded up to 100, into @to and returns @to. */
enum { BSV_PERCENT_TEXT = 16 };
const char *bsv_percent(char to[BSV_PERCENT_TEXT], int64_t part, int64_t whole);

#endif

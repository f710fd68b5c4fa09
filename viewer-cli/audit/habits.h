/* habits.h -- habits of an app that cost more than its executions do: a burst made for each of them. */
#ifndef BSV_HABITS_H
#define BSV_HABITS_H

#include "input/input.h"

/* A habit of an app with one of its models. Strings are owned; NULL: unknown. */
struct bsv_habit {
	char *app, *model;
	char *says; /* a sentence */
	int64_t sum_ns;
	/*
	 * when the first and the last of the bursts were made, since the start of the
	 * recording; BSV_WHEN_UNKNOWN
	 */
	int64_t first_at, last_at;
};

/*
 * Read the costliest habit of the recording. Returns 1: a habit, which bsv_habit_fini frees; 0: no
 * habit. Negative: an error.
 */
int bsv_habit_read(struct bsv_habit *ret, struct bsv_input *input, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_habit_fini(struct bsv_habit *h);

extern const char bsv_habit_remedy[];

#endif

/* habits.h -- what an app does around its executions that costs it more than they do: a burst made for each of them. */
#ifndef BSV_HABITS_H
#define BSV_HABITS_H

#include "input/input.h"

/* Of an app and one of its models. Strings are owned; NULL: not known. */
struct bsv_habit {
	char *app, *model;
	char *says; /* a sentence */
	int64_t sum_ns;
};

/* The costliest one in all of the recording. 1: there is one, to be given to bsv_habit_fini; 0: none. Negative: why not. */
int bsv_habit_read(struct bsv_habit *ret, struct bsv_input *input, struct bsa_err *err);

/* All 0 is fine. */
void bsv_habit_fini(struct bsv_habit *h);

extern const char bsv_habit_remedy[];

#endif

/*
 * samples.h -- the executions of a recording, one by one, by what they have in common: what two recordings are compared by.
 */
#ifndef BSV_SAMPLES_H
#define BSV_SAMPLES_H

#include "input/input.h"
#include "stats/group.h"

struct bsv_samples {
	struct bsv_group *groups; /* in the order of their names */
	size_t n;
	struct bsv_tally *tallies; /* likewise: of all executions, also those that are in no group */
	size_t n_tallies;
	size_t executions;           /* in all groups */
	size_t given_up, in_parts;   /* left out: without an answer; not complete */
	bool full;                   /* some were recorded in full detail */
	struct bsv_times references; /* of the reference computation (execution.reference_ns), in all that was picked */
	__int128 run_ns, cpu_ns;     /* on a lane, and of that on a cpu, where that was read */
};

/* Of what was picked from @input. *ret is owned by the caller, for bsv_samples_fini, on failure too. */
int bsv_samples_read(struct bsv_samples *ret, struct bsv_input *input, struct bsa_err *err);

/* All 0 is fine. */
void bsv_samples_fini(struct bsv_samples *s);

/* The SQL behind them; owned by the caller; NULL: no memory. */
char *bsv_samples_sql(const struct bsv_input *input);

#endif

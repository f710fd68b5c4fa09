/*
 * samples.h -- the executions of a recording, grouped, for a comparison of recordings.
 */
#ifndef BSV_SAMPLES_H
#define BSV_SAMPLES_H

#include "input/group.h"
#include "input/input.h"

struct bsv_samples_chunk;

struct bsv_samples {
	struct bsv_group *groups; /* groups ordered by name */
	size_t n;
	struct bsv_tally *tallies; /* tallies ordered by name: of all executions, also of those in no group */
	size_t n_tallies;
	size_t executions;                /* number of executions in all groups */
	size_t given_up, in_parts;        /* number of executions left out: without an answer; not complete */
	bool full;                        /* whether some executions were recorded in full detail */
	struct bsv_times references;      /* reference computations (execution.reference_ns) of all picked executions */
	__int128 run_ns, cpu_ns;          /* time on a lane, and on a cpu, of executions whose cpu time was read */
	struct bsv_samples_chunk *chunks; /* memory of names, and of arrays with few elements; owned */
};

/* Read the picked executions of @input. *ret is owned by the caller, for bsv_samples_fini, also after an error. */
int bsv_samples_read(struct bsv_samples *ret, struct bsv_input *input, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_samples_fini(struct bsv_samples *s);

/* The SQL that bsv_samples_read runs; owned by the caller; NULL: no memory. */
char *bsv_samples_sql(const struct bsv_input *input);

#endif

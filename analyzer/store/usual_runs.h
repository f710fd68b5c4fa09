/* usual_runs.h -- how long executions of a model have a lane, and how long one may that was refused or given up. */
#ifndef BSA_STORE_USUAL_RUNS_H
#define BSA_STORE_USUAL_RUNS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BSA_USUAL_LEAST = 3,  /* whole runs; with fewer, the estimate of the preparation counts */
	BSA_LOOK_NS = 1000000 /* drivers look at least so often: tests/unit/test_looks.c */
};

struct bsa_usual_runs {
	uint64_t estimate;       /* from when the model was prepared; 0: unknown */
	uint64_t n, least, most; /* whole runs */
	uint64_t given_up_most;  /* longest run of those that were given up */
};

struct bsa_run_bounds {
	uint64_t least, most;
};

/* A run of @ns, below 2^62, that was whole, or given up. */
void bsa_usual_runs_add(struct bsa_usual_runs *u, uint64_t ns, bool whole);

/* Bounds of a run that was not seen whole: docs/figures.md, "Verdicts". False: nothing is known. */
bool bsa_usual_runs_bounds(const struct bsa_usual_runs *u, struct bsa_run_bounds *ret);

#endif

/*
 * times.h -- how long a model takes: learned from its runs, seeded when it is prepared; shared by threads. What is learned,
 * and what follows from it, is for policy/estimate.h to say.
 */
#ifndef NNB_SCHED_TIMES_H
#define NNB_SCHED_TIMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nnb/client.h"
#include "policy/estimate.h"

struct nnb__times {
	_Atomic uint64_t floor_ns, estimate_ns, longest_ns; /* 0: not known */
	atomic_bool confirmed;                              /* the floor, by an execution */
	atomic_uint runs;
	/* from when it was prepared on */
	bool fixed;       /* all runs are of the same shapes: otherwise one has no floor for another */
	uint64_t step_ns; /* 0: not known */
	float *left;      /* by operation: the part of a run from there on; NULL: not known */
	uint32_t n_operations;
};

/*
 * @fixed: all runs are of the same shapes. @op_ns: what each operation took, in a run that took @floor_ns of cpu; NULL: it
 * was not finished, and takes more.
 */
void nnb__times_init(struct nnb__times *times, uint32_t n_operations, bool fixed, const uint64_t *op_ns,
                     uint64_t floor_ns);
void nnb__times_fini(struct nnb__times *times);

/* Should the next run be timed? (nnb__estimate_due) */
bool nnb__times_due(struct nnb__times *times);

/* nnb__estimate_is_long */
bool nnb__times_is_long(const struct nnb__times *times);

/* A whole run, without a break, took @ns. */
void nnb__times_learn(struct nnb__times *times, uint64_t ns);

/* Between two checkpoints there were @ns. */
void nnb__times_stretch(struct nnb__times *times, uint64_t ns);

/* The least it takes from operation @op on (nnb__estimate_least, nnb__estimate_rest). */
uint64_t nnb__times_least(const struct nnb__times *times, uint32_t op);

void nnb__times_tell(const struct nnb__times *times, struct nnb_times *ret);

#endif

/*
 * times.h -- how long executions of a model take: measured by trial runs when it is prepared, then learned from its
 * runs. Threads share it; policy/estimate.h has the arithmetic.
 */
#ifndef NNB_SCHED_TIMES_H
#define NNB_SCHED_TIMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nnb/counts.h"
#include "policy/estimate.h"

struct nnb__times {
	_Atomic uint64_t floor_ns, estimate_ns, longest_ns; /* 0: unknown */
	atomic_bool confirmed;                              /* an execution has confirmed the floor */
	atomic_uint runs;
	/* constant after the preparation */
	bool fixed;       /* all runs have the same shapes: otherwise one run gives no floor for another */
	uint64_t step_ns; /* 0: unknown */
	uint64_t look_ns; /* twice the mean time from a moment of a run until the next look; 0: unknown */
	float *left;      /* by operation: the share of a run that is left from there on; NULL: unknown */
	uint32_t n_operations;
};

/*
 * @fixed: all runs have the same shapes. @op_ns: the time of each operation in a trial run that used @floor_ns of cpu
 * time; NULL: no trial run has finished, and a run takes more than @floor_ns. @look_ns: see the struct.
 */
void nnb__times_init(struct nnb__times *times, uint32_t n_operations, bool fixed, const uint64_t *op_ns,
                     uint64_t floor_ns, uint64_t look_ns);
void nnb__times_fini(struct nnb__times *times);

/* Whether to time the next run (nnb__estimate_due). */
bool nnb__times_due(struct nnb__times *times);

/*
 * Count a run that need not be timed. False: it must be, and is not counted: call nnb__times_due.
 */
bool nnb__times_pass(struct nnb__times *times);

bool nnb__times_is_long(const struct nnb__times *times);

/* What is known of a model's runs when one begins. All zeroes: nothing. */
struct nnb__times_now {
	uint64_t estimate_ns, least_ns; /* least_ns: nnb__times_least of all operations */
	bool is_long;                   /* nnb__times_is_long */
};

struct nnb__times_now nnb__times_now(const struct nnb__times *times);

/* Learn that a run without preemption took @ns. */
void nnb__times_learn(struct nnb__times *times, uint64_t ns);

/* Learn that the time between two checkpoints was @ns. */
void nnb__times_stretch(struct nnb__times *times, uint64_t ns);

/* A lower bound of the time from operation @op to the end (nnb__estimate_least, nnb__estimate_rest). */
uint64_t nnb__times_least(const struct nnb__times *times, uint32_t op);

void nnb__times_get(const struct nnb__times *times, struct nnb_times *ret);

#endif

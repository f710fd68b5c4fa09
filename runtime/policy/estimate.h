/*
 * estimate.h -- how long executions of a model take: learns from runs, and estimates. Arithmetic alone.
 *
 * The floor is the shortest lane time so far: no execution can meet a nearer deadline, so a refusal for it is
 * permanent. The estimate is the recent lane time.
 * CONCURRENCY  None: the caller owns the estimate. sched/times.h shares one between threads.
 */
#ifndef NNB_POLICY_ESTIMATE_H
#define NNB_POLICY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct nnb__estimate {
	uint64_t floor_ns, lately_ns; /* 0: unknown */
	bool confirmed;               /* an execution has confirmed the floor */
	bool fixed;                   /* all runs have the same shapes: otherwise one run gives no floor for another */
};

/* Learn that a run without preemption took @ns. */
void nnb__estimate_learn(struct nnb__estimate *estimate, uint64_t ns);

/*
 * A lower bound of a run: the floor minus a quarter, because the measured runs may have been slow; minus a half
 * before an execution has confirmed the floor. An execution with less time than this misses its deadline.
 */
uint64_t nnb__estimate_least(const struct nnb__estimate *estimate);

/* The share @left of @least, for a run that is partly done; 1: all of it is left. */
uint64_t nnb__estimate_rest(uint64_t least, float left);

/*
 * Whether runs are so long that reading the clock at each checkpoint costs nothing in comparison. Without an estimate,
 * the floor decides: it is what a trial run took until it was stopped.
 */
bool nnb__estimate_is_long(const struct nnb__estimate *estimate);

/* Whether to time the next run, after @runs of them: every long run; of short ones the first, and then one in many. */
bool nnb__estimate_due(const struct nnb__estimate *estimate, uint32_t runs);

#endif

/*
 * estimate.h -- how long a model takes: what is learned of its runs, and what follows from that. Arithmetic alone.
 *
 * The floor is the least it has ever taken: a deadline nearer than that cannot be kept by anybody, and what is refused
 * for it is refused for good. The estimate is what it takes lately. Both are of time on a lane.
 * CONCURRENCY  None: an estimate is its caller's. sched/times.h keeps one that threads share.
 */
#ifndef NNB_POLICY_ESTIMATE_H
#define NNB_POLICY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct nnb__estimate {
	uint64_t floor_ns, lately_ns; /* 0: not known */
	bool confirmed;               /* the floor, by an execution */
	bool fixed;                   /* all runs are of the same shapes: otherwise one has no floor for another */
};

/* A whole run, without a break, took @ns. */
void nnb__estimate_learn(struct nnb__estimate *estimate, uint64_t ns);

/*
 * The least a run takes, less a quarter, for what was measured can have been bad luck; before an execution has confirmed
 * it, less a half. What comes later than this allows cannot be in time.
 */
uint64_t nnb__estimate_least(const struct nnb__estimate *estimate);

/* Of @least, for that part of a run which is left: 1 is all of it. */
uint64_t nnb__estimate_rest(uint64_t least, float left);

/* Is it long enough for a look at the clock at each checkpoint to cost nothing? */
bool nnb__estimate_is_long(uint64_t lately_ns);

/* Should a run be timed, after @runs of them? All that are long, the first ones of others, and then some. */
bool nnb__estimate_due(uint32_t runs, uint64_t lately_ns);

#endif

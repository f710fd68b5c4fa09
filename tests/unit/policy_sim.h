/*
 * policy_sim.h -- a small world for runtime/policy/policy.c: apps, jobs made of steps, lanes and a clock of its own.
 *
 * A schedule says what comes when; sim_run plays it through the policy, keeps books of its own, and objects to every
 * decision that is not what policy.h promises. The books share no code with the policy.
 */
#ifndef POLICY_SIM_H
#define POLICY_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

enum { SIM_JOBS = 160, SIM_APPS = 32 };

struct sim_job {
	uint32_t app;
	int32_t after;     /* an earlier job: it comes when that is over; -1: when the world begins */
	uint64_t delay_ns; /* and that much later */
	uint32_t steps;
	uint64_t step_ns; /* the longest of them */
	bool uneven;      /* the others are shorter */
	uint32_t priority;
	uint64_t deadline_ns; /* from its coming; 0: none */
	uint64_t
		patience_ns; /* from its coming; then it gives up, waiting at once, running at a checkpoint; 0: never */
	uint64_t floor_ns;
	bool stays; /* it may not be made to start over */
};

struct sim_schedule {
	enum nnb_policy kind;
	enum nnb_preempt preempt;
	uint32_t lanes, apps, jobs;
	uint32_t ties; /* what happens at the same time happens in an order that depends on this */
	struct sim_job job[SIM_JOBS];
};

/* What became of a job. */
struct sim_done {
	uint64_t came, began, over; /* began NNB__NEVER: it had no lane */
	uint64_t ran;               /* on lanes, in all stretches */
	uint32_t stretches;
	bool gave_up;
};

struct sim_result {
	char wrong[240]; /* what was; empty: nothing */
	uint64_t events, dispatches, yields;
	uint64_t digest;       /* of all decisions */
	uint64_t stretch_ns;   /* the longest without a checkpoint at which it can leave */
	uint32_t crowd;        /* the most apps with something to do at a time */
	double max_lag_ns;     /* of any app */
	double max_claim_ns;   /* of any app */
	uint64_t hunger_ns;    /* the longest that an app waited with no lane at all */
	uint64_t contended_ns; /* while somebody waited */
	struct sim_done job[SIM_JOBS];
};

/* Plays it. False, and ret->wrong: something was not as it should be. */
bool sim_run(const struct sim_schedule *schedule, struct sim_result *ret);

/* As policy.h says it: what no lag exceeds (NNB_POLICY_FAIR, up to two lanes). */
double sim_bound(const struct sim_schedule *schedule, const struct sim_result *result);

#endif

/*
 * policy_sim.h -- a simulated world for runtime/policy/policy.c: apps, jobs made of steps, lanes and a clock of
 * its own.
 *
 * A schedule lists the jobs and when each arrives. sim_run plays it through the policy, keeps its own books,
 * and objects to every decision that breaks what policy.h promises. The books share no code with the policy.
 */
#ifndef POLICY_SIM_H
#define POLICY_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

enum { SIM_JOBS = 160, SIM_APPS = 32 };

struct sim_job {
	uint32_t app;
	int32_t after;     /* the job arrives when this earlier job is over; -1: when the world begins */
	uint64_t delay_ns; /* delay after that */
	uint32_t steps;
	uint64_t step_ns; /* the longest step */
	bool uneven;      /* the other steps are shorter */
	uint32_t priority;
	uint64_t deadline_ns; /* from the arrival; 0: no deadline */
	/* from the arrival. Then the job gives up: at once if waiting, at a checkpoint if running; 0: never */
	uint64_t patience_ns;
	uint64_t floor_ns;
	bool stays; /* preemption may not restart the job */
};

struct sim_schedule {
	enum nnb_policy kind;
	enum nnb_preempt preempt;
	uint32_t lanes, apps, jobs;
	uint32_t ties; /* seed of the order of events at the same time */
	/* A job that got a lane while it waited has not come for it before its step ends: until then it loses the lane
	 * to a job that needs it more, and has done nothing of the step. */
	bool absences;
	struct sim_job job[SIM_JOBS];
};

/* The outcome of a job. */
struct sim_done {
	uint64_t came, began, over; /* began NNB__NEVER: the job got no lane */
	uint64_t ran;               /* time on lanes, in all stretches */
	uint32_t stretches;
	bool gave_up;
};

struct sim_result {
	char wrong[240]; /* the first wrong decision; empty: none */
	uint64_t events, dispatches, yields, recalls;
	uint64_t digest;       /* digest of all decisions */
	uint64_t stretch_ns;   /* the longest time without a checkpoint at which a job can leave */
	uint32_t crowd;        /* the most apps with a job at a time */
	double max_lag_ns;     /* the greatest of all apps */
	double max_claim_ns;   /* the greatest of all apps */
	uint64_t hunger_ns;    /* the longest wait of an app that had no lane */
	uint64_t contended_ns; /* the time in which a job waited */
	struct sim_done job[SIM_JOBS];
};

/* Play the schedule. Returns false, with ret->wrong, if a decision was wrong. */
bool sim_run(const struct sim_schedule *schedule, struct sim_result *ret);

/* The bound that policy.h states for every lag (NNB_POLICY_FAIR, up to two lanes). */
double sim_bound(const struct sim_schedule *schedule, const struct sim_result *result);

#endif

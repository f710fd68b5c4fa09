/*
 * schedule_world.h -- random schedules: which executions were ready and which was on which lane in each ns, and
 * the steps that report it.
 */
#ifndef TESTS_SCHEDULE_WORLD_H
#define TESTS_SCHEDULE_WORLD_H

#include "fold/schedule.h"

#include <time.h>

enum {
	TIME = 160, /* ns */
	EXECUTIONS = 30,
	APPS = 6,
	LANES = 3,
	STRETCHES = 8, /* stretches of one execution */
	LOSSES = 3,
	WINDOW = 20,
	STARVATION = 25
};

struct times {
	int began, ended, lane; /* ended -1: never */
};

struct execution {
	int app, priority, step_ns;
	bool counted, refused, died;
	int ready, over; /* -1: never */
	struct times on[STRETCHES];
	int n_on;
};

struct one_step {
	int at, x, lane;
	enum bsa_step step;
	bool lost;
};

struct world {
	unsigned lanes, apps;
	bool told_idle;
	struct execution x[EXECUTIONS];
	int holder[LANES][TIME + 1]; /* holder of the ns from that time on; -1: none */
	bool waits[EXECUTIONS][TIME + 1];
	struct one_step steps[EXECUTIONS * 2 * STRETCHES + EXECUTIONS * 3];
	int n_steps;
	struct times losses[LOSSES];
	int n_losses;
};

/* How long the service expects execution @x to have a lane; of some it does not know. */
static inline uint64_t world_estimate(int x)
{
	return x % 8 ? 10 + 3 * (uint64_t)x : BSA_NEVER;
}

/* Whether the execution that leaves its lane by this STOP begins anew: its step is RESTART then. */
static inline bool world_restarts(int x, int at)
{
	return (x + at) % 3 == 0;
}

/* When to stop, if this test has a part of a soak; 0: after a fixed number of tries. */
time_t soak_until(unsigned parts);

/* Random numbers from 0 to n - 1; the same seed gives the same numbers. */
void chance_from(uint32_t seed);
unsigned chance(unsigned n);

void world_make(struct world *w, uint32_t seed);

/* Likewise, and no execution is preempted: as under the native policy, for which lanes mean nothing. */
void world_make_native(struct world *w, uint32_t seed);

/* The stretch in which @x has a lane in the ns from @t on, or NULL. */
const struct times *world_stretch(const struct world *w, int x, int t);

/* Whether any of this time was lost, both ends included. */
bool world_lost(const struct world *w, int began, int ended);

/* A schedule that knows the lanes and its executions. @tenants_max as in bsa_fold_options. */
struct bsa_schedule *world_start(const struct world *w, const struct bsa_facts *facts, uint64_t horizon,
                                 uint32_t tenants_max, struct bsa_scheduled *x);

/* Facts without a listener. */
struct bsa_facts world_no_facts(void);

/* Report the losses that begin at @at. */
void world_tell_losses(const struct world *w, struct bsa_schedule *s, int at);

#endif

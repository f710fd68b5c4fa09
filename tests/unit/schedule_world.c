/*
 * schedule_world.c -- random schedules.
 */
#include "unit/schedule_world.h"

#include <assert.h>
#include <stdlib.h>

time_t soak_until(unsigned parts)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");

	return soak && atoi(soak) > 0 ? time(NULL) + atoi(soak) / (int)parts : 0;
}

static uint32_t seed;
static bool never_stops; /* no execution is preempted */

void chance_from(uint32_t first)
{
	seed = first;
}

unsigned chance(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (unsigned)((uint64_t)(seed >> 8) * n >> 24);
}

static void note(struct world *w, int at, enum bsa_step step, int x, int lane)
{
	w->steps[w->n_steps++] = (struct one_step){ at, x, lane, step, false };
}

static void leave(struct world *w, int lane, int at, enum bsa_step step)
{
	int x = w->holder[lane][at];

	w->holder[lane][at] = -1;
	w->x[x].on[w->x[x].n_on - 1].ended = at;
	note(w, at, step, x, lane);
	if (step == BSA_STEP_STOP)
		w->waits[x][at] = true;
	else
		w->x[x].over = at;
}

/* The lane that an execution reports which gives up off its lane: its last one. */
static int last_lane(const struct execution *e)
{
	return e->n_on ? e->on[e->n_on - 1].lane : BSA_LANE_NONE;
}

static void leave_some(struct world *w, int at, unsigned busy)
{
	for (unsigned l = 0; l < w->lanes; l++) {
		int x = w->holder[l][at];

		if (x < 0 || chance(busy))
			continue;
		if (w->x[x].n_on < STRETCHES && !never_stops && !chance(3))
			leave(w, (int)l, at, BSA_STEP_STOP);
		else
			leave(w, (int)l, at, BSA_STEP_END);
	}
	for (int x = 0; x < EXECUTIONS; x++)
		if (w->waits[x][at] && w->waits[x][at - 1] && !chance(60)) {
			w->waits[x][at] = false;
			w->x[x].over = at;
			w->x[x].died = true;
			note(w, at, BSA_STEP_END, x, last_lane(&w->x[x]));
		}
}

static void become_ready(struct world *w, int at, int *next, unsigned rush)
{
	while (*next < EXECUTIONS && !chance(rush)) {
		int x = (*next)++;

		if (!chance(8)) {
			w->x[x].refused = true;
			w->x[x].ready = at;
			note(w, at, BSA_STEP_REFUSED, x, BSA_LANE_NONE);
			continue;
		}
		w->x[x].ready = at;
		w->waits[x][at] = true;
		note(w, at, BSA_STEP_READY, x, BSA_LANE_NONE);
	}
}

static void enter_some(struct world *w, int at, unsigned lazy)
{
	for (unsigned l = 0; l < w->lanes; l++) {
		int x = (int)chance(EXECUTIONS), n = 0;
		struct execution *e;

		if (w->holder[l][at] >= 0 || chance(lazy))
			continue;
		while (n < EXECUTIONS && !w->waits[x][at])
			x = (x + 1) % EXECUTIONS, n++;
		if (n == EXECUTIONS || (w->x[x].n_on && w->x[x].on[w->x[x].n_on - 1].ended == at))
			continue;
		e = &w->x[x];
		note(w, at, e->n_on ? BSA_STEP_RESUME : BSA_STEP_DISPATCH, x, (int)l);
		e->on[e->n_on++] = (struct times){ at, -1, (int)l };
		w->waits[x][at] = false;
		w->holder[l][at] = x;
	}
}

static void make_losses(struct world *w)
{
	w->n_losses = chance(2) ? 0 : (int)chance(LOSSES + 1);
	for (int i = 0; i < w->n_losses; i++) {
		int began = 1 + (int)chance(TIME - 2), ended = began + (int)chance(chance(2) ? 3 : 20);

		w->losses[i] = (struct times){ began, ended < TIME ? ended : TIME - 1, 0 };
	}
}

void world_make(struct world *w, uint32_t first)
{
	unsigned busy, rush, lazy;
	int next = 0;

	seed = first;
	busy = 2 + chance(10);
	rush = 2 + chance(3);
	lazy = 1 + chance(4);
	*w = (struct world){ .lanes = 1 + chance(LANES), .apps = 1 + chance(APPS), .told_idle = chance(2) };
	for (int x = 0; x < EXECUTIONS; x++)
		w->x[x] = (struct execution){ .app = 1 + (int)chance(w->apps),
			                      .priority = (int)chance(3),
			                      .step_ns = (int)chance(6),
			                      .counted = !chance(4),
			                      .ready = -1,
			                      .over = -1 };
	for (unsigned l = 0; l < LANES; l++)
		w->holder[l][0] = -1;
	for (int t = 1; t < TIME; t++) {
		for (unsigned l = 0; l < LANES; l++)
			w->holder[l][t] = w->holder[l][t - 1];
		for (int x = 0; x < EXECUTIONS; x++)
			w->waits[x][t] = w->waits[x][t - 1];
		leave_some(w, t, busy);
		become_ready(w, t, &next, rush);
		enter_some(w, t, lazy);
	}
	make_losses(w);
}

void world_make_native(struct world *w, uint32_t first)
{
	never_stops = true;
	world_make(w, first);
	never_stops = false;
}

const struct times *world_stretch(const struct world *w, int x, int t)
{
	for (int i = 0; i < w->x[x].n_on; i++)
		if (w->x[x].on[i].began <= t && (w->x[x].on[i].ended < 0 || t < w->x[x].on[i].ended))
			return &w->x[x].on[i];
	return NULL;
}

bool world_lost(const struct world *w, int began, int ended)
{
	for (int i = 0; i < w->n_losses; i++)
		if (w->losses[i].began <= ended && w->losses[i].ended >= began)
			return true;
	return false;
}

struct bsa_schedule *world_start(const struct world *w, const struct bsa_facts *facts, uint64_t horizon,
                                 uint32_t tenants_max, struct bsa_scheduled *x)
{
	struct bsa_fold_options options = {
		.window_ns = WINDOW, .starvation_ns = STARVATION, .horizon_ns = horizon, .tenants_max = tenants_max
	};
	struct bsa_schedule *s = bsa_schedule_new(facts, &options);

	assert(s);
	for (int i = 0; i < EXECUTIONS; i++)
		x[i] = (struct bsa_scheduled){ .id = (uint64_t)i + 1,
			                       .app = (uint32_t)w->x[i].app,
			                       .priority = (uint8_t)w->x[i].priority,
			                       .step_ns = (uint64_t)w->x[i].step_ns,
			                       .estimate_ns = world_estimate(i),
			                       .counted = w->x[i].counted,
			                       .instance = 1,
			                       .model = 9 };
	assert(!bsa_schedule_lanes(s, 1, 0, w->lanes, false, w->told_idle));
	return s;
}

void world_tell_losses(const struct world *w, struct bsa_schedule *s, int at)
{
	for (int i = 0; i < w->n_losses; i++)
		if (w->losses[i].began == at)
			assert(!bsa_schedule_add_loss(s, (uint64_t)at, (uint64_t)w->losses[i].ended, false));
}

#define IGNORE(kind)                                                        \
	static void ignore_##kind(void *ctx, const struct bsa_##kind *fact) \
	{                                                                   \
		(void)ctx;                                                  \
		(void)fact;                                                 \
	}
IGNORE(slice)
IGNORE(wait)
IGNORE(possible_wait)
IGNORE(unknown_lane)
IGNORE(inverted)
IGNORE(starved)
IGNORE(share)
IGNORE(lag)
IGNORE(interfered)
IGNORE(chosen)
IGNORE(refused)

struct bsa_facts world_no_facts(void)
{
	return (struct bsa_facts){
		.slice = ignore_slice,
		.wait = ignore_wait,
		.possible_wait = ignore_possible_wait,
		.unknown_lane = ignore_unknown_lane,
		.inverted = ignore_inverted,
		.starved = ignore_starved,
		.share = ignore_share,
		.lag = ignore_lag,
		.interfered = ignore_interfered,
		.chosen = ignore_chosen,
		.refused = ignore_refused,
	};
}

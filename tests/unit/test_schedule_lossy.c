/*
 * test_schedule_lossy.c -- random schedules with lost steps: every reported fact is true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/schedule_facts.h"
#include "unit/schedule_world.h"

#include <stdlib.h>
#include <string.h>

#ifndef SEEDS
#define SEEDS 6000
#endif

static struct world w;
static uint32_t playing;
static uint64_t told; /* facts that the test checked */

static void expect_true(bool is, const char *what)
{
	if (!is)
		fail_msg("seed %u: not so: %s", playing, what);
	told++;
}

#define SO(what) expect_true(what, #what)

static int index_of(uint64_t id)
{
	assert_in_range(id, 1, EXECUTIONS);
	return (int)id - 1;
}

static bool waited(int x, uint64_t began, uint64_t ended)
{
	for (uint64_t t = began; t < ended; t++)
		if (!w.waits[x][t])
			return false;
	return ended > began;
}

static bool held(unsigned lane, int holder, uint64_t began, uint64_t ended)
{
	for (uint64_t t = began; t < ended; t++)
		if (w.holder[lane][t] != holder)
			return false;
	return ended > began;
}

/* The wait that ends at @ended is charged to the lane that it got, or else to the first lane. */
static bool charged(int x, uint64_t ended, unsigned lane)
{
	uint64_t t = ended;

	while (t < TIME && w.waits[x][t])
		t++;
	for (int i = 0; i < w.x[x].n_on; i++)
		if ((uint64_t)w.x[x].on[i].began == t)
			return (unsigned)w.x[x].on[i].lane == lane;
	return (uint64_t)w.x[x].over == t && lane == 0;
}

static bool has_cause(int x, const struct bsa_wait *part)
{
	const struct execution *e = &w.x[x], *h = &w.x[index_of(part->blocker)];

	if (part->kind == BSA_WAIT_PREEMPTED)
		return part->cause == BSA_CAUSE_PREEMPTED;
	if (h->app != e->app)
		return part->cause == BSA_CROWDED_OUT || part->cause == BSA_HOGGED;
	return part->cause == (h->priority < e->priority ? BSA_INVERSION : BSA_QUEUED_BEHIND);
}

static void wait_is_so(void *ctx, const struct bsa_wait *part)
{
	int x = index_of(part->execution);

	(void)ctx;
	SO(waited(x, part->began, part->ended));
	SO(charged(x, part->ended, part->lane));
	if (part->occupancy == BSA_HELD) {
		SO(held(part->lane, index_of(part->blocker), part->began, part->ended));
		SO(has_cause(x, part));
	} else if (part->occupancy == BSA_IDLE) {
		SO(held(part->lane, -1, part->began, part->ended));
	}
}

static void slice_is_so(void *ctx, const struct bsa_slice *slice)
{
	const struct times *s = world_stretch(&w, index_of(slice->execution), (int)slice->began);

	(void)ctx;
	SO(s && (uint64_t)s->began == slice->began && (uint64_t)s->ended == slice->ended && s->lane == slice->lane);
}

static void inversion_is_so(void *ctx, const struct bsa_inverted *in)
{
	int x = index_of(in->victim), y = index_of(in->holder);

	(void)ctx;
	SO(waited(x, in->began, in->began + in->dur));
	SO(held(in->lane, y, in->began, in->began + in->dur));
	SO(w.x[x].app == w.x[y].app && w.x[x].priority > w.x[y].priority && in->dur > (uint64_t)w.x[y].step_ns);
}

static void starvation_is_so(void *ctx, const struct bsa_starved *s)
{
	int x = index_of(s->execution);

	(void)ctx;
	SO(waited(x, s->began, s->began + s->gap));
	SO(!waited(x, s->began - 1, s->began) && !waited(x, s->began + s->gap, s->began + s->gap + 1));
}

/* The first time from @at on at which @x gets a lane. */
static const struct times *next_on(int x, int at)
{
	for (int i = 0; i < w.x[x].n_on; i++)
		if (w.x[x].on[i].began >= at)
			return &w.x[x].on[i];
	return NULL;
}

/*
 * From then on until the chosen execution was on its lane, the lane was free and that execution ready. The other one
 * was ready then, and no lane that it entered sooner was on its way to it.
 */
static void choice_is_so(void *ctx, const struct bsa_chosen *c)
{
	int x = index_of(c->chosen), y = index_of(c->passed_over), at = (int)c->at;
	const struct times *on = next_on(x, at), *other = next_on(y, at);

	(void)ctx;
	SO(on);
	SO(w.waits[y][at] || (other && other->began == at && on->began == at));
	if (on->began > at) {
		SO(held((unsigned)on->lane, -1, c->at, (uint64_t)on->began));
		SO(waited(x, c->at, (uint64_t)on->began));
		SO(!other || other->began >= on->began ||
		   !held((unsigned)other->lane, -1, c->at, (uint64_t)other->began));
	}
	SO(w.x[x].app == w.x[y].app && w.x[x].priority != w.x[y].priority);
	SO(c->honoured || w.x[x].priority < w.x[y].priority);
}

static unsigned queues_freed;

/* A lane is idle at @t, and no execution waits. */
static bool queue_is_free(int t)
{
	bool idle = false;

	for (unsigned l = 0; l < w.lanes; l++)
		idle |= w.holder[l][t] < 0;
	for (int i = 0; i < EXECUTIONS; i++)
		idle &= !w.waits[i][t];
	return idle;
}

/* Whether execution @i waited at some moment of the instant @at. */
static bool waited_in(int i, int at)
{
	return w.waits[i][at - 1] || w.waits[i][at] || (w.x[i].ready == at && !w.x[i].refused);
}

/* Does an execution of another app than that of @x wait at the instant @at: at some moment, or at each? */
static bool others_wait(int x, int at, bool always)
{
	for (int i = 0; i < EXECUTIONS; i++)
		if (w.x[i].app != w.x[x].app && (always ? w.waits[i][at - 1] && w.waits[i][at] : waited_in(i, at)))
			return true;
	return false;
}

/* Whether a lane had no holder at any moment from @began on and before @ended. */
static bool lane_was_free(int began, int ended)
{
	for (unsigned l = 0; l < w.lanes; l++)
		for (int t = began; t < ended; t++)
			if (w.holder[l][t] < 0 || w.holder[l][t] != w.holder[l][t - 1])
				return true;
	return false;
}

static unsigned queues_named, lanes_freed, lanes_held;

static void refusal_is_so(void *ctx, const struct bsa_refused *r)
{
	int x = index_of(r->execution);

	(void)ctx;
	if (r->lane_free != BSA_NEVER) {
		SO(r->lane_free >= r->at);
		SO(!lane_was_free((int)r->at, (int)r->lane_free));
		SO(r->held_until == r->lane_free);
		lanes_freed += r->lane_free > r->at;
	}
	SO(r->held_until >= r->at);
	SO(!lane_was_free((int)r->at, (int)r->held_until));
	lanes_held += r->lane_free == BSA_NEVER && r->held_until > r->at;
	if (r->queue_free != BSA_NEVER) {
		SO(r->queue_free >= r->held_until);
		SO(queue_is_free((int)r->queue_free));
		for (int t = (int)r->at; t < (int)r->queue_free; t++)
			SO(!queue_is_free(t));
		queues_freed++;
	}
	if (r->holder)
		SO(w.holder[0][w.x[x].ready - 1] == index_of(r->holder));
	if (r->queue_cause == BSA_QUEUED_BEHIND)
		SO(!others_wait(x, (int)r->at, true));
	else if (r->queue_cause == BSA_CROWDED_OUT)
		SO(others_wait(x, (int)r->at, false));
	queues_named += r->queue_cause != BSA_CAUSE_UNKNOWN;
	if (r->queue)
		SO(waited_in(index_of(r->queue), (int)r->at));
}

static void share_is_so(void *ctx, const struct bsa_share *s)
{
	(void)ctx;
	SO(s->app && s->app <= APPS);
}

static void lag_is_so(void *ctx, const struct bsa_lag *lag)
{
	(void)ctx;
	/* for a lane that was handed over, all time counts in the window in which the hand-over ends */
	SO(lag->received <= (lag->window_began + WINDOW) * w.lanes && lag->window_began % WINDOW == 0);
	SO(lag->entitled <= (lag->window_began + WINDOW) * w.lanes);
}

static void interference_is_so(void *ctx, const struct bsa_interfered *i)
{
	(void)ctx;
	SO(i->ns && i->by && i->by <= APPS && i->app && i->app <= APPS);
}

/* ---- the facts of each execution ---- */

static void execution_is_so(const struct bsa_scheduled *x)
{
	const struct execution *e = &w.x[index_of(x->id)];
	uint64_t ran = 0, ready = 0;

	for (int t = 0; t < TIME; t++) {
		ran += world_stretch(&w, index_of(x->id), t) != NULL;
		ready += w.waits[index_of(x->id)][t];
	}
	SO(bsa_scheduled_idle(x));
	SO(x->lane_ns <= ran && x->ready_ns <= ready);
	if (x->state == BSA_SCHEDULED_OVER && x->lane >= 0) {
		SO(e->n_on == 1 && !e->died && e->on[0].lane == x->lane);
		SO(!x->uncertain && x->lane_ns == ran);
		SO(!x->idle || e->ready == e->on[0].began ||
		   held((unsigned)x->lane, -1, (uint64_t)e->ready, (uint64_t)e->on[0].began));
	}
	if (x->state == BSA_SCHEDULED_OVER && !x->uncertain)
		SO(x->lane_ns == ran);
}

/*
 * Lose some of the steps within a loss. How often an execution was preempted is unknown if one of its steps
 * is lost.
 */
static void lose_steps(void)
{
	unsigned odds = 1 + chance(4);

	for (int i = 0; i < w.n_steps; i++) {
		struct one_step *s = &w.steps[i];

		s->lost = world_lost(&w, s->at, s->at) && chance(odds + 1);
		if (s->lost)
			w.x[s->x].counted = false;
	}
}

/* An execution whose end is lost is given up at some time after its end. */
static void give_up(struct bsa_schedule *s, struct bsa_scheduled *x, int at)
{
	for (int i = 0; i < w.n_steps; i++)
		if (w.steps[i].lost && w.steps[i].step == BSA_STEP_END && w.steps[i].at < at && !chance(10))
			assert_int_equal(
				bsa_schedule_step(s, &x[w.steps[i].x], BSA_STEP_FORGET, (uint64_t)at, BSA_LANE_NONE),
				0);
}

static void play(uint64_t horizon)
{
	struct bsa_facts facts = world_no_facts();

	facts = (struct bsa_facts){
		.possible_wait = facts.possible_wait,
		.unknown_lane = facts.unknown_lane,
		.slice = slice_is_so,
		.wait = wait_is_so,
		.inverted = inversion_is_so,
		.starved = starvation_is_so,
		.share = share_is_so,
		.lag = lag_is_so,
		.interfered = interference_is_so,
		.chosen = choice_is_so,
		.refused = refusal_is_so,
	};
	struct bsa_scheduled x[EXECUTIONS];
	struct bsa_schedule *s;
	int next = 0;

	lose_steps();
	s = world_start(&w, &facts, horizon, chance(2), x);
	for (int t = 0; t < TIME; t++) {
		world_tell_losses(&w, s, t);
		give_up(s, x, t);
		for (; next < w.n_steps && w.steps[next].at == t; next++)
			if (!w.steps[next].lost)
				assert_int_equal(bsa_schedule_step(s, &x[w.steps[next].x], w.steps[next].step,
				                                   (uint64_t)t, (uint8_t)w.steps[next].lane),
				                 0);
		if ((uint64_t)t > horizon)
			assert_int_equal(bsa_schedule_advance(s, (uint64_t)t - horizon), 0);
	}
	assert_int_equal(bsa_schedule_finish(s, TIME - 1), 0);
	for (int i = 0; i < EXECUTIONS; i++)
		execution_is_so(&x[i]);
	bsa_schedule_free(s);
}

static void facts_beside_losses_are_true(void **state)
{
	time_t stop = soak_until(1);

	(void)state;
	for (uint32_t i = 1; stop ? time(NULL) < stop : i <= SEEDS; i++) {
		playing = i;
		world_make(&w, i);
		if (!w.n_losses && i % 8) /* a few worlds without losses, for facts that losses make uncertain */
			continue;
		play(i % 2 ? 0 : 30);
	}
	assert_true(queues_freed > 100);
	assert_true(queues_named > 100);
	assert_true(lanes_freed > 100);
	assert_true(lanes_held > 50);
	assert_true(told > 80 * SEEDS); /* otherwise too few facts were reported */
}

/* ---- a service beside another one ---- */

enum { FIRST = 1, SECOND = 2 };

/* Facts of the first service alone. */
#define OF_FIRST(kind, is)                                              \
	static void first_##kind(void *ctx, const struct bsa_##kind *f) \
	{                                                               \
		if (is)                                                 \
			line_##kind(ctx, f);                            \
	}
OF_FIRST(slice, f->instance == FIRST)
OF_FIRST(wait, f->execution <= EXECUTIONS)
OF_FIRST(possible_wait, f->execution && f->execution <= EXECUTIONS)
OF_FIRST(unknown_lane, f->instance == FIRST)
OF_FIRST(inverted, f->victim <= EXECUTIONS)
OF_FIRST(starved, f->execution <= EXECUTIONS)
OF_FIRST(share, f->app <= APPS)
OF_FIRST(interfered, f->app <= APPS)
OF_FIRST(chosen, f->chosen <= EXECUTIONS)
OF_FIRST(refused, f->execution <= EXECUTIONS)

/* The steps of one service at @t, without those to which the session has no events if it lacks @stops. */
static void play_steps(struct bsa_schedule *s, const struct world *of, struct bsa_scheduled *x, int t, int *next,
                       bool stops)
{
	for (; *next < of->n_steps && of->steps[*next].at == t; ++*next) {
		const struct one_step *step = &of->steps[*next];

		if (!stops && (step->step == BSA_STEP_STOP || step->step == BSA_STEP_RESUME))
			continue;
		assert_int_equal(bsa_schedule_step(s, &x[step->x], step->step, (uint64_t)t, (uint8_t)step->lane), 0);
	}
}

/* The facts of the first service: alone, or beside @other. */
static void play_beside(struct lines *l, const struct world *other, uint64_t horizon, const bool stops[2])
{
	struct bsa_facts facts = world_no_facts();
	struct bsa_scheduled x[2][EXECUTIONS];
	struct bsa_schedule *s;
	int next[2] = { 0, 0 };

	facts = (struct bsa_facts){
		.ctx = l,
		.lag = facts.lag,
		.slice = first_slice,
		.wait = first_wait,
		.possible_wait = first_possible_wait,
		.unknown_lane = first_unknown_lane,
		.inverted = first_inverted,
		.starved = first_starved,
		.share = first_share,
		.interfered = first_interfered,
		.chosen = first_chosen,
		.refused = first_refused,
	};
	s = world_start(&w, &facts, horizon, 0, x[0]);
	for (int i = 0; i < EXECUTIONS; i++) {
		x[0][i].counted = false;
		x[1][i] = (struct bsa_scheduled){ .id = (uint64_t)i + 1 + EXECUTIONS,
			                          .app = (uint32_t)(other ? other->x[i].app : 0) + APPS,
			                          .priority = BSA_PRIORITY_HIGH,
			                          .instance = SECOND };
	}
	for (int t = 0; t < TIME; t++) {
		world_tell_losses(&w, s, t);
		if (other)
			play_steps(s, other, x[1], t, &next[1], stops[1]);
		play_steps(s, &w, x[0], t, &next[0], stops[0]);
		if ((uint64_t)t > horizon)
			assert_int_equal(bsa_schedule_advance(s, (uint64_t)t - horizon), 0);
	}
	assert_int_equal(bsa_schedule_finish(s, TIME - 1), 0);
	for (int i = 0; i < EXECUTIONS; i++)
		lines_add(l, "%d: %d %u %llu %llu", i, x[0][i].lane, x[0][i].uncertain,
		          (unsigned long long)x[0][i].lane_ns, (unsigned long long)x[0][i].ready_ns);
	lines_sort(l);
	bsa_schedule_free(s);
}

/*
 * Whatever another service records, or leaves out, no fact of this one is another. Executions of either may get lanes
 * that others hold, because the session has no stops, or seem to.
 */
static void another_service_changes_no_fact(void **state)
{
	static struct world other;
	unsigned facts = 0;

	(void)state;
	for (playing = 1; playing <= SEEDS / 4; playing++) {
		const bool stops[2] = { playing % 2, playing / 2 % 2 };
		struct lines alone = { 0 }, beside = { 0 };
		uint64_t horizon = playing % 3 ? playing % 3 - 1 : 30;

		world_make(&other, playing + SEEDS);
		world_make(&w, playing);
		play_beside(&alone, NULL, horizon, stops);
		play_beside(&beside, &other, horizon, stops);
		for (size_t i = 0; i < alone.n && i < beside.n; i++)
			if (strcmp(alone.all[i], beside.all[i]) != 0)
				fail_msg("seed %u: alone: %s; beside another service: %s", playing, alone.all[i],
				         beside.all[i]);
		assert_int_equal(alone.n, beside.n);
		facts += (unsigned)alone.n;
		lines_fini(&alone);
		lines_fini(&beside);
	}
	assert_true(facts > 60 * (SEEDS / 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(facts_beside_losses_are_true),
		                            cmocka_unit_test(another_service_changes_no_fact) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

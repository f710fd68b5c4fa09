/*
 * test_schedule_hidden.c -- random schedules of which only a part is recorded: each wait is reported, or is possible,
 * and each holder of a lane is reported, or unknown. So no verdict can pass over what was not recorded.
 *
 * SESSION   A recording begins at `from`; if that is late, the service reports from `listing` to `listed` which
 *           executions are under way, each at a time of its own. Holes lose steps, and parts of that report. At
 *           `silent` the service dies or hangs: what waits then waits on until `TIME`, or until `over_by`.
 * FAILURES  A failure prints its seed: test_schedule_hidden SEED plays that session alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/schedule_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SESSIONS
#define SESSIONS 20000
#endif
#define NEVER BSA_NEVER

enum { HORIZON = 30, ROWS = 4096 };

enum detail { FULL, MIXED, DETAILS }; /* MIXED: full events, and summaries */

struct session {
	enum detail detail;
	bool native;
	int from, listing, listed, silent;
	int listed_at[EXECUTIONS]; /* when the service reports it as under way; -1: never */
	int over_by[EXECUTIONS];
	bool heard[EXECUTIONS]; /* it had a recorded step */
	bool is_over[EXECUTIONS];
	bool has_lane[LANES]; /* the lane is known from an event */
};

static struct world w;
static struct session session;
static uint32_t playing;

/* Facts, as far as the test needs them. */
static bool told_wait[EXECUTIONS][TIME + 1];
static bool told_lane[LANES][TIME + 1];
static struct bsa_possible_wait possible[ROWS];
static struct bsa_unknown_lane unknown[ROWS];
static struct bsa_inverted inverted[ROWS];
static size_t n_possible, n_unknown, n_inverted;
static uint64_t n_hidden, n_told, n_inversions, n_unknown_stretches;

static void __attribute__((format(printf, 2, 3))) expect(bool is, const char *format, ...)
{
	char text[400];
	va_list list;

	if (is)
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fail_msg("seed %u, %s%s, from %d (%d to %d), silent %d: %s", playing, session.detail == FULL ? "full" : "mixed",
	         session.native ? ", native" : "", session.from, session.listing, session.listed, session.silent, text);
}

static int index_of(uint64_t id)
{
	assert_in_range(id, 1, EXECUTIONS);
	return (int)id - 1;
}

/* ---- facts: each must be true ---- */

static void on_possible_wait(void *ctx, const struct bsa_possible_wait *p)
{
	(void)ctx;
	assert_true(n_possible < ROWS);
	possible[n_possible++] = *p;
}

static void on_wait(void *ctx, const struct bsa_wait *part)
{
	int x = index_of(part->execution);

	(void)ctx;
	for (int t = (int)part->began; t < (int)part->ended; t++) {
		expect(w.waits[x][t], "execution %d: waits at %d, and does not", x + 1, t);
		if (part->occupancy == BSA_HELD)
			expect(w.holder[part->lane][t] == index_of(part->blocker), "lane %u is not held by %llu at %d",
			       part->lane, (unsigned long long)part->blocker, t);
		if (part->occupancy == BSA_IDLE)
			expect(w.holder[part->lane][t] < 0, "lane %u is not idle at %d", part->lane, t);
		told_wait[x][t] = true;
	}
	if (part->open & BSA_OPEN_START) /* the verdicts take it for one that may have any length */
		on_possible_wait(ctx, &(struct bsa_possible_wait){
					      .execution = part->execution, .began = NEVER, .ended = part->ended });
}

static void tell_lane(int x, unsigned lane, int began, int ended)
{
	for (int t = began; t < ended; t++) {
		expect(w.holder[lane][t] == x, "execution %d does not hold lane %u at %d", x + 1, lane, t);
		told_lane[lane][t] = true;
	}
}

static void on_slice(void *ctx, const struct bsa_slice *slice)
{
	(void)ctx;
	tell_lane(index_of(slice->execution), slice->lane, (int)slice->began, (int)slice->ended);
}

static void on_unknown_lane(void *ctx, const struct bsa_unknown_lane *l)
{
	(void)ctx;
	assert_true(n_unknown < ROWS);
	unknown[n_unknown++] = *l;
}

static void on_inverted(void *ctx, const struct bsa_inverted *v)
{
	int x = index_of(v->victim), y = index_of(v->holder);

	(void)ctx;
	expect(w.x[x].app == w.x[y].app && w.x[x].priority > w.x[y].priority, "%d is not inverted by %d", x + 1, y + 1);
	for (uint64_t t = v->began; t < v->began + v->dur; t++)
		expect(w.waits[x][t] && w.holder[v->lane][t] == y, "%d is not inverted at %d", x + 1, (int)t);
	assert_true(n_inverted < ROWS);
	inverted[n_inverted++] = *v;
}

/* ---- the session ---- */

/* The service is dead or hangs from @session.silent on: nothing changes after that, but waits end at over_by. */
static void fall_silent(void)
{
	int silent = session.silent;

	for (int t = silent; t <= TIME; t++) {
		for (int x = 0; x < EXECUTIONS; x++)
			w.waits[x][t] = w.waits[x][silent - 1] && t < session.over_by[x];
		for (int l = 0; l < LANES; l++)
			w.holder[l][t] = w.holder[l][silent - 1];
	}
	for (int x = 0; x < EXECUTIONS; x++) {
		struct execution *e = &w.x[x];

		if (e->over >= silent)
			e->over = -1;
		while (e->n_on && e->on[e->n_on - 1].began >= silent)
			e->n_on--;
		if (e->n_on && e->on[e->n_on - 1].ended >= silent)
			e->on[e->n_on - 1].ended = -1;
		if (e->ready >= silent)
			e->ready = -1;
	}
}

static void make_session(uint32_t seed)
{
	struct session *s = &session;

	*s = (struct session){ .detail = seed % DETAILS, .native = seed % 16 > 13, .silent = TIME };
	if (s->native)
		world_make_native(&w, seed);
	else
		world_make(&w, seed);
	if (chance(2))
		s->from = 1 + (int)chance(TIME / 2);
	s->listing = s->from + (int)chance(4);
	s->listed = s->listing + 1 + (int)chance(15);
	if (!chance(3))
		s->silent = s->listed + 1 + (int)chance((unsigned)(TIME - s->listed - 1));
	for (int x = 0; x < EXECUTIONS; x++)
		s->over_by[x] = chance(2) ? TIME : s->silent + (int)chance((unsigned)(TIME - s->silent + 1));
	if (s->silent < TIME)
		fall_silent();
	w.n_losses = chance(8) ? 1 + (int)chance(LOSSES) : 0;
	for (int i = 0; i < w.n_losses; i++) {
		int at = s->from && !chance(3) ? s->from + (int)chance(20)
		                               : s->from + (int)chance((unsigned)(s->silent - s->from));

		w.losses[i] = (struct times){ at, at + (int)chance(chance(2) ? 3 : 15), 0 };
		if (w.losses[i].ended >= TIME)
			w.losses[i].ended = TIME - 1;
	}
	for (int x = 0; x < EXECUTIONS; x++)
		s->listed_at[x] = s->from ? s->listing + (int)chance((unsigned)(s->listed - s->listing)) : -1;
}

/* Whether a hole loses what is emitted at @at. */
static bool is_lost(int at)
{
	return world_lost(&w, at, at) && chance(3);
}

/* Lose steps. Of some executions summaries show that all of their stops were recorded. */
static void lose_steps(void)
{
	bool whole[EXECUTIONS];

	for (int x = 0; x < EXECUTIONS; x++)
		whole[x] = session.detail == MIXED && w.x[x].over >= 0 && chance(2);
	for (int i = 0; i < w.n_steps; i++) {
		struct one_step *step = &w.steps[i];

		step->lost = step->at < session.from || step->at >= session.silent || is_lost(step->at);
		if (step->lost && (step->step == BSA_STEP_STOP || step->step == BSA_STEP_RESUME))
			whole[step->x] = false;
	}
	/* Summaries have what else is lost of these. */
	for (int i = 0; i < w.n_steps; i++)
		if (whole[w.steps[i].x] && w.steps[i].at >= session.from)
			w.steps[i].lost = false;
	for (int x = 0; x < EXECUTIONS; x++)
		w.x[x].counted = whole[x];
}

static bool none_waits(int from, int to)
{
	for (int t = from; t < to; t++) {
		bool any = false;

		for (int x = 0; x < EXECUTIONS; x++)
			any |= w.waits[x][t];
		if (!any)
			return true;
	}
	return false;
}

static void take(struct bsa_schedule *s, struct bsa_scheduled *x, enum bsa_step step, int at, int lane)
{
	session.heard[index_of(x->id)] = true;
	assert_int_equal(bsa_schedule_step(s, x, step, (uint64_t)at, (uint8_t)lane), 0);
}

static bool has_ended(const struct bsa_scheduled *x)
{
	return session.is_over[index_of(x->id)];
}

/* The service reports what is under way, unless a step of it was recorded before. */
static void tell_state(struct bsa_schedule *s, struct bsa_scheduled *x, int t)
{
	int i = index_of(x->id), since = t, known = t - HORIZON - 1;
	const struct times *on = world_stretch(&w, i, t);

	if (session.heard[i] || is_lost(t))
		return;
	if (on) {
		take(s, x, BSA_STEP_FOUND_ON, t, session.native ? BSA_LANE_NATIVE : on->lane);
		return;
	}
	if (!w.waits[i][t])
		return;
	while (since && w.waits[i][since - 1])
		since--;
	if (chance(4))
		x->found_since = (uint64_t)since;
	if (session.detail == MIXED && x->found_since) /* as exec_state does with summaries: events.c */
		t = since > known ? since : known > 0 ? known + 1 : 1;
	take(s, x, w.x[i].n_on && w.x[i].on[0].began < since ? BSA_STEP_FOUND_STOPPED : BSA_STEP_FOUND_READY, t,
	     BSA_LANE_NONE);
}

static void tell_step(struct bsa_schedule *s, struct bsa_scheduled *x, const struct one_step *step)
{
	int i = step->x, after = w.x[i].ready - (int)chance(10);
	bool has_lane = step->lane != BSA_LANE_NONE;

	if (step->step == BSA_STEP_READY) {
		x->ready_after = after > 0 && chance(4) ? (uint64_t)after : 0;
		x->queue_empty = x->ready_after && chance(2) && none_waits((int)x->ready_after, step->at);
	} else if (!session.heard[i]) {
		x->ready_after = after > 0 && chance(4) ? (uint64_t)after : 0;
	}
	if (step->step == BSA_STEP_END) {
		x->on_lane_to_its_end = !w.x[i].died && chance(2);
		session.is_over[i] = true;
	}
	if (has_lane)
		session.has_lane[step->lane] = true;
	take(s, x, step->step, step->at, session.native && has_lane ? BSA_LANE_NATIVE : step->lane);
}

/* An execution that is over in truth is given up at some time after its end. */
static void give_up(struct bsa_schedule *s, struct bsa_scheduled *x, int t)
{
	int i = index_of(x->id);

	if (w.x[i].over < 0 || w.x[i].over >= t || has_ended(x) || chance(12))
		return;
	session.is_over[i] = true;
	x->known_over = chance(2);
	if (session.heard[i]) {
		take(s, x, BSA_STEP_FORGET, t, BSA_LANE_NONE);
	}
}

/* Executions of which no step was recorded: their streams had one number more. */
static void report_strangers(struct bsa_schedule *s)
{
	for (int i = 0; i < EXECUTIONS; i++) {
		const struct execution *e = &w.x[i];
		int after = e->ready - (int)chance(10);
		bool over = e->over >= 0;
		int before = over ? e->over + (int)chance((unsigned)(TIME - e->over)) : TIME - 1;
		struct bsa_stream stream = { .app = (uint32_t)e->app, .model = 9, .number = 1 << 20 };

		if (session.heard[i] || e->ready < 0 || e->refused || (over && e->over < session.from))
			continue;
		after = chance(4) && after > 0 ? after : 0;
		bsa_schedule_report_hidden(s, &stream, (uint64_t)after, (uint64_t)before, over);
	}
}

static void tell_end(struct bsa_schedule *s, struct bsa_scheduled *x)
{
	int i = index_of(x->id), end = session.silent < TIME ? session.silent - 1 : TIME - 1;

	if (!session.heard[i] || has_ended(x) || w.x[i].refused)
		return;
	if (w.x[i].over >= 0 && chance(2)) {
		x->known_over = chance(2);
		take(s, x, BSA_STEP_FORGET, TIME - 1, BSA_LANE_NONE);
		return;
	}
	x->over_by = (uint64_t)(session.silent < TIME && session.over_by[i] < TIME ? session.over_by[i] : TIME - 1);
	take(s, x, BSA_STEP_CUT, end, BSA_LANE_NONE);
}

/* What an execution itself has of its wait and its lane. */
static void tell_execution(const struct bsa_scheduled *x)
{
	int i = index_of(x->id);
	const struct execution *e = &w.x[i];

	assert_true(bsa_scheduled_idle(x));
	if (x->state == BSA_SCHEDULED_OVER && x->lane >= 0) {
		expect(e->n_on == 1 && e->on[0].lane == x->lane && !x->uncertain, "execution %d had other lanes",
		       i + 1);
		tell_lane(i, (unsigned)x->lane, e->on[0].began, e->on[0].ended);
	}
	if (!x->idle)
		return;
	for (int t = e->ready; t < (e->n_on ? e->on[0].began : e->over); t++) {
		expect(session.native || x->lane < 0 || w.holder[x->lane][t] < 0, "lane %d is not idle at %d", x->lane,
		       t);
		told_wait[i][t] = true;
	}
}

static void play(void)
{
	static struct bsa_scheduled x[EXECUTIONS];
	struct bsa_facts facts = world_no_facts();
	struct bsa_fold_options options = { .window_ns = WINDOW,
		                            .starvation_ns = STARVATION,
		                            .horizon_ns = session.detail == MIXED ? HORIZON : 1 }; /* as bsa_fold_new */
	uint64_t horizon = options.horizon_ns, began = (uint64_t)session.from;
	struct bsa_schedule *s;
	int next = 0;

	facts.wait = on_wait;
	facts.slice = on_slice;
	facts.possible_wait = on_possible_wait;
	facts.unknown_lane = on_unknown_lane;
	facts.inverted = on_inverted;
	n_possible = n_unknown = n_inverted = 0;
	memset(told_wait, 0, sizeof(told_wait));
	memset(told_lane, 0, sizeof(told_lane));
	options.tenants_max = chance(2);
	s = bsa_schedule_new(&facts, &options);
	assert_non_null(s);
	for (int i = 0; i < EXECUTIONS; i++)
		x[i] = (struct bsa_scheduled){ .id = (uint64_t)i + 1,
			                       .app = (uint32_t)w.x[i].app,
			                       .priority = (uint8_t)w.x[i].priority,
			                       .step_ns = (uint64_t)w.x[i].step_ns,
			                       .counted = w.x[i].counted,
			                       .instance = 1,
			                       .model = 9 };
	bsa_schedule_set_begin(s, began);
	if (session.detail == MIXED && began)
		assert_int_equal(bsa_schedule_add_loss(s, 0, began - 1, false), 0);
	for (int t = session.from; t < TIME; t++) {
		for (int i = 0; i < w.n_losses; i++)
			if (w.losses[i].began == t)
				assert_int_equal(
					bsa_schedule_add_loss(s, (uint64_t)t, (uint64_t)w.losses[i].ended, true), 0);
		if (t == session.listing && t < session.silent && !is_lost(t)) {
			assert_int_equal(bsa_schedule_lanes(s, 1, (uint64_t)t, session.native ? 0 : w.lanes,
			                                    session.native, !session.from && !session.listing),
			                 0);
			for (unsigned l = 0; l < w.lanes; l++)
				session.has_lane[l] = true;
			if (session.from)
				assert_int_equal(bsa_schedule_listing(s, 1, (uint64_t)t, false), 0);
		}
		if (session.from && t == session.listed && !is_lost(t))
			assert_int_equal(bsa_schedule_listing(s, 1, (uint64_t)t, true), 0);
		for (int i = 0; i < EXECUTIONS; i++)
			give_up(s, &x[i], t);
		for (; next < w.n_steps && w.steps[next].at <= t; next++)
			if (!w.steps[next].lost && !has_ended(&x[w.steps[next].x]))
				tell_step(s, &x[w.steps[next].x], &w.steps[next]);
		for (int i = 0; i < EXECUTIONS; i++)
			if (session.listed_at[i] == t)
				tell_state(s, &x[i], t);
		if ((uint64_t)t > horizon)
			assert_int_equal(bsa_schedule_advance(s, (uint64_t)t - horizon), 0);
	}
	for (int i = 0; i < EXECUTIONS; i++)
		tell_end(s, &x[i]);
	assert_int_equal(bsa_schedule_advance(s, TIME - 1), 0);
	report_strangers(s);
	bsa_schedule_set_end(s, 1, (uint64_t)(session.silent < TIME ? session.silent - 1 : TIME - 1));
	assert_int_equal(bsa_schedule_finish(s, TIME - 1), 0);
	for (int i = 0; i < EXECUTIONS; i++)
		tell_execution(&x[i]);
	bsa_schedule_free(s);
}

/* ---- each wait, lane and inversion of the recorded time ---- */

/* Whether one hole has all of that time. Holes that touch are one. */
static bool is_in_hole(int began, int ended)
{
	int until = began;

	for (bool more = true; more && until < ended;) {
		more = false;
		for (int i = 0; i < w.n_losses; i++)
			if (w.losses[i].began <= until && w.losses[i].ended > until) {
				until = w.losses[i].ended;
				more = true;
			}
	}
	return until >= ended;
}

static bool is_possible(int x, int began, int ended)
{
	for (size_t i = 0; i < n_possible; i++) {
		const struct bsa_possible_wait *p = &possible[i];
		bool is_of = p->execution ? p->execution == (uint64_t)x + 1 : !p->app || p->app == (uint32_t)w.x[x].app;

		if (is_of && (p->began == NEVER || p->began <= (uint64_t)began) && p->ended >= (uint64_t)ended)
			return true;
	}
	return is_in_hole(began, ended);
}

/* Whether all of the wait, which goes from @began to @ended, is reported. */
static bool is_told(int x, int began, int ended)
{
	for (int t = began; t < ended; t++)
		if (!told_wait[x][t])
			return false;
	return true;
}

/* Whether rows have all of that time: each that begins while another one goes on continues it. */
static bool is_unknown(unsigned lane, int y, int began, int ended)
{
	int until = began;

	for (bool more = true; more && until < ended;) {
		more = false;
		for (size_t i = 0; i < n_unknown; i++) {
			const struct bsa_unknown_lane *l = &unknown[i];

			if (l->lane == lane && (!l->execution || l->execution == (uint64_t)y + 1) &&
			    (l->began == NEVER || l->began <= (uint64_t)until) && l->ended > (uint64_t)until) {
				until = (int)l->ended;
				more = true;
			}
		}
	}
	return until >= ended || is_in_hole(began, ended);
}

static int recorded_until(void)
{
	return session.silent < TIME ? session.silent - 1 : TIME - 1;
}

static bool is_inverted(int x, int y, unsigned lane, int began, int ended)
{
	for (size_t i = 0; i < n_inverted; i++) {
		const struct bsa_inverted *v = &inverted[i];

		if (v->victim == (uint64_t)x + 1 && v->holder == (uint64_t)y + 1 && v->lane == lane &&
		    (v->began <= (uint64_t)began || v->open & BSA_OPEN_START) &&
		    (v->began + v->dur >= (uint64_t)ended || v->open & BSA_OPEN_END))
			return true;
	}
	return false;
}

/*
 * The wait of @x is certain. Where an execution of its app with less priority held a lane in it, for longer than a
 * step: is that reported, or the lane unknown? What follows the last holder of the lane that @x got is a hand-over.
 */
static void check_inversions(int x, int began, int ended)
{
	for (unsigned l = 0; l < w.lanes; l++)
		for (int t = began, to; t < ended; t = to) {
			int y = w.holder[l][t], until;
			bool touches = false;

			for (to = t + 1; to < ended && w.holder[l][to] == y; to++)
				;
			if (y < 0 || w.x[y].app != w.x[x].app || w.x[y].priority >= w.x[x].priority)
				continue;
			until = to;
			for (unsigned m = 0; m < w.lanes; m++) {
				const struct times *on = ended < TIME ? world_stretch(&w, x, ended) : NULL;
				int last = began;

				if (!on || (unsigned)on->lane != m)
					continue;
				for (int k = began; k < ended; k++) {
					last = w.holder[m][k] >= 0 ? k + 1 : last;
					touches |= is_unknown(m, w.holder[m][k], k, k + 1);
				}
				until = last < until ? last : until;
			}
			if (until - t <= w.x[y].step_ns)
				continue;
			n_inversions++;
			for (int k = t; k < until; k++)
				touches |= is_unknown(l, y, k, k + 1);
			touches |= is_possible(x, t, until);
			expect(touches || is_inverted(x, y, l, t, until),
			       "%d is inverted by %d on lane %u from %d to %d", x + 1, y + 1, l, t, until);
		}
}

static void check_waits(int x)
{
	for (int t = session.from, to; t < TIME - 1; t = to) {
		for (to = t + 1; to < TIME - 1 && w.waits[x][to] == w.waits[x][t]; to++)
			;
		if (!w.waits[x][t])
			continue;
		if (is_told(x, t, to)) {
			n_told++;
			if (!session.native)
				check_inversions(x, t, to < recorded_until() ? to : recorded_until());
			continue;
		}
		n_hidden++;
		expect(is_possible(x, t, to), "execution %d waits from %d to %d, unsuspected", x + 1, t, to);
	}
}

/* Of the most urgent work, the time before the first hole matters to no verdict. */
static void check_lane(unsigned l)
{
	for (int t = session.from, to; t < recorded_until(); t = to) {
		int y = w.holder[l][t];
		bool told = true;

		for (to = t + 1; to < recorded_until() && w.holder[l][to] == y; to++)
			;
		for (int k = t; k < to; k++)
			told &= told_lane[l][k];
		if (y < 0 || told || (to == recorded_until() && !world_lost(&w, t, to)))
			continue; /* that it is on the lane at the end is certain, too */
		n_unknown_stretches++;
		if (w.x[y].priority == BSA_PRIORITY_HIGH)
			continue;
		expect(is_unknown(l, y, t, to), "execution %d holds lane %u from %d to %d, unsuspected", y + 1, l, t,
		       to);
	}
}

static void play_session(uint32_t seed)
{
	playing = seed;
	make_session(seed);
	lose_steps();
	play();
	for (int x = 0; x < EXECUTIONS; x++)
		check_waits(x);
	for (unsigned l = 0; l < w.lanes && !session.native; l++)
		if (session.has_lane[l])
			check_lane(l);
}

static void each_wait_is_reported_or_possible(void **state)
{
	time_t stop = soak_until(1);

	(void)state;
	for (uint32_t i = 1; stop ? time(NULL) < stop : i <= SESSIONS; i++)
		play_session(i);
	print_message("waits: %llu certain, %llu possible; %llu lane stretches unknown; %llu inversions\n",
	              (unsigned long long)n_told, (unsigned long long)n_hidden, (unsigned long long)n_unknown_stretches,
	              (unsigned long long)n_inversions);
	assert_true(n_hidden > SESSIONS && n_told > SESSIONS && n_unknown_stretches > SESSIONS &&
	            n_inversions > SESSIONS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_wait_is_reported_or_possible) };

	if (argc == 2) {
		play_session((uint32_t)strtoul(argv[1], NULL, 0));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

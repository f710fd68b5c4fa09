/*
 * test_sharing.c -- recorded arrivals under ideal fair sharing: the recording of a fair service is its own
 * ideal, to the nanosecond; what another policy did to an app shows; and time without a cpu stays in one
 * piece.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay/replay.h"
#include "replay/sharing.h"

enum {
	STREAMS = 6,
	OF_EACH = 40,
	CALLS = STREAMS * OF_EACH,
	APPS = 3,
	SAVE = 2,
	ABORT = 0,
	REFUSE = 1,
	ADVISE = 2,
	WORLDS = 300,
	DEADLINE_WORLDS = 600,
	LONG = 300000
};
enum { FAIR, PRIORITY, FIFO, EDF };

#define US(n) ((uint64_t)(n)*1000)
#define MS(n) US((n)*1000)

static uint64_t random_below(uint64_t *series, uint64_t n)
{
	*series = *series * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*series >> 33) % n;
}

/* ---- a service that records ---- */

struct world {
	struct bsa_sharing_call calls[CALLS]; /* as recorded */
	uint64_t budgets[STREAMS];            /* deadlines, after the submission; 0: no deadline */
	uint64_t held[STREAMS];               /* lane time of the call that is under way */
	uint64_t stalled[STREAMS];            /* for how long it is off its lane, and wants none */
	uint64_t stalls;                      /* limit of that; 0: no call is */
	double wrong; /* factor by which the service's estimates are wrong; 0: the service has no estimates */
	size_t n;
	uint64_t series, stall;
	uint32_t deadlines; /* mode */
	uint32_t policy;    /* as recorded */
	uint32_t alone;     /* number of the only app that submits anything, and 1; 0: all do */
	bool shared;        /* threads of an app share one stream */
	struct {
		uint64_t think, run, step, begins;
		uint32_t app, priority, left;
		bool closed;
	} streams[STREAMS];
	size_t next;
};

static bool next_call(void *arg, uint32_t i, uint64_t now, struct bsa_replay_call *ret)
{
	struct world *w = arg;
	uint64_t run = w->streams[i].run + random_below(&w->series, US(200)), at = now + w->streams[i].think;

	if (!w->streams[i].left || (w->alone && w->streams[i].app != w->alone - 1))
		return false;
	if (w->streams[i].left-- == OF_EACH)
		at = w->streams[i].begins;
	w->held[i] = 0;
	w->stalled[i] = w->stalls && w->budgets[i] ? random_below(&w->series, w->stalls) : 0;
	if (w->stalled[i] > w->budgets[i])
		w->stalled[i] = w->budgets[i];
	/* What is left of its time without the stall: the world goes on as if it had been longer elsewhere. */
	*ret = (struct bsa_replay_call){ .at = at,
		                         .deadline =
		                                 w->budgets[i] ? at + w->budgets[i] - w->stalled[i] : BSA_REPLAY_NEVER,
		                         .run_ns = run,
		                         .step_ns = w->streams[i].step,
		                         .model = i,
		                         .app = w->streams[i].app,
		                         .priority = w->streams[i].priority,
		                         .tag = i };
	return true;
}

static void call_done(void *arg, const struct bsa_replay_call *call, const struct bsa_replay_outcome *o)
{
	struct world *w = arg;
	bool refused = o->fate == BSA_REPLAY_REFUSED, answered = o->fate == BSA_REPLAY_ANSWERED;
	uint64_t run = w->streams[call->tag].run;

	w->calls[w->n++] =
		(struct bsa_sharing_call){ .ready = refused ? o->ended : call->at,
		                           .response = refused ? 0 : o->ended - call->at,
		                           .waited = refused ? 0 : o->ended - call->at - w->held[call->tag],
		                           .run = answered ? call->run_ns : w->held[call->tag],
		                           .usual = (uint64_t)((double)run * w->wrong),
		                           .need_least = run,
		                           .need_most = run + US(200),
		                           .stalled = refused ? 0 : w->stalled[call->tag],
		                           .stalled_most = refused ? 0 : w->stalled[call->tag],
		                           .stalled_to_its_end = !answered && !refused && w->stalled[call->tag] &&
		                                                 w->held[call->tag] && w->n % 2,
		                           .deadline = call->deadline + (refused ? 0 : w->stalled[call->tag]),
		                           .step = call->step_ns,
		                           .stream = w->shared ? call->app : call->tag,
		                           .app = call->app,
		                           .priority = call->priority,
		                           .asked = true,
		                           .given_up = !answered,
		                           .refused = refused,
		                           .answered = answered };
}

static void call_held(void *arg, const struct bsa_replay_call *call, uint32_t lane, uint64_t began, uint64_t ended)
{
	struct world *w = arg;

	(void)lane;
	w->held[call->tag] += ended - began;
}

static int by_ready(const void *a, const void *b)
{
	const struct bsa_sharing_call *x = a, *y = b;

	return x->ready < y->ready ? -1 : x->ready > y->ready;
}

/* @policy serves. No two events have the same time. */
static void play_world(struct world *w, uint32_t policy, uint32_t deadlines, uint32_t lanes)
{
	struct bsa_replay_model models[STREAMS];
	const struct bsa_replay replay = { .rules = { policy, SAVE, deadlines, lanes },
		                           .n_apps = APPS,
		                           .n_models = STREAMS,
		                           .n_chains = STREAMS,
		                           .models = models };
	const struct bsa_replay_source source = { .next = next_call, .done = call_done, .held = call_held, .arg = w };

	w->deadlines = deadlines;
	w->policy = policy;
	for (uint32_t i = 0; i < STREAMS; i++) {
		uint64_t ns = (uint64_t)((double)w->streams[i].run * w->wrong);

		models[i] = (struct bsa_replay_model){ .floor_ns = ns, .estimate_ns = ns };
	}
	assert_true(bsa_replay_run(&replay, &source));
	assert_int_equal(w->n, w->alone ? CALLS / APPS : CALLS);
	qsort(w->calls, w->n, sizeof(*w->calls), by_ready);
}

static void set_up_world(struct world *w, uint64_t seed)
{
	*w = (struct world){ .series = seed };
	for (uint32_t i = 0; i < STREAMS; i++) {
		w->streams[i].run = US(50) + random_below(&w->series, MS(8));
		w->streams[i].step = US(20) + random_below(&w->series, MS(1));
		w->streams[i].think = 1 + random_below(&w->series, random_below(&w->series, 2) ? US(300) : MS(20));
		w->streams[i].begins = 1 + random_below(&w->series, MS(10));
		w->streams[i].app = i % APPS;
		w->streams[i].priority = i % APPS == 0 ? 0 : 2;
		w->streams[i].left = OF_EACH;
	}
}

static void make_world(struct world *w, uint64_t seed, uint32_t policy, uint32_t lanes)
{
	set_up_world(w, seed);
	play_world(w, policy, ADVISE, lanes);
}

static int next_recorded(void *arg, struct bsa_sharing_call *ret)
{
	struct world *w = arg;

	if (w->next == w->n)
		return 0;
	*ret = w->calls[w->next++];
	return 1;
}

static void share(struct world *w, uint32_t lanes, struct bsa_sharing_app ret[APPS])
{
	const struct bsa_sharing sharing = { .lanes = lanes,
		                             .policy = w->policy,
		                             .preempt = SAVE,
		                             .deadlines = w->deadlines,
		                             .n_apps = APPS,
		                             .stall = w->stall,
		                             .next = next_recorded,
		                             .arg = w };

	w->next = 0;
	assert_int_equal(bsa_sharing_run(&sharing, ret), BSA_SHARING_DONE);
}

/* ---- what must hold ---- */

static void what_a_fair_service_did_is_its_own_ideal(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		uint32_t lanes = 1 + seed % 2;

		make_world(&w, seed, FAIR, lanes);
		share(&w, lanes, apps);
		for (int i = 0; i < APPS; i++)
			if (apps[i].n != CALLS / APPS || apps[i].mean_ns != apps[i].ideal_mean_ns ||
			    apps[i].p95_ns != apps[i].ideal_p95_ns || apps[i].work_ns != apps[i].ideal_work_ns)
				fail_msg("seed %lu, app %d: n %lu, mean %.0f and %.0f, p95 %lu and %lu, work %lu and "
				         "%lu",
				         seed, i, apps[i].n, apps[i].mean_ns, apps[i].ideal_mean_ns, apps[i].p95_ns,
				         apps[i].ideal_p95_ns, apps[i].work_ns, apps[i].ideal_work_ns);
	}
}

static void what_priority_did_to_an_app_shows(void **state)
{
	struct bsa_sharing_app apps[APPS];
	unsigned slower = 0;
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		make_world(&w, seed, PRIORITY, 1);
		share(&w, 1, apps);
		slower += apps[0].mean_ns > 1.25 * apps[0].ideal_mean_ns;
	}
	assert_in_range(slower, WORLDS / 2, WORLDS); /* slower for the app of low priority */
}

/* Half of the streams have deadlines. Estimates are up to four times too small or too large. */
static void set_up_world_with_deadlines(struct world *w, uint64_t seed)
{
	static const double wrong[] = { 0.25, 0.5, 1, 2, 4 };

	set_up_world(w, seed);
	w->wrong = wrong[seed % 5];
	for (uint32_t i = 0; i < STREAMS; i += 2)
		w->budgets[i] = w->streams[i].run / 2 + random_below(&w->series, MS(30));
}

static void make_world_with_deadlines(struct world *w, uint64_t seed, uint32_t policy, uint32_t lanes)
{
	set_up_world_with_deadlines(w, seed);
	play_world(w, policy, seed % 3 ? ABORT : REFUSE, lanes);
}

enum { CROWD = 3 }; /* threads of app 0; app 2 has one */

/* Each thread submits 50 us after its answer. */
static void make_crowd(struct world *w, uint64_t seed, uint32_t policy)
{
	set_up_world(w, seed);
	w->shared = true;
	for (uint32_t i = 0; i < STREAMS; i++) {
		w->streams[i].app = i < CROWD ? 0 : i < STREAMS - 1 ? 1 : 2;
		w->streams[i].run = MS(2);
		w->streams[i].step = US(100);
		w->streams[i].think = US(50);
	}
	play_world(w, policy, ADVISE, 1);
}

/*
 * Each thread of a stream follows its own answers: in the replay it has one execution under way, whatever policy served
 * it, and where its runs take a tenth longer than they did.
 */
static void threads_that_share_a_stream_have_one_execution_each(void **state)
{
	struct bsa_sharing_app apps[APPS], fifo[APPS];
	struct world fair, w;

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		make_crowd(&fair, seed, FAIR);
		share(&fair, 1, apps);
		for (int i = 0; i < APPS; i++)
			assert_true(apps[i].mean_ns == apps[i].ideal_mean_ns);
		make_crowd(&w, seed, FIFO);
		share(&w, 1, fifo);
		for (int i = 0; i < APPS; i++)
			if (fabs(fifo[i].ideal_mean_ns / apps[i].mean_ns - 1) > 0.2)
				fail_msg("seed %lu, app %d: mean %.0f, and %.0f of what first come first served made "
				         "of it",
				         seed, i, apps[i].mean_ns, fifo[i].ideal_mean_ns);
		for (size_t i = 0; i < fair.n; i++)
			fair.calls[i].run += fair.calls[i].app == 0 ? US(200) : 0;
		share(&fair, 1, apps);
		for (int i = 0; i < APPS; i++)
			if (fabs(apps[i].ideal_mean_ns / apps[i].mean_ns - 1) > 0.2)
				fail_msg("seed %lu, app %d: mean %.0f, and %.0f with longer runs", seed, i,
				         apps[i].mean_ns, apps[i].ideal_mean_ns);
	}
}

static bool misses_many_more(const struct bsa_sharing_app *a)
{
	return a->due >= 30 && a->ideal_met_least >= a->met + 8 && 4 * a->ideal_met_least > 5 * a->met;
}

static void no_deadline_of_a_fair_service_is_missed_more_often_than_under_fair_sharing(void **state)
{
	struct bsa_sharing_app apps[APPS];
	unsigned missed = 0;
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= DEADLINE_WORLDS; seed++) {
		uint32_t lanes = 1 + seed % 2;

		make_world_with_deadlines(&w, seed, FAIR, lanes);
		share(&w, lanes, apps);
		for (int i = 0; i < APPS; i++) {
			if (misses_many_more(&apps[i]))
				fail_msg("seed %lu, app %d met %lu of %lu, and %lu to %lu under fair sharing", seed, i,
				         apps[i].met, apps[i].due, apps[i].ideal_met_least, apps[i].ideal_met_most);
			assert_true(apps[i].ideal_met_least <= apps[i].ideal_met_most &&
			            apps[i].ideal_met_most <= apps[i].due);
			missed += apps[i].due >= 30 && 2 * apps[i].met < apps[i].due;
		}
	}
	assert_true(missed > DEADLINE_WORLDS / 10); /* otherwise nothing was tested */
}

/* What apps do to themselves, no sharing makes up for. */
static void no_deadline_that_passed_for_a_stall_is_owed_by_others(void **state)
{
	struct bsa_sharing_app apps[APPS];
	unsigned missed = 0, n = 0;
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= DEADLINE_WORLDS; seed++) {
		uint32_t lanes = 1 + seed % 2;

		set_up_world_with_deadlines(&w, seed);
		w.stalls = MS(60);
		play_world(&w, FAIR, seed % 3 ? ABORT : REFUSE, lanes);
		share(&w, lanes, apps);
		for (int i = 0; i < APPS; i++) {
			if (misses_many_more(&apps[i]))
				fail_msg("seed %lu, app %d met %lu of %lu, and %lu to %lu under fair sharing", seed, i,
				         apps[i].met, apps[i].due, apps[i].ideal_met_least, apps[i].ideal_met_most);
			if (2 * apps[i].ideal_work_ns < apps[i].work_ns)
				fail_msg("seed %lu, app %d had work for %lu, and for %lu under fair sharing", seed, i,
				         apps[i].work_ns, apps[i].ideal_work_ns);
			missed += apps[i].due >= 30 && 2 * apps[i].met < apps[i].due;
			n += apps[i].due >= 30;
		}
	}
	assert_true(missed > n / 10); /* otherwise nothing was tested */
}

static bool is_much_slower(const struct bsa_sharing_app *a)
{
	return a->n >= 30 && a->mean_ns > 1.25 * a->ideal_mean_ns && a->mean_ns - a->ideal_mean_ns > MS(2);
}

/*
 * A fair service and its ideal give up the same executions, so the responses of the others are alike. Wrong
 * estimates, and the random lane times, make a few of them differ.
 */
static void the_ideal_of_a_fair_service_with_deadlines_is_near_to_what_it_did(void **state)
{
	unsigned n = 0, slower = 0, quicker = 0;
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= DEADLINE_WORLDS; seed++) {
		uint32_t lanes = 1 + seed % 2;

		make_world_with_deadlines(&w, seed, FAIR, lanes);
		share(&w, lanes, apps);
		for (int i = 0; i < APPS; i++) {
			n += apps[i].n >= 30;
			slower += is_much_slower(&apps[i]);
			quicker += apps[i].n >= 30 && apps[i].ideal_mean_ns > 1.25 * apps[i].mean_ns;
		}
	}
	assert_true(n > 2 * DEADLINE_WORLDS);
	assert_in_range(slower, 0, n / 100);
	assert_in_range(quicker, 0, n / 20);
}

static void what_first_come_first_served_did_to_deadlines_shows(void **state)
{
	struct bsa_sharing_app apps[APPS];
	unsigned failed = 0;
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= DEADLINE_WORLDS; seed++) {
		make_world_with_deadlines(&w, seed, FIFO, 1);
		share(&w, 1, apps);
		for (int i = 0; i < APPS; i++)
			failed += misses_many_more(&apps[i]);
	}
	assert_true(failed > DEADLINE_WORLDS / 20);
}

/*
 * Each app has a stream of high priority, and one of low priority that holds it up; the other apps are light. What
 * fair sharing would have met by the order within an app is no other app's doing.
 */
static void who_is_said_to_be_robbed_meets_more_without_the_others(void **state)
{
	static const uint32_t policies[] = { FIFO, PRIORITY, EDF };
	struct bsa_sharing_app apps[APPS], alone[APPS];
	unsigned robbed = 0;
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= DEADLINE_WORLDS; seed++) {
		uint32_t policy = policies[seed % 3];

		for (uint32_t only = 0; only <= APPS; only++) {
			set_up_world_with_deadlines(&w, seed);
			w.alone = only;
			for (uint32_t i = 0; i < STREAMS; i++) {
				w.streams[i].priority = i < APPS ? 2 : 0;
				w.budgets[i] = i < APPS ? w.streams[i].run + MS(4) : 0;
				w.streams[i].run /= i % APPS == seed / 3 % APPS ? 1 : 16;
			}
			play_world(&w, policy, ABORT, 1);
			share(&w, 1, only ? alone : apps);
			if (!only || !misses_many_more(&apps[only - 1]))
				continue;
			robbed++;
			if (alone[only - 1].met < apps[only - 1].ideal_met_least)
				fail_msg("seed %lu, app %u: met %lu, at least %lu under fair sharing, alone %lu", seed,
				         only - 1, apps[only - 1].met, apps[only - 1].ideal_met_least,
				         alone[only - 1].met);
		}
	}
	assert_true(robbed > DEADLINE_WORLDS / 20);
}

/* A long execution, and a short one of another app that arrives meanwhile. */
static void two_apps(struct world *w, uint64_t off)
{
	*w = (struct world){ .n = 2 };
	w->calls[0] = (struct bsa_sharing_call){ .ready = 0,
		                                 .response = MS(10),
		                                 .run = MS(10),
		                                 .off = off,
		                                 .deadline = UINT64_MAX,
		                                 .step = MS(1),
		                                 .stream = 1,
		                                 .asked = true,
		                                 .answered = true };
	w->calls[1] = w->calls[0];
	w->calls[1].ready = MS(5) - US(100);
	w->calls[1].response = MS(6);
	w->calls[1].run = US(500);
	w->calls[1].off = 0;
	w->calls[1].stream = 2;
	w->calls[1].app = 1;
}

static void a_short_one_waits_for_a_step_and_not_for_all(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	two_apps(&w, 0);
	share(&w, 1, apps);
	/* fair has it wait for a quantum of half a millisecond, and then for the end of a step, at 6 ms */
	assert_int_equal(apps[1].ideal_p95_ns, MS(6) + US(500) - w.calls[1].ready);
	assert_int_equal(apps[1].p95_ns, MS(6));
	assert_int_equal(apps[0].ideal_p95_ns, MS(10) + US(500));
	assert_int_equal(apps[0].work_ns, MS(10));
	assert_int_equal(apps[0].ideal_work_ns, MS(10) + US(500));
	assert_int_equal(apps[1].received_ns, US(500));
}

static void an_execution_given_up_needs_a_usual_run(void **state)
{
	static const uint64_t usual[] = { 0, US(200), US(500), MS(2) };

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		for (int given_up = 0; given_up < 2; given_up++) {
			uint64_t had = US(500), need = given_up && usual[i] > had ? usual[i] : had;
			struct bsa_sharing_app apps[APPS];
			struct world w;

			(void)state;
			two_apps(&w, 0);
			w.calls[1].usual = usual[i];
			w.calls[1].given_up = given_up;
			share(&w, 1, apps);
			assert_int_equal(apps[1].ideal_work_ns, MS(6) + need - w.calls[1].ready);
			assert_int_equal(apps[1].received_ns, had);
		}
}

/* The second of the two apps was refused, 4.9 ms after the first began; its deadline is 2 ms later. */
static void one_refused(struct world *w, uint64_t least, uint64_t usual, uint64_t most)
{
	two_apps(w, 0);
	w->calls[1].deadline = w->calls[1].ready + MS(2);
	w->calls[1].response = w->calls[1].run = 0;
	w->calls[1].usual = usual;
	w->calls[1].need_least = least;
	w->calls[1].need_most = most;
	w->calls[1].answered = false;
	w->calls[1].given_up = w->calls[1].refused = true;
}

static void a_refused_execution_takes_part_without_any_work(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	one_refused(&w, US(500), US(500), US(500));
	share(&w, 1, apps);
	assert_int_equal(apps[0].ideal_p95_ns, MS(10) + US(500));
	assert_int_equal(apps[1].work_ns + apps[1].ideal_work_ns + apps[1].received_ns + apps[1].n, 0);
	assert_int_equal(apps[1].due, 1);
	assert_int_equal(apps[1].met, 0);
	assert_int_equal(apps[0].due, 0);
}

/*
 * The execution gets the lane at 6 ms, 1.1 ms after it was refused, and has until 6.9 ms; with a quarter to
 * spare until 6.5 ms.
 */
static void what_it_needed_decides_whether_it_is_in_time(void **state)
{
	static const struct {
		uint64_t least, usual, most;
		unsigned met_least, met_most;
	} needs[] = {
		{ US(100), US(200), US(500), 1, 1 },    { US(100), US(200), US(501), 0, 1 },
		{ US(100), US(501), US(501), 0, 1 },    { US(900), US(900), US(900), 0, 1 },
		{ US(100), US(901), US(1000), 0, 1 },   { US(901), US(901), US(901), 0, 0 },
		{ US(1000), US(1000), US(1000), 0, 0 }, { US(100), US(200), 0, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		struct bsa_sharing_app apps[APPS];
		struct world w;

		one_refused(&w, needs[i].least, needs[i].usual, needs[i].most);
		share(&w, 1, apps);
		if (apps[1].ideal_met_least != needs[i].met_least || apps[1].ideal_met_most != needs[i].met_most)
			fail_msg("needs %zu: %lu to %lu in time", i, apps[1].ideal_met_least, apps[1].ideal_met_most);
	}
}

static void an_app_whose_needs_are_unknown_makes_others_unsure(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	one_refused(&w, US(100), US(200), US(300));
	w.calls[0].deadline = MS(20);
	share(&w, 1, apps);
	assert_int_equal(apps[0].ideal_met_least, 1);
	assert_int_equal(apps[0].met, 1);
	w.calls[1].need_most = 0;
	share(&w, 1, apps);
	assert_int_equal(apps[0].ideal_met_least, 0);
	assert_int_equal(apps[0].ideal_met_most, 1);
}

/* The second of the two apps has @budget, got its lane at 10 ms, and had it for 500 us, until it was given up. */
static void one_given_up(struct world *w, uint64_t budget)
{
	two_apps(w, 0);
	w->calls[0].step = US(20);
	w->calls[1].deadline = w->calls[1].ready + budget;
	w->calls[1].waited = w->calls[1].response - w->calls[1].run;
	w->calls[1].usual = w->calls[1].need_least = w->calls[1].need_most = US(500);
	w->calls[1].answered = false;
	w->calls[1].given_up = true;
}

/* Under fair sharing it would have taken 0.5 ms, a step and its run: in time with 12 ms, if no stall is long. */
static void a_stall_takes_of_the_time_until_the_deadline(void **state)
{
	static const struct {
		uint64_t stalled, stalled_most;
		bool to_its_end;
		unsigned met_least, met_most;
	} stalls[] = {
		{ 0, 0, false, 1, 1 },           { MS(6), MS(6), false, 1, 1 },   { MS(6), MS(6), true, 0, 1 },
		{ MS(6), MS(10), false, 0, 1 },  { MS(11), MS(11), false, 0, 0 }, { MS(11), MS(11), true, 0, 0 },
		{ MS(10), MS(10), false, 0, 1 }, { MS(12), MS(30), true, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stalls) / sizeof(*stalls); i++) {
		struct bsa_sharing_app apps[APPS];
		struct world w;

		one_given_up(&w, MS(12));
		w.calls[1].stalled = stalls[i].stalled;
		w.calls[1].stalled_most = stalls[i].stalled_most;
		w.calls[1].stalled_to_its_end = stalls[i].to_its_end;
		share(&w, 1, apps);
		if (apps[1].ideal_met_least != stalls[i].met_least || apps[1].ideal_met_most != stalls[i].met_most)
			fail_msg("stall %zu: %lu to %lu in time", i, apps[1].ideal_met_least, apps[1].ideal_met_most);
		assert_int_equal(apps[1].met, 0);
	}
}

static void a_stall_may_make_an_answer_late(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	one_given_up(&w, MS(12));
	w.calls[1].given_up = false;
	w.calls[1].answered = true;
	w.calls[1].stalled = w.calls[1].stalled_most = MS(6);
	share(&w, 1, apps);
	assert_int_equal(apps[1].met, 1);
	w.calls[1].stalled = w.calls[1].stalled_most = MS(6) + 1;
	share(&w, 1, apps);
	assert_int_equal(apps[1].met, 0);
	assert_int_equal(apps[1].ideal_met_least, 1);
}

/* It slept on its lane until long after its deadline: no other app took that time from it. */
static void who_sleeps_on_a_lane_is_not_robbed(void **state)
{
	static const uint64_t stalls[] = { 0, MS(1) };

	(void)state;
	for (size_t i = 0; i < sizeof(stalls) / sizeof(*stalls); i++) {
		struct bsa_sharing_app apps[APPS];
		struct world w;

		one_given_up(&w, MS(20));
		w.stall = stalls[i];
		w.calls[1].step = US(10);
		w.calls[1].ready = MS(50);
		w.calls[1].deadline = MS(70);
		w.calls[1].response = w.calls[1].run = MS(61);
		w.calls[1].off = MS(60);
		w.calls[1].waited = 0;
		share(&w, 1, apps);
		assert_int_equal(apps[1].work_ns, MS(61));
		assert_in_range(apps[1].ideal_work_ns, MS(60), MS(62));
		assert_int_equal(apps[1].ideal_met_most, 0);
	}
}

/* The app's call failed after the deadline, and the service went on: the run is known, and the deadline was missed. */
static void who_was_left_by_its_client_was_due(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	one_given_up(&w, MS(5));
	w.calls[1].given_up = false;
	w.calls[1].need_most = 0;
	share(&w, 1, apps);
	assert_int_equal(apps[1].due, 0);
	w.calls[1].left = true;
	share(&w, 1, apps);
	assert_int_equal(apps[1].due, 1);
	assert_int_equal(apps[1].met, 0);
	assert_int_equal(apps[1].ideal_met_least, 1);
	assert_int_equal(apps[1].n, 0);
}

/* No wait for a lane made it late: neither would another order have made it be in time. */
static void who_never_waited_would_have_missed_it_all_the_same(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	one_given_up(&w, MS(5));
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_met_least, 1);
	w.calls[1].waited = US(999); /* it was 1 ms late */
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_met_least, 0);
	assert_int_equal(apps[1].ideal_met_most, 1);
}

/*
 * The thread of app 0 waited for six answers, until @until, and has each after 1 ms under fair sharing: it would have
 * asked for more, and app 1 would have waited for that.
 */
static unsigned sure_to_meet_beside(uint64_t until)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	one_given_up(&w, MS(5));
	w.calls[7] = w.calls[1]; /* a place that is free */
	w.calls[7].ready = MS(60);
	w.calls[7].deadline = MS(65);
	w.n = 0;
	for (uint64_t at = 0; w.n < 6; at += until / 6)
		w.calls[w.n++] = (struct bsa_sharing_call){ .ready = at,
			                                    .response = until / 6 - US(10),
			                                    .run = MS(1),
			                                    .step = US(100),
			                                    .deadline = UINT64_MAX,
			                                    .asked = true,
			                                    .answered = true };
	w.calls[w.n++] = w.calls[7];
	qsort(w.calls, w.n, sizeof(*w.calls), by_ready);
	share(&w, 1, apps);
	assert_int_equal(apps[1].due, 1);
	assert_int_equal(apps[1].ideal_met_most, 1);
	return (unsigned)apps[1].ideal_met_least;
}

static void who_is_in_time_where_others_have_no_more_to_ask_is_not_sure(void **state)
{
	(void)state;
	assert_int_equal(sure_to_meet_beside(MS(60)), 1);
	assert_int_equal(sure_to_meet_beside(MS(90)), 0);
}

/*
 * A thread that is refused tries again every 100 us. In the replay each admitted try takes 1 ms, so the
 * thread does not make the nine tries behind it.
 */
static void a_thread_that_waits_does_not_try_again(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w = { .n = 200 };

	(void)state;
	for (size_t i = 0; i < w.n; i++)
		w.calls[i] = (struct bsa_sharing_call){ .ready = US(100) * (i + 1),
			                                .usual = MS(1) - 1,
			                                .need_least = MS(1) - 1,
			                                .need_most = MS(1) - 1,
			                                .deadline = US(100) * (i + 1) + MS(2),
			                                .given_up = true,
			                                .refused = true,
			                                .asked = true };
	share(&w, 1, apps);
	assert_int_equal(apps[0].due, 200);
	assert_int_equal(apps[0].ideal_met_least, 20);
	assert_int_equal(apps[0].ideal_met_most, 20);
}

/*
 * App 0 runs for 9 of 10 ms. App 1 waits behind it for 7 ms to run for 700 us. App 2 has three threads with
 * @n_refused refused executions: each has 400 us until its deadline, and needs @need.
 */
static void three_apps(struct world *w, uint64_t need, size_t n_refused)
{
	*w = (struct world){ .n = 0 };
	for (uint64_t i = 0; i < 5; i++) {
		w->calls[w->n] = (struct bsa_sharing_call){ .ready = MS(10) * i,
			                                    .response = MS(9),
			                                    .run = MS(9),
			                                    .deadline = UINT64_MAX,
			                                    .step = US(100),
			                                    .stream = 1,
			                                    .asked = true,
			                                    .answered = true };
		w->n++;
		w->calls[w->n] = w->calls[w->n - 1];
		w->calls[w->n].ready += MS(2);
		w->calls[w->n].response = MS(7) + US(700);
		w->calls[w->n].run = US(700);
		w->calls[w->n].stream = 2;
		w->calls[w->n++].app = 1;
	}
	for (uint64_t i = 0; i < n_refused; i++, w->n++) {
		uint64_t ready = MS(49) * (i + 1) / (n_refused + 1);

		w->calls[w->n] = (struct bsa_sharing_call){ .ready = ready,
			                                    .usual = need,
			                                    .need_least = need / 4,
			                                    .need_most = 4 * need,
			                                    .deadline = ready + US(400),
			                                    .stream = 3 + i % 3,
			                                    .step = US(100),
			                                    .app = 2,
			                                    .given_up = true,
			                                    .refused = true,
			                                    .asked = true };
	}
	qsort(w->calls, w->n, sizeof(*w->calls), by_ready);
}

static void what_no_service_would_have_begun_changes_no_other_apps_ideal(void **state)
{
	struct bsa_sharing_app without[APPS], with[APPS];
	struct world w;

	(void)state;
	three_apps(&w, 0, 0);
	share(&w, 1, without);
	three_apps(&w, MS(35), 200);
	share(&w, 1, with);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(with[i].n, 5);
		assert_true(with[i].ideal_mean_ns == without[i].ideal_mean_ns);
		assert_int_equal(with[i].ideal_p95_ns, without[i].ideal_p95_ns);
		assert_int_equal(with[i].ideal_work_ns, without[i].ideal_work_ns);
	}
	assert_int_equal(with[2].due, 200);
	assert_int_equal(with[2].ideal_met_most, 0);
}

/*
 * Three threads of app 2 are refused time after time, although a lane was theirs for half of their time: that
 * is an estimate.
 */
static void what_may_have_been_refused_by_a_fair_service_too_shows(void **state)
{
	struct bsa_sharing_app without[APPS], with[APPS];
	struct world w;

	(void)state;
	three_apps(&w, 0, 0);
	share(&w, 1, without);
	assert_false(without[1].refused_runs);
	three_apps(&w, US(200), 200);
	share(&w, 1, with);
	for (int i = 0; i < 2; i++) {
		assert_true(with[i].refused_runs);
		assert_true(with[i].ideal_mean_ns > 1.25 * with[i].ideal_mean_without_ns);
		assert_true(with[i].ideal_mean_without_ns == without[i].ideal_mean_ns);
		assert_int_equal(with[i].ideal_p95_without_ns, without[i].ideal_p95_ns);
		assert_int_equal(with[i].ideal_work_without_ns, without[i].ideal_work_ns);
	}
}

/*
 * A refused execution had 2 ms until its deadline and needs 1.5. It gets the lane at 6 ms, and its deadline
 * is at 6.9 ms. Its steps are 100 us.
 */
static void a_late_execution_leaves_the_lane_at_its_deadline(void **state)
{
	static const struct {
		uint32_t deadlines;
		uint64_t ns;
	} modes[] = { { ABORT, US(900) }, { REFUSE, US(1500) } };

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct bsa_sharing_app apps[APPS];
		struct world w;

		one_refused(&w, US(1500), US(1500), US(1500));
		w.calls[1].step = US(100);
		w.deadlines = modes[i].deadlines;
		share(&w, 1, apps);
		assert_int_equal(apps[0].ideal_p95_ns, MS(10) + modes[i].ns);
		assert_int_equal(apps[1].ideal_met_most, 0);
	}
}

static void an_execution_without_a_cpu_cannot_leave_meanwhile(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	two_apps(&w, MS(6)); /* the third of 4 steps takes 7 ms: from 2 ms to 9 */
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(9) + US(500) - w.calls[1].ready);
}

/*
 * When in the run of the first one its thread had no cpu is not known. The second one found no such stretch, and met
 * its deadline.
 */
static void who_was_in_time_beside_one_without_a_cpu_is_so_perhaps(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	for (int missed = 0; missed < 2; missed++) {
		two_apps(&w, MS(8));
		w.stall = MS(8);
		w.calls[0].step = US(100);
		w.calls[0].deadline = missed ? MS(9) : UINT64_MAX;
		w.calls[1].response = MS(1);
		w.calls[1].deadline = w.calls[1].ready + MS(2);
		share(&w, 1, apps);
		assert_int_equal(apps[1].met, 1);
		assert_int_equal(apps[1].ideal_met_least, 0);
		assert_int_equal(apps[1].ideal_met_most, 1);
	}
}

static void no_stretch_without_a_cpu_is_longer_than_a_stall(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	two_apps(&w, MS(6)); /* three stalls of 2 ms: the steps end at 1, 4, 7 and 10 ms */
	w.stall = MS(2);
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(7) + US(500) - w.calls[1].ready);
	w.stall = MS(2) + 1; /* steps of equal length all the same */
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(7) + US(500) - w.calls[1].ready);
	w.stall = MS(7);
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(9) + US(500) - w.calls[1].ready);
}

static void a_longer_run_has_longer_steps(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	two_apps(&w, 0);
	w.calls[0].usual = MS(2); /* the run takes five times the usual: steps of 5 ms */
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(10) + US(500) - w.calls[1].ready);
}

static void being_handed_a_lane_takes_its_time(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	two_apps(&w, 0);
	w.calls[1].hand = US(70);
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(6) + US(570) - w.calls[1].ready);
	assert_int_equal(apps[0].ideal_p95_ns, MS(10) + US(570));
}

static void each_hand_over_has_its_place(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	two_apps(&w, 0); /* the first, the fourth and the seventh of ten steps take 3 ms */
	w.calls[0].hand = MS(6);
	w.calls[0].hand_most = MS(2);
	w.calls[0].n_hands = 3;
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(8) + US(500) - w.calls[1].ready);
	w.calls[0].hand_most = MS(6); /* one stall, and two that took no time */
	share(&w, 1, apps);
	assert_int_equal(apps[1].ideal_p95_ns, MS(7) + US(500) - w.calls[1].ready);
}

/* ---- a stall ---- */

enum { FRAMES = 40, STALLED = 20, GIVEN_UP = 10 };

static struct bsa_sharing_call one_frame(uint64_t ready, uint64_t response)
{
	return (struct bsa_sharing_call){ .ready = ready,
		                          .response = response,
		                          .run = US(500),
		                          .deadline = UINT64_MAX,
		                          .step = US(100),
		                          .stream = 1,
		                          .app = 1,
		                          .asked = true,
		                          .answered = true };
}

/*
 * A camera takes a frame every 33 ms, or a bit later. Behind frame STALLED another app gets the lane, and
 * does not wake up before GIVEN_UP frames were given up after 32 ms each, and one more has waited for long.
 * The camera submits no frame because of an answer.
 */
static void a_late_frame_is_late_in_the_replay_too(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w = { .n = 0 };
	uint64_t stalled = 0, until = 0;

	(void)state;
	for (uint64_t i = 0; i < FRAMES; i++) {
		uint64_t ready = MS(33) * (i + 1) + US(200) * (i % 3);

		if (i == STALLED) {
			stalled = ready - MS(1);
			until = ready + MS(33) * GIVEN_UP + MS(25);
			w.calls[w.n] = one_frame(stalled, until - stalled + MS(1));
			w.calls[w.n].hand = until - stalled;
			w.calls[w.n].app = 0;
			w.calls[w.n++].stream = 2;
		}
		w.calls[w.n] = one_frame(ready, ready < until ? until + US(500) - ready : US(500));
		if (i >= STALLED && i < STALLED + GIVEN_UP) {
			w.calls[w.n].response = MS(32);
			w.calls[w.n].run = 0;
			w.calls[w.n].answered = false;
		}
		w.n++;
	}
	share(&w, 1, apps);
	assert_int_equal(apps[1].n, FRAMES - GIVEN_UP);
	assert_true(apps[1].mean_ns > US(1200)); /* the one that waited */
	assert_true(fabs(apps[1].mean_ns - apps[1].ideal_mean_ns) < US(50));
}

static void what_was_not_asked_for_is_played_and_not_judged(void **state)
{
	struct bsa_sharing_app apps[APPS];
	struct world w;

	(void)state;
	two_apps(&w, 0);
	w.calls[0].asked = false;
	w.calls[1].answered = false;
	share(&w, 1, apps);
	assert_int_equal(apps[0].n, 0);
	assert_int_equal(apps[0].work_ns, 0);
	assert_int_equal(apps[0].ideal_work_ns, 0);
	assert_int_equal(apps[1].n, 0);
	assert_int_equal(apps[1].work_ns, MS(6));
	assert_int_equal(apps[1].ideal_work_ns, MS(6) + US(500) - w.calls[1].ready);
}

/* ---- hostile numbers ---- */

static int absurd(void *arg, struct bsa_sharing_call *ret)
{
	uint64_t *left = arg;

	if (!*left)
		return 0;
	*ret = (struct bsa_sharing_call){ .ready = UINT64_MAX - *left,
		                          .response = UINT64_MAX,
		                          .run = UINT64_MAX,
		                          .off = UINT64_MAX,
		                          .hand = UINT64_MAX,
		                          .step = 1,
		                          .usual = 1,
		                          .stream = *left,
		                          .asked = true,
		                          .answered = true };
	(*left)--;
	return 1;
}

static int all_at_once(void *arg, struct bsa_sharing_call *ret)
{
	uint64_t *left = arg;

	*ret = (struct bsa_sharing_call){ .response = 1, .run = 1, .stream = *left };
	return *left ? (*left)--, 1 : 0;
}

static int broken(void *arg, struct bsa_sharing_call *ret)
{
	(void)arg, (void)ret;
	return -1;
}

static void absurd_numbers_end(void **state)
{
	struct bsa_sharing_app apps[APPS];
	uint64_t left = 1000;
	struct bsa_sharing sharing = { .lanes = 1, .preempt = SAVE, .n_apps = APPS, .next = absurd, .arg = &left };

	(void)state;
	assert_int_equal(bsa_sharing_run(&sharing, apps), BSA_SHARING_TOO_MANY);
	left = 100000;
	sharing.next = all_at_once;
	assert_int_equal(bsa_sharing_run(&sharing, apps), BSA_SHARING_TOO_MANY);
	sharing.next = broken;
	assert_int_equal(bsa_sharing_run(&sharing, apps), BSA_SHARING_FAILED);
}

/* Every tenth execution is longer; each begins long after the end of the one before. */
static int one_after_another(void *arg, struct bsa_sharing_call *ret)
{
	uint64_t *left = arg, ns = US(*left % 10 ? 100 : 900);

	*ret = (struct bsa_sharing_call){ .ready = MS(1) * (LONG - *left),
		                          .response = ns,
		                          .run = ns,
		                          .deadline = UINT64_MAX,
		                          .asked = true,
		                          .answered = true };
	return *left ? (*left)--, 1 : 0;
}

/* With more responses than are kept, the percentiles are of a sample. */
static void a_long_recording_is_played_in_parts(void **state)
{
	struct bsa_sharing_app apps[APPS];
	uint64_t left = LONG;
	const struct bsa_sharing sharing = {
		.lanes = 1, .preempt = SAVE, .n_apps = APPS, .next = one_after_another, .arg = &left
	};

	(void)state;
	assert_int_equal(bsa_sharing_run(&sharing, apps), BSA_SHARING_DONE);
	assert_int_equal(apps[0].n, LONG);
	assert_true(fabs(apps[0].mean_ns - US(180)) < 1 && apps[0].mean_ns == apps[0].ideal_mean_ns);
	assert_int_equal(apps[0].p95_ns, US(900));
	assert_int_equal(apps[0].p95_least_ns, US(900));
	assert_int_equal(apps[0].ideal_p95_ns, US(900));
	assert_int_equal(apps[0].work_ns, US(180) * LONG);
	assert_int_equal(apps[0].ideal_work_ns, US(180) * LONG);
}

/* ---- confidence ---- */

struct growing {
	uint64_t n, next;
};

/* Each takes 1 us longer than the one before, which ended long ago. */
static int longer_and_longer(void *arg, struct bsa_sharing_call *ret)
{
	struct growing *g = arg;

	if (g->next == g->n)
		return 0;
	*ret = (struct bsa_sharing_call){ .ready = MS(10) * g->next,
		                          .response = US(g->next + 1),
		                          .run = US(g->next + 1),
		                          .deadline = UINT64_MAX,
		                          .asked = true,
		                          .answered = true };
	g->next++;
	return 1;
}

/*
 * The ranks computed with exact fractions: the greatest rank with a probability of at most 1 % that the
 * binomial number of samples is beyond it.
 */
static void a_p95_has_a_lower_bound(void **state)
{
	static const struct {
		uint64_t n, rank, least;
	} ranks[] = { { 1, 1, 0 },    { 2, 2, 1 },     { 3, 3, 2 },       { 20, 19, 16 },     { 30, 29, 25 },
		      { 60, 57, 53 }, { 100, 95, 89 }, { 200, 190, 182 }, { 1000, 950, 933 }, { 5000, 4750, 4714 } };

	(void)state;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++) {
		struct bsa_sharing_app apps[APPS];
		struct growing g = { .n = ranks[i].n };
		const struct bsa_sharing sharing = {
			.lanes = 1, .preempt = SAVE, .n_apps = APPS, .next = longer_and_longer, .arg = &g
		};

		assert_int_equal(bsa_sharing_run(&sharing, apps), BSA_SHARING_DONE);
		assert_int_equal(apps[0].n, ranks[i].n);
		assert_int_equal(apps[0].p95_ns, US(ranks[i].rank));
		assert_int_equal(apps[0].p95_least_ns, US(ranks[i].least));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_fair_service_did_is_its_own_ideal),
		cmocka_unit_test(what_priority_did_to_an_app_shows),
		cmocka_unit_test(threads_that_share_a_stream_have_one_execution_each),
		cmocka_unit_test(a_short_one_waits_for_a_step_and_not_for_all),
		cmocka_unit_test(an_execution_given_up_needs_a_usual_run),
		cmocka_unit_test(a_refused_execution_takes_part_without_any_work),
		cmocka_unit_test(what_it_needed_decides_whether_it_is_in_time),
		cmocka_unit_test(no_deadline_that_passed_for_a_stall_is_owed_by_others),
		cmocka_unit_test(a_stall_takes_of_the_time_until_the_deadline),
		cmocka_unit_test(a_stall_may_make_an_answer_late),
		cmocka_unit_test(who_sleeps_on_a_lane_is_not_robbed),
		cmocka_unit_test(who_was_left_by_its_client_was_due),
		cmocka_unit_test(who_never_waited_would_have_missed_it_all_the_same),
		cmocka_unit_test(an_app_whose_needs_are_unknown_makes_others_unsure),
		cmocka_unit_test(who_is_in_time_where_others_have_no_more_to_ask_is_not_sure),
		cmocka_unit_test(a_thread_that_waits_does_not_try_again),
		cmocka_unit_test(what_no_service_would_have_begun_changes_no_other_apps_ideal),
		cmocka_unit_test(what_may_have_been_refused_by_a_fair_service_too_shows),
		cmocka_unit_test(a_late_execution_leaves_the_lane_at_its_deadline),
		cmocka_unit_test(the_ideal_of_a_fair_service_with_deadlines_is_near_to_what_it_did),
		cmocka_unit_test(no_deadline_of_a_fair_service_is_missed_more_often_than_under_fair_sharing),
		cmocka_unit_test(what_first_come_first_served_did_to_deadlines_shows),
		cmocka_unit_test(who_is_said_to_be_robbed_meets_more_without_the_others),
		cmocka_unit_test(an_execution_without_a_cpu_cannot_leave_meanwhile),
		cmocka_unit_test(who_was_in_time_beside_one_without_a_cpu_is_so_perhaps),
		cmocka_unit_test(no_stretch_without_a_cpu_is_longer_than_a_stall),
		cmocka_unit_test(a_longer_run_has_longer_steps),
		cmocka_unit_test(being_handed_a_lane_takes_its_time),
		cmocka_unit_test(each_hand_over_has_its_place),
		cmocka_unit_test(a_late_frame_is_late_in_the_replay_too),
		cmocka_unit_test(what_was_not_asked_for_is_played_and_not_judged),
		cmocka_unit_test(absurd_numbers_end),
		cmocka_unit_test(a_long_recording_is_played_in_parts),
		cmocka_unit_test(a_p95_has_a_lower_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

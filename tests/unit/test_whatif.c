/*
 * test_whatif.c -- recordings made by hand: the chains found in them, the replays drawn from them, and the
 * changes found best.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "base/vector.h"
#include "nnb/policy.h"
#include "whatif/changes.h"
#include "whatif/prediction.h"
#include "whatif/search.h"

#define US UINT64_C(1000)

enum { A, B }; /* apps, each with a model */

/* ---- a recording ---- */

static const struct bsa_replay_rules fifo = { NNB_POLICY_FIFO, NNB_PREEMPT_NONE, NNB_DEADLINES_ADVISE, 1 };
static const struct bsa_replay_rules by_priority = { NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, NNB_DEADLINES_ADVISE, 1 };

static void begin(struct bsv_past *p, size_t n_apps)
{
	static const char *const names[] = { "a", "b", "c" };

	*p = (struct bsv_past){ .rules = fifo, .n_apps = n_apps, .n_models = n_apps, .n_groups = n_apps };
	p->apps = calloc(n_apps, sizeof(*p->apps));
	p->app_ids = calloc(n_apps, sizeof(*p->app_ids));
	p->models = calloc(n_apps, sizeof(*p->models));
	p->groups = calloc(n_apps, sizeof(*p->groups));
	for (uint32_t i = 0; i < n_apps; i++) {
		p->apps[i] = strdup(names[i]);
		p->models[i] = (struct bsv_past_model){ .app = i, .group = i, .step_ns = 50 * US };
		p->groups[i] =
			(struct bsv_past_group){ .app_name = strdup(names[i]), .model_name = strdup("m"), .app = i };
	}
}

/* Submitted at @at, alone on its lane for @run, and answered at @answered; @deadline 0: none. */
static void call(struct bsv_past *p, uint32_t app, uint64_t at, uint64_t run, uint64_t answered, uint64_t deadline)
{
	assert_true(bsv_array_add(&p->calls, &p->n_calls, sizeof(*p->calls)) != NULL);
	p->calls[p->n_calls - 1] = (struct bsv_past_call){ .submitted = at,
		                                           .due = at,
		                                           .answered = answered,
		                                           .deadline = deadline ? deadline : BSA_REPLAY_NEVER,
		                                           .run_ns = run,
		                                           .model = app,
		                                           .whole = true,
		                                           .served = true,
		                                           .missed = deadline && answered > deadline };
	p->groups[app].n++;
}

/* An app that submits again 2 ms after each answer; the answers come at once or late. */
static void loop(struct bsv_past *p, uint32_t app, unsigned n)
{
	uint64_t at = MS;

	for (unsigned i = 0; i < n; i++) {
		uint64_t run = 100 * US + i % 5 * 400 * US;

		call(p, app, at, run, at + run, 0);
		at += run + 2 * MS;
	}
}

/* Frames each 10 ms, of 1 ms, each with 5 ms until its deadline, behind a call of B that takes 6. */
static void frames_behind_long_calls(struct bsv_past *p, unsigned n)
{
	begin(p, 2);
	for (unsigned i = 0; i < n; i++) {
		uint64_t at = (i + 1) * 10 * MS;

		call(p, B, at - MS, 6 * MS, at + 5 * MS, 0);
		call(p, A, at, MS, at + 6 * MS, at + 5 * MS);
		p->calls[p->n_calls - 1].priority = 2;
	}
	assert_true(bsv_past_chains(p));
}

/*
 * Frames each 10 ms, of 1 ms, with 2 ms until the deadline in the first half; in the second half a free lane
 * is given 3 ms late, and frames have no deadline.
 */
static void frames_on_a_machine_that_gets_busy(struct bsv_past *p, unsigned n)
{
	struct bsv_past_times *t = &p->begins;
	unsigned part = 0;

	begin(p, 1);
	p->length = (n + 1) * 10 * MS;
	for (unsigned i = 0; i < n; i++) {
		uint64_t at = (i + 1) * 10 * MS, late = i < n / 2 ? 0 : 3 * MS;

		call(p, A, at, MS, at + late + MS, late ? 0 : at + 2 * MS);
		assert_true(bsv_array_add(&t->ns, &t->n, sizeof(*t->ns)) != NULL);
		t->ns[i] = late;
		while (part < bsv_past_part(p, at))
			t->first[++part] = i;
	}
	while (part < BSV_PARTS)
		t->first[++part] = n;
	assert_true(bsv_past_chains(p));
}

/* ---- chains ---- */

static void calls_a_while_after_each_answer_are_a_closed_loop(void **state)
{
	struct bsv_past p;

	(void)state;
	begin(&p, 1);
	loop(&p, A, 30);
	assert_true(bsv_past_chains(&p));
	assert_int_equal(p.n_chains, 1);
	assert_int_equal(p.chains[0].loop, BSV_LOOP_CLOSED);
	assert_true(p.groups[A].closed && !p.groups[A].open);
	bsv_past_fini(&p);
}

static void calls_at_even_times_are_an_open_loop(void **state)
{
	struct bsv_past p;

	(void)state;
	begin(&p, 1);
	for (unsigned i = 1; i <= 30; i++)
		call(&p, A, i * 10 * MS, MS, i * 10 * MS + MS + i % 7 * MS, 0);
	assert_true(bsv_past_chains(&p));
	assert_int_equal(p.chains[0].loop, BSV_LOOP_OPEN);
	bsv_past_fini(&p);
}

static void calls_beside_each_other_are_of_several_threads(void **state)
{
	struct bsv_past p;

	(void)state;
	begin(&p, 1);
	for (unsigned i = 1; i <= 20; i++) {
		call(&p, A, i * 10 * MS, MS, i * 10 * MS + 4 * MS, 0);
		call(&p, A, i * 10 * MS + MS, MS, i * 10 * MS + 5 * MS, 0);
	}
	assert_true(bsv_past_chains(&p));
	assert_int_equal(p.n_chains, 2);
	bsv_past_fini(&p);
}

/* Each third frame takes 12 ms, and the app leaves out the next one. */
static void frames_that_were_left_out_are_put_in_again(void **state)
{
	struct bsv_past p;
	unsigned imagined = 0;

	(void)state;
	begin(&p, 1);
	for (unsigned i = 1; i <= 60; i++) {
		uint64_t due = i * 10 * MS, late = i % 3 == 2 ? 12 * MS : MS, at = due + i % 4 * 100 * US;

		if (i % 3 != 0)
			call(&p, A, at, late, at + late, due + 40 * MS);
	}
	assert_true(bsv_past_chains(&p));
	assert_int_equal(p.chains[0].loop, BSV_LOOP_OPEN);
	assert_true(p.chains[0].skips);
	for (size_t i = 0; i < p.n_calls; i++)
		imagined += p.calls[i].imagined && p.calls[i].due % (30 * MS) == 0; /* at the time when they were due */
	assert_int_equal(imagined, p.n_calls - p.n_recorded);
	assert_in_range(imagined, 18, 20);
	bsv_past_fini(&p);
}

/* B's two calls wait for nearly all of the recording: under other rules B would have submitted many more. */
static uint64_t jitter_of(uint64_t frame, uint64_t spread)
{
	frame *= UINT64_C(0x9e3779b97f4a7c15);
	frame ^= frame >> 29;
	frame *= UINT64_C(0xbf58476d1ce4e5b9);
	return (frame >> 48) * (spread >> 16);
}

/*
 * Frames each 20 ms, late by up to @spread, whose answers take @least to twice that. The thread takes the
 * last frame that is due. Returns the number of frames left out before the last call.
 */
static unsigned uneven_frames(struct bsv_past *p, unsigned n, uint64_t spread, uint64_t least)
{
	uint64_t now = 0, state = 1;
	unsigned left_out = 0, frame = 0;

	begin(p, 1);
	for (unsigned i = 0; i < n; i++, frame++) {
		uint64_t due[2];

		for (;; frame++) {
			for (unsigned k = 0; k < 2; k++)
				due[k] = (frame + k) * 20 * MS + 100 * MS + jitter_of(frame + k, spread);
			if (due[1] > now)
				break;
			left_out++;
		}
		state = state * UINT64_C(6364136223846793005) + 1;
		now = due[0] > now ? due[0] : now;
		call(p, A, now, MS, now + least + (state >> 33) % least, due[0] + 100 * MS);
		now += least + (state >> 33) % least;
	}
	p->length = now + MS;
	assert_true(bsv_past_chains(p));
	return left_out;
}

static unsigned imagined_in(const struct bsv_past *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->n_calls; i++)
		n += p->calls[i].imagined;
	return n;
}

static void frames_at_uneven_times_that_were_left_out_are_put_in_again(void **state)
{
	struct bsv_past p;
	unsigned left_out;

	(void)state;
	for (unsigned spread = 5; spread <= 15; spread += 5) {
		left_out = uneven_frames(&p, 120, spread * MS, 16 * MS);
		assert_int_equal(p.chains[0].loop, BSV_LOOP_OPEN);
		assert_true(left_out > 10);
		assert_in_range(imagined_in(&p), left_out,
		                left_out + 1); /* one frame may be due while the last call is not answered */
		for (size_t i = 1; i < p.chains[0].n; i++)
			assert_true(p.calls[p.chains[0].calls[i]].due > p.calls[p.chains[0].calls[i - 1]].due);
		bsv_past_fini(&p);
	}
	/* a period needs more calls */
	uneven_frames(&p, 40, 15 * MS, 16 * MS);
	assert_int_equal(imagined_in(&p), 0);
	bsv_past_fini(&p);
}

static void a_thread_that_waited_to_the_end_would_have_gone_on(void **state)
{
	struct bsv_past p;
	struct bsv_group_figures figures[2];
	struct bsv_whatif_change without = { .rules = fifo };
	struct bsv_group_change groups[2] = { { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1, .without = true },
		                              { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 } };

	(void)state;
	begin(&p, 2);
	loop(&p, A, 40);
	call(&p, B, MS, MS, 50 * MS, 0);
	call(&p, B, 51 * MS, MS, 400 * MS, 0);
	assert_true(bsv_past_chains(&p));
	assert_int_equal(p.n_starved, 1);
	without.groups = groups;
	assert_true(bsv_draw(&p, &without, 0, figures));
	assert_int_equal(figures[A].n, 0);
	assert_true(figures[B].n > 10);
	bsv_past_fini(&p);
}

/*
 * The time until another call would have followed is unknown: some replays have none, and the others have
 * many.
 */
static void one_call_that_waited_is_made_to_many_in_some_replays_only(void **state)
{
	struct bsv_past p;
	struct bsv_group_figures figures[2];
	unsigned silent = 0;

	(void)state;
	begin(&p, 2);
	loop(&p, A, 40);
	call(&p, B, MS, MS, 100 * MS, 0);
	assert_true(bsv_past_chains(&p));
	assert_int_equal(p.n_starved, 1);
	for (unsigned seed = 0; seed < BSV_SEEDS; seed++) {
		assert_true(bsv_draw(&p, NULL, seed, figures));
		assert_true(bsv_draw_is_silent(seed) ? figures[B].n == 1 : figures[B].n > 10);
		assert_true(!seed || bsv_draw_is_silent(seed) == bsv_draw_is_silent(BSV_SEEDS - seed));
		silent += bsv_draw_is_silent(seed);
	}
	assert_int_equal(silent, 4);
	bsv_past_fini(&p);
}

/*
 * The recording has no preemption: B leaves the lane after the time measured in a trial run, or without that
 * after a millisecond.
 */
static void a_saving_call_leaves_at_the_driver_s_checkpoints(void **state)
{
	struct bsv_whatif_change change = { .rules = { NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, NNB_DEADLINES_ADVISE,
		                                       1 } };
	static const uint64_t looks[][2] = { { 0, MS }, { 40 * US, 40 * US } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct bsv_group_figures figures[2];
		struct bsv_past p;

		frames_behind_long_calls(&p, 120);
		p.models[B].step_ns = 6 * MS;
		p.models[B].look_ns = looks[i][0];
		for (size_t k = 0; k < p.n_calls; k++) /* B submits 10 us before A */
			p.calls[k].submitted = p.calls[k].due -= p.calls[k].model == B ? 10 * US - MS : 0;
		assert_true(bsv_draw(&p, &change, 0, figures));
		assert_int_equal(figures[A].p50_ns, looks[i][1] - 10 * US + MS);
		bsv_past_fini(&p);
	}
}

/* ---- random draws ---- */

static void without_noise_the_recording_is_replayed_as_it_was(void **state)
{
	struct bsv_group_figures recorded[2], replayed[2];
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_figures_recorded(&p, recorded, NULL) && bsv_draw(&p, NULL, 0, replayed));
	for (int i = A; i <= B; i++) {
		assert_int_equal(recorded[i].n, 120);
		assert_int_equal(replayed[i].n, 120);
		assert_int_equal(replayed[i].missed, recorded[i].missed);
		assert_int_equal(replayed[i].p50_ns, recorded[i].p50_ns);
		assert_int_equal(replayed[i].p99_ns, recorded[i].p99_ns);
		assert_int_equal(replayed[i].mean_ns, recorded[i].mean_ns);
		assert_int_equal(replayed[i].lane_ns, recorded[i].lane_ns);
		assert_true(replayed[i].waited_ns == recorded[i].waited_ns);
	}
	assert_int_equal(recorded[A].missed, 120);
	assert_int_equal(recorded[A].mean_ns, 6 * MS);
	bsv_past_fini(&p);
}

static void changes_are_read_by_the_grammar_of_options(void **state)
{
	static const char *const refused[][2] = {
		{ "deadline", "a/m=20" },    { "deadline", "a/m=0x10ms" },
		{ "deadline", "a/m=1e3ms" }, { "deadline", "a/m= 5ms" },
		{ "deadline", "a/m=5 ms" },  { "deadline", "a/m=0ms" },
		{ "deadline", "a/m=-1ms" },  { "deadline", "a/m=300h" },
		{ "speed", "m=0x2x" },       { "speed", "m=1e1x" },
		{ "speed", "m=.5x" },        { "speed", "m=nanx" },
		{ "speed", "m=1001x" },      { "rate", "a=2" },
		{ "submit", "a/m=3ms" },     { "submit", "a/m=-0x3ms" },
	};
	const char *deadline = "a/m=1.5min", *speed = "m=-1ms", *rate = "a=0.5x", *submit = "b/m=-3ms";
	struct bsv_name_in_words said = {
		.deadline = { &deadline, 1 }, .speed = { &speed, 1 }, .rate = { &rate, 1 }, .submit = { &submit, 1 }
	};
	struct bsv_whatif_change change;
	struct bsa_err err = { "" };
	const char *cannot = NULL;
	struct bsv_past p;

	(void)state;
	begin(&p, 2);
	assert_int_equal(bsv_whatif_read(&change, &p, &said, &cannot, &err), 0);
	assert_int_equal(change.groups[A].budget_ns, 90000 * MS);
	assert_true(change.groups[A].run_ns == -(int64_t)MS && change.groups[B].run_ns == -(int64_t)MS);
	assert_true(change.groups[A].rate == 0.5 && change.groups[B].earlier_ns == 3 * MS);
	bsv_whatif_fini(&change);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const struct bsv_lists one = { &refused[i][1], 1 };

		said = (struct bsv_name_in_words){ 0 };
		*(refused[i][0][0] == 'd'   ? &said.deadline
		  : refused[i][0][1] == 'p' ? &said.speed
		  : refused[i][0][0] == 'r' ? &said.rate
		                            : &said.submit) = one;
		if (bsv_whatif_read(&change, &p, &said, &cannot, &err) != BSA_E_USAGE)
			fail_msg("--%s %s is read", refused[i][0], refused[i][1]);
		bsv_whatif_fini(&change);
	}
	bsv_past_fini(&p);
}

/* Of B's runs, 20 take 6 ms, and 10 take 2. */
static void a_difference_longer_than_the_median_run_is_refused_and_cut_runs_are_counted(void **state)
{
	static const struct {
		const char *change;
		int ret;
		size_t cut;
	} cases[] = { { "m=-1ms", 0, 0 }, { "m=-3ms", 0, 10 }, { "m=-6ms", 0, 30 },
		      { "m=3ms", 0, 0 },  { "m=2x", 0, 0 },    { "m=-7ms", BSA_E_USAGE, 0 } };
	struct bsv_whatif_change change;
	struct bsa_err err = { "" };
	const char *cannot = NULL;
	struct bsv_past p;
	size_t of;

	(void)state;
	begin(&p, 2);
	for (unsigned i = 0; i < 30; i++)
		call(&p, B, i * 10 * MS, i % 3 ? 6 * MS : 2 * MS, i * 10 * MS + 6 * MS, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bsv_name_in_words said = { .speed = { &cases[i].change, 1 } };

		assert_int_equal(bsv_whatif_read(&change, &p, &said, &cannot, &err), cases[i].ret);
		if (cases[i].ret) {
			assert_non_null(strstr(err.text, "7.000 ms is longer than the runs of b/m (median 6.000 ms)"));
		} else {
			assert_int_equal(bsv_whatif_cut_runs(&change, &p, &of), cases[i].cut);
			assert_int_equal(of, cases[i].change[2] == '-' ? 30 : 0);
		}
		bsv_whatif_fini(&change);
	}
	bsv_past_fini(&p);
}

static void who_is_misspelled_is_suggested(void **state)
{
	static const char *const typed[][3] = { { "without", "camra", "did you mean 'camera'?" },
		                                { "without", "camera/fcaes", "did you mean 'camera/faces'?" },
		                                { "without", "fcaes", "burstscope latency names apps" },
		                                { "speed", "fcaes=2x", "did you mean 'faces'?" } };
	struct bsv_whatif_change change;
	const char *cannot = NULL;
	struct bsa_err err;
	struct bsv_past p;

	(void)state;
	begin(&p, 1);
	free(p.groups[A].app_name);
	free(p.groups[A].model_name);
	p.groups[A].app_name = strdup("camera");
	p.groups[A].model_name = strdup("faces");
	for (size_t i = 0; i < sizeof(typed) / sizeof(*typed); i++) {
		const struct bsv_lists one = { &typed[i][1], 1 };
		struct bsv_name_in_words said = { 0 };

		*(typed[i][0][0] == 's' ? &said.speed : &said.without) = one;
		err = (struct bsa_err){ "" };
		assert_int_equal(bsv_whatif_read(&change, &p, &said, &cannot, &err), BSA_E_USAGE);
		if (!strstr(err.text, typed[i][2]))
			fail_msg("--%s %s: %s", typed[i][0], typed[i][1], err.text);
		bsv_whatif_fini(&change);
	}
	bsv_past_fini(&p);
}

static void the_same_seed_draws_the_same_and_another_one_another(void **state)
{
	struct bsv_group_figures one[2], again[2], other[2];
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_draw(&p, NULL, 3, one) && bsv_draw(&p, NULL, 3, again) && bsv_draw(&p, NULL, 4, other));
	assert_memory_equal(one, again, sizeof(one));
	assert_int_not_equal(one[B].p50_ns, other[B].p50_ns);
	bsv_past_fini(&p);
}

static void twice_as_fast_is_half_as_long_on_the_lane(void **state)
{
	struct bsv_group_change groups[2] = { { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 },
		                              { .budget_ns = BSV_UNCHANGED, .speed = 2, .rate = 1 } };
	struct bsv_whatif_change change = { .rules = fifo, .groups = groups };
	struct bsv_group_figures figures[2];
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_draw(&p, &change, 0, figures));
	assert_int_equal(figures[B].lane_ns, 120 * 3 * MS);
	assert_int_equal(figures[A].missed, 0); /* 2 ms behind B and 1 of its own */
	assert_int_equal(figures[A].p50_ns, 3 * MS);
	bsv_past_fini(&p);
}

static void lanes_are_given_late_while_the_machine_was_busy(void **state)
{
	struct bsv_group_figures figures[1];
	struct bsv_past p;

	(void)state;
	frames_on_a_machine_that_gets_busy(&p, 200);
	for (unsigned seed = 0; seed < 5; seed++) {
		assert_true(bsv_draw(&p, NULL, seed, figures));
		assert_int_equal(figures[0].served, 200);
		assert_true(figures[0].missed <= 4); /* 100 frames have 2 ms until the deadline: only those
		                                      * beside the second half may miss it */
		if (!seed)
			assert_true(figures[0].mean_ns > 2 * MS && figures[0].mean_ns < 3 * MS);
	}
	bsv_past_fini(&p);
}

/*
 * The thread of each run had no cpu in that time, and each frame of the second half got a free lane 3 ms
 * late.
 */
static void replays_try_an_idle_machine_and_one_with_three_times_the_load(void **state)
{
	uint64_t least_lane = UINT64_MAX, most_lane = 0, least = UINT64_MAX, most = 0;
	struct bsv_group_figures figures[1];
	struct bsv_past p;

	(void)state;
	frames_on_a_machine_that_gets_busy(&p, 200);
	for (size_t i = 0; i < p.n_calls; i++)
		p.calls[i].delayed = BSV_DELAYED_ALL;
	for (unsigned seed = 0; seed < BSV_DRAWS; seed++) {
		assert_true(bsv_draw(&p, NULL, seed, figures));
		if (!seed)
			assert_int_equal(figures[0].lane_ns, 200 * MS);
		least_lane = figures[0].lane_ns < least_lane ? figures[0].lane_ns : least_lane;
		most_lane = figures[0].lane_ns > most_lane ? figures[0].lane_ns : most_lane;
		least = figures[0].p99_ns < least ? figures[0].p99_ns : least;
		most = figures[0].p99_ns > most ? figures[0].p99_ns : most;
	}
	assert_true(least_lane <= 2 * MS); /* all of each run may have been load */
	assert_true(most_lane > 2 * 200 * MS && most_lane < 4 * 200 * MS);
	assert_true(least < MS && most > 2 * 4 * MS);
	bsv_past_fini(&p);
}

/*
 * The threads of A's runs had no cpu for half of the time. The delays of B's runs are not known, as of
 * fenced ones: those of A's stand for them, and they do not count as no delay.
 */
static void a_delay_that_is_not_known_is_that_of_other_runs(void **state)
{
	static const uint8_t half = BSV_DELAYED_ALL / 2;
	uint64_t least[2] = { UINT64_MAX, UINT64_MAX }, most[2] = { 0 };
	struct bsv_group_figures figures[2];
	struct bsv_past p;

	(void)state;
	for (unsigned known = 0; known < 2; known++) {
		frames_behind_long_calls(&p, 120);
		for (size_t i = 0; i < p.n_calls; i++)
			p.calls[i].delayed = known && p.calls[i].model == A ? half : BSV_DELAYED_UNKNOWN;
		assert_true(bsv_past_delays(&p));
		assert_int_equal(p.n_runs, 240);
		assert_int_equal(p.delays.n, known ? 120 : 0);
		assert_int_equal(p.groups[B].delays.n, 0);
		assert_true(p.delayed_run_ns == (known ? 120.0 * MS : 0) && p.delay_ns * 2 == p.delayed_run_ns);
		for (unsigned seed = 0; seed < BSV_DRAWS; seed++) {
			assert_true(bsv_draw(&p, NULL, seed, figures));
			if (!seed)
				assert_int_equal(figures[B].lane_ns, 120 * 6 * MS);
			least[known] = figures[B].lane_ns < least[known] ? figures[B].lane_ns : least[known];
			most[known] = figures[B].lane_ns > most[known] ? figures[B].lane_ns : most[known];
		}
		bsv_past_fini(&p);
	}
	/* with no known delay, the models alone are slower or faster */
	assert_true(least[0] > 120 * 5 * MS && most[0] < 120 * 7 * MS);
	assert_true(least[1] < 120 * 4 * MS && most[1] > 120 * 10 * MS);
}

/* @n times that were recorded, all of @ns. */
static void past_times(struct bsv_past_times *t, unsigned n, uint64_t ns)
{
	for (unsigned i = 0; i < n; i++) {
		assert_true(bsv_array_add(&t->ns, &t->n, sizeof(*t->ns)) != NULL);
		t->ns[i] = ns;
	}
	for (unsigned part = 1; part <= BSV_PARTS; part++)
		t->first[part] = n;
}

/* Each of B's calls is asked once to leave the lane for a frame, @early before it leaves. */
static void frames_that_are_made_room_for(struct bsv_past *p, uint64_t early)
{
	begin(p, 2);
	p->length = 41 * 100 * MS;
	for (unsigned i = 0; i < 40; i++) {
		uint64_t at = (i + 1) * 100 * MS;

		call(p, B, at, 6 * MS, at + 47 * MS, 0);
		call(p, A, at + 2 * MS - early, MS, at + 24 * MS, 0);
		p->calls[p->n_calls - 1].priority = 2;
	}
	p->models[B].step_ns = MS;
	assert_true(bsv_past_chains(p));
}

/* B's call gets the lane back 40 ms late: on an idle machine that takes no time. */
static void a_lane_that_is_handed_over_again_depends_on_the_load_too(void **state)
{
	struct bsv_whatif_change change = { .rules = by_priority };
	struct bsv_group_figures figures[2];
	uint64_t recorded = 0, least = UINT64_MAX;
	struct bsv_past p;

	(void)state;
	frames_that_are_made_room_for(&p, 0);
	past_times(&p.hands[BSA_REPLAY_HAND_ENDED], 40, 40 * MS);
	for (unsigned seed = 0; seed < BSV_DRAWS; seed++) {
		assert_true(bsv_draw(&p, &change, seed, figures));
		recorded = seed ? recorded : figures[B].p50_ns;
		least = figures[B].p50_ns < least ? figures[B].p50_ns : least;
	}
	assert_true(recorded > 46 * MS && recorded < 48 * MS); /* 6 and 1 to run, and 40 */
	assert_true(least < 9 * MS);
	bsv_past_fini(&p);
}

/*
 * The time that the hand-over adds to a frame that runs for 1 ms and asked for the lane @early before B left
 * it.
 */
static uint64_t hand_over_to_a_frame(struct bsv_past *p, uint64_t early)
{
	struct bsv_whatif_change change = { .rules = by_priority };
	struct bsv_group_figures figures[2];

	assert_true(bsv_draw(p, &change, 0, figures));
	return figures[A].p50_ns - MS - early - US; /* B began 1 US after it was submitted */
}

static void a_lane_is_handed_over_as_fast_as_such_hand_overs_were_recorded(void **state)
{
	struct bsv_past polls, sleeps;

	(void)state;
	frames_that_are_made_room_for(&polls, 20 * US);
	frames_that_are_made_room_for(&sleeps, 500 * US);
	past_times(&polls.hands[BSA_REPLAY_HAND_ENDED], 40, 60 * US);
	past_times(&polls.begins, 40, US);
	past_times(&sleeps.hands[BSA_REPLAY_HAND_ENDED], 40, 60 * US);
	past_times(&sleeps.begins, 40, US);
	/* the recording has no preemption: a thread that polls is as fast as on a free lane */
	assert_int_equal(hand_over_to_a_frame(&polls, 20 * US), US);
	assert_int_equal(hand_over_to_a_frame(&sleeps, 500 * US), 24 * US);
	past_times(&polls.hands[BSA_REPLAY_HAND_POLLED], 40, 2 * US);
	past_times(&sleeps.hands[BSA_REPLAY_HAND_POLLED], 40, 2 * US);
	assert_int_equal(hand_over_to_a_frame(&polls, 20 * US), 2 * US);
	past_times(&sleeps.hands[BSA_REPLAY_HAND_SLEPT], 40, 20 * US);
	assert_int_equal(hand_over_to_a_frame(&sleeps, 500 * US), 20 * US);
	past_times(&sleeps.stops, 40, 700 * US);
	/*
	 * B stops 700 us after it is asked, not at the end of a step, which is 500 us, and the US until B
	 * began, later
	 */
	assert_int_equal(hand_over_to_a_frame(&sleeps, 500 * US), 20 * US + 200 * US - US);
	bsv_past_fini(&polls);
	bsv_past_fini(&sleeps);
}

static void a_faster_model_makes_room_sooner(void **state)
{
	struct bsv_group_change groups[2] = { { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 },
		                              { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 } };
	struct bsv_whatif_change change = { .rules = by_priority, .groups = groups };
	struct bsv_group_figures as_it_was[2], faster[2];
	struct bsv_past p;

	(void)state;
	frames_that_are_made_room_for(&p, 500 * US);
	past_times(&p.hands[BSA_REPLAY_HAND_SLEPT], 40, 20 * US);
	past_times(&p.stops, 40, 700 * US);
	assert_true(bsv_draw(&p, &change, 0, as_it_was));
	groups[B].speed = 2;
	assert_true(bsv_draw(&p, &change, 0, faster));
	assert_int_equal(as_it_was[A].p50_ns - faster[A].p50_ns, 350 * US);
	bsv_past_fini(&p);
}

/* No kind of hand-over was recorded ten times, and the kind that the replay needs was not recorded at all. */
static void a_few_hand_overs_of_another_kind_are_better_than_none(void **state)
{
	struct bsv_past p;

	(void)state;
	frames_that_are_made_room_for(&p, 500 * US);
	past_times(&p.begins, 40, US);
	past_times(&p.hands[BSA_REPLAY_HAND_ENDED], 9, 60 * US);
	past_times(&p.hands[BSA_REPLAY_HAND_BACK], 2, 7 * US);
	assert_int_equal(hand_over_to_a_frame(&p, 500 * US), 24 * US);
	past_times(&p.hands[BSA_REPLAY_HAND_SLEPT], 1, 20 * US);
	assert_int_equal(hand_over_to_a_frame(&p, 500 * US), 20 * US);
	bsv_past_fini(&p);
}

/*
 * In the recording half of A's calls found a lane free. In the replay all of them do, or none, because B's
 * calls come first.
 */
static void an_answer_takes_as_long_as_those_of_calls_that_came_to_their_lanes_alike(void **state)
{
	const uint64_t on_free = 7 * US, woken = 45 * US;
	struct bsv_group_figures figures[2];
	struct bsv_past p;

	(void)state;
	for (unsigned waits = 0; waits < 2; waits++) {
		begin(&p, 2);
		p.length = 41 * 100 * MS;
		for (unsigned i = 0; i < 40; i++) {
			uint64_t at = (i + 1) * 100 * MS;

			if (waits)
				call(&p, B, at - MS, 2 * MS, at + MS, 0);
			call(&p, A, at, MS, at + 2 * MS, 0);
			p.calls[p.n_calls - 1].how = i % 2 ? BSA_REPLAY_HAND_ENDED : BSA_REPLAY_HAND_NONE;
			p.calls[p.n_calls - 1].answer_ns = i % 2 ? woken : on_free;
		}
		assert_true(bsv_past_chains(&p));
		assert_true(bsv_draw(&p, NULL, 0, figures));
		assert_int_equal(figures[A].p50_ns, waits ? 2 * MS + woken : MS + on_free);
		assert_int_equal(figures[A].p99_ns, figures[A].p50_ns);
		bsv_past_fini(&p);
	}
}

/* ---- certainty ---- */

/*
 * 320 calls of 1 ms each, @late of which missed their deadlines and took 2 ms: the last ones, or spread over
 * the time.
 */
static void outcomes(struct bsv_blocked *b, unsigned late, bool spread)
{
	for (unsigned i = 0; i < 320; i++) {
		bool is_late = spread ? i * late / 320 != (i + 1) * late / 320 : i >= 320 - late;

		b->n[i / 10]++;
		b->missed[i / 10] += is_late;
	}
	for (unsigned is_late = 0; is_late < 2; is_late++) /* sorted */
		for (unsigned i = 0; i < BSV_BLOCKS; i++)
			for (unsigned k = 0; k < (is_late ? b->missed[i] : b->n[i] - b->missed[i]); k++)
				assert_true(bsv_blocked_add(b, i, (1 + is_late) * MS));
	assert_true(b->n_latencies == 320);
}

static void misses_at_one_time_are_less_certain_than_the_same_ones_spread_over_the_time(void **state)
{
	struct bsv_blocked groups[3] = { 0 };
	const uint32_t apps[3] = { 0, 1, 1 };
	struct bsv_noise noise, again;

	(void)state;
	outcomes(&groups[0], 64, false);
	outcomes(&groups[1], 64, true);
	outcomes(&groups[2], 0, true);
	groups[0].lane_ns[7] = groups[1].lane_ns[20] = MS; /* once in each app: in one replicate, one app may
	                                                    * have all of them */
	assert_true(bsv_noise_estimate(&noise, groups, apps, 3, 2));
	assert_true(bsv_noise_estimate(&again, groups, apps, 3, 2));
	/* 20 % in a fifth of 8 blocks: with a standard deviation of sqrt(.2 * .8 / 8), 14 points */
	assert_true(noise.groups[0].missed.low < 5 && noise.groups[0].missed.high > 38 &&
	            noise.groups[0].missed.high < 75);
	assert_true(noise.groups[1].missed.low > 19 && noise.groups[1].missed.high < 21);
	assert_true(noise.groups[2].missed.low == 0 && noise.groups[2].missed.high == 0);
	for (int i = 1; i < 3; i++) {
		uint64_t most = i == 1 ? 2 * MS : MS;

		assert_true(noise.groups[i].p50.low == (double)MS && noise.groups[i].p50.high == (double)MS);
		assert_true(noise.groups[i].p99.low == (double)most && noise.groups[i].p99.high == (double)most);
	}
	assert_true(noise.groups[0].p99.low == (double)MS); /* in some replicates none is late */
	assert_true(noise.groups[0].p99.high == (double)(2 * MS));
	assert_true(noise.shares[0].low == 0 && noise.shares[0].high == 100);
	assert_memory_equal(noise.groups, again.groups, 3 * sizeof(*noise.groups));
	for (int i = 0; i < 3; i++)
		free(groups[i].latencies);
	bsv_noise_fini(&noise);
	bsv_noise_fini(&again);
}

/* In the second recording the answers to B took 3 ms longer than the replay computes. */
static void an_interval_has_the_error_of_the_replay(void **state)
{
	struct bsv_whatif_change change = { .rules = fifo };
	struct bsv_prediction right, off;
	struct bsv_spread a, b;
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_predict(&right, &p, &change));
	a = bsv_prediction_interval(&right, B, BSV_FIGURE_P50);
	assert_true(a.low < a.median && a.median < a.high);
	assert_true(a.median == bsv_prediction_recorded(&right, B, BSV_FIGURE_P50));
	for (size_t i = 0; i < p.n_calls; i++)
		if (p.calls[i].model == B)
			p.calls[i].answered += 3 * MS;
	assert_true(bsv_predict(&off, &p, &change));
	b = bsv_prediction_interval(&off, B, BSV_FIGURE_P50);
	assert_true(b.median == a.median);
	/* 9 ms for 6: half as much again, each way */
	assert_true(b.high > 1.49 * a.high && b.high < 1.51 * a.high);
	assert_true(1.49 * b.low < a.low && 1.51 * b.low > a.low);
	a = bsv_prediction_interval(&off, A, BSV_FIGURE_MISSED); /* relative to all calls in each replay, and in
	                                                          * the recording */
	assert_true(a.high == 100 && a.low <= 100);
	bsv_prediction_fini(&right);
	bsv_prediction_fini(&off);
	bsv_past_fini(&p);
}

/* All of 80 frames are late, or none; B's calls have no deadline. */
static void an_interval_of_misses_is_no_narrower_than_their_number_allows(void **state)
{
	struct bsv_whatif_change change = { .rules = fifo };

	(void)state;
	for (int late = 0; late < 2; late++) {
		struct bsv_prediction prediction;
		struct bsv_spread a, b;
		struct bsv_past p;

		frames_behind_long_calls(&p, 80);
		for (size_t i = 0; i < p.n_calls && !late; i++) /* frames without a deadline */
			p.calls[i].deadline += p.calls[i].model == A ? 500 * MS : 0;
		for (size_t i = 0; i < p.n_calls && !late; i++)
			p.calls[i].missed = false;
		assert_true(bsv_predict(&prediction, &p, &change));
		a = bsv_prediction_interval(&prediction, A, BSV_FIGURE_MISSED);
		b = bsv_prediction_interval(&prediction, B, BSV_FIGURE_MISSED);
		assert_true(a.median == (late ? 100 : 0));
		assert_true(late ? a.low < 96.4 && a.high == 100 : a.high > 3.6 && a.high < 3.8 && a.low == 0);
		assert_true(b.low == 0 && b.median == 0 && b.high == 0);
		assert_string_equal(bsv_prediction_effect(&prediction, A, BSV_FIGURE_MISSED), "same");
		bsv_prediction_fini(&prediction);
		bsv_past_fini(&p);
	}
}

/*
 * However far the replay of the recording is off, calls without a deadline cannot miss one, and a tenth of calls
 * cannot miss more than a tenth.
 */
static void no_more_misses_are_predicted_than_there_are_deadlines(void **state)
{
	struct bsv_group_change groups[2] = { { .budget_ns = BSA_REPLAY_NEVER, .speed = 1, .rate = 1 },
		                              { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 } };
	struct bsv_whatif_change change = { .rules = fifo, .groups = groups };
	struct bsv_prediction prediction;
	struct bsv_spread s;
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 80);
	for (size_t i = 0; i < p.n_calls; i++) /* half of the misses that are replayed were not recorded */
		p.calls[i].missed &= i % 4 == 1;
	assert_true(bsv_predict(&prediction, &p, &change));
	s = bsv_prediction_interval(&prediction, A, BSV_FIGURE_MISSED);
	assert_true(s.low == 0 && s.median == 0 && s.high == 0);
	assert_string_equal(bsv_prediction_effect(&prediction, A, BSV_FIGURE_MISSED), "less");
	bsv_prediction_fini(&prediction);

	groups[A].budget_ns = BSV_UNCHANGED;
	for (size_t i = 0, n = 0; i < p.n_calls; i++)
		if (p.calls[i].model == A && n++ % 10)
			p.calls[i].deadline = BSA_REPLAY_NEVER;
	for (size_t i = 0; i < p.n_calls; i++)
		p.calls[i].missed = false;
	assert_true(bsv_predict(&prediction, &p, &change));
	s = bsv_prediction_interval(&prediction, A, BSV_FIGURE_MISSED);
	assert_true(s.median > 9.9 && s.high < 10.1);
	bsv_prediction_fini(&prediction);
	bsv_past_fini(&p);
}

/*
 * Alone, B would have hundreds of calls. A p50 is predicted if 20 calls of B were served in the recording, a p99 if
 * 100 were; a share of misses in any case.
 */
static void a_latency_is_predicted_if_enough_calls_were_served(void **state)
{
	static const struct {
		unsigned n;
		bool p50, p99;
	} cases[] = { { 19, false, false }, { 20, true, false }, { 99, true, false }, { 100, true, true } };
	struct bsv_group_change groups[2] = { { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1, .without = true },
		                              { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 } };
	struct bsv_whatif_change change = { .rules = fifo, .groups = groups };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool known[] = { cases[i].p50, cases[i].p99 };
		uint64_t at = MS;
		struct bsv_prediction prediction;
		struct bsv_spread s;
		struct bsv_past p;

		begin(&p, 2);
		loop(&p, A, 40);
		for (unsigned k = 0; k < cases[i].n; k++) {
			uint64_t answered = at + (1 + k % 3) * MS;

			call(&p, B, at, MS, answered, 0);
			at = answered + MS;
		}
		assert_true(bsv_past_chains(&p));
		p.chains[1].ends = 2000 * MS;
		assert_true(bsv_predict(&prediction, &p, &change));
		for (int k = 0; k < 2; k++) {
			enum bsv_figure f = k ? BSV_FIGURE_P99 : BSV_FIGURE_P50;

			s = bsv_prediction_interval(&prediction, B, f);
			assert_true(prediction.draws[1][0][B].served >= 100);
			assert_int_equal(bsv_prediction_lacks(&prediction, B, f), known[k] ? 0 : k ? 100 : 20);
			assert_int_equal(!isnan(s.low) && !isnan(s.median) && !isnan(s.high), known[k]);
			if (!known[k])
				assert_string_equal(bsv_prediction_effect(&prediction, B, f), "cannot tell");
		}
		assert_int_equal(bsv_prediction_lacks(&prediction, B, BSV_FIGURE_MISSED), 0);
		assert_false(isnan(bsv_prediction_interval(&prediction, B, BSV_FIGURE_MISSED).high));
		bsv_prediction_fini(&prediction);
		bsv_past_fini(&p);
	}
}

/* 120 calls of B were recorded, and a tenth of them is submitted under the change. */
static void a_figure_of_too_few_calls_in_a_replay_is_unknown_and_their_number_is_known(void **state)
{
	struct bsv_group_change groups[2] = { { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 },
		                              { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 0.1 } };
	struct bsv_whatif_change change = { .rules = fifo, .groups = groups };
	struct bsv_prediction prediction;
	struct bsv_past p;
	uint64_t served;

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_predict(&prediction, &p, &change));
	assert_int_equal(bsv_prediction_lacks(&prediction, B, BSV_FIGURE_P50), 0);
	assert_true(bsv_prediction_is_short(&prediction, B, BSV_FIGURE_P50, &served));
	assert_in_range(served, 10, 14);
	assert_null(bsv_prediction_effect(&prediction, B, BSV_FIGURE_P50));
	assert_false(bsv_prediction_is_short(&prediction, A, BSV_FIGURE_P50, &served));
	assert_false(bsv_prediction_is_short(&prediction, B, BSV_FIGURE_MISSED, &served));
	assert_false(bsv_prediction_is_short(&prediction, A, BSV_FIGURE_SHARE, &served));
	bsv_prediction_fini(&prediction);
	bsv_past_fini(&p);
}

static void a_starved_thread_is_predicted_from_the_replays_in_which_it_goes_on(void **state)
{
	const double replays[] = { 9e9, 4, 8, 10, 2, 16, 32, 8, 50, 1e-9, 64 };
	double unknown[BSV_DRAWS] = { 0 };
	struct bsv_past past = { .n_single = 0 }, single = { .n_single = 1 };
	struct bsv_spread s;

	(void)state;
	s = bsv_prediction_spread(&past, replays);
	assert_true(s.low == 1e-9 && s.median == 10 && s.high == 9e9);
	/* In replays 3, 5, 6 and 8 a thread is silent: what is predicted is of 1e-9, 2, 4, 8, 8, 64 and 9e9. */
	s = bsv_prediction_spread(&single, replays);
	assert_true(s.low == 1e-9 && s.median == 8 && s.high == 9e9);
	unknown[5] = NAN;
	assert_true(isnan(bsv_prediction_spread(&single, unknown).median));
}

/*
 * All replays agree that B takes longer by a hundredth, or by twice that: the machine may differ by more than
 * a hundredth.
 */
static void an_effect_is_reported_only_if_the_intervals_do_not_overlap(void **state)
{
	struct bsv_group_change groups[2] = { { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 },
		                              { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 } };
	struct bsv_whatif_change change = { .rules = fifo, .groups = groups };
	static const struct {
		int64_t more_ns;
		const char *effect;
	} cases[] = { { 0, "same" }, { 60 * US, "cannot tell" }, { 6 * MS, "more" }, { -5 * MS, "less" } };
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 120);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bsv_prediction prediction;

		groups[B].run_ns = cases[i].more_ns;
		assert_true(bsv_predict(&prediction, &p, &change));
		for (int k = 0; i && k < BSV_DRAWS; k++)
			assert_true((prediction.draws[1][k][B].p50_ns > prediction.draws[0][k][B].p50_ns) ==
			            (cases[i].more_ns > 0));
		assert_string_equal(bsv_prediction_effect(&prediction, B, BSV_FIGURE_P50), cases[i].effect);
		assert_string_equal(bsv_prediction_effect(&prediction, B, BSV_FIGURE_P99), cases[i].effect);
		bsv_prediction_fini(&prediction);
	}
	bsv_past_fini(&p);
}

/* ---- search ---- */

static void the_front_is_what_no_other_beats(void **state)
{
	struct bsv_goals goals[36];
	struct bsv_trials t;
	struct bsv_past p;
	size_t front[36], n;

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_trials_init(&t, &p) && bsv_search_fill(&t, &p.rules, NULL, 0));
	assert_true(t.urgent[A] && !t.urgent[B]);
	assert_int_equal(t.n, 36);
	assert_true(bsv_trials_run(&t, NULL, NULL));
	for (size_t i = 0; i < t.n; i++)
		goals[i] = bsv_search_goals(&t, &t.all[i]);
	n = bsv_search_front(&t, goals, &p.rules, front);
	assert_true(n >= 1);
	assert_true(goals[front[0]].missed_percent.median < 0.1); /* a change that preempts for frames loses none */
	assert_int_equal(t.all[front[0]].change.rules.preempt, NNB_PREEMPT_SAVE);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < t.n; k++)
			assert_false(goals[k].missed_percent.high < goals[front[i]].missed_percent.low - 1 &&
			             goals[k].urgent_ns.high < goals[front[i]].urgent_ns.low * 0.9 &&
			             goals[k].slowest.high < goals[front[i]].slowest.low - 0.1);
	bsv_trials_fini(&t);
	bsv_past_fini(&p);
}

static void threads_draw_what_one_would(void **state)
{
	struct bsv_group_figures figures[2];
	struct bsv_trials t;
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_trials_init(&t, &p) && bsv_search_fill(&t, &p.rules, NULL, 2) &&
	            bsv_trials_run(&t, NULL, NULL));
	assert_int_equal(t.n, 72);
	for (size_t i = 0; i < t.n; i++)
		for (unsigned draw = 0; draw < t.draws; draw++) {
			assert_true(bsv_draw(&p, &t.all[i].change, draw, figures));
			assert_int_equal(t.all[i].draws[draw].missed, figures[A].missed + figures[B].missed);
			assert_int_equal(t.all[i].draws[draw].due, figures[A].due + figures[B].due);
		}
	bsv_trials_fini(&t);
	bsv_past_fini(&p);
}

static void what_is_as_good_as_another_is_the_one_nearest_to_now(void **state)
{
	struct bsv_goals goals[36];
	struct bsv_trials t;
	struct bsv_past p;
	size_t front[36];

	(void)state;
	frames_behind_long_calls(&p, 120);
	assert_true(bsv_trials_init(&t, &p) && bsv_search_fill(&t, &p.rules, NULL, 0));
	for (size_t i = 0; i < t.n; i++)
		goals[i] = (struct bsv_goals){ .missed_percent = { 1, 1, 1 },
			                       .urgent_ns = { 5e6, 5e6, 5e6 },
			                       .slowest = { 1, 1, 1 } };
	assert_int_equal(bsv_search_front(&t, goals, &p.rules, front), 1);
	assert_memory_equal(&t.all[front[0]].change.rules, &p.rules, sizeof(p.rules));
	goals[3].missed_percent.median = 0.5; /* better in one figure */
	goals[4].urgent_ns.median = 4e6;      /* better in another one */
	goals[5].urgent_ns.median = 4.03e6;   /* as good as the second, and worse here */
	goals[5].slowest.median = 1.2;
	assert_int_equal(bsv_search_front(&t, goals, &p.rules, front), 2);
	assert_int_equal(front[0], 3);
	assert_int_equal(front[1], 4);
	bsv_trials_fini(&t);
	bsv_past_fini(&p);
}

static void the_advice_is_small_and_names_the_payer(void **state)
{
	struct bsv_advices advices;
	struct bsv_trials t;
	struct bsv_past p;

	(void)state;
	frames_behind_long_calls(&p, 120);
	p.rules.preempt = NNB_PREEMPT_SAVE;
	assert_true(bsv_trials_init(&t, &p) && bsv_advise_fill(&advices, &t, &p.rules, 0));
	assert_true(bsv_trials_run(&t, NULL, NULL));
	bsv_advise_rank(&advices, &t);
	assert_true(advices.n >= 2);
	assert_int_equal(advices.all[0].size, BSV_SMALL);
	assert_int_equal((int)advices.all[0].saved.median, 120);
	assert_int_equal(advices.all[0].payer, B); /* the calls of B take 7 ms instead of 6 */
	assert_true(advices.all[0].payer_waits.median > 1.1 && advices.all[0].payer_waits.median < 1.3);
	for (size_t i = 0; i < advices.n; i++)
		assert_true(advices.all[i].saved.low > 0);
	bsv_advise_fini(&advices);
	bsv_trials_fini(&t);
	bsv_past_fini(&p);
}

/* App B has two models: one misses 40 fewer deadlines under the change, and the other one 30 more. */
static void what_one_model_of_an_app_gains_does_not_hide_what_another_one_loses(void **state)
{
	enum { DRAWS = 3, GROUPS = 3 };
	static const uint64_t missed[2][GROUPS] = { { 100, 50, 1 }, { 20, 10, 31 } };
	struct bsv_trial all[2] = { 0 };
	struct bsv_trials t = { .all = all, .n = 2, .draws = DRAWS };
	struct bsv_advice advice = { .trial = 1, .app = UINT32_MAX, .payer = UINT32_MAX };
	struct bsv_advices advices = { .all = &advice, .n = 1 };
	struct bsv_past p;

	(void)state;
	begin(&p, GROUPS);
	p.groups[2].app = p.models[2].app = B;
	t.past = &p;
	for (unsigned i = 0; i < 2; i++) {
		all[i].missed = calloc(DRAWS * GROUPS, sizeof(uint64_t));
		all[i].group_waits = calloc(DRAWS * GROUPS, sizeof(double));
		for (unsigned k = 0; k < DRAWS * GROUPS; k++) {
			all[i].missed[k] = missed[i][k % GROUPS] + i * k / GROUPS;
			all[i].group_waits[k] = 1;
		}
	}
	bsv_advise_rank(&advices, &t);
	assert_int_equal(advices.n, 1);
	assert_int_equal(advice.payer, 2);
	assert_int_equal((int)advice.payer_missed.low, 30);
	assert_int_equal((int)advice.payer_missed.high, 32);
	assert_int_equal((int)advice.saved.median, 90 - 3);
	for (unsigned i = 0; i < 2; i++) {
		free(all[i].missed);
		free(all[i].group_waits);
	}
	bsv_past_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_a_while_after_each_answer_are_a_closed_loop),
		cmocka_unit_test(calls_at_even_times_are_an_open_loop),
		cmocka_unit_test(calls_beside_each_other_are_of_several_threads),
		cmocka_unit_test(frames_that_were_left_out_are_put_in_again),
		cmocka_unit_test(frames_at_uneven_times_that_were_left_out_are_put_in_again),
		cmocka_unit_test(a_thread_that_waited_to_the_end_would_have_gone_on),
		cmocka_unit_test(one_call_that_waited_is_made_to_many_in_some_replays_only),
		cmocka_unit_test(a_saving_call_leaves_at_the_driver_s_checkpoints),
		cmocka_unit_test(without_noise_the_recording_is_replayed_as_it_was),
		cmocka_unit_test(changes_are_read_by_the_grammar_of_options),
		cmocka_unit_test(a_difference_longer_than_the_median_run_is_refused_and_cut_runs_are_counted),
		cmocka_unit_test(who_is_misspelled_is_suggested),
		cmocka_unit_test(the_same_seed_draws_the_same_and_another_one_another),
		cmocka_unit_test(twice_as_fast_is_half_as_long_on_the_lane),
		cmocka_unit_test(lanes_are_given_late_while_the_machine_was_busy),
		cmocka_unit_test(replays_try_an_idle_machine_and_one_with_three_times_the_load),
		cmocka_unit_test(a_delay_that_is_not_known_is_that_of_other_runs),
		cmocka_unit_test(a_lane_that_is_handed_over_again_depends_on_the_load_too),
		cmocka_unit_test(a_lane_is_handed_over_as_fast_as_such_hand_overs_were_recorded),
		cmocka_unit_test(a_faster_model_makes_room_sooner),
		cmocka_unit_test(a_few_hand_overs_of_another_kind_are_better_than_none),
		cmocka_unit_test(an_answer_takes_as_long_as_those_of_calls_that_came_to_their_lanes_alike),
		cmocka_unit_test(misses_at_one_time_are_less_certain_than_the_same_ones_spread_over_the_time),
		cmocka_unit_test(an_interval_has_the_error_of_the_replay),
		cmocka_unit_test(an_interval_of_misses_is_no_narrower_than_their_number_allows),
		cmocka_unit_test(no_more_misses_are_predicted_than_there_are_deadlines),
		cmocka_unit_test(a_figure_of_too_few_calls_in_a_replay_is_unknown_and_their_number_is_known),
		cmocka_unit_test(a_starved_thread_is_predicted_from_the_replays_in_which_it_goes_on),
		cmocka_unit_test(a_latency_is_predicted_if_enough_calls_were_served),
		cmocka_unit_test(an_effect_is_reported_only_if_the_intervals_do_not_overlap),
		cmocka_unit_test(the_front_is_what_no_other_beats),
		cmocka_unit_test(threads_draw_what_one_would),
		cmocka_unit_test(what_is_as_good_as_another_is_the_one_nearest_to_now),
		cmocka_unit_test(the_advice_is_small_and_names_the_payer),
		cmocka_unit_test(what_one_model_of_an_app_gains_does_not_hide_what_another_one_loses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_replay.c -- the replay of analyzer/replay against traces of known worlds. schedule_sim plays 10 000
 * random services; the replay computes them from their traces, to the nanosecond. A few worlds are by hand.
 *
 * The two share runtime/policy and nothing else. A failure prints its seed, and `test_replay SEED` plays that
 * world alone. NNB_SOAK_SECONDS sets how long the test goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "analyzer/schedule_sim.h"
#include "base.h"
#include "nnb/policy.h"
#include "replay/replay.h"

#ifndef SEEDS
#define SEEDS 10000
#endif
#define NEVER UINT64_MAX
#define US UINT64_C(1000)

enum { OPS = 8, CHAINS = SIM_STREAMS * SIM_MODELS };

/* ---- a trace, in the form of a replay's source ---- */

struct told {
	const struct sim *s;
	uint32_t service;
	bool closed;            /* true: a chain goes on a fixed time after an answer; false: at the recorded time */
	uint64_t (*steps)[OPS]; /* the time of each operation, by execution */
	uint64_t *since;        /* by execution: the time from which the operation under way counts */
	uint32_t *next, *last;  /* by execution: the next one of its chain; by chain: the last one taken, from 1 */
	uint32_t first[CHAINS];
	struct bsa_replay_outcome *outcomes;
	struct sim_slice *slices;
	size_t n_slices, n_done;
	uint64_t wake_ns, give_ns;
};

static uint64_t seed_now;
static uint64_t n_replayed, n_preempted, n_late;

static uint32_t chain_of(const struct sim_exec *x)
{
	return x->stream * SIM_MODELS + x->model;
}

static bool next_call(void *arg, uint32_t chain, uint64_t now, struct bsa_replay_call *ret)
{
	struct told *t = arg;
	uint32_t i = t->last[chain] ? t->next[t->last[chain] - 1] : t->first[chain], before = t->last[chain];
	const struct sim_exec *x = i ? &t->s->execs[i - 1] : NULL;

	if (!i)
		return false;
	t->last[chain] = i;
	*ret = (struct bsa_replay_call){ .at = x->at[BSA_SUBMITTED],
		                         .send_ns = x->at[BSA_DECODED] - x->at[BSA_SUBMITTED],
		                         .wake_ns = t->wake_ns,
		                         .give_ns = t->give_ns,
		                         .steps = t->steps[i - 1],
		                         .n_steps = t->s->models[x->model].ops,
		                         .app = x->app,
		                         .model = x->model,
		                         .priority = x->priority,
		                         .tag = i - 1 };
	if (t->closed && before)
		ret->at = now + (x->at[BSA_SUBMITTED] - t->s->execs[before - 1].over_at);
	ret->deadline = x->deadline ? x->deadline : BSA_REPLAY_NEVER;
	if (x->refused)
		ret->send_ns = x->missed_at - x->at[BSA_SUBMITTED];
	else
		ret->ready_ns = x->at[BSA_ENQUEUED] - x->at[BSA_DECODED];
	ret->answer_ns = x->over_at - (x->refused ? x->missed_at : x->at[BSA_RUN_ENDED]);
	ret->fail_ns = ret->answer_ns;
	for (uint32_t op = 0; op < ret->n_steps; op++)
		ret->run_ns += ret->steps[op];
	return true;
}

static void call_done(void *arg, const struct bsa_replay_call *call, const struct bsa_replay_outcome *o)
{
	struct told *t = arg;

	t->outcomes[call->tag] = *o;
	t->n_done++;
}

static void call_held(void *arg, const struct bsa_replay_call *call, uint32_t lane, uint64_t began, uint64_t ended)
{
	struct told *t = arg;

	if (t->n_slices < t->s->n_slices)
		t->slices[t->n_slices] =
			(struct sim_slice){ .exec = call->tag, .lane = (uint8_t)lane, .began = began, .ended = ended };
	t->n_slices++;
}

/* The time of each operation is that of its op_end. Operations that never ran may take any time. */
static void take_steps(struct told *t)
{
	for (size_t i = 0; i < t->s->n_execs; i++)
		for (uint32_t op = 0; op < OPS; op++)
			t->steps[i][op] = 77 * MS + seed_now;
	for (size_t i = 0; i < t->s->n_events; i++) {
		const struct sim_event *e = &t->s->events[i];

		if (!e->whose)
			continue;
		if (e->event.kind == BSA_sched_dispatch || e->event.kind == BSA_sched_resume)
			t->since[e->whose - 1] = e->event.at;
		if (e->event.kind != BSA_op_end)
			continue;
		t->steps[e->whose - 1][e->of.op_end.op] = e->event.at - t->since[e->whose - 1];
		t->since[e->whose - 1] = e->event.at;
	}
}

static void take_chains(struct told *t)
{
	uint32_t last[CHAINS] = { 0 };

	for (uint32_t i = 0; i < t->s->n_execs; i++) {
		const struct sim_exec *x = &t->s->execs[i];
		uint32_t chain = chain_of(x);

		if (x->service != t->service)
			continue;
		if (last[chain])
			t->next[last[chain] - 1] = i + 1;
		else
			t->first[chain] = i + 1;
		last[chain] = i + 1;
	}
}

/* ---- compared with the truth ---- */

static void expect_ns(const struct sim_exec *x, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		fail_msg("seed %llu: %s of execution %llx is %lld ns off", (unsigned long long)seed_now, what,
		         (unsigned long long)x->exec, (long long)(got - want));
}

static enum bsa_replay_fate fate_of(const struct sim_exec *x)
{
	if (x->refused)
		return BSA_REPLAY_REFUSED;
	if (!x->status)
		return BSA_REPLAY_ANSWERED;
	if (x->at[BSA_DISPATCHED] == NEVER || (x->stage == BSA_STAGE_QUEUE && !x->preemptions))
		return BSA_REPLAY_GAVE_UP;
	return BSA_REPLAY_ABORTED;
}

static void compare_calls(const struct told *t)
{
	for (size_t i = 0; i < t->s->n_execs; i++) {
		const struct sim_exec *x = &t->s->execs[i];
		const struct bsa_replay_outcome *o = &t->outcomes[i];

		if (x->service != t->service)
			continue;
		expect_ns(x, "readiness", o->ready, x->at[BSA_ENQUEUED]);
		expect_ns(x, "dispatch", o->began, x->at[BSA_DISPATCHED]);
		expect_ns(x, "end", o->ended, x->refused ? x->missed_at : x->at[BSA_RUN_ENDED]);
		expect_ns(x, "answer", o->answered, x->over_at);
		expect_ns(x, "preemptions", o->preemptions, x->preemptions);
		expect_ns(x, "fate", o->fate, fate_of(x));
		expect_ns(x, "miss", o->missed, x->miss != BSA_MISS_NONE);
		n_replayed++;
		n_preempted += x->preemptions;
		n_late += o->missed;
	}
}

static void compare_lanes(const struct told *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *want = &t->s->slices[i], *got = &t->slices[n];
		const struct sim_exec *x = &t->s->execs[want->exec];

		if (want->service != t->service)
			continue;
		if (n++ >= t->n_slices)
			fail_msg("seed %llu: a lane is held too seldom", (unsigned long long)seed_now);
		expect_ns(x, "whose stretch it is", got->exec, want->exec);
		expect_ns(x, "lane", got->lane, want->lane);
		expect_ns(x, "beginning of a stretch", got->began, want->began);
		expect_ns(x, "end of a stretch", got->ended, want->ended);
	}
	if (n != t->n_slices)
		fail_msg("seed %llu: a lane is held too often", (unsigned long long)seed_now);
}

static struct bsa_replay_rules rules_of(const struct sim *s, uint32_t service)
{
	struct bsa_replay_rules rules = { .lanes = s->services[service].lanes };

	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].event.kind == BSA_service_state &&
		    s->events[i].of.service_state.instance == s->services[service].instance) {
			rules.policy = s->events[i].of.service_state.policy;
			rules.preempt = s->events[i].of.service_state.preempt_mode;
		}
	rules.deadlines = s->services[service].deadlines;
	return rules;
}

static void replay_service(const struct sim *s, uint32_t service, const struct sim_terms *terms)
{
	static const struct bsa_replay_model unknown[SIM_MODELS];
	struct told t = { .s = s,
		          .service = service,
		          .closed = seed_now % 2,
		          .steps = calloc(s->n_execs + 1, sizeof(*t.steps)),
		          .since = calloc(s->n_execs + 1, sizeof(*t.since)),
		          .next = calloc(s->n_execs + 1, sizeof(*t.next)),
		          .last = calloc(CHAINS, sizeof(*t.last)),
		          .outcomes = calloc(s->n_execs + 1, sizeof(*t.outcomes)),
		          .slices = calloc(s->n_slices + 1, sizeof(*t.slices)),
		          .wake_ns = terms->wake_ns,
		          .give_ns = terms->give_ns };
	struct bsa_replay replay = { .rules = rules_of(s, service),
		                     .n_apps = s->n_apps,
		                     .n_models = s->n_models,
		                     .n_chains = CHAINS,
		                     .models = unknown };
	struct bsa_replay_source source = { .next = next_call, .done = call_done, .held = call_held, .arg = &t };

	take_steps(&t);
	take_chains(&t);
	assert_true(bsa_replay_run(&replay, &source));
	compare_calls(&t);
	compare_lanes(&t);
	free(t.steps);
	free(t.since);
	free(t.next);
	free(t.last);
	free(t.outcomes);
	free(t.slices);
}

static void replay_world(uint64_t seed)
{
	struct sim_terms terms = { .seed = seed, .executions = 40 + seed % 50, .plain = true };
	struct sim s;

	seed_now = seed;
	terms.wake_ns = sim_random(&seed, 4) ? sim_random(&seed, 9 * US) : 0;
	terms.give_ns = sim_random(&seed, 4) ? sim_random(&seed, 4 * US) : 0;
	sim_play(&s, &terms);
	for (uint32_t i = 0; i < s.n_services; i++)
		replay_service(&s, i, &terms);
	sim_free(&s);
}

static void a_trace_without_noise_is_replayed_to_the_nanosecond(void **state)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");
	time_t end = time(NULL) + (soak ? atoi(soak) : 0);
	uint64_t seed;

	(void)state;
	n_replayed = n_preempted = n_late = 0;
	for (seed = 1; seed <= SEEDS || time(NULL) < end; seed++)
		replay_world(seed);
	print_message("%llu worlds, %llu executions, %llu preemptions, %llu misses\n", (unsigned long long)seed - 1,
	              (unsigned long long)n_replayed, (unsigned long long)n_preempted, (unsigned long long)n_late);
	assert_true(n_replayed > SEEDS * 20 && n_preempted > SEEDS && n_late > SEEDS); /* the worlds had enough
	                                                                                * of each */
}

/* ---- by hand ---- */

struct by_hand {
	struct bsa_replay_call calls[4];
	struct bsa_replay_outcome outcomes[4];
	bool begun[4];
	bool twice;       /* the last call belongs to the first chain, too */
	bool hands;       /* the source has the time of a hand-over: hand_by_hand */
	uint64_t stop_ns; /* a call stops this long after the request to stop; 0: the source does not have it */
	bool answers;     /* the source has the time of an answer: answer_by_hand */
	unsigned asked, n_handed;
	enum bsa_replay_hand handed[8]; /* the first hand-overs */
};

static bool next_by_hand(void *arg, uint32_t chain, uint64_t now, struct bsa_replay_call *ret)
{
	struct by_hand *h = arg;

	uint32_t i = h->twice && !chain && h->begun[0] ? 3 : chain;

	h->asked++;
	if (h->begun[i])
		return false;
	h->begun[i] = true;
	*ret = h->calls[i];
	ret->tag = i;
	(void)now;
	return true;
}

static void done_by_hand(void *arg, const struct bsa_replay_call *call, const struct bsa_replay_outcome *o)
{
	((struct by_hand *)arg)->outcomes[call->tag] = *o;
}

enum {
	POLLED = 1,
	SLEPT = 10,
	BACK = 100,
	ENDED = 1000
}; /* the time of a hand-over by its kind, to which 1 ns is added for each hand-over before */

static uint64_t hand_by_hand(void *arg, const struct bsa_replay_call *call, enum bsa_replay_hand how, uint32_t times,
                             uint64_t now)
{
	static const uint64_t takes[BSA_REPLAY_HANDS] = { [BSA_REPLAY_HAND_POLLED] = POLLED,
		                                          [BSA_REPLAY_HAND_SLEPT] = SLEPT,
		                                          [BSA_REPLAY_HAND_BACK] = BACK,
		                                          [BSA_REPLAY_HAND_ENDED] = ENDED };
	struct by_hand *h = arg;

	(void)call;
	(void)now;
	if (h->n_handed < sizeof(h->handed) / sizeof(*h->handed))
		h->handed[h->n_handed] = how;
	h->n_handed++;
	return takes[how] + times;
}

static uint64_t stop_by_hand(void *arg, const struct bsa_replay_call *call, uint32_t times, uint64_t now)
{
	(void)call;
	(void)times;
	(void)now;
	return ((struct by_hand *)arg)->stop_ns;
}

static uint64_t answer_by_hand(void *arg, const struct bsa_replay_call *call, enum bsa_replay_hand how)
{
	(void)arg;
	(void)call;
	return 5000 + (uint64_t)how;
}

static void play_by_hand(struct by_hand *h, uint32_t n, struct bsa_replay_rules rules,
                         const struct bsa_replay_model *models)
{
	struct bsa_replay r = { .rules = rules, .n_apps = n, .n_models = n, .n_chains = n, .models = models };
	struct bsa_replay_source source = { .next = next_by_hand,
		                            .done = done_by_hand,
		                            .hand = h->hands ? hand_by_hand : NULL,
		                            .stop = h->stop_ns ? stop_by_hand : NULL,
		                            .answer = h->answers ? answer_by_hand : NULL,
		                            .arg = h };
	assert_true(bsa_replay_run(&r, &source));
}

static const struct bsa_replay_rules by_priority = { NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, NNB_DEADLINES_ABORT, 1 };

static void steps_of_one_length_are_checkpoints_too(void **state)
{
	struct by_hand h = { .calls = { { .run_ns = 1000, .step_ns = 300, .deadline = BSA_REPLAY_NEVER },
		                        { .at = 100,
		                          .run_ns = 50,
		                          .app = 1,
		                          .model = 1,
		                          .priority = 2,
		                          .deadline = BSA_REPLAY_NEVER,
		                          .wake_ns = 7 } } };

	(void)state;
	play_by_hand(&h, 2, by_priority, (struct bsa_replay_model[2]){ { 0 } });
	assert_int_equal(h.outcomes[1].began, 307);
	assert_int_equal(h.outcomes[1].ended, 357);
	assert_int_equal(h.outcomes[0].ended, 1050 + 7);
	assert_int_equal(h.outcomes[0].preemptions, 1);
}

static void what_is_asked_at_a_checkpoint_leaves_at_that_one(void **state)
{
	struct by_hand h = { .calls = { { .run_ns = 900, .step_ns = 300, .deadline = BSA_REPLAY_NEVER },
		                        { .at = 300,
		                          .run_ns = 50,
		                          .app = 1,
		                          .model = 1,
		                          .priority = 2,
		                          .deadline = BSA_REPLAY_NEVER },
		                        { .at = 601,
		                          .run_ns = 50,
		                          .app = 1,
		                          .model = 1,
		                          .priority = 2,
		                          .deadline = BSA_REPLAY_NEVER } } };

	(void)state;
	play_by_hand(&h, 3, by_priority, (struct bsa_replay_model[3]){ { 0 } });
	assert_int_equal(h.outcomes[1].began, 300);
	assert_int_equal(h.outcomes[2].began, 650); /* 600 + 50 */
}

static struct bsa_replay_call urgent_at(uint64_t at)
{
	return (struct bsa_replay_call){
		.at = at, .run_ns = 50, .app = 1, .model = 1, .priority = 2, .deadline = BSA_REPLAY_NEVER
	};
}

static void each_time_that_it_is_handed_a_lane_again_it_wakes_up_anew(void **state)
{
	struct by_hand h = { .calls = { { .run_ns = 900, .step_ns = 300, .deadline = BSA_REPLAY_NEVER },
		                        urgent_at(100),
		                        urgent_at(601 + POLLED + 50 + ENDED + 1 - 300) },
		             .hands = true };

	(void)state;
	play_by_hand(&h, 3, by_priority, (struct bsa_replay_model[3]){ { 0 } });
	assert_int_equal(h.outcomes[0].preemptions, 2);
	assert_int_equal(h.outcomes[1].began, 300 + POLLED);
	assert_int_equal(h.outcomes[2].began, 300 + POLLED + 50 + ENDED + 1 + 300 + POLLED);
	assert_int_equal(h.outcomes[0].ended, h.outcomes[2].ended + ENDED + 2 + 300);
}

static void a_call_that_waits_longer_than_its_thread_polls_sleeps(void **state)
{
	(void)state;
	for (unsigned sleeps = 0; sleeps < 2; sleeps++) {
		struct by_hand h = { .calls = { { .run_ns = 400000, .step_ns = 300000, .deadline = BSA_REPLAY_NEVER },
			                        urgent_at(260001 - sleeps) },
			             .hands = true };

		play_by_hand(&h, 2, by_priority, (struct bsa_replay_model[2]){ { 0 } });
		assert_int_equal(h.outcomes[1].began, 300000 + (sleeps ? SLEPT : POLLED));
	}
}

static void a_call_that_made_room_may_get_its_lane_back_from_one_that_makes_room(void **state)
{
	const struct bsa_replay_rules fair = { NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, NNB_DEADLINES_ABORT, 1 };
	struct bsa_replay_call longest = { .run_ns = 20000000, .step_ns = 10000, .deadline = BSA_REPLAY_NEVER };
	struct by_hand h = { .calls = { longest, longest }, .hands = true };

	(void)state;
	h.calls[1].app = h.calls[1].model = 1;
	play_by_hand(&h, 2, fair, (struct bsa_replay_model[2]){ { 0 } });
	assert_true(h.outcomes[0].preemptions > 1 && h.outcomes[1].preemptions > 1);
	assert_int_equal(h.handed[0], BSA_REPLAY_HAND_SLEPT);
	assert_int_equal(h.handed[1], BSA_REPLAY_HAND_BACK);
	assert_int_equal(h.handed[2], BSA_REPLAY_HAND_BACK);
}

static void a_preempted_call_stops_as_late_as_in_the_source(void **state)
{
	struct by_hand h = { .calls = { { .run_ns = 1000, .step_ns = 300, .deadline = BSA_REPLAY_NEVER },
		                        urgent_at(100),
		                        urgent_at(110), /* this call comes meanwhile, and delays nothing */
		                        urgent_at(1080) },
		             .stop_ns = 20 };

	(void)state;
	h.calls[2].app = 2;
	h.calls[3].app = 3;
	play_by_hand(&h, 4, by_priority, (struct bsa_replay_model[4]){ { 0 } });
	assert_int_equal(h.outcomes[1].began, 120);
	assert_int_equal(h.outcomes[2].began, 170);
	assert_int_equal(h.outcomes[0].ended, 1100); /* before a second stop */
	assert_int_equal(h.outcomes[0].preemptions, 1);
	assert_int_equal(h.outcomes[3].began, 1100);
}

/* Under fair the policy sets a later time for the stop; the call stops that long after that time. */
static void a_stop_asked_for_later_comes_after_that_time(void **state)
{
	const struct bsa_replay_rules fair = { NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, NNB_DEADLINES_ABORT, 1 };
	struct bsa_replay_call longest = { .run_ns = 9000000, .step_ns = 10, .deadline = BSA_REPLAY_NEVER };
	struct by_hand steps = { .calls = { longest, longest } },
		       stops = { .calls = { longest, longest }, .stop_ns = 777 };

	(void)state;
	steps.calls[1].app = steps.calls[1].model = stops.calls[1].app = stops.calls[1].model = 1;
	play_by_hand(&steps, 2, fair, (struct bsa_replay_model[2]){ { 0 } });
	play_by_hand(&stops, 2, fair, (struct bsa_replay_model[2]){ { 0 } });
	assert_true(steps.outcomes[1].began > 10000 && steps.outcomes[1].preemptions > 1);
	assert_in_range(stops.outcomes[1].began, steps.outcomes[1].began + 777 - 10, steps.outcomes[1].began + 777);
	assert_true(stops.outcomes[1].preemptions > 1);
}

static void an_answer_depends_on_how_the_call_came_to_its_lane(void **state)
{
	struct by_hand h = { .calls = { { .run_ns = 1000, .step_ns = 300, .deadline = BSA_REPLAY_NEVER },
		                        urgent_at(100) },
		             .answers = true };

	(void)state;
	play_by_hand(&h, 2, by_priority, (struct bsa_replay_model[2]){ { 0 } });
	assert_int_equal(h.outcomes[1].answered, h.outcomes[1].ended + 5000 + BSA_REPLAY_HAND_POLLED);
	assert_int_equal(h.outcomes[0].answered, h.outcomes[0].ended + 5000 + BSA_REPLAY_HAND_ENDED);
	h = (struct by_hand){ .calls = { urgent_at(100) }, .answers = true };
	play_by_hand(&h, 1, by_priority, (struct bsa_replay_model[1]){ { 0 } });
	assert_int_equal(h.outcomes[0].answered, 150 + 5000 + BSA_REPLAY_HAND_NONE);
}

static void no_call_leaves_between_checkpoints(void **state)
{
	struct by_hand h = { .calls = { { .run_ns = 1000, .step_ns = 300, .deadline = BSA_REPLAY_NEVER, .wake_ns = 10 },
		                        { .at = 400,
		                          .run_ns = 50,
		                          .app = 1,
		                          .model = 1,
		                          .priority = 2,
		                          .deadline = BSA_REPLAY_NEVER },
		                        { .at = 655,
		                          .run_ns = 50,
		                          .app = 2,
		                          .model = 1,
		                          .priority = 2,
		                          .deadline = BSA_REPLAY_NEVER } } };

	(void)state;
	play_by_hand(&h, 3, by_priority, (struct bsa_replay_model[3]){ { 0 } });
	assert_int_equal(h.outcomes[1].began, 600);
	assert_int_equal(h.outcomes[2].began, 960); /* the call came while the first one was waking up to go on,
	                                             * at 660 */
	assert_int_equal(h.outcomes[0].ended, 1120);
}

/* The fate of a third call, which comes after the first one has run and has a deadline 500 ns later. */
static enum bsa_replay_fate fate_behind(struct bsa_replay_call first, struct bsa_replay_call second)
{
	struct by_hand h = { .calls = { first, second, { .at = 5000, .run_ns = 300, .deadline = 5500 } } };

	play_by_hand(&h, 3, by_priority, (struct bsa_replay_model[3]){ { .fixed = true } });
	return h.outcomes[2].fate;
}

static void only_a_whole_run_in_one_stretch_teaches(void **state)
{
	const struct bsa_replay_call nothing = { .app = 1, .model = 1, .run_ns = 10, .deadline = BSA_REPLAY_NEVER };
	const struct bsa_replay_call urgent = {
		.at = 100, .app = 1, .model = 1, .priority = 2, .run_ns = 10, .deadline = BSA_REPLAY_NEVER
	};
	const struct bsa_replay_call whole = { .at = 20, .run_ns = 1000, .step_ns = 200, .deadline = BSA_REPLAY_NEVER };
	struct bsa_replay_call given_up = whole;

	(void)state;
	given_up.deadline = 810;                                           /* the service checks the deadline at 820 */
	assert_int_equal(fate_behind(whole, nothing), BSA_REPLAY_REFUSED); /* its run takes 750 at least */
	assert_int_equal(fate_behind(whole, urgent), BSA_REPLAY_ANSWERED);
	assert_int_equal(fate_behind(given_up, nothing), BSA_REPLAY_ANSWERED);
}

static void what_cannot_make_it_is_given_up_by_what_the_service_knows_of_the_model(void **state)
{
	const struct bsa_replay_model known[3] = { { .floor_ns = 800, .confirmed = true } };
	struct by_hand h = {
		.calls = { { .run_ns = 1000, .step_ns = 100, .deadline = 599, .fail_ns = 5 }, /* the shortest
		                                                                               * run is 600 */
		           { .at = 10, .run_ns = 1000, .step_ns = 100, .deadline = 800, .app = 1, .fail_ns = 5 },
		           { .at = 20, .run_ns = 10, .deadline = 900, .app = 2, .model = 1, .fail_ns = 5 } }
	};

	(void)state;
	play_by_hand(&h, 3, by_priority, known);
	assert_int_equal(h.outcomes[0].fate, BSA_REPLAY_REFUSED);
	assert_int_equal(h.outcomes[0].answered, 5);
	assert_int_equal(h.outcomes[1].fate, BSA_REPLAY_ABORTED);
	assert_int_equal(h.outcomes[1].ended,
	                 510); /* at the checkpoint 300 are left and 290 would be enough; at 510 the time left
	                        * is too short */
	assert_int_equal(h.outcomes[2].began, 510);
	assert_true(h.outcomes[0].missed && h.outcomes[1].missed && !h.outcomes[2].missed);
}

static void others_before_it_refuse_a_call(void **state)
{
	const struct bsa_replay_model known[3] = { { .floor_ns = 1000, .confirmed = true } };
	const struct bsa_replay_rules fifo = { NNB_POLICY_FIFO, NNB_PREEMPT_NONE, NNB_DEADLINES_REFUSE, 1 };
	struct by_hand h = { .calls = { { .run_ns = 1000, .deadline = BSA_REPLAY_NEVER },
		                        { .at = 10, .run_ns = 1000, .deadline = BSA_REPLAY_NEVER, .app = 1 },
		                        { .at = 20, .run_ns = 10, .deadline = 760, .app = 2, .model = 1 } } };

	(void)state;
	play_by_hand(&h, 3, fifo, known);
	assert_int_equal(h.outcomes[2].fate, BSA_REPLAY_REFUSED);
	assert_int_equal(h.outcomes[2].ended, 20);
	h.begun[0] = h.begun[1] = h.begun[2] = false;
	h.calls[2].deadline = 780; /* behind the waiting call, which takes 750 at least */
	play_by_hand(&h, 3, fifo, known);
	assert_int_equal(h.outcomes[2].fate, BSA_REPLAY_GAVE_UP);
	assert_int_equal(h.outcomes[2].ended, 780);
}

static void a_launch_comes_when_it_is_due_whatever_became_of_the_one_before(void **state)
{
	const struct bsa_replay_rules two = { NNB_POLICY_FIFO, NNB_PREEMPT_NONE, NNB_DEADLINES_ABORT, 2 };
	struct by_hand h = { .twice = true };

	(void)state;
	h.calls[0] =
		(struct bsa_replay_call){ .send_ns = 400, .run_ns = 1000, .deadline = BSA_REPLAY_NEVER, .apart = true };
	h.calls[3] = (struct bsa_replay_call){
		.at = 100, .send_ns = 50, .run_ns = 10, .deadline = BSA_REPLAY_NEVER, .apart = true
	};
	play_by_hand(&h, 1, two, (struct bsa_replay_model[1]){ { 0 } });
	assert_int_equal(h.outcomes[0].began, 400);
	assert_int_equal(h.outcomes[3].began, 150);
	assert_true(h.begun[3]);
	assert_int_equal(h.asked, 3); /* once for each call, and once behind the last; not again when they are
	                               * answered */
}

static void shares_are_those_of_the_policy(void **state)
{
	struct by_hand h = { .calls = { { .run_ns = 1000, .deadline = BSA_REPLAY_NEVER },
		                        { .run_ns = 1000, .app = 1, .deadline = BSA_REPLAY_NEVER } } };
	struct bsa_replay_app apps[2];
	struct bsa_replay r = { .rules = { NNB_POLICY_FIFO, NNB_PREEMPT_NONE, NNB_DEADLINES_ABORT, 1 },
		                .n_apps = 2,
		                .n_models = 1,
		                .n_chains = 2,
		                .models = (struct bsa_replay_model[1]){ { 0 } },
		                .ret_apps = apps };
	struct bsa_replay_source source = { .next = next_by_hand, .done = done_by_hand, .arg = &h };

	(void)state;
	assert_true(bsa_replay_run(&r, &source));
	assert_int_equal((int)apps[0].received_ns, 1000); /* while the other one waited */
	assert_int_equal((int)apps[1].received_ns, 0);
	assert_int_equal((int)apps[1].entitled_ns, 500);
	assert_int_equal((int)apps[1].max_lag_ns, 500);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_of_one_length_are_checkpoints_too),
		cmocka_unit_test(what_is_asked_at_a_checkpoint_leaves_at_that_one),
		cmocka_unit_test(each_time_that_it_is_handed_a_lane_again_it_wakes_up_anew),
		cmocka_unit_test(a_call_that_waits_longer_than_its_thread_polls_sleeps),
		cmocka_unit_test(a_preempted_call_stops_as_late_as_in_the_source),
		cmocka_unit_test(a_stop_asked_for_later_comes_after_that_time),
		cmocka_unit_test(an_answer_depends_on_how_the_call_came_to_its_lane),
		cmocka_unit_test(a_call_that_made_room_may_get_its_lane_back_from_one_that_makes_room),
		cmocka_unit_test(no_call_leaves_between_checkpoints),
		cmocka_unit_test(only_a_whole_run_in_one_stretch_teaches),
		cmocka_unit_test(what_cannot_make_it_is_given_up_by_what_the_service_knows_of_the_model),
		cmocka_unit_test(others_before_it_refuse_a_call),
		cmocka_unit_test(a_launch_comes_when_it_is_due_whatever_became_of_the_one_before),
		cmocka_unit_test(shares_are_those_of_the_policy),
		cmocka_unit_test(a_trace_without_noise_is_replayed_to_the_nanosecond),
	};

	if (argc > 1) {
		replay_world(strtoull(argv[1], NULL, 0));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_saved.c -- bsa_blame's answers on whether a deadline would have been met without a cause: random
 * worlds are replayed without that cause.
 *
 * The worlds are those of policy_sim.h: the policy is the service's own. A world is played and its misses are
 * blamed. For each cause about which bsa_blame gives a sure answer, the same world is played again without
 * the cause, and the deadline must be met, or missed, as answered. bsa_blame does not know the policy, so its
 * answers must be sure only where the recording proves them.
 *
 * NNB_SOAK_SECONDS sets how long this goes on; test_saved SEED plays one world alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fold/blame.h"
#include "unit/policy_sim.h"
#include "unit/schedule_world.h"

#ifndef SEEDS
#define SEEDS 4000
#endif

enum {
	MODELS = 4,
	WORLDS = SEEDS,
	SEND_NS = 3000, /* at least */
	RETURN_NS = 5000,
	ROOM = BSA_CAUSES + 2
};

#define BEGINNING UINT64_C(1000000000000) /* the beginning of each world, on the clock of the blame */
#define US 1000

/* A job as its app sees it: the simulator has only the time between a job's arrival and its end. */
struct call {
	unsigned model;
	uint64_t send, answer, budget, step_ns; /* step_ns: of a run that is not slow */
	bool send_slept, answer_slept, aborts;
	uint64_t think; /* from the previous answer, or from the beginning, to the job's submission */
};

struct world_of_calls {
	struct sim_schedule schedule;
	struct call call[SIM_JOBS];
};

static struct counts {
	unsigned worlds, misses, yes, no, perhaps; /* numbers of worlds and misses, and of causes by answer */
	unsigned old_yes, old_false;               /* the same if only the cause and the lateness were compared */
} counts;

static uint32_t failing;

/* ---- worlds ---- */

static void set_job(struct world_of_calls *w, uint32_t i)
{
	struct sim_job *job = &w->schedule.job[i];
	struct call *c = &w->call[i];
	uint64_t pred = job->after >= 0 ? w->call[job->after].answer : 0;
	uint64_t left = c->budget > c->send ? c->budget - c->send : 1;

	job->delay_ns = pred + c->think + c->send;
	job->deadline_ns = left;
	job->patience_ns = c->aborts ? left : 0;
}

static void draw_call(struct world_of_calls *w, uint32_t i, const uint32_t *steps, const uint64_t *step_ns, bool aborts)
{
	struct sim_schedule *s = &w->schedule;
	struct call *c = &w->call[i];
	uint32_t m = chance(MODELS);
	uint64_t alone = SEND_NS + steps[m] * step_ns[m] + RETURN_NS;

	*c = (struct call){ .model = m,
		            .send = SEND_NS + (chance(4) ? 0 : chance(400 * US)),
		            .answer = RETURN_NS + (chance(4) ? 0 : chance(400 * US)),
		            .budget = alone / 4 + (uint64_t)chance(16) * alone / 4 + chance(200 * US),
		            .step_ns = step_ns[m],
		            .send_slept = chance(2),
		            .answer_slept = chance(2),
		            .aborts = aborts && chance(4) };
	s->job[i] = (struct sim_job){ .app = chance(s->apps),
		                      .after = i && chance(3) ? (int32_t)chance(i) : -1,
		                      .steps = steps[m],
		                      .step_ns = step_ns[m] + (chance(4) ? 0 : chance(300 * US)),
		                      .priority = chance(3),
		                      .stays = !chance(8) };
	c->think = s->job[i].after >= 0 ? chance(500 * US) : chance(20000) * (uint64_t)US + chance(US);
	set_job(w, i);
}

static void make_world(struct world_of_calls *w, uint32_t seed)
{
	uint64_t step_ns[MODELS];
	uint32_t steps[MODELS];
	bool aborts;

	chance_from(seed);
	*w = (struct world_of_calls){ .schedule = { .kind = (enum nnb_policy)chance(NNB_POLICY_EDF + 1),
		                                    .preempt = (enum nnb_preempt)chance(3),
		                                    .lanes = 1 + chance(2) * chance(3),
		                                    .apps = 1 + chance(4),
		                                    .jobs = 5 + chance(40) } };
	aborts = chance(2);
	for (unsigned m = 0; m < MODELS; m++) {
		steps[m] = 1 + chance(6);
		step_ns[m] = 1 + chance(chance(2) ? 100 * US : 800 * US);
	}
	for (uint32_t i = 0; i < w->schedule.jobs; i++)
		draw_call(w, i, steps, step_ns, aborts);
}

/* ---- the recording ---- */

static bool is_answered(const struct sim_done *d)
{
	return !d->gave_up;
}

static uint64_t submitted(const struct call *c, const struct sim_done *d)
{
	return BEGINNING + d->came - c->send;
}

static bool is_met(const struct call *c, const struct sim_done *d)
{
	return is_answered(d) && d->over + c->answer <= d->came - c->send + c->budget;
}

static uint64_t at_least(uint64_t value, uint64_t bound)
{
	return value > bound ? value : bound;
}

/* As in the store: the shortest phases over all answered jobs, and the typical ones, which are no shorter. */
static struct bsa_typical typical_of(const struct world_of_calls *w, const struct sim_result *r, uint32_t x)
{
	const struct call *mine = &w->call[x];
	struct bsa_typical t = { .n = 100, .budget = chance(2) ? chance(4000 * US) : BSA_NEVER };

	for (uint32_t i = 0; i < w->schedule.jobs; i++) {
		const uint64_t took[BSA_PHASES] = { [BSA_SEND] = w->call[i].send,
			                            [BSA_RUN] = w->schedule.job[i].steps * w->schedule.job[i].step_ns,
			                            [BSA_RETURN] = w->call[i].answer };

		if (w->call[i].model != mine->model || !is_answered(&r->job[i]))
			continue;
		for (int p = 0; p < BSA_PHASES; p++)
			if (!t.least[p] || took[p] < t.least[p])
				t.least[p] = took[p];
	}
	t.phase[BSA_SEND] = at_least(SEND_NS, t.least[BSA_SEND]);
	t.phase[BSA_RUN] = at_least(w->schedule.job[x].steps * mine->step_ns, t.least[BSA_RUN]);
	t.phase[BSA_RETURN] = at_least(RETURN_NS, t.least[BSA_RETURN]);
	return t;
}

static struct bsa_execution execution_of(const struct world_of_calls *w, const struct sim_result *r, uint32_t x)
{
	const struct sim_done *d = &r->job[x];
	const struct call *c = &w->call[x];
	uint64_t came = BEGINNING + d->came, over = BEGINNING + d->over, began = BEGINNING + d->began;
	uint64_t own = w->schedule.job[x].steps * w->schedule.job[x].step_ns, end;
	bool answered = is_answered(d), ran = d->began != NNB__NEVER;
	struct bsa_execution ret = {
		.path = BSA_PATH_BURST,
		.miss = answered ? BSA_MISS_LATE : BSA_MISS_ABORTED,
		.missed_at = answered ? BSA_NEVER : over,
		.deadline = submitted(c, d) + c->budget,
		.cpu = ran ? d->ran : BSA_NEVER,
		.estimate = BSA_NEVER,
		.redo = answered && d->ran > own ? d->ran - own : 0,
		.preemptions = ran ? d->stretches - 1 : 0,
		.request.slept = c->send_slept,
		.result.slept = c->answer_slept,
	};

	for (int b = 0; b < BSA_BOUNDARIES; b++)
		ret.at[b] = BSA_NEVER;
	ret.at[BSA_SUBMITTED] = ret.at[BSA_REQUEST_WRITTEN] = came - c->send;
	ret.at[BSA_REQUEST_READ] = ret.at[BSA_DECODED] = ret.at[BSA_ENQUEUED] = came;
	ret.at[BSA_RUN_ENDED] = over;
	ret.phase[BSA_SEND] = c->send;
	ret.phase[BSA_QUEUE] = (ran ? began : over) - came;
	end = over;
	if (ran) {
		ret.at[BSA_DISPATCHED] = began;
		ret.phase[BSA_RUN] = d->ran;
		ret.phase[BSA_PREEMPTED] = over - began - d->ran;
	}
	if (answered) {
		ret.at[BSA_RESULT_WRITTEN] = over;
		ret.at[BSA_RESULT_READ] = ret.at[BSA_RETURNED] = end = over + c->answer;
		ret.phase[BSA_RETURN] = c->answer;
	}
	ret.lateness = (int64_t)(end - ret.deadline);
	return ret;
}

/* ---- without a cause ---- */

/* A phase that the recording lacks takes as long as the shortest one recorded of another job. */
static void complete(struct world_of_calls *w, const struct sim_done *d, uint32_t x, const struct bsa_typical *t)
{
	struct sim_job *job = &w->schedule.job[x];

	if (is_answered(d))
		return;
	job->step_ns = at_least(job->step_ns, (t->least[BSA_RUN] + job->steps - 1) / job->steps);
	w->call[x].answer = at_least(w->call[x].answer, t->least[BSA_RETURN]);
}

static void take_away(struct world_of_calls *w, uint32_t x, const struct bsa_blamed *b, const struct bsa_execution *e,
                      const struct bsa_typical *t)
{
	struct sim_job *job = &w->schedule.job[x];
	struct call *c = &w->call[x];

	if (b->culprit) {
		w->schedule.job[b->culprit - 1].steps = 1;
		w->schedule.job[b->culprit - 1].step_ns = 1;
		return;
	}
	if (bsa_taker_cause(e, e->request.slept) == b->cause && c->send > t->phase[BSA_SEND])
		c->send = t->phase[BSA_SEND];
	if (bsa_taker_cause(e, e->result.slept) == b->cause && c->answer > t->phase[BSA_RETURN])
		c->answer = t->phase[BSA_RETURN];
	if (b->cause == BSA_SLOW_COMPUTE && job->steps * job->step_ns > t->phase[BSA_RUN])
		job->step_ns = t->phase[BSA_RUN] / job->steps;
}

static bool is_met_without(const struct world_of_calls *w, const struct sim_result *r, uint32_t x,
                           const struct bsa_blamed *b, const struct bsa_execution *e, const struct bsa_typical *t)
{
	static struct world_of_calls again;
	static struct sim_result result;

	again = *w;
	complete(&again, &r->job[x], x, t);
	take_away(&again, x, b, e, t);
	for (uint32_t i = 0; i < again.schedule.jobs; i++)
		set_job(&again, i);
	if (!sim_run(&again.schedule, &result))
		fail_msg("seed %u: the simulator: %s", failing, result.wrong);
	return is_met(&again.call[x], &result.job[x]);
}

/*
 * Where no other job waited, the policy preempts no job. With several lanes, a waiting job may have preempted
 * another lane first.
 */
static bool is_undisturbed(const struct world_of_calls *w, const struct sim_result *r, uint32_t x)
{
	const struct sim_done *mine = &r->job[x];

	if (w->schedule.kind == NNB_POLICY_FIFO || w->schedule.preempt == NNB_PREEMPT_NONE)
		return true;
	for (uint32_t i = 0; i < w->schedule.jobs; i++)
		if (i != x && r->job[i].came < mine->over && r->job[i].over > mine->began)
			return false;
	return w->schedule.lanes == 1;
}

static void count_old(const struct bsa_execution *e, const struct bsa_blamed *b, bool met)
{
	if (b->culprit || b->late_ns < e->lateness)
		return;
	counts.old_yes++;
	counts.old_false += !met;
}

static bool is_taken_away(const struct bsa_blamed *b)
{
	return b->culprit || b->cause == BSA_WOKEN_LATE || b->cause == BSA_POLLED_LATE || b->cause == BSA_SLOW_COMPUTE;
}

static void check_miss(const struct world_of_calls *w, const struct sim_result *r, uint32_t x)
{
	struct bsa_execution e = execution_of(w, r, x);
	struct bsa_typical t = typical_of(w, r, x);
	struct bsa_wait waits[2];
	struct bsa_missed m = {
		.execution = &e, .typical = &t, .waits = waits, .undisturbed = is_undisturbed(w, r, x)
	};
	struct bsa_blamed blamed[ROOM];
	uint32_t other = (x + 1 + chance(w->schedule.jobs - 1)) % w->schedule.jobs;
	size_t n;

	for (int kind = BSA_WAIT_QUEUE; kind <= BSA_WAIT_PREEMPTED; kind++) {
		uint64_t dur = e.phase[kind == BSA_WAIT_QUEUE ? BSA_QUEUE : BSA_PREEMPTED];
		uint64_t from = e.at[kind == BSA_WAIT_QUEUE ? BSA_ENQUEUED : BSA_DISPATCHED];

		if (dur && from != BSA_NEVER) /* the other job held the lane meanwhile; any other job will do */
			waits[m.n_waits++] = (struct bsa_wait){ .began = from,
				                                .ended = from + dur,
				                                .blocker = other + 1,
				                                .blocker_app = 1,
				                                .kind = (uint8_t)kind,
				                                .occupancy = BSA_HELD,
				                                .cause = kind == BSA_WAIT_QUEUE ? BSA_CROWDED_OUT
				                                                                : BSA_CAUSE_PREEMPTED };
	}
	n = bsa_blame(&m, blamed, ROOM);
	counts.misses++;
	for (size_t i = 0; i < n; i++) {
		const struct bsa_blamed *b = &blamed[i];
		bool met;

		if (!is_taken_away(b) || b->late_ns <= 0)
			continue;
		counts.yes += b->saved > 0;
		counts.no += !b->saved;
		counts.perhaps += b->saved < 0;
		met = is_met_without(w, r, x, b, &e, &t);
		count_old(&e, b, met);
		if (b->saved >= 0 && met != (b->saved > 0))
			fail_msg("seed %u, job %u: without cause %u (%lld ns of %lld) its deadline %s", failing, x,
			         b->cause, (long long)b->late_ns, (long long)e.lateness,
			         met ? "is met" : "is missed all the same");
	}
}

static void check_world(uint32_t seed)
{
	static struct world_of_calls w;
	static struct sim_result r;

	failing = seed;
	make_world(&w, seed);
	if (!sim_run(&w.schedule, &r))
		fail_msg("seed %u: the simulator: %s", seed, r.wrong);
	counts.worlds++;
	for (uint32_t i = 0; i < w.schedule.jobs; i++)
		if (!is_met(&w.call[i], &r.job[i]))
			check_miss(&w, &r, i);
}

/* ---- refused, although a lane was free early enough ---- */

#define AFTER_ALL UINT64_C(1000000000000000)

static struct refusals {
	unsigned refused, bad;
	unsigned old_bad, old_false; /* the same if only the first time of a free lane counted, without the queue */
} refusals;

/* The job now comes after all others are over. */
static void remove_job(struct sim_schedule *s, uint32_t i)
{
	s->job[i] = (struct sim_job){ .after = -1, .delay_ns = AFTER_ALL + i, .steps = 1, .step_ns = 1 };
}

static uint32_t present(const struct sim_schedule *s, const struct sim_result *r, uint64_t at)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->jobs; i++)
		n += r->job[i].came <= at && at < r->job[i].over;
	return n;
}

/*
 * From @at on: the first time that a lane is free for every waiting job; and the first time that a job leaves
 * a lane for good.
 */
static struct bsa_refused refused_at(const struct sim_schedule *s, const struct sim_result *r, uint64_t at)
{
	struct bsa_refused ret = { .queue_free = UINT64_MAX, .lane_free = UINT64_MAX, .holder_cause = BSA_CROWDED_OUT };
	bool at_once = present(s, r, at) < s->lanes;

	for (uint32_t i = 0; i < s->jobs; i++) {
		uint64_t over = at_once ? at : r->job[i].over;

		if (over < at)
			continue;
		if (BEGINNING + over < ret.lane_free)
			ret.lane_free = BEGINNING + over;
		if (BEGINNING + over < ret.queue_free && present(s, r, over) < s->lanes)
			ret.queue_free = BEGINNING + over;
	}
	ret.queue_cause = BSA_CROWDED_OUT;
	return ret;
}

static struct bsa_execution refused_execution(const struct world_of_calls *w, uint32_t x, uint64_t at)
{
	const struct call *c = &w->call[x];
	struct bsa_execution e = { .path = BSA_PATH_BURST,
		                   .miss = BSA_MISS_PREDICTED,
		                   .status = BSA_STATUS_MISSED_DEADLINE_TRANSIENT,
		                   .missed_at = BEGINNING + at,
		                   .deadline = BEGINNING + at - c->send + c->budget,
		                   .cpu = BSA_NEVER,
		                   .estimate = BSA_NEVER };

	for (int b = 0; b < BSA_BOUNDARIES; b++)
		e.at[b] = BSA_NEVER;
	e.at[BSA_SUBMITTED] = e.at[BSA_REQUEST_WRITTEN] = BEGINNING + at - c->send;
	e.at[BSA_REQUEST_READ] = e.at[BSA_DECODED] = BEGINNING + at;
	e.phase[BSA_SEND] = c->send;
	e.lateness = (int64_t)(e.missed_at - e.deadline);
	return e;
}

/*
 * Would the deadline be met if the service had admitted the job? With the jobs queued then, and with later
 * ones only if @all.
 */
static bool is_met_if_admitted(const struct world_of_calls *w, const struct sim_result *r, uint32_t x,
                               const struct bsa_typical *t, bool all)
{
	static struct world_of_calls again;
	static struct sim_result result;
	uint64_t at = w->schedule.job[x].delay_ns;

	again = *w;
	for (uint32_t i = 0; i < w->schedule.jobs; i++)
		if (i != x && r->job[i].came > at && !all)
			remove_job(&again.schedule, i);
	again.schedule.job[x].step_ns = t->phase[BSA_RUN] / w->schedule.job[x].steps;
	again.schedule.job[x].patience_ns = 0;
	again.call[x].answer = t->phase[BSA_RETURN];
	if (!sim_run(&again.schedule, &result))
		fail_msg("seed %u: the simulator: %s", failing, result.wrong);
	return is_met(&again.call[x], &result.job[x]);
}

static void check_refused(const struct world_of_calls *w, uint32_t x)
{
	static struct world_of_calls without;
	static struct sim_result r;
	uint64_t at = w->schedule.job[x].delay_ns;
	struct bsa_blamed blamed[ROOM];
	struct bsa_refused refused;
	struct bsa_execution e;
	struct bsa_typical t;
	size_t n;

	without = *w;
	remove_job(&without.schedule, x);
	if (!sim_run(&without.schedule, &r))
		fail_msg("seed %u: the simulator: %s", failing, r.wrong);
	r.job[x] = (struct sim_done){ .gave_up = true };
	e = refused_execution(w, x, at);
	if (e.lateness >= 0)
		return;
	refused = refused_at(&without.schedule, &r, at);
	t = typical_of(w, &r, x);
	n = bsa_blame(&(struct bsa_missed){ .execution = &e,
	                                    .typical = &t,
	                                    .refused = &refused,
	                                    .lanes = (uint8_t)w->schedule.lanes,
	                                    .restarts = w->schedule.preempt == NNB_PREEMPT_RESTART &&
	                                                w->schedule.kind != NNB_POLICY_FIFO },
	              blamed, ROOM);
	refusals.refused++;
	for (size_t i = 0; i < n; i++) {
		if (blamed[i].cause != BSA_BAD_ESTIMATE)
			continue;
		refusals.bad++;
		if (!is_met_if_admitted(w, &r, x, &t, false))
			fail_msg("seed %u, job %u (policy %d, preempt %d, %u lanes): admitted it misses its deadline, "
			         "though its "
			         "estimate is said to be bad",
			         failing, x, (int)w->schedule.kind, (int)w->schedule.preempt, w->schedule.lanes);
	}
	if (refused.lane_free + t.phase[BSA_RUN] > e.deadline)
		return;
	refusals.old_bad++;
	refusals.old_false += !is_met_if_admitted(w, &r, x, &t, true);
}

static void what_was_refused_by_a_bad_estimate_would_have_been_in_time(void **state)
{
	static struct world_of_calls w;

	(void)state;
	for (uint32_t seed = 1; seed <= WORLDS; seed++) {
		uint32_t x;

		failing = seed;
		make_world(&w, seed);
		x = chance(w.schedule.jobs);
		if (w.schedule.job[x].after < 0 && w.call[x].budget > w.call[x].send)
			check_refused(&w, x);
	}
	print_message("%u refused, %u of them by a bad estimate; of the %u for which a lane was free early enough %u "
	              "would have been "
	              "late\n",
	              refusals.refused, refusals.bad, refusals.old_bad, refusals.old_false);
	assert_true(refusals.bad > 100 && refusals.old_false > 10);
}

static uint32_t only; /* 0: all */

static void a_replay_without_the_cause_agrees(void **state)
{
	time_t until = soak_until(1);

	(void)state;
	if (only) {
		check_world(only);
		return;
	}
	for (uint32_t seed = 1; until ? time(NULL) < until : seed <= WORLDS; seed++)
		check_world(seed);
	print_message("%u worlds, %u misses; of their causes %u would have saved, %u would not, %u cannot be told; "
	              "by the lateness alone %u of %u would be said to save that do not\n",
	              counts.worlds, counts.misses, counts.yes, counts.no, counts.perhaps, counts.old_false,
	              counts.old_yes);
	assert_true(counts.yes > 1000 && counts.no > 1000 && counts.perhaps > 1000 && counts.old_false > 100);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_without_the_cause_agrees),
		cmocka_unit_test(what_was_refused_by_a_bad_estimate_would_have_been_in_time),
	};

	only = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	return cmocka_run_group_tests_name("saved", tests, NULL, NULL);
}

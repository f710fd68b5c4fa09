/*
 * test_policy.c -- the choice of an execution for each lane, its time and its length: by hand, and in a
 * million small worlds.
 *
 * Seeds make the worlds (policy_sim.h); a failure prints its seed, and `test_policy SEED` plays that world
 * alone. NNB_SOAK_SECONDS is how long the worlds, and the search for the worst one, go on.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base.h"
#include "unit/policy_sim.h"

#define QUANTUM NNB__QUANTUM_NS
#define KEPT MS           /* an app without a job keeps a claim of at most this */
#define ALONE (1000 * MS) /* how long one app is without jobs of other apps */
#define NEVER NNB__NEVER
enum { LOW, MEDIUM, HIGH };

/* ---- by hand ---- */

static struct nnb__policy policy;
static struct nnb__policy_app apps[8];
static struct nnb__policy_job jobs[32];
static size_t n_jobs;

static void begin(enum nnb_policy kind, enum nnb_preempt preempt, uint32_t lanes)
{
	nnb__policy_init(&policy, kind, preempt, lanes);
	memset(apps, 0, sizeof(apps));
	n_jobs = 0;
}

static struct nnb__policy_job *job(int app, uint32_t priority, uint64_t deadline)
{
	struct nnb__policy_job *j = &jobs[n_jobs++];

	assert_true(n_jobs <= N_OF(jobs));
	*j = (struct nnb__policy_job){ .app = &apps[app], .priority = priority, .deadline_ns = deadline };
	return j;
}

static struct nnb__policy_job *ready(int app, uint32_t priority, uint64_t deadline, uint64_t now)
{
	struct nnb__policy_job *j = job(app, priority, deadline);
	bool on_lane = nnb__policy_ready(&policy, j, now);

	assert_int_equal(on_lane, j->lane != NNB__NO_LANE);
	return j;
}

static struct nnb__policy_job *done(struct nnb__policy_job *j, uint64_t now)
{
	return nnb__policy_leave(&policy, j->lane, false, now);
}

static bool yields(const struct nnb__policy_job *j, uint64_t now)
{
	return policy.yield_at[j->lane] <= now && nnb__policy_yield(&policy, j->lane, now);
}

/* The order in which jobs of two apps get one lane, which the first job has; each takes 1 ms. */
static void assert_order(enum nnb_policy kind, const int *order)
{
	struct nnb__policy_job *all[6], *next;
	uint64_t now = 0;

	begin(kind, NNB_PREEMPT_NONE, 1);
	all[0] = ready(0, LOW, NEVER, 0);
	all[1] = ready(0, LOW, NEVER, 0);
	all[2] = ready(0, HIGH, NEVER, 0);
	all[3] = ready(1, LOW, 9 * MS, 0);
	all[4] = ready(1, LOW, 8 * MS, 0);
	all[5] = ready(0, HIGH, 7 * MS, 0);
	next = all[0];
	for (size_t i = 0; i < N_OF(all); i++) {
		assert_ptr_equal(next, all[order[i]]);
		next = done(next, now += MS);
	}
	assert_null(next);
	assert_null(policy.apps);
}

static void fifo_goes_by_arrival(void **state)
{
	(void)state;
	assert_order(NNB_POLICY_FIFO, (const int[]){ 0, 1, 2, 3, 4, 5 });
}

static void priority_goes_by_priority_then_arrival(void **state)
{
	(void)state;
	assert_order(NNB_POLICY_PRIORITY, (const int[]){ 0, 2, 5, 1, 3, 4 });
}

static void edf_goes_by_deadline_then_arrival(void **state)
{
	(void)state;
	assert_order(NNB_POLICY_EDF, (const int[]){ 0, 5, 4, 3, 1, 2 });
}

/* App 1 has waited while app 0 ran; then they take turns. Within each: priority, deadline, arrival. */
static void fair_goes_by_what_apps_lack_then_priority_then_deadline_then_arrival(void **state)
{
	(void)state;
	assert_order(NNB_POLICY_FAIR, (const int[]){ 0, 4, 5, 3, 2, 1 });
}

static void a_free_lane_is_taken_at_once_and_needs_no_time(void **state)
{
	struct nnb__policy_job *a, *b;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 2);
	assert_false(nnb__policy_wants_time(&policy, false));
	a = ready(0, LOW, NEVER, 0);
	assert_false(nnb__policy_wants_time(&policy, false));
	b = ready(1, LOW, NEVER, 0);
	assert_true(a->lane != b->lane);
	assert_true(nnb__policy_wants_time(&policy, false)); /* the next one waits */
	assert_false(nnb__policy_wants_time(&policy, true));
	assert_null(done(a, 0));
	assert_int_equal(ready(1, LOW, NEVER, 0)->lane, a->lane);
}

static void without_preemption_no_job_is_asked_to_yield(void **state)
{
	static const enum nnb_policy kinds[] = { NNB_POLICY_FAIR, NNB_POLICY_PRIORITY, NNB_POLICY_FIFO,
		                                 NNB_POLICY_EDF };

	(void)state;
	for (size_t k = 0; k < N_OF(kinds); k++) {
		struct nnb__policy_job *runs;

		begin(kinds[k], NNB_PREEMPT_NONE, 1);
		runs = ready(0, LOW, NEVER, 0);
		ready(0, HIGH, 1, 0);
		ready(1, HIGH, 2, 0);
		assert_true(policy.yield_at[0] == NEVER);
		assert_false(nnb__policy_yield(&policy, runs->lane, 1000 * MS));
	}
}

static void an_app_s_better_job_is_made_room_for_at_once(void **state)
{
	struct nnb__policy_job *low, *high;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	low = ready(0, LOW, NEVER, 0);
	ready(0, LOW, 5, 1); /* an earlier deadline alone does not preempt */
	assert_false(yields(low, 1));
	high = ready(0, HIGH, NEVER, 2);
	assert_true(yields(low, 2));
	assert_ptr_equal(nnb__policy_leave(&policy, low->lane, true, 2), high);
	assert_int_equal(low->lane, NNB__NO_LANE);
	assert_int_equal(apps[0].preemptions, 1);
	assert_int_equal(apps[0].restarts, 0);
}

static void another_app_s_better_job_waits_its_turn_where_apps_are_equal(void **state)
{
	struct nnb__policy_job *low, *high;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	low = ready(0, LOW, NEVER, 0);
	high = ready(1, HIGH, 1, 0);
	assert_false(yields(low, 0));
	assert_false(yields(low, QUANTUM - 10)); /* one app gains half a quantum; the other has no claim to lose */
	assert_false(yields(low, 2 * QUANTUM - 10));
	assert_true(policy.yield_at[0] <= 2 * QUANTUM + 10);
	assert_true(yields(low, 2 * QUANTUM + 10));
	assert_ptr_equal(nnb__policy_leave(&policy, 0, true, 2 * QUANTUM + 10), high);
	assert_false(yields(high, 3 * QUANTUM)); /* the lane does not go back at once */
}

/* Nothing is preempted: the job has made no use of its lane, and waits as before. */
static void a_lane_that_is_not_used_yet_goes_to_the_job_that_would_get_it_now(void **state)
{
	static const enum nnb_policy kinds[] = { NNB_POLICY_FIFO, NNB_POLICY_PRIORITY, NNB_POLICY_EDF,
		                                 NNB_POLICY_FAIR };

	(void)state;
	for (size_t i = 0; i < N_OF(kinds); i++) {
		struct nnb__policy_job *has, *better;

		begin(kinds[i], NNB_PREEMPT_NONE, 1);
		has = ready(0, LOW, NEVER, 0);
		assert_false(nnb__policy_regrets(&policy, 0));
		if (kinds[i] != NNB_POLICY_FAIR) /* it would go before @better, where apps are equal */
			ready(1, LOW, NEVER, 0);
		assert_false(nnb__policy_regrets(&policy, 0));
		better = ready(0, HIGH, 7, 0);
		assert_int_equal(nnb__policy_regrets(&policy, 0), kinds[i] != NNB_POLICY_FIFO);
		if (kinds[i] == NNB_POLICY_FIFO)
			continue;
		assert_ptr_equal(nnb__policy_recall(&policy, 0, 1), better);
		assert_int_equal(has->lane, NNB__NO_LANE);
		assert_int_equal(apps[0].waiting, 1);
		assert_int_equal(apps[0].running, 1);
		assert_int_equal(apps[0].preemptions, 0);
		assert_false(nnb__policy_regrets(&policy, 0));
		assert_ptr_equal(done(better, 1), has);
	}
}

static void a_lane_that_is_not_used_yet_goes_to_the_app_with_the_larger_claim(void **state)
{
	struct nnb__policy_job *has, *own, *other;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	has = ready(0, MEDIUM, NEVER, 0);
	own = ready(0, LOW, NEVER, 0);
	other = ready(1, LOW, NEVER, 0);
	assert_false(nnb__policy_regrets(&policy, 0));
	nnb__policy_account(&policy, 1000); /* from now on the other app lacks what this one has */
	assert_true(nnb__policy_regrets(&policy, 0));
	assert_ptr_equal(nnb__policy_recall(&policy, 0, 1000), other);
	assert_false(nnb__policy_regrets(&policy, 0));
	nnb__policy_account(&policy, 5000);
	assert_true(nnb__policy_regrets(&policy, 0));
	assert_ptr_equal(nnb__policy_recall(&policy, 0, 5000), has);
	assert_int_equal(own->lane, NNB__NO_LANE);
	assert_int_equal(other->lane, NNB__NO_LANE);
	assert_int_equal(policy.waiting, 2);
}

/*
 * The need of one that has the lane is its need without it. A third of a lane is no binary fraction: computed in two
 * ways, the needs would differ. Of equal ones, the job that came first gets the lane.
 */
static void a_lane_that_is_not_used_yet_stays_where_apps_are_equal(void **state)
{
	(void)state;
	for (int n = 2; n <= 8; n++)
		for (int lanes = 1; lanes < n; lanes++) {
			begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, (uint32_t)lanes);
			for (int i = 0; i < n; i++)
				ready(i, LOW, NEVER, 0);
			for (int i = 0; i < n; i++)
				apps[i].claim = 1000;
			for (int i = 0; i < lanes; i++) {
				assert_false(nnb__policy_regrets(&policy, i));
				assert_ptr_equal(nnb__policy_recall(&policy, i, 1), &jobs[i]);
				assert_int_equal(jobs[i].lane, i);
			}
			assert_int_equal(policy.waiting, n - lanes);
			assert_ptr_equal(done(&jobs[0], 1), &jobs[lanes]);
			assert_false(nnb__policy_regrets(&policy, 0));
		}
}

static void what_would_start_over_does_so_three_times_at_most(void **state)
{
	struct nnb__policy_job *victim, *better;
	uint64_t now = 0;

	(void)state;
	begin(NNB_POLICY_PRIORITY, NNB_PREEMPT_RESTART, 1);
	victim = ready(0, LOW, NEVER, 0);
	for (uint32_t i = 0; i < NNB__RESTARTS_MAX; i++) {
		better = ready(1, HIGH, NEVER, ++now);
		assert_true(yields(victim, now));
		assert_ptr_equal(nnb__policy_leave(&policy, 0, true, now), better);
		assert_ptr_equal(done(better, ++now), victim);
	}
	ready(1, HIGH, NEVER, ++now);
	assert_false(yields(victim, now + 1000 * MS));
	assert_true(policy.yield_at[0] == NEVER);
	assert_int_equal(apps[0].restarts, NNB__RESTARTS_MAX);
	assert_int_equal(victim->restarts, NNB__RESTARTS_MAX);
}

static void what_is_kept_makes_room_as_often_as_need_be(void **state)
{
	struct nnb__policy_job *victim, *better;
	uint64_t now = 0;

	(void)state;
	begin(NNB_POLICY_EDF, NNB_PREEMPT_SAVE, 1);
	victim = ready(0, LOW, 1000, 0);
	for (uint32_t i = 0; i < 10; i++) {
		better = ready(1, LOW, 500, ++now);
		assert_true(yields(victim, now));
		assert_ptr_equal(nnb__policy_leave(&policy, 0, true, now), better);
		assert_ptr_equal(done(better, ++now), victim);
	}
	assert_int_equal(apps[0].preemptions, 10);
	assert_int_equal(victim->restarts, 0);
}

static void of_several_lanes_the_worst_are_left_one_for_each_that_waits(void **state)
{
	struct nnb__policy_job *on[4];

	(void)state;
	begin(NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, 4);
	on[0] = ready(0, MEDIUM, NEVER, 0);
	on[1] = ready(0, LOW, NEVER, 0);
	on[2] = ready(1, HIGH, NEVER, 0);
	on[3] = ready(1, LOW, NEVER, 0);
	ready(2, HIGH, NEVER, 1);
	assert_true(yields(on[3], 1)); /* the low job that came last leaves */
	assert_false(yields(on[0], 1) || yields(on[1], 1) || yields(on[2], 1));
	ready(3, MEDIUM, NEVER, 2);
	assert_true(yields(on[1], 2) && yields(on[3], 2));
	assert_false(yields(on[0], 2) || yields(on[2], 2));
	ready(3, MEDIUM, NEVER, 3); /* no job on a lane has a lower priority any more */
	assert_false(yields(on[0], 3) || yields(on[2], 3));
	ready(2, HIGH, NEVER, 4);
	assert_false(yields(on[0], 4));
	ready(2, HIGH, NEVER, 4);
	assert_true(yields(on[0], 4));
	assert_false(yields(on[2], 4));
}

static void no_job_yields_for_a_cancelled_one(void **state)
{
	struct nnb__policy_job *low, *high, *other;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	low = ready(0, LOW, NEVER, 0);
	other = ready(1, LOW, NEVER, 0);
	high = ready(0, HIGH, NEVER, 1);
	assert_true(yields(low, 1));
	nnb__policy_cancel(&policy, high, 1);
	assert_false(yields(low, 1));
	nnb__policy_cancel(&policy, other, 1);
	assert_true(policy.yield_at[0] == NEVER);
	assert_false(apps[1].waiting || policy.waiting);
	assert_null(done(low, 2));
	assert_null(policy.apps);
}

/* ---- entitlement ---- */

static const struct entitled {
	const char *name;
	uint32_t lanes, has[4];
	double gets[4];
} entitled[] = {
	{ "one lane, two apps", 1, { 1, 2 }, { .5, .5 } },
	{ "one lane, four apps", 1, { 1, 1, 5, 1 }, { .25, .25, .25, .25 } },
	{ "one lane, one app", 1, { 3 }, { 1 } },
	{ "two lanes, two apps", 2, { 2, 1 }, { 1, 1 } },
	{ "two lanes, three apps", 2, { 1, 1, 1 }, { 2. / 3, 2. / 3, 2. / 3 } },
	{ "three lanes: one has use for one", 3, { 1, 3 }, { 1, 2 } },
	{ "three lanes: one has use for one, two share the rest", 3, { 1, 3, 7 }, { 1, 1, 1 } },
	{ "three lanes: four share", 3, { 1, 1, 1, 1 }, { .75, .75, .75, .75 } },
	{ "five lanes: two have use for less", 5, { 1, 9, 2, 1 }, { 1, 1.5, 1.5, 1 } },
	{ "six lanes: three have use for less", 6, { 1, 9, 1, 1 }, { 1, 3, 1, 1 } },
	{ "seven lanes: what one leaves is enough for the next", 7, { 1, 2, 9, 9 }, { 1, 2, 2, 2 } },
	{ "eight lanes: and what that leaves goes to the last", 8, { 1, 2, 9, 2 }, { 1, 2, 3, 2 } },
};

static void shares_are_as_by_hand(void **state)
{
	const struct entitled *row = *state;

	begin(NNB_POLICY_FIFO, NNB_PREEMPT_NONE, row->lanes);
	for (int a = 0; a < 4; a++)
		for (uint32_t i = 0; i < row->has[a]; i++)
			ready(a, LOW, NEVER, 0);
	for (int a = 0; a < 4; a++)
		if (row->has[a])
			assert_true(apps[a].rate > row->gets[a] - 1e-9 && apps[a].rate < row->gets[a] + 1e-9);
	nnb__policy_account(&policy, 1000);
	for (int a = 0; a < 4; a++) {
		double want = row->has[a] ? row->gets[a] * 1000 : 0;

		assert_true(apps[a].entitled > want - 1e-3 && apps[a].entitled < want + 1e-3);
		assert_true(apps[a].received == apps[a].running * 1000.);
	}
}

static void lag_begins_anew_after_doing_nothing(void **state)
{
	struct nnb__policy_job *first, *second;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_NONE, 1);
	first = ready(0, LOW, NEVER, 0);
	second = ready(1, LOW, NEVER, 0);
	assert_ptr_equal(done(first, 1000), second);
	assert_true(apps[1].lag == 500 && apps[1].max_lag == 500);
	assert_null(done(second, 5000)); /* alone, the app's lag does not change */
	assert_true(apps[1].max_lag == 500);
	first = ready(0, LOW, NEVER, 6000);
	ready(1, LOW, NEVER, 7000);
	assert_true(apps[1].lag == 0 && apps[0].lag == 0);
	nnb__policy_account(&policy, 7100);
	assert_true(apps[1].lag == 50 && apps[0].lag == -50);
	assert_true(apps[1].max_lag == 500 && apps[1].received == 0 && apps[1].entitled == 550);
}

/* App 1 executes, and comes back when it has the answer: it does not wait for a quantum each time. */
static void an_app_that_comes_back_has_what_it_was_owed(void **state)
{
	struct nnb__policy_job *hog, *tiny;
	double kept = 0;
	uint64_t now = 0;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	hog = ready(0, LOW, NEVER, 0);
	for (int i = 0; i < 10; i++) { /* each but the first waits for as long as the one before it ran */
		n_jobs = 1;
		tiny = ready(1, LOW, NEVER, now);
		now += i ? 20000 : 2 * QUANTUM;
		assert_false(yields(hog, now - 20));
		assert_true(yields(hog, now += 2));
		assert_ptr_equal(nnb__policy_leave(&policy, 0, true, now), tiny);
		assert_ptr_equal(done(tiny, now += 20002), hog);
		kept = apps[1].claim;
		assert_true(kept >= QUANTUM - 10002. && kept <= QUANTUM - 9998.);
		now += 5 * MS; /* an app gains nothing while it has no job */
	}
	ready(1, LOW, NEVER, now);
	assert_true(apps[1].lag == 0 && apps[1].claim == kept);
}

/* The claim has a limit; without it, apps that come back could keep the lane from others for long. */
static void an_app_that_comes_back_is_owed_two_quanta_at_most(void **state)
{
	struct nnb__policy_job *hog, *tiny;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	hog = ready(0, LOW, NEVER, 0);
	tiny = ready(1, LOW, NEVER, 0);
	assert_ptr_equal(nnb__policy_leave(&policy, 0, true, 10 * MS), tiny);
	assert_true(apps[1].claim == (double)(5 * MS));
	assert_ptr_equal(done(tiny, 10 * MS), hog);
	assert_true(apps[1].claim == (double)KEPT);
	tiny = ready(1, LOW, NEVER, 10 * MS);
	assert_true(yields(hog, 10 * MS));
	nnb__policy_cancel(&policy, tiny, 30 * MS); /* an app that gives up does not, either */
	assert_true(apps[1].claim == (double)KEPT);
}

/*
 * When no app has had a job for a while, all are even. Not before that, because a pause of one app would then
 * cost others their claims.
 */
static void no_app_is_owed_anything_once_all_have_paused_for_long(void **state)
{
	struct nnb__policy_job *first, *second;
	double owed;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	first = ready(0, LOW, NEVER, 0);
	second = ready(1, LOW, NEVER, 0);
	ready(2, LOW, NEVER, 0);
	nnb__policy_cancel(&policy, &jobs[2], 30000); /* the app with the claim goes first, the last one does not */
	assert_ptr_equal(done(first, 30000), second);
	assert_true(apps[2].claim > 9999 && apps[1].claim > 9999);
	owed = apps[2].claim;
	assert_null(done(second, 40000));
	assert_true(nnb__policy_wants_time(&policy, false)); /* otherwise the policy would not know how long
	                                                      * they pause */
	first = ready(0, LOW, NEVER, 40000 + KEPT - 1);
	assert_true(nnb__policy_wants_time(&policy, true));
	assert_null(done(first, 40000 + KEPT));
	first = ready(2, LOW, NEVER, 40000 + 2 * KEPT - 1);
	assert_true(apps[2].claim == owed);
	assert_null(done(first, 40000 + 2 * KEPT));
	first = ready(0, LOW, NEVER, 40000 + 3 * KEPT);
	assert_false(nnb__policy_wants_time(&policy, true));
	ready(1, LOW, NEVER, 40000 + 3 * KEPT);
	ready(2, LOW, NEVER, 40000 + 3 * KEPT);
	assert_true(apps[0].claim == 0 && apps[1].claim == 0 && apps[2].claim == 0);
	assert_false(yields(first, 40000 + 3 * KEPT + 10));
}

/*
 * One app executes back to back, without a pause in which claims would end: the policy must not read the
 * clock for ever.
 */
static void no_app_is_owed_anything_once_one_has_been_alone_for_very_long(void **state)
{
	struct nnb__policy_job *first, *second;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	first = ready(0, LOW, NEVER, 0);
	second = ready(1, LOW, NEVER, 0);
	assert_ptr_equal(done(first, 30000), second);
	assert_null(done(second, 40000));
	for (uint64_t now = 40000; now < 40000 + ALONE; now += KEPT / 2) {
		n_jobs = 1;
		assert_true(nnb__policy_wants_time(&policy, false));
		assert_null(done(ready(0, LOW, NEVER, now), now + KEPT / 4));
		assert_true(apps[1].claim > 9999);
	}
	first = ready(2, LOW, NEVER, 40000 + ALONE); /* another one, which has not been alone for long */
	assert_true(nnb__policy_wants_time(&policy, true));
	assert_null(done(first, 40000 + ALONE));
	first = ready(0, LOW, NEVER, 40000 + ALONE);
	assert_true(nnb__policy_wants_time(&policy, true));
	assert_null(done(first, 40000 + ALONE));
	for (uint64_t now = 40000 + ALONE; now < 40000 + 2 * ALONE; now += KEPT / 2) {
		n_jobs = 1;
		assert_true(nnb__policy_wants_time(&policy, false));
		assert_null(done(ready(0, LOW, NEVER, now), now + KEPT / 4));
	}
	first = ready(0, LOW, NEVER, 40000 + 2 * ALONE);
	assert_false(nnb__policy_wants_time(&policy, true));
	ready(1, LOW, NEVER, 40000 + 2 * ALONE);
	assert_true(apps[0].claim == 0 && apps[1].claim == 0);
	assert_false(yields(first, 40000 + 2 * ALONE + 10));
}

/*
 * The same for an app that always has a job; but an app that received less than the other, while it had jobs,
 * keeps its claim.
 */
static void an_app_that_is_alone_with_a_lag_is_owed_it(void **state)
{
	struct nnb__policy_job *first, *second, *third;

	(void)state;
	for (int lags = 0; lags < 2; lags++) {
		begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 2);
		apps[1].claim = lags ? 0 : 100000; /* a claim from before, without a lag */
		first = ready(1, LOW, NEVER, 0);
		second = ready(1, LOW, NEVER, 0);
		third = ready(0, LOW, NEVER, 0);
		if (lags) {
			assert_ptr_equal(done(first, 30000), third);
			assert_null(done(second, 30000));
			first = third;
			second = ready(0, LOW, NEVER, 30000);
		} else {
			nnb__policy_cancel(&policy, third, 30000);
		}
		for (uint64_t now = 30000; now <= 30000 + ALONE; now += KEPT / 2) {
			assert_true(nnb__policy_wants_time(&policy, true));
			assert_null(done(first, now));
			n_jobs = (size_t)(first - jobs);
			first = second;
			second = ready(!lags, LOW, NEVER, now);
		}
		assert_int_equal(nnb__policy_wants_time(&policy, true), lags);
		assert_true(apps[1].claim == 0 && (!lags || apps[0].claim == 30000));
	}
}

/* ---- an app that pauses in another app's pauses ---- */

struct pauser {
	const char *name;
	uint64_t on, off;      /* the victim executes for @on, and comes again @off after its answer */
	uint64_t pause;        /* the attacker's, between two executions of 1 ms */
	double share, wait_ns; /* the victim's while it has jobs: its share at least, its mean wait at most */
};

/*
 * While both have no job the lane is idle, so if claims ended then, an attacker's pauses would take them
 * away. Of three parts of the time the first victim waits for one, runs for one and is away for one.
 */
static const struct pauser pausers[] = {
	{ "an attacker that never pauses takes no claim away", 20000, 20000, 0, .3, 35000 },
	{ "an attacker that pauses in its victim's pauses takes no claim away", 20000, 20000, 25000, .3, 35000 },
	{ "an attacker that pauses for longer takes no claim away", 20000, 200000, 300000, .07, 35000 },
	{ "an attacker that pauses for a millisecond leaves its victim the lane meanwhile", 20000, 20000, 1100000, .3,
	  35000 },
	{ "a victim that is away for longer than a claim is kept has it still", 20000, 1200000, 0, .012, 35000 },
	{ "a claim that ends in a pause of a millisecond costs its victim no more than that", 20000, 1200000, 1250000,
	  .005, 1000000 },
};

static void no_pause_takes_a_claim_away(void **state)
{
	enum { FIRST = 9, STEP = 10000 }; /* the first executions wait until the claim is as large as a quantum */
	static struct sim_schedule s;
	static struct sim_result r;
	const struct pauser *t = *state;
	double ran = 0, waited = 0, share;
	int n = 0;

	s = (struct sim_schedule){
		.kind = NNB_POLICY_FAIR, .preempt = NNB_PREEMPT_SAVE, .lanes = 1, .apps = 2, .jobs = SIM_JOBS
	};
	for (int i = 0; i < SIM_JOBS; i++)
		s.job[i] = (struct sim_job){ .app = i % 2,
			                     .after = i < 2 ? -1 : i - 2,
			                     .delay_ns = i % 2   ? t->off
			                                 : i < 2 ? 0
			                                         : t->pause,
			                     .steps = (uint32_t)((i % 2 ? t->on : MS) / STEP),
			                     .step_ns = STEP };
	if (!sim_run(&s, &r))
		fail_msg("%s", r.wrong);
	for (int i = FIRST; i < SIM_JOBS; i += 2) {
		n++;
		ran += (double)r.job[i].ran;
		waited += (double)(r.job[i].over - r.job[i].came - r.job[i].ran);
	}
	share = ran / (double)(r.job[SIM_JOBS - 1].over - r.job[FIRST].came);
	print_message("%s: %.3f of the lane, %.0f ns of waiting\n", t->name, share, waited / n);
	assert_true(share >= t->share);
	assert_true(waited <= t->wait_ns * n);
}

/* App 0 has been ahead for an hour without harm to others: app 1 cannot make it pay for that. */
static void no_app_starves_for_an_old_lead(void **state)
{
	struct nnb__policy_job *hog, *tiny;
	uint64_t now = 0;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	hog = ready(0, LOW, NEVER, 0);
	for (int i = 0; i < 20000; i++) { /* each waits for a long step, and takes almost no time */
		n_jobs = 1;
		tiny = ready(1, LOW, NEVER, now);
		now += 10 * MS;
		assert_true(yields(hog, now));
		assert_ptr_equal(nnb__policy_leave(&policy, 0, true, now), tiny);
		assert_ptr_equal(done(tiny, ++now), hog);
	}
	assert_true(apps[0].lag < -1e10);
	tiny = ready(1, LOW, NEVER, now);
	now += 10 * MS;
	assert_ptr_equal(nnb__policy_leave(&policy, 0, true, now), tiny);
	for (int ms = 0; !yields(tiny, now); ms++, now += MS)
		assert_true(ms < 20);
}

/* An execution that waited for a very long step is not owed all of that time when its turn comes. */
static void a_claim_ends_at_a_second(void **state)
{
	struct nnb__policy_job *j;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_NONE, 1);
	j = ready(0, LOW, NEVER, 0);
	ready(1, LOW, NEVER, 0);
	ready(1, LOW, NEVER, 0);
	done(j, 10000 * MS);
	assert_true(apps[1].lag == 5e9 && apps[1].claim == 1e9);
	ready(2, LOW, NEVER, 10000 * MS);
	nnb__policy_account(&policy, 11000 * MS);
	assert_true(apps[1].claim == 5e8 && apps[2].claim == 5e8);
}

/* ---- predicted waits ---- */

static struct nnb__policy_job *takes(struct nnb__policy_job *j, uint64_t floor)
{
	j->floor_ns = floor;
	return j;
}

static uint64_t wait_of(int app, uint64_t now)
{
	struct nnb__policy_job *j = job(app, MEDIUM, NEVER);

	return nnb__policy_wait(&policy, j, now);
}

static void a_free_lane_is_not_waited_for(void **state)
{
	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_NONE, 2);
	takes(ready(0, LOW, NEVER, 0), 1000);
	assert_true(wait_of(1, 0) == 0);
}

static void the_last_job_waits_for_all_before_it(void **state)
{
	struct nnb__policy_job *j;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_NONE, 1);
	j = job(0, LOW, NEVER);
	assert_true(nnb__policy_ready(&policy, takes(j, 1000), 5));
	assert_true(wait_of(0, 105) == 900);
	assert_true(wait_of(0, 2000) == 0); /* the job takes longer than the floor */
	takes(ready(0, MEDIUM, NEVER, 105), 300);
	takes(ready(0, LOW, NEVER, 105), 40); /* this job goes after the first */
	takes(ready(0, HIGH, NEVER, 105), 7);
	assert_true(wait_of(0, 105) == 900 + 300 + 7);
	assert_true(wait_of(1, 105) == 900); /* jobs of other apps may wait longer */
}

static void the_last_before_it_may_run_beside_it(void **state)
{
	(void)state;
	begin(NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 2);
	takes(ready(0, LOW, NEVER, 0), 0);
	takes(ready(0, LOW, NEVER, 0), 0);
	takes(ready(0, LOW, NEVER, 9), 1000);
	assert_true(wait_of(0, 9) == 0);
	takes(ready(1, LOW, NEVER, 9), 600);
	assert_true(wait_of(0, 9) == 300);
}

static void what_may_be_made_to_leave_is_not_waited_for(void **state)
{
	struct nnb__policy_job *j;

	(void)state;
	begin(NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	j = takes(ready(0, LOW, NEVER, 1), 1000);
	assert_true(wait_of(1, 1) == 0);
	takes(ready(0, HIGH, NEVER, 1), 500);
	assert_true(wait_of(0, 1) == 500);
	assert_non_null(nnb__policy_leave(&policy, j->lane, true, 900));
	assert_true(nnb__policy_wait(&policy, job(0, LOW, NEVER), 900) == 0); /* how long that one still takes
	                                                                       * is unknown */
}

/* ---- small worlds ---- */

#ifndef SEEDS
enum { SEEDS = 20000, TRIES = 1500 };
#endif

static uint64_t chance(uint64_t *seed, uint64_t n)
{
	return (xorshift_star_next(seed) >> 11) % n;
}

static uint64_t job_run_ns(const struct sim_job *j)
{
	uint64_t ns = 0;

	for (uint32_t k = 0; k < j->steps; k++)
		ns += j->uneven && j->step_ns >> k % 3 ? j->step_ns >> k % 3 : j->step_ns;
	return ns;
}

/* Jobs that arrive by themselves, in groups, or after another job's end, with or without a pause. */
static void make_job(struct sim_schedule *s, uint32_t i, uint64_t scale, uint64_t *seed)
{
	struct sim_job *j = &s->job[i];

	j->app = (uint32_t)chance(seed, s->apps);
	j->after = i && chance(seed, 3) ? (int32_t)chance(seed, i) : -1;
	j->delay_ns = chance(seed, 3) ? chance(seed, scale * 10) : scale * chance(seed, 10) * chance(seed, 2);
	j->steps = 1 + (uint32_t)chance(seed, chance(seed, 4) ? 5 : 30);
	j->step_ns = chance(seed, 4) ? 1 + chance(seed, scale) : scale;
	j->uneven = j->step_ns > 4 && chance(seed, 2);
	j->priority = (uint32_t)chance(seed, 3);
	j->deadline_ns = chance(seed, 2) ? 1 + chance(seed, scale * 50) : 0;
	j->patience_ns = chance(seed, 8) ? 0 : 1 + chance(seed, scale * 20);
	j->stays = !chance(seed, 12);
	j->floor_ns = chance(seed, 3) ? chance(seed, job_run_ns(j)) : job_run_ns(j);
}

static void make_schedule(struct sim_schedule *s, uint64_t seed)
{
	uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1, scale;
	uint64_t size = chance(&state, 20);

	memset(s, 0, offsetof(struct sim_schedule, job));
	s->kind = chance(&state, 2) ? NNB_POLICY_FAIR : (enum nnb_policy)chance(&state, NNB_POLICY_NATIVE);
	s->preempt = (enum nnb_preempt)chance(&state, 3);
	s->lanes = 1 + (uint32_t)chance(&state, 4);
	s->apps = 1 + (uint32_t)chance(&state, size ? 6 : SIM_APPS);
	s->jobs = 2 + (uint32_t)chance(&state, size == 0 ? SIM_JOBS - 2 : size < 5 ? 24 : 8);
	s->ties = chance(&state, 2) ? 0 : 1 + (uint32_t)chance(&state, 5);
	scale = UINT64_C(1000) << chance(&state, 14);
	for (uint32_t i = 0; i < s->jobs; i++)
		make_job(s, i, scale, &state);
	s->absences = chance(&state, 2);
}

/* Judge the whole run; policy_sim judges each decision. */
static void judge(const struct sim_schedule *s, struct sim_result *r)
{
	double bound = sim_bound(s, r);
	double hunger = bound * (r->crowd > s->lanes ? (double)r->crowd / s->lanes : 1);

	if (r->wrong[0] || s->kind != NNB_POLICY_FAIR || s->lanes > 2)
		return;
	if (r->max_lag_ns > bound + 1)
		snprintf(r->wrong, sizeof(r->wrong), "lag %.0f, over %.0f", r->max_lag_ns, bound);
	if (r->max_claim_ns > bound + 1)
		snprintf(r->wrong, sizeof(r->wrong), "claim %.0f, over %.0f", r->max_claim_ns, bound);
	if ((double)r->hunger_ns > hunger + 2)
		snprintf(r->wrong, sizeof(r->wrong), "an app starved for %llu, over %.0f",
		         (unsigned long long)r->hunger_ns, hunger);
}

static void play(uint64_t seed, struct sim_result *sum)
{
	static struct sim_schedule s;
	struct sim_result r, again;

	make_schedule(&s, seed);
	sim_run(&s, &r);
	judge(&s, &r);
	if (!r.wrong[0] && seed % 16 == 0) {
		sim_run(&s, &again);
		if (again.digest != r.digest)
			strcpy(r.wrong, "it decides otherwise the second time");
	}
	if (r.wrong[0])
		fail_msg("seed %llu: policy %d, preempt %d, %u lanes, %u apps, %u jobs: %s", (unsigned long long)seed,
		         (int)s.kind, (int)s.preempt, s.lanes, s.apps, s.jobs, r.wrong);
	sum->events += r.events;
	sum->dispatches += r.dispatches;
	sum->yields += r.yields;
	sum->recalls += r.recalls;
}

/* When to stop; 0: after a fixed number of tries. */
static time_t until(unsigned parts)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");

	return soak && atoi(soak) > 0 ? time(NULL) + atoi(soak) / parts : 0;
}

static void every_decision_is_right_in_any_world(void **state)
{
	time_t stop = until(2);
	struct sim_result sum = { .events = 0 };
	uint64_t seed = 0;

	(void)state;
	do
		for (unsigned i = 0; i < 100; i++)
			play(seed++, &sum);
	while (stop ? time(NULL) < stop : seed < SEEDS);
	assert_true(sum.dispatches > seed && sum.yields > seed / 10 &&
	            sum.recalls > seed / 10); /* otherwise the worlds tried nothing */
	print_message("%llu worlds, %llu decisions, %llu times room was made, %llu lanes recalled\n",
	              (unsigned long long)seed, (unsigned long long)sum.events, (unsigned long long)sum.yields,
	              (unsigned long long)sum.recalls);
}

/* ---- the search for the worst world ---- */

static const struct hunt {
	const char *name;
	uint32_t lanes, apps;
	uint64_t step_ns;
	enum nnb_preempt preempt;
	bool natural; /* few apps: no lag exceeds two steps and two milliseconds */
} hunts[] = {
	{ "two apps", 1, 2, 10 * MS, NNB_PREEMPT_SAVE, true },
	{ "two apps, short steps", 1, 2, 200000, NNB_PREEMPT_SAVE, true },
	{ "three apps", 1, 3, MS, NNB_PREEMPT_SAVE, true },
	{ "four apps", 1, 4, 10 * MS, NNB_PREEMPT_SAVE, true },
	{ "four apps, starting over", 1, 4, 3 * MS, NNB_PREEMPT_RESTART, true },
	{ "four apps, no preemption", 1, 4, 3 * MS, NNB_PREEMPT_NONE, true },
	{ "eight apps", 1, 8, MS, NNB_PREEMPT_SAVE, false },
	{ "two lanes, two apps", 2, 2, 10 * MS, NNB_PREEMPT_SAVE, true },
	{ "two lanes, four apps", 2, 4, 10 * MS, NNB_PREEMPT_SAVE, false },
};

static void change(struct sim_schedule *s, uint64_t step, uint64_t *seed)
{
	uint32_t i = (uint32_t)chance(seed, s->jobs);
	struct sim_job *j = &s->job[i];

	switch (chance(seed, 7)) {
	case 0:
		j->app = (uint32_t)chance(seed, s->apps);
		break;
	case 1:
		j->after = i && chance(seed, 2) ? (int32_t)chance(seed, i) : -1;
		break;
	case 2:
		j->delay_ns = chance(seed, 3) ? chance(seed, step * 8) : step * chance(seed, 12) * chance(seed, 2);
		break;
	case 3:
		j->steps = 1 + (uint32_t)chance(seed, chance(seed, 2) ? 3 : 30);
		break;
	case 4:
		j->step_ns = chance(seed, 2) ? step : 1 + chance(seed, step);
		break;
	case 5:
		j->delay_ns += chance(seed, step / 8);
		break;
	default:
		j->patience_ns = chance(seed, 2) ? 0 : 1 + chance(seed, step * 8);
	}
}

/* Search uphill: a change stays if the worst lag, relative to its bound, is no smaller. */
static void climb(const struct hunt *h, uint64_t seed, uint64_t tries, double *worst)
{
	static struct sim_schedule s, changed;
	struct sim_result r;
	double height = 0, x;

	s = (struct sim_schedule){ .kind = NNB_POLICY_FAIR,
		                   .preempt = h->preempt,
		                   .lanes = h->lanes,
		                   .apps = h->apps,
		                   .jobs = 4 * h->apps,
		                   .ties = (uint32_t)seed % 4 };
	for (uint32_t i = 0; i < s.jobs; i++)
		s.job[i] = (struct sim_job){ .app = i % h->apps, .after = -1, .steps = 1, .step_ns = h->step_ns };
	seed = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (uint64_t k = 0; k < tries; k++) {
		changed = s;
		for (uint64_t n = 1 + chance(&seed, 3); n; n--)
			change(&changed, h->step_ns, &seed);
		sim_run(&changed, &r);
		judge(&changed, &r);
		x = r.max_lag_ns / (double)(2 * r.stretch_ns + 2 * QUANTUM + KEPT);
		if (!r.wrong[0] && h->natural && x > 1)
			snprintf(r.wrong, sizeof(r.wrong), "lag %.0f, over two steps of %llu and 2 ms", r.max_lag_ns,
			         (unsigned long long)r.stretch_ns);
		if (r.wrong[0])
			fail_msg("%s: %s", h->name, r.wrong);
		if (x >= height || !chance(&seed, 500)) {
			s = changed;
			height = x;
		}
		*worst = x > *worst ? x : *worst;
	}
}

static void no_lag_exceeds_its_bound_in_a_search(void **state)
{
	time_t stop = until(2 * N_OF(hunts));
	const struct hunt *h = *state;
	double worst = 0;
	uint64_t seed = 0;

	do
		climb(h, seed++, TRIES, &worst);
	while (stop && time(NULL) < stop);
	assert_true(worst > .2); /* otherwise the search tried too little */
	print_message("%s: the worst is %.3f of two steps and 2 ms\n", h->name, worst);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest by_hand[] = {
		cmocka_unit_test(fifo_goes_by_arrival),
		cmocka_unit_test(priority_goes_by_priority_then_arrival),
		cmocka_unit_test(edf_goes_by_deadline_then_arrival),
		cmocka_unit_test(fair_goes_by_what_apps_lack_then_priority_then_deadline_then_arrival),
		cmocka_unit_test(a_free_lane_is_taken_at_once_and_needs_no_time),
		cmocka_unit_test(without_preemption_no_job_is_asked_to_yield),
		cmocka_unit_test(an_app_s_better_job_is_made_room_for_at_once),
		cmocka_unit_test(another_app_s_better_job_waits_its_turn_where_apps_are_equal),
		cmocka_unit_test(a_lane_that_is_not_used_yet_goes_to_the_job_that_would_get_it_now),
		cmocka_unit_test(a_lane_that_is_not_used_yet_goes_to_the_app_with_the_larger_claim),
		cmocka_unit_test(a_lane_that_is_not_used_yet_stays_where_apps_are_equal),
		cmocka_unit_test(what_would_start_over_does_so_three_times_at_most),
		cmocka_unit_test(what_is_kept_makes_room_as_often_as_need_be),
		cmocka_unit_test(of_several_lanes_the_worst_are_left_one_for_each_that_waits),
		cmocka_unit_test(no_job_yields_for_a_cancelled_one),
		cmocka_unit_test(lag_begins_anew_after_doing_nothing),
		cmocka_unit_test(an_app_that_comes_back_has_what_it_was_owed),
		cmocka_unit_test(an_app_that_comes_back_is_owed_two_quanta_at_most),
		cmocka_unit_test(no_app_is_owed_anything_once_all_have_paused_for_long),
		cmocka_unit_test(no_app_is_owed_anything_once_one_has_been_alone_for_very_long),
		cmocka_unit_test(an_app_that_is_alone_with_a_lag_is_owed_it),
		cmocka_unit_test(no_app_starves_for_an_old_lead),
		cmocka_unit_test(a_claim_ends_at_a_second),
		cmocka_unit_test(a_free_lane_is_not_waited_for),
		cmocka_unit_test(the_last_job_waits_for_all_before_it),
		cmocka_unit_test(the_last_before_it_may_run_beside_it),
		cmocka_unit_test(what_may_be_made_to_leave_is_not_waited_for),
		cmocka_unit_test(every_decision_is_right_in_any_world),
	};
	struct CMUnitTest tests[N_OF(by_hand) + N_OF(entitled) + N_OF(hunts) + N_OF(pausers)];
	size_t n = N_OF(by_hand);
	struct sim_result sum = { .events = 0 };

	if (argc == 2) {
		play(strtoull(argv[1], NULL, 0), &sum);
		return 0;
	}
	memcpy(tests, by_hand, sizeof(by_hand));
	for (size_t i = 0; i < N_OF(entitled); i++)
		tests[n++] = (struct CMUnitTest){ entitled[i].name, shares_are_as_by_hand, NULL, NULL,
			                          (void *)&entitled[i] };
	for (size_t i = 0; i < N_OF(hunts); i++)
		tests[n++] = (struct CMUnitTest){ hunts[i].name, no_lag_exceeds_its_bound_in_a_search, NULL, NULL,
			                          (void *)&hunts[i] };
	for (size_t i = 0; i < N_OF(pausers); i++)
		tests[n++] = (struct CMUnitTest){ pausers[i].name, no_pause_takes_a_claim_away, NULL, NULL,
			                          (void *)&pausers[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_lanes.c -- lanes under real threads: a lane has one execution at a time, no thread hangs, no lane is
 * lost.
 *
 * Also for the thread sanitizer, because the data on a lane is plain memory. A test that does not end shows a
 * lost wake-up. NNB_SOAK_SECONDS sets the length.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "base/sys.h"
#include "sched/lanes.h"
#include "unit/abort_unless.h"

enum { THREADS = 8, APPS = 3, LANES_MOST = 7 };

static uint64_t chance(uint64_t *seed, uint64_t n)
{
	return (xorshift_star_next(seed) >> 11) % n;
}

static void dawdle(uint64_t *seed, uint64_t most)
{
	for (volatile uint64_t n = chance(seed, most); n; n--)
		;
}

static void all_lanes_are_there(struct nnb__lanes *l)
{
	struct nnb__seat seats[NNB__LANES_MAX], more;
	struct nnb__lane_app app = { .executions = 0 };
	uint32_t n = l->policy.lanes;

	for (uint32_t i = 0; i < n; i++) {
		nnb__seat_init(&seats[i], l, &app, 1, NULL);
		assert_int_equal(nnb__lanes_take(&seats[i], nnb__now()), 0);
	}
	nnb__seat_init(&more, l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&more, nnb__now()), -ETIMEDOUT);
	for (uint32_t i = 0; i < n; i++)
		nnb__lanes_give(&seats[i]);
	assert_null(l->policy.apps);
	assert_int_equal(l->policy.waiting, 0);
}

/* ---- lanes that are lost ---- */

/* Take away each lane. The number of those that were. */
static uint32_t take_away_all(struct nnb__lanes *l, enum nnb__stall why)
{
	struct nnb__lane_holders now;
	uint32_t taken = 0;

	nnb__lanes_holders(l, &now);
	assert_int_equal(now.lanes, l->policy.lanes);
	for (uint32_t i = 0; i < now.lanes; i++)
		taken += nnb__lanes_take_away(l, &now.of[i], why);
	return taken;
}

/* ---- single threads and pairs ---- */

struct waiter {
	struct nnb__seat seat;
	atomic_bool cancelled;
	uint64_t until;
	int got;
	pthread_t thread;
};

static void *waits(void *arg)
{
	struct waiter *w = arg;

	w->got = nnb__lanes_take(&w->seat, w->until);
	return NULL;
}

static void waiter_init(struct waiter *w, struct nnb__lanes *l, struct nnb__lane_app *app, uint32_t priority,
                        uint64_t until)
{
	atomic_init(&w->cancelled, false);
	w->until = until;
	nnb__seat_init(&w->seat, l, app, priority, &w->cancelled);
}

static void waiter_begin(struct waiter *w)
{
	assert_int_equal(pthread_create(&w->thread, NULL, waits, w), 0);
}

static void waiter_start(struct waiter *w, struct nnb__lanes *l, struct nnb__lane_app *app, uint32_t priority,
                         uint64_t until)
{
	waiter_init(w, l, app, priority, until);
	waiter_begin(w);
}

static uint32_t waiting(struct nnb__lanes *l)
{
	uint32_t n;

	pthread_mutex_lock(&l->lock);
	n = l->policy.waiting;
	pthread_mutex_unlock(&l->lock);
	return n;
}

static void await_waiting(struct nnb__lanes *l, uint32_t n)
{
	while (waiting(l) != n)
		nap();
}

static void lanes_make(struct nnb__lanes *l, enum nnb_policy kind, enum nnb_preempt preempt, uint32_t n)
{
	assert_int_equal(nnb__lanes_init(l, kind, preempt, NNB_DEADLINES_ABORT, n), 0);
}

static void a_cancelled_thread_returns_and_no_other(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__lanes l;
	struct nnb__seat holder;
	struct waiter w[5];

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	nnb__seat_init(&holder, &l, &other, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	for (uint32_t i = 0; i < N_OF(w); i++) {
		waiter_start(&w[i], &l, &app, 1, NNB__NEVER);
		await_waiting(&l, i + 1);
	}
	for (size_t i = 0; i < N_OF(w); i += 2) {
		atomic_store_explicit(&w[i].cancelled, true, memory_order_relaxed);
		nnb__lanes_look(&l, &app);
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].got, -ECANCELED);
	}
	assert_int_equal(waiting(&l), 2);
	nnb__lanes_give(&holder);
	for (size_t i = 1; i < N_OF(w); i += 2) {
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].got, 0);
		nnb__lanes_give(&w[i].seat);
	}
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* The critical moment lies between the thread's check for a cancellation and its sleep. */
static void no_thread_sleeps_through_its_cancellation(void **state)
{
	struct nnb__lane_app app = { .executions = 0 };
	struct nnb__lanes l;
	struct nnb__seat holder;
	struct waiter w;
	uint64_t seed = 7;

	(void)state;
	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	for (int i = 0; i < 3000; i++) {
		waiter_start(&w, &l, &app, 1, NNB__NEVER);
		while (!waiting(&l))
			sched_yield(); /* the waiting thread may need this cpu */
		dawdle(&seed, 300);
		atomic_store_explicit(&w.cancelled, true, memory_order_relaxed);
		nnb__lanes_look(&l, &app);
		pthread_join(w.thread, NULL);
		assert_int_equal(w.got, -ECANCELED);
	}
	nnb__lanes_give(&holder);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* An execution of an app holds the lane; a trial run of the same app waits, and then another app's execution. */
static void a_trial_run_is_charged_to_its_app_and_not_counted(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__lanes l;
	struct nnb__seat holder;
	struct waiter trial, victim;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	waiter_init(&trial, &l, &app, 1, NNB__NEVER);
	trial.seat.trial = true;
	waiter_begin(&trial);
	await_waiting(&l, 1);
	waiter_start(&victim, &l, &other, 1, NNB__NEVER);
	await_waiting(&l, 2);
	nap();
	nnb__lanes_give(&holder); /* the app is over its share, so its trial run waits on */
	pthread_join(victim.thread, NULL);
	assert_int_equal(app.shares.waiting, 1);
	nnb__lanes_give(&victim.seat);
	pthread_join(trial.thread, NULL);
	assert_int_equal(app.shares.running, 1);
	nnb__lanes_give(&trial.seat);
	assert_int_equal(app.executions, 1);
	assert_int_equal(other.executions, 1);
	assert_int_equal(atomic_load(&app.longest_wait_ns), 0);
	assert_true(atomic_load(&other.longest_wait_ns) > 0);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

static void a_thread_cancelled_before_does_not_wait(void **state)
{
	struct nnb__lane_app app = { .executions = 0 };
	struct nnb__lanes l;
	struct nnb__seat holder;
	struct waiter w;

	(void)state;
	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	atomic_init(&w.cancelled, true);
	nnb__seat_init(&w.seat, &l, &app, 1, &w.cancelled);
	assert_int_equal(nnb__lanes_take(&w.seat, NNB__NEVER), -ECANCELED);
	nnb__lanes_give(&holder);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

static void a_thread_that_waits_too_long_returns_without_a_lane(void **state)
{
	struct nnb__lane_app app = { .executions = 0 };
	struct nnb_app_counts counts = { .app = 0 };
	struct nnb__lanes l;
	struct nnb__seat holder, seat;
	uint64_t until;

	(void)state;
	lanes_make(&l, NNB_POLICY_EDF, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	nnb__seat_init(&seat, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	until = nnb__now() + 3 * MS;
	assert_int_equal(nnb__lanes_take(&seat, until), -ETIMEDOUT);
	assert_true(nnb__now() >= until);
	assert_int_equal(atomic_load(&l.wanted), 0); /* lanes may be kept again */
	nnb__lanes_counts(&l, &app, &counts);
	assert_true(counts.longest_wait_ns > 0 && counts.received_ns > 0);
	nnb__lanes_give(&holder);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

static void the_better_job_gets_the_lane_and_the_other_goes_on_after_it(void **state)
{
	struct nnb__lane_app app = { .executions = 0 };
	struct nnb__lanes l;
	struct nnb__seat low;
	struct waiter high;
	bool left;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	nnb__seat_init(&low, &l, &app, 0, NULL);
	assert_int_equal(nnb__lanes_take(&low, NNB__NEVER), 0);
	assert_true(atomic_load(&low.yield_at) == NNB__NEVER);
	waiter_start(&high, &l, &app, 2, NNB__NEVER);
	while (atomic_load(&low.yield_at) == NNB__NEVER)
		nap();
	assert_true(nnb__lanes_yields(&low, nnb__now()));
	assert_int_equal(nnb__lanes_yield(&low, nnb__now(), &left), -ETIMEDOUT);
	assert_true(left);
	pthread_join(high.thread, NULL);
	assert_int_equal(high.got, 0);
	nnb__lanes_give(&high.seat);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

static uint64_t ready_since(const struct nnb__trace *t)
{
	return atomic_load_explicit(&t->ready_ns, memory_order_relaxed);
}

/* For exec_state: an execution that has left its lane and waits for its answer is on no lane. */
static void an_ended_execution_is_not_reported_as_running(void **state)
{
	struct nnb__trace trace = { 0 };

	(void)state;
	nnb__trace_begin(&trace, 7);
	nnb__trace_dispatched(&trace, 0);
	assert_int_equal(atomic_load(&trace.phase), NBT_phase_running);
	nnb__trace_ended(&trace, NNB_STATUS_NONE, 1, 0);
	assert_int_equal(atomic_load(&trace.phase), NBT_phase_ended);
	nnb__trace_begin(&trace, 8);
	assert_int_equal(atomic_load(&trace.phase), NBT_phase_decode);
}

#ifndef NBT_OFF /* without tracing, executions get no numbers */

static struct nbt_sched_enqueue last_enqueue;
static struct nbt_exec_end last_end;

static void keep_enqueue(const void *event)
{
	memcpy(&last_enqueue, event, sizeof(last_enqueue));
}

static void keep_end(const void *event)
{
	memcpy(&last_end, event, sizeof(last_end));
}

/* Enable sched_enqueue and exec_end, or no event. */
static void listen_to_lanes(bool on)
{
	static const int yes = 1, no = 0;

	nbt__seam.emit[NBT_EVENT_sched_enqueue] = keep_enqueue;
	nbt__seam.emit[NBT_EVENT_exec_end] = keep_end;
	nbt__seam.enabled[NBT_EVENT_sched_enqueue] = nbt__seam.enabled[NBT_EVENT_exec_end] = on ? &yes : &no;
	last_enqueue.nth_ready = last_end.nth_over = last_end.n_ready = 0;
}

static void become_ready(struct nnb__trace *t, uint64_t exec, struct nnb__trace_numbers *numbers)
{
	nnb__trace_begin(t, exec);
	if (numbers)
		nnb__trace_numbered(t, numbers);
	nnb__trace_enqueued(t, 0, 0, 0);
}

/*
 * docs/events.md: nth_ready counts the executions that became ready, nth_over those of them that ended; n_ready
 * is the latest nth_ready at an end.
 */
static void executions_are_numbered_as_they_come_and_as_they_end(void **state)
{
	struct nnb__trace_numbers numbers = { 0 };
	struct nnb__trace a = { 0 }, b = { 0 }, refused = { 0 }, unheard = { 0 };

	(void)state;
	listen_to_lanes(true);
	become_ready(&a, 7, &numbers);
	assert_int_equal(last_enqueue.nth_ready, 1);
	become_ready(&b, 8, &numbers);
	assert_int_equal(last_enqueue.nth_ready, 2);
	nnb__trace_ended(&b, NNB_STATUS_NONE, 1, 0); /* the last one to come, and the first to end */
	assert_int_equal(last_end.nth_over, 1);
	assert_int_equal(last_end.n_ready, 2);
	nnb__trace_begin(&refused, 9); /* never ready: no number */
	nnb__trace_ended(&refused, NNB_STATUS_GENERAL_FAILURE, 0, 0);
	assert_int_equal(last_end.nth_over, 0);
	assert_int_equal(last_end.n_ready, 0);
	listen_to_lanes(false);
	become_ready(&unheard, 10, &numbers); /* not recorded: takes no number, so that none is missing */
	nnb__trace_ended(&unheard, NNB_STATUS_NONE, 1, 0);
	listen_to_lanes(true);
	nnb__trace_ended(&a, NNB_STATUS_NONE, 1, 0);
	assert_int_equal(last_end.nth_over, 2);
	assert_int_equal(last_end.n_ready, 2);
	become_ready(&a, 11, &numbers); /* the same struct for the next execution */
	assert_int_equal(last_enqueue.nth_ready, 3);
	nnb__trace_ended(&a, NNB_STATUS_NONE, 1, 0);
	assert_int_equal(last_end.nth_over, 3);
	assert_int_equal(last_end.n_ready, 3);
	listen_to_lanes(false);
}

enum { NUMBERERS = 4, NUMBERED = 20000 };

static _Atomic unsigned short_numbers;

static void *number_many(void *arg)
{
	struct nnb__trace_numbers *numbers = arg;
	struct nnb__trace t = { 0 };

	for (int i = 0; i < NUMBERED; i++) {
		nnb__trace_begin(&t, 7);
		nnb__trace_numbered(&t, numbers);
		nnb__trace_ended(&t, NNB_STATUS_NONE, 1, 0);
		if (t.n_ready < t.nth_over || t.n_ready < t.nth_ready)
			atomic_fetch_add(&short_numbers, 1);
	}
	return NULL;
}

static void ignore_event(const void *event)
{
	(void)event;
}

/*
 * At the n-th end, at least n executions had become ready, for any order of threads. So a service never lacks a
 * number.
 */
static void no_number_is_given_twice_or_skipped(void **state)
{
	struct nnb__trace_numbers numbers = { 0 };
	pthread_t threads[NUMBERERS];

	(void)state;
	listen_to_lanes(true);
	nbt__seam.emit[NBT_EVENT_exec_end] = ignore_event;
	for (int i = 0; i < NUMBERERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, number_many, &numbers), 0);
	for (int i = 0; i < NUMBERERS; i++)
		pthread_join(threads[i], NULL);
	listen_to_lanes(false);
	assert_int_equal(short_numbers, 0);
	assert_int_equal(numbers.ready, NUMBERERS * NUMBERED);
	assert_int_equal(numbers.over, NUMBERERS * NUMBERED);
}

#endif

/* For exec_state: any thread may ask while the execution waits. */
static void the_start_of_a_wait_is_known_only_during_it(void **state)
{
	struct nnb__trace low_trace = { .exec = 1 }, high_trace = { .exec = 2 };
	struct nnb__lane_app app = { .executions = 0 };
	uint64_t before = nnb__now(), stopped;
	struct nnb__lanes l;
	struct nnb__seat low;
	struct waiter high;
	bool left;

	(void)state;
	lanes_make(&l, NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, 1);
	nnb__seat_init(&low, &l, &app, 0, NULL);
	low.trace = &low_trace;
	assert_int_equal(nnb__lanes_take(&low, NNB__NEVER), 0);
	assert_true(ready_since(&low_trace) == 0); /* this execution did not wait */
	waiter_init(&high, &l, &app, 2, NNB__NEVER);
	high.seat.trace = &high_trace;
	waiter_begin(&high);
	while (!ready_since(&high_trace))
		nap();
	assert_in_range(ready_since(&high_trace), before, nnb__now());
	while (atomic_load(&low.yield_at) == NNB__NEVER)
		nap();
	stopped = nnb__now();
	assert_true(nnb__lanes_yields(&low, stopped));
	assert_int_equal(nnb__lanes_yield(&low, nnb__now(), &left), -ETIMEDOUT);
	assert_true(left);
	assert_true(ready_since(&low_trace) == 0); /* this execution has given up */
	pthread_join(high.thread, NULL);
	assert_true(ready_since(&high_trace) == 0);
	assert_int_equal(low_trace.preemptions, 1);
	nnb__lanes_give(&high.seat);
	nnb__lanes_fini(&l);
}

/* An announced execution counts as ready until it takes a lane, without a gap. */
static void an_announcement_returns_the_number_announced_before(void **state)
{
	struct nnb__lane_app app = { 0 };
	struct nnb__seat one, other, last;
	struct nnb__lanes l;

	(void)state;
	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&one, &l, &app, NNB_PRIORITY_MEDIUM, NULL);
	nnb__seat_init(&other, &l, &app, NNB_PRIORITY_MEDIUM, NULL);
	nnb__seat_init(&last, &l, &app, NNB_PRIORITY_MEDIUM, NULL);
	assert_int_equal(nnb__lanes_announce(&one), 0);
	assert_int_equal(nnb__lanes_announce(&other), 1);
	assert_int_equal(nnb__lanes_take(&one, NNB__NEVER), 0);
	assert_int_equal(nnb__lanes_announce(&last), 1); /* "one" has its lane, "other" has not taken any yet */
	assert_int_equal(nnb__lanes_take(&other, 1), -ETIMEDOUT);
	assert_int_equal(nnb__lanes_take(&last, 1), -ETIMEDOUT);
	nnb__lanes_give(&one);
	assert_int_equal(nnb__lanes_announce(&one), 0);
	assert_int_equal(nnb__lanes_take(&one, NNB__NEVER), 0);
	nnb__lanes_give(&one);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

static void *waits_again(void *arg)
{
	struct waiter *w = arg;
	bool left = false;

	w->got = nnb__lanes_yield(&w->seat, w->until, &left);
	abort_unless(left);
	return NULL;
}

#ifndef NBT_OFF
static struct nbt_sched_preempt last_preempt;

static void keep_preempt(const void *event)
{
	memcpy(&last_preempt, event, sizeof(last_preempt));
}

/* Enable sched_preempt, or no event. */
static void listen_to_preemptions(bool on)
{
	static const int yes = 1, no = 0;

	nbt__seam.emit[NBT_EVENT_sched_preempt] = keep_preempt;
	nbt__seam.enabled[NBT_EVENT_sched_preempt] = on ? &yes : &no;
	last_preempt = (struct nbt_sched_preempt){ 0 };
}

/* The thread that takes the lane away emits that, when it does: and whether it was for a page or for a cpu. */
static void expect_loss(enum nnb__stall why, enum nbt_mode mode)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__trace traces[2] = { { 0 }, { 0 } };
	struct nnb__seat holder;
	struct nnb__lanes l;
	struct waiter w;

	listen_to_preemptions(true);
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	waiter_init(&w, &l, &other, 1, NNB__NEVER);
	nnb__trace_begin(&traces[0], 7);
	nnb__trace_begin(&traces[1], 8);
	holder.trace = &traces[0];
	w.seat.trace = &traces[1];
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	app.probation_until = why == NNB__STALL_PAGE ? 0 : NNB__NEVER;
	waiter_begin(&w);
	await_waiting(&l, 1);
	if (why == NNB__STALL_CPU) /* no event of a loss may come before that of the start */
		assert_int_equal(take_away_all(&l, why), 0);
	nnb__trace_dispatched(&traces[0], 0);
	atomic_store(&holder.next_op, 3);
	assert_int_equal(last_preempt.exec, 0);
	assert_int_equal(take_away_all(&l, why), 1);
	assert_int_equal(last_preempt.exec, 7);
	assert_int_equal(last_preempt.by, 8);
	assert_int_equal(last_preempt.at_op, 3);
	assert_int_equal(last_preempt.mode, mode);
	assert_int_equal(atomic_load(&traces[0].phase), NBT_phase_preempted);
	pthread_join(w.thread, NULL);
	nnb__lanes_give(&holder); /* lost: gives nothing back */
	nnb__lanes_give(&w.seat);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
	listen_to_preemptions(false);
}

static void a_loss_is_emitted_when_the_lane_is_taken_away(void **state)
{
	(void)state;
	expect_loss(NNB__STALL_PAGE, NBT_mode_stalled);
	expect_loss(NNB__STALL_PAGE_ONCE, NBT_mode_stalled);
	expect_loss(NNB__STALL_CPU, NBT_mode_no_cpu);
}

static struct nbt_sched_ready last_ready;

static void keep_ready(const void *event)
{
	memcpy(&last_ready, event, sizeof(last_ready));
}

/* The thread of the seat emits that, before it can have a lane; a session that begins later learns of the wait, too. */
static void that_it_is_ready_again_is_emitted_when_it_asks(void **state)
{
	static const int yes = 1, no = 0;
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__trace traces[2] = { { 0 }, { 0 } };
	struct waiter holder, w;
	struct nnb__lanes l;
	uint64_t from;

	(void)state;
	nbt__seam.emit[NBT_EVENT_sched_ready] = keep_ready;
	nbt__seam.enabled[NBT_EVENT_sched_ready] = &yes;
	last_ready = (struct nbt_sched_ready){ 0 };
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	waiter_init(&holder, &l, &app, 1, NNB__NEVER);
	waiter_init(&w, &l, &other, 1, NNB__NEVER);
	nnb__trace_begin(&traces[0], 7);
	nnb__trace_begin(&traces[1], 8);
	holder.seat.trace = &traces[0];
	w.seat.trace = &traces[1];
	assert_int_equal(nnb__lanes_take(&holder.seat, NNB__NEVER), 0);
	waiter_begin(&w);
	await_waiting(&l, 1);
	assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
	pthread_join(w.thread, NULL);
	assert_int_equal(last_ready.exec, 0);
	assert_int_equal(atomic_load(&traces[0].ready_ns), 0); /* stalled: it waits for no lane */
	from = nnb__now();
	assert_int_equal(pthread_create(&holder.thread, NULL, waits_again, &holder), 0);
	await_waiting(&l, 1);
	assert_true(atomic_load(&traces[0].ready_ns) >= from);
	nnb__lanes_give(&w.seat);
	pthread_join(holder.thread, NULL);
	assert_int_equal(holder.got, 0);
	assert_int_equal(last_ready.exec, 7);
	assert_int_equal(atomic_load(&traces[0].ready_ns), 0);
	/* once more, with a lane that is free when it asks: it never waits */
	last_ready.exec = 0;
	waiter_begin(&w);
	await_waiting(&l, 1);
	assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
	pthread_join(w.thread, NULL);
	nnb__lanes_give(&w.seat);
	waits_again(&holder);
	assert_int_equal(last_ready.exec, 7);
	assert_int_equal(atomic_load(&traces[0].ready_ns), 0);
	nnb__lanes_give(&holder.seat);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
	nbt__seam.enabled[NBT_EVENT_sched_ready] = &no;
}
#endif

static void an_execution_whose_thread_waits_for_a_page_loses_its_lane(void **state)
{
	static const struct {
		enum nnb_policy kind;
		enum nnb_preempt preempt;
	} rules[] = { { NNB_POLICY_FIFO, NNB_PREEMPT_NONE },
		      { NNB_POLICY_FAIR, NNB_PREEMPT_SAVE },
		      { NNB_POLICY_EDF, NNB_PREEMPT_RESTART } };

	(void)state;
	for (size_t i = 0; i < N_OF(rules); i++) {
		struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
		struct waiter holder, w;
		struct nnb__lanes l;

		lanes_make(&l, rules[i].kind, rules[i].preempt, 1);
		waiter_init(&holder, &l, &app, 1, NNB__NEVER);
		assert_int_equal(nnb__lanes_take(&holder.seat, NNB__NEVER), 0);
		assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 0); /* no seat waits */
		waiter_start(&w, &l, &other, 1, NNB__NEVER);
		await_waiting(&l, 1);
		assert_false(nnb__lanes_lost(&holder.seat));
		assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
		pthread_join(w.thread, NULL);
		assert_int_equal(w.got, 0);
		assert_true(nnb__lanes_lost(&holder.seat));
		assert_int_equal(atomic_load(&holder.seat.yield_at), 0);
		assert_true(nnb__lanes_yields(&holder.seat, nnb__now()));
		assert_int_equal(app.shares.preemptions, 1);
		/* ready again, behind the one that has the lane */
		assert_int_equal(pthread_create(&holder.thread, NULL, waits_again, &holder), 0);
		await_waiting(&l, 1);
		nnb__lanes_give(&w.seat);
		pthread_join(holder.thread, NULL);
		assert_int_equal(holder.got, 0);
		assert_false(nnb__lanes_lost(&holder.seat));
		waiter_start(&w, &l, &other, 1, NNB__NEVER);
		await_waiting(&l, 1);
		assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
		pthread_join(w.thread, NULL);
		nnb__lanes_give(&w.seat);
		holder.until = nnb__now(); /* a lane is free: no wait */
		waits_again(&holder);
		assert_int_equal(holder.got, 0);
		nnb__lanes_give(&holder.seat);
		all_lanes_are_there(&l);
		nnb__lanes_fini(&l);
	}
}

/* After the copy, the seat may have begun another execution, or the lane may have gone to another seat. */
static void a_lane_is_taken_away_only_from_the_execution_that_was_seen(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__lane_holders before, now;
	struct nnb__seat holder;
	struct waiter w, next;
	struct nnb__lanes l;

	(void)state;
	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 2);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	nnb__lanes_holders(&l, &now);
	assert_int_equal(now.lanes, 2);
	assert_int_equal(now.waiting, 0);
	assert_ptr_equal(now.of[0].seat, &holder);
	assert_int_equal(now.of[0].tid, gettid());
	assert_false(now.of[0].losses || now.of[0].on_probation || now.of[0].is_absent);
	assert_null(now.of[1].seat);
	nnb__lanes_give(&holder);
	nnb__lanes_fini(&l);

	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	nnb__lanes_holders(&l, &before);
	nnb__lanes_give(&holder);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	waiter_start(&w, &l, &other, 1, NNB__NEVER);
	await_waiting(&l, 1);
	assert_false(nnb__lanes_take_away(&l, &before.of[0], NNB__STALL_PAGE));
	nnb__lanes_holders(&l, &now);
	assert_int_equal(now.waiting, 1);
	assert_true(nnb__lanes_take_away(&l, &now.of[0], NNB__STALL_PAGE));
	pthread_join(w.thread, NULL);
	waiter_start(&next, &l, &other, 1, NNB__NEVER);
	await_waiting(&l, 1);
	assert_false(nnb__lanes_take_away(&l, &now.of[0], NNB__STALL_PAGE));
	assert_true(l.policy.running[0] == &w.seat.job);
	nnb__lanes_give(&w.seat);
	pthread_join(next.thread, NULL);
	nnb__lanes_give(&next.seat);
	nnb__lanes_give(&holder); /* lost: gives nothing back */
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* All executions on a kept lane arrived when the seat took it; their numbers differ. */
static void a_kept_lane_is_not_taken_away_from_the_next_execution(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__lane_holders before, now;
	struct nnb__seat keeper;
	struct nnb__lanes l;
	struct waiter w;

	(void)state;
	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&keeper, &l, &app, 1, NULL);
	keeper.keeps = true;
	assert_int_equal(nnb__lanes_take(&keeper, NNB__NEVER), 0);
	nnb__lanes_holders(&l, &before);
	nnb__lanes_give(&keeper);
	assert_int_equal(atomic_load(&keeper.hold), NNB__HOLD_KEPT);
	assert_int_equal(nnb__lanes_take(&keeper, NNB__NEVER), 0);
	waiter_start(&w, &l, &other, 1, NNB__NEVER);
	await_waiting(&l, 1);
	assert_false(nnb__lanes_take_away(&l, &before.of[0], NNB__STALL_PAGE));
	nnb__lanes_holders(&l, &now);
	assert_int_equal(now.of[0].arrival, before.of[0].arrival);
	assert_true(nnb__lanes_take_away(&l, &now.of[0], NNB__STALL_PAGE));
	pthread_join(w.thread, NULL);
	nnb__lanes_give(&w.seat);
	nnb__lanes_give(&keeper); /* lost: gives nothing back */
	nnb__lanes_release(&keeper);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* One look at its thread is enough then, and so is that its thread has no cpu. */
static void an_app_that_stalls_twice_is_on_probation(void **state)
{
	static const enum nnb__stall whys[] = { NNB__STALL_CPU, NNB__STALL_PAGE_ONCE };
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__lane_holders now;
	struct nnb__seat holder;
	struct nnb__lanes l;
	struct waiter w;

	(void)state;
	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
		waiter_start(&w, &l, &other, 1, NNB__NEVER);
		await_waiting(&l, 1);
		assert_int_equal(take_away_all(&l, NNB__STALL_CPU), 0);
		assert_int_equal(take_away_all(&l, NNB__STALL_PAGE_ONCE), 0);
		assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
		pthread_join(w.thread, NULL);
		nnb__lanes_give(&holder);
		nnb__lanes_give(&w.seat);
	}
	assert_true(app.probation_until > app.stalled_at);
	app.probation_until = NNB__NEVER;
	for (size_t i = 0; i < N_OF(whys); i++) {
		uint64_t stalled_at = app.stalled_at;

		assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
		waiter_start(&w, &l, &other, 1, NNB__NEVER);
		await_waiting(&l, 1);
		nnb__lanes_holders(&l, &now);
		assert_true(now.of[0].on_probation);
		assert_int_equal(take_away_all(&l, whys[i]), 1);
		assert_int_equal(app.stalled_at == stalled_at, whys[i] == NNB__STALL_CPU);
		pthread_join(w.thread, NULL);
		nnb__lanes_give(&holder);
		nnb__lanes_give(&w.seat);
	}
	app.probation_until = nnb__now(); /* it is over */
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	waiter_start(&w, &l, &other, 1, NNB__NEVER);
	await_waiting(&l, 1);
	nnb__lanes_holders(&l, &now);
	assert_false(now.of[0].on_probation);
	for (size_t i = 0; i < N_OF(whys); i++)
		assert_int_equal(take_away_all(&l, whys[i]), 0);
	nnb__lanes_give(&holder);
	pthread_join(w.thread, NULL);
	nnb__lanes_give(&w.seat);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* It is not lost: the seat waits on, and gets the lane once the other one is done. */
static void a_lane_whose_thread_has_not_come_is_passed_on(void **state)
{
	struct nnb__lane_holders now;
	struct nnb__seat absent, seat;
	struct nnb__lanes l;
	struct waiter w;

	(void)state;
	for (int late = 0; late < 2; late++) { /* the seat has passed lanes on for a second: not again */
		struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };

		lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
		nnb__seat_init(&absent, &l, &app, 1, NULL);
		nnb__seat_init(&seat, &l, &other, 1, NULL);
		assert_int_equal(nnb__lanes_take(&seat, NNB__NEVER), 0);
		absent.passes_since = late;
		app.probation_until = other.probation_until = NNB__NEVER;
		pthread_mutex_lock(&l.lock); /* its thread never runs */
		assert_false(nnb__policy_ready(&l.policy, &absent.job, nnb__now()));
		pthread_mutex_unlock(&l.lock);
		nnb__lanes_holders(&l, &now);
		assert_false(now.of[0].is_absent);
		assert_false(nnb__lanes_take_away(&l, &now.of[0], NNB__STALL_ABSENT)); /* its thread has come */
		nnb__lanes_give(&seat);
		nnb__lanes_holders(&l, &now);
		assert_true(now.of[0].seat == &absent && now.of[0].is_absent);
		assert_false(nnb__lanes_take_away(&l, &now.of[0], NNB__STALL_ABSENT)); /* no seat waits */
		waiter_start(&w, &l, &other, 1, NNB__NEVER);
		await_waiting(&l, 1);
		assert_int_equal(nnb__lanes_take_away(&l, &now.of[0], NNB__STALL_ABSENT), !late);
		assert_int_equal(waiting(&l), 1);
		if (!late)
			assert_true(absent.job.begun); /* it may have begun: how much of it is left is unknown */
		if (late) {
			nnb__lanes_give(&absent);
			pthread_join(w.thread, NULL);
			nnb__lanes_give(&w.seat);
		} else {
			pthread_join(w.thread, NULL);
			nnb__lanes_give(&w.seat);
			assert_true(l.policy.running[0] == &absent.job);
			nnb__lanes_give(&absent);
		}
		assert_int_equal(app.shares.preemptions, 0);
		all_lanes_are_there(&l);
		nnb__lanes_fini(&l);
	}
}

/* The one whose thread is there runs meanwhile. The other one has used nothing, and waits on. */
static void a_lane_whose_thread_has_not_come_goes_to_a_seat_that_needs_it_more(void **state)
{
	static const struct {
		double claim;
		bool named, goes;
	} rows[] = { { 0, false, false }, { 1e6, true, false }, { 1e6, false, true } };

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
		struct nnb__seat absent, seat;
		struct nnb__lanes l;

		lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
		nnb__seat_init(&absent, &l, &app, 1, NULL);
		nnb__seat_init(&seat, &l, &other, 1, NULL);
		assert_int_equal(nnb__lanes_take(&seat, NNB__NEVER), 0);
		pthread_mutex_lock(&l.lock); /* its thread never runs */
		assert_false(nnb__policy_ready(&l.policy, &absent.job, nnb__now()));
		pthread_mutex_unlock(&l.lock);
		nnb__lanes_give(&seat);
		assert_true(l.policy.running[0] == &absent.job);
		app.shares.claim = 0;
		other.shares.claim = rows[i].claim;
		absent.named = rows[i].named;
		if (rows[i].goes) {
			assert_int_equal(nnb__lanes_take(&seat, nnb__now() + 10000 * MS), 0);
			assert_true(l.policy.running[0] == &seat.job);
			assert_int_equal(absent.job.lane, NNB__NO_LANE);
			assert_int_equal(atomic_load(&absent.turn) & 1, 0); /* its thread does not find a lane */
			assert_int_equal(waiting(&l), 1);
			nnb__lanes_give(&seat);
			assert_true(l.policy.running[0] == &absent.job);
			assert_int_equal(atomic_load(&absent.turn) & 1, 1);
		} else { /* where both need it as much, or an execution left it for that one, it stays */
			assert_int_equal(nnb__lanes_take(&seat, 1), -ETIMEDOUT);
		}
		nnb__lanes_give(&absent);
		assert_int_equal(app.shares.preemptions, 0);
		all_lanes_are_there(&l);
		nnb__lanes_fini(&l);
	}
}

/* In exact numbers. A third of a lane is no binary fraction: of two computations of a need, one could be the larger. */
static void a_lane_whose_thread_has_not_come_stays_where_apps_are_equal(void **state)
{
	struct nnb__lane_app apps[4] = { { .executions = 0 } };
	struct nnb__seat seats[N_OF(apps)], *first = &seats[0], *absent = &seats[1], *waits = &seats[2];
	struct nnb__lanes l;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	for (size_t i = 0; i < N_OF(apps); i++)
		nnb__seat_init(&seats[i], &l, &apps[i], 1, NULL);
	assert_int_equal(nnb__lanes_take(first, NNB__NEVER), 0);
	pthread_mutex_lock(&l.lock); /* their threads never run */
	assert_false(nnb__policy_ready(&l.policy, &absent->job, nnb__now()));
	pthread_mutex_unlock(&l.lock);
	nnb__lanes_give(first);
	assert_true(l.policy.running[0] == &absent->job);
	pthread_mutex_lock(&l.lock);
	assert_false(nnb__policy_ready(&l.policy, &waits->job, nnb__now()));
	apps[1].shares.claim = apps[2].shares.claim = 1000;
	l.policy.accounted = nnb__now() + 10000 * MS; /* so no time passes for the claims */
	pthread_mutex_unlock(&l.lock);
	assert_int_equal(nnb__lanes_take(&seats[3], 1), -ETIMEDOUT);
	assert_true(l.policy.running[0] == &absent->job);
	assert_int_equal(atomic_load(&absent->turn), 1); /* as it was */
	assert_int_equal(waits->job.lane, NNB__NO_LANE);
	nnb__lanes_give(absent);
	nnb__lanes_give(waits);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* So the time that its execution takes is not waited for, unless a lane was left for that one. */
static void a_lane_that_may_be_recalled_is_not_waited_for(void **state)
{
	struct nnb__lane_app apps[3] = { { .executions = 0 } };
	struct nnb__seat seats[N_OF(apps)], *absent = &seats[1], *comes = &seats[2];
	struct nnb__lanes l;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_NONE, 1);
	for (size_t i = 0; i < N_OF(apps); i++)
		nnb__seat_init(&seats[i], &l, &apps[i], 1, NULL);
	absent->job.floor_ns = 10000 * MS;
	assert_int_equal(nnb__lanes_take(&seats[0], NNB__NEVER), 0);
	pthread_mutex_lock(&l.lock); /* its thread never runs */
	assert_false(nnb__policy_ready(&l.policy, &absent->job, nnb__now()));
	pthread_mutex_unlock(&l.lock);
	nnb__lanes_give(&seats[0]);
	assert_int_equal(nnb__lanes_wait(comes, nnb__now()), 0);
	absent->named = true;
	assert_true(nnb__lanes_wait(comes, nnb__now()) > 0);
	absent->named = false;
	apps[2].shares.claim = 1e6;
	assert_int_equal(nnb__lanes_take(comes, nnb__now() + 10000 * MS), 0);
	nnb__lanes_give(comes);
	nnb__lanes_give(absent);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

static void *slice_of_first_execution(void *arg)
{
	nnb__lanes_slice(NULL, false);
	*(uint64_t *)arg = slice_of(0);
	return NULL;
}

/* So a thread that wakes runs before its threads. Work that is not long counts for nothing, and has the usual slice. */
static void an_app_that_has_more_than_half_of_the_lanes_has_long_slices(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	uint64_t usual = slice_of(0), now = 1000 * MS, its_slice;
	struct nnb__lanes l;
	pthread_t made;

	(void)state;
	if (!usual)
		skip();
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 2);
	nnb__lanes_worked(&l, &app, now, 0);
	for (int i = 0; i < 100; i++)
		nnb__lanes_worked(&l, &app, now += 10 * MS, 10 * MS); /* one of two lanes */
	nnb__lanes_slice(&app, true);
	assert_true(slice_of(0) == usual);
	for (int i = 0; i < 100; i++)
		nnb__lanes_worked(&l, &app, now += 10 * MS, 20 * MS);
	nnb__lanes_slice(&app, false);
	assert_true(slice_of(0) == usual);
	nnb__lanes_slice(&app, true);
	assert_true(slice_of(0) > usual);
	assert_int_equal(pthread_create(&made, NULL, slice_of_first_execution, &its_slice), 0);
	pthread_join(made, NULL);
	assert_true(its_slice == usual); /* and not that of the thread which made it */
	nnb__lanes_slice(&other, true);
	assert_true(slice_of(0) == usual);
	nnb__lanes_slice(&app, true);
	assert_true(slice_of(0) > usual);
	nnb__lanes_worked(&l, &app, now + 200 * MS, 0); /* a pause ends it, however much the app has had */
	nnb__lanes_slice(&app, true);
	assert_true(slice_of(0) == usual);
	l.kind = NNB_POLICY_NATIVE; /* an execution has no lane */
	for (int i = 0; i < 100; i++)
		nnb__lanes_worked(&l, &other, now += 10 * MS, 20 * MS);
	nnb__lanes_slice(&other, true);
	assert_true(slice_of(0) == usual);
	nnb__lanes_fini(&l);
}

/* It passes lanes on for a second of each wait: the first wait of an execution, and that for a lane that it lost. */
static void each_wait_has_its_own_second_of_passing_on(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__seat seat;
	struct nnb__lanes l;
	struct waiter w;
	bool left;

	(void)state;
	lanes_make(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 1);
	nnb__seat_init(&seat, &l, &app, 1, NULL);
	seat.passes_since = 1;
	assert_int_equal(nnb__lanes_take(&seat, NNB__NEVER), 0);
	assert_int_equal(seat.passes_since, 0);
	waiter_start(&w, &l, &other, 1, NNB__NEVER);
	await_waiting(&l, 1);
	assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
	pthread_join(w.thread, NULL);
	nnb__lanes_give(&w.seat);
	seat.passes_since = 1;
	assert_int_equal(nnb__lanes_yield(&seat, NNB__NEVER, &left), 0);
	assert_int_equal(seat.passes_since, 0);
	nnb__lanes_give(&seat);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

static struct {
	unsigned n;
	const struct nnb__seat *seat;
	bool probation;
} hooked; /* under the lanes' lock */

static void keep_wait(void *arg, const struct nnb__seat *seat, bool probation)
{
	struct nnb__lanes *l = arg;

	pthread_mutex_lock(&l->lock);
	abort_unless(l->policy.waiting || seat->job.lane != NNB__NO_LANE); /* it may have a lane by now */
	hooked.n++;
	hooked.seat = seat;
	hooked.probation = probation;
	pthread_mutex_unlock(&l->lock);
}

/* Once it is in the queue, and without the lock. */
static void a_seat_that_begins_to_wait_calls_the_hook(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__seat low;
	struct nnb__lanes l;
	struct waiter high;
	bool left;

	(void)state;
	hooked.n = 0;
	lanes_make(&l, NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, 1);
	l.hook = (struct nnb__lanes_hook){ .seat_waits = keep_wait, .arg = &l };
	nnb__seat_init(&low, &l, &app, 0, NULL);
	waiter_init(&high, &l, &other, 2, NNB__NEVER);
	assert_int_equal(nnb__lanes_take(&low, NNB__NEVER), 0);
	assert_int_equal(nnb__lanes_take(&high.seat, nnb__now()), -ETIMEDOUT);
	assert_true(hooked.n == 1 && hooked.seat == &high.seat && !hooked.probation);
	app.probation_until = NNB__NEVER;
	assert_int_equal(nnb__lanes_take(&high.seat, nnb__now()), -ETIMEDOUT);
	assert_true(hooked.n == 2 && hooked.seat == &high.seat && hooked.probation);
	app.probation_until = 0;
	waiter_begin(&high);
	await_waiting(&l, 1);
	assert_int_equal(nnb__lanes_yield(&low, nnb__now(), &left), -ETIMEDOUT);
	pthread_join(high.thread, NULL);
	assert_int_equal(hooked.n, 4);
	nnb__lanes_give(&high.seat);

	assert_int_equal(nnb__lanes_take(&low, NNB__NEVER), 0);
	waiter_begin(&high);
	await_waiting(&l, 1);
	assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
	pthread_join(high.thread, NULL);
	assert_int_equal(nnb__lanes_yield(&low, nnb__now(), &left), -ETIMEDOUT);
	assert_true(hooked.n == 6 && hooked.seat == &low);
	nnb__lanes_give(&high.seat);
	assert_int_equal(nnb__lanes_take(&low, NNB__NEVER), 0); /* without a wait */
	assert_int_equal(hooked.n, 6);
	nnb__lanes_give(&low);
	all_lanes_are_there(&l); /* one more wait */
	assert_int_equal(hooked.n, 7);
	nnb__lanes_fini(&l);
}

/* An execution that ends gives back the lane that it has, and no other. */
static void an_end_and_a_loss_exclude_each_other(void **state)
{
	struct nnb__lane_app app = { .executions = 0 }, other = { .executions = 0 };
	struct nnb__seat holder;
	struct nnb__lanes l;
	struct waiter w;
	uint64_t lost_at = 0;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	for (int keeps = 0; keeps < 2; keeps++)
		for (int with_end = 0; with_end < 2; with_end++) {
			nnb__seat_init(&holder, &l, &app, 1, NULL);
			holder.keeps = keeps;
			assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
			waiter_start(&w, &l, &other, 1, NNB__NEVER);
			await_waiting(&l, 1);
			assert_true(nnb__lanes_end(&holder, &lost_at));
			assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 0);
			nnb__lanes_give(&holder);
			pthread_join(w.thread, NULL);
			nnb__lanes_give(&w.seat);

			assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
			waiter_start(&w, &l, &other, 1, NNB__NEVER);
			await_waiting(&l, 1);
			assert_int_equal(take_away_all(&l, NNB__STALL_PAGE), 1);
			pthread_join(w.thread, NULL);
			if (with_end) {
				assert_false(nnb__lanes_end(&holder, &lost_at));
				assert_in_range(lost_at, 1, nnb__now());
			} else {
				nnb__lanes_give(&holder);
			}
			assert_true(l.policy.running[0] == &w.seat.job);
			nnb__lanes_give(&w.seat);
			nnb__lanes_release(&holder);
			all_lanes_are_there(&l);
		}
	nnb__lanes_fini(&l);
}

static void an_execution_stays_when_the_preempting_one_is_cancelled(void **state)
{
	struct nnb__lane_app app = { .executions = 0 };
	struct nnb__lanes l;
	struct nnb__seat low;
	struct waiter high;
	bool left;

	(void)state;
	lanes_make(&l, NNB_POLICY_PRIORITY, NNB_PREEMPT_RESTART, 1);
	nnb__seat_init(&low, &l, &app, 0, NULL);
	assert_int_equal(nnb__lanes_take(&low, NNB__NEVER), 0);
	waiter_start(&high, &l, &app, 2, NNB__NEVER);
	await_waiting(&l, 1);
	assert_true(nnb__lanes_yields(&low, nnb__now()));
	atomic_store(&high.cancelled, true);
	nnb__lanes_look(&l, &app);
	pthread_join(high.thread, NULL);
	assert_int_equal(nnb__lanes_yield(&low, NNB__NEVER, &left), 0);
	assert_false(left);
	assert_int_equal(low.job.restarts, 0);
	assert_true(atomic_load(&low.yield_at) == NNB__NEVER);
	nnb__lanes_give(&low);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* ---- lanes that are kept between two executions ---- */

static uint64_t executions_of(struct nnb__lanes *l, struct nnb__lane_app *app)
{
	struct nnb_app_counts counts;

	nnb__lanes_counts(l, app, &counts);
	return counts.executions;
}

static void a_lane_is_kept_until_it_is_wanted(void **state)
{
	struct nnb__lane_app apps[2] = { 0 };
	struct nnb__seat keeper, other;
	struct nnb__lanes l;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	nnb__seat_init(&keeper, &l, &apps[0], 1, NULL);
	nnb__seat_init(&other, &l, &apps[1], 1, NULL);
	keeper.keeps = true;
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(nnb__lanes_take(&keeper, NNB__NEVER), 0);
		assert_int_equal(executions_of(&l, &apps[0]), i);
		nnb__lanes_give(&keeper);
		assert_int_equal(atomic_load(&keeper.hold), 1);
		assert_int_equal(nnb__lanes_wait(&keeper, nnb__now()), 0);
	}
	assert_int_equal(nnb__lanes_wait(&other, nnb__now()), 0);
	assert_int_equal(nnb__lanes_take(&other, nnb__now()), 0); /* without a wait */
	assert_int_equal(atomic_load(&keeper.hold), 0);
	assert_int_equal(nnb__lanes_take(&keeper, nnb__now()), -ETIMEDOUT);
	nnb__lanes_give(&other);
	assert_int_equal(executions_of(&l, &apps[0]), 4);
	assert_int_equal(executions_of(&l, &apps[1]), 1);
	assert_int_equal(nnb__lanes_take(&keeper, nnb__now()), 0);
	nnb__lanes_give(&keeper);
	nnb__lanes_release(&keeper);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* An execution that waited while the other one ran gets the lane: then the lane is not kept. */
static void no_lane_is_kept_while_an_execution_waits(void **state)
{
	struct nnb__lane_app apps[2] = { 0 };
	struct nnb__seat keeper;
	struct nnb__lanes l;
	struct waiter w;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1);
	nnb__seat_init(&keeper, &l, &apps[0], 1, NULL);
	keeper.keeps = true;
	assert_int_equal(nnb__lanes_take(&keeper, NNB__NEVER), 0);
	waiter_start(&w, &l, &apps[1], 1, NNB__NEVER);
	await_waiting(&l, 1);
	nnb__lanes_give(&keeper);
	assert_int_equal(atomic_load(&keeper.hold), 0);
	pthread_join(w.thread, NULL);
	assert_int_equal(w.got, 0);
	nnb__lanes_give(&w.seat);
	nnb__lanes_release(&keeper);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* The policy must know how long all apps pause, and it does not know when a kept lane became idle. */
static void no_lane_is_kept_while_an_app_is_owed_lane_time(void **state)
{
	struct nnb__lane_app apps[3] = { 0 };
	struct nnb__seat keeper, busy;
	struct nnb__lanes l;
	struct waiter w;

	(void)state;
	lanes_make(&l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 2);
	nnb__seat_init(&keeper, &l, &apps[0], 1, NULL);
	nnb__seat_init(&busy, &l, &apps[2], 1, NULL);
	keeper.keeps = busy.keeps = true;
	assert_int_equal(nnb__lanes_take(&busy, NNB__NEVER), 0);
	assert_int_equal(nnb__lanes_take(&keeper, NNB__NEVER), 0);
	waiter_start(&w, &l, &apps[1], 1, NNB__NEVER);
	await_waiting(&l, 1);
	nnb__lanes_give(&keeper);
	pthread_join(w.thread, NULL);
	nnb__lanes_give(&w.seat);
	assert_int_equal(nnb__lanes_take(&keeper, NNB__NEVER), 0);
	nnb__lanes_give(&keeper);
	assert_int_equal(atomic_load(&keeper.hold), 0);
	nnb__lanes_give(&busy); /* this app got its lane before any app was owed lane time */
	assert_int_equal(atomic_load(&busy.hold), 0);
	for (uint64_t end = nnb__now() + NNB__KEPT_NS; nnb__now() <= end;)
		nap();
	for (int i = 0; i < 2; i++) { /* the first round ends the pause */
		assert_int_equal(nnb__lanes_take(&keeper, NNB__NEVER), 0);
		nnb__lanes_give(&keeper);
		assert_int_equal(atomic_load(&keeper.hold), i);
	}
	nnb__lanes_release(&keeper);
	all_lanes_are_there(&l);
	nnb__lanes_fini(&l);
}

/* ---- everything at once ---- */

static const struct game {
	const char *name;
	enum nnb_policy kind;
	enum nnb_preempt preempt;
	uint32_t lanes;
} games[] = {
	{ "fair, one lane, kept", NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 1 },
	{ "fair, two lanes, kept", NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, 2 },
	{ "fair, four lanes, over", NNB_POLICY_FAIR, NNB_PREEMPT_RESTART, 4 },
	{ "fair, a lane too few", NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, LANES_MOST },
	{ "priority, two lanes, kept", NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, 2 },
	{ "edf, two lanes, over", NNB_POLICY_EDF, NNB_PREEMPT_RESTART, 2 },
	{ "fifo, two lanes", NNB_POLICY_FIFO, NNB_PREEMPT_NONE, 2 },
};

struct world {
	struct nnb__lanes lanes;
	struct nnb__lane_app apps[APPS];
	atomic_bool cancelled[THREADS], over;
	_Atomic uint32_t taken[LANES_MOST], gone;
	/* written by the execution on the lane, and plain, so that the sanitizer sees a second one */
	uint64_t used[LANES_MOST];
	uint64_t end;
	bool must_leave; /* an execution must have left a lane */
	_Atomic uint64_t ran, left, timed_out, were_cancelled;
};

struct player {
	struct world *w;
	unsigned n;
	pthread_t thread;
	uint64_t uses;
};

static int lane_enter(struct player *p, const struct nnb__seat *s)
{
	int lane = s->job.lane;

	abort_unless(lane >= 0 && lane < (int)p->w->lanes.policy.lanes);
	abort_unless(!atomic_exchange_explicit(&p->w->taken[lane], 1, memory_order_relaxed));
	p->w->used[lane]++;
	p->uses++;
	return lane;
}

static void lane_leave(struct player *p, int lane)
{
	p->w->used[lane]++;
	p->uses++;
	abort_unless(atomic_exchange_explicit(&p->w->taken[lane], 0, memory_order_relaxed) == 1);
}

/* Check that the execution came back without a lane for a valid reason. */
static void check_return(struct player *p, int r, uint64_t until)
{
	struct world *w = p->w;

	if (r == -ECANCELED) {
		abort_unless(atomic_load(&w->cancelled[p->n]));
		atomic_fetch_add(&w->were_cancelled, 1);
	} else {
		abort_unless(r == -ETIMEDOUT && nnb__now() >= until);
		atomic_fetch_add(&w->timed_out, 1);
	}
}

/* Run an execution of a few operations. */
static void run_execution(struct player *p, struct nnb__seat *s, uint64_t until, uint64_t *seed)
{
	int lane = lane_enter(p, s), r;
	bool left;

	for (uint64_t steps = chance(seed, 8); steps; steps--) {
		dawdle(seed, 3000);
		if (atomic_load_explicit(&s->yield_at, memory_order_relaxed) > nnb__now() ||
		    !nnb__lanes_yields(s, nnb__now()))
			continue;
		lane_leave(p, lane);
		r = nnb__lanes_yield(s, until, &left);
		atomic_fetch_add(&p->w->left, left);
		if (r) {
			check_return(p, r, until);
			return;
		}
		lane = lane_enter(p, s);
	}
	lane_leave(p, lane);
	nnb__lanes_give(s);
	atomic_fetch_add(&p->w->ran, 1);
}

/* On a busy machine it may take long until an execution is asked to leave a lane. */
static bool is_over(struct world *w)
{
	uint64_t now = nnb__now();

	return now >= w->end && (!w->must_leave || atomic_load(&w->left) || now >= w->end + 20000 * MS);
}

static void *plays(void *arg)
{
	struct player *p = arg;
	struct world *w = p->w;
	uint64_t seed = p->n + 1;

	while (!is_over(w)) {
		struct nnb__seat *s = malloc(sizeof(*s)); /* on the heap, so that the sanitizer sees a late access */
		uint64_t until = chance(&seed, 3) ? NNB__NEVER : nnb__now() + chance(&seed, 300000);
		int r;

		abort_unless(s);
		nnb__seat_init(s, &w->lanes, &w->apps[p->n % APPS], (uint32_t)chance(&seed, 3), &w->cancelled[p->n]);
		s->keeps = chance(&seed, 2);
		r = 0;
		for (uint64_t n = 1 + (s->keeps ? chance(&seed, 20) : 0); n && !r; n--) {
			s->job.deadline_ns = chance(&seed, 2) ? NNB__NEVER : nnb__now() + chance(&seed, MS);
			s->job.floor_ns = chance(&seed, 5000);
			if (!chance(&seed, 10))
				nnb__lanes_wait(s, nnb__now());
			r = nnb__lanes_take(s, until);
			if (r)
				check_return(p, r, until);
			else
				run_execution(p, s, until, &seed);
		}
		nnb__lanes_release(s);
		free(s);
		if (atomic_exchange(&w->cancelled[p->n], false))
			dawdle(&seed, 20000);
		dawdle(&seed, 2000);
	}
	atomic_fetch_add(&w->gone, 1);
	return NULL;
}

/* Cancels executions, and queries the state, until all players have ended. */
static void *disturbs(void *arg)
{
	struct world *w = arg;
	struct nnb_app_counts counts;
	uint64_t seed = 99;

	while (atomic_load(&w->gone) < THREADS) {
		unsigned n = (unsigned)chance(&seed, THREADS);

		atomic_store_explicit(&w->cancelled[n], true, memory_order_relaxed);
		nnb__lanes_look(&w->lanes, &w->apps[n % APPS]);
		nnb__lanes_counts(&w->lanes, &w->apps[n % APPS], &counts);
		dawdle(&seed, 200000);
	}
	return NULL;
}

static uint64_t length_ns(void)
{
	const char *s = getenv("NNB_SOAK_SECONDS");

	return s && atoi(s) > 0 ? (uint64_t)atoi(s) * 1000 * MS / N_OF(games) : 300 * MS;
}

static void no_lane_is_shared_or_lost_and_no_thread_hangs(void **state)
{
	const struct game *game = *state;
	struct world *w = calloc(1, sizeof(*w));
	struct player players[THREADS];
	pthread_t disturber;
	uint64_t uses = 0;

	assert_non_null(w);
	lanes_make(&w->lanes, game->kind, game->preempt, game->lanes);
	w->end = nnb__now() + length_ns();
	/* without preemption, or with a lane for nearly each execution, few have to leave a lane */
	w->must_leave = game->preempt != NNB_PREEMPT_NONE && game->lanes != LANES_MOST;
	assert_int_equal(pthread_create(&disturber, NULL, disturbs, w), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		players[i] = (struct player){ .w = w, .n = i };
		assert_int_equal(pthread_create(&players[i].thread, NULL, plays, &players[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(players[i].thread, NULL);
		uses += players[i].uses;
	}
	pthread_join(disturber, NULL);
	for (unsigned i = 0; i < LANES_MOST; i++)
		uses -= w->used[i];
	assert_int_equal(uses, 0);
	all_lanes_are_there(&w->lanes);
	assert_true(w->ran > 20);
	assert_true(w->left > 0 || !w->must_leave);
	print_message("%llu ran, room was made %llu times, %llu were late and %llu cancelled\n",
	              (unsigned long long)w->ran, (unsigned long long)w->left, (unsigned long long)w->timed_out,
	              (unsigned long long)w->were_cancelled);
	nnb__lanes_fini(&w->lanes);
	free(w);
}

int main(void)
{
	static const struct CMUnitTest alone[] = {
		cmocka_unit_test(a_cancelled_thread_returns_and_no_other),
		cmocka_unit_test(no_thread_sleeps_through_its_cancellation),
		cmocka_unit_test(a_thread_cancelled_before_does_not_wait),
		cmocka_unit_test(a_trial_run_is_charged_to_its_app_and_not_counted),
		cmocka_unit_test(a_thread_that_waits_too_long_returns_without_a_lane),
		cmocka_unit_test(the_better_job_gets_the_lane_and_the_other_goes_on_after_it),
		cmocka_unit_test(an_ended_execution_is_not_reported_as_running),
#ifndef NBT_OFF
		cmocka_unit_test(executions_are_numbered_as_they_come_and_as_they_end),
		cmocka_unit_test(no_number_is_given_twice_or_skipped),
		cmocka_unit_test(a_loss_is_emitted_when_the_lane_is_taken_away),
		cmocka_unit_test(that_it_is_ready_again_is_emitted_when_it_asks),
#endif
		cmocka_unit_test(the_start_of_a_wait_is_known_only_during_it),
		cmocka_unit_test(an_announcement_returns_the_number_announced_before),
		cmocka_unit_test(an_execution_whose_thread_waits_for_a_page_loses_its_lane),
		cmocka_unit_test(a_lane_is_taken_away_only_from_the_execution_that_was_seen),
		cmocka_unit_test(a_kept_lane_is_not_taken_away_from_the_next_execution),
		cmocka_unit_test(an_app_that_stalls_twice_is_on_probation),
		cmocka_unit_test(a_lane_whose_thread_has_not_come_goes_to_a_seat_that_needs_it_more),
		cmocka_unit_test(a_lane_whose_thread_has_not_come_stays_where_apps_are_equal),
		cmocka_unit_test(a_lane_that_may_be_recalled_is_not_waited_for),
		cmocka_unit_test(an_app_that_has_more_than_half_of_the_lanes_has_long_slices),
		cmocka_unit_test(a_lane_whose_thread_has_not_come_is_passed_on),
		cmocka_unit_test(each_wait_has_its_own_second_of_passing_on),
		cmocka_unit_test(a_seat_that_begins_to_wait_calls_the_hook),
		cmocka_unit_test(an_end_and_a_loss_exclude_each_other),
		cmocka_unit_test(an_execution_stays_when_the_preempting_one_is_cancelled),
		cmocka_unit_test(a_lane_is_kept_until_it_is_wanted),
		cmocka_unit_test(no_lane_is_kept_while_an_execution_waits),
		cmocka_unit_test(no_lane_is_kept_while_an_app_is_owed_lane_time),
	};
	struct CMUnitTest tests[N_OF(alone) + N_OF(games)];
	size_t n = N_OF(alone);

	memcpy(tests, alone, sizeof(alone));
	for (size_t i = 0; i < N_OF(games); i++)
		tests[n++] = (struct CMUnitTest){ games[i].name, no_lane_is_shared_or_lost_and_no_thread_hangs, NULL,
			                          NULL, (void *)&games[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

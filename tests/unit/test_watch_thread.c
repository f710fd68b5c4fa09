/*
 * test_watch_thread.c -- sched/stalls.c: whose lanes are taken away, when its thread looks, and when it sleeps. The
 * test decides what threads wait for; lanes, locks and futexes are real.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "base/sys.h"
#include "sched/stalls.h"
#include "unit/abort_unless.h"

#ifndef WATCHDOG_S
#define WATCHDOG_S 50 /* SIGALRM ends the program: a wake is lost */
#endif
enum { ROUNDS_MOST = 20 }; /* without a seat that waits: the thread sleeps by then */
#define ROUND_NS UINT64_C(2000000)

struct waiter {
	struct nnb__seat seat;
	struct nnb__lane_app app;
	pthread_t thread;
};

static struct nnb__lanes l;
static struct nnb__stalls stalls;
static struct nnb__lane_app app;
static struct nnb__seat holder;
static struct waiter w;

/* ---- what the thread does ---- */

static atomic_uint wait_is;           /* enum nnb__thread_wait: what all threads wait for */
static atomic_uint naps, short_naps;  /* of the thread between two rounds; a short one is of an eighth of the length */
static atomic_bool asleep;            /* the thread has found that no seat waits, and sleeps */
static atomic_uint turns_awaited;     /* seats that have begun to sleep until their turn */
static atomic_uint quiet, quiet_most; /* how often no seat was found to wait; begin a wait after that time */
static _Thread_local uint64_t last_now;
static void (*during_look)(void); /* called once, by the next look at a thread; NULL: nothing */

enum nnb__thread_wait __wrap_nnb__thread_waits(pid_t tid);
enum nnb__thread_wait __wrap_nnb__thread_waits(pid_t tid)
{
	void (*call)(void) = during_look;

	(void)tid;
	during_look = NULL;
	if (call)
		call();
	return (enum nnb__thread_wait)atomic_load(&wait_is);
}

uint64_t __real_nnb__now(void);
uint64_t __wrap_nnb__now(void);
uint64_t __wrap_nnb__now(void)
{
	return last_now = __real_nnb__now();
}

int __real_nnb__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline);
int __wrap_nnb__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline);
int __wrap_nnb__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline)
{
	int r;

	if (word != &stalls.sleeps) {
		turns_awaited++;
	} else if (expected) {
		asleep = true;
	} else {
		abort_unless(deadline >= last_now);
		naps++;
		short_naps += deadline - last_now <= ROUND_NS / 8;
	}
	r = __real_nnb__futex_wait(word, expected, bits, deadline);
	if (word == &stalls.sleeps)
		asleep = false;
	return r;
}

static void *waits(void *arg)
{
	struct waiter *waiter = arg;

	abort_unless(!nnb__lanes_take(&waiter->seat, NNB__NEVER));
	return NULL;
}

/* A seat waits, and has looked whether the thread sleeps. */
static void waiter_begin(void)
{
	unsigned before = atomic_load(&turns_awaited);

	abort_unless(!pthread_create(&w.thread, NULL, waits, &w));
	while (atomic_load(&turns_awaited) == before)
		nap();
}

void __real_nnb__lanes_holders(struct nnb__lanes *lanes, struct nnb__lane_holders *ret);
void __wrap_nnb__lanes_holders(struct nnb__lanes *lanes, struct nnb__lane_holders *ret);
void __wrap_nnb__lanes_holders(struct nnb__lanes *lanes, struct nnb__lane_holders *ret)
{
	__real_nnb__lanes_holders(lanes, ret);
	if (!ret->waiting && ++quiet == atomic_load(&quiet_most))
		waiter_begin();
}

/* ---- fixture ---- */

/* The holder has one of the lanes. */
static void begin_with(uint32_t lanes)
{
	wait_is = NNB__WAIT_OTHER;
	asleep = false;
	naps = short_naps = turns_awaited = quiet = quiet_most = 0;
	app = (struct nnb__lane_app){ .executions = 0 };
	memset(&w, 0, sizeof(w));
	assert_int_equal(nnb__lanes_init(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, NNB_DEADLINES_ABORT, lanes), 0);
	nnb__stalls_init(&stalls, &l);
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	nnb__seat_init(&w.seat, &l, &w.app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
}

static void begin(void)
{
	begin_with(1);
}

static void watch_begin(void)
{
	assert_int_equal(nnb__stalls_start(&stalls), 0);
}

static void await_sleep(void)
{
	while (!asleep)
		nap();
}

/* The waiter gets the holder's lane: if none wakes the thread, this test does not end. */
static void await_loss(void)
{
	atomic_store(&wait_is, NNB__WAIT_PAGE);
	pthread_join(w.thread, NULL);
	assert_true(nnb__lanes_lost(&holder));
}

static void end(void)
{
	nnb__lanes_give(&holder); /* gives nothing back if it has lost its lane */
	nnb__lanes_give(&w.seat);
	nnb__stalls_end(&stalls);
	assert_int_equal(l.policy.free, 1);
	nnb__lanes_fini(&l);
}

/* ---- rounds, without the thread ---- */

/* @n rounds, while all threads wait for that. The number of lanes that went to other seats. */
static uint32_t rounds(unsigned n, enum nnb__thread_wait wait)
{
	uint32_t taken = 0;
	bool waiting;

	atomic_store(&wait_is, wait);
	for (; n; n--)
		taken += nnb__stalls_round(&stalls, &waiting);
	atomic_store(&wait_is, NNB__WAIT_OTHER); /* seats that begin to wait take no lanes away */
	return taken;
}

static void rounds_end(void)
{
	assert_int_equal(l.policy.free, 1);
	nnb__lanes_fini(&l);
}

/* The waiter has the lane of the holder, and gives it back. */
static void waiter_end(void)
{
	pthread_join(w.thread, NULL);
	assert_true(nnb__lanes_lost(&holder));
	nnb__lanes_give(&w.seat);
}

static void an_execution_whose_thread_waits_for_a_page_in_two_rounds_loses_its_lane(void **state)
{
	bool left;

	(void)state;
	begin();
	assert_int_equal(rounds(3, NNB__WAIT_PAGE), 0); /* no seat waits */
	waiter_begin();
	assert_int_equal(rounds(3, NNB__WAIT_OTHER), 0);
	assert_int_equal(rounds(3, NNB__WAIT_CPU), 0);
	for (int i = 0; i < 2; i++) { /* two rounds, and not in a row */
		assert_int_equal(rounds(1, NNB__WAIT_PAGE), 0);
		assert_int_equal(rounds(1, NNB__WAIT_OTHER), 0);
	}
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 0);
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 1);
	waiter_end();
	assert_int_equal(nnb__lanes_yield(&holder, NNB__NEVER, &left), 0);
	waiter_begin();
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 1); /* it has lost a lane before */
	waiter_end();
	app.stalled_at = app.probation_until = 0;

	/* another execution of the seat: it was not there a round before */
	nnb__lanes_give(&holder);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	waiter_begin();
	assert_int_equal(rounds(2, NNB__WAIT_PAGE), 0);
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 1);
	waiter_end();
	nnb__lanes_give(&holder);
	rounds_end();
}

/* A seat waits whose thread never runs. */
static void wait_without_a_thread(struct nnb__seat *s)
{
	pthread_mutex_lock(&l.lock);
	atomic_store(&s->turn, 0);
	assert_false(nnb__policy_ready(&l.policy, &s->job, nnb__now()));
	pthread_mutex_unlock(&l.lock);
}

static void all_suspects_lose_their_lanes_in_a_round(void **state)
{
	struct nnb__seat second, next[2];

	(void)state;
	begin_with(2);
	nnb__seat_init(&second, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&second, NNB__NEVER), 0);
	for (int i = 0; i < 2; i++) {
		nnb__seat_init(&next[i], &l, &w.app, 1, NULL);
		wait_without_a_thread(&next[i]);
	}
	assert_int_equal(rounds(2, NNB__WAIT_PAGE), 0);
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 2);
	for (int i = 0; i < 2; i++) {
		assert_true(l.policy.running[i] == &next[i].job);
		nnb__lanes_give(&next[i]);
	}
	assert_int_equal(l.policy.free, 3);
	nnb__lanes_fini(&l);
}

/* Rounds without a seat that waits look at no thread: whether it waited for the page all the time is unknown. */
static void a_round_without_a_seat_that_waits_begins_the_count_anew(void **state)
{
	(void)state;
	begin();
	wait_without_a_thread(&w.seat);
	assert_int_equal(rounds(2, NNB__WAIT_PAGE), 0); /* the second one of them counts */
	pthread_mutex_lock(&l.lock);
	nnb__policy_cancel(&l.policy, &w.seat.job, nnb__now());
	pthread_mutex_unlock(&l.lock);
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 0);
	wait_without_a_thread(&w.seat);
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 0);
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 1);
	nnb__lanes_give(&w.seat);
	nnb__lanes_give(&holder); /* lost: gives nothing back */
	rounds_end();
}

static void holder_gives(void)
{
	nnb__lanes_give(&holder);
}

/* While its thread is looked at, the execution ends, and the waiter gets the lane. */
static void the_next_execution_on_the_lane_does_not_lose_it(void **state)
{
	struct nnb__seat last;

	(void)state;
	begin();
	nnb__seat_init(&last, &l, &app, 1, NULL);
	waiter_begin();
	wait_without_a_thread(&last);
	assert_int_equal(rounds(2, NNB__WAIT_PAGE), 0);
	during_look = holder_gives;
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 0);
	assert_null(during_look);
	pthread_join(w.thread, NULL);
	assert_true(l.policy.running[0] == &w.seat.job);
	assert_false(nnb__lanes_lost(&w.seat));
	nnb__lanes_give(&w.seat);
	nnb__lanes_give(&last);
	rounds_end();
}

/* A seat that waits gets the other lane; then the holder keeps its lane, and its next execution begins there. */
static void the_next_execution_on_a_kept_lane_does_not_lose_it(void **state)
{
	struct nnb__seat second, next[2];

	(void)state;
	begin_with(2);
	nnb__seat_init(&second, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&second, NNB__NEVER), 0);
	for (int i = 0; i < 2; i++)
		nnb__seat_init(&next[i], &l, &w.app, 1, NULL);
	nnb__lanes_give(&holder);
	holder.keeps = true;
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	wait_without_a_thread(&next[0]);
	assert_int_equal(rounds(2, NNB__WAIT_PAGE), 0); /* the second one of them counts */
	nnb__lanes_give(&second);
	assert_true(l.policy.running[1] == &next[0].job);
	nnb__lanes_give(&holder);
	assert_int_equal(atomic_load(&holder.hold), NNB__HOLD_KEPT);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	wait_without_a_thread(&next[1]);
	assert_int_equal(rounds(1, NNB__WAIT_PAGE), 0);
	assert_int_equal(app.shares.preemptions, 0);
	nnb__lanes_give(&holder);
	nnb__lanes_give(&next[0]);
	nnb__lanes_give(&next[1]);
	nnb__lanes_release(&holder);
	assert_int_equal(l.policy.free, 3);
	nnb__lanes_fini(&l);
}

/* The holder's execution on the only lane stalls twice; then its next one is on the lane. */
static void put_on_probation(void)
{
	for (int i = 0; i < 2; i++) {
		waiter_begin();
		assert_int_equal(rounds(3, NNB__WAIT_CPU), 0); /* not on probation yet */
		assert_int_equal(rounds(2, NNB__WAIT_PAGE), 1);
		waiter_end();
		nnb__lanes_give(&holder);
		assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	}
	app.probation_until = NNB__NEVER;
}

static void one_round_is_enough_on_probation(void **state)
{
	static const enum nnb__thread_wait waits_for[] = { NNB__WAIT_CPU, NNB__WAIT_PAGE };

	(void)state;
	begin();
	put_on_probation();
	for (int i = 0; i < 2; i++) {
		app.probation_until = NNB__NEVER;
		waiter_begin();
		assert_int_equal(rounds(1, waits_for[i]), 1);
		waiter_end();
		nnb__lanes_give(&holder);
		assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	}
	nnb__lanes_give(&holder);
	rounds_end();
}

/* No thread watches: the seat takes the lane itself when it begins to wait. */
static void a_seat_takes_the_lane_of_a_thread_on_probation(void **state)
{
	static const enum nnb__thread_wait waits_for[] = { NNB__WAIT_CPU, NNB__WAIT_PAGE };

	(void)state;
	begin();
	put_on_probation();
	for (int i = 0; i < 2; i++) {
		app.probation_until = NNB__NEVER;
		assert_int_equal(nnb__lanes_take(&w.seat, nnb__now() + ROUND_NS), -ETIMEDOUT);
		atomic_store(&wait_is, waits_for[i]);
		assert_int_equal(nnb__lanes_take(&w.seat, NNB__NEVER), 0);
		assert_true(nnb__lanes_lost(&holder));
		atomic_store(&wait_is, NNB__WAIT_OTHER);
		nnb__lanes_give(&holder);
		nnb__lanes_give(&w.seat);
		assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	}
	app.probation_until = nnb__now(); /* it is over */
	atomic_store(&wait_is, NNB__WAIT_CPU);
	assert_int_equal(nnb__lanes_take(&w.seat, nnb__now() + ROUND_NS), -ETIMEDOUT);
	nnb__lanes_give(&holder);
	rounds_end();
}

/* On probation, by a seat that begins to wait (of two such lanes one after the other), and by a round. */
static void a_lane_whose_thread_has_not_come_is_passed_on(void **state)
{
	struct nnb__seat second, last;

	(void)state;
	begin();
	put_on_probation();
	nnb__lanes_give(&holder);
	nnb__seat_init(&second, &l, &app, 1, NULL);
	nnb__seat_init(&last, &l, &w.app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&w.seat, NNB__NEVER), 0);
	wait_without_a_thread(&holder);
	wait_without_a_thread(&second);
	nnb__lanes_give(&w.seat);
	assert_true(l.policy.running[0] == &holder.job);
	assert_int_equal(nnb__lanes_take(&w.seat, NNB__NEVER), 0);
	assert_int_equal(l.policy.waiting, 2);

	holder.passes_since = second.passes_since = 0;
	wait_without_a_thread(&last);
	nnb__lanes_give(&w.seat);
	assert_true(l.policy.running[0] == &holder.job);
	assert_int_equal(rounds(1, NNB__WAIT_OTHER), 1);
	assert_true(l.policy.running[0] == &second.job);
	assert_int_equal(rounds(1, NNB__WAIT_OTHER), 1);
	assert_true(l.policy.running[0] == &last.job);
	assert_int_equal(rounds(3, NNB__WAIT_OTHER), 0); /* not on probation */
	nnb__lanes_give(&last);
	nnb__lanes_give(&holder);
	assert_true(l.policy.running[0] == &second.job);
	nnb__lanes_give(&second);
	assert_int_equal(app.shares.preemptions, 2); /* of put_on_probation */
	rounds_end();
}

/* Of two lanes it takes one away, and lets the other one be passed on in the same look, but not after that. */
static void a_seat_looks_until_it_has_a_lane(void **state)
{
	struct nnb__seat second;

	(void)state;
	begin_with(2);
	nnb__seat_init(&second, &l, &app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&w.seat, NNB__NEVER), 0);
	wait_without_a_thread(&second);
	nnb__lanes_give(&w.seat);
	nnb__lanes_give(&holder);
	assert_int_equal(nnb__lanes_take(&w.seat, NNB__NEVER), 0);
	wait_without_a_thread(&holder);
	nnb__lanes_give(&w.seat);
	assert_true(l.policy.running[0] == &holder.job && l.policy.running[1] == &second.job);
	app.probation_until = NNB__NEVER;
	assert_int_equal(nnb__lanes_take(&w.seat, NNB__NEVER), 0);
	assert_true(l.policy.running[0] == &w.seat.job && l.policy.running[1] == &holder.job);
	nnb__lanes_give(&w.seat);
	nnb__lanes_give(&holder);
	nnb__lanes_give(&second);
	assert_int_equal(l.policy.free, 3);
	nnb__lanes_fini(&l);
}

/* ---- the thread ---- */

static void a_seat_that_begins_to_wait_wakes_the_thread(void **state)
{
	unsigned before;

	(void)state;
	begin();
	watch_begin();
	await_sleep();
	assert_in_range(naps, 2, ROUNDS_MOST);
	before = naps;
	waiter_begin();
	while (naps == before)
		nap();
	await_loss();
	end();
}

static void the_thread_does_not_sleep_while_a_seat_waits(void **state)
{
	(void)state;
	begin();
	waiter_begin();
	watch_begin();
	while (naps <= 2 * ROUNDS_MOST) {
		assert_int_equal(atomic_load(&stalls.sleeps), 0);
		nap();
	}
	assert_int_equal(short_naps, 0);
	await_loss();
	end();
}

/* At the end of each round a seat may begin to wait, before and after the thread has announced that it sleeps. */
static void a_seat_that_waits_as_the_thread_goes_to_sleep_is_found(void **state)
{
	(void)state;
	for (unsigned round = 1; round <= ROUNDS_MOST; round++) {
		unsigned before;

		begin();
		quiet_most = round;
		watch_begin();
		while (!turns_awaited && !asleep)
			nap();
		if (!turns_awaited) { /* it has slept before that round */
			assert_true(round > 2);
			quiet_most = 0;
			waiter_begin();
		}
		before = naps;
		while (naps == before)
			nap();
		await_loss();
		end();
	}
}

/* An app whose pages take long again and again gets a lane again and again. */
static void rounds_are_shorter_for_a_while_after_a_loss(void **state)
{
	(void)state;
	begin();
	watch_begin();
	waiter_begin();
	await_loss();
	await_sleep();
	assert_in_range(short_naps, 100, 1000);
	end();
}

static void the_thread_ends_while_it_sleeps(void **state)
{
	(void)state;
	begin();
	watch_begin();
	await_sleep();
	nnb__stalls_end(&stalls);
	nnb__stalls_end(&stalls); /* ended: nothing happens */
	nnb__lanes_give(&holder);
	nnb__lanes_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_execution_whose_thread_waits_for_a_page_in_two_rounds_loses_its_lane),
		cmocka_unit_test(all_suspects_lose_their_lanes_in_a_round),
		cmocka_unit_test(a_round_without_a_seat_that_waits_begins_the_count_anew),
		cmocka_unit_test(the_next_execution_on_the_lane_does_not_lose_it),
		cmocka_unit_test(the_next_execution_on_a_kept_lane_does_not_lose_it),
		cmocka_unit_test(one_round_is_enough_on_probation),
		cmocka_unit_test(a_seat_takes_the_lane_of_a_thread_on_probation),
		cmocka_unit_test(a_lane_whose_thread_has_not_come_is_passed_on),
		cmocka_unit_test(a_seat_looks_until_it_has_a_lane),
		cmocka_unit_test(a_seat_that_begins_to_wait_wakes_the_thread),
		cmocka_unit_test(the_thread_does_not_sleep_while_a_seat_waits),
		cmocka_unit_test(a_seat_that_waits_as_the_thread_goes_to_sleep_is_found),
		cmocka_unit_test(rounds_are_shorter_for_a_while_after_a_loss),
		cmocka_unit_test(the_thread_ends_while_it_sleeps),
	};

	alarm(WATCHDOG_S);
	return cmocka_run_group_tests_name("watch_thread", tests, NULL, NULL);
}

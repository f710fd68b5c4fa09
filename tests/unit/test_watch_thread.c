/*
 * test_watch_thread.c -- the thread of sched/stalls.c: when it looks, and when it sleeps. The test decides what a
 * thread waits for; lanes, locks and futexes are real.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

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

static atomic_uint stalled;           /* does the holder's thread wait for a page? */
static atomic_uint naps, short_naps;  /* of the thread between two rounds; a short one is of an eighth of the length */
static atomic_uint turns_awaited;     /* seats that have begun to sleep until their turn */
static atomic_uint quiet, quiet_most; /* rounds without a seat that waits; begin a wait at the end of that round */
static _Thread_local uint64_t last_now;

enum nnb__thread_wait __wrap_nnb__thread_waits(pid_t tid);
enum nnb__thread_wait __wrap_nnb__thread_waits(pid_t tid)
{
	(void)tid;
	return atomic_load(&stalled) ? NNB__WAIT_PAGE : NNB__WAIT_OTHER;
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
	if (word != &l.watch_sleeps) {
		turns_awaited++;
	} else if (!expected) {
		abort_unless(deadline >= last_now);
		naps++;
		short_naps += deadline - last_now <= ROUND_NS / 8;
	}
	return __real_nnb__futex_wait(word, expected, bits, deadline);
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
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

uint32_t __real_nnb__lanes_watch(struct nnb__lanes *lanes, bool *ret_waiting);
uint32_t __wrap_nnb__lanes_watch(struct nnb__lanes *lanes, bool *ret_waiting);
uint32_t __wrap_nnb__lanes_watch(struct nnb__lanes *lanes, bool *ret_waiting)
{
	uint32_t taken = __real_nnb__lanes_watch(lanes, ret_waiting);

	if (!*ret_waiting && ++quiet == atomic_load(&quiet_most))
		waiter_begin();
	return taken;
}

/* ---- fixture ---- */

static void begin(void)
{
	stalled = naps = short_naps = turns_awaited = quiet = quiet_most = 0;
	app = (struct nnb__lane_app){ .executions = 0 };
	memset(&w, 0, sizeof(w));
	assert_int_equal(nnb__lanes_init(&l, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, NNB_DEADLINES_ABORT, 1), 0);
	l.thread_waits = nnb__thread_waits; /* the thread begins later than seats take lanes, and sets the same */
	nnb__seat_init(&holder, &l, &app, 1, NULL);
	nnb__seat_init(&w.seat, &l, &w.app, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
}

static void watch_begin(void)
{
	stalls = (struct nnb__stalls){ .runs = false };
	assert_int_equal(nnb__stalls_start(&stalls, &l), 0);
}

static bool is_asleep(void)
{
	bool asleep;

	pthread_mutex_lock(&l.lock);
	asleep = atomic_load(&l.watch_sleeps);
	pthread_mutex_unlock(&l.lock);
	return asleep;
}

static void await_sleep(void)
{
	while (!is_asleep())
		nap();
}

/* The waiter gets the holder's lane: if none wakes the thread, this test does not end. */
static void await_loss(void)
{
	atomic_store(&stalled, 1);
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

/* ---- tests ---- */

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
		assert_false(is_asleep());
		nap();
	}
	assert_int_equal(short_naps, 0);
	await_loss();
	end();
}

/* At the end of each round a seat may begin to wait, before the thread has announced that it sleeps. */
static void a_seat_that_waits_as_the_thread_goes_to_sleep_is_found(void **state)
{
	(void)state;
	for (unsigned round = 1; round <= ROUNDS_MOST; round++) {
		unsigned before;

		begin();
		quiet_most = round;
		watch_begin();
		while (!turns_awaited && !is_asleep())
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
		cmocka_unit_test(a_seat_that_begins_to_wait_wakes_the_thread),
		cmocka_unit_test(the_thread_does_not_sleep_while_a_seat_waits),
		cmocka_unit_test(a_seat_that_waits_as_the_thread_goes_to_sleep_is_found),
		cmocka_unit_test(rounds_are_shorter_for_a_while_after_a_loss),
		cmocka_unit_test(the_thread_ends_while_it_sleeps),
	};

	alarm(WATCHDOG_S);
	return cmocka_run_group_tests_name("watch_thread", tests, NULL, NULL);
}

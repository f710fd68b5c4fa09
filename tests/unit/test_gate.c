/*
 * test_gate.c -- what may be mapped of an app whose files' locks were held. The test stands in for the workers
 * (memory/errand.h): it says for how long they are blocked. A call of nnb__gate_open and nnb__gate_close with a sleep
 * between them is a slow one.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sys.h"
#include "memory/errand.h"
#include "memory/gate.h"
#include "memory/suspicion.h"

#define MS UINT64_C(1000000)

enum { SLOW_US = 100 * 1000, PAGE = 4096 };

static int file;
static _Atomic uint32_t g_key; /* of the app @g; the one after it is that of @other */
static struct nnb__gate *g, *other;

static uint64_t patience_ends; /* of the test that runs */

/* Between two looks at what must come. */
static void nap(void)
{
	assert_true(nnb__now() < patience_ends);
	usleep(1000);
}

/* ---- the workers ---- */

static atomic_uint blocked_ms, tries;
static atomic_uint n_begun, n_not_begun; /* trials beside calls, and those that could not begin */
static atomic_int result, begins;        /* of a trial; what nnb__errand_try_begin returns, if not 0 */
static atomic_uint left, stuck;          /* workers that were left behind; those of them that are asleep */
static atomic_bool never_ends;           /* no worker answers. Its trial is given up with -ETIMEDOUT */
static _Atomic uint64_t trial_began;
static void (*_Atomic while_asked)(void); /* called once while it is asked how many @g has left; NULL: nothing */

static atomic_uint blocked_once_ms; /* the next worker of @g is blocked for so much longer */

/* All answers are good again, and come at once. */
static void workers_answer(void)
{
	atomic_store(&blocked_ms, 0);
	atomic_store(&blocked_once_ms, 0);
	atomic_store(&result, 0);
	atomic_store(&begins, 0);
	atomic_store(&never_ends, false);
	atomic_store(&left, 0);
	atomic_store(&stuck, 0);
}

static int answer(struct nnb__errands *errands, uint64_t *ret_blocked_ns)
{
	*ret_blocked_ns = atomic_load(&blocked_ms) * MS;
	if (errands == nnb__errands_of(g_key))
		*ret_blocked_ns += atomic_exchange(&blocked_once_ms, 0) * MS;
	atomic_fetch_add(&tries, 1);
	return atomic_load(&result);
}

struct nnb__errands *nnb__errands_of(uint32_t key)
{
	static int some[8];

	return (struct nnb__errands *)(void *)&some[key % 8];
}

struct nnb__errands *nnb__errands_unref(struct nnb__errands *errands)
{
	(void)errands;
	return NULL;
}

unsigned nnb__errands_stuck(struct nnb__errands *errands, unsigned *ret_left)
{
	unsigned asleep = atomic_load(&stuck);
	void (*call)(void) = NULL;

	*ret_left = asleep + atomic_load(&left);
	if (errands == nnb__errands_of(g_key))
		call = atomic_exchange(&while_asked, NULL);
	if (call)
		call();
	return asleep;
}

int nnb__errand_try(struct nnb__errands *errands, int fd, const struct nnb__errand_wait *wait, uint64_t *ret_blocked_ns)
{
	(void)fd, (void)wait;
	if (!atomic_load(&begins))
		return answer(errands, ret_blocked_ns);
	*ret_blocked_ns = 0;
	return atomic_load(&begins);
}

int nnb__errand_try_begin(struct nnb__errands *errands, int fd)
{
	(void)errands, (void)fd;
	atomic_store(&trial_began, nnb__now());
	if (atomic_load(&begins)) {
		atomic_fetch_add(&n_not_begun, 1);
		return atomic_load(&begins);
	}
	atomic_fetch_add(&n_begun, 1);
	return 0;
}

bool nnb__errand_try_has_ended(struct nnb__errands *errands, int trial)
{
	(void)errands, (void)trial;
	return !atomic_load(&never_ends);
}

int nnb__errand_try_end(struct nnb__errands *errands, int trial, const struct nnb__errand_wait *wait,
                        uint64_t *ret_blocked_ns)
{
	(void)trial;
	if (atomic_load(&never_ends) && wait->goes_on && !wait->goes_on())
		return -ECANCELED;
	if (!atomic_load(&never_ends))
		return answer(errands, ret_blocked_ns);
	*ret_blocked_ns = nnb__now() - atomic_load(&trial_began);
	return -ETIMEDOUT;
}

/* ---- what an app is charged ---- */

static atomic_uint files_held;
static atomic_ullong bytes_held;

static void hold(void *app, uint32_t files, uint64_t bytes)
{
	assert_ptr_equal(app, &file);
	atomic_fetch_add(&files_held, files);
	atomic_fetch_add(&bytes_held, bytes);
}

static void release(void *app, uint32_t files, uint64_t bytes);

static const struct nnb__gate_keeper keeper = { hold, release };

/* With what it held last, an app may go, and another one of its key come, before this returns. */
static void release(void *app, uint32_t files, uint64_t bytes)
{
	static int another;

	assert_ptr_equal(app, &file);
	if (atomic_load(&bytes_held) == bytes) {
		nnb__gate_unref(nnb__gate_of(g_key, &keeper, &another));
		nnb__gate_unref(nnb__gate_of(g_key, &keeper, &file));
	}
	atomic_fetch_sub(&files_held, files);
	atomic_fetch_sub(&bytes_held, bytes);
}

/* ---- the rules ---- */

static int map_once(struct nnb__gate *gate, unsigned us)
{
	struct nnb__gate_call call;
	int r = nnb__gate_open(gate, file, true, &call);

	if (r)
		return r;
	usleep(us);
	nnb__gate_close(gate, &call, 0);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	g_key += 2;
	patience_ends = nnb__now() + 30000 * MS;
	workers_answer();
	g = nnb__gate_of(g_key, &keeper, &file);
	other = nnb__gate_of(g_key + 1, NULL, NULL);
	return !g || !other;
}

static int tear_down(void **state)
{
	(void)state;
	nnb__gate_unref(g);
	nnb__gate_unref(other);
	return 0;
}

/* Wait until there are more than @before of these: until the watcher has asked for a trial. */
static void await_more(const atomic_uint *n, unsigned before)
{
	while (atomic_load(n) == before)
		nap();
}

/* What is known of @gate's app. The caller owns a reference. */
static struct nnb__suspicion *known(const struct nnb__gate *gate)
{
	return nnb__suspicion_of(gate == g ? g_key : g_key + 1);
}

/* Make @gate suspected: a worker is blocked beside a call. */
static void become_suspected(struct nnb__gate *gate)
{
	struct nnb__suspicion *s = known(gate);
	struct nnb__gate_call call;

	assert_int_equal(nnb__gate_open(gate, file, true, &call), 0);
	atomic_store(&blocked_ms, 20);
	while (!nnb__is_suspected(s))
		nap();
	nnb__gate_close(gate, &call, 0);
	assert_true(nnb__suspicion_await(s, UINT64_MAX));
	workers_answer();
	nnb__suspicion_unref(s);
}

/* A worker is blocked for @ms beside a call of @g, which is suspected. */
static void strike(unsigned ms)
{
	struct nnb__suspicion *s = known(g);
	uint32_t before = nnb__suspicion_strikes(s);
	struct nnb__gate_call call;

	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	atomic_store(&blocked_once_ms, ms);
	while (nnb__suspicion_strikes(s) == before)
		nap();
	nnb__gate_close(g, &call, 0);
	workers_answer();
	nnb__suspicion_unref(s);
}

/* Calls take long, and no lock is held: nothing is tried before a call, and nothing refused. */
static void who_holds_no_lock_is_not_tried(void **state)
{
	unsigned before;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(map_once(g, SLOW_US), 0);
	usleep(SLOW_US); /* what was tried beside them is over */
	before = atomic_load(&tries);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(map_once(g, 0), 0);
	assert_true(atomic_load(&tries) - before < 500); /* some are slow where others have the cpus */
}

static void a_file_whose_lock_is_held_is_refused(void **state)
{
	uint64_t began;

	(void)state;
	become_suspected(g);
	assert_int_equal(map_once(g, 0), 0); /* its lock is free */
	atomic_store(&blocked_ms, 20);
	began = nnb__now();
	assert_int_equal(map_once(g, 0), -EBUSY);
	began = nnb__now() - began;
	assert_true(began >= 1000 * MS && began < 20000 * MS); /* it waits first */
	assert_int_equal(map_once(other, 0), 0);
	atomic_store(&blocked_ms, 0);
	assert_int_equal(map_once(g, 0), 0);
}

/* A worker was blocked beside a call that followed a good trial: nothing is mapped for 50 times as long. */
static void a_strike_lasts_longer_than_a_call(void **state)
{
	uint64_t began;

	(void)state;
	become_suspected(g);
	strike(100);
	began = nnb__now();
	assert_int_equal(map_once(g, 0), -EBUSY);
	assert_true(nnb__now() - began < 1000 * MS); /* at once */
	assert_int_equal(map_once(other, 0), 0);
	while (map_once(g, 0))
		nap();
	began = nnb__now() - began;
	assert_true(began >= 3000 * MS); /* of 5 s; a map waits for the last 2 */
}

static void what_cannot_be_unmapped_stays_charged(void **state)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, file, 0);
	struct nnb__gate_call call;

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	become_suspected(g);
	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	nnb__gate_close(g, &call, 1);
	atomic_store(&blocked_ms, 20);
	assert_false(nnb__gate_unmap(g, p, PAGE, PAGE, dup(file), 2));
	assert_int_equal(atomic_load(&files_held), 2);
	assert_int_equal(atomic_load(&bytes_held), PAGE);
	usleep(3 * SLOW_US);
	assert_int_equal(msync(p, 2 * PAGE, MS_ASYNC), 0); /* it is mapped, with what is behind it */
	atomic_store(&blocked_ms, 0);
	while (atomic_load(&files_held))
		nap();
	assert_int_equal(atomic_load(&bytes_held), 0);
	assert_int_equal(msync(p, PAGE, MS_ASYNC), -1);
	assert_int_equal(msync(p + PAGE, PAGE, MS_ASYNC), -1);
}

static atomic_bool gone;

static void *set_gone(void *arg)
{
	(void)arg;
	usleep(SLOW_US);
	atomic_store(&gone, true);
	return NULL;
}

static void a_wait_ends_with_its_app(void **state)
{
	pthread_t thread;
	uint64_t began;

	(void)state;
	become_suspected(g);
	atomic_store(&blocked_ms, 20);
	nnb__gate_enter(g, &gone);
	assert_int_equal(pthread_create(&thread, NULL, set_gone, NULL), 0);
	began = nnb__now();
	assert_int_equal(map_once(g, 0), -ECANCELED);
	assert_true(nnb__now() - began < 1500 * MS);
	nnb__gate_enter(NULL, NULL);
	pthread_join(thread, NULL);
}

/* Only after a slow tear, and only of a suspected app. */
static void executions_over_torn_pages_are_tried(void **state)
{
	struct nnb__gate_call call;
	unsigned before;

	(void)state;
	assert_true(nnb__gate_passes(g, file));
	nnb__gate_tear_begins(g, file, &call);
	usleep(SLOW_US);
	nnb__gate_tear_ends(g, &call);
	atomic_store(&blocked_ms, 20);
	usleep(SLOW_US);
	assert_true(nnb__gate_passes(other, file));
	before = atomic_load(&n_begun);
	nnb__gate_tear_begins(g, file, &call);
	await_more(&n_begun, before);
	nnb__gate_tear_ends(g, &call);
	assert_false(nnb__gate_passes(g, file));
	atomic_store(&blocked_ms, 0);
	while (!nnb__gate_passes(g, file))
		nap();
}

/* Whether a map of @g is refused at once: it is, while a strike lasts for longer than a map waits. */
static bool is_refused_at_once(void)
{
	uint64_t began = nnb__now();

	return map_once(g, 0) == -EBUSY && nnb__now() - began < 1000 * MS;
}

/*
 * No trial can begin, because all workers were left behind: a slow call makes the app suspected, the next one is a
 * strike that counts for as long as that call took.
 */
static void who_left_all_workers_behind_is_judged(void **state)
{
	struct nnb__gate_call call;
	unsigned before;

	(void)state;
	for (int i = 0; i < 2; i++) {
		atomic_store(&begins, 0);
		assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
		before = atomic_load(&n_not_begun);
		atomic_store(&begins, -EBUSY);
		await_more(&n_not_begun, before);
		usleep(SLOW_US);
		nnb__gate_close(g, &call, 0);
	}
	workers_answer();
	assert_true(is_refused_at_once());
	assert_int_equal(map_once(other, 0), 0);
}

/* While workers that it has left behind have not ended, also if it went and came back meanwhile. */
static void who_leaves_workers_behind_is_suspected(void **state)
{
	struct nnb__suspicion *s;
	unsigned before;

	(void)state;
	nnb__gate_unref(g);
	atomic_store(&stuck, 1);
	g = nnb__gate_of(g_key, &keeper, &file);
	s = known(g);
	assert_true(nnb__is_suspected(s));
	assert_int_equal(map_once(g, 0), 0); /* it is tried */
	atomic_store(&blocked_ms, 20);
	assert_int_equal(map_once(g, 0), -EBUSY);
	workers_answer();
	assert_false(nnb__is_suspected(s));
	before = atomic_load(&tries);
	assert_int_equal(map_once(g, 0), 0);
	assert_int_equal(atomic_load(&tries), before);
	nnb__suspicion_unref(s);
}

/* After a trial that left its worker behind, this is so for longer than the suspicion of a lock that was held. */
static void a_trial_that_leaves_its_worker_behind_is_remembered(void **state)
{
	struct nnb__suspicion *s = known(g);

	(void)state;
	assert_false(nnb__is_suspected(s));
	atomic_store(&stuck, 1);
	assert_false(nnb__is_suspected(s)); /* nothing tells yet */
	atomic_store(&result, -ETIMEDOUT);
	atomic_store(&blocked_ms, 20);
	assert_int_equal(nnb__suspicion_try(s, file, nnb__now()), NNB__TRIED_HELD);
	assert_true(nnb__is_suspected(s));
	workers_answer();
	assert_false(nnb__is_suspected(s));
	nnb__suspicion_unref(s);
}

/* A worker that is killed may only have had no cpu. If it turns out later that it is asleep, it counts then. */
static void a_worker_that_turns_out_to_be_asleep_counts(void **state)
{
	struct nnb__suspicion *s = known(g);

	(void)state;
	atomic_store(&left, 1);
	atomic_store(&result, -ETIMEDOUT);
	assert_int_equal(nnb__suspicion_try(s, file, nnb__now()), NNB__TRIED_SILENT);
	assert_false(nnb__is_suspected(s));
	atomic_store(&left, 0);
	atomic_store(&stuck, 1);
	assert_true(nnb__is_suspected(s));
	workers_answer();
	assert_false(nnb__is_suspected(s));
	nnb__suspicion_unref(s);
}

/* Another thread's trial leaves its worker behind while a thread has just been told that there are none. */
static void worker_leave(void)
{
	struct nnb__suspicion *s = known(g);

	atomic_store(&result, -ETIMEDOUT);
	atomic_store(&blocked_ms, 20);
	assert_int_equal(nnb__suspicion_try(s, file, nnb__now()), NNB__TRIED_HELD);
	nnb__suspicion_unref(s);
}

static void a_worker_left_meanwhile_is_remembered(void **state)
{
	struct nnb__suspicion *s = known(g);

	(void)state;
	atomic_store(&result, -ETIMEDOUT);
	assert_int_equal(nnb__suspicion_try(s, file, nnb__now()), NNB__TRIED_SILENT);
	atomic_store(&while_asked, worker_leave);
	assert_false(nnb__is_suspected(s));
	assert_null(atomic_load(&while_asked));
	atomic_store(&stuck, 1);
	assert_true(nnb__is_suspected(s));
	nnb__suspicion_unref(s);
}

/* No worker is free: that is no fault of the app. */
static void without_a_free_worker_nothing_is_judged(void **state)
{
	struct nnb__gate_call call;
	unsigned before;

	(void)state;
	for (int i = 0; i < 2; i++) {
		before = atomic_load(&n_not_begun);
		atomic_store(&begins, -ETIMEDOUT);
		assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
		await_more(&n_not_begun, before);
		nnb__gate_close(g, &call, 0);
		assert_int_equal(map_once(g, 0), 0);
		workers_answer();
		assert_int_equal(map_once(g, 0), 0);
	}
}

/* The worker does not answer while the call goes on, nor soon after it: the trial is given up, and is a strike. */
static void a_trial_without_an_answer_is_given_up(void **state)
{
	struct nnb__gate_call call;
	uint64_t began;
	unsigned before;

	(void)state;
	become_suspected(g);
	before = atomic_load(&n_begun);
	atomic_store(&never_ends, true);
	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	await_more(&n_begun, before);
	usleep(SLOW_US);
	nnb__gate_close(g, &call, 0);
	began = nnb__now();
	assert_int_equal(map_once(g, 0), -EBUSY); /* it waits for the trial first */
	assert_true(nnb__now() - began < 20000 * MS);
	workers_answer();
	assert_true(is_refused_at_once());
}

/* A client that hangs up does not take the trial beside its last call with it. */
static void who_hangs_up_is_judged(void **state)
{
	struct nnb__suspicion *s = known(g);
	struct nnb__gate_call call;
	unsigned before;

	(void)state;
	become_suspected(g);
	atomic_store(&gone, true);
	nnb__gate_enter(g, &gone);
	before = atomic_load(&n_begun);
	atomic_store(&never_ends, true);
	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	await_more(&n_begun, before);
	nnb__gate_close(g, &call, 0);
	assert_int_equal(nnb__gate_open(g, file, true, &call), -ECANCELED);
	nnb__gate_enter(NULL, NULL);
	atomic_store(&blocked_ms, 1000);
	atomic_store(&never_ends, false);
	while (!nnb__suspicion_strikes(s)) /* the watcher asks for the answer */
		nap();
	workers_answer();
	assert_true(is_refused_at_once());
	nnb__suspicion_unref(s);
}

/* A thread that may have a lane waits neither for a trial nor for a turn. */
static void who_has_a_lane_does_not_wait(void **state)
{
	struct nnb__gate_call call, second;
	uint64_t began;
	unsigned before;

	(void)state;
	before = atomic_load(&n_begun);
	atomic_store(&never_ends, true);
	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	began = nnb__now();
	assert_int_equal(nnb__gate_open(g, file, false, &second), -EBUSY); /* the turn */
	assert_true(nnb__now() - began < 1000 * MS);
	await_more(&n_begun, before);
	nnb__gate_close(g, &call, 0);
	began = nnb__now();
	assert_int_equal(nnb__gate_open(g, file, false, &second), -EBUSY); /* the trial beside that call */
	assert_true(nnb__now() - began < 1000 * MS);
	workers_answer();
	while (nnb__gate_open(g, file, false, &second))
		nap();
	nnb__gate_close(g, &second, 0);
}

/* More apps than 16 wait, and the oldest one is the one whose lock is held. */
static void each_of_many_apps_is_watched(void **state)
{
	enum { APPS = 20 };
	struct nnb__gate *apps[APPS];
	struct nnb__gate_call calls[APPS], call;
	struct nnb__suspicion *s = known(g);

	(void)state;
	become_suspected(g);
	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	for (uint32_t i = 0; i < APPS; i++) {
		apps[i] = nnb__gate_of(1000 + i, NULL, NULL);
		assert_int_equal(nnb__gate_open(apps[i], file, true, &calls[i]), 0);
	}
	usleep(SLOW_US);
	atomic_store(&blocked_ms, 1000);
	while (!nnb__suspicion_strikes(s))
		nap();
	nnb__gate_close(g, &call, 0);
	workers_answer();
	nnb__suspicion_unref(s);
	for (unsigned i = 0; i < APPS; i++) {
		nnb__gate_close(apps[i], &calls[i], 0);
		nnb__gate_unref(apps[i]);
	}
	assert_true(is_refused_at_once());
}

/* Unmap @n mappings of @gate. */
static void unmap_pages(struct nnb__gate *gate, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);

		assert_ptr_not_equal(p, MAP_FAILED);
		nnb__gate_unmap(gate, p, PAGE, 0, gate == g ? dup(file) : -1, 2);
	}
}

/* Wait until the reaper has unmapped all of @g's. */
static void await_reaped(void)
{
	while (atomic_load(&files_held))
		nap();
}

/* A mapping of an app with strikes is unmapped after a second of good trials, and no sooner. */
static void strikes_make_the_reaper_wait(void **state)
{
	uint64_t began;

	(void)state;
	become_suspected(g);
	strike(100);
	began = nnb__now();
	unmap_pages(g, 1);
	assert_int_equal(atomic_load(&files_held), 2);
	await_reaped();
	assert_true(nnb__now() - began >= 1000 * MS);
}

/* Nor does it count good trials from before the strike. */
static void good_trials_before_a_strike_do_not_count(void **state)
{
	uint64_t began;

	(void)state;
	become_suspected(g);
	atomic_store(&blocked_ms, 20);
	unmap_pages(g, 100);
	assert_int_equal(atomic_load(&files_held), 200);
	workers_answer();
	await_reaped();
	strike(20);
	began = nnb__now();
	unmap_pages(g, 1);
	await_reaped();
	assert_true(nnb__now() - began >= 1000 * MS);
}

/* Nor is its second shorter while the reaper has so much to do for another app that its rounds follow each other. */
static void another_app_does_not_make_the_reaper_hurry(void **state)
{
	uint64_t began;

	(void)state;
	become_suspected(other);
	become_suspected(g);
	strike(100);
	atomic_store(&blocked_ms, 20);
	unmap_pages(other, 4000);
	began = nnb__now();
	unmap_pages(g, 1);
	assert_int_equal(atomic_load(&files_held), 2);
	workers_answer();
	await_reaped();
	assert_true(nnb__now() - began >= 1000 * MS);
}

/* For how long the strikes of @g refuse its maps from now on, in ms. */
static uint64_t refused_ms(void)
{
	struct nnb__suspicion *s = known(g);
	uint64_t until = nnb__suspicion_refuse_until(s), now = nnb__now();

	nnb__suspicion_unref(s);
	return until > now ? (until - now) / MS : 0;
}

/* Each further strike counts twice as much, up to 32 times: 50 times 10 ms, 20, 40, 80, 160, 320 and 320. */
static void each_strike_counts_twice_as_much(void **state)
{
	static const uint64_t ms[] = { 500, 1000, 2000, 4000, 8000, 16000, 16000 };
	struct nnb__suspicion *s = known(g);

	(void)state;
	become_suspected(g);
	assert_int_equal(nnb__suspicion_strikes(s), 0);
	assert_int_equal(refused_ms(), 0);
	for (unsigned i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		struct nnb__flight flight;
		uint64_t began = nnb__now();

		nnb__flight_begin(s, file, &flight); /* the gate would wait */
		atomic_store(&blocked_once_ms, 10);
		while (nnb__suspicion_strikes(s) == i)
			nap();
		nnb__flight_end(s, &flight);
		assert_true(nnb__suspicion_await(s, UINT64_MAX)); /* another trial beside that call */
		assert_int_equal(nnb__suspicion_strikes(s), i + 1);
		assert_true(refused_ms() <= ms[i]);
		assert_true(refused_ms() + (nnb__now() - began) / MS + 1 >= ms[i]);
	}
	nnb__suspicion_unref(s);
}

/* A worker is blocked for 10 ms beside a call, and the next one beside the same call for 1 s: one strike, of both. */
static void a_strike_counts_all_trials_beside_a_call(void **state)
{
	struct nnb__suspicion *s = known(g);
	struct nnb__flight flight;
	uint64_t began;

	(void)state;
	become_suspected(g);
	nnb__flight_begin(s, file, &flight); /* the gate would wait */
	atomic_store(&blocked_once_ms, 10);
	while (!nnb__suspicion_strikes(s))
		nap();
	began = nnb__now();
	atomic_store(&blocked_once_ms, 1000);
	while (refused_ms() < 1000)
		nap();
	nnb__flight_end(s, &flight);
	assert_int_equal(nnb__suspicion_strikes(s), 1);
	assert_true(refused_ms() <= 50 * 1010);
	assert_true(refused_ms() + (nnb__now() - began) / MS + 1 >= UINT64_C(50) * 1010);
	nnb__suspicion_unref(s);
}

/* Nor does one strike become two, or one that made the app suspected become a strike. */
static void what_made_an_app_suspected_refuses_nothing(void **state)
{
	struct nnb__suspicion *s = known(g);
	struct nnb__flight flight;
	unsigned before;

	(void)state;
	nnb__flight_begin(s, file, &flight);
	atomic_store(&blocked_ms, 20);
	while (!nnb__is_suspected(s))
		nap();
	before = atomic_load(&tries);
	await_more(&tries, before + 1);
	nnb__flight_end(s, &flight);
	assert_true(nnb__suspicion_await(s, UINT64_MAX));
	assert_int_equal(nnb__suspicion_strikes(s), 0);
	assert_int_equal(refused_ms(), 0);
	nnb__suspicion_unref(s);
}

/* An app that is suspected because of a worker that it has left behind is tried before each call, too: a strike. */
static void who_has_left_a_worker_behind_gets_a_strike(void **state)
{
	struct nnb__suspicion *s = known(g);
	struct nnb__flight flight;

	(void)state;
	atomic_store(&stuck, 1);
	atomic_store(&result, -ETIMEDOUT);
	nnb__suspicion_try(s, file, nnb__now());
	atomic_store(&result, 0);
	assert_true(nnb__is_suspected(s));
	nnb__flight_begin(s, file, &flight);
	atomic_store(&blocked_once_ms, 10);
	while (!nnb__suspicion_strikes(s))
		nap();
	nnb__flight_end(s, &flight);
	assert_true(nnb__suspicion_refuse_until(s));
	nnb__suspicion_unref(s);
}

/* The worker that is left behind beside the first slow call does not make this call a strike. */
static void the_first_worker_that_is_left_behind_is_no_strike(void **state)
{
	struct nnb__suspicion *s = known(g);
	struct nnb__flight flight;
	unsigned before;

	(void)state;
	assert_false(nnb__is_suspected(s));
	before = atomic_load(&n_begun);
	atomic_store(&never_ends, true);
	nnb__flight_begin(s, file, &flight);
	await_more(&n_begun, before);
	atomic_store(&stuck, 1); /* nothing tells yet */
	nnb__flight_end(s, &flight);
	assert_true(nnb__suspicion_await(s, UINT64_MAX));
	assert_true(nnb__is_suspected(s));
	assert_int_equal(nnb__suspicion_strikes(s), 0);
	assert_int_equal(nnb__suspicion_refuse_until(s), 0);
	nnb__suspicion_unref(s);
}

/* A strike counts for all the time that the worker slept: in the call, and in the two seconds after it. */
static void a_strike_counts_all_of_a_long_call(void **state)
{
	struct nnb__gate_call call;
	unsigned before;

	(void)state;
	become_suspected(g);
	before = atomic_load(&n_begun);
	atomic_store(&never_ends, true);
	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	await_more(&n_begun, before);
	usleep(10 * SLOW_US);
	nnb__gate_close(g, &call, 0);
	assert_int_equal(map_once(g, 0), -EBUSY);
	workers_answer();
	assert_true(refused_ms() >= UINT64_C(50) * (10 * SLOW_US / 1000 + 2000) - 5000); /* less what has passed */
}

/* Without a worker it counts for as long as the call took. */
static void a_strike_without_a_worker_counts_all_of_a_long_call(void **state)
{
	struct nnb__gate_call call;
	unsigned before;

	(void)state;
	become_suspected(g);
	assert_int_equal(nnb__gate_open(g, file, true, &call), 0);
	before = atomic_load(&n_not_begun);
	atomic_store(&begins, -EBUSY);
	await_more(&n_not_begun, before);
	usleep(10 * SLOW_US);
	nnb__gate_close(g, &call, 0);
	assert_int_equal(map_once(g, 0), -EBUSY);
	workers_answer();
	assert_true(refused_ms() >= UINT64_C(50) * (10 * SLOW_US / 1000) - 5000);
}

/* A thread maps what is the service's own behind no gate, and is behind that of its app again. */
static void a_thread_goes_out_of_its_gate_and_back(void **state)
{
	(void)state;
	nnb__gate_enter(g, NULL);
	assert_ptr_equal(nnb__gate_swap(NULL), g);
	assert_null(nnb__gate_mine());
	assert_null(nnb__gate_swap(g));
	assert_ptr_equal(nnb__gate_mine(), g);
	nnb__gate_enter(NULL, NULL);
}

/* After the service has left, nothing is unmapped; a later service of the process has gates again. */
static void gates_begin_again(void **state)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, file, 0);

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_true(nnb__gates_leave(nnb__now()));
	assert_false(nnb__gate_unmap(g, p, PAGE, PAGE, -1, 2));
	assert_int_equal(msync(p, 2 * PAGE, MS_ASYNC), 0);
	assert_int_equal(nnb__gates_begin(), 0);
	assert_true(nnb__gate_unmap(g, p, PAGE, PAGE, -1, 2));
	assert_int_equal(msync(p, PAGE, MS_ASYNC), -1);
	assert_int_equal(munmap(p + PAGE, PAGE), 0); /* what is behind it stayed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_holds_no_lock_is_not_tried, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_whose_lock_is_held_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_strike_lasts_longer_than_a_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_unmapped_stays_charged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_wait_ends_with_its_app, set_up, tear_down),
		cmocka_unit_test_setup_teardown(executions_over_torn_pages_are_tried, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_left_all_workers_behind_is_judged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_leaves_workers_behind_is_suspected, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_trial_that_leaves_its_worker_behind_is_remembered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_worker_that_turns_out_to_be_asleep_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_worker_left_meanwhile_is_remembered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_free_worker_nothing_is_judged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_trial_without_an_answer_is_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_hangs_up_is_judged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_has_a_lane_does_not_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_of_many_apps_is_watched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(strikes_make_the_reaper_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(good_trials_before_a_strike_do_not_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_app_does_not_make_the_reaper_hurry, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_strike_counts_twice_as_much, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_strike_counts_all_trials_beside_a_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_made_an_app_suspected_refuses_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_has_left_a_worker_behind_gets_a_strike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_first_worker_that_is_left_behind_is_no_strike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_strike_counts_all_of_a_long_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_strike_without_a_worker_counts_all_of_a_long_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_thread_goes_out_of_its_gate_and_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gates_begin_again, set_up, tear_down),
	};

	file = memfd_create("file", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, PAGE) || nnb__gates_begin())
		return 1;
	return cmocka_run_group_tests_name("gates", tests, NULL, NULL);
}

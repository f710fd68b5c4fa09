/*
 * suspicion.c -- whether an app holds the locks of its files: what its own workers find out.
 *
 * BOUND     The time of a call in this process can be another app's, because all of them wait for the same memory
 *           map. So it is never judged. While a call of an app takes TICK_NS or more, a worker maps and unmaps the
 *           same file: a process that works for this app alone, and so has no lock in common with another. If the
 *           worker sleeps for BLOCKED_NS meanwhile (a time in which it is ready and has no cpu does not count), the
 *           file's lock is held. Then its app is suspected for SUSPECTED_NS, and while it has left workers behind. If
 *           that happens to a suspected app, whose files are tried before each call, the lock was taken between the
 *           trial and the call: a strike. For COST times as long as workers were blocked beside that call, nothing of
 *           the app may be mapped or unmapped, and for twice as many times after each further strike (up to COST <<
 *           STRIKES_MAX). So the others wait for one call each time that an app becomes suspected, and for a COST-th
 *           of the time while it goes on.
 * TEARS     A signal handler replaces a torn mapping, and cannot try the file before. It is watched as a call is, and
 *           a slow one is remembered.
 * CONCURRENCY  Any thread. The lock of a suspicion guards the trial beside a call, so that one thread takes what it
 *           has found, and what follows from that. The lock of the list guards the list of apps and their errands.
 *           Neither is held for a call that takes long, and the second one is never taken under the first. References
 *           are atomic; the last is dropped under the list's lock. Times are atomic, and hints: relaxed.
 * FLIGHTS   A call under way is a flight, in a place of its app; a signal handler can begin one. (1) begin: claim
 *           the place, (1a) fence, store the fd, then the time, release; (2) the watcher loads the time, acquire, then
 *           the fd, duplicates it, and loads the time again: the same time => the call had not ended, so the fd was
 *           its file's, because of (1a). The watcher sleeps while nothing is called: a call stores that it is there,
 *           then loads whether the watcher is idle; the watcher stores that it is idle, then loads whether there are
 *           calls (both sequentially consistent), so one of them sees the other.
 * WAITS     No thread waits for a trial beside a call, unless it asks (nnb__suspicion_await): the watcher takes its
 *           answer, or gives it up WAIT_NS after the call, also after the app is gone.
 * CRASH     If workers end or cannot be started (errand.c), no file is known to be held: all trials find a free lock.
 *           If no worker is free, nothing is judged, and no slow call either while the process has no free file
 *           descriptor: to try a file takes a duplicate. An app whose workers for trials were all left behind, asleep
 *           in the kernel, holds locks: each slow call of it is taken for blocked, for as long as it took.
 */
#include "memory/suspicion.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/close.h"
#include "base/kept.h"
#include "base/sys.h"
#include "memory/errand.h"
#include "memory/wait.h"

#define MS UINT64_C(1000000)
#define TICK_NS (10 * MS)          /* between two looks at the calls under way: what takes longer is slow */
#define BLOCKED_NS (2 * MS)        /* a worker that sleeps for so long finds the file's lock held */
#define SUSPECTED_NS (600000 * MS) /* since the worker was last blocked beside a call */
#define WAIT_NS (2000 * MS)        /* after a call, for the trial beside it */
#define WATCH_NS (1000 * MS)       /* how long the watcher stays awake after the last call */

enum {
	COST = 50, /* times as long as the worker was blocked */
	STRIKES_MAX = 5,
	LOOK_STEP_US = 200,
	BESIDE_US = 500, /* between two looks at a trial beside a call */
	FLIGHTS = 4      /* calls of one app under way: one, and tears */
};

#define CLAIMED UINT64_C(1) /* no time */
#define NONE (-1)           /* no trial */
#define BLIND (-2)          /* no trial, because all workers that could make one were left behind */
#define TAKEN (-3)          /* a thread has the trial: it begins it, or takes what it has found */

struct nnb__suspicion {
	struct nnb__suspicion *next; /* under the list's lock, with the key */
	uint32_t key;
	_Atomic uint64_t refs;
	struct nnb__errands *errands; /* while there are references; under the list's lock */

	pthread_mutex_t lock;
	/*
	 * The trial beside a call, from which nothing has followed yet, with a reference to this; NONE, BLIND, TAKEN.
	 * Changes under the lock.
	 */
	_Atomic int beside;
	/* Under the lock: that call's place, when it began, and when the trial is given up; 0: not while it goes on. */
	unsigned beside_flight;
	uint64_t beside_call, beside_until;
	struct {
		_Atomic uint64_t began; /* 0: free; CLAIMED */
		_Atomic int fd;
		/* Under the lock, of the last call here beside which a lock was held: */
		uint64_t judged;  /* when it began */
		uint64_t blocked; /* for how long workers were blocked beside it */
		uint64_t cost; /* for how many times as long nothing may be mapped. 0: it has made the app suspected */
	} flights[FLIGHTS];
	int looking; /* the trial of nnb__suspicion_look, or NONE; its caller's */

	_Atomic uint64_t suspected_until, refused_until;
	_Atomic uint64_t tore_until; /* SUSPECTED_NS after the last slow tear */
	_Atomic uint32_t strikes;    /* since the app is suspected */
	/*
	 * How many trials may have left a worker behind; and after so many of these, no worker was left any more.
	 * Equal: the workers need not be asked for. Relaxed: a trial is counted after its worker was left, and the
	 * count is read before the workers are asked for, which takes a lock.
	 */
	_Atomic uint32_t n_left, n_left_gone;
};

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct nnb__suspicion *apps;
static _Atomic uint32_t idle;      /* the watcher sleeps */
static _Atomic uint64_t n_flights; /* so far */

/* ---- what is known ---- */

static uint64_t time_load(const _Atomic uint64_t *time)
{
	return atomic_load_explicit(time, memory_order_relaxed);
}

static void time_store(_Atomic uint64_t *time, uint64_t value)
{
	atomic_store_explicit(time, value, memory_order_relaxed);
}

static bool time_is_ahead(const _Atomic uint64_t *time)
{
	uint64_t until = time_load(time);

	return until && nnb__now() < until;
}

/* Whether workers are asleep in the kernel that were left behind: the app holds the locks of files now. */
static bool has_stuck_workers(struct nnb__suspicion *s)
{
	uint32_t n_left = atomic_load_explicit(&s->n_left, memory_order_relaxed);
	unsigned left, stuck;

	if (n_left == atomic_load_explicit(&s->n_left_gone, memory_order_relaxed))
		return false;
	stuck = nnb__errands_stuck(s->errands, &left);
	if (!left)
		atomic_store_explicit(&s->n_left_gone, n_left, memory_order_relaxed);
	return stuck;
}

bool nnb__is_suspected(struct nnb__suspicion *s)
{
	return time_is_ahead(&s->suspected_until) || has_stuck_workers(s);
}

uint64_t nnb__suspicion_refuse_until(const struct nnb__suspicion *s)
{
	return time_load(&s->refused_until);
}

uint32_t nnb__suspicion_strikes(const struct nnb__suspicion *s)
{
	return atomic_load_explicit(&s->strikes, memory_order_relaxed);
}

bool nnb__suspicion_tears(const struct nnb__suspicion *s)
{
	return time_is_ahead(&s->tore_until);
}

/* ---- trials before a call ---- */

/* What a trial means that has ended with @r. */
static enum nnb__tried trial_of(struct nnb__suspicion *s, int r, uint64_t blocked)
{
	/* a worker that seems to have had no cpu may turn out to be asleep */
	if (r == -EBUSY || r == -ETIMEDOUT || r == -ECANCELED)
		atomic_fetch_add_explicit(&s->n_left, 1, memory_order_relaxed);
	switch (r) {
	case -ECANCELED:
		return NNB__TRIED_OVER;
	case -ETIMEDOUT:
		return blocked ? NNB__TRIED_HELD : NNB__TRIED_SILENT;
	case -EBUSY: /* workers were left behind, each of them blocked by a file of this app, and there is no other */
		return NNB__TRIED_HELD;
	default:
		return blocked >= BLOCKED_NS ? NNB__TRIED_HELD : NNB__TRIED_FREE;
	}
}

static bool wait_goes_on(void)
{
	return !nnb__wait_is_over();
}

enum nnb__tried nnb__suspicion_try(struct nnb__suspicion *s, int fd, uint64_t until)
{
	uint64_t now = nnb__now(), blocked;
	const struct nnb__errand_wait wait = { .limit_ns = until > now ? until - now : 0, .goes_on = wait_goes_on };
	int r;

	if (!s->errands)
		return NNB__TRIED_FREE;
	r = nnb__errand_try(s->errands, fd, &wait, &blocked);
	return trial_of(s, r, blocked);
}

enum nnb__tried nnb__suspicion_look(struct nnb__suspicion *s, int fd, uint64_t until)
{
	const struct nnb__errand_wait none = { 0 };
	int trial = s->looking, r;
	uint64_t blocked;

	if (!s->errands)
		return NNB__TRIED_FREE;
	if (trial != NONE &&
	    nnb__errand_try_has_ended(s->errands, trial)) { /* some time ago, perhaps of another file */
		nnb__errand_try_end(s->errands, trial, &none, &blocked);
		trial = s->looking = NONE;
	}
	if (trial != NONE)
		return NNB__TRIED_SILENT;
	trial = nnb__errand_try_begin(s->errands, fd);
	if (trial < 0)
		return trial_of(s, trial, 0);
	s->looking = trial;
	while (!nnb__errand_try_has_ended(s->errands, trial)) {
		if (nnb__now() >= until || nnb__wait_is_over())
			return NNB__TRIED_SILENT;
		usleep(LOOK_STEP_US);
	}
	s->looking = NONE;
	r = nnb__errand_try_end(s->errands, trial, &none, &blocked);
	return trial_of(s, r, blocked);
}

void nnb__suspicion_look_end(struct nnb__suspicion *s)
{
	const struct nnb__errand_wait none = { 0 };
	uint64_t blocked;

	if (s->looking != NONE)
		nnb__errand_try_end(s->errands, s->looking, &none, &blocked);
	s->looking = NONE;
}

/* ---- trials beside a call ---- */

/* Whether what was found beside a call can be taken now. @trial: what is there. The lock of @s is held. */
static bool beside_is_over(struct nnb__suspicion *s, int trial)
{
	uint64_t now;

	if (trial >= 0 && nnb__errand_try_has_ended(s->errands, trial))
		return true;
	if (time_load(&s->flights[s->beside_flight].began) == s->beside_call)
		return false;
	now = nnb__now();
	if (!s->beside_until)
		s->beside_until = now + WAIT_NS;
	return trial == BLIND || now >= s->beside_until;
}

/* The calling thread, which had the trial, leaves @trial in its place. With NONE, the trial's reference is dropped. */
static void beside_give(struct nnb__suspicion *s, int trial)
{
	pthread_mutex_lock(&s->lock);
	atomic_store_explicit(&s->beside, trial, memory_order_relaxed);
	pthread_mutex_unlock(&s->lock);
	if (trial == NONE)
		nnb__suspicion_unref(s);
}

/*
 * Workers were blocked for @blocked beside the call that began at @call in that flight: its file's lock is held. The
 * lock of @s is held.
 */
static void suspicion_judge(struct nnb__suspicion *s, unsigned flight, uint64_t call, uint64_t blocked,
                            bool was_suspected)
{
	uint64_t now = nnb__now(), until;
	uint32_t strikes = nnb__suspicion_strikes(s);
	bool is_first = s->flights[flight].judged != call; /* several trials beside one call are one strike */

	if (is_first) {
		s->flights[flight].judged = call;
		s->flights[flight].cost = was_suspected ? COST << (strikes < STRIKES_MAX ? strikes : STRIKES_MAX) : 0;
	}
	s->flights[flight].blocked = blocked;
	until = now + blocked * s->flights[flight].cost;
	if (s->flights[flight].cost && time_load(&s->refused_until) < until)
		time_store(&s->refused_until, until);
	time_store(&s->suspected_until, now + SUSPECTED_NS);
	if (is_first)
		atomic_store_explicit(&s->strikes, was_suspected ? strikes + 1 : 0, memory_order_relaxed);
}

bool nnb__suspicion_settle(struct nnb__suspicion *s)
{
	const struct nnb__errand_wait none = { 0 };
	uint64_t blocked, call;
	bool is_over = true, was_suspected;
	unsigned flight;
	int trial, r;

	if (atomic_load_explicit(&s->beside, memory_order_relaxed) == NONE)
		return true;
	pthread_mutex_lock(&s->lock);
	trial = atomic_load_explicit(&s->beside, memory_order_relaxed);
	flight = s->beside_flight;
	call = s->beside_call;
	if (trial != NONE && (is_over = trial != TAKEN && beside_is_over(s, trial)))
		atomic_store_explicit(&s->beside, TAKEN, memory_order_relaxed);
	pthread_mutex_unlock(&s->lock);
	if (trial == NONE || !is_over)
		return is_over;
	was_suspected = nnb__is_suspected(s); /* asked before this trial can leave a worker behind */
	blocked = nnb__now() - call;
	r = trial == BLIND ? -EBUSY : nnb__errand_try_end(s->errands, trial, &none, &blocked);
	if (trial_of(s, r, blocked) == NNB__TRIED_HELD) {
		pthread_mutex_lock(&s->lock);
		if (trial != BLIND &&
		    s->flights[flight].judged == call) /* earlier trials beside this call count, too */
			blocked += s->flights[flight].blocked;
		suspicion_judge(s, flight, call, blocked, was_suspected);
		pthread_mutex_unlock(&s->lock);
	}
	beside_give(s, NONE);
	return true;
}

bool nnb__suspicion_await(struct nnb__suspicion *s, uint64_t until)
{
	while (!nnb__suspicion_settle(s))
		if (nnb__now() >= until || nnb__wait_is_over())
			return false;
		else
			usleep(BESIDE_US);
	return true;
}

/* ---- flights ---- */

static void watcher_wake(void)
{
	if (atomic_load_explicit(&idle, memory_order_seq_cst) &&
	    atomic_exchange_explicit(&idle, 0, memory_order_relaxed))
		nnb__futex_wake(&idle, UINT32_MAX);
}

void nnb__flight_begin(struct nnb__suspicion *s, int fd, struct nnb__flight *flight)
{
	flight->began = nnb__now();
	flight->place = 0;
	while (flight->place < FLIGHTS) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong_explicit(&s->flights[flight->place].began, &none, CLAIMED,
		                                            memory_order_acquire, memory_order_relaxed))
			break;
		flight->place++;
	}
	if (flight->place == FLIGHTS) /* the others are watched */
		return;
	atomic_thread_fence(memory_order_release); /* (1a) */
	atomic_store_explicit(&s->flights[flight->place].fd, fd, memory_order_relaxed);
	atomic_store_explicit(&s->flights[flight->place].began, flight->began, memory_order_release); /* (1) */
	atomic_fetch_add_explicit(&n_flights, 1, memory_order_seq_cst);
	watcher_wake();
}

void nnb__flight_end(struct nnb__suspicion *s, const struct nnb__flight *flight)
{
	if (flight->place < FLIGHTS)
		atomic_store_explicit(&s->flights[flight->place].began, 0, memory_order_release);
}

void nnb__flight_end_of_tear(struct nnb__suspicion *s, const struct nnb__flight *flight)
{
	uint64_t now;

	nnb__flight_end(s, flight);
	now = nnb__now();
	if (now - flight->began >= TICK_NS)
		time_store(&s->tore_until, now + SUSPECTED_NS);
}

/* ---- the watcher ---- */

/* A file that a call has been at for TICK_NS by now, duplicated; -1: none. *ret_flight is the call's place. */
static int file_of_slow_flight(struct nnb__suspicion *s, uint64_t *ret_began, unsigned *ret_flight)
{
	for (unsigned i = 0; i < FLIGHTS; i++) {
		uint64_t began = atomic_load_explicit(&s->flights[i].began, memory_order_acquire); /* (2) */
		int fd;

		*ret_began = began;
		*ret_flight = i;
		if (began <= CLAIMED || nnb__now() - began < TICK_NS)
			continue;
		fd = nnb__dup(atomic_load_explicit(&s->flights[i].fd, memory_order_relaxed));
		atomic_thread_fence(memory_order_seq_cst);
		if (fd >= 0 && atomic_load_explicit(&s->flights[i].began, memory_order_relaxed) == began)
			return fd;
		if (fd >= 0)
			nnb__close(fd);
	}
	return -1;
}

/* Whether the watcher must look at @s: a call is slow, or there is a trial beside one. */
static bool suspicion_is_due(struct nnb__suspicion *s)
{
	if (atomic_load_explicit(&s->beside, memory_order_relaxed) != NONE)
		return true;
	for (unsigned i = 0; i < FLIGHTS; i++) {
		uint64_t began = time_load(&s->flights[i].began);

		if (began > CLAIMED && nnb__now() - began >= TICK_NS)
			return true;
	}
	return false;
}

/* Have a worker try the file of a slow call beside it, and take what another one has found. */
static void suspicion_watch(struct nnb__suspicion *s)
{
	unsigned flight;
	uint64_t began;
	int fd, trial;

	if (!nnb__suspicion_settle(s) || !s->errands)
		return;
	fd = file_of_slow_flight(s, &began, &flight);
	if (fd < 0)
		return;
	pthread_mutex_lock(&s->lock);
	s->beside_flight = flight;
	s->beside_call = began;
	s->beside_until = 0;
	atomic_store_explicit(&nnb__suspicion_ref(s)->beside, TAKEN, memory_order_relaxed);
	pthread_mutex_unlock(&s->lock);
	trial = nnb__errand_try_begin(s->errands, fd);
	nnb__close(fd);
	if (trial < 0)
		trial = trial_of(s, trial, 0) == NNB__TRIED_HELD ? BLIND : NONE;
	beside_give(s, trial);
}

/* The next app after @before, a reference that is dropped, that the watcher must look at; NULL: the first, none. */
static struct nnb__suspicion *due_after(struct nnb__suspicion *before)
{
	struct nnb__suspicion *s;

	pthread_mutex_lock(&list);
	s = before ? before->next : apps;
	while (s && !suspicion_is_due(s))
		s = s->next;
	nnb__suspicion_ref(s);
	pthread_mutex_unlock(&list);
	nnb__suspicion_unref(before);
	return s;
}

/* Watch all apps for which that is due; *ret_any: there are some. Returns the number of flights so far. */
static uint64_t apps_watch(bool *ret_any)
{
	uint64_t flights = atomic_load_explicit(&n_flights, memory_order_seq_cst);

	*ret_any = false;
	for (struct nnb__suspicion *s = due_after(NULL); s; s = due_after(s)) {
		suspicion_watch(s);
		*ret_any = true;
	}
	return flights;
}

static void *watcher_run(void *arg)
{
	uint64_t before = 0, since = nnb__now();

	(void)arg;
	for (;;) {
		uint64_t now, flights;
		bool any;

		usleep(TICK_NS / 1000);
		flights = apps_watch(&any);
		now = nnb__now();
		if (any || flights != before)
			since = now;
		before = flights;
		if (now - since < WATCH_NS)
			continue;
		atomic_store_explicit(&idle, 1, memory_order_seq_cst);
		if (apps_watch(&any) == before && !any)
			while (atomic_load_explicit(&idle, memory_order_relaxed))
				nnb__futex_wait(&idle, 1, UINT32_MAX, UINT64_MAX);
		atomic_store_explicit(&idle, 0, memory_order_relaxed);
		since = nnb__now();
	}
	return NULL;
}

int nnb__suspicions_begin(void)
{
	static bool begun;
	pthread_t watcher;
	int r;

	if (begun)
		return 0;
	r = -pthread_create(&watcher, NULL, watcher_run, NULL);
	if (!r)
		pthread_detach(watcher);
	begun = !r;
	return r;
}

/* ---- apps ---- */

/*
 * Free what has no references, but for suspected apps: that tears were slow matters only for those. The lock of the
 * list is held.
 */
static void apps_forget(void)
{
	struct nnb__suspicion **at = &apps;

	while (*at) {
		struct nnb__suspicion *s = *at;

		if (time_load(&s->refs) || nnb__is_suspected(s)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		pthread_mutex_destroy(&s->lock);
		free(s);
	}
}

/* The lock of the list is held. */
static struct nnb__suspicion *suspicion_new(uint32_t key)
{
	struct nnb__suspicion *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->key = key;
	s->looking = NONE;
	atomic_store_explicit(&s->beside, NONE, memory_order_relaxed);
	pthread_mutex_init(&s->lock, NULL);
	s->next = apps;
	apps = s;
	return s;
}

struct nnb__suspicion *nnb__suspicion_of(uint32_t key)
{
	struct nnb__suspicion *s;

	pthread_mutex_lock(&list);
	for (s = apps; s && s->key != key;)
		s = s->next;
	if (!s) {
		apps_forget();
		s = suspicion_new(key);
	}
	if (s && !s->errands) {
		s->errands = nnb__errands_of(key);
		if (s->errands) /* it may have left workers behind when it was here before */
			atomic_fetch_add_explicit(&s->n_left, 1, memory_order_relaxed);
	}
	nnb__suspicion_ref(s);
	pthread_mutex_unlock(&list);
	return s;
}

struct nnb__suspicion *nnb__suspicion_ref(struct nnb__suspicion *s)
{
	if (s)
		atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

struct nnb__suspicion *nnb__suspicion_unref(struct nnb__suspicion *s)
{
	uint64_t refs = s ? time_load(&s->refs) : 0;

	while (refs > 1)
		if (atomic_compare_exchange_weak_explicit(&s->refs, &refs, refs - 1, memory_order_acq_rel,
		                                          memory_order_relaxed))
			return NULL;
	if (!s)
		return NULL;
	pthread_mutex_lock(&list);
	assert(time_load(&s->refs));
	if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1) {
		/* no trial is under way: one beside a call has a reference, and so has the thread that looks */
		assert(atomic_load_explicit(&s->beside, memory_order_relaxed) == NONE && s->looking == NONE);
		/* the workers are asked for again if the app comes back */
		atomic_store_explicit(&s->n_left_gone, atomic_load_explicit(&s->n_left, memory_order_relaxed),
		                      memory_order_relaxed);
		s->errands = nnb__errands_unref(s->errands);
	}
	pthread_mutex_unlock(&list);
	return NULL;
}

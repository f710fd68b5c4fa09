/*
 * gate.c -- bounds how long the files of one app can make the other apps of a service wait.
 *
 * BOUND     The time of a call in this process can be another app's, because all of them wait for the same memory
 *           map. So it is never judged. While a call of an app takes TICK_NS or more, a worker maps and unmaps the
 *           same file: a process that works for this app alone, and so has no lock in common with another. If the
 *           worker sleeps for BLOCKED_NS meanwhile (a time in which it is ready and has no cpu does not count), the
 *           file's lock is held. Then its app is suspected for SUSPECTED_NS, and the worker tries each file before
 *           it is mapped or unmapped. If that blocks, a map waits on its own app's thread, tries again, and is
 *           refused after WAIT_NS; an unmap is left to the reaper. The lock may be taken between the trial and the
 *           call. Then the call is slow, and the worker finds out as before: a strike. For COST times as long as
 *           the worker was blocked, nothing of the app is mapped or unmapped, and for twice as many times after
 *           each further strike (up to COST << STRIKES_MAX). So the others wait for one call each time that an app
 *           becomes suspected, and for a COST-th of the time while it goes on; and an app that holds no lock is
 *           never tried before a call, and never refused.
 * TEARS     A signal handler replaces a torn mapping, and cannot try the file before. It is watched as a call is.
 *           After a slow tear, each execution of a suspected app over pages that can tear passes a trial first.
 * CONCURRENCY  Any thread. A gate has a turn for its calls, so that of an app one thread at a time is in the
 *           kernel, and those behind it see what it found. Only threads of that app wait for it; the reaper tries.
 *           A gate's lock guards the turn, and who ends the trial beside a call. The lock of the list guards the
 *           list of gates and their late mappings. Neither is held for a call that takes long. References are
 *           atomic; the last is dropped under the list's lock. Times of gates are atomic, and hints: relaxed.
 * FLIGHTS   A call under way is a flight, in a place of its gate; a signal handler can begin one. (1) begin: claim
 *           the place, (1a) fence, store the fd, then the time, release; (2) the watcher loads the time, acquire, then
 *           the fd, duplicates it, and loads the time again: the same time => the call had not ended, so the fd was
 *           its file's, because of (1a). The watcher sleeps while nothing is called: a call stores that it is there,
 *           then loads whether the watcher is idle; the watcher stores that it is idle, then loads whether there are
 *           calls (both sequentially consistent), so one of them sees the other.
 * WAITS     A wait ends when its app is gone, or the service stops (wait_is_over), within SLICE_NS. A trial beside a
 *           call does not: the watcher takes its answer, or gives it up WAIT_NS after the call. The app's next call
 *           waits for that.
 * CHARGES   What is left to the reaper stays charged to its app (struct nnb__gate_keeper), so an app that opens and
 *           closes faster than the reaper works comes to its limits. The reaper does not wait for the end of a
 *           strike, because the app may be gone by then, but for a lock that was free in all trials of QUIET_NS,
 *           without a strike: who holds it again and again would have to take it within the microseconds that follow.
 *           Each gate has a list of its own, and the reaper visits all of them in turn and waits LOOK_NS for one at
 *           most.
 * CRASH     If workers end or cannot be started (errand.c), no file is known to be held: files of suspected apps are
 *           mapped as those of others. If no worker is free, nothing is judged, and files of suspected apps are not
 *           mapped. An app whose workers for trials were all left behind, asleep in the kernel, holds locks: each slow
 *           call of it is taken for blocked, for as long as it took.
 */
#include "memory/gate.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/close.h"
#include "base/sys.h"
#include "memory/errand.h"

#define MS UINT64_C(1000000)
#define TICK_NS (10 * MS)          /* between two looks at the calls under way: what takes longer is slow */
#define BLOCKED_NS (2 * MS)        /* a worker that sleeps for so long finds the file's lock held */
#define SUSPECTED_NS (600000 * MS) /* since the worker was last blocked beside a call */
#define WAIT_NS (2000 * MS)        /* of a call for a lock that is held */
#define LOOK_NS (20 * MS)          /* of the reaper for a trial */
#define MEND_NS (5 * MS)           /* of a thread that may have a lane */
#define SLICE_NS (20 * MS)         /* between two looks at whether a wait is over */
#define AGAIN_NS (10 * MS)         /* between two trials of a file whose lock is held */
#define WATCH_NS (1000 * MS)       /* how long the watcher stays awake after the last call */
#define FOREVER UINT64_MAX
#define REAP_NS (50 * MS)    /* between two rounds of the reaper, if a lock is held */
#define QUIET_NS (1000 * MS) /* of good trials, before the reaper unmaps a file of an app with strikes */

enum {
	COST = 50, /* times as long as the worker was blocked */
	STRIKES_MAX = 5,
	SILENCE = 4, /* times as long does a map wait for a worker that may have no cpu */
	REAP_STEP_US = 200,
	BESIDE_US = 500,     /* between two looks at a trial beside a call */
	REAPED_AT_ONCE = 64, /* mappings of one app */
	FLIGHTS = 4          /* calls of one app under way: one, and tears */
};

enum trial {
	FREE,
	HELD,   /* the worker was blocked by the file */
	SILENT, /* no answer in time, and perhaps no cpu; or no free worker */
	OVER    /* the app is gone, or the service stops */
};

struct nnb__gate {
	struct nnb__gate *next; /* under the list's lock, with the key */
	uint32_t key;
	_Atomic uint64_t refs; /* with one for each mapping that waits for the reaper */

	pthread_mutex_t lock;
	pthread_cond_t turn_ends;
	bool turn_taken; /* under the lock */
	/*
	 * The trial beside a call, from which nothing has followed yet, with a reference to this gate; NONE, BLIND.
	 * Changes under the lock.
	 */
	_Atomic int beside;
	/* Under the lock: that call's place, when it began, and when the trial is given up; 0: not while it goes on. */
	unsigned beside_flight;
	uint64_t beside_call, beside_until;
	uint64_t quiet_since;   /* since then each trial of the reaper was good; 0: the last was not. The reaper's */
	uint32_t quiet_strikes; /* of that time. The reaper's */
	int reaping;            /* the reaper's trial, or NONE; the reaper's */
	struct nnb__errands *errands; /* while there are references; under the list's lock */

	/* under the list's lock */
	struct late *late, **late_tail;
	uint64_t n_late; /* with the one that is being unmapped */
	const struct nnb__gate_keeper *keeper;
	void *app;

	struct {
		_Atomic uint64_t began; /* 0: free; CLAIMED */
		_Atomic int fd;
		uint64_t judged; /* the last call here beside which a lock was held: when it began. Under the lock */
	} flights[FLIGHTS];

	_Atomic uint64_t suspected_until, refused_until;
	_Atomic uint64_t tore_until; /* executions over pages that can tear are tried until then; 0: not at all */
	_Atomic uint32_t strikes;    /* since the app is suspected */
};

#define CLAIMED UINT64_C(1) /* no time */
#define NONE (-1)           /* no trial */
#define BLIND (-2)          /* no trial, because all workers that could make one were left behind */

/* A mapping that waits for the reaper. */
struct late {
	struct late *next;
	struct nnb__gate *gate;
	void *start;
	size_t bytes;
	int fd;
	uint32_t files;
};

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reaper_turns = PTHREAD_COND_INITIALIZER; /* some mapping is late, or the reaper rests */
static struct nnb__gate *gates;
static uint64_t n_late; /* of all gates; under the list's lock */
static bool begun;      /* written once, before any gate exists */
static atomic_bool leaving;
static _Atomic uint32_t idle;      /* the watcher sleeps */
static _Atomic uint64_t n_flights; /* so far */
static _Atomic uint64_t mapped;
static _Thread_local struct nnb__gate *mine;
static _Thread_local const atomic_bool *mine_gone;

/* ---- waits ---- */

/* Whether nothing should wait any more for the sake of this thread's app. */
static bool wait_is_over(void)
{
	return atomic_load_explicit(&leaving, memory_order_relaxed) ||
	       (mine_gone && atomic_load_explicit(mine_gone, memory_order_relaxed));
}

static bool wait_goes_on(void)
{
	return !wait_is_over();
}

static uint64_t slice_end(uint64_t now, uint64_t until)
{
	return until - now < SLICE_NS ? until : now + SLICE_NS;
}

/* Sleep until @until. False: the wait is over. */
static bool pause_until(uint64_t until)
{
	uint64_t now;

	while ((now = nnb__now()) < until) {
		if (wait_is_over())
			return false;
		usleep((useconds_t)((slice_end(now, until) - now) / 1000 + 1));
	}
	return !wait_is_over();
}

/* Take the turn of @g. False: another thread has had it until @until, or the wait is over. */
static bool turn_take(struct nnb__gate *g, uint64_t until)
{
	bool taken;

	pthread_mutex_lock(&g->lock);
	while (g->turn_taken) {
		uint64_t now = nnb__now(), end;
		struct timespec at;

		if (now >= until || wait_is_over())
			break;
		end = slice_end(now, until);
		at = (struct timespec){ (time_t)(end / 1000000000), (long)(end % 1000000000) };
		pthread_cond_clockwait(&g->turn_ends, &g->lock, CLOCK_MONOTONIC, &at);
	}
	taken = !g->turn_taken;
	g->turn_taken = true;
	pthread_mutex_unlock(&g->lock);
	return taken;
}

static void turn_end(struct nnb__gate *g)
{
	pthread_mutex_lock(&g->lock);
	assert(g->turn_taken);
	g->turn_taken = false;
	pthread_cond_signal(&g->turn_ends);
	pthread_mutex_unlock(&g->lock);
}

/* ---- times ---- */

static uint64_t time_load(const _Atomic uint64_t *time)
{
	return atomic_load_explicit(time, memory_order_relaxed);
}

static void time_store(_Atomic uint64_t *time, uint64_t value)
{
	atomic_store_explicit(time, value, memory_order_relaxed);
}

static bool gate_suspects(const struct nnb__gate *g)
{
	uint64_t until = time_load(&g->suspected_until);

	return until && nnb__now() < until;
}

static bool gate_refuses(const struct nnb__gate *g)
{
	uint64_t until = time_load(&g->refused_until);

	return until && nnb__now() < until;
}

/* The worker was blocked for @blocked beside a call of @g: its file's lock is held. */
static void gate_strike(struct nnb__gate *g, uint64_t blocked)
{
	uint64_t now = nnb__now();
	uint32_t strikes;

	if (!gate_suspects(g)) {
		atomic_store_explicit(&g->strikes, 0, memory_order_relaxed);
		time_store(&g->suspected_until, now + SUSPECTED_NS);
		return;
	}
	strikes = atomic_fetch_add_explicit(&g->strikes, 1, memory_order_relaxed);
	now += blocked * COST << (strikes < STRIKES_MAX ? strikes : STRIKES_MAX);
	if (time_load(&g->refused_until) < now)
		time_store(&g->refused_until, now);
	time_store(&g->suspected_until, now + SUSPECTED_NS);
}

/* ---- trials ---- */

/* What a trial means that has ended with @r. */
static enum trial trial_of(int r, uint64_t blocked)
{
	switch (r) {
	case -ECANCELED:
		return OVER;
	case -ETIMEDOUT:
		return blocked ? HELD : SILENT;
	case -EBUSY: /* all workers were left behind, each of them blocked by a file of this app */
		return HELD;
	default:
		return blocked >= BLOCKED_NS ? HELD : FREE;
	}
}

/* Whether the lock of @fd's file is held, as far as another process can find out until @until. */
static enum trial trial_run(struct nnb__gate *g, int fd, uint64_t until)
{
	uint64_t now = nnb__now(), blocked;
	const struct nnb__errand_wait wait = { .limit_ns = until > now ? until - now : 0, .goes_on = wait_goes_on };
	int r;

	if (!g->errands)
		return FREE;
	r = nnb__errand_try(g->errands, fd, &wait, &blocked);
	return trial_of(r, blocked);
}

/* Whether what was found beside a call of @g can be taken now. @trial: what is there. The lock of @g is held. */
static bool beside_is_over(struct nnb__gate *g, int trial)
{
	uint64_t now;

	if (trial >= 0 && nnb__errand_try_has_ended(g->errands, trial))
		return true;
	if (time_load(&g->flights[g->beside_flight].began) == g->beside_call)
		return false;
	now = nnb__now();
	if (!g->beside_until)
		g->beside_until = now + WAIT_NS;
	return trial == BLIND || now >= g->beside_until;
}

/*
 * Take what the worker has found beside a call of @g, and draw the consequence. False: the worker has not answered
 * yet; the watcher asks again. The lock of the list is not held.
 */
static bool beside_end(struct nnb__gate *g)
{
	const struct nnb__errand_wait none = { 0 };
	uint64_t blocked, call;
	bool is_over = true, is_first = false;
	unsigned flight;
	int trial, r;

	if (atomic_load_explicit(&g->beside, memory_order_relaxed) == NONE)
		return true;
	pthread_mutex_lock(&g->lock);
	trial = atomic_load_explicit(&g->beside, memory_order_relaxed);
	flight = g->beside_flight;
	call = g->beside_call;
	if (trial != NONE && (is_over = beside_is_over(g, trial)))
		atomic_store_explicit(&g->beside, NONE, memory_order_relaxed);
	pthread_mutex_unlock(&g->lock);
	if (trial == NONE || !is_over)
		return is_over;
	blocked = nnb__now() - call;
	r = trial == BLIND ? -EBUSY : nnb__errand_try_end(g->errands, trial, &none, &blocked);
	if (trial_of(r, blocked) == HELD) {
		pthread_mutex_lock(&g->lock);
		is_first = g->flights[flight].judged != call; /* several trials beside one call are one strike */
		g->flights[flight].judged = call;
		pthread_mutex_unlock(&g->lock);
	}
	if (is_first)
		gate_strike(g, blocked);
	nnb__gate_unref(g);
	return true;
}

/* Wait until nothing is to be found beside a call of @g. False: that is not so by @until, or the wait is over. */
static bool beside_await(struct nnb__gate *g, uint64_t until)
{
	while (!beside_end(g))
		if (nnb__now() >= until || wait_is_over())
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

/* A call of @g begins, on a file that stays open until flight_end. A signal handler calls this, too. */
static void flight_begin(struct nnb__gate *g, int fd, struct nnb__gate_call *call)
{
	call->began = nnb__now();
	call->flight = 0;
	while (call->flight < FLIGHTS) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong_explicit(&g->flights[call->flight].began, &none, CLAIMED,
		                                            memory_order_acquire, memory_order_relaxed))
			break;
		call->flight++;
	}
	if (call->flight == FLIGHTS) /* the others are watched */
		return;
	atomic_thread_fence(memory_order_release); /* (1a) */
	atomic_store_explicit(&g->flights[call->flight].fd, fd, memory_order_relaxed);
	atomic_store_explicit(&g->flights[call->flight].began, call->began, memory_order_release); /* (1) */
	atomic_fetch_add_explicit(&n_flights, 1, memory_order_seq_cst);
	watcher_wake();
}

static void flight_end(struct nnb__gate *g, const struct nnb__gate_call *call)
{
	if (call->flight < FLIGHTS)
		atomic_store_explicit(&g->flights[call->flight].began, 0, memory_order_release);
}

/* A file that a call of @g has been at for TICK_NS by now, duplicated; -1: none. *ret_flight is the call's place. */
static int file_of_slow_flight(struct nnb__gate *g, uint64_t *ret_began, unsigned *ret_flight)
{
	for (unsigned i = 0; i < FLIGHTS; i++) {
		uint64_t began = atomic_load_explicit(&g->flights[i].began, memory_order_acquire); /* (2) */
		int fd;

		*ret_began = began;
		*ret_flight = i;
		if (began <= CLAIMED || nnb__now() - began < TICK_NS)
			continue;
		fd = fcntl(atomic_load_explicit(&g->flights[i].fd, memory_order_relaxed), F_DUPFD_CLOEXEC, 3);
		atomic_thread_fence(memory_order_seq_cst);
		if (fd >= 0 && atomic_load_explicit(&g->flights[i].began, memory_order_relaxed) == began)
			return fd;
		if (fd >= 0)
			nnb__close(fd);
	}
	return -1;
}

static bool gate_is_slow(struct nnb__gate *g)
{
	if (atomic_load_explicit(&g->beside, memory_order_relaxed) != NONE)
		return true;
	for (unsigned i = 0; i < FLIGHTS; i++) {
		uint64_t began = time_load(&g->flights[i].began);

		if (began > CLAIMED && nnb__now() - began >= TICK_NS)
			return true;
	}
	return false;
}

/* Have a worker try the file of a slow call beside it, and take what another one has found. The watcher's. */
static void gate_watch(struct nnb__gate *g)
{
	unsigned flight;
	uint64_t began;
	int fd, trial;

	if (!beside_end(g) || !g->errands)
		return;
	fd = file_of_slow_flight(g, &began, &flight);
	if (fd < 0)
		return;
	trial = nnb__errand_try_begin(g->errands, fd);
	nnb__close(fd);
	if (trial < 0 && trial_of(trial, 0) == HELD)
		trial = BLIND;
	else if (trial < 0)
		return;
	pthread_mutex_lock(&g->lock);
	g->beside_flight = flight;
	g->beside_call = began;
	g->beside_until = 0;
	atomic_store_explicit(&nnb__gate_ref(g)->beside, trial, memory_order_relaxed);
	pthread_mutex_unlock(&g->lock);
}

/* The gates for which @is_wanted, each with a reference, and *ret_n, their number. Owned; NULL: none, or no memory. */
static struct nnb__gate **gates_find(bool (*is_wanted)(struct nnb__gate *g), uint64_t *ret_n)
{
	struct nnb__gate **found = NULL;
	uint64_t most = 0, n = 0;

	pthread_mutex_lock(&list);
	for (struct nnb__gate *g = gates; g; g = g->next)
		most += is_wanted(g);
	if (most)
		found = calloc(most, sizeof(struct nnb__gate *));
	for (struct nnb__gate *g = gates; found && g && n < most; g = g->next)
		if (is_wanted(g))
			found[n++] = nnb__gate_ref(g);
	pthread_mutex_unlock(&list);
	*ret_n = n;
	return found;
}

/* Watch all gates that need it; *ret_any: there are some. Returns the number of flights so far. */
static uint64_t gates_watch(bool *ret_any)
{
	uint64_t flights = atomic_load_explicit(&n_flights, memory_order_seq_cst), n;
	struct nnb__gate **slow = gates_find(gate_is_slow, &n);

	*ret_any = n;
	for (uint64_t i = 0; i < n; i++) {
		gate_watch(slow[i]);
		nnb__gate_unref(slow[i]);
	}
	free(slow);
	return flights;
}

static void *watch(void *arg)
{
	uint64_t before = 0, since = nnb__now();

	(void)arg;
	for (;;) {
		uint64_t now, flights;
		bool any;

		usleep(TICK_NS / 1000);
		flights = gates_watch(&any);
		now = nnb__now();
		if (any || flights != before)
			since = now;
		before = flights;
		if (now - since < WATCH_NS)
			continue;
		atomic_store_explicit(&idle, 1, memory_order_seq_cst);
		if (gates_watch(&any) == before && !any)
			while (atomic_load_explicit(&idle, memory_order_relaxed))
				nnb__futex_wait(&idle, 1, UINT32_MAX, UINT64_MAX);
		atomic_store_explicit(&idle, 0, memory_order_relaxed);
		since = nnb__now();
	}
	return NULL;
}

/* ---- calls ---- */

/* Try @fd's file until its lock is free, for @most at most. The turn of @g is held. */
static enum trial free_await(struct nnb__gate *g, int fd, uint64_t most)
{
	uint64_t now = nnb__now(), held_until = now + most, until = now + most * SILENCE, refused_until;
	enum trial r;

	for (;;) {
		refused_until = time_load(&g->refused_until);
		if (refused_until > now && (refused_until > held_until || !pause_until(refused_until)))
			return HELD;
		r = trial_run(g, fd, until);
		now = nnb__now();
		if (r == FREE || r == OVER || now >= (r == HELD ? held_until : until) || !pause_until(now + AGAIN_NS))
			return r;
	}
}

/*
 * Take the turn of @g, once the lock of @fd's file is free as far as another process can find out. -EBUSY: it is
 * held for longer than WAIT_NS. -ECANCELED: the wait is over. An app that is not suspected waits for its turn for as
 * long as it takes. A thread that does not wait, because it may have a lane, has MEND_NS, and SILENCE times as long
 * for a worker.
 */
static int turn_when_free(struct nnb__gate *g, int fd, bool waits)
{
	uint64_t most = waits ? WAIT_NS : MEND_NS, until = nnb__now() + most;

	while (!turn_take(g, waits ? nnb__now() + SLICE_NS : until))
		if (!waits || wait_is_over() || (gate_suspects(g) && nnb__now() > until))
			return wait_is_over() ? -ECANCELED : -EBUSY;
	/* this call must know what was found beside the last one */
	if (beside_await(g, waits ? FOREVER : until) && (!gate_suspects(g) || free_await(g, fd, most) == FREE))
		return 0;
	turn_end(g);
	return wait_is_over() ? -ECANCELED : -EBUSY;
}

int nnb__gate_open(struct nnb__gate *g, int fd, bool waits, struct nnb__gate_call *call)
{
	int r;

	*call = (struct nnb__gate_call){ 0 };
	if (!g)
		return 0;
	r = turn_when_free(g, fd, waits);
	if (!r)
		flight_begin(g, fd, call);
	return r;
}

void nnb__gate_close(struct nnb__gate *g, const struct nnb__gate_call *call, unsigned more)
{
	if (!g)
		return;
	flight_end(g, call);
	if (more)
		atomic_fetch_add_explicit(&mapped, more, memory_order_relaxed);
	turn_end(g);
}

/* The turn of @g is held. */
static void unmap_now(struct nnb__gate *g, void *start, size_t bytes, int fd)
{
	struct nnb__gate_call call;

	flight_begin(g, fd, &call);
	munmap(start, bytes);
	flight_end(g, &call);
	atomic_fetch_sub_explicit(&mapped, 1, memory_order_relaxed);
}

/* Leave the mapping to the reaper. False: no memory. */
static bool unmap_later(struct nnb__gate *g, void *start, size_t bytes, int fd, uint32_t files)
{
	const struct nnb__gate_keeper *keeper;
	struct late *l = malloc(sizeof(*l));
	void *app;

	if (!l)
		return false;
	*l = (struct late){ .gate = nnb__gate_ref(g), .start = start, .bytes = bytes, .fd = fd, .files = files };
	pthread_mutex_lock(&list);
	keeper = g->keeper;
	app = g->app;
	pthread_mutex_unlock(&list);
	if (keeper)
		keeper->hold(app, l->files, bytes); /* before it can be reaped */
	pthread_mutex_lock(&list);
	*g->late_tail = l;
	g->late_tail = &l->next;
	g->n_late++;
	n_late++;
	pthread_cond_broadcast(&reaper_turns);
	pthread_mutex_unlock(&list);
	return true;
}

static bool has_late(struct nnb__gate *g)
{
	bool has;

	pthread_mutex_lock(&list);
	has = g->n_late;
	pthread_mutex_unlock(&list);
	return has;
}

static void file_close(int fd)
{
	if (fd >= 0)
		nnb__close(fd);
}

/* Unmap, unless that would have to wait for the lock of @fd's file, or for the reaper. */
static bool unmap_soon(struct nnb__gate *g, void *start, size_t bytes, int fd)
{
	uint64_t until = nnb__now() + WAIT_NS;
	bool goes;

	if (gate_suspects(g) && (gate_refuses(g) || has_late(g)))
		return false;
	while (!turn_take(g, nnb__now() + SLICE_NS))
		if (wait_is_over() || (gate_suspects(g) && nnb__now() > until))
			return false;
	goes = beside_await(g, FOREVER);
	if (goes && gate_suspects(g))
		goes = !gate_refuses(g) && !has_late(g) && trial_run(g, fd, nnb__now() + WAIT_NS) == FREE;
	if (goes)
		unmap_now(g, start, bytes, fd);
	turn_end(g);
	return goes;
}

void nnb__gate_unmap(struct nnb__gate *g, void *start, size_t bytes, int fd, uint32_t files)
{
	if (!g)
		munmap(start, bytes);
	else if (!atomic_load_explicit(&leaving, memory_order_relaxed)) { /* the kernel unmaps it after the exit */
		if (!unmap_soon(g, start, bytes, fd)) {
			if (unmap_later(g, start, bytes, fd, files))
				return;
			munmap(start, bytes);
			atomic_fetch_sub_explicit(&mapped, 1, memory_order_relaxed);
		}
	}
	file_close(fd); /* outside of the turn: the last one of a file takes as long as its pages do */
}

/* ---- tears ---- */

void nnb__gate_tear_begins(struct nnb__gate *g, int fd, struct nnb__gate_call *call)
{
	*call = (struct nnb__gate_call){ 0 };
	if (g)
		flight_begin(g, fd, call);
}

void nnb__gate_tear_ends(struct nnb__gate *g, const struct nnb__gate_call *call)
{
	uint64_t now;

	if (!g)
		return;
	flight_end(g, call);
	now = nnb__now();
	if (now - call->began >= TICK_NS)
		time_store(&g->tore_until, now + SUSPECTED_NS);
}

bool nnb__gate_passes(struct nnb__gate *g, int fd)
{
	uint64_t until = g ? time_load(&g->tore_until) : 0, now;

	if (!until)
		return true;
	now = nnb__now();
	if (now >= until)
		return true;
	if (!beside_await(g, FOREVER))
		return false;
	if (!gate_suspects(g))
		return true;
	if (turn_when_free(g, fd, true))
		return false;
	turn_end(g);
	return true;
}

/* ---- the reaper ---- */

/* What the reaper knows of @l is done with: it is unmapped, or left to the exit. */
static void late_finish(struct late *l)
{
	struct nnb__gate *g = l->gate;
	const struct nnb__gate_keeper *keeper;
	void *app;

	file_close(l->fd);
	pthread_mutex_lock(&list);
	keeper = g->keeper;
	app = g->app;
	pthread_mutex_unlock(&list);
	if (keeper)
		keeper->release(app, l->files, l->bytes);
	pthread_mutex_lock(&list);
	g->n_late--;
	n_late--;
	pthread_cond_broadcast(&reaper_turns);
	pthread_mutex_unlock(&list);
	nnb__gate_unref(g);
	free(l);
}

/* The first late mapping of @g, which is taken from its list; NULL: none. */
static struct late *late_take(struct nnb__gate *g)
{
	struct late *l;

	pthread_mutex_lock(&list);
	l = g->late;
	if (l) {
		g->late = l->next;
		if (!l->next)
			g->late_tail = &g->late;
	}
	pthread_mutex_unlock(&list);
	return l;
}

static void late_put_back(struct nnb__gate *g, struct late *l)
{
	pthread_mutex_lock(&list);
	l->next = g->late;
	if (!l->next)
		g->late_tail = &l->next;
	g->late = l;
	pthread_mutex_unlock(&list);
}

/* Try the file of @l, for LOOK_NS at most. If that is not enough, the trial stays for a later round. The reaper's. */
static enum trial late_try(struct nnb__gate *g, const struct late *l)
{
	const struct nnb__errand_wait none = { 0 };
	uint64_t until = nnb__now() + LOOK_NS, blocked;
	int trial = g->reaping, r;

	if (!g->errands)
		return FREE;
	if (trial != NONE &&
	    nnb__errand_try_has_ended(g->errands, trial)) { /* some time ago, perhaps of another file */
		nnb__errand_try_end(g->errands, trial, &none, &blocked);
		trial = g->reaping = NONE;
	}
	if (trial == NONE) {
		trial = nnb__errand_try_begin(g->errands, l->fd);
		if (trial < 0)
			return trial_of(trial, 0);
		g->reaping = trial;
	} else {
		return SILENT;
	}
	while (!nnb__errand_try_has_ended(g->errands, trial)) {
		if (nnb__now() >= until || wait_is_over())
			return SILENT;
		usleep(REAP_STEP_US);
	}
	g->reaping = NONE;
	r = nnb__errand_try_end(g->errands, trial, &none, &blocked);
	return trial_of(r, blocked);
}

/* End the reaper's trial of a file of @g that is not unmapped any more, or not soon. */
static void late_give_up(struct nnb__gate *g)
{
	const struct nnb__errand_wait none = { 0 };
	uint64_t blocked;

	if (g->reaping != NONE)
		nnb__errand_try_end(g->errands, g->reaping, &none, &blocked);
	g->reaping = NONE;
}

/* Whether @l can be unmapped now. The turn of @g is held. */
static bool late_is_free(struct nnb__gate *g, const struct late *l)
{
	enum trial r = late_try(g, l);
	uint32_t strikes = atomic_load_explicit(&g->strikes, memory_order_relaxed);
	uint64_t now = nnb__now();

	if (!g->quiet_since || strikes != g->quiet_strikes)
		g->quiet_since = now;
	if (r != FREE)
		g->quiet_since = 0;
	g->quiet_strikes = strikes;
	return r == FREE && (!strikes || now - g->quiet_since >= QUIET_NS);
}

/* Unmap some late mappings of @g. Returns whether it can go on at once. */
static bool gate_reap(struct nnb__gate *g)
{
	struct late *l;

	for (unsigned n = 0; n < REAPED_AT_ONCE && (l = late_take(g)); n++) {
		bool left = atomic_load_explicit(&leaving, memory_order_relaxed), is_free = left;

		if (left)
			late_give_up(g);
		if (!left && turn_take(g, 0)) {
			is_free = beside_end(g) && late_is_free(g, l);
			if (is_free)
				unmap_now(g, l->start, l->bytes, l->fd);
			turn_end(g);
		}
		if (!is_free) {
			late_put_back(g, l);
			return false;
		}
		late_finish(l);
	}
	return true;
}

static bool gate_is_late(struct nnb__gate *g)
{
	return g->late;
}

/* Visit all gates once. Returns whether one of them can go on at once. */
static bool gates_reap(void)
{
	bool goes_on = false;
	uint64_t n;
	struct nnb__gate **some = gates_find(gate_is_late, &n);

	for (uint64_t i = 0; i < n; i++) {
		goes_on |= gate_reap(some[i]);
		nnb__gate_unref(some[i]);
	}
	free(some);
	return goes_on;
}

static void *reap(void *arg)
{
	(void)arg;
	for (;;) {
		bool goes_on;

		pthread_mutex_lock(&list);
		while (!n_late)
			pthread_cond_wait(&reaper_turns, &list);
		pthread_mutex_unlock(&list);
		goes_on = gates_reap();
		if (!goes_on && !atomic_load_explicit(&leaving, memory_order_relaxed))
			usleep(REAP_NS / 1000);
	}
	return NULL;
}

/* ---- gates ---- */

static int thread_start(void *(*run)(void *arg))
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = -pthread_create(&thread, &attr, run, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

int nnb__gates_begin(void)
{
	static bool watched;
	int r = 0;

	atomic_store_explicit(&leaving, false, memory_order_relaxed); /* an earlier service has left */
	if (begun)
		return 0;
	if (!watched)
		r = thread_start(watch);
	watched = !r;
	if (!r)
		r = thread_start(reap);
	begun = !r;
	return r;
}

bool nnb__gates_leave(uint64_t until)
{
	const struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
	bool left;
	int r = 0;

	atomic_store_explicit(&leaving, true, memory_order_relaxed);
	pthread_mutex_lock(&list);
	while (n_late && !r)
		r = pthread_cond_clockwait(&reaper_turns, &list, CLOCK_MONOTONIC, &at);
	left = !n_late;
	pthread_mutex_unlock(&list);
	return left;
}

uint64_t nnb__gates_mapped(void)
{
	return atomic_load_explicit(&mapped, memory_order_relaxed);
}

/*
 * Free the gates without references whose apps are not suspected: what is known of slow tears matters only for
 * suspected apps. The lock of the list is held.
 */
static void gates_forget(void)
{
	struct nnb__gate **at = &gates;

	while (*at) {
		struct nnb__gate *g = *at;

		if (time_load(&g->refs) || gate_suspects(g)) {
			at = &g->next;
			continue;
		}
		*at = g->next;
		pthread_cond_destroy(&g->turn_ends);
		pthread_mutex_destroy(&g->lock);
		free(g);
	}
}

static struct nnb__gate *gate_new(uint32_t key)
{
	struct nnb__gate *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->key = key;
	g->reaping = NONE;
	atomic_store_explicit(&g->beside, NONE, memory_order_relaxed);
	g->late_tail = &g->late;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->turn_ends, NULL);
	g->next = gates;
	gates = g;
	return g;
}

struct nnb__gate *nnb__gate_of(uint32_t key, const struct nnb__gate_keeper *keeper, void *app)
{
	struct nnb__gate *g;

	if (!begun)
		return NULL;
	pthread_mutex_lock(&list);
	for (g = gates; g && g->key != key;)
		g = g->next;
	if (!g) {
		gates_forget();
		g = gate_new(key);
	}
	if (g) {
		assert(!g->n_late || g->app == app);
		g->keeper = keeper;
		g->app = app;
		if (!g->errands)
			g->errands = nnb__errands_of(key);
		nnb__gate_ref(g);
	}
	pthread_mutex_unlock(&list);
	return g;
}

struct nnb__gate *nnb__gate_ref(struct nnb__gate *g)
{
	if (g)
		atomic_fetch_add_explicit(&g->refs, 1, memory_order_relaxed);
	return g;
}

struct nnb__gate *nnb__gate_unref(struct nnb__gate *g)
{
	uint64_t refs = g ? time_load(&g->refs) : 0;

	while (refs > 1)
		if (atomic_compare_exchange_weak_explicit(&g->refs, &refs, refs - 1, memory_order_acq_rel,
		                                          memory_order_relaxed))
			return NULL;
	if (!g)
		return NULL;
	pthread_mutex_lock(&list);
	assert(time_load(&g->refs));
	if (atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) == 1) {
		/* no trial is under way: one beside a call has a reference, and so has each late mapping */
		assert(atomic_load_explicit(&g->beside, memory_order_relaxed) == NONE && g->reaping == NONE);
		g->errands = nnb__errands_unref(g->errands);
	}
	pthread_mutex_unlock(&list);
	return NULL;
}

struct nnb__errands *nnb__gate_errands(struct nnb__gate *g)
{
	return g ? g->errands : NULL;
}

void nnb__gate_enter(struct nnb__gate *g, const atomic_bool *gone)
{
	mine = g;
	mine_gone = gone;
}

struct nnb__gate *nnb__gate_mine(void)
{
	return mine;
}

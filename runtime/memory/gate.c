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
 *           the place, store the fd, then the time, release; (2) the watcher loads the time, acquire, then the fd,
 *           duplicates it, and loads the time again: the same time => the call had not ended, so the fd was its
 *           file's. The watcher sleeps while nothing is called: a call stores that it is there, then loads whether
 *           the watcher is idle; the watcher stores that it is idle, then loads whether there are calls (both
 *           sequentially consistent), so one of them sees the other.
 * WAITS     A wait ends when its app is gone, or the service stops (wait_is_over), within SLICE_NS.
 * CHARGES   What is left to the reaper stays charged to its app (struct nnb__gate_keeper), so an app that opens and
 *           closes faster than the reaper works comes to its limits. The reaper does not wait for the end of a
 *           strike, because the app may be gone by then, but for a lock that was free in QUIET rounds: who holds it
 *           again and again would have to take it within the microseconds that follow a second without. Each gate
 *           has a list of its own, and the reaper visits all of them in turn and waits LOOK_NS for one at most.
 * CRASH     Without a worker (errand.c), no file is known to be held: files of suspected apps are mapped as those
 *           of others.
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
#define REAP_NS (50 * MS) /* between two rounds of the reaper, if a lock is held */

enum {
	COST = 50, /* times as long as the worker was blocked */
	STRIKES_MAX = 5,
	SILENCE = 4, /* times as long does a map wait for a worker that may have no cpu */
	REAP_STEP_US = 200,
	QUIET = 20, /* rounds in which the reaper finds a lock free, before it believes that of an app with strikes */
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
	/* The trial beside a call, from which nothing has followed yet; NONE. Changes under the lock. */
	_Atomic int beside;
	/* When that call began, and the last call beside which a lock was held; under the lock. */
	uint64_t beside_call, judged_call;
	uint64_t quiet; /* rounds of the reaper that found its locks free, one after another; the reaper's */
	int reaping;    /* the reaper's trial, or NONE; the reaper's */
	struct nnb__errands *errands; /* while there are references; under the list's lock */

	/* under the list's lock */
	struct late *late, **late_end;
	uint64_t n_late; /* with the one that is being unmapped */
	const struct nnb__gate_keeper *keeper;
	void *app;

	struct {
		_Atomic uint64_t began; /* 0: free; CLAIMED */
		_Atomic int fd;
	} flights[FLIGHTS];
	_Atomic uint64_t n_flights; /* so far */

	_Atomic uint64_t suspected_until, refused_until;
	_Atomic uint64_t tore_until; /* executions over pages that can tear are tried until then; 0: not at all */
	_Atomic uint32_t strikes;    /* since the app is suspected */
};

#define CLAIMED UINT64_C(1) /* no time */
#define NONE (-1)           /* no trial */

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
static _Atomic uint32_t idle; /* the watcher sleeps */
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

static uint64_t load(const _Atomic uint64_t *time)
{
	return atomic_load_explicit(time, memory_order_relaxed);
}

static void store(_Atomic uint64_t *time, uint64_t value)
{
	atomic_store_explicit(time, value, memory_order_relaxed);
}

static bool gate_suspects(const struct nnb__gate *g)
{
	uint64_t until = load(&g->suspected_until);

	return until && nnb__now() < until;
}

static bool gate_refuses(const struct nnb__gate *g)
{
	uint64_t until = load(&g->refused_until);

	return until && nnb__now() < until;
}

/* The worker was blocked for @blocked beside a call of @g: its file's lock is held. */
static void gate_strike(struct nnb__gate *g, uint64_t blocked)
{
	uint64_t now = nnb__now();
	uint32_t strikes;

	if (!gate_suspects(g)) {
		atomic_store_explicit(&g->strikes, 0, memory_order_relaxed);
		store(&g->suspected_until, now + SUSPECTED_NS);
		return;
	}
	strikes = atomic_fetch_add_explicit(&g->strikes, 1, memory_order_relaxed);
	now += blocked * COST << (strikes < STRIKES_MAX ? strikes : STRIKES_MAX);
	if (load(&g->refused_until) < now)
		store(&g->refused_until, now);
	store(&g->suspected_until, now + SUSPECTED_NS);
}

/* ---- trials ---- */

/* What an errand of @g means that has ended with @r. */
static enum trial trial_of(struct nnb__gate *g, int r, uint64_t blocked)
{
	switch (r) {
	case -ECANCELED:
		return OVER;
	case -ETIMEDOUT:
		return blocked ? HELD : SILENT;
	case -EBUSY:
		return nnb__errands_left(g->errands) >= NNB__ERRAND_LEFT ? HELD : SILENT;
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
	return trial_of(g, r, blocked);
}

/* Take what the worker has found beside a call of @g, if it has ended, or @waits; and draw the consequence. */
static void beside_end(struct nnb__gate *g, bool waits)
{
	const struct nnb__errand_wait wait = { .limit_ns = waits ? WAIT_NS : 0, .goes_on = wait_goes_on };
	uint64_t blocked, call;
	bool is_first;
	int trial, r;

	if (atomic_load_explicit(&g->beside, memory_order_relaxed) == NONE)
		return;
	pthread_mutex_lock(&g->lock);
	trial = atomic_load_explicit(&g->beside, memory_order_relaxed);
	if (trial != NONE && !waits && !nnb__errand_try_has_ended(g->errands, trial))
		trial = NONE;
	if (trial != NONE)
		atomic_store_explicit(&g->beside, NONE, memory_order_relaxed);
	call = g->beside_call;
	pthread_mutex_unlock(&g->lock);
	if (trial == NONE)
		return;
	r = nnb__errand_try_end(g->errands, trial, &wait, &blocked);
	if (trial_of(g, r, blocked) != HELD)
		return;
	pthread_mutex_lock(&g->lock);
	is_first = g->judged_call != call; /* several trials beside one call are one strike */
	g->judged_call = call;
	pthread_mutex_unlock(&g->lock);
	if (is_first)
		gate_strike(g, blocked);
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
	atomic_store_explicit(&g->flights[call->flight].fd, fd, memory_order_relaxed);
	atomic_store_explicit(&g->flights[call->flight].began, call->began, memory_order_release); /* (1) */
	atomic_fetch_add_explicit(&g->n_flights, 1, memory_order_seq_cst);
	watcher_wake();
}

static void flight_end(struct nnb__gate *g, const struct nnb__gate_call *call)
{
	if (call->flight < FLIGHTS)
		atomic_store_explicit(&g->flights[call->flight].began, 0, memory_order_release);
}

/* A file that a call of @g has been at for TICK_NS by now, duplicated; -1: none. */
static int file_of_slow_flight(struct nnb__gate *g, uint64_t *ret_began)
{
	for (unsigned i = 0; i < FLIGHTS; i++) {
		uint64_t began = atomic_load_explicit(&g->flights[i].began, memory_order_acquire); /* (2) */
		int fd;

		*ret_began = began;
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

static bool has_slow_flight(struct nnb__gate *g)
{
	for (unsigned i = 0; i < FLIGHTS; i++) {
		uint64_t began = load(&g->flights[i].began);

		if (began > CLAIMED && nnb__now() - began >= TICK_NS)
			return true;
	}
	return false;
}

/* Have a worker try the file of a slow call beside it, and take what another one has found. The watcher's. */
static void gate_watch(struct nnb__gate *g)
{
	uint64_t began;
	int fd, trial;

	beside_end(g, false);
	if (!g->errands || atomic_load_explicit(&g->beside, memory_order_relaxed) != NONE)
		return;
	fd = file_of_slow_flight(g, &began);
	if (fd < 0)
		return;
	trial = nnb__errand_try_begin(g->errands, fd);
	nnb__close(fd);
	if (trial < 0)
		return;
	pthread_mutex_lock(&g->lock);
	g->beside_call = began;
	atomic_store_explicit(&g->beside, trial, memory_order_relaxed);
	pthread_mutex_unlock(&g->lock);
}

/* Watch all gates that need it. Returns the number of flights so far. */
static uint64_t gates_watch(void)
{
	struct nnb__gate *slow[16];
	uint64_t flights = 0;
	unsigned n = 0;

	pthread_mutex_lock(&list);
	for (struct nnb__gate *g = gates; g; g = g->next) {
		flights += atomic_load_explicit(&g->n_flights, memory_order_seq_cst);
		if (n < sizeof(slow) / sizeof(slow[0]) &&
		    (has_slow_flight(g) || atomic_load_explicit(&g->beside, memory_order_relaxed) != NONE))
			slow[n++] = nnb__gate_ref(g);
	}
	pthread_mutex_unlock(&list);
	for (unsigned i = 0; i < n; i++) {
		gate_watch(slow[i]);
		nnb__gate_unref(slow[i]);
	}
	return flights + n;
}

static void *watch(void *arg)
{
	uint64_t before = 0, since = nnb__now();

	(void)arg;
	for (;;) {
		uint64_t now, flights;

		usleep(TICK_NS / 1000);
		flights = gates_watch();
		now = nnb__now();
		if (flights != before)
			since = now;
		before = flights;
		if (now - since < WATCH_NS)
			continue;
		atomic_store_explicit(&idle, 1, memory_order_seq_cst);
		if (gates_watch() == before)
			while (atomic_load_explicit(&idle, memory_order_relaxed))
				nnb__futex_wait(&idle, 1, UINT32_MAX, UINT64_MAX);
		atomic_store_explicit(&idle, 0, memory_order_relaxed);
		since = nnb__now();
	}
	return NULL;
}

/* ---- calls ---- */

/* A call of @g ends, whose turn is held: the next one must know what a worker has found beside this one. */
static void call_end(struct nnb__gate *g, const struct nnb__gate_call *call)
{
	flight_end(g, call);
	beside_end(g, true);
}

/* Try @fd's file until its lock is free, for @most at most. The turn of @g is held. */
static enum trial free_await(struct nnb__gate *g, int fd, uint64_t most)
{
	uint64_t now = nnb__now(), held_until = now + most, until = now + most * SILENCE, refused_until;
	enum trial r;

	for (;;) {
		refused_until = load(&g->refused_until);
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
 * held for longer than @most, or a wait is over. An app that is not suspected waits for its turn for as long as it
 * takes.
 */
static int turn_when_free(struct nnb__gate *g, int fd, uint64_t most)
{
	uint64_t began = nnb__now();

	while (!turn_take(g, nnb__now() + SLICE_NS))
		if (wait_is_over() || (gate_suspects(g) && nnb__now() - began > most))
			return -EBUSY;
	beside_end(g, true);
	if (!gate_suspects(g) || free_await(g, fd, most) == FREE)
		return 0;
	turn_end(g);
	return -EBUSY;
}

int nnb__gate_open(struct nnb__gate *g, int fd, bool waits, struct nnb__gate_call *call)
{
	int r;

	*call = (struct nnb__gate_call){ 0 };
	if (!g)
		return 0;
	r = turn_when_free(g, fd, waits ? WAIT_NS : MEND_NS);
	if (!r)
		flight_begin(g, fd, call);
	return r;
}

void nnb__gate_close(struct nnb__gate *g, const struct nnb__gate_call *call, unsigned more)
{
	if (!g)
		return;
	call_end(g, call);
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
	call_end(g, &call);
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
	*g->late_end = l;
	g->late_end = &l->next;
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
	bool goes = true;

	if (gate_suspects(g) && (gate_refuses(g) || has_late(g)))
		return false;
	while (!turn_take(g, nnb__now() + SLICE_NS))
		if (wait_is_over() || (gate_suspects(g) && nnb__now() > until))
			return false;
	if (gate_suspects(g))
		goes = !gate_refuses(g) && !has_late(g) && trial_run(g, fd, until) == FREE;
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
		store(&g->tore_until, now + SUSPECTED_NS);
}

bool nnb__gate_passes(struct nnb__gate *g, int fd)
{
	uint64_t until = g ? load(&g->tore_until) : 0, now;

	if (!until)
		return true;
	now = nnb__now();
	if (now >= until)
		return true;
	beside_end(g, true);
	if (!gate_suspects(g))
		return true;
	if (turn_when_free(g, fd, WAIT_NS))
		return false;
	turn_end(g);
	return true;
}

/* ---- the reaper ---- */

/* What the reaper knows of @l is done with: it is unmapped, or left to the exit. */
static void late_end(struct late *l)
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
			g->late_end = &g->late;
	}
	pthread_mutex_unlock(&list);
	return l;
}

static void late_put_back(struct nnb__gate *g, struct late *l)
{
	pthread_mutex_lock(&list);
	l->next = g->late;
	if (!l->next)
		g->late_end = &l->next;
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
			return trial_of(g, trial, 0);
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
	return trial_of(g, r, blocked);
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

/* Unmap some late mappings of @g. Returns whether it can go on at once. */
static bool gate_reap(struct nnb__gate *g)
{
	struct late *l;

	for (unsigned n = 0; n < REAPED_AT_ONCE && (l = late_take(g)); n++) {
		bool left = atomic_load_explicit(&leaving, memory_order_relaxed), is_free = left;

		if (left)
			late_give_up(g);
		if (!left && turn_take(g, 0)) {
			enum trial r = late_try(g, l);
			uint32_t strikes = atomic_load_explicit(&g->strikes, memory_order_relaxed);

			is_free = r == FREE && (!strikes || g->quiet >= QUIET);
			g->quiet = r == FREE ? g->quiet + 1 : 0;
			if (is_free)
				unmap_now(g, l->start, l->bytes, l->fd);
			if (atomic_load_explicit(&g->strikes, memory_order_relaxed) > strikes)
				g->quiet = 0;
			turn_end(g);
		}
		if (!is_free) {
			late_put_back(g, l);
			return false;
		}
		late_end(l);
	}
	return true;
}

/* Visit all gates once. Returns whether one of them can go on at once. */
static bool gates_reap(void)
{
	bool goes_on = false;
	uint64_t n = 0, i = 0;
	struct nnb__gate **some;

	pthread_mutex_lock(&list);
	for (const struct nnb__gate *g = gates; g; g = g->next)
		n += g->late != NULL;
	some = calloc(n + 1, sizeof(struct nnb__gate *));
	for (struct nnb__gate *g = gates; some && g; g = g->next)
		if (g->late)
			some[i++] = nnb__gate_ref(g);
	pthread_mutex_unlock(&list);
	for (uint64_t k = 0; k < i; k++) {
		goes_on |= gate_reap(some[k]);
		nnb__gate_unref(some[k]);
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
	int r;

	if (begun)
		return 0;
	r = thread_start(watch);
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

/* Free the gates that nobody uses, and of which nothing need be remembered. The lock of the list is held. */
static void gates_forget(void)
{
	struct nnb__gate **at = &gates;

	while (*at) {
		struct nnb__gate *g = *at;

		if (load(&g->refs) || gate_suspects(g)) {
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
	g->late_end = &g->late;
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
	const struct nnb__errand_wait none = { 0 };
	uint64_t refs = g ? load(&g->refs) : 0, blocked;

	while (refs > 1)
		if (atomic_compare_exchange_weak_explicit(&g->refs, &refs, refs - 1, memory_order_acq_rel,
		                                          memory_order_relaxed))
			return NULL;
	if (!g)
		return NULL;
	pthread_mutex_lock(&list);
	assert(load(&g->refs));
	if (atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) == 1) { /* no one has its turn */
		int trial = atomic_exchange_explicit(&g->beside, NONE, memory_order_relaxed);

		if (trial != NONE)
			nnb__errand_try_end(g->errands, trial, &none, &blocked);
		late_give_up(g);
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

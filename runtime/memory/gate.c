/*
 * gate.c -- bounds how long the files of one app can make the other apps of a service wait.
 *
 * BOUND     An app that is not suspected (suspicion.c tells) maps and unmaps its files at once: nothing is tried
 *           before a call, and nothing is refused. Each file of a suspected app is tried first. If its lock is held, a
 *           map waits on its own app's thread, tries again, and is refused after WAIT_NS; an unmap is left to the
 *           reaper. After a strike, none of the app's files is mapped or unmapped for some time. What the other apps
 *           have of that is stated in suspicion.c.
 * TEARS     A signal handler replaces a torn mapping, and cannot wait. So after a slow tear, each execution of a
 *           suspected app over pages that can tear passes a trial first.
 * CONCURRENCY  Any thread. A gate has a turn for its calls, so that of an app one thread at a time is in the
 *           kernel, and those behind it see what it found. Only threads of that app wait for it; the reaper tries.
 *           A gate's lock guards the turn. The lock of the list guards the list of gates and their late mappings.
 *           Neither is held for a call that takes long. The lock of a keeper's app (the service's) comes before the
 *           list's, and the locks of suspicion.c come after it. References are atomic; the last is dropped under the
 *           list's lock.
 * WAITS     A wait ends when its app is gone, or the service stops (wait.h), within 20 ms. A trial beside a call does
 *           not: the app's next call waits for that.
 * CHARGES   What is left to the reaper stays charged to its app (struct nnb__gate_keeper), so an app that opens and
 *           closes faster than the reaper works comes to its limits. The reaper does not wait for the end of a
 *           strike, because the app may be gone by then, but for a lock that was free in all trials of QUIET_NS,
 *           without a strike. An app that takes the lock again and again must leave it alone for so long, and then
 *           take it in the microseconds between the last trial and the unmap.
 *           Each gate has a list of its own, and the reaper visits all of them in turn and waits LOOK_NS for one at
 *           most.
 * CRASH     If workers end or cannot be started (errand.c), all trials find a free lock: files of suspected apps are
 *           mapped as those of others. If no worker is free, files of suspected apps are not mapped.
 */
#include "memory/gate.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/close.h"
#include "base/kept.h"
#include "base/sys.h"
#include "memory/suspicion.h"
#include "memory/wait.h"

#define MS UINT64_C(1000000)
#define WAIT_NS (2000 * MS) /* of a call for a lock that is held */
#define LOOK_NS (20 * MS)   /* of the reaper for a trial */
#define MEND_NS (5 * MS)    /* of a thread that may have a lane */
#define TURN_NS (20 * MS)   /* between two looks at whether a thread waits for its turn in vain */
#define AGAIN_NS (10 * MS)  /* between two trials of a file whose lock is held */
#define FOREVER UINT64_MAX
#define REAP_NS (50 * MS)    /* between two rounds of the reaper, if a lock is held */
#define QUIET_NS (1000 * MS) /* of good trials, before the reaper unmaps a file of an app with strikes */

enum {
	SILENCE = 4,        /* times as long does a map wait for a worker that may have no cpu */
	REAPED_AT_ONCE = 64 /* mappings of one app */
};

struct nnb__gate {
	struct nnb__gate *next; /* under the list's lock, with the key */
	uint32_t key;
	_Atomic uint64_t refs;            /* with one for each mapping that waits for the reaper */
	struct nnb__suspicion *suspicion; /* owned */

	pthread_mutex_t lock;
	pthread_cond_t turn_ends;
	bool turn_taken; /* under the lock */

	uint64_t quiet_since;   /* since then each trial of the reaper was good; 0: the last was not. The reaper's */
	uint32_t quiet_strikes; /* of that time. The reaper's */

	/* under the list's lock */
	struct late *late, **late_tail;
	uint64_t n_late; /* with the one that is being unmapped */
	const struct nnb__gate_keeper *keeper;
	void *app;
};

/* A mapping that waits for the reaper. */
struct late {
	struct late *next;
	struct nnb__gate *gate;
	void *start;
	size_t bytes, more; /* what is charged, and what else is mapped behind it */
	int fd;
	uint32_t files;
};

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reaper_turns = PTHREAD_COND_INITIALIZER; /* some mapping is late, or the reaper rests */
static struct nnb__gate *gates;
static uint64_t n_late; /* of all gates; under the list's lock */
static bool begun;      /* written once, before any gate exists */
static _Atomic uint64_t mapped;
static _Thread_local struct nnb__gate *mine;

/* ---- turns ---- */

/* Take the turn of @g. False: another thread has had it until @until, or the wait is over. */
static bool turn_take(struct nnb__gate *g, uint64_t until)
{
	bool taken;

	pthread_mutex_lock(&g->lock);
	while (g->turn_taken) {
		uint64_t now = nnb__now(), end;
		struct timespec at;

		if (now >= until || nnb__wait_is_over())
			break;
		end = nnb__wait_slice(now, until);
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

/* ---- calls ---- */

/* Try @fd's file until its lock is free, for @most at most. The turn of @g is held. */
static enum nnb__tried free_await(struct nnb__gate *g, int fd, uint64_t most)
{
	uint64_t now = nnb__now(), held_until = now + most, until = now + most * SILENCE, refused_until;
	enum nnb__tried r;

	for (;;) {
		refused_until = nnb__suspicion_refuse_until(g->suspicion);
		if (refused_until > now && (refused_until > held_until || !nnb__wait_until(refused_until)))
			return NNB__TRIED_HELD;
		r = nnb__suspicion_try(g->suspicion, fd, until);
		now = nnb__now();
		if (r == NNB__TRIED_FREE || r == NNB__TRIED_OVER ||
		    now >= (r == NNB__TRIED_HELD ? held_until : until) || !nnb__wait_until(now + AGAIN_NS))
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

	while (!turn_take(g, waits ? nnb__now() + TURN_NS : until))
		if (!waits || nnb__wait_is_over() || (nnb__is_suspected(g->suspicion) && nnb__now() > until))
			return nnb__wait_is_over() ? -ECANCELED : -EBUSY;
	/* this call must know what was found beside the last one */
	if (nnb__suspicion_await(g->suspicion, waits ? FOREVER : until) &&
	    (!nnb__is_suspected(g->suspicion) || free_await(g, fd, most) == NNB__TRIED_FREE))
		return 0;
	turn_end(g);
	return nnb__wait_is_over() ? -ECANCELED : -EBUSY;
}

int nnb__gate_open(struct nnb__gate *g, int fd, bool waits, struct nnb__gate_call *call)
{
	int r;

	*call = (struct nnb__gate_call){ 0 };
	if (!g)
		return 0;
	r = turn_when_free(g, fd, waits);
	if (!r)
		nnb__flight_begin(g->suspicion, fd, &call->flight);
	return r;
}

void nnb__gate_close(struct nnb__gate *g, const struct nnb__gate_call *call, unsigned more)
{
	if (!g)
		return;
	nnb__flight_end(g->suspicion, &call->flight);
	if (more)
		atomic_fetch_add_explicit(&mapped, more, memory_order_relaxed);
	turn_end(g);
}

/* The turn of @g is held. */
static void unmap_now(struct nnb__gate *g, void *start, size_t bytes, int fd)
{
	struct nnb__flight flight;

	nnb__flight_begin(g->suspicion, fd, &flight);
	munmap(start, bytes);
	nnb__flight_end(g->suspicion, &flight);
	atomic_fetch_sub_explicit(&mapped, 1, memory_order_relaxed);
}

/* Leave the mapping to the reaper. False: no memory. */
static bool unmap_later(struct nnb__gate *g, const struct late *what)
{
	const struct nnb__gate_keeper *keeper;
	struct late *l = malloc(sizeof(*l));
	void *app;

	if (!l)
		return false;
	*l = *what;
	l->gate = nnb__gate_ref(g);
	pthread_mutex_lock(&list);
	keeper = g->keeper;
	app = g->app;
	pthread_mutex_unlock(&list);
	if (keeper)
		keeper->hold(app, l->files, l->bytes); /* before it can be reaped */
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
		nnb__close_mapped(fd);
}

static bool gate_refuses(const struct nnb__gate *g)
{
	return nnb__now() < nnb__suspicion_refuse_until(g->suspicion);
}

/* Unmap, unless that would have to wait for the lock of @fd's file, or for the reaper. */
static bool unmap_soon(struct nnb__gate *g, void *start, size_t bytes, int fd)
{
	uint64_t until = nnb__now() + WAIT_NS;
	bool goes;

	if (nnb__is_suspected(g->suspicion) && (gate_refuses(g) || has_late(g)))
		return false;
	while (!turn_take(g, nnb__now() + TURN_NS))
		if (nnb__wait_is_over() || (nnb__is_suspected(g->suspicion) && nnb__now() > until))
			return false;
	goes = nnb__suspicion_await(g->suspicion, FOREVER);
	if (goes && nnb__is_suspected(g->suspicion))
		goes = !gate_refuses(g) && !has_late(g) &&
		       nnb__suspicion_try(g->suspicion, fd, nnb__now() + WAIT_NS) == NNB__TRIED_FREE;
	if (goes)
		unmap_now(g, start, bytes, fd);
	turn_end(g);
	return goes;
}

bool nnb__gate_unmap(struct nnb__gate *g, void *start, size_t bytes, size_t more, int fd, uint32_t files)
{
	const struct late what = { .start = start, .bytes = bytes, .more = more, .fd = fd, .files = files };
	bool goes = !g || !nnb__waits_have_ended();

	if (!g) {
		munmap(start, bytes);
	} else if (!goes) { /* the kernel unmaps it after the exit */
		nnb__kept_stay(fd);
	} else if (!unmap_soon(g, start, bytes, fd)) {
		if (unmap_later(g, &what))
			return false;
		munmap(start, bytes);
		atomic_fetch_sub_explicit(&mapped, 1, memory_order_relaxed);
	}
	file_close(fd); /* outside of the turn: the last one of a file takes as long as its pages do */
	return goes;
}

/* ---- tears ---- */

void nnb__gate_tear_begins(struct nnb__gate *g, int fd, struct nnb__gate_call *call)
{
	*call = (struct nnb__gate_call){ 0 };
	if (g)
		nnb__flight_begin(g->suspicion, fd, &call->flight);
}

void nnb__gate_tear_ends(struct nnb__gate *g, const struct nnb__gate_call *call)
{
	if (g)
		nnb__flight_end_of_tear(g->suspicion, &call->flight);
}

bool nnb__gate_passes(struct nnb__gate *g, int fd)
{
	if (!g || !nnb__suspicion_tears(g->suspicion))
		return true;
	if (!nnb__suspicion_await(g->suspicion, FOREVER))
		return false;
	if (!nnb__is_suspected(g->suspicion))
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
	g->n_late--; /* with the last one, release may free the app, and another app of that key may begin */
	pthread_mutex_unlock(&list);
	if (keeper)
		keeper->release(app, l->files, l->bytes);
	pthread_mutex_lock(&list);
	n_late--; /* not before, because nnb__gates_leave waits for release, too */
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

/* Whether @l can be unmapped now. The turn of @g is held. */
static bool late_is_free(struct nnb__gate *g, const struct late *l)
{
	enum nnb__tried r = nnb__suspicion_look(g->suspicion, l->fd, nnb__now() + LOOK_NS);
	uint32_t strikes = nnb__suspicion_strikes(g->suspicion);
	uint64_t now = nnb__now();

	if (!g->quiet_since || strikes != g->quiet_strikes)
		g->quiet_since = now;
	if (r != NNB__TRIED_FREE)
		g->quiet_since = 0;
	g->quiet_strikes = strikes;
	return r == NNB__TRIED_FREE && (!strikes || now - g->quiet_since >= QUIET_NS);
}

/* Unmap some late mappings of @g. Returns whether it can go on at once. */
static bool gate_reap(struct nnb__gate *g)
{
	struct late *l;

	for (unsigned n = 0; n < REAPED_AT_ONCE && (l = late_take(g)); n++) {
		bool left = nnb__waits_have_ended(), is_free = left;

		if (left) {
			nnb__suspicion_look_end(g->suspicion);
			nnb__kept_stay(l->fd);
		}
		if (!left && turn_take(g, 0)) {
			is_free = nnb__suspicion_settle(g->suspicion) && late_is_free(g, l);
			if (is_free)
				unmap_now(g, l->start, l->bytes + l->more, l->fd);
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

/* The next gate after @before, a reference that is dropped, with late mappings; NULL: the first, none. */
static struct nnb__gate *late_after(struct nnb__gate *before)
{
	struct nnb__gate *g;

	pthread_mutex_lock(&list);
	g = before ? before->next : gates;
	while (g && !g->late)
		g = g->next;
	nnb__gate_ref(g);
	pthread_mutex_unlock(&list);
	nnb__gate_unref(before);
	return g;
}

/* Visit all gates once. Returns whether one of them can go on at once. */
static bool gates_reap(void)
{
	bool goes_on = false;

	for (struct nnb__gate *g = late_after(NULL); g; g = late_after(g))
		goes_on |= gate_reap(g);
	return goes_on;
}

static void *reaper_run(void *arg)
{
	(void)arg;
	for (;;) {
		bool goes_on;

		pthread_mutex_lock(&list);
		while (!n_late)
			pthread_cond_wait(&reaper_turns, &list);
		pthread_mutex_unlock(&list);
		goes_on = gates_reap();
		if (!goes_on && !nnb__waits_have_ended())
			usleep(REAP_NS / 1000);
	}
	return NULL;
}

/* ---- gates ---- */

int nnb__gates_begin(void)
{
	pthread_t reaper;
	int r;

	nnb__waits_begin(); /* an earlier service has left */
	if (begun)
		return 0;
	r = nnb__suspicions_begin();
	if (!r)
		r = -pthread_create(&reaper, NULL, reaper_run, NULL);
	if (!r)
		pthread_detach(reaper);
	begun = !r;
	return r;
}

bool nnb__gates_leave(uint64_t until)
{
	const struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
	bool left;
	int r = 0;

	nnb__waits_end();
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

/* With a reference. The lock of the list is held. */
static struct nnb__gate *gate_new(uint32_t key)
{
	struct nnb__gate *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->suspicion = nnb__suspicion_of(key);
	if (!g->suspicion) {
		free(g);
		return NULL;
	}
	g->key = key;
	g->late_tail = &g->late;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->turn_ends, NULL);
	g->next = gates;
	gates = nnb__gate_ref(g);
	return g;
}

/* The lock of the list is held. */
static void gate_free(struct nnb__gate *g)
{
	struct nnb__gate **at = &gates;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	nnb__suspicion_unref(g->suspicion);
	pthread_cond_destroy(&g->turn_ends);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

struct nnb__gate *nnb__gate_of(uint32_t key, const struct nnb__gate_keeper *keeper, void *app)
{
	struct nnb__gate *g;

	if (!begun)
		return NULL;
	pthread_mutex_lock(&list);
	for (g = gates; g && g->key != key;)
		g = g->next;
	g = g ? nnb__gate_ref(g) : gate_new(key);
	if (g) {
		assert(!g->n_late || g->app == app);
		g->keeper = keeper;
		g->app = app;
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
	uint64_t refs = g ? atomic_load_explicit(&g->refs, memory_order_relaxed) : 0;

	while (refs > 1)
		if (atomic_compare_exchange_weak_explicit(&g->refs, &refs, refs - 1, memory_order_acq_rel,
		                                          memory_order_relaxed))
			return NULL;
	if (!g)
		return NULL;
	pthread_mutex_lock(&list);
	if (atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) == 1)
		gate_free(g);
	pthread_mutex_unlock(&list);
	return NULL;
}

void nnb__gate_enter(struct nnb__gate *g, const atomic_bool *gone)
{
	mine = g;
	nnb__wait_enter(gone);
}

struct nnb__gate *nnb__gate_swap(struct nnb__gate *g)
{
	struct nnb__gate *before = mine;

	mine = g;
	return before;
}

struct nnb__gate *nnb__gate_mine(void)
{
	return mine;
}

/*
 * conduct.c -- charges apps for the waits that their files cause, and unmaps the files of offenders at a slow pace.
 *
 * BOUND     What an app owes fades by FADES_PARTS-th of the time. An app whose pages are swapped out, or whose calls
 *           wait now and then on a busy machine, never owes NNB__OWES_MOST_NS. One that does is an offender for
 *           OFFENDS_NS, and for twice as long after each relapse.
 *           A wrong judgement costs the app its zero copies, and nothing else: results are the same.
 * CONCURRENCY  The turn orders mmap and munmap of apps' files; the kernel orders them anyway, by the lock on the
 *           memory map. Time that a thread was ready, and had no cpu, is not charged. The reaper is one thread, which
 *           lives while it has something to unmap, and has the turn while it does.
 * CRASH     What the reaper has not unmapped yet is unmapped at the exit of the process.
 */
#include "memory/conduct.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "memory/tear.h"

#define SECOND_NS UINT64_C(1000000000)
#define OFFENDS_NS (600 * SECOND_NS)
enum {
	FADES_PARTS = 50,
	RELAPSES_MAX = 6,
	SLOW_NS = 5 * 1000 * 1000,  /* a turn that takes less is not charged */
	BARS_NS = 50 * 1000 * 1000, /* a turn of an offender that takes more bars its queues */
	COST = 50,                  /* for so many times what that turn took */
	REAPED_MOST = 1 << 14       /* mappings that wait for the reaper; more are unmapped at once */
};

/* A mapping that waits for the reaper. */
struct late {
	struct late *next;
	void *start;
	size_t bytes;
};

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t reaper_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following three */
static struct late *lates;
static uint32_t n_late;
static bool reaper_runs;
static _Thread_local struct nnb__conduct *mine;

/* ---- what an app owes ---- */

void nnb__conduct_init(struct nnb__conduct *c, bool copies)
{
	*c = (struct nnb__conduct){ .copies_until = copies ? UINT64_MAX : 0 };
	pthread_mutex_init(&c->lock, NULL);
}

void nnb__conduct_fini(struct nnb__conduct *c)
{
	pthread_mutex_destroy(&c->lock);
}

/* What the app owes at @now. The lock is held. */
static uint64_t owed_at(const struct nnb__conduct *c, uint64_t now)
{
	uint64_t faded = now > c->owed_at ? (now - c->owed_at) / FADES_PARTS : 0;

	return c->owed_ns > faded ? c->owed_ns - faded : 0;
}

/* Has the app been no offender for long? */
static bool is_long_over(uint64_t until, uint64_t now)
{
	return now > until && now - until > 2 * OFFENDS_NS;
}

void nnb__conduct_charge(struct nnb__conduct *c, uint64_t ns)
{
	uint64_t now = nnb__now(), owed, until;
	bool offends, lasting;

	if (!c || !ns)
		return;
	pthread_mutex_lock(&c->lock);
	owed = owed_at(c, now);
	owed = owed + ns < owed ? UINT64_MAX : owed + ns;
	until = atomic_load_explicit(&c->copies_until, memory_order_relaxed);
	offends = owed > NNB__OWES_MOST_NS;
	lasting = until == UINT64_MAX;
	c->owed_ns = offends ? 0 : owed;
	c->owed_at = now;
	if (offends) {
		if (is_long_over(until, now))
			c->relapses = 0;
		until = now + (OFFENDS_NS << c->relapses);
		c->relapses += c->relapses < RELAPSES_MAX;
		if (!lasting)
			atomic_store_explicit(&c->copies_until, until, memory_order_relaxed);
		atomic_fetch_add_explicit(&c->offences, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&c->lock);
	if (offends && c->offends)
		c->offends(c->arg, owed);
}

bool nnb__conduct_lasts(struct nnb__conduct *c)
{
	return nnb__now() < atomic_load_explicit(&c->copies_until, memory_order_relaxed);
}

/* Not an app that is copied for another reason. */
static bool is_offender(struct nnb__conduct *c)
{
	return nnb__conduct_copies(c) && atomic_load_explicit(&c->offences, memory_order_relaxed);
}

bool nnb__conduct_is_clean(struct nnb__conduct *c)
{
	uint64_t now = nnb__now(), until = atomic_load_explicit(&c->copies_until, memory_order_relaxed);
	bool clean;

	pthread_mutex_lock(&c->lock);
	clean = !owed_at(c, now) && (!until || until == UINT64_MAX || is_long_over(until, now)) &&
	        now >= atomic_load_explicit(&c->barred_until, memory_order_relaxed);
	pthread_mutex_unlock(&c->lock);
	return clean;
}

bool nnb__conduct_bars(struct nnb__conduct *c)
{
	uint64_t until = c ? atomic_load_explicit(&c->barred_until, memory_order_relaxed) : 0;

	return until && nnb__now() < until;
}

void nnb__conduct_enter(struct nnb__conduct *c)
{
	mine = c;
}

struct nnb__conduct *nnb__conduct_mine(void)
{
	return mine;
}

/* ---- turns ---- */

/*
 * How long this thread has been ready, and on no cpu, so far; 0: unknown. Not nnb__cpu_delay, which keeps a file for
 * each thread that asks: those are charged to nobody.
 */
static uint64_t cpu_delay(void)
{
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	unsigned long long delay = 0;
	char text[96];
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%*u %llu", &delay) == 1 ? delay : 0;
}

void nnb__turn_begin(struct nnb__conduct *c, struct nnb__turn *t)
{
	if (!c)
		return;
	t->delay = cpu_delay();
	pthread_mutex_lock(&turn_lock);
	t->began = nnb__now();
}

/* How long the turn has waited in the kernel, and for nothing that another app is charged with. */
static uint64_t turn_waited(const struct nnb__turn *t)
{
	uint64_t took = nnb__now() - t->began, delay;

	if (took < SLOW_NS || nnb__tears_since(t->began))
		return 0;
	delay = cpu_delay();
	delay = delay > t->delay ? delay - t->delay : 0;
	return took > delay + SLOW_NS ? took - delay : 0;
}

void nnb__turn_end(struct nnb__conduct *c, const struct nnb__turn *t)
{
	uint64_t waited;

	if (!c)
		return;
	waited = turn_waited(t);
	pthread_mutex_unlock(&turn_lock);
	if (__builtin_expect(!waited, 1))
		return;
	if (waited > BARS_NS && is_offender(c))
		atomic_store_explicit(&c->barred_until, nnb__now() + COST * waited, memory_order_relaxed);
	nnb__conduct_charge(c, waited);
}

/* ---- the reaper ---- */

/* NULL: none is left, and the reaper ends. */
static struct late *late_next(void)
{
	struct late *l;

	pthread_mutex_lock(&reaper_lock);
	l = lates;
	if (l) {
		lates = l->next;
		assert(n_late);
		n_late--;
	} else {
		reaper_runs = false;
	}
	pthread_mutex_unlock(&reaper_lock);
	return l;
}

static void *reaper_run(void *arg)
{
	struct late *l;

	(void)arg;
	while ((l = late_next())) {
		uint64_t began, took;

		pthread_mutex_lock(&turn_lock);
		began = nnb__now();
		munmap(l->start, l->bytes);
		took = nnb__now() - began;
		pthread_mutex_unlock(&turn_lock);
		free(l);
		took *= COST;
		usleep((useconds_t)(took % SECOND_NS / 1000));
		sleep((unsigned)(took / SECOND_NS));
	}
	return NULL;
}

/* Start the reaper, with all signals blocked. The lock is held. False: no thread. */
static bool reaper_start(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;

	if (reaper_runs)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	reaper_runs = !pthread_create(&thread, &attr, reaper_run, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return reaper_runs;
}

/* Leave the mapping to the reaper. False: there is no room, or no thread. */
static bool reaper_gets(void *start, size_t bytes)
{
	struct late *l = malloc(sizeof(*l));
	bool taken;

	if (!l)
		return false;
	*l = (struct late){ .start = start, .bytes = bytes };
	pthread_mutex_lock(&reaper_lock);
	taken = n_late < REAPED_MOST && reaper_start(); /* it waits for the lock */
	if (taken) {
		l->next = lates;
		lates = l;
		n_late++;
	}
	pthread_mutex_unlock(&reaper_lock);
	if (!taken)
		free(l);
	return taken;
}

void nnb__conduct_unmap(struct nnb__conduct *c, void *start, size_t bytes)
{
	struct nnb__turn turn;

	if (c && is_offender(c) && reaper_gets(start, bytes))
		return;
	nnb__turn_begin(c, &turn);
	munmap(start, bytes);
	nnb__turn_end(c, &turn);
}

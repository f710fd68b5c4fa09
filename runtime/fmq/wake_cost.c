/*
 * wake_cost.c -- measures the cost of waking a sleeper on this machine: it is between 2 us and 100 us, so it is not
 * assumed.
 *
 * Two threads on two cpus wake each other in turn by the queue's own futex calls; each takes the time from the
 * other's wake to its own return. The median is the cost of a sleep. A wait that polls for this long before it sleeps
 * costs at most twice as much as the better of polling and sleeping.
 */
#include "nnb/fmq.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "base/sys.h"
#include "queue.h"

enum {
	TRIES = 16,             /* wakes measured in each direction */
	PATIENCE_NS = 20000000, /* one wake may take that long before the measurement gives up */
	SETTLE_NS = 20000,      /* time for the sleeper to fall asleep */
	COST_MAX_NS = 200000,   /* beyond this a machine is stalled rather than slow */
};

struct sleeper {
	_Alignas(LINE) _Atomic uint32_t word;
	_Atomic uint64_t woken_at; /* by the waker's clock */
};

struct pair {
	struct sleeper side[2];
	int cpu[2];
	uint64_t cost[2 * TRIES];
	_Atomic unsigned n;
};

struct player {
	struct pair *pair;
	unsigned side;
};

static bool stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

static void sleeper_wake(struct sleeper *s)
{
	uint64_t start = nnb__now();
	uint64_t now;

	do
		now = nnb__now();
	while (now - start < SETTLE_NS);
	atomic_store_explicit(&s->woken_at, now, memory_order_relaxed);
	atomic_store_explicit(&s->word, 1, memory_order_release);
	nnb__futex_wake(&s->word, 1);
}

/* Sleep until woken, and record the time that the wake took. False: a timeout. */
static bool be_woken(struct pair *p, struct sleeper *s)
{
	uint64_t deadline = nnb__now() + PATIENCE_NS;
	int r = nnb__futex_wait(&s->word, 0, 1, deadline);
	uint64_t now = nnb__now();

	while (!atomic_load_explicit(&s->word, memory_order_acquire) && now < deadline) {
		r = nnb__futex_wait(&s->word, 0, 1, deadline);
		now = nnb__now();
	}
	if (!atomic_load_explicit(&s->word, memory_order_acquire))
		return false;
	if (r == 0) { /* -EAGAIN: this thread was still awake, so the wake cost nothing */
		unsigned i = atomic_fetch_add(&p->n, 1);

		assert(i < 2 * TRIES);
		p->cost[i] = now - atomic_load_explicit(&s->woken_at, memory_order_relaxed);
	}
	atomic_store_explicit(&s->word, 0, memory_order_relaxed);
	return true;
}

static void *pair_play(void *arg)
{
	struct player *me = arg;
	struct pair *p = me->pair;

	stay_on(p->cpu[me->side]);
	for (unsigned i = 0; i < TRIES; i++) {
		if (me->side == 0)
			sleeper_wake(&p->side[1]);
		if (!be_woken(p, &p->side[me->side]))
			break;
		if (me->side == 1)
			sleeper_wake(&p->side[0]);
	}
	return NULL;
}

/*
 * Find two cpus the process may use, by trying: the thread that asks may be tied to one of them while its
 * peers are not. Runs in a thread of its own, for trying moves it.
 */
static void *find_cpus(void *arg)
{
	struct pair *p = arg;
	int n = 0;

	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (stay_on(i))
			p->cpu[n++] = i;
	return (void *)(intptr_t)n;
}

static int cost_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Fill p->cost. False if there is one cpu only. */
static bool pair_run(struct pair *p)
{
	struct player players[2] = { { p, 0 }, { p, 1 } };
	pthread_t thread[2];
	void *n_cpus = NULL;
	int started = 0;

	if (pthread_create(&thread[0], NULL, find_cpus, p))
		return false;
	pthread_join(thread[0], &n_cpus);
	while (started < 2 && (intptr_t)n_cpus == 2 &&
	       !pthread_create(&thread[started], NULL, pair_play, &players[started]))
		started++;
	while (started)
		pthread_join(thread[--started], NULL);
	return (intptr_t)n_cpus == 2;
}

static uint64_t cost;

static void measure_once(void)
{
	struct pair p = { 0 };
	sigset_t all, old;
	uint64_t median;
	bool two;

	sigfillset(&all); /* the host's signals are not for the threads of this file */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	two = pair_run(&p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!p.n) { /* on a busy machine a wake may take longer than PATIENCE_NS; or only one thread could be started */
		cost = two ? COST_MAX_NS : 0;
		return;
	}
	assert(p.n <= 2 * TRIES);
	qsort(p.cost, p.n, sizeof(p.cost[0]), cost_by_value);
	median = p.cost[p.n / 2];
	cost = median < COST_MAX_NS ? median : COST_MAX_NS;
}

uint64_t nnb_fmq_wake_cost(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, measure_once);
	return cost;
}

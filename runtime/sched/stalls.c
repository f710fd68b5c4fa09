/*
 * stalls.c -- a thread that takes lanes away from executions whose threads wait for a page.
 *
 * An app decides how long a page of its memory takes: it may punch holes into the file of a pool, back it by a file
 * system of its own, or have it swapped out. An execution that touches the page sleeps in the kernel, where no look,
 * no deadline and no cancellation reaches it. Its lane is of no use meanwhile, because a thread that sleeps in a page
 * fault uses neither a cpu nor a device.
 *
 * ORDERING  (1) the thread stores watch_sleeps = 1, then loads ending; nnb__stalls_end stores ending, then watch_sleeps
 *               = 0, and then wakes; all sequentially consistent => the thread sees ending, or the 0 follows its 1: it
 *               sleeps on 1 only, so it does not sleep, or the wake finds it
 *           (2) a seat that begins to wait and the thread that goes to sleep: (8) of lanes.c. The seat's 0 may come
 *               late, and then wakes the thread once too often
 * PROGRESS  While seats wait, a round every ROUND_NS: a lane is lost two to three rounds after its thread fell asleep,
 *           or within one if its execution has lost a lane before. An app whose pages take long again and again gets
 *           a lane again and again, so rounds are shorter for a while after each loss.
 *           An app that loses lanes again and again is on probation (nnb__lanes_watch): this thread may itself wait
 *           for a cpu, so seats that begin to wait look at its executions, too. Without probation a thread that only
 *           waits for a cpu keeps its lane; so does one that waits for a lock or in a system call (a driver that
 *           waits for its device), but for those that change the memory map, as the handler of a tear does.
 *           A while after the last seat waited, the thread sleeps until the next one does.
 */
#include "sched/stalls.h"

#include <assert.h>

#include "base/sys.h"

#define ROUND_NS UINT64_C(2000000)
#define ALERT_NS UINT64_C(250000) /* of one of the ALERT_ROUNDS after a loss */
enum {
	ALERT_ROUNDS = 400,
	IDLE_ROUNDS = 16 /* rounds without a seat that waits, before the thread sleeps */
};

static bool is_ending(const struct nnb__stalls *s)
{
	return atomic_load_explicit(&s->ending, memory_order_seq_cst); /* (1) */
}

/* Sleep until a seat waits, or nnb__stalls_end. */
static void sleep_until_wanted(struct nnb__stalls *s)
{
	struct nnb__lanes *l = s->lanes;
	bool waiting;

	atomic_store_explicit(&l->watch_sleeps, 1, memory_order_seq_cst); /* (1) */
	pthread_mutex_lock(&l->lock);                                     /* (2) */
	waiting = l->policy.waiting;
	pthread_mutex_unlock(&l->lock);
	while (!waiting && !is_ending(s) && atomic_load_explicit(&l->watch_sleeps, memory_order_relaxed))
		nnb__futex_wait(&l->watch_sleeps, 1, UINT32_MAX, UINT64_MAX);
	atomic_store_explicit(&l->watch_sleeps, 0, memory_order_relaxed);
}

static void *stalls_watch(void *arg)
{
	struct nnb__stalls *s = arg;
	uint32_t idle = 0, alert = 0;
	bool waiting;

	while (!is_ending(s)) {
		if (nnb__lanes_watch(s->lanes, &waiting))
			alert = ALERT_ROUNDS;
		alert -= alert > 0;
		idle = waiting || alert ? 0 : idle + 1;
		if (idle >= IDLE_ROUNDS)
			sleep_until_wanted(s);
		else
			nnb__futex_wait(&s->lanes->watch_sleeps, 0, UINT32_MAX,
			                nnb__now() + (alert ? ALERT_NS : ROUND_NS));
	}
	return NULL;
}

int nnb__stalls_start(struct nnb__stalls *s, struct nnb__lanes *lanes)
{
	int r;

	assert(!s->runs);
	s->lanes = lanes;
	lanes->thread_waits = nnb__thread_waits;
	atomic_store_explicit(&s->ending, false, memory_order_relaxed); /* the thread begins later */
	r = -pthread_create(&s->thread, NULL, stalls_watch, s);
	s->runs = !r;
	return r;
}

void nnb__stalls_end(struct nnb__stalls *s)
{
	if (!s->runs)
		return;
	atomic_store_explicit(&s->ending, true, memory_order_seq_cst);
	atomic_store_explicit(&s->lanes->watch_sleeps, 0, memory_order_seq_cst); /* (1) */
	nnb__futex_wake(&s->lanes->watch_sleeps, UINT32_MAX);
	pthread_join(s->thread, NULL);
	s->runs = false;
}

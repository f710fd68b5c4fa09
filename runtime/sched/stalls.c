/*
 * stalls.c -- a thread that takes lanes away from executions whose threads wait for a page; so do seats that begin
 * to wait.
 *
 * An app decides how long a page of its memory takes: it may punch holes into the file of a pool, back it by a file
 * system of its own, or have it swapped out. An execution that touches the page sleeps in the kernel, where no look,
 * no deadline and no cancellation reaches it. Its lane is of no use meanwhile, because a thread that sleeps in a page
 * fault uses neither a cpu nor a device.
 *
 * CONCURRENCY  `watched` belongs to the thread (nnb__stalls_round). A seat that looks at executions on probation has
 *           an array of its own, on the stack of its thread, so several threads may look at one lane at the same time.
 *           Each has a copy of which seat has the lane, and holds no lock while it asks the kernel about the thread
 *           there. By then that thread may run another execution, or be gone. So a lane is taken away only from the
 *           execution that was copied (nnb__lanes_take_away), and at most one of the threads succeeds.
 * ORDERING  (1) the thread stores sleeps = 1, then loads ending; nnb__stalls_end stores ending, then sleeps = 0, and
 *               then wakes; all sequentially consistent => the thread sees ending, or the 0 follows its 1: it sleeps
 *               on 1 only, so it does not sleep, or the wake finds it. Between rounds it waits on 0, for ROUND_NS at
 *               most, and then looks at ending
 *           (2) the thread stores sleeps = 1, then copies the holders under the lanes' lock; a seat enters the queue
 *               under that lock, and then loads sleeps ((8) of lanes.c) => the thread finds that the seat waits, or
 *               the seat loads this 1 or a later value. If it loads 1, it stores 0, and then wakes the thread. If it
 *               loads 0, another seat or nnb__stalls_end has stored that 0, and then wakes the thread; or the thread
 *               has stored it, is awake, and copies the holders again before it sleeps. Without a time limit the
 *               thread sleeps on 1 only. A seat's 0 may come late, and then wakes the thread once too often
 * PROGRESS  While seats wait, a round every ROUND_NS: a lane is lost two to three rounds after its thread fell asleep,
 *           or within one if its execution has lost a lane before. An app whose pages take long again and again gets
 *           a lane again and again, so rounds are shorter for a while after each loss.
 *           An app that loses lanes again and again is on probation (nnb__lanes_take_away): this thread may itself wait
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
	IDLE_ROUNDS = 16,   /* rounds without a seat that waits, before the thread sleeps */
	PROBATION_LOOKS = 4 /* of a seat that begins to wait */
};

/* ---- rounds ---- */

static bool is_same_holder(const struct nnb__lane_holder *a, const struct nnb__lane_holder *b)
{
	return a->seat == b->seat && a->arrival == b->arrival && a->execution == b->execution;
}

/*
 * The lanes whose threads to look at, a bit each: with @probation_only those of executions on probation. A lane
 * of such an execution whose thread has not come for it is passed on; *ret_passed counts these.
 */
static uint64_t suspects_find(struct nnb__lanes *l, const struct nnb__lane_holders *now,
                              struct nnb__lane_watch *watched, bool probation_only, uint32_t *ret_passed)
{
	uint64_t suspects = 0;

	for (uint32_t i = 0; i < now->lanes; i++) {
		const struct nnb__lane_holder *h = &now->of[i];
		struct nnb__lane_watch *w = &watched[i];
		bool is_known = is_same_holder(&w->holder, h), suspect;

		if (!is_known || !now->waiting)
			w->rounds = 0;
		w->holder = *h;
		if (!h->seat || !now->waiting)
			continue;
		if (h->on_probation && h->is_absent && nnb__lanes_take_away(l, h, NNB__STALL_ABSENT)) {
			++*ret_passed;
			*w = (struct nnb__lane_watch){ .rounds = 0 };
			continue;
		}
		suspect = h->on_probation || (!probation_only && (is_known || h->losses));
		suspects |= (uint64_t)suspect << i;
	}
	return suspects;
}

/* Look at the thread; then take its lane away, if the thread cannot use it. True: another seat has the lane. */
static bool suspect_check(struct nnb__lanes *l, struct nnb__lane_watch *w)
{
	enum nnb__thread_wait wait = nnb__thread_waits(w->holder.tid);
	enum nnb__stall stall = NNB__STALL_CPU;

	w->rounds = wait == NNB__WAIT_PAGE ? w->rounds + 1 : 0;
	if (wait == NNB__WAIT_OTHER)
		return false;
	if (wait == NNB__WAIT_PAGE)
		stall = w->rounds + w->holder.losses > 1 ? NNB__STALL_PAGE : NNB__STALL_PAGE_ONCE;
	return nnb__lanes_take_away(l, &w->holder, stall);
}

static uint32_t suspects_check(struct nnb__lanes *l, struct nnb__lane_watch *watched, uint64_t suspects)
{
	uint32_t taken = 0;

	for (; suspects; suspects &= suspects - 1)
		taken += suspect_check(l, &watched[__builtin_ctzll(suspects)]);
	return taken;
}

uint32_t nnb__stalls_round(struct nnb__stalls *s, bool *ret_waiting)
{
	struct nnb__lane_holders now;
	uint32_t passed = 0;
	uint64_t suspects;

	nnb__lanes_holders(s->lanes, &now); /* (2) */
	suspects = suspects_find(s->lanes, &now, s->watched, false, &passed);
	*ret_waiting = now.waiting;
	return passed + suspects_check(s->lanes, s->watched, suspects);
}

/* ---- seats that begin to wait ---- */

static bool seat_has_lane(const struct nnb__lane_holders *now, const struct nnb__seat *seat)
{
	for (uint32_t i = 0; i < now->lanes; i++)
		if (now->of[i].seat == seat)
			return true;
	return false;
}

/*
 * Look at executions on probation at once, until the seat has a lane: because this thread has a cpu, and the thread
 * that watches may wait for one.
 */
static void probation_check(struct nnb__lanes *l, const struct nnb__seat *seat)
{
	struct nnb__lane_watch watched[NNB__LANES_MAX] = { { .rounds = 0 } };
	uint32_t passed = 1;

	for (int i = 0; i < PROBATION_LOOKS && passed; i++) {
		struct nnb__lane_holders now;
		uint64_t suspects;

		nnb__lanes_holders(l, &now);
		if (seat_has_lane(&now, seat))
			return;
		passed = 0;
		suspects = suspects_find(l, &now, watched, true, &passed);
		passed += suspects_check(l, watched, suspects);
	}
}

/* The hook of the lanes. Any thread. */
static void stalls_seat_waits(void *arg, const struct nnb__seat *seat, bool probation)
{
	struct nnb__stalls *s = arg;

	if (probation)
		probation_check(s->lanes, seat);
	if (atomic_load_explicit(&s->sleeps, memory_order_relaxed)) { /* (2) */
		atomic_store_explicit(&s->sleeps, 0, memory_order_relaxed);
		nnb__futex_wake(&s->sleeps, UINT32_MAX);
	}
}

/* ---- the thread ---- */

static bool is_ending(const struct nnb__stalls *s)
{
	return atomic_load_explicit(&s->ending, memory_order_seq_cst); /* (1) */
}

/* Sleep until a seat waits, or nnb__stalls_end. */
static void sleep_until_wanted(struct nnb__stalls *s)
{
	struct nnb__lane_holders now;

	atomic_store_explicit(&s->sleeps, 1, memory_order_seq_cst); /* (1) */
	nnb__lanes_holders(s->lanes, &now);                         /* (2) */
	while (!now.waiting && !is_ending(s) && atomic_load_explicit(&s->sleeps, memory_order_relaxed))
		nnb__futex_wait(&s->sleeps, 1, UINT32_MAX, UINT64_MAX);
	atomic_store_explicit(&s->sleeps, 0, memory_order_relaxed);
}

static void *stalls_watch(void *arg)
{
	struct nnb__stalls *s = arg;
	uint32_t idle = 0, alert = 0;
	bool waiting;

	while (!is_ending(s)) {
		if (nnb__stalls_round(s, &waiting))
			alert = ALERT_ROUNDS;
		alert -= alert > 0;
		idle = waiting || alert ? 0 : idle + 1;
		if (idle >= IDLE_ROUNDS)
			sleep_until_wanted(s);
		else
			nnb__futex_wait(&s->sleeps, 0, UINT32_MAX, nnb__now() + (alert ? ALERT_NS : ROUND_NS));
	}
	return NULL;
}

/* ---- life cycle ---- */

void nnb__stalls_init(struct nnb__stalls *s, struct nnb__lanes *lanes)
{
	*s = (struct nnb__stalls){ .lanes = lanes };
	lanes->hook = (struct nnb__lanes_hook){ .seat_waits = stalls_seat_waits, .arg = s };
}

int nnb__stalls_start(struct nnb__stalls *s)
{
	int r;

	assert(!s->runs);
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
	atomic_store_explicit(&s->sleeps, 0, memory_order_seq_cst); /* (1) */
	nnb__futex_wake(&s->sleeps, UINT32_MAX);
	pthread_join(s->thread, NULL);
	s->runs = false;
}

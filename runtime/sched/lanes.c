/*
 * lanes.c -- lanes: an execution with a lane runs, an execution without one sleeps.
 *
 * CONCURRENCY  One thread at a time uses a seat; any thread may cancel it, and call nnb__lanes_look. Any thread may
 *           take a lane away: the thread names the execution that it saw there (nnb__lanes_holders), and nothing
 *           happens if another execution has the lane by then. The lock guards the policy, and orders the threads
 *           that take, leave, give up or take away a lane. It is held for some hundred instructions, and for tens of
 *           microseconds if hundreds of apps wait for dozens of lanes. The hook is called without it.
 * ORDERING  (1) the giver of a lane: turn |= ON_LANE, release, under the lock  --- pairs with (2)
 *           (2) the waiter: loads turn, acquire  => work done on the lane before happens before the waiter's work
 *           (3) cancelled is set before nnb__lanes_look takes the lock; a waiter enters the queue under the lock, and
 *               then checks cancelled  => either the look finds it in the queue, or the waiter sees cancelled
 *           (4) the look: turn += LOOK, release --- pairs with (2) => a waiter that sees the new turn sees cancelled,
 *               and does not sleep on the new value
 *           (5) a thread that keeps its lane: hold = KEPT, then loads wanted; a thread that wants a lane: stores
 *               wanted, then loads hold; all sequentially consistent => one of them sees the other: no lane is kept
 *               while an execution waits
 *           (6) lane_take_kept: of two threads that try, one succeeds. Acquire and release, on failure too: a thread
 *               that fails under the lock sees what the seat's thread wrote to its job before it took its lane again;
 *               a thread that succeeds takes the job off the lane, and reads none of the fields that the seat's
 *               thread may be writing
 *           (7) a lane is lost, or its execution ends: RUNS becomes LOST (under the lock), or ENDS or KEPT, by compare
 *               and exchange => one of the two happens, and a lane that was lost is not given back. A seat that
 *               finds its lane lost takes the lock before anything else: the thread that took the lane is done then
 *           (8) a seat enters the queue under the lock, and calls seat_waits after that; nnb__lanes_holders reads under
 *               the lock whether seats wait => it finds a seat that entered before and waits still; one that enters
 *               later sees in seat_waits what the caller of nnb__lanes_holders wrote before that ((2) of stalls.c)
 *           (9) a lane is passed on or recalled, or its thread has come for it: ON_LANE is cleared, or SEEN set, by
 *               compare and exchange => one of the two happens. Clearing it changes turn as a look does (4)
 *           (10) a seat's thread counts its next execution, then takes its kept lane (6); a seat that waits has looked
 *               for kept lanes since, and none is kept while it waits (5) => under the lock, while a seat waits, the
 *               number of the execution on a lane is right, and does not change
 *           cpu is a hint. yield_at is a hint, stored under the lock and loaded without it: a thread that finds it
 *           due asks again under it.
 * PROGRESS  A lane is handed over: the thread that leaves it names the next seat. No lane is free, or kept, while a
 *           seat waits. A woken thread may take the waker's cpu for some milliseconds. So a thread that can answer
 *           without waiting for another process answers first, and then wakes the thread that got its lane
 *           (answers_first). A lane that was handed over is idle until its thread has a cpu. So a seat whose
 *           execution comes and must wait (nnb__lanes_take) recalls the lanes whose threads have not come yet, and the
 *           policy decides anew who gets them: the thread of that seat runs, and those that lose such a lane wait on
 *           without having used anything. A seat that yields its lane, or has lost it, recalls none: an event says
 *           that its execution makes room for another one, and so it waits.
 *           An execution whose thread waits for a page of its app's memory makes no look, and
 *           the app can let it wait for ever: nnb__lanes_take_away gives its lane to another one. Once it has the page,
 *           its thread computes on until its next look without a lane, and waits there for another one. An app that
 *           does so again and again is on probation: a lane of its executions is not theirs while their threads have
 *           no cpu.
 * CPUS      The threads of an app that computes all the time sleep and wake, as those of an app with short executions
 *           do, and the kernel lets each of them run for its slice: some milliseconds, in which the other ones wait for
 *           a cpu. So the threads of an app that has more than half of the lanes for some time (nnb__lanes_worked) have
 *           a longer slice: their share of the cpus is the same, but each thread with the usual slice, of whatever
 *           process, runs first when it wakes. A lower weight (nice) would leave a thread without a cpu that holds a
 *           lock for which all wait. Threads whose executions are not long have the usual slice.
 * CRASH     The executions of a dead client are cancelled, and give back their lanes. The wake is the last access to
 *           a seat that got a lane; if the seat is gone by then, the wake reaches no thread, or one that checks its
 *           turn and sleeps again.
 */
#include "sched/lanes.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/saturating.h"
#include "base/sys.h"
#include "policy/terms.h"

/* in the state of a turn: flags (it has a lane; its thread knows); the increment that makes a waiter check again */
enum { ON_LANE = 1, SEEN = 2, LOOK = 4 };
#define PROBATION_NS UINT64_C(1000000000) /* nnb__lanes_take_away */
#define PASSES_NS UINT64_C(1000000000)    /* how long a seat passes lanes on, at most */
#define AHEAD_NS UINT64_C(20000000)       /* how far an app is ahead before its slices are long */
#define AHEAD_MOST_NS UINT64_C(200000000) /* the most that it is ahead: so a pause ends it */
#define LONG_SLICE_NS UINT64_C(10000000)  /* longer than the kernel's own, on any number of cpus */
enum { POLLS = 8 };                       /* polls of a turn for each reading of the clock */
enum { NICE_LOW = 10, NICE_MEDIUM = 0, NICE_HIGH = -10 };

/* ---- the kernel's scheduler, for NNB_POLICY_NATIVE ---- */

static const int nice_of[] = { NICE_LOW, NICE_MEDIUM, NICE_HIGH };

static int set_nice(int nice)
{
	return setpriority(PRIO_PROCESS, (id_t)gettid(), nice) < 0 ? -errno : 0;
}

/* ---- the policy ---- */

static struct nnb__seat *seat_of_job(struct nnb__policy_job *job)
{
	return (struct nnb__seat *)((char *)job - offsetof(struct nnb__seat, job));
}

/* NULL: the lane is free. The caller holds the lock. */
static struct nnb__seat *seat_on_lane(const struct nnb__lanes *l, uint32_t lane)
{
	assert(nnb__is_locked(&l->lock));
	return l->policy.running[lane] ? seat_of_job(l->policy.running[lane]) : NULL;
}

static struct nnb__lane_app *app_of(struct nnb__seat *s)
{
	return (struct nnb__lane_app *)s->job.app;
}

/* The policy wants the lane at once. Returns since when. */
static uint64_t yield_asked_at(const struct nnb__seat *s)
{
	uint64_t before = atomic_load_explicit(&s->yield_at, memory_order_relaxed), now = nnb__now();

	return before < now ? before : now;
}

/* Copy the policy's plan into the seats. */
static void publish_yields(struct nnb__lanes *l)
{
	assert(nnb__is_locked(&l->lock));
	for (uint32_t i = 0; i < l->policy.lanes; i++) {
		uint64_t at = l->policy.yield_at[i];
		struct nnb__seat *s;

		if (!l->policy.running[i])
			continue;
		s = seat_of_job(l->policy.running[i]);
		atomic_store_explicit(&s->yield_at, at ? at : yield_asked_at(s), memory_order_relaxed);
	}
}

static void seat_wake(struct nnb__seat *s)
{
	if (s)
		nnb__futex_wake(&s->turn, UINT32_MAX);
}

/* Let a trace session that begins later emit the start of the wait; @since 0: the wait has ended. */
static void trace_wait(struct nnb__seat *s, uint64_t since)
{
	if (s->trace)
		nnb__trace_waits(s->trace, since);
}

static void wait_ended(struct nnb__seat *s, uint64_t since)
{
	struct nnb__lane_app *app = app_of(s);
	uint64_t ns = nnb__now() - since, longest = atomic_load_explicit(&app->longest_wait_ns, memory_order_relaxed);

	trace_wait(s, 0);
	while (!s->trial && ns > longest &&
	       !atomic_compare_exchange_weak_explicit(&app->longest_wait_ns, &longest, ns, memory_order_relaxed,
	                                              memory_order_relaxed))
		;
}

/*
 * Publish whether lanes are wanted, for threads that keep a lane; then unlock. While apps are owed lane time, the
 * policy must know when each lane is idle, so no lane is kept then either.
 */
static void lanes_unlock(struct nnb__lanes *l)
{
	uint32_t wanted = l->policy.waiting + l->policy.claims_kept;

	assert(nnb__is_locked(&l->lock));
	if (__builtin_expect(atomic_load_explicit(&l->wanted, memory_order_relaxed) != wanted, 0))
		atomic_store_explicit(&l->wanted, wanted, memory_order_seq_cst); /* (5) */
	pthread_mutex_unlock(&l->lock);
}

/* ---- waiting ---- */

static bool seat_is_cancelled(const struct nnb__seat *s)
{
	return s->cancelled && atomic_load_explicit(s->cancelled, memory_order_relaxed);
}

/* Leave the queue. False: the seat has got a lane meanwhile. */
static bool wait_give_up(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;
	bool waits;

	pthread_mutex_lock(&l->lock);
	waits = s->job.lane == NNB__NO_LANE;
	if (waits) {
		nnb__policy_cancel(&l->policy, &s->job, nnb__now());
		publish_yields(l);
	}
	lanes_unlock(l);
	return waits;
}

/*
 * Is a lane asked to yield now, by a thread that runs on another cpu? Then the turn of a seat in the queue may come
 * sooner than its thread would fall asleep and wake. The caller holds the lock.
 */
static bool turn_is_near(const struct nnb__lanes *l, uint64_t now)
{
	uint32_t cpu = nnb__cpu();

	assert(nnb__is_locked(&l->lock));
	for (uint32_t i = 0; i < l->policy.lanes; i++)
		if (l->policy.running[i] && l->policy.yield_at[i] <= now &&
		    atomic_load_explicit(&seat_of_job(l->policy.running[i])->cpu, memory_order_relaxed) != cpu)
			return true;
	return false;
}

/* Does the seat have a lane that its thread does not know of yet? */
static bool turn_is_unseen(uint32_t turn)
{
	return (turn & (ON_LANE | SEEN)) == ON_LANE;
}

static void poll_turn(const struct nnb__seat *s, uint64_t end)
{
	do
		for (int i = 0; i < POLLS; i++) {
			if (atomic_load_explicit(&s->turn, memory_order_relaxed))
				return;
			nnb__relax();
		}
	while (nnb__now() < end);
}

/* The seat has a lane, and its thread has come for it: it is not passed on any more. *ret: the state of the turn. */
static bool turn_take(struct nnb__seat *s, uint32_t *ret)
{
	*ret = atomic_load_explicit(&s->turn, memory_order_acquire); /* (2) */
	while (*ret & ON_LANE)
		if (atomic_compare_exchange_weak_explicit(&s->turn, ret, *ret | SEEN, memory_order_acquire,
		                                          memory_order_acquire)) /* (9) */
			return true;
	return false;
}

/*
 * Wait in the queue until the seat has a lane (0), is cancelled, or @until has passed. @near: turn_is_near; @probation:
 * any_is_on_probation.
 */
static int wait_for_turn(struct nnb__seat *s, uint64_t since, uint64_t until, bool near, bool probation)
{
	const struct nnb__lanes_hook *hook = &s->lanes->hook;
	uint32_t turn;
	int r = 0;

	trace_wait(s, since);
	if (hook->seat_waits) /* (8) */
		hook->seat_waits(hook->arg, s, probation);
	if (near)
		poll_turn(s, since + NNB__POLL_NS < until ? since + NNB__POLL_NS : until);
	while (!turn_take(s, &turn)) {
		bool cancelled = seat_is_cancelled(s);

		if ((cancelled || r == -ETIMEDOUT) && wait_give_up(s)) {
			wait_ended(s, since);
			return cancelled ? -ECANCELED : -ETIMEDOUT;
		}
		r = nnb__futex_wait(&s->turn, turn, UINT32_MAX, until);
	}
	wait_ended(s, since);
	atomic_store_explicit(&s->cpu, nnb__cpu(), memory_order_relaxed);
	return 0; /* the execution may be too late, or cancelled by now: the runner checks both */
}

/* ---- leaving ---- */

/* Count an execution that begins. */
static void count_execution(struct nnb__seat *s)
{
	uint64_t n = atomic_load_explicit(&s->executions, memory_order_relaxed);

	if (!s->trial)
		atomic_store_explicit(&s->executions, n + 1, memory_order_relaxed);
}

/* Add the seat's new executions to its app. The caller holds the lock. */
static void flush_app_count(struct nnb__seat *s)
{
	uint64_t n = atomic_load_explicit(&s->executions, memory_order_relaxed);

	assert(nnb__is_locked(&s->lanes->lock));
	assert(n >= s->counted);
	app_of(s)->executions += n - s->counted;
	s->counted = n;
}

enum leave { ENDS, YIELDS, STALLS, LOSES }; /* STALLS: its thread waits for a page; LOSES: for a cpu */

/* Emit, before @other can run, that it gets the lane of @s: the events are in order. */
static void trace_leave(struct nnb__seat *s, const struct nnb__seat *other, enum leave how, uint64_t now)
{
	uint64_t asked_at = atomic_load_explicit(&s->yield_at, memory_order_relaxed);
	uint64_t asked_ns = now > asked_at ? now - asked_at : 0, by;
	uint32_t next_op = atomic_load_explicit(&s->next_op, memory_order_relaxed);

	if (!s->trace || !other->trace)
		return;
	by = other->trace->exec;
	if (how == STALLS || how == LOSES) { /* @s->trace is its thread's */
		nnb__trace_lost(s->trace, by, next_op, how == STALLS, asked_ns);
		return;
	}
	nnb__trace_waits(s->trace, now);
	nnb__trace_preempted(s->trace, by, next_op, s->lanes->policy.preempt == NNB_PREEMPT_RESTART, asked_ns,
	                     s->redo_ns);
}

/*
 * The policy has given the seat a lane, for which it waited. @named: an event names the seat's execution as the one for
 * which the lane was left. The caller wakes its thread, and holds the lock.
 */
static void turn_give(struct nnb__seat *s, bool named)
{
	s->named = named;
	/* forget a request to yield from its last time on a lane */
	atomic_store_explicit(&s->yield_at, NNB__NEVER, memory_order_relaxed);
	publish_yields(s->lanes);
	assert(s->job.lane != NNB__NO_LANE && !(atomic_load_explicit(&s->turn, memory_order_relaxed) & ON_LANE));
	atomic_fetch_or_explicit(&s->turn, ON_LANE, memory_order_release); /* (1) */
}

/* Leave the lane. Returns the seat that got it, which the caller must wake; or NULL. The caller holds the lock. */
static struct nnb__seat *lane_leave(struct nnb__seat *s, enum leave how, uint64_t now)
{
	struct nnb__policy *p = &s->lanes->policy;
	struct nnb__policy_job *next;
	struct nnb__seat *other;

	assert(nnb__is_locked(&s->lanes->lock));
	assert(s->job.lane >= 0 && p->running[s->job.lane] == &s->job);
	next = nnb__policy_leave(p, s->job.lane, how == YIELDS, now);
	flush_app_count(s);
	if (!next)
		return NULL;
	other = seat_of_job(next);
	if (other == s) {
		publish_yields(s->lanes);
		return NULL;
	}
	if (how != ENDS)
		trace_leave(s, other, how, now);
	turn_give(other, how != ENDS);
	return other;
}

/* ---- lanes that are kept ---- */

/*
 * Take over the seat's kept lane, as the seat's thread or as one that takes it away: @to is how it is held then. False:
 * it is not kept.
 */
static bool lane_take_kept(struct nnb__seat *s, enum nnb__hold to)
{
	uint32_t kept = NNB__HOLD_KEPT;

	return s->keeps && atomic_compare_exchange_strong_explicit(&s->hold, &kept, to, memory_order_acq_rel,
	                                                           memory_order_acquire); /* (6) */
}

/*
 * The execution has ended. True: the seat keeps its lane, or another thread has taken it away already. False: the seat
 * has its lane and does not keep it, or has lost it.
 */
static bool lane_keep(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;
	uint32_t held;

	if (!s->keeps || s->job.since || atomic_load_explicit(&l->wanted, memory_order_relaxed))
		return false;
	held = atomic_load_explicit(&s->hold, memory_order_relaxed); /* RUNS or ENDS, or LOST by now */
	if (held == NNB__HOLD_LOST ||
	    !atomic_compare_exchange_strong_explicit(&s->hold, &held, NNB__HOLD_KEPT, memory_order_seq_cst,
	                                             memory_order_relaxed)) /* (5) (7) */
		return false;
	if (__builtin_expect(!atomic_load_explicit(&l->wanted, memory_order_seq_cst), 1))
		return true;
	return !lane_take_kept(s, NNB__HOLD_ENDS);
}

/*
 * Take away all kept lanes, because one is wanted: they become free, or go to waiting seats. The caller holds the
 * lock.
 */
static void lanes_reclaim(struct nnb__lanes *l)
{
	assert(nnb__is_locked(&l->lock));
	atomic_store_explicit(&l->wanted, l->policy.waiting + 1, memory_order_seq_cst); /* (5) */
	for (uint32_t i = 0; i < l->policy.lanes; i++) {
		struct nnb__seat *s = seat_on_lane(l, i);

		if (!s || !lane_take_kept(s, NNB__HOLD_RUNS))
			continue;
		/* under the lock, so that the seat cannot be freed before it is woken */
		seat_wake(lane_leave(s, ENDS, nnb__policy_wants_time(&l->policy, true) ? nnb__now() : 0));
	}
}

/* ---- lanes that are lost ---- */

/* The thread's number for the kernel, which the library does not keep. */
static pid_t thread_id(void)
{
	static _Thread_local pid_t id;

	if (!id)
		id = gettid();
	return id;
}

/* An app whose executions stall again and again is on probation for a while. */
static void note_stall(struct nnb__lane_app *app, uint64_t now)
{
	if (app->stalled_at && now < app->stalled_at + PROBATION_NS)
		app->probation_until = now + PROBATION_NS;
	app->stalled_at = now;
}

/* The execution loses its lane to one that waits. False: it is ending. The caller holds the lock. */
static bool lane_lose(struct nnb__seat *s, enum nnb__stall why, uint64_t now)
{
	uint32_t runs = NNB__HOLD_RUNS;

	assert(nnb__is_locked(&s->lanes->lock) && s->lanes->policy.waiting);
	if (!atomic_compare_exchange_strong_explicit(&s->hold, &runs, NNB__HOLD_LOST, memory_order_relaxed,
	                                             memory_order_relaxed)) /* (7) */
		return false;
	s->lost_at = now;
	s->job.app->preemptions++;
	atomic_fetch_add_explicit(&s->losses, 1, memory_order_relaxed);
	/* job.lane stays: the seat's thread may be reading it without the lock */
	seat_wake(lane_leave(s, why == NNB__STALL_CPU ? LOSES : STALLS, now));
	atomic_store_explicit(&s->yield_at, 0, memory_order_relaxed); /* its next look asks */
	if (why != NNB__STALL_CPU)
		note_stall(app_of(s), now);
	return true;
}

static bool is_on_probation(const struct nnb__seat *s, uint64_t now)
{
	return now < ((const struct nnb__lane_app *)s->job.app)->probation_until;
}

/* Does an execution on probation have a lane? The caller holds the lock. */
static bool any_is_on_probation(const struct nnb__lanes *l, uint64_t now)
{
	assert(nnb__is_locked(&l->lock));
	for (uint32_t i = 0; i < l->policy.lanes; i++)
		if (l->policy.running[i] && is_on_probation(seat_on_lane(l, i), now))
			return true;
	return false;
}

/* The seat got its lane while it waited, and its thread has not come for it. */
static bool seat_is_absent(const struct nnb__seat *s)
{
	return turn_is_unseen(atomic_load_explicit(&s->turn, memory_order_relaxed));
}

/*
 * The seat on @lane, if it may lose the lane to an execution that comes: it is absent, and the lane was not left for
 * its execution. NULL otherwise. The caller holds the lock.
 */
static struct nnb__seat *seat_to_recall(const struct nnb__lanes *l, uint32_t lane)
{
	struct nnb__seat *s = seat_on_lane(l, lane);

	return s && !s->named && seat_is_absent(s) ? s : NULL;
}

/* The seat has a lane, and its thread has not come for it: it has none any more. False: the thread has come. */
static bool turn_withdraw(struct nnb__seat *s)
{
	uint32_t turn = atomic_load_explicit(&s->turn, memory_order_relaxed);

	while (turn_is_unseen(turn))
		if (atomic_compare_exchange_weak_explicit(&s->turn, &turn, (turn & ~(uint32_t)ON_LANE) + LOOK,
		                                          memory_order_relaxed, memory_order_relaxed)) /* (9) */
			return true;
	return false;
}

/*
 * The seat got its lane while it waited. If its thread has not come for it yet, the lane goes to another seat, and this
 * one waits on, behind the others. The caller holds the lock.
 */
static bool lane_pass_on(struct nnb__seat *s, uint64_t now)
{
	struct nnb__lanes *l = s->lanes;
	struct nnb__seat *next;
	bool on_lane;

	assert(nnb__is_locked(&l->lock) && l->policy.waiting);
	if ((s->passes_since && now >= s->passes_since + PASSES_NS) || !turn_withdraw(s))
		return false;
	if (!s->passes_since)
		s->passes_since = now;
	next = lane_leave(s, ENDS, now);
	on_lane = nnb__policy_ready(&l->policy, &s->job, now);
	assert(!on_lane);    /* a seat waited, so it has the lane now */
	s->job.begun = true; /* it may have: then how much of it is left is unknown */
	publish_yields(l);
	seat_wake(next);
	return true;
}

/*
 * The execution of @s has come, and waits. A lane that went to a seat whose thread has not come for it goes to another
 * one, if the policy would give it to that one now: the thread may wait for a cpu for long. A lane that was left for an
 * execution goes to that one, because an event says so. The caller holds the lock.
 */
static __attribute__((noinline)) void lanes_recall(const struct nnb__seat *s, uint64_t now)
{
	struct nnb__lanes *l = s->lanes;

	for (uint32_t i = 0; i < l->policy.lanes; i++) {
		struct nnb__seat *absent = seat_to_recall(l, i), *next;

		/* most threads are there: then the policy does not look at all apps */
		if (!absent || !nnb__policy_regrets(&l->policy, (int)i) || !turn_withdraw(absent))
			continue;
		next = seat_of_job(nnb__policy_recall(&l->policy, (int)i, now));
		turn_give(next, false);
		if (next != s)
			seat_wake(next);
	}
}

/* Copy the holder of @lane. The caller holds the lock. */
static struct nnb__lane_holder lane_holder(const struct nnb__lanes *l, uint32_t lane, uint64_t now)
{
	const struct nnb__seat *s = seat_on_lane(l, lane);

	if (!s)
		return (struct nnb__lane_holder){ .lane = lane };
	return (struct nnb__lane_holder){
		.lane = lane,
		.seat = s,
		.arrival = s->job.arrival,
		.execution = atomic_load_explicit(&s->executions, memory_order_relaxed),
		.tid = s->tid,
		.losses = atomic_load_explicit(&s->losses, memory_order_relaxed),
		.on_probation = is_on_probation(s, now),
		.is_absent = seat_is_absent(s),
	};
}

void nnb__lanes_holders(struct nnb__lanes *l, struct nnb__lane_holders *ret)
{
	uint64_t now;

	pthread_mutex_lock(&l->lock);
	now = nnb__now();
	ret->waiting = l->policy.waiting; /* (8) */
	ret->lanes = l->policy.lanes;
	for (uint32_t i = 0; i < ret->lanes; i++)
		ret->of[i] = lane_holder(l, i, now);
	lanes_unlock(l);
}

/*
 * The holder's seat, if it still has the lane for the same execution, and another seat waits; NULL otherwise. The
 * caller holds the lock, so the seat's thread cannot begin its next execution on the lane meanwhile (10).
 */
static struct nnb__seat *seat_of_holder(const struct nnb__lanes *l, const struct nnb__lane_holder *h)
{
	struct nnb__seat *s = seat_on_lane(l, h->lane);

	if (!l->policy.waiting || !s || s != h->seat || s->job.arrival != h->arrival)
		return NULL;
	return atomic_load_explicit(&s->executions, memory_order_relaxed) == h->execution ? s : NULL; /* (10) */
}

/* Must the execution leave its lane for that reason? The caller holds the lock. */
static bool stall_is_enough(const struct nnb__seat *s, enum nnb__stall why, uint64_t now)
{
	assert(nnb__is_locked(&s->lanes->lock));
	if (why == NNB__STALL_PAGE)
		return true;
	if (!is_on_probation(s, now))
		return false;
	/* no event of a loss may come before that of the start */
	return why != NNB__STALL_CPU || !s->trace || atomic_load_explicit(&s->trace->on_lane, memory_order_acquire);
}

bool nnb__lanes_take_away(struct nnb__lanes *l, const struct nnb__lane_holder *holder, enum nnb__stall why)
{
	bool taken = false;
	struct nnb__seat *s;
	uint64_t now;

	pthread_mutex_lock(&l->lock);
	s = seat_of_holder(l, holder);
	now = nnb__now();
	if (s && stall_is_enough(s, why, now))
		taken = why == NNB__STALL_ABSENT ? lane_pass_on(s, now) : lane_lose(s, why, now);
	lanes_unlock(l);
	return taken;
}

/* The seat's lane was taken away: be ready again. True: on a lane. The caller holds the lock. */
static bool lane_regain(struct nnb__seat *s, uint64_t now)
{
	struct nnb__lanes *l = s->lanes;
	bool on_lane;

	assert(nnb__is_locked(&l->lock) && (s->job.lane < 0 || l->policy.running[s->job.lane] != &s->job));
	atomic_store_explicit(&s->hold, NNB__HOLD_RUNS, memory_order_relaxed);
	atomic_store_explicit(&s->yield_at, NNB__NEVER, memory_order_relaxed);
	s->passes_since = 0;
	if (!l->policy.free)
		lanes_reclaim(l);
	if (s->trace)
		nnb__trace_ready(s->trace, now);
	on_lane = nnb__policy_ready(&l->policy, &s->job, now);
	s->job.begun = true;
	if (on_lane)
		trace_wait(s, 0);
	else
		publish_yields(l);
	return on_lane;
}

bool nnb__lanes_end(struct nnb__seat *s, uint64_t *ret_lost_at)
{
	uint32_t runs = NNB__HOLD_RUNS;

	if (s->lanes->kind == NNB_POLICY_NATIVE ||
	    __builtin_expect(atomic_compare_exchange_strong_explicit(&s->hold, &runs, NNB__HOLD_ENDS,
	                                                             memory_order_relaxed, memory_order_relaxed),
	                     1)) /* (7) */
		return true;
	assert(runs == NNB__HOLD_LOST);
	pthread_mutex_lock(&s->lanes->lock);
	*ret_lost_at = s->lost_at;
	atomic_store_explicit(&s->hold, NNB__HOLD_RUNS, memory_order_relaxed);
	flush_app_count(s);
	pthread_mutex_unlock(&s->lanes->lock);
	return false;
}

/* ---- the life of an execution ---- */

/* NNB_POLICY_NATIVE: each execution begins at once, and the kernel shares the cpus. */
static void lane_take_native(struct nnb__seat *s)
{
	/* A burst's thread runs one model, so its nice value is set once. */
	static _Thread_local int current = INT_MAX; /* INT_MAX: inherited, so unknown */

	pthread_mutex_lock(&s->lanes->lock);
	count_execution(s);
	flush_app_count(s);
	pthread_mutex_unlock(&s->lanes->lock);
	assert(s->job.priority < sizeof(nice_of) / sizeof(*nice_of));
	if (nice_of[s->job.priority] != current && !set_nice(nice_of[s->job.priority]))
		current = nice_of[s->job.priority];
}

int nnb__lanes_take(struct nnb__seat *s, uint64_t until)
{
	struct nnb__lanes *l = s->lanes;
	uint64_t now = 0;
	bool on_lane, kept, near = false, probation = false;

	if (__builtin_expect(l->kind == NNB_POLICY_NATIVE, 0)) {
		lane_take_native(s);
		return 0;
	}
	atomic_store_explicit(&s->yield_at, NNB__NEVER, memory_order_relaxed);
	atomic_store_explicit(&s->next_op, 0, memory_order_relaxed);
	count_execution(s);
	kept = lane_take_kept(s, NNB__HOLD_RUNS);
	if (__builtin_expect(kept && !s->announced, 1))
		return 0;
	atomic_store_explicit(&s->turn, 0, memory_order_relaxed);
	pthread_mutex_lock(&l->lock);
	assert(!s->announced || l->announced);
	l->announced -= s->announced;
	s->announced = false;
	if (kept) {
		lanes_unlock(l);
		return 0;
	}
	assert(s->job.lane < 0 || l->policy.running[s->job.lane] != &s->job);
	flush_app_count(s);
	s->tid = thread_id();
	s->passes_since = 0;
	atomic_store_explicit(&s->losses, 0, memory_order_relaxed);
	if (!l->policy.free)
		lanes_reclaim(l);
	if (__builtin_expect(nnb__policy_wants_time(&l->policy, false), 0))
		now = nnb__now();
	on_lane = nnb__policy_ready(&l->policy, &s->job, now);
	if (__builtin_expect(!on_lane, 0)) {
		lanes_recall(s, now);
		publish_yields(l);
		near = turn_is_near(l, now);
		probation = l->hook.seat_waits && any_is_on_probation(l, now);
	} else {
		atomic_store_explicit(&s->cpu, nnb__cpu(), memory_order_relaxed);
	}
	lanes_unlock(l);
	if (__builtin_expect(on_lane, 1))
		return 0;
	return wait_for_turn(s, now, until, near, probation);
}

bool nnb__lanes_yields(struct nnb__seat *s, uint64_t now)
{
	struct nnb__lanes *l = s->lanes;
	bool yields;

	pthread_mutex_lock(&l->lock);
	assert(nnb__lanes_lost(s) || s->job.lane != NNB__NO_LANE);
	yields = nnb__lanes_lost(s) || nnb__policy_yield(&l->policy, s->job.lane, now);
	if (!yields)
		publish_yields(l);
	lanes_unlock(l);
	return yields;
}

int nnb__lanes_yield(struct nnb__seat *s, uint64_t until, bool *ret_left)
{
	struct nnb__lanes *l = s->lanes;
	uint64_t now = nnb__now();
	struct nnb__seat *next = NULL;
	bool left;

	pthread_mutex_lock(&l->lock);
	s->regains = nnb__lanes_lost(s);
	if (s->regains) {
		bool on_lane;

		s->regains_since = s->lost_at;
		atomic_store_explicit(&s->turn, 0, memory_order_relaxed);
		on_lane = lane_regain(s, now);
		lanes_unlock(l);
		*ret_left = true;
		return on_lane ? 0 : wait_for_turn(s, now, until, false, false);
	}
	assert(s->job.lane != NNB__NO_LANE);
	left = nnb__policy_yield(&l->policy, s->job.lane, now); /* false: the seat that wanted the lane has given up */
	if (left) {
		atomic_store_explicit(&s->turn, 0, memory_order_relaxed);
		next = lane_leave(s, YIELDS, now);
		left = s->job.lane == NNB__NO_LANE;
	} else {
		publish_yields(l);
	}
	lanes_unlock(l);
	seat_wake(next);
	*ret_left = left;
	return left ? wait_for_turn(s, now, until, false, false) : 0;
}

void nnb__lanes_give(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;
	struct nnb__seat *next;
	uint64_t lost_at;

	if (l->kind == NNB_POLICY_NATIVE)
		return;
	if (lane_keep(s))
		return;
	if (atomic_load_explicit(&s->hold, memory_order_relaxed) != NNB__HOLD_ENDS && !nnb__lanes_end(s, &lost_at))
		return;
	pthread_mutex_lock(&l->lock);
	atomic_store_explicit(&s->hold, NNB__HOLD_RUNS, memory_order_relaxed);
	next = lane_leave(s, ENDS, nnb__policy_wants_time(&l->policy, true) ? nnb__now() : 0);
	lanes_unlock(l);
	assert(!s->heir);
	if (s->answers_first)
		s->heir = next;
	else
		seat_wake(next);
}

void nnb__lanes_wake(struct nnb__seat *s)
{
	struct nnb__seat *heir = s->heir;

	s->heir = NULL;
	seat_wake(heir);
}

void nnb__lanes_release(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;

	if (!s->keeps)
		return;
	pthread_mutex_lock(&l->lock);
	if (lane_take_kept(s, NNB__HOLD_RUNS))
		seat_wake(lane_leave(s, ENDS, nnb__policy_wants_time(&l->policy, true) ? nnb__now() : 0));
	flush_app_count(s);
	lanes_unlock(l);
}

/* ---- from outside ---- */

void nnb__lanes_look(struct nnb__lanes *l, struct nnb__lane_app *app)
{
	pthread_mutex_lock(&l->lock); /* (3) */
	for (struct nnb__policy_job *j = app->shares.queue; j; j = j->next) {
		struct nnb__seat *s = seat_of_job(j);

		if (seat_is_cancelled(s)) {
			atomic_fetch_add_explicit(&s->turn, LOOK, memory_order_release); /* (4) */
			seat_wake(s); /* under the lock, so that the seat cannot be freed */
		}
	}
	lanes_unlock(l);
}

uint32_t nnb__lanes_announce(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;
	uint32_t n;

	if (l->kind == NNB_POLICY_NATIVE)
		return 0;
	pthread_mutex_lock(&l->lock);
	n = l->policy.waiting + l->announced;
	l->announced += !s->announced;
	s->announced = true;
	lanes_unlock(l);
	return n;
}

uint64_t nnb__lanes_wait(struct nnb__seat *s, uint64_t now)
{
	struct nnb__lanes *l = s->lanes;
	uint64_t wait;

	if (l->kind == NNB_POLICY_NATIVE || atomic_load_explicit(&s->hold, memory_order_relaxed) == NNB__HOLD_KEPT)
		return 0;
	pthread_mutex_lock(&l->lock);
	if (!l->policy.free)
		lanes_reclaim(l);
	wait = nnb__policy_wait(&l->policy, &s->job, now);
	for (uint32_t i = 0; i < l->policy.lanes; i++)
		if (l->policy.preempt == NNB_PREEMPT_NONE && seat_to_recall(l, i))
			wait = 0; /* it includes the time of that seat, which may lose the lane at once */
	lanes_unlock(l);
	return wait;
}

void nnb__lanes_worked(const struct nnb__lanes *l, struct nnb__lane_app *app, uint64_t now, uint64_t ns)
{
	uint64_t before, half, ahead;

	if (l->kind == NNB_POLICY_NATIVE) /* then @ns is no time on a lane, nor on a cpu */
		return;
	/* threads of an app that do this at the same time may miss each other's executions */
	before = atomic_exchange_explicit(&app->ahead_at, now, memory_order_relaxed);
	half = now > before ? (now - before) * l->policy.lanes / 2 : 0;
	ahead = nnb__saturating_sum(atomic_load_explicit(&app->ahead_ns, memory_order_relaxed), ns);
	ahead = ahead > half ? ahead - half : 0;
	atomic_store_explicit(&app->ahead_ns, ahead < AHEAD_MOST_NS ? ahead : AHEAD_MOST_NS, memory_order_relaxed);
}

void nnb__lanes_slice(const struct nnb__lane_app *app, bool is_long)
{
	/* a thread begins with the slice of the one that made it, which may be long */
	enum { INHERITED, USUAL, LONG };
	static _Thread_local unsigned char has;
	bool ahead = is_long && app && atomic_load_explicit(&app->ahead_ns, memory_order_relaxed) >= AHEAD_NS;
	unsigned char wants = ahead ? LONG : USUAL;

	if (__builtin_expect(wants == has, 1))
		return;
	nnb__thread_slice(ahead ? LONG_SLICE_NS : 0);
	has = wants;
}

void nnb__lanes_counts(struct nnb__lanes *l, struct nnb__lane_app *app, struct nnb_app_counts *ret)
{
	pthread_mutex_lock(&l->lock);
	nnb__policy_account(&l->policy, nnb__now());
	for (uint32_t i = 0; i < l->policy.lanes; i++)
		if (l->policy.running[i] && l->policy.running[i]->app == &app->shares)
			flush_app_count(seat_of_job(l->policy.running[i]));
	ret->waiting = app->shares.waiting;
	ret->executions = app->executions;
	ret->received_ns = (uint64_t)app->shares.received;
	ret->entitled_ns = (uint64_t)app->shares.entitled;
	ret->max_lag_ns = (int64_t)app->shares.max_lag;
	ret->preemptions = app->shares.preemptions;
	ret->restarts = app->shares.restarts;
	lanes_unlock(l);
	ret->missed_transient = atomic_load_explicit(&app->missed_transient, memory_order_relaxed);
	ret->missed_persistent = atomic_load_explicit(&app->missed_persistent, memory_order_relaxed);
	ret->late = atomic_load_explicit(&app->late, memory_order_relaxed);
	ret->longest_wait_ns = atomic_load_explicit(&app->longest_wait_ns, memory_order_relaxed);
}

/* ---- life cycle ---- */

int nnb__lanes_init(struct nnb__lanes *l, enum nnb_policy kind, enum nnb_preempt preempt, enum nnb_deadlines deadlines,
                    uint32_t lanes)
{
	cpu_set_t cpus;

	if (kind == NNB_POLICY_NATIVE) { /* may this process set nice values? */
		int before;

		errno = 0;
		before = getpriority(PRIO_PROCESS, (id_t)gettid());
		if (set_nice(NICE_HIGH) || set_nice(before))
			return -EPERM;
	}
	if (!lanes)
		lanes = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (uint32_t)CPU_COUNT(&cpus);
	l->kind = kind;
	l->deadlines = deadlines;
	l->announced = 0;
	l->hook = (struct nnb__lanes_hook){ .seat_waits = NULL };
	l->numbers = (struct nnb__trace_numbers){ 0 };
	nnb__policy_init(&l->policy, kind, preempt, lanes < NNB__LANES_MAX ? lanes : NNB__LANES_MAX);
	pthread_mutex_init(&l->lock, NULL);
	return 0;
}

void nnb__lanes_fini(struct nnb__lanes *l)
{
	pthread_mutex_destroy(&l->lock);
}

void nnb__seat_init(struct nnb__seat *s, struct nnb__lanes *l, struct nnb__lane_app *app, uint32_t priority,
                    const atomic_bool *cancelled)
{
	*s = (struct nnb__seat){ .lanes = l,
		                 .job = { .app = app ? &app->shares : NULL,
		                          .priority = priority,
		                          .deadline_ns = NNB__NEVER,
		                          .lane = NNB__NO_LANE },
		                 .yield_at = NNB__NEVER,
		                 .cancelled = cancelled };
}

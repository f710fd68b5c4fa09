/*
 * lanes.c -- lanes: who has one runs, who has none sleeps.
 *
 * CONCURRENCY  A seat is one thread's at a time; cancelling and looking come from any. The lock guards the policy, and
 *           orders whoever takes, leaves or gives up a lane; it is held for some hundred instructions, and for tens of
 *           microseconds where hundreds of apps wait for dozens of lanes.
 * ORDERING  (1) who gives: turn = 1, release, under the lock  --- pairs with (2)
 *           (2) who waits: turn, acquire  => what was done on the lane before happened before
 *           (3) cancelled is set before nnb__lanes_look takes the lock; who waits has queued under the lock,
 *               and then looks at it  => either the look finds it waiting, or it finds itself cancelled
 *           (4) who looks: turn += LOOK, release  --- pairs with (2)  => who finds that turn finds itself cancelled, and
 *               does not go to sleep on it
 *           (5) who gives a lane: kept = 1, then looks at wanted; who wants one: wanted, then looks at kept, both
 *               sequentially consistent  => one of them finds the other: no lane is kept while somebody waits
 *           (6) take_kept: of the two who try, one has the lane. Acquire and release: what its thread has written of the
 *               job between two executions is seen by who finds under the lock that the seat has taken its lane again, or
 *               was before its thread began to write
 *           yield_at is a hint, stored under the lock and read without: who finds that it has come asks again under it.
 * PROGRESS  A lane is handed over: who leaves it names the next. No lane is free, or kept, while somebody waits.
 * CRASH     Of a client: its executions are cancelled, and give what they have. Waking is the last thing done to a seat
 *           that was given a lane; if it is gone by then, nobody is woken, or somebody who looks and sleeps again.
 */
#include "sched/lanes.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmq/sys.h"

enum { ON_LANE = 1, LOOK = 2 }; /* of a turn: a flag; and what is added for those who wait to look again */
enum { NICE_LOW = 10, NICE_MEDIUM = 0, NICE_HIGH = -10 };

/* ---- the kernel's scheduler, for NNB_POLICY_NATIVE ---- */

static const int nice_of[] = { NICE_LOW, NICE_MEDIUM, NICE_HIGH };

static int be_nice(int nice)
{
	return setpriority(PRIO_PROCESS, (id_t)gettid(), nice) < 0 ? -errno : 0;
}

/* A burst's thread runs one model, and is told once. */
static void tell_kernel(uint32_t priority)
{
	static _Thread_local int told = INT_MAX; /* nothing: it has its value from who made it */

	if (nice_of[priority] != told && !be_nice(nice_of[priority]))
		told = nice_of[priority];
}

static int try_kernel(void)
{
	errno = 0;
	int before = getpriority(PRIO_PROCESS, (id_t)gettid());
	int r = be_nice(NICE_HIGH);

	return r ? -EPERM : be_nice(before);
}

/* ---- the policy ---- */

static struct nnb__seat *seat_of(struct nnb__policy_job *job)
{
	return (struct nnb__seat *)((char *)job - offsetof(struct nnb__seat, job));
}

static struct nnb__lane_app *app_of(struct nnb__seat *s)
{
	return (struct nnb__lane_app *)s->job.app;
}

/* At once, says the policy: since when? */
static uint64_t since_when(const struct nnb__seat *s)
{
	uint64_t before = atomic_load_explicit(&s->yield_at, memory_order_relaxed), now = nnb__now();

	return before < now ? before : now;
}

/* What the policy has planned. */
static void publish(struct nnb__lanes *l)
{
	for (uint32_t i = 0; i < l->policy.lanes; i++) {
		uint64_t at = l->policy.yield_at[i];
		struct nnb__seat *s;

		if (!l->policy.running[i])
			continue;
		s = seat_of(l->policy.running[i]);
		atomic_store_explicit(&s->yield_at, at ? at : since_when(s), memory_order_relaxed);
	}
}

/* @job has been given a lane. Returns its seat, to be woken without the lock. */
static struct nnb__seat *hand_over(struct nnb__policy_job *job)
{
	struct nnb__seat *s = seat_of(job);

	atomic_store_explicit(&s->turn, ON_LANE, memory_order_release); /* (1) */
	return s;
}

static void wake(struct nnb__seat *s)
{
	if (s)
		nnb__futex_wake(&s->turn, UINT32_MAX);
}

/* Whoever begins to listen meanwhile hears since when it waits; @since 0: it waits no more. */
static void tell_waits(struct nnb__seat *s, uint64_t since)
{
	if (s->trace)
		nnb__trace_waits(s->trace, since);
}

static void waited(struct nnb__seat *s, uint64_t since)
{
	struct nnb__lane_app *app = app_of(s);
	uint64_t ns = nnb__now() - since, longest = atomic_load_explicit(&app->longest_wait_ns, memory_order_relaxed);

	tell_waits(s, 0);
	while (!s->trial && ns > longest &&
	       !atomic_compare_exchange_weak_explicit(&app->longest_wait_ns, &longest, ns, memory_order_relaxed,
	                                              memory_order_relaxed))
		;
}

/* ---- waiting ---- */

static bool is_cancelled(const struct nnb__seat *s)
{
	return s->cancelled && atomic_load_explicit(s->cancelled, memory_order_relaxed);
}

/* It is not to wait any longer. False: it has been given a lane meanwhile. */
static bool give_up(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;
	bool waits;

	pthread_mutex_lock(&l->lock);
	waits = s->job.lane == NNB__NO_LANE;
	if (waits) {
		nnb__policy_cancel(&l->policy, &s->job, nnb__now());
		publish(l);
	}
	pthread_mutex_unlock(&l->lock);
	return waits;
}

/* It is in the queue. 0: it has a lane. */
static int wait_for_turn(struct nnb__seat *s, uint64_t since, uint64_t until)
{
	uint32_t turn;
	int r = 0;

	tell_waits(s, since);
	while (!((turn = atomic_load_explicit(&s->turn, memory_order_acquire)) & ON_LANE)) { /* (2) */
		bool cancelled = is_cancelled(s);

		if ((cancelled || r == -ETIMEDOUT) && give_up(s)) {
			waited(s, since);
			return cancelled ? -ECANCELED : -ETIMEDOUT;
		}
		r = nnb__futex_wait(&s->turn, turn, UINT32_MAX, until);
	}
	waited(s, since);
	return 0; /* though it may be late, or wanted no more: that is for who runs it to see */
}

/* ---- leaving ---- */

/* Before the lane is anybody else's. */
static void tell_preempted(struct nnb__seat *s, const struct nnb__seat *next, uint64_t now)
{
	uint64_t asked = atomic_load_explicit(&s->yield_at, memory_order_relaxed);

	if (!s->trace || !next->trace)
		return;
	nnb__trace_waits(s->trace, now);
	nnb__trace_preempted(s->trace, next->trace->exec, s->next_op, s->lanes->policy.preempt == NNB_PREEMPT_RESTART,
	                     now > asked ? now - asked : 0, s->redo_ns);
}

/* An execution begins. */
static void count_execution(struct nnb__seat *s)
{
	uint64_t n = atomic_load_explicit(&s->executions, memory_order_relaxed);

	if (!s->trial)
		atomic_store_explicit(&s->executions, n + 1, memory_order_relaxed);
}

/* The lock is held. */
static void count_for_app(struct nnb__seat *s)
{
	uint64_t n = atomic_load_explicit(&s->executions, memory_order_relaxed);

	app_of(s)->executions += n - s->counted;
	s->counted = n;
}

/* Leave the lane. Returns who is to be woken. */
static struct nnb__seat *leave(struct nnb__seat *s, bool again, uint64_t now)
{
	struct nnb__policy *p = &s->lanes->policy;
	struct nnb__policy_job *next = nnb__policy_leave(p, s->job.lane, again, now);

	count_for_app(s);
	if (!next)
		return NULL;
	if (again && next != &s->job)
		tell_preempted(s, seat_of(next), now);
	if (next != &s->job) /* what it was asked when it was on a lane before is over */
		atomic_store_explicit(&seat_of(next)->yield_at, NNB__NEVER, memory_order_relaxed);
	publish(s->lanes);
	return next == &s->job ? NULL : hand_over(next);
}

/* ---- lanes that are kept ---- */

/* Under the lock: what givers look at. */
static void unlock(struct nnb__lanes *l)
{
	if (__builtin_expect(atomic_load_explicit(&l->wanted, memory_order_relaxed) != l->policy.waiting, 0))
		atomic_store_explicit(&l->wanted, l->policy.waiting, memory_order_seq_cst); /* (5) */
	pthread_mutex_unlock(&l->lock);
}

/* Its lane is the caller's from now on: of who has the seat, or of who takes the lane away. */
static bool take_kept(struct nnb__seat *s)
{
	uint32_t one = 1;

	return s->keeps && atomic_compare_exchange_strong_explicit(&s->kept, &one, 0, memory_order_acq_rel,
	                                                           memory_order_acquire); /* (6) */
}

/* Its execution is over. True: it keeps the lane, or somebody has taken that away already. */
static bool keep(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;

	if (!s->keeps || s->job.since || atomic_load_explicit(&l->wanted, memory_order_relaxed))
		return false;
	atomic_store_explicit(&s->kept, 1, memory_order_seq_cst); /* (5) */
	if (__builtin_expect(!atomic_load_explicit(&l->wanted, memory_order_seq_cst), 1))
		return true;
	return !take_kept(s);
}

/* The lock is held, and a lane is wanted: those that are kept are free, or their next ones'. */
static void reclaim(struct nnb__lanes *l)
{
	atomic_store_explicit(&l->wanted, l->policy.waiting + 1, memory_order_seq_cst); /* (5) */
	for (uint32_t i = 0; i < l->policy.lanes; i++) {
		struct nnb__seat *s = l->policy.running[i] ? seat_of(l->policy.running[i]) : NULL;

		if (!s || !take_kept(s))
			continue;
		wake(leave(s, false, l->policy.waiting ? nnb__now() : 0)); /* under the lock: it cannot be gone */
	}
}

/* ---- the life of an execution ---- */

static int take_of_kernel(struct nnb__seat *s)
{
	pthread_mutex_lock(&s->lanes->lock);
	count_execution(s);
	count_for_app(s);
	pthread_mutex_unlock(&s->lanes->lock);
	tell_kernel(s->job.priority);
	return 0;
}

int nnb__lanes_take(struct nnb__seat *s, uint64_t until)
{
	struct nnb__lanes *l = s->lanes;
	uint64_t now = 0;
	bool on_lane, kept;

	if (__builtin_expect(l->kind == NNB_POLICY_NATIVE, 0))
		return take_of_kernel(s);
	atomic_store_explicit(&s->yield_at, NNB__NEVER, memory_order_relaxed);
	count_execution(s);
	kept = take_kept(s);
	if (__builtin_expect(kept && !s->announced, 1))
		return 0;
	atomic_store_explicit(&s->turn, 0, memory_order_relaxed);
	pthread_mutex_lock(&l->lock);
	l->announced -= s->announced;
	s->announced = false;
	if (kept) {
		unlock(l);
		return 0;
	}
	count_for_app(s);
	if (!l->policy.free)
		reclaim(l);
	if (__builtin_expect(nnb__policy_wants_time(&l->policy, false), 0))
		now = nnb__now();
	on_lane = nnb__policy_ready(&l->policy, &s->job, now);
	if (__builtin_expect(!on_lane, 0))
		publish(l);
	unlock(l);
	return __builtin_expect(on_lane, 1) ? 0 : wait_for_turn(s, now, until);
}

bool nnb__lanes_yields(struct nnb__seat *s, uint64_t now)
{
	struct nnb__lanes *l = s->lanes;
	bool yields;

	pthread_mutex_lock(&l->lock);
	yields = nnb__policy_yield(&l->policy, s->job.lane, now);
	if (!yields)
		publish(l);
	unlock(l);
	return yields;
}

int nnb__lanes_yield(struct nnb__seat *s, uint64_t until, bool *ret_left)
{
	struct nnb__lanes *l = s->lanes;
	uint64_t now = nnb__now();
	struct nnb__seat *next = NULL;
	bool left;

	pthread_mutex_lock(&l->lock);
	left = nnb__policy_yield(&l->policy, s->job.lane, now); /* whom it was for may have gone */
	if (left) {
		atomic_store_explicit(&s->turn, 0, memory_order_relaxed);
		next = leave(s, true, now);
		left = s->job.lane == NNB__NO_LANE;
	} else {
		publish(l);
	}
	unlock(l);
	wake(next);
	*ret_left = left;
	return left ? wait_for_turn(s, now, until) : 0;
}

void nnb__lanes_give(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;
	struct nnb__seat *next;

	if (l->kind == NNB_POLICY_NATIVE || keep(s))
		return;
	pthread_mutex_lock(&l->lock);
	next = leave(s, false, nnb__policy_wants_time(&l->policy, true) ? nnb__now() : 0);
	unlock(l);
	wake(next);
}

void nnb__lanes_release(struct nnb__seat *s)
{
	struct nnb__lanes *l = s->lanes;

	if (!s->keeps)
		return;
	pthread_mutex_lock(&l->lock);
	if (take_kept(s))
		wake(leave(s, false, nnb__policy_wants_time(&l->policy, true) ? nnb__now() : 0));
	count_for_app(s);
	unlock(l);
}

/* ---- from outside ---- */

void nnb__lanes_look(struct nnb__lanes *l, struct nnb__lane_app *app)
{
	pthread_mutex_lock(&l->lock); /* (3) */
	for (struct nnb__policy_job *j = app->shares.queue; j; j = j->next) {
		struct nnb__seat *s = seat_of(j);

		if (is_cancelled(s)) {
			atomic_fetch_add_explicit(&s->turn, LOOK, memory_order_release); /* (4) */
			wake(s); /* under the lock: it cannot be gone */
		}
	}
	unlock(l);
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
	unlock(l);
	return n;
}

uint64_t nnb__lanes_wait(struct nnb__seat *s, uint64_t now)
{
	struct nnb__lanes *l = s->lanes;
	uint64_t wait;

	if (l->kind == NNB_POLICY_NATIVE || (s->keeps && atomic_load_explicit(&s->kept, memory_order_relaxed)))
		return 0;
	pthread_mutex_lock(&l->lock);
	if (!l->policy.free)
		reclaim(l);
	wait = nnb__policy_wait(&l->policy, &s->job, now);
	unlock(l);
	return wait;
}

void nnb__lanes_counts(struct nnb__lanes *l, struct nnb__lane_app *app, struct nnb_app_counts *ret)
{
	pthread_mutex_lock(&l->lock);
	nnb__policy_account(&l->policy, nnb__now());
	for (uint32_t i = 0; i < l->policy.lanes; i++)
		if (l->policy.running[i] && l->policy.running[i]->app == &app->shares)
			count_for_app(seat_of(l->policy.running[i]));
	ret->waiting = app->shares.waiting;
	ret->executions = app->executions;
	ret->received_ns = (uint64_t)app->shares.received;
	ret->entitled_ns = (uint64_t)app->shares.entitled;
	ret->max_lag_ns = (int64_t)app->shares.max_lag;
	ret->preemptions = app->shares.preemptions;
	ret->restarts = app->shares.restarts;
	unlock(l);
	ret->missed_transient = atomic_load_explicit(&app->missed_transient, memory_order_relaxed);
	ret->missed_persistent = atomic_load_explicit(&app->missed_persistent, memory_order_relaxed);
	ret->late = atomic_load_explicit(&app->late, memory_order_relaxed);
	ret->longest_wait_ns = atomic_load_explicit(&app->longest_wait_ns, memory_order_relaxed);
}

/* ---- making ---- */

static uint32_t cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (uint32_t)CPU_COUNT(&set);
}

int nnb__lanes_init(struct nnb__lanes *l, enum nnb_policy kind, enum nnb_preempt preempt, enum nnb_deadlines deadlines,
                    uint32_t lanes)
{
	if (kind == NNB_POLICY_NATIVE && try_kernel())
		return -EPERM;
	if (!lanes)
		lanes = cpus();
	l->kind = kind;
	l->deadlines = deadlines;
	l->announced = 0;
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

/*
 * lanes.h -- lanes: permits to use the device, which the policy hands out.
 *
 * An execution runs on its own thread. It takes a lane before it begins, may have to yield it at a checkpoint, and
 * gives it back at the end. If no execution waits, taking and giving are a few instructions under a lock.
 */
#ifndef NNB_SCHED_LANES_H
#define NNB_SCHED_LANES_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "nnb/counts.h"
#include "policy/policy.h"
#include "trace/trace.h"

struct nnb__seat;

/* What a seat calls when it begins to wait. All zeroes: nothing. */
struct nnb__lanes_hook {
	/*
	 * The thread of @seat calls this without a lock, after the seat has entered the queue; it may have left the
	 * queue again by then. @probation: an execution on probation had a lane when it entered (nnb__lanes_take_away).
	 */
	void (*seat_waits)(void *arg, const struct nnb__seat *seat, bool probation);
	void *arg; /* borrowed until nnb__lanes_fini */
};

struct nnb__lanes {
	enum nnb_policy kind;
	enum nnb_deadlines deadlines;
	pthread_mutex_t lock; /* guards the policy, its jobs and its apps */
	struct nnb__policy policy;
	/* 0 if no seat waits, no thread under the lock needs a lane, and no app is owed one: then a seat may
	 * keep its lane */
	_Atomic uint32_t wanted;
	uint32_t announced;                /* number of seats that have announced themselves: nnb__lanes_announce */
	struct nnb__trace_numbers numbers; /* numbers of executions that asked for a lane */
	struct nnb__lanes_hook hook;       /* constant once seats take lanes */
};

/* How a seat holds its lane, if it has one. */
enum nnb__hold {
	NNB__HOLD_RUNS, /* its execution is on the lane; or the seat has none */
	NNB__HOLD_KEPT, /* the seat keeps the lane between two executions */
	NNB__HOLD_LOST, /* the lane was taken away from its execution: nnb__lanes_take_away */
	NNB__HOLD_ENDS  /* the execution is ending, and cannot lose the lane any more */
};

/* The lanes' state of one app. All zeroes: a new app. */
struct nnb__lane_app {
	/* under the lanes' lock; first, because the policy's pointer is converted to this struct */
	struct nnb__policy_app shares;
	uint64_t executions; /* under the lanes' lock; without those that seats on lanes have not flushed */
	/* under the lanes' lock: when an execution last lost its lane; end of its probation (nnb__lanes_take_away) */
	uint64_t stalled_at, probation_until;
	_Atomic uint64_t missed_transient, missed_persistent, late, longest_wait_ns;
	/* how far it is ahead (nnb__lanes_worked), and since when: hints */
	_Atomic uint64_t ahead_ns, ahead_at;
};

/* A place for executions that need a lane, one after the other. One thread at a time uses it. */
struct nnb__seat {
	struct nnb__lanes *lanes;
	struct nnb__policy_job job;
	_Atomic uint64_t yield_at; /* when to call nnb__lanes_yields; NNB__NEVER */
	/* a futex: changes when the seat gets a lane, loses it unseen, or must check whether it is cancelled */
	_Atomic uint32_t turn;
	uint64_t passes_since; /* of its wait: when it first lost a lane unseen; 0: not yet. Under the lanes' lock */
	/*
	 * The thread is likely to execute again soon: if no seat waits, this seat keeps its lane between two
	 * executions, and a seat that wants a lane takes it away. For policies by arrival, all its executions
	 * meanwhile count as arrived when the lane was taken. Set before the first take; then call nnb__lanes_release
	 * before the seat is freed.
	 */
	bool keeps;
	/*
	 * The thread sends an answer before it wakes the thread of the seat that gets its lane: after each execution
	 * it calls nnb__lanes_wake. Where sending the answer may block on another process, it calls that first,
	 * because the lane is idle until then.
	 */
	bool answers_first;
	struct nnb__seat *heir;      /* the seat that got the lane, until nnb__lanes_wake; owned by the seat's thread */
	_Atomic uint32_t cpu;        /* a hint: where its thread last got a lane that it did not keep */
	_Atomic uint32_t hold;       /* enum nnb__hold */
	_Atomic uint32_t losses;     /* how often the execution has lost its lane */
	uint64_t lost_at;            /* when its lane was last lost: under the lanes' lock */
	bool regains;                /* nnb__lanes_yield has found its lane lost; of the seat's thread */
	uint64_t regains_since;      /* if regains: when the lane was lost; of the seat's thread */
	pid_t tid;                   /* its thread, when it took its lane: under the lanes' lock */
	_Atomic uint64_t executions; /* executions so far; written by the seat's thread */
	uint64_t counted;            /* executions already added to the app: under the lanes' lock */
	bool named;                  /* an execution left its lane for this one: under the lanes' lock */
	bool announced;              /* announced, but lane not yet requested: under the lanes' lock */
	bool trial;                  /* its app pays for the lane; the app's counts and longest wait leave it out */
	/* true: stop waiting; after setting it, call nnb__lanes_look. NULL: never cancelled */
	const atomic_bool *cancelled;

	/* fields of the preemption event, which the caller sets before it yields */
	struct nnb__trace *trace; /* NULL: no event */
	_Atomic uint32_t next_op; /* of a lost lane, too: set while the execution runs */
	uint64_t redo_ns;
};

/* Make @n lanes; 0: one for each cpu. 0; -EPERM: the process may not set nice values (NNB_POLICY_NATIVE). */
int nnb__lanes_init(struct nnb__lanes *lanes, enum nnb_policy kind, enum nnb_preempt preempt,
                    enum nnb_deadlines deadlines, uint32_t n);
void nnb__lanes_fini(struct nnb__lanes *lanes);

void nnb__seat_init(struct nnb__seat *seat, struct nnb__lanes *lanes, struct nnb__lane_app *app, uint32_t priority,
                    const atomic_bool *cancelled);

/*
 * Take a lane; wait for it until @until at the latest (NNB__NEVER: for ever). The caller sets the job's deadline,
 * floor and restarts before. 0; -ETIMEDOUT; -ECANCELED.
 */
int nnb__lanes_take(struct nnb__seat *seat, uint64_t until);

/* Its yield_at is due: must the seat yield its lane? */
bool nnb__lanes_yields(struct nnb__seat *seat, uint64_t now);

/*
 * Yield the lane, and wait for one to continue on. Like take, but after an error the seat has no lane. *ret_left: it
 * has been off the lane.
 */
int nnb__lanes_yield(struct nnb__seat *seat, uint64_t until, bool *ret_left);

/*
 * Was the lane taken away, because the seat's thread waited for a page, or for a cpu? Then yield_at is due, and the
 * seat must call nnb__lanes_yield before it goes on: that waits for a lane again, *ret_left is true, and so is
 * seat->regains.
 */
static inline bool nnb__lanes_lost(const struct nnb__seat *seat)
{
	return __builtin_expect(atomic_load_explicit(&seat->hold, memory_order_relaxed) == NNB__HOLD_LOST, 0);
}

/* Does the seat keep its lane now? Another thread may take it away at any time. */
static inline bool nnb__lanes_kept(const struct nnb__seat *seat)
{
	return __builtin_expect(atomic_load_explicit(&seat->hold, memory_order_relaxed) == NNB__HOLD_KEPT, 1);
}

/*
 * The execution ends, and cannot lose its lane any more; call nnb__lanes_give next. False: its lane was taken away
 * before. Then *ret_lost_at is when, the seat has no lane, and must not give one back.
 */
bool nnb__lanes_end(struct nnb__seat *seat, uint64_t *ret_lost_at);

/* Give the lane back, or keep it (keeps). Does nothing if the lane was taken away. */
void nnb__lanes_give(struct nnb__seat *seat);

/* Wake the thread of the seat that got the lane, if there is one (answers_first). */
void nnb__lanes_wake(struct nnb__seat *seat);

/* Give a kept lane back; then the seat may be freed. Does nothing for seats that do not keep lanes. */
void nnb__lanes_release(struct nnb__seat *seat);

/* An execution on a lane, as it was when it was copied. */
struct nnb__lane_holder {
	uint32_t lane;
	/* These three identify the execution. For comparisons only, because the seat may be gone. NULL: no execution */
	const struct nnb__seat *seat;
	uint64_t arrival;   /* of the seat; the same for all executions on a lane that it keeps */
	uint64_t execution; /* its number among those of the seat */
	pid_t tid;          /* its thread */
	uint32_t losses;    /* how often it has lost its lane */
	bool on_probation;  /* its app is: nnb__lanes_take_away */
	bool is_absent;     /* it got the lane while it waited, and its thread has not come for it yet */
};

struct nnb__lane_holders {
	uint32_t waiting; /* number of seats that wait */
	uint32_t lanes;   /* so many of the following are set */
	struct nnb__lane_holder of[NNB__LANES_MAX];
};

/* Copy which seats have the lanes now. Any thread. */
void nnb__lanes_holders(struct nnb__lanes *lanes, struct nnb__lane_holders *ret);

/* Why a thread cannot use the lane that its execution has. */
enum nnb__stall {
	NNB__STALL_PAGE, /* it waits for a page of memory, and was seen to do so often enough */
	/* these are enough on probation only */
	NNB__STALL_PAGE_ONCE, /* it was seen to wait for a page once */
	NNB__STALL_CPU,       /* it waits for a cpu */
	NNB__STALL_ABSENT     /* it has not come for the lane yet */
};

/*
 * Take its lane away from the execution of @holder, and give it to a seat that waits. An execution whose thread is
 * absent waits again then, behind the others, and passes lanes on for a second at most; any other has lost its lane
 * (nnb__lanes_lost). False: no seat waits; the execution is not on that lane any more, or is ending; @why is not
 * enough; or, for NNB__STALL_ABSENT, its thread has come for the lane, or the seat has passed lanes on for a second.
 * Any thread.
 *
 * An app is on probation for a second after it has lost lanes for a page twice within a second.
 */
bool nnb__lanes_take_away(struct nnb__lanes *lanes, const struct nnb__lane_holder *holder, enum nnb__stall why);

/* Make the cancelled seats of @app stop waiting. Any thread. */
void nnb__lanes_look(struct nnb__lanes *lanes, struct nnb__lane_app *app);

/*
 * Announce that @seat is about to take a lane (docs/events.md, sched_enqueue). Returns how many other seats wait, or
 * are announced and do not wait yet. 0: no seat whose event was emitted before waits.
 */
uint32_t nnb__lanes_announce(struct nnb__seat *seat);

/* A lower bound of the time that @seat would wait for a lane now. */
uint64_t nnb__lanes_wait(struct nnb__seat *seat, uint64_t now);

/*
 * A long execution of @app has ended at @now, and was on a lane for @ns. How much more than half of the lanes the app
 * has had lately is how far it is ahead. With NNB_POLICY_NATIVE no app is: the kernel alone shares the cpus.
 */
void nnb__lanes_worked(const struct nnb__lanes *lanes, struct nnb__lane_app *app, uint64_t now, uint64_t ns);

/* This thread is about to execute for @app (NULL: none), a model whose executions are long, or others. */
void nnb__lanes_slice(const struct nnb__lane_app *app, bool is_long);

void nnb__lanes_counts(struct nnb__lanes *lanes, struct nnb__lane_app *app, struct nnb_app_counts *ret);

#endif

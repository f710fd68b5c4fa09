/*
 * lanes.h -- lanes: permits to use the device, handed out by the policy.
 *
 * An execution runs on the thread that has it. Before it begins it takes a lane, at a checkpoint it may have to yield it,
 * and at its end it gives it back. Where nobody waits, taking and giving are a few instructions under a lock.
 */
#ifndef NNB_SCHED_LANES_H
#define NNB_SCHED_LANES_H

#include <pthread.h>
#include <stdatomic.h>

#include "nnb/client.h"
#include "policy/policy.h"
#include "trace/trace.h"

struct nnb__lanes {
	enum nnb_policy kind;
	enum nnb_deadlines deadlines;
	pthread_mutex_t lock; /* of the policy, and all that it has seen */
	struct nnb__policy policy;
	_Atomic uint32_t
		wanted; /* 0: nobody waits, and no thread under the lock looks for a lane: a seat may keep its own */
	uint32_t announced;                /* seats: nnb__lanes_announce */
	struct nnb__trace_numbers numbers; /* of executions that asked for a lane */
};

/* What the lanes know of an app. All zeroes is a new one. */
struct nnb__lane_app {
	struct nnb__policy_app shares; /* under the lanes' lock; first, for it stands for the whole */
	uint64_t executions;           /* likewise; those of seats on lanes come on top */
	_Atomic uint64_t missed_transient, missed_persistent, late, longest_wait_ns;
};

/* Who can have a lane: one at a time, one thread at a time. */
struct nnb__seat {
	struct nnb__lanes *lanes;
	struct nnb__policy_job job;
	_Atomic uint64_t yield_at; /* when to ask nnb__lanes_yields; NNB__NEVER */
	_Atomic uint32_t turn;     /* a futex: changes when it gets a lane, or is to look whether it was cancelled */
	/*
	 * The next execution is likely to be soon, of the same thread: where nobody waits, the seat keeps its lane in between, and
	 * whoever wants one takes it away. All that it runs meanwhile counts as come when the lane was taken: where the policy
	 * goes by who came first. Set before the first take; then nnb__lanes_release before the seat goes.
	 */
	bool keeps;
	_Atomic uint32_t kept;        /* 1: between two executions it has its lane */
	_Atomic uint64_t executions;  /* the thread's that has the seat */
	uint64_t counted;             /* of them, in the app's: under the lanes' lock */
	bool announced;               /* and has not asked for a lane since: under the lanes' lock */
	bool trial;                   /* its app pays for the lane; the app's counts and longest wait leave it out */
	const atomic_bool *cancelled; /* it is not to wait any longer; then nnb__lanes_look. NULL: it never is */

	/* what is said if it makes room: the caller's to set before it does */
	struct nnb__trace *trace; /* NULL: nobody is told */
	uint32_t next_op;
	uint64_t redo_ns;
};

/* @n lanes; 0: one a cpu. 0 or -EPERM: the kernel's scheduler would not be told (NNB_POLICY_NATIVE). */
int nnb__lanes_init(struct nnb__lanes *lanes, enum nnb_policy kind, enum nnb_preempt preempt,
                    enum nnb_deadlines deadlines, uint32_t n);
void nnb__lanes_fini(struct nnb__lanes *lanes);

void nnb__seat_init(struct nnb__seat *seat, struct nnb__lanes *lanes, struct nnb__lane_app *app, uint32_t priority,
                    const atomic_bool *cancelled);

/*
 * Wait for a lane, until @until at the latest (NNB__NEVER: for ever). The job's deadline, floor and restarts are the
 * caller's to set. 0; -ETIMEDOUT; -ECANCELED.
 */
int nnb__lanes_take(struct nnb__seat *seat, uint64_t until);

/* Its yield_at has come: is it to make room? */
bool nnb__lanes_yields(struct nnb__seat *seat, uint64_t now);

/* Make room, and wait for a lane to go on. As take; but for 0 it has none any more. *ret_left: it has been off the lane. */
int nnb__lanes_yield(struct nnb__seat *seat, uint64_t until, bool *ret_left);

void nnb__lanes_give(struct nnb__seat *seat);

/* A seat that keeps its lane is given back, and may go. Others: nothing. */
void nnb__lanes_release(struct nnb__seat *seat);

/* Some of an app's who wait have been cancelled. Any thread. */
void nnb__lanes_look(struct nnb__lanes *lanes, struct nnb__lane_app *app);

/*
 * @seat is about to ask for a lane, and says so (events.md, sched_enqueue). Returns how many others wait, or have said so and have not
 * asked yet: 0 means that none does of whom it was ever said.
 */
uint32_t nnb__lanes_announce(struct nnb__seat *seat);

/* For how long @seat would wait at least. */
uint64_t nnb__lanes_wait(struct nnb__seat *seat, uint64_t now);

void nnb__lanes_counts(struct nnb__lanes *lanes, struct nnb__lane_app *app, struct nnb_app_counts *ret);

#endif

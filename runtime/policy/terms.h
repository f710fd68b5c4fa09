/*
 * terms.h -- the effect of a deadline: whether to begin, how long to wait, when to give up, when to yield.
 *
 * Times are in ns on any one clock. NNB__NEVER: no deadline. @least is a lower bound of the run time that is left
 * (nnb__estimate_least, nnb__estimate_rest); 0: unknown. CONCURRENCY: none; pure functions.
 */
#ifndef NNB_POLICY_TERMS_H
#define NNB_POLICY_TERMS_H

#include "policy/policy.h"

/*
 * The thread of an execution for which a lane is asked to yield polls for this long before it sleeps: most drivers
 * yield within as much (test_looks).
 */
#define NNB__POLL_NS UINT64_C(40000)

enum nnb__admission {
	NNB__ADMITTED,
	NNB__PASSED,   /* the deadline has passed */
	NNB__TOO_LONG, /* the run takes longer than until the deadline, even on an idle device */
	NNB__TOO_FULL  /* the queue before it takes too long */
};

/*
 * Whether an execution can meet its deadline. @wait_ns: from nnb__policy_wait; with 0 the question is that of an idle
 * device, and the answer is never TOO_FULL.
 */
enum nnb__admission nnb__admission(enum nnb_deadlines deadlines, uint64_t deadline_ns, uint64_t now, uint64_t least,
                                   uint64_t wait_ns);

/*
 * The deadline by which a policy orders an execution that comes at @now: no deadline, if it has passed, so that the
 * execution overtakes no other one.
 */
uint64_t nnb__ordered_by(uint64_t deadline_ns, uint64_t now);

/* The time until which to wait for the first lane. */
uint64_t nnb__waits_until(enum nnb_deadlines deadlines, uint64_t deadline_ns, uint64_t least);

/* The deadline for which a begun execution is given up. */
uint64_t nnb__given_up_for(enum nnb_deadlines deadlines, uint64_t deadline_ns);

/* The time from which it is too late to continue, with @least left. */
uint64_t nnb__too_late(uint64_t given_up_for, uint64_t least);

enum nnb__next { NNB__GOES_ON, NNB__GIVES_UP, NNB__IS_ASKED }; /* is asked: nnb__policy_yield decides */

/* The decision at a checkpoint. */
enum nnb__next nnb__at_checkpoint(uint64_t now, uint64_t too_late, uint64_t yield_at);

/* Whether a run may yield inside an operation: only if the operation keeps what it has computed. */
bool nnb__leaves_inside(enum nnb_preempt preempt);

#endif

/*
 * terms.h -- what a deadline is worth: whether to begin, until when to wait, when to give up, when to make room.
 *
 * Times are in ns on any one clock. A deadline of NNB__NEVER is none. @least is the least that is left to run
 * (nnb__estimate_least, nnb__estimate_rest); 0: unknown. CONCURRENCY: none, and nothing is kept.
 */
#ifndef NNB_POLICY_TERMS_H
#define NNB_POLICY_TERMS_H

#include "policy/policy.h"

enum nnb__admission {
	NNB__ADMITTED,
	NNB__PASSED,   /* the deadline is over: nobody can keep it, now or ever */
	NNB__TOO_LONG, /* it could not even be done alone */
	NNB__TOO_FULL  /* others are before it */
};

/*
 * Is there any point in beginning? @wait_ns: as nnb__policy_wait says it; 0 asks whether it could be done alone, and never
 * says TOO_FULL.
 */
enum nnb__admission nnb__admission(enum nnb_deadlines deadlines, uint64_t deadline_ns, uint64_t now, uint64_t least,
                                   uint64_t wait_ns);

/* Until when it is worth waiting for the lane to begin on. */
uint64_t nnb__waits_until(enum nnb_deadlines deadlines, uint64_t deadline_ns, uint64_t least);

/* The deadline for which what has begun is given up. */
uint64_t nnb__given_up_for(enum nnb_deadlines deadlines, uint64_t deadline_ns);

/* From when on it is too late to go on, with @least left. */
uint64_t nnb__too_late(uint64_t given_up_for, uint64_t least);

enum nnb__next { NNB__GOES_ON, NNB__GIVES_UP, NNB__IS_ASKED }; /* is asked: nnb__policy_yield decides */

/* At a checkpoint. */
enum nnb__next nnb__at_checkpoint(uint64_t now, uint64_t too_late, uint64_t yield_at);

/* May an operation be left in its midst? Only where what it has computed is kept. */
bool nnb__leaves_inside(enum nnb_preempt preempt);

#endif

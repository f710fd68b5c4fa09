/*
 * policy.h -- the rules by which executions share a device: who goes first, who makes room, what a deadline is worth.
 *
 * The numbers are those of the event contract. nnburstd(8) says what each of them means for whom.
 */
#ifndef NNB_POLICY_H
#define NNB_POLICY_H

/* Who gets a lane, where there are more executions than lanes. */
enum nnb_policy {
	NNB_POLICY_FAIR,     /* apps share equally; in an app priority, then deadline, then who came first */
	NNB_POLICY_PRIORITY, /* priority, whoever's it is, then who came first */
	NNB_POLICY_FIFO,     /* who came first */
	NNB_POLICY_EDF,      /* who has the earliest deadline, then who came first */
	NNB_POLICY_NATIVE    /* everybody, and the kernel's scheduler is told the priority as a nice value */
};

/* What happens to an execution when another one should have its lane. It is looked at between two operations. */
enum nnb_preempt {
	NNB_PREEMPT_NONE,    /* it finishes */
	NNB_PREEMPT_RESTART, /* it leaves, and starts over later; a few times, then it finishes */
	NNB_PREEMPT_SAVE     /* it leaves, and goes on later */
};

/* What a deadline is worth. */
enum nnb_deadlines {
	NNB_DEADLINES_ABORT,  /* what cannot make it is not begun, nor gone on with */
	NNB_DEADLINES_REFUSE, /* what cannot make it is not begun; what has begun finishes, late if need be */
	NNB_DEADLINES_ADVISE  /* it orders executions, and nothing is given up for it */
};

#endif

/*
 * policy.h -- the rules by which executions share a device: their order, preemption, and the effect of deadlines.
 *
 * The numbers appear in events (docs/events.md). nnburstd(8) describes the effect of each rule.
 */
#ifndef NNB_POLICY_H
#define NNB_POLICY_H

/* The order in which executions get a lane, if there are more executions than lanes. */
enum nnb_policy {
	NNB_POLICY_FAIR,     /* equal shares for apps; within an app by priority, then deadline, then arrival */
	NNB_POLICY_PRIORITY, /* by priority across all apps, then arrival */
	NNB_POLICY_FIFO,     /* by arrival */
	NNB_POLICY_EDF,      /* earliest deadline first, then arrival */
	NNB_POLICY_NATIVE    /* all at once; the kernel's scheduler orders them, with the priority as a nice value */
};

/* The treatment of a running execution when another one should have its lane. Checked between two operations. */
enum nnb_preempt {
	NNB_PREEMPT_NONE,    /* keep the lane until the execution finishes */
	NNB_PREEMPT_RESTART, /* leave the lane and start over later; after a few times, finish */
	NNB_PREEMPT_SAVE     /* leave the lane and continue later */
};

/* The effect of a deadline. */
enum nnb_deadlines {
	NNB_DEADLINES_ABORT, /* an execution that cannot meet its deadline is not begun, or is aborted */
	/* an execution that cannot meet its deadline is not begun; a running one finishes, even if late */
	NNB_DEADLINES_REFUSE,
	NNB_DEADLINES_ADVISE /* deadlines order executions, and no execution is given up */
};

#endif

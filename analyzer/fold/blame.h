/*
 * blame.h -- a missed execution's two ledgers: where its time went, by cause and culprit (docs/figures.md).
 *
 * Pure arithmetic over one execution, its waits and what is typical for its model. The late ledger sums to the lateness
 * exactly, the budget ledger to the budget exactly.
 */
#ifndef BSA_FOLD_BLAME_H
#define BSA_FOLD_BLAME_H

#include "fold/facts.h"

/* p50 of each phase of the model's and path's complete, warm, un-queued, un-preempted executions; run is without redo. */
struct bsa_typical {
	uint64_t phase[BSA_PHASES];
	/* Of how many. Fewer than BSA_TYPICAL_MIN: only the run counts: the execution's estimate, or else phase[BSA_RUN]. */
	uint64_t n;
	uint64_t least[BSA_PHASES]; /* the shortest of all that were answered; 0: unknown */
	uint64_t budget;            /* the median time that executions of the model have; BSA_NEVER: unknown */
};

enum { BSA_TYPICAL_MIN = 5 };

/* In which part of its way an execution lost the time of a cause. */
enum bsa_part {
	BSA_PART_BEFORE, /* until it was ready */
	BSA_PART_HAND,   /* given an idle lane */
	BSA_PART_RUN,    /* on lanes */
	BSA_PART_AFTER,  /* from its end to its answer */
	BSA_PART_BUDGET, /* none: it had so much less time */
	BSA_PARTS
};

struct bsa_blamed {
	uint64_t culprit; /* execution; 0: none */
	uint32_t culprit_app;
	int64_t budget_ns, late_ns;
	int64_t part[BSA_PARTS]; /* of late_ns; without a culprit. They sum to it unless some of it is in no part */
	uint8_t cause;
	/* 1: without it the deadline would have been met; 0: it would not; -1: only a replay could tell (docs/figures.md) */
	int8_t saved;
	bool is_primary;
};

struct bsa_missed {
	const struct bsa_execution *execution;
	const struct bsa_typical *typical;
	const struct bsa_wait
		*waits; /* all of them, in the order of time; none for an idle queue wait (execution.idle) */
	size_t n_waits;
	const struct bsa_preemption *preemptions; /* in the order of time */
	size_t n_preemptions;
	const struct bsa_slice *slices; /* in the order of time; none if execution.lane says it */
	size_t n_slices;
	const struct bsa_refused *refused; /* NULL: it was not, or nobody knows */
	bool restarts;    /* the service makes executions start over: how long one takes depends on what comes later */
	bool undisturbed; /* while it was on its lane, the service cannot have asked it to leave */
};

/* What kept the taker of a message, who slept so long for it. Of a call, which nobody polls for, he always did. */
enum bsa_cause bsa_taker_cause(const struct bsa_execution *x, uint64_t slept);

/*
 * Causes of @m, each (cause, culprit) once, by descending late_ns, then cause, then culprit; in @ret, which has room for
 * @max: at least BSA_CAUSES plus waits plus preemptions. Returns how many. Ledgers that cannot be told (no deadline, no
 * beginning) are one row of cause unknown.
 */
size_t bsa_blame(const struct bsa_missed *m, struct bsa_blamed *ret, size_t max);

/* That row, of a miss that is not looked at. */
void bsa_blame_unknown(const struct bsa_execution *x, struct bsa_blamed *ret);

#endif

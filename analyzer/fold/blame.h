/*
 * blame.h -- the two ledgers of a missed execution: its lost time by cause and culprit (docs/figures.md).
 *
 * Pure arithmetic over one execution, its waits and the typical phases of its model. The late ledger sums to
 * the lateness exactly, the budget ledger to the budget exactly.
 */
#ifndef BSA_FOLD_BLAME_H
#define BSA_FOLD_BLAME_H

#include "fold/facts.h"

/*
 * p50 of each phase of the model's and path's complete, warm, un-queued, un-preempted executions; run is without
 * redo.
 */
struct bsa_typical {
	uint64_t phase[BSA_PHASES];
	/*
	 * Number of these executions. Below BSA_TYPICAL_MIN, only the run is used: phase[BSA_RUN] if @runs is above 0,
	 * or else the execution's estimate, or else phase[BSA_RUN], which is the model's estimate then.
	 */
	uint64_t n;
	uint64_t runs;              /* number of recorded runs of which phase[BSA_RUN] is the median */
	uint64_t least[BSA_PHASES]; /* shortest of all answered executions; 0: unknown; run is without redo */
	/* median budget of the model's executions, and that of which a tenth has no less; BSA_NEVER: unknown */
	uint64_t budget, ample_budget;
};

enum { BSA_TYPICAL_MIN = 5 };

/* The part of an execution's path in which it lost the time of a cause. */
enum bsa_part {
	BSA_PART_BEFORE, /* until it was ready */
	BSA_PART_HAND,   /* while an idle lane was handed to it */
	BSA_PART_RUN,    /* on lanes */
	BSA_PART_AFTER,  /* from its end to its answer */
	BSA_PART_BUDGET, /* no cause: the budget was shorter by this time */
	BSA_PARTS
};

struct bsa_blamed {
	uint64_t culprit; /* the culprit's execution; 0: no single execution */
	uint32_t culprit_app;
	int64_t budget_ns, late_ns;
	/* late_ns by part, for a cause without a culprit. The sum is late_ns, unless some of it belongs to no part. */
	int64_t part[BSA_PARTS];
	/* for BSA_SUBMITTED_LATE: the least time by which it must be submitted earlier to meet its deadline */
	int64_t lead_ns;
	uint8_t cause;
	/*
	 * 1: without this cause the deadline would have been met; 0: it would not; -1: only a replay can
	 * decide (docs/figures.md)
	 */
	int8_t saved;
	bool is_primary;
};

/* A time in which the service of an execution stood still (bsa_silence, went_on). */
struct bsa_stop {
	uint64_t began, ended;
	uint64_t heard; /* its last event until then: it may have stood still since */
};

/*
 * Whose queued executions a service counts as ahead of one that it may refuse: unknown; those of its own app (fair,
 * which shares with the others); those that are more urgent, so at most all (priority, edf); all (fifo).
 */
enum bsa_counted { BSA_COUNTS_UNKNOWN, BSA_COUNTS_OWN, BSA_COUNTS_URGENT, BSA_COUNTS_ALL };

struct bsa_missed {
	const struct bsa_execution *execution;
	const struct bsa_typical *typical;
	const struct bsa_wait *waits; /* all waits, in order; none for an idle queue wait (execution.idle) */
	size_t n_waits;
	const struct bsa_preemption *preemptions; /* in order */
	size_t n_preemptions;
	const struct bsa_slice *slices; /* in order; none if execution.lane is known */
	size_t n_slices;
	const struct bsa_stop *stops; /* in order, and apart from each other */
	size_t n_stops;
	const struct bsa_refused *refused; /* NULL: not refused, or unknown */
	uint8_t lanes;                     /* of the service; 0: unknown */
	enum bsa_counted counted;          /* by the service */
	bool restarts;    /* the service preempts by restart: the duration of a run depends on later arrivals */
	bool undisturbed; /* while the execution was on its lane, the service cannot have asked it to yield */
};

/* Note in @m the rules of the execution's service. @r: NULL: unknown. */
void bsa_missed_rules(struct bsa_missed *m, const struct bsa_rules *r);

/* How long @x needed on lanes, without what it did again: x's run without redo. BSA_NEVER: unknown. */
uint64_t bsa_own_run(const struct bsa_execution *x);

/*
 * The cause of a late receiver, which slept for @slept. The receiver of a call always sleeps, because it never polls.
 */
enum bsa_cause bsa_taker_cause(const struct bsa_execution *x, uint64_t slept);

/*
 * Write the causes of @m into @ret, each (cause, culprit) once, by descending late_ns, then cause, then
 * culprit; @max is at least BSA_CAUSES plus waits plus preemptions. Returns their number. If the ledgers are
 * unknown (no deadline, no beginning), there is one row with cause unknown.
 */
size_t bsa_blame(const struct bsa_missed *m, struct bsa_blamed *ret, size_t max);

/* Write only that row, for a miss that is not analysed. */
void bsa_blame_unknown(const struct bsa_execution *x, struct bsa_blamed *ret);

#endif

/*
 * compare.h -- recordings of A with recordings of B, group by group: what changed, how sure that is, and where it came from.
 *
 * TESTS        Of each group p10, p50 and p99 from end to end; of each app, model and path the shares of deadlines missed, of executions
 *              answered, and of executions that failed for another reason than a deadline. All are corrected together for their number, by Holm: one false change among all in 5 of 100 comparisons.
 *              Where recordings have the time of the reference computation: of each group the cpu time of a run, too, at one speed of the machine (compute.h);
 *              then half of what may be false is for these, because small changes show in them.
 * UNIT         With several recordings of a side the recording is the unit, and the error is that between recordings. With one of each side it is
 *              the block bootstrap's within them, and what the machine alone may move is assumed: @margin.
 * HOLES        A change counts only if it is one whatever the executions were like that holes may hide; and where a loss touches a group,
 *              no change is not said of it.
 * ATTRIBUTION  Of executions near the percentile that changed, the means of the phases, which sum to the change. Not tested.
 */
#ifndef BSV_STATS_COMPARE_H
#define BSV_STATS_COMPARE_H

#include "input/samples.h"
#include "stats/estimate.h"

enum {
	BSV_COMPARED_MIN = 32, /* executions of a group in A, for its p10 and median; in B half as many */
	BSV_TAILED_MIN = 400,  /* for its p99 */
	BSV_COUNTED_MIN = 16,  /* executions, for shares; in B half as many */
	BSV_RECORDINGS_MOST = 32
};

#define BSV_NEGLIGIBLE 0.147 /* an effect that is less: Romano et al., 2006 */
#define BSV_ALPHA 0.05

enum bsv_tested { BSV_P10, BSV_P50, BSV_P99, BSV_LATENCIES };

extern const double bsv_tested_percent[BSV_LATENCIES];

enum bsv_changed {
	BSV_TOO_FEW,  /* executions in A */
	BSV_VANISHED, /* executions in B: A had enough */
	BSV_HIDDEN,   /* a hole, or what is not known, could make it either */
	BSV_SAME,
	BSV_CHANGED
};

struct bsv_change {
	double a, b;      /* the percentile, ns, a mean over recordings; or the share, 0 to 1 */
	double by;        /* b / a - 1; of a share b - a */
	double low, high; /* of by, at the level that the test was held against */
	double p;
	enum bsv_changed verdict;
};

struct bsv_pair {
	const struct bsv_group *a, *b; /* borrowed, of the first recording that has it; NULL: none of that side has */
	size_t n_a, n_b, of_a, of_b;   /* executions; recordings that have it */
	struct bsv_change latency[BSV_LATENCIES];
	struct bsv_change
		compute; /* cpu time of a run, geometric means at the speed that the machine had in the mean; too few: not judged */
	bool tested;          /* it is in both, and of the following all is known */
	enum bsv_tested near; /* what parts are of */
	double parts
		[BSV_PHASES]; /* ns: of executions near that percentile, each phase's mean in B less that in A; e2e is their sum */
	double cliff[BSV_PHASES]; /* effect size: -1 to 1 */
	int64_t p50_a[BSV_PHASES], p50_b[BSV_PHASES];
	/* of the change of the mean of all executions: what this group's share of them did, and what its own mean did */
	int64_t by_mix, by_speed;
	double share_a, share_b, mean_a, mean_b; /* of all executions, 0 to 1; from end to end, ns */
};

struct bsv_ending_pair {
	const struct bsv_tally *a, *b;                   /* as in a pair */
	size_t ended_a, ended_b, answered_a, answered_b; /* executions */
	size_t deadlines_a, deadlines_b, missed_a, missed_b;
	double per_second_a, per_second_b; /* ended, while there were any; NaN: of fewer than 2 */
	bool deadlines;                    /* some execution is known to have had one */
	size_t due_a, due_b, failed_a, failed_b;
	/* of those with a deadline, that missed it; of all, that were answered; of those due, that failed for another reason than a deadline */
	struct bsv_change misses, answers, failures;
};

/* What a comparison takes for granted. */
struct bsv_terms {
	double least;  /* percent of a percentile that a change is worth talking of */
	double margin; /* percent that the machine alone may move p50 by, between one recording and one other */
	double slower; /* by what factor B's machine was busier: that explains as much of a change in its direction; 1: as busy */
};

struct bsv_comparison {
	struct bsv_pair *pairs;          /* in the order of groups */
	size_t n, common;                /* in both */
	struct bsv_ending_pair *endings; /* in the order of tallies */
	size_t n_endings;
	size_t tests;                 /* that hold together */
	bool referenced;              /* some cpu time was compared at one speed of the machine */
	bool single;                  /* one recording of each side: a margin is assumed */
	int64_t by, by_mix, by_speed; /* the mean of all: by = by_mix + by_speed, which are the sums over all pairs */
};

/* The recordings of a side. Borrowed by the comparison. */
struct bsv_side {
	const struct bsv_samples *const *of;
	size_t n; /* above 0 */
};

/* BSA_E_ENV: no memory; *ret is for bsv_comparison_fini on failure too. */
int bsv_compare(struct bsv_comparison *ret, const struct bsv_side *a, const struct bsv_side *b,
                const struct bsv_terms *terms, struct bsa_err *err);

/* All 0 is fine. */
void bsv_comparison_fini(struct bsv_comparison *c);

/* By how much a machine alone is taken to move a tested percentile, if there is a @single recording of each side; as `by`: 0.25. */
double bsv_margin(enum bsv_tested tested, const struct bsv_terms *terms, bool single);

/* Likewise cpu time that was taken to one speed. */
double bsv_compute_margin(const struct bsv_terms *terms, bool single);

/* Is @phase one of this pair, and not just 0 in both? */
bool bsv_pair_has(const struct bsv_pair *p, int phase);

#endif

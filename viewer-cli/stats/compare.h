/*
 * compare.h -- compares the recordings of side A with those of side B, group by group: what
 * changed, how certain that is, and in which phase.
 *
 * TESTS        Of each group: p10, p50 and p99 from end to end. Of each app, model and path: the
 *              shares of deadlines missed, of executions answered, and of executions that failed
 *              for another reason than a deadline. Holm's procedure corrects all tests together: in
 *              5 of 100 comparisons one change is false. Where recordings contain the time of the
 *              reference computation, also of each group the cpu time of a run at one speed of the
 *              machine (compute.h); these tests get half of the permitted error, because small
 *              changes show in them.
 * UNIT         With several recordings of a side, the recording is the unit, and the error is the
 *              one between recordings. With one recording of each side, the error is that of the
 *              block bootstrap within them, and the effect of the machine alone is assumed:
 *              @margin.
 * LOAD         A change counts only if it exceeds what a busier machine may explain (@slower). A
 *              change that would count on equally busy machines is uncertain, not "no change".
 * POWER        Unless the executions hardly differ, "no change" is reported only if the error is
 *              small enough that a large change would have shown.
 * HOLES        A change counts only if it holds whatever the hidden executions were like. Where a
 *              loss touches a group, "no change" is not reported.
 * ATTRIBUTION  The means of the phases over executions near the percentile that changed; they add
 *              up to the change. Not tested.
 */
#ifndef BSV_STATS_COMPARE_H
#define BSV_STATS_COMPARE_H

#include "input/samples.h"
#include "stats/estimate.h"

enum {
	BSV_COMPARED_MIN = 32, /* fewest executions of a group in A for p10 and p50; in B half as many */
	BSV_TAILED_MIN = 400,  /* fewest executions for p99 */
	BSV_COUNTED_MIN = 16,  /* fewest executions for shares; in B half as many */
	BSV_RECORDINGS_MOST = 32
};

#define BSV_NEGLIGIBLE 0.147 /* effects below this are negligible: Romano et al., 2006 */
#define BSV_ALPHA 0.05
/*
 * Changes that a test must be able to distinguish from none: of latencies, a factor beyond the
 * margin; of shares, 0.5 are 50 percentage points.
 */
#define BSV_LARGE_FACTOR 2
#define BSV_LARGE_SHARE 0.5

enum bsv_tested { BSV_P10, BSV_P50, BSV_P99, BSV_LATENCIES };

extern const double bsv_tested_percent[BSV_LATENCIES];

enum bsv_changed {
	BSV_TOO_FEW,  /* A has too few executions */
	BSV_VANISHED, /* enough executions in A, too few in B */
	/* hidden or unknown executions, the load of the machine, or a large error could decide it either way */
	BSV_HIDDEN,
	BSV_SAME,
	BSV_CHANGED
};

struct bsv_change {
	double a, b;      /* the percentile, ns, mean over recordings; or the share, 0 to 1 */
	double by;        /* b / a - 1; for a share b - a */
	double low, high; /* limits of by, at the level of the test, further apart by what the machine may explain */
	double p;         /* the part of a change beyond what the machine may explain */
	enum bsv_changed verdict;
};

struct bsv_pair {
	const struct bsv_group *a,
		*b; /* borrowed, of the first recording that has the group; NULL: no recording of that side has it */
	size_t n_a, n_b, of_a, of_b; /* n: executions; of: recordings that have the group */
	struct bsv_change latency[BSV_LATENCIES];
	/* cpu time of a run, geometric means at the machine's mean speed; too few: not judged */
	struct bsv_change compute;
	bool tested;          /* whether the group is in both sides; then all members below are known */
	enum bsv_tested near; /* percentile that parts belong to */
	/* ns: mean of each phase in B less that in A, over executions near that percentile; e2e is their sum */
	double parts[BSV_PHASES];
	double cliff[BSV_PHASES]; /* effect sizes, -1 to 1 */
	int64_t p50_a[BSV_PHASES], p50_b[BSV_PHASES];
	/*
	 * parts of the change of the mean of all executions: the part of this group's share, and
	 * the part of its own mean
	 */
	int64_t by_mix, by_speed;
	double share_a, share_b, mean_a, mean_b; /* share: of all executions, 0 to 1; mean: from end to end, ns */
};

struct bsv_ending_pair {
	const struct bsv_tally *a, *b;                   /* as in bsv_pair */
	size_t ended_a, ended_b, answered_a, answered_b; /* number of executions */
	size_t deadlines_a, deadlines_b, missed_a, missed_b;
	double per_second_a, per_second_b; /* executions ended per second; NaN: fewer than 2 executions */
	bool deadlines;                    /* whether some execution is known to have had a deadline */
	size_t due_a, due_b, failed_a, failed_b;
	/*
	 * shares: missed, of those with a deadline; answered, of all ended; failed for another
	 * reason than a deadline, of those due
	 */
	struct bsv_change misses, answers, failures;
};

/* Assumptions of a comparison. */
struct bsv_terms {
	double least;  /* least change worth reporting, percent of a percentile */
	double margin; /* percent by which the machine alone may move p50 between two recordings */
	/*
	 * factor by which B's machine was busier, which may explain as much of a change in its
	 * direction; 1: equally busy
	 */
	double slower;
};

struct bsv_comparison {
	struct bsv_pair *pairs;          /* ordered by group */
	size_t n, common;                /* common: number of pairs in both sides */
	struct bsv_ending_pair *endings; /* ordered by tally */
	size_t n_endings;
	size_t tests;    /* number of tests that were corrected together */
	bool referenced; /* whether some cpu time was compared at one speed of the machine */
	bool single;     /* whether each side is one recording, so that a margin is assumed */
	int64_t by, by_mix,
		by_speed; /* change of the mean of all executions: by = by_mix + by_speed, the sums over all pairs */
};

/* The recordings of a side. The comparison borrows them. */
struct bsv_side {
	const struct bsv_samples *const *of;
	size_t n; /* number of recordings, above 0 */
};

/* BSA_E_ENV: no memory; pass *ret to bsv_comparison_fini after an error, too. */
int bsv_compare(struct bsv_comparison *ret, const struct bsv_side *a, const struct bsv_side *b,
                const struct bsv_terms *terms, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_comparison_fini(struct bsv_comparison *c);

/*
 * The change of a tested percentile that is attributed to the machine alone, if each side is a
 * @single recording; as `by`: 0.25.
 */
double bsv_margin(enum bsv_tested tested, const struct bsv_terms *terms, bool single);

/* The same for cpu time that was taken to one speed. */
double bsv_compute_margin(const struct bsv_terms *terms, bool single);

/* Is @phase part of this pair, and not 0 in both sides? */
bool bsv_pair_has(const struct bsv_pair *p, int phase);

#endif

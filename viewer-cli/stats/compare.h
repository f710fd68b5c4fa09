/*
 * compare.h -- two recordings, group by group: what changed, how sure that is, and where it came from.
 *
 * A percentile CHANGED if the interval of its difference leaves 0 out, and the difference is worth talking of: of a median, it is not if
 * pairs of executions hardly differ (Cliff's delta is negligible), as where half are short and half are long. The intervals
 * allow for samples that follow each other being alike, and are so wide that all of them together hold in 95 of 100 cases: two
 * recordings of the same thing seldom differ by them. What differs between any two runs, and stays the same within one,
 * nobody can see in one recording of each: that is what @least is for.
 */
#ifndef BSV_STATS_COMPARE_H
#define BSV_STATS_COMPARE_H

#include "input/samples.h"
#include "stats/bootstrap.h"

enum {
	BSV_COMPARED_MIN = 32, /* executions of a group, for its median; in both */
	BSV_TAILED_MIN = 400   /* for its p99: of fewer, its interval has no upper end */
};

#define BSV_NEGLIGIBLE 0.147 /* an effect that is less: Romano et al., 2006 */

enum bsv_changed { BSV_TOO_FEW, BSV_SAME, BSV_CHANGED };

struct bsv_change {
	int64_t a, b;           /* the percentile in each */
	struct bsv_interval by; /* b - a; all 0 of too few */
	enum bsv_changed verdict;
};

struct bsv_pair {
	const struct bsv_group *a, *b; /* borrowed; one is NULL: in the other recording alone */
	struct bsv_change p50[BSV_PHASES], p99[BSV_PHASES];
	double cliff[BSV_PHASES];    /* effect size: -1 to 1 */
	int64_t mean_by[BSV_PHASES]; /* ns, of the means: those of the phases sum to that of e2e */
	/* of the change of the mean of all executions: what this group's share of them did, and what its own mean did */
	int64_t by_mix, by_speed;
	double share_a, share_b; /* of all executions, 0 to 1 */
};

struct bsv_comparison {
	struct bsv_pair *pairs;       /* in the order of groups */
	size_t n, common;             /* in both */
	size_t intervals;             /* that hold together */
	int64_t by, by_mix, by_speed; /* the mean of all: by = by_mix + by_speed, which are the sums over all pairs */
};

/* @least: percent of a group's median from end to end. @a and @b are borrowed by *ret. BSA_E_ENV: no memory. */
int bsv_compare(struct bsv_comparison *ret, const struct bsv_samples *a, const struct bsv_samples *b, double least,
                struct bsa_err *err);

/* All 0 is fine. */
void bsv_comparison_fini(struct bsv_comparison *c);

/* Is @phase one of this pair, and not just 0 in both? */
bool bsv_pair_has(const struct bsv_pair *p, int phase);

#endif

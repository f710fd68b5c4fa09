/*
 * estimate.h -- one number of one recording and how well the recording knows it; and what two sets of recordings say about a difference.
 *
 * Executions that follow each other resemble each other. The variance within a recording is therefore that of a block bootstrap: its time
 * is cut into blocks, and recordings are drawn anew, block by block. Long blocks see what lasts, many blocks give a better variance; both are
 * tried, and the larger variance counts. Seeded: the same samples give the same numbers.
 *
 * A block bootstrap sees what varies within a recording. What differs from one recording to the next, only several recordings show.
 */
#ifndef BSV_STATS_ESTIMATE_H
#define BSV_STATS_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsv_estimate {
	double value;    /* of a percentile: its logarithm; of a share p: asin(sqrt(p)) */
	double variance; /* of value, within the recording */
	double freedom;  /* of variance: blocks less one */
};

/* ---- within one recording ---- */

/* Executions of one group, one entry each. All arrays are borrowed. */
struct bsv_series {
	const int64_t *values; /* ns; NULL: all 0 */
	const int64_t *at;     /* when each began */
	const int64_t *sorted; /* the values in order */
	size_t n;              /* above 0 */
};

/* Counts of a series by block, from which estimates of several percentiles are drawn. */
struct bsv_blocks;

/* NULL: no memory. Owned by the caller. It borrows @s. */
struct bsv_blocks *bsv_blocks_new(const struct bsv_series *s);

/* NULL is fine. Returns NULL. */
struct bsv_blocks *bsv_blocks_free(struct bsv_blocks *b);

/* The percentile; @percent above 0, up to 100. */
struct bsv_estimate bsv_blocks_percentile(const struct bsv_blocks *b, double percent);

/* The share of those whose bits have all of @bits of those that have all of @among. */
struct bsv_share {
	struct bsv_estimate estimate;
	size_t n, of; /* the share is n / of; of may be 0: then there is no estimate */
};
struct bsv_share bsv_share_of(const uint8_t *bits, const int64_t *at, size_t n, uint8_t wanted, uint8_t among);

/* asin(sqrt(n / of)) by Anscombe, which is defined and has a variance for 0 and for all. */
double bsv_share_angle(double n, double of);

/* ---- between recordings ---- */

struct bsv_contrast {
	double by, error, freedom; /* b less a; its standard error, and degrees of freedom */
};

/*
 * Of one recording each: the error is what both know within. Of more: the recording is the unit, the error is that between the
 * recordings of a side (pooled), and not smaller than what they know within. @n_a and @n_b are above 0.
 */
struct bsv_contrast bsv_contrast_of(const struct bsv_estimate *a, size_t n_a, const struct bsv_estimate *b, size_t n_b);

/* The probability of so large a contrast, in either direction, where the true one lies between -@margin and @margin. */
double bsv_contrast_p(const struct bsv_contrast *c, double margin);

/* How far the interval that holds the true one with probability 1 - @alpha reaches to each side of c->by. */
double bsv_contrast_reach(const struct bsv_contrast *c, double alpha);

/*
 * Holm's procedure: which of @n tests are significant, so that the probability of one false one among all is at most @alpha. @levels[i] gets
 * the level that test i was held against: significant is p[i] <= levels[i]. @weights (above 0): by what share of @alpha each test may be false; NULL:
 * all alike. @order is room for @n.
 */
void bsv_holm(const double *p, const double *weights, size_t n, double alpha, double *levels, size_t *order);

#endif

/*
 * estimate.h -- a figure of one recording with its variance, and the difference that two sets of recordings show.
 *
 * Executions that follow each other resemble each other. The variance within a recording is
 * therefore that of a block bootstrap: its time is cut into blocks, and recordings are drawn again,
 * block by block. Long blocks see effects that last; many blocks give a better variance; both are
 * tried, and the larger variance counts. Seeded: the same samples give the same numbers.
 *
 * A block bootstrap sees what varies within a recording. Only several recordings show what differs
 * from one recording to the next.
 */
#ifndef BSV_STATS_ESTIMATE_H
#define BSV_STATS_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsv_estimate {
	double value;    /* logarithm of a percentile; of a share p asin(sqrt(p)) */
	double variance; /* variance of value, within the recording */
	double freedom;  /* degrees of freedom of variance: blocks less one */
};

/* ---- within one recording ---- */

/* Executions of one group, one element each. All arrays are borrowed. */
struct bsv_series {
	const int64_t *values; /* ns; NULL: all 0 */
	const int64_t *at;     /* start of each execution */
	const int64_t *sorted; /* values in ascending order */
	size_t n;              /* number of executions, above 0 */
};

/* Counts of a series by block; estimates of several percentiles are drawn from them. */
struct bsv_blocks;

/* Borrows @s. Owned by the caller; NULL: no memory. */
struct bsv_blocks *bsv_blocks_new(const struct bsv_series *s);

/* Frees the blocks; accepts NULL. Returns NULL. */
struct bsv_blocks *bsv_blocks_free(struct bsv_blocks *b);

/* Estimate the percentile; @percent above 0, up to 100. */
struct bsv_estimate bsv_blocks_percentile(const struct bsv_blocks *b, double percent);

/* The share of executions with all bits of @wanted among those with all bits of @among. */
struct bsv_share {
	struct bsv_estimate estimate;
	size_t n, of; /* the share is n / of; of 0: there is no estimate */
};
struct bsv_share bsv_share_of(const uint8_t *bits, const int64_t *at, size_t n, uint8_t wanted, uint8_t among);

/* asin(sqrt(n / of)) with Anscombe's correction, which is defined and has a variance also for no and for all of @of. */
double bsv_share_angle(double n, double of);

/* ---- between recordings ---- */

struct bsv_contrast {
	double by, error, freedom; /* by: b less a; error: its standard error; freedom: degrees of freedom */
};

/*
 * With one recording each, the error comes from the variances within. With more, the recording is
 * the unit: the error is the pooled one between the recordings of a side, and not smaller than the
 * one within. @n_a and @n_b are above 0.
 */
struct bsv_contrast bsv_contrast_of(const struct bsv_estimate *a, size_t n_a, const struct bsv_estimate *b, size_t n_b);

/* The probability of so large a contrast, in either direction, if the true one lies between -@margin and @margin. */
double bsv_contrast_p(const struct bsv_contrast *c, double margin);

/* How far the interval that encloses the true contrast with probability 1 - @alpha reaches to each side of c->by. */
double bsv_contrast_reach(const struct bsv_contrast *c, double alpha);

/*
 * Holm's procedure: decides which of @n tests are significant, so that the probability of any false
 * one is at most @alpha. @levels[i] receives the level of test i, which is significant if p[i] <=
 * levels[i]. @weights (above 0): the share of @alpha for each test; NULL: equal shares. @order is
 * scratch room for @n.
 */
void bsv_holm(const double *p, const double *weights, size_t n, double alpha, double *levels, size_t *order);

#endif

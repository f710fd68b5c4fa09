/*
 * bootstrap.h -- how sure a difference between two percentiles is. Seeded: the same samples give the same interval.
 *
 * Of sorted values, a percentile drawn anew is one of them, and what is random is its rank alone: so a replicate costs
 * the same however many samples there are.
 *
 * Samples that follow each other are alike: a slow second is slow for everybody in it. bsv_sequence_effect finds out how
 * much, from blocks of the sequence, as a block bootstrap would; and so many times fewer are what the samples are worth.
 */
#ifndef BSV_STATS_BOOTSTRAP_H
#define BSV_STATS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

struct bsv_interval {
	double low, value, high; /* 95 of 100 times the true one is between low and high */
};

/* Nearest rank, of @n values that are sorted; @percent above 0, up to 100. */
int64_t bsv_percentile(const int64_t *sorted, size_t n, double percent);

/* That percentile of @b less that of @a, both sorted and not empty; each value is by itself. */
struct bsv_interval bsv_percentile_difference(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b,
                                              double percent);

/* ---- of sequences ---- */

/* How many of the samples are worth one that is by itself. */
struct bsv_effect {
	double times;    /* 1 or more */
	unsigned blocks; /* that say so; 0: there were too few samples to ask, times is 1 */
};

/* Of the percentile whose value is @at, of values in the order in which they came. */
struct bsv_effect bsv_sequence_effect(const int64_t *in_order, size_t n, int64_t at);

struct bsv_sample {
	const int64_t *sorted; /* borrowed; not empty */
	size_t n;
	struct bsv_effect effect;
};

/* That percentile of @b less @times that of @a. */
struct bsv_interval bsv_sequence_difference(const struct bsv_sample *a, const struct bsv_sample *b, double percent,
                                            double times);

#endif

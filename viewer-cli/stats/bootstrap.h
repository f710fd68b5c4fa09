/*
 * bootstrap.h -- how certain a difference between two percentiles is. Seeded: the same samples give the same interval.
 *
 * A percentile of sorted values that is drawn again is one of these values, so only its rank is
 * random: a replicate costs the same for any number of samples.
 *
 * Neighbouring samples resemble each other: in a slow second all executions are slow.
 * bsv_sequence_effect estimates how much, from blocks of the sequence, as a block bootstrap would;
 * n samples then count as n / times independent ones.
 */
#ifndef BSV_STATS_BOOTSTRAP_H
#define BSV_STATS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

struct bsv_interval {
	double low, value, high; /* low, high: limits that enclose the true value in 95 of 100 cases */
};

/* Nearest rank of @n sorted values; @percent above 0, up to 100. */
int64_t bsv_percentile(const int64_t *sorted, size_t n, double percent);

/* The percentile of @b less that of @a, both sorted and not empty; samples are independent. */
struct bsv_interval bsv_percentile_difference(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b,
                                              double percent);

/* ---- samples in sequence ---- */

/* How many samples are worth one independent sample. */
struct bsv_effect {
	double times;    /* number of samples, 1 or more */
	unsigned blocks; /* number of blocks in the estimate; 0: too few samples for one, times is 1 */
};

/* The effect for the percentile whose value is @at, of values in the order of recording. */
struct bsv_effect bsv_sequence_effect(const int64_t *in_order, size_t n, int64_t at);

struct bsv_sample {
	const int64_t *sorted; /* borrowed; not empty */
	size_t n;
	struct bsv_effect effect;
};

/* The percentile of @b less @times that of @a. */
struct bsv_interval bsv_sequence_difference(const struct bsv_sample *a, const struct bsv_sample *b, double percent,
                                            double times);

#endif

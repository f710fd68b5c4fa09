/*
 * bootstrap.c -- draws replicates of a percentile: a replicate draws a rank at random, and not the
 * samples.
 */
#include "stats/bootstrap.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "stats/draw.h"
#include "stats/order.h"

enum {
	REPLICATES = 2000,
	BLOCKS_MANY = 32, /* short blocks: a good variance, but they miss what lasts longer than a block */
	BLOCKS_FEW = 8,   /* long blocks: they see what lasts, but are few */
	IN_BLOCK_MIN = 8, /* fewest samples in a block */
	SEQUENCE_MIN = 32 /* fewest samples that are cut into blocks */
};

/* Gamma distribution by Marsaglia and Tsang's method; @shape above 0. */
static double gamma_of(double shape, uint64_t *state)
{
	double d, c;

	if (shape < 1)
		return gamma_of(shape + 1, state) * pow(bsv_draw_uniform(state), 1 / shape);
	d = shape - 1. / 3;
	c = 1 / sqrt(9 * d);
	for (;;) {
		double x = bsv_draw_normal(state), v = 1 + c * x;

		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(bsv_draw_uniform(state)) < 0.5 * x * x + d * (1 - v + log(v)))
			return d * v;
	}
}

static size_t bootstrap_rank_of(size_t n, double percent)
{
	/* 99 % of 100 is the 99th value, although a double is a little off */
	double rank = ceil(percent / 100 * (double)n - 1e-9 * (double)n);

	assert(n && percent > 0 && percent <= 100);
	return rank < 1 ? 1 : rank > (double)n ? n : (size_t)rank;
}

int64_t bsv_percentile(const int64_t *sorted, size_t n, double percent)
{
	return sorted[bootstrap_rank_of(n, percent) - 1];
}

/*
 * Draw the percentile of n values drawn from n: its rank is a uniform order statistic. effect.times is an
 * estimate from few blocks, so it is drawn as well, from a scaled chi-square: the result is then Student's
 * distribution instead of the normal one.
 */
static int64_t percentile_draw(const struct bsv_sample *s, size_t rank, uint64_t *state)
{
	double times = s->effect.times, x, y, at;
	size_t i;

	assert(rank >= 1 && rank <= s->n && times >= 1);
	if (s->effect.blocks > 1) {
		double freedom = s->effect.blocks - 1;

		times *= freedom / (2 * gamma_of(freedom / 2, state));
		times = times < 1 ? 1 : times;
	}
	x = gamma_of((double)rank / times, state);
	y = gamma_of((double)(s->n - rank + 1) / times, state);
	at = x + y > 0 ? x / (x + y) : 0.5;
	i = (size_t)(at * (double)s->n);
	return s->sorted[i < s->n ? i : s->n - 1];
}

struct bsv_interval bsv_sequence_difference(const struct bsv_sample *a, const struct bsv_sample *b, double percent,
                                            double times)
{
	size_t rank_a = bootstrap_rank_of(a->n, percent), rank_b = bootstrap_rank_of(b->n, percent);
	struct bsv_interval ret;
	double all[REPLICATES];
	uint64_t state = 1;

	for (int i = 0; i < REPLICATES; i++) {
		double from = (double)percentile_draw(a, rank_a, &state);

		all[i] = (double)percentile_draw(b, rank_b, &state) - times * from;
	}
	qsort(all, REPLICATES, sizeof(*all), bsv_by_double);
	ret.value = (double)b->sorted[rank_b - 1] - times * (double)a->sorted[rank_a - 1];
	ret.low = all[REPLICATES / 40];
	ret.high = all[REPLICATES - 1 - REPLICATES / 40];
	/* few samples that are alike: the observed value can lie at the edge */
	ret.low = ret.low > ret.value ? ret.value : ret.low;
	ret.high = ret.high < ret.value ? ret.value : ret.high;
	return ret;
}

struct bsv_interval bsv_percentile_difference(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b,
                                              double percent)
{
	const struct bsv_sample from = { a, n_a, { 1, 0 } }, to = { b, n_b, { 1, 0 } };

	return bsv_sequence_difference(&from, &to, percent, 1);
}

/*
 * The variance of the shares of @blocks blocks, as a multiple of that of independent samples.
 * @share of all samples are not above @at.
 */
static double variance_ratio(const int64_t *in_order, size_t n, int64_t at, double share, unsigned blocks)
{
	double squares = 0;

	assert(blocks > 1 && n >= blocks && share > 0 && share < 1);
	for (unsigned k = 0; k < blocks; k++) {
		size_t from = n * k / blocks, to = n * (k + 1) / blocks, in = 0;
		double off;

		for (size_t i = from; i < to; i++)
			in += in_order[i] <= at;
		off = (double)in / (double)(to - from) - share;
		squares += off * off * (double)(to - from);
	}
	return squares / ((blocks - 1) * share * (1 - share));
}

struct bsv_effect bsv_sequence_effect(const int64_t *in_order, size_t n, int64_t at)
{
	static const unsigned scales[] = { BLOCKS_MANY, BLOCKS_FEW };
	struct bsv_effect ret = { 1, 0 };
	size_t below = 0;

	if (n < SEQUENCE_MIN)
		return ret;
	for (size_t i = 0; i < n; i++)
		below += in_order[i] <= at;
	if (!below || below == n)
		return ret;
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
		unsigned blocks = n / IN_BLOCK_MIN < scales[i] ? (unsigned)(n / IN_BLOCK_MIN) : scales[i];
		double times = variance_ratio(in_order, n, at, (double)below / (double)n, blocks);

		if (!ret.blocks || times > ret.times)
			ret = (struct bsv_effect){ times > 1 ? times : 1, blocks };
	}
	return ret;
}

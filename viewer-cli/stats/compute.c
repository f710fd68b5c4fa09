/* compute.c -- sums cpu times by block, and then fits a plane to the blocks of all recordings. */
#include "stats/compute.h"

#include <math.h>
#include <string.h>

#include "stats/bootstrap.h"

enum { IN_BLOCK_MIN = 2, BLOCKS_MIN = 4 };

#define HARDLY 1e-9 /* an influence that varies less within the blocks gives no slope */

/* Sums by block; the last element is the sum of all blocks. */
struct sums {
	double sum[BSV_COMPUTE_BLOCKS + 1];
	size_t n[BSV_COMPUTE_BLOCKS + 1];
};

/* The time range of the samples, as doubles, because a hostile recording may contain any time. */
struct span {
	double from, length;
};

static unsigned block_of(const struct span *span, int64_t at)
{
	double place = ((double)at - span->from) / span->length * BSV_COMPUTE_BLOCKS;

	return place < 0 ? 0 : place >= BSV_COMPUTE_BLOCKS ? BSV_COMPUTE_BLOCKS - 1 : (unsigned)place;
}

static void sums_add(struct sums *s, unsigned block, double value)
{
	s->sum[block] += value;
	s->n[block]++;
	s->sum[BSV_COMPUTE_BLOCKS] += value;
	s->n[BSV_COMPUTE_BLOCKS]++;
}

/* Sums of logarithms of the values. */
static struct sums sums_of(const struct bsv_series *s, const struct span *span)
{
	int64_t low = bsv_percentile(s->sorted, s->n, 1), high = bsv_percentile(s->sorted, s->n, 99);
	struct sums ret = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		int64_t ns = s->values[i] < low ? low : s->values[i] > high ? high : s->values[i];

		sums_add(&ret, block_of(span, s->at[i]), log(ns < 1 ? 1 : (double)ns));
	}
	return ret;
}

static struct bsv_computed_block block_mean(const struct sums all[4], unsigned k)
{
	double delay = all[2].sum[k], run = all[3].sum[k], crowd = run > 0 ? fmin(fmax(delay / run, 0), 1) : 0;

	return (struct bsv_computed_block){
		.cpu = all[0].sum[k] / (double)all[0].n[k],
		.influence = { [BSV_SPEED] = all[1].sum[k] / (double)all[1].n[k], [BSV_CROWD] = crowd },
		.weight = (double)all[0].n[k]
	};
}

bool bsv_computed_of(struct bsv_computed *ret, const struct bsv_computing *of)
{
	struct sums all[4] = { 0 }; /* cpu, reference, delay, run */
	int64_t first, last;
	struct span span;

	*ret = (struct bsv_computed){ .n = 0 };
	if (of->cpu.n < BSV_REFERENCES_MIN || of->references.n < BSV_REFERENCES_MIN)
		return false;
	first = last = of->cpu.at[0];
	for (size_t i = 1; i < of->cpu.n; i++) {
		first = of->cpu.at[i] < first ? of->cpu.at[i] : first;
		last = of->cpu.at[i] > last ? of->cpu.at[i] : last;
	}
	span = (struct span){ (double)first, (double)last - (double)first + 1 };
	all[0] = sums_of(&of->cpu, &span);
	all[1] = sums_of(&of->references, &span);
	for (size_t i = 0; i < of->cpu.n; i++) {
		sums_add(&all[2], block_of(&span, of->cpu.at[i]), (double)of->delay[i]);
		sums_add(&all[3], block_of(&span, of->cpu.at[i]), (double)of->run[i]);
	}
	ret->all = block_mean(all, BSV_COMPUTE_BLOCKS);
	for (unsigned k = 0; k < BSV_COMPUTE_BLOCKS; k++)
		if (all[0].n[k] >= IN_BLOCK_MIN && all[1].n[k])
			ret->blocks[ret->n++] = block_mean(all, k);
	return ret->n >= BLOCKS_MIN;
}

/* The mean of the blocks. Its weight is the mean weight of a block. */
static struct bsv_computed_block blocks_mean(const struct bsv_computed *c)
{
	struct bsv_computed_block ret = { .weight = 0 };

	for (unsigned k = 0; k < c->n; k++)
		ret.weight += c->blocks[k].weight;
	for (unsigned k = 0; k < c->n; k++) {
		double w = c->blocks[k].weight / ret.weight;

		ret.cpu += w * c->blocks[k].cpu;
		for (int i = 0; i < BSV_INFLUENCES; i++)
			ret.influence[i] += w * c->blocks[k].influence[i];
	}
	ret.weight /= c->n;
	return ret;
}

/* Sums of products of the deviations of blocks from the mean of their recording. */
struct products {
	double xx[BSV_INFLUENCES][BSV_INFLUENCES], xy[BSV_INFLUENCES], yy, blocks;
};

static void products_add(struct products *p, const struct bsv_computed *c)
{
	struct bsv_computed_block mean = blocks_mean(c);

	for (unsigned k = 0; k < c->n; k++) {
		const struct bsv_computed_block *b = &c->blocks[k];
		double y = b->cpu - mean.cpu, w = b->weight / mean.weight, x[BSV_INFLUENCES];

		for (int i = 0; i < BSV_INFLUENCES; i++)
			x[i] = b->influence[i] - mean.influence[i];
		for (int i = 0; i < BSV_INFLUENCES; i++) {
			for (int j = 0; j < BSV_INFLUENCES; j++)
				p->xx[i][j] += w * x[i] * x[j];
			p->xy[i] += w * x[i] * y;
		}
		p->yy += w * y * y;
	}
	p->blocks += c->n;
}

struct bsv_slopes bsv_computed_slopes(const struct bsv_computed *of, size_t n)
{
	struct products p = { .blocks = 0 };
	struct bsv_slopes ret = { .slope = { 0 } };
	double a, b, d, det, rest, variance;

	for (size_t i = 0; i < n; i++)
		products_add(&p, &of[i]);

	/* Invert p.xx for the influences that vary: rows and columns of the others are 0. */
	a = p.xx[0][0];
	b = p.xx[0][1];
	d = p.xx[1][1];
	det = a * d - b * b;
	if (a > HARDLY && d > HARDLY && det > 1e-6 * a * d) {
		ret.covariance[0][0] = d / det;
		ret.covariance[1][1] = a / det;
		ret.covariance[0][1] = ret.covariance[1][0] = -b / det;
	} else if (a > HARDLY) {
		ret.covariance[0][0] = 1 / a;
	} else if (d > HARDLY) {
		ret.covariance[1][1] = 1 / d;
	}

	rest = p.yy;
	for (int i = 0; i < BSV_INFLUENCES; i++) {
		for (int j = 0; j < BSV_INFLUENCES; j++)
			ret.slope[i] += ret.covariance[i][j] * p.xy[j];
		rest -= ret.slope[i] * p.xy[i];
	}
	variance = fmax(rest, 0) / fmax(p.blocks - (double)n - BSV_INFLUENCES, 1);
	for (int i = 0; i < BSV_INFLUENCES; i++)
		for (int j = 0; j < BSV_INFLUENCES; j++)
			ret.covariance[i][j] *= variance;
	return ret;
}

/* The change of cpu time that the slopes predict between the influences @from and @to. */
static double slopes_predict(const struct bsv_slopes *s, const double to[BSV_INFLUENCES],
                             const double from[BSV_INFLUENCES])
{
	double ret = 0;

	for (int i = 0; i < BSV_INFLUENCES; i++)
		ret += s->slope[i] * (to[i] - from[i]);
	return ret;
}

struct bsv_estimate bsv_computed_at(const struct bsv_computed *c, const struct bsv_slopes *s,
                                    const double influence[BSV_INFLUENCES])
{
	struct bsv_computed_block mean = blocks_mean(c);
	double rest = 0;

	for (unsigned k = 0; k < c->n; k++) {
		const struct bsv_computed_block *b = &c->blocks[k];
		double e = b->cpu - mean.cpu - slopes_predict(s, b->influence, mean.influence);

		rest += b->weight / mean.weight / c->n * e * e;
	}
	return (struct bsv_estimate){ .value = c->all.cpu + slopes_predict(s, influence, c->all.influence),
		                      .variance = rest / (c->n - 1),
		                      .freedom = c->n - 1 };
}

double bsv_slopes_variance(const struct bsv_slopes *s, const double apart[BSV_INFLUENCES])
{
	double ret = 0;

	for (int i = 0; i < BSV_INFLUENCES; i++)
		for (int j = 0; j < BSV_INFLUENCES; j++)
			ret += apart[i] * s->covariance[i][j] * apart[j];
	return fmax(ret, 0);
}

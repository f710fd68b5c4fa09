/*
 * estimate.c -- estimates a figure and its variance. Counts by block stand for the samples, so that
 * drawing costs the same for any number of samples.
 */
#include "stats/estimate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bootstrap.h"
#include "stats/draw.h"
#include "stats/student.h"

enum {
	REPLICATES = 250,
	BLOCKS_MANY = 32,
	BLOCKS_FEW = 8,
	IN_BLOCK_MIN = 4, /* average samples in a block; fewer samples make fewer blocks */
	CELLS_MAX = 1024  /* number of values that a drawn percentile can have */
};

/* ---- blocks of time ---- */

/* The time range of the samples, as doubles, because a hostile recording may contain any time. */
struct span {
	double from, length;
};

static struct span span_of(const int64_t *at, size_t n)
{
	int64_t first, last;

	assert(n > 0);
	first = last = at[0];
	for (size_t i = 1; i < n; i++) {
		first = at[i] < first ? at[i] : first;
		last = at[i] > last ? at[i] : last;
	}
	return (struct span){ (double)first, (double)last - (double)first + 1 };
}

static unsigned block_at(const struct span *s, int64_t at, unsigned blocks)
{
	double place = ((double)at - s->from) / s->length * blocks;

	return place < 0 ? 0 : place >= blocks ? blocks - 1 : (unsigned)place;
}

static unsigned blocks_for(size_t n, unsigned wanted)
{
	size_t most = n / IN_BLOCK_MIN;

	return most < 2 ? 2 : most < wanted ? (unsigned)most : wanted;
}

/* Draw blocks with replacement: how often each of @blocks is drawn. */
static void blocks_draw(unsigned *times, unsigned blocks, uint64_t *state)
{
	memset(times, 0, blocks * sizeof(*times));
	for (unsigned i = 0; i < blocks; i++)
		times[bsv_draw(state) % blocks]++;
}

/* Sums over the draws, so that no draw needs to be kept. */
struct drawn {
	double n, sum, squares;
};

static void drawn_add(struct drawn *d, double x)
{
	d->n++;
	d->sum += x;
	d->squares += x * x;
}

/* The variance over the draws, corrected: drawing @used blocks with replacement underestimates it by one block. */
static double drawn_variance(const struct drawn *d, unsigned used)
{
	double mean = d->n ? d->sum / d->n : 0, v;

	if (d->n < 2 || used < 2)
		return 0;
	v = d->squares / d->n - mean * mean;
	return v > 0 ? v * used / (used - 1) : 0;
}

/* ---- percentiles ---- */

/* One division of the time into blocks: counts[block][cell] samples are not larger than the cell's value. */
struct cut {
	unsigned blocks, used; /* used: number of blocks that contain a sample */
	uint32_t *counts, in[BLOCKS_MANY];
};

struct bsv_blocks {
	struct bsv_series series;
	size_t cells;
	int64_t *values; /* value of each cell */
	struct cut cuts[2];
};

/* The first cell whose value is not smaller than @value. */
static size_t cell_of(const struct bsv_blocks *b, int64_t value)
{
	size_t low = 0, high = b->cells - 1;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (b->values[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int cut_fill(struct bsv_blocks *b, struct cut *c, const struct span *span, unsigned wanted)
{
	const struct bsv_series *s = &b->series;

	c->blocks = blocks_for(s->n, wanted);
	c->counts = calloc(c->blocks * b->cells, sizeof(*c->counts));
	if (!c->counts)
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		unsigned k = block_at(span, s->at[i], c->blocks);

		c->counts[k * b->cells + cell_of(b, s->values ? s->values[i] : 0)]++;
		c->used += !c->in[k];
		c->in[k]++;
	}
	for (unsigned k = 0; k < c->blocks; k++)
		for (size_t i = 1; i < b->cells; i++)
			c->counts[k * b->cells + i] += c->counts[k * b->cells + i - 1];
	return 0;
}

struct bsv_blocks *bsv_blocks_new(const struct bsv_series *s)
{
	struct bsv_blocks *b = calloc(1, sizeof(*b));
	struct span span = span_of(s->at, s->n);

	if (!b)
		return NULL;
	assert(s->n > 0);
	b->series = *s;
	b->cells = s->n < CELLS_MAX ? s->n : CELLS_MAX;
	b->values = malloc(b->cells * sizeof(*b->values));
	if (!b->values)
		return bsv_blocks_free(b);
	for (size_t i = 0; i < b->cells; i++) /* the last cell has the largest value */
		b->values[i] = s->sorted[(i + 1) * s->n / b->cells - 1];
	if (cut_fill(b, &b->cuts[0], &span, BLOCKS_MANY) < 0 || cut_fill(b, &b->cuts[1], &span, BLOCKS_FEW) < 0)
		return bsv_blocks_free(b);
	return b;
}

struct bsv_blocks *bsv_blocks_free(struct bsv_blocks *b)
{
	if (!b)
		return NULL;
	free(b->cuts[0].counts);
	free(b->cuts[1].counts);
	free(b->values);
	free(b);
	return NULL;
}

/* The logarithm; durations below 1 ns count as 1 ns. */
static double log_of(int64_t ns)
{
	return log(ns < 1 ? 1 : (double)ns);
}

/* The percentile of the blocks, each counted @times[block] times. */
static int64_t drawn_percentile(const struct bsv_blocks *b, const struct cut *c, const unsigned *times, double percent)
{
	size_t low = 0, high = b->cells - 1;
	double all = 0;

	for (unsigned k = 0; k < c->blocks; k++)
		all += (double)times[k] * c->in[k];
	while (low < high) {
		size_t mid = (low + high) / 2;
		double below = 0;

		for (unsigned k = 0; k < c->blocks; k++)
			below += (double)times[k] * c->counts[k * b->cells + mid];
		if (below < percent / 100 * all)
			low = mid + 1;
		else
			high = mid;
	}
	return b->values[low];
}

static double percentile_variance(const struct bsv_blocks *b, const struct cut *c, double percent)
{
	unsigned times[BLOCKS_MANY];
	struct drawn d = { 0 };
	uint64_t state = 1;

	for (int i = 0; i < REPLICATES; i++) {
		size_t some = 0;

		blocks_draw(times, c->blocks, &state);
		for (unsigned k = 0; k < c->blocks; k++)
			some += (size_t)times[k] * c->in[k];
		if (some)
			drawn_add(&d, log_of(drawn_percentile(b, c, times, percent)));
	}
	return drawn_variance(&d, c->used);
}

struct bsv_estimate bsv_blocks_percentile(const struct bsv_blocks *b, double percent)
{
	struct bsv_estimate ret = { .value = log_of(bsv_percentile(b->series.sorted, b->series.n, percent)) };

	for (size_t i = 0; i < 2; i++) {
		double v = percentile_variance(b, &b->cuts[i], percent);

		if (!i || v > ret.variance) {
			ret.variance = v;
			ret.freedom = b->cuts[i].used > 1 ? b->cuts[i].used - 1 : 1;
		}
	}
	return ret;
}

/* ---- shares ---- */

double bsv_share_angle(double n, double of)
{
	return asin(sqrt((n + 0.375) / (of + 0.75)));
}

struct counted {
	unsigned blocks, used;
	double n[BLOCKS_MANY], of[BLOCKS_MANY];
};

static double share_variance(const struct counted *c)
{
	unsigned times[BLOCKS_MANY];
	struct drawn d = { 0 };
	uint64_t state = 1;

	for (int i = 0; i < REPLICATES; i++) {
		double n = 0, of = 0;

		blocks_draw(times, c->blocks, &state);
		for (unsigned k = 0; k < c->blocks; k++) {
			n += times[k] * c->n[k];
			of += times[k] * c->of[k];
		}
		if (of > 0)
			drawn_add(&d, bsv_share_angle(n, of));
	}
	return drawn_variance(&d, c->used);
}

struct bsv_share bsv_share_of(const uint8_t *bits, const int64_t *at, size_t n, uint8_t wanted, uint8_t among)
{
	static const unsigned blocks[] = { BLOCKS_MANY, BLOCKS_FEW };
	struct bsv_share ret = { .n = 0 };
	struct span span;

	for (size_t i = 0; i < n; i++)
		if ((bits[i] & among) == among) {
			ret.of++;
			ret.n += (bits[i] & wanted) == wanted;
		}
	if (!ret.of)
		return ret;
	span = span_of(at, n);
	/* independent executions give the least variance */
	ret.estimate = (struct bsv_estimate){ bsv_share_angle((double)ret.n, (double)ret.of),
		                              1 / (4 * (double)ret.of + 2), INFINITY };
	for (size_t k = 0; k < 2; k++) {
		struct counted c = { .blocks = blocks_for(ret.of, blocks[k]) };
		double v;

		for (size_t i = 0; i < n; i++)
			if ((bits[i] & among) == among) {
				unsigned to = block_at(&span, at[i], c.blocks);

				c.used += !c.of[to];
				c.of[to]++;
				c.n[to] += (bits[i] & wanted) == wanted;
			}
		v = share_variance(&c);
		if (v > ret.estimate.variance) {
			ret.estimate.variance = v;
			ret.estimate.freedom = c.used > 1 ? c.used - 1 : 1;
		}
	}
	return ret;
}

/* ---- between recordings ---- */

struct bsv_contrast bsv_contrast_of(const struct bsv_estimate *a, size_t n_a, const struct bsv_estimate *b, size_t n_b)
{
	double mean[2] = { 0, 0 }, within[2] = { 0, 0 }, thin[2] = { 0, 0 }, between = 0;
	const struct bsv_estimate *of[2] = { a, b };
	size_t n[2] = { n_a, n_b };
	struct bsv_contrast ret;

	assert(n_a > 0 && n_b > 0);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < n[side]; i++) {
			mean[side] += of[side][i].value / (double)n[side];
			within[side] += of[side][i].variance / (double)n[side];
		}
		thin[side] = isinf(of[side][0].freedom) ? 0 : within[side] * within[side] / of[side][0].freedom;
		for (size_t i = 0; i < n[side]; i++)
			between += (of[side][i].value - mean[side]) * (of[side][i].value - mean[side]);
	}
	ret.by = mean[1] - mean[0];
	if (n_a == 1 && n_b == 1) {
		double v = within[0] + within[1], thinner = thin[0] + thin[1];

		ret.error = sqrt(v);
		ret.freedom = thinner > 0 ? v * v / thinner : INFINITY; /* Satterthwaite */
		return ret;
	}
	ret.freedom = (double)(n_a + n_b - 2);
	between /= ret.freedom;
	ret.error = sqrt(fmax(between, within[0]) / (double)n_a + fmax(between, within[1]) / (double)n_b);
	return ret;
}

double bsv_contrast_p(const struct bsv_contrast *c, double margin)
{
	double beyond = fabs(c->by) - margin, p;

	if (c->error <= 0)
		return beyond > 0 ? 0 : 1;
	p = 2 * bsv_student_tail(beyond / c->error, c->freedom);
	return p > 1 ? 1 : p;
}

double bsv_contrast_reach(const struct bsv_contrast *c, double alpha)
{
	return c->error <= 0 ? 0 : c->error * bsv_student_quantile(alpha / 2, c->freedom);
}

/* The input of Holm's procedure, for sorting. */
struct weighted {
	const double *p, *weights;
};

static double weight_of(const struct weighted *w, size_t i)
{
	return w->weights ? w->weights[i] : 1;
}

static int by_p(const void *x, const void *y, void *ctx)
{
	const struct weighted *w = ctx;
	size_t a = *(const size_t *)x, b = *(const size_t *)y;
	double p_a = w->p[a] / weight_of(w, a), p_b = w->p[b] / weight_of(w, b);

	if (p_a != p_b)
		return p_a < p_b ? -1 : 1;
	return (a > b) - (a < b);
}

void bsv_holm(const double *p, const double *weights, size_t n, double alpha, double *levels, size_t *order)
{
	struct weighted w = { p, weights };
	double rest = 0, level = alpha; /* level: for all tests left together */
	bool rejects = true;

	for (size_t i = 0; i < n; i++) {
		order[i] = i;
		rest += weight_of(&w, i);
	}
	if (n)
		qsort_r(order, n, sizeof(*order), by_p, &w);
	for (size_t i = 0; i < n; i++) {
		/* after the first test that is not significant, no other is: all others keep its level */
		if (rejects)
			level = alpha / rest;
		levels[order[i]] = level * weight_of(&w, order[i]);
		rejects = rejects && p[order[i]] <= levels[order[i]];
		rest -= weight_of(&w, order[i]);
	}
}

/*
 * prediction.c -- replays a recording under the recorded rules and under others, with several seeds
 * each, and derives figures, intervals and effects from the replays.
 */
#include "whatif/prediction.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define LATENCY_MOST 1e18 /* ns: more is absurd */
#define RARE 0.05         /* an interval has all shares of misses under which what was seen is no rarer than this */

static_assert((int)BSV_DRAWS <= (int)BSV_SEEDS, "each replay has a seed of its own");

/* ---- replays ---- */

bool bsv_predict(struct bsv_prediction *ret, const struct bsv_past *past, const struct bsv_whatif_change *change)
{
	size_t n = past->n_groups + 1;
	bool done;

	*ret = (struct bsv_prediction){ .past = past, .recorded = calloc(n, sizeof(*ret->recorded)) };
	done = ret->recorded && bsv_figures_recorded(past, ret->recorded, &ret->recorded_noise);
	for (int i = 0; done && i < BSV_DRAWS; i++) {
		ret->draws[0][i] = calloc(n, sizeof(***ret->draws));
		ret->draws[1][i] = calloc(n, sizeof(***ret->draws));
		done = ret->draws[0][i] && ret->draws[1][i] && bsv_draw(past, NULL, (uint64_t)i, ret->draws[0][i]) &&
		       bsv_draw_noise(past, change, (uint64_t)i, ret->draws[1][i], &ret->noise[i]);
	}
	return done;
}

void bsv_prediction_fini(struct bsv_prediction *p)
{
	for (int i = 0; i < BSV_DRAWS; i++) {
		free(p->draws[0][i]);
		free(p->draws[1][i]);
		bsv_noise_fini(&p->noise[i]);
	}
	bsv_noise_fini(&p->recorded_noise);
	free(p->recorded);
	*p = (struct bsv_prediction){ .past = NULL };
}

/* ---- figures ---- */

static double lane_time(const struct bsv_prediction *p, const struct bsv_group_figures *f, uint32_t app)
{
	double sum = 0;

	for (size_t i = 0; i < p->past->n_groups; i++)
		if (app == UINT32_MAX || p->past->groups[i].app == app)
			sum += (double)f[i].lane_ns;
	return sum;
}

/* @part: divides the least number of executions that a percentile needs. */
static double figure_of(const struct bsv_prediction *p, const struct bsv_group_figures *all, size_t i,
                        enum bsv_figure figure, unsigned part)
{
	const struct bsv_group_figures *f = &all[i];
	double total;

	switch (figure) {
	case BSV_FIGURE_MISSED:
		return f->n ? 100.0 * (double)f->missed / (double)f->n : NAN;
	case BSV_FIGURE_P50:
		return f->served >= BSV_P50_LEAST / part ? (double)f->p50_ns : NAN;
	case BSV_FIGURE_P99:
		return f->served >= BSV_P99_LEAST / part ? (double)f->p99_ns : NAN;
	default:
		total = lane_time(p, all, UINT32_MAX);
		return total > 0 ? 100 * lane_time(p, all, (uint32_t)i) / total : NAN;
	}
}

double bsv_prediction_recorded(const struct bsv_prediction *p, size_t i, enum bsv_figure figure)
{
	return figure_of(p, p->recorded, i, figure, 1);
}

unsigned bsv_prediction_lacks(const struct bsv_prediction *p, size_t i, enum bsv_figure figure)
{
	unsigned least = figure == BSV_FIGURE_P50 ? BSV_P50_LEAST : figure == BSV_FIGURE_P99 ? BSV_P99_LEAST : 0;

	return least && p->recorded[i].served < least ? least : 0;
}

/* Under a higher load fewer executions are served: beyond the first replay, half as many are enough. */
static double draw_figure(const struct bsv_prediction *p, int changed, unsigned draw, size_t i, enum bsv_figure figure)
{
	return figure_of(p, p->draws[changed][draw], i, figure, draw ? 2 : 1);
}

bool bsv_prediction_is_short(const struct bsv_prediction *p, size_t i, enum bsv_figure figure, uint64_t *ret_served)
{
	uint64_t least = UINT64_MAX;

	for (int changed = 0; changed < 2 && figure != BSV_FIGURE_SHARE; changed++)
		for (unsigned k = 0; k < BSV_DRAWS; k++) {
			uint64_t served = p->draws[changed][k][i].served;

			if (isnan(draw_figure(p, changed, k, i, figure)) && served < least)
				least = served;
		}
	*ret_served = least;
	return least != UINT64_MAX;
}

struct bsv_spread bsv_prediction_spread(const struct bsv_past *past, const double *values)
{
	double all[BSV_DRAWS], loud[BSV_DRAWS];
	struct bsv_spread s;
	unsigned n = 0;

	for (unsigned k = 0; k < BSV_DRAWS; k++) {
		all[k] = values[k];
		if (!past->n_single || !bsv_draw_is_silent(k))
			loud[n++] = values[k];
	}
	s = bsv_spread_of(all, BSV_DRAWS);
	if (!isnan(s.median))
		s.median = bsv_spread_of(loud, n).median;
	return s;
}

static struct bsv_spread replays_of(const struct bsv_prediction *p, int changed, size_t i, enum bsv_figure figure)
{
	double values[BSV_DRAWS];

	for (unsigned k = 0; k < BSV_DRAWS; k++)
		values[k] = draw_figure(p, changed, k, i, figure);
	return bsv_prediction_spread(p->past, values);
}

struct bsv_spread bsv_prediction_replayed(const struct bsv_prediction *p, size_t i, enum bsv_figure figure)
{
	return replays_of(p, 0, i, figure);
}

/* ---- certainty ---- */

static bool is_latency(enum bsv_figure figure)
{
	return figure == BSV_FIGURE_P50 || figure == BSV_FIGURE_P99;
}

/* How far the replay under the recorded rules is off: in points, or a difference of logarithms. NAN: unknown. */
static double error_of(const struct bsv_prediction *p, size_t i, enum bsv_figure figure)
{
	double is = bsv_prediction_recorded(p, i, figure), got = bsv_prediction_replayed(p, i, figure).median;

	return is_latency(figure) ? fabs(log1p(got) - log1p(is)) : fabs(got - is);
}

static struct bsv_range range_of(const struct bsv_noise *noise, size_t i, enum bsv_figure figure)
{
	switch (figure) {
	case BSV_FIGURE_MISSED:
		return noise->groups[i].missed;
	case BSV_FIGURE_P50:
		return noise->groups[i].p50;
	case BSV_FIGURE_P99:
		return noise->groups[i].p99;
	default:
		return noise->shares[i];
	}
}

/* Both ends of @r are no closer to what they enclose than the number of calls in @f allows. */
static struct bsv_range range_at_least(struct bsv_range r, enum bsv_figure figure, const struct bsv_group_figures *f)
{
	struct bsv_range least;
	double seen, due;

	if (figure != BSV_FIGURE_MISSED)
		return r;
	/*
	 * Even if none of so many calls missed its deadline, or each did, the share of misses is
	 * only known to a few points: three in as many calls. Calls without a deadline cannot miss
	 * it.
	 */
	seen = f->due ? 1 - pow(RARE, 1 / (double)f->due) : 0;
	due = f->n ? 100 * (double)f->due / (double)f->n : 0;
	least = (struct bsv_range){ .low = due * (1 - seen), .high = due * seen };
	return (struct bsv_range){ fmin(r.low, least.low), fmax(r.high, least.high) };
}

struct bsv_spread bsv_prediction_interval(const struct bsv_prediction *p, size_t i, enum bsv_figure figure)
{
	struct bsv_spread s = replays_of(p, 1, i, figure);
	struct bsv_range all = { s.low, s.high };
	double by = error_of(p, i, figure), most = 100;

	if (bsv_prediction_lacks(p, i, figure))
		return (struct bsv_spread){ NAN, NAN, NAN };
	/*
	 * Where too few calls of the group are served in a replay of the recording: the largest
	 * error of the other groups. NAN: no group has one.
	 */
	for (size_t k = 0, n = isnan(by) && figure != BSV_FIGURE_SHARE ? p->past->n_groups : 0; k < n; k++)
		by = fmax(by, error_of(p, k, figure)); /* fmax leaves out NAN */
	if (isnan(s.median) || isnan(by))
		return (struct bsv_spread){ NAN, s.median, NAN };
	for (int k = 0; k < BSV_DRAWS; k++) {
		struct bsv_range range = range_of(&p->noise[k], i, figure);

		all.low = fmin(all.low, range.low);
		all.high = fmax(all.high, range.high);
	}
	all = range_at_least(all, figure, &p->draws[1][0][i]);
	if (figure == BSV_FIGURE_MISSED) { /* under the change, only calls with a deadline can miss one */
		most = 0;
		for (int k = 0; k < BSV_DRAWS; k++) {
			const struct bsv_group_figures *f = &p->draws[1][k][i];

			most = fmax(most, f->n ? 100 * (double)f->due / (double)f->n : 0);
		}
	}
	if (is_latency(figure))
		return (struct bsv_spread){ all.low * exp(-by), s.median, fmin(all.high * exp(by), LATENCY_MOST) };
	return (struct bsv_spread){ fmax(all.low - by, 0), s.median, fmin(all.high + by, most) };
}

const char *bsv_prediction_effect(const struct bsv_prediction *p, size_t i, enum bsv_figure figure)
{
	struct bsv_spread after = bsv_prediction_interval(p, i, figure);
	struct bsv_range before = { NAN, NAN }, r = range_of(&p->recorded_noise, i, figure);
	double is = bsv_prediction_recorded(p, i, figure);
	bool same = true;

	if (bsv_prediction_lacks(p, i, figure))
		return "cannot tell";
	/* The recorded figure, and what a block bootstrap over time makes of it. NAN: too few calls were served. */
	if (!isnan(is))
		before = range_at_least((struct bsv_range){ fmin(is, r.low), fmax(is, r.high) }, figure,
		                        &p->recorded[i]);
	if (isnan(after.median) || isnan(bsv_prediction_replayed(p, i, figure).median))
		return NULL;
	/* Do all replays have the very figure that they have without the change? */
	for (unsigned k = 0; k < BSV_DRAWS; k++)
		same &= draw_figure(p, 1, k, i, figure) == draw_figure(p, 0, k, i, figure);
	if (same)
		return "same";
	if (after.high < before.low)
		return "less";
	return after.low > before.high ? "more" : "cannot tell"; /* wide, too, if a bound is unknown */
}

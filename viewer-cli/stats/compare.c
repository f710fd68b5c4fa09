/*
 * compare.c -- compares two sets of recordings. It collects all tests first; the verdicts follow
 * when the number of tests is known.
 */
#include "stats/compare.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bootstrap.h"
#include "stats/compute.h"
#include "stats/order.h"

const double bsv_tested_percent[BSV_LATENCIES] = { [BSV_P10] = 10, [BSV_P50] = 50, [BSV_P99] = 99 };

/* The machine alone moves a p99 this many times as far as a p50 or p10 (in logarithms). */
enum { TAIL_MARGINS = 5 };

/* Cpu time, taken to one speed of the machine, may be this many times as far. */
#define COMPUTE_MARGINS 0.5

/* A group, or a tally, of one recording. */
struct entry {
	const struct bsv_group *group;
	const struct bsv_tally *tally;
	size_t recording;
	bool in_b;
	bool again; /* the group, or the tally, is that of the entry before */
};

/* The value of a test in one recording, and how far hidden executions may move it. */
struct sighting {
	struct bsv_estimate seen;
	double low, high; /* limits of seen.value */
};

/* The values of both sides of a test. */
struct sightings {
	struct bsv_estimate a[BSV_RECORDINGS_MOST], b[BSV_RECORDINGS_MOST];
	double low_a, high_a, low_b, high_b; /* means over recordings, at the limits that hidden executions allow */
	size_t n_a, n_b;
	bool touched, hides; /* touched: a loss may hide executions; hides: something may */
};

/* A test, kept until all tests are known. */
struct test {
	struct bsv_change *change;
	struct bsv_contrast contrast;
	double margin, least;   /* limits of the contrast, and of change->by, in both directions */
	double busier;          /* contrast that B's machine alone explains, if it was busier; below 0: A's was */
	double alike_p;         /* p-value if both machines were equally busy */
	double low_by, high_by; /* limits of the contrast that hidden executions allow */
	bool touched, negligible, share, computing; /* computing: test of cpu time */
	double from;                                /* angle of A's share, for a test of shares */
};

struct work {
	struct bsv_comparison *c;
	const struct bsv_terms *terms;
	const struct bsv_side *a, *b;
	struct test *tests;
	size_t n_tests, tests_room;
	int64_t *pool_a, *pool_b, *scratch; /* each has room for all executions of the largest group */
	struct computed *computed;          /* cpu times of one group at a time */
};

bool bsv_pair_has(const struct bsv_pair *p, int phase)
{
	return p->p50_a[phase] || p->p50_b[phase] || fabs(p->parts[phase]) >= 0.5 || p->cliff[phase] != 0;
}

double bsv_margin(enum bsv_tested tested, const struct bsv_terms *terms, bool single)
{
	double margin = single ? log1p(terms->margin / 100) : 0;

	return expm1(tested == BSV_P99 ? margin * TAIL_MARGINS : margin);
}

double bsv_compute_margin(const struct bsv_terms *terms, bool single)
{
	return single ? expm1(log1p(terms->margin / 100) * COMPUTE_MARGINS) : 0;
}

/*
 * A busier machine may explain part of a change in its direction: slower executions if it was B's,
 * faster ones if it was A's. A change must exceed that part to be one; a change that exceeds only
 * @t->margin is uncertain.
 */
static double margin_of(const struct test *t, double by)
{
	return t->margin + fmax(by > 0 ? t->busier : -t->busier, 0);
}

/* ---- several recordings, and hidden executions ---- */

/* Not the arrays, which are read up to n: a comparison may have 100 000 groups. */
static void sightings_clear(struct sightings *s)
{
	s->n_a = s->n_b = 0;
	s->low_a = s->high_a = s->low_b = s->high_b = 0;
	s->touched = s->hides = false;
}

static void sightings_add(struct sightings *s, bool in_b, const struct sighting *one)
{
	size_t *n = in_b ? &s->n_b : &s->n_a;
	double *low = in_b ? &s->low_b : &s->low_a, *high = in_b ? &s->high_b : &s->high_a;

	if (*n == BSV_RECORDINGS_MOST)
		return;
	(in_b ? s->b : s->a)[*n] = one->seen;
	*low = (*low * (double)*n + one->low) / (double)(*n + 1);
	*high = (*high * (double)*n + one->high) / (double)(*n + 1);
	++*n;
}

/* Add a test with its p-value; judge_all gives the verdict when all tests are known. */
static void test_add(struct work *w, struct bsv_change *change, const struct sightings *s, const struct test *like)
{
	struct test *t = &w->tests[w->n_tests++];

	assert(w->n_tests <= w->tests_room && s->n_a > 0 && s->n_b > 0);
	*t = *like;
	t->change = change;
	t->contrast = bsv_contrast_of(s->a, s->n_a, s->b, s->n_b);
	t->low_by = s->low_b - s->high_a;
	t->high_by = s->high_b - s->low_a;
	t->touched = s->touched;
	change->p = bsv_contrast_p(&t->contrast, margin_of(t, t->contrast.by));
	t->alike_p = bsv_contrast_p(&t->contrast, t->margin);
}

/* ---- latency ---- */

static double log_of(int64_t ns)
{
	return log(ns < 1 ? 1 : (double)ns);
}

/* @tested: the percentiles that are tested: the others need no variance. */
static int latency_sight(struct work *w, struct sightings to[BSV_LATENCIES], const struct entry *e,
                         const bool tested[BSV_LATENCIES])
{
	const struct bsv_group *g = e->group;
	struct bsv_series s = { g->ns[BSV_E2E], g->at, w->pool_a, g->n };
	double n = (double)g->n, gone = g->hidden >= 1 ? INFINITY : n * g->hidden / (1 - g->hidden);
	struct bsv_blocks *b = NULL;
	bool any = false;

	if (g->ns[BSV_E2E])
		memcpy(w->pool_a, g->ns[BSV_E2E], g->n * sizeof(*w->pool_a));
	else
		memset(w->pool_a, 0, g->n * sizeof(*w->pool_a));
	bsv_sort(w->pool_a, g->n, w->scratch);
	for (int i = 0; i < BSV_LATENCIES; i++)
		any |= tested[i];
	if (any)
		b = bsv_blocks_new(&s);
	if (any && !b)
		return -1;
	for (int i = 0; i < BSV_LATENCIES; i++) {
		struct sighting one = { .low = 0 };

		if (tested[i])
			one.seen = bsv_blocks_percentile(b, bsv_tested_percent[i]);
		else
			one.seen.value = log_of(bsv_percentile(w->pool_a, g->n, bsv_tested_percent[i]));

		/*
		 * The limits of the percentile: all hidden executions were faster, or all slower,
		 * than those recorded.
		 */
		one.low = one.high = one.seen.value;
		if (gone > 0) {
			double rank = bsv_tested_percent[i] / 100 * (n + gone);

			one.high = rank <= n ? log_of(w->pool_a[(size_t)fmax(ceil(rank), 1) - 1]) : INFINITY;
			one.low = rank - gone >= 1 ? log_of(w->pool_a[(size_t)ceil(rank - gone) - 1]) : -INFINITY;
		}
		sightings_add(&to[i], e->in_b, &one);
		to[i].touched |= g->touched;
	}
	bsv_blocks_free(b);
	return 0;
}

/* A group with enough executions in A is compared; if B then lacks them, that is a result. */
static enum bsv_changed samples_verdict(size_t n_a, size_t n_b, size_t least, bool in_a, bool in_b)
{
	if (!in_a || n_a < least)
		return BSV_TOO_FEW;
	return !in_b || n_b < least / 2 ? BSV_VANISHED : BSV_SAME;
}

static double mean_of(const struct bsv_estimate *e, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += e[i].value;
	return sum / (double)n;
}

static int latency_tests(struct work *w, struct bsv_pair *p, const struct entry *entries, size_t n)
{
	struct sightings s[BSV_LATENCIES];
	bool tested[BSV_LATENCIES];

	for (int i = 0; i < BSV_LATENCIES; i++) {
		size_t least = i == BSV_P99 ? BSV_TAILED_MIN : BSV_COMPARED_MIN;

		sightings_clear(&s[i]);
		p->latency[i].verdict = samples_verdict(p->n_a, p->n_b, least, p->a, p->b);
		tested[i] = p->latency[i].verdict == BSV_SAME;
	}
	for (size_t i = 0; i < n; i++)
		if (latency_sight(w, s, &entries[i], tested) < 0)
			return -1;
	for (int i = 0; i < BSV_LATENCIES; i++) {
		struct bsv_change *c = &p->latency[i];

		c->p = NAN;
		c->low = c->high = NAN;
		c->a = p->a ? exp(mean_of(s[i].a, s[i].n_a)) : NAN;
		c->b = p->b ? exp(mean_of(s[i].b, s[i].n_b)) : NAN;
		c->by = c->b / c->a - 1;
		if (!tested[i])
			continue;
		test_add(w, c, &s[i],
		         &(struct test){ .margin = log1p(bsv_margin((enum bsv_tested)i, w->terms, w->c->single)),
		                         .least = w->terms->least / 100,
		                         .busier = log(w->terms->slower),
		                         .negligible = i != BSV_P99 && fabs(p->cliff[BSV_E2E]) < BSV_NEGLIGIBLE });
	}
	return 0;
}

/* ---- cpu time ---- */

/* The cpu times of all recordings of both sides. */
struct computed {
	struct bsv_computed of[2 * BSV_RECORDINGS_MOST]; /* recordings of A, then of B */
	size_t n_a, n;
};

/* @t as a series, sorted in @sorted. */
static struct bsv_series series_of(const struct bsv_times *t, int64_t *sorted, int64_t *scratch)
{
	memcpy(sorted, t->ns, t->n * sizeof(*sorted));
	bsv_sort(sorted, t->n, scratch);
	return (struct bsv_series){ t->ns, t->at, sorted, t->n };
}

/* Returns 1; 0: this recording allows no estimate; -1: no memory. */
static int compute_sight(struct work *w, struct computed *c, const struct entry *e)
{
	const struct bsv_times *references = &(e->in_b ? w->b : w->a)->of[e->recording]->references;
	const struct bsv_group *g = e->group;
	struct bsv_computing of = { .delay = g->delay, .run = g->run };
	int64_t *sorted;
	bool told;

	/* Most executions need a known cpu time, and none may be hidden: the hidden ones may differ systematically. */
	if (g->cpu.n < BSV_COMPARED_MIN || 10 * g->cpu.n < 9 * g->n || references->n < BSV_REFERENCES_MIN ||
	    g->touched || g->hidden > 0 || c->n == 2 * BSV_RECORDINGS_MOST)
		return 0;
	sorted = malloc(2 * references->n * sizeof(*sorted));
	if (!sorted)
		return -1;
	of.cpu = series_of(&g->cpu, w->pool_a, w->scratch);
	of.references = series_of(references, sorted, sorted + references->n);
	told = bsv_computed_of(&c->of[c->n], &of);
	free(sorted);
	c->n_a += told && !e->in_b;
	c->n += told;
	return told;
}

static void compute_test(struct work *w, struct bsv_change *change, struct computed *c)
{
	size_t n_b = c->n - c->n_a;
	struct bsv_slopes slopes = bsv_computed_slopes(c->of, c->n);
	double at[BSV_INFLUENCES], apart[BSV_INFLUENCES];
	struct sightings s = { .n_a = c->n_a, .n_b = n_b };
	struct test *t = &w->tests[w->n_tests];

	/* The mean influences over both sides, and the distance of B's mean from A's. */
	for (int i = 0; i < BSV_INFLUENCES; i++) {
		double a = 0, b = 0;

		for (size_t k = 0; k < c->n; k++)
			*(k < c->n_a ? &a : &b) += c->of[k].all.influence[i];
		at[i] = (a + b) / (double)c->n;
		apart[i] = b / (double)(c->n - c->n_a) - a / (double)c->n_a;
	}
	for (size_t i = 0; i < c->n; i++)
		*(i < c->n_a ? &s.a[i] : &s.b[i - c->n_a]) = bsv_computed_at(&c->of[i], &slopes, at);
	change->a = exp(mean_of(s.a, s.n_a));
	change->b = exp(mean_of(s.b, s.n_b));
	change->by = change->b / change->a - 1;
	change->verdict = BSV_SAME;
	s.low_a = s.high_a = mean_of(s.a, s.n_a);
	s.low_b = s.high_b = mean_of(s.b, s.n_b);
	test_add(w, change, &s,
	         &(struct test){ .margin = log1p(bsv_compute_margin(w->terms, w->c->single)),
	                         .least = w->terms->least / 100,
	                         .computing = true });
	/* an error of the slopes matters more, the further apart the machine's speeds were */
	t->contrast.error = sqrt(t->contrast.error * t->contrast.error + bsv_slopes_variance(&slopes, apart));
	change->p = t->alike_p = bsv_contrast_p(&t->contrast, t->margin);
	w->c->referenced = true;
}

/* There is a test only if every recording that has the group allows an estimate. */
static int compute_tests(struct work *w, struct bsv_pair *p, const struct entry *entries, size_t n)
{
	struct computed *c = w->computed;
	int r = 1;

	c->n_a = c->n = 0; /* not the arrays, of 35 KiB: a comparison may have 100 000 groups */
	p->compute = (struct bsv_change){ NAN, NAN, NAN, NAN, NAN, NAN, BSV_TOO_FEW };
	for (size_t i = 0; r > 0 && i < n; i++)
		r = compute_sight(w, c, &entries[i]);
	if (r > 0 && p->a && p->b)
		compute_test(w, &p->compute, c);
	return r < 0 ? -1 : 0;
}

/* ---- shares ---- */

/* Add the share of @wanted among @among; each of @unsure executions may or may not count. */
static void share_sight(struct sightings *to, const struct entry *e, uint8_t wanted, uint8_t among, size_t unsure)
{
	const struct bsv_tally *t = e->tally;
	struct bsv_share s = bsv_share_of(t->endings, t->at, t->n, wanted, among);
	struct sighting one = { .seen = s.estimate };
	double of = (double)s.of, gone = t->hidden >= 1 ? 1e18 : of * t->hidden / (1 - t->hidden);

	gone = fmax(gone, (double)unsure);
	to->touched |= t->touched;
	to->hides |= t->touched || gone > 0;
	if (!s.of)
		return;
	one.low = gone > 0 ? bsv_share_angle((double)s.n, of + gone) : one.seen.value;
	one.high = gone > 0 ? bsv_share_angle((double)s.n + gone, of + gone) : one.seen.value;
	sightings_add(to, e->in_b, &one);
}

static enum bsv_changed share_verdict(size_t of_a, size_t of_b)
{
	return samples_verdict(of_a, of_b, BSV_COUNTED_MIN, of_a, of_b);
}

/* @n: count and total in A, count and total in B. @timed: a slow machine may change the share. */
static void share_test(struct work *w, struct bsv_change *c, const struct sightings *s, const size_t n[4], bool timed,
                       bool more_is_worse)
{
	double margin = timed && w->c->single ? w->terms->margin / 100 : 0, worse = more_is_worse ? 1 : -1;
	bool none = !n[0] && !n[2], all = n[0] == n[1] && n[2] == n[3];

	c->verdict = share_verdict(n[1], n[3]);
	c->p = c->low = c->high = NAN;
	c->a = n[1] ? (double)n[0] / (double)n[1] : NAN;
	c->b = n[3] ? (double)n[2] / (double)n[3] : NAN;
	c->by = c->b - c->a;
	if (c->verdict != BSV_SAME)
		return;
	if ((none || all) && !s->hides) {
		c->p = 1; /* no test could distinguish the sides, so it does not count in the correction (Tarone) */
		c->low = c->high = 0;
		return;
	}
	test_add(w, c, s,
	         &(struct test){ .margin = margin,
	                         .least = 0.005,
	                         .busier = timed ? log(w->terms->slower) * worse : 0,
	                         .share = true,
	                         .from = mean_of(s->a, s->n_a) });
}

/* Executions per second between the first and the last one, over all recordings of a side. */
static double per_second(const struct entry *entries, size_t n, bool in_b)
{
	double executions = 0, seconds = 0;

	for (size_t i = 0; i < n; i++) {
		const struct bsv_tally *t = entries[i].tally;
		int64_t first = INT64_MAX, last = INT64_MIN;

		if (entries[i].in_b != in_b || t->n < 2)
			continue;
		for (size_t k = 0; k < t->n; k++) {
			first = t->at[k] < first ? t->at[k] : first;
			last = t->at[k] > last ? t->at[k] : last;
		}
		executions += (double)t->n - 1;
		seconds += ((double)last - (double)first) / 1e9;
	}
	return seconds > 0 ? executions / seconds : NAN;
}

static void ending_tests(struct work *w, struct bsv_ending_pair *p, const struct entry *entries, size_t n)
{
	struct sightings misses, answers, failures;
	bool missed, answered, failed;

	sightings_clear(&misses);
	sightings_clear(&answers);
	sightings_clear(&failures);
	for (size_t i = 0; i < n; i++) {
		const struct bsv_tally *t = entries[i].tally;
		bool in_b = entries[i].in_b;
		const struct bsv_tally **first = in_b ? &p->b : &p->a;

		*first = *first ? *first : t;
		for (size_t k = 0; k < t->n; k++) {
			unsigned ending = t->endings[k];

			*(in_b ? &p->ended_b : &p->ended_a) += !!(ending & BSV_ENDED);
			*(in_b ? &p->answered_b : &p->answered_a) += !!(ending & BSV_ANSWERED);
			*(in_b ? &p->deadlines_b : &p->deadlines_a) += !!(ending & BSV_HAD_DEADLINE);
			*(in_b ? &p->missed_b : &p->missed_a) += !!(ending & BSV_MISSED);
			*(in_b ? &p->due_b : &p->due_a) += !!(ending & BSV_DUE);
			*(in_b ? &p->failed_b : &p->failed_a) += !!(ending & BSV_UNANSWERED);
		}
	}

	/* Only shares that are tested need a variance: a recording may have 100 000 tallies of one execution. */
	missed = share_verdict(p->deadlines_a, p->deadlines_b) == BSV_SAME;
	answered = share_verdict(p->ended_a, p->ended_b) == BSV_SAME;
	failed = share_verdict(p->due_a, p->due_b) == BSV_SAME;
	for (size_t i = 0; i < n; i++) {
		const struct bsv_tally *t = entries[i].tally;

		if (missed)
			share_sight(&misses, &entries[i], BSV_MISSED, BSV_HAD_DEADLINE, t->unsure);
		if (answered)
			share_sight(&answers, &entries[i], BSV_ANSWERED, BSV_ENDED, t->unsure_ended);
		if (failed)
			share_sight(&failures, &entries[i], BSV_UNANSWERED, BSV_DUE, t->unsure_ended);
	}
	p->deadlines = p->deadlines_a || p->deadlines_b;
	p->per_second_a = per_second(entries, n, false);
	p->per_second_b = per_second(entries, n, true);
	share_test(w, &p->misses, &misses, (size_t[]){ p->missed_a, p->deadlines_a, p->missed_b, p->deadlines_b }, true,
	           true);
	share_test(w, &p->answers, &answers, (size_t[]){ p->answered_a, p->ended_a, p->answered_b, p->ended_b }, true,
	           false);
	share_test(w, &p->failures, &failures, (size_t[]){ p->failed_a, p->due_a, p->failed_b, p->due_b }, false, true);
	if (p->failures.verdict == BSV_VANISHED && p->answers.verdict != BSV_VANISHED)
		p->failures.verdict =
			BSV_TOO_FEW; /* these executions missed deadlines: misses and answers report that */
}

/* ---- attribution ---- */

/* Collect one phase of all executions of a side, sorted. */
static void pool_phase(int64_t *to, const struct entry *entries, size_t n, bool in_b, int phase, int64_t *scratch)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct bsv_group *g = entries[i].group;

		if (entries[i].in_b != in_b)
			continue;
		if (g->ns[phase])
			memcpy(to + at, g->ns[phase], g->n * sizeof(*to));
		else
			memset(to + at, 0, g->n * sizeof(*to));
		at += g->n;
	}
	bsv_sort(to, at, scratch);
}

/* Add to @sums the mean of each phase over the executions of @g whose end-to-end time is near the percentile. */
static void parts_near(long double sums[BSV_PHASES], const struct bsv_group *g, double percent, int64_t *sorted,
                       int64_t *scratch)
{
	double reach = fmin(10, 2 * fmin(percent, 100 - percent));
	double from = fmax(percent - reach, 1e-3), to = fmin(percent + reach, 100);
	int64_t low, high;
	long double here[BSV_PHASES] = { 0 };
	size_t n = 0;

	if (!g->ns[BSV_E2E])
		return;
	memcpy(sorted, g->ns[BSV_E2E], g->n * sizeof(*sorted));
	bsv_sort(sorted, g->n, scratch);
	low = bsv_percentile(sorted, g->n, from);
	high = bsv_percentile(sorted, g->n, to);
	for (size_t i = 0; i < g->n; i++) {
		if (g->ns[BSV_E2E][i] < low || g->ns[BSV_E2E][i] > high)
			continue;
		n++;
		for (int phase = 0; phase < BSV_PHASES; phase++)
			here[phase] += g->ns[phase] ? g->ns[phase][i] : 0;
	}
	for (int phase = 0; n && phase < BSV_PHASES; phase++)
		sums[phase] += here[phase] / n;
}

/* Every recording has the same weight, whatever its number of executions. */
static void pair_parts(struct work *w, struct bsv_pair *p, const struct entry *entries, size_t n)
{
	static const enum bsv_tested first[] = { BSV_P50, BSV_P10, BSV_P99 };
	long double a[BSV_PHASES] = { 0 }, b[BSV_PHASES] = { 0 };
	size_t k = 0;

	/* The percentile to attribute: one that changed, the median first; if none changed, the median. */
	while (k < BSV_LATENCIES && p->latency[first[k]].verdict != BSV_CHANGED)
		k++;
	p->near = k < BSV_LATENCIES ? first[k] : BSV_P50;
	for (size_t i = 0; i < n; i++)
		parts_near(entries[i].in_b ? b : a, entries[i].group, bsv_tested_percent[p->near], w->pool_a,
		           w->scratch);
	for (int phase = 0; phase < BSV_PHASES; phase++)
		p->parts[phase] = (double)(b[phase] / p->of_b - a[phase] / p->of_a);
}

/* ---- all tests together ---- */

static double change_of(const struct test *t, double contrast)
{
	double angle, a;

	if (!t->share)
		return expm1(contrast);
	a = sin(t->from);
	angle = fmin(fmax(t->from + contrast, 0), 1.57079632679489661923);
	return sin(angle) * sin(angle) - a * a;
}

/* Would the contrast @by be significant beyond @margin? */
static bool is_significant(const struct test *t, double by, double margin, double level)
{
	struct bsv_contrast c = t->contrast;

	c.by = by;
	return isinf(by) || bsv_contrast_p(&c, margin) <= level;
}

/*
 * A result without change requires that no hidden execution could have made one, and that the
 * change is not significant without subtracting what a busier machine may explain: how much of it
 * the machine does explain is unknown.
 */
static bool may_have_changed(const struct test *t, double alike_level)
{
	if (t->negligible)
		return false;
	return (t->alike_p <= alike_level && fabs(t->change->by) >= t->least) ||
	       (t->high_by > t->contrast.by && is_significant(t, t->high_by, t->margin, alike_level)) ||
	       (t->low_by < t->contrast.by && is_significant(t, t->low_by, t->margin, alike_level));
}

/*
 * True if even a large change (beyond the margin) would not have been significant. Where the
 * executions of A and B hardly differ, a large change is not in doubt; that only their percentiles
 * or shares are near each other proves nothing then. Tests of cpu time are for small changes: large
 * ones show in latencies.
 */
static bool is_blind(const struct test *t, double level)
{
	double reach = bsv_contrast_reach(&t->contrast, level), by = t->contrast.by;

	if (t->negligible || t->computing)
		return false;
	if (t->share)
		return change_of(t, by + reach) >= BSV_LARGE_SHARE || change_of(t, by - reach) <= -BSV_LARGE_SHARE;
	return reach > log(BSV_LARGE_FACTOR);
}

/*
 * The interval reaches as much further as the machine may explain, so that it leaves out 0 exactly
 * if the change is significant. A change needs to be significant whatever hidden executions were
 * like. @alike_level: the level for alike_p.
 */
static void test_judge(const struct test *t, double level, double alike_level)
{
	struct bsv_change *c = t->change;
	double reach = bsv_contrast_reach(&t->contrast, level) + t->margin;
	bool changed = c->p <= level && fabs(c->by) >= t->least && !t->negligible;
	double least = t->contrast.by > 0 ? t->low_by : t->high_by;

	/*
	 * A share of none or of all is moved inwards a little where intervals are computed, so the
	 * observed value can lie at their edge.
	 */
	c->low = fmin(change_of(t, t->contrast.by - reach - fmax(t->busier, 0)), c->by);
	c->high = fmax(change_of(t, t->contrast.by + reach + fmax(-t->busier, 0)), c->by);
	if (changed && least * t->contrast.by > 0 && is_significant(t, least, margin_of(t, least), level))
		c->verdict = BSV_CHANGED;
	else if (changed || t->touched || may_have_changed(t, alike_level) || is_blind(t, level))
		c->verdict = BSV_HIDDEN;
}

static int judge_all(struct work *w)
{
	size_t n = w->n_tests, computing = 0;
	double *levels = malloc(4 * (n + 1) * sizeof(*levels)), *alike_levels, *p, *weights;
	size_t *order = malloc((n + 1) * sizeof(*order));

	w->c->tests = n;
	if (!levels || !order) {
		free(levels);
		free(order);
		return -1;
	}
	alike_levels = levels + n; /* alike_levels: the levels for alike_p */
	p = levels + 2 * n;
	weights = levels + 3 * n;

	/*
	 * Cpu time at one speed of the machine is the only test in which small changes show. The
	 * other tests are of latencies, which resemble each other, and of shares, which small
	 * changes do not move. So the tests of cpu time together may err as often as all other
	 * tests together.
	 */
	for (size_t i = 0; i < n; i++)
		computing += w->tests[i].computing;
	for (size_t i = 0; i < n; i++)
		weights[i] = 1 / (double)(w->tests[i].computing ? computing : n - computing);
	for (size_t i = 0; i < n; i++)
		p[i] = w->tests[i].change->p;
	bsv_holm(p, weights, n, BSV_ALPHA, levels, order);
	for (size_t i = 0; i < n; i++)
		p[i] = w->tests[i].alike_p;
	bsv_holm(p, weights, n, BSV_ALPHA, alike_levels, order);

	for (size_t i = 0; i < n; i++)
		test_judge(&w->tests[i], levels[i], alike_levels[i]);
	free(levels);
	free(order);
	return 0;
}

/* ---- mix and speed ---- */

static int64_t round_ns(long double x)
{
	return x >= 0x1p62L ? INT64_C(1) << 62 : x <= -0x1p62L ? -(INT64_C(1) << 62) : (int64_t)llroundl(x);
}

static size_t executions_of(const struct bsv_side *s)
{
	size_t ret = 0;

	for (size_t i = 0; i < s->n; i++)
		ret += s->of[i]->executions;
	return ret;
}

/* Kitagawa's decomposition: the part due to shares, against the mean of all of A, and the part due to means. */
static void mix_and_speed(struct bsv_comparison *c)
{
	long double all_a = 0, all_b = 0, mix = 0, speed = 0;

	for (size_t i = 0; i < c->n; i++) {
		all_a += (long double)c->pairs[i].share_a * c->pairs[i].mean_a;
		all_b += (long double)c->pairs[i].share_b * c->pairs[i].mean_b;
	}
	for (size_t i = 0; i < c->n; i++) {
		struct bsv_pair *p = &c->pairs[i];
		long double m_a = p->a ? p->mean_a : p->mean_b, m_b = p->b ? p->mean_b : p->mean_a;
		int64_t told_mix = round_ns(mix), told_speed = round_ns(speed);

		mix += ((long double)p->share_b - p->share_a) * ((m_a + m_b) / 2 - all_a);
		speed += ((long double)p->share_a + p->share_b) / 2 * (m_b - m_a);
		p->by_mix = round_ns(mix) - told_mix;
		p->by_speed = round_ns(speed) - told_speed;
		c->by_mix += p->by_mix;
		c->by_speed += p->by_speed;
	}
	/* rounding may leave the sum off by 1; the larger part takes the difference */
	c->by = round_ns(all_b - all_a);
	if (c->n && c->by != c->by_mix + c->by_speed) {
		int64_t off = c->by - c->by_mix - c->by_speed;
		bool to_speed = fabsl(speed) >= fabsl(mix);

		*(to_speed ? &c->by_speed : &c->by_mix) += off;
		*(to_speed ? &c->pairs[c->n - 1].by_speed : &c->pairs[c->n - 1].by_mix) += off;
	}
}

/* ---- groups of all recordings side by side ---- */

static int entry_order(const struct entry *a, const struct entry *b)
{
	return a->group ? bsv_group_compare(a->group, b->group) : bsv_tally_compare(a->tally, b->tally);
}

/*
 * Merge the groups (or tallies) of a recording into the @n ordered entries at @to, which have room for them: from the
 * end, because the room is there. Of equal ones, those of an earlier recording stay first.
 */
static size_t entries_merge(struct entry *to, size_t n, const struct bsv_samples *from, struct entry like, bool tallies)
{
	size_t left = tallies ? from->n_tallies : from->n, all = n + left;

	while (left) {
		int order;

		like.group = tallies ? NULL : &from->groups[left - 1];
		like.tally = tallies ? &from->tallies[left - 1] : NULL;
		order = n ? entry_order(&to[n - 1], &like) : -1;
		like.again = !order; /* no two of a recording are equal */
		if (order > 0) {
			to[n + left - 1] = to[n - 1];
			n--;
		} else {
			to[n + left - 1] = like;
			left--;
		}
	}
	return all;
}

/*
 * All groups (or tallies) of both sides, ordered so that those to compare are adjacent. Owned by
 * the caller; NULL: no memory.
 */
static struct entry *entries_new(const struct bsv_side *a, const struct bsv_side *b, bool tallies, size_t *ret_n)
{
	struct entry *ret;
	size_t n = 1;

	for (size_t i = 0; i < a->n; i++)
		n += tallies ? a->of[i]->n_tallies : a->of[i]->n;
	for (size_t i = 0; i < b->n; i++)
		n += tallies ? b->of[i]->n_tallies : b->of[i]->n;
	ret = malloc(n * sizeof(*ret));
	if (!ret)
		return NULL;
	*ret_n = 0;
	for (size_t i = 0; i < a->n; i++)
		*ret_n = entries_merge(ret, *ret_n, a->of[i], (struct entry){ .recording = i }, tallies);
	for (size_t i = 0; i < b->n; i++)
		*ret_n = entries_merge(ret, *ret_n, b->of[i], (struct entry){ .recording = i, .in_b = true }, tallies);
	return ret;
}

/* The number of leading entries that belong to the first one's group. */
static size_t run_of(const struct entry *e, size_t n)
{
	size_t ret = 1;

	while (ret < n && e[ret].again)
		ret++;
	return ret;
}

static int compare_groups(struct work *w, const struct entry *e, size_t n, size_t all_a, size_t all_b)
{
	for (size_t i = 0; i < n;) {
		struct bsv_pair *p = &w->c->pairs[w->c->n++];
		size_t run = run_of(e + i, n - i);
		long double sum_a = 0, sum_b = 0;
		bool has[BSV_PHASES] = { false };

		for (size_t k = i; k < i + run; k++) {
			const struct bsv_group **first = e[k].in_b ? &p->b : &p->a;

			*first = *first ? *first : e[k].group;
			*(e[k].in_b ? &p->n_b : &p->n_a) += e[k].group->n;
			++*(e[k].in_b ? &p->of_b : &p->of_a);
			*(e[k].in_b ? &sum_b : &sum_a) += (long double)e[k].group->sum_e2e;
			for (int phase = 0; phase < BSV_PHASES; phase++)
				has[phase] |= e[k].group->ns[phase] != NULL;
		}
		p->share_a = all_a ? (double)p->n_a / (double)all_a : 0;
		p->share_b = all_b ? (double)p->n_b / (double)all_b : 0;
		p->mean_a = p->n_a ? (double)(sum_a / p->n_a) : 0;
		p->mean_b = p->n_b ? (double)(sum_b / p->n_b) : 0;

		p->tested = p->a && p->b;
		w->c->common += p->tested;
		for (int phase = 0; p->tested && phase < BSV_PHASES; phase++) {
			if (!has[phase]) /* 0 in all executions, and so is what compares them */
				continue;
			pool_phase(w->pool_a, e + i, run, false, phase, w->scratch);
			pool_phase(w->pool_b, e + i, run, true, phase, w->scratch);
			p->cliff[phase] = bsv_cliff(w->pool_a, p->n_a, w->pool_b, p->n_b);
			p->p50_a[phase] = bsv_percentile(w->pool_a, p->n_a, 50);
			p->p50_b[phase] = bsv_percentile(w->pool_b, p->n_b, 50);
		}
		if (latency_tests(w, p, e + i, run) < 0 || compute_tests(w, p, e + i, run) < 0)
			return -1;
		i += run;
	}
	return 0;
}

static int work_alloc(struct work *w, const struct entry *groups, size_t n_groups, size_t n_tallies)
{
	size_t runs = (BSV_LATENCIES + 1) * n_groups + 3 * n_tallies, most = 1;

	for (size_t i = 0; i < n_groups;) {
		size_t run = run_of(groups + i, n_groups - i), all = 0;

		for (size_t k = i; k < i + run; k++)
			all += groups[k].group->n;
		most = all > most ? all : most;
		i += run;
	}
	w->pool_a = malloc(most * sizeof(*w->pool_a));
	w->pool_b = malloc(most * sizeof(*w->pool_b));
	w->scratch = malloc(most * sizeof(*w->scratch));
	w->computed = malloc(sizeof(*w->computed));
	w->tests = calloc(runs + 1, sizeof(*w->tests));
	w->tests_room = runs;
	return w->pool_a && w->pool_b && w->scratch && w->computed && w->tests ? 0 : -1;
}

int bsv_compare(struct bsv_comparison *ret, const struct bsv_side *a, const struct bsv_side *b,
                const struct bsv_terms *terms, struct bsa_err *err)
{
	struct work w = { .c = ret, .terms = terms, .a = a, .b = b };
	size_t n_groups = 0, n_tallies = 0;
	struct entry *groups = entries_new(a, b, false, &n_groups), *tallies = entries_new(a, b, true, &n_tallies);
	int r;

	*ret = (struct bsv_comparison){ .pairs = calloc(n_groups + 1, sizeof(*ret->pairs)),
		                        .endings = calloc(n_tallies + 1, sizeof(*ret->endings)),
		                        .single = a->n == 1 && b->n == 1 };
	r = groups && tallies && ret->pairs && ret->endings ? work_alloc(&w, groups, n_groups, n_tallies) : -1;
	if (r >= 0)
		r = compare_groups(&w, groups, n_groups, executions_of(a), executions_of(b));
	for (size_t i = 0, run; r >= 0 && i < n_tallies; i += run) {
		run = run_of(tallies + i, n_tallies - i);
		ending_tests(&w, &ret->endings[ret->n_endings++], tallies + i, run);
	}
	if (r >= 0)
		r = judge_all(&w);
	for (size_t i = 0, at = 0, run; r >= 0 && i < n_groups; i += run, at++) {
		run = run_of(groups + i, n_groups - i);
		if (ret->pairs[at].tested)
			pair_parts(&w, &ret->pairs[at], groups + i, run);
	}
	if (r >= 0)
		mix_and_speed(ret);
	free(groups);
	free(tallies);
	free(w.pool_a);
	free(w.pool_b);
	free(w.scratch);
	free(w.computed);
	free(w.tests);
	return r < 0 ? bsa_fail(err, BSA_E_ENV, "no memory") : 0;
}

void bsv_comparison_fini(struct bsv_comparison *c)
{
	free(c->pairs);
	free(c->endings);
	memset(c, 0, sizeof(*c));
}

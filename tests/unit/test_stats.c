/*
 * test_stats.c -- percentiles, intervals and effects: intervals cover the truth as often as they promise, and
 * a comparison adds up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "input/samples.h"
#include "stats/bootstrap.h"
#include "stats/compare.h"
#include "stats/estimate.h"
#include "stats/order.h"
#include "stats/student.h"

enum { MOST = 4000 };

/* ---- the distributions ---- */

static uint64_t state;

static double uniform(void)
{
	return ((double)(xorshift_next(&state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

static double uniform_time(void)
{
	return 1e6 * uniform();
}

static double exponential_time(void)
{
	return -1e6 * log(uniform());
}

static double lognormal_time(void)
{
	return 1e6 * exp(normal());
}

/* Mostly short and now and then long, as waits are. */
static double two_humps_time(void)
{
	return uniform() < 0.8 ? 1e5 + 1e4 * normal() : 3e6 + 3e5 * normal();
}

static const struct shape {
	const char *name;
	double (*draw)(void);
} shapes[] = {
	{ "uniform", uniform_time },
	{ "exponential", exponential_time },
	{ "lognormal", lognormal_time },
	{ "two humps", two_humps_time },
};

enum { N_SHAPES = sizeof(shapes) / sizeof(*shapes) };

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void draw_sorted(int64_t *to, size_t n, double (*draw)(void))
{
	for (size_t i = 0; i < n; i++)
		to[i] = (int64_t)draw();
	qsort(to, n, sizeof(*to), by_value);
}

/* ---- percentiles ---- */

static void the_percentile_is_the_nearest_rank(void **ctx)
{
	int64_t values[100];

	(void)ctx;
	for (int i = 0; i < 100; i++)
		values[i] = i + 1;
	assert_int_equal(bsv_percentile(values, 100, 50), 50);
	assert_int_equal(bsv_percentile(values, 100, 99), 99);
	assert_int_equal(bsv_percentile(values, 100, 99.1), 100);
	assert_int_equal(bsv_percentile(values, 100, 100), 100);
	assert_int_equal(bsv_percentile(values, 100, 0.001), 1);
	assert_int_equal(bsv_percentile(values, 5, 50), 3);
	assert_int_equal(bsv_percentile(values, 4, 50), 2);
	assert_int_equal(bsv_percentile(values, 1, 99), 1);
	/* even where a double computes p / 100 * n wrongly */
	for (int p = 1; p <= 100; p++)
		assert_int_equal(bsv_percentile(values, 100, p), p);
}

static void sorting_is_what_qsort_does(void **ctx)
{
	static const size_t sizes[] = { 0, 1, 2, 255, 256, 257, MOST };
	static int64_t a[MOST], b[MOST], scratch[MOST];

	(void)ctx;
	state = 3;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
		for (unsigned bits = 1; bits <= 64; bits += 7) {
			for (size_t i = 0; i < sizes[k]; i++) {
				uniform();
				a[i] = b[i] = (int64_t)(state >> (64 - bits));
			}
			qsort(a, sizes[k], sizeof(*a), by_value);
			bsv_sort(b, sizes[k], scratch);
			assert_memory_equal(a, b, sizes[k] * sizeof(*a));
		}
}

static void cliffs_delta_counts_pairs(void **ctx)
{
	static int64_t a[60], b[40];

	(void)ctx;
	state = 5;
	for (int round = 0; round < 50; round++) {
		double sum = 0;

		for (int i = 0; i < 60; i++)
			a[i] = (int64_t)(20 * uniform()); /* many are equal */
		for (int i = 0; i < 40; i++)
			b[i] = (int64_t)(20 * uniform()) + round % 5;
		qsort(a, 60, sizeof(*a), by_value);
		qsort(b, 40, sizeof(*b), by_value);
		for (int i = 0; i < 60; i++)
			for (int j = 0; j < 40; j++)
				sum += (b[j] > a[i]) - (b[j] < a[i]);
		assert_true(fabs(bsv_cliff(a, 60, b, 40) - sum / 2400) < 1e-12);
	}
	for (int i = 0; i < 40; i++)
		b[i] = 100;
	assert_true(bsv_cliff(a, 60, b, 40) == 1);
	assert_true(bsv_cliff(b, 40, a, 60) == -1);
}

/* ---- intervals ---- */

/*
 * The fraction of @rounds pairs of samples with the same distribution whose interval contains 0; @ret_width:
 * the median width of the interval.
 */
static double coverage(const struct shape *shape, size_t n_a, size_t n_b, double percent, int rounds, double *ret_width)
{
	static int64_t a[MOST], b[MOST];
	static int64_t widths[4000];
	int held = 0;

	state = 12345;
	for (int i = 0; i < rounds; i++) {
		struct bsv_interval in;

		draw_sorted(a, n_a, shape->draw);
		draw_sorted(b, n_b, shape->draw);
		in = bsv_percentile_difference(a, n_a, b, n_b, percent);
		assert_true(in.low <= in.value && in.value <= in.high);
		held += in.low <= 0 && in.high >= 0;
		widths[i] = (int64_t)(in.high - in.low);
	}
	qsort(widths, (size_t)rounds, sizeof(*widths), by_value);
	*ret_width = (double)widths[rounds / 2];
	return (double)held / rounds;
}

static void intervals_hold_the_true_difference_in_95_of_100_cases(void **ctx)
{
	static const struct {
		size_t n_a, n_b;
		double percent, least, most;
	} cases[] = {
		{ 50, 50, 50, 0.92, 0.99 },   { 300, 100, 50, 0.92, 0.99 },   { 1000, 1000, 50, 0.92, 0.99 },
		{ 400, 400, 90, 0.92, 0.99 }, { 1000, 1000, 99, 0.92, 0.99 }, /* ten samples above it */
	};

	(void)ctx;
	for (size_t s = 0; s < N_SHAPES; s++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			double width,
				held = coverage(&shapes[s], cases[i].n_a, cases[i].n_b, cases[i].percent, 300, &width);

			if (held < cases[i].least || held > cases[i].most)
				fail_msg("%s, n %zu and %zu, p%g: in %g of the cases", shapes[s].name, cases[i].n_a,
				         cases[i].n_b, cases[i].percent, held);
		}
}

static void four_times_the_samples_make_half_the_interval(void **ctx)
{
	double few, many;

	(void)ctx;
	coverage(&shapes[1], 250, 250, 50, 100, &few);
	coverage(&shapes[1], 1000, 1000, 50, 100, &many);
	assert_true(many / few > 0.45 && many / few < 0.55);
}

static void the_same_samples_give_the_same_interval(void **ctx)
{
	static int64_t a[500], b[700];
	struct bsv_interval one, two;

	(void)ctx;
	state = 9;
	draw_sorted(a, 500, lognormal_time);
	draw_sorted(b, 700, lognormal_time);
	one = bsv_percentile_difference(a, 500, b, 700, 50);
	two = bsv_percentile_difference(a, 500, b, 700, 50);
	assert_memory_equal(&one, &two, sizeof(one));
	assert_true(one.value == (double)(bsv_percentile(b, 700, 50) - bsv_percentile(a, 500, 50)));
}

static void a_difference_that_is_there_is_found(void **ctx)
{
	static int64_t a[1000], b[1000];
	struct bsv_interval in;

	(void)ctx;
	state = 21;
	draw_sorted(a, 1000, exponential_time);
	draw_sorted(b, 1000, exponential_time);
	for (int i = 0; i < 1000; i++)
		b[i] += 500000;
	in = bsv_percentile_difference(a, 1000, b, 1000, 50);
	assert_true(in.low > 350000 && in.high < 650000);
	/* three times A's percentile is more than B's */
	in = bsv_sequence_difference(&(struct bsv_sample){ a, 1000, { 1, 0 } },
	                             &(struct bsv_sample){ b, 1000, { 1, 0 } }, 50, 3);
	assert_true(in.high < 0);
}

static void all_alike_is_an_interval_of_nothing(void **ctx)
{
	int64_t a[40], b[1] = { 9 };
	struct bsv_interval in;

	(void)ctx;
	for (int i = 0; i < 40; i++)
		a[i] = 7;
	in = bsv_percentile_difference(a, 40, a, 40, 99);
	assert_true(in.low == 0 && in.value == 0 && in.high == 0);
	in = bsv_percentile_difference(a, 40, b, 1, 50);
	assert_true(in.low == 2 && in.value == 2 && in.high == 2);
}

/* ---- sequences ---- */

/*
 * Each value is @memory of the one before and a new part. For means, (1 + memory) / (1 - memory) of them are
 * worth one independent value.
 */
static void draw_sequence(int64_t *to, size_t n, double memory)
{
	double x = normal();

	for (size_t i = 0; i < n; i++) {
		x = memory * x + sqrt(1 - memory * memory) * normal();
		to[i] = (int64_t)(1e6 * exp(x / 3));
	}
}

static struct bsv_sample sample(int64_t *in_order, int64_t *sorted, size_t n, double percent, bool naive)
{
	struct bsv_sample ret = { sorted, n, { 1, 0 } };

	memcpy(sorted, in_order, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	if (!naive)
		ret.effect = bsv_sequence_effect(in_order, n, bsv_percentile(sorted, n, percent));
	return ret;
}

static double sequence_coverage(double memory, size_t n, double percent, bool naive)
{
	enum { ROUNDS = 300 };
	static int64_t a[MOST], b[MOST], sorted_a[MOST], sorted_b[MOST];
	int held = 0;

	state = 77;
	for (int i = 0; i < ROUNDS; i++) {
		struct bsv_sample from, to;
		struct bsv_interval in;

		draw_sequence(a, n, memory);
		draw_sequence(b, n, memory);
		from = sample(a, sorted_a, n, percent, naive);
		to = sample(b, sorted_b, n, percent, naive);
		in = bsv_sequence_difference(&from, &to, percent, 1);
		held += in.low <= 0 && in.high >= 0;
	}
	return (double)held / ROUNDS;
}

static void executions_that_are_alike_in_sequence_make_intervals_wider(void **ctx)
{
	(void)ctx;
	/* without the correction the interval covers far less than 95 of 100 */
	assert_true(sequence_coverage(0.9, 2000, 50, true) < 0.70);
	for (int i = 0; i < 3; i++) {
		static const double memory[] = { 0.5, 0.8, 0.9 };
		double held = sequence_coverage(memory[i], 2000, 50, false);

		if (held < 0.93 || held > 0.995)
			fail_msg("with a memory of %g: in %g of the cases", memory[i], held);
	}
	assert_true(sequence_coverage(0.8, 3000, 99, false) >= 0.92);
}

static void executions_that_are_not_alike_lose_little_by_it(void **ctx)
{
	double held;

	(void)ctx;
	held = sequence_coverage(0, 500, 50, false);
	assert_true(held >= 0.94 && held <= 0.995);
	held = sequence_coverage(0, 40, 50, false);
	assert_true(held >= 0.93);
}

static void a_step_in_the_middle_is_one_block_against_another(void **ctx)
{
	int64_t in_order[1000];
	struct bsv_effect e;

	(void)ctx;
	for (int i = 0; i < 1000; i++)
		in_order[i] = i < 500 ? i % 7 : 100 + i % 7;
	e = bsv_sequence_effect(in_order, 1000, 50);
	assert_true(e.times > 100); /* a thousand that are worth about 8 independent values */
	assert_int_equal(e.blocks, 8);
	e = bsv_sequence_effect(in_order, 31, 3); /* 31 values are not enough for an estimate */
	assert_true(e.times == 1 && e.blocks == 0);
	e = bsv_sequence_effect(in_order, 1000, 1000); /* all values are below */
	assert_true(e.times == 1);
}

/* ---- Student, Holm, estimates ---- */

static void students_tails_are_those_of_the_tables(void **ctx)
{
	static const struct {
		double p, freedom, t;
	} rows[] = {
		{ 0.025, 1, 12.706205 }, { 0.025, 8, 2.306004 }, { 0.005, 8, 3.355387 },  { 0.025, INFINITY, 1.959964 },
		{ 0.001, 4, 7.173182 },  { 0.05, 30, 1.697261 }, { 0.0005, 8, 5.041305 }, { 0.5, 3, 0 },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_true(fabs(bsv_student_quantile(rows[i].p, rows[i].freedom) - rows[i].t) < 1e-5);
		assert_true(fabs(bsv_student_tail(rows[i].t, rows[i].freedom) - rows[i].p) < 1e-6);
		assert_true(fabs(bsv_student_tail(-rows[i].t, rows[i].freedom) - (1 - rows[i].p)) < 1e-6);
	}
	assert_true(bsv_student_tail(INFINITY, 3) == 0 && isinf(bsv_student_quantile(0, 3)));
}

static void holm_stops_at_the_first_that_is_not_significant(void **ctx)
{
	static const double p[] = { 0.03, 0.001, 0.2, 0.012 };
	double levels[4];
	size_t order[4];

	(void)ctx;
	bsv_holm(p, NULL, 4, 0.05, levels, order);
	assert_true(fabs(levels[1] - 0.05 / 4) < 1e-12); /* rejected */
	assert_true(fabs(levels[3] - 0.05 / 3) < 1e-12); /* rejected */
	assert_true(fabs(levels[0] - 0.05 / 2) < 1e-12); /* not: 0.03 */
	assert_true(fabs(levels[2] - 0.05 / 2) < 1e-12); /* adjusted to the level of that one */
}

/* The levels of the remaining tests sum to alpha. */
static void holm_gives_each_test_its_share(void **ctx)
{
	static const double p[] = { 0.02, 0.02, 0.02 }, weights[] = { 1, 0.5, 0.5 };
	static const double later[] = { 0.02, 0.012, 0.03 };
	double levels[3];
	size_t order[3];

	(void)ctx;
	bsv_holm(p, weights, 3, 0.05, levels, order);
	assert_true(fabs(levels[0] - 0.025) < 1e-12); /* rejected */
	assert_true(fabs(levels[1] - 0.025) < 1e-12); /* the other two have all of alpha */
	assert_true(fabs(levels[2] - 0.05) < 1e-12);
	bsv_holm(later, weights, 3, 0.05, levels, order);
	assert_true(fabs(levels[0] - 0.025) < 1e-12);
	assert_true(fabs(levels[1] - 0.025) < 1e-12);
	bsv_holm(p, (const double[]){ 0.1, 1, 1 }, 3, 0.05, levels, order);
	assert_true(fabs(levels[1] - 0.05 / 2.1) < 1e-12); /* the heavy tests are first: 0.02 is not above that */
	assert_true(fabs(levels[0] - 0.05) < 1e-12);
}

/*
 * Over @rounds recordings: the mean of the variance that a recording estimates of itself, divided by the
 * variance between recordings.
 */
static double honesty(double memory, size_t n, double percent, int rounds)
{
	static int64_t values[MOST], sorted[MOST], at[MOST];
	double sum = 0, squares = 0, within = 0;

	state = 99;
	for (int i = 0; i < rounds; i++) {
		struct bsv_series series = { values, at, sorted, n };
		struct bsv_blocks *b;
		struct bsv_estimate e;

		draw_sequence(values, n, memory);
		for (size_t k = 0; k < n; k++)
			at[k] = (int64_t)(1000 * k);
		memcpy(sorted, values, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_value);
		b = bsv_blocks_new(&series);
		assert_non_null(b);
		e = bsv_blocks_percentile(b, percent);
		bsv_blocks_free(b);
		sum += e.value;
		squares += e.value * e.value;
		within += e.variance / rounds;
	}
	return within / (squares / rounds - sum / rounds * sum / rounds);
}

static void blocks_of_time_know_how_much_a_recording_varies(void **ctx)
{
	static const double memory[] = { 0, 0.5, 0.9, 0.95 };

	(void)ctx;
	for (size_t i = 0; i < 4; i++) {
		double ratio = honesty(memory[i], 2000, 50, 100);

		if (ratio < 0.75 || ratio > 2.2)
			fail_msg("with a memory of %g: %g times the true variance", memory[i], ratio);
	}
	assert_true(honesty(0.5, 3000, 99, 100) > 0.6);
}

static void a_share_of_0_still_has_a_variance(void **ctx)
{
	uint8_t bits[300];
	int64_t at[300];
	struct bsv_share s;

	(void)ctx;
	for (int i = 0; i < 300; i++) {
		bits[i] = BSV_HAD_DEADLINE;
		at[i] = i;
	}
	s = bsv_share_of(bits, at, 300, BSV_MISSED, BSV_HAD_DEADLINE);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.of, 300);
	assert_true(s.estimate.variance >= 1. / 1300 && isinf(s.estimate.freedom));
	for (int i = 0; i < 150; i++) /* all misses in one half: worth a few blocks, not 300 executions */
		bits[i] |= BSV_MISSED;
	s = bsv_share_of(bits, at, 300, BSV_MISSED, BSV_HAD_DEADLINE);
	assert_int_equal(s.n, 150);
	assert_true(s.estimate.variance > 20. / 1202 && s.estimate.freedom < 8);
	assert_int_equal(bsv_share_of(bits, at, 300, BSV_ANSWERED, BSV_DUE).of, 0);
}

/* ---- comparisons ---- */

/* A world of recordings: what the recordings of one side have in common, and what changes. */
struct world {
	double between,
		memory; /* how much recordings differ (of logarithms); how much an execution resembles the one before */
	double run, slots, reply; /* B: the factor of run; the ns added to slots and reply */
	double missed;            /* the share of deadlines missed */
	size_t n;
};

/* Executions of a group: 1 ms of run, and 5 to 50 us of each other phase; return is long now and then. */
static void fill(struct bsv_group *g, const char *model, const struct world *w)
{
	double machine = exp(w->between * normal()), x = normal();

	*g = (struct bsv_group){ "app", (char *)model, "burst", "both", .cold = 0, .n = w->n };
	g->at = calloc(w->n, sizeof(*g->at));
	for (int phase = 0; phase < BSV_PHASES; phase++)
		if (phase != BSV_FENCE && phase != BSV_SIGNAL && phase != BSV_PREEMPTED)
			g->ns[phase] = calloc(w->n, sizeof(*g->ns[phase]));
	for (size_t i = 0; i < w->n; i++) {
		g->at[i] = (int64_t)(1000000 * i);
		x = w->memory * x + sqrt(1 - w->memory * w->memory) * normal();
		for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++) {
			double ns = 5000 + 10000 * uniform();

			if (!g->ns[phase])
				continue;
			ns = phase == BSV_RUN      ? 1e6 * exp(x / 20) * w->run
			     : phase == BSV_RETURN ? exponential_time() / 20
			     : phase == BSV_SLOTS  ? ns + w->slots
			     : phase == BSV_REPLY  ? ns + w->reply
			                           : ns;
			g->ns[phase][i] = (int64_t)(ns * machine);
			g->ns[BSV_E2E][i] += g->ns[phase][i];
			g->ns[BSV_OVERHEAD][i] += phase == BSV_RUN ? 0 : g->ns[phase][i];
		}
		g->sum_e2e += g->ns[BSV_E2E][i];
	}
}

static void fill_tally(struct bsv_tally *t, const char *model, const struct world *w)
{
	*t = (struct bsv_tally){ "app", model, "burst", .n = w->n };
	t->at = calloc(w->n, sizeof(*t->at));
	t->endings = calloc(w->n, sizeof(*t->endings));
	for (size_t i = 0; i < w->n; i++) {
		bool missed = uniform() < w->missed;

		t->at[i] = (int64_t)(1000000 * i);
		t->endings[i] =
			(uint8_t)(BSV_HAD_DEADLINE | BSV_ENDED | (missed ? BSV_MISSED : BSV_DUE | BSV_ANSWERED));
	}
}

enum { MODELS = 3, RECORDINGS = 5 };

/*
 * One recording: a group and a tally for each model. @w is the world of the first model, @other that of the
 * rest.
 */
struct recording {
	struct bsv_group groups[MODELS];
	struct bsv_tally tallies[MODELS];
	struct bsv_samples samples;
};

static void record(struct recording *r, const struct world *w, const struct world *other)
{
	static const char *const names[MODELS] = { "faces", "keyword", "mlp" };

	for (int i = 0; i < MODELS; i++) {
		fill(&r->groups[i], names[i], i ? other : w);
		fill_tally(&r->tallies[i], names[i], i ? other : w);
	}
	r->samples = (struct bsv_samples){ .groups = r->groups,
		                           .n = MODELS,
		                           .tallies = r->tallies,
		                           .n_tallies = MODELS,
		                           .executions = w->n + 2 * other->n };
}

static void recording_erase(struct recording *r)
{
	for (int i = 0; i < MODELS; i++) {
		for (int phase = 0; phase < BSV_PHASES; phase++)
			free(r->groups[i].ns[phase]);
		free(r->groups[i].at);
		free(r->tallies[i].at);
		free(r->tallies[i].endings);
	}
}

static struct recording all_a[RECORDINGS], all_b[RECORDINGS];

static const struct bsv_terms usual_terms = { .least = 3, .margin = 25, .slower = 1 };

/* Compare @n recordings of each side; forget() frees the result. */
static void compare_worlds(struct bsv_comparison *c, size_t n, const struct world *a, const struct world *b,
                           const struct world *other)
{
	const struct bsv_samples *from[RECORDINGS], *to[RECORDINGS];

	for (size_t i = 0; i < n; i++) {
		record(&all_a[i], a, other);
		record(&all_b[i], b, other);
		from[i] = &all_a[i].samples;
		to[i] = &all_b[i].samples;
	}
	assert_int_equal(bsv_compare(c, &(struct bsv_side){ from, n }, &(struct bsv_side){ to, n }, &usual_terms, NULL),
	                 0);
}

static void comparison_forget(struct bsv_comparison *c, size_t n)
{
	bsv_comparison_fini(c);
	for (size_t i = 0; i < n; i++) {
		recording_erase(&all_a[i]);
		recording_erase(&all_b[i]);
	}
}

/* The measured change lies within its interval. */
static void assert_within(const struct bsv_change *c, const char *what)
{
	if (c->verdict != BSV_TOO_FEW && c->verdict != BSV_VANISHED && !(c->low <= c->by && c->by <= c->high))
		fail_msg("%s: %.17g is not within %.17g to %.17g", what, c->by, c->low, c->high);
}

static void assert_all_within(const struct bsv_comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (int k = 0; k < BSV_LATENCIES; k++)
			assert_within(&c->pairs[i].latency[k], "latency");
		assert_within(&c->pairs[i].compute, "cpu time");
	}
	for (size_t i = 0; i < c->n_endings; i++) {
		assert_within(&c->endings[i].misses, "misses");
		assert_within(&c->endings[i].answers, "answers");
		assert_within(&c->endings[i].failures, "failures");
	}
}

static void assert_adds_up(const struct bsv_comparison *c)
{
	int64_t mix = 0, speed = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct bsv_pair *p = &c->pairs[i];
		double sum = 0;

		for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++)
			sum += p->parts[phase];
		assert_true(!p->tested || fabs(sum - p->parts[BSV_E2E]) <= 1e-9 * fabs(p->parts[BSV_E2E]) + 1e-3);
		mix += p->by_mix;
		speed += p->by_speed;
	}
	assert_int_equal(mix, c->by_mix);
	assert_int_equal(speed, c->by_speed);
	assert_int_equal(mix + speed, c->by);
}

struct found {
	int changed, worse;
};

static struct found found_in(const struct bsv_comparison *c)
{
	struct found ret = { 0, 0 };

	for (size_t i = 0; i < c->n; i++)
		for (int k = 0; k < BSV_LATENCIES; k++) {
			ret.changed += c->pairs[i].latency[k].verdict == BSV_CHANGED;
			ret.worse += c->pairs[i].latency[k].verdict == BSV_CHANGED && c->pairs[i].latency[k].by > 0;
		}
	for (size_t i = 0; i < c->n_endings; i++) {
		const struct bsv_ending_pair *p = &c->endings[i];

		ret.changed += (p->misses.verdict == BSV_CHANGED) + (p->answers.verdict == BSV_CHANGED);
		ret.worse += (p->misses.verdict == BSV_CHANGED && p->misses.by > 0) +
		             (p->answers.verdict == BSV_CHANGED && p->answers.by < 0);
	}
	return ret;
}

/* In how many of @rounds comparisons of @n recordings a side some value changed; *ret_worse: became worse. */
static int rounds_with_change(size_t n, const struct world *a, const struct world *b, int rounds, int *ret_worse)
{
	int changed = 0, worse = 0;

	for (int i = 0; i < rounds; i++) {
		struct bsv_comparison c;
		struct found f;

		compare_worlds(&c, n, a, b, a);
		f = found_in(&c);
		changed += f.changed > 0;
		worse += f.worse > 0;
		assert_adds_up(&c);
		assert_all_within(&c);
		comparison_forget(&c, n);
	}
	*ret_worse = worse;
	return changed;
}

static void one_build_is_not_slower_than_itself(void **ctx)
{
	static const struct {
		size_t recordings;
		double between;
	} cases[] = { { 1, 0.05 }, { 2, 0.1 }, { 5, 0.02 } };

	(void)ctx;
	state = 41;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = { cases[i].between, 0.8, 1, 0, 0, 0.1, 300 };
		int worse, changed = rounds_with_change(cases[i].recordings, &w, &w, 60, &worse);

		/* 3 of 60 are expected at most, and with one recording a side fewer */
		if (changed > 8 || worse > 5)
			fail_msg("%zu a side, differing by %g: %d of 60 changed, %d for the worse", cases[i].recordings,
			         cases[i].between, changed, worse);
	}
}

static void five_recordings_find_a_tenth_of_run(void **ctx)
{
	enum { ROUNDS = 30 };
	struct world a = { 0.02, 0.5, 1, 0, 0, 0, 200 }, b = a;
	int found = 0, named = 0;

	(void)ctx;
	state = 43;
	b.run = 1.1;
	for (int i = 0; i < ROUNDS; i++) {
		struct bsv_comparison c;
		const struct bsv_pair *p;

		compare_worlds(&c, RECORDINGS, &a, &b, &a);
		p = &c.pairs[0];
		found += p->latency[BSV_P50].verdict == BSV_CHANGED || p->latency[BSV_P10].verdict == BSV_CHANGED;
		named += p->parts[BSV_RUN] > 0.7 * p->parts[BSV_E2E] && p->cliff[BSV_RUN] > BSV_NEGLIGIBLE;
		comparison_forget(&c, RECORDINGS);
	}
	if (found < 27 || named < 27)
		fail_msg("of 30, found in %d, run is what changed in %d", found, named);
}

static void one_recording_of_each_finds_a_half_and_missed_deadlines(void **ctx)
{
	struct world a = { 0.02, 0.5, 1, 0, 0, 0, 130 }, slower = a, missing = a;
	int worse;

	(void)ctx;
	state = 45;
	slower.run = 1.6;
	missing.missed = 0.5;
	rounds_with_change(1, &a, &slower, 40, &worse);
	if (worse < 36)
		fail_msg("p50 +50 %%: worse in %d of 40", worse);
	rounds_with_change(1, &a, &missing, 40, &worse);
	if (worse < 40)
		fail_msg("misses 0 to 50 %%: worse in %d of 40", worse);
	rounds_with_change(1, &missing, &a, 40, &worse);
	if (worse > 0)
		fail_msg("misses 50 %% to 0: worse in %d of 40", worse);
}

/* slots take 21 us more and reply 9 us more, while return varies by 50 us and more. */
static void phases_are_ranked_by_their_part_and_not_by_their_noise(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 600 }, b = a;
	struct bsv_comparison c;
	const struct bsv_pair *p;

	(void)ctx;
	state = 47;
	b.slots = 210000;
	b.reply = 90000;
	compare_worlds(&c, RECORDINGS, &a, &b, &a);
	p = &c.pairs[0];
	assert_int_equal(p->latency[BSV_P50].verdict, BSV_CHANGED);
	assert_int_equal(p->near, BSV_P50);
	assert_true(fabs(p->parts[BSV_SLOTS] - 210000) < 3000);
	assert_true(fabs(p->parts[BSV_REPLY] - 90000) < 3000);
	assert_true(fabs(p->parts[BSV_RETURN]) < 15000);
	assert_true(fabs(p->cliff[BSV_RETURN]) < BSV_NEGLIGIBLE);
	assert_true(p->cliff[BSV_SLOTS] == 1 && p->cliff[BSV_REPLY] == 1);
	assert_adds_up(&c);
	comparison_forget(&c, RECORDINGS);
}

static void figures_beside_a_loss_are_not_called_the_same(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 300 };
	const struct bsv_samples *from[] = { &all_a[0].samples }, *to[] = { &all_b[0].samples };
	const struct bsv_side x = { from, 1 }, y = { to, 1 };
	struct bsv_comparison c;

	(void)ctx;
	state = 49;
	record(&all_a[0], &a, &a);
	record(&all_b[0], &a, &a);
	all_b[0].groups[1].touched = all_b[0].tallies[1].touched = true;
	all_b[0].groups[1].hidden = all_b[0].tallies[1].hidden = 0.01;
	assert_int_equal(bsv_compare(&c, &x, &y, &usual_terms, NULL), 0);
	for (int i = 0; i < BSV_P99; i++) {
		assert_int_equal(c.pairs[0].latency[i].verdict, BSV_SAME);
		assert_int_equal(c.pairs[1].latency[i].verdict, BSV_HIDDEN);
	}
	assert_int_equal(c.endings[0].misses.verdict, BSV_SAME);
	assert_int_equal(c.endings[1].misses.verdict, BSV_HIDDEN);
	assert_int_equal(c.endings[1].answers.verdict, BSV_HIDDEN);
	assert_int_equal(c.endings[1].failures.verdict, BSV_HIDDEN);
	comparison_forget(&c, 1);
}

static void a_change_stands_if_it_is_one_whatever_is_hidden(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 300 }, b = a;
	struct bsv_comparison c;

	(void)ctx;
	state = 51;
	b.run = 3;
	b.missed = 0.6;
	for (int i = 0; i < 2; i++) {
		const struct bsv_samples *from[] = { &all_a[0].samples }, *to[] = { &all_b[0].samples };

		record(&all_a[0], &a, &a);
		record(&all_b[0], &b, &a);
		all_b[0].groups[0].touched = all_b[0].tallies[0].touched = true;
		all_b[0].groups[0].hidden = all_b[0].tallies[0].hidden = i ? 0.98 : 0.1;
		assert_int_equal(
			bsv_compare(&c, &(struct bsv_side){ from, 1 }, &(struct bsv_side){ to, 1 }, &usual_terms, NULL),
			0);
		assert_int_equal(c.pairs[0].latency[BSV_P50].verdict, i ? BSV_HIDDEN : BSV_CHANGED);
		assert_int_equal(c.endings[0].misses.verdict, i ? BSV_HIDDEN : BSV_CHANGED);
		comparison_forget(&c, 1);
	}
}

/* Whether these missed a deadline is unknown: 30 of 300 can move the share by more than the margin. */
static void executions_whose_end_is_unknown_can_turn_a_share(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 300 };
	const struct bsv_samples *from[] = { &all_a[0].samples }, *to[] = { &all_b[0].samples };
	struct bsv_comparison c;

	(void)ctx;
	state = 53;
	record(&all_a[0], &a, &a);
	record(&all_b[0], &a, &a);
	all_b[0].tallies[0].unsure = 100;
	assert_int_equal(
		bsv_compare(&c, &(struct bsv_side){ from, 1 }, &(struct bsv_side){ to, 1 }, &usual_terms, NULL), 0);
	assert_int_equal(c.endings[0].misses.verdict, BSV_HIDDEN);
	assert_int_equal(c.endings[1].misses.verdict, BSV_SAME);
	comparison_forget(&c, 1);
}

/*
 * The interval excludes 0 exactly if the p-value is below the level of the test. @c is the only test that the
 * machine can explain.
 */
static void assert_interval_agrees(const struct bsv_change *c, bool significant)
{
	assert_true((c->low > 0 || c->high < 0) == significant);
	assert_true((c->p <= BSV_ALPHA) == significant);
	assert_within(c, "change");
}

static void a_busier_machine_makes_a_change_uncertain_that_it_may_explain(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 300 }, b = a;
	const struct bsv_samples *from[] = { &all_a[0].samples }, *to[] = { &all_b[0].samples };
	const struct bsv_side x = { from, 1 }, y = { to, 1 };
	struct bsv_terms terms = usual_terms;
	struct bsv_comparison c;

	(void)ctx;
	state = 55;
	b.run = 1.7;
	record(&all_a[0], &a, &a);
	record(&all_b[0], &b, &a);
	for (int i = 0; i < 3; i++) {
		terms.slower = i == 0 ? 1 : i == 1 ? 1.5 : 1 / 1.5; /* slower: B's machine, or A's */
		assert_int_equal(bsv_compare(&c, &x, &y, &terms, NULL), 0);
		assert_int_equal(c.pairs[0].latency[BSV_P50].verdict, i == 1 ? BSV_HIDDEN : BSV_CHANGED);
		assert_interval_agrees(&c.pairs[0].latency[BSV_P50], i != 1);
		assert_int_equal(c.pairs[1].latency[BSV_P50].verdict, BSV_SAME); /* did not change */
		bsv_comparison_fini(&c);
	}
	recording_erase(&all_a[0]);
	recording_erase(&all_b[0]);
}

/*
 * One in six of A's 300 executions misses its deadline, and every one of B's: no load of the machine may turn
 * that into "no change".
 */
static void a_busier_machine_never_passes_misses_from_a_sixth_to_all(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 300 }, b = a;
	const struct bsv_samples *from[] = { &all_a[0].samples }, *to[] = { &all_b[0].samples };
	const struct bsv_side x = { from, 1 }, y = { to, 1 };
	struct bsv_terms terms = usual_terms;
	struct bsv_comparison c;

	(void)ctx;
	state = 56;
	a.missed = 1. / 6;
	b.missed = 1;
	record(&all_a[0], &a, &a);
	record(&all_b[0], &b, &a);
	for (int i = 0; i < 3; i++) {
		terms.slower = i == 0 ? 1 : i == 1 ? 6 : 1. / 6;
		assert_int_equal(bsv_compare(&c, &x, &y, &terms, NULL), 0);
		assert_int_equal(c.endings[0].misses.verdict, i == 1 ? BSV_HIDDEN : BSV_CHANGED);
		assert_interval_agrees(&c.endings[0].misses, i != 1);
		bsv_comparison_fini(&c);
	}
	recording_erase(&all_a[0]);
	recording_erase(&all_b[0]);
}

/* Half are short and half are long: one more long one moves the median. */
static void a_median_that_jumps_is_no_change_if_hardly_anything_differs(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, MOST };
	const struct bsv_samples *from[] = { &all_a[0].samples }, *to[] = { &all_b[0].samples };
	struct bsv_comparison c;

	(void)ctx;
	state = 71;
	record(&all_a[0], &a, &a);
	record(&all_b[0], &a, &a);
	for (int i = 0; i < MOST; i++) { /* by turns, so that all blocks are alike */
		all_a[0].groups[0].ns[BSV_E2E][i] += i % 20 < 9 ? 10000000 : 0;
		all_b[0].groups[0].ns[BSV_E2E][i] += i % 20 < 11 ? 10000000 : 0;
	}
	assert_int_equal(
		bsv_compare(&c, &(struct bsv_side){ from, 1 }, &(struct bsv_side){ to, 1 }, &usual_terms, NULL), 0);
	assert_true(c.pairs[0].latency[BSV_P50].by > 5 && c.pairs[0].latency[BSV_P50].p < 0.001);
	assert_int_equal(c.pairs[0].latency[BSV_P50].verdict, BSV_SAME);
	comparison_forget(&c, 1);
}

/*
 * In one stretch of B, executions take ten times as long and miss their deadlines. One stretch does not show
 * how often such stretches come: it may be chance or the change.
 */
static void a_single_stretch_gives_no_verdict(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 300 };
	const struct bsv_samples *from[] = { &all_a[0].samples }, *to[] = { &all_b[0].samples };
	struct bsv_comparison c;

	(void)ctx;
	for (int i = 0; i < 2;
	     i++) { /* the second time B against itself: the error is as large, and only the latencies count as alike */
		state = 73;
		record(&all_a[0], &a, &a);
		record(&all_b[0], &a, &a);
		for (size_t k = a.n / 4; k < 4 * a.n / 5; k++) {
			struct recording *of[] = { &all_b[0], &all_a[0] };

			for (int j = 0; j <= i; j++) {
				of[j]->groups[0].ns[BSV_E2E][k] += 10000000;
				of[j]->tallies[0].endings[k] = BSV_HAD_DEADLINE | BSV_ENDED | BSV_MISSED;
			}
		}
		assert_int_equal(
			bsv_compare(&c, &(struct bsv_side){ from, 1 }, &(struct bsv_side){ to, 1 }, &usual_terms, NULL),
			0);
		assert_true(i || c.pairs[0].latency[BSV_P50].by > 5);
		assert_int_equal(c.pairs[0].latency[BSV_P50].verdict, i ? BSV_SAME : BSV_HIDDEN);
		assert_int_equal(c.endings[0].misses.verdict, BSV_HIDDEN);
		assert_int_equal(c.pairs[1].latency[BSV_P50].verdict, BSV_SAME);
		comparison_forget(&c, 1);
	}
}

/*
 * One of two recordings of each side took four times as long as the other: the mean of two more recordings is
 * unknown, however near these means are.
 */
static void means_that_are_near_by_chance_are_not_the_same(void **ctx)
{
	struct world a = { 0, 0, 1, 0, 0, 0, 600 }, slow = a;
	const struct bsv_samples *from[2], *to[2];
	struct bsv_comparison c;

	(void)ctx;
	state = 75;
	slow.run = 4;
	for (int i = 0; i < 2; i++) {
		record(&all_a[i], i ? &slow : &a, &a);
		record(&all_b[i], i ? &slow : &a, &a);
		from[i] = &all_a[i].samples;
		to[i] = &all_b[i].samples;
	}
	assert_int_equal(
		bsv_compare(&c, &(struct bsv_side){ from, 2 }, &(struct bsv_side){ to, 2 }, &usual_terms, NULL), 0);
	assert_true(fabs(c.pairs[0].latency[BSV_P99].by) < 0.03 && c.pairs[0].latency[BSV_P99].high > 1);
	assert_int_equal(c.pairs[0].latency[BSV_P99].verdict, BSV_HIDDEN);
	assert_int_equal(c.pairs[0].latency[BSV_P50].verdict,
	                 BSV_SAME); /* the executions of A and B resemble each other */
	assert_int_equal(c.pairs[1].latency[BSV_P99].verdict, BSV_SAME);
	comparison_forget(&c, 2);
}

/* @n executions of @ns each, all of it run. */
/* ---- cpu time on a machine whose speed varies ---- */

/* A recording of 400 runs, and its measurements of the machine. */
struct computing {
	struct bsv_group group;
	struct bsv_samples samples;
};

/* The effects of a machine on runs and on the reference computation. Of logarithms, except outliers. */
struct machine {
	const char *name;
	double differs;  /* speed from recording to recording; within each it wanders by as much */
	double drifts;   /* from the first recording to the last one, linearly */
	double steps;    /* a step, somewhere in each recording */
	double outliers; /* the share of runs, and separately of references, that take ten times as long */
	double own;      /* differences between runs that the reference does not show: where their memory lies */
};

static const struct machine usual_machine = { "speed differs", .differs = 0.18 };

/* One execution of @r, at the present speed of the machine. */
static void compute_one(struct computing *r, size_t i, double run, double share, double speed, const struct machine *m)
{
	int64_t at = (int64_t)(1000000 * i);
	double odd = uniform() < m->outliers ? 10 : 1;
	double cpu = 1e6 * run * odd * exp(1.2 * speed + 0.2 * share + 0.05 * normal());

	assert_true(bsv_times_add(&r->group.cpu, (int64_t)cpu, at));
	r->group.run[i] = (int64_t)(cpu / (1 - share + 1e-3));
	r->group.delay[i] = (int64_t)(share * (double)r->group.run[i]);
	r->group.at[i] = at;
	r->group.ns[BSV_E2E][i] = r->group.run[i];
	r->group.sum_e2e += r->group.run[i];
	odd = uniform() < m->outliers ? 10 : 1;
	if (i % 3 == 0)
		assert_true(bsv_times_add(&r->samples.references, (int64_t)(6000 * odd * exp(speed + 0.05 * normal())),
		                          at));
}

/* @when: from 0, the first recording, to 1, the last one. */
static void compute(struct computing *r, double run, const struct machine *m, double when)
{
	const size_t n = 400, step = (size_t)(400 * uniform());
	double speed = m->differs * normal() + m->drifts * when, wanders = 0, crowd = uniform() / 2;

	*r = (struct computing){ .group = { "app", (char *)"net", "burst", "both", .cold = 0, .n = n } };
	r->group.at = calloc(n, sizeof(*r->group.at));
	r->group.ns[BSV_E2E] = calloc(n, sizeof(*r->group.at));
	r->group.delay = calloc(n, sizeof(*r->group.delay));
	r->group.run = calloc(n, sizeof(*r->group.run));
	run *= exp(m->own * normal());
	for (size_t i = 0; i < n; i++) {
		double share = uniform() < crowd ? uniform() : 0;

		wanders = 0.98 * wanders + 0.2 * m->differs * normal();
		compute_one(r, i, run, share, speed + wanders + (i >= step ? m->steps : 0), m);
	}
	r->samples.groups = &r->group;
	r->samples.n = 1;
	r->samples.executions = n;
}

static void compute_fini(struct computing *r)
{
	bsv_times_fini(&r->samples.references);
	bsv_times_fini(&r->group.cpu);
	free(r->group.delay);
	free(r->group.run);
	free(r->group.ns[BSV_E2E]);
	free(r->group.at);
}

/* The change of cpu time, of @n recordings a side, taken by turns; @spoil changes the last recording of B. */
static struct bsv_change computed(size_t n, double run, const struct machine *m, void (*spoil)(struct computing *r))
{
	static struct computing a[RECORDINGS], b[RECORDINGS];
	const struct bsv_samples *from[RECORDINGS], *to[RECORDINGS];
	struct bsv_comparison c;
	struct bsv_change ret;

	for (size_t i = 0; i < n; i++) {
		compute(&a[i], 1, m, (double)(2 * i) / (double)(2 * n - 1));
		compute(&b[i], run, m, (double)(2 * i + 1) / (double)(2 * n - 1));
		from[i] = &a[i].samples;
		to[i] = &b[i].samples;
	}
	if (spoil)
		spoil(&b[n - 1]);
	assert_int_equal(
		bsv_compare(&c, &(struct bsv_side){ from, n }, &(struct bsv_side){ to, n }, &usual_terms, NULL), 0);
	assert_int_equal(c.referenced, c.pairs[0].compute.verdict != BSV_TOO_FEW);
	ret = c.pairs[0].compute;
	bsv_comparison_fini(&c);
	for (size_t i = 0; i < n; i++) {
		compute_fini(&a[i]);
		compute_fini(&b[i]);
	}
	return ret;
}

static void five_recordings_find_a_tenth_more_computing_whatever_the_machines_speed(void **ctx)
{
	int found = 0;

	(void)ctx;
	state = 61;
	for (int i = 0; i < 30; i++) {
		struct bsv_change change = computed(RECORDINGS, 1.1, &usual_machine, NULL);

		found += change.verdict == BSV_CHANGED && change.by > 0.05 && change.by < 0.15;
	}
	if (found < 27)
		fail_msg("found in %d of 30", found);
}

static void the_machines_speed_alone_is_no_change_of_computing(void **ctx)
{
	static const size_t sides[] = { 1, 2, 3, RECORDINGS };

	(void)ctx;
	state = 63;
	for (size_t k = 0; k < sizeof(sides) / sizeof(*sides); k++) {
		int changed = 0;

		for (int i = 0; i < 60; i++)
			changed += computed(sides[k], 1, &usual_machine, NULL).verdict == BSV_CHANGED;
		if (changed > 6) /* 3 are expected at most */
			fail_msg("%zu a side: %d of 60 changed", sides[k], changed);
	}
}

static void one_recording_of_each_finds_half_as_much_computing(void **ctx)
{
	int found = 0;

	(void)ctx;
	state = 65;
	for (int i = 0; i < 30; i++)
		found += computed(1, 1.5, &usual_machine, NULL).verdict == BSV_CHANGED;
	if (found < 27)
		fail_msg("found in %d of 30", found);
}

/*
 * The truth is known here: five recordings a side find a change of a tenth, and find no change where there is
 * none.
 */
static void whatever_a_machine_does_a_tenth_is_found_and_nothing_is_made_up(void **ctx)
{
	static const struct machine machines[] = {
		{ "steady", .differs = 0.01 },
		{ "drifts", .differs = 0.05, .drifts = 0.4 },
		{ "steps", .differs = 0.05, .steps = 0.5 },
		{ "outliers", .differs = 0.1, .outliers = 0.002 },
		{ "memory lies elsewhere", .differs = 0.1, .own = 0.015 },
		{ "all of it", .differs = 0.1, .drifts = 0.2, .steps = 0.3, .outliers = 0.002, .own = 0.01 },
	};

	(void)ctx;
	state = 67;
	for (size_t k = 0; k < sizeof(machines) / sizeof(*machines); k++) {
		int found = 0, made_up = 0, held = 0;

		for (int i = 0; i < 20; i++) {
			struct bsv_change change = computed(RECORDINGS, 1.1, &machines[k], NULL);

			found += change.verdict == BSV_CHANGED && change.by > 0.05 && change.by < 0.15;
			held += change.low <= 0.1 && change.high >= 0.1;
		}
		for (int i = 0; i < 20; i++)
			made_up += computed(RECORDINGS, 1, &machines[k], NULL).verdict == BSV_CHANGED;
		if (found < 18 || held < 17 || made_up > 3)
			fail_msg("%s: found in %d of 20, of which the interval holds it in %d; made up in %d of 20",
			         machines[k].name, found, held, made_up);
	}
}

/* Effects that the reference does not show are noise like any other: they hide changes, and make none. */
static void a_reference_that_knows_nothing_of_the_machine_makes_no_change(void **ctx)
{
	static const struct machine deaf = { "deaf", .differs = 0.01, .own = 0.1 };
	int changed = 0;

	(void)ctx;
	state = 69;
	for (int i = 0; i < 60; i++)
		changed += computed(RECORDINGS, 1, &deaf, NULL).verdict == BSV_CHANGED;
	if (changed > 6)
		fail_msg("%d of 60 changed", changed);
}

static void without_references(struct computing *r)
{
	bsv_times_fini(&r->samples.references);
}

static void with_cpu_times_of_a_half(struct computing *r)
{
	r->group.cpu.n /= 2;
}

static void with_some_hidden(struct computing *r)
{
	r->group.hidden = 0.01;
}

static void with_one_reference_time(struct computing *r)
{
	for (size_t i = 0; i < r->samples.references.n; i++)
		r->samples.references.ns[i] = INT64_MAX / 4;
}

static void computing_is_judged_only_where_all_of_it_is_known(void **ctx)
{
	static const struct machine steady = { "steady", .differs = 0.02 };
	void (*const spoils[])(struct computing * r) = { without_references, with_cpu_times_of_a_half,
		                                         with_some_hidden };

	(void)ctx;
	state = 67;
	for (size_t i = 0; i < sizeof(spoils) / sizeof(*spoils); i++)
		assert_int_equal(computed(3, 1.5, &steady, spoils[i]).verdict, BSV_TOO_FEW);
	/* the reference of another machine, or a false one, is too far away for a sure result */
	assert_int_equal(computed(3, 1.1, &steady, with_one_reference_time).verdict, BSV_SAME);
}

static void constant(struct bsv_group *g, const char *model, size_t n, int64_t ns)
{
	*g = (struct bsv_group){ "app", (char *)model, "sync", "both", .cold = -1, .n = n };
	g->at = calloc(n, sizeof(*g->at));
	g->ns[BSV_E2E] = calloc(n, sizeof(*g->ns[0]));
	g->ns[BSV_RUN] = calloc(n, sizeof(*g->ns[0]));
	for (size_t i = 0; i < n; i++) {
		g->at[i] = (int64_t)i;
		g->ns[BSV_E2E][i] = g->ns[BSV_RUN][i] = ns;
	}
	g->sum_e2e = (__int128)ns * (__int128)n;
}

static void empty(struct bsv_group *groups, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (int phase = 0; phase < BSV_PHASES; phase++)
			free(groups[i].ns[phase]);
		free(groups[i].at);
	}
}

static void compare_two(struct bsv_comparison *c, const struct bsv_samples *a, const struct bsv_samples *b)
{
	const struct bsv_samples *from[] = { a }, *to[] = { b };

	assert_int_equal(bsv_compare(c, &(struct bsv_side){ from, 1 }, &(struct bsv_side){ to, 1 }, &usual_terms, NULL),
	                 0);
}

/* Computed by hand: the executions of A take 175 ns on average, those of B 155. */
static void mix_and_speed_are_what_they_are_by_hand(void **ctx)
{
	struct bsv_group a[2], b[2];
	struct bsv_samples in_a = { .groups = a, .n = 2, .executions = 4 },
			   in_b = { .groups = b, .n = 2, .executions = 4 };
	struct bsv_comparison c;

	(void)ctx;
	constant(&a[0], "one", 1, 100);
	constant(&a[1], "two", 3, 200);
	constant(&b[0], "one", 3, 120);
	constant(&b[1], "two", 1, 260);
	compare_two(&c, &in_a, &in_b);
	assert_int_equal(c.by, -20);
	assert_int_equal(c.by_mix, -60);
	assert_int_equal(c.by_speed, 40);
	assert_true(c.pairs[0].by_mix == -33 || c.pairs[0].by_mix == -32); /* (0.75 - 0.25) * (110 - 175) */
	assert_int_equal(c.pairs[0].by_mix + c.pairs[1].by_mix, -60);
	assert_int_equal(c.pairs[0].by_speed, 10); /* 0.5 * 20 */
	assert_int_equal(c.pairs[1].by_speed, 30); /* 0.5 * 60 */
	assert_true(c.pairs[0].parts[BSV_RUN] == 20);
	assert_adds_up(&c);
	bsv_comparison_fini(&c);
	empty(a, 2);
	empty(b, 2);
}

static void a_group_of_one_side_is_mix_and_a_vanished_one_has_no_verdict(void **ctx)
{
	struct bsv_group a[3], b[3];
	struct bsv_samples in_a = { .groups = a, .n = 3, .executions = 104 },
			   in_b = { .groups = b, .n = 3, .executions = 77 };
	struct bsv_comparison c;

	(void)ctx;
	constant(&a[0], "alone", 40, 500000);
	constant(&a[1], "both", 40, 1000);
	constant(&a[2], "fewer", 32, 1000);
	constant(&b[0], "both", 31, 1000);
	constant(&b[1], "fewer", 15, 1000);
	constant(&b[2], "new", 31, 3000);
	compare_two(&c, &in_a, &in_b);
	assert_int_equal(c.n, 4);
	assert_int_equal(c.common, 2);
	assert_null(c.pairs[0].b);
	assert_null(c.pairs[3].a);
	assert_int_equal(c.pairs[0].latency[BSV_P50].verdict, BSV_VANISHED);
	assert_int_equal(c.pairs[1].latency[BSV_P50].verdict, BSV_SAME);
	assert_int_equal(c.pairs[1].latency[BSV_P99].verdict, BSV_TOO_FEW);
	assert_int_equal(c.pairs[2].latency[BSV_P50].verdict, BSV_VANISHED);
	assert_int_equal(c.pairs[3].latency[BSV_P50].verdict, BSV_TOO_FEW);
	assert_int_equal(c.pairs[0].by_speed, 0);
	assert_int_equal(c.pairs[3].by_speed, 0);
	assert_adds_up(&c);
	bsv_comparison_fini(&c);
	empty(a, 3);
	empty(b, 3);
}

static void hostile_lengths_and_times_overflow_nothing(void **ctx)
{
	enum { N = 64 };
	int64_t huge[N];
	uint8_t endings[N];
	struct bsv_group g = { "a", "m", "burst", "both", .cold = -1, .n = N, .at = huge }, h;
	struct bsv_tally t = {
		"a", "m", "burst", .n = N, .at = huge, .endings = endings, .hidden = 1, .unsure = SIZE_MAX
	};
	struct bsv_samples in_a = { .groups = &g, .n = 1, .executions = N, .tallies = &t, .n_tallies = 1 },
			   in_b = { .groups = &h, .n = 1, .executions = N, .tallies = &t, .n_tallies = 1 };
	struct bsv_comparison c;

	(void)ctx;
	for (int i = 0; i < N; i++) {
		huge[i] = i % 3 ? i % 2 ? INT64_MAX : INT64_MIN : i;
		endings[i] = (uint8_t)(i % 32);
	}
	h = g;
	g.hidden = 1;
	g.sum_e2e = (__int128)N << 62;
	for (int phase = 0; phase < BSV_PHASES; phase++) {
		g.ns[phase] = huge;
		h.ns[phase] = NULL;
	}
	compare_two(&c, &in_a, &in_b);
	bsv_comparison_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_percentile_is_the_nearest_rank),
		cmocka_unit_test(sorting_is_what_qsort_does),
		cmocka_unit_test(cliffs_delta_counts_pairs),
		cmocka_unit_test(intervals_hold_the_true_difference_in_95_of_100_cases),
		cmocka_unit_test(four_times_the_samples_make_half_the_interval),
		cmocka_unit_test(the_same_samples_give_the_same_interval),
		cmocka_unit_test(a_difference_that_is_there_is_found),
		cmocka_unit_test(all_alike_is_an_interval_of_nothing),
		cmocka_unit_test(executions_that_are_alike_in_sequence_make_intervals_wider),
		cmocka_unit_test(executions_that_are_not_alike_lose_little_by_it),
		cmocka_unit_test(a_step_in_the_middle_is_one_block_against_another),
		cmocka_unit_test(students_tails_are_those_of_the_tables),
		cmocka_unit_test(holm_stops_at_the_first_that_is_not_significant),
		cmocka_unit_test(holm_gives_each_test_its_share),
		cmocka_unit_test(blocks_of_time_know_how_much_a_recording_varies),
		cmocka_unit_test(a_share_of_0_still_has_a_variance),
		cmocka_unit_test(one_build_is_not_slower_than_itself),
		cmocka_unit_test(five_recordings_find_a_tenth_of_run),
		cmocka_unit_test(one_recording_of_each_finds_a_half_and_missed_deadlines),
		cmocka_unit_test(phases_are_ranked_by_their_part_and_not_by_their_noise),
		cmocka_unit_test(figures_beside_a_loss_are_not_called_the_same),
		cmocka_unit_test(a_change_stands_if_it_is_one_whatever_is_hidden),
		cmocka_unit_test(executions_whose_end_is_unknown_can_turn_a_share),
		cmocka_unit_test(a_busier_machine_makes_a_change_uncertain_that_it_may_explain),
		cmocka_unit_test(a_busier_machine_never_passes_misses_from_a_sixth_to_all),
		cmocka_unit_test(a_single_stretch_gives_no_verdict),
		cmocka_unit_test(means_that_are_near_by_chance_are_not_the_same),
		cmocka_unit_test(a_median_that_jumps_is_no_change_if_hardly_anything_differs),
		cmocka_unit_test(five_recordings_find_a_tenth_more_computing_whatever_the_machines_speed),
		cmocka_unit_test(the_machines_speed_alone_is_no_change_of_computing),
		cmocka_unit_test(one_recording_of_each_finds_half_as_much_computing),
		cmocka_unit_test(whatever_a_machine_does_a_tenth_is_found_and_nothing_is_made_up),
		cmocka_unit_test(a_reference_that_knows_nothing_of_the_machine_makes_no_change),
		cmocka_unit_test(computing_is_judged_only_where_all_of_it_is_known),
		cmocka_unit_test(mix_and_speed_are_what_they_are_by_hand),
		cmocka_unit_test(a_group_of_one_side_is_mix_and_a_vanished_one_has_no_verdict),
		cmocka_unit_test(hostile_lengths_and_times_overflow_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_stats.c -- percentiles, intervals and effects: that the intervals hold what they say, and that a comparison adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/samples.h"
#include "stats/bootstrap.h"
#include "stats/compare.h"
#include "stats/order.h"

enum { MOST = 4000 };

/* ---- what is drawn from ---- */

static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) * 0x1p-53;
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

/* Mostly short, now and then long: as waits are. */
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
	/* whatever a double makes of p / 100 * n */
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

/* Of @rounds pairs of samples with the same distribution, how often 0 is in the interval; @ret_width: how wide it is, in the median. */
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
		{ 400, 400, 90, 0.92, 0.99 }, { 1000, 1000, 99, 0.92, 0.99 }, /* ten above it */
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
	/* three times what A has is more than what B has */
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

/* Each is @memory of the one before, and something new; so many are worth one: (1 + memory) / (1 - memory), for means. */
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
	/* without that they would be far from 95 of 100 */
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
	assert_true(e.times > 100); /* a thousand that are worth about 8 */
	assert_int_equal(e.blocks, 8);
	e = bsv_sequence_effect(in_order, 31, 3); /* too few to ask */
	assert_true(e.times == 1 && e.blocks == 0);
	e = bsv_sequence_effect(in_order, 1000, 1000); /* all are below */
	assert_true(e.times == 1);
}

static void many_intervals_that_hold_together_are_wider(void **ctx)
{
	struct bsv_interval one = { -10, 0, 20 }, of;

	(void)ctx;
	of = bsv_one_of(one, 1);
	assert_memory_equal(&of, &one, sizeof(one));
	of = bsv_one_of(one, 20); /* the normal quantile of 1 - 0.025 / 20 is 3.0233 */
	assert_true(fabs(of.high / one.high - 3.0233 / 1.95996) < 1e-3 &&
	            fabs(of.low / one.low - of.high / one.high) < 1e-9);
	assert_true(bsv_one_of(one, 1000000).high > of.high);
}

/* ---- comparisons ---- */

/* Executions of a group: a second of each phase that has one, and what is drawn of the queue. */
static void fill(struct bsv_group *g, const char *model, size_t n, double longer)
{
	*g = (struct bsv_group){ "app", (char *)model, "burst", "both", .cold = 0, .n = n };
	for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++) {
		if (phase == BSV_FENCE || phase == BSV_SIGNAL)
			continue;
		g->ns[phase] = calloc(n, sizeof(*g->ns[phase]));
		assert_non_null(g->ns[phase]);
	}
	g->ns[BSV_E2E] = calloc(n, sizeof(*g->ns[0]));
	g->ns[BSV_OVERHEAD] = calloc(n, sizeof(*g->ns[0]));
	for (size_t i = 0; i < n; i++) {
		for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++) {
			int64_t ns = (int64_t)(1000 + 9000 * uniform());

			if (!g->ns[phase])
				continue;
			if (phase == BSV_QUEUE)
				ns += (int64_t)longer;
			g->ns[phase][i] = ns;
			g->sum[phase] += ns;
			g->ns[BSV_E2E][i] += ns;
			g->ns[BSV_OVERHEAD][i] += phase == BSV_RUN ? 0 : ns;
		}
		g->sum[BSV_E2E] += g->ns[BSV_E2E][i];
		g->sum[BSV_OVERHEAD] += g->ns[BSV_OVERHEAD][i];
	}
}

static void empty(struct bsv_group *groups, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int phase = 0; phase < BSV_PHASES; phase++)
			free(groups[i].ns[phase]);
}

static void assert_adds_up(const struct bsv_comparison *c)
{
	int64_t mix = 0, speed = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct bsv_pair *p = &c->pairs[i];
		int64_t sum = 0;

		for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++)
			sum += p->mean_by[phase];
		assert_int_equal(sum, p->mean_by[BSV_E2E]);
		if (p->a && p->b) { /* and that is the whole, rounded once */
			long double whole =
				(long double)p->b->sum[BSV_E2E] / p->b->n - (long double)p->a->sum[BSV_E2E] / p->a->n;

			assert_true(fabsl(whole) > 0x1p50L || fabsl(whole - sum) < 0.5001L);
		}
		mix += p->by_mix;
		speed += p->by_speed;
	}
	assert_int_equal(mix, c->by_mix);
	assert_int_equal(speed, c->by_speed);
	assert_int_equal(mix + speed, c->by);
}

static void what_became_slower_is_found_in_its_phase(void **ctx)
{
	struct bsv_group a[1], b[1];
	struct bsv_samples in_a = { .groups = a, .n = 1, .executions = 500 },
			   in_b = { .groups = b, .n = 1, .executions = 600 };
	struct bsv_comparison c;

	(void)ctx;
	state = 31;
	fill(&a[0], "keyword", 500, 0);
	fill(&b[0], "keyword", 600, 20000);
	assert_int_equal(bsv_compare(&c, &in_a, &in_b, 3, NULL), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.common, 1);
	assert_int_equal(c.pairs[0].p50[BSV_E2E].verdict, BSV_CHANGED);
	assert_int_equal(c.pairs[0].p99[BSV_E2E].verdict, BSV_CHANGED);
	for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++)
		assert_int_equal(c.pairs[0].p50[phase].verdict, phase == BSV_QUEUE ? BSV_CHANGED
		                                                : phase == BSV_FENCE || phase == BSV_SIGNAL
		                                                        ? BSV_TOO_FEW
		                                                        : BSV_SAME);
	assert_true(llabs(c.pairs[0].mean_by[BSV_QUEUE] - 20000) < 1500);
	assert_true(c.pairs[0].cliff[BSV_QUEUE] == 1);
	assert_adds_up(&c);
	assert_true(llabs(c.by - c.pairs[0].mean_by[BSV_E2E]) <= 1);
	assert_int_equal(c.by_mix, 0);
	bsv_comparison_fini(&c);
	/* more than all of that is worth talking of: nothing changed */
	assert_int_equal(bsv_compare(&c, &in_a, &in_b, 90, NULL), 0);
	assert_int_equal(c.pairs[0].p50[BSV_E2E].verdict, BSV_SAME);
	bsv_comparison_fini(&c);
	empty(a, 1);
	empty(b, 1);
}

static void the_same_twice_is_not_distinguishable(void **ctx)
{
	enum { ROUNDS = 40 };
	int changed = 0;

	(void)ctx;
	state = 41;
	for (int i = 0; i < ROUNDS; i++) {
		struct bsv_group a[2], b[2];
		struct bsv_samples in_a = { .groups = a, .n = 2, .executions = 1000 },
				   in_b = { .groups = b, .n = 2, .executions = 850 };
		struct bsv_comparison c;

		fill(&a[0], "keyword", 500, 0);
		fill(&a[1], "mlp", 500, 0);
		fill(&b[0], "keyword", 450, 0);
		fill(&b[1], "mlp", 400, 0);
		assert_int_equal(bsv_compare(&c, &in_a, &in_b, 0, NULL), 0); /* however little */
		for (size_t k = 0; k < 2; k++)
			for (int phase = 0; phase < BSV_PHASES; phase++)
				changed += (c.pairs[k].p50[phase].verdict == BSV_CHANGED) +
				           (c.pairs[k].p99[phase].verdict == BSV_CHANGED);
		assert_adds_up(&c);
		bsv_comparison_fini(&c);
		empty(a, 2);
		empty(b, 2);
	}
	/* all intervals of a comparison hold in 95 of 100: 2 of 40 on average; of 48 that did not hold together, 96 would be */
	if (changed > 8)
		fail_msg("%d changes that are none", changed);
}

/* Half are short and half are long: whether one more of them is long decides what the median is. */
static void a_median_that_jumps_is_no_change_if_hardly_anything_differs(void **ctx)
{
	struct bsv_group a[1], b[1];
	struct bsv_samples in_a = { .groups = a, .n = 1, .executions = 10000 },
			   in_b = { .groups = b, .n = 1, .executions = 10000 };
	struct bsv_comparison c;

	(void)ctx;
	state = 71;
	fill(&a[0], "mlp", 10000, 0);
	fill(&b[0], "mlp", 10000, 0);
	for (int i = 0; i < 10000; i++) { /* in turn, so that all blocks are alike */
		a[0].ns[BSV_E2E][i] += i % 20 < 9 ? 1000000 : 0;
		b[0].ns[BSV_E2E][i] += i % 20 < 11 ? 1000000 : 0;
	}
	assert_int_equal(bsv_compare(&c, &in_a, &in_b, 3, NULL), 0);
	assert_true(c.pairs[0].p50[BSV_E2E].by.low > 900000);
	assert_true(fabs(c.pairs[0].cliff[BSV_E2E] - 0.1) < 0.02);
	assert_int_equal(c.pairs[0].p50[BSV_E2E].verdict, BSV_SAME);
	bsv_comparison_fini(&c);
	empty(a, 1);
	empty(b, 1);
}

static void another_mix_of_the_same_is_no_change_of_speed(void **ctx)
{
	struct bsv_group a[2], b[2];
	struct bsv_samples in_a = { .groups = a, .n = 2, .executions = 400 },
			   in_b = { .groups = b, .n = 2, .executions = 400 };
	struct bsv_comparison c;

	(void)ctx;
	state = 51;
	fill(&a[0], "big", 100, 1e6);
	fill(&a[1], "small", 300, 0);
	fill(&b[0], "big", 300, 1e6);
	fill(&b[1], "small", 100, 0);
	assert_int_equal(bsv_compare(&c, &in_a, &in_b, 3, NULL), 0);
	assert_adds_up(&c);
	assert_true(llabs(c.by_mix - 500000) < 3000); /* half of all became a millisecond longer */
	assert_true(llabs(c.by_speed) < 3000);
	assert_int_equal(c.pairs[0].p50[BSV_E2E].verdict, BSV_SAME);
	bsv_comparison_fini(&c);
	empty(a, 2);
	empty(b, 2);
}

/* @n executions of @ns each, all of it running. */
static void constant(struct bsv_group *g, const char *model, size_t n, int64_t ns)
{
	*g = (struct bsv_group){ "app", (char *)model, "sync", "both", .cold = -1, .n = n };
	g->ns[BSV_E2E] = calloc(n, sizeof(*g->ns[0]));
	g->ns[BSV_RUN] = calloc(n, sizeof(*g->ns[0]));
	for (size_t i = 0; i < n; i++)
		g->ns[BSV_E2E][i] = g->ns[BSV_RUN][i] = ns;
	g->sum[BSV_E2E] = g->sum[BSV_RUN] = (__int128)ns * (__int128)n;
}

/* By hand: all of A take 175 ns on average, all of B 155. */
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
	assert_int_equal(bsv_compare(&c, &in_a, &in_b, 3, NULL), 0);
	assert_int_equal(c.by, -20);
	assert_int_equal(c.by_mix, -60);
	assert_int_equal(c.by_speed, 40);
	assert_true(c.pairs[0].by_mix == -33 || c.pairs[0].by_mix == -32); /* (0.75 - 0.25) * (110 - 175) */
	assert_int_equal(c.pairs[0].by_mix + c.pairs[1].by_mix, -60);
	assert_int_equal(c.pairs[0].by_speed, 10); /* 0.5 * 20 */
	assert_int_equal(c.pairs[1].by_speed, 30); /* 0.5 * 60 */
	assert_int_equal(c.pairs[0].mean_by[BSV_RUN], 20);
	assert_adds_up(&c);
	bsv_comparison_fini(&c);
	empty(a, 2);
	empty(b, 2);
}

static void what_is_in_one_alone_is_mix(void **ctx)
{
	struct bsv_group a[2], b[2];
	struct bsv_samples in_a = { .groups = a, .n = 2, .executions = 60 },
			   in_b = { .groups = b, .n = 2, .executions = 62 };
	struct bsv_comparison c;

	(void)ctx;
	state = 61;
	fill(&a[0], "alone", 20, 5e5);
	fill(&a[1], "both", 40, 0);
	fill(&b[0], "both", 31, 0);
	fill(&b[1], "new", 31, 0);
	assert_int_equal(bsv_compare(&c, &in_a, &in_b, 3, NULL), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.common, 1);
	assert_null(c.pairs[0].b);
	assert_null(c.pairs[2].a);
	assert_int_equal(c.pairs[1].p50[BSV_E2E].verdict, BSV_TOO_FEW); /* 31 in B */
	assert_int_equal(c.pairs[0].by_speed, 0);
	assert_int_equal(c.pairs[2].by_speed, 0);
	assert_true(c.by_mix < -100000);
	assert_adds_up(&c);
	bsv_comparison_fini(&c);
	empty(a, 2);
	empty(b, 2);
}

static void hostile_lengths_overflow_nothing(void **ctx)
{
	enum { N = 64 };
	int64_t huge[N];
	struct bsv_group g = { "a", "m", "burst", "both", .cold = -1, .n = N }, h;
	struct bsv_samples in_a = { .groups = &g, .n = 1, .executions = N },
			   in_b = { .groups = &h, .n = 1, .executions = N };
	struct bsv_comparison c;

	(void)ctx;
	for (int i = 0; i < N; i++)
		huge[i] = i % 2 ? INT64_C(1) << 62 : -(INT64_C(1) << 62);
	h = g;
	for (int phase = 0; phase < BSV_PHASES; phase++) {
		g.ns[phase] = huge;
		g.sum[phase] = (__int128)N << 62;
		h.ns[phase] = NULL;
	}
	assert_int_equal(bsv_compare(&c, &in_a, &in_b, 3, NULL), 0);
	assert_adds_up(&c);
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
		cmocka_unit_test(many_intervals_that_hold_together_are_wider),
		cmocka_unit_test(what_became_slower_is_found_in_its_phase),
		cmocka_unit_test(the_same_twice_is_not_distinguishable),
		cmocka_unit_test(a_median_that_jumps_is_no_change_if_hardly_anything_differs),
		cmocka_unit_test(another_mix_of_the_same_is_no_change_of_speed),
		cmocka_unit_test(mix_and_speed_are_what_they_are_by_hand),
		cmocka_unit_test(what_is_in_one_alone_is_mix),
		cmocka_unit_test(hostile_lengths_overflow_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

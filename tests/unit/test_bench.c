/* test_bench.c -- the numbers that the benchmarks' limits judge: the median, and its upper bound. */
#include "unit/device_helpers.h"

#include "bench/bench.h"

enum { SAMPLES_MAX = 101 };

/* From a table of the sign test: the first rank whose value the median exceeds with a probability below 5 %. */
static const struct ranks {
	unsigned n, median, bound;
} ranks[] = {
	{ 1, 1, 1 },  { 2, 1, 2 },   { 4, 2, 4 },    { 5, 3, 5 },    { 7, 4, 7 },    { 8, 4, 7 },
	{ 10, 5, 9 }, { 15, 8, 12 }, { 21, 11, 15 }, { 31, 16, 21 }, { 51, 26, 32 }, { 101, 51, 60 },
};

static void a_median_is_bounded_by_an_order_statistic(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(ranks); i++) {
		unsigned n = ranks[i].n;
		double v[SAMPLES_MAX];

		for (unsigned k = 0; k < n; k++) /* 103 is prime, so the samples come in no order */
			v[k * 103 % n] = k + 1;

		if (bench_median(v, n) != ranks[i].median || bench_median_bound(v, n) != ranks[i].bound)
			fail_msg("of %u: median %g, at most %g; not %u, %u", n, bench_median(v, n),
			         bench_median_bound(v, n), ranks[i].median, ranks[i].bound);
	}
}

static void without_samples_the_median_is_0(void **state)
{
	(void)state;
	assert_true(bench_median(NULL, 0) == 0 && bench_median_bound(NULL, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_median_is_bounded_by_an_order_statistic),
		cmocka_unit_test(without_samples_the_median_is_0),
	};

	return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}

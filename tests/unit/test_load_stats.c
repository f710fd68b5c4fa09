/* test_load_stats.c -- the arithmetic of nnburst-load: percentiles, buckets, and missed deadlines. */
#include "unit/device_helpers.h"

#include "load.h"
#include "stats.h"

static struct load_distribution *distribution(void)
{
	struct load_distribution *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	return d;
}

/* ---- distributions ---- */

static void no_times_have_no_percentiles(void **state)
{
	struct load_distribution *d = distribution();

	(void)state;
	assert_int_equal(load_percentile(d, 500), 0);
	assert_int_equal(load_percentile(d, 1000), 0);
	free(d);
}

/* The nearest rank is the least one that is not below the share: of 10, the 5th for 50 %, the 10th for 99 %. */
static const struct ranks {
	unsigned n, permille, rank;
} ranks[] = {
	{ 1, 1, 1 },    { 1, 500, 1 },  { 1, 999, 1 },   { 2, 500, 1 },   { 2, 501, 2 },      { 3, 500, 2 },
	{ 10, 500, 5 }, { 10, 900, 9 }, { 10, 901, 10 }, { 10, 990, 10 }, { 100, 990, 99 },   { 101, 990, 100 },
	{ 1000, 1, 1 }, { 7, 0, 1 },    { 7, 1000, 7 },  { 99, 999, 99 }, { 1000, 999, 999 },
};

/* Times that are all short, all long, and across the border between the two. */
static void percentiles_are_of_the_nearest_rank(void **state)
{
	static const uint64_t firsts[] = { 10, LOAD_SHORT_MAX, LOAD_SHORT_MAX - 3 };

	(void)state;
	for (size_t f = 0; f < N_OF(firsts); f++)
		for (size_t i = 0; i < N_OF(ranks); i++) {
			struct load_distribution *d = distribution();
			uint64_t got;

			for (unsigned k = 0; k < ranks[i].n;
			     k++) /* 1009 is prime, and no n is a multiple of it, so the times come in no order */
				load_distribution_add(d, firsts[f] + (uint64_t)k * 1009 % ranks[i].n);
			got = load_percentile(d, ranks[i].permille);
			if (got != firsts[f] + ranks[i].rank - 1)
				fail_msg("%u permille of %u from %llu: rank %llu, not %u", ranks[i].permille,
				         ranks[i].n, (unsigned long long)firsts[f],
				         (unsigned long long)(got - firsts[f] + 1), ranks[i].rank);
			free(d);
		}
}

static void distributions_are_exact_against_sorting(void **state)
{
	enum { N = 5000 };
	static uint64_t all[N];
	struct load_distribution *d = distribution(), *halves[2] = { distribution(), distribution() };
	uint64_t random = 1, sum = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		all[i] = random >> (40 + random % 20); /* many magnitudes */
		sum += all[i];
		load_distribution_add(halves[i % 2], all[i]);
	}
	load_distribution_merge(d, halves[0]);
	load_distribution_merge(d, halves[1]);
	for (int i = 1; i < N; i++) /* insertion sort, because the test must not trust other code */
		for (int k = i; k > 0 && all[k] < all[k - 1]; k--) {
			uint64_t t = all[k];

			all[k] = all[k - 1];
			all[k - 1] = t;
		}
	assert_int_equal(d->n, N);
	assert_int_equal(d->sum, sum);
	assert_int_equal(d->min, all[0]);
	assert_int_equal(d->max, all[N - 1]);
	for (unsigned p = 1; p <= 1000; p++)
		assert_true(load_percentile(d, p) == all[(N * p + 999) / 1000 - 1]);
	load_distribution_add(d, LOAD_SHORT_MAX); /* one more, after the first sorting */
	assert_true(load_percentile(d, 1000) == all[N - 1]);
	free(d);
	free(halves[0]);
	free(halves[1]);
}

/* ---- buckets ---- */

static void buckets_are_a_quarter_of_a_doubling(void **state)
{
	(void)state;
	assert_true(load_bucket_begin(LOAD_BUCKETS) == UINT64_MAX);
	assert_int_equal(load_bucket_of(UINT64_MAX), LOAD_BUCKETS - 1);
	for (unsigned i = 0; i < LOAD_BUCKETS; i++) {
		uint64_t begin = load_bucket_begin(i), end = load_bucket_begin(i + 1);

		assert_true(begin < end);
		assert_int_equal(load_bucket_of(begin), i);
		if (i < LOAD_BUCKETS - 1)
			assert_int_equal(load_bucket_of(end - 1), i);
		if (i >= 4)
			assert_true(end - begin == begin / (4 + i % 4) || i == LOAD_BUCKETS - 1);
	}
}

static void a_histogram_holds_each_time_once(void **state)
{
	struct load_distribution *d = distribution();
	uint64_t counts[LOAD_BUCKETS], n = 0;

	(void)state;
	for (uint64_t ns = 1; ns < (uint64_t)4 * LOAD_SHORT_MAX; ns = ns * 5 / 4 + 1) {
		load_distribution_add(d, ns);
		load_distribution_add(d, ns);
	}
	load_histogram(d, counts);
	for (unsigned i = 0; i < LOAD_BUCKETS; i++)
		n += counts[i];
	assert_true(n == d->n);
	assert_int_equal(counts[load_bucket_of(1)], 2);
	free(d);
}

/* ---- deadlines ---- */

#define TRANSIENT NNB_STATUS_MISSED_DEADLINE_TRANSIENT
#define NO_ROOM_NOW NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT
#define PERSISTENT NNB_STATUS_MISSED_DEADLINE_PERSISTENT

static const struct miss_row {
	const char *name;
	enum nnb_status status;
	uint64_t deadline, returned;
	enum load_miss miss;
} misses[] = {
	{ "done well before", NNB_STATUS_NONE, 1000, 10, LOAD_NOT_MISSED },
	{ "done at the last moment", NNB_STATUS_NONE, 1000, 1000, LOAD_NOT_MISSED },
	{ "done a moment after: late", NNB_STATUS_NONE, 1000, 1001, LOAD_LATE },
	{ "done whenever, no deadline", NNB_STATUS_NONE, 0, 1001, LOAD_NOT_MISSED },
	{ "given up a moment before: predicted", TRANSIENT, 1000, 999, LOAD_PREDICTED },
	{ "given up at the deadline: aborted", TRANSIENT, 1000, 1000, LOAD_ABORTED },
	{ "given up after: aborted", TRANSIENT, 1000, 1001, LOAD_ABORTED },
	{ "given up for good, before: predicted", PERSISTENT, 1000, 999, LOAD_PREDICTED },
	{ "given up for good, after: aborted", PERSISTENT, 1000, 1001, LOAD_ABORTED },
	{ "given up, and no deadline", TRANSIENT, 0, 1001, LOAD_NOT_MISSED },
	{ "failed after: no miss", NNB_STATUS_GENERAL_FAILURE, 1000, 1001, LOAD_NOT_MISSED },
	{ "the service died", NNB_STATUS_DEAD_OBJECT, 1000, 1001, LOAD_NOT_MISSED },
};

static void row_is_a_miss_or_not(void **state)
{
	const struct miss_row *m = *state;

	assert_int_equal(load_miss(m->status, m->deadline, m->returned), m->miss);
}

/* ---- sequences ---- */

/* Add @steps outputs, each with its step's number, except step @other. */
static bool walk(struct load_sequence *s, unsigned steps, unsigned other)
{
	bool right = true;

	for (unsigned i = 0; i < steps; i++) {
		uint64_t n = s->steps + 1;

		right &= load_sequence_add(s, n == other ? n + 1000 : n);
	}
	return right;
}

static void sequences_agree_as_far_as_they_go(void **state)
{
	enum { N = 37 };
	struct load_sequence none = { 0 };

	(void)state;
	for (unsigned i = 0; i < N; i++)
		for (unsigned k = 0; k < N; k++) {
			struct load_sequence a = { 0 }, b = { 0 };

			assert_true(walk(&a, i, 0));
			assert_true(walk(&b, k, 0));
			assert_true(load_sequence_agrees(&a, &b));
			assert_true(load_sequence_agrees(&a, &none));
			assert_true((a.digest == b.digest) == (i == k));
		}
}

/* A different output is noticed at the next power of two, or at the end, if both sequences end there. */
static void a_different_output_is_noticed(void **state)
{
	enum { N = 37 };

	(void)state;
	for (unsigned other = 1; other <= N; other++)
		for (unsigned n = 1; n <= N; n++) {
			struct load_sequence a = { 0 }, b = { 0 };
			unsigned compared = n == N ? N : 1u << (31 - __builtin_clz(n));

			walk(&a, N, 0);
			walk(&b, n, other);
			assert_true(load_sequence_agrees(&a, &b) == (compared < other));
			assert_true(load_sequence_agrees(&b, &a) == (compared < other));
		}
}

static void a_sequence_that_begins_again_gives_the_same(void **state)
{
	struct load_sequence s = { 0 };

	(void)state;
	assert_true(walk(&s, 21, 0));
	load_sequence_restart(&s);
	assert_true(walk(&s, 40, 0));
	assert_int_equal(s.steps, 40);
	load_sequence_restart(&s);
	assert_true(walk(&s, 3, 3)); /* not noticed yet */
	assert_false(walk(&s, 1, 0));
	load_sequence_restart(&s);
	assert_false(walk(&s, 1, 1));
}

static void the_state_in_the_end_counts(void **state)
{
	struct load_sequence a = { 0 }, b = { 0 };

	(void)state;
	walk(&a, 5, 0);
	walk(&b, 5, 0);
	a.state = 7;
	assert_true(load_sequence_agrees(&a, &b)); /* no step was compared */
	b.state = 8;
	assert_false(load_sequence_agrees(&a, &b));
	walk(&a, 1, 0);
	assert_true(load_sequence_agrees(&a, &b));
}

static void sequences_of_threads_are_merged(void **state)
{
	struct load_figures *f = calloc(4, sizeof(*f));

	(void)state;
	assert_non_null(f);
	walk(&f[1].sequence, 9, 0);
	load_sequence_restart(&f[1].sequence);
	walk(&f[1].sequence, 1, 0);
	walk(&f[2].sequence, 3, 0);
	walk(&f[3].sequence, 8, 7);
	f[1].state_buffers = f[2].state_buffers = f[2].state_fallen = f[3].state_resets = f[3].state_copy_ns = 2;
	for (int i = 1; i < 3; i++)
		load_figures_merge(&f[0], &f[i]);
	assert_int_equal(f[0].wrong, 0);
	assert_int_equal(f[0].sequence.steps, 3);
	assert_int_equal(f[0].sequence.digest, f[2].sequence.digest);
	load_figures_merge(&f[0], &f[3]); /* its steps differ from those of the first sequence */
	assert_int_equal(f[0].wrong, 1);
	assert_int_equal(f[0].sequence.steps, 8);
	assert_int_equal(f[0].state_buffers, 4);
	assert_int_equal(f[0].state_fallen, 2);
	assert_int_equal(f[0].state_resets, 2);
	assert_int_equal(f[0].state_copy_ns, 2);
	free(f);
}

/* ---- figures ---- */

static struct load_execution execution(enum nnb_status status, uint64_t submitted, uint64_t returned)
{
	return (struct load_execution){ .status = status,
		                        .submitted = submitted,
		                        .returned = returned,
		                        .on_device_ns = UINT64_MAX,
		                        .in_driver_ns = UINT64_MAX };
}

static void figures_add_up(void **state)
{
	struct load_figures *f = calloc(3, sizeof(*f));
	struct load_execution e;

	(void)state;
	assert_non_null(f);
	e = execution(NNB_STATUS_NONE, 100, 150);
	e.cold = true;
	load_figures_add(&f[0], &e);
	e = execution(NNB_STATUS_NONE, 200, 230);
	e.due = 190;
	e.deadline = 229;
	e.on_device_ns = 5;
	e.in_driver_ns = 9;
	load_figures_add(&f[0], &e);
	e = execution(NNB_STATUS_GENERAL_FAILURE, 50, 60);
	e.due = 40;
	e.fallback = e.wrong = true;
	load_figures_add(&f[1], &e);
	f[0].digest = 1;
	f[1].digest = 2;
	load_figures_merge(&f[2], &f[0]);
	load_figures_merge(&f[2], &f[1]);
	assert_int_equal(f[2].executions, 3);
	assert_int_equal(f[2].statuses[NNB_STATUS_NONE], 2);
	assert_int_equal(f[2].fallbacks, 1);
	assert_int_equal(f[2].statuses[NNB_STATUS_GENERAL_FAILURE], 1);
	assert_int_equal(f[2].cold.n, 1);
	assert_int_equal(f[2].cold.sum, 50);
	assert_int_equal(f[2].warm.n, 1);
	assert_int_equal(f[2].warm.sum, 30);
	assert_int_equal(f[2].misses[LOAD_LATE], 1);
	assert_int_equal(f[2].misses[LOAD_NOT_MISSED], 0);
	assert_int_equal(f[2].from_due.n, 1);
	assert_int_equal(f[2].from_due.sum, 40); /* only completed executions count */
	assert_int_equal(f[2].start_late.n, 2);
	assert_int_equal(f[2].start_late.sum, 20);
	assert_int_equal(f[2].on_device.sum, 5);
	assert_int_equal(f[2].in_driver.sum, 9);
	assert_int_equal(f[2].began, 50);
	assert_int_equal(f[2].ended, 230);
	assert_int_equal(f[2].wrong, 2); /* one by itself, and one because the two disagree */
	free(f);
}

static void only_none_and_misses_are_expected(void **state)
{
	(void)state;
	for (int i = 0; i < LOAD_STATUSES; i++) {
		bool fine = i == NNB_STATUS_NONE || i == TRANSIENT || i == PERSISTENT;

		assert_true(load_expected((enum nnb_status)i, false) == fine);
		assert_true(load_expected((enum nnb_status)i, true) == (fine || i == NO_ROOM_NOW));
	}
}

/* */
static void only_transient_statuses_are_retried(void **state)
{
	(void)state;
	for (int i = 0; i < LOAD_STATUSES; i++)
		assert_true(load_transient((enum nnb_status)i) == (i == TRANSIENT || i == NO_ROOM_NOW));
}

static void retries_are_counted_separately(void **state)
{
	struct load_figures *f = calloc(2, sizeof(*f));
	struct load_execution e;

	(void)state;
	assert_non_null(f);
	e = execution(TRANSIENT, 100, 150);
	e.due = 90;
	e.deadline = 200;
	load_figures_add(&f[0], &e);
	e.retry = true;
	load_figures_add(&f[0], &e);
	e.status = NNB_STATUS_NONE;
	load_figures_add(&f[0], &e);
	load_figures_merge(&f[1], &f[0]);
	assert_int_equal(f[1].executions, 3);
	assert_int_equal(f[1].retries, 2);
	assert_int_equal(f[1].recovered, 1);
	assert_int_equal(f[1].start_late.n, 1);
	assert_int_equal(f[1].from_due.n, 1);
	assert_int_equal(f[1].misses[LOAD_PREDICTED], 2);
	assert_int_equal(f[1].statuses[TRANSIENT], 2);
	free(f);
}

/* ---- shares ---- */

static const struct jain_row {
	const char *name;
	size_t n;
	double shares[4], jain;
} jains[] = {
	{ "no app", 0, { 0 }, 0 },
	{ "one app with all there is", 1, { 0.3 }, 1 },
	{ "equal shares", 4, { 0.5, 0.5, 0.5, 0.5 }, 1 },
	{ "one app has all", 4, { 0, 0, 1, 0 }, 0.25 },
	{ "no app has anything", 3, { 0, 0, 0 }, 0 },
	{ "one app has half of the other's share", 2, { 1, 0.5 }, 0.9 },
};

static void row_has_its_fairness_index(void **state)
{
	const struct jain_row *j = *state;
	double got = load_jain(j->shares, j->n);

	if (got < j->jain - 1e-9 || got > j->jain + 1e-9)
		fail_msg("%g, not %g", got, j->jain);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(no_times_have_no_percentiles),
		cmocka_unit_test(percentiles_are_of_the_nearest_rank),
		cmocka_unit_test(distributions_are_exact_against_sorting),
		cmocka_unit_test(buckets_are_a_quarter_of_a_doubling),
		cmocka_unit_test(a_histogram_holds_each_time_once),
		cmocka_unit_test(sequences_agree_as_far_as_they_go),
		cmocka_unit_test(a_different_output_is_noticed),
		cmocka_unit_test(a_sequence_that_begins_again_gives_the_same),
		cmocka_unit_test(the_state_in_the_end_counts),
		cmocka_unit_test(sequences_of_threads_are_merged),
		cmocka_unit_test(figures_add_up),
		cmocka_unit_test(only_none_and_misses_are_expected),
		cmocka_unit_test(only_transient_statuses_are_retried),
		cmocka_unit_test(retries_are_counted_separately),
	};
	struct CMUnitTest tests[N_OF(misses) + N_OF(jains) + N_OF(others)];

	for (size_t i = 0; i < N_OF(misses); i++)
		tests[i] = (struct CMUnitTest){ .name = misses[i].name,
			                        .test_func = row_is_a_miss_or_not,
			                        .initial_state = (void *)&misses[i] };
	for (size_t i = 0; i < N_OF(jains); i++)
		tests[N_OF(misses) + i] = (struct CMUnitTest){ .name = jains[i].name,
			                                       .test_func = row_has_its_fairness_index,
			                                       .initial_state = (void *)&jains[i] };
	memcpy(tests + N_OF(misses) + N_OF(jains), others, sizeof(others));
	return cmocka_run_group_tests_name("load statistics", tests, NULL, NULL);
}

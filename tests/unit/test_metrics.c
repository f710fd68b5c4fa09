/*
 * test_metrics.c -- the bound on label sets: which sets are dropped, and what a scraper then reads.
 *
 * A scraper reads as Prometheus does: a label set that is absent ends, and a counter that falls was reset. So
 * its sum is right if each sample is in a scrape before its set is dropped, and no scrape has a sample twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"
#include "metrics/metrics.h"
#include "metrics/of_live.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE UINT64_C(60000000000)

enum { MOST = 600 }; /* label sets of nnburst_starvations; the number is in metrics.def */

static struct bsv_metrics *metrics_new(void)
{
	struct bsv_buckets buckets;
	struct bsv_metrics *m;

	bsv_buckets_init(&buckets);
	m = bsv_metrics_new(&buckets);
	assert_non_null(m);
	assert_int_equal(bsv_metric_infos[BSV_METRIC_STARVATIONS].most, MOST);
	return m;
}

static void count(struct bsv_metrics *m, const char *prefix, unsigned number, int64_t by)
{
	char name[40];
	const char *app = name;

	snprintf(name, sizeof(name), "%s%u", prefix, number);
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_STARVATIONS, &app), by);
}

/* The value on the line that begins with @start; -1: no line begins so. */
static long long scraped(const struct bsv_metrics *m, const char *start)
{
	char *text = NULL, *at;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	long long ret = -1;

	assert_non_null(to);
	assert_int_equal(bsv_metrics_print(m, BSV_PROMETHEUS_TEXT, to), 0);
	assert_int_equal(fclose(to), 0);
	at = strstr(text, start);
	if (at)
		ret = strtoll(at + strlen(start), NULL, 10);
	free(text);
	return ret;
}

static long long scraped_of(const struct bsv_metrics *m, const char *prefix, unsigned number)
{
	char start[100];

	snprintf(start, sizeof(start), "nnburst_starvations_total{app=\"%s%u\"} ", prefix, number);
	return scraped(m, start);
}

#define OTHERS(m) scraped(m, "nnburst_starvations_total{app=\"other\"} ")
#define OTHER_SAMPLES(m) scraped(m, "burstscope_other_samples_total{metric=\"nnburst_starvations\"} ")
#define DROPPED(m) scraped(m, "burstscope_dropped_label_sets_total{metric=\"nnburst_starvations\"} ")

static void new_apps_are_other_while_no_set_is_idle(void **state)
{
	struct bsv_metrics *m = metrics_new();

	(void)state;
	for (unsigned i = 0; i < MOST; i++)
		count(m, "app", i, 1);
	bsv_metrics_at(m, 10 * MINUTE - 1);
	count(m, "late", 0, 7);
	assert_int_equal(scraped_of(m, "app", 0), 1);
	assert_int_equal(scraped_of(m, "late", 0), -1);
	assert_int_equal(OTHERS(m), 7);
	assert_int_equal(OTHER_SAMPLES(m), 1);
	assert_int_equal(DROPPED(m), -1);
	bsv_metrics_free(m);
}

static void idle_sets_give_way_and_nothing_is_counted_twice(void **state)
{
	struct bsv_metrics *m = metrics_new();

	(void)state;
	for (unsigned i = 0; i < MOST; i++)
		count(m, "app", i, 1 + i);
	count(m, "late", 0, 7);
	bsv_metrics_at(m, 5 * MINUTE);
	for (unsigned i = 0; i < 100; i++)
		count(m, "app", i, 1);
	bsv_metrics_scraped(m);
	bsv_metrics_at(m, 10 * MINUTE);
	count(m, "late", 1, 3);
	assert_int_equal(scraped_of(m, "app", 0), 2);
	assert_int_equal(scraped_of(m, "app", 99), 101);
	assert_int_equal(scraped_of(m, "app", 100), -1);
	assert_int_equal(scraped_of(m, "late", 1), 3);
	assert_int_equal(OTHERS(m), 7); /* `other` stays, and no dropped set is added to it */
	assert_int_equal(DROPPED(m), 500);
	count(m, "app", 100, 1); /* the dropped set returns */
	assert_int_equal(scraped_of(m, "app", 100), 1);
	for (unsigned i = 0; i < 100; i++) /* each of the sets that stayed is still found */
		count(m, "app", i, 1);
	assert_int_equal(scraped_of(m, "app", 99), 102);
	assert_int_equal(DROPPED(m), 500);
	bsv_metrics_free(m);
}

static void a_set_stays_until_a_scraper_has_read_it(void **state)
{
	struct bsv_metrics *m = metrics_new();

	(void)state;
	for (unsigned i = 0; i < MOST; i++)
		count(m, "app", i, 1);
	bsv_metrics_at(m, 10 * MINUTE);
	count(m, "late", 0, 7);
	assert_int_equal(scraped_of(m, "app", 0), 1);
	assert_int_equal(OTHERS(m), 7);
	count(m, "app", 1, 1);
	bsv_metrics_scraped(m);
	count(m, "app", 2, 1);
	count(m, "late", 1, 3);
	assert_int_equal(scraped_of(m, "app", 0), -1);
	assert_int_equal(scraped_of(m, "app", 1), 2); /* used just now */
	assert_int_equal(scraped_of(m, "app", 2), 2);
	assert_int_equal(DROPPED(m), MOST - 2);
	bsv_metrics_at(m, 30 * MINUTE);
	for (unsigned i = 0; i < MOST; i++)
		count(m, "more", i, 1);
	assert_int_equal(scraped_of(m, "app", 1), -1); /* read since then, and idle for 20 minutes */
	assert_int_equal(scraped_of(m, "app", 2), 2);  /* its last sample was not read yet */
	bsv_metrics_free(m);
}

/* ---- users ---- */

static void a_user_with_all_sets_gives_up_half_for_another(void **state)
{
	struct bsv_metrics *m = metrics_new();

	(void)state;
	bsv_metrics_for(m, 1);
	for (unsigned i = 0; i < MOST + 10; i++) {
		bsv_metrics_at(m, i);
		count(m, "greedy", i, 1);
	}
	assert_int_equal(OTHERS(m), 10); /* the user has all sets that one user can have */
	bsv_metrics_at(m, MOST + 10);
	count(m, "greedy", 0, 1); /* set 0 becomes the newest */
	bsv_metrics_for(m, 2);
	for (unsigned i = 0; i < MOST; i++)
		count(m, "modest", i, 1);
	assert_int_equal(scraped_of(m, "greedy", 0), 2);
	assert_int_equal(scraped_of(m, "greedy", 1), -1);
	assert_int_equal(scraped_of(m, "greedy", MOST / 2), -1);
	assert_int_equal(scraped_of(m, "greedy", MOST / 2 + 1), 1);
	assert_int_equal(scraped_of(m, "modest", MOST / 2 - 1), 1);
	assert_int_equal(scraped_of(m, "modest", MOST / 2), -1);
	assert_int_equal(OTHERS(m), 10 + MOST / 2);
	assert_int_equal(DROPPED(m), MOST / 2);
	bsv_metrics_for(m, 1);
	count(m, "greedy", 1, 1); /* the user takes no set back */
	assert_int_equal(scraped_of(m, "modest", MOST / 2 - 1), 1);
	assert_int_equal(DROPPED(m), MOST / 2);
	bsv_metrics_for(m, 3);
	for (unsigned i = 0; i < MOST; i++)
		count(m, "third", i, 1);
	assert_in_range(scraped_of(m, "third", MOST / 3 - 2), 1, 1);
	assert_int_equal(scraped_of(m, "third", MOST / 3 + 1), -1);
	for (unsigned i = 0; i < MOST / 2; i++) /* each of the sets that stayed is still found */
		if (scraped_of(m, "modest", i) == 1)
			count(m, "modest", i, 1);
	assert_int_equal(scraped_of(m, "modest", MOST / 2 - 1), 2);
	bsv_metrics_free(m);
}

/* A user whose sets are idle gives them up first, whichever user asks. */
static void an_idle_set_goes_before_one_of_the_user_with_most(void **state)
{
	struct bsv_metrics *m = metrics_new();

	(void)state;
	bsv_metrics_for(m, 2);
	count(m, "modest", 0, 1);
	bsv_metrics_scraped(m);
	bsv_metrics_at(m, 10 * MINUTE);
	bsv_metrics_for(m, 1);
	for (unsigned i = 0; i < MOST; i++)
		count(m, "greedy", i, 1);
	assert_int_equal(scraped_of(m, "modest", 0), -1);
	bsv_metrics_for(m, 2);
	count(m, "modest", 1, 1);
	assert_int_equal(scraped_of(m, "modest", 1), 1);
	assert_int_equal(scraped_of(m, "greedy", 0), -1);
	bsv_metrics_free(m);
}

static void an_execution_takes_sets_of_its_user(void **state)
{
	struct bsv_metrics *m = metrics_new();
	struct bsv_metrics_of_live *f = bsv_metrics_of_live_new(m);
	struct bsa_live_calls tells = bsv_metrics_of_live_calls(f);
	struct bsa_live_execution x = { .path = "sync", .status = "NONE", .deadline = true, .uid = 7, .app = "greedy" };
	unsigned most = bsv_metric_infos[BSV_METRIC_DEADLINES].most;
	char model[20];

	(void)state;
	x.model = model;
	for (unsigned i = 0; i < 2 * most; i++) {
		snprintf(model, sizeof(model), "net%u", i);
		tells.execution(tells.ctx, &x);
	}
	x.uid = 8;
	x.app = "modest";
	tells.execution(tells.ctx, &x);
	assert_int_equal(most, 600); /* the metric's name is that of the last model */
	assert_int_equal(scraped(m, "nnburst_deadlines_total{app=\"modest\",model=\"net1199\"} "), 1);
	bsv_metrics_of_live_free(f);
	bsv_metrics_free(m);
}

/* ---- what a scraper adds up ---- */

enum { NAMES = 100, POOL_SETS = 40 };

struct scraper {
	long long last[NAMES + 1]; /* the last value of each app, and of `other`; 0: absent */
	long long increase;
};

/* The index of the app in the label set that begins here. */
static size_t app_of(const char *labels)
{
	return strncmp(labels, "owner=\"other\"", 13) ? strtoul(labels + strlen("owner=\"app"), NULL, 10) % NAMES
	                                              : NAMES;
}

static void scrape(struct scraper *s, struct bsv_metrics *m)
{
	static const char name[] = "\nnnburst_pool_mappings_total{";
	long long now[NAMES + 1] = { 0 };
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	assert_non_null(to);
	assert_int_equal(bsv_metrics_print(m, BSV_PROMETHEUS_TEXT, to), 0);
	assert_int_equal(fclose(to), 0);
	bsv_metrics_scraped(m);
	for (const char *at = text; (at = strstr(at, name)); at++)
		now[app_of(at + strlen(name))] += strtoll(strstr(at, "} ") + 2, NULL, 10);
	assert_true(now[NAMES] >= s->last[NAMES]);
	for (size_t i = 0; i <= NAMES; i++) {
		s->increase += now[i] >= s->last[i] ? now[i] - s->last[i] : now[i];
		s->last[i] = now[i];
	}
	free(text);
}

static unsigned random_below_n(uint64_t *seed, unsigned n)
{
	return (unsigned)(lcg_next(seed) >> 33) % n;
}

static void count_pool(struct bsv_metrics *m, unsigned app, int64_t by)
{
	char name[20];
	const char *which[] = { name, "input" };

	snprintf(name, sizeof(name), "app%u", app);
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_POOLS, which), by);
}

/*
 * A hundred apps come, go and return; after each step the increases that the scraper saw sum to what
 * happened.
 */
static void sums_never_fall_and_are_exact(void **state)
{
	struct bsv_metrics *m = metrics_new();
	struct scraper s = { .increase = 0 };
	long long happened = 0, before;
	uint64_t seed = 1, now = 0;

	(void)state;
	assert_int_equal(bsv_metric_infos[BSV_METRIC_POOLS].most, POOL_SETS);
	for (unsigned i = 0; i < 8000; i++) {
		unsigned by = 1 + random_below_n(&seed, 5),
			 app = i / 200 % 2 * POOL_SETS + random_below_n(&seed, POOL_SETS);

		bsv_metrics_at(m, now += random_below_n(&seed, 4) * MINUTE / 16);
		count_pool(m, random_below_n(&seed, 8) ? app : random_below_n(&seed, NAMES), by);
		happened += by;
		before = s.increase;
		scrape(&s, m);
		assert_true(s.increase > before);
		assert_int_equal(s.increase, happened);
	}
	assert_true(s.last[NAMES] > 0);
	assert_true(scraped(m, "burstscope_dropped_label_sets_total{metric=\"nnburst_pool_mappings\"} ") > 300);
	bsv_metrics_free(m);
}

/* Apps that never return, and a scraper that comes seldom: it misses no sample. */
static void a_rare_scraper_misses_nothing(void **state)
{
	struct bsv_metrics *m = metrics_new();
	struct scraper s = { .increase = 0 };
	uint64_t seed = 2, now = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		bsv_metrics_at(m, now += random_below_n(&seed, 20) * MINUTE / 16);
		count_pool(m, i / 3, 1);
		if (!random_below_n(&seed, 40))
			scrape(&s, m);
	}
	scrape(&s, m);
	assert_int_equal(s.increase, 20000);
	assert_true(s.last[NAMES] > 0 && s.last[NAMES] < 20000);
	bsv_metrics_free(m);
}

/*
 * A million apps come, one each 100 ms, beside one that stays; a scraper comes each 15 s. Each has a series of its
 * own for 10 minutes or until the metric is full.
 */
static void a_million_apps_stay_within_the_bound(void **state)
{
	struct bsv_metrics *m = metrics_new();
	size_t most = 0;

	(void)state;
	for (unsigned i = 0; i < 1000000; i++) {
		bsv_metrics_at(m, i * (MINUTE / 600));
		count(m, "app", i, 1);
		count(m, "stays", 0, 1);
		if (i % 150 == 0)
			bsv_metrics_scraped(m);
		if (bsv_metrics_series(m) > most)
			most = bsv_metrics_series(m);
	}
	assert_int_equal(scraped_of(m, "stays", 0), 1000000);
	assert_true(DROPPED(m) > 0);
	assert_int_equal(DROPPED(m) + OTHERS(m) + (long long)bsv_metrics_series(m) - 4, 1000000);
	assert_in_range(most, MOST, MOST + 3);
	bsv_metrics_free(m);
}

/*
 * Report all that one short-lived app has: an execution that missed its deadline, a share, a lag, a wait, and
 * a pool.
 */
static void app_lives(const struct bsa_live_calls *tells, unsigned number)
{
	char app[20], model[20];
	struct bsa_live_execution x = { .app = app,
		                        .model = model,
		                        .path = "burst",
		                        .status = "NONE",
		                        .cause = "queue",
		                        .model_id = number + 1,
		                        .e2e_ns = 1000 + number,
		                        .run_ns = 900,
		                        .overhead_ns = 100,
		                        .slot_lookups = 2,
		                        .slot_misses = 1,
		                        .complete = true,
		                        .deadline = true,
		                        .missed = true };

	snprintf(app, sizeof(app), "app%u", number);
	snprintf(model, sizeof(model), "model%u", number);
	for (unsigned i = 0; i < BSA_LIVE_PHASES; i++)
		x.phase_ns[i] = i;
	tells->execution(tells->ctx, &x);
	tells->share(tells->ctx, app, 7, 1000, 2000);
	tells->lag(tells->ctx, app, 7, 5);
	tells->starved(tells->ctx, &(struct bsa_live_starved){ app, model, number + 1, 7, 0, 1000000000 });
	tells->mapped(tells->ctx, app, "input", 4096);
}

/* After many apps the memory is no more than all label sets take. NNB_APPS: the number of apps. */
static void apps_that_come_and_go_take_bounded_memory(void **state)
{
	enum { USUAL = 10000, SCRAPED_EACH = 2500, MEMORY = 6 << 20 };
	const char *wanted = getenv("NNB_APPS");
	unsigned apps = wanted ? (unsigned)strtoul(wanted, NULL, 10) : USUAL;
	struct bsv_metrics *m;
	struct bsv_metrics_of_live *f;
	struct bsa_live_calls tells;
	struct scraper s = { .increase = 0 };
	size_t before = mallinfo2().uordblks, most = 0;

	(void)state;
	m = metrics_new();
	f = bsv_metrics_of_live_new(m);
	assert_non_null(f);
	tells = bsv_metrics_of_live_calls(f);
	for (unsigned i = 0; i < apps; i++) {
		size_t used;

		bsv_metrics_at(m, i * (MINUTE / 600));
		app_lives(&tells, i);
		if ((i + 1) % SCRAPED_EACH)
			continue;
		scrape(&s, m);
		used = mallinfo2().uordblks - before;
		most = used > most ? used : most;
		assert_true(bsv_metrics_series(m) <= BSV_SERIES_MAX);
	}
	print_message("%u apps: at most %zu KiB, %zu series\n", apps, most >> 10, bsv_metrics_series(m));
	assert_true(most < MEMORY);
	assert_int_equal(
		scraped(m, "nnburst_pool_mappings_total{owner=\"other\",kind=\"other\"} ") +
			(long long)scraped(m, "burstscope_dropped_label_sets_total{metric=\"nnburst_pool_mappings\"} "),
		apps - POOL_SETS);
	bsv_metrics_of_live_free(f);
	bsv_metrics_free(m);
}

/* A histogram's buckets go with its set, and begin at 0 when its app returns. */
static void a_histogram_begins_again(void **state)
{
	const unsigned histograms = bsv_metric_infos[BSV_METRIC_DURATION].most;
	struct bsv_metrics *m = metrics_new();
	char name[20];
	const char *who[] = { name, "net", "burst" };

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		bsv_metrics_at(m, round * 20 * MINUTE);
		bsv_metrics_scraped(m);
		for (unsigned i = 0; i < histograms; i++) {
			snprintf(name, sizeof(name), "app%u", round % 2 * histograms + i);
			bsv_metric_observe(bsv_metrics_set(m, BSV_METRIC_DURATION, who), 20000);
		}
	}
	assert_int_equal(
		scraped(m, "nnburst_execution_duration_seconds_count{app=\"app0\",model=\"net\",path=\"burst\"} "), 1);
	assert_int_equal(scraped(m, "nnburst_execution_duration_seconds_bucket{app=\"app0\",model=\"net\",path="
	                            "\"burst\",le=\"+Inf\"} "),
	                 1);
	bsv_metrics_free(m);
}

/*
 * The names of these apps have the same FNV-1a hash, of 64 bits, as names of an app that wants to spoil the figures
 * of another one may have.
 */
static void apps_with_the_same_hash_have_sets_of_their_own(void **state)
{
	static const char *const names[] = { "8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ" };
	struct bsv_metrics *m = metrics_new();
	struct bsv_metric_set *sets[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		sets[i] = bsv_metrics_set(m, BSV_METRIC_STARVATIONS, &names[i]);
		bsv_metric_add(sets[i], i + 1);
	}
	assert_ptr_not_equal(sets[0], sets[1]);
	for (int i = 0; i < 2; i++)
		assert_ptr_equal(bsv_metrics_set(m, BSV_METRIC_STARVATIONS, &names[i]), sets[i]);
	assert_int_equal(scraped(m, "nnburst_starvations_total{app=\"8yn0iYCKYHlIj4-BwPqk\"} "), 1);
	assert_int_equal(scraped(m, "nnburst_starvations_total{app=\"GReLUrM4wMqfg9yzV3KQ\"} "), 2);

	/* The set of the second app is found after that of the first one was dropped. */
	bsv_metrics_scraped(m);
	bsv_metrics_at(m, BSV_METRIC_IDLE_NS);
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_STARVATIONS, &names[1]), 1);
	for (unsigned i = 0; i < MOST - 1; i++)
		count(m, "app", i, 1);
	assert_int_equal(DROPPED(m), 1);
	assert_ptr_equal(bsv_metrics_set(m, BSV_METRIC_STARVATIONS, &names[1]), sets[1]);
	assert_int_equal(scraped(m, "nnburst_starvations_total{app=\"8yn0iYCKYHlIj4-BwPqk\"} "), -1);
	assert_int_equal(scraped(m, "nnburst_starvations_total{app=\"GReLUrM4wMqfg9yzV3KQ\"} "), 3);
	bsv_metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_apps_are_other_while_no_set_is_idle),
		cmocka_unit_test(idle_sets_give_way_and_nothing_is_counted_twice),
		cmocka_unit_test(a_set_stays_until_a_scraper_has_read_it),
		cmocka_unit_test(a_user_with_all_sets_gives_up_half_for_another),
		cmocka_unit_test(an_idle_set_goes_before_one_of_the_user_with_most),
		cmocka_unit_test(an_execution_takes_sets_of_its_user),
		cmocka_unit_test(sums_never_fall_and_are_exact),
		cmocka_unit_test(a_rare_scraper_misses_nothing),
		cmocka_unit_test(a_million_apps_stay_within_the_bound),
		cmocka_unit_test(apps_that_come_and_go_take_bounded_memory),
		cmocka_unit_test(a_histogram_begins_again),
		cmocka_unit_test(apps_with_the_same_hash_have_sets_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_store_stats.c -- percentiles, typical phases, starvation and causes, of many executions, compared with
 * a plain sort.
 */
#include "analyzer/stored.h"

#include "base.h"
#include "fold/blame.h"

#include <math.h>

/* ---- percentiles ---- */

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	return xorshift_next(&seed) % n;
}

/* Distributions that are hard to count in buckets. */
static uint64_t tight(void)
{
	return 12000 + random_below(7);
}

static uint64_t wide(void)
{
	return random_below(UINT64_MAX >> 2) >> random_below(60);
}

static uint64_t two_heaps(void)
{
	return random_below(100) < 90 ? 500 + random_below(30) : 5000000000 + random_below(1000000000);
}

static uint64_t constant(void)
{
	return 777;
}

static uint64_t just_beyond_32_bits(void)
{
	return UINT32_MAX - 3 + random_below(6);
}

static uint64_t skewed(void)
{
	return (uint64_t)(1000 * exp((double)random_below(1000000) / 100000));
}

enum { N_MAX = 30000 };

static uint64_t values[N_MAX];

/* Compare the table with the n-th of the sorted values. */
static void check(const char *path, const char *what, const char *model, const char *phase, size_t n)
{
	static const unsigned permille[] = { 500, 900, 950, 990, 999 };
	char sql[256], expected[256];
	size_t length;
	uint64_t sum = 0;

	qsort(values, n, sizeof(*values), by_number);
	for (size_t i = 0; i < n; i++)
		sum = sum + values[i] < sum ? UINT64_MAX : sum + values[i];
	if (sum > UINT64_C(1) << 62)
		sum = UINT64_C(1) << 62;
	length = (size_t)snprintf(expected, sizeof(expected), "%zu|%llu|%llu", n, (unsigned long long)sum,
	                          (unsigned long long)values[0]);
	for (size_t k = 0; k < N_OF(permille); k++)
		length += (size_t)snprintf(expected + length, sizeof(expected) - length, "|%llu",
		                           (unsigned long long)values[(n * permille[k] + 999) / 1000 - 1]);
	snprintf(expected + length, sizeof(expected) - length, "|%llu\n", (unsigned long long)values[n - 1]);
	snprintf(sql, sizeof(sql),
	         "SELECT n, sum_ns, min_ns, p50_ns, p90_ns, p95_ns, p99_ns, p999_ns, max_ns FROM phase_stat WHERE "
	         "model = '%s' AND phase = '%s'",
	         model, phase);
	if (strcmp(stored_ask(path, sql), expected))
		fail_msg("%s, %zu: %s, not %s", what, n, stored_ask(path, sql), expected);
}

static const struct {
	const char *what;
	uint64_t (*value)(void);
} distributions[] = {
	{ "tight", tight },
	{ "wide", wide },
	{ "two heaps", two_heaps },
	{ "constant", constant },
	{ "just beyond 32 bits", just_beyond_32_bits },
	{ "skewed", skewed },
};

/*
 * One model for each distribution, stored by turns; the sizes are near those where chunks and methods of
 * counting change.
 */
static void percentiles_are_those_of_a_sort(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 10, 255, 256, 257, 1000, 2047, 2048, 2049, N_MAX };
	const char *path = *state;

	for (size_t k = 0; k < N_OF(sizes); k++) {
		struct bsa_store *s = stored_new(path, "a", false);
		struct bsa_facts facts = bsa_store_facts(s);

		for (uint32_t d = 0; d < N_OF(distributions); d++) {
			struct bsa_model m = { .id = d + 1, .trace = 1 };

			snprintf(m.name, sizeof(m.name), "m%u", d);
			facts.model(facts.ctx, &m);
		}
		seed = 88172645463325252;
		for (size_t i = 0; i < sizes[k]; i++)
			for (uint32_t d = 0; d < N_OF(distributions); d++) {
				struct bsa_execution x = stored_warm(i * N_OF(distributions) + d + 1, i);

				x.model = d + 1;
				x.phase[BSA_RETURN] = distributions[d].value();
				facts.execution(facts.ctx, &x);
			}
		stored_finish(s);
		for (uint32_t d = 0; d < N_OF(distributions); d++) {
			char name[16];

			snprintf(name, sizeof(name), "m%u", d);
			seed = 88172645463325252;
			for (size_t i = 0; i < sizes[k]; i++)
				for (uint32_t other = 0; other < N_OF(distributions); other++) {
					uint64_t v = distributions[other].value();

					if (other == d)
						values[i] = v;
				}
			check(path, distributions[d].what, name, "return", sizes[k]);
		}
	}
}

/* More groups than there is room for: chunks are written before they are full. */
static void many_groups_are_kept_apart(void **state)
{
	enum { GROUPS = 1000, EACH = 7 };
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (uint64_t i = 0; i < GROUPS * EACH; i++) {
		struct bsa_execution x = stored_warm(i + 1, i);

		x.app = 1 + (uint32_t)(i % GROUPS);
		x.e2e = i;
		facts.execution(facts.ctx, &x);
	}
	stored_finish(s);
	assert_rows(path, "SELECT count(*), min(n), max(n) FROM phase_stat WHERE phase = 'e2e'", "1000|7|7\n");
	assert_rows(path,
	            "SELECT count(*) FROM phase_stat WHERE phase = 'e2e' AND (min_ns <> app_id - 1 OR max_ns <> app_id "
	            "- 1 + 6 * 1000"
	            " OR p50_ns <> app_id - 1 + 3 * 1000)",
	            "0\n");
}

/*
 * The statistics of a group with one execution are larger than the execution, so groups beyond the first ones
 * share one group.
 */
static void too_many_groups_are_one(void **state)
{
	enum { GROUPS = 5000, FEW = 1024, KINDS = 4096 };
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (uint64_t i = 0; i < GROUPS; i++) {
		struct bsa_execution x = stored_warm(i + 1, i);

		x.app = 1 + (uint32_t)i;
		x.e2e = i;
		facts.execution(facts.ctx, &x);
	}
	for (uint64_t i = GROUPS; i < (uint64_t)GROUPS + 8 * FEW;
	     i++) { /* more executions allow more groups, but joined groups stay joined */
		struct bsa_execution x = stored_warm(i + 1, i);

		x.app = 1;
		facts.execution(facts.ctx, &x);
	}
	stored_finish(s);
	assert_rows(path,
	            "SELECT count(*), count(app_id), sum(n), sum(n) FILTER (WHERE app_id IS NULL) FROM phase_stat "
	            "WHERE phase = 'e2e'",
	            "1025|1024|13192|3976\n");
	assert_rows(path, "SELECT n, min_ns, max_ns FROM phase_stat WHERE phase = 'e2e' AND app_id IS NULL",
	            "3976|1024|4999\n");
	assert_rows(path,
	            "SELECT count(*), count(app_id), sum(n), sum(n) FILTER (WHERE app_id IS NULL) FROM execution_count",
	            "4097|4096|13192|904\n");
	assert_rows(path,
	            "SELECT key, value FROM meta WHERE key IN ('joined_statistics', 'joined_counts') ORDER BY key",
	            "joined_counts|904\njoined_statistics|3976\n");
}

/* App, name of the model, priority, path and cold make a group. The name may come after the executions. */
static void groups_are_those_of_the_names(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x;
	uint64_t id = 0;

#define ONE(...)                                \
	do {                                    \
		x = stored_warm(++id, 0);       \
		__VA_ARGS__;                    \
		facts.execution(facts.ctx, &x); \
	} while (0)
	ONE(x.model = 1);
	ONE(x.model = 2, x.e2e = 500);
	ONE(x.model = 3);
	ONE(x.app = 2);
	ONE(x.app = 0);
	ONE(x.priority = 2);
	ONE(x.path = BSA_PATH_SYNC, x.cold = -1);
	ONE(x.cold = 1);
	ONE(x.idle = false);              /* the same group as the first, but not typical */
	ONE(x.quality = BSA_QUALITY_GAP); /* not complete: in no group */
	facts.model(facts.ctx, &(struct bsa_model){ .id = 1, .name = "one" });
	facts.model(facts.ctx, &(struct bsa_model){ .id = 2, .name = "one" });
	facts.model(facts.ctx, &(struct bsa_model){ .id = 3, .name = "three" });
	stored_finish(s);
	assert_rows(
		path,
		"SELECT app_id, model, priority, path, cold, n, min_ns, max_ns FROM phase_stat WHERE phase = 'e2e' "
		"ORDER BY 1, 2, 3, 4, 5",
		"-|one|medium|burst|0|1|450|450\n1|one|high|burst|0|1|450|450\n1|one|medium|burst|0|3|450|500\n1|one|"
		"medium|burst|1|1|450|450\n"
		"1|one|medium|sync|-|1|450|450\n1|three|medium|burst|0|1|450|450\n2|one|medium|burst|0|1|450|450\n");
	/* Only phases that a path has. */
	assert_rows(path, "SELECT DISTINCT phase FROM phase_stat ORDER BY 1",
	            "decode\ne2e\nfinish\noverhead\npreempted\nprepare\nqueue\nreply\nreturn\nrun\nsend\nslots\n");
}

/* Overhead is all time but the useful run: a run that was done twice is overhead once. */
static void overhead_is_all_but_the_useful_run(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_warm(1, 0);

	x.redo = 20;
	facts.execution(facts.ctx, &x);
	x = stored_warm(2, 0);
	x.phase[BSA_RUN] = x.run = BSA_NEVER; /* from one side: unknown */
	facts.execution(facts.ctx, &x);
	stored_finish(s);
	assert_rows(path, "SELECT n, min_ns FROM phase_stat WHERE phase = 'overhead'", "1|410\n");
	assert_rows(path, "SELECT n, min_ns FROM phase_stat WHERE phase = 'e2e'", "2|450\n");
}

#define CAUSES "SELECT cause, n, sum_ns FROM overhead_cause WHERE app_id = 1 ORDER BY sum_ns, cause"
#define NONE_OVER                                                                                                    \
	"SELECT count(*) FROM phase_stat s WHERE phase = 'overhead' AND sum_ns <> (SELECT sum(c.sum_ns) FROM "       \
	"overhead_cause c WHERE c.app_id IS s.app_id AND c.model = s.model AND c.priority IS s.priority AND c.path " \
	"IS "                                                                                                        \
	"s.path AND c.cold IS s.cold)"

/*
 * Three executions: one slept, one is half known, and one waited. Prepare to finish take 10 to 90 each, and
 * run is 60 of that.
 */
static void overhead_has_causes(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x;
	uint64_t id = 0;

	ONE(x.request.slept = 7, x.result.spun = 9);
	ONE(x.request = (struct bsa_waited){ 4, 0, BSA_NEVER }, x.result = (struct bsa_waited){ 100, BSA_NEVER, 0 });
	ONE(x.idle = false, x.waited[BSA_CROWDED_OUT - BSA_QUEUED_BEHIND] = 30,
	    x.waited[BSA_HANDOVER - BSA_QUEUED_BEHIND] = 15, x.redo = 25);
	ONE(x.app = 2, x.cold = 1);
	ONE(x.app = 2, x.cold = 1, x.status = BSA_STATUS_MISSED_DEADLINE_PERSISTENT);
	ONE(x.app = 2, x.cold = 1, x.quality = BSA_QUALITY_GAP);
	stored_finish(s);
	assert_rows(path, CAUSES,
	            "woken_late|1|20\nredo|1|25\nunknown|2|25\ncrowded_out|1|30\nqueue_full|1|74\nhandover|3|115\n"
	            "polled_late|3|260\nclient|3|296\nservice|3|350\n");
	assert_rows(path, "SELECT cause, n, sum_ns, cold FROM overhead_cause WHERE app_id = 2 ORDER BY cause",
	            "client|1|100|1\ncold|1|40|1\nhandover|1|50|1\npolled_late|1|100|1\nservice|1|100|1\n");
	assert_rows(path, NONE_OVER, "0\n");
}

/* Sums that are too large are cut where phase_stat cuts them; another import has groups of its own. */
static void causes_of_overhead_sum_to_it(void **state)
{
	const char *path = *state;
	struct bsa_execution x;
	uint64_t id = 0;

	for (unsigned import = 0; import < 2; import++) {
		struct bsa_store *s = stored_new(path, import ? "b" : "a", import);
		struct bsa_facts facts = bsa_store_facts(s);

		for (unsigned i = 0; i < 100; i++) {
			ONE(x.app = 1 + 2 * import, x.model = 1 + i % 3);
			ONE(x.app = 2 + 2 * import, x.phase[BSA_SEND] = UINT64_C(1) << 60,
			    x.e2e = 430 + (UINT64_C(1) << 60), x.phase[BSA_FINISH] = i);
		}
		stored_finish(s);
	}
	assert_rows(path, NONE_OVER, "0\n");
	assert_rows(path, "SELECT app_id, sum(sum_ns) FROM overhead_cause GROUP BY 1",
	            "1|39000\n2|4611686018427387904\n3|39000\n4|4611686018427387904\n");
}

/* ---- of all executions ---- */

static void slowdown_is_exact(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x;
	uint64_t id = 0;

	for (unsigned i = 1; i <= 200; i++) {
		ONE(x.e2e = 3 * i, x.phase[BSA_RUN] = x.run = 2);
		ONE(x.app = 2, x.e2e = UINT64_C(1) << 61, x.phase[BSA_RUN] = x.run = i);
	}
	ONE(x.phase[BSA_RUN] = x.run = 0);
	ONE(x.phase[BSA_RUN] = x.run = BSA_NEVER);
	ONE(x.app = 3, x.status = BSA_STATUS_MISSED_DEADLINE_PERSISTENT);
	ONE(x.app = 4, x.e2e = 20, x.phase[BSA_RUN] = x.run = 3);
	stored_finish(s);
	assert_rows(path, "SELECT app_id, n, p50, p99 FROM app_slowdown WHERE app_id <> 2 ORDER BY 1",
	            "1|200|150.0|297.0\n4|1|6.6666|6.6666\n");
	assert_rows(path, "SELECT n FROM app_slowdown WHERE app_id = 2", "200\n");
}

#define COUNTS                                                                                                   \
	"SELECT app_id, model, priority, path, status, miss, quality, sides, n, deadlines FROM execution_count " \
	"ORDER BY n DESC, 1, 2, 3, 4, 5"

static void all_are_counted(void **state)
{
	const char *path = *state;
	struct bsa_execution x;
	uint64_t id = 0;

	for (unsigned import = 0; import < 2; import++) {
		struct bsa_store *s = stored_new(path, import ? "b" : "a", import);
		struct bsa_facts facts = bsa_store_facts(s);

		ONE(x.model = 1 + 3 * import);
		ONE(x.model = 2 + 3 * import, x.deadline = 5);
		ONE(x.model = 3 + 3 * import);
		ONE(x = stored_unknown(id), x.app = 7);
		ONE(x.status = BSA_STATUS_MISSED_DEADLINE_TRANSIENT, x.miss = BSA_MISS_PREDICTED, x.deadline = 1,
		    x.model = 0);
		facts.model(facts.ctx, &(struct bsa_model){ .id = 1 + 3 * import, .name = "one" });
		facts.model(facts.ctx, &(struct bsa_model){ .id = 2 + 3 * import, .name = "one" });
		facts.model(facts.ctx, &(struct bsa_model){ .id = 3 + 3 * import, .name = "other" });
		stored_finish(s);
	}
	assert_rows(path, COUNTS,
	            "1|one|medium|burst|NONE|-|complete|both|4|2\n"
	            "1||medium|burst|MISSED_DEADLINE_TRANSIENT|predicted|complete|both|2|2\n"
	            "1|other|medium|burst|NONE|-|complete|both|2|0\n"
	            "7||-|-|-|-|open|both|2|0\n");
}

static void executions_are_found_by_time(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x;

	for (uint64_t id = 3000; id >= 1000; id -= 10) {
		x = stored_warm(id, id * 1000);
		if (id == 2500) /* a very long wait */
			x.at[BSA_RETURNED] = UINT64_MAX - 1;
		if (id == 1500)
			x = stored_unknown(id);
		facts.execution(facts.ctx, &x);
	}
	stored_finish(s);
	assert_rows(path, "SELECT first_id, last_id, began, ended FROM id_block ORDER BY 1",
	            "1000|1020|2000000|2020450\n1030|2040|2030000|3040450\n2050|3000|3050000|4611686018427387904\n");
}

/*
 * The first of equal ones; the worst of two imports. An execution submitted after its deadline does not
 * count, however late.
 */
static void the_worst_are_known(void **state)
{
	static const struct {
		int64_t late, slow;
		const char *worst;
	} imports[] = {
		{ 100, 1000, "12|11\n" }, { 99, 1000, "12|11\n" }, { 101, 999, "32|11\n" }, { 1, 1001, "32|41\n" }
	};
	const char *path = *state;
	struct bsa_execution x;

	for (unsigned i = 0; i < N_OF(imports); i++) {
		struct bsa_store *s = stored_new(path, i ? (const char[]){ (char)('a' + i), 0 } : "a", i > 0);
		struct bsa_facts facts = bsa_store_facts(s);
		uint64_t id = 10 * (i + 1);

		ONE(x.miss = BSA_MISS_LATE, x.lateness = -5, x.e2e = (uint64_t)imports[i].slow);
		ONE(x.miss = BSA_MISS_LATE, x.lateness = imports[i].late);
		ONE(x.miss = BSA_MISS_LATE, x.lateness = imports[i].late, x.e2e = (uint64_t)imports[i].slow);
		ONE(x.miss = BSA_MISS_LATE, x.lateness = 5000, x.at[BSA_SUBMITTED] = 50, x.deadline = 40);
		stored_finish(s);
		assert_rows(path,
		            "SELECT (SELECT value FROM meta WHERE key = 'latest_miss'), (SELECT value FROM meta WHERE "
		            "key = "
		            "'slowest')",
		            imports[i].worst);
	}
}

/* ---- typical phases ---- */

static void typical_is_of_the_undisturbed(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x;
	uint64_t id = 0;

	facts.model(facts.ctx, &(struct bsa_model){ .id = 1, .estimate_ns = 5000 });
	facts.model(facts.ctx, &(struct bsa_model){ .id = 2, .estimate_ns = BSA_NEVER });
	for (unsigned i = 0; i < 9; i++)
		ONE(x.phase[BSA_RUN] = x.run = 100 + i, x.app = 1 + i % 2, x.priority = i % 3);
	for (unsigned i = 0; i < 20; i++) {
		ONE(x.phase[BSA_RUN] = 1, x.cold = 1);
		ONE(x.phase[BSA_RUN] = 1, x.idle = false);
		ONE(x.phase[BSA_RUN] = 1, x.preemptions = 1);
		ONE(x.phase[BSA_RUN] = 1, x.redo = 1);
		ONE(x.phase[BSA_RUN] = 1, x.quality = BSA_QUALITY_GAP);
	}
	for (unsigned i = 0; i < 4; i++) {
		ONE(x.path = BSA_PATH_SYNC, x.cold = -1);
		ONE(x.model = 2);
	}
	ONE(x.model = 3);
	stored_finish(s);
	assert_rows(path,
	            "SELECT model_id, path, n, p50_ns, estimated, runs FROM typical WHERE phase = 'run' ORDER BY 1, 2",
	            "1|burst|9|104|0|9\n1|sync|4|60|0|4\n2|burst|4|60|0|4\n3|burst|1|60|0|1\n");
	assert_rows(path, "SELECT p50_ns FROM typical WHERE phase = 'queue' ORDER BY model_id, path", "50\n-\n-\n-\n");
	assert_rows(path, "SELECT count(*) FROM typical", "48\n");
}

/*
 * Under preemption no execution may find a lane idle and keep it. The typical run is then no longer than recorded runs,
 * whatever the service estimated, and of each run only what it needed: not what it did again.
 */
static void a_recorded_run_is_typical_rather_than_an_estimate(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x;
	uint64_t id = 0;

	for (uint32_t model = 1; model <= 5; model++)
		facts.model(facts.ctx, &(struct bsa_model){ .id = model, .estimate_ns = 5000 });
	for (unsigned i = 0; i < 9; i++) {
		ONE(x.phase[BSA_RUN] = x.run = 100 + i, x.preemptions = 1, x.idle = false);  /* preempt save */
		ONE(x.model = 2, x.phase[BSA_RUN] = x.run = 1000 + 2 * i, x.redo = 900 + i); /* preempt restart */
	}
	/* Cold runs count if there are no others; runs that are not known whole never. */
	for (unsigned i = 0; i < 4; i++) {
		ONE(x.model = 3, x.phase[BSA_RUN] = x.run = 700, x.cold = 1);
		ONE(x.model = 4, x.phase[BSA_RUN] = x.run = 700, x.cold = 1);
		ONE(x.model = 5, x.quality = BSA_QUALITY_GAP);
		ONE(x.model = 5, x.redo = BSA_NEVER);
	}
	ONE(x.model = 3, x.phase[BSA_RUN] = x.run = 600, x.idle = false);
	stored_finish(s);
	assert_rows(path,
	            "SELECT model_id, n, p50_ns, estimated, runs, least_ns FROM typical WHERE phase = 'run' ORDER BY 1",
	            "1|0|104|0|9|100\n2|0|104|0|9|100\n3|0|600|0|1|600\n4|0|700|0|4|700\n5|0|5000|1|0|-\n");
}

/* ---- starvation ---- */

static void a_wait_is_starvation_if_it_is_long_for_its_model(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x;
	uint64_t id = 0;

	for (unsigned i = 0; i < 3; i++)
		ONE(x.phase[BSA_RUN] = 20000000 + i - 1);
	facts.starved(facts.ctx, &(struct bsa_starved){ .execution = 1, .gap = 200000000, .model = 1 });
	facts.starved(facts.ctx, &(struct bsa_starved){ .execution = 2, .gap = 200000001, .model = 1 });
	facts.starved(facts.ctx,
	              &(struct bsa_starved){ .execution = 3, .gap = 100000001, .model = 2 }); /* the run is unknown */
	facts.starved(facts.ctx, &(struct bsa_starved){ .execution = 4, .gap = 100000001 });
	stored_finish(s);
	assert_rows(path, "SELECT execution_id FROM starvation", "2\n3\n4\n");
	/* The rows of an earlier import stay. */
	s = stored_new(path, "b", true);
	facts = bsa_store_facts(s);
	id = 10;
	ONE(x.phase[BSA_RUN] = 900000000, x.model = 2);
	facts.starved(facts.ctx, &(struct bsa_starved){ .execution = 11, .gap = 8000000000, .model = 2 });
	stored_finish(s);
	assert_rows(path, "SELECT execution_id FROM starvation", "2\n3\n4\n");
}

/* ---- causes ---- */

/* blame gets the facts as they were, and its results are stored. test_blame covers the ledgers. */
static void causes_are_those_of_blame(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x, missed;
	struct bsa_typical typical = { .n = 6 };
	struct bsa_wait waits[] = {
		{ .execution = 50,
		  .began = 10100,
		  .ended = 10150,
		  .blocker = 8,
		  .blocker_app = 3,
		  .occupancy = BSA_HELD,
		  .cause = BSA_CROWDED_OUT },
		{ .execution = 50,
		  .began = 10150,
		  .ended = 10900,
		  .blocker = 9,
		  .blocker_app = 1,
		  .occupancy = BSA_HELD,
		  .cause = BSA_INVERSION },
	};
	struct bsa_blamed blamed[BSA_CAUSES + 2];
	struct bsa_missed m = { .execution = &missed, .typical = &typical, .waits = waits, .n_waits = 2 };
	char expected[4096] = "";
	uint64_t id = 0;
	size_t n;

	for (unsigned i = 0; i < 6; i++)
		ONE((void)0);
	memcpy(typical.phase, x.phase, sizeof(typical.phase));
	missed = stored_warm(50, 10000);
	missed.idle = false;
	for (unsigned b = BSA_DISPATCHED; b <= BSA_RETURNED; b++)
		missed.at[b] += 650;
	missed.at[BSA_ENQUEUED] = 10100;
	missed.phase[BSA_QUEUE] = missed.queue = 800;
	missed.e2e += 650 + 0;
	missed.at[BSA_RETURNED] = 10000 + missed.e2e;
	missed.deadline = 10500;
	missed.miss = BSA_MISS_LATE;
	missed.lateness = (int64_t)(missed.at[BSA_RETURNED] - missed.deadline);
	facts.execution(facts.ctx, &missed);
	facts.wait(facts.ctx, &waits[1]); /* in any order */
	facts.wait(facts.ctx, &waits[0]);
	stored_finish(s);

	n = bsa_blame(&m, blamed, N_OF(blamed));
	assert_true(n > 2);
	for (size_t i = 0; i < n; i++)
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
		         "%u|%llu|%u|%lld|%lld|%d|%d\n", blamed[i].cause, (unsigned long long)blamed[i].culprit,
		         blamed[i].culprit_app, (long long)blamed[i].budget_ns, (long long)blamed[i].late_ns,
		         blamed[i].saved, blamed[i].is_primary);
	assert_rows(path,
	            "SELECT cause, coalesce(culprit_execution_id, 0), coalesce(culprit_app_id, 0), budget_ns, late_ns, "
	            "coalesce(saved, -1), is_primary"
	            " FROM stored_miss_cause WHERE execution_id = 50 ORDER BY nth",
	            expected);
	assert_rows(path, "SELECT cause, culprit_execution_id, culprit_app_id FROM miss_cause WHERE is_primary",
	            "inversion|9|1\n");
	assert_rows(path, "SELECT sum(late_ns) - (SELECT lateness_ns FROM execution WHERE id = 50) FROM miss_cause",
	            "0\n");
	assert_rows(path,
	            "SELECT (SELECT count(*) FROM miss_cause), sum(n), sum(misses), sum(late_ns) - (SELECT "
	            "sum(late_ns) FROM miss_cause), "
	            "sum(budget_ns) - (SELECT sum(budget_ns) FROM miss_cause), min(lost_ns >= late_ns) FROM miss_stat",
	            "8|8|1|0|0|1\n");
	assert_rows(path, "SELECT * FROM miss_stat WHERE misses", "1||medium|inversion|1|1|0|0|750|750|750|350|1\n");
	assert_rows(path, "SELECT * FROM culprit_stat", "1|1||-|inversion|1|750\n1|3||-|crowded_out|0|50\n");
}

/* ---- functions ---- */

static char *ask(struct bsa_db *db, const char *sql)
{
	static char text[600];
	struct bsa_query *q = NULL;
	struct bsa_err err = { "" };
	const char *got;
	int r = bsa_query_new(&q, db, sql, &err);

	if (!r)
		r = bsa_query_step(q, &err);
	if (r < 0) {
		snprintf(text, sizeof(text), "! %s", err.text);
	} else {
		got = r ? bsa_query_get_string(q, 0, NULL) : "none";
		snprintf(text, sizeof(text), "%s", got ? got : "-");
	}
	bsa_query_free(q);
	return text;
}

/* Causes of missed deadlines, added up: execution, cause, primary, late, budget, saved, persistent, replayed, met. */
static void causes_add_up(void **state)
{
#define SUMS(rows)                                                                                                \
	"SELECT miss_sums(column1, column2, column3, column4, column5, column6, column7, column8, column9) FROM " \
	"(VALUES " rows ")"
	/* each: cause, n, misses, persistent, saved, lost, worst, late, budget, unsure */
	static const struct {
		const char *what, *sql, *gives;
	} rows[] = {
		{ "one cause", SUMS("(1, 'hogged', 1, 500, -20, 1, 0, 0, NULL)"),
		  "[[\"hogged\",1,1,0,1,500,500,500,-20,0]]" },
		{ "two executions",
		  SUMS("(1, 'hogged', 1, 500, 1, 1, 0, 0, NULL), (1, 'client', 0, 30, 2, 0, 0, 0, NULL), "
		       "(2, 'hogged', 0, 700, 4, 0, 1, 0, NULL), (2, 'client', 1, 40, 8, 0, 1, 0, NULL)"),
		  "[[\"hogged\",2,1,0,1,1200,700,1200,5,0],[\"client\",2,1,1,0,70,40,70,10,0]]" },
		{ "the status is not known",
		  SUMS("(1, 'hogged', 1, 500, 0, 0, NULL, 0, NULL), (1, 'client', 0, 30, 0, 0, NULL, 0, NULL)"),
		  "[[\"hogged\",1,1,null,0,500,500,500,0,0],[\"client\",1,0,0,0,30,30,30,0,0]]" },
		{ "the status of one is not known",
		  SUMS("(1, 'hogged', 1, 5, 0, 0, NULL, 0, NULL), (2, 'hogged', 1, 5, 0, 0, 1, 0, NULL)"),
		  "[[\"hogged\",2,2,1,0,10,5,10,0,0]]" },
		{ "a cause without a name is never unsure", SUMS("(1, NULL, 1, 7, 0, NULL, 0, 0, NULL)"),
		  "[[null,1,1,0,0,7,7,7,0,0]]" },
		{ "several rows of a cause",
		  SUMS("(1, 'hogged', 0, 500, 10, 0, 0, 0, NULL), (1, 'hogged', 1, -100, 5, 0, 0, 0, NULL)"),
		  "[[\"hogged\",1,1,0,0,400,400,400,15,0]]" },
		{ "of one of which nothing is known",
		  SUMS("(1, 'hogged', 1, 500, 10, 0, 0, 0, NULL), (1, 'hogged', 0, -100, 5, NULL, 0, 0, NULL)"),
		  "[[\"hogged\",1,1,0,0,400,400,400,15,1]]" },
		{ "and another one would have saved it",
		  SUMS("(1, 'hogged', 1, 5, 0, NULL, 0, 0, NULL), (1, 'hogged', 0, 5, 0, 1, 0, 0, NULL), "
		       "(1, 'hogged', 0, 5, 0, 0, 0, 0, NULL)"),
		  "[[\"hogged\",1,1,0,1,15,15,15,0,0]]" },
		{ "a secondary cause is not unsure", SUMS("(1, 'hogged', 0, 5, 0, NULL, 0, 0, NULL)"),
		  "[[\"hogged\",1,0,0,0,5,5,5,0,0]]" },
		{ "how late is not known", SUMS("(1, 'hogged', 1, NULL, 3, 0, 0, 0, NULL)"),
		  "[[\"hogged\",1,1,0,0,null,null,0,3,0]]" },
		{ "how late is known of one",
		  SUMS("(1, 'hogged', 1, NULL, 0, 0, 0, 0, NULL), "
		       "(2, 'hogged', 1, -9, 0, 0, 0, 0, NULL)"),
		  "[[\"hogged\",2,2,0,0,0,-9,-9,0,0]]" },
		{ "time that was not used",
		  SUMS("(1, 'unused', 0, -300, 0, 0, 0, 0, NULL), (2, 'unused', 0, -200, 0, 0, 0, 0, NULL)"),
		  "[[\"unused\",2,0,0,0,0,-200,-500,0,0]]" },
		{ "a replay does not tell", SUMS("(1, 'hogged', 1, 5, 0, 1, 0, 1, NULL)"),
		  "[[\"hogged\",1,1,0,0,5,5,5,0,1]]" },
		{ "a replay meets it", SUMS("(1, 'hogged', 1, 5, 0, NULL, 0, 1, 1)"),
		  "[[\"hogged\",1,1,0,1,5,5,5,0,0]]" },
		{ "a replay misses it", SUMS("(1, 'hogged', 1, 5, 0, 1, 0, 1, 0)"),
		  "[[\"hogged\",1,1,0,0,5,5,5,0,0]]" },
		{ "too little time, and another cause may have saved it",
		  SUMS("(1, 'too_tight', 1, 5, 0, NULL, 1, 0, NULL), (1, 'client', 0, 5, 0, NULL, 1, 0, NULL)"),
		  "[[\"too_tight\",1,1,1,0,5,5,5,0,1],[\"client\",1,0,0,0,5,5,5,0,0]]" },
		{ "too little time, and no other cause may",
		  SUMS("(1, 'client', 0, 5, 0, 0, 0, 0, NULL), (1, 'submitted_late', 1, 5, 0, NULL, 0, 0, NULL)"),
		  "[[\"client\",1,0,0,0,5,5,5,0,0],[\"submitted_late\",1,1,0,0,5,5,5,0,0]]" },
		{ "too little time, and the other cause is unknown",
		  SUMS("(1, NULL, 0, 7, 0, NULL, 0, 0, NULL), (1, 'too_tight', 1, 3, 0, NULL, 0, 0, NULL)"),
		  "[[null,1,0,0,0,7,7,7,0,0],[\"too_tight\",1,1,0,0,3,3,3,0,0]]" },
		{ "the cause of another execution saves nothing here",
		  SUMS("(1, 'client', 0, 5, 0, 1, 0, 0, NULL), (2, 'too_tight', 1, 3, 0, NULL, 0, 0, NULL)"),
		  "[[\"client\",1,0,0,1,5,5,5,0,0],[\"too_tight\",1,1,0,0,3,3,3,0,0]]" },
		{ "too big, and the service answered so",
		  SUMS("(1, 'too_big', 1, 5, 0, NULL, 1, 0, NULL), (1, 'client', 0, 5, 0, 1, 1, 0, NULL)"),
		  "[[\"too_big\",1,1,1,0,5,5,5,0,0],[\"client\",1,0,0,1,5,5,5,0,0]]" },
		{ "too big, and the service did not answer so",
		  SUMS("(1, 'too_big', 1, 5, 0, NULL, 0, 0, NULL), (1, 'client', 0, 5, 0, 1, 0, 0, NULL)"),
		  "[[\"too_big\",1,1,0,0,5,5,5,0,1],[\"client\",1,0,0,1,5,5,5,0,0]]" },
		{ "too big, and the service's answer is not known",
		  SUMS("(1, 'too_big', 1, 5, 0, NULL, NULL, 0, NULL), (1, 'client', 0, 5, 0, 1, NULL, 0, NULL)"),
		  "[[\"too_big\",1,1,null,0,5,5,5,0,1],[\"client\",1,0,0,1,5,5,5,0,0]]" },
		{ "rows of an execution that are apart count as two executions",
		  SUMS("(1, 'hogged', 1, 5, 0, 0, 0, 0, NULL), (2, 'hogged', 1, 5, 0, 0, 0, 0, NULL), "
		       "(1, 'hogged', 0, 5, 0, 1, 0, 0, NULL)"),
		  "[[\"hogged\",3,2,0,1,15,5,15,0,0]]" },
		{ "more causes than there are",
		  "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT "
		  "json_array_length(miss_sums(1, char(97 + i / 26, 97 + i % 26), 0, 1, 0, 0, 0, 0, NULL)) FROM n",
		  "100" },
		{ "no row", "SELECT miss_sums(1, 'hogged', 1, 5, 0, 0, 0, 0, NULL) WHERE 0", "[]" },
		{ "a sum over executions is too large",
		  SUMS("(1, 'hogged', 1, 9223372036854775807, 0, 0, 0, 0, NULL), "
		       "(2, 'hogged', 1, 1, 0, 0, 0, 0, NULL)"),
		  "! integer overflow" },
		{ "a sum over rows is too small",
		  SUMS("(1, 'hogged', 1, -9223372036854775808, 0, 0, 0, 0, NULL), "
		       "(1, 'hogged', 1, -1, 0, 0, 0, 0, NULL)"),
		  "! integer overflow" },
		{ "a budget is too large",
		  SUMS("(1, 'hogged', 1, 1, 9223372036854775807, 0, 0, 0, NULL), "
		       "(2, 'hogged', 1, 1, 1, 0, 0, 0, NULL)"),
		  "! integer overflow" },
		{ "no cause", SUMS("(1, 'No\"cause', 1, 1, 0, 0, 0, 0, NULL)"),
		  "! miss_sums: the second value is no cause" },
	};
#undef SUMS
	const char *path = *state;
	struct bsa_db *db = NULL;
	struct bsa_err err = { "" };

	stored_finish(stored_new(path, "a", false));
	assert_int_equal(bsa_db_open(&db, path, &err), 0);
	for (size_t i = 0; i < N_OF(rows); i++)
		if (strcmp(ask(db, rows[i].sql), rows[i].gives))
			fail_msg("%s: %s, not %s", rows[i].what, ask(db, rows[i].sql), rows[i].gives);
	bsa_db_close(db);
}

static void functions_of_queries(void **state)
{
#define OF(list) " FROM (SELECT column1 x FROM (VALUES " list "))"
	static const struct {
		const char *sql, *gives;
	} rows[] = {
		{ "SELECT percentile(x, 50)" OF("(3), (1), (2)"), "2" },
		{ "SELECT percentile(x, 50)" OF("(4), (1), (2), (3)"), "2" },
		{ "SELECT percentile(x, 0)" OF("(3), (1), (2)"), "1" },
		{ "SELECT percentile(x, 100)" OF("(3), (1), (2)"), "3" },
		{ "SELECT percentile(x, 50.1)" OF("(4), (1), (2), (3)"), "3" },
		{ "SELECT percentile(x, 50)" OF("(NULL), (7), (NULL)"), "7" },
		{ "SELECT percentile(x, 50)" OF("(NULL)"), "-" },
		{ "SELECT percentile(x, 50) FROM (SELECT 1 x WHERE 0)", "-" },
		{ "SELECT percentile(x, 100)" OF("(9223372036854775807), (9223372036854775806)"),
		  "9223372036854775807" },
		{ "SELECT percentile(x, 0)" OF("(-9223372036854775808), (5), (-1)"), "-9223372036854775808" },
		{ "SELECT percentile(x, 50)" OF("(-5), (3), (-1)"), "-1" },
		{ "SELECT percentile(x, 50)" OF("(1.5), (1), (2.5)"), "1.5" },
		{ "SELECT percentile(x, 0)" OF("(-1.5), (-2.5), (0)"), "-2.5" },
		{ "SELECT percentile(x, 100)" OF("(-1.5), (-2.5), (-9.0)"), "-1.5" },
		{ "SELECT percentile(value, 99.9) FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + "
		  "1 FROM n WHERE value < 1000)"
		  " SELECT value FROM n)",
		  "999" },
		{ "SELECT percentile(x, 101)" OF("(1)"), "! percentile(value, p): p is a number from 0 to 100" },
		{ "SELECT percentile(x, 'much')" OF("(1)"), "! percentile(value, p): p is a number from 0 to 100" },
		{ "SELECT percentile(x, 50)" OF("('text')"), "! percentile(value, p): the value is no number" },
		{ "SELECT jain(x)" OF("(5), (5), (5)"), "1.0" },
		{ "SELECT jain(x)" OF("(1), (0), (0), (0)"), "0.25" },
		{ "SELECT jain(x)" OF("(0), (0)"), "-" },
		{ "SELECT jain(x)" OF("(NULL)"), "-" },
		{ "SELECT jain(x, 3 - 2 * x)" OF("(1), (0)"), "0.25" },
		{ "SELECT jain(x, 0)" OF("(1)"), "-" },
		{ "SELECT duration(0)", "0 ns" },
		{ "SELECT duration(999)", "999 ns" },
		{ "SELECT duration(1500)", "1.500 us" },
		{ "SELECT duration(-1500000)", "-1.500 ms" },
		{ "SELECT duration(61000000000)", "61.00 s" },
		{ "SELECT duration(999950000)", "1.000 s" },
		{ "SELECT duration(284517000)", "284.5 ms" },
		{ "SELECT duration(NULL)", "-" },
		{ "SELECT duration('x')", "-" },
	};
	const char *path = *state;
	struct bsa_db *db = NULL;

	stored_finish(stored_new(path, "a", false));
	assert_int_equal(bsa_db_open(&db, path, NULL), 0);
	for (size_t i = 0; i < N_OF(rows); i++)
		if (strcmp(ask(db, rows[i].sql), rows[i].gives))
			fail_msg("%s: %s, not %s", rows[i].sql, ask(db, rows[i].sql), rows[i].gives);
	bsa_db_close(db);
}

/* In every order that is bad for a careless selection, and at random, compared with a sort. */
static void percentile_of_many_in_any_order(void **state)
{
	static const char *const orders[] = {
		"i", "-i", "i % 7", "7", "i * 7919 % 10007", "abs(i - 5000)", "i % 2 * 1000000 + i", "i * 0.5 - 3"
	};
	const char *path = *state;
	struct bsa_db *db = NULL;
	char sql[512], by_sort[64];

	stored_finish(stored_new(path, "a", false));
	assert_int_equal(bsa_db_open(&db, path, NULL), 0);
	for (size_t i = 0; i < N_OF(orders); i++)
		for (unsigned p = 1; p <= 100; p += 33) {
			const char *with =
				"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)";

			snprintf(sql, sizeof(sql), "%s SELECT %s FROM n ORDER BY 1 LIMIT 1 OFFSET %u", with, orders[i],
			         p * 100 - 1);
			strcpy(by_sort, ask(db, sql));
			snprintf(sql, sizeof(sql), "%s SELECT percentile(%s, %u) FROM n", with, orders[i], p);
			assert_string_equal(ask(db, sql), by_sort);
		}
	bsa_db_close(db);
}

#define T(f) cmocka_unit_test_setup_teardown(f, stored_setup, stored_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(percentiles_are_those_of_a_sort),
		T(many_groups_are_kept_apart),
		T(too_many_groups_are_one),
		T(groups_are_those_of_the_names),
		T(overhead_is_all_but_the_useful_run),
		T(overhead_has_causes),
		T(causes_of_overhead_sum_to_it),
		T(slowdown_is_exact),
		T(all_are_counted),
		T(executions_are_found_by_time),
		T(the_worst_are_known),
		T(typical_is_of_the_undisturbed),
		T(a_recorded_run_is_typical_rather_than_an_estimate),
		T(a_wait_is_starvation_if_it_is_long_for_its_model),
		T(causes_are_those_of_blame),
		T(causes_add_up),
		T(functions_of_queries),
		T(percentile_of_many_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

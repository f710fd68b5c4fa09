/*
 * test_joined.c -- where there are too many rows of one kind, a database adds some of them up: the sums stay
 * complete, the largest keep rows of their own, and every answer mentions the others.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/floods.h"
#include "analyzer/folders.h"
#include "analyzer/imported.h"
#include "store/inverted.h"

static void import(const char *flood, unsigned n, const char *output)
{
	const struct flood *f = floods;
	char *lines;

	while (f->name && strcmp(f->name, flood))
		f++;
	assert_non_null(f->name);
	lines = flood_lines(f, n);
	import_script(lines, &(struct bsa_importer_options){ .output = output }, NULL);
	free(lines);
}

static sqlite3 *db_of(const char *flood, unsigned n)
{
	const char *path = folder_at("db");
	sqlite3 *db;

	import(flood, n, path);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	return db;
}

/* The only number in the answer to @sql. */
static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *q = NULL;
	int64_t ret;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL))
		fail_msg("%s", sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	ret = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return ret;
}

static int64_t joined(sqlite3 *db, const char *what)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT value FROM meta WHERE key = 'joined_%s'", what);
	return number(db, sql);
}

/* Every report on the database at folder_at("db") must have @words in its coverage line. */
static void expect_coverage(const char *words)
{
#ifdef BURSTSCOPE
	static const char *const commands[] = { "summary", "priority", "fairness", "misses", "latency", "overhead" };
	char command[1024], line[1 << 16];

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		bool said = false;
		FILE *from;

		snprintf(command, sizeof(command), "'%s' %s '%s' --format json", BURSTSCOPE, commands[i],
		         folder_at("db"));
		from = popen(command, "r");
		assert_non_null(from);
		while (fgets(line, sizeof(line), from))
			said = said || (strstr(line, "\"coverage\"") && strstr(line, words));
		pclose(from);
		if (!said)
			fail_msg("%s does not print %s", commands[i], words);
	}
#else
	(void)words;
#endif
}

/*
 * All executions of high priority wait while all of low priority run: each pair is one inversion with a
 * duration.
 */
static void inversions(void **state)
{
	enum { N = 400 };
	const int64_t pairs = N / 2 * (N / 2);
	char said[128];
	sqlite3 *db = db_of("inversions", N);
	int64_t told = number(db, "SELECT count(*) FROM inversion"), lesser = joined(db, "inversions");

	(void)state;
	assert_true(pairs > INVERTED_FREE);
	assert_int_equal(told + lesser, pairs);
	assert_true(lesser > 0 && told <= INVERTED_FREE + N / 2 + (INVERTED_OF_AN_EXECUTION + INVERTED_KEPT) * N);
	assert_int_equal(number(db, "SELECT sum(n) FROM lesser_inversion"), lesser);
	/* the time that each waited for lower priorities, by its waits */
	assert_int_equal(number(db, "SELECT count(*) FROM (SELECT execution_id AS id, sum(ended - began) AS ns FROM "
	                            "wait WHERE cause = 'inversion' GROUP BY 1) w "
	                            "WHERE ns <> (SELECT sum(dur_ns) FROM inversion WHERE victim_id = w.id) + "
	                            "ifnull((SELECT sum(held_ns) FROM lesser_inversion WHERE victim_id = w.id), 0)"),
	                 0);
	assert_int_equal(number(db, "SELECT count(*) FROM lesser_inversion l WHERE longest_ns > "
	                            "(SELECT min(dur_ns) FROM (SELECT dur_ns FROM inversion WHERE victim_id = "
	                            "l.victim_id ORDER BY 1 DESC LIMIT 2))"),
	                 0);
	assert_int_equal(number(db, "SELECT count(*) FROM lesser_inversion l JOIN execution x ON x.id = l.victim_id "
	                            "WHERE l.began < x.enqueued OR l.ended > x.dispatched OR l.held_ns > l.ended - "
	                            "l.began OR l.longest_ns > l.held_ns"),
	                 0);
	snprintf(said, sizeof(said), "\"joined_inversions\":%" PRId64, lesser);
	expect_coverage(said);
	sqlite3_close(db);
}

static void few_inversions_have_rows_of_their_own(void **state)
{
	sqlite3 *db = db_of("inversions", 120);

	(void)state;
	assert_int_equal(number(db, "SELECT count(*) FROM inversion"), 60 * 60);
	assert_int_equal(number(db, "SELECT count(*) FROM lesser_inversion"), 0);
	assert_int_equal(joined(db, "inversions"), 0);
	sqlite3_close(db);
}

/* Each of many apps waits behind each other one: pairs beyond the limit are one row without an app. */
static void interference(void **state)
{
	enum { N = 150, PAIRS = N * (N - 1) / 2 };
	char said[128];
	sqlite3 *db = db_of("apps_wait", N);
	int64_t rows = number(db, "SELECT count(*) FROM interference WHERE by_app_id IS NOT NULL");

	(void)state;
	assert_int_equal(rows + joined(db, "interference"), PAIRS); /* one stretch for each pair */
	assert_true(rows < PAIRS);
	assert_int_equal(number(db, "SELECT count(*) FROM (SELECT x.app_id, sum(w.ended - w.began) AS ns FROM wait w "
	                            "JOIN execution x ON x.id = w.execution_id "
	                            "WHERE w.occupancy = 'held' GROUP BY 1) t WHERE ns <> (SELECT sum(ns) FROM "
	                            "interference i WHERE i.app_id = t.app_id)"),
	                 0);
	/* pairs that have rows of their own have the right sums */
	assert_int_equal(number(db,
	                        "SELECT count(*) FROM (SELECT w.blocker_app_id AS by, x.app_id, sum(w.ended - w.began) "
	                        "AS ns FROM wait w "
	                        "JOIN execution x ON x.id = w.execution_id WHERE w.occupancy = 'held' GROUP BY 1, 2) t "
	                        "JOIN interference i ON i.app_id = t.app_id AND i.by_app_id = t.by WHERE i.ns <> t.ns"),
	                 0);
	snprintf(said, sizeof(said), "\"joined_waits\":%" PRId64, joined(db, "interference"));
	expect_coverage(said);
	sqlite3_close(db);
}

/*
 * Each execution misses its deadline behind all earlier ones: of a cause with many culprits, the lesser ones
 * are one row.
 */
static void culprits(void **state)
{
	enum { N = 300 };
	char said[128];
	sqlite3 *db = db_of("apps_miss", N);

	(void)state;
	assert_true(joined(db, "causes") > 0);
	assert_int_equal(number(db, "SELECT count(*) FROM execution x WHERE x.lateness_ns > 0 AND x.lateness_ns <> "
	                            "(SELECT sum(late_ns) FROM miss_cause WHERE execution_id = x.id)"),
	                 0);
	assert_int_equal(number(db, "SELECT count(*) FROM miss_cause WHERE culprit_execution_id IS NULL AND cause IN "
	                            "('crowded_out', 'hogged')"),
	                 joined(db, "causes"));
	/* a culprit with its own row took at least as much as each in the joined row: all ran equally long */
	assert_int_equal(number(db, "SELECT count(*) FROM miss_cause c JOIN miss_cause j ON j.execution_id = "
	                            "c.execution_id AND j.cause = c.cause "
	                            "WHERE j.culprit_execution_id IS NULL AND c.culprit_execution_id IS NOT NULL AND "
	                            "c.late_ns > j.late_ns "
	                            "AND j.cause IN ('crowded_out', 'hogged')"),
	                 0);
	snprintf(said, sizeof(said), "\"joined_causes\":%" PRId64, joined(db, "causes"));
	expect_coverage(said);
	sqlite3_close(db);
}

/*
 * Each of n executions that miss behind all others has n waits. From a million waits on, the import finds
 * causes only for executions with few. The others get the cause "unknown", which has their whole lateness.
 */
#define UNREAD                                                                                                \
	"(SELECT execution_id FROM miss_cause GROUP BY 1 HAVING count(*) = 1 AND max(cause) = 'unknown' AND " \
	"max(is_primary))"

static void causes_of_too_many_waits(void **state)
{
	enum { N = 1800 };
	sqlite3 *db = db_of("apps_miss", N);
	int64_t unread = number(db, "SELECT count(*) FROM " UNREAD);

	(void)state;
	assert_in_range(unread, 1, N / 2);
	assert_int_equal(number(db, "SELECT count(*) FROM execution x WHERE x.lateness_ns > 0 AND x.lateness_ns <> "
	                            "(SELECT sum(late_ns) FROM miss_cause WHERE execution_id = x.id)"),
	                 0);
	assert_int_equal(number(db, "SELECT count(*) FROM execution WHERE lateness_ns > 0"), N);
	assert_int_equal(number(db, "SELECT count(*) FROM " UNREAD
	                            " c WHERE (SELECT count(*) FROM wait w WHERE w.execution_id "
	                            "= c.execution_id) <= 256"),
	                 0);
	assert_true(joined(db, "causes") >= unread);
	sqlite3_close(db);
}

/*
 * Answers, each of a stream of its own: beyond 4096 of these streams, and an eighth of the executions, a stream has a
 * row from its eighth execution on, or from its first one of which more is known.
 */
static void streams(void **state)
{
	enum { N = 6000, FEW = 4096, FIRST = 0x100001 };
	const char *path = folder_at("db");
	char *lines = NULL, said[128];
	size_t bytes;
	FILE *to = open_memstream(&lines, &bytes);
	sqlite3 *db;

	(void)state;
	assert_non_null(to);
	fprintf(to, "1 service_state pid=9 lanes=1 instance=1\n");
	for (unsigned i = 0; i < N; i++)
		fprintf(to, "+1 exec_return exec=%u:1 status=none\n", FIRST + i);
	for (unsigned seq = 2; seq <= 9; seq++)
		fprintf(to, "+1 exec_return exec=%u:%u status=none\n", FIRST + N - 1, seq);
	fprintf(to, "+1 exec_submit exec=%u:2 model=1 path=async\n+1 exec_return exec=%u:2 status=none\n",
	        FIRST + N - 2, FIRST + N - 2);
	fprintf(to, "+1 pool_map owner=stream owner_id=%u slot=4 bytes=64\n", FIRST + N - 3);
	assert_int_equal(fclose(to), 0);
	import_script(lines, &(struct bsa_importer_options){ .output = path }, NULL);
	free(lines);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(number(db, "SELECT count(*) FROM execution"), N + 8 + 1);
	assert_int_equal(number(db, "SELECT sum(n) FROM execution_count"), N + 8 + 1);
	assert_int_equal(number(db, "SELECT count(*) FROM stream"), FEW + 3);
	assert_int_equal(number(db, "SELECT executions FROM stream WHERE number = 0x100001 + 5999"), 9);
	assert_int_equal(number(db, "SELECT count(*) FROM execution WHERE exec >> 32 = 0x100001 + 5998 AND seq = 2"),
	                 1);
	assert_int_equal(number(db, "SELECT count(*) FROM execution WHERE stream_id IS NULL"), joined(db, "streams"));
	assert_in_range(joined(db, "streams"), N - FEW - 3, N - FEW + 7);
	snprintf(said, sizeof(said), "\"joined_streams\":%" PRId64, joined(db, "streams"));
	expect_coverage(said);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(inversions, folder_begin),
		cmocka_unit_test_setup(few_inversions_have_rows_of_their_own, folder_begin),
		cmocka_unit_test_setup(interference, folder_begin),
		cmocka_unit_test_setup(culprits, folder_begin),
		cmocka_unit_test_setup(causes_of_too_many_waits, folder_begin),
		cmocka_unit_test_setup(streams, folder_begin),
	};

	return cmocka_run_group_tests(tests, folders_make, folders_remove);
}

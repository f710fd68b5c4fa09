/*
 * test_kept.c -- a database of the last records of a session that was read only once: it has the executions of
 * that time, with their apps and models, although those were reported long before. It does not have what ended
 * earlier.
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

#include "analyzer/folders.h"
#include "analyzer/script.h"
#include "analyzer/timeline.h"
#include "live/kept.h"

enum { KEPT = 1 << 18 };

static const struct bsa_trace trace = { .path = "net://relay/host/far/s",
	                                .uuid = "1",
	                                .host = "far",
	                                .session = "",
	                                .clock = "",
	                                .clock_uuid = "",
	                                .uid = UINT32_MAX };

/* Three apps: one stays, one leaves, one comes; @n executions of the app that stays. */
static char *lines_of(unsigned n)
{
	char *text = NULL, *lines;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	assert_non_null(to);
	fputs("usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us "
	      "finish=20us\n"
	      "0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1\n"
	      "0 client_connect conn=1 pid=11 uid=1001 app=1 name=stays\n"
	      "0 client_connect conn=2 pid=12 uid=1002 app=2 name=leaves\n"
	      "0 model_prepare model=1 conn=1 name=keyword priority=medium ops=10 estimate_ns=100us\n"
	      "0 model_prepare model=2 conn=2 name=other priority=medium ops=10 estimate_ns=100us\n"
	      "0 stream_open stream=1 conn=1 path=burst model=1\n"
	      "0 stream_open stream=2 conn=2 path=burst model=2\n",
	      to);
	fprintf(to, "1ms 1:1 x%u every=1ms\n", n);
	fputs("10ms client_disconnect conn=2\n", to);
	fprintf(to, "%ums client_connect conn=3 pid=13 uid=1003 app=3 name=comes\n", n);
	fclose(to);
	lines = timeline(text, TIMELINE_COMPACT);
	free(text);
	return lines;
}

static void keep(struct bsa_kept *k, unsigned n)
{
	char *lines = lines_of(n);
	struct script *s = script_new(lines);
	const struct bsa_event *e;

	while ((e = script_next(s)))
		assert_int_equal(bsa_kept_add(k, e), 0);
	script_free(s);
	free(lines);
}

/* The database of what is kept of @n executions. */
static sqlite3 *db_of(unsigned n)
{
	const struct bsa_trace *const traces[] = { &trace, &trace }; /* the same trace twice */
	struct bsa_kept *k = bsa_kept_new(KEPT);
	const char *path = folder_at("db");
	struct bsa_err err = { "" };
	sqlite3 *db;

	assert_non_null(k);
	keep(k, n);
	if (bsa_kept_import(k, traces, 2, path, &err))
		fail_msg("%s", err.text);
	bsa_kept_free(k);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	return db;
}

/* The first value of the answer to @sql, as text, must be @wanted. */
static void expect_answer(sqlite3 *db, const char *sql, const char *wanted)
{
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL))
		fail_msg("%s", sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(q, 0), wanted);
	sqlite3_finalize(q);
}

static void few_executions_are_all_kept(void **state)
{
	sqlite3 *db = db_of(100);

	(void)state;
	expect_answer(db, "SELECT count(*) FROM execution WHERE quality = 'complete'", "100");
	expect_answer(db, "SELECT group_concat(name) FROM (SELECT name FROM app ORDER BY name)", "comes,leaves,stays");
	expect_answer(db, "SELECT count(*) FROM trace", "1");
	sqlite3_close(db);
}

static void the_last_of_many_executions_are_kept_with_their_names(void **state)
{
	sqlite3 *db = db_of(20000);

	(void)state;
	expect_answer(db, "SELECT group_concat(DISTINCT name) FROM app WHERE id IN (SELECT app_id FROM execution)",
	              "stays");
	expect_answer(db, "SELECT group_concat(DISTINCT name) FROM model WHERE id IN (SELECT model_id FROM execution)",
	              "keyword");
	/* At most one execution lost its first summary. */
	expect_answer(db, "SELECT count(*) <= 1 FROM execution WHERE quality <> 'complete'", "1");
	expect_answer(db, "SELECT group_concat(name) FROM (SELECT name FROM app ORDER BY name)", "comes,stays");
	/* The recording begins with the first record that is kept. */
	expect_answer(db, "SELECT max(ended) - min(began) BETWEEN 500000000 AND 5000000000 FROM trace", "1");
	expect_answer(db, "SELECT count(*) FROM loss", "0");
	sqlite3_close(db);
}

static void a_session_not_yet_read_gives_no_database(void **state)
{
	const struct bsa_trace *const traces[] = { &trace };
	struct bsa_kept *k = bsa_kept_new(KEPT);
	struct bsa_err err = { "" };

	(void)state;
	assert_int_equal(bsa_kept_import(k, traces, 1, folder_at("none"), &err), BSA_E_INPUT);
	assert_string_equal(err.text, "nothing has been read yet");
	bsa_kept_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(few_executions_are_all_kept, folder_begin),
		cmocka_unit_test_setup(the_last_of_many_executions_are_kept_with_their_names, folder_begin),
		cmocka_unit_test_setup(a_session_not_yet_read_gives_no_database, folder_begin),
	};

	return cmocka_run_group_tests(tests, folders_make, folders_remove);
}

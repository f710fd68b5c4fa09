/*
 * test_asked.c -- a recording of one service alone (analyzer/asked.h): which events count, and that executions
 * of other services are left out of the database.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/folders.h"
#include "analyzer/script.h"
#include "asked.h"
#include "decode/decode.h"
#include "importer.h"

/* The user asked for service 9, which has instance 1. Numbers from 0x200001 on are another service's. */
enum { ASKED = 9 };

#define SERVICE "1 service_state pid=9 instance=1 lanes=1\n"
#define OTHER(t) t " exec_submit exec=0x200002:1 path=burst\n"
#define OURS(t) t " exec_submit exec=0x100002:1 path=burst\n"

static const struct row {
	const char *name, *script;
	const char *counts, *again_counts; /* one letter per event: y, n; again_counts NULL: one pass is enough */
	uint64_t left_out;
} rows[] = {
	{ "another service's app", SERVICE OTHER("2") OURS("3") "4 exec_return exec=0x200002:1\n", "ynyn", NULL, 1 },
	{ "events before the service describes itself", OTHER("0") OURS("0") SERVICE, "yyy", "nyy", 1 },
	{ "a service that never describes itself", OTHER("0") OURS("1"), "yy", NULL, 0 },
	{ "the unexpected state of another service", "1 service_state pid=10 instance=2 lanes=1\n" SERVICE, "yy", "ny",
	  0 },
	{ "an event without a service's number", SERVICE "2 fmq_write exec=0 queue=other\n", "yy", NULL, 0 },
	{ "a deadline missed without an execution",
	  SERVICE "2 deadline_miss exec=0 model=0x200005 stage=returned\n"
	          "3 deadline_miss exec=0 model=0x100005 stage=returned\n",
	  "yny", NULL, 0 },
	{ "summaries", SERVICE "2 exec_client exec=0x200002:1 began=1\n3 exec_client exec=0x200002:2 began=1\n", "ynn",
	  NULL, 2 },
	{ "a summary of what was submitted, too", SERVICE OTHER("2") "3 exec_client exec=0x200002:1 began=2\n", "ynn",
	  NULL, 1 },
};

static void pass(const struct row *row, struct bsa_asked *a, const char *expected)
{
	struct script *s = script_new(row->script);
	const struct bsa_event *e;
	char counts[16] = "";

	while ((e = script_next(s)))
		counts[strlen(counts)] = bsa_asked_event(a, ASKED, e) ? 'y' : 'n';
	script_free(s);
	if (strcmp(counts, expected) != 0)
		fail_msg("%s: %s, not %s", row->name, counts, expected);
}

static void only_the_asked_service_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsa_asked *a = calloc(1, sizeof(*a));

		assert_non_null(a);
		pass(&rows[i], a, rows[i].counts);
		if (bsa_asked_again(a) != !!rows[i].again_counts)
			fail_msg("%s: again %d", rows[i].name, bsa_asked_again(a));
		if (rows[i].again_counts) {
			bsa_asked_rewind(a);
			pass(&rows[i], a, rows[i].again_counts);
			assert_false(bsa_asked_again(a));
		}
		if (bsa_asked_left_out(a) != rows[i].left_out)
			fail_msg("%s: %ju are left out", rows[i].name, (uintmax_t)bsa_asked_left_out(a));
		free(a);
	}
}

static void for_all_services_every_event_counts(void **state)
{
	struct bsa_event *e = script_record("5 exec_submit exec=0x200002:1 path=burst");
	struct bsa_asked *a = calloc(1, sizeof(*a));

	(void)state;
	assert_non_null(a);
	a->known = a->is_asked[1] = true;
	assert_true(bsa_asked_event(a, 0, e));
	assert_false(bsa_asked_event(a, ASKED, e));
	free(a);
	free(e);
}

/*
 * Import @script as a pass that knows @known (NULL: the first pass). Returns whether another pass is needed,
 * with *ret.
 */
static bool import(const char *script, const struct bsa_asked *known, struct bsa_asked *ret)
{
	const struct bsa_importer_options options = { .output = folder_at("db"), .asked = known };
	const struct bsa_trace trace = { .path = "two",
		                         .uuid = "1",
		                         .host = "",
		                         .session = "",
		                         .clock = "",
		                         .clock_uuid = "",
		                         .uid = UINT32_MAX,
		                         .scope.service = ASKED };
	struct bsa_decoded decoded = { .began = 1, .ended = 9 };
	struct script *s = script_new(script);
	struct bsa_importer *im = NULL;
	const struct bsa_event *e;
	struct bsa_err err = { "" };
	bool again;

	assert_int_equal(bsa_importer_new(&im, &options, &err), 0);
	assert_int_equal(bsa_importer_trace(im, &trace, &err), 0);
	while ((e = script_next(s)))
		assert_int_equal(bsa_importer_event(im, e, &err), 0);
	script_free(s);
	assert_int_equal(bsa_importer_decoded(im, 1, &decoded, &err), 0);
	again = bsa_importer_wants_asked(im, ret);
	if (!again && bsa_importer_finish(im, &err))
		fail_msg("%s", err.text);
	bsa_importer_free(im);
	return again;
}

static void database_has(const char *sql, int expected)
{
	sqlite3_stmt *q = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(folder_at("db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	if (sqlite3_column_int(q, 0) != expected)
		fail_msg("%s: %d, not %d", sql, sqlite3_column_int(q, 0), expected);
	sqlite3_finalize(q);
	sqlite3_close(db);
}

static void no_execution_of_another_service_is_in_the_database(void **state)
{
	static const char script[] = OTHER("0") SERVICE OURS("2") "3 exec_submit exec=0x200002:2 path=burst\n"
								  "4 exec_submit exec=0x100002:2 path=burst\n"
								  "5 exec_submit exec=0x200002:3 path=burst\n";
	struct bsa_asked *a = calloc(1, sizeof(*a)), *none = calloc(1, sizeof(*none));

	(void)state;
	assert_true(a && none);
	assert_true(import(script, NULL, a));
	assert_false(import(script, a, none));
	database_has("SELECT count(*) FROM execution", 2);
	database_has("SELECT count(*) FROM execution x JOIN stream s ON s.id = x.stream_id WHERE s.number >> 20 <> 1",
	             0);
	database_has("SELECT value FROM meta WHERE key = 'scope_others'", 3);
	free(a);
	free(none);
}

/*
 * No service described itself, so no event can be attributed: nothing is left out, and the database does not
 * claim that it was.
 */
static void nothing_is_left_out_of_an_unknown_service(void **state)
{
	struct bsa_asked *none = calloc(1, sizeof(*none));

	(void)state;
	assert_non_null(none);
	assert_false(import(OTHER("0") OURS("2"), NULL, none));
	database_has("SELECT count(*) FROM execution", 2);
	database_has("SELECT count(*) FROM meta WHERE key = 'scope_others'", 0);
	free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_asked_service_counts),
		cmocka_unit_test(for_all_services_every_event_counts),
		cmocka_unit_test_setup(no_execution_of_another_service_is_in_the_database, folder_begin),
		cmocka_unit_test_setup(nothing_is_left_out_of_an_unknown_service, folder_begin),
	};

	return cmocka_run_group_tests(tests, folders_make, folders_remove);
}

/*
 * test_rows.c -- rows of queries and rows in memory, their columns, and SQL with placeholders.
 */
#include "analyzer/stored.h"

#include <stdlib.h>
#include <string.h>

#include "answer/report.h"
#include "base/coverage.h"
#include "base/rows.h"
#include "base/template.h"
#include "base/text.h"
#include "render/render.h"

static void rows_in_memory_come_back(void **state)
{
	static const struct bsv_column columns[] = { { "a", NULL, NULL }, { "b", "count", NULL } };
	struct bsv_rows *r = bsv_rows_new(columns, 2);
	struct bsa_err err = { "" };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", i);
		bsv_rows_text(r, text); /* copied */
		bsv_rows_int(r, i);
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			if (i % 7 == 0)
				assert_int_equal(bsv_rows_peek(r, &err), 1); /* a peek consumes no row */
			assert_int_equal(bsv_rows_step(r, &err), 1);
			assert_int_equal(atoi(bsv_rows_cell(r, 0).text), i);
			assert_int_equal(bsv_rows_get(r, 1, -1), i);
			assert_int_equal(bsv_rows_get(r, 0, -1), -1); /* no number */
		}
		assert_int_equal(bsv_rows_step(r, &err), 0);
		bsv_rows_again(r);
	}
	bsv_rows_limit(r, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(bsv_rows_step(r, &err), 1);
	assert_int_equal(bsv_rows_peek(r, &err), 0);
	assert_int_equal(bsv_rows_step(r, &err), 0);
	assert_int_equal(bsv_rows_beyond(r, 5), 5); /* the count stops there */
	for (int limit = 999; limit <= 1001; limit++) {
		bsv_rows_again(r);
		bsv_rows_limit(r, (size_t)limit);
		while (bsv_rows_step(r, &err) > 0)
			;
		assert_int_equal(bsv_rows_beyond(r, 5), limit == 999);
	}
	bsv_rows_free(r);
	bsv_rows_free(NULL);
}

/* The caller owns the text. */
static char *as_csv(const char *const *texts, size_t n, unsigned how)
{
	static const struct bsv_column columns[] = { { "text", NULL, NULL }, { "number", "count", NULL } };
	struct bsv_rows *r = bsv_rows_new(columns, 2);
	char *ret = NULL;
	size_t size;
	FILE *f = open_memstream(&ret, &size);

	assert_non_null(f);
	for (size_t i = 0; i < n; i++) {
		bsv_rows_text(r, texts[i]);
		bsv_rows_int(r, -(int)i);
	}
	assert_int_equal(bsv_render_csv(f, r, NULL, how, NULL), 0);
	assert_int_equal(fclose(f), 0);
	bsv_rows_free(r);
	return ret;
}

static void a_spreadsheet_has_nothing_to_compute(void **state)
{
	static const char *const texts[] = {
		"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "a=1", "'=1", "=\"a\",b", ""
	};
	static const char as_is[] =
		"text,number\n=1+1,0\n+1,-1\n-1,-2\n@SUM(A1),-3\n\tx,-4\n\"\r=1\",-5\na=1,-6\n'=1,-7\n"
		"\"=\"\"a\"\",b\",-8\n\"\",-9\n";
	static const char safe[] =
		"text,number\n'=1+1,0\n'+1,-1\n'-1,-2\n'@SUM(A1),-3\n'\tx,-4\n\"'\r=1\",-5\na=1,-6\n'=1,-7\n"
		"\"'=\"\"a\"\",b\",-8\n\"\",-9\n";
	char *csv;

	(void)state;
	csv = as_csv(texts, sizeof(texts) / sizeof(*texts), 0);
	assert_string_equal(csv, as_is);
	free(csv);
	csv = as_csv(texts, sizeof(texts) / sizeof(*texts), BSV_CSV_SAFE);
	assert_string_equal(csv, safe);
	free(csv);
	csv = as_csv(texts, 1, BSV_CSV_SAFE | BSV_CSV_ESCAPED);
	assert_string_equal(csv, "text,number\n'=1+1,0\n");
	free(csv);
}

static void no_rows_at_all_are_no_mistake(void **state)
{
	(void)state;
	bsv_rows_int(NULL, 1);
	bsv_rows_real(NULL, 1);
	bsv_rows_text(NULL, "x");
	bsv_rows_null(NULL);
}

static struct bsa_db *some_db(const char *path)
{
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_db *db = NULL;
	struct bsa_err err = { "" };

	for (uint64_t i = 1; i <= 20; i++) {
		struct bsa_execution x = stored_warm(i, i * 1000);

		facts.execution(facts.ctx, &x);
	}
	stored_finish(s);
	if (bsa_db_open(&db, path, &err))
		fail_msg("%s", err.text);
	return db;
}

static void columns_are_sorted_by_their_names(void **state)
{
	static const struct {
		const char *name, *class, *unit;
	} rows[] = {
		{ "p50_ns", "duration", "ns" },    { "began_at", "time", "ns" },
		{ "all_bytes", "bytes", "bytes" }, { "hit_percent", "percent", "%" },
		{ "fair_ratio", "ratio", NULL },   { "n", "count", NULL },
		{ "n_misses", "count", NULL },     { "submitted", "time", "ns" },
		{ "status", "label", NULL },       { "_ns", NULL, NULL },
		{ "whatever", NULL, NULL },        { "app", "text", NULL },
	};
	struct bsa_db *db = some_db(*state);
	struct bsa_err err = { "" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *sql = bsv_text("SELECT 1 AS \"%s\"", rows[i].name);
		struct bsv_rows *r = NULL;
		const struct bsv_column *c;

		assert_int_equal(bsv_rows_query(&r, db, sql, &err), 0);
		c = bsv_rows_column(r, 0);
		assert_string_equal(c->name, rows[i].name);
		assert_string_equal(c->class ? c->class : "-", rows[i].class ? rows[i].class : "-");
		assert_string_equal(c->unit ? c->unit : "-", rows[i].unit ? rows[i].unit : "-");
		bsv_rows_free(r);
		free(sql);
	}
	bsa_db_close(db);
}

static void a_failing_query_reports_it_before_its_first_row(void **state)
{
	struct bsa_db *db = some_db(*state);
	struct bsa_err err = { "" };
	struct bsv_rows *r = NULL;

	assert_int_equal(bsv_rows_query(&r, db, "SELEC 1", &err), BSA_E_USAGE);
	assert_null(r);
	assert_int_equal(bsv_rows_query(&r, db, "SELECT abs(-9223372036854775807 - 1)", &err), 0);
	assert_int_equal(bsv_rows_peek(r, &err), BSA_E_USAGE);
	assert_non_null(strstr(err.text, "overflow"));
	bsv_rows_free(r);
	bsa_db_close(db);
}

/*
 * A part is a piece of queries that users see, and has no name of its own; a report keeps its first line,
 * which --list shows.
 */
static void parts_of_queries_are_no_reports(void **state)
{
	(void)state;
	assert_string_equal(bsv_sql_misses_stored, "stats AS (SELECT * FROM miss_stat)");
	for (const struct bsv_named_sql *report = bsv_reports; report->name; report++) {
		assert_true(report->text != bsv_sql_misses_stored);
		assert_memory_equal(report->text, "-- ", 3);
	}
}

static void queries_come_again_too(void **state)
{
	struct bsa_db *db = some_db(*state);
	struct bsv_rows *r = NULL;

	assert_int_equal(bsv_rows_query(&r, db, "SELECT id, 0.5, 'text', NULL FROM execution ORDER BY id", NULL), 0);
	assert_int_equal(bsv_rows_columns(r), 4);
	for (int round = 0; round < 2; round++) {
		for (int i = 1; i <= 20; i++) {
			assert_int_equal(bsv_rows_peek(r, NULL), 1);
			assert_int_equal(bsv_rows_step(r, NULL), 1);
			assert_int_equal(bsv_rows_get(r, 0, -1), i);
			assert_int_equal(bsv_rows_get(r, 1, -1), 0);
			assert_string_equal(bsv_rows_cell(r, 2).text, "text");
			assert_int_equal(bsv_rows_cell(r, 3).type, BSA_NULL);
		}
		assert_int_equal(bsv_rows_step(r, NULL), 0);
		bsv_rows_again(r);
	}
	bsv_rows_free(r);
	bsa_db_close(db);
}

static void placeholders_are_filled(void **state)
{
	static const struct bsv_placeholder placeholders[] = { { "a", "<@b@>" }, { "long_1", "" }, { NULL, NULL } };
	static const struct {
		const char *template, *text;
	} rows[] = {
		{ "", "" },
		{ "@a@", "<@b@>" }, /* the text that fills a placeholder is not searched for placeholders */
		{ "x@a@y@long_1@z@a@", "x<@b@>yz<@b@>" },
		{ "a@b.c @ d@@", "a@b.c @ d@@" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = bsv_fill(rows[i].template, placeholders);

		assert_string_equal(text, rows[i].text);
		free(text);
	}
}

static void statements_take_values_and_relations(void **state)
{
	static const char template[] = "SELECT id, :text FROM @relation@ WHERE id BETWEEN :from AND :to ORDER BY id";
	const struct bsv_placeholder placeholders[] = { { "relation", "execution" }, { NULL, NULL } };
	const struct bsv_value values[] = { { ":from", 3, NULL }, { ":to", 4, NULL }, { ":text", 0, "a'b" }, { 0 } };
	struct bsa_db *db = some_db(*state);
	struct bsa_query *q = NULL;
	struct bsv_rows *r = NULL;
	struct bsa_err err = { "" };
	char *sql = bsv_fill(template, placeholders);

	assert_int_equal(bsv_query_new(&q, db, template, placeholders, &err), 0);
	for (int id = 7; id < 9; id++) { /* prepared once */
		bsa_query_again(q);
		assert_true(bsa_query_int(q, ":from", id) && bsa_query_int(q, ":to", id));
		assert_int_equal(bsa_query_step(q, &err), 1);
		assert_int_equal(bsa_query_get_int(q, 0), id);
		assert_int_equal(bsa_query_type(q, 1), BSA_NULL);
		assert_int_equal(bsa_query_step(q, &err), 0);
	}
	bsa_query_free(q);
	q = NULL;
	assert_int_equal(bsv_query_new(&q, db, template, NULL, &err),
	                 BSA_E_USAGE); /* the placeholder's text is not SQL */
	assert_null(q);

	assert_int_equal(bsv_rows_bound(&r, db, sql, values, &err), 0);
	for (int id = 3; id < 5; id++) {
		assert_int_equal(bsv_rows_step(r, &err), 1);
		assert_int_equal(bsv_rows_get(r, 0, -1), id);
		assert_string_equal(bsv_rows_cell(r, 1).text, "a'b");
	}
	assert_int_equal(bsv_rows_step(r, &err), 0);
	bsv_rows_free(r);
	r = NULL;
	assert_int_equal(bsv_rows_query(&r, db, sql, &err), BSA_E_USAGE);
	assert_null(r);
	assert_string_equal(err.text, ":text has no value; write texts in '...'");
	free(sql);
	bsa_db_close(db);
}

static void conditions_are_joined_by_and(void **state)
{
	static const struct {
		const char *all, *more, *both;
	} rows[] = {
		{ "", "", "" },         { "cold", "", "cold" },
		{ "", "cold", "cold" }, { "cold", "@x@", "cold AND @x@" },
		{ NULL, "cold", NULL }, { "cold", NULL, NULL },
	};
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		text = bsv_and(rows[i].all ? strdup(rows[i].all) : NULL, rows[i].more ? strdup(rows[i].more) : NULL);
		if (rows[i].both)
			assert_string_equal(text, rows[i].both);
		else
			assert_null(text);
		free(text);
	}

	text = bsv_and_equal(bsv_and_equal(strdup("1"), "app", "@it's@"), "model", NULL);
	assert_string_equal(text, "1 AND app = '@it''s@'");
	free(text);
	assert_null(bsv_and_equal(NULL, "app", "camera"));
}

/*
 * A file of fragments has several: each is a string without its comment, and without the line that begins the next
 * one.
 */
static void fragments_end_where_the_next_one_begins(void **state)
{
	(void)state;
	assert_string_equal(bsv_sql_by_app, "a.name AS app");
	assert_string_equal(bsv_sql_slo_cold, " AND cold");
	assert_string_equal(bsv_sql_misses_stats, "stats AS (\n@rows@)");
	for (const struct bsv_named_sql *report = bsv_reports; report->name; report++)
		assert_true(report->text != bsv_sql_by_app);
}

static void strings_of_sql_cannot_end_early(void **state)
{
	static const char *const hostile[] = { "", "'", "''", "a'b", "'; DROP TABLE app; --", "\\'", "\n" };
	struct bsa_db *db = some_db(*state);

	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		char *quoted = bsv_quoted(hostile[i]), *sql = bsv_text("SELECT %s", quoted);
		struct bsv_rows *r = NULL;

		assert_int_equal(bsv_rows_query(&r, db, sql, NULL), 0);
		assert_int_equal(bsv_rows_step(r, NULL), 1);
		assert_string_equal(bsv_rows_cell(r, 0).text, hostile[i]);
		bsv_rows_free(r);
		free(sql);
		free(quoted);
	}
	bsa_db_close(db);
}

/* The ends of ring buffers do not look like damage; any other loss is named, without more words. */
static void the_ends_of_buffers_are_called_that(void **state)
{
	static const char *const rows[][2] = {
		{ "head", "1 interval was not recorded (head: some buffers begin later than others)" },
		{ "head, tail",
		  "1 interval was not recorded (head, tail: some buffers begin later, or end earlier, than others)" },
		{ "gap, head", "1 interval was not recorded (gap, head)" },
	};
	char text[BSV_COVERAGE_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_coverage c = { .traces = 1, .events = 9, .losses = 1, .uncounted = 1, .rival_uid = -1 };

		snprintf(c.causes, sizeof(c.causes), "%s", rows[i][0]);
		if (!strstr(bsv_coverage_text(&c, text), rows[i][1]))
			fail_msg("%s, not: %s", text, rows[i][1]);
	}
}

static void executions_that_do_not_count_are_counted(void **state)
{
	struct bsv_coverage c = { .traces = 1, .events = 9, .headless = 139, .timeless = 1, .rival_uid = -1 };
	char text[BSV_COVERAGE_TEXT];

	(void)state;
	assert_string_equal(bsv_coverage_text(&c, text),
	                    "1 trace, 9 events, no event was lost; the beginning of 139 executions was not recorded");
	c.timed = true; /* no time of the recording has it */
	assert_string_equal(bsv_coverage_text(&c, text),
	                    "1 trace, 9 events, no event was lost; the beginning of 139 executions was not recorded; 1 "
	                    "execution without any recorded time is left out");
	c = (struct bsv_coverage){
		.traces = 1, .events = 9, .service_alone = 7, .headless = 139, .others = { 7, 0, 130 }, .rival_uid = -1
	};
	assert_string_equal(
		bsv_coverage_text(&c, text),
		"1 trace, 9 events, no event was lost; 7 executions were seen from the service alone (all of "
		"them outside of the scope); the beginning of 139 executions was not recorded (130 of them "
		"outside of the scope)");
}

/*
 * A report in two phases: it asks all queries, reads one part, and then shows both parts in another order.
 * The caller owns the text; NULL: an error.
 */
static char *report_print(struct bsa_db *db, const char *part)
{
	static const struct bsv_command command = { .name = "test" };
	FILE *to = tmpfile();
	const struct bsv_call call = {
		.command = &command, .common.quiet = true, .asked = { .part = part, .no_pager = true }, .to = to
	};
	struct bsv_report report = { .call = &call, .input = { .db = db, .with = "" } };
	struct bsv_report_part *numbers, *fails;
	struct bsv_rows *rows = NULL;
	struct bsa_err err = { "" };
	char *ret = calloc(1, 4096);
	int r;

	assert_non_null(to);
	report.answer = bsv_answer_new(&call, &report.input);
	numbers = bsv_report_ask(&report, "numbers", "SELECT 17 AS number UNION ALL SELECT 25 ORDER BY 1", NULL);
	fails = bsv_report_ask(&report, "fails", "SELECT abs(-9223372036854775807 - 1) AS overflow", NULL);
	assert_int_equal(bsv_report_read(&rows, &report, numbers, &err), 0);
	assert_int_equal(bsv_rows_step(rows, &err), 1);
	assert_int_equal(bsv_rows_get(rows, 0, 0), 17);
	bsv_report_show(&report, fails, "title of fails", BSV_FOR_PROGRAMS);
	bsv_report_show(&report, numbers, "title of numbers", BSV_FOR_ALL);
	r = bsv_answer_print(report.answer, false, &err);
	rewind(to);
	assert_true(fread(ret, 1, 4095, to) > 0 || r < 0);
	fclose(to);
	report.input = (struct bsv_input){ 0 }; /* borrowed from the test */
	bsv_report_close(&report);
	if (r >= 0)
		return ret;
	free(ret);
	return NULL;
}

static void a_table_computes_no_hidden_part(void **state)
{
	struct bsa_db *db = some_db(*state);
	char *text = report_print(db, NULL);

	assert_non_null(text);
	assert_non_null(strstr(text, "title of numbers"));
	assert_non_null(strstr(text, "17")); /* the row that was read is shown all the same */
	assert_non_null(strstr(text, "25"));
	assert_null(strstr(text, "title of fails"));
	free(text);
	assert_null(report_print(db, "fails")); /* the part is computed at this point, so it fails */
	bsa_db_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_in_memory_come_back),
		cmocka_unit_test(a_spreadsheet_has_nothing_to_compute),
		cmocka_unit_test(no_rows_at_all_are_no_mistake),
		cmocka_unit_test(executions_that_do_not_count_are_counted),
		cmocka_unit_test_setup_teardown(columns_are_sorted_by_their_names, stored_setup, stored_teardown),
		cmocka_unit_test_setup_teardown(a_failing_query_reports_it_before_its_first_row, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(queries_come_again_too, stored_setup, stored_teardown),
		cmocka_unit_test_setup_teardown(a_table_computes_no_hidden_part, stored_setup, stored_teardown),
		cmocka_unit_test(placeholders_are_filled),
		cmocka_unit_test(parts_of_queries_are_no_reports),
		cmocka_unit_test(the_ends_of_buffers_are_called_that),
		cmocka_unit_test_setup_teardown(statements_take_values_and_relations, stored_setup, stored_teardown),
		cmocka_unit_test(conditions_are_joined_by_and),
		cmocka_unit_test(fragments_end_where_the_next_one_begins),
		cmocka_unit_test_setup_teardown(strings_of_sql_cannot_end_early, stored_setup, stored_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

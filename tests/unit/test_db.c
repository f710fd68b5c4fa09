/*
 * test_db.c -- queries to a database: values of each kind, refusals, and that a query cannot change the
 * database.
 */
#include "analyzer/stored.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

static struct bsa_db *open_db(const char *path)
{
	struct bsa_db *db = NULL;
	struct bsa_err err = { "" };

	if (bsa_db_open(&db, path, &err))
		fail_msg("%s", err.text);
	return db;
}

static struct bsa_db *some_db(const char *path)
{
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (uint64_t i = 1; i <= 1000; i++) {
		struct bsa_execution x = stored_warm(i, i * 1000);

		facts.execution(facts.ctx, &x);
	}
	stored_finish(s);
	return open_db(path);
}

static struct bsa_query *query(struct bsa_db *db, const char *sql)
{
	struct bsa_query *q = NULL;
	struct bsa_err err = { "" };

	if (bsa_query_new(&q, db, sql, &err))
		fail_msg("%s: %s", sql, err.text);
	return q;
}

static void every_kind_of_value(void **state)
{
	struct bsa_db *db = some_db(*state);
	struct bsa_query *q =
		query(db, "SELECT 9223372036854775807 AS i, 1.5 AS r, 'a'||char(0)||'b' AS s, NULL AS n, x'00ff' AS b");
	size_t bytes;

	assert_int_equal(bsa_query_columns(q), 5);
	assert_string_equal(bsa_query_name(q, 2), "s");
	assert_int_equal(bsa_query_find(q, "b"), 4);
	assert_true(bsa_query_find(q, "c") == SIZE_MAX);
	assert_int_equal(bsa_query_step(q, NULL), 1);
	assert_int_equal(bsa_query_type(q, 0), BSA_INT);
	assert_true(bsa_query_get_int(q, 0) == INT64_MAX);
	assert_int_equal(bsa_query_type(q, 1), BSA_REAL);
	assert_true(bsa_query_get_real(q, 1) == 1.5);
	assert_int_equal(bsa_query_type(q, 2), BSA_STRING);
	assert_memory_equal(bsa_query_get_string(q, 2, &bytes), "a\0b", 4);
	assert_int_equal(bytes, 3);
	assert_int_equal(bsa_query_type(q, 3), BSA_NULL);
	assert_null(bsa_query_get_string(q, 3, &bytes));
	assert_int_equal(bytes, 0);
	assert_int_equal(bsa_query_type(q, 4), BSA_BYTES);
	assert_int_equal(bsa_query_step(q, NULL), 0);
	assert_null(bsa_query_free(q));
	assert_null(bsa_db_close(db));
}

static void parameters_by_name_and_again(void **state)
{
	struct bsa_db *db = some_db(*state);
	struct bsa_query *q = query(db, "SELECT count(*), :text, :real FROM execution WHERE id <= :most");

	assert_true(bsa_query_int(q, ":most", 10));
	assert_true(bsa_query_string(q, ":text", "it's"));
	assert_true(bsa_query_real(q, ":real", 0.5));
	assert_false(bsa_query_int(q, ":least", 1));
	for (int most = 10; most <= 20; most += 10) {
		assert_true(bsa_query_int(q, ":most", most));
		assert_int_equal(bsa_query_step(q, NULL), 1);
		assert_int_equal(bsa_query_get_int(q, 0), most);
		assert_string_equal(bsa_query_get_string(q, 1, NULL), "it's");
		assert_int_equal(bsa_query_step(q, NULL), 0);
		bsa_query_again(q);
	}
	bsa_query_free(q);
	bsa_db_close(db);
}

static void an_invalid_query_is_refused(void **state)
{
	static const struct {
		const char *sql, *words;
	} rows[] = {
		{ "", "an empty query" },
		{ " -- nothing", "an empty query" },
		{ "SELEC 1", "syntax error" },
		{ "SELECT * FROM nowhere", "no such table: nowhere" },
		{ "SELECT 1; SELECT 2", "more than one statement" },
		{ "SELECT 1; -- and\nSELECT 2", "more than one statement" },
		{ "DELETE FROM stored_execution", "may only read" },
		{ "delete from execution", "may only read" },
		{ " DROP TABLE execution", "may only read" },
		{ "UPDATE app SET name = ''", "may only read" },
		{ "CREATE TABLE x(y)", "may only read" },
		{ "CREATE TEMP TABLE x(y)", "may only read" },
		{ "ATTACH '%s.other' AS other", "may only read" },
		{ "VACUUM INTO '%s.other'", "may only read" },
		{ "PRAGMA query_only = OFF", "may only read" },
		{ "PRAGMA writable_schema = ON", "may only read" },
		{ "BEGIN", "may only read" },
		{ "SELECT load_extension('x')", "" },
	};
	const char *path = *state;
	struct bsa_db *db = some_db(*state);
	char sql[256];

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct bsa_query *q = NULL;
		struct bsa_err err = { "" };
		int r;

		snprintf(sql, sizeof(sql), rows[i].sql, path);
		r = bsa_query_new(&q, db, sql, &err);

		if (r != BSA_E_USAGE || q || !strstr(err.text, rows[i].words))
			fail_msg("%s: %d, %s", rows[i].sql, r, err.text);
	}
	bsa_query_free(query(db, "SELECT 1; -- that is all\n ; /* really */"));
	bsa_db_close(db);
	snprintf(sql, sizeof(sql), "%s.other", path);
	assert_int_not_equal(access(sql, F_OK), 0);
}

static int make_temporary(struct bsa_db *db, const char *sql)
{
	struct bsa_err err = { "" };

	return bsa_db_make_temporary(db, sql, &err);
}

static void temporary_tables_belong_to_a_connection_and_change_no_file(void **state)
{
	struct bsa_db *db = some_db(*state), *other = open_db(*state);
	struct bsa_query *q;

	assert_int_equal(make_temporary(db, "CREATE TEMP TABLE x AS SELECT 7 AS y;"
	                                    "CREATE TEMP TABLE IF NOT EXISTS x AS SELECT 8 AS y"),
	                 0);
	q = query(db, "SELECT y FROM x");
	assert_int_equal(bsa_query_step(q, NULL), 1);
	assert_true(bsa_query_get_int(q, 0) == 7);
	bsa_query_free(q);
	assert_int_equal(bsa_query_new(&q, other, "SELECT y FROM x", NULL), BSA_E_USAGE);

	/* The file, its settings and other files stay out of reach, also after it. */
	assert_true(make_temporary(db, "DELETE FROM stored_execution") < 0);
	assert_true(make_temporary(db, "CREATE TABLE z(y)") < 0);
	assert_true(make_temporary(db, "ATTACH ':memory:' AS other") < 0);
	assert_true(make_temporary(db, "PRAGMA writable_schema = ON") < 0);
	assert_int_equal(bsa_query_new(&q, db, "CREATE TEMP TABLE z(y)", NULL), BSA_E_USAGE);
	assert_int_equal(bsa_query_new(&q, db, "DELETE FROM x", NULL), BSA_E_USAGE);
	bsa_db_close(other);
	bsa_db_close(db);
}

static void an_error_during_a_query_is_reported(void **state)
{
	struct bsa_db *db = some_db(*state);
	struct bsa_query *q = query(db, "SELECT sum(column1) FROM (VALUES (9223372036854775807), (1))");
	struct bsa_err err = { "" };

	assert_int_equal(bsa_query_step(q, &err), BSA_E_USAGE);
	assert_string_equal(err.text, "integer overflow");
	bsa_query_free(q);
	bsa_db_close(db);
}

static void *interrupt(void *db)
{
	/* Repeat, because an interrupt before the query runs is lost. */
	for (;;) {
		bsa_db_interrupt(db);
		pthread_testcancel();
		usleep(1000);
	}
	return NULL;
}

static void an_endless_query_can_be_stopped(void **state)
{
	struct bsa_db *db = some_db(*state);
	struct bsa_query *q =
		query(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i % 2) FROM n");
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, interrupt, db), 0);
	assert_int_equal(bsa_query_step(q, NULL), BSA_E_STOPPED);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	bsa_query_free(q);
	q = query(db, "SELECT 1");
	assert_int_equal(bsa_query_step(q, NULL), 1);
	bsa_query_free(q);
	bsa_db_close(db);
}

struct seen {
	char text[65536];
	unsigned columns;
};

static int see(void *ctx, const struct bsa_column *c)
{
	struct seen *seen = ctx;
	size_t n = strlen(seen->text);

	seen->columns++;
	snprintf(seen->text + n, sizeof(seen->text) - n, "%s.%s:%s ", c->relation, c->name, c->unit);
	assert_true(strlen(c->relation) > 0);
	return 0;
}

static int enough(void *ctx, const struct bsa_column *c)
{
	(void)ctx, (void)c;
	return 42;
}

static void the_schema_can_be_queried(void **state)
{
	static struct seen seen, without;
	struct bsa_db *db = some_db(*state);
	struct bsa_err err;

	assert_int_equal(bsa_db_schema(db, "wait", see, &seen, NULL), 0);
	assert_string_equal(
		seen.text,
		"wait.: wait.execution_id:id wait.began:time wait.ended:time wait.kind:label wait.lane:number "
		"wait.occupancy:label wait.blocker_id:id wait.blocker_app_id:id wait.cause:label wait.open:label ");
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(bsa_db_schema(db, NULL, see, &seen, NULL), 0);
	assert_int_equal(bsa_db_schema(NULL, NULL, see, &without, NULL), 0);
	assert_string_equal(seen.text, without.text);
	assert_true(seen.columns > 300);
	assert_int_equal(bsa_db_schema(db, NULL, enough, NULL, NULL), 42);
	assert_int_equal(bsa_db_schema(db, "nowhere", see, &seen, &err), BSA_E_USAGE);
	assert_string_equal(err.text, "no relation 'nowhere'");
	assert_string_equal(bsa_db_unit(db, "e2e_ns"), "ns");
	assert_string_equal(bsa_db_unit(db, "submitted"), "time");
	assert_string_equal(bsa_db_unit(db, "what"), "");
	assert_string_equal(bsa_db_unit(db, "events"), "count");
	bsa_db_close(db);
}

static void a_file_that_is_not_a_database_is_refused(void **state)
{
	const char *path = *state;
	struct bsa_db *db = NULL;
	struct bsa_err err;
	FILE *f;

	assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(bsa_db_open(&db, "/tmp", &err), BSA_E_INPUT);
	f = fopen(path, "w");
	assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
	fprintf(f, "SQLite format 3");
	fclose(f);
	assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
	assert_non_null(strstr(err.text, "is not a database of burstscope"));
	assert_null(db);
	assert_null(bsa_db_close(NULL));
	assert_null(bsa_query_free(NULL));
}

static const struct hostile {
	const char *says, *sql;
	bool opens;
} hostile_rows[] = {
	{ "a view without end",
	  "DROP TABLE app; CREATE VIEW app AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
	  "SELECT id, 'a' AS name FROM n",
	  false },
	{ "a view of a quintillion rows",
	  "DROP VIEW model; CREATE VIEW model AS SELECT a.seq AS id FROM execution a, execution b, "
	  "execution c, execution d, execution e, execution f",
	  false },
	{ "a view in place of the table with the build",
	  "ALTER TABLE meta RENAME TO was; CREATE VIEW meta AS WITH RECURSIVE n(value) AS "
	  "(SELECT 1 UNION ALL SELECT value + 1 FROM n) SELECT value FROM n",
	  false },
	{ "a view that is missing", "DROP VIEW execution_phase", false },
	{ "a table with another column", "ALTER TABLE stored_execution ADD COLUMN more", false },
	{ "a view of the reader's own", "CREATE VIEW mine AS SELECT count(*) FROM execution", true },
	{ "an index and a trigger more",
	  "CREATE INDEX mine ON meta(value); CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM meta; END", true },
};

/* A file of unknown origin: before any query, its tables and views must be those of an import. */
static void a_database_with_other_views_is_refused(void **state)
{
	const char *path = *state;

	for (size_t i = 0; i < N_OF(hostile_rows); i++) {
		struct bsa_db *db = NULL;
		struct bsa_err err = { "" };
		sqlite3 *sql;
		int r;

		unlink(path);
		bsa_db_close(some_db(path));
		assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
		if (sqlite3_exec(sql, hostile_rows[i].sql, NULL, NULL, NULL) != SQLITE_OK)
			fail_msg("%s: %s", hostile_rows[i].says, sqlite3_errmsg(sql));
		sqlite3_close(sql);
		r = bsa_db_open(&db, path, &err);
		bsa_db_close(db);
		if (r != (hostile_rows[i].opens ? 0 : BSA_E_INPUT))
			fail_msg("%s: %d, %s", hostile_rows[i].says, r, err.text);
		if (r && (!strstr(err.text, path) || strchr(err.text, '\n')))
			fail_msg("%s: '%s' is no sentence about the file", hostile_rows[i].says, err.text);
	}
}

static uint64_t seed = 88172645463325252;

static uint64_t random_below(uint64_t n)
{
	return xorshift_next(&seed) % n;
}

/* Inverted bytes: the program gives an answer or an error, and does not crash. */
static void a_damaged_database_gives_an_answer_or_an_error(void **state)
{
	static const char *const asked[] = { "SELECT sum(e2e_ns) FROM execution",
		                             "SELECT * FROM execution WHERE stream_id = 1 AND seq = 500",
		                             "SELECT * FROM execution_phase", "SELECT * FROM schema_doc",
		                             "PRAGMA integrity_check" };
	const char *path = *state;
	char *whole;
	struct stat st;
	int fd;

	bsa_db_close(some_db(path));
	fd = open(path, O_RDWR);
	assert_return_code(fstat(fd, &st), 0);
	whole = malloc((size_t)st.st_size);
	assert_int_equal(pread(fd, whole, (size_t)st.st_size, 0), st.st_size);
	for (unsigned round = 0; round < 200; round++) {
		struct bsa_db *db = NULL;

		assert_int_equal(pwrite(fd, whole, (size_t)st.st_size, 0), st.st_size);
		for (unsigned i = 0; i < 1 + round / 4; i++) {
			uint8_t byte = (uint8_t)random_below(256);

			assert_int_equal(pwrite(fd, &byte, 1,
			                        (off_t)(random_below(4) ? 100 + random_below((uint64_t)st.st_size - 100)
			                                                : random_below(400))),
			                 1);
		}
		if (bsa_db_open(&db, path, NULL))
			continue;
		for (size_t i = 0; i < N_OF(asked); i++) {
			struct bsa_query *q = NULL;

			if (bsa_query_new(&q, db, asked[i], NULL))
				continue;
			for (unsigned n = 0; n < 20000 && bsa_query_step(q, NULL) == 1; n++)
				continue;
			bsa_query_free(q);
		}
		bsa_db_close(db);
	}
	close(fd);
	free(whole);
}

#define T(f) cmocka_unit_test_setup_teardown(f, stored_setup, stored_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_kind_of_value),
		T(parameters_by_name_and_again),
		T(an_invalid_query_is_refused),
		T(temporary_tables_belong_to_a_connection_and_change_no_file),
		T(an_error_during_a_query_is_reported),
		T(an_endless_query_can_be_stopped),
		T(the_schema_can_be_queried),
		T(a_file_that_is_not_a_database_is_refused),
		T(a_database_with_other_views_is_refused),
		T(a_damaged_database_gives_an_answer_or_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

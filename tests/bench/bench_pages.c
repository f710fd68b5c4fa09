/*
 * bench_pages.c -- measures what it saves to write the pages of the table of executions by hand (store/pages.c): the
 * same rows by prepared INSERTs, in one transaction, without a journal or a sync. Both databases must pass SQLite's
 * integrity check and hold the same rows.
 */
#include "bench.h"
#include "facts.h"

#include "base.h"
#include "store/file.h"
#include "store/numbers.h"
#include "store/pages.h"
#include "store/relations.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXECUTIONS = 200000, QUICK = 20000, COLUMNS = COLUMNS_execution };

static const char *const settings = "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
				    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384";

static char directory[] = "/tmp/bench_pages.XXXXXX", *create;
static int64_t (*rows)[COLUMNS];
static size_t n_rows;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_pages: %s: %s\n", what, why);
	exit(1);
}

static double cpu_now(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static const char *path_of(const char *name)
{
	static char path[2][64];
	static unsigned turn;

	snprintf(path[++turn % 2], sizeof(path[0]), "%s/%s", directory, name);
	return path[turn % 2];
}

static void run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail(sql, sqlite3_errmsg(db));
}

static sqlite3 *database(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		fail(path, sqlite3_errmsg(db));
	return db;
}

static sqlite3_stmt *statement(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
		fail(sql, sqlite3_errmsg(db));
	return q;
}

/* The answer to a question with one cell. */
static char *answer_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *q = statement(db, sql);
	char *text;

	if (sqlite3_step(q) != SQLITE_ROW)
		fail(sql, sqlite3_errmsg(db));
	text = strdup((const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	return text;
}

/* The rows, and the table that holds them, from a database that an import would make. */
static void read_rows(size_t n)
{
	const char *path = path_of("facts.db");
	sqlite3 *db;
	sqlite3_stmt *q;

	facts_database(path, n, 0, 1);
	db = database(path);
	create = answer_of(db, "SELECT sql FROM sqlite_schema WHERE name = 'stored_execution'");
	q = statement(db, "SELECT * FROM stored_execution ORDER BY id");
	rows = calloc(n, sizeof(*rows));
	if (!rows || sqlite3_column_count(q) != COLUMNS)
		fail("the rows", "no memory, or another number of columns");
	while (n_rows < n && sqlite3_step(q) == SQLITE_ROW) {
		for (int i = 0; i < COLUMNS; i++)
			rows[n_rows][i] =
				sqlite3_column_type(q, i) == SQLITE_NULL ? NOTHING : sqlite3_column_int64(q, i);
		n_rows++;
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
	unlink(path);
}

static void remove_output(const char *name)
{
	unlink(path_of(name));
}

/* ns of cpu time for each row. */
static double by_inserts(void)
{
	char sql[64 + 2 * COLUMNS] = "INSERT INTO stored_execution VALUES (?";
	double began = cpu_now();
	sqlite3 *db = database(path_of("inserts.db"));
	sqlite3_stmt *q;

	for (int i = 1; i < COLUMNS; i++)
		strcat(sql, ",?");
	strcat(sql, ")");
	run(db, settings);
	run(db, create);
	run(db, "BEGIN");
	q = statement(db, sql);
	for (size_t r = 0; r < n_rows; r++) {
		for (int i = 0; i < COLUMNS; i++)
			if (rows[r][i] != NOTHING)
				sqlite3_bind_int64(q, i + 1, rows[r][i]);
			else
				sqlite3_bind_null(q, i + 1);
		if (sqlite3_step(q) != SQLITE_DONE)
			fail(sql, sqlite3_errmsg(db));
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	run(db, "COMMIT");
	sqlite3_close(db);
	return (cpu_now() - began) / (double)n_rows;
}

static double by_pages(void)
{
	char output[64], *root;
	double began = cpu_now();
	struct bsa_store_file file = {
		.output = output, .directory = directory, .fd = -1, .directory_fd = -1, .old_fd = -1
	};
	struct bsa_pages *p;
	sqlite3 *db;
	int fd;

	snprintf(output, sizeof(output), "%s", path_of("pages.db"));
	db = database(output);
	run(db, settings);
	run(db, create);
	root = answer_of(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'stored_execution'");
	sqlite3_close(db);
	file.directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open(output, O_RDWR | O_CLOEXEC);
	p = bsa_pages_new(&file, COLUMNS);
	if (!p || fd < 0)
		fail(output, "cannot be written");
	for (size_t r = 0; r < n_rows; r++)
		if (bsa_pages_row(p, rows[r]))
			fail(output, bsa_pages_error(p));
	if (bsa_pages_attach(p, fd, (uint32_t)atoi(root)))
		fail(output, bsa_pages_error(p));
	bsa_pages_free(p);
	close(fd);
	close(file.directory_fd);
	free(root);
	return (cpu_now() - began) / (double)n_rows;
}

/* The same rows in both, and nothing wrong with either. */
static void compare(void)
{
	sqlite3 *db = database(path_of("inserts.db"));
	char sql[128], *found;

	snprintf(sql, sizeof(sql), "ATTACH '%s' AS pages", path_of("pages.db"));
	run(db, sql);
	found = answer_of(db, "SELECT (SELECT count(*) FROM (SELECT * FROM main.stored_execution EXCEPT SELECT * FROM "
	                      "pages.stored_execution))"
	                      " || ' ' || (SELECT count(*) FROM pages.stored_execution)");
	snprintf(sql, sizeof(sql), "0 %zu", n_rows);
	if (strcmp(found, sql) != 0)
		fail("rows that differ, and rows", found);
	free(found);
	found = answer_of(db, "PRAGMA pages.integrity_check");
	if (strcmp(found, "ok") != 0)
		fail("pages.db", found);
	free(found);
	sqlite3_close(db);
}

int main(int argc, char **argv)
{
	size_t inserts, pages, ratio;
	struct bench b;

	bench_open(&b, "pages", 5, argc, argv);
	if (!mkdtemp(directory))
		return 5;
	read_rows(b.quick ? QUICK : EXECUTIONS);
	inserts = bench_figure(&b, "prepared INSERTs: cpu, ns a row");
	pages = bench_figure(&b, "pages: cpu, ns a row");
	ratio = bench_figure(&b, "prepared INSERTs / pages");
	for (unsigned round = 0; round < b.rounds; round++) {
		double by_sqlite = by_inserts(), ours = by_pages();

		compare();
		bench_figure_is(&b, inserts, by_sqlite);
		bench_figure_is(&b, pages, ours);
		bench_figure_is(&b, ratio, by_sqlite / ours);
		remove_output("inserts.db");
		remove_output("pages.db");
	}
	bench_at_least(&b, "prepared INSERTs / pages", bench_figure_median(&b, ratio), 4);
	free(rows);
	free(create);
	rmdir(directory);
	return bench_close(&b);
}

/* checker.c -- see checker.h. */
#include "analyzer/checker.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base.h"

enum { PATH_SIZE = 512, JUDGES_MAX = 32 };

struct judge {
	char *schema; /* all of sqlite_schema */
	sqlite3 *db;
	sqlite3_stmt *check;
	uint64_t used; /* the database that it judged last */
};

struct checker {
	char copy[PATH_SIZE];
	char *rules;
	struct judge judges[JUDGES_MAX];
	struct judge reads_schema; /* of any database: the root of sqlite_schema is always the first page */
	uint64_t databases, compiled;
};

static void judge_open(struct judge *j, const char *path, const char *sql)
{
	assert_int_equal(sqlite3_open_v2(path, &j->db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(j->db, sql, -1, &j->check, NULL))
		fail_msg("%s", sqlite3_errmsg(j->db));
}

static void judge_close(struct judge *j)
{
	sqlite3_finalize(j->check);
	sqlite3_close(j->db);
	free(j->schema);
	*j = (struct judge){ 0 };
}

struct checker *checker_new(const char *rules, const char *copy)
{
	struct checker *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	assert_true(snprintf(c->copy, sizeof(c->copy), "%s", copy) < (int)sizeof(c->copy));
	c->rules = file_content(rules, NULL);
	assert_true(c->rules && *c->rules);
	return c;
}

struct checker *checker_free(struct checker *c)
{
	if (!c)
		return NULL;
	for (struct judge *j = c->judges; j < c->judges + JUDGES_MAX; j++)
		judge_close(j);
	judge_close(&c->reads_schema);
	unlink(c->copy);
	free(c->rules);
	free(c);
	return NULL;
}

uint64_t checker_compiled(const struct checker *c)
{
	return c->compiled;
}

/* The copy has a change counter that no other copy had, by which all connections notice that it is another one. */
static void copy_database(const char *from, const char *to, uint64_t counter)
{
	const uint8_t big_endian[] = { (uint8_t)(counter >> 24), (uint8_t)(counter >> 16), (uint8_t)(counter >> 8),
		                       (uint8_t)counter };
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stat st;
	ssize_t n;

	assert_true(in >= 0 && out >= 0 && !fstat(in, &st) && st.st_size > 100);
	for (off_t at = 0; at < st.st_size; at += n) {
		n = copy_file_range(in, NULL, out, NULL, (size_t)(st.st_size - at), 0);
		assert_true(n > 0);
	}
	assert_int_equal(ftruncate(out, st.st_size), 0);
	assert_int_equal(pwrite(out, big_endian, sizeof(big_endian), 24), sizeof(big_endian));
	assert_int_equal(pwrite(out, big_endian, sizeof(big_endian), 92), sizeof(big_endian));
	close(in);
	close(out);
}

/* Of malloc. */
static char *schema_of_copy(struct checker *c)
{
	char *ret;

	if (!c->reads_schema.db)
		judge_open(&c->reads_schema, c->copy,
		           "SELECT group_concat(quote(type) || quote(name) || quote(tbl_name) || quote(rootpage) || "
		           "quote(sql), char(10)) FROM sqlite_schema");
	assert_int_equal(sqlite3_step(c->reads_schema.check), SQLITE_ROW);
	ret = strdup((const char *)sqlite3_column_text(c->reads_schema.check, 0));
	assert_non_null(ret);
	sqlite3_reset(c->reads_schema.check);
	return ret;
}

/* Of the database that was copied last. */
static struct judge *judge_of_copy(struct checker *c)
{
	char *schema = schema_of_copy(c);
	struct judge *oldest = c->judges;

	for (struct judge *j = c->judges; j < c->judges + JUDGES_MAX; j++) {
		if (j->schema && !strcmp(j->schema, schema)) {
			free(schema);
			j->used = c->databases;
			return j;
		}
		if (j->used < oldest->used)
			oldest = j;
	}
	judge_close(oldest);
	judge_open(oldest, c->copy, c->rules);
	oldest->schema = schema;
	oldest->used = c->databases;
	c->compiled++;
	return oldest;
}

bool checker_objects(struct checker *c, const char *path, char *ret, size_t size)
{
	struct judge *j;
	int status;

	copy_database(path, c->copy, ++c->databases);
	j = judge_of_copy(c);
	status = sqlite3_step(j->check);
	if (status == SQLITE_ROW)
		snprintf(ret, size, "%s: %s: %s", (const char *)sqlite3_column_text(j->check, 0),
		         (const char *)sqlite3_column_text(j->check, 1),
		         (const char *)sqlite3_column_text(j->check, 2));
	else if (status != SQLITE_DONE)
		fail_msg("%s", sqlite3_errmsg(j->db));
	sqlite3_reset(j->check);
	return status == SQLITE_ROW;
}

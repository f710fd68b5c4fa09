/*
 * schema.c -- checks that a database has the tables and views of this build, before any of them is read.
 *
 * TRUST  Of the file only sqlite_schema is read, which no view can stand for, until what is read next is
 *        known to be ours.
 */
#include "store/schema.h"

#include "store/header.h"
#include "store/own.h"
#include "store/sql.h"

#include <stdbool.h>
#include <string.h>

/* More than any import and any reader makes, and few enough to be looked for one after the other. */
enum { OBJECTS_MAX = 2000 };

static const char meta_table[] = "CREATE TABLE meta(";

/* A statement of this build that is @sql, at @from or behind it: its end. NULL: none. */
static const char *statement_from(const char *from, const char *sql)
{
	size_t n = strlen(sql);

	for (const char *at = from; (at = strstr(at, sql)); at++)
		if ((at == bsa_sql_schema || at[-1] == '\n') && at[n] == ';')
			return at + n;
	return NULL;
}

struct seen {
	unsigned n; /* tables and views that are ours */
	bool meta;  /* meta among them */
	bool too_many;
};

/* Look at all that the file declares. SQLITE_OK, or SQLite's code. */
static int schema_look(sqlite3 *sql, struct seen *ret)
{
	cleanup_stmt sqlite3_stmt *each = NULL;
	const char *last = bsa_sql_schema; /* in a file of ours, each is behind the one before */
	unsigned n = 0;
	int r = sqlite3_prepare_v2(sql, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid", -1, &each,
	                           NULL);

	*ret = (struct seen){ 0 };
	while (r == SQLITE_OK && (r = sqlite3_step(each)) == SQLITE_ROW) {
		const char *is = (const char *)sqlite3_column_text(each, 0), *end;

		if (!is)
			return SQLITE_NOMEM;
		ret->too_many = n++ == OBJECTS_MAX;
		if (ret->too_many)
			return SQLITE_OK;
		end = statement_from(last, is);
		if (!end)
			end = statement_from(bsa_sql_schema, is);
		if (end)
			last = end;
		ret->n += end != NULL;
		ret->meta |= end && strncmp(is, meta_table, sizeof(meta_table) - 1) == 0;
		r = SQLITE_OK;
	}
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

/* False for a damaged database: the query that reads the damage reports it. */
static bool is_of_another_build(sqlite3 *sql)
{
	cleanup_stmt sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(sql, "SELECT max(value) FROM meta WHERE key = 'schema_digest'", -1, &q, NULL) !=
	    SQLITE_OK)
		return false;
	return sqlite3_step(q) == SQLITE_ROW && sqlite3_column_int64(q, 0) != bsa_header_schema_digest();
}

int bsa_schema_check(sqlite3 *sql, const char *path, struct bsa_err *err)
{
	struct seen seen;
	unsigned ours = 0; /* the number of tables and views that this build makes */
	int r = schema_look(sql, &seen);

	if (r)
		return bsa_fail(err, r == SQLITE_NOMEM ? BSA_E_ENV : BSA_E_INPUT, "the database %s is damaged: %s",
		                path, sqlite3_errmsg(sql));
	if (seen.meta && is_of_another_build(sql))
		return bsa_header_refuse(HEADER_OTHER_BUILD, path, err);
	for (const char *at = bsa_sql_schema; (at = strstr(at, "CREATE ")); at++)
		ours += at == bsa_sql_schema || at[-1] == '\n';
	if (seen.too_many || seen.n != ours)
		return bsa_fail(err, BSA_E_INPUT,
		                "the tables and views of %s are not those of an import: import the trace again", path);
	return 0;
}

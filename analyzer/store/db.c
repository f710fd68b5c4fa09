/*
 * db.c -- opens a database for reading only, by SQLite, whose authorizer refuses other files and
 * switches; and prepares and steps queries.
 */
#include "bsa/db.h"

#include "store/functions.h"
#include "store/header.h"
#include "store/own.h"
#include "store/schema.h"
#include "store/sharing_run.h"
#include "store/sql.h"
#include "store/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_MS = 2000 };

struct bsa_db {
	sqlite3 *sql;
	sqlite3_stmt *unit;
	bool own_queries;
};

struct bsa_query {
	struct bsa_db *db;
	sqlite3_stmt *stmt;
};

static int only_reading(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_USAGE, "a query may only read this database");
}

static int sql_failed(sqlite3 *sql, int code, struct bsa_err *err)
{
	switch (sqlite3_errcode(sql)) {
	case SQLITE_INTERRUPT:
		return bsa_fail(err, BSA_E_STOPPED, "stopped");
	case SQLITE_NOMEM:
		return bsa_fail(err, BSA_E_ENV, "no memory");
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return bsa_fail(err, BSA_E_INPUT, "the database is damaged: %s", sqlite3_errmsg(sql));
	case SQLITE_AUTH:
		return only_reading(err);
	default:
		return bsa_fail(err, code, "%s", sqlite3_errmsg(sql));
	}
}

/* Report the error of a query. */
static int query_failed(const struct bsa_db *db, struct bsa_err *err)
{
	int r = sql_failed(db->sql, BSA_E_USAGE, err);

	if (r != BSA_E_USAGE || !db->own_queries)
		return r;
	return bsa_wrap(err, BSA_E_INPUT, "%s is not as an import makes it", sqlite3_db_filename(db->sql, "main"));
}

/*
 * No other files, and no switches. What would write is refused when it is prepared, and the file is open for
 * reading only.
 */
static int statement_allowed(void *ctx, int action, const char *a, const char *b, const char *database,
                             const char *trigger)
{
	(void)ctx, (void)database, (void)trigger;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
		return SQLITE_DENY;
	case SQLITE_FUNCTION:
		return strcmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA: /* a pragma that reads about tables, and sets nothing */
		return !strncmp(a, "table_", 6) || !strncmp(a, "index_", 6) || !strcmp(a, "user_version") ||
		                       !strcmp(a, "application_id") || !strcmp(a, "integrity_check") ||
		                       !strcmp(a, "quick_check")
		               ? SQLITE_OK
		               : SQLITE_DENY;
	default:
		return SQLITE_OK;
	}
}

/*
 * SQLite would count the memory in use, under a lock at each allocation: a sixth of the instructions of a
 * short query, whose statements cost more to compile than to run. No one asks for the count. Without effect
 * if the process has used SQLite before.
 */
static void count_no_memory(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int bsa_db_open(struct bsa_db **ret, const char *path, struct bsa_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct bsa_db *db;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r; /* O_NONBLOCK: a pipe may have no writer */

	if (fd < 0)
		return bsa_fail(err, errno == ENOMEM || errno == EMFILE || errno == ENFILE ? BSA_E_ENV : BSA_E_INPUT,
		                "cannot read %s: %s", path, strerror(errno));
	r = bsa_header_refuse(bsa_header_look(fd), path, err);
	close(fd);
	if (r)
		return r;

	pthread_once(&once, count_no_memory);
	db = calloc(1, sizeof(*db));
	if (!db)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	if (sqlite3_open_v2(path, &db->sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, bsa_temporary_vfs()) !=
	            SQLITE_OK ||
	    sqlite3_busy_timeout(db->sql, BUSY_MS) != SQLITE_OK || bsa_functions_register(db->sql) != SQLITE_OK ||
	    sqlite3_exec(db->sql,
	                 "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536;"
	                 "SELECT count(*) FROM sqlite_schema",
	                 NULL, NULL, NULL) != SQLITE_OK) {
		r = sql_failed(db->sql, BSA_E_ENV, err);
		bsa_db_close(db);
		return bsa_wrap(err, r, "%s", path);
	}
	/* The file may be a stranger's. */
	r = bsa_schema_check(db->sql, path, err);
	if (r) {
		bsa_db_close(db);
		return r;
	}
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_set_authorizer(db->sql, statement_allowed, NULL);
	*ret = db;
	return 0;
}

void bsa_db_memory(struct bsa_db *db, unsigned kib)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA cache_size = -%u", kib);
	sqlite3_set_authorizer(db->sql, NULL, NULL); /* the authorizer forbids to set anything */
	sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
	sqlite3_set_authorizer(db->sql, statement_allowed, NULL);
}

/* The authorizer forbids each pragma that sets something, so it is absent during the pragma, and only then. */
static void set_query_only(struct bsa_db *db, bool only)
{
	sqlite3_set_authorizer(db->sql, NULL, NULL);
	sqlite3_exec(db->sql, only ? "PRAGMA query_only = ON" : "PRAGMA query_only = OFF", NULL, NULL, NULL);
	sqlite3_set_authorizer(db->sql, statement_allowed, NULL);
}

int bsa_db_make_temporary(struct bsa_db *db, const char *sql, struct bsa_err *err)
{
	int r;

	set_query_only(db, false); /* the file is still open for reading only */
	r = sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : query_failed(db, err);
	set_query_only(db, true);
	return r;
}

struct bsa_db *bsa_db_close(struct bsa_db *db)
{
	if (!db)
		return NULL;
	sqlite3_finalize(db->unit);
	sqlite3_close_v2(db->sql);
	free(db);
	return NULL;
}

void bsa_db_own_queries(struct bsa_db *db, bool own)
{
	db->own_queries = own;
}

void bsa_db_interrupt(struct bsa_db *db)
{
	sqlite3_interrupt(db->sql);
}

/* ---- queries ---- */

/* Blanks and remarks at the most. */
static bool is_nothing(struct bsa_db *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	const char *rest = sql;
	bool none;

	do {
		sql = rest;
		none = sqlite3_prepare_v2(db->sql, sql, -1, &stmt, &rest) == SQLITE_OK && !stmt;
		sqlite3_finalize(stmt);
	} while (none && *rest && rest > sql);
	return none;
}

int bsa_query_new(struct bsa_query **ret, struct bsa_db *db, const char *sql, struct bsa_err *err)
{
	struct bsa_query *q = calloc(1, sizeof(*q));
	static const char *const writing[] = { "ALTER", "CREATE", "DELETE", "DROP", "INSERT", "REPLACE", "UPDATE" };
	const char *rest = "", *first = sql + strspn(sql, " \t\r\n");
	bool writes = false;
	int r = 0;

	if (!q)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	q->db = db;
	/* of a statement that writes to a view SQLite says something else first */
	for (size_t i = 0; i < sizeof(writing) / sizeof(*writing) && !db->own_queries; i++)
		writes |= !sqlite3_strnicmp(first, writing[i], (int)strlen(writing[i]));
	if (sqlite3_prepare_v2(db->sql, sql, -1, &q->stmt, &rest) != SQLITE_OK)
		r = writes ? only_reading(err) : query_failed(db, err);
	else if (!q->stmt)
		r = bsa_fail(err, BSA_E_USAGE, "an empty query");
	else if (!sqlite3_stmt_readonly(q->stmt) || sqlite3_column_count(q->stmt) == 0)
		r = only_reading(err);
	else if (!is_nothing(db, rest))
		r = bsa_fail(err, BSA_E_USAGE, "more than one statement");
	if (r) {
		bsa_query_free(q);
		return r;
	}
	*ret = q;
	return 0;
}

struct bsa_query *bsa_query_free(struct bsa_query *q)
{
	if (!q)
		return NULL;
	sqlite3_finalize(q->stmt);
	free(q);
	return NULL;
}

bool bsa_query_int(struct bsa_query *q, const char *name, int64_t value)
{
	return sqlite3_bind_int64(q->stmt, sqlite3_bind_parameter_index(q->stmt, name), value) == SQLITE_OK;
}

bool bsa_query_real(struct bsa_query *q, const char *name, double value)
{
	return sqlite3_bind_double(q->stmt, sqlite3_bind_parameter_index(q->stmt, name), value) == SQLITE_OK;
}

bool bsa_query_string(struct bsa_query *q, const char *name, const char *value)
{
	return sqlite3_bind_text(q->stmt, sqlite3_bind_parameter_index(q->stmt, name), value, -1, SQLITE_TRANSIENT) ==
	       SQLITE_OK;
}

int bsa_query_step(struct bsa_query *q, struct bsa_err *err)
{
	switch (sqlite3_step(q->stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return query_failed(q->db, err);
	}
}

const char *bsa_query_parameter(const struct bsa_query *q)
{
	const char *name = sqlite3_bind_parameter_name(q->stmt, 1);

	return sqlite3_bind_parameter_count(q->stmt) == 0 ? NULL : name ? name : "?";
}

void bsa_query_again(struct bsa_query *q)
{
	sqlite3_reset(q->stmt);
}

size_t bsa_query_columns(const struct bsa_query *q)
{
	return (size_t)sqlite3_column_count(q->stmt);
}

const char *bsa_query_name(const struct bsa_query *q, size_t column)
{
	const char *name = sqlite3_column_name(q->stmt, (int)column);

	return name ? name : "";
}

size_t bsa_query_find(const struct bsa_query *q, const char *name)
{
	for (size_t i = 0; i < bsa_query_columns(q); i++)
		if (!strcmp(bsa_query_name(q, i), name))
			return i;
	return SIZE_MAX;
}

enum bsa_type bsa_query_type(const struct bsa_query *q, size_t column)
{
	switch (sqlite3_column_type(q->stmt, (int)column)) {
	case SQLITE_INTEGER:
		return BSA_INT;
	case SQLITE_FLOAT:
		return BSA_REAL;
	case SQLITE_TEXT:
		return BSA_STRING;
	case SQLITE_BLOB:
		return BSA_BYTES;
	default:
		return BSA_NULL;
	}
}

int64_t bsa_query_get_int(const struct bsa_query *q, size_t column)
{
	return sqlite3_column_int64(q->stmt, (int)column);
}

bool bsa_query_read_int(int64_t *ret, const struct bsa_query *q, size_t column)
{
	sqlite3_value *value = sqlite3_column_value(q->stmt, (int)column);

	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return false;
	*ret = sqlite3_value_int64(value);
	return true;
}

double bsa_query_get_real(const struct bsa_query *q, size_t column)
{
	return sqlite3_column_double(q->stmt, (int)column);
}

const char *bsa_query_get_string(const struct bsa_query *q, size_t column, size_t *ret_bytes)
{
	const char *text = (const char *)sqlite3_column_text(q->stmt, (int)column);

	if (ret_bytes)
		*ret_bytes = text ? (size_t)sqlite3_column_bytes(q->stmt, (int)column) : 0;
	return text;
}

/* ---- what there is ---- */

static const char *text_of(sqlite3_stmt *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	return text ? text : "";
}

static int report_columns(sqlite3 *sql, const char *relation, int (*report)(void *ctx, const struct bsa_column *column),
                          void *ctx, struct bsa_err *err)
{
	/* In the order of the columns: pragma_table_info has it. */
	static const char text[] =
		"SELECT d.relation, d.column, d.unit, d.about FROM schema_doc d LEFT JOIN "
		"(SELECT r.relation, i.name, i.cid FROM schema_doc r JOIN pragma_table_info(r.relation) i WHERE "
		"r.column = '') c "
		"ON c.relation = d.relation AND c.name = d.column WHERE ?1 IS NULL OR d.relation = ?1 "
		"ORDER BY d.relation, d.column <> '', c.cid";
	cleanup_stmt sqlite3_stmt *q = NULL;
	size_t n = 0;
	int r;

	if (sqlite3_prepare_v2(sql, text, -1, &q, NULL) != SQLITE_OK)
		return sql_failed(sql, BSA_E_INPUT, err);
	sqlite3_bind_text(q, 1, relation, -1, SQLITE_TRANSIENT);
	for (; (r = sqlite3_step(q)) == SQLITE_ROW; n++) {
		struct bsa_column c = { text_of(q, 0), text_of(q, 1), text_of(q, 2), text_of(q, 3) };
		int result = report(ctx, &c);

		if (result)
			return result;
	}
	if (r != SQLITE_DONE)
		return sql_failed(sql, BSA_E_INPUT, err);
	return n ? 0 : bsa_fail(err, BSA_E_USAGE, "no relation '%s'", relation ? relation : "");
}

int bsa_db_schema(struct bsa_db *db, const char *relation, int (*report)(void *ctx, const struct bsa_column *column),
                  void *ctx, struct bsa_err *err)
{
	sqlite3 *sql = NULL;
	int r;

	if (db)
		return report_columns(db->sql, relation, report, ctx, err);
	if (sqlite3_open_v2(":memory:", &sql, SQLITE_OPEN_READWRITE, bsa_temporary_vfs()) != SQLITE_OK ||
	    sqlite3_exec(sql, bsa_sql_schema, NULL, NULL, NULL) != SQLITE_OK)
		r = sql_failed(sql, BSA_E_ENV, err);
	else
		r = report_columns(sql, relation, report, ctx, err);
	sqlite3_close(sql);
	return r;
}

const char *bsa_db_unit(struct bsa_db *db, const char *name)
{
	static const char *const units[] = { "ns",     "time",  "id",  "label", "count",
		                             "number", "bytes", "0/1", "ratio", "text" };
	const char *ret = "";

	if (!db->unit &&
	    sqlite3_prepare_v3(db->sql,
	                       "SELECT min(unit) FROM schema_doc WHERE column = ? HAVING count(DISTINCT unit) = 1", -1,
	                       SQLITE_PREPARE_PERSISTENT, &db->unit, NULL) != SQLITE_OK)
		return "";
	sqlite3_bind_text(db->unit, 1, name, -1, SQLITE_TRANSIENT);
	if (sqlite3_step(db->unit) == SQLITE_ROW)
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (!strcmp(units[i], text_of(db->unit, 0)))
				ret = units[i];
	sqlite3_reset(db->unit);
	return ret;
}

/* ---- what is no query ---- */

int bsa_db_sharing(struct bsa_db *db, int64_t from, int64_t to, bsa_shared_call *report, void *ctx, struct bsa_err *err)
{
	int code = bsa_sharing_of(db->sql, 0, from, to, report, ctx);

	return code > 0 ? sql_failed(db->sql, BSA_E_INPUT, err) : code;
}

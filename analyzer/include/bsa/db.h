/*
 * db.h -- questions to a database that an import made (docs/database.md), without its library's types.
 *
 * One thread at a time for each bsa_db and its queries; bsa_db_interrupt may come from another thread or a
 * signal handler. Nothing can be changed through it. Beside SQLite's own functions, queries have
 *
 *   percentile(value, p)   the exact p-th percentile (nearest rank), p from 0 to 100; an aggregate, NULLs left out
 *   jain(x), jain(x, n)    Jain's index of fairness of each x, once or n times: 1 where all are equal, 1/n where one
 *                          has everything; an aggregate
 *   duration(ns)           as text, with the unit that fits: '1.25 ms'
 *   miss_sums(execution_id, cause, is_primary, late_ns, budget_ns, saved, persistent, replayed, met)
 *                          rows of miss_cause, added up by cause; an aggregate. The rows of an execution must come
 *                          one after the other: rows that are apart count as two executions. persistent: whether
 *                          its status is; replayed: whether miss_without has a row of the cause, and met is its
 *                          met. JSON: an array for each cause: cause, n, misses, persistent, saved, lost_ns,
 *                          worst_ns, late_ns, budget_ns and unsure, as in miss_stat
 */
#ifndef BSA_DB_H
#define BSA_DB_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BSA_SCHEMA_VERSION = 5 };

struct bsa_db;
struct bsa_query;

enum bsa_type { BSA_NULL, BSA_INT, BSA_REAL, BSA_STRING, BSA_BYTES };

/*
 * 0 and *ret owned by the caller. BSA_E_INPUT: it is not there, no database of ours, of a newer version, or cut;
 * BSA_E_ENV: it cannot be read.
 */
int bsa_db_open(struct bsa_db **ret, const char *path, struct bsa_err *err);

/*
 * Whether queries from now on are the caller's own: then one that fails is the file's fault, BSA_E_INPUT,
 * where it would be BSA_E_USAGE. At first they are not.
 */
void bsa_db_own_queries(struct bsa_db *db, bool own);

/*
 * How much of the file is kept in memory, and how much each sort may take before it uses files; 64 MiB at
 * first. @kib > 0.
 */
void bsa_db_memory(struct bsa_db *db, unsigned kib);

/*
 * Run the statements @sql, which create temporary tables for the queries of this connection. No other
 * connection sees these tables, and the file stays as it is. BSA_E_USAGE: a statement failed; tables of the
 * statements before it exist.
 */
int bsa_db_make_temporary(struct bsa_db *db, const char *sql, struct bsa_err *err);

/* NULL is fine. Its queries are to be freed before. Returns NULL. */
struct bsa_db *bsa_db_close(struct bsa_db *db);

/* The query under way answers BSA_E_STOPPED soon. Async-signal-safe. */
void bsa_db_interrupt(struct bsa_db *db);

/* ---- queries ---- */

/*
 * One statement. BSA_E_USAGE: not SQL, more than one, or one that would change something. *ret is owned by the
 * caller.
 */
int bsa_query_new(struct bsa_query **ret, struct bsa_db *db, const char *sql, struct bsa_err *err);

/* NULL is fine. Returns NULL. */
struct bsa_query *bsa_query_free(struct bsa_query *q);

/*
 * Give parameter @name, as in the SQL (":from"), a value. False if the SQL has no parameter of that name. Before the
 * first step.
 */
bool bsa_query_int(struct bsa_query *q, const char *name, int64_t value);
bool bsa_query_real(struct bsa_query *q, const char *name, double value);
bool bsa_query_string(struct bsa_query *q, const char *name, const char *value);

/* The name of the first parameter of the SQL; NULL if the SQL has no parameters. Borrowed from @q. */
const char *bsa_query_parameter(const struct bsa_query *q);

/* 1: there is a row; 0: no more. Negative: why not. */
int bsa_query_step(struct bsa_query *q, struct bsa_err *err);

/* From the beginning again, with the same values, or others. */
void bsa_query_again(struct bsa_query *q);

/* Columns are there before the first step. */
size_t bsa_query_columns(const struct bsa_query *q);
const char *bsa_query_name(const struct bsa_query *q, size_t column);

/* A column's place, or SIZE_MAX. */
size_t bsa_query_find(const struct bsa_query *q, const char *name);

/*
 * The columns of the current row. A text ends with 0; @ret_bytes (may be NULL) is its length without that.
 * The text is borrowed until the next step. NULL: the value is NULL.
 */
enum bsa_type bsa_query_type(const struct bsa_query *q, size_t column);
int64_t bsa_query_get_int(const struct bsa_query *q, size_t column);
/* Both at once: is it BSA_INT, and which? For queries of millions of cells. */
bool bsa_query_read_int(int64_t *ret, const struct bsa_query *q, size_t column);
double bsa_query_get_real(const struct bsa_query *q, size_t column);
const char *bsa_query_get_string(const struct bsa_query *q, size_t column, size_t *ret_bytes);

/* ---- what there is ---- */

struct bsa_column {
	const char *relation, *name; /* name "": about is what a row of the relation is */
	const char *unit; /* "ns", "time", "id", "label", "count", "number", "bytes", "0/1", "ratio", "text", or "" */
	const char *about;
};

/*
 * Every column of every relation, or of @relation; the relation itself first, then in its columns' order. All
 * of it is borrowed for the call. NULL @db: what a database of this version would have. 0, or negative, or
 * what @report returned other than 0. BSA_E_USAGE: no such relation.
 */
int bsa_db_schema(struct bsa_db *db, const char *relation, int (*report)(void *ctx, const struct bsa_column *column),
                  void *ctx, struct bsa_err *err);

/*
 * The unit of what a query calls @name: that of the relations' columns of this name, if they agree; otherwise
 * "". Borrowed for good.
 */
const char *bsa_db_unit(struct bsa_db *db, const char *name);

#endif

/* rows.h -- rows of typed cells: the result of a query, or made in memory. */
#ifndef BSV_BASE_ROWS_H
#define BSV_BASE_ROWS_H

#include "bsa/db.h"

/*
 * The kind and the unit of a column. class is "duration" (unit "ns"), "time" (unit "ns"), "bytes"
 * (unit "bytes"), "percent" (unit "%"), "ratio", "count", "number", "id", "label", "0/1", "text",
 * or NULL; unit is NULL for a class without a unit.
 *
 * Columns of a query are classified by the end of their name: _ns, _at (time), _bytes, _percent,
 * _ratio; a name that begins with n_ is a count; bsa_db_unit classifies the others.
 */
struct bsv_column {
	const char *name, *class, *unit;
};

struct bsv_cell {
	enum bsa_type type;
	int64_t integer;
	double real;
	const char *text; /* borrowed until the next step */
	size_t bytes;
};

struct bsv_rows;

/*
 * Prepare @sql; the first step runs it. *ret is owned by the caller. 0; BSA_E_USAGE: not one SELECT, or a parameter
 * without a value; BSA_E_ENV: no memory.
 */
int bsv_rows_query(struct bsv_rows **ret, struct bsa_db *db, const char *sql, struct bsa_err *err);

/*
 * A parameter of a statement, ":id", and its value: @text, or @integer if @text is NULL. A row with
 * a NULL name ends a table.
 */
struct bsv_value {
	const char *name;
	int64_t integer;
	const char *text;
};

/*
 * As bsv_rows_query, with @values for the parameters of @sql: the others are NULL. NULL @values: @sql has no
 * parameters. A value for a parameter that @sql does not have is a bug.
 */
int bsv_rows_bound(struct bsv_rows **ret, struct bsa_db *db, const char *sql, const struct bsv_value *values,
                   struct bsa_err *err);

/* Create rows in memory, empty; @columns are borrowed for the life of the rows. NULL: no memory. */
struct bsv_rows *bsv_rows_new(const struct bsv_column *columns, size_t n);

/* Frees the rows; accepts NULL. Returns NULL. */
struct bsv_rows *bsv_rows_free(struct bsv_rows *r);

/*
 * Append the next cell to rows in memory, row by row. If there is no memory for it, bsv_rows_step returns BSA_E_ENV.
 * NULL @r: nothing is done, because bsv_rows_new had no memory. @text is copied; NULL: the cell is NULL.
 */
void bsv_rows_int(struct bsv_rows *r, int64_t value);
void bsv_rows_real(struct bsv_rows *r, double value);
void bsv_rows_text(struct bsv_rows *r, const char *text);
void bsv_rows_null(struct bsv_rows *r);

size_t bsv_rows_columns(const struct bsv_rows *r);
const struct bsv_column *bsv_rows_column(const struct bsv_rows *r, size_t column);

/*
 * Go to the next row. Returns 1: there is a row; 0: there are no more. Negative, a bsa_code: what bsa_query_step
 * returned; or BSA_E_ENV: there was no memory for a cell of rows in memory.
 */
int bsv_rows_step(struct bsv_rows *r, struct bsa_err *err);

/*
 * Read the next row ahead; the next step returns the same. So a caller knows that there is something to print before it
 * prints. Returns what bsv_rows_step does; after an error, the next step tries again.
 */
int bsv_rows_peek(struct bsv_rows *r, struct bsa_err *err);

/* Return at most @most rows; 0: no limit. */
void bsv_rows_limit(struct bsv_rows *r, size_t most);

/*
 * How many more rows there are beyond that limit, when the last one within it was returned: counted
 * up to @most, or up to an error. Moves past them.
 */
size_t bsv_rows_beyond(struct bsv_rows *r, size_t most);

/* Begin again at the first row. No cell may have been appended since the first step. */
void bsv_rows_again(struct bsv_rows *r);

/* A cell of the current row. */
struct bsv_cell bsv_rows_cell(const struct bsv_rows *r, size_t column);

/* A cell as an integer, for C code that reads a result itself. A real is truncated. @otherwise: no number is there. */
int64_t bsv_rows_get(const struct bsv_rows *r, size_t column, int64_t otherwise);

#endif

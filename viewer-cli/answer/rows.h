/*
 * rows.h -- rows of typed cells: of a query, or made in memory.
 */
#ifndef BSV_ROWS_H
#define BSV_ROWS_H

#include "bsa/db.h"

/*
 * What sort of thing a column has, and what it is counted in: class is "duration" (unit "ns"), "time" (unit "ns"), "bytes" (unit "bytes"),
 * "percent" (unit "%"), "ratio", "count", "number", "id", "label", "0/1", "text", or NULL; unit is NULL where there is none.
 *
 * Of a query: by the end of the column's name, _ns, _at (time), _bytes, _percent, _ratio; n_ at its beginning is a count; otherwise
 * what bsa_db_unit says.
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

/* @sql is prepared, and not yet run. *ret is owned by the caller. */
int bsv_rows_query(struct bsv_rows **ret, struct bsa_db *db, const char *sql, struct bsa_err *err);

/* None yet; @columns are borrowed for as long as they are. NULL: no memory. */
struct bsv_rows *bsv_rows_new(const struct bsv_column *columns, size_t n);

/* NULL is fine. Returns NULL. */
struct bsv_rows *bsv_rows_free(struct bsv_rows *r);

/* Append the next cell, of rows in memory: row by row. What finds no memory is said by bsv_rows_step. @text is copied; NULL is none. */
void bsv_rows_int(struct bsv_rows *r, int64_t value);
void bsv_rows_real(struct bsv_rows *r, double value);
void bsv_rows_text(struct bsv_rows *r, const char *text);
void bsv_rows_null(struct bsv_rows *r);

size_t bsv_rows_columns(const struct bsv_rows *r);
const struct bsv_column *bsv_rows_column(const struct bsv_rows *r, size_t column);

/* 1: there is a row; 0: no more. Negative: why not. */
int bsv_rows_step(struct bsv_rows *r, struct bsa_err *err);

/* As a step, of which the next one answers the same: to know, before anything is printed, that there is something to print. */
int bsv_rows_peek(struct bsv_rows *r, struct bsa_err *err);

/* There are no more than @most of them; 0: any number. */
void bsv_rows_limit(struct bsv_rows *r, size_t most);

/* From the beginning again; nothing was appended since the first step. */
void bsv_rows_again(struct bsv_rows *r);

/* Of the row. */
struct bsv_cell bsv_rows_cell(const struct bsv_rows *r, size_t column);

/* For C code that reads an answer of its own: */
int64_t bsv_rows_get(const struct bsv_rows *r, size_t column, int64_t otherwise); /* an integer, or a real, cut */

#endif

/*
 * rows.c -- steps through the rows of a query, or of an array of cells, by one interface; a
 * column's name decides its type and unit.
 */
#include "base/rows.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/vector.h"

/* The rows of a query, or rows in memory: then q is NULL and cells holds them. */
struct bsv_rows {
	struct bsa_query *q;
	struct bsv_column *own; /* columns of a query, whose names are owned */
	const struct bsv_column *columns;
	size_t n;

	struct bsv_cell *cells;
	size_t n_cells;
	bool no_memory;

	size_t row, most; /* row: number of rows returned so far; most: limit; 0: no limit */
	bool peeked;
	int ahead; /* status of the step that bsv_rows_peek made */
};

/* ---- columns ---- */

static struct bsv_column column_of_name(struct bsa_db *db, const char *name)
{
	static const struct {
		const char *end, *class, *unit;
	} ends_of[] = {
		{ "_ns", "duration", "ns" },    { "_at", "time", "ns" },        { "_bytes", "bytes", "bytes" },
		{ "_percent", "percent", "%" }, { "_ratio", "ratio", NULL },    { "_app", "text", NULL },
		{ "_model", "text", NULL },     { "_priority", "label", NULL },
	};
	/* Columns that no relation has, or that several relations have in different units. */
	static const struct {
		const char *name, *class;
	} answers[] = {
		{ "app", "text" },
		{ "model", "text" },
		{ "culprit", "text" },
		{ "holder", "text" },
		{ "victim", "text" },
		{ "path", "label" },
		{ "cold", "0/1" },
		{ "primary_cause", "label" },
		{ "n", "count" },
		{ "start", "label" },
		{ "most_by", "label" },
		{ "waited_for", "text" },
		{ "typical_estimated", "0/1" },
	};
	struct bsv_column c = { .name = name };
	const size_t length = strlen(name);
	const char *unit;

	for (size_t i = 0; i < sizeof(ends_of) / sizeof(*ends_of); i++) {
		size_t n = strlen(ends_of[i].end);

		if (length > n && !strcmp(name + length - n, ends_of[i].end)) {
			c.class = ends_of[i].class;
			c.unit = ends_of[i].unit;
			return c;
		}
	}
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (!strcmp(name, answers[i].name)) {
			c.class = answers[i].class;
			return c;
		}
	if (!strncmp(name, "n_", 2)) {
		c.class = "count";
		return c;
	}
	unit = bsa_db_unit(db, name);
	if (!strcmp(unit, "ns")) {
		c.class = "duration";
		c.unit = "ns";
	} else if (*unit) {
		c.class = unit;
		c.unit = !strcmp(unit, "time") ? "ns" : !strcmp(unit, "bytes") ? unit : NULL;
	}
	return c;
}

/* ---- create and free ---- */

struct bsv_rows *bsv_rows_free(struct bsv_rows *r)
{
	if (!r)
		return NULL;
	bsa_query_free(r->q);
	for (size_t i = 0; r->own && i < r->n; i++)
		free((char *)r->own[i].name);
	free(r->own);
	for (size_t i = 0; i < r->n_cells; i++)
		free((char *)r->cells[i].text);
	free(r->cells);
	free(r);
	return NULL;
}

int bsv_rows_bound(struct bsv_rows **ret, struct bsa_db *db, const char *sql, const struct bsv_value *values,
                   struct bsa_err *err)
{
	struct bsv_rows *r = calloc(1, sizeof(*r));
	int failed;

	if (!r)
		return bsv_no_memory(err);
	failed = bsa_query_new(&r->q, db, sql, err);
	for (const struct bsv_value *v = values; !failed && v && v->name; v++) {
		bool has =
			v->text ? bsa_query_string(r->q, v->name, v->text) : bsa_query_int(r->q, v->name, v->integer);

		assert(has && "a value without a parameter");
		(void)has;
	}
	if (!failed && !values && bsa_query_parameter(r->q))
		failed = bsa_fail(err, BSA_E_USAGE, "%s has no value; write texts in '...'", bsa_query_parameter(r->q));
	if (!failed) {
		r->n = bsa_query_columns(r->q);
		r->own = calloc(r->n + 1, sizeof(*r->own));
		r->columns = r->own;
		for (size_t i = 0; r->own && i < r->n && !failed; i++) {
			char *name = strdup(bsa_query_name(r->q, i)); /* a step may free the query's own name */

			r->own[i] = name ? column_of_name(db, name) : (struct bsv_column){ 0 };
			if (!name)
				failed = bsv_no_memory(err);
		}
		if (!r->own)
			failed = bsv_no_memory(err);
	}
	if (failed) {
		bsv_rows_free(r);
		return failed;
	}
	*ret = r;
	return 0;
}

int bsv_rows_query(struct bsv_rows **ret, struct bsa_db *db, const char *sql, struct bsa_err *err)
{
	return bsv_rows_bound(ret, db, sql, NULL, err);
}

struct bsv_rows *bsv_rows_new(const struct bsv_column *columns, size_t n)
{
	struct bsv_rows *r = calloc(1, sizeof(*r));

	if (r) {
		r->columns = columns;
		r->n = n;
	}
	return r;
}

/* ---- rows in memory ---- */

static void cell_append(struct bsv_rows *r, struct bsv_cell cell)
{
	if (!r)
		return;
	if (!bsv_array_grow(&r->cells, r->n_cells, sizeof(*r->cells))) {
		r->no_memory = true;
		free((char *)cell.text);
		return;
	}
	r->cells[r->n_cells++] = cell;
}

void bsv_rows_int(struct bsv_rows *r, int64_t value)
{
	cell_append(r, (struct bsv_cell){ .type = BSA_INT, .integer = value });
}

void bsv_rows_real(struct bsv_rows *r, double value)
{
	cell_append(r, (struct bsv_cell){ .type = BSA_REAL, .real = value });
}

void bsv_rows_text(struct bsv_rows *r, const char *text)
{
	char *own = text ? strdup(text) : NULL;

	if (!r || (text && !own)) {
		if (r)
			r->no_memory = true;
		free(own);
		return;
	}
	cell_append(r, (struct bsv_cell){
			       .type = own ? BSA_STRING : BSA_NULL, .text = own, .bytes = own ? strlen(own) : 0 });
}

void bsv_rows_null(struct bsv_rows *r)
{
	cell_append(r, (struct bsv_cell){ .type = BSA_NULL });
}

/* ---- both kinds of rows ---- */

size_t bsv_rows_columns(const struct bsv_rows *r)
{
	return r->n;
}

const struct bsv_column *bsv_rows_column(const struct bsv_rows *r, size_t column)
{
	assert(column < r->n);
	return &r->columns[column];
}

static int rows_next(struct bsv_rows *r, struct bsa_err *err)
{
	int found;

	if (r->no_memory)
		return bsv_no_memory(err);
	if (r->most && r->row == r->most)
		return 0;
	found = r->q ? bsa_query_step(r->q, err) : (r->row + 1) * r->n <= r->n_cells;
	r->row += found > 0;
	return found;
}

int bsv_rows_step(struct bsv_rows *r, struct bsa_err *err)
{
	if (!r->peeked)
		return rows_next(r, err);
	r->peeked = false;
	return r->ahead;
}

int bsv_rows_peek(struct bsv_rows *r, struct bsa_err *err)
{
	if (!r->peeked)
		r->ahead = rows_next(r, err);
	r->peeked = r->ahead >= 0;
	assert(r->ahead <= 1);
	return r->ahead;
}

void bsv_rows_limit(struct bsv_rows *r, size_t most)
{
	r->most = most;
}

size_t bsv_rows_beyond(struct bsv_rows *r, size_t most)
{
	size_t limit = r->most, n = 0;

	if (!limit || r->row < limit)
		return 0;
	r->most = 0;
	while (n < most && rows_next(r, NULL) > 0)
		n++;
	r->most = limit;
	return n;
}

void bsv_rows_again(struct bsv_rows *r)
{
	r->row = 0;
	r->peeked = false;
	if (r->q)
		bsa_query_again(r->q);
}

struct bsv_cell bsv_rows_cell(const struct bsv_rows *r, size_t column)
{
	struct bsv_cell c;

	assert(column < r->n && r->row > 0);
	if (!r->q)
		return r->cells[(r->row - 1) * r->n + column];
	c = (struct bsv_cell){ .type = bsa_query_type(r->q, column) };
	switch (c.type) {
	case BSA_NULL:
		break;
	case BSA_INT:
		c.integer = bsa_query_get_int(r->q, column);
		break;
	case BSA_REAL:
		c.real = bsa_query_get_real(r->q, column);
		break;
	case BSA_STRING:
	case BSA_BYTES:
		c.text = bsa_query_get_string(r->q, column, &c.bytes);
		break;
	}
	return c;
}

int64_t bsv_rows_get(const struct bsv_rows *r, size_t column, int64_t otherwise)
{
	struct bsv_cell c = bsv_rows_cell(r, column);

	if (c.type == BSA_INT)
		return c.integer;
	if (c.type == BSA_REAL && c.real > -0x1p63 && c.real < 0x1p63)
		return (int64_t)c.real;
	return otherwise;
}

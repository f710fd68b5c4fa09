/* batch.c -- collects rows of numbers, and inserts them a batch at a time. */
#include "store/batch.h"

#include "store/own.h"
#include "store/pages.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the virtual table: what INSERT ... SELECT reads ---- */

struct table {
	sqlite3_vtab base; /* first: SQLite's */
	const struct bsa_store_batch *batch;
};

struct cursor {
	sqlite3_vtab_cursor base; /* first: SQLite's */
	unsigned i;
};

static const struct bsa_store_batch *batch_of(sqlite3_vtab_cursor *cursor)
{
	return ((struct table *)cursor->pVtab)->batch;
}

static int vtab_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	const struct bsa_store_batch *batch = aux;
	char sql[512] = "CREATE TABLE x(c0";
	size_t n = sizeof("CREATE TABLE x(c0") - 1;
	struct table *t;
	int r;

	(void)argc, (void)argv, (void)error;
	for (unsigned i = 1; i < batch->columns; i++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ",c%u", i);
	assert(n + 1 < sizeof(sql));
	sql[n] = ')';
	r = sqlite3_declare_vtab(db, sql);
	if (r != SQLITE_OK)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	t->batch = batch;
	*ret = &t->base;
	return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1000;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = calloc(1, sizeof(*c));

	(void)table;
	if (!c)
		return SQLITE_NOMEM;
	*ret = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int number, const char *name, int argc, sqlite3_value **argv)
{
	(void)number, (void)name, (void)argc, (void)argv;
	((struct cursor *)cursor)->i = 0;
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	((struct cursor *)cursor)->i++;
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->i >= batch_of(cursor)->n;
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	const struct bsa_store_batch *batch = batch_of(cursor);
	unsigned at = ((struct cursor *)cursor)->i;
	int64_t v = batch->rows[(size_t)at * batch->columns + (unsigned)i];

	if (v != NOTHING) /* a result that is not set is NULL */
		sqlite3_result_int64(ctx, v);
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
	*ret = ((struct cursor *)cursor)->i;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = vtab_connect, /* without xCreate: the table exists under its name */
	.xDisconnect = vtab_disconnect,
	.xBestIndex = best_index,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

/* ---- batches ---- */

static const struct {
	const char *table;
	unsigned columns, room;
} all[BATCHES] = {
#define REL_BATCH(name, table, room, about, columns) [BATCH_##name] = { #table, COLUMNS_##name, room },
#include "store/relations.def"
};

int bsa_batch_prepare(struct bsa_store *s, enum batch_of of)
{
	struct bsa_store_batch *b = &s->batches[of];
	char sql[128];

	/* REPLACE: a row that is written again replaces the earlier one. */
	snprintf(sql, sizeof(sql), "REPLACE INTO main.%s SELECT * FROM batch_%s",
	         of == BATCH_execution && s->pages ? LATE_EXECUTIONS : b->table, b->table);
	sqlite3_finalize(b->insert);
	b->insert = bsa_store_prepare(s, sql);
	return s->code;
}

int bsa_batches_init(struct bsa_store *s)
{
	char name[64];

	for (unsigned of = 0; of < BATCHES && !s->code; of++) {
		struct bsa_store_batch *b = &s->batches[of];

		b->table = all[of].table;
		b->columns = all[of].columns;
		b->room = all[of].room;
		b->rows = malloc((size_t)b->room * b->columns * sizeof(*b->rows));
		if (!b->rows)
			return bsa_store_fail(s, BSA_E_ENV, "no memory");
		snprintf(name, sizeof(name), "batch_%s", b->table);
		if (sqlite3_create_module(s->db, name, &module, b) != SQLITE_OK)
			return bsa_store_sql_failed(s);
		bsa_batch_prepare(s, of);
	}
	return s->code;
}

void bsa_batches_finalize(struct bsa_store *s)
{
	for (unsigned of = 0; of < BATCHES; of++) {
		sqlite3_finalize(s->batches[of].insert);
		s->batches[of].insert = NULL;
	}
}

void bsa_batches_fini(struct bsa_store *s)
{
	bsa_batches_finalize(s);
	for (unsigned of = 0; of < BATCHES; of++) {
		bsa_pages_free(s->batches[of].pages);
		free(s->batches[of].rows);
	}
	memset(s->batches, 0, sizeof(s->batches));
}

static int batch_flush(struct bsa_store *s, struct bsa_store_batch *b)
{
	if (s->code || !b->n)
		return s->code;
	if (!b->pages)
		bsa_store_do(s, b->insert);
	for (unsigned i = 0; b->pages && i < b->n && !s->code; i++) {
		int64_t *row = b->rows + (size_t)i * b->columns;

		row[0] = bsa_pages_last(b->pages) + 1; /* ids are given as SQLite would */
		if (bsa_pages_row(b->pages, row))
			bsa_store_fail(s, BSA_E_ENV, "cannot write a scratch file beside %s: %s", s->file.output,
			               bsa_pages_error(b->pages));
	}
	b->n = 0;
	return s->code;
}

void *bsa_batch_row(struct bsa_store *s, enum batch_of of)
{
	struct bsa_store_batch *b = &s->batches[of];

	if (s->code || (b->n == b->room && batch_flush(s, b)))
		return NULL;
	return b->rows + (size_t)b->n++ * b->columns;
}

int bsa_batches_flush(struct bsa_store *s)
{
	for (unsigned of = 0; of < BATCHES; of++)
		batch_flush(s, &s->batches[of]);
	return s->code;
}

const char *bsa_batch_table(enum batch_of of)
{
	return all[of].table;
}

/* ---- pages ---- */

/* Tables with many rows that no other table refers to. */
static const uint8_t to_pages[] = {
	BATCH_slice, BATCH_wait, BATCH_choice, BATCH_fmq_op, BATCH_lookup, BATCH_operation
};

int bsa_batches_to_pages(struct bsa_store *s)
{
	for (size_t i = 0; i < sizeof(to_pages) && !s->code; i++) {
		struct bsa_store_batch *b = &s->batches[to_pages[i]];

		b->pages = bsa_pages_new(&s->file, b->columns);
		if (!b->pages)
			bsa_store_fail(s, BSA_E_ENV, "no memory");
	}
	return s->code;
}

int bsa_batches_attach(struct bsa_store *s, const uint32_t roots[BATCHES])
{
	for (unsigned of = 0; of < BATCHES && !s->code; of++) {
		struct bsa_store_batch *b = &s->batches[of];

		if (b->pages && bsa_pages_attach(b->pages, s->file.fd, roots[of]))
			bsa_store_fail(s, BSA_E_ENV, "cannot write %s: %s", s->file.output, bsa_pages_error(b->pages));
		b->pages = bsa_pages_free(b->pages);
	}
	return s->code;
}

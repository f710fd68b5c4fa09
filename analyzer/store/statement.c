/* statement.c -- binds the values of a row to a statement, and runs it. */
#include "store/statement.h"

#include "store/own.h"

#include <stdio.h>
#include <string.h>

static void bind_number(sqlite3_stmt *q, int at, int64_t v)
{
	if (v == NOTHING)
		sqlite3_bind_null(q, at);
	else
		sqlite3_bind_int64(q, at, v);
}

/* NULL binds NULL. */
static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
	sqlite3_bind_text(q, at, text, -1, SQLITE_TRANSIENT);
}

/* clang-format off */
#define REL_KEY(name, about) bind_number(q, ++at, row->name);
#define REL_INT(name, unit, null, about) bind_number(q, ++at, row->name);
#define REL_LABEL(name, labels, null, about) bind_number(q, ++at, row->name);
#define REL_TEXT(name, null, about) bind_text(q, ++at, row->name);
#define REL_STATEMENT(name, table, about, columns) \
	void bsa_statement_##name(struct bsa_store *s, const struct row_##name *row) \
	{ \
		sqlite3_stmt *q = s->statements[STATEMENT_##name]; \
		int at = 0; \
 \
		if (s->code) \
			return; \
		columns \
		assert(at == COLUMNS_##name); \
		bsa_store_do(s, q); \
	}
/* clang-format on */
#include "store/relations.def"

static sqlite3_stmt *replace_prepare(struct bsa_store *s, const char *table, unsigned columns)
{
	char sql[256];
	int n = snprintf(sql, sizeof(sql), "REPLACE INTO %s VALUES(?", table);

	while (--columns)
		n += snprintf(sql + n, sizeof(sql) - (size_t)n, ",?");
	snprintf(sql + n, sizeof(sql) - (size_t)n, ")");
	return bsa_store_prepare(s, sql);
}

int bsa_statements_init(struct bsa_store *s)
{
#define REL_STATEMENT(name, table, about, columns) \
	s->statements[STATEMENT_##name] = replace_prepare(s, #table, COLUMNS_##name);
#include "store/relations.def"
	return s->code;
}

void bsa_statements_fini(struct bsa_store *s)
{
	for (unsigned i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(s->statements[i]);
	memset(s->statements, 0, sizeof(s->statements));
}

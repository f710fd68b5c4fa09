/* schema.c -- burstscope schema: prints the tables and columns of a database, with units. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/command.h"
#include "base/scoped.h"
#include "base/text.h"
#include "input/relations.h"

static void db_fini(struct bsa_db **db)
{
	bsa_db_close(*db);
}

struct told {
	struct bsv_rows *rows;
	char *title;
};

static int add_relation(void *ctx, const struct bsa_column *c)
{
	struct told *t = ctx;

	if (*c->name)
		return 0;
	bsv_rows_text(t->rows, c->relation);
	bsv_rows_text(t->rows, c->about);
	return 0;
}

static int add_column(void *ctx, const struct bsa_column *c)
{
	struct told *t = ctx;

	if (!*c->name) {
		t->title = bsv_text("%s: each row is one %s", c->relation, c->about);
		return 0;
	}
	bsv_rows_text(t->rows, c->name);
	bsv_rows_text(t->rows, c->unit);
	bsv_rows_text(t->rows, c->about);
	return 0;
}

static bool is_file(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 3 && !strcmp(name + n - 3, ".db")) || !access(name, F_OK);
}

/* An operand is a database if it looks like a file, otherwise a relation. */
static int schema_run(const struct bsv_call *call, struct bsa_err *err)
{
	static const struct bsv_column relations[] = { { "relation", "text", NULL }, { "a row is one", "text", NULL } };
	static const struct bsv_column columns[] = { { "column", "text", NULL },
		                                     { "unit", "label", NULL },
		                                     { "about", "text", NULL } };
	/* in either order, as explain takes them */
	bool last = call->n_operands > 1 && !is_file(call->operands[0]) && is_file(call->operands[1]);
	bool of_file = call->n_operands > 1 || (call->n_operands && is_file(call->operands[0]));
	const char *relation = call->n_operands > of_file ? call->operands[of_file && !last] : NULL;
	__attribute__((cleanup(db_fini))) struct bsa_db *db = NULL;
	bsv_scoped_text *title = NULL;
	bsv_scoped_answer *a = NULL;
	struct told told = { 0 };
	int r = of_file ? bsa_db_open(&db, call->operands[last], err) : 0;

	if (r >= 0 && relation)
		r = bsv_relation_check(db, relation, err);
	if (r < 0)
		return r;
	told.rows = relation ? bsv_rows_new(columns, 3) : bsv_rows_new(relations, 2);
	r = bsa_db_schema(db, relation, relation ? add_column : add_relation, &told, err);
	title = told.title;
	a = bsv_answer_new(call, NULL);
	bsv_answer_rows(a, relation ? "columns" : "relations", title, told.rows);
	return r < 0 ? r : bsv_answer_print(a, false, err);
}

const struct bsv_command bsv_schema = {
	.name = "schema",
	.operands = "[DB] [TABLE]",
	.says = "print the tables, columns and units of a database",
	.examples = "  burstscope schema\n"
		    "  burstscope schema execution\n"
		    "  burstscope schema --format csv bursts.db\n",
	.more = "A time is in ns on one clock for all of a database; a column whose name ends in _ns is a "
		"duration.\n"
		"Without DB: the tables of a database made by this version.\n",
	.max = 2,
	.parts = (const char *const[]){ "relations", "columns", NULL },
	.asks = BSV_ASK_FORMAT,
	.run = schema_run,
};

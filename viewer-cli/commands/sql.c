/* sql.c -- burstscope sql: any question, of a database that is only read. */
#include <signal.h>
#include <stdio.h>

#include "command.h"
#include "coverage.h"
#include "render/render.h"

struct options {
	int format;
};

static const struct bsv_option options[] = {
	{ .name = "format",
	  .kind = BSV_CHOICE,
	  .argument = "table|json|csv",
	  .says = "how rows are printed",
	  .offset = offsetof(struct options, format),
	  .choices = bsv_formats },
	{ .name = NULL },
};

static void db_fini(struct bsa_db **db)
{
	bsa_db_close(*db);
}

static void query_fini(struct bsa_query **q)
{
	bsa_query_free(*q);
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	__attribute__((cleanup(db_fini))) struct bsa_db *db = NULL;
	__attribute__((cleanup(query_fini))) struct bsa_query *q = NULL;
	struct bsv_coverage coverage;
	struct bsv_answer answer = { "sql", call->operands[0], &coverage };
	char text[BSV_COVERAGE_TEXT];
	int r = bsa_db_open(&db, call->operands[0], err);

	if (r >= 0)
		r = bsa_query_new(&q, db, call->operands[1], err);
	if (r >= 0)
		r = bsv_coverage_read(&coverage, db, err);
	if (r >= 0)
		r = bsv_render(stdout, (enum bsv_format)o->format, db, q, &answer, err);
	if (r < 0)
		return r;
	if (o->format == BSV_TABLE && !call->common.quiet) {
		fflush(stdout);
		fprintf(stderr, "coverage: %s\n", bsv_coverage_text(&coverage, text));
	}
	return BSV_DONE;
}

const struct bsv_command bsv_sql = {
	.name = "sql",
	.operands = "DB QUERY",
	.says = "ask a database in SQL",
	.examples = "  burstscope sql bursts.db 'SELECT path, count(*), percentile(e2e_ns, 99) FROM execution GROUP BY "
		    "path'\n"
		    "  burstscope sql --format csv bursts.db 'SELECT * FROM miss_cause' >causes.csv\n",
	.more = "Nothing can be changed. What there is to ask for: burstscope schema. Beside SQLite's functions there "
		"are\n"
		"percentile(value, p), which is exact, jain(x) and duration(ns).\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 2,
	.max = 2,
	.run = run,
};

/* export.c -- burstscope export: rows for other tools, or a trace for a viewer, into a file that is whole or not there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/answer.h"
#include "answer/scoped.h"
#include "answer/template.h"
#include "command.h"
#include "export/output.h"
#include "export/trace.h"
#include "input/relations.h"
#include "render/render.h"

static const char *const formats[] = { "json", "csv", NULL };
static const char *const targets[] = { "rows", "perfetto", "chrome", NULL };
static const char *const details[] = { "all", "executions", "lanes", NULL };

enum { TO_ROWS, TO_PERFETTO, TO_CHROME };

struct options {
	int to, format, detail;
	bool csv_safe, compress;
	const char *relation, *output;
};

static const struct bsv_option options[] = {
	{ .name = "to",
	  .kind = BSV_CHOICE,
	  .argument = "rows|perfetto|chrome|TIME",
	  .says = "rows, a trace for ui.perfetto.dev, or Trace Event JSON; a time: only what began before it",
	  .offset = offsetof(struct options, to),
	  .choices = targets },
	{ .name = "detail",
	  .kind = BSV_CHOICE,
	  .argument = "all|executions|lanes",
	  .says = "of a trace: lanes and misses only; and executions with their phases; and waits and what joins them",
	  .offset = offsetof(struct options, detail),
	  .choices = details },
	{ .name = "compress",
	  .says = "of a trace for Perfetto: make it smaller; Perfetto reads it as it is",
	  .offset = offsetof(struct options, compress) },
	{ .name = "format",
	  .kind = BSV_CHOICE,
	  .argument = "json|csv",
	  .says = "what the other tool reads",
	  .offset = offsetof(struct options, format),
	  .choices = formats },
	{ .name = "csv-safe",
	  .says = "in CSV, put a ' before texts that spreadsheets take for formulas",
	  .offset = offsetof(struct options, csv_safe) },
	{ .name = "relation",
	  .kind = BSV_TEXT,
	  .argument = "TABLE",
	  .says = "its rows; otherwise executions, with the names of app and model",
	  .offset = offsetof(struct options, relation) },
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "FILE",
	  .says = "written when it is whole; otherwise the standard output",
	  .offset = offsetof(struct options, output) },
	{ .name = NULL },
};

/* ---- what ---- */

/* Owned by the caller. */
static char *query(const struct bsv_input *input, const char *relation)
{
	if (!relation || !strcmp(relation, "execution"))
		return bsv_text("%sSELECT * FROM picked ORDER BY id", input->with);
	if (input->picks)
		return bsv_text("%sSELECT * FROM %s WHERE execution_id IN (SELECT id FROM picked)", input->with,
		                relation);
	return bsv_text("SELECT * FROM %s", relation);
}

static int check(const struct bsv_input *input, const char *relation, struct bsa_err *err)
{
	int r = relation ? bsv_relation_check(input->db, relation, err) : 0;

	if (r < 0 || !relation || !input->picks || !strcmp(relation, "execution") ||
	    bsv_relation_has(input->db, relation, "execution_id"))
		return r;
	return bsa_fail(err, BSA_E_USAGE,
	                "--where, --from and --to choose executions, and a row of %s does not say of which one it is",
	                relation);
}

static int print(void *ctx, FILE *to, struct bsa_err *err)
{
	bsv_answer_to(ctx, to);
	return bsv_answer_print(ctx, false, err);
}

/* ---- a trace ---- */

struct traced {
	struct bsv_input *input;
	struct bsv_trace_asked asked;
	const char *name; /* of the file */
};

static int write_trace(void *ctx, FILE *to, struct bsa_err *err)
{
	struct traced *t = ctx;
	struct bsa_err why = { "" };
	int r = bsv_export_trace(t->input, &t->asked, to, &why);

	if (r == BSA_E_ENV && ferror(to))
		return bsa_fail(err, r, "%s cannot be written: %s", t->name, why.text);
	return r < 0 ? bsa_fail(err, r, "%s", why.text) : 0;
}

/* What is said of rows says nothing of a trace, and the other way round. */
static int check_target(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;

	if (o->to == TO_ROWS && (o->detail || o->compress))
		return bsa_fail(err, BSA_E_USAGE, "--%s is about a trace: add --to perfetto",
		                o->detail ? "detail" : "compress");
	if (o->to == TO_ROWS)
		return 0;
	if (o->relation || o->format || o->csv_safe || call->asked.limit)
		return bsa_fail(err, BSA_E_USAGE, "--%s is about rows: it does not go together with --to %s",
		                o->relation   ? "relation"
		                : o->format   ? "format"
		                : o->csv_safe ? "csv-safe"
		                              : "limit",
		                targets[o->to]);
	if (o->compress && o->to != TO_PERFETTO)
		return bsa_fail(err, BSA_E_USAGE, "--compress is about Perfetto's format; JSON is compressed by gzip");
	if (o->to == TO_PERFETTO && !o->output && isatty(STDOUT_FILENO))
		return bsa_fail(err, BSA_E_USAGE, "a trace for Perfetto is binary: give -o FILE.pftrace");
	return 0;
}

static int export_trace(struct bsv_input *input, const struct options *o, struct bsa_err *err)
{
	static const enum bsv_detail_of_export detail[] = { BSV_EXPORT_ALL, BSV_EXPORT_EXECUTIONS, BSV_EXPORT_LANES };
	struct traced t = { .input = input,
		            .asked = { .format = o->to == TO_PERFETTO ? BSV_PERFETTO : BSV_CHROME,
		                       .detail = detail[o->detail],
		                       .compress = o->compress },
		            .name = o->output ? o->output : "the standard output" };
	int r = o->output ? bsv_output_write(o->output, write_trace, &t, err) : write_trace(&t, stdout, err);

	return r;
}

/* ---- rows ---- */

static int export_rows(const struct bsv_call *call, struct bsv_input *input, struct bsa_err *err)
{
	static const int forms[] = { BSV_JSON, BSV_CSV };
	const struct options *o = call->options;
	bsv_scoped_answer *a = NULL;
	struct bsv_call as = *call;

	as.asked.format = forms[o->format];
	as.asked.csv_safe = o->csv_safe;
	a = bsv_answer_new(&as, input);
	bsv_answer_sql(a, o->relation ? o->relation : "execution", NULL, query(input, o->relation));
	return o->output ? bsv_output_write(o->output, print, a, err) : bsv_answer_print(a, false, err);
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	bsv_scoped_input input = { 0 };
	int r = check_target(call, err);

	if (r >= 0)
		r = bsv_input_open(&input, call->operands[0], call, err);
	if (r >= 0)
		r = check(&input, o->relation, err);
	if (r >= 0 && o->output && bsv_output_is(o->output, input.path))
		r = bsa_fail(err, BSA_E_USAGE, "-o %s would replace what is to be exported", o->output);
	if (r < 0)
		return r;
	return o->to == TO_ROWS ? export_rows(call, &input, err) : export_trace(&input, o, err);
}

const struct bsv_command bsv_export = {
	.name = "export",
	.operands = "[INPUT]",
	.says = "write rows for other tools, or a trace for a viewer of traces",
	.examples = "  burstscope export --to perfetto -o bursts.pftrace bursts.db\n"
		    "  burstscope export --format csv -o executions.csv bursts.db\n"
		    "  burstscope export --relation wait --where \"miss IS NOT NULL\" | jq .rows[0]\n",
	.more = "Times and durations of rows are in ns. -o writes FILE whole or not at all. Open FILE.pftrace in\n"
		"ui.perfetto.dev, which reads it in the browser: it goes nowhere.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.asks = BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_ANY | BSV_ASK_LIMIT,
	.run = run,
};

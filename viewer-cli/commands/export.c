/*
 * export.c -- burstscope export: writes rows for other tools, a trace for a viewer, or metrics. A
 * file appears only when it is complete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/command.h"
#include "base/scoped.h"
#include "base/template.h"
#include "export/output.h"
#include "export/trace.h"
#include "input/relations.h"
#include "metrics/generated.h"
#include "metrics/of_database.h"
#include "render/render.h"

static const char *const formats[] = { "json", "csv", NULL };
static const char *const targets[] = { "rows",       "perfetto", "chrome",  "openmetrics",
	                               "prometheus", "rules",    "grafana", NULL };
static const char *const details[] = { "all", "executions", "lanes", NULL };

enum { TO_ROWS, TO_PERFETTO, TO_CHROME, TO_OPENMETRICS, TO_PROMETHEUS, TO_RULES, TO_GRAFANA };

struct options {
	int to, format, detail;
	bool csv_safe, compress;
	const char *relation, *output, *slo;
	unsigned scale;
};

static const struct bsv_option options[] = {
	{ .name = "to",
	  .kind = BSV_CHOICE,
	  .argument = "rows|perfetto|chrome|openmetrics|prometheus|rules|grafana|TIME",
	  .says = "rows; a trace for ui.perfetto.dev, or Trace Event JSON; metrics, rules for Prometheus or a "
	          "dashboard; a time: only what "
	          "began before this time",
	  .offset = offsetof(struct options, to),
	  .choices = targets },
	{ .name = "detail",
	  .kind = BSV_CHOICE,
	  .argument = "all|executions|lanes",
	  .says = "content of a trace: lanes and misses; also executions with their phases; also waits and arrows "
	          "(all)",
	  .offset = offsetof(struct options, detail),
	  .choices = details },
	{ .name = "compress",
	  .says = "compress a trace for Perfetto, which reads it directly",
	  .offset = offsetof(struct options, compress) },
	{ .name = "slo",
	  .kind = BSV_TEXT,
	  .argument = "FILE",
	  .says = "metrics: buckets that end at the latencies of these rules; rules: alerts when a rule is broken; "
	          "burstscope-slo(5)",
	  .offset = offsetof(struct options, slo) },
	{ .name = "scale",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "rules: windows N times shorter than usual, for a trial",
	  .offset = offsetof(struct options, scale),
	  .least = 1,
	  .most = BSV_SCALE_MAX },
	{ .name = "format",
	  .kind = BSV_CHOICE,
	  .argument = "json|csv",
	  .says = "format of rows",
	  .offset = offsetof(struct options, format),
	  .choices = formats },
	{ .name = "csv-safe",
	  .says = "in CSV, put a ' before texts that spreadsheets take for formulas",
	  .offset = offsetof(struct options, csv_safe) },
	{ .name = "relation",
	  .kind = BSV_TEXT,
	  .argument = "TABLE",
	  .says = "export the rows of this table (default: executions, with the names of app and model)",
	  .offset = offsetof(struct options, relation) },
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "FILE",
	  .says = "write to FILE, which appears when it is complete (default: the standard output)",
	  .offset = offsetof(struct options, output) },
	{ .name = NULL },
};

/* ---- rows to export ---- */

static int print_rows(void *ctx, FILE *to, struct bsa_err *err)
{
	bsv_answer_to(ctx, to);
	return bsv_answer_print(ctx, false, err);
}

/* ---- a trace ---- */

struct traced {
	struct bsv_input *input;
	struct bsv_trace_asked asked;
	const char *name; /* name of the file, for errors */
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

/* ---- metrics ---- */

struct measured {
	struct bsv_input *input; /* NULL: of rules and dashboards */
	const struct options *o;
	struct bsv_slo slo;
	struct bsv_metrics *metrics;
	size_t untold; /* number of rules that metrics do not show */
	bool quiet;
};

static void measured_fini(struct measured *m)
{
	bsv_metrics_free(m->metrics);
	bsv_slo_fini(&m->slo);
}

static int write_metrics(void *ctx, FILE *to, struct bsa_err *err)
{
	const struct measured *m = ctx;

	switch (m->o->to) {
	case TO_RULES:
		bsv_metrics_rules(to, &m->slo, m->o->slo, m->o->scale ? m->o->scale : 1);
		if (m->untold && !m->quiet)
			fprintf(stderr,
			        "%zu of the %zu rules of %s cannot be alerts: comments say why; burstscope check "
			        "judges them\n",
			        m->untold, m->slo.n, m->o->slo);
		break;
	case TO_GRAFANA:
		bsv_metrics_dashboard(to);
		break;
	default:
		if (bsv_metrics_print(m->metrics, m->o->to == TO_OPENMETRICS ? BSV_OPENMETRICS : BSV_PROMETHEUS_TEXT,
		                      to) < 0)
			return bsv_no_memory(err);
	}
	return 0;
}

/* @input is NULL for rules and dashboards, which need no recording. */
static int export_metrics(struct bsv_input *input, const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	__attribute__((
		cleanup(measured_fini))) struct measured m = { .input = input, .o = o, .quiet = call->common.quiet };
	struct bsv_buckets buckets;
	int r = o->slo ? bsv_slo_read(&m.slo, o->slo, err) : 0;

	if (r < 0)
		return r;
	if (!bsv_metrics_buckets(&buckets, &m.slo))
		return bsa_fail(err, BSA_E_INPUT, "%s: too many different latencies; at most %d buckets are possible",
		                o->slo, BSV_BUCKETS_MAX);
	m.untold = bsv_metrics_untold(&m.slo);
	if (input) {
		m.metrics = bsv_metrics_new(&buckets);
		r = m.metrics ? bsv_metrics_of_database(m.metrics, input, err) : bsv_no_memory(err);
	}
	if (r < 0)
		return r;
	return o->output ? bsv_output_write(o->output, write_metrics, &m, err) : write_metrics(&m, stdout, err);
}

static bool is_generated(const struct options *o)
{
	return o->to == TO_RULES || o->to == TO_GRAFANA;
}

/* ---- the command ---- */

/* Refuse options for rows with a trace or metrics, and the other way round. */
static int check_options(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;

	if (o->output && !*o->output)
		return bsa_fail(err, BSA_E_USAGE, "-o: the name of the file is empty");
	if (o->to != TO_PERFETTO && o->to != TO_CHROME && (o->detail || o->compress))
		return bsa_fail(err, BSA_E_USAGE, "--%s needs a trace: add --to perfetto",
		                o->detail ? "detail" : "compress");
	if (o->to != TO_ROWS && (o->relation || o->format || o->csv_safe || call->asked.limit))
		return bsa_fail(err, BSA_E_USAGE, "--%s applies to rows only; leave it out with --to %s",
		                o->relation   ? "relation"
		                : o->format   ? "format"
		                : o->csv_safe ? "csv-safe"
		                              : "limit",
		                targets[o->to]);
	if (o->compress && o->to != TO_PERFETTO)
		return bsa_fail(err, BSA_E_USAGE, "--compress needs --to perfetto; compress JSON with gzip");
	if (o->to == TO_PERFETTO && !o->output && isatty(STDOUT_FILENO))
		return bsa_fail(err, BSA_E_USAGE, "a trace for Perfetto is binary: add -o FILE.pftrace");

	if (o->slo && (o->to < TO_OPENMETRICS || o->to == TO_GRAFANA))
		return bsa_fail(err, BSA_E_USAGE, "--slo needs metrics or rules: add --to openmetrics or --to rules");
	if (o->scale && o->to != TO_RULES)
		return bsa_fail(err, BSA_E_USAGE, "--scale needs rules: add --to rules");
	if (o->to == TO_RULES && !o->slo)
		return bsa_fail(err, BSA_E_USAGE,
		                "--to rules needs --slo FILE with the rules that Prometheus shall watch");
	if (is_generated(o) &&
	    (call->n_operands || call->asked.where || call->asked.from.given || call->asked.to.given))
		return bsa_fail(err, BSA_E_USAGE, "--to %s needs no recording: leave out %s", targets[o->to],
		                call->n_operands ? "the input" : "--where, --from and --to TIME");
	return 0;
}

static int export_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	static const enum bsv_detail_of_export detail[] = { BSV_EXPORT_ALL, BSV_EXPORT_EXECUTIONS, BSV_EXPORT_LANES };
	static const int forms[] = { BSV_JSON, BSV_CSV };
	bsv_scoped_input input = { 0 };
	bsv_scoped_answer *a = NULL;
	struct bsv_call as = *call;
	char *rows_sql;
	struct traced t = { .input = &input, .name = o->output ? o->output : "the standard output" };
	bsv_scoped_text *sql = NULL;
	bsv_scoped_rows *rows = NULL;
	int r = check_options(call, err);

	if (r >= 0 && is_generated(o))
		return export_metrics(NULL, call, err);
	if (r >= 0)
		r = bsv_input_open(&input, call->operands[0], call, err);
	if (r >= 0 && o->relation)
		r = bsv_relation_check(input.db, o->relation, err);
	if (r >= 0 && o->relation && input.picks && strcmp(o->relation, "execution") &&
	    !bsv_relation_has(input.db, o->relation, "execution_id"))
		r = bsa_fail(err, BSA_E_USAGE,
		             "--where, --from and --to pick executions, but rows of %s have no execution_id",
		             o->relation);
	if (r >= 0 && o->output && bsv_output_is(o->output, input.path))
		r = bsa_fail(err, BSA_E_USAGE, "-o %s would overwrite the input", o->output);

	/* An empty result may be a typing error in --where: report that it is empty. */
	if (r >= 0 && input.picks && !call->common.quiet) {
		sql = bsv_fill(bsv_sql_export_any,
		               (const struct bsv_placeholder[]){ { "relations", input.with }, { NULL, NULL } });
		r = sql ? bsv_rows_query(&rows, input.db, sql, err) : bsv_no_memory(err);
		if (r >= 0)
			r = bsv_rows_step(rows, err);
		if (!r)
			fputs("no execution was picked: see --where, --from and --to TIME\n", stderr);
		rows = bsv_rows_free(rows);
	}
	if (r < 0)
		return r;
	if (o->to == TO_ROWS) {
		bool executions = !o->relation || !strcmp(o->relation, "execution");

		rows_sql = bsv_fill(executions    ? bsv_sql_export_picked
		                    : input.picks ? bsv_sql_export_of_picked
		                                  : bsv_sql_export_whole,
		                    (const struct bsv_placeholder[]){
					    { "relations", input.with }, { "relation", o->relation }, { NULL, NULL } });
		as.asked.format = forms[o->format];
		as.asked.csv_safe = o->csv_safe;
		a = bsv_answer_new(&as, &input);
		bsv_answer_sql(a, o->relation ? o->relation : "execution", NULL, rows_sql);
		return o->output ? bsv_output_write(o->output, print_rows, a, err) : bsv_answer_print(a, false, err);
	}
	if (o->to >= TO_OPENMETRICS)
		return export_metrics(&input, call, err);
	t.asked = (struct bsv_trace_asked){ .format = o->to == TO_PERFETTO ? BSV_PERFETTO : BSV_CHROME,
		                            .detail = detail[o->detail],
		                            .compress = o->compress };
	return o->output ? bsv_output_write(o->output, write_trace, &t, err) : write_trace(&t, stdout, err);
}

const struct bsv_command bsv_export = {
	.name = "export",
	.operands = "[INPUT]",
	.says = "write rows for other tools, a trace for a viewer of traces, or metrics",
	.examples = "  burstscope export --to perfetto -o bursts.pftrace bursts.db\n"
		    "  burstscope export --to openmetrics --slo camera.slo -o bursts.prom bursts.db\n"
		    "  burstscope export --to rules --slo camera.slo -o bursts.rules.yml\n"
		    "  burstscope export --format csv -o executions.csv bursts.db\n"
		    "  burstscope export --relation wait --where \"miss IS NOT NULL\" | jq .rows[0]\n",
	.more = "Times and durations of rows are in ns. -o writes FILE completely or not at all. Open FILE.pftrace "
		"in ui.perfetto.dev, which reads it in the browser and sends it nowhere.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.asks = BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_ANY | BSV_ASK_LIMIT,
	.run = export_run,
};

/* check.c -- burstscope check: judges a recording by rules: pass, fail, or inconclusive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "base/command.h"
#include "base/scoped.h"
#include "base/template.h"
#include "render/render.h"
#include "report/make.h"
#include "slo/junit.h"
#include "slo/measure.h"
#include "slo/rules.h"

enum { JUNIT = 3 };

struct options {
	const char *slo, *baseline;
	int format;
	bool csv_safe;
	const char *report;
};

static const char *const formats[] = { "table", "json", "csv", "junit", NULL };

static const struct bsv_option options[] = {
	{ .name = "slo",
	  .letter = 's',
	  .kind = BSV_TEXT,
	  .argument = "FILE",
	  .says = "file of rules, one on each line: burstscope-slo(5)",
	  .offset = offsetof(struct options, slo) },
	{ .name = "baseline",
	  .letter = 'b',
	  .kind = BSV_TEXT,
	  .argument = "INPUT",
	  .says = "the recording that rules refer to as baseline",
	  .offset = offsetof(struct options, baseline) },
	{ .name = "format",
	  .kind = BSV_CHOICE,
	  .argument = "table|json|csv|junit",
	  .says = "for people, for programs, or for continuous integration",
	  .offset = offsetof(struct options, format),
	  .choices = formats },
	{ .name = "report",
	  .kind = BSV_TEXT,
	  .argument = "FILE.html",
	  .says = "also write the recording's page, with these verdicts on top: burstscope-report(1)",
	  .offset = offsetof(struct options, report) },
	{ .name = "csv-safe",
	  .says = "in CSV, put a ' before texts that spreadsheets take for formulas",
	  .offset = offsetof(struct options, csv_safe) },
	{ .name = NULL },
};

struct work {
	struct bsv_slo slo;
	struct bsv_input input, baseline;
	struct bsv_slo_result *results;
	size_t failed, unsure, idle; /* rules; idle: that passed, because they had nothing to judge */
};

static void work_fini(struct work *w)
{
	bsv_slo_fini(&w->slo);
	bsv_input_close(&w->input);
	bsv_input_close(&w->baseline);
	free(w->results);
}

/* ---- as rows ---- */

/* For programs: plain numbers. */
static const struct bsv_column numbers[] = {
	{ "line", "number", NULL },   { "rule", "text", NULL },    { "result", "label", NULL },
	{ "figure", "number", NULL }, { "bound", "number", NULL }, { "unit", "label", NULL },
	{ "n", "count", NULL },       { "why", "text", NULL },
};

/* For people: every row has its own unit; the rule contains the bound, and why the number of executions. */
static const struct bsv_column words[] = {
	{ "result", "label", NULL },
	{ "rule", "text", NULL },
	{ "measured", "text", NULL },
	{ "why", "text", NULL },
};

static const char *result_unit(const struct bsv_slo_result *r)
{
	const char *class = r->class ? r->class : "";

	return !strcmp(class, "duration") ? "ns" : !strcmp(class, "percent") ? "%" : NULL;
}

/* "4.2 ms", "3 %", "12"; NULL: unknown. */
static const char *quantity_text(char to[BSV_DURATION_TEXT], const struct bsv_slo_result *r, double value)
{
	const char *u = result_unit(r);

	if (value != value)
		return NULL;
	if (u && !strcmp(u, "ns"))
		return bsv_duration(to, bsv_whole(value));
	snprintf(to, BSV_DURATION_TEXT, u ? "%.4g %s" : "%.15g", value, u);
	return to;
}

/* What a figure of the rule is of, where neither its unit nor the rule says it; "": nothing. */
static const char *figure_noun(const struct bsv_slo_rule *rule, double figure)
{
	switch (rule->kind) {
	case BSV_SLO_STARVATION:
		return figure == 1 ? " wait" : " waits";
	case BSV_SLO_STREAK:
		return figure == 1 ? " miss" : " misses";
	default:
		return "";
	}
}

static void add_number(struct bsv_rows *rows, double value)
{
	if (value != value)
		bsv_rows_null(rows);
	else if (value == floor(value) && fabs(value) < 0x1p53)
		bsv_rows_int(rows, (int64_t)value);
	else
		bsv_rows_real(rows, value);
}

static void add_count(struct bsv_rows *rows, int64_t n)
{
	if (n < 0)
		bsv_rows_null(rows);
	else
		bsv_rows_int(rows, n);
}

static struct bsv_rows *number_rows(const struct work *w)
{
	struct bsv_rows *rows = bsv_rows_new(numbers, sizeof(numbers) / sizeof(*numbers));

	for (size_t i = 0; rows && i < w->slo.n; i++) {
		const struct bsv_slo_result *r = &w->results[i];

		bsv_rows_int(rows, w->slo.rules[i].line);
		bsv_rows_text(rows, w->slo.rules[i].text);
		bsv_rows_text(rows, bsv_slo_word(r->outcome));
		add_number(rows, r->figure);
		add_number(rows, r->bound);
		bsv_rows_text(rows, result_unit(r));
		add_count(rows, r->n);
		bsv_rows_text(rows, r->why);
	}
	return rows;
}

static struct bsv_rows *word_rows(const struct work *w)
{
	struct bsv_rows *rows = bsv_rows_new(words, sizeof(words) / sizeof(*words));
	char text[BSV_DURATION_TEXT], measured[2 * BSV_DURATION_TEXT];

	for (size_t i = 0; rows && i < w->slo.n; i++) {
		const struct bsv_slo_result *r = &w->results[i];
		const char *figure = quantity_text(text, r, r->figure);

		snprintf(measured, sizeof(measured), "%s%s", figure ? figure : "",
		         figure_noun(&w->slo.rules[i], r->figure));
		bsv_rows_text(rows, bsv_slo_result_word(r));
		bsv_rows_text(rows, w->slo.rules[i].text);
		bsv_rows_text(rows, figure && !r->idle ? measured : NULL);
		bsv_rows_text(rows, r->why);
	}
	return rows;
}

/* ---- the answer ---- */

static int exit_status(const struct work *w)
{
	return w->failed ? BSV_FAILED : w->unsure ? BSV_UNSURE : BSV_DONE;
}

/* "5 of 9 rules failed". Owned by the caller; NULL: no memory. */
static char *verdict_text(const struct work *w)
{
	if (w->failed)
		return bsv_text("%zu of %zu rules failed", w->failed, w->slo.n);
	if (w->unsure)
		return bsv_text("no rule failed, and %zu of %zu are inconclusive", w->unsure, w->slo.n);
	return strdup("no rule failed, and none is inconclusive");
}

/* A table already shows the results in rows, and gets one verdict; programs get a verdict for each rule. @why is borrowed until it is printed. */
static void add_verdicts(struct bsv_answer *answer, const struct work *w, const char *why, bool each)
{
	const struct bsv_verdict all = {
		.name = "",
		.figure = NAN,
		.bound = NAN,
		.outcome = w->failed   ? BSV_FAIL
		           : w->unsure ? BSV_CANNOT_TELL
		                       : BSV_PASS,
		.idle = w->idle == w->slo.n,
		.why = why,
	};

	if (!each)
		bsv_answer_verdict(answer, &all);
	for (size_t i = 0; each && i < w->slo.n; i++) {
		const struct bsv_slo_result *r = &w->results[i];
		struct bsv_verdict v = { .name = w->slo.rules[i].text,
			                 .class = r->class,
			                 .figure = r->figure,
			                 .bound = r->bound,
			                 .outcome = r->outcome,
			                 .idle = r->idle,
			                 .why = r->why };

		bsv_answer_verdict(answer, &v);
	}
}

static int print_answer(const struct bsv_call *call, const struct options *o, struct work *w, struct bsa_err *err)
{
	const int format = o->format;
	char covers[BSV_COVERAGE_TEXT];
	struct bsv_call as_asked = *call;
	bsv_scoped_text *title = NULL, *idle = NULL, *why = NULL;
	struct bsv_answer *answer;
	int r;

	if (format == JUNIT) {
		bsv_slo_junit(stdout, o->slo, w->input.path, bsv_coverage_text(&w->input.coverage, covers), &w->slo,
		              w->results);
		return exit_status(w);
	}
	as_asked.asked.format = format;
	as_asked.asked.csv_safe = o->csv_safe;
	idle = w->idle ? bsv_text(", %zu had nothing to judge", w->idle) : strdup("");
	title = bsv_text("%s: %zu of %zu rules passed, %zu failed, %zu inconclusive%s",
	                 exit_status(w) == BSV_DONE ? "PASS"
	                 : w->failed                ? "FAIL"
	                                            : "INCONCLUSIVE",
	                 w->slo.n - w->failed - w->unsure - w->idle, w->slo.n, w->failed, w->unsure, idle ? idle : "");
	why = verdict_text(w);
	answer = bsv_answer_new(&as_asked, &w->input);
	bsv_answer_rows(answer, "rules", NULL, number_rows(w));
	if (format == BSV_TABLE)
		bsv_answer_hide(answer);
	if (format == BSV_TABLE)
		bsv_answer_rows(answer, "results", title, word_rows(w));
	if (w->baseline.path)
		bsv_answer_note(answer, "the baseline is %s", w->baseline.path);
	add_verdicts(answer, w, why, format != BSV_TABLE);
	r = bsv_answer_print(answer, true, err);
	bsv_answer_free(answer);
	return r < 0 ? r : exit_status(w);
}

static int print_sql(const struct work *w, struct bsa_err *err)
{
	for (size_t i = 0; i < w->slo.n; i++) {
		const struct bsv_slo_rule *rule = &w->slo.rules[i];
		bsv_scoped_text *sql = bsv_slo_sql(rule, &w->input);

		if (!sql)
			return bsv_no_memory(err);
		printf("%s-- line %u: %s\n%s", i ? "\n" : "", rule->line, rule->text,
		       *sql ? sql : "-- see --show-sql of burstscope fairness, priority and starvation\n");
	}
	return BSV_DONE;
}

static int measure_all(struct work *w, struct bsa_err *err)
{
	w->results = calloc(w->slo.n, sizeof(*w->results));
	if (!w->results)
		return bsv_no_memory(err);
	for (size_t i = 0; i < w->slo.n; i++) {
		int r = bsv_slo_measure(&w->results[i], &w->slo.rules[i], &w->input, &w->baseline, err);

		if (r < 0)
			return bsa_wrap(err, r, "line %u", w->slo.rules[i].line);
		w->failed += w->results[i].outcome == BSV_FAIL;
		w->unsure += w->results[i].outcome == BSV_CANNOT_TELL;
		w->idle += w->results[i].outcome == BSV_PASS && w->results[i].idle;
	}
	return 0;
}

static int needs_baseline(const struct bsv_slo *slo, const char *path, const char *baseline, struct bsa_err *err)
{
	for (size_t i = 0; !baseline && i < slo->n; i++)
		if (slo->rules[i].baseline)
			return bsa_fail(err, BSA_E_USAGE,
			                "%s: line %u needs a baseline; add --baseline INPUT, or take the line out",
			                path, slo->rules[i].line);
	return 0;
}

/* The page begins with the answer of this command without --report. */
static int make_report(const struct bsv_call *call, const struct options *o, const char *database, struct bsa_err *err)
{
	struct options same = *o;
	const struct bsv_call again = { .command = call->command, .options = &same };
	const struct bsv_report_wanted wanted = { .output = o->report, .first = &again };

	same.report = NULL;
	same.format = BSV_JSON;
	return bsv_report_make(call, database, &wanted, err);
}

static int check_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	__attribute__((cleanup(work_fini))) struct work w = { .failed = 0 };
	int r;

	if (!o->slo)
		return bsa_fail(err, BSA_E_USAGE, "--slo FILE is missing; burstscope-slo(5) describes the file");
	r = bsv_slo_read(&w.slo, o->slo, err);
	if (r >= 0)
		r = needs_baseline(&w.slo, o->slo, o->baseline, err);
	if (r >= 0)
		r = bsv_input_open(&w.input, call->operands[0], call, err);
	if (r >= 0 && o->baseline)
		r = bsv_input_open(&w.baseline, o->baseline, call, err);
	if (r >= 0 && call->asked.show_sql)
		return print_sql(&w, err);
	if (r >= 0)
		r = measure_all(&w, err);
	if (r >= 0 && o->report)
		r = make_report(call, o, w.input.path, err);
	return r < 0 ? r : print_answer(call, o, &w, err);
}

const struct bsv_command bsv_check = {
	.name = "check",
	.operands = "[INPUT]",
	.says = "judge a recording by rules: pass, fail, or inconclusive",
	.examples = "  burstscope check --slo camera.slo trace.db\n"
		    "  burstscope check --slo camera.slo --baseline main.db --format junit trace.db >report.xml\n",
	.more = "A rule is a line: p99 e2e of app=camera path=burst <= 5ms. burstscope-slo(5) describes all "
		"rules.\n"
		"Exit status: 0 all rules passed, 1 a rule failed, 3 no rule failed and one is inconclusive.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN,
	.run = check_run,
};

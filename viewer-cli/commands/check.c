/* check.c -- burstscope check: judges a recording by rules: pass, fail, or inconclusive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "base/command.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"
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

static void add_number(struct bsv_rows *rows, double value)
{
	if (value != value)
		bsv_rows_null(rows);
	else if (value == floor(value) && fabs(value) < 0x1p53)
		bsv_rows_int(rows, (int64_t)value);
	else
		bsv_rows_real(rows, value);
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
		if (r->n < 0)
			bsv_rows_null(rows);
		else
			bsv_rows_int(rows, r->n);
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
		const char *unit = result_unit(r), *noun = "";
		bool is_known = r->figure == r->figure;
		bool is_slower_percent = w->slo.rules[i].kind == BSV_SLO_FAIRNESS && !w->slo.rules[i].bounded;

		/* "4.2 ms", "3 %", "12" */
		if (unit && !strcmp(unit, "ns"))
			bsv_duration(text, bsv_whole(r->figure));
		else
			snprintf(text, sizeof(text), unit ? "%.4g %s" : "%.15g",
			         is_slower_percent ? fabs(r->figure) : r->figure, unit);

		/* subject of the figure, where neither its unit nor the rule has it */
		if (w->slo.rules[i].kind == BSV_SLO_STARVATION)
			noun = r->figure == 1 ? " wait" : " waits";
		else if (w->slo.rules[i].kind == BSV_SLO_STREAK)
			noun = r->figure == 1 ? " miss" : " misses";
		else if (is_slower_percent)
			noun = r->figure < 0 ? " quicker than fair" : " slower than fair";
		snprintf(measured, sizeof(measured), "%s%s", text, noun);
		bsv_rows_text(rows, bsv_slo_result_word(r));
		bsv_rows_text(rows, w->slo.rules[i].text);
		bsv_rows_text(rows, is_known && !r->idle ? measured : NULL);
		bsv_rows_text(rows, r->why);
	}
	return rows;
}

/* ---- the answer ---- */

static int exit_status(const struct work *w)
{
	return w->failed ? BSV_FAILED : w->unsure ? BSV_UNSURE : BSV_DONE;
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

	if (w->failed)
		why = bsv_text("%zu of %zu rules failed", w->failed, w->slo.n);
	else if (w->unsure)
		why = bsv_text("no rule failed, and %zu of %zu are inconclusive", w->unsure, w->slo.n);
	else
		why = strdup("no rule failed, and none is inconclusive");
	answer = bsv_answer_new(&as_asked, &w->input);
	bsv_answer_rows(answer, "rules", NULL, number_rows(w));
	if (format == BSV_TABLE) {
		bsv_answer_hide(answer, "rules");
		bsv_answer_rows(answer, "results", title, word_rows(w));
	}
	if (w->baseline.path)
		bsv_answer_note(answer, "the baseline is %s", w->baseline.path);
	/* A table already shows the results in rows, and gets one verdict; programs get a verdict for each rule. */
	if (format == BSV_TABLE)
		bsv_answer_verdict(answer, &(struct bsv_verdict){ .name = "",
		                                                  .figure = NAN,
		                                                  .bound = NAN,
		                                                  .outcome = w->failed   ? BSV_FAIL
		                                                             : w->unsure ? BSV_CANNOT_TELL
		                                                                         : BSV_PASS,
		                                                  .idle = w->idle == w->slo.n,
		                                                  .why = why });
	for (size_t i = 0; format != BSV_TABLE && i < w->slo.n; i++) {
		const struct bsv_slo_result *result = &w->results[i];

		bsv_answer_verdict(answer, &(struct bsv_verdict){ .name = w->slo.rules[i].text,
		                                                  .class = result->class,
		                                                  .figure = result->figure,
		                                                  .bound = result->bound,
		                                                  .outcome = result->outcome,
		                                                  .idle = result->idle,
		                                                  .why = result->why });
	}
	r = bsv_answer_print(answer, true, err);
	bsv_answer_free(answer);
	return r < 0 ? r : exit_status(w);
}

static int check_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct options same = *o;
	const struct bsv_call again = { .command = call->command, .options = &same };
	const struct bsv_page_wanted wanted = { .output = o->report, .first = &again };
	__attribute__((cleanup(work_fini))) struct work w = { .failed = 0 };
	int r;

	if (!o->slo)
		return bsa_fail(err, BSA_E_USAGE, "--slo FILE is missing; burstscope-slo(5) describes the file");
	r = bsv_slo_read(&w.slo, o->slo, err);
	for (size_t i = 0; r >= 0 && !o->baseline && i < w.slo.n; i++)
		if (w.slo.rules[i].baseline)
			return bsa_fail(err, BSA_E_USAGE,
			                "%s: line %u needs a baseline; add --baseline INPUT, or take the line out",
			                o->slo, w.slo.rules[i].line);
	if (r >= 0)
		r = bsv_input_open(&w.input, call->operands[0], call, err);
	if (r >= 0 && o->baseline)
		r = bsv_input_open(&w.baseline, o->baseline, call, err);
	if (r >= 0 && call->asked.show_sql) {
		for (size_t i = 0; i < w.slo.n; i++) {
			const struct bsv_slo_rule *rule = &w.slo.rules[i];
			bsv_scoped_text *sql = NULL;

			r = bsv_slo_sql(&sql, rule, &w.input, &w.baseline, err);
			if (r < 0)
				return r;
			printf("%s-- line %u: %s\n%s", i ? "\n" : "", rule->line, rule->text,
			       *sql ? sql : "-- see --show-sql of burstscope fairness, priority and starvation\n");
		}
		return BSV_DONE;
	}
	if (r < 0)
		return r;

	w.results = calloc(w.slo.n, sizeof(*w.results));
	if (!w.results)
		return bsv_no_memory(err);
	r = bsv_slo_measure(w.results, w.slo.rules, w.slo.n, &w.input, &w.baseline, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < w.slo.n; i++) {
		w.failed += w.results[i].outcome == BSV_FAIL;
		w.unsure += w.results[i].outcome == BSV_CANNOT_TELL;
		w.idle += w.results[i].outcome == BSV_PASS && w.results[i].idle;
	}
	if (o->report) {
		/* The page begins with the answer of this command without --report. */
		same.report = NULL;
		same.format = BSV_JSON;
		r = bsv_page_make(call, w.input.path, &wanted, err);
	}
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
	.parts = (const char *const[]){ "rules", "results", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN,
	.run = check_run,
};

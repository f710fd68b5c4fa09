/* priority.c -- burstscope priority: did urgent work go first? */
#include <inttypes.h>

#include "answer/report.h"
#include "audit/judge.h"
#include "audit/verdicts.h"
#include "base/command.h"
#include "base/numbers.h"
#include "base/quantity.h"
#include "base/scoped.h"
#include "input/fill.h"

struct options {
	struct bsv_quantity bound;
	const char *honoured;
};

static const struct bsv_option options[] = {
	{ .name = "bound",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "longest time that urgent work may wait for less urgent work (see docs/figures.md, Verdicts)",
	  .offset = offsetof(struct options, bound) },
	{ .name = "honoured",
	  .kind = BSV_TEXT,
	  .argument = "PERCENT",
	  .says = "least percentage of choices for the most urgent work (default: 99)",
	  .offset = offsetof(struct options, honoured) },
	{ .name = NULL },
};

/* Note how many choices and inversions are left out, because the app was on probation. */
static int note_probation(struct bsv_report *report, const struct bsv_placeholder *parts, struct bsa_err *err)
{
	static const struct {
		const char *one, *more;
	} what[] = { { "choice was made", "choices were made" }, { "inversion was", "inversions were" } };
	bsv_scoped_rows *rows = NULL;
	char n[BSV_COUNT_MAX];
	int r = bsv_input_row(&rows, &report->input, bsv_sql_priority_on_probation, parts, err);

	for (size_t i = 0; r > 0 && i < sizeof(what) / sizeof(*what); i++) {
		int64_t left_out = bsv_rows_get(rows, i, 0);

		if (left_out > 0)
			bsv_answer_note(
				report->answer,
				"%s %s while the app was on probation, after its executions had stalled: then they "
				"wait behind others, whatever their priority. %s not counted.",
				bsv_count(n, (uint64_t)left_out), left_out == 1 ? what[i].one : what[i].more,
				left_out == 1 ? "It is" : "They are");
	}
	return r < 0 ? r : 0;
}

static int priority_run(const struct bsv_call *call, struct bsa_err *err)
{
	struct bsv_judgement judgement = { 0 };
	bsv_scoped_report report = { 0 };
	const struct options *o = call->options;
	struct bsv_bounds bounds = { .inversion = o->bound, .honoured_given = o->honoured };
	enum { BOUND = 2, ALLOWED, SLACK };
	struct bsv_placeholder pairs[] = {
		{ "stretches", bsv_sql_stretches },
		{ "unseen_stops", bsv_sql_unseen_stops },
		[BOUND] = { "bound", bsv_sql_inversion_bound },
		[ALLOWED] = { "allowed", bsv_sql_inversion_allowed },
		[SLACK] = { "slack", BSV_SLACK_TEXT },
		{ "off_core", bsv_sql_off_core_of_holder },
		{ "probations", bsv_sql_probations },
		{ "inverted_on_probation", bsv_sql_inverted_on_probation },
		{ "lesser_on_probation", bsv_sql_lesser_on_probation },
		{ NULL, NULL },
	};
	const struct bsv_placeholder choices[] = { { "choices", bsv_sql_choices },
		                                   { "probations", bsv_sql_probations },
		                                   { "inverted_on_probation", bsv_sql_inverted_on_probation },
		                                   { "lesser_on_probation", bsv_sql_lesser_on_probation },
		                                   { NULL, NULL } };
	const struct bsv_placeholder worst[] = { { "probations", bsv_sql_probations },
		                                 { "inverted_on_probation", bsv_sql_inverted_on_probation },
		                                 { NULL, NULL } };
	int r;

	if (o->honoured && !bsv_percent_read(o->honoured, 100, &bounds.honoured))
		return bsa_fail(err, BSA_E_USAGE, "--honoured: '%s' is not a percentage; write 99 or 99.9",
		                o->honoured);
	r = bsv_report_open(&report, call, err);
	if (r >= 0)
		r = bsv_judge(&judgement, BSV_PRIORITY, &report.input, &bounds, err);
	if (r < 0)
		return r;
	if (o->bound.given) {
		pairs[BOUND].text = bsv_report_text(&report, "%" PRId64, o->bound.value);
		pairs[ALLOWED].text = "0";
		pairs[SLACK].text = "0";
	}
	bsv_report_part(&report, "inversions",
	                "inversions: less urgent work of an app on a lane while its more urgent work waited",
	                bsv_sql_priority_inversions, pairs);
	bsv_report_part(&report, "choices", "choices between ready work of different priority",
	                bsv_sql_priority_choices, choices);
	bsv_report_part(&report, "worst", "longest inversions", bsv_sql_priority_worst, worst);
	if (!(judgement.rules[0].figure > 0))
		bsv_answer_hide(report.answer, "worst");
	if (judgement.rules[0].figure > 0 && !o->bound.given)
		bsv_answer_note(report.answer,
		                "bound: the limit of the verdict, a sum of three times. How long the holder may take "
		                "to stop; 1 ms; and how long the holder was on its lane without a cpu. On a busy "
		                "machine the bound is longer, so the verdict does not judge the machine.");
	if (bsv_judged(&judgement) == BSV_FAIL && judgement.rules[0].outcome == BSV_FAIL)
		bsv_answer_note(report.answer, "One inversion in detail: burstscope explain VICTIM_ID");
	r = note_probation(&report, choices, err);
	if (r < 0)
		return r;
	bsv_judgement_show(report.answer, &judgement);
	return bsv_answer_print(report.answer, false, err);
}

const struct bsv_command bsv_priority = {
	.name = "priority",
	.operands = "[INPUT]",
	.says = "inversions of priority, and choices between priorities",
	.examples = "  burstscope priority\n"
		    "  burstscope priority --verdict --bound 5ms --honoured 99.9 recording.db\n"
		    "  burstscope priority --where \"app = 'camera'\" --part worst\n",
	.more = "Parts: inversions, choices, worst. Priority orders the models of one app; for shares between apps "
		"see burstscope fairness. A wait shorter than the holder's time between two checkpoints is not an "
		"inversion. A table of all parts has the first 10 rows of worst, unless --limit is given; --part "
		"worst, "
		"CSV and JSON have all.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "inversions", "choices", "worst", NULL },
	.long_part = "worst",
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_VERDICT,
	.run = priority_run,
};

/* fairness.c -- burstscope fairness: compares the share of the lanes that each app got with its fair share. */
#include <inttypes.h>
#include <math.h>

#include "answer/report.h"
#include "audit/sharing.h"
#include "audit/verdicts.h"
#include "base/command.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "input/fill.h"
#include "render/render.h"

#define WINDOW_NS INT64_C(100000000) /* length of a window in app_lag */

struct options {
	struct bsv_quantity window, bound;
};

static const struct bsv_option options[] = {
	{ .name = "window",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "length of a window for Jain's index: 100ms, or a multiple of it",
	  .offset = offsetof(struct options, window) },
	{ .name = "bound",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "judge by how far an app was behind its share, and not by how slow it was (see docs/figures.md, "
	          "Verdicts)",
	  .offset = offsetof(struct options, bound) },
	{ .name = NULL },
};

/* ---- comparison with ideal fair sharing ---- */

static void add_pair(struct bsv_rows *rows, bool known, int64_t is, int64_t ideal)
{
	if (known) {
		bsv_rows_int(rows, is);
		bsv_rows_int(rows, ideal);
	} else {
		bsv_rows_null(rows);
		bsv_rows_null(rows);
	}
}

static struct bsv_rows *sharing_rows(const struct bsv_sharing_facts *f)
{
	static const struct bsv_column columns[] = {
		{ "app", "text", NULL },           { "n", "count", NULL },
		{ "mean_ns", "duration", "ns" },   { "fair_mean_ns", "duration", "ns" },
		{ "p95_ns", "duration", "ns" },    { "fair_p95_ns", "duration", "ns" },
		{ "work_ns", "duration", "ns" },   { "fair_work_ns", "duration", "ns" },
		{ "got_percent", "percent", "%" }, { "waited_for", "text", NULL },
	};
	struct bsv_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; rows && i < f->n; i++) {
		const struct bsa_shared *of = &f->apps[i].of;
		double got = bsv_sharing_got(of);
		bool is_worse_off =
			got < 1 || (of->n && (of->mean_ns > of->ideal_mean_ns || of->p95_ns > of->ideal_p95_ns));

		if (!of->n && !of->work_ns &&
		    !of->due) /* no work in the asked time: the app was replayed for the others only */
			continue;
		bsv_rows_text(rows, f->apps[i].name);
		bsv_rows_int(rows, of->n);
		add_pair(rows, of->n, of->mean_ns, of->ideal_mean_ns);
		add_pair(rows, of->n, of->p95_ns, of->ideal_p95_ns);
		add_pair(rows, true, of->work_ns, of->ideal_work_ns);
		if (got == got)
			bsv_rows_real(rows, round(1000 * got) / 10);
		else
			bsv_rows_null(rows);
		bsv_rows_text(rows,
		              is_worse_off ? f->apps[i].taker : NULL); /* the app for which it waited, beside itself */
	}
	return rows;
}

static struct bsv_rows *deadline_rows(const struct bsv_sharing_facts *f)
{
	static const struct bsv_column columns[] = {
		{ "app", "text", NULL },
		{ "deadlines", "count", NULL },
		{ "met", "count", NULL },
		{ "fair_met_least", "count", NULL },
		{ "fair_met_most", "count", NULL },
	};
	struct bsv_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; rows && i < f->n; i++) {
		const struct bsa_shared *of = &f->apps[i].of;

		if (!of->due)
			continue;
		bsv_rows_text(rows, f->apps[i].name);
		bsv_rows_int(rows, of->due);
		bsv_rows_int(rows, of->met);
		bsv_rows_int(rows, of->ideal_met_least);
		bsv_rows_int(rows, of->ideal_met_most);
	}
	return rows;
}

/* ---- parts ---- */

/*
 * Where the answer has the first windows alone, the query of their rows; NULL: it has all of them. A table counts the
 * rows that it leaves out.
 */
static const char *first_windows(struct bsv_report *report, const char *window)
{
	const struct bsv_asked *asked = &report->call->asked;
	unsigned most = asked->limit ? asked->limit : report->call->most;
	const struct bsv_placeholder placeholders[] = { { "window", window },
		                                        { "most", bsv_report_text(report, "%u", most) },
		                                        { NULL, NULL } };

	if (!most || asked->format == BSV_TABLE || asked->show_sql)
		return NULL;
	return bsv_report_keep(report, bsv_input_fill(&report->input, bsv_sql_fairness_windows_first, placeholders));
}

static void add_parts(struct bsv_report *report, const struct bsv_sharing_facts *sharing, int64_t window_ns)
{
	bool timed = bsv_input_is_timed(&report->input);
	const char *window = bsv_report_text(report, "%" PRId64, window_ns);
	const struct bsv_placeholder placeholder[] = { { "window", window }, { NULL, NULL } };
	char *shares = bsv_report_keep(
		report,
		bsv_input_fill(&report->input, timed ? bsv_sql_fairness_shares_timed : bsv_sql_fairness_shares, NULL));
	char *cut = bsv_report_keep(report, bsv_input_fill(&report->input, bsv_sql_fairness_windows_cut, placeholder));
	const char *listed = first_windows(report, window);
	const struct bsv_placeholder of_apps[] = { { "shares", shares },
		                                   { "slow", report->input.picks ? bsv_sql_fairness_slowdown_picked
		                                                                 : bsv_sql_fairness_slowdown },
		                                   { NULL, NULL } };
	const struct bsv_placeholder of_pairs[] = {
		{ "pairs", bsv_sharing_pairs(&report->input, report->call->asked.show_sql) }, { NULL, NULL }
	};
	const struct bsv_placeholder of_windows[] = { { "windows", cut }, { "window", window }, { NULL, NULL } };
	const struct bsv_placeholder of_listed[] = { { "windows", listed ? listed : cut }, { NULL, NULL } };

	bsv_answer_rows(report->answer, "sharing", "response times and work by app, real and under fair sharing",
	                sharing_rows(sharing));
	bsv_answer_rows(report->answer, "deadlines", "deadlines by app, real and under fair sharing",
	                deadline_rows(sharing));
	bsv_report_part(report, "apps", "lane time by app", bsv_sql_fairness_apps, of_apps);
	bsv_report_part(report, "jain", "fairness over time, by window", bsv_sql_fairness_jain, of_windows);
	bsv_report_part(report, "interference", "waits for a lane, by app and holder", bsv_sql_fairness_interference,
	                of_pairs);
	bsv_report_show(report, bsv_report_ask(report, "windows", bsv_sql_fairness_windows, of_listed),
	                "lane time by window and app", BSV_FOR_PROGRAMS);
	bsv_answer_note(
		report->answer,
		"Fair: the same arrivals, replayed under the policy fair. Work: the time for which an execution was "
		"ready or on a lane; got: fair work over "
		"work. Met: off its last lane in time; the way back to the app comes on top, so misses may count more "
		"missed deadlines. Fair met least, most: bounds, far apart where runs had no cpu for a time. See "
		"docs/figures.md, Verdicts.");
	if (timed)
		bsv_answer_note(report->answer,
		                "Shares and lags cover the windows of 100 ms that lie between --from and --to.");
	bsv_answer_note(
		report->answer,
		"Ratio: the lane time that the app received, divided by its entitlement. Lag: its entitlement since "
		"it was last idle, less what it received since then. Max lag: the largest lag. A hand-over counts "
		"when it ends, for the apps that have work then. Without --bound, the verdict judges "
		"got, and the response times or deadlines. It does not judge the ratio.");
	if (report->input.coverage.losses)
		bsv_answer_note(report->answer,
		                "Received and entitled are estimates: the time of lost events is in neither, and after "
		                "it a lane counts as that of its last known holder, until an event shows another one.");
	bsv_answer_note(report->answer,
	                "Min ratio, median ratio: of windows, Jain's index: 1 if all apps got the same part of their "
	                "fair share, and 1/n if one of n apps got everything; see also --part windows");
}

static int fairness_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	const struct bsv_bounds bounds = { .lag = o->bound };
	struct bsv_judgement judgement = { 0 };
	__attribute__((cleanup(bsv_sharing_fini))) struct bsv_sharing_facts sharing = { .n = 0 };
	bsv_scoped_report report = { 0 };
	int64_t window_ns = o->window.given ? o->window.value : WINDOW_NS;
	char text[BSV_DURATION_TEXT];
	int r;

	if (window_ns <= 0 || window_ns % WINDOW_NS)
		return bsa_fail(err, BSA_E_USAGE,
		                "--window %s: write a multiple of 100 ms, the length of the recorded windows",
		                bsv_duration(text, window_ns));
	r = bsv_report_open(&report, call, err);
	if (r >= 0)
		r = bsv_sharing_read(&sharing, &report.input, err);
	if (r >= 0 && o->bound.given)
		r = bsv_judge(&judgement, BSV_FAIRNESS, &report.input, &bounds, err);
	else if (r >= 0)
		bsv_judge_sharing(&judgement, &sharing, &report.input);
	if (r < 0)
		return r;
	add_parts(&report, &sharing, window_ns);
	bsv_judgement_show(report.answer, &judgement);
	return bsv_answer_print(report.answer, false, err);
}

const struct bsv_command bsv_fairness = {
	.name = "fairness",
	.operands = "[INPUT]",
	.says = "share of the lanes that each app got, and its fair share",
	.examples = "  burstscope fairness\n"
		    "  burstscope fairness --verdict --bound 5ms recording.db && echo fair\n"
		    "  burstscope fairness --window 1s --from 10s --to 20s\n",
	.more = "Parts: sharing, deadlines, apps, jain, interference, windows. The verdict passes if no app was "
		"much slower, or got much less, than under fair sharing of the same arrivals; with --bound, if no "
		"app was further behind its share than that: see docs/figures.md, Verdicts.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "sharing", "deadlines", "apps", "jain", "interference", "windows", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_VERDICT,
	.whole = true,
	.run = fairness_run,
};

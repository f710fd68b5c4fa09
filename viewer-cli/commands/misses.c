/* misses.c -- burstscope misses: missed deadlines, their causes and culprits. */
#include <string.h>

#include "answer/report.h"
#include "audit/missed.h"
#include "audit/outcomes.h"
#include "audit/verdicts.h"
#include "base/causes.h"
#include "base/command.h"
#include "base/say.h"
#include "base/scoped.h"
#include "base/template.h"

enum { WORST = 10 };

enum by { BY_CAUSE, BY_MODEL, BY_APP };

static const char *const bys[] = { "cause", "model", "app", NULL };

struct options {
	int by;
};

static const struct bsv_option options[] = {
	{ .name = "by",
	  .kind = BSV_CHOICE,
	  .argument = "cause|model|app",
	  .says = "group the first table by cause, model or app",
	  .offset = offsetof(struct options, by),
	  .choices = bys },
	{ .name = NULL },
};

/* Rows of three parts, which the headline needs, too. */
struct found {
	struct bsv_rows *causes, *culprits, *victims;
};

struct counted {
	struct bsv_missed missed;
	const char *undecided; /* NULL: replays decide all */
	int64_t blamed;        /* missed deadlines that have a culprit in the table of culprits */
	bool none;             /* no execution was picked */
};

/* The app that held the lanes in most misses of @cause; "": none, or unknown. */
static const char *main_culprit(struct bsv_report *report, struct bsv_rows *rows, const char *cause)
{
	while (rows && bsv_rows_step(rows, NULL) > 0) {
		const char *app = bsv_rows_cell(rows, 0).text, *model = bsv_rows_cell(rows, 1).text;
		const char *of = bsv_rows_cell(rows, 2).text;

		if (app && model && of && !strcmp(of, cause) && bsv_rows_get(rows, 3, 0))
			return bsv_report_text(report, " (mostly %s's %s)", app, model);
	}
	return "";
}

/* The sum of the counts in @column. */
static int64_t rows_total(struct bsv_rows *rows, size_t column)
{
	int64_t ret = 0;

	if (rows)
		bsv_rows_again(rows);
	while (rows && bsv_rows_step(rows, NULL) > 0)
		ret += bsv_rows_get(rows, column, 0);
	return ret;
}

/* *ret_none: --where, --from and --to leave no execution, so nothing is known of deadlines. */
static const char *headline_of(struct bsv_report *report, const struct bsv_missed *t, const struct found *found,
                               const struct bsv_hole *kinds, bool *ret_none)
{
	char misses[BSV_COUNT_MAX], percent[BSV_PERCENT_TEXT], missed[BSV_COUNT_MAX], all[BSV_RECORDED_TEXT];
	const char *cause = "", *first;
	bsv_scoped_rows *total = NULL;

	if (report->input.picks && !t->deadlines && !t->unknown)
		total = bsv_report_rows(report, bsv_sql_misses_total, kinds);
	*ret_none = total && bsv_rows_step(total, NULL) > 0 && !bsv_rows_get(total, 0, 0);
	if (*ret_none)
		return "no execution fits";
	if (!t->deadlines && !t->unknown)
		return "no execution had a deadline";

	/* "3 of 7 deadlines missed (42.9 %)", or, if some outcomes are unknown, "at least 3 of 9 deadlines were missed; ...". */
	bsv_count(missed, (uint64_t)t->missed);
	bsv_recorded(all, t->deadlines, t->lost);
	if (t->unknown || t->unseen)
		first = bsv_report_keep(report, bsv_missed_at_least(t));
	else if (!t->missed)
		first = bsv_report_text(report, "none of %s deadlines was missed", all);
	else
		first = bsv_report_text(report, "%s of %s deadlines missed (%s %%)", missed, all,
		                        bsv_percent(percent, t->missed, t->deadlines));
	if (!t->missed)
		return first;

	if (found->causes && bsv_rows_step(found->causes, NULL) > 0)
		cause = bsv_rows_cell(found->causes, 0).text;
	cause = cause ? cause : ""; /* NULL: a cause that this version does not know */
	return bsv_report_text(report, "%s; %s of them %s: %s%s", first ? first : "",
	                       *cause ? bsv_count(misses, (uint64_t)bsv_rows_get(found->causes, 1, 0)) : "none", cause,
	                       bsv_cause_says(cause), main_culprit(report, found->culprits, cause));
}

/* Keeps executions that had, or may have had, a deadline. */
static const char who_had_deadlines[] = " AND (deadline IS NOT NULL OR miss IS NOT NULL OR @unknown@)";

/* The holes of the queries. Causes and culprits come from stored sums, or from the causes of each picked miss. */
enum { VICTIMS_HOLES = 8 };

struct questions {
	struct bsv_hole causes[2], culprits[2], kinds[2], worst[2], victims[VICTIMS_HOLES];
};

/* Fill @sql with the conditions for an unknown deadline and an unknown outcome. */
static const char *fill_unknown(struct bsv_report *report, const char *sql)
{
	bsv_scoped_text *unseen = bsv_outcome_unknown(&report->input);
	const struct bsv_hole holes[] = { { "unknown", bsv_sql_deadline_unknown },
		                          { "unseen", unseen },
		                          { NULL, NULL } };

	return bsv_report_keep(report, sql && unseen ? bsv_fill(sql, holes) : NULL);
}

static struct questions questions_make(struct bsv_report *report, enum by by)
{
	bool some = report->input.picks, each = some || report->input.unsure_deadlines || report->input.unsure_outcomes;
	const char *picked = fill_unknown(report, bsv_sql_misses_kinds_picked);
	const char *causes =
		some ? bsv_report_text(report, "stats AS (\n%s)", bsv_sql_miss_stat_picked) : bsv_sql_misses_stored;
	const char *culprits = some ? bsv_report_text(report, "stats AS (\n%s)", bsv_sql_culprit_stat_picked)
	                            : bsv_sql_culprits_stored;
	const char *had = each ? bsv_report_text(report, "%s%s", picked, fill_unknown(report, who_had_deadlines))
	                       : bsv_sql_misses_kinds;
	struct questions ret = {
		.causes = { { "stats", causes } },
		.culprits = { { "stats", culprits } },
		.kinds = { { "kinds", each ? picked : bsv_sql_misses_kinds } },
		.worst = { { "most", bsv_report_text(report, "%d", WORST) } },
	};
	const struct bsv_hole keys[] = { { "keys", by == BY_APP ? "app_id" : "app_id, model, priority" },
		                         { NULL, NULL } };
	const char *why =
		bsv_report_keep(report, bsv_fill(some ? bsv_sql_misses_why_picked : bsv_sql_misses_why, keys));
	const struct bsv_hole by_model[VICTIMS_HOLES] = {
		{ "kinds", had },
		{ "why", why },
		{ "group", "app, model and priority" },
		{ "keys", "app_id, model, priority" },
		{ "names", "CASE h.model WHEN '' THEN '?' ELSE h.model END AS model, h.priority," },
		{ "same_w", "w.app_id IS h.app_id AND w.model IS h.model AND w.priority IS h.priority" },
		{ "order", "h.model, h.priority," },
	};
	const struct bsv_hole by_app[VICTIMS_HOLES] = {
		{ "kinds", had },     { "why", why },  { "group", "app" },
		{ "keys", "app_id" }, { "names", "" }, { "same_w", "w.app_id IS h.app_id" },
		{ "order", "" },
	};

	memcpy(ret.victims, by == BY_APP ? by_app : by_model, sizeof(by_model));
	return ret;
}

/* Hide the latest part if it is empty: --part must find it all the same. */
static void hide_if_empty(struct bsv_report *report, bool empty)
{
	if (empty)
		bsv_answer_hide(report->answer);
}

/* Hide the latest part if no deadline was missed. */
static void hide_unless_missed(struct bsv_report *report, const struct bsv_missed *t)
{
	hide_if_empty(report, !t->missed);
}

/* Whose doing the misses were, as burstscope summary names the doers. Only sums over the whole recording are stored. */
static void add_doers(struct bsv_report *report, const struct bsv_missed *t)
{
	struct bsv_judgement fairness = { .n = 0 };
	bsv_scoped_rows *rows = NULL;
	const char *doers;
	int r;

	if (report->input.picks)
		return;

	/* The verdict on fairness matters where an app may have to be cleared alone. */
	r = bsv_rows_query(&rows, report->input.db, bsv_sql_misses_may_clear, NULL);
	if (r >= 0)
		r = bsv_rows_step(rows, NULL);
	if (r > 0 && bsv_rows_get(rows, 0, 0))
		r = bsv_judge(&fairness, BSV_FAIRNESS, &report->input, NULL, NULL);
	doers = r < 0 ? NULL : bsv_report_keep(report, bsv_missed_doers(&fairness));
	if (!doers)
		return;
	bsv_report_part(
		report, "doers", "whose doing the misses were", bsv_sql_misses_doers,
		(const struct bsv_hole[]){ { "doers", doers }, { "doer", bsv_sql_miss_doer_name }, { NULL, NULL } });
	hide_unless_missed(report, t);
}

static void add_parts(struct bsv_report *report, enum by by, const struct questions *q, struct counted *ret)
{
	const struct found found = { bsv_report_rows(report, bsv_sql_misses_causes, q->causes),
		                     bsv_report_rows(report, bsv_sql_misses_culprits, q->culprits),
		                     bsv_report_rows(report, bsv_sql_misses_victims, q->victims) };
	struct bsv_rows *without = bsv_report_rows(report, bsv_sql_misses_without, NULL), *undecided;
	const bool no_replays = !without || bsv_rows_step(without, NULL) <= 0;
	const char *first, *title = "replays without a culprit; model empty: without the whole app";
	struct bsv_missed *t = &ret->missed;
	char n[BSV_COUNT_MAX], all[BSV_COUNT_MAX];
	int64_t n_undecided;

	/* Add up all victims. n_missed follows n_deadlines; n_unknown and n_unseen are the last columns. */
	*ret = (struct counted){ .missed.lost = report->input.coverage.losses > 0 };
	while (found.victims && bsv_rows_step(found.victims, NULL) > 0) {
		const size_t n_deadlines = by == BY_APP ? 1 : 3, n_columns = bsv_rows_columns(found.victims);

		t->deadlines += bsv_rows_get(found.victims, n_deadlines, 0);
		t->missed += bsv_rows_get(found.victims, n_deadlines + 1, 0);
		t->unknown += bsv_rows_get(found.victims, n_columns - 2, 0);
		t->unseen += bsv_rows_get(found.victims, n_columns - 1, 0);
	}
	first = headline_of(report, t, &found, q->kinds, &ret->none);
	ret->blamed = rows_total(found.culprits, 3);
	undecided = bsv_report_rows(report, bsv_sql_misses_undecided, q->causes);
	ret->undecided = bsv_report_keep(report, bsv_missed_undecided(undecided, t->missed));
	n_undecided = rows_total(undecided, 1);
	if (n_undecided)
		title = bsv_report_text(report, "%s; %s of %s misses are undecided (--part undecided)", title,
		                        bsv_count(n, (uint64_t)n_undecided), bsv_count(all, (uint64_t)t->missed));

	if (by == BY_CAUSE)
		bsv_report_part_of(report, "causes", first, bsv_sql_misses_causes, q->causes, found.causes);
	if (by == BY_CAUSE)
		add_doers(report, t);
	bsv_report_part_of(report, by == BY_APP ? "apps" : "models",
	                   by == BY_CAUSE ? "deadlines by app and model" : first, bsv_sql_misses_victims, q->victims,
	                   found.victims);
	if (by == BY_CAUSE && !t->deadlines && !t->unknown)
		bsv_answer_hide(report->answer);
	bsv_report_part_of(report, "culprits", "misses by who held the lane", bsv_sql_misses_culprits, q->culprits,
	                   found.culprits);
	hide_unless_missed(report, t);
	bsv_report_part_of(report, "without", title, bsv_sql_misses_without, NULL, without);
	hide_if_empty(report, no_replays);
	bsv_report_part_of(report, "undecided", "misses that no replay decides, and why", bsv_sql_misses_undecided,
	                   q->causes, undecided);
	bsv_answer_hide(report->answer); /* a note tells people */
	bsv_report_part(report, "worst",
	                "misses, the most late first; executions submitted after their deadline are last",
	                bsv_sql_misses_worst, q->worst);
	hide_unless_missed(report, t);
	if (by != BY_CAUSE) {
		bsv_report_part_of(report, "causes", "misses by cause", bsv_sql_misses_causes, q->causes, found.causes);
		bsv_answer_hide(report->answer);
	}
	bsv_report_hidden(report, "ledgers", "late and budget ledgers of all misses", bsv_sql_misses_ledger, q->causes);
	bsv_report_hidden(report, "totals", NULL, bsv_sql_misses_total, q->kinds);
}

static void add_notes(struct bsv_report *report, const struct counted *counted)
{
	const struct bsv_missed *t = &counted->missed;
	char blamed[BSV_COUNT_MAX], all[BSV_COUNT_MAX];

	if (counted->none)
		return;
	if (!t->deadlines) {
		bsv_answer_note(report->answer,
		                "The events contain only deadlines that an app passes to the service; others cannot be "
		                "judged.");
		return;
	}
	if (!t->missed)
		return;
	bsv_answer_note(
		report->answer,
		"misses: number with this primary cause; saved: misses avoided without the cause, by "
		"replay, whatever their primary cause, so they may exceed misses; unsure: of misses, those for which "
		"the replay cannot tell, and - where the cause is certain by its definition; lost: time beyond the "
		"typical one, "
		"added up over the misses, so "
		"executions that waited at the same time count once each.");
	if (counted->undecided)
		bsv_answer_note(report->answer, "%s", counted->undecided);
	if (counted->blamed < t->missed)
		bsv_answer_note(report->answer,
		                "Misses by who held the lane has %s of %s misses. The others have a cause without a "
		                "culprit, or "
		                "no single execution is known to have held the lane.",
		                bsv_count(blamed, (uint64_t)counted->blamed), bsv_count(all, (uint64_t)t->missed));
	bsv_answer_note(report->answer,
	                "One miss in detail: burstscope explain ID; all causes of lost time: burstscope "
	                "misses --part ledgers");
}

static int misses_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	bsv_scoped_report report = { 0 };
	struct questions questions;
	struct bsv_rows *prepared = NULL; /* deadlines of preparing models; conditions on executions pick none */
	struct counted counted;
	bool none;
	int r = bsv_report_open(&report, call, err);

	if (r < 0)
		return r;
	if (!report.input.picks)
		prepared = bsv_report_rows(&report, bsv_sql_preparations, NULL);
	none = !prepared || bsv_rows_step(prepared, NULL) <= 0;
	r = none ? bsv_input_needs_executions(&report.input, err) : 0;
	if (r < 0) {
		bsv_rows_free(prepared);
		return r;
	}
	questions = questions_make(&report, (enum by)o->by);
	add_parts(&report, (enum by)o->by, &questions, &counted);
	if (!report.input.picks) {
		bsv_report_part_of(&report, "preparations", "preparations with a deadline", bsv_sql_preparations, NULL,
		                   prepared);
		hide_if_empty(&report, none);
	}
	add_notes(&report, &counted);
	return bsv_answer_print(report.answer, false, err);
}

const struct bsv_command bsv_misses = {
	.name = "misses",
	.operands = "[INPUT]",
	.says = "missed deadlines, their causes and culprits",
	.examples = "  burstscope misses\n"
		    "  burstscope misses --by app recording.db\n"
		    "  burstscope misses --where \"app = 'camera'\" --from 2s --to 5s\n"
		    "  burstscope misses --part worst --format csv >worst.csv\n",
	.more = "Parts: causes, doers, models (or apps), culprits, without, undecided, worst, ledgers, totals. The "
		"cause that "
		"costs most deadlines (misses, saved) need not be the cause that takes most time (lost).\n"
		"Late: answered after the deadline; aborted: stopped at the deadline; predicted: stopped before "
		"it.\n"
		"Persistent: another try cannot succeed.\n"
		"A recording contains only deadlines that apps passed to the service. Where models had to be "
		"prepared by a deadline, there is also the part preparations.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_ANY,
	.run = misses_run,
};

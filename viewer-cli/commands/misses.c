/* misses.c -- burstscope misses: missed deadlines, their causes and culprits. */
#include <string.h>

#include "answer/say.h"
#include "answer/scoped.h"
#include "audit/audit.h"
#include "audit/causes.h"
#include "command.h"

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
	  .says = "what the first table has a row for",
	  .offset = offsetof(struct options, by),
	  .choices = bys },
	{ .name = NULL },
};

/* What is looked at for the first line, too. */
struct found {
	struct bsv_rows *causes, *culprits, *victims;
};

/* Of all victims: n_missed is behind n_deadlines, and n_unknown and n_unseen are last. */
static struct bsv_missed add_up(struct bsv_rows *victims, size_t n_deadlines)
{
	struct bsv_missed ret = { 0 };

	while (victims && bsv_rows_step(victims, NULL) > 0) {
		ret.deadlines += bsv_rows_get(victims, n_deadlines, 0);
		ret.missed += bsv_rows_get(victims, n_deadlines + 1, 0);
		ret.unknown += bsv_rows_get(victims, bsv_rows_columns(victims) - 2, 0);
		ret.unseen += bsv_rows_get(victims, bsv_rows_columns(victims) - 1, 0);
	}
	return ret;
}

/* Who had the lanes in most of the misses of @cause; "" if that is nobody, or unknown. */
static const char *culprit(struct bsv_auditing *a, struct bsv_rows *rows, const char *cause)
{
	while (rows && bsv_rows_step(rows, NULL) > 0) {
		const char *app = bsv_rows_cell(rows, 0).text, *model = bsv_rows_cell(rows, 1).text;
		const char *of = bsv_rows_cell(rows, 2).text;

		if (app && model && of && !strcmp(of, cause) && bsv_rows_get(rows, 3, 0))
			return bsv_audit_text(a, " (mostly %s's %s)", app, model);
	}
	return "";
}

/* "3 of 7 deadlines missed (42.9 %)"; where not all of that is known: "at least 3 of 9 executions missed a deadline". */
static const char *how_many(struct bsv_auditing *a, const struct bsv_missed *t)
{
	char percent[BSV_PERCENT_TEXT], missed[BSV_COUNT_MAX], all[BSV_COUNT_MAX];

	if (t->unknown || t->unseen)
		return bsv_audit_keep(a, bsv_audit_at_least(t));
	bsv_count(missed, (uint64_t)t->missed);
	bsv_count(all, (uint64_t)t->deadlines);
	if (!t->missed)
		return bsv_audit_text(a, "none of %s deadlines was missed", all);
	return bsv_audit_text(a, "%s of %s deadlines missed (%s %%)", missed, all,
	                      bsv_percent(percent, t->missed, t->deadlines));
}

static const char *headline(struct bsv_auditing *a, const struct bsv_missed *t, const struct found *found)
{
	char misses[BSV_COUNT_MAX];
	const char *cause = "", *first = how_many(a, t);

	if (!t->deadlines && !t->unknown)
		return "no execution had a deadline";
	if (!t->missed)
		return first;
	if (found->causes && bsv_rows_step(found->causes, NULL) > 0)
		cause = bsv_rows_cell(found->causes, 0).text;
	cause = cause ? cause : ""; /* a number that has no name here */
	return bsv_audit_text(a, "%s; %s of them %s: %s%s", first ? first : "",
	                      *cause ? bsv_count(misses, (uint64_t)bsv_rows_get(found->causes, 1, 0)) : "none", cause,
	                      bsv_cause_says(cause), culprit(a, found->culprits, cause));
}

/* Executions by what they are, and how many: stored, or counted. */
static const char kinds_of_all[] =
	"SELECT app_id, model, priority, status, miss, n, deadlines, 0 AS unknown, 0 AS unseen FROM execution_count";
static const char kinds_of_picked[] =
	"SELECT app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), "
	"'') AS model, priority, status, miss, "
	"1 AS n,\n\t\tdeadline IS NOT NULL AS deadlines, @unknown@ AS unknown, @unseen@ AS unseen\n\tFROM "
	"picked p WHERE path IS NOT 'prepare'";
static const char who_had_deadlines[] = " AND (deadline IS NOT NULL OR miss IS NOT NULL OR @unknown@)";

/* Causes, or culprits, added up: stored, or from the causes of each miss. */
enum { VICTIMS_HOLES = 8 };

struct questions {
	struct bsv_hole causes[2], culprits[2], kinds[2], worst[2], victims[VICTIMS_HOLES];
};

/* By app and model, or by app alone. */
static void ask_victims(struct bsv_hole ret[VICTIMS_HOLES], const char *kinds, const char *why, bool models)
{
	const struct bsv_hole by_model[VICTIMS_HOLES] = {
		{ "kinds", kinds },
		{ "why", why },
		{ "group", "app, model and priority" },
		{ "keys", "app_id, model, priority" },
		{ "names", "CASE h.model WHEN '' THEN '?' ELSE h.model END AS model, h.priority," },
		{ "same_w", "w.app_id IS h.app_id AND w.model IS h.model AND w.priority IS h.priority" },
		{ "order", "h.model, h.priority," },
	};
	const struct bsv_hole by_app[VICTIMS_HOLES] = {
		{ "kinds", kinds },   { "why", why },  { "group", "app" },
		{ "keys", "app_id" }, { "names", "" }, { "same_w", "w.app_id IS h.app_id" },
		{ "order", "" },
	};

	memcpy(ret, models ? by_model : by_app, sizeof(by_model));
}

/* @sql with the conditions that it is not known whether an execution had a deadline, and whether it met it. */
static const char *with_unknown(struct bsv_auditing *a, const char *sql)
{
	bsv_scoped_text *unseen = bsv_audit_outcome_unknown(&a->input);
	const struct bsv_hole holes[] = { { "unknown", bsv_sql_deadline_unknown },
		                          { "unseen", unseen },
		                          { NULL, NULL } };

	return bsv_audit_keep(a, sql && unseen ? bsv_fill(sql, holes) : NULL);
}

static struct questions ask(struct bsv_auditing *a, enum by by)
{
	bool some = a->input.picks, each = some || a->input.unsure_deadlines || a->input.unsure_outcomes;
	const char *picked = with_unknown(a, kinds_of_picked);
	const char *causes = some ? bsv_audit_text(a, "stats AS (\n%s)", bsv_sql_miss_stat_picked)
	                          : "stats AS (SELECT * FROM miss_stat)";
	const char *culprits = some ? bsv_audit_text(a, "stats AS (\n%s)", bsv_sql_culprit_stat_picked)
	                            : "stats AS (SELECT * FROM culprit_stat)";
	const char *had = each ? bsv_audit_text(a, "%s%s", picked, with_unknown(a, who_had_deadlines)) : kinds_of_all;
	struct questions ret = {
		.causes = { { "stats", causes } },
		.culprits = { { "stats", culprits } },
		.kinds = { { "kinds", each ? picked : kinds_of_all } },
		.worst = { { "most", bsv_audit_text(a, "%d", WORST) } },
	};
	const struct bsv_hole keys[] = { { "keys", by == BY_APP ? "app_id" : "app_id, model, priority" },
		                         { NULL, NULL } };
	const char *why = bsv_audit_keep(a, bsv_fill(some ? bsv_sql_misses_why_picked : bsv_sql_misses_why, keys));

	ask_victims(ret.victims, had, why, by != BY_APP);
	return ret;
}

/* A table that nobody needs to see if nothing was missed. */
static void if_missed(struct bsv_auditing *a, const struct bsv_missed *t)
{
	if (!t->missed)
		bsv_answer_hide(a->answer);
}

/* @rows is taken. NULL: it has none. */
static struct bsv_rows *if_any(struct bsv_rows *rows)
{
	return rows && bsv_rows_step(rows, NULL) > 0 ? rows : bsv_rows_free(rows);
}

static struct bsv_missed parts(struct bsv_auditing *a, enum by by, const struct questions *q)
{
	const struct found found = { bsv_audit_rows(a, bsv_sql_misses_causes, q->causes),
		                     bsv_audit_rows(a, bsv_sql_misses_culprits, q->culprits),
		                     bsv_audit_rows(a, bsv_sql_misses_victims, q->victims) };
	const struct bsv_missed totals = add_up(found.victims, by == BY_APP ? 1 : 3), *t = &totals;
	struct bsv_rows *without = if_any(bsv_audit_rows(a, bsv_sql_misses_without, NULL));
	const char *first = headline(a, t, &found);

	if (by == BY_CAUSE)
		bsv_audit_part_of(a, "causes", first, bsv_sql_misses_causes, q->causes, found.causes);
	bsv_audit_part_of(a, by == BY_APP ? "apps" : "models", by == BY_CAUSE ? "whose deadlines" : first,
	                  bsv_sql_misses_victims, q->victims, found.victims);
	if (by == BY_CAUSE && !t->deadlines && !t->unknown)
		bsv_answer_hide(a->answer);
	bsv_audit_part_of(a, "culprits", "who made them be missed", bsv_sql_misses_culprits, q->culprits,
	                  found.culprits);
	if_missed(a, t);
	if (without)
		bsv_audit_part_of(a, "without", "replayed without them; model empty: without the app altogether",
		                  bsv_sql_misses_without, NULL, without);
	bsv_audit_part(a, "worst", "the worst; last those whose deadline had passed before they were submitted",
	               bsv_sql_misses_worst, q->worst);
	if_missed(a, t);
	if (by != BY_CAUSE) {
		bsv_audit_part_of(a, "causes", "by cause", bsv_sql_misses_causes, q->causes, found.causes);
		bsv_answer_hide(a->answer);
	}
	bsv_audit_hidden(a, "ledgers", "both ledgers of all misses", bsv_sql_misses_ledger, q->causes);
	bsv_audit_hidden(a, "totals", NULL, bsv_sql_misses_total, q->kinds);
	return totals;
}

/* Deadlines of preparing models; NULL: there were none. Conditions on executions pick none of them. */
static struct bsv_rows *preparations(struct bsv_auditing *a)
{
	return a->input.picks ? NULL : if_any(bsv_audit_rows(a, bsv_sql_preparations, NULL));
}

static void notes(struct bsv_auditing *a, const struct bsv_missed *t)
{
	if (!t->deadlines) {
		bsv_answer_note(a->answer,
		                "Deadlines that an app keeps to itself are not in the events: whether it met them it "
		                "alone knows.");
		return;
	}
	if (!t->missed)
		return;
	bsv_answer_note(
		a->answer,
		"misses: of which it is the primary cause; saved: misses that would not have been "
		"without it, by replay; unsure: misses of which that cannot be told; lost: beyond what is typical, "
		"added up over the misses, so "
		"executions that waited at the same time count once each.");
	bsv_answer_note(a->answer, "One of them in full: burstscope explain ID; where all the time went: burstscope "
	                           "misses --part ledgers");
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	cleanup_auditing a = { 0 };
	struct questions questions;
	struct bsv_rows *prepared;
	struct bsv_missed totals;
	int r = bsv_auditing_open(&a, call, err);

	if (r < 0)
		return r;
	prepared = preparations(&a);
	r = prepared ? 0 : bsv_input_needs_executions(&a.input, err);
	if (r < 0)
		return r;
	questions = ask(&a, (enum by)o->by);
	totals = parts(&a, (enum by)o->by, &questions);
	if (prepared)
		bsv_audit_part_of(&a, "preparations", "deadlines of preparing models", bsv_sql_preparations, NULL,
		                  prepared);
	notes(&a, &totals);
	return bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_misses = {
	.name = "misses",
	.operands = "[INPUT]",
	.says = "missed deadlines, their causes and culprits",
	.examples = "  burstscope misses\n"
		    "  burstscope misses --by app recording.db\n"
		    "  burstscope misses --where \"app = 'camera'\" --from 2s --to 5s\n"
		    "  burstscope misses --part worst --format csv >worst.csv\n",
	.more = "Parts: causes, models (or apps), culprits, without, worst, ledgers, totals. Which cause costs most "
		"deadlines "
		"and which one\n"
		"takes most time are two questions: misses and saved answer the first, lost the second.\n"
		"Late: answered after the deadline; aborted: given up at it; given up before: foreseen. Persistent: to "
		"try again is of no use.\n"
		"Only deadlines that the service was told of are in a recording. Where models had to be prepared by a "
		"deadline, there is also\n"
		"the part preparations.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_ANY,
	.run = run,
};

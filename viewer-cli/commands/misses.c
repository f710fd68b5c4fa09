/* misses.c -- burstscope misses: missed deadlines, their causes and culprits. */
#include <string.h>

#include "answer/report.h"
#include "audit/missed.h"
#include "audit/outcomes.h"
#include "audit/verdicts.h"
#include "base/causes.h"
#include "base/command.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "input/fill.h"
#include "render/render.h"

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

/* The parts, and the sums of their rows. */
struct misses {
	struct bsv_report_part *causes, *victims, *culprits, *without, *undecided, *worst, *ledgers, *totals;
	struct bsv_report_part *doers;        /* NULL: the stored sums have other misses, too */
	struct bsv_report_part *preparations; /* NULL: conditions on executions pick no preparation */
	bool prepared;                        /* some model was prepared by a deadline */
	bool replayed;                        /* some miss was replayed without its culprit */
	bool none;                            /* no execution was picked */
	bool scoped;                          /* the recording has a scope, and no condition was given */
	struct bsv_missed missed;
	int64_t blamed;         /* missed deadlines that have a culprit in the table of culprits */
	int64_t n_undecided;    /* missed deadlines that no replay decides */
	const char *headline;   /* the title of the first part */
	const char *unresolved; /* a sentence about the undecided misses; NULL: replays decide all */
};

/* The app that held the lanes in most of the @n misses of @cause; "": none, or unknown. */
static const char *main_culprit(struct bsv_report *report, struct bsv_rows *rows, const char *cause, int64_t n)
{
	while (bsv_rows_step(rows, NULL) > 0) {
		const char *app = bsv_rows_cell(rows, 0).text, *model = bsv_rows_cell(rows, 1).text;
		const char *of = bsv_rows_cell(rows, 2).text;

		int64_t by = bsv_rows_get(rows, 3, 0);

		if (app && model && of && !strcmp(of, cause) && by)
			return bsv_report_text(report, " (%s %s's %s)", 2 * by > n ? "mostly" : "most often", app,
			                       model);
	}
	return "";
}

/* The sum of the counts in @column. */
static int64_t rows_total(struct bsv_rows *rows, size_t column)
{
	int64_t ret = 0;

	bsv_rows_again(rows);
	while (bsv_rows_step(rows, NULL) > 0)
		ret += bsv_rows_get(rows, column, 0);
	return ret;
}

/* The title of the first part. @causes: the rows of that part, before their first. */
static const char *headline_of(struct bsv_report *report, const struct misses *m, struct bsv_rows *causes,
                               struct bsv_rows *culprits)
{
	char misses[BSV_COUNT_MAX], percent[BSV_PERCENT_TEXT], missed[BSV_COUNT_MAX], all[BSV_RECORDED_TEXT];
	const struct bsv_missed *t = &m->missed;
	const char *cause = "", *first;
	int64_t n = 0;

	if (m->none)
		return "no execution fits";
	if (!t->deadlines && !t->unknown)
		return "no execution had a deadline";

	/*
	 * "3 of 7 deadlines missed (42.9 %)", or, if some outcomes are unknown, "at least 3 of 9
	 * deadlines were missed; ...".
	 */
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

	if (bsv_rows_step(causes, NULL) > 0) {
		cause = bsv_rows_cell(causes, 0).text;
		n = bsv_rows_get(causes, 1, 0);
	}
	cause = cause ? cause : ""; /* NULL: a cause that this version does not know */
	return bsv_report_text(report, "%s; %s of them %s: %s%s", first ? first : "",
	                       *cause ? bsv_count(misses, (uint64_t)n) : "none", cause, bsv_cause_text(cause),
	                       main_culprit(report, culprits, cause, n));
}

/*
 * The placeholders of the queries. Causes and culprits come from stored sums, or from the causes of each picked
 * miss.
 */
enum { VICTIMS_PLACEHOLDERS = 8 };

struct placeholders {
	struct bsv_placeholder causes[2], culprits[2], kinds[2], worst[2], victims[VICTIMS_PLACEHOLDERS];
};

/* Fill @sql with the conditions for an unknown deadline and an unknown outcome. */
static const char *fill_unknown(struct bsv_report *report, const char *sql)
{
	const struct bsv_coverage *c = &report->input.coverage;
	bsv_scoped_text *unseen = c->unsure_outcomes ? bsv_outcome_unknown(&report->input) : strdup("0");
	const struct bsv_placeholder placeholders[] = { { "unknown",
		                                          c->unsure_deadlines ? bsv_sql_deadline_unknown : "0" },
		                                        { "unseen", unseen },
		                                        { NULL, NULL } };

	return bsv_report_keep(report, sql && unseen ? bsv_fill(sql, placeholders) : NULL);
}

/* The picked misses, for a FROM: the table that sums_make makes, or for people, who have no such table, a query. */
static const char *missed_of(const struct bsv_report *report)
{
	return report->input.picks && !report->call->asked.show_sql ? bsv_sql_misses_picked_kept
	                                                            : bsv_sql_misses_picked;
}

/*
 * Does sums_make list the picked executions by kind, too? Where both victims and totals are made of them: a table for
 * people has no totals.
 */
static bool keeps_kinds(const struct bsv_report *report)
{
	return report->input.picks && !report->call->asked.show_sql && report->call->asked.format != BSV_TABLE;
}

/* The sums that @rows makes of the picked misses, for a WITH. */
static const char *stats_of(struct bsv_report *report, const char *rows)
{
	bsv_scoped_text *filled =
		bsv_fill(rows, (const struct bsv_placeholder[]){ { "missed", missed_of(report) }, { NULL, NULL } });

	return filled ? bsv_report_keep(report, bsv_fill(bsv_sql_misses_stats,
	                                                 (const struct bsv_placeholder[]){ { "rows", filled },
	                                                                                   { NULL, NULL } }))
	              : NULL;
}

/* Executions for which @condition holds, to be added to kinds. Owned by the caller; NULL: no memory. */
static char *unsure_kinds(const char *condition, const char *unknown, const char *unseen)
{
	return bsv_fill(bsv_sql_misses_and_unsure, (const struct bsv_placeholder[]){ { "condition", condition },
	                                                                             { "unknown", unknown },
	                                                                             { "unseen", unseen },
	                                                                             { NULL, NULL } });
}

/*
 * The kinds of a whole recording, for sums and by victim: the stored counts, and one by one only the executions of
 * which these do not tell enough. Where the import counted executions under no app, the counts do not tell whose
 * deadlines they had.
 */
static void whole_kinds(struct bsv_report *report, const char **ret_all, const char **ret_had)
{
	const struct bsv_coverage *c = &report->input.coverage;
	bsv_scoped_text *n_unknown = bsv_unknown_deadlines(&report->input),
			*n_unseen = bsv_unseen_outcomes(&report->input),
			*condition = bsv_outcome_unknown(&report->input);
	bsv_scoped_text *sums = bsv_fill(bsv_sql_misses_and_sums,
	                                 (const struct bsv_placeholder[]){ { "n_unknown", n_unknown ? n_unknown : "" },
	                                                                   { "n_unseen", n_unseen ? n_unseen : "" },
	                                                                   { NULL, NULL } });
	bsv_scoped_text *unknown = c->unsure_deadlines ? unsure_kinds(bsv_sql_deadline_unknown, "1", "0") : strdup("");
	bsv_scoped_text *unseen = c->unsure_outcomes ? unsure_kinds(condition ? condition : "", "0", "1") : strdup("");

	*ret_all = *ret_had = bsv_sql_misses_kinds;
	if (!c->unsure_deadlines && !c->unsure_outcomes)
		return;
	*ret_all = *ret_had = NULL; /* no memory */
	if (!n_unknown || !n_unseen || !condition || !sums || !unknown || !unseen)
		return;
	*ret_all = bsv_report_text(report, "%s%s", bsv_sql_misses_kinds, sums);
	*ret_had = bsv_report_text(report, "%s%s%s",
	                           c->joined_executions ? bsv_sql_misses_kinds_had : bsv_sql_misses_kinds, unknown,
	                           unseen);
}

static struct placeholders placeholders_make(struct bsv_report *report, enum by by)
{
	bool some = report->input.picks;
	const char *causes = !some                          ? bsv_sql_misses_stored
	                     : report->call->asked.show_sql ? stats_of(report, bsv_sql_miss_stat_picked)
	                                                    : bsv_sql_misses_sums_kept;
	const char *culprits = some ? stats_of(report, bsv_sql_culprit_stat_picked) : bsv_sql_culprits_stored;
	const char *kinds = bsv_sql_misses_kinds_kept, *had = bsv_sql_misses_kinds_kept_had;
	struct placeholders ret = {
		.causes = { { "stats", causes } },
		.culprits = { { "stats", culprits } },
		.worst = { { "missed", missed_of(report) } },
	};
	const struct bsv_placeholder keys[] = { { "keys",
		                                  by == BY_APP ? bsv_sql_victims_by_app : bsv_sql_victims_by_model },
		                                { "missed", missed_of(report) },
		                                { NULL, NULL } };
	const char *why =
		bsv_report_keep(report, bsv_fill(some ? bsv_sql_misses_why_picked : bsv_sql_misses_why, keys));
	const struct bsv_placeholder by_model[VICTIMS_PLACEHOLDERS] = {
		{ "kinds", NULL },
		{ "why", why },
		{ "group", "app, model and priority" },
		{ "keys", bsv_sql_victims_by_model },
		{ "names", bsv_sql_victims_model_names },
		{ "same_w", bsv_sql_victims_same_model },
		{ "order", bsv_sql_victims_model_order },
	};
	const struct bsv_placeholder by_app[VICTIMS_PLACEHOLDERS] = {
		{ "kinds", NULL },  { "why", why },
		{ "group", "app" }, { "keys", bsv_sql_victims_by_app },
		{ "names", "" },    { "same_w", bsv_sql_victims_same_app },
		{ "order", "" },
	};

	memcpy(ret.victims, by == BY_APP ? by_app : by_model, sizeof(by_model));
	if (!some) {
		whole_kinds(report, &kinds, &had);
	} else if (!keeps_kinds(report)) {
		kinds = fill_unknown(report, bsv_sql_misses_kinds_picked);
		had = bsv_report_text(report, "%s%s", kinds ? kinds : "",
		                      fill_unknown(report, bsv_sql_misses_had_deadline));
	}
	ret.kinds[0] = (struct bsv_placeholder){ "kinds", kinds };
	ret.victims[0] = (struct bsv_placeholder){ "kinds", had };
	return ret;
}

/* ---- ask ---- */

/*
 * The doers of the misses, as burstscope summary names them. They are stored as sums by app, model, priority and
 * primary cause: a scope mostly has all misses of such a sum, or none. *ret is NULL: otherwise, or --where, --from or
 * --to pick.
 */
static int doers_ask(struct bsv_report_part **ret, struct bsv_report *report, struct bsa_err *err)
{
	struct bsv_judgement fairness = { .n = 0 };
	const struct bsv_asked *asked = &report->call->asked;
	const struct bsv_placeholder missed[] = { { "missed", missed_of(report) }, { NULL, NULL } };
	const char *chosen =
		report->input.picks ? bsv_report_keep(report, bsv_fill(bsv_sql_misses_chosen, missed)) : "";
	bsv_scoped_rows *rows = NULL, *whole = NULL;
	const char *doers;
	int r = 0;

	*ret = NULL;
	if (asked->where || asked->from.given || asked->to.given)
		return 0;
	if (!chosen)
		return bsv_no_memory(err);
	if (report->input.picks) {
		r = bsv_input_row(&whole, &report->input, bsv_sql_misses_chosen_whole,
		                  (const struct bsv_placeholder[]){ { "chosen", chosen }, missed[0], { NULL, NULL } },
		                  err);
		if (r <= 0 || !bsv_rows_get(whole, 0, 0))
			return r < 0 ? r : 0;
	}

	/* The verdict on fairness matters where an app may have to be cleared alone. */
	r = bsv_rows_query(&rows, report->input.db, bsv_sql_misses_may_clear, err);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r > 0 && bsv_rows_get(rows, 0, 0))
		r = bsv_judge(&fairness, BSV_FAIRNESS, &report->input, NULL, err);
	if (r < 0)
		return r;
	doers = bsv_report_keep(report, bsv_missed_doers(&fairness));
	if (!doers)
		return bsv_no_memory(err);
	*ret = bsv_report_ask(
		report, "doers", bsv_sql_misses_doers,
		(const struct bsv_placeholder[]){
			{ "doers", doers }, { "doer", bsv_sql_miss_doer_name }, { "chosen", chosen }, { NULL, NULL } });
	return 0;
}

/* Take the figures from the totals. */
static int totals_read(struct misses *m, struct bsv_report *report, struct bsa_err *err)
{
	struct bsv_missed *t = &m->missed;
	struct bsv_rows *total;
	int r = bsv_report_read(&total, report, m->totals, err);

	if (r >= 0)
		r = bsv_rows_step(total, err);
	if (r <= 0)
		return r;
	t->deadlines = bsv_rows_get(total, 1, 0);
	t->missed = bsv_rows_get(total, 2, 0);
	t->unknown = bsv_rows_get(total, 8, 0);
	t->unseen = bsv_rows_get(total, 9, 0);
	/* Where --where, --from and --to leave no execution, nothing is known of deadlines. */
	m->none = report->input.picks && !t->deadlines && !t->unknown && !bsv_rows_get(total, 0, 0);
	return 0;
}

/*
 * Take the same figures from the victims, all of which a table needs anyway, and not the totals. n_missed follows
 * n_deadlines; n_unknown and n_unseen are the last columns.
 */
static int victims_add_up(struct misses *m, struct bsv_report *report, enum by by, struct bsa_err *err)
{
	struct bsv_missed *t = &m->missed;
	struct bsv_rows *victims;
	int r = bsv_report_read(&victims, report, m->victims, err);

	while (r >= 0 && (r = bsv_rows_step(victims, err)) > 0) {
		const size_t n_deadlines = by == BY_APP ? 1 : 3, n_columns = bsv_rows_columns(victims);

		t->deadlines += bsv_rows_get(victims, n_deadlines, 0);
		t->missed += bsv_rows_get(victims, n_deadlines + 1, 0);
		t->unknown += bsv_rows_get(victims, n_columns - 2, 0);
		t->unseen += bsv_rows_get(victims, n_columns - 1, 0);
	}
	return r >= 0 && report->input.picks && !t->deadlines && !t->unknown ? totals_read(m, report, err) : r;
}

/* Read the parts from which titles and notes take their figures. */
static int misses_read(struct misses *m, struct bsv_report *report, enum by by, struct bsa_err *err)
{
	struct bsv_rows *causes, *culprits, *without, *undecided;
	struct bsv_missed *t = &m->missed;
	int r = report->call->asked.format == BSV_TABLE ? victims_add_up(m, report, by, err)
	                                                : totals_read(m, report, err);

	if (r >= 0)
		r = bsv_report_read(&causes, report, m->causes, err);
	if (r >= 0)
		r = bsv_report_read(&culprits, report, m->culprits, err);
	if (r >= 0)
		r = bsv_report_read(&without, report, m->without, err);
	if (r >= 0)
		r = bsv_report_read(&undecided, report, m->undecided, err);
	if (r < 0)
		return r;

	t->lost = report->input.coverage.losses > 0;
	m->headline = headline_of(report, m, causes, culprits);
	m->blamed = rows_total(culprits, 3);
	m->replayed = bsv_rows_step(without, NULL) > 0;
	m->n_undecided = rows_total(undecided, 1);
	m->unresolved = bsv_report_keep(report, bsv_missed_undecided(undecided, t->missed));
	return 0;
}

/* List the picked misses and executions, and add them up, once for all parts that are made of them. */
static int sums_make(struct bsv_report *report, struct bsa_err *err)
{
	bsv_scoped_text *sql = NULL, *stats = NULL, *kinds = NULL;
	int r = 0;

	if (!report->input.picks || report->call->asked.show_sql)
		return 0;
	stats = bsv_fill(bsv_sql_miss_stat_picked,
	                 (const struct bsv_placeholder[]){ { "missed", bsv_sql_misses_picked_kept }, { NULL, NULL } });
	sql = bsv_input_fill(&report->input, bsv_sql_misses_sums_made,
	                     (const struct bsv_placeholder[]){
				     { "missed", bsv_sql_misses_picked }, { "stats", stats }, { NULL, NULL } });
	if (keeps_kinds(report)) {
		const char *all = fill_unknown(report, bsv_sql_misses_kinds_picked);

		kinds = bsv_input_fill(&report->input, bsv_sql_misses_kinds_made,
		                       (const struct bsv_placeholder[]){ { "kinds", all }, { NULL, NULL } });
		r = kinds ? bsa_db_make_temporary(report->input.db, kinds, err) : bsv_no_memory(err);
	}
	if (r >= 0)
		r = sql ? bsa_db_make_temporary(report->input.db, sql, err) : bsv_no_memory(err);
	return r;
}

static int misses_ask(struct misses *m, struct bsv_report *report, enum by by, struct bsa_err *err)
{
	const struct placeholders placeholders = placeholders_make(report, by);
	int r = sums_make(report, err);

	if (r < 0)
		return r;
	m->causes = bsv_report_ask(report, "causes", bsv_sql_misses_causes, placeholders.causes);
	if (by == BY_CAUSE && (r = doers_ask(&m->doers, report, err)) < 0)
		return r;
	m->victims =
		bsv_report_ask(report, by == BY_APP ? "apps" : "models", bsv_sql_misses_victims, placeholders.victims);
	m->culprits = bsv_report_ask(report, "culprits", bsv_sql_misses_culprits, placeholders.culprits);
	m->without = bsv_report_ask(report, "without", bsv_sql_misses_without, NULL);
	m->undecided = bsv_report_ask(report, "undecided", bsv_sql_misses_undecided, placeholders.causes);
	m->worst = bsv_report_ask(report, "worst", bsv_sql_misses_worst, placeholders.worst);
	m->ledgers = bsv_report_ask(report, "ledgers", bsv_sql_misses_ledger, placeholders.causes);
	m->totals = bsv_report_ask(report, "totals", bsv_sql_misses_total, placeholders.kinds);
	return misses_read(m, report, by, err);
}

/* ---- show ---- */

static void misses_show(const struct misses *m, struct bsv_report *report, enum by by)
{
	const struct bsv_missed *t = &m->missed;
	const enum bsv_readers of_misses = t->missed ? BSV_FOR_ALL : BSV_FOR_PROGRAMS;
	const bool no_deadlines = !t->deadlines && !t->unknown;
	const char *replays = "replays without a culprit; model empty: without the whole app";
	char n[BSV_COUNT_MAX], all[BSV_COUNT_MAX];

	if (m->n_undecided)
		replays = bsv_report_text(report, "%s; no replay decides %s of %s misses (--part undecided)", replays,
		                          bsv_count(n, (uint64_t)m->n_undecided), bsv_count(all, (uint64_t)t->missed));

	/* The first part has the headline: causes, or the victims by which --by groups. */
	if (by == BY_CAUSE)
		bsv_report_show(report, m->causes, m->headline, BSV_FOR_ALL);
	if (m->doers)
		bsv_report_show(report, m->doers, "misses by doer", of_misses);
	if (by == BY_CAUSE)
		bsv_report_show(report, m->victims, m->none ? m->headline : "deadlines by app and model",
		                no_deadlines ? BSV_FOR_PROGRAMS : BSV_FOR_ALL);
	else
		bsv_report_show(report, m->victims, m->headline, BSV_FOR_ALL);
	bsv_report_show(report, m->culprits, "misses by culprit", of_misses);
	bsv_report_show(report, m->without, replays, m->replayed ? BSV_FOR_ALL : BSV_FOR_PROGRAMS);
	/* A note has the sum of the undecided misses for people. */
	bsv_report_show(report, m->undecided, "undecided misses by reason", BSV_FOR_PROGRAMS);
	bsv_report_show(report, m->worst,
	                "misses, the most late first; executions submitted after their deadline are last", of_misses);
	if (by != BY_CAUSE)
		bsv_report_show(report, m->causes, "misses by cause", BSV_FOR_PROGRAMS);
	bsv_report_show(report, m->ledgers, "late and budget ledgers of all misses", BSV_FOR_PROGRAMS);
	bsv_report_show(report, m->totals, NULL, BSV_FOR_PROGRAMS);
	if (m->preparations)
		bsv_report_show(report, m->preparations, "preparations with a deadline",
		                m->prepared ? BSV_FOR_ALL : BSV_FOR_PROGRAMS);
}

/* Why a scope has no doers. */
static const char only_some[] = "the scope of the recording has only some of the misses that an app, a model and a "
				"priority have together";

static void add_notes(struct bsv_report *report, const struct misses *m)
{
	const struct bsv_missed *t = &m->missed;
	char blamed[BSV_COUNT_MAX], all[BSV_COUNT_MAX];

	if (m->none)
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
		"misses: number with this primary cause. saved: number that a replay without the cause avoids. It "
		"counts misses of every primary cause, so it may be above misses. unsure: number of misses that the "
		"replay cannot decide; - where no replay is needed: too little time was left at the submission. lost: "
		"time beyond the typical one, the sum over the misses. Executions that waited at the same time all "
		"count. Of a refused execution, lost is the whole queue before it; the culprit is the execution that "
		"had waited longest in that queue.");
	if (m->unresolved)
		bsv_answer_note(report->answer, "%s", m->unresolved);
	if (m->blamed < t->missed)
		bsv_answer_note(report->answer,
		                "The table of misses by culprit has %s of %s misses. The others have a cause without a "
		                "culprit, or "
		                "no single execution is known to have held the lane.",
		                bsv_count(blamed, (uint64_t)m->blamed), bsv_count(all, (uint64_t)t->missed));
	if (m->scoped && m->doers)
		bsv_answer_note(report->answer,
		                "The recording has a scope: apps and services outside of it are doers only where their "
		                "events were recorded.");
	else if (m->scoped)
		bsv_answer_note(report->answer, "Misses by doer are not there: %s.", only_some);
	bsv_answer_note(report->answer,
	                "One miss in detail: burstscope explain ID; all causes of lost time: burstscope "
	                "misses --part ledgers");
}

/* Some parts are of a whole recording. @why: what picks executions of it; NULL: nothing does. */
static int check_whole(const char *part, const char *why, struct bsa_err *err)
{
	if (!why || !part || (strcmp(part, "doers") != 0 && strcmp(part, "preparations") != 0))
		return 0;
	return bsa_fail(err, BSA_E_USAGE, "--part %s covers whole recordings only: %s", part, why);
}

static int misses_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	const enum by by = (enum by)o->by;
	bsv_scoped_report report = { 0 };
	struct misses misses = { 0 };
	const struct bsv_asked *asked = &call->asked;
	static const char scoped[] = "this one has a scope, the executions of one service or app";
	struct bsv_rows *prepared = NULL;
	const bool is_conditional = asked->where || asked->from.given || asked->to.given;
	const bool wants_doers = asked->part && !strcmp(asked->part, "doers");
	int r = check_whole(asked->part, is_conditional ? "leave out --where, --from and --to" : NULL, err);

	if (r >= 0)
		r = bsv_report_open(&report, call, err);
	if (r < 0)
		return r;
	if (!report.input.picks) {
		misses.preparations = bsv_report_ask(&report, "preparations", bsv_sql_preparations, NULL);
		r = bsv_report_read(&prepared, &report, misses.preparations, err);
		misses.prepared = r >= 0 && bsv_rows_step(prepared, NULL) > 0;
	}
	if (r >= 0 && !misses.prepared)
		r = bsv_input_needs_executions(&report.input, err);
	if (r >= 0)
		r = misses_ask(&misses, &report, by, err);
	if (r >= 0)
		r = check_whole(asked->part, report.input.picks && !wants_doers ? scoped : NULL, err);
	if (r >= 0 && wants_doers && report.input.picks && by == BY_CAUSE && !misses.doers)
		r = bsa_fail(err, BSA_E_USAGE, "--part doers is not there: %s", only_some);
	if (r < 0)
		return r;
	misses.scoped = report.input.picks && !is_conditional && by == BY_CAUSE;
	misses_show(&misses, &report, by);
	add_notes(&report, &misses);
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
		"A table of all parts has the first 10 rows of worst, unless --limit is given; --part worst, CSV and "
		"JSON have all.\n"
		"Late: answered after the deadline or not at all, or the app's call failed after it and before the "
		"answer; "
		"aborted: stopped at the deadline; predicted: stopped "
		"before "
		"it.\n"
		"Persistent: another try cannot succeed.\n"
		"A recording contains only deadlines that apps passed to the service. Where models had to be "
		"prepared by a deadline, there is also the part preparations.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "causes", "doers", "apps", "models", "culprits", "without", "undecided",
	                                "worst", "ledgers", "totals", "preparations", NULL },
	.long_part = "worst",
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_ANY,
	.run = misses_run,
};

/* findings.c -- see findings.h. Each kind of finding has a query, a sentence and an advice; a kind has at most three findings. */
#include "audit/findings.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "audit/habits.h"
#include "audit/judge.h"
#include "base/causes.h"
#include "base/say.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "base/template.h"
#include "base/vector.h"

enum { MOST_OF_A_KIND = 3, LEAST_PERCENT = 5 /* of all misses; fewer are no finding */ };

void bsv_findings_fini(struct bsv_findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->of[i].finding);
		free(f->of[i].what);
		free(f->of[i].who);
		free(f->of[i].culprit);
	}
	free(f->of);
}

/* The list owns all of @of from here on, also where it cannot keep it. */
static int finding_add(struct bsv_findings *f, struct bsv_finding of, struct bsa_err *err)
{
	bool grown = bsv_array_grow(&f->of, f->n, sizeof(*f->of));

	if (grown)
		f->of[f->n++] = of;
	if (grown && of.finding && of.what)
		return 0;
	if (!grown) {
		free(of.finding);
		free(of.what);
		free(of.who);
		free(of.culprit);
	}
	return bsv_no_memory(err);
}

/* The advice against the finding @cause; NULL: none is known. */
static const char *advice_against(const struct bsv_findings *f, const char *cause, const char *path)
{
	return cause ? bsv_advice(&(struct bsv_advised){ .cause = cause, .path = path }, &f->settings) : NULL;
}

/* The rows of the filled template, before the first step. */
static int rows_query(struct bsv_rows **ret, struct bsv_input *input, const char *template,
                      const struct bsv_hole *holes, struct bsa_err *err)
{
	bsv_scoped_text *sql = bsv_audit_fill(input, template, holes);

	return sql ? bsv_rows_query(ret, input->db, sql, err) : bsv_no_memory(err);
}

/* "noisy's mobilenet"; owned by the caller. NULL: neither is known, or no memory. */
static char *full_name(const char *app, const char *model)
{
	if (app && model)
		return bsv_text("%s's %s", app, model);
	if (app)
		return bsv_text("%s", app);
	return model ? bsv_text("%s", model) : NULL;
}

static const char *text_of(const struct bsv_rows *rows, size_t column)
{
	return bsv_rows_cell(rows, column).text;
}

/* Columns of a query that a report prints too are found by name, so that the query may get more columns. */
static size_t column_named(const struct bsv_rows *rows, const char *name)
{
	size_t i = 0;

	while (i < bsv_rows_columns(rows) && strcmp(bsv_rows_column(rows, i)->name, name))
		i++;
	assert(i < bsv_rows_columns(rows));
	return i;
}

static const char *text_named(const struct bsv_rows *rows, const char *name)
{
	return text_of(rows, column_named(rows, name));
}

static int64_t get_named(const struct bsv_rows *rows, const char *name, int64_t otherwise)
{
	return bsv_rows_get(rows, column_named(rows, name), otherwise);
}

static char *text_copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* @phrase with @culprit in place of its @; owned by the caller. */
static char *phrase_fill(const char *phrase, const char *culprit)
{
	const char *at = strchr(phrase, '@');

	if (!at)
		return strdup(phrase);
	return bsv_text("%.*s%s%s", (int)(at - phrase), phrase, culprit ? culprit : "another app", at + 1);
}

/* ---- missed deadlines ---- */

/* Columns of summary_misses.sql. */
enum miss_column {
	MISS_CAUSE,
	MISS_N,
	MISS_LATE,
	MISS_PERSISTENT,
	MISS_APP,
	MISS_MODEL,
	MISS_OF_VICTIM,
	MISS_MISSED,
	MISS_DEADLINES,
	MISS_BUDGET,
	MISS_RUN,
	MISS_CULPRIT_APP,
	MISS_CULPRIT_MODEL,
	MISS_SHARE,
	MISS_USUAL_BUDGET,
	MISS_OUTRANKED,
	MISS_SAVED,
	MISS_UNSURE,
	MISS_OF_CULPRIT,
	MISS_WITHOUT_APP,
	MISS_UNSURE_WITHOUT_APP,
	MISS_BY_CULPRIT /* misses of the victim that have this culprit, which may be its own app */
};

/* The number of misses, up to the reason. @again: an earlier finding already named all misses of @victim. Owned by the caller. */
static char *misses_text(const char *victim, int64_t n, int64_t missed, int64_t deadlines, bool again)
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_COUNT_MAX];

	bsv_count(a, (uint64_t)n);
	bsv_count(b, (uint64_t)missed);
	bsv_count(c, (uint64_t)deadlines);
	if (again)
		return bsv_text("%s of the %s misses of %s: ", a, b, victim);
	if (deadlines < missed) /* compact events of the service alone have no deadlines to count */
		return bsv_text("%s missed %s %s, %s of them ", victim, b,
		                bsv_plural((uint64_t)missed, "deadline", "deadlines"), a);
	return bsv_text("%s missed %s of %s %s, %s%s", victim, b, c,
	                bsv_plural((uint64_t)deadlines, "deadline", "deadlines"),
	                missed == 1   ? ""
	                : n == missed ? "all of them "
	                              : a,
	                missed == 1 || n == missed ? "" : " of them ");
}

/* Compare the time that the execution had with the time that it takes, or that others have. */
static const char *budget_text(char ret[128], const struct bsv_rows *rows)
{
	int64_t budget = bsv_rows_get(rows, MISS_BUDGET, INT64_MIN), run = bsv_rows_get(rows, MISS_RUN, -1);
	int64_t usual = bsv_rows_get(rows, MISS_USUAL_BUDGET, -1);
	char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT];
	const char *cause = text_of(rows, MISS_CAUSE);

	*ret = '\0';
	if (budget == INT64_MIN)
		return ret;
	if (!strcmp(cause, "submitted_late") && budget <= 0)
		snprintf(ret, 128, ": mostly after its deadline, which had passed %s before", bsv_duration(a, -budget));
	else if (!strcmp(cause, "submitted_late") && usual >= 0)
		snprintf(ret, 128, ": %s were left, others of this model had %s", bsv_duration(a, budget),
		         bsv_duration(b, usual));
	else if (!strcmp(cause, "too_big") && budget >= 0 && run >= 0)
		snprintf(ret, 128, ": it runs %s, and has %s", bsv_duration(a, run), bsv_duration(b, budget));
	return ret;
}

/*
 * "; without noisy 84 of them would be met": what replays say of @n misses, of which @saved are met and @unsure are not decided. @rest: the
 * sentence before is about more misses than these. Owned by the caller.
 */
static char *replayed_text(const char *without, int64_t n, int64_t saved, int64_t unsure, bool rest)
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_COUNT_MAX], them[BSV_COUNT_MAX + 8] = "them";

	bsv_count(a, (uint64_t)saved);
	bsv_count(b, (uint64_t)unsure);
	if (rest)
		snprintf(them, sizeof(them), "those %s", bsv_count(c, (uint64_t)n));
	if (unsure == n)
		return bsv_text("; a replay cannot tell whether %s would be met without %s",
		                n == 1 ? rest ? "that one" : "it"
		                : rest ? them
		                       : "they",
		                without);
	if (unsure)
		return bsv_text("; without %s %s of %s would be met, and of %s a replay cannot tell", without, a, them,
		                b);
	if (n == 1)
		return bsv_text("; without %s %s would be %s", without, rest ? "that one" : "it",
		                saved ? "met" : "missed all the same");
	return bsv_text("; without %s %s of %s would be met", without, saved == n ? "all" : saved ? a : "none", them);
}

/* What replays say of the victim's misses: without the culprit's app, if it is another app; otherwise without the cause. Owned by the caller. */
static char *saved_text(const struct bsv_rows *rows)
{
	/* of the first three nothing is replayed; the others are the reason by their definition (docs/figures.md) */
	static const char *const unasked[] = { "unknown", "bad_estimate", "dependency",
		                               "too_big", "too_tight",    "submitted_late" };

	for (size_t i = 0; i < sizeof(unasked) / sizeof(*unasked); i++)
		if (!strcmp(text_of(rows, MISS_CAUSE), unasked[i]))
			return strdup("");
	if (text_of(rows, MISS_CULPRIT_APP) && bsv_rows_get(rows, MISS_OF_CULPRIT, 0))
		return replayed_text(text_of(rows, MISS_CULPRIT_APP), bsv_rows_get(rows, MISS_OF_CULPRIT, 0),
		                     bsv_rows_get(rows, MISS_WITHOUT_APP, 0),
		                     bsv_rows_get(rows, MISS_UNSURE_WITHOUT_APP, 0),
		                     bsv_rows_get(rows, MISS_OF_CULPRIT, 0) < bsv_rows_get(rows, MISS_OF_VICTIM, 0));
	return replayed_text("that", bsv_rows_get(rows, MISS_OF_VICTIM, 0), bsv_rows_get(rows, MISS_SAVED, 0),
	                     bsv_rows_get(rows, MISS_UNSURE, 0), false);
}

/* The rest of the sentence: the time it had, what a replay says, and the misses of other apps. */
static char *miss_details(const struct bsv_rows *rows)
{
	int64_t others = bsv_rows_get(rows, MISS_N, 0) - bsv_rows_get(rows, MISS_OF_VICTIM, 0);
	int64_t persistent = bsv_rows_get(rows, MISS_PERSISTENT, 0), outranked = bsv_rows_get(rows, MISS_OUTRANKED, 0);
	char n[BSV_COUNT_MAX], budget[128], good[96] = "", tail[64] = "";
	bsv_scoped_text *saved = saved_text(rows);

	if (!strcmp(text_of(rows, MISS_CAUSE), "too_big") && persistent)
		snprintf(good, sizeof(good), "; %s refused for good (persistent)", bsv_count(n, (uint64_t)persistent));
	if (outranked)
		snprintf(good, sizeof(good), "; %s behind work of a higher priority: its own could be raised",
		         bsv_count(n, (uint64_t)outranked));
	if (others)
		snprintf(tail, sizeof(tail), "; and %s %s of others", bsv_count(n, (uint64_t)others),
		         bsv_plural((uint64_t)others, "miss", "misses"));
	return saved ? bsv_text("%s%s%s%s", budget_text(budget, rows), good, saved, tail) : NULL;
}

static bool is_named(const struct bsv_findings *f, const char *who)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->of[i].who && !strcmp(f->of[i].who, who))
			return true;
	return false;
}

/* What stands for the @ of a cause: the culprit @name; with its part, where it is not known to be that of all misses. Owned by the caller. */
static char *culprit_text(const struct bsv_rows *rows, const char *name)
{
	int64_t n = bsv_rows_get(rows, MISS_BY_CULPRIT, 0);
	char part[BSV_COUNT_MAX];

	if (!name)
		return NULL;
	if (n >= bsv_rows_get(rows, MISS_OF_VICTIM, 0))
		return strdup(name);
	return bsv_text("other work (%s in %s of them)", name, bsv_count(part, (uint64_t)n));
}

/* The row is a miss of @victim. */
static int add_miss(struct bsv_findings *f, const struct bsv_rows *rows, const char *victim, struct bsa_err *err)
{
	const char *cause = text_of(rows, MISS_CAUSE), *phrase = cause ? bsv_cause_of_miss(cause) : NULL;
	char *culprit = full_name(text_of(rows, MISS_CULPRIT_APP), text_of(rows, MISS_CULPRIT_MODEL));
	bsv_scoped_text *by = culprit_text(rows, culprit);
	bsv_scoped_text *why = phrase_fill(phrase ? phrase : "for a reason that is not known here", by);
	bsv_scoped_text *more = cause ? miss_details(rows) : strdup("");
	bsv_scoped_text *n =
		misses_text(victim, bsv_rows_get(rows, MISS_OF_VICTIM, 0), bsv_rows_get(rows, MISS_MISSED, 0),
	                    bsv_rows_get(rows, MISS_DEADLINES, 0), is_named(f, victim));

	return finding_add(f,
	                   (struct bsv_finding){ .finding = strdup(cause ? cause : "unknown"),
	                                         .what = why && more && n ? bsv_text("%s%s%s", n, why, more) : NULL,
	                                         .who = strdup(victim),
	                                         .culprit = culprit,
	                                         .lost_ns = bsv_rows_get(rows, MISS_LATE, -1),
	                                         .see = "misses",
	                                         .advice = advice_against(f, cause, NULL) },
	                   err);
}

static int add_misses(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_text *unknown = bsv_audit_unknown_deadlines(input);
	bsv_scoped_text *unseen = bsv_audit_unseen_outcomes(input);
	const struct bsv_hole holes[] = { { "n_unknown", unknown }, { "n_unseen", unseen }, { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = rows_query(&rows, input, bsv_sql_summary_misses, holes, err), n = 0;

	while (r >= 0 && n++ < MOST_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0) {
		bsv_scoped_text *victim = full_name(text_of(rows, MISS_APP), text_of(rows, MISS_MODEL));

		if (n > 1 && bsv_rows_cell(rows, MISS_SHARE).real < LEAST_PERCENT)
			break;
		r = add_miss(f, rows, victim ? victim : "an unknown app", err);
	}
	return r;
}

/* ---- starvation ---- */

static int add_starved(struct bsv_findings *f, const struct bsv_rows *rows, struct bsa_err *err)
{
	char *victim = full_name(text_named(rows, "app"), text_named(rows, "model"));
	const char *app = text_named(rows, "app"), *hog = text_named(rows, "culprit");
	uint64_t episodes = (uint64_t)get_named(rows, "n_episodes", 0);
	char times[BSV_COUNT_MAX], most[BSV_DURATION_TEXT];
	bool own = app && hog && !strcmp(app, hog);
	bsv_scoped_text *held = hog ? bsv_text("; %s had the lane %.0f %% of that time", own ? "its own app" : hog,
	                                       bsv_rows_cell(rows, column_named(rows, "culprit_percent")).real)
	                            : strdup("");
	char *what = NULL;

	if (held)
		what = bsv_text("%s was ready and had no lane for too long, %s %s, %s at most%s",
		                victim ? victim : "an unknown app", bsv_count(times, episodes),
		                bsv_plural(episodes, "time", "times"), bsv_duration(most, get_named(rows, "max_ns", 0)),
		                held);
	return finding_add(
		f,
		(struct bsv_finding){ .finding = strdup("starvation"),
	                              .what = what,
	                              .who = victim,
	                              .culprit = text_copy(hog),
	                              .lost_ns = get_named(rows, "starved_ns", -1),
	                              .see = "starvation",
	                              .advice = hog ? advice_against(f, own ? "queued_behind" : "starvation", NULL)
	                                            : NULL },
		err);
}

static int add_starvation(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	const struct bsv_quantity threshold = { .given = false };
	bsv_scoped_text *episodes = bsv_starvation_episodes(input, &threshold);
	const struct bsv_hole holes[] = { { "episodes", episodes }, { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = episodes ? rows_query(&rows, input, bsv_sql_starvation_victims, holes, err) : bsv_no_memory(err), n = 0;

	while (r >= 0 && n++ < MOST_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0)
		r = add_starved(f, rows, err);
	return r;
}

/* ---- priority ---- */

static int add_inverted(struct bsv_findings *f, const struct bsv_rows *rows, struct bsa_err *err)
{
	const char *app = text_named(rows, "app"), *holder = text_named(rows, "holder");
	char *victim = full_name(app, text_named(rows, "victim"));
	uint64_t n = (uint64_t)get_named(rows, "n_inversions", 0);
	char times[BSV_COUNT_MAX], most[BSV_DURATION_TEXT], all[BSV_DURATION_TEXT], bound[BSV_DURATION_TEXT];
	char *what =
		bsv_text("%s waited %s %s while its app's less urgent %s had a lane: %s in all; the worst %s, limit %s",
	                 victim ? victim : "urgent work", bsv_count(times, n), bsv_plural(n, "time", "times"),
	                 holder ? holder : "work", bsv_duration(all, get_named(rows, "held_ns", 0)),
	                 bsv_duration(most, get_named(rows, "worst_ns", 0)),
	                 bsv_duration(bound, get_named(rows, "bound_ns", 0)));

	return finding_add(f,
	                   (struct bsv_finding){ .finding = strdup("inversion"),
	                                         .what = what,
	                                         .who = victim,
	                                         .culprit = full_name(app, holder),
	                                         .lost_ns = get_named(rows, "held_ns", -1),
	                                         .see = "priority",
	                                         .advice = advice_against(f, "inversion", NULL) },
	                   err);
}

/* A failed verdict whose rows name no app: the sentence of the rule is the finding. */
static int add_failed(struct bsv_findings *f, const struct bsv_verdict *rule, const char *finding, const char *see,
                      struct bsa_err *err)
{
	bool time = rule->class && !strcmp(rule->class, "duration");

	return finding_add(f,
	                   (struct bsv_finding){ .finding = strdup(finding),
	                                         .what = strdup(rule->why ? rule->why : rule->name),
	                                         .lost_ns = time ? bsv_whole(rule->figure) : -1,
	                                         .see = see,
	                                         .advice = advice_against(f, finding, NULL) },
	                   err);
}

/* The app whose most urgent work went first least often. Owned by the caller; NULL: no app had such choices. */
static int name_passed_over(char **ret, struct bsv_input *input, struct bsa_err *err)
{
	const struct bsv_hole holes[] = { { "choices", bsv_sql_choices }, { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = rows_query(&rows, input, bsv_sql_priority_choices, holes, err);

	if (r >= 0)
		r = bsv_rows_step(rows, err);
	*ret = r > 0 ? text_copy(text_named(rows, "app")) : NULL;
	return r;
}

static int add_inversions(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *j,
                          struct bsa_err *err)
{
	const struct bsv_hole holes[] = { { "stretches", bsv_sql_stretches },
		                          { "bound", "(coalesce(stretch_ns, 0) + 1000000)" },
		                          { "off_core", bsv_off_core_of_holder },
		                          { "allowed", "off_core_ns" },
		                          { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = 0, n = 0;

	if (bsv_judged(j) != BSV_FAIL)
		return 0;
	r = rows_query(&rows, input, bsv_sql_priority_inversions, holes, err);
	while (r >= 0 && n < MOST_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0)
		if (get_named(rows, "n_above", 0) > 0) {
			r = add_inverted(f, rows, err);
			n++;
		}
	for (size_t i = 0; r >= 0 && !n && i < j->n; i++)
		if (j->rules[i].outcome == BSV_FAIL) {
			r = add_failed(f, &j->rules[i], "inversion", "priority", err);
			if (r >= 0)
				r = name_passed_over(&f->of[f->n - 1].who, input, err);
		}
	return r < 0 ? r : 0;
}

/* ---- fairness ---- */

static int add_unfair(struct bsv_findings *f, const struct bsv_judgement *j, struct bsa_err *err)
{
	int r;

	if (bsv_judged(j) != BSV_FAIL)
		return 0;
	r = add_failed(f, &j->rules[0], "unfair", "fairness", err);
	if (r >= 0) {
		f->of[f->n - 1].who = text_copy(j->who);
		f->of[f->n - 1].culprit = *j->by ? text_copy(j->by) : NULL;
	}
	return r;
}

/* ---- overhead ---- */

/* Columns of overhead_causes_stored.sql. */
enum { COST_CAUSE, COST_SUM = 2, COST_SHARE, COST_APP, COST_MODEL, COST_PATH, COST_OF_IT };

static int add_overhead(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	const char *cause, *phrase;
	bsv_scoped_text *who = NULL;
	char sum[BSV_DURATION_TEXT];
	int r = rows_query(&rows, input, bsv_sql_overhead_causes_stored, NULL, err);

	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r <= 0)
		return r;
	cause = text_of(rows, COST_CAUSE);
	phrase = cause ? bsv_cause_of_overhead(cause) : NULL;
	who = full_name(text_of(rows, COST_APP), text_of(rows, COST_MODEL));
	return finding_add(
		f,
		(struct bsv_finding){
			.finding = strdup(cause ? cause : "unknown"),
			.what = bsv_text("%.0f %% of all overhead, %s, is spent %s; %.0f %% of that in %s (%s)",
	                                 bsv_rows_cell(rows, COST_SHARE).real,
	                                 bsv_duration(sum, bsv_rows_get(rows, COST_SUM, 0)),
	                                 phrase ? phrase : "otherwise", bsv_rows_cell(rows, COST_OF_IT).real,
	                                 who ? who : "an unknown app",
	                                 text_of(rows, COST_PATH) ? text_of(rows, COST_PATH) : "unknown"),
			.who = text_copy(who),
			.lost_ns = bsv_rows_get(rows, COST_SUM, -1),
			.see = "overhead",
			.advice = advice_against(f, cause, text_of(rows, COST_PATH)) },
		err);
}

/* ---- preparations ---- */

/* Columns of preparations.sql. */
enum { PREP_APP, PREP_MODEL, PREP_DEADLINES, PREP_MISSED, PREP_LATE, PREP_REFUSED, PREP_WORST };

/* "painter's mobilenet: 3 of 4 preparations missed their deadline (2 late, the worst by 4 ms; 1 refused)"; owned by the caller. */
static char *preparations_text(const struct bsv_rows *rows, const char *who)
{
	int64_t late = bsv_rows_get(rows, PREP_LATE, 0), refused = bsv_rows_get(rows, PREP_REFUSED, 0);
	char n[BSV_COUNT_MAX], of[BSV_COUNT_MAX], a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], worst[BSV_DURATION_TEXT];
	bsv_scoped_text *how_late = late ? bsv_text("%s late, the worst by %s", bsv_count(a, (uint64_t)late),
	                                            bsv_duration(worst, bsv_rows_get(rows, PREP_WORST, 0)))
	                                 : strdup("");
	bsv_scoped_text *how_refused = refused ? bsv_text("%s refused", bsv_count(b, (uint64_t)refused)) : strdup("");

	if (!how_late || !how_refused)
		return NULL;
	return bsv_text("%s: %s of %s preparations missed their deadline (%s%s%s)", who,
	                bsv_count(n, (uint64_t)bsv_rows_get(rows, PREP_MISSED, 0)),
	                bsv_count(of, (uint64_t)bsv_rows_get(rows, PREP_DEADLINES, 0)), how_late,
	                late && refused ? "; " : "", how_refused);
}

static int add_preparations(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = rows_query(&rows, input, bsv_sql_preparations, NULL, err), n = 0;

	while (r >= 0 && n++ < MOST_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0) {
		bsv_scoped_text *who = full_name(text_of(rows, PREP_APP), text_of(rows, PREP_MODEL));

		if (!bsv_rows_get(rows, PREP_MISSED, 0))
			break;
		r = finding_add(f,
		                (struct bsv_finding){ .finding = strdup("late_preparation"),
		                                      .what = preparations_text(rows, who ? who : "an unknown app"),
		                                      .who = text_copy(who),
		                                      .lost_ns = bsv_rows_get(rows, PREP_WORST, -1),
		                                      .see = "misses" },
		                err);
	}
	return r < 0 ? r : 0;
}

/* ---- habits ---- */

static int add_habits(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	struct bsv_habit habit;
	int r = bsv_habit_read(&habit, input, err);

	if (r <= 0)
		return r;
	r = finding_add(f,
	                (struct bsv_finding){ .finding = strdup("burst_per_call"),
	                                      .what = text_copy(habit.says),
	                                      .who = text_copy(habit.app),
	                                      .lost_ns = habit.sum_ns,
	                                      .see = "overhead",
	                                      .advice = advice_against(f, "burst_per_call", NULL) },
	                err);
	bsv_habit_fini(&habit);
	return r;
}

int bsv_findings_read(struct bsv_findings *ret, struct bsv_input *input, const struct bsv_judgement *judgements,
                      struct bsa_err *err)
{
	int r;

	*ret = (struct bsv_findings){ .n = 0 };
	r = bsv_settings_read(&ret->settings, input, err);
	if (r >= 0)
		r = add_misses(ret, input, err);
	if (r >= 0)
		r = add_preparations(ret, input, err);
	if (r >= 0)
		r = add_starvation(ret, input, err);
	if (r >= 0)
		r = add_inversions(ret, input, &judgements[BSV_PRIORITY], err);
	if (r >= 0)
		r = add_unfair(ret, &judgements[BSV_FAIRNESS], err);
	if (r >= 0)
		r = add_habits(ret, input, err);
	return r >= 0 ? add_overhead(ret, input, err) : r;
}

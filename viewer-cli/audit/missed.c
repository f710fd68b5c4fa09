/* missed.c -- see missed.h. SQL sorts the missed deadlines into findings; this file words them. */
#include "audit/missed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "audit/finding.h"
#include "base/causes.h"
#include "base/say.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "base/template.h"

enum { VICTIMS_MAX = 4 /* as in summary_misses.sql */ };

/* Columns of summary_misses.sql. */
enum miss_column {
	MISS_NTH,
	MISS_CAUSE,
	MISS_N,
	MISS_LATE,
	MISS_FIRST,
	MISS_LAST,
	MISS_CAUSES,
	MISS_HOGGED,
	MISS_CULPRIT_APP,
	MISS_CULPRIT_MODEL,
	MISS_BY_MODEL,
	MISS_BY_OTHER,
	MISS_BY_APP,
	MISS_PERSISTENT,
	MISS_OUTRANKED,
	MISS_SAVED,
	MISS_UNSURE,
	MISS_WITHOUT_APP,
	MISS_UNSURE_WITHOUT_APP,
	MISS_APP,
	MISS_MODEL,
	MISS_OF_VICTIM,
	MISS_MISSED,
	MISS_DEADLINES,
	MISS_VICTIMS,
	MISS_BUDGET,
	MISS_RUN,
	MISS_USUAL_BUDGET,
	MISS_REST,
	MISS_REST_CAUSES,
	MISS_REST_SAID
};

/* One finding while its rows are read. */
struct missed {
	int64_t nth, n, late_ns, first_at, last_at, causes, hogged, by_app, by_model, persistent, outranked;
	int64_t saved,
		unsure; /* of a replay without the culprit's app, if another app is the culprit; otherwise without the cause */
	int64_t victims, named; /* number of victims; number of misses of those that are in @who */
	bool by_other;          /* whether another app is the culprit */
	char *cause, *culprit_app, *culprit_model;
	char *victim; /* app of the first victim; NULL: unknown */
	char *missed; /* "camera's frames missed 20 of 150 deadlines and gallery's faces 3 of 40" */
	char *who;    /* "camera's frames, gallery's faces" */
	char budget[160];
};

static void missed_fini(struct missed *m)
{
	free(m->cause);
	free(m->culprit_app);
	free(m->culprit_model);
	free(m->victim);
	free(m->missed);
	free(m->who);
	*m = (struct missed){ .nth = 0 };
}

static char *text_copy(const struct bsv_rows *rows, size_t column)
{
	const char *text = bsv_rows_cell(rows, column).text;

	return text ? strdup(text) : NULL;
}

/* ---- the victims ---- */

/* "missed 20 of 150 deadlines": what the only victim missed, and how much of that is this finding's. Owned by the caller. */
static char *only_victim_text(const struct bsv_rows *rows, const char *name)
{
	int64_t n = bsv_rows_get(rows, MISS_OF_VICTIM, 0), missed = bsv_rows_get(rows, MISS_MISSED, n);
	int64_t deadlines = bsv_rows_get(rows, MISS_DEADLINES, 0);
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_COUNT_MAX], of[BSV_COUNT_MAX + 8] = "",
										      part[BSV_COUNT_MAX + 16] = "";

	bsv_count(a, (uint64_t)n);
	bsv_count(b, (uint64_t)missed);
	if (deadlines >= missed) /* compact events of the service alone have no deadlines to count */
		snprintf(of, sizeof(of), " of %s", bsv_count(c, (uint64_t)deadlines));
	if (missed > 1)
		snprintf(part, sizeof(part), ", %s of them", n == missed ? "all" : a);
	return bsv_text("%s missed %s%s %s%s", name, b, of,
	                bsv_plural((uint64_t)(*of ? deadlines : missed), "deadline", "deadlines"),
	                missed > 1 ? part : ",");
}

/* "missed 3 of 40 deadlines", or "3 of 40" behind another victim: what one of several victims missed for this reason. Owned by the caller. */
static char *one_victim_text(const struct bsv_rows *rows, const char *name, bool first)
{
	int64_t n = bsv_rows_get(rows, MISS_OF_VICTIM, 0), deadlines = bsv_rows_get(rows, MISS_DEADLINES, 0);
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], of[BSV_COUNT_MAX + 8] = "";

	bsv_count(a, (uint64_t)n);
	if (deadlines >= n)
		snprintf(of, sizeof(of), " of %s", bsv_count(b, (uint64_t)deadlines));
	if (!first)
		return bsv_text("%s %s%s", name, a, of);
	return bsv_text("%s missed %s%s %s", name, a, of,
	                bsv_plural((uint64_t)(*of ? deadlines : n), "deadline", "deadlines"));
}

/* Compare the time that the execution had with the time that it takes, or that others have. */
static void budget_text(char ret[160], const struct bsv_rows *rows, const char *name)
{
	int64_t budget = bsv_rows_get(rows, MISS_BUDGET, INT64_MIN), run = bsv_rows_get(rows, MISS_RUN, -1);
	int64_t usual = bsv_rows_get(rows, MISS_USUAL_BUDGET, -1);
	char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT];
	const char *cause = bsv_rows_cell(rows, MISS_CAUSE).text;
	bool only = bsv_rows_get(rows, MISS_VICTIMS, 1) == 1;

	*ret = '\0';
	if (budget == INT64_MIN || !cause)
		return;
	if (!strcmp(cause, "submitted_late") && budget <= 0)
		snprintf(ret, 160, ": half of them were submitted %s or more after their deadlines",
		         bsv_duration(a, -budget));
	else if (!strcmp(cause, "submitted_late") && usual >= 0)
		snprintf(ret, 160, ": %s were left, others of this model had %s", bsv_duration_beside(a, budget, usual),
		         bsv_duration_beside(b, usual, budget));
	else if (!strcmp(cause, "too_big") && budget >= 0 && run >= 0)
		snprintf(ret, 160, ": %.60s runs %s, and has %s", only ? "it" : name,
		         bsv_duration_beside(a, run, budget), bsv_duration_beside(b, budget, run));
}

static bool victim_add(struct missed *m, const struct bsv_rows *rows)
{
	const char *app = bsv_rows_cell(rows, MISS_APP).text, *model = bsv_rows_cell(rows, MISS_MODEL).text;
	bsv_scoped_text *full = bsv_full_name(app, model), *before = m->missed, *before_who = m->who, *says = NULL;
	const char *name = full ? full : "an unknown app";
	bool first = !before, last;

	m->named += bsv_rows_get(rows, MISS_OF_VICTIM, 0);
	last = m->named == m->n;
	says = m->victims == 1 ? only_victim_text(rows, name) : one_victim_text(rows, name, first);
	m->who = before_who ? bsv_text("%s, %s", before_who, name) : strdup(name);
	m->missed = says ? bsv_text("%s%s%s%s", first ? "" : before,
	                            first  ? ""
	                            : last ? " and "
	                                   : ", ",
	                            says, last && m->victims > 1 ? "," : "")
	                 : NULL;
	if (first)
		budget_text(m->budget, rows, name);
	return m->who && m->missed;
}

/* ---- why ---- */

/* "other work (noisy's mlp in 379 of 470)". Owned by the caller. */
static char *part_text(const char *name, int64_t part, int64_t all)
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX];

	return bsv_text("other work (%s in %s of %s)", name, bsv_count(a, (uint64_t)part), bsv_count(b, (uint64_t)all));
}

/* "other apps (noisy in 379 of 470, unknown ones in 91)": a finding has no other known app. Owned by the caller. */
static char *app_part_text(const char *name, int64_t part, int64_t all)
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_COUNT_MAX];

	return bsv_text("other apps (%s in %s of %s, unknown ones in %s)", name, bsv_count(a, (uint64_t)part),
	                bsv_count(b, (uint64_t)all), bsv_count(c, (uint64_t)(all - part)));
}

/* The culprit, with its part, where it is not known to be that of all misses. Owned by the caller; NULL: unknown. */
static char *culprit_text(const struct missed *m)
{
	bsv_scoped_text *full = bsv_full_name(m->culprit_app, m->culprit_model);

	if (m->by_other && m->by_app < m->n)
		return m->culprit_app ? app_part_text(m->culprit_app, m->by_app, m->n) : NULL;
	if (m->by_other && m->by_model < m->n)
		return bsv_full_name(m->culprit_app, NULL);
	if (!full)
		return NULL;
	if (m->by_model >= m->n)
		return strdup(full);
	return part_text(full, m->by_model, m->n);
}

/* The reason, behind the number of misses. Owned by the caller. */
static char *reason_text(const struct missed *m, bool shares_known)
{
	bsv_scoped_text *known = culprit_text(m);
	const char *phrase = m->cause ? bsv_cause_of_miss(m->cause, shares_known) : NULL;

	if (m->causes > 1)
		phrase = m->hogged || m->by_other ? "waiting while @ held the lane" : "waiting for @";
	return phrase ? bsv_cause_with_culprit(phrase, known) : strdup("for a reason that is not known here");
}

/* ---- evidence ---- */

/* Is nothing replayed of the cause (the first three), or is it the reason by its definition (docs/figures.md)? */
static bool is_unasked(const char *cause)
{
	static const char *const unasked[] = { "unknown", "bad_estimate", "dependency",
		                               "too_big", "too_tight",    "submitted_late" };

	for (size_t i = 0; i < sizeof(unasked) / sizeof(*unasked); i++)
		if (!strcmp(cause, unasked[i]))
			return true;
	return false;
}

/* "a replay without noisy meets 84 of them and misses 3 all the same": what replays say. NULL: nothing was replayed. Owned by the caller. */
static char *replayed_text(const struct missed *m)
{
	const char *without = m->by_other ? m->culprit_app : "that wait";
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_COUNT_MAX];

	if (!m->cause || !without || is_unasked(m->cause))
		return NULL;
	bsv_count(a, (uint64_t)m->saved);
	bsv_count(b, (uint64_t)m->unsure);
	if (m->unsure == m->n)
		return bsv_text("a replay without %s cannot tell whether %s would be met", without,
		                m->n == 1 ? "it" : "they");
	bsv_count(c, (uint64_t)(m->n - m->saved - m->unsure));
	if (m->n == 1)
		return bsv_text("a replay without %s %s", without, m->saved ? "meets it" : "misses it all the same");
	if (m->saved == m->n)
		return bsv_text("a replay without %s meets all of them", without);
	if (m->unsure)
		return bsv_text("a replay without %s meets %s of them, misses %s all the same, and cannot tell of %s",
		                without, a, c, b);
	return bsv_text("a replay without %s meets %s of them and misses %s all the same", without, a, c);
}

/* A cause that follows from the numbers of the request alone is sure; of others, replays decide. */
static enum bsv_certainty certainty_of(const struct missed *m)
{
	static const char *const by_definition[] = { "too_big", "too_tight", "submitted_late" };

	if (!m->cause || !strcmp(m->cause, "unknown"))
		return BSV_CLAIMS_NOTHING;
	for (size_t i = 0; i < sizeof(by_definition) / sizeof(*by_definition); i++)
		if (!strcmp(m->cause, by_definition[i]))
			return BSV_SURE;
	if (m->saved == m->n)
		return BSV_SURE;
	return 2 * m->saved >= m->n ? BSV_LIKELY : BSV_NOT_PROVED;
}

/* The work of the culprit that most of the misses waited for, where the sentence does not name it. Owned by the caller. */
static char *mostly_text(const struct missed *m)
{
	char n[BSV_COUNT_MAX];

	if (!m->by_other || !m->culprit_model || m->by_app < m->n || m->by_model >= m->n)
		return strdup("");
	return bsv_text("at least %s of them for its %s", bsv_count(n, (uint64_t)m->by_model), m->culprit_model);
}

/* In how many of the misses the culprit was already over its share. Where shares are not known throughout, more of them may be. Owned by the caller. */
static char *beyond_text(const struct missed *m, bool shares_known)
{
	char n[BSV_COUNT_MAX];

	if (m->causes < 2 || !m->hogged)
		return strdup("");
	return bsv_text("in %s%s of them the app on the lane was beyond its share", shares_known ? "" : "at least ",
	                bsv_count(n, (uint64_t)m->hogged));
}

static char *special_text(const struct missed *m)
{
	char n[BSV_COUNT_MAX];

	if (m->cause && !strcmp(m->cause, "too_big") && m->persistent)
		return bsv_text("%s answered as persistent: another try is of no use",
		                bsv_count(n, (uint64_t)m->persistent));
	if (m->cause && !strcmp(m->cause, "queued_behind") && m->outranked)
		return bsv_text("%s behind work of a higher priority: its own could be raised",
		                bsv_count(n, (uint64_t)m->outranked));
	return strdup("");
}

/* ---- the findings ---- */

static enum bsv_blame blame_of(const struct missed *m)
{
	if (m->by_other)
		return BSV_BLAMES_HOLDER;
	if (m->cause && !strcmp(m->cause, "queued_behind"))
		return BSV_BLAMES_OWN;
	return m->cause && !strcmp(m->cause, "inversion") ? BSV_BLAMES_ORDER : BSV_BLAMES_NO_APP;
}

/* "gallery", "gallery and unknown apps", "camera itself", "the machine". Owned by the caller; NULL: unknown. */
static char *missed_doer(const struct missed *m)
{
	const char *doer = m->cause ? bsv_cause_doer(m->cause) : NULL;

	if (blame_of(m) != BSV_BLAMES_NO_APP && m->culprit_app)
		return bsv_text("%s%s", m->culprit_app,
		                blame_of(m) != BSV_BLAMES_HOLDER ? " itself"
		                : m->by_app < m->n               ? " and unknown apps"
		                                                 : "");
	if (m->culprit_app || !doer)
		return m->culprit_app ? bsv_full_name(m->culprit_app, m->culprit_model) : NULL;
	if (strcmp(doer, BSV_OWN_DOING))
		return strdup(doer);
	return m->victims == 1 && m->victim ? bsv_text("%s itself", m->victim) : strdup("the apps themselves");
}

/* Where the culprit was beyond its share in some of the misses, what helps against that; otherwise what helps against the most frequent cause. */
static const char *missed_advice(const struct bsv_findings *f, const struct missed *m)
{
	const char *shares = m->by_other && m->hogged ? bsv_finding_advice(f, "hogged", NULL) : NULL;

	return shares ? shares : bsv_finding_advice(f, m->cause, NULL);
}

static int missed_finish(struct bsv_findings *f, struct missed *m, struct bsa_err *err)
{
	bsv_scoped_text *reason = reason_text(m, f->shares_known);
	int64_t others = m->victims - VICTIMS_MAX;
	char rest[2 * BSV_COUNT_MAX + 16] = "", n[BSV_COUNT_MAX], of[BSV_COUNT_MAX];
	char *evidence = NULL, *culprit = bsv_full_name(m->culprit_app, m->culprit_model);
	bool whole = reason && m->missed && bsv_text_join(&evidence, beyond_text(m, f->shares_known)) &&
	             bsv_text_join(&evidence, mostly_text(m)) && bsv_text_join(&evidence, special_text(m));

	if (others > 0)
		snprintf(rest, sizeof(rest), ", and %s %s %s,", bsv_count(n, (uint64_t)others),
		         bsv_plural((uint64_t)others, "other", "others"), bsv_count(of, (uint64_t)(m->n - m->named)));
	return bsv_finding_add(
		f,
		(struct bsv_finding){ .finding = strdup(m->cause ? m->cause : "unknown"),
	                              .what = whole ? bsv_text("%s%s %s%s", m->missed, rest, reason, m->budget) : NULL,
	                              .evidence = evidence,
	                              .who = m->who ? strdup(m->who) : NULL,
	                              .culprit = culprit,
	                              .doer = missed_doer(m),
	                              .proof = replayed_text(m),
	                              .certainty = certainty_of(m),
	                              .misses = m->n,
	                              .one_victim = m->victims == 1,
	                              .first_at = m->first_at,
	                              .last_at = m->last_at,
	                              .lost_ns = m->late_ns,
	                              .see = "misses",
	                              .advice = missed_advice(f, m),
	                              .blame = blame_of(m),
	                              .blamed = blame_of(m) && m->culprit_app ? strdup(m->culprit_app) : NULL },
		err);
}

static void missed_begin(struct missed *m, const struct bsv_rows *rows)
{
	bool by_other = bsv_rows_get(rows, MISS_BY_OTHER, 0);

	*m = (struct missed){ .nth = bsv_rows_get(rows, MISS_NTH, 0),
		              .n = bsv_rows_get(rows, MISS_N, 0),
		              .late_ns = bsv_rows_get(rows, MISS_LATE, -1),
		              .first_at = bsv_rows_get(rows, MISS_FIRST, BSV_WHEN_UNKNOWN),
		              .last_at = bsv_rows_get(rows, MISS_LAST, BSV_WHEN_UNKNOWN),
		              .causes = bsv_rows_get(rows, MISS_CAUSES, 1),
		              .hogged = bsv_rows_get(rows, MISS_HOGGED, 0),
		              .by_app = bsv_rows_get(rows, MISS_BY_APP, 0),
		              .by_model = bsv_rows_get(rows, MISS_BY_MODEL, 0),
		              .persistent = bsv_rows_get(rows, MISS_PERSISTENT, 0),
		              .outranked = bsv_rows_get(rows, MISS_OUTRANKED, 0),
		              .saved = bsv_rows_get(rows, by_other ? MISS_WITHOUT_APP : MISS_SAVED, 0),
		              .unsure = bsv_rows_get(rows, by_other ? MISS_UNSURE_WITHOUT_APP : MISS_UNSURE, 0),
		              .victims = bsv_rows_get(rows, MISS_VICTIMS, 1),
		              .by_other = by_other,
		              .cause = text_copy(rows, MISS_CAUSE),
		              .victim = text_copy(rows, MISS_APP),
		              .culprit_app = text_copy(rows, MISS_CULPRIT_APP),
		              .culprit_model = text_copy(rows, MISS_CULPRIT_MODEL) };
}

/* The misses that are in no finding: "10 more deadlines were missed, for 3 causes: woken_late 6, service 3, machine_busy 1". */
static int rest_add(struct bsv_findings *f, int64_t rest, int64_t causes, const char *said, struct bsa_err *err)
{
	char n[BSV_COUNT_MAX], of[BSV_COUNT_MAX];

	if (rest <= 0)
		return 0;
	return bsv_finding_add(
		f,
		(struct bsv_finding){ .finding = strdup("others"),
	                              .what = bsv_text("%s more %s missed, for %s %s: %s", bsv_count(n, (uint64_t)rest),
	                                               bsv_plural((uint64_t)rest, "deadline was", "deadlines were"),
	                                               bsv_count(of, (uint64_t)causes),
	                                               bsv_plural((uint64_t)causes, "cause", "causes"),
	                                               said ? said : "unknown"),
	                              .misses = rest,
	                              .first_at = BSV_WHEN_UNKNOWN,
	                              .last_at = BSV_WHEN_UNKNOWN,
	                              .lost_ns = -1,
	                              .see = "misses" },
		err);
}

int bsv_missed_add(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_text *unknown = bsv_audit_unknown_deadlines(input);
	bsv_scoped_text *unseen = bsv_audit_unseen_outcomes(input);
	const struct bsv_hole holes[] = { { "n_unknown", unknown }, { "n_unseen", unseen }, { NULL, NULL } };
	__attribute__((cleanup(missed_fini))) struct missed m = { .nth = 0 };
	bsv_scoped_rows *rows = NULL;
	bsv_scoped_text *said = NULL;
	int64_t rest = 0, causes = 0;
	int r = bsv_found_rows(&rows, input, bsv_sql_summary_misses, holes, err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0) {
		int64_t nth = bsv_rows_get(rows, MISS_NTH, 0);

		rest = bsv_rows_get(rows, MISS_REST, 0);
		causes = bsv_rows_get(rows, MISS_REST_CAUSES, 0);
		if (!said)
			said = text_copy(rows, MISS_REST_SAID);
		if (nth != m.nth) {
			r = m.nth ? missed_finish(f, &m, err) : 0;
			missed_fini(&m);
			missed_begin(&m, rows);
		}
		if (r >= 0 && !victim_add(&m, rows))
			r = bsv_no_memory(err);
	}
	if (r >= 0 && m.nth)
		r = missed_finish(f, &m, err);
	return r >= 0 ? rest_add(f, rest, causes, said, err) : r;
}

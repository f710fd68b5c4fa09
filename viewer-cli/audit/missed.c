/* missed.c -- see missed.h. SQL sorts the missed deadlines into findings by whose doing they were; this file words them. */
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

enum { VICTIMS_MAX = 4 /* as in summary_misses.sql */, NAME_MOST = 60 /* bytes of a name in a budget */ };

/* Columns of summary_misses.sql. */
enum miss_column {
	MISS_NTH,
	MISS_KIND,
	MISS_N,
	MISS_PROVED,
	MISS_LATE,
	MISS_FIRST,
	MISS_LAST,
	MISS_PERSISTENT,
	MISS_FOLLOWED,
	MISS_STOOD,
	MISS_WAITED,
	MISS_HOGGED,
	MISS_OUTRANKED,
	MISS_AGAINST,
	MISS_CAUSES,
	MISS_MOSTLY,
	MISS_NAMELESS,
	MISS_MOST_BY,
	MISS_BY_APP,
	MISS_BY_MODEL,
	MISS_N_BY_MODEL,
	MISS_APP,
	MISS_MODEL,
	MISS_OF_VICTIM,
	MISS_DEADLINES,
	MISS_VICTIMS,
	MISS_BUDGET,
	MISS_RUN,
	MISS_USUAL_BUDGET
};

/* One finding while its rows are read. */
struct missed {
	int64_t nth, n, proved, late_ns, first_at, last_at;
	int64_t persistent, followed, stood, waited, hogged, outranked, against, by_model;
	int64_t victims, named; /* number of victims; number of misses of those that are in @who */
	char *kind;             /* as miss_blame.blamed */
	char *causes;           /* "crowded_out 30,hogged 4": the primary causes, the most frequent first */
	/* Of misses without a doer: "noisy 5, the machine 1", whose work took the largest part of the delay; and the primary causes of the others. */
	char *mostly, *nameless;
	char *most_by, *app, *model;
	char *victim; /* app of the first victim; NULL: unknown */
	char *missed; /* "camera's frames missed 20 of 150 deadlines and gallery's faces 3 of 40" */
	char *who;    /* "camera's frames, gallery's faces" */
	char budget[200];
};

static void missed_fini(struct missed *m)
{
	free(m->kind);
	free(m->causes);
	free(m->mostly);
	free(m->nameless);
	free(m->most_by);
	free(m->app);
	free(m->model);
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

static bool is_kind(const struct missed *m, const char *kind)
{
	return m->kind && !strcmp(m->kind, kind);
}

/* Was it submitted too late, whoever delayed its thread? */
static bool is_late(const struct missed *m)
{
	return is_kind(m, "submitted_late") || is_kind(m, "thread");
}

/* Did the execution itself have too little time, whatever else happened? */
static bool is_short(const struct missed *m)
{
	return is_kind(m, "too_big") || is_kind(m, "too_tight") || is_late(m);
}

static bool is_own(const struct missed *m)
{
	return is_kind(m, "queued_behind") || is_kind(m, "inversion");
}

/* ---- the victims ---- */

/* "missed 3 of 40 deadlines", or "3 of 40" behind another victim: what it missed for this reason. Owned by the caller. */
static char *victim_text(const struct bsv_rows *rows, const char *name, bool first)
{
	int64_t n = bsv_rows_get(rows, MISS_OF_VICTIM, 0), deadlines = bsv_rows_get(rows, MISS_DEADLINES, 0);
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], of[BSV_COUNT_MAX + 8] = "";

	bsv_count(a, (uint64_t)n);
	if (deadlines >= n) /* compact events of the service alone have no deadlines to count */
		snprintf(of, sizeof(of), " of %s", bsv_count(b, (uint64_t)deadlines));
	if (!first)
		return bsv_text("%s %s%s", name, a, of);
	return bsv_text("%s missed %s%s %s", name, a, of,
	                bsv_plural((uint64_t)(*of ? deadlines : n), "deadline", "deadlines"));
}

/* Compare the time that the execution had with the time that it takes, or that others have. */
static void budget_text(char ret[200], const struct missed *m, const struct bsv_rows *rows, const char *name)
{
	int64_t budget = bsv_rows_get(rows, MISS_BUDGET, INT64_MIN), run = bsv_rows_get(rows, MISS_RUN, -1);
	int64_t usual = bsv_rows_get(rows, MISS_USUAL_BUDGET, -1);
	char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT];

	*ret = '\0';
	if (budget == INT64_MIN)
		return;
	if (is_late(m) && budget <= 0)
		snprintf(ret, 200, ": half of them were submitted %s or more after their deadlines%s%s%s",
		         bsv_duration(a, -budget), usual > 0 ? "; it usually is submitted " : "",
		         usual > 0 ? bsv_duration(b, usual) : "", usual > 0 ? " before" : "");
	else if (is_late(m) && usual >= 0)
		snprintf(ret, 200, ": %s were left, and usually it has %s", bsv_duration_beside(a, budget, usual),
		         bsv_duration_beside(b, usual, budget));
	else if (is_kind(m, "too_big") && budget >= 0 && run >= 0)
		snprintf(ret, 200, ": %s%.*s takes %s, and its budget is %s",
		         m->victims == 1 ? "its run" : "the run of ", m->victims == 1 ? 0 : bsv_cut(name, NAME_MOST),
		         name, bsv_duration_beside(a, run, budget), bsv_duration_beside(b, budget, run));
	else if (is_kind(m, "too_big") && budget >= 0) /* the service refused all, and knows more than the recording */
		snprintf(ret, 200, ": %s%.*s is %s, and how long its run takes was not recorded",
		         m->victims == 1 ? "its budget" : "the budget of ",
		         m->victims == 1 ? 0 : bsv_cut(name, NAME_MOST), name, bsv_duration(b, budget));
}

static bool victim_add(struct missed *m, const struct bsv_rows *rows)
{
	const char *app = bsv_rows_cell(rows, MISS_APP).text, *model = bsv_rows_cell(rows, MISS_MODEL).text;
	bsv_scoped_text *full = bsv_full_name(app, model), *before = m->missed, *before_who = m->who, *says = NULL;
	const char *name = full ? full : "an unknown app";
	bool first = !before, last;

	m->named += bsv_rows_get(rows, MISS_OF_VICTIM, 0);
	last = m->named == m->n;
	says = victim_text(rows, name, first);
	m->who = before_who ? bsv_text("%s, %s", before_who, name) : strdup(name);
	m->missed = says ? bsv_text("%s%s%s", first ? "" : before, first ? "" : last ? " and " : ", ", says) : NULL;
	if (first)
		budget_text(m->budget, m, rows, name);
	return m->who && m->missed;
}

/* ---- causes ---- */

/* "no cpu for its thread 31, its run lost the cpu 4" of "machine_busy 31,off_core 4". Owned by the caller; NULL: no memory. */
static char *causes_text(const char *causes)
{
	char *text = NULL, cause[32], number[BSV_COUNT_MAX];
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	uint64_t n;
	int length;

	if (!to)
		return NULL;
	for (const char *at = causes; at && sscanf(at, "%31[^ ] %lu%n", cause, &n, &length) == 2;) {
		fprintf(to, "%s%s %s", at == causes ? "" : ", ", bsv_cause_brief(cause), bsv_count(number, n));
		at += length;
		at = *at == ',' ? at + 1 : NULL;
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Have all of them the same primary cause? */
static bool has_one_cause(const struct missed *m)
{
	return m->causes && !strchr(m->causes, ',');
}

/* ---- why ---- */

/* The reason, behind the number of misses. Owned by the caller; NULL: no memory. */
static char *reason_text(const struct missed *m, bool shares_known)
{
	bool all_of_model = m->model && m->by_model >= m->n;
	bsv_scoped_text *by = bsv_full_name(m->app, all_of_model ? m->model : NULL);
	const char *phrase = NULL;

	if (is_kind(m, "app")) {
		phrase = has_one_cause(m) && m->most_by ? bsv_cause_of_miss(m->most_by, shares_known) : NULL;
		return bsv_cause_with_culprit(phrase ? phrase : "waiting while @ held the lane", by);
	}
	if (is_kind(m, "machine"))
		return strdup(m->waited == m->n ? "submitted too late because its thread waited for a cpu"
		                                : "because the machine ran a thread late or slowly");
	if (is_late(m) && *m->budget) /* which says by how much */
		return strdup("submitted too late");
	phrase = bsv_cause_of_miss(is_late(m) ? "submitted_late" : m->kind, shares_known);
	if (is_own(m))
		return bsv_cause_with_culprit(phrase, all_of_model ? by : NULL);
	return phrase ? bsv_cause_with_culprit(phrase, NULL) : strdup("for a reason that is not known here");
}

/* ---- evidence ---- */

/* Why no other cause can have decided: there was too little time at the submission. Owned by the caller. */
static char *short_text(const struct missed *m)
{
	const char *late = is_kind(m, "thread")           ? "; without the time in which its thread waited for a "
	                                                    "cpu there was too little time, too"
	                   : is_kind(m, "submitted_late") ? "; why the thread came late is not recorded"
	                                                  : "";
	char n[BSV_COUNT_MAX], of[BSV_COUNT_MAX];

	if (m->proved == m->n)
		return bsv_text("no replay could meet %s%s", m->n == 1 ? "it" : "them", late);
	if (m->proved)
		return bsv_text("no replay could meet %s of %s; of the others a replay cannot tell%s",
		                bsv_count(n, (uint64_t)m->proved), bsv_count(of, (uint64_t)m->n), late);
	return bsv_text("%s less time than usual, and a replay cannot tell whether that was all%s",
	                m->n == 1 ? "it had" : "they had", late);
}

/*
 * "a replay without waiting for noisy meets 84 of them, and cannot tell of the others": what replays say, those without the whole app
 * and those without the execution or the model of it that was waited for. Owned by the caller.
 */
static char *replayed_text(const struct missed *m)
{
	bool by_app = is_kind(m, "app") && m->app;
	const char *without = by_app                           ? m->app
	                      : is_kind(m, "machine")          ? "that delay"
	                      : is_kind(m, "app") || is_own(m) ? "that wait"
	                                                       : "that";
	const char *wait = by_app ? "waiting for " : "";
	char a[BSV_COUNT_MAX];

	if (is_short(m))
		return short_text(m);
	if (m->proved == m->n)
		return bsv_text("a replay without %s%s meets %s", wait, without, m->n == 1 ? "it" : "all of them");
	if (m->proved)
		return bsv_text("a replay without %s%s meets %s of them, and cannot tell of the others, most of whose "
		                "delay it was",
		                wait, without, bsv_count(a, (uint64_t)m->proved));
	return bsv_text("a replay cannot tell, but %s%s was most of %s delay", wait, by_app ? m->app : "that",
	                m->n == 1 ? "its" : "their");
}

/* The work of the culprit that most of the misses waited for, where the sentence does not name it. Owned by the caller. */
static char *mostly_text(const struct missed *m)
{
	char n[BSV_COUNT_MAX];

	if (!is_kind(m, "app") || !m->app || !m->model || m->by_model >= m->n)
		return strdup("");
	return bsv_text("at least %s of them for its %s", bsv_count(n, (uint64_t)m->by_model), m->model);
}

/* In how many of the misses the culprit was already over its share. Where shares are not known throughout, more of them may be. Owned by the caller. */
static char *beyond_text(const struct missed *m, bool shares_known)
{
	char n[BSV_COUNT_MAX];

	if (!is_kind(m, "app") || has_one_cause(m) || !m->hogged)
		return strdup("");
	return bsv_text("in %s%s of them the app on the lane was beyond its share", shares_known ? "" : "at least ",
	                bsv_count(n, (uint64_t)m->hogged));
}

/* What the machine did. Owned by the caller; NULL: no memory. */
static char *machine_text(const struct missed *m)
{
	bsv_scoped_text *causes = is_kind(m, "machine") ? causes_text(m->causes) : NULL;
	char n[BSV_COUNT_MAX], waited[BSV_COUNT_MAX];

	if (!is_kind(m, "machine"))
		return strdup("");
	return bsv_text("the largest delay of each: %s%s%s%s%s%s%s", causes ? causes : "unknown", m->stood ? "; " : "",
	                m->stood ? bsv_count(n, (uint64_t)m->stood) : "",
	                m->stood ? " were submitted too late because all apps stood still" : "", m->waited ? "; " : "",
	                m->waited ? bsv_count(waited, (uint64_t)m->waited) : "",
	                m->waited ? " were submitted too late because their threads waited for a cpu" : "");
}

/* Misses of the same kind that are told apart: those that only followed from others, and those that speak against the doer. Owned by the caller. */
static char *around_text(const struct missed *m)
{
	bool by_app = is_kind(m, "app") && m->app, one = m->followed == 1;
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX];
	bsv_scoped_text *followed =
		m->followed
			? bsv_text("%s of them %s submitted too late: %s thread was still in the call before, which "
	                           "missed its deadline for the same reason",
	                           bsv_count(a, (uint64_t)m->followed), one ? "was" : "were", one ? "its" : "their")
			: strdup("");
	char *against = m->against
	                        ? bsv_text("%s%s was the largest part of the delay of %s more, but a replay without it "
	                                   "misses %s all the same",
	                                   by_app ? "waiting for " : "", by_app ? m->app : "the same",
	                                   bsv_count(b, (uint64_t)m->against), m->against == 1 ? "that one" : "those")
	                        : strdup("");
	char *both = followed ? strdup(followed) : NULL;

	bsv_text_join(&both, against);
	return both;
}

static char *special_text(const struct missed *m)
{
	char n[BSV_COUNT_MAX];

	if (is_kind(m, "too_big") && m->persistent)
		return bsv_text("%s refused as impossible (persistent): another try is of no use",
		                bsv_count(n, (uint64_t)m->persistent));
	if (is_kind(m, "queued_behind") && m->outranked)
		return bsv_text("%s behind work of a higher priority: its own could be raised",
		                bsv_count(n, (uint64_t)m->outranked));
	if (is_kind(m, "app") && !m->app)
		return strdup(
			"they were refused for work of several apps that was queued before them, or who held the lane "
			"was not recorded");
	return strdup("");
}

/* ---- the findings ---- */

static enum bsv_blame blame_of(const struct missed *m)
{
	if (is_kind(m, "app"))
		return BSV_BLAMES_HOLDER;
	if (is_kind(m, "queued_behind"))
		return BSV_BLAMES_OWN;
	return is_kind(m, "inversion") ? BSV_BLAMES_ORDER : BSV_BLAMES_NO_APP;
}

/* "gallery", "camera itself", "camera's own thread or what delayed it (not recorded)", "camera's own thread", "the machine". Owned by the caller; NULL: unknown. */
static char *missed_doer(const struct missed *m)
{
	const char *one = m->victims == 1 ? m->victim : NULL;

	if (is_kind(m, "app"))
		return strdup(m->app ? m->app : "an app that the trace does not tell");
	if (is_kind(m, "machine") || is_kind(m, "service"))
		return bsv_text("the %s", m->kind);
	if (is_kind(m, "submitted_late"))
		return one ? bsv_text("%s's own thread or what delayed it (not recorded)", one)
		           : strdup("the apps' own threads or what delayed them (not recorded)");
	if (is_kind(m, "thread"))
		return one ? bsv_text("%s's own thread", one) : strdup("the apps' own threads");
	if (is_own(m) || is_short(m) || is_kind(m, "client"))
		return one ? bsv_text("%s itself", one) : strdup("the apps themselves");
	return NULL;
}

/* Where the culprit was beyond its share in some of the misses, what helps against that; otherwise what helps against the most frequent cause. */
static const char *missed_advice(const struct bsv_findings *f, const struct missed *m)
{
	const char *shares = is_kind(m, "app") && m->hogged ? bsv_finding_advice(f, "hogged", NULL) : NULL;

	if (shares || !is_kind(m, "app"))
		return shares ? shares : bsv_finding_advice(f, m->kind, NULL);
	return bsv_finding_advice(f, m->most_by ? m->most_by : "crowded_out", NULL);
}

static int missed_finish(struct bsv_findings *f, struct missed *m, struct bsa_err *err)
{
	bsv_scoped_text *reason = reason_text(m, f->shares_known);
	int64_t others = m->victims - VICTIMS_MAX;
	char rest[2 * BSV_COUNT_MAX + 16] = "", n[BSV_COUNT_MAX], of[BSV_COUNT_MAX];
	char *evidence = NULL, *doer = missed_doer(m);
	const char *kind = is_kind(m, "app") ? (m->most_by ? m->most_by : "crowded_out")
	                   : is_late(m)      ? "submitted_late"
	                                     : m->kind;
	bool blames = blame_of(m) != BSV_BLAMES_NO_APP && m->app;
	bool claims = doer &&
	              !is_kind(m, "submitted_late"); /* it came late for certain, but what delayed it is not recorded */
	bool whole = reason && m->missed && bsv_text_join(&evidence, machine_text(m)) &&
	             bsv_text_join(&evidence, beyond_text(m, f->shares_known)) &&
	             bsv_text_join(&evidence, mostly_text(m)) && bsv_text_join(&evidence, special_text(m)) &&
	             bsv_text_join(&evidence, around_text(m));

	if (others > 0)
		snprintf(rest, sizeof(rest), ", and %s %s %s,", bsv_count(n, (uint64_t)others),
		         bsv_plural((uint64_t)others, "other", "others"), bsv_count(of, (uint64_t)(m->n - m->named)));
	return bsv_finding_add(f,
	                       (struct bsv_finding){ .finding = strdup(kind ? kind : "unknown"),
	                                             .what = whole ? bsv_text("%s%s%s %s%s", m->missed, rest,
	                                                                      *rest ? "" : ",", reason, m->budget)
	                                                           : NULL,
	                                             .evidence = evidence,
	                                             .who = m->who ? strdup(m->who) : NULL,
	                                             .culprit = blames ? bsv_full_name(m->app, m->model) : NULL,
	                                             .doer = doer,
	                                             .proof = doer ? replayed_text(m) : NULL,
	                                             .certainty = !claims             ? BSV_CLAIMS_NOTHING
	                                                          : m->proved == m->n ? BSV_SURE
	                                                                              : BSV_LIKELY,
	                                             .sure = m->proved,
	                                             .misses = m->n,
	                                             .one_victim = m->victims == 1,
	                                             .first_at = m->first_at,
	                                             .last_at = m->last_at,
	                                             .lost_ns = m->late_ns,
	                                             .see = "misses",
	                                             .advice = missed_advice(f, m),
	                                             .blame = blames ? blame_of(m) : BSV_BLAMES_NO_APP,
	                                             .blamed = blames ? strdup(m->app) : NULL },
	                       err);
}

static void missed_begin(struct missed *m, const struct bsv_rows *rows)
{
	*m = (struct missed){ .nth = bsv_rows_get(rows, MISS_NTH, 0),
		              .n = bsv_rows_get(rows, MISS_N, 0),
		              .proved = bsv_rows_get(rows, MISS_PROVED, 0),
		              .late_ns = bsv_rows_get(rows, MISS_LATE, -1),
		              .first_at = bsv_rows_get(rows, MISS_FIRST, BSV_WHEN_UNKNOWN),
		              .last_at = bsv_rows_get(rows, MISS_LAST, BSV_WHEN_UNKNOWN),
		              .persistent = bsv_rows_get(rows, MISS_PERSISTENT, 0),
		              .followed = bsv_rows_get(rows, MISS_FOLLOWED, 0),
		              .stood = bsv_rows_get(rows, MISS_STOOD, 0),
		              .waited = bsv_rows_get(rows, MISS_WAITED, 0),
		              .hogged = bsv_rows_get(rows, MISS_HOGGED, 0),
		              .outranked = bsv_rows_get(rows, MISS_OUTRANKED, 0),
		              .against = bsv_rows_get(rows, MISS_AGAINST, 0),
		              .by_model = bsv_rows_get(rows, MISS_N_BY_MODEL, 0),
		              .victims = bsv_rows_get(rows, MISS_VICTIMS, 0),
		              .kind = text_copy(rows, MISS_KIND),
		              .causes = text_copy(rows, MISS_CAUSES),
		              .mostly = text_copy(rows, MISS_MOSTLY),
		              .nameless = text_copy(rows, MISS_NAMELESS),
		              .most_by = text_copy(rows, MISS_MOST_BY),
		              .app = text_copy(rows, MISS_BY_APP),
		              .model = text_copy(rows, MISS_BY_MODEL),
		              .victim = text_copy(rows, MISS_APP) };
}

/* ---- misses that are in no finding ---- */

static int rest_add(struct bsv_findings *f, const char *finding, const struct missed *m, char *what, const char *advice,
                    struct bsa_err *err)
{
	return bsv_finding_add(f,
	                       (struct bsv_finding){ .finding = strdup(finding),
	                                             .what = what,
	                                             .misses = m->n,
	                                             .sure = m->proved,
	                                             .first_at = BSV_WHEN_UNKNOWN,
	                                             .last_at = BSV_WHEN_UNKNOWN,
	                                             .lost_ns = -1,
	                                             .see = "misses",
	                                             .advice = advice },
	                       err);
}

/* "background 5, waiting for another app 1": whose work, or what, took the largest part of the delay of each. Owned by the caller. */
static char *largest_text(const struct missed *m)
{
	bsv_scoped_text *nameless = causes_text(m->nameless);

	if (!nameless)
		return NULL;
	return bsv_text("%s%s%s", m->mostly ? m->mostly : "", m->mostly && *nameless ? ", " : "", nameless);
}

/* Those that nobody alone decided, or of which nothing can be told. */
static int undecided_add(struct bsv_findings *f, const struct missed *m, struct bsa_err *err)
{
	bool several = is_kind(m, "several"), unseen = has_one_cause(m) && !strncmp(m->causes, "unknown ", 8);
	bsv_scoped_text *largest = largest_text(m);
	char n[BSV_COUNT_MAX];
	const char *had = bsv_plural((uint64_t)m->n, "deadline was", "deadlines were");

	if (unseen)
		return rest_add(f, "untold", m,
		                bsv_text("%s %s missed for unknown reasons, because too little was recorded",
		                         bsv_count(n, (uint64_t)m->n), had),
		                bsv_finding_advice(f, "unknown", NULL), err);
	return rest_add(f, several ? "several" : "untold", m,
	                largest ? bsv_text("%s %s %s; the largest part of %s delay: %s", bsv_count(n, (uint64_t)m->n),
	                                   had,
	                                   several ? "missed for several causes together: with any one of "
	                                             "them gone, a replay misses the deadline all the same"
	                                           : "missed, and a replay cannot tell for which cause",
	                                   m->n == 1 ? "its" : "their", largest)
	                        : NULL,
	                NULL, err);
}

/* "another app", "the machine": who is behind a kind of misses. */
static const char *kind_brief(const char *kind)
{
	if (!strcmp(kind, "app"))
		return "other apps";
	if (!strcmp(kind, "machine"))
		return "the machine";
	return !strcmp(kind, "service") ? "the service" : bsv_cause_brief(kind);
}

/* Add one kind of small findings to the sum of all of them. False: no memory. */
static bool others_join(struct missed *sum, char **said, const struct missed *m)
{
	char n[BSV_COUNT_MAX];
	bsv_scoped_text *before = *said;

	*said = bsv_text("%s%s%s %s", before ? before : "", before ? ", " : "",
	                 kind_brief(m->kind ? m->kind : "unknown"), bsv_count(n, (uint64_t)m->n));
	sum->n += m->n;
	sum->proved += m->proved;
	return *said;
}

static int others_add(struct bsv_findings *f, const struct missed *sum, const char *said, struct bsa_err *err)
{
	char n[BSV_COUNT_MAX];

	if (!sum->n)
		return 0;
	return rest_add(f, "others", sum,
	                bsv_text("%s %s missed for other causes: %s", bsv_count(n, (uint64_t)sum->n),
	                         bsv_plural((uint64_t)sum->n, "deadline was", "deadlines were"), said),
	                NULL, err);
}

/* ---- all of them ---- */

/* The rows of a finding are complete. What is in no finding comes behind the small ones, which are added up first. */
static int missed_end(struct bsv_findings *f, struct missed *m, struct missed *others, char **said, struct bsa_err *err)
{
	int r = 0;

	if (!m->n)
		return 0;
	if (m->nth > 0)
		return missed_finish(f, m, err);
	if (!m->nth)
		return others_join(others, said, m) ? 0 : bsv_no_memory(err);
	r = others_add(f, others, *said, err);
	others->n = 0;
	return r < 0 ? r : undecided_add(f, m, err);
}

/* The holes of summary_misses.sql; owned by the caller. */
static int missed_rows(struct bsv_rows **ret, struct bsv_input *input, const struct bsv_judgement *fairness,
                       struct bsa_err *err)
{
	bool by = bsv_judged(fairness) == BSV_FAIL && fairness->of_deadlines && *fairness->by;
	bsv_scoped_text *unknown = bsv_audit_unknown_deadlines(input), *unseen = bsv_audit_unseen_outcomes(input);
	bsv_scoped_text *fair_by = by ? bsv_quoted(fairness->by) : strdup("''");
	const struct bsv_hole holes[] = {
		{ "n_unknown", unknown }, { "n_unseen", unseen }, { "fair_by", fair_by }, { NULL, NULL }
	};

	return fair_by ? bsv_found_rows(ret, input, bsv_sql_summary_misses, holes, err) : bsv_no_memory(err);
}

int bsv_missed_add(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *fairness,
                   struct bsa_err *err)
{
	__attribute__((cleanup(missed_fini))) struct missed m = { .nth = 0 };
	struct missed others = { .nth = 0 };
	bsv_scoped_rows *rows = NULL;
	bsv_scoped_text *said = NULL;
	int r = missed_rows(&rows, input, fairness, err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0) {
		const char *kind = bsv_rows_cell(rows, MISS_KIND).text;

		if (!m.n || bsv_rows_get(rows, MISS_NTH, 0) != m.nth || !kind || !is_kind(&m, kind)) {
			r = missed_end(f, &m, &others, &said, err);
			missed_fini(&m);
			missed_begin(&m, rows);
		}
		if (r >= 0 && m.nth > 0 && !victim_add(&m, rows))
			r = bsv_no_memory(err);
	}
	if (r >= 0)
		r = missed_end(f, &m, &others, &said, err);
	return r >= 0 ? others_add(f, &others, said, err) : r;
}

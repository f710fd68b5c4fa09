/*
 * missed.c -- words the findings about missed deadlines, which SQL sorts by whose doing they were.
 */
#include "audit/missed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/finding.h"
#include "audit/outcomes.h"
#include "audit/verdicts.h"
#include "base/causes.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "base/vector.h"
#include "input/fill.h"

enum {
	VICTIMS_MAX = 4 /* as in summary_misses.sql */,
	CAUSES_NAMED = 3,
	NAME_MOST = 60 /* bytes of a name in a budget */
};

#define OTHERS_NAMED "6" /* causes that are no findings of their own */

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
	MISS_HELD,
	MISS_HOGGED,
	MISS_OUTRANKED,
	MISS_DOER,
	MISS_MOST,
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
	MISS_USUAL_BUDGET,
	MISS_RUN_ESTIMATED,
	MISS_MODELS_OF_BY_APP
};

/* Reasons of misses_undecided.sql, for "300 because ...". */
static const struct {
	const char *reason, *says;
} undecided[] = {
	{ "replayed", "their replays do not tell" },
	{ "service",
	  "their service cannot be replayed (policy native, rules that changed or were not recorded, or more "
	  "than 16 services)" },
	{ "incomplete",
	  "they were not recorded whole, waited for a fence, or failed for the app before they were answered" },
	{ "start", "no instant is known at which a replay can begin" },
	{ "lost", "events of that time may have been lost" },
	{ "others",
	  "another execution of that time was not recorded whole, waited for a fence, or failed for the app before it "
	  "was answered" },
	{ "many", "too many executions would have to be replayed" },
	{ "rest", "it is not known what was left of their runs" },
	{ "differs", "replays with nothing left out meet the deadline" },
	{ "budget", "all replays together took as long as they may" },
	{ "cause", "a replay cannot leave out their cause" },
	{ "sample", "they are not in the sample that is replayed, or their deadline is not known" },
};

char *bsv_missed_undecided(struct bsv_rows *rows, int64_t missed)
{
	bsv_scoped_text *reasons = NULL;
	char n[BSV_COUNT_MAX], all[BSV_COUNT_MAX];
	int64_t sum = 0;

	if (rows)
		bsv_rows_again(rows);
	while (rows && bsv_rows_step(rows, NULL) > 0) {
		const char *reason = bsv_rows_cell(rows, 0).text, *says = "of a reason that this version does not know";
		char *more;

		for (size_t i = 0; reason && i < sizeof(undecided) / sizeof(*undecided); i++)
			if (!strcmp(undecided[i].reason, reason))
				says = undecided[i].says;
		sum += bsv_rows_get(rows, 1, 0);
		more = bsv_text("%s%s%s because %s", reasons ? reasons : "", reasons ? ", " : "",
		                bsv_count(n, (uint64_t)bsv_rows_get(rows, 1, 0)), says);
		free(reasons);
		reasons = more;
	}
	if (rows)
		bsv_rows_again(rows);
	if (!reasons)
		return NULL;
	return bsv_text(
		"Of %s missed %s, replays leave undecided whether %s would have been met without the cause: %s.",
		bsv_count(all, (uint64_t)missed), missed == 1 ? "deadline" : "deadlines", bsv_count(n, (uint64_t)sum),
		reasons);
}

int bsv_missed_undecided_rows(struct bsv_rows **ret, const struct bsv_input *input, struct bsa_err *err)
{
	static const struct bsv_placeholder whole[] = { { "stats", bsv_sql_misses_stored }, { NULL, NULL } };

	return bsv_input_row(ret, input, bsv_sql_misses_undecided, whole, err);
}

char *bsv_missed_undecided_whole(struct bsv_rows *rows, const struct bsv_input *input)
{
	bsv_scoped_rows *total = NULL;

	if (bsv_rows_query(&total, input->db, bsv_sql_misses_sum, NULL) < 0 || bsv_rows_step(total, NULL) <= 0)
		return NULL;
	return bsv_missed_undecided(rows, bsv_rows_get(total, 0, 0));
}

/* One finding while its rows are read. */
struct missed {
	int64_t nth, n, proved, late_ns, first_at, last_at;
	int64_t persistent, followed, stood, waited, held, hogged, outranked, by_model, models_of_by_app;
	int64_t most;           /* for the sum of all smaller ones: the most that one of these has */
	int64_t victims, named; /* number of victims; number of misses of those that are in @who */
	char *kind;             /* as in miss_doers.sql */
	char *doer;             /* name of the doer, as everywhere; "not known" and the like where no doer is named */
	char *causes;           /* "crowded_out 30,hogged 4": the primary causes, the most frequent first */
	/*
	 * For misses without a doer: "waiting for noisy 5, the machine 1", the largest part of the
	 * delay; and the primary causes of the others.
	 */
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
	free(m->doer);
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

/* Was it submitted too late, with any cause of the delay of its thread? */
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

static bool victim_add(struct missed *m, const struct bsv_rows *rows)
{
	const char *app = bsv_rows_cell(rows, MISS_APP).text, *model = bsv_rows_cell(rows, MISS_MODEL).text;
	bsv_scoped_text *full = bsv_full_name(app, model), *before = m->missed, *before_who = m->who, *says = NULL;
	const char *name = full ? full : "an unknown app";
	int64_t n = bsv_rows_get(rows, MISS_OF_VICTIM, 0), deadlines = bsv_rows_get(rows, MISS_DEADLINES, 0);
	int64_t budget = bsv_rows_get(rows, MISS_BUDGET, INT64_MIN), run = bsv_rows_get(rows, MISS_RUN, -1);
	int64_t usual = bsv_rows_get(rows, MISS_USUAL_BUDGET, -1);
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], of[BSV_COUNT_MAX + 8] = "";
	char had[BSV_DURATION_TEXT], takes[BSV_DURATION_TEXT];
	bool first = !before, last, one = m->victims == 1, guessed = bsv_rows_get(rows, MISS_RUN_ESTIMATED, 0) == 1;

	m->named += n;
	last = m->named == m->n;

	/* "missed 3 of 40 deadlines", or "3 of 40" behind another victim: what it missed for this reason. */
	bsv_count(a, (uint64_t)n);
	if (deadlines >= n) /* compact events of the service alone have no deadlines to count */
		snprintf(of, sizeof(of), " of %s", bsv_count(b, (uint64_t)deadlines));
	says = first ? bsv_text("%s missed %s%s %s", name, a, of,
	                        bsv_plural((uint64_t)(*of ? deadlines : n), "deadline", "deadlines"))
	             : bsv_text("%s %s%s", name, a, of);
	m->who = before_who ? bsv_text("%s, %s", before_who, name) : strdup(name);
	m->missed = says ? bsv_text("%s%s%s", first ? "" : before, first ? "" : last ? " and " : ", ", says) : NULL;
	if (!first || budget == INT64_MIN)
		return m->who && m->missed;

	/* Compare the time that the execution had with the time that it takes, or that others have. */
	if (is_late(m) && budget <= 0)
		snprintf(m->budget, sizeof(m->budget),
		         m->n == 1 ? ": it was submitted %s after its deadline%s%s%s"
		                   : ": half of them were submitted %s or more after their deadlines%s%s%s",
		         bsv_duration(had, -budget), usual > 0 ? "; it usually is submitted " : "",
		         usual > 0 ? bsv_duration(takes, usual) : "", usual > 0 ? " before" : "");
	else if (is_late(m) && usual >= 0)
		snprintf(m->budget, sizeof(m->budget), ": %s were left, and usually it has %s",
		         bsv_duration_beside(had, budget, usual), bsv_duration_beside(takes, usual, budget));
	else if (is_kind(m, "too_big") && budget >= 0 && run >= 0)
		snprintf(m->budget, sizeof(m->budget), ": %s%.*s takes %s%s, and its budget is %s",
		         one ? "its run" : "the run of ", one ? 0 : bsv_cut(name, NAME_MOST), name,
		         bsv_duration_beside(takes, run, budget), guessed ? " by the service's estimate" : "",
		         bsv_duration_beside(had, budget, run));
	else if (is_kind(m, "too_big") && budget >= 0) /* the service refused all, and knows more than the recording */
		snprintf(m->budget, sizeof(m->budget),
		         ": %s%.*s is %s, too short by the service's answer; no run was recorded",
		         one ? "its budget" : "the budget of ", one ? 0 : bsv_cut(name, NAME_MOST), name,
		         bsv_duration(had, budget));
	return m->who && m->missed;
}

/* ---- causes ---- */

/*
 * "no cpu for its thread 31, its run lost the cpu 4" of "machine_busy 31,off_core 4": the most
 * frequent, and then "other causes 3". Owned by the caller; NULL: no memory.
 */
static char *causes_text(const char *causes)
{
	char *text = NULL, cause[32], number[BSV_COUNT_MAX];
	size_t bytes, named = 0;
	FILE *to = open_memstream(&text, &bytes);
	uint64_t n, others = 0;
	int length;

	if (!to)
		return NULL;
	for (const char *at = causes; at && sscanf(at, "%31[^ ] %lu%n", cause, &n, &length) == 2;) {
		bool last = at[length] != ',';

		at = last ? NULL : at + length + 1;
		if (named < CAUSES_NAMED || (!others && last)) {
			fprintf(to, "%s%s %s", named++ ? ", " : "", bsv_cause_brief(cause), bsv_count(number, n));
			continue;
		}
		others += n;
	}
	if (others)
		fprintf(to, ", other causes %s", bsv_count(number, others));
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
	if (is_kind(m, "apps"))
		return strdup("waiting for work of several apps that was queued before");
	if (is_kind(m, "machine"))
		return strdup(m->waited == m->n ? "submitted too late because its thread waited for a cpu"
		                                : "because the machine ran a thread late or slowly");
	if (is_late(m) && *m->budget) /* the note of late submissions has by how much */
		return strdup("submitted too late");
	phrase = bsv_cause_of_miss(is_late(m) ? "submitted_late" : m->kind, shares_known);
	if (is_own(m) && m->model && !all_of_model) /* the notes have the model */
		phrase = bsv_cause_of_overhead(m->kind, shares_known);
	if (is_own(m))
		return bsv_cause_with_culprit(phrase, all_of_model ? by : NULL);
	return phrase ? bsv_cause_with_culprit(phrase, NULL) : strdup("for a reason that is not known here");
}

/* ---- evidence ---- */

/*
 * "a replay without waiting for noisy meets 84 of them. Of the others no replay can tell": the results
 * of replays, those without the whole app and those without the execution or the model of it that
 * was waited for. Owned by the caller.
 */
static char *replayed_text(const struct missed *m)
{
	bool by_app = is_kind(m, "app") && m->app, one = m->n == 1;
	const char *without = by_app                           ? m->app
	                      : is_kind(m, "machine")          ? "that delay"
	                      : is_kind(m, "app") || is_own(m) ? "that wait"
	                                                       : "that";
	const char *wait = by_app ? "waiting for " : "", *late = "";
	char n[BSV_COUNT_MAX], of[BSV_COUNT_MAX];

	bsv_count(n, (uint64_t)m->proved);
	bsv_count(of, (uint64_t)m->n);

	/* No other cause can have decided, because there was too little time at the submission. */
	if (is_kind(m, "thread"))
		late = "; even without the wait of its thread for a cpu, it was submitted too late";
	else if (is_kind(m, "submitted_late"))
		late = "; why the thread came late is not recorded";
	if (is_short(m) && m->proved == m->n)
		return bsv_text("no replay could meet %s%s", one ? "it" : "them", late);
	if (is_kind(m, "thread") && m->proved)
		return bsv_text("in %s of %s nothing else can have decided; in the others the whole machine may have "
		                "stood still, or something else may have counted, too%s",
		                n, of, late);
	if (is_short(m) && m->proved)
		return bsv_text("no replay could meet %s of %s, and no replay can tell of the others%s", n, of, late);
	if (is_short(m))
		return bsv_text("%s submitted with less time than usual, and no replay can tell whether something else "
		                "counted, too%s",
		                one ? "it was" : "they were", late);

	if (is_kind(m, "stopped")) {
		if (m->proved == m->n)
			return bsv_text("without that time %s had been in time", one ? "it" : "all of them");
		if (!m->proved)
			return strdup("that was most of the delay; whether it decided is not known");
		return bsv_text("without that time %s of %s had been in time. Of the others that is not known; that "
		                "time was most of their delay",
		                n, of);
	}
	if (m->proved == m->n)
		return bsv_text("a replay without %s%s meets %s", wait, without, one ? "it" : "all of them");
	if (m->proved)
		return bsv_text(
			"a replay without %s%s meets %s of them. Of the others no replay can tell; %s%s was most "
			"of their delay",
			wait, without, n, wait, by_app ? m->app : "that");
	return bsv_text("no replay can tell, but %s%s was most of %s delay", wait, by_app ? m->app : "that",
	                one ? "its" : "their");
}

/* ---- the findings ---- */

/*
 * More facts of the misses, in sentences; "": none. Owned by the caller; NULL: no memory, as after
 * a join that fails.
 */
static char *evidence_text(const struct missed *m, bool shares_known)
{
	bool machine = is_kind(m, "machine"), app = is_kind(m, "app"), one = m->followed == 1;
	bsv_scoped_text *causes = machine && m->causes ? causes_text(m->causes) : strdup("");
	char *text = causes ? strdup("") : NULL, n[BSV_COUNT_MAX];

	/* The work of the machine, in parts that add up to the misses. */
	if (text && machine && m->held)
		bsv_text_join(&text, bsv_text("%s waited for a run that held the lane, but had no cpu",
		                              bsv_count(n, (uint64_t)m->held)));
	if (text && machine && m->stood)
		bsv_text_join(&text, bsv_text("%s %s submitted too late because all apps stood still",
		                              bsv_count(n, (uint64_t)m->stood), m->stood == 1 ? "was" : "were"));
	if (text && machine && m->waited)
		bsv_text_join(&text, bsv_text("%s %s submitted too late because %s waited for a cpu",
		                              bsv_count(n, (uint64_t)m->waited), m->waited == 1 ? "was" : "were",
		                              m->waited == 1 ? "its thread" : "their threads"));
	if (text && machine && *causes)
		bsv_text_join(&text, bsv_text("the largest delay of %s: %s",
		                              m->held || m->stood || m->waited ? "the others" : "each", causes));

	/*
	 * In how many the culprit was already over its share. Where shares are not known
	 * throughout, more of them may be.
	 */
	if (text && app && !has_one_cause(m) && m->hogged)
		bsv_text_join(&text, bsv_text("in %s%s of them the app on the lane was beyond its share",
		                              shares_known ? "" : "at least ", bsv_count(n, (uint64_t)m->hogged)));

	/* The work of the culprit that most of the misses waited for, where the sentence does not name it. */
	if (text && (app || is_own(m)) && m->app && m->model && m->by_model < m->n && m->models_of_by_app != 1)
		bsv_text_join(&text, bsv_text("at least %s of them for its %s", bsv_count(n, (uint64_t)m->by_model),
		                              m->model));
	if (text && app && !m->app)
		bsv_text_join(&text, strdup("which of the other apps held the lane, no event tells"));
	if (text && is_kind(m, "too_big") && m->persistent)
		bsv_text_join(&text, bsv_text("%s answered as impossible (persistent): another try is of no use",
		                              bsv_count(n, (uint64_t)m->persistent)));
	if (text && is_kind(m, "queued_behind") && m->outranked)
		bsv_text_join(&text, bsv_text("%s behind work of a higher priority: its own could be raised",
		                              bsv_count(n, (uint64_t)m->outranked)));
	if (text && m->followed)
		bsv_text_join(&text, bsv_text("%s of them %s submitted too late: %s thread was still in the call "
		                              "before, which missed its deadline for the same reason",
		                              bsv_count(n, (uint64_t)m->followed), one ? "was" : "were",
		                              one ? "its" : "their"));
	return text;
}

static enum bsv_blame blame_of(const struct missed *m)
{
	if (is_kind(m, "app"))
		return BSV_BLAMES_HOLDER;
	if (is_kind(m, "machine"))
		return BSV_BLAMES_MACHINE;
	if (is_kind(m, "queued_behind"))
		return BSV_BLAMES_OWN;
	return is_kind(m, "inversion") ? BSV_BLAMES_ORDER : BSV_BLAMES_NO_APP;
}

/* Owned by the caller; NULL: unknown, or no app, service or machine. */
static char *missed_doer(const struct missed *m)
{
	if (is_kind(m, "cold") || is_kind(m, "queue_full") || is_kind(m, "dependency") || is_kind(m, "off_core"))
		return NULL;
	return m->doer ? strdup(m->doer) : NULL;
}

/*
 * Is it claimed whose doing they were? What was submitted too late came late for certain, but what
 * delayed it is not recorded.
 */
static bool is_claimed(const struct missed *m)
{
	bsv_scoped_text *doer = missed_doer(m);

	return doer && !is_kind(m, "submitted_late") && !is_kind(m, "several") && !is_kind(m, "unknown");
}

static int missed_finish(struct bsv_findings *f, struct missed *m, struct bsa_err *err)
{
	bsv_scoped_text *reason = reason_text(m, f->shares_known);
	int64_t others = m->victims - VICTIMS_MAX;
	char rest[2 * BSV_COUNT_MAX + 16] = "", n[BSV_COUNT_MAX], of[BSV_COUNT_MAX];
	char *evidence = evidence_text(m, f->shares_known), *doer = missed_doer(m);
	bool app = is_kind(m, "app"), apps = is_kind(m, "apps"), machine = is_kind(m, "machine");
	const char *kind = app && m->most_by ? m->most_by
	                   : app || apps     ? "crowded_out"
	                   : is_late(m)      ? "submitted_late"
	                                     : m->kind;
	bool blames = !machine && blame_of(m) != BSV_BLAMES_NO_APP && m->app;
	bool claims = is_claimed(m), whole = reason && m->missed && evidence;
	const char *advice = NULL;

	if (others > 0)
		snprintf(rest, sizeof(rest), ", and %s %s %s,", bsv_count(n, (uint64_t)others),
		         bsv_plural((uint64_t)others, "other", "others"), bsv_count(of, (uint64_t)(m->n - m->named)));

	/*
	 * Where the culprit was beyond its share in some of the misses, what helps against that;
	 * otherwise against the most frequent cause.
	 */
	if (app && m->hogged)
		advice = bsv_finding_advice(f, "hogged", NULL);
	if (!advice)
		advice = bsv_finding_advice(f, app || apps ? kind : m->kind, NULL);
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
	                                             .fails = BSV_FAILS_DEADLINES,
	                                             .advice = advice,
	                                             .blame = blames || machine ? blame_of(m) : BSV_BLAMES_NO_APP,
	                                             .blamed = blames    ? strdup(m->app)
	                                                       : machine ? strdup(m->doer)
	                                                                 : NULL },
	                       err);
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

/* Was too little recorded of all of them? */
static bool is_unseen(const struct missed *m)
{
	return has_one_cause(m) && !strncmp(m->causes, "unknown ", 8);
}

/* ---- all doers ---- */

/* Sums over the doers whose misses are no findings of their own. */
struct adding {
	struct missed others;
	char *said;            /* "gallery itself (too little time) 3, the service 2" */
	int64_t unnamed, most; /* misses of those that are not in @said; the most that one of these has */
};

/* False: no memory. */
static bool others_join(struct adding *a, const struct missed *m)
{
	char n[BSV_COUNT_MAX];
	bsv_scoped_text *before = a->said;
	const char *did = NULL;

	/* The deed, where the name of the doer does not imply it. */
	if (is_kind(m, "apps"))
		did = "their work was queued before";
	else if (!is_late(m) && (is_own(m) || is_short(m) || is_kind(m, "client")))
		did = bsv_cause_brief(m->kind);
	a->others.n += m->n;
	a->others.proved += m->proved;
	if (is_kind(m, "others")) {
		a->said = before ? strdup(before) : NULL;
		a->unnamed = m->n;
		a->most = m->most;
		return a->said;
	}
	a->said = bsv_text("%s%s%s%s%s%s %s", before ? before : "", before ? ", " : "", m->doer ? m->doer : "not known",
	                   did ? " (" : "", did ? did : "", did ? ")" : "", bsv_count(n, (uint64_t)m->n));
	return a->said;
}

/* Count the misses of @m for the doer @name, which is taken. False: no memory. */
static bool doing_add(struct bsv_findings *f, char *name, const struct missed *m, const char *note)
{
	bool claims = is_claimed(m), rest = is_kind(m, "several") || is_kind(m, "unknown");
	size_t i = 0;

	while (name && i < f->n_doings && strcmp(f->doings[i].name, name))
		i++;
	if (name && i == f->n_doings && bsv_array_grow(&f->doings, f->n_doings, sizeof(*f->doings)))
		f->doings[f->n_doings++] = (struct bsv_doing){
			.name = name, .note = note ? strdup(note) : NULL, .claims = claims, .is_rest = rest
		};
	else
		free(name);
	if (!name || i == f->n_doings)
		return false;
	f->doings[i].n += m->n;
	f->doings[i].sure += claims ? m->proved : 0;
	return true;
}

/* All that are no findings of their own are known. Does so once. */
static int others_add(struct bsv_findings *f, struct adding *a, struct bsa_err *err)
{
	struct missed others = a->others;
	bsv_scoped_text *rest = NULL;
	char n[BSV_COUNT_MAX], most[BSV_COUNT_MAX];

	a->others.n = 0;
	if (!others.n)
		return 0;
	rest = a->unnamed ? bsv_text(", smaller ones %s (each %s or fewer)", bsv_count(n, (uint64_t)a->unnamed),
	                             bsv_count(most, (uint64_t)a->most))
	                  : strdup("");
	if (!rest)
		return bsv_no_memory(err);
	if (a->unnamed) {
		if (!doing_add(f, strdup("smaller ones"), &(struct missed){ .n = a->unnamed }, NULL))
			return bsv_no_memory(err);
		f->doings[f->n_doings - 1].is_rest = true;
	}
	return rest_add(f, "others", &others,
	                bsv_text("%s %s missed for smaller causes, each with less than a tenth of all: %s%s",
	                         bsv_count(n, (uint64_t)others.n),
	                         bsv_plural((uint64_t)others.n, "deadline was", "deadlines were"), a->said, rest),
	                NULL, err);
}

/* The rows of a finding are complete. What has no doer comes last. */
static int missed_end(struct bsv_findings *f, struct missed *m, struct adding *a, struct bsa_err *err)
{
	bool named = !is_kind(m, "others"), untold = m->nth < 0 && !is_unseen(m);
	const char *had = bsv_plural((uint64_t)m->n, "deadline was", "deadlines were");
	const char *it = m->n == 1 ? "it" : "them", *its = m->n == 1 ? "its" : "their";
	bsv_scoped_text *largest = NULL, *nameless = NULL;
	char n[BSV_COUNT_MAX];
	int r = 0;

	if (!m->n)
		return 0;

	/* "waiting for background 5, submitted too late 1": what took the largest part of the delay of each. */
	nameless = untold ? causes_text(m->nameless) : NULL;
	if (nameless)
		largest = bsv_text("%s%s%s", m->mostly ? m->mostly : "", m->mostly && *nameless ? ", " : "", nameless);
	if (m->nth < 0)
		r = others_add(f, a, err);
	if (r < 0)
		return r;
	if ((untold && !largest) || (named && !doing_add(f, m->doer ? strdup(m->doer) : NULL, m, largest)))
		return bsv_no_memory(err);
	if (m->nth > 0)
		return missed_finish(f, m, err);
	if (!m->nth)
		return others_join(a, m) ? 0 : bsv_no_memory(err);

	/* Misses that no app alone decided, or that are undecided. */
	bsv_count(n, (uint64_t)m->n);
	if (is_unseen(m))
		return rest_add(f, "untold", m,
		                bsv_text("%s %s missed for reasons that the recording does not show", n, had),
		                bsv_finding_advice(f, "unknown", NULL), err);
	if (is_kind(m, "several"))
		return rest_add(f, "several", m,
		                bsv_text("%s %s missed without a single doer: whichever of %s causes is taken away, a "
		                         "replay misses %s, too; the largest part of %s delay: %s",
		                         n, had, its, it, its, largest),
		                NULL, err);
	return rest_add(f, "untold", m,
	                bsv_text("%s %s missed, and a replay cannot tell whose doing that was; the largest part of %s "
	                         "delay: %s",
	                         n, had, its, largest),
	                NULL, err);
}

char *bsv_missed_doers(const struct bsv_judgement *fairness)
{
	bool by = bsv_judged(fairness) == BSV_FAIL && fairness->of_deadlines && *fairness->by;
	bsv_scoped_text *fair_by = by ? bsv_quoted(fairness->by) : strdup("''");

	return fair_by ? bsv_fill(bsv_sql_miss_doers,
	                          (const struct bsv_placeholder[]){ { "fair_by", fair_by }, { NULL, NULL } })
	               : NULL;
}

int bsv_missed_add(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *fairness,
                   struct bsa_err *err)
{
	__attribute__((cleanup(missed_fini))) struct missed m = { .nth = 0 };
	struct adding adding = { .said = NULL };
	bsv_scoped_text *unknown = bsv_unknown_deadlines(input), *unseen = bsv_unseen_outcomes(input);
	bsv_scoped_text *doers = bsv_missed_doers(fairness);
	const struct bsv_placeholder placeholders[] = { { "n_unknown", unknown },    { "n_unseen", unseen },
		                                        { "doers", doers },          { "doer", bsv_sql_miss_doer_name },
		                                        { "n_named", OTHERS_NAMED }, { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = doers ? bsv_input_rows(&rows, input, bsv_sql_summary_misses, placeholders, err) : bsv_no_memory(err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0) {
		/* A finding has a row for each victim; what is no finding has one row. */
		if (!m.n || m.nth <= 0 || bsv_rows_get(rows, MISS_NTH, 0) != m.nth) {
			r = missed_end(f, &m, &adding, err);
			missed_fini(&m);
			m = (struct missed){ .nth = bsv_rows_get(rows, MISS_NTH, 0),
				             .n = bsv_rows_get(rows, MISS_N, 0),
				             .proved = bsv_rows_get(rows, MISS_PROVED, 0),
				             .late_ns = bsv_rows_get(rows, MISS_LATE, -1),
				             .first_at = bsv_rows_get(rows, MISS_FIRST, BSV_WHEN_UNKNOWN),
				             .last_at = bsv_rows_get(rows, MISS_LAST, BSV_WHEN_UNKNOWN),
				             .persistent = bsv_rows_get(rows, MISS_PERSISTENT, 0),
				             .followed = bsv_rows_get(rows, MISS_FOLLOWED, 0),
				             .stood = bsv_rows_get(rows, MISS_STOOD, 0),
				             .waited = bsv_rows_get(rows, MISS_WAITED, 0),
				             .held = bsv_rows_get(rows, MISS_HELD, 0),
				             .hogged = bsv_rows_get(rows, MISS_HOGGED, 0),
				             .outranked = bsv_rows_get(rows, MISS_OUTRANKED, 0),
				             .by_model = bsv_rows_get(rows, MISS_N_BY_MODEL, 0),
				             .models_of_by_app = bsv_rows_get(rows, MISS_MODELS_OF_BY_APP, 0),
				             .victims = bsv_rows_get(rows, MISS_VICTIMS, 0),
				             .kind = text_copy(rows, MISS_KIND),
				             .most = bsv_rows_get(rows, MISS_MOST, 0),
				             .doer = text_copy(rows, MISS_DOER),
				             .causes = text_copy(rows, MISS_CAUSES),
				             .mostly = text_copy(rows, MISS_MOSTLY),
				             .nameless = text_copy(rows, MISS_NAMELESS),
				             .most_by = text_copy(rows, MISS_MOST_BY),
				             .app = text_copy(rows, MISS_BY_APP),
				             .model = text_copy(rows, MISS_BY_MODEL),
				             .victim = text_copy(rows, MISS_APP) };
		}
		if (r >= 0 && m.nth > 0 && !victim_add(&m, rows))
			r = bsv_no_memory(err);
	}
	if (r >= 0)
		r = missed_end(f, &m, &adding, err);
	if (r >= 0)
		r = others_add(f, &adding, err);
	free(adding.said);
	return r;
}

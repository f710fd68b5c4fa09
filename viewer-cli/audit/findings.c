/*
 * findings.c -- looks for problems of each kind. A kind has a query, a sentence and an advice, and
 * at most three findings.
 */
#include "audit/findings.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/finding.h"
#include "audit/habits.h"
#include "audit/judge.h"
#include "audit/kept.h"
#include "audit/missed.h"
#include "audit/verdicts.h"
#include "base/causes.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "input/fill.h"

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

/* ---- silent services ---- */

/* Columns of silences.sql. */
enum {
	SILENT_PID,
	SILENT_NS,
	SILENT_AWAITED,
	SILENT_FAILED,
	SILENT_EXECUTION,
	SILENT_APP,
	SILENT_MODEL,
	SILENT_LONGEST,
	SILENT_RECORDED,
	SILENT_FIRST,
	SILENT_LAST,
	SILENT_WENT_ON
};

/* ", while clients waited for 4 answers, longest for 3.4 s: cam's faces, execution 46". Owned; NULL: no memory. */
static char *silence_awaited(const struct bsv_rows *rows, const char *who)
{
	int64_t awaited = bsv_rows_get(rows, SILENT_AWAITED, 0), most = bsv_rows_get(rows, SILENT_LONGEST, -1);
	char n[BSV_COUNT_MAX], longest[BSV_DURATION_TEXT];
	bsv_scoped_text *since = NULL;

	if (!awaited)
		return strdup("");
	since = most < 0 ? strdup("")
	                 : bsv_text("%s for %s", awaited > 1 ? ", longest" : "", bsv_duration(longest, most));
	if (!since)
		return NULL;
	return bsv_text(", while clients waited for %s %s%s: %s, execution %" PRId64, bsv_count(n, (uint64_t)awaited),
	                bsv_plural((uint64_t)awaited, "answer", "answers"), since, who ? who : "an unknown app",
	                bsv_rows_get(rows, SILENT_EXECUTION, 0));
}

/* What was seen, and no more: a service that hangs emits as little as one that died, or is stopped. */
static char *silence_text(const struct bsv_rows *rows, const char *who)
{
	int64_t failed = bsv_rows_get(rows, SILENT_FAILED, 0), pid = bsv_rows_get(rows, SILENT_PID, 0);
	bsv_scoped_text *service = pid ? bsv_text("the service (pid %" PRId64 ")", pid) : strdup("a service");
	bsv_scoped_text *awaited = silence_awaited(rows, who), *failures = NULL;
	char n[BSV_COUNT_MAX], silent[BSV_DURATION_TEXT];

	failures = failed ? bsv_text("; %s %s for clients %s, without an event of it", bsv_count(n, (uint64_t)failed),
	                             bsv_plural((uint64_t)failed, "execution failed", "executions failed"),
	                             bsv_rows_get(rows, SILENT_WENT_ON, 0) ? "meanwhile" : "since")
	                  : strdup("");
	if (!service || !awaited || !failures)
		return NULL;
	if (bsv_rows_get(rows, SILENT_WENT_ON, 0))
		return bsv_text(
			"no event of %s was recorded for %s%s%s, and then it went on; it was stopped, or hung, or "
			"had no cpu",
			service, bsv_duration(silent, bsv_rows_get(rows, SILENT_NS, 0)), awaited, failures);
	return bsv_text(
		"no event of %s was recorded in the last %s%s%s; it hung, or had died%s: the recording does not "
		"tell",
		service, bsv_duration(silent, bsv_rows_get(rows, SILENT_NS, 0)), awaited, failures,
		bsv_rows_get(rows, SILENT_RECORDED, 0) ? "" : ", or was not recorded any more");
}

/* @short_ones: only the stops of less than a second; otherwise only the others. */
static int add_silences(struct bsv_findings *f, struct bsv_input *input, bool short_ones, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	const struct bsv_placeholder placeholders[] = { { "short", short_ones ? "1" : "0" }, { NULL, NULL } };
	int r = bsv_input_rows(&rows, input, bsv_sql_silences, placeholders, err), n = 0;

	while (r >= 0 && n++ < BSV_FOUND_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0) {
		bsv_scoped_text *who = bsv_full_name(text_of(rows, SILENT_APP), text_of(rows, SILENT_MODEL));

		r = bsv_finding_add(
			f,
			(struct bsv_finding){
				.finding = strdup("silent"),
				.what = silence_text(rows, who),
				.who = bsv_text_copy(who),
				.misses = -1,
				.first_at = bsv_rows_get(rows, SILENT_FIRST, BSV_WHEN_UNKNOWN),
				.last_at = bsv_rows_get(rows, SILENT_LAST, BSV_WHEN_UNKNOWN),
				.lost_ns = bsv_rows_get(rows, SILENT_LONGEST, -1),
				.see = "timeline",
				.advice = bsv_finding_advice(
					f, bsv_rows_get(rows, SILENT_WENT_ON, 0) ? "paused" : "silent", NULL) },
			err);
	}
	return r < 0 ? r : 0;
}

/* ---- starvation ---- */

/*
 * Starvation of one app and model, in percent of all its waits that were too long; stops of the
 * service are left out of these.
 */
struct starved {
	double held;        /* the app that held the lane for most of it */
	double idle;        /* at least: the lane was empty */
	double unrun;       /* at least: the run on the lane had no cpu */
	double asleep;      /* of unrun: its thread had not asked for a cpu either */
	double unread;      /* in runs ten times as long as usual whose cpu time was not read: perhaps stops */
	double unknown;     /* at least: it is not known who held the lane */
	double computed;    /* in waits that the cpu time of the holder makes too long by itself */
	int64_t all_ns;     /* these waits */
	int64_t most_ns;    /* the longest of them */
	int64_t worst_at;   /* when the longest began, stops included */
	int64_t stopped_ns; /* what is left out of them */
	/* in percent of the longest waits, with the stops: no event of the service, though it had requests */
	double silent;
	bool paused;     /* for most of that, it went on afterwards */
	const char *hog; /* NULL if no app is known to have held the lane */
	bool own;        /* that app is its own */
};

/* Then who had the lane is no reason. */
static bool is_starved_by_silence(const struct starved *s)
{
	return s->silent >= 50;
}

/* An idle machine would not have helped: the holder computed for longer than a wait may take. */
static bool is_starved_by_work(const struct starved *s)
{
	return !is_starved_by_silence(s) && s->hog && s->held - s->unread >= 50 && s->computed >= 50;
}

static bool is_starved_by_machine(const struct starved *s)
{
	return !is_starved_by_silence(s) && !is_starved_by_work(s) && s->idle + s->unrun - s->asleep >= 50;
}

/* The run that held the lane was on no cpu, and not because others had it: it waited for a page, or was stopped. */
static bool is_starved_by_sleep(const struct starved *s)
{
	return !is_starved_by_silence(s) && !is_starved_by_work(s) && !is_starved_by_machine(s) &&
	       s->idle + s->unrun >= 50;
}

/* A holder for less is not to blame. */
static bool is_starved_by_holder(const struct starved *s)
{
	return !is_starved_by_silence(s) && !is_starved_by_machine(s) && !is_starved_by_sleep(s) && s->hog &&
	       s->held - s->unread >= 50;
}

/*
 * "; hog held the lane 77 % of that time". @time: "time" or "sum", what the shares are of. Owned by
 * the caller; NULL: no memory.
 */
static char *starved_text(const struct starved *s, const char *time)
{
	const char *hog = s->own ? "work of its own app" : s->hog;

	if (is_starved_by_silence(s))
		return bsv_text("; no event of the service was recorded for %.0f %% of that %s", s->silent, time);
	if (is_starved_by_machine(s) && s->unrun < 1)
		return bsv_text("; the lane was empty for %.0f %% of that %s", s->idle, time);
	if (is_starved_by_machine(s))
		return bsv_text("; %s held the lane %.0f %% of that %s, but the run had no cpu for %.0f %%",
		                hog ? hog : "a run", s->held, time, s->unrun);
	if (is_starved_by_sleep(s))
		return bsv_text(
			"; %s held the lane %.0f %% of that %s, but the run was on no cpu for %.0f %%, and mostly "
			"had not asked for one",
			hog ? hog : "a run", s->held, time, s->unrun);
	if (!is_starved_by_holder(s) && s->hog && s->held >= 50)
		return bsv_text(
			"; %s held the lane %.0f %% of that %s, but for %.0f %% in runs that took ten times as long "
			"as usual, and whose cpu time was not read: the service may have been stopped",
			hog, s->held, time, s->unread);
	if (is_starved_by_holder(s) && s->idle + s->unrun >= 50)
		return bsv_text("; %s held the lane %.0f %% of that %s: its runs had no cpu for %.0f %%, but their "
		                "cpu time alone is longer than a wait may take",
		                hog, s->held, time, s->unrun);
	if (is_starved_by_holder(s))
		return bsv_text("; %s held the lane %.0f %% of that %s", hog, s->held, time);
	if (s->unknown >= 50)
		return bsv_text("; it is not known who held the lane for %.0f %% of that %s", s->unknown, time);
	return s->hog ? bsv_text("; no app held the lane for half of that %s: %s longest, %.0f %%", time, hog, s->held)
	              : strdup("");
}

static int add_starved(struct bsv_findings *f, const struct bsv_rows *rows, const struct starved *by, bool fails,
                       struct bsa_err *err)
{
	bool machine = is_starved_by_machine(by), holder = is_starved_by_holder(by);
	char *victim = bsv_full_name(text_named(rows, "app"), text_named(rows, "model"));
	const char *name = victim ? victim : "an unknown app";
	uint64_t episodes = (uint64_t)get_named(rows, "n_episodes", 0);
	uint64_t executions = (uint64_t)get_named(rows, "n_executions", 0);
	char times[BSV_COUNT_MAX], of[BSV_COUNT_MAX], most[BSV_DURATION_TEXT], all[BSV_DURATION_TEXT],
		stopped[BSV_DURATION_TEXT];
	bsv_scoped_text *held = starved_text(by, episodes == 1 ? "time" : "sum"), *waits = NULL,
			*without = by->stopped_ns ? bsv_text(", without %s in which the service was stopped, or hung, "
	                                                     "or had no cpu",
	                                                     bsv_duration(stopped, by->stopped_ns))
	                                          : strdup("");

	bsv_duration(most, by->most_ns);
	if (episodes == 1)
		waits = bsv_text("%s waited for a lane up to %s, too long in 1 wait%s", name, most, without);
	else
		waits = bsv_text("%s waited for a lane up to %s at a time, too long in %s waits of %s %s, %s %s%s",
		                 name, most, bsv_count(times, episodes), bsv_count(of, executions),
		                 bsv_plural(executions, "execution", "executions"), bsv_duration(all, by->all_ns),
		                 executions == 1 ? "in all" : "summed over executions", without);
	return bsv_finding_add(
		f,
		(struct bsv_finding){
			.finding = strdup("starvation"),
			.what = held && waits && without ? bsv_text("%s%s", waits, held) : NULL,
			.who = victim,
			.culprit = holder ? bsv_text_copy(by->hog) : NULL,
			.doer = machine   ? strdup("the machine")
	                        : !holder ? NULL
	                        : by->own ? bsv_text("%s itself", by->hog)
	                                  : bsv_text_copy(by->hog),
			.certainty = holder && by->held - by->unread >= 90 && by->idle + by->unrun < 50 ? BSV_SURE
	                             : holder || machine                                                ? BSV_LIKELY
	                                                 : BSV_CLAIMS_NOTHING,
			.misses = -1,
			.first_at = get_named(rows, "first_at", BSV_WHEN_UNKNOWN),
			.last_at = get_named(rows, "last_at", BSV_WHEN_UNKNOWN),
			.worst_at = by->worst_at,
			.lost_ns = by->all_ns,
			.see = "starvation",
			.fails = fails ? BSV_FAILS_STARVATION : 0,
			.advice = machine  ? bsv_finding_advice(f, "machine", NULL)
	                          : holder ? bsv_finding_advice(f, by->own ? "queued_behind" : "starvation", NULL)
	                          : is_starved_by_silence(by)
	                                  ? bsv_finding_advice(f, by->paused ? "paused" : "silent", NULL)
	                                  : NULL,
			.blame = machine   ? BSV_BLAMES_MACHINE
	                         : !holder ? BSV_BLAMES_NO_APP
	                         : by->own ? BSV_BLAMES_OWN
	                                   : BSV_BLAMES_HOLDER,
			.blamed = machine  ? strdup("the machine")
	                          : holder ? bsv_text_copy(by->hog)
	                                   : NULL },
		err);
}

static int add_starvation(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *j,
                          struct bsa_err *err)
{
	const struct bsv_quantity threshold = { .given = false };
	bsv_scoped_text *episodes = bsv_starvation_episodes(input, &threshold);
	const struct bsv_placeholder placeholders[] = { { "episodes", episodes }, { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = episodes ? bsv_input_rows(&rows, input, bsv_sql_starvation_victims, placeholders, err)
	                 : bsv_no_memory(err),
	    n = 0;

	while (r >= 0 && n++ < BSV_FOUND_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0) {
		const char *app = text_named(rows, "app"), *hog = text_named(rows, "culprit");
		int64_t all = get_named(rows, "starved_ns", 0), stopped, idle_too;
		double percent;
		struct bsv_starved_by by;
		struct starved starved;

		r = bsv_starved_by(&by, input, app, text_named(rows, "model"), hog, err);
		if (r < 0)
			break;
		/* Mostly silence: the figures are of all of the waits then, and no app is blamed. */
		starved =
			(struct starved){ .silent = by.all_ns > 0 ? 100 * (double)by.silent_ns / (double)by.all_ns : 0,
			                  .paused = 2 * by.paused_ns > by.silent_ns,
			                  .computed =
			                          by.all_ns > 0 ? 100 * (double)by.computed_ns / (double)by.all_ns : 0,
			                  .hog = hog,
			                  .own = app && hog && !strcmp(app, hog),
			                  .all_ns = all,
			                  .most_ns = get_named(rows, "max_ns", 0),
			                  .worst_at = by.longest_at };
		if (by.stopped_ns && !is_starved_by_silence(&starved)) {
			starved.all_ns -= by.stopped_ns;
			starved.most_ns = by.most_ns;
			starved.stopped_ns = by.stopped_ns;
		}
		/* A stop is no time of the run that held the lane then, nor one in which the lane was left empty. */
		percent = starved.all_ns > 0 ? 100 / (double)starved.all_ns : 0;
		stopped = starved.stopped_ns ? by.paused_ns : 0;
		idle_too = stopped > by.unrun_ns ? stopped - by.unrun_ns : 0;
		starved.idle = percent * (double)(by.idle_ns > idle_too ? by.idle_ns - idle_too : 0);
		starved.unrun = percent * (double)(by.unrun_ns > stopped ? by.unrun_ns - stopped : 0);
		starved.asleep = percent * (double)(by.asleep_ns > stopped ? by.asleep_ns - stopped : 0);
		/* no run counts for a stop that is left out */
		starved.unread = percent * (double)(by.unread_ns > stopped ? by.unread_ns - stopped : 0);
		starved.unknown = percent * (double)by.unknown_ns;
		if (hog && starved.stopped_ns)
			starved.held = percent * (double)by.held_ns;
		else if (hog)
			starved.held = bsv_rows_cell(rows, column_named(rows, "culprit_percent")).real;
		r = add_starved(f, rows, &starved, bsv_judged(j) == BSV_FAIL, err);
	}
	return r;
}

/* ---- priority ---- */

static int add_inverted(struct bsv_findings *f, const struct bsv_rows *rows, struct bsa_err *err)
{
	const char *app = text_named(rows, "app"), *holder = text_named(rows, "holder");
	char *victim = bsv_full_name(app, text_named(rows, "victim"));
	int64_t first_at = get_named(rows, "first_at", BSV_WHEN_UNKNOWN);
	int64_t last_at = get_named(rows, "last_at", BSV_WHEN_UNKNOWN);
	uint64_t n = (uint64_t)get_named(rows, "n_inversions", 0);
	int64_t worst = get_named(rows, "worst_ns", 0), longest = get_named(rows, "max_ns", 0);
	char times[BSV_COUNT_MAX], all[BSV_DURATION_TEXT], most[BSV_DURATION_TEXT], of[BSV_DURATION_TEXT],
		bound[BSV_DURATION_TEXT];
	/* each holder has a limit of its own, so the longest wait need not be the worst */
	bsv_scoped_text *up_to = longest > worst ? bsv_text(", up to %s; each wait has its own limit, and the one that "
	                                                    "is furthest beyond it lasted",
	                                                    bsv_duration(most, longest))
	                                         : strdup("; the worst lasted");
	char *what = bsv_text(
		"%s waited %s %s while its app's less urgent %s held a lane: %s summed over executions%s %s, limit %s",
		victim ? victim : "urgent work", bsv_count(times, n), bsv_plural(n, "time", "times"),
		holder ? holder : "work", bsv_duration(all, get_named(rows, "held_ns", 0)), up_to ? up_to : "",
		bsv_duration(of, worst), bsv_duration_beside(bound, get_named(rows, "bound_ns", 0), worst));

	return bsv_finding_add(f,
	                       (struct bsv_finding){ .finding = strdup("inversion"),
	                                             .what = what,
	                                             .who = victim,
	                                             .culprit = bsv_full_name(app, holder),
	                                             .doer = bsv_full_name(app, holder),
	                                             .certainty = BSV_SURE,
	                                             .misses = -1,
	                                             .first_at = first_at,
	                                             .last_at = last_at,
	                                             .lost_ns = get_named(rows, "held_ns", -1),
	                                             .see = "priority",
	                                             .fails = BSV_FAILS_PRIORITY,
	                                             .advice = bsv_finding_advice(f, "inversion", NULL),
	                                             .blame = BSV_BLAMES_ORDER,
	                                             .blamed = bsv_text_copy(app) },
	                       err);
}

/* A failed verdict whose rows name no app: the sentence of the rule is the finding. */
static struct bsv_finding finding_of_rule(const struct bsv_findings *f, const struct bsv_verdict *rule,
                                          const char *finding, const char *see)
{
	bool time = rule->class && !strcmp(rule->class, "duration");

	return (struct bsv_finding){ .finding = strdup(finding),
		                     .what = strdup(rule->why ? rule->why : rule->name),
		                     .certainty = BSV_SURE,
		                     .misses = -1,
		                     .first_at = BSV_WHEN_UNKNOWN,
		                     .last_at = BSV_WHEN_UNKNOWN,
		                     .lost_ns = time ? bsv_whole(rule->figure) : -1,
		                     .see = see,
		                     .advice = bsv_finding_advice(f, finding, NULL) };
}

/*
 * Name the app whose most urgent work was passed over in the most choices, and with @choices add in
 * how many those of each of the first apps were right; without such an app @of stays as it is.
 */
static int name_passed_over(struct bsv_finding *of, bool choices, struct bsv_input *input, struct bsa_err *err)
{
	const struct bsv_placeholder placeholders[] = { { "choices", bsv_sql_choices }, { NULL, NULL } };
	char honoured[BSV_COUNT_MAX], of_n[BSV_COUNT_MAX];
	bsv_scoped_rows *rows = NULL;
	bsv_scoped_text *each = NULL, *said = NULL;
	int64_t most = -1;
	size_t n_apps = 0;
	int r = bsv_input_rows(&rows, input, bsv_sql_priority_choices, placeholders, err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0) {
		int64_t n = get_named(rows, "n_choices", 0), first = get_named(rows, "n_honoured", 0);
		const char *app = text_named(rows, "app");

		if (app && (!of->blamed || (n > first && n_apps < BSV_FOUND_OF_A_KIND))) {
			bsv_scoped_text *before = of->who, *doers = of->doer;

			if (!of->blamed || n - first > most) {
				free(of->blamed);
				of->blamed = strdup(app);
				most = n - first;
			}
			of->who = before ? bsv_text("%s, %s", before, app) : strdup(app);
			of->doer = doers ? bsv_text("%s, %s itself", doers, app) : bsv_text("%s itself", app);
		}
		if (n_apps++ < BSV_FOUND_OF_A_KIND &&
		    !bsv_text_join(&each, bsv_text("%s %s of %s", app ? app : "an unknown app",
		                                   bsv_count(honoured, (uint64_t)first), bsv_count(of_n, (uint64_t)n))))
			return bsv_no_memory(err);
	}
	if (r < 0 || !of->who || !choices || n_apps < 2)
		return r;
	said = of->what;
	of->what = said && each ? bsv_text("%s; by app: %s", said, each) : NULL;
	return r;
}

static int add_inversions(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *j,
                          struct bsa_err *err)
{
	const struct bsv_placeholder placeholders[] = { { "stretches", bsv_sql_stretches },
		                                        { "unseen_stops", bsv_sql_unseen_stops },
		                                        { "bound", bsv_sql_inversion_bound },
		                                        { "off_core", bsv_sql_off_core_of_holder },
		                                        { "slack", BSV_SLACK_TEXT },
		                                        { "allowed", bsv_sql_inversion_allowed },
		                                        { "probations", bsv_sql_probations },
		                                        { "inverted_on_probation", bsv_sql_inverted_on_probation },
		                                        { "lesser_on_probation", bsv_sql_lesser_on_probation },
		                                        { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = 0, n = 0;

	if (bsv_judged(j) != BSV_FAIL)
		return 0;
	r = bsv_input_rows(&rows, input, bsv_sql_priority_inversions, placeholders, err);
	while (r >= 0 && n < BSV_FOUND_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0)
		if (get_named(rows, "n_above", 0) > 0) {
			r = add_inverted(f, rows, err);
			n++;
		}
	for (size_t i = 0; r >= 0 && !n && i < j->n; i++)
		if (j->rules[i].outcome == BSV_FAIL) {
			struct bsv_finding of = finding_of_rule(f, &j->rules[i], "inversion", "priority");

			r = name_passed_over(&of, !strcmp(j->rules[i].name, "honoured_percent"), input, err);
			of.fails = BSV_FAILS_PRIORITY;
			of.blame = BSV_BLAMES_ORDER;
			n = bsv_finding_add(f, of, err);
			r = n < 0 ? n : r;
		}
	return r < 0 ? r : 0;
}

/* ---- fairness ---- */

static int add_unfair(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *j,
                      struct bsa_err *err)
{
	bsv_scoped_text *name = NULL;
	bsv_scoped_rows *rows = NULL;
	struct bsv_finding of;
	int added, r;

	if (bsv_judged(j) != BSV_FAIL)
		return 0;
	of = finding_of_rule(f, &j->rules[0], "unfair", "fairness");
	of.who = bsv_text_copy(j->who);
	of.culprit = *j->by ? bsv_text_copy(j->by) : NULL;
	of.doer = bsv_text_copy(of.culprit);
	of.saves = j->of_deadlines;
	of.fails = BSV_FAILS_FAIRNESS;
	of.blame = BSV_BLAMES_HOLDER;
	of.blamed = bsv_text_copy(of.culprit);

	/* From when to when the app that is behind got less than half of its share. */
	name = of.who ? bsv_quoted(of.who) : NULL;
	if (name)
		r = bsv_input_row(&rows, input, bsv_sql_summary_unfair,
		                  (const struct bsv_placeholder[]){ { "name", name }, { NULL, NULL } }, err);
	else
		r = bsv_no_memory(err);
	if (r > 0) {
		of.first_at = bsv_rows_get(rows, 0, BSV_WHEN_UNKNOWN);
		of.last_at = bsv_rows_get(rows, 1, BSV_WHEN_UNKNOWN);
	}
	added = bsv_finding_add(f, of, err);
	return r < 0 ? r : added;
}

/* ---- overhead ---- */

/* Columns of overhead_causes_stored.sql. */
enum { COST_CAUSE, COST_N, COST_SUM, COST_SHARE, COST_APP, COST_MODEL, COST_PATH, COST_OF_IT };

static int add_overhead(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	const char *cause, *phrase;
	bsv_scoped_text *who = NULL;
	char sum[BSV_DURATION_TEXT];
	int64_t n, sum_ns;
	bsv_scoped_text *sql = bsv_kept_rows(input, bsv_input_fill(input, bsv_sql_overhead_causes_stored, NULL));
	int r = sql ? bsv_rows_query(&rows, input->db, sql, err) : bsv_no_memory(err);

	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r <= 0)
		return r;
	cause = text_of(rows, COST_CAUSE);
	n = bsv_rows_get(rows, COST_N, 0);
	sum_ns = bsv_rows_get(rows, COST_SUM, 0);
	phrase = cause ? bsv_cause_of_overhead(cause, f->shares_known) : NULL;
	who = bsv_full_name(text_of(rows, COST_APP), text_of(rows, COST_MODEL));
	return bsv_finding_add(
		f,
		(struct bsv_finding){
			.finding = strdup(cause ? cause : "unknown"),
			.what = bsv_text(
				"%s, %.0f %% of the overhead of all answered executions added up, is spent %s; "
				"%.0f %% of that in %s (%s)",
				bsv_duration(sum, bsv_rows_get(rows, COST_SUM, 0)),
				bsv_rows_cell(rows, COST_SHARE).real, phrase ? phrase : "otherwise",
				bsv_rows_cell(rows, COST_OF_IT).real, who ? who : "an unknown app",
				text_of(rows, COST_PATH) ? text_of(rows, COST_PATH) : "unknown"),
			.who = bsv_text_copy(who),
			.misses = -1,
			.first_at = BSV_WHEN_UNKNOWN,
			.last_at = BSV_WHEN_UNKNOWN,
			.lost_ns = bsv_rows_get(rows, COST_SUM, -1),
			.see = "overhead",
			.advice = bsv_advice(&(struct bsv_advised){ .cause = cause,
	                                                            .path = text_of(rows, COST_PATH),
	                                                            .mean_ns = n > 0 ? sum_ns / n : 0 },
	                                     &f->settings) },
		err);
}

/* ---- preparations ---- */

/* Columns of preparations.sql. */
enum {
	PREP_APP,
	PREP_MODEL,
	PREP_DEADLINES,
	PREP_MISSED,
	PREP_LATE,
	PREP_REFUSED,
	PREP_WORST,
	PREP_FIRST = 8,
	PREP_LAST
};

static int add_preparations(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_input_rows(&rows, input, bsv_sql_preparations, NULL, err), n_added = 0;

	while (r >= 0 && n_added++ < BSV_FOUND_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0) {
		int64_t late = bsv_rows_get(rows, PREP_LATE, 0), refused = bsv_rows_get(rows, PREP_REFUSED, 0);
		bsv_scoped_text *who = bsv_full_name(text_of(rows, PREP_APP), text_of(rows, PREP_MODEL));
		bsv_scoped_text *how_late = NULL, *how_refused = NULL;
		char n[BSV_COUNT_MAX], of[BSV_COUNT_MAX], worst[BSV_DURATION_TEXT], *what = NULL;

		if (!bsv_rows_get(rows, PREP_MISSED, 0))
			break;

		/*
		 * "painter's mobilenet: 3 of 4 preparations missed their deadline (2 late, the
		 * worst by 4 ms; 1 refused)"
		 */
		bsv_duration(worst, bsv_rows_get(rows, PREP_WORST, 0));
		how_late =
			late ? bsv_text("%s late, the worst by %s", bsv_count(n, (uint64_t)late), worst) : strdup("");
		how_refused = refused ? bsv_text("%s refused", bsv_count(n, (uint64_t)refused)) : strdup("");
		if (how_late && how_refused)
			what = bsv_text("%s: %s of %s preparations missed their deadline (%s%s%s)",
			                who ? who : "an unknown app",
			                bsv_count(n, (uint64_t)bsv_rows_get(rows, PREP_MISSED, 0)),
			                bsv_count(of, (uint64_t)bsv_rows_get(rows, PREP_DEADLINES, 0)), how_late,
			                late && refused ? "; " : "", how_refused);
		r = bsv_finding_add(f,
		                    (struct bsv_finding){ .finding = strdup("late_preparation"),
		                                          .what = what,
		                                          .who = bsv_text_copy(who),
		                                          .misses = -1,
		                                          .first_at = bsv_rows_get(rows, PREP_FIRST, BSV_WHEN_UNKNOWN),
		                                          .last_at = bsv_rows_get(rows, PREP_LAST, BSV_WHEN_UNKNOWN),
		                                          .lost_ns = bsv_rows_get(rows, PREP_WORST, -1),
		                                          .see = "misses" },
		                    err);
	}
	return r < 0 ? r : 0;
}

/* ---- apps whose every execution fails ---- */

enum failing_column {
	FAILING_APP,
	FAILING_N,
	FAILING_STATUSES,
	FAILING_LEFT,
	FAILING_LEAST,
	FAILING_MOST,
	FAILING_FIRST,
	FAILING_LAST
};

static int add_failing(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_input_rows(&rows, input, bsv_sql_summary_failing, NULL, err), n_added = 0;

	while (r >= 0 && n_added++ < BSV_FOUND_OF_A_KIND && (r = bsv_rows_step(rows, err)) > 0) {
		const char *app = bsv_rows_cell(rows, FAILING_APP).text,
			   *statuses = bsv_rows_cell(rows, FAILING_STATUSES).text;
		int64_t n = bsv_rows_get(rows, FAILING_N, 0), left = bsv_rows_get(rows, FAILING_LEFT, 0);
		char all[BSV_COUNT_MAX + 32], some[BSV_COUNT_MAX], least[BSV_DURATION_TEXT], most[BSV_DURATION_TEXT];
		const char *given_up = n == 1 ? "it" : left == n ? "each" : some;
		bsv_scoped_text *gave_up = NULL;

		bsv_count(some, (uint64_t)n);
		if (n == 1)
			snprintf(all, sizeof(all), "the only execution");
		else
			snprintf(all, sizeof(all), "all %s executions", some);
		bsv_count(some, (uint64_t)left);
		bsv_duration(least, bsv_rows_get(rows, FAILING_LEAST, 0));
		bsv_duration(most, bsv_rows_get(rows, FAILING_MOST, 0));
		/* ": its client gave up 30 before the answer, after 15 ms to 19 ms" */
		gave_up = left ? bsv_text(": its client gave up %s before the answer, after %s%s%s", given_up, least,
		                          strcmp(least, most) ? " to " : "", strcmp(least, most) ? most : "")
		               : strdup("");
		r = bsv_finding_add(
			f,
			(struct bsv_finding){ .finding = strdup("failing"),
		                              .what = gave_up ? bsv_text("%s of %s failed (%s)%s", all,
		                                                         app ? app : "an unknown app",
		                                                         statuses ? statuses : "", gave_up)
		                                              : NULL,
		                              .who = bsv_text_copy(app),
		                              .misses = -1,
		                              .first_at = bsv_rows_get(rows, FAILING_FIRST, BSV_WHEN_UNKNOWN),
		                              .last_at = bsv_rows_get(rows, FAILING_LAST, BSV_WHEN_UNKNOWN),
		                              .lost_ns = -1,
		                              .see = "timeline" },
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
	r = bsv_finding_add(
		f,
		(struct bsv_finding){ .finding = strdup("burst_per_call"),
	                              .what = bsv_text_copy(habit.says),
	                              .who = bsv_text_copy(habit.app),
	                              .doer = habit.app ? bsv_text("%s itself", habit.app) : strdup("the app itself"),
	                              .certainty = BSV_SURE,
	                              .misses = -1,
	                              .first_at = habit.first_at,
	                              .last_at = habit.last_at,
	                              .lost_ns = habit.sum_ns,
	                              .see = "overhead",
	                              .advice = bsv_finding_advice(f, "burst_per_call", NULL) },
		err);
	bsv_habit_fini(&habit);
	return r;
}

static int findings_begin(struct bsv_findings *ret, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r;

	*ret = (struct bsv_findings){ .n = 0 };
	r = bsv_settings_read(&ret->settings, input, err);
	if (r >= 0)
		r = bsv_rows_query(&rows, input->db, bsv_sql_shares_may_be_unseen, err);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	ret->shares_known = r > 0 && !bsv_rows_get(rows, 0, 1);
	return r < 0 ? r : 0;
}

int bsv_findings_read(struct bsv_findings *ret, struct bsv_input *input, const struct bsv_judgement *judgements,
                      struct bsa_err *err)
{
	char why[BSV_LACKS_TEXT];
	bool lacks = bsv_coverage_lacks(&input->coverage, BSV_OF_LANES, why);
	int r = findings_begin(ret, input, err);

	if (r >= 0)
		r = add_silences(ret, input, false, err);
	if (r >= 0) /* those that come later may be merged into these */
		r = bsv_missed_add(ret, input, &judgements[BSV_FAIRNESS], err);
	if (r >= 0)
		r = add_failing(ret, input, err);
	if (r >= 0)
		r = add_preparations(ret, input, err);
	/* without the events of lanes, waits are not what they seem */
	if (r >= 0 && !lacks)
		r = add_inversions(ret, input, &judgements[BSV_PRIORITY], err);
	if (r >= 0 && !lacks)
		r = add_starvation(ret, input, &judgements[BSV_STARVATION], err);
	if (r >= 0)
		r = add_unfair(ret, input, &judgements[BSV_FAIRNESS], err);
	if (r >= 0)
		r = add_silences(ret, input, true, err);
	if (r >= 0)
		r = add_habits(ret, input, err);
	bsv_findings_rest_last(ret);
	return r >= 0 ? add_overhead(ret, input, err) : r;
}

int bsv_findings_holder_advice(const char **ret, struct bsv_input *input, const char *holder, struct bsa_err *err)
{
	__attribute__((cleanup(bsv_findings_fini))) struct bsv_findings f = { .n = 0 };
	struct bsv_judgement fairness;
	int r = bsv_judge(&fairness, BSV_FAIRNESS, input, NULL, err);

	*ret = NULL;
	if (r >= 0)
		r = findings_begin(&f, input, err);
	if (r >= 0)
		r = bsv_missed_add(&f, input, &fairness, err);
	if (r >= 0) /* its advice is the same, whichever verdict fails for it */
		r = add_starvation(&f, input, &(struct bsv_judgement){ .n = 0 }, err);
	if (r >= 0)
		r = add_unfair(&f, input, &fairness, err);
	for (size_t i = 0; i < f.n && r >= 0; i++)
		if (f.of[i].blame == BSV_BLAMES_HOLDER && f.of[i].blamed && !strcmp(f.of[i].blamed, holder))
			*ret = f.of[i].advice;
	return r < 0 ? r : 0;
}

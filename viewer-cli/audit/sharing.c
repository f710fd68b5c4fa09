/*
 * sharing.c -- judges fairness. The first half is the rule, which needs no database; the second
 * half reads the facts.
 */
#include "audit/sharing.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/hidden.h"
#include "audit/kept.h"
#include "audit/verdicts.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"
#include "input/fill.h"

enum {
	NAME_MOST = 80, /* bytes of a name in a sentence */
	EXECUTIONS_MIN = 30,
	/*
	 * more of them must be met under ideal sharing: as a quarter of EXECUTIONS_MIN, a stall or
	 * two can decide about fewer
	 */
	DEADLINES_MIN = 8,
};

#define WORK_MIN_NS INT64_C(200000000)
#define SLOWER_PERCENT 25.0
#define LESS_THAN 0.5 /* share of the ideal work; an app that got less fails */
#define STEPS 2       /* number of steps that an execution may be slower by, besides the percentage */

/* ---- the rule ---- */

/*
 * The p95 of few executions rests on a stall or two, which hit one app or another by chance: its
 * lower confidence bound is judged.
 */
static const char AT_P95[] = "or more at p95 (99 % confidence)";
static const char DEADLINES[] = "deadlines";

struct finding {
	const struct bsv_sharing_app *app;
	/* "on average", AT_P95 or DEADLINES; NULL: the judged figure is the work that the app got */
	const char *figure;
	int64_t is, ideal; /* the figure, as recorded and under ideal sharing */
	double slower;     /* percent; of deadlines: so many more would have been met */
	double near;       /* closeness to the limit; 1: at the limit */
	bool failed;
	bool is_own; /* it would fail, and would do so if it had never waited for another app */
	const struct bsv_sharing_app
		*own; /* of the worst finding: the first app with a finding that is its own; NULL: none */
	/*
	 * the ideal is unknown; or the limit is: it is slower by more than the percentage, and the
	 * steps are not known
	 */
	bool unknown;
	const struct bsv_sharing_app *asleep; /* got too little, perhaps because it slept; NULL: none */
};

/* An app that would fail if what was refused took no lane under ideal sharing either. */
struct doubt {
	const struct bsv_sharing_app *app;
	const char *figure; /* as in a finding */
	int64_t is, ideal, without;
};

static bool is_judged_by_responses(const struct bsv_sharing_app *a)
{
	return a->of.n >= EXECUTIONS_MIN && !a->native;
}

static bool is_judged_by_work(const struct bsv_sharing_app *a)
{
	return a->of.work_ns >= WORK_MIN_NS;
}

static bool is_judged_by_deadlines(const struct bsv_sharing_app *a)
{
	return a->of.due >= EXECUTIONS_MIN && !a->native;
}

/* Whether many more deadlines would be met, if @ideal were, than in the recording. */
static bool is_much_more(int64_t ideal, int64_t met)
{
	return ideal - met >= DEADLINES_MIN && (double)ideal > (1 + SLOWER_PERCENT / 100) * (double)met;
}

double bsv_sharing_got(const struct bsa_shared *of)
{
	if (of->work_ns <= 0)
		return (double)NAN;
	if (of->received_ns <= 0)
		return of->ideal_work_ns >= of->work_ns
		               ? 1
		               : 0; /* without received work, the ideal time cannot be compared */
	return (double)of->ideal_work_ns / (double)of->work_ns;
}

/*
 * Would the figure be beyond its limit, too, if no other app had ever held a lane that the app waited for? Then others
 * have not made it so. @more: by how much it is beyond, of all time that the app waited. Not of a native service, which
 * does not tell who waits; and where work is done again because of others, that is no wait.
 */
static bool is_own(const struct bsv_sharing_app *a, double more)
{
	return !a->native && more > (double)a->waited_ns && !(a->restarts && a->waited_ns > 0);
}

/* By how much an app had work for longer than it may, if it would have had work for @ideal. */
static double work_beyond(int64_t is, int64_t ideal)
{
	return (double)is - (double)ideal / LESS_THAN;
}

/* Keep the worse finding: a failure before a pass, then the one nearer to its limit. An app's own is neither. */
static void keep_worse(struct finding *worst, const struct finding *f)
{
	bool unknown = worst->unknown || f->unknown;
	const struct bsv_sharing_app *own = f->is_own && !worst->own ? f->app : worst->own, *asleep = worst->asleep;

	if (!f->is_own &&
	    (!worst->app || f->failed > worst->failed || (f->failed == worst->failed && f->near > worst->near)))
		*worst = *f;
	worst->unknown = unknown;
	worst->own = own;
	worst->asleep = asleep;
}

static void judge_response(struct finding *worst, const struct bsv_sharing_app *a, const char *figure, int64_t is,
                           int64_t ideal)
{
	double ratio = ideal > 0 ? (double)is / (double)ideal : is > 0 ? (double)INFINITY : 1;
	struct finding f = { .app = a, .figure = figure, .is = is, .ideal = ideal, .slower = 100 * (ratio - 1) };
	double more = (double)is - (double)ideal, steps = a->step_ns < 0 ? 0 : STEPS * (double)a->step_ns;

	f.unknown = a->step_ns < 0 && f.slower > SLOWER_PERCENT;
	f.failed = a->step_ns >= 0 && f.slower > SLOWER_PERCENT && more > steps;
	/* Of the mean, all that were answered took their part; of p95, one at least was the longer for it. */
	f.is_own = f.failed && is_own(a, (figure == AT_P95 ? 1 : (double)a->of.n) *
	                                         ((double)is - fmax((1 + SLOWER_PERCENT / 100) * (double)ideal,
	                                                            (double)ideal + steps)));
	f.near = f.slower / SLOWER_PERCENT;
	if (steps > 0 && more < f.near * steps) /* the limit in steps is further away */
		f.near = more / steps;
	keep_worse(worst, &f);
}

/*
 * Judge @a by the ideal without what was refused: how long that would have taken is an estimate, so
 * no app passes because of it. @ret keeps the first app that would fail.
 */
static void judge_without_refused(struct doubt *ret, const struct bsv_sharing_app *a)
{
	const struct bsa_shared *of = &a->of;
	struct finding mean = { .app = NULL }, p95 = { .app = NULL };

	if (ret->app)
		return;
	if (is_judged_by_responses(a) && of->ideal_mean_without_ns) {
		judge_response(&mean, a, "on average", of->mean_ns, of->ideal_mean_without_ns);
		judge_response(&p95, a, AT_P95, of->p95_least_ns, of->ideal_p95_without_ns);
	}
	if (mean.failed || mean.unknown)
		*ret = (struct doubt){ a, mean.figure, mean.is, of->ideal_mean_ns, mean.ideal };
	else if (p95.failed || p95.unknown)
		*ret = (struct doubt){ a, p95.figure, p95.is, of->ideal_p95_ns, p95.ideal };
	else if (is_judged_by_work(a) && of->received_ns > 0 && of->ideal_work_without_ns &&
	         (double)of->ideal_work_without_ns < LESS_THAN * (double)of->work_ns &&
	         !is_own(a, work_beyond(of->work_ns, of->ideal_work_without_ns)))
		*ret = (struct doubt){ a, NULL, of->work_ns, of->ideal_work_ns, of->ideal_work_without_ns };
}

static void judge_app(struct finding *worst, const struct bsv_sharing_app *a)
{
	struct finding due = { .app = a, .figure = DEADLINES, .is = a->of.met, .ideal = a->of.ideal_met_least };
	double got = bsv_sharing_got(&a->of);

	if (a->unseen) { /* the replay assumed whole runs, or 1 ms: the true ideal may be more or less */
		worst->unknown |= is_judged_by_work(a) || is_judged_by_deadlines(a) || is_judged_by_responses(a);
		return;
	}
	/*
	 * Would it have got enough if none of its executions had slept? That may be its own doing, as for its pages.
	 * And each sleep ends by a wait for a cpu: so more may be, where it slept for half of its work.
	 */
	if (is_judged_by_work(a) && got < LESS_THAN && a->native &&
	    ((double)a->of.ideal_work_ns >= LESS_THAN * (double)(a->of.work_ns - a->asleep_ns) ||
	     a->asleep_ns >= a->of.work_ns / 2))
		worst->asleep = worst->asleep ? worst->asleep : a;
	else if (is_judged_by_work(a) && got < LESS_THAN)
		keep_worse(worst,
		           &(struct finding){ .app = a, /* if it got nothing, no number says how much slower it was */
		                              .slower = got > 0 ? 100 / got - 100 : (double)INFINITY,
		                              .near = LESS_THAN / (got + 1e-9),
		                              .failed = true,
		                              .is_own = is_own(a, work_beyond(a->of.work_ns, a->of.ideal_work_ns)) });

	/* Deadlines that would have been met for certain, whatever was given up needed. */
	if (is_judged_by_deadlines(a) && due.ideal > due.is) {
		/* 1 in place of 0, so that the quotient is a number. */
		due.slower = 100 * ((double)due.ideal / (double)(due.is ? due.is : 1) - 1);
		due.near = fmin(due.slower / SLOWER_PERCENT, (double)(due.ideal - due.is) / DEADLINES_MIN);
		due.failed = is_much_more(due.ideal, due.is);
		due.is_own = due.failed && !a->refused && is_own(a, 0.5);
		keep_worse(worst, &due);
	}
	if (!is_judged_by_responses(a))
		return;
	judge_response(worst, a, "on average", a->of.mean_ns, a->of.ideal_mean_ns);
	judge_response(worst, a, AT_P95, a->of.p95_least_ns, a->of.ideal_p95_ns);
}

__attribute__((format(printf, 2, 3))) static void rule_explain(struct bsv_judgement *j, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(j->why[0], sizeof(j->why[0]), format, ap);
	va_end(ap);
	j->rules[0].why = j->why[0];
}

static const char *app_name(const struct bsv_sharing_app *a)
{
	return a->name ? a->name : "an app";
}

/* "; they waited mostly for hog"; "": no other app is known to have held the lane. */
static const char *taker_text(char to[BSV_WHY_MAX], const struct finding *w)
{
	if (!w->app->taker)
		return "";
	if (w->figure == DEADLINES)
		snprintf(to, BSV_WHY_MAX, "; of other apps, mostly %.*s held the lane",
		         bsv_cut(w->app->taker, NAME_MOST), w->app->taker);
	else
		snprintf(to, BSV_WHY_MAX, w->figure ? "; they waited mostly for %.*s" : "; %.*s took most of it",
		         bsv_cut(w->app->taker, NAME_MOST), w->app->taker);
	return to;
}

static void explain_unfair(struct bsv_judgement *j, const struct finding *w)
{
	char is[BSV_DURATION_TEXT], ideal[BSV_DURATION_TEXT], least[BSV_DURATION_TEXT], by[BSV_WHY_MAX];
	const struct bsa_shared *of = &w->app->of;

	snprintf(j->who, sizeof(j->who), "%s", app_name(w->app));
	j->of_deadlines = w->figure == DEADLINES;
	snprintf(j->by, sizeof(j->by), "%s", w->app->taker ? w->app->taker : "");
	if (w->figure == DEADLINES)
		rule_explain(j,
		             "%.*s's executions left the lane in time for %" PRId64 " of %" PRId64
		             " deadlines, and under fair sharing for at least %" PRId64
		             " (fails if that is over 25 %% more)%s",
		             bsv_cut(app_name(w->app), NAME_MOST), app_name(w->app), w->is, of->due, w->ideal,
		             taker_text(by, w));
	else if (!w->figure)
		rule_explain(j,
		             "%.*s got %.2g %% of what fair sharing would have given it, in %s in which it had work "
		             "(fails below 50 "
		             "%%)%s",
		             bsv_cut(app_name(w->app), NAME_MOST), app_name(w->app), 100 * bsv_sharing_got(of),
		             bsv_duration(is, of->work_ns), taker_text(by, w));
	else
		rule_explain(
			j,
			"%.*s's executions took %s %s from ready to done; under fair sharing they would have taken %s "
			"(fails if they took 25 %% and %s more than that)%s",
			bsv_cut(app_name(w->app), NAME_MOST), app_name(w->app), bsv_duration(is, w->is), w->figure,
			bsv_duration_beside(ideal, w->ideal, w->is),
			bsv_duration_beside(least, STEPS * w->app->step_ns, w->is), taker_text(by, w));
}

static void explain_fair(struct bsv_judgement *j, const struct finding *w, size_t left_out)
{
	char is[BSV_DURATION_TEXT], ideal[BSV_DURATION_TEXT], least[BSV_DURATION_TEXT], rest[96] = "", steps[64] = "";

	if (w->app && w->app->step_ns >= 0)
		snprintf(steps, sizeof(steps), " and %s more",
		         bsv_duration_beside(least, STEPS * w->app->step_ns, w->is));
	if (left_out)
		snprintf(rest, sizeof(rest), "; %zu %s too little work to be judged", left_out,
		         left_out == 1 ? "app had" : "apps had");
	if (!w->app)
		rule_explain(j, "every app got at least half of what fair sharing would have given it%s", rest);
	else if (w->figure == DEADLINES)
		rule_explain(j,
		             "nearest to the limit, %.*s's executions left the lane in time for %" PRId64 " of %" PRId64
		             " deadlines, and under fair sharing for at least %" PRId64 " (limit: 25 %% more)%s",
		             bsv_cut(app_name(w->app), NAME_MOST), app_name(w->app), w->is, w->app->of.due, w->ideal,
		             rest);
	else if (w->slower <= 0)
		rule_explain(
			j, "no app with %d executions or more would have been quicker on average under fair sharing%s",
			EXECUTIONS_MIN, rest);
	else
		rule_explain(j,
		             "nearest to the limit, %.*s's executions took %s %s from ready to done; under fair "
		             "sharing they "
		             "would have taken %s "
		             "(limit: 25 %%%s)%s",
		             bsv_cut(app_name(w->app), NAME_MOST), app_name(w->app), bsv_duration(is, w->is), w->figure,
		             bsv_duration_beside(ideal, w->ideal, w->is), steps, rest);
}

/* An app was far from its ideal, and others cannot have been why; or, if it may have @slept, need not. */
static void explain_own(struct bsv_judgement *j, const struct bsv_sharing_app *a, bool slept)
{
	char waited[BSV_DURATION_TEXT], work[BSV_DURATION_TEXT];
	int most = bsv_cut(app_name(a), NAME_MOST);

	if (slept)
		rule_explain(
			j,
			"%.*s got %.2g %% of what fair sharing would have given it, in %s in which it had work; its "
			"executions were on no cpu and had not asked for one for up to %s, which may be why: they "
			"may have waited for pages of their own app (policy native records no stalls)",
			most, app_name(a), 100 * bsv_sharing_got(&a->of), bsv_duration(work, a->of.work_ns),
			bsv_duration_beside(waited, a->asleep_ns, a->of.work_ns));
	else
		rule_explain(
			j,
			"%.*s had less than the replay of fair sharing gives it, but not because of other apps: it "
			"waited for them for %s in all; no other app was slower",
			most, app_name(a), bsv_duration(waited, a->waited_ns));
}

static void explain_doubt(struct bsv_judgement *j, const struct doubt *d)
{
	char is[BSV_DURATION_TEXT], ideal[BSV_DURATION_TEXT], without[BSV_DURATION_TEXT];

	bsv_duration(is, d->is);
	bsv_duration_beside(ideal, d->ideal, d->is);
	bsv_duration_beside(without, d->without, d->is);
	if (d->figure)
		rule_explain(
			j,
			"%.*s's executions took %s %s from ready to done; under fair sharing they would have taken "
			"%s, or %s if what was refused for its deadline had been refused there, too: how long "
			"that would have taken is not known",
			bsv_cut(app_name(d->app), NAME_MOST), app_name(d->app), is, d->figure, ideal, without);
	else
		rule_explain(
			j,
			"%.*s had work for %s; under fair sharing it would have had work for %s, or %s if what was "
			"refused for its deadline had been refused there, too: how long that would have taken is "
			"not known",
			bsv_cut(app_name(d->app), NAME_MOST), app_name(d->app), is, ideal, without);
}

enum { UNKNOWN_TEXT = BSV_UNSEEN_TEXT + 64 };

/* The reason why no verdict is possible, whatever the figures, which may be in @to; NULL: a verdict is possible. */
static const char *reason_unknown(char to[UNKNOWN_TEXT], const struct bsv_sharing_facts *f)
{
	char unseen[BSV_UNSEEN_TEXT];

	if (f->sight.nothing)
		return "no execution fits";
	if (!f->sight.service)
		return "the service was not recorded";
	if (f->hidden) {
		snprintf(to, UNKNOWN_TEXT, "%s: what executions waited for is not wholly known",
		         bsv_unseen_text(unseen, &f->sight));
		return to;
	}
	if (f->played < f->services)
		return "a service cannot be replayed: its rules, as what it does at a deadline, were not recorded, or "
		       "changed, or too many executions were ready at a time, or there are too many apps";
	return NULL;
}

static bool is_same_service(const struct bsa_shared *a, const struct bsa_shared *b)
{
	return a->trace == b->trace && a->instance == b->instance;
}

/* Had the app work in the asked time? */
static bool has_work(const struct bsv_sharing_app *a)
{
	return a->of.n || a->of.work_ns || a->of.due;
}

void bsv_rule_sharing(struct bsv_judgement *ret, const struct bsv_sharing_facts *f)
{
	struct finding worst = { .app = NULL };
	struct doubt doubt = { .app = NULL };
	struct bsv_verdict *v = &ret->rules[0];
	char unknown[UNKNOWN_TEXT];
	const char *cannot = reason_unknown(unknown, f);
	const struct bsv_sharing_app *given_up = NULL;
	size_t left_out = 0, sharing = 0;
	bool any = false;

	ret->n = 1;
	ret->who[0] = ret->by[0] = 0;
	*v = (struct bsv_verdict){ .name = "slower_percent",
		                   .class = "percent",
		                   .figure = (double)NAN,
		                   .bound = SLOWER_PERCENT,
		                   .outcome = BSV_CANNOT_TELL };
	for (size_t i = 0; !cannot && i < f->n; i++) {
		const struct bsv_sharing_app *a = &f->apps[i];
		bool has_others = (i && is_same_service(&a->of, &a[-1].of)) ||
		                  (i + 1 < f->n && is_same_service(&a->of, &a[1].of));
		bool open = a->native || (is_judged_by_deadlines(a) && is_much_more(a->of.ideal_met_most, a->of.met));

		any |= has_work(a);
		if (!has_others || !has_work(a))
			continue;
		sharing++;
		judge_app(&worst, a);
		judge_without_refused(&doubt, a);
		left_out += !is_judged_by_responses(a) && !is_judged_by_work(a) && !is_judged_by_deadlines(a);

		/*
		 * Most executions of the app were refused or given up. How long they needed a lane
		 * is not known, and with some of the lane times that they may have needed fair
		 * sharing would have let many more meet their deadlines, with others not.
		 */
		if (open && a->given_up > a->of.n && (!given_up || a->given_up > given_up->given_up))
			given_up = a;
	}
	if (worst.app && isfinite(worst.slower))
		v->figure = round(10 * worst.slower) / 10;
	if (worst.failed && !worst.figure) /* time that the app got */
		v->bound = 100 / LESS_THAN - 100;
	if (cannot) {
		rule_explain(ret, "%s", cannot);
	} else if (!any) {
		rule_explain(ret, "no app had work that was ready");
	} else if (!sharing) {
		v->outcome = BSV_PASS;
		v->idle = true;
		rule_explain(ret, "one app: no other app to share with");
	} else if (worst.failed) {
		v->outcome = BSV_FAIL;
		explain_unfair(ret, &worst);
	} else if (worst.unknown) {
		rule_explain(ret, "how long a model that had a lane runs between two checkpoints was not recorded or "
		                  "not measured");
	} else if (worst.asleep) {
		explain_own(ret, worst.asleep, true);
	} else if (doubt.app) {
		explain_doubt(ret, &doubt);
	} else if (given_up) {
		rule_explain(
			ret,
			"%" PRId64 " of %.*s's executions were refused or given up for their deadlines, and %" PRId64
			" were answered: how many would have left the lane in time under fair sharing is not known "
			"(%" PRId64 " to %" PRId64 " of %" PRId64 "; as recorded, %" PRId64 ")",
			given_up->given_up, bsv_cut(app_name(given_up), NAME_MOST), app_name(given_up), given_up->of.n,
			given_up->of.ideal_met_least, given_up->of.ideal_met_most, given_up->of.due, given_up->of.met);
	} else if (left_out == sharing) {
		rule_explain(ret, "no app had %d executions, or work for 200 ms: too little to tell", EXECUTIONS_MIN);
	} else {
		v->outcome = BSV_PASS;
		if (worst.own)
			explain_own(ret, worst.own, false);
		else
			explain_fair(ret, &worst, left_out);
	}
}

/* ---- facts ---- */

static int keep_app(void *ctx, const struct bsa_shared *of)
{
	struct bsv_sharing_facts *f = ctx;

	if (!bsv_array_grow(&f->apps, f->n, sizeof(*f->apps)))
		return BSA_E_ENV;
	f->apps[f->n++] = (struct bsv_sharing_app){ .of = *of, .step_ns = -1 };
	return 0;
}

static int read_stored(struct bsv_sharing_facts *f, const struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_rows_query(&rows, input->db, bsv_sql_sharing_stored, err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0) {
		const struct bsa_shared of = { .trace = bsv_rows_get(rows, 0, 0),
			                       .instance = bsv_rows_get(rows, 1, 0),
			                       .app = bsv_rows_get(rows, 2, 0),
			                       .n = bsv_rows_get(rows, 3, 0),
			                       .mean_ns = bsv_rows_get(rows, 4, 0),
			                       .ideal_mean_ns = bsv_rows_get(rows, 5, 0),
			                       .p95_ns = bsv_rows_get(rows, 6, 0),
			                       .p95_least_ns = bsv_rows_get(rows, 7, 0),
			                       .ideal_p95_ns = bsv_rows_get(rows, 8, 0),
			                       .work_ns = bsv_rows_get(rows, 9, 0),
			                       .ideal_work_ns = bsv_rows_get(rows, 10, 0),
			                       .received_ns = bsv_rows_get(rows, 11, 0),
			                       .due = bsv_rows_get(rows, 12, 0),
			                       .met = bsv_rows_get(rows, 13, 0),
			                       .ideal_met_least = bsv_rows_get(rows, 14, 0),
			                       .ideal_met_most = bsv_rows_get(rows, 15, 0),
			                       .ideal_mean_without_ns = bsv_rows_get(rows, 16, 0),
			                       .ideal_p95_without_ns = bsv_rows_get(rows, 17, 0),
			                       .ideal_work_without_ns = bsv_rows_get(rows, 18, 0) };

		if (keep_app(f, &of))
			r = bsv_no_memory(err);
	}
	return r;
}

/*
 * Find the app @id of the service whose apps begin at *from, and advance *from to the apps of the
 * next service. NULL: the service has no app @id.
 */
static struct bsv_sharing_app *app_of_service(struct bsv_sharing_facts *f, size_t *from, int64_t id)
{
	size_t least = *from, most = f->n, first = *from, mid;

	while (least < most) { /* search for the first app of the next service */
		mid = least + (most - least) / 2;
		if (is_same_service(&f->apps[mid].of, &f->apps[first].of))
			least = mid + 1;
		else
			most = mid;
	}
	*from = most = least;
	least = first;
	while (least < most) {
		mid = least + (most - least) / 2;
		if (f->apps[mid].of.app < id)
			least = mid + 1;
		else
			most = mid;
	}
	return least < *from && f->apps[least].of.app == id ? &f->apps[least] : NULL;
}

const char *bsv_sharing_pairs(const struct bsv_input *input, bool apart)
{
	if (!input->picks)
		return bsv_sql_waits_by_holder;
	return apart ? bsv_sql_waits_by_holder_picked : bsv_sql_waits_by_holder_kept;
}

static int read_names(struct bsv_sharing_facts *f, const struct bsv_input *input, struct bsa_err *err)
{
	const struct bsv_placeholder pairs[] = { { "pairs", bsv_sql_waits_by_holder_picked }, { NULL, NULL } };
	const struct bsv_placeholder placeholders[] = { { "takers", bsv_sharing_pairs(input, false) }, { NULL, NULL } };
	bsv_scoped_text *made = input->picks ? bsv_input_fill(input, bsv_sql_waits_by_holder_made, pairs) : NULL;
	bsv_scoped_text *sql = bsv_input_fill(input, bsv_sql_sharing_names, placeholders);
	bsv_scoped_rows *rows = NULL;
	int r = sql && (made || !input->picks) ? 0 : bsv_no_memory(err);

	if (r >= 0 && made)
		r = bsa_db_make_temporary(input->db, made, err);
	if (r < 0 || !f->n) /* a recording may have 100 000 apps, and none in the asked time */
		return r;
	r = bsv_rows_query(&rows, input->db, sql, err);
	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
		for (size_t from = 0; r >= 0 && from < f->n;) {
			struct bsv_sharing_app *a = app_of_service(f, &from, bsv_rows_get(rows, 0, -1));
			const char *name = bsv_rows_cell(rows, 1).text, *by = bsv_rows_cell(rows, 2).text;

			if (!a || a->name)
				continue;
			a->waited_ns = bsv_rows_get(rows, 3, 0);
			a->refused = bsv_rows_get(rows, 4, 0);
			a->name = strdup(name ? name : "?");
			a->taker = by ? strdup(by) : NULL;
			if (!a->name || (by && !a->taker))
				r = bsv_no_memory(err);
		}
	return r;
}

/* The longest step of the models of each service. *ret_native: the policy of a service with apps of @ret is native. */
static int read_steps(struct bsv_sharing_facts *ret, bool *ret_native, const struct bsv_input *input,
                      struct bsa_err *err)
{
	bsv_scoped_rows *steps = NULL;
	bool native = false;
	int r = bsv_rows_query(&steps, input->db, bsv_sql_sharing_steps, err);

	while (r >= 0 && (r = bsv_rows_step(steps, err)) > 0) {
		int64_t trace = bsv_rows_get(steps, 0, 0), instance = bsv_rows_get(steps, 1, 0);
		bool played = false;

		for (size_t i = 0; i < ret->n; i++)
			if (ret->apps[i].of.trace == trace && ret->apps[i].of.instance == instance) {
				ret->apps[i].step_ns = bsv_rows_get(steps, 3, 0) ? -1 : bsv_rows_get(steps, 2, -1);
				ret->apps[i].native = bsv_rows_get(steps, 4, 0);
				native |= ret->apps[i].native;
				ret->apps[i].unseen = bsv_rows_get(steps, 5, 0);
				ret->apps[i].restarts = bsv_rows_get(steps, 6, 0);
				played = true;
			}
		ret->services++;
		ret->played += played;
	}
	if (r >= 0)
		*ret_native = native;
	return r;
}

int bsv_sharing_read(struct bsv_sharing_facts *ret, const struct bsv_input *input, struct bsa_err *err)
{
	static const struct bsv_placeholder hidden[] = { { "hidden", "hidden_waits" }, { NULL, NULL } };
	struct bsv_kept *kept = input->kept;
	bsv_scoped_rows *asleep = NULL, *given_up = NULL, *sight = NULL;
	bool timed = bsv_input_is_timed(input), native = false;
	int r;

	if (kept && kept->has_sharing) {
		*ret = kept->sharing;
		return 0;
	}
	*ret = (struct bsv_sharing_facts){ .n = 0 };
	if (timed)
		r = bsa_db_sharing(input->db, input->from, input->to, keep_app, ret, err);
	else
		r = read_stored(ret, input, err);
	if (r >= 0)
		r = read_steps(ret, &native, input, err);
	if (r >= 0)
		r = read_names(ret, input, err);

	/* For how long executions slept, where no stalls are recorded. */
	if (r >= 0 && native)
		r = bsv_input_rows(&asleep, input, bsv_sql_sharing_asleep, NULL, err);
	while (r >= 0 && native && (r = bsv_rows_step(asleep, err)) > 0)
		for (size_t from = 0; from < ret->n;) {
			const struct bsa_shared service = ret->apps[from].of;
			struct bsv_sharing_app *a = app_of_service(ret, &from, bsv_rows_get(asleep, 2, -1));

			if (a && service.trace == bsv_rows_get(asleep, 0, 0) &&
			    service.instance == bsv_rows_get(asleep, 1, 0))
				a->asleep_ns = bsv_rows_get(asleep, 3, 0);
		}

	/* How many executions of each app were given up. */
	if (r >= 0)
		r = bsv_input_rows(&given_up, input, timed ? bsv_sql_sharing_given_up : bsv_sql_sharing_given_up_stored,
		                   NULL, err);
	while (r >= 0 && (r = bsv_rows_step(given_up, err)) > 0)
		for (size_t from = 0; from < ret->n;) {
			struct bsv_sharing_app *a = app_of_service(ret, &from, bsv_rows_get(given_up, 0, -1));

			if (a)
				a->given_up = bsv_rows_get(given_up, 1, 0);
		}

	/* How much of the time was observed. */
	if (r >= 0)
		r = bsv_hidden_make(input, err);
	if (r >= 0)
		r = bsv_input_row(&sight, input, bsv_sql_sharing_sight, hidden, err);
	if (r <= 0)
		return r;
	ret->sight = (struct bsv_sight){ .service = bsv_rows_get(sight, 0, 0),
		                         .nothing = !bsv_rows_get(sight, 1, 0),
		                         .losses = bsv_rows_get(sight, 3, 0),
		                         .partly = bsv_rows_get(sight, 4, 0) };
	ret->hidden = bsv_rows_get(sight, 2, 0);
	r = bsv_pauses_read(&ret->pauses, input, err);
	if (r >= 0 && kept) {
		ret->is_kept = true;
		kept->sharing = *ret;
		kept->has_sharing = true;
	}
	return r;
}

void bsv_sharing_fini(struct bsv_sharing_facts *f)
{
	for (size_t i = 0; !f->is_kept && i < f->n; i++) {
		free(f->apps[i].name);
		free(f->apps[i].taker);
	}
	if (!f->is_kept)
		free(f->apps);
	*f = (struct bsv_sharing_facts){ .n = 0 };
}

/* The least that @a had to bear of its service, if the most that stops may have added is left out. */
static void leave_out_pauses(struct bsv_sharing_app *a, const struct bsv_pauses *p)
{
	enum { FEW = 100 }; /* one execution of so many does not move p95 */
	struct bsa_shared *of = &a->of;

	of->work_ns -= p->paused_ns < of->work_ns ? p->paused_ns : of->work_ns;
	of->met = of->due - of->met > p->n_awaited ? of->met + p->n_awaited : of->due;
	if (!of->n)
		return;
	of->mean_ns -= p->awaited_ns / of->n < of->mean_ns ? p->awaited_ns / of->n : of->mean_ns;
	if (p->n_awaited > of->n / FEW && of->p95_least_ns > of->ideal_p95_ns)
		of->p95_least_ns = of->ideal_p95_ns;
}

void bsv_rule_sharing_paused(struct bsv_judgement *ret, const struct bsv_sharing_facts *facts)
{
	struct bsv_sharing_facts least = *facts;
	struct bsv_judgement without = { 0 };
	char paused[BSV_DURATION_TEXT], why[BSV_WHY_MAX];

	bsv_rule_sharing(ret, facts);
	if (ret->rules[0].outcome != BSV_FAIL || !facts->pauses.paused_ns)
		return;
	least.apps = calloc(facts->n ? facts->n : 1, sizeof(*least.apps)); /* NULL: what a stop did is not known */
	for (size_t i = 0; least.apps && i < facts->n; i++) {
		least.apps[i] = facts->apps[i];
		leave_out_pauses(&least.apps[i], &facts->pauses);
	}
	if (least.apps)
		bsv_rule_sharing(&without, &least);
	if (!least.apps || without.rules[0].outcome != BSV_FAIL) {
		snprintf(why, sizeof(why), "%s", ret->why[0]);
		ret->rules[0].outcome = BSV_CANNOT_TELL;
		ret->who[0] = ret->by[0] = 0;
		rule_explain(ret, "the service was stopped, or hung, or had no cpu, for %s, which may be why: %s",
		             bsv_duration(paused, facts->pauses.paused_ns), why);
	}
	free(least.apps);
}

void bsv_judge_sharing(struct bsv_judgement *ret, const struct bsv_sharing_facts *facts, const struct bsv_input *input)
{
	bsv_rule_sharing_paused(ret, facts);
	bsv_rules_check(ret, BSV_FAIRNESS, &input->coverage);
}

/*
 * diagnose_fold.c -- finds what a fold saw while it was recorded again, in the database of a case.
 *
 * The database decides: a rule that holds in the same window, once all of it is known, was none.
 * What the database does not hold in full was seen by the fold, and the sentence states that.
 */
#include "watch/diagnosing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"
#include "slo/measure.h"

/* ---- waits ---- */

static void add_starved(struct bsv_diagnosing *d, const struct bsv_rows *row)
{
	const char *app = bsv_diagnosing_text(row, "app"), *model = bsv_diagnosing_text(row, "model");
	const char *by = bsv_diagnosing_text(row, "culprit");
	uint64_t n = (uint64_t)bsv_diagnosing_number(row, "n_waits", 1);
	char a[BSV_COUNT_MAX], worst[BSV_DURATION_TEXT], limit[BSV_DURATION_TEXT];
	bsv_scoped_text *victim = bsv_diagnosing_whose(app, model), *holder = NULL, *held = NULL;

	holder = by ? bsv_diagnosing_whose(by, bsv_diagnosing_text(row, "culprit_model")) : NULL;
	held = holder ? bsv_text(", while %s had the lane %" PRId64 " %% of the time", holder,
	                         bsv_diagnosing_number(row, "culprit_percent", 0))
	              : strdup("");
	bsv_diagnosing_add_row(
		d, row,
		(struct bsv_case_cause){
			.finding = strdup("starvation"),
			.culprit = by ? strdup(by) : NULL,
			.what = victim && held
	                                ? bsv_text("%s waited for a lane for up to %s (%s %s longer than %s)%s", victim,
	                                           bsv_duration(worst, bsv_diagnosing_number(row, "worst_ns", 0)),
	                                           bsv_count(a, n), bsv_plural(n, "wait", "waits"),
	                                           bsv_duration(limit, d->condition->longer_than), held)
	                                : NULL,
			.n = n });
}

int bsv_diagnose_starvation(struct bsv_diagnosing *d, char *only, struct bsa_err *err)
{
	const struct bsv_quantity threshold = { true, d->condition->longer_than };
	bsv_scoped_text *episodes = bsv_starvation_episodes(&d->input, &threshold);
	int r;

	d->episodes = episodes;
	r = bsv_diagnosing_add_all(d, bsv_sql_case_starved, only, add_starved, err);
	d->episodes = NULL;
	return r;
}

static void add_inverted(struct bsv_diagnosing *d, const struct bsv_rows *row)
{
	const char *app = bsv_diagnosing_text(row, "app"), *model = bsv_diagnosing_text(row, "model");
	const char *holder = bsv_diagnosing_text(row, "holder");
	const char *urgent = bsv_diagnosing_text(row, "priority"), *less = bsv_diagnosing_text(row, "holder_priority");
	uint64_t n = (uint64_t)bsv_diagnosing_number(row, "n_waits", 1);
	char a[BSV_COUNT_MAX], worst[BSV_DURATION_TEXT], limit[BSV_DURATION_TEXT];
	bsv_scoped_text *victim = bsv_diagnosing_whose(app, model);

	bsv_diagnosing_add_row(
		d, row,
		(struct bsv_case_cause){
			.finding = strdup("inversion"),
			.culprit = app ? strdup(app) : NULL,
			.what = victim ? bsv_text("%s (%s) waited for up to %s while less urgent work of the same app "
	                                          "had the lane: %s (%s); %s %s longer than %s",
	                                          victim, urgent ? urgent : "priority unknown",
	                                          bsv_duration(worst, bsv_diagnosing_number(row, "worst_ns", 0)),
	                                          holder ? holder : "a model that is not known",
	                                          less ? less : "priority unknown", bsv_count(a, n),
	                                          bsv_plural(n, "wait", "waits"),
	                                          bsv_duration(limit, d->condition->longer_than))
	                               : NULL,
			.n = n });
}

int bsv_diagnose_inversion(struct bsv_diagnosing *d, char *only, struct bsa_err *err)
{
	bsv_scoped_text *mine = only, *ns = bsv_text("%" PRId64, d->condition->longer_than);
	const struct bsv_placeholder placeholders[] = { { "all", mine }, { "ns", ns }, { NULL, NULL } };
	char *longer = mine && ns ? bsv_fill(bsv_sql_and_longer, placeholders) : NULL;

	return bsv_diagnosing_add_all(d, bsv_sql_case_inverted, longer, add_inverted, err);
}

/* ---- silences ---- */

/*
 * The fold has seen the silence; the case shows who waited all that time, as far as its recording has the begin of it.
 * The case is about the service, and the same for every client that waited.
 */
int bsv_diagnose_silence(struct bsv_diagnosing *d, char *only, struct bsa_err *err)
{
	int64_t offset = d->at - d->c->at, since = d->fired->from + offset, until = d->fired->to + offset;
	bsv_scoped_text *mine = only;
	bsv_scoped_text *ns = bsv_text("%" PRId64, until);
	const struct bsv_placeholder placeholders[] = { { "all", mine }, { "ns", ns }, { NULL, NULL } };
	char *waited = mine && ns ? bsv_fill(bsv_sql_and_waiting, placeholders) : NULL;
	bsv_scoped_rows *rows = NULL;
	bsv_scoped_text *victim = NULL, *who = NULL;
	char silent[BSV_DURATION_TEXT], n[BSV_COUNT_MAX];
	int r = waited ? bsv_diagnosing_ask(&rows, d, bsv_sql_case_silent, waited, err) : bsv_no_memory(err);

	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r > 0) {
		uint64_t waiting = (uint64_t)bsv_diagnosing_number(rows, "n_all", 0);

		victim = bsv_diagnosing_whose(bsv_diagnosing_text(rows, "app"), bsv_diagnosing_text(rows, "model"));
		who = victim ? bsv_text(": %s %s, most of them %s", bsv_count(n, waiting),
		                        bsv_plural(waiting, "answer", "answers"), victim)
		             : NULL;
	}
	if (r >= 0)
		bsv_diagnosing_add(
			d, (struct bsv_case_cause){
				   .finding = strdup("silent"),
				   .what = bsv_text("a service emitted no event for %s or longer, while clients "
		                                    "waited for it%s; it hung, had died, or its events did not arrive",
		                                    bsv_duration(silent, until - since), who ? who : ""),
				   .n = d->fired->n });
	return r < 0 ? r : 0;
}

/* ---- rules ---- */

struct window {
	struct bsv_input input; /* the executions of that time */
	struct bsv_slo slo;
	struct bsv_slo_result result;
	int64_t length;
	bool whole; /* the recording began before it */
};

static void window_close(struct window *w)
{
	bsv_input_close(&w->input);
	bsv_slo_fini(&w->slo);
}

/* BSA_E_USAGE: the recording has no event of that time. */
static int window_open(struct window *w, const struct bsv_diagnosing *d, struct bsa_err *err)
{
	struct bsv_call call = { .command = &bsv_check, .common.quiet = true };
	int64_t offset = d->at - d->c->at, from = d->fired->from + offset - d->input.began;
	int64_t to = d->fired->to + offset - d->input.began;
	int r = bsv_condition_rule(&w->slo, d->condition, err);

	w->length = d->fired->to - d->fired->from;
	w->whole = from >= 0;
	if (r >= 0 && to <= 0)
		r = bsa_fail(err, BSA_E_USAGE, "the recording begins after that");
	call.asked.from = (struct bsv_quantity){ true, from > 0 ? from : 0 };
	call.asked.to = (struct bsv_quantity){ true, to };
	return r < 0 ? r : bsv_input_open(&w->input, d->database, &call, err);
}

/* The finding about a failed rule. Texts are owned. */
struct verdict {
	char *finding, *culprit, *why;
};

static void verdict_fini(struct verdict *v)
{
	free(v->finding);
	free(v->culprit);
	free(v->why);
}

/* SQL: the executions that the rule means, as far as names decide it. Owned by the caller; NULL: no memory. */
static char *only_named(const struct window *w)
{
	const struct bsv_slo_selection *of = &w->slo.rules[0].of;

	return bsv_and_equal(bsv_and_equal(strdup("1"), "app", of->app), "model", of->model);
}

/* Where the time went, and who had the lane most of the time that they waited for it. */
static int find_slow(struct verdict *ret, struct window *w, struct bsa_err *err)
{
	bsv_scoped_text *only = only_named(w), *holder = NULL;
	const struct bsv_placeholder placeholders[] = { { "only", only }, { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	const char *by, *phase;
	int64_t percent;
	int r = only ? bsv_input_row(&rows, &w->input, bsv_sql_case_slow, placeholders, err) : bsv_no_memory(err);

	if (r <= 0 || !bsv_diagnosing_text(rows, "phase"))
		return r;
	by = bsv_diagnosing_text(rows, "culprit");
	holder = by ? bsv_diagnosing_whose(by, bsv_diagnosing_text(rows, "culprit_model")) : NULL;
	ret->finding = strdup(bsv_diagnosing_text(rows, "phase"));
	ret->culprit = by && !strcmp(ret->finding ? ret->finding : "", "queue") ? strdup(by) : NULL;
	phase = bsv_diagnosing_text(rows, "phase");
	percent = bsv_diagnosing_number(rows, "percent", 0);
	if (holder && !strcmp(phase, "queue"))
		ret->why = bsv_text("%" PRId64 " %% of their time is %s, mostly while %s had the lane", percent, phase,
		                    holder);
	else
		ret->why = bsv_text("%" PRId64 " %% of their time is %s", percent, phase);
	return r;
}

/* Why most of its deadlines were missed, in the words of a condition of misses. */
static int find_missed(struct verdict *ret, const struct bsv_diagnosing *d, const struct window *w, struct bsa_err *err)
{
	struct bsv_case none = { .before = 0 };
	struct bsv_case_fired all = { .n = 0 };
	struct bsv_diagnosing its = *d;
	int r;

	its.c = &none;
	its.fired = &all;
	its.slack = 0;
	its.at = d->fired->from + d->at - d->c->at;
	none.after = w->length;
	r = bsv_diagnose_misses(&its, only_named(w), err);
	if (r >= 0 && none.n_causes) {
		ret->finding = none.causes[0].finding ? strdup(none.causes[0].finding) : NULL;
		ret->culprit = none.causes[0].culprit ? strdup(none.causes[0].culprit) : NULL;
		ret->why = none.causes[0].what ? strdup(none.causes[0].what) : NULL;
	}
	bsv_case_fini(&none);
	return r;
}

static void add_failed_rule(struct bsv_diagnosing *d, const struct window *w, const struct verdict *v)
{
	const struct bsv_slo_selection *of = &w->slo.rules[0].of;
	char length[BSV_DURATION_TEXT], figure[BSV_DURATION_TEXT] = "", *what;
	const struct bsv_slo_result *r = &w->result;
	const char *more = v->why ? v->why : "", *before_more = v->why ? "; " : "";

	bsv_duration(length, w->length);
	if (r->figure == r->figure && r->class && !strcmp(r->class, "duration"))
		bsv_duration(figure, bsv_whole(r->figure));
	else if (r->figure == r->figure)
		snprintf(figure, sizeof(figure), "%.4g%s", r->figure,
		         r->class && !strcmp(r->class, "percent") ? " %" : "");
	if (r->outcome != BSV_FAIL || !w->whole)
		what = bsv_text("%s failed over %s, as was seen while it was recorded; the case %s: %s%s%s",
		                d->condition->text, length,
		                w->whole ? "alone cannot tell" : "does not hold all of that time", r->why, before_more,
		                more);
	else
		what = bsv_text("%s fails over %s: %s%s%s%s%s", d->condition->text, length, figure, *figure ? "; " : "",
		                r->why, before_more, more);
	bsv_diagnosing_add(d, (struct bsv_case_cause){ .finding = strdup(v->finding ? v->finding : "rule"),
	                                               .app = of->app ? strdup(of->app) : NULL,
	                                               .model = of->model ? strdup(of->model) : NULL,
	                                               .culprit = v->culprit ? strdup(v->culprit) : NULL,
	                                               .what = what,
	                                               .n = w->result.n > 0 ? (uint64_t)w->result.n : 0 });
}

int bsv_diagnose_rule(struct bsv_diagnosing *d, struct bsa_err *err)
{
	__attribute__((cleanup(window_close))) struct window w = { .whole = false };
	__attribute__((cleanup(verdict_fini))) struct verdict v = { NULL, NULL, NULL };
	int r = window_open(&w, d, err);

	if (r == BSA_E_USAGE) {
		snprintf(w.result.why, sizeof(w.result.why), "none of it is there");
		w.result.outcome = BSV_CANNOT_TELL;
		add_failed_rule(d, &w, &v);
		return 0;
	}
	if (r >= 0)
		r = bsv_slo_measure(&w.result, w.slo.rules, 1, &w.input, NULL, err);
	if (r < 0 || (w.whole && w.result.outcome == BSV_PASS))
		return r;
	/*
	 * Even if the case cannot decide the rule, because events were lost after that time: the
	 * fold has seen it fail, and the known executions show where the time went.
	 */
	if (w.whole && w.slo.rules[0].kind == BSV_SLO_MISSES)
		r = find_missed(&v, d, &w, err);
	else if (w.whole && w.slo.rules[0].kind != BSV_SLO_EXECUTIONS)
		r = find_slow(&v, &w, err);
	if (r >= 0)
		add_failed_rule(d, &w, &v);
	return r;
}

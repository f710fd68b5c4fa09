/* verdicts.c -- see verdicts.h: what facts come to. */
#include "audit/verdicts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define SLACK_NS 1e6 /* of everything that has to be asked and to wake up */
#define QUANTUM_NS 5e5
#define HONOURED_PERCENT 99.0

enum { CHOICES_MIN = 100, APPS_MAX = 1000 /* of which the sum below is still taken */ };

static __attribute__((format(printf, 3, 4))) void why(struct bsv_judgement *j, size_t rule, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(j->why[rule], sizeof(j->why[rule]), format, ap);
	va_end(ap);
	j->rules[rule].why = j->why[rule];
}

static struct bsv_verdict *add(struct bsv_judgement *j, const char *name, const char *class, double figure,
                               double bound)
{
	struct bsv_verdict *v = &j->rules[j->n++];

	*v = (struct bsv_verdict){ .name = name, .class = class, .figure = figure, .bound = bound };
	return v;
}

/* What was seen is within bounds. What was not seen may not be. */
static enum bsv_outcome unless_lost(struct bsv_judgement *j, size_t rule, bool losses)
{
	if (!losses)
		return BSV_PASS;
	why(j, rule, "nothing wrong was seen, but events were lost");
	return BSV_CANNOT_TELL;
}

enum bsv_outcome bsv_judged(const struct bsv_judgement *j)
{
	enum bsv_outcome worst = BSV_PASS;

	for (size_t i = 0; i < j->n; i++)
		if (j->rules[i].outcome == BSV_FAIL || worst == BSV_PASS)
			worst = j->rules[i].outcome;
	return worst;
}

const char *bsv_outcome_name(enum bsv_outcome outcome)
{
	static const char *const names[] = { "pass", "fail", "cannot tell" };

	return names[outcome];
}

/* ---- fairness ---- */

/*
 * n apps on L lanes: (S + Q) (1 + 1/2 + ... + 1/(n-1)) L, S being the longest that a lane could not be had, is what a fair policy can be held to;
 * and 2 S + 1 ms where that is less.
 */
static double lag_bound(const struct bsv_fairness_facts *f)
{
	double parts = 0;

	for (int64_t i = 1; i < f->apps && i < APPS_MAX; i++)
		parts += 1.0 / (double)i;
	parts *= (double)f->lanes;
	return (parts > 2 ? parts : 2) * ((double)f->stretch_ns + QUANTUM_NS);
}

static void why_unfair(struct bsv_judgement *j, const struct bsv_fairness_facts *f, double bound, bool given)
{
	char figure[BSV_DURATION_TEXT], most[BSV_DURATION_TEXT], stretch[BSV_DURATION_TEXT];
	const char *app = f->app ? f->app : "an app";

	bsv_duration(figure, f->max_lag_ns);
	bsv_duration(most, bsv_whole(bound));
	if (given)
		why(j, 0, "%s was %s behind its share, and may be %s", app, figure, most);
	else
		why(j, 0,
		    "%s was %s behind its share; %s is what can be asked for, as a lane could not be had for %s at "
		    "most",
		    app, figure, most, bsv_duration(stretch, f->stretch_ns));
}

void bsv_rule_fairness(struct bsv_judgement *ret, const struct bsv_fairness_facts *f, const struct bsv_bounds *bounds)
{
	bool given = bounds && bounds->lag.given;
	double bound = given ? (double)bounds->lag.value : lag_bound(f);
	char figure[BSV_DURATION_TEXT], most[BSV_DURATION_TEXT];
	struct bsv_verdict *v;

	ret->n = 0;
	v = add(ret, "max_lag_ns", "duration", (double)f->max_lag_ns, bound);
	if (!f->apps) {
		v->outcome = BSV_CANNOT_TELL;
		why(ret, 0, "no app had anything to run");
	} else if (f->apps == 1) {
		v->outcome = unless_lost(ret, 0, f->losses);
		if (v->outcome == BSV_PASS)
			why(ret, 0, "one app at a time: there was nobody to share with");
	} else if (v->figure > bound) {
		v->outcome = BSV_FAIL;
		why_unfair(ret, f, bound, given);
	} else {
		v->outcome = unless_lost(ret, 0, f->losses);
		if (v->outcome == BSV_PASS)
			why(ret, 0, "no app was more than %s behind its share, and %s may be",
			    bsv_duration(figure, f->max_lag_ns), bsv_duration(most, bsv_whole(bound)));
	}
}

/* ---- starvation ---- */

void bsv_rule_starvation(struct bsv_judgement *ret, const struct bsv_starvation_facts *f,
                         const struct bsv_bounds *bounds)
{
	char threshold[BSV_DURATION_TEXT];
	struct bsv_verdict *v;

	ret->n = 0;
	v = add(ret, "starvation_episodes", "count", (double)f->episodes, 0);
	if (f->episodes > 0) {
		v->outcome = BSV_FAIL;
		why(ret, 0, "work that was ready waited for a lane for too long, %s at most",
		    bsv_duration(threshold, f->max_gap_ns));
	} else if (!f->executions) {
		v->outcome = BSV_CANNOT_TELL;
		why(ret, 0, "nothing was ready to run");
	} else {
		v->outcome = unless_lost(ret, 0, f->losses);
		if (v->outcome != BSV_PASS)
			return;
		if (bounds && bounds->threshold.given)
			why(ret, 0, "nothing that was ready waited longer than %s",
			    bsv_duration(threshold, bounds->threshold.value));
		else
			why(ret, 0, "nothing that was ready waited longer than 100 ms and ten times its usual run");
	}
}

/* ---- priority ---- */

static void rule_inversion(struct bsv_judgement *j, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds)
{
	bool given = bounds && bounds->inversion.given;
	double bound = given ? (double)bounds->inversion.value : (double)f->stretch_ns + SLACK_NS;
	struct bsv_verdict *v = add(j, "inversion_ns", "duration", (double)f->dur_ns, bound);
	char figure[BSV_DURATION_TEXT], most[BSV_DURATION_TEXT];
	size_t rule = j->n - 1;

	bsv_duration(figure, f->dur_ns);
	bsv_duration(most, bsv_whole(bound));
	if (!f->inversions) {
		v->bound = given ? bound : (double)NAN; /* as many as there are models */
		v->outcome = unless_lost(j, rule, f->losses);
		if (v->outcome == BSV_PASS)
			why(j, rule,
			    "no urgent work waited for less urgent work of its own app longer than that takes to be "
			    "stopped");
	} else if (v->figure > bound) {
		v->outcome = BSV_FAIL;
		why(j, rule,
		    "urgent work waited %s while its own app's less urgent work had a lane; %s is what that takes to "
		    "be stopped",
		    figure, most);
	} else {
		v->outcome = unless_lost(j, rule, f->losses);
		if (v->outcome == BSV_PASS)
			why(j, rule,
			    "urgent work never waited longer for less urgent work than that takes to be stopped");
	}
}

/* Would it be too few even if all others, up to as many as are needed to tell, had been? */
static bool fails_anyway(const struct bsv_priority_facts *f, double bound)
{
	int64_t n = f->choices < CHOICES_MIN ? CHOICES_MIN : f->choices;

	return (double)(n - (f->choices - f->honoured)) * 100 < bound * (double)n;
}

static void rule_honoured(struct bsv_judgement *j, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds)
{
	double bound = bounds && bounds->honoured_given ? bounds->honoured : HONOURED_PERCENT;
	double figure = f->choices ? 100 * (double)f->honoured / (double)f->choices : 100;
	struct bsv_verdict *v = add(j, "honoured_percent", "percent", figure, bound);
	size_t rule = j->n - 1;
	long long choices = f->choices, honoured = f->honoured;

	if (fails_anyway(f, bound)) {
		v->outcome = BSV_FAIL;
		why(j, rule, "the most urgent work of an app went first in %lld of %lld choices", honoured, choices);
	} else if (!f->choices && !f->mixed) {
		v->outcome = unless_lost(j, rule, f->losses);
		if (v->outcome == BSV_PASS)
			why(j, rule, "no app had work of more than one priority");
	} else if (f->choices < CHOICES_MIN) {
		v->outcome = BSV_CANNOT_TELL;
		why(j, rule, "there were %lld choices between priorities, %lld of them honoured; %d would tell",
		    choices, honoured, CHOICES_MIN);
	} else {
		v->outcome = unless_lost(j, rule, f->losses);
		if (v->outcome == BSV_PASS)
			why(j, rule, "the most urgent work of an app went first in %lld of %lld choices", honoured,
			    choices);
	}
}

void bsv_rule_priority(struct bsv_judgement *ret, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds)
{
	ret->n = 0;
	rule_inversion(ret, f, bounds);
	rule_honoured(ret, f, bounds);
}

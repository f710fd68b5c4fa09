/*
 * verdicts.c -- judges facts about fairness, starvation and priority by rules that need no
 * database.
 */
#include "audit/verdicts.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/coverage.h"
#include "base/letters.h"
#include "base/numbers.h"

#define QUANTUM_NS 5e5
#define KEPT_NS 1e6 /* the most that an idle app keeps of what it is owed (runtime/policy/policy.h) */
#define HONOURED_PERCENT 99.0

enum { CHOICES_MIN = 100, APPS_MAX = 1000 /* more apps do not change the sum below any more */ };

static __attribute__((format(printf, 3, 4))) void rule_explain(struct bsv_judgement *j, size_t rule, const char *format,
                                                               ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(j->why[rule], sizeof(j->why[rule]), format, ap);
	va_end(ap);
	j->rules[rule].why = j->why[rule];
}

static struct bsv_verdict *rule_add(struct bsv_judgement *j, const char *name, const char *class, double figure,
                                    double bound)
{
	struct bsv_verdict *v = &j->rules[j->n++];

	assert(j->n <= BSV_RULES_MAX && name);
	*v = (struct bsv_verdict){ .name = name, .class = class, .figure = figure, .bound = bound };
	return v;
}

/* Is a verdict impossible, because nothing fits or no service was recorded? */
static bool explains_blind(struct bsv_judgement *j, size_t rule, const struct bsv_sight *sight)
{
	struct bsv_verdict *v = &j->rules[rule];

	if (sight->nothing)
		rule_explain(j, rule, "no execution fits");
	else if (!sight->service)
		rule_explain(j, rule, "the service was not recorded");
	else
		return false;
	v->outcome = BSV_CANNOT_TELL;
	return true;
}

/* A service without lanes may have broken any rule about lanes. */
static bool explains_native(struct bsv_judgement *j, size_t rule, const struct bsv_sight *sight)
{
	if (sight->native)
		rule_explain(j, rule, "policy native has no lanes");
	return sight->native;
}

/* "of up to 3.1 s", "of any length" */
static const char *length_text(char to[BSV_DURATION_TEXT + 16], int64_t ns)
{
	char text[BSV_DURATION_TEXT];

	if (ns >= BSV_UNBOUNDED)
		snprintf(to, BSV_DURATION_TEXT + 16, "of any length");
	else
		snprintf(to, BSV_DURATION_TEXT + 16, "of up to %s", bsv_duration(text, ns));
	return to;
}

const char *bsv_unseen_text(char to[BSV_UNSEEN_TEXT], const struct bsv_sight *s)
{
	char n[BSV_COUNT_MAX];

	if (s->losses || s->partly <= 0)
		snprintf(to, BSV_UNSEEN_TEXT, "not all was recorded");
	else
		snprintf(to, BSV_UNSEEN_TEXT, "%s %s not recorded from beginning to end",
		         bsv_count(n, (uint64_t)s->partly),
		         bsv_plural((uint64_t)s->partly, "execution was", "executions were"));
	return to;
}

static int64_t longer_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

enum bsv_outcome bsv_judged(const struct bsv_judgement *j)
{
	enum bsv_outcome worst = BSV_PASS;

	for (size_t i = 0; i < j->n; i++)
		if (j->rules[i].outcome == BSV_FAIL || worst == BSV_PASS)
			worst = j->rules[i].outcome;
	return worst;
}

bool bsv_judged_nothing(const struct bsv_judgement *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (!j->rules[i].idle)
			return false;
	return j->n;
}

void bsv_rules_check(struct bsv_judgement *j, enum bsv_audit audit, const struct bsv_coverage *c)
{
	char why[BSV_LACKS_TEXT] = "unknown whether all was recorded: " BSV_UNCHECKED;
	bool lacks = bsv_coverage_lacks(c, audit == BSV_PRIORITY ? BSV_OF_PRIORITY : BSV_OF_LANES, why);

	if (!lacks && !c->unchecked)
		return;
	for (size_t i = 0; i < j->n; i++) {
		j->rules[i].idle = false;
		j->rules[i].outcome = BSV_CANNOT_TELL;
		rule_explain(j, i, "%s", why);
	}
}

void bsv_judgement_show(struct bsv_answer *answer, const struct bsv_judgement *judgement)
{
	for (size_t i = 0; i < judgement->n; i++)
		bsv_answer_verdict(answer, &judgement->rules[i]);
}

const char *bsv_outcome_name(enum bsv_outcome outcome)
{
	static const char *const names[] = { "pass", "fail", "cannot tell" };

	return names[outcome];
}

void bsv_judgement_take(struct bsv_judgement *ret, const struct bsv_judgement *from, int64_t service)
{
	ret->n = 1;
	ret->rules[0] = from->rules[0];
	rule_explain(ret, 0, "service %lld: %s", (long long)service, from->why[0]);
}

/* ---- fairness ---- */

/*
 * The limit for n apps on L lanes is (S + Q) (1 + 1/2 + ... + 1/(n-1)) L + 1 ms, where S is the
 * longest time for which a lane could not be had, and
 * 1 ms is what an idle app keeps of what it is owed: a fair policy keeps to it. 2 S + 2 ms where that is more.
 */
static double lag_bound(int64_t apps, int64_t lanes, int64_t stretch_ns)
{
	double parts = 0;

	for (int64_t i = 1; i < apps && i < APPS_MAX; i++)
		parts += 1.0 / (double)i;
	parts *= (double)lanes;
	return (parts > 2 ? parts : 2) * ((double)stretch_ns + QUANTUM_NS) + KEPT_NS;
}

void bsv_rule_fairness(struct bsv_judgement *ret, const struct bsv_fairness_facts *f, const struct bsv_bounds *bounds)
{
	bool given = bounds && bounds->lag.given, known = given || (f->stretch_ns >= 0 && f->most_stretch >= 0);
	double least = given ? (double)bounds->lag.value : lag_bound(f->apps, f->lanes, f->stretch_ns);
	double most = given ? least : lag_bound(f->most_apps, f->lanes, f->most_stretch);
	/* An upper bound of any app's lag: of the hidden time on all lanes, half (fold/shares.c, worth_behind). */
	int64_t hidden = longer_of(f->sight.hole_ns, f->sight.wait_ns);
	double lag = fmax((double)(f->lanes > 0 ? f->lanes : 1) * (double)hidden / 2, (double)f->most_lag_ns);
	double paused = (double)(f->lanes > 0 ? f->lanes : 1) * (double)f->paused_ns; /* the most that is owed for it */
	char figure[BSV_DURATION_TEXT], limit[BSV_DURATION_TEXT], stretch[BSV_DURATION_TEXT];
	char unseen[BSV_UNSEEN_TEXT];
	struct bsv_verdict *v;

	if (hidden >= BSV_UNBOUNDED || f->begun)
		lag = (double)INFINITY;
	ret->n = 0;
	v = rule_add(ret, "max_lag_ns", "duration", (double)f->max_lag_ns, known ? least : (double)NAN);
	v->outcome = BSV_CANNOT_TELL;
	if (explains_blind(ret, 0, &f->sight))
		return;
	if (known && v->figure > most && f->apps > 1 && v->figure - paused <= most) {
		rule_explain(
			ret, 0,
			"%s was %s behind its share; limit %s; the service was stopped, or hung, or had no cpu, for "
			"%s, which may be why",
			f->app ? f->app : "an app", bsv_duration(figure, f->max_lag_ns),
			bsv_duration_beside(limit, bsv_whole(most), f->max_lag_ns),
			bsv_duration(stretch, f->paused_ns));
	} else if (known && v->figure > most && f->apps > 1) {
		v->outcome = BSV_FAIL;
		v->bound = most;
		rule_explain(ret, 0, "%s was %s behind its share; limit %s%s%s", f->app ? f->app : "an app",
		             bsv_duration(figure, f->max_lag_ns),
		             bsv_duration_beside(limit, bsv_whole(most), f->max_lag_ns),
		             given ? "" : ", because a lane could not be had for up to ",
		             given ? "" : bsv_duration(stretch, f->most_stretch));
	} else if (explains_native(ret, 0, &f->sight)) {
		v->outcome = BSV_CANNOT_TELL;
	} else if (!f->apps) {
		rule_explain(ret, 0, "no app had work that was ready");
	} else if (f->most_apps == 1 && !f->others && !f->begun && !f->stranger_ns) {
		v->outcome = BSV_PASS;
		v->idle = true;
		rule_explain(ret, 0, "one app at a time: no other app to share with");
	} else if (!known && (f->stretch_ns < 0 || lag > least)) {
		rule_explain(ret, 0, "the limit is not known, because %s not recorded",
		             f->no_rules ? "the rules of the service were"
		                         : "how long a model runs between two checkpoints was");
	} else if (lag > least && f->begun) {
		v->bound = least;
		rule_explain(ret, 0,
		             "the beginning of an app's work was not recorded; how far behind its share the app was "
		             "then is not known");
	} else if (lag > least && lag >= (double)BSV_UNBOUNDED) {
		v->bound = least;
		rule_explain(ret, 0, "%s: an app may have been behind its share by a time of any length; limit %s",
		             bsv_unseen_text(unseen, &f->sight), bsv_duration(limit, bsv_whole(least)));
	} else if (lag > least) {
		v->bound = least;
		rule_explain(ret, 0, "%s: an app may have been up to %s behind its share; limit %s",
		             bsv_unseen_text(unseen, &f->sight), bsv_duration(figure, bsv_whole(lag)),
		             bsv_duration(limit, bsv_whole(least)));
	} else {
		v->outcome = BSV_PASS;
		v->bound = least;
		rule_explain(ret, 0, "no app was more than %s behind its share; limit %s%s",
		             bsv_duration(figure, bsv_whole(lag)), known ? "" : "at least ",
		             bsv_duration(limit, bsv_whole(least)));
	}
}

/* ---- starvation ---- */

static const char *limit_text(char to[BSV_DURATION_TEXT], const struct bsv_bounds *bounds)
{
	if (!bounds || !bounds->threshold.given)
		return "100 ms";
	return bsv_duration(to, bounds->threshold.value);
}

enum { HELD_TEXT = 288, NAME_MOST = 120 /* bytes of a name in a sentence */ };

/* The holders of the lane during the longest wait: "; the lane was held mostly by hog". */
static const char *held_text(char to[HELD_TEXT], const struct bsv_starvation_facts *f)
{
	double percent = f->max_gap_ns > 0 ? 100 / (double)f->max_gap_ns : 0;
	/* A silent service does not run what is on the lane. */
	int64_t silent = f->silent_ns - f->silent_idle_ns, idle = f->idle_ns - f->silent_idle_ns;
	int64_t held = longer_of(f->holder_ns - silent, 0), unrun = longer_of(f->unrun_ns - silent, 0);
	size_t length;

	*to = 0;
	if (2 * f->silent_ns > f->max_gap_ns)
		snprintf(to, HELD_TEXT, "; no event of the service was recorded for %.0f %% of the longest wait",
		         percent * (double)f->silent_ns);
	else if (2 * unrun > f->max_gap_ns)
		snprintf(to, HELD_TEXT,
		         "; the lane was held mostly by %.*s, but the run had no cpu for %.0f %% of the longest wait",
		         f->holder ? bsv_cut(f->holder, NAME_MOST) : NAME_MOST, f->holder ? f->holder : "an app",
		         percent * (double)unrun);
	else if (f->holder && 2 * held > f->max_gap_ns)
		snprintf(to, HELD_TEXT, "; the lane was held mostly by %.*s", bsv_cut(f->holder, NAME_MOST), f->holder);
	else if (f->unknown_ns > idle && f->unknown_ns >= held)
		snprintf(to, HELD_TEXT, "; it is unknown who held the lane for %.0f %% of the longest wait",
		         percent * (double)f->unknown_ns);
	else if (idle > 0 && idle >= held)
		snprintf(to, HELD_TEXT, "; the lane was empty for %.0f %% of the longest wait", percent * (double)idle);
	else if (f->holder)
		snprintf(to, HELD_TEXT, "; %.*s held the lane longest, %.0f %% of the longest wait",
		         bsv_cut(f->holder, NAME_MOST), f->holder, percent * (double)held);
	length = strlen(to);
	if (f->silent_ns > 0 && 2 * f->silent_ns <= f->max_gap_ns)
		snprintf(to + length, HELD_TEXT - length,
		         "; no event of the service was recorded for %.0f %% of the longest wait",
		         percent * (double)f->silent_ns);
	return to;
}

void bsv_rule_starvation(struct bsv_judgement *ret, const struct bsv_starvation_facts *f,
                         const struct bsv_bounds *bounds)
{
	bool given = bounds && bounds->threshold.given;
	int64_t limit = given ? bounds->threshold.value : BSV_STARVED_NS;
	int64_t hidden = longer_of(f->native_ns, longer_of(f->sight.hole_ns, f->sight.wait_ns));
	const char *victim = f->victim ? f->victim : "work that was ready";
	char gap[BSV_DURATION_TEXT], most[BSV_DURATION_TEXT], length[BSV_DURATION_TEXT + 16], held[HELD_TEXT];
	char unseen[BSV_UNSEEN_TEXT], certain[2 * BSV_COUNT_MAX + 80] = "", n[BSV_COUNT_MAX], of[BSV_COUNT_MAX];
	struct bsv_verdict *v;

	ret->n = 0;
	v = rule_add(ret, "starvation_episodes", "count",
	             (double)(f->episodes > f->recorded ? f->episodes : f->recorded), 0);
	v->outcome = BSV_CANNOT_TELL;
	if (explains_blind(ret, 0, &f->sight))
		return;
	if (f->recorded > f->episodes)
		snprintf(certain, sizeof(certain),
		         "; %s of %s such waits are certain, the others depend on runs that were lost",
		         bsv_count(n, (uint64_t)f->episodes), bsv_count(of, (uint64_t)f->recorded));
	if (f->episodes > 0) {
		v->outcome = BSV_FAIL;
		rule_explain(ret, 0, "%.*s waited for a lane for too long, up to %s%s%s%s", bsv_cut(victim, NAME_MOST),
		             victim, bsv_duration(gap, f->max_gap_ns), f->episodes > 1 ? " at a time" : "",
		             held_text(held, f), certain);
	} else if (f->unsure_ns > 0) {
		rule_explain(ret, 0,
		             "work that was ready waited %s for a lane; unknown whether that is more than ten times "
		             "its usual run, "
		             "because runs were not recorded",
		             bsv_duration(gap, f->unsure_ns));
	} else if (f->native_ns > limit) {
		rule_explain(ret, 0, "policy native has no lanes: there may have been a wait %s; limit %s",
		             length_text(length, hidden), limit_text(most, bounds));
	} else if (hidden > limit) {
		rule_explain(ret, 0, "%s: there may have been a wait %s; limit %s", bsv_unseen_text(unseen, &f->sight),
		             length_text(length, hidden), limit_text(most, bounds));
	} else {
		v->outcome = BSV_PASS;
		rule_explain(ret, 0,
		             given ? "nothing that was ready waited longer than %s"
		                   : "nothing that was ready waited longer than both %s and ten times its usual run",
		             limit_text(most, bounds));
	}
}

/* ---- priority ---- */

static void explain_may_be_inverted(struct bsv_judgement *j, size_t rule, const struct bsv_priority_facts *f,
                                    double least)
{
	char figure[BSV_DURATION_TEXT], most[BSV_DURATION_TEXT], length[BSV_DURATION_TEXT + 16];
	char unseen[BSV_UNSEEN_TEXT];

	if (f->unsure_ns > least)
		rule_explain(j, rule,
		             "urgent work waited %s while its own app's less urgent work held a lane; its limit is not "
		             "known, "
		             "because not all of that was recorded",
		             bsv_duration(figure, f->unsure_ns));
	else if ((double)f->joined_ns > least)
		rule_explain(j, rule,
		             "urgent work waited %s while its own app's less urgent work held a lane; its limit is not "
		             "known, "
		             "because there were too many such waits to tell each",
		             bsv_duration(figure, f->joined_ns));
	else if (!f->sight.losses && !f->sight.partly)
		rule_explain(
			j, rule,
			"how long less urgent work runs before it can stop was not measured (prepare its model within "
			"the recording, on a quieter machine): urgent work of its app may have waited for it, for a "
			"time %s; limit %s",
			length_text(length, f->hidden_ns), bsv_duration(most, bsv_whole(least)));
	else
		rule_explain(j, rule,
		             "%s: urgent work may have waited for its own app's less urgent work, for a time %s; "
		             "limit %s",
		             bsv_unseen_text(unseen, &f->sight), length_text(length, f->hidden_ns),
		             bsv_duration(most, bsv_whole(least)));
}

static void rule_inversion(struct bsv_judgement *j, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds)
{
	bool given = bounds && bounds->inversion.given;
	double bound = given ? (double)bounds->inversion.value : (double)f->stretch_ns + BSV_SLACK_NS;
	double least = given ? bound : (double)longer_of(f->least_ns, 0) + BSV_SLACK_NS;
	/*
	 * how long a model of an unknown app runs between two checkpoints is unknown: its limit is
	 * the allowance alone
	 */
	double strange_least = given ? bound : BSV_SLACK_NS;
	struct bsv_verdict *v = rule_add(j, "inversion_ns", "duration", (double)f->dur_ns, bound);
	const char *victim = f->victim ? f->victim : "urgent work", *holder = f->holder ? f->holder : "work";
	char figure[BSV_DURATION_TEXT], limit[BSV_DURATION_TEXT], length[BSV_DURATION_TEXT + 16];
	size_t rule = j->n - 1;

	v->outcome = BSV_CANNOT_TELL;
	if (!f->inversions && !given)
		v->bound = (double)NAN; /* the limit depends on the model, and there is no inversion to name one */
	if (explains_blind(j, rule, &f->sight))
		return;
	if (f->inversions && v->figure > bound) {
		v->outcome = BSV_FAIL;
		rule_explain(j, rule, "%.*s waited %s while its own app's less urgent %.*s held a lane; limit %s",
		             bsv_cut(victim, NAME_MOST), victim, bsv_duration(figure, f->dur_ns),
		             bsv_cut(holder, NAME_MOST), holder,
		             bsv_duration_beside(limit, bsv_whole(bound), f->dur_ns));
	} else if (explains_native(j, rule, &f->sight)) {
		v->outcome = BSV_CANNOT_TELL;
	} else if (f->on_probation_ns > 0 && (!given || (double)f->on_probation_ns > bound)) {
		v->figure = (double)f->on_probation_ns;
		if (!given)
			v->bound = (double)NAN; /* that wait was beyond its own limit, which is not in the facts */
		rule_explain(
			j, rule,
			"urgent work waited %s while its own app's less urgent work held a lane, and while the app was "
			"on probation, which may be why",
			bsv_duration(figure, f->on_probation_ns));
	} else if (f->unsure_ns > 0 || (double)f->joined_ns > least || (double)f->hidden_ns > least) {
		explain_may_be_inverted(j, rule, f, least);
	} else if ((double)f->sight.strange_ns > strange_least) {
		rule_explain(j, rule,
		             "not all was recorded: an app may have come and gone whose urgent work waited for its "
		             "less urgent work, for a time %s; limit %s",
		             length_text(length, f->sight.strange_ns), bsv_duration(limit, bsv_whole(strange_least)));
	} else if (!f->inversions && !f->mixed && !f->may_be_mixed && !f->sight.strange_ns) {
		v->outcome = BSV_PASS;
		v->idle = true;
		rule_explain(j, rule, "no app had work of more than one priority that became ready");
	} else if (f->mixed && !f->inversions && !f->inversions_on_probation && !f->choices && !f->sight.losses) {
		v->outcome = BSV_PASS;
		v->idle = true;
		rule_explain(j, rule, "urgent work never waited for less urgent work of its own app");
	} else {
		v->outcome = BSV_PASS;
		rule_explain(j, rule,
		             "urgent work never waited longer than its limit for less urgent work of its own app");
	}
}

static void rule_honoured(struct bsv_judgement *j, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds)
{
	double bound = bounds && bounds->honoured_given ? bounds->honoured : HONOURED_PERCENT;
	double figure = f->choices ? 100 * (double)f->honoured / (double)f->choices : 100;
	struct bsv_verdict *v = rule_add(j, "honoured_percent", "percent", figure, bound);
	long long choices = f->choices, honoured = f->honoured;
	long long hidden = f->hidden_choices + f->strange_choices;
	/* Did probation leave too few choices? Then nothing shows what those were that do not count. */
	bool few_left = f->mostly_on_probation || (f->on_probation && f->choices < CHOICES_MIN);
	int64_t seen = f->choices + f->hidden_choices + (few_left ? f->on_probation : 0);
	int64_t n = seen < CHOICES_MIN ? CHOICES_MIN : seen;
	/* Would the rule fail even if all choices that are hidden, or missing to CHOICES_MIN, were honoured? */
	bool fails_anyway = (double)(n - (f->choices - f->honoured)) * 100 < bound * (double)n;
	size_t rule = j->n - 1, length;

	v->outcome = BSV_CANNOT_TELL;
	if (explains_blind(j, rule, &f->sight))
		return;
	if (fails_anyway) {
		v->outcome = BSV_FAIL;
		if (f->choices < CHOICES_MIN)
			rule_explain(
				j, rule,
				"the most urgent work of an app went first in %lld of the %lld choices that were seen; "
				"a pass needs %d choices, but %lld that were wrong already fail (limit %.4g %%)",
				honoured, choices, CHOICES_MIN, choices - honoured, bound);
		else
			rule_explain(j, rule, "the most urgent work of an app went first in %lld of %lld choices",
			             honoured, choices);
	} else if (explains_native(j, rule, &f->sight)) {
		v->outcome = BSV_CANNOT_TELL;
	} else if (few_left) {
		rule_explain(j, rule,
		             "the most urgent work of an app went first in %lld of %lld choices, too few to judge",
		             honoured, choices);
	} else if (!f->choices && !f->mixed && !f->may_be_mixed && !f->sight.strange_ns) {
		v->outcome = BSV_PASS;
		v->idle = true;
		rule_explain(j, rule, "no app had work of more than one priority that became ready");
	} else if (f->mixed && !f->choices && !f->hidden_choices && !f->strange_choices && !f->together) {
		v->outcome = BSV_PASS;
		v->idle = true;
		rule_explain(j, rule, "work of several priorities of an app was never ready at the same time");
	} else if (!f->choices && f->sight.strange_ns) {
		rule_explain(j, rule,
		             "not all was recorded: an app may have come and gone with work of several priorities");
	} else if (f->choices < CHOICES_MIN) {
		rule_explain(j, rule,
		             "the most urgent work of an app went first in %lld of the %lld choices that were seen; a "
		             "pass needs %d",
		             honoured, choices, CHOICES_MIN);
	} else if ((double)honoured * 100 >= bound * (double)(choices + hidden)) {
		/* the number even if none of the hidden choices was honoured */
		v->outcome = BSV_PASS;
		rule_explain(j, rule, "the most urgent work of an app went first in %lld of %lld choices", honoured,
		             choices);
	} else if (f->strange_choices >= BSV_ANY_NUMBER) {
		rule_explain(
			j, rule,
			"the most urgent work of an app went first in %lld of %lld choices; how many more were not "
			"recorded is unknown",
			honoured, choices);
	} else {
		rule_explain(
			j, rule,
			"the most urgent work of an app went first in %lld of %lld choices; up to %lld more were not "
			"recorded",
			honoured, choices, hidden);
	}
	length = strlen(j->why[rule]);
	if (f->on_probation)
		snprintf(j->why[rule] + length, sizeof(j->why[rule]) - length,
		         "; %lld more, made while the app was on probation, %s not counted", (long long)f->on_probation,
		         f->on_probation == 1 ? "is" : "are");
}

void bsv_rule_priority(struct bsv_judgement *ret, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds)
{
	ret->n = 0;
	rule_inversion(ret, f, bounds);
	rule_honoured(ret, f, bounds);
}

/* judge.c -- the judges of each kind of rule: no database, only numbers. */
#include "slo/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

enum {
	FEWEST = 6, /* with fewer samples not even a median has an interval of 95 % */
	BASELINE_FEWEST = 32
};

static const double proven = 0.05; /* a failure with too few samples is at most this likely if the rule holds */

__attribute__((format(printf, 3, 4))) static void result_end(struct bsv_slo_result *ret, enum bsv_outcome outcome,
                                                             const char *why, ...)
{
	va_list args;

	ret->outcome = outcome;
	va_start(args, why);
	vsnprintf(ret->why, sizeof(ret->why), why, args);
	va_end(args);
}

const char *bsv_slo_word(enum bsv_outcome outcome)
{
	return outcome == BSV_PASS ? "PASS" : outcome == BSV_FAIL ? "FAIL" : "INCONCLUSIVE";
}

const char *bsv_slo_result_word(const struct bsv_slo_result *r)
{
	return r->outcome == BSV_PASS && r->idle ? "NOTHING TO JUDGE" : bsv_slo_word(r->outcome);
}

/* The probability that @least or more of @n independent trials succeed, each with probability @p. */
static double binomial_tail(int64_t least, int64_t n, double p)
{
	double sum = 0;

	if (least <= 0 || p >= 1)
		return 1;
	if (p <= 0)
		return 0;
	for (int64_t k = least; k <= n; k++) {
		double term = exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
		                  (double)k * log(p) + (double)(n - k) * log1p(-p));

		sum += term;
		if (term < sum * 1e-9 && (double)k > p * (double)n)
			break;
	}
	return sum < 1 ? sum : 1;
}

/* The number of @n samples that may lie above the nearest rank of @percent. */
static int64_t allowed_above(int64_t n, double percent)
{
	double rank = ceil(percent / 100 * (double)n - 1e-9 * (double)n);

	return n - (int64_t)(rank < 1 ? 1 : rank);
}

static int64_t executions_per(double percent)
{
	double n = ceil(100 / percent - 1e-9);

	return n > 1e15 ? INT64_C(1000000000000000) : (int64_t)n;
}

/* The fewest samples for which a percentile is not just the maximum, or one miss does not break a ratio. */
static int64_t fewest_needed(const struct bsv_slo_rule *rule)
{
	int64_t n;

	if (rule->kind == BSV_SLO_MISSES)
		return rule->bound > 0 ? executions_per(rule->bound) : 1;
	if (rule->percent >= 100)
		return 1;
	n = executions_per(100 - rule->percent);
	return n < FEWEST ? FEWEST : n;
}

/*
 * The number of executions whose value is unknown; @ret_any: the number itself has no upper bound.
 * An execution given up has no latency, but counts as unknown: the service gives up those first
 * that would take longest.
 */
static int64_t count_unseen(const struct bsv_slo_counts *c, bool *ret_any)
{
	*ret_any = c->vanished < 0;
	return c->unknown + c->hidden + c->given_up + c->no_client + c->no_service +
	       (c->vanished > 0 ? c->vanished : 0);
}

/*
 * Does @rule allow not even one execution above its bound, however many executions there are? Then
 * one that was seen breaks the rule, whatever was lost.
 */
static bool allows_none(const struct bsv_slo_rule *rule)
{
	return rule->kind == BSV_SLO_MISSES ? rule->bound <= 0 : rule->percent >= 100;
}

static void result_begin(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c)
{
	memset(ret, 0, sizeof(*ret));
	ret->n = c->n;
	ret->figure = c->figure;
	ret->bound = rule->bound;
}

/* End as undecided: @seen, and the executions that could change the verdict. */
static void end_undecided(struct bsv_slo_result *ret, const struct bsv_slo_counts *c, const char *seen)
{
	enum { PARTS = 8 };
	char parts[PARTS][96] = { "" };
	const char *gap = "";

	ret->idle = false;
	if (c->given_up)
		snprintf(parts[0], sizeof(parts[0]), "%" PRId64 " without an answer", c->given_up);
	if (c->unknown + c->perhaps)
		snprintf(parts[1], sizeof(parts[1]), "%" PRId64 " not known in full", c->unknown + c->perhaps);
	if (c->vanished > 0)
		snprintf(parts[2], sizeof(parts[2]), "up to %" PRId64 " lost", c->vanished);
	else if (c->vanished)
		snprintf(parts[2], sizeof(parts[2]), "an unknown number lost");
	if (c->no_client)
		snprintf(parts[3], sizeof(parts[3]), "%" PRId64 " whose clients were not recorded", c->no_client);
	if (c->no_service)
		snprintf(parts[4], sizeof(parts[4]), "%" PRId64 " whose service was not recorded", c->no_service);
	if (c->hidden)
		snprintf(parts[5], sizeof(parts[5]), "%" PRId64 " that may be under way at the end, without an event",
		         c->hidden);
	if (c->unsure)
		snprintf(parts[6], sizeof(parts[6]),
		         "%" PRId64 " that the rule may select: what it selects by is not known", c->unsure);
	if (c->trials)
		snprintf(parts[7], sizeof(parts[7]), "%" PRId64 " that may be trial runs", c->trials);
	result_end(ret, BSV_CANNOT_TELL, "%s; these could change the verdict: ", seen);
	for (int i = 0; i < PARTS; i++) {
		size_t at = strlen(ret->why);

		if (!*parts[i])
			continue;
		snprintf(ret->why + at, sizeof(ret->why) - at, "%s%s", gap, parts[i]);
		gap = ", ";
	}
}

/* Where no execution that a rule selects, seen or not, has the phase that it is about, it has nothing to judge. */
static bool end_without_phase(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                              const struct bsv_slo_counts *c)
{
	bool any;

	if (!c->lacking || c->lacking != c->executions || c->unsure || count_unseen(c, &any) || any)
		return false;
	ret->idle = true;
	ret->figure = NAN;
	result_end(ret, BSV_PASS, "executions of these paths have no %s", bsv_phase_names[rule->phase]);
	return true;
}

/* Write "by chance in 3 of 100 cases", and never 0. */
static const char *chance_text(char to[64], double chance)
{
	snprintf(to, 64, chance < 1e-4 ? "by chance in less than 1 of 10000 cases" : "by chance in %.2g of 100 cases",
	         100 * chance);
	return to;
}

void bsv_slo_judge_percentile(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                              const struct bsv_slo_counts *c)
{
	bool any;
	int64_t u = count_unseen(c, &any), needed = fewest_needed(rule), all = c->n + c->no_client;
	char seen[128], chance[64];

	result_begin(ret, rule, c);
	ret->class = rule->kind == BSV_SLO_OVERHEAD ? "percent" : "duration";
	if (end_without_phase(ret, rule, c))
		return;
	if (c->no_client) /* the service alone saw less than the whole latency */
		ret->figure = NAN;
	snprintf(seen, sizeof(seen), "%s%" PRId64 " of %" PRId64 " are above, %" PRId64 " allowed",
	         c->no_client ? "at least " : "", c->over, all, all ? allowed_above(all, rule->percent) : 0);
	if (c->n + u < needed) {
		double p = binomial_tail(c->over, c->n + u, 1 - rule->percent / 100);

		if (c->over && p < proven && !any)
			result_end(ret, BSV_FAIL, "%" PRId64 " of only %" PRId64 " are above: %s", c->over, c->n,
			           chance_text(chance, p));
		else if (c->over && binomial_tail(c->over, c->n, 1 - rule->percent / 100) < proven)
			end_undecided(ret, c, seen);
		else
			result_end(ret, BSV_CANNOT_TELL, "a p%g takes %" PRId64 " executions, there are %" PRId64,
			           rule->percent, needed, c->n);
		return;
	}
	if (c->over > allowed_above(c->n + u, rule->percent) && (!any || allows_none(rule)))
		result_end(ret, BSV_FAIL, "%s", seen);
	else if (!any && c->n >= needed && c->over + u <= allowed_above(c->n + u, rule->percent))
		result_end(ret, BSV_PASS, "%s", seen);
	else
		end_undecided(ret, c, seen);
}

static double percent_of(int64_t part, int64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

void bsv_slo_judge_misses(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c)
{
	bool any;
	int64_t u = count_unseen(c, &any) + c->perhaps, needed = fewest_needed(rule),
		untold = c->no_client + c->no_service, open = untold + c->unknown + c->perhaps;
	char seen[128], chance[64];

	result_begin(ret, rule, c);
	ret->class = "percent";
	ret->figure = c->n && !open ? percent_of(c->over, c->n) : NAN; /* without the denominator there is no rate */
	/* the same numbers as those of misses and summary */
	snprintf(seen, sizeof(seen), "%s%" PRId64 " of %" PRId64 " missed", open ? "at least " : "", c->over,
	         c->n + open);
	if (!c->n && !c->over && !untold) {
		if (c->unknown)
			result_end(ret, BSV_CANNOT_TELL, "%" PRId64 " had a deadline, and whether %s is not known",
			           c->unknown, bsv_plural((uint64_t)c->unknown, "it was met", "they met it"));
		else if (c->perhaps)
			result_end(ret, BSV_CANNOT_TELL,
			           "no execution with a deadline was recorded; whether %" PRId64 " of %" PRId64
			           " had one was not recorded",
			           c->perhaps, c->executions);
		else
			result_end(ret, BSV_CANNOT_TELL, "no execution had a deadline");
		return;
	}
	if (c->over && allows_none(rule)) {
		result_end(ret, BSV_FAIL, "%s", seen);
		return;
	}
	if (c->n + untold < needed) {
		double p = binomial_tail(c->over, c->n + u, rule->bound / 100);

		if (c->over && p < proven && !any)
			result_end(ret, BSV_FAIL, "%s: %s", seen, chance_text(chance, p));
		else if (any || c->n + u >= needed) /* they would be enough, if all of them were known */
			end_undecided(ret, c, seen);
		else
			result_end(ret, BSV_CANNOT_TELL, "%s: it takes %" PRId64 " for one not to be more than %g %%",
			           seen, needed, rule->bound);
		return;
	}
	if (percent_of(c->over, c->n + u) > rule->bound && !any)
		result_end(ret, BSV_FAIL, "%s", seen);
	else if (!any && percent_of(c->over + u, c->n + u) <= rule->bound)
		result_end(ret, BSV_PASS, "%s", seen);
	else
		end_undecided(ret, c, seen);
}

/* ---- what may be of the group ---- */

void bsv_slo_counts_add(struct bsv_slo_counts *to, const struct bsv_slo_counts *from)
{
	to->executions += from->executions;
	to->unsure += from->unsure;
	to->lacking += from->lacking;
	to->n += from->n;
	to->over += from->over;
	to->unknown += from->unknown;
	to->given_up += from->given_up;
	to->perhaps += from->perhaps;
	to->no_client += from->no_client;
	to->no_service += from->no_service;
}

void bsv_slo_may_be_add(struct bsv_slo_may_be *to, const struct bsv_slo_counts *counts)
{
	if (counts->over || !counts->n)
		bsv_slo_counts_add(&to->worst, counts);
	if (!counts->over)
		bsv_slo_counts_add(&to->best, counts);
}

/* Set *ret to the verdict that all @ways have, which are of the rule with and without the executions of c->unsure. */
static void result_of_ways(struct bsv_slo_result *ret, const struct bsv_slo_result ways[BSV_SLO_WAYS],
                           const struct bsv_slo_counts *c)
{
	bool same = ways[BSV_SLO_WORST].outcome == ways[BSV_SLO_SURE].outcome &&
	            ways[BSV_SLO_BEST].outcome == ways[BSV_SLO_SURE].outcome;

	*ret = ways[BSV_SLO_SURE];
	if (ret->outcome == BSV_CANNOT_TELL) {
		size_t at = strlen(ret->why);

		snprintf(ret->why + at, sizeof(ret->why) - at,
		         "; the rule may select %" PRId64 " more: what it selects by is not known of them", c->unsure);
	} else if (!same) {
		end_undecided(ret, c,
		              ret->idle ? "no execution that the rule certainly selects has the phase"
		                        : ways[BSV_SLO_SURE].why);
	}
}

void bsv_slo_judge_group(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                         const struct bsv_slo_may_be *may_be)
{
	struct bsv_slo_counts counts[BSV_SLO_WAYS] = { *c, *c, *c };
	struct bsv_slo_result ways[BSV_SLO_WAYS];

	bsv_slo_counts_add(&counts[BSV_SLO_WORST], &may_be->worst);
	bsv_slo_counts_add(&counts[BSV_SLO_BEST], &may_be->best);
	for (int i = 0; i < BSV_SLO_WAYS; i++) {
		counts[i].unsure = 0;
		if (rule->kind == BSV_SLO_MISSES)
			bsv_slo_judge_misses(&ways[i], rule, &counts[i]);
		else
			bsv_slo_judge_percentile(&ways[i], rule, &counts[i]);
	}
	if (!c->unsure) {
		*ret = ways[BSV_SLO_SURE];
		return;
	}
	result_of_ways(ret, ways, c);
	if (rule->kind == BSV_SLO_MISSES) /* without the denominator there is no rate */
		ret->figure = NAN;
}

void bsv_slo_judge_executions(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                              const struct bsv_slo_counts *c)
{
	char seen[128];

	result_begin(ret, rule, c);
	ret->class = "count";
	ret->n = c->executions;
	ret->figure = (double)c->executions;
	snprintf(seen, sizeof(seen), "%" PRId64 " %s, and %.15g is the least", c->executions,
	         bsv_plural((uint64_t)c->executions, "execution", "executions"), rule->bound);
	if (ret->figure >= rule->bound)
		result_end(ret, BSV_PASS, "executions of any status count");
	else if (c->vanished >= 0 &&
	         ret->figure + (double)c->vanished + (double)c->unsure + (double)c->trials < rule->bound)
		result_end(ret, BSV_FAIL, "%s; executions of any status count", seen);
	else if (c->unsure + c->trials)
		end_undecided(ret, c, seen);
	else
		result_end(ret, BSV_CANNOT_TELL, "events were lost: there may have been more");
}

static const char *signed_duration(char to[BSV_DURATION_TEXT + 1], double ns)
{
	char text[BSV_DURATION_TEXT];

	snprintf(to, BSV_DURATION_TEXT + 1, "%s%s", ns < 0 ? "-" : "+",
	         bsv_duration(text, fabs(ns) < 0x1p62 ? (int64_t)fabs(ns) : INT64_C(1) << 62));
	return to;
}

void bsv_slo_judge_baseline(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                            const struct bsv_slo_counts *base, struct bsv_interval beyond, double most)
{
	char allowed[BSV_DURATION_TEXT + 1], low[BSV_DURATION_TEXT + 1], high[BSV_DURATION_TEXT + 1];
	enum bsv_outcome outcome = beyond.high <= 0 ? BSV_PASS : beyond.low > 0 ? BSV_FAIL : BSV_CANNOT_TELL;
	int64_t needed = fewest_needed(rule);
	bool any, any_base;
	int64_t u = count_unseen(c, &any) + c->unsure, u_base = count_unseen(base, &any_base) + base->unsure;

	needed = needed < BASELINE_FEWEST ? BASELINE_FEWEST : needed;
	result_begin(ret, rule, c);
	ret->class = "duration";
	ret->bound = most;
	if (end_without_phase(ret, rule, c))
		return;
	if (c->no_client || base->no_client)
		result_end(ret, BSV_CANNOT_TELL,
		           "the clients of some executions, here or in the baseline, were not recorded");
	else if (c->n < needed || base->n < needed)
		result_end(ret, BSV_CANNOT_TELL,
		           "to compare a p%g takes %" PRId64 " executions, there are %" PRId64
		           " and in the baseline %" PRId64,
		           rule->percent, needed, c->n, base->n);
	else if (any || any_base || 100 * u > c->n || 100 * u_base > base->n)
		result_end(ret, BSV_CANNOT_TELL,
		           "more than 1 of 100 executions, here or in the baseline, were not answered, or are not "
		           "known in "
		           "full");
	else
		result_end(ret, outcome,
		           "%s is allowed, and it is beyond that by %s to %s in 95 of 100 cases (%" PRId64
		           " against %" PRId64 " executions)%s",
		           signed_duration(allowed, most) + 1, signed_duration(low, beyond.low),
		           signed_duration(high, beyond.high), c->n, base->n,
		           outcome == BSV_CANNOT_TELL ? ": that may be either" : "");
}

/* ---- streaks ---- */

int bsv_slo_streaks_init(struct bsv_slo_streaks ways[BSV_SLO_WAYS], const struct bsv_slo_rule *rule)
{
	bool has_memory = true;

	for (int i = 0; i < BSV_SLO_WAYS; i++) {
		ways[i] = (struct bsv_slo_streaks){ .window = malloc(rule->window),
			                            .most = rule->most,
			                            .length = rule->window };
		has_memory = has_memory && ways[i].window;
	}
	return has_memory ? 0 : -1;
}

void bsv_slo_streaks_fini(struct bsv_slo_streaks ways[BSV_SLO_WAYS])
{
	for (int i = 0; i < BSV_SLO_WAYS; i++) {
		free(ways[i].window);
		ways[i].window = NULL;
	}
}

void bsv_slo_streaks_stream(struct bsv_slo_streaks ways[BSV_SLO_WAYS])
{
	for (int i = 0; i < BSV_SLO_WAYS; i++) {
		ways[i].held = ways[i].at = ways[i].missed = ways[i].unknown = 0;
		ways[i].in_stream = 0;
	}
}

static void way_add(struct bsv_slo_streaks *s, enum bsv_slo_state state)
{
	if (s->held == s->length) {
		s->missed -= s->window[s->at] == BSV_SLO_MISSED;
		s->unknown -= s->window[s->at] == BSV_SLO_UNKNOWN;
	} else {
		s->held++;
	}
	s->window[s->at] = (unsigned char)state;
	s->at = (s->at + 1) % s->length;
	s->missed += state == BSV_SLO_MISSED;
	s->unknown += state == BSV_SLO_UNKNOWN;
	s->in_stream++;
	s->longest = s->in_stream > s->longest ? s->in_stream : s->longest;
	s->most_missed = s->missed > s->most_missed ? s->missed : s->most_missed;
	s->most_ever = s->missed + s->unknown > s->most_ever ? s->missed + s->unknown : s->most_ever;
}

void bsv_slo_streaks_add(struct bsv_slo_streaks ways[BSV_SLO_WAYS], unsigned state)
{
	enum bsv_slo_state is = (enum bsv_slo_state)(state % BSV_SLO_MAY_BE);
	bool sure = state < BSV_SLO_MAY_BE;

	if (is == BSV_SLO_NOT_MEANT)
		return;
	if (sure)
		way_add(&ways[BSV_SLO_SURE], is);
	if (sure || is != BSV_SLO_MET)
		way_add(&ways[BSV_SLO_WORST], is);
	if (sure || is != BSV_SLO_MISSED)
		way_add(&ways[BSV_SLO_BEST], is);
}

static void judge_way(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                      const struct bsv_slo_streaks *s)
{
	result_begin(ret, rule, c);
	ret->class = "count";
	ret->figure = s->longest ? s->most_missed : NAN;
	if (s->most_missed > s->most)
		result_end(ret, BSV_FAIL, "%u of %u in sequence", s->most_missed, s->length);
	else if (!s->longest)
		result_end(ret, BSV_CANNOT_TELL, "no execution had a deadline");
	else if (s->longest < s->length)
		result_end(ret, BSV_CANNOT_TELL,
		           "no stream has %u executions with a deadline in sequence: at most %" PRId64, s->length,
		           s->longest);
	else if (s->most_ever > s->most)
		result_end(ret, BSV_CANNOT_TELL, "%u at most, but where not all was recorded it may have been %u",
		           s->most_missed, s->most_ever);
	else if (c->open_ended)
		result_end(ret, BSV_CANNOT_TELL,
		           "%u at most, but a loss may hide the beginning or the end of %" PRId64 " streams",
		           s->most_missed, c->open_ended);
	else if (s->most_ever + c->hidden > s->most)
		result_end(ret, BSV_CANNOT_TELL,
		           "%u at most, but %" PRId64
		           " that may be under way at the end, without an event, may be late",
		           s->most_missed, c->hidden);
	else if (c->strangers < 0 || c->strangers > s->most)
		result_end(ret, BSV_CANNOT_TELL,
		           "%u at most, but a loss may hide a whole stream, of which no event was recorded",
		           s->most_missed);
	else
		result_end(ret, BSV_PASS, "at most %u of %u in sequence", s->most_missed, s->length);
}

void bsv_slo_judge_streaks(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                           const struct bsv_slo_streaks ways[BSV_SLO_WAYS])
{
	struct bsv_slo_result results[BSV_SLO_WAYS];

	for (int i = 0; i < BSV_SLO_WAYS; i++)
		judge_way(&results[i], rule, c, &ways[i]);
	*ret = results[BSV_SLO_SURE];
	if (c->unsure)
		result_of_ways(ret, results, c);
}

void bsv_slo_judge_coverage(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_kept *k)
{
	int64_t executions = k->executions + k->lost_executions;
	double of_events = percent_of(k->events, k->events + k->lost_events);
	double of_executions = executions ? percent_of(k->executions, executions) : 100;
	char seen[160];
	int n = snprintf(seen, sizeof(seen),
	                 "%" PRId64 " events lost; %" PRId64 " of %" PRId64 " executions not known in full",
	                 k->lost_events, k->lost_executions, executions);

	if (k->headless)
		snprintf(seen + n, sizeof(seen) - (size_t)n, "; %" PRId64 " without their beginning do not count",
		         k->headless);
	memset(ret, 0, sizeof(*ret));
	ret->class = "percent";
	ret->n = executions;
	ret->bound = rule->bound;
	ret->figure = of_events < of_executions ? of_events : of_executions;
	if (ret->figure < rule->bound) {
		result_end(ret, BSV_FAIL, "%s", seen);
	} else if (!executions) {
		ret->figure = NAN;
		result_end(ret, BSV_CANNOT_TELL, "no execution counts: %s", seen);
	} else if (!k->lost_known) {
		result_end(ret, BSV_CANNOT_TELL, "events were lost, and LTTng did not count them");
	} else {
		result_end(ret, BSV_PASS, "%s", seen);
	}
}

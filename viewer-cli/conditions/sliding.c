/*
 * sliding.c -- counts executions by window, and judges a window when it is complete. It counts of
 * an execution what slo/counting.c counts.
 */
#include "conditions/sliding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOSSES_MOST = 64, SILENCES_MOST = 16 };

struct part {
	uint64_t number; /* since the clock was 0 */
	struct bsv_slo_counts counts;
	struct bsv_slo_may_be may_be; /* the executions of counts.unsure */
};

struct span {
	uint64_t began, ended;
	const char *why; /* static */
};

struct bsv_sliding {
	struct bsv_sliding_options options;
	uint64_t step;
	struct part *parts; /* a ring, by number */
	uint64_t n_parts, newest;
	uint64_t first; /* the first part that lies in the recording; UINT64_MAX: not known yet */
	uint64_t next;  /* the windows that end before this part were judged */
	uint64_t too_late;
	struct span lost[LOSSES_MOST]; /* the oldest first */
	size_t n_lost;
	struct span silences[SILENCES_MOST]; /* the oldest first, apart from each other */
	size_t n_silences;
};

bool bsv_sliding_takes(const struct bsv_slo_rule *rule)
{
	switch (rule->kind) {
	case BSV_SLO_TIME:
	case BSV_SLO_OVERHEAD:
	case BSV_SLO_MISSES:
	case BSV_SLO_EXECUTIONS:
		return !rule->baseline;
	default:
		return false;
	}
}

struct bsv_sliding *bsv_sliding_new(const struct bsv_sliding_options *options)
{
	struct bsv_sliding *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->options = *options;
	s->step = options->window_ns / BSV_SLIDING_PARTS;
	s->step = s->step ? s->step : 1;
	s->n_parts = 3 * BSV_SLIDING_PARTS + options->lag_ns / s->step + 2;
	s->first = UINT64_MAX;
	s->parts = calloc(s->n_parts, sizeof(*s->parts));
	return s->parts ? s : bsv_sliding_free(s);
}

struct bsv_sliding *bsv_sliding_free(struct bsv_sliding *s)
{
	if (s)
		free(s->parts);
	free(s);
	return NULL;
}

/* ---- one execution ---- */

static bool text_is(const char *text, const char *wanted)
{
	return text && !strcmp(text, wanted);
}

enum selected { NO, UNSURE, YES };

/* Is @text the @wanted one? @known: it was recorded. */
static enum selected selected_by(const char *wanted, const char *text, bool known)
{
	if (!wanted)
		return YES;
	return !known || !text ? UNSURE : text_is(text, wanted) ? YES : NO;
}

static enum selected selected_by_cold(int wanted, const struct bsa_live_execution *x)
{
	if (wanted < 0 || x->cold == wanted)
		return YES;
	return x->cold >= 0 || (x->path && !text_is(x->path, "burst")) ? NO : UNSURE;
}

/* Does the rule select @x? As rule_selects of slo/counting.c. */
static enum selected rule_selects(const struct bsv_slo_selection *of, const struct bsa_live_execution *x)
{
	const enum selected by[] = { selected_by(of->app, x->app, x->app_named),
		                     selected_by(of->model, x->model, x->model_named),
		                     selected_by(of->path, x->path, true), selected_by(of->priority, x->priority, true),
		                     selected_by_cold(of->cold, x) };
	enum selected all = YES;

	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++)
		all = by[i] < all ? by[i] : all;
	return all;
}

/* The execution's time beyond its useful run; NAN: unknown. */
static double overhead_of(const struct bsa_live_execution *x)
{
	if (x->e2e_ns == BSA_LIVE_UNKNOWN || x->run_ns == BSA_LIVE_UNKNOWN)
		return NAN;
	return (double)((int64_t)x->e2e_ns -
	                ((int64_t)x->run_ns - (x->redo_ns == BSA_LIVE_UNKNOWN ? 0 : (int64_t)x->redo_ns)));
}

/* The value for the rule's percentile; NAN: unknown. */
static double value_of(const struct bsv_slo_rule *rule, const struct bsa_live_execution *x)
{
	unsigned phase;

	if (rule->kind == BSV_SLO_OVERHEAD)
		return x->e2e_ns ? 100.0 * overhead_of(x) / (double)x->e2e_ns : NAN;
	if (rule->phase == BSV_OVERHEAD)
		return overhead_of(x);
	if (rule->phase == BSV_E2E)
		return x->e2e_ns == BSA_LIVE_UNKNOWN ? NAN : (double)x->e2e_ns;
	phase = rule->phase - BSV_PREPARE;
	if (x->lacks & 1u << phase) /* as relation execution has it */
		return 0;
	return x->phase_ns[phase] == BSA_LIVE_UNKNOWN ? NAN : (double)x->phase_ns[phase];
}

static bool has_gaps(const struct bsa_live_execution *x)
{
	return text_is(x->quality, "gap") || text_is(x->quality, "tail");
}

static bool is_overdue(const struct bsv_slo_rule *rule, const struct bsa_live_execution *x, uint64_t until)
{
	if (rule->kind != BSV_SLO_TIME || x->open_since > until)
		return false;
	return (double)(until - x->open_since) > rule->bound;
}

/* The rules are those of slo/counting.c. */
static void count_time(struct bsv_slo_counts *c, const struct bsv_slo_rule *rule, const struct bsa_live_execution *x,
                       uint64_t until)
{
	bool to_the_end = rule->kind == BSV_SLO_OVERHEAD || rule->phase == BSV_E2E || rule->phase == BSV_OVERHEAD;
	bool well = text_is(x->status, "NONE"), head = text_is(x->quality, "head");
	bool client = text_is(x->sides, "client"), service = text_is(x->sides, "service");
	bool seen_in_part = head && x->e2e_ns == BSA_LIVE_UNKNOWN, in_part = to_the_end && (service || seen_in_part);
	bool told = x->complete ||
	            (head && (x->seen_ns != BSA_LIVE_UNKNOWN || (to_the_end && x->e2e_ns != BSA_LIVE_UNKNOWN)));
	bool answered = told && well;
	struct bsa_live_execution seen = *x;
	double value;
	bool known, too_short, no_client;

	if (rule->kind == BSV_SLO_TIME && !bsv_phase_is_of(rule->phase, x->path)) {
		c->lacking++;
		return;
	}
	if (seen_in_part)
		seen.e2e_ns = x->seen_ns;
	value = value_of(rule, &seen);
	known = !isnan(value);
	too_short = answered && in_part && known && value <= rule->bound;
	no_client = (too_short && !head) || (x->complete && service && well && !known);
	c->n += answered && known && !no_client && !too_short;
	c->over += answered && known && value > rule->bound;
	c->given_up += (x->complete || head) && x->status && !well;
	c->unknown += has_gaps(x) || (text_is(x->quality, "open") && is_overdue(rule, x, until));
	if (head && !x->status)
		c->unknown += x->open_since == BSA_LIVE_UNKNOWN || is_overdue(rule, x, until);
	else if (head && well)
		c->unknown += !told || !known || too_short;
	c->no_client += no_client;
	c->no_service += x->complete && client && (!x->status || (well && !known));
}

static void count_deadline(struct bsv_slo_counts *c, const struct bsa_live_execution *x, uint64_t until)
{
	bool unseen = x->deadline && !x->missed;
	bool unknown = unseen && (has_gaps(x) || (text_is(x->quality, "open") && x->deadline_at < until));
	bool one_side = unseen && x->outcome_unknown && (x->complete || text_is(x->quality, "head"));
	bool fenced = text_is(x->path, "fenced");

	c->n += x->deadline && !unknown && !one_side;
	c->over += x->missed;
	c->unknown += unknown;
	c->perhaps += (!x->deadline && x->missed) || x->deadline_unknown;
	c->no_client += one_side && !fenced;
	c->no_service += one_side && fenced;
}

void bsv_sliding_execution(struct bsv_sliding *s, const struct bsa_live_execution *x, uint64_t until)
{
	const struct bsv_slo_rule *rule = s->options.rule;
	uint64_t number = x->began / s->step;
	struct part *p = &s->parts[number % s->n_parts];
	enum selected is = rule_selects(&rule->of, x);
	struct bsv_slo_counts one = { .executions = is == YES, .unsure = is == UNSURE };

	if (is == NO || x->began == BSA_LIVE_UNKNOWN)
		return;
	if (p->number > number || number + s->n_parts <= s->newest) {
		s->too_late++;
		return;
	}
	if (p->number < number)
		*p = (struct part){ .number = number };
	if (s->newest < number)
		s->newest = number;
	if (rule->kind == BSV_SLO_MISSES)
		count_deadline(&one, x, until);
	else
		count_time(&one, rule, x, until);
	if (is == YES) {
		bsv_slo_counts_add(&p->counts, &one);
	} else if (!one.lacking) {
		p->counts.unsure++;
		bsv_slo_may_be_add(&p->may_be, &one);
	}
	if (s->next > number + 1)
		s->next = number + 1;
}

/* ---- what was lost ---- */

/* When there are too many, the two oldest are taken for one, with all that is between them. */
void bsv_sliding_lost(struct bsv_sliding *s, uint64_t began, uint64_t ended, const char *why)
{
	if (s->n_lost == LOSSES_MOST) {
		s->lost[1].began = s->lost[0].began < s->lost[1].began ? s->lost[0].began : s->lost[1].began;
		s->lost[1].ended = s->lost[0].ended > s->lost[1].ended ? s->lost[0].ended : s->lost[1].ended;
		memmove(&s->lost[0], &s->lost[1], --s->n_lost * sizeof(*s->lost));
	}
	s->lost[s->n_lost++] = (struct span){ began, ended, why };
}

/* A longer silence replaces the ones that it has in it; of too many, the oldest is over for long. */
void bsv_sliding_silent(struct bsv_sliding *s, uint64_t began, uint64_t until)
{
	while (s->n_silences && s->silences[s->n_silences - 1].ended >= began) {
		struct span *last = &s->silences[--s->n_silences];

		began = last->began < began ? last->began : began;
		until = last->ended > until ? last->ended : until;
	}
	if (s->n_silences == SILENCES_MOST)
		memmove(&s->silences[0], &s->silences[1], --s->n_silences * sizeof(*s->silences));
	s->silences[s->n_silences++] =
		(struct span){ began, until, "a service was silent while clients waited for it" };
}

/* The latest one that touches the window; NULL: none does. */
static const struct span *latest_in(const struct span *spans, size_t n, uint64_t from, uint64_t to)
{
	while (n--)
		if (spans[n].began < to && spans[n].ended >= from)
			return &spans[n];
	return NULL;
}

/* ---- windows ---- */

void bsv_sliding_until(struct bsv_sliding *s, uint64_t began, uint64_t until)
{
	const struct bsv_slo_rule *rule = s->options.rule;
	uint64_t end = until > s->options.lag_ns ? (until - s->options.lag_ns) / s->step : 0, least;

	if (began == BSA_LIVE_UNKNOWN)
		return;
	if (s->first == UINT64_MAX)
		s->first = began / s->step + (began % s->step != 0);
	least = s->first + BSV_SLIDING_PARTS;
	/* after a time in which nothing was read: what is no longer kept is not judged */
	if (s->newest + BSV_SLIDING_PARTS + 1 > s->n_parts + least)
		least = s->newest + BSV_SLIDING_PARTS + 1 - s->n_parts;
	if (s->next < least)
		s->next = least;
	for (; s->next <= end; s->next++) {
		/* Judge the window that ends with the part before. */
		uint64_t first = s->next - BSV_SLIDING_PARTS;
		struct bsv_slo_counts c = { .figure = NAN };
		struct bsv_slo_may_be may_be = { .worst.n = 0 };
		struct bsv_slid slid = { .from = first * s->step, .to = s->next * s->step };
		const struct span *lost, *silence;

		for (uint64_t i = first; i < s->next; i++) {
			const struct part *p = &s->parts[i % s->n_parts];

			if (p->number != i)
				continue;
			bsv_slo_counts_add(&c, &p->counts);
			bsv_slo_counts_add(&may_be.worst, &p->may_be.worst);
			bsv_slo_counts_add(&may_be.best, &p->may_be.best);
		}
		lost = latest_in(s->lost, s->n_lost, slid.from, slid.to);
		silence = latest_in(s->silences, s->n_silences, slid.from, slid.to);
		if (rule->kind == BSV_SLO_EXECUTIONS)
			bsv_slo_judge_executions(&slid.result, rule, &c);
		else
			bsv_slo_judge_group(&slid.result, rule, &c, &may_be);
		if (!c.executions && !c.unsure && rule->kind != BSV_SLO_EXECUTIONS) {
			slid.result.outcome = BSV_CANNOT_TELL;
			snprintf(slid.result.why, sizeof(slid.result.why), "no execution is of that kind");
		}
		slid.lost = lost;
		slid.silent = !lost && silence && slid.result.outcome != BSV_FAIL;
		if (slid.lost || slid.silent) {
			slid.result.outcome = BSV_CANNOT_TELL;
			snprintf(slid.result.why, sizeof(slid.result.why), "%s", lost ? lost->why : silence->why);
		}
		s->options.judged(s->options.ctx, &slid);
	}
}

uint64_t bsv_sliding_too_late(const struct bsv_sliding *s)
{
	return s->too_late;
}

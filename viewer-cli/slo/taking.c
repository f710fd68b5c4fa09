/* taking.c -- what a rule counts of one execution. */
#include "slo/taking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/vector.h"
#include "stats/order.h"

/* Of the bits of a real, an integer in the order of reals; and back. */
static int64_t order_flip(int64_t bits)
{
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static double real_of_order(int64_t order)
{
	int64_t bits = order_flip(order);
	double real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

/* What the rule judges of an execution: ns, or of a share the order_flip of percents. BSA_NULL_INT: nothing. */
static int64_t value_of(const struct bsv_slo_rule *rule, const struct bsa_execution_row *x)
{
	int64_t e2e = bsv_latency_seen(x), overhead, bits;
	double share;

	if (rule->kind == BSV_SLO_TIME && rule->phase != BSV_OVERHEAD)
		return rule->phase == BSV_E2E ? e2e : bsv_phase_of(x, rule->phase);
	overhead = bsv_minus(e2e, bsv_minus(x->run_ns, x->redo_ns == BSA_NULL_INT ? 0 : x->redo_ns));
	if (rule->kind == BSV_SLO_TIME || overhead == BSA_NULL_INT)
		return overhead;
	if (!e2e)
		return BSA_NULL_INT;
	share = 100.0 * (double)overhead / (double)e2e;
	memcpy(&bits, &share, sizeof(bits));
	return order_flip(bits);
}

/* Set the figure: the nearest rank, as percentile() of SQL. */
int bsv_slo_set_figure(struct bsv_slo_counting *c, struct bsv_slo_values *values, struct bsa_err *err)
{
	const struct bsv_slo_rule *rule = c->rule;
	double rank = ceil(rule->percent / 100 * (double)values->n - 1e-9);
	size_t at = rank < 1 ? 0 : rank > (double)values->n ? values->n - 1 : (size_t)rank - 1;
	int64_t *scratch;

	if (!values->n)
		return 0;
	scratch = malloc(values->n * sizeof(*scratch));
	if (!scratch)
		return bsv_no_memory(err);
	bsv_sort(values->of, values->n, scratch);
	free(scratch);
	c->counts.figure = rule->kind == BSV_SLO_OVERHEAD ? real_of_order(values->of[at]) : (double)values->of[at];
	return 0;
}

static bool is_above(const struct bsv_slo_counting *c, int64_t value)
{
	/* Of one expression with both, the number would be a double, which has not all of 64 bits. */
	if (c->rule->kind == BSV_SLO_OVERHEAD)
		return real_of_order(value) > c->bound;
	return (long double)value > c->bound;
}

/*
 * Executions that are incomplete or were not answered are left out, and counted. no_client: seen from the service alone
 * and not above so far, because the client's part is missing. no_service: that side, which was not recorded, would show
 * the time. Of an execution whose beginning was not recorded a phase counts if the service was seen from reading the
 * request to the end of the run, and a latency if that part alone is above the bound; otherwise it is unknown. An
 * execution under way at the end of the recording, where that end is known, counts with its time so far, if that is
 * above the bound.
 */
bool bsv_slo_take_value(struct bsv_slo_counts *c, const struct bsv_slo_counting *of, struct bsv_slo_values *values,
                        const struct bsv_slo_seen *x)
{
	const struct bsv_slo_rule *rule = of->rule;
	bool latency = rule->kind == BSV_SLO_TIME && rule->phase == BSV_E2E;
	bool to_the_end = rule->kind == BSV_SLO_OVERHEAD || rule->phase == BSV_E2E || rule->phase == BSV_OVERHEAD;
	int64_t value = value_of(rule, x->x);
	bool has = value != BSA_NULL_INT, complete = x->x->complete;
	bool in_part = to_the_end && (x->service || (x->head && !x->has_e2e));
	bool told = complete || (x->head && (x->seen_run || (to_the_end && x->has_e2e)));
	bool has_waited = x->waited != BSA_NULL_INT;
	bool long_open = has_waited ? rule->kind == BSV_SLO_TIME && x->waited > (long double)of->bound : x->head;
	bool so_far = latency && x->so_far != BSA_NULL_INT, still = so_far && x->so_far > (long double)of->bound;
	bool answered = told && x->answered, below, no_client;

	if (rule->kind == BSV_SLO_TIME && !bsv_phase_is_of(rule->phase, x->x->path)) {
		c->lacking++;
		return true;
	}
	below = has && !is_above(of, value);
	no_client = (answered && in_part && !x->head && below) || (complete && x->service && x->answered && !has);
	c->given_up += (complete || x->head) && x->ended && !x->answered;
	c->no_service += complete && x->client && (!x->ended || (x->answered && !has));
	c->no_client += no_client;
	c->unknown += x->lost || (x->open && long_open && !still) ||
	              (x->head && (x->ended ? x->answered && !told : long_open)) ||
	              (x->head && answered && (!has || (in_part && below)));
	if (answered && x->head && in_part && below)
		has = false;
	if (!answered || !has) { /* its time so far, if that is above the bound */
		has = still;
		value = x->so_far;
	}
	if (!has)
		return true;
	c->n += !no_client;
	c->over += is_above(of, value);
	if (!values)
		return true;
	if (!bsv_array_grow(&values->of, values->n, sizeof(*values->of)))
		return false;
	values->of[values->n++] = value;
	return true;
}

void bsv_slo_take_deadline(struct bsv_slo_counts *c, const struct bsv_slo_seen *s, int64_t ended)
{
	const struct bsa_execution_row *x = s->x;
	bool had = x->deadline != BSA_NULL_INT, open = had && !x->miss, fenced = bsv_is(x->path, "fenced");
	bool unsure = open && (s->lost || (s->open && x->deadline < ended));
	bool untold = open && (s->head || bsv_is(x->quality, "complete")) && bsv_one_side(x);

	c->n += had - unsure - untold;
	c->over += x->miss != NULL;
	c->unknown += unsure;
	c->perhaps += (!had && x->miss) || bsv_deadline_unknown(x);
	c->no_client += untold && !fenced;
	c->no_service += untold && fenced;
}

/*
 * Known in full is, too, what the client gave up before it was answered, if the service ended it later, sent no result,
 * and nothing was lost since; what may have been given up, because its status is unknown, counts as neither.
 */
void bsv_slo_take_kept(struct bsv_slo_kept *kept, const struct bsv_slo_seen *s)
{
	const struct bsa_execution_row *x = s->x;
	bool lost_since = x->submitted == BSA_NULL_INT || s->lost_until >= x->submitted;
	bool may_be = bsv_is(x->quality, "tail") && bsv_is(x->sides, "both") && !lost_since && !s->answered &&
	              x->returned != BSA_NULL_INT && x->run_ended != BSA_NULL_INT && x->result_written == BSA_NULL_INT;

	kept->executions += x->complete || (may_be && s->ended);
	kept->lost_executions += s->lost && !may_be;
	kept->headless += s->head;
}

/*
 * counting.c -- reads the executions of an input once, and counts each for the rules that select it. The query has what
 * depends on no bound; each rule's own logic is below, so that another rule costs no other pass.
 */
#include "slo/counting.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/outcomes.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "base/vector.h"
#include "stats/order.h"

enum {
	RULES_MOST = 64,      /* rules of a pass */
	VALUES_MOST = 1 << 22 /* values that a pass keeps for percentiles, if it is of several rules */
};

/* Columns of reports/slo_executions.sql. */
enum {
	COMPLETE,
	HEAD,
	LOST,
	OPEN,
	ENDED,
	ANSWERED,
	SERVICE,
	CLIENT,
	HAS_E2E,
	SEEN,
	WAITED,
	SO_FAR,
	HAD_DEADLINE,
	MISSED,
	UNSURE,
	PERHAPS,
	UNTOLD,
	FENCED,
	GIVEN_UP,
	SELECTIONS
};

/* An execution, as far as all rules have the same view of it. */
struct seen {
	bool complete, head, lost, open, ended, answered, service, client, has_e2e, seen_run;
	bool has_waited, has_so_far;
	int64_t waited, so_far; /* ns */
};

/* What a rule needs while executions are read. */
struct tallied {
	struct bsv_slo_counting *of;
	size_t selection, value; /* columns; 0: all rows; no value */
	bool latency, to_the_end;
	int64_t *values; /* of the percentile; reals by order_flip */
	size_t n_values;
};

/* Texts that differ, a column each. */
struct columns {
	char *texts[RULES_MOST];
	size_t n;
};

/* The query of one pass. */
struct pass {
	const struct bsv_input *input;
	struct tallied rules[RULES_MOST];
	size_t n;
	struct columns selections, values; /* selections: without that of all executions, or of all rules */
};

/* ---- SQL ---- */

char *bsv_slo_selection_sql(const struct bsv_slo_selection *of)
{
	static const char *const names[] = { "app", "model", "path", "priority" };
	const char *const values[] = { of->app, of->model, of->path, of->priority };
	const char *start = of->cold < 0 ? "" : of->cold ? bsv_sql_slo_cold : bsv_sql_slo_warm;
	char *text =
		bsv_fill(bsv_sql_slo_selection, (const struct bsv_placeholder[]){ { "start", start }, { NULL, NULL } });

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		text = bsv_and_equal(text, names[i], values[i]);
	return text;
}

char *bsv_slo_value_sql(const struct bsv_slo_rule *rule, const char *e2e)
{
	const struct bsv_placeholder placeholders[] = { { "e2e", e2e }, { NULL, NULL } };

	if (rule->kind == BSV_SLO_OVERHEAD)
		return bsv_fill(bsv_sql_slo_overhead_percent, placeholders);
	if (rule->phase == BSV_OVERHEAD)
		return bsv_fill(bsv_sql_slo_overhead_ns, placeholders);
	return rule->phase == BSV_E2E ? bsv_text("%s", e2e) : bsv_text("%s_ns", bsv_phase_names[rule->phase]);
}

/* The executions that a rule about coverage selects, too: all but trial runs. */
static const struct bsv_slo_selection all = { .cold = -1 };

static const struct bsv_slo_selection *selection_of(const struct bsv_slo_rule *rule)
{
	return rule->kind == BSV_SLO_COVERAGE ? &all : &rule->of;
}

static bool has_value(const struct bsv_slo_rule *rule)
{
	return rule->kind == BSV_SLO_TIME || rule->kind == BSV_SLO_OVERHEAD;
}

static bool has_deadlines(const struct bsv_slo_rule *rule)
{
	return rule->kind == BSV_SLO_MISSES || rule->kind == BSV_SLO_STREAK;
}

/* The place of @text among @to, from 1; 0: no memory. Takes @text. */
static size_t column_place(struct columns *to, char *text)
{
	if (!text)
		return 0;
	for (size_t i = 0; i < to->n; i++)
		if (!strcmp(to->texts[i], text)) {
			free(text);
			return i + 1;
		}
	to->texts[to->n++] = text;
	return to->n;
}

/* Append "@between" and @more to @text. False: no memory. */
static bool text_append(char **text, const char *between, const char *more)
{
	bsv_scoped_text *before = *text;

	*text = before ? bsv_text("%s%s%s", before, between, more) : NULL;
	return *text;
}

/* All of @columns, each after a comma. Owned by the caller; NULL: no memory. */
static char *columns_text(const struct columns *columns)
{
	char *ret = bsv_text("%s", "");

	for (size_t i = 0; i < columns->n; i++)
		text_append(&ret, ",\n\t", columns->texts[i]);
	return ret;
}

/* Columns of executions that only some rules need, each after a comma. Owned by the caller; NULL: no memory. */
static char *more_columns(const struct pass *p)
{
	bool wanted[6] = { false }, phases[BSV_PHASES] = { false };
	static const char *const names[] = {
		"app", "model", "priority", "cold", bsv_sql_slo_deadline_columns, bsv_sql_slo_run_columns
	};
	char *ret = bsv_text("%s", "");

	for (size_t i = 0; i < p->n; i++) {
		const struct bsv_slo_rule *rule = p->rules[i].of->rule;
		const struct bsv_slo_selection *of = selection_of(rule);

		wanted[0] |= p->rules[i].selection && of->app;
		wanted[1] |= p->rules[i].selection && of->model;
		wanted[2] |= p->rules[i].selection && of->priority;
		wanted[3] |= p->rules[i].selection && of->cold >= 0;
		wanted[4] |= has_deadlines(rule);
		wanted[5] |=
			rule->kind == BSV_SLO_OVERHEAD || (rule->kind == BSV_SLO_TIME && rule->phase == BSV_OVERHEAD);
		if (rule->kind == BSV_SLO_TIME && rule->phase != BSV_OVERHEAD && rule->phase != BSV_E2E)
			phases[rule->phase] = true;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (wanted[i])
			text_append(&ret, ", ", names[i]);
	for (int phase = 0; phase < BSV_PHASES; phase++)
		if (phases[phase] && !(phase == BSV_RUN && wanted[5])) {
			text_append(&ret, ", ", bsv_phase_names[phase]);
			text_append(&ret, "_ns", "");
		}
	return ret;
}

/* The SQL of a pass. Owned by the caller; NULL: no memory. */
static char *pass_sql(const struct pass *p)
{
	bsv_scoped_text *columns = more_columns(p), *selections = columns_text(&p->selections),
			*values = columns_text(&p->values), *outcome = bsv_outcome_unknown(p->input), *deadlines = NULL,
			*where = bsv_slo_selection_sql(
				p->n && !p->rules[0].selection ? selection_of(p->rules[0].of->rule) : &all);
	char ended[24];
	bool about_deadlines = false, about_coverage = false, about_latency = false, alike = true;

	snprintf(ended, sizeof(ended), "%" PRId64, p->input->over_by);
	for (size_t i = 0; i < p->n; i++) {
		const struct bsv_slo_rule *rule = p->rules[i].of->rule;

		about_deadlines |= has_deadlines(rule);
		about_coverage |= rule->kind == BSV_SLO_COVERAGE;
		about_latency |= p->rules[i].latency;
		alike &= !p->rules[i].selection;
	}
	if (!alike) { /* what one of them selects, another one may not */
		free(where);
		where = bsv_slo_selection_sql(&all);
	}
	if (!columns || !selections || !values || !outcome || !where)
		return NULL;
	deadlines =
		about_deadlines
			? bsv_fill(bsv_sql_slo_deadlines,
	                           (const struct bsv_placeholder[]){ { "ended", ended },
	                                                             { "deadline_unknown", bsv_sql_deadline_unknown },
	                                                             { "outcome_unknown", outcome },
	                                                             { NULL, NULL } })
			: bsv_text("%s", bsv_sql_slo_no_deadlines);
	if (!deadlines)
		return NULL;
	return bsv_fill(bsv_sql_slo_executions,
	                (const struct bsv_placeholder[]){ { "with", p->input->with },
	                                                  { "ended", ended },
	                                                  { "so_far", about_latency ? bsv_sql_slo_so_far : "NULL" },
	                                                  { "deadlines", deadlines },
	                                                  { "given_up", about_coverage ? bsv_sql_slo_given_up : "0" },
	                                                  { "selections", selections },
	                                                  { "values", values },
	                                                  { "columns", columns },
	                                                  { "selection", where },
	                                                  { NULL, NULL } });
}

static void pass_fini(struct pass *p)
{
	struct columns *of[] = { &p->selections, &p->values };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < of[k]->n; i++)
			free(of[k]->texts[i]);
	for (size_t i = 0; i < p->n; i++)
		free(p->rules[i].values);
}

/* Plan the pass for the rules of @of. */
static int pass_plan(struct pass *p, const struct bsv_input *input, struct bsv_slo_counting *of, size_t n,
                     struct bsa_err *err)
{
	bsv_scoped_text *everything = bsv_slo_selection_sql(&all);
	bool alike = true;

	p->input = input;
	for (; p->n < n; p->n++) {
		struct tallied *t = &p->rules[p->n];
		const struct bsv_slo_rule *rule = of[p->n].rule;
		bool in_full = rule->kind == BSV_SLO_OVERHEAD || rule->phase == BSV_E2E || rule->phase == BSV_OVERHEAD;

		*t = (struct tallied){ .of = &of[p->n],
			               .latency = rule->kind == BSV_SLO_TIME && rule->phase == BSV_E2E,
			               .to_the_end = in_full };
		of[p->n].counts = (struct bsv_slo_counts){ .figure = NAN };
		of[p->n].kept = (struct bsv_slo_kept){ .events = 0 };
		t->selection = column_place(&p->selections, bsv_slo_selection_sql(selection_of(rule)));
		if (has_value(rule)) {
			bsv_scoped_text *value = bsv_slo_value_sql(rule, "e2e_ns"),
					*least = bsv_slo_value_sql(rule, bsv_sql_slo_seen_ns);

			if (value && least)
				t->value = column_place(&p->values,
				                        bsv_fill(bsv_sql_slo_value,
				                                 (const struct bsv_placeholder[]){ { "least", least },
				                                                                   { "value", value },
				                                                                   { NULL, NULL } }));
		}
		if (!everything || !t->selection || (has_value(rule) && !t->value))
			return bsv_no_memory(err);
		alike &= t->selection == 1;
	}

	/* Rules that select the same need no column for it: the pass reads nothing else. */
	for (size_t i = 0; i < n; i++) {
		struct tallied *t = &p->rules[i];

		if (alike || !strcmp(p->selections.texts[t->selection - 1], everything))
			t->selection = 0;
	}
	if (alike && p->selections.n)
		free(p->selections.texts[--p->selections.n]);
	for (size_t i = 0; i < n; i++) {
		struct tallied *t = &p->rules[i];

		t->selection += t->selection ? SELECTIONS - 1 : 0;
		t->value += t->value ? SELECTIONS - 1 + p->selections.n : 0;
	}
	return 0;
}

/* ---- percentiles ---- */

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

/* Set the figure: the nearest rank, as percentile() of SQL. */
static int figure_set(struct tallied *t, struct bsa_err *err)
{
	const struct bsv_slo_rule *rule = t->of->rule;
	double rank = ceil(rule->percent / 100 * (double)t->n_values - 1e-9);
	size_t at = rank < 1 ? 0 : rank > (double)t->n_values ? t->n_values - 1 : (size_t)rank - 1;
	int64_t *scratch;

	if (!t->n_values)
		return 0;
	scratch = malloc(t->n_values * sizeof(*scratch));
	if (!scratch)
		return bsv_no_memory(err);
	bsv_sort(t->values, t->n_values, scratch);
	free(scratch);
	t->of->counts.figure = rule->kind == BSV_SLO_OVERHEAD ? real_of_order(t->values[at]) : (double)t->values[at];
	return 0;
}

static bool is_above(const struct tallied *t, int64_t value)
{
	long double is = t->of->rule->kind == BSV_SLO_OVERHEAD ? real_of_order(value) : value;

	return is > t->of->bound;
}

/*
 * Executions that are incomplete or were not answered are left out, and counted. no_client: seen from the service alone
 * and not above so far, because the client's part is missing. no_service: that side, which was not recorded, would show
 * the time. Of an execution whose beginning was not recorded a phase counts if the service was seen from reading the
 * request to the end of the run, and a latency if that part alone is above the bound; otherwise it is unknown. An
 * execution under way at the end of the recording, where that end is known, counts with its time so far, if that is
 * above the bound.
 */
static bool percentile_take(struct tallied *t, const struct seen *x, const struct bsa_query *q)
{
	struct bsv_slo_counts *c = &t->of->counts;
	bool real = t->of->rule->kind == BSV_SLO_OVERHEAD, has = bsa_query_type(q, t->value) != BSA_NULL;
	double share = has && real ? bsa_query_get_real(q, t->value) : 0;
	int64_t value = has && !real ? bsa_query_get_int(q, t->value) : 0;
	bool in_part = t->to_the_end && (x->service || (x->head && !x->has_e2e));
	bool told = x->complete || (x->head && (x->seen_run || (t->to_the_end && x->has_e2e)));
	bool long_open =
		x->has_waited ? t->of->rule->kind == BSV_SLO_TIME && x->waited > (long double)t->of->bound : x->head;
	bool so_far = t->latency && x->has_so_far, still = so_far && x->so_far > (long double)t->of->bound;
	bool answered = told && x->answered, below, no_client;

	if (has && real) {
		memcpy(&value, &share, sizeof(value));
		value = order_flip(value);
	}
	below = has && !is_above(t, value);
	no_client = (answered && in_part && !x->head && below) || (x->complete && x->service && x->answered && !has);
	c->given_up += (x->complete || x->head) && x->ended && !x->answered;
	c->no_service += x->complete && x->client && (!x->ended || (x->answered && !has));
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
	c->over += is_above(t, value);
	if (!bsv_array_grow(&t->values, t->n_values, sizeof(*t->values)))
		return false;
	t->values[t->n_values++] = value;
	return true;
}

/* ---- counts ---- */

static void misses_take(struct bsv_slo_counting *of, const struct bsa_query *q)
{
	struct bsv_slo_counts *c = &of->counts;
	bool unsure = bsa_query_get_int(q, UNSURE), untold = bsa_query_get_int(q, UNTOLD);
	bool fenced = bsa_query_get_int(q, FENCED);

	c->n += bsa_query_get_int(q, HAD_DEADLINE) - unsure - untold;
	c->over += bsa_query_get_int(q, MISSED);
	c->unknown += unsure;
	c->perhaps += bsa_query_get_int(q, PERHAPS);
	c->no_client += untold && !fenced;
	c->no_service += untold && fenced;
}

/* Count the execution that @q is at. False: no memory. */
static bool row_take(struct pass *p, const struct bsa_query *q)
{
	const struct seen x = { .complete = bsa_query_get_int(q, COMPLETE),
		                .head = bsa_query_get_int(q, HEAD),
		                .lost = bsa_query_get_int(q, LOST),
		                .open = bsa_query_get_int(q, OPEN),
		                .ended = bsa_query_get_int(q, ENDED),
		                .answered = bsa_query_get_int(q, ANSWERED),
		                .service = bsa_query_get_int(q, SERVICE),
		                .client = bsa_query_get_int(q, CLIENT),
		                .has_e2e = bsa_query_get_int(q, HAS_E2E),
		                .seen_run = bsa_query_get_int(q, SEEN),
		                .has_waited = bsa_query_type(q, WAITED) != BSA_NULL,
		                .has_so_far = bsa_query_type(q, SO_FAR) != BSA_NULL,
		                .waited = bsa_query_get_int(q, WAITED),
		                .so_far = bsa_query_get_int(q, SO_FAR) };

	for (size_t i = 0; i < p->n; i++) {
		struct tallied *t = &p->rules[i];

		if (t->selection && !bsa_query_get_int(q, t->selection))
			continue;
		t->of->counts.executions++;
		if (has_deadlines(t->of->rule))
			misses_take(t->of, q);
		else if (t->of->rule->kind == BSV_SLO_COVERAGE) {
			/* Known in full is, too, what was given up; what may have been counts as neither. */
			bool given_up = bsa_query_get_int(q, GIVEN_UP),
			     may_be = bsa_query_type(q, GIVEN_UP) == BSA_NULL;

			t->of->kept.executions += x.complete || given_up;
			t->of->kept.lost_executions += x.lost && !given_up && !may_be;
			t->of->kept.headless += x.head;
		} else if (t->value && !percentile_take(t, &x, q))
			return false;
	}
	return true;
}

static int pass_run(struct bsv_slo_counting *of, size_t n, const struct bsv_input *input, struct bsa_err *err)
{
	__attribute__((cleanup(pass_fini))) struct pass pass = { .n = 0 };
	bsv_scoped_query *q = NULL;
	bsv_scoped_text *sql = NULL;
	int r = pass_plan(&pass, input, of, n, err);

	if (r < 0)
		return r;
	sql = pass_sql(&pass);
	r = sql ? bsa_query_new(&q, input->db, sql, err) : bsv_no_memory(err);
	while (r >= 0 && (r = bsa_query_step(q, err)) > 0)
		if (!row_take(&pass, q))
			return bsv_no_memory(err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = figure_set(&pass.rules[i], err);
	return r;
}

bool bsv_slo_is_counted(const struct bsv_slo_rule *rule)
{
	return has_value(rule) || has_deadlines(rule) || rule->kind == BSV_SLO_COVERAGE ||
	       rule->kind == BSV_SLO_EXECUTIONS;
}

int bsv_slo_count(struct bsv_slo_counting *of, size_t n, const struct bsv_input *input, struct bsa_err *err)
{
	int64_t together = VALUES_MOST / (input->executions > 0 ? input->executions : 1);
	size_t most = together < 1 ? 1 : together < RULES_MOST ? (size_t)together : RULES_MOST;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i += most)
		r = pass_run(of + i, n - i < most ? n - i : most, input, err);
	return r;
}

char *bsv_slo_count_sql(const struct bsv_slo_rule *rule, const struct bsv_input *input)
{
	__attribute__((cleanup(pass_fini))) struct pass pass = { .n = 0 };
	struct bsv_slo_counting of = { .rule = rule };

	return pass_plan(&pass, input, &of, 1, NULL) < 0 ? NULL : pass_sql(&pass);
}

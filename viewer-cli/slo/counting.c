/*
 * counting.c -- reads the executions of an input once, and counts each for the rules that select it. Another rule costs
 * no other pass.
 */
#include "slo/counting.h"

#include <math.h>
#include <stdlib.h>

#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"
#include "slo/taking.h"

enum {
	RULES_MOST = 64,      /* rules of a pass */
	VALUES_MOST = 1 << 22 /* values that a pass keeps for percentiles, if it is of several rules */
};

/* The ids of apps or models, in their order. */
struct ids {
	int64_t *of;
	size_t n;
};

/* Those that have a name, and those whose name is unknown. */
struct named {
	struct ids are, may_be;
};

enum selected { NO, UNSURE, YES };

/* What a rule needs while executions are read. */
struct tallied {
	struct bsv_slo_counting *of;
	struct named apps, models; /* those that it selects by name */
	struct bsv_slo_values values;
};

/* A trace: the end of its recording and of its last loss; BSA_NULL_INT: unknown, or none. */
struct traced {
	int64_t id, recorded_until, lost_until;
};

struct pass {
	const struct bsv_input *input;
	struct tallied rules[RULES_MOST];
	size_t n;
	struct traced *traces; /* by id */
	size_t n_traces;
};

/* ---- what a rule selects ---- */

static bool has_value(const struct bsv_slo_rule *rule)
{
	return rule->kind == BSV_SLO_TIME || rule->kind == BSV_SLO_OVERHEAD;
}

static bool has_deadlines(const struct bsv_slo_rule *rule)
{
	return rule->kind == BSV_SLO_MISSES || rule->kind == BSV_SLO_STREAK;
}

/* Read the ids of the apps or models (@what) with the name @name; NULL: none is asked for. */
static int named_read(struct named *ret, const struct bsv_input *input, const char *what, const char *unnamed,
                      const char *name, struct bsa_err *err)
{
	bsv_scoped_text *sql = NULL;
	bsv_scoped_query *q = NULL;
	int r = 0;

	if (!name)
		return 0;
	sql = bsv_fill(bsv_sql_slo_ids, (const struct bsv_placeholder[]){ { "relations", input->with },
	                                                                  { "what", what },
	                                                                  { "unnamed", unnamed },
	                                                                  { NULL, NULL } });
	r = sql ? bsa_query_new(&q, input->db, sql, err) : bsv_no_memory(err);
	if (r >= 0)
		bsa_query_string(q, ":name", name);
	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		struct ids *ids = bsa_query_get_int(q, 1) ? &ret->may_be : &ret->are;

		if (!bsv_array_grow(&ids->of, ids->n, sizeof(*ids->of)))
			return bsv_no_memory(err);
		ids->of[ids->n++] = bsa_query_get_int(q, 0);
	}
	return r;
}

static int int_order(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static bool ids_have(const struct ids *ids, int64_t id)
{
	return ids->n && bsearch(&id, ids->of, ids->n, sizeof(id), int_order);
}

static enum selected selected_by_name(const char *wanted, const struct named *named, int64_t id)
{
	if (!wanted || ids_have(&named->are, id))
		return YES;
	return id == BSA_NULL_INT || ids_have(&named->may_be, id) ? UNSURE : NO;
}

static enum selected selected_by_text(const char *wanted, const char *text)
{
	if (!wanted || bsv_is(text, wanted))
		return YES;
	return text ? NO : UNSURE;
}

static enum selected selected_by_cold(int wanted, const struct bsa_execution_row *x)
{
	if (wanted < 0 || x->cold == wanted)
		return YES;
	return x->cold != BSA_NULL_INT || (x->path && !bsv_is(x->path, "burst")) ? NO : UNSURE;
}

/* Does the rule select @x? As the condition may_select of SQL. */
static enum selected rule_selects(const struct tallied *t, const struct bsa_execution_row *x)
{
	const struct bsv_slo_selection *of = &t->of->rule->of;
	enum selected by[] = { selected_by_name(of->app, &t->apps, x->app_id),
		               selected_by_name(of->model, &t->models, x->model_id),
		               selected_by_text(of->path, x->path), selected_by_text(of->priority, x->priority),
		               selected_by_cold(of->cold, x) };
	enum selected all = YES;

	if (t->of->rule->kind == BSV_SLO_COVERAGE)
		return YES;
	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++)
		all = by[i] < all ? by[i] : all;
	return all;
}

/* ---- a pass ---- */

static void named_fini(struct named *n)
{
	free(n->are.of);
	free(n->may_be.of);
}

static void pass_fini(struct pass *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->rules[i].values.of);
		named_fini(&p->rules[i].apps);
		named_fini(&p->rules[i].models);
	}
	free(p->traces);
}

static int pass_init(struct pass *p, const struct bsv_input *input, struct bsv_slo_counting *of, size_t n,
                     struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	int r = bsa_query_new(&q, input->db, bsv_sql_slo_traces, err);

	p->input = input;
	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		struct traced *t = bsv_array_add(&p->traces, &p->n_traces, sizeof(*t));

		if (!t)
			return bsv_no_memory(err);
		t->id = bsa_query_get_int(q, 0);
		if (!bsa_query_read_int(&t->recorded_until, q, 1))
			t->recorded_until = BSA_NULL_INT;
		if (!bsa_query_read_int(&t->lost_until, q, 2))
			t->lost_until = BSA_NULL_INT;
	}
	while (r >= 0 && p->n < n) {
		const struct bsv_slo_rule *rule = of[p->n].rule;
		struct tallied *t = &p->rules[p->n];

		*t = (struct tallied){ .of = &of[p->n++] };
		t->of->counts = (struct bsv_slo_counts){ .figure = NAN };
		t->of->may_be = (struct bsv_slo_may_be){ .worst.n = 0 };
		t->of->kept = (struct bsv_slo_kept){ .events = 0 };
		r = named_read(&t->apps, input, "app", bsv_sql_slo_unnamed_apps, rule->of.app, err);
		if (r >= 0)
			r = named_read(&t->models, input, "model", bsv_sql_slo_unnamed_models, rule->of.model, err);
	}
	return r;
}

/* ---- executions ---- */

/* Count the execution @s for one rule. @over_by: the recording was over by then. False: no memory. */
static bool rule_take(struct tallied *t, const struct bsv_slo_seen *s, bool may_be_trial, int64_t over_by)
{
	struct bsv_slo_counting *of = t->of;
	enum selected is = rule_selects(t, s->x);
	struct bsv_slo_counts one = { .executions = is == YES, .unsure = is == UNSURE };
	bool has_memory = true;

	if (is == NO)
		return true;
	if (of->rule->kind == BSV_SLO_EXECUTIONS && may_be_trial) {
		of->counts.trials++;
		return true;
	}
	if (has_deadlines(of->rule))
		bsv_slo_take_deadline(&one, s, over_by);
	else if (of->rule->kind == BSV_SLO_COVERAGE)
		bsv_slo_take_kept(&of->kept, s);
	else if (has_value(of->rule))
		has_memory = bsv_slo_take_value(&one, of, is == YES ? &t->values : NULL, s);
	if (is == YES) {
		bsv_slo_counts_add(&of->counts, &one);
	} else if (!one.lacking) {
		of->counts.unsure++;
		bsv_slo_may_be_add(&of->may_be, &one);
	}
	return has_memory;
}

/* Count the execution @x. False: no memory. */
static bool row_take(struct pass *p, const struct bsa_execution_row *x)
{
	int64_t first = x->submitted != BSA_NULL_INT      ? x->submitted
	                : x->request_read != BSA_NULL_INT ? x->request_read
	                                                  : x->enqueued;
	struct bsv_slo_seen s = { .x = x,
		                  .head = bsv_is(x->quality, "head"),
		                  .lost = bsv_lost_in_part(x),
		                  .open = bsv_is(x->quality, "open"),
		                  .ended = x->status,
		                  .answered = bsv_is(x->status, "NONE"),
		                  .service = bsv_is(x->sides, "service"),
		                  .client = bsv_is(x->sides, "client"),
		                  .has_e2e = x->e2e_ns != BSA_NULL_INT,
		                  .seen_run = x->request_read != BSA_NULL_INT && x->run_ended != BSA_NULL_INT,
		                  .waited = bsv_minus(p->input->over_by, first),
		                  .so_far = BSA_NULL_INT };
	bool may_be_trial = bsv_may_be_trial(x);
	const struct traced *trace =
		p->n_traces ? bsearch(&x->trace_id, p->traces, p->n_traces, sizeof(*p->traces), int_order) : NULL;

	s.lost_until = trace ? trace->lost_until : BSA_NULL_INT;

	/* The time so far of one that is under way at the end of its recording, where that end is known. */
	if (s.open && trace && (bsv_is(x->path, "fenced") ? x->signalled : x->returned) == BSA_NULL_INT)
		s.so_far = bsv_minus(trace->recorded_until, x->submitted);

	for (size_t i = 0; i < p->n; i++)
		if (!rule_take(&p->rules[i], &s, may_be_trial, p->input->over_by))
			return false;
	return true;
}

static int pass_run(struct bsv_slo_counting *of, size_t n, const struct bsv_input *input, struct bsa_err *err)
{
	__attribute__((cleanup(pass_fini))) struct pass pass = { .n = 0 };
	struct bsa_executions *from = NULL;
	struct bsa_execution_row x;
	int r = pass_init(&pass, input, of, n, err);

	if (r >= 0)
		r = bsv_input_executions(&from, input, false, err);
	while (r >= 0 && (r = bsa_executions_step(from, &x, err)) > 0)
		if (!bsv_is(x.path, "prepare") && !row_take(&pass, &x))
			r = bsv_no_memory(err);
	bsa_executions_free(from);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = bsv_slo_set_figure(&of[i], &pass.rules[i].values, err);
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

/* measure.c -- has the executions counted, asks SQL for what hides others, and passes the counts to the judge. */
#include "slo/measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/outcomes.h"
#include "audit/verdicts.h"
#include "base/letters.h"
#include "base/nearest.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "slo/counting.h"
#include "stats/order.h"

enum { WANTED_MOST = 100 }; /* bytes of a name in a sentence */

#define NOTHING INT64_MIN
#define FOREVER 0x1p62 /* ns: longer than any execution takes */

/* ---- SQL ---- */

/* A condition such as "app = 'camera' AND cold". The caller owns it; NULL: no memory. */
static char *selection_sql(const struct bsv_slo_selection *of)
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

/* @all, and that the @what of an execution has the name @name; NULL where its name is unknown. Takes @all. */
static char *and_of(char *all, const char *what, const char *unnamed, const char *name)
{
	bsv_scoped_text *before = NULL, *quoted = NULL, *more = NULL;

	if (!all || !name)
		return all;
	before = all;
	quoted = bsv_quoted(name);
	more = quoted ? bsv_fill(bsv_sql_slo_is_of, (const struct bsv_placeholder[]){ { "what", what },
	                                                                              { "unnamed", unnamed },
	                                                                              { "value", quoted },
	                                                                              { NULL, NULL } })
	              : NULL;
	return more ? bsv_text("%s%s", before, more) : NULL;
}

/* As selection_sql, but NULL of an execution of which what the rule selects by is unknown. */
static char *may_select_sql(const struct bsv_slo_selection *of)
{
	const char *start = of->cold < 0 ? "" : of->cold ? bsv_sql_slo_is_cold : bsv_sql_slo_is_warm;
	char *text =
		bsv_fill(bsv_sql_slo_selection, (const struct bsv_placeholder[]){ { "start", start }, { NULL, NULL } });

	text = and_of(text, "app", bsv_sql_slo_unnamed_apps, of->app);
	text = and_of(text, "model", bsv_sql_slo_unnamed_models, of->model);
	text = bsv_and_equal(text, "path", of->path);
	return bsv_and_equal(text, "priority", of->priority);
}

/*
 * The executions whose streams may have others that the rule selects, though no event of these was recorded. A
 * stream is of one app and one path, and a burst's of one model; any other execution of a stream may be of any model.
 */
static char *hides_sql(const struct bsv_slo_selection *of)
{
	bsv_scoped_text *streams = may_select_sql(&(struct bsv_slo_selection){ of->app, NULL, of->path, NULL, -1 });
	bsv_scoped_text *bursts =
		may_select_sql(&(struct bsv_slo_selection){ NULL, of->model, NULL, of->priority, -1 });

	if (!streams || !bursts)
		return NULL;
	return bsv_fill(bsv_sql_slo_hides, (const struct bsv_placeholder[]){
						   { "streams", streams }, { "bursts", bursts }, { NULL, NULL } });
}

/*
 * The SQL expression of the value whose percentile @rule asks for, where @e2e is the latency. The
 * caller owns it; NULL: no memory.
 */
static char *value_sql(const struct bsv_slo_rule *rule, const char *e2e)
{
	const struct bsv_placeholder placeholders[] = { { "e2e", e2e }, { NULL, NULL } };

	if (rule->kind == BSV_SLO_OVERHEAD)
		return bsv_fill(bsv_sql_slo_overhead_percent, placeholders);
	if (rule->phase == BSV_OVERHEAD)
		return bsv_fill(bsv_sql_slo_overhead_ns, placeholders);
	return rule->phase == BSV_E2E ? bsv_text("%s", e2e) : bsv_text("%s_ns", bsv_phase_names[rule->phase]);
}

/* @template, filled with the parts of @rule. @bound: ns or percent. The caller owns the text; NULL: no memory. */
static char *template_fill(const char *template, const struct bsv_slo_rule *rule, const struct bsv_input *input,
                           double bound)
{
	bsv_scoped_text *selection = selection_sql(&rule->of), *may_select = may_select_sql(&rule->of),
			*hides = hides_sql(&rule->of), *outcome = bsv_outcome_unknown(input),
			*value = value_sql(rule, "e2e_ns"), *least = value_sql(rule, bsv_sql_slo_seen_ns);
	bool timed = rule->kind == BSV_SLO_TIME;
	const char *has_phase = timed && !bsv_phase_is_of(rule->phase, "burst")    ? bsv_sql_slo_has_fence
	                        : timed && !bsv_phase_is_of(rule->phase, "fenced") ? bsv_sql_slo_has_answer
	                                                                           : bsv_sql_slo_has_all;
	bool to_the_end = rule->kind == BSV_SLO_OVERHEAD || rule->phase == BSV_E2E || rule->phase == BSV_OVERHEAD;
	char percent[32], limit[32], began[32], ended[32], from[32], to[32], open[32] = "9223372036854775807";
	const struct bsv_placeholder placeholders[] = {
		{ "with", input->with },
		{ "value", value },
		{ "least", least },
		{ "percent", percent },
		{ "bound", limit },
		{ "began", began },
		{ "ended", ended },
		{ "from", from },
		{ "to", to },
		{ "open", open },
		{ "selection", selection },
		{ "may_select", may_select },
		{ "hides", hides },
		{ "may_be_trial", bsv_sql_may_be_trial },
		{ "outcome_unknown", outcome },
		{ "deadline_unknown", bsv_sql_deadline_unknown },
		{ "to_the_end", to_the_end ? "1" : "0" },
		{ "has_phase", has_phase },
		{ "latency", rule->kind == BSV_SLO_TIME && rule->phase == BSV_E2E ? "1" : "0" },
		{ NULL, NULL }
	};

	if (!selection || !may_select || !hides || !outcome || !value || !least)
		return NULL;
	snprintf(percent, sizeof(percent), "%.17g", rule->percent);
	snprintf(limit, sizeof(limit), "%.17g", bound);
	snprintf(began, sizeof(began), "%" PRId64, input->began);
	snprintf(ended, sizeof(ended), "%" PRId64, input->over_by);
	/* the smallest number cannot be written as a literal of SQL */
	snprintf(from, sizeof(from), "%" PRId64, input->from == INT64_MIN ? -INT64_MAX : input->from);
	snprintf(to, sizeof(to), "%" PRId64, input->to);
	if (rule->kind == BSV_SLO_TIME)
		snprintf(open, sizeof(open), "%.17g", bound);
	return bsv_fill(template, placeholders);
}

/* The limit of a rule of which a baseline has the counts @then. */
static double bound_of(const struct bsv_slo_rule *rule, const struct bsv_slo_counts *then)
{
	if (!rule->baseline)
		return rule->bound;
	return then->n ? rule->times * then->figure + rule->bound : FOREVER;
}

int bsv_slo_sql(char **ret, const struct bsv_slo_rule *rule, struct bsv_input *input, struct bsv_input *baseline,
                struct bsa_err *err)
{
	static const char *const templates[] = {
		[BSV_SLO_TIME] = bsv_sql_slo_percentile,       [BSV_SLO_OVERHEAD] = bsv_sql_slo_percentile,
		[BSV_SLO_EXECUTIONS] = bsv_sql_slo_executions, [BSV_SLO_MISSES] = bsv_sql_slo_misses,
		[BSV_SLO_STREAK] = bsv_sql_slo_streaks,        [BSV_SLO_COVERAGE] = bsv_sql_slo_coverage,
	};
	struct bsv_slo_counting base = { .rule = rule, .bound = FOREVER };
	int r = rule->baseline ? bsv_slo_count(&base, 1, baseline, err) : 0;

	if (r < 0)
		return r;
	*ret = bsv_slo_is_counted(rule)
	               ? template_fill(templates[rule->kind], rule, input, bound_of(rule, &base.counts))
	               : strdup("");
	return *ret ? 0 : bsv_no_memory(err);
}

/* Run @template, and step to its first row. The caller owns *ret. */
static int first_row(struct bsv_rows **ret, const char *template, const struct bsv_slo_rule *rule,
                     struct bsv_input *input, double bound, struct bsa_err *err)
{
	bsv_scoped_text *sql = template_fill(template, rule, input, bound);
	int r;

	if (!sql)
		return bsv_no_memory(err);
	r = bsv_rows_query(ret, input->db, sql, err);
	if (r >= 0)
		r = bsv_rows_step(*ret, err);
	return r;
}

/* ---- counts ---- */

/*
 * Set the bounds of executions that losses hide entirely. Each lost at least one event, so the
 * number of lost events is a bound, where it is known. The numbers in streams and of services give
 * a lower one; but an execution of a stream that nothing was recorded of is in no stream's
 * sequence.
 */
static int read_vanished(struct bsv_slo_counts *c, const struct bsv_slo_rule *rule, struct bsv_input *input,
                         struct bsa_err *err)
{
	const struct bsv_coverage *lost = &input->coverage;
	bsv_scoped_rows *rows = NULL;
	int64_t most, holes, sum;
	int r;

	if (!lost->losses && !lost->lost_events && !lost->lost_packets)
		return 0;
	r = first_row(&rows, bsv_sql_slo_vanished, rule, input, 0, err);
	if (r < 0)
		return r;
	holes = bsv_rows_get(rows, 0, 0);
	c->open_ended = bsv_rows_get(rows, 1, 0);
	most = bsv_rows_get(rows, 2, 0) > 0 ? -1 : bsv_rows_get(rows, 3, 0);
	c->strangers = bsv_rows_get(rows, 4, -1);
	if (c->strangers < 0 || (most >= 0 && c->strangers > most))
		c->strangers = most;
	c->vanished = most;
	/* of an execution whose stream is unknown, the stream's numbers are, too */
	if (most >= 0 && !c->open_ended && !bsv_rows_get(rows, 5, 1) &&
	    !__builtin_add_overflow(holes, c->strangers, &sum) && sum < most)
		c->vanished = sum;
	return 0;
}

/* An input that several rules are measured in. */
struct measured {
	struct bsv_input *input;
	bool asked; /* whether longest is known */
	/* ns that an execution may be under way at the end of the recording without any event; NOTHING: none may be */
	int64_t longest;
};

/* Add to the counts of @of what losses and the end of the recording hide. */
static int read_unseen(struct bsv_slo_counting *of, struct measured *in, struct bsa_err *err)
{
	const struct bsv_slo_rule *rule = of->rule;
	const struct bsv_slo_counts *c = &of->counts;
	bool due = rule->kind == BSV_SLO_MISSES || rule->kind == BSV_SLO_STREAK, any;
	bsv_scoped_rows *rows = NULL, *hidden = NULL;
	int r = read_vanished(&of->counts, rule, in->input, err);

	if (r >= 0 && !in->asked) {
		r = first_row(&rows, bsv_sql_slo_ends, rule, in->input, 0, err);
		in->longest = r > 0 ? bsv_rows_get(rows, 0, NOTHING) : NOTHING;
		in->asked = r >= 0;
	}
	/*
	 * Count the executions that may be under way and late: beyond the bound, or beyond a deadline. The query
	 * reads all executions again, so ask it only if some had a deadline, or if the bound is that short.
	 */
	if (due)
		any = in->longest != NOTHING && c->n + c->unknown + c->no_client + c->no_service + c->unsure > 0;
	else
		any = rule->kind == BSV_SLO_TIME && in->longest > (long double)of->bound;
	if (r < 0 || !any)
		return r;
	r = first_row(&hidden, bsv_sql_slo_hidden, rule, in->input, of->bound, err);
	if (r >= 0)
		of->counts.hidden = bsv_rows_get(hidden, due, 0);
	return r;
}

static int measure_streaks(struct bsv_slo_result *ret, const struct bsv_slo_counts *c, const struct bsv_slo_rule *rule,
                           struct bsv_input *input, struct bsa_err *err)
{
	struct bsv_slo_streaks ways[BSV_SLO_WAYS];
	bsv_scoped_rows *rows = NULL;
	int64_t stream = INT64_MIN, seq = 0;
	int r = bsv_slo_streaks_init(ways, rule) < 0 ? bsv_no_memory(err) : 0;

	if (r >= 0)
		r = first_row(&rows, bsv_sql_slo_streaks, rule, input, 0, err);
	for (; r > 0; r = bsv_rows_step(rows, err)) {
		int64_t at = bsv_rows_get(rows, 0, 0), now = bsv_rows_get(rows, 1, 0);
		uint64_t gap = at == stream && now > seq ? (uint64_t)now - (uint64_t)seq - 1 : 0;

		if (at != stream)
			bsv_slo_streaks_stream(ways);
		/* The sequence number shows that so many executions are missing before this one. */
		for (uint64_t i = 0; i < gap && i < rule->window; i++)
			bsv_slo_streaks_add(ways, BSV_SLO_UNKNOWN);
		bsv_slo_streaks_add(ways, (unsigned)bsv_rows_get(rows, 2, 0));
		stream = at;
		seq = now;
	}
	if (r >= 0)
		bsv_slo_judge_streaks(ret, rule, c, ways);
	bsv_slo_streaks_fini(ways);
	return r;
}

/* ---- against a baseline ---- */

struct sequence {
	int64_t *in_order, *sorted;
	size_t n;
};

static void sequence_fini(struct sequence *s)
{
	free(s->in_order);
	free(s->sorted);
}

static int read_sequence(struct sequence *ret, const struct bsv_slo_rule *rule, struct bsv_input *input, size_t most,
                         struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int64_t *scratch;
	int r;

	ret->in_order = malloc((most + 1) * sizeof(*ret->in_order));
	ret->sorted = malloc((most + 1) * sizeof(*ret->sorted));
	scratch = malloc((most + 1) * sizeof(*scratch));
	r = ret->in_order && ret->sorted && scratch ? first_row(&rows, bsv_sql_slo_sequence, rule, input, 0, err)
	                                            : bsv_no_memory(err);
	for (; r > 0 && ret->n < most; r = bsv_rows_step(rows, err))
		if (bsv_rows_cell(rows, 0).type != BSA_NULL)
			ret->in_order[ret->n++] = bsv_rows_get(rows, 0, 0);
	if (r >= 0 && ret->n) {
		memcpy(ret->sorted, ret->in_order, ret->n * sizeof(*ret->sorted));
		bsv_sort(ret->sorted, ret->n, scratch);
	}
	free(scratch);
	return r;
}

static struct bsv_sample sequence_sample(const struct sequence *s, double percent)
{
	return (struct bsv_sample){ s->sorted, s->n,
		                    bsv_sequence_effect(s->in_order, s->n, bsv_percentile(s->sorted, s->n, percent)) };
}

/* Only complete executions are compared: the others that were judged are unknown here. */
static void keep_sequence(struct bsv_slo_counts *c, const struct sequence *s)
{
	c->unknown += c->n - (int64_t)s->n;
	c->n = (int64_t)s->n;
}

/* @c and @base: what was counted in the input and in the baseline. */
static int measure_baseline(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, struct bsv_slo_counts c,
                            struct bsv_slo_counts base, struct bsv_input *input, struct bsv_input *baseline,
                            struct bsa_err *err)
{
	__attribute__((cleanup(sequence_fini))) struct sequence now = { NULL, NULL, 0 };
	__attribute__((cleanup(sequence_fini))) struct sequence then = { NULL, NULL, 0 };
	struct bsv_interval beyond = { 0, 0, 0 };
	double most = NAN;
	int r = read_sequence(&then, rule, baseline, (size_t)base.n, err);

	if (r >= 0)
		r = read_sequence(&now, rule, input, (size_t)c.n, err);
	if (r < 0)
		return r;
	keep_sequence(&base, &then);
	keep_sequence(&c, &now);
	if (now.n && then.n) {
		struct bsv_sample a = sequence_sample(&then, rule->percent), b = sequence_sample(&now, rule->percent);

		beyond = bsv_sequence_difference(&a, &b, rule->percent, rule->times);
		beyond.low -= rule->bound;
		beyond.value -= rule->bound;
		beyond.high -= rule->bound;
		most = rint(rule->times * base.figure + rule->bound);
	}
	bsv_slo_judge_baseline(ret, rule, &c, &base, beyond, most);
	return 0;
}

/* ---- audits ---- */

static int measure_audit(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, struct bsv_input *input,
                         struct bsa_err *err)
{
	enum bsv_audit audit = rule->kind == BSV_SLO_FAIRNESS     ? BSV_FAIRNESS
	                       : rule->kind == BSV_SLO_STARVATION ? BSV_STARVATION
	                                                          : BSV_PRIORITY;
	struct bsv_quantity bound = { rule->bounded, rule->bounded ? (int64_t)rule->bound : 0 };
	struct bsv_bounds bounds = { .honoured = rule->bound };
	struct bsv_judgement j;
	const struct bsv_verdict *v = NULL;
	int r;

	if (audit == BSV_FAIRNESS)
		bounds.lag = bound;
	else if (audit == BSV_STARVATION)
		bounds.threshold = bound;
	else if (rule->kind == BSV_SLO_HONOURED)
		bounds.honoured_given = true;
	else
		bounds.inversion = bound;
	*ret = (struct bsv_slo_result){ .outcome = BSV_CANNOT_TELL, .figure = NAN, .bound = NAN, .n = -1 };
	if (!input->executions) {
		snprintf(ret->why, sizeof(ret->why), "the recording contains no executions");
		return 0;
	}
	r = bsv_judge(&j, audit, input, &bounds, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < j.n; i++) {
		bool idle = v && v->outcome == BSV_PASS && !v->idle &&
		            j.rules[i].idle; /* where another rule judged something */
		bool other = idle || (rule->kind == BSV_SLO_INVERSION && strcmp(j.rules[i].name, "inversion_ns")) ||
		             (rule->kind == BSV_SLO_HONOURED && strcmp(j.rules[i].name, "honoured_percent"));

		if (!other && (!v || j.rules[i].outcome == BSV_FAIL || v->outcome == BSV_PASS))
			v = v && v->outcome == BSV_FAIL ? v : &j.rules[i];
	}
	*ret = (struct bsv_slo_result){ .outcome = v ? v->outcome : BSV_CANNOT_TELL,
		                        .idle = v && v->idle,
		                        .figure = v ? v->figure : NAN,
		                        .bound = v ? v->bound : NAN,
		                        .class = v ? v->class : NULL,
		                        .n = -1 };
	snprintf(ret->why, sizeof(ret->why), "%s", v && v->why ? v->why : "");
	return 0;
}

/* ---- rules that select no execution ---- */

/* If the recording has no @what named @wanted, explain that in @ret->why, with the nearest name. */
static int explain_missing_name(struct bsv_slo_result *ret, struct bsv_input *input, const char *what,
                                const char *wanted, struct bsa_err *err)
{
	bsv_scoped_text *sql = bsv_fill(
		bsv_sql_slo_names,
		(const struct bsv_placeholder[]){ { "relations", input->with }, { "what", what }, { NULL, NULL } });
	bsv_scoped_rows *rows = NULL;
	char near[64] = "";
	bool there = false;
	int r = sql ? bsv_rows_query(&rows, input->db, sql, err) : bsv_no_memory(err);

	while (r >= 0 && !there && (r = bsv_rows_step(rows, err)) > 0) {
		const char *name = bsv_rows_cell(rows, 0).text;

		there = name && !strcmp(name, wanted);
		if (name && !*near && strlen(name) < sizeof(near) && bsv_nearest(wanted, &name, 1, sizeof(name)))
			strcpy(near, name);
	}
	if (r >= 0 && !there)
		snprintf(ret->why, sizeof(ret->why), "there is no %s '%.*s'%s%s%s", what, bsv_cut(wanted, WANTED_MOST),
		         wanted, *near ? "; did you mean '" : "", near, *near ? "'?" : "");
	return r;
}

/* The rule selects no execution. */
static int explain_selection(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, struct bsv_input *input,
                             struct bsa_err *err)
{
	int r = 0;

	ret->outcome = BSV_CANNOT_TELL;
	snprintf(ret->why, sizeof(ret->why), "the recording has no such execution");
	if (rule->of.model)
		r = explain_missing_name(ret, input, "model", rule->of.model, err);
	if (r >= 0 && rule->of.app)
		r = explain_missing_name(ret, input, "app", rule->of.app, err);
	return r < 0 ? r : 0;
}

/* ---- all rules together ---- */

/* Judge a rule of which @of, and of a baseline @base, has the counts. */
static int measure_counted(struct bsv_slo_result *ret, struct bsv_slo_counting *of, struct bsv_slo_counting *base,
                           struct measured *in, struct measured *baseline, struct bsa_err *err)
{
	const struct bsv_slo_rule *rule = of->rule;
	const struct bsv_coverage *c = &in->input->coverage;
	bool of_deadlines = rule->kind == BSV_SLO_MISSES || rule->kind == BSV_SLO_STREAK;
	bool of_runs = rule->kind == BSV_SLO_OVERHEAD ||
	               (rule->kind == BSV_SLO_TIME &&
	                (rule->phase == BSV_RUN || rule->phase == BSV_PREEMPTED || rule->phase == BSV_OVERHEAD));
	unsigned subjects = BSV_OF_CALLS | (of_deadlines ? BSV_OF_DEADLINES : 0) |
	                    (rule->of.cold >= 0 ? BSV_OF_STARTS : 0) | (of_runs ? BSV_OF_RUNS : 0);
	char lacks[BSV_LACKS_TEXT];
	int r = rule->kind == BSV_SLO_COVERAGE ? 0 : read_unseen(of, in, err);

	if (r >= 0 && rule->baseline)
		r = read_unseen(base, baseline, err);
	if (r < 0)
		return r;
	if (rule->kind != BSV_SLO_COVERAGE && bsv_coverage_lacks(c, subjects, lacks)) {
		*ret = (struct bsv_slo_result){
			.outcome = BSV_CANNOT_TELL, .figure = NAN, .bound = rule->bound, .n = -1
		};
		snprintf(ret->why, sizeof(ret->why), "%s", lacks);
		return 0;
	}
	switch (rule->kind) {
	case BSV_SLO_COVERAGE:
		of->kept.events = c->events;
		of->kept.lost_events = c->lost_events;
		of->kept.lost_known = !c->lost_packets && (!c->losses || c->lost_events);
		bsv_slo_judge_coverage(ret, rule, &of->kept);
		return 0;
	case BSV_SLO_EXECUTIONS:
		bsv_slo_judge_executions(ret, rule, &of->counts);
		return 0;
	case BSV_SLO_STREAK:
		r = measure_streaks(ret, &of->counts, rule, in->input, err);
		break;
	default:
		if (rule->baseline)
			return measure_baseline(ret, rule, of->counts, base->counts, in->input, baseline->input, err);
		bsv_slo_judge_group(ret, rule, &of->counts, &of->may_be);
	}
	return r < 0 || of->counts.executions || of->counts.unsure ? r : explain_selection(ret, rule, in->input, err);
}

/* Count for the @n rules of @of, and for those of them with a baseline, in their order, into @base. */
static int count_all(struct bsv_slo_counting *of, struct bsv_slo_counting *base, size_t n, struct bsv_input *input,
                     struct bsv_input *baseline, struct bsa_err *err)
{
	size_t n_base = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		if (of[i].rule->baseline)
			base[n_base++] = (struct bsv_slo_counting){ .rule = of[i].rule, .bound = FOREVER };
	if (n_base)
		r = bsv_slo_count(base, n_base, baseline, err);
	n_base = 0;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct bsv_slo_rule *rule = of[i].rule;
		const struct bsv_slo_counts *then = rule->baseline ? &base[n_base++].counts : NULL;

		of[i].bound = bound_of(rule, then);
	}
	return r < 0 ? r : bsv_slo_count(of, n, input, err);
}

int bsv_slo_measure(struct bsv_slo_result *ret, const struct bsv_slo_rule *rules, size_t n, struct bsv_input *input,
                    struct bsv_input *baseline, struct bsa_err *err)
{
	struct bsv_slo_counting *of = calloc(2 * n + 1, sizeof(*of)), *base = of + n;
	struct measured in = { .input = input }, then = { .input = baseline };
	size_t n_of = 0, at = 0;
	int r = of ? 0 : bsv_no_memory(err);

	for (size_t i = 0; r >= 0 && i < n; i++)
		if (bsv_slo_is_counted(&rules[i]))
			of[n_of++].rule = &rules[i];
	if (r >= 0 && n_of)
		r = count_all(of, base, n_of, input, baseline, err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		if (bsv_slo_is_counted(&rules[i])) {
			r = measure_counted(&ret[i], &of[at++], base, &in, &then, err);
			base += rules[i].baseline;
		} else {
			r = measure_audit(&ret[i], &rules[i], input, err);
		}
		if (r < 0)
			bsa_wrap(err, r, "line %u", rules[i].line);
	}
	free(of);
	return r < 0 ? r : 0;
}

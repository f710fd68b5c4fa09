/* judge.c -- reads the facts for verdicts by SQL, and passes them to the rules of verdicts.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/hidden.h"
#include "audit/judge.h"
#include "audit/kept.h"
#include "audit/sharing.h"
#include "audit/verdicts.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "input/execution.h"
#include "input/fill.h"

/* The columns bsv_sql_sight, or bsv_sql_sight_of_lags, of a query of facts, from column @i on. */
static struct bsv_sight sight_read(const struct bsv_rows *rows, size_t i)
{
	return (struct bsv_sight){ .service = bsv_rows_get(rows, i, 0),
		                   .losses = bsv_rows_get(rows, i + 1, 0),
		                   .native = bsv_rows_get(rows, i + 2, 0),
		                   .hole_ns = bsv_rows_get(rows, i + 3, 0),
		                   .wait_ns = bsv_rows_get(rows, i + 4, 0),
		                   .lane_ns = bsv_rows_get(rows, i + 5, 0),
		                   .nothing = !bsv_rows_get(rows, i + 6, 0),
		                   .strange_ns = bsv_rows_get(rows, i + 7, 0),
		                   .partly = bsv_rows_get(rows, i + 8, 0) };
}

/* ---- fairness: each service by itself ---- */

enum { FAIRNESS_PLACEHOLDERS = 11 };

/* The events of one service: of the only one in the recording (all), or of one among several. */
struct one_service {
	bool all;
	int64_t trace, instance;
	char *apps, *services, *streams, *models, *executions, *preempted; /* SQL, see verdict_fairness.sql */
};

static void one_service_fini(struct one_service *s)
{
	free(s->apps);
	free(s->services);
	free(s->streams);
	free(s->models);
	free(s->executions);
	free(s->preempted);
}

static void one_service_fill(struct one_service *s)
{
	char trace[24], instance[24];
	const struct bsv_placeholder placeholders[] = { { "trace", trace }, { "instance", instance }, { NULL, NULL } };

	if (s->all) {
		*s = (struct one_service){ true,
			                   .apps = strdup(bsv_sql_service_any_app),
			                   .services = strdup("1"),
			                   .streams = strdup("1"),
			                   .models = strdup("1"),
			                   .executions = strdup("1"),
			                   .preempted = strdup("") };
		return;
	}
	snprintf(trace, sizeof(trace), "%" PRId64, s->trace);
	snprintf(instance, sizeof(instance), "%" PRId64, s->instance);
	s->apps = bsv_fill(bsv_sql_service_apps, placeholders);
	s->services = bsv_fill(bsv_sql_service_itself, placeholders);
	s->streams = bsv_fill(bsv_sql_service_streams, placeholders);
	s->models = bsv_fill(bsv_sql_service_models, placeholders);
	s->executions = bsv_fill(bsv_sql_service_executions, placeholders);
	s->preempted = bsv_fill(bsv_sql_service_preempted,
	                        (const struct bsv_placeholder[]){ { "executions", s->executions ? s->executions : "0" },
	                                                          { NULL, NULL } });
}

int bsv_pauses_read(struct bsv_pauses *ret, const struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_input_row(&rows, input, bsv_sql_pauses, NULL, err);

	*ret = (struct bsv_pauses){ .paused_ns = 0 };
	if (r > 0)
		*ret = (struct bsv_pauses){ .paused_ns = bsv_rows_get(rows, 0, 0),
			                    .n_awaited = bsv_rows_get(rows, 1, 0),
			                    .awaited_ns = bsv_rows_get(rows, 2, 0) };
	return r < 0 ? r : 0;
}

static int judge_service(struct bsv_judgement *ret, struct one_service *of, const struct bsv_input *input,
                         const struct bsv_bounds *bounds, struct bsa_err *err)
{
	const struct bsv_placeholder placeholders[FAIRNESS_PLACEHOLDERS] = {
		{ "lags", bsv_input_is_timed(input) ? bsv_sql_lags_asked : bsv_sql_lags_whole },
		{ "windows", bsv_input_is_timed(input) ? "1" : "0" },
		{ "sight", bsv_input_is_timed(input) ? bsv_sql_sight : bsv_sql_sight_of_lags },
		{ "apps", of->apps },
		{ "services", of->services },
		{ "streams", of->streams },
		{ "models", of->models },
		{ "executions", of->executions },
		{ "preempted", of->preempted },
		{ "unseen_stops", bsv_sql_unseen_stops },
		{ NULL, NULL }
	};
	bsv_scoped_rows *rows = NULL;
	struct bsv_pauses pauses;
	int r = bsv_pauses_read(&pauses, input, err);

	if (r >= 0)
		r = bsv_hidden_make(input, err);
	if (r >= 0)
		r = bsv_input_row(&rows, input, bsv_sql_verdict_fairness, placeholders, err);
	if (r <= 0)
		return r;
	bsv_rule_fairness(ret,
	                  &(struct bsv_fairness_facts){ .apps = bsv_rows_get(rows, 0, 0),
	                                                .most_apps = bsv_rows_get(rows, 1, 0),
	                                                .lanes = bsv_rows_get(rows, 2, 1),
	                                                .max_lag_ns = bsv_rows_get(rows, 3, 0),
	                                                .most_lag_ns = bsv_rows_get(rows, 4, 0),
	                                                .app = bsv_rows_cell(rows, 5).text,
	                                                .stretch_ns = bsv_rows_get(rows, 6, -1),
	                                                .most_stretch = bsv_rows_get(rows, 7, -1),
	                                                .begun = bsv_rows_get(rows, 8, 0),
	                                                .stranger_ns = bsv_rows_get(rows, 9, 0),
	                                                .no_rules = bsv_rows_get(rows, 10, 0),
	                                                .others = bsv_rows_get(rows, 11, 0),
	                                                .paused_ns = pauses.paused_ns,
	                                                .sight = sight_read(rows, 12) },
	                  bounds);
	return 0;
}

/*
 * Does verdict @a matter more than @b? A failure matters more than "cannot tell", and that more
 * than a pass; among equals a verdict with a limit, and then the one nearer to its limit.
 */
static bool verdict_outweighs(const struct bsv_verdict *a, const struct bsv_verdict *b)
{
	static const int weight[] = { [BSV_PASS] = 0, [BSV_CANNOT_TELL] = 1, [BSV_FAIL] = 2 };

	if (weight[a->outcome] != weight[b->outcome])
		return weight[a->outcome] > weight[b->outcome];
	if (a->bound != a->bound || b->bound != b->bound)
		return b->bound != b->bound && a->bound == a->bound;
	return a->figure / a->bound > b->figure / b->bound;
}

static int judge_lag(struct bsv_judgement *ret, const struct bsv_input *input, const struct bsv_bounds *bounds,
                     struct bsa_err *err)
{
	bsv_scoped_rows *services = NULL;
	int64_t n = 0;
	int r = bsv_rows_query(&services, input->db, bsv_sql_services, err);

	while (r >= 0 && (r = bsv_rows_step(services, err)) > 0 && bsv_rows_get(services, 2, 0) > 1) {
		__attribute__((cleanup(one_service_fini))) struct one_service of = {
			.trace = bsv_rows_get(services, 0, 0), .instance = bsv_rows_get(services, 1, 0)
		};
		struct bsv_judgement each = { 0 };

		one_service_fill(&of);
		r = judge_service(&each, &of, input, bounds, err);
		if (r < 0)
			return r;
		if (each.n && (!n++ || verdict_outweighs(&each.rules[0], &ret->rules[0])))
			bsv_judgement_take(ret, &each, of.instance);
	}
	if (r >= 0 && !n) {
		__attribute__((cleanup(one_service_fini))) struct one_service all = { .all = true };

		one_service_fill(&all);
		r = judge_service(ret, &all, input, bounds, err);
	}
	return r < 0 ? r : 0;
}

char *bsv_starvation_episodes(const struct bsv_input *input, const struct bsv_quantity *threshold)
{
	const char *only = input->picks ? bsv_sql_starved_picked : "";
	char ns[24];
	const struct bsv_placeholder longer[] = { { "threshold", ns },
		                                  { "on_lanes", bsv_sql_starved_on_lanes },
		                                  { NULL, NULL } };
	const struct bsv_placeholder stored[] = { { "only", only },
		                                  { "on_lanes", bsv_sql_starved_on_lanes },
		                                  { NULL, NULL } };

	if (!threshold->given)
		return bsv_fill(bsv_sql_starved, stored);
	snprintf(ns, sizeof(ns), "%" PRId64, threshold->value);
	return bsv_fill(bsv_sql_starved_longer, longer);
}

/*
 * When no execution held the lane, and when that is unknown, in the longest wait: that of execution
 * @id, from @began on.
 */
static int read_unheld(struct bsv_rows **ret, const struct bsv_input *input, int64_t id, int64_t began, int64_t gap_ns,
                       struct bsa_err *err)
{
	char id_text[24], from[24], to[24];
	int64_t ended;

	if (__builtin_add_overflow(began, gap_ns, &ended))
		ended = INT64_MAX;
	snprintf(id_text, sizeof(id_text), "%" PRId64, id);
	snprintf(from, sizeof(from), "%" PRId64, began);
	snprintf(to, sizeof(to), "%" PRId64, ended);
	return bsv_input_row(ret, input, bsv_sql_verdict_starvation_unheld,
	                     (const struct bsv_placeholder[]){
				     { "id", id_text }, { "wait_began", from }, { "wait_ended", to }, { NULL, NULL } },
	                     err);
}

int bsv_starved_by(struct bsv_starved_by *ret, struct bsv_input *input, const char *app, const char *model,
                   const char *culprit, struct bsa_err *err)
{
	const struct bsv_quantity threshold = { .given = false };
	bsv_scoped_text *episodes = bsv_starvation_episodes(input, &threshold);
	bsv_scoped_text *name = app ? bsv_quoted(app) : strdup("NULL"),
			*of = model ? bsv_quoted(model) : strdup("NULL"),
			*by = culprit ? bsv_quoted(culprit) : strdup("NULL");
	const struct bsv_placeholder placeholders[] = {
		{ "episodes", episodes }, { "app", name }, { "model", of }, { "culprit", by }, { NULL, NULL }
	};
	bsv_scoped_rows *rows = NULL, *stopped = NULL;
	int r;

	*ret = (struct bsv_starved_by){ .idle_ns = 0 };
	if (!episodes || !name || !of || !by)
		return bsv_no_memory(err);
	r = bsv_input_row(&stopped, input, bsv_sql_starvation_stopped, placeholders, err);
	if (r < 0)
		return r;
	ret->stopped_ns = bsv_rows_get(stopped, 0, 0);
	ret->most_ns = bsv_rows_get(stopped, 1, 0);
	ret->held_ns = bsv_rows_get(stopped, 2, 0);
	for (r = bsv_input_row(&rows, input, bsv_sql_starvation_longest, placeholders, err); r > 0;
	     r = bsv_rows_step(rows, err)) {
		bsv_scoped_rows *unheld = NULL;

		r = read_unheld(&unheld, input, bsv_rows_get(rows, 0, 0), bsv_rows_get(rows, 1, 0),
		                bsv_rows_get(rows, 2, 0), err);
		if (r < 0)
			return r;
		if (!ret->all_ns)
			ret->longest_at = bsv_rows_get(rows, 3, 0);
		ret->idle_ns += bsv_rows_get(unheld, 0, 0);
		ret->unknown_ns += bsv_rows_get(unheld, 1, 0);
		ret->unrun_ns += bsv_rows_get(unheld, 2, 0);
		ret->silent_ns += bsv_rows_get(unheld, 3, 0);
		ret->paused_ns += bsv_rows_get(unheld, 4, 0);
		ret->asleep_ns += bsv_rows_get(unheld, 5, 0);
		ret->unread_ns += bsv_rows_get(unheld, 6, 0);
		ret->computed_ns += bsv_rows_get(unheld, 7, 0) ? bsv_rows_get(rows, 2, 0) : 0;
		ret->all_ns += bsv_rows_get(rows, 2, 0);
	}
	return r;
}

/*
 * The import's own threshold depends on the usual run of a model, which is certain only where every
 * run was recorded.
 */
static int judge_starvation(struct bsv_judgement *ret, const struct bsv_input *input, const struct bsv_bounds *bounds,
                            struct bsa_err *err)
{
	/* the tables count episodes by the runs that were recorded, and so by this one */
	struct bsv_quantity threshold = bounds ? bounds->threshold : (struct bsv_quantity){ .given = false };
	bool sure = threshold.given || !input->coverage.losses;
	struct bsv_quantity certain_threshold = sure ? threshold : (struct bsv_quantity){ true, BSV_STARVED_NS };
	bsv_scoped_text *episodes = bsv_starvation_episodes(input, &certain_threshold);
	bsv_scoped_text *recorded = bsv_starvation_episodes(input, &threshold);
	const struct bsv_placeholder *placeholders;
	bsv_scoped_rows *rows = NULL, *unheld = NULL;
	bsv_scoped_text *victim = NULL;
	int r;

	placeholders = (const struct bsv_placeholder[]){ { "episodes", episodes },
		                                         { "recorded", recorded },
		                                         { "sure", sure ? "1" : "0" },
		                                         { "sight", bsv_sql_sight },
		                                         { NULL, NULL } };
	r = bsv_hidden_make(input, err);
	if (r >= 0)
		r = bsv_input_row(&rows, input, bsv_sql_verdict_starvation, placeholders, err);
	if (r <= 0)
		return r;
	victim = bsv_full_name(bsv_rows_cell(rows, 4).text, bsv_rows_cell(rows, 5).text);
	if (bsv_rows_get(rows, 0, 0)) {
		r = read_unheld(&unheld, input, bsv_rows_get(rows, 8, 0), bsv_rows_get(rows, 9, 0),
		                bsv_rows_get(rows, 1, 0), err);
		if (r < 0)
			return r;
	}
	bsv_rule_starvation(ret,
	                    &(struct bsv_starvation_facts){ .episodes = bsv_rows_get(rows, 0, 0),
	                                                    .max_gap_ns = bsv_rows_get(rows, 1, 0),
	                                                    .unsure_ns = bsv_rows_get(rows, 2, 0),
	                                                    .native_ns = bsv_rows_get(rows, 3, 0),
	                                                    .victim = victim,
	                                                    .holder = bsv_rows_cell(rows, 6).text,
	                                                    .holder_ns = bsv_rows_get(rows, 7, 0),
	                                                    .idle_ns = unheld ? bsv_rows_get(unheld, 0, 0) : 0,
	                                                    .unknown_ns = unheld ? bsv_rows_get(unheld, 1, 0) : 0,
	                                                    .unrun_ns = unheld ? bsv_rows_get(unheld, 2, 0) : 0,
	                                                    .silent_ns = unheld ? bsv_rows_get(unheld, 3, 0) : 0,
	                                                    .silent_idle_ns = unheld ? bsv_rows_get(unheld, 8, 0) : 0,
	                                                    .recorded = bsv_rows_get(rows, 10, 0),
	                                                    .sight = sight_read(rows, 11) },
	                    bounds);
	return 0;
}

/* The work that apps had, as parts of a WITH. parts: owned; NULL: not read yet. */
struct work_sql {
	char *parts; /* referred and apps_with_more */
	bool mixed;  /* an app had, or may have had, work of several priorities */
};

static void work_sql_fini(struct work_sql *w)
{
	free(w->parts);
}

/*
 * SQLite compiles a part of a WITH again wherever another part names it. The verdict names these
 * parts a hundred times, and each scans executions; preparing it took 0.1 s. So this reads their
 * rows first, and the verdict is given the rows, unless there are many.
 */
static int read_work(struct work_sql *ret, const struct bsv_input *input, struct bsa_err *err)
{
	const struct bsv_placeholder placeholders[] = { { "work", bsv_sql_priority_work },
		                                        { "most", "32" },
		                                        { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	const char *referred, *with_more;
	int r = bsv_input_row(&rows, input, bsv_sql_priority_work_rows, placeholders, err);

	if (r < 0)
		return r;
	referred = bsv_rows_cell(rows, 1).text;
	with_more = bsv_rows_cell(rows, 2).text;
	ret->mixed = bsv_rows_get(rows, 0, 1) || with_more;
	if (bsv_rows_get(rows, 0, 1))
		ret->parts = strdup(bsv_sql_priority_work);
	else
		ret->parts = bsv_fill(
			bsv_sql_work_read,
			(const struct bsv_placeholder[]){ { "referred", referred ? referred : bsv_sql_work_none },
		                                          { "with_more", with_more ? with_more : bsv_sql_work_none },
		                                          { NULL, NULL } });
	return ret->parts ? 0 : bsv_no_memory(err);
}

/*
 * SQL, for a WITH: the times that the recording does not cover. Without work of several priorities
 * there was no inversion; choices may still be hidden.
 */
static char *unseen_parts(const struct bsv_input *input, const struct bsv_quantity *limit, bool may_be, bool mixed)
{
	bsv_scoped_text *limit_of_holder = NULL;

	if (!may_be)
		return strdup(bsv_sql_unseen_none);
	if (!mixed)
		return bsv_fill(bsv_sql_unseen_unmixed,
		                (const struct bsv_placeholder[]){ { "unseen_work", bsv_sql_priority_unseen_work },
		                                                  { NULL, NULL } });

	/* Inversions and choices that are not stored but may have happened. */
	if (limit->given)
		limit_of_holder = bsv_text("%" PRId64, limit->value);
	else
		limit_of_holder = bsv_fill(
			bsv_sql_limit_of_holder,
			(const struct bsv_placeholder[]){ { "off_core", bsv_sql_off_core_of_holder }, { NULL, NULL } });
	return bsv_input_fill(input, bsv_sql_verdict_priority_unseen,
	                      (const struct bsv_placeholder[]){
				      { "limit", limit_of_holder },
				      { "limit_least", limit->given ? limit_of_holder : bsv_sql_limit_least },
				      { "limit_floor", limit->given ? limit_of_holder : bsv_sql_limit_floor },
				      { "slack", limit->given ? "0" : BSV_SLACK_TEXT },
				      { "unseen_work", bsv_sql_priority_unseen_work },
				      { NULL, NULL } });
}

/* The answer of a query that asks yes or no, yes if it is NULL; negative: an error. */
static int query_is_true(const struct bsv_input *input, const char *sql, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_rows_query(&rows, input->db, sql, err);

	if (r >= 0)
		r = bsv_rows_step(rows, err);
	return r <= 0 ? r : bsv_rows_get(rows, 0, 1) != 0;
}

/* Columns of verdict_priority_inversions.sql. */
enum inversion_column {
	INVERSION_N,
	INVERSION_DUR,
	INVERSION_STRETCH,
	INVERSION_SURE,
	INVERSION_ON_PROBATION,
	INVERSION_VICTIM,
	INVERSION_HOLDER
};

/* The inversion furthest above its limit. Texts for SQL; "NULL": unknown. */
struct worst_inversion {
	char victim[24], holder[24];
};

/*
 * Sum up the inversions, rows of @q. @given: the user gave their limit. In C, because SQLite writes down rows that it
 * reads for several sums, and there may be hundreds of thousands.
 */
static int inversions_sum(struct bsv_priority_facts *f, struct worst_inversion *ret, struct bsa_query *q, bool given,
                          struct bsa_err *err)
{
	int64_t most = INT64_MIN;
	int r;

	*ret = (struct worst_inversion){ "NULL", "NULL" };
	while ((r = bsa_query_step(q, err)) > 0) {
		const int64_t n = bsa_query_get_int(q, INVERSION_N), dur = bsa_query_get_int(q, INVERSION_DUR);
		int64_t stretch = 0, excess, *longest, victim, holder;
		const bool has_stretch = bsa_query_read_int(&stretch, q, INVERSION_STRETCH);

		excess = bsv_minus(dur, stretch);
		if (bsa_query_get_int(q, INVERSION_ON_PROBATION)) {
			f->inversions_on_probation += n;
			if ((given || excess > BSV_SLACK_NS) && dur > f->on_probation_ns)
				f->on_probation_ns = dur;
			continue;
		}
		f->inversions += n;
		if (!bsa_query_get_int(q, INVERSION_SURE)) {
			longest = has_stretch ? &f->unsure_ns : &f->joined_ns;
			if ((!has_stretch || excess > BSV_SLACK_NS) && dur > *longest)
				*longest = dur;
			continue;
		}
		excess = given ? dur : excess;
		if (excess < most || (excess == most && dur <= f->dur_ns))
			continue;
		most = excess;
		f->dur_ns = dur;
		f->stretch_ns = stretch;
		*ret = (struct worst_inversion){ "NULL", "NULL" };
		if (bsa_query_read_int(&victim, q, INVERSION_VICTIM))
			snprintf(ret->victim, sizeof(ret->victim), "%" PRId64, victim);
		if (bsa_query_read_int(&holder, q, INVERSION_HOLDER))
			snprintf(ret->holder, sizeof(ret->holder), "%" PRId64, holder);
	}
	return r;
}

static int judge_priority(struct bsv_judgement *ret, const struct bsv_input *input, const struct bsv_bounds *bounds,
                          struct bsa_err *err)
{
	struct bsv_quantity limit = bounds ? bounds->inversion : (struct bsv_quantity){ .given = false };
	__attribute__((cleanup(work_sql_fini))) struct work_sql work = { 0 };
	bsv_scoped_text *inversions = NULL, *unseen = NULL, *victim = NULL;
	bsv_scoped_query *q = NULL;
	bsv_scoped_rows *rows = NULL;
	struct bsv_priority_facts facts = { 0 };
	struct worst_inversion worst;
	const char *stretches;
	int may_be, inverted, r;

	/*
	 * May an inversion, or a choice, be missing? Only where something was not recorded, where
	 * it is unknown which app had work, or where the import could not measure a model of an app
	 * that had work of several priorities.
	 */
	may_be = query_is_true(input, bsv_sql_priority_may_be_unseen, err);
	r = may_be < 0 ? may_be : bsv_hidden_make(input, err);
	if (r >= 0)
		r = read_work(&work, input, err);
	if (r < 0)
		return r;
	/* Only holders in inversions, and models of apps with work of several priorities, have limits. */
	inverted = work.mixed ? 1 : query_is_true(input, bsv_sql_priority_inverted, err);
	if (inverted < 0)
		return inverted;
	stretches = inverted ? bsv_sql_stretches : bsv_sql_stretches_none;
	inversions = bsv_input_fill(
		input, bsv_sql_verdict_priority_inversions,
		(const struct bsv_placeholder[]){ { "stretches", stretches },
	                                          { "unseen_stops", bsv_sql_unseen_stops },
	                                          { "probations", bsv_sql_probations },
	                                          { "inverted_on_probation", bsv_sql_inverted_on_probation },
	                                          { "lesser_on_probation", bsv_sql_lesser_on_probation },
	                                          { "off_core", bsv_sql_off_core_of_holder },
	                                          { "slack", BSV_SLACK_TEXT },
	                                          { "sure", limit.given ? "1" : "0" },
	                                          { NULL, NULL } });
	r = inversions ? bsa_query_new(&q, input->db, inversions, err) : bsv_no_memory(err);
	if (r >= 0)
		r = inversions_sum(&facts, &worst, q, limit.given, err);
	if (r < 0)
		return r;
	unseen = unseen_parts(input, &limit, may_be, work.mixed);
	r = bsv_input_row(&rows, input, bsv_sql_verdict_priority,
	                  (const struct bsv_placeholder[]){ { "work", work.parts },
	                                                    { "stretches", stretches },
	                                                    { "choices", bsv_sql_choices },
	                                                    { "unseen", unseen },
	                                                    { "victim", worst.victim },
	                                                    { "holder", worst.holder },
	                                                    { "sight", bsv_sql_sight },
	                                                    { NULL, NULL } },
	                  err);
	if (r <= 0)
		return r;
	victim = bsv_full_name(bsv_rows_cell(rows, 7).text, bsv_rows_cell(rows, 8).text);
	facts.least_ns = bsv_rows_get(rows, 0, 0);
	facts.hidden_ns = bsv_rows_get(rows, 1, 0);
	facts.choices = bsv_rows_get(rows, 2, 0);
	facts.honoured = bsv_rows_get(rows, 3, 0);
	facts.hidden_choices = bsv_rows_get(rows, 4, 0);
	facts.mixed = bsv_rows_get(rows, 5, 0);
	facts.may_be_mixed = bsv_rows_get(rows, 6, 0);
	facts.victim = victim;
	facts.holder = bsv_rows_cell(rows, 9).text;
	facts.strange_choices = bsv_rows_get(rows, 10, 0);
	facts.on_probation = bsv_rows_get(rows, 11, 0);
	facts.mostly_on_probation = bsv_rows_get(rows, 12, 0);
	facts.sight = sight_read(rows, 13);

	/*
	 * May there have been a choice, though none was recorded and none is hidden? A choice is
	 * reported only where it is known when the lane was free, so a loss can hide it even if all
	 * is known of the executions.
	 */
	facts.together = facts.sight.losses;
	if (facts.sight.losses && facts.mixed && !facts.choices && !facts.hidden_choices && !facts.strange_choices) {
		r = query_is_true(input, bsv_sql_priority_together, err);
		if (r < 0)
			return r;
		facts.together = r;
	}
	bsv_rule_priority(ret, &facts, bounds);
	return 0;
}

/* The sentences of a judgement are in it. */
static void judgement_copy(struct bsv_judgement *ret, const struct bsv_judgement *from)
{
	*ret = *from;
	for (size_t i = 0; i < ret->n; i++)
		if (ret->rules[i].why == from->why[i])
			ret->rules[i].why = ret->why[i];
}

int bsv_judge(struct bsv_judgement *ret, enum bsv_audit audit, struct bsv_input *input, const struct bsv_bounds *bounds,
              struct bsa_err *err)
{
	bool bounded = bounds && (bounds->lag.given || bounds->by_lag || bounds->threshold.given ||
	                          bounds->inversion.given || bounds->honoured_given);
	struct bsv_kept *kept = bounded ? NULL : input->kept;
	__attribute__((cleanup(bsv_sharing_fini))) struct bsv_sharing_facts sharing = { .n = 0 };
	bool by_lag = bounds && (bounds->lag.given || bounds->by_lag);
	int r = 0;

	if (kept && kept->is_judged[audit]) {
		judgement_copy(ret, &kept->judgements[audit]);
		return 0;
	}
	switch (audit) {
	case BSV_FAIRNESS:
		r = by_lag ? judge_lag(ret, input, bounds, err) : bsv_sharing_read(&sharing, input, err);
		if (r >= 0 && !by_lag)
			bsv_rule_sharing_paused(ret, &sharing);
		break;
	case BSV_STARVATION:
		r = judge_starvation(ret, input, bounds, err);
		break;
	case BSV_PRIORITY:
		r = judge_priority(ret, input, bounds, err);
		break;
	}
	if (r >= 0)
		bsv_rules_check(ret, audit, &input->coverage);
	if (r >= 0 && kept) {
		judgement_copy(&kept->judgements[audit], ret);
		kept->is_judged[audit] = true;
	}
	return r;
}

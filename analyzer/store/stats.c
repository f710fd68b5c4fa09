/*
 * stats.c -- selects percentiles of the groups that are shown together, and writes phase_stat,
 * overhead_cause, app_slowdown, what is typical, and starvation.
 */
#include "store/stats.h"

#include "fold/blame.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/select.h"

#include <stdlib.h>
#include <string.h>

enum {
	MEDIANS_STARVED = 10,
	PHASES_ONLY = (1 << BSA_PHASES) - 1, /* figures */
	SHOWN_AS_PHASES = PHASES_ONLY | 1 << FIGURE_E2E | 1 << FIGURE_OVERHEAD
};

/* A group, and the name of its model. */
struct named {
	const struct bsa_spill_group *group;
	char model[BSA_TEXT];
};

struct stats {
	struct bsa_store *s;
	struct bsa_selection *selection;
	struct named *groups;
	const struct bsa_spill_group **together; /* room for all */
	size_t n;
};

static void stats_fini(struct stats *t)
{
	bsa_selection_free(t->selection);
	free(t->groups);
	free(t->together);
}

/* Percentiles over t->together. */
static int read_percentiles(struct stats *t, size_t n, uint32_t figures, const unsigned *permille, unsigned n_ranks,
                            struct bsa_selected ret[FIGURES])
{
	struct bsa_store *s = t->s;

	if (s->stopped)
		return bsa_store_fail(s, BSA_E_STOPPED, "stopped");
	if (bsa_selection_run(t->selection, s->spill, t->together, n, figures, permille, n_ranks, ret))
		return bsa_store_fail(s, BSA_E_ENV, "cannot read a scratch file beside %s: %s", s->file.output,
		                      bsa_spill_error(s->spill));
	return s->code;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- phase_stat ---- */

enum { P50, P90, P95, P99, P999, RANKS };
static_assert((int)RANKS == (int)RANKS_MAX, "a rank is selected and not stored");

static int by_what_is_shown(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d;

	if ((d = compare_numbers(x->group->app, y->group->app)) || (d = strcmp(x->model, y->model)) ||
	    (d = compare_numbers(x->group->priority, y->group->priority)) ||
	    (d = compare_numbers(x->group->path, y->group->path)))
		return d;
	return x->group->cold - y->group->cold;
}

static bool path_has(uint8_t path, unsigned figure)
{
	switch (figure) {
	case BSA_FENCE:
	case BSA_SIGNAL:
		return path == BSA_PATH_FENCED;
	case BSA_REPLY:
	case BSA_RETURN:
	case BSA_FINISH:
		return path != BSA_PATH_FENCED;
	default:
		return true;
	}
}

static int64_t cold_of(const struct named *of)
{
	return of->group->cold < 0 ? NOTHING : of->group->cold;
}

static void insert_stat(struct stats *t, const struct named *of, unsigned figure, const struct bsa_selected *v)
{
	if (!v->n || (!v->max && !path_has(of->group->path, figure)))
		return;
	STATEMENT_ROW(t->s, phase_stat, .app_id = sql_id(of->group->app), .model = of->model,
	              .priority = sql_label(of->group->priority), .path = sql_label(of->group->path),
	              .cold = cold_of(of), .figure = figure, .n = sql_count(v->n), .sum_ns = sql_ns(v->sum),
	              .min_ns = sql_ns(v->min), .p50_ns = sql_ns(v->rank[P50]), .p90_ns = sql_ns(v->rank[P90]),
	              .p95_ns = sql_ns(v->rank[P95]), .p99_ns = sql_ns(v->rank[P99]), .p999_ns = sql_ns(v->rank[P999]),
	              .max_ns = sql_ns(v->max));
}

/* From @from on, those that are shown as one: in t->together. Returns the first that is not. */
static size_t count_together(struct stats *t, size_t from)
{
	size_t to = from;

	for (; to < t->n && by_what_is_shown(&t->groups[from], &t->groups[to]) == 0; to++)
		t->together[to - from] = t->groups[to].group;
	return to;
}

static int phase_stat(struct stats *t)
{
	static const unsigned permille[RANKS_MAX] = {
		[P50] = 500, [P90] = 900, [P95] = 950, [P99] = 990, [P999] = 999
	};
	struct bsa_selected v[FIGURES];

	qsort(t->groups, t->n, sizeof(*t->groups), by_what_is_shown);
	for (size_t from = 0, to; from < t->n && !t->s->code; from = to) {
		to = count_together(t, from);
		if (read_percentiles(t, to - from, SHOWN_AS_PHASES, permille, RANKS_MAX, v))
			break;
		insert_stat(t, &t->groups[from], FIGURE_E2E, &v[FIGURE_E2E]);
		insert_stat(t, &t->groups[from], FIGURE_OVERHEAD, &v[FIGURE_OVERHEAD]);
		for (unsigned f = 0; f < BSA_PHASES; f++)
			insert_stat(t, &t->groups[from], f, &v[f]);
	}
	return t->s->code;
}

/* ---- overhead_cause ---- */

/* Groups are sorted by what is shown. Values out of range are cut as in phase_stat. */
static int overhead_cause(struct stats *t)
{
	for (size_t from = 0, to; from < t->n && !t->s->code; from = to) {
		const struct named *of = &t->groups[from];
		unsigned __int128 left = (unsigned __int128)MOST;

		to = count_together(t, from);
		for (unsigned cause = 0; cause < BSA_CAUSES; cause++) {
			unsigned __int128 sum = 0;
			uint64_t n = 0;

			for (size_t i = 0; i < to - from; i++) {
				sum += t->together[i]->costs[cause].ns;
				n += t->together[i]->costs[cause].n;
			}
			if (!n)
				continue;
			sum = sum < left ? sum : left;
			left -= sum;
			STATEMENT_ROW(t->s, overhead, .app_id = sql_id(of->group->app), .model = of->model,
			              .priority = sql_label(of->group->priority), .path = sql_label(of->group->path),
			              .cold = cold_of(of), .cause = cause, .n = sql_count(n), .sum_ns = (int64_t)sum);
		}
	}
	return t->s->code;
}

/* ---- app_slowdown ---- */

static int by_app(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return compare_numbers(x->group->app, y->group->app);
}

static int write_slowdown(struct stats *t)
{
	static const unsigned permille[] = { 500, 990 };
	struct bsa_selected v[FIGURES];

	qsort(t->groups, t->n, sizeof(*t->groups), by_app);
	for (size_t from = 0, to; from < t->n && !t->s->code; from = to) {
		for (to = from; to < t->n && by_app(&t->groups[from], &t->groups[to]) == 0; to++)
			t->together[to - from] = t->groups[to].group;
		if (read_percentiles(t, to - from, 1U << FIGURE_SLOWDOWN, permille, 2, v))
			break;
		if (!v[FIGURE_SLOWDOWN].n)
			continue;
		STATEMENT_ROW(t->s, slowdown, .app_id = sql_id(t->groups[from].group->app),
		              .n = sql_count(v[FIGURE_SLOWDOWN].n), .p50 = sql_ns(v[FIGURE_SLOWDOWN].rank[0]),
		              .p99 = sql_ns(v[FIGURE_SLOWDOWN].rank[1]));
	}
	return t->s->code;
}

/* ---- typical ---- */

static int by_model_and_path(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d = compare_numbers(x->group->model, y->group->model);

	return d ? d : compare_numbers(x->group->path, y->group->path);
}

static uint64_t estimate_of(struct stats *t, uint32_t model)
{
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(t->s, "SELECT estimate_ns FROM stored_model WHERE id = ?");

	if (!q)
		return 0;
	sqlite3_bind_int64(q, 1, model);
	return bsa_store_step(t->s, q) ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
}

/*
 * The median run without redo of the groups from @from to before @to, those of warm executions if there are any: a wait
 * for a lane, or a preemption, does not make a run longer. Sets @ret_n to the number of runs; 0: none is known.
 */
static uint64_t typical_run(struct stats *t, size_t from, size_t to, uint64_t *ret_n)
{
	static const unsigned permille[] = { 500 };
	struct bsa_selected v[FIGURES];

	*ret_n = 0;
	for (int others = 0; others < 2 && !*ret_n; others++) {
		size_t n = 0;

		for (size_t i = from; i < to; i++) {
			const struct bsa_spill_group *g = t->groups[i].group;

			if (bsa_is_warm(g->path, g->cold) != others)
				t->together[n++] = g;
		}
		if (!n)
			continue;
		if (read_percentiles(t, n, 1U << FIGURE_OWN_RUN, permille, 1, v))
			return BSA_NEVER;
		*ret_n = v[FIGURE_OWN_RUN].n;
	}
	return *ret_n ? v[FIGURE_OWN_RUN].rank[0] : BSA_NEVER;
}

static int write_typical(struct stats *t)
{
	static const unsigned permille[] = { 500 };
	struct bsa_selected v[FIGURES];

	qsort(t->groups, t->n, sizeof(*t->groups), by_model_and_path);
	/* Model 0 is an unknown model, also one of an earlier import. */
	for (size_t from = 0, to; from < t->n && !t->s->code; from = to) {
		const struct bsa_spill_group *of = t->groups[from].group;
		uint64_t least[BSA_PHASES];
		size_t n_quiet = 0;
		uint64_t n = 0, runs, run = BSA_NEVER;

		memset(least, 0xff, sizeof(least)); /* BSA_NEVER */

		for (to = from; to < t->n && by_model_and_path(&t->groups[from], &t->groups[to]) == 0; to++) {
			const struct bsa_spill_group *g = t->groups[to].group;

			for (unsigned f = 0; f < BSA_PHASES; f++)
				least[f] = g->least[f] < least[f] ? g->least[f] : least[f];
			if (g->quiet) {
				t->together[n_quiet++] = g;
				n += g->n;
			}
		}
		if (n >= BSA_TYPICAL_MIN && read_percentiles(t, n_quiet, PHASES_ONLY, permille, 1, v))
			break;
		runs = n;
		if (n < BSA_TYPICAL_MIN) {
			run = typical_run(t, from, to, &runs);
			if (t->s->code)
				break;
			if (!runs)
				run = estimate_of(t, of->model);
		}
		for (unsigned f = 0; f < BSA_PHASES; f++) {
			uint64_t p50 = BSA_NEVER;

			/* Without enough executions to compare with, only the run is known. */
			if (n < BSA_TYPICAL_MIN && f == BSA_RUN && run)
				p50 = run;
			else if (n >= BSA_TYPICAL_MIN && v[f].n)
				p50 = v[f].rank[0];
			STATEMENT_ROW(t->s, typical, .model_id = of->model, .path = of->path, .phase = f,
			              .n = sql_count(n), .p50_ns = sql_ns(p50), .estimated = !runs,
			              .runs = sql_count(runs), .least_ns = sql_ns(least[f]));
		}
	}
	return t->s->code;
}

/* ---- starvation ---- */

/* Groups are sorted by model. */
static int write_starvation(struct stats *t)
{
	static const unsigned permille[] = { 500 };
	struct bsa_selected v[FIGURES];
	struct bsa_store *s = t->s;
	int64_t median;
	size_t n;
	cleanup_stmt sqlite3_stmt *models = bsa_store_prepare(
		s, "SELECT DISTINCT model_id FROM stored_starvation WHERE execution_id >= ? AND model_id IS NOT NULL");
	cleanup_stmt sqlite3_stmt *remove = bsa_store_prepare(
		s, "DELETE FROM stored_starvation WHERE model_id = ? AND execution_id >= ? AND gap_ns <= ?");

	if (!models || !remove)
		return s->code;
	sqlite3_bind_int64(models, 1, sql_id(s->first_execution));
	while (bsa_store_step(s, models)) {
		uint32_t model = (uint32_t)sqlite3_column_int64(models, 0);

		n = 0;
		for (size_t i = 0; i < t->n; i++)
			if (t->groups[i].group->model == model)
				t->together[n++] = t->groups[i].group;
		if (!n || read_percentiles(t, n, 1U << BSA_RUN, permille, 1, v) || !v[BSA_RUN].n)
			continue; /* the model has no complete execution whose run is known */
		median = sql_ns(v[BSA_RUN].rank[0]);
		if (median == NOTHING)
			continue;
		sqlite3_bind_int64(remove, 1, model);
		sqlite3_bind_int64(remove, 2, sql_id(s->first_execution));
		sqlite3_bind_int64(remove, 3, median > MOST / MEDIANS_STARVED ? MOST : MEDIANS_STARVED * median);
		bsa_store_do(s, remove);
	}
	return s->code;
}

int bsa_stats_run(struct bsa_store *s)
{
	__attribute__((cleanup(stats_fini))) struct stats t = { .s = s };
	cleanup_stmt sqlite3_stmt *q = NULL;
	const struct bsa_spill_group *groups;

	if (s->code)
		return s->code;
	q = bsa_store_prepare(s, "SELECT name FROM stored_model WHERE id = ?");
	groups = bsa_spill_groups(s->spill, &t.n);
	t.selection = bsa_selection_new();
	t.groups = calloc(t.n + 1, sizeof(*t.groups));
	t.together = calloc(t.n + 1, sizeof(*t.together));
	if (!t.selection || !t.groups || !t.together)
		return bsa_store_fail(s, BSA_E_ENV, "no memory");
	for (size_t i = 0; i < t.n && q; i++) {
		t.groups[i].group = &groups[i];
		sqlite3_bind_int64(q, 1, groups[i].model);
		if (bsa_store_step(s, q))
			strncpy(t.groups[i].model, (const char *)sqlite3_column_text(q, 0), BSA_TEXT - 1);
		sqlite3_reset(q);
	}
	if (s->code || phase_stat(&t) || overhead_cause(&t) || write_slowdown(&t) || write_typical(&t))
		return s->code;
	return write_starvation(&t);
}

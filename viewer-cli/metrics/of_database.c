/*
 * of_database.c -- reads the metrics of a database by SQL. It makes label sets in the order of
 * their size, so that the largest sets get a name of their own.
 */
#include "metrics/of_database.h"

#include <stdlib.h>
#include <string.h>

#include "audit/outcomes.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"

/*
 * Names for people, by id, in the order of ids. They are looked up here, not in SQL: there a name
 * costs a look at all apps for each row, and there may be 10^5 of both.
 */
struct names {
	int64_t *ids;
	char **names;
	size_t n;
};

struct filling {
	struct bsv_metrics *m;
	struct bsv_input *input;
	struct bsa_err *err;
	struct names apps, models;
};

static void names_fini(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	free(names->ids);
}

/* @relation: apps or models. */
static int names_read(const struct filling *f, struct names *ret, const char *relation)
{
	const struct bsv_placeholder placeholders[] = { { "relations", f->input->with },
		                                        { "relation", relation },
		                                        { NULL, NULL } };
	bsv_scoped_text *sql = bsv_fill(bsv_sql_names, placeholders);
	bsv_scoped_rows *rows = NULL;
	int r = sql ? bsv_rows_query(&rows, f->input->db, sql, f->err) : bsv_no_memory(f->err);

	while (r >= 0 && (r = bsv_rows_step(rows, f->err)) > 0) {
		const char *name = bsv_rows_cell(rows, 1).text;

		if (!bsv_array_grow(&ret->ids, ret->n, sizeof(*ret->ids)) ||
		    !bsv_array_grow(&ret->names, ret->n, sizeof(*ret->names)))
			return bsv_no_memory(f->err);
		ret->ids[ret->n] = bsv_rows_get(rows, 0, 0);
		ret->names[ret->n] = strdup(name ? name : "");
		if (!ret->names[ret->n++])
			return bsv_no_memory(f->err);
	}
	return r;
}

/* NULL: unknown. */
static const char *names_find(const struct names *names, struct bsv_cell id)
{
	size_t low = 0, high = names->n;

	if (id.type != BSA_INT)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->ids[middle] < id.integer)
			low = middle + 1;
		else
			high = middle;
	}
	return low < names->n && names->ids[low] == id.integer ? names->names[low] : NULL;
}

static const char *app_at(const struct filling *f, const struct bsv_rows *rows, size_t column)
{
	return names_find(&f->apps, bsv_rows_cell(rows, column));
}

static const char *model_at(const struct filling *f, const struct bsv_rows *rows, size_t column)
{
	return names_find(&f->models, bsv_rows_cell(rows, column));
}

/* A column of a row as text; NULL: unknown. Borrowed until the next step. */
static const char *text_at(const struct bsv_rows *rows, size_t column)
{
	struct bsv_cell c = bsv_rows_cell(rows, column);

	return c.type == BSA_STRING ? c.text : NULL;
}

static bool known(const struct bsv_rows *rows, size_t column, int64_t *ret)
{
	struct bsv_cell c = bsv_rows_cell(rows, column);

	if (c.type == BSA_NULL)
		return false;
	*ret = bsv_rows_get(rows, column, 0);
	return true;
}

typedef void takes_row(const struct filling *f, const struct bsv_rows *rows);

/* @unseen fills a placeholder of metrics_executions; NULL: another template. */
static int each_row(const struct filling *f, const char *template, const char *unseen, takes_row *take)
{
	const struct bsv_placeholder placeholders[] = { { "relations", f->input->with },
		                                        { "outcome_unknown", unseen },
		                                        { NULL, NULL } };
	bsv_scoped_text *sql = bsv_fill(template, placeholders);
	bsv_scoped_rows *rows = NULL;
	int r = sql ? bsv_rows_query(&rows, f->input->db, sql, f->err) : bsv_no_memory(f->err);

	while (r >= 0 && (r = bsv_rows_step(rows, f->err)) > 0)
		take(f, rows);
	return r;
}

/* ---- who there is: app, model, path, status ---- */

static void make_sets(const struct filling *f, const struct bsv_rows *rows)
{
	struct bsv_metrics *m = f->m;
	const char *values[] = { app_at(f, rows, 0), model_at(f, rows, 1), text_at(rows, 2), text_at(rows, 3) };

	bsv_metrics_set(m, BSV_METRIC_DURATION, values);
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_EXECUTIONS, values), bsv_rows_get(rows, 4, 0));
}

/* ---- executions ---- */

enum {
	X_APP,
	X_MODEL,
	X_PATH,
	X_FINE, /* complete, and answered with NONE */
	X_COMPLETE,
	X_DEADLINE,
	X_MISSED,
	X_UNSEEN,
	X_PREEMPTIONS,
	X_LOOKUPS,
	X_MISSES,
	X_E2E,
	X_PHASES
};

static const char *const phases[] = { "prepare",   "send",  "decode", "fence",  "slots",  "queue",   "run",
	                              "preempted", "reply", "return", "finish", "signal", "overhead" };

static void take_execution(const struct filling *f, const struct bsv_rows *rows)
{
	struct bsv_metrics *m = f->m;
	const char *who[] = { app_at(f, rows, X_APP), model_at(f, rows, X_MODEL), text_at(rows, X_PATH) };
	bool fine = bsv_rows_get(rows, X_FINE, 0);
	int64_t ns, lookups, misses, preemptions;

	if (fine && known(rows, X_E2E, &ns))
		bsv_metric_observe(bsv_metrics_set(m, BSV_METRIC_DURATION, who), ns);
	for (size_t i = 0; fine && i < sizeof(phases) / sizeof(*phases); i++)
		if (known(rows, X_PHASES + i, &ns))
			bsv_metric_observe(bsv_metrics_set(m, BSV_METRIC_PHASE, (const char *[]){ who[1], phases[i] }),
			                   ns);
	if (!bsv_rows_get(rows, X_COMPLETE, 0))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_INCOMPLETE, who), 1);
	if (bsv_rows_get(rows, X_DEADLINE, 0))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_DEADLINES, who), 1);
	if (bsv_rows_get(rows, X_DEADLINE, 0) || bsv_rows_get(rows, X_MISSED, 0))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_MISSED, who), bsv_rows_get(rows, X_MISSED, 0));
	if (bsv_rows_get(rows, X_UNSEEN, 0))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_OUTCOMES_UNKNOWN, who), 1);
	if (known(rows, X_PREEMPTIONS, &preemptions))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_PREEMPTIONS, who), preemptions);
	if (known(rows, X_LOOKUPS, &lookups) && known(rows, X_MISSES, &misses)) {
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_SLOT_LOOKUPS, who), lookups);
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_SLOT_MISSES, who), misses);
	}
}

static int fill_executions(const struct filling *f)
{
	bsv_scoped_text *unseen = bsv_outcome_unknown(f->input);
	int r = each_row(f, bsv_sql_metrics_sets, NULL, make_sets);

	if (r < 0)
		return r;
	if (!unseen)
		return bsv_no_memory(f->err);
	return each_row(f, bsv_sql_metrics_executions, unseen, take_execution);
}

/* ---- misses: app, model, cause, n, worst, execution, at ---- */

static void take_misses(const struct filling *f, const struct bsv_rows *rows)
{
	struct bsv_metrics *m = f->m;
	const char *who[] = { app_at(f, rows, 0), model_at(f, rows, 1), text_at(rows, 2) };
	struct bsv_metric_set *s = bsv_metrics_set(m, BSV_METRIC_MISSES, who);
	int64_t late, at;

	bsv_metric_add(s, bsv_rows_get(rows, 3, 0));
	if (known(rows, 4, &late) && known(rows, 6, &at))
		bsv_metric_exemplar(s, bsv_rows_get(rows, 5, 0), late, at);
}

/* ---- what is about all of it ---- */

static void take_share(const struct filling *f, const struct bsv_rows *rows)
{
	struct bsv_metrics *m = f->m;
	const char *who[] = { app_at(f, rows, 0) };
	int64_t ns;

	if (known(rows, 1, &ns))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_RECEIVED, who), ns);
	if (known(rows, 2, &ns))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_ENTITLED, who), ns);
	if (known(rows, 3, &ns))
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_LAG, who), ns);
}

static void take_starvation(const struct filling *f, const struct bsv_rows *rows)
{
	struct bsv_metrics *m = f->m;
	const char *who[] = { app_at(f, rows, 0) };

	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_STARVATIONS, who), bsv_rows_get(rows, 1, 0));
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_STARVED, who), bsv_rows_get(rows, 2, 0));
}

static void take_pools(const struct filling *f, const struct bsv_rows *rows)
{
	struct bsv_metrics *m = f->m;
	const char *which[] = { text_at(rows, 0), text_at(rows, 1) };

	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_POOLS, which), bsv_rows_get(rows, 2, 0));
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_POOL_BYTES, which), bsv_rows_get(rows, 3, 0));
}

static void take_events(const struct filling *f, const struct bsv_rows *rows)
{
	struct bsv_metrics *m = f->m;
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_EVENTS, NULL), bsv_rows_get(rows, 0, 0));
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_LOST_EVENTS, NULL), bsv_rows_get(rows, 1, 0));
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_LOST_PACKETS, NULL), bsv_rows_get(rows, 2, 0));
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_LOSSES, NULL), bsv_rows_get(rows, 3, 0));
	/* an import reads files that are whole */
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_LATE, NULL), 0);
	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_HELD_BACK, NULL), 0);
}

static void filling_fini(struct filling *f)
{
	names_fini(&f->apps);
	names_fini(&f->models);
}

int bsv_metrics_of_database(struct bsv_metrics *m, struct bsv_input *input, struct bsa_err *err)
{
	static const struct {
		const char *sql;
		takes_row *take;
	} of_whole[] = {
		{ bsv_sql_metrics_shares, take_share },
		{ bsv_sql_metrics_starvations, take_starvation },
		{ bsv_sql_metrics_pools, take_pools },
		{ bsv_sql_metrics_events, take_events },
	};
	__attribute__((cleanup(filling_fini))) struct filling f = { .m = m, .input = input, .err = err };
	const char *version[] = { BURSTSCOPE_VERSION };
	int r = names_read(&f, &f.apps, "apps");

	bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_BUILD, version), 1);
	if (r >= 0)
		r = names_read(&f, &f.models, "models");
	if (r >= 0)
		r = fill_executions(&f);
	if (r >= 0)
		r = each_row(&f, bsv_sql_metrics_misses, NULL, take_misses);
	for (size_t i = 0; r >= 0 && !input->picks && i < sizeof(of_whole) / sizeof(*of_whole); i++)
		r = each_row(&f, of_whole[i].sql, NULL, of_whole[i].take);
	return r;
}

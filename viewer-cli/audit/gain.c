/*
 * gain.c -- reads the samples of each pair of groups once, for all phases, and estimates the
 * difference of their medians.
 */
#include "audit/gain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"
#include "reports.h"
#include "stats/bootstrap.h"
#include "stats/order.h"

static const char *const phases[] = { "e2e", "prepare",   "send",  "decode", "slots", "queue",
	                              "run", "preempted", "reply", "return", "finish" };

enum { N_PHASES = sizeof(phases) / sizeof(*phases), BURST, SYNC, N_PATHS };

static const struct bsv_column columns[] = {
	{ "app", "text", NULL },
	{ "model", "text", NULL },
	{ "phase", "label", NULL },
	{ "n_burst", "count", NULL },
	{ "n_sync", "count", NULL },
	{ "burst_p50_ns", "duration", "ns" },
	{ "sync_p50_ns", "duration", "ns" },
	{ "gain_ns", "duration", "ns" },
	{ "low_ns", "duration", "ns" },
	{ "high_ns", "duration", "ns" },
};

/* Samples in the order in which they were recorded. */
struct samples {
	int64_t *v;
	size_t n;
};

/* A model of an app that was executed both ways. */
struct pair {
	int64_t kind;
	char *app, *model;
	struct samples of[N_PATHS][N_PHASES];
};

struct gain {
	struct pair *pairs;
	size_t n;
};

static void gain_fini(struct gain *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->pairs[i].app);
		free(g->pairs[i].model);
		for (int path = 0; path < N_PATHS; path++)
			for (int phase = 0; phase < N_PHASES; phase++)
				free(g->pairs[i].of[path][phase].v);
	}
	free(g->pairs);
}

/* ---- samples ---- */

static int read_samples(struct gain *g, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_text *kinds = NULL, *sql = NULL;
	bsv_scoped_rows *rows = NULL;
	size_t bytes;
	FILE *to = open_memstream(&kinds, &bytes);
	int r;

	for (size_t i = 0; to && i < g->n; i++)
		fprintf(to, "%s%" PRId64, i ? ", " : "", g->pairs[i].kind);
	if (to && !fclose(to))
		sql = bsv_fill(bsv_sql_gain_samples, (const struct bsv_placeholder[]){ { "with", input->with },
		                                                                       { "kinds", kinds },
		                                                                       { NULL, NULL } });
	r = sql ? bsv_rows_query(&rows, input->db, sql, err) : bsv_no_memory(err);
	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0) {
		int64_t kind = bsv_rows_get(rows, 0, 0);
		int path = bsv_rows_get(rows, 1, 0) ? SYNC : BURST;
		size_t i = 0;

		while (i < g->n && g->pairs[i].kind != kind)
			i++;
		for (size_t phase = 0; i < g->n && phase < N_PHASES; phase++) {
			struct samples *s = &g->pairs[i].of[path][phase];
			struct bsv_cell cell = bsv_rows_cell(rows, 2 + phase);

			if (cell.type != BSA_INT)
				continue;
			if (!bsv_array_grow(&s->v, s->n, sizeof(*s->v)))
				return bsv_no_memory(err);
			s->v[s->n++] = cell.integer;
		}
	}
	return r;
}

/* ---- differences ---- */

/* The samples sorted, with their effective number. sorted NULL: no memory. */
static struct bsv_sample samples_sort(struct samples *s)
{
	struct bsv_sample ret = { .sorted = NULL, .n = s->n };
	int64_t *sorted = reallocarray(NULL, s->n, sizeof(*sorted));

	if (!sorted)
		return ret;
	memcpy(sorted, s->v, s->n * sizeof(*sorted));
	qsort(sorted, s->n, sizeof(*sorted), bsv_by_integer);
	ret.effect = bsv_sequence_effect(s->v, s->n, bsv_percentile(sorted, s->n, 50));
	ret.sorted = sorted;
	return ret;
}

/* A phase that usually takes no time cannot gain any. */
static bool takes_time(const struct bsv_sample *s)
{
	return bsv_percentile(s->sorted, s->n, 50) > 0;
}

static int add_pair(struct bsv_rows *rows, struct pair *p, struct bsa_err *err)
{
	for (size_t phase = 0; phase < N_PHASES; phase++) {
		struct bsv_interval gain = { 0 };
		struct bsv_sample burst, sync;
		bool differs = false;

		if (!p->of[BURST][phase].n || !p->of[SYNC][phase].n)
			continue;
		burst = samples_sort(&p->of[BURST][phase]);
		sync = samples_sort(&p->of[SYNC][phase]);
		if (burst.sorted && sync.sorted && (takes_time(&burst) || takes_time(&sync))) {
			gain = bsv_sequence_difference(&burst, &sync, 50, 1);
			differs = phase == 0 || gain.low != 0 || gain.high != 0;
		}
		if (differs) {
			bsv_rows_text(rows, p->app);
			bsv_rows_text(rows, p->model);
			bsv_rows_text(rows, phases[phase]);
			bsv_rows_int(rows, (int64_t)burst.n);
			bsv_rows_int(rows, (int64_t)sync.n);
			bsv_rows_int(rows, bsv_percentile(burst.sorted, burst.n, 50));
			bsv_rows_int(rows, bsv_percentile(sync.sorted, sync.n, 50));
			bsv_rows_int(rows, bsv_whole(gain.value));
			bsv_rows_int(rows, bsv_whole(gain.low));
			bsv_rows_int(rows, bsv_whole(gain.high));
		}
		free((int64_t *)burst.sorted);
		free((int64_t *)sync.sorted);
		if (!burst.sorted || !sync.sorted)
			return bsv_no_memory(err);
	}
	return 0;
}

int bsv_gain(struct bsv_rows **ret, struct bsv_input *input, struct bsa_err *err)
{
	__attribute__((cleanup(gain_fini))) struct gain g = { .n = 0 };
	bsv_scoped_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns)), *pairs = NULL;
	bsv_scoped_text *sql = bsv_fill(bsv_sql_gain_pairs,
	                                (const struct bsv_placeholder[]){ { "with", input->with }, { NULL, NULL } });
	int r;

	if (!rows || !sql)
		return bsv_no_memory(err);
	r = bsv_rows_query(&pairs, input->db, sql, err);
	while (r >= 0 && (r = bsv_rows_step(pairs, err)) > 0) {
		const char *app = bsv_rows_cell(pairs, 1).text, *model = bsv_rows_cell(pairs, 2).text;

		if (!bsv_array_grow(&g.pairs, g.n, sizeof(*g.pairs)))
			return bsv_no_memory(err);
		g.pairs[g.n++] = (struct pair){ .kind = bsv_rows_get(pairs, 0, 0),
			                        .app = app ? strdup(app) : NULL,
			                        .model = model ? strdup(model) : NULL };
	}
	if (r >= 0 && g.n)
		r = read_samples(&g, input, err);
	for (size_t i = 0; i < g.n && r >= 0; i++)
		r = add_pair(rows, &g.pairs[i], err);
	if (r < 0)
		return r;
	*ret = rows;
	rows = NULL;
	return 0;
}

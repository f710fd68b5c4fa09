/*
 * diff.c -- burstscope diff: compares recordings of A with recordings of B: what changed, and is that noise?
 *
 * CONCURRENCY  Two threads read the two sides at the same time. Each thread alone uses its struct
 *              side, with the connections and the bsa_err in it, until it is joined.
 */
#include <math.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "audit/changes.h"
#include "base/command.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/quantity.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "base/vector.h"
#include "input/samples.h"
#include "input/settings.h"
#include "render/render.h"

enum { WHY_TEXT = 160, READ_KIB = 8192 };

enum { NAME_MAX_WIDTH = 40, MODELS_MOST = 64, LEAST = 3, MARGIN = 25, BUSIER = 3 /* percent of the time on lanes */ };

struct options {
	const char *least, *margin;
};

static const struct bsv_option options[] = {
	{ .name = "least",
	  .kind = BSV_TEXT,
	  .argument = "PERCENT",
	  .says = "least change of a latency to report (default: 3)",
	  .offset = offsetof(struct options, least) },
	{ .name = "margin",
	  .kind = BSV_TEXT,
	  .argument = "PERCENT",
	  .says = "with one recording of each side: change that the machine alone may cause (default: 25)",
	  .offset = offsetof(struct options, margin) },
	{ .name = NULL },
};

/* A model's description by name. */
struct model {
	char *name, *is;
};

struct recording {
	struct bsv_input input;
	struct bsv_samples samples;
	char *uuids; /* uuids of its traces */
};

/* Side A or side B. */
struct side {
	const char *name;
	struct recording *of;
	size_t n;
	struct bsv_settings settings;
	char **hosts; /* in their order, each once */
	size_t n_hosts;
	struct model models[MODELS_MOST];
	size_t n_models;
	bool has_more_models;
	struct bsa_err err;
	int r;
};

struct work {
	struct side a, b;
	struct bsv_comparison found;
	struct bsv_changes changes;
	struct bsv_terms terms;
	int busier;            /* the machine that was busier: 1: B's; -1: A's; 0: neither */
	char why[4][WHY_TEXT]; /* reasons of the verdicts */
};

static void models_free(struct side *s)
{
	while (s->n_models) {
		struct model *m = &s->models[--s->n_models];

		free(m->name);
		free(m->is);
		*m = (struct model){ NULL, NULL };
	}
}

static void side_fini(struct side *s)
{
	for (size_t i = 0; i < s->n; i++) {
		bsv_samples_fini(&s->of[i].samples);
		bsv_input_close(&s->of[i].input);
		free(s->of[i].uuids);
	}
	models_free(s);
	bsv_settings_fini(&s->settings);
	free(s->of);
	while (s->n_hosts)
		free(s->hosts[--s->n_hosts]);
	free(s->hosts);
}

static void work_fini(struct work *w)
{
	bsv_changes_fini(&w->changes);
	bsv_comparison_fini(&w->found);
	side_fini(&w->a);
	side_fini(&w->b);
}

/* ---- reading ---- */

/*
 * Read the models by name, at most MODELS_MOST: those whose names are first in their order. Their last name is found
 * first, because a recording may have 100 000 models, and a sort of all would take longer than anything else here.
 */
static int read_models(struct side *side, struct bsa_db *db, struct bsa_err *err)
{
	struct model *first = side->models; /* the names found so far, in their order */
	bsv_scoped_query *names = NULL, *q = NULL;
	bool unnamed = false;
	size_t most;
	int r = bsa_query_new(&names, db, bsv_sql_diff_model_names, err);

	while (r >= 0 && (r = bsa_query_step(names, err)) > 0) {
		const char *name = bsa_query_get_string(names, 0, NULL);
		size_t at = side->n_models;

		unnamed |= !name;
		if (!name)
			continue;
		while (at && strcmp(name, first[at - 1].name) < 0)
			at--;
		if (at && !strcmp(name, first[at - 1].name))
			continue;
		side->has_more_models |= side->n_models == MODELS_MOST;
		if (at == MODELS_MOST)
			continue;
		if (side->n_models == MODELS_MOST)
			free(first[--side->n_models].name);
		memmove(&first[at + 1], &first[at], (side->n_models++ - at) * sizeof(*first));
		first[at] = (struct model){ .name = strdup(name) };
		if (!first[at].name)
			r = bsv_no_memory(err);
	}
	most = side->n_models - (unnamed && side->n_models == MODELS_MOST); /* an unnamed one comes first */
	side->has_more_models |= most < side->n_models;
	if (r >= 0)
		r = bsa_query_new(&q, db, bsv_sql_diff_models, err);
	if (r >= 0 && most)
		bsa_query_string(q, ":last", first[most - 1].name);
	models_free(side);
	while (r >= 0 && side->n_models < MODELS_MOST && (r = bsa_query_step(q, err)) > 0) {
		const char *name = bsa_query_get_string(q, 0, NULL), *is = bsa_query_get_string(q, 1, NULL);
		struct model *m = &side->models[side->n_models++];

		m->name = strdup(name ? name : "");
		m->is = strdup(is ? is : "");
		if (!m->name || !m->is)
			r = bsv_no_memory(err);
	}
	return r;
}

static int read_hosts(struct side *side, struct bsa_db *db, struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	int r = bsa_query_new(&q, db, bsv_sql_diff_hosts, err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		const char *host = bsa_query_get_string(q, 0, NULL);
		char *copy = strdup(host ? host : "");
		size_t at = side->n_hosts;

		if (!copy || !bsv_array_grow(&side->hosts, side->n_hosts, sizeof(*side->hosts))) {
			free(copy);
			return bsv_no_memory(err);
		}
		while (at && strcmp(copy, side->hosts[at - 1]) < 0)
			at--;
		if (at && !strcmp(copy, side->hosts[at - 1])) {
			free(copy);
			continue;
		}
		memmove(&side->hosts[at + 1], &side->hosts[at], (side->n_hosts++ - at) * sizeof(*side->hosts));
		side->hosts[at] = copy;
	}
	return r;
}

static int read_recording(struct side *side, struct recording *one, struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	const char *uuids;
	int r;

	bsa_db_memory(one->input.db, READ_KIB); /* nearly all is read once, and in order */
	r = bsv_samples_read(&one->samples, &one->input, err);

	if (r >= 0)
		r = bsv_settings_add(&side->settings, &one->input, err);
	if (r >= 0)
		r = read_hosts(side, one->input.db, err);
	if (r >= 0)
		r = bsa_query_new(&q, one->input.db, bsv_sql_diff_uuids, err);
	if (r >= 0)
		r = bsa_query_step(q, err);
	if (r < 0)
		return r;

	uuids = r ? bsa_query_get_string(q, 0, NULL) : NULL;
	one->uuids = strdup(uuids ? uuids : "");
	if (!one->uuids)
		return bsv_no_memory(err);
	return one == side->of ? read_models(side, one->input.db, err) : 0;
}

static void *read_side(void *ctx)
{
	struct side *side = ctx;

	for (size_t i = 0; side->r >= 0 && i < side->n; i++) {
		struct bsa_err why = { "" };

		side->r = read_recording(side, &side->of[i], &why);
		if (side->r < 0)
			bsa_fail(&side->err, side->r, "%s: %s", side->of[i].input.path, why.text);
	}
	return NULL;
}

/* Read both sides at the same time: most of the time is spent in SQLite, with a connection each. */
static int read_both(struct work *w, struct bsa_err *err)
{
	pthread_t thread;
	bool other = !pthread_create(&thread, NULL, read_side, &w->a);

	if (!other)
		read_side(&w->a);
	read_side(&w->b);
	if (other)
		pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		const struct side *side = i ? &w->b : &w->a;

		if (side->r < 0)
			return bsa_fail(err, side->r, "%s", side->err.text);
	}
	return 0;
}

/* ---- can A and B be compared? ---- */

/* "mlp of camera (burst), keyword of audio (burst), ..."; owned by the caller. */
static char *workload_text(const struct bsv_samples *s)
{
	char *text = NULL;

	for (size_t i = 0; i < s->n && i < 3; i++) {
		bsv_scoped_text *before = text;
		bsv_scoped_text *app = bsv_printable(s->groups[i].app, strlen(s->groups[i].app), NAME_MAX_WIDTH);
		bsv_scoped_text *model = bsv_printable(s->groups[i].model, strlen(s->groups[i].model), NAME_MAX_WIDTH);

		text = bsv_text("%s%s%s of %s (%s)", before ? before : "", before ? ", " : "", model ? model : "",
		                app ? app : "", s->groups[i].path);
	}
	return text;
}

/* Would A and B have groups in common if the same side had been recorded? */
static bool differ_in_sides(const struct bsv_samples *a, const struct bsv_samples *b)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < b->n; j++) {
			struct bsv_group like = b->groups[j];

			like.sides = a->groups[i].sides;
			if (!bsv_group_compare(&a->groups[i], &like))
				return true;
		}
	return false;
}

static bool is_same_recording(const struct recording *a, const struct recording *b)
{
	return *a->uuids ? !strcmp(a->uuids, b->uuids) : !strcmp(a->input.path, b->input.path);
}

/* A recording that counts twice would make its side look more certain than it is. */
static int check_duplicates(const struct side *s, struct bsa_err *err)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < i; j++)
			if (is_same_recording(&s->of[i], &s->of[j]))
				return bsa_fail(err, BSA_E_USAGE,
				                "%s and %s are the same recording; name it once for %s",
				                s->of[j].input.path, s->of[i].input.path, s->name);
	return 0;
}

static int check_comparable(const struct work *w, struct bsa_err *err)
{
	const struct bsv_samples *a = &w->a.of[0].samples, *b = &w->b.of[0].samples;
	bsv_scoped_text *in_a = NULL, *in_b = NULL;

	for (int i = 0; i < 2; i++) {
		const struct side *side = i ? &w->b : &w->a;

		for (size_t k = 0; k < side->n; k++)
			if (!side->of[k].samples.executions && !side->of[k].samples.n_tallies)
				return bsa_fail(err, BSA_E_INPUT,
				                "%s: no complete execution%s, so nothing to compare; see "
				                "burstscope summary",
				                side->of[k].input.path, side->of[k].input.picks ? " was picked" : "");
	}
	for (size_t i = 0; i < w->found.n_endings; i++)
		if (w->found.endings[i].a && w->found.endings[i].b &&
		    (w->found.common || !(a->n && b->n && differ_in_sides(a, b))))
			return 0;
	if (a->n && b->n && differ_in_sides(a, b))
		return bsa_fail(err, BSA_E_INPUT,
		                "%s and %s: one recorded the side %s, the other %s: their times begin and end "
		                "at different events; record the same sides",
		                w->a.of[0].input.path, w->b.of[0].input.path,
		                strcmp(a->groups[0].sides, "both") ? a->groups[0].sides : b->groups[0].sides,
		                strcmp(a->groups[0].sides, "both") ? b->groups[0].sides : a->groups[0].sides);
	in_a = workload_text(a);
	in_b = workload_text(b);
	return bsa_fail(
		err, BSA_E_INPUT,
		"no app ran the same model in the same way in both: %s has %s, %s has %s; compare recordings of the "
		"same workload",
		w->a.of[0].input.path, in_a ? in_a : "no complete execution", w->b.of[0].input.path,
		in_b ? in_b : "no complete execution");
}

/* ---- the machine ---- */

/* The share of the time on lanes that was off the cpu, percent; below 0: unknown. */
static double off_cpu_share(const struct bsv_samples *s)
{
	return s->run_ns > 0 ? 100 * (double)(s->run_ns - s->cpu_ns) / (double)s->run_ns : -1;
}

/* The mean over the recordings of a side. *ret_squares: sum of the squared differences from the mean. */
static double off_cpu_mean(const struct side *s, double *ret_squares)
{
	double mean = 0;

	*ret_squares = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (off_cpu_share(&s->of[i].samples) < 0)
			return -1;
		mean += off_cpu_share(&s->of[i].samples) / (double)s->n;
	}
	for (size_t i = 0; i < s->n; i++)
		*ret_squares += pow(off_cpu_share(&s->of[i].samples) - mean, 2);
	return mean;
}

static int compare_sides(struct work *w, struct bsa_err *err)
{
	const struct bsv_samples *of_a[BSV_RECORDINGS_MOST], *of_b[BSV_RECORDINGS_MOST];
	double squares_a, squares_b, a = off_cpu_mean(&w->a, &squares_a), b = off_cpu_mean(&w->b, &squares_b);
	double least = BUSIER;

	/*
	 * Was one machine busier with other work? With several recordings on a side the difference
	 * must exceed that between recordings of the same side, which the error of each test
	 * already contains.
	 */
	if (w->a.n + w->b.n > 2) {
		double each = (squares_a + squares_b) / (double)(w->a.n + w->b.n - 2);

		least = fmax(least, 2 * sqrt(each / (double)w->a.n + each / (double)w->b.n));
	}
	if (a >= 0 && b >= 0 && fabs(a - b) >= least)
		w->busier = b > a ? 1 : -1;

	/* The factor by which time on lanes was longer in B because it was off the cpu. */
	w->terms.slower = w->busier ? (100 - fmin(a, 95)) / (100 - fmin(b, 95)) : 1;

	for (size_t i = 0; i < w->a.n; i++)
		of_a[i] = &w->a.of[i].samples;
	for (size_t i = 0; i < w->b.n; i++)
		of_b[i] = &w->b.of[i].samples;
	return bsv_compare(&w->found, &(struct bsv_side){ of_a, w->a.n }, &(struct bsv_side){ of_b, w->b.n }, &w->terms,
	                   err);
}

/* ---- notes ---- */

/* "A is a.db (1 trace, no event was lost)", or "A is 3 recordings; one of them is a1.db: ...". */
static void note_side(struct bsv_answer *answer, const struct side *s)
{
	char text[BSV_COVERAGE_TEXT];
	size_t worst = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->of[i].input.coverage.losses > s->of[worst].input.coverage.losses)
			worst = i;
	if (s->n == 1)
		bsv_answer_note(answer, "%s is %s (%s)", s->name, s->of[0].input.path,
		                bsv_coverage_text(&s->of[0].input.coverage, text));
	else
		bsv_answer_note(answer, "%s is %zu recordings; %s%s: %s", s->name, s->n,
		                s->of[worst].input.coverage.losses ? "the one with the most losses is "
		                                                   : "one of them is ",
		                s->of[worst].input.path, bsv_coverage_text(&s->of[worst].input.coverage, text));
}

static void note_method(struct bsv_answer *answer, const struct work *w)
{
	if (w->found.tests) {
		if (w->found.single)
			bsv_answer_note(answer,
			                "One recording of each side: assumed that the machine alone moves p10 and p50 "
			                "by up to %.3g %%, p99 by up to %.3g times, and misses from none to %.2g %% "
			                "(--margin); errors are a block bootstrap's over time. Several recordings on "
			                "each side (diff A1 A2 A3 -- B1 B2 B3) need no assumption",
			                100 * bsv_margin(BSV_P50, &w->terms, true),
			                1 + bsv_margin(BSV_P99, &w->terms, true),
			                100 * pow(sin(fmin(w->terms.margin / 100, 1.57)), 2));
		else
			bsv_answer_note(answer,
			                "The recording is the unit: errors are those between %zu and %zu recordings",
			                w->a.n, w->b.n);
		bsv_answer_note(answer,
		                "Changed: significant among %zu tests (Holm: one false change in 20 comparisons), by "
		                "%g %% of a latency or half a point of a share at least, and of p10 and p50 with an "
		                "effect of %g or more. by, low and high: of a share (misses, answers, failures) in "
		                "percentage points. Phases attribute: they are not tested",
		                w->found.tests, w->terms.least, BSV_NEGLIGIBLE);
	}
	if (w->found.referenced) {
		bsv_answer_note(
			answer,
			"cpu: the cpu time of a run (geometric mean), converted to the mean speed and load of the "
			"machine over all recordings. The time of a computation that is always the same (reference_ns) "
			"measures the speed, and run_delay_ns the load. Assumed: the change between A and B affects "
			"neither, and runs depend on both between recordings as they do within.");
		if (w->found.single)
			bsv_answer_note(
				answer,
				"cpu: assumed that the machine alone still moves it by up to %.3g %% (--margin)",
				100 * bsv_compute_margin(&w->terms, true));
	}
}

/* "here, there"; owned by the caller. */
static char *hosts_text(const struct side *s)
{
	char *text = NULL;

	for (size_t i = 0; i < s->n_hosts; i++) {
		bsv_scoped_text *before = text;

		text = bsv_text("%s%s%s", before ? before : "", i ? ", " : "", s->hosts[i]);
	}
	return text;
}

/* Note what else differs between the sides, and may explain a change. */
static void note_differences(struct bsv_answer *answer, const struct work *w)
{
	bsv_scoped_text *in_a = hosts_text(&w->a), *in_b = hosts_text(&w->b);
	double squares;

	/* models that have the same name in A and B and differ */
	for (size_t i = 0; i < w->a.n_models; i++)
		for (size_t j = 0; j < w->b.n_models; j++) {
			const struct model *a = &w->a.models[i], *b = &w->b.models[j];
			bsv_scoped_text *name = NULL;

			if (strcmp(a->name, b->name) || !strcmp(a->is, b->is))
				continue;
			name = bsv_printable(a->name, strlen(a->name), NAME_MAX_WIDTH);
			bsv_answer_note(answer, "%s is not the same model: in A it has %s, in B %s", name ? name : "",
			                a->is, b->is);
		}
	if (w->a.has_more_models || w->b.has_more_models)
		bsv_answer_note(answer, "whether a model is the same was asked of the first %d names only",
		                MODELS_MOST);
	if (in_a && in_b && strcmp(in_a, in_b)) {
		bsv_scoped_text *a = bsv_printable(in_a, strlen(in_a), 0);
		bsv_scoped_text *b = bsv_printable(in_b, strlen(in_b), 0);

		bsv_answer_note(answer, "recorded on different machines: A: %s; B: %s", a ? a : "", b ? b : "");
	}
	if (w->busier)
		bsv_answer_note(answer,
		                "the machine was busier in %s: executions on lanes were off the cpu for %.3g %% of "
		                "that time in A, and for %.3g %% in B; that alone can make executions %.3g %% %s. A "
		                "change counts beyond that only; what would be a change without it is uncertain",
		                w->busier > 0 ? "B" : "A", off_cpu_mean(&w->a, &squares), off_cpu_mean(&w->b, &squares),
		                100 * fabs(w->terms.slower - 1), w->terms.slower > 1 ? "slower" : "faster");
	if (w->a.of[0].samples.full != w->b.of[0].samples.full)
		bsv_answer_note(answer,
		                "%s was recorded in full detail, %s was not: recording more detail takes time itself",
		                w->a.of[0].samples.full ? "A" : "B", w->a.of[0].samples.full ? "B" : "A");
}

/* ---- settings ---- */

static const struct bsv_column setting_columns[] = {
	{ "setting", "label", NULL },
	{ "a", "text", NULL },
	{ "b", "text", NULL },
};

/* The settings that differ. *ret_n: number of rows. */
static struct bsv_rows *settings_rows(const struct work *w, size_t *ret_n)
{
	const struct bsv_settings *sides[] = { &w->a.settings, &w->b.settings };
	struct bsv_rows *rows = bsv_rows_new(setting_columns, sizeof(setting_columns) / sizeof(*setting_columns));

	*ret_n = 0;
	for (size_t k = 0; rows && k < 2; k++)
		for (size_t i = 0; i < sides[k]->n; i++) {
			const char *name = sides[k]->of[i].name;
			bsv_scoped_text *a = bsv_settings_values(sides[0], name),
					*b = bsv_settings_values(sides[1], name);

			if ((i && !strcmp(name, sides[k]->of[i - 1].name)) || (k && a) ||
			    !bsv_settings_differ(sides[0], sides[1], name))
				continue;
			++*ret_n;
			bsv_rows_text(rows, name);
			bsv_rows_text(rows, a ? a : "not recorded");
			bsv_rows_text(rows, b ? b : "not recorded");
		}
	return rows;
}

/* ---- verdicts ---- */

/* Judge one kind of tests, without those that had too few executions. */
static void add_verdict(struct bsv_answer *answer, const char *name, const struct bsv_changes_count *n,
                        char why[WHY_TEXT])
{
	struct bsv_verdict v = { .name = name, .class = "count", .figure = (double)n->worse };
	const size_t made = n->worse + n->better + n->same + n->unsure;
	int used = 0;

	if (n->worse)
		v.outcome = BSV_FAIL;
	else if (n->unsure)
		v.outcome = BSV_CANNOT_TELL;
	else
		v.outcome = n->same || n->better ? BSV_PASS : BSV_CANNOT_TELL;
	if (made)
		used = snprintf(why, WHY_TEXT, "%zu of %zu %s worse", n->worse, made,
		                bsv_plural(made, "comparison", "comparisons"));
	if (n->unsure)
		used += snprintf(why + used, WHY_TEXT - (size_t)used, ", %zu uncertain", n->unsure);
	if (n->few)
		snprintf(why + used, WHY_TEXT - (size_t)used, "%s%zu not made: too few executions in A",
		         used ? "; " : "", n->few);
	v.why = why;
	bsv_answer_verdict(answer, &v);
}

/* ---- the answer ---- */

static int print_answer(const struct bsv_call *call, struct work *w, struct bsa_err *err)
{
	static const char *const names[] = { "slower", "more_misses", "fewer_answers", "more_failures" };
	struct bsv_changes *c = &w->changes;
	const struct bsv_changes_count *counts[] = { &c->latency, &c->misses, &c->answers, &c->failures };
	bsv_scoped_answer *answer = bsv_answer_new(call, &w->b.of[0].input);
	struct bsv_rows *rows;
	size_t n;

	/* No other thread prints: a lock for each cell of 100 000 groups takes longer than the cell. */
	__fsetlocking(stdout, FSETLOCKING_BYCALLER);
	bsv_answer_rows(answer, "changes", bsv_changes_headline(c), bsv_changes_tests(c));
	bsv_answer_rows(answer, "groups", "latency by group", bsv_changes_groups(c));
	rows = bsv_changes_endings(c, &n);
	bsv_answer_rows(answer, "endings", "deadlines and answers", rows);
	if (c->people && !n)
		bsv_answer_hide(answer, "endings");
	rows = bsv_changes_phases(c, &n);
	bsv_answer_rows(answer, "phases",
	                "phases of executions near the changed percentile; sum: the change of their mean", rows);
	if (c->people && !n)
		bsv_answer_hide(answer, "phases");
	rows = bsv_changes_mix(c, &n);
	bsv_answer_rows(answer, "mix", bsv_changes_mean(c), rows);
	if (c->people && !n)
		bsv_answer_hide(answer, "mix");
	rows = settings_rows(w, &n);
	bsv_answer_rows(answer, "settings", "differing settings", rows);
	if (c->people && !n)
		bsv_answer_hide(answer, "settings");

	/* A recording on both sides is no mistake to refuse, but changes nothing. */
	for (size_t i = 0; i < w->a.n; i++)
		for (size_t j = 0; j < w->b.n; j++)
			if (is_same_recording(&w->a.of[i], &w->b.of[j]))
				bsv_answer_note(answer, "%s is a recording of A, and of B, too", w->b.of[j].input.path);
	note_side(answer, &w->a);
	note_side(answer, &w->b);
	note_method(answer, w);
	note_differences(answer, w);

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const struct bsv_changes_count *made = counts[i];

		/* without deadlines there are no misses to judge */
		if (made->worse + made->better + made->same + made->unsure + made->few)
			add_verdict(answer, names[i], made, w->why[i]);
	}
	return bsv_answer_print(answer, false, err);
}

/* ---- the command line ---- */

static int read_percent(double *ret, const char *name, const char *text, double otherwise, struct bsa_err *err)
{
	*ret = otherwise;
	if (text && !bsv_percent_read(text, 1000, ret))
		return bsa_fail(err, BSA_E_USAGE, "--%s: '%s' is not a percentage from 0 to 1000", name, text);
	return 0;
}

static int open_side(struct side *s, const char *const *names, size_t n, const struct bsv_call *call,
                     struct bsa_err *err)
{
	int r = 0;

	s->of = calloc(n, sizeof(*s->of));
	if (!s->of)
		return bsv_no_memory(err);
	for (; r >= 0 && s->n < n; s->n += r >= 0)
		r = bsv_input_open(&s->of[s->n].input, names[s->n], call, err);
	return r;
}

static int diff_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	__attribute__((cleanup(work_fini))) struct work w = { .a.name = "A", .b.name = "B" };
	bool people = call->asked.format == BSV_TABLE && !call->asked.part && !call->common.verbose;
	size_t n = call->n_operands, n_a = call->n_before;
	bsv_scoped_text *sql = NULL;
	int r = read_percent(&w.terms.least, "least", o->least, LEAST, err);

	if (r >= 0)
		r = read_percent(&w.terms.margin, "margin", o->margin, MARGIN, err);
	if (r < 0)
		return r;

	/* The operands of side A: all before a `--`; of two operands without a `--`, the first. */
	if (call->n_before == n || !call->n_before) {
		if (n > 2)
			return bsa_fail(err, BSA_E_USAGE,
			                "unexpected operand '%s'; separate several recordings of A and B by --: diff "
			                "A1 A2 -- B1 B2",
			                call->operands[2]);
		n_a = 1;
	}
	if (n_a > BSV_RECORDINGS_MOST || n - n_a > BSV_RECORDINGS_MOST)
		return bsa_fail(err, BSA_E_USAGE, "more than %d recordings of one side", BSV_RECORDINGS_MOST);
	r = open_side(&w.a, call->operands, n_a, call, err);
	if (r >= 0)
		r = open_side(&w.b, call->operands + n_a, n - n_a, call, err);
	if (r >= 0 && call->asked.show_sql) {
		sql = bsv_samples_sql(&w.a.of[0].input);
		if (!sql)
			return bsv_no_memory(err);
		printf("%s", sql);
		return BSV_DONE;
	}

	if (r >= 0)
		r = read_both(&w, err);
	if (r >= 0)
		r = check_duplicates(&w.a, err);
	if (r >= 0)
		r = check_duplicates(&w.b, err);
	if (r >= 0)
		r = compare_sides(&w, err);
	if (r >= 0)
		r = check_comparable(&w, err);
	if (r >= 0)
		r = bsv_changes_init(&w.changes, &w.found, people, err);
	return r < 0 ? r : print_answer(call, &w, err);
}

const struct bsv_command bsv_diff = {
	.name = "diff",
	.operands = "A B | A... -- B...",
	.says = "compare recordings: what changed, and is that noise?",
	.examples = "  burstscope diff before.db after.db\n"
		    "  burstscope diff --verdict a1.db a2.db a3.db -- b1.db b2.db b3.db; [ $? -ne 1 ] || echo worse\n"
		    "  burstscope diff --where \"app = 'camera'\" --part phases before.db after.db\n",
	.more = "Compares latency (p10, p50, p99) by app, model, path, and cold or warm; and misses and answers by "
		"app, model and path. With --verdict the command fails if any of these is worse, and cannot tell "
		"where a loss may hide executions. Write options before the --.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 2,
	.max = 2 * BSV_RECORDINGS_MOST,
	.parts = (const char *const[]){ "changes", "groups", "endings", "phases", "mix", "settings", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_LIMIT | BSV_ASK_VERDICT,
	.run = diff_run,
};

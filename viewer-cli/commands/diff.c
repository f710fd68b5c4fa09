/*
 * diff.c -- burstscope diff: two recordings: what changed, and whether that is noise.
 *
 * CONCURRENCY  Both recordings are read at once, by a thread each, which has a struct recording, with its connection and its bsa_err, to
 *              itself until it is joined.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/scoped.h"
#include "answer/template.h"
#include "audit/changes.h"
#include "command.h"
#include "input/samples.h"
#include "render/render.h"

enum { NAME_MAX_WIDTH = 40, MODELS_MOST = 64, LEAST = 3, BUSIER = 3 /* percent of the time on lanes */ };

struct options {
	const char *least;
};

static const struct bsv_option options[] = {
	{ .name = "least",
	  .kind = BSV_TEXT,
	  .argument = "PERCENT",
	  .says = "what differs by less of a group's median is no change (default: 3)",
	  .offset = offsetof(struct options, least) },
	{ .name = NULL },
};

/* What is known of a model by its name. */
struct model {
	char *name, *is;
};

/* A or B. */
struct recording {
	struct bsv_input input;
	struct bsv_samples samples;
	char *rules; /* of its services, in words */
	char *hosts;
	struct model models[MODELS_MOST];
	size_t n_models;
	struct bsa_err err;
	int r;
};

struct work {
	struct recording a, b;
	struct bsv_comparison found;
	struct bsv_changes changes;
	double least;
};

static void recording_fini(struct recording *r)
{
	bsv_samples_fini(&r->samples);
	bsv_input_close(&r->input);
	for (size_t i = 0; i < r->n_models; i++) {
		free(r->models[i].name);
		free(r->models[i].is);
	}
	free(r->rules);
	free(r->hosts);
}

static void work_fini(struct work *w)
{
	bsv_changes_fini(&w->changes);
	bsv_comparison_fini(&w->found);
	recording_fini(&w->a);
	recording_fini(&w->b);
}

/* ---- reading ---- */

/* The one text that @sql answers. */
static int one_text(char **ret, struct bsa_db *db, const char *sql, struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	int r = bsa_query_new(&q, db, sql, err);
	const char *text = NULL;

	if (r >= 0)
		r = bsa_query_step(q, err);
	if (r > 0)
		text = bsa_query_get_string(q, 0, NULL);
	if (r >= 0) {
		*ret = strdup(text ? text : "");
		r = *ret ? 0 : bsv_no_memory(err);
	}
	return r;
}

/* Models by name, the first ones of very many. */
static int read_models(struct recording *one, struct bsa_err *err)
{
	static const char sql[] =
		"SELECT name, group_concat(says, ' or ') FROM (SELECT DISTINCT name, operations || ' operations and ' "
		"|| "
		"const_bytes || ' bytes of constants' AS says FROM model WHERE number IS NOT NULL ORDER BY 1, 2) "
		"WHERE says IS NOT NULL GROUP BY name ORDER BY name";
	bsv_scoped_query *q = NULL;
	int r = bsa_query_new(&q, one->input.db, sql, err);

	while (r >= 0 && one->n_models < MODELS_MOST && (r = bsa_query_step(q, err)) > 0) {
		const char *name = bsa_query_get_string(q, 0, NULL), *is = bsa_query_get_string(q, 1, NULL);
		struct model *m = &one->models[one->n_models++];

		m->name = strdup(name ? name : "");
		m->is = strdup(is ? is : "");
		if (!m->name || !m->is)
			return bsv_no_memory(err);
	}
	return r;
}

static void *read_one(void *ctx)
{
	struct recording *one = ctx;

	one->r = bsv_samples_read(&one->samples, &one->input, &one->err);
	if (one->r >= 0)
		one->r = one_text(
			&one->rules, one->input.db,
			"SELECT group_concat(says, '; ') FROM (SELECT DISTINCT printf('policy %s, preempt %s, %s', "
			"ifnull(policy, '?'), ifnull(preempt, '?'), "
			"CASE lanes WHEN 1 THEN '1 lane' ELSE lanes || ' lanes' END) AS says FROM service_rules ORDER "
			"BY 1)",
			&one->err);
	if (one->r >= 0)
		one->r = one_text(&one->hosts, one->input.db,
		                  "SELECT group_concat(host, ', ') FROM (SELECT DISTINCT host FROM trace ORDER BY 1)",
		                  &one->err);
	if (one->r >= 0)
		one->r = read_models(one, &one->err);
	return NULL;
}

/* Both at once: most of the time is the database's, and there are two of them. */
static int read_both(struct work *w, struct bsa_err *err)
{
	pthread_t thread;
	bool other = !pthread_create(&thread, NULL, read_one, &w->a);

	if (!other)
		read_one(&w->a);
	read_one(&w->b);
	if (other)
		pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		const struct recording *one = i ? &w->b : &w->a;

		if (one->r < 0)
			return bsa_fail(err, one->r, "%s: %s", one->input.path, one->err.text);
	}
	return 0;
}

/* ---- apples and oranges ---- */

/* What was run, in words: "mlp of camera, keyword of audio, ..." Owned by the caller. */
static char *ran(const struct bsv_samples *s)
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

/* Whether A and B have anything in common but which side was recorded. */
static bool other_sides(const struct work *w)
{
	for (size_t i = 0; i < w->a.samples.n; i++)
		for (size_t j = 0; j < w->b.samples.n; j++) {
			struct bsv_group like = w->b.samples.groups[j];

			like.sides = w->a.samples.groups[i].sides;
			if (!bsv_group_compare(&w->a.samples.groups[i], &like))
				return true;
		}
	return false;
}

static int refuse(const struct work *w, struct bsa_err *err)
{
	bsv_scoped_text *in_a = ran(&w->a.samples), *in_b = NULL;

	for (int i = 0; i < 2; i++) {
		const struct recording *one = i ? &w->b : &w->a;

		if (!one->samples.executions)
			return bsa_fail(
				err, BSA_E_INPUT,
				"%s: no complete execution%s: there is nothing to compare; see burstscope summary",
				one->input.path, one->input.picks ? " was picked" : "");
	}
	if (w->found.common)
		return 0;
	if (other_sides(w))
		return bsa_fail(
			err, BSA_E_INPUT,
			"%s and %s: in one the %s alone was recorded, in the other %s: their times begin and end "
			"elsewhere; record both alike",
			w->a.input.path, w->b.input.path,
			strcmp(w->a.samples.groups[0].sides, "both") ? w->a.samples.groups[0].sides
								     : w->b.samples.groups[0].sides,
			strcmp(w->a.samples.groups[0].sides, "both") ? w->b.samples.groups[0].sides
								     : w->a.samples.groups[0].sides);
	in_b = ran(&w->b.samples);
	return bsa_fail(
		err, BSA_E_INPUT,
		"no app ran the same model in the same way in both: %s has %s, %s has %s; compare recordings of one "
		"workload",
		w->a.input.path, in_a ? in_a : "", w->b.input.path, in_b ? in_b : "");
}

/* ---- remarks ---- */

/* How much of their time on lanes executions were off the cpu, in percent; below 0: unknown. */
static double off_cpu(const struct bsv_samples *s)
{
	return s->run_ns > 0 ? 100 * (double)(s->run_ns - s->cpu_ns) / (double)s->run_ns : -1;
}

/* 1: B's machine had more else to do than A's; -1: A's; 0: about as much, or nobody knows. */
static int busier(const struct work *w)
{
	double a = off_cpu(&w->a.samples), b = off_cpu(&w->b.samples);

	return a < 0 || b < 0 || fabs(a - b) < BUSIER ? 0 : b > a ? 1 : -1;
}

/* What is not in it. */
static void left_out(struct bsv_answer *answer, const struct bsv_samples *a, const struct bsv_samples *b)
{
	if (a->given_up || a->in_parts || b->given_up || b->in_parts)
		bsv_answer_note(answer,
		                "left out: of A %zu executions without an answer and %zu that are not complete, of B "
		                "%zu and %zu",
		                a->given_up, a->in_parts, b->given_up, b->in_parts);
}

/* A name is no more than that: say where the model behind it is another one. */
static void other_models(struct bsv_answer *answer, const struct work *w)
{
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
}

static void notes(struct bsv_answer *answer, const struct work *w)
{
	char text[BSV_COVERAGE_TEXT];

	bsv_answer_note(answer, "A is %s (%s), B is %s", w->a.input.path, bsv_coverage_text(&w->a.input.coverage, text),
	                w->b.input.path);
	if (w->found.intervals)
		bsv_answer_note(
			answer,
			"changed: the interval (low to high) leaves 0 out, the difference is %g %% of the median or "
			"more, and pairs of executions "
			"differ (|effect| >= %g); otherwise not distinguishable from noise. All %zu intervals hold "
			"together in 95 of 100 cases; "
			"executions in sequence are alike and count as fewer. What differs between any two runs two "
			"recordings cannot show",
			w->least, BSV_NEGLIGIBLE, w->found.intervals);
	other_models(answer, w);
	if (strcmp(w->a.rules, w->b.rules)) {
		bsv_scoped_text *a = bsv_printable(w->a.rules, strlen(w->a.rules), 0);
		bsv_scoped_text *b = bsv_printable(w->b.rules, strlen(w->b.rules), 0);

		bsv_answer_note(answer, "the services had other rules: A: %s; B: %s", a ? a : "", b ? b : "");
	}
	if (strcmp(w->a.hosts, w->b.hosts)) {
		bsv_scoped_text *a = bsv_printable(w->a.hosts, strlen(w->a.hosts), 0);
		bsv_scoped_text *b = bsv_printable(w->b.hosts, strlen(w->b.hosts), 0);

		bsv_answer_note(answer, "recorded on other machines: A: %s; B: %s", a ? a : "", b ? b : "");
	}
	if (busier(w))
		bsv_answer_note(answer,
		                "the machine was busier in %s: what ran on lanes was off the cpu for %.3g %% of that "
		                "time in A, and for %.3g %% in "
		                "B; that may be all there is to what changed",
		                busier(w) > 0 ? "B" : "A", off_cpu(&w->a.samples), off_cpu(&w->b.samples));
	if (w->a.samples.full != w->b.samples.full)
		bsv_answer_note(answer, "%s was recorded in full detail, %s was not: to record more takes time itself",
		                w->a.samples.full ? "A" : "B", w->a.samples.full ? "B" : "A");
	left_out(answer, &w->a.samples, &w->b.samples);
}

static void verdict(struct bsv_answer *answer, const struct work *w)
{
	size_t slower = w->changes.n.slower, judged = slower + w->changes.n.faster + w->changes.n.same;
	struct bsv_verdict v = { .name = "slower_groups", .class = "count", .figure = (double)slower };

	v.outcome = slower ? BSV_FAIL : judged ? BSV_PASS : BSV_CANNOT_TELL;
	v.why = slower ? NULL : judged ? "no group became slower" : "too few executions";
	if (slower && busier(w) > 0) { /* no proof that it is the build */
		v.outcome = BSV_CANNOT_TELL;
		v.why = "slower, but the machine was busier, too: record again";
	}
	bsv_answer_verdict(answer, &v);
}

static int print(const struct bsv_call *call, struct work *w, struct bsa_err *err)
{
	struct bsv_answer *answer = bsv_answer_new(call, &w->b.input);
	struct bsv_changes *c = &w->changes;
	struct bsv_rows *rows;
	size_t n;
	int r;

	bsv_answer_rows(answer, "groups", bsv_changes_headline(c), bsv_changes_groups(c));
	rows = bsv_changes_tails(c, &n);
	bsv_answer_rows(answer, "tails", "The tails: p99 from end to end", rows);
	if (c->people && !n)
		bsv_answer_hide(answer);
	rows = bsv_changes_phases(c, &n);
	bsv_answer_rows(answer, "phases",
	                c->people
	                        ? "Where it came from: phases that changed, or are a twentieth of a change of the mean"
	                        : "Where it came from: of each group, mean_by sums to the change of its mean",
	                rows);
	if (c->people && !n)
		bsv_answer_hide(answer);
	bsv_answer_rows(answer, "mix", bsv_changes_mean(c), bsv_changes_mix(c));
	if (c->people && (w->found.n == 1 || (!w->found.by_mix && !w->found.by_speed)))
		bsv_answer_hide(answer);
	notes(answer, w);
	verdict(answer, w);
	r = bsv_answer_print(answer, false, err);
	bsv_answer_free(answer);
	return r;
}

static int show_sql(const struct work *w, struct bsa_err *err)
{
	bsv_scoped_text *sql = bsv_samples_sql(&w->a.input);

	if (!sql)
		return bsv_no_memory(err);
	printf("%s", sql);
	return BSV_DONE;
}

static int read_least(double *ret, const char *text, struct bsa_err *err)
{
	char *end;

	*ret = LEAST;
	if (!text)
		return 0;
	*ret = strtod(text, &end);
	while (*end == ' ')
		end++;
	if (end == text || (strcmp(end, "%") && *end) || !(*ret >= 0 && *ret <= 1000))
		return bsa_fail(err, BSA_E_USAGE, "--least: '%s' is no number of percent from 0 to 1000", text);
	return 0;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	__attribute__((cleanup(work_fini))) struct work w = { .least = LEAST };
	int r = read_least(&w.least, o->least, err);

	if (r >= 0)
		r = bsv_input_open(&w.a.input, call->operands[0], call, err);
	if (r >= 0)
		r = bsv_input_open(&w.b.input, call->operands[1], call, err);
	if (r >= 0 && call->asked.show_sql)
		return show_sql(&w, err);
	if (r >= 0)
		r = read_both(&w, err);
	if (r >= 0)
		r = bsv_compare(&w.found, &w.a.samples, &w.b.samples, w.least, err);
	if (r >= 0)
		r = refuse(&w, err);
	if (r >= 0)
		r = bsv_changes_init(&w.changes, &w.found,
		                     call->asked.format == BSV_TABLE && !call->asked.part && !call->common.verbose,
		                     err);
	return r < 0 ? r : print(call, &w, err);
}

const struct bsv_command bsv_diff = {
	.name = "diff",
	.operands = "A B",
	.says = "two recordings: what changed, and whether that is noise",
	.examples = "  burstscope diff before.db after.db\n"
		    "  burstscope diff --where \"app = 'camera'\" --part phases before.db after.db\n"
		    "  burstscope diff --verdict yesterday.db today.db || echo slower\n",
	.more = "What both have, by app, model, path, and cold or warm, is compared: medians and p99 with the interval "
		"of their\n"
		"difference, phase by phase. With --verdict it failed if a group became slower.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 2,
	.max = 2,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_LIMIT | BSV_ASK_VERDICT,
	.run = run,
};

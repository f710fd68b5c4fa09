/*
 * changes.c -- turns the tests of a comparison into rows and sentences. People get one column for
 * the name of a group, and fewer rows; programs get all.
 */
#include "audit/changes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"

enum { THOUSAND_TIMES = 1000 };
enum { NAME_WIDEST = 40, NAMES = 4 /* columns that name a group */, TENTH = 10, NAMED = 3 };

/* Keep @text until @c is freed. */
static const char *text_keep(struct bsv_changes *c, char *text)
{
	if (text && c->n_texts < BSV_CHANGES_TEXTS)
		return c->texts[c->n_texts++] = text;
	free(text);
	return "";
}

/* ---- words ---- */

static const struct bsv_tally *tally_of(const struct bsv_ending_pair *p)
{
	return p->a ? p->a : p->b;
}

/* The duration with its sign. */
static const char *signed_duration(char to[BSV_DURATION_TEXT + 1], double ns)
{
	char text[BSV_DURATION_TEXT];
	int64_t whole = bsv_whole(rint(fabs(ns)));

	snprintf(to, BSV_DURATION_TEXT + 1, "%s%s", ns < 0 ? "-" : "+", bsv_duration(text, whole));
	return to;
}

/* "slots (+21 us), reply (+9 us)", the largest part first. Owned by the caller. */
static char *phases_text(const struct bsv_pair *p)
{
	char *ret = strdup("");
	bool told[BSV_PHASES] = { false };

	for (int i = 0; i < NAMED; i++) {
		bsv_scoped_text *before = ret;
		char ns[BSV_DURATION_TEXT + 1];
		int most = 0;

		/*
		 * A phase is named if it is at least a tenth of the change, in the same direction,
		 * and differs between the executions of A and of B.
		 */
		for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++) {
			double part = p->parts[phase], all = p->parts[BSV_E2E];
			bool matters = part * all > 0 && TENTH * fabs(part) >= fabs(all) &&
			               fabs(p->cliff[phase]) >= BSV_NEGLIGIBLE && p->cliff[phase] * part > 0;

			if (!told[phase] && matters && (!most || fabs(part) > fabs(p->parts[most])))
				most = phase;
		}
		if (!most || !before) {
			ret = before ? strdup(before) : NULL;
			continue;
		}
		told[most] = true;
		ret = bsv_text("%s%s%s (%s)", before, *before ? ", " : "", bsv_phase_names[most],
		               signed_duration(ns, p->parts[most]));
	}
	if (ret && !*ret) {
		free(ret);
		return strdup("no single phase");
	}
	return ret;
}

const char *bsv_changes_headline(struct bsv_changes *c)
{
	const struct bsv_changes_count *of[] = { &c->latency, &c->misses, &c->answers, &c->failures };
	struct bsv_changes_count all = { 0 };
	char new[48] = "";

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		all.worse += of[i]->worse;
		all.better += of[i]->better;
		all.same += of[i]->same;
		all.unsure += of[i]->unsure;
		all.few += of[i]->few;
	}
	if (c->only_in_b)
		snprintf(new, sizeof(new), ", %zu %s only in B", c->only_in_b,
		         bsv_plural(c->only_in_b, "group", "groups"));
	if (!c->found->tests && !all.unsure)
		return text_keep(c, bsv_text("Changes: cannot tell: too few executions%s", new));
	if (!all.worse && !all.better && !all.unsure)
		return text_keep(c, bsv_text("Changes: none; %zu %s, not distinguishable%s", all.same,
		                             bsv_plural(all.same, "comparison", "comparisons"), new));
	return text_keep(c, bsv_text("Changes: %zu worse, %zu better, %zu not distinguishable, %zu cannot tell%s",
	                             all.worse, all.better, all.same, all.unsure, new));
}

const char *bsv_changes_mean(struct bsv_changes *c)
{
	char by[BSV_DURATION_TEXT + 1], by_mix[BSV_DURATION_TEXT + 1], by_speed[BSV_DURATION_TEXT + 1];

	return text_keep(c, bsv_text("mean of all executions: %s; %s by mix (other executions were run), %s by speed "
	                             "(the same ones took longer or shorter)",
	                             signed_duration(by, (double)c->found->by),
	                             signed_duration(by_mix, (double)c->found->by_mix),
	                             signed_duration(by_speed, (double)c->found->by_speed)));
}

/* ---- cells ---- */

static void add_real(struct bsv_rows *rows, double value)
{
	if (isfinite(value))
		bsv_rows_real(rows, value);
	else
		bsv_rows_null(rows);
}

static void add_ns(struct bsv_rows *rows, double ns)
{
	if (isfinite(ns))
		bsv_rows_int(rows, bsv_whole(rint(ns)));
	else
		bsv_rows_null(rows);
}

/* People see "noisy/mlp burst warm": app, model, path, start. */
static void add_name(const struct bsv_changes *c, struct bsv_rows *rows, const char *app, const char *model,
                     const char *path, const char *start)
{
	if (c->people) {
		bsv_scoped_text *a = bsv_printable(app, strlen(app), NAME_WIDEST);
		bsv_scoped_text *m = bsv_printable(model, strlen(model), NAME_WIDEST);
		bsv_scoped_text *name = bsv_text("%s/%s %s%s%s", a && *a ? a : "?", m && *m ? m : "?", path,
		                                 start ? " " : "", start ? start : "");

		bsv_rows_text(rows, name);
		return;
	}
	bsv_rows_text(rows, app);
	bsv_rows_text(rows, model);
	bsv_rows_text(rows, path);
	bsv_rows_text(rows, start);
}

static void add_group(const struct bsv_changes *c, struct bsv_rows *rows, const struct bsv_pair *p)
{
	const struct bsv_group *g = p->a ? p->a : p->b;

	add_name(c, rows, g->app, g->model, g->path, g->cold < 0 ? NULL : g->cold ? "cold" : "warm");
}

/* ---- columns ---- */

/* Programs get the first NAMES columns as they are; people get one column in their place. */
/* clang-format off */
#define NAME_COLUMNS \
	{ "app", "text", NULL }, { "model", "text", NULL }, { "path", "label", NULL }, { "cold", "label", NULL }
/* clang-format on */

static const struct bsv_column test_columns[] = {
	NAME_COLUMNS,
	{ "measure", "label", NULL },
	{ "verdict", "label", NULL },
	{ "by_percent", "percent", "%" },
	{ "low_percent", "percent", "%" },
	{ "high_percent", "percent", "%" },
	{ "a_ns", "duration", "ns" },
	{ "b_ns", "duration", "ns" },
	{ "a_percent", "percent", "%" },
	{ "b_percent", "percent", "%" },
	{ "p_value", "number", NULL },
	{ "phases", "text", NULL },
};

/* Columns for people; a and b are texts, because they are durations in some rows and shares in others. */
static const struct bsv_column shown_columns[] = {
	{ "executions", "text", NULL },
	{ "measure", "label", NULL },
	{ "verdict", "label", NULL },
	{ "a", "text", NULL },
	{ "b", "text", NULL },
	{ "by_percent", "percent", "%" },
	{ "phases", "text", NULL },
	{ "low_percent", "percent", "%" },
	{ "high_percent", "percent", "%" },
};

static const struct bsv_column group_columns[] = {
	NAME_COLUMNS,
	{ "p50_a_ns", "duration", "ns" },
	{ "p50_b_ns", "duration", "ns" },
	{ "p10_a_ns", "duration", "ns" },
	{ "p10_b_ns", "duration", "ns" },
	{ "p99_a_ns", "duration", "ns" },
	{ "p99_b_ns", "duration", "ns" },
	{ "n_a", "count", NULL },
	{ "n_b", "count", NULL },
	{ "effect", "ratio", NULL },
	{ "recordings_a", "count", NULL },
	{ "recordings_b", "count", NULL },
};

static const struct bsv_column ending_columns[] = {
	NAME_COLUMNS,
	{ "missed_a_percent", "percent", "%" },
	{ "missed_b_percent", "percent", "%" },
	{ "answered_a_percent", "percent", "%" },
	{ "answered_b_percent", "percent", "%" },
	{ "n_a", "count", NULL },
	{ "n_b", "count", NULL },
	{ "failed_a", "count", NULL },
	{ "failed_b", "count", NULL },
	{ "deadlines_a", "count", NULL },
	{ "deadlines_b", "count", NULL },
	{ "per_second_a", "number", NULL },
	{ "per_second_b", "number", NULL },
	{ "missed_a", "count", NULL },
	{ "missed_b", "count", NULL },
	{ "answered_a", "count", NULL },
	{ "answered_b", "count", NULL },
};

static const struct bsv_column phase_columns[] = {
	NAME_COLUMNS,
	{ "phase", "label", NULL },
	{ "part_ns", "duration", "ns" },
	{ "near", "label", NULL },
	{ "effect", "ratio", NULL },
	{ "p50_a_ns", "duration", "ns" },
	{ "p50_b_ns", "duration", "ns" },
};

static const struct bsv_column mix_columns[] = {
	NAME_COLUMNS,
	{ "by_mix_ns", "duration", "ns" },
	{ "by_speed_ns", "duration", "ns" },
	{ "share_a_percent", "percent", "%" },
	{ "share_b_percent", "percent", "%" },
	{ "mean_a_ns", "duration", "ns" },
	{ "mean_b_ns", "duration", "ns" },
};

#define N_OF(columns) (sizeof(columns) / sizeof(*(columns)))

enum { GROUPS, ENDINGS, PHASE_BY_PHASE, MIX };

/* Programs also get the last @people_less columns. */
static struct bsv_rows *part_rows(struct bsv_changes *c, int part, const struct bsv_column *full, size_t n,
                                  size_t people_less)
{
	struct bsv_column *to = c->columns[part];

	if (!c->people)
		return bsv_rows_new(full, n);
	n -= NAMES + people_less;
	to[0] = (struct bsv_column){ "executions", "text", NULL };
	memcpy(to + 1, full + NAMES, n * sizeof(*to));
	return bsv_rows_new(to, n + 1);
}

/* ---- tests ---- */

static const char *const measures[BSV_LATENCIES] = { [BSV_P10] = "p10", [BSV_P50] = "p50", [BSV_P99] = "p99" };

static const char *verdict_text(const struct bsv_change *of, const char *worse, const char *better)
{
	switch (of->verdict) {
	case BSV_TOO_FEW:
		return "too few";
	case BSV_VANISHED:
		return "too few in B";
	case BSV_HIDDEN:
		return "cannot tell";
	case BSV_SAME:
		return "not distinguishable";
	case BSV_CHANGED:
		return of->by > 0 ? worse : better;
	}
	return "";
}

static bool is_for_people(const struct bsv_change *of)
{
	return of->verdict != BSV_TOO_FEW && of->verdict != BSV_SAME;
}

/* The columns after the name, for all kinds of tests. */
/*
 * An end of the interval of a latency's change, in percent. Beyond a thousand times the interval has no end there, as
 * where recordings are too short for the variation in them; @share: in percentage points, which have no such limit.
 */
static void add_end(struct bsv_rows *rows, double change, bool share)
{
	bool endless = !share && (change > THOUSAND_TIMES - 1 || change < 1.0 / THOUSAND_TIMES - 1);

	add_real(rows, endless ? NAN : 100 * change);
}

static void add_test(const struct bsv_changes *c, struct bsv_rows *rows, const char *measure, const char *verdict,
                     const struct bsv_change *of, const char *a, const char *b, const char *phases, bool share)
{
	bsv_rows_text(rows, measure);
	bsv_rows_text(rows, verdict);
	if (c->people) {
		bsv_rows_text(rows, a);
		bsv_rows_text(rows, b);
		add_real(rows, of->verdict == BSV_VANISHED ? NAN : 100 * of->by); /* NAN: too few executions */
		bsv_rows_text(rows, phases);
	}
	if (!c->people)
		add_real(rows, 100 * of->by);
	add_end(rows, of->low, share);
	add_end(rows, of->high, share);
	if (!c->people) {
		add_ns(rows, share ? NAN : of->a);
		add_ns(rows, share ? NAN : of->b);
		add_real(rows, share ? 100 * of->a : NAN);
		add_real(rows, share ? 100 * of->b : NAN);
		add_real(rows, of->p);
		bsv_rows_text(rows, phases);
	}
}

static const char *duration_or_none(char to[BSV_DURATION_TEXT], double ns)
{
	return isfinite(ns) ? bsv_duration(to, bsv_whole(rint(ns))) : "-";
}

static void add_share_test(const struct bsv_changes *c, struct bsv_rows *rows, const struct bsv_ending_pair *p,
                           const char *measure, const struct bsv_change *of, const size_t n[4])
{
	const struct bsv_tally *t = tally_of(p);
	bsv_scoped_text *a = NULL, *b = NULL;
	const char *verdict = verdict_text(of, "more", "fewer");

	if (c->people && !is_for_people(of))
		return;
	a = bsv_text("%zu of %zu", n[0], n[1]);
	b = bsv_text("%zu of %zu", n[2], n[3]);
	add_name(c, rows, t->app, t->model, t->path, NULL);
	add_test(c, rows, measure, verdict, of, a, b, NULL, true);
}

struct bsv_rows *bsv_changes_tests(struct bsv_changes *c)
{
	struct bsv_rows *rows = c->people ? bsv_rows_new(shown_columns, N_OF(shown_columns))
	                                  : bsv_rows_new(test_columns, N_OF(test_columns));

	for (size_t i = 0; rows && i < c->found->n_endings; i++) {
		const struct bsv_ending_pair *p = &c->found->endings[i];

		if (p->deadlines)
			add_share_test(c, rows, p, "misses", &p->misses,
			               (size_t[]){ p->missed_a, p->deadlines_a, p->missed_b, p->deadlines_b });
		add_share_test(c, rows, p, "answers", &p->answers,
		               (size_t[]){ p->answered_a, p->ended_a, p->answered_b, p->ended_b });
		add_share_test(c, rows, p, "failures", &p->failures,
		               (size_t[]){ p->failed_a, p->due_a, p->failed_b, p->due_b });
	}
	for (size_t i = 0; rows && i < c->found->n; i++) {
		const struct bsv_pair *p = c->order[i];
		const struct bsv_change *of;
		char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT], ns[BSV_DURATION_TEXT + 1];
		bsv_scoped_text *from = NULL;

		for (int k = 0; k < BSV_LATENCIES; k++) {
			bool source = p->latency[k].verdict == BSV_CHANGED && p->near == (enum bsv_tested)k;
			bsv_scoped_text *phases = source ? phases_text(p) : NULL;
			const char *verdict;

			of = &p->latency[k];
			verdict = verdict_text(of, "slower", "faster");
			if (c->people &&
			    (p->a ? !is_for_people(of) : k != BSV_P50)) /* as bsv_changes_init counts them */
				continue;
			if (!p->a || (!p->b && of->verdict != BSV_TOO_FEW))
				verdict = p->a ? "only in A" : "only in B";
			add_group(c, rows, p);
			add_test(c, rows, measures[k], verdict, of, duration_or_none(a, of->a),
			         duration_or_none(b, of->b), phases, false);
		}

		/* Cpu time is not a phase but a part of the run, so the run is the source of all of its change. */
		of = &p->compute;
		if (of->verdict == BSV_TOO_FEW || (c->people && !is_for_people(of)))
			continue;
		if (of->verdict == BSV_CHANGED)
			from = bsv_text("%s (%s)", bsv_phase_names[BSV_RUN], signed_duration(ns, of->b - of->a));
		add_group(c, rows, p);
		add_test(c, rows, "cpu", verdict_text(of, "slower", "faster"), of, duration_or_none(a, of->a),
		         duration_or_none(b, of->b), from, false);
	}
	return rows;
}

/* ---- descriptions ---- */

static void add_latency(struct bsv_rows *rows, const struct bsv_change *of)
{
	add_ns(rows, of->a);
	add_ns(rows, of->b);
}

struct bsv_rows *bsv_changes_groups(struct bsv_changes *c)
{
	struct bsv_rows *rows = part_rows(c, GROUPS, group_columns, N_OF(group_columns), 2);

	for (size_t i = 0; rows && i < c->found->n; i++) {
		const struct bsv_pair *p = c->order[i];

		add_group(c, rows, p);
		add_latency(rows, &p->latency[BSV_P50]);
		add_latency(rows, &p->latency[BSV_P10]);
		add_latency(rows, &p->latency[BSV_P99]);
		bsv_rows_int(rows, (int64_t)p->n_a);
		bsv_rows_int(rows, (int64_t)p->n_b);
		add_real(rows, p->tested ? p->cliff[BSV_E2E] : NAN);
		if (c->people)
			continue;
		bsv_rows_int(rows, (int64_t)p->of_a);
		bsv_rows_int(rows, (int64_t)p->of_b);
	}
	return rows;
}

static double percent_of(size_t n, size_t of)
{
	return of ? 100 * (double)n / (double)of : NAN;
}

struct bsv_rows *bsv_changes_endings(struct bsv_changes *c, size_t *ret_n)
{
	struct bsv_rows *rows = part_rows(c, ENDINGS, ending_columns, N_OF(ending_columns), 6);

	*ret_n = 0;
	for (size_t i = 0; rows && i < c->found->n_endings; i++) {
		const struct bsv_ending_pair *p = &c->found->endings[i];
		const struct bsv_tally *t = tally_of(p);

		if (c->people && !p->deadlines && p->ended_a == p->answered_a && p->ended_b == p->answered_b)
			continue;
		++*ret_n;
		add_name(c, rows, t->app, t->model, t->path, NULL);
		add_real(rows, percent_of(p->missed_a, p->deadlines_a));
		add_real(rows, percent_of(p->missed_b, p->deadlines_b));
		add_real(rows, percent_of(p->answered_a, p->ended_a));
		add_real(rows, percent_of(p->answered_b, p->ended_b));
		bsv_rows_int(rows, (int64_t)p->ended_a);
		bsv_rows_int(rows, (int64_t)p->ended_b);
		bsv_rows_int(rows, (int64_t)p->failed_a);
		bsv_rows_int(rows, (int64_t)p->failed_b);
		bsv_rows_int(rows, (int64_t)p->deadlines_a);
		bsv_rows_int(rows, (int64_t)p->deadlines_b);
		if (c->people)
			continue;
		add_real(rows, p->per_second_a);
		add_real(rows, p->per_second_b);
		bsv_rows_int(rows, (int64_t)p->missed_a);
		bsv_rows_int(rows, (int64_t)p->missed_b);
		bsv_rows_int(rows, (int64_t)p->answered_a);
		bsv_rows_int(rows, (int64_t)p->answered_b);
	}
	return rows;
}

static bool any_changed(const struct bsv_pair *p)
{
	for (int i = 0; i < BSV_LATENCIES; i++)
		if (p->latency[i].verdict == BSV_CHANGED)
			return true;
	return p->compute.verdict == BSV_CHANGED;
}

struct bsv_rows *bsv_changes_phases(struct bsv_changes *c, size_t *ret_n)
{
	struct bsv_rows *rows = part_rows(c, PHASE_BY_PHASE, phase_columns, N_OF(phase_columns), 0);

	*ret_n = 0;
	for (size_t i = 0; rows && i < c->found->common; i++) {
		const struct bsv_pair *p = c->order[i];

		for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++) {
			if (!bsv_pair_has(p, phase))
				continue;
			if (c->people && (!any_changed(p) || TENTH * fabs(p->parts[phase]) < fabs(p->parts[BSV_E2E])))
				continue;
			++*ret_n;
			add_group(c, rows, p);
			bsv_rows_text(rows, bsv_phase_names[phase]);
			add_ns(rows, p->parts[phase]);
			bsv_rows_text(rows, measures[p->near]);
			add_real(rows, p->cliff[phase]);
			bsv_rows_int(rows, p->p50_a[phase]);
			bsv_rows_int(rows, p->p50_b[phase]);
		}
	}
	return rows;
}

struct bsv_rows *bsv_changes_mix(struct bsv_changes *c, size_t *ret_n)
{
	struct bsv_rows *rows = part_rows(c, MIX, mix_columns, N_OF(mix_columns), 0);
	bool idle = c->found->n == 1 || (!c->found->by_mix && !c->found->by_speed);

	*ret_n = c->people && idle ? 0 : c->found->n;
	for (size_t i = 0; rows && i < *ret_n; i++) {
		const struct bsv_pair *p = c->order[i];

		add_group(c, rows, p);
		bsv_rows_int(rows, p->by_mix);
		bsv_rows_int(rows, p->by_speed);
		bsv_rows_real(rows, 100 * p->share_a);
		bsv_rows_real(rows, 100 * p->share_b);
		add_ns(rows, p->a ? p->mean_a : NAN);
		add_ns(rows, p->b ? p->mean_b : NAN);
	}
	return rows;
}

/* ---- order ---- */

/* A pair, and what its place depends on: beside each other, because each is compared with many. */
struct ranked {
	struct bsv_pair *pair;
	double time; /* total time in what changed */
	int rank;
};

static int by_importance(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank - b->rank;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return (a->pair > b->pair) - (a->pair < b->pair);
}

/* @worse: the sign of a change for the worse. */
static void count_one(struct bsv_changes_count *to, const struct bsv_change *of, int worse)
{
	switch (of->verdict) {
	case BSV_TOO_FEW:
		to->few++;
		return;
	case BSV_VANISHED:
	case BSV_HIDDEN:
		to->unsure++;
		return;
	case BSV_SAME:
		to->same++;
		return;
	case BSV_CHANGED:
		(*(of->by * worse > 0 ? &to->worse : &to->better))++;
	}
}

int bsv_changes_init(struct bsv_changes *ret, const struct bsv_comparison *found, bool people, struct bsa_err *err)
{
	struct ranked *ranked = malloc((found->n + 1) * sizeof(*ranked));

	memset(ret, 0, sizeof(*ret));
	ret->found = found;
	ret->people = people;
	ret->order = malloc((found->n + 1) * sizeof(*ret->order));
	if (!ranked || !ret->order) {
		free(ranked);
		return bsv_no_memory(err);
	}
	assert(found->common <= found->n);
	for (size_t i = 0; i < found->n; i++) {
		struct bsv_pair *p = &found->pairs[i];
		const struct bsv_change *median = &p->latency[BSV_P50];

		ranked[i] = (struct ranked){ .pair = p, .rank = 3 };
		if (!p->tested)
			continue;
		ranked[i].time = fabs(median->b - median->a) * (double)p->n_b;
		ranked[i].rank = any_changed(p) ? 0 : median->verdict == BSV_TOO_FEW ? 2 : 1;
	}
	qsort(ranked, found->n, sizeof(*ranked), by_importance);
	for (size_t i = 0; i < found->n; i++)
		ret->order[i] = ranked[i].pair;
	free(ranked);

	/*
	 * Groups that are only in B cannot be compared: they are counted as groups, not as tests,
	 * and no verdict depends on them.
	 */
	for (size_t i = 0; i < found->n; i++) {
		const struct bsv_pair *p = &found->pairs[i];

		ret->only_in_b += !p->a;
		for (int k = 0; p->a && k < BSV_LATENCIES; k++)
			count_one(&ret->latency, &p->latency[k], 1);
		if (p->compute.verdict != BSV_TOO_FEW)
			count_one(&ret->latency, &p->compute, 1);
	}
	for (size_t i = 0; i < found->n_endings; i++) {
		const struct bsv_ending_pair *p = &found->endings[i];

		if (!p->a)
			continue;
		if (p->deadlines)
			count_one(&ret->misses, &p->misses, 1);
		count_one(&ret->answers, &p->answers, -1);
		/* Otherwise misses and answers already count these executions. */
		if (p->failures.verdict != BSV_TOO_FEW || p->answers.verdict == BSV_TOO_FEW)
			count_one(&ret->failures, &p->failures, 1);
	}
	return 0;
}

void bsv_changes_fini(struct bsv_changes *c)
{
	for (size_t i = 0; i < c->n_texts; i++)
		free(c->texts[i]);
	free(c->order);
	memset(c, 0, sizeof(*c));
}

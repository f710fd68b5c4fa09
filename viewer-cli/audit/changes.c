/* changes.c -- see changes.h. */
#include "audit/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/say.h"
#include "answer/scoped.h"
#include "answer/screen.h"
#include "answer/template.h"

enum { NAME_WIDEST = 40, TELLING = 20, NAMES = 4 /* columns that say which group it is */ };

/* Keep @text as long as @c. */
static const char *keep(struct bsv_changes *c, char *text)
{
	if (text && c->n_texts < BSV_CHANGES_TEXTS)
		return c->texts[c->n_texts++] = text;
	free(text);
	return "";
}

/* ---- words ---- */

static const char *heat(const struct bsv_group *g)
{
	return g->cold < 0 ? NULL : g->cold ? "cold" : "warm";
}

/* "noisy/mlp burst warm": the app, and its model. Owned by the caller. */
static char *called(const struct bsv_pair *p)
{
	const struct bsv_group *g = p->a ? p->a : p->b;
	bsv_scoped_text *app = bsv_printable(g->app, strlen(g->app), NAME_WIDEST);
	bsv_scoped_text *model = bsv_printable(g->model, strlen(g->model), NAME_WIDEST);

	return bsv_text("%s/%s %s%s%s", app && *app ? app : "?", model && *model ? model : "?", g->path,
	                heat(g) ? " " : "", heat(g) ? heat(g) : "");
}

/* With its sign. */
static const char *signed_duration(char to[BSV_DURATION_TEXT + 1], int64_t ns)
{
	char text[BSV_DURATION_TEXT];

	snprintf(to, BSV_DURATION_TEXT + 1, "%s%s", ns < 0 ? "-" : "+", bsv_duration(text, ns < 0 ? -ns : ns));
	return to;
}

/* The phase that gave most to a change of the mean in this direction; 0: none. */
static int source(const struct bsv_pair *p, double by)
{
	int ret = 0;

	if (by * (double)p->mean_by[BSV_E2E] <= 0)
		return 0;
	for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++)
		if (by * (double)p->mean_by[phase] > 0 && (!ret || llabs(p->mean_by[phase]) > llabs(p->mean_by[ret])))
			ret = phase;
	return ret;
}

/* "+12 % [+9, +15]", or "120 times [64, 206]". Owned by the caller. */
static char *relative(const struct bsv_change *c)
{
	double base = c->a > 0 ? (double)c->a / 100 : 1;

	if (c->by.value / base < 900)
		return bsv_text("%+.3g %% [%+.3g, %+.3g]", c->by.value / base, c->by.low / base, c->by.high / base);
	base *= 100;
	return bsv_text("%.3g times [%.3g, %.3g]", 1 + c->by.value / base, 1 + c->by.low / base, 1 + c->by.high / base);
}

/* "app/model burst warm: p50 +12 % [+9, +15] (+80 us); mostly queue (+75 us of +90 us on average)". Owned by the caller. */
static char *change_text(const struct bsv_pair *p)
{
	bool median = p->p50[BSV_E2E].verdict == BSV_CHANGED;
	const struct bsv_change *c = median ? &p->p50[BSV_E2E] : &p->p99[BSV_E2E];
	bsv_scoped_text *name = called(p), *from = NULL, *by = relative(c);
	char ns[BSV_DURATION_TEXT + 1], part[BSV_DURATION_TEXT + 1], all[BSV_DURATION_TEXT + 1];
	int phase = source(p, c->by.value);

	if (phase)
		from = bsv_text("; mostly %s (%s of %s on average)", bsv_phase_names[phase],
		                signed_duration(part, p->mean_by[phase]), signed_duration(all, p->mean_by[BSV_E2E]));
	return bsv_text("%s: %s %s (%s)%s", name ? name : "", median ? "p50" : "p99", by ? by : "",
	                signed_duration(ns, (int64_t)c->by.value), from ? from : "");
}

/* 1: it became slower; -1: faster; 0: neither was seen. */
static int direction(const struct bsv_pair *p)
{
	const struct bsv_change *c = p->p50[BSV_E2E].verdict == BSV_CHANGED ? &p->p50[BSV_E2E] : &p->p99[BSV_E2E];

	return c->verdict != BSV_CHANGED ? 0 : c->by.value > 0 ? 1 : -1;
}

const char *bsv_changes_headline(struct bsv_changes *c)
{
	size_t changed = c->n.slower + c->n.faster;
	const char *first, *word;

	if (!changed && c->n.same)
		return keep(c, bsv_text("not distinguishable: no median and no p99 from end to end differs by more "
		                        "than chance would "
		                        "have it (%zu %s)",
		                        c->n.same, bsv_plural(c->n.same, "group", "groups")));
	if (!changed)
		return "cannot tell: too few executions";
	word = direction(c->order[0]) > 0 ? "slower" : "faster";
	first = keep(c, change_text(c->order[0]));
	if (changed == 1)
		return keep(c, bsv_text("%s: %s", word, first));
	return keep(c, bsv_text("%s: %s. Of all groups %zu slower, %zu faster, %zu not distinguishable", word, first,
	                        c->n.slower, c->n.faster, c->n.same + c->n.few));
}

const char *bsv_changes_mean(struct bsv_changes *c)
{
	char by[BSV_DURATION_TEXT + 1], by_mix[BSV_DURATION_TEXT + 1], by_speed[BSV_DURATION_TEXT + 1];

	return keep(c, bsv_text("The mean of all executions: %s; %s by mix (other executions were run), %s by speed "
	                        "(the same ones "
	                        "took longer or shorter)",
	                        signed_duration(by, c->found->by), signed_duration(by_mix, c->found->by_mix),
	                        signed_duration(by_speed, c->found->by_speed)));
}

/* ---- rows ---- */

/* Programs get the first NAMES columns as they are, people one in their place. What matters most comes first: a narrow screen leaves out the last ones. */
/* clang-format off */
#define NAME_COLUMNS \
	{ "app", "text", NULL }, { "model", "text", NULL }, { "path", "label", NULL }, { "cold", "label", NULL }

/* What add_row() adds after the name and the percentiles. */
#define CHANGE_COLUMNS                                                                                               \
	{ "by_percent", "percent", "%" }, { "low_percent", "percent", "%" }, { "high_percent", "percent", "%" },     \
	{ "verdict", "label", NULL }, { "n_a", "count", NULL }, { "n_b", "count", NULL },                            \
	{ "effect", "ratio", NULL }, { "by_ns", "duration", "ns" }, { "low_ns", "duration", "ns" },                  \
	{ "high_ns", "duration", "ns" }
/* clang-format on */

static const struct bsv_column group_columns[] = {
	NAME_COLUMNS,
	{ "p50_a_ns", "duration", "ns" },
	{ "p50_b_ns", "duration", "ns" },
	CHANGE_COLUMNS,
};

static const struct bsv_column tail_columns[] = {
	NAME_COLUMNS,
	{ "p99_a_ns", "duration", "ns" },
	{ "p99_b_ns", "duration", "ns" },
	CHANGE_COLUMNS,
};

static const struct bsv_column phase_columns[] = {
	NAME_COLUMNS,
	{ "phase", "label", NULL },
	{ "mean_by_ns", "duration", "ns" },
	{ "p50_a_ns", "duration", "ns" },
	{ "p50_b_ns", "duration", "ns" },
	{ "verdict", "label", NULL },
	{ "effect", "ratio", NULL },
	{ "by_ns", "duration", "ns" },
	{ "low_ns", "duration", "ns" },
	{ "high_ns", "duration", "ns" },
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

/* The last @people_less columns are for programs. */
static struct bsv_rows *rows_of(struct bsv_changes *c, int part, const struct bsv_column *full, size_t n,
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

static void add_name(const struct bsv_changes *c, struct bsv_rows *rows, const struct bsv_pair *p)
{
	const struct bsv_group *g = p->a ? p->a : p->b;
	bsv_scoped_text *name = called(p);

	if (c->people) {
		bsv_rows_text(rows, name);
		return;
	}
	bsv_rows_text(rows, g->app);
	bsv_rows_text(rows, g->model);
	bsv_rows_text(rows, g->path);
	bsv_rows_text(rows, heat(g));
}

static void add_known(struct bsv_rows *rows, bool known, int64_t value)
{
	if (known)
		bsv_rows_int(rows, value);
	else
		bsv_rows_null(rows);
}

static void add_percent(struct bsv_rows *rows, bool known, double value, const struct bsv_change *c)
{
	if (known && c->a > 0)
		bsv_rows_real(rows, 100 * value / (double)c->a);
	else
		bsv_rows_null(rows);
}

static void add_real(struct bsv_rows *rows, bool known, double value)
{
	if (known)
		bsv_rows_real(rows, value);
	else
		bsv_rows_null(rows);
}

/* For programs as docs/figures.md has it, for people in short. */
static const char *verdict_text(const struct bsv_changes *c, const struct bsv_pair *p, const struct bsv_change *of)
{
	static const char *const full[] = {
		[BSV_TOO_FEW] = "cannot tell", [BSV_SAME] = "not distinguishable", [BSV_CHANGED] = "changed"
	};

	if (!p->a || !p->b)
		return p->a ? "only in A" : "only in B";
	if (!c->people)
		return full[of->verdict];
	if (of->verdict == BSV_CHANGED)
		return of->by.value > 0 ? "slower" : "faster";
	return of->verdict == BSV_SAME ? "noise?" : "too few";
}

/* A row of groups or tails. */
static void add_row(const struct bsv_changes *c, struct bsv_rows *rows, const struct bsv_pair *p,
                    const struct bsv_change *of)
{
	bool both = p->a && p->b, known = both && of->verdict != BSV_TOO_FEW;

	add_name(c, rows, p);
	add_known(rows, both, of->a);
	add_known(rows, both, of->b);
	add_percent(rows, both, (double)of->b - (double)of->a, of);
	add_percent(rows, known, of->by.low, of);
	add_percent(rows, known, of->by.high, of);
	bsv_rows_text(rows, verdict_text(c, p, of));
	bsv_rows_int(rows, p->a ? (int64_t)p->a->n : 0);
	bsv_rows_int(rows, p->b ? (int64_t)p->b->n : 0);
	add_real(rows, both, p->cliff[BSV_E2E]);
	if (c->people)
		return;
	add_known(rows, both, of->b - of->a);
	add_known(rows, known, bsv_whole(of->by.low));
	add_known(rows, known, bsv_whole(of->by.high));
}

enum { GROUPS, TAILS, PHASE_BY_PHASE, MIX, INTERVAL_NS = 3 };

struct bsv_rows *bsv_changes_groups(struct bsv_changes *c)
{
	struct bsv_rows *rows = rows_of(c, GROUPS, group_columns, N_OF(group_columns), INTERVAL_NS);

	for (size_t i = 0; rows && i < c->found->n; i++)
		add_row(c, rows, c->order[i], &c->order[i]->p50[BSV_E2E]);
	return rows;
}

struct bsv_rows *bsv_changes_tails(struct bsv_changes *c, size_t *ret_n)
{
	struct bsv_rows *rows = rows_of(c, TAILS, tail_columns, N_OF(tail_columns), INTERVAL_NS);

	*ret_n = 0;
	for (size_t i = 0; rows && i < c->found->common; i++) {
		const struct bsv_pair *p = c->order[i];

		if (c->people && p->p99[BSV_E2E].verdict == BSV_TOO_FEW)
			continue;
		add_row(c, rows, p, &p->p99[BSV_E2E]);
		++*ret_n;
	}
	return rows;
}

/* Is that phase one to be shown to people? It changed, or it is a part of what did. */
static bool telling(const struct bsv_pair *p, int phase)
{
	if (p->p50[phase].verdict == BSV_TOO_FEW)
		return false;
	return p->p50[phase].verdict == BSV_CHANGED ||
	       (direction(p) && TELLING * llabs(p->mean_by[phase]) >= llabs(p->mean_by[BSV_E2E]));
}

static void add_phase(const struct bsv_changes *c, struct bsv_rows *rows, const struct bsv_pair *p, int phase)
{
	const struct bsv_change *of = &p->p50[phase];
	bool known = of->verdict != BSV_TOO_FEW;

	add_name(c, rows, p);
	bsv_rows_text(rows, bsv_phase_names[phase]);
	bsv_rows_int(rows, p->mean_by[phase]);
	bsv_rows_int(rows, of->a);
	bsv_rows_int(rows, of->b);
	bsv_rows_text(rows, verdict_text(c, p, of));
	bsv_rows_real(rows, p->cliff[phase]);
	if (c->people)
		return;
	bsv_rows_int(rows, of->b - of->a);
	add_known(rows, known, bsv_whole(of->by.low));
	add_known(rows, known, bsv_whole(of->by.high));
}

struct bsv_rows *bsv_changes_phases(struct bsv_changes *c, size_t *ret_n)
{
	struct bsv_rows *rows = rows_of(c, PHASE_BY_PHASE, phase_columns, N_OF(phase_columns), INTERVAL_NS);

	*ret_n = 0;
	for (size_t i = 0; rows && i < c->found->common; i++)
		for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++)
			if (bsv_pair_has(c->order[i], phase) && (!c->people || telling(c->order[i], phase))) {
				add_phase(c, rows, c->order[i], phase);
				++*ret_n;
			}
	return rows;
}

static void add_mean(struct bsv_rows *rows, const struct bsv_group *g)
{
	if (g)
		bsv_rows_int(rows, (int64_t)((g->sum[BSV_E2E] + (__int128)(g->n / 2)) / (__int128)g->n));
	else
		bsv_rows_null(rows);
}

struct bsv_rows *bsv_changes_mix(struct bsv_changes *c)
{
	struct bsv_rows *rows = rows_of(c, MIX, mix_columns, N_OF(mix_columns), 0);

	for (size_t i = 0; rows && i < c->found->n; i++) {
		const struct bsv_pair *p = c->order[i];

		add_name(c, rows, p);
		bsv_rows_int(rows, p->by_mix);
		bsv_rows_int(rows, p->by_speed);
		bsv_rows_real(rows, 100 * p->share_a);
		bsv_rows_real(rows, 100 * p->share_b);
		add_mean(rows, p->a);
		add_mean(rows, p->b);
	}
	return rows;
}

/* ---- in order ---- */

/* How much time there is in what changed. */
static double weight(const struct bsv_pair *p)
{
	return p->a && p->b ? fabs((double)p->p50[BSV_E2E].b - (double)p->p50[BSV_E2E].a) * (double)p->b->n : 0;
}

static int rank(const struct bsv_pair *p)
{
	if (!p->a || !p->b)
		return 3;
	return direction(p) ? 0 : p->p50[BSV_E2E].verdict == BSV_TOO_FEW ? 2 : 1;
}

static int by_importance(const void *x, const void *y)
{
	const struct bsv_pair *a = *(struct bsv_pair *const *)x, *b = *(struct bsv_pair *const *)y;

	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	if (weight(a) != weight(b))
		return weight(a) > weight(b) ? -1 : 1;
	return (a > b) - (a < b);
}

static void count(struct bsv_changes *c)
{
	for (size_t i = 0; i < c->found->common; i++) {
		const struct bsv_pair *p = c->order[i];
		int d = direction(p);

		if (d)
			(*(d > 0 ? &c->n.slower : &c->n.faster))++;
		else
			(*(p->p50[BSV_E2E].verdict == BSV_TOO_FEW ? &c->n.few : &c->n.same))++;
	}
}

int bsv_changes_init(struct bsv_changes *ret, const struct bsv_comparison *found, bool people, struct bsa_err *err)
{
	memset(ret, 0, sizeof(*ret));
	ret->found = found;
	ret->people = people;
	ret->order = malloc((found->n + 1) * sizeof(*ret->order));
	if (!ret->order)
		return bsv_no_memory(err);
	for (size_t i = 0; i < found->n; i++)
		ret->order[i] = &found->pairs[i];
	qsort(ret->order, found->n, sizeof(*ret->order), by_importance);
	count(ret);
	return 0;
}

void bsv_changes_fini(struct bsv_changes *c)
{
	for (size_t i = 0; i < c->n_texts; i++)
		free(c->texts[i]);
	free(c->order);
	memset(c, 0, sizeof(*c));
}

/* usual.c -- keeps the typical phases of each model so far, for the blame of misses. */
#include "live/usual.h"

#include "base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_ROOM = 8,
	LATE_ROOM = 256,   /* rows of a group that appears when the limit is reached */
	GROUPS_MAX = 4096, /* limit of groups; nothing is kept of further ones */
	GROWN_BY = 4       /* the medians are computed again when a group has grown by a fourth */
};

/* Rows of @each numbers; when there are too many, the newest row replaces the oldest. */
struct kept {
	uint64_t *of;   /* owned */
	size_t n, room; /* rows */
	size_t next;    /* the row that is replaced next */
	size_t each;
};

/* The executions of one model on one path. */
struct group {
	struct bsa_entry entry;
	uint64_t n_quiet, n_budgets; /* number of all, kept or not */
	struct kept quiet;           /* phases of the executions that got an idle lane and kept it */
	struct kept budgets;
	/* runs of all warm executions and of all others, without redo; kept until n_quiet is BSA_TYPICAL_MIN */
	uint64_t n_runs;
	struct kept warm, others;
	uint64_t least[BSA_PHASES];
	bool any;                /* an execution was complete and answered: the store has a row of it */
	struct bsa_typical last; /* as computed when there were so many: */
	uint64_t last_quiet, last_budgets, last_runs;
};

struct model {
	struct bsa_entry entry;
	uint64_t estimate_ns;
	uint32_t app;
};

struct bsa_usual {
	struct bsa_table groups, models;
	size_t n_quiet, n_budgets, n_runs; /* numbers kept */
	bool inexact;
};

struct bsa_usual *bsa_usual_new(void)
{
	struct bsa_usual *u = calloc(1, sizeof(*u));

	if (u && (bsa_table_init(&u->groups) || bsa_table_init(&u->models)))
		return bsa_usual_free(u);
	return u;
}

static void drop_all(struct bsa_table *t, void (*drop)(void *entry))
{
	struct bsa_entry *e;
	size_t from = 0;

	while (t->chains && (e = bsa_table_any(t, &from))) {
		bsa_table_remove(t, e);
		drop(e);
	}
	bsa_table_fini(t);
}

static void group_free(void *entry)
{
	struct group *g = entry;

	free(g->quiet.of);
	free(g->budgets.of);
	free(g->warm.of);
	free(g->others.of);
	free(g);
}

struct bsa_usual *bsa_usual_free(struct bsa_usual *u)
{
	if (!u)
		return NULL;
	drop_all(&u->groups, group_free);
	drop_all(&u->models, free);
	free(u);
	return NULL;
}

/* ---- numbers ---- */

/*
 * Make room for one more row, or leave it to replace the oldest. @n: room of all groups, USUAL_KEPT at most.
 * 0 or -ENOMEM.
 */
static int usual_make_room(struct bsa_usual *u, struct kept *k, size_t *n)
{
	size_t room = k->room ? 2 * k->room : FIRST_ROOM;
	uint64_t *more;

	if (k->n < k->room)
		return 0;
	if (*n + room - k->room > USUAL_KEPT) {
		u->inexact = true;
		if (k->room)
			return 0; /* the row replaces the oldest */
		room = LATE_ROOM;
	}
	more = reallocarray(k->of, room, k->each * sizeof(*more));
	if (!more)
		return -ENOMEM;
	*n += room - k->room;
	k->of = more;
	k->room = room;
	return 0;
}

static int keep_row(struct bsa_usual *u, struct kept *k, size_t *n, const uint64_t *row)
{
	int r = usual_make_room(u, k, n);

	if (r)
		return r;
	if (k->n == k->room)
		k->next %= k->room;
	else
		k->next = k->n++;
	memcpy(k->of + k->next * k->each, row, k->each * sizeof(*row));
	k->next++;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Returns the value of column @column that @tenths of ten do not exceed (nearest rank; 5: the median), without rows
 * that have BSA_NEVER; BSA_NEVER: no rows. @room holds all rows.
 */
static uint64_t tenths_of(const struct kept *k, size_t column, size_t tenths, uint64_t *room)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++)
		if (k->of[i * k->each + column] != BSA_NEVER)
			room[n++] = k->of[i * k->each + column];
	qsort(room, n, sizeof(*room), by_size);
	return n ? room[(tenths * n + 9) / 10 - 1] : BSA_NEVER;
}

/* ---- executions ---- */

static uint64_t key_of(const struct bsa_execution *x)
{
	return (uint64_t)x->model << 8 | x->path;
}

static struct group *group_of(struct bsa_usual *u, const struct bsa_execution *x)
{
	struct group *g = bsa_table_find(&u->groups, key_of(x));

	if (g)
		return g;
	if (u->groups.n == GROUPS_MAX) {
		u->inexact = true;
		return NULL;
	}
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	memset(g->least, 0xff, sizeof(g->least)); /* BSA_NEVER */
	g->quiet.each = BSA_PHASES;
	g->budgets.each = g->warm.each = g->others.each = 1;
	bsa_table_add(&u->groups, &g->entry, key_of(x));
	return g;
}

static void drop_runs(struct bsa_usual *u, struct kept *k)
{
	u->n_runs -= k->room;
	free(k->of);
	*k = (struct kept){ .each = 1 };
}

/* Keep the run of an answered execution as long as it can be the typical one. 0 or -ENOMEM. */
static int keep_run(struct bsa_usual *u, struct group *g, const struct bsa_execution *x, uint64_t run)
{
	if (g->n_quiet >= BSA_TYPICAL_MIN) {
		drop_runs(u, &g->warm);
		drop_runs(u, &g->others);
		return 0;
	}
	if (run == BSA_NEVER)
		return 0;
	g->n_runs++;
	return keep_row(u, bsa_is_warm(x->path, x->cold) ? &g->warm : &g->others, &u->n_runs, &run);
}

int bsa_usual_add(struct bsa_usual *u, const struct bsa_execution *x)
{
	bool answered = x->quality == BSA_QUALITY_COMPLETE && x->status == BSA_STATUS_NONE;
	uint64_t start = x->at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED];
	/* The budget, mapped so that unsigned order equals signed order. */
	uint64_t budget = (x->deadline - start) ^ UINT64_C(1) << 63;
	/* An execution of another app than the model's, or without a known app, may be forged: schema/budgets.sql. */
	const struct model *m = bsa_table_find(&u->models, x->model);
	bool is_own = x->app && m && (!m->app || x->app == m->app);
	bool budgeted = x->model && is_own && x->deadline && start != BSA_NEVER && budget != BSA_NEVER;
	struct group *g;
	int r = 0;

	if (x->path == BSA_PATH_PREPARE || (!answered && !budgeted))
		return 0;
	g = group_of(u, x);
	if (!g)
		return u->inexact ? 0 : -ENOMEM;
	if (answered) {
		g->any = true;
		for (unsigned i = 0; i < BSA_PHASES; i++) {
			uint64_t ns = i == BSA_RUN ? bsa_own_run(x) : x->phase[i];

			if (ns < g->least[i])
				g->least[i] = ns;
		}
	}

	/* @x got an idle lane and kept it. The condition is that of store/spill.c. */
	if (answered && x->idle && !x->preemptions && !x->redo && bsa_is_warm(x->path, x->cold)) {
		g->n_quiet++;
		r = keep_row(u, &g->quiet, &u->n_quiet, x->phase);
	}
	if (answered && !r)
		r = keep_run(u, g, x, bsa_own_run(x));
	if (budgeted && !r) {
		g->n_budgets++;
		r = keep_row(u, &g->budgets, &u->n_budgets, &budget);
	}
	return r;
}

int bsa_usual_model(struct bsa_usual *u, uint32_t model, uint32_t app, uint64_t estimate_ns)
{
	struct model *m = bsa_table_find(&u->models, model);

	if (!m && u->models.n == GROUPS_MAX) {
		u->inexact = true;
		return 0;
	}
	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		bsa_table_add(&u->models, &m->entry, model);
	}
	m->app = app;
	m->estimate_ns = estimate_ns;
	return 0;
}

/* ---- what is typical ---- */

static uint64_t known_or_0(uint64_t ns)
{
	return ns == BSA_NEVER ? 0 : ns;
}

static void group_look(struct bsa_usual *u, struct group *g)
{
	const struct kept *runs = g->warm.n ? &g->warm : &g->others;
	size_t most = g->quiet.n > g->budgets.n ? g->quiet.n : g->budgets.n;
	uint64_t *room, budget;

	most = most > runs->n ? most : runs->n;
	room = malloc((most + 1) * sizeof(*room));
	g->last = (struct bsa_typical){ .budget = BSA_NEVER, .ample_budget = BSA_NEVER, .n = g->n_quiet };
	if (!room) {
		u->inexact = true;
		g->last.n = 0;
		return;
	}
	for (unsigned i = 0; i < BSA_PHASES && g->n_quiet >= BSA_TYPICAL_MIN; i++)
		g->last.phase[i] = known_or_0(tenths_of(&g->quiet, i, 5, room));
	g->last.runs = g->n_quiet >= BSA_TYPICAL_MIN ? g->n_quiet : runs->n;
	if (g->n_quiet < BSA_TYPICAL_MIN && runs->n)
		g->last.phase[BSA_RUN] = tenths_of(runs, 0, 5, room);
	budget = tenths_of(&g->budgets, 0, 5, room) ^ UINT64_C(1) << 63;
	if (g->budgets.n && (int64_t)budget > 0)
		g->last.budget = budget;
	budget = tenths_of(&g->budgets, 0, 9, room) ^ UINT64_C(1) << 63;
	if (g->budgets.n && (int64_t)budget > 0)
		g->last.ample_budget = budget;
	g->last_quiet = g->n_quiet;
	g->last_budgets = g->n_budgets;
	g->last_runs = g->n_runs;
	free(room);
}

static bool is_old(uint64_t was, uint64_t is, bool exactly)
{
	return exactly || was < BSA_TYPICAL_MIN ? is != was : is - was > was / GROWN_BY;
}

struct bsa_typical bsa_usual_of(struct bsa_usual *u, const struct bsa_execution *x, bool exactly)
{
	struct group *g = bsa_table_find(&u->groups, key_of(x));
	const struct model *m = bsa_table_find(&u->models, x->model);
	struct bsa_typical ret = { .budget = BSA_NEVER, .ample_budget = BSA_NEVER };
	uint64_t start = x->at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED], most;

	if (g && (is_old(g->last_quiet, g->n_quiet, exactly) || is_old(g->last_budgets, g->n_budgets, exactly) ||
	          is_old(g->last_runs, g->n_runs, exactly)))
		group_look(u, g);
	if (g)
		ret = g->last;
	for (unsigned i = 0; g && g->any && i < BSA_PHASES; i++)
		ret.least[i] = known_or_0(g->least[i]);
	if (!ret.runs)
		ret.phase[BSA_RUN] = x->estimate && x->estimate != BSA_NEVER ? x->estimate : m ? m->estimate_ns : 0;

	/*
	 * The usual budget explains a miss only if that of @x is shorter than executions of the model ever
	 * took. The rule is that of store/blame_run.c.
	 */
	most = ret.phase[BSA_RUN];
	for (unsigned i = 0; i < BSA_PHASES; i++)
		most += ret.least[i] < BSA_NEVER / 2 / BSA_PHASES ? ret.least[i] : 0;
	if (!x->deadline || start == BSA_NEVER || x->deadline <= start || x->deadline - start >= most)
		ret.budget = ret.ample_budget = BSA_NEVER;
	return ret;
}

bool bsa_usual_is_exact(const struct bsa_usual *u)
{
	return !u->inexact;
}

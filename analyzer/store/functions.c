/*
 * functions.c -- defines the SQL functions: percentile(value, p), which keeps integers exactly; jain; duration; and
 * miss_sums, which adds up by cause what SQLite would have to sort first.
 */
#include "store/functions.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

/* ---- percentile(value, p) ---- */

/* Integers are kept exactly: 2^53 ns are only 104 days. One real, and all are kept as reals. */
struct values {
	size_t n, room;
	int real, asked; /* asked: p is known */
	double p;
	union value {
		int64_t i;
		double d;
	} * v;
};

static void percentile_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct values *w = sqlite3_aggregate_context(ctx, sizeof(*w));
	int type = sqlite3_value_numeric_type(argv[0]), p_type = sqlite3_value_numeric_type(argv[1]);
	union value *bigger;
	size_t room;

	(void)argc;
	if (!w || type == SQLITE_NULL)
		return;
	if (!w->asked) {
		w->p = sqlite3_value_double(argv[1]);
		if ((p_type != SQLITE_INTEGER && p_type != SQLITE_FLOAT) || !(w->p >= 0 && w->p <= 100)) {
			sqlite3_result_error(ctx, "percentile(value, p): p is a number from 0 to 100", -1);
			return;
		}
		w->asked = 1;
	}
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
		sqlite3_result_error(ctx, "percentile(value, p): the value is no number", -1);
		return;
	}
	if (w->n == w->room) {
		room = w->room ? 2 * w->room : 64;
		bigger = sqlite3_realloc64(w->v, room * sizeof(*bigger));
		if (!bigger) {
			sqlite3_result_error_nomem(ctx);
			return;
		}
		w->v = bigger;
		w->room = room;
	}
	if (type == SQLITE_FLOAT) {
		for (size_t i = 0; !w->real && i < w->n; i++)
			w->v[i].d = (double)w->v[i].i;
		w->real = 1;
	}
	if (w->real)
		w->v[w->n++].d = sqlite3_value_double(argv[0]);
	else
		w->v[w->n++].i = sqlite3_value_int64(argv[0]);
}

static void swap_values(uint64_t *a, uint64_t *b)
{
	uint64_t c = *a;

	*a = *b;
	*b = c;
}

/*
 * The @rank-th, from 0: quickselect in three parts, for many values are equal; the middle is taken from nine
 * places, so that nothing that comes in some order is slow.
 */
static uint64_t select_rank(uint64_t *v, size_t n, size_t rank)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		uint64_t pivot = v[lo + (hi - lo) / 2], few[9];
		size_t below = lo, i = lo, above = hi;

		if (hi - lo >= 64) {
			for (size_t k = 0; k < 9; k++) {
				few[k] = v[lo + (hi - lo - 1) * k / 8];
				for (size_t m = k; m > 0 && few[m - 1] > few[m]; m--)
					swap_values(&few[m - 1], &few[m]);
			}
			pivot = few[4];
		}
		while (i < above) {
			if (v[i] < pivot)
				swap_values(&v[i++], &v[below++]);
			else if (v[i] > pivot)
				swap_values(&v[i], &v[--above]);
			else
				i++;
		}
		if (rank < below)
			hi = below;
		else if (rank >= above)
			lo = above;
		else
			return pivot;
	}
	return v[lo];
}

static void percentile_final(sqlite3_context *ctx)
{
	struct values *w = sqlite3_aggregate_context(ctx, 0);
	double rank;
	uint64_t key, *keys;

	if (w && w->n) {
		/* An order that both kinds of number have as integers: of reals, by their bits. */
		keys = (uint64_t *)w->v;
		for (size_t i = 0; i < w->n; i++) {
			uint64_t bits = (uint64_t)w->v[i].i;

			keys[i] = w->real && bits >> 63 ? ~bits : bits ^ UINT64_C(1) << 63;
		}
		rank = ceil(w->p / 100 * (double)w->n - 1e-9); /* 99.9 % of 1000 are 999 */
		key = select_rank(keys, w->n, rank < 1 ? 0 : rank > (double)w->n ? w->n - 1 : (size_t)rank - 1);
		if (w->real) {
			union value v = { .i = (int64_t)(key >> 63 ? key ^ UINT64_C(1) << 63 : ~key) };

			sqlite3_result_double(ctx, v.d);
		} else {
			sqlite3_result_int64(ctx, (int64_t)(key ^ UINT64_C(1) << 63));
		}
	}
	if (w)
		sqlite3_free(w->v);
}

/* ---- jain(x), jain(x, n): x, n times ---- */

struct sums {
	double sum, squares;
	int64_t n;
};

static void jain_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sums *u = sqlite3_aggregate_context(ctx, sizeof(*u));
	int64_t n = argc > 1 ? sqlite3_value_int64(argv[1]) : 1;
	double x;

	if (!u || n <= 0 || n > INT64_MAX - u->n || sqlite3_value_numeric_type(argv[0]) == SQLITE_NULL)
		return;
	x = sqlite3_value_double(argv[0]);
	u->sum += x * (double)n;
	u->squares += x * x * (double)n;
	u->n += n;
}

/* NULL without rows, and if all values are 0. */
static void jain_final(sqlite3_context *ctx)
{
	const struct sums *u = sqlite3_aggregate_context(ctx, 0);

	if (u && u->squares > 0)
		sqlite3_result_double(ctx, u->sum * u->sum / ((double)u->n * u->squares));
}

/* ---- duration(ns): four digits, in the largest unit of which it is one or more ---- */

#define ROUNDS_UP 0.99995 /* part of a power of ten from which on four digits round up to it */

static void duration_sql(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	int type = sqlite3_value_numeric_type(argv[0]);
	double ns = sqlite3_value_double(argv[0]);
	char text[64];
	int decimals = 3;
	size_t i = 0;

	(void)argc;
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return;
	while (i < 3 && fabs(ns) < ROUNDS_UP * units[i].ns)
		i++;
	if (i < 3) {
		for (double most = 10 * ROUNDS_UP; decimals > 0 && fabs(ns) / units[i].ns >= most; most *= 10)
			decimals--;
		snprintf(text, sizeof(text), "%.*f %s", decimals, ns / units[i].ns, units[i].unit);
	} else
		snprintf(text, sizeof(text), "%.0f ns", ns);
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

/* ---- miss_sums: the causes of missed deadlines, added up by cause ---- */

/* What a cause has of one execution. */
struct own_causes {
	int64_t rows, known, primary, late_ns, saved; /* known: rows whose saved is; saved: the largest */
	bool has_late, has_saved, may_save, replayed, met, met_is_known;
};

struct cause_sums {
	char *cause; /* NULL: one that this version does not know */
	bool has_persistent, has_late;
	bool too_little_time, too_big;
	int64_t n, misses, persistent, saved, lost_ns, worst_ns, late_ns, budget_ns, unsure;
	struct own_causes own; /* of the execution at hand; no rows: it does not have this cause */
};

struct miss_sums {
	struct cause_sums *of;
	size_t n, room;
	int64_t execution_id;
	bool has_execution, persistent, persistent_is_known; /* of the execution at hand */
};

enum { MISS_SUMS_ARGS = 9 };

static bool add_up(int64_t *sum, int64_t value)
{
	return !__builtin_add_overflow(*sum, value, sum);
}

/*
 * May a replay without another cause have met the deadline? If none may, it is certain that too little time was left,
 * whatever is unknown of the cause itself.
 */
static bool others_may_save(const struct miss_sums *m, const struct cause_sums *c)
{
	for (size_t i = 0; i < m->n; i++)
		if (&m->of[i] != c && m->of[i].cause && m->of[i].own.rows && m->of[i].own.may_save)
			return true;
	return false;
}

/* Is it unknown whether a replay without the primary cause @c meets the deadline? */
static bool cause_is_unsure(const struct miss_sums *m, const struct cause_sums *c)
{
	const struct own_causes *own = &c->own;

	if (own->replayed)
		return !own->met_is_known;
	if ((own->has_saved && own->saved == 1) || own->known == own->rows || !c->cause)
		return false;
	if (!c->too_little_time)
		return true;
	if (c->too_big && m->persistent_is_known && m->persistent)
		return false;
	return others_may_save(m, c);
}

/* Add the execution at hand to the sums. False: one of them is too large. */
static bool execution_add(struct miss_sums *m)
{
	bool good = true;

	for (size_t i = 0; i < m->n; i++) {
		struct cause_sums *c = &m->of[i];
		const struct own_causes *own = &c->own;

		if (!own->rows)
			continue;
		c->n++;
		good = add_up(&c->misses, own->primary) && good;
		if (!own->primary || m->persistent_is_known) {
			c->has_persistent = true;
			c->persistent += own->primary && m->persistent;
		}
		c->saved += own->replayed ? own->met_is_known && own->met : own->has_saved && own->saved == 1;
		c->unsure += own->primary && cause_is_unsure(m, c);
		if (own->has_late) {
			good = add_up(&c->lost_ns, own->late_ns > 0 ? own->late_ns : 0) &&
			       add_up(&c->late_ns, own->late_ns) && good;
			if (!c->has_late || own->late_ns > c->worst_ns)
				c->worst_ns = own->late_ns;
			c->has_late = true;
		}
	}
	for (size_t i = 0; i < m->n; i++)
		m->of[i].own = (struct own_causes){ .rows = 0 };
	return good;
}

/* The sums of @cause, which are made if there are none. NULL: no memory. */
static struct cause_sums *cause_find(struct miss_sums *m, const char *cause)
{
	struct cause_sums *ret;

	for (size_t i = 0; i < m->n; i++)
		if (m->of[i].cause ? cause && !strcmp(m->of[i].cause, cause) : !cause)
			return &m->of[i];
	if (m->n == m->room) {
		size_t room = m->room ? 2 * m->room : 32;
		struct cause_sums *of = sqlite3_realloc64(m->of, room * sizeof(*of));

		if (!of)
			return NULL;
		m->of = of;
		m->room = room;
	}
	ret = &m->of[m->n];
	*ret = (struct cause_sums){ .cause = cause ? sqlite3_mprintf("%s", cause) : NULL };
	if (cause && !ret->cause)
		return NULL;
	ret->too_big = cause && !strcmp(cause, "too_big");
	ret->too_little_time =
		ret->too_big || (cause && (!strcmp(cause, "too_tight") || !strcmp(cause, "submitted_late")));
	m->n++;
	return ret;
}

/* A row of miss_cause; whether the status of its execution is persistent; its row of miss_without. */
static void miss_sums_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	enum { EXECUTION_ID, CAUSE, IS_PRIMARY, LATE_NS, BUDGET_NS, SAVED, PERSISTENT, REPLAYED, MET };
	struct miss_sums *m = sqlite3_aggregate_context(ctx, sizeof(*m));
	const char *cause = (const char *)sqlite3_value_text(argv[CAUSE]);
	int64_t id = sqlite3_value_int64(argv[EXECUTION_ID]), primary = sqlite3_value_int64(argv[IS_PRIMARY]);
	struct cause_sums *c;
	bool good = true;

	(void)argc;
	if (!m)
		return;
	if (cause && cause[strspn(cause, "abcdefghijklmnopqrstuvwxyz_")]) {
		sqlite3_result_error(ctx, "miss_sums: the second value is no cause", -1);
		return;
	}
	if (!m->has_execution || id != m->execution_id)
		good = execution_add(m);
	m->has_execution = true;
	m->execution_id = id;
	m->persistent_is_known = sqlite3_value_type(argv[PERSISTENT]) != SQLITE_NULL;
	m->persistent = sqlite3_value_int64(argv[PERSISTENT]) != 0;
	c = cause_find(m, cause);
	if (!c) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	c->own.rows++;
	c->own.primary = primary > c->own.primary ? primary : c->own.primary;
	if (sqlite3_value_type(argv[LATE_NS]) != SQLITE_NULL) {
		good = add_up(&c->own.late_ns, sqlite3_value_int64(argv[LATE_NS])) && good;
		c->own.has_late = true;
	}
	good = add_up(&c->budget_ns, sqlite3_value_int64(argv[BUDGET_NS])) && good;
	if (sqlite3_value_type(argv[SAVED]) != SQLITE_NULL) {
		int64_t saved = sqlite3_value_int64(argv[SAVED]);

		c->own.saved = c->own.has_saved && c->own.saved > saved ? c->own.saved : saved;
		c->own.has_saved = true;
		c->own.known++;
		c->own.may_save = c->own.may_save || saved != 0;
	} else {
		c->own.may_save = true;
	}
	c->own.replayed = sqlite3_value_int64(argv[REPLAYED]) != 0;
	c->own.met_is_known = sqlite3_value_type(argv[MET]) != SQLITE_NULL;
	c->own.met = sqlite3_value_int64(argv[MET]) == 1;
	if (!good)
		sqlite3_result_error(ctx, "integer overflow", -1); /* as of sum() */
}

static void append_or_null(sqlite3_str *to, bool is_known, int64_t value)
{
	if (is_known)
		sqlite3_str_appendf(to, ",%lld", (long long)value);
	else
		sqlite3_str_appendall(to, ",null");
}

static void miss_sums_final(sqlite3_context *ctx)
{
	struct miss_sums *m = sqlite3_aggregate_context(ctx, 0);
	sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(ctx));
	bool good = !m || execution_add(m);

	sqlite3_str_appendchar(json, 1, '[');
	for (size_t i = 0; m && i < m->n; i++) {
		const struct cause_sums *c = &m->of[i];

		sqlite3_str_appendall(json, i ? ",[" : "[");
		sqlite3_str_appendf(json, c->cause ? "\"%s\"" : "null", c->cause);
		sqlite3_str_appendf(json, ",%lld,%lld", (long long)c->n, (long long)c->misses);
		append_or_null(json, c->has_persistent, c->persistent);
		append_or_null(json, true, c->saved);
		append_or_null(json, c->has_late, c->lost_ns);
		append_or_null(json, c->has_late, c->worst_ns);
		sqlite3_str_appendf(json, ",%lld,%lld,%lld]", (long long)c->late_ns, (long long)c->budget_ns,
		                    (long long)c->unsure);
		sqlite3_free(c->cause);
	}
	sqlite3_str_appendchar(json, 1, ']');
	if (m)
		sqlite3_free(m->of);
	if (!good) {
		sqlite3_free(sqlite3_str_finish(json));
		sqlite3_result_error(ctx, "integer overflow", -1);
	} else if (sqlite3_str_errcode(json)) {
		sqlite3_free(sqlite3_str_finish(json));
		sqlite3_result_error_nomem(ctx);
	} else {
		sqlite3_result_text(ctx, sqlite3_str_finish(json), -1, sqlite3_free);
	}
}

int bsa_functions_register(sqlite3 *db)
{
	int r;

	if ((r = sqlite3_create_function(db, "percentile", 2, FLAGS, NULL, NULL, percentile_step, percentile_final)) ||
	    (r = sqlite3_create_function(db, "jain", 1, FLAGS, NULL, NULL, jain_step, jain_final)) ||
	    (r = sqlite3_create_function(db, "jain", 2, FLAGS, NULL, NULL, jain_step, jain_final)) ||
	    (r = sqlite3_create_function(db, "miss_sums", MISS_SUMS_ARGS, FLAGS, NULL, NULL, miss_sums_step,
	                                 miss_sums_final)))
		return r;
	return sqlite3_create_function(db, "duration", 1, FLAGS, NULL, duration_sql, NULL, NULL);
}

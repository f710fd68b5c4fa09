/*
 * functions.c -- defines the SQL functions, percentile(value, p) among them, which keeps integers
 * exactly.
 */
#include "store/functions.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
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

int bsa_functions_register(sqlite3 *db)
{
	int r;

	if ((r = sqlite3_create_function(db, "percentile", 2, FLAGS, NULL, NULL, percentile_step, percentile_final)) ||
	    (r = sqlite3_create_function(db, "jain", 1, FLAGS, NULL, NULL, jain_step, jain_final)) ||
	    (r = sqlite3_create_function(db, "jain", 2, FLAGS, NULL, NULL, jain_step, jain_final)))
		return r;
	return sqlite3_create_function(db, "duration", 1, FLAGS, NULL, duration_sql, NULL, NULL);
}

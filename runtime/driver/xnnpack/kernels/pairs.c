/* pairs.c -- two tensors of any type that are broadcast to each other (O-32). */
#include <assert.h>
#include <math.h>

#include "tensor.h"

/* The results for @n pairs, computed in double, in which an int32 is exact. */
typedef void pair_fn(const double *a, const double *b, size_t n, double *ret);

#define PAIR(name, expression)                                                    \
	static void name(const double *a, const double *b, size_t n, double *ret) \
	{                                                                         \
		for (size_t i = 0; i < n; i++) {                                  \
			double x = a[i], y = b[i];                                \
			ret[i] = (expression);                                    \
		}                                                                 \
	}

PAIR(pair_add, x + y)
PAIR(pair_sub, x - y)
PAIR(pair_mul, x *y)
PAIR(pair_div, x / y)
PAIR(pair_floor_div, floor(x / y))
PAIR(pair_maximum, isnan(x) || x > y ? x : y)
PAIR(pair_minimum, isnan(x) || x < y ? x : y)
PAIR(pair_pow, (double)powf((float)x, (float)y))
PAIR(pair_prelu, x >= 0 ? x : x * y)
PAIR(pair_equal, x == y)
PAIR(pair_not_equal, x != y)
PAIR(pair_greater, x > y)
PAIR(pair_greater_equal, x >= y)
PAIR(pair_less, x < y)
PAIR(pair_less_equal, x <= y)
PAIR(pair_and, x != 0 && y != 0)
PAIR(pair_or, x != 0 || y != 0)

static pair_fn *const pair_fns[] = {
	[NNB_ADD] = pair_add,         [NNB_SUB] = pair_sub,
	[NNB_MUL] = pair_mul,         [NNB_DIV] = pair_div,
	[NNB_MAXIMUM] = pair_maximum, [NNB_MINIMUM] = pair_minimum,
	[NNB_POW] = pair_pow,         [NNB_PRELU] = pair_prelu,
	[NNB_EQUAL] = pair_equal,     [NNB_NOT_EQUAL] = pair_not_equal,
	[NNB_GREATER] = pair_greater, [NNB_GREATER_EQUAL] = pair_greater_equal,
	[NNB_LESS] = pair_less,       [NNB_LESS_EQUAL] = pair_less_equal,
	[NNB_LOGICAL_AND] = pair_and, [NNB_LOGICAL_OR] = pair_or,
};

/* One row of the innermost dimension at a time. */
struct pairs {
	struct nnbx_pairing p;
	pair_fn *fn;
	const struct nnbx_tensor *a, *b, *out;
	double min, max;
	uint32_t units; /* units of look.h for an element */
	bool divides;   /* int32: not by 0 */
};

static bool has_zero(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] == 0)
			return true;
	return false;
}

static bool pair_row(const struct pairs *s, size_t a, size_t b, size_t out)
{
	double x[NNBX_BLOCK], y[NNBX_BLOCK];
	size_t n = s->p.dims[0];

	for (size_t at = 0, part; at < n; at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		if (!nnbx_worked(part * s->units))
			return true;
		nnbx_load(s->a, a + at * s->p.a_step[0], s->p.a_step[0], part, x);
		nnbx_load(s->b, b + at * s->p.b_step[0], s->p.b_step[0], part, y);
		if (s->divides && has_zero(y, part))
			return false;
		s->fn(x, y, part, x);
		for (size_t i = 0; i < part; i++)
			x[i] = x[i] < s->min ? s->min : x[i] > s->max ? s->max : x[i];
		nnbx_store(s->out, out + at, part, x);
	}
	return true;
}

bool nnbx_pairs(enum nnb_op op, const struct nnbx_tensor *a, const struct nnbx_tensor *b, double min, double max,
                const struct nnbx_tensor *out)
{
	size_t index[NNB_RANK_MAX] = { 0 }, a_at = 0, b_at = 0, to = 0;
	bool divides = op == NNB_DIV && a->type == NNB_TENSOR_INT32;
	struct pairs s = { .fn = divides ? pair_floor_div : pair_fns[op],
		           .a = a,
		           .b = b,
		           .out = out,
		           .min = min,
		           .max = max,
		           .units = op == NNB_POW ? 40 : 8,
		           .divides = divides };

	assert(s.fn); /* @op is in the table */
	if (!nnbx_pairing(a->rank, a->dims, b->rank, b->dims, &s.p))
		return false;
	for (uint32_t d = 0; d < s.p.rank; d++)
		if (!s.p.dims[d])
			return true;
	do {
		if (!pair_row(&s, a_at, b_at, to))
			return false;
		to += s.p.dims[0];
	} while (nnbx_worked(5) && nnbx_pairing_next(&s.p, index, &a_at, &b_at));
	return true;
}

void nnbx_select(const struct nnbx_tensor *condition, const struct nnbx_tensor *a, const struct nnbx_tensor *b,
                 const struct nnbx_tensor *out)
{
	double c[NNBX_BLOCK], x[NNBX_BLOCK], y[NNBX_BLOCK];
	size_t n = nnbx_elements(out);

	for (size_t at = 0, part; at < n && nnbx_worked(NNBX_BLOCK * (size_t)10); at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		nnbx_load(condition, at, 1, part, c);
		nnbx_load(a, at, 1, part, x);
		nnbx_load(b, at, 1, part, y);
		for (size_t i = 0; i < part; i++)
			x[i] = c[i] != 0 ? x[i] : y[i];
		nnbx_store(out, at, part, x);
	}
}

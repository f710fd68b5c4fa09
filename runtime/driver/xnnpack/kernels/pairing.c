/* pairing.c -- two tensors that are broadcast to each other (O-32), added and multiplied. */
#include "arith.h"

#include <assert.h>

#include "wide.h"

/* ---- how they meet ---- */

/* The extent of dimension @d of @rank, in a tensor whose dimensions are the last @of of these. */
static size_t extent_at(uint32_t d, uint32_t rank, uint32_t of, const uint32_t *dims)
{
	assert(of <= rank && d < rank);
	return d < rank - of ? 1 : dims[d - (rank - of)];
}

/* Put a dimension outside those there are; as part of the outermost, if both tensors walk on as in that. */
static void pairing_put(struct nnbx_pairing *p, size_t extent_out, size_t a_step, size_t b_step)
{
	size_t last = p->rank - 1;

	if (extent_out == 1)
		return;
	if (p->rank && a_step == p->a_step[last] * p->dims[last] && b_step == p->b_step[last] * p->dims[last]) {
		p->dims[last] *= extent_out;
		return;
	}
	assert(p->rank < NNB_RANK_MAX);
	p->dims[p->rank] = extent_out;
	p->a_step[p->rank] = a_step;
	p->b_step[p->rank++] = b_step;
}

bool nnbx_pairing(uint32_t a_rank, const uint32_t *a_dims, uint32_t b_rank, const uint32_t *b_dims,
                  struct nnbx_pairing *ret)
{
	uint32_t rank = a_rank > b_rank ? a_rank : b_rank;
	struct nnbx_pairing p = { 0 };
	size_t a_step = 1, b_step = 1;

	for (uint32_t d = rank; d-- > 0;) {
		size_t a = extent_at(d, rank, a_rank, a_dims), b = extent_at(d, rank, b_rank, b_dims);

		if (a != b && a != 1 && b != 1)
			return false;
		pairing_put(&p, a == 1 ? b : a, a == 1 ? 0 : a_step, b == 1 ? 0 : b_step);
		a_step *= a;
		b_step *= b;
	}
	if (!p.rank)
		p = (struct nnbx_pairing){ .rank = 1, .dims = { 1 } };
	*ret = p;
	return true;
}

/* ---- walking ---- */

enum { PAIR_UNITS = 4 }; /* units of look.h for an element: a quant8 takes the most */

/* One run of the innermost dimension: out[i] from a[i * a_step] and b[i * b_step]. Pointers as pair_up is given. */
typedef void row_fn(const void *how, const void *a, size_t a_step, const void *b, size_t b_step, void *out, size_t n);

bool nnbx_pairing_next(const struct nnbx_pairing *p, size_t *at, size_t *a, size_t *b)
{
	for (uint32_t d = 1; d < p->rank; d++) {
		*a += p->a_step[d];
		*b += p->b_step[d];
		if (++at[d] < p->dims[d])
			return true;
		*a -= p->a_step[d] * p->dims[d];
		*b -= p->b_step[d] * p->dims[d];
		at[d] = 0;
	}
	return false;
}

static void pair_up(const struct nnbx_pairing *p, size_t elem, row_fn *row, const void *how, const void *a,
                    const void *b, void *out)
{
	size_t at[NNB_RANK_MAX] = { 0 }, a_at = 0, b_at = 0, n = p->dims[0];
	char *to = out;

	assert(p->rank > 0 && p->rank <= NNB_RANK_MAX);
	for (uint32_t d = 0; d < p->rank; d++)
		if (!p->dims[d])
			return;
	do {
		NNBX_IN_PARTS (n, PAIR_UNITS, i, part)
			row(how, (const char *)a + (a_at + i * p->a_step[0]) * elem, p->a_step[0],
			    (const char *)b + (b_at + i * p->b_step[0]) * elem, p->b_step[0], to + i * elem, part);
		to += n * elem;
	} while (nnbx_worked(5) && nnbx_pairing_next(p, at, &a_at, &b_at));
}

/* ---- float ---- */

struct float_range {
	float min, max;
};

static NNBX_INLINE void add_floats(struct float_range r, const float *a, size_t a_step, const float *b, size_t b_step,
                                   float *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = nnbx_clamp(a[i * a_step] + b[i * b_step], r.min, r.max);
}

static NNBX_INLINE void mul_floats(struct float_range r, const float *a, size_t a_step, const float *b, size_t b_step,
                                   float *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = nnbx_clamp(a[i * a_step] * b[i * b_step], r.min, r.max);
}

/* Steps are 0 or 1. The two most common pairs are calls of their own, for the compiler to know them. */
static NNBX_INLINE void add_row_f32_body(const void *how, const void *a, size_t a_step, const void *b, size_t b_step,
                                         void *out, size_t n)
{
	const struct float_range r = *(const struct float_range *)how;

	if (a_step && b_step)
		add_floats(r, a, 1, b, 1, out, n);
	else if (a_step)
		add_floats(r, a, 1, b, 0, out, n);
	else
		add_floats(r, a, 0, b, b_step, out, n);
}

static NNBX_INLINE void mul_row_f32_body(const void *how, const void *a, size_t a_step, const void *b, size_t b_step,
                                         void *out, size_t n)
{
	const struct float_range r = *(const struct float_range *)how;

	if (a_step && b_step)
		mul_floats(r, a, 1, b, 1, out, n);
	else if (a_step)
		mul_floats(r, a, 1, b, 0, out, n);
	else
		mul_floats(r, a, 0, b, b_step, out, n);
}

NNBX_TWICE(add_row_f32,
           (const void *how, const void *a, size_t a_step, const void *b, size_t b_step, void *out, size_t n),
           (how, a, a_step, b, b_step, out, n))

void nnbx_add_f32(const struct nnbx_pairing *p, const float *a, const float *b, float min, float max, float *out)
{
	pair_up(p, sizeof(float), add_row_f32, &(struct float_range){ min, max }, a, b, out);
}

NNBX_TWICE(mul_row_f32,
           (const void *how, const void *a, size_t a_step, const void *b, size_t b_step, void *out, size_t n),
           (how, a, a_step, b, b_step, out, n))

void nnbx_mul_f32(const struct nnbx_pairing *p, const float *a, const float *b, float min, float max, float *out)
{
	pair_up(p, sizeof(float), mul_row_f32, &(struct float_range){ min, max }, a, b, out);
}

/* ---- integers; as unsigned, whose sums wrap around ---- */

static void add_row_i32(const void *how, const void *a, size_t a_step, const void *b, size_t b_step, void *out,
                        size_t n)
{
	const uint32_t *x = a, *y = b;
	uint32_t *to = out;

	(void)how;
	for (size_t i = 0; i < n; i++)
		to[i] = x[i * a_step] + y[i * b_step];
}

static void mul_row_i32(const void *how, const void *a, size_t a_step, const void *b, size_t b_step, void *out,
                        size_t n)
{
	const uint32_t *x = a, *y = b;
	uint32_t *to = out;

	(void)how;
	for (size_t i = 0; i < n; i++)
		to[i] = x[i * a_step] * y[i * b_step];
}

void nnbx_add_i32(const struct nnbx_pairing *p, const int32_t *a, const int32_t *b, int32_t *out)
{
	pair_up(p, sizeof(int32_t), add_row_i32, NULL, a, b, out);
}

void nnbx_mul_i32(const struct nnbx_pairing *p, const int32_t *a, const int32_t *b, int32_t *out)
{
	pair_up(p, sizeof(int32_t), mul_row_i32, NULL, a, b, out);
}

/* ---- quantised ---- */

/* O-35. 255 * 2^20 and twice that fit an int32, so both inputs can be brought to one scale without loss. */
enum { HEADROOM = 20 };

struct rescaling {
	const struct nnbx_quants *q;
	struct nnbx_scaler a, b, out;
};

static void add_row_q8(const void *how, const void *a, size_t a_step, const void *b, size_t b_step, void *out, size_t n)
{
	const struct rescaling *r = how;
	const uint8_t *x = a, *y = b;
	uint8_t *to = out;

	for (size_t i = 0; i < n; i++) {
		int64_t left = (int64_t)(x[i * a_step] - r->q->a.zero_point) * (1 << HEADROOM);
		int64_t right = (int64_t)(y[i * b_step] - r->q->b.zero_point) * (1 << HEADROOM);

		to[i] = nnbx_requantize(r->q, r->out, (int64_t)nnbx_rescale(r->a, left) + nnbx_rescale(r->b, right));
	}
}

static void mul_row_q8(const void *how, const void *a, size_t a_step, const void *b, size_t b_step, void *out, size_t n)
{
	const struct rescaling *r = how;
	const uint8_t *x = a, *y = b;
	uint8_t *to = out;

	for (size_t i = 0; i < n; i++)
		to[i] = nnbx_requantize(r->q, r->out,
		                        (x[i * a_step] - r->q->a.zero_point) * (y[i * b_step] - r->q->b.zero_point));
}

void nnbx_add_q8(const struct nnbx_pairing *p, const struct nnbx_quants *q, const uint8_t *a, const uint8_t *b,
                 uint8_t *out)
{
	double common = 2.0 * (q->a.scale > q->b.scale ? q->a.scale : q->b.scale);
	struct rescaling r = {
		.q = q,
		.a = nnbx_scaler(q->a.scale / common),
		.b = nnbx_scaler(q->b.scale / common),
		.out = nnbx_scaler(common / (1 << HEADROOM) / q->out.scale),
	};

	pair_up(p, sizeof(uint8_t), add_row_q8, &r, a, b, out);
}

void nnbx_mul_q8(const struct nnbx_pairing *p, const struct nnbx_quants *q, const uint8_t *a, const uint8_t *b,
                 uint8_t *out)
{
	pair_up(p, sizeof(uint8_t), mul_row_q8, &(struct rescaling){ .q = q, .out = nnbx_product_scaler(q, 0) }, a, b,
	        out);
}

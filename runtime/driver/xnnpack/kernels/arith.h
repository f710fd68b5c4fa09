/* arith.h -- shared by the kernels: clamps, dot products, fixed-point rescaling, windows over an image. */
#ifndef NNBX_ARITH_H
#define NNBX_ARITH_H

#include <math.h>
#include <string.h>

#include "kernels.h"
#include "look.h"

enum { NNBX_CHUNK = 64 }; /* channels whose sums are kept on the stack */

static inline float nnbx_clamp(float x, float min, float max)
{
	x = x < min ? min : x; /* two selections, each an instruction of vectors; a NaN stays one */
	return x > max ? max : x;
}

/* @limit 0: no limit. */
static inline float nnbx_clip(float x, float limit)
{
	return limit > 0 ? nnbx_clamp(x, -limit, limit) : x;
}

/* The integer nearest to @x within the bounds. A NaN is @min. */
static inline uint8_t nnbx_to_q8(double x, uint8_t min, uint8_t max)
{
	if (!(x > min))
		return min;
	return x < max ? (uint8_t)round(x) : max;
}

/* @x after the activation of a cell. */
static inline float nnbx_activated(uint32_t activation, float x)
{
	switch (activation) {
	case NNBX_RELU:
		return nnbx_clamp(x, 0, INFINITY);
	case NNBX_RELU1:
		return nnbx_clamp(x, -1, 1);
	case NNBX_RELU6:
		return nnbx_clamp(x, 0, 6);
	case NNBX_TANH:
		return tanhf(x);
	case NNBX_SIGMOID:
		return 1 / (1 + expf(-x));
	default:
		return x;
	}
}

static inline uint8_t nnbx_clamp_int(int64_t x, uint8_t min, uint8_t max)
{
	return x < min ? min : x > max ? max : (uint8_t)x;
}

/* Eight sums side by side: a compiler may not reorder a float sum, and one sum alone waits for itself. */
static inline float nnbx_dot_f32(const float *a, const float *b, size_t n)
{
	float sums[8] = { 0 };
	float rest = 0;
	size_t i = 0;

	for (size_t part; i + 8 <= n && (part = nnbx_part(n - i, 1));)
		for (size_t end = i + part; i + 8 <= end; i += 8)
			for (size_t k = 0; k < 8; k++)
				sums[k] += a[i + k] * b[i + k];
	for (; i < n && n - i < 8; i++)
		rest += a[i] * b[i];
	return rest + (sums[0] + sums[4]) + (sums[1] + sums[5]) + (sums[2] + sums[6]) + (sums[3] + sums[7]);
}

/* Exact. An int32 holds 2^15 products of 255 * 255. */
static inline int64_t nnbx_dot_q8(const uint8_t *a, int32_t a_zero, const uint8_t *b, int32_t b_zero, size_t n)
{
	int64_t sum = 0;

	while (n) {
		size_t part = n < 1 << 15 ? n : 1 << 15;
		int32_t partial = 0;

		if (!nnbx_worked(part))
			break;
		for (size_t i = 0; i < part; i++)
			partial += (a[i] - a_zero) * (b[i] - b_zero);
		sum += partial;
		a += part;
		b += part;
		n -= part;
	}
	return sum;
}

/* O-34: a positive factor as mantissa * 2^(exponent - 31). */
struct nnbx_scaler {
	int32_t mantissa;
	int exponent;
};

struct nnbx_scaler nnbx_scaler(double factor);

/* x by the factor: the high half of the doubled product, rounded, then shifted right, rounded; saturated to int32. */
int32_t nnbx_rescale(struct nnbx_scaler s, int64_t x);

/* The factor of @q's products that output channel @k adds up. */
static inline struct nnbx_scaler nnbx_product_scaler(const struct nnbx_quants *q, size_t k)
{
	return nnbx_scaler((double)q->a.scale * (q->scales ? q->scales[k] : q->b.scale) / q->out.scale);
}

static inline uint8_t nnbx_requantize(const struct nnbx_quants *q, struct nnbx_scaler s, int64_t sum)
{
	return nnbx_clamp_int((int64_t)nnbx_rescale(s, sum) + q->out.zero_point, q->min, q->max);
}

/* The cells [begin, end) of a window, along one axis, that lie in the image; begin is at @in there. */
struct nnbx_span {
	size_t begin, end, in;
};

/* The input of one output pixel: the rows and columns of its window, in the image that starts at element @image. */
struct nnbx_patch {
	size_t image;
	struct nnbx_span y, x;
};

struct nnbx_patch nnbx_patch(const struct nnbx_planes *p, size_t pixel);

/* The same in two steps: rows, for all pixels of output row @row, counted through all images; and columns. */
struct nnbx_patch nnbx_patch_row(const struct nnbx_planes *p, size_t row);
struct nnbx_span nnbx_patch_columns(const struct nnbx_planes *p, size_t column);

static inline size_t nnbx_rows(const struct nnbx_planes *p)
{
	return (size_t)p->batch * p->out_h;
}

static inline size_t nnbx_pixels(const struct nnbx_planes *p)
{
	return (size_t)p->batch * p->out_h * p->out_w;
}

/* The elements before image cell (y, x) of window cell (fy, fx). */
static inline size_t nnbx_cell(const struct nnbx_planes *p, const struct nnbx_patch *patch, size_t fy, size_t fx)
{
	size_t y = patch->y.in + (fy - patch->y.begin) * p->window.dilation_h;
	size_t x = patch->x.in + (fx - patch->x.begin) * p->window.dilation_w;

	return patch->image + (y * p->in_w + x) * p->in_c;
}

enum { NNBX_CELLS = 128 }; /* cells of a window between two looks, at most */

/* Cells of a window that are taken at a time: some rows of it, or a part of one. */
struct nnbx_area {
	size_t fy, fx, rows, cells; /* from window cell (fy, fx) on */
	size_t row_step, cell_step; /* elements apart in the image */
};

/* Add to each of @n sums its channel of all cells of the area. */
void nnbx_sum_f32(const struct nnbx_area *area, const float *in, size_t n, double *sums);

/* The next area of the patch; the first one after { 0 }. False: that was the last. */
static inline bool nnbx_area_next(const struct nnbx_planes *p, const struct nnbx_patch *patch, struct nnbx_area *a)
{
	size_t left, cells = patch->x.end - patch->x.begin;

	if (!a->rows) {
		*a = (struct nnbx_area){ .fy = patch->y.begin,
			                 .fx = patch->x.begin,
			                 .row_step = (size_t)p->window.dilation_h * p->in_w * p->in_c,
			                 .cell_step = (size_t)p->window.dilation_w * p->in_c };
	} else if ((a->fx += a->cells) == patch->x.end) {
		a->fx = patch->x.begin;
		a->fy += a->rows;
	}
	left = patch->y.end - a->fy;
	if (!left || !cells)
		return false;
	if (cells > NNBX_CELLS) {
		a->rows = 1;
		a->cells = patch->x.end - a->fx < NNBX_CELLS ? patch->x.end - a->fx : NNBX_CELLS;
		return true;
	}
	a->rows = left * cells <= NNBX_CELLS ? left : NNBX_CELLS / cells;
	a->cells = cells;
	return true;
}

#endif

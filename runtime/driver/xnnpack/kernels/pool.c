/* pool.c -- pools, and resizing. */
#include "arith.h"
#include "wide.h"

enum { PATCH_UNITS = 50 }; /* units of look.h for finding the place of a window and its first element */

/* ---- pools ---- */

/* Partial results for up to NNBX_CHUNK channels of a window. */
union gathered {
	double real[NNBX_CHUNK];
	float most[NNBX_CHUNK];
	uint64_t sum[NNBX_CHUNK];
	uint8_t most_q8[NNBX_CHUNK];
};

struct bounds {
	float min, max;
	uint8_t min_q8, max_q8;
};

/*
 * A kind of pool: how the cells of an area are taken in, whose first one is at @in, and what all n cells give. The
 * first area overwrites.
 */
struct pool {
	size_t elem;
	void (*take)(union gathered *g, const struct nnbx_area *area, const void *in, size_t channels, bool first);
	void (*give)(const union gathered *g, size_t n, const struct bounds *bounds, void *out, size_t channels);
};

/* The cells of a window, once for each chunk of channels. */
static void pool_patch(const struct nnbx_planes *p, const struct pool *kind, const struct bounds *bounds,
                       const void *in, const struct nnbx_patch *patch, size_t k, size_t channels, void *out)
{
	struct nnbx_area area = { 0 };
	union gathered g;
	size_t n = 0;

	while (nnbx_area_next(p, patch, &area)) {
		if (!nnbx_worked(area.rows * area.cells * channels + 2))
			return;
		kind->take(&g, &area, (const char *)in + (nnbx_cell(p, patch, area.fy, area.fx) + k) * kind->elem,
		           channels, !n);
		n += area.rows * area.cells;
	}
	if (!n)
		memset(&g, 0, sizeof(g));
	kind->give(&g, n ? n : 1, bounds, out, channels);
}

static void pool_all(const struct nnbx_planes *p, const struct pool *kind, const struct bounds *bounds, const void *in,
                     void *out)
{
	size_t rows = nnbx_rows(p);

	for (size_t row = 0; row < rows && nnbx_worked(1); row++) {
		struct nnbx_patch patch = nnbx_patch_row(p, row);

		for (size_t column = 0; column < p->out_w && nnbx_worked(PATCH_UNITS); column++) {
			patch.x = nnbx_patch_columns(p, column);
			for (size_t k = 0, n; k < p->out_c && nnbx_worked(1); k += n) {
				n = p->out_c - k < NNBX_CHUNK ? p->out_c - k : NNBX_CHUNK;
				pool_patch(p, kind, bounds, in, &patch, k, n,
				           (char *)out + ((row * p->out_w + column) * p->out_c + k) * kind->elem);
			}
		}
	}
}

#define IN_CELLS(area, row, cell)                       \
	for (size_t row = 0; row < (area)->rows; row++) \
		for (size_t cell = 0; cell < (area)->cells; cell++)

static inline size_t cell_at(const struct nnbx_area *area, size_t row, size_t cell)
{
	return row * area->row_step + cell * area->cell_step;
}

static NNBX_INLINE void square_f32_body(const struct nnbx_area *area, const float *in, size_t channels,
                                        double *restrict sums)
{
	IN_CELLS(area, row, cell)
	for (size_t i = 0; i < channels; i++) {
		double x = (double)in[cell_at(area, row, cell) + i];

		sums[i] += x * x;
	}
}

/* @most: of the areas before; for the first one, of its first cell. */
static NNBX_INLINE void most_f32_body(const float *most, const struct nnbx_area *area, const float *in, size_t channels,
                                      float *ret)
{
	size_t i = 0;

	for (; i + 8 <= channels; i += 8) {
		nnbx_float8 m = *(const nnbx_float8 *)(most + i);

		IN_CELLS(area, row, cell)
		{
			nnbx_float8 x = *(const nnbx_float8 *)(in + cell_at(area, row, cell) + i);

			m = NNBX_CHOOSE(x > m, x, m);
		}
		*(nnbx_float8 *)(ret + i) = m;
	}
	for (; i < channels; i++) {
		float m = most[i];

		IN_CELLS(area, row, cell)
		{
			float x = in[cell_at(area, row, cell) + i];

			m = x > m ? x : m;
		}
		ret[i] = m;
	}
}

NNBX_TWICE(square_f32, (const struct nnbx_area *area, const float *in, size_t channels, double *restrict sums),
           (area, in, channels, sums))
NNBX_TWICE(most_f32, (const float *most, const struct nnbx_area *area, const float *in, size_t channels, float *ret),
           (most, area, in, channels, ret))

static void take_sum_f32(union gathered *g, const struct nnbx_area *area, const void *in, size_t channels, bool first)
{
	if (first)
		memset(g->real, 0, channels * sizeof(*g->real));
	nnbx_sum_f32(area, in, channels, g->real);
}

static void take_square_f32(union gathered *g, const struct nnbx_area *area, const void *in, size_t channels,
                            bool first)
{
	if (first)
		memset(g->real, 0, channels * sizeof(*g->real));
	square_f32(area, in, channels, g->real);
}

static void take_sum_q8(union gathered *g, const struct nnbx_area *area, const void *in, size_t channels, bool first)
{
	const uint8_t *x = in;

	if (first)
		memset(g->sum, 0, channels * sizeof(*g->sum));
	IN_CELLS(area, row, cell)
	for (size_t i = 0; i < channels; i++)
		g->sum[i] += x[cell_at(area, row, cell) + i];
}

static void take_most_f32(union gathered *g, const struct nnbx_area *area, const void *in, size_t channels, bool first)
{
	most_f32(first ? in : g->most, area, in, channels, g->most);
}

static void take_most_q8(union gathered *g, const struct nnbx_area *area, const void *in, size_t channels, bool first)
{
	const uint8_t *x = in;

	if (first)
		memset(g->most_q8, 0, channels); /* nothing is below zero */
	IN_CELLS(area, row, cell)
	for (size_t i = 0; i < channels; i++) {
		uint8_t value = x[cell_at(area, row, cell) + i];

		g->most_q8[i] = value > g->most_q8[i] ? value : g->most_q8[i];
	}
}

static void give_mean_f32(const union gathered *g, size_t n, const struct bounds *b, void *out, size_t channels)
{
	float *y = out;

	for (size_t i = 0; i < channels; i++)
		y[i] = nnbx_clamp((float)(g->real[i] / (double)n), b->min, b->max);
}

static void give_root_f32(const union gathered *g, size_t n, const struct bounds *b, void *out, size_t channels)
{
	float *y = out;

	for (size_t i = 0; i < channels; i++)
		y[i] = nnbx_clamp((float)sqrt(g->real[i] / (double)n), b->min, b->max);
}

static void give_mean_q8(const union gathered *g, size_t n, const struct bounds *b, void *out, size_t channels)
{
	uint8_t *y = out;

	for (size_t i = 0; i < channels; i++)
		y[i] = nnbx_clamp_int((int64_t)((g->sum[i] + n / 2) / n), b->min_q8, b->max_q8);
}

static void give_most_f32(const union gathered *g, size_t n, const struct bounds *b, void *out, size_t channels)
{
	(void)n;
	nnbx_clamp_f32(channels, g->most, b->min, b->max, out);
}

static void give_most_q8(const union gathered *g, size_t n, const struct bounds *b, void *out, size_t channels)
{
	(void)n;
	nnbx_clamp_q8(channels, g->most_q8, b->min_q8, b->max_q8, out);
}

void nnbx_average_pool_f32(const struct nnbx_planes *p, const float *in, float min, float max, float *out)
{
	static const struct pool kind = { sizeof(float), take_sum_f32, give_mean_f32 };

	pool_all(p, &kind, &(struct bounds){ .min = min, .max = max }, in, out);
}

void nnbx_average_pool_q8(const struct nnbx_planes *p, const uint8_t *in, uint8_t min, uint8_t max, uint8_t *out)
{
	static const struct pool kind = { sizeof(uint8_t), take_sum_q8, give_mean_q8 };

	pool_all(p, &kind, &(struct bounds){ .min_q8 = min, .max_q8 = max }, in, out);
}

void nnbx_max_pool_f32(const struct nnbx_planes *p, const float *in, float min, float max, float *out)
{
	static const struct pool kind = { sizeof(float), take_most_f32, give_most_f32 };

	pool_all(p, &kind, &(struct bounds){ .min = min, .max = max }, in, out);
}

void nnbx_max_pool_q8(const struct nnbx_planes *p, const uint8_t *in, uint8_t min, uint8_t max, uint8_t *out)
{
	static const struct pool kind = { sizeof(uint8_t), take_most_q8, give_most_q8 };

	pool_all(p, &kind, &(struct bounds){ .min_q8 = min, .max_q8 = max }, in, out);
}

void nnbx_l2_pool_f32(const struct nnbx_planes *p, const float *in, float min, float max, float *out)
{
	static const struct pool kind = { sizeof(float), take_square_f32, give_root_f32 };

	pool_all(p, &kind, &(struct bounds){ .min = min, .max = max }, in, out);
}

/* ---- resizing ---- */

/* Between which two cells of an axis an output lies, and how far towards the second. */
struct between {
	size_t first, second;
	float weight;
};

static struct between between_cells(size_t at, uint32_t in, uint32_t out, enum nnbx_centres centres)
{
	bool aligned = centres == NNBX_CORNERS_ALIGNED && out > 1;
	double scale = aligned ? (in - 1.0) / (out - 1.0) : (double)in / out, position = (double)at * scale;
	size_t first;

	if (centres == NNBX_CENTRES_HALF)
		position = fmax(((double)at + 0.5) * scale - 0.5, 0);
	first = (size_t)position;
	first = first < in ? first : in - 1;
	return (struct between){ first, first + 1 < in ? first + 1 : first, (float)(position - (double)first) };
}

/* Four rows of elements, two of them above the others, and how much of each. */
struct corners {
	size_t top_left, top_right, bottom_left, bottom_right;
	float x, y;
};

typedef void mix_fn(const struct corners *c, size_t n, const void *image, void *out);

static inline float corners_mix(const struct corners *c, float top_left, float top_right, float bottom_left,
                                float bottom_right)
{
	float above = top_left * (1 - c->x) + top_right * c->x;
	float below = bottom_left * (1 - c->x) + bottom_right * c->x;

	return above * (1 - c->y) + below * c->y;
}

static void mix_f32(const struct corners *c, size_t n, const void *image, void *out)
{
	const float *from = image;
	float *to = out;

	for (size_t i = 0; i < n; i++)
		to[i] = corners_mix(c, from[c->top_left + i], from[c->top_right + i], from[c->bottom_left + i],
		                    from[c->bottom_right + i]);
}

static void mix_q8(const struct corners *c, size_t n, const void *image, void *out)
{
	const uint8_t *from = image;
	uint8_t *to = out;

	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)(corners_mix(c, from[c->top_left + i], from[c->top_right + i],
		                              from[c->bottom_left + i], from[c->bottom_right + i]) +
		                  0.5f);
}

static void resize_row(const struct nnbx_planes *p, enum nnbx_centres centres, size_t elem, mix_fn *mixer,
                       const char *image, struct between y, char *out)
{
	size_t top = y.first * p->in_w, bottom = y.second * p->in_w;

	for (size_t at = 0; at < p->out_w && nnbx_worked(1); at++) {
		struct between x = between_cells(at, p->in_w, p->out_w, centres);

		NNBX_IN_PARTS (p->in_c, 4, c, part) {
			struct corners corners = { (top + x.first) * p->in_c + c,
				                   (top + x.second) * p->in_c + c,
				                   (bottom + x.first) * p->in_c + c,
				                   (bottom + x.second) * p->in_c + c,
				                   x.weight,
				                   y.weight };

			mixer(&corners, part, image, out + (at * p->in_c + c) * elem);
		}
	}
}

static void resize_images(const struct nnbx_planes *p, enum nnbx_centres centres, size_t elem, mix_fn *mixer,
                          const char *in, char *out)
{
	size_t in_image = (size_t)p->in_h * p->in_w * p->in_c * elem, out_row = (size_t)p->out_w * p->out_c * elem;

	for (size_t b = 0; b < p->batch && nnbx_worked(1); b++)
		for (size_t y = 0; y < p->out_h && nnbx_worked(1); y++)
			resize_row(p, centres, elem, mixer, in + b * in_image,
			           between_cells(y, p->in_h, p->out_h, centres), out + (b * p->out_h + y) * out_row);
}

void nnbx_resize_bilinear_f32(const struct nnbx_planes *p, enum nnbx_centres centres, const float *in, float *out)
{
	resize_images(p, centres, sizeof(*in), mix_f32, (const char *)in, (char *)out);
}

void nnbx_resize_bilinear_q8(const struct nnbx_planes *p, enum nnbx_centres centres, const uint8_t *in, uint8_t *out)
{
	resize_images(p, centres, sizeof(*in), mix_q8, (const char *)in, (char *)out);
}

/*
 * conv.c -- convolutions and fully connected layers whose weights are known at run time only.
 *
 * Floats are summed in registers: sums of neighbours share what they load. Weights come by output channel, and a
 * convolution wants those of some output channels side by side: it turns a panel of them on the stack, which then
 * serves all pixels.
 */
#include "arith.h"
#include "wide.h"

#include <assert.h>

enum {
	PANEL = 16,           /* output channels of a panel: two vectors of eight */
	PANEL_ELEMENTS = 256, /* elements of their filters at a time: 16 KiB */
	TOGETHER = 4,         /* pixels that are summed side by side */
	STRETCH = 32,         /* pixels of a row whose sums are kept at a time */
	FEW_PIXELS = 8,
	UNITS = 4 /* dot products that share what they load */
};

/* ---- every input channel to every output channel ---- */

/*
 * Cells side by side in the image are so in the filter, too: a row of a window is one dot product; unless the
 * filter's are further apart, and each is one.
 */
struct run {
	size_t cells, elements;
};

static struct run run_of(const struct nnbx_planes *p, const struct nnbx_patch *patch)
{
	size_t cells = p->window.dilation_w == 1 ? patch->x.end - patch->x.begin : 1;

	return (struct run){ cells, cells * p->in_c };
}

/* Where a cell is in the filter of an output channel. */
static size_t in_filter(const struct nnbx_planes *p, size_t fy, size_t fx)
{
	return (fy * p->window.filter_w + fx) * p->in_c;
}

static int64_t patch_dot_q8(const struct nnbx_planes *p, const struct nnbx_quants *q, const struct nnbx_patch *patch,
                            const uint8_t *in, const uint8_t *filter)
{
	struct run run = run_of(p, patch);
	int64_t sum = 0;

	for (size_t fy = patch->y.begin; fy < patch->y.end && nnbx_worked(1); fy++)
		for (size_t fx = patch->x.begin; fx < patch->x.end && nnbx_worked(1); fx += run.cells)
			sum += nnbx_dot_q8(in + nnbx_cell(p, patch, fy, fx), q->a.zero_point,
			                   filter + in_filter(p, fy, fx), q->b.zero_point, run.elements);
	return sum;
}

/* The factors of up to NNBX_CHUNK output channels from @k on. Returns how many. */
static size_t chunk_scalers(const struct nnbx_planes *p, const struct nnbx_quants *q, size_t k,
                            struct nnbx_scaler scalers[NNBX_CHUNK])
{
	size_t n = p->out_c - k < NNBX_CHUNK ? p->out_c - k : NNBX_CHUNK;

	assert(k <= p->out_c);
	for (size_t i = 0; i < n; i++)
		scalers[i] = nnbx_product_scaler(q, k + i);
	return n;
}

static size_t filter_elements(const struct nnbx_planes *p)
{
	return (size_t)p->window.filter_h * p->window.filter_w * p->in_c;
}

/*
 * Weights of PANEL output channels, side by side: elements @first to @first + @n of their filters. Channels beyond
 * the last are 0.
 */
struct panel {
	size_t first, n;
	float weights[PANEL_ELEMENTS][PANEL];
};

static void panel_turn(struct panel *panel, const float *filter, size_t elements, size_t channels, size_t first)
{
	panel->first = first;
	panel->n = elements - first < PANEL_ELEMENTS ? elements - first : PANEL_ELEMENTS;
	for (size_t k = 0; k < PANEL; k++)
		for (size_t i = 0; i < panel->n; i++)
			panel->weights[i][k] = k < channels ? filter[k * elements + first + i] : 0;
}

/* Add to the sums of @pixels pixels, at @in and @step from each other, the products with @n rows of a panel. */
static NNBX_INLINE void sum_rows(size_t pixels, const float *in, size_t step, const float (*weights)[PANEL], size_t n,
                                 float (*sums)[PANEL])
{
	nnbx_float8 a[TOGETHER], b[TOGETHER];

	for (size_t p = 0; p < pixels; p++) {
		a[p] = *(const nnbx_float8 *)sums[p];
		b[p] = *(const nnbx_float8 *)(sums[p] + 8);
	}
	for (size_t i = 0; i < n; i++) {
		nnbx_float8 low = *(const nnbx_float8 *)weights[i], high = *(const nnbx_float8 *)(weights[i] + 8);

		for (size_t p = 0; p < pixels; p++) {
			a[p] += in[p * step + i] * low;
			b[p] += in[p * step + i] * high;
		}
	}
	for (size_t p = 0; p < pixels; p++) {
		*(nnbx_float8 *)sums[p] = a[p];
		*(nnbx_float8 *)(sums[p] + 8) = b[p];
	}
}

static NNBX_INLINE void panel_sum_body(size_t pixels, const float *in, size_t step, const float (*weights)[PANEL],
                                       size_t n, float (*sums)[PANEL])
{
	size_t p = 0;

	for (; p + TOGETHER <= pixels; p += TOGETHER)
		sum_rows(TOGETHER, in + p * step, step, weights, n, sums + p);
	for (; p + 2 <= pixels; p += 2)
		sum_rows(2, in + p * step, step, weights, n, sums + p);
	if (p < pixels)
		sum_rows(1, in + p * step, step, weights, n, sums + p);
}

NNBX_TWICE(panel_sum,
           (size_t pixels, const float *in, size_t step, const float (*weights)[PANEL], size_t n, float (*sums)[PANEL]),
           (pixels, in, step, weights, n, sums))

static NNBX_INLINE void add_bias_body(size_t n, const float *sums, const float *bias, float min, float max, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = nnbx_clamp(bias[i] + sums[i], min, max);
}

NNBX_TWICE(add_bias, (size_t n, const float *sums, const float *bias, float min, float max, float *out),
           (n, sums, bias, min, max, out))

/*
 * Add what the panel gives @pixels neighbours, of which the first has @patch and all have its rows and columns of the
 * filter.
 */
static void panel_add(const struct nnbx_planes *p, const struct nnbx_patch *patch, const struct panel *panel,
                      size_t pixels, const float *in, float (*sums)[PANEL])
{
	struct run run = run_of(p, patch);
	size_t step = (size_t)p->window.stride_w * p->in_c, end = panel->first + panel->n;

	for (size_t fy = patch->y.begin; fy < patch->y.end && nnbx_worked(1); fy++)
		for (size_t fx = patch->x.begin; fx < patch->x.end; fx += run.cells) {
			size_t from = in_filter(p, fy, fx), skipped = from < panel->first ? panel->first - from : 0;
			size_t until = from + run.elements < end ? from + run.elements : end;

			if (from + skipped >= until)
				continue;
			/* 8 products a unit, or so; a panel holds no more than a look is worth */
			if (!nnbx_worked(pixels * (until - from - skipped) * PANEL / 8))
				return;
			panel_sum(pixels, in + nnbx_cell(p, patch, fy, fx) + skipped, step,
			          panel->weights + (from + skipped - panel->first), until - from - skipped, sums);
		}
}

/*
 * How many pixels of a row, from @column on, take all columns of the filter, as the first one does; 1 if that one
 * does not.
 */
static size_t pixels_together(const struct nnbx_planes *p, size_t column, const struct nnbx_span *first)
{
	size_t last, most = p->out_w - column < STRETCH ? p->out_w - column : STRETCH;

	if (first->end - first->begin != p->window.filter_w)
		return 1;
	last = (p->in_w - 1 - (size_t)(p->window.filter_w - 1) * p->window.dilation_w + p->window.pad_left) /
	       p->window.stride_w;
	return last - column + 1 < most ? last - column + 1 : most;
}

/*
 * Output channels @k to @k + @channels of @n pixels, where a panel of weights is the first, or the last, or both of
 * their sums.
 */
static void conv_stretch(const struct nnbx_planes *p, const struct nnbx_patch *patch, const struct panel *panel,
                         size_t elements, size_t n, size_t k, size_t channels, const float *in, const float *bias,
                         float min, float max, float *out)
{
	float sums[STRETCH][PANEL];

	memset(sums, 0, n * sizeof(*sums));
	for (size_t i = 0; panel->first && i < n; i++)
		memcpy(sums[i], out + i * p->out_c + k, channels * sizeof(float));
	panel_add(p, patch, panel, n, in, sums);
	for (size_t i = 0; i < n; i++)
		if (panel->first + panel->n == elements)
			add_bias(channels, sums[i], bias + k, min, max, out + i * p->out_c + k);
		else
			memcpy(out + i * p->out_c + k, sums[i], channels * sizeof(float));
}

static void conv_panel(const struct nnbx_planes *p, const struct panel *panel, size_t elements, size_t k,
                       size_t channels, const float *in, const float *bias, float min, float max, float *out)
{
	size_t rows = nnbx_rows(p);

	for (size_t row = 0; row < rows && nnbx_worked(1); row++) {
		struct nnbx_patch patch = nnbx_patch_row(p, row);

		for (size_t column = 0, n; column < p->out_w && nnbx_worked(20); column += n) {
			patch.x = nnbx_patch_columns(p, column);
			n = pixels_together(p, column, &patch.x);
			conv_stretch(p, &patch, panel, elements, n, k, channels, in, bias, min, max,
			             out + (row * p->out_w + column) * p->out_c);
		}
	}
}

/* @units dot products of @n elements, of @a and of rows that are @step apart: each has two vectors of sums. */
static NNBX_INLINE void dot_rows(size_t units, const float *a, const float *b, size_t step, size_t n, float *sums)
{
	nnbx_float8 low[UNITS] = { { 0 } }, high[UNITS] = { { 0 } };
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		for (size_t u = 0; u < units; u++) {
			low[u] += *(const nnbx_float8 *)(a + i) * *(const nnbx_float8 *)(b + u * step + i);
			high[u] += *(const nnbx_float8 *)(a + i + 8) * *(const nnbx_float8 *)(b + u * step + i + 8);
		}
	for (size_t u = 0; u < units; u++) {
		float rest = 0;

		for (size_t k = i; k < n; k++)
			rest += a[k] * b[u * step + k];
		low[u] += high[u];
		for (size_t k = 0; k < 8; k++)
			rest += low[u][k];
		sums[u] += rest;
	}
}

static NNBX_INLINE void dot_units_body(size_t units, const float *a, const float *b, size_t step, size_t n, float *sums)
{
	if (units == UNITS)
		dot_rows(UNITS, a, b, step, n, sums);
	else
		for (size_t u = 0; u < units; u++)
			dot_rows(1, a, b + u * step, step, n, sums + u);
}

NNBX_TWICE(dot_units, (size_t units, const float *a, const float *b, size_t step, size_t n, float *sums),
           (units, a, b, step, n, sums))

static size_t units_at(size_t u, size_t units)
{
	return units - u < UNITS ? units - u : UNITS;
}

/* For few pixels weights are not worth turning: each is used once. */
static void conv_pixel(const struct nnbx_planes *p, const struct nnbx_patch *patch, const float *in,
                       const float *filter, size_t elements, size_t units, float *sums)
{
	struct run run = run_of(p, patch);

	for (size_t fy = patch->y.begin; fy < patch->y.end && nnbx_worked(1); fy++)
		for (size_t fx = patch->x.begin; fx < patch->x.end && nnbx_worked(1); fx += run.cells) {
			const float *from = in + nnbx_cell(p, patch, fy, fx), *weights = filter + in_filter(p, fy, fx);

			NNBX_IN_PARTS (run.elements, units, at, part)
				dot_units(units, from + at, weights + at, elements, part, sums);
		}
}

static void conv_few_pixels(const struct nnbx_planes *p, const float *in, const float *filter, const float *bias,
                            float min, float max, float *out)
{
	size_t pixels = nnbx_pixels(p), elements = filter_elements(p);

	for (size_t pixel = 0; pixel < pixels && nnbx_worked(1); pixel++) {
		struct nnbx_patch patch = nnbx_patch(p, pixel);

		for (size_t k = 0, n; k < p->out_c && nnbx_worked(4); k += n) {
			float sums[UNITS] = { 0 };

			n = units_at(k, p->out_c);
			conv_pixel(p, &patch, in, filter + k * elements, elements, n, sums);
			for (size_t i = 0; i < n; i++)
				*out++ = nnbx_clamp(bias[k + i] + sums[i], min, max);
		}
	}
}

/* Where each pixel becomes one pixel, all of them are one row. */
static struct nnbx_planes planes_flattened(const struct nnbx_planes *p)
{
	struct nnbx_planes flat = *p;
	size_t pixels = nnbx_pixels(p);

	if (p->window.filter_h != 1 || p->window.filter_w != 1 || p->window.stride_h != 1 || p->window.stride_w != 1 ||
	    p->in_h != p->out_h || p->in_w != p->out_w || pixels > UINT32_MAX)
		return flat;
	flat.batch = flat.in_h = flat.out_h = 1;
	flat.in_w = flat.out_w = (uint32_t)pixels;
	return flat;
}

void nnbx_conv2d_f32(const struct nnbx_planes *planes, const float *in, const float *filter, const float *bias,
                     float min, float max, float *out)
{
	struct nnbx_planes flat = planes_flattened(planes), *p = &flat;
	size_t elements = filter_elements(p);
	struct panel panel;

	if (nnbx_pixels(p) < FEW_PIXELS) {
		conv_few_pixels(p, in, filter, bias, min, max, out);
		return;
	}
	for (size_t k = 0; k < p->out_c; k += PANEL) {
		size_t channels = p->out_c - k < PANEL ? p->out_c - k : PANEL;

		for (size_t first = 0; first < elements; first += PANEL_ELEMENTS) {
			if (!nnbx_worked(PANEL * PANEL_ELEMENTS))
				return;
			panel_turn(&panel, filter + k * elements, elements, channels, first);
			conv_panel(p, &panel, elements, k, channels, in, bias, min, max, out);
		}
	}
}

void nnbx_conv2d_q8(const struct nnbx_planes *p, const struct nnbx_quants *q, const uint8_t *in, const uint8_t *filter,
                    const int32_t *bias, uint8_t *out)
{
	size_t pixels = nnbx_pixels(p), elements = filter_elements(p);
	struct nnbx_scaler scalers[NNBX_CHUNK];

	for (size_t k = 0, n; k < p->out_c && nnbx_worked(2000); k += n) {
		n = chunk_scalers(p, q, k, scalers);
		for (size_t pixel = 0; pixel < pixels && nnbx_worked(1); pixel++) {
			struct nnbx_patch patch = nnbx_patch(p, pixel);

			for (size_t i = k; i < k + n && nnbx_worked(1); i++)
				out[pixel * p->out_c + i] = nnbx_requantize(
					q, scalers[i - k],
					bias[i] + patch_dot_q8(p, q, &patch, in, filter + i * elements));
		}
	}
}

void nnbx_fully_connected_f32(size_t batch, size_t size, size_t units, const float *in, const float *weights,
                              const float *bias, float min, float max, float *out)
{
	for (size_t b = 0; b < batch && nnbx_worked(1); b++)
		for (size_t u = 0, n; u < units && nnbx_worked(4); u += n) {
			float sums[UNITS] = { 0 };

			n = units_at(u, units);
			NNBX_IN_PARTS (size, n, at, part)
				dot_units(n, in + b * size + at, weights + u * size + at, size, part, sums);
			for (size_t i = 0; i < n; i++)
				*out++ = nnbx_clamp(bias[u + i] + sums[i], min, max);
		}
}

void nnbx_fully_connected_q8(size_t batch, size_t size, size_t units, const struct nnbx_quants *q, const uint8_t *in,
                             const uint8_t *weights, const int32_t *bias, uint8_t *out)
{
	struct nnbx_scaler s = nnbx_product_scaler(q, 0);

	for (size_t b = 0; b < batch && nnbx_worked(1); b++)
		for (size_t u = 0; u < units && nnbx_worked(1); u++)
			*out++ = nnbx_requantize(q, s,
			                         bias[u] + nnbx_dot_q8(in + b * size, q->a.zero_point,
			                                               weights + u * size, q->b.zero_point, size));
}

/* ---- every channel for itself ---- */

/* The input channels of output channels k to k + n. */
static void spread_f32(const float *cell, size_t k, size_t n, size_t multiplier, float *ret)
{
	size_t channel = k / multiplier, copy = k % multiplier;

	for (size_t i = 0; i < n; i++) {
		ret[i] = cell[channel];
		if (++copy == multiplier) {
			copy = 0;
			channel++;
		}
	}
}

static void spread_q8(const uint8_t *cell, size_t k, size_t n, size_t multiplier, uint8_t *ret)
{
	size_t channel = k / multiplier, copy = k % multiplier;

	for (size_t i = 0; i < n; i++) {
		ret[i] = cell[channel];
		if (++copy == multiplier) {
			copy = 0;
			channel++;
		}
	}
}

/*
 * Add the products of an area of a window to the sums of @n channels; cells of the filter are @out_c apart, and rows
 * of it @row_weights.
 */
static NNBX_INLINE void depthwise_area_body(const struct nnbx_area *area, size_t n, const float *in,
                                            const float *weights, size_t row_weights, size_t out_c, float *sums)
{
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		nnbx_float8 a = *(const nnbx_float8 *)(sums + i), b = *(const nnbx_float8 *)(sums + i + 8);

		for (size_t row = 0; row < area->rows; row++)
			for (size_t c = 0; c < area->cells; c++) {
				const float *x = in + row * area->row_step + c * area->cell_step + i;
				const float *w = weights + row * row_weights + c * out_c + i;

				a += *(const nnbx_float8 *)x * *(const nnbx_float8 *)w;
				b += *(const nnbx_float8 *)(x + 8) * *(const nnbx_float8 *)(w + 8);
			}
		*(nnbx_float8 *)(sums + i) = a;
		*(nnbx_float8 *)(sums + i + 8) = b;
	}
	for (; i + 8 <= n; i += 8) {
		nnbx_float8 a = *(const nnbx_float8 *)(sums + i);

		for (size_t row = 0; row < area->rows; row++)
			for (size_t c = 0; c < area->cells; c++)
				a += *(const nnbx_float8 *)(in + row * area->row_step + c * area->cell_step + i) *
				     *(const nnbx_float8 *)(weights + row * row_weights + c * out_c + i);
		*(nnbx_float8 *)(sums + i) = a;
	}
	for (; i < n; i++)
		for (size_t row = 0; row < area->rows; row++)
			for (size_t c = 0; c < area->cells; c++)
				sums[i] += in[row * area->row_step + c * area->cell_step + i] *
				           weights[row * row_weights + c * out_c + i];
}

NNBX_TWICE(depthwise_area,
           (const struct nnbx_area *area, size_t n, const float *in, const float *weights, size_t row_weights,
            size_t out_c, float *sums),
           (area, n, in, weights, row_weights, out_c, sums))

/* Where an input channel has more than one output channel. */
static void depthwise_spread(const struct nnbx_planes *p, const struct nnbx_patch *patch, const float *in,
                             const float *filter, size_t k, size_t n, float *sums)
{
	static const struct nnbx_area one = { .rows = 1, .cells = 1 };
	float cell[NNBX_CHUNK];

	for (size_t fy = patch->y.begin; fy < patch->y.end && nnbx_worked(1); fy++)
		for (size_t fx = patch->x.begin; fx < patch->x.end && nnbx_worked(3 * n); fx++) {
			spread_f32(in + nnbx_cell(p, patch, fy, fx), k, n, p->window.multiplier, cell);
			depthwise_area(&one, n, cell, filter + (fy * p->window.filter_w + fx) * p->out_c + k, 0, 0,
			               sums);
		}
}

/* Add to n sums what the patch gives output channels k to k + n. */
static void depthwise_f32(const struct nnbx_planes *p, const struct nnbx_patch *patch, const float *in,
                          const float *filter, size_t k, size_t n, float *sums)
{
	struct nnbx_area area = { 0 };
	size_t row = (size_t)p->window.filter_w * p->out_c;

	if (p->window.multiplier != 1) {
		depthwise_spread(p, patch, in, filter, k, n, sums);
		return;
	}
	while (nnbx_area_next(p, patch, &area)) {
		if (!nnbx_worked(area.rows * area.cells * (8 + n / 4))) /* 8: cells may be far from each other */
			return;
		depthwise_area(&area, n, in + nnbx_cell(p, patch, area.fy, area.fx) + k,
		               filter + area.fy * row + area.fx * p->out_c + k, row, p->out_c, sums);
	}
}

static void depthwise_q8(const struct nnbx_planes *p, const struct nnbx_quants *q, const struct nnbx_patch *patch,
                         const uint8_t *in, const uint8_t *filter, size_t k, size_t n, int64_t *sums)
{
	uint8_t cell[NNBX_CHUNK];

	for (size_t fy = patch->y.begin; fy < patch->y.end && nnbx_worked(1); fy++)
		for (size_t fx = patch->x.begin; fx < patch->x.end && nnbx_worked(3 * n); fx++) {
			const uint8_t *weights = filter + (fy * p->window.filter_w + fx) * p->out_c + k;

			spread_q8(in + nnbx_cell(p, patch, fy, fx), k, n, p->window.multiplier, cell);
			for (size_t i = 0; i < n; i++)
				sums[i] += (cell[i] - q->a.zero_point) * (weights[i] - q->b.zero_point);
		}
}

void nnbx_depthwise_conv2d_f32(const struct nnbx_planes *p, const float *in, const float *filter, const float *bias,
                               float min, float max, float *out)
{
	size_t rows = nnbx_rows(p);

	for (size_t row = 0; row < rows && nnbx_worked(1); row++) {
		struct nnbx_patch patch = nnbx_patch_row(p, row);

		for (size_t column = 0; column < p->out_w && nnbx_worked(1); column++) {
			patch.x = nnbx_patch_columns(p, column);
			for (size_t k = 0, n; k < p->out_c && nnbx_worked(1); k += n, out += n) {
				float sums[NNBX_CHUNK] = { 0 };

				n = p->out_c - k < NNBX_CHUNK ? p->out_c - k : NNBX_CHUNK;
				depthwise_f32(p, &patch, in, filter, k, n, sums);
				add_bias(n, sums, bias + k, min, max, out);
			}
		}
	}
}

void nnbx_depthwise_conv2d_q8(const struct nnbx_planes *p, const struct nnbx_quants *q, const uint8_t *in,
                              const uint8_t *filter, const int32_t *bias, uint8_t *out)
{
	size_t pixels = nnbx_pixels(p);
	struct nnbx_scaler scalers[NNBX_CHUNK];

	for (size_t k = 0, n; k < p->out_c && nnbx_worked(2000); k += n) {
		n = chunk_scalers(p, q, k, scalers);
		for (size_t pixel = 0; pixel < pixels && nnbx_worked(1); pixel++) {
			struct nnbx_patch patch = nnbx_patch(p, pixel);
			uint8_t *to = out + pixel * p->out_c + k;
			int64_t sums[NNBX_CHUNK] = { 0 };

			depthwise_q8(p, q, &patch, in, filter, k, n, sums);
			for (size_t i = 0; i < n; i++)
				to[i] = nnbx_requantize(q, scalers[i], bias[k + i] + sums[i]);
		}
	}
}

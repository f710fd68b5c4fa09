/* conv.c -- convolutions and fully connected layers whose weights are known at run time only. */
#include "arith.h"

#include <assert.h>

/* ---- every input channel to every output channel ---- */

/*
 * Cells side by side in the image are so in the filter, too: a row of a window is one dot product; unless the filter's are
 * further apart, and each is one.
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

static float patch_dot_f32(const struct nnbx_planes *p, const struct nnbx_patch *patch, const float *in,
                           const float *filter)
{
	struct run run = run_of(p, patch);
	float sum = 0;

	for (size_t fy = patch->y.begin; fy < patch->y.end && nnbx_worked(1); fy++)
		for (size_t fx = patch->x.begin; fx < patch->x.end && nnbx_worked(1); fx += run.cells)
			sum += nnbx_dot_f32(in + nnbx_cell(p, patch, fy, fx), filter + in_filter(p, fy, fx),
			                    run.elements);
	return sum;
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

void nnbx_conv2d_f32(const struct nnbx_planes *p, const float *in, const float *filter, const float *bias, float min,
                     float max, float *out)
{
	size_t pixels = nnbx_pixels(p), elements = filter_elements(p);

	for (size_t pixel = 0; pixel < pixels && nnbx_worked(1); pixel++) {
		struct nnbx_patch patch = nnbx_patch(p, pixel);

		for (size_t k = 0; k < p->out_c && nnbx_worked(1); k++)
			*out++ = nnbx_clamp(bias[k] + patch_dot_f32(p, &patch, in, filter + k * elements), min, max);
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
		for (size_t u = 0; u < units && nnbx_worked(1); u++)
			*out++ = nnbx_clamp(bias[u] + nnbx_dot_f32(in + b * size, weights + u * size, size), min, max);
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

/* Add to n sums what the patch gives output channels k to k + n. */
static void depthwise_f32(const struct nnbx_planes *p, const struct nnbx_patch *patch, const float *in,
                          const float *filter, size_t k, size_t n, float *sums)
{
	float cell[NNBX_CHUNK];

	for (size_t fy = patch->y.begin; fy < patch->y.end && nnbx_worked(1); fy++)
		for (size_t fx = patch->x.begin; fx < patch->x.end && nnbx_worked(3 * n); fx++) {
			const float *weights = filter + (fy * p->window.filter_w + fx) * p->out_c + k;

			spread_f32(in + nnbx_cell(p, patch, fy, fx), k, n, p->window.multiplier, cell);
			for (size_t i = 0; i < n; i++)
				sums[i] += cell[i] * weights[i];
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
	size_t pixels = nnbx_pixels(p);

	for (size_t pixel = 0; pixel < pixels && nnbx_worked(1); pixel++) {
		struct nnbx_patch patch = nnbx_patch(p, pixel);

		for (size_t k = 0; k < p->out_c && nnbx_worked(1); k += NNBX_CHUNK) {
			size_t n = p->out_c - k < NNBX_CHUNK ? p->out_c - k : NNBX_CHUNK;
			float sums[NNBX_CHUNK] = { 0 };

			depthwise_f32(p, &patch, in, filter, k, n, sums);
			for (size_t i = 0; i < n; i++)
				*out++ = nnbx_clamp(bias[k + i] + sums[i], min, max);
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

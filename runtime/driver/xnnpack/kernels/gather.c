/* gather.c -- elements looked up by index, by nearness or by chance. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "tensor.h"

/* ---- GATHER ---- */

bool nnbx_gather(const struct nnbx_tensor *in, uint32_t axis, const struct nnbx_tensor *indices,
                 const struct nnbx_tensor *out)
{
	size_t outer = nnbx_extent(in, 0, axis), row = nnbx_extent(in, axis + 1, in->rank) * nnbx_element_bytes(in);
	size_t n = nnbx_elements(indices), rows = in->dims[axis];
	const volatile int32_t *index = indices->at; /* read once: what is checked is what is used */
	const char *from = in->at;
	char *to = out->at;

	for (size_t o = 0; o < outer && nnbx_worked(1); o++, from += rows * row)
		for (size_t i = 0; i < n && nnbx_worked(5); i++, to += row) {
			int32_t at = index[i];

			if (at < 0 || (size_t)at >= rows)
				return false;
			nnbx_copy(to, from + (size_t)at * row, row);
		}
	return true;
}

/* ---- RANDOM_MULTINOMIAL ---- */

/* Sums of e^logit up to each class. */
static void logits_cumulate(const struct nnbx_tensor *logits, size_t first, size_t n, double *sums)
{
	double most = -INFINITY, sum = 0;

	for (size_t i = 0; i < n && nnbx_worked(5); i++)
		most = fmax(most, nnbx_load_one(logits, first + i));
	for (size_t i = 0; i < n && nnbx_worked(20); i++) {
		double x = exp(nnbx_load_one(logits, first + i) - most);

		sums[i] = sum += isfinite(x) ? x : 0;
	}
}

/* The first class whose sum is above @x; the last where none is. */
static size_t class_at(const double *sums, size_t n, double x)
{
	size_t begin = 0, end = n - 1;

	assert(n > 0);
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (sums[middle] > x)
			end = middle;
		else
			begin = middle + 1;
	}
	return begin;
}

void nnbx_random_multinomial(const struct nnbx_tensor *logits, const int32_t seeds[2], double *scratch,
                             const struct nnbx_tensor *out)
{
	size_t batch = logits->dims[0], n = logits->dims[1], samples = out->dims[1];
	uint64_t state = (uint64_t)(uint32_t)seeds[0] << 32 | (uint32_t)seeds[1];
	int32_t *to = out->at;

	for (size_t b = 0; n && b < batch && nnbx_worked(1); b++) {
		logits_cumulate(logits, b * n, n, scratch);
		for (size_t i = 0; i < samples && nnbx_worked(100); i++) {
			/* SplitMix64: each step gives 64 bits that pass the usual tests. */
			uint64_t z = state += 0x9e3779b97f4a7c15;
			double x;

			z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
			z = (z ^ z >> 27) * 0x94d049bb133111eb;
			x = (double)((z ^ z >> 31) >> 11) * 0x1p-53;
			*to++ = (int32_t)class_at(scratch, n, x * scratch[n - 1]);
		}
	}
}

/* ---- RESIZE_NEAREST_NEIGHBOR ---- */

/* The index in [0, n) of what is nearest to index @i of the output. */
static size_t nearest_index(const struct nnbx_nearest *how, size_t i, double scale, size_t n)
{
	double x = how->half_pixels ? ((double)i + 0.5) * scale : (double)i * scale;

	x = how->align_corners ? round(x) : floor(x);
	if (!(x > 0))
		return 0;
	return x < (double)(n - 1) ? (size_t)x : n - 1;
}

enum { PIXEL_UNITS = 60 }; /* units of look.h for finding a pixel and copying one with few channels */

void nnbx_resize_nearest(const struct nnbx_nearest *how, const struct nnbx_tensor *in, const struct nnbx_tensor *out)
{
	struct nnbx_image from = nnbx_image(in->dims, how->nchw), to = nnbx_image(out->dims, how->nchw);
	size_t elem = nnbx_element_bytes(in);

	for (size_t b = 0; b < to.batch && nnbx_worked(1); b++)
		for (size_t y = 0; y < to.h && nnbx_worked(1); y++) {
			size_t at = b * from.step_batch + nearest_index(how, y, how->scale_h, from.h) * from.step_h;
			const char *in_row = (const char *)in->at + at * elem;
			char *out_row = (char *)out->at + (b * to.step_batch + y * to.step_h) * elem;

			for (size_t x = 0; x < to.w && nnbx_worked(PIXEL_UNITS); x++) {
				struct nnbx_move m = { .rank = 1,
					               .dims = { to.c },
					               .in_step = { (ptrdiff_t)from.step_c },
					               .out_step = { (ptrdiff_t)to.step_c } };

				at = nearest_index(how, x, how->scale_w, from.w) * from.step_w;
				nnbx_move(&m, elem, in_row + at * elem, out_row + x * to.step_w * elem);
			}
		}
}

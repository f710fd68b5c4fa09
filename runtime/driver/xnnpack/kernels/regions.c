/* regions.c -- regions of images, and the best point in one. */
#include <math.h>

#include "boxes.h"

enum { CELL_UNITS = 20 }; /* units of look.h */

/* ---- ROI_ALIGN and ROI_POOLING ---- */

/* A region of an image, in cells. */
struct region {
	size_t image; /* its first element */
	double x, y, w, h;
};

static bool region_of(const struct nnbx_roi *how, const struct nnbx_image *m, const struct nnbx_tensor *rois,
                      const struct nnbx_tensor *batches, size_t i, struct region *ret)
{
	int32_t batch = ((const volatile int32_t *)batches->at)[i];
	double c[4];

	nnbx_load(rois, i * 4, 1, 4, c);
	if (batch < 0 || (size_t)batch >= m->batch)
		return false;
	for (int k = 0; k < 4; k++)
		c[k] /= k % 2 ? how->stride_h : how->stride_w;
	if (!(c[0] >= 0 && c[1] >= 0 && c[2] >= c[0] && c[3] >= c[1] && c[2] <= (double)m->w && c[3] <= (double)m->h))
		return false;
	*ret = (struct region){ (size_t)batch * m->step_batch, c[0], c[1], c[2] - c[0], c[3] - c[1] };
	return true;
}

/* One axis of a point between two cells: which they are, and how near it is to the second. */
struct between {
	size_t at[2];
	double near[2];
};

static struct between between_cells(double x, size_t n)
{
	struct between b = { { (size_t)x, (size_t)x + 1 }, { 1, 0 } };

	b.near[1] = x - (double)b.at[0];
	if (b.at[0] >= n - 1) {
		b.at[0] = b.at[1] = n - 1;
		b.near[1] = 0;
	}
	b.near[0] = 1 - b.near[1];
	return b;
}

/* The interpolated value at a point of one channel, which starts at @from. */
static double sample_at(const struct nnbx_tensor *in, const struct nnbx_image *m, size_t from, double y, double x)
{
	struct between v = between_cells(y, m->h), h = between_cells(x, m->w);
	double sum = 0;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			sum += v.near[i] * h.near[k] *
			       nnbx_load_one(in, from + v.at[i] * m->step_h + h.at[k] * m->step_w);
	return sum;
}

static size_t samples_in(int32_t wanted, double extent)
{
	return wanted > 0 ? (size_t)wanted : (size_t)fmax(1, ceil(extent));
}

/* The mean of the samples in the cell of the output that starts at (y, x) and is h by w. */
static double mean_of_samples(const struct nnbx_roi *how, const struct nnbx_tensor *in, const struct nnbx_image *m,
                              size_t from, const double cell[4])
{
	size_t rows = samples_in(how->samples_h, cell[2]), columns = samples_in(how->samples_w, cell[3]);
	double sum = 0;

	for (size_t i = 0; i < rows && nnbx_worked(5); i++)
		for (size_t k = 0; k < columns && nnbx_worked(CELL_UNITS); k++) {
			double y = cell[0] + cell[2] * ((double)i + 0.5) / (double)rows;
			double x = cell[1] + cell[3] * ((double)k + 0.5) / (double)columns;

			sum += sample_at(in, m, from, fmin(y, (double)m->h), fmin(x, (double)m->w));
		}
	return sum / (double)rows / (double)columns;
}

static void align_one(const struct nnbx_roi *how, const struct nnbx_tensor *in, const struct nnbx_image *m,
                      const struct region *r, const struct nnbx_image *to, size_t first, const struct nnbx_tensor *out)
{
	double h = fmax(r->h, 1) / (double)to->h, w = fmax(r->w, 1) / (double)to->w;

	for (size_t y = 0; y < to->h && nnbx_worked(1); y++)
		for (size_t x = 0; x < to->w && nnbx_worked(1); x++)
			for (size_t c = 0; c < to->c && nnbx_worked(CELL_UNITS); c++) {
				const double cell[4] = { r->y + (double)y * h, r->x + (double)x * w, h, w };

				nnbx_store_one(out, first + y * to->step_h + x * to->step_w + c * to->step_c,
				               mean_of_samples(how, in, m, r->image + c * m->step_c, cell));
			}
}

bool nnbx_roi_align(const struct nnbx_roi *how, const struct nnbx_tensor *in, const struct nnbx_tensor *rois,
                    const struct nnbx_tensor *batches, const struct nnbx_tensor *out)
{
	struct nnbx_image m = nnbx_image(in->dims, how->nchw), to = nnbx_image(out->dims, how->nchw);
	struct region r;

	for (size_t i = 0; i < rois->dims[0] && nnbx_worked(50); i++) {
		if (!region_of(how, &m, rois, batches, i, &r))
			return false;
		align_one(how, in, &m, &r, &to, i * to.step_batch, out);
	}
	return true;
}

/* Cells [from, to) of an axis of @n, for cell @i of the output. */
static void pool_range(double start, double step, size_t i, size_t n, size_t *from, size_t *to)
{
	double a = fmax(floor(start + step * (double)i), 0), b = fmax(ceil(start + step * (double)(i + 1)), 0);

	*from = a < (double)n ? (size_t)a : n;
	*to = b < (double)n ? (size_t)b : n;
}

static double most_of(const struct nnbx_tensor *in, const struct nnbx_image *m, size_t first, const size_t y[2],
                      const size_t x[2])
{
	double most = -INFINITY;

	if (y[0] >= y[1] || x[0] >= x[1])
		return 0;
	for (size_t i = y[0]; i < y[1] && nnbx_worked(1); i++)
		for (size_t k = x[0]; k < x[1] && nnbx_worked(5); k++)
			most = fmax(most, nnbx_load_one(in, first + i * m->step_h + k * m->step_w));
	return most;
}

static void pool_one(const struct nnbx_tensor *in, const struct nnbx_image *m, const struct region *r,
                     const struct nnbx_image *to, size_t first, const struct nnbx_tensor *out)
{
	double y0 = round(r->y), x0 = round(r->x);
	double h = fmax(round(r->y + r->h) - y0 + 1, 1) / (double)to->h;
	double w = fmax(round(r->x + r->w) - x0 + 1, 1) / (double)to->w;
	size_t y[2], x[2];

	for (size_t i = 0; i < to->h && nnbx_worked(1); i++)
		for (size_t k = 0; k < to->w && nnbx_worked(CELL_UNITS); k++) {
			pool_range(y0, h, i, m->h, &y[0], &y[1]);
			pool_range(x0, w, k, m->w, &x[0], &x[1]);
			for (size_t c = 0; c < to->c && nnbx_worked(5); c++)
				nnbx_store_one(out, first + i * to->step_h + k * to->step_w + c * to->step_c,
				               most_of(in, m, r->image + c * m->step_c, y, x));
		}
}

bool nnbx_roi_pooling(const struct nnbx_roi *how, const struct nnbx_tensor *in, const struct nnbx_tensor *rois,
                      const struct nnbx_tensor *batches, const struct nnbx_tensor *out)
{
	struct nnbx_image m = nnbx_image(in->dims, how->nchw), to = nnbx_image(out->dims, how->nchw);
	struct region r;

	for (size_t i = 0; i < rois->dims[0] && nnbx_worked(50); i++) {
		if (!region_of(how, &m, rois, batches, i, &r))
			return false;
		pool_one(in, &m, &r, &to, i * to.step_batch, out);
	}
	return true;
}

/* ---- HEATMAP_MAX_KEYPOINT ---- */

/* Fit a parabola through the 3 by 3 cells around the greatest: @delta is the position of its top, @score the height. */
static void peak_fit(const double g[3][3], double delta[2], double *score)
{
	double bx = (g[1][0] - g[1][2]) / 2, by = (g[0][1] - g[2][1]) / 2;
	double xx = g[1][0] - 2 * g[1][1] + g[1][2], yy = g[0][1] - 2 * g[1][1] + g[2][1];
	double xy = (g[2][2] - g[2][0] - g[0][2] + g[0][0]) / 4, det = xx * yy - xy * xy, most;

	if (!(fabs(det) >= 1e-5 + 1e-5 * xx * yy))
		return;
	delta[0] = (yy * bx - xy * by) / det;
	delta[1] = (xx * by - xy * bx) / det;
	most = fmax(fabs(delta[0]), fabs(delta[1]));
	for (int i = 0; most > 1.5 && i < 2; i++)
		delta[i] *= 1.5 / most;
	*score = g[1][1] - bx * delta[0] - by * delta[1] +
	         ((xx * delta[0] + xy * delta[1]) * delta[0] + (xy * delta[0] + yy * delta[1]) * delta[1]) / 2;
}

/* Beyond the border is what is on this side of it. */
static size_t mirrored_index(size_t at, int step, size_t n)
{
	if (step < 0)
		return at ? at - 1 : (n > 1 ? 1 : 0);
	if (step > 0)
		return at + 1 < n ? at + 1 : (n > 1 ? n - 2 : 0);
	return at;
}

/* The greatest of one map, which starts at @first: its place in @ret, in cells, and its score. */
static double find_keypoint(const struct nnbx_tensor *in, const struct nnbx_image *m, size_t first, double ret[2])
{
	double grid[3][3], most = -INFINITY, delta[2] = { 0, 0 };
	size_t best = 0, y, x;

	for (size_t i = 0; i < m->h * m->w && nnbx_worked(5); i++) {
		double value = nnbx_load_one(in, first + i * m->step_w);

		if (value > most) {
			most = value;
			best = i;
		}
	}
	y = best / m->w;
	x = best % m->w;
	for (int i = -1; i <= 1; i++)
		for (int k = -1; k <= 1; k++)
			grid[i + 1][k + 1] = nnbx_load_one(in, first + mirrored_index(y, i, m->h) * m->step_h +
			                                               mirrored_index(x, k, m->w) * m->step_w);
	peak_fit((const double(*)[3])grid, delta, &most);
	ret[0] = (double)x + 0.5 + delta[0];
	ret[1] = (double)y + 0.5 + delta[1];
	return most;
}

void nnbx_heatmap_max_keypoint(const struct nnbx_tensor *heatmap, bool nchw, const struct nnbx_tensor *boxes,
                               const struct nnbx_tensor *scores, const struct nnbx_tensor *keypoints)
{
	struct nnbx_image m = nnbx_image(heatmap->dims, nchw);

	for (size_t i = 0; i < m.batch && nnbx_worked(50); i++) {
		double box[4], place[2];

		nnbx_load(boxes, i * 4, 1, 4, box);
		for (size_t k = 0; k < m.c && nnbx_worked(100); k++) {
			double score = find_keypoint(heatmap, &m, i * m.step_batch + k * m.step_c, place);

			place[0] = box[0] + place[0] * (box[2] - box[0]) / (double)m.w;
			place[1] = box[1] + place[1] * (box[3] - box[1]) / (double)m.h;
			nnbx_store_one(scores, i * m.c + k, score);
			nnbx_store(keypoints, (i * m.c + k) * 2, 2, place);
		}
	}
}

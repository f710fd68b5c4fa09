/* reduce.c -- sums, extremes and orders along axes. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "arith.h"
#include "tensor.h"

/* ---- the elements that become one ---- */

/* Some dimensions of a tensor, the innermost last, with where each step leads. */
struct walk {
	uint32_t rank;
	size_t dims[NNB_RANK_MAX], step[NNB_RANK_MAX];
};

/* The dimensions that are (@take) or are not in @axes. */
static struct walk walk_of(const struct nnbx_tensor *t, uint32_t axes, bool take)
{
	size_t step[NNB_RANK_MAX];
	struct walk w = { 0 };

	assert(t->rank <= NNB_RANK_MAX);
	nnbx_steps(t->rank, t->dims, step);
	for (uint32_t d = 0; d < t->rank; d++) {
		if ((axes >> d & 1) != take || t->dims[d] == 1)
			continue;
		w.dims[w.rank] = t->dims[d];
		w.step[w.rank++] = step[d];
	}
	if (!w.rank)
		w = (struct walk){ .rank = 1, .dims = { 1 }, .step = { 1 } };
	return w;
}

static bool is_empty(const struct walk *w)
{
	for (uint32_t d = 0; d < w->rank; d++)
		if (!w->dims[d])
			return true;
	return false;
}

/* One step in the dimensions before @rank. False: that was the last. */
static bool walk_on(const struct walk *w, uint32_t rank, size_t *index, size_t *at)
{
	for (uint32_t d = rank; d-- > 0;) {
		*at += w->step[d];
		if (++index[d] < w->dims[d])
			return true;
		*at -= w->step[d] * w->dims[d];
		index[d] = 0;
	}
	return false;
}

/* ---- reductions ---- */

static double start_of(enum nnb_op op)
{
	switch (op) {
	case NNB_REDUCE_PROD:
	case NNB_REDUCE_ALL:
		return 1;
	case NNB_REDUCE_MAX:
		return -INFINITY;
	case NNB_REDUCE_MIN:
		return INFINITY;
	default:
		return 0;
	}
}

static double reduce_block(enum nnb_op op, double so_far, const double *x, size_t n)
{
	switch (op) {
	case NNB_REDUCE_PROD:
		for (size_t i = 0; i < n; i++)
			so_far *= x[i];
		break;
	case NNB_REDUCE_MAX:
		for (size_t i = 0; i < n; i++)
			so_far = x[i] > so_far ? x[i] : so_far;
		break;
	case NNB_REDUCE_MIN:
		for (size_t i = 0; i < n; i++)
			so_far = x[i] < so_far ? x[i] : so_far;
		break;
	case NNB_REDUCE_ALL:
		for (size_t i = 0; i < n; i++)
			so_far = so_far != 0 && x[i] != 0;
		break;
	case NNB_REDUCE_ANY:
		for (size_t i = 0; i < n; i++)
			so_far = so_far != 0 || x[i] != 0;
		break;
	default: /* sums, MEAN's too */
		for (size_t i = 0; i < n; i++)
			so_far += x[i];
	}
	return so_far;
}

/* The reduction of the elements at @first, in the dimensions of @w. */
static double reduce_one(enum nnb_op op, const struct nnbx_tensor *in, const struct walk *w, size_t first)
{
	uint32_t inner = w->rank - 1;
	size_t index[NNB_RANK_MAX] = { 0 }, at = 0;
	double block[NNBX_BLOCK], so_far = start_of(op);

	do {
		for (size_t i = 0, part; i < w->dims[inner]; i += part) {
			part = w->dims[inner] - i < NNBX_BLOCK ? w->dims[inner] - i : NNBX_BLOCK;
			if (!nnbx_worked(5 + part * 3))
				return so_far;
			nnbx_load(in, first + at + i * w->step[inner], w->step[inner], part, block);
			so_far = reduce_block(op, so_far, block, part);
		}
	} while (walk_on(w, inner, index, &at));
	return so_far;
}

/* ---- sums of float32 whose innermost dimension is kept: neighbours are summed side by side ---- */

enum { SIDE_BY_SIDE = 256 };

/* The sums of @n neighbours, at most SIDE_BY_SIDE, from @in on. */
static void sum_neighbours(const struct walk *over, size_t n, const float *in, double *sums)
{
	uint32_t inner = over->rank - 1;
	size_t index[NNB_RANK_MAX] = { 0 }, at = 0;

	memset(sums, 0, n * sizeof(*sums));
	do {
		for (size_t i = 0, part; i < over->dims[inner]; i += part) {
			part = over->dims[inner] - i < NNBX_BLOCK ? over->dims[inner] - i : NNBX_BLOCK;
			if (!nnbx_worked(5 + part * n / 2))
				return;
			nnbx_sum_f32(&(struct nnbx_area){ .rows = 1, .cells = part, .cell_step = over->step[inner] },
			             in + at + i * over->step[inner], n, sums);
		}
	} while (walk_on(over, inner, index, &at));
}

static void sum_floats(const struct walk *over, const struct walk *kept, double share, const float *in, float *out)
{
	uint32_t inner = kept->rank - 1;
	size_t index[NNB_RANK_MAX] = { 0 }, at = 0;
	double sums[SIDE_BY_SIDE];

	do {
		for (size_t i = 0, n; i < kept->dims[inner] && nnbx_worked(SIDE_BY_SIDE / 2); i += n) {
			n = kept->dims[inner] - i < SIDE_BY_SIDE ? kept->dims[inner] - i : SIDE_BY_SIDE;
			sum_neighbours(over, n, in + at + i, sums);
			for (size_t k = 0; k < n; k++)
				*out++ = (float)(sums[k] / share);
		}
	} while (nnbx_worked(10) && walk_on(kept, inner, index, &at));
}

static bool are_floats_side_by_side(enum nnb_op op, const struct nnbx_tensor *in, const struct nnbx_tensor *out,
                                    const struct walk *over, const struct walk *kept)
{
	return (op == NNB_MEAN || op == NNB_REDUCE_SUM) && in->type == NNB_TENSOR_FLOAT32 &&
	       out->type == NNB_TENSOR_FLOAT32 && kept->step[kept->rank - 1] == 1 && kept->dims[kept->rank - 1] > 1 &&
	       !is_empty(over);
}

void nnbx_reduce(enum nnb_op op, const struct nnbx_tensor *in, uint32_t axes, const struct nnbx_tensor *out)
{
	struct walk over = walk_of(in, axes, true), kept = walk_of(in, axes, false);
	size_t index[NNB_RANK_MAX] = { 0 }, at = 0, to = 0, n = 1;

	for (uint32_t d = 0; d < over.rank; d++)
		n *= over.dims[d];
	if (is_empty(&kept))
		return;
	if (are_floats_side_by_side(op, in, out, &over, &kept)) {
		sum_floats(&over, &kept, op == NNB_MEAN ? (double)n : 1, in->at, out->at);
		return;
	}
	do {
		double x = is_empty(&over) ? start_of(op) : reduce_one(op, in, &over, at);

		nnbx_store_one(out, to++, op == NNB_MEAN ? x / (double)n : x);
	} while (nnbx_worked(10) && walk_on(&kept, kept.rank, index, &at));
}

/* ---- the greatest and the least ---- */

static size_t arg_one(bool greatest, const struct nnbx_tensor *in, size_t first, size_t step, size_t n)
{
	double block[NNBX_BLOCK], best = 0;
	size_t where = 0;

	for (size_t at = 0, part; at < n; at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		if (!nnbx_worked(5 + part * 3))
			break;
		nnbx_load(in, first + at * step, step, part, block);
		for (size_t i = 0; i < part; i++)
			if (!(at + i) || (greatest ? block[i] > best : block[i] < best)) {
				best = block[i];
				where = at + i;
			}
	}
	return where;
}

void nnbx_arg(enum nnb_op op, const struct nnbx_tensor *in, uint32_t axis, const struct nnbx_tensor *out)
{
	size_t n = in->dims[axis], inner = nnbx_extent(in, axis + 1, in->rank), outer = nnbx_extent(in, 0, axis);
	int32_t *to = out->at;

	for (size_t o = 0; o < outer && nnbx_worked(1); o++)
		for (size_t i = 0; i < inner && nnbx_worked(5); i++)
			*to++ = (int32_t)arg_one(op == NNB_ARGMAX, in, o * n * inner + i, inner, n);
}

/* ---- LOG_SOFTMAX ---- */

static void log_softmax_one(const struct nnbx_tensor *in, double beta, size_t first, size_t step, size_t n,
                            const struct nnbx_tensor *out)
{
	double most = -INFINITY, sum = 0;

	for (size_t i = 0; i < n && nnbx_worked(5); i++)
		most = fmax(most, nnbx_load_one(in, first + i * step));
	for (size_t i = 0; i < n && nnbx_worked(20); i++)
		sum += exp((nnbx_load_one(in, first + i * step) - most) * beta);
	sum = log(sum);
	for (size_t i = 0; i < n && nnbx_worked(10); i++)
		nnbx_store_one(out, first + i * step, (nnbx_load_one(in, first + i * step) - most) * beta - sum);
}

void nnbx_log_softmax(const struct nnbx_tensor *in, double beta, uint32_t axis, const struct nnbx_tensor *out)
{
	size_t n = in->dims[axis], inner = nnbx_extent(in, axis + 1, in->rank), outer = nnbx_extent(in, 0, axis);

	for (size_t o = 0; o < outer && nnbx_worked(1); o++)
		for (size_t i = 0; i < inner && nnbx_worked(50); i++)
			log_softmax_one(in, beta, o * n * inner + i, inner, n, out);
}

/* ---- the k greatest: a heap with the worst of them on top ---- */

struct candidate {
	double value;
	size_t index;
};

static bool is_worse(const struct candidate *a, const struct candidate *b)
{
	return a->value < b->value || (a->value == b->value && a->index > b->index);
}

/* Let heap[0] sink among @n, where its children are below it. */
static void heap_sink(struct candidate *heap, size_t n)
{
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		struct candidate swap = heap[at];

		if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
			child++;
		if (!is_worse(&heap[child], &heap[at]))
			return;
		heap[at] = heap[child];
		heap[child] = swap;
	}
}

static void heap_rise(struct candidate *heap, size_t at)
{
	while (at && is_worse(&heap[at], &heap[(at - 1) / 2])) {
		struct candidate swap = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = swap;
		at = (at - 1) / 2;
	}
}

enum { SINK_UNITS = 250 }; /* units of look.h for a path through a heap of a million */

static void topk_row(const struct nnbx_tensor *in, size_t first, size_t n, size_t k, struct candidate *heap)
{
	size_t held = 0;

	for (size_t i = 0; i < n && nnbx_worked(100); i++) {
		struct candidate c = { nnbx_load_one(in, first + i), i };

		if (isnan(c.value))
			c.value = -INFINITY;
		if (held < k) {
			heap[held] = c;
			heap_rise(heap, held++);
		} else if (is_worse(&heap[0], &c)) {
			heap[0] = c;
			heap_sink(heap, k);
		}
	}
	for (size_t left = held; left > 1 && nnbx_worked(SINK_UNITS);) { /* the worst to the end */
		struct candidate worst = heap[0];

		heap[0] = heap[--left];
		heap_sink(heap, left);
		heap[left] = worst;
	}
}

size_t nnbx_topk_scratch(size_t k)
{
	return k > SIZE_MAX / sizeof(struct candidate) ? SIZE_MAX : k * sizeof(struct candidate);
}

void nnbx_topk(const struct nnbx_tensor *in, size_t k, void *scratch, const struct nnbx_tensor *values,
               const struct nnbx_tensor *indices)
{
	size_t n = in->dims[in->rank - 1], rows = nnbx_extent(in, 0, in->rank - 1);
	struct candidate *heap = scratch;
	int32_t *to = indices->at;

	for (size_t row = 0; k && row < rows && nnbx_worked(10); row++) {
		topk_row(in, row * n, n, k, heap);
		for (size_t i = 0; i < k && nnbx_worked(5); i++) {
			nnbx_store_one(values, row * k + i, heap[i].value);
			to[row * k + i] = (int32_t)heap[i].index;
		}
	}
}

/* ---- images ---- */

struct nnbx_image nnbx_image(const uint32_t dims[4], bool nchw)
{
	struct nnbx_image image = { .batch = dims[0] };

	image.h = dims[nchw ? 2 : 1];
	image.w = dims[nchw ? 3 : 2];
	image.c = dims[nchw ? 1 : 3];
	image.step_batch = image.h * image.w * image.c;
	image.step_c = nchw ? image.h * image.w : 1;
	image.step_w = nchw ? 1 : image.c;
	image.step_h = image.w * image.step_w;
	return image;
}

/* What the HAL calls the deviation of a channel is not from the mean, but from 0. */
void nnbx_instance_normalization(const struct nnbx_tensor *in, bool nchw, double gamma, double beta, double epsilon,
                                 const struct nnbx_tensor *out)
{
	struct nnbx_image m = nnbx_image(in->dims, nchw);
	size_t n = m.h * m.w;

	for (size_t b = 0; b < m.batch && nnbx_worked(1); b++)
		for (size_t c = 0; c < m.c && nnbx_worked(50); c++) {
			size_t first = b * m.step_batch + c * m.step_c;
			double sum = 0, squares = 0, mean, scale;

			for (size_t i = 0; i < n && nnbx_worked(5); i++) {
				/* rows follow each other in both layouts */
				double x = nnbx_load_one(in, first + i * m.step_w);

				sum += x;
				squares += x * x;
			}
			mean = sum / (double)n;
			scale = gamma / sqrt(squares / (double)n + epsilon);
			for (size_t i = 0; i < n && nnbx_worked(10); i++)
				nnbx_store_one(out, first + i * m.step_w,
				               (nnbx_load_one(in, first + i * m.step_w) - mean) * scale + beta);
		}
}

/* lower_move.c -- operations that put elements, unseen, in another order or place. */
#include <string.h>

#include "operand.h"

static size_t elem_of(const struct site *s)
{
	return nnb_type_info(in_operand(s, 0)->type)->bytes;
}

static void dense_steps(const struct nnb_shape *shape, ptrdiff_t *ret)
{
	ptrdiff_t step = 1;

	for (uint32_t d = shape->rank; d-- > 0;) {
		ret[d] = step;
		step *= (ptrdiff_t)shape->dims[d];
	}
}

/* The output as it lies, from an input that lies likewise. */
static struct nnbx_move dense_move(const struct site *s)
{
	const struct nnb_shape *out = out_shape(s, 0);
	struct nnbx_move m = { .rank = out->rank };

	dense_steps(out, m.out_step);
	for (uint32_t d = 0; d < out->rank; d++)
		m.dims[d] = out->dims[d];
	return m;
}

static const char *element_at(const struct site *s, ptrdiff_t first)
{
	return (const char *)in_at(s, 0) + first * (ptrdiff_t)elem_of(s);
}

/* SQUEEZE and EXPAND_DIMS */
enum nnb_status nnbx_run_same_order(const struct site *s)
{
	nnbx_copy(out_at(s, 0), in_at(s, 0), shape_elements(in_shape(s, 0)) * elem_of(s));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_transpose(const struct site *s)
{
	struct nnbx_move m = dense_move(s);
	const int32_t *order = value_at(s, 1);
	ptrdiff_t step[NNB_RANK_MAX];

	dense_steps(in_shape(s, 0), step);
	for (uint32_t d = 0; d < m.rank; d++)
		m.in_step[d] = step[order ? (uint32_t)order[d] : m.rank - 1 - d];
	nnbx_move(&m, elem_of(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_slice(const struct site *s)
{
	struct nnbx_move m = dense_move(s);
	const int32_t *begin = value_at(s, 1);
	ptrdiff_t first = 0;

	dense_steps(in_shape(s, 0), m.in_step);
	for (uint32_t d = 0; d < m.rank; d++)
		first += begin[d] * m.in_step[d];
	nnbx_move(&m, elem_of(s), element_at(s, first), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_strided_slice(const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0);
	const int32_t *begins = value_at(s, 1), *ends = value_at(s, 2), *strides = value_at(s, 3);
	uint32_t begin_mask = (uint32_t)int_in(s, 4, 0), end_mask = (uint32_t)int_in(s, 5, 0);
	uint32_t shrink_mask = (uint32_t)int_in(s, 6, 0);
	struct nnbx_move m = { .rank = in->rank };
	ptrdiff_t first = 0, step[NNB_RANK_MAX], out_step = 1;

	dense_steps(in, step);
	for (uint32_t d = in->rank; d-- > 0;) {
		struct nnb_slice slice = nnb_slice_of(in->dims[d], begins[d], ends[d], strides[d], begin_mask >> d & 1,
		                                      end_mask >> d & 1, shrink_mask >> d & 1);

		m.dims[d] = slice.n;
		m.in_step[d] = slice.step * step[d];
		m.out_step[d] = out_step;
		out_step *= (ptrdiff_t)slice.n;
		first += slice.begin * step[d];
	}
	if (out_step)
		nnbx_move(&m, elem_of(s), element_at(s, first), out_at(s, 0));
	return NNB_STATUS_NONE;
}

/* Each dimension is two: which copy, and where in it. */
enum nnb_status nnbx_run_tile(const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0), *out = out_shape(s, 0);
	struct nnbx_move m = { .rank = 2 * in->rank };
	ptrdiff_t in_step[NNB_RANK_MAX], out_step[NNB_RANK_MAX];

	if (!shape_elements(in) || !shape_elements(out))
		return NNB_STATUS_NONE;
	dense_steps(in, in_step);
	dense_steps(out, out_step);
	for (uint32_t d = 0; d < in->rank; d++) {
		m.dims[2 * d] = out->dims[d] / in->dims[d];
		m.in_step[2 * d] = 0;
		m.out_step[2 * d] = out_step[d] * (ptrdiff_t)in->dims[d];
		m.dims[2 * d + 1] = in->dims[d];
		m.in_step[2 * d + 1] = in_step[d];
		m.out_step[2 * d + 1] = out_step[d];
	}
	nnbx_move(&m, elem_of(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_split(const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0);
	uint32_t axis = axis_in(s, 1, in->rank);
	ptrdiff_t first = 0;

	for (uint32_t k = 0; k < s->op->n_outputs; k++) {
		const struct nnb_shape *out = out_shape(s, k);
		struct nnbx_move m = { .rank = in->rank };

		dense_steps(in, m.in_step);
		dense_steps(out, m.out_step);
		for (uint32_t d = 0; d < in->rank; d++)
			m.dims[d] = out->dims[d];
		nnbx_move(&m, elem_of(s), element_at(s, first), out_at(s, k));
		first += m.in_step[axis] * (ptrdiff_t)out->dims[axis];
	}
	return NNB_STATUS_NONE;
}

/* Channels are groups of channels; in the output a channel is one of each group. */
enum nnb_status nnbx_run_channel_shuffle(const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0);
	uint32_t axis = axis_in(s, 2, in->rank), groups = (uint32_t)int_in(s, 1, 1);
	ptrdiff_t step[NNB_RANK_MAX], per_group = (ptrdiff_t)(in->dims[axis] / groups);
	struct nnbx_move m = { .rank = in->rank + 1 };

	dense_steps(in, step);
	for (uint32_t d = 0, at = 0; d < in->rank; d++, at++) {
		m.dims[at] = in->dims[d];
		m.in_step[at] = m.out_step[at] = step[d];
		if (d != axis)
			continue;
		m.dims[at] = (size_t)per_group;
		m.in_step[at] = step[d];
		m.out_step[at++] = step[d] * (ptrdiff_t)groups;
		m.dims[at] = groups;
		m.in_step[at] = step[d] * per_group;
		m.out_step[at] = step[d];
	}
	nnbx_move(&m, elem_of(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

/* ---- room around ---- */

/* Fill the output with a real 0: for quantised types, the zero point. */
static void fill_zero(const struct site *s)
{
	struct nnbx_tensor out = tensor_out(s, 0);
	char zero[8];
	struct nnbx_tensor one = { .type = out.type, .scale = out.scale, .zero_point = out.zero_point, .at = zero };

	nnbx_store_one(&one, 0, 0);
	nnbx_fill(nnbx_elements(&out), nnbx_element_bytes(&out), zero, out.at);
}

/* The input, in an output that has been filled, behind pads[2 * d] elements of each dimension. */
static void put_inside(const struct site *s, const int32_t *pads)
{
	const struct nnb_shape *in = in_shape(s, 0);
	struct nnbx_move m = { .rank = in->rank };
	ptrdiff_t first = 0;

	dense_steps(in, m.in_step);
	dense_steps(out_shape(s, 0), m.out_step);
	for (uint32_t d = 0; d < in->rank; d++) {
		m.dims[d] = in->dims[d];
		first += (ptrdiff_t)pads[(size_t)2 * d] * m.out_step[d];
	}
	nnbx_move(&m, elem_of(s), in_at(s, 0), (char *)out_at(s, 0) + first * (ptrdiff_t)elem_of(s));
}

enum nnb_status nnbx_run_pad(const struct site *s)
{
	fill_zero(s);
	put_inside(s, value_at(s, 1));
	return NNB_STATUS_NONE;
}

/* The value of a quantised tensor's room is a bare integer. */
enum nnb_status nnbx_run_pad_v2(const struct site *s)
{
	struct nnbx_tensor out = tensor_out(s, 0);
	char value[8];
	struct nnbx_tensor one = { .type = out.type, .at = value };

	nnbx_store_one(&one, 0, real_in(s, 2));
	nnbx_fill(nnbx_elements(&out), nnbx_element_bytes(&out), value, out.at);
	put_inside(s, value_at(s, 1));
	return NNB_STATUS_NONE;
}

/* ---- space and batch ---- */

/*
 * One image of many small batches and one of few large ones: cell (y, x) of block (i, k) is y * block + i - pad
 * there.
 */
struct blocks {
	struct nnbx_image deep, wide;
	int64_t block[2], pad[2];
	size_t elem;
};

/* The range [*from, *to) of cells of a block @i that lie within the @n cells of the wide image. */
static void cells_within(int64_t i, int64_t block, int64_t pad, size_t n, size_t cells, size_t *from, size_t *to)
{
	int64_t lowest = pad - i, highest = (int64_t)n + pad - i;

	lowest = lowest > 0 ? (lowest + block - 1) / block : 0;
	highest = highest > 0 ? (highest + block - 1) / block : 0;
	*to = (size_t)highest < cells ? (size_t)highest : cells;
	*from = (size_t)lowest < *to ? (size_t)lowest : *to;
}

/* One block: from wide to deep, or back. */
static void move_block(const struct blocks *b, int64_t i, int64_t k, const char *in, char *out, bool to_deep)
{
	const struct nnbx_image *deep = &b->deep, *wide = &b->wide;
	size_t y[2], x[2], batch = (size_t)(i * b->block[1] + k) * wide->batch;
	ptrdiff_t deep_at, wide_at;
	struct nnbx_move m = { .rank = 4 };
	ptrdiff_t *deep_step = to_deep ? m.out_step : m.in_step, *wide_step = to_deep ? m.in_step : m.out_step;

	cells_within(i, b->block[0], b->pad[0], wide->h, deep->h, &y[0], &y[1]);
	cells_within(k, b->block[1], b->pad[1], wide->w, deep->w, &x[0], &x[1]);
	if (y[0] >= y[1] || x[0] >= x[1])
		return;
	memcpy(m.dims, (const size_t[]){ wide->batch, y[1] - y[0], x[1] - x[0], wide->c }, 4 * sizeof(size_t));
	memcpy(deep_step,
	       (const ptrdiff_t[]){ (ptrdiff_t)deep->step_batch, (ptrdiff_t)deep->step_h, (ptrdiff_t)deep->step_w,
	                            (ptrdiff_t)deep->step_c },
	       4 * sizeof(ptrdiff_t));
	memcpy(wide_step,
	       (const ptrdiff_t[]){ (ptrdiff_t)wide->step_batch, (ptrdiff_t)wide->step_h * b->block[0],
	                            (ptrdiff_t)wide->step_w * b->block[1], (ptrdiff_t)wide->step_c },
	       4 * sizeof(ptrdiff_t));
	deep_at = (ptrdiff_t)(batch * deep->step_batch + y[0] * deep->step_h + x[0] * deep->step_w);
	wide_at = ((ptrdiff_t)y[0] * b->block[0] + i - b->pad[0]) * (ptrdiff_t)wide->step_h +
	          ((ptrdiff_t)x[0] * b->block[1] + k - b->pad[1]) * (ptrdiff_t)wide->step_w;
	nnbx_move(&m, b->elem, in + (to_deep ? wide_at : deep_at) * (ptrdiff_t)b->elem,
	          out + (to_deep ? deep_at : wide_at) * (ptrdiff_t)b->elem);
}

static void move_blocks(const struct site *s, struct blocks *b, bool to_deep)
{
	const int32_t *block = value_at(s, 1);

	b->elem = elem_of(s);
	b->block[0] = block[0];
	b->block[1] = block[1];
	for (int64_t i = 0; i < b->block[0] && nnbx_worked(5); i++)
		for (int64_t k = 0; k < b->block[1] && nnbx_worked(50); k++)
			move_block(b, i, k, in_at(s, 0), out_at(s, 0), to_deep);
}

enum nnb_status nnbx_run_space_to_batch(const struct site *s)
{
	bool nchw = flag_in(s, 3);
	struct blocks b = { .wide = nnbx_image(in_shape(s, 0)->dims, nchw),
		            .deep = nnbx_image(out_shape(s, 0)->dims, nchw) };
	const int32_t *pads = value_at(s, 2);

	b.pad[0] = pads[0];
	b.pad[1] = pads[2];
	fill_zero(s);
	if (shape_elements(in_shape(s, 0)))
		move_blocks(s, &b, true);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_batch_to_space(const struct site *s)
{
	bool nchw = flag_in(s, 2);
	struct blocks b = { .deep = nnbx_image(in_shape(s, 0)->dims, nchw),
		            .wide = nnbx_image(out_shape(s, 0)->dims, nchw) };

	if (shape_elements(in_shape(s, 0)))
		move_blocks(s, &b, false);
	return NNB_STATUS_NONE;
}

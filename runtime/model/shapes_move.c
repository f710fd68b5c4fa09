/* shapes_move.c -- the shapes of operations that move, cut, repeat or look up elements. */
#include "model/shaping.h"

static int too_large(const view *v)
{
	return REFUSE(v, "its output is too large");
}

/* Read input @k as a list of @n INT32 (or n by 2). 0; -ENODATA; -EINVAL. */
static int list_of(const view *v, uint32_t k, uint32_t n, const int32_t **ret)
{
	if (dims_are(v, k, DIMS(n)))
		return -EINVAL;
	*ret = input_values(v, k);
	return *ret || !n ? 0 : -ENODATA;
}

static int pairs_of(const view *v, uint32_t k, uint32_t n, const int32_t **ret)
{
	if (dims_are(v, k, DIMS(n, 2)))
		return -EINVAL;
	*ret = input_values(v, k);
	return *ret ? 0 : -ENODATA;
}

/* ---- batches and space ---- */

static int blocks_of(const view *v, const int32_t **ret)
{
	int r = list_of(v, 1, 2, ret);

	if (r)
		return r;
	if ((*ret)[0] < 1 || (*ret)[1] < 1)
		return REFUSE(v, "a block is %d by %d", (*ret)[0], (*ret)[1]);
	return 0;
}

int nnb__shape_batch_to_space(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	const int32_t *block;
	struct image_axes at;
	bool nchw;
	uint64_t blocks, h, w;
	int r;

	if (rank_between(v, 0, 4, 4))
		return -EINVAL;
	r = blocks_of(v, &block);
	if (!r)
		r = flag_of(v, 2, &nchw);
	if (r)
		return r;
	blocks = (uint64_t)block[0] * (uint64_t)block[1];
	if (out.dims[0] % blocks)
		return REFUSE(v, "%u images do not divide into blocks of %d by %d", out.dims[0], block[0], block[1]);
	at = image_axes(nchw);
	h = (uint64_t)out.dims[at.h] * (uint64_t)block[0];
	w = (uint64_t)out.dims[at.w] * (uint64_t)block[1];
	if (h > UINT32_MAX || w > UINT32_MAX)
		return too_large(v);
	out.dims[0] = (uint32_t)(out.dims[0] / blocks);
	out.dims[at.h] = (uint32_t)h;
	out.dims[at.w] = (uint32_t)w;
	*ret = out;
	return 0;
}

/* The number of blocks in an extent with padding on both sides. */
static int blocked_extent(const view *v, uint32_t extent, const int32_t *pads, int32_t block, uint32_t *ret)
{
	uint64_t all = (uint64_t)extent + (uint64_t)pads[0] + (uint64_t)pads[1];

	if (pads[0] < 0 || pads[1] < 0)
		return REFUSE(v, "it is to be padded by %d and %d", pads[0], pads[1]);
	if (all % (uint64_t)block || all / (uint64_t)block > UINT32_MAX)
		return REFUSE(v, "%llu does not divide into blocks of %d", (unsigned long long)all, block);
	*ret = (uint32_t)(all / (uint64_t)block);
	return 0;
}

int nnb__shape_space_to_batch(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	const int32_t *block, *pads;
	struct image_axes at;
	uint64_t batch;
	bool nchw;
	int r;

	if (rank_between(v, 0, 4, 4))
		return -EINVAL;
	r = blocks_of(v, &block);
	if (!r)
		r = pairs_of(v, 2, 2, &pads);
	if (!r)
		r = flag_of(v, 3, &nchw);
	if (r)
		return r;
	at = image_axes(nchw);
	if (blocked_extent(v, out.dims[at.h], pads, block[0], &out.dims[at.h]) ||
	    blocked_extent(v, out.dims[at.w], pads + 2, block[1], &out.dims[at.w]))
		return -EINVAL;
	batch = (uint64_t)block[0] * (uint64_t)block[1];
	if (__builtin_mul_overflow(batch, out.dims[0], &batch) || batch > UINT32_MAX)
		return too_large(v);
	out.dims[0] = (uint32_t)batch;
	*ret = out;
	return 0;
}

/* ---- the same elements in other dimensions ---- */

/* The dimensions that SQUEEZE removes, one bit each. */
static int squeezed_dims(const view *v, uint32_t *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	const int32_t *axes = input_values(v, 1);
	uint32_t set = 0;

	if (!is_given(v, 1)) {
		for (uint32_t d = 0; d < in->rank; d++)
			set |= (uint32_t)(in->dims[d] == 1) << d;
		*ret = set;
		return 0;
	}
	if (rank_between(v, 1, 1, 1))
		return -EINVAL;
	if (!axes)
		return -ENODATA;
	for (uint32_t i = 0; i < nnb__in(v, 1)->dims[0]; i++) {
		int32_t axis = axes[i] < 0 ? axes[i] + (int32_t)in->rank : axes[i];

		if (axis < 0 || axis >= (int32_t)in->rank || in->dims[axis] != 1)
			return REFUSE(v, "dimension %d cannot be removed", axes[i]);
		set |= 1u << axis;
	}
	*ret = set;
	return 0;
}

int nnb__shape_squeeze(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct nnb_shape out = { .known = true };
	uint32_t set;
	int r;

	if (rank_between(v, 0, 1, 4))
		return -EINVAL;
	r = squeezed_dims(v, &set);
	if (r)
		return r;
	for (uint32_t d = 0; d < in->rank; d++)
		if (!(set >> d & 1))
			out.dims[out.rank++] = in->dims[d];
	if (!out.rank) /* a tensor has at least rank 1 */
		out.dims[out.rank++] = 1;
	*ret = out;
	return 0;
}

int nnb__shape_expand_dims(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct nnb_shape out = { .known = true };
	uint32_t axis;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX - 1))
		return -EINVAL;
	r = axis_of(v, 1, in->rank + 1, &axis);
	if (r)
		return r;
	for (uint32_t d = 0; d <= in->rank; d++)
		out.dims[d] = d == axis ? 1 : in->dims[d - (d > axis)];
	out.rank = in->rank + 1;
	*ret = out;
	return 0;
}

int nnb__shape_transpose(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct nnb_shape out = { .rank = in->rank, .known = true };
	const int32_t *order = NULL;
	uint32_t seen = 0;
	int r = 0;

	if (rank_between(v, 0, 1, 4))
		return -EINVAL;
	if (is_given(v, 1))
		r = list_of(v, 1, in->rank, &order);
	if (r)
		return r;
	for (uint32_t d = 0; d < in->rank; d++) {
		int32_t from = order ? order[d] : (int32_t)(in->rank - 1 - d);

		if (from < 0 || from >= (int32_t)in->rank || seen >> from & 1)
			return REFUSE(v, "dimension %u is to be %d", d, from);
		seen |= 1u << from;
		out.dims[d] = in->dims[from];
	}
	*ret = out;
	return 0;
}

/* ---- operations that add elements ---- */

int nnb__shape_pad(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	const int32_t *pads;
	int r;

	if (rank_between(v, 0, 1, 4))
		return -EINVAL;
	r = pairs_of(v, 1, out.rank, &pads);
	if (r)
		return r;
	for (uint32_t d = 0; d < out.rank; d++) {
		uint64_t all = (uint64_t)out.dims[d] + (uint64_t)pads[2 * d] + (uint64_t)pads[2 * d + 1];

		if (pads[2 * d] < 0 || pads[2 * d + 1] < 0)
			return REFUSE(v, "dimension %u is to be padded by %d and %d", d, pads[2 * d], pads[2 * d + 1]);
		if (all > UINT32_MAX)
			return too_large(v);
		out.dims[d] = (uint32_t)all;
	}
	*ret = out;
	return 0;
}

int nnb__shape_tile(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	const int32_t *times;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX))
		return -EINVAL;
	r = list_of(v, 1, out.rank, &times);
	if (r)
		return r;
	for (uint32_t d = 0; d < out.rank; d++) {
		uint64_t all = (uint64_t)out.dims[d] * (uint64_t)times[d];

		if (times[d] < 0)
			return REFUSE(v, "dimension %u cannot be repeated %d times", d, times[d]);
		if (all > UINT32_MAX)
			return too_large(v);
		out.dims[d] = (uint32_t)all;
	}
	*ret = out;
	return 0;
}

int nnb__shape_fill(const view *v, struct nnb_shape *ret)
{
	const int32_t *dims = input_values(v, 0);
	struct nnb_shape out = { .known = true };

	if (rank_between(v, 0, 1, 1))
		return -EINVAL;
	out.rank = nnb__in(v, 0)->dims[0];
	if (!out.rank || out.rank > NNB_RANK_MAX)
		return REFUSE(v, "its output would have rank %u", out.rank);
	if (!dims)
		return -ENODATA;
	for (uint32_t d = 0; d < out.rank; d++) {
		if (dims[d] < 0)
			return REFUSE(v, "dimension %u is to be %d", d, dims[d]);
		out.dims[d] = (uint32_t)dims[d];
	}
	*ret = out;
	return 0;
}

int nnb__shape_rank(const view *v, struct nnb_shape *ret)
{
	(void)v;
	*ret = (struct nnb_shape){ .known = true }; /* a scalar */
	return 0;
}

/* ---- operations that select elements ---- */

int nnb__shape_slice(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	const int32_t *begin, *size;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX))
		return -EINVAL;
	r = list_of(v, 1, out.rank, &begin);
	if (!r)
		r = list_of(v, 2, out.rank, &size);
	if (r)
		return r;
	for (uint32_t d = 0; d < out.rank; d++) {
		int64_t all = out.dims[d], n = size[d] == -1 ? all - begin[d] : size[d];

		if (begin[d] < 0 || n < 0 || begin[d] + n > all)
			return REFUSE(v, "dimension %u has %lld elements, and %lld from %d on are wanted", d,
			              (long long)all, (long long)n, begin[d]);
		out.dims[d] = (uint32_t)n;
	}
	*ret = out;
	return 0;
}

static int64_t clamp_between(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

struct nnb_slice nnb_slice_of(uint32_t extent, int32_t begin, int32_t end, int32_t stride, bool from_first,
                              bool to_last, bool one)
{
	int64_t n = extent, first = begin < 0 ? begin + n : begin, last = end < 0 ? end + n : end, step = stride;
	int64_t least = step > 0 ? 0 : -1, most = step > 0 ? n : n - 1; /* an end here excludes the cell itself */

	if (!step)
		return (struct nnb_slice){ 0 };
	if (one && !from_first)
		return (struct nnb_slice){ first, 1, first >= 0 && first < n };
	first = from_first ? (step > 0 ? 0 : n - 1) : clamp_between(first, least, most);
	if (one)
		return (struct nnb_slice){ first, 1, n > 0 };
	last = to_last ? (step > 0 ? n : -1) : clamp_between(last, least, most);
	if (step > 0 ? first >= last : first <= last)
		return (struct nnb_slice){ 0 };
	return (struct nnb_slice){ first, step,
		                   (uint32_t)((step > 0 ? last - first + step - 1 : first - last - step - 1) /
		                              (step > 0 ? step : -step)) };
}

int nnb__shape_strided_slice(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct nnb_shape out = { .known = true };
	const int32_t *lists[3];
	int32_t masks[3];
	int r = 0;

	if (rank_between(v, 0, 1, 4))
		return -EINVAL;
	for (uint32_t i = 0; !r && i < 3; i++)
		r = list_of(v, 1 + i, in->rank, &lists[i]);
	for (uint32_t i = 0; !r && i < 3; i++)
		if (!nnb__in_i32(v, 4 + i, &masks[i]))
			r = -ENODATA;
	if (r)
		return r;
	for (uint32_t d = 0; d < in->rank; d++) {
		bool one = masks[2] >> d & 1;
		struct nnb_slice slice = nnb_slice_of(in->dims[d], lists[0][d], lists[1][d], lists[2][d],
		                                      masks[0] >> d & 1, masks[1] >> d & 1, one);

		if (!lists[2][d] || (one && (!slice.n || lists[2][d] < 0)))
			return REFUSE(v, "dimension %u is cut from %d to %d by %d", d, lists[0][d], lists[1][d],
			              lists[2][d]);
		if (!one)
			out.dims[out.rank++] = slice.n;
	}
	if (!out.rank)
		out.dims[out.rank++] = 1;
	*ret = out;
	return 0;
}

int nnb__shape_split(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	uint32_t axis;
	int32_t n;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX))
		return -EINVAL;
	r = axis_of(v, 1, out.rank, &axis);
	if (r)
		return r;
	if (!nnb__in_i32(v, 2, &n))
		return -ENODATA;
	if (n < 1 || (uint32_t)n != v->op->n_outputs || out.dims[axis] % (uint32_t)n)
		return REFUSE(v, "%u elements do not split into %d parts for %u outputs", out.dims[axis], n,
		              v->op->n_outputs);
	out.dims[axis] /= (uint32_t)n;
	for (uint32_t k = 0; k < v->op->n_outputs; k++)
		ret[k] = out;
	return 0;
}

/* ---- permutation and lookup ---- */

int nnb__shape_channel_shuffle(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	uint32_t axis;
	int32_t groups;
	int r;

	if (rank_between(v, 0, 1, 4))
		return -EINVAL;
	r = axis_of(v, 2, in->rank, &axis);
	if (r)
		return r;
	if (nnb__in_i32(v, 1, &groups) && (groups < 1 || in->dims[axis] % (uint32_t)groups))
		return REFUSE(v, "%u channels do not divide into %d groups", in->dims[axis], groups);
	*ret = *in;
	return 0;
}

int nnb__shape_gather(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0), *indices = nnb__in(v, 2);
	struct nnb_shape out = { .known = true };
	uint32_t axis;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX) || rank_between(v, 2, 1, NNB_RANK_MAX))
		return -EINVAL;
	r = axis_of(v, 1, in->rank, &axis);
	if (r)
		return r;
	if (in->rank - 1 + indices->rank > NNB_RANK_MAX)
		return REFUSE(v, "its output would have rank %u", in->rank - 1 + indices->rank);
	for (uint32_t d = 0; d < axis; d++)
		out.dims[out.rank++] = in->dims[d];
	for (uint32_t d = 0; d < indices->rank; d++)
		out.dims[out.rank++] = indices->dims[d];
	for (uint32_t d = axis + 1; d < in->rank; d++)
		out.dims[out.rank++] = in->dims[d];
	*ret = out;
	return 0;
}

int nnb__shape_select(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *a = nnb__in(v, 1);

	if (rank_between(v, 1, 1, NNB_RANK_MAX) || dims_are(v, 0, a->rank, a->dims) || dims_are(v, 2, a->rank, a->dims))
		return -EINVAL;
	*ret = *a;
	return 0;
}

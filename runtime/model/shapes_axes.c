/* shapes_axes.c -- the shapes of operations element by element, or along axes. */
#include <math.h>

#include "model/shaping.h"

/* ---- element by element ---- */

int nnb__shape_each(const view *v, struct nnb_shape *ret)
{
	*ret = *nnb__in(v, 0);
	return 0;
}

/* O-32. Some operations have a fused activation, input 2. */
int nnb__shape_pairs(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *a = nnb__in(v, 0), *b = nnb__in(v, 1);
	struct nnb_shape out = { .rank = a->rank > b->rank ? a->rank : b->rank, .known = true };

	if (rank_between(v, 0, 1, NNB_RANK_MAX) || rank_between(v, 1, 1, NNB_RANK_MAX) || fused_is_known(v, 2))
		return -EINVAL;
	for (uint32_t d = 1; d <= out.rank; d++) { /* d counts from the last dimension */
		uint32_t x = d <= a->rank ? a->dims[a->rank - d] : 1, y = d <= b->rank ? b->dims[b->rank - d] : 1;

		if (x != y && x != 1 && y != 1)
			return REFUSE(v, "%u and %u do not broadcast", x, y);
		out.dims[out.rank - d] = x == 1 ? y : x;
	}
	*ret = out;
	return 0;
}

/* ---- along axes ---- */

/* The reduced axes, one bit each. */
static int reduced_axes(const view *v, uint32_t *ret)
{
	int32_t rank = (int32_t)nnb__in(v, 0)->rank;
	const int32_t *axes = input_values(v, 1);

	*ret = 0;
	if (rank_between(v, 1, 1, 1))
		return -EINVAL;
	if (!axes && nnb__in(v, 1)->dims[0])
		return -ENODATA;
	for (uint32_t i = 0; i < nnb__in(v, 1)->dims[0]; i++) {
		int32_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];

		if (axis < 0 || axis >= rank)
			return REFUSE(v, "there is no axis %d", axes[i]);
		*ret |= 1u << axis;
	}
	return 0;
}

int nnb__shape_reduce(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct nnb_shape out = { .known = true };
	int32_t flag = 0;
	uint32_t axes;
	bool keep;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX))
		return -EINVAL;
	r = reduced_axes(v, &axes);
	if (r)
		return r;
	/* MEAN has an INT32 flag, the other reductions a BOOL. */
	if (v->op->type != NNB_MEAN)
		r = flag_of(v, 2, &keep);
	else if (!nnb__in_i32(v, 2, &flag))
		r = -ENODATA;
	else
		keep = flag > 0;
	if (r)
		return r;
	for (uint32_t d = 0; d < in->rank; d++)
		if (!(axes >> d & 1) || keep)
			out.dims[out.rank++] = axes >> d & 1 ? 1 : in->dims[d];
	if (!out.rank)
		out.dims[out.rank++] = 1;
	*ret = out;
	return 0;
}

int nnb__shape_arg(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct nnb_shape out = { .known = true };
	uint32_t axis;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX))
		return -EINVAL;
	r = axis_of(v, 1, in->rank, &axis);
	if (r)
		return r;
	if (!in->dims[axis])
		return REFUSE(v, "axis %u has no elements", axis);
	for (uint32_t d = 0; d < in->rank; d++)
		if (d != axis)
			out.dims[out.rank++] = in->dims[d];
	if (!out.rank)
		out.dims[out.rank++] = 1;
	*ret = out;
	return 0;
}

int nnb__shape_log_softmax(const view *v, struct nnb_shape *ret)
{
	uint32_t axis;
	float beta;
	int r;

	if (rank_between(v, 0, 1, NNB_RANK_MAX))
		return -EINVAL;
	if (nnb__in_real(v, 1, &beta) && !(beta > 0))
		return REFUSE(v, "beta is not above 0");
	r = axis_of(v, 2, nnb__in(v, 0)->rank, &axis);
	if (r == -EINVAL)
		return r;
	*ret = *nnb__in(v, 0);
	return 0;
}

int nnb__shape_topk(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	int32_t k;

	if (rank_between(v, 0, 1, NNB_RANK_MAX))
		return -EINVAL;
	if (!nnb__in_i32(v, 1, &k))
		return -ENODATA;
	if (k < 1 || (uint32_t)k > out.dims[out.rank - 1])
		return REFUSE(v, "k is %d, and the last dimension has %u elements", k, out.dims[out.rank - 1]);
	out.dims[out.rank - 1] = (uint32_t)k;
	ret[0] = ret[1] = out;
	return 0;
}

int nnb__shape_instance_normalization(const view *v, struct nnb_shape *ret)
{
	if (rank_between(v, 0, 4, 4))
		return -EINVAL;
	*ret = *nnb__in(v, 0);
	return 0;
}

int nnb__shape_random_multinomial(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	int32_t samples;

	if (rank_between(v, 0, 2, 2) || dims_are(v, 2, DIMS(2)))
		return -EINVAL;
	if (!in->dims[1])
		return REFUSE(v, "there is no class");
	if (!nnb__in_i32(v, 1, &samples))
		return -ENODATA;
	if (samples < 1)
		return REFUSE(v, "%d samples are wanted", samples);
	shape_set(ret, DIMS(in->dims[0], (uint32_t)samples));
	return 0;
}

/* ---- resized images ---- */

int nnb__resized_extent(const view *v, uint32_t k, uint32_t from, int32_t *ret)
{
	float factor;
	double to;

	if (nnb__in_type(v, k) == NNB_INT32)
		return nnb__in_i32(v, k, ret) ? 0 : -ENODATA;
	if (!nnb__in_real(v, k, &factor))
		return -ENODATA;
	to = floor((double)((float)from * factor));
	if (!(to > 0 && to <= INT32_MAX))
		return REFUSE(v, "scale %g of extent %u gives no valid extent", (double)factor, from);
	*ret = (int32_t)to;
	return 0;
}

int nnb__want_alignment(const view *v)
{
	bool aligned = false, half = false;

	if (v->op->n_inputs > 5 && nnb__in_bool(v, 4, &aligned) && nnb__in_bool(v, 5, &half) && aligned && half)
		return REFUSE(v, "corners are aligned and centres are half pixels");
	return 0;
}

static int extent_resize(const view *v, uint32_t k, uint32_t *extent)
{
	int32_t to;
	int r = nnb__resized_extent(v, k, *extent, &to);

	if (!r && (to <= 0 || !*extent))
		r = REFUSE(v, "extent %u cannot become %d", *extent, to);
	if (!r)
		*extent = (uint32_t)to;
	return r;
}

int nnb__shape_resize_nearest(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 0);
	bool nchw, corners, pixels;
	struct image_axes at;
	int r;

	if (rank_between(v, 0, 4, 4))
		return -EINVAL;
	if (flag_of(v, 3, &nchw) || flag_of(v, 4, &corners) || flag_of(v, 5, &pixels))
		return -ENODATA;
	at = image_axes(nchw);
	r = nnb__want_alignment(v);
	if (!r)
		r = extent_resize(v, 1, &out.dims[at.w]);
	if (!r)
		r = extent_resize(v, 2, &out.dims[at.h]);
	if (!r)
		*ret = out;
	return r;
}

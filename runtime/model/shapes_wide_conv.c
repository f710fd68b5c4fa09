/* shapes_wide_conv.c -- the geometry of grouped and transposed convolutions. */
#include "model/shaping.h"

/* The scalars that follow filter and bias, in their order. */
struct scalars {
	int32_t pads[4]; /* left, right, top, bottom; explicit */
	int32_t scheme;  /* 0: explicit */
	int32_t strides[2], groups, fused;
	bool nchw;
};

static int wide_scalars_judge(const view *v, const struct scalars *s)
{
	for (int i = 0; i < 4; i++)
		if (s->pads[i] < 0)
			return REFUSE(v, "a padding is below 0");
	if (s->strides[0] < 1 || s->strides[1] < 1)
		return REFUSE(v, "a stride is not above 0");
	if (s->groups < 1)
		return REFUSE(v, "there are %d groups", s->groups);
	if (s->fused < NNB_FUSED_NONE || s->fused > NNB_FUSED_RELU6)
		return REFUSE(v, "there is no such fused activation");
	return 0;
}

/* Read the scalars and check their ranges. 0, -ENODATA if the request supplies one, or -EINVAL. */
static int scalars_of(const view *v, struct scalars *s)
{
	bool grouped = v->op->type == NNB_GROUPED_CONV_2D;
	bool explicit = v->op->n_inputs == (grouped ? 12u : 11u);
	uint32_t k = explicit || grouped ? 3 : 4; /* the output's shape precedes them */
	int32_t *order[8];
	uint32_t n = 0;
	int r;

	*s = (struct scalars){ .groups = 1 };
	for (int i = 0; explicit && i < 4; i++)
		order[n++] = &s->pads[i];
	if (!explicit)
		order[n++] = &s->scheme;
	order[n++] = &s->strides[0];
	order[n++] = &s->strides[1];
	if (grouped)
		order[n++] = &s->groups;
	order[n++] = &s->fused;
	for (uint32_t i = 0; i < n; i++)
		if (!nnb__in_i32(v, k + i, order[i]))
			return -ENODATA;
	if (!explicit && s->scheme != NNB_PADDING_SAME && s->scheme != NNB_PADDING_VALID)
		return REFUSE(v, "the padding scheme is neither SAME nor VALID");
	r = flag_of(v, v->op->n_inputs - 1, &s->nchw);
	return r ? r : wide_scalars_judge(v, s);
}

/* One direction. @wanted: the extent of the output of a transposed convolution with a padding scheme. */
struct direction {
	uint32_t in, filter, head, tail, wanted;
	int32_t stride, scheme;
};

static int direction_slide(const view *v, struct direction *d, uint32_t *ret)
{
	int64_t n = nnb__window_slide(d->scheme, d->in, d->filter, d->stride, &d->head, &d->tail);

	if (n < 0)
		return REFUSE(v, "the filter is larger than the padded input");
	if (n > UINT32_MAX)
		return REFUSE(v, "the output would have %lld rows or columns", (long long)n);
	*ret = (uint32_t)n;
	return 0;
}

/* The output's extent of a transposed convolution: @d->in cells, each spread over the filter. */
static int direction_spread(const view *v, struct direction *d, uint32_t *ret)
{
	int64_t all = ((int64_t)d->in - 1) * d->stride + d->filter, pads;

	if (d->scheme) {
		pads = all - d->wanted;
		if (d->scheme != NNB_PADDING_SAME || pads < 0)
			pads = 0;
		if (pads > UINT32_MAX)
			return REFUSE(v, "the padding would be %lld rows or columns", (long long)pads);
		d->head = (uint32_t)(pads / 2);
		d->tail = (uint32_t)(pads - pads / 2);
		*ret = d->wanted;
		return 0;
	}
	all -= (int64_t)d->head + d->tail;
	if (all < 1 || all > UINT32_MAX)
		return REFUSE(v, "an input of %u rows or columns would give %lld", d->in, (long long)all);
	*ret = (uint32_t)all;
	return 0;
}

/*
 * Read the output's extents that a transposed convolution with a padding scheme names. If the request supplies input 3,
 * its values were used to infer the output's shape: read them from there.
 */
static int wanted_of(const view *v, const struct scalars *s, struct direction d[2])
{
	const int32_t *wanted = input_values(v, 3);
	struct image_axes at = image_axes(s->nchw);

	if (dims_are(v, 3, DIMS(4)))
		return -EINVAL;
	if (!wanted && v->inferred) {
		d[0].wanted = v->shapes[v->op->outputs[0]].dims[at.h];
		d[1].wanted = v->shapes[v->op->outputs[0]].dims[at.w];
		return 0;
	}
	if (!wanted)
		return -ENODATA;
	if (wanted[at.h] < 1 || wanted[at.w] < 1 || (uint32_t)wanted[0] != nnb__in(v, 0)->dims[0] ||
	    (uint32_t)wanted[at.c] != nnb__in(v, 1)->dims[0])
		return REFUSE(v, "the output shape [%d, %d, %d, %d] does not match the input and the filter", wanted[0],
		              wanted[1], wanted[2], wanted[3]);
	d[0].wanted = (uint32_t)wanted[at.h];
	d[1].wanted = (uint32_t)wanted[at.w];
	return 0;
}

int nnb__wide_window(const view *v, struct nnb_window *ret, uint32_t *out_h, uint32_t *out_w)
{
	bool transposed = v->op->type == NNB_TRANSPOSE_CONV_2D;
	const struct nnb_shape *in = nnb__in(v, 0), *filter = nnb__in(v, 1);
	struct direction d[2];
	struct image_axes at;
	struct scalars s;
	int r;

	if (!in->known || !filter->known)
		return -ENODATA;
	r = scalars_of(v, &s);
	if (r)
		return r;
	at = image_axes(s.nchw);
	d[0] = (struct direction){ in->dims[at.h], filter->dims[1], (uint32_t)s.pads[2], (uint32_t)s.pads[3], 0,
		                   s.strides[1],   s.scheme };
	d[1] = (struct direction){ in->dims[at.w], filter->dims[2], (uint32_t)s.pads[0], (uint32_t)s.pads[1], 0,
		                   s.strides[0],   s.scheme };
	if (transposed && s.scheme)
		r = wanted_of(v, &s, d);
	if (!r)
		r = transposed ? direction_spread(v, &d[0], out_h) : direction_slide(v, &d[0], out_h);
	if (!r)
		r = transposed ? direction_spread(v, &d[1], out_w) : direction_slide(v, &d[1], out_w);
	if (r)
		return r;
	*ret = (struct nnb_window){ .pad_left = d[1].head,
		                    .pad_right = d[1].tail,
		                    .pad_top = d[0].head,
		                    .pad_bottom = d[0].tail,
		                    .stride_w = (uint32_t)s.strides[0],
		                    .stride_h = (uint32_t)s.strides[1],
		                    .filter_w = filter->dims[2],
		                    .filter_h = filter->dims[1],
		                    .dilation_w = 1,
		                    .dilation_h = 1,
		                    .multiplier = 1,
		                    .fused = (uint32_t)s.fused };
	return 0;
}

int nnb__shape_wide_conv(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0), *filter = nnb__in(v, 1);
	struct image_axes at;
	struct nnb_window w;
	struct scalars s;
	uint32_t h, width;
	int r;

	if (rank_between(v, 0, 4, 4) || rank_between(v, 1, 4, 4) || dims_are(v, 2, DIMS(filter->dims[0])))
		return -EINVAL;
	r = scalars_of(v, &s);
	if (r)
		return r;
	at = image_axes(s.nchw);
	if (!filter->dims[1] || !filter->dims[2] || !filter->dims[0] || filter->dims[1] > INT32_MAX ||
	    filter->dims[2] > INT32_MAX)
		return REFUSE(v, "the filter is %u by %u", filter->dims[1], filter->dims[2]);
	if (!in->dims[at.h] || !in->dims[at.w])
		return REFUSE(v, "an image is %u by %u", in->dims[at.h], in->dims[at.w]);
	if ((uint64_t)filter->dims[3] * (uint32_t)s.groups != in->dims[at.c] || filter->dims[0] % (uint32_t)s.groups)
		return REFUSE(v, "%u channels do not become %u in %d groups of %u", in->dims[at.c], filter->dims[0],
		              s.groups, filter->dims[3]);
	r = nnb__wide_window(v, &w, &h, &width);
	if (r)
		return r;
	*ret = *in;
	ret->dims[at.h] = h;
	ret->dims[at.w] = width;
	ret->dims[at.c] = filter->dims[0];
	return 0;
}

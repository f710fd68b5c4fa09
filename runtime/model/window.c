/* window.c -- the geometry of convolutions and pools: explicit padding or a padding scheme, extents (O-30, O-31). */
#include <assert.h>
#include <errno.h>
#include <math.h>

#include "model/ops.h"
#include "model/reason.h"

/* The scalars that follow the tensors, in their order. */
struct scalars {
	int32_t pads[4]; /* left, right, top, bottom; explicit */
	int32_t scheme;  /* 0: explicit */
	int32_t stride_w, stride_h, filter_w, filter_h, multiplier, fused;
	int32_t dilation_w, dilation_h;
};

static bool is_pool(uint32_t op)
{
	return op == NNB_AVERAGE_POOL_2D || op == NNB_L2_POOL_2D || op == NNB_MAX_POOL_2D;
}

/* Read all scalars. False: the value of one is not known. */
static bool read_scalars(const struct nnb__op_view *v, struct scalars *s)
{
	bool pool = is_pool(v->op->type), depthwise = v->op->type == NNB_DEPTHWISE_CONV_2D;
	uint32_t k = pool ? 1 : 3, layout = k;
	int32_t *order[10];
	uint32_t n = 0;
	bool explicit;

	/* The index of the layout among the inputs, where scalars begin at @k. The operation may have no such input. */
	while (layout < v->op->n_inputs && nnb__in_type(v, layout) == NNB_INT32)
		layout++;
	explicit = layout - k == 6u + (pool ? 3 : depthwise ? 2 : 1);

	*s = (struct scalars){ .multiplier = 1, .dilation_w = 1, .dilation_h = 1 };
	for (int i = 0; explicit && i < 4; i++)
		order[n++] = &s->pads[i];
	if (!explicit)
		order[n++] = &s->scheme;
	order[n++] = &s->stride_w;
	order[n++] = &s->stride_h;
	if (pool) {
		order[n++] = &s->filter_w;
		order[n++] = &s->filter_h;
	}
	if (depthwise)
		order[n++] = &s->multiplier;
	order[n++] = &s->fused;
	for (uint32_t i = 0; i < n; i++)
		if (!nnb__in_i32(v, k + i, order[i]))
			return false;
	if (layout + 2 < v->op->n_inputs &&
	    (!nnb__in_i32(v, layout + 1, &s->dilation_w) || !nnb__in_i32(v, layout + 2, &s->dilation_h)))
		return false;
	if (!explicit && s->scheme != NNB_PADDING_SAME)
		s->scheme = s->scheme == NNB_PADDING_VALID ? NNB_PADDING_VALID : -1;
	return true;
}

static int window_refused(const struct nnb__op_view *v, const char *why)
{
	nnb_because(v->reason, "%s", why);
	return -EINVAL;
}

static int window_scalars_judge(const struct nnb__op_view *v, const struct scalars *s)
{
	if (s->scheme < 0)
		return window_refused(v, "the padding scheme is neither SAME nor VALID");
	if (s->stride_w <= 0 || s->stride_h <= 0)
		return window_refused(v, "a stride is not above 0");
	if (s->filter_w <= 0 || s->filter_h <= 0)
		return window_refused(v, "a filter is not above 0");
	if (s->dilation_w <= 0 || s->dilation_h <= 0)
		return window_refused(v, "a dilation is not above 0");
	if (s->multiplier <= 0)
		return window_refused(v, "the multiplier is not above 0");
	if (s->fused < NNB_FUSED_NONE || s->fused > NNB_FUSED_RELU6)
		return window_refused(v, "there is no such fused activation");
	for (int i = 0; i < 4; i++) {
		if (s->pads[i] < 0)
			return window_refused(v, "a padding is below 0");
		if (is_pool(v->op->type) && s->pads[i] >= (i < 2 ? s->filter_w : s->filter_h))
			return window_refused(v, "a padding is not smaller than the filter");
	}
	return 0;
}

int64_t nnb__window_slide(int32_t scheme, uint32_t in, uint32_t filter, int32_t stride, uint32_t *head, uint32_t *tail)
{
	int64_t n = in;

	if (scheme == NNB_PADDING_SAME) {
		int64_t same = (n + stride - 1) / stride, pads = (same - 1) * stride + filter - n;

		assert(pads < filter);
		pads = pads > 0 ? pads : 0;
		*head = (uint32_t)(pads / 2);
		*tail = (uint32_t)(pads - pads / 2);
		return same;
	}
	n += (int64_t)*head + *tail - filter; /* VALID: head and tail are 0 */
	return n < 0 ? -1 : n / stride + 1;
}

/* One direction. False: there is no output. */
static bool direction_slide(const struct scalars *s, uint32_t in, int32_t filter, int32_t dilation, int32_t stride,
                            uint32_t *head, uint32_t *tail, uint32_t *ret)
{
	int64_t spread = ((int64_t)filter - 1) * dilation + 1, n;

	if (spread > UINT32_MAX)
		return false;
	n = nnb__window_slide(s->scheme, in, (uint32_t)spread, stride, head, tail);
	*ret = (uint32_t)n;
	return n >= 0 && n <= UINT32_MAX;
}

int nnb__op_window(const struct nnb__op_view *v, struct nnb_window *ret, uint32_t *out_h, uint32_t *out_w)
{
	const struct nnb_shape *in = nnb__in(v, 0), *filter = is_pool(v->op->type) ? NULL : nnb__in(v, 1);
	struct scalars s;
	struct nnb_window w;
	int r;

	if (!in->known || (filter && !filter->known) || !read_scalars(v, &s))
		return -ENODATA;
	if (filter && (filter->dims[1] > INT32_MAX || filter->dims[2] > INT32_MAX))
		return window_refused(v, "the filter is too large");
	if (filter) {
		s.filter_h = (int32_t)filter->dims[1];
		s.filter_w = (int32_t)filter->dims[2];
	}
	r = window_scalars_judge(v, &s);
	if (r)
		return r;
	w = (struct nnb_window){ .pad_left = (uint32_t)s.pads[0],
		                 .pad_right = (uint32_t)s.pads[1],
		                 .pad_top = (uint32_t)s.pads[2],
		                 .pad_bottom = (uint32_t)s.pads[3],
		                 .stride_w = (uint32_t)s.stride_w,
		                 .stride_h = (uint32_t)s.stride_h,
		                 .filter_w = (uint32_t)s.filter_w,
		                 .filter_h = (uint32_t)s.filter_h,
		                 .multiplier = (uint32_t)s.multiplier,
		                 .dilation_w = (uint32_t)s.dilation_w,
		                 .dilation_h = (uint32_t)s.dilation_h,
		                 .fused = (uint32_t)s.fused };
	if (!direction_slide(&s, in->dims[1], s.filter_h, s.dilation_h, s.stride_h, &w.pad_top, &w.pad_bottom, out_h) ||
	    !direction_slide(&s, in->dims[2], s.filter_w, s.dilation_w, s.stride_w, &w.pad_left, &w.pad_right, out_w))
		return window_refused(v, "the filter is larger than the padded input");
	*ret = w;
	return 0;
}

int nnb_window(const struct nnb_graph *graph, uint32_t op, const struct nnb_shape *shapes, struct nnb_window *ret)
{
	const struct nnb_operation *of = &graph->model->operations[op];
	const struct nnb__op_view view = { .model = graph->model,
		                           .op = of,
		                           .shapes = shapes,
		                           .constants = graph->constants,
		                           .inferred = of->n_outputs && shapes[of->outputs[0]].known };
	struct nnb__op_view with_image;
	struct nnb_shape image;
	uint32_t out_h, out_w;
	int r;

	if (of->type == NNB_GROUPED_CONV_2D || of->type == NNB_TRANSPOSE_CONV_2D)
		return nnb__wide_window(&view, ret, &out_h, &out_w);
	r = nnb__op_image(&view, &image, &with_image);
	return r ? r : nnb__op_window(&with_image, ret, &out_h, &out_w);
}

void nnb_fused_range(uint32_t fused, float *min, float *max)
{
	static const float ranges[][2] = { [NNB_FUSED_NONE] = { -INFINITY, INFINITY },
		                           [NNB_FUSED_RELU] = { 0, INFINITY },
		                           [NNB_FUSED_RELU1] = { -1, 1 },
		                           [NNB_FUSED_RELU6] = { 0, 6 } };
	const float *range = ranges[fused <= NNB_FUSED_RELU6 ? fused : NNB_FUSED_NONE];

	*min = range[0];
	*max = range[1];
}

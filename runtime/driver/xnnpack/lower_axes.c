/* lower_axes.c -- operations along axes, and those that look elements up. */
#include <math.h>

#include "operand.h"
#include "saturated.h"

/* One bit a dimension; the shapes have been checked with these axes. */
static uint32_t axes_in(const struct site *s, uint32_t k)
{
	const int32_t *axes = value_at(s, k);
	uint32_t rank = in_shape(s, 0)->rank, set = 0;

	for (size_t i = 0; i < shape_elements(in_shape(s, k)); i++)
		set |= 1u << (uint32_t)(axes[i] < 0 ? axes[i] + (int32_t)rank : axes[i]);
	return set;
}

enum nnb_status nnbx_run_reduce(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);

	nnbx_reduce((enum nnb_op)s->op->type, &in, axes_in(s, 1), &out);
	return NNB_STATUS_NONE;
}

/*
 * An image, or anything else, as XNNPACK sees what it takes the mean of: all but the last dimension from some one on.
 */
struct pooled {
	size_t batch, width, channels;
};

/* False: these axes are others. */
static bool pooled_of(const struct site *s, struct pooled *ret)
{
	const struct nnb_shape *shape = in_shape(s, 0);
	uint32_t axes = axes_in(s, 1), d = 0;

	*ret = (struct pooled){ .batch = 1, .width = 1, .channels = last_dim(shape) };
	for (; d + 1 < shape->rank && !(axes >> d & 1); d++)
		ret->batch *= shape->dims[d];
	for (; d + 1 < shape->rank && axes >> d & 1; d++)
		ret->width *= shape->dims[d];
	return d + 1 == shape->rank && !(axes >> d & 1) && ret->width > 1;
}

#define SETUP_POOLED(name, xnn_setup)                                                     \
	static enum xnn_status name(xnn_operator_t xnn, const struct site *s)             \
	{                                                                                 \
		struct pooled p;                                                          \
                                                                                          \
		pooled_of(s, &p);                                                         \
		return xnn_setup(xnn, p.batch, p.width, in_at(s, 0), out_at(s, 0), NULL); \
	}

SETUP_POOLED(setup_mean_f32, xnn_setup_global_average_pooling_nwc_f32)
SETUP_POOLED(setup_mean_q8, xnn_setup_global_average_pooling_nwc_qu8)
SETUP_POOLED(setup_mean_s8, xnn_setup_global_average_pooling_nwc_qs8)

/* An item of the batch is XNNPACK's tile. In and out are quantised alike. */
enum xnn_status nnbx_create_mean(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));
	struct pooled p;
	size_t n;

	if (!in_is_constant(s, 1) || !pooled_of(s, &p) || p.width > NNBX_TILE_WORK / p.channels)
		return xnn_status_unsupported_parameter;
	n = p.channels;
	switch (in_operand(s, 0)->type) {
	case NNB_TENSOR_FLOAT32:
		step->setup = setup_mean_f32;
		return xnn_create_global_average_pooling_nwc_f32(n, n, n, -INFINITY, INFINITY, 0, &step->xnn);
	case NNB_TENSOR_QUANT8_ASYMM:
		step->setup = setup_mean_q8;
		return xnn_create_global_average_pooling_nwc_qu8(n, n, n, (uint8_t)q.zero_point, 1,
		                                                 (uint8_t)q.zero_point, 1, 0, 255, 0, &step->xnn);
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
		step->setup = setup_mean_s8;
		return xnn_create_global_average_pooling_nwc_qs8(n, n, n, (int8_t)q.zero_point, 1, (int8_t)q.zero_point,
		                                                 1, -128, 127, 0, &step->xnn);
	default:
		return xnn_status_unsupported_parameter;
	}
}

enum nnb_status nnbx_run_arg(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);

	nnbx_arg((enum nnb_op)s->op->type, &in, axis_in(s, 1, in.rank), &out);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_log_softmax(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);

	nnbx_log_softmax(&in, real_in(s, 1), axis_in(s, 2, in.rank), &out);
	return NNB_STATUS_NONE;
}

uint64_t nnbx_topk_bytes(const struct site *s)
{
	int32_t k = int_in(s, 1, 0);

	return k > 0 ? nnbx_topk_scratch((size_t)k) : 0;
}

enum nnb_status nnbx_run_topk(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), values = tensor_out(s, 0), indices = tensor_out(s, 1);

	nnbx_topk(&in, values.dims[values.rank - 1], s->scratch, &values, &indices);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_instance_normalization(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);

	nnbx_instance_normalization(&in, flag_in(s, 4), real_in(s, 1), real_in(s, 2), real_in(s, 3), &out);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_gather(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), indices = tensor_in(s, 2), out = tensor_out(s, 0);

	return status_of(nnbx_gather(&in, axis_in(s, 1, in.rank), &indices, &out));
}

uint64_t nnbx_random_bytes(const struct site *s)
{
	return in_shape(s, 0)->rank == 2 ? saturated_product(in_shape(s, 0)->dims[1], sizeof(double)) : 0;
}

enum nnb_status nnbx_run_random_multinomial(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);

	nnbx_random_multinomial(&in, in_at(s, 2), s->scratch, &out);
	return NNB_STATUS_NONE;
}

/* The extent of the input for one of the output. */
static double nearest_scale(size_t in, size_t out, bool align_corners)
{
	return align_corners && out > 1 ? (double)(in - 1) / (double)(out - 1) : (double)in / (double)out;
}

enum nnb_status nnbx_run_resize_nearest(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);
	struct nnbx_nearest how = { .nchw = flag_in(s, 3),
		                    .align_corners = flag_in(s, 4),
		                    .half_pixels = flag_in(s, 5) };
	struct nnbx_image from = nnbx_image(in.dims, how.nchw), to = nnbx_image(out.dims, how.nchw);

	how.scale_h = nearest_scale(from.h, to.h, how.align_corners);
	how.scale_w = nearest_scale(from.w, to.w, how.align_corners);
	nnbx_resize_nearest(&how, &in, &out);
	return NNB_STATUS_NONE;
}

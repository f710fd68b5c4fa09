/* take_sums.c -- converts sums of products, and pools. */
#include "model/parts.h"
#include "model/tflite/taking.h"

/* ---- sums of products ---- */

/*
 * The operand of tensor @tensor as a bias of that scale. A constant that is the bias of operators with other scales
 * has an operand for each.
 */
static uint32_t bias_scaled(struct nnb__loading *l, int64_t tensor, float scale)
{
	uint32_t bias = nnb__tflite_operand(l, tensor);
	struct nnb__tensor *t;

	if (l->error || l->model->operands[bias].type != NNB_TENSOR_INT32)
		return bias;
	t = &l->tensor[tensor];
	if (t->bias_scale && t->bias_scale != scale && nnb__is_constant(&l->model->operands[bias])) {
		t->operand = NNB__NOWHERE;
		bias = nnb__tflite_operand(l, tensor);
	}
	if (l->error)
		return 0;
	t->bias_scale = scale;
	l->model->operands[bias].scale = scale;
	l->model->operands[bias].zero_point = 0;
	return bias;
}

/* The scale of the bias is that of the products, as in TFLite. An omitted bias becomes zeroes. */
static void add_bias(struct taking *t, uint32_t k, struct nnb_operand in, struct nnb_operand filter, uint32_t channels)
{
	bool real = in.type == NNB_TENSOR_FLOAT32;
	struct nnb_operand o = { .type = real ? NNB_TENSOR_FLOAT32 : NNB_TENSOR_INT32,
		                 .rank = 1,
		                 .dims = { channels } };

	if (!real)
		o.scale = in.scale * filter.scale;
	if (is_left_out(t, k))
		operand_add(t, nnb__tflite_zeroes(t->l, &o, channels));
	else if (real)
		operand_add(t, nnb__tflite_operand(t->l, input_tensor(t, k)));
	else
		operand_add(t, bias_scaled(t->l, input_tensor(t, k), o.scale));
}

void nnb__take_conv(struct taking *t)
{
	struct nnb_operand in = nnb__input_is(t, 0), filter = nnb__input_is(t, 1);
	int32_t dilation_w = int_option(t, CONV_DILATION_W, 1), dilation_h = int_option(t, CONV_DILATION_H, 1);
	uint32_t groups = filter.dims[3] ? in.dims[3] / filter.dims[3] : 1;
	bool grouped = groups > 1 && groups * filter.dims[3] == in.dims[3],
	     dilated = dilation_w != 1 || dilation_h != 1;

	if (grouped && dilated)
		nnb__tflite_wrong(t->l, -ENOTSUP, "it has groups and is dilated");
	nnb__add_input(t, 0);
	nnb__add_weights(t, in);
	add_bias(t, 2, in, filter, filter.dims[0]);
	nnb__add_padding(t, CONV_PADDING);
	nnb__add_int(t, int_option(t, CONV_STRIDE_W, 0));
	nnb__add_int(t, int_option(t, CONV_STRIDE_H, 0));
	if (grouped)
		nnb__add_int(t, (int32_t)groups);
	nnb__add_fused(t, CONV_FUSED);
	if (grouped || dilated)
		nnb__add_bool(t, false); /* NHWC */
	if (dilated) {
		nnb__add_int(t, dilation_w);
		nnb__add_int(t, dilation_h);
	}
	nnb__emit_operation(t, grouped ? NNB_GROUPED_CONV_2D : NNB_CONV_2D);
}

/* The multiplier option may be absent: the shapes determine it. */
void nnb__take_depthwise(struct taking *t)
{
	struct nnb_operand in = nnb__input_is(t, 0), filter = nnb__input_is(t, 1);
	int32_t dilation_w = int_option(t, DEPTHWISE_DILATION_W, 1),
		dilation_h = int_option(t, DEPTHWISE_DILATION_H, 1);

	if (!t->l->error && (!in.dims[3] || filter.dims[3] % in.dims[3]))
		nnb__tflite_wrong(t->l, -EINVAL, "a filter for %u channels does not go with %u", filter.dims[3],
		                  in.dims[3]);
	nnb__add_input(t, 0);
	nnb__add_weights(t, in);
	add_bias(t, 2, in, filter, filter.dims[3]);
	nnb__add_padding(t, DEPTHWISE_PADDING);
	nnb__add_int(t, int_option(t, DEPTHWISE_STRIDE_W, 0));
	nnb__add_int(t, int_option(t, DEPTHWISE_STRIDE_H, 0));
	nnb__add_int(t, t->l->error ? 1 : (int32_t)(filter.dims[3] / in.dims[3]));
	nnb__add_fused(t, DEPTHWISE_FUSED);
	if (dilation_w != 1 || dilation_h != 1) {
		nnb__add_bool(t, false);
		nnb__add_int(t, dilation_w);
		nnb__add_int(t, dilation_h);
	}
	nnb__emit_operation(t, t->row->op);
}

/* TFLite's output may have other dimensions than rows and units. */
void nnb__take_fully_connected(struct taking *t)
{
	struct nnb_operand in = nnb__input_is(t, 0), weights = nnb__input_is(t, 1), out = nnb__output_is(t), rows = out;
	uint64_t n = 1;
	uint32_t flat;

	if (small_option(t, FULLY_CONNECTED_FORMAT))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its weights are shuffled");
	nnb__add_input(t, 0);
	nnb__add_weights(t, in);
	add_bias(t, 2, in, weights, weights.dims[0]);
	nnb__add_fused(t, FULLY_CONNECTED_FUSED);
	if (out.rank == 2) {
		nnb__emit_operation(t, t->row->op);
		return;
	}
	for (uint32_t d = 0; d < out.rank; d++)
		if (__builtin_mul_overflow(n, out.dims[d], &n))
			n = 0;
	memset(rows.dims, 0, sizeof(rows.dims));
	rows.rank = 2;
	rows.dims[1] = weights.dims[0];
	rows.dims[0] = rows.dims[1] && n / rows.dims[1] <= UINT32_MAX ? (uint32_t)(n / rows.dims[1]) : 0;
	flat = temporary_add(t, &rows);
	nnb__add_operation(t, t->row->op, &flat, 1);
	operand_add(t, flat);
	nnb__add_shape_of_output(t);
	nnb__emit_operation(t, NNB_RESHAPE);
}

void nnb__take_transpose_conv(struct taking *t)
{
	struct nnb_operand filter = nnb__input_is(t, 1), in = nnb__input_is(t, 2);

	nnb__add_input(t, 2);
	nnb__add_weights(t, in);
	add_bias(t, 3, in, filter, filter.dims[0]);
	nnb__add_input(t, 0);
	nnb__add_padding(t, TRANSPOSE_CONV_PADDING);
	nnb__add_int(t, int_option(t, TRANSPOSE_CONV_STRIDE_W, 0));
	nnb__add_int(t, int_option(t, TRANSPOSE_CONV_STRIDE_H, 0));
	nnb__add_fused(t, TRANSPOSE_CONV_FUSED);
	nnb__add_bool(t, false);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_pool(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_padding(t, POOL_PADDING);
	for (unsigned field = POOL_STRIDE_W; field <= POOL_FILTER_H; field++)
		nnb__add_int(t, int_option(t, field, 0));
	nnb__add_fused(t, POOL_FUSED);
	nnb__emit_operation(t, t->row->op);
}

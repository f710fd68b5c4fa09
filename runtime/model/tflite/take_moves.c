/* take_moves.c -- converts operators that move elements. */
#include "model/tflite/taking.h"

void nnb__take_concatenation(struct taking *t)
{
	struct nnb_operand out = nnb__output_is(t);
	int32_t axis = int_option(t, CONCATENATION_AXIS, 0);

	if (small_option(t, CONCATENATION_FUSED))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its fused activation is not supported");
	for (uint32_t k = 0; k < t->inputs.n; k++)
		nnb__add_input(t, k);
	nnb__add_int(t, axis < 0 && axis >= -NNB_RANK_MAX ? axis + (int32_t)out.rank : axis);
	nnb__emit_operation(t, t->row->op);
}

/* The new shape is in the input tensor, in the option, or in the output's shape. */
void nnb__take_reshape(struct taking *t)
{
	struct nnb__flat_vector shape = nnb__flat_vector(&t->l->flat, t->options, RESHAPE_SHAPE, sizeof(int32_t));
	int32_t dims[NNB_RANK_MAX];

	nnb__add_input(t, 0);
	if (nnb__is_constant_input(t, 1)) {
		uint32_t n = nnb__tflite_integers(t->l, input_tensor(t, 1), dims, NNB_RANK_MAX);

		nnb__add_ints(t, dims, n);
	} else if (is_left_out(t, 1) && shape.n && shape.n <= NNB_RANK_MAX) {
		for (uint32_t d = 0; d < shape.n; d++)
			dims[d] = nnb__flat_i32_of(&t->l->flat, shape, d);
		nnb__add_ints(t, dims, shape.n);
	} else {
		nnb__add_shape_of_output(t);
	}
	nnb__emit_operation(t, NNB_RESHAPE);
}

/* SQUEEZE and EXPAND_DIMS: the output's shape determines which dimensions of one element go or come. */
void nnb__take_reshaped(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_shape_of_output(t);
	nnb__emit_operation(t, NNB_RESHAPE);
}

void nnb__take_block(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_int(t, int_option(t, BLOCK_SIZE, 0));
	nnb__emit_operation(t, t->row->op);
}

/* The HAL's order is width, height; TFLite's is height, width. */
static void add_size(struct taking *t)
{
	int32_t size[2] = { 0 };
	uint32_t n = is_left_out(t, 1) ? 0 : nnb__tflite_integers(t->l, input_tensor(t, 1), size, 2);

	if (n != 2)
		nnb__tflite_wrong(t->l, -EINVAL, "its size is not two numbers");
	nnb__add_int(t, size[1]);
	nnb__add_int(t, size[0]);
}

void nnb__take_resize_bilinear(struct taking *t)
{
	bool corners = small_option(t, RESIZE_BILINEAR_CORNERS), half = small_option(t, RESIZE_BILINEAR_HALF);

	nnb__add_input(t, 0);
	add_size(t);
	if (corners || half) {
		nnb__add_bool(t, false); /* NHWC */
		nnb__add_bool(t, corners);
		nnb__add_bool(t, half);
	}
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_resize_nearest(struct taking *t)
{
	bool corners = small_option(t, RESIZE_NEAREST_CORNERS), half = small_option(t, RESIZE_NEAREST_HALF);

	nnb__add_input(t, 0);
	add_size(t);
	nnb__add_bool(t, false);
	if (corners || half) {
		nnb__add_bool(t, corners);
		nnb__add_bool(t, half);
	}
	nnb__emit_operation(t, t->row->op);
}

/* The value is a tensor of one element in TFLite, and a scalar in the HAL. */
void nnb__take_pad_with(struct taking *t)
{
	struct nnb_location at;
	uint32_t value;
	float real = 0;
	int32_t whole = 0;

	nnb__add_input(t, 0);
	nnb__add_input(t, 1);
	if (!nnb__is_constant_input(t, 2)) {
		nnb__tflite_wrong(t->l, -ENOTSUP, "its value is no constant");
		return;
	}
	value = nnb__tflite_operand(t->l, input_tensor(t, 2));
	at = t->l->model->operands[value].location;
	if (t->l->model->operands[value].lifetime != NNB_CONSTANT_COPY || at.length > sizeof(real)) {
		nnb__tflite_wrong(t->l, -EINVAL, "its value is not one number");
	} else if (t->l->model->operands[value].type == NNB_TENSOR_FLOAT32) {
		memcpy(&real, t->l->model->values + at.offset, at.length);
		nnb__add_float(t, real);
	} else {
		memcpy(&whole, t->l->model->values + at.offset, at.length);
		nnb__add_int(t, t->l->model->operands[value].type == NNB_TENSOR_QUANT8_ASYMM_SIGNED ? (int8_t)whole
		                                                                                    : whole);
	}
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_strided_slice(struct taking *t)
{
	if (int_option(t, STRIDED_SLICE_ELLIPSIS_MASK, 0) || int_option(t, STRIDED_SLICE_NEW_AXIS_MASK, 0))
		nnb__tflite_wrong(t->l, -ENOTSUP, "it has an ellipsis, or makes new axes");
	if (small_option(t, STRIDED_SLICE_OFFSET))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its end counts from its begin, which the HAL's does not");
	for (uint32_t k = 0; k < 4; k++)
		nnb__add_input(t, k);
	nnb__add_int(t, int_option(t, STRIDED_SLICE_BEGIN_MASK, 0));
	nnb__add_int(t, int_option(t, STRIDED_SLICE_END_MASK, 0));
	nnb__add_int(t, int_option(t, STRIDED_SLICE_SHRINK_MASK, 0));
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_batch_to_space(struct taking *t)
{
	int32_t crops[4] = { 0 };

	if (is_left_out(t, 2) || nnb__tflite_integers(t->l, input_tensor(t, 2), crops, 4) != 4 || crops[0] ||
	    crops[1] || crops[2] || crops[3])
		nnb__tflite_wrong(t->l, -ENOTSUP, "it crops, which the HAL's does not");
	nnb__add_input(t, 0);
	nnb__add_input(t, 1);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_gather(struct taking *t)
{
	if (int_option(t, GATHER_BATCH_DIMS, 0))
		nnb__tflite_wrong(t->l, -ENOTSUP, "it gathers by batches");
	nnb__add_input(t, 0);
	nnb__add_int(t, int_option(t, GATHER_AXIS, 0));
	nnb__add_input(t, 1);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_split(struct taking *t)
{
	int32_t axis = nnb__constant_number(t, 0);

	nnb__add_input(t, 1);
	nnb__add_int(t, axis);
	nnb__add_int(t, int_option(t, SPLIT_PARTS, 0));
	nnb__emit_operation(t, t->row->op);
}

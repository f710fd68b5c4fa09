/* take_elements.c -- converts operators element by element and along axes, whose inputs mostly stay unchanged. */
#include "model/tflite/taking.h"

void nnb__take_plain(struct taking *t)
{
	for (uint32_t k = 0; k < t->inputs.n; k++)
		nnb__add_input(t, k);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_fused(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_input(t, 1);
	nnb__add_fused(t, SUM_FUSED);
	nnb__emit_operation(t, t->row->op);
}

/* A lookup of float32 rows in a table of bytes needs the table as float32. */
void nnb__take_embedding(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_weights(t, nnb__output_is(t));
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_square(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_input(t, 0);
	nnb__add_int(t, NNB_FUSED_NONE);
	nnb__emit_operation(t, NNB_MUL);
}

void nnb__take_l2_normalization(struct taking *t)
{
	if (small_option(t, L2_NORMALIZATION_FUSED))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its fused activation is not supported");
	nnb__add_input(t, 0);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_softmax(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_float(t, nnb__flat_f32(&t->l->flat, t->options, SOFTMAX_BETA, 0));
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_log_softmax(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_float(t, 1);
	nnb__add_int(t, -1);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_local_response(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_int(t, int_option(t, LOCAL_RESPONSE_RADIUS, 0));
	for (unsigned field = LOCAL_RESPONSE_BIAS; field <= LOCAL_RESPONSE_BETA; field++)
		nnb__add_float(t, nnb__flat_f32(&t->l->flat, t->options, field, 0));
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_elu(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_float(t, 1);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_leaky_relu(struct taking *t)
{
	struct nnb_operand slope = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 1 } };
	float alpha = nnb__flat_f32(&t->l->flat, t->options, LEAKY_RELU_ALPHA, 0);

	if (nnb__input_is(t, 0).type != NNB_TENSOR_FLOAT32)
		nnb__tflite_wrong(t->l, -ENOTSUP, "it is for FLOAT32 only");
	nnb__add_input(t, 0);
	operand_add(t, nnb__tflite_constant(t->l, &slope, &alpha, sizeof(alpha)));
	nnb__emit_operation(t, t->row->op);
}

/* ---- along axes ---- */

/* ARG_MAX, ARG_MIN, TOPK_V2: the constant input becomes a scalar. */
void nnb__take_numbered(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_int(t, nnb__constant_number(t, 1));
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_mean(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_input(t, 1);
	nnb__add_int(t, small_option(t, REDUCER_KEEP_DIMS) ? 1 : 0);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_reduce(struct taking *t)
{
	nnb__add_input(t, 0);
	nnb__add_input(t, 1);
	nnb__add_bool(t, small_option(t, REDUCER_KEEP_DIMS));
	nnb__emit_operation(t, t->row->op);
}

/* ---- type conversions ---- */

/*
 * A DEQUANTIZE of a float16 constant needs no operation: the constant is converted on first use of its float32 tensor.
 */
void nnb__take_dequantize(struct taking *t)
{
	int64_t out = t->outputs.n == 1 ? nnb__flat_i32_of(&t->l->flat, t->outputs, 0) : -1;

	if (out >= 0 && out < t->l->tensors.n && t->l->tensor[out].half != NNB__NOWHERE)
		return;
	nnb__take_plain(t);
}

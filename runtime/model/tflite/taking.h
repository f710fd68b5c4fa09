/*
 * taking.h -- helpers for converting one .tflite operator to an operation of the HAL.
 *
 * The converters are in take_*.c, one file a family; the table in operators.c maps each operator to its converter.
 */
#ifndef NNB_MODEL_TFLITE_TAKING_H
#define NNB_MODEL_TFLITE_TAKING_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/ops.h"
#include "model/tflite/load.h"
#include "model/tflite/schema.h"

struct row;
struct taking;

typedef void take_fn(struct taking *t);

/* An operator in progress, and the inputs of the operation that it becomes. */
struct taking {
	struct nnb__loading *l;
	const struct row *row;
	struct nnb__flat_vector inputs, outputs;
	struct nnb__flat_table options;
	uint32_t *list;
	uint32_t n, room;
};

struct row {
	uint8_t code; /* TFLite's BuiltinOperator */
	const char *name;
	uint32_t op;     /* number of the HAL's operation */
	uint8_t options; /* TFLite's BuiltinOptions; 0: no options are read */
	take_fn *take;
};

/* ---- an operator's tensors ---- */

static inline int64_t input_tensor(struct taking *t, uint32_t k)
{
	return k < t->inputs.n ? nnb__flat_i32_of(&t->l->flat, t->inputs, k) : -1;
}

static inline bool is_left_out(struct taking *t, uint32_t k)
{
	return input_tensor(t, k) < 0;
}

static inline struct nnb_operand input_is(struct taking *t, uint32_t k)
{
	struct nnb_operand o = { 0 };

	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -EINVAL, "it has no input %u", k);
	else
		nnb__tflite_tensor(t->l, input_tensor(t, k), &o);
	return o;
}

static inline struct nnb_operand output_is(struct taking *t)
{
	struct nnb_operand o = { 0 };

	if (!t->outputs.n)
		nnb__tflite_wrong(t->l, -EINVAL, "it has no output");
	else
		nnb__tflite_tensor(t->l, nnb__flat_i32_of(&t->l->flat, t->outputs, 0), &o);
	return o;
}

/* ---- the inputs of the operation ---- */

static inline void operand_add(struct taking *t, uint32_t operand)
{
	if (t->n < t->room)
		t->list[t->n++] = operand;
}

static inline void add_input(struct taking *t, uint32_t k)
{
	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its input %u is left out", k);
	else
		operand_add(t, nnb__tflite_operand(t->l, input_tensor(t, k)));
}

/* Add input 1 as weights. A float32 operator of a size-reduced file has weights of bytes; they become float32. */
static inline void add_weights(struct taking *t, struct nnb_operand in)
{
	if (in.type == NNB_TENSOR_FLOAT32 && !is_left_out(t, 1))
		operand_add(t, nnb__tflite_reals(t->l, input_tensor(t, 1)));
	else
		add_input(t, 1);
}

static inline void add_scalar(struct taking *t, uint32_t type, const void *value, uint32_t bytes)
{
	struct nnb_operand o = { .type = type };

	if (!nnb_type_info(type))
		nnb__tflite_wrong(t->l, -ENOTSUP, "it needs a scalar of a type that is not supported");
	operand_add(t, nnb__tflite_constant(t->l, &o, value, bytes));
}

static inline void add_int(struct taking *t, int32_t value)
{
	add_scalar(t, NNB_INT32, &value, sizeof(value));
}

static inline void add_float(struct taking *t, float value)
{
	add_scalar(t, NNB_FLOAT32, &value, sizeof(value));
}

static inline void add_bool(struct taking *t, bool value)
{
	add_scalar(t, NNB_BOOL, &value, 1);
}

static inline void add_ints(struct taking *t, const int32_t *values, uint32_t n)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { n } };

	operand_add(t, nnb__tflite_constant(t->l, &o, values, (uint64_t)n * sizeof(*values)));
}

/* ---- options ---- */

static inline int32_t int_option(struct taking *t, unsigned field, int32_t otherwise)
{
	return nnb__flat_i32(&t->l->flat, t->options, field, otherwise);
}

static inline uint8_t small_option(struct taking *t, unsigned field)
{
	return nnb__flat_u8(&t->l->flat, t->options, field, 0);
}

static inline void add_fused(struct taking *t, unsigned field)
{
	uint8_t fused = small_option(t, field); /* numbers 0 to 3 equal the HAL's */

	if (fused > NNB_FUSED_RELU6)
		nnb__tflite_wrong(t->l, -ENOTSUP, "its fused activation %s is not supported",
		                  fused == 4   ? "TANH"
		                  : fused == 5 ? "SIGN_BIT"
		                               : "of another kind");
	add_int(t, fused);
}

static inline void add_padding(struct taking *t, unsigned field)
{
	uint8_t padding = small_option(t, field);

	if (padding != TFLITE_SAME && padding != TFLITE_VALID)
		nnb__tflite_wrong(t->l, -EINVAL, "%u is not a padding scheme", padding);
	add_int(t, padding == TFLITE_SAME ? NNB_PADDING_SAME : NNB_PADDING_VALID);
}

/* ---- the operation ---- */

/* Add the operation. If the HAL does not accept it, the reason describes it in terms of the file. */
static inline void add_operation(struct taking *t, uint32_t op, const uint32_t *outputs, uint32_t n_outputs)
{
	struct nnb_reason why = { "" };
	uint32_t index;

	if (t->l->error)
		return;
	index = nnb__tflite_keep_error(t->l, nnb_model_operation(t->l->model, op, t->list, t->n, outputs, n_outputs));
	/* what IF and WHILE run is added to the model later; its validation looks at them */
	if (!t->l->error && op != NNB_IF && op != NNB_WHILE &&
	    nnb__op_check(t->l->model, &t->l->model->operations[index], &why))
		nnb__tflite_wrong(t->l, -ENOTSUP, "as %s: %.120s", nnb_op_name(op), why.text);
	t->n = 0;
}

static inline void operation_emit(struct taking *t, uint32_t op)
{
	uint32_t *outputs = t->l->error ? NULL : malloc((t->outputs.n + (size_t)1) * sizeof(*outputs));

	for (uint32_t i = 0; outputs && i < t->outputs.n; i++)
		outputs[i] = nnb__tflite_operand(t->l, nnb__flat_i32_of(&t->l->flat, t->outputs, i));
	if (outputs)
		add_operation(t, op, outputs, t->outputs.n);
	else
		nnb__tflite_keep_error(t->l, -ENOMEM);
	free(outputs);
}

/* Add a temporary operand. */
static inline uint32_t temporary_add(struct taking *t, const struct nnb_operand *o)
{
	return t->l->error ? 0 : nnb__tflite_keep_error(t->l, nnb_model_operand(t->l->model, o));
}

static inline void add_shape_of_output(struct taking *t)
{
	struct nnb_operand out = output_is(t);
	int32_t dims[NNB_RANK_MAX];

	for (uint32_t d = 0; d < out.rank; d++) {
		dims[d] = (int32_t)out.dims[d];
		if (dims[d] <= 0)
			nnb__tflite_wrong(t->l, -ENOTSUP, "its output has an extent that is not known");
	}
	add_ints(t, dims, out.rank);
}

static inline bool is_constant_input(struct taking *t, uint32_t k)
{
	uint32_t operand = is_left_out(t, k) ? 0 : nnb__tflite_operand(t->l, input_tensor(t, k));

	return !is_left_out(t, k) && !t->l->error && t->l->model->operands[operand].lifetime != NNB_TEMPORARY;
}

/* Read a constant of one number. */
static inline int32_t constant_number(struct taking *t, uint32_t k)
{
	int32_t value = 0;

	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -EINVAL, "it has no input %u", k);
	else
		nnb__tflite_integers(t->l, input_tensor(t, k), &value, 1);
	return value;
}

/* ---- the families ---- */

take_fn nnb__take_plain, nnb__take_fused, nnb__take_embedding, nnb__take_square, nnb__take_l2_normalization,
	nnb__take_softmax, nnb__take_log_softmax, nnb__take_local_response, nnb__take_elu, nnb__take_leaky_relu,
	nnb__take_conv, nnb__take_depthwise, nnb__take_fully_connected, nnb__take_transpose_conv, nnb__take_pool,
	nnb__take_concatenation, nnb__take_reshape, nnb__take_reshaped, nnb__take_block, nnb__take_resize_bilinear,
	nnb__take_resize_nearest, nnb__take_pad_with, nnb__take_strided_slice, nnb__take_batch_to_space,
	nnb__take_gather, nnb__take_split, nnb__take_numbered, nnb__take_mean, nnb__take_reduce, nnb__take_dequantize,
	nnb__take_if, nnb__take_while;

#endif

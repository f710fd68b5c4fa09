/*
 * operators.c -- what TFLite's operators are in the HAL: a row of a table each, and a function for each family.
 *
 * An operator that has no row, or whose operation this library does not know, is refused; so is what a row cannot say in the HAL's
 * words (a fused tanh, say). What the HAL calls scalars are options of an operator, or constants that are read here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/ops.h"
#include "model/tflite/codes.h"
#include "model/tflite/load.h"
#include "model/tflite/schema.h"

enum { MORE = 16, LINE = 120 /* operands that a function adds to an operator's inputs, at most */ };

enum { KINDS = 6, KIND = 72 }; /* of operators that are refused, and bytes of what they are called */

struct row;

/* An operator that is being taken, and the inputs of the operation that it becomes. */
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
	uint32_t op;     /* the HAL's */
	uint8_t options; /* TFLite's BuiltinOptions; 0: it has none that matter */
	void (*take)(struct taking *t);
};

/* ---- an operator's tensors ---- */

static int64_t input_tensor(struct taking *t, uint32_t k)
{
	return k < t->inputs.n ? nnb__flat_i32_of(&t->l->flat, t->inputs, k) : -1;
}

static bool is_left_out(struct taking *t, uint32_t k)
{
	return input_tensor(t, k) < 0;
}

static struct nnb_operand input_is(struct taking *t, uint32_t k)
{
	struct nnb_operand o = { 0 };

	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -EINVAL, "it has no input %u", k);
	else
		nnb__tflite_tensor(t->l, input_tensor(t, k), &o);
	return o;
}

static struct nnb_operand output_is(struct taking *t)
{
	struct nnb_operand o = { 0 };

	if (!t->outputs.n)
		nnb__tflite_wrong(t->l, -EINVAL, "it has no output");
	else
		nnb__tflite_tensor(t->l, nnb__flat_i32_of(&t->l->flat, t->outputs, 0), &o);
	return o;
}

/* ---- what becomes the inputs of the operation ---- */

static void add(struct taking *t, uint32_t operand)
{
	if (t->n < t->room)
		t->list[t->n++] = operand;
}

static void add_input(struct taking *t, uint32_t k)
{
	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its input %u is left out", k);
	else
		add(t, nnb__tflite_operand(t->l, input_tensor(t, k)));
}

/* Input 1, where @in is what decides the type: an operator of float32 has weights of bytes where its file was made smaller so. */
static void add_weights(struct taking *t, struct nnb_operand in)
{
	if (in.type == NNB_TENSOR_FLOAT32 && !is_left_out(t, 1))
		add(t, nnb__tflite_reals(t->l, input_tensor(t, 1)));
	else
		add_input(t, 1);
}

static void add_scalar(struct taking *t, uint32_t type, const void *value, uint32_t bytes)
{
	struct nnb_operand o = { .type = type };

	if (!nnb_type_info(type))
		nnb__tflite_wrong(t->l, -ENOTSUP, "it needs a scalar of a type that there is not here");
	add(t, nnb__tflite_constant(t->l, &o, value, bytes));
}

static void add_int(struct taking *t, int32_t value)
{
	add_scalar(t, NNB_INT32, &value, sizeof(value));
}

static void add_float(struct taking *t, float value)
{
	add_scalar(t, NNB_FLOAT32, &value, sizeof(value));
}

static void add_bool(struct taking *t, bool value)
{
	add_scalar(t, NNB_BOOL, &value, 1);
}

static void add_ints(struct taking *t, const int32_t *values, uint32_t n)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { n } };

	add(t, nnb__tflite_constant(t->l, &o, values, (uint64_t)n * sizeof(*values)));
}

/* ---- options ---- */

static int32_t option(struct taking *t, unsigned field, int32_t otherwise)
{
	return nnb__flat_i32(&t->l->flat, t->options, field, otherwise);
}

static uint8_t small_option(struct taking *t, unsigned field)
{
	return nnb__flat_u8(&t->l->flat, t->options, field, 0);
}

static void add_fused(struct taking *t, unsigned field)
{
	uint8_t fused = small_option(t, field); /* 0 to 3 are the HAL's numbers */

	if (fused > NNB_FUSED_RELU6)
		nnb__tflite_wrong(t->l, -ENOTSUP, "its fused activation %s is none of the HAL's",
		                  fused == 4   ? "TANH"
		                  : fused == 5 ? "SIGN_BIT"
		                               : "is not known, and");
	add_int(t, fused);
}

static void add_padding(struct taking *t, unsigned field)
{
	uint8_t padding = small_option(t, field);

	if (padding != TFLITE_SAME && padding != TFLITE_VALID)
		nnb__tflite_wrong(t->l, -EINVAL, "there is no padding %u", padding);
	add_int(t, padding == TFLITE_SAME ? NNB_PADDING_SAME : NNB_PADDING_VALID);
}

/* ---- the operation ---- */

/* In words of the file, should the HAL not have it so. */
static void add_operation(struct taking *t, uint32_t op, const uint32_t *outputs, uint32_t n_outputs)
{
	struct nnb_reason why = { "" };
	uint32_t index;

	if (t->l->error)
		return;
	index = nnb__tflite_kept(t->l, nnb_model_operation(t->l->model, op, t->list, t->n, outputs, n_outputs));
	if (!t->l->error && nnb__op_check(t->l->model, &t->l->model->operations[index], &why))
		nnb__tflite_wrong(t->l, -ENOTSUP, "as %s: %.120s", nnb_op_name(op), why.text);
	t->n = 0;
}

static void emit(struct taking *t, uint32_t op)
{
	uint32_t *outputs = t->l->error ? NULL : malloc((t->outputs.n + (size_t)1) * sizeof(*outputs));

	for (uint32_t i = 0; outputs && i < t->outputs.n; i++)
		outputs[i] = nnb__tflite_operand(t->l, nnb__flat_i32_of(&t->l->flat, t->outputs, i));
	if (outputs)
		add_operation(t, op, outputs, t->outputs.n);
	else
		nnb__tflite_kept(t->l, -ENOMEM);
	free(outputs);
}

/* A temporary operand. */
static uint32_t between(struct taking *t, const struct nnb_operand *o)
{
	return t->l->error ? 0 : nnb__tflite_kept(t->l, nnb_model_operand(t->l->model, o));
}

static void add_shape_of_output(struct taking *t)
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

/* ---- families: inputs as they are, and little more ---- */

static void take_plain(struct taking *t)
{
	for (uint32_t k = 0; k < t->inputs.n; k++)
		add_input(t, k);
	emit(t, t->row->op);
}

static void take_fused(struct taking *t)
{
	add_input(t, 0);
	add_input(t, 1);
	add_fused(t, 0);
	emit(t, t->row->op);
}

/* Rows of bytes, of which float32 is wanted. */
static void take_embedding(struct taking *t)
{
	add_input(t, 0);
	add_weights(t, output_is(t));
	emit(t, t->row->op);
}

static void take_square(struct taking *t)
{
	add_input(t, 0);
	add_input(t, 0);
	add_int(t, NNB_FUSED_NONE);
	emit(t, NNB_MUL);
}

static void take_l2_normalization(struct taking *t)
{
	if (small_option(t, 0))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its fused activation is none of the HAL's");
	add_input(t, 0);
	emit(t, t->row->op);
}

static void take_softmax(struct taking *t)
{
	add_input(t, 0);
	add_float(t, nnb__flat_f32(&t->l->flat, t->options, 0, 0));
	emit(t, t->row->op);
}

static void take_log_softmax(struct taking *t)
{
	add_input(t, 0);
	add_float(t, 1);
	add_int(t, -1);
	emit(t, t->row->op);
}

static void take_local_response(struct taking *t)
{
	add_input(t, 0);
	add_int(t, option(t, 0, 0));
	for (unsigned field = 1; field <= 3; field++)
		add_float(t, nnb__flat_f32(&t->l->flat, t->options, field, 0));
	emit(t, t->row->op);
}

static void take_elu(struct taking *t)
{
	add_input(t, 0);
	add_float(t, 1);
	emit(t, t->row->op);
}

static void take_leaky_relu(struct taking *t)
{
	struct nnb_operand slope = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 1 } };
	float alpha = nnb__flat_f32(&t->l->flat, t->options, 0, 0);

	if (input_is(t, 0).type != NNB_TENSOR_FLOAT32)
		nnb__tflite_wrong(t->l, -ENOTSUP, "it is for FLOAT32 only");
	add_input(t, 0);
	add(t, nnb__tflite_constant(t->l, &slope, &alpha, sizeof(alpha)));
	emit(t, t->row->op);
}

/* ---- sums of products ---- */

/* Its scale is that of the products, as TFLite takes it; left out, it is zeroes. */
static void add_bias(struct taking *t, uint32_t k, struct nnb_operand in, struct nnb_operand filter, uint32_t channels)
{
	bool real = in.type == NNB_TENSOR_FLOAT32;
	struct nnb_operand o = { .type = real ? NNB_TENSOR_FLOAT32 : NNB_TENSOR_INT32,
		                 .rank = 1,
		                 .dims = { channels } };
	void *zeroes = is_left_out(t, k) && !t->l->error ? calloc(channels + (size_t)1, sizeof(float)) : NULL;
	uint32_t bias;

	if (!real)
		o.scale = in.scale * filter.scale;
	if (is_left_out(t, k) && !zeroes) {
		nnb__tflite_kept(t->l, -ENOMEM);
	} else if (zeroes) {
		add(t, nnb__tflite_constant(t->l, &o, zeroes, (uint64_t)channels * sizeof(float)));
	} else {
		bias = nnb__tflite_operand(t->l, input_tensor(t, k));
		if (!t->l->error && t->l->model->operands[bias].type == NNB_TENSOR_INT32 && !real) {
			t->l->model->operands[bias].scale = o.scale;
			t->l->model->operands[bias].zero_point = 0;
		}
		add(t, bias);
	}
	free(zeroes);
}

static void take_conv(struct taking *t)
{
	struct nnb_operand in = input_is(t, 0), filter = input_is(t, 1);
	int32_t dilation_w = option(t, 4, 1), dilation_h = option(t, 5, 1);
	uint32_t groups = filter.dims[3] ? in.dims[3] / filter.dims[3] : 1;
	bool grouped = groups > 1 && groups * filter.dims[3] == in.dims[3],
	     dilated = dilation_w != 1 || dilation_h != 1;

	if (grouped && dilated)
		nnb__tflite_wrong(t->l, -ENOTSUP, "it has groups and is dilated");
	add_input(t, 0);
	add_weights(t, in);
	add_bias(t, 2, in, filter, filter.dims[0]);
	add_padding(t, 0);
	add_int(t, option(t, 1, 0));
	add_int(t, option(t, 2, 0));
	if (grouped)
		add_int(t, (int32_t)groups);
	add_fused(t, 3);
	if (grouped || dilated)
		add_bool(t, false); /* NHWC */
	if (dilated) {
		add_int(t, dilation_w);
		add_int(t, dilation_h);
	}
	emit(t, grouped ? NNAPI_GROUPED_CONV_2D : NNB_CONV_2D);
}

/* Its own multiplier need not be there: the shapes say it. */
static void take_depthwise(struct taking *t)
{
	struct nnb_operand in = input_is(t, 0), filter = input_is(t, 1);
	int32_t dilation_w = option(t, 5, 1), dilation_h = option(t, 6, 1);

	if (!t->l->error && (!in.dims[3] || filter.dims[3] % in.dims[3]))
		nnb__tflite_wrong(t->l, -EINVAL, "a filter for %u channels does not go with %u", filter.dims[3],
		                  in.dims[3]);
	add_input(t, 0);
	add_weights(t, in);
	add_bias(t, 2, in, filter, filter.dims[3]);
	add_padding(t, 0);
	add_int(t, option(t, 1, 0));
	add_int(t, option(t, 2, 0));
	add_int(t, t->l->error ? 1 : (int32_t)(filter.dims[3] / in.dims[3]));
	add_fused(t, 4);
	if (dilation_w != 1 || dilation_h != 1) {
		add_bool(t, false);
		add_int(t, dilation_w);
		add_int(t, dilation_h);
	}
	emit(t, t->row->op);
}

/* TFLite's output can have other dimensions than rows and units. */
static void take_fully_connected(struct taking *t)
{
	struct nnb_operand in = input_is(t, 0), weights = input_is(t, 1), out = output_is(t), rows = out;
	uint64_t n = 1;
	uint32_t flat;

	if (small_option(t, 1))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its weights are shuffled");
	add_input(t, 0);
	add_weights(t, in);
	add_bias(t, 2, in, weights, weights.dims[0]);
	add_fused(t, 0);
	if (out.rank == 2) {
		emit(t, t->row->op);
		return;
	}
	for (uint32_t d = 0; d < out.rank; d++)
		if (__builtin_mul_overflow(n, out.dims[d], &n))
			n = 0;
	memset(rows.dims, 0, sizeof(rows.dims));
	rows.rank = 2;
	rows.dims[1] = weights.dims[0];
	rows.dims[0] = rows.dims[1] && n / rows.dims[1] <= UINT32_MAX ? (uint32_t)(n / rows.dims[1]) : 0;
	flat = between(t, &rows);
	add_operation(t, t->row->op, &flat, 1);
	add(t, flat);
	add_shape_of_output(t);
	emit(t, NNB_RESHAPE);
}

static void take_transpose_conv(struct taking *t)
{
	struct nnb_operand filter = input_is(t, 1), in = input_is(t, 2);

	add_input(t, 2);
	add_weights(t, in);
	add_bias(t, 3, in, filter, filter.dims[0]);
	add_input(t, 0);
	add_padding(t, 0);
	add_int(t, option(t, 1, 0));
	add_int(t, option(t, 2, 0));
	add_fused(t, 3);
	add_bool(t, false);
	emit(t, t->row->op);
}

static void take_pool(struct taking *t)
{
	add_input(t, 0);
	add_padding(t, 0);
	for (unsigned field = 1; field <= 4; field++)
		add_int(t, option(t, field, 0));
	add_fused(t, 5);
	emit(t, t->row->op);
}

/* ---- moving elements ---- */

static void take_concatenation(struct taking *t)
{
	struct nnb_operand out = output_is(t);
	int32_t axis = option(t, 0, 0);

	if (small_option(t, 1))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its fused activation is none of the HAL's");
	for (uint32_t k = 0; k < t->inputs.n; k++)
		add_input(t, k);
	add_int(t, axis < 0 && axis >= -NNB_RANK_MAX ? axis + (int32_t)out.rank : axis);
	emit(t, t->row->op);
}

static bool is_constant_input(struct taking *t, uint32_t k)
{
	uint32_t operand = is_left_out(t, k) ? 0 : nnb__tflite_operand(t->l, input_tensor(t, k));

	return !is_left_out(t, k) && !t->l->error && t->l->model->operands[operand].lifetime != NNB_TEMPORARY;
}

/* By its tensor, by its option, or by what the output has. */
static void take_reshape(struct taking *t)
{
	struct nnb__flat_vector shape = nnb__flat_vector(&t->l->flat, t->options, 0, sizeof(int32_t));
	int32_t dims[NNB_RANK_MAX];

	add_input(t, 0);
	if (is_constant_input(t, 1)) {
		uint32_t n = nnb__tflite_integers(t->l, input_tensor(t, 1), dims, NNB_RANK_MAX);

		add_ints(t, dims, n);
	} else if (is_left_out(t, 1) && shape.n && shape.n <= NNB_RANK_MAX) {
		for (uint32_t d = 0; d < shape.n; d++)
			dims[d] = nnb__flat_i32_of(&t->l->flat, shape, d);
		add_ints(t, dims, shape.n);
	} else {
		add_shape_of_output(t);
	}
	emit(t, NNB_RESHAPE);
}

/* SQUEEZE and EXPAND_DIMS. */
static void take_reshaped(struct taking *t)
{
	add_input(t, 0);
	add_shape_of_output(t);
	emit(t, NNB_RESHAPE);
}

static void take_block(struct taking *t)
{
	add_input(t, 0);
	add_int(t, option(t, 0, 0));
	emit(t, t->row->op);
}

/* The HAL wants width before height. */
static void add_size(struct taking *t)
{
	int32_t size[2] = { 0 };
	uint32_t n = is_left_out(t, 1) ? 0 : nnb__tflite_integers(t->l, input_tensor(t, 1), size, 2);

	if (n != 2)
		nnb__tflite_wrong(t->l, -EINVAL, "its size is not two numbers");
	add_int(t, size[1]);
	add_int(t, size[0]);
}

static void take_resize_bilinear(struct taking *t)
{
	bool corners = small_option(t, 2), half = small_option(t, 3);

	add_input(t, 0);
	add_size(t);
	if (corners || half) {
		add_bool(t, false); /* NHWC */
		add_bool(t, corners);
		add_bool(t, half);
	}
	emit(t, t->row->op);
}

static void take_resize_nearest(struct taking *t)
{
	bool corners = small_option(t, 0), half = small_option(t, 1);

	add_input(t, 0);
	add_size(t);
	add_bool(t, false);
	if (corners || half) {
		add_bool(t, corners);
		add_bool(t, half);
	}
	emit(t, t->row->op);
}

/* A value that is a tensor of one element in TFLite, and a scalar in the HAL. */
static void take_pad_with(struct taking *t)
{
	struct nnb_location at;
	uint32_t value;
	float real = 0;
	int32_t whole = 0;

	add_input(t, 0);
	add_input(t, 1);
	if (!is_constant_input(t, 2)) {
		nnb__tflite_wrong(t->l, -ENOTSUP, "its value is no constant");
		return;
	}
	value = nnb__tflite_operand(t->l, input_tensor(t, 2));
	at = t->l->model->operands[value].location;
	if (t->l->model->operands[value].lifetime != NNB_CONSTANT_COPY || at.length > sizeof(real)) {
		nnb__tflite_wrong(t->l, -EINVAL, "its value is not one number");
	} else if (t->l->model->operands[value].type == NNB_TENSOR_FLOAT32) {
		memcpy(&real, t->l->model->values + at.offset, at.length);
		add_float(t, real);
	} else {
		memcpy(&whole, t->l->model->values + at.offset, at.length);
		add_int(t, t->l->model->operands[value].type == NNB_TENSOR_QUANT8_ASYMM_SIGNED ? (int8_t)whole : whole);
	}
	emit(t, t->row->op);
}

static void take_strided_slice(struct taking *t)
{
	if (option(t, 2, 0) || option(t, 3, 0))
		nnb__tflite_wrong(t->l, -ENOTSUP, "it has an ellipsis, or makes new axes");
	for (uint32_t k = 0; k < 4; k++)
		add_input(t, k);
	add_int(t, option(t, 0, 0));
	add_int(t, option(t, 1, 0));
	add_int(t, option(t, 4, 0));
	emit(t, t->row->op);
}

static void take_batch_to_space(struct taking *t)
{
	int32_t crops[4] = { 0 };

	if (is_left_out(t, 2) || nnb__tflite_integers(t->l, input_tensor(t, 2), crops, 4) != 4 || crops[0] ||
	    crops[1] || crops[2] || crops[3])
		nnb__tflite_wrong(t->l, -ENOTSUP, "it crops, which the HAL's does not");
	add_input(t, 0);
	add_input(t, 1);
	emit(t, t->row->op);
}

static void take_gather(struct taking *t)
{
	if (option(t, 1, 0))
		nnb__tflite_wrong(t->l, -ENOTSUP, "it gathers by batches");
	add_input(t, 0);
	add_int(t, option(t, 0, 0));
	add_input(t, 1);
	emit(t, t->row->op);
}

/* The one number of a constant. */
static int32_t number(struct taking *t, uint32_t k)
{
	int32_t value = 0;

	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -EINVAL, "it has no input %u", k);
	else
		nnb__tflite_integers(t->l, input_tensor(t, k), &value, 1);
	return value;
}

static void take_split(struct taking *t)
{
	int32_t axis = number(t, 0);

	add_input(t, 1);
	add_int(t, axis);
	add_int(t, option(t, 0, 0));
	emit(t, t->row->op);
}

/* ARG_MAX, ARG_MIN, TOPK_V2: a constant that is a scalar. */
static void take_numbered(struct taking *t)
{
	add_input(t, 0);
	add_int(t, number(t, 1));
	emit(t, t->row->op);
}

static void take_mean(struct taking *t)
{
	add_input(t, 0);
	add_input(t, 1);
	add_int(t, small_option(t, 0) ? 1 : 0);
	emit(t, t->row->op);
}

static void take_reduce(struct taking *t)
{
	add_input(t, 0);
	add_input(t, 1);
	add_bool(t, small_option(t, 0));
	emit(t, t->row->op);
}

/* The half of a constant is turned when its float32 is first asked for. */
static void take_dequantize(struct taking *t)
{
	int64_t out = t->outputs.n == 1 ? nnb__flat_i32_of(&t->l->flat, t->outputs, 0) : -1;

	if (out >= 0 && out < t->l->tensors.n && t->l->tensor[out].half != NNB__NOWHERE)
		return;
	take_plain(t);
}

/* ---- the table ---- */

/* clang-format off */
static const struct row rows[] = {
	{ 0, "ADD", NNB_ADD, 11, take_fused },
	{ 1, "AVERAGE_POOL_2D", NNB_AVERAGE_POOL_2D, 5, take_pool },
	{ 2, "CONCATENATION", NNB_CONCATENATION, 10, take_concatenation },
	{ 3, "CONV_2D", NNB_CONV_2D, 1, take_conv },
	{ 4, "DEPTHWISE_CONV_2D", NNB_DEPTHWISE_CONV_2D, 2, take_depthwise },
	{ 5, "DEPTH_TO_SPACE", NNB_DEPTH_TO_SPACE, 94, take_block },
	{ 6, "DEQUANTIZE", NNB_DEQUANTIZE, 0, take_dequantize },
	{ 7, "EMBEDDING_LOOKUP", NNB_EMBEDDING_LOOKUP, 0, take_embedding },
	{ 8, "FLOOR", NNB_FLOOR, 0, take_plain },
	{ 9, "FULLY_CONNECTED", NNB_FULLY_CONNECTED, 8, take_fully_connected },
	{ 10, "HASHTABLE_LOOKUP", NNB_HASHTABLE_LOOKUP, 0, take_plain },
	{ 11, "L2_NORMALIZATION", NNB_L2_NORMALIZATION, 12, take_l2_normalization },
	{ 12, "L2_POOL_2D", NNB_L2_POOL_2D, 5, take_pool },
	{ 13, "LOCAL_RESPONSE_NORMALIZATION", NNB_LOCAL_RESPONSE_NORMALIZATION, 13, take_local_response },
	{ 14, "LOGISTIC", NNB_LOGISTIC, 0, take_plain },
	{ 17, "MAX_POOL_2D", NNB_MAX_POOL_2D, 5, take_pool },
	{ 18, "MUL", NNB_MUL, 21, take_fused },
	{ 19, "RELU", NNB_RELU, 0, take_plain },
	{ 20, "RELU_N1_TO_1", NNB_RELU1, 0, take_plain },
	{ 21, "RELU6", NNB_RELU6, 0, take_plain },
	{ 22, "RESHAPE", NNB_RESHAPE, 17, take_reshape },
	{ 23, "RESIZE_BILINEAR", NNB_RESIZE_BILINEAR, 15, take_resize_bilinear },
	{ 25, "SOFTMAX", NNB_SOFTMAX, 9, take_softmax },
	{ 26, "SPACE_TO_DEPTH", NNB_SPACE_TO_DEPTH, 19, take_block },
	{ 28, "TANH", NNB_TANH, 0, take_plain },
	{ 34, "PAD", NNAPI_PAD, 0, take_plain },
	{ 36, "GATHER", NNAPI_GATHER, 23, take_gather },
	{ 37, "BATCH_TO_SPACE_ND", NNAPI_BATCH_TO_SPACE_ND, 0, take_batch_to_space },
	{ 38, "SPACE_TO_BATCH_ND", NNAPI_SPACE_TO_BATCH_ND, 0, take_plain },
	{ 39, "TRANSPOSE", NNAPI_TRANSPOSE, 0, take_plain },
	{ 40, "MEAN", NNAPI_MEAN, 27, take_mean },
	{ 41, "SUB", NNAPI_SUB, 28, take_fused },
	{ 42, "DIV", NNAPI_DIV, 29, take_fused },
	{ 43, "SQUEEZE", NNB_RESHAPE, 0, take_reshaped },
	{ 45, "STRIDED_SLICE", NNAPI_STRIDED_SLICE, 32, take_strided_slice },
	{ 47, "EXP", NNAPI_EXP, 0, take_plain },
	{ 48, "TOPK_V2", NNAPI_TOPK_V2, 0, take_numbered },
	{ 49, "SPLIT", NNAPI_SPLIT, 35, take_split },
	{ 50, "LOG_SOFTMAX", NNAPI_LOG_SOFTMAX, 0, take_log_softmax },
	{ 53, "CAST", NNAPI_CAST, 0, take_plain },
	{ 54, "PRELU", NNAPI_PRELU, 0, take_plain },
	{ 55, "MAXIMUM", NNAPI_MAXIMUM, 0, take_plain },
	{ 56, "ARG_MAX", NNAPI_ARGMAX, 0, take_numbered },
	{ 57, "MINIMUM", NNAPI_MINIMUM, 0, take_plain },
	{ 58, "LESS", NNAPI_LESS, 0, take_plain },
	{ 59, "NEG", NNAPI_NEG, 0, take_plain },
	{ 60, "PADV2", NNAPI_PAD_V2, 0, take_pad_with },
	{ 61, "GREATER", NNAPI_GREATER, 0, take_plain },
	{ 62, "GREATER_EQUAL", NNAPI_GREATER_EQUAL, 0, take_plain },
	{ 63, "LESS_EQUAL", NNAPI_LESS_EQUAL, 0, take_plain },
	{ 64, "SELECT", NNAPI_SELECT, 0, take_plain },
	{ 65, "SLICE", NNAPI_SLICE, 0, take_plain },
	{ 66, "SIN", NNAPI_SIN, 0, take_plain },
	{ 67, "TRANSPOSE_CONV", NNAPI_TRANSPOSE_CONV_2D, 49, take_transpose_conv },
	{ 69, "TILE", NNAPI_TILE, 0, take_plain },
	{ 70, "EXPAND_DIMS", NNB_RESHAPE, 0, take_reshaped },
	{ 71, "EQUAL", NNAPI_EQUAL, 0, take_plain },
	{ 72, "NOT_EQUAL", NNAPI_NOT_EQUAL, 0, take_plain },
	{ 73, "LOG", NNAPI_LOG, 0, take_plain },
	{ 74, "SUM", NNAPI_REDUCE_SUM, 27, take_reduce },
	{ 75, "SQRT", NNAPI_SQRT, 0, take_plain },
	{ 76, "RSQRT", NNAPI_RSQRT, 0, take_plain },
	{ 78, "POW", NNAPI_POW, 0, take_plain },
	{ 79, "ARG_MIN", NNAPI_ARGMIN, 0, take_numbered },
	{ 81, "REDUCE_PROD", NNAPI_REDUCE_PROD, 27, take_reduce },
	{ 82, "REDUCE_MAX", NNAPI_REDUCE_MAX, 27, take_reduce },
	{ 84, "LOGICAL_OR", NNAPI_LOGICAL_OR, 0, take_plain },
	{ 86, "LOGICAL_AND", NNAPI_LOGICAL_AND, 0, take_plain },
	{ 87, "LOGICAL_NOT", NNAPI_LOGICAL_NOT, 0, take_plain },
	{ 89, "REDUCE_MIN", NNAPI_REDUCE_MIN, 27, take_reduce },
	{ 91, "REDUCE_ANY", NNAPI_REDUCE_ANY, 27, take_reduce },
	{ 92, "SQUARE", NNB_MUL, 0, take_square },
	{ 97, "RESIZE_NEAREST_NEIGHBOR", NNAPI_RESIZE_NEAREST_NEIGHBOR, 74, take_resize_nearest },
	{ 98, "LEAKY_RELU", NNAPI_PRELU, 75, take_leaky_relu },
	{ 101, "ABS", NNAPI_ABS, 0, take_plain },
	{ 111, "ELU", NNAPI_ELU, 0, take_elu },
	{ 114, "QUANTIZE", NNAPI_QUANTIZE, 0, take_plain },
	{ 117, "HARD_SWISH", NNAPI_HARD_SWISH, 0, take_plain },
	{ 140, "REDUCE_ALL", NNAPI_REDUCE_ALL, 27, take_reduce },
};

/* Names of others that files have, to refuse them by name. */
static const struct {
	uint8_t code;
	const char *name;
} others[] = {
	{ 15, "LSH_PROJECTION" }, { 16, "LSTM" }, { 24, "RNN" }, { 27, "SVDF" }, { 29, "CONCAT_EMBEDDINGS" }, { 30, "SKIP_GRAM" },
	{ 31, "CALL" }, { 33, "EMBEDDING_LOOKUP_SPARSE" }, { 35, "UNIDIRECTIONAL_SEQUENCE_RNN" },
	{ 44, "UNIDIRECTIONAL_SEQUENCE_LSTM" }, { 46, "BIDIRECTIONAL_SEQUENCE_RNN" }, { 51, "DELEGATE" },
	{ 52, "BIDIRECTIONAL_SEQUENCE_LSTM" }, { 68, "SPARSE_TO_DENSE" }, { 77, "SHAPE" }, { 80, "FAKE_QUANT" }, { 83, "PACK" },
	{ 85, "ONE_HOT" }, { 88, "UNPACK" }, { 90, "FLOOR_DIV" }, { 93, "ZEROS_LIKE" }, { 94, "FILL" }, { 95, "FLOOR_MOD" },
	{ 96, "RANGE" }, { 99, "SQUARED_DIFFERENCE" }, { 100, "MIRROR_PAD" }, { 102, "SPLIT_V" }, { 103, "UNIQUE" },
	{ 104, "CEIL" }, { 105, "REVERSE_V2" }, { 106, "ADD_N" }, { 107, "GATHER_ND" }, { 108, "COS" }, { 109, "WHERE" },
	{ 110, "RANK" }, { 112, "REVERSE_SEQUENCE" }, { 113, "MATRIX_DIAG" }, { 115, "MATRIX_SET_DIAG" }, { 116, "ROUND" },
	{ 118, "IF" }, { 119, "WHILE" }, { 120, "NON_MAX_SUPPRESSION_V4" }, { 121, "NON_MAX_SUPPRESSION_V5" },
	{ 122, "SCATTER_ND" }, { 123, "SELECT_V2" }, { 124, "DENSIFY" }, { 125, "SEGMENT_SUM" }, { 126, "BATCH_MATMUL" },
	{ 128, "CUMSUM" }, { 129, "CALL_ONCE" }, { 130, "BROADCAST_TO" }, { 131, "RFFT2D" }, { 132, "CONV_3D" },
	{ 142, "VAR_HANDLE" }, { 143, "READ_VARIABLE" }, { 144, "ASSIGN_VARIABLE" }, { 145, "BROADCAST_ARGS" }, { 150, "GELU" },
	{ 151, "DYNAMIC_UPDATE_SLICE" }, { 152, "RELU_0_TO_1" },
};
/* clang-format on */

static struct nnb__flat_table operator_at(struct nnb__loading *l, uint32_t i)
{
	return nnb__flat_table_of(&l->flat, l->operators, i);
}

static struct nnb__flat_table code_table_of(struct nnb__loading *l, struct nnb__flat_table taken)
{
	uint32_t index = (uint32_t)nnb__flat_i32(&l->flat, taken, OPERATOR_CODE, 0);

	if (index >= l->codes.n) {
		nnb__tflite_wrong(l, -EINVAL, "there is no operator code %u", index);
		return (struct nnb__flat_table){ 0 };
	}
	return nnb__flat_table_of(&l->flat, l->codes, index);
}

/* The number of an operator: files from before there were more than 127 of them have it elsewhere. */
static int32_t code_of(struct nnb__loading *l, struct nnb__flat_table code)
{
	int32_t now = nnb__flat_i32(&l->flat, code, CODE_BUILTIN, 0),
		before = (int8_t)nnb__flat_u8(&l->flat, code, CODE_DEPRECATED, 0);

	return now > before ? now : before;
}

static const struct row *row_of(int32_t code)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code)
			return nnb_op_name(rows[i].op) ? &rows[i] : NULL;
	return NULL;
}

static void name_code(struct nnb__loading *l, struct nnb__flat_table code, char *to, uint32_t room)
{
	int32_t is = code_of(l, code);
	char custom[48];
	int n = 0;

	if (is == TFLITE_CUSTOM)
		n = snprintf(to, room, "custom operator %s",
		             nnb__flat_line(&l->flat, code, CODE_CUSTOM, custom, sizeof(custom)));
	for (size_t i = 0; !n && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == is)
			n = snprintf(to, room, "%s", rows[i].name);
	for (size_t i = 0; !n && i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].code == is)
			n = snprintf(to, room, "%s", others[i].name);
	if (!n)
		snprintf(to, room, "operator %" PRId32, is);
}

char *nnb__tflite_describe(struct nnb__loading *l, uint32_t which, char *to, uint32_t room)
{
	struct nnb__flat_table o = operator_at(l, which), t = { 0 };
	struct nnb__flat_vector outputs = nnb__flat_vector(&l->flat, o, OPERATOR_OUTPUTS, sizeof(int32_t));
	uint32_t index = (uint32_t)nnb__flat_i32(&l->flat, o, OPERATOR_CODE, 0);
	int32_t out = outputs.n ? nnb__flat_i32_of(&l->flat, outputs, 0) : -1;
	char kind[KIND] = "of no code", name[64];

	if (index < l->codes.n)
		name_code(l, nnb__flat_table_of(&l->flat, l->codes, index), kind, sizeof(kind));
	if (out >= 0 && (uint32_t)out < l->tensors.n)
		t = nnb__flat_table_of(&l->flat, l->tensors, (uint32_t)out);
	snprintf(to, room, "%s, which gives '%s'", kind, nnb__flat_line(&l->flat, t, TENSOR_NAME, name, sizeof(name)));
	return to;
}

/* ---- what there is not ---- */

/* The operators that cannot be taken, by what they are called. */
struct refused {
	uint32_t first, n, n_kinds;
	struct {
		char name[KIND];
		uint32_t n;
	} kinds[KINDS];
};

static void count(struct nnb__loading *l, struct refused *r, uint32_t which, struct nnb__flat_table code)
{
	char name[KIND];
	uint32_t k = 0;

	if (!r->n++)
		r->first = which;
	name_code(l, code, name, sizeof(name));
	while (k < r->n_kinds && strcmp(r->kinds[k].name, name) != 0)
		k++;
	if (k == KINDS)
		return;
	if (k == r->n_kinds) {
		strcpy(r->kinds[r->n_kinds++].name, name);
		r->kinds[k].n = 0;
	}
	r->kinds[k].n++;
}

static void tell_refused(struct nnb__loading *l, const struct refused *r)
{
	char kinds[160] = "";
	size_t at = 0;

	for (uint32_t k = 0; k < r->n_kinds && at < sizeof(kinds); k++)
		at += (size_t)snprintf(kinds + at, sizeof(kinds) - at, "%s%s (%u)", k ? ", " : "", r->kinds[k].name,
		                       r->kinds[k].n);
	l->taken = r->first;
	nnb__tflite_wrong(l, -ENOTSUP, "not supported; %u of its %u operators are, not %s", l->operators.n - r->n,
	                  l->operators.n, kinds);
}

/* Is there a row for each? */
static void find_refused(struct nnb__loading *l)
{
	struct refused refused = { .n = 0 };

	for (uint32_t i = 0; !l->error && i < l->operators.n; i++) {
		struct nnb__flat_table o = operator_at(l, i), code = code_table_of(l, o);

		if (!row_of(code_of(l, code)))
			count(l, &refused, i, code);
		nnb__tflite_look(l);
	}
	if (refused.n && !l->error)
		tell_refused(l, &refused);
}

/* ---- all of them ---- */

static bool is_half_constant(struct nnb__loading *l, int64_t tensor)
{
	struct nnb__flat_table t = nnb__flat_table_of(&l->flat, l->tensors, (uint32_t)tensor), b = { 0 };
	uint32_t buffer = (uint32_t)nnb__flat_i32(&l->flat, t, TENSOR_BUFFER, 0);

	if (nnb__flat_u8(&l->flat, t, TENSOR_TYPE, TFLITE_FLOAT32) != TFLITE_FLOAT16 || !buffer ||
	    buffer >= l->buffers.n)
		return false;
	b = nnb__flat_table_of(&l->flat, l->buffers, buffer);
	return nnb__flat_vector(&l->flat, b, BUFFER_DATA, 1).n || nnb__flat_u64(&l->flat, b, BUFFER_OFFSET, 0) > 1;
}

static bool is_output_of_model(struct nnb__loading *l, int64_t tensor)
{
	for (uint32_t i = 0; i < l->outputs.n; i++)
		if (nnb__flat_i32_of(&l->flat, l->outputs, i) == tensor)
			return true;
	return false;
}

/* Which tensors are float16 constants that become float32. */
static void find_halves(struct nnb__loading *l)
{
	for (uint32_t i = 0; !l->error && i < l->operators.n; i++) {
		struct nnb__flat_table o = operator_at(l, i);
		struct nnb__flat_vector in = nnb__flat_vector(&l->flat, o, OPERATOR_INPUTS, sizeof(int32_t));
		struct nnb__flat_vector out = nnb__flat_vector(&l->flat, o, OPERATOR_OUTPUTS, sizeof(int32_t));
		int64_t from, to;

		if (in.n != 1 || out.n != 1 || code_of(l, code_table_of(l, o)) != TFLITE_DEQUANTIZE)
			continue;
		from = nnb__flat_i32_of(&l->flat, in, 0);
		to = nnb__flat_i32_of(&l->flat, out, 0);
		if (from >= 0 && from < l->tensors.n && to >= 0 && to < l->tensors.n && is_half_constant(l, from) &&
		    !is_output_of_model(l, to))
			l->tensor[to].half = (uint32_t)from;
	}
	nnb__tflite_look(l);
}

static void take_operator(struct nnb__loading *l, uint32_t i)
{
	struct nnb__flat_table o = operator_at(l, i);
	struct taking t = { .l = l, .row = row_of(code_of(l, code_table_of(l, o))) };
	uint8_t options = nnb__flat_u8(&l->flat, o, OPERATOR_OPTIONS_TYPE, 0);

	l->taken = i;
	t.inputs = nnb__flat_vector(&l->flat, o, OPERATOR_INPUTS, sizeof(int32_t));
	t.outputs = nnb__flat_vector(&l->flat, o, OPERATOR_OUTPUTS, sizeof(int32_t));
	nnb__tflite_look(l);
	if (l->error || !nnb__tflite_listed(l, t.inputs.n + t.outputs.n) || !t.row)
		return;
	if (t.row->options && options == t.row->options)
		t.options = nnb__flat_table(&l->flat, o, OPERATOR_OPTIONS);
	else if (t.row->options && options)
		nnb__tflite_wrong(l, -EINVAL, "its options are those of another operator");
	t.room = t.inputs.n + MORE;
	t.list = malloc(t.room * sizeof(*t.list));
	if (t.list)
		t.row->take(&t);
	else
		nnb__tflite_kept(l, -ENOMEM);
	nnb__tflite_look(l);
	free(t.list);
	l->taken = NNB__NOWHERE;
}

void nnb__tflite_operators(struct nnb__loading *l)
{
	find_refused(l);
	find_halves(l);
	for (uint32_t i = 0; !l->error && i < l->operators.n; i++)
		take_operator(l, i);
}

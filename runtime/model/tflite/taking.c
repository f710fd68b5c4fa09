/*
 * taking.c -- the functions that the converters of take_*.c share: these read an operator's tensors and options, and
 * add inputs and operations.
 */
#include "model/tflite/taking.h"

#include <errno.h>
#include <stdlib.h>

/* ---- an operator's tensors ---- */

struct nnb_operand nnb__input_is(struct taking *t, uint32_t k)
{
	struct nnb_operand o = { 0 };

	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -EINVAL, "it has no input %u", k);
	else
		nnb__tflite_tensor(t->l, input_tensor(t, k), &o);
	return o;
}

struct nnb_operand nnb__output_is(struct taking *t)
{
	struct nnb_operand o = { 0 };

	if (!t->outputs.n)
		nnb__tflite_wrong(t->l, -EINVAL, "it has no output");
	else
		nnb__tflite_tensor(t->l, nnb__flat_i32_of(&t->l->flat, t->outputs, 0), &o);
	return o;
}

/* ---- the inputs of the operation ---- */

void nnb__add_input(struct taking *t, uint32_t k)
{
	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -ENOTSUP, "its input %u is left out", k);
	else
		operand_add(t, nnb__tflite_operand(t->l, input_tensor(t, k)));
}

void nnb__add_weights(struct taking *t, struct nnb_operand in)
{
	if (in.type == NNB_TENSOR_FLOAT32 && !is_left_out(t, 1))
		operand_add(t, nnb__tflite_reals(t->l, input_tensor(t, 1)));
	else
		nnb__add_input(t, 1);
}

static void scalar_add(struct taking *t, uint32_t type, const void *value, uint32_t bytes)
{
	struct nnb_operand o = { .type = type };

	if (!nnb_type_info(type))
		nnb__tflite_wrong(t->l, -ENOTSUP, "it needs a scalar of a type that is not supported");
	operand_add(t, nnb__tflite_constant(t->l, &o, value, bytes));
}

void nnb__add_int(struct taking *t, int32_t value)
{
	scalar_add(t, NNB_INT32, &value, sizeof(value));
}

void nnb__add_float(struct taking *t, float value)
{
	scalar_add(t, NNB_FLOAT32, &value, sizeof(value));
}

void nnb__add_bool(struct taking *t, bool value)
{
	scalar_add(t, NNB_BOOL, &value, 1);
}

void nnb__add_ints(struct taking *t, const int32_t *values, uint32_t n)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { n } };

	operand_add(t, nnb__tflite_constant(t->l, &o, values, (uint64_t)n * sizeof(*values)));
}

/* ---- options ---- */

void nnb__add_fused(struct taking *t, unsigned field)
{
	uint8_t fused = small_option(t, field); /* numbers 0 to 3 equal the HAL's */

	if (fused > NNB_FUSED_RELU6)
		nnb__tflite_wrong(t->l, -ENOTSUP, "its fused activation %s is not supported",
		                  fused == 4   ? "TANH"
		                  : fused == 5 ? "SIGN_BIT"
		                               : "of another kind");
	nnb__add_int(t, fused);
}

void nnb__add_padding(struct taking *t, unsigned field)
{
	uint8_t padding = small_option(t, field);

	if (padding != TFLITE_SAME && padding != TFLITE_VALID)
		nnb__tflite_wrong(t->l, -EINVAL, "%u is not a padding scheme", padding);
	nnb__add_int(t, padding == TFLITE_SAME ? NNB_PADDING_SAME : NNB_PADDING_VALID);
}

/* ---- the operation ---- */

void nnb__add_operation(struct taking *t, uint32_t op, const uint32_t *outputs, uint32_t n_outputs)
{
	struct nnb_reason why = { "" };
	uint32_t index;

	if (t->l->error)
		return;
	index = nnb__tflite_keep_error(t->l, nnb_model_operation(t->l->model, op, t->list, t->n, outputs, n_outputs));
	/* the subgraphs of IF and WHILE are added to the model later; its validation checks both operations */
	if (!t->l->error && op != NNB_IF && op != NNB_WHILE &&
	    nnb__op_check(t->l->model, &t->l->model->operations[index], &why))
		nnb__tflite_wrong(t->l, -ENOTSUP, "as %s: %.120s", nnb_op_name(op), why.text);
	t->n = 0;
}

void nnb__emit_operation(struct taking *t, uint32_t op)
{
	uint32_t *outputs = t->l->error ? NULL : malloc((t->outputs.n + (size_t)1) * sizeof(*outputs));

	for (uint32_t i = 0; outputs && i < t->outputs.n; i++)
		outputs[i] = nnb__tflite_operand(t->l, nnb__flat_i32_of(&t->l->flat, t->outputs, i));
	if (outputs)
		nnb__add_operation(t, op, outputs, t->outputs.n);
	else
		nnb__tflite_keep_error(t->l, -ENOMEM);
	free(outputs);
}

void nnb__add_shape_of_output(struct taking *t)
{
	struct nnb_operand out = nnb__output_is(t);
	int32_t dims[NNB_RANK_MAX];

	for (uint32_t d = 0; d < out.rank; d++) {
		dims[d] = (int32_t)out.dims[d];
		if (dims[d] <= 0)
			nnb__tflite_wrong(t->l, -ENOTSUP, "its output has an extent that is not known");
	}
	nnb__add_ints(t, dims, out.rank);
}

bool nnb__is_constant_input(struct taking *t, uint32_t k)
{
	uint32_t operand = is_left_out(t, k) ? 0 : nnb__tflite_operand(t->l, input_tensor(t, k));

	return !is_left_out(t, k) && !t->l->error && t->l->model->operands[operand].lifetime != NNB_TEMPORARY;
}

int32_t nnb__constant_number(struct taking *t, uint32_t k)
{
	int32_t value = 0;

	if (is_left_out(t, k))
		nnb__tflite_wrong(t->l, -EINVAL, "it has no input %u", k);
	else
		nnb__tflite_integers(t->l, input_tensor(t, k), &value, 1);
	return value;
}

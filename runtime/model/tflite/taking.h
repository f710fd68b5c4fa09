/*
 * taking.h -- the functions with which converters turn one .tflite operator into an operation of the HAL.
 *
 * The converters are in take_*.c, one file a family; the table in operators.c maps each operator to its converter.
 */
#ifndef NNB_MODEL_TFLITE_TAKING_H
#define NNB_MODEL_TFLITE_TAKING_H

#include <errno.h>
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

/* Input @k, or output 0, described as an operand. */
struct nnb_operand nnb__input_is(struct taking *t, uint32_t k);
struct nnb_operand nnb__output_is(struct taking *t);

bool nnb__is_constant_input(struct taking *t, uint32_t k);

/* Read a constant of one number. */
int32_t nnb__constant_number(struct taking *t, uint32_t k);

/* ---- options ---- */

static inline int32_t int_option(struct taking *t, unsigned field, int32_t otherwise)
{
	return nnb__flat_i32(&t->l->flat, t->options, field, otherwise);
}

static inline uint8_t small_option(struct taking *t, unsigned field)
{
	return nnb__flat_u8(&t->l->flat, t->options, field, 0);
}

/* ---- the inputs of the operation ---- */

static inline void operand_add(struct taking *t, uint32_t operand)
{
	if (t->n < t->room)
		t->list[t->n++] = operand;
}

void nnb__add_input(struct taking *t, uint32_t k);

/* Add input 1 as weights. A float32 operator of a size-reduced file has weights of bytes; they become float32. */
void nnb__add_weights(struct taking *t, struct nnb_operand in);

void nnb__add_int(struct taking *t, int32_t value);
void nnb__add_float(struct taking *t, float value);
void nnb__add_bool(struct taking *t, bool value);
void nnb__add_ints(struct taking *t, const int32_t *values, uint32_t n);
void nnb__add_shape_of_output(struct taking *t);

/* Add the value of an option, translated: a fused activation, a padding scheme. */
void nnb__add_fused(struct taking *t, unsigned field);
void nnb__add_padding(struct taking *t, unsigned field);

/* ---- the operation ---- */

/* Add a temporary operand. */
static inline uint32_t temporary_add(struct taking *t, const struct nnb_operand *o)
{
	return t->l->error ? 0 : nnb__tflite_keep_error(t->l, nnb_model_operand(t->l->model, o));
}

/* Add the operation. If the HAL does not accept it, the reason describes it in terms of the file. */
void nnb__add_operation(struct taking *t, uint32_t op, const uint32_t *outputs, uint32_t n_outputs);

/* The same, with the operator's own outputs. */
void nnb__emit_operation(struct taking *t, uint32_t op);

/* ---- the families ---- */

take_fn nnb__take_plain, nnb__take_fused, nnb__take_embedding, nnb__take_square, nnb__take_l2_normalization,
	nnb__take_softmax, nnb__take_log_softmax, nnb__take_local_response, nnb__take_elu, nnb__take_leaky_relu,
	nnb__take_conv, nnb__take_depthwise, nnb__take_fully_connected, nnb__take_transpose_conv, nnb__take_pool,
	nnb__take_concatenation, nnb__take_reshape, nnb__take_reshaped, nnb__take_block, nnb__take_resize_bilinear,
	nnb__take_resize_nearest, nnb__take_pad_with, nnb__take_strided_slice, nnb__take_batch_to_space,
	nnb__take_gather, nnb__take_split, nnb__take_numbered, nnb__take_mean, nnb__take_reduce, nnb__take_dequantize,
	nnb__take_if, nnb__take_while;

#endif

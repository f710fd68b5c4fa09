/* operand.h -- a site's operands as the kernels of tensor.h want them. */
#ifndef NNBX_OPERAND_H
#define NNBX_OPERAND_H

#include "kernels/tensor.h"
#include "lowering.h"

static inline struct nnbx_tensor nnbx_operand(const struct nnb_operand *o, const struct nnb_shape *shape, void *at)
{
	return (struct nnbx_tensor){ .type = o->type,
		                     .rank = shape->rank,
		                     .dims = shape->dims,
		                     .scale = nnb_type_info(o->type)->quantized ? o->scale : 0,
		                     .zero_point = o->zero_point,
		                     .at = at };
}

static inline struct nnbx_tensor tensor_in(const struct site *s, uint32_t k)
{
	return nnbx_operand(in_operand(s, k), in_shape(s, k), s->at[s->op->inputs[k]]);
}

static inline struct nnbx_tensor tensor_out(const struct site *s, uint32_t k)
{
	return nnbx_operand(out_operand(s, k), out_shape(s, k), out_at(s, k));
}

/* Bare integers instead of reals: of a quantised type, without its zero point. */
static inline struct nnbx_tensor tensor_units(const struct site *s, uint32_t k)
{
	struct nnbx_tensor t = tensor_in(s, k);

	if (t.scale != 0)
		t.scale = 1;
	return t;
}

/* Where the bytes of an input are; NULL: it is left out. */
static inline const void *value_at(const struct site *s, uint32_t k)
{
	const void *constant = k < s->op->n_inputs ? s->graph->constants[s->op->inputs[k]] : NULL;

	if (constant || k >= s->op->n_inputs || !s->at)
		return constant;
	return s->at[s->op->inputs[k]];
}

/* A scalar of a real type. */
static inline double real_in(const struct site *s, uint32_t k)
{
	struct nnbx_tensor t = { .type = in_operand(s, k)->type, .at = (void *)value_at(s, k) };

	return nnbx_load_one(&t, 0);
}

/* An INT32 scalar; @otherwise where it is left out or this form has none. */
static inline int32_t int_in(const struct site *s, uint32_t k, int32_t otherwise)
{
	const int32_t *at = value_at(s, k);

	return at ? *at : otherwise;
}

/* Likewise a BOOL scalar. */
static inline bool flag_in(const struct site *s, uint32_t k)
{
	const uint8_t *at = value_at(s, k);

	return at && *at;
}

/* An axis that the shapes have been checked with. */
static inline uint32_t axis_in(const struct site *s, uint32_t k, uint32_t rank)
{
	int32_t axis = int_in(s, k, 0);

	return (uint32_t)(axis < 0 ? axis + (int32_t)rank : axis);
}

#endif

/*
 * ops.h -- what each operation takes and gives: operand types, how they relate, shapes (section 7.6 of the HAL's rules).
 *
 * Signatures are checked on the model alone (signature.c), shapes on what is known of a model or of one run
 * (shapes.c, window.c).
 */
#ifndef NNB_MODEL_OPS_H
#define NNB_MODEL_OPS_H

#include "nnb/driver.h"

enum { NNB__OP_OUTPUTS_MAX = 4 }; /* LSTM's */

/* Count, types and relations of the operation's operands (O-16). 0, or -EINVAL and the reason. */
int nnb__op_check(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);

/* May input @position of a checked operation be left out? */
bool nnb__op_optional(const struct nnb_operation *op, uint32_t position);

/* Does the value of input @position decide shapes or what is computed? Scalars do, and RESHAPE's shape. */
bool nnb__op_needs_value(const struct nnb_model *model, const struct nnb_operation *op, uint32_t position);

/* One operation, and what is known when it is looked at. */
struct nnb__op_view {
	const struct nnb_model *model;
	const struct nnb_operation *op;
	const struct nnb_shape *shapes; /* by operand */
	const void *const *constants;   /* by operand; NULL: the value is not known */
	struct nnb_reason *reason;      /* NULL: nobody asks */
};

/*
 * The shapes of a checked operation's outputs: ret[i] of n_outputs, not known where something they depend on is not.
 * 0; -EINVAL and the reason: these inputs and parameters do not go together.
 */
int nnb__op_shapes(const struct nnb__op_view *view, struct nnb_shape *ret);

/* The geometry of a convolution or pool, and the extents it gives. 0, -ENODATA or -EINVAL and the reason. */
int nnb__op_window(const struct nnb__op_view *view, struct nnb_window *ret, uint32_t *out_h, uint32_t *out_w);

/* ---- what a view knows ---- */

static inline const struct nnb_shape *nnb__in(const struct nnb__op_view *v, uint32_t k)
{
	return &v->shapes[v->op->inputs[k]];
}

/* A scalar input. false: not known. */
static inline bool nnb__in_i32(const struct nnb__op_view *v, uint32_t k, int32_t *ret)
{
	const int32_t *value = v->constants ? v->constants[v->op->inputs[k]] : NULL;

	if (value)
		*ret = *value;
	return value != NULL;
}

static inline bool nnb__in_f32(const struct nnb__op_view *v, uint32_t k, float *ret)
{
	const float *value = v->constants ? v->constants[v->op->inputs[k]] : NULL;

	if (value)
		*ret = *value;
	return value != NULL;
}

#endif

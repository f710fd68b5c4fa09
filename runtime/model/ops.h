/*
 * ops.h -- what each operation takes and gives: operand types, how they relate, shapes (section 7.6 of the HAL's rules).
 *
 * Signatures are checked on the model alone (signature.c), shapes on what is known of a model or of one run
 * (shapes.c, window.c).
 */
#ifndef NNB_MODEL_OPS_H
#define NNB_MODEL_OPS_H

#include <errno.h>

#include "nnb/driver.h"
#include "nnb/half.h"

/* Count, types and relations of the operation's operands (O-16). 0, or -EINVAL and the reason. */
int nnb__op_check(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);

/* The relations of IF and WHILE, whose operands have the right types: they and their subgraphs go together. 0; -EINVAL and the reason. */
int nnb__check_if(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);
int nnb__check_while(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);

/* Which inputs of a checked operation may be left out: ret[k] of n_inputs. */
void nnb__op_optional(const struct nnb_model *model, const struct nnb_operation *op, bool *ret);

/* Does the value of input @position decide shapes or what is computed? Scalars do, and RESHAPE's shape. */
bool nnb__op_needs_value(const struct nnb_model *model, const struct nnb_operation *op, uint32_t position);

enum { NNB_OP_LETTERS = 16 };

/*
 * The letters of types (signature.c) that form @form of @op is for, whatever the HAL: those of x, or where it has no x those of
 * what it gives, and those of y. False: there are no more forms.
 */
bool nnb__op_letters(uint32_t op, uint32_t form, char x[NNB_OP_LETTERS], char y[NNB_OP_LETTERS]);

/* One operation, and what is known when it is looked at. */
struct nnb__op_view {
	const struct nnb_model *model;
	const struct nnb_operation *op;
	const struct nnb_shape *shapes; /* by operand */
	const void *const *constants;   /* by operand; NULL: the value is not known */
	const struct nnb_shape *image;  /* input 0 with its channels last, if they are not; otherwise NULL */
	struct nnb_reason *reason;      /* NULL: nobody asks */
};

/*
 * The shapes of a checked operation's outputs: ret[i] of n_outputs, not known where something they depend on is not.
 * 0; -EINVAL and the reason: these inputs and parameters do not go together.
 */
int nnb__op_shapes(const struct nnb__op_view *view, struct nnb_shape *ret);

/* The geometry of a convolution or pool, of a view with its channels last, and the extents it gives. 0, -ENODATA or -EINVAL and the reason. */
int nnb__op_window(const struct nnb__op_view *view, struct nnb_window *ret, uint32_t *out_h, uint32_t *out_w);

/* The same of GROUPED_CONV_2D and TRANSPOSE_CONV_2D, whose views are as they are. */
int nnb__wide_window(const struct nnb__op_view *view, struct nnb_window *ret, uint32_t *out_h, uint32_t *out_w);

/* ---- what a view knows ---- */

static inline const struct nnb_shape *nnb__in(const struct nnb__op_view *v, uint32_t k)
{
	return v->image && k == 0 ? v->image : &v->shapes[v->op->inputs[k]];
}

/* The value of input @k; NULL: not known, or there is no such input. */
static inline const void *nnb__in_value(const struct nnb__op_view *v, uint32_t k)
{
	return v->constants && k < v->op->n_inputs ? v->constants[v->op->inputs[k]] : NULL;
}

static inline uint32_t nnb__in_type(const struct nnb__op_view *v, uint32_t k)
{
	return v->model->operands[v->op->inputs[k]].type;
}

/* A scalar input. false: not known. */
static inline bool nnb__in_i32(const struct nnb__op_view *v, uint32_t k, int32_t *ret)
{
	const int32_t *value = nnb__in_value(v, k);

	if (value)
		*ret = *value;
	return value != NULL;
}

static inline bool nnb__in_bool(const struct nnb__op_view *v, uint32_t k, bool *ret)
{
	const uint8_t *value = nnb__in_value(v, k);

	if (value)
		*ret = *value != 0;
	return value != NULL;
}

/* FLOAT32 or FLOAT16. */
static inline bool nnb__in_real(const struct nnb__op_view *v, uint32_t k, float *ret)
{
	const void *value = nnb__in_value(v, k);

	if (value)
		*ret = nnb__in_type(v, k) == NNB_FLOAT16 ? nnb_half_to_float(*(const uint16_t *)value)
		                                         : *(const float *)value;
	return value != NULL;
}

/*
 * The view with its image's channels last, wherever they are; @image is where that shape is kept. 0; -ENODATA: it is not
 * known where they are.
 */
int nnb__op_image(const struct nnb__op_view *view, struct nnb_shape *image, struct nnb__op_view *ret);

#endif

/*
 * ops.h -- the operands of each operation: types, relations between them, shapes (section 7.6 of the HAL's rules).
 *
 * Signatures are checked against the model alone (signature.c). Shapes are checked against all that is known of a model
 * or of one run (shapes.c, window.c).
 */
#ifndef NNB_MODEL_OPS_H
#define NNB_MODEL_OPS_H

#include <assert.h>
#include <errno.h>

#include "nnb/driver.h"
#include "nnb/half.h"

/* Check the count, types and relations of the operation's operands (O-16). 0, or -EINVAL and the reason. */
int nnb__op_check(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);

/*
 * Check that the operands of an IF or WHILE, whose types are right already, match their subgraphs. 0, or -EINVAL and
 * the reason.
 */
int nnb__check_if(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);
int nnb__check_while(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);

/* Write to ret[k], for each input k of a checked operation, whether the input may be omitted. */
void nnb__op_optional(const struct nnb_model *model, const struct nnb_operation *op, bool *ret);

/*
 * Does the value of input @position decide the shapes, or what the operation computes? The values of scalars do, and so
 * does RESHAPE's shape.
 */
bool nnb__op_needs_value(const struct nnb_model *model, const struct nnb_operation *op, uint32_t position);

enum { NNB_OP_LETTERS = 16 };

/*
 * The letters of the types (signature.c) that form @form of @op accepts, in any HAL: those of x, or those of the
 * output in a form without x; and those of y. False: the operation has no such form.
 */
bool nnb__op_letters(uint32_t op, uint32_t form, char x[NNB_OP_LETTERS], char y[NNB_OP_LETTERS]);

/* The form that a checked operation has. */
uint32_t nnb__op_form(const struct nnb_model *model, const struct nnb_operation *op);

/* One operation, with the shapes and values that are known at the time of the check. */
struct nnb__op_view {
	const struct nnb_model *model;
	const struct nnb_operation *op;
	const struct nnb_shape *shapes; /* by operand */
	const void *const *constants;   /* by operand; NULL: the value is not known */
	const struct nnb_shape *image;  /* input 0's shape converted to channels last; NULL: no conversion was needed */
	bool inferred;                  /* the shapes of the operation's outputs are known, too */
	struct nnb_reason *reason;      /* NULL: the caller wants no reason */
};

/*
 * Infer the shapes of a checked operation's outputs: ret[i] of n_outputs. An output stays unknown where a shape or
 * value that it depends on is unknown. 0; -EINVAL and the reason: the inputs and parameters contradict each other.
 */
int nnb__op_shapes(const struct nnb__op_view *view, struct nnb_shape *ret);

/*
 * The geometry of a convolution or pool whose view has its channels last, and the output's extents. 0, -ENODATA, or
 * -EINVAL and the reason.
 */
int nnb__op_window(const struct nnb__op_view *view, struct nnb_window *ret, uint32_t *out_h, uint32_t *out_w);

/* The same for GROUPED_CONV_2D and TRANSPOSE_CONV_2D; their views keep the layout of the model. */
int nnb__wide_window(const struct nnb__op_view *view, struct nnb_window *ret, uint32_t *out_h, uint32_t *out_w);

/*
 * The number of outputs of a window of @filter cells that slides by @stride over @in cells and their padding. The
 * scheme SAME determines the padding: it is written to @head and @tail. -1: the filter is larger than the padded
 * input. With SAME that never happens: 0 cells have 0 outputs, for every operation that has this scheme.
 */
int64_t nnb__window_slide(int32_t scheme, uint32_t in, uint32_t filter, int32_t stride, uint32_t *head, uint32_t *tail);

/* ---- reading a view ---- */

/* The number of elements, saturating; 0 if a dimension is 0, however large the others are. */
static inline uint64_t nnb__shape_elements(const struct nnb_shape *s)
{
	bool overflows = false;
	uint64_t n = 1;

	assert(s->rank <= NNB_RANK_MAX);
	for (uint32_t d = 0; d < s->rank; d++) {
		if (s->dims[d] == 0)
			return 0;
		overflows = __builtin_mul_overflow(n, s->dims[d], &n) || overflows;
	}
	return overflows ? UINT64_MAX : n;
}

static inline const struct nnb_shape *nnb__in(const struct nnb__op_view *v, uint32_t k)
{
	return v->image && k == 0 ? v->image : &v->shapes[v->op->inputs[k]];
}

/* The value of input @k; NULL: unknown, or the operation has no such input. */
static inline const void *nnb__in_value(const struct nnb__op_view *v, uint32_t k)
{
	return v->constants && k < v->op->n_inputs ? v->constants[v->op->inputs[k]] : NULL;
}

static inline uint32_t nnb__in_type(const struct nnb__op_view *v, uint32_t k)
{
	return v->model->operands[v->op->inputs[k]].type;
}

/* Read a scalar input. False: its value is not known. */
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

/* Read a FLOAT32 or FLOAT16 scalar. False: its value is not known. */
static inline bool nnb__in_real(const struct nnb__op_view *v, uint32_t k, float *ret)
{
	const void *value = nnb__in_value(v, k);

	if (value)
		*ret = nnb__in_type(v, k) == NNB_FLOAT16 ? nnb_half_to_float(*(const uint16_t *)value)
		                                         : *(const float *)value;
	return value != NULL;
}

/*
 * The view with its image converted to channels last. @image stores the converted shape. 0; -ENODATA: the layout is not
 * known.
 */
int nnb__op_image(const struct nnb__op_view *view, struct nnb_shape *image, struct nnb__op_view *ret);

#endif

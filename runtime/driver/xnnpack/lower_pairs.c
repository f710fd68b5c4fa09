/* lower_pairs.c -- operations of two operands element by element, and of one with a constant for each channel. */
#include <math.h>

#include "lowering.h"

enum nnb_status nnbx_run_pairs(const struct site *s)
{
	const struct nnb_shape *a = in_shape(s, 0), *b = in_shape(s, 1);
	uint32_t fused = (uint32_t)in_i32(s, 2);
	struct nnbx_pairing p;
	bool adds = s->op->type == NNB_ADD;
	float min, max;

	if (!nnbx_pairing(a->rank, a->dims, b->rank, b->dims, &p))
		return NNB_STATUS_GENERAL_FAILURE;
	if (is_quant(in_operand(s, 0))) {
		struct nnbx_quants q = quants_of(s, fused);

		(adds ? nnbx_add_q8 : nnbx_mul_q8)(&p, &q, in_at(s, 0), in_at(s, 1), out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	if (in_operand(s, 0)->type == NNB_TENSOR_INT32) {
		(adds ? nnbx_add_i32 : nnbx_mul_i32)(&p, in_at(s, 0), in_at(s, 1), out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(fused, &min, &max);
	(adds ? nnbx_add_f32 : nnbx_mul_f32)(&p, in_at(s, 0), in_at(s, 1), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

/* ---- XNNPACK's ---- */

/* XNNPACK's variants of each operation: float32, quant8, quant8 signed. */
enum kind { REALS, BYTES, SIGNED_BYTES, N_KINDS };

static enum kind kind_of(const struct site *s)
{
	switch (in_operand(s, 0)->type) {
	case NNB_TENSOR_FLOAT32:
		return REALS;
	case NNB_TENSOR_QUANT8_ASYMM:
		return BYTES;
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
		return SIGNED_BYTES;
	default:
		return N_KINDS;
	}
}

typedef enum xnn_status setup_pairs_fn(xnn_operator_t xnn, size_t a_rank, const size_t *a, size_t b_rank,
                                       const size_t *b, const void *a_at, const void *b_at, void *out);

#define SETUP_PAIRS(name, xnn_setup)                                                                   \
	static enum xnn_status name(xnn_operator_t xnn, size_t a_rank, const size_t *a, size_t b_rank, \
	                            const size_t *b, const void *a_at, const void *b_at, void *out)    \
	{                                                                                              \
		return xnn_setup(xnn, a_rank, a, b_rank, b, a_at, b_at, out, NULL);                    \
	}

SETUP_PAIRS(setup_add_f32, xnn_setup_add_nd_f32)
SETUP_PAIRS(setup_add_q8, xnn_setup_add_nd_qu8)
SETUP_PAIRS(setup_add_s8, xnn_setup_add_nd_qs8)
SETUP_PAIRS(setup_mul_f32, xnn_setup_multiply_nd_f32)
SETUP_PAIRS(setup_mul_q8, xnn_setup_multiply_nd_qu8)
SETUP_PAIRS(setup_mul_s8, xnn_setup_multiply_nd_qs8)
SETUP_PAIRS(setup_sub_f32, xnn_setup_subtract_nd_f32)
SETUP_PAIRS(setup_sub_q8, xnn_setup_subtract_nd_qu8)
SETUP_PAIRS(setup_sub_s8, xnn_setup_subtract_nd_qs8)
SETUP_PAIRS(setup_div_f32, xnn_setup_divide_nd_f32)
SETUP_PAIRS(setup_max_f32, xnn_setup_maximum_nd_f32)
SETUP_PAIRS(setup_min_f32, xnn_setup_minimum_nd_f32)

static const struct pair_setups {
	uint32_t op;
	setup_pairs_fn *of[N_KINDS];
} pair_setups[] = {
	{ NNB_ADD, { setup_add_f32, setup_add_q8, setup_add_s8 } },
	{ NNB_MUL, { setup_mul_f32, setup_mul_q8, setup_mul_s8 } },
	{ NNB_SUB, { setup_sub_f32, setup_sub_q8, setup_sub_s8 } },
	{ NNB_DIV, { setup_div_f32, NULL, NULL } },
	{ NNB_MAXIMUM, { setup_max_f32, NULL, NULL } },
	{ NNB_MINIMUM, { setup_min_f32, NULL, NULL } },
};

/* NULL: XNNPACK has none. */
static setup_pairs_fn *setup_of(const struct site *s)
{
	enum kind kind = kind_of(s);

	for (size_t i = 0; kind != N_KINDS && i < sizeof(pair_setups) / sizeof(pair_setups[0]); i++)
		if (pair_setups[i].op == s->op->type)
			return pair_setups[i].of[kind];
	return NULL;
}

/* With its dimensions as XNNPACK wants them. Rank 0 there is none here. */
static size_t dims_of(const struct nnb_shape *shape, size_t ret[XNN_MAX_TENSOR_DIMS])
{
	for (uint32_t d = 0; d < shape->rank; d++)
		ret[d] = shape->dims[d];
	return shape->rank;
}

static enum xnn_status setup_pairs(xnn_operator_t xnn, const struct site *s)
{
	size_t a[XNN_MAX_TENSOR_DIMS], b[XNN_MAX_TENSOR_DIMS];
	size_t a_rank = dims_of(in_shape(s, 0), a), b_rank = dims_of(in_shape(s, 1), b);

	return setup_of(s)(xnn, a_rank, a, b_rank, b, in_at(s, 0), in_at(s, 1), out_at(s, 0));
}

enum { PAIRS_PART = NNBX_TILE_WORK / 32 }; /* elements */

static bool pairing_of(const struct site *s, struct nnbx_pairing *ret)
{
	const struct nnb_shape *a = in_shape(s, 0), *b = in_shape(s, 1);

	return nnbx_pairing(a->rank, a->dims, b->rank, b->dims, ret);
}

/* To XNNPACK both tensors are one run of elements, which is its tile. */
static enum xnn_status run_pairs_in_parts(xnn_operator_t xnn, const struct site *s)
{
	enum xnn_status status = xnn_status_success;
	struct nnbx_pairing p;

	if (!pairing_of(s, &p))
		return xnn_status_invalid_parameter;
	for (size_t at = 0, n; !status && at < p.dims[0]; at += n) {
		size_t elem, a, b;

		n = p.dims[0] - at < PAIRS_PART ? p.dims[0] - at : PAIRS_PART;
		if (!nnbx_worked(n))
			break;
		nnbx_work.tile = 0; /* the check was made */
		elem = kind_of(s) == REALS ? sizeof(float) : 1;
		a = p.a_step[0] ? n : 1;
		b = p.b_step[0] ? n : 1;
		status = setup_of(s)(xnn, 1, &a, 1, &b, (const char *)in_at(s, 0) + at * p.a_step[0] * elem,
		                     (const char *)in_at(s, 1) + at * p.b_step[0] * elem,
		                     (char *)out_at(s, 0) + at * elem);
		if (!status)
			status = xnn_run_operator(xnn, NULL);
	}
	return status;
}

/* Is XNNPACK to have it? A long run that is not all there is goes to the kernel. */
static bool can_pair(struct step *step, const struct site *s)
{
	struct nnbx_pairing p;

	if (!setup_of(s) || out_shape(s, 0)->rank > XNN_MAX_TENSOR_DIMS || !pairing_of(s, &p))
		return false;
	step->setup = setup_pairs;
	if (p.rank == 1 && p.dims[0] > PAIRS_PART)
		step->run_in_parts = run_pairs_in_parts;
	return p.rank == 1 || p.dims[0] <= NNBX_TILE_WORK;
}

static enum xnn_status create_reals(struct step *step, const struct site *s)
{
	float min = -INFINITY, max = INFINITY;

	if (s->op->n_inputs > 2)
		nnb_fused_range((uint32_t)in_i32(s, 2), &min, &max);
	switch (s->op->type) {
	case NNB_ADD:
		return xnn_create_add_nd_f32(min, max, 0, &step->xnn);
	case NNB_MUL:
		return xnn_create_multiply_nd_f32(min, max, 0, &step->xnn);
	case NNB_SUB:
		return xnn_create_subtract_nd_f32(min, max, 0, &step->xnn);
	case NNB_DIV:
		return xnn_create_divide_nd_f32(min, max, 0, &step->xnn);
	case NNB_MAXIMUM:
		return xnn_create_maximum_nd_f32(0, &step->xnn);
	default:
		return xnn_create_minimum_nd_f32(0, &step->xnn);
	}
}

typedef enum xnn_status create_bytes_fn(uint8_t a_zero, float a_scale, uint8_t b_zero, float b_scale, uint8_t out_zero,
                                        float out_scale, uint8_t min, uint8_t max, uint32_t flags, xnn_operator_t *ret);
typedef enum xnn_status create_signed_fn(int8_t a_zero, float a_scale, int8_t b_zero, float b_scale, int8_t out_zero,
                                         float out_scale, int8_t min, int8_t max, uint32_t flags, xnn_operator_t *ret);

static enum xnn_status create_bytes(struct step *step, const struct site *s)
{
	create_bytes_fn *create = s->op->type == NNB_ADD   ? xnn_create_add_nd_qu8
	                          : s->op->type == NNB_MUL ? xnn_create_multiply_nd_qu8
	                                                   : xnn_create_subtract_nd_qu8;
	struct nnbx_quants q = quants_of(s, (uint32_t)in_i32(s, 2));

	return create((uint8_t)q.a.zero_point, q.a.scale, (uint8_t)q.b.zero_point, q.b.scale, (uint8_t)q.out.zero_point,
	              q.out.scale, q.min, q.max, 0, &step->xnn);
}

static enum xnn_status create_signed_bytes(struct step *step, const struct site *s)
{
	create_signed_fn *create = s->op->type == NNB_ADD   ? xnn_create_add_nd_qs8
	                           : s->op->type == NNB_MUL ? xnn_create_multiply_nd_qs8
	                                                    : xnn_create_subtract_nd_qs8;
	struct nnbx_quants q = quants_of(s, NNB_FUSED_NONE);
	int8_t min, max;

	nnbx_signed_range(q.out, (uint32_t)in_i32(s, 2), &min, &max);
	return create((int8_t)q.a.zero_point, q.a.scale, (int8_t)q.b.zero_point, q.b.scale, (int8_t)q.out.zero_point,
	              q.out.scale, min, max, 0, &step->xnn);
}

enum xnn_status nnbx_create_pairs(struct step *step, const struct site *s)
{
	if (!can_pair(step, s))
		return xnn_status_unsupported_parameter;
	switch (kind_of(s)) {
	case REALS:
		return create_reals(step, s);
	case BYTES:
		return create_bytes(step, s);
	default:
		return create_signed_bytes(step, s);
	}
}

/* ---- PRELU ---- */

static enum xnn_status setup_prelu(xnn_operator_t xnn, const struct site *s)
{
	return xnn_setup_prelu_nc_f32(xnn, shape_elements(in_shape(s, 0)) / last_dim(in_shape(s, 0)), in_at(s, 0),
	                              out_at(s, 0), NULL);
}

/* For float32, if the slopes are a constant for each channel. */
enum xnn_status nnbx_create_prelu(struct step *step, const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0), *slopes = in_shape(s, 1);
	size_t channels = last_dim(in);

	if (kind_of(s) != REALS || !in_is_constant(s, 1) || slopes->rank > in->rank || last_dim(slopes) != channels ||
	    shape_elements(slopes) != channels || channels > NNBX_TILE_WORK / 64)
		return xnn_status_unsupported_parameter;
	step->threads = shape_elements(in) / (NNBX_TILE_WORK / 4) + 1;
	step->setup = setup_prelu;
	return xnn_create_prelu_nc_f32(channels, channels, channels, in_at(s, 1), 0, &step->xnn);
}

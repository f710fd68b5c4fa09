/* lower_elementwise.c -- operations element by element, and along an axis. */
#include <math.h>

#include "lowering.h"

static size_t elements(const struct site *s)
{
	return shape_elements(in_shape(s, 0));
}

/* Rows along an axis, and how far apart their elements are (kernels.h). */
struct rows {
	size_t n, size, step;
};

/* Along the axis that input @k names, counted from the end below 0; without one, the last. */
static struct rows rows_along(const struct site *s, uint32_t k)
{
	const struct nnb_shape *shape = in_shape(s, 0);
	int32_t axis = k < s->op->n_inputs ? in_i32(s, k) : -1;
	uint32_t from = (uint32_t)(axis < 0 ? axis + (int32_t)shape->rank : axis);
	struct rows r = { .size = shape->dims[from], .step = 1 };

	for (uint32_t d = from + 1; d < shape->rank; d++)
		r.step *= shape->dims[d];
	r.n = r.size ? elements(s) / r.size : 0;
	return r;
}

/* ---- two operands ---- */

/* With its dimensions as XNNPACK wants them. Rank 0 there is none here. */
static size_t dims_of(const struct nnb_shape *shape, size_t ret[XNN_MAX_TENSOR_DIMS])
{
	for (uint32_t d = 0; d < shape->rank; d++)
		ret[d] = shape->dims[d];
	return shape->rank;
}

static bool fits_xnnpack(const struct site *s)
{
	return out_shape(s, 0)->rank <= XNN_MAX_TENSOR_DIMS;
}

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

/* All four operators of two operands are set up alike. */
#define SETUP_PAIRS(name, xnn_setup)                                                                       \
	static enum xnn_status name(xnn_operator_t xnn, const struct site *s)                              \
	{                                                                                                  \
		size_t a[XNN_MAX_TENSOR_DIMS], b[XNN_MAX_TENSOR_DIMS];                                     \
		size_t a_rank = dims_of(in_shape(s, 0), a), b_rank = dims_of(in_shape(s, 1), b);           \
                                                                                                           \
		return xnn_setup(xnn, a_rank, a, b_rank, b, in_at(s, 0), in_at(s, 1), out_at(s, 0), NULL); \
	}

SETUP_PAIRS(setup_add_f32, xnn_setup_add_nd_f32)
SETUP_PAIRS(setup_add_q8, xnn_setup_add_nd_qu8)
SETUP_PAIRS(setup_mul_f32, xnn_setup_multiply_nd_f32)
SETUP_PAIRS(setup_mul_q8, xnn_setup_multiply_nd_qu8)

enum { PAIRS_PART = NNBX_TILE_WORK / 4 }; /* elements */

static enum xnn_status setup_pairs_part(xnn_operator_t xnn, const struct site *s, const struct nnbx_pairing *p,
                                        size_t at, size_t n)
{
	size_t elem = is_quant(in_operand(s, 0)) ? 1 : sizeof(float);
	size_t a = p->a_step[0] ? n : 1, b = p->b_step[0] ? n : 1;
	const void *a_at = (const char *)in_at(s, 0) + at * p->a_step[0] * elem;
	const void *b_at = (const char *)in_at(s, 1) + at * p->b_step[0] * elem;
	void *out = (char *)out_at(s, 0) + at * elem;
	bool adds = s->op->type == NNB_ADD;

	if (is_quant(in_operand(s, 0)))
		return (adds ? xnn_setup_add_nd_qu8 : xnn_setup_multiply_nd_qu8)(xnn, 1, &a, 1, &b, a_at, b_at, out,
		                                                                 NULL);
	return (adds ? xnn_setup_add_nd_f32 : xnn_setup_multiply_nd_f32)(xnn, 1, &a, 1, &b, a_at, b_at, out, NULL);
}

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
		n = p.dims[0] - at < PAIRS_PART ? p.dims[0] - at : PAIRS_PART;
		if (!nnbx_worked(n))
			break;
		nnbx_work.tile = 0; /* that was the look */
		status = setup_pairs_part(xnn, s, &p, at, n);
		if (!status)
			status = xnn_run_operator(xnn, NULL);
	}
	return status;
}

/* Is XNNPACK to have it? A long run that is not all there is goes to the kernel. */
static bool can_pair(struct step *step, const struct site *s)
{
	struct nnbx_pairing p;

	if (in_operand(s, 0)->type == NNB_TENSOR_INT32 || !fits_xnnpack(s) || !pairing_of(s, &p))
		return false;
	if (p.dims[0] <= NNBX_TILE_WORK)
		return true;
	step->run_in_parts = p.rank == 1 ? run_pairs_in_parts : NULL;
	return p.rank == 1;
}

enum xnn_status nnbx_create_add(struct step *step, const struct site *s)
{
	uint32_t fused = (uint32_t)in_i32(s, 2);
	struct nnbx_quants q;
	float min, max;

	if (!can_pair(step, s))
		return xnn_status_unsupported_parameter;
	if (!is_quant(in_operand(s, 0))) {
		nnb_fused_range(fused, &min, &max);
		step->setup = setup_add_f32;
		return xnn_create_add_nd_f32(min, max, 0, &step->xnn);
	}
	q = quants_of(s, fused);
	step->setup = setup_add_q8;
	return xnn_create_add_nd_qu8((uint8_t)q.a.zero_point, q.a.scale, (uint8_t)q.b.zero_point, q.b.scale,
	                             (uint8_t)q.out.zero_point, q.out.scale, q.min, q.max, 0, &step->xnn);
}

enum xnn_status nnbx_create_mul(struct step *step, const struct site *s)
{
	uint32_t fused = (uint32_t)in_i32(s, 2);
	struct nnbx_quants q;
	float min, max;

	if (!can_pair(step, s))
		return xnn_status_unsupported_parameter;
	if (!is_quant(in_operand(s, 0))) {
		nnb_fused_range(fused, &min, &max);
		step->setup = setup_mul_f32;
		return xnn_create_multiply_nd_f32(min, max, 0, &step->xnn);
	}
	q = quants_of(s, fused);
	step->setup = setup_mul_q8;
	return xnn_create_multiply_nd_qu8((uint8_t)q.a.zero_point, q.a.scale, (uint8_t)q.b.zero_point, q.b.scale,
	                                  (uint8_t)q.out.zero_point, q.out.scale, q.min, q.max, 0, &step->xnn);
}

/* ---- one operand: to XNNPACK, a batch of single channels ---- */

#define SETUP_EACH(name, xnn_setup)                                                  \
	static enum xnn_status name(xnn_operator_t xnn, const struct site *s)        \
	{                                                                            \
		return xnn_setup(xnn, elements(s), in_at(s, 0), out_at(s, 0), NULL); \
	}

SETUP_EACH(setup_clamp_f32, xnn_setup_clamp_nc_f32)
SETUP_EACH(setup_clamp_q8, xnn_setup_clamp_nc_u8)
SETUP_EACH(setup_floor, xnn_setup_floor_nc_f32)
SETUP_EACH(setup_logistic_f32, xnn_setup_sigmoid_nc_f32)
SETUP_EACH(setup_logistic_q8, xnn_setup_sigmoid_nc_qu8)
SETUP_EACH(setup_tanh_q8, xnn_setup_tanh_nc_qu8)
SETUP_EACH(setup_dequantize, xnn_setup_convert_nc_qu8_f32)

/* For one thread all is one tile; for two a tile has 4 KiB. */
static void divide(struct step *step, const struct site *s)
{
	if (elements(s) <= NNBX_TILE_WORK / 4)
		return;
	step->threads = 2;
	step->tile_units = 4096;
}

static uint32_t fused_of(const struct site *s)
{
	switch (s->op->type) {
	case NNB_RELU:
		return NNB_FUSED_RELU;
	case NNB_RELU1:
		return NNB_FUSED_RELU1;
	default:
		return NNB_FUSED_RELU6;
	}
}

enum nnb_status nnbx_run_relu(const struct site *s)
{
	uint8_t qmin, qmax;
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		nnbx_quant_range(quant_of(out_operand(s, 0)), fused_of(s), &qmin, &qmax);
		nnbx_clamp_q8(elements(s), in_at(s, 0), qmin, qmax, out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(fused_of(s), &min, &max);
	nnbx_clamp_f32(elements(s), in_at(s, 0), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_relu(struct step *step, const struct site *s)
{
	uint8_t qmin, qmax;
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		nnbx_quant_range(quant_of(out_operand(s, 0)), fused_of(s), &qmin, &qmax);
		step->setup = setup_clamp_q8;
		divide(step, s);
		return xnn_create_clamp_nc_u8(1, 1, 1, qmin, qmax, 0, &step->xnn);
	}
	nnb_fused_range(fused_of(s), &min, &max);
	step->setup = setup_clamp_f32;
	divide(step, s);
	return xnn_create_clamp_nc_f32(1, 1, 1, min, max, 0, &step->xnn);
}

enum nnb_status nnbx_run_floor(const struct site *s)
{
	nnbx_floor_f32(elements(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_floor(struct step *step, const struct site *s)
{
	step->setup = setup_floor;
	divide(step, s);
	return xnn_create_floor_nc_f32(1, 1, 1, 0, &step->xnn);
}

enum nnb_status nnbx_run_logistic(const struct site *s)
{
	if (is_quant(in_operand(s, 0)))
		nnbx_logistic_q8(elements(s), quant_of(in_operand(s, 0)), in_at(s, 0), out_at(s, 0));
	else
		nnbx_logistic_f32(elements(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_logistic(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	if (is_quant(in_operand(s, 0))) {
		step->setup = setup_logistic_q8;
		divide(step, s);
		return xnn_create_sigmoid_nc_qu8(1, 1, 1, (uint8_t)q.zero_point, q.scale, 0, 1.0f / 256, 0, 255, 0,
		                                 &step->xnn);
	}
	step->setup = setup_logistic_f32;
	divide(step, s);
	return xnn_create_sigmoid_nc_f32(1, 1, 1, 0, &step->xnn);
}

enum nnb_status nnbx_run_tanh(const struct site *s)
{
	if (is_quant(in_operand(s, 0)))
		nnbx_tanh_q8(elements(s), quant_of(in_operand(s, 0)), in_at(s, 0), out_at(s, 0));
	else
		nnbx_tanh_f32(elements(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

/* XNNPACK has it for quant8 only. */
enum xnn_status nnbx_create_tanh(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	if (!is_quant(in_operand(s, 0)))
		return xnn_status_unsupported_parameter;
	step->setup = setup_tanh_q8;
	divide(step, s);
	return xnn_create_tanh_nc_qu8(1, 1, 1, (uint8_t)q.zero_point, q.scale, 128, 1.0f / 128, 0, 255, 0, &step->xnn);
}

/* Slice by slice of the channels' dimension. */
static void dequantize_channels(const struct site *s, const float *scales)
{
	const struct nnb_operand *o = in_operand(s, 0);
	const struct nnb_shape *shape = in_shape(s, 0);
	const uint8_t *in = in_at(s, 0);
	size_t slice = 1, slices = 1;
	float *out = out_at(s, 0);

	for (uint32_t d = 0; d < shape->rank; d++)
		*(d > o->channel_dim ? &slice : &slices) *= shape->dims[d];
	for (size_t i = 0; i < slices && nnbx_worked(1); i++, in += slice, out += slice)
		nnbx_dequantize_q8(slice, (struct nnbx_quant){ scales[i % o->n_scales], o->zero_point }, in, out);
}

enum nnb_status nnbx_run_dequantize(const struct site *s)
{
	const float *scales = nnb_operand_scales(s->graph->model, in_operand(s, 0));

	if (scales)
		dequantize_channels(s, scales);
	else
		nnbx_dequantize_q8(elements(s), quant_of(in_operand(s, 0)), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_dequantize(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	if (in_operand(s, 0)->n_scales)
		return xnn_status_unsupported_parameter;
	step->setup = setup_dequantize;
	divide(step, s);
	return xnn_create_convert_nc_qu8_f32(1, 1, 1, q.scale, (uint8_t)q.zero_point, 0, &step->xnn);
}

/* ---- along an axis ---- */

enum nnb_status nnbx_run_softmax(const struct site *s)
{
	struct rows r = rows_along(s, 2);

	if (is_quant(in_operand(s, 0)))
		nnbx_softmax_q8(r.n, r.size, r.step, quant_of(in_operand(s, 0)), in_f32(s, 1), in_at(s, 0),
		                out_at(s, 0));
	else
		nnbx_softmax_f32(r.n, r.size, r.step, in_f32(s, 1), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

static enum xnn_status setup_softmax_f32(xnn_operator_t xnn, const struct site *s)
{
	return xnn_setup_softmax_nc_f32(xnn, rows_along(s, 2).n, in_at(s, 0), out_at(s, 0), NULL);
}

static enum xnn_status setup_softmax_q8(xnn_operator_t xnn, const struct site *s)
{
	return xnn_setup_softmax_nc_qu8(xnn, rows_along(s, 2).n, in_at(s, 0), out_at(s, 0), NULL);
}

/*
 * Beta is a part of a quantised input's scale; of a float's XNNPACK knows nothing. A quantised input is read twice, for
 * its greatest value and as an index below that one: it must be one that nobody else can write.
 */
enum xnn_status nnbx_create_softmax(struct step *step, const struct site *s)
{
	struct rows r = rows_along(s, 2);
	size_t size = r.size;
	float beta = in_f32(s, 1);

	if (r.step > 1 || size > NNBX_TILE_WORK / 4) /* a row is XNNPACK's tile */
		return xnn_status_unsupported_parameter;
	if (is_quant(in_operand(s, 0))) {
		if (in_operand(s, 0)->lifetime != NNB_TEMPORARY)
			return xnn_status_unsupported_parameter;
		step->setup = setup_softmax_q8;
		return xnn_create_softmax_nc_qu8(size, size, size, in_operand(s, 0)->scale * beta, 0, 1.0f / 256, 0,
		                                 &step->xnn);
	}
	if (beta != 1)
		return xnn_status_unsupported_parameter;
	step->setup = setup_softmax_f32;
	return xnn_create_softmax_nc_f32(size, size, size, 0, &step->xnn);
}

enum nnb_status nnbx_run_l2_normalization(const struct site *s)
{
	struct rows r = rows_along(s, 1);

	if (is_quant(in_operand(s, 0)))
		nnbx_l2_normalization_q8(r.n, r.size, r.step, in_operand(s, 0)->zero_point, in_at(s, 0), out_at(s, 0));
	else
		nnbx_l2_normalization_f32(r.n, r.size, r.step, in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_local_response_normalization(const struct site *s)
{
	struct rows r = rows_along(s, 5);

	nnbx_local_response_normalization_f32(r.n, r.size, r.step, (uint32_t)in_i32(s, 1), in_f32(s, 2), in_f32(s, 3),
	                                      in_f32(s, 4), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

/* lower_elementwise.c -- operations of one operand element by element, and along an axis. */
#include <math.h>

#include "lowering.h"

static size_t input_elements(const struct site *s)
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
	r.n = r.size ? input_elements(s) / r.size : 0;
	return r;
}

/* ---- one operand: to XNNPACK, a batch of single channels ---- */

#define SETUP_EACH(name, xnn_setup)                                                        \
	static enum xnn_status name(xnn_operator_t xnn, const struct site *s)              \
	{                                                                                  \
		return xnn_setup(xnn, input_elements(s), in_at(s, 0), out_at(s, 0), NULL); \
	}

SETUP_EACH(setup_clamp_f32, xnn_setup_clamp_nc_f32)
SETUP_EACH(setup_clamp_q8, xnn_setup_clamp_nc_u8)
SETUP_EACH(setup_clamp_s8, xnn_setup_clamp_nc_s8)
SETUP_EACH(setup_floor, xnn_setup_floor_nc_f32)
SETUP_EACH(setup_logistic_f32, xnn_setup_sigmoid_nc_f32)
SETUP_EACH(setup_logistic_q8, xnn_setup_sigmoid_nc_qu8)
SETUP_EACH(setup_logistic_s8, xnn_setup_sigmoid_nc_qs8)
SETUP_EACH(setup_tanh_q8, xnn_setup_tanh_nc_qu8)
SETUP_EACH(setup_tanh_s8, xnn_setup_tanh_nc_qs8)
SETUP_EACH(setup_dequantize, xnn_setup_convert_nc_qu8_f32)
SETUP_EACH(setup_dequantize_s8, xnn_setup_convert_nc_qs8_f32)
SETUP_EACH(setup_abs, xnn_setup_abs_nc_f32)
SETUP_EACH(setup_neg, xnn_setup_negate_nc_f32)
SETUP_EACH(setup_sqrt, xnn_setup_square_root_nc_f32)
SETUP_EACH(setup_elu, xnn_setup_elu_nc_f32)
SETUP_EACH(setup_hard_swish, xnn_setup_hardswish_nc_f32)
SETUP_EACH(setup_quantize_q8, xnn_setup_convert_nc_f32_qu8)
SETUP_EACH(setup_quantize_s8, xnn_setup_convert_nc_f32_qs8)

/* For one thread all is one tile; for two a tile has 4 KiB. */
static void step_divide(struct step *step, const struct site *s)
{
	if (input_elements(s) <= NNBX_TILE_WORK / 4)
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
		nnbx_clamp_q8(input_elements(s), in_at(s, 0), qmin, qmax, out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(fused_of(s), &min, &max);
	nnbx_clamp_f32(input_elements(s), in_at(s, 0), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_relu(struct step *step, const struct site *s)
{
	uint8_t qmin, qmax;
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		nnbx_quant_range(quant_of(out_operand(s, 0)), fused_of(s), &qmin, &qmax);
		step->setup = setup_clamp_q8;
		step_divide(step, s);
		return xnn_create_clamp_nc_u8(1, 1, 1, qmin, qmax, 0, &step->xnn);
	}
	nnb_fused_range(fused_of(s), &min, &max);
	step->setup = setup_clamp_f32;
	step_divide(step, s);
	return xnn_create_clamp_nc_f32(1, 1, 1, min, max, 0, &step->xnn);
}

enum xnn_status nnbx_create_relu_signed(struct step *step, const struct site *s)
{
	int8_t min, max;

	nnbx_signed_range(quant_of(out_operand(s, 0)), fused_of(s), &min, &max);
	step->setup = setup_clamp_s8;
	step_divide(step, s);
	return xnn_create_clamp_nc_s8(1, 1, 1, min, max, 0, &step->xnn);
}

enum nnb_status nnbx_run_floor(const struct site *s)
{
	nnbx_floor_f32(input_elements(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_floor(struct step *step, const struct site *s)
{
	step->setup = setup_floor;
	step_divide(step, s);
	return xnn_create_floor_nc_f32(1, 1, 1, 0, &step->xnn);
}

enum nnb_status nnbx_run_logistic(const struct site *s)
{
	if (is_quant(in_operand(s, 0)))
		nnbx_logistic_q8(input_elements(s), quant_of(in_operand(s, 0)), in_at(s, 0), out_at(s, 0));
	else
		nnbx_logistic_f32(input_elements(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_logistic(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	if (is_quant(in_operand(s, 0))) {
		step->setup = setup_logistic_q8;
		step_divide(step, s);
		return xnn_create_sigmoid_nc_qu8(1, 1, 1, (uint8_t)q.zero_point, q.scale, 0, 1.0f / 256, 0, 255, 0,
		                                 &step->xnn);
	}
	step->setup = setup_logistic_f32;
	step_divide(step, s);
	return xnn_create_sigmoid_nc_f32(1, 1, 1, 0, &step->xnn);
}

enum xnn_status nnbx_create_logistic_signed(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	step->setup = setup_logistic_s8;
	step_divide(step, s);
	return xnn_create_sigmoid_nc_qs8(1, 1, 1, (int8_t)q.zero_point, q.scale, -128, 1.0f / 256, -128, 127, 0,
	                                 &step->xnn);
}

enum nnb_status nnbx_run_tanh(const struct site *s)
{
	if (is_quant(in_operand(s, 0)))
		nnbx_tanh_q8(input_elements(s), quant_of(in_operand(s, 0)), in_at(s, 0), out_at(s, 0));
	else
		nnbx_tanh_f32(input_elements(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

/* XNNPACK has it for quant8 only. */
enum xnn_status nnbx_create_tanh(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	if (!is_quant(in_operand(s, 0)))
		return xnn_status_unsupported_parameter;
	step->setup = setup_tanh_q8;
	step_divide(step, s);
	return xnn_create_tanh_nc_qu8(1, 1, 1, (uint8_t)q.zero_point, q.scale, 128, 1.0f / 128, 0, 255, 0, &step->xnn);
}

enum xnn_status nnbx_create_tanh_signed(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	step->setup = setup_tanh_s8;
	step_divide(step, s);
	return xnn_create_tanh_nc_qs8(1, 1, 1, (int8_t)q.zero_point, q.scale, 0, 1.0f / 128, -128, 127, 0, &step->xnn);
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
		nnbx_dequantize_q8(input_elements(s), quant_of(in_operand(s, 0)), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_dequantize(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	if (in_operand(s, 0)->n_scales)
		return xnn_status_unsupported_parameter;
	step->setup = setup_dequantize;
	step_divide(step, s);
	return xnn_create_convert_nc_qu8_f32(1, 1, 1, q.scale, (uint8_t)q.zero_point, 0, &step->xnn);
}

enum xnn_status nnbx_create_dequantize_signed(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(in_operand(s, 0));

	if (out_operand(s, 0)->type != NNB_TENSOR_FLOAT32) /* other types are passed on unchanged */
		return xnn_status_unsupported_parameter;
	step->setup = setup_dequantize_s8;
	step_divide(step, s);
	return xnn_create_convert_nc_qs8_f32(1, 1, 1, q.scale, (int8_t)q.zero_point, 0, &step->xnn);
}

/* For operations of nnbx_run_each that XNNPACK has for float32. */
enum xnn_status nnbx_create_each(struct step *step, const struct site *s)
{
	if (in_operand(s, 0)->type != NNB_TENSOR_FLOAT32)
		return xnn_status_unsupported_parameter;
	step_divide(step, s);
	switch (s->op->type) {
	case NNB_ABS:
		step->setup = setup_abs;
		return xnn_create_abs_nc_f32(1, 1, 1, 0, &step->xnn);
	case NNB_NEG:
		step->setup = setup_neg;
		return xnn_create_negate_nc_f32(1, 1, 1, 0, &step->xnn);
	case NNB_SQRT:
		step->setup = setup_sqrt;
		return xnn_create_square_root_nc_f32(1, 1, 1, 0, &step->xnn);
	case NNB_ELU:
		step->setup = setup_elu;
		return xnn_create_elu_nc_f32(1, 1, 1, in_f32(s, 1), 0, &step->xnn);
	default:
		step->setup = setup_hard_swish;
		return xnn_create_hardswish_nc_f32(1, 1, 1, 0, &step->xnn);
	}
}

/* From float32 to bytes. */
enum xnn_status nnbx_create_quantize(struct step *step, const struct site *s)
{
	struct nnbx_quant q = quant_of(out_operand(s, 0));

	if (in_operand(s, 0)->type != NNB_TENSOR_FLOAT32 || out_operand(s, 0)->type == NNB_TENSOR_FLOAT32)
		return xnn_status_unsupported_parameter;
	step_divide(step, s);
	if (is_quant(out_operand(s, 0))) {
		step->setup = setup_quantize_q8;
		return xnn_create_convert_nc_f32_qu8(1, 1, 1, q.scale, (uint8_t)q.zero_point, 0, 255, 0, &step->xnn);
	}
	step->setup = setup_quantize_s8;
	return xnn_create_convert_nc_f32_qs8(1, 1, 1, q.scale, (int8_t)q.zero_point, -128, 127, 0, &step->xnn);
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
 * The beta of a quantised input becomes a part of its scale; for floats XNNPACK has no beta. A quantised input is
 * read twice, for its greatest value and as an index below that one: so its memory must not be writable by others.
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

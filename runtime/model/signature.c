/* signature.c -- the number and types of each operation's operands, and the relations between their quantisations. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/ops.h"
#include "model/reason.h"

/*
 * A form is a string with one letter for each operand:
 *   i, u, f, h, b         INT32, UINT32, FLOAT32, FLOAT16 and BOOL scalars
 *   F, H, I, B            float32, float16, int32 and bool8 tensors
 *   Q, S, Y, C            quant8 tensors: asymmetric, asymmetric signed, symmetric, symmetric by channel
 *   W, A                  quant16 tensors: symmetric, asymmetric
 *   *                     any tensor
 *   G                     a subgraph
 *   .                     any operand
 *   x, y                  one of the types in the row's "x" or "y", the same for every x, and for every y
 *   w                     weights of x: x, or C where x is Q or S
 *   a                     the addend of sums of products of x: x, or I where x is Q or S
 *   r                     a real scalar as precise as x: h where x is H, otherwise f
 *   ?                     the operand before may be omitted (no value)
 *   +                     the operand before may be repeated
 *   ;                     operands from here on may be missing, up to here or to a later ;
 *   1, 2, 3 in x and y    the types that follow are for HAL 1.1, 1.2, 1.3 and later
 * An operation has a row for each form. "since" is the first HAL with that form. The first form that matches is used.
 */
struct signature {
	uint32_t op, since;
	const char *x, *y;
	const char *inputs, *outputs;
	int (*relations)(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);
};

static const struct nnb_operand *input_of(const struct nnb_model *m, const struct nnb_operation *op, uint32_t k)
{
	return &m->operands[op->inputs[k]];
}

static const struct nnb_operand *output_of(const struct nnb_model *m, const struct nnb_operation *op, uint32_t k)
{
	return &m->operands[op->outputs[k]];
}

/* ---- relations between quantisations ---- */

static bool is_quant(const struct nnb_operand *o)
{
	return o->type == NNB_TENSOR_QUANT8_ASYMM || o->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED;
}

static int quantised_as(const struct nnb_operand *o, float scale, int32_t zero_point, struct nnb_reason *reason)
{
	if (!is_quant(o) || (o->scale == scale && o->zero_point == zero_point))
		return 0;
	nnb_because(reason, "the output is quantised by %g and %d, not by %g and %d", (double)o->scale, o->zero_point,
	            (double)scale, zero_point);
	return -EINVAL;
}

/* Require that output 0 has the quantisation of the input that it is taken from. */
static int keeps_quantisation(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return quantised_as(output_of(m, op, 0), input_of(m, op, 0)->scale, input_of(m, op, 0)->zero_point, reason);
}

/* Require that corners of boxes, anchors and images are in eighths of a pixel. */
static int is_in_eighths(const struct nnb_operand *o, struct nnb_reason *reason)
{
	if (o->type != NNB_TENSOR_QUANT16_ASYMM && o->type != NNB_TENSOR_QUANT16_SYMM)
		return 0;
	if (o->scale == 0.125f && o->zero_point == 0)
		return 0;
	nnb_because(reason, "boxes are quantised by %g and %d, not by 0.125 and 0", (double)o->scale, o->zero_point);
	return -EINVAL;
}

/* Require that of all 16-bit operands of the operation. */
static int has_eighths(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	int r = 0;

	for (uint32_t k = 0; !r && k < op->n_inputs; k++)
		r = is_in_eighths(input_of(m, op, k), reason);
	for (uint32_t k = 0; !r && k < op->n_outputs; k++)
		r = is_in_eighths(output_of(m, op, k), reason);
	return r;
}

static int keeps_and_has_eighths(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return keeps_quantisation(m, op, reason) || has_eighths(m, op, reason) ? -EINVAL : 0;
}

static int keeps_values(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	uint32_t values = op->type == NNB_HASHTABLE_LOOKUP ? 2 : 1;
	int r = quantised_as(output_of(m, op, 0), input_of(m, op, values)->scale, input_of(m, op, values)->zero_point,
	                     reason);

	return !r && op->type == NNB_HASHTABLE_LOOKUP ? quantised_as(output_of(m, op, 1), 1, 0, reason) : r;
}

static int concatenates_alike(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	for (uint32_t k = 0; m->hal < NNB_HAL_1_2 && k < op->n_inputs - 1; k++)
		if (quantised_as(output_of(m, op, 0), input_of(m, op, k)->scale, input_of(m, op, k)->zero_point,
		                 reason))
			return -EINVAL;
	return 0;
}

/* The zero point of a signed type that corresponds to @of_unsigned of an unsigned type. */
static int32_t zero_point(const struct nnb_operand *o, int32_t of_unsigned)
{
	return o->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED ? of_unsigned - 128 : of_unsigned;
}

static int gives_256ths(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return quantised_as(output_of(m, op, 0), 1.0f / 256, zero_point(output_of(m, op, 0), 0), reason);
}

static int gives_128ths(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return quantised_as(output_of(m, op, 0), 1.0f / 128, zero_point(output_of(m, op, 0), 128), reason);
}

/* O-34 requires a multiplier below 1. HAL 1.2 lifts that for sums of products but not for MUL. */
static int above_product(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	double product = (double)input_of(m, op, 0)->scale * (double)input_of(m, op, 1)->scale;

	if (!is_quant(input_of(m, op, 0)) || (double)output_of(m, op, 0)->scale > product)
		return 0;
	nnb_because(reason, "the output's scale %g is not above the product of the inputs' scales, %g",
	            (double)output_of(m, op, 0)->scale, product);
	return -EINVAL;
}

static int sums_products(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	const struct nnb_operand *weights = input_of(m, op, 1);
	double product = (double)input_of(m, op, 0)->scale * (double)weights->scale,
	       bias = (double)input_of(m, op, 2)->scale;
	uint32_t dim = op->type == NNB_DEPTHWISE_CONV_2D ? 3 : 0;

	/* Scales by channel must belong to the dimension of the output channels. The sums then have no scale of their
	 * own. */
	if (weights->n_scales && weights->channel_dim != dim) {
		nnb_because(reason, "the weights' channels lie in dimension %u, not %u", weights->channel_dim, dim);
		return -EINVAL;
	}
	if (weights->n_scales && bias != 0) {
		nnb_because(reason, "the bias has scale %g, and the weights have one for each channel", bias);
		return -EINVAL;
	}
	if (weights->n_scales)
		return 0;
	if (is_quant(input_of(m, op, 0)) && !(fabs(product - bias) <= 1e-6 * fmin(product, bias))) {
		nnb_because(reason, "the bias's scale %g is not the product of the inputs' scales, %g", bias, product);
		return -EINVAL;
	}
	return m->hal < NNB_HAL_1_2 ? above_product(m, op, reason) : 0;
}

/* ---- the number of outputs ---- */

/* Read scalar input @k, of @n bytes, into @ret. False: the value is not stored in the model. */
static bool scalar_value(const struct nnb_model *m, const struct nnb_operation *op, uint32_t k, void *ret, size_t n)
{
	const struct nnb_operand *o = input_of(m, op, k);

	if (o->lifetime != NNB_CONSTANT_COPY || o->location.length != n)
		return false;
	memcpy(ret, m->values + o->location.offset, n);
	return true;
}

static int has_outputs(const struct nnb_operation *op, int64_t n, struct nnb_reason *reason)
{
	if (op->n_outputs == n)
		return 0;
	nnb_because(reason, "it has %lld outputs, not %u", (long long)n, op->n_outputs);
	return -EINVAL;
}

/* Two directions have one output each, or one merged output; plus @states outputs for the states, if returned. */
static int merges_outputs(const struct nnb_model *m, const struct nnb_operation *op, uint32_t k, uint32_t states,
                          struct nnb_reason *reason)
{
	uint8_t merged;

	if (!scalar_value(m, op, k, &merged, sizeof(merged)))
		return 0;
	return has_outputs(op, (merged ? 1 : 2) + (op->n_outputs > 2 ? states : 0), reason);
}

static int merges_lstm(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return merges_outputs(m, op, NNB_BOTH_MERGE, 4, reason);
}

static int merges_rnn(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return merges_outputs(m, op, NNB_BOTH_RNN_MERGE, 2, reason);
}

static int splits_outputs(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	int32_t n;

	if (scalar_value(m, op, 2, &n, sizeof(n)) && has_outputs(op, n, reason))
		return -EINVAL;
	/* every output keeps the quantisation of the input */
	for (uint32_t k = 0; k < op->n_outputs; k++)
		if (quantised_as(output_of(m, op, k), input_of(m, op, 0)->scale, input_of(m, op, 0)->zero_point,
		                 reason))
			return -EINVAL;
	return 0;
}

/* ---- the table ---- */

#define V(minor) NNB_HAL_1_##minor
#define ANY "FQ2H3S"  /* the types of most operations */
#define MOST "FHIQ3S" /* the types of most operations of HAL 1.2 */
#define COMPARED "BFHIQ3S"
#define CELL "x?xxxx?xxxx?x?x?x?xxxx?x?" /* weights of input and state, peepholes, biases, projection */
#define NORMS "x?x?x?x?"
#define SEQUENCE_LSTM_INPUTS "x" CELL "xxirrb" NORMS
#define BOTH_LSTM_INPUTS "x" CELL CELL "xxxxx?" NORMS NORMS "irrbb" NORMS NORMS
#define LSTM_INPUTS "xx?xxxx?xxxx?x?x?x?xxxx?x?xxirr"

static const struct signature signatures[] = {
	{ NNB_ADD, V(0), "FQ2H3SI", "", "xxi", "x", NULL },
	{ NNB_AVERAGE_POOL_2D, V(0), ANY, "", "xiiiiiiiii", "x", keeps_quantisation },
	{ NNB_AVERAGE_POOL_2D, V(0), ANY, "", "xiiiiii", "x", keeps_quantisation },
	{ NNB_AVERAGE_POOL_2D, V(2), ANY, "", "xiiiiiiiiib", "x", keeps_quantisation },
	{ NNB_AVERAGE_POOL_2D, V(2), ANY, "", "xiiiiiib", "x", keeps_quantisation },
	{ NNB_CONCATENATION, V(0), ANY, "", "x+i", "x", concatenates_alike },
	{ NNB_CONV_2D, V(0), ANY, "", "xwaiiiiiii", "x", sums_products },
	{ NNB_CONV_2D, V(0), ANY, "", "xwaiiii", "x", sums_products },
	{ NNB_CONV_2D, V(2), ANY, "", "xwaiiiiiiib;ii", "x", sums_products },
	{ NNB_CONV_2D, V(2), ANY, "", "xwaiiiib;ii", "x", sums_products },
	{ NNB_DEPTHWISE_CONV_2D, V(0), ANY, "", "xwaiiiiiiii", "x", sums_products },
	{ NNB_DEPTHWISE_CONV_2D, V(0), ANY, "", "xwaiiiii", "x", sums_products },
	{ NNB_DEPTHWISE_CONV_2D, V(2), ANY, "", "xwaiiiiiiiib;ii", "x", sums_products },
	{ NNB_DEPTHWISE_CONV_2D, V(2), ANY, "", "xwaiiiiib;ii", "x", sums_products },
	{ NNB_DEPTH_TO_SPACE, V(0), ANY, "", "xi", "x", keeps_quantisation },
	{ NNB_DEPTH_TO_SPACE, V(2), ANY, "", "xib", "x", keeps_quantisation },
	{ NNB_DEQUANTIZE, V(0), "Q2YC3S", "F2H", "x", "y", NULL },
	{ NNB_EMBEDDING_LOOKUP, V(0), "FQI3HS", "", "Ix", "x", keeps_values },
	{ NNB_FLOOR, V(0), "F2H", "", "x", "x", NULL },
	{ NNB_FULLY_CONNECTED, V(0), ANY, "", "xxai", "x", sums_products },
	{ NNB_HASHTABLE_LOOKUP, V(0), "FQI", "", "IIx", "xQ", keeps_values },
	{ NNB_L2_NORMALIZATION, V(0), "F2HQ3S", "", "x", "x", gives_128ths },
	{ NNB_L2_NORMALIZATION, V(2), "F2HQ3S", "", "xi", "x", gives_128ths },
	{ NNB_L2_POOL_2D, V(0), "F2H", "", "xiiiiiiiii", "x", NULL },
	{ NNB_L2_POOL_2D, V(0), "F2H", "", "xiiiiii", "x", NULL },
	{ NNB_L2_POOL_2D, V(2), "F2H", "", "xiiiiiiiiib", "x", NULL },
	{ NNB_L2_POOL_2D, V(2), "F2H", "", "xiiiiiib", "x", NULL },
	{ NNB_LOCAL_RESPONSE_NORMALIZATION, V(0), "F2H", "", "xirrr", "x", NULL },
	{ NNB_LOCAL_RESPONSE_NORMALIZATION, V(2), "F2H", "", "xirrri", "x", NULL },
	{ NNB_LOGISTIC, V(0), ANY, "", "x", "x", gives_256ths },
	{ NNB_LSH_PROJECTION, V(0), "F2H", "", "x*x?i", "I", NULL },
	{ NNB_LSTM, V(0), "F2H", "", LSTM_INPUTS, "xxxx", NULL },
	{ NNB_LSTM, V(2), "F2H", "", LSTM_INPUTS "x?x?x?x?", "xxxx", NULL },
	{ NNB_MAX_POOL_2D, V(0), ANY, "", "xiiiiiiiii", "x", keeps_quantisation },
	{ NNB_MAX_POOL_2D, V(0), ANY, "", "xiiiiii", "x", keeps_quantisation },
	{ NNB_MAX_POOL_2D, V(2), ANY, "", "xiiiiiiiiib", "x", keeps_quantisation },
	{ NNB_MAX_POOL_2D, V(2), ANY, "", "xiiiiiib", "x", keeps_quantisation },
	{ NNB_MUL, V(0), "FQ2H3SI", "", "xxi", "x", above_product },
	{ NNB_RELU, V(0), ANY, "", "x", "x", keeps_quantisation },
	{ NNB_RELU1, V(0), ANY, "", "x", "x", keeps_quantisation },
	{ NNB_RELU6, V(0), ANY, "", "x", "x", keeps_quantisation },
	{ NNB_RESHAPE, V(0), ANY, "", "xI", "x", keeps_quantisation },
	{ NNB_RESIZE_BILINEAR, V(0), "F2HQ3S", "", "xii", "x", keeps_quantisation },
	{ NNB_RESIZE_BILINEAR, V(2), "F2HQ3S", "", "xiib", "x", keeps_quantisation },
	{ NNB_RESIZE_BILINEAR, V(2), "F2HQ3S", "", "xrr;b", "x", keeps_quantisation },
	{ NNB_RESIZE_BILINEAR, V(3), "F2HQ3S", "", "xiibb;b", "x", keeps_quantisation },
	{ NNB_RESIZE_BILINEAR, V(3), "F2HQ3S", "", "xrrbb;b", "x", keeps_quantisation },
	{ NNB_RNN, V(0), "F2H", "", "xxxxxi", "xx", NULL },
	{ NNB_SOFTMAX, V(0), ANY, "", "xr", "x", gives_256ths },
	{ NNB_SOFTMAX, V(2), ANY, "", "xri", "x", gives_256ths },
	{ NNB_SPACE_TO_DEPTH, V(0), ANY, "", "xi", "x", keeps_quantisation },
	{ NNB_SPACE_TO_DEPTH, V(2), ANY, "", "xib", "x", keeps_quantisation },
	{ NNB_SVDF, V(0), "F2H", "", "xxxx?xii", "xx", NULL },
	{ NNB_TANH, V(0), "F2HQ3S", "", "x", "x", gives_128ths },
	/* HAL 1.1 */
	{ NNB_BATCH_TO_SPACE_ND, V(1), ANY, "", "xI", "x", keeps_quantisation },
	{ NNB_BATCH_TO_SPACE_ND, V(2), ANY, "", "xIb", "x", keeps_quantisation },
	{ NNB_DIV, V(1), "F2H3I", "", "xxi", "x", NULL },
	{ NNB_MEAN, V(1), ANY, "", "xIi", "x", keeps_quantisation },
	{ NNB_PAD, V(1), ANY, "", "xI", "x", keeps_quantisation },
	{ NNB_SPACE_TO_BATCH_ND, V(1), ANY, "", "xII", "x", keeps_quantisation },
	{ NNB_SPACE_TO_BATCH_ND, V(2), ANY, "", "xIIb", "x", keeps_quantisation },
	{ NNB_SQUEEZE, V(1), ANY, "", "xI?", "x", keeps_quantisation },
	{ NNB_STRIDED_SLICE, V(1), ANY, "", "xIIIiii", "x", keeps_quantisation },
	{ NNB_SUB, V(1), "F2HQ3SI", "", "xxi", "x", NULL },
	{ NNB_TRANSPOSE, V(1), ANY, "", "xI?", "x", keeps_quantisation },
	/* HAL 1.2 */
	{ NNB_ABS, V(2), "FH3I", "", "x", "x", NULL },
	{ NNB_ARGMAX, V(2), MOST, "", "xi", "I", NULL },
	{ NNB_ARGMIN, V(2), MOST, "", "xi", "I", NULL },
	{ NNB_AXIS_ALIGNED_BBOX_TRANSFORM, V(2), "FH", "", "xxIx", "x", NULL },
	{ NNB_AXIS_ALIGNED_BBOX_TRANSFORM, V(2), "A", "Q3S", "xyIx", "x", has_eighths },
	{ NNB_BIDIRECTIONAL_SEQUENCE_LSTM, V(2), "FH", "", BOTH_LSTM_INPUTS, "x;x", merges_lstm },
	{ NNB_BIDIRECTIONAL_SEQUENCE_LSTM, V(3), "FH", "", BOTH_LSTM_INPUTS, "xxxxx;x", merges_lstm },
	{ NNB_BIDIRECTIONAL_SEQUENCE_RNN, V(2), "FH", "", "xxxxxxxxxx?x?x?ibb", "x;x", merges_rnn },
	{ NNB_BIDIRECTIONAL_SEQUENCE_RNN, V(3), "FH", "", "xxxxxxxxxx?x?x?ibb", "xxx;x", merges_rnn },
	{ NNB_BOX_WITH_NMS_LIMIT, V(2), "FH", "", "xxIriirrr", "xxII", NULL },
	{ NNB_BOX_WITH_NMS_LIMIT, V(2), "Q3S", "", "xAIfiifff", "xAII", keeps_and_has_eighths },
	{ NNB_CAST, V(2), "FHIQ", "FHIQ", "x", "y", NULL },
	{ NNB_CAST, V(3), "BSYCWA", "", "x", "x", NULL },
	{ NNB_CHANNEL_SHUFFLE, V(2), "FHQ3S", "", "xii", "x", keeps_quantisation },
	{ NNB_DETECTION_POSTPROCESSING, V(2), "FH", "", "xxxrrrrbiiirrb", "xxII", NULL },
	{ NNB_EQUAL, V(2), COMPARED, "", "xx", "B", NULL },
	{ NNB_EXP, V(2), "FH", "", "x", "x", NULL },
	{ NNB_EXPAND_DIMS, V(2), MOST, "", "xi", "x", keeps_quantisation },
	{ NNB_GATHER, V(2), MOST, "", "xiI", "x", keeps_quantisation },
	{ NNB_GENERATE_PROPOSALS, V(2), "FH", "", "xxxxrriirrb", "xxI", NULL },
	{ NNB_GENERATE_PROPOSALS, V(2), "Q3S", "Q3S", "xyWAffiiffb", "xAI", keeps_and_has_eighths },
	{ NNB_GREATER, V(2), COMPARED, "", "xx", "B", NULL },
	{ NNB_GREATER_EQUAL, V(2), COMPARED, "", "xx", "B", NULL },
	{ NNB_GROUPED_CONV_2D, V(2), "FHQ3S", "", "xwaiiiiiiiib", "x", sums_products },
	{ NNB_GROUPED_CONV_2D, V(2), "FHQ3S", "", "xwaiiiiib", "x", sums_products },
	{ NNB_HEATMAP_MAX_KEYPOINT, V(2), "FH", "", "xxb", "xx", NULL },
	{ NNB_HEATMAP_MAX_KEYPOINT, V(2), "Q3S", "", "xAb", "xA", has_eighths },
	{ NNB_INSTANCE_NORMALIZATION, V(2), "FH", "", "xrrrb", "x", NULL },
	{ NNB_LESS, V(2), COMPARED, "", "xx", "B", NULL },
	{ NNB_LESS_EQUAL, V(2), COMPARED, "", "xx", "B", NULL },
	{ NNB_LOG, V(2), "FH", "", "x", "x", NULL },
	{ NNB_LOGICAL_AND, V(2), "", "", "BB", "B", NULL },
	{ NNB_LOGICAL_NOT, V(2), "", "", "B", "B", NULL },
	{ NNB_LOGICAL_OR, V(2), "", "", "BB", "B", NULL },
	{ NNB_LOG_SOFTMAX, V(2), "FH", "", "xri", "x", NULL },
	{ NNB_MAXIMUM, V(2), MOST, "", "xx", "x", NULL },
	{ NNB_MINIMUM, V(2), MOST, "", "xx", "x", NULL },
	{ NNB_NEG, V(2), "FHI", "", "x", "x", NULL },
	{ NNB_NOT_EQUAL, V(2), COMPARED, "", "xx", "B", NULL },
	{ NNB_PAD_V2, V(2), "FH", "", "xIr", "x", NULL },
	{ NNB_PAD_V2, V(2), "Q3S", "", "xIi", "x", keeps_quantisation },
	{ NNB_POW, V(2), "FH", "", "xx", "x", NULL },
	{ NNB_PRELU, V(2), "FHQ3S", "", "xx", "x", NULL },
	{ NNB_QUANTIZE, V(2), "FH", "Q3S", "x", "y", NULL },
	{ NNB_QUANTIZE, V(2), "FH", "", "x", "x", NULL }, /* a scale of 0 is accepted, because public models have it */
	{ NNB_QUANTIZED_16BIT_LSTM, V(2), "", "", "QQQQQQQQQIIIIWQ", "WQ", NULL },
	{ NNB_RANDOM_MULTINOMIAL, V(2), "FH", "", "xiI", "I", NULL },
	{ NNB_REDUCE_ALL, V(2), "B", "", "xIb", "x", NULL },
	{ NNB_REDUCE_ANY, V(2), "B", "", "xIb", "x", NULL },
	{ NNB_REDUCE_MAX, V(2), "FHQ3S", "", "xIb", "x", keeps_quantisation },
	{ NNB_REDUCE_MIN, V(2), "FHQ3S", "", "xIb", "x", keeps_quantisation },
	{ NNB_REDUCE_PROD, V(2), "FH", "", "xIb", "x", NULL },
	{ NNB_REDUCE_SUM, V(2), "FH", "", "xIb", "x", NULL },
	{ NNB_ROI_ALIGN, V(2), "FH", "", "xxIiirriib", "x", NULL },
	{ NNB_ROI_ALIGN, V(2), "Q3S", "", "xAIiiffiib", "x", has_eighths },
	{ NNB_ROI_POOLING, V(2), "FH", "", "xxIiirrb", "x", NULL },
	{ NNB_ROI_POOLING, V(2), "Q3S", "", "xAIiiffb", "x", keeps_and_has_eighths },
	{ NNB_RSQRT, V(2), "FH", "", "x", "x", NULL },
	{ NNB_SELECT, V(2), MOST, "", "Bxx", "x", NULL },
	{ NNB_SIN, V(2), "FH", "", "x", "x", NULL },
	{ NNB_SLICE, V(2), MOST, "", "xII", "x", keeps_quantisation },
	{ NNB_SPLIT, V(2), MOST, "", "xii", "x+", splits_outputs },
	{ NNB_SQRT, V(2), "FH", "", "x", "x", NULL },
	{ NNB_TILE, V(2), MOST, "", "xI", "x", keeps_quantisation },
	{ NNB_TOPK_V2, V(2), MOST, "", "xi", "xI", keeps_quantisation },
	{ NNB_TRANSPOSE_CONV_2D, V(2), "FHQ3S", "", "xwaiiiiiiib", "x", sums_products },
	{ NNB_TRANSPOSE_CONV_2D, V(2), "FHQ3S", "", "xwaIiiiib", "x", sums_products },
	{ NNB_UNIDIRECTIONAL_SEQUENCE_LSTM, V(2), "FH", "", SEQUENCE_LSTM_INPUTS, "x", NULL },
	{ NNB_UNIDIRECTIONAL_SEQUENCE_LSTM, V(3), "FH", "", SEQUENCE_LSTM_INPUTS, "xxx", NULL },
	{ NNB_UNIDIRECTIONAL_SEQUENCE_RNN, V(2), "FH", "", "xxxxxii", "x", NULL },
	{ NNB_UNIDIRECTIONAL_SEQUENCE_RNN, V(3), "FH", "", "xxxxxii", "xx", NULL },
	{ NNB_RESIZE_NEAREST_NEIGHBOR, V(2), "FHQ3S", "", "xiib", "x", keeps_quantisation },
	{ NNB_RESIZE_NEAREST_NEIGHBOR, V(2), "FHQ3S", "", "xrrb", "x", keeps_quantisation },
	{ NNB_RESIZE_NEAREST_NEIGHBOR, V(3), "FHQ3S", "", "xiibb;b", "x", keeps_quantisation },
	{ NNB_RESIZE_NEAREST_NEIGHBOR, V(3), "FHQ3S", "", "xrrbb;b", "x", keeps_quantisation },
	/* HAL 1.3 */
	{ NNB_IF, V(3), "", "", "BGG", ".+", nnb__check_if },
	{ NNB_IF, V(3), "", "", "BGG.+", ".+", nnb__check_if },
	{ NNB_WHILE, V(3), "", "", "GG.+", ".+", nnb__check_while },
	{ NNB_QUANTIZED_LSTM, V(3), "", "", "SY?YYYY?YYYW?W?W?I?IIIY?I?SWW?W?W?W?ffffffif", "SWS", NULL },
	{ NNB_ELU, V(3), "FH", "", "xr", "x", NULL },
	{ NNB_HARD_SWISH, V(3), "FHQS", "", "x", "x", NULL },
	{ NNB_FILL, V(3), "", "", "If", "F", NULL },
	{ NNB_FILL, V(3), "", "", "Ih", "H", NULL },
	{ NNB_FILL, V(3), "", "", "Ii", "I", NULL },
	{ NNB_RANK, V(3), "", "", "*", "i", NULL },
};

/* ---- forms ---- */

static bool is_mark(char c)
{
	return c == '?' || c == '+' || c == ';';
}

static uint32_t count_letters(const char *form)
{
	uint32_t n = 0;

	for (; *form; form++)
		n += !is_mark(*form);
	return n;
}

/* The letter in @form for operand @k of @n operands, which must be a number that the form accepts. */
static const char *letter_of(const char *form, uint32_t n, uint32_t k)
{
	uint32_t letters = count_letters(form), at = 0;

	for (const char *p = form; *p; p++) {
		uint32_t times = p[1] == '+' && n > letters ? n - letters + 1 : 1;

		if (is_mark(*p))
			continue;
		if (k < at + times)
			return p;
		at += times;
	}
	return NULL;
}

/*
 * Does @form accept @n operands: its number of letters, more if one is repeated, or its number of letters before a ";"?
 */
static bool form_takes(const char *form, uint32_t n)
{
	uint32_t letters = count_letters(form), at = 0;

	for (const char *p = form; *p; p++) {
		if (*p == ';' && at == n)
			return true;
		at += !is_mark(*p);
	}
	return n == letters || (n > letters && strchr(form, '+'));
}

static char letter_of_type(uint32_t type)
{
	static const char letters[] = {
		[NNB_FLOAT32] = 'f',
		[NNB_INT32] = 'i',
		[NNB_UINT32] = 'u',
		[NNB_TENSOR_FLOAT32] = 'F',
		[NNB_TENSOR_INT32] = 'I',
		[NNB_TENSOR_QUANT8_ASYMM] = 'Q',
		[NNB_BOOL] = 'b',
		[NNB_TENSOR_QUANT16_SYMM] = 'W',
		[NNB_TENSOR_FLOAT16] = 'H',
		[NNB_TENSOR_BOOL8] = 'B',
		[NNB_FLOAT16] = 'h',
		[NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL] = 'C',
		[NNB_TENSOR_QUANT16_ASYMM] = 'A',
		[NNB_TENSOR_QUANT8_SYMM] = 'Y',
		[NNB_TENSOR_QUANT8_ASYMM_SIGNED] = 'S',
		[NNB_SUBGRAPH] = 'G',
	};

	return type < sizeof(letters) ? letters[type] : '-'; /* a vendor's type */
}

/* ---- matching ---- */

/* The types that the letters of one operation have matched so far. */
struct match {
	const struct nnb_model *model;
	const struct signature *form;
	char x, y; /* 0: not known yet */
};

/* The first HAL in which @list contains @is; UINT32_MAX: no HAL. */
static uint32_t since_when(const char *list, char is)
{
	uint32_t since = NNB_HAL_1_0;

	for (; *list; list++) {
		if (*list >= '1' && *list <= '3')
			since = NNB_HAL_1_0 + (uint32_t)(*list - '0');
		else if (*list == is)
			return since;
	}
	return UINT32_MAX;
}

/* The first operand with this letter decides the type of all others. */
static bool fits_own(const char *list, char is, uint32_t hal, char *own)
{
	if (!*own && since_when(list, is) <= hal)
		*own = is;
	return *own && is == *own;
}

/* Does @type match the letter @want? */
static bool type_fits(struct match *m, char want, uint32_t type)
{
	char is = letter_of_type(type);
	bool quant = m->x == 'Q' || m->x == 'S';

	switch (want) {
	case '*':
		return nnb_type_info(type)->tensor && is != '-';
	case '.':
		return is != 'G' && is != '-';
	case 'x':
		return fits_own(m->form->x, is, m->model->hal, &m->x);
	case 'y':
		return fits_own(m->form->y, is, m->model->hal, &m->y);
	case 'w':
		return is == m->x || (quant && is == 'C');
	case 'a':
		return is == (quant ? 'I' : m->x);
	case 'r':
		return is == (m->x == 'H' ? 'h' : 'f');
	default:
		return is == want;
	}
}

static int match_operands(struct match *match, const char *form, const uint32_t *indexes, uint32_t n, const char *what,
                          struct nnb_reason *reason)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct nnb_operand *o = &match->model->operands[indexes[k]];
		const char *want = letter_of(form, n, k);

		if (!type_fits(match, *want, o->type)) {
			const char *list = *want == 'x' ? match->form->x : *want == 'y' ? match->form->y : "";
			uint32_t since = since_when(list, letter_of_type(o->type));

			if (since > match->model->hal && since <= NNB_HAL_1_3)
				nnb_because(reason, "the operation takes this type in HAL %u.%u and later", since >> 4,
				            since & 15);
			else
				nnb_because(reason, "the operation does not take this type");
			nnb__within(reason, "%s %u: %s", what, k, nnb_type_info(o->type)->name);
			return -EINVAL;
		}
		if (o->lifetime == NNB_NO_VALUE && want[1] != '?') {
			nnb_because(reason, "%s %u may not be left out", what, k);
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * The form of the operation; NULL: none matches, and the reason is that of the last form with the same number of
 * operands.
 */
static const struct signature *form_of(const struct nnb_model *m, const struct nnb_operation *op,
                                       struct nnb_reason *reason)
{
	bool inputs_fit = false, counts_fit = false;
	struct nnb_reason why = { "" };

	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		const struct signature *s = &signatures[i];
		struct match match = { .model = m, .form = s };

		if (s->op != op->type || s->since > m->hal || !form_takes(s->inputs, op->n_inputs))
			continue;
		inputs_fit = true;
		if (!form_takes(s->outputs, op->n_outputs))
			continue;
		counts_fit = true;
		if (!match_operands(&match, s->inputs, op->inputs, op->n_inputs, "input", &why) &&
		    !match_operands(&match, s->outputs, op->outputs, op->n_outputs, "output", &why))
			return s;
	}
	if (!inputs_fit)
		nnb_because(reason, "it does not take %u inputs", op->n_inputs);
	else if (!counts_fit)
		nnb_because(reason, "it does not give %u outputs", op->n_outputs);
	else
		nnb_because(reason, "%s", why.text);
	return NULL;
}

int nnb__op_check(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	const struct signature *s = form_of(m, op, reason);

	if (!s)
		return -EINVAL;
	return s->relations ? s->relations(m, op, reason) : 0;
}

void nnb__op_optional(const struct nnb_model *m, const struct nnb_operation *op, bool *ret)
{
	const struct signature *s = form_of(m, op, NULL);

	for (uint32_t k = 0; k < op->n_inputs; k++)
		ret[k] = s && letter_of(s->inputs, op->n_inputs, k)[1] == '?';
}

/* Copy @list without its HAL numbers. */
static void copy_letters(const char *list, char ret[NNB_OP_LETTERS])
{
	size_t n = 0;

	for (; *list && n < NNB_OP_LETTERS - 1; list++)
		if (*list < '1' || *list > '3')
			ret[n++] = *list;
	ret[n] = 0;
}

bool nnb__op_letters(uint32_t op, uint32_t form, char x[NNB_OP_LETTERS], char y[NNB_OP_LETTERS])
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		const struct signature *s = &signatures[i];

		if (s->op != op || form--)
			continue;
		copy_letters(*s->x ? s->x : *s->inputs == '*' ? "FHIBQSYCWA" : (char[]){ *s->outputs, 0 }, x);
		copy_letters(s->y, y);
		return true;
	}
	return false;
}

uint32_t nnb__op_form(const struct nnb_model *m, const struct nnb_operation *op)
{
	const struct signature *s = form_of(m, op, NULL);
	uint32_t form = 0;

	while (s > signatures && s[-1].op == op->type) { /* forms of one operation stand side by side */
		s--;
		form++;
	}
	return form;
}

/* The tensor inputs whose values decide shapes or what is computed, one bit each. */
static const struct deciding {
	uint32_t op, inputs;
} decidings[] = {
	{ NNB_RESHAPE, 1 << 1 },
	{ NNB_BATCH_TO_SPACE_ND, 1 << 1 },
	{ NNB_MEAN, 1 << 1 },
	{ NNB_PAD, 1 << 1 },
	{ NNB_SPACE_TO_BATCH_ND, 1 << 1 | 1 << 2 },
	{ NNB_SQUEEZE, 1 << 1 },
	{ NNB_STRIDED_SLICE, 1 << 1 | 1 << 2 | 1 << 3 },
	{ NNB_TRANSPOSE, 1 << 1 },
	{ NNB_PAD_V2, 1 << 1 },
	{ NNB_REDUCE_ALL, 1 << 1 },
	{ NNB_REDUCE_ANY, 1 << 1 },
	{ NNB_REDUCE_MAX, 1 << 1 },
	{ NNB_REDUCE_MIN, 1 << 1 },
	{ NNB_REDUCE_PROD, 1 << 1 },
	{ NNB_REDUCE_SUM, 1 << 1 },
	{ NNB_SLICE, 1 << 1 | 1 << 2 },
	{ NNB_TILE, 1 << 1 },
	{ NNB_FILL, 1 << 0 },
};

bool nnb__op_needs_value(const struct nnb_model *m, const struct nnb_operation *op, uint32_t position)
{
	if (!nnb_type_info(input_of(m, op, position)->type)->tensor)
		return true;
	if (op->type == NNB_TRANSPOSE_CONV_2D) /* input that holds the output's shape, in forms that have it */
		return position == 3;
	for (size_t i = 0; i < sizeof(decidings) / sizeof(decidings[0]); i++)
		if (decidings[i].op == op->type)
			return position < 32 && decidings[i].inputs >> position & 1;
	return false;
}

/* step.c -- the table of operations, and what all steps have in common. */
#include "step.h"

#include <assert.h>

#include "lowering.h"
#include "packing.h"
#include "saturated.h"
#include "seen.h"
#include "tiles.h"

/* The form in which an operation sees its operands' types. */
enum sees {
	BASE,  /* seen.h */
	AS_IS, /* all types as they are: elements are moved, or the kernel knows them */
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* members that a row leaves out are BASE and NULL */
static const struct lowering {
	run_fn *run;
	create_fn *create; /* NULL: XNNPACK has no such operator */
	enum sees sees;
	create_fn *create_signed; /* XNNPACK's of signed bytes, whose operands are seen as they are; NULL: none */
} lowerings[] = {
	[NNB_ADD] = { nnbx_run_pairs, nnbx_create_pairs, BASE, nnbx_create_pairs },
	[NNB_AVERAGE_POOL_2D] = { nnbx_run_average_pool, nnbx_create_average_pool },
	[NNB_CONCATENATION] = { nnbx_run_concatenation, NULL, AS_IS },
	[NNB_CONV_2D] = { nnbx_run_conv, nnbx_create_conv, BASE, nnbx_create_conv_signed },
	[NNB_DEPTHWISE_CONV_2D] = { nnbx_run_depthwise, nnbx_create_depthwise, BASE, nnbx_create_depthwise_signed },
	[NNB_DEPTH_TO_SPACE] = { nnbx_run_blocks, nnbx_create_depth_to_space, AS_IS },
	[NNB_DEQUANTIZE] = { nnbx_run_dequantize, nnbx_create_dequantize, BASE, nnbx_create_dequantize_signed },
	[NNB_EMBEDDING_LOOKUP] = { nnbx_run_embedding_lookup, NULL, AS_IS },
	[NNB_FLOOR] = { nnbx_run_floor, nnbx_create_floor },
	[NNB_FULLY_CONNECTED] = { nnbx_run_fully_connected, nnbx_create_fully_connected, BASE,
	                          nnbx_create_fully_connected_signed },
	[NNB_HASHTABLE_LOOKUP] = { nnbx_run_hashtable_lookup, NULL, AS_IS },
	[NNB_L2_NORMALIZATION] = { nnbx_run_l2_normalization, NULL },
	[NNB_L2_POOL_2D] = { nnbx_run_l2_pool, NULL },
	[NNB_LOCAL_RESPONSE_NORMALIZATION] = { nnbx_run_local_response_normalization, NULL },
	[NNB_LOGISTIC] = { nnbx_run_logistic, nnbx_create_logistic, BASE, nnbx_create_logistic_signed },
	[NNB_LSH_PROJECTION] = { nnbx_run_lsh_projection, NULL },
	[NNB_LSTM] = { nnbx_run_lstm, NULL },
	[NNB_MAX_POOL_2D] = { nnbx_run_max_pool, nnbx_create_max_pool, BASE, nnbx_create_max_pool_signed },
	[NNB_MUL] = { nnbx_run_pairs, nnbx_create_pairs, BASE, nnbx_create_pairs },
	[NNB_RELU] = { nnbx_run_relu, nnbx_create_relu, BASE, nnbx_create_relu_signed },
	[NNB_RELU1] = { nnbx_run_relu, nnbx_create_relu, BASE, nnbx_create_relu_signed },
	[NNB_RELU6] = { nnbx_run_relu, nnbx_create_relu, BASE, nnbx_create_relu_signed },
	[NNB_RESHAPE] = { nnbx_run_reshape, NULL, AS_IS },
	[NNB_RESIZE_BILINEAR] = { nnbx_run_resize, nnbx_create_resize_bilinear, BASE,
	                          nnbx_create_resize_bilinear_signed },
	[NNB_RNN] = { nnbx_run_rnn, NULL },
	[NNB_SOFTMAX] = { nnbx_run_softmax, nnbx_create_softmax },
	[NNB_SPACE_TO_DEPTH] = { nnbx_run_blocks, NULL, AS_IS },
	[NNB_SVDF] = { nnbx_run_svdf, NULL },
	[NNB_TANH] = { nnbx_run_tanh, nnbx_create_tanh, BASE, nnbx_create_tanh_signed },
	/* HAL 1.1 and later */
	[NNB_BATCH_TO_SPACE_ND] = { nnbx_run_batch_to_space, NULL, AS_IS },
	[NNB_DIV] = { nnbx_run_fused_pairs, nnbx_create_pairs, AS_IS },
	[NNB_MEAN] = { nnbx_run_reduce, nnbx_create_mean, AS_IS },
	[NNB_PAD] = { nnbx_run_pad, NULL, AS_IS },
	[NNB_SPACE_TO_BATCH_ND] = { nnbx_run_space_to_batch, NULL, AS_IS },
	[NNB_SQUEEZE] = { nnbx_run_same_order, NULL, AS_IS },
	[NNB_STRIDED_SLICE] = { nnbx_run_strided_slice, NULL, AS_IS },
	[NNB_SUB] = { nnbx_run_fused_pairs, nnbx_create_pairs, AS_IS },
	[NNB_TRANSPOSE] = { nnbx_run_transpose, NULL, AS_IS },
	[NNB_ABS] = { nnbx_run_each, nnbx_create_each, AS_IS },
	[NNB_ARGMAX] = { nnbx_run_arg, NULL, AS_IS },
	[NNB_ARGMIN] = { nnbx_run_arg, NULL, AS_IS },
	[NNB_AXIS_ALIGNED_BBOX_TRANSFORM] = { nnbx_run_bbox_transform, NULL, AS_IS },
	[NNB_BIDIRECTIONAL_SEQUENCE_LSTM] = { nnbx_run_both_lstm, NULL, AS_IS },
	[NNB_BIDIRECTIONAL_SEQUENCE_RNN] = { nnbx_run_both_rnn, NULL, AS_IS },
	[NNB_BOX_WITH_NMS_LIMIT] = { nnbx_run_box_with_nms_limit, NULL, AS_IS },
	[NNB_CAST] = { nnbx_run_cast, NULL, AS_IS },
	[NNB_CHANNEL_SHUFFLE] = { nnbx_run_channel_shuffle, NULL, AS_IS },
	[NNB_DETECTION_POSTPROCESSING] = { nnbx_run_detection_postprocessing, NULL, AS_IS },
	[NNB_EQUAL] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_EXP] = { nnbx_run_each, NULL, AS_IS },
	[NNB_EXPAND_DIMS] = { nnbx_run_same_order, NULL, AS_IS },
	[NNB_GATHER] = { nnbx_run_gather, NULL, AS_IS },
	[NNB_GENERATE_PROPOSALS] = { nnbx_run_generate_proposals, NULL, AS_IS },
	[NNB_GREATER] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_GREATER_EQUAL] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_GROUPED_CONV_2D] = { nnbx_run_grouped_conv, nnbx_create_grouped_conv, AS_IS },
	[NNB_HEATMAP_MAX_KEYPOINT] = { nnbx_run_heatmap_max_keypoint, NULL, AS_IS },
	[NNB_INSTANCE_NORMALIZATION] = { nnbx_run_instance_normalization, NULL, AS_IS },
	[NNB_LESS] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_LESS_EQUAL] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_LOG] = { nnbx_run_each, NULL, AS_IS },
	[NNB_LOGICAL_AND] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_LOGICAL_NOT] = { nnbx_run_each, NULL, AS_IS },
	[NNB_LOGICAL_OR] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_LOG_SOFTMAX] = { nnbx_run_log_softmax, NULL, AS_IS },
	[NNB_MAXIMUM] = { nnbx_run_plain_pairs, nnbx_create_pairs, AS_IS },
	[NNB_MINIMUM] = { nnbx_run_plain_pairs, nnbx_create_pairs, AS_IS },
	[NNB_NEG] = { nnbx_run_each, nnbx_create_each, AS_IS },
	[NNB_NOT_EQUAL] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_PAD_V2] = { nnbx_run_pad_v2, NULL, AS_IS },
	[NNB_POW] = { nnbx_run_plain_pairs, NULL, AS_IS },
	[NNB_PRELU] = { nnbx_run_plain_pairs, nnbx_create_prelu, AS_IS },
	[NNB_QUANTIZE] = { nnbx_run_each, nnbx_create_quantize, AS_IS },
	[NNB_QUANTIZED_16BIT_LSTM] = { nnbx_run_quantized_16bit_lstm, NULL, AS_IS },
	[NNB_RANDOM_MULTINOMIAL] = { nnbx_run_random_multinomial, NULL, AS_IS },
	[NNB_REDUCE_ALL] = { nnbx_run_reduce, NULL, AS_IS },
	[NNB_REDUCE_ANY] = { nnbx_run_reduce, NULL, AS_IS },
	[NNB_REDUCE_MAX] = { nnbx_run_reduce, NULL, AS_IS },
	[NNB_REDUCE_MIN] = { nnbx_run_reduce, NULL, AS_IS },
	[NNB_REDUCE_PROD] = { nnbx_run_reduce, NULL, AS_IS },
	[NNB_REDUCE_SUM] = { nnbx_run_reduce, NULL, AS_IS },
	[NNB_ROI_ALIGN] = { nnbx_run_roi_align, NULL, AS_IS },
	[NNB_ROI_POOLING] = { nnbx_run_roi_pooling, NULL, AS_IS },
	[NNB_RSQRT] = { nnbx_run_each, NULL, AS_IS },
	[NNB_SELECT] = { nnbx_run_select, NULL, AS_IS },
	[NNB_SIN] = { nnbx_run_each, NULL, AS_IS },
	[NNB_SLICE] = { nnbx_run_slice, NULL, AS_IS },
	[NNB_SPLIT] = { nnbx_run_split, NULL, AS_IS },
	[NNB_SQRT] = { nnbx_run_each, nnbx_create_each, AS_IS },
	[NNB_TILE] = { nnbx_run_tile, NULL, AS_IS },
	[NNB_TOPK_V2] = { nnbx_run_topk, NULL, AS_IS },
	[NNB_TRANSPOSE_CONV_2D] = { nnbx_run_transpose_conv, nnbx_create_transpose_conv, AS_IS },
	[NNB_UNIDIRECTIONAL_SEQUENCE_LSTM] = { nnbx_run_sequence_lstm, NULL, AS_IS },
	[NNB_UNIDIRECTIONAL_SEQUENCE_RNN] = { nnbx_run_sequence_rnn, NULL, AS_IS },
	[NNB_RESIZE_NEAREST_NEIGHBOR] = { nnbx_run_resize_nearest, NULL, AS_IS },
	[NNB_QUANTIZED_LSTM] = { nnbx_run_quantized_lstm, NULL, AS_IS },
	[NNB_ELU] = { nnbx_run_each, nnbx_create_each, AS_IS },
	[NNB_HARD_SWISH] = { nnbx_run_each, nnbx_create_each, AS_IS },
	[NNB_FILL] = { nnbx_run_fill, NULL, AS_IS },
	[NNB_RANK] = { nnbx_run_rank, NULL, AS_IS },
};

#pragma GCC diagnostic pop

enum { N_LOWERINGS = sizeof(lowerings) / sizeof(lowerings[0]) };

/* False if a scalar that is only known at run time decides what the operation does. */
bool nnbx_step_claims(const struct nnb_graph *graph, uint32_t op)
{
	const struct nnb_operation *o = &graph->model->operations[op];

	if (o->type == NNB_IF || o->type == NNB_WHILE) /* the driver asks for what they run */
		return true;
	if (o->type >= N_LOWERINGS || !lowerings[o->type].run)
		return false;
	for (uint32_t k = 0; k < o->n_inputs; k++) {
		const struct nnb_operand *in = &graph->model->operands[o->inputs[k]];

		if (!nnb_type_info(in->type)->tensor && in->lifetime != NNB_NO_VALUE && !graph->constants[o->inputs[k]])
			return false;
	}
	return true;
}

static bool has_channels_second(const struct nnb_graph *g, const struct nnb_operation *op)
{
	const uint8_t *value;

	for (uint32_t k = 0; k < op->n_inputs; k++) {
		if (g->model->operands[op->inputs[k]].type != NNB_BOOL)
			continue;
		value = g->constants[op->inputs[k]]; /* without a constant the operation is not claimed */
		return value && *value;
	}
	return false;
}

struct site nnbx_site(const struct nnb_graph *g, const struct nnb_operand *base, uint32_t op,
                      const struct nnb_shape *shapes)
{
	const struct nnb_operation *o = &g->model->operations[op];
	bool as_is = !base || lowerings[o->type].sees == AS_IS;
	struct site site = {
		.graph = g, .op = o, .index = op, .operands = as_is ? g->model->operands : base, .shapes = shapes
	};

	if (nnb_op_has_layout(o->type) && has_channels_second(g, o))
		nnbx_see_images(&site);
	return site;
}

static uint64_t own_scratch(const struct site *site)
{
	switch (site->op->type) {
	case NNB_LSH_PROJECTION:
		return nnbx_lsh_scratch(site);
	case NNB_BOX_WITH_NMS_LIMIT:
	case NNB_DETECTION_POSTPROCESSING:
	case NNB_GENERATE_PROPOSALS:
		return nnbx_boxes_bytes(site);
	case NNB_RANDOM_MULTINOMIAL:
		return nnbx_random_bytes(site);
	case NNB_TOPK_V2:
		return nnbx_topk_bytes(site);
	case NNB_GROUPED_CONV_2D:
	case NNB_TRANSPOSE_CONV_2D:
		return nnbx_wide_conv_bytes(site);
	case NNB_BIDIRECTIONAL_SEQUENCE_LSTM:
	case NNB_BIDIRECTIONAL_SEQUENCE_RNN:
	case NNB_UNIDIRECTIONAL_SEQUENCE_LSTM:
	case NNB_UNIDIRECTIONAL_SEQUENCE_RNN:
		return nnbx_sequence_bytes(site);
	case NNB_QUANTIZED_16BIT_LSTM:
	case NNB_QUANTIZED_LSTM:
		return nnbx_quantized_lstm_bytes(site);
	default:
		return 0;
	}
}

uint64_t nnbx_step_scratch(const struct site *site)
{
	return saturated_sum(nnbx_seen_scratch(site), own_scratch(site));
}

uint64_t nnbx_step_bytes(const struct site *site)
{
	switch (site->op->type) {
	case NNB_AVERAGE_POOL_2D:
	case NNB_CONV_2D:
	case NNB_DEPTHWISE_CONV_2D:
	case NNB_GROUPED_CONV_2D:
	case NNB_MAX_POOL_2D:
	case NNB_RESIZE_BILINEAR:
	case NNB_TRANSPOSE_CONV_2D:
		return nnbx_indirection(site);
	default:
		return 0;
	}
}

static enum nnb_status status_of_xnn(enum xnn_status status)
{
	switch (status) {
	case xnn_status_success:
		return NNB_STATUS_NONE;
	case xnn_status_out_of_memory:
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	default:
		return NNB_STATUS_GENERAL_FAILURE;
	}
}

static enum nnb_status set_up(struct step *step, const struct site *site)
{
	enum nnb_status status;

	if (step->run_in_parts)
		return NNB_STATUS_NONE;
	nnbx_tiles_for(step->threads);
	status = status_of_xnn(step->setup(step->xnn, site));
	nnbx_tiles_for(1);
	if (status) {
		step->out = NULL; /* not set up for anything: outputs are never NULL */
		return status;
	}
	step->in[0] = in_at(site, 0);
	step->in[1] = site->op->n_inputs > 1 ? in_at(site, 1) : NULL;
	step->out = out_at(site, 0);
	return NNB_STATUS_NONE;
}

/* To create and to set up: each a call of XNNPACK's that may be long. */
struct first_call {
	struct step *step;
	const struct site *site;
	create_fn *create;
	enum xnn_status created;
	enum nnb_status set_up;
};

static void create_first(void *arg)
{
	struct first_call *c = arg;

	c->created = c->create(c->step, c->site);
}

/* Later setups are of the same shapes, and short. */
static void set_up_first(void *arg)
{
	struct first_call *c = arg;

	c->set_up = set_up(c->step, c->site);
}

/* An operator that XNNPACK was not allowed to finish: XNNPACK takes it for finished, so it must not be set up again. */
static void undo_first(void *arg)
{
	struct first_call *c = arg;

	nnbx_tiles_for(1);
	nnbx_step_fini(c->step);
}

/* Is there a tensor without elements among @n operands? XNNPACK has no use for such. */
static bool has_empty(const struct site *s, const uint32_t *operands, uint32_t n, bool all)
{
	for (uint32_t k = 0; k < n; k++) {
		bool empty = !s->shapes[operands[k]].omitted && !shape_elements(&s->shapes[operands[k]]);

		if (empty != all)
			return !all;
	}
	return all;
}

/* As the operation sees it. */
static enum nnb_status init_seen(struct step *step, const struct site *site, create_fn *create)
{
	struct first_call call = {
		.step = step, .site = site, .create = create, .created = xnn_status_unsupported_parameter
	};

	if (call.create && !nnbx_packing(create_first, undo_first, &call))
		return NNB_STATUS_GENERAL_FAILURE;
	if (call.created == xnn_status_out_of_memory)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	if (call.created != xnn_status_success)
		step->xnn = NULL; /* XNNPACK cannot do this one, so the kernel does */
	if (step->xnn && !nnbx_packing(set_up_first, undo_first, &call))
		return NNB_STATUS_GENERAL_FAILURE;
	return call.set_up;
}

/* The operation with its operands as they are in the model. */
static struct site as_it_is(const struct site *site)
{
	struct site ret = *site;

	ret.operands = site->graph->model->operands;
	return ret;
}

/* Try XNNPACK's operator of signed bytes. If there is none, the step is as it was. */
static enum nnb_status init_signed(struct step *step, const struct site *site, create_fn *create)
{
	struct site raw = as_it_is(site);
	struct step blank = *step;
	enum nnb_status status;

	if (!create || site->turned || in_operand(&raw, 0)->type != NNB_TENSOR_QUANT8_ASYMM_SIGNED)
		return NNB_STATUS_NONE;
	status = init_seen(step, &raw, create);
	if (!status && !step->xnn)
		*step = blank;
	step->is_signed = step->xnn != NULL;
	return status;
}

enum nnb_status nnbx_step_init(struct step *step, const struct site *site)
{
	const struct lowering *lowering = &lowerings[site->op->type];
	bool empty = has_empty(site, site->op->inputs, site->op->n_inputs, false) ||
	             has_empty(site, site->op->outputs, site->op->n_outputs, false);
	create_fn *create = empty ? NULL : lowering->create;
	enum nnb_status status;
	struct site seen;

	assert(site->op->type < sizeof(lowerings) / sizeof(lowerings[0]) && lowering->run); /* nnbx_step_claims */
	/* an operation that counts its rows has to report 0 rows */
	*step = (struct step){ .kernel = lowering->run,
		               .nothing =
		                       !site->found && has_empty(site, site->op->outputs, site->op->n_outputs, true) };
	if (step->nothing)
		return NNB_STATUS_NONE;
	status = init_signed(step, site, empty ? NULL : lowering->create_signed);
	if (status || step->is_signed)
		return status;
	status = nnbx_seen_new(&step->seen, site);
	if (status || !step->seen)
		return status ? status : init_seen(step, site, create);
	seen = nnbx_seen_site(step->seen, site);
	return init_seen(step, &seen, create);
}

void nnbx_step_fini(struct step *step)
{
	if (step->xnn)
		xnn_delete_operator(step->xnn);
	step->xnn = NULL;
	nnbx_seen_free(step->seen);
	step->seen = NULL;
}

/* As the operation sees it. */
static enum nnb_status run_seen(struct step *step, const struct site *site, bool plain)
{
	if (plain || !step->xnn)
		return step->kernel(site);
	nnbx_work.tile = step->tile_units ? step->tile_units : NNBX_LOOK_EVERY;
	if (step->run_in_parts)
		return status_of_xnn(step->run_in_parts(step->xnn, site));
	if (step->out != out_at(site, 0) || step->in[0] != in_at(site, 0) ||
	    step->in[1] != (site->op->n_inputs > 1 ? in_at(site, 1) : NULL)) {
		enum nnb_status status = set_up(step, site);

		if (status)
			return status;
	}
	return status_of_xnn(xnn_run_operator(step->xnn, NULL));
}

static enum nnb_status step_run(struct step *step, struct seen *seen, const struct site *site, bool plain)
{
	struct site converted;
	enum nnb_status status;

	if (!seen)
		return run_seen(step, site, plain);
	converted = nnbx_seen_site(seen, site);
	nnbx_seen_load(seen, &converted);
	status = run_seen(step, &converted, plain);
	if (!status)
		nnbx_seen_store(seen, &converted);
	return status;
}

enum nnb_status nnbx_step_run(struct step *step, const struct site *site)
{
	struct site raw;

	if (step->nothing)
		return NNB_STATUS_NONE;
	if (!step->is_signed)
		return step_run(step, step->seen, site, false);
	raw = as_it_is(site);
	return step_run(step, NULL, &raw, false);
}

enum nnb_status nnbx_step_run_kernel(struct step *step, const struct site *site)
{
	struct seen *seen = step->seen;
	enum nnb_status status = NNB_STATUS_NONE;

	if (step->nothing)
		return NNB_STATUS_NONE;
	if (step->is_signed)
		status = nnbx_seen_new(&seen, site);
	if (!status)
		status = step_run(step, seen, site, true);
	if (step->is_signed)
		nnbx_seen_free(seen);
	return status;
}

/* step.c -- the table of operations, and what all steps have in common. */
#include "step.h"

#include "lowering.h"
#include "packing.h"
#include "tiles.h"

static const struct lowering {
	run_fn *run;
	create_fn *create; /* NULL: XNNPACK has no such operator */
} lowerings[] = {
	[NNB_ADD] = { nnbx_run_pairs, nnbx_create_add },
	[NNB_AVERAGE_POOL_2D] = { nnbx_run_average_pool, nnbx_create_average_pool },
	[NNB_CONCATENATION] = { nnbx_run_concatenation, NULL },
	[NNB_CONV_2D] = { nnbx_run_conv, nnbx_create_conv },
	[NNB_DEPTHWISE_CONV_2D] = { nnbx_run_depthwise, nnbx_create_depthwise },
	[NNB_DEPTH_TO_SPACE] = { nnbx_run_blocks, nnbx_create_depth_to_space },
	[NNB_DEQUANTIZE] = { nnbx_run_dequantize, nnbx_create_dequantize },
	[NNB_EMBEDDING_LOOKUP] = { nnbx_run_embedding_lookup, NULL },
	[NNB_FLOOR] = { nnbx_run_floor, nnbx_create_floor },
	[NNB_FULLY_CONNECTED] = { nnbx_run_fully_connected, nnbx_create_fully_connected },
	[NNB_HASHTABLE_LOOKUP] = { nnbx_run_hashtable_lookup, NULL },
	[NNB_L2_NORMALIZATION] = { nnbx_run_l2_normalization, NULL },
	[NNB_L2_POOL_2D] = { nnbx_run_l2_pool, NULL },
	[NNB_LOCAL_RESPONSE_NORMALIZATION] = { nnbx_run_local_response_normalization, NULL },
	[NNB_LOGISTIC] = { nnbx_run_logistic, nnbx_create_logistic },
	[NNB_LSH_PROJECTION] = { nnbx_run_lsh_projection, NULL },
	[NNB_LSTM] = { nnbx_run_lstm, NULL },
	[NNB_MAX_POOL_2D] = { nnbx_run_max_pool, nnbx_create_max_pool },
	[NNB_MUL] = { nnbx_run_pairs, nnbx_create_mul },
	[NNB_RELU] = { nnbx_run_relu, nnbx_create_relu },
	[NNB_RELU1] = { nnbx_run_relu, nnbx_create_relu },
	[NNB_RELU6] = { nnbx_run_relu, nnbx_create_relu },
	[NNB_RESHAPE] = { nnbx_run_reshape, NULL },
	[NNB_RESIZE_BILINEAR] = { nnbx_run_resize, nnbx_create_resize_bilinear },
	[NNB_RNN] = { nnbx_run_rnn, NULL },
	[NNB_SOFTMAX] = { nnbx_run_softmax, nnbx_create_softmax },
	[NNB_SPACE_TO_DEPTH] = { nnbx_run_blocks, NULL },
	[NNB_SVDF] = { nnbx_run_svdf, NULL },
	[NNB_TANH] = { nnbx_run_tanh, nnbx_create_tanh },
};

enum { N_LOWERINGS = sizeof(lowerings) / sizeof(lowerings[0]) };

/* What an operation does may not depend on a scalar that only a run knows. */
bool nnbx_step_claims(const struct nnb_graph *graph, uint32_t op)
{
	const struct nnb_operation *o = &graph->model->operations[op];

	if (o->type >= N_LOWERINGS || !lowerings[o->type].run)
		return false;
	for (uint32_t k = 0; k < o->n_inputs; k++) {
		const struct nnb_operand *in = &graph->model->operands[o->inputs[k]];

		if (!nnb_type_info(in->type)->tensor && in->lifetime != NNB_NO_VALUE && !graph->constants[o->inputs[k]])
			return false;
	}
	return true;
}

uint64_t nnbx_step_scratch(const struct site *site)
{
	return site->op->type == NNB_LSH_PROJECTION ? nnbx_lsh_scratch(site) : 0;
}

uint64_t nnbx_step_bytes(const struct site *site)
{
	switch (site->op->type) {
	case NNB_AVERAGE_POOL_2D:
	case NNB_CONV_2D:
	case NNB_DEPTHWISE_CONV_2D:
	case NNB_MAX_POOL_2D:
	case NNB_RESIZE_BILINEAR:
		return nnbx_indirection(site);
	default:
		return 0;
	}
}

static enum nnb_status translated(enum xnn_status status)
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
	status = translated(step->setup(step->xnn, site));
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

enum nnb_status nnbx_step_init(struct step *step, const struct site *site)
{
	const struct lowering *lowering = &lowerings[site->op->type];
	struct first_call call = {
		.step = step, .site = site, .create = lowering->create, .created = xnn_status_unsupported_parameter
	};

	*step = (struct step){ .kernel = lowering->run };
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

void nnbx_step_fini(struct step *step)
{
	if (step->xnn)
		xnn_delete_operator(step->xnn);
	step->xnn = NULL;
}

enum nnb_status nnbx_step_run(struct step *step, const struct site *site)
{
	if (!step->xnn)
		return step->kernel(site);
	nnbx_work.tile = step->tile_units ? step->tile_units : NNBX_LOOK_EVERY;
	if (step->run_in_parts)
		return translated(step->run_in_parts(step->xnn, site));
	if (step->out != out_at(site, 0) || step->in[0] != in_at(site, 0) ||
	    step->in[1] != (site->op->n_inputs > 1 ? in_at(site, 1) : NULL)) {
		enum nnb_status status = set_up(step, site);

		if (status)
			return status;
	}
	return translated(xnn_run_operator(step->xnn, NULL));
}

/*
 * driver.c -- the driver that computes: XNNPACK's operators on the calling thread.
 *
 * A run whose shapes are known when it begins takes what it needs from its model's plans (plan.h); a run whose shapes
 * are found on the way sets each operation up when its turn comes (loose.h).
 *
 * CONCURRENCY  The lock of a prepared model guards its list of ended runs; its plans have a lock of their own.
 *              Neither is held while an operation runs.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kernels/look.h"
#include "latency.h"
#include "loose.h"
#include "plan.h"
#include "seen.h"

struct run {
	struct run *next;
	struct prepared *prepared;
	struct plan *plan;
	struct plan_frame *frame; /* NULL: no operation has run yet */
	const void *const *inputs;
	void *const *outputs;
	const struct nnb_look *look;
	struct loose *loose; /* instead of plan and frame: shapes are found on the way */
};

struct prepared {
	struct plans plans;
	/* by part of the model, the main graph first: the operands as operations see them (seen.h); NULL: as they
	 * are */
	struct nnb_operand **bases;
	uint64_t bases_bytes; /* charged */
	pthread_mutex_t lock;
	struct run *runs; /* ended; as many as ever ran side by side, kept until the model is released */
};

/* ---- runs ---- */

static struct run *run_take(struct prepared *p)
{
	struct run *r;

	pthread_mutex_lock(&p->lock);
	r = p->runs;
	if (r)
		p->runs = r->next;
	pthread_mutex_unlock(&p->lock);
	return r ? r : malloc(sizeof(*r));
}

static void run_give(struct run *r)
{
	struct prepared *p = r->prepared;

	pthread_mutex_lock(&p->lock);
	r->next = p->runs;
	p->runs = r;
	pthread_mutex_unlock(&p->lock);
}

static enum nnb_status loose_begin(struct prepared *p, const struct nnb_run *run, void **ret)
{
	struct run *r = run_take(p);
	struct loose *loose;
	enum nnb_status status;

	if (!r)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	status = nnbx_loose_new(&loose, p->plans.graph, (const struct nnb_operand *const *)p->bases, run);
	*r = (struct run){ .prepared = p, .look = run->look, .loose = status ? NULL : loose };
	if (status)
		run_give(r);
	else
		*ret = r;
	return status;
}

static enum nnb_status xnnpack_run_begin(void *prepared, const struct nnb_run *run, void **ret)
{
	struct prepared *p = prepared;
	struct plan *plan;
	enum nnb_status status;
	struct run *r;

	if (run->found)
		return loose_begin(p, run, ret);
	status = nnbx_plan_take(&plan, &p->plans, run->shapes);
	if (status)
		return status;
	r = run_take(p);
	if (!r) {
		nnbx_plan_give(&p->plans, plan);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	*r = (struct run){
		.prepared = p, .plan = plan, .inputs = run->inputs, .outputs = run->outputs, .look = run->look
	};
	*ret = r;
	return NNB_STATUS_NONE;
}

/* The first operation is about to run. */
static enum nnb_status run_bind(struct run *r)
{
	const struct nnb_model *m = r->prepared->plans.graph->model;
	enum nnb_status status;

	assert(r->plan && !r->frame && !r->loose);
	status = nnbx_plan_frame_take(&r->frame, &r->prepared->plans, r->plan);
	if (status)
		return status;
	for (uint32_t i = 0; i < m->n_inputs; i++)
		r->frame->at[m->inputs[i]] = (void *)r->inputs[i];
	for (uint32_t i = 0; i < m->n_outputs; i++)
		r->frame->at[m->outputs[i]] = r->outputs[i];
	return NNB_STATUS_NONE;
}

static enum nnb_status xnnpack_run_op(void *run, uint32_t op)
{
	struct run *r = run;
	enum nnb_status status;
	struct plan_frame *f;
	struct site site;

	assert(op < r->prepared->plans.graph->model->n_operations);
	if (r->loose) {
		nnbx_work_begin(r->look && r->look->goes_on ? r->look : NULL);
		status = nnbx_loose_op(r->loose, op);
		return nnbx_work_end() ? status : NNB_STATUS_GENERAL_FAILURE;
	}
	status = r->frame ? NNB_STATUS_NONE : run_bind(r);
	f = r->frame;
	nnbx_work_begin(r->look && r->look->goes_on ? r->look : NULL);
	if (!status && !f->set)
		status = nnbx_set_take(f);
	if (!status) {
		site = nnbx_plan_site(f, op);
		nnbx_tally_begin(&f->set->tally);
		status = nnbx_step_run(&f->set->steps[op], &site);
	}
	if (!nnbx_work_end())
		status = NNB_STATUS_GENERAL_FAILURE;
	nnbx_tally_end();
	return status;
}

static void xnnpack_run_park(void *run)
{
	struct run *r = run;

	if (r->frame)
		nnbx_set_give(r->frame);
}

static void xnnpack_run_end(void *run)
{
	struct run *r = run;
	struct prepared *p = r->prepared;
	struct plan *plan = r->plan;

	if (r->frame)
		nnbx_plan_frame_give(r->frame);
	nnbx_loose_free(r->loose);
	run_give(r);
	if (plan)
		nnbx_plan_give(&p->plans, plan);
}

/* ---- models ---- */

/* Can all of a graph be run? The caller checks the subgraphs of IF and WHILE. */
static bool claims_all(const struct nnb_graph *graph)
{
	for (uint32_t i = 0; i < graph->model->n_operations && nnbx_worked(NNBX_STEP_UNITS); i++)
		if (!nnbx_step_claims(graph, i))
			return false;
	return true;
}

static enum nnb_status xnnpack_supported(void *device, const struct nnb_graph *graph, bool *ret)
{
	bool referenced = true; /* whether all that IF and WHILE could run is supported */

	(void)device;
	for (uint32_t i = 0; referenced && i < graph->model->n_referenced; i++)
		referenced = claims_all(graph->referenced[i]);
	for (uint32_t i = 0; i < graph->model->n_operations; i++) {
		uint32_t type = graph->model->operations[i].type;

		ret[i] = nnbx_step_claims(graph, i) && (referenced || (type != NNB_IF && type != NNB_WHILE));
	}
	return NNB_STATUS_NONE;
}

static const struct nnb_graph *part_of(const struct nnb_graph *main, uint32_t part)
{
	assert(part <= main->model->n_referenced);
	return part ? main->referenced[part - 1] : main;
}

/* Bytes to charge: a pointer for each part, and the operands of the parts that see them otherwise. */
static uint64_t bases_bytes(const struct nnb_graph *main)
{
	uint64_t bytes = (main->model->n_referenced + (uint64_t)1) * sizeof(struct nnb_operand *);

	for (uint32_t part = 0; part <= main->model->n_referenced; part++) {
		const struct nnb_model *m = part_of(main, part)->model;

		bytes += nnbx_sees_otherwise(m) ? m->n_operands * sizeof(struct nnb_operand) : 0;
	}
	return bytes;
}

static enum nnb_status see_operands(struct prepared *p)
{
	uint64_t bytes = bases_bytes(p->plans.graph);
	enum nnb_status status = nnbx_charge(&p->plans.graph->account, bytes);
	bool seen;

	if (status)
		return status;
	p->bases_bytes = bytes;
	p->bases = calloc(p->plans.graph->model->n_referenced + (size_t)1, sizeof(*p->bases));
	seen = p->bases;
	for (uint32_t part = 0; seen && part <= p->plans.graph->model->n_referenced; part++) {
		const struct nnb_model *m = part_of(p->plans.graph, part)->model;
		struct nnb_operand *base;

		if (!nnbx_sees_otherwise(m))
			continue;
		base = p->bases[part] = malloc(m->n_operands * sizeof(*base));
		seen = base;
		for (uint32_t i = 0; seen && i < m->n_operands; i++)
			base[i] = nnbx_see(&m->operands[i]);
	}
	return seen ? NNB_STATUS_NONE : NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static void xnnpack_release(void *prepared)
{
	struct prepared *p = prepared;

	nnbx_plans_fini(&p->plans);
	while (p->runs) {
		struct run *r = p->runs;

		p->runs = r->next;
		free(r);
	}
	pthread_mutex_destroy(&p->lock);
	for (uint32_t part = 0; p->bases && part <= p->plans.graph->model->n_referenced; part++)
		free(p->bases[part]);
	free(p->bases);
	nnbx_give_back(&p->plans.graph->account, p->bases_bytes);
	free(p);
}

/*
 * Set a frame's operators up for arguments that are not there yet. XNNPACK computes addresses within an input and
 * compares them with that of its own zeroes, so the input must be an address range where nothing else is.
 */
static enum nnb_status set_up_for_nothing(struct plan_frame *f)
{
	const struct nnb_model *m = f->plans->graph->model;
	const struct nnb_shape *shapes = f->plans->graph->shapes;
	uint64_t most = 1, bytes; /* bytes of the largest input or output */
	enum nnb_status status;
	void *nowhere;

	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_operand *o = &m->operands[i];

		if (o->lifetime != NNB_MODEL_INPUT && o->lifetime != NNB_MODEL_OUTPUT)
			continue;
		if (!nnb_operand_bytes(o->type, shapes[i].rank, shapes[i].dims, &bytes) && bytes > most)
			most = bytes;
	}
	nowhere = mmap(NULL, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (nowhere == MAP_FAILED)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	for (uint32_t i = 0; i < m->n_inputs; i++)
		f->at[m->inputs[i]] = nowhere;
	for (uint32_t i = 0; i < m->n_outputs; i++)
		f->at[m->outputs[i]] = nowhere;
	status = nnbx_set_take(f);
	munmap(nowhere, most);
	return status;
}

/* All shapes are known: make what the first run needs, so that it takes no longer than later runs. */
static enum nnb_status prepared_warm(struct prepared *p)
{
	struct plan *plan;
	struct plan_frame *f;
	enum nnb_status status = nnbx_plan_take(&plan, &p->plans, p->plans.graph->shapes);

	if (status)
		return status;
	status = nnbx_plan_frame_take(&f, &p->plans, plan);
	if (!status) {
		status = set_up_for_nothing(f);
		nnbx_plan_frame_give(f);
	}
	nnbx_plan_give(&p->plans, plan);
	return status;
}

static enum nnb_status prepare_watched(const struct nnb_graph *graph, struct prepared **ret, struct nnb_reason *reason)
{
	struct prepared *p;
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t i = 0; i < graph->model->n_operations; i++) {
		if (!nnbx_worked(NNBX_STEP_UNITS))
			return NNB_STATUS_GENERAL_FAILURE;
		if (!nnbx_step_claims(graph, i)) {
			nnb_because(reason, "operation %u is not supported", i);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
	}
	for (uint32_t i = 0; i < graph->model->n_referenced; i++)
		if (!claims_all(graph->referenced[i])) {
			nnb_because(reason, "subgraph %u has an operation that is not supported", i);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	nnbx_plans_init(&p->plans, graph);
	pthread_mutex_init(&p->lock, NULL);
	status = see_operands(p);
	p->plans.base = status ? NULL : p->bases[0];
	if (!status && graph->shapes_known)
		status = prepared_warm(p);
	if (status) {
		nnb_because(reason, "the driver cannot set the model up: %s", nnb_status_name(status));
		xnnpack_release(p);
		return status;
	}
	*ret = p;
	return NNB_STATUS_NONE;
}

/* The driver ignores preference and priority: it has one way to compute, and the scheduler assigns lanes. */
static enum nnb_status xnnpack_prepare(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
                                       void **ret, struct nnb_reason *reason)
{
	struct prepared *p = NULL;
	enum nnb_status status;

	(void)device;
	nnbx_work_begin(how->look);
	status = prepare_watched(graph, &p, reason);
	if (!nnbx_work_end() && !status) {
		xnnpack_release(p);
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	if (!status)
		*ret = p;
	return status;
}

/* ---- the device ---- */

static int xnnpack_open(void **ret)
{
	static char device;

	if (xnn_initialize(&nnbx_allocator) != xnn_status_success)
		return -ENODEV;
	*ret = &device;
	return 0;
}

static void xnnpack_close(void *device)
{
	(void)device;
	xnn_deinitialize();
}

static void xnnpack_capabilities(void *device, struct nnb_capabilities *ret)
{
	const struct nnb_performance as_the_cpu = { .time = 1, .power = 1 };

	(void)device;
	ret->relaxed = as_the_cpu;
	ret->n_types = NNB_TENSOR_QUANT8_ASYMM_SIGNED + 1; /* all but the vendor's */
	for (uint32_t i = 0; i < ret->n_types; i++)
		ret->types[i] = (struct nnb_type_performance){ i, as_the_cpu };
}

NNB_PUBLIC extern const struct nnb_driver nnb_driver_xnnpack;
const struct nnb_driver nnb_driver_xnnpack = {
	.abi = NNB_DRIVER_ABI,
	.name = "xnnpack",
	.version = "1", /* packed weights are not saved, so XNNPACK's own version decides nothing */
	.open = xnnpack_open,
	.close = xnnpack_close,
	.capabilities = xnnpack_capabilities,
	.supported = xnnpack_supported,
	.prepare = xnnpack_prepare,
	.release = xnnpack_release,
	.run_begin = xnnpack_run_begin,
	.run_op = xnnpack_run_op,
	.run_park = xnnpack_run_park,
	.run_end = xnnpack_run_end,
	.buffer_new = nnb_plain_buffer_new,
	.buffer_free = nnb_plain_buffer_free,
	.performance = nnbx_performance,
};

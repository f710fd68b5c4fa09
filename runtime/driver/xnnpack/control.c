/*
 * control.c -- IF and WHILE: subgraphs run in frames of their own (frame.h). The caller takes over a frame's outputs
 * and does not copy them.
 *
 * Time: a loop's time excludes the time that its run waits in looks (kernels/look.h), because another run may hold
 * the device then. All loops have the same timeout, so the outermost loop ends first, and loop_end is its end. The
 * driver compares it with the clock before each operation in a loop; it does not end an operation that is under way.
 *
 * Looks: every iteration ends with a look, even a short one.
 */
#include <assert.h>
#include <stdlib.h>

#include "frame.h"
#include "kernels/look.h"
#include "saturated.h"

/* ---- time ---- */

static uint64_t own_time(void)
{
	return nnbx_now() - nnbx_work.waited_ns;
}

bool nnbx_loop_is_over(const struct loose *l)
{
	return l->loops && own_time() >= l->loop_end;
}

/* ---- what goes from frame to frame ---- */

/* A value: of a frame that outlives it, or owned, and then of @taken bytes. */
struct value {
	struct nnb_shape shape;
	void *at;
	uint64_t taken; /* 0: borrowed */
};

/* Take output @output from a frame that has run. The frame loses it. */
static struct value value_taken(struct frame *f, uint32_t output)
{
	struct value v;
	uint32_t operand;

	assert(output < f->graph->model->n_outputs);
	operand = f->graph->model->outputs[output];
	v = (struct value){ f->found[operand], f->at[operand], f->bytes[operand] };
	f->at[operand] = NULL;
	f->bytes[operand] = 0;
	return v;
}

static void value_give(struct frame *f, struct value *v)
{
	if (v->taken)
		nnbx_frame_give(f, v->at, v->taken);
	v->taken = 0;
}

/* Does @shape match the shape that the model or the request states? */
static bool shape_agrees(const struct nnb_shape *asked, const struct nnb_shape *shape)
{
	if (asked->rank && asked->rank != shape->rank)
		return false;
	for (uint32_t d = 0; d < asked->rank; d++)
		if ((asked->known || asked->dims[d]) && asked->dims[d] != shape->dims[d])
			return false;
	return true;
}

/* Make @v the value of @operand of @f, which then owns it or has given it away. */
static enum nnb_status value_put(struct frame *f, uint32_t operand, struct value *v)
{
	enum nnb_status status;

	if (!v->shape.known || !shape_agrees(&f->found[operand], &v->shape))
		return NNB_STATUS_GENERAL_FAILURE;
	f->found[operand] = v->shape;
	if (v->taken && (!f->is_main || f->output_of[operand] == NO_OUTPUT)) {
		f->at[operand] = v->at;
		f->bytes[operand] = v->taken;
		v->taken = 0;
		return NNB_STATUS_NONE;
	}
	status = nnbx_frame_place(f, operand);
	if (!status)
		nnbx_copy(f->at[operand], v->at, nnbx_frame_bytes(f, operand, &v->shape));
	return status;
}

/* Run @inner with these values. */
static enum nnb_status frame_run_with(struct frame *inner, const struct value *inputs)
{
	enum nnb_status status = nnbx_frame_clear(inner) ? NNB_STATUS_NONE : NNB_STATUS_GENERAL_FAILURE;

	for (uint32_t k = 0; !status && k < inner->graph->model->n_inputs; k++)
		status = nnbx_frame_input(inner, k, &inputs[k].shape, inputs[k].at);
	return status ? status : nnbx_frame_run(inner);
}

/* A BOOL8 of one element: read once, because the app may change it. */
static enum nnb_status truth_of(const struct frame *f, uint32_t operand, bool *ret)
{
	const struct nnb_shape *s = &f->found[operand];
	const volatile uint8_t *at = f->at[operand];

	if (!s->known || s->omitted || s->rank != 1 || s->dims[0] != 1 || !at)
		return NNB_STATUS_GENERAL_FAILURE;
	*ret = *at != 0;
	return NNB_STATUS_NONE;
}

static uint32_t subgraph_at(const struct frame *f, const struct nnb_operation *op, uint32_t k)
{
	return f->graph->model->operands[op->inputs[k]].location.offset;
}

/* The operation's inputs from @first on. */
static void values_borrow(const struct frame *f, const struct nnb_operation *op, uint32_t first, struct value *ret)
{
	assert(first <= op->n_inputs);
	for (uint32_t k = first; k < op->n_inputs; k++)
		ret[k - first] = (struct value){ f->found[op->inputs[k]], f->at[op->inputs[k]], 0 };
}

/* ---- IF ---- */

static enum nnb_status if_run(struct frame *f, const struct nnb_operation *op, struct value *inputs)
{
	struct frame branch = { 0 };
	enum nnb_status status;
	bool truth, ran;

	status = truth_of(f, op->inputs[0], &truth);
	if (status)
		return status;
	values_borrow(f, op, 3, inputs);
	status = nnbx_frame_init(&branch, f, subgraph_at(f, op, truth ? 1 : 2));
	if (!status)
		status = frame_run_with(&branch, inputs);
	ran = !status;
	for (uint32_t k = 0; ran && k < op->n_outputs; k++) { /* all, so that the shape of each is reported */
		struct value v = value_taken(&branch, k);
		enum nnb_status put = value_put(f, op->outputs[k], &v);

		status = status ? status : put;
		value_give(f, &v);
	}
	nnbx_frame_fini(&branch);
	return status;
}

/* ---- WHILE ---- */

struct while_loop {
	struct frame *outer;
	const struct nnb_operation *op;
	struct frame condition, body;
	struct value *state;
	uint64_t iterations;
};

/* The body's outputs become the state. */
static enum nnb_status loop_iterate(struct while_loop *w)
{
	const struct loose *l = w->outer->run;
	enum nnb_status status = frame_run_with(&w->body, w->state);

	for (uint32_t k = 0; !status && k < w->body.graph->model->n_outputs; k++) {
		value_give(w->outer, &w->state[k]);
		w->state[k] = value_taken(&w->body, k);
	}
	if (status)
		return status;
	w->iterations++;
	assert(l->loops > 0);
	if (l->run.loops && l->run.loops->iterated)
		l->run.loops->iterated(l->run.loops->arg, l->op, l->loops - 1, w->iterations);
	return nnbx_work_look() ? NNB_STATUS_NONE : NNB_STATUS_GENERAL_FAILURE;
}

static enum nnb_status loop_run(struct while_loop *w)
{
	enum nnb_status status = NNB_STATUS_NONE;
	bool goes_on;

	while (!status) {
		status = frame_run_with(&w->condition, w->state);
		if (!status)
			status = truth_of(&w->condition, w->condition.graph->model->outputs[0], &goes_on);
		if (status || !goes_on)
			break;
		if (nnbx_loop_is_over(w->outer->run))
			return NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
		status = loop_iterate(w);
	}
	if (status)
		return status;
	for (uint32_t k = 0; k < w->op->n_outputs; k++) { /* all, so that the shape of each is reported */
		enum nnb_status put = value_put(w->outer, w->op->outputs[k], &w->state[k]);

		status = status ? status : put;
	}
	return status;
}

static enum nnb_status while_run(struct frame *f, const struct nnb_operation *op, struct value *state)
{
	struct while_loop w = { .outer = f, .op = op, .state = state };
	enum nnb_status status;
	uint64_t now;

	values_borrow(f, op, 2, state);
	now = own_time();
	nnbx_work.is_timed = true;
	if (!f->run->loops++)
		f->run->loop_end = saturated_sum(now, f->run->run.loops ? f->run->run.loops->timeout_ns : UINT64_MAX);
	status = nnbx_frame_init(&w.condition, f, subgraph_at(f, op, 0));
	if (!status)
		status = nnbx_frame_init(&w.body, f, subgraph_at(f, op, 1));
	if (!status)
		status = loop_run(&w);
	nnbx_frame_fini(&w.condition);
	nnbx_frame_fini(&w.body);
	assert(f->run->loops > 0);
	f->run->loops--;
	nnbx_work.is_timed = f->run->loops;
	return status;
}

/* ---- both ---- */

enum nnb_status nnbx_control(struct frame *f, uint32_t index)
{
	const struct nnb_operation *op = &f->graph->model->operations[index];
	uint64_t bytes = op->n_inputs * sizeof(struct value);
	enum nnb_status status = nnbx_charge(&f->run->main.graph->account, bytes);
	struct value *values;

	if (status)
		return status;
	values = calloc(1, bytes);
	if (!values) {
		nnbx_give_back(&f->run->main.graph->account, bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = op->type == NNB_IF ? if_run(f, op, values) : while_run(f, op, values);
	for (uint32_t k = 0; k < op->n_inputs; k++)
		value_give(f, &values[k]);
	free(values);
	nnbx_give_back(&f->run->main.graph->account, bytes);
	return status;
}

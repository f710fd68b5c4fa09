/*
 * loose.c -- see loose.h.
 *
 * TRUST  What a shape is made of was computed from a stranger's tensors: each is checked before memory is taken for it, and all
 *        memory together is never more than the device's.
 */
#include "loose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/look.h"
#include "memory.h"
#include "operand.h"

enum { ALIGNMENT = 64, NO_OUTPUT = UINT32_MAX, COUNTED_MAX = 4 /* outputs of an operation that counts rows */ };

struct loose {
	const struct nnb_graph *graph;
	const struct nnb_operand *base;
	struct nnb_run run;
	uint64_t held;       /* bytes of own, */
	uint64_t own;        /* and of this and the arrays: charged */
	void **at;           /* by operand */
	uint64_t *bytes;     /* by operand: what at has been allocated with; 0: the caller owns that memory */
	uint32_t *output_of; /* by operand: which output of the model it is */
};

static const struct nnb_account *account_of(const struct loose *l)
{
	return &l->graph->account;
}

/* ---- memory ---- */

/* Room for @bytes, and what kernels may read behind them. */
static enum nnb_status take(struct loose *l, uint64_t bytes, void **ret, uint64_t *taken)
{
	uint64_t all = saturated_sum(bytes, NNB_MAPPING_SLACK + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	enum nnb_status status;

	if (all > nnbx_device_memory() || l->held > nnbx_device_memory() - all)
		return NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	status = nnbx_charge(account_of(l), all);
	if (status)
		return status;
	*ret = aligned_alloc(ALIGNMENT, all);
	if (!*ret) {
		nnbx_give_back(account_of(l), all);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	nnbx_clear(*ret, all); /* a run may not see what another run left */
	l->held += all;
	*taken = all;
	return NNB_STATUS_NONE;
}

static void give(struct loose *l, void *at, uint64_t taken)
{
	free(at);
	l->held -= taken;
	nnbx_give_back(account_of(l), taken);
}

static void drop(struct loose *l, uint32_t operand)
{
	if (!l->bytes[operand])
		return;
	give(l, l->at[operand], l->bytes[operand]);
	l->at[operand] = NULL;
	l->bytes[operand] = 0;
}

static uint64_t bytes_of(const struct loose *l, uint32_t operand, const struct nnb_shape *shape)
{
	return saturated_product(saturated_elements(shape),
	                         nnb_type_info(l->graph->model->operands[operand].type)->bytes);
}

static enum nnb_status own(struct loose *l, uint32_t operand, const struct nnb_shape *shape)
{
	return take(l, bytes_of(l, operand, shape), &l->at[operand], &l->bytes[operand]);
}

/* ---- the run ---- */

void nnbx_loose_free(struct loose *l)
{
	const struct nnb_account *account;
	uint64_t own;

	if (!l)
		return;
	for (uint32_t i = 0; l->at && l->bytes && i < l->graph->model->n_operands; i++)
		drop(l, i);
	account = account_of(l);
	own = l->own;
	free(l->at);
	free(l->bytes);
	free(l->output_of);
	free(l);
	nnbx_give_back(account, own);
}

static void bind(struct loose *l)
{
	const struct nnb_model *m = l->graph->model;

	for (uint32_t i = 0; i < m->n_operands; i++) {
		l->at[i] = (void *)l->graph->constants[i];
		l->output_of[i] = NO_OUTPUT;
	}
	for (uint32_t i = 0; i < m->n_inputs; i++)
		l->at[m->inputs[i]] = (void *)l->run.inputs[i];
	for (uint32_t i = 0; i < m->n_outputs; i++)
		l->output_of[m->outputs[i]] = i;
}

enum nnb_status nnbx_loose_new(struct loose **ret, const struct nnb_graph *graph, const struct nnb_operand *base,
                               const struct nnb_run *run)
{
	uint64_t n = graph->model->n_operands;
	uint64_t bytes = sizeof(struct loose) + n * (sizeof(void *) + sizeof(uint64_t) + sizeof(uint32_t));
	enum nnb_status status = nnbx_charge(&graph->account, bytes);
	struct loose *l;

	if (status)
		return status;
	l = calloc(1, sizeof(*l));
	if (!l) {
		nnbx_give_back(&graph->account, bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	*l = (struct loose){ .graph = graph, .base = base, .run = *run, .own = bytes };
	l->at = calloc(n, sizeof(*l->at));
	l->bytes = calloc(n, sizeof(*l->bytes));
	l->output_of = calloc(n, sizeof(*l->output_of));
	if (!l->at || !l->bytes || !l->output_of) {
		nnbx_loose_free(l);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	bind(l);
	*ret = l;
	return NNB_STATUS_NONE;
}

/* ---- one operation ---- */

/* The operation with its scratch memory. */
struct turn {
	struct site site;
	struct nnb_shape *found;        /* NULL: its outputs' shapes are known */
	uint32_t declared[COUNTED_MAX]; /* by output: rows, where they are declared; otherwise 0 */
};

/* Where an output whose shape is known goes. */
static enum nnb_status place(struct loose *l, uint32_t operand)
{
	uint32_t output = l->output_of[operand];

	if (output == NO_OUTPUT)
		return own(l, operand, &l->run.found[operand]);
	return l->run.place(l->run.arg, output, &l->at[operand]);
}

/* Rows that are counted by the operation are as many as there are scores, at most. */
static enum nnb_status place_most(struct loose *l, struct turn *t, const struct nnb_operation *op)
{
	uint64_t most = saturated_elements(&l->run.found[op->inputs[0]]);
	enum nnb_status status = NNB_STATUS_NONE;

	if (most > UINT32_MAX)
		return NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	for (uint32_t k = 0; !status && k < op->n_outputs; k++) {
		struct nnb_shape *shape = &l->run.found[op->outputs[k]];

		t->declared[k] = shape->dims[0];
		shape->dims[0] = (uint32_t)most;
		shape->known = true;
		status = own(l, op->outputs[k], shape);
	}
	return status;
}

/* The rows are counted: put the model's outputs where they belong, all of them, so that the shape of each is reported. */
static enum nnb_status settle(struct loose *l, const struct turn *t)
{
	const struct nnb_operation *op = t->site.op;
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t k = 0; k < op->n_outputs; k++) {
		uint32_t operand = op->outputs[k];
		enum nnb_status placed;
		void *to;

		if (t->declared[k] && t->declared[k] != t->found[k].dims[0])
			return NNB_STATUS_GENERAL_FAILURE;
		l->run.found[operand] = t->found[k];
		if (l->output_of[operand] == NO_OUTPUT)
			continue;
		placed = l->run.place(l->run.arg, l->output_of[operand], &to);
		status = status ? status : placed;
		if (placed)
			continue;
		nnbx_copy(to, l->at[operand], bytes_of(l, operand, &t->found[k]));
		drop(l, operand);
		l->at[operand] = to;
	}
	return status;
}

static enum nnb_status run_step(struct loose *l, struct turn *t)
{
	struct nnbx_tally tally = { .account = account_of(l) };
	struct step step = { 0 };
	enum nnb_status status;

	nnbx_tally_begin(&tally);
	status = nnbx_step_init(&step, &t->site);
	if (!status)
		status = nnbx_step_run(&step, &t->site);
	nnbx_tally_end();
	nnbx_step_fini(&step);
	nnbx_give_back(account_of(l), tally.bytes);
	return tally.refused ? tally.refused : status;
}

static bool counts_rows(const struct loose *l, const struct nnb_operation *op)
{
	return op->n_outputs && !l->run.found[op->outputs[0]].known;
}

/* Its outputs have their places. */
static enum nnb_status run_placed(struct loose *l, struct turn *t, uint32_t op)
{
	enum nnb_status status;
	uint64_t taken;

	t->site = nnbx_site(l->graph, l->base, op, l->run.found);
	t->site.at = l->at;
	t->site.found = t->found;
	status = take(l, nnbx_step_scratch(&t->site), &t->site.scratch, &taken);
	if (status)
		return status;
	status = run_step(l, t);
	give(l, t->site.scratch, taken);
	return status || !t->found || nnbx_work.stopped ? status : settle(l, t);
}

enum nnb_status nnbx_loose_op(struct loose *l, uint32_t index)
{
	const struct nnb_operation *op = &l->graph->model->operations[index];
	struct turn t = { .found = NULL };
	enum nnb_status status = NNB_STATUS_NONE;
	struct nnb_shape counted[COUNTED_MAX] = { 0 };
	int r = nnb_op_shapes(l->graph, index, (const void *const *)l->at, l->run.found);

	if (r)
		return r == -ENOMEM ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_GENERAL_FAILURE;
	if (counts_rows(l, op)) {
		if (op->n_outputs > COUNTED_MAX || !l->run.found[op->outputs[0]].rank)
			return NNB_STATUS_GENERAL_FAILURE; /* a shape stays unknown */
		t.found = counted;
		status = place_most(l, &t, op);
	}
	for (uint32_t k = 0; !t.found && k < op->n_outputs; k++) {
		bool known = l->run.found[op->outputs[k]].known;
		enum nnb_status placed = known ? place(l, op->outputs[k]) : NNB_STATUS_GENERAL_FAILURE;

		status = status ? status : placed; /* each is placed, so that the shape of each is reported */
	}
	if (!status)
		status = run_placed(l, &t, index);
	for (uint32_t k = 0; k < op->n_inputs; k++)
		if (l->graph->last_reader[op->inputs[k]] == index)
			drop(l, op->inputs[k]);
	for (uint32_t k = 0; k < op->n_outputs; k++)
		if (l->graph->last_reader[op->outputs[k]] == index) /* no operation reads it */
			drop(l, op->outputs[k]);
	return status;
}

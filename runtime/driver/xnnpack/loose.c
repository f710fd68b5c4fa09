/*
 * loose.c -- runs a model one operation at a time, where its shapes are known only on the way.
 *
 * A frame is one running graph: the main one, or a subgraph that IF or WHILE runs. The main frame's inputs and
 * outputs are the caller's. A subgraph's inputs are borrowed from the frame that runs it; its outputs belong to it
 * until they are taken. Frames of subgraphs nest as the operations do: at most NNB_NESTING_MAX, on the stack. WHILE
 * keeps the frames of its condition and its body for all iterations, with the operations that they have set up
 * (struct kept_step): those are set up again only when a shape has changed.
 *
 * TRUST  Shapes may be computed from untrusted tensors: each is checked before memory is taken for it, and the
 *        memory of all frames together never exceeds the device's limit. An input of a subgraph whose value decides a
 *        shape is copied, because the original may change at any time. An iteration frees what it does not pass on,
 *        so an endless loop takes no more memory than one iteration.
 */
#include "frame.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/look.h"
#include "saturated.h"

enum {
	ALIGNMENT = 64,
	OPERAND_UNITS = 5,    /* units of look.h for one operand of a frame, to make it or to free it */
	OPERATION_UNITS = 500 /* likewise, around what an operation computes */
};

static const struct nnb_account *frame_account(const struct frame *f)
{
	return &f->run->main.graph->account;
}

/* ---- memory ---- */

/* Allocate @bytes, with the slack that kernels may read behind them. */
static enum nnb_status memory_take(struct frame *f, uint64_t bytes, void **ret, uint64_t *taken)
{
	uint64_t all = saturated_sum(bytes, NNB_MAPPING_SLACK + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	enum nnb_status status;

	if (all > nnbx_device_memory() || f->run->held > nnbx_device_memory() - all)
		return NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	status = nnbx_charge(frame_account(f), all);
	if (status)
		return status;
	*ret = aligned_alloc(ALIGNMENT, all);
	if (!*ret) {
		nnbx_give_back(frame_account(f), all);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	nnbx_clear(*ret, all); /* a run must not see the data of an earlier run */
	f->run->held += all;
	*taken = all;
	return NNB_STATUS_NONE;
}

void nnbx_frame_give(struct frame *f, void *at, uint64_t taken)
{
	free(at);
	assert(taken <= f->run->held);
	f->run->held -= taken;
	nnbx_give_back(frame_account(f), taken);
}

static void operand_drop(struct frame *f, uint32_t operand)
{
	if (!f->bytes[operand])
		return;
	nnbx_frame_give(f, f->at[operand], f->bytes[operand]);
	f->at[operand] = NULL;
	f->bytes[operand] = 0;
}

uint64_t nnbx_frame_bytes(const struct frame *f, uint32_t operand, const struct nnb_shape *shape)
{
	return saturated_product(saturated_elements(shape),
	                         nnb_type_info(f->graph->model->operands[operand].type)->bytes);
}

static enum nnb_status operand_own(struct frame *f, uint32_t operand, const struct nnb_shape *shape)
{
	return memory_take(f, nnbx_frame_bytes(f, operand, shape), &f->at[operand], &f->bytes[operand]);
}

/* ---- operations that are kept ---- */

static void kept_free(struct frame *f, struct kept_step *k)
{
	if (!k->shapes)
		return;
	nnbx_step_fini(&k->step);
	free(k->shapes);
	nnbx_give_back(frame_account(f), k->tally.bytes + k->shapes_bytes);
	*k = (struct kept_step){ .shapes = NULL };
}

static bool kept_fits(const struct kept_step *k, const struct site *s)
{
	uint32_t n = s->op->n_inputs + s->op->n_outputs;

	for (uint32_t i = 0; k->shapes && i < n; i++)
		if (!same_shape(&k->shapes[i], &s->shapes[operand_at(s->op, i)]))
			return false;
	return k->shapes;
}

static enum nnb_status kept_make(struct frame *f, struct kept_step *k, const struct site *s)
{
	uint32_t n = s->op->n_inputs + s->op->n_outputs;
	uint64_t bytes = (n + (uint64_t)1) * sizeof(*k->shapes);
	enum nnb_status status;

	kept_free(f, k);
	status = nnbx_charge(frame_account(f), bytes);
	if (status)
		return status;
	k->shapes = malloc(bytes);
	if (!k->shapes) {
		nnbx_give_back(frame_account(f), bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	k->shapes_bytes = bytes;
	for (uint32_t i = 0; i < n; i++)
		k->shapes[i] = s->shapes[operand_at(s->op, i)];
	k->tally = (struct nnbx_tally){ .account = frame_account(f) };
	nnbx_tally_begin(&k->tally);
	status = nnbx_step_init(&k->step, s);
	nnbx_tally_end();
	status = k->tally.refused ? k->tally.refused : status;
	if (status || nnbx_work.stopped) /* the result is not complete */
		kept_free(f, k);
	return status;
}

static enum nnb_status run_kept(struct frame *f, struct kept_step *k, const struct site *s)
{
	enum nnb_status status = kept_fits(k, s) ? NNB_STATUS_NONE : kept_make(f, k, s);

	if (status || nnbx_work.stopped)
		return status;
	nnbx_tally_begin(&k->tally);
	status = nnbx_step_run(&k->step, s);
	nnbx_tally_end();
	status = k->tally.refused ? k->tally.refused : status;
	if (nnbx_work.stopped || status)
		kept_free(f, k);
	return status;
}

/* ---- frames ---- */

static uint64_t array_bytes(const struct frame *f)
{
	const struct nnb_model *m = f->graph->model;
	uint64_t each =
		sizeof(*f->at) + sizeof(*f->bytes) + sizeof(*f->output_of) + (f->is_main ? 0 : sizeof(*f->found));

	return m->n_operands * each + (f->is_main ? 0 : m->n_operations * sizeof(*f->steps));
}

/* Call this before item @i of @n is freed: it looks now and then. The item is freed whatever the look returns. */
static void look_while_freeing(uint32_t i, uint32_t n)
{
	if (i % NNBX_PART == 0)
		nnbx_worked((size_t)(n - i < NNBX_PART ? n - i : NNBX_PART) * OPERAND_UNITS);
}

static void drop_all(struct frame *f)
{
	uint32_t n = f->graph->model->n_operands;

	for (uint32_t i = 0; i < n; i++) {
		look_while_freeing(i, n);
		operand_drop(f, i);
	}
}

void nnbx_frame_fini(struct frame *f)
{
	uint32_t n = f->whole && f->steps ? f->graph->model->n_operations : 0;

	if (!f->own)
		return;
	if (f->whole)
		drop_all(f);
	for (uint32_t i = 0; i < n; i++) {
		look_while_freeing(i, n);
		kept_free(f, &f->steps[i]);
	}
	free(f->at);
	free(f->bytes);
	free(f->output_of);
	free(f->steps);
	if (!f->is_main)
		free(f->found);
	nnbx_give_back(frame_account(f), f->own);
	f->own = 0;
}

/*
 * Allocate @n elements of @each bytes, cleared unless a look ended that. calloc would not look, and a model may have
 * a million operands, for which each IF makes a frame.
 */
static void *alloc_cleared(size_t n, size_t each)
{
	void *at = n ? malloc(n * each) : calloc(1, 1);

	if (at)
		nnbx_clear(at, n * each);
	return at;
}

static enum nnb_status frame_make(struct frame *f)
{
	const struct nnb_model *m = f->graph->model;
	enum nnb_status status = nnbx_charge(frame_account(f), array_bytes(f));

	assert(!f->own && !f->whole);
	if (status)
		return status;
	f->own = array_bytes(f);
	f->at = malloc((m->n_operands + (size_t)1) * sizeof(*f->at));
	f->bytes = alloc_cleared(m->n_operands, sizeof(*f->bytes));
	f->output_of = malloc((m->n_operands + (size_t)1) * sizeof(*f->output_of));
	if (!f->is_main) {
		f->found = malloc((m->n_operands + (size_t)1) * sizeof(*f->found)); /* nnbx_frame_clear fills it */
		f->steps = alloc_cleared(m->n_operations, sizeof(*f->steps));
	}
	if (!f->at || !f->bytes || !f->output_of || !f->found || (!f->is_main && !f->steps)) {
		nnbx_frame_fini(f);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	NNBX_IN_PARTS (m->n_operands, OPERAND_UNITS, from, part)
		for (size_t i = from; i < from + part; i++) {
			f->at[i] = (void *)f->graph->constants[i];
			f->output_of[i] = NO_OUTPUT;
		}
	if (nnbx_work.stopped) {
		nnbx_frame_fini(f);
		return NNB_STATUS_GENERAL_FAILURE;
	}
	f->whole = true;
	for (uint32_t i = 0; i < m->n_outputs; i++)
		f->output_of[m->outputs[i]] = i;
	return NNB_STATUS_NONE;
}

void nnbx_loose_free(struct loose *l)
{
	const struct nnb_account *account;

	if (!l)
		return;
	account = &l->main.graph->account;
	nnbx_frame_fini(&l->main);
	assert(!l->held); /* the frames of subgraphs have ended before */
	free(l);
	nnbx_give_back(account, sizeof(*l));
}

enum nnb_status nnbx_loose_new(struct loose **ret, const struct nnb_graph *graph,
                               const struct nnb_operand *const *bases, const struct nnb_run *run)
{
	enum nnb_status status = nnbx_charge(&graph->account, sizeof(struct loose));
	struct loose *l;

	if (status)
		return status;
	l = calloc(1, sizeof(*l));
	if (!l) {
		nnbx_give_back(&graph->account, sizeof(*l));
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	*l = (struct loose){ .run = *run, .bases = bases };
	l->main = (struct frame){
		.graph = graph, .base = bases ? bases[0] : NULL, .run = l, .is_main = true, .found = run->found
	};
	status = frame_make(&l->main);
	if (status) {
		nnbx_loose_free(l);
		return status;
	}
	for (uint32_t i = 0; i < graph->model->n_inputs; i++)
		l->main.at[graph->model->inputs[i]] = (void *)run->inputs[i];
	*ret = l;
	return NNB_STATUS_NONE;
}

/* ---- one operation ---- */

/* The operation with its scratch memory. */
struct turn {
	struct site site;
	struct nnb_shape *found;        /* NULL: the shapes of its outputs are known */
	uint32_t declared[COUNTED_MAX]; /* by output: the declared number of rows; 0: not declared */
};

/* Assign memory to an output whose shape is known. */
enum nnb_status nnbx_frame_place(struct frame *f, uint32_t operand)
{
	uint32_t output;

	assert(operand < f->graph->model->n_operands);
	output = f->output_of[operand];
	if (output == NO_OUTPUT || !f->is_main)
		return operand_own(f, operand, &f->found[operand]);
	return f->run->run.place(f->run->run.arg, output, &f->at[operand]);
}

/* Assign memory to an output whose rows the operation counts: there is a row for each score at most. */
static enum nnb_status place_most(struct frame *f, struct turn *t, const struct nnb_operation *op)
{
	uint64_t most = saturated_elements(&f->found[op->inputs[0]]);
	enum nnb_status status = NNB_STATUS_NONE;

	if (most > UINT32_MAX)
		return NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	for (uint32_t k = 0; !status && k < op->n_outputs; k++) {
		struct nnb_shape *shape = &f->found[op->outputs[k]];

		assert(k < COUNTED_MAX);
		t->declared[k] = shape->dims[0];
		shape->dims[0] = (uint32_t)most;
		shape->known = true;
		status = operand_own(f, op->outputs[k], shape);
	}
	return status;
}

/*
 * The operation has counted its rows: move all outputs of the model to their places, so that the shape of each is
 * reported.
 */
static enum nnb_status shapes_settle(struct frame *f, const struct turn *t)
{
	const struct nnb_operation *op = t->site.op;
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t k = 0; k < op->n_outputs; k++) {
		uint32_t operand = op->outputs[k];
		enum nnb_status placed;
		void *to;

		if (t->declared[k] && t->declared[k] != t->found[k].dims[0])
			return NNB_STATUS_GENERAL_FAILURE;
		f->found[operand] = t->found[k];
		if (f->output_of[operand] == NO_OUTPUT || !f->is_main)
			continue;
		placed = f->run->run.place(f->run->run.arg, f->output_of[operand], &to);
		status = status ? status : placed;
		if (placed)
			continue;
		nnbx_copy(to, f->at[operand], nnbx_frame_bytes(f, operand, &t->found[k]));
		operand_drop(f, operand);
		f->at[operand] = to;
	}
	return status;
}

static enum nnb_status run_step(struct frame *f, struct turn *t)
{
	struct nnbx_tally tally = { .account = frame_account(f) };
	struct step step = { 0 };
	enum nnb_status status;

	nnbx_tally_begin(&tally);
	status = nnbx_step_init(&step, &t->site);
	if (!status)
		status = nnbx_step_run(&step, &t->site);
	nnbx_tally_end();
	nnbx_step_fini(&step);
	nnbx_give_back(frame_account(f), tally.bytes);
	return tally.refused ? tally.refused : status;
}

/* Run an operation whose outputs have their places. */
static enum nnb_status run_placed(struct frame *f, struct turn *t, uint32_t op)
{
	enum nnb_status status;
	uint64_t taken;

	t->site = nnbx_site(f->graph, f->base, op, f->found);
	t->site.at = f->at;
	t->site.found = t->found;
	status = memory_take(f, nnbx_step_scratch(&t->site), &t->site.scratch, &taken);
	if (status)
		return status;
	status = f->steps ? run_kept(f, &f->steps[op], &t->site) : run_step(f, t);
	nnbx_frame_give(f, t->site.scratch, taken);
	return status || !t->found || nnbx_work.stopped ? status : shapes_settle(f, t);
}

/* Run an operation other than IF and WHILE. */
static enum nnb_status run_plain(struct frame *f, uint32_t index)
{
	const struct nnb_operation *op = &f->graph->model->operations[index];
	struct turn t = { .found = NULL };
	enum nnb_status status = NNB_STATUS_NONE;
	struct nnb_shape counted[COUNTED_MAX] = { 0 };
	int r = nnb_op_shapes(f->graph, index, (const void *const *)f->at, f->found);

	if (r)
		return r == -ENOMEM ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_GENERAL_FAILURE;
	if (op->n_outputs && !f->found[op->outputs[0]].known) { /* the operation counts its rows */
		if (op->n_outputs > COUNTED_MAX || !f->found[op->outputs[0]].rank)
			return NNB_STATUS_GENERAL_FAILURE; /* a shape stays unknown */
		t.found = counted;
		status = place_most(f, &t, op);
	}
	for (uint32_t k = 0; !t.found && k < op->n_outputs; k++) {
		bool known = f->found[op->outputs[k]].known;
		enum nnb_status placed = known ? nnbx_frame_place(f, op->outputs[k]) : NNB_STATUS_GENERAL_FAILURE;

		status = status ? status : placed; /* each is placed, so that the shape of each is reported */
	}
	return status ? status : run_placed(f, &t, index);
}

static enum nnb_status frame_op(struct frame *f, uint32_t index)
{
	const struct nnb_operation *op = &f->graph->model->operations[index];
	bool control = op->type == NNB_IF || op->type == NNB_WHILE;
	enum nnb_status status = control ? nnbx_control(f, index) : run_plain(f, index);

	for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
		uint32_t operand = operand_at(op, i);
		bool kept =
			!f->is_main && f->output_of[operand] != NO_OUTPUT; /* a subgraph's output, until it is taken */

		if (f->graph->last_reader[operand] == index &&
		    !kept) /* this includes an operand that no operation reads */
			operand_drop(f, operand);
	}
	return status;
}

enum nnb_status nnbx_loose_op(struct loose *l, uint32_t index)
{
	assert(index < l->main.graph->model->n_operations);
	l->op = index;
	return frame_op(&l->main, index);
}

/* ---- subgraphs ---- */

enum nnb_status nnbx_frame_init(struct frame *f, struct frame *outer, uint32_t index)
{
	struct loose *l = outer->run;

	assert(index < outer->graph->model->n_referenced);
	*f = (struct frame){ .graph = outer->graph->referenced[index],
		             .base = l->bases ? l->bases[index + 1] : NULL,
		             .run = l };
	return frame_make(f);
}

bool nnbx_frame_clear(struct frame *f)
{
	drop_all(f);
	nnbx_copy(f->found, f->graph->shapes, f->graph->model->n_operands * sizeof(*f->found));
	return !nnbx_work.stopped;
}

enum nnb_status nnbx_frame_input(struct frame *f, uint32_t input, const struct nnb_shape *shape, void *at)
{
	uint32_t operand;
	enum nnb_status status;
	const struct nnb_operand *o;

	assert(input < f->graph->model->n_inputs);
	operand = f->graph->model->inputs[input];
	/* Does @shape match the declared shape of the operand? */
	o = &f->graph->model->operands[operand];
	if (shape->omitted || (o->rank && o->rank != shape->rank))
		return NNB_STATUS_GENERAL_FAILURE;
	for (uint32_t d = 0; d < o->rank; d++)
		if (o->dims[d] && o->dims[d] != shape->dims[d])
			return NNB_STATUS_GENERAL_FAILURE;
	f->found[operand] = *shape;
	f->at[operand] = at;
	if (!f->graph->value_decides[input])
		return NNB_STATUS_NONE;
	status = operand_own(f, operand, shape);
	if (status)
		f->at[operand] = NULL;
	else
		nnbx_copy(f->at[operand], at, nnbx_frame_bytes(f, operand, shape));
	return status;
}

enum nnb_status nnbx_frame_run(struct frame *f)
{
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t i = 0; !status && i < f->graph->model->n_operations; i++) {
		if (nnbx_loop_is_over(f->run))
			return NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
		nnbx_worked(OPERATION_UNITS); /* units for the computation are counted in addition */
		status = frame_op(f, i);
		if (nnbx_work.stopped)
			return NNB_STATUS_GENERAL_FAILURE;
	}
	return status;
}

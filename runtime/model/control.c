/*
 * control.c -- checks that IF and WHILE match their subgraphs (HAL 1.3).
 *
 *   IF     inputs   condition, the subgraph for true, the subgraph for false, inputs of both
 *          outputs  those of the subgraph
 *   WHILE  inputs   condition's subgraph, body's subgraph, then the state: m operands that are also outputs of the
 *                   loop, k that are passed from one iteration to the next only, and n that stay constant
 *          outputs  the first m of the state
 *          The body's inputs are the whole state; its outputs are the first m + k. The condition has the same inputs,
 *          and one BOOL8 output.
 *
 * TRUST  All operands and lists of all subgraphs are checked before; operations are not.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "model/ops.h"
#include "model/reason.h"

/* An operand of a model or of one of its subgraphs. */
struct end {
	const struct nnb_model *model;
	const struct nnb_operand *operand;
};

static bool same_scales(const struct end *a, const struct end *b)
{
	uint32_t n = a->operand->n_scales;

	if (n != b->operand->n_scales || a->operand->channel_dim != b->operand->channel_dim)
		return false;
	return !n || memcmp(nnb_operand_scales(a->model, a->operand), nnb_operand_scales(b->model, b->operand),
	                    n * sizeof(float)) == 0;
}

static bool dims_agree(const struct nnb_operand *a, const struct nnb_operand *b)
{
	if (!a->rank || !b->rank) /* a shape is unknown, or both are scalars */
		return true;
	if (a->rank != b->rank)
		return false;
	for (uint32_t d = 0; d < a->rank; d++)
		if (a->dims[d] && b->dims[d] && a->dims[d] != b->dims[d])
			return false;
	return true;
}

/* May a value of @a be stored in @b? */
static int ends_match(const struct end *a, const struct end *b, struct nnb_reason *reason)
{
	const struct nnb_operand *from = a->operand, *to = b->operand;

	if (from->type != to->type)
		nnb_because(reason, "%s and %s", nnb_type_info(from->type)->name, nnb_type_info(to->type)->name);
	else if (from->scale != to->scale || from->zero_point != to->zero_point || !same_scales(a, b))
		nnb_because(reason, "they are quantised differently");
	else if (!dims_agree(from, to))
		nnb_because(reason, "they have different dimensions");
	else
		return 0;
	return -EINVAL;
}

/* Check @n pairs: @outer's operands @a with @inner's operands @b. */
static int all_ends_match(const struct nnb_model *outer, const uint32_t *a, const struct nnb_model *inner,
                          const uint32_t *b, uint32_t n, const char *what, struct nnb_reason *reason)
{
	for (uint32_t k = 0; k < n; k++) {
		struct end from = { outer, &outer->operands[a[k]] }, to = { inner, &inner->operands[b[k]] };

		if (ends_match(&from, &to, reason)) {
			nnb__within(reason, "%s %u and the subgraph's", what, k);
			return -EINVAL;
		}
	}
	return 0;
}

static int takes_so_many(const char *what, uint32_t has, uint32_t wants, struct nnb_reason *reason)
{
	if (has == wants)
		return 0;
	nnb_because(reason, "the subgraph has %u %s instead of %u", has, what, wants);
	return -EINVAL;
}

/* Require a BOOL8 of one element. */
static int is_condition(const struct nnb_operand *o, struct nnb_reason *reason)
{
	if (o->type == NNB_TENSOR_BOOL8 && (!o->rank || (o->rank == 1 && o->dims[0] <= 1)))
		return 0;
	nnb_because(reason, "the condition is not one element of TENSOR_BOOL8");
	return -EINVAL;
}

/* The subgraph that input @k refers to. */
static struct nnb_model subgraph_of(const struct nnb_model *m, const struct nnb_operation *op, uint32_t k)
{
	assert(k < op->n_inputs && m->operands[op->inputs[k]].lifetime == NNB_LIFETIME_SUBGRAPH);
	return nnb_model_view(m, m->operands[op->inputs[k]].location.offset);
}

int nnb__check_if(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	int r = is_condition(&m->operands[op->inputs[0]], reason);

	for (uint32_t k = 1; !r && k <= 2; k++) {
		const struct nnb_model branch = subgraph_of(m, op, k);

		r = takes_so_many("inputs", branch.n_inputs, op->n_inputs - 3, reason);
		if (!r)
			r = takes_so_many("outputs", branch.n_outputs, op->n_outputs, reason);
		if (!r)
			r = all_ends_match(m, op->inputs + 3, &branch, branch.inputs, branch.n_inputs, "input", reason);
		if (!r)
			r = all_ends_match(m, op->outputs, &branch, branch.outputs, branch.n_outputs, "output", reason);
		if (r)
			nnb__within(reason, "subgraph %u, if %s", m->operands[op->inputs[k]].location.offset,
			            k == 1 ? "true" : "false");
	}
	return r;
}

static int check_body(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	const struct nnb_model body = subgraph_of(m, op, 1);
	int r = takes_so_many("inputs", body.n_inputs, op->n_inputs - 2, reason);

	if (!r && (body.n_outputs < op->n_outputs || body.n_outputs > body.n_inputs)) {
		nnb_because(reason, "the body has %u outputs for a state of %u, and the loop has %u", body.n_outputs,
		            body.n_inputs, op->n_outputs);
		return -EINVAL;
	}
	if (!r)
		r = all_ends_match(m, op->inputs + 2, &body, body.inputs, body.n_inputs, "input", reason);
	if (!r)
		r = all_ends_match(m, op->outputs, &body, body.outputs, op->n_outputs, "output", reason);
	if (!r)
		r = all_ends_match(&body, body.outputs, &body, body.inputs, body.n_outputs, "state", reason);
	return r;
}

int nnb__check_while(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	const struct nnb_model condition = subgraph_of(m, op, 0);
	int r = takes_so_many("inputs", condition.n_inputs, op->n_inputs - 2, reason);

	if (!r)
		r = takes_so_many("outputs", condition.n_outputs, 1, reason);
	if (!r)
		r = is_condition(&condition.operands[condition.outputs[0]], reason);
	if (!r)
		r = all_ends_match(m, op->inputs + 2, &condition, condition.inputs, condition.n_inputs, "input",
		                   reason);
	if (r) {
		nnb__within(reason, "subgraph %u, the condition", m->operands[op->inputs[0]].location.offset);
		return r;
	}
	r = check_body(m, op, reason);
	if (r)
		nnb__within(reason, "subgraph %u, the body", m->operands[op->inputs[1]].location.offset);
	return r;
}

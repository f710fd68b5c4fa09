/* result.c -- the client's checks of an answer: its shapes must fit the model and the call. */
#include "burst/result.h"

bool nnb__call_packable(const struct nnb_call *call, struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < call->n_inputs + call->n_outputs; i++) {
		bool input = i < call->n_inputs;
		uint32_t k = input ? i : i - call->n_inputs;
		const struct nnb_argument *a = input ? &call->inputs[k] : &call->outputs[k];

		if (__builtin_expect(a->rank > NNB_RANK_MAX, 0)) {
			nnb_because(reason, "%s %u: rank %u", input ? "input" : "output", k, a->rank);
			return false;
		}
	}
	for (uint32_t i = 0; i < call->n_pools; i++)
		if (__builtin_expect(!call->pools[i], 0)) {
			nnb_because(reason, "pool %u is NULL", i);
			return false;
		}
	return true;
}

struct nnb_request nnb__call_request(const struct nnb_call *call)
{
	return (struct nnb_request){ .inputs = call->inputs,
		                     .outputs = call->outputs,
		                     .n_inputs = call->n_inputs,
		                     .n_outputs = call->n_outputs,
		                     .n_pools = call->n_pools };
}

/* True: the shape does not contradict these dimensions. Rank 0 and dimension 0 are unknown. */
static bool shape_agrees(const struct nnb_output_shape *s, uint32_t rank, const uint32_t *dims)
{
	if (!rank)
		return true;
	if (s->rank && s->rank != rank)
		return false;
	for (uint32_t d = 0; d < s->rank; d++)
		if (dims[d] && s->dims[d] && dims[d] != s->dims[d])
			return false;
	return true;
}

static bool shapes_check(const struct nnb_model *m, const struct nnb_call *call, const struct nnb_result *r,
                         struct nnb_reason *reason)
{
	if (!r->n_shapes)
		return true;
	if (r->n_shapes != call->n_outputs || r->n_shapes != m->n_outputs) {
		nnb_because(reason, "the service reported %u shapes for %u outputs", r->n_shapes, call->n_outputs);
		return false;
	}
	for (uint32_t i = 0; r->shapes && i < r->n_shapes; i++) {
		const struct nnb_operand *o = &m->operands[m->outputs[i]];
		const struct nnb_argument *a = &call->outputs[i];

		if (shape_agrees(&r->shapes[i], o->rank, o->dims) && shape_agrees(&r->shapes[i], a->rank, a->dims))
			continue;
		nnb_because(reason, "the service reported a shape that output %u cannot have", i);
		return false;
	}
	return true;
}

enum nnb_status nnb__answer_from_result(const struct nnb_model *m, const struct nnb_call *call, struct nnb_result *r,
                                        struct nnb_answer *answer, struct nnb_reason *reason)
{
	if (r->status != NNB_STATUS_NONE && r->status != NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE)
		r->n_shapes = 0;
	if (r->status || !call->measure)
		r->timing = NNB_NO_TIMING;
	if (!shapes_check(m, call, r, reason)) {
		r->status = NNB_STATUS_GENERAL_FAILURE;
		r->n_shapes = 0;
		r->timing = NNB_NO_TIMING;
	}
	if (answer) {
		answer->n_shapes = r->n_shapes;
		answer->timing = r->timing;
	}
	return r->status;
}

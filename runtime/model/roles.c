/*
 * roles.c -- combines the roles of a buffer.
 *
 * TRUST     Roles and description are untrusted. The models are valid.
 */
#include "model/roles.h"

#include <assert.h>
#include <string.h>

#include "model/reason.h"

#define REFUSED(reason, ...) (nnb_because(reason, __VA_ARGS__), NNB_STATUS_INVALID_ARGUMENT)

bool nnb__kind_combine(struct nnb__buffer_kind *kind, uint32_t rank, const uint32_t *dims)
{
	struct nnb__buffer_kind k = *kind;

	if (!rank)
		return true;
	if (rank > NNB_RANK_MAX || (k.rank && k.rank != rank))
		return false;
	k.rank = rank;
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t had = kind->rank ? k.dims[d] : 0;

		if (had && dims[d] && had != dims[d])
			return false;
		k.dims[d] = had ? had : dims[d];
	}
	*kind = k;
	return true;
}

/* The operand of a role; NULL: the role has none. */
static const struct nnb_operand *operand_of(const struct nnb_model *const *models, uint32_t n_models,
                                            const struct nnb_buffer_role *role, bool output, struct nnb_reason *reason)
{
	const struct nnb_model *m;

	if (role->model >= n_models || !models[role->model]) {
		nnb_because(reason, "there is no model %u", role->model);
		return NULL;
	}
	m = models[role->model];
	if (role->index >= (output ? m->n_outputs : m->n_inputs)) {
		nnb_because(reason, "the model has no such %s", output ? "output" : "input");
		return NULL;
	}
	if (!(role->frequency > 0 && role->frequency <= 1)) {
		nnb_because(reason, "a frequency of %g", (double)role->frequency);
		return NULL;
	}
	return &m->operands[output ? m->outputs[role->index] : m->inputs[role->index]];
}

static bool is_repeated(const struct nnb_model *const *models, const struct nnb_buffer_role *roles, uint32_t i)
{
	assert(models[roles[i].model]);
	for (uint32_t k = 0; k < i; k++)
		if (models[roles[k].model] == models[roles[i].model] && roles[k].index == roles[i].index)
			return true;
	return false;
}

/* Combine one list of roles. *first: the operand of the first role of all. */
static enum nnb_status combine_list(struct nnb__buffer_kind *kind, const struct nnb_operand **first,
                                    const struct nnb_model *const *models, uint32_t n_models,
                                    const struct nnb_buffer_role *roles, uint32_t n, bool output,
                                    struct nnb_reason *reason)
{
	if (n > NNB_BUFFER_ROLES_MAX)
		return REFUSED(reason, "%u roles", n);
	for (uint32_t i = 0; i < n; i++) {
		const struct nnb_operand *o = operand_of(models, n_models, &roles[i], output, reason);
		enum nnb_status status = o ? NNB_STATUS_NONE : NNB_STATUS_INVALID_ARGUMENT;

		if (!status && is_repeated(models, roles, i))
			status = REFUSED(reason, "this role is listed twice");
		if (!status && *first &&
		    (o->type != (*first)->type || memcmp(&o->scale, &(*first)->scale, sizeof(o->scale)) != 0 ||
		     o->zero_point != (*first)->zero_point))
			status = REFUSED(reason, "its type, scale or zero point is not that of the first");
		if (!status && !nnb__kind_combine(kind, o->rank, o->dims))
			status = REFUSED(reason, "its dimensions contradict those of others");
		if (status) {
			nnb__within(reason, "%s role %u", output ? "output" : "input", i);
			return status;
		}
		if (!*first)
			*first = o;
	}
	return NNB_STATUS_NONE;
}

enum nnb_status nnb__roles_combine(struct nnb__buffer_kind *ret, const struct nnb_model *const *models,
                                   uint32_t n_models, const struct nnb_buffer_desc *desc, struct nnb_reason *reason)
{
	struct nnb__buffer_kind kind = { 0 };
	const struct nnb_operand *first = NULL;
	enum nnb_status status;

	status = combine_list(&kind, &first, models, n_models, desc->inputs, desc->n_inputs, false, reason);
	if (!status)
		status = combine_list(&kind, &first, models, n_models, desc->outputs, desc->n_outputs, true, reason);
	if (status)
		return status;
	if (!first)
		return REFUSED(reason, "a buffer without a role");
	kind.type = first->type;
	if (desc->rank && !nnb_type_info(kind.type)->tensor)
		return REFUSED(reason, "a scalar has no dimensions");
	if (!nnb__kind_combine(&kind, desc->rank, desc->dims))
		return REFUSED(reason, "the dimensions asked for contradict those of its roles");
	if (nnb_operand_bytes(kind.type, kind.rank, kind.dims, &kind.bytes))
		return REFUSED(reason, "it is larger than 2^64 bytes");
	*ret = kind;
	return NNB_STATUS_NONE;
}

/*
 * request.c -- checks whether a model can be executed with a request (R1 to R9).
 *
 * TRUST   The request's contents are untrusted, but its struct is private memory: checked values do not change
 *         afterwards. The contents of the pools are not read here.
 */
#include "model/request.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/ops.h"
#include "model/reason.h"

#define REFUSED(reason, ...) (nnb_because(reason, __VA_ARGS__), NNB_STATUS_INVALID_ARGUMENT)

/* ---- pools ---- */

/* R8 */
static enum nnb_status check_pool(const struct nnb_memory *pool, struct nnb_reason *reason)
{
	switch (nnb_memory_check(pool)) {
	case 0:
		return NNB_STATUS_NONE;
	case -ENOTSUP:
		return REFUSED(reason, "there is no kind of pool of this name");
	default:
		return REFUSED(reason, "its handle is not that of its name");
	}
}

/* ---- arguments ---- */

/* R5, R6: merge the shape of the model with that of the argument. @zero_ok: an extent may stay unknown. */
static enum nnb_status argument_shape(const struct nnb_operand *o, const struct nnb_argument *a, bool zero_ok,
                                      struct nnb_shape *ret, struct nnb_reason *reason)
{
	bool tensor = nnb_type_info(o->type)->tensor;
	struct nnb_shape s = { .rank = a->rank ? a->rank : o->rank };

	assert(o->rank <= NNB_RANK_MAX);
	if (a->rank > NNB_RANK_MAX || (a->rank && o->rank && a->rank != o->rank) || (a->rank && !tensor))
		return REFUSED(reason, "rank %u does not go with the model's %u", a->rank, o->rank);
	s.known = s.rank > 0 || !tensor;
	for (uint32_t d = 0; d < s.rank; d++) {
		uint32_t model = d < o->rank ? o->dims[d] : 0, asked = a->rank ? a->dims[d] : 0;

		if (model && asked && model != asked)
			return REFUSED(reason, "dimension %u is %u in the model and %u here", d, model, asked);
		if (a->rank && !asked && !zero_ok)
			return REFUSED(reason, "dimension %u is 0", d);
		s.dims[d] = asked ? asked : model;
		s.known &= s.dims[d] != 0;
	}
	if (!s.known && !zero_ok)
		return REFUSED(reason, "its dimensions are not known");
	*ret = s;
	return NNB_STATUS_NONE;
}

/* R4, R7, P-18, M-20, and the alignment of an element. */
static enum nnb_status check_place(const struct nnb_operand *o, const struct nnb_shape *s, const struct nnb_location *l,
                                   const struct nnb_memory *pool, struct nnb_reason *reason)
{
	uint64_t length = l->length, bytes, element = nnb_type_info(o->type)->bytes;
	enum nnb_memory_kind kind = nnb_memory_kind(pool);

	if (kind == NNB_MEMORY_HARDWARE_BUFFER || kind == NNB_MEMORY_TOKEN)
		return l->offset || l->length ? REFUSED(reason, "a part of a %s", pool->name) : NNB_STATUS_NONE;
	if (kind == NNB_MEMORY_HARDWARE_BUFFER_BLOB && !l->offset && !l->length)
		length = pool->size;
	if (l->offset + length > pool->size)
		return REFUSED(reason, "bytes %u to %llu are not within pool %u", l->offset,
		               (unsigned long long)(l->offset + length), l->pool);
	if (!length)
		return REFUSED(reason, "it has no bytes");
	if (element && l->offset % element)
		return REFUSED(reason, "offset %u is no multiple of an element's %llu bytes", l->offset,
		               (unsigned long long)element);
	if (nnb_operand_bytes(o->type, s->rank, s->dims, &bytes))
		return REFUSED(reason, "it is larger than 2^64 bytes");
	if (s->known && bytes && length != bytes)
		return REFUSED(reason, "it has %llu bytes and not %llu", (unsigned long long)length,
		               (unsigned long long)bytes);
	return NNB_STATUS_NONE;
}

static enum nnb_status check_omitted(const struct nnb_argument *a, bool may_omit, struct nnb_reason *reason)
{
	if (a->location.pool || a->location.offset || a->location.length || a->rank) /* R2 */
		return REFUSED(reason, "it has no value, but it has a location or dimensions");
	return may_omit ? NNB_STATUS_NONE : REFUSED(reason, "it may not be left out");
}

/*
 * May the dimensions be taken from the buffer in which the argument lies, or may lie? The executor checks them later.
 */
static bool may_be_deduced(const struct nnb_request *request, const struct nnb_argument *a)
{
	return !request->pools || nnb_memory_kind(&request->pools[a->location.pool]) == NNB_MEMORY_TOKEN;
}

static enum nnb_status check_argument(const struct nnb_operand *o, const struct nnb_argument *a,
                                      const struct nnb_request *request, int prot, bool zero_ok,
                                      struct nnb_reason *reason)
{
	enum nnb_status status;
	struct nnb_shape s;

	if (a->location.pool >= request->n_pools) /* R3 */
		return REFUSED(reason, "there is no pool %u", a->location.pool);
	if (request->pools && nnb_memory_kind(&request->pools[a->location.pool]) == NNB_MEMORY_MMAP_FD &&
	    !(request->pools[a->location.pool].ints[0] & prot))
		return REFUSED(reason, "pool %u may not be %s", a->location.pool,
		               prot == PROT_READ ? "read" : "written");
	status = argument_shape(o, a, zero_ok || (prot == PROT_READ && may_be_deduced(request, a)), &s, reason);
	if (status || !request->pools)
		return status;
	return check_place(o, &s, &a->location, &request->pools[a->location.pool], reason);
}

/* ---- the request ---- */

/* Check a request. @pools NULL: skip the checks that need the pools. */
static enum nnb_status request_check(const struct nnb_model *m, const bool *may_omit, const struct nnb_request *r,
                                     bool fenced, struct nnb_reason *reason)
{
	bool zero_ok = m->hal >= NNB_HAL_1_2 && !fenced;
	enum nnb_status status = NNB_STATUS_NONE;
	uint32_t i;

	if (r->n_inputs != m->n_inputs || r->n_outputs != m->n_outputs) /* R1 */
		return REFUSED(reason, "%u inputs and %u outputs, where the model has %u and %u", r->n_inputs,
		               r->n_outputs, m->n_inputs, m->n_outputs);
	if ((r->n_inputs && !r->inputs) || (r->n_outputs && !r->outputs))
		return REFUSED(reason, "a list is missing");
	for (i = 0; !status && r->pools && i < r->n_pools; i++)
		status = check_pool(&r->pools[i], reason);
	if (status) {
		nnb__within(reason, "pool %u", i - 1);
		return status;
	}
	for (i = 0; !status && i < r->n_inputs; i++)
		status = r->inputs[i].no_value ? check_omitted(&r->inputs[i], may_omit[i], reason)
		                               : check_argument(&m->operands[m->inputs[i]], &r->inputs[i], r, PROT_READ,
		                                                false, reason);
	if (status) {
		nnb__within(reason, "input %u", i - 1);
		return status;
	}
	for (i = 0; !status && i < r->n_outputs; i++)
		status = r->outputs[i].no_value ? check_omitted(&r->outputs[i], false, reason)
		                                : check_argument(&m->operands[m->outputs[i]], &r->outputs[i], r,
		                                                 PROT_WRITE, zero_ok, reason);
	if (status)
		nnb__within(reason, "output %u", i - 1);
	return status;
}

enum nnb_status nnb__request_validate(const struct nnb_model *m, const bool *may_omit, const struct nnb_request *r,
                                      bool fenced, struct nnb_reason *reason)
{
	if (r->n_pools && !r->pools)
		return REFUSED(reason, "a list is missing");
	return request_check(m, may_omit, r, fenced, reason);
}

enum nnb_status nnb__request_validate_unplaced(const struct nnb_model *m, const bool *may_omit,
                                               const struct nnb_request *r, struct nnb_reason *reason)
{
	struct nnb_request unplaced = *r;

	unplaced.pools = NULL;
	return request_check(m, may_omit, &unplaced, false, reason);
}

int nnb__may_omit(const struct nnb_model *m, bool *may_omit)
{
	bool *needed = calloc(m->n_operands, sizeof(*needed)), *optional;
	uint32_t most = 0;

	for (uint32_t i = 0; i < m->n_operations; i++)
		most = m->operations[i].n_inputs > most ? m->operations[i].n_inputs : most;
	optional = calloc(most + 1, sizeof(*optional));
	for (uint32_t i = 0; needed && optional && i < m->n_operations; i++) {
		nnb__op_optional(m, &m->operations[i], optional);
		for (uint32_t k = 0; k < m->operations[i].n_inputs; k++)
			needed[m->operations[i].inputs[k]] |= !optional[k];
	}
	for (uint32_t i = 0; needed && i < m->n_inputs; i++)
		may_omit[i] = !needed[m->inputs[i]];
	free(needed);
	free(optional);
	return needed && optional ? 0 : -ENOMEM;
}

enum nnb_status nnb_request_validate(const struct nnb_model *m, const struct nnb_request *request, bool fenced,
                                     struct nnb_reason *reason)
{
	bool *may_omit = calloc(m->n_inputs + (size_t)1, sizeof(*may_omit));
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;

	if (may_omit && !nnb__may_omit(m, may_omit))
		status = nnb__request_validate(m, may_omit, request, fenced, reason);
	else
		nnb_because(reason, "out of memory");
	free(may_omit);
	return status;
}

/*
 * validate.c -- checks whether the HAL allows a model (sections 7.1 to 7.3).
 *
 * TRUST   Every field may be wrong. Counts and arrays are checked before anything is read through them, indexes
 *         before they are used; sums are computed in 64 bits. Every check is one pass, so the time is proportional to
 *         the size of the model. The frames of all subgraphs are checked before any operation, because IF and WHILE
 *         read the operands of other graphs. The depth of nested subgraphs is computed once for each subgraph.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/ops.h"
#include "model/parts.h"
#include "model/patience.h"
#include "model/reason.h"

#define REFUSED(reason, ...) (nnb_because(reason, __VA_ARGS__), NNB_STATUS_INVALID_ARGUMENT)

/* Facts about each operand from one pass over the operations. */
struct notes {
	uint32_t reads;
	bool written, listed_in, listed_out;
};

static bool is_written_by_operations(const struct nnb_operand *o)
{
	return o->lifetime == NNB_TEMPORARY || o->lifetime == NNB_MODEL_OUTPUT;
}

/* ---- the frame ---- */

static enum nnb_status check_count(const char *what, uint32_t n, const void *array, struct nnb_reason *reason)
{
	if (n > NNB_OPERANDS_MAX)
		return REFUSED(reason, "%u %s are too many", n, what);
	if (n && !array)
		return REFUSED(reason, "there are no %s where there should be %u", what, n);
	return NNB_STATUS_NONE;
}

/* Check the frame of one graph: the main graph or a subgraph. */
static enum nnb_status check_graph_frame(const struct nnb_model *m, struct nnb_reason *reason)
{
	if (check_count("operands", m->n_operands, m->operands, reason) ||
	    check_count("operations", m->n_operations, m->operations, reason) ||
	    check_count("inputs", m->n_inputs, m->inputs, reason) ||
	    check_count("outputs", m->n_outputs, m->outputs, reason))
		return NNB_STATUS_INVALID_ARGUMENT;
	if (!m->n_operands || !m->n_operations) /* O-10 */
		return REFUSED(reason, "there is no %s", m->n_operands ? "operation" : "operand");
	return NNB_STATUS_NONE;
}

/* Check that a model may have this kind of pool (P table, R8). */
static enum nnb_status check_pool(const struct nnb_memory *pool, struct nnb_reason *reason)
{
	switch (nnb_memory_kind(pool)) {
	case NNB_MEMORY_ASHMEM:
	case NNB_MEMORY_MMAP_FD:
	case NNB_MEMORY_HARDWARE_BUFFER_BLOB:
		if (nnb_memory_check(pool))
			return REFUSED(reason, "its handle is not that of %s", pool->name);
		return NNB_STATUS_NONE;
	default:
		return REFUSED(reason, "a model's pools are ashmem, mmap_fd or hardware_buffer_blob");
	}
}

/* ---- operands ---- */

/* O-2 */
static enum nnb_status check_quantisation(const struct nnb_operand *o, const struct nnb_type_info *type,
                                          struct nnb_reason *reason)
{
	bool may_scale =
		type->quantized || o->type == NNB_TENSOR_INT32 || o->type == NNB_OEM || o->type == NNB_TENSOR_OEM_BYTE;

	if (!isfinite(o->scale) || o->scale < 0 || (type->quantized && o->scale == 0) || (!may_scale && o->scale != 0))
		return REFUSED(reason, "%s has scale %g", type->name, (double)o->scale);
	if (o->zero_point < type->zero_point_min || o->zero_point > type->zero_point_max)
		return REFUSED(reason, "%s has zero point %d", type->name, o->zero_point);
	return NNB_STATUS_NONE;
}

/* O-14 */
static enum nnb_status check_dimensions(const struct nnb_model *m, const struct nnb_operand *o,
                                        const struct nnb_type_info *type, uint64_t *bytes, struct nnb_reason *reason)
{
	if (o->rank > NNB_RANK_MAX)
		return REFUSED(reason, "rank %u is beyond %d", o->rank, NNB_RANK_MAX);
	if (!type->tensor && o->rank)
		return REFUSED(reason, "%s is a scalar and has rank %u", type->name, o->rank);
	if (type->tensor && !o->rank && (m->hal < NNB_HAL_1_2 || nnb__is_constant(o)))
		return REFUSED(reason, "a tensor has rank 0");
	for (uint32_t d = 0; nnb__is_constant(o) && d < o->rank; d++)
		if (!o->dims[d])
			return REFUSED(reason, "a constant's dimension %u is not known", d);
	if (nnb_operand_bytes(o->type, o->rank, o->dims, bytes) || *bytes > UINT32_MAX)
		return REFUSED(reason, "it is larger than 4 GiB");
	return NNB_STATUS_NONE;
}

/*
 * Check the scales of channels: one for each slice of the dimension; none for other types. Runs after check_dimensions.
 */
static enum nnb_status check_channels(const struct nnb_model *m, const struct nnb_operand *o,
                                      const struct nnb_type_info *type, struct nnb_reason *reason)
{
	uint64_t end = (uint64_t)o->scales_at + (uint64_t)o->n_scales * sizeof(float);

	if (!type->by_channel)
		return o->channel_dim || o->n_scales || o->scales_at
		               ? REFUSED(reason, "%s has scales of channels", type->name)
		               : NNB_STATUS_NONE;
	if (o->channel_dim >= o->rank || !o->n_scales || o->dims[o->channel_dim] != o->n_scales)
		return REFUSED(reason, "it has %u scales for its channels in dimension %u", o->n_scales,
		               o->channel_dim);
	if (o->scales_at % sizeof(float) || end > m->n_values)
		return REFUSED(reason, "its scales do not lie within the %u bytes of values", m->n_values);
	for (uint32_t i = 0; i < o->n_scales; i++) {
		float scale = nnb_operand_scales(m, o)[i];

		if (!nnb__patient(1))
			return nnb__impatient(reason);
		if (!isfinite(scale) || scale <= 0)
			return REFUSED(reason, "channel %u has scale %g", i, (double)scale);
	}
	return NNB_STATUS_NONE;
}

/* P-4, O-15. @bytes 0: the size of the type is not known. */
static enum nnb_status check_location(const struct nnb_model *m, const struct nnb_operand *o, uint64_t bytes,
                                      struct nnb_reason *reason)
{
	const struct nnb_location *l = &o->location;
	uint64_t end = (uint64_t)l->offset + l->length;

	if (o->lifetime == NNB_LIFETIME_SUBGRAPH) {
		if (l->pool || l->length)
			return REFUSED(reason, "a subgraph has a location");
		if (l->offset >= m->n_referenced)
			return REFUSED(reason, "there is no subgraph %u", l->offset);
		return NNB_STATUS_NONE;
	}
	if (!nnb__is_constant(o)) {
		if (l->pool || l->offset || l->length)
			return REFUSED(reason, "%s has a location", nnb_lifetime_name(o->lifetime));
		return NNB_STATUS_NONE;
	}
	if (bytes && l->length != bytes)
		return REFUSED(reason, "it has %u bytes and not %llu", l->length, (unsigned long long)bytes);
	if (o->lifetime == NNB_CONSTANT_COPY) {
		if (l->pool || end > m->n_values)
			return REFUSED(reason, "it does not lie within the %u bytes of values", m->n_values);
		return NNB_STATUS_NONE;
	}
	if (l->pool >= m->n_pools)
		return REFUSED(reason, "there is no pool %u", l->pool);
	if (end > m->pools[l->pool].size)
		return REFUSED(reason, "it does not lie within pool %u", l->pool);
	return NNB_STATUS_NONE;
}

static enum nnb_status check_operand(const struct nnb_model *m, const struct nnb_operand *o, struct nnb_reason *reason)
{
	const struct nnb_type_info *type = nnb_type_info(o->type);
	enum nnb_status status;
	uint64_t bytes;

	if (!type)
		return REFUSED(reason, "there is no type %u", o->type);
	if (type->hal > m->hal)
		return REFUSED(reason, "%s is for HAL %u.%u and later", type->name, type->hal >> 4, type->hal & 15);
	if (o->lifetime > NNB_LIFETIME_SUBGRAPH)
		return REFUSED(reason, "there is no lifetime %u", o->lifetime);
	if ((o->type == NNB_SUBGRAPH) != (o->lifetime == NNB_LIFETIME_SUBGRAPH))
		return REFUSED(reason, "a %s cannot be a %s", type->name, nnb_lifetime_name(o->lifetime));
	status = check_quantisation(o, type, reason);
	if (!status)
		status = check_dimensions(m, o, type, &bytes, reason);
	if (!status)
		status = check_channels(m, o, type, reason);
	return status ? status : check_location(m, o, bytes, reason);
}

/* ---- inputs and outputs: exactly the operands with these lifetimes (O-12) ---- */

static enum nnb_status check_lists(const struct nnb_model *m, struct notes *notes, struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		uint32_t o = m->inputs[i];

		if (o >= m->n_operands || m->operands[o].lifetime != NNB_MODEL_INPUT || notes[o].listed_in)
			return REFUSED(reason, "input %u: operand %u is not a model input, or is listed twice", i, o);
		notes[o].listed_in = true;
	}
	for (uint32_t i = 0; i < m->n_outputs; i++) {
		uint32_t o = m->outputs[i];

		if (o >= m->n_operands || m->operands[o].lifetime != NNB_MODEL_OUTPUT || notes[o].listed_out)
			return REFUSED(reason, "output %u: operand %u is not a model output, or is listed twice", i, o);
		notes[o].listed_out = true;
	}
	for (uint32_t o = 0; o < m->n_operands; o++) {
		uint32_t lifetime = m->operands[o].lifetime;

		if ((lifetime == NNB_MODEL_INPUT && !notes[o].listed_in) ||
		    (lifetime == NNB_MODEL_OUTPUT && !notes[o].listed_out))
			return REFUSED(reason, "operand %u is a %s that is not listed", o, nnb_lifetime_name(lifetime));
	}
	return NNB_STATUS_NONE;
}

/* ---- operations ---- */

/* O-11: an operand is read only after it is written, is written once, and only if it may be written. */
static enum nnb_status check_flow(const struct nnb_model *m, const struct nnb_operation *op, struct notes *notes,
                                  struct nnb_reason *reason)
{
	for (uint32_t k = 0; k < op->n_inputs; k++) {
		uint32_t o = op->inputs[k];

		if (is_written_by_operations(&m->operands[o]) && !notes[o].written)
			return REFUSED(reason, "input %u: operand %u is not written before it is read", k, o);
		notes[o].reads++;
	}
	for (uint32_t k = 0; k < op->n_outputs; k++) {
		uint32_t o = op->outputs[k];

		if (!is_written_by_operations(&m->operands[o]))
			return REFUSED(reason, "output %u: operand %u is a %s", k, o,
			               nnb_lifetime_name(m->operands[o].lifetime));
		if (notes[o].written)
			return REFUSED(reason, "output %u: operand %u is written already", k, o);
		notes[o].written = true;
	}
	return NNB_STATUS_NONE;
}

static enum nnb_status check_operation(const struct nnb_model *m, const struct nnb_operation *op, struct notes *notes,
                                       struct nnb_reason *reason)
{
	enum nnb_status status;

	if (!nnb_op_name(op->type))
		return REFUSED(reason, "there is no such operation");
	if (nnb_op_hal(op->type) > m->hal)
		return REFUSED(reason, "it is for HAL %u.%u and later", nnb_op_hal(op->type) >> 4,
		               nnb_op_hal(op->type) & 15);
	if (check_count("inputs", op->n_inputs, op->inputs, reason) ||
	    check_count("outputs", op->n_outputs, op->outputs, reason))
		return NNB_STATUS_INVALID_ARGUMENT;
	for (uint32_t k = 0; k < op->n_inputs; k++)
		if (op->inputs[k] >= m->n_operands)
			return REFUSED(reason, "input %u: there is no operand %u", k, op->inputs[k]);
	for (uint32_t k = 0; k < op->n_outputs; k++)
		if (op->outputs[k] >= m->n_operands)
			return REFUSED(reason, "output %u: there is no operand %u", k, op->outputs[k]);
	status = check_flow(m, op, notes, reason);
	/* the vendor and its apps agree on the operands of an OEM operation */
	if (!status && op->type != NNB_OEM_OPERATION && nnb__op_check(m, op, reason))
		status = NNB_STATUS_INVALID_ARGUMENT;
	return status;
}

/* ---- the model ---- */

static enum nnb_status check_operands(const struct nnb_model *m, struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < m->n_operands; i++) {
		if (!nnb__patient(NNB__OPERAND_UNITS))
			return nnb__impatient(reason);
		if (check_operand(m, &m->operands[i], reason)) {
			nnb__within(reason, "operand %u", i);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
	}
	return NNB_STATUS_NONE;
}

static enum nnb_status check_operations(const struct nnb_model *m, struct notes *notes, struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t i = 0; !status && i < m->n_operations; i++) {
		const char *name = nnb_op_name(m->operations[i].type);

		if (!nnb__patient(NNB__OPERATION_UNITS + m->operations[i].n_inputs + m->operations[i].n_outputs))
			return nnb__impatient(reason);
		status = check_operation(m, &m->operations[i], notes, reason);
		if (status)
			nnb__within(reason, "operation %u (%s)", i, name ? name : "?");
	}
	if (status)
		return status;
	/* After all operations: each operand that must be written was written, and is read as often as it states
	 * (O-13). */
	for (uint32_t o = 0; o < m->n_operands; o++) {
		if (is_written_by_operations(&m->operands[o]) && !notes[o].written)
			return REFUSED(reason, "operand %u is never written", o);
		if (m->operands[o].consumers != notes[o].reads)
			return REFUSED(reason, "operand %u has %u consumers and not %u", o, notes[o].reads,
			               m->operands[o].consumers);
	}
	return NNB_STATUS_NONE;
}

typedef enum nnb_status notes_fn(const struct nnb_model *m, struct notes *notes, struct nnb_reason *reason);

static enum nnb_status check_noting(const struct nnb_model *m, notes_fn *check, struct nnb_reason *reason)
{
	struct notes *notes = calloc(m->n_operands, sizeof(*notes));
	enum nnb_status status;

	if (!notes) {
		nnb_because(reason, "out of memory");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = check(m, notes, reason);
	free(notes);
	return status;
}

static enum nnb_status check_own_lists(const struct nnb_model *m, struct nnb_reason *reason)
{
	return check_noting(m, check_lists, reason);
}

/* Check the operations of one graph. The operands and lists of all graphs are valid already. */
static enum nnb_status check_own_operations(const struct nnb_model *m, struct nnb_reason *reason)
{
	return check_noting(m, check_operations, reason);
}

/* Run @check on the main graph and on every subgraph. */
static enum nnb_status check_each_part(const struct nnb_model *m,
                                       enum nnb_status (*check)(const struct nnb_model *part,
                                                                struct nnb_reason *reason),
                                       struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t part = 0; !status && part <= m->n_referenced; part++) {
		const struct nnb_model view = nnb__part(m, part);

		if (!nnb__patient(NNB__OPERATION_UNITS))
			return nnb__impatient(reason);
		status = check(&view, reason);
		if (status && part)
			nnb__within(reason, "subgraph %u", part - 1);
	}
	return status;
}

/* ---- nested subgraphs ---- */

struct nesting {
	const struct nnb_model *model;
	uint8_t *levels; /* by subgraph: the levels of nesting there, including the subgraph; 0: not computed yet */
};

static enum nnb_status find_levels(const struct nesting *n, uint32_t part, uint32_t outer, uint32_t *ret,
                                   struct nnb_reason *reason);

/* Compute the levels of subgraph @index, which is nested in @outer others. */
static enum nnb_status levels_of(const struct nesting *n, uint32_t index, uint32_t outer, uint32_t *ret,
                                 struct nnb_reason *reason)
{
	uint32_t levels = n->levels[index];
	enum nnb_status status = NNB_STATUS_NONE;

	if (!levels && outer < NNB_NESTING_MAX)
		status = find_levels(n, index + 1, outer + 1, &levels, reason);
	if (status)
		return status;
	if (!levels || outer + levels > NNB_NESTING_MAX)
		return REFUSED(reason, "subgraph %u refers to itself, or more than %d lie within each other", index,
		               NNB_NESTING_MAX);
	n->levels[index] = (uint8_t)levels;
	*ret = levels;
	return NNB_STATUS_NONE;
}

/* *ret: 1 plus the levels of the subgraphs that the part refers to. Recurses at most NNB_NESTING_MAX deep. */
static enum nnb_status find_levels(const struct nesting *n, uint32_t part, uint32_t outer, uint32_t *ret,
                                   struct nnb_reason *reason)
{
	const struct nnb_model m = nnb__part(n->model, part);
	enum nnb_status status = NNB_STATUS_NONE;
	uint32_t most = 0, levels = 0;

	for (uint32_t i = 0; !status && i < m.n_operands; i++) {
		if (!nnb__patient(1))
			return nnb__impatient(reason);
		if (m.operands[i].lifetime != NNB_LIFETIME_SUBGRAPH)
			continue;
		status = levels_of(n, m.operands[i].location.offset, outer, &levels, reason);
		most = levels > most ? levels : most;
	}
	*ret = most + 1;
	return status;
}

/* No subgraph refers to itself, and nesting is bounded, also for subgraphs without a reference to them. */
static enum nnb_status check_nesting(const struct nnb_model *m, struct nnb_reason *reason)
{
	struct nesting n = { m, calloc(m->n_referenced + (size_t)1, 1) };
	enum nnb_status status = NNB_STATUS_NONE;
	uint32_t levels;

	if (!n.levels) {
		nnb_because(reason, "out of memory");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (uint32_t i = 0; !status && i < m->n_referenced; i++)
		status = levels_of(&n, i, 0, &levels, reason);
	free(n.levels);
	return status;
}

enum nnb_status nnb_model_validate(const struct nnb_model *m, struct nnb_reason *reason)
{
	enum nnb_status status;

	if (!memchr(m->name, '\0', sizeof(m->name)))
		status = REFUSED(reason, "the name does not end");
	else if (m->hal < NNB_HAL_1_0 || m->hal > NNB_HAL_1_3)
		status = REFUSED(reason, "there is no HAL version %#x", m->hal);
	else if (check_graph_frame(m, reason) || check_count("pools", m->n_pools, m->pools, reason) ||
	         check_count("subgraphs", m->n_referenced, m->referenced, reason))
		status = NNB_STATUS_INVALID_ARGUMENT;
	else if (m->n_referenced && m->hal < NNB_HAL_1_3)
		status = REFUSED(reason, "subgraphs are for HAL 1.3 and later");
	else if (m->n_values && !m->values)
		status = REFUSED(reason, "there are no values");
	else
		status = NNB_STATUS_NONE;
	for (uint32_t i = 0; !status && i < m->n_pools; i++) {
		status = check_pool(&m->pools[i], reason);
		if (status)
			nnb__within(reason, "pool %u", i);
	}
	if (!status)
		status = check_each_part(m, check_graph_frame, reason);
	if (!status)
		status = check_each_part(m, check_operands, reason);
	if (!status)
		status = check_nesting(m, reason);
	if (!status)
		status = check_each_part(m, check_own_lists, reason);
	return status ? status : check_each_part(m, check_own_operations, reason);
}

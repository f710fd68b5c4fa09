/*
 * graph.c -- analyses a valid model once.
 *
 * TRUST     The pools' owner is untrusted and may write them at any time. Data that decides what is computed (scalars,
 *           INT32 tensors) is copied once, here, and only the copy is read. The size of all copies is bounded by the
 *           size of the model's values and pools plus a constant, however often operands name the same bytes.
 */
#include "model/graph.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/sys.h"
#include "model/cost.h"
#include "model/ops.h"
#include "model/parts.h"
#include "model/patience.h"
#include "model/reason.h"
#include "model/request.h"

enum {
	ALIGNMENT = 64,       /* alignment of every copy, P-19 */
	SHARED_MAX = 1 << 20, /* bytes by which the copies may exceed the model's own data */
};

static uint64_t aligned_up(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* Does the constant need a copy? Values in the model are not aligned, and integers decide what is computed. */
static bool wants_copy(const struct nnb_operand *o)
{
	const struct nnb_type_info *type = nnb_type_info(o->type);

	if (!nnb__is_constant(o))
		return false;
	return o->lifetime == NNB_CONSTANT_COPY || !type->tensor || o->type == NNB_TENSOR_INT32 ||
	       o->type == NNB_TENSOR_BOOL8 || (type->bytes && o->location.offset % type->bytes);
}

static enum nnb_status graph_no_memory(struct nnb_reason *reason)
{
	nnb_because(reason, "no memory for the graph");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* ---- constants ---- */

/* Map the pools. A pool that cannot be mapped or may not be read stays NULL (P-14). */
static void map_pools(struct nnb__graph *g)
{
	for (uint32_t i = 0; i < g->model->n_pools; i++) {
		struct nnb_mapping *m;
		uint64_t began = nnb__now();
		int r;

		if (!nnb__patient(NNB__POOL_UNITS))
			return;
		r = nnb_map(&m, &g->model->pools[i]);

		g->map_ns[i] = nnb__now() - began;
		if (r)
			continue;
		if (nnb_mapping_readable(m))
			g->mappings[i] = m;
		else
			nnb_mapping_unref(m);
	}
}

static const uint8_t *stored_at(const struct nnb__graph *g, const struct nnb_operand *o)
{
	const struct nnb_mapping *m;

	assert(nnb__is_constant(o));
	if (o->lifetime == NNB_CONSTANT_COPY)
		return g->model->values + o->location.offset;
	m = (g->main ? g->main : g)->mappings[o->location.pool];
	return m ? (const uint8_t *)nnb_mapping_data(m) + o->location.offset : NULL;
}

/* Check the bound on copies, over all parts. */
static enum nnb_status check_copies(const struct nnb_model *m, struct nnb_reason *reason)
{
	uint64_t need = 0, most = m->n_values;
	struct nnb__operands all;

	for (uint32_t i = 0; i < m->n_pools; i++)
		if (__builtin_add_overflow(most, m->pools[i].size, &most))
			most = UINT64_MAX;
	for (uint32_t part = 0; nnb__part_operands(m, part, &all); part++)
		for (uint32_t i = 0; i < all.n; i++)
			if (wants_copy(&all.at[i]))
				/* cannot wrap: at most 2^20 parts of 2^20 operands of 2^32 bytes */
				need += all.at[i].location.length;
	if (need <= most || need - most <= SHARED_MAX)
		return NNB_STATUS_NONE;
	nnb_because(reason, "constants overlap so much that their copies would outgrow the model");
	return NNB_STATUS_INVALID_ARGUMENT;
}

static enum nnb_status look_at_constants(struct nnb__graph *g, struct nnb_reason *reason)
{
	uint64_t need = NNB_MAPPING_SLACK;
	uint8_t *copy;

	for (uint32_t i = 0; i < g->model->n_operands; i++)
		if (wants_copy(&g->model->operands[i]))
			need += aligned_up(g->model->operands[i].location.length);
	copy = g->copies = aligned_alloc(ALIGNMENT, aligned_up(need));
	if (!copy) {
		nnb_because(reason, "no memory for the constants");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	memset(copy + need - NNB_MAPPING_SLACK, 0, NNB_MAPPING_SLACK);
	for (uint32_t i = 0; i < g->model->n_operands; i++) {
		const struct nnb_operand *o = &g->model->operands[i];
		const uint8_t *from = nnb__is_constant(o) ? stored_at(g, o) : NULL;

		if (!from)
			continue;
		if (!wants_copy(o)) {
			g->constants[i] = from;
			continue;
		}
		if (!nnb__patient_copy(copy, from, o->location.length))
			return nnb__impatient(reason);
		g->constants[i] = copy;
		copy += aligned_up(o->location.length);
	}
	return NNB_STATUS_NONE;
}

/* ---- shapes ---- */

void nnb__shape_look(struct nnb_shape *shape, uint32_t type)
{
	const struct nnb_type_info *info = nnb_type_info(type);

	shape->known = shape->rank > 0 || !info->tensor;
	for (uint32_t d = 0; d < shape->rank; d++)
		shape->known &= shape->dims[d] != 0;
}

/*
 * Merge the inferred shape into the declared shape. Validation guarantees that the two agree on the model; those of a
 * run may contradict. An inferred shape that is not known may still have a rank, and some dimensions that are not 0.
 */
static bool shape_combine(struct nnb_shape *declared, const struct nnb_shape *inferred)
{
	assert(declared->rank <= NNB_RANK_MAX && inferred->rank <= NNB_RANK_MAX);
	if (!inferred->known && !inferred->rank)
		return true;
	if (declared->rank && declared->rank != inferred->rank)
		return false;
	for (uint32_t d = 0; d < declared->rank; d++)
		if (declared->dims[d] && declared->dims[d] != inferred->dims[d] &&
		    (inferred->known || inferred->dims[d]))
			return false;
	if (inferred->known) {
		*declared = *inferred;
		return true;
	}
	declared->rank = inferred->rank;
	for (uint32_t d = 0; d < declared->rank; d++)
		if (!declared->dims[d])
			declared->dims[d] = inferred->dims[d];
	return true;
}

/* Infer one operation. @out has room for its outputs. */
static enum nnb_status infer_one(const struct nnb__op_view *view, struct nnb_shape *shapes, struct nnb_shape *out)
{
	const struct nnb_operation *op = view->op;

	if (nnb__op_shapes(view, out))
		return NNB_STATUS_INVALID_ARGUMENT;
	for (uint32_t k = 0; k < op->n_outputs; k++) {
		assert(op->outputs[k] < view->model->n_operands);
		if (!shape_combine(&shapes[op->outputs[k]], &out[k])) {
			nnb_because(view->reason, "the inferred dimensions of output %u differ from the declared ones",
			            k);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
	}
	return NNB_STATUS_NONE;
}

static enum nnb_status infer_shapes(const struct nnb__graph *g, struct nnb_shape *shapes, const void *const *values,
                                    struct nnb_reason *reason)
{
	const struct nnb_model *m = g->model;
	enum nnb_status status = NNB_STATUS_NONE;
	struct nnb_shape *out;
	uint32_t most = 0;

	/* Allocate shapes for as many outputs as any operation of the model has. */
	for (uint32_t i = 0; i < m->n_operations; i++)
		most = m->operations[i].n_outputs > most ? m->operations[i].n_outputs : most;
	out = calloc(most + (size_t)1, sizeof(struct nnb_shape));
	if (!out)
		return graph_no_memory(reason);
	for (uint32_t i = 0; !status && i < m->n_operations; i++) {
		const struct nnb_operation *op = &m->operations[i];
		const struct nnb__op_view view = {
			.model = m, .op = op, .shapes = shapes, .constants = values, .reason = reason
		};

		if (!nnb__patient(NNB__OPERATION_UNITS))
			status = nnb__impatient(reason);
		else if (op->type != NNB_OEM_OPERATION && (status = infer_one(&view, shapes, out)))
			nnb__within(reason, "operation %u (%s)", i, nnb_op_name(op->type));
	}
	free(out);
	return status;
}

int nnb_op_shapes(const struct nnb_graph *graph, uint32_t op, const void *const *values, struct nnb_shape *shapes)
{
	const struct nnb_operation *o = &graph->model->operations[op];
	const struct nnb__op_view view = { .model = graph->model, .op = o, .shapes = shapes, .constants = values };
	struct nnb_shape *out = calloc(o->n_outputs + (size_t)1, sizeof(*out));
	int r;

	if (!out)
		return -ENOMEM;
	r = infer_one(&view, shapes, out) ? -EINVAL : 0;
	free(out);
	return r;
}

static enum nnb_status look_at_shapes(struct nnb__graph *g, struct nnb_reason *reason)
{
	const struct nnb_model *m = g->model;
	enum nnb_status status;

	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_operand *o = &m->operands[i];
		struct nnb_shape *s = &g->shapes[i];

		if (!nnb__patient(NNB__OPERAND_UNITS))
			return nnb__impatient(reason);
		s->rank = o->rank;
		memcpy(s->dims, o->dims, sizeof(s->dims));
		s->omitted = o->lifetime == NNB_NO_VALUE;
		nnb__shape_look(s, o->type);
	}
	status = infer_shapes(g, g->shapes, g->constants, reason);
	if (status)
		return status;

	g->seen.shapes_known = true;
	for (uint32_t i = 0; i < m->n_operands; i++)
		g->seen.shapes_known &= g->shapes[i].known || g->shapes[i].omitted;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb__graph_run_shapes(const struct nnb__graph *g, struct nnb_shape *shapes, const void *const *values,
                                      struct nnb_reason *reason)
{
	enum nnb_status status = infer_shapes(g, shapes, values, reason);

	for (uint32_t i = 0; !status && i < g->model->n_operands; i++)
		if (!shapes[i].known && !shapes[i].omitted &&
		    (!g->seen.late || g->model->operands[i].lifetime == NNB_MODEL_INPUT)) {
			nnb_because(reason, "the dimensions of operand %u stay unknown", i);
			status = NNB_STATUS_GENERAL_FAILURE;
		}
	return status;
}

/* ---- who reads what ---- */

/* Is the number of output rows known only after the run? A declared number makes it known before. */
static bool counts_rows(const struct nnb__graph *g, const struct nnb_operation *op)
{
	if (op->type != NNB_BOX_WITH_NMS_LIMIT && op->type != NNB_GENERATE_PROPOSALS)
		return false;
	for (uint32_t k = 0; k < op->n_outputs; k++)
		if (!g->shapes[op->outputs[k]].known)
			return true;
	return false;
}

/*
 * Find the model inputs whose values decide shapes. Also set seen.late if computed values or the run itself decide
 * shapes.
 */
static int look_at_deciders(struct nnb__graph *g)
{
	const struct nnb_model *m = g->model;
	bool *decides = calloc(m->n_operands, sizeof(*decides));

	if (!decides)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->n_operations; i++) {
		if (!nnb__patient(NNB__OPERATION_UNITS + m->operations[i].n_inputs))
			break;
		g->seen.late |= counts_rows(g, &m->operations[i]) || nnb__is_control(m->operations[i].type);
		for (uint32_t k = 0; k < m->operations[i].n_inputs; k++) {
			uint32_t o = m->operations[i].inputs[k];

			if (!nnb__op_needs_value(m, &m->operations[i], k))
				continue;
			decides[o] = true;
			g->seen.late |=
				m->operands[o].lifetime == NNB_TEMPORARY || m->operands[o].lifetime == NNB_MODEL_OUTPUT;
		}
	}

	g->seen.shapes_known &= !g->seen.late;
	g->fixed = g->seen.shapes_known;
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		g->value_decides[i] = decides[m->inputs[i]];
		g->fixed &= !g->value_decides[i];
	}
	free(decides);
	return 0;
}

/* ---- life cycle ---- */

struct nnb__graph *nnb__graph_free(struct nnb__graph *g)
{
	if (!g)
		return NULL;
	assert(!g->main || !g->referenced); /* subgraphs belong to the main graph */
	for (uint32_t i = 0; g->referenced && i < g->model->n_referenced; i++)
		nnb__graph_free(g->referenced[i]);
	free(g->referenced);
	free(g->referenced_seen);
	free(g->referenced_ns);
	for (uint32_t i = 0; g->mappings && i < g->model->n_pools; i++)
		nnb_mapping_unref(g->mappings[i]);
	free(g->mappings);
	free(g->map_ns);
	free(g->value_decides);
	free(g->may_omit);
	free(g->constants);
	free(g->shapes);
	free(g->last_reader);
	nnb__free_large(g->copies);
	free(g);
	return NULL;
}

/* Allocate the arrays that every part has. */
static bool room_for_part(struct nnb__graph *g)
{
	const struct nnb_model *m = g->model;

	g->value_decides = calloc(m->n_inputs + (size_t)1, sizeof(bool));
	g->may_omit = calloc(m->n_inputs + (size_t)1, sizeof(bool));
	g->constants = calloc(m->n_operands, sizeof(void *));
	g->shapes = calloc(m->n_operands, sizeof(struct nnb_shape));
	g->last_reader = calloc(m->n_operands, sizeof(uint32_t));
	g->seen = (struct nnb_graph){ .model = m,
		                      .constants = g->constants,
		                      .shapes = g->shapes,
		                      .last_reader = g->last_reader,
		                      .value_decides = g->value_decides };
	return g->value_decides && g->may_omit && g->constants && g->shapes && g->last_reader;
}

/* Analyse the main graph or a subgraph. Its arrays are allocated and the pools are mapped. */
static enum nnb_status look_at_part(struct nnb__graph *g, struct nnb_reason *reason)
{
	enum nnb_status status = look_at_constants(g, reason);
	const struct nnb_model *m;

	if (!status)
		status = look_at_shapes(g, reason);
	if (status)
		return status;
	m = g->model;
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct nnb_operation *op = &m->operations[i];

		for (uint32_t k = 0; k < op->n_outputs; k++) {
			assert(op->outputs[k] < m->n_operands);
			g->last_reader[op->outputs[k]] = i;
		}
		for (uint32_t k = 0; k < op->n_inputs; k++)
			g->last_reader[op->inputs[k]] = i;
	}
	return look_at_deciders(g) || nnb__may_omit(g->model, g->may_omit) ? graph_no_memory(reason) : NNB_STATUS_NONE;
}

static enum nnb_status look_at_referenced(struct nnb__graph *g, struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_NONE;

	g->referenced_mapped = true;
	g->seen.referenced = g->referenced_seen;
	for (uint32_t i = 0; !status && i < g->model->n_referenced; i++) {
		struct nnb__graph *part = g->referenced[i] = calloc(1, sizeof(*part));

		if (!part)
			return graph_no_memory(reason);
		part->main = g;
		part->view = nnb_model_view(g->model, i);
		part->model = &part->view;
		status = room_for_part(part) ? look_at_part(part, reason) : graph_no_memory(reason);
		if (status)
			nnb__within(reason, "subgraph %u", i);
		part->seen.referenced = g->referenced_seen;
		g->referenced_seen[i] = &part->seen;
		for (uint32_t k = 0; k < part->model->n_operands; k++)
			if (nnb__is_constant(&part->model->operands[k]) && !part->constants[k])
				g->referenced_mapped = false;
	}
	if (!status)
		nnb__referenced_costs(&g->seen, g->referenced_ns);
	return status;
}

enum nnb_status nnb__graph_new(struct nnb__graph **ret, const struct nnb_model *model, struct nnb_reason *reason)
{
	__attribute__((cleanup(nnb__graph_freep))) struct nnb__graph *g = NULL;
	enum nnb_status status = nnb_model_validate(model, reason);

	if (status)
		return status;
	g = calloc(1, sizeof(*g));
	if (!g)
		return graph_no_memory(reason);
	g->model = model;
	if (!room_for_part(g))
		return graph_no_memory(reason);
	/* the arrays that only the main graph has */
	g->mappings = calloc(model->n_pools + (size_t)1, sizeof(struct nnb_mapping *));
	g->map_ns = calloc(model->n_pools + (size_t)1, sizeof(*g->map_ns));
	g->referenced = calloc(model->n_referenced + (size_t)1, sizeof(struct nnb__graph *));
	g->referenced_seen = calloc(model->n_referenced + (size_t)1, sizeof(struct nnb_graph *));
	g->referenced_ns = calloc(model->n_referenced + (size_t)1, sizeof(*g->referenced_ns));
	if (!g->mappings || !g->map_ns || !g->referenced || !g->referenced_seen || !g->referenced_ns)
		return graph_no_memory(reason);
	map_pools(g);
	status = check_copies(model, reason);
	if (!status)
		status = look_at_part(g, reason);
	if (!status)
		status = look_at_referenced(g, reason);
	if (status)
		return status;
	if (!nnb__patience_ask())
		return nnb__impatient(reason);
	*ret = g;
	g = NULL;
	return NNB_STATUS_NONE;
}

bool nnb__graph_mapped(const struct nnb__graph *g, uint32_t op)
{
	const struct nnb_operation *o = &g->model->operations[op];

	if (nnb__is_control(o->type) && !g->referenced_mapped)
		return false;
	for (uint32_t k = 0; k < o->n_inputs; k++)
		if (nnb__is_constant(&g->model->operands[o->inputs[k]]) && !g->constants[o->inputs[k]])
			return false;
	return true;
}

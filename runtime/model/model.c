/*
 * model.c -- builds models.
 *
 * Until nnb_model_finish, large constants wait among the model's values, marked by a pool number that no pool has.
 * nnb_model_finish moves them to a pool of their own (P-1).
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "model/parts.h"
#include "model/patience.h"
#include "nnb/model.h"

enum { REFERENCE_ALIGNMENT = 64 }; /* P-19 */
#define WAITING UINT32_MAX

int nnb_model_new(struct nnb_model **ret, const char *name, enum nnb_hal hal)
{
	struct nnb_model *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	strncpy(m->name, name, sizeof(m->name) - 1);
	m->hal = hal;
	*ret = m;
	return 0;
}

static void free_operations(struct nnb_operation *operations, uint32_t n)
{
	for (uint32_t i = 0; operations && i < n; i++) {
		free(operations[i].inputs);
		free(operations[i].outputs);
	}
	free(operations);
}

struct nnb_model *nnb_model_free(struct nnb_model *m)
{
	if (!m)
		return NULL;
	free_operations(m->operations, m->n_operations);
	for (uint32_t i = 0; m->referenced && i < m->n_referenced; i++) {
		struct nnb_subgraph *g = &m->referenced[i];

		free_operations(g->operations, g->n_operations);
		free(g->operands);
		free(g->inputs);
		free(g->outputs);
	}
	free(m->referenced);
	for (uint32_t i = 0; m->pools && i < m->n_pools; i++)
		nnb_memory_close(&m->pools[i]);
	free(m->operands);
	free(m->inputs);
	free(m->outputs);
	nnb__free_large(m->values);
	free(m->pools);
	free(m);
	return NULL;
}

struct nnb_model nnb_model_view(const struct nnb_model *m, uint32_t index)
{
	const struct nnb_subgraph *g = &m->referenced[index];
	struct nnb_model view = *m;

	view.n_operands = g->n_operands;
	view.n_operations = g->n_operations;
	view.n_inputs = g->n_inputs;
	view.n_outputs = g->n_outputs;
	view.operands = g->operands;
	view.operations = g->operations;
	view.inputs = g->inputs;
	view.outputs = g->outputs;
	return view;
}

/* ---- arrays that grow ---- */

/*
 * Make room for one more element. The capacity of an array is always its length, so that any model can grow, whatever
 * code has allocated it.
 */
static bool room_for_one(void **array, uint32_t n, size_t size)
{
	void *more = realloc(*array, (n + (size_t)1) * size);

	if (more)
		*array = more;
	return more != NULL;
}

static uint32_t *index_copy(const uint32_t *indexes, uint32_t n)
{
	uint32_t *copy = malloc((n + (size_t)1) * sizeof(*copy));

	if (copy && n)
		memcpy(copy, indexes, n * sizeof(*copy));
	return copy;
}

/* ---- building ---- */

int nnb_model_operand(struct nnb_model *m, const struct nnb_operand *operand)
{
	struct nnb_operand copy = *operand; /* a copy, because @operand may be an element of the model's own array */

	if (m->n_operands >= NNB_OPERANDS_MAX)
		return -E2BIG;
	if (!room_for_one((void **)&m->operands, m->n_operands, sizeof(copy)))
		return -ENOMEM;
	m->operands[m->n_operands] = copy;
	m->operands[m->n_operands].consumers = 0;
	m->operands[m->n_operands].n_scales = m->operands[m->n_operands].scales_at = 0;
	m->operands[m->n_operands].location = (struct nnb_location){ 0 };
	return (int)m->n_operands++;
}

/* The offset of a value of @bytes when appended at @end: aligned according to its length (P-1). */
static uint64_t place_behind(uint64_t end, uint32_t bytes)
{
	uint32_t alignment = bytes > NNB_COPY_MAX ? REFERENCE_ALIGNMENT : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;

	return (end + alignment - 1) / alignment * alignment;
}

/* Append @data to the values, aligned. *ret: its offset. */
static int add_value(struct nnb_model *m, const void *data, uint32_t bytes, uint32_t *ret)
{
	uint64_t at = place_behind(m->n_values, bytes);
	uint8_t *values;

	if (at + bytes > UINT32_MAX)
		return -EFBIG;
	values = realloc(m->values, at + bytes + 1);
	if (!values)
		return -ENOMEM;
	m->values = values;
	memset(values + m->n_values, 0, at - m->n_values);
	if (bytes)
		memcpy(values + at, data, bytes);
	m->n_values = (uint32_t)(at + bytes);
	*ret = (uint32_t)at;
	return 0;
}

int nnb_model_channels(struct nnb_model *m, uint32_t index, uint32_t channel_dim, const float *scales,
                       uint32_t n_scales)
{
	uint32_t at;
	int r;

	if (index >= m->n_operands || n_scales > NNB_OPERANDS_MAX)
		return -EINVAL;
	r = add_value(m, scales, n_scales * (uint32_t)sizeof(*scales), &at);
	if (r)
		return r;
	m->operands[index].channel_dim = channel_dim;
	m->operands[index].n_scales = n_scales;
	m->operands[index].scales_at = at;
	return 0;
}

int nnb_model_value(struct nnb_model *m, uint32_t index, const void *data, uint32_t bytes)
{
	uint32_t at;
	int r;

	if (index >= m->n_operands)
		return -EINVAL;
	r = add_value(m, data, bytes, &at);
	if (r)
		return r;
	m->operands[index].lifetime = bytes > NNB_COPY_MAX ? NNB_CONSTANT_REFERENCE : NNB_CONSTANT_COPY;
	m->operands[index].location = (struct nnb_location){ bytes > NNB_COPY_MAX ? WAITING : 0, at, bytes };
	return 0;
}

int nnb_model_pool(struct nnb_model *m, const struct nnb_memory *pool)
{
	struct nnb_memory copy;
	int r;

	if (m->n_pools >= NNB_OPERANDS_MAX)
		return -E2BIG;
	r = nnb_memory_dup(&copy, pool); /* before the array moves, because @pool may be an element of it */
	if (r)
		return r;
	if (!room_for_one((void **)&m->pools, m->n_pools, sizeof(copy))) {
		nnb_memory_close(&copy);
		return -ENOMEM;
	}
	m->pools[m->n_pools] = copy;
	return (int)m->n_pools++;
}

int nnb_model_reference(struct nnb_model *m, uint32_t index, uint32_t pool, uint32_t offset, uint32_t bytes)
{
	if (index >= m->n_operands || pool >= m->n_pools)
		return -EINVAL;
	m->operands[index].lifetime = NNB_CONSTANT_REFERENCE;
	m->operands[index].location = (struct nnb_location){ pool, offset, bytes };
	return 0;
}

static bool all_are_operands(const struct nnb_model *m, const uint32_t *indexes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (indexes[i] >= m->n_operands)
			return false;
	return true;
}

int nnb_model_operation(struct nnb_model *m, enum nnb_op type, const uint32_t *inputs, uint32_t n_inputs,
                        const uint32_t *outputs, uint32_t n_outputs)
{
	struct nnb_operation op = { .type = type, .n_inputs = n_inputs, .n_outputs = n_outputs };

	if (m->n_operations >= NNB_OPERANDS_MAX)
		return -E2BIG;
	if (!all_are_operands(m, inputs, n_inputs) || !all_are_operands(m, outputs, n_outputs))
		return -EINVAL;
	op.inputs = index_copy(inputs, n_inputs);
	op.outputs = index_copy(outputs, n_outputs);
	if (!op.inputs || !op.outputs || !room_for_one((void **)&m->operations, m->n_operations, sizeof(op))) {
		free(op.inputs);
		free(op.outputs);
		return -ENOMEM;
	}
	m->operations[m->n_operations] = op;
	return (int)m->n_operations++;
}

/* ---- finishing ---- */

/* Move the waiting constants to @to, the memory of pool @pool. */
static void move_waiting(struct nnb_model *m, uint8_t *to, uint32_t pool)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->n_operands; i++) {
		struct nnb_location *l = &m->operands[i].location;

		if (m->operands[i].lifetime != NNB_CONSTANT_REFERENCE || l->pool != WAITING)
			continue;
		memcpy(to + at, m->values + l->offset, l->length);
		*l = (struct nnb_location){ pool, at, l->length };
		at += (l->length + REFERENCE_ALIGNMENT - 1) & ~(uint32_t)(REFERENCE_ALIGNMENT - 1);
	}
}

static uint32_t scale_bytes(const struct nnb_operand *o)
{
	return o->n_scales * (uint32_t)sizeof(float);
}

/*
 * The bytes of copied values and scales when laid out in the order of their operands. They may have been added in
 * another order.
 */
static uint64_t copied_bytes(const struct nnb_model *m)
{
	uint64_t end = 0;
	struct nnb__operands all;

	for (uint32_t part = 0; nnb__part_operands(m, part, &all); part++)
		for (uint32_t i = 0; i < all.n; i++) {
			const struct nnb_operand *o = &all.at[i];

			if (o->lifetime == NNB_CONSTANT_COPY)
				end = place_behind(end, o->location.length) + o->location.length;
			if (o->n_scales)
				end = place_behind(end, scale_bytes(o)) + scale_bytes(o);
		}
	return end;
}

/* Append @bytes of the old values to the kept ones; returns their new offset. */
static uint32_t value_keep(const struct nnb_model *m, uint8_t *values, uint64_t *kept, uint32_t from, uint32_t bytes)
{
	uint64_t at = place_behind(*kept, bytes);

	memcpy(values + at, m->values + from, bytes);
	*kept = at + bytes;
	return (uint32_t)at;
}

/*
 * Close the gaps that the moved constants have left among the values. Without memory for that the gaps stay,
 * harmlessly.
 */
static void close_gaps(struct nnb_model *m)
{
	uint64_t bytes = copied_bytes(m), kept = 0;
	uint8_t *values = bytes <= UINT32_MAX ? calloc(1, bytes + 1) : NULL;
	struct nnb__operands all;

	for (uint32_t part = 0; values && nnb__part_operands(m, part, &all); part++)
		for (uint32_t i = 0; i < all.n; i++) {
			struct nnb_operand *o = &all.at[i];

			if (o->lifetime == NNB_CONSTANT_COPY)
				o->location.offset =
					value_keep(m, values, &kept, o->location.offset, o->location.length);
			if (o->n_scales)
				o->scales_at = value_keep(m, values, &kept, o->scales_at, scale_bytes(o));
		}
	if (!values)
		return;
	assert(kept == bytes);
	free(m->values);
	m->values = values;
	m->n_values = (uint32_t)kept;
}

/* Create one pool for all waiting constants. */
static int make_pool(struct nnb_model *m)
{
	uint64_t bytes = 0;
	struct nnb_mapping *mapping;
	struct nnb_memory pool;
	int r;

	/* no constant of a subgraph waits: subgraphs are finished already */
	for (uint32_t i = 0; i < m->n_operands; i++)
		if (m->operands[i].lifetime == NNB_CONSTANT_REFERENCE && m->operands[i].location.pool == WAITING)
			bytes += (m->operands[i].location.length + REFERENCE_ALIGNMENT - 1) &
			         ~(uint64_t)(REFERENCE_ALIGNMENT - 1);
	if (!bytes)
		return 0;
	r = nnb_memory_ashmem(&pool, bytes);
	if (r)
		return r;
	r = nnb_map(&mapping, &pool);
	if (!r) {
		r = nnb_model_pool(m, &pool);
		if (r >= 0) {
			move_waiting(m, nnb_mapping_data(mapping), (uint32_t)r);
			close_gaps(m);
			r = 0;
		}
		nnb_mapping_unref(mapping);
	}
	nnb_memory_close(&pool);
	return r;
}

int nnb_model_finish(struct nnb_model *m, const uint32_t *inputs, uint32_t n_inputs, const uint32_t *outputs,
                     uint32_t n_outputs)
{
	uint32_t *in, *out;
	int r;

	if (!all_are_operands(m, inputs, n_inputs) || !all_are_operands(m, outputs, n_outputs))
		return -EINVAL;
	in = index_copy(inputs, n_inputs);
	out = index_copy(outputs, n_outputs);
	r = in && out ? make_pool(m) : -ENOMEM;
	if (r) {
		free(in);
		free(out);
		return r;
	}
	for (uint32_t i = 0; i < n_inputs; i++)
		m->operands[in[i]].lifetime = NNB_MODEL_INPUT;
	for (uint32_t i = 0; i < n_outputs; i++)
		m->operands[out[i]].lifetime = NNB_MODEL_OUTPUT;
	for (uint32_t i = 0; i < m->n_operands; i++) /* count the consumers anew */
		m->operands[i].consumers = 0;
	for (uint32_t i = 0; i < m->n_operations; i++)
		for (uint32_t k = 0; k < m->operations[i].n_inputs; k++)
			m->operands[m->operations[i].inputs[k]].consumers++;
	free(m->inputs);
	free(m->outputs);
	m->inputs = in;
	m->outputs = out;
	m->n_inputs = n_inputs;
	m->n_outputs = n_outputs;
	return 0;
}

/* ---- copying ---- */

static bool copy_array(void **ret, const void *from, size_t bytes)
{
	*ret = malloc(bytes + 1);
	return *ret && nnb__patient_copy(*ret, from, bytes);
}

/* Copy operations. *ret_n: the number copied so far, which the caller frees also after a failure. */
static bool copy_operations(struct nnb_operation **ret, uint32_t *ret_n, const struct nnb_operation *from, uint32_t n)
{
	*ret = calloc(n + (size_t)1, sizeof(**ret));
	if (!*ret)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct nnb_operation *op = &from[i];
		struct nnb_operation *copy = &(*ret)[(*ret_n)++];

		*copy = *op;
		copy->inputs = copy->outputs = NULL;
		if (!nnb__patient(NNB__OPERATION_UNITS + op->n_inputs + op->n_outputs))
			return false;
		copy->inputs = index_copy(op->inputs, op->n_inputs);
		copy->outputs = index_copy(op->outputs, op->n_outputs);
		if (!copy->inputs || !copy->outputs)
			return false;
	}
	return true;
}

static bool copy_graph(struct nnb_subgraph *to, const struct nnb_subgraph *from)
{
	to->n_operands = from->n_operands;
	to->n_inputs = from->n_inputs;
	to->n_outputs = from->n_outputs;
	return copy_array((void **)&to->operands, from->operands, from->n_operands * sizeof(*from->operands)) &&
	       copy_array((void **)&to->inputs, from->inputs, from->n_inputs * sizeof(*from->inputs)) &&
	       copy_array((void **)&to->outputs, from->outputs, from->n_outputs * sizeof(*from->outputs)) &&
	       copy_operations(&to->operations, &to->n_operations, from->operations, from->n_operations);
}

static bool copy_referenced(struct nnb_model *to, const struct nnb_model *m)
{
	to->referenced = calloc(m->n_referenced + (size_t)1, sizeof(*to->referenced));
	if (!to->referenced)
		return false;
	while (to->n_referenced < m->n_referenced) {
		const struct nnb_subgraph *from = &m->referenced[to->n_referenced];

		if (!copy_graph(&to->referenced[to->n_referenced++], from))
			return false;
	}
	return true;
}

int nnb_model_copy(struct nnb_model **ret, const struct nnb_model *m)
{
	__attribute__((cleanup(nnb_model_freep))) struct nnb_model *to = calloc(1, sizeof(*to));
	int r;

	if (!to)
		return -ENOMEM;
	memcpy(to->name, m->name, sizeof(to->name));
	to->hal = m->hal;
	to->relaxed = m->relaxed;
	to->n_operands = m->n_operands;
	to->n_inputs = m->n_inputs;
	to->n_outputs = m->n_outputs;
	to->n_values = m->n_values;
	if (!copy_array((void **)&to->operands, m->operands, m->n_operands * sizeof(*m->operands)) ||
	    !copy_array((void **)&to->inputs, m->inputs, m->n_inputs * sizeof(*m->inputs)) ||
	    !copy_array((void **)&to->outputs, m->outputs, m->n_outputs * sizeof(*m->outputs)) ||
	    !copy_array((void **)&to->values, m->values, m->n_values) ||
	    !copy_operations(&to->operations, &to->n_operations, m->operations, m->n_operations) ||
	    !copy_referenced(to, m))
		return nnb__patience_ask() ? -ENOMEM : -ECANCELED;
	to->pools = calloc(m->n_pools + (size_t)1, sizeof(*to->pools));
	if (!to->pools)
		return -ENOMEM;
	for (; to->n_pools < m->n_pools; to->n_pools++) {
		r = nnb_memory_dup(&to->pools[to->n_pools], &m->pools[to->n_pools]);
		if (r)
			return r;
	}
	*ret = to;
	to = NULL;
	return 0;
}

/* ---- subgraphs ---- */

int nnb_model_subgraph(struct nnb_model *m, uint32_t index, uint32_t referenced)
{
	if (index >= m->n_operands || m->operands[index].type != NNB_SUBGRAPH)
		return -EINVAL;
	m->operands[index].lifetime = NNB_LIFETIME_SUBGRAPH;
	m->operands[index].location = (struct nnb_location){ .offset = referenced };
	return 0;
}

static int take_all_in(struct nnb_model *m, const struct nnb_model *from, struct nnb_subgraph *copy)
{
	uint32_t pools = m->n_pools;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < from->n_pools; i++)
		r = nnb_model_pool(m, &from->pools[i]);
	if (r < 0)
		return r;
	r = 0;
	for (uint32_t i = 0; !r && i < copy->n_operands; i++) {
		struct nnb_operand *o = &copy->operands[i];

		/* relocate the values of the operand, which was @from's, to the model's values */
		if (o->lifetime == NNB_CONSTANT_REFERENCE)
			o->location.pool += pools;
		if (o->lifetime == NNB_CONSTANT_COPY)
			r = add_value(m, from->values + o->location.offset, o->location.length, &o->location.offset);
		if (!r && o->n_scales)
			r = add_value(m, from->values + o->scales_at, scale_bytes(o), &o->scales_at);
	}
	return r;
}

int nnb_model_refer(struct nnb_model *m, const struct nnb_model *graph)
{
	const struct nnb_subgraph whole = { graph->n_operands, graph->n_operations, graph->n_inputs, graph->n_outputs,
		                            graph->operands,   graph->operations,   graph->inputs,   graph->outputs };
	__attribute__((cleanup(nnb_model_freep))) struct nnb_model *holder = NULL;
	uint32_t pools = m->n_pools, values = m->n_values;
	int r = -E2BIG;

	if (graph->n_referenced)
		return -EINVAL;
	if (m->n_referenced < NNB_OPERANDS_MAX)
		r = nnb_model_new(&holder, "", NNB_HAL_1_3); /* frees what remains after a failure */
	if (r)
		return r;
	if (!room_for_one((void **)&holder->referenced, 0, sizeof(whole)) ||
	    !room_for_one((void **)&m->referenced, m->n_referenced, sizeof(whole)))
		return -ENOMEM;
	holder->referenced[0] = (struct nnb_subgraph){ 0 };
	holder->n_referenced = 1;
	if (!copy_graph(&holder->referenced[0], &whole))
		return -ENOMEM;
	r = take_all_in(m, graph, &holder->referenced[0]);
	if (r) {
		while (m->n_pools > pools)
			nnb_memory_close(&m->pools[--m->n_pools]);
		m->n_values = values;
		return r;
	}
	m->referenced[m->n_referenced] = holder->referenced[0];
	holder->n_referenced = 0;
	return (int)m->n_referenced++;
}

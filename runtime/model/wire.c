/*
 * wire.c -- the wire form of a model: the whole model as one array of bytes, except for the pools' fds.
 *
 * LAYOUT    In the machine's byte order, without padding. Every number is a u32 unless stated otherwise.
 *             header      magic "NNBM", order mark 0x01020304, version 3, zero, total bytes of the form (u64),
 *                         hal, relaxed (0 or 1), number of operands, operations, inputs, outputs,
 *                         indexes of all operations, pools, subgraphs, bytes of values, name (64 bytes)
 *             subgraphs   for each, the same five numbers: operands, operations, inputs, outputs, indexes
 *             graph       the main graph:
 *             operands    type, lifetime, rank, dims[8], scale, zero point, dimension, number and place of the
 *                         channels' scales, consumers, pool, offset, length
 *             operations  type, number of inputs, of outputs
 *             indexes     for each operation the inputs, then the outputs
 *             inputs      indexes
 *             outputs     indexes
 *             graphs      for each subgraph, the same as for the main graph
 *             pools       name (32 bytes), size (u64), number of fds, of integers, integers[8]
 *             values      bytes
 *           Unused fields (dims beyond the rank, integers beyond their number, bytes after a name's end) are zero, so a
 *           model has exactly one form, and equal models have equal bytes.
 * TRUST     The bytes are untrusted. Every read is bounded by the remaining bytes. Before anything is allocated for a
 *           count, the decoder checks that enough bytes remain for that many records, so the allocated memory is at
 *           most a small multiple of the input. A value that does not fit the struct is refused; nnb_model_validate
 *           checks what the numbers mean (types, indexes, ranges).
 */
#include "nnb/model.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/patience.h"
#include "model/reason.h"

enum {
	VERSION = 3,
	ORDER = 0x01020304,
	HEADER_BYTES = 4 * 4 + 8 + 10 * 4 + NNB_NAME_MAX,
	COUNTS_BYTES = 5 * 4,
	OPERAND_BYTES = (12 + NNB_RANK_MAX) * 4,
	OPERATION_BYTES = 3 * 4,
	INDEX_BYTES = 4,
	POOL_BYTES = NNB_MEMORY_NAME + 8 + (2 + NNB_MEMORY_INTS) * 4
};

static const char magic[4] = { 'N', 'N', 'B', 'M' };

/* The counts of one graph. */
struct counts {
	uint32_t n_operands, n_operations, n_inputs, n_outputs, n_indexes;
};

/* The header, without its constant fields. */
struct header {
	uint64_t bytes;
	uint32_t hal, relaxed, n_pools, n_referenced, n_values;
	struct counts main;
	char name[NNB_NAME_MAX];
};

/* ---- encoding ---- */

struct writer {
	uint8_t *at;
	size_t left;
};

static void writer_put(struct writer *w, const void *from, size_t n)
{
	assert(n <= w->left);
	if (n)
		memcpy(w->at, from, n);
	w->at += n;
	w->left -= n;
}

static void put_u32(struct writer *w, uint32_t n)
{
	writer_put(w, &n, sizeof(n));
}

static void put_u32s(struct writer *w, const uint32_t *from, size_t n)
{
	writer_put(w, from, n * sizeof(*from));
}

/* Write a name of @size bytes. The bytes after the name's end are zero already: the writer's buffer is zeroed. */
static void put_name(struct writer *w, const char *name, size_t size)
{
	assert(size <= w->left && strlen(name) < size);
	memcpy(w->at, name, strlen(name));
	w->at += size;
	w->left -= size;
}

static void put_counts(struct writer *w, const struct counts *c)
{
	put_u32(w, c->n_operands);
	put_u32(w, c->n_operations);
	put_u32(w, c->n_inputs);
	put_u32(w, c->n_outputs);
	put_u32(w, c->n_indexes);
}

static void put_operand(struct writer *w, const struct nnb_operand *o)
{
	uint32_t dims[NNB_RANK_MAX] = { 0 };

	for (uint32_t i = 0; i < o->rank; i++)
		dims[i] = o->dims[i];
	put_u32(w, o->type);
	put_u32(w, o->lifetime);
	put_u32(w, o->rank);
	put_u32s(w, dims, NNB_RANK_MAX);
	writer_put(w, &o->scale, sizeof(o->scale));
	writer_put(w, &o->zero_point, sizeof(o->zero_point));
	put_u32(w, o->channel_dim);
	put_u32(w, o->n_scales);
	put_u32(w, o->scales_at);
	put_u32(w, o->consumers);
	put_u32(w, o->location.pool);
	put_u32(w, o->location.offset);
	put_u32(w, o->location.length);
}

static void put_pool(struct writer *w, const struct nnb_memory *pool)
{
	int32_t ints[NNB_MEMORY_INTS] = { 0 };

	for (uint32_t i = 0; i < pool->n_ints; i++)
		ints[i] = pool->ints[i];
	put_name(w, pool->name, sizeof(pool->name));
	writer_put(w, &pool->size, sizeof(pool->size));
	put_u32(w, pool->n_fds);
	put_u32(w, pool->n_ints);
	writer_put(w, ints, sizeof(ints));
}

static bool name_ends(const char *name, size_t size)
{
	return memchr(name, '\0', size);
}

/* Does every list with a count above 0 exist? An app may have set the count and not the list. */
static bool graph_lists_are_there(const struct nnb_model *m)
{
	bool there = (m->operands || !m->n_operands) && (m->operations || !m->n_operations) &&
	             (m->inputs || !m->n_inputs) && (m->outputs || !m->n_outputs);

	for (uint32_t i = 0; there && i < m->n_operations; i++)
		there = (m->operations[i].inputs || !m->operations[i].n_inputs) &&
		        (m->operations[i].outputs || !m->operations[i].n_outputs);
	return there;
}

/* The bytes that a graph with these counts needs. No count exceeds 2^32, so the sum does not wrap. */
static uint64_t graph_bytes(const struct counts *c)
{
	return (uint64_t)c->n_operands * OPERAND_BYTES + (uint64_t)c->n_operations * OPERATION_BYTES +
	       ((uint64_t)c->n_indexes + c->n_inputs + c->n_outputs) * INDEX_BYTES;
}

/*
 * The bytes of the form without the subgraphs' records. At most 2^20 subgraphs need at most 2^36 bytes each, so
 * adding those does not wrap either.
 */
static uint64_t form_bytes(const struct header *h)
{
	return HEADER_BYTES + (uint64_t)h->n_referenced * COUNTS_BYTES + graph_bytes(&h->main) +
	       (uint64_t)h->n_pools * POOL_BYTES + h->n_values;
}

static int count_graph(const struct nnb_model *m, struct counts *ret)
{
	uint64_t indexes = 0;

	/* Does this graph have a wire form: is every count one that the decoder accepts? */
	if (m->n_operands > NNB_OPERANDS_MAX || m->n_operations > NNB_OPERANDS_MAX || m->n_inputs > NNB_OPERANDS_MAX ||
	    m->n_outputs > NNB_OPERANDS_MAX || !graph_lists_are_there(m))
		return -EINVAL;
	for (uint32_t i = 0; i < m->n_operands; i++)
		if (m->operands[i].rank > NNB_RANK_MAX)
			return -EINVAL;
	for (uint32_t i = 0; i < m->n_operations; i++)
		if (m->operations[i].n_inputs > NNB_OPERANDS_MAX || m->operations[i].n_outputs > NNB_OPERANDS_MAX)
			return -EINVAL;
	for (uint32_t i = 0; i < m->n_operations; i++)
		indexes += (uint64_t)m->operations[i].n_inputs + m->operations[i].n_outputs;
	if (indexes > UINT32_MAX)
		return -EINVAL;
	*ret = (struct counts){ m->n_operands, m->n_operations, m->n_inputs, m->n_outputs, (uint32_t)indexes };
	return 0;
}

/* Write the counts of subgraph @index to @ret. */
static int count_referenced(const struct nnb_model *m, uint32_t index, struct counts *ret)
{
	const struct nnb_model view = nnb_model_view(m, index);

	return count_graph(&view, ret);
}

static int header_describe(const struct nnb_model *m, struct header *ret)
{
	struct counts counts;
	int r;

	if (m->n_pools > NNB_OPERANDS_MAX || m->n_referenced > NNB_OPERANDS_MAX ||
	    !name_ends(m->name, sizeof(m->name)) || (!m->pools && m->n_pools) || (!m->values && m->n_values) ||
	    (!m->referenced && m->n_referenced))
		return -EINVAL;
	for (uint32_t i = 0; i < m->n_pools; i++)
		if (m->pools[i].n_fds > NNB_MEMORY_FDS || m->pools[i].n_ints > NNB_MEMORY_INTS ||
		    !name_ends(m->pools[i].name, sizeof(m->pools[i].name)))
			return -EINVAL;
	r = count_graph(m, &counts);
	if (r)
		return r;
	*ret = (struct header){
		.hal = m->hal,
		.relaxed = m->relaxed,
		.main = counts,
		.n_pools = m->n_pools,
		.n_referenced = m->n_referenced,
		.n_values = m->n_values,
	};
	memcpy(ret->name, m->name, strlen(m->name));
	ret->bytes = form_bytes(ret);
	for (uint32_t i = 0; !r && i < m->n_referenced; i++) {
		r = count_referenced(m, i, &counts);
		ret->bytes += r ? 0 : graph_bytes(&counts);
	}
	return r;
}

static void put_graph(struct writer *w, const struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++)
		put_operand(w, &m->operands[i]);
	for (uint32_t i = 0; i < m->n_operations; i++) {
		put_u32(w, m->operations[i].type);
		put_u32(w, m->operations[i].n_inputs);
		put_u32(w, m->operations[i].n_outputs);
	}
	for (uint32_t i = 0; i < m->n_operations; i++) {
		put_u32s(w, m->operations[i].inputs, m->operations[i].n_inputs);
		put_u32s(w, m->operations[i].outputs, m->operations[i].n_outputs);
	}
	put_u32s(w, m->inputs, m->n_inputs);
	put_u32s(w, m->outputs, m->n_outputs);
}

int nnb_model_encode(const struct nnb_model *model, uint8_t **ret, size_t *ret_bytes)
{
	struct writer w;
	struct header h;
	uint8_t *form;
	int r = header_describe(model, &h);

	if (r < 0)
		return r;
	form = calloc(1, h.bytes);
	if (!form)
		return -ENOMEM;
	w = (struct writer){ form, h.bytes };
	/* the header */
	writer_put(&w, magic, sizeof(magic));
	put_u32(&w, ORDER);
	put_u32(&w, VERSION);
	put_u32(&w, 0);
	writer_put(&w, &h.bytes, sizeof(h.bytes));
	put_u32(&w, h.hal);
	put_u32(&w, h.relaxed);
	put_counts(&w, &h.main);
	put_u32(&w, h.n_pools);
	put_u32(&w, h.n_referenced);
	put_u32(&w, h.n_values);
	put_name(&w, h.name, sizeof(h.name));
	/* the graphs */
	for (uint32_t i = 0; i < model->n_referenced; i++) {
		struct counts counts = { 0 };

		count_referenced(model, i, &counts); /* cannot fail: header_describe has counted this subgraph before */
		put_counts(&w, &counts);
	}
	put_graph(&w, model);
	for (uint32_t i = 0; i < model->n_referenced; i++) {
		const struct nnb_model view = nnb_model_view(model, i);

		put_graph(&w, &view);
	}
	for (uint32_t i = 0; i < model->n_pools; i++)
		put_pool(&w, &model->pools[i]);
	assert(w.left == model->n_values);
	if (!nnb__patient_copy(w.at, model->values, model->n_values)) {
		free(form);
		return -ECANCELED;
	}
	*ret = form;
	*ret_bytes = h.bytes;
	return 0;
}

/* ---- decoding ---- */

/*
 * Once header.bytes has been compared with the counts, no read below can exceed the bytes. Each read checks its bound
 * all the same.
 */
struct reader {
	const uint8_t *at;
	size_t left;
	struct nnb_reason *reason;
};

static void reader_get(struct reader *r, void *to, size_t n)
{
	assert(n <= r->left);
	if (n)
		memcpy(to, r->at, n);
	r->at += n;
	r->left -= n;
}

static uint32_t get_u32(struct reader *r)
{
	uint32_t n;

	reader_get(r, &n, sizeof(n));
	return n;
}

/* Does the name end within @size bytes, followed by zeroes only? */
static bool clean_name(const char *name, size_t size)
{
	size_t n = strnlen(name, size);

	for (size_t i = n; i < size; i++)
		if (name[i])
			return false;
	return n < size;
}

/* Copy the next @n numbers to newly allocated memory; NULL for 0 numbers. */
static int get_u32s(struct reader *r, uint32_t **ret, uint32_t *ret_n, uint32_t n)
{
	uint32_t *list;

	if (!n)
		return 0;
	list = malloc(n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	reader_get(r, list, n * sizeof(*list));
	*ret = list;
	*ret_n = n;
	return 0;
}

static int refuse_preamble(struct reader *r)
{
	char start[sizeof(magic)];
	uint32_t order, version;

	if (r->left < HEADER_BYTES) {
		nnb_because(r->reason, "%zu bytes are too few for a model", r->left);
		return -EINVAL;
	}
	reader_get(r, start, sizeof(start));
	order = get_u32(r);
	version = get_u32(r);
	if (memcmp(start, magic, sizeof(magic)) != 0)
		nnb_because(r->reason, "no model's bytes");
	else if (order != ORDER)
		nnb_because(r->reason, "a model's bytes from a machine of another byte order");
	else if (version != VERSION)
		nnb_because(r->reason, "version %u of a model's bytes; known is %d", version, VERSION);
	else if (get_u32(r) != 0)
		nnb_because(r->reason, "header: a number that should be zero is not");
	else
		return 0;
	return -EINVAL;
}

static int refuse_count(struct reader *r, const char *what, uint32_t n)
{
	if (n <= NNB_OPERANDS_MAX)
		return 0;
	nnb_because(r->reason, "header: %u %s are more than %d", n, what, NNB_OPERANDS_MAX);
	return -EINVAL;
}

static int get_counts(struct reader *r, struct counts *ret)
{
	struct counts c;

	c.n_operands = get_u32(r);
	c.n_operations = get_u32(r);
	c.n_inputs = get_u32(r);
	c.n_outputs = get_u32(r);
	c.n_indexes = get_u32(r);
	if (refuse_count(r, "operands", c.n_operands) < 0 || refuse_count(r, "operations", c.n_operations) < 0 ||
	    refuse_count(r, "inputs", c.n_inputs) < 0 || refuse_count(r, "outputs", c.n_outputs) < 0)
		return -EINVAL;
	*ret = c;
	return 0;
}

/*
 * Compare the number of bytes with the counts. The subgraphs' counts come next; this function reads them from a copy
 * of the reader, so that @r does not advance. After this check the remaining bytes suffice for every record.
 */
static int check_bytes(struct reader *r, const struct header *h, size_t all)
{
	struct reader counts = *r;
	uint64_t need = form_bytes(h);

	for (uint32_t i = 0; i < h->n_referenced && counts.left >= COUNTS_BYTES; i++) {
		struct counts c;

		if (!nnb__patient(NNB__OPERATION_UNITS))
			return -ECANCELED;
		if (get_counts(&counts, &c) < 0) {
			nnb__within(r->reason, "subgraph %u", i);
			return -EINVAL;
		}
		need += graph_bytes(&c);
	}
	if (h->bytes == all && need == all)
		return 0;
	nnb_because(r->reason, "header: %zu bytes, but the header states %llu, and its counts need %llu", all,
	            (unsigned long long)h->bytes, (unsigned long long)need);
	return -EINVAL;
}

static int get_header(struct reader *r, struct header *ret)
{
	size_t all = r->left;
	struct header h;
	int s;

	if (refuse_preamble(r) < 0)
		return -EINVAL;
	reader_get(r, &h.bytes, sizeof(h.bytes));
	h.hal = get_u32(r);
	h.relaxed = get_u32(r);
	if (get_counts(r, &h.main) < 0)
		return -EINVAL;
	h.n_pools = get_u32(r);
	h.n_referenced = get_u32(r);
	h.n_values = get_u32(r);
	reader_get(r, h.name, sizeof(h.name));
	if (refuse_count(r, "pools", h.n_pools) < 0 || refuse_count(r, "subgraphs", h.n_referenced) < 0)
		return -EINVAL;
	s = check_bytes(r, &h, all);
	if (s)
		return s;
	if (h.relaxed > 1)
		nnb_because(r->reason, "header: relaxed is %u", h.relaxed);
	else if (!clean_name(h.name, sizeof(h.name)))
		nnb_because(r->reason, "header: the name does not end in zeroes");
	else {
		*ret = h;
		return 0;
	}
	return -EINVAL;
}

static int get_operand(struct reader *r, struct nnb_operand *o, uint32_t index)
{
	o->type = get_u32(r);
	o->lifetime = get_u32(r);
	o->rank = get_u32(r);
	reader_get(r, o->dims, sizeof(o->dims));
	reader_get(r, &o->scale, sizeof(o->scale));
	reader_get(r, &o->zero_point, sizeof(o->zero_point));
	o->channel_dim = get_u32(r);
	o->n_scales = get_u32(r);
	o->scales_at = get_u32(r);
	o->consumers = get_u32(r);
	o->location.pool = get_u32(r);
	o->location.offset = get_u32(r);
	o->location.length = get_u32(r);
	if (o->rank > NNB_RANK_MAX) {
		nnb_because(r->reason, "operand %u: %u dimensions are more than %d", index, o->rank, NNB_RANK_MAX);
		return -EINVAL;
	}
	for (uint32_t i = o->rank; i < NNB_RANK_MAX; i++)
		if (o->dims[i]) {
			nnb_because(r->reason, "operand %u: dimension %u of %u", index, i, o->rank);
			return -EINVAL;
		}
	return 0;
}

/*
 * Read the records of the operations, which precede all their lists, and then the lists. @indexes: the total length
 * of the lists.
 */
static int get_operations(struct reader *r, struct nnb_subgraph *m, uint32_t n, uint64_t indexes)
{
	struct reader lists = { r->at + (size_t)n * OPERATION_BYTES, indexes * INDEX_BYTES, r->reason };
	int s = 0;

	m->operations = n ? calloc(n, sizeof(*m->operations)) : NULL;
	if (n && !m->operations)
		return -ENOMEM;
	m->n_operations = n;
	for (uint32_t i = 0; i < n && s == 0; i++) {
		struct nnb_operation *o = &m->operations[i];
		uint32_t inputs, outputs;

		if (!nnb__patient(NNB__OPERATION_UNITS))
			return -ECANCELED;
		o->type = get_u32(r);
		inputs = get_u32(r);
		outputs = get_u32(r);
		if (inputs > NNB_OPERANDS_MAX || outputs > NNB_OPERANDS_MAX ||
		    inputs + outputs > lists.left / INDEX_BYTES) {
			nnb_because(r->reason,
			            "operation %u: %u inputs and %u outputs are more than there are or may be", i,
			            inputs, outputs);
			return -EINVAL;
		}
		s = get_u32s(&lists, &o->inputs, &o->n_inputs, inputs);
		if (s == 0)
			s = get_u32s(&lists, &o->outputs, &o->n_outputs, outputs);
	}
	if (s == 0 && lists.left) {
		nnb_because(r->reason, "%zu indexes belong to no operation", lists.left / INDEX_BYTES);
		return -EINVAL;
	}
	r->at += indexes * INDEX_BYTES;
	r->left -= indexes * INDEX_BYTES;
	return s;
}

static int get_pool(struct reader *r, struct nnb_memory *ret, uint32_t index)
{
	struct nnb_memory pool = { 0 };
	bool clean;

	reader_get(r, pool.name, sizeof(pool.name));
	reader_get(r, &pool.size, sizeof(pool.size));
	pool.n_fds = get_u32(r);
	pool.n_ints = get_u32(r);
	reader_get(r, pool.ints, sizeof(pool.ints));
	clean = clean_name(pool.name, sizeof(pool.name)) && pool.n_fds <= NNB_MEMORY_FDS &&
	        pool.n_ints <= NNB_MEMORY_INTS;
	for (uint32_t i = pool.n_ints; clean && i < NNB_MEMORY_INTS; i++)
		clean = !pool.ints[i];
	if (!clean) {
		nnb_because(r->reason, "pool %u: its handle is impossible", index);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < pool.n_fds; i++)
		pool.fds[i] = -1;
	*ret = pool;
	return 0;
}

static int get_graph(struct reader *r, struct nnb_subgraph *m, const struct counts *c)
{
	int s = 0;

	m->operands = c->n_operands ? calloc(c->n_operands, sizeof(*m->operands)) : NULL;
	if (c->n_operands && !m->operands)
		return -ENOMEM;
	m->n_operands = c->n_operands;
	for (uint32_t i = 0; i < m->n_operands && s == 0; i++)
		s = nnb__patient(NNB__OPERAND_UNITS) ? get_operand(r, &m->operands[i], i) : -ECANCELED;
	if (s == 0)
		s = get_operations(r, m, c->n_operations, c->n_indexes);
	if (s == 0)
		s = get_u32s(r, &m->inputs, &m->n_inputs, c->n_inputs);
	if (s == 0)
		s = get_u32s(r, &m->outputs, &m->n_outputs, c->n_outputs);
	return s;
}

/* Read the subgraphs. @table: a reader of their counts, which get_header has checked. */
static int get_referenced(struct reader *r, struct reader table, struct nnb_model *m, uint32_t n)
{
	int s = 0;

	m->referenced = n ? calloc(n, sizeof(*m->referenced)) : NULL;
	if (n && !m->referenced)
		return -ENOMEM;
	m->n_referenced = n;
	for (uint32_t i = 0; i < n && s == 0; i++) {
		struct counts c;

		s = get_counts(&table, &c);
		if (s == 0)
			s = get_graph(r, &m->referenced[i], &c);
		if (s == -EINVAL)
			nnb__within(r->reason, "subgraph %u", i);
	}
	return s;
}

static int get_body(struct reader *r, struct nnb_model *m, const struct header *h)
{
	struct reader table = *r;
	size_t bytes = (size_t)h->n_referenced * COUNTS_BYTES;
	struct nnb_subgraph graph = { 0 };
	int s;

	m->hal = h->hal;
	m->relaxed = h->relaxed;
	r->at += bytes;
	r->left -= bytes;
	s = get_graph(r, &graph, &h->main);
	m->n_operands = graph.n_operands;
	m->n_operations = graph.n_operations;
	m->n_inputs = graph.n_inputs;
	m->n_outputs = graph.n_outputs;
	m->operands = graph.operands;
	m->operations = graph.operations;
	m->inputs = graph.inputs;
	m->outputs = graph.outputs;
	if (s == 0)
		s = get_referenced(r, table, m, h->n_referenced);
	if (s < 0)
		return s;
	m->pools = h->n_pools ? calloc(h->n_pools, sizeof(*m->pools)) : NULL;
	if (h->n_pools && !m->pools)
		return -ENOMEM;
	m->n_pools = h->n_pools;
	for (uint32_t i = 0; i < m->n_pools && s == 0; i++)
		s = get_pool(r, &m->pools[i], i);
	if (s < 0)
		return s;
	m->values = h->n_values ? malloc(h->n_values) : NULL;
	if (h->n_values && !m->values)
		return -ENOMEM;
	m->n_values = h->n_values;
	if (!nnb__patient_copy(m->values, r->at, m->n_values))
		return -ECANCELED;
	r->at += m->n_values;
	r->left -= m->n_values;
	assert(!r->left);
	return 0;
}

int nnb_model_decode(struct nnb_model **ret, const uint8_t *bytes, size_t n, struct nnb_reason *reason)
{
	__attribute__((cleanup(nnb_model_freep))) struct nnb_model *m = NULL;
	struct reader r = { bytes, n, reason };
	struct header h;
	int s = get_header(&r, &h);

	if (s == 0)
		s = nnb_model_new(&m, h.name, NNB_HAL_1_0);
	if (s == 0)
		s = get_body(&r, m, &h);
	if (s == -ENOMEM)
		nnb_because(reason, "out of memory");
	if (s < 0)
		return s;
	*ret = m;
	m = NULL;
	return 0;
}

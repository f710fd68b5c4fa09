/*
 * driver_scrambled.c -- the xnnpack driver with buffers that no other code can read: their bytes are reversed
 * and inverted, behind a handle that is not their address. Runs restore the bytes for themselves.
 *
 * Linked with the driver's own sources. The driver also checks that its callers use buffers by the rules.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nnb/driver.h"
#include "nnb/memory.h"
#include "unit/scrambled.h"

extern const struct nnb_driver nnb_driver_xnnpack;

NNB_PUBLIC extern struct scrambled nnb_scrambled;
struct scrambled nnb_scrambled;

enum { MAGIC = 0x5ca3b1ed, MASK = 0x5a };

struct buffer {
	uint32_t magic;
	uint64_t bytes;
	atomic_uint readers, writers;
	uint8_t *last; /* the place of an app's first byte */
	uint8_t kept[];
};

struct model {
	const struct nnb_graph *graph;
	void *inner;
};

struct run {
	const struct model *model;
	struct nnb_run told, inner_told;
	const void **inputs;
	void **outputs; /* outputs of a late run; NULL: the run has not reached the output */
	void **buffers; /* the buffer of each output; NULL: none, or a late run has not reached the output */
	void *inner;
};

#define must(what)               \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)

/* ---- buffers ---- */

static int buffer_new(void *device, const struct nnb_driver_buffer *what, void **ret)
{
	int refuses = atomic_load(&nnb_scrambled.refuses);
	uint64_t bytes = what->bytes;
	struct buffer *b;

	(void)device;
	must(bytes);
	if (refuses)
		return refuses;
	b = malloc(sizeof(*b) + bytes);
	if (!b)
		return -ENOMEM;
	*b = (struct buffer){ .magic = MAGIC, .bytes = bytes, .last = b->kept + bytes - 1 };
	memset(b->kept, MASK, bytes);
	atomic_fetch_add(&nnb_scrambled.made, 1);
	*ret = b;
	return 0;
}

static void buffer_free(void *device, void *buffer, uint64_t bytes)
{
	struct buffer *b = buffer;

	(void)device;
	must(b->magic == MAGIC && b->bytes == bytes && !atomic_load(&b->readers) && !atomic_load(&b->writers));
	atomic_fetch_add(&nnb_scrambled.freed, 1);
	b->magic = 0;
	free(b);
}

/* driver.h: a buffer has one writer and no reader, or readers only. */
static void buffer_enter(struct buffer *b, bool writes, uint64_t bytes)
{
	must(b->magic == MAGIC && bytes <= b->bytes);
	must(atomic_fetch_add(writes ? &b->writers : &b->readers, 1) == 0 || !writes);
	must(!atomic_load(writes ? &b->readers : &b->writers));
}

static void buffer_leave(struct buffer *b, bool writes)
{
	atomic_fetch_sub(writes ? &b->writers : &b->readers, 1);
}

static void buffer_store(struct buffer *b, const uint8_t *from, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++)
		b->last[-(ptrdiff_t)i] = from[i] ^ MASK;
}

static void buffer_load(const struct buffer *b, uint8_t *to, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++)
		to[i] = b->last[-(ptrdiff_t)i] ^ MASK;
}

static void in_the_middle(void)
{
	if (nnb_scrambled.in_copy)
		nnb_scrambled.in_copy(nnb_scrambled.arg);
}

static void buffer_write(void *buffer, const void *from, uint64_t bytes)
{
	struct buffer *b = buffer;

	buffer_enter(b, true, bytes);
	buffer_store(b, from, 0, bytes / 2);
	in_the_middle();
	buffer_store(b, from, bytes / 2, bytes);
	buffer_leave(b, true);
	atomic_fetch_add(&nnb_scrambled.written, 1);
}

static void buffer_read(const void *buffer, void *to, uint64_t bytes)
{
	struct buffer *b = (struct buffer *)(uintptr_t)buffer;

	buffer_enter(b, false, bytes);
	nnb_scrambled.copied_to = to;
	buffer_load(b, to, 0, bytes / 2);
	in_the_middle();
	buffer_load(b, to, bytes / 2, bytes);
	buffer_leave(b, false);
	atomic_fetch_add(&nnb_scrambled.read, 1);
}

/* ---- models ---- */

static enum nnb_status prepare(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how, void **ret,
                               struct nnb_reason *reason)
{
	struct model *m = calloc(1, sizeof(*m));
	enum nnb_status status;

	if (!m)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	m->graph = graph;
	status = nnb_driver_xnnpack.prepare(device, graph, how, &m->inner, reason);
	if (status)
		free(m);
	else
		*ret = m;
	return status;
}

static void release(void *prepared)
{
	struct model *m = prepared;

	nnb_driver_xnnpack.release(m->inner);
	free(m);
}

/* ---- runs ---- */

static uint64_t bytes_of(const struct run *r, uint32_t operand)
{
	const struct nnb_shape *s = &r->told.shapes[operand];
	uint64_t bytes = 0;

	must(s->known && !nnb_operand_bytes(r->model->graph->model->operands[operand].type, s->rank, s->dims, &bytes));
	return bytes;
}

static bool input_is_kept(const struct run *r, uint32_t i)
{
	return r->told.inputs_kept && r->told.inputs_kept[i];
}

static bool output_is_kept(const struct run *r, uint32_t i)
{
	return r->told.outputs_kept && r->told.outputs_kept[i];
}

static void *room_for(const struct run *r, uint32_t operand)
{
	void *room = calloc(1, bytes_of(r, operand) + NNB_MAPPING_SLACK);

	must(room);
	return room;
}

static void bind_inputs(struct run *r)
{
	const struct nnb_model *m = r->model->graph->model;

	for (uint32_t i = 0; i < m->n_inputs; i++) {
		struct buffer *b = (struct buffer *)(uintptr_t)r->told.inputs[i];

		r->inputs[i] = b;
		if (!input_is_kept(r, i))
			continue;
		r->inputs[i] = room_for(r, m->inputs[i]);
		buffer_enter(b, false, bytes_of(r, m->inputs[i]));
		buffer_load(b, (uint8_t *)(uintptr_t)r->inputs[i], 0, bytes_of(r, m->inputs[i]));
		atomic_fetch_add(&nnb_scrambled.inputs_kept, 1);
	}
}

/* Output @i lies in @buffer and has its shape; the run computes it elsewhere first. */
static void bind_output(struct run *r, uint32_t i, void *buffer)
{
	uint32_t operand = r->model->graph->model->outputs[i];

	r->outputs[i] = room_for(r, operand);
	r->buffers[i] = buffer;
	buffer_enter(buffer, true, bytes_of(r, operand));
	atomic_fetch_add(&nnb_scrambled.outputs_kept, 1);
}

static void bind_outputs(struct run *r)
{
	const struct nnb_model *m = r->model->graph->model;

	for (uint32_t i = 0; !r->told.found && i < m->n_outputs; i++) {
		r->outputs[i] = r->told.outputs[i];
		if (output_is_kept(r, i))
			bind_output(r, i, r->told.outputs[i]);
	}
}

/* A late run knows the shape of an output now. */
static enum nnb_status place(void *arg, uint32_t output, void **ret)
{
	struct run *r = arg;
	void *room;
	enum nnb_status status = r->told.place(r->told.arg, output, &room);

	if (status)
		return status;
	if (output_is_kept(r, output)) {
		bind_output(r, output, room);
		room = r->outputs[output];
	}
	*ret = room;
	return NNB_STATUS_NONE;
}

static void unbind(struct run *r)
{
	const struct nnb_model *m = r->model->graph->model;

	for (uint32_t i = 0; i < m->n_inputs; i++)
		if (input_is_kept(r, i)) {
			buffer_leave((struct buffer *)(uintptr_t)r->told.inputs[i], false);
			free((void *)(uintptr_t)r->inputs[i]);
		}
	for (uint32_t i = 0; i < m->n_outputs; i++)
		if (r->buffers[i]) {
			buffer_leave(r->buffers[i], true);
			free(r->outputs[i]);
		}
	free(r->inputs);
	free(r->outputs);
	free(r->buffers);
	free(r);
}

static enum nnb_status run_begin(void *prepared, const struct nnb_run *run, void **ret)
{
	enum nnb_status status = (enum nnb_status)atomic_load(&nnb_scrambled.run_begins);
	struct run *r = calloc(1, sizeof(*r));

	must(r);
	r->model = prepared;
	r->told = r->inner_told = *run;
	r->inputs = calloc(r->model->graph->model->n_inputs + 1, sizeof(*r->inputs));
	r->outputs = calloc(r->model->graph->model->n_outputs + 1, sizeof(*r->outputs));
	r->buffers = calloc(r->model->graph->model->n_outputs + 1, sizeof(*r->buffers));
	must(r->inputs && r->outputs && r->buffers);
	bind_inputs(r);
	bind_outputs(r);
	r->inner_told.inputs = r->inputs;
	r->inner_told.outputs = r->outputs;
	r->inner_told.inputs_kept = r->inner_told.outputs_kept = NULL;
	r->inner_told.place = place;
	r->inner_told.arg = r;
	if (!status)
		status = nnb_driver_xnnpack.run_begin(r->model->inner, &r->inner_told, &r->inner);
	if (status) {
		unbind(r);
		return status;
	}
	atomic_fetch_add(&nnb_scrambled.runs, 1);
	*ret = r;
	return NNB_STATUS_NONE;
}

static enum nnb_status run_op(void *run, uint32_t op)
{
	struct run *r = run;
	const struct nnb_model *m = r->model->graph->model;
	enum nnb_status status = (enum nnb_status)atomic_load(&nnb_scrambled.run_ends);

	if (!status)
		status = nnb_driver_xnnpack.run_op(r->inner, op);
	for (uint32_t i = 0; !status && op == m->n_operations - 1 && i < m->n_outputs; i++)
		if (r->buffers[i])
			buffer_store(r->buffers[i], r->outputs[i], 0, bytes_of(r, m->outputs[i]));
	return status;
}

static void run_park(void *run)
{
	struct run *r = run;

	if (nnb_driver_xnnpack.run_park)
		nnb_driver_xnnpack.run_park(r->inner);
}

static void run_end(void *run)
{
	struct run *r = run;

	nnb_driver_xnnpack.run_end(r->inner);
	unbind(r);
}

NNB_PUBLIC extern struct nnb_driver nnb_driver_scrambled;
struct nnb_driver nnb_driver_scrambled;

static __attribute__((constructor)) void become_a_driver(void)
{
	nnb_driver_scrambled = nnb_driver_xnnpack;
	nnb_driver_scrambled.name = "scrambled";
	nnb_driver_scrambled.prepare = prepare;
	nnb_driver_scrambled.release = release;
	nnb_driver_scrambled.run_begin = run_begin;
	nnb_driver_scrambled.run_op = run_op;
	nnb_driver_scrambled.run_park = run_park;
	nnb_driver_scrambled.run_end = run_end;
	nnb_driver_scrambled.buffer_new = buffer_new;
	nnb_driver_scrambled.buffer_free = buffer_free;
	nnb_driver_scrambled.buffer_write = buffer_write;
	nnb_driver_scrambled.buffer_read = buffer_read;
}

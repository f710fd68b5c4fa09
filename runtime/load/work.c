/* work.c -- the model of a stream, its inputs, and its pools. */
#include "work.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "nnb/half.h"
#include "zoo.h"

enum { ALIGNMENT = 64, ROOM = 1 << 20, SPOILT = 0xa5 };

/* ---- the model ---- */

static int find_model(struct load_work *w, const char *dir, const char *model, uint64_t seed, struct nnb_reason *reason)
{
	struct nnb_reason why = { "" };
	enum nnb_status status;
	int r;

	if (!load_is_file(model)) {
		w->name = strdup(model);
		r = w->name ? load_zoo_new(&w->model, model, seed) : -ENOMEM;
	} else if ((model[0] == '/' ? asprintf(&w->name, "%s", model) : asprintf(&w->name, "%s/%s", dir, model)) < 0) {
		w->name = NULL;
		r = -ENOMEM;
	} else if (load_is_tflite(model)) {
		r = nnb_model_load_tflite(&w->model, w->name, reason);
	} else {
		r = nnb_model_file_read(&w->file, w->name, reason);
		if (!r)
			w->model = w->file->model;
	}
	if (r)
		return r;
	status = nnb_model_validate(w->model, &why);
	if (!status)
		return 0;
	nnb_because(reason, "%.80s: %s: %.140s", model, nnb_status_name(status), why.text);
	return -EINVAL;
}

/* ---- its operands ---- */

/* The bytes of an operand; 0: the model does not specify its shape. */
static size_t work_bytes_of(const struct nnb_model *m, uint32_t operand)
{
	const struct nnb_operand *o = &m->operands[operand];
	uint64_t bytes;

	return nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || bytes > UINT32_MAX ? 0 : (size_t)bytes;
}

/*
 * Fill with real numbers from -1 to 1, any quantised or boolean values, and zeroes for integers, which may be
 * indexes.
 */
static void fill_input(void *to, size_t bytes, uint32_t type, uint64_t seed, uint32_t which)
{
	uint8_t *each = to;
	uint32_t element = nnb_type_info(type)->bytes;
	float number;

	assert(element); /* the model is valid */
	if (type == NNB_TENSOR_FLOAT32) {
		load_zoo_numbers(to, bytes / sizeof(float), seed, which);
		return;
	}
	if (!nnb_type_info(type)->quantized && type != NNB_TENSOR_FLOAT16 && type != NNB_TENSOR_BOOL8)
		return;
	for (size_t i = 0; i < bytes / element; i++) {
		uint16_t half;

		load_zoo_numbers(&number, 1, seed + i, which);
		half = type == NNB_TENSOR_FLOAT16 ? nnb_float_to_half(number) : (uint16_t)((number + 1) * 32767);
		if (element == 2)
			memcpy(each + 2 * i, &half, 2);
		else
			each[i] = type == NNB_TENSOR_BOOL8 ? half & 1 : (uint8_t)(half >> 4);
	}
}

/* Take the inputs of the first example, or random ones of the model's types. */
static int make_operands(struct load_work *w, uint64_t seed, struct nnb_reason *reason)
{
	const struct nnb_model *m = w->model;
	const struct nnb_example *x = w->file && w->file->n_examples ? &w->file->examples[0] : NULL;

	w->inputs = calloc(m->n_inputs + 1, sizeof(*w->inputs));
	w->input_bytes = calloc(m->n_inputs + 1, sizeof(*w->input_bytes));
	w->output_bytes = calloc(m->n_outputs + 1, sizeof(*w->output_bytes));
	if (!w->inputs || !w->input_bytes || !w->output_bytes)
		return -ENOMEM;
	for (uint32_t i = 0; x && i < m->n_inputs; i++) {
		if (!x->inputs[i])
			continue;
		w->inputs[i] = malloc(x->input_bytes[i] + 1);
		if (!w->inputs[i])
			return -ENOMEM;
		memcpy(w->inputs[i], x->inputs[i], x->input_bytes[i]);
		w->input_bytes[i] = x->input_bytes[i];
	}
	for (uint32_t i = 0; !x && i < m->n_inputs; i++) {
		size_t bytes = work_bytes_of(m, m->inputs[i]);

		if (!bytes) {
			nnb_because(reason, "input %u has an extent that is not known, and there is no example", i);
			return -EINVAL;
		}
		w->inputs[i] = calloc(1, bytes);
		if (!w->inputs[i])
			return -ENOMEM;
		w->input_bytes[i] = bytes;
		fill_input(w->inputs[i], bytes, m->operands[m->inputs[i]].type, seed, i);
	}
	for (uint32_t i = 0; i < m->n_outputs; i++) {
		w->output_bytes[i] = x && x->output_bytes[i] ? x->output_bytes[i] : work_bytes_of(m, m->outputs[i]);
		if (!w->output_bytes[i])
			w->output_bytes[i] = ROOM;
	}
	return 0;
}

int load_work_new(struct load_work **ret, const struct load_stream *stream, const char *dir, uint64_t seed,
                  struct nnb_reason *reason)
{
	struct load_work *w = calloc(1, sizeof(*w));
	int r;

	*reason = (struct nnb_reason){ "" };
	r = w ? find_model(w, dir, stream->model, seed, reason) : -ENOMEM;
	if (!r)
		r = make_operands(w, seed, reason);
	if (r == -ENOMEM && !*reason->text)
		nnb_because(reason, "no memory for the inputs and outputs of %s", stream->model);
	if (r)
		load_work_free(w);
	else
		*ret = w;
	return r;
}

/* ---- state ---- */

int load_work_keep(struct load_work *w, const struct load_stream *stream, struct nnb_reason *reason)
{
	const struct nnb_model *m = w->model;
	uint32_t size;

	if (!stream->state)
		return 0;
	w->state = load_is_file(stream->model) ? stream->state_pairs : load_zoo_find(stream->model, &size)->state;
	for (uint32_t i = 0; i < w->state.n; i++) {
		const struct load_pair p = w->state.list[i];
		const struct nnb_operand *from, *to;
		size_t bytes;
		bool same;

		if (p.output >= m->n_outputs || p.input >= m->n_inputs) {
			nnb_because(reason, "output %u to input %u: the model has %u and %u", p.output, p.input,
			            m->n_outputs, m->n_inputs);
			return -EINVAL;
		}
		bytes = work_bytes_of(m, m->inputs[p.input]);
		from = &m->operands[m->outputs[p.output]];
		to = &m->operands[m->inputs[p.input]];
		same = from->type == to->type && from->rank == to->rank &&
		       !memcmp(from->dims, to->dims, from->rank * sizeof(from->dims[0])) && from->scale == to->scale &&
		       from->zero_point == to->zero_point;
		if (!bytes || !same) {
			nnb_because(reason, "output %u to input %u: %s", p.output, p.input,
			            bytes ? "they are not of one type and shape" : "an extent is not known");
			return -EINVAL;
		}
		free(w->inputs[p.input]); /* an example may have one of another size, or none */
		w->inputs[p.input] = calloc(1, bytes);
		w->input_bytes[p.input] = w->output_bytes[p.output] = bytes;
		if (!w->inputs[p.input]) {
			nnb_because(reason, "no memory");
			return -ENOMEM;
		}
	}
	return 0;
}

bool load_is_state_input(const struct load_work *w, uint32_t input)
{
	for (uint32_t i = 0; i < w->state.n; i++)
		if (w->state.list[i].input == input)
			return true;
	return false;
}

bool load_is_state_output(const struct load_work *w, uint32_t output)
{
	for (uint32_t i = 0; i < w->state.n; i++)
		if (w->state.list[i].output == output)
			return true;
	return false;
}

struct load_work *load_work_free(struct load_work *w)
{
	if (!w)
		return NULL;
	for (uint32_t i = 0; w->inputs && i < w->model->n_inputs; i++)
		free(w->inputs[i]);
	free(w->inputs);
	free(w->input_bytes);
	free(w->output_bytes);
	free(w->name);
	if (w->file)
		nnb_model_file_free(w->file);
	else
		nnb_model_free(w->model);
	free(w);
	return NULL;
}

/* ---- pools ---- */

/* Place an operand at the end of a pool; operands take the pools in turn. */
static struct nnb_location pool_place(uint64_t *at, uint32_t n_pools, uint32_t turn, size_t bytes)
{
	struct nnb_location l = { turn % n_pools, (uint32_t)at[turn % n_pools], (uint32_t)bytes };

	assert(n_pools <= LOAD_POOLS_MAX);
	at[l.pool] += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return l;
}

static bool input_is_here(const struct load_buffers *b, uint32_t i)
{
	return b->work->inputs[i] && !(b->elsewhere && load_is_state_input(b->work, i));
}

static bool output_is_here(const struct load_buffers *b, uint32_t i)
{
	return !(b->elsewhere && load_is_state_output(b->work, i));
}

static void *at_location(const struct load_buffers *b, const struct nnb_location *l)
{
	assert(l->pool < b->n_pools); /* not one of the state's, which lie behind these */
	return (char *)nnb_pool_data(b->pools[l->pool]) + l->offset;
}

void *load_input_at(const struct load_buffers *b, uint32_t input)
{
	assert(input < b->work->model->n_inputs);
	return at_location(b, &b->inputs[input].location);
}

void *load_output_at(const struct load_buffers *b, uint32_t output)
{
	assert(output < b->work->model->n_outputs);
	return at_location(b, &b->outputs[output].location);
}

static int make_pools(struct load_buffers *b, const uint64_t *at)
{
	const struct nnb_model *m = b->work->model;

	for (uint32_t i = 0; i < b->n_pools; i++) {
		int r = at[i] > UINT32_MAX ? -EOVERFLOW : nnb_pool_new(&b->pools[i], at[i] ? at[i] : ALIGNMENT);

		if (r)
			return r;
	}
	for (uint32_t i = 0; i < m->n_inputs; i++)
		if (input_is_here(b, i))
			memcpy(load_input_at(b, i), b->work->inputs[i], b->work->input_bytes[i]);
	return 0;
}

int load_buffers_init(struct load_buffers *ret, const struct load_work *work, uint32_t n_pools, bool elsewhere)
{
	struct load_buffers b = { .work = work, .n_pools = n_pools, .elsewhere = elsewhere };
	uint64_t at[LOAD_POOLS_MAX] = { 0 };
	int r = -ENOMEM;

	assert(n_pools && n_pools <= LOAD_POOLS_MAX);
	b.pools = calloc(n_pools + 2 * work->state.n, sizeof(*b.pools));
	b.inputs = calloc(work->model->n_inputs + 1, sizeof(*b.inputs));
	b.outputs = calloc(work->model->n_outputs + 1, sizeof(*b.outputs));
	if (b.pools && b.inputs && b.outputs) {
		const struct nnb_model *m = b.work->model;

		/* With two pools of a model of one input and one output, the input is in one and the output in the
		 * other. */
		for (uint32_t i = 0; i < m->n_inputs; i++) {
			b.inputs[i].no_value = !b.work->inputs[i];
			if (input_is_here(&b, i))
				b.inputs[i].location = pool_place(at, b.n_pools, i, b.work->input_bytes[i]);
		}
		for (uint32_t i = 0; i < m->n_outputs; i++)
			if (output_is_here(&b, i))
				b.outputs[i].location =
					pool_place(at, b.n_pools, m->n_inputs + i, b.work->output_bytes[i]);
		r = make_pools(&b, at);
	}
	if (r)
		load_buffers_fini(&b);
	else
		*ret = b;
	return r;
}

void load_buffers_fini(struct load_buffers *b)
{
	for (uint32_t i = 0; b->pools && i < b->n_pools; i++)
		nnb_pool_free(b->pools[i]);
	free(b->pools);
	free(b->inputs);
	free(b->outputs);
	*b = (struct load_buffers){ 0 };
}

/* ---- outputs ---- */

void load_buffers_spoil(const struct load_buffers *b)
{
	for (uint32_t i = 0; i < b->work->model->n_outputs; i++)
		if (output_is_here(b, i))
			memset(load_output_at(b, i), SPOILT, b->work->output_bytes[i]);
}

uint64_t load_digest(uint64_t before, const void *bytes, size_t n)
{
	uint64_t h = before ? before : 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
	return h ? h : 1;
}

uint64_t load_buffers_digest(const struct load_buffers *b)
{
	uint64_t h = load_digest(0, NULL, 0);

	for (uint32_t i = 0; i < b->work->model->n_outputs; i++)
		if (!load_is_state_output(b->work, i))
			h = load_digest(h, load_output_at(b, i), b->work->output_bytes[i]);
	return h;
}

size_t load_outputs_bytes(const struct load_work *w)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < w->model->n_outputs; i++)
		bytes += w->output_bytes[i];
	return bytes;
}

void load_outputs_copy(const struct load_buffers *b, uint8_t *to)
{
	for (uint32_t i = 0; i < b->work->model->n_outputs; i++) {
		memcpy(to, load_output_at(b, i), b->work->output_bytes[i]);
		to += b->work->output_bytes[i];
	}
}

bool load_outputs_equal(const struct load_buffers *b, const uint8_t *reference)
{
	bool equal = true;

	for (uint32_t i = 0; i < b->work->model->n_outputs; i++) {
		equal &= !memcmp(reference, load_output_at(b, i), b->work->output_bytes[i]);
		reference += b->work->output_bytes[i];
	}
	return equal;
}

/*
 * tflite_writer.c -- see tflite_writer.h.
 *
 * A table is written with its vtable before it and with its offsets still 0. The targets of the offsets come
 * behind it; each offset is set when its target is written.
 */
#include "unit/tflite_writer.h"

#include <stdlib.h>
#include <string.h>

struct writer {
	uint8_t *bytes;
	size_t n, room;
};

struct field {
	uint8_t id;
	char kind; /* 'b', 'i', 'f', 'l' 8 bytes, 'o' an offset, set later */
	double value;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
	while (w->n + n > w->room) {
		w->room = w->room ? 2 * w->room : 1 << 12;
		w->bytes = realloc(w->bytes, w->room);
		if (!w->bytes)
			abort();
	}
	if (bytes)
		memcpy(w->bytes + w->n, bytes, n);
	else
		memset(w->bytes + w->n, 0, n);
	w->n += n;
}

static void align(struct writer *w, size_t to)
{
	while (w->n % to)
		put(w, NULL, 1);
}

static void set32(struct writer *w, size_t at, uint32_t value)
{
	memcpy(w->bytes + at, &value, sizeof(value));
}

/* ---- tables ---- */

static size_t size_of(char kind)
{
	return kind == 'b' ? 1 : kind == 'l' ? 8 : 4;
}

/* Write a table at a multiple of 8, with its 8-byte fields first. Returns its place. */
static size_t table(struct writer *w, const struct field *fields, size_t n)
{
	uint16_t vtable[2 + 16] = { 0 }, at = 8;
	size_t vtable_at, table_at, last = 0;

	for (int size = 8; size >= 1; size /= 2)
		for (size_t i = 0; i < n; i++)
			if (size_of(fields[i].kind) == (size_t)size) {
				vtable[2 + fields[i].id] = at;
				at = (uint16_t)(at + size);
			}
	for (size_t i = 0; i < n; i++)
		last = fields[i].id + 1u > last ? fields[i].id + 1u : last;
	vtable[0] = (uint16_t)(4 + 2 * last);
	vtable[1] = at;
	align(w, 2);
	vtable_at = w->n;
	put(w, vtable, vtable[0]);
	align(w, 8);
	table_at = w->n;
	put(w, NULL, at);
	set32(w, table_at, (uint32_t)(table_at - vtable_at));
	for (size_t i = 0; i < n; i++) {
		uint8_t *to = w->bytes + table_at + vtable[2 + fields[i].id];
		int32_t whole = (int32_t)fields[i].value;
		uint64_t wide = (uint64_t)fields[i].value;
		float real = (float)fields[i].value;

		if (fields[i].kind == 'b')
			*to = (uint8_t)whole;
		else if (fields[i].kind == 'l')
			memcpy(to, &wide, sizeof(wide));
		else
			memcpy(to, fields[i].kind == 'f' ? (const void *)&real : &whole, 4);
	}
	return table_at;
}

#define TABLE(w, ...)                                   \
	table(w, (const struct field[]){ __VA_ARGS__ }, \
	      sizeof((const struct field[]){ __VA_ARGS__ }) / sizeof(struct field))

static size_t field_at(const struct writer *w, size_t table_at, unsigned field)
{
	uint32_t back;
	uint16_t where;

	memcpy(&back, w->bytes + table_at, sizeof(back));
	memcpy(&where, w->bytes + table_at - back + 4 + 2 * field, sizeof(where));
	return table_at + where;
}

/* Set the offset at @at to what is written next, which is aligned to 4. */
static void here(struct writer *w, size_t at)
{
	align(w, 4);
	set32(w, at, (uint32_t)(w->n - at));
}

static void here_of(struct writer *w, size_t table_at, unsigned field)
{
	here(w, field_at(w, table_at, field));
}

/* Set the offset at @at to table @to. */
static void to_table(struct writer *w, size_t at, size_t to)
{
	set32(w, at, (uint32_t)(to - at));
}

/* ---- vectors ---- */

static void vector(struct writer *w, size_t table_at, unsigned field, const void *elements, size_t n, size_t size,
                   size_t aligned)
{
	uint32_t count = (uint32_t)n;

	while ((w->n + 4) % aligned)
		put(w, NULL, 1);
	here_of(w, table_at, field);
	put(w, &count, 4);
	put(w, elements, n * size);
}

static void string(struct writer *w, size_t table_at, unsigned field, const char *text)
{
	vector(w, table_at, field, text, strlen(text), 1, 4);
	put(w, NULL, 1);
}

/* Room for @n offsets, each to be set later. Returns the place of the first. */
static size_t slots(struct writer *w, size_t table_at, unsigned field, size_t n)
{
	uint32_t count = (uint32_t)n;
	size_t at;

	here_of(w, table_at, field);
	put(w, &count, 4);
	at = w->n;
	put(w, NULL, 4 * n);
	return at;
}

/* ---- the schema ---- */

/*
 * Codes and buffers belong to the file; each subgraph has its own, behind those of the subgraphs before it.
 */
static void write_codes(struct writer *w, const struct tfl_model *m, bool old_codes, size_t at)
{
	for (uint32_t i = 0; i < m->n_operators; i++) {
		const struct tfl_operator *op = &m->operators[i];
		size_t t;

		if (old_codes)
			t = TABLE(w, { 0, 'b', op->code });
		else if (op->custom)
			t = TABLE(w, { 0, 'b', op->code }, { 1, 'o', 0 }, { 3, 'i', op->code });
		else
			t = TABLE(w, { 0, 'b', op->code > 127 ? 127 : op->code }, { 3, 'i', op->code });
		to_table(w, at + 4 * i, t);
		if (op->custom && !old_codes)
			string(w, t, 1, op->custom);
	}
}

/* Buffer 0 is empty; tensors that are no constants have it. */
static void write_no_buffer(struct writer *w, size_t at)
{
	size_t none = TABLE(w, { 0, 'o', 0 });

	to_table(w, at, none);
	vector(w, none, 0, NULL, 0, 1, 4);
}

/* One buffer a tensor. */
static void write_buffers(struct writer *w, const struct tfl_model *m, size_t at, size_t outside[])
{
	for (uint32_t i = 0; i < m->n_tensors; i++) {
		const struct tfl_tensor *t = &m->tensors[i];
		size_t buffer;

		if (t->data && m->outside)
			buffer = outside[i] = TABLE(w, { 1, 'l', 0 }, { 2, 'l', t->bytes });
		else
			buffer = TABLE(w, { 0, 'o', 0 });
		to_table(w, at + 4 * i, buffer);
		if (!m->outside || !t->data)
			vector(w, buffer, 0, t->data, t->data ? t->bytes : 0, 1, 16);
	}
}

static void write_quantization(struct writer *w, const struct tfl_tensor *t, size_t tensor)
{
	int64_t zeroes[TFL_RANK];
	size_t q = TABLE(w, { 2, 'o', 0 }, { 3, 'o', 0 }, { 6, 'i', t->quantized_dimension });

	for (uint32_t i = 0; i < t->n_scales; i++)
		zeroes[i] = t->zero;
	to_table(w, field_at(w, tensor, 4), q);
	vector(w, q, 2, t->scales, t->n_scales, 4, 4);
	vector(w, q, 3, zeroes, t->n_scales, 8, 8);
}

static void write_tensors(struct writer *w, const struct tfl_model *m, uint32_t buffer, size_t at)
{
	for (uint32_t i = 0; i < m->n_tensors; i++) {
		const struct tfl_tensor *t = &m->tensors[i];
		struct field fields[7] = { { 0, 'o', 0 },
			                   { 1, 'b', t->type },
			                   { 2, 'i',
			                     t->buffer ? t->buffer
			                     : t->data ? (int)(buffer + i)
			                               : 0 },
			                   { 3, 'o', 0 },
			                   { 5, 'b', t->variable } };
		size_t n = 5, tensor;

		if (t->n_scales)
			fields[n++] = (struct field){ 4, 'o', 0 };
		if (t->sparse)
			fields[n++] = (struct field){ 6, 'o', 0 };
		tensor = table(w, fields, n);
		to_table(w, at + 4 * i, tensor);
		vector(w, tensor, 0, t->dims, t->rank, 4, 4);
		string(w, tensor, 3, t->name);
		if (t->n_scales)
			write_quantization(w, t, tensor);
		if (t->sparse)
			to_table(w, field_at(w, tensor, 6), TABLE(w, { 0, 'i', 0 }));
	}
}

static void write_options(struct writer *w, const struct tfl_operator *op, size_t operator_at)
{
	struct field fields[TFL_OPTIONS];
	size_t n = 0, t;

	while (n < TFL_OPTIONS && op->options[n].kind) {
		fields[n] =
			(struct field){ op->options[n].field, op->options[n].kind == 'v' ? 'o' : op->options[n].kind,
			                op->options[n].value };
		n++;
	}
	t = table(w, fields, n);
	to_table(w, field_at(w, operator_at, 4), t);
	for (size_t i = 0; i < n; i++)
		if (op->options[i].kind == 'v')
			vector(w, t, op->options[i].field, op->options[i].vector, op->options[i].n, 4, 4);
}

static void write_operators(struct writer *w, const struct tfl_model *m, uint32_t code, size_t at)
{
	for (uint32_t i = 0; i < m->n_operators; i++) {
		const struct tfl_operator *op = &m->operators[i];
		struct field fields[5] = {
			{ 0, 'i', code + i }, { 1, 'o', 0 }, { 2, 'o', 0 }, { 3, 'b', op->options_type }, { 4, 'o', 0 }
		};
		size_t t = table(w, fields, op->options_type ? 5 : 3);

		to_table(w, at + 4 * i, t);
		vector(w, t, 1, op->inputs, op->n_inputs, 4, 4);
		vector(w, t, 2, op->outputs, op->n_outputs, 4, 4);
		if (op->options_type)
			write_options(w, op, t);
	}
}

static void write_subgraph(struct writer *w, const struct tfl_model *m, uint32_t code, uint32_t buffer, size_t slot)
{
	size_t g = TABLE(w, { 0, 'o', 0 }, { 1, 'o', 0 }, { 2, 'o', 0 }, { 3, 'o', 0 });
	size_t tensors, operators;

	to_table(w, slot, g);
	tensors = slots(w, g, 0, m->n_tensors);
	vector(w, g, 1, m->inputs, m->n_inputs, 4, 4);
	vector(w, g, 2, m->outputs, m->n_outputs, 4, 4);
	operators = slots(w, g, 3, m->n_operators);
	write_tensors(w, m, buffer, tensors);
	write_operators(w, m, code, operators);
}

/* The bytes lie behind everything that offsets of 32 bits lead to. */
static void write_outside(struct writer *w, const struct tfl_model *m, const size_t *outside)
{
	for (uint32_t i = 0; m->outside && i < m->n_tensors; i++) {
		uint64_t at;

		if (!m->tensors[i].data)
			continue;
		align(w, 16);
		at = w->n;
		memcpy(w->bytes + field_at(w, outside[i], 1), &at, sizeof(at));
		put(w, m->tensors[i].data, m->tensors[i].bytes);
	}
}

void tfl_write(const struct tfl_model *m, uint8_t **ret, size_t *ret_bytes)
{
	uint32_t n_subgraphs = m->n_subgraphs ? m->n_subgraphs : 1, code = m->n_operators, buffer = m->n_tensors;
	size_t root, codes, graphs, buffers, *outside = calloc(m->n_tensors + 1, sizeof(*outside));
	struct writer w = { 0 };

	for (uint32_t i = 0; i < m->n_more; i++) {
		code += m->more[i].n_operators;
		buffer += m->more[i].n_tensors;
	}
	put(&w, NULL, 4);
	put(&w, "TFL3", 4);
	root = TABLE(&w, { 0, 'i', m->version ? m->version : 3 }, { 1, 'o', 0 }, { 2, 'o', 0 }, { 4, 'o', 0 });
	to_table(&w, 0, root);
	codes = slots(&w, root, 1, code);
	graphs = slots(&w, root, 2, n_subgraphs + m->n_more);
	buffers = slots(&w, root, 4, buffer + 1);
	write_no_buffer(&w, buffers);
	write_codes(&w, m, m->old_codes, codes);
	for (uint32_t i = 0; i < n_subgraphs; i++)
		write_subgraph(&w, m, 0, 1, graphs + 4 * i);
	write_buffers(&w, m, buffers + 4, outside);
	code = m->n_operators;
	buffer = 1 + m->n_tensors;
	for (uint32_t i = 0; i < m->n_more; i++) {
		const struct tfl_model *g = &m->more[i];

		write_codes(&w, g, false, codes + 4 * code);
		write_subgraph(&w, g, code, buffer, graphs + 4 * (n_subgraphs + i));
		write_buffers(&w, g, buffers + 4 * buffer, NULL);
		code += g->n_operators;
		buffer += g->n_tensors;
	}
	write_outside(&w, m, outside);
	free(outside);
	*ret = w.bytes;
	*ret_bytes = w.n;
}

/*
 * model_mutations.c -- the mutations of section 7.3.
 *
 * The fields of a copy are edited; where a list grows it is given the memory. What VTS leaves out because the
 * result could be a valid model is left out here too, and each time it is said why.
 */
#include "unit/model_mutations.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/abort_unless.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- one mutation after the other ---- */

struct spoiler {
	const struct nnb_model *from;
	const char *kind;
	mutation_fn *each;
	void *arg;
	size_t n;
};

static struct nnb_model *fresh(const struct spoiler *s)
{
	struct nnb_model *m;

	abort_unless(nnb_model_copy(&m, s->from) == 0);
	return m;
}

/* Show @m, and be done with it. */
__attribute__((format(printf, 3, 4))) static void show(struct spoiler *s, struct nnb_model *m, const char *format, ...)
{
	char what[160];
	int n = snprintf(what, sizeof(what), "%s: ", s->kind);
	va_list args;

	va_start(args, format);
	vsnprintf(what + n, sizeof(what) - (size_t)n, format, args);
	va_end(args);
	s->each(m, what, s->arg);
	s->n++;
	nnb_model_free(m);
}

/* ---- lists ---- */

static void append(uint32_t **list, uint32_t *n, uint32_t index)
{
	uint32_t *more = realloc(*list, (*n + (size_t)1) * sizeof(*more));

	abort_unless(more);
	more[(*n)++] = index;
	*list = more;
}

static void erase(uint32_t *list, uint32_t *n, uint32_t at)
{
	(*n)--;
	memmove(list + at, list + at + 1, (*n - at) * sizeof(*list));
}

/* Take @index out wherever it is. */
static void forget(uint32_t *list, uint32_t *n, uint32_t index)
{
	for (uint32_t i = 0; i < *n;)
		if (list[i] == index)
			erase(list, n, i);
		else
			i++;
}

/* The same, and close the gap it leaves among the numbers. */
static void forget_and_shift(uint32_t *list, uint32_t *n, uint32_t index)
{
	forget(list, n, index);
	for (uint32_t i = 0; i < *n; i++)
		list[i] -= list[i] > index;
}

/* ---- operands ---- */

static bool is_constant(const struct nnb_operand *o)
{
	return o->lifetime == NNB_CONSTANT_COPY || o->lifetime == NNB_CONSTANT_REFERENCE;
}

static bool is_tensor(const struct nnb_operand *o)
{
	return nnb_type_info(o->type)->tensor;
}

/* 0: not known, or none. */
static uint32_t size_of(const struct nnb_operand *o)
{
	uint64_t bytes;

	abort_unless(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) == 0 && bytes <= UINT32_MAX);
	return (uint32_t)bytes;
}

/* Give operand @index as many bytes among the model's values as it needs. */
static void make_constant(struct nnb_model *m, uint32_t index)
{
	uint32_t bytes = size_of(&m->operands[index]), at = (m->n_values + 3) & ~3u;
	uint8_t *values = realloc(m->values, at + (size_t)bytes + 1);

	abort_unless(values);
	memset(values + m->n_values, 0, at + bytes - m->n_values);
	m->values = values;
	m->n_values = at + bytes;
	m->operands[index].lifetime = NNB_CONSTANT_COPY;
	m->operands[index].location = (struct nnb_location){ 0, at, bytes };
}

/* A temporary like operand @like, which nobody reads. */
static uint32_t another(struct nnb_model *m, uint32_t like)
{
	struct nnb_operand o = m->operands[like];
	int index;

	o.lifetime = NNB_TEMPORARY;
	index = nnb_model_operand(m, &o);
	abort_unless(index >= 0);
	return (uint32_t)index;
}

static void move_operation(struct nnb_model *m, uint32_t from, uint32_t to)
{
	struct nnb_operation op = m->operations[from];

	if (from < to)
		memmove(&m->operations[from], &m->operations[from + 1], (to - from) * sizeof(op));
	else
		memmove(&m->operations[to + 1], &m->operations[to], (from - to) * sizeof(op));
	m->operations[to] = op;
}

/* ---- the order of operations ---- */

static bool reads_what_is_written(const struct nnb_model *m, const struct nnb_operation *op)
{
	for (uint32_t k = 0; k < op->n_inputs; k++)
		if (m->operands[op->inputs[k]].lifetime == NNB_TEMPORARY ||
		    m->operands[op->inputs[k]].lifetime == NNB_MODEL_OUTPUT)
			return true;
	return false;
}

static bool writes_what_is_read(const struct nnb_model *m, const struct nnb_operation *op)
{
	for (uint32_t k = 0; k < op->n_outputs; k++)
		if (m->operands[op->outputs[k]].consumers)
			return true;
	return false;
}

static void execution_order(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		struct nnb_model *m;

		if (reads_what_is_written(s->from, &s->from->operations[i])) {
			m = fresh(s);
			move_operation(m, i, 0);
			show(s, m, "operation %u moves to the front", i);
		}
		if (writes_what_is_read(s->from, &s->from->operations[i])) {
			m = fresh(s);
			move_operation(m, i, m->n_operations - 1);
			show(s, m, "operation %u moves to the end", i);
		}
	}
}

/* ---- fields of operands ---- */

/* Below the fundamental types, above those of HAL 1.0, and around the OEM ones. */
static void operand_type(struct spoiler *s)
{
	static const uint32_t types[] = { UINT32_MAX, NNB_TENSOR_QUANT8_ASYMM + 1, NNB_OEM - 1,
		                          NNB_TENSOR_OEM_BYTE + 1 };

	for (uint32_t i = 0; i < s->from->n_operands; i++)
		for (size_t k = 0; k < N_OF(types); k++) {
			struct nnb_model *m = fresh(s);

			m->operands[i].type = types[k];
			show(s, m, "operand %u gets type %u", i, types[k]);
		}
}

static void operand_rank(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		struct nnb_model *m = fresh(s);
		struct nnb_operand *o = &m->operands[i];

		o->rank = !is_tensor(o);
		memset(o->dims, 0, sizeof(o->dims));
		show(s, m, "operand %u gets rank %u", i, o->rank);
	}
}

static void operand_scale(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		struct nnb_model *m = fresh(s);
		struct nnb_operand *o = &m->operands[i];

		o->scale = o->type == NNB_TENSOR_INT32 ? -1.0f : o->type == NNB_TENSOR_QUANT8_ASYMM ? 0.0f : 1.0f;
		show(s, m, "operand %u gets scale %g", i, (double)o->scale);
	}
}

static void operand_zero_point(struct spoiler *s)
{
	static const int32_t of_quantised[] = { -1, 256 }, of_others[] = { 1 };

	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		bool quantised = nnb_type_info(s->from->operands[i].type)->quantized;
		const int32_t *points = quantised ? of_quantised : of_others;

		for (size_t k = 0; k < (quantised ? N_OF(of_quantised) : N_OF(of_others)); k++) {
			struct nnb_model *m = fresh(s);

			m->operands[i].zero_point = points[k];
			show(s, m, "operand %u gets zero point %d", i, points[k]);
		}
	}
}

/* ---- lifetimes ---- */

/* Operand @i gets lifetime @to, and the lists of inputs and outputs, and where it lies, go with that. */
static void change_lifetime(struct spoiler *s, uint32_t i, enum nnb_lifetime to)
{
	struct nnb_model *m = fresh(s);

	forget(m->inputs, &m->n_inputs, i);
	forget(m->outputs, &m->n_outputs, i);
	m->operands[i].location = (struct nnb_location){ 0 };
	m->operands[i].lifetime = to;
	if (to == NNB_MODEL_INPUT)
		append(&m->inputs, &m->n_inputs, i);
	if (to == NNB_MODEL_OUTPUT)
		append(&m->outputs, &m->n_outputs, i);
	if (to == NNB_CONSTANT_COPY)
		make_constant(m, i);
	show(s, m, "operand %u, a %s, becomes a %s", i, nnb_lifetime_name(s->from->operands[i].lifetime),
	     nnb_lifetime_name(to));
}

/* What is written becomes what is not, and the reverse. What has NO_VALUE is neither. */
static void operand_lifetime(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		const struct nnb_operand *o = &s->from->operands[i];

		switch (o->lifetime) {
		case NNB_TEMPORARY:
		case NNB_MODEL_OUTPUT:
			change_lifetime(s, i, NNB_MODEL_INPUT);
			if (size_of(o)) /* nobody knows the length of one without a size */
				change_lifetime(s, i, NNB_CONSTANT_COPY);
			break;
		case NNB_MODEL_INPUT:
		case NNB_CONSTANT_COPY:
		case NNB_CONSTANT_REFERENCE:
			change_lifetime(s, i, NNB_TEMPORARY);
			change_lifetime(s, i, NNB_MODEL_OUTPUT);
			break;
		default:
			break;
		}
	}
}

/* Only the lists stop being right: who is written stays so. */
static void operand_input_output(struct spoiler *s)
{
	static const uint32_t becomes[] = {
		[NNB_TEMPORARY] = NNB_MODEL_OUTPUT,         [NNB_MODEL_INPUT] = NNB_CONSTANT_COPY,
		[NNB_MODEL_OUTPUT] = NNB_TEMPORARY,         [NNB_CONSTANT_COPY] = NNB_MODEL_INPUT,
		[NNB_CONSTANT_REFERENCE] = NNB_MODEL_INPUT,
	};

	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		const struct nnb_operand *o = &s->from->operands[i];
		struct nnb_model *m;

		/* NO_VALUE is in no list; and no constant is made of an input whose length nobody knows */
		if (o->lifetime == NNB_NO_VALUE || (o->lifetime == NNB_MODEL_INPUT && !size_of(o)))
			continue;
		m = fresh(s);
		m->operands[i].lifetime = becomes[o->lifetime];
		m->operands[i].location = (struct nnb_location){ 0 };
		if (o->lifetime == NNB_MODEL_INPUT)
			make_constant(m, i);
		show(s, m, "operand %u, a %s, becomes a %s, and the lists stay", i, nnb_lifetime_name(o->lifetime),
		     nnb_lifetime_name(becomes[o->lifetime]));
	}
}

static void operand_number_of_consumers(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++)
		for (int by = -1; by <= 1; by += 2) {
			struct nnb_model *m;

			if (by < 0 && s->from->operands[i].consumers == 0)
				continue;
			m = fresh(s);
			m->operands[i].consumers += (uint32_t)by;
			show(s, m, "operand %u says that it has %u consumers", i, m->operands[i].consumers);
		}
}

/* ---- writers ---- */

/* A copy of operation @i at the end, of whose outputs only output @k has been there. */
static void add_writer(struct spoiler *s, uint32_t i, uint32_t k)
{
	struct nnb_model *m = fresh(s);
	struct nnb_operation op = m->operations[i];
	uint32_t *outputs = malloc((op.n_outputs + (size_t)1) * sizeof(*outputs));

	abort_unless(outputs);
	for (uint32_t o = 0; o < op.n_outputs; o++)
		outputs[o] = o == k ? op.outputs[o] : another(m, op.outputs[o]);
	for (uint32_t o = 0; o < op.n_inputs; o++)
		m->operands[op.inputs[o]].consumers++;
	abort_unless(nnb_model_operation(m, op.type, op.inputs, op.n_inputs, outputs, op.n_outputs) >= 0);
	free(outputs);
	show(s, m, "operation %u comes again, and writes output %u again", i, k);
}

static void operand_add_writer(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++)
			add_writer(s, i, k);
}

static void operation_remove_write(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++) {
			struct nnb_model *m = fresh(s);
			uint32_t was = m->operations[i].outputs[k];

			m->operations[i].outputs[k] = another(m, was);
			show(s, m, "operation %u writes elsewhere, and operand %u, with %u readers, is not written", i,
			     was, m->operands[was].consumers);
		}
}

/* ---- operations ---- */

/* Operand @o as one of @type, and right in everything else, as VTS has it. */
static void change_type(struct nnb_model *m, uint32_t index, uint32_t type)
{
	struct nnb_operand *o = &m->operands[index];

	o->type = type;
	if (!is_tensor(o)) {
		o->rank = 0;
		memset(o->dims, 0, sizeof(o->dims));
	} else if (!o->rank) {
		o->rank = 1;
		o->dims[0] = 1;
	}
	o->zero_point = 0;
	if (type == NNB_TENSOR_QUANT8_ASYMM)
		o->scale = o->scale != 0 ? o->scale : 1.0f;
	else if (type != NNB_TENSOR_INT32)
		o->scale = 0;
	if (is_constant(o) && nnb_type_info(type)->bytes) /* whose size nobody knows keeps what it has */
		make_constant(m, index);
}

/* Any tensor will do as LSH_PROJECTION's second input, whatever the others are. */
static bool is_legal_instead(const struct nnb_model *m, uint32_t operation, uint32_t index, uint32_t type)
{
	const struct nnb_operation *op = &m->operations[operation];

	return op->type == NNB_LSH_PROJECTION && op->inputs[1] == index && nnb_type_info(type)->tensor;
}

static void change_operand_types(struct spoiler *s, uint32_t operation, uint32_t index, const char *which, uint32_t k)
{
	static const uint32_t types[] = { NNB_FLOAT32,      NNB_INT32,
		                          NNB_UINT32,       NNB_TENSOR_FLOAT32,
		                          NNB_TENSOR_INT32, NNB_TENSOR_QUANT8_ASYMM,
		                          NNB_OEM,          NNB_TENSOR_OEM_BYTE };

	for (size_t t = 0; t < N_OF(types); t++) {
		struct nnb_model *m;

		if (types[t] == s->from->operands[index].type || is_legal_instead(s->from, operation, index, types[t]))
			continue;
		m = fresh(s);
		change_type(m, index, types[t]);
		show(s, m, "%s %u of operation %u, a %s, becomes a %s", which, k, operation,
		     nnb_type_info(s->from->operands[index].type)->name, nnb_type_info(types[t])->name);
	}
}

static void operation_operand_type(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		const struct nnb_operation *op = &s->from->operations[i];

		for (uint32_t k = 0; k < op->n_inputs; k++)
			change_operand_types(s, i, op->inputs[k], "input", k);
		for (uint32_t k = 0; k < op->n_outputs; k++)
			change_operand_types(s, i, op->outputs[k], "output", k);
	}
}

static void operation_type(struct spoiler *s)
{
	static const uint32_t types[] = { UINT32_MAX, NNB_TANH + 1, NNB_OEM_OPERATION - 1, NNB_OEM_OPERATION + 1 };

	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (size_t k = 0; k < N_OF(types); k++) {
			struct nnb_model *m = fresh(s);

			m->operations[i].type = types[k];
			show(s, m, "operation %u gets type %u", i, types[k]);
		}
}

/* The consumers stay as they were, as they do in VTS. */
static void operation_input_operand_index(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_inputs; k++) {
			struct nnb_model *m = fresh(s);

			m->operations[i].inputs[k] = m->n_operands;
			show(s, m, "input %u of operation %u is operand %u", k, i, m->n_operands);
		}
}

static void operation_output_operand_index(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++) {
			struct nnb_model *m = fresh(s);

			m->operations[i].outputs[k] = m->n_operands;
			show(s, m, "output %u of operation %u is operand %u", k, i, m->n_operands);
		}
}

/* ---- taking away, and adding ---- */

/* A CONCATENATION of several tensors is one of fewer, as far as its signature goes. */
static bool may_do_without(const struct nnb_operation *op, uint32_t input)
{
	return op->type == NNB_CONCATENATION && op->n_inputs > 2 && input < op->n_inputs - 1;
}

static bool may_all_do_without(const struct nnb_model *m, uint32_t operand)
{
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct nnb_operation *op = &m->operations[i];

		for (uint32_t k = 0; k < op->n_outputs; k++)
			if (op->outputs[k] == operand)
				return false;
		for (uint32_t k = 0; k < op->n_inputs; k++)
			if (op->inputs[k] == operand && !may_do_without(op, k))
				return false;
	}
	return true; /* or nobody uses it */
}

static void remove_operand(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		struct nnb_model *m;

		if (may_all_do_without(s->from, i))
			continue;
		m = fresh(s);
		for (uint32_t k = 0; k < m->n_operations; k++) {
			forget_and_shift(m->operations[k].inputs, &m->operations[k].n_inputs, i);
			forget_and_shift(m->operations[k].outputs, &m->operations[k].n_outputs, i);
		}
		forget_and_shift(m->inputs, &m->n_inputs, i);
		forget_and_shift(m->outputs, &m->n_outputs, i);
		m->n_operands--;
		memmove(&m->operands[i], &m->operands[i + 1], (m->n_operands - i) * sizeof(*m->operands));
		show(s, m, "operand %u goes", i);
	}
}

static void remove_operation(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		struct nnb_model *m = fresh(s);
		struct nnb_operation op = m->operations[i];

		for (uint32_t k = 0; k < op.n_inputs; k++)
			m->operands[op.inputs[k]].consumers--;
		free(op.inputs);
		free(op.outputs);
		m->n_operations--;
		memmove(&m->operations[i], &m->operations[i + 1], (m->n_operations - i) * sizeof(op));
		show(s, m, "operation %u goes", i);
	}
}

static void remove_operation_input(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_inputs; k++) {
			struct nnb_model *m;

			if (may_do_without(&s->from->operations[i], k))
				continue;
			m = fresh(s);
			m->operands[m->operations[i].inputs[k]].consumers--;
			erase(m->operations[i].inputs, &m->operations[i].n_inputs, k);
			show(s, m, "input %u of operation %u goes", k, i);
		}
}

static void remove_operation_output(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++) {
			struct nnb_model *m = fresh(s);

			erase(m->operations[i].outputs, &m->operations[i].n_outputs, k);
			show(s, m, "output %u of operation %u goes", k, i);
		}
}

/* In HAL 1.0 no operation can have one more. */
static void add_operation_input(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		struct nnb_model *m = fresh(s);
		int o = nnb_model_operand(m, &(struct nnb_operand){ .type = NNB_INT32, .lifetime = NNB_MODEL_INPUT });

		abort_unless(o >= 0);
		m->operands[o].consumers = 1;
		append(&m->inputs, &m->n_inputs, (uint32_t)o);
		append(&m->operations[i].inputs, &m->operations[i].n_inputs, (uint32_t)o);
		show(s, m, "operation %u gets one more input", i);
	}
}

static void add_operation_output(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		struct nnb_model *m = fresh(s);
		int o = nnb_model_operand(m, &(struct nnb_operand){ .type = NNB_INT32, .lifetime = NNB_MODEL_OUTPUT });

		abort_unless(o >= 0);
		append(&m->outputs, &m->n_outputs, (uint32_t)o);
		append(&m->operations[i].outputs, &m->operations[i].n_outputs, (uint32_t)o);
		show(s, m, "operation %u gets one more output", i);
	}
}

/* ---- all ---- */

static const struct {
	const char *name;
	void (*run)(struct spoiler *s);
} kinds[] = {
	{ "mutateExecutionOrder", execution_order },
	{ "mutateOperandType", operand_type },
	{ "mutateOperandRank", operand_rank },
	{ "mutateOperandScale", operand_scale },
	{ "mutateOperandZeroPoint", operand_zero_point },
	{ "mutateOperandLifeTime", operand_lifetime },
	{ "mutateOperandInputOutput", operand_input_output },
	{ "mutateOperandNumberOfConsumers", operand_number_of_consumers },
	{ "mutateOperandAddWriter", operand_add_writer },
	{ "mutateOperationOperandType", operation_operand_type },
	{ "mutateOperationType", operation_type },
	{ "mutateOperationInputOperandIndex", operation_input_operand_index },
	{ "mutateOperationOutputOperandIndex", operation_output_operand_index },
	{ "mutateOperationRemoveWrite", operation_remove_write },
	{ "removeOperand", remove_operand },
	{ "removeOperation", remove_operation },
	{ "removeOperationInput", remove_operation_input },
	{ "removeOperationOutput", remove_operation_output },
	{ "addOperationInput", add_operation_input },
	{ "addOperationOutput", add_operation_output },
};

size_t mutation_count(void)
{
	return N_OF(kinds);
}

const char *mutation_name(size_t kind)
{
	return kinds[kind].name;
}

size_t mutate_model_as(size_t kind, const struct nnb_model *model, mutation_fn *each, void *arg)
{
	struct spoiler s = { model, kinds[kind].name, each, arg, 0 };

	kinds[kind].run(&s);
	return s.n;
}

size_t mutate_model(const struct nnb_model *model, mutation_fn *each, void *arg)
{
	size_t n = 0;

	for (size_t kind = 0; kind < N_OF(kinds); kind++)
		n += mutate_model_as(kind, model, each, arg);
	return n;
}

/*
 * model_mutations.c -- the mutations of section 7.3.
 *
 * Each mutation edits the fields of a copy; it allocates memory where a list grows. A mutation that VTS omits because
 * the result could be a valid model is omitted here, too, with the reason.
 */
#include "conformance/validate/model_mutations.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/validate/abort_unless.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- one mutation after another ---- */

struct spoiler {
	const struct nnb_model *from;
	const char *kind;
	mutation_fn *each;
	void *arg;
	size_t n;
};

static struct nnb_model *model_fresh(const struct spoiler *s)
{
	struct nnb_model *m;

	abort_unless(nnb_model_copy(&m, s->from) == 0);
	return m;
}

/* Pass @m to the caller's function, then free it. */
__attribute__((format(printf, 3, 4))) static void mutation_show(struct spoiler *s, struct nnb_model *m,
                                                                const char *format, ...)
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

static void list_append(uint32_t **list, uint32_t *n, uint32_t index)
{
	uint32_t *more = realloc(*list, (*n + (size_t)1) * sizeof(*more));

	abort_unless(more);
	more[(*n)++] = index;
	*list = more;
}

static void list_erase(uint32_t *list, uint32_t *n, uint32_t at)
{
	(*n)--;
	memmove(list + at, list + at + 1, (*n - at) * sizeof(*list));
}

/* Remove every occurrence of @index from the list. */
static void list_forget(uint32_t *list, uint32_t *n, uint32_t index)
{
	for (uint32_t i = 0; i < *n;)
		if (list[i] == index)
			list_erase(list, n, i);
		else
			i++;
}

/* Remove @index from the list, and decrement all higher indexes. */
static void forget_and_shift(uint32_t *list, uint32_t *n, uint32_t index)
{
	list_forget(list, n, index);
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

/* The bytes of an operand; 0: unknown or no value. */
static uint32_t size_of(const struct nnb_operand *o)
{
	uint64_t bytes;

	abort_unless(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) == 0 && bytes <= UINT32_MAX);
	return (uint32_t)bytes;
}

/* Make operand @index a constant, with its bytes among the model's values. */
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

/* Add a temporary like operand @like that no operation reads. */
static uint32_t operand_another(struct nnb_model *m, uint32_t like)
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
			m = model_fresh(s);
			move_operation(m, i, 0);
			mutation_show(s, m, "operation %u moves to the front", i);
		}
		if (writes_what_is_read(s->from, &s->from->operations[i])) {
			m = model_fresh(s);
			move_operation(m, i, m->n_operations - 1);
			mutation_show(s, m, "operation %u moves to the end", i);
		}
	}
}

/* ---- fields of operands ---- */

/* The types below the fundamental ones, above those of the model's HAL, and around the OEM types. */
enum { SUBGRAPH = 15 };

static void operand_type(struct spoiler *s)
{
	uint32_t types[] = { UINT32_MAX, NNB_TENSOR_QUANT8_ASYMM + 1, NNB_OEM - 1, NNB_TENSOR_OEM_BYTE + 1 };

	if (s->from->hal == NNB_HAL_1_2)
		types[1] = NNB_TENSOR_QUANT8_SYMM + 1;
	if (s->from->hal == NNB_HAL_1_3)
		types[1] = SUBGRAPH + 1;
	for (uint32_t i = 0; i < s->from->n_operands; i++)
		for (size_t k = 0; k < N_OF(types); k++) {
			struct nnb_model *m = model_fresh(s);

			m->operands[i].type = types[k];
			mutation_show(s, m, "operand %u gets type %u", i, types[k]);
		}
}

static void operand_rank(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		struct nnb_model *m;
		struct nnb_operand *o;

		if (s->from->hal >= NNB_HAL_1_2 && is_tensor(&s->from->operands[i]) &&
		    !is_constant(&s->from->operands[i]))
			continue; /* rank 0 means that the rank is unknown, which is valid */
		m = model_fresh(s);
		o = &m->operands[i];
		o->rank = !is_tensor(o);
		memset(o->dims, 0, sizeof(o->dims));
		mutation_show(s, m, "operand %u gets rank %u", i, o->rank);
	}
}

static void operand_scale(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		struct nnb_model *m = model_fresh(s);
		struct nnb_operand *o = &m->operands[i];

		o->scale = o->type == NNB_TENSOR_INT32 ? -1.0f : nnb_type_info(o->type)->quantized ? 0.0f : 1.0f;
		mutation_show(s, m, "operand %u gets scale %g", i, (double)o->scale);
	}
}

/* The values just outside the type's range, as in VTS; each list ends with 0. */
static const int32_t *zero_points_outside(uint32_t type)
{
	static const int32_t of_quant8[] = { -1, 256, 0 }, of_signed[] = { -129, 128, 0 };
	static const int32_t of_symmetric[] = { -129, -1, 1, 128, 0 }, of_others[] = { 1, 0 };
	static const int32_t of_quant16[] = { -1, 65536, 0 }, of_symmetric16[] = { -32769, -1, 1, 32768, 0 };

	switch (type) {
	case NNB_TENSOR_QUANT8_ASYMM:
		return of_quant8;
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
		return of_signed;
	case NNB_TENSOR_QUANT8_SYMM:
		return of_symmetric;
	case NNB_TENSOR_QUANT16_ASYMM:
		return of_quant16;
	case NNB_TENSOR_QUANT16_SYMM:
		return of_symmetric16;
	default:
		return of_others;
	}
}

static void operand_zero_point(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++)
		for (const int32_t *point = zero_points_outside(s->from->operands[i].type); *point; point++) {
			struct nnb_model *m = model_fresh(s);

			m->operands[i].zero_point = *point;
			mutation_show(s, m, "operand %u gets zero point %d", i, *point);
		}
}

/* ---- scales of channels, which VTS does not mutate ---- */

static const float bad_scales[] = { 0, -1, NAN, INFINITY };

/*
 * spoil_channels has CHANNEL_WAYS ways to make an operand's channel data wrong. An operand of another type gets
 * scales or a dimension that it must not have.
 */
enum { CHANNEL_WAYS = 6 + N_OF(bad_scales) };

static void operand_channels(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++)
		for (size_t way = 0; way < CHANNEL_WAYS; way++) {
			struct nnb_model *m = model_fresh(s);

			if (way == 0)
				m->operands[i].n_scales++;
			else if (way == 1)
				m->operands[i].scales_at++;
			else if (way == 2)
				m->operands[i].channel_dim = m->operands[i].n_scales ? m->operands[i].rank : 1;
			else if (way == 3)
				m->operands[i].scales_at = m->n_values + 4;
			else if (way == 4)
				m->operands[i].scales_at = UINT32_MAX - 3;
			else if (way == 5)
				m->operands[i].n_scales = UINT32_MAX / 4;
			else if (m->operands[i].n_scales)
				memcpy(m->values + m->operands[i].scales_at + 4 * (m->operands[i].n_scales - 1),
				       &bad_scales[way - 6], 4);
			else
				m->operands[i].n_scales = (uint32_t)way;
			mutation_show(s, m, "operand %u gets wrong channel data (%zu)", i, way);
		}
}

/* A sample requires the HAL version that it states. */
static void model_hal(struct spoiler *s)
{
	struct nnb_model *m;

	if (s->from->hal == NNB_HAL_1_0)
		return;
	m = model_fresh(s);
	m->hal--;
	mutation_show(s, m, "the model gets HAL 1.%u", m->hal & 15);
}

/* ---- lifetimes ---- */

/* Change the lifetime of operand @i to @to; the lists of inputs and outputs and the operand's location are adapted. */
static void change_lifetime(struct spoiler *s, uint32_t i, enum nnb_lifetime to)
{
	struct nnb_model *m = model_fresh(s);

	list_forget(m->inputs, &m->n_inputs, i);
	list_forget(m->outputs, &m->n_outputs, i);
	m->operands[i].location = (struct nnb_location){ 0 };
	m->operands[i].lifetime = to;
	if (to == NNB_MODEL_INPUT)
		list_append(&m->inputs, &m->n_inputs, i);
	if (to == NNB_MODEL_OUTPUT)
		list_append(&m->outputs, &m->n_outputs, i);
	if (to == NNB_CONSTANT_COPY)
		make_constant(m, i);
	mutation_show(s, m, "operand %u, a %s, becomes a %s", i, nnb_lifetime_name(s->from->operands[i].lifetime),
	              nnb_lifetime_name(to));
}

/* Operands that are written become operands that are not, and the reverse. Operands with NO_VALUE stay unchanged. */
static void operand_lifetime(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		const struct nnb_operand *o = &s->from->operands[i];

		switch (o->lifetime) {
		case NNB_TEMPORARY:
		case NNB_MODEL_OUTPUT:
			change_lifetime(s, i, NNB_MODEL_INPUT);
			if (size_of(o)) /* the length of an operand without a size is not known */
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

/* Only the lists become wrong: the operations that write the operand stay unchanged. */
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

		/* NO_VALUE and SUBGRAPH appear in no list; an input of unknown length cannot become a constant */
		if (o->lifetime == NNB_NO_VALUE || o->lifetime == NNB_LIFETIME_SUBGRAPH ||
		    (o->lifetime == NNB_MODEL_INPUT && !size_of(o)))
			continue;
		m = model_fresh(s);
		m->operands[i].lifetime = becomes[o->lifetime];
		m->operands[i].location = (struct nnb_location){ 0 };
		if (o->lifetime == NNB_MODEL_INPUT)
			make_constant(m, i);
		mutation_show(s, m, "operand %u, a %s, becomes a %s, and the lists stay unchanged", i,
		              nnb_lifetime_name(o->lifetime), nnb_lifetime_name(becomes[o->lifetime]));
	}
}

static void operand_number_of_consumers(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++)
		for (int by = -1; by <= 1; by += 2) {
			struct nnb_model *m;

			if (by < 0 && s->from->operands[i].consumers == 0)
				continue;
			m = model_fresh(s);
			m->operands[i].consumers += (uint32_t)by;
			mutation_show(s, m, "operand %u gets %u consumers", i, m->operands[i].consumers);
		}
}

/* ---- writers ---- */

static void operand_add_writer(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++) {
			/* Append a copy of operation i. Only its output k is an operand of the original; the other
			 * outputs are new. */
			struct nnb_model *m = model_fresh(s);
			struct nnb_operation op = m->operations[i];
			uint32_t *outputs = malloc((op.n_outputs + (size_t)1) * sizeof(*outputs));

			abort_unless(outputs);
			for (uint32_t o = 0; o < op.n_outputs; o++)
				outputs[o] = o == k ? op.outputs[o] : operand_another(m, op.outputs[o]);
			for (uint32_t o = 0; o < op.n_inputs; o++)
				m->operands[op.inputs[o]].consumers++;
			abort_unless(nnb_model_operation(m, op.type, op.inputs, op.n_inputs, outputs, op.n_outputs) >=
			             0);
			free(outputs);
			mutation_show(s, m, "a copy of operation %u writes output %u again", i, k);
		}
}

static void operation_remove_write(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++) {
			struct nnb_model *m = model_fresh(s);
			uint32_t was = m->operations[i].outputs[k];

			m->operations[i].outputs[k] = operand_another(m, was);
			mutation_show(
				s, m,
				"operation %u writes another operand, and operand %u, with %u readers, is not written",
				i, was, m->operands[was].consumers);
		}
}

/* ---- operations ---- */

/* Change operand @index to @type, valid in all other respects, as in VTS. */
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
	if (nnb_type_info(type)->quantized)
		o->scale = o->scale != 0 ? o->scale : 1.0f;
	else if (type != NNB_TENSOR_INT32)
		o->scale = 0;
	o->channel_dim = o->n_scales = o->scales_at = 0;
	if (nnb_type_info(type)->by_channel) {
		/* Add a scale of 1 for each slice of the first dimension. */
		uint32_t n = m->operands[index].dims[0];
		float *scales = calloc(n + (size_t)1, sizeof(*scales));

		abort_unless(scales);
		for (uint32_t i = 0; i < n; i++)
			scales[i] = 1;
		abort_unless(nnb_model_channels(m, index, 0, scales, n) == 0);
		free(scales);
	}
	/* a constant whose new type has no known size keeps its location */
	if (is_constant(o) && nnb_type_info(type)->bytes)
		make_constant(m, index);
}

static bool is_one_of(uint32_t type, const uint32_t *types, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (types[i] == type)
			return true;
	return false;
}

/*
 * May the input or output of this operation have another type in a valid model? VTS skips operations whose input and
 * output have independent types, and those whose input may be of several types that decide no other type.
 * LSH_PROJECTION and RANK accept any tensor, and filters may have scales by channel.
 */
static bool is_legal_instead(const struct nnb_model *m, uint32_t operation, uint32_t index, uint32_t type)
{
	static const uint32_t quantised[] = { NNB_TENSOR_QUANT8_ASYMM, NNB_TENSOR_QUANT8_SYMM,
		                              NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL, NNB_TENSOR_QUANT8_ASYMM_SIGNED };
	static const uint32_t reals[] = { NNB_TENSOR_FLOAT32, NNB_TENSOR_FLOAT16 };
	static const uint32_t bytes[] = { NNB_TENSOR_QUANT8_ASYMM, NNB_TENSOR_QUANT8_ASYMM_SIGNED };
	static const uint32_t numbers[] = { NNB_TENSOR_FLOAT32, NNB_TENSOR_FLOAT16, NNB_TENSOR_INT32,
		                            NNB_TENSOR_QUANT8_ASYMM, NNB_TENSOR_QUANT8_ASYMM_SIGNED };
	const struct nnb_operation *op = &m->operations[operation];

	if (nnb_type_info(type)->hal > m->hal)
		return false;
	switch (op->type) {
	case NNB_LSH_PROJECTION:
		return op->inputs[1] == index && nnb_type_info(type)->tensor;
	case NNB_DEQUANTIZE:
		return op->inputs[0] == index ? is_one_of(type, quantised, N_OF(quantised))
		                              : is_one_of(type, reals, N_OF(reals));
	case NNB_CONV_2D:
	case NNB_DEPTHWISE_CONV_2D:
	case NNB_GROUPED_CONV_2D:
	case NNB_TRANSPOSE_CONV_2D:
		return op->inputs[1] == index && type == NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	case NNB_RANK:
		return op->inputs[0] == index && nnb_type_info(type)->tensor;
	case NNB_CAST:
		return is_one_of(type, numbers, 4) &&
		       is_one_of(m->operands[op->inputs[0]].type, numbers, 4); /* another type, or its own */
	case NNB_ARGMAX:
	case NNB_ARGMIN:
		return op->inputs[0] == index && is_one_of(type, numbers, N_OF(numbers));
	case NNB_QUANTIZE:
		return op->inputs[0] == index
		               ? is_one_of(type, reals, N_OF(reals))
		               : is_one_of(type, bytes, N_OF(bytes)) || type == m->operands[op->inputs[0]].type;
	case NNB_RANDOM_MULTINOMIAL:
		return op->inputs[0] == index && is_one_of(type, reals, N_OF(reals));
	case NNB_AXIS_ALIGNED_BBOX_TRANSFORM:
	case NNB_GENERATE_PROPOSALS: /* the changes, if boxes are quantised */
		return op->inputs[1] == index && is_one_of(m->operands[index].type, bytes, N_OF(bytes)) &&
		       is_one_of(type, bytes, N_OF(bytes));
	default:
		return false;
	}
}

static void change_operand_types(struct spoiler *s, uint32_t operation, uint32_t index, const char *which, uint32_t k)
{
	/* types of later HALs are equally invalid */
	static const uint32_t types[] = { NNB_FLOAT32,
		                          NNB_INT32,
		                          NNB_UINT32,
		                          NNB_TENSOR_FLOAT32,
		                          NNB_TENSOR_INT32,
		                          NNB_TENSOR_QUANT8_ASYMM,
		                          NNB_BOOL,
		                          NNB_TENSOR_QUANT16_SYMM,
		                          NNB_TENSOR_FLOAT16,
		                          NNB_TENSOR_BOOL8,
		                          NNB_FLOAT16,
		                          NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL,
		                          NNB_TENSOR_QUANT16_ASYMM,
		                          NNB_TENSOR_QUANT8_SYMM,
		                          NNB_TENSOR_QUANT8_ASYMM_SIGNED,
		                          NNB_OEM,
		                          NNB_TENSOR_OEM_BYTE };

	for (size_t t = 0; t < N_OF(types); t++) {
		struct nnb_model *m;

		if (types[t] == s->from->operands[index].type || is_legal_instead(s->from, operation, index, types[t]))
			continue;
		m = model_fresh(s);
		change_type(m, index, types[t]);
		mutation_show(s, m, "%s %u of operation %u, a %s, becomes a %s", which, k, operation,
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

enum { TRANSPOSE = 37, RESIZE_NEAREST_NEIGHBOR = 94, RANK = 101 };

static void operation_type(struct spoiler *s)
{
	static const uint32_t lasts[] = { NNB_TANH, TRANSPOSE, RESIZE_NEAREST_NEIGHBOR,
		                          RANK }; /* the last operation of HAL 1.0, 1.1, 1.2 and 1.3 */
	const uint32_t types[] = { UINT32_MAX, lasts[s->from->hal - NNB_HAL_1_0] + 1, NNB_OEM_OPERATION - 1,
		                   NNB_OEM_OPERATION + 1 };

	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (size_t k = 0; k < N_OF(types); k++) {
			struct nnb_model *m = model_fresh(s);

			m->operations[i].type = types[k];
			mutation_show(s, m, "operation %u gets type %u", i, types[k]);
		}
}

/* The counts of consumers stay unchanged, as in VTS. */
static void operation_input_operand_index(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_inputs; k++) {
			struct nnb_model *m = model_fresh(s);

			m->operations[i].inputs[k] = m->n_operands;
			mutation_show(s, m, "input %u of operation %u is operand %u", k, i, m->n_operands);
		}
}

static void operation_output_operand_index(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++) {
			struct nnb_model *m = model_fresh(s);

			m->operations[i].outputs[k] = m->n_operands;
			mutation_show(s, m, "output %u of operation %u is operand %u", k, i, m->n_operands);
		}
}

/* ---- removing and adding operands ---- */

/* The index of an optional axis among the inputs; UINT32_MAX: the operation has no such input. */
static uint32_t optional_axis(const struct nnb_model *m, uint32_t op)
{
	if (m->hal < NNB_HAL_1_2)
		return UINT32_MAX;
	switch (op) {
	case NNB_L2_NORMALIZATION:
		return 1;
	case NNB_SOFTMAX:
		return 2;
	case NNB_LOCAL_RESPONSE_NORMALIZATION:
		return 5;
	default:
		return UINT32_MAX;
	}
}

/*
 * Is the operation still valid without this input? A CONCATENATION of several tensors is also one of fewer.
 * Parameters at the end may be missing; of several BOOLs, any one counts as the last.
 */
static bool may_do_without(const struct nnb_model *m, const struct nnb_operation *op, uint32_t input)
{
	if (op->type == NNB_CONCATENATION)
		return op->n_inputs > 2 && input < op->n_inputs - 1;
	if (input == optional_axis(m, op->type))
		return true;
	if (op->type == NNB_RESIZE_NEAREST_NEIGHBOR && op->n_inputs == 4)
		return false; /* the layout is required; the inputs after it are optional */
	return (nnb_op_has_layout(op->type) || op->type == NNB_RESIZE_NEAREST_NEIGHBOR) &&
	       m->operands[op->inputs[input]].type == NNB_BOOL &&
	       m->operands[op->inputs[op->n_inputs - 1]].type == NNB_BOOL;
}

/*
 * Is the operation still valid without this output? VTS leaves the number of outputs of SPLIT and of bidirectional
 * cells to preparation. The states of a sequence (HAL 1.3) and the state that WHILE keeps between iterations are
 * optional, too.
 */
static bool may_do_without_output(const struct nnb_operation *op, uint32_t output)
{
	switch (op->type) {
	case NNB_SPLIT:
	case NNB_BIDIRECTIONAL_SEQUENCE_LSTM:
	case NNB_BIDIRECTIONAL_SEQUENCE_RNN:
		return true;
	case NNB_UNIDIRECTIONAL_SEQUENCE_RNN:
		return op->n_outputs == 2;
	case NNB_WHILE:
		return op->n_outputs > 1 && output == op->n_outputs - 1;
	default:
		return false;
	}
}

static bool may_all_do_without(const struct nnb_model *m, uint32_t operand)
{
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct nnb_operation *op = &m->operations[i];

		for (uint32_t k = 0; k < op->n_outputs; k++)
			if (op->outputs[k] == operand && !may_do_without_output(op, k))
				return false;
		for (uint32_t k = 0; k < op->n_inputs; k++)
			if (op->inputs[k] == operand && !may_do_without(m, op, k))
				return false;
	}
	return true; /* valid also if no operation uses it */
}

static void remove_operand(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operands; i++) {
		struct nnb_model *m;

		if (may_all_do_without(s->from, i))
			continue;
		m = model_fresh(s);
		for (uint32_t k = 0; k < m->n_operations; k++) {
			forget_and_shift(m->operations[k].inputs, &m->operations[k].n_inputs, i);
			forget_and_shift(m->operations[k].outputs, &m->operations[k].n_outputs, i);
		}
		forget_and_shift(m->inputs, &m->n_inputs, i);
		forget_and_shift(m->outputs, &m->n_outputs, i);
		m->n_operands--;
		memmove(&m->operands[i], &m->operands[i + 1], (m->n_operands - i) * sizeof(*m->operands));
		mutation_show(s, m, "operand %u is removed", i);
	}
}

static void remove_operation(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		struct nnb_model *m = model_fresh(s);
		struct nnb_operation op = m->operations[i];

		for (uint32_t k = 0; k < op.n_inputs; k++)
			m->operands[op.inputs[k]].consumers--;
		free(op.inputs);
		free(op.outputs);
		m->n_operations--;
		memmove(&m->operations[i], &m->operations[i + 1], (m->n_operations - i) * sizeof(op));
		mutation_show(s, m, "operation %u is removed", i);
	}
}

static void remove_operation_input(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_inputs; k++) {
			struct nnb_model *m;

			if (may_do_without(s->from, &s->from->operations[i], k))
				continue;
			m = model_fresh(s);
			m->operands[m->operations[i].inputs[k]].consumers--;
			list_erase(m->operations[i].inputs, &m->operations[i].n_inputs, k);
			mutation_show(s, m, "input %u of operation %u is removed", k, i);
		}
}

static void remove_operation_output(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++)
		for (uint32_t k = 0; k < s->from->operations[i].n_outputs; k++) {
			struct nnb_model *m = model_fresh(s);

			list_erase(m->operations[i].outputs, &m->operations[i].n_outputs, k);
			mutation_show(s, m, "output %u of operation %u is removed", k, i);
		}
}

/* No operation accepts an additional input, unless that input is an axis. */
static void add_operation_input(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		const struct nnb_operation *op = &s->from->operations[i];
		struct nnb_model *m;
		int o;

		if (op->n_inputs == optional_axis(s->from, op->type))
			continue;
		m = model_fresh(s);
		o = nnb_model_operand(m, &(struct nnb_operand){ .type = NNB_INT32, .lifetime = NNB_MODEL_INPUT });

		abort_unless(o >= 0);
		m->operands[o].consumers = 1;
		list_append(&m->inputs, &m->n_inputs, (uint32_t)o);
		list_append(&m->operations[i].inputs, &m->operations[i].n_inputs, (uint32_t)o);
		mutation_show(s, m, "operation %u gets one more input", i);
	}
}

static void add_operation_output(struct spoiler *s)
{
	for (uint32_t i = 0; i < s->from->n_operations; i++) {
		struct nnb_model *m = model_fresh(s);
		int o = nnb_model_operand(m, &(struct nnb_operand){ .type = NNB_INT32, .lifetime = NNB_MODEL_OUTPUT });

		abort_unless(o >= 0);
		list_append(&m->outputs, &m->n_outputs, (uint32_t)o);
		list_append(&m->operations[i].outputs, &m->operations[i].n_outputs, (uint32_t)o);
		mutation_show(s, m, "operation %u gets one more output", i);
	}
}

/* ---- all mutations ---- */

static const struct {
	const char *name, *rule;
	void (*run)(struct spoiler *s);
} kinds[] = {
	{ "mutateExecutionOrder", "O-11", execution_order },
	{ "mutateOperandType", "O-16", operand_type },
	{ "mutateOperandRank", "O-14", operand_rank },
	{ "mutateOperandScale", "O-2", operand_scale },
	{ "mutateOperandZeroPoint", "O-2", operand_zero_point },
	{ "mutateOperandLifeTime", "O-3", operand_lifetime },
	{ "mutateOperandInputOutput", "O-12", operand_input_output },
	{ "mutateOperandNumberOfConsumers", "O-13", operand_number_of_consumers },
	{ "mutateOperandAddWriter", "O-11", operand_add_writer },
	{ "mutateOperationOperandType", "O-16", operation_operand_type },
	{ "mutateOperationType", "O-16", operation_type },
	{ "mutateOperationInputOperandIndex", "O-10", operation_input_operand_index },
	{ "mutateOperationOutputOperandIndex", "O-10", operation_output_operand_index },
	{ "mutateOperationRemoveWrite", "O-11", operation_remove_write },
	{ "removeOperand", "O-10", remove_operand },
	{ "removeOperation", "O-11", remove_operation },
	{ "removeOperationInput", "O-16", remove_operation_input },
	{ "removeOperationOutput", "O-16", remove_operation_output },
	{ "addOperationInput", "O-16", add_operation_input },
	{ "addOperationOutput", "O-16", add_operation_output },
	{ "channels", "O-2", operand_channels },
	{ "hal", "O-1", model_hal },
};

size_t mutation_count(void)
{
	return N_OF(kinds);
}

const char *mutation_name(size_t kind)
{
	return kinds[kind].name;
}

const char *mutation_rule(size_t kind)
{
	return kinds[kind].rule;
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

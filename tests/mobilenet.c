/*
 * mobilenet.c -- see mobilenet.h. The weights keep activations near 1, because denormals would slow the run
 * down.
 */
#include "mobilenet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	struct nnb_model *model;
	uint32_t at; /* the operand that is the last output */
	uint32_t side, channels;
	uint64_t random;
};

static uint32_t checked(int index)
{
	if (index < 0)
		abort();
	return (uint32_t)index;
}

static float random_weight(struct builder *b, float scale)
{
	b->random = b->random * 6364136223846793005u + 1442695040888963407u;
	return scale * ((float)(b->random >> 40) / (1 << 23) - 1);
}

static uint32_t tensor(struct builder *b, uint32_t n, uint32_t h, uint32_t w, uint32_t c)
{
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .rank = 4, .dims = { n, h, w, c } };

	return checked(nnb_model_operand(b->model, &o));
}

static uint32_t scalar(struct builder *b, int32_t value)
{
	struct nnb_operand o = { .type = NNB_INT32 };
	uint32_t index = checked(nnb_model_operand(b->model, &o));

	checked(nnb_model_value(b->model, index, &value, sizeof(value)));
	return index;
}

/* Weights of shape [dims] and their bias. Their spread gives the output the variance of the input. */
static void weights(struct builder *b, const uint32_t dims[4], uint32_t out, uint32_t fan_in, uint32_t ret[2])
{
	struct nnb_operand bias = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { out } };
	size_t n = (size_t)dims[0] * dims[1] * dims[2] * dims[3];
	float *values = calloc(n, sizeof(*values));

	if (!values)
		abort();
	ret[0] = tensor(b, dims[0], dims[1], dims[2], dims[3]);
	for (size_t i = 0; i < n; i++)
		values[i] = random_weight(b, sqrtf(6.0f / (float)fan_in));
	checked(nnb_model_value(b->model, ret[0], values, (uint32_t)(n * sizeof(*values))));
	ret[1] = checked(nnb_model_operand(b->model, &bias));
	for (uint32_t i = 0; i < out; i++)
		values[i] = 0.1f;
	checked(nnb_model_value(b->model, ret[1], values, out * sizeof(*values)));
	free(values);
}

static void add(struct builder *b, enum nnb_op type, const uint32_t *inputs, uint32_t n, uint32_t side,
                uint32_t channels)
{
	uint32_t out = tensor(b, 1, side, side, channels);

	checked(nnb_model_operation(b->model, type, inputs, n, &out, 1));
	b->at = out;
	b->side = side;
	b->channels = channels;
}

static void conv(struct builder *b, uint32_t filter, uint32_t stride, uint32_t out, enum nnb_fused fused)
{
	uint32_t w[2], s = scalar(b, (int32_t)stride);

	weights(b, (uint32_t[4]){ out, filter, filter, b->channels }, out, filter * filter * b->channels, w);
	add(b, NNB_CONV_2D, (uint32_t[]){ b->at, w[0], w[1], scalar(b, NNB_PADDING_SAME), s, s, scalar(b, fused) }, 7,
	    (b->side + stride - 1) / stride, out);
}

static void depthwise(struct builder *b, uint32_t filter, uint32_t stride, enum nnb_fused fused)
{
	uint32_t w[2], s = scalar(b, (int32_t)stride);

	weights(b, (uint32_t[4]){ 1, filter, filter, b->channels }, b->channels, filter * filter, w);
	add(b, NNB_DEPTHWISE_CONV_2D,
	    (uint32_t[]){ b->at, w[0], w[1], scalar(b, NNB_PADDING_SAME), s, s, scalar(b, 1), scalar(b, fused) }, 8,
	    (b->side + stride - 1) / stride, b->channels);
}

static void average_pool(struct builder *b)
{
	uint32_t one = scalar(b, 1), side = scalar(b, (int32_t)b->side);

	add(b, NNB_AVERAGE_POOL_2D,
	    (uint32_t[]){ b->at, scalar(b, NNB_PADDING_VALID), one, one, side, side, scalar(b, NNB_FUSED_NONE) }, 7, 1,
	    b->channels);
}

struct nnb_model *mobilenet_new(void)
{
	return mobilenet_new_wide(1);
}

struct nnb_model *mobilenet_new_wide(uint32_t quarters)
{
	static const struct {
		uint32_t stride, out;
	} blocks[] = { { 1, 16 },  { 2, 32 },  { 1, 32 },  { 2, 64 },  { 1, 64 },  { 2, 128 }, { 1, 128 },
		       { 1, 128 }, { 1, 128 }, { 1, 128 }, { 1, 128 }, { 2, 256 }, { 1, 256 } };
	struct builder b = { .side = MOBILENET_SIDE, .channels = 3, .random = 1 };
	uint32_t input;

	if (nnb_model_new(&b.model, "mobilenet", NNB_HAL_1_0))
		abort();
	input = b.at = tensor(&b, 1, MOBILENET_SIDE, MOBILENET_SIDE, 3);
	conv(&b, 3, 2, quarters == 1 ? 16 : 8 * quarters,
	     NNB_FUSED_RELU6); /* the trained model of width 0.25 has RELU6 here, too */
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		depthwise(&b, 3, blocks[i].stride, NNB_FUSED_RELU6);
		conv(&b, 1, 1, quarters * blocks[i].out, NNB_FUSED_RELU6);
	}
	average_pool(&b);
	conv(&b, 1, 1, MOBILENET_CLASSES, NNB_FUSED_NONE);
	add(&b, NNB_LOGISTIC, &b.at, 1, 1, MOBILENET_CLASSES);
	if (nnb_model_finish(b.model, &input, 1, &b.at, 1))
		abort();
	return b.model;
}

/* ---- versions 2 and 3 ---- */

/* Apply @type with another tensor: of the same shape, of one cell for each channel, or of one cell. */
static void pair(struct builder *b, enum nnb_op type, uint32_t with, enum nnb_fused fused)
{
	add(b, type, (uint32_t[]){ b->at, with, scalar(b, fused) }, 3, b->side, b->channels);
}

static uint32_t number(struct builder *b, float value)
{
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 1 } };
	uint32_t index = checked(nnb_model_operand(b->model, &o));

	checked(nnb_model_value(b->model, index, &value, sizeof(value)));
	return index;
}

static void hard_swish(struct builder *b)
{
	add(b, NNB_HARD_SWISH, &b->at, 1, b->side, b->channels);
}

/* Squeeze and excitation: scale each channel by a weight that is computed from all its cells. */
static void squeeze(struct builder *b)
{
	struct nnb_operand axes = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 2 } };
	uint32_t features = b->at, side = b->side, channels = b->channels, over, share;

	over = checked(nnb_model_operand(b->model, &axes));
	checked(nnb_model_value(b->model, over, (int32_t[]){ 1, 2 }, 8));
	add(b, NNB_MEAN, (uint32_t[]){ b->at, over, scalar(b, 1) }, 3, 1, channels);
	conv(b, 1, 1, channels / 4, NNB_FUSED_RELU);
	conv(b, 1, 1, channels, NNB_FUSED_NONE);
	pair(b, NNB_ADD, number(b, 3), NNB_FUSED_RELU6);
	pair(b, NNB_MUL, number(b, 1.0f / 6), NNB_FUSED_NONE);
	share = b->at;
	b->at = features;
	b->side = side;
	pair(b, NNB_MUL, share, NNB_FUSED_NONE);
}

struct block {
	uint32_t filter, inner, out, stride;
	bool squeezes, swishes;
	enum nnb_fused fused;
};

/*
 * An inverted residual block: expand, convolve each channel by itself, project. The input is added where its
 * shape equals the output's.
 */
static void inverted(struct builder *b, const struct block *is)
{
	uint32_t before = b->at, channels = b->channels;

	if (is->inner != b->channels)
		conv(b, 1, 1, is->inner, is->fused);
	if (is->swishes)
		hard_swish(b);
	depthwise(b, is->filter, is->stride, is->fused);
	if (is->swishes)
		hard_swish(b);
	if (is->squeezes)
		squeeze(b);
	conv(b, 1, 1, is->out, NNB_FUSED_NONE);
	if (is->stride == 1 && is->out == channels)
		pair(b, NNB_ADD, before, NNB_FUSED_NONE);
}

static uint32_t begin(struct builder *b, const char *name, enum nnb_hal hal)
{
	*b = (struct builder){ .side = MOBILENET_SIDE, .channels = 3, .random = 1 };
	if (nnb_model_new(&b->model, name, hal))
		abort();
	b->at = tensor(b, 1, MOBILENET_SIDE, MOBILENET_SIDE, 3);
	return b->at;
}

static struct nnb_model *end(struct builder *b, uint32_t input)
{
	conv(b, 1, 1, MOBILENET_CLASSES, NNB_FUSED_NONE);
	add(b, NNB_LOGISTIC, &b->at, 1, 1, MOBILENET_CLASSES);
	if (nnb_model_finish(b->model, &input, 1, &b->at, 1))
		abort();
	return b->model;
}

struct nnb_model *mobilenet_v2_new(void)
{
	static const struct {
		uint32_t widens, out, times, stride;
	} rows[] = { { 1, 16, 1, 1 }, { 6, 24, 2, 2 },  { 6, 32, 3, 2 }, { 6, 64, 4, 2 },
		     { 6, 96, 3, 1 }, { 6, 160, 3, 2 }, { 6, 320, 1, 1 } };
	struct builder b;
	uint32_t input = begin(&b, "mobilenet v2", NNB_HAL_1_0);

	conv(&b, 3, 2, 32, NNB_FUSED_RELU6);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t k = 0; k < rows[i].times; k++)
			inverted(&b, &(struct block){ .filter = 3,
			                              .inner = rows[i].widens * b.channels,
			                              .out = rows[i].out,
			                              .stride = k ? 1 : rows[i].stride,
			                              .fused = NNB_FUSED_RELU6 });
	conv(&b, 1, 1, 1280, NNB_FUSED_RELU6);
	average_pool(&b);
	return end(&b, input);
}

struct nnb_model *mobilenet_v3_new(void)
{
	static const struct block blocks[] = {
		{ 3, 16, 16, 2, true, false, NNB_FUSED_RELU },  { 3, 72, 24, 2, false, false, NNB_FUSED_RELU },
		{ 3, 88, 24, 1, false, false, NNB_FUSED_RELU }, { 5, 96, 40, 2, true, true, NNB_FUSED_NONE },
		{ 5, 240, 40, 1, true, true, NNB_FUSED_NONE },  { 5, 240, 40, 1, true, true, NNB_FUSED_NONE },
		{ 5, 120, 48, 1, true, true, NNB_FUSED_NONE },  { 5, 144, 48, 1, true, true, NNB_FUSED_NONE },
		{ 5, 288, 96, 2, true, true, NNB_FUSED_NONE },  { 5, 576, 96, 1, true, true, NNB_FUSED_NONE },
		{ 5, 576, 96, 1, true, true, NNB_FUSED_NONE },
	};
	struct builder b;
	uint32_t input = begin(&b, "mobilenet v3", NNB_HAL_1_3);

	conv(&b, 3, 2, 16, NNB_FUSED_NONE);
	hard_swish(&b);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		inverted(&b, &blocks[i]);
	conv(&b, 1, 1, 576, NNB_FUSED_NONE);
	hard_swish(&b);
	average_pool(&b);
	conv(&b, 1, 1, 1024, NNB_FUSED_NONE);
	hard_swish(&b);
	return end(&b, input);
}

/* ---- as text ---- */

static void print_indexes(FILE *to, const char *name, const uint32_t *indexes, uint32_t n)
{
	fprintf(to, "\"%s\":[", name);
	for (uint32_t i = 0; i < n; i++)
		fprintf(to, "%s%u", i ? "," : "", indexes[i]);
	fputs("]", to);
}

static void print_value(FILE *to, const struct nnb_operand *o, const uint8_t *at)
{
	fputs(",\"value\":[", to);
	for (uint32_t i = 0; i < o->location.length; i += 4) {
		float f;
		int32_t n;

		memcpy(&f, at + i, 4);
		memcpy(&n, at + i, 4);
		fputs(i ? "," : "", to);
		if (o->type == NNB_INT32)
			fprintf(to, "%d", n);
		else
			fprintf(to, "%.9g", (double)f);
	}
	fputs("]", to);
}

static void print_operand(FILE *to, const struct nnb_model *m, const struct nnb_operand *o, const uint8_t *pool)
{
	fprintf(to, "{\"type\":\"%s\",\"lifetime\":\"%s\",", nnb_type_info(o->type)->name,
	        nnb_lifetime_name(o->lifetime));
	print_indexes(to, "dims", o->dims, o->rank);
	if (o->lifetime == NNB_CONSTANT_COPY)
		print_value(to, o, m->values + o->location.offset);
	if (o->lifetime == NNB_CONSTANT_REFERENCE)
		print_value(to, o, pool + o->location.offset);
	fputs("}", to);
}

static void print_model(FILE *to, const struct nnb_model *m, const uint8_t *pool)
{
	fputs("{\"name\":\"mobilenet\",\"operands\":[", to);
	for (uint32_t i = 0; i < m->n_operands; i++) {
		fputs(i ? "," : "", to);
		print_operand(to, m, &m->operands[i], pool);
	}
	fputs("],\"operations\":[", to);
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct nnb_operation *op = &m->operations[i];

		fprintf(to, "%s{\"type\":\"%s\",", i ? "," : "", nnb_op_name(op->type));
		print_indexes(to, "inputs", op->inputs, op->n_inputs);
		fputs(",", to);
		print_indexes(to, "outputs", op->outputs, op->n_outputs);
		fputs("}", to);
	}
	fputs("],", to);
	print_indexes(to, "inputs", m->inputs, m->n_inputs);
	fputs(",", to);
	print_indexes(to, "outputs", m->outputs, m->n_outputs);
	fputs("}", to);
}

char *mobilenet_text(const struct nnb_model *m)
{
	struct nnb_mapping *pool;
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to || nnb_map(&pool, &m->pools[0]))
		abort();
	print_model(to, m, nnb_mapping_data(pool));
	nnb_mapping_unref(pool);
	if (fclose(to))
		abort();
	return text;
}

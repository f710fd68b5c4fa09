/*
 * builder.c -- builds the models of the zoo, operand by operand. Biases keep activations away from 0, so that no
 * denormals slow a run down.
 */
#include "builder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* An index, or 0 and the error kept. */
static uint32_t keep_error(struct builder *b, int index)
{
	if (index >= 0)
		return (uint32_t)index;
	if (!b->error)
		b->error = index;
	return 0;
}

static uint32_t add_operand(struct builder *b, const struct nnb_operand *o)
{
	return b->error ? 0 : keep_error(b, nnb_model_operand(b->model, o));
}

static uint32_t add_constant(struct builder *b, const struct nnb_operand *o, const void *value, size_t bytes)
{
	uint32_t index = add_operand(b, o);

	if (!b->error)
		keep_error(b, nnb_model_value(b->model, index, value, (uint32_t)bytes));
	return index;
}

static struct nnb_operand tensor_of(uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .rank = rank };

	for (uint32_t i = 0; i < rank; i++)
		o.dims[i] = dims[i];
	return o;
}

uint32_t builder_tensor(struct builder *b, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = tensor_of(rank, dims);

	return add_operand(b, &o);
}

uint32_t builder_int(struct builder *b, int32_t value)
{
	return add_constant(b, &(struct nnb_operand){ .type = NNB_INT32 }, &value, sizeof(value));
}

uint32_t builder_float(struct builder *b, float value)
{
	return add_constant(b, &(struct nnb_operand){ .type = NNB_FLOAT32 }, &value, sizeof(value));
}

uint32_t builder_omitted(struct builder *b, uint32_t rank)
{
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .lifetime = NNB_NO_VALUE, .rank = rank };

	return add_operand(b, &o);
}

uint32_t builder_weights(struct builder *b, uint32_t rank, const uint32_t *dims, uint32_t fan_in)
{
	struct nnb_operand o = tensor_of(rank, dims);
	float scale = sqrtf(6.0f / (float)fan_in), *values;
	uint32_t index;
	size_t n = 1;

	for (uint32_t i = 0; i < rank; i++)
		n *= dims[i];
	values = b->error ? NULL : calloc(n, sizeof(*values));
	if (!values) {
		keep_error(b, -ENOMEM);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		b->random = b->random * 6364136223846793005u + 1442695040888963407u;
		values[i] = scale * ((float)(b->random >> 40) / (1 << 23) - 1);
	}
	index = add_constant(b, &o, values, n * sizeof(*values));
	free(values);
	return index;
}

uint32_t builder_bias(struct builder *b, uint32_t n)
{
	struct nnb_operand o = tensor_of(1, &n);
	float *values = b->error ? NULL : calloc(n, sizeof(*values));
	uint32_t index;

	if (!values) {
		keep_error(b, -ENOMEM);
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		values[i] = 0.1f;
	index = add_constant(b, &o, values, n * sizeof(*values));
	free(values);
	return index;
}

void builder_operation(struct builder *b, enum nnb_op type, const uint32_t *inputs, uint32_t n_inputs,
                       const uint32_t *outputs, uint32_t n_outputs)
{
	if (!b->error)
		keep_error(b, nnb_model_operation(b->model, type, inputs, n_inputs, outputs, n_outputs));
}

void builder_finish(struct builder *b, const uint32_t *inputs, uint32_t n_inputs, const uint32_t *outputs,
                    uint32_t n_outputs)
{
	if (!b->error)
		keep_error(b, nnb_model_finish(b->model, inputs, n_inputs, outputs, n_outputs));
}

/* ---- layers on a picture ---- */

void builder_picture(struct builder *b, uint32_t height, uint32_t width, uint32_t channels)
{
	b->at = builder_tensor(b, 4, (uint32_t[]){ 1, height, width, channels });
	b->height = height;
	b->width = width;
	b->channels = channels;
}

static void layer_weights(struct builder *b, enum nnb_op type, const uint32_t *inputs, uint32_t n, uint32_t height,
                          uint32_t width, uint32_t channels)
{
	uint32_t out = builder_tensor(b, 4, (uint32_t[]){ 1, height, width, channels });

	builder_operation(b, type, inputs, n, &out, 1);
	b->at = out;
	b->height = height;
	b->width = width;
	b->channels = channels;
}

/* With padding SAME. */
static uint32_t stride_size(uint32_t extent, uint32_t stride)
{
	return (extent + stride - 1) / stride;
}

void builder_conv(struct builder *b, struct builder_filter f, uint32_t out)
{
	uint32_t dims[] = { out, f.height, f.width, b->channels }, stride = builder_int(b, (int32_t)f.stride);
	uint32_t in[] = { b->at,
		          builder_weights(b, 4, dims, f.height * f.width * b->channels),
		          builder_bias(b, out),
		          builder_int(b, NNB_PADDING_SAME),
		          stride,
		          stride,
		          builder_int(b, (int32_t)f.fused) };

	layer_weights(b, NNB_CONV_2D, in, 7, stride_size(b->height, f.stride), stride_size(b->width, f.stride), out);
}

void builder_depthwise(struct builder *b, struct builder_filter f)
{
	uint32_t dims[] = { 1, f.height, f.width, b->channels }, stride = builder_int(b, (int32_t)f.stride);
	uint32_t in[] = { b->at,
		          builder_weights(b, 4, dims, f.height * f.width),
		          builder_bias(b, b->channels),
		          builder_int(b, NNB_PADDING_SAME),
		          stride,
		          stride,
		          builder_int(b, 1), /* the multiplier */
		          builder_int(b, (int32_t)f.fused) };

	layer_weights(b, NNB_DEPTHWISE_CONV_2D, in, 8, stride_size(b->height, f.stride),
	              stride_size(b->width, f.stride), b->channels);
}

void builder_average(struct builder *b)
{
	uint32_t one = builder_int(b, 1);
	uint32_t in[] = { b->at,
		          builder_int(b, NNB_PADDING_VALID),
		          one,
		          one,
		          builder_int(b, (int32_t)b->width),
		          builder_int(b, (int32_t)b->height),
		          builder_int(b, NNB_FUSED_NONE) };

	layer_weights(b, NNB_AVERAGE_POOL_2D, in, 7, 1, 1, b->channels);
}

/* ---- layers on a row ---- */

uint32_t builder_dense(struct builder *b, uint32_t in, uint32_t inputs, uint32_t outputs, enum nnb_fused fused)
{
	uint32_t dims[] = { outputs, inputs };
	uint32_t all[] = { in, builder_weights(b, 2, dims, inputs), builder_bias(b, outputs),
		           builder_int(b, (int32_t)fused) };
	uint32_t out = builder_tensor(b, 2, (uint32_t[]){ 1, outputs });

	builder_operation(b, NNB_FULLY_CONNECTED, all, 4, &out, 1);
	return out;
}

uint32_t builder_softmax(struct builder *b, uint32_t in, uint32_t n)
{
	uint32_t all[] = { in, builder_float(b, 1) }, out = builder_tensor(b, 2, (uint32_t[]){ 1, n });

	builder_operation(b, NNB_SOFTMAX, all, 2, &out, 1);
	return out;
}

/*
 * test_looks.c -- operations that take long look every millisecond whether to go on. They give the same output
 * with looks, end at once when a look ends them, and take about as long as estimated.
 *
 * The driver is driver_looks.c, loaded by its path as a vendor's would be. Measured times are cpu time of one
 * thread.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "unit/device_helpers.h"
#include "unit/looks.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 30, SMALLER = 4 };
#else
enum { SLOWER = 1, SMALLER = 1 };
#endif
enum { PATIENCE_S = 2 };
#define LOOK_NS (UINT64_C(1000000) * SLOWER)
#define ESTIMATED_WITHIN 8        /* model/cost.h: a factor, in both directions */
#define LONG_NS UINT64_C(3000000) /* a shorter operation need not look more than once */

/* ---- models of one operation ---- */

struct maker {
	struct nnb_model *m;
	bool quant;
	uint32_t type;                 /* 0: float32 or quant8 */
	uint32_t inputs[64], n_inputs; /* operands of the operation */
	uint32_t more[3], n_more;      /* outputs after the first; they have no reader */
	uint32_t model_inputs[4], n_model_inputs;
};

static struct nnb_operand tensor_of(const struct maker *k, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = { .type = k->type    ? k->type
		                         : k->quant ? NNB_TENSOR_QUANT8_ASYMM
		                                    : NNB_TENSOR_FLOAT32,
		                 .rank = rank };

	memcpy(o.dims, dims, rank * sizeof(*dims));
	if (k->quant)
		o.scale = 0.5f;
	return o;
}

static uint32_t tensor(struct maker *k, uint32_t rank, const uint32_t *dims, float scale)
{
	struct nnb_operand o = tensor_of(k, rank, dims);

	if (k->quant)
		o.scale = scale;
	return operand(k->m, &o);
}

static void input(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	uint32_t index = tensor(k, rank, dims, 0.5f);

	k->inputs[k->n_inputs++] = k->model_inputs[k->n_model_inputs++] = index;
}

static void scalar(struct maker *k, int32_t value)
{
	k->inputs[k->n_inputs++] = int_scalar(k->m, value);
}

static void real_scalar(struct maker *k, float value)
{
	uint32_t index = operand(k->m, &(struct nnb_operand){ .type = NNB_FLOAT32 });

	assert_int_equal(nnb_model_value(k->m, index, &value, sizeof(value)), 0);
	k->inputs[k->n_inputs++] = index;
}

static void constant_of(struct maker *k, const struct nnb_operand *o)
{
	uint32_t index = operand(k->m, o);
	uint64_t bytes;
	char *values;

	assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
	values = malloc(bytes);
	assert_non_null(values);
	for (uint64_t i = 0; i < bytes / 4; i++) {
		float f = (float)(i % 17) / 16 - 0.5f;

		memcpy(values + 4 * i, &f, 4);
	}
	if (o->type == NNB_TENSOR_INT32)
		memset(values, 0, bytes);
	assert_int_equal(nnb_model_value(k->m, index, values, bytes), 0);
	free(values);
	k->inputs[k->n_inputs++] = index;
}

static void constant(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = tensor_of(k, rank, dims);

	constant_of(k, &o);
}

static void bias(struct maker *k, uint32_t n)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { n }, .scale = 0.25f };

	if (k->quant)
		constant_of(k, &o);
	else
		constant(k, 1, &n);
}

#define DIMS(...) ((uint32_t[]){ __VA_ARGS__ })

static uint32_t pool(struct maker *k, uint32_t side, uint32_t channels, uint32_t filter)
{
	uint32_t out = side - filter + 1;

	input(k, 4, DIMS(1, side, side, channels));
	scalar(k, NNB_PADDING_VALID);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, (int32_t)filter);
	scalar(k, (int32_t)filter);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 4, DIMS(1, out, out, channels), 0.5f);
}

static uint32_t wide_pool(struct maker *k)
{
	return pool(k, 96 / SMALLER, 16, 48 / SMALLER);
}

static uint32_t small_pool(struct maker *k)
{
	return pool(k, 256 / SMALLER, 64, 3);
}

/* One output for the whole image: the window is the image. */
static uint32_t whole_pool(struct maker *k)
{
	return pool(k, 2048 / SMALLER, 4, 2048 / SMALLER);
}

static uint32_t conv(struct maker *k, bool constants, uint32_t side, uint32_t filter, uint32_t in_c, uint32_t out_c)
{
	uint32_t out = side - filter + 1;

	input(k, 4, DIMS(1, side, side, in_c));
	(constants ? constant : input)(k, 4, DIMS(out_c, filter, filter, in_c));
	bias(k, out_c);
	scalar(k, NNB_PADDING_VALID);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 4, DIMS(1, out, out, out_c), 1000);
}

static uint32_t conv_of_many_channels(struct maker *k)
{
	return conv(k, true, 12, 3, 512 / SMALLER, 512);
}

static uint32_t conv_of_many_pixels(struct maker *k)
{
	return conv(k, true, 256 / SMALLER, 3, 16, 32);
}

static uint32_t conv_of_one_deep_pixel(struct maker *k)
{
	return conv(k, true, 160, 160, 8, 8 / SMALLER);
}

static uint32_t conv_by_the_kernel(struct maker *k)
{
	return conv(k, false, 64 / SMALLER, 3, 32, 64);
}

static uint32_t conv_of_one_channel(struct maker *k)
{
	return conv(k, false, 256 / SMALLER, 3, 32, 1);
}

static uint32_t depthwise(struct maker *k)
{
	uint32_t side = 256 / SMALLER;

	input(k, 4, DIMS(1, side, side, 64));
	constant(k, 4, DIMS(1, 3, 3, 64));
	bias(k, 64);
	scalar(k, NNB_PADDING_VALID);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 4, DIMS(1, side - 2, side - 2, 64), 1000);
}

static uint32_t fully_connected(struct maker *k)
{
	input(k, 2, DIMS(2, 4096 / SMALLER));
	constant(k, 2, DIMS(2048, 4096 / SMALLER));
	bias(k, 2048);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 2, DIMS(2, 2048), 5000);
}

enum { MANY = (1 << 23) / SMALLER };

static uint32_t pair(struct maker *k)
{
	input(k, 1, DIMS(MANY));
	input(k, 1, DIMS(MANY));
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 1, DIMS(MANY), 200);
}

static uint32_t pair_of_rows(struct maker *k)
{
	input(k, 2, DIMS(4, MANY / 4));
	input(k, 2, DIMS(4, 1));
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 2, DIMS(4, MANY / 4), 200);
}

static uint32_t each(struct maker *k)
{
	input(k, 1, DIMS(MANY));
	return tensor(k, 1, DIMS(MANY), 0.5f);
}

static uint32_t logistic(struct maker *k)
{
	input(k, 1, DIMS(MANY));
	return tensor(k, 1, DIMS(MANY), 1.0f / 256);
}

static uint32_t dequantize(struct maker *k)
{
	input(k, 1, DIMS(MANY));
	k->quant = false;
	return tensor(k, 1, DIMS(MANY), 0);
}

static uint32_t softmax(struct maker *k, uint32_t rows)
{
	input(k, 2, DIMS(rows, MANY / rows / 2));
	real_scalar(k, 1);
	return tensor(k, 2, DIMS(rows, MANY / rows / 2), 1.0f / 256);
}

static uint32_t softmax_of_rows(struct maker *k)
{
	return softmax(k, 4096);
}

static uint32_t softmax_of_one_row(struct maker *k)
{
	return softmax(k, 1);
}

static uint32_t normalization(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, MANY));
	return tensor(k, 4, DIMS(1, 1, 1, MANY), 0);
}

static uint32_t response_normalization(struct maker *k)
{
	input(k, 4, DIMS(1, 4, 4, 4096 / SMALLER));
	scalar(k, 1000);
	real_scalar(k, 1);
	real_scalar(k, 1);
	real_scalar(k, 0.5f);
	return tensor(k, 4, DIMS(1, 4, 4, 4096 / SMALLER), 0);
}

static uint32_t resize(struct maker *k)
{
	uint32_t side = 512 / SMALLER;

	input(k, 4, DIMS(1, 64, 64, 32));
	scalar(k, (int32_t)side);
	scalar(k, (int32_t)side);
	return tensor(k, 4, DIMS(1, side, side, 32), 0.5f);
}

static uint32_t resize_of_deep_pixels(struct maker *k)
{
	input(k, 4, DIMS(1, 2, 2, MANY / 16));
	scalar(k, 3);
	scalar(k, 3);
	return tensor(k, 4, DIMS(1, 3, 3, MANY / 16), 0);
}

static uint32_t concatenation(struct maker *k)
{
	input(k, 2, DIMS(1, MANY));
	input(k, 2, DIMS(1, MANY));
	scalar(k, 1);
	return tensor(k, 2, DIMS(1, 2 * MANY), 0.5f);
}

static uint32_t reshape(struct maker *k)
{
	struct nnb_operand shape = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 1 } };
	const int32_t all = MANY;

	input(k, 2, DIMS(2, MANY / 2));
	k->inputs[k->n_inputs] = operand(k->m, &shape);
	assert_int_equal(nnb_model_value(k->m, k->inputs[k->n_inputs++], &all, sizeof(all)), 0);
	return tensor(k, 1, DIMS(MANY), 0.5f);
}

static uint32_t depth_to_space(struct maker *k)
{
	input(k, 4, DIMS(1, 64, 64, MANY / 4096));
	scalar(k, 2);
	return tensor(k, 4, DIMS(1, 128, 128, MANY / 4096 / 4), 0.5f);
}

static uint32_t depth_to_space_of_one_pixel(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, MANY));
	scalar(k, 2);
	return tensor(k, 4, DIMS(1, 2, 2, MANY / 4), 0.5f);
}

static uint32_t space_to_depth(struct maker *k)
{
	input(k, 4, DIMS(1, 128, 128, MANY / 16384));
	scalar(k, 2);
	return tensor(k, 4, DIMS(1, 64, 64, MANY / 4096), 0.5f);
}

/* A tensor of indexes that are all 0. */
static void indexes(struct maker *k, uint32_t n)
{
	constant_of(k, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { n } });
}

static void omitted(struct maker *k, uint32_t rank)
{
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .rank = rank, .lifetime = NNB_NO_VALUE };

	for (uint32_t d = 0; d < rank; d++)
		o.dims[d] = 0;
	k->inputs[k->n_inputs++] = operand(k->m, &o);
}

static uint32_t embedding(struct maker *k)
{
	indexes(k, MANY / 64);
	input(k, 2, DIMS(128, 64));
	return tensor(k, 2, DIMS(MANY / 64, 64), 0.5f);
}

static uint32_t hashtable(struct maker *k)
{
	struct nnb_operand hits = { .type = NNB_TENSOR_QUANT8_ASYMM, .rank = 1, .dims = { MANY / 64 }, .scale = 1 };

	indexes(k, MANY / 64);
	indexes(k, 128);
	input(k, 2, DIMS(128, 64));
	k->more[k->n_more++] = operand(k->m, &hits);
	return tensor(k, 2, DIMS(MANY / 64, 64), 0.5f);
}

static uint32_t projection(struct maker *k)
{
	constant(k, 2, DIMS(8, 16));
	input(k, 2, DIMS(16384 / SMALLER, 16));
	omitted(k, 1);
	scalar(k, 2);
	return operand(k->m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 8 * 16 } });
}

enum { BATCH = 4, UNITS = 1024 / SMALLER };

static uint32_t rnn(struct maker *k)
{
	input(k, 2, DIMS(BATCH, UNITS));
	constant(k, 2, DIMS(UNITS, UNITS));
	constant(k, 2, DIMS(UNITS, UNITS));
	constant(k, 1, DIMS(UNITS));
	input(k, 2, DIMS(BATCH, UNITS));
	scalar(k, NNB_FUSED_RELU);
	k->more[k->n_more++] = tensor(k, 2, DIMS(BATCH, UNITS), 0);
	return tensor(k, 2, DIMS(BATCH, UNITS), 0);
}

static uint32_t svdf(struct maker *k)
{
	input(k, 2, DIMS(BATCH, UNITS));
	constant(k, 2, DIMS(UNITS, UNITS));
	constant(k, 2, DIMS(UNITS, 512));
	constant(k, 1, DIMS(UNITS));
	input(k, 2, DIMS(BATCH, UNITS * 512));
	scalar(k, 1);
	scalar(k, NNB_FUSED_RELU);
	k->more[k->n_more++] = tensor(k, 2, DIMS(BATCH, UNITS), 0);
	return tensor(k, 2, DIMS(BATCH, UNITS * 512), 0);
}

static uint32_t lstm(struct maker *k)
{
	input(k, 2, DIMS(BATCH, UNITS));
	for (int i = 0; i < 8; i++)
		constant(k, 2, DIMS(UNITS, UNITS));
	for (int i = 0; i < 3; i++)
		omitted(k, 1);
	for (int i = 0; i < 4; i++)
		constant(k, 1, DIMS(UNITS));
	omitted(k, 2);
	omitted(k, 1);
	input(k, 2, DIMS(BATCH, UNITS));
	input(k, 2, DIMS(BATCH, UNITS));
	scalar(k, 4);
	real_scalar(k, 0);
	real_scalar(k, 0);
	for (int i = 0; i < 3; i++)
		k->more[k->n_more++] = tensor(k, 2, DIMS(BATCH, UNITS), 0);
	return tensor(k, 2, DIMS(BATCH, 4 * UNITS), 0);
}

/* ---- of later HALs ---- */

static void values(struct maker *k, uint32_t n, const int32_t *of)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { n } };
	uint32_t index = operand(k->m, &o);

	assert_int_equal(nnb_model_value(k->m, index, of, n * 4), 0);
	k->inputs[k->n_inputs++] = index;
}

static void truth(struct maker *k, bool value)
{
	uint32_t index = operand(k->m, &(struct nnb_operand){ .type = NNB_BOOL });
	uint8_t byte = value;

	assert_int_equal(nnb_model_value(k->m, index, &byte, 1), 0);
	k->inputs[k->n_inputs++] = index;
}

static uint32_t transpose(struct maker *k)
{
	input(k, 2, DIMS(2048, MANY / 2048));
	values(k, 2, (const int32_t[]){ 1, 0 });
	return tensor(k, 2, DIMS(MANY / 2048, 2048), 0.5f);
}

static uint32_t tile(struct maker *k)
{
	input(k, 1, DIMS(MANY / 8));
	values(k, 1, (const int32_t[]){ 8 });
	return tensor(k, 1, DIMS(MANY), 0.5f);
}

static uint32_t plain_pair(struct maker *k)
{
	input(k, 1, DIMS(MANY));
	input(k, 1, DIMS(MANY));
	return tensor(k, 1, DIMS(MANY), 0.5f);
}

static uint32_t mean(struct maker *k)
{
	input(k, 2, DIMS(1024, MANY / 1024));
	values(k, 1, (const int32_t[]){ 0 });
	scalar(k, 0);
	return tensor(k, 1, DIMS(MANY / 1024), 0.5f);
}

static uint32_t argmax(struct maker *k)
{
	input(k, 2, DIMS(2, MANY / 2));
	scalar(k, 1);
	return operand(k->m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 2 } });
}

static uint32_t topk(struct maker *k)
{
	input(k, 2, DIMS(2, MANY / 8));
	scalar(k, 100);
	k->more[k->n_more++] =
		operand(k->m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 2, .dims = { 2, 100 } });
	return tensor(k, 2, DIMS(2, 100), 0.5f);
}

static uint32_t grouped_conv(struct maker *k)
{
	uint32_t side = 64 / SMALLER;

	input(k, 4, DIMS(1, side, side, 32));
	constant(k, 4, DIMS(32, 3, 3, 16));
	bias(k, 32);
	scalar(k, NNB_PADDING_VALID);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, 2);
	scalar(k, NNB_FUSED_NONE);
	truth(k, false);
	return tensor(k, 4, DIMS(1, side - 2, side - 2, 32), 1000);
}

static uint32_t sequence_rnn(struct maker *k)
{
	input(k, 3, DIMS(8, BATCH, UNITS));
	constant(k, 2, DIMS(UNITS, UNITS));
	constant(k, 2, DIMS(UNITS, UNITS));
	constant(k, 1, DIMS(UNITS));
	input(k, 2, DIMS(BATCH, UNITS));
	scalar(k, NNB_FUSED_RELU);
	scalar(k, 1);
	return tensor(k, 3, DIMS(8, BATCH, UNITS), 0);
}

static uint32_t log_softmax(struct maker *k)
{
	input(k, 2, DIMS(4, MANY / 32));
	real_scalar(k, 1);
	scalar(k, 1);
	return tensor(k, 2, DIMS(4, MANY / 32), 0);
}

enum { FEW = MANY / 8 };

/* A tensor of another type than the row's. */
static uint32_t of_type(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = { .type = type, .rank = rank };

	memcpy(o.dims, dims, rank * sizeof(*dims));
	return operand(k->m, &o);
}

static uint32_t few(struct maker *k)
{
	input(k, 1, DIMS(FEW));
	return tensor(k, 1, DIMS(FEW), 0.5f);
}

static uint32_t elu(struct maker *k)
{
	input(k, 1, DIMS(FEW));
	real_scalar(k, 1);
	return tensor(k, 1, DIMS(FEW), 0);
}

static uint32_t few_pairs(struct maker *k)
{
	input(k, 1, DIMS(FEW));
	input(k, 1, DIMS(FEW));
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 1, DIMS(FEW), 200);
}

static uint32_t compare(struct maker *k)
{
	input(k, 1, DIMS(FEW));
	input(k, 1, DIMS(FEW));
	return of_type(k, NNB_TENSOR_BOOL8, 1, DIMS(FEW));
}

static uint32_t prelu(struct maker *k)
{
	input(k, 2, DIMS(FEW / 64, 64));
	constant(k, 1, DIMS(64));
	return tensor(k, 2, DIMS(FEW / 64, 64), 200);
}

static uint32_t quantize(struct maker *k)
{
	input(k, 1, DIMS(FEW));
	k->quant = true;
	return tensor(k, 1, DIMS(FEW), 0.5f);
}

static uint32_t cast(struct maker *k)
{
	input(k, 1, DIMS(FEW));
	return of_type(k, NNB_TENSOR_INT32, 1, DIMS(FEW));
}

static uint32_t selection(struct maker *k)
{
	constant_of(k, &(struct nnb_operand){ .type = NNB_TENSOR_BOOL8, .rank = 1, .dims = { FEW } });
	input(k, 1, DIMS(FEW));
	input(k, 1, DIMS(FEW));
	return tensor(k, 1, DIMS(FEW), 0.5f);
}

static void margins(struct maker *k)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 2, .dims = { 2, 2 } };
	uint32_t index = operand(k->m, &o);

	assert_int_equal(nnb_model_value(k->m, index, (int32_t[]){ 3, 5, 1, 2 }, 16), 0);
	k->inputs[k->n_inputs++] = index;
}

static uint32_t pad(struct maker *k)
{
	input(k, 2, DIMS(1024, FEW / 1024));
	margins(k);
	return tensor(k, 2, DIMS(1032, FEW / 1024 + 3), 0.5f);
}

static uint32_t strided_slice(struct maker *k)
{
	input(k, 2, DIMS(1024, FEW / 512));
	values(k, 2, (const int32_t[]){ 0, 0 });
	values(k, 2, (const int32_t[]){ 1024, FEW / 512 });
	values(k, 2, (const int32_t[]){ 1, 2 });
	for (int i = 0; i < 3; i++)
		scalar(k, 0);
	return tensor(k, 2, DIMS(1024, FEW / 1024), 0.5f);
}

static uint32_t gather(struct maker *k)
{
	input(k, 2, DIMS(64, 128));
	scalar(k, 0);
	indexes(k, FEW / 128);
	return tensor(k, 2, DIMS(FEW / 128, 128), 0.5f);
}

static uint32_t space_to_batch(struct maker *k)
{
	input(k, 4, DIMS(1, 128, 128, FEW / 16384));
	values(k, 2, (const int32_t[]){ 2, 2 });
	constant_of(k, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 2, .dims = { 2, 2 } });
	return tensor(k, 4, DIMS(4, 64, 64, FEW / 16384), 0.5f);
}

static uint32_t shuffle(struct maker *k)
{
	input(k, 2, DIMS(FEW / 64, 64));
	scalar(k, 4);
	scalar(k, 1);
	return tensor(k, 2, DIMS(FEW / 64, 64), 0.5f);
}

static uint32_t nearest(struct maker *k)
{
	input(k, 4, DIMS(1, 64, 64, FEW / 16384));
	scalar(k, 128);
	scalar(k, 128);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 128, 128, FEW / 16384), 0.5f);
}

/* The mean of all cells of an image, which XNNPACK computes. */
static uint32_t mean_of_images(struct maker *k)
{
	input(k, 4, DIMS(4, 64, 64, FEW / 16384));
	values(k, 2, (const int32_t[]){ 1, 2 });
	scalar(k, 1);
	return tensor(k, 4, DIMS(4, 1, 1, FEW / 16384), 0.5f);
}

static uint32_t reduce(struct maker *k)
{
	input(k, 2, DIMS(1024, FEW / 1024));
	values(k, 1, (const int32_t[]){ 1 });
	truth(k, false);
	return tensor(k, 1, DIMS(1024), 0.5f);
}

static uint32_t instance_normalization(struct maker *k)
{
	input(k, 4, DIMS(1, 128, 128, FEW / 16384));
	for (int i = 0; i < 3; i++)
		real_scalar(k, 1);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 128, 128, FEW / 16384), 0);
}

static uint32_t transposed_conv(struct maker *k, bool constants)
{
	uint32_t side = 32 / SMALLER;

	input(k, 4, DIMS(1, side, side, 32));
	(constants ? constant : input)(k, 4, DIMS(16, 3, 3, 32));
	bias(k, 16);
	for (int i = 0; i < 4; i++)
		scalar(k, 0);
	scalar(k, 2);
	scalar(k, 2);
	scalar(k, NNB_FUSED_NONE);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 2 * side + 1, 2 * side + 1, 16), 1000);
}

static uint32_t transposed_conv_of_constants(struct maker *k)
{
	return transposed_conv(k, true);
}

static uint32_t transposed_conv_by_the_kernel(struct maker *k)
{
	return transposed_conv(k, false);
}

/* ---- overlapping boxes, some of which are suppressed ---- */

static void boxes(struct maker *k, uint32_t n, uint32_t classes)
{
	float *at = malloc((size_t)n * classes * 16);
	uint32_t index = tensor(k, 2, DIMS(n, 4 * classes), 0);

	assert_non_null(at);
	for (uint32_t i = 0; i < n * classes; i++) {
		float x = (float)(i % 97) / 4, y = (float)(i % 89) / 4;

		memcpy(at + 4 * (size_t)i, (float[]){ x, y, x + 4, y + 4 }, 16);
	}
	assert_int_equal(nnb_model_value(k->m, index, at, n * classes * 16), 0);
	free(at);
	k->inputs[k->n_inputs++] = index;
}

/* Falling scores, so that the best one changes often. */
static void scores(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	constant(k, rank, dims);
}

static uint32_t box_transform(struct maker *k)
{
	boxes(k, 4096, 1);
	input(k, 2, DIMS(4096, 4 * 8));
	indexes(k, 4096);
	constant(k, 2, DIMS(1, 2));
	return tensor(k, 2, DIMS(4096, 4 * 8), 0);
}

static uint32_t roi_align(struct maker *k)
{
	input(k, 4, DIMS(1, 32, 32, 16));
	boxes(k, 64, 1);
	indexes(k, 64);
	scalar(k, 7);
	scalar(k, 7);
	real_scalar(k, 1);
	real_scalar(k, 1);
	scalar(k, 4);
	scalar(k, 4);
	truth(k, false);
	return tensor(k, 4, DIMS(64, 7, 7, 16), 0);
}

static uint32_t roi_pooling(struct maker *k)
{
	input(k, 4, DIMS(1, 32, 32, 64));
	boxes(k, 128, 1);
	indexes(k, 128);
	scalar(k, 7);
	scalar(k, 7);
	real_scalar(k, 1);
	real_scalar(k, 1);
	truth(k, false);
	return tensor(k, 4, DIMS(128, 7, 7, 64), 0);
}

static uint32_t heatmap(struct maker *k)
{
	input(k, 4, DIMS(32, 64, 64, 8));
	boxes(k, 32, 1);
	truth(k, false);
	k->more[k->n_more++] = tensor(k, 3, DIMS(32, 8, 2), 0);
	return tensor(k, 2, DIMS(32, 8), 0);
}

static uint32_t detection(struct maker *k)
{
	scores(k, 3, DIMS(1, 1024, 8));
	input(k, 3, DIMS(1, 1024, 4));
	boxes(k, 1024, 1);
	for (int i = 0; i < 4; i++)
		real_scalar(k, 10);
	truth(k, true);
	scalar(k, 100);
	scalar(k, 1);
	scalar(k, 100);
	real_scalar(k, 0);
	real_scalar(k, 0.9f);
	truth(k, false);
	k->more[k->n_more++] = tensor(k, 3, DIMS(1, 100, 4), 0);
	k->more[k->n_more++] = of_type(k, NNB_TENSOR_INT32, 2, DIMS(1, 100));
	k->more[k->n_more++] = of_type(k, NNB_TENSOR_INT32, 1, DIMS(1));
	return tensor(k, 2, DIMS(1, 100), 0);
}

static uint32_t multinomial(struct maker *k)
{
	input(k, 2, DIMS(2, 1000));
	scalar(k, 50000);
	values(k, 2, (const int32_t[]){ 1, 2 });
	return of_type(k, NNB_TENSOR_INT32, 2, DIMS(2, 50000));
}

/* ---- sequences ---- */

enum { STEPS = 8, CELLS = 256 / SMALLER };

static uint32_t sequence_lstm(struct maker *k)
{
	input(k, 3, DIMS(STEPS, BATCH, CELLS));
	for (int i = 0; i < 8; i++)
		constant(k, 2, DIMS(CELLS, CELLS));
	for (int i = 0; i < 3; i++)
		omitted(k, 1);
	for (int i = 0; i < 4; i++)
		constant(k, 1, DIMS(CELLS));
	omitted(k, 2);
	omitted(k, 1);
	input(k, 2, DIMS(BATCH, CELLS));
	input(k, 2, DIMS(BATCH, CELLS));
	scalar(k, 4);
	real_scalar(k, 0);
	real_scalar(k, 0);
	truth(k, true);
	for (int i = 0; i < 4; i++)
		omitted(k, 1);
	return tensor(k, 3, DIMS(STEPS, BATCH, CELLS), 0);
}

/* ---- shapes that an attacker would choose: one output of the whole input, rows of one element ---- */

static uint32_t one_deep_output(struct maker *k)
{
	input(k, 2, DIMS(1, MANY));
	constant(k, 2, DIMS(1, MANY));
	bias(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 2, DIMS(1, 1), 5000);
}

static uint32_t one_deep_output_of_the_run(struct maker *k)
{
	input(k, 2, DIMS(1, MANY));
	input(k, 2, DIMS(1, MANY));
	bias(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 2, DIMS(1, 1), 5000);
}

static uint32_t many_flat_outputs(struct maker *k)
{
	input(k, 2, DIMS(FEW, 1));
	constant(k, 2, DIMS(1, 1));
	bias(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 2, DIMS(FEW, 1), 5000);
}

static uint32_t reduce_to_one(struct maker *k)
{
	input(k, 2, DIMS(MANY, 1));
	values(k, 2, (const int32_t[]){ 0, 1 });
	truth(k, false);
	return tensor(k, 1, DIMS(1), 0.5f);
}

static uint32_t reduce_far_apart(struct maker *k)
{
	input(k, 3, DIMS(FEW / 4, 2, 2));
	values(k, 2, (const int32_t[]){ 0, 2 });
	truth(k, false);
	return tensor(k, 1, DIMS(2), 0.5f);
}

static uint32_t reduce_each_to_itself(struct maker *k)
{
	input(k, 2, DIMS(FEW, 1));
	values(k, 1, (const int32_t[]){ 1 });
	truth(k, false);
	return tensor(k, 1, DIMS(FEW), 0.5f);
}

static uint32_t mean_to_one(struct maker *k)
{
	input(k, 2, DIMS(1, MANY));
	values(k, 1, (const int32_t[]){ 1 });
	scalar(k, 0);
	return tensor(k, 1, DIMS(1), 0.5f);
}

static uint32_t mean_of_one_deep_image(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, MANY));
	values(k, 2, (const int32_t[]){ 1, 2 });
	scalar(k, 1);
	return tensor(k, 4, DIMS(1, 1, 1, MANY), 0.5f);
}

static uint32_t mean_of_one_wide_image(struct maker *k)
{
	input(k, 4, DIMS(1, 1, MANY, 1));
	values(k, 2, (const int32_t[]){ 1, 2 });
	scalar(k, 1);
	return tensor(k, 4, DIMS(1, 1, 1, 1), 0.5f);
}

static uint32_t argmax_of_columns(struct maker *k)
{
	input(k, 2, DIMS(2, FEW / 2));
	scalar(k, 0);
	return operand(k->m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { FEW / 2 } });
}

static uint32_t topk_of_all(struct maker *k)
{
	input(k, 1, DIMS(FEW));
	scalar(k, FEW);
	k->more[k->n_more++] = of_type(k, NNB_TENSOR_INT32, 1, DIMS(FEW));
	return tensor(k, 1, DIMS(FEW), 0.5f);
}

static uint32_t log_softmax_of_columns(struct maker *k)
{
	input(k, 2, DIMS(2, FEW / 4));
	real_scalar(k, 1);
	scalar(k, 0);
	return tensor(k, 2, DIMS(2, FEW / 4), 0);
}

static uint32_t softmax_of_single_elements(struct maker *k)
{
	input(k, 2, DIMS(FEW, 1));
	real_scalar(k, 1);
	return tensor(k, 2, DIMS(FEW, 1), 1.0f / 256);
}

static uint32_t normalization_of_single_elements(struct maker *k)
{
	input(k, 4, DIMS(1, FEW, 1, 1));
	return tensor(k, 4, DIMS(1, FEW, 1, 1), 0);
}

/* All channels are neighbours of each other. */
static uint32_t response_normalization_of_one_pixel(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, 4096 / SMALLER));
	scalar(k, 4096);
	real_scalar(k, 1);
	real_scalar(k, 1);
	real_scalar(k, 0.5f);
	return tensor(k, 4, DIMS(1, 1, 1, 4096 / SMALLER), 0);
}

static uint32_t transpose_of_twos(struct maker *k)
{
	input(k, 4, DIMS(2, 2, 2, FEW / 8));
	values(k, 4, (const int32_t[]){ 3, 2, 1, 0 });
	return tensor(k, 4, DIMS(FEW / 8, 2, 2, 2), 0.5f);
}

static uint32_t transpose_of_one_column(struct maker *k)
{
	input(k, 2, DIMS(MANY, 1));
	values(k, 2, (const int32_t[]){ 1, 0 });
	return tensor(k, 2, DIMS(1, MANY), 0.5f);
}

static uint32_t tile_of_one(struct maker *k)
{
	input(k, 1, DIMS(1));
	values(k, 1, (const int32_t[]){ MANY });
	return tensor(k, 1, DIMS(MANY), 0.5f);
}

static uint32_t tile_of_columns(struct maker *k)
{
	input(k, 3, DIMS(2, 1, 2));
	values(k, 3, (const int32_t[]){ 1, FEW / 4, 1 });
	return tensor(k, 3, DIMS(2, FEW / 4, 2), 0.5f);
}

/* One value, and padding around it. */
static uint32_t pad_of_one(struct maker *k)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 2, .dims = { 1, 2 } };
	uint32_t index;

	input(k, 1, DIMS(1));
	index = operand(k->m, &o);
	assert_int_equal(nnb_model_value(k->m, index, (int32_t[]){ MANY / 2, MANY / 2 }, 8), 0);
	k->inputs[k->n_inputs++] = index;
	return tensor(k, 1, DIMS(MANY + 1), 0.5f);
}

static uint32_t pad_of_columns(struct maker *k)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 2, .dims = { 2, 2 } };
	uint32_t index;

	input(k, 2, DIMS(FEW / 4, 1));
	index = operand(k->m, &o);
	assert_int_equal(nnb_model_value(k->m, index, (int32_t[]){ 0, 0, 1, 1 }, 16), 0);
	k->inputs[k->n_inputs++] = index;
	return tensor(k, 2, DIMS(FEW / 4, 3), 0.5f);
}

static uint32_t slice_of_a_column(struct maker *k)
{
	input(k, 2, DIMS(FEW, 2));
	values(k, 2, (const int32_t[]){ 0, 1 });
	values(k, 2, (const int32_t[]){ FEW, 1 });
	return tensor(k, 2, DIMS(FEW, 1), 0.5f);
}

static uint32_t strided_slice_of_a_column(struct maker *k)
{
	input(k, 2, DIMS(FEW, 2));
	values(k, 2, (const int32_t[]){ 0, 0 });
	values(k, 2, (const int32_t[]){ FEW, 2 });
	values(k, 2, (const int32_t[]){ 1, 2 });
	for (int i = 0; i < 3; i++)
		scalar(k, 0);
	return tensor(k, 2, DIMS(FEW, 1), 0.5f);
}

static uint32_t gather_of_single_elements(struct maker *k)
{
	input(k, 2, DIMS(4, 64));
	scalar(k, 1);
	indexes(k, FEW / 4);
	return tensor(k, 2, DIMS(4, FEW / 4), 0.5f);
}

static uint32_t gather_of_one_long_row(struct maker *k)
{
	input(k, 2, DIMS(1, MANY));
	scalar(k, 0);
	indexes(k, 1);
	return tensor(k, 2, DIMS(1, MANY), 0.5f);
}

static uint32_t embedding_of_one_long_row(struct maker *k)
{
	indexes(k, 1);
	input(k, 2, DIMS(1, MANY));
	return tensor(k, 2, DIMS(1, MANY), 0.5f);
}

static uint32_t batch_to_space_of_single_elements(struct maker *k)
{
	enum { BLOCK = 512 };

	input(k, 4, DIMS(BLOCK * BLOCK, 1, 1, 1));
	values(k, 2, (const int32_t[]){ BLOCK, BLOCK });
	return tensor(k, 4, DIMS(1, BLOCK, BLOCK, 1), 0.5f);
}

static uint32_t shuffle_of_single_elements(struct maker *k)
{
	input(k, 2, DIMS(1, FEW));
	scalar(k, FEW);
	scalar(k, 1);
	return tensor(k, 2, DIMS(1, FEW), 0.5f);
}

static uint32_t concatenation_of_columns(struct maker *k)
{
	input(k, 2, DIMS(FEW, 1));
	input(k, 2, DIMS(FEW, 1));
	scalar(k, 1);
	return tensor(k, 2, DIMS(FEW, 2), 0.5f);
}

static uint32_t split_of_columns(struct maker *k)
{
	input(k, 2, DIMS(FEW, 2));
	scalar(k, 1);
	scalar(k, 2);
	k->more[k->n_more++] = tensor(k, 2, DIMS(FEW, 1), 0.5f);
	return tensor(k, 2, DIMS(FEW, 1), 0.5f);
}

static uint32_t nearest_of_one_pixel(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, 1));
	scalar(k, FEW / 64);
	scalar(k, 64);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 64, FEW / 64, 1), 0.5f);
}

static uint32_t resize_of_one_pixel(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, 1));
	scalar(k, FEW / 64);
	scalar(k, 64);
	return tensor(k, 4, DIMS(1, 64, FEW / 64, 1), 0.5f);
}

static uint32_t instance_normalization_of_single_elements(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, FEW));
	for (int i = 0; i < 3; i++)
		real_scalar(k, 1);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 1, 1, FEW), 0);
}

static uint32_t prelu_of_columns(struct maker *k)
{
	input(k, 3, DIMS(FEW / 2, 2, 1));
	constant(k, 3, DIMS(1, 2, 1));
	return tensor(k, 3, DIMS(FEW / 2, 2, 1), 200);
}

static uint32_t pair_of_columns(struct maker *k)
{
	input(k, 3, DIMS(FEW / 2, 1, 2));
	input(k, 3, DIMS(1, 2, 1));
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 3, DIMS(FEW / 2, 2, 2), 200);
}

static uint32_t plain_pair_of_columns(struct maker *k)
{
	input(k, 3, DIMS(FEW / 4, 1, 2));
	input(k, 3, DIMS(1, 2, 1));
	return tensor(k, 3, DIMS(FEW / 4, 2, 2), 0.5f);
}

static uint32_t one_deep_window(struct maker *k)
{
	return conv(k, true, 1, 1, MANY, 1);
}

static uint32_t one_deep_window_of_the_run(struct maker *k)
{
	return conv(k, false, 1, 1, MANY, 1);
}

/* One output for each channel: the window is the image. */
static uint32_t whole_depthwise(struct maker *k)
{
	uint32_t side = 1024 / SMALLER;

	input(k, 4, DIMS(1, side, side, 2));
	constant(k, 4, DIMS(1, side, side, 2));
	bias(k, 2);
	scalar(k, NNB_PADDING_VALID);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 4, DIMS(1, 1, 1, 2), 1000);
}

/* Strides so long that nearly all outputs are the bias alone. */
static uint32_t transposed_conv_of_nothing(struct maker *k)
{
	input(k, 4, DIMS(1, 2, 2, 1));
	constant(k, 4, DIMS(1, 1, 1, 1));
	bias(k, 1);
	for (int i = 0; i < 4; i++)
		scalar(k, 0);
	scalar(k, 1023);
	scalar(k, 1023);
	scalar(k, NNB_FUSED_NONE);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 1024, 1024, 1), 1000);
}

/* One region, which is the image, with one output. */
static uint32_t roi_align_of_one(struct maker *k)
{
	input(k, 4, DIMS(1, 32, 32, 16));
	boxes(k, 1, 1);
	indexes(k, 1);
	scalar(k, 1);
	scalar(k, 1);
	real_scalar(k, 1);
	real_scalar(k, 1);
	scalar(k, 512);
	scalar(k, 512);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 1, 1, 16), 0);
}

static uint32_t roi_pooling_of_one_large(struct maker *k)
{
	const float all[] = { 0, 0, 2047, 2047 };
	uint32_t index = tensor(k, 2, DIMS(1, 4), 0);

	input(k, 4, DIMS(1, 2048, 2048, 1));
	assert_int_equal(nnb_model_value(k->m, index, all, sizeof(all)), 0);
	k->inputs[k->n_inputs++] = index;
	indexes(k, 1);
	scalar(k, 1);
	scalar(k, 1);
	real_scalar(k, 1);
	real_scalar(k, 1);
	truth(k, false);
	return tensor(k, 4, DIMS(1, 1, 1, 1), 0);
}

static uint32_t heatmap_of_one_large(struct maker *k)
{
	input(k, 4, DIMS(1, 2048, 2048, 1));
	boxes(k, 1, 1);
	truth(k, false);
	k->more[k->n_more++] = tensor(k, 3, DIMS(1, 1, 2), 0);
	return tensor(k, 2, DIMS(1, 1), 0);
}

static uint32_t multinomial_of_one(struct maker *k)
{
	input(k, 2, DIMS(1, FEW));
	scalar(k, 1);
	values(k, 2, (const int32_t[]){ 1, 2 });
	return of_type(k, NNB_TENSOR_INT32, 2, DIMS(1, 1));
}

static void zeros(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = tensor_of(k, rank, dims);
	uint32_t index = operand(k->m, &o);
	uint64_t bytes;
	void *values;

	assert_int_equal(nnb_operand_bytes(o.type, o.rank, o.dims, &bytes), 0);
	values = calloc(1, bytes);
	assert_non_null(values);
	assert_int_equal(nnb_model_value(k->m, index, values, bytes), 0);
	free(values);
	k->inputs[k->n_inputs++] = index;
}

static void reals(struct maker *k, uint32_t rank, const uint32_t *dims, const float *of, uint32_t bytes)
{
	uint32_t index = tensor(k, rank, dims, 0);

	assert_int_equal(nnb_model_value(k->m, index, of, bytes), 0);
	k->inputs[k->n_inputs++] = index;
}

/* Boxes that do not overlap: all are kept, and each is compared with all that are left. */
static uint32_t proposals_apart(struct maker *k)
{
	enum { SIDE = 48, STRIDE = 8 };

	input(k, 4, DIMS(1, SIDE, SIDE, 1));
	zeros(k, 4, DIMS(1, SIDE, SIDE, 4));
	reals(k, 2, DIMS(1, 4), (const float[]){ 0, 0, 4, 4 }, 16);
	reals(k, 2, DIMS(1, 2), (const float[]){ SIDE * STRIDE, SIDE * STRIDE }, 8);
	real_scalar(k, STRIDE);
	real_scalar(k, STRIDE);
	scalar(k, -1);
	scalar(k, -1);
	real_scalar(k, 0.5f);
	real_scalar(k, 1);
	truth(k, false);
	k->more[k->n_more++] = tensor(k, 2, DIMS(0, 4), 0);
	k->more[k->n_more++] = of_type(k, NNB_TENSOR_INT32, 1, DIMS(0));
	return tensor(k, 1, DIMS(0), 0);
}

static uint32_t boxes_apart(struct maker *k)
{
	enum { SIDE = 32 };
	float at[SIDE * SIDE][2][4];

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		for (uint32_t c = 0; c < 2; c++)
			memcpy(at[i][c],
			       (float[]){ (float)(i % SIDE * 8), (float)(i / SIDE * 8), (float)(i % SIDE * 8 + 4),
			                  (float)(i / SIDE * 8 + 4) },
			       16);
	input(k, 2, DIMS(SIDE * SIDE, 2));
	reals(k, 2, DIMS(SIDE * SIDE, 8), at[0][0], sizeof(at));
	indexes(k, SIDE * SIDE);
	real_scalar(k, -10);
	scalar(k, -1);
	scalar(k, 0);
	real_scalar(k, 0.5f);
	real_scalar(k, 1);
	real_scalar(k, 0);
	k->more[k->n_more++] = tensor(k, 2, DIMS(0, 4), 0);
	k->more[k->n_more++] = of_type(k, NNB_TENSOR_INT32, 1, DIMS(0));
	k->more[k->n_more++] = of_type(k, NNB_TENSOR_INT32, 1, DIMS(0));
	return tensor(k, 1, DIMS(0), 0);
}

static uint32_t deep_pool(struct maker *k)
{
	return pool(k, 2, MANY / 4, 2);
}

static uint32_t images_of_one_pixel(struct maker *k)
{
	input(k, 4, DIMS(FEW, 1, 1, 1));
	scalar(k, NNB_PADDING_VALID);
	for (int i = 0; i < 4; i++)
		scalar(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 4, DIMS(FEW, 1, 1, 1), 0.5f);
}

static uint32_t resize_of_many_images(struct maker *k)
{
	input(k, 4, DIMS(FEW / 4, 1, 1, 1));
	scalar(k, 1);
	scalar(k, 1);
	return tensor(k, 4, DIMS(FEW / 4, 1, 1, 1), 0.5f);
}

static uint32_t deep_depthwise(struct maker *k)
{
	input(k, 4, DIMS(1, 1, 1, FEW));
	constant(k, 4, DIMS(1, 1, 1, FEW));
	bias(k, FEW);
	scalar(k, NNB_PADDING_VALID);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, 1);
	scalar(k, NNB_FUSED_NONE);
	return tensor(k, 4, DIMS(1, 1, 1, FEW), 1000);
}

static uint32_t projection_of_one_long_item(struct maker *k)
{
	constant(k, 2, DIMS(1, 2));
	input(k, 2, DIMS(1, FEW));
	omitted(k, 1);
	scalar(k, 2);
	return operand(k->m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 2 } });
}

/* 0, @step, ... below @n. */
static void spread(struct maker *k, uint32_t n, uint32_t step)
{
	int32_t *of = malloc(n * sizeof(*of));

	assert_non_null(of);
	for (uint32_t i = 0; i < n; i++)
		of[i] = (int32_t)((uint64_t)i * step % n);
	values(k, n, of);
	free(of);
}

static uint32_t hashtable_of_many_keys(struct maker *k)
{
	struct nnb_operand hits = { .type = NNB_TENSOR_QUANT8_ASYMM, .rank = 1, .dims = { FEW }, .scale = 1 };

	spread(k, FEW, 7919);
	spread(k, FEW, 1);
	input(k, 2, DIMS(FEW, 1));
	k->more[k->n_more++] = operand(k->m, &hits);
	return tensor(k, 2, DIMS(FEW, 1), 0.5f);
}

/* One unit with FEW inputs. */
static uint32_t rnn_of_one_unit(struct maker *k)
{
	input(k, 2, DIMS(1, FEW));
	constant(k, 2, DIMS(1, FEW));
	constant(k, 2, DIMS(1, 1));
	constant(k, 1, DIMS(1));
	input(k, 2, DIMS(1, 1));
	scalar(k, NNB_FUSED_RELU);
	k->more[k->n_more++] = tensor(k, 2, DIMS(1, 1), 0);
	return tensor(k, 2, DIMS(1, 1), 0);
}

static uint32_t svdf_of_one_unit(struct maker *k)
{
	input(k, 2, DIMS(1, 1));
	constant(k, 2, DIMS(1, 1));
	constant(k, 2, DIMS(1, FEW));
	constant(k, 1, DIMS(1));
	input(k, 2, DIMS(1, FEW));
	scalar(k, 1);
	scalar(k, NNB_FUSED_RELU);
	k->more[k->n_more++] = tensor(k, 2, DIMS(1, 1), 0);
	return tensor(k, 2, DIMS(1, FEW), 0);
}

static uint32_t sequence_rnn_of_many_steps(struct maker *k)
{
	input(k, 3, DIMS(FEW / 16, 1, 1));
	constant(k, 2, DIMS(1, 1));
	constant(k, 2, DIMS(1, 1));
	constant(k, 1, DIMS(1));
	input(k, 2, DIMS(1, 1));
	scalar(k, NNB_FUSED_RELU);
	scalar(k, 1);
	return tensor(k, 3, DIMS(FEW / 16, 1, 1), 0);
}

static const struct row {
	const char *name;
	enum nnb_op op;
	uint32_t (*make)(struct maker *k);
	bool quant;
	uint32_t type; /* if neither float32 nor quant8 */
	/* more than one look a millisecond, where a preempted app would wait too long for the next one */
	uint64_t least_looks;
} rows[] = {
	{ "MAX_POOL_2D float32, wide windows", NNB_MAX_POOL_2D, wide_pool, false },
	{ "MAX_POOL_2D quant8, wide windows", NNB_MAX_POOL_2D, wide_pool, true },
	{ "MAX_POOL_2D float32, one window", NNB_MAX_POOL_2D, whole_pool, false },
	{ "MAX_POOL_2D float32, small windows", NNB_MAX_POOL_2D, small_pool, false },
	{ "MAX_POOL_2D quant8, small windows", NNB_MAX_POOL_2D, small_pool, true },
	{ "AVERAGE_POOL_2D float32, wide windows", NNB_AVERAGE_POOL_2D, wide_pool, false },
	{ "AVERAGE_POOL_2D float32, small windows", NNB_AVERAGE_POOL_2D, small_pool, false },
	{ "AVERAGE_POOL_2D quant8, small windows", NNB_AVERAGE_POOL_2D, small_pool, true },
	{ "L2_POOL_2D float32", NNB_L2_POOL_2D, small_pool, false },
	{ "CONV_2D float32, many channels", NNB_CONV_2D, conv_of_many_channels, false },
	{ "CONV_2D quant8, many channels", NNB_CONV_2D, conv_of_many_channels, true },
	{ "CONV_2D float32, many pixels", NNB_CONV_2D, conv_of_many_pixels, false },
	{ "CONV_2D quant8, many pixels", NNB_CONV_2D, conv_of_many_pixels, true },
	{ "CONV_2D float32, one deep pixel", NNB_CONV_2D, conv_of_one_deep_pixel, false },
	{ "CONV_2D float32, weights of the run", NNB_CONV_2D, conv_by_the_kernel, false },
	{ "CONV_2D quant8, weights of the run", NNB_CONV_2D, conv_by_the_kernel, true },
	{ "CONV_2D float32, one channel of the run", NNB_CONV_2D, conv_of_one_channel, false },
	{ "CONV_2D quant8, one channel of the run", NNB_CONV_2D, conv_of_one_channel, true },
	{ "DEPTHWISE_CONV_2D float32", NNB_DEPTHWISE_CONV_2D, depthwise, false },
	{ "DEPTHWISE_CONV_2D quant8", NNB_DEPTHWISE_CONV_2D, depthwise, true },
	{ "FULLY_CONNECTED float32", NNB_FULLY_CONNECTED, fully_connected, false },
	{ "FULLY_CONNECTED quant8", NNB_FULLY_CONNECTED, fully_connected, true },
	{ "ADD float32", NNB_ADD, pair, false, 0, 256 },
	{ "ADD quant8", NNB_ADD, pair, true },
	{ "ADD float32, rows", NNB_ADD, pair_of_rows, false },
	{ "MUL float32", NNB_MUL, pair, false },
	{ "MUL quant8", NNB_MUL, pair, true, 0, 256 },
	{ "RELU float32", NNB_RELU, each, false },
	{ "RELU6 quant8", NNB_RELU6, each, true },
	{ "FLOOR float32", NNB_FLOOR, each, false },
	{ "TANH float32", NNB_TANH, each, false },
	{ "LOGISTIC float32", NNB_LOGISTIC, logistic, false },
	{ "LOGISTIC quant8", NNB_LOGISTIC, logistic, true },
	{ "DEQUANTIZE quant8", NNB_DEQUANTIZE, dequantize, true },
	{ "SOFTMAX float32, rows", NNB_SOFTMAX, softmax_of_rows, false },
	{ "SOFTMAX float32, one row", NNB_SOFTMAX, softmax_of_one_row, false },
	{ "SOFTMAX quant8, one row", NNB_SOFTMAX, softmax_of_one_row, true },
	{ "L2_NORMALIZATION float32", NNB_L2_NORMALIZATION, normalization, false },
	{ "LOCAL_RESPONSE_NORMALIZATION float32", NNB_LOCAL_RESPONSE_NORMALIZATION, response_normalization, false },
	{ "RESIZE_BILINEAR float32", NNB_RESIZE_BILINEAR, resize, false },
	{ "RESIZE_BILINEAR float32, deep pixels", NNB_RESIZE_BILINEAR, resize_of_deep_pixels, false },
	{ "CONCATENATION float32", NNB_CONCATENATION, concatenation, false },
	{ "RESHAPE float32", NNB_RESHAPE, reshape, false },
	{ "DEPTH_TO_SPACE float32", NNB_DEPTH_TO_SPACE, depth_to_space, false },
	{ "DEPTH_TO_SPACE float32, one pixel", NNB_DEPTH_TO_SPACE, depth_to_space_of_one_pixel, false },
	{ "SPACE_TO_DEPTH quant8", NNB_SPACE_TO_DEPTH, space_to_depth, true },
	{ "SPACE_TO_DEPTH float32", NNB_SPACE_TO_DEPTH, space_to_depth, false },
	{ "DEPTH_TO_SPACE quant8", NNB_DEPTH_TO_SPACE, depth_to_space, true },
	{ "AVERAGE_POOL_2D quant8, wide windows", NNB_AVERAGE_POOL_2D, wide_pool, true },
	{ "CONCATENATION quant8", NNB_CONCATENATION, concatenation, true },
	{ "RESHAPE quant8", NNB_RESHAPE, reshape, true },
	{ "RELU quant8", NNB_RELU, each, true },
	{ "RELU1 float32", NNB_RELU1, each, false },
	{ "RELU1 quant8", NNB_RELU1, each, true },
	{ "RELU6 float32", NNB_RELU6, each, false },
	{ "SOFTMAX quant8, rows", NNB_SOFTMAX, softmax_of_rows, true },
	{ "EMBEDDING_LOOKUP float32", NNB_EMBEDDING_LOOKUP, embedding, false },
	{ "EMBEDDING_LOOKUP quant8", NNB_EMBEDDING_LOOKUP, embedding, true },
	{ "HASHTABLE_LOOKUP float32", NNB_HASHTABLE_LOOKUP, hashtable, false },
	{ "HASHTABLE_LOOKUP quant8", NNB_HASHTABLE_LOOKUP, hashtable, true },
	{ "LSH_PROJECTION float32", NNB_LSH_PROJECTION, projection, false },
	{ "LSTM float32", NNB_LSTM, lstm, false },
	{ "RNN float32", NNB_RNN, rnn, false },
	{ "SVDF float32", NNB_SVDF, svdf, false },
	{ "TRANSPOSE float32", NNB_TRANSPOSE, transpose, false },
	{ "TRANSPOSE quant8", NNB_TRANSPOSE, transpose, true },
	{ "TILE float32", NNB_TILE, tile, false },
	{ "SUB float32", NNB_SUB, pair, false },
	{ "SUB quant8", NNB_SUB, pair, true },
	{ "MAXIMUM float32", NNB_MAXIMUM, plain_pair, false },
	{ "POW float32", NNB_POW, plain_pair, false },
	{ "SQRT float32", NNB_SQRT, each, false },
	{ "SIN float32", NNB_SIN, each, false },
	{ "MEAN float32", NNB_MEAN, mean, false },
	{ "MEAN quant8", NNB_MEAN, mean, true },
	{ "ARGMAX float32", NNB_ARGMAX, argmax, false },
	{ "TOPK_V2 float32", NNB_TOPK_V2, topk, false },
	{ "LOG_SOFTMAX float32", NNB_LOG_SOFTMAX, log_softmax, false },
	{ "GROUPED_CONV_2D float32", NNB_GROUPED_CONV_2D, grouped_conv, false },
	{ "GROUPED_CONV_2D quant8", NNB_GROUPED_CONV_2D, grouped_conv, true },
	{ "UNIDIRECTIONAL_SEQUENCE_RNN float32", NNB_UNIDIRECTIONAL_SEQUENCE_RNN, sequence_rnn, false },
	{ "ADD quant8 signed", NNB_ADD, few_pairs, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "MUL quant8 signed", NNB_MUL, few_pairs, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "SUB quant8 signed", NNB_SUB, few_pairs, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "RELU6 quant8 signed", NNB_RELU6, few, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "MAX_POOL_2D quant8 signed", NNB_MAX_POOL_2D, small_pool, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "RESIZE_BILINEAR quant8 signed", NNB_RESIZE_BILINEAR, resize, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "PRELU quant8 signed", NNB_PRELU, prelu, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "MEAN quant8 signed", NNB_MEAN, mean_of_images, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "EQUAL quant8 signed", NNB_EQUAL, compare, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "PAD quant8 signed", NNB_PAD, pad, true, NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "ADD float16", NNB_ADD, few_pairs, false, NNB_TENSOR_FLOAT16 },
	{ "DIV float16", NNB_DIV, few_pairs, false, NNB_TENSOR_FLOAT16 },
	{ "EXP float16", NNB_EXP, few, false, NNB_TENSOR_FLOAT16 },
	{ "MAX_POOL_2D float16", NNB_MAX_POOL_2D, small_pool, false, NNB_TENSOR_FLOAT16 },
	{ "MEAN float16", NNB_MEAN, mean_of_images, false, NNB_TENSOR_FLOAT16 },
	{ "CAST float16", NNB_CAST, cast, false, NNB_TENSOR_FLOAT16 },
	{ "TRANSPOSE_CONV_2D float16", NNB_TRANSPOSE_CONV_2D, transposed_conv_of_constants, false, NNB_TENSOR_FLOAT16 },
	{ "DIV float32", NNB_DIV, few_pairs, false },
	{ "EQUAL float32", NNB_EQUAL, compare, false },
	{ "PRELU float32", NNB_PRELU, prelu, false },
	{ "ABS float32", NNB_ABS, few, false },
	{ "NEG float32", NNB_NEG, few, false },
	{ "EXP float32", NNB_EXP, few, false },
	{ "LOG float32", NNB_LOG, few, false },
	{ "RSQRT float32", NNB_RSQRT, few, false },
	{ "ELU float32", NNB_ELU, elu, false },
	{ "HARD_SWISH float32", NNB_HARD_SWISH, few, false },
	{ "HARD_SWISH quant8", NNB_HARD_SWISH, few, true },
	{ "QUANTIZE float32", NNB_QUANTIZE, quantize, false },
	{ "CAST float32", NNB_CAST, cast, false },
	{ "SELECT float32", NNB_SELECT, selection, false },
	{ "PAD float32", NNB_PAD, pad, false },
	{ "STRIDED_SLICE float32", NNB_STRIDED_SLICE, strided_slice, false },
	{ "GATHER float32", NNB_GATHER, gather, false },
	{ "SPACE_TO_BATCH_ND float32", NNB_SPACE_TO_BATCH_ND, space_to_batch, false },
	{ "CHANNEL_SHUFFLE float32", NNB_CHANNEL_SHUFFLE, shuffle, false },
	{ "RESIZE_NEAREST_NEIGHBOR float32", NNB_RESIZE_NEAREST_NEIGHBOR, nearest, false },
	{ "REDUCE_MAX float32", NNB_REDUCE_MAX, reduce, false },
	{ "REDUCE_SUM float32", NNB_REDUCE_SUM, reduce, false },
	{ "INSTANCE_NORMALIZATION float32", NNB_INSTANCE_NORMALIZATION, instance_normalization, false },
	{ "AXIS_ALIGNED_BBOX_TRANSFORM float32", NNB_AXIS_ALIGNED_BBOX_TRANSFORM, box_transform, false },
	{ "ROI_ALIGN float32", NNB_ROI_ALIGN, roi_align, false },
	{ "ROI_POOLING float32", NNB_ROI_POOLING, roi_pooling, false },
	{ "HEATMAP_MAX_KEYPOINT float32", NNB_HEATMAP_MAX_KEYPOINT, heatmap, false },
	{ "DETECTION_POSTPROCESSING float32", NNB_DETECTION_POSTPROCESSING, detection, false },
	{ "RANDOM_MULTINOMIAL float32", NNB_RANDOM_MULTINOMIAL, multinomial, false },
	{ "UNIDIRECTIONAL_SEQUENCE_LSTM float32", NNB_UNIDIRECTIONAL_SEQUENCE_LSTM, sequence_lstm, false },
	{ "MEAN float32, images", NNB_MEAN, mean_of_images, false },
	{ "MEAN quant8, images", NNB_MEAN, mean_of_images, true },
	{ "TRANSPOSE_CONV_2D float32", NNB_TRANSPOSE_CONV_2D, transposed_conv_of_constants, false },
	{ "TRANSPOSE_CONV_2D quant8", NNB_TRANSPOSE_CONV_2D, transposed_conv_of_constants, true },
	{ "TRANSPOSE_CONV_2D float32, weights of the run", NNB_TRANSPOSE_CONV_2D, transposed_conv_by_the_kernel,
	  false },
	{ "FULLY_CONNECTED float32, one deep output", NNB_FULLY_CONNECTED, one_deep_output, false },
	{ "FULLY_CONNECTED quant8, one deep output", NNB_FULLY_CONNECTED, one_deep_output, true },
	{ "FULLY_CONNECTED float32, one deep output of the run", NNB_FULLY_CONNECTED, one_deep_output_of_the_run,
	  false },
	{ "FULLY_CONNECTED quant8, one deep output of the run", NNB_FULLY_CONNECTED, one_deep_output_of_the_run, true },
	{ "FULLY_CONNECTED float32, many flat outputs", NNB_FULLY_CONNECTED, many_flat_outputs, false },
	{ "REDUCE_MAX float32, to one", NNB_REDUCE_MAX, reduce_to_one, false },
	{ "REDUCE_SUM float32, far apart", NNB_REDUCE_SUM, reduce_far_apart, false },
	{ "REDUCE_PROD float32, each to itself", NNB_REDUCE_PROD, reduce_each_to_itself, false },
	{ "MEAN float32, to one", NNB_MEAN, mean_to_one, false },
	{ "MEAN float32, one deep image", NNB_MEAN, mean_of_one_deep_image, false },
	{ "MEAN float32, one wide image", NNB_MEAN, mean_of_one_wide_image, false },
	{ "MEAN quant8, one wide image", NNB_MEAN, mean_of_one_wide_image, true },
	{ "ARGMAX float32, columns", NNB_ARGMAX, argmax_of_columns, false },
	{ "TOPK_V2 float32, all", NNB_TOPK_V2, topk_of_all, false },
	{ "LOG_SOFTMAX float32, columns", NNB_LOG_SOFTMAX, log_softmax_of_columns, false },
	{ "SOFTMAX float32, single elements", NNB_SOFTMAX, softmax_of_single_elements, false },
	{ "SOFTMAX quant8, single elements", NNB_SOFTMAX, softmax_of_single_elements, true },
	{ "L2_NORMALIZATION float32, single elements", NNB_L2_NORMALIZATION, normalization_of_single_elements, false },
	{ "LOCAL_RESPONSE_NORMALIZATION float32, one pixel", NNB_LOCAL_RESPONSE_NORMALIZATION,
	  response_normalization_of_one_pixel, false },
	{ "TRANSPOSE float32, twos", NNB_TRANSPOSE, transpose_of_twos, false },
	{ "TRANSPOSE float32, one column", NNB_TRANSPOSE, transpose_of_one_column, false },
	{ "TRANSPOSE quant8, twos", NNB_TRANSPOSE, transpose_of_twos, true },
	{ "TILE float32, one element", NNB_TILE, tile_of_one, false },
	{ "TILE float32, columns", NNB_TILE, tile_of_columns, false },
	{ "PAD float32, one element", NNB_PAD, pad_of_one, false },
	{ "PAD float32, columns", NNB_PAD, pad_of_columns, false },
	{ "SLICE float32, a column", NNB_SLICE, slice_of_a_column, false },
	{ "STRIDED_SLICE float32, a column", NNB_STRIDED_SLICE, strided_slice_of_a_column, false },
	{ "GATHER float32, single elements", NNB_GATHER, gather_of_single_elements, false },
	{ "GATHER float32, one long row", NNB_GATHER, gather_of_one_long_row, false },
	{ "EMBEDDING_LOOKUP float32, one long row", NNB_EMBEDDING_LOOKUP, embedding_of_one_long_row, false },
	{ "BATCH_TO_SPACE_ND float32, single elements", NNB_BATCH_TO_SPACE_ND, batch_to_space_of_single_elements,
	  false },
	{ "CHANNEL_SHUFFLE float32, single elements", NNB_CHANNEL_SHUFFLE, shuffle_of_single_elements, false },
	{ "CONCATENATION float32, columns", NNB_CONCATENATION, concatenation_of_columns, false },
	{ "SPLIT float32, columns", NNB_SPLIT, split_of_columns, false },
	{ "RESIZE_NEAREST_NEIGHBOR float32, one pixel", NNB_RESIZE_NEAREST_NEIGHBOR, nearest_of_one_pixel, false },
	{ "RESIZE_BILINEAR float32, one pixel", NNB_RESIZE_BILINEAR, resize_of_one_pixel, false },
	{ "INSTANCE_NORMALIZATION float32, single elements", NNB_INSTANCE_NORMALIZATION,
	  instance_normalization_of_single_elements, false },
	{ "PRELU float32, columns", NNB_PRELU, prelu_of_columns, false },
	{ "ADD float32, columns", NNB_ADD, pair_of_columns, false },
	{ "ADD quant8, columns", NNB_ADD, pair_of_columns, true },
	{ "MAXIMUM float32, columns", NNB_MAXIMUM, plain_pair_of_columns, false },
	{ "CONV_2D float32, one deep window", NNB_CONV_2D, one_deep_window, false },
	{ "CONV_2D quant8, one deep window", NNB_CONV_2D, one_deep_window, true },
	{ "CONV_2D float32, one deep window of the run", NNB_CONV_2D, one_deep_window_of_the_run, false },
	{ "DEPTHWISE_CONV_2D float32, one window", NNB_DEPTHWISE_CONV_2D, whole_depthwise, false },
	{ "TRANSPOSE_CONV_2D float32, far apart", NNB_TRANSPOSE_CONV_2D, transposed_conv_of_nothing, false },
	{ "ROI_ALIGN float32, one output", NNB_ROI_ALIGN, roi_align_of_one, false },
	{ "ROI_POOLING float32, one output", NNB_ROI_POOLING, roi_pooling_of_one_large, false },
	{ "HEATMAP_MAX_KEYPOINT float32, one image", NNB_HEATMAP_MAX_KEYPOINT, heatmap_of_one_large, false },
	{ "RANDOM_MULTINOMIAL float32, one of many", NNB_RANDOM_MULTINOMIAL, multinomial_of_one, false },
	{ "GENERATE_PROPOSALS float32, none suppressed", NNB_GENERATE_PROPOSALS, proposals_apart, false },
	{ "BOX_WITH_NMS_LIMIT float32, none suppressed", NNB_BOX_WITH_NMS_LIMIT, boxes_apart, false },
	{ "MAX_POOL_2D float32, deep pixels", NNB_MAX_POOL_2D, deep_pool, false },
	{ "MAX_POOL_2D quant8, deep pixels", NNB_MAX_POOL_2D, deep_pool, true },
	{ "AVERAGE_POOL_2D float32, deep pixels", NNB_AVERAGE_POOL_2D, deep_pool, false },
	{ "AVERAGE_POOL_2D quant8, deep pixels", NNB_AVERAGE_POOL_2D, deep_pool, true },
	{ "L2_POOL_2D float32, deep pixels", NNB_L2_POOL_2D, deep_pool, false },
	{ "MAX_POOL_2D float32, images of one pixel", NNB_MAX_POOL_2D, images_of_one_pixel, false },
	{ "AVERAGE_POOL_2D quant8, images of one pixel", NNB_AVERAGE_POOL_2D, images_of_one_pixel, true },
	{ "L2_POOL_2D float32, images of one pixel", NNB_L2_POOL_2D, images_of_one_pixel, false },
	{ "RESIZE_BILINEAR float32, many images", NNB_RESIZE_BILINEAR, resize_of_many_images, false },
	{ "RESIZE_BILINEAR quant8 signed, many images", NNB_RESIZE_BILINEAR, resize_of_many_images, true,
	  NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ "DEPTHWISE_CONV_2D float32, one deep pixel", NNB_DEPTHWISE_CONV_2D, deep_depthwise, false },
	{ "LSH_PROJECTION float32, one long item", NNB_LSH_PROJECTION, projection_of_one_long_item, false },
	{ "HASHTABLE_LOOKUP float32, many keys", NNB_HASHTABLE_LOOKUP, hashtable_of_many_keys, false },
	{ "RNN float32, one unit", NNB_RNN, rnn_of_one_unit, false },
	{ "SVDF float32, one unit", NNB_SVDF, svdf_of_one_unit, false },
	{ "UNIDIRECTIONAL_SEQUENCE_RNN float32, many steps", NNB_UNIDIRECTIONAL_SEQUENCE_RNN,
	  sequence_rnn_of_many_steps, false },
};

static struct nnb_model *make_model(const struct row *row)
{
	struct maker k = { .quant = row->quant, .type = row->type };
	uint32_t outs[4];

	assert_int_equal(nnb_model_new(&k.m, row->name,
	                               nnb_op_hal(row->op) == NNB_HAL_1_0 && !row->type ? NNB_HAL_1_0 : NNB_HAL_1_3),
	                 0);
	outs[0] = row->make(&k);
	memcpy(outs + 1, k.more, sizeof(k.more));
	assert_true(nnb_model_operation(k.m, row->op, k.inputs, k.n_inputs, outs, 1 + k.n_more) >= 0);
	assert_int_equal(nnb_model_finish(k.m, k.model_inputs, k.n_model_inputs, outs, 1), 0);
	return k.m;
}

/* ---- runs ---- */

enum { UNKNOWN_BYTES = 4 << 20 }; /* room for an output whose shape only its run finds */

static void run(struct nnb_prepared *p)
{
	const struct nnb_model *m = nnb_prepared_model(p);
	struct nnb_reason reason = { "" };
	struct nnb_memory pools[4];
	struct nnb_argument args[4] = { { 0 } };
	struct nnb_request request = { .inputs = args,
		                       .outputs = args + m->n_inputs,
		                       .n_inputs = m->n_inputs,
		                       .n_outputs = 1,
		                       .n_pools = m->n_inputs + 1,
		                       .pools = pools };

	for (uint32_t i = 0; i <= m->n_inputs; i++) {
		const struct nnb_operand *o = &m->operands[i < m->n_inputs ? m->inputs[i] : m->outputs[0]];
		struct nnb_mapping *mapping;
		uint64_t bytes;
		uint8_t *at;

		if (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || !bytes)
			bytes = UNKNOWN_BYTES;
		assert_int_equal(nnb_memory_ashmem(&pools[i], bytes), 0);
		assert_int_equal(nnb_map(&mapping, &pools[i]), 0);
		args[i].location = (struct nnb_location){ i, 0, (uint32_t)bytes };
		at = nnb_mapping_data(mapping);
		for (uint64_t k = 0; k + 4 <= bytes; k += 4) {
			float f = (float)(k % 1021) / 256 - 2;

			memcpy(at + k, &f, 4);
		}
		nnb_mapping_unref(mapping);
	}
	if (nnb_execute(p, &request, NULL, &reason))
		fail_msg("%s", reason.text);
	for (uint32_t i = 0; i <= m->n_inputs; i++)
		nnb_memory_close(&pools[i]);
}

static void operation_looks_and_ends_in_time(void **state)
{
	const struct row *row = *state;
	struct nnb_device *d = open_device(DRIVER_LOOKS);
	void *object = dlopen(DRIVER_LOOKS, RTLD_NOW | RTLD_NOLOAD);
	const struct looks *is = object ? dlsym(object, "nnb_looks") : NULL;
	struct nnb_model *m = make_model(row);
	struct nnb_prepared *p = prepared(d, m);
	struct timespec now;
	double off = 0;
	time_t until;

	assert_non_null(is);
	/*
	 * A page fault, an interrupt or a neighbour on the same core may slow the run: often on a busy machine,
	 * but not always.
	 */
	timespec_get(&now, TIME_UTC);
	until = now.tv_sec + PATIENCE_S;
	for (int i = 0; i < 10 || now.tv_sec < until; i++, timespec_get(&now, TIME_UTC)) {
		run(p);
		off = is->cost_ns > is->took_ns ? (double)is->cost_ns / (double)is->took_ns
		                                : (double)is->took_ns / (double)is->cost_ns;
		if (is->longest_ns <= LOOK_NS && is->end_ns <= LOOK_NS && off <= ESTIMATED_WITHIN)
			break;
	}
	print_message("%-40s %8.2f ms, by %s: %6ju looks, %.3f ms apart at most; ends after %.3f ms; "
	              "%.2f of its estimate; %016jx\n",
	              row->name, (double)is->took_ns / 1e6, is->xnnpack ? "XNNPACK" : "a kernel", (uintmax_t)is->looks,
	              (double)is->longest_ns / 1e6, (double)is->end_ns / 1e6, (double)is->took_ns / (double)is->cost_ns,
	              (uintmax_t)is->digest);
	assert_true(is->tiles_ours || !is->xnnpack);
	assert_true(is->cost_ns > 0);
	assert_true(off <= ESTIMATED_WITHIN * SLOWER);
	assert_true(is->same);
	assert_true(is->looks >= row->least_looks / SMALLER);
	assert_true(is->looks >= 2 || is->took_ns < LONG_NS);
	assert_true(is->ended || is->took_ns < LONG_NS);
	assert_true(is->longest_ns <= LOOK_NS);
	assert_true(is->end_ns <= LOOK_NS);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	dlclose(object);
	nnb_device_unref(d);
}

int main(void)
{
	struct CMUnitTest tests[N_OF(rows)];

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			                        .test_func = operation_looks_and_ends_in_time,
			                        .initial_state = (void *)&rows[i] };
	return cmocka_run_group_tests_name("operations ask whether to go on", tests, NULL, NULL);
}

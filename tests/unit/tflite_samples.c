/*
 * tflite_samples.c -- valid .tflite models: a net of halves, quantised ones, one with large constants, and
 * control flow.
 */
#include <stdlib.h>

#include "base.h"
#include "unit/tflite_writer.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define MODEL(t, o) .n_tensors = N_OF(t), .n_operators = N_OF(o), .tensors = t, .operators = o

/* ---- a net: float16 constants, which DEQUANTIZE makes float32 ---- */

enum { HALF_1 = 0x3c00, HALF_2 = 0x4000, HALF_05 = 0x3800, HALF_M1 = 0xbc00, HALF_TINY = 0x0001 };

/* Two channels: the first sums a window of 1 x 1, the second is half of that less one. */
static const uint16_t filter_halves[] = { HALF_1, HALF_05 }, bias_halves[] = { HALF_TINY, HALF_M1 };
static const int32_t row_shape[] = { 1, -1 };
static const float weights[] = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 };

static const struct tfl_tensor net_tensors[] = {
	{ "image", TFL_FLOAT32, 4, { 1, 4, 4, 1 } },
	{ "filter/half", TFL_FLOAT16, 4, { 2, 1, 1, 1 }, filter_halves, sizeof(filter_halves) },
	{ "bias/half", TFL_FLOAT16, 1, { 2 }, bias_halves, sizeof(bias_halves) },
	{ "filter", TFL_FLOAT32, 4, { 2, 1, 1, 1 } },
	{ "bias", TFL_FLOAT32, 1, { 2 } },
	{ "conv", TFL_FLOAT32, 4, { 1, 4, 4, 2 } },
	{ "pool", TFL_FLOAT32, 4, { 1, 2, 2, 2 } },
	{ "row/shape", TFL_INT32, 1, { 2 }, row_shape, sizeof(row_shape) },
	{ "row", TFL_FLOAT32, 2, { 1, 8 } },
	{ "weights", TFL_FLOAT32, 2, { 2, 8 }, weights, sizeof(weights) },
	{ "dense", TFL_FLOAT32, 2, { 1, 2 } },
};

static const struct tfl_operator net_operators[] = {
	{ 6, NULL, 1, 1, { 1 }, { 3 } },
	{ 6, NULL, 1, 1, { 2 }, { 4 } },
	{ 3, NULL, 3, 1, { 0, 3, 4 }, { 5 }, 1, { { 0, 'b', 0 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 3 } } },
	{ 17,
	  NULL,
	  1,
	  1,
	  { 5 },
	  { 6 },
	  5,
	  { { 0, 'b', 1 }, { 1, 'i', 2 }, { 2, 'i', 2 }, { 3, 'i', 2 }, { 4, 'i', 2 }, { 5, 'b', 0 } } },
	{ 22, NULL, 2, 1, { 6, 7 }, { 8 } },
	{ 9, NULL, 3, 1, { 8, 9, -1 }, { 10 }, 8, { { 0, 'b', 1 } } },
};

/* ---- quantised: a sum of uint8, and a convolution of int8 by channel ---- */

static const uint8_t addend[] = { 10, 20, 30, 40 };

static const struct tfl_tensor sum_tensors[] = {
	{ "x", TFL_UINT8, 2, { 1, 4 }, .n_scales = 1, .scales = { 0.5f }, .zero = 128 },
	{ "c", TFL_UINT8, 2, { 1, 4 }, addend, sizeof(addend), 1, { 1 }, 0 },
	{ "y", TFL_UINT8, 2, { 1, 4 }, .n_scales = 1, .scales = { 1 }, .zero = 64 },
};
static const struct tfl_operator sum_operators[] = { { 0, NULL, 2, 1, { 0, 1 }, { 2 }, 11, { { 0, 'b', 0 } } } };

static const int8_t by_channel[] = { 4, 8 };
static const int32_t by_channel_bias[] = { 1, -1 };

static const struct tfl_tensor channel_tensors[] = {
	{ "x", TFL_INT8, 4, { 1, 2, 2, 1 }, .n_scales = 1, .scales = { 0.5f }, .zero = 0 },
	{ "filter", TFL_INT8, 4, { 2, 1, 1, 1 }, by_channel, sizeof(by_channel), 2, { 0.25f, 0.125f }, 0, 0 },
	{ "bias", TFL_INT32, 1, { 2 }, by_channel_bias, sizeof(by_channel_bias), 2, { 0.125f, 0.0625f } },
	{ "y", TFL_INT8, 4, { 1, 2, 2, 2 }, .n_scales = 1, .scales = { 0.5f }, .zero = 0 },
};
static const struct tfl_operator channel_operators[] = {
	{ 3, NULL, 3, 1, { 0, 1, 2 }, { 3 }, 1, { { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 0 } } },
};

/* ---- bytes as the weights of operators of float32: by channel, and all alike ---- */

static const int8_t hybrid_filter[] = { 4, -8 }, hybrid_weights[] = { 1, 2, 3, 4, -5, 6, 7, 127 };

static const float hybrid_bias[] = { 0, 0 };

static const struct tfl_tensor hybrid_tensors[] = {
	{ "x", TFL_FLOAT32, 4, { 1, 2, 2, 1 } },
	{ "filter", TFL_INT8, 4, { 2, 1, 1, 1 }, hybrid_filter, sizeof(hybrid_filter), 2, { 0.25f, 0.125f }, 0, 0 },
	{ "conv", TFL_FLOAT32, 4, { 1, 2, 2, 2 } },
	{ "weights", TFL_INT8, 2, { 1, 8 }, hybrid_weights, sizeof(hybrid_weights), 1, { 0.5f }, 3 },
	{ "y", TFL_FLOAT32, 2, { 1, 1 } },
	{ "bias", TFL_FLOAT32, 1, { 2 }, hybrid_bias, sizeof(hybrid_bias) },
};
static const struct tfl_operator hybrid_operators[] = {
	{ 3, NULL, 3, 1, { 0, 1, 5 }, { 2 }, 1, { { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 0 } } },
	{ 9, NULL, 3, 1, { 2, 3, -1 }, { 4 }, 8, { { 0, 'b', 0 } } },
};

/* ---- a constant that stays in the file, and one whose integers are wide ---- */

static float large[64];
static const int64_t wide_shape[] = { 8, 8 };

static const struct tfl_tensor large_tensors[] = {
	{ "x", TFL_FLOAT32, 1, { 64 } },   { "large", TFL_FLOAT32, 1, { 64 }, large, sizeof(large) },
	{ "sum", TFL_FLOAT32, 1, { 64 } }, { "shape", TFL_INT64, 1, { 2 }, wide_shape, sizeof(wide_shape) },
	{ "y", TFL_FLOAT32, 2, { 8, 8 } },
};
static const struct tfl_operator large_operators[] = {
	{ 0, NULL, 2, 1, { 0, 1 }, { 2 }, 11, { { 0, 'b', 0 } } },
	{ 22, NULL, 2, 1, { 2, 3 }, { 4 }, 17 },
};

/* ---- control flow: if x is above a half, y is doubled; else it is handed on as it is ---- */

static const float half[] = { 0.5f }, twice[] = { 2 };

static const struct tfl_tensor if_tensors[] = {
	{ "x", TFL_FLOAT32, 1, { 1 } },
	{ "y", TFL_FLOAT32, 1, { 4 } },
	{ "half", TFL_FLOAT32, 1, { 1 }, half, sizeof(half) },
	{ "above", TFL_BOOL, 1, { 1 } },
	{ "z", TFL_FLOAT32, 1, { 4 } },
};
static const struct tfl_operator if_operators[] = {
	{ 61, NULL, 2, 1, { 0, 2 }, { 3 } },
	{ 118, NULL, 2, 1, { 3, 1 }, { 4 }, 92, { { 0, 'i', 1 }, { 1, 'i', 2 } } },
};
static const struct tfl_tensor then_tensors[] = {
	{ "then/y", TFL_FLOAT32, 1, { 4 } },
	{ "then/two", TFL_FLOAT32, 1, { 1 }, twice, sizeof(twice) },
	{ "then/z", TFL_FLOAT32, 1, { 4 } },
};
static const struct tfl_operator then_operators[] = { { 18, NULL, 2, 1, { 0, 1 }, { 2 }, 21, { { 0, 'b', 0 } } } };
static const struct tfl_tensor else_tensors[] = { { "else/y", TFL_FLOAT32, 1, { 4 } } };

static const struct tfl_model branches[] = {
	{ MODEL(then_tensors, then_operators), .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 2 } },
	{ .n_tensors = 1, .tensors = else_tensors, .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 0 } },
};

/* ---- control flow: x is added to y n times; the body hands n and x on ---- */

static const int32_t none[] = { 0 }, five[] = { 5 }, one[] = { 1 };

static const struct tfl_tensor while_tensors[] = {
	{ "x", TFL_FLOAT32, 1, { 4 } },
	{ "i", TFL_INT32, 0, { 0 }, none, sizeof(none) },
	{ "n", TFL_INT32, 0, { 0 }, five, sizeof(five) },
	{ "i/after", TFL_INT32, 0 },
	{ "n/after", TFL_INT32, 0 },
	{ "x/after", TFL_FLOAT32, 1, { 4 } },
	{ "y/after", TFL_FLOAT32, 1, { 4 } },
};
static const struct tfl_operator while_operators[] = {
	{ 119, NULL, 4, 4, { 1, 2, 0, 0 }, { 3, 4, 5, 6 }, 93, { { 0, 'i', 1 }, { 1, 'i', 2 } } },
};
static const struct tfl_tensor condition_tensors[] = {
	{ "condition/i", TFL_INT32, 0 },          { "condition/n", TFL_INT32, 0 },
	{ "condition/x", TFL_FLOAT32, 1, { 4 } }, { "condition/y", TFL_FLOAT32, 1, { 4 } },
	{ "condition/below", TFL_BOOL, 0 },
};
static const struct tfl_operator condition_operators[] = { { 58, NULL, 2, 1, { 0, 1 }, { 4 } } };
static const struct tfl_tensor body_tensors[] = {
	{ "body/i", TFL_INT32, 0 },
	{ "body/n", TFL_INT32, 0 },
	{ "body/x", TFL_FLOAT32, 1, { 4 } },
	{ "body/y", TFL_FLOAT32, 1, { 4 } },
	{ "body/one", TFL_INT32, 0, { 0 }, one, sizeof(one) },
	{ "body/next", TFL_INT32, 0 },
	{ "body/sum", TFL_FLOAT32, 1, { 4 } },
};
static const struct tfl_operator body_operators[] = {
	{ 0, NULL, 2, 1, { 0, 4 }, { 5 }, 11, { { 0, 'b', 0 } } },
	{ 0, NULL, 2, 1, { 3, 2 }, { 6 }, 11, { { 0, 'b', 0 } } },
};

static const struct tfl_model loop[] = {
	{ MODEL(condition_tensors, condition_operators), .n_inputs = 4, .n_outputs = 1, .inputs = { 0, 1, 2, 3 },
	  .outputs = { 4 } },
	{ MODEL(body_tensors, body_operators), .n_inputs = 4, .n_outputs = 4, .inputs = { 0, 1, 2, 3 },
	  .outputs = { 5, 1, 2, 6 } },
};

static const struct tfl_model samples[] = {
	{ MODEL(net_tensors, net_operators), .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 10 } },
	{ MODEL(sum_tensors, sum_operators), .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 2 },
	  .old_codes = true },
	{ MODEL(channel_tensors, channel_operators), .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 3 } },
	{ MODEL(large_tensors, large_operators), .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 4 } },
	{ MODEL(large_tensors, large_operators), .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 4 },
	  .outside = true },
	{ MODEL(hybrid_tensors, hybrid_operators), .n_inputs = 1, .n_outputs = 1, .inputs = { 0 }, .outputs = { 4 } },
	{ MODEL(if_tensors, if_operators), .n_inputs = 2, .n_outputs = 1, .inputs = { 0, 1 }, .outputs = { 4 },
	  .more = branches, .n_more = 2 },
	{ MODEL(while_tensors, while_operators), .n_inputs = 1, .n_outputs = 2, .inputs = { 0 }, .outputs = { 3, 6 },
	  .more = loop, .n_more = 2 },
};

unsigned tfl_samples(void)
{
	return N_OF(samples);
}

const struct tfl_model *tfl_sample_model(unsigned which)
{
	return &samples[which];
}

void tfl_sample(unsigned which, uint8_t **ret, size_t *ret_bytes)
{
	for (unsigned i = 0; i < N_OF(large); i++)
		large[i] = (float)i;
	tfl_write(&samples[which], ret, ret_bytes);
}

/*
 * sample_models.c -- valid models: each operation in at least one form, and the forms that later HALs have added.
 *
 * Most samples have one operation and are a row of a table. Constants have arbitrary values, except for parameters,
 * lookup keys and regions. Where the number of kept boxes depends on the data, the constants make it equal to the
 * output's declared dimensions for any input.
 */
#include "conformance/validate/sample_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/validate/abort_unless.h"
#include "nnb/half.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- rows ---- */

enum { INPUTS_MAX = 64 };
enum role { END, GIVEN, CONSTANT, LISTED, LISTED_REALS, LEFT_OUT, INT, FLOAT, HALF, TRUTH, CHANNELS };

struct piece {
	enum role role;
	struct nnb_operand operand;
	int32_t ints[4]; /* values of LISTED, INT and TRUTH */
	float number;    /* value of FLOAT and HALF; of CHANNELS, the scale of each */
	float reals[4];  /* values of LISTED_REALS */
};

struct row {
	const char *name;
	enum nnb_op op;
	struct piece inputs[29];
	struct nnb_operand outputs[5];
	enum nnb_hal hal; /* first HAL with this form of the operation; 0: HAL 1.0 */
};

#define RANK(...) (sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
#define F(...)                                                                                 \
	{                                                                                      \
		.type = NNB_TENSOR_FLOAT32, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ } \
	}
#define I(...)                                                                               \
	{                                                                                    \
		.type = NNB_TENSOR_INT32, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ } \
	}
#define B(...)                                                                               \
	{                                                                                    \
		.type = NNB_TENSOR_BOOL8, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ } \
	}
#define BOOLS B(2, 3)
/* An INT32 scalar output. */
#define SCALAR                     \
	{                          \
		.type = NNB_INT32, \
	}
#define BIAS(s, n)                                                               \
	{                                                                        \
		.type = NNB_TENSOR_INT32, .rank = 1, .dims = { n }, .scale = (s) \
	}
#define Q(s, z, ...)                                                                                               \
	{                                                                                                          \
		.type = NNB_TENSOR_QUANT8_ASYMM, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ }, .scale = (s), \
		.zero_point = (z)                                                                                  \
	}
#define H(...)                                                                                 \
	{                                                                                      \
		.type = NNB_TENSOR_FLOAT16, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ } \
	}
#define S(s, z, ...)                                                                                        \
	{                                                                                                   \
		.type = NNB_TENSOR_QUANT8_ASYMM_SIGNED, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ }, \
		.scale = (s), .zero_point = (z)                                                             \
	}
#define SYMM(s, ...)                                                                                             \
	{                                                                                                        \
		.type = NNB_TENSOR_QUANT8_SYMM, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ }, .scale = (s) \
	}
#define W(s, ...)                                                                                                 \
	{                                                                                                         \
		.type = NNB_TENSOR_QUANT16_SYMM, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ }, .scale = (s) \
	}
/* Corners of boxes, in eighths of a pixel. */
#define A(...)                                                                                                        \
	{                                                                                                             \
		.type = NNB_TENSOR_QUANT16_ASYMM, .rank = RANK(__VA_ARGS__), .dims = { __VA_ARGS__ }, .scale = 0.125f \
	}
/* A constant quantised by channel in dimension @d, with all scales 0.5. */
#define C(d, ...)                                                     \
	{                                                             \
		CHANNELS,                                             \
			{ .type = NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL, \
			  .rank = RANK(__VA_ARGS__),                  \
			  .dims = { __VA_ARGS__ },                    \
			  .channel_dim = (d) },                       \
			{ 0 }, 0.5f                                   \
	}
#define IN(o)            \
	{                \
		GIVEN, o \
	}
#define K(o)                \
	{                   \
		CONSTANT, o \
	}
#define NONE(o)             \
	{                   \
		LEFT_OUT, o \
	}
#define LIST(o, ...)                \
	{                           \
		LISTED, o,          \
		{                   \
			__VA_ARGS__ \
		}                   \
	}
#define REALS(o, ...)                      \
	{                                  \
		LISTED_REALS, o, { 0 }, 0, \
		{                          \
			__VA_ARGS__        \
		}                          \
	}
#define N(i)                                \
	{                                   \
		INT, { .type = NNB_INT32 }, \
		{                           \
			i                   \
		}                           \
	}
#define R(f)                                             \
	{                                                \
		FLOAT, { .type = NNB_FLOAT32 }, { 0 }, f \
	}
#define RH(f)                                           \
	{                                               \
		HALF, { .type = NNB_FLOAT16 }, { 0 }, f \
	}
#define TRUE_OR(b)                           \
	{                                    \
		TRUTH, { .type = NNB_BOOL }, \
		{                            \
			b                    \
		}                            \
	}
#define OUT(...)            \
	{                   \
		__VA_ARGS__ \
	}

/* padding left, right, top, bottom; strides, filter, activation */
#define EXPLICIT_POOL N(0), N(1), N(0), N(1), N(1), N(1), N(2), N(2), N(0)
#define IMPLICIT_POOL N(NNB_PADDING_SAME), N(2), N(2), N(2), N(2), N(NNB_FUSED_RELU)
#define EXPLICIT_CONV N(1), N(1), N(1), N(1), N(1), N(1)
#define IMPLICIT_CONV N(NNB_PADDING_VALID), N(1), N(1)

/* The weights of an LSTM of 2 batches, 3 inputs, @c cells and @o outputs, without projection and peepholes. */
#define LSTM_GATES(c, o) K(F(c, 3)), K(F(c, 3)), K(F(c, 3)), K(F(c, 3)), K(F(c, o)), K(F(c, o)), K(F(c, o)), K(F(c, o))
#define LSTM_COUPLED(c, o) \
	NONE(F(0, 0)), K(F(c, 3)), K(F(c, 3)), K(F(c, 3)), NONE(F(0, 0)), K(F(c, o)), K(F(c, o)), K(F(c, o))
#define LSTM_REST(c, o) IN(F(2, o)), IN(F(2, c)), N(4), R(0), R(0)
#define LSTM_OUT(s, c, o) OUT(F(2, s), F(2, o), F(2, c), F(2, o))
#define LSTM_NO_PEEPS NONE(F(0)), NONE(F(0)), NONE(F(0))
#define LSTM_BIASES(c) K(F(c)), K(F(c)), K(F(c)), K(F(c))
#define LSTM_NO_PROJECTION NONE(F(0, 0)), NONE(F(0))
#define LSTM_NO_NORMS NONE(F(0)), NONE(F(0)), NONE(F(0)), NONE(F(0))

/* A sequence cell of 4 units: its weights; then the same with its states. */
#define SEQUENCE_CELL LSTM_GATES(4, 4), LSTM_NO_PEEPS, LSTM_BIASES(4), LSTM_NO_PROJECTION
#define SEQUENCE_STATES IN(F(2, 4)), IN(F(2, 4))
#define SEQUENCE_UNIT K(F(4, 3)), K(F(4, 4)), K(F(4)), IN(F(2, 4))

/* Four numbers of 16 bits. */
#define SIXTEENTHS(o, a, b, c, d)                        \
	{                                                \
		LISTED, o,                               \
		{                                        \
			(a) | (b) << 16, (c) | (d) << 16 \
		}                                        \
	}

/* One box, the index of its image, and its corners. */
#define ONE_BOX REALS(F(1, 4), 0, 0, 2, 2), LIST(I(1), 0)
#define ONE_QUANTISED_BOX SIXTEENTHS(A(1, 4), 0, 0, 16, 16), LIST(I(1), 0)

/* The form of each gate of QUANTIZED_16BIT_LSTM. */
#define GATE(...) Q(0.00392157f, 128, __VA_ARGS__)
#define GATE_BIAS BIAS(0.00392157f / 128, 4)

static const struct row rows[] = {
	{ "ADD of float32", NNB_ADD, { IN(F(2, 3)), IN(F(2, 3)), N(NNB_FUSED_RELU1) }, OUT(F(2, 3)) },
	{ "ADD of float32, broadcast", NNB_ADD, { IN(F(2, 1, 3)), K(F(4, 1)), N(0) }, OUT(F(2, 4, 3)) },
	{ "ADD of quant8", NNB_ADD, { IN(Q(1, 0, 4)), IN(Q(0.5f, 9, 4)), N(0) }, OUT(Q(0.25f, 200, 4)) },
	{ "AVERAGE_POOL_2D of float32, explicit",
	  NNB_AVERAGE_POOL_2D,
	  { IN(F(1, 4, 4, 2)), EXPLICIT_POOL },
	  OUT(F(1, 4, 4, 2)) },
	{ "AVERAGE_POOL_2D of float32, implicit",
	  NNB_AVERAGE_POOL_2D,
	  { IN(F(1, 4, 4, 2)), IMPLICIT_POOL },
	  OUT(F(1, 2, 2, 2)) },
	{ "AVERAGE_POOL_2D of quant8, explicit",
	  NNB_AVERAGE_POOL_2D,
	  { IN(Q(0.5f, 3, 1, 4, 4, 2)), EXPLICIT_POOL },
	  OUT(Q(0.5f, 3, 1, 4, 4, 2)) },
	{ "AVERAGE_POOL_2D of quant8, implicit",
	  NNB_AVERAGE_POOL_2D,
	  { IN(Q(0.5f, 3, 1, 4, 4, 2)), IMPLICIT_POOL },
	  OUT(Q(0.5f, 3, 1, 2, 2, 2)) },
	{ "CONCATENATION of two float32", NNB_CONCATENATION, { IN(F(2, 3)), IN(F(1, 3)), N(0) }, OUT(F(3, 3)) },
	{ "CONCATENATION of one float32", NNB_CONCATENATION, { IN(F(2, 3)), N(1) }, OUT(F(2, 3)) },
	{ "CONCATENATION of three quant8",
	  NNB_CONCATENATION,
	  { IN(Q(0.5f, 1, 2, 3)), IN(Q(0.5f, 1, 2, 1)), K(Q(0.5f, 1, 2, 2)), N(1) },
	  OUT(Q(0.5f, 1, 2, 6)) },
	{ "CONV_2D of float32, explicit",
	  NNB_CONV_2D,
	  { IN(F(1, 4, 4, 2)), K(F(3, 3, 3, 2)), K(F(3)), EXPLICIT_CONV, N(0) },
	  OUT(F(1, 4, 4, 3)) },
	{ "CONV_2D of float32, implicit",
	  NNB_CONV_2D,
	  { IN(F(1, 4, 4, 2)), IN(F(3, 3, 3, 2)), IN(F(3)), IMPLICIT_CONV, N(0) },
	  OUT(F(1, 2, 2, 3)) },
	{ "CONV_2D of quant8, explicit",
	  NNB_CONV_2D,
	  { IN(Q(0.5f, 128, 1, 4, 4, 2)), K(Q(0.25f, 120, 3, 3, 3, 2)), K(BIAS(0.125f, 3)), EXPLICIT_CONV, N(3) },
	  OUT(Q(1, 0, 1, 4, 4, 3)) },
	{ "CONV_2D of quant8, implicit",
	  NNB_CONV_2D,
	  { IN(Q(0.5f, 128, 1, 4, 4, 2)), IN(Q(0.25f, 120, 3, 3, 3, 2)), IN(BIAS(0.125f, 3)), IMPLICIT_CONV, N(0) },
	  OUT(Q(1, 0, 1, 2, 2, 3)) },
	{ "DEPTHWISE_CONV_2D of float32, explicit",
	  NNB_DEPTHWISE_CONV_2D,
	  { IN(F(1, 4, 4, 2)), K(F(1, 3, 3, 4)), K(F(4)), EXPLICIT_CONV, N(2), N(0) },
	  OUT(F(1, 4, 4, 4)) },
	{ "DEPTHWISE_CONV_2D of float32, implicit",
	  NNB_DEPTHWISE_CONV_2D,
	  { IN(F(1, 4, 4, 2)), K(F(1, 3, 3, 4)), K(F(4)), IMPLICIT_CONV, N(2), N(0) },
	  OUT(F(1, 2, 2, 4)) },
	{ "DEPTHWISE_CONV_2D of quant8, explicit",
	  NNB_DEPTHWISE_CONV_2D,
	  { IN(Q(0.5f, 128, 1, 4, 4, 2)), K(Q(0.25f, 120, 1, 3, 3, 2)), K(BIAS(0.125f, 2)), EXPLICIT_CONV, N(1), N(1) },
	  OUT(Q(1, 0, 1, 4, 4, 2)) },
	{ "DEPTHWISE_CONV_2D of quant8, implicit",
	  NNB_DEPTHWISE_CONV_2D,
	  { IN(Q(0.5f, 128, 1, 4, 4, 2)), K(Q(0.25f, 120, 1, 3, 3, 2)), K(BIAS(0.125f, 2)), IMPLICIT_CONV, N(1), N(0) },
	  OUT(Q(1, 0, 1, 2, 2, 2)) },
	{ "DEPTH_TO_SPACE of float32", NNB_DEPTH_TO_SPACE, { IN(F(1, 2, 3, 8)), N(2) }, OUT(F(1, 4, 6, 2)) },
	{ "DEPTH_TO_SPACE of quant8",
	  NNB_DEPTH_TO_SPACE,
	  { IN(Q(0.5f, 1, 1, 2, 3, 8)), N(2) },
	  OUT(Q(0.5f, 1, 1, 4, 6, 2)) },
	{ "DEQUANTIZE", NNB_DEQUANTIZE, { IN(Q(0.5f, 1, 2, 3)) }, OUT(F(2, 3)) },
	{ "EMBEDDING_LOOKUP of float32", NNB_EMBEDDING_LOOKUP, { IN(I(3)), K(F(5, 2)) }, OUT(F(3, 2)) },
	{ "EMBEDDING_LOOKUP of int32", NNB_EMBEDDING_LOOKUP, { IN(I(3)), IN(I(5, 2)) }, OUT(I(3, 2)) },
	{ "EMBEDDING_LOOKUP of quant8",
	  NNB_EMBEDDING_LOOKUP,
	  { IN(I(3)), K(Q(0.5f, 7, 5, 2)) },
	  OUT(Q(0.5f, 7, 3, 2)) },
	{ "FLOOR", NNB_FLOOR, { IN(F(2, 3)) }, OUT(F(2, 3)) },
	{ "FULLY_CONNECTED of float32",
	  NNB_FULLY_CONNECTED,
	  { IN(F(2, 1, 3)), K(F(4, 3)), K(F(4)), N(NNB_FUSED_RELU6) },
	  OUT(F(2, 4)) },
	{ "FULLY_CONNECTED of quant8",
	  NNB_FULLY_CONNECTED,
	  { IN(Q(0.5f, 128, 2, 3)), K(Q(0.25f, 120, 4, 3)), K(BIAS(0.125f, 4)), N(0) },
	  OUT(Q(1, 0, 2, 4)) },
	{ "HASHTABLE_LOOKUP of float32",
	  NNB_HASHTABLE_LOOKUP,
	  { IN(I(4)), LIST(I(3), 2, 5, 9), K(F(3, 2)) },
	  OUT(F(4, 2), Q(1, 0, 4)) },
	{ "HASHTABLE_LOOKUP of int32", NNB_HASHTABLE_LOOKUP, { IN(I(4)), IN(I(3)), IN(I(3)) }, OUT(I(4), Q(1, 0, 4)) },
	{ "HASHTABLE_LOOKUP of quant8",
	  NNB_HASHTABLE_LOOKUP,
	  { IN(I(4)), LIST(I(3), 2, 5, 9), K(Q(0.5f, 7, 3, 2)) },
	  OUT(Q(0.5f, 7, 4, 2), Q(1, 0, 4)) },
	{ "L2_NORMALIZATION", NNB_L2_NORMALIZATION, { IN(F(1, 2, 2, 3)) }, OUT(F(1, 2, 2, 3)) },
	{ "L2_POOL_2D, explicit", NNB_L2_POOL_2D, { IN(F(1, 4, 4, 2)), EXPLICIT_POOL }, OUT(F(1, 4, 4, 2)) },
	{ "L2_POOL_2D, implicit", NNB_L2_POOL_2D, { IN(F(1, 4, 4, 2)), IMPLICIT_POOL }, OUT(F(1, 2, 2, 2)) },
	{ "LOCAL_RESPONSE_NORMALIZATION",
	  NNB_LOCAL_RESPONSE_NORMALIZATION,
	  { IN(F(1, 2, 2, 6)), N(2), R(1), R(0.5f), R(0.75f) },
	  OUT(F(1, 2, 2, 6)) },
	{ "LOGISTIC of float32", NNB_LOGISTIC, { IN(F(2, 3)) }, OUT(F(2, 3)) },
	{ "LOGISTIC of quant8", NNB_LOGISTIC, { IN(Q(0.5f, 9, 2, 3)) }, OUT(Q(1.0f / 256, 0, 2, 3)) },
	{ "LSH_PROJECTION, sparse", NNB_LSH_PROJECTION, { K(F(4, 2)), IN(I(3, 2)), IN(F(3)), N(1) }, OUT(I(4)) },
	{ "LSH_PROJECTION without weight, dense",
	  NNB_LSH_PROJECTION,
	  { K(F(4, 2)), IN(F(3, 2)), NONE(F(0)), N(2) },
	  OUT(I(8)) },
	{ "LSTM",
	  NNB_LSTM,
	  { IN(F(2, 3)), LSTM_GATES(4, 4), LSTM_NO_PEEPS, LSTM_BIASES(4), LSTM_NO_PROJECTION, LSTM_REST(4, 4) },
	  LSTM_OUT(16, 4, 4) },
	{ "LSTM, CIFG and peephole",
	  NNB_LSTM,
	  { IN(F(2, 3)), LSTM_COUPLED(4, 4), NONE(F(0)), K(F(4)), K(F(4)), NONE(F(0)), K(F(4)), K(F(4)), K(F(4)),
	    LSTM_NO_PROJECTION, LSTM_REST(4, 4) },
	  LSTM_OUT(12, 4, 4) },
	{ "LSTM, projection",
	  NNB_LSTM,
	  { IN(F(2, 3)), LSTM_GATES(4, 2), LSTM_NO_PEEPS, LSTM_BIASES(4), K(F(2, 4)), K(F(2)), LSTM_REST(4, 2) },
	  LSTM_OUT(16, 4, 2) },
	{ "LSTM, projection whose bias is an input that may be omitted",
	  NNB_LSTM,
	  { IN(F(2, 3)), LSTM_GATES(4, 2), LSTM_NO_PEEPS, LSTM_BIASES(4), K(F(2, 4)), IN(F(0)), LSTM_REST(4, 2) },
	  LSTM_OUT(16, 4, 2) },
	{ "MAX_POOL_2D of float32, explicit",
	  NNB_MAX_POOL_2D,
	  { IN(F(1, 4, 4, 2)), EXPLICIT_POOL },
	  OUT(F(1, 4, 4, 2)) },
	{ "MAX_POOL_2D of float32, implicit",
	  NNB_MAX_POOL_2D,
	  { IN(F(1, 4, 4, 2)), IMPLICIT_POOL },
	  OUT(F(1, 2, 2, 2)) },
	{ "MAX_POOL_2D of quant8, explicit",
	  NNB_MAX_POOL_2D,
	  { IN(Q(0.5f, 3, 1, 4, 4, 2)), EXPLICIT_POOL },
	  OUT(Q(0.5f, 3, 1, 4, 4, 2)) },
	{ "MAX_POOL_2D of quant8, implicit",
	  NNB_MAX_POOL_2D,
	  { IN(Q(0.5f, 3, 1, 4, 4, 2)), IMPLICIT_POOL },
	  OUT(Q(0.5f, 3, 1, 2, 2, 2)) },
	{ "MUL of float32", NNB_MUL, { IN(F(2, 3)), K(F(3)), N(0) }, OUT(F(2, 3)) },
	{ "MUL of quant8", NNB_MUL, { IN(Q(0.5f, 0, 4)), IN(Q(0.5f, 9, 4)), N(0) }, OUT(Q(0.5f, 200, 4)) },
	{ "RELU of float32", NNB_RELU, { IN(F(2, 3)) }, OUT(F(2, 3)) },
	{ "RELU of quant8", NNB_RELU, { IN(Q(0.5f, 9, 2, 3)) }, OUT(Q(0.5f, 9, 2, 3)) },
	{ "RELU1 of float32", NNB_RELU1, { IN(F(2, 3)) }, OUT(F(2, 3)) },
	{ "RELU1 of quant8", NNB_RELU1, { IN(Q(0.5f, 9, 2, 3)) }, OUT(Q(0.5f, 9, 2, 3)) },
	{ "RELU6 of float32", NNB_RELU6, { IN(F(2, 3)) }, OUT(F(2, 3)) },
	{ "RELU6 of quant8", NNB_RELU6, { IN(Q(0.5f, 9, 2, 3)) }, OUT(Q(0.5f, 9, 2, 3)) },
	{ "RESHAPE of float32", NNB_RESHAPE, { IN(F(2, 3)), LIST(I(2), 3, -1) }, OUT(F(3, 2)) },
	{ "RESHAPE of float32, its shape an input", NNB_RESHAPE, { IN(F(2, 3)), IN(I(2)) }, OUT(F(3, 2)) },
	{ "RESHAPE of quant8", NNB_RESHAPE, { IN(Q(0.5f, 9, 2, 3)), LIST(I(1), 6) }, OUT(Q(0.5f, 9, 6)) },
	{ "RESIZE_BILINEAR", NNB_RESIZE_BILINEAR, { IN(F(1, 2, 2, 1)), N(3), N(4) }, OUT(F(1, 4, 3, 1)) },
	{ "RNN", NNB_RNN, { IN(F(2, 3)), K(F(4, 3)), K(F(4, 4)), K(F(4)), IN(F(2, 4)), N(1) }, OUT(F(2, 4), F(2, 4)) },
	{ "SOFTMAX of float32", NNB_SOFTMAX, { IN(F(2, 3)), R(1) }, OUT(F(2, 3)) },
	{ "SOFTMAX of quant8", NNB_SOFTMAX, { IN(Q(0.5f, 9, 1, 2, 2, 3)), R(1) }, OUT(Q(1.0f / 256, 0, 1, 2, 2, 3)) },
	{ "SPACE_TO_DEPTH of float32", NNB_SPACE_TO_DEPTH, { IN(F(1, 4, 6, 2)), N(2) }, OUT(F(1, 2, 3, 8)) },
	{ "SPACE_TO_DEPTH of quant8",
	  NNB_SPACE_TO_DEPTH,
	  { IN(Q(0.5f, 1, 1, 4, 6, 2)), N(2) },
	  OUT(Q(0.5f, 1, 1, 2, 3, 8)) },
	{ "SVDF",
	  NNB_SVDF,
	  { IN(F(2, 3)), K(F(4, 3)), K(F(4, 5)), K(F(2)), IN(F(2, 20)), N(2), N(0) },
	  OUT(F(2, 20), F(2, 2)) },
	{ "SVDF whose bias is an input",
	  NNB_SVDF,
	  { IN(F(2, 3)), K(F(4, 3)), K(F(4, 5)), IN(F(2)), IN(F(2, 20)), N(2), N(0) },
	  OUT(F(2, 20), F(2, 2)) },
	{ "SVDF without bias",
	  NNB_SVDF,
	  { IN(F(2, 3)), K(F(4, 3)), K(F(4, 5)), NONE(F(0)), IN(F(2, 20)), N(1), N(6) },
	  OUT(F(2, 20), F(2, 4)) },
	{ "TANH", NNB_TANH, { IN(F(2, 3)) }, OUT(F(2, 3)) },

	{ "ADD of float16", NNB_ADD, { IN(H(2, 3)), K(H(3)), N(0) }, OUT(H(2, 3)), NNB_HAL_1_2 },
	{ "ADD of int32", NNB_ADD, { IN(I(2, 3)), IN(I(3)), N(0) }, OUT(I(2, 3)), NNB_HAL_1_3 },
	{ "ADD of signed quant8",
	  NNB_ADD,
	  { IN(S(1, -128, 4)), IN(S(0.5f, 9, 4)), N(0) },
	  OUT(S(0.25f, 127, 4)),
	  NNB_HAL_1_3 },
	{ "AVERAGE_POOL_2D of channels that come second",
	  NNB_AVERAGE_POOL_2D,
	  { IN(F(1, 2, 4, 4)), EXPLICIT_POOL, TRUE_OR(1) },
	  OUT(F(1, 2, 4, 4)),
	  NNB_HAL_1_2 },
	{ "CONCATENATION of signed quant8, of any scales",
	  NNB_CONCATENATION,
	  { IN(S(1, 0, 2, 3)), IN(S(0.5f, 3, 1, 3)), N(0) },
	  OUT(S(0.25f, 9, 3, 3)),
	  NNB_HAL_1_3 },
	{ "CONV_2D with a dilation",
	  NNB_CONV_2D,
	  { IN(F(1, 4, 4, 2)), K(F(3, 3, 3, 2)), K(F(3)), N(2), N(2), N(2), N(2), N(1), N(1), N(1), TRUE_OR(0), N(2),
	    N(2) },
	  OUT(F(1, 4, 4, 3)),
	  NNB_HAL_1_2 },
	{ "CONV_2D by channel",
	  NNB_CONV_2D,
	  { IN(Q(0.5f, 3, 1, 4, 4, 2)), C(0, 3, 3, 3, 2), K(BIAS(0, 3)), EXPLICIT_CONV, N(1), TRUE_OR(0) },
	  OUT(Q(0.25f, 3, 1, 4, 4, 3)),
	  NNB_HAL_1_2 },
	{ "DEPTHWISE_CONV_2D by channel, signed, channels second",
	  NNB_DEPTHWISE_CONV_2D,
	  { IN(S(0.5f, 3, 1, 2, 4, 4)), C(3, 1, 2, 2, 4), K(BIAS(0, 4)), IMPLICIT_CONV, N(2), N(0), TRUE_OR(1) },
	  OUT(S(0.25f, 3, 1, 4, 3, 3)),
	  NNB_HAL_1_3 },
	{ "DIV of float32", NNB_DIV, { IN(F(2, 3)), K(F(3)), N(0) }, OUT(F(2, 3)), NNB_HAL_1_1 },
	{ "SUB of float32", NNB_SUB, { IN(F(2, 3)), K(F(3)), N(0) }, OUT(F(2, 3)), NNB_HAL_1_1 },
	{ "TRANSPOSE of float32", NNB_TRANSPOSE, { IN(F(2, 3)), LIST(I(2), 1, 0) }, OUT(F(3, 2)), NNB_HAL_1_1 },
	{ "SQUEEZE of float32", NNB_SQUEEZE, { IN(F(1, 2, 3)), LIST(I(1), 0) }, OUT(F(2, 3)), NNB_HAL_1_1 },
	{ "MEAN of float32", NNB_MEAN, { IN(F(2, 3)), LIST(I(1), 1), N(1) }, OUT(F(2, 1)), NNB_HAL_1_1 },
	{ "ABS of float32", NNB_ABS, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "EXP of float32", NNB_EXP, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "LOG of float32", NNB_LOG, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "NEG of float32", NNB_NEG, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "RSQRT of float32", NNB_RSQRT, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "SIN of float32", NNB_SIN, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "SQRT of float32", NNB_SQRT, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "MAXIMUM of float32", NNB_MAXIMUM, { IN(F(2, 3)), K(F(3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "MINIMUM of float32", NNB_MINIMUM, { IN(F(2, 3)), K(F(3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "POW of float32", NNB_POW, { IN(F(2, 3)), K(F(3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "PRELU of float32", NNB_PRELU, { IN(F(2, 3)), K(F(3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "EXPAND_DIMS of float32", NNB_EXPAND_DIMS, { IN(F(2, 3)), N(0) }, OUT(F(1, 2, 3)), NNB_HAL_1_2 },
	{ "GATHER of float32", NNB_GATHER, { IN(F(2, 3)), N(0), LIST(I(2), 1, 0) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "TILE of float32", NNB_TILE, { IN(F(2, 3)), LIST(I(2), 2, 1) }, OUT(F(4, 3)), NNB_HAL_1_2 },
	{ "SLICE of float32",
	  NNB_SLICE,
	  { IN(F(2, 3)), LIST(I(2), 0, 1), LIST(I(2), 2, 2) },
	  OUT(F(2, 2)),
	  NNB_HAL_1_2 },
	{ "HARD_SWISH of float32", NNB_HARD_SWISH, { IN(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_3 },
	{ "EQUAL of float32", NNB_EQUAL, { IN(F(2, 3)), K(F(3)) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "NOT_EQUAL of float32", NNB_NOT_EQUAL, { IN(F(2, 3)), K(F(3)) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "GREATER of float32", NNB_GREATER, { IN(F(2, 3)), K(F(3)) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "GREATER_EQUAL of float32", NNB_GREATER_EQUAL, { IN(F(2, 3)), K(F(3)) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "LESS of float32", NNB_LESS, { IN(F(2, 3)), K(F(3)) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "LESS_EQUAL of float32", NNB_LESS_EQUAL, { IN(F(2, 3)), K(F(3)) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "REDUCE_MAX of float32",
	  NNB_REDUCE_MAX,
	  { IN(F(2, 3)), LIST(I(1), 1), TRUE_OR(1) },
	  OUT(F(2, 1)),
	  NNB_HAL_1_2 },
	{ "REDUCE_MIN of float32",
	  NNB_REDUCE_MIN,
	  { IN(F(2, 3)), LIST(I(1), 1), TRUE_OR(1) },
	  OUT(F(2, 1)),
	  NNB_HAL_1_2 },
	{ "REDUCE_PROD of float32",
	  NNB_REDUCE_PROD,
	  { IN(F(2, 3)), LIST(I(1), 1), TRUE_OR(1) },
	  OUT(F(2, 1)),
	  NNB_HAL_1_2 },
	{ "REDUCE_SUM of float32",
	  NNB_REDUCE_SUM,
	  { IN(F(2, 3)), LIST(I(1), 1), TRUE_OR(1) },
	  OUT(F(2, 1)),
	  NNB_HAL_1_2 },
	{ "SELECT of float32", NNB_SELECT, { IN(BOOLS), IN(F(2, 3)), K(F(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "CHANNEL_SHUFFLE of float32", NNB_CHANNEL_SHUFFLE, { IN(F(2, 4)), N(2), N(1) }, OUT(F(2, 4)), NNB_HAL_1_2 },
	{ "LOG_SOFTMAX of float32", NNB_LOG_SOFTMAX, { IN(F(2, 3)), R(1), N(1) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "STRIDED_SLICE of float32",
	  NNB_STRIDED_SLICE,
	  { IN(F(2, 3)), LIST(I(2), 0, 0), LIST(I(2), 2, 2), LIST(I(2), 1, 1), N(0), N(0), N(0) },
	  OUT(F(2, 2)),
	  NNB_HAL_1_1 },
	{ "TOPK_V2 of float32", NNB_TOPK_V2, { IN(F(2, 3)), N(2) }, OUT(F(2, 2), I(2, 2)), NNB_HAL_1_2 },
	{ "ELU of float32", NNB_ELU, { IN(F(2, 3)), R(1) }, OUT(F(2, 3)), NNB_HAL_1_3 },
	{ "LOGICAL_AND", NNB_LOGICAL_AND, { IN(BOOLS), IN(BOOLS) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "LOGICAL_OR", NNB_LOGICAL_OR, { IN(BOOLS), IN(BOOLS) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "LOGICAL_NOT", NNB_LOGICAL_NOT, { IN(BOOLS) }, OUT(BOOLS), NNB_HAL_1_2 },
	{ "DEQUANTIZE by channel", NNB_DEQUANTIZE, { C(1, 2, 3) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "DEQUANTIZE to float16", NNB_DEQUANTIZE, { IN(SYMM(0.5f, 2, 3)) }, OUT(H(2, 3)), NNB_HAL_1_2 },
	{ "L2_NORMALIZATION along an axis",
	  NNB_L2_NORMALIZATION,
	  { IN(Q(0.5f, 9, 2, 3)), N(-2) },
	  OUT(Q(1.0f / 128, 128, 2, 3)),
	  NNB_HAL_1_2 },
	{ "LSTM of float16 with layer normalisation",
	  NNB_LSTM,
	  { IN(H(2, 3)), K(H(4, 3)), K(H(4, 3)), K(H(4, 3)), K(H(4, 3)),  K(H(4, 4)),  K(H(4, 4)),
	    K(H(4, 4)),  K(H(4, 4)), NONE(H(0)), NONE(H(0)), NONE(H(0)),  K(H(4)),     K(H(4)),
	    K(H(4)),     K(H(4)),    NONE(H(0)), NONE(H(0)), IN(H(2, 4)), IN(H(2, 4)), N(4),
	    RH(0),       RH(0),      K(H(4)),    K(H(4)),    K(H(4)),     K(H(4)) },
	  OUT(H(2, 16), H(2, 4), H(2, 4), H(2, 4)),
	  NNB_HAL_1_2 },
	{ "RESIZE_BILINEAR by factors",
	  NNB_RESIZE_BILINEAR,
	  { IN(F(1, 2, 2, 1)), R(1.5f), R(2) },
	  OUT(F(1, 4, 3, 1)),
	  NNB_HAL_1_2 },
	{ "RESIZE_BILINEAR of half pixels",
	  NNB_RESIZE_BILINEAR,
	  { IN(Q(0.5f, 9, 1, 2, 2, 1)), N(3), N(4), TRUE_OR(0), TRUE_OR(0), TRUE_OR(1) },
	  OUT(Q(0.5f, 9, 1, 4, 3, 1)),
	  NNB_HAL_1_3 },
	{ "SOFTMAX of float16 along an axis", NNB_SOFTMAX, { IN(H(2, 3)), RH(1), N(0) }, OUT(H(2, 3)), NNB_HAL_1_2 },
	/* operations of HAL 1.1 to 1.3 that are not above */
	{ "BATCH_TO_SPACE_ND",
	  NNB_BATCH_TO_SPACE_ND,
	  { IN(F(4, 1, 1, 2)), LIST(I(2), 2, 2) },
	  OUT(F(1, 2, 2, 2)),
	  NNB_HAL_1_1 },
	{ "SPACE_TO_BATCH_ND",
	  NNB_SPACE_TO_BATCH_ND,
	  { IN(F(1, 2, 2, 2)), LIST(I(2), 2, 2), LIST(I(2, 2), 0, 0, 0, 0) },
	  OUT(F(4, 1, 1, 2)),
	  NNB_HAL_1_1 },
	{ "PAD", NNB_PAD, { IN(F(2, 3)), LIST(I(2, 2), 1, 0, 0, 1) }, OUT(F(3, 4)), NNB_HAL_1_1 },
	{ "PAD_V2 of float32",
	  NNB_PAD_V2,
	  { IN(F(2, 3)), LIST(I(2, 2), 1, 0, 0, 1), R(3) },
	  OUT(F(3, 4)),
	  NNB_HAL_1_2 },
	{ "PAD_V2 of quant8",
	  NNB_PAD_V2,
	  { IN(Q(0.5f, 9, 2, 3)), LIST(I(2, 2), 1, 0, 0, 1), N(7) },
	  OUT(Q(0.5f, 9, 3, 4)),
	  NNB_HAL_1_2 },
	{ "ARGMAX", NNB_ARGMAX, { IN(F(2, 3)), N(1) }, OUT(I(2)), NNB_HAL_1_2 },
	{ "ARGMIN", NNB_ARGMIN, { IN(Q(0.5f, 9, 2, 3)), N(-2) }, OUT(I(3)), NNB_HAL_1_2 },
	{ "AXIS_ALIGNED_BBOX_TRANSFORM of float32",
	  NNB_AXIS_ALIGNED_BBOX_TRANSFORM,
	  { REALS(F(1, 4), 0, 0, 2, 2), IN(F(1, 8)), LIST(I(1), 0), REALS(F(1, 2), 8, 8) },
	  OUT(F(1, 8)),
	  NNB_HAL_1_2 },
	{ "AXIS_ALIGNED_BBOX_TRANSFORM of quant8",
	  NNB_AXIS_ALIGNED_BBOX_TRANSFORM,
	  { SIXTEENTHS(A(1, 4), 0, 0, 16, 16), IN(Q(0.0625f, 128, 1, 8)), LIST(I(1), 0),
	    SIXTEENTHS(A(1, 2), 64, 64, 0, 0) },
	  OUT(A(1, 8)),
	  NNB_HAL_1_2 },
	{ "BIDIRECTIONAL_SEQUENCE_RNN",
	  NNB_BIDIRECTIONAL_SEQUENCE_RNN,
	  { IN(F(2, 5, 3)), SEQUENCE_UNIT, SEQUENCE_UNIT, NONE(F(0, 0, 0)), NONE(F(0, 0)), NONE(F(0, 0)), N(1),
	    TRUE_OR(0), TRUE_OR(0) },
	  OUT(F(2, 5, 4), F(2, 5, 4)),
	  NNB_HAL_1_2 },
	{ "BIDIRECTIONAL_SEQUENCE_RNN, merged, with states",
	  NNB_BIDIRECTIONAL_SEQUENCE_RNN,
	  { IN(F(2, 5, 3)), SEQUENCE_UNIT, SEQUENCE_UNIT, NONE(F(0, 0, 0)), NONE(F(0, 0)), NONE(F(0, 0)), N(1),
	    TRUE_OR(0), TRUE_OR(1) },
	  OUT(F(2, 5, 8), F(2, 4), F(2, 4)),
	  NNB_HAL_1_3 },
	{ "BOX_WITH_NMS_LIMIT",
	  NNB_BOX_WITH_NMS_LIMIT,
	  { K(F(1, 3)), IN(F(1, 12)), LIST(I(1), 0), R(0.125f), N(-1), N(0), R(0.5f), R(1), R(0) },
	  OUT(F(2), F(2, 4), I(2), I(2)),
	  NNB_HAL_1_2 },
	{ "BOX_WITH_NMS_LIMIT of quant8",
	  NNB_BOX_WITH_NMS_LIMIT,
	  { K(Q(0.5f, 0, 1, 3)), IN(A(1, 12)), LIST(I(1), 0), R(0.125f), N(-1), N(0), R(0.5f), R(1), R(0) },
	  OUT(Q(0.5f, 0, 2), A(2, 4), I(2), I(2)),
	  NNB_HAL_1_2 },
	{ "CAST", NNB_CAST, { IN(I(2, 3)) }, OUT(F(2, 3)), NNB_HAL_1_2 },
	{ "CAST to its own type", NNB_CAST, { IN(SYMM(0.5f, 2, 3)) }, OUT(SYMM(0.5f, 2, 3)), NNB_HAL_1_3 },
	{ "DETECTION_POSTPROCESSING",
	  NNB_DETECTION_POSTPROCESSING,
	  { IN(F(1, 2, 3)), IN(F(1, 2, 4)), K(F(2, 4)), R(10), R(10), R(5), R(5), TRUE_OR(0), N(2), N(1), N(1), R(0.5f),
	    R(0.5f), TRUE_OR(0) },
	  OUT(F(1, 2), F(1, 2, 4), I(1, 2), I(1)),
	  NNB_HAL_1_2 },
	{ "GENERATE_PROPOSALS",
	  NNB_GENERATE_PROPOSALS,
	  { IN(F(1, 1, 1, 1)), K(F(1, 1, 1, 4)), REALS(F(1, 4), 0, 0, 2, 2), REALS(F(1, 2), 64, 64), R(1), R(1), N(1),
	    N(1), R(0.5f), R(0), TRUE_OR(0) },
	  OUT(F(1), F(1, 4), I(1)),
	  NNB_HAL_1_2 },
	{ "GENERATE_PROPOSALS of quant8",
	  NNB_GENERATE_PROPOSALS,
	  { IN(Q(0.5f, 9, 1, 1, 1, 1)), K(Q(0.5f, 0, 1, 1, 1, 4)), LIST(W(0.125f, 1, 4), 0, 16 | 16 << 16),
	    SIXTEENTHS(A(1, 2), 512, 512, 0, 0), R(1), R(1), N(1), N(1), R(0.5f), R(0), TRUE_OR(0) },
	  OUT(Q(0.5f, 9, 1), A(1, 4), I(1)),
	  NNB_HAL_1_2 },
	{ "GROUPED_CONV_2D, implicit",
	  NNB_GROUPED_CONV_2D,
	  { IN(F(1, 4, 4, 4)), K(F(2, 3, 3, 2)), K(F(2)), IMPLICIT_CONV, N(2), N(0), TRUE_OR(0) },
	  OUT(F(1, 2, 2, 2)),
	  NNB_HAL_1_2 },
	{ "GROUPED_CONV_2D by channel, explicit",
	  NNB_GROUPED_CONV_2D,
	  { IN(Q(0.5f, 3, 1, 4, 4, 4)), C(0, 2, 3, 3, 2), K(BIAS(0, 2)), EXPLICIT_CONV, N(2), N(1), TRUE_OR(0) },
	  OUT(Q(0.25f, 3, 1, 4, 4, 2)),
	  NNB_HAL_1_2 },
	{ "HEATMAP_MAX_KEYPOINT",
	  NNB_HEATMAP_MAX_KEYPOINT,
	  { IN(F(1, 4, 4, 2)), REALS(F(1, 4), 0, 0, 2, 2), TRUE_OR(0) },
	  OUT(F(1, 2), F(1, 2, 2)),
	  NNB_HAL_1_2 },
	{ "HEATMAP_MAX_KEYPOINT of quant8",
	  NNB_HEATMAP_MAX_KEYPOINT,
	  { IN(Q(0.5f, 9, 1, 4, 4, 2)), SIXTEENTHS(A(1, 4), 0, 0, 16, 16), TRUE_OR(0) },
	  OUT(Q(0.5f, 9, 1, 2), A(1, 2, 2)),
	  NNB_HAL_1_2 },
	{ "INSTANCE_NORMALIZATION",
	  NNB_INSTANCE_NORMALIZATION,
	  { IN(F(1, 2, 2, 2)), R(1), R(0), R(0.001f), TRUE_OR(0) },
	  OUT(F(1, 2, 2, 2)),
	  NNB_HAL_1_2 },
	{ "QUANTIZE", NNB_QUANTIZE, { IN(F(2, 3)) }, OUT(Q(0.5f, 9, 2, 3)), NNB_HAL_1_2 },
	{ "QUANTIZE to signed", NNB_QUANTIZE, { IN(H(2, 3)) }, OUT(S(0.5f, 9, 2, 3)), NNB_HAL_1_3 },
	{ "QUANTIZED_16BIT_LSTM",
	  NNB_QUANTIZED_16BIT_LSTM,
	  { IN(Q(0.0078125f, 128, 2, 3)), K(GATE(4, 3)), K(GATE(4, 3)), K(GATE(4, 3)), K(GATE(4, 3)), K(GATE(4, 4)),
	    K(GATE(4, 4)), K(GATE(4, 4)), K(GATE(4, 4)), K(GATE_BIAS), K(GATE_BIAS), K(GATE_BIAS), K(GATE_BIAS),
	    IN(W(1.0f / 2048, 2, 4)), IN(Q(0.0078125f, 128, 2, 4)) },
	  OUT(W(1.0f / 2048, 2, 4), Q(0.0078125f, 128, 2, 4)),
	  NNB_HAL_1_2 },
	{ "RANDOM_MULTINOMIAL",
	  NNB_RANDOM_MULTINOMIAL,
	  { IN(F(2, 3)), N(4), LIST(I(2), 1, 2) },
	  OUT(I(2, 4)),
	  NNB_HAL_1_2 },
	{ "RANK", NNB_RANK, { IN(F(2, 3)) }, OUT(SCALAR), NNB_HAL_1_3 },
	{ "REDUCE_ALL", NNB_REDUCE_ALL, { IN(BOOLS), LIST(I(1), 1), TRUE_OR(1) }, OUT(B(2, 1)), NNB_HAL_1_2 },
	{ "REDUCE_ANY", NNB_REDUCE_ANY, { IN(BOOLS), LIST(I(1), 0), TRUE_OR(0) }, OUT(B(3)), NNB_HAL_1_2 },
	{ "RESIZE_NEAREST_NEIGHBOR",
	  NNB_RESIZE_NEAREST_NEIGHBOR,
	  { IN(F(1, 2, 2, 1)), N(3), N(4), TRUE_OR(0) },
	  OUT(F(1, 4, 3, 1)),
	  NNB_HAL_1_2 },
	{ "RESIZE_NEAREST_NEIGHBOR by factors, half pixels",
	  NNB_RESIZE_NEAREST_NEIGHBOR,
	  { IN(F(1, 2, 2, 1)), R(1.5f), R(2), TRUE_OR(0), TRUE_OR(0), TRUE_OR(1) },
	  OUT(F(1, 4, 3, 1)),
	  NNB_HAL_1_3 },
	{ "ROI_ALIGN of float32",
	  NNB_ROI_ALIGN,
	  { IN(F(1, 4, 4, 2)), ONE_BOX, N(2), N(2), R(2), R(2), N(0), N(0), TRUE_OR(0) },
	  OUT(F(1, 2, 2, 2)),
	  NNB_HAL_1_2 },
	{ "ROI_ALIGN of quant8",
	  NNB_ROI_ALIGN,
	  { IN(Q(0.5f, 9, 1, 4, 4, 2)), ONE_QUANTISED_BOX, N(2), N(2), R(2), R(2), N(2), N(2), TRUE_OR(0) },
	  OUT(Q(0.25f, 9, 1, 2, 2, 2)),
	  NNB_HAL_1_2 },
	{ "ROI_POOLING of float32",
	  NNB_ROI_POOLING,
	  { IN(F(1, 4, 4, 2)), ONE_BOX, N(2), N(2), R(2), R(2), TRUE_OR(0) },
	  OUT(F(1, 2, 2, 2)),
	  NNB_HAL_1_2 },
	{ "ROI_POOLING of quant8",
	  NNB_ROI_POOLING,
	  { IN(Q(0.5f, 9, 1, 4, 4, 2)), ONE_QUANTISED_BOX, N(2), N(2), R(2), R(2), TRUE_OR(0) },
	  OUT(Q(0.5f, 9, 1, 2, 2, 2)),
	  NNB_HAL_1_2 },
	{ "SPLIT", NNB_SPLIT, { IN(F(4, 3)), N(0), N(2) }, OUT(F(2, 3), F(2, 3)), NNB_HAL_1_2 },
	{ "TRANSPOSE_CONV_2D, explicit",
	  NNB_TRANSPOSE_CONV_2D,
	  { IN(F(1, 2, 2, 2)), K(F(3, 2, 2, 2)), K(F(3)), N(0), N(0), N(0), N(0), N(2), N(2), N(0), TRUE_OR(0) },
	  OUT(F(1, 4, 4, 3)),
	  NNB_HAL_1_2 },
	{ "TRANSPOSE_CONV_2D, implicit",
	  NNB_TRANSPOSE_CONV_2D,
	  { IN(S(0.5f, 3, 1, 2, 2, 2)), K(S(0.25f, 3, 3, 2, 2, 2)), K(BIAS(0.125f, 3)), LIST(I(4), 1, 4, 4, 3),
	    N(NNB_PADDING_SAME), N(2), N(2), N(0), TRUE_OR(0) },
	  OUT(S(1, 3, 1, 4, 4, 3)),
	  NNB_HAL_1_3 },
	{ "UNIDIRECTIONAL_SEQUENCE_LSTM",
	  NNB_UNIDIRECTIONAL_SEQUENCE_LSTM,
	  { IN(F(2, 5, 3)), SEQUENCE_CELL, SEQUENCE_STATES, N(4), R(0), R(0), TRUE_OR(0), LSTM_NO_NORMS },
	  OUT(F(2, 5, 4)),
	  NNB_HAL_1_2 },
	{ "UNIDIRECTIONAL_SEQUENCE_LSTM with states",
	  NNB_UNIDIRECTIONAL_SEQUENCE_LSTM,
	  { IN(F(5, 2, 3)), SEQUENCE_CELL, SEQUENCE_STATES, N(4), R(0), R(0), TRUE_OR(1), LSTM_NO_NORMS },
	  OUT(F(5, 2, 4), F(2, 4), F(2, 4)),
	  NNB_HAL_1_3 },
	{ "UNIDIRECTIONAL_SEQUENCE_RNN",
	  NNB_UNIDIRECTIONAL_SEQUENCE_RNN,
	  { IN(F(2, 5, 3)), SEQUENCE_UNIT, N(1), N(0) },
	  OUT(F(2, 5, 4)),
	  NNB_HAL_1_2 },
	{ "UNIDIRECTIONAL_SEQUENCE_RNN with its state",
	  NNB_UNIDIRECTIONAL_SEQUENCE_RNN,
	  { IN(F(5, 2, 3)), SEQUENCE_UNIT, N(1), N(1) },
	  OUT(F(5, 2, 4), F(2, 4)),
	  NNB_HAL_1_3 },
};

/* Operations with more inputs than a row of the table. */

static const struct piece both_lstm[] = {
	IN(F(2, 5, 3)), SEQUENCE_CELL, SEQUENCE_CELL, SEQUENCE_STATES, SEQUENCE_STATES, NONE(F(0, 0, 0)), NONE(F(0, 0)),
	NONE(F(0, 0)),  NONE(F(0, 0)), NONE(F(0, 0)), NONE(F(0, 0)),   NONE(F(0, 0)),   NONE(F(0, 0)),    NONE(F(0, 0)),
	N(4),           R(0),          R(0),          TRUE_OR(0),      TRUE_OR(0),      LSTM_NO_NORMS,    LSTM_NO_NORMS,
	{ END },
};
static const struct nnb_operand both_lstm_outputs[] = { F(2, 5, 4), F(2, 5, 4), { 0 } };

#define GATES_8(...)                                                                                          \
	K(SYMM(0.0078125f, __VA_ARGS__)), K(SYMM(0.0078125f, __VA_ARGS__)), K(SYMM(0.0078125f, __VA_ARGS__)), \
		K(SYMM(0.0078125f, __VA_ARGS__))
#define NO_WEIGHTS_16 NONE(W(1, 0)), NONE(W(1, 0)), NONE(W(1, 0))
static const struct piece quantized_lstm[] = {
	IN(S(0.0078125f, 0, 2, 3)),
	GATES_8(4, 3),
	GATES_8(4, 4),
	NO_WEIGHTS_16,
	K(I(4)),
	K(I(4)),
	K(I(4)),
	K(I(4)),
	NONE(SYMM(1, 0, 0)),
	NONE(I(0)),
	IN(S(0.0078125f, 0, 2, 4)),
	IN(W(1.0f / 2048, 2, 4)),
	NO_WEIGHTS_16,
	NONE(W(1, 0)),
	R(0),
	R(0),
	R(0.01f),
	R(0.01f),
	R(0.01f),
	R(0.01f),
	N(0),
	R(0.0078125f),
	{ END },
};
static const struct nnb_operand quantized_lstm_outputs[] = {
	S(0.0078125f, 0, 2, 4), W(1.0f / 2048, 2, 4), S(0.0078125f, 0, 2, 4), { 0 }
};

/* ---- building ---- */

uint32_t sample_operand(struct nnb_model *m, const struct nnb_operand *o)
{
	int index = nnb_model_operand(m, o);

	abort_unless(index >= 0);
	return (uint32_t)index;
}

/*
 * Fill operand @index with arbitrary valid values: float32 without NaN, ascending int32.
 */
static void operand_fill(struct nnb_model *m, uint32_t index)
{
	const struct nnb_operand *o = &m->operands[index];
	uint64_t bytes;
	uint8_t *data;

	abort_unless(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) == 0 && bytes > 0);
	data = malloc(bytes);
	abort_unless(data);
	for (uint32_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)i;
	for (uint32_t i = 0; o->type == NNB_TENSOR_FLOAT32 && i < bytes / 4; i++)
		memcpy(data + 4 * i, &(float){ (float)i / 4 }, 4);
	for (uint32_t i = 0; o->type == NNB_TENSOR_INT32 && i < bytes / 4; i++)
		memcpy(data + 4 * i, &(int32_t){ (int32_t)i }, 4);
	abort_unless(nnb_model_value(m, index, data, (uint32_t)bytes) == 0);
	free(data);
}

/* @values: the numbers of a piece, four bytes each. */
static void add_list(struct nnb_model *m, uint32_t index, const void *values)
{
	const struct nnb_operand *o = &m->operands[index];
	uint64_t bytes;

	abort_unless(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) == 0 && bytes > 0 && bytes <= 16);
	abort_unless(nnb_model_value(m, index, values, (uint32_t)bytes) == 0);
}

static uint32_t add_piece(struct nnb_model *m, const struct piece *p)
{
	struct nnb_operand o = p->operand;
	uint32_t index;

	if (p->role == LEFT_OUT)
		o.lifetime = NNB_NO_VALUE;
	index = sample_operand(m, &o);
	if (p->role == CONSTANT)
		operand_fill(m, index);
	if (p->role == LISTED)
		add_list(m, index, p->ints);
	if (p->role == LISTED_REALS)
		add_list(m, index, p->reals);
	if (p->role == INT)
		abort_unless(nnb_model_value(m, index, p->ints, 4) == 0);
	if (p->role == FLOAT)
		abort_unless(nnb_model_value(m, index, &p->number, 4) == 0);
	if (p->role == HALF)
		abort_unless(nnb_model_value(m, index, &(uint16_t){ nnb_float_to_half(p->number) }, 2) == 0);
	if (p->role == TRUTH)
		abort_unless(nnb_model_value(m, index, &(uint8_t){ (uint8_t)p->ints[0] }, 1) == 0);
	if (p->role == CHANNELS) {
		/* A constant with one scale for each of its channels. */
		uint32_t dim = m->operands[index].channel_dim, n = m->operands[index].dims[dim];
		float scales[8];

		abort_unless(n <= N_OF(scales));
		for (uint32_t i = 0; i < n; i++)
			scales[i] = p->number;
		abort_unless(nnb_model_channels(m, index, dim, scales, n) == 0);
		operand_fill(m, index);
	}
	return index;
}

/*
 * Build a model of one operation. @pieces ends with a piece of role END, @outputs with an entry without rank and type.
 */
static void build_one(struct nnb_model *m, enum nnb_op op, const struct piece *pieces, const struct nnb_operand *outs)
{
	uint32_t inputs[INPUTS_MAX], outputs[INPUTS_MAX], given[INPUTS_MAX];
	uint32_t n_inputs = 0, n_outputs = 0, n_given = 0;

	for (const struct piece *p = pieces; p->role != END; p++) {
		abort_unless(n_inputs < INPUTS_MAX);
		inputs[n_inputs] = add_piece(m, p);
		if (p->role == GIVEN)
			given[n_given++] = inputs[n_inputs];
		n_inputs++;
	}
	for (const struct nnb_operand *o = outs; o->rank || o->type; o++) {
		abort_unless(n_outputs < INPUTS_MAX);
		outputs[n_outputs++] = sample_operand(m, o);
	}
	abort_unless(nnb_model_operation(m, op, inputs, n_inputs, outputs, n_outputs) >= 0);
	abort_unless(nnb_model_finish(m, given, n_given, outputs, n_outputs) == 0);
}

static void build_both_lstm(struct nnb_model *m)
{
	build_one(m, NNB_BIDIRECTIONAL_SEQUENCE_LSTM, both_lstm, both_lstm_outputs);
}

static void build_quantized_lstm(struct nnb_model *m)
{
	build_one(m, NNB_QUANTIZED_LSTM, quantized_lstm, quantized_lstm_outputs);
}

/* ---- graphs ---- */

#define ADD(m, ...) sample_operand(m, &(struct nnb_operand)__VA_ARGS__)
#define OP(m, op, out, ...) \
	operation_add(m, op, (const uint32_t[]){ __VA_ARGS__ }, RANK(__VA_ARGS__), (const uint32_t[]){ out })

static void operation_add(struct nnb_model *m, enum nnb_op op, const uint32_t *inputs, size_t n, const uint32_t *output)
{
	abort_unless(nnb_model_operation(m, op, inputs, (uint32_t)n, output, 1) >= 0);
}

static uint32_t int_constant(struct nnb_model *m, int32_t value)
{
	return add_piece(m, &(struct piece)N(value));
}

static uint32_t constant_fill(struct nnb_model *m, uint32_t index)
{
	operand_fill(m, index);
	return index;
}

/*
 * A diamond: an operand with two uses in one operation, one with two readers, a model output that an operation reads, a
 * constant with two uses.
 */
static void build_graph(struct nnb_model *m)
{
	uint32_t x = ADD(m, F(2, 3)), c = constant_fill(m, ADD(m, F(2, 3))), none = int_constant(m, 0);
	uint32_t a = ADD(m, F(2, 3)), b = ADD(m, F(2, 3)), twice = ADD(m, F(2, 3)), y = ADD(m, F(2, 3)),
		 z = ADD(m, F(2, 3));

	OP(m, NNB_ADD, a, x, c, none);
	OP(m, NNB_MUL, b, a, c, none);
	OP(m, NNB_ADD, twice, a, a, none);
	OP(m, NNB_ADD, y, b, twice, none);
	OP(m, NNB_TANH, z, y);
	abort_unless(nnb_model_finish(m, &x, 1, (uint32_t[]){ z, y }, 2) == 0);
}

/* A constant of 128 bytes stays in the model, a larger one, here of 256 bytes, does not (P-1). */
static void build_constants(struct nnb_model *m)
{
	uint32_t x = ADD(m, F(8, 4)), none = int_constant(m, 0), y = ADD(m, F(8, 4));
	uint32_t copied = constant_fill(m, ADD(m, F(8, 4))), referred = constant_fill(m, ADD(m, F(2, 8, 4)));
	uint32_t more = constant_fill(m, ADD(m, F(2, 8, 4))), z = ADD(m, F(2, 8, 4)), w = ADD(m, F(2, 8, 4));

	OP(m, NNB_ADD, y, x, copied, none);
	OP(m, NNB_MUL, z, y, referred, none);
	OP(m, NNB_MUL, w, z, more, none);
	abort_unless(nnb_model_finish(m, &x, 1, &w, 1) == 0);
	abort_unless(m->n_pools == 1 && m->operands[copied].lifetime == NNB_CONSTANT_COPY);
	abort_unless(m->operands[referred].lifetime == NNB_CONSTANT_REFERENCE);
}

/* Constants in two pools of the caller: one in ashmem, one in the second page of a file. */
static void build_pools(struct nnb_model *m)
{
	uint32_t x = ADD(m, F(4)), none = int_constant(m, 0), c = ADD(m, F(4)), d = ADD(m, F(4)), y = ADD(m, F(4)),
		 z = ADD(m, F(4));
	int fd = memfd_create("constants", MFD_CLOEXEC);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct nnb_memory pool;

	abort_unless(fd >= 0 && ftruncate(fd, (off_t)(2 * page)) == 0);
	abort_unless(nnb_memory_ashmem(&pool, 64) == 0 && nnb_model_pool(m, &pool) == 0);
	nnb_memory_close(&pool);
	abort_unless(nnb_memory_mmap_fd(&pool, fd, page, PROT_READ, page) == 0 && nnb_model_pool(m, &pool) == 1);
	nnb_memory_close(&pool);
	close(fd);
	abort_unless(nnb_model_reference(m, c, 0, 48, 16) == 0 && nnb_model_reference(m, d, 1, 0, 16) == 0);
	OP(m, NNB_ADD, y, x, c, none);
	OP(m, NNB_MUL, z, y, d, none);
	abort_unless(nnb_model_finish(m, &x, 1, &z, 1) == 0);
}

/* A small quant8 network with a float32 output. */
static void build_network(struct nnb_model *m)
{
	uint32_t x = ADD(m, Q(0.5f, 128, 1, 4, 4, 2)), filter = constant_fill(m, ADD(m, Q(0.25f, 120, 3, 3, 3, 2)));
	uint32_t bias = constant_fill(m, ADD(m, BIAS(0.125f, 3))), same = int_constant(m, NNB_PADDING_SAME);
	uint32_t one = int_constant(m, 1), two = int_constant(m, 2), none = int_constant(m, 0);
	uint32_t conv = ADD(m, Q(1, 0, 1, 4, 4, 3)), pool = ADD(m, Q(1, 0, 1, 2, 2, 3)), flat = ADD(m, Q(1, 0, 2, 6));
	uint32_t shape = add_piece(m, &(struct piece)LIST(I(2), 2, 6)), y = ADD(m, F(2, 6));

	OP(m, NNB_CONV_2D, conv, x, filter, bias, same, one, one, one);
	OP(m, NNB_MAX_POOL_2D, pool, conv, same, two, two, two, two, none);
	OP(m, NNB_RESHAPE, flat, pool, shape);
	OP(m, NNB_DEQUANTIZE, y, flat);
	abort_unless(nnb_model_finish(m, &x, 1, &y, 1) == 0);
}

/* FILL with another operation: alone it would have no input, or an input that decides the size of its output. */
static void build_fill(struct nnb_model *m)
{
	uint32_t shape = add_piece(m, &(struct piece)LIST(I(2), 2, 3)), one = add_piece(m, &(struct piece)R(1));
	uint32_t x = ADD(m, F(2, 3)), ones = ADD(m, F(2, 3)), y = ADD(m, F(2, 3)), none = int_constant(m, 0);

	OP(m, NNB_FILL, ones, shape, one);
	OP(m, NNB_ADD, y, x, ones, none);
	abort_unless(nnb_model_finish(m, &x, 1, &y, 1) == 0);
}

/* ---- control flow ---- */

/* Add a subgraph with one input x {2, 3}, one operation, and one output of the same shape. */
static void refer_to(struct nnb_model *m, enum nnb_op op)
{
	struct nnb_model *graph;
	uint32_t x, y;

	abort_unless(nnb_model_new(&graph, nnb_op_name(op), NNB_HAL_1_3) == 0);
	x = ADD(graph, F(2, 3));
	y = ADD(graph, F(2, 3));
	OP(graph, op, y, x);
	abort_unless(nnb_model_finish(graph, &x, 1, &y, 1) == 0);
	abort_unless(nnb_model_refer(m, graph) >= 0);
	nnb_model_free(graph);
}

/* The loop's condition: i < 3, with inputs i and x. */
static void refer_to_condition(struct nnb_model *m)
{
	struct nnb_model *graph;
	uint32_t i, x, three, less;

	abort_unless(nnb_model_new(&graph, "condition", NNB_HAL_1_3) == 0);
	i = ADD(graph, I(1));
	x = ADD(graph, F(2, 3));
	three = add_piece(graph, &(struct piece)LIST(I(1), 3));
	less = ADD(graph, B(1));
	OP(graph, NNB_LESS, less, i, three);
	abort_unless(nnb_model_finish(graph, (uint32_t[]){ i, x }, 2, &less, 1) == 0);
	abort_unless(nnb_model_refer(m, graph) >= 0);
	nnb_model_free(graph);
}

/* The loop's body: i + 1 and tanh x. */
static void refer_to_body(struct nnb_model *m)
{
	struct nnb_model *graph;
	uint32_t i, x, one, none, more, y;

	abort_unless(nnb_model_new(&graph, "body", NNB_HAL_1_3) == 0);
	i = ADD(graph, I(1));
	x = ADD(graph, F(2, 3));
	one = add_piece(graph, &(struct piece)LIST(I(1), 1));
	none = int_constant(graph, 0);
	more = ADD(graph, I(1));
	y = ADD(graph, F(2, 3));
	OP(graph, NNB_ADD, more, i, one, none);
	OP(graph, NNB_TANH, y, x);
	abort_unless(nnb_model_finish(graph, (uint32_t[]){ i, x }, 2, (uint32_t[]){ more, y }, 2) == 0);
	abort_unless(nnb_model_refer(m, graph) >= 0);
	nnb_model_free(graph);
}

static uint32_t subgraph_add(struct nnb_model *m, uint32_t referenced)
{
	uint32_t index = ADD(m, { .type = NNB_SUBGRAPH });

	abort_unless(nnb_model_subgraph(m, index, referenced) == 0);
	return index;
}

static void build_if(struct nnb_model *m)
{
	uint32_t condition = ADD(m, B(1)), then = subgraph_add(m, 0), otherwise = subgraph_add(m, 1);
	uint32_t x = ADD(m, F(2, 3)), y = ADD(m, F(2, 3));

	refer_to(m, NNB_RELU);
	refer_to(m, NNB_TANH);
	OP(m, NNB_IF, y, condition, then, otherwise, x);
	abort_unless(nnb_model_finish(m, (uint32_t[]){ condition, x }, 2, &y, 1) == 0);
}

/* The number of iterations does not depend on the inputs. */
static void build_while(struct nnb_model *m)
{
	uint32_t condition = subgraph_add(m, 0), body = subgraph_add(m, 1),
		 i = add_piece(m, &(struct piece)LIST(I(1), 0));
	uint32_t x = ADD(m, F(2, 3)), n = ADD(m, I(1)), y = ADD(m, F(2, 3));

	refer_to_condition(m);
	refer_to_body(m);
	abort_unless(nnb_model_operation(m, NNB_WHILE, (uint32_t[]){ condition, body, i, x }, 4, (uint32_t[]){ n, y },
	                                 2) >= 0);
	abort_unless(nnb_model_finish(m, &x, 1, (uint32_t[]){ n, y }, 2) == 0);
}

static const struct graph {
	const char *name;
	void (*build)(struct nnb_model *m);
	enum nnb_hal hal; /* 0: 1.0 */
} graphs[] = {
	{ "a diamond of operations with two outputs", build_graph },
	{ "constants by copy and by reference", build_constants },
	{ "constants in an ashmem and an mmap_fd pool", build_pools },
	{ "a small network", build_network },
	{ "BIDIRECTIONAL_SEQUENCE_LSTM", build_both_lstm, NNB_HAL_1_2 },
	{ "QUANTIZED_LSTM", build_quantized_lstm, NNB_HAL_1_3 },
	{ "FILL", build_fill, NNB_HAL_1_3 },
	{ "IF", build_if, NNB_HAL_1_3 },
	{ "WHILE", build_while, NNB_HAL_1_3 },
};

/* ---- all samples ---- */

size_t sample_count(void)
{
	return N_OF(rows) + N_OF(graphs);
}

const char *sample_name(size_t i)
{
	return i < N_OF(rows) ? rows[i].name : graphs[i - N_OF(rows)].name;
}

struct nnb_model *sample_new(size_t i)
{
	const struct row *row = i < N_OF(rows) ? &rows[i] : NULL;
	const struct graph *graph = row ? NULL : &graphs[i - N_OF(rows)];
	enum nnb_hal hal = row ? row->hal : graph->hal;
	struct nnb_model *m;

	abort_unless(nnb_model_new(&m, sample_name(i), hal ? hal : NNB_HAL_1_0) == 0);
	if (row)
		build_one(m, row->op, row->inputs, row->outputs);
	else
		graph->build(m);
	return m;
}

struct nnb_model *sample_named(const char *name)
{
	for (size_t i = 0; i < sample_count(); i++)
		if (strcmp(sample_name(i), name) == 0)
			return sample_new(i);
	abort();
}

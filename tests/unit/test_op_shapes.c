/*
 * test_op_shapes.c -- the shape that each operation gives, and which inputs and parameters do not go together
 * (7.5, 7.6).
 *
 * A row is written as text. Inputs: F, Q, I and dimensions are tensors of the request, T a quant8 one of
 * 128ths around 128, i, f and B a scalar constant, L a constant list, - a float32 tensor that is left out.
 * Outputs: letter and dimensions of each; the model leaves the dimensions open, and the null driver's
 * execution reports them. Or the words of the refusal.
 *
 * A pattern is a row that is accepted, and then spoilt: each extent of each tensor grown by one, each rank by
 * a 1 in front or one less. All of these are refused, except those that the pattern lists as free.
 */
#include "unit/device_helpers.h"

struct row {
	const char *name;
	enum nnb_op op;
	const char *inputs;
	const char *outputs; /* NULL: those of float32 */
	const char *why;     /* NULL: accepted */
	enum nnb_hal hal;    /* 0: 1.2 */
};

static const struct row rows[] = {
	{ "O-32: equal dimensions", NNB_ADD, "F2,3 F2,3 i0", "F2,3" },
	{ "O-32: a missing leading dimension is 1", NNB_ADD, "F3 F2,3 i0", "F2,3" },
	{ "O-32: both ways at once", NNB_MUL, "F4,1,3 F2,1 i0", "F4,2,3" },
	{ "O-32: 2 and 3 do not broadcast", NNB_ADD, "F2 F3 i0", NULL, "2 and 3 do not broadcast" },
	{ "O-32: rank 5 is too much", NNB_ADD, "F1,1,1,1,2 F2 i0", NULL, "input 0 has rank 5" },
	{ "O-33: activation 4 is none", NNB_ADD, "F2 F2 i4", NULL, "4 is no fused activation" },
	{ "O-33: activation -1 is none", NNB_MUL, "F2 F2 i-1", NULL, "-1 is no fused activation" },

	/* left, right, top, bottom, stride w, stride h, filter w, filter h */
	{ "O-30: a pool with explicit padding", NNB_AVERAGE_POOL_2D, "F1,5,6,2 i1 i0 i0 i1 i2 i1 i3 i2 i0",
	  "F1,5,3,2" },
	{ "O-30: what is left over is left out", NNB_MAX_POOL_2D, "F1,7,8,1 i0 i0 i0 i0 i3 i2 i2 i2 i0", "F1,3,3,1" },
	{ "O-31: SAME is extent by stride, rounded up", NNB_MAX_POOL_2D, "F2,7,8,3 i1 i3 i2 i5 i4 i0", "F2,4,3,3" },
	{ "O-31: VALID pads nothing", NNB_L2_POOL_2D, "F1,7,8,1 i2 i3 i2 i2 i2 i0", "F1,3,3,1" },
	{ "a filter as large as the input", NNB_AVERAGE_POOL_2D, "F1,4,5,1 i2 i1 i1 i5 i4 i0", "F1,1,1,1" },
	{ "a filter larger than the input", NNB_AVERAGE_POOL_2D, "F1,4,5,1 i2 i1 i1 i6 i4 i0", NULL,
	  "larger than the" },
	{ "stride 0", NNB_MAX_POOL_2D, "F1,4,4,1 i1 i0 i1 i2 i2 i0", NULL, "a stride is not above 0" },
	{ "filter 0", NNB_MAX_POOL_2D, "F1,4,4,1 i1 i1 i1 i2 i0 i0", NULL, "a filter is not above 0" },
	{ "padding below 0", NNB_MAX_POOL_2D, "F1,4,4,1 i0 i0 i-1 i0 i1 i1 i2 i2 i0", NULL, "below 0" },
	{ "a pool's padding as large as its filter", NNB_MAX_POOL_2D, "F1,4,4,1 i0 i2 i0 i0 i1 i1 i2 i2 i0", NULL,
	  "smaller" },
	{ "padding scheme 0", NNB_L2_POOL_2D, "F1,4,4,1 i0 i1 i1 i2 i2 i0", NULL, "neither SAME nor VALID" },
	{ "padding scheme 3", NNB_L2_POOL_2D, "F1,4,4,1 i3 i1 i1 i2 i2 i0", NULL, "neither SAME nor VALID" },
	{ "a pool of rank 3", NNB_MAX_POOL_2D, "F4,4,1 i1 i1 i1 i2 i2 i0", NULL, "input 0 has rank 3" },
	{ "a pool's activation", NNB_MAX_POOL_2D, "F1,4,4,1 i1 i1 i1 i2 i2 i9", NULL, "no such fused activation" },

	{ "a convolution with explicit padding", NNB_CONV_2D, "F1,5,6,2 F3,2,3,2 F3 i1 i0 i0 i1 i2 i1 i0", "F1,5,3,3" },
	{ "a convolution, SAME", NNB_CONV_2D, "F2,5,6,2 F4,3,3,2 F4 i1 i2 i3 i0", "F2,2,3,4" },
	{ "a convolution, VALID", NNB_CONV_2D, "F2,5,6,2 F4,3,3,2 F4 i2 i1 i2 i0", "F2,2,4,4" },
	{ "a filter for other channels", NNB_CONV_2D, "F1,5,6,2 F3,2,3,1 F3 i1 i1 i1 i0", NULL, "for 1 channels" },
	{ "a bias of another length", NNB_CONV_2D, "F1,5,6,2 F3,2,3,2 F2 i1 i1 i1 i0", NULL, "input 2" },
	{ "a huge padding", NNB_CONV_2D, "F1,1,1,1 F1,1,1,1 F1 i2147483647 i2147483647 i0 i0 i1 i1 i0", NULL,
	  "larger than 4 GiB" },
	{ "a grouped convolution", NNB_GROUPED_CONV_2D, "F1,6,1,2 F2,1,1,1 F2 i0 i0 i1 i1 i1 i1 i2 i0 B0", "F1,8,1,2" },
	{ "a grouped convolution with a huge padding", NNB_GROUPED_CONV_2D,
	  "F1,6,1,2 F2,1,1,1 F2 i0 i0 i2147483647 i2147483647 i1 i1 i2 i0 B0", NULL, "would have 4294967300 rows" },
	{ "a transposed convolution that is all padding", NNB_TRANSPOSE_CONV_2D,
	  "F1,8193,1,1 F1,1,1,1 F1 L1,1,1,1 i1 i1 i1048576 i0 B0", NULL, "the padding would be 8589934592 rows" },
	{ "a depthwise convolution", NNB_DEPTHWISE_CONV_2D, "F1,5,6,2 F1,2,2,6 F6 i2 i1 i1 i3 i0", "F1,4,5,6" },
	{ "a depthwise one, explicit", NNB_DEPTHWISE_CONV_2D, "F1,3,3,2 F1,2,2,2 F2 i0 i1 i0 i1 i1 i1 i1 i0",
	  "F1,3,3,2" },
	{ "a multiplier that is another", NNB_DEPTHWISE_CONV_2D, "F1,5,6,2 F1,2,2,6 F6 i2 i1 i1 i2 i0", NULL,
	  "times 2" },
	{ "a multiplier of 0", NNB_DEPTHWISE_CONV_2D, "F1,5,6,2 F1,2,2,6 F6 i2 i1 i1 i0 i0", NULL,
	  "multiplier is not" },
	{ "a depthwise filter of two", NNB_DEPTHWISE_CONV_2D, "F1,5,6,2 F2,2,2,2 F2 i2 i1 i1 i1 i0", NULL, "is not 1" },

	{ "rows of a fully connected layer", NNB_FULLY_CONNECTED, "F4,1,5,1 F3,10 F3 i0", "F2,3" },
	{ "rows that do not divide", NNB_FULLY_CONNECTED, "F4,5 F3,8 F3 i0", NULL, "rows of 8" },
	{ "a fully connected layer of rank 1", NNB_FULLY_CONNECTED, "F4 F3,4 F3 i0", NULL, "input 0 has rank 1" },
	{ "its activation", NNB_FULLY_CONNECTED, "F1,4 F3,4 F3 i7", NULL, "7 is no fused" },

	{ "CONCATENATION along the last axis", NNB_CONCATENATION, "F2,3 F2,5 F2,1 i1", "F2,9" },
	{ "along the first", NNB_CONCATENATION, "F2,3 F4,3 i0", "F6,3" },
	{ "along one counted from the end", NNB_CONCATENATION, "F2,3 F2,5 i-1", "F2,8" },
	{ "which HAL 1.0 has not", NNB_CONCATENATION, "F2,3 F2,5 i-1", NULL, "no axis -1", NNB_HAL_1_0 },
	{ "an axis beyond the rank", NNB_CONCATENATION, "F2,3 F2,5 i2", NULL, "no axis 2" },
	{ "other extents that differ", NNB_CONCATENATION, "F2,3 F3,5 i1", NULL, "input 1 has another extent" },
	{ "ranks that differ", NNB_CONCATENATION, "F2,3 F2 i0", NULL, "input 1 has another rank" },

	{ "RESHAPE", NNB_RESHAPE, "F2,3,4 L4,6", "F4,6" },
	{ "RESHAPE with one to find", NNB_RESHAPE, "F2,3,4 L-1,6", "F4,6" },
	{ "with two to find", NNB_RESHAPE, "F2,3,4 L-1,-1", NULL, "dimension 1 of the new shape is -1" },
	{ "to another count", NNB_RESHAPE, "F2,3,4 L5,5", NULL, "24 elements do not become 25" },
	{ "to what does not divide", NNB_RESHAPE, "F2,3,4 L-1,7", NULL, "do not divide by 7" },
	{ "to 0", NNB_RESHAPE, "F2,3 L0,6", NULL, "dimension 0 of the new shape is 0" },

	{ "DEPTH_TO_SPACE", NNB_DEPTH_TO_SPACE, "F1,2,3,12 i2", "F1,4,6,3" },
	{ "channels that do not divide", NNB_DEPTH_TO_SPACE, "F1,2,3,6 i2", NULL, "6 channels do not divide" },
	{ "block 0", NNB_DEPTH_TO_SPACE, "F1,2,3,4 i0", NULL, "block 0" },
	{ "a block whose square is huge", NNB_DEPTH_TO_SPACE, "F1,2,3,4 i65536", NULL, "block 65536" },
	{ "SPACE_TO_DEPTH", NNB_SPACE_TO_DEPTH, "F1,4,6,3 i2", "F1,2,3,12" },
	{ "an image that does not divide", NNB_SPACE_TO_DEPTH, "F1,4,5,3 i2", NULL, "4 by 5 do not divide" },
	{ "block -2", NNB_SPACE_TO_DEPTH, "F1,4,4,3 i-2", NULL, "block -2" },

	{ "RESIZE_BILINEAR to width, then height", NNB_RESIZE_BILINEAR, "F1,2,2,3 i5 i7", "F1,7,5,3" },
	{ "to width 0", NNB_RESIZE_BILINEAR, "F1,2,2,3 i0 i7", NULL, "0 by 7" },

	{ "EMBEDDING_LOOKUP", NNB_EMBEDDING_LOOKUP, "I7 F4,2,3", "F7,2,3" },
	{ "of values of rank 1", NNB_EMBEDDING_LOOKUP, "I7 F4", NULL, "input 1 has rank 1" },
	{ "HASHTABLE_LOOKUP", NNB_HASHTABLE_LOOKUP, "I7 I4 F4,2", "F7,2 Q7" },
	{ "keys of another number", NNB_HASHTABLE_LOOKUP, "I7 I3 F4,2", NULL, "input 1" },
	{ "LSH_PROJECTION, sparse", NNB_LSH_PROJECTION, "F4,2 I3,5 F3 i1", "I4" },
	{ "dense, without a weight", NNB_LSH_PROJECTION, "F4,2 I3,5 - i2", "I8" },
	{ "HAL 1.2's sparse", NNB_LSH_PROJECTION, "F4,2 I3,5 F3 i3", "I4" },
	{ "which HAL 1.0 has not", NNB_LSH_PROJECTION, "F4,2 I3,5 F3 i3", NULL, "no type 3", NNB_HAL_1_0 },
	{ "a weight of another length", NNB_LSH_PROJECTION, "F4,2 I3,5 F2 i1", NULL, "input 2" },
	{ "a hash of 33 bits", NNB_LSH_PROJECTION, "F4,33 I3,5 F3 i1", NULL, "33 bits" },

	{ "SOFTMAX of rank 2", NNB_SOFTMAX, "F2,3 f1", "F2,3" },
	{ "SOFTMAX of rank 3 in HAL 1.0", NNB_SOFTMAX, "F2,3,4 f1", NULL, "neither 2 nor 4", NNB_HAL_1_0 },
	{ "beta 0", NNB_SOFTMAX, "F2,3 f0", NULL, "beta is not above 0" },
	{ "LOCAL_RESPONSE_NORMALIZATION", NNB_LOCAL_RESPONSE_NORMALIZATION, "F1,2,2,6 i2 f1 f1 f1", "F1,2,2,6" },
	{ "radius -1", NNB_LOCAL_RESPONSE_NORMALIZATION, "F1,2,2,6 i-1 f1 f1 f1", NULL, "radius" },
	{ "L2_NORMALIZATION of rank 2 in HAL 1.0", NNB_L2_NORMALIZATION, "F2,3", NULL, "input 0 has rank 2",
	  NNB_HAL_1_0 },
	{ "DEQUANTIZE", NNB_DEQUANTIZE, "Q2,3", "F2,3" },

	{ "RNN", NNB_RNN, "F2,3 F5,3 F5,5 F5 F2,5 i4", "F2,5 F2,5" },
	{ "a hidden state of another batch", NNB_RNN, "F2,3 F5,3 F5,5 F5 F1,5 i4", NULL, "input 4" },
	{ "an activation there is not", NNB_RNN, "F2,3 F5,3 F5,5 F5 F2,5 i5", NULL, "5 is no activation" },
	{ "SVDF", NNB_SVDF, "F2,3 F8,3 F8,10 F4 F2,80 i2 i0", "F2,80 F2,4" },
	{ "SVDF without bias", NNB_SVDF, "F2,3 F8,3 F8,10 - F2,80 i2 i0", "F2,80 F2,4" },
	{ "a rank that does not divide", NNB_SVDF, "F2,3 F8,3 F8,10 - F2,80 i3 i0", NULL, "by rank 3" },
	{ "a state of another size", NNB_SVDF, "F2,3 F8,3 F8,10 - F2,79 i2 i0", NULL, "state" },

	{ "LSTM", NNB_LSTM, "F2,3 F4,3 F4,3 F4,3 F4,3 F4,4 F4,4 F4,4 F4,4 - - - F4 F4 F4 F4 - - F2,4 F2,4 i4 f0 f0",
	  "F2,16 F2,4 F2,4 F2,4" },
	{ "LSTM, coupled, with peephole and projection", NNB_LSTM,
	  "F2,3 - F4,3 F4,3 F4,3 - F4,5 F4,5 F4,5 - F4 F4 - F4 F4 F4 F5,4 F5 F2,5 F2,4 i4 f0 f0",
	  "F2,12 F2,5 F2,4 F2,5" },
	{ "half of the input gate", NNB_LSTM,
	  "F2,3 - F4,3 F4,3 F4,3 F4,4 F4,4 F4,4 F4,4 - - - F4 F4 F4 F4 - - F2,4 F2,4 i4 f0 f0", NULL, "input gate" },
	{ "half of the peepholes", NNB_LSTM,
	  "F2,3 F4,3 F4,3 F4,3 F4,3 F4,4 F4,4 F4,4 F4,4 - F4 F4 F4 F4 F4 F4 - - F2,4 F2,4 i4 f0 f0", NULL, "peephole" },
	{ "LSTM with RELU1", NNB_LSTM,
	  "F2,3 F4,3 F4,3 F4,3 F4,3 F4,4 F4,4 F4,4 F4,4 - - - F4 F4 F4 F4 - - F2,4 F2,4 i2 f0 f0", NULL,
	  "2 is no activation" },
	{ "the input gate without its recurrent weights", NNB_LSTM,
	  "F2,3 F4,3 F4,3 F4,3 F4,3 - F4,4 F4,4 F4,4 - - - F4 F4 F4 F4 - - F2,4 F2,4 i4 f0 f0", NULL, "input gate" },
	{ "the input gate without its bias", NNB_LSTM,
	  "F2,3 F4,3 F4,3 F4,3 F4,3 F4,4 F4,4 F4,4 F4,4 - - - - F4 F4 F4 - - F2,4 F2,4 i4 f0 f0", NULL, "input gate" },
	{ "a coupled gate that is peeped into", NNB_LSTM,
	  "F2,3 - F4,3 F4,3 F4,3 - F4,4 F4,4 F4,4 F4 F4 F4 - F4 F4 F4 - - F2,4 F2,4 i4 f0 f0", NULL, "peephole" },
	{ "as many cells as outputs, or a projection", NNB_LSTM,
	  "F2,3 F4,3 F4,3 F4,3 F4,3 F4,5 F4,5 F4,5 F4,5 - - - F4 F4 F4 F4 - - F2,5 F2,4 i4 f0 f0", NULL,
	  "the weights of the projection" },
	{ "LSTM with sigmoid", NNB_LSTM,
	  "F2,3 F4,3 F4,3 F4,3 F4,3 F4,4 F4,4 F4,4 F4,4 - - - F4 F4 F4 F4 - - F2,4 F2,4 i6 f0 f0",
	  "F2,16 F2,4 F2,4 F2,4" },
	{ "RNN with RELU1", NNB_RNN, "F2,3 F5,3 F5,5 F5 F2,5 i2", "F2,5 F2,5" },
	{ "RNN with activation -1", NNB_RNN, "F2,3 F5,3 F5,5 F5 F2,5 i-1", NULL, "-1 is no activation" },
	{ "RNN with activation 7", NNB_RNN, "F2,3 F5,3 F5,5 F5 F2,5 i7", NULL, "7 is no activation" },
	{ "SVDF of rank 0", NNB_SVDF, "F2,3 F8,3 F8,10 - F2,80 i0 i0", NULL, "by rank 0" },
	{ "SVDF with activation 5", NNB_SVDF, "F2,3 F8,3 F8,10 F4 F2,80 i2 i5", NULL, "5 is no activation" },

	{ "TANH of quant8 gives 128ths", NNB_TANH, "Q2,3", "T2,3" },
	{ "and no others", NNB_TANH, "Q2,3", "Q", "quantised by" },
	{ "and not before HAL 1.2", NNB_TANH, "Q2,3", "T", "1.2 and later", NNB_HAL_1_1 },
	{ "CONCATENATION of other quantisations", NNB_CONCATENATION, "Q2,3 T2,3 i0", "Q4,3" },
	{ "which HAL 1.1 has not", NNB_CONCATENATION, "Q2,3 T2,3 i0", "Q", "quantised by", NNB_HAL_1_1 },
	{ "nor of the third alone", NNB_CONCATENATION, "Q2,3 Q2,3 T2,3 i0", "Q", "quantised by", NNB_HAL_1_1 },
	{ "RELU of rank 4", NNB_RELU, "F1,2,3,4", "F1,2,3,4" },
	{ "RELU of rank 5", NNB_RELU, "F1,2,3,4,5", NULL, "rank 5" },
	{ "O-32: rank 4", NNB_ADD, "F2,1,3,1 F4,1,5 i0", "F2,4,3,5" },
	{ "O-32: rank 5 of the second", NNB_ADD, "F2 F1,1,1,1,2 i0", NULL, "input 1 has rank 5" },
	{ "CONCATENATION of rank 4", NNB_CONCATENATION, "F1,2,3,4 F1,2,3,4 i3", "F1,2,3,8" },
	{ "CONCATENATION of rank 5", NNB_CONCATENATION, "F1,1,1,1,2 F1,1,1,1,2 i0", NULL, "rank 5" },
	{ "an axis before the first", NNB_CONCATENATION, "F2,3 F2,5 i-3", NULL, "no axis -1" },
	{ "one counted from the end in HAL 1.1", NNB_CONCATENATION, "F2,3 F2,5 i-1", NULL, "no axis -1", NNB_HAL_1_1 },
	{ "SOFTMAX of rank 3 in HAL 1.2", NNB_SOFTMAX, "F2,3,4 f1", "F2,3,4" },
	{ "SOFTMAX of rank 3 in HAL 1.1", NNB_SOFTMAX, "F2,3,4 f1", NULL, "neither 2 nor 4", NNB_HAL_1_1 },
	{ "beta is no number", NNB_SOFTMAX, "F2,3 fnan", NULL, "beta is not above 0" },
	{ "L2_NORMALIZATION of rank 2 in HAL 1.1", NNB_L2_NORMALIZATION, "F2,3", NULL, "rank 2", NNB_HAL_1_1 },
	{ "L2_NORMALIZATION of rank 2 in HAL 1.2", NNB_L2_NORMALIZATION, "F2,3", "F2,3" },
	{ "radius 0", NNB_LOCAL_RESPONSE_NORMALIZATION, "F1,2,2,6 i0 f1 f1 f1", "F1,2,2,6" },
	{ "HAL 1.2's sparse LSH_PROJECTION in 1.1", NNB_LSH_PROJECTION, "F4,2 I3,5 F3 i3", "I", "no type 3",
	  NNB_HAL_1_1 },
	{ "LSH_PROJECTION of type 0", NNB_LSH_PROJECTION, "F4,2 I3,5 F3 i0", "I", "no type 0" },
	{ "LSH_PROJECTION of type 4", NNB_LSH_PROJECTION, "F4,2 I3,5 F3 i4", "I", "no type 4" },
	{ "LSH_PROJECTION of rank 1 with 32 bits", NNB_LSH_PROJECTION, "F2,32 I3 F3 i2", "I64" },
	{ "RESIZE_BILINEAR to height 0", NNB_RESIZE_BILINEAR, "F1,2,2,3 i5 i0", NULL, "5 by 0" },
	{ "RESIZE_BILINEAR to 1 by 1", NNB_RESIZE_BILINEAR, "F1,2,2,3 i1 i1", "F1,1,1,3" },
	{ "DEPTH_TO_SPACE of block 1", NNB_DEPTH_TO_SPACE, "F1,2,3,5 i1", "F1,2,3,5" },
	{ "DEPTH_TO_SPACE of block 3", NNB_DEPTH_TO_SPACE, "F1,2,3,18 i3", "F1,6,9,2" },
	{ "DEPTH_TO_SPACE of block 2^31 - 1", NNB_DEPTH_TO_SPACE, "F1,2,3,4 i2147483647", NULL, "do not divide" },
	{ "SPACE_TO_DEPTH of block 3", NNB_SPACE_TO_DEPTH, "F1,3,6,2 i3", "F1,1,2,18" },
	{ "SPACE_TO_DEPTH of block 0", NNB_SPACE_TO_DEPTH, "F1,4,4,3 i0", NULL, "block 0" },
	{ "RESHAPE to eight dimensions", NNB_RESHAPE, "F6 L1,1,1,1,1,1,2,-1", "F1,1,1,1,1,1,2,3" },
	{ "RESHAPE to -2", NNB_RESHAPE, "F6 L3,-2", NULL, "dimension 1 of the new shape is -2" },
	{ "RESHAPE to 2^80 elements", NNB_RESHAPE, "F6 L65536,65536,65536,65536,65536", NULL,
	  "dimension 3 of the new shape is" },
	{ "RESHAPE to 2^64 elements and a rest", NNB_RESHAPE, "F6 L65536,65536,65536,65536,-1", NULL,
	  "dimension 3 of the new shape is" },
	{ "RESHAPE by a list of rank 2", NNB_RESHAPE, "F6 I1,1", NULL, "input 1 has rank 2" },
	{ "a fully connected layer of rank 5", NNB_FULLY_CONNECTED, "F1,1,1,1,4 F3,4 F3 i0", NULL, "rank 5" },
	{ "a multiplier of -1", NNB_DEPTHWISE_CONV_2D, "F1,5,6,2 F1,2,2,6 F6 i2 i1 i1 i-1 i0", NULL,
	  "multiplier is not" },
	{ "a filter that only fits with its padding", NNB_CONV_2D, "F1,3,3,1 F1,5,4,1 F1 i0 i1 i1 i1 i1 i1 i0",
	  "F1,1,1,1" },
	{ "a filter one too large for its padding", NNB_CONV_2D, "F1,3,3,1 F1,6,4,1 F1 i0 i1 i1 i1 i1 i1 i0", NULL,
	  "larger than the" },
	{ "too many bytes by broadcasting", NNB_MUL, "F65536,1 F32768 i0", NULL, "larger than 4 GiB" },
	{ "too many elements by concatenation", NNB_CONCATENATION, "Q4294967295 Q1 i0", "Q", "too large" },
	{ "too many bytes by looking up", NNB_EMBEDDING_LOOKUP, "I65536 F1,65536", NULL, "larger than 4 GiB" },
	{ "too many bytes by resizing", NNB_RESIZE_BILINEAR, "F1,1,1,1 i2147483647 i2147483647", NULL,
	  "larger than 4 GiB" },

	{ "a projection's bias alone", NNB_LSTM,
	  "F2,3 F4,3 F4,3 F4,3 F4,3 F4,4 F4,4 F4,4 F4,4 - - - F4 F4 F4 F4 - F4 F2,4 F2,4 i4 f0 f0", NULL,
	  "projection" },
};

/* ---- patterns ---- */

static const struct pattern {
	struct row row;
	const char *free; /* words: tensor:extent, tensor+ for a 1 in front, tensor- for one less */
} patterns[] = {
	{ { "ADD", NNB_ADD, "F2,3 F2,3 i0" }, "0+ 0- 1+ 1-" },
	{ { "MAX_POOL_2D", NNB_MAX_POOL_2D, "F1,5,6,2 i2 i1 i1 i2 i2 i0" }, "0:0 0:1 0:2 0:3" },
	{ { "CONV_2D", NNB_CONV_2D, "F1,5,6,2 F3,2,3,2 F3 i2 i1 i1 i0" }, "0:0 0:1 0:2 1:1 1:2" },
	{ { "DEPTHWISE_CONV_2D", NNB_DEPTHWISE_CONV_2D, "F1,5,6,2 F1,2,2,6 F6 i2 i1 i1 i3 i0" },
	  "0:0 0:1 0:2 1:1 1:2" },
	{ { "FULLY_CONNECTED", NNB_FULLY_CONNECTED, "F4,1,5,1 F3,10 F3 i0" }, "0:1 0:3" },
	{ { "CONCATENATION", NNB_CONCATENATION, "F2,3 F2,5 i1" }, "0:1 1:1" },
	{ { "CONCATENATION of rank 4", NNB_CONCATENATION, "F2,3,4,5 F2,7,4,5 i1" }, "0:1 1:1" },
	{ { "RESHAPE", NNB_RESHAPE, "F2,3,4 L4,6" }, "0+" },
	{ { "DEPTH_TO_SPACE", NNB_DEPTH_TO_SPACE, "F1,2,3,12 i2" }, "0:0 0:1 0:2" },
	{ { "SPACE_TO_DEPTH", NNB_SPACE_TO_DEPTH, "F1,4,6,3 i2" }, "0:0 0:3" },
	{ { "RESIZE_BILINEAR", NNB_RESIZE_BILINEAR, "F1,2,2,3 i5 i7" }, "0:0 0:1 0:2 0:3" },
	{ { "EMBEDDING_LOOKUP", NNB_EMBEDDING_LOOKUP, "I7 F4,2,3" }, "0:0 1:0 1:1 1:2 1+ 1-" },
	{ { "HASHTABLE_LOOKUP", NNB_HASHTABLE_LOOKUP, "I7 I4 F4,2" }, "0:0 2:1" },
	{ { "LSH_PROJECTION", NNB_LSH_PROJECTION, "F4,2 I3,5 F3 i1" }, "0:0 0:1 1:1" },
	{ { "RNN", NNB_RNN, "F2,3 F5,3 F5,5 F5 F2,5 i4" }, "" },
	{ { "SVDF", NNB_SVDF, "F2,3 F8,3 F8,10 F4 F2,80 i2 i0" }, "" },
	{ { "LSTM with everything", NNB_LSTM,
	    "F2,3 F4,3 F4,3 F4,3 F4,3 F4,5 F4,5 F4,5 F4,5 F4 F4 F4 F4 F4 F4 F4 F5,4 F5 F2,5 F2,4 i4 f0 f0" },
	  "" },
	{ { "LSTM with nothing that can be left out", NNB_LSTM,
	    "F2,3 - F4,3 F4,3 F4,3 - F4,4 F4,4 F4,4 - - - - F4 F4 F4 - - F2,4 F2,4 i4 f0 f0" },
	  "" },
};

/* ---- from text to a model ---- */

struct maker {
	struct nnb_model *m;
	uint32_t inputs[32], n_inputs;
	uint32_t model_inputs[32], n_model_inputs;
	uint32_t outputs[4], n_outputs;
};

static uint32_t numbers_parse(const char *text, int32_t ret[8])
{
	uint32_t n = 0;
	char *end;

	for (; *text && *text != ' '; text = *end == ',' ? end + 1 : end)
		ret[n++] = (int32_t)strtol(text, &end, 10);
	return n;
}

static struct nnb_operand tensor_of(char letter)
{
	switch (letter) {
	case 'F':
		return (struct nnb_operand){ .type = NNB_TENSOR_FLOAT32 };
	case 'Q':
		return (struct nnb_operand){ .type = NNB_TENSOR_QUANT8_ASYMM, .scale = 1 };
	case 'T':
		return (struct nnb_operand){ .type = NNB_TENSOR_QUANT8_ASYMM, .scale = 1.0f / 128, .zero_point = 128 };
	default:
		return (struct nnb_operand){ .type = NNB_TENSOR_INT32 };
	}
}

static uint32_t constant_add(struct maker *k, const struct nnb_operand *o, const void *data, uint32_t bytes)
{
	uint32_t index = operand(k->m, o);

	assert_int_equal(nnb_model_value(k->m, index, data, bytes), 0);
	return index;
}

static uint32_t input_of(struct maker *k, const char *text)
{
	struct nnb_operand o = tensor_of(*text);
	int32_t n[8];
	bool truth;
	float f;

	switch (*text) {
	case '-':
		o.type = NNB_TENSOR_FLOAT32;
		o.lifetime = NNB_NO_VALUE;
		o.rank = 1;
		return operand(k->m, &o);
	case 'i':
		return int_scalar(k->m, (int32_t)strtol(text + 1, NULL, 10));
	case 'B':
		truth = text[1] == '1';
		return constant_add(k, &(struct nnb_operand){ .type = NNB_BOOL }, &truth, sizeof(truth));
	case 'f':
		f = strtof(text + 1, NULL);
		return constant_add(k, &(struct nnb_operand){ .type = NNB_FLOAT32 }, &f, sizeof(f));
	case 'L':
		o.rank = 1;
		o.dims[0] = numbers_parse(text + 1, n);
		return constant_add(k, &o, n, o.dims[0] * 4);
	default:
		o.rank = numbers_parse(text + 1, n);
		memcpy(o.dims, n, o.rank * sizeof(o.dims[0]));
		k->model_inputs[k->n_model_inputs++] = operand(k->m, &o);
		return k->model_inputs[k->n_model_inputs - 1];
	}
}

/* The next word of a text. */
static const char *next_word(const char *text)
{
	text += strcspn(text, " ");
	return *text ? text + 1 : NULL;
}

/* For outputs that a row does not show: their number, and their types as the operation gives them. */
static const char *outputs_of(const struct row *row)
{
	switch (row->op) {
	case NNB_LSTM:
		return "F F F F";
	case NNB_RNN:
	case NNB_SVDF:
		return "F F";
	case NNB_HASHTABLE_LOOKUP:
		return "F Q";
	case NNB_LSH_PROJECTION:
		return "I";
	default:
		return "F";
	}
}

static struct nnb_model *row_make(const struct row *row, struct maker *k)
{
	*k = (struct maker){ 0 };
	assert_int_equal(nnb_model_new(&k->m, "", row->hal ? row->hal : NNB_HAL_1_2), 0);
	for (const char *in = row->inputs; in; in = next_word(in))
		k->inputs[k->n_inputs++] = input_of(k, in);
	for (const char *out = row->outputs ? row->outputs : outputs_of(row); out; out = next_word(out)) {
		struct nnb_operand o = tensor_of(*out);

		o.rank = row->hal ? 1 : 0; /* from 1.2 on, the model may leave the rank open */
		k->outputs[k->n_outputs++] = operand(k->m, &o);
	}
	assert_true(nnb_model_operation(k->m, row->op, k->inputs, k->n_inputs, k->outputs, k->n_outputs) >= 0);
	assert_int_equal(nnb_model_finish(k->m, k->model_inputs, k->n_model_inputs, k->outputs, k->n_outputs), 0);
	return k->m;
}

/* ---- comparing the outputs ---- */

enum { ROOM = 1 << 12 };

static void expect_shapes(const struct row *row, struct nnb_prepared *p, const struct maker *k)
{
	struct nnb_argument args[32] = { 0 };
	struct nnb_output_shape shapes[4];
	struct nnb_memory pool;
	struct nnb_request request = { .inputs = args,
		                       .outputs = args + k->n_model_inputs,
		                       .n_inputs = k->n_model_inputs,
		                       .n_outputs = k->n_outputs,
		                       .n_pools = 1,
		                       .pools = &pool };
	struct nnb_reason reason = { "" };
	const char *out = row->outputs;

	assert_int_equal(nnb_memory_ashmem(&pool, 32 * ROOM), 0);
	for (uint32_t i = 0; i < k->n_model_inputs + k->n_outputs; i++) {
		const struct nnb_operand *o = &k->m->operands[i < k->n_model_inputs ? k->model_inputs[i] : 0];
		uint64_t bytes = ROOM;

		if (i < k->n_model_inputs)
			assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
		args[i].location = (struct nnb_location){ 0, i * ROOM, (uint32_t)bytes };
	}
	if (nnb_execute(p, &request, shapes, &reason))
		fail_msg("%s", reason.text);
	for (uint32_t i = 0; i < k->n_outputs; i++, out = next_word(out)) {
		int32_t want[8];
		uint32_t rank = numbers_parse(out + 1, want);

		assert_true(shapes[i].sufficient);
		assert_int_equal(shapes[i].rank, rank);
		for (uint32_t d = 0; d < rank; d++)
			assert_int_equal(shapes[i].dims[d], want[d]);
	}
	nnb_memory_close(&pool);
}

static void it_has_that_shape(void **state)
{
	const struct row *row = *state;
	struct nnb_device *d = open_device("null");
	struct maker k;
	struct nnb_model *m = row_make(row, &k);
	struct nnb_prepared *p = NULL;
	struct nnb_reason reason = { "" };
	enum nnb_status status = nnb_prepare(d, m, &ordinary, NULL, &p, &reason);

	if (!row->why) {
		if (status)
			fail_msg("%s", reason.text);
		expect_shapes(row, p, &k);
	} else {
		assert_int_equal(status, NNB_STATUS_INVALID_ARGUMENT);
		if (!strstr(reason.text, row->why))
			fail_msg("'%s' does not say '%s'", reason.text, row->why);
	}
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- spoiling ---- */

static bool is_word_of(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (; words; words = next_word(words))
		if (strncmp(words, word, n) == 0 && (words[n] == ' ' || words[n] == '\0'))
			return true;
	return false;
}

/* @text with word @k replaced. */
static void replace_word(char *ret, size_t room, const char *text, uint32_t k, const char *by)
{
	const char *word = text;

	while (k--)
		word = next_word(word);
	snprintf(ret, room, "%.*s%s%s", (int)(word - text), text, by, word + strcspn(word, " "));
}

static void tensor_text(char *ret, size_t room, char letter, const int32_t *dims, uint32_t rank)
{
	size_t at = (size_t)snprintf(ret, room, "%c", letter);

	for (uint32_t d = 0; d < rank; d++)
		at += (size_t)snprintf(ret + at, room - at, "%s%d", d ? "," : "", dims[d]);
}

/* Check whether @row, with @by for input @k, is prepared (@accepted) or refused. */
static void expect_spoilt(const struct pattern *pattern, struct nnb_device *d, uint32_t k, const char *by,
                          bool accepted)
{
	char text[256];
	struct row row = pattern->row;
	struct nnb_prepared *p = NULL;
	struct nnb_reason reason = { "" };
	struct maker maker;
	struct nnb_model *m;
	enum nnb_status status;

	replace_word(text, sizeof(text), row.inputs, k, by);
	row.inputs = text;
	m = row_make(&row, &maker);
	status = nnb_prepare(d, m, &ordinary, NULL, &p, &reason);
	if (status != (accepted ? NNB_STATUS_NONE : NNB_STATUS_INVALID_ARGUMENT))
		fail_msg("'%s': %s %s", text, nnb_status_name(status), reason.text);
	assert_int_equal(reason.text[0] != '\0', !accepted);
	nnb_prepared_unref(p);
	nnb_model_free(m);
}

static void spoil_tensor(const struct pattern *pattern, struct nnb_device *d, uint32_t k, const char *word)
{
	int32_t dims[9] = { 1 };
	uint32_t rank = numbers_parse(word + 1, dims + 1);
	char place[16], by[64];

	for (uint32_t e = 0; e < rank; e++) {
		dims[1 + e]++;
		snprintf(place, sizeof(place), "%u:%u", k, e);
		tensor_text(by, sizeof(by), *word, dims + 1, rank);
		expect_spoilt(pattern, d, k, by, is_word_of(pattern->free, place));
		dims[1 + e]--;
	}
	snprintf(place, sizeof(place), "%u+", k);
	tensor_text(by, sizeof(by), *word, dims, rank + 1);
	expect_spoilt(pattern, d, k, by, is_word_of(pattern->free, place));
	if (rank == 1) /* rank 0 means an unknown rank */
		return;
	snprintf(place, sizeof(place), "%u-", k);
	tensor_text(by, sizeof(by), *word, dims + 2, rank - 1);
	expect_spoilt(pattern, d, k, by, is_word_of(pattern->free, place));
}

static void only_what_is_free_may_change(void **state)
{
	const struct pattern *pattern = *state;
	struct nnb_device *d = open_device("null");
	uint32_t k = 0;

	for (const char *in = pattern->row.inputs; in; in = next_word(in), k++) {
		char same[64];

		snprintf(same, sizeof(same), "%.*s", (int)strcspn(in, " "), in);
		expect_spoilt(pattern, d, k, same, true);
		if (strchr("FQI", *in))
			spoil_tensor(pattern, d, k, in);
	}
	nnb_device_unref(d);
}

int main(void)
{
	struct CMUnitTest tests[N_OF(rows) + N_OF(patterns)];

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			                        .test_func = it_has_that_shape,
			                        .initial_state = (void *)&rows[i] };
	for (size_t i = 0; i < N_OF(patterns); i++)
		tests[N_OF(rows) + i] = (struct CMUnitTest){ .name = patterns[i].row.name,
			                                     .test_func = only_what_is_free_may_change,
			                                     .initial_state = (void *)&patterns[i] };
	return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}

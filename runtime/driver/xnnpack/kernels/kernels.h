/*
 * kernels.h -- operations in plain C, for what XNNPACK's operators cannot do.
 *
 * Pure functions of their arguments: no state, no allocation, no failure but where one is named. The rules they
 * follow are the HAL's (O-30 to O-35 and section 7.6). Tensors are dense and row-major, images NHWC. Every pointer
 * is borrowed for the call, aligned to its element and not NULL, except where its comment has "optional". Outputs
 * overlap neither inputs nor each other, unless an operation is marked "in place".
 *
 * TRUST  Dimensions, scales and other parameters are a valid model's: scales > 0, zero points 0 to 255, geometry as
 *        O-30 has it. The tensors are in memory that apps share, and may change at any time: whatever they hold,
 *        nothing outside the tensors is touched and no behaviour is undefined. An index is read once and then
 *        checked.
 *
 * f32 is for float32 and q8 for quant8 asymmetric. Every f32 activation is a clamp to [min, max], which leaves a NaN
 * what it is; every q8 one a clamp to quantised bounds, which nnbx_quant_range works out.
 */
#ifndef NNBX_KERNELS_H
#define NNBX_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/driver.h"

/* O-2: a real is scale * (q - zero_point). */
struct nnbx_quant {
	float scale;
	int32_t zero_point;
};

/* Two operands and what they give, quantised. @min and @max bound the result. */
struct nnbx_quants {
	struct nnbx_quant a, b, out;
	uint8_t min, max;
	const float *scales; /* b's, one for each output channel; NULL: b's own is all of theirs */
};

/* O-33: what a fused activation (enum nnb_fused) leaves of the output. */
void nnbx_quant_range(struct nnbx_quant out, uint32_t fused, uint8_t *min, uint8_t *max);

/* ---- from one type to another, and from one order to another ---- */

/* Buffers need not be aligned, and may end at the same byte (to float) or begin at the same (to half, flip). */
void nnbx_half_to_float(size_t n, const void *in, void *out);
void nnbx_float_to_half(size_t n, const void *in, void *out);
/* Between a signed byte and an unsigned one whose zero point is 128 more: the same real. */
void nnbx_flip(size_t n, const void *in, void *out);
/* out[b][column][row] = in[b][row][column], of elements of 1, 2 or 4 bytes. */
void nnbx_transpose(size_t batch, size_t rows, size_t columns, size_t elem, const void *in, void *out);

/* ---- windows that slide over images ---- */

/*
 * @window's dilation is at least 1; its multiplier counts for depthwise convolutions only, its fused for none: bounds
 * are arguments.
 */
struct nnbx_planes {
	uint32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
	struct nnb_window window;
};

/* filter [out_c, filter_h, filter_w, in_c], bias [out_c]. */
void nnbx_conv2d_f32(const struct nnbx_planes *p, const float *in, const float *filter, const float *bias, float min,
                     float max, float *out);
/* O-34, of any scales: a is the input and b the filter. Sums are exact, and saturate where int32 ends. */
void nnbx_conv2d_q8(const struct nnbx_planes *p, const struct nnbx_quants *q, const uint8_t *in, const uint8_t *filter,
                    const int32_t *bias, uint8_t *out);

/* filter [1, filter_h, filter_w, out_c], bias [out_c], out_c = in_c * multiplier. */
void nnbx_depthwise_conv2d_f32(const struct nnbx_planes *p, const float *in, const float *filter, const float *bias,
                               float min, float max, float *out);
void nnbx_depthwise_conv2d_q8(const struct nnbx_planes *p, const struct nnbx_quants *q, const uint8_t *in,
                              const uint8_t *filter, const int32_t *bias, uint8_t *out);

/* in [batch, size], weights [units, size], bias [units], out [batch, units]. */
void nnbx_fully_connected_f32(size_t batch, size_t size, size_t units, const float *in, const float *weights,
                              const float *bias, float min, float max, float *out);
void nnbx_fully_connected_q8(size_t batch, size_t size, size_t units, const struct nnbx_quants *q, const uint8_t *in,
                             const uint8_t *weights, const int32_t *bias, uint8_t *out);

/*
 * Pools, over the cells of a window that lie in the image; in_c = out_c. A window that has no such cell gives 0
 * within the bounds. q8: the output is quantised as the input is.
 */
void nnbx_average_pool_f32(const struct nnbx_planes *p, const float *in, float min, float max, float *out);
void nnbx_average_pool_q8(const struct nnbx_planes *p, const uint8_t *in, uint8_t min, uint8_t max, uint8_t *out);
void nnbx_max_pool_f32(const struct nnbx_planes *p, const float *in, float min, float max, float *out);
void nnbx_max_pool_q8(const struct nnbx_planes *p, const uint8_t *in, uint8_t min, uint8_t max, uint8_t *out);
void nnbx_l2_pool_f32(const struct nnbx_planes *p, const float *in, float min, float max, float *out);

/*
 * The place in the input for a place in the output: at * in / out; or with the corners aligned; or with the centres
 * of pixels aligned.
 */
enum nnbx_centres { NNBX_CORNERS_FIRST, NNBX_CORNERS_ALIGNED, NNBX_CENTRES_HALF };

/* Lines between cells (row 23 of 7.6). in_h, in_w > 0, in_c = out_c; window is not looked at. */
void nnbx_resize_bilinear_f32(const struct nnbx_planes *p, enum nnbx_centres centres, const float *in, float *out);
void nnbx_resize_bilinear_q8(const struct nnbx_planes *p, enum nnbx_centres centres, const uint8_t *in, uint8_t *out);

/* ---- two tensors, element by element ---- */

/* O-32: how two tensors meet, runs of dimensions that both walk alike taken together. Steps are in elements. */
struct nnbx_pairing {
	uint32_t rank; /* at least 1 */
	size_t dims[NNB_RANK_MAX], a_step[NNB_RANK_MAX], b_step[NNB_RANK_MAX];
};

/* false, and *ret untouched: they do not. */
bool nnbx_pairing(uint32_t a_rank, const uint32_t *a_dims, uint32_t b_rank, const uint32_t *b_dims,
                  struct nnbx_pairing *ret);

/*
 * Go to the next run of the innermost dimension, whose place is @at[1..]: *a and *b are the tensors' offsets, in
 * elements. False: that was the last.
 */
bool nnbx_pairing_next(const struct nnbx_pairing *pairing, size_t *at, size_t *a, size_t *b);

void nnbx_add_f32(const struct nnbx_pairing *p, const float *a, const float *b, float min, float max, float *out);
void nnbx_mul_f32(const struct nnbx_pairing *p, const float *a, const float *b, float min, float max, float *out);
/* O-35, of any scales; of what is added, less than 2^-20 of the larger input's scale may be lost. */
void nnbx_add_q8(const struct nnbx_pairing *p, const struct nnbx_quants *q, const uint8_t *a, const uint8_t *b,
                 uint8_t *out);
/* Wrap around. */
void nnbx_add_i32(const struct nnbx_pairing *p, const int32_t *a, const int32_t *b, int32_t *out);
void nnbx_mul_i32(const struct nnbx_pairing *p, const int32_t *a, const int32_t *b, int32_t *out);
void nnbx_mul_q8(const struct nnbx_pairing *p, const struct nnbx_quants *q, const uint8_t *a, const uint8_t *b,
                 uint8_t *out);

/* ---- one tensor, element by element; in place, except for dequantize ---- */

void nnbx_clamp_f32(size_t n, const float *in, float min, float max, float *out); /* RELU, RELU1, RELU6 */
void nnbx_clamp_q8(size_t n, const uint8_t *in, uint8_t min, uint8_t max, uint8_t *out);
void nnbx_floor_f32(size_t n, const float *in, float *out);
void nnbx_logistic_f32(size_t n, const float *in, float *out);
void nnbx_logistic_q8(size_t n, struct nnbx_quant q, const uint8_t *in, uint8_t *out); /* out: 1/256, 0 */
void nnbx_tanh_f32(size_t n, const float *in, float *out);
void nnbx_tanh_q8(size_t n, struct nnbx_quant q, const uint8_t *in, uint8_t *out); /* out: 1/128, 128 */
void nnbx_dequantize_q8(size_t n, struct nnbx_quant q, const uint8_t *in, float *out);
/* The nearest quant8 of another scale. @flipped: in and out are bytes as nnbx_flip makes them. */
void nnbx_requantize_q8(size_t n, struct nnbx_quant from, const uint8_t *in, struct nnbx_quant to, bool flipped,
                        uint8_t *out);

/*
 * ---- along an axis: @n rows of @size elements that are @step apart; in place, except for
 * local_response_normalization ----
 *
 * Step is the product of the dimensions behind the axis: row r begins at element r / step * size * step + r % step.
 */

void nnbx_softmax_f32(size_t n, size_t size, size_t step, float beta, const float *in, float *out);
void nnbx_softmax_q8(size_t n, size_t size, size_t step, struct nnbx_quant q, float beta, const uint8_t *in,
                     uint8_t *out); /* out: 1/256, 0 */
/* A row of zeros stays one. */
void nnbx_l2_normalization_f32(size_t n, size_t size, size_t step, const float *in, float *out);
void nnbx_l2_normalization_q8(size_t n, size_t size, size_t step, int32_t zero_point, const uint8_t *in,
                              uint8_t *out); /* out: 1/128, 128 */
void nnbx_local_response_normalization_f32(size_t n, size_t size, size_t step, uint32_t radius, float bias, float alpha,
                                           float beta, const float *in, float *out);

/* ---- moving elements of any size ---- */

/* Dimensions are the input's; @elem is the bytes of an element. block² divides c, or block both h and w. */
void nnbx_depth_to_space(uint32_t batch, uint32_t h, uint32_t w, uint32_t c, uint32_t block, size_t elem,
                         const void *in, void *out);
void nnbx_space_to_depth(uint32_t batch, uint32_t h, uint32_t w, uint32_t c, uint32_t block, size_t elem,
                         const void *in, void *out);

/*
 * Put @rows rows of @row_bytes where the output has one every @out_step bytes. CONCATENATION is this for each input:
 * rows are the extents before the axis, a row the extents from it on, and @out starts after the inputs before.
 */
void nnbx_copy_rows(size_t rows, size_t row_bytes, const void *in, size_t out_step, void *out);

/* Row lookups[i] of @rows rows of @row_bytes to row i of out. false: an index is outside, and out is anything. */
bool nnbx_embedding_lookup(size_t n, const int32_t *lookups, size_t rows, size_t row_bytes, const void *values,
                           void *out);

/* The same by a key of ascending @keys; a miss is a row of zero bytes. hits[i]: 1 found, 0 not. */
void nnbx_hashtable_lookup(size_t n, const int32_t *lookups, size_t rows, const int32_t *keys, size_t row_bytes,
                           const void *values, void *out, uint8_t *hits);

/* ---- hashing ---- */

/* The 64-bit fingerprint of farmhash ("na"). */
uint64_t nnbx_fingerprint64(const void *data, size_t n);

enum nnbx_lsh { NNBX_LSH_SPARSE_PLAIN = 1, NNBX_LSH_DENSE = 2, NNBX_LSH_SPARSE = 3 };

/* hash [hashes, bits], in [items, item_bytes], weights [items] or NULL. Of more than 32 bits the last 32 are kept. */
struct nnbx_lsh_projection {
	uint32_t hashes, bits, items;
	size_t item_bytes;
	enum nnbx_lsh type;
};

size_t nnbx_lsh_projection_scratch(const struct nnbx_lsh_projection *p); /* bytes, of any alignment */
/* out [hashes], or [hashes * bits] when dense. */
void nnbx_lsh_projection(const struct nnbx_lsh_projection *p, const float *hash, const void *in, const float *weights,
                         void *scratch, int32_t *out);

/* ---- with state ---- */

/* The activation of RNN, SVDF and LSTM; any other value is as NONE. The first four are enum nnb_fused. */
enum nnbx_activation { NNBX_NONE = 0, NNBX_RELU = 1, NNBX_RELU1 = 2, NNBX_RELU6 = 3, NNBX_TANH = 4, NNBX_SIGMOID = 6 };

struct nnbx_rnn {
	uint32_t batch, inputs, units;
	uint32_t activation;
	const float *weights;   /* [units, inputs] */
	const float *recurrent; /* [units, units] */
	const float *bias;      /* [units] */
};

/* in [batch, inputs]; the others [batch, units]. state_out and out get the same. */
void nnbx_rnn_f32(const struct nnbx_rnn *p, const float *in, const float *state_in, float *state_out, float *out);

struct nnbx_svdf {
	uint32_t batch, inputs, filters, memory, rank; /* memory > 0, rank divides filters */
	uint32_t activation;
	const float *feature; /* [filters, inputs] */
	const float *time;    /* [filters, memory] */
	const float *bias;    /* [filters / rank], or NULL */
};

/* in [batch, inputs], states [batch, filters * memory], out [batch, filters / rank]. */
void nnbx_svdf_f32(const struct nnbx_svdf *p, const float *in, const float *state_in, float *state_out, float *out);

struct nnbx_lstm_gate {
	const float *weights;   /* [cells, inputs] */
	const float *recurrent; /* [cells, outputs] */
	const float *peephole;  /* [cells], or NULL */
	const float *bias;      /* [cells] */
	const float *norm;      /* [cells]: sums are normalised, and multiplied by these, before the bias; or NULL */
};

struct nnbx_lstm {
	uint32_t batch, inputs, cells, outputs; /* without a projection, outputs = cells */
	uint32_t activation;
	struct nnbx_lstm_gate input; /* weights NULL: input and forget gate are coupled, and the rest is ignored */
	struct nnbx_lstm_gate forget, cell, output; /* the cell's peephole is ignored */
	const float *projection;                    /* [outputs, cells], or NULL */
	const float *projection_bias;               /* [outputs], or NULL */
	float cell_clip, projection_clip;           /* no clipping unless > 0 */
};

/*
 * in [batch, inputs], state_in, state_out and out [batch, outputs], cell_in and cell_out [batch, cells]; scratch
 * [batch, 4 * cells], or 3 * cells when coupled, is the operation's first output and gets the gates. state_out and
 * out get the same.
 */
void nnbx_lstm_f32(const struct nnbx_lstm *p, const float *in, const float *state_in, const float *cell_in,
                   float *scratch, float *state_out, float *cell_out, float *out);

#endif

/* shaping.h -- helpers that all shapes_*.c share: refusing, and reading inputs. */
#ifndef NNB_MODEL_SHAPING_H
#define NNB_MODEL_SHAPING_H

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "model/ops.h"
#include "model/reason.h"

typedef struct nnb__op_view view;

/* Write the reason; the value is -EINVAL. */
#define REFUSE(v, ...) (nnb_because((v)->reason, __VA_ARGS__), -EINVAL)

static inline void shape_set(struct nnb_shape *ret, uint32_t rank, const uint32_t *dims)
{
	assert(rank <= NNB_RANK_MAX);
	*ret = (struct nnb_shape){ .rank = rank, .known = true };
	memcpy(ret->dims, dims, rank * sizeof(*dims));
}

#define DIMS(...)                                                                        \
	sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (const uint32_t[]) \
	{                                                                                \
		__VA_ARGS__                                                              \
	}

static inline int rank_between(const view *v, uint32_t k, uint32_t least, uint32_t most)
{
	uint32_t rank = nnb__in(v, k)->rank;

	return rank >= least && rank <= most ? 0 : REFUSE(v, "input %u has rank %u", k, rank);
}

/* Require that input @k has exactly these dimensions. */
static inline int dims_are(const view *v, uint32_t k, uint32_t rank, const uint32_t *dims)
{
	const struct nnb_shape *s = nnb__in(v, k);

	assert(rank <= NNB_RANK_MAX);
	if (s->rank == rank && memcmp(s->dims, dims, rank * sizeof(*dims)) == 0)
		return 0;
	return REFUSE(v, "the dimensions of input %u do not match those of the other inputs", k);
}

/* Is input @k present? */
static inline bool is_given(const view *v, uint32_t k)
{
	return k < v->op->n_inputs && !nnb__in(v, k)->omitted;
}

static inline int dims_are_if_given(const view *v, uint32_t k, uint32_t rank, const uint32_t *dims)
{
	return is_given(v, k) ? dims_are(v, k, rank, dims) : 0;
}

/* The elements of input @k; NULL: unknown. A tensor with values always has a known shape. */
static inline const int32_t *input_values(const view *v, uint32_t k)
{
	return v->constants ? v->constants[v->op->inputs[k]] : NULL;
}

/* Read axis @k of @rank dimensions. A negative axis counts from the end. 0; -ENODATA; -EINVAL. */
static inline int axis_of(const view *v, uint32_t k, uint32_t rank, uint32_t *ret)
{
	int32_t axis;

	if (!nnb__in_i32(v, k, &axis))
		return -ENODATA;
	if (axis < -(int32_t)rank || axis >= (int32_t)rank)
		return REFUSE(v, "there is no axis %d", axis);
	*ret = (uint32_t)(axis < 0 ? axis + (int32_t)rank : axis);
	return 0;
}

/* Read a BOOL input. An omitted input, or one that the form does not have, is false. 0; -ENODATA. */
static inline int flag_of(const view *v, uint32_t k, bool *ret)
{
	*ret = false;
	if (!is_given(v, k))
		return 0;
	return nnb__in_bool(v, k, ret) ? 0 : -ENODATA;
}

/* Refuse a fused activation that there is not. An operation without input @k has none. */
static inline int fused_is_known(const view *v, uint32_t k)
{
	int32_t fused;

	if (!nnb__in_i32(v, k, &fused) || (fused >= NNB_FUSED_NONE && fused <= NNB_FUSED_RELU6))
		return 0;
	return REFUSE(v, "%d is no fused activation", fused);
}

/* The activation of a recurrent cell: 0 to 3 as in fused ones, 4 tanh, 6 sigmoid. LSTM has no RELU1. */
static inline int activation_is_known(const view *v, uint32_t k)
{
	int32_t code;

	if (!nnb__in_i32(v, k, &code) ||
	    (code >= 0 && code <= 4 && (code != NNB_FUSED_RELU1 || v->op->type != NNB_LSTM)) || code == 6)
		return 0;
	return REFUSE(v, "%d is no activation", code);
}

/* The dimensions that hold an image's height, width and channels. */
struct image_axes {
	uint32_t h, w, c;
};

static inline struct image_axes image_axes(bool nchw)
{
	return nchw ? (struct image_axes){ 2, 3, 1 } : (struct image_axes){ 1, 2, 3 };
}

/*
 * The new extent of a resized image: input @k itself, or, if that is real, a factor of the old extent, rounded down. 0;
 * -ENODATA; -EINVAL.
 */
int nnb__resized_extent(const view *v, uint32_t k, uint32_t from, int32_t *ret);

/* Refuse aligned corners (input 4) together with half-pixel centres (input 5). */
int nnb__want_alignment(const view *v);

typedef int shape_fn(const view *v, struct nnb_shape *ret);

shape_fn nnb__shape_batch_to_space, nnb__shape_space_to_batch, nnb__shape_squeeze, nnb__shape_expand_dims,
	nnb__shape_pad, nnb__shape_slice, nnb__shape_strided_slice, nnb__shape_transpose, nnb__shape_tile,
	nnb__shape_split, nnb__shape_channel_shuffle, nnb__shape_gather, nnb__shape_fill, nnb__shape_rank,
	nnb__shape_select;
shape_fn nnb__shape_reduce, nnb__shape_arg, nnb__shape_log_softmax, nnb__shape_topk, nnb__shape_instance_normalization,
	nnb__shape_random_multinomial, nnb__shape_resize_nearest, nnb__shape_pairs, nnb__shape_each;
shape_fn nnb__shape_bbox_transform, nnb__shape_box_with_nms_limit, nnb__shape_detection_postprocessing,
	nnb__shape_generate_proposals, nnb__shape_heatmap_max_keypoint, nnb__shape_roi;
shape_fn nnb__shape_wide_conv;
shape_fn nnb__shape_sequence_lstm, nnb__shape_both_lstm, nnb__shape_sequence_rnn, nnb__shape_both_rnn,
	nnb__shape_quantized_16bit_lstm, nnb__shape_quantized_lstm;

#endif

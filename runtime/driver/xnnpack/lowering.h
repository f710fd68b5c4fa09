/*
 * lowering.h -- how each operation becomes a step: one row an operation, grouped in files by family.
 */
#ifndef NNBX_LOWERING_H
#define NNBX_LOWERING_H

#include "kernels/kernels.h"
#include "kernels/look.h"
#include "step.h"
#include "tile_limits.h"

/* Run the operation in plain C. Every operation can. */
typedef enum nnb_status run_fn(const struct site *site);

/* The status of a kernel that returns whether it did well. */
static inline enum nnb_status status_of(bool well)
{
	return well ? NNB_STATUS_NONE : NNB_STATUS_GENERAL_FAILURE;
}

/*
 * Create the XNNPACK operator for @site, and note in @step how it is set up. Returns the status of XNNPACK: anything
 * but success and "no memory" means that XNNPACK cannot compute this operation, and the plain kernel will.
 */
typedef enum xnn_status create_fn(struct step *step, const struct site *site);

run_fn nnbx_run_pairs;
create_fn nnbx_create_grouped_conv, nnbx_create_transpose_conv, nnbx_create_mean;
create_fn nnbx_create_pairs, nnbx_create_prelu, nnbx_create_each, nnbx_create_quantize;
run_fn nnbx_run_conv, nnbx_run_depthwise, nnbx_run_fully_connected;
create_fn nnbx_create_conv, nnbx_create_depthwise, nnbx_create_fully_connected;
create_fn nnbx_create_conv_signed, nnbx_create_depthwise_signed, nnbx_create_fully_connected_signed;
run_fn nnbx_run_average_pool, nnbx_run_max_pool, nnbx_run_l2_pool, nnbx_run_resize;
create_fn nnbx_create_average_pool, nnbx_create_max_pool, nnbx_create_resize_bilinear;
run_fn nnbx_run_relu, nnbx_run_floor, nnbx_run_logistic, nnbx_run_tanh, nnbx_run_dequantize, nnbx_run_softmax;
create_fn nnbx_create_relu, nnbx_create_floor, nnbx_create_logistic, nnbx_create_tanh, nnbx_create_dequantize,
	nnbx_create_softmax;
create_fn nnbx_create_relu_signed, nnbx_create_logistic_signed, nnbx_create_tanh_signed, nnbx_create_dequantize_signed;
create_fn nnbx_create_max_pool_signed, nnbx_create_resize_bilinear_signed;
run_fn nnbx_run_l2_normalization, nnbx_run_local_response_normalization;
run_fn nnbx_run_concatenation, nnbx_run_reshape, nnbx_run_blocks;
create_fn nnbx_create_depth_to_space;
run_fn nnbx_run_embedding_lookup, nnbx_run_hashtable_lookup, nnbx_run_lsh_projection;
run_fn nnbx_run_lstm, nnbx_run_rnn, nnbx_run_svdf;
/* HAL 1.1 and later */
run_fn nnbx_run_arg, nnbx_run_batch_to_space, nnbx_run_bbox_transform, nnbx_run_both_lstm, nnbx_run_both_rnn,
	nnbx_run_box_with_nms_limit, nnbx_run_cast, nnbx_run_channel_shuffle, nnbx_run_detection_postprocessing,
	nnbx_run_each, nnbx_run_fill, nnbx_run_fused_pairs, nnbx_run_gather, nnbx_run_generate_proposals,
	nnbx_run_grouped_conv, nnbx_run_heatmap_max_keypoint, nnbx_run_instance_normalization, nnbx_run_log_softmax,
	nnbx_run_pad, nnbx_run_pad_v2, nnbx_run_plain_pairs, nnbx_run_quantized_16bit_lstm, nnbx_run_quantized_lstm,
	nnbx_run_random_multinomial, nnbx_run_rank, nnbx_run_reduce, nnbx_run_resize_nearest, nnbx_run_roi_align,
	nnbx_run_roi_pooling, nnbx_run_same_order, nnbx_run_select, nnbx_run_sequence_lstm, nnbx_run_sequence_rnn,
	nnbx_run_slice, nnbx_run_space_to_batch, nnbx_run_split, nnbx_run_strided_slice, nnbx_run_tile, nnbx_run_topk,
	nnbx_run_transpose, nnbx_run_transpose_conv;

/* Bytes of scratch memory that they want; UINT64_MAX: more than there is. */
typedef uint64_t scratch_fn(const struct site *site);

scratch_fn nnbx_topk_bytes, nnbx_random_bytes, nnbx_boxes_bytes, nnbx_wide_conv_bytes, nnbx_sequence_bytes,
	nnbx_quantized_lstm_bytes;

/* Bytes of scratch of LSH_PROJECTION, the only one that wants any. */
size_t nnbx_lsh_scratch(const struct site *site);

/* Bytes of the pointers XNNPACK keeps for an operation that slides a window, where it is given the operation at all. */
uint64_t nnbx_indirection(const struct site *site);

static inline struct nnbx_quant quant_of(const struct nnb_operand *o)
{
	return (struct nnbx_quant){ o->scale, o->zero_point };
}

/* nnbx_quant_range of signed bytes. */
static inline void nnbx_signed_range(struct nnbx_quant out, uint32_t fused, int8_t *min, int8_t *max)
{
	uint8_t low, high;

	nnbx_quant_range((struct nnbx_quant){ out.scale, out.zero_point + 128 }, fused, &low, &high);
	*min = (int8_t)(low - 128);
	*max = (int8_t)(high - 128);
}

/* Inputs 0 and 1 and output 0 of a quantised operation, with what @fused leaves. */
static inline struct nnbx_quants quants_of(const struct site *s, uint32_t fused)
{
	struct nnbx_quants q = { .a = quant_of(in_operand(s, 0)),
		                 .b = quant_of(in_operand(s, 1)),
		                 .out = quant_of(out_operand(s, 0)),
		                 .scales = nnb_operand_scales(s->graph->model, in_operand(s, 1)) };

	nnbx_quant_range(q.out, fused, &q.min, &q.max);
	return q;
}

#endif

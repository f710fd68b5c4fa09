/* lower_boxes.c -- operations of object detection. */
#include "kernels/boxes.h"

#include <math.h>
#include <string.h>

#include "operand.h"
#include "saturated.h"

enum nnb_status nnbx_run_bbox_transform(const struct site *s)
{
	struct nnbx_tensor rois = tensor_in(s, 0), deltas = tensor_in(s, 1), batches = tensor_in(s, 2);
	struct nnbx_tensor images = tensor_in(s, 3), out = tensor_out(s, 0);

	return status_of(nnbx_bbox_transform(&rois, &deltas, &batches, &images, &out));
}

enum nnb_status nnbx_run_roi_align(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), rois = tensor_in(s, 1), batches = tensor_in(s, 2),
			   out = tensor_out(s, 0);
	struct nnbx_roi how = { .stride_h = real_in(s, 5),
		                .stride_w = real_in(s, 6),
		                .samples_h = int_in(s, 7, 0),
		                .samples_w = int_in(s, 8, 0),
		                .nchw = flag_in(s, 9) };

	return status_of(nnbx_roi_align(&how, &in, &rois, &batches, &out));
}

enum nnb_status nnbx_run_roi_pooling(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), rois = tensor_in(s, 1), batches = tensor_in(s, 2),
			   out = tensor_out(s, 0);
	struct nnbx_roi how = { .stride_h = real_in(s, 5), .stride_w = real_in(s, 6), .nchw = flag_in(s, 7) };

	return status_of(nnbx_roi_pooling(&how, &in, &rois, &batches, &out));
}

enum nnb_status nnbx_run_heatmap_max_keypoint(const struct site *s)
{
	struct nnbx_tensor heatmap = tensor_in(s, 0), boxes = tensor_in(s, 1);
	struct nnbx_tensor scores = tensor_out(s, 0), keypoints = tensor_out(s, 1);

	nnbx_heatmap_max_keypoint(&heatmap, flag_in(s, 2), &boxes, &scores, &keypoints);
	return NNB_STATUS_NONE;
}

/* ---- which are kept; how many is seen only then ---- */

/* A box for each score. */
uint64_t nnbx_boxes_bytes(const struct site *s)
{
	return saturated_product(saturated_elements(in_shape(s, 0)), sizeof(struct nnbx_box));
}

/* An output has as many rows as boxes were kept. False: it was declared to have another number. */
static bool rows_found(const struct site *s, uint32_t k, size_t n)
{
	struct nnb_shape *shape = s->found ? &s->found[k] : NULL;

	if (!shape)
		return out_shape(s, k)->dims[0] == n;
	*shape = *out_shape(s, k);
	shape->dims[0] = (uint32_t)n;
	return true;
}

enum nnb_status nnbx_run_box_with_nms_limit(const struct site *s)
{
	struct nnbx_tensor scores = tensor_in(s, 0), rois = tensor_in(s, 1), batches = tensor_in(s, 2);
	struct nnbx_tensor out[] = { tensor_out(s, 0), tensor_out(s, 1), tensor_out(s, 2), tensor_out(s, 3) };
	struct nnbx_box_limit how = { .score_threshold = real_in(s, 3),
		                      .most = int_in(s, 4, -1),
		                      .nms = (enum nnbx_nms)int_in(s, 5, 0),
		                      .iou_threshold = real_in(s, 6),
		                      .sigma = real_in(s, 7),
		                      .nms_threshold = real_in(s, 8) };
	struct nnbx_box *boxes = s->scratch;
	int64_t n = nnbx_box_with_nms_limit(&how, &scores, &rois, &batches, boxes);

	for (uint32_t k = 0; k < 4; k++)
		if (n < 0 || !rows_found(s, k, (size_t)n))
			return NNB_STATUS_GENERAL_FAILURE;
	for (size_t i = 0; i < (size_t)n && nnbx_worked(20); i++) {
		nnbx_store_one(&out[0], i, boxes[i].score);
		nnbx_store(&out[1], i * 4, 4, boxes[i].corners);
		((int32_t *)out[2].at)[i] = (int32_t)boxes[i].class;
		((int32_t *)out[3].at)[i] = (int32_t)boxes[i].batch;
	}
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_generate_proposals(const struct site *s)
{
	struct nnbx_tensor scores = tensor_in(s, 0), deltas = tensor_in(s, 1), anchors = tensor_in(s, 2);
	struct nnbx_tensor images = tensor_in(s, 3);
	struct nnbx_tensor out[] = { tensor_out(s, 0), tensor_out(s, 1), tensor_out(s, 2) };
	struct nnbx_proposals how = { .stride_h = real_in(s, 4),
		                      .stride_w = real_in(s, 5),
		                      .most_before = int_in(s, 6, -1),
		                      .most = int_in(s, 7, -1),
		                      .iou_threshold = real_in(s, 8),
		                      .min_size = real_in(s, 9),
		                      .nchw = flag_in(s, 10) };
	struct nnbx_box *boxes = s->scratch;
	size_t n = nnbx_generate_proposals(&how, &scores, &deltas, &anchors, &images, boxes);

	for (uint32_t k = 0; k < 3; k++)
		if (!rows_found(s, k, n))
			return NNB_STATUS_GENERAL_FAILURE;
	for (size_t i = 0; i < n && nnbx_worked(20); i++) {
		nnbx_store_one(&out[0], i, boxes[i].score);
		nnbx_store(&out[1], i * 4, 4, boxes[i].corners);
		((int32_t *)out[2].at)[i] = (int32_t)boxes[i].batch;
	}
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_detection_postprocessing(const struct site *s)
{
	struct nnbx_tensor scores = tensor_in(s, 0), deltas = tensor_in(s, 1), anchors = tensor_in(s, 2);
	struct nnbx_tensor out[] = { tensor_out(s, 0), tensor_out(s, 1), tensor_out(s, 2), tensor_out(s, 3) };
	struct nnbx_detection how = { .scale = { real_in(s, 3), real_in(s, 4), real_in(s, 5), real_in(s, 6) },
		                      .regular = flag_in(s, 7),
		                      .most = int_in(s, 8, 0),
		                      .most_classes = int_in(s, 9, 1),
		                      .most_per_class = int_in(s, 10, 1),
		                      .score_threshold = real_in(s, 11),
		                      .iou_threshold = real_in(s, 12),
		                      .with_background = flag_in(s, 13) };

	nnbx_detection_postprocessing(&how, &scores, &deltas, &anchors, s->scratch, out);
	return NNB_STATUS_NONE;
}

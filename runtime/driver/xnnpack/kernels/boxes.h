/*
 * boxes.h -- operations of object detection: regions of images, and which of many boxes are kept.
 *
 * The terms of tensor.h. A box is x1, y1, x2, y2. With every content of the tensors, the functions read nothing
 * outside them: a batch index outside, or a malformed region, is an error and no more.
 */
#ifndef NNBX_BOXES_H
#define NNBX_BOXES_H

#include "tensor.h"

/* False: a batch index is outside. */
bool nnbx_bbox_transform(const struct nnbx_tensor *rois, const struct nnbx_tensor *deltas,
                         const struct nnbx_tensor *batches, const struct nnbx_tensor *images,
                         const struct nnbx_tensor *out);

struct nnbx_roi {
	double stride_h, stride_w;    /* steps of the original image for one step in this one */
	int32_t samples_h, samples_w; /* ROI_ALIGN: in a cell of the output; 0: as many as cells of the image */
	bool nchw;
};

/* False: a batch index or a region is outside. */
bool nnbx_roi_align(const struct nnbx_roi *how, const struct nnbx_tensor *in, const struct nnbx_tensor *rois,
                    const struct nnbx_tensor *batches, const struct nnbx_tensor *out);
bool nnbx_roi_pooling(const struct nnbx_roi *how, const struct nnbx_tensor *in, const struct nnbx_tensor *rois,
                      const struct nnbx_tensor *batches, const struct nnbx_tensor *out);

void nnbx_heatmap_max_keypoint(const struct nnbx_tensor *heatmap, bool nchw, const struct nnbx_tensor *boxes,
                               const struct nnbx_tensor *scores, const struct nnbx_tensor *keypoints);

/* A box that may be kept. */
struct nnbx_box {
	double score, corners[4];
	uint32_t batch, class, index;
};

enum nnbx_nms { NNBX_NMS_HARD = 0, NNBX_NMS_LINEAR = 1, NNBX_NMS_GAUSSIAN = 2 };

struct nnbx_box_limit {
	double score_threshold, iou_threshold, sigma, nms_threshold;
	int64_t most; /* limit for a batch; below 0: no limit */
	enum nnbx_nms nms;
};

/*
 * @boxes: room for one of each region and class. Returns how many are kept, in their order; -1: batches do not ascend
 * from 0.
 */
int64_t nnbx_box_with_nms_limit(const struct nnbx_box_limit *how, const struct nnbx_tensor *scores,
                                const struct nnbx_tensor *rois, const struct nnbx_tensor *batches,
                                struct nnbx_box *boxes);

struct nnbx_proposals {
	double stride_h, stride_w, iou_threshold, min_size;
	int64_t most_before, most; /* limits for a batch, before and after the suppression; 0 or less: no limit */
	bool nchw;
};

/* @boxes: room for one of each anchor, cell and image. Returns how many are kept. */
size_t nnbx_generate_proposals(const struct nnbx_proposals *how, const struct nnbx_tensor *scores,
                               const struct nnbx_tensor *deltas, const struct nnbx_tensor *anchors,
                               const struct nnbx_tensor *images, struct nnbx_box *boxes);

struct nnbx_detection {
	double scale[4]; /* y, x, h, w */
	bool regular, with_background;
	int64_t most, most_classes, most_per_class;
	double score_threshold, iou_threshold;
};

/* @boxes: room for one of each anchor and class. The outputs of all batches; what is not detected is 0. */
void nnbx_detection_postprocessing(const struct nnbx_detection *how, const struct nnbx_tensor *scores,
                                   const struct nnbx_tensor *deltas, const struct nnbx_tensor *anchors,
                                   struct nnbx_box *boxes, const struct nnbx_tensor out[4]);

#endif

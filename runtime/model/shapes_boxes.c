/* shapes_boxes.c -- the shapes of object detection. The number of kept boxes is known only after the run. */
#include "model/shaping.h"

/* Check the regions, input @k, and the image index of each region, input @batches. */
static int want_regions(const view *v, uint32_t k, uint32_t batches)
{
	uint32_t n = nnb__in(v, k)->dims[0];

	return dims_are(v, k, DIMS(n, 4)) || dims_are(v, batches, DIMS(n)) ? -EINVAL : 0;
}

int nnb__shape_bbox_transform(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *deltas = nnb__in(v, 1), *images = nnb__in(v, 3);

	if (rank_between(v, 0, 2, 2) || want_regions(v, 0, 2) || rank_between(v, 1, 2, 2) || rank_between(v, 3, 2, 2) ||
	    dims_are(v, 3, DIMS(images->dims[0], 2)))
		return -EINVAL;
	if (deltas->dims[0] != nnb__in(v, 0)->dims[0] || deltas->dims[1] % 4)
		return REFUSE(v, "there are not 4 changes for each region and class");
	*ret = *deltas;
	return 0;
}

/* Require that a scalar, if known, is above 0. */
static int is_above_zero(const view *v, uint32_t k)
{
	float x;

	return !nnb__in_real(v, k, &x) || x > 0 ? 0 : REFUSE(v, "input %u is not above 0", k);
}

int nnb__shape_roi(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	bool align = v->op->type == NNB_ROI_ALIGN, nchw;
	int32_t h, w, samples;
	struct image_axes at;

	if (rank_between(v, 0, 4, 4) || rank_between(v, 1, 2, 2) || want_regions(v, 1, 2) || is_above_zero(v, 5) ||
	    is_above_zero(v, 6))
		return -EINVAL;
	for (uint32_t k = 7; align && k < 9; k++)
		if (nnb__in_i32(v, k, &samples) && samples < 0)
			return REFUSE(v, "%d samples are wanted", samples);
	if (!nnb__in_i32(v, 3, &h) || !nnb__in_i32(v, 4, &w) || flag_of(v, align ? 9 : 7, &nchw))
		return -ENODATA;
	at = image_axes(nchw);
	if (h < 1 || w < 1 || !in->dims[at.h] || !in->dims[at.w])
		return REFUSE(v, "%u by %u are to become %d by %d", in->dims[at.h], in->dims[at.w], h, w);
	*ret = *in;
	ret->dims[0] = nnb__in(v, 1)->dims[0];
	ret->dims[at.h] = (uint32_t)h;
	ret->dims[at.w] = (uint32_t)w;
	return 0;
}

int nnb__shape_heatmap_max_keypoint(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct image_axes at;
	bool nchw;

	if (rank_between(v, 0, 4, 4) || dims_are(v, 1, DIMS(in->dims[0], 4)))
		return -EINVAL;
	if (flag_of(v, 2, &nchw))
		return -ENODATA;
	at = image_axes(nchw);
	if (in->dims[at.h] != in->dims[at.w] || in->dims[at.h] < 2)
		return REFUSE(v, "a map is %u by %u", in->dims[at.h], in->dims[at.w]);
	shape_set(&ret[0], DIMS(in->dims[0], in->dims[at.c]));
	shape_set(&ret[1], DIMS(in->dims[0], in->dims[at.c], 2));
	return 0;
}

/* Dimensions whose first extent is not known yet. */
static void rows_of(struct nnb_shape *ret, uint32_t width)
{
	*ret = (struct nnb_shape){ .rank = width > 1 ? 2 : 1, .dims = { 0, width > 1 ? width : 0 } };
}

int nnb__shape_box_with_nms_limit(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *scores = nnb__in(v, 0);
	int32_t kernel;

	if (rank_between(v, 0, 2, 2) || rank_between(v, 1, 2, 2) || dims_are(v, 2, DIMS(scores->dims[0])))
		return -EINVAL;
	if (nnb__in(v, 1)->dims[0] != scores->dims[0] || (uint64_t)scores->dims[1] * 4 != nnb__in(v, 1)->dims[1])
		return REFUSE(v, "the regions do not have 4 numbers for each score");
	if (nnb__in_i32(v, 5, &kernel) && (kernel < 0 || kernel > 2))
		return REFUSE(v, "%d is not a kind of suppression", kernel);
	rows_of(&ret[0], 1);
	rows_of(&ret[1], 4);
	rows_of(&ret[2], 1);
	rows_of(&ret[3], 1);
	return 0;
}

int nnb__shape_generate_proposals(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *scores = nnb__in(v, 0), *deltas = nnb__in(v, 1);
	struct image_axes at;
	bool nchw;

	if (rank_between(v, 0, 4, 4) || rank_between(v, 1, 4, 4) || is_above_zero(v, 4) || is_above_zero(v, 5) ||
	    dims_are(v, 3, DIMS(scores->dims[0], 2)))
		return -EINVAL;
	if (flag_of(v, 10, &nchw))
		return -ENODATA;
	at = image_axes(nchw);
	if (deltas->dims[0] != scores->dims[0] || deltas->dims[at.h] != scores->dims[at.h] ||
	    deltas->dims[at.w] != scores->dims[at.w] || (uint64_t)scores->dims[at.c] * 4 != deltas->dims[at.c])
		return REFUSE(v, "the changes are not 4 for each score");
	if (dims_are(v, 2, DIMS(scores->dims[at.c], 4)))
		return -EINVAL;
	rows_of(&ret[0], 1);
	rows_of(&ret[1], 4);
	rows_of(&ret[2], 1);
	return 0;
}

int nnb__shape_detection_postprocessing(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *scores = nnb__in(v, 0), *deltas = nnb__in(v, 1);
	uint32_t batch = scores->dims[0], anchors = scores->dims[1];
	int32_t most, number;

	if (rank_between(v, 0, 3, 3) || rank_between(v, 1, 3, 3) || dims_are(v, 2, DIMS(anchors, 4)))
		return -EINVAL;
	if (deltas->dims[0] != batch || deltas->dims[1] != anchors || deltas->dims[2] < 4)
		return REFUSE(v, "the boxes are not 4 numbers or more for each anchor");
	for (uint32_t k = 3; k < 7; k++)
		if (is_above_zero(v, k))
			return -EINVAL;
	for (uint32_t k = 9; k < 11; k++)
		if (nnb__in_i32(v, k, &number) && number < 1)
			return REFUSE(v, "%d classes or boxes are wanted", number);
	if (!nnb__in_i32(v, 8, &most))
		return -ENODATA;
	if (most < 1)
		return REFUSE(v, "%d boxes are wanted", most);
	shape_set(&ret[0], DIMS(batch, (uint32_t)most));
	shape_set(&ret[1], DIMS(batch, (uint32_t)most, 4));
	shape_set(&ret[2], DIMS(batch, (uint32_t)most));
	shape_set(&ret[3], DIMS(batch));
	return 0;
}

/* boxes.c -- chooses the boxes to keep. */
#include "boxes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { SUPPRESS_UNITS = 20, BOX_UNITS = 100 }; /* units of look.h */

/* ---- one box ---- */

static double box_area(const double c[4])
{
	return (c[2] - c[0]) * (c[3] - c[1]);
}

/* The part of both that they share. */
static double boxes_overlap(const double a[4], const double b[4])
{
	double w = fmin(a[2], b[2]) - fmax(a[0], b[0]), h = fmin(a[3], b[3]) - fmax(a[1], b[1]), shared;

	if (!(w > 0) || !(h > 0))
		return 0;
	shared = w * h;
	return shared / (box_area(a) + box_area(b) - shared);
}

static void load_box(const struct nnbx_tensor *t, size_t index, double ret[4])
{
	nnbx_load(t, index * 4, 1, 4, ret);
}

/* A box moved and stretched by @delta (x, y, log w, log h), and cut off at the image's border. */
static void box_transform(const double roi[4], const double delta[4], double image_w, double image_h, double ret[4])
{
	double w = roi[2] - roi[0], h = roi[3] - roi[1];
	double x = (roi[0] + roi[2]) / 2 + delta[0] * w, y = (roi[1] + roi[3]) / 2 + delta[1] * h;

	w *= exp(delta[2]) / 2;
	h *= exp(delta[3]) / 2;
	ret[0] = fmin(fmax(x - w, 0), image_w);
	ret[1] = fmin(fmax(y - h, 0), image_h);
	ret[2] = fmin(fmax(x + w, 0), image_w);
	ret[3] = fmin(fmax(y + h, 0), image_h);
}

static int32_t index_at(const struct nnbx_tensor *t, size_t at)
{
	return ((const volatile int32_t *)t->at)[at]; /* read once: what is checked is what is used */
}

bool nnbx_bbox_transform(const struct nnbx_tensor *rois, const struct nnbx_tensor *deltas,
                         const struct nnbx_tensor *batches, const struct nnbx_tensor *images,
                         const struct nnbx_tensor *out)
{
	size_t n = rois->dims[0], classes = deltas->dims[1] / 4;

	for (size_t i = 0; i < n && nnbx_worked(BOX_UNITS); i++) {
		int32_t batch = index_at(batches, i);
		double roi[4], delta[4], image[2], to[4];

		if (batch < 0 || (uint32_t)batch >= images->dims[0])
			return false;
		load_box(rois, i, roi);
		nnbx_load(images, (size_t)batch * 2, 1, 2, image);
		for (size_t c = 0; c < classes && nnbx_worked(BOX_UNITS); c++) {
			load_box(deltas, i * classes + c, delta);
			box_transform(roi, delta, image[1], image[0], to);
			nnbx_store(out, (i * classes + c) * 4, 4, to);
		}
	}
	return true;
}

/* ---- orders; all are total, so that a result does not depend on how it was sorted ---- */

static bool is_before(const struct nnbx_box *a, const struct nnbx_box *b, bool by_class)
{
	if (by_class && a->class != b->class)
		return a->class < b->class;
	if (a->score != b->score)
		return a->score > b->score;
	return a->index != b->index ? a->index < b->index : a->class < b->class;
}

static void boxes_swap(struct nnbx_box *a, struct nnbx_box *b)
{
	struct nnbx_box box = *a;

	*a = *b;
	*b = box;
}

static void heap_sink(struct nnbx_box *boxes, size_t at, size_t n, bool by_class)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && is_before(&boxes[child], &boxes[child + 1], by_class))
			child++;
		if (!is_before(&boxes[at], &boxes[child], by_class))
			return;
		boxes_swap(&boxes[at], &boxes[child]);
	}
}

/* A heap sort: it looks, and takes no memory. */
static void boxes_sort(struct nnbx_box *boxes, size_t n, bool by_class)
{
	for (size_t i = n / 2; i-- > 0 && nnbx_worked(BOX_UNITS);)
		heap_sink(boxes, i, n, by_class);
	for (size_t left = n; left > 1 && nnbx_worked(2 * BOX_UNITS);) {
		boxes_swap(&boxes[0], &boxes[--left]);
		heap_sink(boxes, 0, left, by_class);
	}
}

/* ---- suppression ---- */

static double overlap_weight(const struct nnbx_box_limit *how, double iou)
{
	if (how->nms == NNBX_NMS_GAUSSIAN)
		return exp(-iou * iou / how->sigma);
	if (iou < how->iou_threshold)
		return 1;
	return how->nms == NNBX_NMS_LINEAR ? 1 - iou : 0;
}

/* Keep the best, weaken what it overlaps, and so on with the rest. Returns how many of @n are kept, in front. */
static size_t boxes_suppress(const struct nnbx_box_limit *how, struct nnbx_box *boxes, size_t n, int64_t most)
{
	size_t kept = 0;

	while (kept < n && (most < 0 || kept < (size_t)most) && nnbx_worked(SUPPRESS_UNITS)) {
		struct nnbx_box *best = &boxes[kept];

		/* the best comes first */
		for (size_t i = ++kept; i < n && nnbx_worked(4); i++)
			best = is_before(&boxes[i], best, false) ? &boxes[i] : best;
		boxes_swap(&boxes[kept - 1], best);
		best = &boxes[kept - 1];
		for (size_t i = kept; i < n && nnbx_worked(SUPPRESS_UNITS);) {
			double w = overlap_weight(how, boxes_overlap(boxes[i].corners, best->corners));

			boxes[i].score *= w;
			if (!(w > 0) || (how->nms != NNBX_NMS_HARD && boxes[i].score < how->nms_threshold))
				boxes_swap(&boxes[i], &boxes[--n]);
			else
				i++;
		}
	}
	assert(kept <= n);
	return kept;
}

/* ---- BOX_WITH_NMS_LIMIT ---- */

/* The boxes of class @class among regions [from, to) that have the score for it. */
static size_t boxes_collect(const struct nnbx_box_limit *how, const struct nnbx_tensor *scores,
                            const struct nnbx_tensor *rois, size_t from, size_t to, uint32_t class, uint32_t batch,
                            struct nnbx_box *ret)
{
	size_t classes = scores->dims[1], n = 0;

	for (size_t i = from; i < to && nnbx_worked(20); i++) {
		struct nnbx_box box = { .batch = batch, .class = class, .index = (uint32_t)i };

		box.score = nnbx_load_one(scores, i * classes + class);
		if (!(box.score > how->score_threshold))
			continue;
		load_box(rois, i * classes + class, box.corners);
		ret[n++] = box;
	}
	return n;
}

static size_t limit_batch(const struct nnbx_box_limit *how, const struct nnbx_tensor *scores,
                          const struct nnbx_tensor *rois, size_t from, size_t to, uint32_t batch, struct nnbx_box *ret)
{
	size_t n = 0;

	for (uint32_t c = 1; c < scores->dims[1] && nnbx_worked(5); c++) { /* 0 is the background */
		size_t found = boxes_collect(how, scores, rois, from, to, c, batch, ret + n);

		n += boxes_suppress(how, ret + n, found, -1);
	}
	if (how->most > 0 && n > (size_t)how->most) {
		boxes_sort(ret, n, false);
		n = (size_t)how->most;
	}
	boxes_sort(ret, n, true);
	return n;
}

int64_t nnbx_box_with_nms_limit(const struct nnbx_box_limit *how, const struct nnbx_tensor *scores,
                                const struct nnbx_tensor *rois, const struct nnbx_tensor *batches,
                                struct nnbx_box *boxes)
{
	size_t regions = scores->dims[0], kept = 0;
	int32_t before = -1;

	for (size_t from = 0, to; from < regions && nnbx_worked(5); from = to) {
		int32_t batch = index_at(batches, from);

		if (batch <= before)
			return -1;
		before = batch;
		for (to = from + 1; to < regions && nnbx_worked(2) && index_at(batches, to) == batch;)
			to++;
		kept += limit_batch(how, scores, rois, from, to, (uint32_t)batch, boxes + kept);
	}
	return (int64_t)kept;
}

/* ---- GENERATE_PROPOSALS ---- */

/* The box of anchor @a at cell (y, x), with its score. */
static struct nnbx_box box_propose(const struct nnbx_proposals *how, const struct nnbx_tensor *scores,
                                   const struct nnbx_tensor *deltas, const struct nnbx_tensor *anchors,
                                   const double image[2], size_t batch, const size_t at[3])
{
	struct nnbx_image s = nnbx_image(scores->dims, how->nchw), d = nnbx_image(deltas->dims, how->nchw);
	size_t y = at[0], x = at[1], a = at[2];
	struct nnbx_box box = { .batch = (uint32_t)batch, .index = (uint32_t)((y * s.w + x) * s.c + a) };
	double roi[4], delta[4], shift_x = (double)x * how->stride_w, shift_y = (double)y * how->stride_h;

	box.score = nnbx_load_one(scores, batch * s.step_batch + y * s.step_h + x * s.step_w + a * s.step_c);
	nnbx_load(deltas, batch * d.step_batch + y * d.step_h + x * d.step_w + a * 4 * d.step_c, d.step_c, 4, delta);
	load_box(anchors, a, roi);
	roi[0] += shift_x;
	roi[1] += shift_y;
	roi[2] += shift_x;
	roi[3] += shift_y;
	box_transform(roi, delta, image[1], image[0], box.corners);
	return box;
}

static size_t propose_batch(const struct nnbx_proposals *how, const struct nnbx_tensor *scores,
                            const struct nnbx_tensor *deltas, const struct nnbx_tensor *anchors,
                            const struct nnbx_tensor *images, size_t batch, struct nnbx_box *ret)
{
	struct nnbx_box_limit hard = { .iou_threshold = how->iou_threshold };
	struct nnbx_image s = nnbx_image(scores->dims, how->nchw);
	double image[2];
	size_t n = 0, kept = 0;

	nnbx_load(images, batch * 2, 1, 2, image);
	for (size_t y = 0; y < s.h && nnbx_worked(1); y++)
		for (size_t x = 0; x < s.w && nnbx_worked(1); x++)
			for (size_t a = 0; a < s.c && nnbx_worked(BOX_UNITS); a++)
				ret[n++] = box_propose(how, scores, deltas, anchors, image, batch,
				                       (const size_t[]){ y, x, a });
	if (how->most_before > 0 && n > (size_t)how->most_before) {
		boxes_sort(ret, n, false);
		n = (size_t)how->most_before;
	}
	for (size_t i = 0; i < n && nnbx_worked(10); i++) {
		const double *c = ret[i].corners;
		bool large = c[2] - c[0] > how->min_size && c[3] - c[1] > how->min_size;

		if (large && (c[0] + c[2]) / 2 < image[1] &&
		    (c[1] + c[3]) / 2 < image[0]) /* its centre is in the image */
			ret[kept++] = ret[i];
	}
	return boxes_suppress(&hard, ret, kept, how->most > 0 ? how->most : -1);
}

size_t nnbx_generate_proposals(const struct nnbx_proposals *how, const struct nnbx_tensor *scores,
                               const struct nnbx_tensor *deltas, const struct nnbx_tensor *anchors,
                               const struct nnbx_tensor *images, struct nnbx_box *boxes)
{
	size_t n = 0;

	for (size_t b = 0; b < scores->dims[0] && nnbx_worked(1); b++)
		n += propose_batch(how, scores, deltas, anchors, images, b, boxes + n);
	return n;
}

/* ---- DETECTION_POSTPROCESSING ---- */

/* One batch of it. Its boxes are y, x, h, w, and y1, x1, y2, x2 once they are decoded. */
struct detecting {
	const struct nnbx_detection *how;
	const struct nnbx_tensor *scores, *deltas, *anchors, *out;
	size_t batch, anchor_count, classes;
	struct nnbx_box *boxes;
};

static void anchor_decode(const struct detecting *d, size_t anchor, double ret[4])
{
	size_t length = d->deltas->dims[2];
	double a[4], b[4], h, w, y, x;

	load_box(d->anchors, anchor, a);
	nnbx_load(d->deltas, (d->batch * d->anchor_count + anchor) * length, 1, 4, b);
	y = b[0] / d->how->scale[0] * a[2] + a[0];
	x = b[1] / d->how->scale[1] * a[3] + a[1];
	h = exp(b[2] / d->how->scale[2]) * a[2] / 2;
	w = exp(b[3] / d->how->scale[3]) * a[3] / 2;
	ret[0] = y - h;
	ret[1] = x - w;
	ret[2] = y + h;
	ret[3] = x + w;
}

static double score_of(const struct detecting *d, size_t anchor, size_t class)
{
	return nnbx_load_one(d->scores, (d->batch * d->anchor_count + anchor) * d->classes + class);
}

static void box_report(const struct detecting *d, size_t place, const struct nnbx_box *box)
{
	size_t at = d->batch * (size_t)d->how->most + place;

	assert(place < (size_t)d->how->most);
	nnbx_store_one(&d->out[0], at, box->score);
	nnbx_store(&d->out[1], at * 4, 4, box->corners);
	((int32_t *)d->out[2].at)[at] = (int32_t)box->class - (d->how->with_background ? 0 : 1);
}

/* Each class by itself; then the best of all. */
static size_t detect_regular(const struct detecting *d)
{
	struct nnbx_box_limit hard = { .iou_threshold = d->how->iou_threshold };
	size_t n = 0;

	for (size_t c = 1; c < d->classes && nnbx_worked(5); c++) {
		size_t found = 0;

		for (size_t a = 0; a < d->anchor_count && nnbx_worked(BOX_UNITS); a++) {
			struct nnbx_box box = { .class = (uint32_t)c, .index = (uint32_t)a };

			box.score = score_of(d, a, c);
			if (!(box.score > d->how->score_threshold))
				continue;
			anchor_decode(d, a, box.corners);
			d->boxes[n + found++] = box;
		}
		n += boxes_suppress(&hard, d->boxes + n, found, d->how->most_per_class);
	}
	boxes_sort(d->boxes, n, false);
	if (n > (size_t)d->how->most)
		n = (size_t)d->how->most;
	for (size_t i = 0; i < n && nnbx_worked(10); i++)
		box_report(d, i, &d->boxes[i]);
	return n;
}

/* The best classes of one anchor, the best first. Returns the places that are taken by then. */
static size_t report_classes(const struct detecting *d, const struct nnbx_box *box, size_t place)
{
	struct nnbx_box last = *box, best;
	bool first = true;

	for (int64_t k = 0; k < d->how->most_classes && place < (size_t)d->how->most; k++) {
		best = (struct nnbx_box){ .class = UINT32_MAX };
		for (uint32_t c = 1; c < d->classes && nnbx_worked(10); c++) {
			struct nnbx_box this = *box;

			this.class = c;
			this.score = score_of(d, box->index, c);
			if ((first || is_before(&last, &this, false)) &&
			    (best.class == UINT32_MAX || is_before(&this, &best, false)))
				best = this;
		}
		if (best.class == UINT32_MAX)
			break;
		first = false;
		last = best;
		box_report(d, place++, &best);
	}
	return place;
}

/* Anchors by their best class; then the best classes of each. */
static size_t detect_fast(const struct detecting *d)
{
	struct nnbx_box_limit hard = { .iou_threshold = d->how->iou_threshold };
	size_t found = 0, place = 0;

	for (size_t a = 0; a < d->anchor_count && nnbx_worked(BOX_UNITS); a++) {
		struct nnbx_box box = { .score = -INFINITY, .index = (uint32_t)a };

		for (size_t c = 1; c < d->classes && nnbx_worked(5); c++)
			box.score = fmax(box.score, score_of(d, a, c));
		if (!(box.score > d->how->score_threshold))
			continue;
		anchor_decode(d, a, box.corners);
		d->boxes[found++] = box;
	}
	found = boxes_suppress(&hard, d->boxes, found, d->how->most);
	for (size_t i = 0; i < found && nnbx_worked(10); i++)
		place = report_classes(d, &d->boxes[i], place);
	return place;
}

void nnbx_detection_postprocessing(const struct nnbx_detection *how, const struct nnbx_tensor *scores,
                                   const struct nnbx_tensor *deltas, const struct nnbx_tensor *anchors,
                                   struct nnbx_box *boxes, const struct nnbx_tensor out[4])
{
	struct detecting d = { .how = how,
		               .scores = scores,
		               .deltas = deltas,
		               .anchors = anchors,
		               .out = out,
		               .anchor_count = scores->dims[1],
		               .classes = scores->dims[2],
		               .boxes = boxes };

	for (int k = 0; k < 3; k++)
		nnbx_clear(out[k].at, nnbx_elements(&out[k]) * nnbx_element_bytes(&out[k]));
	for (; d.batch < scores->dims[0] && nnbx_worked(1); d.batch++)
		((int32_t *)out[3].at)[d.batch] = (int32_t)(how->regular ? detect_regular(&d) : detect_fast(&d));
}

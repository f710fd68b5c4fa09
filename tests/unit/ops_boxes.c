/* ops_boxes.c -- oracles of object detection: regions of images, and the choice among many boxes. */
#include "unit/op_oracle.h"

/* ---- boxes ---- */

enum { SIDE = 32 /* the image's height and width */, BOXES_MAX = 256 };

/* Corners have the row's type; where that is bytes, they are 16 bits in steps of 1/8. */
static uint32_t corner_type(const struct maker *k)
{
	return is_real(k->type) ? k->type : NNB_TENSOR_QUANT16_ASYMM;
}

static struct tensor *corners_tensor(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims)
{
	return tensor_make(k, type, rank, dims, 0.125f, 0);
}

static struct tensor *want_corners(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_want(k, corner_type(k), rank, dims, 0.125f, 0);
}

static double random_real(double least, double most)
{
	return least + (most - least) * random_below(20001) / 20000;
}

/* One box: x1, y1, x2, y2 within an image of @w by @h. */
static void random_box(struct tensor *t, size_t at, double w, double h)
{
	double side[2] = { w, h };

	for (int d = 0; d < 2; d++) {
		double a = random_real(0, side[d]), b = random_real(0, side[d]);

		encode_nearest(t, at + (size_t)d, fmin(a, b));
		encode_nearest(t, at + (size_t)d + 2, fmax(a, b));
	}
}

/* @n boxes for each of @classes. */
static struct tensor *give_boxes(struct maker *k, uint32_t n, uint32_t classes, double w, double h)
{
	struct tensor *t = corners_tensor(k, corner_type(k), 2, (uint32_t[]){ n, 4 * classes });

	for (size_t i = 0; i < (size_t)n * classes; i++)
		random_box(t, 4 * i, w, h);
	return give_filled(k, t, false);
}

/* The image of each of @n boxes, in ascending order. */
static struct tensor *give_batches(struct maker *k, uint32_t n, uint32_t batch)
{
	int32_t of[64], last = 0;

	assert_true(n <= N_OF(of));
	for (uint32_t i = 0; i < n; i++) {
		while (last + 1 < (int32_t)batch && random_chance(30))
			last++;
		of[i] = last;
	}
	return integers_give(k, n, of, false);
}

/* The height and width of each image. */
static struct tensor *give_image_sizes(struct maker *k, uint32_t batch)
{
	struct tensor *t = corners_tensor(k, corner_type(k), 2, (uint32_t[]){ batch, 2 });

	for (size_t i = 0; i < t->n; i++)
		encode_nearest(t, i, random_between(SIDE / 2, SIDE));
	return give_filled(k, t, false);
}

/* Scores that all differ, even as bytes. */
static struct tensor *give_scores(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	struct tensor *t = tensor_make(k, k->type, rank, dims, 1.0f / 256, 0);
	uint32_t order[BOXES_MAX];

	assert_true(t->n <= BOXES_MAX);
	for (uint32_t i = 0; i < BOXES_MAX; i++)
		order[i] = i;
	for (size_t i = 0; i < t->n; i++) {
		size_t other = i + random_below(BOXES_MAX - (uint32_t)i);
		uint32_t swap = order[i];

		order[i] = order[other];
		order[other] = swap;
		encode_nearest(t, i, order[i] / 256.0);
		if (k->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED || k->type == NNB_TENSOR_QUANT8_ASYMM)
			assert_true(t->reals[i] == order[i] / 256.0);
	}
	return give_filled(k, t, false);
}

struct box {
	double score, at[4];
	uint32_t class, batch;
	bool gone;
};

static double overlap_of(const struct box *a, const struct box *b)
{
	double shared = 1, areas = 0;

	for (int d = 0; d < 2; d++)
		shared *= fmax(0, fmin(a->at[d + 2], b->at[d + 2]) - fmax(a->at[d], b->at[d]));
	areas = (a->at[2] - a->at[0]) * (a->at[3] - a->at[1]) + (b->at[2] - b->at[0]) * (b->at[3] - b->at[1]);
	return shared > 0 ? shared / (areas - shared) : 0;
}

/* A box, moved by deltas of its size, stretched by their exponentials, and cut off at the image's border. */
static void moved_box(const double roi[4], const double delta[4], const double image[2], double ret[4])
{
	for (int d = 0; d < 2; d++) {
		double size = roi[d + 2] - roi[d], centre = (roi[d] + roi[d + 2]) / 2 + delta[d] * size;
		double half = exp(delta[d + 2]) * size / 2, border = image[1 - d];

		ret[d] = fmin(fmax(centre - half, 0), border);
		ret[d + 2] = fmin(fmax(centre + half, 0), border);
	}
}

/* ---- AXIS_ALIGNED_BBOX_TRANSFORM ---- */

static void make_bbox_transform(struct maker *k)
{
	uint32_t n = random_between(1, 8), classes = random_between(1, 4), batch = random_between(1, 3);
	struct tensor *rois, *deltas, *batches, *images, *out;

	if (k->second) {
		rois = corners_tensor(k, k->type, 2, (uint32_t[]){ n, 4 });
		for (size_t i = 0; i < n; i++)
			random_box(rois, 4 * i, SIDE / 2, SIDE / 2);
		give_filled(k, rois, false);
		deltas = tensor_make(k, k->second, 2, (uint32_t[]){ n, 4 * classes }, 1.0f / 256, 128);
	} else {
		rois = give_boxes(k, n, 1, SIDE / 2, SIDE / 2);
		deltas = tensor_make(k, k->type, 2, (uint32_t[]){ n, 4 * classes }, 0, 0);
	}
	tensor_give(k, deltas, 0.5, false);
	batches = give_batches(k, n, batch);
	images = give_image_sizes(k, batch);
	out = want_corners(k, 2, (uint32_t[]){ n, 4 * classes });
	for (uint32_t i = 0; i < n * classes; i++)
		moved_box(rois->reals + 4 * (size_t)(i / classes), deltas->reals + 4 * (size_t)i,
		          images->reals + 2 * (size_t)batches->reals[i / classes], out->reals + 4 * (size_t)i);
}

/* ---- the choice of boxes ---- */

/* The best of the boxes that are left; NULL if no box is left. */
static struct box *best_of(struct box *boxes, size_t n)
{
	struct box *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (!boxes[i].gone && (!best || boxes[i].score > best->score))
			best = &boxes[i];
	return best;
}

struct suppression {
	uint32_t kind; /* 0 hard, 1 linear, 2 gaussian */
	double iou, sigma, least;
};

/* Keep the best box, weaken those that it overlaps, and repeat. @most 0: any number. Returns how many are kept. */
static size_t boxes_suppressed(const struct suppression *s, struct box *boxes, size_t n, size_t most, struct box *ret)
{
	size_t kept = 0;

	for (struct box *best; (!most || kept < most) && (best = best_of(boxes, n));) {
		ret[kept++] = *best;
		best->gone = true;
		for (size_t i = 0; i < n; i++) {
			double iou = overlap_of(best, &boxes[i]);

			if (boxes[i].gone)
				continue;
			if (s->kind == 2)
				boxes[i].score *= exp(-iou * iou / s->sigma);
			else if (iou >= s->iou)
				boxes[i].score *= s->kind == 1 ? 1 - iou : 0;
			boxes[i].gone = s->kind ? boxes[i].score < s->least : iou >= s->iou;
		}
	}
	return kept;
}

/* The best @most of @boxes, best first. Returns how many. */
static size_t best_few(const struct box *boxes, size_t n, size_t most, struct box *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t before = 0;

		for (size_t other = 0; other < n; other++)
			before += boxes[other].score > boxes[i].score;
		if (before < most) {
			ret[before] = boxes[i];
			kept++;
		}
	}
	return kept;
}

/* Outputs for @n boxes: scores, corners, if @classes classes, then batches. */
static void want_boxes(struct maker *k, const struct box *boxes, uint32_t n, bool classes)
{
	struct tensor *scores, *at, *of_class = NULL, *of_batch;

	k->late = random_chance(50);
	scores = tensor_want(k, k->type, 1, (uint32_t[]){ n }, 1.0f / 256, 0);
	at = want_corners(k, 2, (uint32_t[]){ n, 4 });
	if (classes)
		of_class = tensor_want(k, NNB_TENSOR_INT32, 1, (uint32_t[]){ n }, 0, 0);
	of_batch = tensor_want(k, NNB_TENSOR_INT32, 1, (uint32_t[]){ n }, 0, 0);
	for (uint32_t i = 0; i < n; i++) {
		scores->reals[i] = boxes[i].score;
		memcpy(at->reals + 4 * (size_t)i, boxes[i].at, sizeof(boxes[i].at));
		if (classes)
			of_class->reals[i] = boxes[i].class;
		of_batch->reals[i] = boxes[i].batch;
	}
}

/* Order boxes by class, and in a class by score. */
static size_t by_class(const struct box *boxes, size_t n, uint32_t classes, struct box *ret)
{
	struct box of_class[BOXES_MAX];
	size_t kept = 0;

	for (uint32_t c = 0; c < classes; c++) {
		size_t some = 0;

		for (size_t i = 0; i < n; i++)
			if (boxes[i].class == c)
				of_class[some++] = boxes[i];
		kept += best_few(of_class, some, some, ret + kept);
	}
	return kept;
}

static void make_box_with_nms_limit(struct maker *k)
{
	uint32_t n = random_between(1, 12), classes = random_between(2, 5), batch = random_between(1, 2),
		 most = random_below(8);
	struct tensor *scores = give_scores(k, 2, (uint32_t[]){ n, classes });
	struct tensor *rois = give_boxes(k, n, classes, SIDE, SIDE), *batches = give_batches(k, n, batch);
	struct box all[BOXES_MAX], kept[BOXES_MAX], few[BOXES_MAX], out[BOXES_MAX];
	struct suppression s;
	double threshold = is_real(k->type) ? number_give(k, 0.3) : float_number(k, 0.3);
	size_t n_out = 0;

	integer_give(k, most ? (int32_t)most : -1);
	s.kind = random_below(3);
	integer_give(k, (int32_t)s.kind);
	s.iou = number_give(k, 0.2);
	s.sigma = number_give(k, 0.5);
	s.least = number_give(k, 0.35);
	for (uint32_t b = 0; b < batch; b++) {
		size_t n_kept = 0;

		for (uint32_t c = 1; c < classes; c++) { /* class 0 is the background */
			size_t found = 0;

			for (uint32_t i = 0; i < n; i++) {
				struct box box = { .score = scores->reals[i * classes + c], .class = c, .batch = b };

				memcpy(box.at, rois->reals + 4 * (size_t)(i * classes + c), sizeof(box.at));
				if (batches->reals[i] == b && box.score > threshold)
					all[found++] = box;
			}
			n_kept += boxes_suppressed(&s, all, found, 0, kept + n_kept);
		}
		n_kept = best_few(kept, n_kept, most ? most : n_kept, few);
		n_out += by_class(few, n_kept, classes, out + n_out);
	}
	want_boxes(k, out, (uint32_t)n_out, true);
}

/* ---- GENERATE_PROPOSALS ---- */

static void make_generate_proposals(struct maker *k)
{
	struct image s = { random_between(1, 2), random_between(1, 3), random_between(1, 3), random_between(1, 4) },
		     d = s;
	uint32_t before = random_below(12), most = random_below(8), dims[4];
	struct tensor *scores, *deltas, *anchors, *images;
	struct box all[BOXES_MAX], few[BOXES_MAX], out[BOXES_MAX];
	struct suppression hard = { .kind = 0 };
	double stride[2], least;
	size_t n_out = 0;

	k->nchw = random_chance(50);
	image_dims(k, s, dims);
	scores = give_scores(k, 4, dims);
	d.c *= 4;
	image_dims(k, d, dims);
	deltas = tensor_give(k, tensor_make(k, k->second ? k->second : k->type, 4, dims, 1.0f / 256, 128), 0.5, false);
	anchors = tensor_make(k, k->second ? NNB_TENSOR_QUANT16_SYMM : k->type, 2, (uint32_t[]){ s.c, 4 }, 0.125f, 0);
	for (uint32_t a = 0; a < s.c; a++)
		random_box(anchors, 4 * (size_t)a, SIDE / 2, SIDE / 2);
	give_filled(k, anchors, false);
	images = give_image_sizes(k, s.b);
	stride[0] = number_give(k, 5);
	stride[1] = number_give(k, 6);
	integer_give(k, before ? (int32_t)before : -1);
	integer_give(k, most ? (int32_t)most : -1);
	hard.iou = number_give(k, 0.25);
	least = number_give(k, 1.5);
	truth_give(k, k->nchw);
	for (uint32_t b = 0; b < s.b; b++) {
		const double *size = images->reals + 2 * (size_t)b;
		size_t n = 0, kept = 0;

		EACH_CELL(s, image, y, x, a)
		{
			struct box box = { .score = scores->reals[image_cell(k, s, b, y, x, a)], .batch = b };
			double roi[4], delta[4];

			if (image != b)
				continue;

			for (uint32_t i = 0; i < 4; i++) {
				roi[i] = anchors->reals[4 * a + i] + (i % 2 ? y * stride[0] : x * stride[1]);
				delta[i] = deltas->reals[image_cell(k, d, b, y, x, 4 * a + i)];
			}
			moved_box(roi, delta, size, box.at);
			all[n++] = box;
		}
		n = best_few(all, n, before ? before : n, few);
		for (size_t i = 0; i < n; i++) {
			const double *c = few[i].at;

			if (c[2] - c[0] > least && c[3] - c[1] > least && (c[0] + c[2]) / 2 < size[1] &&
			    (c[1] + c[3]) / 2 < size[0])
				all[kept++] = few[i];
		}
		n_out += boxes_suppressed(&hard, all, kept, most, out + n_out);
	}
	want_boxes(k, out, (uint32_t)n_out, false);
}

/* ---- DETECTION_POSTPROCESSING ---- */

struct detection {
	uint32_t anchors, classes, most, most_classes, most_per_class;
	double scale[4], least;
	const struct tensor *scores, *deltas, *sizes;
	struct suppression hard;
};

/* Anchors are y, x, height and width; detected boxes are y1, x1, y2, x2. */
static struct box box_detected(const struct detection *d, uint32_t b, uint32_t a, uint32_t class)
{
	size_t at = (size_t)b * d->anchors + a, length = d->deltas->operand.dims[2];
	const double *delta = d->deltas->reals + at * length, *anchor = d->sizes->reals + 4 * (size_t)a;
	struct box box = { .score = d->scores->reals[at * d->classes + class], .class = class, .batch = a };

	for (int i = 0; i < 2; i++) {
		double centre = anchor[i] + delta[i] / d->scale[i] * anchor[i + 2];
		double half = exp(delta[i + 2] / d->scale[i + 2]) * anchor[i + 2] / 2;

		box.at[i] = centre - half;
		box.at[i + 2] = centre + half;
	}
	return box;
}

static size_t detect_by_class(const struct detection *d, uint32_t b, struct box *ret)
{
	struct box all[BOXES_MAX], kept[BOXES_MAX];
	size_t n = 0;

	for (uint32_t c = 1; c < d->classes; c++) {
		size_t found = 0;

		for (uint32_t a = 0; a < d->anchors; a++) {
			all[found] = box_detected(d, b, a, c);
			found += all[found].score > d->least;
		}
		n += boxes_suppressed(&d->hard, all, found, d->most_per_class, kept + n);
	}
	return best_few(kept, n, d->most, ret);
}

/* Each anchor is judged by its best class, and gives its best few classes. */
static size_t detect_by_anchor(const struct detection *d, uint32_t b, struct box *ret)
{
	struct box all[BOXES_MAX], kept[BOXES_MAX], of_anchor[BOXES_MAX], few[BOXES_MAX];
	size_t n = 0, found = 0, place = 0;

	for (uint32_t a = 0; a < d->anchors; a++) {
		struct box best = box_detected(d, b, a, 1);

		for (uint32_t c = 2; c < d->classes; c++)
			best.score = fmax(best.score, box_detected(d, b, a, c).score);
		if (best.score > d->least)
			all[found++] = best;
	}
	n = boxes_suppressed(&d->hard, all, found, d->most, kept);
	for (size_t i = 0; i < n; i++) {
		size_t some;

		for (uint32_t c = 1; c < d->classes; c++)
			of_anchor[c - 1] = box_detected(d, b, kept[i].batch, c);
		some = best_few(of_anchor, d->classes - 1, d->most_classes, few);
		for (size_t j = 0; j < some && place < d->most; j++)
			ret[place++] = few[j];
	}
	return place;
}

static void make_detection_postprocessing(struct maker *k)
{
	struct detection d = { .anchors = random_between(1, 12),
		               .classes = random_between(2, 5),
		               .most = random_between(1, 8),
		               .most_classes = random_between(1, 3),
		               .most_per_class = random_between(1, 6) };
	uint32_t batch = random_between(1, 2), length = random_between(4, 6);
	bool regular = random_chance(50), background;
	struct tensor *sizes, *scores, *boxes, *classes, *counts;

	d.scores = give_scores(k, 3, (uint32_t[]){ batch, d.anchors, d.classes });
	d.deltas = tensor_give(k, tensor_make(k, k->type, 3, (uint32_t[]){ batch, d.anchors, length }, 0, 0), 2, false);
	sizes = tensor_make(k, k->type, 2, (uint32_t[]){ d.anchors, 4 }, 0, 0);
	d.sizes = give_between(k, sizes, 1, 4, false);
	for (int i = 0; i < 4; i++)
		d.scale[i] = number_give(k, i < 2 ? 2 : 4);
	truth_give(k, regular);
	integer_give(k, (int32_t)d.most);
	integer_give(k, (int32_t)d.most_classes);
	integer_give(k, (int32_t)d.most_per_class);
	d.least = number_give(k, 0.3);
	d.hard.iou = number_give(k, 0.25);
	background = random_chance(50);
	truth_give(k, background);
	scores = tensor_want(k, k->type, 2, (uint32_t[]){ batch, d.most }, 0, 0);
	boxes = tensor_want(k, k->type, 3, (uint32_t[]){ batch, d.most, 4 }, 0, 0);
	classes = tensor_want(k, NNB_TENSOR_INT32, 2, (uint32_t[]){ batch, d.most }, 0, 0);
	counts = tensor_want(k, NNB_TENSOR_INT32, 1, (uint32_t[]){ batch }, 0, 0);
	for (uint32_t b = 0; b < batch; b++) {
		struct box out[BOXES_MAX];
		size_t n = regular ? detect_by_class(&d, b, out) : detect_by_anchor(&d, b, out);

		counts->reals[b] = (double)n;
		for (size_t i = 0; i < n; i++) {
			size_t at = (size_t)b * d.most + i;

			scores->reals[at] = out[i].score;
			memcpy(boxes->reals + 4 * at, out[i].at, sizeof(out[i].at));
			classes->reals[at] = out[i].class - (background ? 0.0 : 1.0);
		}
	}
}

/* ---- regions ---- */

struct regions {
	struct image in, out; /* out: one image for each region */
	struct tensor *image, *boxes, *batches;
	double stride[2];
	int32_t samples[2]; /* ROI_ALIGN: samples in an output cell; 0: as many as image cells */
};

static struct regions random_regions(struct maker *k, bool aligns)
{
	struct regions r = { .in = { random_between(1, 2), random_between(2, 6), random_between(2, 6),
		                     random_between(1, 3) } };
	uint32_t dims[4];

	k->nchw = random_chance(50);
	r.out = (struct image){ random_between(1, 5), random_between(1, 4), random_between(1, 4), r.in.c };
	image_dims(k, r.in, dims);
	r.image = tensor_give(k, tensor_make(k, k->type, 4, dims, 1.0f / 64, 100), 2, false);
	/* corners are 4 and 2 times as far apart as the image's cells */
	r.boxes = give_boxes(k, r.out.b, 1, r.in.w * 2, r.in.h * 4);
	r.batches = give_batches(k, r.out.b, r.in.b);
	integer_give(k, (int32_t)r.out.h);
	integer_give(k, (int32_t)r.out.w);
	r.stride[0] = number_give(k, 4);
	r.stride[1] = number_give(k, 2);
	for (int d = 0; aligns && d < 2; d++) {
		r.samples[d] = (int32_t)random_below(4);
		integer_give(k, r.samples[d]);
	}
	truth_give(k, k->nchw);
	return r;
}

/* Each cell is the mean of points at even distances in it. */
static void make_roi_align(struct maker *k)
{
	struct regions r = random_regions(k, true);
	uint32_t dims[4];
	struct tensor *out;

	image_dims(k, r.out, dims);
	out = tensor_want(k, k->type, 4, dims, 1.0f / 50, 90);
	EACH_CELL(r.out, i, y, x, c)
	{
		const double *box = r.boxes->reals + 4 * (size_t)i;
		double from[2], size[2], sum = 0;
		uint32_t n[2];

		for (int d = 0; d < 2; d++) { /* y, x */
			uint32_t cells = d ? r.out.w : r.out.h;

			from[d] = box[1 - d] / r.stride[d];
			size[d] = fmax(box[3 - d] / r.stride[d] - from[d], 1) / cells;
			n[d] = r.samples[d] ? (uint32_t)r.samples[d] : (uint32_t)fmax(ceil(size[d]), 1);
			from[d] += (d ? x : y) * size[d];
		}
		for (uint32_t v = 0; v < n[0]; v++)
			for (uint32_t h = 0; h < n[1]; h++)
				sum += image_sample(k, r.in, r.image, (uint32_t)r.batches->reals[i],
				                    from[0] + size[0] * (v + 0.5) / n[0],
				                    from[1] + size[1] * (h + 0.5) / n[1], c);
		out->reals[image_cell(k, r.out, i, y, x, c)] = sum / n[0] / n[1];
	}
}

/* Whether cell @at of the image lies in cell @of of the region, which has @cells cells. */
static bool is_pooled(double from, double to, double stride, uint32_t of, uint32_t cells, uint32_t at)
{
	double first = round(from / stride), step = fmax(round(to / stride) - first + 1, 1) / cells;

	return at >= floor(first + step * of) && at < ceil(first + step * (of + 1));
}

/* Each cell is the maximum of the image's cells that it touches. */
static void make_roi_pooling(struct maker *k)
{
	struct regions r = random_regions(k, false);
	uint32_t dims[4];
	struct tensor *out;

	image_dims(k, r.out, dims);
	out = tensor_want(k, k->type, 4, dims, 1.0f / 64, 100);
	EACH_CELL(r.out, i, y, x, c)
	{
		const double *box = r.boxes->reals + 4 * (size_t)i;
		double most = -INFINITY;

		for (uint32_t v = 0; v < r.in.h; v++)
			for (uint32_t h = 0; h < r.in.w; h++)
				if (is_pooled(box[1], box[3], r.stride[0], y, r.out.h, v) &&
				    is_pooled(box[0], box[2], r.stride[1], x, r.out.w, h))
					most = fmax(most, r.image->reals[image_cell(
								  k, r.in, (uint32_t)r.batches->reals[i], v, h, c)]);
		out->reals[image_cell(k, r.out, i, y, x, c)] = isinf(most) ? 0 : most;
	}
}

/* ---- HEATMAP_MAX_KEYPOINT ---- */

/* The element @dy and @dx from (y, x); beyond the border, the element at the border. */
static double value_beside(const struct maker *k, struct image s, const struct tensor *in, uint32_t b, uint32_t y,
                           uint32_t x, uint32_t c, int dy, int dx)
{
	int at_y = abs((int)y + dy), at_x = abs((int)x + dx);

	at_y = at_y >= (int)s.h ? 2 * (int)s.h - 2 - at_y : at_y;
	at_x = at_x >= (int)s.w ? 2 * (int)s.w - 2 - at_x : at_x;
	return in->reals[image_cell(k, s, b, (uint32_t)at_y, (uint32_t)at_x, c)];
}

/* The top of the paraboloid through the cells around (y, x), by Newton's step. */
static void place_refined(const struct maker *k, struct image s, const struct tensor *in, uint32_t b, uint32_t y,
                          uint32_t x, uint32_t c, double step[2], double *score)
{
#define AT(dy, dx) value_beside(k, s, in, b, y, x, c, dy, dx)
	double gx = (AT(0, 1) - AT(0, -1)) / 2, gy = (AT(1, 0) - AT(-1, 0)) / 2;
	double hxx = AT(0, 1) - 2 * AT(0, 0) + AT(0, -1), hyy = AT(1, 0) - 2 * AT(0, 0) + AT(-1, 0);
	double hxy = (AT(1, 1) - AT(1, -1) - AT(-1, 1) + AT(-1, -1)) / 4, det = hxx * hyy - hxy * hxy, longest;

	step[0] = step[1] = 0;
	*score = AT(0, 0);
#undef AT
	if (fabs(det) < 1e-5 + 1e-5 * hxx * hyy)
		return;
	step[0] = -(hyy * gx - hxy * gy) / det;
	step[1] = -(hxx * gy - hxy * gx) / det;
	longest = fmax(fabs(step[0]), fabs(step[1]));
	for (int i = 0; longest > 1.5 && i < 2; i++)
		step[i] *= 1.5 / longest;
	*score += gx * step[0] + gy * step[1] +
	          (hxx * step[0] * step[0] + 2 * hxy * step[0] * step[1] + hyy * step[1] * step[1]) / 2;
}

static void make_heatmap(struct maker *k)
{
	uint32_t side = random_between(2, 6), dims[4];
	struct image s = { random_between(1, 2), side, side, random_between(1, 3) };
	struct tensor *in, *boxes, *scores, *points;

	k->nchw = random_chance(50);
	image_dims(k, s, dims);
	in = give_scores(k, 4, dims);
	boxes = give_boxes(k, s.b, 1, SIDE, SIDE);
	truth_give(k, k->nchw);
	scores = tensor_want(k, k->type, 2, (uint32_t[]){ s.b, s.c }, 1.0f / 100, 20);
	points = want_corners(k, 3, (uint32_t[]){ s.b, s.c, 2 });
	for (uint32_t b = 0; b < s.b; b++)
		for (uint32_t c = 0; c < s.c; c++) {
			const double *box = boxes->reals + 4 * (size_t)b;
			double most = -INFINITY, step[2];
			uint32_t y = 0, x = 0;

			for (uint32_t i = 0; i < side * side; i++) {
				double here = in->reals[image_cell(k, s, b, i / side, i % side, c)];

				if (here <= most)
					continue;
				most = here;
				y = i / side;
				x = i % side;
			}
			place_refined(k, s, in, b, y, x, c, step, &scores->reals[b * s.c + c]);
			points->reals[2 * (b * s.c + c)] = box[0] + (x + 0.5 + step[0]) * (box[2] - box[0]) / side;
			points->reals[2 * (b * s.c + c) + 1] = box[1] + (y + 0.5 + step[1]) * (box[3] - box[1]) / side;
		}
}

/* ---- the table ---- */

const struct op_family op_families_boxes[] = {
	{ NNB_AXIS_ALIGNED_BBOX_TRANSFORM, make_bbox_transform, "FH" },
	{ NNB_AXIS_ALIGNED_BBOX_TRANSFORM, make_bbox_transform, "A", "QS" },
	{ NNB_BOX_WITH_NMS_LIMIT, make_box_with_nms_limit, "FHQS" },
	{ NNB_GENERATE_PROPOSALS, make_generate_proposals, "FH" },
	{ NNB_GENERATE_PROPOSALS, make_generate_proposals, "QS", "QS" },
	{ NNB_DETECTION_POSTPROCESSING, make_detection_postprocessing, "FH" },
	{ NNB_HEATMAP_MAX_KEYPOINT, make_heatmap, "FHQS" },
	{ NNB_ROI_ALIGN, make_roi_align, "FHQS" },
	{ NNB_ROI_POOLING, make_roi_pooling, "FHQS" },
	{ .types = NULL },
};

/*
 * cost.c -- counts the work of each operation, and multiplies it by the costs of costs.def.
 *
 * TRUST     Shapes are untrusted and of any size: sums and products of what they give saturate at UINT64_MAX. Plain
 *           arithmetic stands only where its operands are bounded.
 */
#include "model/cost.h"

#include <assert.h>

#include "base/saturating.h"
#include "model/graph.h"
#include "model/ops.h"
#include "model/parts.h"
#include "model/patience.h"

enum {
	EACH_NS = 100,      /* cost of any operation, however small */
	OPERAND_NS = 5,     /* cost of each operand of a subgraph for each of its runs */
	ROW_ELEMENTS = 50,  /* number of copied elements that cost as much as finding a row */
	POW_ELEMENTS = 100, /* number of added elements that cost as much as one power of a sum */
	PIXEL_PS = 15000,   /* cost of a pixel of outputs of windows or sums, in addition to that of its outputs */
	HALF_PS = 2500,     /* cost of making a float32 of a float16, or the reverse */
	SIDE_BY_SIDE = 8,   /* channels that a plain pool computes at a time; the rest takes as long for each */
	PANEL = 16,         /* output channels that a plain loop computes together, even if there are fewer */
	WEIGHT_PS = 700,    /* cost of loading a weight and ordering it, in addition to its products */
	/* number of copied or added elements that cost as much as finding a pixel, or as starting a step */
	PIXEL_ELEMENTS = 16,
	REGION_PART = 2 /* a region of unknown size counts as half of the image in each direction */
};

/* Inputs, by their numbers in operations.def. */
enum {
	ROI_OUT_HEIGHT = 3, /* of ROI_ALIGN and ROI_POOLING; the width is the next */
	ROI_SAMPLES_HEIGHT = 7,
	PROPOSALS_BEFORE = 6, /* of GENERATE_PROPOSALS: boxes of an image that are compared, and that are kept */
	PROPOSALS_KEPT = 7,
	DETECTION_BY_CLASS = 7, /* of DETECTION_POSTPROCESSING */
	DETECTIONS_KEPT = 8,
	DETECTIONS_KEPT_BY_CLASS = 10
};

enum nnb__count {
	UNCOUNTED,
	OUTPUTS,    /* elements of the first output */
	INPUTS,     /* elements of the first input */
	CELLS,      /* the outputs, times the cells of a window */
	PRODUCTS,   /* the outputs, times the input channels of a window, or of a row of weights */
	NEIGHBOURS, /* elements, times the neighbours that are added for each element */
	ROWS,       /* elements of the output, plus rows that are looked up */
	HASHES,     /* bytes that are hashed */
	WEIGHTS,    /* elements of all inputs but the first, times the batch */
	STEPS,      /* the weights as above, times the items of a sequence */
	FILTERS,    /* outputs, times the cells of a filter for one output */
	PIXELS,     /* elements of the output, plus its pixels, each of which is located */
	SAMPLES,    /* samples of an image, in the cells of regions */
	ORDERED,    /* elements, plus comparisons to sort the greatest of them */
	DRAWN,      /* elements of the input and the output */
	REGIONS,    /* pairs of boxes, for each class */
	PROPOSALS,  /* pairs of boxes, for each image */
	DETECTIONS, /* pairs of anchors, for each image and class */
	LINES,      /* rows of the first output, along its last dimension */
	RUNS,       /* stretches of the output in which each input either advances or stays */
	SUBGRAPHS   /* nothing: the cost is that of the subgraphs */
};

/* The cost of an output of a window or a sum, in addition to its cells: of float32, quant8. */
static const uint32_t output_ps[2] = { 1000, 500 }, plain_output_ps[2] = { 2000, 2000 };

static const struct nnb__cost {
	enum nnb__count count;
	uint32_t ps[2], plain_ps[2]; /* float32, quant8 */
	enum nnb__count starts;
	uint32_t start_ps;
} costs[] = {
#define NNB_COST(name, count, float_ps, quant_ps, plain_float_ps, plain_quant_ps, starts, start_ps) \
	[NNB_##name] = { count, { float_ps, quant_ps }, { plain_float_ps, plain_quant_ps }, starts, start_ps },
#include "model/costs.def"
#undef NNB_COST
};

static uint64_t shape_elements(const struct nnb_shape *s)
{
	return s->omitted ? 0 : nnb__shape_elements(s);
}

static uint64_t last_of(const struct nnb_shape *s)
{
	assert(s->rank <= NNB_RANK_MAX);
	return s->rank ? s->dims[s->rank - 1] : 1;
}

/* ---- counting ---- */

/* One operation in its graph, with the shapes of one run. */
struct place {
	const struct nnb_graph *graph;
	const struct nnb_operation *op;
	uint32_t index;
	const struct nnb_shape *shapes;
};

static const struct nnb_shape *place_input(const struct place *p, uint32_t k)
{
	assert(k < p->op->n_inputs);
	return &p->shapes[p->op->inputs[k]];
}

static const struct nnb_operand *operand_in(const struct place *p, uint32_t k)
{
	assert(k < p->op->n_inputs);
	return &p->graph->model->operands[p->op->inputs[k]];
}

static uint64_t output_elements(const struct place *p)
{
	return shape_elements(&p->shapes[p->op->outputs[0]]);
}

static uint64_t window_cells(const struct place *p)
{
	struct nnb_window w;

	return nnb_window(p->graph, p->index, p->shapes, &w) ? 1 : nnb__saturating_product(w.filter_w, w.filter_h);
}

/* The number of products added for one output of a convolution or FULLY_CONNECTED. */
static uint64_t sum_depth(const struct place *p)
{
	uint64_t channels = place_input(p, 1)->rank ? place_input(p, 1)->dims[0] : 1;

	if (p->op->type == NNB_FULLY_CONNECTED || p->op->type == NNB_DEPTHWISE_CONV_2D)
		return last_of(place_input(p, 1));
	/* taken from the filter, because the image's layout varies */
	return channels ? shape_elements(place_input(p, 1)) / channels : 0;
}

static uint64_t weight_products(const struct place *p)
{
	uint64_t n = 0;

	for (uint32_t k = 1; k < p->op->n_inputs; k++)
		n = nnb__saturating_sum(n, shape_elements(place_input(p, k)));
	return nnb__saturating_product(n, place_input(p, 0)->rank ? place_input(p, 0)->dims[0] : 1);
}

/* The number of rows. In an image with channels last, each pixel is a row. */
static uint64_t rows_of(const struct nnb_shape *s)
{
	uint64_t row = last_of(s);

	return row ? shape_elements(s) / row : 0;
}

/* A constant scalar; @otherwise if the request supplies the value or the operation has no such input. */
static int64_t constant_integer(const struct place *p, uint32_t k, int64_t otherwise)
{
	const int32_t *value = k < p->op->n_inputs ? p->graph->constants[p->op->inputs[k]] : NULL;

	return value ? *value : otherwise;
}

/*
 * The samples of ROI_ALIGN or ROI_POOLING along an output cell (@direction 0: its height; 1: its width): the number
 * that the model requests, or else the number of pixels that the region has. Regions are data, so their size is
 * assumed (REGION_PART).
 */
static uint64_t samples_along(const struct place *p, uint32_t direction)
{
	const struct nnb_shape *image = place_input(p, 0);
	int64_t samples = p->op->type == NNB_ROI_ALIGN ? constant_integer(p, ROI_SAMPLES_HEIGHT + direction, 0) : 0,
		out = constant_integer(p, ROI_OUT_HEIGHT + direction, 1);
	const uint8_t *channels_second = p->graph->constants[p->op->inputs[p->op->n_inputs - 1]];
	uint32_t d = 1 + direction + (channels_second && *channels_second);

	if (samples > 0 || image->rank != 4)
		return samples > 0 ? (uint64_t)samples : 1;
	return 1 + image->dims[d] / REGION_PART / (out > 0 ? (uint64_t)out : 1);
}

/* log2(@n) rounded down, plus 1; 1 for 0. */
static uint64_t bits_of(uint64_t n)
{
	return n ? 64 - (uint64_t)__builtin_clzll(n) : 1;
}

/* Selecting the @k greatest elements of each row in a heap. */
static uint64_t ordered_elements(const struct place *p)
{
	const struct nnb_shape *s = place_input(p, 0);
	uint64_t n = last_of(s);
	int64_t k = constant_integer(p, 1, INT64_MAX);

	return nnb__saturating_sum(
		shape_elements(s),
		nnb__saturating_product(
			nnb__saturating_product(rows_of(s), k >= 0 && (uint64_t)k < n ? (uint64_t)k : n),
			2 * bits_of(n)));
}

/*
 * Comparisons of each kept box with those that are left of @n boxes, plus sorting @n boxes. At most @most boxes are
 * kept if @most is above 0.
 */
static uint64_t boxes_compared(uint64_t n, int64_t most)
{
	uint64_t kept = most > 0 && (uint64_t)most < n ? (uint64_t)most : n;

	return nnb__saturating_sum(nnb__saturating_product(n - kept / 2, kept), nnb__saturating_product(n, bits_of(n)));
}

/* Class 0 is the background, in which no box is searched. */
static uint64_t classes_searched(uint64_t classes)
{
	return classes ? classes - 1 : 0;
}

static uint64_t dim_of(const struct nnb_shape *s, uint32_t d)
{
	assert(s->rank <= NNB_RANK_MAX);
	return d < s->rank ? s->dims[d] : 1;
}

/* The comparisons of DETECTION_POSTPROCESSING: each class separately, or each anchor for its best class only. */
static uint64_t detection_pairs(const struct place *p)
{
	const uint8_t *regular = p->graph->constants[p->op->inputs[DETECTION_BY_CLASS]];
	const struct nnb_shape *scores = place_input(p, 0);
	bool by_class = !regular || *regular;
	int64_t most = constant_integer(p, by_class ? DETECTIONS_KEPT_BY_CLASS : DETECTIONS_KEPT, 0);
	uint64_t pairs = boxes_compared(dim_of(scores, 1), most);

	return nnb__saturating_sum(
		shape_elements(scores),
		nnb__saturating_product(
			dim_of(scores, 0),
			nnb__saturating_product(by_class ? classes_searched(dim_of(scores, 2)) : 1, pairs)));
}

static uint64_t proposal_pairs(const struct place *p)
{
	const struct nnb_shape *scores = place_input(p, 0);
	uint64_t images = dim_of(scores, 0), n = images ? shape_elements(scores) / images : 0;
	int64_t before = constant_integer(p, PROPOSALS_BEFORE, 0);

	return nnb__saturating_sum(
		shape_elements(scores),
		nnb__saturating_product(images,
	                                boxes_compared(before > 0 && (uint64_t)before < n ? (uint64_t)before : n,
	                                               constant_integer(p, PROPOSALS_KEPT, 0))));
}

/* Where the dimensions of the two inputs of a pair are aligned at the last: @d counts from there. */
static uint64_t dim_from_last(const struct nnb_shape *s, uint32_t d)
{
	assert(s->rank <= NNB_RANK_MAX);
	return d < s->rank ? s->dims[s->rank - 1 - d] : 1;
}

/*
 * An operation on pairs starts anew wherever one input ends to repeat an element, or to repeat none. Returns how often;
 * 1 if the inputs have the same shape.
 */
static uint64_t pair_runs(const struct place *p)
{
	const struct nnb_shape *out = &p->shapes[p->op->outputs[0]], *a = place_input(p, 0), *b = place_input(p, 1);
	uint64_t runs = 1;
	int before = -1;

	assert(out->rank <= NNB_RANK_MAX);
	for (uint32_t d = 0; d < out->rank; d++) {
		uint64_t n = dim_from_last(out, d);
		int how = (dim_from_last(a, d) == n) + 2 * (dim_from_last(b, d) == n);

		if (n == 1)
			continue;
		if (before >= 0 && how != before)
			before = 4; /* all further dimensions are outside of the innermost run */
		else
			before = how;
		if (before == 4)
			runs = nnb__saturating_product(runs, n);
	}
	return runs;
}

static uint64_t region_pairs(const struct place *p)
{
	const struct nnb_shape *scores = place_input(p, 0);

	return nnb__saturating_sum(
		shape_elements(scores),
		nnb__saturating_product(classes_searched(dim_of(scores, 1)), boxes_compared(dim_of(scores, 0), 0)));
}

/* The weights for each item, and starting each step. Dimensions 0 and 1: steps and items, in either order. */
static uint64_t step_products(const struct place *p)
{
	const struct nnb_shape *in = place_input(p, 0);

	return nnb__saturating_product(
		nnb__saturating_sum(weight_products(p), nnb__saturating_product(dim_of(in, 0), PIXEL_ELEMENTS)),
		dim_of(in, 1));
}

static uint64_t filter_cells(const struct place *p)
{
	const struct nnb_shape *filter = place_input(p, 1);
	uint64_t channels = filter->rank ? filter->dims[0] : 1;

	return channels ? shape_elements(filter) / channels : 0;
}

/* What is added for each element. Without a constant radius, all elements of the row are neighbours. */
static uint64_t neighbours_added(const struct place *p)
{
	const int32_t *radius = p->graph->constants[p->op->inputs[1]];
	uint64_t all = last_of(place_input(p, 0));
	uint64_t n = radius && *radius >= 0 ? 2 * (uint64_t)*radius + 1 : all;

	return nnb__saturating_sum(n < all ? n : all, POW_ELEMENTS);
}

/* Each row of the second input is hashed once for each bit of each hash of the first. */
static uint64_t hashed_bytes(const struct place *p)
{
	const struct nnb_shape *rows = place_input(p, 1);
	uint64_t n = rows->rank ? rows->dims[0] : 1, row = n ? shape_elements(rows) / n : 0;

	return nnb__saturating_product(nnb__saturating_product(shape_elements(place_input(p, 0)), n),
	                               nnb__saturating_sum(nnb__saturating_product(row, sizeof(float)), ROW_ELEMENTS));
}

static uint64_t work_count(const struct place *p, enum nnb__count what)
{
	switch (what) {
	case OUTPUTS:
		return output_elements(p);
	case INPUTS:
		return shape_elements(place_input(p, 0));
	case CELLS:
		return nnb__saturating_product(output_elements(p), window_cells(p));
	case PRODUCTS:
		return nnb__saturating_product(output_elements(p), sum_depth(p));
	case NEIGHBOURS:
		return nnb__saturating_product(output_elements(p), neighbours_added(p));
	case ROWS:
		return nnb__saturating_sum(output_elements(p),
		                           nnb__saturating_product(shape_elements(place_input(p, 0)), ROW_ELEMENTS));
	case HASHES:
		return hashed_bytes(p);
	case WEIGHTS:
		return weight_products(p);
	case STEPS:
		return step_products(p);
	case FILTERS:
		return nnb__saturating_product(output_elements(p), filter_cells(p));
	case PIXELS:
		return nnb__saturating_sum(
			output_elements(p),
			nnb__saturating_product(rows_of(&p->shapes[p->op->outputs[0]]), PIXEL_ELEMENTS));
	case SAMPLES:
		return nnb__saturating_product(output_elements(p),
		                               nnb__saturating_product(samples_along(p, 0), samples_along(p, 1)));
	case ORDERED:
		return ordered_elements(p);
	case DRAWN:
		return nnb__saturating_sum(
			shape_elements(place_input(p, 0)),
			nnb__saturating_product(output_elements(p), bits_of(last_of(place_input(p, 0)))));
	case REGIONS:
		return region_pairs(p);
	case PROPOSALS:
		return proposal_pairs(p);
	case DETECTIONS:
		return detection_pairs(p);
	case LINES:
		return rows_of(&p->shapes[p->op->outputs[0]]);
	case RUNS:
		return pair_runs(p);
	case UNCOUNTED:
	case SUBGRAPHS:
		break;
	}
	return 0;
}

/*
 * Does a plain loop compute this grouped or transposed convolution? XNNPACK requires channels last, and has no
 * float16 here.
 */
static bool is_plain_wide(const struct place *p)
{
	const uint8_t *channels_second = p->graph->constants[p->op->inputs[p->op->n_inputs - 1]];
	bool by_channel = operand_in(p, 1)->n_scales > 0;

	if (operand_in(p, 0)->type == NNB_TENSOR_FLOAT16 || (channels_second && *channels_second))
		return true;
	return by_channel &&
	       (p->op->type == NNB_TRANSPOSE_CONV_2D || operand_in(p, 0)->type == NNB_TENSOR_QUANT8_ASYMM);
}

/*
 * Does a plain loop compute this MEAN? XNNPACK's mean covers all dimensions between some first ones and the last;
 * each item of the first ones is one tile.
 */
static bool is_plain_mean(const struct place *p)
{
	const int32_t *axes = p->graph->constants[p->op->inputs[1]];
	uint32_t rank = place_input(p, 0)->rank, set = 0, between;
	uint64_t n = shape_elements(place_input(p, 1)), item = 1;

	if (!axes || n > NNB_RANK_MAX || operand_in(p, 0)->type == NNB_TENSOR_FLOAT16)
		return true;
	for (uint64_t i = 0; i < n; i++)
		set |= 1u << ((uint32_t)(axes[i] < 0 ? axes[i] + (int32_t)rank : axes[i]) & 31);
	between = rank ? (1u << (rank - 1)) - 1 : 0; /* all dimensions but the last */
	if (!set || (set & ~between) || set + (set & -set) != between + 1)
		return true;
	for (uint32_t d = (uint32_t)__builtin_ctz(set); d < rank; d++)
		item = nnb__saturating_product(item, place_input(p, 0)->dims[d]);
	return item > NNB__TILE_ELEMENTS;
}

static bool has_channels_second(const struct place *p)
{
	uint32_t last = p->op->n_inputs - 1;
	const uint8_t *value = operand_in(p, last)->type == NNB_BOOL ? p->graph->constants[p->op->inputs[last]] : NULL;

	return value && *value;
}

/* Does a plain loop compute this pool? XNNPACK computes a row of outputs at a time, and no window of one cell. */
static bool is_plain_pool(const struct place *p)
{
	const struct nnb_shape *out = &p->shapes[p->op->outputs[0]];
	uint64_t row = nnb__saturating_product(dim_of(out, 3), dim_of(out, has_channels_second(p) ? 1 : 2));
	uint64_t cells = window_cells(p);

	return cells <= 1 || row > NNB__TILE_ELEMENTS / 4 || nnb__saturating_product(row, cells) > NNB__TILE_ELEMENTS;
}

/* Cells of a plain pool, as if all its channels were computed side by side. */
static uint64_t plain_pool_cells(const struct place *p)
{
	const struct nnb_shape *out = &p->shapes[p->op->outputs[0]];
	uint64_t channels = dim_of(out, has_channels_second(p) ? 1 : 3), rest = channels % SIDE_BY_SIDE;
	uint64_t pixels = channels ? shape_elements(out) / channels : 0;

	return nnb__saturating_product(nnb__saturating_product(pixels, window_cells(p)),
	                               nnb__saturating_sum(channels - rest, rest * SIDE_BY_SIDE));
}

/* Does a plain loop compute the operation, because its weights cannot be packed or its sums are too long? */
static bool is_plain(const struct place *p)
{
	uint32_t type = p->op->type;
	bool wide = type == NNB_GROUPED_CONV_2D || type == NNB_TRANSPOSE_CONV_2D;

	if (type == NNB_MEAN)
		return is_plain_mean(p);
	if (type == NNB_MAX_POOL_2D || type == NNB_AVERAGE_POOL_2D)
		return is_plain_pool(p);
	if (type == NNB_DEPTHWISE_CONV_2D && window_cells(p) > NNB__TILE_PRODUCTS)
		return true;
	if (type != NNB_CONV_2D && type != NNB_FULLY_CONNECTED && type != NNB_DEPTHWISE_CONV_2D && !wide)
		return false;
	if (wide && is_plain_wide(p))
		return true;
	if (type != NNB_DEPTHWISE_CONV_2D && sum_depth(p) > NNB__TILE_PRODUCTS)
		return true;
	if (operand_in(p, 1)->n_scales && operand_in(p, 0)->type != NNB_TENSOR_QUANT8_ASYMM_SIGNED)
		return true; /* XNNPACK has scales by channel only for signed bytes */
	return !p->graph->constants[p->op->inputs[1]] || !p->graph->constants[p->op->inputs[2]];
}

/* The products of a plain convolution of floats, which always computes PANEL output channels together. */
static uint64_t panel_products(const struct place *p)
{
	const struct nnb_shape *out = &p->shapes[p->op->outputs[0]], *filter = place_input(p, 1);
	uint64_t channels = dim_of(filter, 0), pixels = channels ? shape_elements(out) / channels : 0;
	uint64_t computed = nnb__saturating_product(pixels, (channels + PANEL - 1) / PANEL * PANEL);

	return nnb__saturating_product(computed, sum_depth(p));
}

/* The float16 among the inputs and outputs, but for constants, which are converted once. */
static uint64_t halves_of(const struct place *p)
{
	const struct nnb_operand *operands = p->graph->model->operands;
	uint64_t n = 0;

	for (uint32_t k = 0; k < p->op->n_inputs; k++)
		if (operand_in(p, k)->type == NNB_TENSOR_FLOAT16 && !p->graph->constants[p->op->inputs[k]])
			n = nnb__saturating_sum(n, shape_elements(place_input(p, k)));
	for (uint32_t k = 0; k < p->op->n_outputs; k++)
		if (operands[p->op->outputs[k]].type == NNB_TENSOR_FLOAT16)
			n = nnb__saturating_sum(n, shape_elements(&p->shapes[p->op->outputs[k]]));
	return n;
}

/* ---- totals ---- */

static bool is_bytes(uint32_t type)
{
	const struct nnb_type_info *info = nnb_type_info(type);

	return (info->quantized || info->by_channel) && info->bytes == 1;
}

static const uint64_t *referenced_ns(const struct nnb_graph *g)
{
	/* valid, because @g is the first member of its graph */
	const struct nnb__graph *own = (const struct nnb__graph *)g;

	return own->main ? own->main->referenced_ns : own->referenced_ns;
}

/*
 * Compute the cost of subgraph @index unless it is known, after the cost of those that it refers to. Recursion is at
 * most NNB_NESTING_MAX deep.
 */
static void referenced_cost(const struct nnb_graph *g, uint32_t index, uint64_t *ns)
{
	const struct nnb_graph *part;
	const struct nnb_model *m;

	assert(index < g->model->n_referenced);
	if (ns[index])
		return;
	part = g->referenced[index];
	m = part->model;
	for (uint32_t i = 0; i < m->n_operands && nnb__patient(1); i++)
		if (m->operands[i].lifetime == NNB_LIFETIME_SUBGRAPH)
			referenced_cost(g, m->operands[i].location.offset, ns);
	/* never 0, because 0 means unknown; each run of a subgraph creates a frame for its operands */
	ns[index] = nnb__saturating_sum(nnb__model_cost(part, part->shapes),
	                                EACH_NS + m->n_operands * (uint64_t)OPERAND_NS);
}

void nnb__referenced_costs(const struct nnb_graph *g, uint64_t *ret)
{
	for (uint32_t i = 0; i < g->model->n_referenced; i++)
		referenced_cost(g, i, ret);
}

/* @n times @ps, in ns. UINT64_MAX: out of range. */
static uint64_t ns_of(uint64_t n, uint64_t ps)
{
	if (n == UINT64_MAX && ps)
		return UINT64_MAX;
	return ps && n > UINT64_MAX / ps ? nnb__saturating_product(n / 1000, ps) : n * ps / 1000;
}

/* The cost of an operation whose shapes are all known. */
static uint64_t work_cost(const struct place *p, const struct nnb__cost *cost)
{
	const struct nnb_operand *out = &p->graph->model->operands[p->op->outputs[0]];
	bool quant = is_bytes(operand_in(p, 0)->type) || is_bytes(out->type), plain = is_plain(p);
	uint32_t type = p->op->type;
	uint64_t ps = plain ? cost->plain_ps[quant] : cost->ps[quant], ns;

	if (type == NNB_CONV_2D && plain && !quant)
		ns = nnb__saturating_sum(ns_of(panel_products(p), ps),
		                         ns_of(shape_elements(place_input(p, 1)), WEIGHT_PS));
	else if ((type == NNB_MAX_POOL_2D || type == NNB_AVERAGE_POOL_2D) && plain)
		ns = ns_of(plain_pool_cells(p), ps);
	else
		ns = ns_of(work_count(p, cost->count), ps);
	ns = nnb__saturating_sum(ns, ns_of(work_count(p, cost->starts), cost->start_ps));
	ns = nnb__saturating_sum(ns, ns_of(halves_of(p), HALF_PS));
	/* each output is a sum, of any length, including 1 */
	if (cost->count == PRODUCTS || cost->count == FILTERS || cost->count == CELLS) {
		ns = nnb__saturating_sum(ns, ns_of(output_elements(p), (plain ? plain_output_ps : output_ps)[quant]));
		ns = nnb__saturating_sum(ns, ns_of(work_count(p, LINES), PIXEL_PS));
	}
	return ns;
}

uint64_t nnb__operation_cost(const struct nnb_graph *g, uint32_t op, const struct nnb_shape *shapes)
{
	const struct place p = { g, &g->model->operations[op], op, shapes };
	const struct nnb__cost *cost =
		p.op->type < sizeof(costs) / sizeof(costs[0]) && costs[p.op->type].count ? &costs[p.op->type] : NULL;

	if (nnb__is_control(p.op->type)) {
		/* the cost of the slower branch of an IF, or of one iteration of a WHILE */
		const struct nnb_operand *operands = g->model->operands;
		const uint64_t *ns = referenced_ns(g);
		uint32_t first = p.op->type == NNB_IF ? 1 : 0;
		uint64_t a = ns[operands[p.op->inputs[first]].location.offset];
		uint64_t b = ns[operands[p.op->inputs[first + 1]].location.offset];

		if (p.op->type == NNB_WHILE)
			return nnb__saturating_sum(nnb__saturating_sum(a, b), EACH_NS);
		return nnb__saturating_sum(a > b ? a : b, EACH_NS);
	}
	if (!cost)
		return EACH_NS; /* the cost of a vendor's operation is not known */
	for (uint32_t k = 0; k < p.op->n_inputs; k++)
		if (!place_input(&p, k)->known && !place_input(&p, k)->omitted)
			return 0;
	for (uint32_t k = 0; k < p.op->n_outputs; k++)
		if (!p.shapes[p.op->outputs[k]].known)
			return 0;
	return nnb__saturating_sum(work_cost(&p, cost), EACH_NS);
}

uint64_t nnb__model_cost(const struct nnb_graph *g, const struct nnb_shape *shapes)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < g->model->n_operations && nnb__patient(NNB__OPERATION_UNITS); i++)
		ns = nnb__saturating_sum(ns, nnb__operation_cost(g, i, shapes));
	return ns;
}

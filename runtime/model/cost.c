/*
 * cost.c -- counts the work of each operation, and multiplies it by the costs of costs.def.
 *
 * An operation is its row in costs.def. The row names the functions of this file that count its work.
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
	PIXEL_PS = 15000,   /* cost of a pixel of outputs that are sums, in addition to that of its outputs */
	HALF_PS = 2500,     /* cost of making a float32 of a float16, or the reverse */
	SIDE_BY_SIDE = 8,   /* channels that a plain pool computes at a time; the rest takes as long for each */
	PANEL = 16,         /* output channels that a plain loop computes together, even if there are fewer */
	/* number of copied or added elements that cost as much as finding a pixel, or as starting a step */
	PIXEL_ELEMENTS = 16,
	REGION_PART = 2 /* a region of unknown size counts as half of the image in each direction */
};

/* Inputs, by their numbers in operations.def. They have the names of the fields of kernels/boxes.h. */
enum {
	ROI_OUT_H = 3, /* of ROI_ALIGN and ROI_POOLING; the width is the next */
	ROI_SAMPLES_H = 7,
	PROPOSALS_MOST_BEFORE = 6, /* of GENERATE_PROPOSALS */
	PROPOSALS_MOST = 7,
	DETECTION_REGULAR = 7, /* of DETECTION_POSTPROCESSING */
	DETECTION_MOST = 8,
	DETECTION_MOST_PER_CLASS = 10
};

/* ---- one operation ---- */

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

static const struct nnb_shape *place_output(const struct place *p, uint32_t k)
{
	assert(k < p->op->n_outputs);
	return &p->shapes[p->op->outputs[k]];
}

static const struct nnb_operand *operand_in(const struct place *p, uint32_t k)
{
	assert(k < p->op->n_inputs);
	return &p->graph->model->operands[p->op->inputs[k]];
}

static const struct nnb_operand *operand_out(const struct place *p, uint32_t k)
{
	assert(k < p->op->n_outputs);
	return &p->graph->model->operands[p->op->outputs[k]];
}

/* NULL: the request supplies the value. */
static const void *constant_in(const struct place *p, uint32_t k)
{
	assert(k < p->op->n_inputs);
	return p->graph->constants[p->op->inputs[k]];
}

/* A constant scalar; @otherwise if the request supplies the value or the operation has no such input. */
static int64_t constant_integer(const struct place *p, uint32_t k, int64_t otherwise)
{
	const int32_t *value = k < p->op->n_inputs ? constant_in(p, k) : NULL;

	return value ? *value : otherwise;
}

/*
 * The layout is the last input of an operation that has one. A convolution with a dilation has its layout before the
 * dilation; this function is not asked about those.
 */
static bool has_channels_second(const struct place *p)
{
	uint32_t last = p->op->n_inputs - 1;
	const uint8_t *value = operand_in(p, last)->type == NNB_BOOL ? constant_in(p, last) : NULL;

	return value && *value;
}

static bool is_bytes(uint32_t type)
{
	const struct nnb_type_info *info = nnb_type_info(type);

	return (info->quantized || info->by_channel) && info->bytes == 1;
}

/* Does the quant8 column of costs.def apply? */
static bool is_quant(const struct place *p)
{
	return is_bytes(operand_in(p, 0)->type) || is_bytes(operand_out(p, 0)->type);
}

/* ---- shapes ---- */

static uint64_t shape_elements(const struct nnb_shape *s)
{
	return s->omitted ? 0 : nnb__shape_elements(s);
}

static uint64_t dim_of(const struct nnb_shape *s, uint32_t d)
{
	assert(s->rank <= NNB_RANK_MAX);
	return d < s->rank ? s->dims[d] : 1;
}

/* @d counts from the last dimension, at which the two inputs of a pair are aligned. */
static uint64_t dim_from_last(const struct nnb_shape *s, uint32_t d)
{
	assert(s->rank <= NNB_RANK_MAX);
	return d < s->rank ? s->dims[s->rank - 1 - d] : 1;
}

static uint64_t last_of(const struct nnb_shape *s)
{
	return dim_from_last(s, 0);
}

/* The elements of each item along the first dimension. */
static uint64_t item_elements(const struct nnb_shape *s)
{
	uint64_t items = dim_of(s, 0);

	return items ? shape_elements(s) / items : 0;
}

/* The number of rows. In an image with channels last, each pixel is a row. */
static uint64_t rows_of(const struct nnb_shape *s)
{
	uint64_t row = last_of(s);

	return row ? shape_elements(s) / row : 0;
}

/* log2(@n) rounded down, plus 1; 1 for 0. */
static uint64_t bits_of(uint64_t n)
{
	return n ? 64 - (uint64_t)__builtin_clzll(n) : 1;
}

/* ---- counting the work ---- */

/* Elements of the first output. */
static uint64_t work_outputs(const struct place *p)
{
	return shape_elements(place_output(p, 0));
}

/* Elements of the first input. */
static uint64_t work_inputs(const struct place *p)
{
	return shape_elements(place_input(p, 0));
}

/* Rows of the first output. */
static uint64_t work_lines(const struct place *p)
{
	return rows_of(place_output(p, 0));
}

/* Elements of the output, plus its pixels, each of which is located. */
static uint64_t work_pixels(const struct place *p)
{
	return nnb__saturating_sum(work_outputs(p), nnb__saturating_product(work_lines(p), PIXEL_ELEMENTS));
}

/* Elements of the output, plus rows that are looked up. */
static uint64_t work_lookups(const struct place *p)
{
	return nnb__saturating_sum(work_outputs(p), nnb__saturating_product(work_inputs(p), ROW_ELEMENTS));
}

/*
 * An operation on pairs starts anew wherever one input ends to repeat an element, or to repeat none. Returns how often;
 * 1 if the inputs have the same shape.
 */
static uint64_t work_pair_runs(const struct place *p)
{
	const struct nnb_shape *out = place_output(p, 0), *a = place_input(p, 0), *b = place_input(p, 1);
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

/* The neighbours that are added for each element. Without a constant radius, all elements of its row are neighbours. */
static uint64_t work_neighbours(const struct place *p)
{
	int64_t radius = constant_integer(p, 1, -1);
	uint64_t all = last_of(place_input(p, 0));
	uint64_t n = radius >= 0 ? 2 * (uint64_t)radius + 1 : all;

	return nnb__saturating_product(work_outputs(p), nnb__saturating_sum(n < all ? n : all, POW_ELEMENTS));
}

/* Bytes that are hashed: each row of the second input, once for each bit of each hash of the first. */
static uint64_t work_hashes(const struct place *p)
{
	const struct nnb_shape *rows = place_input(p, 1);
	uint64_t bytes = nnb__saturating_product(item_elements(rows), sizeof(float));

	return nnb__saturating_product(nnb__saturating_product(work_inputs(p), dim_of(rows, 0)),
	                               nnb__saturating_sum(bytes, ROW_ELEMENTS));
}

/* Elements, plus comparisons to select the greatest elements of each row in a heap. */
static uint64_t work_sorted(const struct place *p)
{
	uint64_t n = last_of(place_input(p, 0));
	int64_t k = constant_integer(p, 1, INT64_MAX);
	uint64_t selected =
		nnb__saturating_product(rows_of(place_input(p, 0)), k >= 0 && (uint64_t)k < n ? (uint64_t)k : n);

	return nnb__saturating_sum(work_inputs(p), nnb__saturating_product(selected, 2 * bits_of(n)));
}

/* Elements of the input, plus comparisons to draw the output. */
static uint64_t work_drawn(const struct place *p)
{
	return nnb__saturating_sum(work_inputs(p),
	                           nnb__saturating_product(work_outputs(p), bits_of(last_of(place_input(p, 0)))));
}

/* ---- windows, and sums of products ---- */

static uint64_t window_cells(const struct place *p)
{
	struct nnb_window w;

	return nnb_window(p->graph, p->index, p->shapes, &w) ? 1 : nnb__saturating_product(w.filter_w, w.filter_h);
}

/*
 * The number of products added for one output of a convolution or FULLY_CONNECTED. The filter has it, while the layout
 * of the image varies.
 */
static uint64_t sum_depth(const struct place *p)
{
	return item_elements(place_input(p, 1));
}

/* The outputs, times the cells of a window. */
static uint64_t work_cells(const struct place *p)
{
	return nnb__saturating_product(work_outputs(p), window_cells(p));
}

/* The outputs, times the products that are added for each. */
static uint64_t work_products(const struct place *p)
{
	return nnb__saturating_product(work_outputs(p), sum_depth(p));
}

/* The products of a plain convolution. With floats it always computes PANEL output channels together. */
static uint64_t work_panels(const struct place *p)
{
	uint64_t channels = dim_of(place_input(p, 1), 0), pixels = channels ? work_outputs(p) / channels : 0;
	uint64_t computed = nnb__saturating_product(pixels, (channels + PANEL - 1) / PANEL * PANEL);

	return is_quant(p) ? work_products(p) : nnb__saturating_product(computed, sum_depth(p));
}

/* The weights of a plain convolution of floats, which loads and orders each of them. */
static uint64_t work_panel_weights(const struct place *p)
{
	return is_quant(p) ? 0 : shape_elements(place_input(p, 1));
}

/* Cells of a plain pool, as if all its channels were computed side by side. */
static uint64_t work_plain_cells(const struct place *p)
{
	uint64_t channels = dim_of(place_output(p, 0), has_channels_second(p) ? 1 : 3), rest = channels % SIDE_BY_SIDE;
	uint64_t pixels = channels ? work_outputs(p) / channels : 0;

	return nnb__saturating_product(nnb__saturating_product(pixels, window_cells(p)),
	                               nnb__saturating_sum(channels - rest, rest * SIDE_BY_SIDE));
}

/* Elements of all inputs but the first, times the batch. */
static uint64_t work_weights(const struct place *p)
{
	uint64_t n = 0;

	for (uint32_t k = 1; k < p->op->n_inputs; k++)
		n = nnb__saturating_sum(n, shape_elements(place_input(p, k)));
	return nnb__saturating_product(n, dim_of(place_input(p, 0), 0));
}

/* The weights for each item, and starting each step. Dimensions 0 and 1: steps and items, in either order. */
static uint64_t work_steps(const struct place *p)
{
	const struct nnb_shape *in = place_input(p, 0);

	return nnb__saturating_product(
		nnb__saturating_sum(work_weights(p), nnb__saturating_product(dim_of(in, 0), PIXEL_ELEMENTS)),
		dim_of(in, 1));
}

/* ---- regions and boxes ---- */

/*
 * The samples along an output cell (@direction 0: its height; 1: its width): @samples, or, if they are 0, the number of
 * pixels that the region has. Regions are data, so their size is assumed (REGION_PART).
 */
static uint64_t samples_along(const struct place *p, uint32_t direction, int64_t samples)
{
	const struct nnb_shape *image = place_input(p, 0);
	int64_t out = constant_integer(p, ROI_OUT_H + direction, 1);
	uint32_t d = 1 + direction + has_channels_second(p);

	if (samples > 0 || image->rank != 4)
		return samples > 0 ? (uint64_t)samples : 1;
	return 1 + image->dims[d] / REGION_PART / (out > 0 ? (uint64_t)out : 1);
}

/* Samples of an image in the cells of regions, as many as the model requests. */
static uint64_t work_aligned_samples(const struct place *p)
{
	uint64_t h = samples_along(p, 0, constant_integer(p, ROI_SAMPLES_H, 0));
	uint64_t w = samples_along(p, 1, constant_integer(p, ROI_SAMPLES_H + 1, 0));

	return nnb__saturating_product(work_outputs(p), nnb__saturating_product(h, w));
}

/* Samples of an image in the cells of regions: all pixels. */
static uint64_t work_pooled_samples(const struct place *p)
{
	return nnb__saturating_product(work_outputs(p),
	                               nnb__saturating_product(samples_along(p, 0, 0), samples_along(p, 1, 0)));
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

/* Pairs of boxes, for each class. */
static uint64_t work_regions(const struct place *p)
{
	const struct nnb_shape *scores = place_input(p, 0);
	uint64_t pairs = boxes_compared(dim_of(scores, 0), 0);

	return nnb__saturating_sum(work_inputs(p), nnb__saturating_product(classes_searched(dim_of(scores, 1)), pairs));
}

/* Pairs of boxes, for each image. */
static uint64_t work_proposals(const struct place *p)
{
	const struct nnb_shape *scores = place_input(p, 0);
	uint64_t n = item_elements(scores);
	int64_t before = constant_integer(p, PROPOSALS_MOST_BEFORE, 0);
	uint64_t pairs = boxes_compared(before > 0 && (uint64_t)before < n ? (uint64_t)before : n,
	                                constant_integer(p, PROPOSALS_MOST, 0));

	return nnb__saturating_sum(work_inputs(p), nnb__saturating_product(dim_of(scores, 0), pairs));
}

/* Pairs of anchors, for each image: of each class separately, or of each anchor for its best class only. */
static uint64_t work_detections(const struct place *p)
{
	const uint8_t *regular = constant_in(p, DETECTION_REGULAR);
	const struct nnb_shape *scores = place_input(p, 0);
	bool by_class = !regular || *regular;
	int64_t most = constant_integer(p, by_class ? DETECTION_MOST_PER_CLASS : DETECTION_MOST, 0);
	uint64_t pairs = boxes_compared(dim_of(scores, 1), most);

	pairs = nnb__saturating_product(by_class ? classes_searched(dim_of(scores, 2)) : 1, pairs);
	return nnb__saturating_sum(work_inputs(p), nnb__saturating_product(dim_of(scores, 0), pairs));
}

/* ---- does a plain loop compute the operation? ---- */

/* XNNPACK packs constant weights only, and has scales by channel only for signed bytes. */
static bool has_plain_weights(const struct place *p)
{
	if (operand_in(p, 1)->n_scales && operand_in(p, 0)->type != NNB_TENSOR_QUANT8_ASYMM_SIGNED)
		return true;
	return !constant_in(p, 1) || !constant_in(p, 2);
}

static bool is_plain_sum(const struct place *p)
{
	return sum_depth(p) > NNB__TILE_PRODUCTS || has_plain_weights(p);
}

static bool is_plain_depthwise(const struct place *p)
{
	return window_cells(p) > NNB__TILE_PRODUCTS || has_plain_weights(p);
}

/* XNNPACK requires channels last, and has no float16 here. */
static bool is_plain_grouped(const struct place *p)
{
	return operand_in(p, 0)->type == NNB_TENSOR_FLOAT16 || has_channels_second(p) || is_plain_sum(p);
}

static bool is_plain_transpose(const struct place *p)
{
	return operand_in(p, 1)->n_scales > 0 || is_plain_grouped(p);
}

/* XNNPACK computes a row of outputs at a time, and no window of one cell. */
static bool is_plain_pool(const struct place *p)
{
	const struct nnb_shape *out = place_output(p, 0);
	uint64_t row = nnb__saturating_product(dim_of(out, 3), dim_of(out, has_channels_second(p) ? 1 : 2));
	uint64_t cells = window_cells(p);

	return cells <= 1 || row > NNB__TILE_ELEMENTS / 4 || nnb__saturating_product(row, cells) > NNB__TILE_ELEMENTS;
}

/*
 * XNNPACK's mean covers all dimensions between some first ones and the last; each item of the first ones is one tile.
 */
static bool is_plain_mean(const struct place *p)
{
	const int32_t *axes = constant_in(p, 1);
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

/* ---- subgraphs ---- */

static const uint64_t *referenced_ns(const struct nnb_graph *g)
{
	/* valid, because @g is the first member of its graph */
	const struct nnb__graph *own = (const struct nnb__graph *)g;

	return own->main ? own->main->referenced_ns : own->referenced_ns;
}

/* The cost of the subgraph that is input @k. */
static uint64_t subgraph_ns(const struct place *p, uint32_t k)
{
	return referenced_ns(p->graph)[operand_in(p, k)->location.offset];
}

/* The slower branch of an IF. */
static uint64_t slower_branch_ns(const struct place *p)
{
	uint64_t a = subgraph_ns(p, 1), b = subgraph_ns(p, 2);

	return a > b ? a : b;
}

/* One iteration of a WHILE: its condition and its body. */
static uint64_t iteration_ns(const struct place *p)
{
	return nnb__saturating_sum(subgraph_ns(p, 0), subgraph_ns(p, 1));
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

/* ---- the rows of costs.def ---- */

/* One way to compute an operation. */
struct way {
	uint64_t (*work)(const struct place *p);
	uint32_t ps[2];                            /* float32, quant8: the cost of one unit of work */
	uint64_t (*starts)(const struct place *p); /* NULL: nothing begins anew */
	uint32_t start_ps;
};

static const struct cost {
	struct way usual, plain;
	bool (*is_plain)(const struct place *p); /* NULL: there is no plain way */
	bool sums;                               /* each output is a sum, of any length, including 1 */
	uint64_t (*subgraphs_ns)(const struct place *p);
} costs[] = {
#define NNB_COST(name, work, float_ps, quant_ps, starts, start_ps) \
	[NNB_##name].usual = { work, { float_ps, quant_ps }, starts, start_ps },
#define NNB_COST_OF_SUM(name, work, float_ps, quant_ps) \
	[NNB_##name].usual = { work, { float_ps, quant_ps }, NULL, 0 }, [NNB_##name].sums = true,
#define NNB_COST_IF_PLAIN(name, condition, work, float_ps, quant_ps, starts, start_ps) \
	[NNB_##name].plain = { work, { float_ps, quant_ps }, starts, start_ps }, [NNB_##name].is_plain = condition,
#define NNB_COST_OF_SUBGRAPHS(name, ns) [NNB_##name].subgraphs_ns = ns,
#include "model/costs.def"
#undef NNB_COST
#undef NNB_COST_OF_SUM
#undef NNB_COST_IF_PLAIN
#undef NNB_COST_OF_SUBGRAPHS
};

/* The cost of an output that is a sum, in addition to its products or cells: usual and plain, of float32 and quant8. */
static const uint32_t sum_ps[2][2] = { { 1000, 500 }, { 2000, 2000 } };

/* The float16 among the inputs and outputs, but for constants, which are converted once. */
static uint64_t halves_of(const struct place *p)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < p->op->n_inputs; k++)
		if (operand_in(p, k)->type == NNB_TENSOR_FLOAT16 && !constant_in(p, k))
			n = nnb__saturating_sum(n, shape_elements(place_input(p, k)));
	for (uint32_t k = 0; k < p->op->n_outputs; k++)
		if (operand_out(p, k)->type == NNB_TENSOR_FLOAT16)
			n = nnb__saturating_sum(n, shape_elements(place_output(p, k)));
	return n;
}

/* @n times @ps, in ns. UINT64_MAX: out of range. */
static uint64_t ns_of(uint64_t n, uint64_t ps)
{
	if (n == UINT64_MAX && ps)
		return UINT64_MAX;
	return ps && n > UINT64_MAX / ps ? nnb__saturating_product(n / 1000, ps) : n * ps / 1000;
}

/* The cost of an operation whose shapes are all known. */
static uint64_t work_ns(const struct place *p, const struct cost *cost)
{
	bool plain = cost->is_plain && cost->is_plain(p), quant = is_quant(p);
	const struct way *way = plain ? &cost->plain : &cost->usual;
	const struct {
		uint64_t n;
		uint32_t ps;
	} parts[] = {
		{ way->work(p), way->ps[quant] },
		{ way->starts ? way->starts(p) : 0, way->start_ps },
		{ cost->sums ? work_outputs(p) : 0, sum_ps[plain][quant] },
		{ cost->sums ? work_lines(p) : 0, PIXEL_PS },
		{ halves_of(p), HALF_PS },
	};
	uint64_t ns = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		ns = nnb__saturating_sum(ns, ns_of(parts[i].n, parts[i].ps));
	return ns;
}

uint64_t nnb__operation_cost(const struct nnb_graph *g, uint32_t op, const struct nnb_shape *shapes)
{
	const struct place p = { g, &g->model->operations[op], op, shapes };
	const struct cost *cost = p.op->type < sizeof(costs) / sizeof(*costs) ? &costs[p.op->type] : NULL;

	if (cost && cost->subgraphs_ns)
		return nnb__saturating_sum(cost->subgraphs_ns(&p), EACH_NS);
	if (!cost || !cost->usual.work)
		return EACH_NS; /* the cost of a vendor's operation is not known */
	for (uint32_t k = 0; k < p.op->n_inputs; k++)
		if (!place_input(&p, k)->known && !place_input(&p, k)->omitted)
			return 0;
	for (uint32_t k = 0; k < p.op->n_outputs; k++)
		if (!place_output(&p, k)->known)
			return 0;
	return nnb__saturating_sum(work_ns(&p, cost), EACH_NS);
}

uint64_t nnb__model_cost(const struct nnb_graph *g, const struct nnb_shape *shapes)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < g->model->n_operations && nnb__patient(NNB__OPERATION_UNITS); i++)
		ns = nnb__saturating_sum(ns, nnb__operation_cost(g, i, shapes));
	return ns;
}

/* lower_window.c -- convolutions, fully connected layers, pools, resizing. */
#include "lowering.h"

/* XNNPACK keeps a pointer for each cell of each window; beyond this many bytes of them the kernel is the better. */
enum { INDIRECTION_MAX = 1 << 28 };

static struct nnbx_planes planes_of(const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0), *out = out_shape(s, 0);

	return (struct nnbx_planes){ .batch = in->dims[0],
		                     .in_h = in->dims[1],
		                     .in_w = in->dims[2],
		                     .in_c = in->dims[3],
		                     .out_h = out->dims[1],
		                     .out_w = out->dims[2],
		                     .out_c = out->dims[3] };
}

/* The same with its window, which exists because the shapes were computed from it. */
static struct nnbx_planes planes_windowed(const struct site *s)
{
	struct nnbx_planes p = planes_of(s);

	nnb_window(s->graph, s->index, s->shapes, &p.window);
	return p;
}

/* Resizing, seen as a window: four neighbours for every output. */
static struct nnbx_planes planes_resizing(const struct site *s)
{
	struct nnbx_planes p = planes_of(s);

	p.window.filter_w = p.window.filter_h = 2;
	return p;
}

/* UINT64_MAX: beyond counting. */
static uint64_t indirection_bytes(const struct nnbx_planes *p)
{
	uint64_t bytes = (uint64_t)p->window.filter_w * p->window.filter_h;

	if (__builtin_mul_overflow(bytes, sizeof(void *), &bytes) || __builtin_mul_overflow(bytes, p->out_h, &bytes) ||
	    __builtin_mul_overflow(bytes, p->out_w, &bytes))
		return UINT64_MAX;
	return bytes;
}

static bool too_indirect(const struct nnbx_planes *p)
{
	return indirection_bytes(p) > INDIRECTION_MAX;
}

/* UINT64_MAX: beyond counting. */
static uint64_t product_of(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t ab, abc;

	return __builtin_mul_overflow(a, b, &ab) || __builtin_mul_overflow(ab, c, &abc) ? UINT64_MAX : abc;
}

/* A row of outputs is XNNPACK's tile, of pools and of convolutions of every channel for itself. */
static bool has_long_rows(const struct nnbx_planes *p)
{
	uint64_t window = product_of(p->window.filter_w, p->window.filter_h, p->out_c);

	/* to read and write an output takes as long as some cells of its window do */
	return product_of(window, p->out_w, 1) > NNBX_TILE_WORK || product_of(p->out_c, p->out_w, 4) > NNBX_TILE_WORK;
}

/*
 * A tile of XNNPACK's is some of the @pixels outputs with all their @channels, which are sums of @depth products.
 * Returns the number of threads for which XNNPACK divides the channels, too, as finely as it can, if a tile takes too
 * long otherwise.
 */
static size_t threads_for(uint64_t pixels, uint64_t channels, uint64_t depth)
{
	return product_of(channels, depth, 8) > NNBX_TILE_WORK ? (size_t)(pixels / 5 + 2) : 1;
}

/* Units of such a tile of at most 8 pixels, at 8 products in a unit; if it is divided, it has at most 128 channels. */
static uint32_t tile_units_for(uint64_t channels, uint64_t depth, size_t threads)
{
	uint64_t units = product_of(threads > 1 && channels > 128 ? 128 : channels, depth, 1);

	return units < NNBX_LOOK_EVERY ? (uint32_t)units + 10 : 0;
}

uint64_t nnbx_indirection(const struct site *s)
{
	bool wide = s->op->type == NNB_GROUPED_CONV_2D || s->op->type == NNB_TRANSPOSE_CONV_2D;
	struct nnbx_planes p = s->op->type == NNB_RESIZE_BILINEAR ? planes_resizing(s) : planes_windowed(s);

	if (wide && in_bool(s, s->op->n_inputs - 1, false)) /* channels second: the kernel has it */
		return 0;
	return too_indirect(&p) ? 0 : indirection_bytes(&p);
}

/* Filter and bias are packed when an operator is created; ones that come with the run are the kernel's. */
static bool is_packable(const struct site *s)
{
	return in_is_constant(s, 1) && in_is_constant(s, 2);
}

/* XNNPACK asserts that a sum of products is scaled by no less than this, and refuses 256 and more by itself. */
static bool is_scalable(const struct nnbx_quants *q)
{
	return q->a.scale * q->b.scale / q->out.scale >= 0x1p-32f;
}

/* Does XNNPACK take a filter of signed bytes with these scales and zero points? */
static bool is_symmetric(const struct site *s, const struct nnbx_quants *q)
{
	const struct nnb_operand *filter = in_operand(s, 1);

	if (filter->zero_point)
		return false;
	for (uint32_t i = 0; i < filter->n_scales; i++) {
		float scale = q->a.scale * q->scales[i] / q->out.scale;

		if (!(scale >= 0x1p-32f && scale < 256))
			return false;
	}
	return filter->n_scales || is_scalable(q);
}

/* quants_of, whose bounds are unsigned. */
static struct nnbx_quants signed_quants_of(const struct site *s, uint32_t fused, int8_t *min, int8_t *max)
{
	struct nnbx_quants q = quants_of(s, NNB_FUSED_NONE);

	nnbx_signed_range(q.out, fused, min, max);
	return q;
}

/* To be set up, they all want an image in and an image out. */
#define SETUP_IMAGES(name, xnn_setup)                                                                          \
	static enum xnn_status name(xnn_operator_t xnn, const struct site *s)                                  \
	{                                                                                                      \
		const struct nnb_shape *in = in_shape(s, 0);                                                   \
                                                                                                               \
		return xnn_setup(xnn, in->dims[0], in->dims[1], in->dims[2], in_at(s, 0), out_at(s, 0), NULL); \
	}

SETUP_IMAGES(setup_conv_f32, xnn_setup_convolution2d_nhwc_f32)
SETUP_IMAGES(setup_conv_q8, xnn_setup_convolution2d_nhwc_qu8)
SETUP_IMAGES(setup_conv_s8, xnn_setup_convolution2d_nhwc_qs8)
SETUP_IMAGES(setup_conv_channels, xnn_setup_convolution2d_nhwc_qc8)
SETUP_IMAGES(setup_average_pool_f32, xnn_setup_average_pooling2d_nhwc_f32)
SETUP_IMAGES(setup_average_pool_q8, xnn_setup_average_pooling2d_nhwc_qu8)
SETUP_IMAGES(setup_max_pool_f32, xnn_setup_max_pooling2d_nhwc_f32)
SETUP_IMAGES(setup_max_pool_q8, xnn_setup_max_pooling2d_nhwc_u8)
SETUP_IMAGES(setup_max_pool_s8, xnn_setup_max_pooling2d_nhwc_s8)

/* ---- convolutions ---- */

enum nnb_status nnbx_run_conv(const struct site *s)
{
	struct nnbx_planes p = planes_windowed(s);
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		struct nnbx_quants q = quants_of(s, p.window.fused);

		nnbx_conv2d_q8(&p, &q, in_at(s, 0), in_at(s, 1), in_at(s, 2), out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(p.window.fused, &min, &max);
	nnbx_conv2d_f32(&p, in_at(s, 0), in_at(s, 1), in_at(s, 2), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_depthwise(const struct site *s)
{
	struct nnbx_planes p = planes_windowed(s);
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		struct nnbx_quants q = quants_of(s, p.window.fused);

		nnbx_depthwise_conv2d_q8(&p, &q, in_at(s, 0), in_at(s, 1), in_at(s, 2), out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(p.window.fused, &min, &max);
	nnbx_depthwise_conv2d_f32(&p, in_at(s, 0), in_at(s, 1), in_at(s, 2), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

/* How XNNPACK sees it: @groups of channels that mix only among themselves. */
struct grouping {
	uint32_t groups, in, out; /* channels of a group */
	uint32_t flags;
};

static enum xnn_status create_conv_f32(struct step *step, const struct site *s, const struct nnbx_planes *p,
                                       const struct grouping *g)
{
	const struct nnb_window *w = &p->window;
	float min, max;

	nnb_fused_range(w->fused, &min, &max);
	step->setup = setup_conv_f32;
	return xnn_create_convolution2d_nhwc_f32(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h,
	                                         w->filter_w, w->stride_h, w->stride_w, w->dilation_h, w->dilation_w,
	                                         g->groups, g->in, g->out, p->in_c, p->out_c, in_at(s, 1), in_at(s, 2),
	                                         min, max, g->flags, &step->xnn);
}

static enum xnn_status create_conv_q8(struct step *step, const struct site *s, const struct nnbx_planes *p,
                                      const struct grouping *g)
{
	const struct nnb_window *w = &p->window;
	struct nnbx_quants q = quants_of(s, w->fused);

	if (q.scales || !is_scalable(&q))
		return xnn_status_unsupported_parameter;
	step->setup = setup_conv_q8;
	return xnn_create_convolution2d_nhwc_qu8(
		w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h, w->filter_w, w->stride_h,
		w->stride_w, w->dilation_h, w->dilation_w, g->groups, g->in, g->out, p->in_c, p->out_c,
		(uint8_t)q.a.zero_point, q.a.scale, (uint8_t)q.b.zero_point, q.b.scale, in_at(s, 1), in_at(s, 2),
		(uint8_t)q.out.zero_point, q.out.scale, q.min, q.max, g->flags, &step->xnn);
}

static enum xnn_status create_conv_s8(struct step *step, const struct site *s, const struct nnbx_planes *p,
                                      const struct grouping *g)
{
	const struct nnb_window *w = &p->window;
	int8_t min, max;
	struct nnbx_quants q = signed_quants_of(s, w->fused, &min, &max);

	if (!is_symmetric(s, &q))
		return xnn_status_unsupported_parameter;
	if (q.scales) {
		step->setup = setup_conv_channels;
		return xnn_create_convolution2d_nhwc_qc8(
			w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h, w->filter_w, w->stride_h,
			w->stride_w, w->dilation_h, w->dilation_w, g->groups, g->in, g->out, p->in_c, p->out_c,
			(int8_t)q.a.zero_point, q.a.scale, q.scales, in_at(s, 1), in_at(s, 2), (int8_t)q.out.zero_point,
			q.out.scale, min, max, g->flags, &step->xnn);
	}
	step->setup = setup_conv_s8;
	return xnn_create_convolution2d_nhwc_qs8(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h,
	                                         w->filter_w, w->stride_h, w->stride_w, w->dilation_h, w->dilation_w,
	                                         g->groups, g->in, g->out, p->in_c, p->out_c, (int8_t)q.a.zero_point,
	                                         q.a.scale, q.b.scale, in_at(s, 1), in_at(s, 2),
	                                         (int8_t)q.out.zero_point, q.out.scale, min, max, g->flags, &step->xnn);
}

typedef enum xnn_status create_conv_fn(struct step *step, const struct site *s, const struct nnbx_planes *p,
                                       const struct grouping *g);

static enum xnn_status create_conv(struct step *step, const struct site *s, const struct grouping *g,
                                   create_conv_fn *create)
{
	struct nnbx_planes p = planes_windowed(s);

	uint64_t depth = product_of(p.window.filter_w, p.window.filter_h, g->in);

	if (!is_packable(s) || too_indirect(&p) || depth > NNBX_TILE_DEPTH ||
	    (g->flags & XNN_FLAG_DEPTHWISE_CONVOLUTION && has_long_rows(&p)))
		return xnn_status_unsupported_parameter;
	step->threads = threads_for(product_of(p.batch, p.out_h, p.out_w), g->out, depth);
	if (!(g->flags & XNN_FLAG_DEPTHWISE_CONVOLUTION))
		step->tile_units = tile_units_for(g->out, depth, step->threads);
	return create(step, s, &p, g);
}

static create_conv_fn *of_type(const struct site *s)
{
	return is_quant(in_operand(s, 0)) ? create_conv_q8 : create_conv_f32;
}

/* All channels to all. */
static struct grouping one_group(const struct site *s)
{
	return (struct grouping){ 1, in_shape(s, 0)->dims[3], out_shape(s, 0)->dims[3], 0 };
}

/* Every channel for itself. */
static struct grouping depthwise_groups(const struct site *s)
{
	uint32_t in = in_shape(s, 0)->dims[3], out = out_shape(s, 0)->dims[3];

	return (struct grouping){ in, 1, out / in, XNN_FLAG_DEPTHWISE_CONVOLUTION };
}

enum xnn_status nnbx_create_conv(struct step *step, const struct site *s)
{
	struct grouping g = one_group(s);

	return create_conv(step, s, &g, of_type(s));
}

enum xnn_status nnbx_create_conv_signed(struct step *step, const struct site *s)
{
	struct grouping g = one_group(s);

	return create_conv(step, s, &g, create_conv_s8);
}

enum xnn_status nnbx_create_depthwise(struct step *step, const struct site *s)
{
	struct grouping g = depthwise_groups(s);

	return create_conv(step, s, &g, of_type(s));
}

enum xnn_status nnbx_create_depthwise_signed(struct step *step, const struct site *s)
{
	struct grouping g = depthwise_groups(s);

	return create_conv(step, s, &g, create_conv_s8);
}

/* ---- in groups, and transposed: operands are seen as they are ---- */

static bool has_channels_last(const struct site *s)
{
	return !in_bool(s, s->op->n_inputs - 1, false);
}

enum xnn_status nnbx_create_grouped_conv(struct step *step, const struct site *s)
{
	uint32_t groups = (uint32_t)in_i32(s, s->op->n_inputs - 3), type = in_operand(s, 0)->type;
	struct grouping g = one_group(s);

	if (!has_channels_last(s) || type == NNB_TENSOR_FLOAT16)
		return xnn_status_unsupported_parameter;
	g.groups = groups;
	g.in /= groups;
	g.out /= groups;
	return create_conv(step, s, &g, type == NNB_TENSOR_QUANT8_ASYMM_SIGNED ? create_conv_s8 : of_type(s));
}

/* Rows or columns that the formula does not give, and the output still has. */
static uint32_t output_adjustment(uint32_t in, uint32_t out, uint32_t stride, uint32_t filter, uint32_t pads)
{
	return (uint32_t)((uint64_t)out + pads - ((uint64_t)(in - 1) * stride + filter));
}

#define SETUP_TRANSPOSED(name, xnn_setup)                                                                         \
	static enum xnn_status name(xnn_operator_t xnn, const struct site *s)                                     \
	{                                                                                                         \
		struct nnbx_planes p = planes_windowed(s);                                                        \
		const struct nnb_window *w = &p.window;                                                           \
                                                                                                                  \
		return xnn_setup(                                                                                 \
			xnn, p.batch, p.in_h, p.in_w,                                                             \
			output_adjustment(p.in_h, p.out_h, w->stride_h, w->filter_h, w->pad_top + w->pad_bottom), \
			output_adjustment(p.in_w, p.out_w, w->stride_w, w->filter_w, w->pad_left + w->pad_right), \
			in_at(s, 0), out_at(s, 0), NULL);                                                         \
	}

SETUP_TRANSPOSED(setup_transposed_f32, xnn_setup_deconvolution2d_nhwc_f32)
SETUP_TRANSPOSED(setup_transposed_q8, xnn_setup_deconvolution2d_nhwc_qu8)
SETUP_TRANSPOSED(setup_transposed_s8, xnn_setup_deconvolution2d_nhwc_qs8)

/* XNNPACK keeps something for each cell of a stride, and adds less than a stride to what the formula gives. */
static bool can_transpose(const struct site *s, const struct nnbx_planes *p)
{
	const struct nnb_window *w = &p->window;
	uint64_t depth = product_of(w->filter_w, w->filter_h, p->in_c);

	return has_channels_last(s) && is_packable(s) && !too_indirect(p) && depth <= NNBX_TILE_DEPTH &&
	       w->stride_h <= w->filter_h && w->stride_w <= w->filter_w && w->pad_top < w->filter_h &&
	       w->pad_bottom < w->filter_h && w->pad_left < w->filter_w && w->pad_right < w->filter_w &&
	       output_adjustment(p->in_h, p->out_h, w->stride_h, w->filter_h, w->pad_top + w->pad_bottom) <
	               w->stride_h &&
	       output_adjustment(p->in_w, p->out_w, w->stride_w, w->filter_w, w->pad_left + w->pad_right) < w->stride_w;
}

static enum xnn_status create_transposed_bytes(struct step *step, const struct site *s, const struct nnbx_planes *p)
{
	const struct nnb_window *w = &p->window;
	struct nnbx_quants q = quants_of(s, w->fused);

	if (q.scales || !is_scalable(&q))
		return xnn_status_unsupported_parameter;
	step->setup = setup_transposed_q8;
	return xnn_create_deconvolution2d_nhwc_qu8(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h,
	                                           w->filter_w, w->stride_h, w->stride_w, 1, 1, 1, p->in_c, p->out_c,
	                                           p->in_c, p->out_c, (uint8_t)q.a.zero_point, q.a.scale,
	                                           (uint8_t)q.b.zero_point, q.b.scale, in_at(s, 1), in_at(s, 2),
	                                           (uint8_t)q.out.zero_point, q.out.scale, q.min, q.max, 0, &step->xnn);
}

static enum xnn_status create_transposed_signed(struct step *step, const struct site *s, const struct nnbx_planes *p)
{
	const struct nnb_window *w = &p->window;
	int8_t min, max;
	struct nnbx_quants q = signed_quants_of(s, w->fused, &min, &max);

	if (q.scales || !is_symmetric(s, &q))
		return xnn_status_unsupported_parameter;
	step->setup = setup_transposed_s8;
	return xnn_create_deconvolution2d_nhwc_qs8(
		w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h, w->filter_w, w->stride_h,
		w->stride_w, 1, 1, 1, p->in_c, p->out_c, p->in_c, p->out_c, (int8_t)q.a.zero_point, q.a.scale,
		q.b.scale, in_at(s, 1), in_at(s, 2), (int8_t)q.out.zero_point, q.out.scale, min, max, 0, &step->xnn);
}

enum xnn_status nnbx_create_transpose_conv(struct step *step, const struct site *s)
{
	const struct nnbx_planes p = planes_windowed(s);
	const struct nnb_window *w = &p.window;
	float min, max;

	if (!can_transpose(s, &p))
		return xnn_status_unsupported_parameter;
	step->threads = threads_for(product_of(p.batch, p.out_h, p.out_w), p.out_c,
	                            product_of(w->filter_w, w->filter_h, p.in_c));
	switch (in_operand(s, 0)->type) {
	case NNB_TENSOR_FLOAT32:
		nnb_fused_range(w->fused, &min, &max);
		step->setup = setup_transposed_f32;
		return xnn_create_deconvolution2d_nhwc_f32(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left,
		                                           w->filter_h, w->filter_w, w->stride_h, w->stride_w, 1, 1, 1,
		                                           p.in_c, p.out_c, p.in_c, p.out_c, in_at(s, 1), in_at(s, 2),
		                                           min, max, 0, &step->xnn);
	case NNB_TENSOR_QUANT8_ASYMM:
		return create_transposed_bytes(step, s, &p);
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
		return create_transposed_signed(step, s, &p);
	default:
		return xnn_status_unsupported_parameter;
	}
}

/* ---- fully connected ---- */

static uint32_t fc_size(const struct site *s)
{
	return in_shape(s, 1)->dims[1];
}

enum nnb_status nnbx_run_fully_connected(const struct site *s)
{
	size_t batch = out_shape(s, 0)->dims[0], units = out_shape(s, 0)->dims[1];
	uint32_t fused = (uint32_t)in_i32(s, 3);
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		struct nnbx_quants q = quants_of(s, fused);

		nnbx_fully_connected_q8(batch, fc_size(s), units, &q, in_at(s, 0), in_at(s, 1), in_at(s, 2),
		                        out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(fused, &min, &max);
	nnbx_fully_connected_f32(batch, fc_size(s), units, in_at(s, 0), in_at(s, 1), in_at(s, 2), min, max,
	                         out_at(s, 0));
	return NNB_STATUS_NONE;
}

static enum xnn_status setup_fc_f32(xnn_operator_t xnn, const struct site *s)
{
	return xnn_setup_fully_connected_nc_f32(xnn, out_shape(s, 0)->dims[0], in_at(s, 0), out_at(s, 0), NULL);
}

static enum xnn_status setup_fc_q8(xnn_operator_t xnn, const struct site *s)
{
	return xnn_setup_fully_connected_nc_qu8(xnn, out_shape(s, 0)->dims[0], in_at(s, 0), out_at(s, 0), NULL);
}

static enum xnn_status setup_fc_s8(xnn_operator_t xnn, const struct site *s)
{
	return xnn_setup_fully_connected_nc_qs8(xnn, out_shape(s, 0)->dims[0], in_at(s, 0), out_at(s, 0), NULL);
}

/* Is it one for XNNPACK? Then its tiles. */
static bool can_connect(struct step *step, const struct site *s)
{
	uint32_t size = fc_size(s), units = out_shape(s, 0)->dims[1];

	if (!is_packable(s) || size > NNBX_TILE_DEPTH)
		return false;
	step->threads = threads_for(out_shape(s, 0)->dims[0], units, size);
	step->tile_units = tile_units_for(units, size, step->threads);
	return true;
}

enum xnn_status nnbx_create_fully_connected_signed(struct step *step, const struct site *s)
{
	uint32_t size = fc_size(s), units = out_shape(s, 0)->dims[1];
	int8_t min, max;
	struct nnbx_quants q = signed_quants_of(s, (uint32_t)in_i32(s, 3), &min, &max);

	if (!can_connect(step, s) || !is_symmetric(s, &q))
		return xnn_status_unsupported_parameter;
	step->setup = setup_fc_s8;
	return xnn_create_fully_connected_nc_qs8(size, units, size, units, (int8_t)q.a.zero_point, q.a.scale, q.b.scale,
	                                         in_at(s, 1), in_at(s, 2), (int8_t)q.out.zero_point, q.out.scale, min,
	                                         max, 0, &step->xnn);
}

enum xnn_status nnbx_create_fully_connected(struct step *step, const struct site *s)
{
	uint32_t size = fc_size(s), units = out_shape(s, 0)->dims[1], fused = (uint32_t)in_i32(s, 3);
	struct nnbx_quants q;
	float min, max;

	if (!can_connect(step, s))
		return xnn_status_unsupported_parameter;
	if (!is_quant(in_operand(s, 0))) {
		nnb_fused_range(fused, &min, &max);
		step->setup = setup_fc_f32;
		return xnn_create_fully_connected_nc_f32(size, units, size, units, in_at(s, 1), in_at(s, 2), min, max,
		                                         0, &step->xnn);
	}
	q = quants_of(s, fused);
	if (!is_scalable(&q))
		return xnn_status_unsupported_parameter;
	step->setup = setup_fc_q8;
	return xnn_create_fully_connected_nc_qu8(size, units, size, units, (uint8_t)q.a.zero_point, q.a.scale,
	                                         (uint8_t)q.b.zero_point, q.b.scale, in_at(s, 1), in_at(s, 2),
	                                         (uint8_t)q.out.zero_point, q.out.scale, q.min, q.max, 0, &step->xnn);
}

/* ---- pools ---- */

enum nnb_status nnbx_run_average_pool(const struct site *s)
{
	struct nnbx_planes p = planes_windowed(s);
	uint8_t qmin, qmax;
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		nnbx_quant_range(quant_of(out_operand(s, 0)), p.window.fused, &qmin, &qmax);
		nnbx_average_pool_q8(&p, in_at(s, 0), qmin, qmax, out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(p.window.fused, &min, &max);
	nnbx_average_pool_f32(&p, in_at(s, 0), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_max_pool(const struct site *s)
{
	struct nnbx_planes p = planes_windowed(s);
	uint8_t qmin, qmax;
	float min, max;

	if (is_quant(in_operand(s, 0))) {
		nnbx_quant_range(quant_of(out_operand(s, 0)), p.window.fused, &qmin, &qmax);
		nnbx_max_pool_q8(&p, in_at(s, 0), qmin, qmax, out_at(s, 0));
		return NNB_STATUS_NONE;
	}
	nnb_fused_range(p.window.fused, &min, &max);
	nnbx_max_pool_f32(&p, in_at(s, 0), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_l2_pool(const struct site *s)
{
	struct nnbx_planes p = planes_windowed(s);
	float min, max;

	nnb_fused_range(p.window.fused, &min, &max);
	nnbx_l2_pool_f32(&p, in_at(s, 0), min, max, out_at(s, 0));
	return NNB_STATUS_NONE;
}

enum xnn_status nnbx_create_average_pool(struct step *step, const struct site *s)
{
	const struct nnbx_planes p = planes_windowed(s);
	const struct nnb_window *w = &p.window;
	struct nnbx_quant q = quant_of(in_operand(s, 0));
	uint8_t qmin, qmax;
	float min, max;

	if (too_indirect(&p) || has_long_rows(&p))
		return xnn_status_unsupported_parameter;
	if (!is_quant(in_operand(s, 0))) {
		nnb_fused_range(w->fused, &min, &max);
		step->setup = setup_average_pool_f32;
		return xnn_create_average_pooling2d_nhwc_f32(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left,
		                                             w->filter_h, w->filter_w, w->stride_h, w->stride_w, p.in_c,
		                                             p.in_c, p.in_c, min, max, 0, &step->xnn);
	}
	if (w->pad_top | w->pad_right | w->pad_bottom | w->pad_left) /* XNNPACK would count the padding */
		return xnn_status_unsupported_parameter;
	nnbx_quant_range(q, w->fused, &qmin, &qmax);
	/* in and out are quantised alike, by whatever scale; XNNPACK would divide by a huge one and assert */
	step->setup = setup_average_pool_q8;
	return xnn_create_average_pooling2d_nhwc_qu8(0, 0, 0, 0, w->filter_h, w->filter_w, w->stride_h, w->stride_w,
	                                             p.in_c, p.in_c, p.in_c, (uint8_t)q.zero_point, 1,
	                                             (uint8_t)q.zero_point, 1, qmin, qmax, 0, &step->xnn);
}

enum xnn_status nnbx_create_max_pool(struct step *step, const struct site *s)
{
	const struct nnbx_planes p = planes_windowed(s);
	const struct nnb_window *w = &p.window;
	uint8_t qmin, qmax;
	float min, max;

	if (too_indirect(&p) || has_long_rows(&p))
		return xnn_status_unsupported_parameter;
	if (!is_quant(in_operand(s, 0))) {
		nnb_fused_range(w->fused, &min, &max);
		step->setup = setup_max_pool_f32;
		return xnn_create_max_pooling2d_nhwc_f32(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left,
		                                         w->filter_h, w->filter_w, w->stride_h, w->stride_w, 1, 1,
		                                         p.in_c, p.in_c, p.in_c, min, max, 0, &step->xnn);
	}
	nnbx_quant_range(quant_of(out_operand(s, 0)), w->fused, &qmin, &qmax);
	step->setup = setup_max_pool_q8;
	return xnn_create_max_pooling2d_nhwc_u8(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h,
	                                        w->filter_w, w->stride_h, w->stride_w, 1, 1, p.in_c, p.in_c, p.in_c,
	                                        qmin, qmax, 0, &step->xnn);
}

enum xnn_status nnbx_create_max_pool_signed(struct step *step, const struct site *s)
{
	const struct nnbx_planes p = planes_windowed(s);
	const struct nnb_window *w = &p.window;
	int8_t min, max;

	if (too_indirect(&p) || has_long_rows(&p))
		return xnn_status_unsupported_parameter;
	nnbx_signed_range(quant_of(out_operand(s, 0)), w->fused, &min, &max);
	step->setup = setup_max_pool_s8;
	return xnn_create_max_pooling2d_nhwc_s8(w->pad_top, w->pad_right, w->pad_bottom, w->pad_left, w->filter_h,
	                                        w->filter_w, w->stride_h, w->stride_w, 1, 1, p.in_c, p.in_c, p.in_c,
	                                        min, max, 0, &step->xnn);
}

/* ---- resizing ---- */

/* Inputs 4 and 5, where there are any. */
static enum nnbx_centres centres_of(const struct site *s)
{
	if (in_bool(s, 4, false))
		return NNBX_CORNERS_ALIGNED;
	return in_bool(s, 5, false) ? NNBX_CENTRES_HALF : NNBX_CORNERS_FIRST;
}

enum nnb_status nnbx_run_resize(const struct site *s)
{
	struct nnbx_planes p = planes_of(s);

	if (is_quant(in_operand(s, 0)))
		nnbx_resize_bilinear_q8(&p, centres_of(s), in_at(s, 0), out_at(s, 0));
	else
		nnbx_resize_bilinear_f32(&p, centres_of(s), in_at(s, 0), out_at(s, 0));
	return NNB_STATUS_NONE;
}

static enum xnn_status setup_resize_f32(xnn_operator_t xnn, const struct site *s)
{
	struct nnbx_planes p = planes_of(s);

	return xnn_setup_resize_bilinear2d_nhwc_f32(xnn, p.batch, p.in_h, p.in_w, p.out_h, p.out_w, in_at(s, 0),
	                                            out_at(s, 0), NULL);
}

static enum xnn_status setup_resize_q8(xnn_operator_t xnn, const struct site *s)
{
	struct nnbx_planes p = planes_of(s);

	return xnn_setup_resize_bilinear2d_nhwc_u8(xnn, p.batch, p.in_h, p.in_w, p.out_h, p.out_w, in_at(s, 0),
	                                           out_at(s, 0), NULL);
}

static enum xnn_status setup_resize_s8(xnn_operator_t xnn, const struct site *s)
{
	struct nnbx_planes p = planes_of(s);

	return xnn_setup_resize_bilinear2d_nhwc_s8(xnn, p.batch, p.in_h, p.in_w, p.out_h, p.out_w, in_at(s, 0),
	                                           out_at(s, 0), NULL);
}

/* Is XNNPACK to have it, and with which flag? */
static bool can_resize(struct step *step, const struct site *s, const struct nnbx_planes *p, uint32_t *flag)
{
	static const uint32_t flags[] = { [NNBX_CORNERS_FIRST] = XNN_FLAG_TENSORFLOW_LEGACY_MODE,
		                          [NNBX_CORNERS_ALIGNED] = XNN_FLAG_ALIGN_CORNERS,
		                          [NNBX_CENTRES_HALF] = 0 };

	*flag = flags[centres_of(s)];
	step->threads = product_of(p->out_h, p->out_w, p->out_c) / (NNBX_TILE_WORK / 4) + 1;
	return !too_indirect(p) && p->out_c <= NNBX_TILE_WORK / 4;
}

enum xnn_status nnbx_create_resize_bilinear_signed(struct step *step, const struct site *s)
{
	struct nnbx_planes p = planes_resizing(s);
	uint32_t flag;

	if (!can_resize(step, s, &p, &flag))
		return xnn_status_unsupported_parameter;
	step->setup = setup_resize_s8;
	return xnn_create_resize_bilinear2d_nhwc_s8(p.in_c, p.in_c, p.in_c, flag, &step->xnn);
}

enum xnn_status nnbx_create_resize_bilinear(struct step *step, const struct site *s)
{
	struct nnbx_planes p = planes_resizing(s);
	uint32_t flag;

	if (!can_resize(step, s, &p, &flag))
		return xnn_status_unsupported_parameter;
	if (is_quant(in_operand(s, 0))) {
		step->setup = setup_resize_q8;
		return xnn_create_resize_bilinear2d_nhwc_u8(p.in_c, p.in_c, p.in_c, flag, &step->xnn);
	}
	step->setup = setup_resize_f32;
	return xnn_create_resize_bilinear2d_nhwc_f32(p.in_c, p.in_c, p.in_c, flag, &step->xnn);
}

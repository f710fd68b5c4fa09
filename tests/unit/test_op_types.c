/*
 * test_op_types.c -- operations of random shapes and forms, with operands of every type they take, against their definitions
 * in doubles.
 *
 * A row is an operation with a type; each of its rounds makes a model of that operation alone, in one of its forms (padding,
 * layout, dilation, axis, optional inputs), works out what it should give, and runs it. Inputs are read as the reals that their
 * bytes stand for, so that the oracle knows nothing of types. The driver is driver_both.c: what XNNPACK computes is compared
 * with the plain kernel, too.
 */
#include <dlfcn.h>
#include <float.h>
#include <math.h>

#include "nnb/half.h"
#include "unit/device_helpers.h"

enum { ROUNDS = 25, TENSORS_MAX = 32, ELEMENTS_MAX = 4096 };

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static uint32_t between(uint32_t least, uint32_t most)
{
	return least + random_below(most - least + 1);
}

static bool chance(uint32_t percent)
{
	return random_below(100) < percent;
}

/* ---- tensors ---- */

struct tensor {
	uint32_t index; /* of the operand */
	struct nnb_operand operand;
	const float *scales; /* of channels */
	size_t n;
	uint8_t bytes[4 * ELEMENTS_MAX];
	double reals[ELEMENTS_MAX];
};

/* One model of one operation. */
struct maker {
	struct nnb_model *m;
	uint32_t type;                                        /* of the row */
	bool nchw;                                            /* input 0 and output 0 of an image */
	uint32_t inputs[32], n_inputs, outputs[4], n_outputs; /* of the operation */
	uint32_t given[32], n_given;                          /* of the model, and what they hold: tensors[k] */
	struct tensor *tensors[32];
	struct tensor pool[TENSORS_MAX];
	uint32_t n_tensors;
	struct tensor *wanted[4]; /* whose reals are what an output should be */
};

static bool is_real(uint32_t type)
{
	return type == NNB_TENSOR_FLOAT32 || type == NNB_TENSOR_FLOAT16;
}

static double decode(const struct tensor *t, size_t i)
{
	const struct nnb_operand *o = &t->operand;
	size_t slice = 1;
	double scale = (double)o->scale;

	for (uint32_t d = o->channel_dim + 1; d < o->rank; d++)
		slice *= o->dims[d];
	if (t->scales)
		scale = (double)t->scales[i / slice % o->dims[o->channel_dim]];
	switch (o->type) {
	case NNB_TENSOR_FLOAT32:
		return (double)((const float *)(const void *)t->bytes)[i];
	case NNB_TENSOR_FLOAT16:
		return (double)nnb_half_to_float(((const uint16_t *)(const void *)t->bytes)[i]);
	case NNB_TENSOR_INT32:
		return ((const int32_t *)(const void *)t->bytes)[i] * (scale != 0 ? scale : 1);
	case NNB_TENSOR_QUANT8_ASYMM:
		return scale * (t->bytes[i] - o->zero_point);
	default:
		return scale * ((int8_t)t->bytes[i] - o->zero_point);
	}
}

static void encode(struct tensor *t, size_t i, double real)
{
	const struct nnb_operand *o = &t->operand;
	float f = (float)real;
	uint16_t h = nnb_float_to_half(f);
	int32_t n = (int32_t)real;

	if (o->type == NNB_TENSOR_FLOAT32)
		memcpy(t->bytes + 4 * i, &f, 4);
	else if (o->type == NNB_TENSOR_FLOAT16)
		memcpy(t->bytes + 2 * i, &h, 2);
	else if (o->type == NNB_TENSOR_INT32)
		memcpy(t->bytes + 4 * i, &n, 4);
	else
		t->bytes[i] = (uint8_t)random_below(256);
}

static struct tensor *tensor(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, float scale,
                             int32_t zero_point)
{
	struct tensor *t = &k->pool[k->n_tensors++];

	assert_true(k->n_tensors <= TENSORS_MAX);
	*t = (struct tensor){ .operand = { .type = type, .rank = rank }, .n = 1 };
	memcpy(t->operand.dims, dims, rank * sizeof(*dims));
	for (uint32_t d = 0; d < rank; d++)
		t->n *= dims[d];
	assert_true(t->n <= ELEMENTS_MAX);
	if (type == NNB_TENSOR_QUANT8_SYMM)
		zero_point = 0;
	else if (type == NNB_TENSOR_QUANT8_ASYMM_SIGNED)
		zero_point -= 128;
	if (nnb_type_info(type)->quantized) {
		t->operand.scale = scale;
		t->operand.zero_point = zero_point;
	}
	return t;
}

/* Make it an input of the operation, with random elements up to @most: a constant, or one of the model's. */
static struct tensor *give(struct maker *k, struct tensor *t, double most, bool constant)
{
	size_t bytes = t->n * nnb_type_info(t->operand.type)->bytes;

	for (size_t i = 0; i < t->n; i++)
		encode(t, i, ((double)random_below(20001) / 10000 - 1) * most);
	t->index = operand(k->m, &t->operand);
	if (t->scales)
		assert_int_equal(nnb_model_channels(k->m, t->index, t->operand.channel_dim, t->scales,
		                                    t->operand.dims[t->operand.channel_dim]),
		                 0);
	if (constant) {
		assert_int_equal(nnb_model_value(k->m, t->index, t->bytes, (uint32_t)bytes), 0);
	} else {
		k->tensors[k->n_given] = t;
		k->given[k->n_given++] = t->index;
	}
	for (size_t i = 0; i < t->n; i++)
		t->reals[i] = decode(t, i);
	k->inputs[k->n_inputs++] = t->index;
	return t;
}

#define DIMS(...)                                                                        \
	sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (const uint32_t[]) \
	{                                                                                \
		__VA_ARGS__                                                              \
	}

/* One of the row's own type. */
static struct tensor *own(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return give(k, tensor(k, k->type, rank, dims, 1.0f / 64, 100), 2, false);
}

/* Signed weights without a zero point are XNNPACK's as they are. */
static int32_t weights_zero(void)
{
	return chance(50) ? 128 : 120;
}

static struct tensor *weights(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return give(k, tensor(k, k->type, rank, dims, 1.0f / 128, weights_zero()), 1, chance(70));
}

static void omit(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = { .type = k->type, .lifetime = NNB_NO_VALUE, .rank = rank };

	memcpy(o.dims, dims, rank * sizeof(*dims));
	k->inputs[k->n_inputs++] = operand(k->m, &o);
}

static void integer(struct maker *k, int32_t value)
{
	k->inputs[k->n_inputs++] = int_scalar(k->m, value);
}

static void truth(struct maker *k, bool value)
{
	uint32_t index = operand(k->m, &(struct nnb_operand){ .type = NNB_BOOL });
	uint8_t byte = value;

	assert_int_equal(nnb_model_value(k->m, index, &byte, 1), 0);
	k->inputs[k->n_inputs++] = index;
}

/* A real scalar as precise as the row's type. Returns what it stands for. */
static double number(struct maker *k, double value)
{
	bool half = k->type == NNB_TENSOR_FLOAT16;
	uint32_t index = operand(k->m, &(struct nnb_operand){ .type = half ? NNB_FLOAT16 : NNB_FLOAT32 });
	float f = (float)value;
	uint16_t h = nnb_float_to_half(f);

	assert_int_equal(nnb_model_value(k->m, index, half ? (void *)&h : &f, half ? 2 : 4), 0);
	k->inputs[k->n_inputs++] = index;
	return (double)(half ? nnb_half_to_float(h) : f);
}

/* An output; the caller works its reals out. */
static struct tensor *wanted(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, float scale,
                             int32_t zero_point)
{
	return k->wanted[k->n_outputs++] = tensor(k, type, rank, dims, scale, zero_point);
}

static struct tensor *like(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return wanted(k, k->type, rank, dims, 1.0f / 64, 100);
}

/* Its reals are known: give it a scale that holds the most of them. */
static void fit_scale(struct tensor *t, double at_least)
{
	double most = at_least;

	if (is_real(t->operand.type) || t->operand.type == NNB_TENSOR_INT32)
		return;
	for (size_t i = 0; i < t->n; i++)
		most = fmax(most, fabs(t->reals[i]) / 100);
	t->operand.scale = (float)most;
}

/* ---- images, wherever they have their channels ---- */

struct image {
	uint32_t b, h, w, c;
};

static void image_dims(const struct maker *k, struct image s, uint32_t ret[4])
{
	memcpy(ret, k->nchw ? (uint32_t[]){ s.b, s.c, s.h, s.w } : (uint32_t[]){ s.b, s.h, s.w, s.c }, 16);
}

static size_t cell(const struct maker *k, struct image s, uint32_t b, uint32_t y, uint32_t x, uint32_t c)
{
	if (k->nchw)
		return (((size_t)b * s.c + c) * s.h + y) * s.w + x;
	return (((size_t)b * s.h + y) * s.w + x) * s.c + c;
}

static struct tensor *own_image(struct maker *k, struct image s)
{
	uint32_t dims[4];

	image_dims(k, s, dims);
	return own(k, 4, dims);
}

static struct tensor *wanted_image(struct maker *k, struct image s)
{
	uint32_t dims[4];

	image_dims(k, s, dims);
	return like(k, 4, dims);
}

#define EACH_CELL(s, b, y, x, k)                             \
	for (uint32_t b = 0; b < (s).b; b++)                 \
		for (uint32_t y = 0; y < (s).h; y++)         \
			for (uint32_t x = 0; x < (s).w; x++) \
				for (uint32_t k = 0; k < (s).c; k++)

static double fuse(uint32_t fused, double x)
{
	static const double ranges[][2] = { { -INFINITY, INFINITY }, { 0, INFINITY }, { -1, 1 }, { 0, 6 } };

	return fmin(fmax(x, ranges[fused][0]), ranges[fused][1]);
}

/* ---- windows ---- */

struct window {
	struct image in, out;
	uint32_t filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pads[4],
		fused; /* left, right, top, bottom */
	uint32_t form; /* 0 explicit; or a padding scheme */
};

static uint32_t extent(struct window *w, uint32_t in, uint32_t filter, uint32_t dilation, uint32_t stride,
                       uint32_t *pads)
{
	uint32_t spread = (filter - 1) * dilation + 1, out = (in + stride - 1) / stride, all;

	if (w->form == NNB_PADDING_SAME) {
		all = (out - 1) * stride + spread > in ? (out - 1) * stride + spread - in : 0;
		pads[0] = all / 2;
		pads[1] = all - all / 2;
		return out;
	}
	pads[0] = w->form ? 0 : random_below(filter);
	pads[1] = w->form ? 0 : random_below(filter);
	return (in + pads[0] + pads[1] - spread) / stride + 1;
}

static struct window random_window(struct maker *k, bool dilates)
{
	struct window w = { .in = { between(1, 2), between(5, 9), between(5, 9), between(1, 6) },
		            .filter_h = between(1, 3),
		            .filter_w = between(1, 3),
		            .stride_h = between(1, 3),
		            .stride_w = between(1, 3),
		            .dilation_h = dilates ? between(1, 2) : 1,
		            .dilation_w = dilates ? between(1, 2) : 1,
		            .fused = random_below(4),
		            .form = random_below(3) };

	k->nchw = chance(40);
	w.out = w.in;
	w.out.h = extent(&w, w.in.h, w.filter_h, w.dilation_h, w.stride_h, w.pads + 2);
	w.out.w = extent(&w, w.in.w, w.filter_w, w.dilation_w, w.stride_w, w.pads);
	return w;
}

static void window_scalars(struct maker *k, const struct window *w, bool pool, uint32_t multiplier)
{
	if (w->form)
		integer(k, (int32_t)w->form);
	for (int i = 0; !w->form && i < 4; i++)
		integer(k, (int32_t)w->pads[i]);
	integer(k, (int32_t)w->stride_w);
	integer(k, (int32_t)w->stride_h);
	if (pool) {
		integer(k, (int32_t)w->filter_w);
		integer(k, (int32_t)w->filter_h);
	}
	if (multiplier)
		integer(k, (int32_t)multiplier);
	integer(k, (int32_t)w->fused);
	if (k->nchw || chance(50) || w->dilation_h * w->dilation_w > 1) {
		truth(k, k->nchw);
		if (!pool && (chance(50) || w->dilation_h * w->dilation_w > 1)) {
			integer(k, (int32_t)w->dilation_w);
			integer(k, (int32_t)w->dilation_h);
		}
	}
}

/* The input's element under cell (fy, fx) of the window at (y, x). false: padding. */
static bool under(const struct maker *k, const struct window *w, const struct tensor *in, uint32_t b, uint32_t y,
                  uint32_t x, uint32_t fy, uint32_t fx, uint32_t c, double *ret)
{
	int64_t at_y = (int64_t)y * w->stride_h + fy * w->dilation_h - w->pads[2];
	int64_t at_x = (int64_t)x * w->stride_w + fx * w->dilation_w - w->pads[0];

	if (at_y < 0 || at_y >= w->in.h || at_x < 0 || at_x >= w->in.w)
		return false;
	*ret = in->reals[cell(k, w->in, b, (uint32_t)at_y, (uint32_t)at_x, c)];
	return true;
}

#define EACH_UNDER(w, fy, fx)                          \
	for (uint32_t fy = 0; fy < (w).filter_h; fy++) \
		for (uint32_t fx = 0; fx < (w).filter_w; fx++)

static void make_pool(struct maker *k, enum nnb_op op)
{
	struct window w = random_window(k, false);
	struct tensor *in = own_image(k, w.in), *out = wanted_image(k, w.out);

	window_scalars(k, &w, true, 0);
	EACH_CELL(w.out, b, y, x, c)
	{
		double sum = 0, squares = 0, most = -INFINITY, here, n = 0;

		EACH_UNDER(w, fy, fx)
		{
			if (!under(k, &w, in, b, y, x, fy, fx, c, &here))
				continue;
			n++;
			sum += here;
			squares += here * here;
			most = fmax(most, here);
		}
		out->reals[cell(k, w.out, b, y, x, c)] = fuse(w.fused, op == NNB_MAX_POOL_2D  ? most
		                                                       : op == NNB_L2_POOL_2D ? sqrt(squares / n)
		                                                                              : sum / n);
	}
}

/* A filter, which may be quantised by channel, and what is added. */
static struct tensor *filter_of(struct maker *k, const uint32_t dims[4], uint32_t channel_dim, uint32_t channels,
                                struct tensor **bias)
{
	static float scales[64];
	bool quant = !is_real(k->type), by_channel = quant && chance(50), constant = chance(70);
	struct tensor *filter =
		tensor(k, by_channel ? NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL : k->type, 4, dims, 1.0f / 128, 120);
	uint32_t type = quant ? NNB_TENSOR_INT32 : k->type;

	for (uint32_t i = 0; i < channels; i++)
		scales[i] = (float)between(1, 8) / 1024;
	if (by_channel) {
		filter->operand.channel_dim = channel_dim;
		filter->scales = scales;
	}
	give(k, filter, 1, constant);
	*bias = tensor(k, type, 1, &channels, 0, 0);
	if (quant && !by_channel)
		(*bias)->operand.scale = 1.0f / 64 * (1.0f / 128);
	give(k, *bias, quant ? 2000 : 1, constant);
	for (uint32_t i = 0; by_channel && i < channels; i++)
		(*bias)->reals[i] *= 1.0 / 64 * (double)scales[i];
	return filter;
}

static void make_conv(struct maker *k, enum nnb_op op)
{
	struct window w = random_window(k, true);
	struct tensor *in = own_image(k, w.in), *out, *filter, *bias;
	uint32_t ci = w.in.c;

	(void)op;
	w.out.c = between(1, 8);
	filter = filter_of(k, (uint32_t[]){ w.out.c, w.filter_h, w.filter_w, ci }, 0, w.out.c, &bias);
	out = wanted_image(k, w.out);
	window_scalars(k, &w, false, 0);
	EACH_CELL(w.out, b, y, x, co)
	{
		double sum = bias->reals[co], here;

		EACH_UNDER(w, fy, fx)
		for (uint32_t c = 0; c < ci; c++)
			if (under(k, &w, in, b, y, x, fy, fx, c, &here))
				sum += here * filter->reals[((co * w.filter_h + fy) * w.filter_w + fx) * ci + c];
		out->reals[cell(k, w.out, b, y, x, co)] = fuse(w.fused, sum);
	}
	fit_scale(out, 1e-3);
}

static void make_depthwise(struct maker *k, enum nnb_op op)
{
	struct window w = random_window(k, true);
	struct tensor *in = own_image(k, w.in), *out, *filter, *bias;
	uint32_t multiplier = between(1, 3);

	(void)op;
	w.out.c = w.in.c * multiplier;
	filter = filter_of(k, (uint32_t[]){ 1, w.filter_h, w.filter_w, w.out.c }, 3, w.out.c, &bias);
	out = wanted_image(k, w.out);
	window_scalars(k, &w, false, multiplier);
	EACH_CELL(w.out, b, y, x, co)
	{
		double sum = bias->reals[co], here;

		EACH_UNDER(w, fy, fx)
		if (under(k, &w, in, b, y, x, fy, fx, co / multiplier, &here))
			sum += here * filter->reals[(fy * w.filter_w + fx) * w.out.c + co];
		out->reals[cell(k, w.out, b, y, x, co)] = fuse(w.fused, sum);
	}
	fit_scale(out, 1e-3);
}

static void make_fully_connected(struct maker *k, enum nnb_op op)
{
	uint32_t batch = between(1, 4), size = between(1, 30), units = between(1, 12), fused = random_below(4);
	struct tensor *in = own(k, DIMS(batch, size)), *w = weights(k, DIMS(units, size)), *out, *bias;
	bool quant = !is_real(k->type);

	(void)op;
	bias = tensor(k, quant ? NNB_TENSOR_INT32 : k->type, 1, &units, 0, 0);
	if (quant)
		bias->operand.scale = 1.0f / 64 * (1.0f / 128);
	give(k, bias, quant ? 2000 : 1, chance(70));
	integer(k, (int32_t)fused);
	out = like(k, DIMS(batch, units));
	for (size_t i = 0; i < out->n; i++) {
		double sum = bias->reals[i % units];

		for (size_t c = 0; c < size; c++)
			sum += in->reals[i / units * size + c] * w->reals[i % units * size + c];
		out->reals[i] = fuse(fused, sum);
	}
	fit_scale(out, 1e-3);
}

/* Weights of a tent around where the output lies in the input; beyond the last cell, the last cell. */
static double tent(const struct maker *k, struct image s, const struct tensor *in, uint32_t b, double y, double x,
                   uint32_t c)
{
	double sum = 0;

	y = fmin(fmax(y, 0), s.h - 1.0);
	x = fmin(fmax(x, 0), s.w - 1.0);
	for (uint32_t i = 0; i < s.h; i++)
		for (uint32_t j = 0; j < s.w; j++)
			sum += fmax(0, 1 - fabs(y - i)) * fmax(0, 1 - fabs(x - j)) * in->reals[cell(k, s, b, i, j, c)];
	return sum;
}

static double place(uint32_t at, uint32_t in, uint32_t out, uint32_t how)
{
	if (how == 1 && out > 1)
		return at * (in - 1.0) / (out - 1.0);
	return how == 2 ? (at + 0.5) * in / out - 0.5 : (double)at * in / out;
}

static void make_resize(struct maker *k, enum nnb_op op)
{
	struct image s = { between(1, 2), between(1, 6), between(1, 6), between(1, 4) }, to = s;
	uint32_t how = random_below(3); /* corners first, aligned, half pixels */
	struct tensor *in, *out;
	bool factors = chance(50);

	(void)op;
	k->nchw = chance(40);
	in = own_image(k, s);
	to.h = between(1, 9);
	to.w = between(1, 9);
	if (factors) { /* of what both types hold exactly */
		to.w = (uint32_t)floor(s.w * number(k, 1.5));
		to.h = (uint32_t)floor(s.h * number(k, 2.25));
	} else {
		integer(k, (int32_t)to.w);
		integer(k, (int32_t)to.h);
	}
	if (k->nchw || how || chance(50))
		truth(k, k->nchw);
	if (how) {
		truth(k, how == 1);
		if (how == 2 || chance(50))
			truth(k, how == 2);
	}
	out = wanted_image(k, to);
	EACH_CELL(to, b, y, x, c)
	out->reals[cell(k, to, b, y, x, c)] = tent(k, s, in, b, place(y, s.h, to.h, how), place(x, s.w, to.w, how), c);
}

/* Both ways between depth and space: the block's cells are channels. */
static void make_blocks(struct maker *k, enum nnb_op op)
{
	uint32_t n = between(1, 3);
	struct image deep = { between(1, 2), between(1, 3), between(1, 3), between(1, 3) * n * n };
	struct image wide = { deep.b, deep.h * n, deep.w * n, deep.c / n / n };
	bool to_depth = op == NNB_SPACE_TO_DEPTH;
	struct tensor *in, *out;

	k->nchw = chance(40);
	in = own_image(k, to_depth ? wide : deep);
	integer(k, (int32_t)n);
	if (k->nchw || chance(50))
		truth(k, k->nchw);
	out = wanted_image(k, to_depth ? deep : wide);
	EACH_CELL(wide, b, y, x, c)
	{
		size_t w = cell(k, wide, b, y, x, c);
		size_t d = cell(k, deep, b, y / n, x / n, (y % n * n + x % n) * wide.c + c);

		out->reals[to_depth ? d : w] = in->reals[to_depth ? w : d];
	}
}

/* ---- element by element ---- */

static void make_each(struct maker *k, enum nnb_op op)
{
	uint32_t dims[4] = { between(1, 3), between(1, 4), between(1, 4), between(1, 9) }, rank = between(1, 4);
	struct tensor *in = own(k, rank, dims), *out;

	out = op == NNB_LOGISTIC ? wanted(k, k->type, rank, dims, 1.0f / 256, 0)
	      : op == NNB_TANH   ? wanted(k, k->type, rank, dims, 1.0f / 128, 128)
	                         : like(k, rank, dims);
	for (size_t i = 0; i < out->n; i++) {
		double x = in->reals[i];

		out->reals[i] = op == NNB_LOGISTIC ? 1 / (1 + exp(-x))
		                : op == NNB_TANH   ? tanh(x)
		                : op == NNB_FLOOR  ? floor(x)
		                : op == NNB_RELU   ? fuse(NNB_FUSED_RELU, x)
		                : op == NNB_RELU1  ? fuse(NNB_FUSED_RELU1, x)
		                                   : fuse(NNB_FUSED_RELU6, x);
	}
}

static void make_dequantize(struct maker *k, enum nnb_op op)
{
	static float scales[8];
	uint32_t dims[4] = { between(1, 3), between(1, 4), between(1, 4), between(1, 5) }, rank = between(1, 4);
	struct tensor *in = tensor(k, k->type, rank, dims, 1.0f / 32, 77), *out;

	(void)op;
	if (k->type == NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
		in->operand.channel_dim = random_below(rank);
		in->scales = scales;
	}
	for (int i = 0; i < 8; i++)
		scales[i] = (float)between(1, 9) / 64;
	give(k, in, 1, chance(20));
	out = wanted(k, chance(50) ? NNB_TENSOR_FLOAT16 : NNB_TENSOR_FLOAT32, rank, dims, 0, 0);
	memcpy(out->reals, in->reals, out->n * sizeof(*out->reals));
}

/* Where element @i of @out lies in @t, of as many dimensions or fewer (O-32). */
static size_t broadcast(const struct tensor *out, size_t i, const struct tensor *t)
{
	size_t at = 0, step = 1;

	for (uint32_t back = 1; back <= out->operand.rank; back++) {
		uint32_t extent_out = out->operand.dims[out->operand.rank - back];
		size_t here = i % extent_out;

		i /= extent_out;
		if (back > t->operand.rank)
			continue;
		at += t->operand.dims[t->operand.rank - back] == 1 ? 0 : here * step;
		step *= t->operand.dims[t->operand.rank - back];
	}
	return at;
}

static void make_pair(struct maker *k, enum nnb_op op)
{
	uint32_t rank = between(1, 4), dims[2][4], all[4], skip = random_below(rank), fused = random_below(4);
	struct tensor *a, *b, *out;

	for (uint32_t d = 0; d < rank; d++) {
		all[d] = dims[0][d] = dims[1][d] = between(1, 5);
		if (chance(30) && d >= skip)
			dims[random_below(2)][d] = 1;
	}
	for (uint32_t d = skip; d < rank; d++)
		all[d] = dims[0][d] > dims[1][d] ? dims[0][d] : dims[1][d];
	a = give(k, tensor(k, k->type, rank, dims[0], 1.0f / 64, 100), 3, false);
	b = give(k, tensor(k, k->type, rank - skip, dims[1] + skip, 1.0f / 50, 120), 3, chance(40));
	if (k->type == NNB_TENSOR_INT32)
		fused = NNB_FUSED_NONE;
	integer(k, (int32_t)fused);
	out = like(k, rank, all);
	for (size_t i = 0; i < out->n; i++) {
		double x = a->reals[broadcast(out, i, a)], y = b->reals[broadcast(out, i, b)];

		out->reals[i] = fuse(fused, op == NNB_ADD ? x + y : x * y);
	}
	fit_scale(out, 1.01 / 64 / 50);
}

/* ---- along an axis ---- */

struct axis {
	uint32_t rank, dims[4], at;
	size_t size, step;
};

static struct axis random_axis(bool last)
{
	struct axis a = { between(1, 4), { between(1, 4), between(1, 4), between(1, 5), between(1, 7) } };

	a.at = last ? a.rank - 1 : random_below(a.rank);
	a.size = a.dims[a.at];
	a.step = 1;
	for (uint32_t d = a.at + 1; d < a.rank; d++)
		a.step *= a.dims[d];
	return a;
}

/* The row that element @i lies in: its first element. */
static size_t row_of(const struct axis *a, size_t i)
{
	return i / (a->size * a->step) * (a->size * a->step) + i % a->step;
}

static void name_axis(struct maker *k, const struct axis *a, bool last)
{
	if (!last)
		integer(k, (int32_t)a->at - (chance(50) ? (int32_t)a->rank : 0));
}

static void make_softmax(struct maker *k, enum nnb_op op)
{
	bool last = chance(40);
	struct axis a = random_axis(last);
	struct tensor *in = own(k, a.rank, a.dims), *out;
	double beta = number(k, chance(50) ? 1 : 0.5);

	(void)op;
	name_axis(k, &a, last);
	out = wanted(k, k->type, a.rank, a.dims, 1.0f / 256, 0);
	for (size_t i = 0; i < out->n; i++) {
		const double *row = in->reals + row_of(&a, i);
		double sum = 0;

		for (size_t j = 0; j < a.size; j++)
			sum += exp((row[j * a.step] - in->reals[i]) * beta);
		out->reals[i] = 1 / sum;
	}
}

static void make_l2_normalization(struct maker *k, enum nnb_op op)
{
	bool last = chance(40);
	struct axis a = random_axis(last);
	struct tensor *in = own(k, a.rank, a.dims), *out;

	(void)op;
	name_axis(k, &a, last);
	out = wanted(k, k->type, a.rank, a.dims, 1.0f / 128, 128);
	for (size_t i = 0; i < out->n; i++) {
		const double *row = in->reals + row_of(&a, i);
		double sum = 0;

		for (size_t j = 0; j < a.size; j++)
			sum += row[j * a.step] * row[j * a.step];
		out->reals[i] = sum > 0 ? in->reals[i] / sqrt(sum) : 0;
	}
}

static void make_local_response_normalization(struct maker *k, enum nnb_op op)
{
	bool last = chance(40);
	struct axis a = random_axis(last);
	struct tensor *in = own(k, a.rank, a.dims), *out;
	int64_t radius = random_below(4);
	double bias, alpha, beta;

	(void)op;
	integer(k, (int32_t)radius);
	bias = number(k, 1.5);
	alpha = number(k, 0.75);
	beta = number(k, 0.5);
	name_axis(k, &a, last);
	out = like(k, a.rank, a.dims);
	for (size_t i = 0; i < out->n; i++) {
		const double *row = in->reals + row_of(&a, i);
		int64_t at = (int64_t)((i - row_of(&a, i)) / a.step);
		double sum = 0;

		for (int64_t j = 0; j < (int64_t)a.size; j++)
			if (llabs(j - at) <= radius)
				sum += row[(size_t)j * a.step] * row[(size_t)j * a.step];
		out->reals[i] = in->reals[i] / pow(bias + alpha * sum, beta);
	}
}

/* ---- moving and looking up ---- */

static void make_concatenation(struct maker *k, enum nnb_op op)
{
	struct axis a = random_axis(false);
	uint32_t n = between(1, 5), all = 0, extents[5], before = 0;
	struct tensor *parts[5], *out;

	(void)op;
	for (uint32_t i = 0; i < n; i++) {
		all += extents[i] = a.dims[a.at] = between(1, 4);
		parts[i] = give(
			k, tensor(k, k->type, a.rank, a.dims, 1.0f / (float)between(60, 68), (int32_t)between(90, 110)),
			2, chance(20));
	}
	integer(k, (int32_t)a.at);
	a.dims[a.at] = all;
	out = like(k, a.rank, a.dims);
	for (uint32_t i = 0; i < n; before += extents[i++])
		for (size_t j = 0; j < parts[i]->n; j++) {
			size_t row = j / (extents[i] * a.step), in_row = j % (extents[i] * a.step);

			out->reals[row * all * a.step + before * a.step + in_row] = parts[i]->reals[j];
		}
}

static struct tensor *integers(struct maker *k, uint32_t n, const int32_t *values, bool constant)
{
	struct tensor *t = tensor(k, NNB_TENSOR_INT32, 1, &n, 0, 0);

	give(k, t, 0, false);
	memcpy(t->bytes, values, n * sizeof(*values));
	if (constant) {
		k->n_given--;
		assert_int_equal(nnb_model_value(k->m, t->index, t->bytes, n * 4), 0);
	}
	return t;
}

static void make_reshape(struct maker *k, enum nnb_op op)
{
	uint32_t a = between(1, 5), b = between(1, 5), c = between(1, 5);
	struct tensor *in = own(k, DIMS(a, b, c)), *out;

	(void)op;
	integers(k, 2, (const int32_t[]){ chance(50) ? -1 : (int32_t)(b * c), (int32_t)a }, chance(50));
	out = like(k, DIMS(b * c, a));
	memcpy(out->reals, in->reals, out->n * sizeof(*out->reals));
}

static void make_embedding_lookup(struct maker *k, enum nnb_op op)
{
	uint32_t rows = between(1, 6), columns = between(1, 5), n = between(1, 6);
	struct tensor *values, *out;
	int32_t at[6];

	(void)op;
	for (uint32_t i = 0; i < n; i++)
		at[i] = (int32_t)random_below(rows);
	integers(k, n, at, chance(50));
	values = own(k, DIMS(rows, columns));
	out = like(k, DIMS(n, columns));
	for (size_t i = 0; i < out->n; i++)
		out->reals[i] = values->reals[(size_t)at[i / columns] * columns + i % columns];
}

/* ---- with state ---- */

static double activate(uint32_t activation, double x)
{
	return activation == 4 ? tanh(x) : activation == 6 ? 1 / (1 + exp(-x)) : fuse(activation, x);
}

/* Row @row of a matrix of @n columns, times x. */
static double times_row(const struct tensor *matrix, size_t row, const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += matrix->reals[row * n + i] * x[i];
	return sum;
}

static void make_rnn(struct maker *k, enum nnb_op op)
{
	uint32_t batch = between(1, 3), inputs = between(1, 6), units = between(1, 6), activation = random_below(5);
	struct tensor *in = own(k, DIMS(batch, inputs)), *w = weights(k, DIMS(units, inputs));
	struct tensor *r = weights(k, DIMS(units, units)), *bias = weights(k, DIMS(units));
	struct tensor *state = own(k, DIMS(batch, units)), *out[2];

	(void)op;
	integer(k, (int32_t)activation);
	for (int i = 0; i < 2; i++)
		out[i] = like(k, DIMS(batch, units));
	for (size_t i = 0; i < out[0]->n; i++) {
		size_t b = i / units, u = i % units;
		double x = bias->reals[u] + times_row(w, u, in->reals + b * inputs, inputs) +
		           times_row(r, u, state->reals + b * units, units);

		out[0]->reals[i] = out[1]->reals[i] = activate(activation, x);
	}
}

static void make_svdf(struct maker *k, enum nnb_op op)
{
	uint32_t batch = between(1, 3), inputs = between(1, 5), rank = between(1, 2), units = between(1, 4);
	uint32_t filters = rank * units, memory = between(1, 5), activation = random_below(4);
	struct tensor *in = own(k, DIMS(batch, inputs)), *feature = weights(k, DIMS(filters, inputs));
	struct tensor *time = weights(k, DIMS(filters, memory)), *bias = NULL, *state, *next, *out;

	(void)op;
	if (chance(50))
		bias = weights(k, DIMS(units));
	else
		omit(k, DIMS(units));
	state = own(k, DIMS(batch, filters * memory));
	integer(k, (int32_t)rank);
	integer(k, (int32_t)activation);
	next = like(k, DIMS(batch, filters * memory));
	out = like(k, DIMS(batch, units));
	for (uint32_t b = 0; b < batch; b++)
		for (uint32_t f = 0; f < filters; f++) {
			size_t at = ((size_t)b * filters + f) * memory;

			for (uint32_t i = 1; i < memory; i++)
				next->reals[at + i - 1] = state->reals[at + i];
			if (memory > 1)
				next->reals[at + memory - 2] =
					times_row(feature, f, in->reals + (size_t)b * inputs, inputs);
			next->reals[at + memory - 1] = 0;
		}
	for (size_t i = 0; i < out->n; i++) {
		size_t b = i / units, u = i % units;
		double sum = bias ? bias->reals[u] : 0;

		for (size_t f = u * rank; f < (u + 1) * rank; f++) {
			const double *was = state->reals + (b * filters + f) * memory;

			for (size_t j = 0; j + 1 < memory; j++)
				sum += time->reals[f * memory + j] * was[j];
			sum += time->reals[f * memory + memory - 1] *
			       times_row(feature, f, in->reals + b * inputs, inputs);
		}
		out->reals[i] = activate(activation, sum);
	}
}

struct lstm {
	uint32_t batch, inputs, cells, outputs, activation;
	bool coupled, peeps, projects, projects_bias, norms;
	double cell_clip, projection_clip;
	/* input, forget, cell, output */
	struct tensor *w[4], *r[4], *peep[4], *bias[4], *norm[4], *projection, *projection_bias, *in, *state, *cell;
};

static struct tensor *unless(struct maker *k, bool omitted, uint32_t rank, const uint32_t *dims)
{
	if (!omitted)
		return weights(k, rank, dims);
	omit(k, rank, dims);
	return NULL;
}

static void lstm_inputs(struct maker *k, struct lstm *l)
{
	l->in = own(k, DIMS(l->batch, l->inputs));
	for (int g = 0; g < 4; g++)
		l->w[g] = unless(k, g == 0 && l->coupled, DIMS(l->cells, l->inputs));
	for (int g = 0; g < 4; g++)
		l->r[g] = unless(k, g == 0 && l->coupled, DIMS(l->cells, l->outputs));
	for (int g = 0; g < 4; g++)
		if (g != 2)
			l->peep[g] = unless(k, !l->peeps || (g == 0 && l->coupled), DIMS(l->cells));
	for (int g = 0; g < 4; g++)
		l->bias[g] = unless(k, g == 0 && l->coupled, DIMS(l->cells));
	l->projection = unless(k, !l->projects, DIMS(l->outputs, l->cells));
	l->projection_bias = unless(k, !l->projects_bias, DIMS(l->outputs));
	l->state = own(k, DIMS(l->batch, l->outputs));
	l->cell = own(k, DIMS(l->batch, l->cells));
	integer(k, (int32_t)l->activation);
	l->cell_clip = number(k, chance(50) ? 0 : 1.25);
	l->projection_clip = number(k, chance(50) ? 0 : 0.75);
	if (!l->norms && chance(50))
		return;
	for (int g = 0; g < 4; g++)
		l->norm[g] = unless(k, !l->norms || (g == 0 && l->coupled), DIMS(l->cells));
}

/* What gate @g lets through in each cell, of item @b; @peeped: a cell state. */
static void lstm_gate(const struct lstm *l, int g, size_t b, const double *peeped, uint32_t activation, double *ret)
{
	double mean = 0, variance = 0;

	for (size_t u = 0; u < l->cells; u++) {
		ret[u] = times_row(l->w[g], u, l->in->reals + b * l->inputs, l->inputs) +
		         times_row(l->r[g], u, l->state->reals + b * l->outputs, l->outputs) +
		         (l->peep[g] ? l->peep[g]->reals[u] * peeped[u] : 0);
		mean += ret[u] / l->cells;
	}
	for (size_t u = 0; u < l->cells; u++)
		variance += (ret[u] - mean) * (ret[u] - mean) / l->cells;
	for (size_t u = 0; u < l->cells; u++) {
		if (l->norms)
			ret[u] = (ret[u] - mean) / sqrt(variance) * l->norm[g]->reals[u];
		ret[u] = activate(activation, ret[u] + l->bias[g]->reals[u]);
	}
}

static double clip(double x, double limit)
{
	return limit > 0 ? fmin(fmax(x, -limit), limit) : x;
}

static void lstm_item(const struct lstm *l, size_t b, double *cell_out, double *out)
{
	double gates[4][8], hidden[8];
	const double *before = l->cell->reals + b * l->cells;

	lstm_gate(l, 1, b, before, 6, gates[1]);
	lstm_gate(l, 2, b, NULL, l->activation, gates[2]);
	if (!l->coupled)
		lstm_gate(l, 0, b, before, 6, gates[0]);
	for (size_t u = 0; u < l->cells; u++) {
		double let_in = l->coupled ? 1 - gates[1][u] : gates[0][u];

		cell_out[u] = clip(gates[1][u] * before[u] + let_in * gates[2][u], l->cell_clip);
	}
	lstm_gate(l, 3, b, cell_out, 6, gates[3]);
	for (size_t u = 0; u < l->cells; u++)
		hidden[u] = gates[3][u] * activate(l->activation, cell_out[u]);
	for (size_t i = 0; i < l->outputs; i++) {
		double sum = l->projection_bias ? l->projection_bias->reals[i] : 0;

		out[i] = l->projects ? clip(sum + times_row(l->projection, i, hidden, l->cells), l->projection_clip)
		                     : hidden[i];
	}
}

static void make_lstm(struct maker *k, enum nnb_op op)
{
	static const uint32_t activations[] = { 0, 1, 3, 4, 6 };
	struct lstm l = { .batch = between(1, 3),
		          .inputs = between(1, 5),
		          .cells = between(4, 8),
		          .activation = activations[random_below(5)],
		          .coupled = chance(40),
		          .peeps = chance(50),
		          .projects = chance(50),
		          .norms = chance(50) };
	struct tensor *state, *cells, *out;

	(void)op;
	l.outputs = l.projects ? between(1, 5) : l.cells;
	l.projects_bias = l.projects && chance(50);
	lstm_inputs(k, &l);
	like(k, DIMS(l.batch, l.cells * (l.coupled ? 3 : 4)));
	state = like(k, DIMS(l.batch, l.outputs));
	cells = like(k, DIMS(l.batch, l.cells));
	out = like(k, DIMS(l.batch, l.outputs));
	for (uint32_t b = 0; b < l.batch; b++)
		lstm_item(&l, b, cells->reals + (size_t)b * l.cells, out->reals + (size_t)b * l.outputs);
	memcpy(state->reals, out->reals, out->n * sizeof(*out->reals));
	k->wanted[0]->n = 0; /* the scratch buffer is anything */
}

/* ---- the table ---- */

static const struct family {
	enum nnb_op op;
	void (*make)(struct maker *k, enum nnb_op op);
	const char *types; /* F, H, I, Q, S, Y, C: as in signature.c */
	bool by_signed;    /* XNNPACK has an operator of signed bytes, which is used where it can be */
} families[] = {
	{ NNB_ADD, make_pair, "FHQSI", false },
	{ NNB_MUL, make_pair, "FHQSI", false },
	{ NNB_AVERAGE_POOL_2D, make_pool, "FHQS", false },
	{ NNB_MAX_POOL_2D, make_pool, "FHQS", false },
	{ NNB_L2_POOL_2D, make_pool, "FH", false },
	{ NNB_CONV_2D, make_conv, "FHQS", true },
	{ NNB_DEPTHWISE_CONV_2D, make_depthwise, "FHQS", true },
	{ NNB_FULLY_CONNECTED, make_fully_connected, "FHQS", true },
	{ NNB_CONCATENATION, make_concatenation, "FHQS", false },
	{ NNB_DEPTH_TO_SPACE, make_blocks, "FHQS", false },
	{ NNB_SPACE_TO_DEPTH, make_blocks, "FHQS", false },
	{ NNB_DEQUANTIZE, make_dequantize, "QSYC", false },
	{ NNB_EMBEDDING_LOOKUP, make_embedding_lookup, "FHIQS", false },
	{ NNB_FLOOR, make_each, "FH", false },
	{ NNB_RELU, make_each, "FHQS", false },
	{ NNB_RELU1, make_each, "FHQS", false },
	{ NNB_RELU6, make_each, "FHQS", false },
	{ NNB_LOGISTIC, make_each, "FHQS", false },
	{ NNB_TANH, make_each, "FHQS", false },
	{ NNB_L2_NORMALIZATION, make_l2_normalization, "FHQS", false },
	{ NNB_LOCAL_RESPONSE_NORMALIZATION, make_local_response_normalization, "FH", false },
	{ NNB_SOFTMAX, make_softmax, "FHQS", false },
	{ NNB_RESHAPE, make_reshape, "FHQS", false },
	{ NNB_RESIZE_BILINEAR, make_resize, "FHQS", false },
	{ NNB_RNN, make_rnn, "FH", false },
	{ NNB_SVDF, make_svdf, "FH", false },
	{ NNB_LSTM, make_lstm, "FH", false },
};

static uint32_t type_of_letter(char letter)
{
	switch (letter) {
	case 'F':
		return NNB_TENSOR_FLOAT32;
	case 'H':
		return NNB_TENSOR_FLOAT16;
	case 'I':
		return NNB_TENSOR_INT32;
	case 'Q':
		return NNB_TENSOR_QUANT8_ASYMM;
	case 'S':
		return NNB_TENSOR_QUANT8_ASYMM_SIGNED;
	case 'Y':
		return NNB_TENSOR_QUANT8_SYMM;
	default:
		return NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	}
}

struct row {
	const struct family *family;
	uint32_t type;
	char name[64];
};

/* ---- running ---- */

static size_t bytes_of(const struct tensor *t)
{
	size_t n = 1;

	for (uint32_t d = 0; d < t->operand.rank; d++)
		n *= t->operand.dims[d];
	return n * nnb_type_info(t->operand.type)->bytes;
}

static bool is_near(const struct tensor *t, double got, double want)
{
	if (t->operand.type == NNB_TENSOR_FLOAT32)
		return fabs(got - want) <= 2e-5 + 1e-5 * fabs(want);
	if (t->operand.type == NNB_TENSOR_FLOAT16)
		return fabs(got - want) <= 5 * 0x1p-10 * (1 + fabs(want));
	return got == want;
}

/* Of a quantised output the raw numbers are compared: one off is near, and so is what the type cannot hold. */
static bool is_near_quantised(const struct tensor *t, size_t i, double got, double want)
{
	const struct nnb_operand *o = &t->operand;
	double low = o->type == NNB_TENSOR_QUANT8_ASYMM ? 0 : -128;
	double raw = fmin(fmax(round(want / (double)o->scale) + o->zero_point, low), low + 255);

	(void)i;
	return fabs(round(got / (double)o->scale) + o->zero_point - raw) <= 1;
}

static void compare(const struct row *row, int round, const struct tensor *t, uint32_t output)
{
	for (size_t i = 0; i < t->n; i++) {
		double got = decode(t, i), want = t->reals[i];

		if (nnb_type_info(t->operand.type)->quantized ? is_near_quantised(t, i, got, want)
		                                              : is_near(t, got, want))
			continue;
		fail_msg("%s, round %d: output %u[%zu] of %zu is %.9g, not %.9g", row->name, round, output, i, t->n,
		         got, want);
	}
}

struct place {
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument args[32];
	uint64_t bytes;
};

/* One after the other in a pool. */
static void place_all(struct place *p, struct tensor *const *tensors, uint32_t n, uint32_t pool)
{
	for (uint32_t i = 0; i < n; i++) {
		p->args[i].location = (struct nnb_location){ pool, (uint32_t)p->bytes, (uint32_t)bytes_of(tensors[i]) };
		p->bytes += (bytes_of(tensors[i]) + 63) / 64 * 64;
	}
	assert_int_equal(nnb_memory_ashmem(&p->pool, p->bytes ? p->bytes : 64), 0);
	assert_int_equal(nnb_map(&p->mapping, &p->pool), 0);
}

static void place_free(struct place *p)
{
	nnb_mapping_unref(p->mapping);
	nnb_memory_close(&p->pool);
}

static void execute(struct nnb_prepared *p, struct maker *k)
{
	static struct place in, out;
	struct nnb_reason reason = { "" };
	struct nnb_request request = {
		.inputs = in.args, .outputs = out.args, .n_inputs = k->n_given, .n_outputs = k->n_outputs, .n_pools = 2
	};

	in = out = (struct place){ 0 };
	place_all(&in, k->tensors, k->n_given, 0);
	place_all(&out, k->wanted, k->n_outputs, 1);
	for (uint32_t i = 0; i < k->n_given; i++)
		memcpy((char *)nnb_mapping_data(in.mapping) + in.args[i].location.offset, k->tensors[i]->bytes,
		       in.args[i].location.length);
	request.pools = (struct nnb_memory[]){ in.pool, out.pool };
	if (nnb_execute(p, &request, NULL, &reason))
		fail_msg("%s", reason.text);
	for (uint32_t i = 0; i < k->n_outputs; i++)
		memcpy(k->wanted[i]->bytes, (char *)nnb_mapping_data(out.mapping) + out.args[i].location.offset,
		       out.args[i].location.length);
	place_free(&in);
	place_free(&out);
}

static void as_defined(void **state)
{
	const struct row *row = *state;
	struct nnb_device *d = open_device(DRIVER_BOTH);
	struct maker *k = malloc(sizeof(*k));
	struct nnb_reason reason = { "" };
	struct nnb_prepared *p;
	const unsigned *by_signed;
	unsigned before;
	void *object;

	object = dlopen(DRIVER_BOTH, RTLD_NOW | RTLD_NOLOAD);
	by_signed = object ? dlsym(object, "nnb_both_signed") : NULL;
	assert_non_null(by_signed);
	before = by_signed[row->family->op];
	random_state = (uint64_t)row->family->op * 64 + row->type;
	for (int round = 0; round < ROUNDS; round++) {
		memset(k, 0, sizeof(*k));
		k->type = row->type;
		assert_int_equal(nnb_model_new(&k->m, row->name, NNB_HAL_1_3), 0);
		row->family->make(k, row->family->op);
		for (uint32_t i = 0; i < k->n_outputs; i++)
			k->outputs[i] = operand(k->m, &k->wanted[i]->operand);
		assert_true(nnb_model_operation(k->m, row->family->op, k->inputs, k->n_inputs, k->outputs,
		                                k->n_outputs) >= 0);
		assert_int_equal(nnb_model_finish(k->m, k->given, k->n_given, k->outputs, k->n_outputs), 0);
		if (nnb_prepare(d, k->m, &ordinary, NULL, &p, &reason))
			fail_msg("%s, round %d: %s", row->name, round, reason.text);
		execute(p, k);
		for (uint32_t i = 0; i < k->n_outputs; i++)
			compare(row, round, k->wanted[i], i);
		nnb_prepared_unref(p);
		nnb_model_free(k->m);
	}
	if (row->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED && row->family->by_signed)
		assert_true(by_signed[row->family->op] > before);
	else
		assert_int_equal(by_signed[row->family->op], before);
	dlclose(object);
	free(k);
	nnb_device_unref(d);
}

int main(void)
{
	static struct row rows[N_OF(families) * 6];
	static struct CMUnitTest tests[N_OF(rows)];
	size_t n = 0;

	for (size_t i = 0; i < N_OF(families); i++)
		for (const char *letter = families[i].types; *letter; letter++, n++) {
			rows[n] = (struct row){ &families[i], type_of_letter(*letter), "" };
			snprintf(rows[n].name, sizeof(rows[n].name), "%s of %s", nnb_op_name(families[i].op),
			         nnb_type_info(rows[n].type)->name);
			tests[n] = (struct CMUnitTest){ rows[n].name, as_defined, NULL, NULL, &rows[n] };
		}
	return _cmocka_run_group_tests("test_op_types", tests, n, NULL, NULL);
}

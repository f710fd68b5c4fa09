/* ops_first.c -- oracles of the operations of HAL 1.0, in their forms of every HAL. */
#include "unit/op_oracle.h"

/* ---- tensors ---- */

/* A tensor of the row's own type. */
static struct tensor *own_tensor(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_give(k, tensor_make(k, k->type, rank, dims, 1.0f / 64, 100), 2, false);
}

/* XNNPACK takes signed weights without a zero point unchanged. */
static int32_t weights_zero(void)
{
	return random_chance(50) ? 128 : 120;
}

static struct tensor *weights_tensor(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_give(k, tensor_make(k, k->type, rank, dims, 1.0f / 128, weights_zero()), 1, random_chance(70));
}

static struct tensor *tensor_like(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_want(k, k->type, rank, dims, 1.0f / 64, 100);
}

/* ---- images, in both layouts ---- */

static struct tensor *own_image(struct maker *k, struct image s)
{
	uint32_t dims[4];

	image_dims(k, s, dims);
	return own_tensor(k, 4, dims);
}

static struct tensor *wanted_image(struct maker *k, struct image s)
{
	uint32_t dims[4];

	image_dims(k, s, dims);
	return tensor_like(k, 4, dims);
}

/* ---- windows ---- */

struct window {
	struct image in, out;
	uint32_t filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pads[4],
		fused; /* left, right, top, bottom */
	uint32_t form; /* 0: explicit; else a padding scheme */
};

static uint32_t filter_extent(struct window *w, uint32_t in, uint32_t filter, uint32_t dilation, uint32_t stride,
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
	struct window w = { .in = { random_between(1, 2), random_between(5, 9), random_between(5, 9),
		                    random_between(1, 6) },
		            .filter_h = random_between(1, 3),
		            .filter_w = random_between(1, 3),
		            .stride_h = random_between(1, 3),
		            .stride_w = random_between(1, 3),
		            .dilation_h = dilates ? random_between(1, 2) : 1,
		            .dilation_w = dilates ? random_between(1, 2) : 1,
		            .fused = random_below(4),
		            .form = random_below(3) };

	k->nchw = random_chance(40);
	w.out = w.in;
	w.out.h = filter_extent(&w, w.in.h, w.filter_h, w.dilation_h, w.stride_h, w.pads + 2);
	w.out.w = filter_extent(&w, w.in.w, w.filter_w, w.dilation_w, w.stride_w, w.pads);
	return w;
}

static void window_scalars(struct maker *k, const struct window *w, bool pool, uint32_t multiplier)
{
	if (w->form)
		integer_give(k, (int32_t)w->form);
	for (int i = 0; !w->form && i < 4; i++)
		integer_give(k, (int32_t)w->pads[i]);
	integer_give(k, (int32_t)w->stride_w);
	integer_give(k, (int32_t)w->stride_h);
	if (pool) {
		integer_give(k, (int32_t)w->filter_w);
		integer_give(k, (int32_t)w->filter_h);
	}
	if (multiplier)
		integer_give(k, (int32_t)multiplier);
	integer_give(k, (int32_t)w->fused);
	if (k->nchw || random_chance(50) || w->dilation_h * w->dilation_w > 1) {
		truth_give(k, k->nchw);
		if (!pool && (random_chance(50) || w->dilation_h * w->dilation_w > 1)) {
			integer_give(k, (int32_t)w->dilation_w);
			integer_give(k, (int32_t)w->dilation_h);
		}
	}
}

/* The input's element under cell (fy, fx) of the window at (y, x). False: padding. */
static bool value_under(const struct maker *k, const struct window *w, const struct tensor *in, uint32_t b, uint32_t y,
                        uint32_t x, uint32_t fy, uint32_t fx, uint32_t c, double *ret)
{
	int64_t at_y = (int64_t)y * w->stride_h + fy * w->dilation_h - w->pads[2];
	int64_t at_x = (int64_t)x * w->stride_w + fx * w->dilation_w - w->pads[0];

	if (at_y < 0 || at_y >= w->in.h || at_x < 0 || at_x >= w->in.w)
		return false;
	*ret = in->reals[image_cell(k, w->in, b, (uint32_t)at_y, (uint32_t)at_x, c)];
	return true;
}

#define EACH_UNDER(w, fy, fx)                          \
	for (uint32_t fy = 0; fy < (w).filter_h; fy++) \
		for (uint32_t fx = 0; fx < (w).filter_w; fx++)

static void make_pool(struct maker *k)
{
	struct window w = random_window(k, false);
	struct tensor *in = own_image(k, w.in), *out = wanted_image(k, w.out);

	window_scalars(k, &w, true, 0);
	EACH_CELL(w.out, b, y, x, c)
	{
		double sum = 0, squares = 0, most = -INFINITY, here, n = 0;

		EACH_UNDER(w, fy, fx)
		{
			if (!value_under(k, &w, in, b, y, x, fy, fx, c, &here))
				continue;
			n++;
			sum += here;
			squares += here * here;
			most = fmax(most, here);
		}
		out->reals[image_cell(k, w.out, b, y, x, c)] =
			value_fused(w.fused, k->op == NNB_MAX_POOL_2D  ? most
		                             : k->op == NNB_L2_POOL_2D ? sqrt(squares / n)
		                                                       : sum / n);
	}
}

/* A filter, which may be quantised by channel, and its bias. */
static struct tensor *filter_of(struct maker *k, const uint32_t dims[4], uint32_t channel_dim, uint32_t channels,
                                struct tensor **bias)
{
	static float scales[64];
	bool quant = !is_real(k->type), by_channel = quant && random_chance(50), constant = random_chance(70);
	struct tensor *filter =
		tensor_make(k, by_channel ? NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL : k->type, 4, dims, 1.0f / 128, 120);
	uint32_t type = quant ? NNB_TENSOR_INT32 : k->type;

	for (uint32_t i = 0; i < channels; i++)
		scales[i] = (float)random_between(1, 8) / 1024;
	if (by_channel) {
		filter->operand.channel_dim = channel_dim;
		filter->scales = scales;
	}
	tensor_give(k, filter, 1, constant);
	*bias = tensor_make(k, type, 1, &channels, 0, 0);
	if (quant && !by_channel)
		(*bias)->operand.scale = 1.0f / 64 * (1.0f / 128);
	tensor_give(k, *bias, quant ? 2000 : 1, constant);
	for (uint32_t i = 0; by_channel && i < channels; i++)
		(*bias)->reals[i] *= 1.0 / 64 * (double)scales[i];
	return filter;
}

static void make_conv(struct maker *k)
{
	struct window w = random_window(k, true);
	struct tensor *in = own_image(k, w.in), *out, *filter, *bias;
	uint32_t ci = w.in.c;

	w.out.c = random_between(1, 8);
	filter = filter_of(k, (uint32_t[]){ w.out.c, w.filter_h, w.filter_w, ci }, 0, w.out.c, &bias);
	out = wanted_image(k, w.out);
	window_scalars(k, &w, false, 0);
	EACH_CELL(w.out, b, y, x, co)
	{
		double sum = bias->reals[co], here;

		EACH_UNDER(w, fy, fx)
		for (uint32_t c = 0; c < ci; c++)
			if (value_under(k, &w, in, b, y, x, fy, fx, c, &here))
				sum += here * filter->reals[((co * w.filter_h + fy) * w.filter_w + fx) * ci + c];
		out->reals[image_cell(k, w.out, b, y, x, co)] = value_fused(w.fused, sum);
	}
	fit_scale(out, 1e-3);
}

static void make_depthwise(struct maker *k)
{
	struct window w = random_window(k, true);
	struct tensor *in = own_image(k, w.in), *out, *filter, *bias;
	uint32_t multiplier = random_between(1, 3);

	w.out.c = w.in.c * multiplier;
	filter = filter_of(k, (uint32_t[]){ 1, w.filter_h, w.filter_w, w.out.c }, 3, w.out.c, &bias);
	out = wanted_image(k, w.out);
	window_scalars(k, &w, false, multiplier);
	EACH_CELL(w.out, b, y, x, co)
	{
		double sum = bias->reals[co], here;

		EACH_UNDER(w, fy, fx)
		if (value_under(k, &w, in, b, y, x, fy, fx, co / multiplier, &here))
			sum += here * filter->reals[(fy * w.filter_w + fx) * w.out.c + co];
		out->reals[image_cell(k, w.out, b, y, x, co)] = value_fused(w.fused, sum);
	}
	fit_scale(out, 1e-3);
}

static void make_fully_connected(struct maker *k)
{
	uint32_t batch = random_between(1, 4), size = random_between(1, 30), units = random_between(1, 12),
		 fused = random_below(4);
	struct tensor *in = own_tensor(k, DIMS(batch, size)), *w = weights_tensor(k, DIMS(units, size)), *out, *bias;
	bool quant = !is_real(k->type);

	bias = tensor_make(k, quant ? NNB_TENSOR_INT32 : k->type, 1, &units, 0, 0);
	if (quant)
		bias->operand.scale = 1.0f / 64 * (1.0f / 128);
	tensor_give(k, bias, quant ? 2000 : 1, random_chance(70));
	integer_give(k, (int32_t)fused);
	out = tensor_like(k, DIMS(batch, units));
	for (size_t i = 0; i < out->n; i++) {
		double sum = bias->reals[i % units];

		for (size_t c = 0; c < size; c++)
			sum += in->reals[i / units * size + c] * w->reals[i % units * size + c];
		out->reals[i] = value_fused(fused, sum);
	}
	fit_scale(out, 1e-3);
}

/* The position of output cell @at in the input. */
static double sample_place(uint32_t at, uint32_t in, uint32_t out, uint32_t how)
{
	if (how == 1 && out > 1)
		return at * (in - 1.0) / (out - 1.0);
	return how == 2 ? (at + 0.5) * in / out - 0.5 : (double)at * in / out;
}

static void make_resize(struct maker *k)
{
	struct image s = { random_between(1, 2), random_between(1, 6), random_between(1, 6), random_between(1, 4) },
		     to = s;
	uint32_t how = random_below(3); /* corners first, aligned, half pixels */
	struct tensor *in, *out;
	bool factors = random_chance(50);

	k->nchw = random_chance(40);
	in = own_image(k, s);
	to.h = random_between(1, 9);
	to.w = random_between(1, 9);
	if (factors) { /* a number that both types hold exactly */
		to.w = (uint32_t)floor(s.w * number_give(k, 1.5));
		to.h = (uint32_t)floor(s.h * number_give(k, 2.25));
	} else {
		integer_give(k, (int32_t)to.w);
		integer_give(k, (int32_t)to.h);
	}
	if (k->nchw || how || random_chance(50))
		truth_give(k, k->nchw);
	if (how) {
		truth_give(k, how == 1);
		if (how == 2 || random_chance(50))
			truth_give(k, how == 2);
	}
	out = wanted_image(k, to);
	EACH_CELL(to, b, y, x, c)
	out->reals[image_cell(k, to, b, y, x, c)] =
		image_sample(k, s, in, b, sample_place(y, s.h, to.h, how), sample_place(x, s.w, to.w, how), c);
}

/* Both operations between depth and space: a block's cells are channels. */
static void make_blocks(struct maker *k)
{
	uint32_t n = random_between(1, 3);
	struct image deep = { random_between(1, 2), random_between(1, 3), random_between(1, 3),
		              random_between(1, 3) * n * n };
	struct image wide = { deep.b, deep.h * n, deep.w * n, deep.c / n / n };
	bool to_depth = k->op == NNB_SPACE_TO_DEPTH;
	struct tensor *in, *out;

	k->nchw = random_chance(40);
	in = own_image(k, to_depth ? wide : deep);
	integer_give(k, (int32_t)n);
	if (k->nchw || random_chance(50))
		truth_give(k, k->nchw);
	out = wanted_image(k, to_depth ? deep : wide);
	EACH_CELL(wide, b, y, x, c)
	{
		size_t w = image_cell(k, wide, b, y, x, c);
		size_t d = image_cell(k, deep, b, y / n, x / n, (y % n * n + x % n) * wide.c + c);

		out->reals[to_depth ? d : w] = in->reals[to_depth ? w : d];
	}
}

/* ---- element by element ---- */

static void make_each(struct maker *k)
{
	uint32_t dims[4] = { random_between(1, 3), random_between(1, 4), random_between(1, 4), random_between(1, 9) },
		 rank = random_between(1, 4);
	struct tensor *in = own_tensor(k, rank, dims), *out;

	out = k->op == NNB_LOGISTIC ? tensor_want(k, k->type, rank, dims, 1.0f / 256, 0)
	      : k->op == NNB_TANH   ? tensor_want(k, k->type, rank, dims, 1.0f / 128, 128)
	                            : tensor_like(k, rank, dims);
	for (size_t i = 0; i < out->n; i++) {
		double x = in->reals[i];

		out->reals[i] = k->op == NNB_LOGISTIC ? 1 / (1 + exp(-x))
		                : k->op == NNB_TANH   ? tanh(x)
		                : k->op == NNB_FLOOR  ? floor(x)
		                : k->op == NNB_RELU   ? value_fused(NNB_FUSED_RELU, x)
		                : k->op == NNB_RELU1  ? value_fused(NNB_FUSED_RELU1, x)
		                                      : value_fused(NNB_FUSED_RELU6, x);
	}
}

static void make_dequantize(struct maker *k)
{
	static float scales[8];
	uint32_t dims[4] = { random_between(1, 3), random_between(1, 4), random_between(1, 4), random_between(1, 5) },
		 rank = random_between(1, 4);
	struct tensor *in = tensor_make(k, k->type, rank, dims, 1.0f / 32, 77), *out;

	if (k->type == NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
		in->operand.channel_dim = random_below(rank);
		in->scales = scales;
	}
	for (int i = 0; i < 8; i++)
		scales[i] = (float)random_between(1, 9) / 64;
	tensor_give(k, in, 1, random_chance(20));
	out = tensor_want(k, k->second, rank, dims, 0, 0);
	memcpy(out->reals, in->reals, out->n * sizeof(*out->reals));
}

/* The index in @t of element @i of @out; @t has as many dimensions or fewer (O-32). */
static size_t index_broadcast(const struct tensor *out, size_t i, const struct tensor *t)
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

static void make_pair(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[2][4], all[4], skip = random_below(rank), fused = random_below(4);
	struct tensor *a, *b, *out;

	for (uint32_t d = 0; d < rank; d++) {
		all[d] = dims[0][d] = dims[1][d] = random_between(1, 5);
		if (random_chance(30) && d >= skip)
			dims[random_below(2)][d] = 1;
	}
	for (uint32_t d = skip; d < rank; d++)
		all[d] = dims[0][d] > dims[1][d] ? dims[0][d] : dims[1][d];
	a = tensor_give(k, tensor_make(k, k->type, rank, dims[0], 1.0f / 64, 100), 3, false);
	b = tensor_give(k, tensor_make(k, k->type, rank - skip, dims[1] + skip, 1.0f / 50, 120), 3, random_chance(40));
	if (k->type == NNB_TENSOR_INT32)
		fused = NNB_FUSED_NONE;
	integer_give(k, (int32_t)fused);
	out = tensor_like(k, rank, all);
	for (size_t i = 0; i < out->n; i++) {
		double x = a->reals[index_broadcast(out, i, a)], y = b->reals[index_broadcast(out, i, b)];

		out->reals[i] = value_fused(fused, k->op == NNB_ADD ? x + y : x * y);
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
	struct axis a = { random_between(1, 4),
		          { random_between(1, 4), random_between(1, 4), random_between(1, 5), random_between(1, 7) } };

	a.at = last ? a.rank - 1 : random_below(a.rank);
	a.size = a.dims[a.at];
	a.step = 1;
	for (uint32_t d = a.at + 1; d < a.rank; d++)
		a.step *= a.dims[d];
	return a;
}

/* The first element of the row that element @i lies in. */
static size_t row_of(const struct axis *a, size_t i)
{
	return i / (a->size * a->step) * (a->size * a->step) + i % a->step;
}

static void name_axis(struct maker *k, const struct axis *a, bool last)
{
	if (!last)
		integer_give(k, (int32_t)a->at - (random_chance(50) ? (int32_t)a->rank : 0));
}

static void make_softmax(struct maker *k)
{
	bool last = random_chance(40);
	struct axis a = random_axis(last);
	struct tensor *in = own_tensor(k, a.rank, a.dims), *out;
	double beta = number_give(k, random_chance(50) ? 1 : 0.5);

	name_axis(k, &a, last);
	out = tensor_want(k, k->type, a.rank, a.dims, 1.0f / 256, 0);
	for (size_t i = 0; i < out->n; i++) {
		const double *row = in->reals + row_of(&a, i);
		double sum = 0;

		for (size_t j = 0; j < a.size; j++)
			sum += exp((row[j * a.step] - in->reals[i]) * beta);
		out->reals[i] = 1 / sum;
	}
}

static void make_l2_normalization(struct maker *k)
{
	bool last = random_chance(40);
	struct axis a = random_axis(last);
	struct tensor *in = own_tensor(k, a.rank, a.dims), *out;

	name_axis(k, &a, last);
	out = tensor_want(k, k->type, a.rank, a.dims, 1.0f / 128, 128);
	for (size_t i = 0; i < out->n; i++) {
		const double *row = in->reals + row_of(&a, i);
		double sum = 0;

		for (size_t j = 0; j < a.size; j++)
			sum += row[j * a.step] * row[j * a.step];
		out->reals[i] = sum > 0 ? in->reals[i] / sqrt(sum) : 0;
	}
}

static void make_local_response_normalization(struct maker *k)
{
	bool last = random_chance(40);
	struct axis a = random_axis(last);
	struct tensor *in = own_tensor(k, a.rank, a.dims), *out;
	int64_t radius = random_below(4);
	double bias, alpha, beta;

	integer_give(k, (int32_t)radius);
	bias = number_give(k, 1.5);
	alpha = number_give(k, 0.75);
	beta = number_give(k, 0.5);
	name_axis(k, &a, last);
	out = tensor_like(k, a.rank, a.dims);
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

static void make_concatenation(struct maker *k)
{
	struct axis a = random_axis(false);
	uint32_t n = random_between(1, 5), all = 0, extents[5], before = 0;
	struct tensor *parts[5], *out;

	for (uint32_t i = 0; i < n; i++) {
		all += extents[i] = a.dims[a.at] = random_between(1, 4);
		parts[i] = tensor_give(k,
		                       tensor_make(k, k->type, a.rank, a.dims, 1.0f / (float)random_between(60, 68),
		                                   (int32_t)random_between(90, 110)),
		                       2, random_chance(20));
	}
	integer_give(k, (int32_t)a.at);
	a.dims[a.at] = all;
	out = tensor_like(k, a.rank, a.dims);
	for (uint32_t i = 0; i < n; before += extents[i++])
		for (size_t j = 0; j < parts[i]->n; j++) {
			size_t row = j / (extents[i] * a.step), in_row = j % (extents[i] * a.step);

			out->reals[row * all * a.step + before * a.step + in_row] = parts[i]->reals[j];
		}
}

static void make_reshape(struct maker *k)
{
	uint32_t a = random_between(1, 5), b = random_between(1, 5), c = random_between(1, 5);
	struct tensor *in = own_tensor(k, DIMS(a, b, c)), *out;

	integers_give(k, 2, (const int32_t[]){ random_chance(50) ? -1 : (int32_t)(b * c), (int32_t)a },
	              random_chance(50));
	out = tensor_like(k, DIMS(b * c, a));
	memcpy(out->reals, in->reals, out->n * sizeof(*out->reals));
}

/* Some values are keys of the table, others are not. */
static void make_hashtable_lookup(struct maker *k)
{
	uint32_t rows = random_between(1, 6), columns = random_between(1, 5), n = random_between(1, 6);
	int32_t keys[6], wanted_keys[6];
	struct tensor *values, *out, *hits;

	for (uint32_t i = 0; i < rows; i++)
		keys[i] = (int32_t)(i * 7) - 9; /* in ascending order */
	for (uint32_t i = 0; i < n; i++)
		wanted_keys[i] = keys[random_below(rows)] + (random_chance(30) ? 3 : 0);
	integers_give(k, n, wanted_keys, random_chance(50));
	integers_give(k, rows, keys, random_chance(50));
	values = own_tensor(k, DIMS(rows, columns));
	out = tensor_like(k, DIMS(n, columns));
	hits = tensor_want(k, NNB_TENSOR_QUANT8_ASYMM, DIMS(n), 1, 0);
	hits->off = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t row = 0; row < rows; row++) {
			if (keys[row] != wanted_keys[i])
				continue;
			hits->reals[i] = 1;
			memcpy(out->reals + (size_t)i * columns, values->reals + (size_t)row * columns,
			       columns * sizeof(double));
		}
	for (uint32_t i = 0; i < n * columns; i++) /* a key that is not found gives bytes of 0 */
		if (hits->reals[i / columns] == 0)
			out->reals[i] = nnb_type_info(k->type)->quantized
			                        ? -(double)out->operand.scale * out->operand.zero_point
			                        : 0;
}

/* Fingerprint64 of FarmHash for 8 to 16 bytes. */
static uint64_t key_fingerprint(const uint8_t *key, size_t n)
{
	const uint64_t k2 = 0x9ae16a3b2f90404f;
	uint64_t mul = k2 + n * 2, a, b, c, d;

	memcpy(&a, key, 8);
	memcpy(&b, key + n - 8, 8);
	a += k2;
	c = (b >> 37 | b << 27) * mul + a;
	d = ((a >> 25 | a << 39) + b) * mul;
	a = (c ^ d) * mul;
	a ^= a >> 47;
	b = (d ^ a) * mul;
	b ^= b >> 47;
	return b * mul;
}

static bool lsh_bit(const struct tensor *in, double seed, const struct tensor *weights_of)
{
	uint32_t n = in->operand.dims[0], bytes = (uint32_t)(in->n / n) * nnb_type_info(in->operand.type)->bytes;
	uint8_t key[16];
	float first = (float)seed;
	double score = 0;

	memcpy(key, &first, 4);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(key + 4, in->bytes + (size_t)i * bytes, bytes);
		score += (weights_of ? weights_of->reals[i] : 1) * (double)(int64_t)key_fingerprint(key, 4 + bytes);
	}
	return score > 0;
}

/* Keys have 8 to 16 bytes. */
static void make_lsh_projection(struct maker *k)
{
	static const uint32_t types[] = { NNB_TENSOR_FLOAT32, NNB_TENSOR_INT32 };
	uint32_t hashes = random_between(1, 4), bits = random_between(1, 6), n = random_between(1, 5),
		 how = random_between(1, 3);
	struct tensor *seeds = own_tensor(k, DIMS(hashes, bits)), *in, *weighted = NULL, *out;

	in = tensor_give(k, tensor_make(k, types[random_below(2)], DIMS(n, random_between(1, 3)), 0, 0), 1000, false);
	if (random_chance(50))
		weighted = own_tensor(k, DIMS(n));
	else
		operand_omit(k, k->type, DIMS(n));
	integer_give(k, (int32_t)how); /* deprecated sparse, dense, sparse */
	out = tensor_want(k, NNB_TENSOR_INT32, DIMS(how == 2 ? hashes * bits : hashes), 0, 0);
	for (uint32_t h = 0; h < hashes; h++)
		for (uint32_t b = 0; b < bits; b++) {
			bool bit = lsh_bit(in, seeds->reals[h * bits + b], weighted);

			if (how == 2)
				out->reals[h * bits + b] = bit;
			else
				out->reals[h] = out->reals[h] * 2 + bit;
		}
	for (uint32_t h = 0; how == 3 && h < hashes; h++)
		out->reals[h] += h * (1u << bits);
}

static void make_embedding_lookup(struct maker *k)
{
	uint32_t rows = random_between(1, 6), columns = random_between(1, 5), n = random_between(1, 6);
	struct tensor *values, *out;
	int32_t at[6];

	for (uint32_t i = 0; i < n; i++)
		at[i] = (int32_t)random_below(rows);
	integers_give(k, n, at, random_chance(50));
	values = own_tensor(k, DIMS(rows, columns));
	out = tensor_like(k, DIMS(n, columns));
	for (size_t i = 0; i < out->n; i++)
		out->reals[i] = values->reals[(size_t)at[i / columns] * columns + i % columns];
}

/* ---- the table ---- */

const struct op_family op_families_first[] = {
	{ NNB_ADD, make_pair, "FHQSI", .xnnpack = "FHQS" },
	{ NNB_MUL, make_pair, "FHQSI", .xnnpack = "FHQS" },
	{ NNB_AVERAGE_POOL_2D, make_pool, "FHQS", .xnnpack = "FHQS" },
	{ NNB_MAX_POOL_2D, make_pool, "FHQS", .xnnpack = "FHQS" },
	{ NNB_L2_POOL_2D, make_pool, "FH" },
	{ NNB_CONV_2D, make_conv, "FHQS", .xnnpack = "FHQS" },
	{ NNB_DEPTHWISE_CONV_2D, make_depthwise, "FHQS", .xnnpack = "FHQS" },
	{ NNB_FULLY_CONNECTED, make_fully_connected, "FHQS", .xnnpack = "FHQS" },
	{ NNB_CONCATENATION, make_concatenation, "FHQS" },
	{ NNB_DEPTH_TO_SPACE, make_blocks, "FHQS", .xnnpack = "F" },
	{ NNB_SPACE_TO_DEPTH, make_blocks, "FHQS" },
	{ NNB_DEQUANTIZE, make_dequantize, "QSYC", "FH", .xnnpack = "QSY" },
	{ NNB_EMBEDDING_LOOKUP, make_embedding_lookup, "FHIQS" },
	{ NNB_HASHTABLE_LOOKUP, make_hashtable_lookup, "FQI" },
	{ NNB_LSH_PROJECTION, make_lsh_projection, "FH" },
	{ NNB_FLOOR, make_each, "FH", .xnnpack = "FH" },
	{ NNB_RELU, make_each, "FHQS", .xnnpack = "FHQS" },
	{ NNB_RELU1, make_each, "FHQS", .xnnpack = "FHQS" },
	{ NNB_RELU6, make_each, "FHQS", .xnnpack = "FHQS" },
	{ NNB_LOGISTIC, make_each, "FHQS", .xnnpack = "FHQS" },
	{ NNB_TANH, make_each, "FHQS", .xnnpack = "QS" },
	{ NNB_L2_NORMALIZATION, make_l2_normalization, "FHQS" },
	{ NNB_LOCAL_RESPONSE_NORMALIZATION, make_local_response_normalization, "FH" },
	{ NNB_SOFTMAX, make_softmax, "FHQS", .xnnpack = "FHS" },
	{ NNB_RESHAPE, make_reshape, "FHQS" },
	{ NNB_RESIZE_BILINEAR, make_resize, "FHQS", .xnnpack = "FHQS" },
	{ .types = NULL },
};

/*
 * test_kernels.c -- the plain C kernels against the operations' definitions, and against hostile tensors.
 *
 * Each pair of a kernel and a row of shapes is a test. The expected output comes from kernels_oracle.h, or is a
 * number of the HAL's public examples. "O-34" and the like name the rule that a row shows.
 */
#include <float.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "driver/xnnpack/kernels/wide.h"
#include "kernels_oracle.h"

/* A member that a row leaves out is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { FENCED = 0xa5 }; /* content of the bytes after each tensor */
#ifdef __SANITIZE_ADDRESS__
static const size_t fence = 0; /* the address sanitizer has its own, which catch reads, too */
#else
static const size_t fence = 32;
#endif

/* ---- tensors ---- */

struct tensor {
	uint8_t *bytes;
	size_t n;
};

static struct tensor tensors[64]; /* tensors of the running test */
static size_t n_tensors;
static uint64_t seed;

/* xorshift64*: the same numbers in every run. */
static uint64_t next_random(void)
{
	return xorshift_star_next(&seed) >> 32;
}

/* Bytes that the end of the test frees. Then it checks the fence behind them. */
static void *array_fresh(size_t n)
{
	struct tensor *t = &tensors[n_tensors++];

	assert_true(n_tensors <= N_OF(tensors));
	t->n = n;
	t->bytes = malloc(n + fence);
	assert_non_null(t->bytes);
	memset(t->bytes, FENCED, n + fence);
	return t->bytes;
}

static int set_up(void **state)
{
	(void)state;
	seed = 88172645463325252;
	n_tensors = 0;
	return 0;
}

static int tear_down(void **state)
{
	bool broken = false;

	(void)state;
	while (n_tensors) {
		struct tensor *t = &tensors[--n_tensors];

		for (size_t i = 0; i < fence; i++)
			broken |= t->bytes[t->n + i] != FENCED;
		free(t->bytes);
	}
	return broken ? -1 : 0;
}

static float *no_floats(size_t n)
{
	return array_fresh(n * sizeof(float));
}

/* Floats from -range to range. */
static float *floats_random(size_t n, float range)
{
	float *x = no_floats(n);

	for (size_t i = 0; i < n; i++)
		x[i] = range * ((float)(next_random() % 20001) / 10000 - 1);
	return x;
}

/* Bytes around @centre, at most @range away. */
static uint8_t *bytes_random(size_t n, int centre, int range)
{
	uint8_t *x = array_fresh(n);

	for (size_t i = 0; i < n; i++) {
		int value = centre - range + (int)(next_random() % (2 * (unsigned)range + 1));

		x[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
	}
	return x;
}

static int32_t *ints_random(size_t n, int32_t range)
{
	int32_t *x = array_fresh(n * sizeof(*x));

	for (size_t i = 0; i < n; i++)
		x[i] = (int32_t)(next_random() % (2 * (unsigned)range + 1)) - range;
	return x;
}

static double *reals_of_floats(const float *x, size_t n)
{
	double *ret = array_fresh(n * sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = (double)x[i];
	return ret;
}

static double *reals_of_bytes(const uint8_t *x, size_t n, struct nnbx_quant q)
{
	double *ret = array_fresh(n * sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = oracle_real(x[i], q);
	return ret;
}

static double *reals_of_ints(const int32_t *x, size_t n, double scale)
{
	double *ret = array_fresh(n * sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = scale * x[i];
	return ret;
}

/* O-36 */
static void assert_close(double got, double want, size_t i)
{
	if (!(fabs(got - want) <= 1e-5 + 5e-6 * fabs(want)))
		fail_msg("element %zu is %.9g, not %.9g", i, got, want);
}

/* O-36, and more: few elements may be off by one. Rounding twice, before a shift by 4 bits, puts one in 32 off. */
struct judge {
	size_t n, off;
};

static void value_judge(struct judge *j, int got, int want)
{
	size_t i = j->n++;

	if (abs(got - want) > 1)
		fail_msg("element %zu is %d, not %d", i, got, want);
	j->off += got != want;
}

static void judge_end(const struct judge *j)
{
	if (j->off > 1 + j->n / 20)
		fail_msg("%zu of %zu elements are off by one", j->off, j->n);
}

/* ---- tests made from rows ---- */

struct test {
	void (*run)(const void *row, const void *how);
	const void *row, *how;
};

static struct CMUnitTest unit_tests[1024];
static struct test tests[N_OF(unit_tests)];
static size_t n_tests;

static void run_one(void **state)
{
	const struct test *t = *state;

	t->run(t->row, t->how);
}

static __attribute__((format(printf, 4, 5))) void add_test(void (*run)(const void *, const void *), const void *row,
                                                           const void *how, const char *name, ...)
{
	struct test *t = &tests[n_tests];
	va_list ap;
	char *s;

	if (n_tests == N_OF(tests))
		abort();
	va_start(ap, name);
	if (vasprintf(&s, name, ap) < 0)
		abort();
	va_end(ap);
	*t = (struct test){ run, row, how };
	unit_tests[n_tests++] = (struct CMUnitTest){ s, run_one, set_up, tear_down, t };
}

/* ---- windows ---- */

struct geometry {
	const char *name, *rules;
	uint32_t batch, in_h, in_w, in_c, out_c; /* out_c: of a convolution */
	struct nnb_window window;
};

/* clang-format off */
/* pads: left, right, top, bottom; stride: w, h; filter: w, h; multiplier; fused */
static const struct geometry geometries[] = {
	{ "one cell", "O-30", 1, 1, 1, 1, 1, { 0, 0, 0, 0, 1, 1, 1, 1, 1 } },
	{ "a filter of one cell", "O-30", 1, 4, 5, 3, 2, { 0, 0, 0, 0, 1, 1, 1, 1, 1 } },
	{ "neither image nor filter is square", "O-30", 1, 5, 7, 2, 3, { 0, 0, 0, 0, 1, 1, 2, 3, 1 } },
	{ "a stride beyond the filter", "O-30", 1, 9, 11, 3, 2, { 0, 0, 0, 0, 4, 3, 2, 1, 1 } },
	{ "padding, different on each side", "O-30", 1, 6, 5, 2, 3, { 1, 2, 0, 3, 1, 2, 3, 4, 1 } },
	{ "rows and columns are left over", "O-30", 1, 8, 8, 1, 1, { 0, 0, 0, 0, 3, 3, 2, 2, 1 } },
	{ "the filter is the image", "O-30", 1, 4, 3, 2, 2, { 0, 0, 0, 0, 1, 1, 3, 4, 1 } },
	{ "the filter is larger than the image", "O-31", 1, 2, 3, 2, 2, { 2, 2, 2, 2, 1, 1, 5, 5, 1 } },
	{ "some windows see padding only", "O-30", 1, 3, 4, 2, 2, { 3, 4, 3, 2, 1, 1, 2, 2, 1 } },
	{ "three images", "7.6", 3, 4, 4, 2, 2, { 1, 1, 1, 1, 1, 1, 3, 3, 1 } },
	{ "a multiplier of 2", "7.6 row 4", 1, 5, 5, 3, 2, { 0, 1, 1, 0, 2, 1, 3, 2, 2 } },
	{ "a multiplier of 5 over many channels", "7.6 row 4", 2, 3, 3, 27, 2, { 0, 0, 0, 0, 1, 1, 2, 2, 5 } },
	{ "more channels than are summed at once", "7.6", 1, 4, 4, 131, 70, { 1, 0, 1, 0, 2, 2, 2, 2, 1 } },
	{ "fused RELU", "O-33", 1, 5, 5, 3, 4, { 1, 1, 1, 1, 1, 1, 3, 3, 1, NNB_FUSED_RELU } },
	{ "fused RELU1", "O-33", 1, 5, 5, 3, 4, { 1, 1, 1, 1, 1, 1, 3, 3, 1, NNB_FUSED_RELU1 } },
	{ "fused RELU6", "O-33", 1, 5, 5, 3, 4, { 1, 1, 1, 1, 1, 1, 3, 3, 1, NNB_FUSED_RELU6 } },
	{ "an empty batch", "7.6", 0, 4, 4, 2, 2, { 0, 0, 0, 0, 1, 1, 2, 2, 1 } },
	{ "all pixels of all images are one row", "7.6", 3, 5, 7, 17, 19, { 0, 0, 0, 0, 1, 1, 1, 1, 1 } },
	{ "rows of more pixels than are summed at once", "7.6", 1, 3, 71, 9, 18, { 1, 1, 1, 1, 1, 1, 3, 3, 1 } },
	{ "likewise, with a stride and padding at one end", "7.6", 1, 3, 141, 5, 3, { 0, 3, 1, 0, 2, 1, 4, 2, 1 } },
	{ "a filter of more elements than a panel has", "7.6", 1, 6, 11, 33, 17, { 1, 1, 1, 1, 1, 1, 3, 3, 1 } },
	{ "windows of more cells than are taken at once", "7.6", 1, 16, 15, 19, 2, { 1, 1, 1, 1, 2, 2, 14, 13, 1 } },
	{ "rows of a window of more cells than that", "7.6", 1, 2, 140, 3, 2, { 1, 1, 0, 0, 1, 1, 133, 1, 1 } },
};

/* How the scales of quantised factors and of their sum relate. */
static const struct quantisation {
	const char *name;
	struct nnbx_quant a, b;
	double per_product; /* the output's scale, in units of the product of a's and b's */
	int32_t out_zero;
	int range; /* the greatest distance of values from zero */
} quantisations[] = {
	{ "as usual", { 0.05F, 128 }, { 0.025F, 117 }, 1013, 96, 255 },
	{ "zero points at the ends", { 0.5F, 0 }, { 0.31F, 255 }, 4999, 250, 255 },
	{ "a factor of 1", { 0.5F, 100 }, { 0.25F, 30 }, 1, 128, 2 },
	{ "a factor beyond 1", { 0.5F, 130 }, { 0.25F, 120 }, 0.29, 128, 1 },
	{ "so coarse an output that nothing is left", { 0.5F, 130 }, { 0.25F, 120 }, 1e15, 77, 255 },
	{ "so fine an output that all is too much", { 0.5F, 130 }, { 0.25F, 120 }, 1e-15, 128, 100 },
};
/* clang-format on */

static size_t in_elements(const struct nnbx_planes *p)
{
	return (size_t)p->batch * p->in_h * p->in_w * p->in_c;
}

static size_t out_elements(const struct nnbx_planes *p)
{
	return (size_t)p->batch * p->out_h * p->out_w * p->out_c;
}

static struct nnbx_planes planes_of(const struct geometry *g, uint32_t out_c)
{
	const struct nnb_window *w = &g->window;
	struct nnbx_planes p = {
		.batch = g->batch,
		.in_h = g->in_h,
		.in_w = g->in_w,
		.in_c = g->in_c,
		.out_h = oracle_extent(g->in_h, w->filter_h, w->stride_h, w->pad_top + w->pad_bottom),
		.out_w = oracle_extent(g->in_w, w->filter_w, w->stride_w, w->pad_left + w->pad_right),
		.out_c = out_c,
		.window = *w,
	};

	p.window.dilation_w = p.window.dilation_h = 1;
	return p;
}

/* A convolution, and how a geometry gives its shape. */
struct convolution {
	const char *name;
	bool depthwise;
	double (*oracle)(const struct nnbx_planes *, const double *, const double *, const double *, size_t);
	void (*f32)(const struct nnbx_planes *, const float *, const float *, const float *, float, float, float *);
	void (*q8)(const struct nnbx_planes *, const struct nnbx_quants *, const uint8_t *, const uint8_t *,
	           const int32_t *, uint8_t *);
};

static const struct convolution convolutions[] = {
	{ "conv2d", false, oracle_conv, nnbx_conv2d_f32, nnbx_conv2d_q8 },
	{ "depthwise conv2d", true, oracle_depthwise, nnbx_depthwise_conv2d_f32, nnbx_depthwise_conv2d_q8 },
};

static struct nnbx_planes conv_planes(const struct geometry *g, const struct convolution *c, size_t *filter)
{
	struct nnbx_planes p = planes_of(g, c->depthwise ? g->in_c * g->window.multiplier : g->out_c);

	*filter = (size_t)p.window.filter_h * p.window.filter_w * p.out_c * (c->depthwise ? 1 : p.in_c);
	return p;
}

static void conv_f32(const void *row, const void *how)
{
	const struct geometry *g = row;
	const struct convolution *c = how;
	size_t n_filter;
	struct nnbx_planes p = conv_planes(g, c, &n_filter);
	size_t n_in = in_elements(&p), n_out = out_elements(&p);
	struct oracle_bounds bounds = oracle_bounds(g->window.fused);
	float *in = floats_random(n_in, 2), *filter = floats_random(n_filter, 1), *bias = floats_random(p.out_c, 1),
	      *out = no_floats(n_out);
	double *x = reals_of_floats(in, n_in), *w = reals_of_floats(filter, n_filter);
	double *b = reals_of_floats(bias, p.out_c);

	c->f32(&p, in, filter, bias, (float)bounds.min, (float)bounds.max, out);
	for (size_t i = 0; i < n_out; i++)
		assert_close((double)out[i], oracle_clamp(c->oracle(&p, x, w, b, i), bounds), i);
}

static struct nnbx_quants quants_of(const struct quantisation *q, uint32_t fused)
{
	struct nnbx_quants ret = {
		.a = q->a,
		.b = q->b,
		.out = { (float)(q->per_product * (double)q->a.scale * (double)q->b.scale), q->out_zero },
	};

	nnbx_quant_range(ret.out, fused, &ret.min, &ret.max);
	return ret;
}

static void conv_q8(const struct geometry *g, const struct convolution *c, const struct quantisation *how)
{
	size_t n_filter;
	struct nnbx_planes p = conv_planes(g, c, &n_filter);
	size_t n_in = in_elements(&p), n_out = out_elements(&p);
	struct oracle_bounds bounds = oracle_bounds(g->window.fused);
	struct nnbx_quants q = quants_of(how, g->window.fused);
	uint8_t *in = bytes_random(n_in, q.a.zero_point, how->range),
		*filter = bytes_random(n_filter, q.b.zero_point, how->range);
	int32_t *bias = ints_random(p.out_c, how->range * 100);
	uint8_t *out = array_fresh(n_out);
	double *x = reals_of_bytes(in, n_in, q.a), *w = reals_of_bytes(filter, n_filter, q.b);
	double *b = reals_of_ints(bias, p.out_c, (double)q.a.scale * (double)q.b.scale);
	struct judge j = { 0 };

	c->q8(&p, &q, in, filter, bias, out);
	for (size_t i = 0; i < n_out; i++)
		value_judge(&j, out[i], oracle_quantise(oracle_clamp(c->oracle(&p, x, w, b, i), bounds), q.out));
	judge_end(&j);
}

static void conv2d_q8(const void *row, const void *how)
{
	conv_q8(row, &convolutions[0], how);
}

static void depthwise_conv2d_q8(const void *row, const void *how)
{
	conv_q8(row, &convolutions[1], how);
}

/* ---- pools ---- */

struct pool_kernel {
	const char *name;
	double (*oracle)(struct oracle_window);
	int (*oracle_q8)(struct oracle_window);
	void (*f32)(const struct nnbx_planes *, const float *, float, float, float *);
	void (*q8)(const struct nnbx_planes *, const uint8_t *, uint8_t, uint8_t, uint8_t *);
};

static double mean_of(struct oracle_window w)
{
	return w.cells ? w.sum / w.cells : 0;
}

static int whole_mean_of(struct oracle_window w)
{
	return w.cells ? ((int)w.sum + w.cells / 2) / w.cells : 0;
}

static double most_of(struct oracle_window w)
{
	return w.cells ? w.most : 0;
}

static int whole_most_of(struct oracle_window w)
{
	return (int)most_of(w);
}

static double root_of(struct oracle_window w)
{
	return w.cells ? sqrt(w.squares / w.cells) : 0;
}

static const struct pool_kernel pools[] = {
	{ "average pool", mean_of, whole_mean_of, nnbx_average_pool_f32, nnbx_average_pool_q8 },
	{ "max pool", most_of, whole_most_of, nnbx_max_pool_f32, nnbx_max_pool_q8 },
	{ "l2 pool", root_of, NULL, nnbx_l2_pool_f32, NULL },
};

static void pool_f32(const void *row, const void *how)
{
	const struct geometry *g = row;
	const struct pool_kernel *k = how;
	struct nnbx_planes p = planes_of(g, g->in_c);
	size_t n_in = in_elements(&p), n_out = out_elements(&p);
	struct oracle_bounds bounds = oracle_bounds(g->window.fused);
	float *in = floats_random(n_in, 9), *out = no_floats(n_out);
	double *x = reals_of_floats(in, n_in);

	k->f32(&p, in, (float)bounds.min, (float)bounds.max, out);
	for (size_t i = 0; i < n_out; i++)
		assert_close((double)out[i], oracle_clamp(k->oracle(oracle_window(&p, x, i)), bounds), i);
}

static void pool_q8(const void *row, const void *how)
{
	const struct geometry *g = row;
	const struct pool_kernel *k = how;
	struct nnbx_planes p = planes_of(g, g->in_c);
	size_t n_in = in_elements(&p), n_out = out_elements(&p);
	uint8_t *in = bytes_random(n_in, 128, 128), *out = array_fresh(n_out);
	double *x = reals_of_bytes(in, n_in, (struct nnbx_quant){ 1, 0 }); /* the bytes as numbers */
	uint8_t min = g->window.fused ? 60 : 0, max = g->window.fused > 1 ? 180 : 255;

	k->q8(&p, in, min, max, out);
	for (size_t i = 0; i < n_out; i++)
		assert_int_equal(out[i], (int)oracle_clamp(k->oracle_q8(oracle_window(&p, x, i)),
		                                           (struct oracle_bounds){ min, max }));
}

/* ---- resizing ---- */

static const struct resizing {
	const char *name;
	uint32_t batch, in_h, in_w, c, out_h, out_w;
} resizings[] = {
	{ "twice as large", 1, 3, 4, 2, 6, 8 }, { "larger by no whole factor", 2, 2, 3, 3, 5, 7 },
	{ "smaller", 1, 7, 9, 2, 3, 4 },        { "smaller one way and larger the other", 1, 5, 2, 1, 2, 9 },
	{ "the same size", 1, 3, 3, 2, 3, 3 },  { "from one cell", 1, 1, 1, 3, 4, 4 },
	{ "to one cell", 1, 4, 4, 3, 1, 1 },    { "far larger: the last cells repeat", 1, 2, 2, 1, 31, 47 },
};

static void resize_is_right(const void *row, const void *how)
{
	const struct resizing *r = row;
	struct nnbx_planes p = { r->batch, r->in_h, r->in_w, r->c, r->out_h, r->out_w, r->c };
	size_t n_in = in_elements(&p), n_out = out_elements(&p);
	float *in = floats_random(n_in, 5), *out = no_floats(n_out);
	double *x = reals_of_floats(in, n_in);

	(void)how;
	nnbx_resize_bilinear_f32(&p, NNBX_CORNERS_FIRST, in, out);
	for (size_t i = 0; i < n_out; i++)
		assert_close((double)out[i], oracle_resize(&p, x, i), i);
}

/* ---- fully connected ---- */

static const struct connection {
	const char *name;
	size_t batch, size, units;
} connections[] = {
	{ "one by one", 1, 1, 1 },         { "fewer elements than are summed side by side", 3, 7, 5 },
	{ "that many exactly", 2, 16, 3 }, { "and some left over", 2, 203, 9 },
	{ "an empty batch", 0, 5, 4 },
};

static double unit_connected(const struct connection *c, const double *in, const double *weights, const double *bias,
                             size_t i)
{
	double sum = bias[i % c->units];

	for (size_t k = c->size; k-- > 0;)
		sum += in[i / c->units * c->size + k] * weights[i % c->units * c->size + k];
	return sum;
}

static void connect_f32(const void *row, const void *how)
{
	const struct connection *c = row;
	size_t n_in = c->batch * c->size, n_weights = c->units * c->size;
	float *in = floats_random(n_in, 1), *weights = floats_random(n_weights, 1), *bias = floats_random(c->units, 1);
	float *out = no_floats(c->batch * c->units);
	double *x = reals_of_floats(in, n_in), *w = reals_of_floats(weights, n_weights);
	double *b = reals_of_floats(bias, c->units);
	struct oracle_bounds bounds = { -3, 2 };

	(void)how;
	nnbx_fully_connected_f32(c->batch, c->size, c->units, in, weights, bias, -3, 2, out);
	for (size_t i = 0; i < c->batch * c->units; i++)
		assert_close((double)out[i], oracle_clamp(unit_connected(c, x, w, b, i), bounds), i);
}

static void connect_q8(const void *row, const void *how)
{
	const struct connection *c = row;
	const struct quantisation *as = how;
	struct nnbx_quants q = quants_of(as, NNB_FUSED_NONE);
	size_t n_in = c->batch * c->size, n_weights = c->units * c->size;
	uint8_t *in = bytes_random(n_in, q.a.zero_point, as->range),
		*weights = bytes_random(n_weights, q.b.zero_point, as->range);
	int32_t *bias = ints_random(c->units, as->range * 100);
	uint8_t *out = array_fresh(c->batch * c->units);
	double *x = reals_of_bytes(in, n_in, q.a), *w = reals_of_bytes(weights, n_weights, q.b);
	double *b = reals_of_ints(bias, c->units, (double)q.a.scale * (double)q.b.scale);
	struct judge j = { 0 };

	nnbx_fully_connected_q8(c->batch, c->size, c->units, &q, in, weights, bias, out);
	for (size_t i = 0; i < c->batch * c->units; i++)
		value_judge(&j, out[i], oracle_quantise(unit_connected(c, x, w, b, i), q.out));
	judge_end(&j);
}

/* O-34's two roundings, where they matter: the sum is the bias, and the factor is 1 / out_scale. */
static const struct rounding {
	const char *name;
	float out_scale;
	int32_t sum;
	uint8_t want; /* the zero point is 100 */
} roundings[] = {
	{ "3 halves are 2", 2, 3, 102 },
	{ "minus 3 halves are minus 1: the first rounding has halves upwards", 2, -3, 99 },
	{ "6 quarters are 2", 4, 6, 102 },
	{ "minus 6 quarters are minus 2: the second rounding has halves outwards", 4, -6, 98 },
	{ "5 quarters are 2: rounded twice", 4, 5, 102 },
	{ "minus 5 quarters are minus 1", 4, -5, 99 },
	{ "a factor of 1 changes nothing", 1, 37, 137 },
	{ "3 by a factor of 4", 0.25F, 3, 112 },
	{ "minus 3 by a factor of 3", 1.0F / 3, -3, 91 },
	{ "the largest sum", 1, INT32_MAX, 255 },
	{ "the smallest sum", 1, INT32_MIN, 0 },
	{ "the largest sum, made larger", 1e-30F, INT32_MAX, 255 },
	{ "the smallest sum, made smaller", 1e-30F, INT32_MIN, 0 },
	{ "the largest sum by a factor of 2^-31", 2147483648.0F, INT32_MAX, 101 },
	{ "the largest sum by a factor of 2^-34", 17179869184.0F, INT32_MAX, 100 },
	{ "the largest sum by next to nothing", FLT_MAX, INT32_MAX, 100 },
	{ "a scale that is hardly one", FLT_TRUE_MIN, 1, 255 },
	{ "an infinite scale leaves nothing", INFINITY, INT32_MAX, 100 },
};

static void round_as_ruled(const void *row, const void *how)
{
	const struct rounding *r = row;
	struct nnbx_quants q = { { 1, 7 }, { 1, 9 }, { r->out_scale, 100 }, 0, 255 };
	uint8_t in = 7, weight = 9, out = 0;

	(void)how;
	nnbx_fully_connected_q8(1, 1, 1, &q, &in, &weight, &r->sum, &out);
	assert_int_equal(out, r->want);
}

/* A factor whose mantissa rounds up to 1, which Q31 does not have. */
static void just_below_1(const void *row, const void *how)
{
	struct nnbx_quants q = { { 1 + FLT_EPSILON, 7 }, { 1 - FLT_EPSILON, 9 }, { 1, 100 }, 0, 255 };
	uint8_t in = 7, weight = 9, out = 0;

	(void)row, (void)how;
	nnbx_fully_connected_q8(1, 1, 1, &q, &in, &weight, &(int32_t){ 37 }, &out);
	assert_int_equal(out, 137);
}

static void sums_beyond_int32(const void *row, const void *how)
{
	enum { SIZE = 80000 }; /* a sum of 80000 products 255 * 255 exceeds 32 bits; half of it exceeds an int32 */
	struct nnbx_quants q = { { 1, 0 }, { 1, 0 }, { 1e9F, 0 }, 0, 255 };
	uint8_t *in = array_fresh(SIZE), *weights = array_fresh(SIZE), out;
	int32_t bias = INT32_MAX;

	(void)row, (void)how;
	memset(in, 255, SIZE);
	memset(weights, 255, SIZE);
	nnbx_fully_connected_q8(1, SIZE / 2, 1, &q, in, weights, &bias, &out);
	assert_int_equal(out, 2); /* the limit of int32, not the wrapped sum */
	q.out.scale = 1e-30F;
	nnbx_fully_connected_q8(1, SIZE, 1, &q, in, weights, &bias, &out);
	assert_int_equal(out, 255);
	q.out.scale = 1e9F;
	q.b.zero_point = 255;
	memset(weights, 0, SIZE);
	q.out.zero_point = 10;
	nnbx_fully_connected_q8(1, SIZE / 2, 1, &q, in, weights, &(int32_t){ INT32_MIN }, &out);
	assert_int_equal(out, 8);
}

/* ---- two tensors ---- */

static const struct meeting {
	const char *name;
	uint32_t a_rank, a[NNB_RANK_MAX], b_rank, b[NNB_RANK_MAX];
	uint32_t out_rank, out[NNB_RANK_MAX]; /* out_rank 0: the shapes do not broadcast, or are scalars */
	uint32_t runs;                        /* the number of dimensions after neighbours of one kind are merged */
} meetings[] = {
	{ "equal shapes", 4, { 2, 3, 4, 5 }, 4, { 2, 3, 4, 5 }, 4, { 2, 3, 4, 5 }, 1 },
	{ "one element by many", 1, { 1 }, 3, { 2, 3, 4 }, 3, { 2, 3, 4 }, 1 },
	{ "many elements by one", 3, { 2, 3, 4 }, 1, { 1 }, 3, { 2, 3, 4 }, 1 },
	{ "a row by a matrix", 2, { 1, 5 }, 2, { 4, 5 }, 2, { 4, 5 }, 2 },
	{ "a column by a row", 2, { 4, 1 }, 2, { 1, 5 }, 2, { 4, 5 }, 2 },
	{ "a column by a matrix", 2, { 4, 1 }, 2, { 4, 5 }, 2, { 4, 5 }, 2 },
	{ "fewer dimensions: the last ones", 4, { 2, 3, 4, 5 }, 2, { 4, 5 }, 4, { 2, 3, 4, 5 }, 2 },
	{ "ones inside", 4, { 2, 1, 4, 1 }, 4, { 1, 3, 1, 5 }, 4, { 2, 3, 4, 5 }, 4 },
	{ "a last dimension of one, in both", 3, { 4, 6, 1 }, 3, { 4, 6, 1 }, 3, { 4, 6, 1 }, 1 },
	{ "eight dimensions",
	  8,
	  { 2, 1, 2, 1, 3, 1, 2, 2 },
	  8,
	  { 1, 3, 1, 2, 1, 2, 1, 2 },
	  8,
	  { 2, 3, 2, 2, 3, 2, 2, 2 },
	  8 },
	{ "all ones", 3, { 1, 1, 1 }, 2, { 1, 1 }, 3, { 1, 1, 1 }, 1 },
	{ "extent 0 by extent 1 is extent 0", 2, { 0, 3 }, 2, { 1, 3 }, 2, { 0, 3 }, 2 },
};

static size_t dims_product(uint32_t rank, const uint32_t *dims)
{
	size_t n = 1;

	for (uint32_t d = 0; d < rank; d++)
		n *= dims[d];
	return n;
}

struct pair_kernel {
	const char *name;
	bool mul;
	void (*f32)(const struct nnbx_pairing *, const float *, const float *, float, float, float *);
	void (*q8)(const struct nnbx_pairing *, const struct nnbx_quants *, const uint8_t *, const uint8_t *,
	           uint8_t *);
};

static const struct pair_kernel pair_kernels[] = {
	{ "add", false, nnbx_add_f32, nnbx_add_q8 },
	{ "mul", true, nnbx_mul_f32, nnbx_mul_q8 },
};

/* The expected element @i of the output, in reals. */
static double pair_met(const struct meeting *m, const struct pair_kernel *k, const double *a, const double *b, size_t i)
{
	double x = a[oracle_broadcast(i, m->out_rank, m->out, m->a_rank, m->a)];
	double y = b[oracle_broadcast(i, m->out_rank, m->out, m->b_rank, m->b)];

	return k->mul ? x * y : x + y;
}

static void pair_f32(const void *row, const void *how)
{
	const struct meeting *m = row;
	const struct pair_kernel *k = how;
	size_t n_a = dims_product(m->a_rank, m->a), n_b = dims_product(m->b_rank, m->b),
	       n = dims_product(m->out_rank, m->out);
	float *a = floats_random(n_a, 5), *b = floats_random(n_b, 5), *out = no_floats(n);
	double *x = reals_of_floats(a, n_a), *y = reals_of_floats(b, n_b);
	struct nnbx_pairing p;

	assert_true(nnbx_pairing(m->a_rank, m->a, m->b_rank, m->b, &p));
	assert_int_equal(p.rank, m->runs);
	k->f32(&p, a, b, -4, 6, out);
	for (size_t i = 0; i < n; i++)
		assert_close((double)out[i], oracle_clamp(pair_met(m, k, x, y, i), (struct oracle_bounds){ -4, 6 }), i);
}

/* O-35: in sane proportion, and where XNNPACK would refuse. */
static const struct nnbx_quants pair_quants[] = {
	{ { 0.11F, 128 }, { 0.07F, 100 }, { 0.13F, 120 } }, { { 1, 0 }, { 2, 255 }, { 1.5F, 128 } },
	{ { 1, 128 }, { 0.0001F, 128 }, { 0.9F, 128 } },    { { 3000, 128 }, { 2500, 100 }, { 1, 128 } },
	{ { 1, 128 }, { 1.1F, 100 }, { 5000, 7 } },         { { 0.0001F, 3 }, { 0.0002F, 250 }, { 0.0003F, 128 } },
};

static void pair_q8(const void *row, const void *how)
{
	const struct meeting *m = row;
	const struct pair_kernel *k = how;
	size_t n_a = dims_product(m->a_rank, m->a), n_b = dims_product(m->b_rank, m->b),
	       n = dims_product(m->out_rank, m->out);
	uint8_t *a = bytes_random(n_a, 128, 128), *b = bytes_random(n_b, 128, 128), *out = array_fresh(n);
	struct nnbx_pairing p;

	assert_true(nnbx_pairing(m->a_rank, m->a, m->b_rank, m->b, &p));
	for (size_t i = 0; i < N_OF(pair_quants); i++)
		for (uint32_t fused = NNB_FUSED_NONE; fused <= NNB_FUSED_RELU6; fused++) {
			struct nnbx_quants q = pair_quants[i];
			double *x = reals_of_bytes(a, n_a, q.a), *y = reals_of_bytes(b, n_b, q.b);
			struct judge j = { 0 };

			nnbx_quant_range(q.out, fused, &q.min, &q.max);
			k->q8(&p, &q, a, b, out);
			for (size_t e = 0; e < n; e++)
				value_judge(&j, out[e],
				            oracle_quantise(oracle_clamp(pair_met(m, k, x, y, e), oracle_bounds(fused)),
				                            q.out));
			judge_end(&j);
		}
}

static void strangers_do_not_meet(const void *row, const void *how)
{
	struct nnbx_pairing p, before;

	(void)row, (void)how;
	memset(&before, 0x5a, sizeof(before));
	p = before;
	assert_false(nnbx_pairing(2, (uint32_t[]){ 2, 3 }, 2, (uint32_t[]){ 2, 4 }, &p));
	assert_false(nnbx_pairing(2, (uint32_t[]){ 2, 3 }, 1, (uint32_t[]){ 2 }, &p));
	assert_false(nnbx_pairing(1, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 2 }, &p));
	assert_memory_equal(&p, &before, sizeof(p));
	assert_true(nnbx_pairing(0, NULL, 0, NULL, &p));
	assert_int_equal(p.rank, 1);
	assert_int_equal(p.dims[0], 1);
}

/* ---- one tensor ---- */

static const struct range {
	const char *name;
	struct nnbx_quant q;
	uint32_t fused;
	uint8_t min, max;
} ranges[] = {
	{ "no activation", { 0.5F, 3 }, NNB_FUSED_NONE, 0, 255 },
	{ "RELU starts at the zero point", { 0.5F, 3 }, NNB_FUSED_RELU, 3, 255 },
	{ "RELU1", { 0.25F, 10 }, NNB_FUSED_RELU1, 6, 14 },
	{ "RELU1 below the bytes", { 0.01F, 10 }, NNB_FUSED_RELU1, 0, 110 },
	{ "RELU6", { 0.5F, 250 }, NNB_FUSED_RELU6, 250, 255 },
	{ "RELU6 of a coarse scale", { 100, 128 }, NNB_FUSED_RELU6, 128, 128 },
	{ "6 by 4 is rounded outwards", { 4, 128 }, NNB_FUSED_RELU6, 128, 130 },
	{ "minus 1 by 2 is rounded outwards", { 2, 128 }, NNB_FUSED_RELU1, 127, 129 },
	{ "RELU6 of a scale that is hardly one", { FLT_TRUE_MIN, 0 }, NNB_FUSED_RELU6, 0, 255 },
};

static void range_is(const void *row, const void *how)
{
	const struct range *r = row;
	uint8_t min, max;

	(void)how;
	nnbx_quant_range(r->q, r->fused, &min, &max);
	assert_int_equal(min, r->min);
	assert_int_equal(max, r->max);
}

enum { SOME = 1000 };

static double floor_of(double x)
{
	return floor(x);
}

struct float_function {
	const char *name;
	double (*oracle)(double);
	void (*f32)(size_t, const float *, float *);
};

static const struct float_function float_functions[] = {
	{ "logistic", oracle_sigmoid, nnbx_logistic_f32 },
	{ "tanh", tanh, nnbx_tanh_f32 },
	{ "floor", floor_of, nnbx_floor_f32 },
};

static void function_f32(const void *row, const void *how)
{
	const struct float_function *f = row;
	float *in = floats_random(SOME, 200), *out = no_floats(SOME), *small = floats_random(SOME, 1);

	(void)how;
	f->f32(SOME, in, out);
	for (size_t i = 0; i < SOME; i++)
		assert_close((double)out[i], f->oracle((double)in[i]), i);
	f->f32(SOME, small, out);
	for (size_t i = 0; i < SOME; i++)
		assert_close((double)out[i], f->oracle((double)small[i]), i);
	f->f32(SOME, small, small);
	assert_memory_equal(small, out, SOME * sizeof(*out));
	f->f32(0, small, out);
}

struct byte_function {
	const char *name;
	double (*oracle)(double);
	struct nnbx_quant out;
	void (*q8)(size_t, struct nnbx_quant, const uint8_t *, uint8_t *);
};

static const struct byte_function byte_functions[] = {
	{ "logistic", oracle_sigmoid, { 1.0F / 256, 0 }, nnbx_logistic_q8 },
	{ "tanh", tanh, { 1.0F / 128, 128 }, nnbx_tanh_q8 },
};

static void function_q8(const void *row, const void *how)
{
	static const struct nnbx_quant ins[] = { { 0.05F, 128 }, { 0.5F, 0 }, { 0.01F, 255 }, { 1e30F, 128 } };
	const struct byte_function *f = row;
	uint8_t *in = array_fresh(256), *out = array_fresh(256);

	(void)how;
	for (size_t i = 0; i < 256; i++)
		in[i] = (uint8_t)i;
	for (size_t k = 0; k < N_OF(ins); k++) {
		struct judge j = { 0 };

		f->q8(256, ins[k], in, out);
		for (size_t i = 0; i < 256; i++)
			value_judge(&j, out[i], oracle_quantise(f->oracle(oracle_real(in[i], ins[k])), f->out));
		judge_end(&j);
	}
}

static void clamping_is_right(const void *row, const void *how)
{
	float *in = floats_random(SOME, 9), *out = no_floats(SOME);
	uint8_t *in_q8 = bytes_random(SOME, 128, 128), *out_q8 = array_fresh(SOME);

	(void)row, (void)how;
	nnbx_clamp_f32(SOME, in, -1, 6, out);
	nnbx_clamp_q8(SOME, in_q8, 40, 180, out_q8);
	for (size_t i = 0; i < SOME; i++) {
		assert_true(out[i] == fminf(fmaxf(in[i], -1), 6));
		assert_int_equal(out_q8[i], in_q8[i] < 40 ? 40 : in_q8[i] > 180 ? 180 : in_q8[i]);
	}
}

static void dequantizing_is_right(const void *row, const void *how)
{
	struct nnbx_quant q = { 0.037F, 99 };
	uint8_t *in = bytes_random(SOME, 128, 128);
	float *out = no_floats(SOME);

	(void)row, (void)how;
	nnbx_dequantize_q8(SOME, q, in, out);
	for (size_t i = 0; i < SOME; i++)
		assert_close((double)out[i], oracle_real(in[i], q), i);
}

/* ---- rows ---- */

static const struct rows {
	const char *name;
	size_t n, size;
	uint32_t radius;
} row_shapes[] = {
	{ "one element", 1, 1, 0 },
	{ "no neighbours count", 3, 6, 0 },
	{ "some neighbours", 4, 11, 2 },
	{ "as many as there are", 2, 7, 6 },
	{ "the largest radius", 2, 9, UINT32_MAX },
	{ "a long row", 2, 300, 5 },
	{ "no rows", 0, 8, 1 },
};

static void softmax_f32(const void *row, const void *how)
{
	const struct rows *r = row;
	float beta = *(const float *)how, *in = floats_random(r->n * r->size, 40), *out = no_floats(r->n * r->size);

	nnbx_softmax_f32(r->n, r->size, 1, beta, in, out);
	for (size_t i = 0; i < r->n * r->size; i++) {
		const float *of = in + i / r->size * r->size;
		double sum = 0; /* the sum of powers by element i's: this oracle subtracts no maximum */

		for (size_t k = 0; k < r->size; k++)
			sum += exp(((double)of[k] - (double)in[i]) * (double)beta);
		assert_close((double)out[i], 1 / sum, i);
	}
	nnbx_softmax_f32(r->n, r->size, 1, beta, in, in);
	assert_memory_equal(in, out, r->n * r->size * sizeof(*out));
}

static void softmax_q8(const void *row, const void *how)
{
	const struct rows *r = row;
	struct nnbx_quant q = { 0.06F, 130 };
	float beta = *(const float *)how;
	uint8_t *in = bytes_random(r->n * r->size, 128, 128), *out = array_fresh(r->n * r->size);
	struct judge j = { 0 };

	nnbx_softmax_q8(r->n, r->size, 1, q, beta, in, out);
	for (size_t i = 0; i < r->n * r->size; i++) {
		const uint8_t *of = in + i / r->size * r->size;
		double sum = 0;

		for (size_t k = 0; k < r->size; k++)
			sum += exp((oracle_real(of[k], q) - oracle_real(in[i], q)) * (double)beta);
		value_judge(&j, out[i], oracle_quantise(1 / sum, (struct nnbx_quant){ 1.0F / 256, 0 }));
	}
	judge_end(&j);
	nnbx_softmax_q8(r->n, r->size, 1, q, beta, in, in);
	assert_memory_equal(in, out, r->n * r->size);
}

static void no_number_is_the_low_bound(const void *row, const void *how)
{
	static const float betas[] = { NAN, INFINITY }; /* times 0, the second one is NAN, too */
	uint8_t in[] = { 3, 200, 7, 7 }, out[4];

	(void)row, (void)how;
	for (size_t i = 0; i < N_OF(betas); i++) {
		nnbx_softmax_q8(2, 2, 1, (struct nnbx_quant){ 0.5F, 0 }, betas[i], in, out);
		assert_memory_equal(out, ((uint8_t[4]){ 0 }), 4);
	}
}

static void l2_normalization(const void *row, const void *how)
{
	const struct rows *r = row;
	float *in = floats_random(r->n * r->size, 3), *out = no_floats(r->n * r->size);

	(void)how;
	nnbx_l2_normalization_f32(r->n, r->size, 1, in, out);
	for (size_t i = 0; i < r->n * r->size; i++) {
		double squares = 0;

		for (size_t k = 0; k < r->n * r->size; k++)
			squares += k / r->size == i / r->size ? (double)in[k] * (double)in[k] : 0;
		assert_close((double)out[i], (double)in[i] / sqrt(squares), i);
	}
}

static void local_response_normalization(const void *row, const void *how)
{
	const struct rows *r = row;
	float *in = floats_random(r->n * r->size, 3), *out = no_floats(r->n * r->size);

	(void)how;
	nnbx_local_response_normalization_f32(r->n, r->size, 1, r->radius, 1.5F, 0.7F, 0.75F, in, out);
	for (size_t i = 0; i < r->n * r->size; i++) {
		double squares = 0;

		for (size_t k = 0; k < r->n * r->size; k++)
			if (k / r->size == i / r->size && llabs((long long)k - (long long)i) <= r->radius)
				squares += (double)in[k] * (double)in[k];
		assert_close((double)out[i], (double)in[i] / pow(1.5 + (double)0.7F * squares, 0.75), i);
	}
}

static void zeros_stay_zeros(const void *row, const void *how)
{
	float x[3] = { 0 }, huge[2] = { FLT_MAX, FLT_MAX }, tiny[2] = { FLT_TRUE_MIN, 0 };

	(void)row, (void)how;
	nnbx_l2_normalization_f32(1, 3, 1, x, x);
	assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
	nnbx_l2_normalization_f32(1, 2, 1, huge, huge);
	assert_close((double)huge[0], sqrt(0.5), 0);
	nnbx_l2_normalization_f32(1, 2, 1, tiny, tiny);
	assert_close((double)tiny[0], 1, 0);
}

/* ---- moving ---- */

static const struct blocking {
	const char *name;
	uint32_t batch, h, w, c, block; /* the deep side's shape */
} blockings[] = {
	{ "blocks of one", 1, 2, 3, 4, 1 },
	{ "blocks of two", 1, 1, 1, 8, 2 },
	{ "neither square nor alone", 3, 2, 5, 12, 2 },
	{ "blocks of three", 2, 3, 2, 18, 3 },
};

static void blocks_move(const void *row, const void *how)
{
	const struct blocking *b = row;
	size_t elem = *(const size_t *)how, n = (size_t)b->batch * b->h * b->w * b->c;
	uint32_t k = b->block, chunk = b->c / k / k, h = b->h * k, w = b->w * k;
	uint8_t *deep = bytes_random(n * elem, 128, 128), *wide = array_fresh(n * elem), *back = array_fresh(n * elem);

	nnbx_depth_to_space(b->batch, b->h, b->w, b->c, k, elem, deep, wide);
	for (size_t i = 0; i < n; i++) {
		size_t c = i % chunk, x = i / chunk % w, y = i / chunk / w % h, image = i / chunk / w / h;
		size_t from = ((image * b->h + y / k) * b->w + x / k) * b->c + (y % k * k + x % k) * chunk + c;

		assert_memory_equal(wide + i * elem, deep + from * elem, elem);
	}
	nnbx_space_to_depth(b->batch, h, w, chunk, k, elem, wide, back);
	assert_memory_equal(back, deep, n * elem);
}

static const size_t element_sizes[] = { 1, 4 };

static void concatenating_is_right(const void *row, const void *how)
{
	/* [2, n, 3] along axis 1 */
	size_t elem = *(const size_t *)how, extents[] = { 2, 1, 4 }, all = 7, before = 0;
	uint8_t *out = array_fresh(2 * all * 3 * elem);

	(void)row;
	for (size_t k = 0; k < N_OF(extents); k++) {
		uint8_t *in = bytes_random(2 * extents[k] * 3 * elem, 128, 128);

		nnbx_copy_rows(2, extents[k] * 3 * elem, in, all * 3 * elem, out + before * 3 * elem);
		for (size_t i = 0; i < 2; i++)
			for (size_t at = 0; at < extents[k] * 3 * elem; at++)
				assert_int_equal(out[(i * all + before) * 3 * elem + at],
				                 in[i * extents[k] * 3 * elem + at]);
		before += extents[k];
	}
}

/* ---- looking up ---- */

static void embedding_is_right(const void *row, const void *how)
{
	static const int32_t lookups[] = { 3, 0, 3, 6, 1 };
	size_t row_bytes = 5 * *(const size_t *)how;
	uint8_t *values = bytes_random(7 * row_bytes, 128, 128), *out = array_fresh(N_OF(lookups) * row_bytes);

	(void)row;
	assert_true(nnbx_embedding_lookup(N_OF(lookups), lookups, 7, row_bytes, values, out));
	for (size_t i = 0; i < N_OF(lookups); i++)
		assert_memory_equal(out + i * row_bytes, values + (size_t)lookups[i] * row_bytes, row_bytes);
	assert_true(nnbx_embedding_lookup(0, lookups, 7, row_bytes, values, out));
}

static void indexes_outside(const void *row, const void *how)
{
	static const int32_t outside[] = { 7, -1, INT32_MAX, INT32_MIN };
	uint8_t *values = bytes_random(7 * 4, 128, 128), *out = array_fresh(3 * 4);

	(void)row, (void)how;
	for (size_t i = 0; i < N_OF(outside); i++)
		for (size_t at = 0; at < 3; at++) {
			int32_t lookups[] = { 1, 2, 6 };

			assert_true(nnbx_embedding_lookup(3, lookups, 7, 4, values, out));
			lookups[at] = outside[i];
			assert_false(nnbx_embedding_lookup(3, lookups, 7, 4, values, out));
		}
	assert_false(nnbx_embedding_lookup(1, (int32_t[]){ 0 }, 0, 4, values, out));
}

static void hashtable_is_right(const void *row, const void *how)
{
	static const int32_t keys[] = { INT32_MIN, -5, 0, 7, 8, 1000, INT32_MAX };
	size_t row_bytes = 3 * *(const size_t *)how, n = 64;
	uint8_t *values = bytes_random(N_OF(keys) * row_bytes, 128, 128), *out = array_fresh(n * row_bytes),
		*hits = array_fresh(n);
	int32_t *lookups = ints_random(n, 9);
	uint8_t *nothing = memset(array_fresh(row_bytes), 0, row_bytes);

	(void)row;
	memcpy(lookups, keys, sizeof(keys));
	nnbx_hashtable_lookup(n, lookups, N_OF(keys), keys, row_bytes, values, out, hits);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *want = nothing;

		for (size_t k = 0; k < N_OF(keys); k++)
			want = keys[k] == lookups[i] ? values + k * row_bytes : want;
		assert_memory_equal(out + i * row_bytes, want, row_bytes);
		assert_int_equal(hits[i], want != nothing);
	}
	nnbx_hashtable_lookup(n, lookups, 0, keys, row_bytes, values, out, hits);
	assert_int_equal(hits[0], 0);
}

static void keys_out_of_order(const void *row, const void *how)
{
	enum { KEYS = 50 };
	uint8_t *values = bytes_random(KEYS, 128, 128), *out = array_fresh(200), *hits = array_fresh(200);

	(void)row, (void)how;
	for (int round = 0; round < 50; round++) {
		int32_t *keys = ints_random(KEYS, 40), *lookups = ints_random(200, 40);

		nnbx_hashtable_lookup(200, lookups, KEYS, keys, 1, values, out, hits);
		for (size_t i = 0; i < 200; i++) {
			bool possible = !hits[i] && !out[i];

			for (size_t k = 0; k < KEYS; k++)
				possible |= hits[i] == 1 && keys[k] == lookups[i] && values[k] == out[i];
			assert_true(possible);
		}
		n_tensors -= 2; /* free the keys and lookups of this round */
		free(tensors[n_tensors].bytes);
		free(tensors[n_tensors + 1].bytes);
	}
}

/* ---- hashing ---- */

/* Numbers that farmhash gives for the first bytes of its own test data, and for short strings. */
static const struct fingerprint {
	size_t n;
	uint64_t want;
} fingerprints[] = {
	{ 0, UINT64_C(2598464059) << 32 | 797982799 },    { 1, UINT64_C(1410420968) << 32 | 2134990486 },
	{ 2, UINT64_C(255297188) << 32 | 2992121793 },    { 3, UINT64_C(4019337850) << 32 | 452431531 },
	{ 4, UINT64_C(299850021) << 32 | 2532580744 },    { 7, UINT64_C(458884671) << 32 | 3033004529 },
	{ 8, UINT64_C(2700149065) << 32 | 2699376854 },   { 16, UINT64_C(65721842) << 32 | 489963606 },
	{ 17, UINT64_C(1790705123) << 32 | 2128624475 },  { 32, UINT64_C(126024219) << 32 | 146044391 },
	{ 33, UINT64_C(165589978) << 32 | 1578546616 },   { 63, UINT64_C(2834153464) << 32 | 1481069623 },
	{ 64, UINT64_C(3740748788) << 32 | 3388062747 },  { 65, UINT64_C(1020177209) << 32 | 734239551 },
	{ 127, UINT64_C(2567532373) << 32 | 4075249328 }, { 128, UINT64_C(4104757832) << 32 | 3026358429 },
	{ 129, UINT64_C(3573008472) << 32 | 3615577014 }, { 192, UINT64_C(3105682208) << 32 | 3382290593 },
	{ 193, UINT64_C(777173623) << 32 | 3241407531 },  { 298, UINT64_C(540133451) << 32 | 3313113759 },
};

static void fingerprint_is(const void *row, const void *how)
{
	const struct fingerprint *f = row;
	size_t n = f->n * f->n + f->n; /* the text begins at the square of its length */
	uint8_t *text = array_fresh(n), *copy = array_fresh(f->n);
	uint64_t a = 9, b = 777;

	(void)how;
	for (size_t i = 0; i < n; i++) {
		a += b;
		b += a;
		a = (a ^ a >> 41) * UINT64_C(0xc3a5c85c97cb3127);
		b = (b ^ b >> 41) * UINT64_C(0xc3a5c85c97cb3127) + i;
		text[i] = (uint8_t)(b >> 37);
	}
	if (f->n)
		memcpy(copy, text + f->n * f->n, f->n);
	assert_true(nnbx_fingerprint64(copy, f->n) == f->want);
}

static const float lsh_hash[4][2] = {
	{ 0.123F, 0.456F }, { -0.321F, -0.654F }, { 1.234F, 5.678F }, { -4.321F, -8.765F }
};
static const int32_t lsh_in[3][2] = { { 12345, 54321 }, { 67890, 9876 }, { -12345678, -87654321 } };

static const struct projection {
	const char *name;
	enum nnbx_lsh type;
	bool weighted;
	size_t n;
	int32_t want[8];
} projections[] = {
	{ "dense and weighted: the HAL's example", NNBX_LSH_DENSE, true, 8, { 1, 1, 1, 0, 1, 1, 1, 0 } },
	{ "sparse, without an offset: the HAL's example", NNBX_LSH_SPARSE_PLAIN, false, 4, { 1, 2, 2, 0 } },
	{ "sparse: each hash has numbers of its own", NNBX_LSH_SPARSE, false, 4, { 1, 6, 10, 12 } },
};

static void projecting_is_right(const void *row, const void *how)
{
	static const float weights[] = { 0.12F, 0.34F, 0.56F };
	const struct projection *r = row;
	struct nnbx_lsh_projection p = { 4, 2, 3, sizeof(lsh_in[0]), r->type };
	char *scratch = array_fresh(nnbx_lsh_projection_scratch(&p));
	int32_t *out = array_fresh(r->n * sizeof(*out));

	(void)how;
	nnbx_lsh_projection(&p, lsh_hash[0], lsh_in, r->weighted ? weights : NULL, scratch, out);
	assert_memory_equal(out, r->want, r->n * sizeof(*out));
}

/* The HAL allows up to 32 bits in a hash; more bits must not be undefined behaviour. */
static void many_bits(const void *row, const void *how)
{
	static const uint32_t bits[] = { 31, 32, 33, 100 };

	(void)row, (void)how;
	for (size_t k = 0; k < N_OF(bits); k++) {
		struct nnbx_lsh_projection p = { 3, bits[k], 3, sizeof(lsh_in[0]), NNBX_LSH_DENSE };
		float *hash = floats_random((size_t)3 * bits[k], 1);
		char *scratch = array_fresh(nnbx_lsh_projection_scratch(&p));
		int32_t *each = array_fresh(3 * bits[k] * sizeof(*each)), *out = array_fresh(3 * sizeof(*out));

		nnbx_lsh_projection(&p, hash, lsh_in, NULL, scratch, each);
		p.type = NNBX_LSH_SPARSE;
		nnbx_lsh_projection(&p, hash, lsh_in, NULL, scratch, out);
		for (uint32_t i = 0; i < 3; i++) {
			uint64_t want = bits[k] < 32 ? (uint64_t)i << bits[k] : 0;

			for (uint32_t b = 0; b < 32 && b < bits[k]; b++)
				want += (uint64_t)(uint32_t)each[(i + 1) * bits[k] - 1 - b] << b;
			assert_int_equal((uint32_t)out[i], (uint32_t)want);
		}
	}
}

/* ---- with state ---- */

static const uint32_t activations[] = { NNBX_NONE, NNBX_RELU, NNBX_RELU1, NNBX_RELU6, NNBX_TANH, NNBX_SIGMOID };

static void rnn_is_right(const void *row, const void *how)
{
	enum { BATCH = 3, INPUTS = 11, UNITS = 19 };
	struct nnbx_rnn p = { BATCH,
		              INPUTS,
		              UNITS,
		              *(const uint32_t *)row,
		              floats_random(UNITS * INPUTS, 2),
		              floats_random(UNITS * UNITS, 1),
		              floats_random(UNITS, 1) };
	float *in = floats_random(BATCH * INPUTS, 1), *state = floats_random(BATCH * UNITS, 1);
	float *state_out = no_floats(BATCH * UNITS), *out = no_floats(BATCH * UNITS);

	(void)how;
	nnbx_rnn_f32(&p, in, state, state_out, out);
	for (size_t i = 0; i < BATCH * UNITS; i++) {
		size_t b = i / UNITS, u = i % UNITS;
		double sum = oracle_row(p.weights, u, in + b * INPUTS, INPUTS) +
		             oracle_row(p.recurrent, u, state + b * UNITS, UNITS) + (double)p.bias[u];

		assert_close((double)out[i], oracle_activate(p.activation, sum), i);
	}
	assert_memory_equal(state_out, out, BATCH * UNITS * sizeof(*out));
}

static const struct svdf_shape {
	const char *name;
	uint32_t filters, memory, rank, activation;
	bool bias;
} svdf_shapes[] = {
	{ "of rank 1", 5, 4, 1, NNBX_NONE, true },
	{ "of rank 2", 6, 3, 2, NNBX_NONE, true },
	{ "without a bias", 6, 10, 3, NNBX_NONE, false },
	{ "with an activation", 4, 3, 1, NNBX_RELU, true },
	{ "that remembers nothing", 4, 1, 2, NNBX_TANH, true },
	{ "that remembers one step", 4, 2, 2, NNBX_RELU6, true },
};

static void svdf_is_right(const void *row, const void *how)
{
	enum { BATCH = 2, INPUTS = 9, STEPS = 15 };
	const struct svdf_shape *s = row;
	uint32_t units = s->filters / s->rank, states = s->filters * s->memory;
	float *feature = floats_random(s->filters * INPUTS, 1), *time = floats_random(states, 1),
	      *bias = floats_random(units, 1);
	struct nnbx_svdf p = { BATCH,   INPUTS, s->filters,           s->memory, s->rank, s->activation,
		               feature, time,   s->bias ? bias : NULL };
	float *in = floats_random(STEPS * BATCH * INPUTS, 1), *out = no_floats(BATCH * units);
	float *state = memset(no_floats(BATCH * states), 0, BATCH * states * sizeof(*state));
	float *next = no_floats(BATCH * states);

	(void)how;
	for (size_t step = 0; step < STEPS; step++) {
		float *swap = state;

		nnbx_svdf_f32(&p, in + step * BATCH * INPUTS, state, next, out);
		for (size_t i = 0; i < BATCH * units; i++) {
			size_t b = i / units, u = i % units;
			double sum = s->bias ? (double)bias[u] : 0;

			/* The memory consists of the features of earlier steps, so the oracle reads no state. */
			for (size_t f = u * s->rank; f < (u + 1) * s->rank; f++)
				for (size_t ago = 0; ago < s->memory && ago <= step; ago++)
					sum += (double)time[f * s->memory + s->memory - 1 - ago] *
					       oracle_row(feature, f, in + ((step - ago) * BATCH + b) * INPUTS, INPUTS);
			assert_close((double)out[i], oracle_activate(s->activation, sum), i);
		}
		for (size_t f = 0; f < BATCH * (size_t)s->filters; f++)
			assert_true(next[(f + 1) * s->memory - 1] == 0);
		state = next;
		next = swap;
	}
}

static const struct lstm_shape {
	const char *name;
	bool coupled, peepholes, projection, projection_bias;
	uint32_t activation;
	float cell_clip, projection_clip;
} lstm_shapes[] = {
	{ "plain", .activation = NNBX_TANH },
	{ "with coupled gates", .coupled = true, .activation = NNBX_TANH },
	{ "with peepholes", .peepholes = true, .activation = NNBX_TANH },
	{ "with coupled gates and peepholes", .coupled = true, .peepholes = true, .activation = NNBX_TANH },
	{ "with a projection", .projection = true, .activation = NNBX_TANH },
	{ "with a projection and its bias", .projection = true, .projection_bias = true, .activation = NNBX_TANH },
	{ "with everything", .peepholes = true, .projection = true, .projection_bias = true, .activation = NNBX_TANH,
	  .cell_clip = 0.5F, .projection_clip = 0.25F },
	{ "with clipped cells", .activation = NNBX_RELU, .cell_clip = 0.4F },
	{ "with a clipped projection", .projection = true, .activation = NNBX_TANH, .projection_clip = 0.2F },
	{ "with clips below zero, which do nothing", .projection = true, .activation = NNBX_TANH, .cell_clip = -1,
	  .projection_clip = -1 },
	{ "with no activation", .activation = NNBX_NONE },
	{ "with RELU", .peepholes = true, .activation = NNBX_RELU },
	{ "with RELU6", .activation = NNBX_RELU6 },
	{ "with a sigmoid", .coupled = true, .projection = true, .activation = NNBX_SIGMOID },
};

static struct nnbx_lstm_gate some_gate(uint32_t inputs, uint32_t cells, uint32_t outputs, bool peephole)
{
	return (struct nnbx_lstm_gate){ floats_random((size_t)cells * inputs, 1),
		                        floats_random((size_t)cells * outputs, 1),
		                        peephole ? floats_random(cells, 1) : NULL, floats_random(cells, 1) };
}

static void lstm_is_right(const void *row, const void *how)
{
	enum { BATCH = 2, INPUTS = 5, CELLS = 13 };
	const struct lstm_shape *s = row;
	uint32_t outputs = s->projection ? 9 : CELLS;
	struct nnbx_lstm p = { .batch = BATCH, .inputs = INPUTS, .cells = CELLS, .outputs = outputs };
	float *in = floats_random(BATCH * INPUTS, 2), *state = floats_random(BATCH * outputs, 1),
	      *cells = floats_random(BATCH * CELLS, 1);
	float *state_out = no_floats(BATCH * outputs), *out = no_floats(BATCH * outputs);
	float *cells_out = no_floats(BATCH * CELLS), *scratch = no_floats(BATCH * (s->coupled ? 3 : 4) * CELLS);

	(void)how;
	p.activation = s->activation;
	p.forget = some_gate(INPUTS, CELLS, outputs, s->peepholes);
	p.cell = some_gate(INPUTS, CELLS, outputs, false);
	p.output = some_gate(INPUTS, CELLS, outputs, s->peepholes);
	p.input = s->coupled ? (struct nnbx_lstm_gate){ 0 } : some_gate(INPUTS, CELLS, outputs, s->peepholes);
	p.projection = s->projection ? floats_random(outputs * CELLS, 1) : NULL;
	p.projection_bias = s->projection_bias ? floats_random(outputs, 1) : NULL;
	p.cell_clip = s->cell_clip;
	p.projection_clip = s->projection_clip;
	nnbx_lstm_f32(&p, in, state, cells, scratch, state_out, cells_out, out);
	for (size_t i = 0; i < BATCH * CELLS; i++) {
		double hidden;

		assert_close((double)cells_out[i],
		             oracle_lstm_cell(&p, i / CELLS, i % CELLS, in, state, cells, &hidden), i);
	}
	for (size_t i = 0; i < BATCH * outputs; i++)
		assert_close((double)out[i], oracle_lstm_output(&p, i / outputs, i % outputs, in, state, cells), i);
	assert_memory_equal(state_out, out, BATCH * outputs * sizeof(*out));
}

/* ---- numbers of the HAL's own examples ---- */

static void example_of_overflow(const void *row, const void *how)
{
	/* conv_quant8_overflow */
	static const uint8_t filter[] = { 10, 40, 70, 20, 50, 80, 30, 60, 90 };
	static const uint8_t want[] = { 75,  90,  105, 165, 203, 240, 255, 255, 255,
		                        255, 255, 255, 255, 255, 255, 255, 255, 255 };
	struct nnbx_planes p = {
		1, 2,
		3, 3,
		2, 3,
		3, { .stride_w = 1, .stride_h = 1, .filter_w = 1, .filter_h = 1, .dilation_w = 1, .dilation_h = 1 }
	};
	struct nnbx_quants q = { { 0.5F, 0 }, { 0.5F, 0 }, { 1, 0 }, 0, 255 };
	uint8_t in[18], out[18];

	(void)row, (void)how;
	for (size_t i = 0; i < N_OF(in); i++)
		in[i] = (uint8_t)(i + 1);
	nnbx_conv2d_q8(&p, &q, in, filter, (int32_t[3]){ 0 }, out);
	assert_memory_equal(out, want, sizeof(want));
}

static void example_of_lstm2(const void *row, const void *how)
{
	/* lstm2: coupled gates, peepholes, and states of zero, to which recurrent weights add nothing */
	static const float forget[] = { -0.55291498F, -0.42866567F, 0.13056988F, -0.3633365F,
		                        -0.22755712F, 0.28253698F,  0.24407166F, 0.33826375F };
	static const float cell[] = { -0.49770179F, -0.27711356F, -0.09624726F, 0.05100781F,
		                      0.04717243F,  0.48944736F,  -0.38535351F, -0.17212132F };
	static const float output[] = { 0.10725588F,  -0.02335852F, -0.55932593F, -0.09426838F,
		                        -0.44257352F, 0.54939759F,  0.01533556F,  0.42751634F };
	static const float forget_peephole[] = { 0.47485286F, -0.51955009F, -0.24458408F, 0.31544167F };
	static const float output_peephole[] = { -0.17135078F, 0.82760304F, 0.85573703F, -0.77109635F };
	static const float in[] = { 2, 3 }, ones[] = { 1, 1, 1, 1 }, zeros[16];
	static const float want_cells[] = { -0.760444F, -0.0180416F, 0.182264F, -0.0649371F };
	static const float want[] = { -0.36444446F, -0.00352185F, 0.12886585F, -0.05163646F };
	struct nnbx_lstm p = {
		.batch = 1,
		.inputs = 2,
		.cells = 4,
		.outputs = 4,
		.activation = NNBX_TANH,
		.forget = { forget, zeros, forget_peephole, ones },
		.cell = { cell, zeros, NULL, zeros },
		.output = { output, zeros, output_peephole, zeros },
	};
	float scratch[12], state_out[4], cells_out[4], out[4];

	(void)row, (void)how;
	nnbx_lstm_f32(&p, in, zeros, zeros, scratch, state_out, cells_out, out);
	for (size_t i = 0; i < 4; i++) {
		assert_close((double)cells_out[i], (double)want_cells[i], i);
		assert_close((double)out[i], (double)want[i], i);
	}
}

static void example_of_local_response(const void *row, const void *how)
{
	/* local_response_norm_float_4 */
	static const float in[] = { -1.1F, 0.6F, 0.7F, 1.2F, -0.7F, 0.1F };
	static const float want[] = { -0.26492569F, 0.12510864F, 0.14011213F, 0.26726127F, -0.16178755F, 0.0244266F };
	float out[6];

	(void)row, (void)how;
	nnbx_local_response_normalization_f32(1, 6, 1, 2, 9, 4, 0.5F, in, out);
	for (size_t i = 0; i < 6; i++)
		assert_close((double)out[i], (double)want[i], i);
}

static void example_of_resizing(const void *row, const void *how)
{
	/* resize_bilinear_2 */
	static const float in[] = { 3, 4, 6, 10, 9, 10, 12, 16 };
	static const float want[] = { 3, 4, 5, 8, 6, 10, 7, 8, 9, 12, 10, 14, 9, 10, 11, 14, 12, 16 };
	struct nnbx_planes p = { 1, 2, 2, 2, 3, 3, 2 };
	float out[18];

	(void)row, (void)how;
	nnbx_resize_bilinear_f32(&p, NNBX_CORNERS_FIRST, in, out);
	for (size_t i = 0; i < 18; i++)
		assert_close((double)out[i], (double)want[i], i);
}

/* ---- hostile tensors ---- */

static const float nasty[] = { NAN,   -NAN, INFINITY,      -INFINITY, FLT_MAX, -FLT_MAX,     FLT_TRUE_MIN,
	                       -0.0F, 0,    -FLT_TRUE_MIN, 3e9F,      -3e9F,   2147483648.0F };

/* Nasty values everywhere, one kind for each @which; beyond the last kind a random mixture. */
static float *nasty_floats(size_t n, size_t which)
{
	float *x = no_floats(n);

	for (size_t i = 0; i < n; i++)
		x[i] = nasty[which < N_OF(nasty) ? which : next_random() % N_OF(nasty)];
	return x;
}

static bool value_is_within(float x, float min, float max)
{
	return isnan(x) || (x >= min && x <= max);
}

/* Bounds of a result must hold for any input. Sanitizers check the rest. */
static void nasty_windows(size_t which)
{
	struct nnbx_planes p = planes_of(&geometries[10], 6);
	size_t n_out = out_elements(&p);
	float *in = nasty_floats(in_elements(&p), which), *filter = nasty_floats(1000, which + 1),
	      *out = no_floats(n_out);

	nnbx_depthwise_conv2d_f32(&p, in, filter, filter, -1, 1, out);
	for (size_t i = 0; i < n_out; i++)
		assert_true(value_is_within(out[i], -1, 1));
	nnbx_conv2d_f32(&p, in, filter, filter, 0, 6, out);
	for (size_t i = 0; i < n_out; i++)
		assert_true(value_is_within(out[i], 0, 6));
	p.out_c = p.in_c;
	for (size_t k = 0; k < N_OF(pools); k++) {
		pools[k].f32(&p, in, -1, 1, out);
		for (size_t i = 0; i < out_elements(&p); i++)
			assert_true(value_is_within(out[i], -1, 1));
	}
	nnbx_resize_bilinear_f32(&p, NNBX_CORNERS_FIRST, in, out);
}

static void nasty_elements(size_t which)
{
	float *in = nasty_floats(60, which), *out = no_floats(60);
	struct nnbx_pairing p = { 1, { 60 }, { 1 }, { 1 } };

	nnbx_add_f32(&p, in, in, -1, 1, out);
	for (size_t i = 0; i < 60; i++)
		assert_true(value_is_within(out[i], -1, 1));
	nnbx_mul_f32(&p, in, in, -1, 1, out);
	nnbx_floor_f32(60, in, out);
	nnbx_logistic_f32(60, in, out);
	for (size_t i = 0; i < 60; i++)
		assert_true(value_is_within(out[i], 0, 1));
	nnbx_tanh_f32(60, in, out);
	for (size_t i = 0; i < 60; i++)
		assert_true(value_is_within(out[i], -1, 1));
	nnbx_softmax_f32(6, 10, 1, 1, in, out);
	for (size_t i = 0; i < 60; i++)
		assert_true(value_is_within(out[i], 0, 1));
	nnbx_l2_normalization_f32(6, 10, 1, in, out);
	for (size_t i = 0; i < 60; i++)
		assert_true(value_is_within(out[i], -1.001F, 1.001F));
	nnbx_local_response_normalization_f32(6, 10, 1, 2, in[0], in[1], in[2], in, out);
}

static void nasty_states(size_t which)
{
	float *x = nasty_floats(100, which), *a = no_floats(100), *b = no_floats(100), *c = no_floats(100);
	float *d = no_floats(100);
	struct nnbx_rnn r = { 2, 3, 4, NNBX_RELU6, x, x, x };
	struct nnbx_svdf s = { 2, 3, 4, 3, 2, NNBX_RELU1, x, x, x };
	struct nnbx_lstm_gate gate = { x, x, x, x };
	struct nnbx_lstm l = { 2, 3, 4, 4, NNBX_TANH, gate, gate, gate, gate, x, x, x[0], 2 };

	nnbx_rnn_f32(&r, x, x, a, b);
	for (size_t i = 0; i < 8; i++)
		assert_true(value_is_within(b[i], 0, 6));
	nnbx_svdf_f32(&s, x, x, a, b);
	for (size_t i = 0; i < 4; i++)
		assert_true(value_is_within(b[i], -1, 1));
	nnbx_lstm_f32(&l, x, x, x, a, b, c, d);
	for (size_t i = 0; i < 8; i++)
		assert_true(value_is_within(d[i], -2, 2));
}

/* Scales that a validator may accept: results are bytes within their bounds. */
static void nasty_scales(size_t which)
{
	float scale = fabsf(nasty[which % N_OF(nasty)]);
	uint8_t *in = bytes_random(60, 128, 128), *out = array_fresh(60);
	struct nnbx_pairing p = { 1, { 60 }, { 1 }, { 1 } };
	struct nnbx_quants all[] = {
		{ { scale, 0 }, { 1, 255 }, { 1, 100 }, 20, 200 },
		{ { 1, 0 }, { scale, 255 }, { 1, 100 }, 20, 200 },
		{ { 1, 0 }, { 1, 255 }, { scale, 100 }, 20, 200 },
		{ { scale, 0 }, { scale, 255 }, { scale, 100 }, 20, 200 },
	};
	uint8_t low, high;

	for (size_t k = 0; k < N_OF(all); k++) {
		nnbx_add_q8(&p, &all[k], in, in, out);
		for (size_t i = 0; i < 60; i++)
			assert_in_range(out[i], 20, 200);
		nnbx_mul_q8(&p, &all[k], in, in, out);
		for (size_t i = 0; i < 60; i++)
			assert_in_range(out[i], 20, 200);
		nnbx_quant_range(all[k].out, NNB_FUSED_RELU6, &low, &high);
		nnbx_logistic_q8(60, all[k].a, in, out);
		nnbx_tanh_q8(60, all[k].a, in, out);
		nnbx_softmax_q8(6, 10, 1, all[k].a, nasty[which % N_OF(nasty)], in, out);
	}
}

static void any_value(const void *row, const void *how)
{
	(void)how;
	for (size_t which = 0; which < N_OF(nasty) + 8; which++) {
		(*(void (*const *)(size_t))row)(which);
		assert_int_equal(tear_down(NULL), 0);
	}
}

static void (*const nasties[])(size_t) = { nasty_windows, nasty_elements, nasty_states, nasty_scales };
static const char *const nasty_names[] = { "convolutions, pools, resizing", "elements and rows", "RNN, SVDF, LSTM",
	                                   "scales of any size" };

static void nasty_hashes(const void *row, const void *how)
{
	struct nnbx_lsh_projection p = { 2, 3, 4, 8, NNBX_LSH_DENSE };
	char *scratch = array_fresh(nnbx_lsh_projection_scratch(&p));
	int32_t *out = array_fresh(6 * sizeof(*out));

	(void)row, (void)how;
	for (size_t which = 0; which < N_OF(nasty) + 8; which++) {
		float x[8], in[8];

		for (size_t i = 0; i < 8; i++) {
			x[i] = nasty[which < N_OF(nasty) ? which : next_random() % N_OF(nasty)];
			in[i] = x[7 - i];
		}
		nnbx_lsh_projection(&p, x, in, x, scratch, out);
		for (size_t i = 0; i < 6; i++)
			/* weights of zero: the sum is zero, which is not positive */
			assert_in_range(out[i], 0, x[0] != 0);
	}
}

/* ---- the tests ---- */

static void add_window_tests(void)
{
	for (size_t i = 0; i < N_OF(geometries); i++) {
		const struct geometry *g = &geometries[i];

		for (size_t k = 0; k < N_OF(convolutions); k++)
			add_test(conv_f32, g, &convolutions[k], "%s f32: %s %s", convolutions[k].name, g->name,
			         g->rules);
		for (size_t k = 0; k < N_OF(quantisations); k++) {
			const struct quantisation *q = &quantisations[k];

			add_test(conv2d_q8, g, q, "conv2d q8, %s: %s %s O-34", q->name, g->name, g->rules);
			add_test(depthwise_conv2d_q8, g, q, "depthwise conv2d q8, %s: %s %s O-34", q->name, g->name,
			         g->rules);
		}
		for (size_t k = 0; k < N_OF(pools); k++)
			add_test(pool_f32, g, &pools[k], "%s f32: %s %s", pools[k].name, g->name, g->rules);
		for (size_t k = 0; k < N_OF(pools) && pools[k].q8; k++)
			add_test(pool_q8, g, &pools[k], "%s q8: %s %s", pools[k].name, g->name, g->rules);
	}
	for (size_t i = 0; i < N_OF(resizings); i++)
		add_test(resize_is_right, &resizings[i], NULL, "resize: %s 7.6 row 23", resizings[i].name);
}

static void add_sum_tests(void)
{
	for (size_t i = 0; i < N_OF(connections); i++) {
		add_test(connect_f32, &connections[i], NULL, "fully connected f32: %s", connections[i].name);
		for (size_t k = 0; k < N_OF(quantisations); k++)
			add_test(connect_q8, &connections[i], &quantisations[k], "fully connected q8: %s, %s O-34",
			         connections[i].name, quantisations[k].name);
	}
	for (size_t i = 0; i < N_OF(roundings); i++)
		add_test(round_as_ruled, &roundings[i], NULL, "rescaling: %s O-34", roundings[i].name);
	add_test(just_below_1, NULL, NULL, "rescaling: a factor of just below 1 O-34");
	add_test(sums_beyond_int32, NULL, NULL, "sums beyond int32 saturate O-34");
	for (size_t i = 0; i < N_OF(meetings); i++)
		for (size_t k = 0; k < N_OF(pair_kernels); k++) {
			add_test(pair_f32, &meetings[i], &pair_kernels[k], "%s f32: %s O-32", pair_kernels[k].name,
			         meetings[i].name);
			if (dims_product(meetings[i].out_rank, meetings[i].out))
				add_test(pair_q8, &meetings[i], &pair_kernels[k], "%s q8: %s O-32 O-33 O-35",
				         pair_kernels[k].name, meetings[i].name);
		}
	add_test(strangers_do_not_meet, NULL, NULL, "shapes that do not meet O-32");
}

static void add_element_tests(void)
{
	static const float betas[] = { 1, 0.03F, 4 };

	for (size_t i = 0; i < N_OF(ranges); i++)
		add_test(range_is, &ranges[i], NULL, "quantised bounds: %s O-33", ranges[i].name);
	for (size_t i = 0; i < N_OF(float_functions); i++)
		add_test(function_f32, &float_functions[i], NULL, "%s f32, also in place", float_functions[i].name);
	for (size_t i = 0; i < N_OF(byte_functions); i++)
		add_test(function_q8, &byte_functions[i], NULL, "%s q8, of all bytes", byte_functions[i].name);
	add_test(clamping_is_right, NULL, NULL, "clamps: 7.6 rows 19-21");
	add_test(dequantizing_is_right, NULL, NULL, "dequantize O-2");
	for (size_t i = 0; i < N_OF(row_shapes); i++) {
		for (size_t k = 0; k < N_OF(betas); k++) {
			add_test(softmax_f32, &row_shapes[i], &betas[k], "softmax f32, beta %g: %s", (double)betas[k],
			         row_shapes[i].name);
			add_test(softmax_q8, &row_shapes[i], &betas[k], "softmax q8, beta %g: %s", (double)betas[k],
			         row_shapes[i].name);
		}
		add_test(l2_normalization, &row_shapes[i], NULL, "l2 normalization: %s", row_shapes[i].name);
		add_test(local_response_normalization, &row_shapes[i], NULL, "local response normalization: %s",
		         row_shapes[i].name);
	}
	add_test(no_number_is_the_low_bound, NULL, NULL, "softmax q8: what is no number becomes the low bound");
	add_test(zeros_stay_zeros, NULL, NULL, "l2 normalization of nothing, of the largest, of the least");
}

static void add_layout_tests(void)
{
	for (size_t k = 0; k < N_OF(element_sizes); k++) {
		const size_t *elem = &element_sizes[k];

		for (size_t i = 0; i < N_OF(blockings); i++)
			add_test(blocks_move, &blockings[i], elem, "depth to space and back, %zu bytes: %s", *elem,
			         blockings[i].name);
		add_test(concatenating_is_right, NULL, elem, "concatenation, %zu bytes", *elem);
		add_test(embedding_is_right, NULL, elem, "embedding lookup, %zu bytes", *elem);
		add_test(hashtable_is_right, NULL, elem, "hashtable lookup, %zu bytes: a miss is zeros", *elem);
	}
	add_test(indexes_outside, NULL, NULL, "embedding lookup: an index outside fails");
	add_test(keys_out_of_order, NULL, NULL, "hashtable lookup: keys out of order only miss");
	for (size_t i = 0; i < N_OF(fingerprints); i++)
		add_test(fingerprint_is, &fingerprints[i], NULL, "fingerprint of %zu bytes", fingerprints[i].n);
	for (size_t i = 0; i < N_OF(projections); i++)
		add_test(projecting_is_right, &projections[i], NULL, "lsh projection: %s", projections[i].name);
	add_test(many_bits, NULL, NULL, "lsh projection of 32 bits and more");
}

static void add_state_tests(void)
{
	for (size_t i = 0; i < N_OF(activations); i++)
		add_test(rnn_is_right, &activations[i], NULL, "rnn with activation %u", activations[i]);
	for (size_t i = 0; i < N_OF(svdf_shapes); i++)
		add_test(svdf_is_right, &svdf_shapes[i], NULL, "svdf %s, step by step", svdf_shapes[i].name);
	for (size_t i = 0; i < N_OF(lstm_shapes); i++)
		add_test(lstm_is_right, &lstm_shapes[i], NULL, "lstm %s", lstm_shapes[i].name);
}

int main(void)
{
	int failed;

	add_window_tests();
	add_sum_tests();
	add_element_tests();
	add_layout_tests();
	add_state_tests();
	add_test(example_of_overflow, NULL, NULL, "conv2d q8: the HAL's example of overflow O-34");
	add_test(example_of_lstm2, NULL, NULL, "lstm: the HAL's example with coupled gates and peepholes");
	add_test(example_of_local_response, NULL, NULL, "local response normalization: the HAL's example");
	add_test(example_of_resizing, NULL, NULL, "resize: the HAL's example");
	for (size_t i = 0; i < N_OF(nasties); i++)
		add_test(any_value, &nasties[i], NULL, "any value does no harm: %s", nasty_names[i]);
	add_test(nasty_hashes, NULL, NULL, "any value does no harm: lsh projection");
	failed = cmocka_run_group_tests_name("kernels", unit_tests, NULL, NULL);
	nnbx_narrow = true;
	return failed + cmocka_run_group_tests_name("kernels, without the vectors that only some cpus have", unit_tests,
	                                            NULL, NULL);
}

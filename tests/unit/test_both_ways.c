/*
 * test_both_ways.c -- XNNPACK and the plain kernels compute the same, for operations of random geometry and
 * quantisation; and kernels may read past inputs that end at the end of a pool of one page.
 *
 * The driver is driver_both.c, loaded by its path as a vendor's would be.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "base.h"
#include "unit/device_helpers.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	return (uint32_t)(lcg_next(&random_state) >> 33) % n;
}

static uint32_t between(uint32_t least, uint32_t most)
{
	return least + random_below(most - least + 1);
}

static float random_float(void)
{
	return (float)random_below(20001) / 1000 - 10;
}

/* ---- models of one operation ---- */

struct maker {
	struct nnb_model *m;
	bool quant;
	uint32_t inputs[8], n_inputs; /* operands of the operation */
	uint32_t model_inputs[2], n_model_inputs;
};

static uint32_t tensor(struct maker *k, uint32_t rank, const uint32_t *dims, float scale, int32_t zero_point)
{
	struct nnb_operand o = { .type = k->quant ? NNB_TENSOR_QUANT8_ASYMM : NNB_TENSOR_FLOAT32, .rank = rank };

	memcpy(o.dims, dims, rank * sizeof(*dims));
	if (k->quant) {
		o.scale = scale;
		o.zero_point = zero_point;
	}
	return operand(k->m, &o);
}

static void input(struct maker *k, uint32_t rank, const uint32_t *dims, float scale, int32_t zero_point)
{
	uint32_t index = tensor(k, rank, dims, scale, zero_point);

	k->inputs[k->n_inputs++] = k->model_inputs[k->n_model_inputs++] = index;
}

static void scalar(struct maker *k, int32_t value)
{
	k->inputs[k->n_inputs++] = int_scalar(k->m, value);
}

static void real_scalar(struct maker *k, float value)
{
	uint32_t index = operand(k->m, &(struct nnb_operand){ .type = NNB_FLOAT32 });

	assert_int_equal(nnb_model_value(k->m, index, &value, sizeof(value)), 0);
	k->inputs[k->n_inputs++] = index;
}

/* A constant of small numbers, so that sums stay in the range where float32 is exact. */
static void constant(struct maker *k, uint32_t rank, const uint32_t *dims, float scale, int32_t zero_point)
{
	uint32_t index = tensor(k, rank, dims, scale, zero_point), n = 1;
	uint8_t bytes[4 * 8192];

	for (uint32_t d = 0; d < rank; d++)
		n *= dims[d];
	assert_true(n <= 8192);
	for (uint32_t i = 0; i < n; i++) {
		float f = random_float() / 10;

		bytes[i] = k->quant ? (uint8_t)random_below(256) : 0;
		if (!k->quant)
			memcpy(bytes + 4 * i, &f, 4);
	}
	assert_int_equal(nnb_model_value(k->m, index, bytes, k->quant ? n : 4 * n), 0);
	k->inputs[k->n_inputs++] = index;
}

static void bias(struct maker *k, uint32_t n, float scale)
{
	struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { n }, .scale = scale };
	int32_t values[512];

	if (!k->quant) {
		constant(k, 1, &n, 0, 0);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		values[i] = (int32_t)random_below(2000) - 1000;
	k->inputs[k->n_inputs] = operand(k->m, &o);
	assert_int_equal(nnb_model_value(k->m, k->inputs[k->n_inputs], values, 4 * n), 0);
	k->n_inputs++;
}

static uint32_t same_out(uint32_t in, uint32_t stride)
{
	return (in + stride - 1) / stride;
}

static uint32_t valid_out(uint32_t in, uint32_t filter, uint32_t stride)
{
	return (in - filter) / stride + 1;
}

struct window {
	uint32_t in[4], filter_h, filter_w, stride_h, stride_w, out_h, out_w;
	bool same;
};

static struct window random_window(void)
{
	struct window w = { .in = { between(1, 2), between(3, 12), between(3, 12), between(1, 9) },
		            .filter_h = between(1, 3),
		            .filter_w = between(1, 3),
		            .stride_h = between(1, 3),
		            .stride_w = between(1, 3),
		            .same = random_below(2) };

	w.out_h = w.same ? same_out(w.in[1], w.stride_h) : valid_out(w.in[1], w.filter_h, w.stride_h);
	w.out_w = w.same ? same_out(w.in[2], w.stride_w) : valid_out(w.in[2], w.filter_w, w.stride_w);
	return w;
}

static void strides(struct maker *k, const struct window *w)
{
	scalar(k, w->same ? NNB_PADDING_SAME : NNB_PADDING_VALID);
	scalar(k, (int32_t)w->stride_w);
	scalar(k, (int32_t)w->stride_h);
}

/* Each function returns its output. Output scales are large enough for HAL 1.0 (O-34). */

static uint32_t make_conv(struct maker *k)
{
	struct window w = random_window();
	uint32_t out_c = between(1, 9);

	input(k, 4, w.in, 0.5f, 120);
	constant(k, 4, (uint32_t[]){ out_c, w.filter_h, w.filter_w, w.in[3] }, 0.25f, 130);
	bias(k, out_c, 0.125f);
	strides(k, &w);
	scalar(k, (int32_t)random_below(4));
	return tensor(k, 4, (uint32_t[]){ w.in[0], w.out_h, w.out_w, out_c }, 31, 100);
}

static uint32_t make_depthwise(struct maker *k)
{
	struct window w = random_window();
	uint32_t multiplier = between(1, 3), out_c = w.in[3] * multiplier;

	input(k, 4, w.in, 0.5f, 120);
	constant(k, 4, (uint32_t[]){ 1, w.filter_h, w.filter_w, out_c }, 0.25f, 130);
	bias(k, out_c, 0.125f);
	strides(k, &w);
	scalar(k, (int32_t)multiplier);
	scalar(k, (int32_t)random_below(4));
	return tensor(k, 4, (uint32_t[]){ w.in[0], w.out_h, w.out_w, out_c }, 13, 100);
}

static uint32_t make_pool(struct maker *k)
{
	struct window w = random_window();

	input(k, 4, w.in, 0.05f, 77);
	strides(k, &w);
	scalar(k, (int32_t)w.filter_w);
	scalar(k, (int32_t)w.filter_h);
	scalar(k, (int32_t)random_below(4));
	return tensor(k, 4, (uint32_t[]){ w.in[0], w.out_h, w.out_w, w.in[3] }, 0.05f, 77);
}

static uint32_t make_fully_connected(struct maker *k)
{
	uint32_t batch = between(1, 4), size = between(1, 40), units = between(1, 20);

	input(k, 2, (uint32_t[]){ batch, size }, 0.5f, 120);
	constant(k, 2, (uint32_t[]){ units, size }, 0.25f, 130);
	bias(k, units, 0.125f);
	scalar(k, (int32_t)random_below(4));
	return tensor(k, 2, (uint32_t[]){ batch, units }, 29, 100);
}

/* Two operands that may broadcast (O-32): any dimension of either may be 1, and leading ones may be missing. */
static uint32_t make_pair(struct maker *k, float out_scale)
{
	uint32_t rank = between(1, 4), dims[2][4], out[4], skip[2] = { 0, 0 };

	skip[random_below(2)] = random_below(rank);
	for (uint32_t d = 0; d < rank; d++) {
		out[d] = between(1, 5);
		dims[0][d] = dims[1][d] = out[d];
		if (random_below(3) == 0)
			dims[random_below(2)][d] = 1;
	}
	for (int i = 0; i < 2; i++)
		for (uint32_t d = 0; d < skip[i]; d++)
			out[d] = dims[1 - i][d];
	for (int i = 0; i < 2; i++)
		input(k, rank - skip[i], dims[i] + skip[i], i ? 0.5f : 0.125f, i ? 10 : 128);
	scalar(k, (int32_t)random_below(4));
	return tensor(k, rank, out, out_scale, 99);
}

static uint32_t make_add(struct maker *k)
{
	return make_pair(k, 0.6f);
}

static uint32_t make_mul(struct maker *k)
{
	return make_pair(k, 12);
}

static uint32_t each(struct maker *k, float scale, int32_t zero_point, float out_scale, int32_t out_zero_point)
{
	uint32_t dims[4] = { between(1, 3), between(1, 5), between(1, 5), between(1, 9) };
	uint32_t rank = between(1, 4);

	input(k, rank, dims, scale, zero_point);
	return tensor(k, rank, dims, out_scale, out_zero_point);
}

static uint32_t make_relu(struct maker *k)
{
	return each(k, 0.05f, 128, 0.05f, 128);
}

static uint32_t make_logistic(struct maker *k)
{
	return each(k, 0.07f, 128, 1.0f / 256, 0);
}

static uint32_t make_softmax(struct maker *k)
{
	uint32_t dims[4] = { between(1, 3), between(1, 4), between(1, 4), between(1, 20) };
	uint32_t rank = random_below(2) ? 2 : 4;

	input(k, rank, dims, 0.07f, 128);
	/* XNNPACK gets a quantised tensor only if it is a temporary, which no other process can write */
	if (k->quant) {
		uint32_t private = tensor(k, rank, dims, 0.07f, 128);

		assert_true(nnb_model_operation(k->m, NNB_RELU, k->inputs, 1, &private, 1) >= 0);
		k->inputs[0] = private;
	}
	real_scalar(k, random_below(2) ? 1.0f : 0.3f);
	return tensor(k, rank, dims, 1.0f / 256, 0);
}

static uint32_t make_dequantize(struct maker *k)
{
	uint32_t dims[2] = { between(1, 9), between(1, 9) };

	input(k, 2, dims, 0.3f, 50);
	k->quant = false;
	return tensor(k, 2, dims, 0, 0);
}

static uint32_t make_resize(struct maker *k)
{
	uint32_t in[4] = { between(1, 2), between(1, 7), between(1, 7), between(1, 5) }, w = between(1, 12),
		 h = between(1, 12);

	input(k, 4, in, 0, 0);
	scalar(k, (int32_t)w);
	scalar(k, (int32_t)h);
	return tensor(k, 4, (uint32_t[]){ in[0], h, w, in[3] }, 0, 0);
}

static uint32_t make_depth_to_space(struct maker *k)
{
	uint32_t block = between(1, 3), in[4] = { between(1, 2), between(1, 4), between(1, 4), between(1, 3) };
	uint32_t out[4] = { in[0], in[1] * block, in[2] * block, in[3] };

	in[3] *= block * block;
	input(k, 4, in, 0.5f, 3);
	scalar(k, (int32_t)block);
	return tensor(k, 4, out, 0.5f, 3);
}

static const struct row {
	const char *name;
	enum nnb_op op;
	uint32_t (*make)(struct maker *k);
	bool quant;
} rows[] = {
	{ "ADD float32", NNB_ADD, make_add, false },
	{ "ADD quant8", NNB_ADD, make_add, true },
	{ "MUL float32", NNB_MUL, make_mul, false },
	{ "MUL quant8", NNB_MUL, make_mul, true },
	{ "CONV_2D float32", NNB_CONV_2D, make_conv, false },
	{ "CONV_2D quant8", NNB_CONV_2D, make_conv, true },
	{ "DEPTHWISE_CONV_2D float32", NNB_DEPTHWISE_CONV_2D, make_depthwise, false },
	{ "DEPTHWISE_CONV_2D quant8", NNB_DEPTHWISE_CONV_2D, make_depthwise, true },
	{ "FULLY_CONNECTED float32", NNB_FULLY_CONNECTED, make_fully_connected, false },
	{ "FULLY_CONNECTED quant8", NNB_FULLY_CONNECTED, make_fully_connected, true },
	{ "AVERAGE_POOL_2D float32", NNB_AVERAGE_POOL_2D, make_pool, false },
	{ "AVERAGE_POOL_2D quant8", NNB_AVERAGE_POOL_2D, make_pool, true },
	{ "MAX_POOL_2D float32", NNB_MAX_POOL_2D, make_pool, false },
	{ "MAX_POOL_2D quant8", NNB_MAX_POOL_2D, make_pool, true },
	{ "RELU float32", NNB_RELU, make_relu, false },
	{ "RELU quant8", NNB_RELU, make_relu, true },
	{ "RELU1 float32", NNB_RELU1, make_relu, false },
	{ "RELU1 quant8", NNB_RELU1, make_relu, true },
	{ "RELU6 float32", NNB_RELU6, make_relu, false },
	{ "RELU6 quant8", NNB_RELU6, make_relu, true },
	{ "FLOOR float32", NNB_FLOOR, make_relu, false },
	{ "LOGISTIC float32", NNB_LOGISTIC, make_logistic, false },
	{ "LOGISTIC quant8", NNB_LOGISTIC, make_logistic, true },
	{ "SOFTMAX float32", NNB_SOFTMAX, make_softmax, false },
	{ "SOFTMAX quant8", NNB_SOFTMAX, make_softmax, true },
	{ "DEQUANTIZE quant8", NNB_DEQUANTIZE, make_dequantize, true },
	{ "RESIZE_BILINEAR float32", NNB_RESIZE_BILINEAR, make_resize, false },
	{ "DEPTH_TO_SPACE float32", NNB_DEPTH_TO_SPACE, make_depth_to_space, false },
	{ "DEPTH_TO_SPACE quant8", NNB_DEPTH_TO_SPACE, make_depth_to_space, true },
};

static struct nnb_model *make_model(const struct row *row)
{
	struct maker k = { .quant = row->quant };
	uint32_t out;

	assert_int_equal(nnb_model_new(&k.m, row->name, NNB_HAL_1_0), 0);
	out = row->make(&k);
	assert_true(nnb_model_operation(k.m, row->op, k.inputs, k.n_inputs, &out, 1) >= 0);
	assert_int_equal(nnb_model_finish(k.m, k.model_inputs, k.n_model_inputs, &out, 1), 0);
	return k.m;
}

/* ---- runs with inputs at the very end of their pools ---- */

static void fill(const struct nnb_operand *o, void *at, uint64_t bytes)
{
	float f;

	for (uint64_t i = 0; i < bytes; i++)
		if (o->type == NNB_TENSOR_QUANT8_ASYMM) {
			((uint8_t *)at)[i] = (uint8_t)random_below(256);
		} else if (i % 4 == 0) {
			f = random_float();
			memcpy((char *)at + i, &f, 4);
		}
}

struct run {
	struct nnb_memory pools[3];
	struct nnb_mapping *mappings[3];
	struct nnb_argument args[3];
};

/* Place argument @i, operand @index, at the end of a pool of its own; the pool is a whole number of pages. */
static void place(struct run *r, uint32_t i, const struct nnb_model *m, uint32_t index)
{
	const struct nnb_operand *o = &m->operands[index];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes, size;

	assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
	size = (bytes + page - 1) / page * page;
	assert_int_equal(nnb_memory_ashmem(&r->pools[i], size), 0);
	assert_int_equal(nnb_map(&r->mappings[i], &r->pools[i]), 0);
	r->args[i].location = (struct nnb_location){ i, (uint32_t)(size - bytes), (uint32_t)bytes };
	fill(o, (char *)nnb_mapping_data(r->mappings[i]) + size - bytes, bytes);
}

static void run_both_ways(struct nnb_prepared *p)
{
	const struct nnb_model *m = nnb_prepared_model(p);
	struct nnb_reason reason = { "" };
	struct run r = { 0 };
	struct nnb_request request = { .inputs = r.args,
		                       .outputs = r.args + m->n_inputs,
		                       .n_inputs = m->n_inputs,
		                       .n_outputs = 1,
		                       .n_pools = m->n_inputs + 1,
		                       .pools = r.pools };

	for (uint32_t i = 0; i < m->n_inputs; i++)
		place(&r, i, m, m->inputs[i]);
	place(&r, m->n_inputs, m, m->outputs[0]);
	if (nnb_execute(p, &request, NULL, &reason))
		fail_msg("%s", reason.text);
	for (uint32_t i = 0; i <= m->n_inputs; i++) {
		nnb_mapping_unref(r.mappings[i]);
		nnb_memory_close(&r.pools[i]);
	}
}

static void both_kernels_give_the_same(void **state)
{
	const struct row *row = *state;
	struct nnb_device *d = open_device(DRIVER_BOTH);
	void *object = dlopen(DRIVER_BOTH, RTLD_NOW | RTLD_NOLOAD);
	const unsigned *both_ways = object ? dlsym(object, "nnb_both_ways") : NULL;
	unsigned before;

	assert_non_null(both_ways);
	before = both_ways[row->op];
	random_state = (uint64_t)(row - rows) + 1;
	for (int i = 0; i < 60; i++) {
		struct nnb_model *m = make_model(row);
		struct nnb_prepared *p = prepared(d, m);

		run_both_ways(p);
		run_both_ways(p); /* with other addresses than at set-up */
		nnb_prepared_unref(p);
		nnb_model_free(m);
	}
	/* XNNPACK has no quant8 DEPTH_TO_SPACE; of the other rows it takes most */
	assert_true(both_ways[row->op] - before >= (row->make == make_depth_to_space && row->quant ? 0 : 50));
	dlclose(object);
	nnb_device_unref(d);
}

int main(void)
{
	struct CMUnitTest tests[N_OF(rows)];

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			                        .test_func = both_kernels_give_the_same,
			                        .initial_state = (void *)&rows[i] };
	return cmocka_run_group_tests_name("XNNPACK and the kernels agree", tests, NULL, NULL);
}

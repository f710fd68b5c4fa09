/*
 * test_window.c -- the geometry of convolutions and pools that drivers get (O-30, O-31), and fused ranges
 * (O-33).
 */
#include <errno.h>
#include <math.h>

#include "unit/device_helpers.h"

enum { OPERANDS_MAX = 16, SCALARS_MAX = 9 };

/* One operation: operand i is its input i. Tensors come first, then scalars, all of them known. */
struct bench {
	struct nnb_operand operands[OPERANDS_MAX];
	struct nnb_shape shapes[OPERANDS_MAX];
	int32_t scalars[SCALARS_MAX];
	const void *constants[OPERANDS_MAX];
	uint32_t inputs[OPERANDS_MAX];
	struct nnb_operation op;
	struct nnb_model model;
	struct nnb_graph graph;
};

static bool is_pool(enum nnb_op op)
{
	return op != NNB_CONV_2D && op != NNB_DEPTHWISE_CONV_2D && op != NNB_GROUPED_CONV_2D;
}

static struct nnb_shape shape(uint32_t n, uint32_t h, uint32_t w, uint32_t c)
{
	return (struct nnb_shape){ .rank = 4, .dims = { n, h, w, c }, .known = true };
}

/* An image of @h by @w, a filter of @fh by @fw where that is a tensor, and the scalars. */
static void bench_init(struct bench *b, enum nnb_op op, const uint32_t in[2], const uint32_t filter[2],
                       const int32_t *scalars, uint32_t n_scalars)
{
	uint32_t n_tensors = is_pool(op) ? 1 : 3, n = n_tensors + n_scalars;
	struct nnb_shape shapes[] = { shape(1, in[0], in[1], 1),
		                      shape(1, filter[0], filter[1], 1),
		                      { .rank = 1, .dims = { 1 }, .known = true } };

	*b = (struct bench){ .op = { .type = op, .n_inputs = n } };
	memcpy(b->scalars, scalars, n_scalars * sizeof(*scalars));
	for (uint32_t i = 0; i < n; i++) {
		b->inputs[i] = i;
		b->operands[i].type = i < n_tensors ? NNB_TENSOR_FLOAT32 : NNB_INT32;
		b->shapes[i] = i < n_tensors ? shapes[i] : (struct nnb_shape){ .known = true };
		b->constants[i] = i < n_tensors ? NULL : &b->scalars[i - n_tensors];
	}
	b->op.inputs = b->inputs;
	b->model = (struct nnb_model){
		.hal = NNB_HAL_1_0, .n_operands = n, .operands = b->operands, .n_operations = 1, .operations = &b->op
	};
	b->graph = (struct nnb_graph){ .model = &b->model, .constants = b->constants, .shapes = b->shapes };
}

static int window(struct bench *b, struct nnb_window *ret)
{
	return nnb_window(&b->graph, 0, b->shapes, ret);
}

/* ---- rows ---- */

#define SCALARS(...) { __VA_ARGS__ }, sizeof((const int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)
#define SAME NNB_PADDING_SAME
#define VALID NNB_PADDING_VALID

/* Images and filters by height and width; scalars in the order of the HAL: widths first. */
static const struct row {
	const char *name;
	enum nnb_op op;
	uint32_t in[2], filter[2];
	int32_t scalars[SCALARS_MAX];
	uint32_t n_scalars;
	struct nnb_window want; /* left, right, top, bottom; stride w, h; filter w, h; multiplier; fused */
	int r;
} rows[] = {
	/* clang-format off */
	{ "a pool, explicit: each number is where it belongs",
	  NNB_AVERAGE_POOL_2D, { 20, 30 }, { 0 }, SCALARS(1, 2, 3, 4, 5, 6, 7, 8, 3), { 1, 2, 3, 4, 5, 6, 7, 8, 1, 3 } },
	{ "a pool, VALID: each number is where it belongs",
	  NNB_MAX_POOL_2D, { 20, 30 }, { 0 }, SCALARS(VALID, 5, 6, 7, 8, 2), { 0, 0, 0, 0, 5, 6, 7, 8, 1, 2 } },
	{ "a convolution, explicit: each number is where it belongs",
	  NNB_CONV_2D, { 20, 30 }, { 8, 7 }, SCALARS(1, 2, 3, 4, 5, 6, 1), { 1, 2, 3, 4, 5, 6, 7, 8, 1, 1 } },
	{ "a convolution, VALID: each number is where it belongs",
	  NNB_CONV_2D, { 20, 30 }, { 8, 7 }, SCALARS(VALID, 5, 6, 3), { 0, 0, 0, 0, 5, 6, 7, 8, 1, 3 } },
	{ "a depthwise convolution, explicit: each number is where it belongs",
	  NNB_DEPTHWISE_CONV_2D, { 20, 30 }, { 8, 7 }, SCALARS(1, 2, 3, 4, 5, 6, 9, 2), { 1, 2, 3, 4, 5, 6, 7, 8, 9, 2 } },
	{ "a depthwise convolution, VALID: each number is where it belongs",
	  NNB_DEPTHWISE_CONV_2D, { 20, 30 }, { 8, 7 }, SCALARS(VALID, 5, 6, 9, 0), { 0, 0, 0, 0, 5, 6, 7, 8, 9, 0 } },
	{ "SAME: 3 on 5 by 1 pads 1 and 1",
	  NNB_L2_POOL_2D, { 5, 5 }, { 0 }, SCALARS(SAME, 1, 1, 3, 3, 0), { 1, 1, 1, 1, 1, 1, 3, 3, 1, 0 } },
	{ "SAME: 2 on 5 by 1 pads the end",
	  NNB_L2_POOL_2D, { 5, 5 }, { 0 }, SCALARS(SAME, 1, 1, 2, 2, 0), { 0, 1, 0, 1, 1, 1, 2, 2, 1, 0 } },
	{ "SAME: no rows give no rows",
	  NNB_CONV_2D, { 0, 6 }, { 3, 3 }, SCALARS(SAME, 2, 3, 0), { 0, 1, 0, 0, 2, 3, 3, 3, 1, 0 } },
	{ "SAME: no rows give no rows, in groups, too",
	  NNB_GROUPED_CONV_2D, { 0, 6 }, { 3, 3 }, SCALARS(SAME, 2, 3, 1, 0, 0), { 0, 1, 0, 0, 2, 3, 3, 3, 1, 0 } },
	{ "VALID: the filter is larger than no rows",
	  NNB_GROUPED_CONV_2D, { 0, 6 }, { 3, 3 }, SCALARS(VALID, 2, 3, 1, 0, 0), { 0 }, -EINVAL },
	{ "SAME: 4 on 5 by 1 pads 1 and 2",
	  NNB_CONV_2D, { 5, 5 }, { 4, 4 }, SCALARS(SAME, 1, 1, 0), { 1, 2, 1, 2, 1, 1, 4, 4, 1, 0 } },
	{ "SAME: 3 on 224 by 2 pads the end",
	  NNB_CONV_2D, { 224, 224 }, { 3, 3 }, SCALARS(SAME, 2, 2, 0), { 0, 1, 0, 1, 2, 2, 3, 3, 1, 0 } },
	{ "SAME: 5 on 7 by 3, and 2 on 7 by 3",
	  NNB_MAX_POOL_2D, { 7, 7 }, { 0 }, SCALARS(SAME, 3, 3, 5, 2, 0), { 2, 2, 0, 1, 3, 3, 5, 2, 1, 0 } },
	{ "SAME: what is stepped over needs no padding",
	  NNB_MAX_POOL_2D, { 10, 10 }, { 0 }, SCALARS(SAME, 5, 5, 2, 2, 0), { 0, 0, 0, 0, 5, 5, 2, 2, 1, 0 } },
	{ "SAME: width and height apart",
	  NNB_DEPTHWISE_CONV_2D, { 6, 9 }, { 4, 3 }, SCALARS(SAME, 4, 1, 1, 0), { 1, 1, 1, 2, 4, 1, 3, 4, 1, 0 } },
	{ "a scheme that is none", NNB_CONV_2D, { 5, 5 }, { 3, 3 }, SCALARS(3, 1, 1, 0), { 0 }, -EINVAL },
	{ "a stride of 0", NNB_CONV_2D, { 5, 5 }, { 3, 3 }, SCALARS(SAME, 0, 1, 0), { 0 }, -EINVAL },
	{ "a stride below 0", NNB_CONV_2D, { 5, 5 }, { 3, 3 }, SCALARS(SAME, 1, INT32_MIN, 0), { 0 }, -EINVAL },
	{ "a filter of 0", NNB_MAX_POOL_2D, { 5, 5 }, { 0 }, SCALARS(SAME, 1, 1, 0, 1, 0), { 0 }, -EINVAL },
	{ "a left padding below 0", NNB_CONV_2D, { 5, 5 }, { 3, 3 }, SCALARS(-1, 0, 0, 0, 1, 1, 0), { 0 }, -EINVAL },
	{ "a bottom padding below 0", NNB_CONV_2D, { 5, 5 }, { 3, 3 }, SCALARS(0, 0, 0, -1, 1, 1, 0), { 0 }, -EINVAL },
	{ "a pool's left padding of its filter",
	  NNB_MAX_POOL_2D, { 5, 5 }, { 0 }, SCALARS(2, 0, 0, 0, 1, 1, 2, 3, 0), { 0 }, -EINVAL },
	{ "a pool's right padding of its filter",
	  NNB_MAX_POOL_2D, { 5, 5 }, { 0 }, SCALARS(0, 2, 0, 0, 1, 1, 2, 3, 0), { 0 }, -EINVAL },
	{ "a pool's top padding of its filter",
	  NNB_MAX_POOL_2D, { 5, 5 }, { 0 }, SCALARS(0, 0, 2, 0, 1, 1, 3, 2, 0), { 0 }, -EINVAL },
	{ "a pool's bottom padding of its filter",
	  NNB_MAX_POOL_2D, { 5, 5 }, { 0 }, SCALARS(0, 0, 0, 2, 1, 1, 3, 2, 0), { 0 }, -EINVAL },
	{ "a pool's paddings of one less than its filter",
	  NNB_MAX_POOL_2D, { 5, 5 }, { 0 }, SCALARS(1, 1, 2, 2, 1, 1, 2, 3, 0), { 1, 1, 2, 2, 1, 1, 2, 3, 1, 0 } },
	{ "a convolution's paddings beyond its filter",
	  NNB_CONV_2D, { 5, 5 }, { 1, 1 }, SCALARS(9, 9, 9, 9, 1, 1, 0), { 9, 9, 9, 9, 1, 1, 1, 1, 1, 0 } },
	{ "the largest paddings there are",
	  NNB_CONV_2D, { 5, 5 }, { 1, 1 }, SCALARS(INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 2, 2, 0),
	  { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 2, 2, 1, 1, 1, 0 } },
	{ "a filter as large as the image",
	  NNB_CONV_2D, { 5, 6 }, { 5, 6 }, SCALARS(VALID, 1, 1, 0), { 0, 0, 0, 0, 1, 1, 6, 5, 1, 0 } },
	{ "a filter higher than the image", NNB_CONV_2D, { 5, 6 }, { 6, 6 }, SCALARS(VALID, 1, 1, 0), { 0 }, -EINVAL },
	{ "a filter wider than the image", NNB_CONV_2D, { 5, 6 }, { 5, 7 }, SCALARS(VALID, 1, 1, 0), { 0 }, -EINVAL },
	{ "a filter that only its padding makes fit",
	  NNB_CONV_2D, { 5, 6 }, { 6, 8 }, SCALARS(1, 1, 1, 0, 1, 1, 0), { 1, 1, 1, 0, 1, 1, 8, 6, 1, 0 } },
	{ "a filter beyond 2^31", NNB_CONV_2D, { 5, 6 }, { 0x80000000, 1 }, SCALARS(SAME, 1, 1, 0), { 0 }, -EINVAL },
	{ "a filter wider than 2^31",
	  NNB_CONV_2D, { 5, 6 }, { 1, 0x80000001 }, SCALARS(SAME, 1, 1, 0), { 0 }, -EINVAL },
	{ "more outputs than 32 bits count",
	  NNB_CONV_2D, { UINT32_MAX, 1 }, { 1, 1 }, SCALARS(0, 0, 1, 0, 1, 1, 0), { 0 }, -EINVAL },
	{ "as many outputs as 32 bits count",
	  NNB_CONV_2D, { UINT32_MAX, 1 }, { 2, 1 }, SCALARS(0, 0, 1, 0, 1, 1, 0), { 0, 0, 1, 0, 1, 1, 1, 2, 1, 0 } },
	{ "an activation of 4", NNB_CONV_2D, { 5, 5 }, { 3, 3 }, SCALARS(SAME, 1, 1, 4), { 0 }, -EINVAL },
	{ "a multiplier of 0", NNB_DEPTHWISE_CONV_2D, { 5, 5 }, { 3, 3 }, SCALARS(SAME, 1, 1, 0, 0), { 0 }, -EINVAL },
	/* clang-format on */
};

static void has_that_window(void **state)
{
	const struct row *row = *state;
	struct nnb_window w, untouched, want = row->want;
	struct bench b;

	memset(&w, 0x5a, sizeof(w));
	untouched = w;
	bench_init(&b, row->op, row->in, row->filter, row->scalars, row->n_scalars);
	assert_int_equal(window(&b, &w), row->r);
	want.dilation_w = want.dilation_h = 1; /* HAL 1.0 has no form with a dilation */
	assert_memory_equal(&w, row->r ? &untouched : &want, sizeof(w));
}

/* ---- by counting ---- */

static uint32_t steps(uint32_t extent, uint32_t filter, uint32_t stride)
{
	uint32_t n = 0;

	for (uint32_t at = 0; at + filter <= extent; at += stride)
		n++;
	return n;
}

/* The least padding with which a window begins at every stride of the image. */
static uint32_t least_padding(uint32_t extent, uint32_t filter, uint32_t stride)
{
	uint32_t want = 0, padding = 0;

	for (uint32_t at = 0; at < extent; at += stride)
		want++;
	while (steps(extent + padding, filter, stride) < want)
		padding++;
	return padding;
}

static void same_pads_as_little_as_will_do(void **state)
{
	(void)state;
	for (uint32_t extent = 1; extent <= 12; extent++)
		for (uint32_t filter = 1; filter <= 8; filter++)
			for (uint32_t stride = 1; stride <= 5; stride++) {
				const int32_t scalars[] = { SAME, (int32_t)stride, 1, (int32_t)filter, 1, 0 };
				uint32_t padding = least_padding(extent, filter, stride);
				struct nnb_window w;
				struct bench b;

				bench_init(&b, NNB_AVERAGE_POOL_2D, (const uint32_t[]){ 1, extent },
				           (const uint32_t[]){ 0, 0 }, scalars, N_OF(scalars));
				assert_int_equal(window(&b, &w), 0);
				if (w.pad_left != padding / 2 || w.pad_right != padding - padding / 2)
					fail_msg("%u on %u by %u: %u and %u", filter, extent, stride, w.pad_left,
					         w.pad_right);
			}
}

/* ---- unknown operands ---- */

static void unknown_is_neither_right_nor_wrong(void **state)
{
	const int32_t scalars[] = { 1, 1, 1, 1, 1, 1, 0 };
	struct nnb_window w;
	struct bench b;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		bench_init(&b, NNB_CONV_2D, (const uint32_t[]){ 5, 5 }, (const uint32_t[]){ 3, 3 }, scalars,
		           N_OF(scalars));
		if (i < 3)
			b.shapes[i].known = false;
		else
			b.constants[i] = NULL;
		assert_int_equal(window(&b, &w), i == 2 ? 0 : -ENODATA); /* the bias does not matter */
	}
	b.graph.constants = NULL;
	assert_int_equal(window(&b, &w), -ENODATA);
}

/* ---- activations ---- */

static void fused_activations_have_their_ranges(void **state)
{
	static const float want[][2] = { { -INFINITY, INFINITY }, { 0, INFINITY }, { -1, 1 }, { 0, 6 } };

	(void)state;
	for (uint32_t fused = 0; fused < N_OF(want); fused++) {
		float min = NAN, max = NAN;

		nnb_fused_range(fused, &min, &max);
		assert_true(min == want[fused][0] && max == want[fused][1]);
	}
}

int main(void)
{
	struct CMUnitTest tests[N_OF(rows) + 3];
	size_t n = N_OF(rows);

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			                        .test_func = has_that_window,
			                        .initial_state = (void *)&rows[i] };
	tests[n++] = (struct CMUnitTest){ "O-31: SAME pads as little as will do", same_pads_as_little_as_will_do };
	tests[n++] = (struct CMUnitTest){ "unknown is neither right nor wrong", unknown_is_neither_right_nor_wrong };
	tests[n++] =
		(struct CMUnitTest){ "O-33: fused activations have their ranges", fused_activations_have_their_ranges };
	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}

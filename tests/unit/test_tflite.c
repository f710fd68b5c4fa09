/*
 * test_tflite.c -- .tflite files: the model that each becomes, its outputs, and each refusal with its place.
 *
 * The test writes the files (tflite_writer.h); e2e/tflite.sh reads real ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/device_helpers.h"
#include "unit/tflite_writer.h"

static char dir[] = "/tmp/test_tflite.XXXXXX";
static char path[sizeof(dir) + 16];

enum { NET, SUM, CHANNELS, LARGE, OUTSIDE, HYBRID, BRANCHES, LOOP };

static int load_bytes(struct nnb_model **ret, const uint8_t *bytes, size_t n, struct nnb_reason *why)
{
	*why = (struct nnb_reason){ "" };
	return nnb_model_parse_tflite(ret, bytes, n, "sample", why);
}

static struct nnb_model *loaded(const struct tfl_model *t)
{
	struct nnb_reason why;
	struct nnb_model *m;
	uint8_t *bytes;
	size_t n;

	tfl_write(t, &bytes, &n);
	if (load_bytes(&m, bytes, n, &why))
		fail_msg("%s", why.text);
	free(bytes);
	if (nnb_model_validate(m, &why))
		fail_msg("not valid: %s", why.text);
	return m;
}

static struct nnb_model *sample(unsigned which)
{
	struct nnb_model *m;
	uint8_t *bytes;
	size_t n;

	tfl_sample(which, &bytes, &n); /* this fills in the large parts */
	free(bytes);
	m = loaded(tfl_sample_model(which));
	return m;
}

/* ---- their outputs ---- */

/* Run @m on @in, of @in_bytes, into @out, of @out_bytes. */
static void run(struct nnb_model *m, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_argument a = { .location = { 0, 0, (uint32_t)in_bytes } },
			    b = { .location = { 0, 1024, (uint32_t)out_bytes } };
	struct nnb_request request = { .inputs = &a, .outputs = &b, .n_inputs = 1, .n_outputs = 1, .n_pools = 1 };
	struct nnb_reason why = { "" };
	struct nnb_mapping *mapping;
	struct nnb_memory pool;

	assert_int_equal(nnb_memory_ashmem(&pool, 4096), 0);
	assert_int_equal(nnb_map(&mapping, &pool), 0);
	memcpy(nnb_mapping_data(mapping), in, in_bytes);
	request.pools = &pool;
	if (nnb_execute(p, &request, NULL, &why))
		fail_msg("%s", why.text);
	memcpy(out, (char *)nnb_mapping_data(mapping) + 1024, out_bytes);
	nnb_mapping_unref(mapping);
	nnb_memory_close(&pool);
	nnb_prepared_unref(p);
	nnb_device_unref(d);
	nnb_model_free(m);
}

static void a_net_of_halves_computes(void **state)
{
	float image[16], out[2];

	(void)state;
	for (int i = 0; i < 16; i++)
		image[i] = (float)i / 4;
	run(sample(NET), image, sizeof(image), out, sizeof(out));
	/* the upper left has its largest at 5 / 4; the lower left 13 / 4, whose half less one is 0.625 */
	assert_float_equal(out[0], 1.25, 1e-4);
	assert_float_equal(out[1], 0.625, 1e-4);
}

static void the_constants_of_halves_are_folded(void **state)
{
	struct nnb_model *m = sample(NET);
	const struct nnb_operation *conv = &m->operations[0];
	const struct nnb_operand *filter = &m->operands[conv->inputs[1]], *bias = &m->operands[conv->inputs[2]];
	float values[2];

	(void)state;
	assert_int_equal(m->n_operations, 4); /* no DEQUANTIZE */
	assert_int_equal(conv->type, NNB_CONV_2D);
	assert_int_equal(filter->type, NNB_TENSOR_FLOAT32);
	assert_int_equal(filter->lifetime, NNB_CONSTANT_COPY);
	memcpy(values, m->values + filter->location.offset, sizeof(values));
	assert_true(values[0] == 1 && values[1] == 0.5f);
	memcpy(values, m->values + bias->location.offset, sizeof(values));
	assert_true(values[0] == 0x1p-24f && values[1] == -1);
	nnb_model_free(m);
}

static void sums_of_bytes_compute(void **state)
{
	const uint8_t x[] = { 128, 130, 255, 0 };
	uint8_t y[4];

	(void)state;
	run(sample(SUM), x, sizeof(x), y, sizeof(y));
	/* (x - 128) / 2 + c, where 64 stands for 0 */
	assert_int_equal(y[0], 74);
	assert_int_equal(y[1], 85);
	assert_true(abs(y[2] - 158) <= 1);
	assert_int_equal(y[3], 40);
}

static void channels_have_scales_of_their_own(void **state)
{
	struct nnb_model *m = sample(CHANNELS);
	const struct nnb_operand *filter = &m->operands[m->operations[0].inputs[1]];
	const int8_t x[] = { 2, 4, -2, 100 };
	int8_t y[8];

	(void)state;
	assert_int_equal(filter->type, NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL);
	assert_int_equal(filter->n_scales, 2);
	assert_true(nnb_operand_scales(m, filter)[0] == 0.25f && nnb_operand_scales(m, filter)[1] == 0.125f);
	assert_true(m->operands[m->operations[0].inputs[2]].scale == 0);
	run(m, x, sizeof(x), y, sizeof(y));
	/* x / 2 * 1 + 1 / 8 in both channels without the bias, in halves */
	assert_true(abs(y[0] - 2) <= 1 && abs(y[2] - 4) <= 1 && abs(y[4] + 2) <= 1 && abs(y[6] - 100) <= 1);
	assert_true(abs(y[1] - 2) <= 1 && abs(y[7] - 100) <= 1);
}

static void weights_of_bytes_become_reals(void **state)
{
	const float x[] = { 1, 2, -1, 4 };
	struct nnb_model *m;
	struct nnb_reason why;
	uint8_t *bytes;
	size_t n;
	float y;

	(void)state;
	tfl_sample(HYBRID, &bytes, &n);
	assert_int_equal(load_bytes(&m, bytes, n, &why), 0);
	free(bytes);
	assert_string_equal(why.text, "2 constants of float16 or of bytes are kept as float32, which takes 40 bytes");
	nnb_model_free(m);
	m = sample(HYBRID);
	assert_int_equal(m->operands[m->operations[0].inputs[1]].type, NNB_TENSOR_FLOAT32);
	assert_int_equal(m->operands[m->operations[1].inputs[1]].type, NNB_TENSOR_FLOAT32);
	run(m, x, sizeof(x), &y, sizeof(y));
	/* channels of x and -x, by halves of the bytes less 3 */
	assert_true(y == -236);
}

/* Run @m, which has @n_in inputs and whose last output has @out_bytes. */
static void run_of(struct nnb_model *m, const float *const *in, const uint32_t *in_n, float out[4])
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_argument inputs[2], outputs[2];
	struct nnb_request request = {
		.inputs = inputs, .outputs = outputs, .n_inputs = m->n_inputs, .n_outputs = m->n_outputs, .n_pools = 1
	};
	struct nnb_reason why = { "" };
	struct nnb_mapping *mapping;
	struct nnb_memory pool;

	assert_int_equal(nnb_memory_ashmem(&pool, 4096), 0);
	assert_int_equal(nnb_map(&mapping, &pool), 0);
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		inputs[i] = (struct nnb_argument){ .location = { 0, 64 * i, in_n[i] * 4 } };
		memcpy((char *)nnb_mapping_data(mapping) + 64 * (size_t)i, in[i], in_n[i] * sizeof(float));
	}
	for (uint32_t i = 0; i < m->n_outputs; i++)
		outputs[i] = (struct nnb_argument){ .location = { 0, 1024 + 64 * i, i + 1 < m->n_outputs ? 4 : 16 } };
	request.pools = &pool;
	if (nnb_execute(p, &request, NULL, &why))
		fail_msg("%s", why.text);
	memcpy(out, (char *)nnb_mapping_data(mapping) + outputs[m->n_outputs - 1].location.offset, 16);
	nnb_mapping_unref(mapping);
	nnb_memory_close(&pool);
	nnb_prepared_unref(p);
	nnb_device_unref(d);
	nnb_model_free(m);
}

static void branches_compute(void **state)
{
	const float above = 0.75F, below = 0.25F, y[] = { 1, -2, 3, 4 };
	float z[4];

	(void)state;
	run_of(sample(BRANCHES), (const float *[]){ &above, y }, (const uint32_t[]){ 1, 4 }, z);
	assert_memory_equal(z, ((const float[]){ 2, -4, 6, 8 }), sizeof(z));
	run_of(sample(BRANCHES), (const float *[]){ &below, y }, (const uint32_t[]){ 1, 4 }, z);
	assert_memory_equal(z, y, sizeof(z));
}

static void a_loop_computes(void **state)
{
	const float x[] = { 1, -2, 3, 0.5F };
	struct nnb_model *m = sample(LOOP);
	float y[4];

	(void)state;
	assert_int_equal(m->n_referenced, 2);
	assert_int_equal(m->referenced[1].n_operations, 4); /* two operations, and copies of the tensors that
	                                                     * the branch returns */
	run_of(m, (const float *[]){ x }, (const uint32_t[]){ 4 }, y);
	assert_memory_equal(y, ((const float[]){ 6, -12, 18, 3 }), sizeof(y));
}

static void the_large_constant_stays_where_it_is(void **state)
{
	(void)state;
	for (unsigned which = LARGE; which <= OUTSIDE; which++) {
		struct nnb_model *m = sample(which);
		const struct nnb_operand *c = &m->operands[m->operations[0].inputs[1]];
		float x[64] = { 1 }, y[64];

		assert_int_equal(c->lifetime, NNB_CONSTANT_REFERENCE);
		assert_int_equal(c->location.length, 256);
		assert_int_equal(m->n_pools, 1);
		assert_true(m->n_values < 256);
		run(m, x, sizeof(x), y, sizeof(y));
		assert_true(y[0] == 1 && y[1] == 1 && y[63] == 63);
	}
}

/* A file is a pool of its own, and its bytes are not copied. */
static void a_file_is_mapped(void **state)
{
	struct nnb_mapping *mapping;
	const struct nnb_operand *c;
	struct nnb_reason why = { "" };
	struct nnb_model *m;
	uint8_t *bytes;
	size_t n;
	int fd;

	(void)state;
	tfl_sample(LARGE, &bytes, &n);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && close(fd) == 0);
	if (nnb_model_load_tflite(&m, path, &why))
		fail_msg("%s", why.text);
	assert_string_equal(m->name, "my");
	assert_int_equal(m->hal, NNB_HAL_1_3);
	assert_string_equal(m->pools[0].name, "mmap_fd");
	assert_int_equal(m->pools[0].size, n);
	c = &m->operands[m->operations[0].inputs[1]];
	assert_int_equal(nnb_map(&mapping, &m->pools[0]), 0);
	assert_false(nnb_mapping_writable(mapping));
	assert_memory_equal((char *)nnb_mapping_data(mapping) + c->location.offset, bytes + c->location.offset, 256);
	assert_memory_equal((char *)nnb_mapping_data(mapping) + c->location.offset + 4, &(float){ 1 }, 4);
	nnb_mapping_unref(mapping);
	nnb_model_free(m);
	free(bytes);
	unlink(path);
}

/* ---- the operations of each operator ---- */

static const int32_t two[] = { 1, 0 }, size_3_5[] = { 3, 5 }, one_number[] = { 2 };
static const float filter_of_1[9] = { 0 };

#define IMAGE(name)                   \
	{                             \
		name, TFL_FLOAT32, 4, \
		{                     \
			1, 3, 3, 1    \
		}                     \
	}
#define FILTER                                                                             \
	{                                                                                  \
		"filter", TFL_FLOAT32, 4, { 1, 3, 3, 1 }, filter_of_1, sizeof(filter_of_1) \
	}
#define OPTIONS(type, ...)  \
	type,               \
	{                   \
		__VA_ARGS__ \
	}

/* One operator on x. Tensor 1 is its other input; the last tensor is its output. */
static const struct becomes {
	const char *name;
	struct tfl_tensor tensors[3];
	struct tfl_operator op;
	const char *operations; /* the model's, in order */
	const char *scalars;    /* the operations', in order: those that are no tensors of the file */
} becomes[] = {
	{ "a convolution has its padding, strides and fused activation",
	  { IMAGE("x"), FILTER, IMAGE("y") },
	  { 3, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(1, { 0, 'b', 0 }, { 1, 'i', 1 }, { 2, 'i', 2 }, { 3, 'b', 1 }) },
	  "CONV_2D",
	  "1 1 2 1" },
	{ "and its dilation, where it is dilated",
	  { IMAGE("x"), FILTER, IMAGE("y") },
	  { 3,
	    NULL,
	    2,
	    1,
	    { 0, 1 },
	    { 2 },
	    OPTIONS(1, { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 0 }, { 4, 'i', 2 }, { 5, 'i', 3 }) },
	  "CONV_2D",
	  "2 1 1 0 false 2 3" },
	{ "a depthwise one has the multiplier that its filter says",
	  { IMAGE("x"),
	    { "filter", TFL_FLOAT32, 4, { 1, 1, 3, 3 }, filter_of_1, sizeof(filter_of_1) },
	    { "y", TFL_FLOAT32, 4, { 1, 3, 1, 3 } } },
	  { 4,
	    NULL,
	    2,
	    1,
	    { 0, 1 },
	    { 2 },
	    OPTIONS(2, { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'i', 0 }, { 4, 'b', 2 }) },
	  "DEPTHWISE_CONV_2D",
	  "2 1 1 3 2" },
	{ "a pool has width before height, as in the file",
	  { IMAGE("x"), IMAGE("y") },
	  { 1,
	    NULL,
	    1,
	    1,
	    { 0 },
	    { 1 },
	    OPTIONS(5, { 0, 'b', 0 }, { 1, 'i', 1 }, { 2, 'i', 2 }, { 3, 'i', 3 }, { 4, 'i', 4 }, { 5, 'b', 0 }) },
	  "AVERAGE_POOL_2D",
	  "1 1 2 3 4 0" },
	{ "a size is width before height, which it is not in the file",
	  { IMAGE("x"),
	    { "size", TFL_INT32, 1, { 2 }, size_3_5, sizeof(size_3_5) },
	    { "y", TFL_FLOAT32, 4, { 1, 3, 5, 1 } } },
	  { 23, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(15, { 2, 'b', 0 }) },
	  "RESIZE_BILINEAR",
	  "5 3" },
	{ "corners are aligned where the file says so",
	  { IMAGE("x"),
	    { "size", TFL_INT32, 1, { 2 }, size_3_5, sizeof(size_3_5) },
	    { "y", TFL_FLOAT32, 4, { 1, 3, 5, 1 } } },
	  { 23, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(15, { 2, 'b', 1 }, { 3, 'b', 0 }) },
	  "RESIZE_BILINEAR",
	  "5 3 false true false" },
	{ "centres are halves of pixels where the file says so",
	  { IMAGE("x"),
	    { "size", TFL_INT32, 1, { 2 }, size_3_5, sizeof(size_3_5) },
	    { "y", TFL_FLOAT32, 4, { 1, 3, 5, 1 } } },
	  { 23, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(15, { 2, 'b', 0 }, { 3, 'b', 1 }) },
	  "RESIZE_BILINEAR",
	  "5 3 false false true" },
	{ "an axis that counts from the end counts from the beginning",
	  { IMAGE("x"), IMAGE("y"), { "z", TFL_FLOAT32, 4, { 1, 3, 3, 2 } } },
	  { 2, NULL, 2, 1, { 0, 0 }, { 2 }, OPTIONS(10, { 0, 'i', -1 }, { 1, 'b', 0 }) },
	  "CONCATENATION",
	  "3" },
	{ "rows with more dimensions are reshaped behind the sums",
	  { { "x", TFL_FLOAT32, 3, { 1, 1, 9 } },
	    { "w", TFL_FLOAT32, 2, { 1, 9 }, filter_of_1, sizeof(filter_of_1) },
	    { "y", TFL_FLOAT32, 3, { 1, 1, 1 } } },
	  { 9, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(8, { 0, 'b', 0 }, { 2, 'b', 1 }) },
	  "FULLY_CONNECTED RESHAPE",
	  "0" },
	{ "a shape can be an option",
	  { IMAGE("x"), { "y", TFL_FLOAT32, 1, { 9 } } },
	  { 22, NULL, 1, 1, { 0 }, { 1 }, OPTIONS(17, { 0, 'v', 0, (const int32_t[]){ 9 }, 1 }) },
	  "RESHAPE",
	  "" },
	{ "squeezing is reshaping",
	  { IMAGE("x"), { "y", TFL_FLOAT32, 2, { 3, 3 } } },
	  { 43, NULL, 1, 1, { 0 }, { 1 } },
	  "RESHAPE",
	  "" },
	{ "softmax has its beta",
	  { { "x", TFL_FLOAT32, 2, { 1, 4 } }, { "y", TFL_FLOAT32, 2, { 1, 4 } } },
	  { 25, NULL, 1, 1, { 0 }, { 1 }, OPTIONS(9, { 0, 'f', 0.5 }) },
	  "SOFTMAX",
	  "0.5" },
	{ "blocks have their size",
	  { IMAGE("x"), { "y", TFL_FLOAT32, 4, { 1, 1, 1, 9 } } },
	  { 26, NULL, 1, 1, { 0 }, { 1 }, OPTIONS(19, { 0, 'i', 3 }) },
	  "SPACE_TO_DEPTH",
	  "3" },
	{ "a square is a product", { IMAGE("x"), IMAGE("y") }, { 92, NULL, 1, 1, { 0 }, { 1 } }, "MUL", "0" },
};

static void print_scalar(const struct nnb_model *m, const struct nnb_operand *o, char *to, size_t room)
{
	const uint8_t *value = m->values + o->location.offset;
	int32_t whole;
	float real;

	memcpy(&whole, value, o->type == NNB_BOOL ? 1 : 4);
	memcpy(&real, value, o->type == NNB_BOOL ? 1 : 4);
	if (o->type == NNB_INT32)
		snprintf(to, room, "%d", whole);
	else if (o->type == NNB_FLOAT32)
		snprintf(to, room, "%g", (double)real);
	else
		snprintf(to, room, "%s", *value ? "true" : "false");
}

static void operators_become_operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(becomes); i++) {
		const struct becomes *b = &becomes[i];
		uint32_t last = (uint32_t)b->op.outputs[0];
		struct tfl_model t = { .n_tensors = last + 1,
			               .n_operators = 1,
			               .tensors = b->tensors,
			               .operators = &b->op,
			               .n_inputs = 1,
			               .n_outputs = 1,
			               .outputs = { (int32_t)last } };
		char operations[64] = "", scalars[64] = "", one[24];
		struct nnb_model *m;

		m = loaded(&t);
		for (uint32_t k = 0; k < m->n_operations; k++) {
			strcat(strcat(operations, k ? " " : ""), nnb_op_name(m->operations[k].type));
			for (uint32_t j = 0; j < m->operations[k].n_inputs; j++) {
				const struct nnb_operand *o = &m->operands[m->operations[k].inputs[j]];

				if (nnb_type_info(o->type)->tensor)
					continue;
				print_scalar(m, o, one, sizeof(one));
				strcat(strcat(scalars, *scalars ? " " : ""), one);
			}
		}
		if (strcmp(operations, b->operations) || strcmp(scalars, b->scalars))
			fail_msg("%s: '%s' of '%s', not '%s' of '%s'", b->name, operations, scalars, b->operations,
			         b->scalars);
		nnb_model_free(m);
	}
}

/* ---- refusals ---- */

static const float half_of_all[4];

static const struct refused {
	const char *name;
	struct tfl_tensor tensors[3];
	struct tfl_operator op;
	int status;
	const char *says;
} refused[] = {
	{ "a custom operator",
	  { IMAGE("x"), IMAGE("y") },
	  { 32, "Convolution2DTransposeBias", 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (custom operator Convolution2DTransposeBias, which gives 'y'): not supported; 0 of "
	  "its 1 "
	  "operators are; these are not: custom operator Convolution2DTransposeBias (1)" },
	{ "DENSIFY",
	  { IMAGE("x"), IMAGE("y") },
	  { 124, NULL, 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (DENSIFY, which gives 'y'): not supported; 0 of its 1 operators are; these are not: "
	  "DENSIFY "
	  "(1)" },
	{ "an operator of no name",
	  { IMAGE("x"), IMAGE("y") },
	  { 999, NULL, 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (operator 999, which gives 'y'): not supported; 0 of its 1 operators are; these are "
	  "not: "
	  "operator 999 (1)" },
	{ "a fused tanh",
	  { IMAGE("x"), IMAGE("y") },
	  { 0, NULL, 2, 1, { 0, 0 }, { 1 }, OPTIONS(11, { 0, 'b', 4 }) },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (ADD, which gives 'y'): its fused activation TANH is not supported" },
	{ "options of another operator",
	  { IMAGE("x"), IMAGE("y") },
	  { 0, NULL, 2, 1, { 0, 0 }, { 1 }, OPTIONS(1, { 0, 'b', 0 }) },
	  -EINVAL,
	  "subgraph 0, operator 0 (ADD, which gives 'y'): its options are those of another operator" },
	{ "a tensor that there is not",
	  { IMAGE("x"), IMAGE("y") },
	  { 19, NULL, 1, 1, { 7 }, { 1 } },
	  -EINVAL,
	  "subgraph 0, operator 0 (RELU, which gives 'y'): there is no tensor 7" },
	{ "a buffer that there is not",
	  { IMAGE("x"), { "c", TFL_FLOAT32, 1, { 1 }, .buffer = 77 }, IMAGE("y") },
	  { 0, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(11, { 0, 'b', 0 }) },
	  -EINVAL,
	  "subgraph 0, operator 0 (ADD, which gives 'y'): tensor 'c': there is no buffer 77" },
	{ "fewer bytes than the shape says",
	  { IMAGE("x"), { "c", TFL_FLOAT32, 1, { 3 }, two, sizeof(two) }, IMAGE("y") },
	  { 0, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(11, { 0, 'b', 0 }) },
	  -EINVAL,
	  "subgraph 0, operator 0 (ADD, which gives 'y'): tensor 'c' has 8 bytes, but its shape and type say 12" },
	{ "a type that there is not",
	  { { "x", TFL_STRING, 1, { 3 } }, IMAGE("y") },
	  { 19, NULL, 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  "tensor 'x' is of type STRING, which is not supported" },
	{ "wide integers that are no constant",
	  { { "x", TFL_INT64, 1, { 3 } }, IMAGE("y") },
	  { 19, NULL, 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  "tensor 'x' is of type INT64, and no constant" },
	{ "a tensor of nine dimensions",
	  { { "x", TFL_FLOAT32, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 } }, IMAGE("y") },
	  { 19, NULL, 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  "tensor 'x' has rank 9, which is beyond 8" },
	{ "a sparse tensor",
	  { IMAGE("x"), { "c", TFL_FLOAT32, 1, { 2 }, two, sizeof(two), .sparse = true }, IMAGE("y") },
	  { 0, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(11, { 0, 'b', 0 }) },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (ADD, which gives 'y'): tensor 'c' is sparse" },
	{ "a tensor that keeps its value",
	  { IMAGE("x"), { "state", TFL_FLOAT32, 1, { 2 }, .variable = true }, IMAGE("y") },
	  { 0, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(11, { 0, 'b', 0 }) },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (ADD, which gives 'y'): tensor 'state' keeps its value from run to run, and here "
	  "runs keep "
	  "nothing" },
	{ "bytes quantised by channel",
	  { { "x", TFL_UINT8, 1, { 2 }, .n_scales = 2, .scales = { 1, 2 } }, IMAGE("y") },
	  { 19, NULL, 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  "tensor 'x' is quantised by channel, which only INT8 can be" },
	{ "operands that the HAL's operation does not take",
	  { { "x", TFL_INT32, 1, { 2 } }, { "y", TFL_INT32, 1, { 2 } } },
	  { 28, NULL, 1, 1, { 0 }, { 1 } },
	  -ENOTSUP,
	  NULL },
	{ "an input that is left out",
	  { IMAGE("x"), IMAGE("y") },
	  { 0, NULL, 2, 1, { 0, -1 }, { 1 }, OPTIONS(11, { 0, 'b', 0 }) },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (ADD, which gives 'y'): its input 1 is left out" },
	{ "a size that is not known before it runs",
	  { IMAGE("x"), { "size", TFL_INT32, 1, { 2 } }, IMAGE("y") },
	  { 23, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(15, { 2, 'b', 0 }) },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (RESIZE_BILINEAR, which gives 'y'): tensor 'size' is no constant of integers" },
	{ "weights of bytes by channel, with scales for fewer channels",
	  { IMAGE("x"),
	    { "w", TFL_INT8, 4, { 3, 1, 1, 1 }, two, 3, 2, { 1, 2 } },
	    { "y", TFL_FLOAT32, 4, { 1, 3, 3, 3 } } },
	  { 3, NULL, 3, 1, { 0, 1, -1 }, { 2 }, OPTIONS(1, { 0, 'b', 0 }, { 1, 'i', 1 }, { 2, 'i', 1 }) },
	  -EINVAL,
	  "subgraph 0, operator 0 (CONV_2D, which gives 'y'): tensor 'w' has 2 scales, which do not go with its "
	  "shape" },
	{ "weights of bytes that come with the run",
	  { IMAGE("x"),
	    { "w", TFL_INT8, 4, { 1, 1, 1, 1 }, .n_scales = 1, .scales = { 1 } },
	    { "y", TFL_FLOAT32, 4, { 1, 3, 3, 1 } } },
	  { 3, NULL, 3, 1, { 0, 1, -1 }, { 2 }, OPTIONS(1, { 0, 'b', 0 }, { 1, 'i', 1 }, { 2, 'i', 1 }) },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (CONV_2D, which gives 'y'): as CONV_2D: input 1: TENSOR_QUANT8_ASYMM_SIGNED: the "
	  "operation "
	  "does not take this type" },
	{ "a slice whose end counts from its begin",
	  { IMAGE("x"), { "at", TFL_INT32, 1, { 1 }, one_number, sizeof(one_number) }, IMAGE("y") },
	  { 45, NULL, 4, 1, { 0, 1, 1, 1 }, { 2 }, OPTIONS(32, { 5, 'b', 1 }) },
	  -ENOTSUP,
	  "subgraph 0, operator 0 (STRIDED_SLICE, which gives 'y'): its end counts from its begin, which the HAL's "
	  "does "
	  "not" },
	{ "a size of one number",
	  { IMAGE("x"), { "size", TFL_INT32, 1, { 1 }, one_number, sizeof(one_number) }, IMAGE("y") },
	  { 23, NULL, 2, 1, { 0, 1 }, { 2 }, OPTIONS(15, { 2, 'b', 0 }) },
	  -EINVAL,
	  "subgraph 0, operator 0 (RESIZE_BILINEAR, which gives 'y'): its size is not two numbers" },
};

static void expect_refused(const char *name, const struct tfl_model *t, int status, const char *says)
{
	struct nnb_model *m = NULL;
	struct nnb_reason why;
	uint8_t *bytes;
	size_t n;
	int r;

	tfl_write(t, &bytes, &n);
	r = load_bytes(&m, bytes, n, &why);
	if (r != status || m || !*why.text || (says && strcmp(why.text, says)))
		fail_msg("%s: %d, '%s'", name, r, why.text);
	free(bytes);
}

static void what_it_cannot_be_is_refused_by_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(refused); i++) {
		uint32_t last = (uint32_t)refused[i].op.outputs[0];
		struct tfl_model t = { .n_tensors = last + 1,
			               .n_operators = 1,
			               .tensors = refused[i].tensors,
			               .operators = &refused[i].op,
			               .n_inputs = 1,
			               .n_outputs = 1,
			               .outputs = { (int32_t)last } };

		expect_refused(refused[i].name, &t, refused[i].status, refused[i].says);
	}
}

static void all_that_is_not_supported_is_counted(void **state)
{
	const struct tfl_tensor tensors[] = { IMAGE("x"), IMAGE("a"), IMAGE("b"), IMAGE("c"), IMAGE("d") };
	const struct tfl_operator operators[] = { { 19, NULL, 1, 1, { 0 }, { 1 } },
		                                  { 124, NULL, 1, 1, { 1 }, { 2 } },
		                                  { 32, "Mine", 1, 1, { 2 }, { 3 } },
		                                  { 32, "Mine", 1, 1, { 3 }, { 4 } } };
	struct tfl_model t = { .n_tensors = 5,
		               .n_operators = 4,
		               .tensors = tensors,
		               .operators = operators,
		               .n_inputs = 1,
		               .n_outputs = 1,
		               .outputs = { 4 } };

	(void)state;
	expect_refused("three of four", &t, -ENOTSUP,
	               "subgraph 0, operator 1 (DENSIFY, which gives 'b'): not supported; 1 of its 4 operators are; "
	               "these are not: "
	               "DENSIFY (1), custom operator Mine (2)");
}

/* The subgraphs of IF and WHILE must exist, and a refusal names a wrong one. */
static void subgraphs_that_are_wrong_are_refused(void **state)
{
	struct tfl_operator operators[2] = { tfl_sample_model(BRANCHES)->operators[0],
		                             tfl_sample_model(BRANCHES)->operators[1] };
	struct tfl_model t = *tfl_sample_model(BRANCHES), more[2] = { t.more[0], t.more[1] };
	struct tfl_operator unknown = t.more[0].operators[0];
	struct tfl_tensor constant = t.more[1].tensors[0];
	struct nnb_reason why;
	struct nnb_model *m;
	uint8_t *bytes;
	size_t n;

	(void)state;
	t.operators = operators;
	t.more = more;
	operators[1].options[1].value = 3;
	expect_refused("a branch that there is not", &t, -ENOTSUP,
	               "it has 3 subgraphs, and no IF or WHILE runs subgraph 2: it is several models");
	t.n_more = 1;
	expect_refused("the same, without the other", &t, -EINVAL,
	               "subgraph 0, operator 1 (IF, which gives 'z'): it runs subgraph 3 of 2");
	t.n_more = 2;
	operators[1].options[1].value = 0;
	more[1] = (struct tfl_model){ 0 };
	t.n_more = 1;
	expect_refused("the model itself", &t, -EINVAL,
	               "subgraph 0, operator 1 (IF, which gives 'z'): it runs subgraph 0, which is the model itself");
	t.n_more = 2;
	operators[1].options[1].value = 2;
	more[1] = tfl_sample_model(BRANCHES)->more[1];
	unknown.code = 124;
	more[0].operators = &unknown;
	expect_refused("an operator of a branch", &t, -ENOTSUP,
	               "subgraph 1, operator 0 (DENSIFY, which gives 'then/z'): not supported; 0 of its 1 operators "
	               "are; these are not: "
	               "DENSIFY (1)");
	more[0] = tfl_sample_model(BRANCHES)->more[0];
	constant.data = half_of_all;
	constant.bytes = sizeof(half_of_all);
	more[1].tensors = &constant;
	expect_refused("a branch's input", &t, -EINVAL, "subgraph 2: input 0 is a constant");

	/*
	 * a branch that takes another shape is a mistake of the model, so the model's validation reports it
	 */
	constant = (struct tfl_tensor){ "else/y", TFL_FLOAT32, 1, { 5 } };
	tfl_write(&t, &bytes, &n);
	assert_int_equal(load_bytes(&m, bytes, n, &why), 0);
	free(bytes);
	assert_int_equal(nnb_model_validate(m, &why), NNB_STATUS_INVALID_ARGUMENT);
	nnb_model_free(m);
}

/* Two sums with different scales of their products share one bias. */
static void a_shared_bias_has_the_scale_of_each_sum(void **state)
{
	static const int32_t bias[] = { 8 };
	static const uint8_t weight[] = { 1 };
	const struct tfl_tensor tensors[] = {
		{ "x", TFL_UINT8, 4, { 1, 1, 1, 1 }, .n_scales = 1, .scales = { 0.5 } },
		{ "w1", TFL_UINT8, 4, { 1, 1, 1, 1 }, weight, 1, 1, { 0.25 } },
		{ "w2", TFL_UINT8, 4, { 1, 1, 1, 1 }, weight, 1, 1, { 0.5 } },
		{ "b", TFL_INT32, 1, { 1 }, bias, sizeof(bias) },
		{ "y1", TFL_UINT8, 4, { 1, 1, 1, 1 }, .n_scales = 1, .scales = { 0.5 } },
		{ "y2", TFL_UINT8, 4, { 1, 1, 1, 1 }, .n_scales = 1, .scales = { 0.5 } },
	};
	const struct tfl_operator convs[] = {
		{ 3, NULL, 3, 1, { 0, 1, 3 }, { 4 }, OPTIONS(1, { 0, 'b', 0 }, { 1, 'i', 1 }, { 2, 'i', 1 }) },
		{ 3, NULL, 3, 1, { 4, 2, 3 }, { 5 }, OPTIONS(1, { 0, 'b', 0 }, { 1, 'i', 1 }, { 2, 'i', 1 }) },
	};
	const struct tfl_model t = { .n_tensors = N_OF(tensors),
		                     .n_operators = N_OF(convs),
		                     .tensors = tensors,
		                     .operators = convs,
		                     .n_inputs = 1,
		                     .n_outputs = 1,
		                     .outputs = { 5 } };
	const uint8_t x[] = { 4 };
	struct nnb_model *m = NULL;
	struct nnb_reason why;
	uint8_t *bytes, y[1];
	size_t n;

	(void)state;
	tfl_write(&t, &bytes, &n);
	assert_int_equal(load_bytes(&m, bytes, n, &why), 0);
	free(bytes);
	/* 4 / 2 * 1 / 4 + 8 / 8 = 3 / 2, and 3 / 2 * 1 / 2 + 8 / 4 = 11 / 4, in halves */
	run(m, x, sizeof(x), y, sizeof(y));
	assert_in_range(y[0], 5, 6);
}

/* Halves become the reals that DEQUANTIZE makes of them, or the file is refused. */
static void halves_become_nothing_but_reals(void **state)
{
	static const uint16_t half[] = { 0x3c00 };
	const struct tfl_tensor tensors[] = { { "x", TFL_INT32, 1, { 1 } },
		                              { "h", TFL_FLOAT16, 1, { 1 }, half, sizeof(half) },
		                              { "c", TFL_INT32, 1, { 1 } },
		                              { "y", TFL_INT32, 1, { 1 } } };
	const struct tfl_operator operators[] = { { 6, NULL, 1, 1, { 1 }, { 2 } },
		                                  { 0, NULL, 2, 1, { 0, 2 }, { 3 }, OPTIONS(11, { 0, 'b', 0 }) } };
	const struct tfl_model t = { .n_tensors = N_OF(tensors),
		                     .n_operators = N_OF(operators),
		                     .tensors = tensors,
		                     .operators = operators,
		                     .n_inputs = 1,
		                     .n_outputs = 1,
		                     .outputs = { 3 } };

	(void)state;
	expect_refused("halves into integers", &t, -ENOTSUP, NULL);
}

/* The reader checks the file's size before it allocates a bias that is left out. */
static void many_channels_are_refused(void **state)
{
	const struct tfl_tensor tensors[] = { { "x", TFL_FLOAT32, 2, { 1, 1 } },
		                              { "weights", TFL_FLOAT32, 2, { 0x2bfffff8, 1 } },
		                              { "y", TFL_FLOAT32, 2, { 1, 0x2bfffff8 } } };
	const struct tfl_operator op = { 9, NULL, 2, 1, { 0, 1 }, { 2 }, 8, { { 0, 'b', 0 } } };
	const struct tfl_model t = { .n_tensors = 3,
		                     .n_operators = 1,
		                     .tensors = tensors,
		                     .operators = &op,
		                     .n_inputs = 2,
		                     .n_outputs = 1,
		                     .inputs = { 0, 1 },
		                     .outputs = { 2 } };

	(void)state;
	expect_refused(
		"channels", &t, -EINVAL,
		"subgraph 0, operator 0 (FULLY_CONNECTED, which gives 'y'): it has 738197496 channels, which is beyond "
		"what a file of this size can say");
}

static void frames_that_are_wrong_are_refused(void **state)
{
	struct tfl_model t = *tfl_sample_model(SUM);

	(void)state;
	t.version = 2;
	expect_refused("an old schema", &t, -ENOTSUP, "its schema is of version 2, and not 3");
	t.version = 3;
	t.n_subgraphs = 2;
	expect_refused("two subgraphs", &t, -ENOTSUP,
	               "it has 2 subgraphs, and no IF or WHILE runs subgraph 1: it is several models");
	t.n_subgraphs = 300;
	expect_refused("many subgraphs", &t, -ENOTSUP, "it has 300 subgraphs, more than 256");
	t.n_subgraphs = 1;
	t.inputs[0] = 1;
	expect_refused("an input that is a constant", &t, -EINVAL, "input 0 is a constant");
	t.inputs[0] = 9;
	expect_refused("an input that there is not", &t, -EINVAL, "there is no tensor 9");
	t.inputs[0] = 0;
	t.n_operators = 0;
	expect_refused("no operator", &t, -EINVAL, "it has no operator");
}

static void expect_file_refused(int status, const char *says)
{
	struct nnb_reason why = { "" };
	struct nnb_model *m = NULL;
	char wanted[sizeof(why.text)];
	int r = nnb_model_load_tflite(&m, path, &why);

	snprintf(wanted, sizeof(wanted), "my.tflite: %s", says);
	if (r != status || m || strcmp(why.text, wanted))
		fail_msg("%d, '%s', not %d, '%s'", r, why.text, status, wanted);
}

static void invalid_files_are_refused(void **state)
{
	int fd;

	(void)state;
	expect_file_refused(-ENOENT, "No such file or directory");
	assert_int_equal(mkdir(path, 0700), 0);
	expect_file_refused(-EINVAL, "it is not a regular file");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_file_refused(-EINVAL, "it is not a regular file");
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	expect_file_refused(-EINVAL, "it is empty");
	assert_int_equal(write(fd, "\x10\0\0\0TFL2", 8), 8);
	expect_file_refused(-EINVAL, "it is not a .tflite file: bytes 4 to 7 are not 'TFL3'");
	assert_int_equal(pwrite(fd, "\x10\0\0\0TFL3", 8, 0), 8);
	expect_file_refused(-EINVAL, "byte 0: an offset leads beyond the file");
	assert_int_equal(ftruncate(fd, (off_t)UINT32_MAX + 1), 0); /* a sparse file */
	expect_file_refused(-EFBIG, "it is larger than 4 GiB, beyond which no constant can be named");
	close(fd);
	unlink(path);
}

/* ---- damaged files: each is read or refused, without other harm ---- */

static void look_through(const uint8_t *bytes, size_t n)
{
	struct nnb_model *m = NULL;
	struct nnb_reason why;
	int r = load_bytes(&m, bytes, n, &why);

	if (r) {
		assert_true(r == -EINVAL || r == -ENOTSUP);
		assert_true(*why.text && !m);
		return;
	}
	nnb_model_validate(m, &why);
	nnb_model_free(m);
}

/*
 * A copy of exactly that size, so that sanitizers see a read beyond it: the parser copies the file once more.
 */
static void a_file_that_is_cut_short_is_refused(void **state)
{
	(void)state;
	for (unsigned which = 0; which < tfl_samples(); which++) {
		struct nnb_model *m = NULL;
		struct nnb_reason why;
		uint8_t *bytes;
		size_t n;

		tfl_sample(which, &bytes, &n);
		for (size_t cut = 0; cut < n; cut++)
			look_through(bytes, cut);
		assert_int_equal(load_bytes(&m, bytes, n / 2, &why), -EINVAL);
		free(bytes);
	}
}

static void any_word_may_be_any_other(void **state)
{
	static const uint32_t words[] = { 0, 1, 4, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff };

	(void)state;
	for (unsigned which = 0; which < tfl_samples(); which++) {
		uint8_t *bytes, kept[4];
		size_t n;

		tfl_sample(which, &bytes, &n);
		for (size_t at = 0; at + 4 <= n; at += 2)
			for (size_t k = 0; k < N_OF(words); k++) {
				memcpy(kept, bytes + at, 4);
				memcpy(bytes + at, &words[k], 4);
				look_through(bytes, n);
				memcpy(bytes + at, kept, 4);
			}
		free(bytes);
	}
}

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/my.tflite", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_net_of_halves_computes),
		cmocka_unit_test(the_constants_of_halves_are_folded),
		cmocka_unit_test(sums_of_bytes_compute),
		cmocka_unit_test(channels_have_scales_of_their_own),
		cmocka_unit_test(weights_of_bytes_become_reals),
		cmocka_unit_test(branches_compute),
		cmocka_unit_test(a_loop_computes),
		cmocka_unit_test(the_large_constant_stays_where_it_is),
		cmocka_unit_test(a_file_is_mapped),
		cmocka_unit_test(operators_become_operations),
		cmocka_unit_test(what_it_cannot_be_is_refused_by_its_place),
		cmocka_unit_test(all_that_is_not_supported_is_counted),
		cmocka_unit_test(subgraphs_that_are_wrong_are_refused),
		cmocka_unit_test(many_channels_are_refused),
		cmocka_unit_test(a_shared_bias_has_the_scale_of_each_sum),
		cmocka_unit_test(halves_become_nothing_but_reals),
		cmocka_unit_test(frames_that_are_wrong_are_refused),
		cmocka_unit_test(invalid_files_are_refused),
		cmocka_unit_test(a_file_that_is_cut_short_is_refused),
		cmocka_unit_test(any_word_may_be_any_other),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

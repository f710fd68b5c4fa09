/*
 * test_execution_hostile.c -- executions for a hostile client: pools that are written while they are read,
 * indexes out of range, models that ask for all the memory there is. The client harms only itself.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base.h"
#include "conformance/validate/sample_models.h"
#include "unit/device_helpers.h"

/* ---- a pool that another thread overwrites all the time ---- */

struct scribbler {
	pthread_t thread;
	atomic_bool enough;
	uint8_t *at;
	uint64_t bytes;
};

/*
 * Bytes of all kinds: NaN and infinities, huge and negative indexes, zeroes. The races are the purpose of the
 * test.
 */
__attribute__((no_sanitize("thread"))) static void *scribble(void *arg)
{
	static const uint32_t words[] = {
		0, 0x7fc00000, 0x7f800000, 0xffffffff, 0x80000000, 0x3f800000, 1, 0x7fffffff
	};
	struct scribbler *s = arg;
	uint32_t n = 1;

	while (!atomic_load_explicit(&s->enough, memory_order_relaxed))
		for (uint64_t i = 0; i + 4 <= s->bytes; i += 4) {
			n = n * 1664525 + 1013904223;
			memcpy(s->at + i, &words[n >> 29], 4);
		}
	return NULL;
}

enum { PAGE = 1 << 14, ARGUMENTS_MAX = 32 };

/* Each argument PAGE bytes behind the one before, in pool 0. */
static void lay_out(struct nnb_argument *args, const struct nnb_model *m)
{
	memset(args, 0, ARGUMENTS_MAX * sizeof(*args));
	for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
		uint32_t index = i < m->n_inputs ? m->inputs[i] : m->outputs[i - m->n_inputs];
		const struct nnb_operand *o = &m->operands[index];
		uint64_t bytes;

		assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
		assert_true(bytes <= PAGE);
		if (bytes)
			args[i].location = (struct nnb_location){ 0, i * PAGE, (uint32_t)bytes };
		else
			args[i].no_value = true;
	}
}

/* Each argument has a place of its own in one large pool that another thread overwrites. */
static void arguments_that_change_while_they_are_read(void **state)
{
	struct nnb_model *m = sample_new(*(size_t *)*state);
	struct nnb_device *xnnpack = open_device("xnnpack");
	struct nnb_device *d = supports(xnnpack, m) ? xnnpack : open_device("null");
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_argument args[ARGUMENTS_MAX] = { 0 };
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct scribbler s = { 0 };
	struct nnb_request request = { .inputs = args,
		                       .outputs = args + m->n_inputs,
		                       .n_inputs = m->n_inputs,
		                       .n_outputs = m->n_outputs,
		                       .n_pools = 1,
		                       .pools = &pool };

	assert_int_equal(nnb_memory_ashmem(&pool, PAGE * ARGUMENTS_MAX), 0);
	assert_int_equal(nnb_map(&mapping, &pool), 0);
	lay_out(args, m);
	s.at = nnb_mapping_data(mapping);
	s.bytes = nnb_mapping_size(mapping);
	assert_int_equal(pthread_create(&s.thread, NULL, scribble, &s), 0);
	for (int i = 0; i < 100; i++) {
		enum nnb_status status = nnb_execute(p, &request, NULL, NULL);

		/* an index out of range, or a RESHAPE to invalid dimensions; all other runs give a result */
		assert_true(status == NNB_STATUS_NONE || status == NNB_STATUS_GENERAL_FAILURE ||
		            status == NNB_STATUS_INVALID_ARGUMENT);
	}
	atomic_store(&s.enough, true);
	pthread_join(s.thread, NULL);
	nnb_mapping_unref(mapping);
	nnb_memory_close(&pool);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	if (d != xnnpack)
		nnb_device_unref(d);
	nnb_device_unref(xnnpack);
}

/* ---- quantisation ---- */

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	return (uint32_t)(lcg_next(&random_state) >> 33) % n;
}

/* A random scale of any magnitude, often close to infinity or subnormal. */
static float random_scale(void)
{
	if (random_below(4) == 0)
		return FLT_MAX / (float)(1 + random_below(8));
	if (random_below(4) == 0)
		return FLT_TRUE_MIN * (float)(1 + random_below(1000));
	return powf(10, (float)random_below(84000) / 1000 - 45);
}

/* Make the scales fit what signatures require: otherwise fewer than one model in a hundred would be valid. */
static void go_together(struct nnb_operand *o, const struct nnb_operation *op)
{
	struct nnb_operand *out = &o[op->outputs[0]];
	float product = op->n_inputs > 1 ? o[op->inputs[0]].scale * o[op->inputs[1]].scale : 0;

	switch (op->type) {
	case NNB_CONV_2D:
	case NNB_DEPTHWISE_CONV_2D:
	case NNB_FULLY_CONNECTED:
		if (o[op->inputs[2]].type == NNB_TENSOR_INT32)
			o[op->inputs[2]].scale = product;
		/* fall through */
	case NNB_MUL:
		if (random_below(2))
			out->scale = product * (1.5f + (float)random_below(1000));
		break;
	case NNB_LOGISTIC:
	case NNB_SOFTMAX:
		out->scale = 1.0f / 256;
		out->zero_point = 0;
		break;
	default:
		break;
	}
}

/* The sample with other scales and zero points, one for all operands or one for each. */
static void requantise(struct nnb_model *m)
{
	bool alike = random_below(2);
	float scale = random_scale();
	int32_t zero_point = (int32_t)random_below(256);

	for (uint32_t i = 0; i < m->n_operands; i++) {
		struct nnb_operand *o = &m->operands[i];

		if (o->type != NNB_TENSOR_QUANT8_ASYMM)
			continue;
		o->scale = alike ? scale : random_scale();
		o->zero_point = alike ? zero_point : (int32_t)random_below(256);
	}
	for (uint32_t i = 0; i < m->n_operations; i++)
		go_together(m->operands, &m->operations[i]);
}

/* XNNPACK asserts on scales that it cannot represent, so the library must not pass these on. */
static void scales_of_any_size(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_argument args[ARGUMENTS_MAX];
	struct nnb_memory pool;
	unsigned ran = 0;

	(void)state;
	assert_int_equal(nnb_memory_ashmem(&pool, PAGE * ARGUMENTS_MAX), 0);
	for (int i = 0; i < 4000; i++) {
		struct nnb_model *m = sample_new(random_below((uint32_t)sample_count()));
		struct nnb_request request = { .inputs = args,
			                       .outputs = args + m->n_inputs,
			                       .n_inputs = m->n_inputs,
			                       .n_outputs = m->n_outputs,
			                       .n_pools = 1,
			                       .pools = &pool };
		struct nnb_prepared *p;

		requantise(m);
		if (!nnb_prepare(d, m, &ordinary, NULL, &p, NULL)) {
			lay_out(args, m);
			nnb_execute(p, &request, NULL, NULL);
			nnb_prepared_unref(p);
			ran++;
		}
		nnb_model_free(m);
	}
	assert_true(ran > 1000);
	nnb_memory_close(&pool);
	nnb_device_unref(d);
}

/* ---- indexes ---- */

static void an_index_out_of_range_fails_that_execution(void **state)
{
	static const int32_t bad[] = { 3, -1, INT32_MAX, INT32_MIN };
	const struct nnb_operand index = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 1 } };
	const struct nnb_operand table = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 3, 2 } };
	const struct nnb_operand row = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1, 2 } };
	const float values[6] = { 0, 1, 2, 3, 4, 5 };
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_argument in = { .location = { 0, 0, 4 } }, out = { .location = { 0, 8, 8 } };
	struct nnb_request request = { .inputs = &in, .outputs = &out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1 };
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_prepared *p;
	struct nnb_model *m;
	int32_t *at;

	(void)state;
	assert_int_equal(nnb_model_new(&m, "lookup", NNB_HAL_1_0), 0);
	operand(m, &index);
	operand(m, &table);
	operand(m, &row);
	assert_int_equal(nnb_model_value(m, 1, values, sizeof(values)), 0);
	assert_int_equal(nnb_model_operation(m, NNB_EMBEDDING_LOOKUP, (uint32_t[]){ 0, 1 }, 2, (uint32_t[]){ 2 }, 1),
	                 0);
	assert_int_equal(nnb_model_finish(m, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 2 }, 1), 0);
	p = prepared(d, m);
	assert_int_equal(nnb_memory_ashmem(&pool, 16), 0);
	assert_int_equal(nnb_map(&mapping, &pool), 0);
	request.pools = &pool;
	at = nnb_mapping_data(mapping);
	for (size_t i = 0; i < N_OF(bad); i++) {
		*at = bad[i];
		assert_int_equal(nnb_execute(p, &request, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
		*at = 2; /* the next dimension is valid */
		assert_int_equal(nnb_execute(p, &request, NULL, NULL), NNB_STATUS_NONE);
		assert_true(((float *)at)[2] == 4 && ((float *)at)[3] == 5);
	}
	nnb_mapping_unref(mapping);
	nnb_memory_close(&pool);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- memory ---- */

enum { SIDE = 16384 }; /* SIDE x SIDE floats are 1 GiB */

/* @n outer sums [SIDE, 1] + [1, SIDE]; the model reads them only after the last has been computed. */
static struct nnb_model *greedy_model(uint32_t n)
{
	const struct nnb_operand square = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { SIDE, SIDE } };
	uint32_t *sums = calloc(n, sizeof(*sums)), *outputs = calloc(n, sizeof(*outputs)), in[3];
	struct nnb_model *m;

	assert_true(sums && outputs);
	assert_int_equal(nnb_model_new(&m, "greedy", NNB_HAL_1_0), 0);
	in[0] = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { SIDE, 1 } });
	in[1] = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1, SIDE } });
	in[2] = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < n; i++) {
		sums[i] = operand(m, &square);
		outputs[i] = operand(m, &square);
		assert_true(nnb_model_operation(m, NNB_ADD, in, 3, &sums[i], 1) >= 0);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_true(nnb_model_operation(m, NNB_RELU, &sums[i], 1, &outputs[i], 1) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 2, outputs, n), 0);
	free(sums);
	free(outputs);
	return m;
}

/*
 * the model is larger than the device's memory. A model of a few kilobytes must not make the process use
 * all memory.
 */
static void a_model_larger_than_the_device_is_refused_at_once(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct nnb_model *m = greedy_model((uint32_t)(memory >> 30) + 1);
	struct nnb_prepared *p = NULL;

	(void)state;
	assert_int_equal(nnb_prepare(d, m, &ordinary, NULL, &p, NULL), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	assert_null(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

static void constants_that_overlap_cannot_multiply(void **state)
{
	enum { BYTES = 1 << 20, TIMES = 64 };
	const struct nnb_operand o = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { BYTES / 4 } };
	struct nnb_device *d = open_device("null");
	struct nnb_prepared *p = NULL;
	struct nnb_reason reason = { "" };
	struct nnb_memory pool;
	struct nnb_model *m = vector_model(NNB_ADD, 4, 0);
	int in_pool;

	(void)state;
	assert_int_equal(nnb_memory_ashmem(&pool, BYTES), 0);
	in_pool = nnb_model_pool(m, &pool);
	assert_true(in_pool >= 0);
	for (int i = 0; i < TIMES; i++)
		assert_int_equal(nnb_model_reference(m, operand(m, &o), (uint32_t)in_pool, 0, BYTES), 0);
	assert_int_equal(nnb_prepare(d, m, &ordinary, NULL, &p, &reason), NNB_STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(reason.text, "outgrow"));
	nnb_memory_close(&pool);
	nnb_model_free(m);
	nnb_device_unref(d);
}

int main(void)
{
	size_t n = sample_count();
	struct CMUnitTest *tests = calloc(n + 4, sizeof(*tests));
	size_t *indexes = calloc(n, sizeof(*indexes));
	int status;

	for (size_t i = 0; i < n; i++) {
		indexes[i] = i;
		tests[i] = (struct CMUnitTest){ .name = sample_name(i),
			                        .test_func = arguments_that_change_while_they_are_read,
			                        .initial_state = &indexes[i] };
	}
	tests[n] = (struct CMUnitTest)cmocka_unit_test(an_index_out_of_range_fails_that_execution);
	tests[n + 1] = (struct CMUnitTest)cmocka_unit_test(a_model_larger_than_the_device_is_refused_at_once);
	tests[n + 2] = (struct CMUnitTest)cmocka_unit_test(constants_that_overlap_cannot_multiply);
	tests[n + 3] = (struct CMUnitTest)cmocka_unit_test(scales_of_any_size);
	status = _cmocka_run_group_tests("hostile clients", tests, n + 4, NULL, NULL);
	free(tests);
	free(indexes);
	return status;
}

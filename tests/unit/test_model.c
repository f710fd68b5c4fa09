/*
 * test_model.c -- building models: where constants are placed (P-1), what finishing counts, what a failure
 * leaves behind, what a copy shares.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conformance/validate/sample_models.h"
#include "unit/device_helpers.h"
#include "unit/named_tests.h"

#define UNTOUCHED ((struct nnb_model *)(uintptr_t)0x5a5a)
enum { LINE = 64 };

static void expect_valid(const struct nnb_model *m)
{
	struct nnb_reason reason = { "" };

	if (nnb_model_validate(m, &reason))
		fail_msg("%s", reason.text);
}

static struct nnb_model *blank(void)
{
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "blank", NNB_HAL_1_0), 0);
	return m;
}

static uint32_t bytes_operand(struct nnb_model *m, uint32_t n)
{
	return operand(m,
	               &(struct nnb_operand){ .type = NNB_TENSOR_QUANT8_ASYMM, .rank = 1, .dims = { n }, .scale = 1 });
}

/* An operand of @n bytes that are all @value. */
static uint32_t bytes_constant(struct nnb_model *m, uint32_t n, uint8_t value)
{
	uint32_t index = bytes_operand(m, n);
	uint8_t *data = malloc(n);

	assert_non_null(data);
	memset(data, value, n);
	assert_int_equal(nnb_model_value(m, index, data, n), 0);
	free(data);
	return index;
}

static void expect_bytes(const struct nnb_model *m, uint32_t index, uint32_t n, uint8_t value)
{
	const struct nnb_operand *o = &m->operands[index];
	struct nnb_mapping *mapping = NULL;
	const uint8_t *at = m->values;

	assert_int_equal(o->location.length, n);
	if (o->lifetime == NNB_CONSTANT_REFERENCE) {
		assert_true(o->location.pool < m->n_pools);
		assert_true((uint64_t)o->location.offset + n <= m->pools[o->location.pool].size);
		assert_int_equal(nnb_map(&mapping, &m->pools[o->location.pool]), 0);
		at = nnb_mapping_data(mapping);
	} else {
		assert_int_equal(o->lifetime, NNB_CONSTANT_COPY);
		assert_int_equal(o->location.pool, 0);
		assert_true((uint64_t)o->location.offset + n <= m->n_values);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(at[o->location.offset + i], value);
	nnb_mapping_unref(mapping);
}

/* ---- new, operand ---- */

static void a_new_model_is_empty(void **state)
{
	struct nnb_model *m;

	(void)state;
	assert_int_equal(nnb_model_new(&m, "a name", NNB_HAL_1_1), 0);
	assert_string_equal(m->name, "a name");
	assert_int_equal(m->hal, NNB_HAL_1_1);
	assert_false(m->relaxed);
	assert_int_equal(m->n_operands + m->n_operations + m->n_inputs + m->n_outputs + m->n_pools + m->n_values, 0);
	assert_null(nnb_model_free(m));
	assert_null(nnb_model_free(NULL));
}

static void a_long_name_is_cut(void **state)
{
	char name[100];
	struct nnb_model *m;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[99] = '\0';
	assert_int_equal(nnb_model_new(&m, name, NNB_HAL_1_0), 0);
	assert_int_equal(strlen(m->name), NNB_NAME_MAX - 1);
	nnb_model_free(m);
}

static void an_operand_is_copied_but_for_consumers_and_location(void **state)
{
	struct nnb_model *m = blank();
	struct nnb_operand o = { .type = NNB_TENSOR_QUANT8_ASYMM,
		                 .lifetime = NNB_NO_VALUE,
		                 .rank = 2,
		                 .dims = { 3, 4 },
		                 .scale = 0.5f,
		                 .zero_point = 7,
		                 .consumers = 9,
		                 .location = { 1, 2, 3 } };

	(void)state;
	assert_int_equal(nnb_model_operand(m, &o), 0);
	assert_int_equal(nnb_model_operand(m, &o), 1);
	assert_int_equal(m->n_operands, 2);
	o.consumers = 0;
	o.location = (struct nnb_location){ 0 };
	assert_memory_equal(&m->operands[0], &o, sizeof(o));
	assert_memory_equal(&m->operands[1], &o, sizeof(o));
	nnb_model_free(m);
}

/* The operand that is copied may lie in the same array that grows. */
static void one_can_be_made_like_one_of_the_models_own(void **state)
{
	struct nnb_model *m = blank();
	struct nnb_memory pool;

	(void)state;
	float_tensor(m, 7);
	assert_int_equal(nnb_memory_ashmem(&pool, LINE), 0);
	assert_int_equal(nnb_model_pool(m, &pool), 0);
	nnb_memory_close(&pool);
	for (int i = 1; i < 50; i++) {
		assert_int_equal(nnb_model_operand(m, &m->operands[i - 1]), i);
		assert_int_equal(m->operands[i].dims[0], 7);
		assert_int_equal(nnb_model_pool(m, &m->pools[i - 1]), i);
		assert_int_equal(m->pools[i].size, LINE);
	}
	nnb_model_free(m);
}

/* ---- constants ---- */

static const uint32_t lengths[] = { 1, 1, 2, 3, 4, 5, 1, 16, 127, 128, 129, 130, 4096, 5000 };

/* The values stay the same before and after finishing. */
static void values_lie_as_p1_says(void **state)
{
	struct nnb_model *m = blank();
	uint32_t constants[N_OF(lengths)], large = 0, y = bytes_operand(m, 1);

	(void)state;
	for (uint32_t i = 0; i < N_OF(lengths); i++) {
		constants[i] = bytes_constant(m, lengths[i], (uint8_t)(i + 1));
		large += lengths[i] > NNB_COPY_MAX;
	}
	assert_int_equal(nnb_model_finish(m, NULL, 0, &y, 1), 0);
	assert_int_equal(m->n_pools, 1);
	assert_int_equal(nnb_memory_kind(&m->pools[0]), NNB_MEMORY_ASHMEM);
	for (uint32_t i = 0; i < N_OF(lengths); i++) {
		const struct nnb_operand *o = &m->operands[constants[i]];
		uint32_t to = lengths[i] > NNB_COPY_MAX ? LINE : lengths[i] >= 4 ? 4 : lengths[i] >= 2 ? 2 : 1;

		assert_int_equal(o->lifetime, lengths[i] > 128 ? NNB_CONSTANT_REFERENCE : NNB_CONSTANT_COPY);
		assert_int_equal(o->location.offset % to, 0);
		expect_bytes(m, constants[i], lengths[i], (uint8_t)(i + 1));
	}
	assert_int_equal(large, 4);
	nnb_model_free(m);
}

static void large_values_leave_the_models_own(void **state)
{
	struct nnb_model *m = blank();
	uint32_t y = bytes_operand(m, 1);

	(void)state;
	bytes_constant(m, 1, 1);
	bytes_constant(m, 1 << 20, 2);
	bytes_constant(m, 1, 3);
	assert_int_equal(nnb_model_finish(m, NULL, 0, &y, 1), 0);
	assert_true(m->n_values < 16);
	assert_true(m->pools[0].size >= 1 << 20);
	nnb_model_free(m);
}

static void small_values_alone_need_no_pool(void **state)
{
	struct nnb_model *m = blank();
	uint32_t c = bytes_constant(m, 128, 1), y = bytes_operand(m, 1);
	unsigned fds = open_fds();

	(void)state;
	assert_int_equal(nnb_model_finish(m, NULL, 0, &y, 1), 0);
	assert_int_equal(m->n_pools, 0);
	assert_int_equal(open_fds(), fds);
	expect_bytes(m, c, 128, 1);
	nnb_model_free(m);
}

/* The last value is the one that counts. */
static void a_value_can_be_given_again(void **state)
{
	struct nnb_model *m = blank();
	uint32_t c = bytes_constant(m, 16, 1), d = bytes_constant(m, 200, 2), y = bytes_operand(m, 1);
	uint8_t data[200];

	(void)state;
	memset(data, 3, sizeof(data));
	assert_int_equal(nnb_model_value(m, c, data, 200), 0);
	assert_int_equal(nnb_model_value(m, d, data, 16), 0);
	assert_int_equal(nnb_model_finish(m, NULL, 0, &y, 1), 0);
	expect_bytes(m, c, 200, 3);
	expect_bytes(m, d, 16, 3);
	nnb_model_free(m);
}

/* A caller's pool stays where it is, and the one for large values comes after it. */
static void own_pools_and_that_of_large_values(void **state)
{
	struct nnb_model *m = blank();
	uint32_t mine = bytes_operand(m, 16), large = bytes_constant(m, 129, 7), y = bytes_operand(m, 1);
	struct nnb_mapping *mapping;
	struct nnb_memory pool;

	(void)state;
	assert_int_equal(nnb_memory_ashmem(&pool, LINE), 0);
	assert_int_equal(nnb_map(&mapping, &pool), 0);
	memset(nnb_mapping_data(mapping), 5, LINE);
	nnb_mapping_unref(mapping);
	assert_int_equal(nnb_model_pool(m, &pool), 0);
	assert_int_not_equal(m->pools[0].fds[0], pool.fds[0]);
	nnb_memory_close(&pool);
	assert_int_equal(nnb_model_reference(m, mine, 0, 3, 16), 0);
	assert_int_equal(nnb_model_finish(m, NULL, 0, &y, 1), 0);
	assert_int_equal(m->n_pools, 2);
	assert_int_equal(m->operands[mine].location.pool, 0);
	assert_int_equal(m->operands[mine].location.offset, 3);
	assert_int_equal(m->operands[large].location.pool, 1);
	expect_bytes(m, mine, 16, 5);
	expect_bytes(m, large, 129, 7);
	nnb_model_free(m);
}

/* ---- finishing ---- */

static void finishing_counts_consumers_and_sets_lifetimes(void **state)
{
	struct nnb_model *m = blank();
	uint32_t x = float_tensor(m, 4), act = int_scalar(m, 0), t = float_tensor(m, 4), y = float_tensor(m, 4);

	(void)state;
	assert_int_equal(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, x, act }, 3, &t, 1), 0);
	assert_int_equal(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, t, act }, 3, &y, 1), 1);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	assert_int_equal(m->operands[x].consumers, 3); /* O-13: an operation that reads it twice counts twice */
	assert_int_equal(m->operands[act].consumers, 2);
	assert_int_equal(m->operands[t].consumers, 1);
	assert_int_equal(m->operands[y].consumers, 0);
	assert_int_equal(m->operands[x].lifetime, NNB_MODEL_INPUT);
	assert_int_equal(m->operands[t].lifetime, NNB_TEMPORARY);
	assert_int_equal(m->operands[y].lifetime, NNB_MODEL_OUTPUT);
	assert_int_equal(m->n_inputs, 1);
	assert_int_equal(m->inputs[0], x);
	assert_int_equal(m->n_outputs, 1);
	assert_int_equal(m->outputs[0], y);
	expect_valid(m);
	nnb_model_free(m);
}

/* ---- failures ---- */

/* All bytes of a model except the numbers of its fds. */
struct picture {
	uint8_t *bytes;
	size_t n;
};

static struct picture picture_of(const struct nnb_model *m)
{
	struct picture p;

	assert_int_equal(nnb_model_encode(m, &p.bytes, &p.n), 0);
	return p;
}

static void expect_picture(const struct nnb_model *m, struct picture *was)
{
	struct picture is = picture_of(m);

	assert_int_equal(is.n, was->n);
	assert_memory_equal(is.bytes, was->bytes, is.n);
	free(is.bytes);
	free(was->bytes);
}

/* A model as it is before it is finished: two operands, one of them large; an operation; a pool. */
static struct nnb_model *unfinished(void)
{
	struct nnb_model *m = blank();
	uint32_t c = bytes_constant(m, 200, 1), y = bytes_operand(m, 200);
	struct nnb_memory pool;

	assert_int_equal(nnb_model_operation(m, NNB_RELU, &c, 1, &y, 1), 0);
	assert_int_equal(nnb_memory_ashmem(&pool, LINE), 0);
	assert_int_equal(nnb_model_pool(m, &pool), 0);
	nnb_memory_close(&pool);
	return m;
}

static const uint32_t none_such[] = { 1, 2 }; /* the second is no operand of unfinished() */

static int operation_of_no_input(struct nnb_model *m)
{
	return nnb_model_operation(m, NNB_ADD, none_such, 2, none_such, 1);
}

static int operation_of_no_output(struct nnb_model *m)
{
	return nnb_model_operation(m, NNB_ADD, none_such, 1, none_such, 2);
}

static int value_of_no_operand(struct nnb_model *m)
{
	return nnb_model_value(m, 2, "x", 1);
}

static int reference_of_no_operand(struct nnb_model *m)
{
	return nnb_model_reference(m, 2, 0, 0, 4);
}

static int reference_to_no_pool(struct nnb_model *m)
{
	return nnb_model_reference(m, 1, 1, 0, 4);
}

static int pool_of_three_fds(struct nnb_model *m)
{
	return nnb_model_pool(m, &(struct nnb_memory){ .name = "ashmem", .n_fds = NNB_MEMORY_FDS + 1 });
}

static int pool_of_many_ints(struct nnb_model *m)
{
	return nnb_model_pool(m, &(struct nnb_memory){ .name = "ashmem", .n_ints = NNB_MEMORY_INTS + 1 });
}

static int pool_of_a_closed_fd(struct nnb_model *m)
{
	return nnb_model_pool(m, &(struct nnb_memory){ .name = "ashmem", .n_fds = 2, .fds = { 0, -1 } });
}

static int finish_with_no_input(struct nnb_model *m)
{
	return nnb_model_finish(m, none_such, 2, none_such, 1);
}

static int finish_with_no_output(struct nnb_model *m)
{
	return nnb_model_finish(m, NULL, 0, none_such, 2);
}

/* Run @run with a limit that allows no more fds. */
static int without_fds(int (*run)(struct nnb_model *), struct nnb_model *m)
{
	struct rlimit was, tight;
	int r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	tight = was;
	tight.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	r = run(m);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	return r;
}

static int finish_rightly(struct nnb_model *m)
{
	return nnb_model_finish(m, NULL, 0, none_such, 1);
}

static int finish_without_fds(struct nnb_model *m)
{
	return without_fds(finish_rightly, m);
}

static int add_own_pool(struct nnb_model *m)
{
	struct nnb_memory pool = m->pools[0];

	return nnb_model_pool(m, &pool);
}

static int pool_without_fds(struct nnb_model *m)
{
	return without_fds(add_own_pool, m);
}

/* The counts are wrong, so the function must check them before it reads an operand. */
static int operand_too_many(struct nnb_model *m)
{
	uint32_t n = m->n_operands;
	int r;

	m->n_operands = NNB_OPERANDS_MAX;
	r = nnb_model_operand(m, &(struct nnb_operand){ 0 });
	m->n_operands = n;
	return r;
}

static int operation_too_many(struct nnb_model *m)
{
	uint32_t n = m->n_operations;
	int r;

	m->n_operations = NNB_OPERANDS_MAX;
	r = nnb_model_operation(m, NNB_RELU, none_such, 1, none_such, 1);
	m->n_operations = n;
	return r;
}

static int pool_too_many(struct nnb_model *m)
{
	struct nnb_memory pool = m->pools[0];
	uint32_t n = m->n_pools;
	int r;

	m->n_pools = NNB_OPERANDS_MAX;
	r = nnb_model_pool(m, &pool);
	m->n_pools = n;
	return r;
}

static int values_too_long(struct nnb_model *m)
{
	uint32_t n = m->n_values;
	int r;

	m->n_values = UINT32_MAX - 2;
	r = nnb_model_value(m, 1, "1234", 4);
	m->n_values = n;
	return r;
}

struct failure {
	const char *name;
	int (*run)(struct nnb_model *);
	int error;
};

static const struct failure failures[] = {
	{ "an operation that reads no operand", operation_of_no_input, -EINVAL },
	{ "an operation that writes no operand", operation_of_no_output, -EINVAL },
	{ "a value of no operand", value_of_no_operand, -EINVAL },
	{ "a reference of no operand", reference_of_no_operand, -EINVAL },
	{ "a reference to no pool", reference_to_no_pool, -EINVAL },
	{ "a pool of three fds", pool_of_three_fds, -EINVAL },
	{ "a pool of nine integers", pool_of_many_ints, -EINVAL },
	{ "a pool whose second fd is none", pool_of_a_closed_fd, -EINVAL },
	{ "a pool when there are no more fds", pool_without_fds, -EMFILE },
	{ "finishing with an input that is no operand", finish_with_no_input, -EINVAL },
	{ "finishing with an output that is no operand", finish_with_no_output, -EINVAL },
	{ "finishing when there are no more fds", finish_without_fds, -EMFILE },
	{ "an operand more than NNB_OPERANDS_MAX", operand_too_many, -E2BIG },
	{ "an operation more than NNB_OPERANDS_MAX", operation_too_many, -E2BIG },
	{ "a pool more than NNB_OPERANDS_MAX", pool_too_many, -E2BIG },
	{ "values of more than 32 bits", values_too_long, -EFBIG },
};

static void failure_changes_nothing(void **state)
{
	const struct failure *f = *state;
	struct nnb_model *m = unfinished();
	struct picture was = picture_of(m);
	unsigned fds = open_fds();
	int r = f->run(m);

	if (f->error == -EMFILE && r != -EMFILE && r != -EINVAL) /* fcntl(F_DUPFD) fails with EINVAL where the
	                                                          * limit is 0 */
		fail_msg("%s", strerror(-r));
	if (f->error != -EMFILE)
		assert_int_equal(r, f->error);
	assert_int_equal(open_fds(), fds);
	expect_picture(m, &was);
	assert_int_equal(finish_rightly(m), 0); /* after the failure, finishing succeeds */
	expect_bytes(m, 0, 200, 1);
	nnb_model_free(m);
	assert_int_equal(open_fds(), fds - 1); /* the pool's fd is closed */
}

/* ---- copying ---- */

static void copy_is_equal_and_holds_its_own(void **state)
{
	const size_t *sample = *state;
	struct nnb_model *m = sample_new(*sample), *copy;
	struct picture was = picture_of(m);
	unsigned fds = open_fds();

	assert_int_equal(nnb_model_copy(&copy, m), 0);
	assert_int_equal(open_fds(), fds + m->n_pools);
	assert_ptr_not_equal(copy->operands, m->operands);
	assert_ptr_not_equal(copy->operations, m->operations);
	assert_ptr_not_equal(copy->operations[0].inputs, m->operations[0].inputs);
	assert_ptr_not_equal(copy->inputs, m->inputs);
	for (uint32_t i = 0; i < m->n_pools; i++)
		assert_int_not_equal(copy->pools[i].fds[0], m->pools[i].fds[0]);
	nnb_model_free(m);
	expect_picture(copy, &was);
	expect_valid(copy);
	for (uint32_t i = 0; i < copy->n_pools; i++) {
		struct nnb_mapping *mapping;

		assert_int_equal(nnb_map(&mapping, &copy->pools[i]), 0);
		nnb_mapping_unref(mapping);
	}
	nnb_model_free(copy);
}

/* Every field of the struct has a value here, so that a copy which forgets a new field fails. */
static void copy_has_every_field(void **state)
{
	struct nnb_model *m = sample_named("constants by copy and by reference"), *copy;
	struct picture was;

	(void)state;
	m->hal = NNB_HAL_1_3;
	m->relaxed = true;
	was = picture_of(m);
	assert_int_equal(nnb_model_copy(&copy, m), 0);
	nnb_model_free(m);
	assert_true(copy->relaxed);
	assert_int_equal(copy->hal, NNB_HAL_1_3);
	expect_picture(copy, &was);
	nnb_model_free(copy);
}

static void changing_a_copy_leaves_the_model(void **state)
{
	struct nnb_model *m = sample_named("constants in an ashmem and an mmap_fd pool"), *copy;
	struct picture was = picture_of(m);

	(void)state;
	assert_int_equal(nnb_model_copy(&copy, m), 0);
	memset(copy->name, 'x', 3);
	memset(copy->values, 0x5a, copy->n_values);
	memset(copy->inputs, 0x5a, copy->n_inputs * sizeof(*copy->inputs));
	memset(copy->outputs, 0x5a, copy->n_outputs * sizeof(*copy->outputs));
	memset(copy->operands, 0x5a, copy->n_operands * sizeof(*copy->operands));
	memset(copy->operations[0].inputs, 0x5a, copy->operations[0].n_inputs * sizeof(uint32_t));
	memset(copy->operations[0].outputs, 0x5a, copy->operations[0].n_outputs * sizeof(uint32_t));
	copy->pools[0].size = 1;
	nnb_model_free(copy);
	expect_picture(m, &was);
	expect_valid(m);
	nnb_model_free(m);
}

/* When a copy is built further, the copy grows and its model does not. */
static void a_copy_can_be_built_on(void **state)
{
	struct nnb_model *m = sample_named("RELU of float32"), *copy;
	struct picture was = picture_of(m);
	uint32_t y, x = m->inputs[0];

	(void)state;
	assert_int_equal(nnb_model_copy(&copy, m), 0);
	y = operand(copy, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 2, 3 } });
	assert_int_equal(nnb_model_operation(copy, NNB_TANH, &m->outputs[0], 1, &y, 1), 1);
	copy->operands[m->outputs[0]].lifetime = NNB_TEMPORARY;
	assert_int_equal(nnb_model_finish(copy, &x, 1, &y, 1), 0);
	expect_valid(copy);
	nnb_model_free(copy);
	expect_picture(m, &was);
	nnb_model_free(m);
}

static void copying_what_cannot_be_copied_gives_nothing(void **state)
{
	struct nnb_model *m = sample_named("constants in an ashmem and an mmap_fd pool"), *copy = UNTOUCHED;
	unsigned fds = open_fds();

	(void)state;
	close(m->pools[1].fds[0]);
	m->pools[1].fds[0] = -1;
	assert_int_equal(nnb_model_copy(&copy, m), -EINVAL);
	assert_ptr_equal(copy, UNTOUCHED);
	assert_int_equal(open_fds(), fds - 1);
	nnb_model_free(m);
}

static void freeing_closes_every_fd(void **state)
{
	unsigned fds = open_fds();

	(void)state;
	for (size_t i = 0; i < sample_count(); i++)
		nnb_model_free(sample_new(i));
	nnb_model_free(unfinished());
	assert_int_equal(open_fds(), fds);
}

/* ---- sizes ---- */

struct size_row {
	const char *name;
	struct nnb_operand o;
	uint64_t bytes;
	int r;
};

static const struct size_row sizes[] = {
	{ "an INT32 has 4 bytes", { .type = NNB_INT32 }, 4 },
	{ "a FLOAT32 has 4 bytes", { .type = NNB_FLOAT32 }, 4 },
	{ "a tensor has the product of its extents",
	  { .type = NNB_TENSOR_FLOAT32, .rank = 3, .dims = { 2, 3, 4 } },
	  96 },
	{ "an element of quant8 has a byte", { .type = NNB_TENSOR_QUANT8_ASYMM, .rank = 1, .dims = { 5 } }, 5 },
	{ "a tensor of rank 0 has an unknown number", { .type = NNB_TENSOR_INT32 }, 0 },
	{ "so has one of extent 0", { .type = NNB_TENSOR_INT32, .rank = 2, .dims = { 5, 0 } }, 0 },
	{ "so has an OEM scalar", { .type = NNB_OEM }, 0 },
	{ "so has what is no type", { .type = 9999, .rank = 1, .dims = { 5 } }, 0 },
	{ "2^63 bytes are a size",
	  { .type = NNB_TENSOR_QUANT8_ASYMM, .rank = 3, .dims = { 1u << 31, 1u << 31, 2 } },
	  UINT64_C(1) << 63 },
	{ "2^64 bytes are none",
	  { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1u << 31, 1u << 31 } },
	  0,
	  -EOVERFLOW },
	{ "an unknown extent behind 2^64 makes it unknown",
	  { .type = NNB_TENSOR_FLOAT32, .rank = 4, .dims = { 1u << 31, 1u << 31, 8, 0 } },
	  0 },
};

static void size_is(void **state)
{
	const struct size_row *row = *state;
	uint64_t bytes = 0x5a5a;

	assert_int_equal(nnb_operand_bytes(row->o.type, row->o.rank, row->o.dims, &bytes), row->r);
	assert_int_equal(bytes, row->r ? 0x5a5a : row->bytes);
}

/* ---- all ---- */

static const struct {
	const char *name;
	CMUnitTestFunction run;
} functions[] = {
	{ "a new model is empty", a_new_model_is_empty },
	{ "a long name is cut", a_long_name_is_cut },
	{ "an operand is copied, but for its consumers and its location",
	  an_operand_is_copied_but_for_consumers_and_location },
	{ "an operand or a pool can be made like one of the model's own", one_can_be_made_like_one_of_the_models_own },
	{ "P-1: values of up to 128 bytes stay, longer ones get a pool; aligned, and what they were",
	  values_lie_as_p1_says },
	{ "P-1: large values leave the model's own", large_values_leave_the_models_own },
	{ "P-1: small values alone need no pool", small_values_alone_need_no_pool },
	{ "a value can be given again", a_value_can_be_given_again },
	{ "P-2: a caller's pool and that of large values", own_pools_and_that_of_large_values },
	{ "O-12, O-13: finishing counts consumers and sets lifetimes", finishing_counts_consumers_and_sets_lifetimes },
	{ "a copy has every field", copy_has_every_field },
	{ "changing a copy leaves the model", changing_a_copy_leaves_the_model },
	{ "a copy can be built on", a_copy_can_be_built_on },
	{ "copying what cannot be copied gives nothing", copying_what_cannot_be_copied_gives_nothing },
	{ "freeing closes every fd", freeing_closes_every_fd },
};

int main(void)
{
	static size_t samples[N_OF(tests)];

	for (size_t i = 0; i < N_OF(functions); i++)
		add_test(functions[i].run, NULL, "%s", functions[i].name);
	for (size_t i = 0; i < N_OF(failures); i++)
		add_test(failure_changes_nothing, &failures[i], "refused, and nothing has changed: %s",
		         failures[i].name);
	for (size_t i = 0; i < N_OF(sizes); i++)
		add_test(size_is, &sizes[i], "%s", sizes[i].name);
	for (size_t i = 0; i < sample_count(); i++) {
		samples[i] = i;
		add_test(copy_is_equal_and_holds_its_own, &samples[i], "a copy is equal and holds its own: %s",
		         sample_name(i));
	}
	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}

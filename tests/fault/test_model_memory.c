/*
 * test_model_memory.c -- building models when memory runs out: each allocation of the builder fails once, and
 * leaves the model unchanged; and how the builder uses memory.
 *
 * The builder's own source is linked in, so that its allocations can be made to fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "nnb/model.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define UNTOUCHED ((struct nnb_model *)(uintptr_t)0x5a5a)

/* ---- allocations of the builder that fail: the n-th from now on, 0 none ---- */

static unsigned fail_at;

static bool fails(void)
{
	return fail_at && --fail_at == 0;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
NNB_PUBLIC void *__wrap_malloc(size_t n); /* the linker reads libraries, too, and they need the symbol visible */
NNB_PUBLIC void *__wrap_calloc(size_t n, size_t size);
NNB_PUBLIC void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

/* ---- the content of a model ---- */

/* A model's content without its fds, as bytes. */
struct picture {
	uint8_t *data;
	size_t bytes;
};

static struct picture picture_of(const struct nnb_model *m)
{
	struct picture p;

	assert_int_equal(nnb_model_encode(m, &p.data, &p.bytes), 0);
	return p;
}

static bool is_unchanged(const struct nnb_model *m, const struct picture *before)
{
	struct picture now = picture_of(m);
	bool same = now.bytes == before->bytes && memcmp(now.data, before->data, now.bytes) == 0;

	free(now.data);
	return same;
}

/* ---- making ---- */

static struct nnb_model *new_model(void)
{
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "model", NNB_HAL_1_0), 0);
	return m;
}

static uint32_t bytes_operand(struct nnb_model *m, uint32_t n)
{
	int index = nnb_model_operand(
		m, &(struct nnb_operand){ .type = NNB_TENSOR_QUANT8_ASYMM, .rank = 1, .dims = { n }, .scale = 1 });

	assert_true(index >= 0);
	return (uint32_t)index;
}

static uint8_t byte_of(uint32_t operand, uint32_t i)
{
	return (uint8_t)(operand * 31 + i * 7 + (i >> 8) + 1);
}

/* Make operand @index a constant with @n bytes of its own. */
static int give_value(struct nnb_model *m, uint32_t index, uint32_t n)
{
	uint8_t *data = malloc(n + 1);
	int r;

	assert_non_null(data);
	for (uint32_t i = 0; i < n; i++)
		data[i] = byte_of(index, i);
	r = nnb_model_value(m, index, data, n);
	memset(data, 0, n + 1); /* the model keeps a copy, so this changes nothing */
	free(data);
	return r;
}

static uint32_t constant(struct nnb_model *m, uint32_t n)
{
	uint32_t index = bytes_operand(m, n);

	assert_int_equal(give_value(m, index, n), 0);
	return index;
}

static void assert_bytes(const uint8_t *data, uint32_t operand, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (data[i] != byte_of(operand, i))
			fail_msg("byte %u of operand %u is %u", i, operand, data[i]);
}

/*
 * Operand @index must be a constant of @n bytes at the place that P-1 requires, with the bytes that give_value
 * wrote.
 */
static void assert_constant(const struct nnb_model *m, uint32_t index, uint32_t n)
{
	const struct nnb_operand *o = &m->operands[index];
	struct nnb_mapping *mapping;

	assert_int_equal(o->location.length, n);
	if (n <= 128) {
		assert_int_equal(o->lifetime, NNB_CONSTANT_COPY);
		assert_int_equal(o->location.pool, 0);
		assert_int_equal(o->location.offset % (n >= 4 ? 4 : n >= 2 ? 2 : 1), 0);
		assert_true((uint64_t)o->location.offset + n <= m->n_values);
		assert_bytes(m->values + o->location.offset, index, n);
		return;
	}
	assert_int_equal(o->lifetime, NNB_CONSTANT_REFERENCE);
	assert_true(o->location.pool < m->n_pools);
	assert_int_equal(o->location.offset % 64, 0);
	assert_int_equal(nnb_map(&mapping, &m->pools[o->location.pool]), 0);
	assert_true((uint64_t)o->location.offset + n <= nnb_mapping_size(mapping));
	assert_bytes((const uint8_t *)nnb_mapping_data(mapping) + o->location.offset, index, n);
	nnb_mapping_unref(mapping);
}

/* ADD of x and a constant, twice; a value whose pool is not set yet; a pool of its own. Not finished. */
static struct nnb_model *half_built(void)
{
	struct nnb_model *m = new_model();
	uint32_t x = bytes_operand(m, 200), c = constant(m, 200), none, y = bytes_operand(m, 200);
	struct nnb_memory pool;

	none = (uint32_t)nnb_model_operand(m, &(struct nnb_operand){ .type = NNB_INT32 });
	assert_int_equal(nnb_model_value(m, none, &(int32_t){ 0 }, 4), 0);
	assert_int_equal(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, c, none }, 3, &y, 1), 0);
	assert_int_equal(nnb_memory_ashmem(&pool, 64), 0);
	assert_int_equal(nnb_model_pool(m, &pool), 0);
	nnb_memory_close(&pool);
	return m;
}

/* ---- values ---- */

/*
 * Small constants are packed in the order of their values. When the large ones are moved out, that need not be
 * the order of their operands.
 */
static void small_constants_in_any_order_keep_their_values(void **state)
{
	enum { N = 400 };
	struct nnb_model *m = new_model();
	uint32_t large = constant(m, 129);

	(void)state;
	for (uint32_t i = 1; i <= N; i++)
		bytes_operand(m, i % 2 ? 1 : 4);
	for (uint32_t i = 2; i <= N; i += 2)
		assert_int_equal(give_value(m, i, 4), 0);
	for (uint32_t i = 1; i <= N; i += 2)
		assert_int_equal(give_value(m, i, 1), 0);
	assert_int_equal(nnb_model_finish(m, NULL, 0, NULL, 0), 0);
	assert_constant(m, large, 129);
	for (uint32_t i = 1; i <= N; i++)
		assert_constant(m, i, i % 2 ? 1 : 4);
	nnb_model_free(m);
}

static void a_value_in_a_pool_of_the_caller_stays_there(void **state)
{
	struct nnb_model *m = half_built();
	uint32_t large = constant(m, 500), index = bytes_operand(m, 200);

	(void)state;
	assert_int_equal(nnb_model_reference(m, index, 0, 16, 32), 0);
	assert_int_equal(nnb_model_finish(m, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 2 }, 1), 0);
	assert_memory_equal(&m->operands[index].location, (&(struct nnb_location){ 0, 16, 32 }),
	                    sizeof(struct nnb_location));
	assert_constant(m, large, 500);
	assert_int_equal(m->operands[large].location.pool, 1);
	nnb_model_free(m);
}

static void a_second_value_replaces_the_first(void **state)
{
	static const uint32_t sizes[][2] = { { 4, 200 }, { 200, 4 }, { 200, 300 }, { 3, 5 } };

	(void)state;
	for (size_t i = 0; i < N_OF(sizes); i++) {
		struct nnb_model *m = new_model();
		uint32_t index = constant(m, sizes[i][0]);

		assert_int_equal(give_value(m, index, sizes[i][1]), 0);
		assert_int_equal(nnb_model_finish(m, NULL, 0, NULL, 0), 0);
		assert_constant(m, index, sizes[i][1]);
		nnb_model_free(m);
	}
}

static void a_value_of_no_bytes_is_accepted(void **state)
{
	struct nnb_model *m = new_model();
	uint32_t index = bytes_operand(m, 1);

	(void)state;
	assert_int_equal(nnb_model_value(m, index, NULL, 0), 0);
	assert_int_equal(m->operands[index].lifetime, NNB_CONSTANT_COPY);
	assert_int_equal(m->operands[index].location.length, 0);
	nnb_model_free(m);
}

static void a_pool_can_be_added_again(void **state)
{
	struct nnb_model *m = half_built();

	(void)state;
	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(nnb_model_pool(m, &m->pools[i / 2]), i);
	nnb_model_free(m);
}

static void an_operand_can_be_added_again(void **state)
{
	struct nnb_model *m = half_built();

	(void)state;
	for (uint32_t i = m->n_operands; i < 100; i++)
		assert_int_equal(nnb_model_operand(m, &m->operands[i / 2]), i);
	assert_int_equal(m->operands[99].type, NNB_INT32); /* from 49, 24, 12, 6, 3 */
	nnb_model_free(m);
}

static void free_takes_anything_half_built(void **state)
{
	struct nnb_model *m = calloc(1, sizeof(*m));

	(void)state;
	assert_non_null(m);
	m->n_operations = m->n_pools = m->n_operands = 3;
	assert_null(nnb_model_free(m));
	assert_null(nnb_model_free(NULL));
}

/* ---- without memory ---- */

static int add_an_operand(struct nnb_model *m)
{
	return nnb_model_operand(m, &(struct nnb_operand){ .type = NNB_INT32 });
}

static int add_a_value(struct nnb_model *m)
{
	return nnb_model_value(m, 0, "1234", 4);
}

static int add_a_pool(struct nnb_model *m)
{
	struct nnb_memory pool = m->pools[0];

	return nnb_model_pool(m, &pool);
}

static int add_an_operation(struct nnb_model *m)
{
	return nnb_model_operation(m, NNB_RELU, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 2 }, 1);
}

static int finish(struct nnb_model *m)
{
	return nnb_model_finish(m, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 2 }, 1);
}

static int copy(struct nnb_model *m)
{
	struct nnb_model *ret = UNTOUCHED;
	int r = nnb_model_copy(&ret, m);

	if (r)
		assert_ptr_equal(ret, UNTOUCHED);
	else
		nnb_model_free(ret);
	return r;
}

static const struct shortage {
	const char *name;
	int (*call)(struct nnb_model *m);
	unsigned allocations; /* number of allocations that must succeed */
} shortages[] = {
	{ "without memory for an operand nothing changes", add_an_operand, 1 },
	{ "without memory for a value nothing changes", add_a_value, 1 },
	{ "without memory for a pool nothing changes", add_a_pool, 1 },
	{ "without memory for an operation nothing changes", add_an_operation, 3 },
	{ "without memory to finish nothing changes", finish, 3 },
	{ "without memory a copy fails", copy, 9 },
};

static void without_memory_nothing_changes(void **state)
{
	const struct shortage *row = *state;
	unsigned fds = open_fds();
	struct nnb_model *m = half_built();
	struct picture before = picture_of(m);
	int r = -ENOMEM;

	for (unsigned i = 1; i <= row->allocations; i++) {
		fail_at = i;
		r = row->call(m);
		assert_int_equal(fail_at, 0); /* the failure took place */
		assert_int_equal(r, -ENOMEM);
		assert_true(is_unchanged(m, &before));
	}
	free(before.data);
	assert_true(row->call(m) >= 0);
	nnb_model_free(m);
	assert_int_equal(open_fds(), fds);
}

/* The last allocation of finish only packs the constants more tightly. */
static void without_memory_for_tidying_finish_leaves_gaps(void **state)
{
	struct nnb_model *m = half_built();
	uint32_t index = constant(m, 5);

	(void)state;
	fail_at = 4;
	assert_int_equal(finish(m), 0);
	assert_int_equal(fail_at, 0);
	assert_constant(m, 1, 200);
	assert_constant(m, index, 5);
	nnb_model_free(m);
}

static void without_memory_there_is_no_model(void **state)
{
	struct nnb_model *m = UNTOUCHED;

	(void)state;
	fail_at = 1;
	assert_int_equal(nnb_model_new(&m, "model", NNB_HAL_1_0), -ENOMEM);
	assert_ptr_equal(m, UNTOUCHED);
}

/* ---- all ---- */

int main(void)
{
	const struct CMUnitTest fixed[] = {
		{ "small constants in any order keep their values", small_constants_in_any_order_keep_their_values },
		{ "a value in a pool of the caller stays there (P-2)", a_value_in_a_pool_of_the_caller_stays_there },
		{ "a second value of an operand replaces the first", a_second_value_replaces_the_first },
		{ "a value of no bytes is accepted", a_value_of_no_bytes_is_accepted },
		{ "one of the model's own pools can be added again", a_pool_can_be_added_again },
		{ "one of the model's own operands can be added again", an_operand_can_be_added_again },
		{ "free takes NULL and what is half built", free_takes_anything_half_built },
		{ "without memory for tidying finish leaves gaps", without_memory_for_tidying_finish_leaves_gaps },
		{ "without memory there is no model", without_memory_there_is_no_model },
	};
	struct CMUnitTest tests[N_OF(fixed) + N_OF(shortages)];
	size_t n = N_OF(fixed);

	memcpy(tests, fixed, sizeof(fixed));
	for (size_t i = 0; i < N_OF(shortages); i++)
		tests[n++] = (struct CMUnitTest){ .name = shortages[i].name,
			                          .test_func = without_memory_nothing_changes,
			                          .initial_state = (void *)(uintptr_t)&shortages[i] };
	return cmocka_run_group_tests_name("model memory", tests, NULL, NULL);
}

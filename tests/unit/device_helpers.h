/* device_helpers.h -- small models, executions by call and expectations for tests of devices. */
#ifndef DEVICE_HELPERS_H
#define DEVICE_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "nnb/device.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct nnb_prepare ordinary = { .preference = 1, .priority = 1 };

static inline uint32_t operand(struct nnb_model *m, const struct nnb_operand *o)
{
	int index = nnb_model_operand(m, o);

	assert_true(index >= 0);
	return (uint32_t)index;
}

static inline uint32_t float_tensor(struct nnb_model *m, uint32_t n)
{
	return operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { n } });
}

static inline uint32_t int_scalar(struct nnb_model *m, int32_t value)
{
	uint32_t index = operand(m, &(struct nnb_operand){ .type = NNB_INT32 });

	assert_int_equal(nnb_model_value(m, index, &value, sizeof(value)), 0);
	return index;
}

/*
 * y = x OP c for vectors of @n elements; OP is ADD or MUL, and c[i] = (first + i) / 4. The model has the
 * operation twice, with a temporary between, so that a run has a checkpoint.
 */
static inline struct nnb_model *vector_model(enum nnb_op op, uint32_t n, uint32_t first)
{
	struct nnb_model *m;
	uint32_t x, c, act, t, y;
	float *values = calloc(n, sizeof(*values));

	assert_non_null(values);
	for (uint32_t i = 0; i < n; i++)
		values[i] = (float)(first + i) / 4;
	assert_int_equal(nnb_model_new(&m, op == NNB_ADD ? "adds" : "multiplies", NNB_HAL_1_0), 0);
	x = float_tensor(m, n);
	c = float_tensor(m, n);
	assert_int_equal(nnb_model_value(m, c, values, n * 4), 0);
	act = int_scalar(m, NNB_FUSED_NONE);
	t = float_tensor(m, n);
	y = float_tensor(m, n);
	assert_true(nnb_model_operation(m, op, (uint32_t[]){ x, c, act }, 3, &t, 1) >= 0);
	assert_true(nnb_model_operation(m, op, (uint32_t[]){ t, c, act }, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	free(values);
	return m;
}

/*
 * A model of @n operations on vectors of four: x + 1 + 1 + ... It sets up the arrays itself, because
 * nnb_model_operand and nnb_model_operation reallocate an array for each element, and the allocator of a sanitizer
 * copies the array each time.
 */
static inline void chain_of_adds(struct nnb_model *m, uint32_t n)
{
	const float one[4] = { 1, 1, 1, 1 };
	uint32_t x = float_tensor(m, 4), act = int_scalar(m, NNB_FUSED_NONE), c = float_tensor(m, 4);

	assert_true(!m->n_operations && n < NNB_OPERANDS_MAX - m->n_operands);
	assert_int_equal(nnb_model_value(m, c, one, sizeof(one)), 0);
	m->operands = realloc(m->operands, (m->n_operands + (size_t)n) * sizeof(*m->operands));
	m->operations = realloc(m->operations, n * sizeof(*m->operations));
	assert_true(m->operands && m->operations);
	for (uint32_t i = 0, at = x; i < n; i++, at = m->n_operands++) {
		struct nnb_operation add = { .type = NNB_ADD, .n_inputs = 3, .n_outputs = 1 };

		add.inputs = malloc(3 * sizeof(*add.inputs));
		add.outputs = malloc(sizeof(*add.outputs));
		assert_true(add.inputs && add.outputs);
		memcpy(add.inputs, (uint32_t[]){ at, c, act }, 3 * sizeof(*add.inputs));
		add.outputs[0] = m->n_operands;
		m->operands[m->n_operands] = m->operands[x];
		m->operations[m->n_operations++] = add;
	}
	assert_int_equal(nnb_model_finish(m, &x, 1, &(uint32_t){ m->n_operands - 1 }, 1), 0);
}

/* As vector_model, for vectors of the length that the request states. */
static inline struct nnb_model *vector_model_of_any_length(void)
{
	const float c = 0.25F;
	uint32_t x, one, act, t, y;
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "grows", NNB_HAL_1_2), 0);
	x = float_tensor(m, 0);
	one = float_tensor(m, 1);
	assert_int_equal(nnb_model_value(m, one, &c, sizeof(c)), 0);
	act = int_scalar(m, NNB_FUSED_NONE);
	t = float_tensor(m, 0);
	y = float_tensor(m, 0);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, one, act }, 3, &t, 1) >= 0);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ t, one, act }, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	return m;
}

/* y = relu(x) of @rank 1, or of rank 2 with rows of 3; only the request states the extent of the first dimension. */
static inline struct nnb_model *relu_model_of_any_extent(uint32_t rank)
{
	struct nnb_model *m;
	uint32_t x, y;

	assert_int_equal(nnb_model_new(&m, "dynamic", NNB_HAL_1_2), 0);
	x = operand(m,
	            &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = rank, .dims = { 0, rank > 1 ? 3 : 0 } });
	y = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = rank });
	assert_true(nnb_model_operation(m, NNB_RELU, &x, 1, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	return m;
}

/* Element @i of vector_model's output for @x. */
static inline float vector_expected(enum nnb_op op, uint32_t first, uint32_t i, float x)
{
	float c = (float)(first + i) / 4;

	return op == NNB_ADD ? x + c + c : x * c * c;
}

static inline struct nnb_device *open_device(const char *name)
{
	struct nnb_device *d;
	struct nnb_reason reason = { "" };

	if (nnb_device_open(&d, name, &reason))
		fail_msg("%s", reason.text);
	return d;
}

static inline bool supports(struct nnb_device *d, const struct nnb_model *m)
{
	bool *each = calloc(m->n_operations, sizeof(*each)), all = true;

	assert_non_null(each);
	assert_int_equal(nnb_device_supported(d, m, each, NULL), NNB_STATUS_NONE);
	for (uint32_t i = 0; i < m->n_operations; i++)
		all &= each[i];
	free(each);
	return all;
}

static inline struct nnb_prepared *prepared(struct nnb_device *d, const struct nnb_model *m)
{
	struct nnb_prepared *p;
	struct nnb_reason reason = { "" };

	if (nnb_prepare(d, m, &ordinary, NULL, &p, &reason))
		fail_msg("%s", reason.text);
	return p;
}

/* One input and one output of @n floats each, in one ashmem pool. */
struct vectors {
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	float *x, *y;
	struct nnb_argument in, out;
	struct nnb_request request;
};

static inline void vectors_init(struct vectors *v, uint32_t n)
{
	*v = (struct vectors){ .in.location = { 0, 0, n * 4 }, .out.location = { 0, n * 4, n * 4 } };
	assert_int_equal(nnb_memory_ashmem(&v->pool, n * 8), 0);
	assert_int_equal(nnb_map(&v->mapping, &v->pool), 0);
	v->x = nnb_mapping_data(v->mapping);
	v->y = v->x + n;
	for (uint32_t i = 0; i < n; i++)
		v->x[i] = (float)i - 3;
	v->request = (struct nnb_request){
		.inputs = &v->in, .outputs = &v->out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &v->pool
	};
}

static inline void vectors_fini(struct vectors *v)
{
	nnb_mapping_unref(v->mapping);
	nnb_memory_close(&v->pool);
}

/* Run @p, a vector model, and check each element. */
static inline void expect_vector(struct nnb_prepared *p, enum nnb_op op, uint32_t n, uint32_t first)
{
	struct vectors v;
	struct nnb_reason reason = { "" };

	vectors_init(&v, n);
	if (nnb_execute(p, &v.request, NULL, &reason))
		fail_msg("%s", reason.text);
	for (uint32_t i = 0; i < n; i++)
		if (v.y[i] != vector_expected(op, first, i, v.x[i]))
			fail_msg("element %u is %g, not %g", i, v.y[i], vector_expected(op, first, i, v.x[i]));
	vectors_fini(&v);
}

#endif

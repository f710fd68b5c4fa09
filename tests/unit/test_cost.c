/*
 * test_cost.c -- the estimated cost of an execution. An execution beyond the limit is refused; a model is
 * refused if each of its executions would be.
 */
#include "driver/xnnpack/tile_limits.h"
#include "model/cost.h"
#include "model/ops.h"
#include "unit/device_helpers.h"

static_assert((int)NNB__TILE_ELEMENTS == NNBX_TILE_WORK && (int)NNB__TILE_PRODUCTS == NNBX_TILE_DEPTH,
              "the estimate knows when the driver leaves an operation to a plain loop");

#define SECOND UINT64_C(1000000000)

/* One MAX_POOL_2D over an image of @side, with a window of @filter; @side 0: the request states it. */
static struct nnb_model *pool_model(uint32_t side, uint32_t filter, uint32_t out)
{
	struct nnb_operand o = { .type = NNB_TENSOR_QUANT8_ASYMM, .rank = 4, .dims = { 1, side, side, 1 }, .scale = 1 };
	uint32_t in[7], result;
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "pool", NNB_HAL_1_2), 0);
	in[0] = operand(m, &o);
	in[1] = int_scalar(m, NNB_PADDING_VALID);
	in[2] = in[3] = int_scalar(m, 1);
	in[4] = in[5] = int_scalar(m, (int32_t)filter);
	in[6] = int_scalar(m, NNB_FUSED_NONE);
	o.dims[1] = o.dims[2] = out;
	result = operand(m, &o);
	assert_true(nnb_model_operation(m, NNB_MAX_POOL_2D, in, 7, &result, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 1, &result, 1), 0);
	return m;
}

/* The library's graph for a model whose shapes are all declared, and which contains all its constants. */
struct graph {
	struct nnb_graph seen;
	struct nnb_shape shapes[16];
	const void *constants[16];
};

static void graph_of(struct graph *g, const struct nnb_model *m)
{
	assert_in_range(m->n_operands, 1, N_OF(g->shapes));
	*g = (struct graph){ .seen = { .model = m, .constants = g->constants, .shapes = g->shapes } };
	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_operand *o = &m->operands[i];

		g->shapes[i] = (struct nnb_shape){ .rank = o->rank, .known = true };
		memcpy(g->shapes[i].dims, o->dims, sizeof(o->dims));
		if (o->lifetime == NNB_CONSTANT_COPY)
			g->constants[i] = m->values + o->location.offset;
	}
}

static uint64_t cost_of(struct nnb_model *m)
{
	struct graph g;
	uint64_t ns;

	graph_of(&g, m);
	ns = nnb__model_cost(&g.seen, g.shapes);
	nnb_model_free(m);
	return ns;
}

/* Four times the outputs, or four times the window, is four times the work. */
static void work_grows_with_shapes(void **state)
{
	uint64_t small = cost_of(pool_model(64, 8, 57)), large = cost_of(pool_model(121, 8, 114)), tiny;

	(void)state;
	assert_in_range(large, small * 7 / 2, small * 9 / 2);
	tiny = cost_of(pool_model(1, 1, 1));
	assert_true(tiny > 0 && tiny < 1000);
	assert_int_equal(cost_of(vector_model(NNB_ADD, 1000000, 1)) / 1000000, 5); /* ms, for two additions */
}

/* Shapes as large as a model can have: no sum wraps. */
static void work_beyond_counting_is_the_largest_number(void **state)
{
	const uint32_t side = UINT32_MAX;
	const struct nnb_shape huge = { .rank = 4, .dims = { side, side, side, side }, .known = true };
	struct nnb_model *m = pool_model(4, 2, 3);
	struct graph g;

	(void)state;
	graph_of(&g, m);
	g.shapes[m->outputs[0]] = huge;
	assert_true(nnb__operation_cost(&g.seen, 0, g.shapes) == UINT64_MAX);
	assert_true(nnb__model_cost(&g.seen, g.shapes) == UINT64_MAX);
	g.shapes[m->outputs[0]].known = false;
	assert_int_equal(nnb__operation_cost(&g.seen, 0, g.shapes), 0);
	nnb_model_free(m);
}

/* With any dimension of 0 nothing is computed, even if the dimensions before it are beyond counting. */
static void a_shape_with_a_dimension_of_0_has_no_elements(void **state)
{
	const uint32_t side = UINT32_MAX;
	struct nnb_model *m = pool_model(4, 2, 3);
	struct graph g;
	uint64_t none;

	(void)state;
	graph_of(&g, m);
	g.shapes[m->outputs[0]] = (struct nnb_shape){ .rank = 4, .known = true };
	none = nnb__operation_cost(&g.seen, 0, g.shapes);
	assert_true(none < SECOND);
	for (int zero = 0; zero < 4; zero++) {
		struct nnb_shape shape = { .rank = 4, .dims = { side, side, side, side }, .known = true };

		shape.dims[zero] = 0;
		assert_int_equal(nnb__shape_elements(&shape), 0);
		g.shapes[m->outputs[0]] = shape;
		assert_int_equal(nnb__operation_cost(&g.seen, 0, g.shapes), none);
	}
	nnb_model_free(m);
}

static void a_model_beyond_the_limit_is_not_prepared(void **state)
{
	struct nnb_device *d = open_device("null");
	struct nnb_model *endless = pool_model(8192, 4096, 4097), *short_one = pool_model(64, 8, 57);
	struct nnb_prepared *p = NULL;
	struct nnb_reason why = { "" };

	(void)state;
	assert_int_equal(nnb_prepare(d, endless, &ordinary, NULL, &p, NULL), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	nnb_device_limit_work(d, SECOND);
	p = NULL;
	assert_int_equal(nnb_prepare(d, endless, &ordinary, NULL, &p, &why), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	assert_null(p);
	assert_non_null(strstr(why.text, "work"));
	assert_int_equal(nnb_prepare(d, short_one, &ordinary, NULL, &p, NULL), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	nnb_model_free(endless);
	nnb_model_free(short_one);
	nnb_device_unref(d);
}

/* The request states the side: 64 is little work, and 8192 too much. */
static void an_execution_beyond_the_limit_does_not_begin(void **state)
{
	enum { FILTER = 60, LARGE = 8192 };
	struct nnb_device *d = open_device("null");
	struct nnb_model *m = pool_model(0, FILTER, 0);
	struct nnb_memory pool;
	struct nnb_argument in = { .rank = 4 }, out = { .location = { 0, 0, LARGE * LARGE } };
	const struct nnb_request request = {
		.inputs = &in, .outputs = &out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &pool
	};
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_reason why = { "" };

	(void)state;
	nnb_device_limit_work(d, SECOND);
	assert_int_equal(nnb_memory_ashmem(&pool, LARGE * LARGE), 0);
	for (uint32_t side = 64; side <= LARGE; side *= LARGE / 64) {
		enum nnb_status status;

		memcpy(in.dims, ((uint32_t[]){ 1, side, side, 1 }), 4 * sizeof(uint32_t));
		in.location.length = side * side;
		status = nnb_execute(p, &request, NULL, &why);
		assert_int_equal(status, side == 64 ? NNB_STATUS_NONE : NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	}
	assert_non_null(strstr(why.text, "work"));
	nnb_memory_close(&pool);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* costs.def has a row for each row of operations.def. */
static void every_operation_has_a_cost(void **state)
{
	static const uint32_t listed[] = {
#define NNB_COST(name, ...) NNB_##name,
#define NNB_COST_OF_SUM(name, ...) NNB_##name,
#define NNB_COST_OF_SUBGRAPHS(name, ns) NNB_##name,
#define NNB_COST_IF_PLAIN(name, ...)
#include "model/costs.def"
#undef NNB_COST
#undef NNB_COST_OF_SUM
#undef NNB_COST_OF_SUBGRAPHS
#undef NNB_COST_IF_PLAIN
	};
	static const uint32_t all[] = {
#define NNB_OP(name, code, hal) code,
#include "nnb/operations.def"
#undef NNB_OP
	};

	(void)state;
	assert_int_equal(N_OF(listed), N_OF(all));
	for (size_t i = 0; i < N_OF(all); i++)
		assert_int_equal(listed[i], all[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_grows_with_shapes),
		cmocka_unit_test(work_beyond_counting_is_the_largest_number),
		cmocka_unit_test(a_shape_with_a_dimension_of_0_has_no_elements),
		cmocka_unit_test(a_model_beyond_the_limit_is_not_prepared),
		cmocka_unit_test(an_execution_beyond_the_limit_does_not_begin),
		cmocka_unit_test(every_operation_has_a_cost),
	};

	return cmocka_run_group_tests_name("costs are estimated", tests, NULL, NULL);
}

/*
 * test_preempted.c -- large models, interrupted at every checkpoint: the outputs are the same to the last
 * bit.
 *
 * The models are the zoo's, because those of the conformance tests have few operations each
 * (nnburst-conformance --preempt).
 */
#include "unit/device_helpers.h"

#include "zoo.h"

static const char *const models[] = { "mobilenet-96", "mlp", "keyword", "recurrent" };

enum { ARGUMENTS_MAX = 16 };

/* One pool for a model's inputs and outputs. */
struct bound {
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument args[ARGUMENTS_MAX];
	uint64_t outputs_at, bytes;
	struct nnb_request request;
};

static void bound_init(struct bound *b, const struct nnb_model *m, uint32_t which)
{
	uint64_t bytes;

	*b = (struct bound){ 0 };
	for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
		const struct nnb_operand *o =
			&m->operands[i < m->n_inputs ? m->inputs[i] : m->outputs[i - m->n_inputs]];

		assert_true(i < ARGUMENTS_MAX);
		assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
		b->args[i].location = (struct nnb_location){ 0, (uint32_t)b->bytes, (uint32_t)bytes };
		b->outputs_at = i < m->n_inputs ? b->bytes + bytes : b->outputs_at;
		b->bytes += bytes;
	}
	assert_int_equal(nnb_memory_ashmem(&b->pool, b->bytes), 0);
	assert_int_equal(nnb_map(&b->mapping, &b->pool), 0);
	load_zoo_numbers(nnb_mapping_data(b->mapping), b->outputs_at / sizeof(float), 5, which);
	b->request = (struct nnb_request){ .inputs = b->args,
		                           .outputs = b->args + m->n_inputs,
		                           .n_inputs = m->n_inputs,
		                           .n_outputs = m->n_outputs,
		                           .n_pools = 1,
		                           .pools = &b->pool };
}

static void *outputs(const struct bound *b)
{
	return (char *)nnb_mapping_data(b->mapping) + b->outputs_at;
}

static void bound_fini(struct bound *b)
{
	nnb_mapping_unref(b->mapping);
	nnb_memory_close(&b->pool);
}

/* Where to stop. */
struct stops {
	uint32_t at; /* 0: everywhere */
	unsigned stopped;
};

static bool goes_on(void *arg, uint32_t next_op)
{
	struct stops *s = arg;
	bool stop = !s->at || next_op == s->at;

	s->stopped += stop;
	return !stop;
}

static void run_to_the_end(struct nnb_execution *e)
{
	bool finished;

	assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_NONE);
	assert_true(finished);
}

/* Run another execution from its beginning to its end, in the memory that is free meanwhile. */
static void have_another(struct nnb_prepared *p, struct bound *other)
{
	assert_int_equal(nnb_execute(p, &other->request, NULL, NULL), NNB_STATUS_NONE);
}

static void interrupted_at_every_checkpoint(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m;
	struct nnb_prepared *p;
	struct nnb_execution *e;
	struct bound one, other;
	struct stops everywhere = { 0 };
	bool finished = false;
	void *wanted;

	assert_int_equal(load_zoo_new(&m, *state, 7), 0);
	p = prepared(d, m);
	bound_init(&one, m, 1);
	bound_init(&other, m, 2);
	assert_int_equal(nnb_execute(p, &one.request, NULL, NULL), NNB_STATUS_NONE);
	wanted = malloc(one.bytes - one.outputs_at);
	memcpy(wanted, outputs(&one), one.bytes - one.outputs_at);
	memset(outputs(&one), 0, one.bytes - one.outputs_at);

	assert_int_equal(nnb_execution_begin(p, &one.request, NULL, false, NULL, &e, NULL), NNB_STATUS_NONE);
	while (!finished) { /* resume */
		assert_int_equal(nnb_execution_run(e, goes_on, &everywhere, &finished), NNB_STATUS_NONE);
		have_another(p, &other);
	}
	assert_int_equal(everywhere.stopped, m->n_operations - 1);
	assert_memory_equal(outputs(&one), wanted, one.bytes - one.outputs_at);
	assert_memory_not_equal(outputs(&other), wanted, one.bytes - one.outputs_at); /* leftovers of these
	                                                                               * outputs would show */

	for (uint32_t at = 1; at < m->n_operations; at++) { /* restart, and run to the end */
		struct stops once = { at };

		assert_int_equal(nnb_execution_restart(e), NNB_STATUS_NONE);
		memset(outputs(&one), 0, one.bytes - one.outputs_at);
		assert_int_equal(nnb_execution_run(e, goes_on, &once, &finished), NNB_STATUS_NONE);
		assert_true(!finished && nnb_execution_next_op(e) == at);
		have_another(p, &other);
		assert_int_equal(nnb_execution_restart(e), NNB_STATUS_NONE);
		run_to_the_end(e);
		assert_memory_equal(outputs(&one), wanted, one.bytes - one.outputs_at);
	}
	nnb_execution_end(e);
	free(wanted);
	bound_fini(&one);
	bound_fini(&other);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

int main(void)
{
	struct CMUnitTest tests[N_OF(models)];

	for (size_t i = 0; i < N_OF(models); i++)
		tests[i] = (struct CMUnitTest){ .name = models[i],
			                        .test_func = interrupted_at_every_checkpoint,
			                        .initial_state = (void *)(uintptr_t)models[i] };
	return cmocka_run_group_tests_name("interrupted at every checkpoint", tests, NULL, NULL);
}

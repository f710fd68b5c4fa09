/*
 * test_digest.c -- digests of models: equal for equal models, and different where anything that an execution depends
 * on differs.
 */
#include "model/digest.h"
#include "unit/device_helpers.h"

enum { WEIGHTS = NNB_COPY_MAX }; /* floats: more bytes than a model stores inline */

/* Changes that make a model from the base model. */
struct kind {
	const char *name;
	uint32_t side, filter, zero_point; /* added to the base model's */
	float scale, weight;
	bool renamed, unpadded, relaxed, other_operation, other_order;
};

/* A pooling operation, and an addition of a constant that the model does not store inline. */
static struct nnb_model *build(const struct kind *k)
{
	struct nnb_operand o = { .type = NNB_TENSOR_QUANT8_ASYMM,
		                 .rank = 4,
		                 .dims = { 1, 8 + k->side, 8 + k->side, 1 },
		                 .scale = 1 + k->scale,
		                 .zero_point = (int32_t)k->zero_point };
	struct nnb_operand f = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { WEIGHTS } };
	float weights[WEIGHTS] = { k->weight };
	uint32_t in[7], add[3], inputs[2], outputs[2];
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, k->renamed ? "other" : "net", NNB_HAL_1_2), 0);
	m->relaxed = k->relaxed;
	in[0] = operand(m, &o);
	in[1] = int_scalar(m, k->unpadded ? NNB_PADDING_VALID : NNB_PADDING_SAME);
	in[2] = in[3] = int_scalar(m, 1);
	in[4] = in[5] = int_scalar(m, 2 + (int32_t)k->filter);
	in[6] = int_scalar(m, NNB_FUSED_NONE);
	outputs[0] = operand(m, &o);
	add[0] = operand(m, &f);
	add[1] = operand(m, &f);
	assert_int_equal(nnb_model_value(m, add[1], weights, sizeof(weights)), 0);
	add[2] = in[6];
	outputs[1] = operand(m, &f);
	if (!k->other_order)
		assert_true(nnb_model_operation(m, NNB_MAX_POOL_2D, in, 7, outputs, 1) >= 0);
	assert_true(nnb_model_operation(m, k->other_operation ? NNB_MUL : NNB_ADD, add, 3, outputs + 1, 1) >= 0);
	if (k->other_order)
		assert_true(nnb_model_operation(m, NNB_MAX_POOL_2D, in, 7, outputs, 1) >= 0);
	inputs[0] = in[0];
	inputs[1] = add[0];
	assert_int_equal(nnb_model_finish(m, inputs, 2, outputs, 2), 0);
	return m;
}

static uint32_t digest_of(const struct kind *k)
{
	struct nnb_model *m = build(k);
	uint32_t digest = nnb__model_digest(m);

	nnb_model_free(m);
	return digest;
}

static const struct kind base = { "the model" };

/* Each has as many operations and as many bytes of constants as the base model. */
static const struct kind others[] = {
	{ "other dimensions", .side = 8 },
	{ "another constant of the model itself", .filter = 1 },
	{ "another padding", .unpadded = true },
	{ "another scale", .scale = 1 },
	{ "another zero point", .zero_point = 3 },
	{ "floats that may be halves", .relaxed = true },
	{ "another operation", .other_operation = true },
	{ "another order of its operations", .other_order = true },
};

static void models_that_differ_have_different_digests(void **state)
{
	uint32_t digests[N_OF(others) + 1] = { digest_of(&base) };

	(void)state;
	for (size_t i = 0; i < N_OF(others); i++) {
		digests[i + 1] = digest_of(&others[i]);
		for (size_t k = 0; k <= i; k++)
			if (digests[k] == digests[i + 1])
				fail_msg("%s: as %s", others[i].name, k ? others[k - 1].name : base.name);
	}
}

static void the_same_model_has_the_same_digest(void **state)
{
	const struct kind renamed = { .renamed = true },
			  reweighed = { .weight = 7 }; /* in a pool, which an app can change */
	struct nnb_model *m = build(&base), *copy;

	(void)state;
	assert_int_equal(nnb_model_copy(&copy, m), 0);
	assert_int_equal(nnb__model_digest(m), digest_of(&base));
	assert_int_equal(nnb__model_digest(copy), digest_of(&base));
	assert_int_equal(digest_of(&renamed), digest_of(&base));
	assert_int_equal(digest_of(&reweighed), digest_of(&base));
	nnb_model_free(copy);
	nnb_model_free(m);
}

/* The models differ only in the subgraph of a loop. */
static uint32_t digest_with_subgraph(enum nnb_op type)
{
	struct nnb_model *m = build(&base), *graph = vector_model(type, 4, 1);
	uint32_t digest;

	assert_true(nnb_model_refer(m, graph) >= 0);
	digest = nnb__model_digest(m);
	nnb_model_free(graph);
	nnb_model_free(m);
	return digest;
}

static void subgraphs_count(void **state)
{
	(void)state;
	assert_int_equal(digest_with_subgraph(NNB_ADD), digest_with_subgraph(NNB_ADD));
	assert_int_not_equal(digest_with_subgraph(NNB_ADD), digest_with_subgraph(NNB_MUL));
	assert_int_not_equal(digest_with_subgraph(NNB_ADD), digest_of(&base));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_that_differ_have_different_digests),
		cmocka_unit_test(the_same_model_has_the_same_digest),
		cmocka_unit_test(subgraphs_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_zoo.c -- the built-in models of nnburst-load: valid, supported by every driver, and the same for the
 * same seed.
 */
#include <errno.h>

#include "unit/device_helpers.h"

#include "work.h"
#include "zoo.h"

/* The models of the table, and three of other sizes. */
enum { N_SIZES = 3, N_NAMES = LOAD_ZOO_MODELS + N_SIZES };
static const char *names[N_NAMES] = { "mobilenet-32", "mobilenet-1024", "svdf-1024" };

static struct nnb_model *zoo_model(const char *name, uint64_t seed)
{
	struct nnb_model *m;

	assert_int_equal(load_zoo_new(&m, name, seed), 0);
	return m;
}

static void is_valid_and_prepared(void **state)
{
	static const char *const drivers[] = { "xnnpack", "null" };
	struct nnb_model *m = zoo_model(*state, 1);
	struct nnb_reason why = { "" };

	if (nnb_model_validate(m, &why))
		fail_msg("%s", why.text);
	assert_string_equal(m->name, *state);
	for (size_t i = 0; i < N_OF(drivers); i++) {
		struct nnb_device *d = open_device(drivers[i]);

		assert_true(supports(d, m));
		nnb_prepared_unref(prepared(d, m));
		nnb_device_unref(d);
	}
	nnb_model_free(m);
}

/* All bytes of a model, its pool included. The caller frees them. */
static uint8_t *bytes_of(const struct nnb_model *m, size_t *ret)
{
	struct nnb_mapping *pool = NULL;
	uint8_t *form, *all;
	size_t n, constants = 0;

	assert_int_equal(nnb_model_encode(m, &form, &n), 0);
	assert_true(m->n_pools <= 1);
	if (m->n_pools) {
		assert_int_equal(nnb_map(&pool, &m->pools[0]), 0);
		constants = nnb_mapping_size(pool);
	}
	all = malloc(n + constants);
	assert_non_null(all);
	memcpy(all, form, n);
	if (pool)
		memcpy(all + n, nnb_mapping_data(pool), constants);
	nnb_mapping_unref(pool);
	free(form);
	*ret = n + constants;
	return all;
}

static void is_decided_by_its_seed(void **state)
{
	struct nnb_model *m[3] = { zoo_model(*state, 5), zoo_model(*state, 5), zoo_model(*state, 6) };
	uint8_t *bytes[3];
	size_t n[3];

	for (int i = 0; i < 3; i++)
		bytes[i] = bytes_of(m[i], &n[i]);
	assert_true(n[0] == n[1] && n[0] == n[2]);
	assert_memory_equal(bytes[0], bytes[1], n[0]);
	assert_memory_not_equal(bytes[0], bytes[2], n[0]);
	for (int i = 0; i < 3; i++) {
		free(bytes[i]);
		nnb_model_free(m[i]);
	}
}

/* ---- executing ---- */

static struct load_work *work_of(const char *name, uint64_t seed)
{
	struct load_stream s = { .name = "" };
	struct nnb_reason why = { "" };
	struct load_work *w;

	strcpy(s.model, name);
	if (load_work_new(&w, &s, ".", seed, &why))
		fail_msg("%s", why.text);
	return w;
}

static void execute(const struct load_buffers *b)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p = prepared(d, b->work->model);
	struct nnb_memory pools[LOAD_POOLS_MAX];
	struct nnb_request request = { .inputs = b->inputs,
		                       .outputs = b->outputs,
		                       .n_inputs = b->work->model->n_inputs,
		                       .n_outputs = b->work->model->n_outputs,
		                       .n_pools = b->n_pools,
		                       .pools = pools };
	struct nnb_reason why = { "" };

	for (uint32_t i = 0; i < b->n_pools; i++)
		pools[i] = *nnb_pool_memory(b->pools[i]);
	if (nnb_execute(p, &request, NULL, &why))
		fail_msg("%s", why.text);
	nnb_prepared_unref(p);
	nnb_device_unref(d);
}

/* No class is certain and none is impossible: activations neither vanish nor explode. */
static void expect_classes(const struct load_buffers *b)
{
	const struct nnb_location *l = &b->outputs[0].location;
	const float *y = (const float *)((const char *)nnb_pool_data(b->pools[l->pool]) + l->offset);
	uint32_t n = l->length / 4;
	float sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!(y[i] > 1e-6f && y[i] < 1 - 1e-6f))
			fail_msg("class %u is %g", i, y[i]);
		sum += y[i];
	}
	assert_true(sum > 0.999f && sum < 1.001f);
}

/* The outputs do not depend on how the operands are spread over pools; with other weights they differ. */
static void gives_the_same_from_any_pools(void **state)
{
	static const uint32_t n_pools[] = { 1, 2, 3, 7 };
	struct load_work *w = work_of(*state, 3), *other = work_of(*state, 4);
	uint8_t *reference = malloc(load_outputs_bytes(w));
	struct load_buffers b;
	uint64_t digest = 0;

	assert_non_null(reference);
	for (size_t i = 0; i < N_OF(n_pools); i++) {
		assert_int_equal(load_buffers_init(&b, w, n_pools[i], false), 0);
		load_buffers_spoil(&b);
		execute(&b);
		expect_classes(&b);
		if (!i) {
			load_outputs_copy(&b, reference);
			digest = load_buffers_digest(&b);
		}
		assert_true(load_outputs_equal(&b, reference));
		assert_true(load_buffers_digest(&b) == digest);
		load_buffers_spoil(&b);
		assert_false(load_outputs_equal(&b, reference));
		load_buffers_fini(&b);
	}
	assert_int_equal(load_buffers_init(&b, other, 2, false), 0);
	execute(&b);
	assert_false(load_outputs_equal(&b, reference));
	assert_true(load_buffers_digest(&b) != digest);
	load_buffers_fini(&b);
	free(reference);
	load_work_free(w);
	load_work_free(other);
}

/* ---- names that are not in the zoo, and files ---- */

static void other_names_are_refused(void **state)
{
	static const char *const no_names[] = { "",
		                                "ml",
		                                "mlpx",
		                                "mlp-32",
		                                "mobilenet-",
		                                "mobilenet-0",
		                                "mobilenet-33",
		                                "mobilenet-1056",
		                                "mobilenet--32",
		                                "mobilenet-032",
		                                "svdf-8",
		                                "svdf-4112",
		                                "mobilenet-32x",
		                                "MLP" };
	struct nnb_model *m = NULL;

	(void)state;
	for (size_t i = 0; i < N_OF(no_names); i++)
		assert_int_equal(load_zoo_new(&m, no_names[i], 1), -ENOENT);
	assert_null(m);
}

static void a_file_brings_its_own_inputs(void **state)
{
	struct load_work *w = work_of(EXAMPLES "/add.json", 1);
	const float *x = w->inputs[0];
	struct load_buffers b;

	(void)state;
	assert_true(w->input_bytes[0] == 24 && x[0] == 1 && x[3] == -4); /* as nnb_model(5) shows it */
	assert_int_equal(load_buffers_init(&b, w, 2, false), 0);
	execute(&b);
	assert_true(((float *)nnb_pool_data(b.pools[1]))[4] == 2.5f);
	load_buffers_fini(&b);
	load_work_free(w);
}

/* ---- states ---- */

static const struct pair_row {
	const char *model;
	struct load_pairs pairs;
	const char *says; /* NULL: it is valid */
} pairs[] = {
	{ EXAMPLES "/add.json", { 1, { { 0, 0 } } }, NULL },
	{ EXAMPLES "/add.json", { 1, { { 0, 1 } } }, "output 0 to input 1: the model has 1 and 1" },
	{ EXAMPLES "/add.json", { 1, { { 1, 0 } } }, "output 1 to input 0: the model has 1 and 1" },
	{ EXAMPLES "/small_cnn.json", { 1, { { 0, 0 } } }, "output 0 to input 0: they are not of one type and shape" },
};

static void pairs_are_of_one_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(pairs); i++) {
		struct load_stream s = { .state = LOAD_IN_POOLS, .state_pairs = pairs[i].pairs };
		struct load_work *w = work_of(pairs[i].model, 1);
		struct nnb_reason why = { "" };

		strcpy(s.model, pairs[i].model);
		assert_int_equal(load_work_keep(w, &s, &why), pairs[i].says ? -EINVAL : 0);
		assert_string_equal(why.text, pairs[i].says ? pairs[i].says : "");
		load_work_free(w);
	}
}

/* The state of an example does not matter. */
static void a_state_begins_with_zeroes(void **state)
{
	static const char *const models[] = { EXAMPLES "/add.json", "recurrent", "svdf" };

	(void)state;
	for (size_t i = 0; i < N_OF(models); i++) {
		struct load_stream s = { .state = LOAD_IN_POOLS, .state_pairs = { 1, { { 0, 0 } } } };
		struct load_work *w = work_of(models[i], 1);

		strcpy(s.model, models[i]);
		assert_int_equal(load_work_keep(w, &s, NULL), 0);
		assert_true(w->state.n > 0);
		for (uint32_t k = 0; k < w->model->n_inputs; k++) {
			uint8_t all = 0;

			for (size_t n = 0; n < w->input_bytes[k]; n++)
				all |= ((const uint8_t *)w->inputs[k])[n];
			assert_true(!all == load_is_state_input(w, k));
		}
		s.state = LOAD_NOWHERE;
		load_work_free(w);
		w = work_of(models[i], 1);
		assert_int_equal(load_work_keep(w, &s, NULL), 0);
		assert_true(w->state.n == 0 && ((const float *)w->inputs[0])[0] != 0);
		load_work_free(w);
	}
}

static void a_missing_file_is_reported(void **state)
{
	struct load_stream s = { .model = "./none.json" };
	struct nnb_reason why = { "" };
	struct load_work *w = NULL;

	(void)state;
	assert_true(load_work_new(&w, &s, EXAMPLES, 1, &why) < 0);
	assert_null(w);
	assert_non_null(strstr(why.text, "No such file"));
}

int main(void)
{
	static const struct {
		const char *says;
		CMUnitTestFunction test;
	} each[] = { { "is valid, and prepared", is_valid_and_prepared },
		     { "is decided by its seed", is_decided_by_its_seed },
		     { "gives the same from any pools", gives_the_same_from_any_pools } };
	static char words[N_OF(each) * N_NAMES][80];
	struct CMUnitTest tests[N_OF(each) * N_NAMES + 5];
	size_t n = 0;

	for (size_t i = 0; i < LOAD_ZOO_MODELS; i++)
		names[N_SIZES + i] = load_zoo[i].name;
	for (size_t i = 0; i < N_OF(each); i++)
		for (size_t k = 0; k < N_NAMES; k++, n++) {
			snprintf(words[n], sizeof(words[n]), "%s %s", names[k], each[i].says);
			tests[n] = (struct CMUnitTest){ .name = words[n],
				                        .test_func = each[i].test,
				                        .initial_state = (void *)names[k] };
		}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(other_names_are_refused);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_file_brings_its_own_inputs);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(pairs_are_of_one_shape);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_state_begins_with_zeroes);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_missing_file_is_reported);
	return cmocka_run_group_tests_name("the zoo", tests, NULL, NULL);
}

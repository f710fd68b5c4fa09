/*
 * test_op_paths.c -- each operation with each of its types by every path: from a cache, preempted (saved and
 * begun again), by calls, bursts and fences of a service, each in shared memory and in the device's.
 *
 * A model has a row's operation twice, so that there is a checkpoint between them. The oracle in doubles
 * (op_oracle.h) judges the outputs of a plain execution. Every other path must give equal outputs: all paths
 * of this process the same bits, and all paths of the service the same bits. One round a row;
 * NNB_SOAK_SECONDS has rounds go on for as long.
 */
#include "service_helpers.h"
#include "unit/op_oracle.h"

#include "conformance/ways.h"

static const struct op_family *const files[] = { op_families_first, op_families_newer, op_families_cells,
	                                         op_families_boxes };

static struct {
	struct service service;
	struct nnb_device *device;
	struct nnb_client *client;
	uint32_t rounds; /* rounds until now */
	uint64_t kept;   /* arguments in the memory of the device */
} scene;

/* ---- an example of a model ---- */

struct example {
	struct nnb_example example;
	void *inputs[TENSORS_MAX], *outputs[TENSORS_MAX];
	size_t input_bytes[TENSORS_MAX], output_bytes[TENSORS_MAX];
};

static size_t bytes_of(const struct tensor *t)
{
	return t->n * nnb_type_info(t->operand.type)->bytes;
}

/* compare.c holds no NaN equal to another: an output with one is compared between the paths only. */
static bool has_nan(const struct tensor *t)
{
	for (size_t i = 0; is_real(t->operand.type) && i < t->n; i++)
		if (isnan(element_decode(t, i)))
			return true;
	return false;
}

static void example_init(struct example *x, const struct maker *k)
{
	*x = (struct example){ .example = { x->inputs, x->outputs, x->input_bytes, x->output_bytes } };
	for (uint32_t i = 0; i < k->n_given; i++) {
		x->inputs[i] = k->tensors[i]->bytes;
		x->input_bytes[i] = bytes_of(k->tensors[i]);
	}
	for (uint32_t i = 0; i < k->n_outputs; i++) {
		x->output_bytes[i] = bytes_of(k->wanted[i]);
		x->outputs[i] = x->output_bytes[i] && !has_nan(k->wanted[i]) ? k->wanted[i]->bytes : NULL;
	}
}

/* ---- ways ---- */

static void run_ways(const struct op_row *row, uint32_t round, struct target *t, unsigned paths,
                     const struct example *x)
{
	struct ways ways = { .paths = paths, .memories = { true, true } };
	struct nnb_reason why = { "" };

	if (!run_example(&ways, t, &x->example, &why))
		fail_msg("%s, round %u, %s: %s", row->name, round, t->remote ? "by the service" : "here", why.text);
	scene.kept += ways.kept;
}

/* From the cache, in this process. */
static void run_here(const struct op_row *row, uint32_t round, const struct nnb_model *m, const struct example *x)
{
	uint8_t token[NNB_TOKEN_BYTES] = { 1 };
	struct nnb_reason why = { "" };
	struct target t = { 0 };
	bool cached = false;

	memcpy(token + 1, &scene.rounds, sizeof(scene.rounds));
	for (int i = 0; i < 2; i++) {
		t.prepared = nnb_prepared_unref(t.prepared);
		if (nnb_prepare_cached(scene.device, m, &ordinary, scene.service.dir, token, &t.prepared, &cached,
		                       &why))
			fail_msg("%s, round %u: %s", row->name, round, why.text);
	}
	assert_true(cached);
	assert_true(device_memory_init(&t.memory, scene.device, t.prepared));
	run_ways(row, round, &t, AT_ONE_GO | SAVED | RESTARTED, x);
	target_free(&t);
}

static void run_there(const struct op_row *row, uint32_t round, const struct nnb_model *m, const struct example *x)
{
	struct target t = { 0 };

	t.remote = app_prepare(scene.client, m);
	t.burst = app_burst(t.remote);
	assert_true(device_memory_init_remote(&t.memory, scene.client, t.remote));
	run_ways(row, round, &t, BY_SYNC | BY_BURST | BY_FENCED, x);
	target_free(&t);
}

static void run_round(const struct op_row *row, uint32_t round)
{
	static struct maker k;
	static struct tensor copies[TENSORS_MAX];
	static struct example x;
	struct tensor *again[TENSORS_MAX];
	struct nnb_reason why = { "" };
	struct nnb_prepared *p;
	uint32_t n;

	op_round_make(&k, row, round);
	n = k.n_outputs;
	for (uint32_t i = 0; i < n; i++) {
		copies[i] = *k.wanted[i];
		again[i] = &copies[i];
	}
	op_model_finish(&k, again);
	p = prepared(scene.device, k.m);
	if (op_execute(p, &k, NULL, &why))
		fail_msg("%s, round %u: %s", row->name, round, why.text);
	nnb_prepared_unref(p);
	for (uint32_t i = 0; i < n; i++)
		assert_memory_equal(k.wanted[i]->bytes, again[i]->bytes, bytes_of(again[i]));
	k.n_outputs = n;
	op_outputs_judge(row, round, &k);
	k.n_outputs = 2 * n;
	example_init(&x, &k);
	scene.rounds++;
	run_here(row, round, k.m, &x);
	run_there(row, round, k.m, &x);
	nnb_model_free(k.m);
}

/* ---- rows ---- */

static void by_every_path(void **state)
{
	run_round(*state, 0);
}

static void go_on(const struct op_row *rows, size_t n)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");
	uint64_t until = soak ? now_ns() + (uint64_t)atol(soak) * 1000000000 : 0;

	for (uint32_t round = 1; now_ns() < until; round++)
		for (size_t i = 0; i < n && now_ns() < until; i++)
			run_round(&rows[i], round);
}

static struct op_row *all_rows;
static size_t n_rows;

static void rounds_go_on(void **state)
{
	(void)state;
	go_on(all_rows, n_rows);
	assert_true(scene.kept > scene.rounds); /* device memory was used */
	print_message("counted: %u models of operations by every path\n", scene.rounds);
}

static int scene_open(void **state)
{
	struct nnb_client_config config = { .socket = scene.service.socket };

	(void)state;
	service_init(&scene.service);
	config.socket = scene.service.socket;
	service_start(&scene.service, OPTIONS("--driver", DRIVER_BOTH));
	scene.device = open_device(DRIVER_BOTH);
	return nnb_client_open(&scene.client, &config, NULL) ? -1 : 0;
}

static int scene_close(void **state)
{
	(void)state;
	nnb_client_close(scene.client);
	nnb_device_unref(scene.device);
	service_settles(&scene.service);
	service_fini(&scene.service);
	return 0;
}

int main(void)
{
	struct CMUnitTest *units;
	size_t at = 0;
	int failed;

	for (size_t i = 0; i < N_OF(files); i++)
		n_rows += op_rows(files[i], NULL);
	all_rows = calloc(n_rows, sizeof(*all_rows));
	units = calloc(n_rows + 1, sizeof(*units));
	if (!all_rows || !units)
		return 5;
	for (size_t i = 0; i < N_OF(files); i++)
		at += op_rows(files[i], all_rows + at);
	for (size_t i = 0; i < n_rows; i++)
		units[i] = (struct CMUnitTest){ all_rows[i].name, by_every_path, NULL, NULL, &all_rows[i] };
	units[n_rows] = (struct CMUnitTest)cmocka_unit_test(rounds_go_on);
	failed = _cmocka_run_group_tests("test_op_paths", units, n_rows + 1, scene_open, scene_close);
	free(units);
	free(all_rows);
	return failed;
}

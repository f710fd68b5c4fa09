/*
 * test_service_memory.c -- nnburstd --memory: the memory of all apps together, and whether a retry can
 * succeed.
 *
 * Apps are processes. A TRANSIENT failure succeeds after another app has released memory; a PERSISTENT one
 * never does.
 */
#include "service_helpers.h"

#define MIB UINT64_C(1048576)

/* vector_model: a constant in a pool, the input, a temporary, the output and the constant again. */
enum { SMALL = 1 << 18, LARGE = 1 << 20, MODEL_MIB = 5, LARGE_MIB = 20, IO_MIB = 2 };

struct fixture {
	struct service s;
	struct nnb_client *client;
	struct nnb_model *small, *large;
};

static int set_up_with(void **state, const char *memory)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "pid", "--memory", memory));
	f->client = app_open(&f->s);
	f->small = vector_model(NNB_ADD, SMALL, 1);
	f->large = vector_model(NNB_ADD, LARGE, 1);
	*state = f;
	return 0;
}

static int of_8_MiB(void **state)
{
	return set_up_with(state, "8M");
}

static int of_14_MiB(void **state)
{
	return set_up_with(state, "14M");
}

static int of_10_MiB(void **state)
{
	return set_up_with(state, "10M");
}

static int of_7_MiB(void **state)
{
	return set_up_with(state, "7M");
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nnb_client_close(f->client);
	nnb_model_free(f->small);
	nnb_model_free(f->large);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- the other app ---- */

static void have_a_model(const char *socket_path)
{
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_model *m = vector_model(NNB_ADD, SMALL, 1);

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	scene_report('.');
	scene_stay();
}

static void another_app_has_a_model(struct fixture *f, struct child *ret)
{
	child_start(ret, "has a model", &f->s, "");
	assert_int_equal(child_read(ret), '.');
	app_comes_to_hold(f->client, all.models, app_counts(f->client).app.models + 1);
}

/* Kill the other app; its memory is free when the service has noticed. */
static void the_other_app_goes(struct fixture *f, struct child *c)
{
	child_kill(c);
	app_comes_to_hold(f->client, all.connections, 1);
	app_comes_to_hold(f->client, all.bytes, app_counts(f->client).app.bytes);
}

/* ---- requests for memory ---- */

static void expect_status(enum nnb_status is, enum nnb_status want, const struct nnb_reason *why, const char *words)
{
	if (is != want)
		fail_msg("%s and not %s: %s", nnb_status_name(is), nnb_status_name(want), why->text);
	if (!strstr(why->text, words))
		fail_msg("'%s' does not say '%s'", why->text, words);
}

static void expect_prepare(struct fixture *f, const struct nnb_model *m, enum nnb_status want, const char *words)
{
	struct nnb_reason why = { "" };
	struct nnb_remote *remote = NULL;

	expect_status(nnb_remote_prepare(f->client, m, NULL, NULL, &remote, &why), want, &why, words);
	assert_true((want == NNB_STATUS_NONE) == (remote != NULL));
	nnb_remote_release(remote);
}

struct told {
	atomic_uint times;
	enum nnb_status status;
};

static void note(void *arg, const struct nnb_result *result)
{
	struct told *t = arg;

	t->status = result->status;
	atomic_fetch_add(&t->times, 1);
}

static void expect_async(struct nnb_remote *remote, struct io *io, enum nnb_status want)
{
	struct told t = { 0 };

	assert_none(nnb_remote_execute_async(remote, &io->call, note, &t, &why));
	await(&t.times, 1);
	assert_int_equal(t.status, want);
}

/* The same on every path. */
static void expect_execute(struct nnb_remote *remote, struct nnb_burst *burst, struct io *io, enum nnb_status want)
{
	struct nnb_reason why = { "" };

	expect_status(nnb_remote_execute(remote, &io->call, NULL, &why), want, &why, want ? "more bytes" : "");
	expect_async(remote, io, want);
	assert_int_equal(nnb_burst_execute(burst, &io->call, &io->answer, NULL), want);
	assert_false(io->answer.fallback);
}

/* ---- the tests ---- */

static void an_app_learns_its_limit(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;

	assert_int_equal(app_counts(f->client).limit.bytes, 8 * MIB);
	remote = app_prepare(f->client, f->small);
	assert_in_range(app_counts(f->client).app.bytes, MODEL_MIB * MIB, (MODEL_MIB + 1) * MIB);
	nnb_remote_release(remote);
	app_comes_to_hold(f->client, all.bytes, 0);
}

static void a_model_that_fits_when_another_app_goes_is_refused_for_now(void **state)
{
	struct fixture *f = *state;
	struct child c;

	another_app_has_a_model(f, &c);
	for (int i = 0; i < 3; i++)
		expect_prepare(f, f->small, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, "all apps together have");
	the_other_app_goes(f, &c);
	expect_prepare(f, f->small, NNB_STATUS_NONE, "");
}

static void a_model_that_fits_when_the_app_lets_go_of_one_is_refused_for_now(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = app_prepare(f->client, f->small);

	for (int i = 0; i < 3; i++)
		expect_prepare(f, f->small, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, "the app has");
	nnb_remote_release(remote);
	expect_prepare(f, f->small, NNB_STATUS_NONE, "");
}

static void a_model_that_never_fits_is_refused_for_good(void **state)
{
	struct fixture *f = *state;
	struct child c;

	another_app_has_a_model(f, &c);
	for (int i = 0; i < 3; i++)
		expect_prepare(f, f->large, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, "more bytes");
	the_other_app_goes(f, &c);
	for (int i = 0; i < 3; i++)
		expect_prepare(f, f->large, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, "more bytes");
	expect_prepare(f, f->small, NNB_STATUS_NONE, "");
}

/* Two models of 5 MiB each, a burst of 1 MiB, and 2 MiB for each execution; the burst keeps its memory. */
static void an_execution_that_fits_when_another_app_goes_is_refused_for_now(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = app_prepare(f->client, f->small);
	struct nnb_burst *burst = app_burst(remote);
	struct io io[2];
	struct child c;

	io_init(&io[0], SMALL);
	io_init(&io[1], SMALL);
	another_app_has_a_model(f, &c);
	assert_none(nnb_burst_execute(burst, &io[0].call, NULL, &why));
	for (int i = 0; i < 3; i++)
		expect_execute(remote, burst, &io[1], NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_none(nnb_burst_execute(burst, &io[0].call, NULL, &why)); /* requests with known pools go on */
	the_other_app_goes(f, &c);
	expect_execute(remote, burst, &io[1], NNB_STATUS_NONE);
	assert_true(io_right(&io[1], NNB_ADD, 1));
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io[0]);
	io_fini(&io[1]);
}

/* 2 MiB are less than 7, but the model's 5 must stay, and the 1 of the burst or call. */
static void an_execution_that_never_fits_beside_its_model_is_refused_for_good(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = app_prepare(f->client, f->small);
	struct nnb_burst *burst = app_burst(remote);
	struct io io;

	io_init(&io, SMALL);
	for (int i = 0; i < 3; i++)
		expect_execute(remote, burst, &io, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
	app_comes_to_hold(f->client, all.bytes, 0);
}

/*
 * Each of two pools fits beside the model, and both together never do: if the failure were transient, an app
 * would retry for ever.
 */
static void an_execution_whose_pools_never_fit_together_is_refused_for_good(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = app_prepare(f->client, f->small);
	struct nnb_burst *burst = app_burst(remote);
	struct nnb_pool *pools[2];
	struct io io;

	io_init(&io, SMALL);
	pools[0] = io.pool;
	assert_int_equal(nnb_pool_new(&pools[1], IO_MIB * MIB), 0);
	io.call.pools = pools;
	io.call.n_pools = 2;
	io.out.location = (struct nnb_location){ 1, 0, SMALL * 4 };
	for (int i = 0; i < 3; i++)
		expect_execute(remote, burst, &io, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	io.call.n_pools = 1;
	io.out.location = (struct nnb_location){ 0, SMALL * 4, SMALL * 4 };
	assert_none(nnb_burst_execute(burst, &io.call, NULL, &why)); /* S-9: the burst kept the pool that fits */
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_pool_free(pools[1]);
	io_fini(&io);
}

/* x + 1 + 1 ...: its message is large beside what the model itself takes. */
static struct nnb_model *wordy_model(void)
{
	enum { SOME = 16 };
	const float ones[SOME] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct nnb_model *m;
	uint32_t x, at, act, y;

	assert_int_equal(nnb_model_new(&m, "wordy", NNB_HAL_1_0), 0);
	x = at = float_tensor(m, SOME);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < 2000; i++, at = y) {
		uint32_t c = float_tensor(m, SOME);

		y = float_tensor(m, SOME);
		assert_int_equal(nnb_model_value(m, c, ones, sizeof(ones)), 0);
		assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ at, c, act }, 3, &y, 1) >= 0);
	}
	assert_int_equal(nnb_model_finish(m, &x, 1, &at, 1), 0);
	return m;
}

/*
 * The model's message takes memory, and so does reading a cache entry; but that memory is not taken from the
 * model's limit.
 */
static void a_model_that_fits_by_itself_is_not_refused_for_its_message(void **state)
{
	struct fixture *f = *state;
	int files[2] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };
	const struct nnb_cache cache = { &files[0], &files[1], 1, 1, { 7 } };
	struct nnb_model *m = wordy_model();
	struct nnb_remote *remote;
	char memory[24], key[64];
	uint8_t *wire;
	size_t bytes, weighs;

	assert_int_equal(nnb_model_encode(m, &wire, &bytes), 0);
	free(wire);
	assert_true(bytes > 64 * 1024); /* large enough to be charged */
	remote = app_prepare(f->client, m);
	weighs = app_counts(f->client).app.bytes;
	nnb_remote_release(remote);
	assert_true(weighs > bytes && weighs / 16 < bytes);
	f->client = nnb_client_close(f->client);
	assert_int_equal(service_stop(&f->s), 0);
	snprintf(memory, sizeof(memory), "%zu", weighs + weighs / 16);
	snprintf(key, sizeof(key), "%s/key", f->s.dir);
	service_start(&f->s, OPTIONS("--memory", memory, "--cache-key", key));
	f->client = app_open(&f->s);
	assert_none(nnb_remote_prepare(f->client, m, NULL, &cache, &remote, &why));
	/* A block from malloc has some bytes more where the rest of a free one is too small to be a block. */
	assert_in_range(app_counts(f->client).app.bytes, weighs - bytes / 64, weighs + bytes / 64);
	nnb_remote_release(remote);
	assert_none(nnb_remote_prepare_from_cache(f->client, m, 0, &cache, &remote, &why));
	nnb_remote_release(remote);
	app_comes_to_hold(f->client, all.bytes, 0);
	nnb_model_free(m);
	close(files[0]);
	close(files[1]);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene"))
		have_a_model(argv[3]);
#define TEST(f, set_up) add_test(f, set_up, tear_down, NULL, "%s", #f)
	TEST(an_app_learns_its_limit, of_8_MiB);
	TEST(a_model_that_fits_when_another_app_goes_is_refused_for_now, of_8_MiB);
	TEST(a_model_that_fits_when_the_app_lets_go_of_one_is_refused_for_now, of_8_MiB);
	TEST(a_model_that_never_fits_is_refused_for_good, of_8_MiB);
	TEST(an_execution_that_fits_when_another_app_goes_is_refused_for_now, of_14_MiB);
	TEST(an_execution_that_never_fits_beside_its_model_is_refused_for_good, of_7_MiB);
	TEST(an_execution_whose_pools_never_fit_together_is_refused_for_good, of_10_MiB);
	TEST(a_model_that_fits_by_itself_is_not_refused_for_its_message, of_8_MiB);
	return _cmocka_run_group_tests("service: memory", tests, n_tests, NULL, NULL);
}

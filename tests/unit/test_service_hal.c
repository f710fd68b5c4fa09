/*
 * test_service_hal.c -- clients made for an older HAL, at a real nnburstd: before 1.3 there are neither priorities nor
 * deadlines, nor the statuses that came with them, on any path.
 */
#include "service_helpers.h"

enum { N = 64, ROOMY = 1 << 18 /* floats: 1 MiB */ };

#define LARGE_MODEL_BYTES "8M" /* limits of an app: one model of ROOMY, and one request */

static const struct hal_case {
	const char *name;
	enum nnb_hal hal;
	bool qos;
} hals[] = {
	{ "1.0", NNB_HAL_1_0 },
	{ "1.1", NNB_HAL_1_1 },
	{ "1.2", NNB_HAL_1_2 },
	{ "1.3", NNB_HAL_1_3, true },
	{ "none in particular", (enum nnb_hal)0, true },
};

struct fixture {
	struct service s;
	const struct hal_case *row;
	struct nnb_client *client;
	struct nnb_model *adds;
};

static struct nnb_client *open_as(const struct fixture *f, enum nnb_hal hal)
{
	const struct nnb_client_config config = { .socket = f->s.socket, .hal = hal };
	struct nnb_client *client;
	struct nnb_reason why = { "" };

	if (nnb_client_open(&client, &config, &why))
		fail_msg("%s", why.text);
	return client;
}

static int set_up_with(void **state, const char *const *options)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, options);
	f->client = open_as(f, f->row->hal);
	f->adds = vector_model(NNB_ADD, N, 1);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, OPTIONS(NULL));
}

static int with_few_of_all(void **state)
{
	return set_up_with(state, OPTIONS("--limit", "models=1", "--limit", "bursts=1", "--limit", "async=1"));
}

static int with_fewer_bytes(void **state)
{
	return set_up_with(state, OPTIONS("--limit", "bytes=512K"));
}

static int with_few_bytes(void **state)
{
	return set_up_with(state, OPTIONS("--limit", "bytes=" LARGE_MODEL_BYTES));
}

static int with_one_channel(void **state)
{
	return set_up_with(state, OPTIONS("--limit", "channels=1"));
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->s.gate->hold_runs, 0);
	nnb_client_close(f->client);
	nnb_model_free(f->adds);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* Check @status as this client must see it. */
static void expect_seen(const struct fixture *f, enum nnb_status is, enum nnb_status status)
{
	enum nnb_status want = f->row->qos ? status : NNB_STATUS_GENERAL_FAILURE;

	if (is != want)
		fail_msg("%s, and not %s", nnb_status_name(is), nnb_status_name(want));
}

/* ---- arguments that an older HAL lacks ---- */

static void priorities_and_deadlines_are_no_arguments(void **state)
{
	struct fixture *f = *state;
	const enum nnb_status want = f->row->qos ? NNB_STATUS_NONE : NNB_STATUS_INVALID_ARGUMENT;
	int files[2] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };
	const struct nnb_cache cache = { &files[0], &files[1], 1, 1, { 7 } };
	const struct nnb_prepare more[] = { { 1, NNB_PRIORITY_LOW },
		                            { 1, NNB_PRIORITY_HIGH },
		                            { 1, NNB_PRIORITY_MEDIUM, INT64_MAX } };
	struct nnb_remote *remote;

	for (size_t i = 0; i < N_OF(more); i++) {
		remote = NULL;
		assert_int_equal(nnb_remote_prepare(f->client, f->adds, &more[i], NULL, &remote, NULL), want);
		nnb_remote_release(remote);
	}
	for (uint32_t preference = 0; preference < 3; preference++) {
		const struct nnb_prepare how = { preference, NNB_PRIORITY_MEDIUM };

		assert_none(nnb_remote_prepare(f->client, f->adds, &how, &cache, &remote, &why));
		nnb_remote_release(remote);
	}
	remote = NULL;
	assert_int_equal(nnb_remote_prepare_from_cache(f->client, f->adds, INT64_MAX, &cache, &remote, NULL), want);
	nnb_remote_release(remote);
	assert_none(nnb_remote_prepare_from_cache(f->client, f->adds, 0, &cache, &remote, &why));
	nnb_remote_release(remote);
	close(files[0]);
	close(files[1]);
}

/* A model of a later HAL, which an app for an older HAL cannot have made. */
static void a_model_of_a_later_hal_is_no_argument(void **state)
{
	struct fixture *f = *state;
	enum nnb_hal hal = f->row->hal ? f->row->hal : NNB_HAL_1_3;
	struct nnb_remote *remote = NULL;
	struct nnb_reason why;
	bool supported[2];

	for (uint32_t of = NNB_HAL_1_0; of <= NNB_HAL_1_3; of++) {
		enum nnb_status want = of > hal ? NNB_STATUS_INVALID_ARGUMENT : NNB_STATUS_NONE;

		f->adds->hal = of;
		assert_int_equal(nnb_client_supported(f->client, f->adds, supported, &why), want);
		assert_int_equal(nnb_remote_prepare(f->client, f->adds, NULL, NULL, &remote, &why), want);
		if (want)
			assert_non_null(strstr(why.text, "the model is for HAL 1."));
		nnb_remote_release(remote);
		remote = NULL;
	}
}

/* on every path; and nothing is executed. */
static void terms_of_executions_are_no_arguments(void **state)
{
	const struct nnb_terms terms[] = { { INT64_MAX, 0 }, { 0, 1 }, { UINT64_MAX, UINT64_MAX } };
	const struct nnb_burst_config tiny = { .request_capacity = 4 }; /* no request fits, so the burst falls
	                                                                 * back to a call */
	struct fixture *f = *state;
	const enum nnb_status want = f->row->qos ? NNB_STATUS_NONE : NNB_STATUS_INVALID_ARGUMENT;
	struct nnb_remote *remote = app_prepare(f->client, f->adds);
	struct nnb_burst *bursts[2] = { app_burst(remote) };
	enum nnb_status told;
	struct io io;

	assert_none(nnb_remote_burst(remote, &tiny, &bursts[1], &why));
	io_init(&io, N);
	for (size_t i = 0; i < N_OF(terms); i++) {
		io.call.terms = terms[i];
		for (int way = 0; way < 4; way++) {
			io_refresh(&io, (float)i);
			if (way < 2) {
				assert_int_equal(nnb_burst_execute(bursts[way], &io.call, &io.answer, NULL), want);
				assert_true(want || io.answer.fallback == (way == 1));
			} else if (way == 2) {
				assert_int_equal(nnb_remote_execute(remote, &io.call, &io.answer, NULL), want);
			} else {
				assert_int_equal(execute_and_await(remote, &io.call, &told, NULL), want);
				assert_int_equal(told, want);
			}
			assert_int_equal(io_right(&io, NNB_ADD, 1), want == NNB_STATUS_NONE);
		}
	}
	io.call.terms = (struct nnb_terms){ 0 };
	expect_burst(bursts[0], &io, NNB_ADD);
	expect_sync(remote, &io, NNB_ADD);
	nnb_burst_free(bursts[0]);
	nnb_burst_free(bursts[1]);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* ---- statuses that an older HAL lacks ---- */

static void what_would_go_well_later_is_a_general_failure(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = app_prepare(f->client, f->adds), *other = NULL;
	struct nnb_burst *burst = app_burst(remote), *another = NULL;
	struct told_status held = { 0 };
	enum nnb_status told;
	struct io io[2];

	expect_seen(f, nnb_remote_prepare(f->client, f->adds, NULL, NULL, &other, NULL),
	            NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	expect_seen(f, nnb_remote_burst(remote, NULL, &another, NULL), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_true(!other && !another);
	io_init(&io[0], N);
	io_init(&io[1], N);
	atomic_store(&f->s.gate->hold_runs, 1);
	assert_none(nnb_remote_execute_async(remote, &io[0].call, told_note, &held, &why));
	await(&f->s.gate->held_runs, 1);
	expect_seen(f, execute_and_await(remote, &io[1].call, &told, NULL),
	            NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT); /* P-32 */
	expect_seen(f, told, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	atomic_store(&f->s.gate->hold_runs, 0);
	await(&held.times, 1);
	assert_int_equal(held.status, NNB_STATUS_NONE);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io[0]);
	io_fini(&io[1]);
}

static void what_never_goes_well_is_a_general_failure(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *large = vector_model(NNB_ADD, 4 * ROOMY, 1);
	struct nnb_remote *remote = app_prepare(f->client, f->adds), *other = NULL;
	struct nnb_burst *burst = app_burst(remote);
	enum nnb_status told;
	struct io io;

	expect_seen(f, nnb_remote_prepare(f->client, large, NULL, NULL, &other, NULL),
	            NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	assert_null(other);
	io_init(&io, 4 * ROOMY); /* its pool has 32 MiB */
	io.in.location = (struct nnb_location){ 0, 0, N * 4 };
	io.out.location = (struct nnb_location){ 0, N * 4, N * 4 };
	expect_seen(f, nnb_remote_execute(remote, &io.call, &io.answer, NULL),
	            NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	assert_int_equal(execute_and_await(remote, &io.call, &told, NULL), NNB_STATUS_NONE);
	expect_seen(f, told, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	for (int i = 0; i < 2; i++) {
		expect_seen(f, nnb_burst_execute(burst, &io.call, &io.answer, NULL),
		            NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
		assert_true(!io.answer.fallback && !io.answer.n_shapes);
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_model_free(large);
	io_fini(&io);
}

/* The service refuses a message beyond 64 KiB before it reads the message. */
static void a_message_that_is_too_large_is_a_general_failure(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m;
	struct nnb_remote *remote = NULL;
	uint32_t x, at, act, y;

	assert_int_equal(nnb_model_new(&m, "long", NNB_HAL_1_0), 0);
	x = at = float_tensor(m, 4);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < 8000; i++, at = y) {
		y = float_tensor(m, 4);
		assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ at, x, act }, 3, &y, 1) >= 0);
	}
	assert_int_equal(nnb_model_finish(m, &x, 1, &at, 1), 0);
	expect_seen(f, nnb_remote_prepare(f->client, m, NULL, NULL, &remote, NULL),
	            NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	assert_null(remote);
	nnb_model_free(m);
}

struct caller {
	struct nnb_remote *remote;
	struct io io;
	pthread_t thread;
	enum nnb_status status;
};

static void *caller_run(void *arg)
{
	struct caller *c = arg;

	c->status = nnb_remote_execute(c->remote, &c->io.call, NULL, NULL);
	return NULL;
}

/* The client cannot even ask. */
static void no_channel_in_time_is_a_general_failure(void **state)
{
	struct fixture *f = *state;
	struct caller c = { .remote = app_prepare(f->client, f->adds) };
	struct io io;

	io_init(&c.io, N);
	io_init(&io, N);
	atomic_store(&f->s.gate->hold_runs, 1);
	assert_int_equal(pthread_create(&c.thread, NULL, caller_run, &c), 0);
	await(&f->s.gate->held_runs, 1);
	io.call.timeout_ns = 20 * MS;
	expect_seen(f, nnb_remote_execute(c.remote, &io.call, NULL, NULL), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	atomic_store(&f->s.gate->hold_runs, 0);
	pthread_join(c.thread, NULL);
	assert_int_equal(c.status, NNB_STATUS_NONE);
	nnb_remote_release(c.remote);
	io_fini(&c.io);
	io_fini(&io);
}

/* ---- each is told as it is ---- */

/* Two clients of one app, at once. */
static void another_client_of_the_app_gets_the_real_status(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *new = open_as(f, NNB_HAL_1_3);
	struct nnb_remote *kept = app_prepare(f->client, f->adds), *remote = NULL;

	expect_seen(f, nnb_remote_prepare(f->client, f->adds, NULL, NULL, &remote, NULL),
	            NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_int_equal(nnb_remote_prepare(new, f->adds, NULL, NULL, &remote, NULL),
	                 NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	nnb_remote_release(kept);
	nnb_client_close(new);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void **state);
		int (*set_up)(void **state);
	} all[] = {
		{ "priorities and deadlines are no arguments", priorities_and_deadlines_are_no_arguments, set_up },
		{ "a model of a later HAL is no argument", a_model_of_a_later_hal_is_no_argument, set_up },
		{ "terms of executions are no arguments", terms_of_executions_are_no_arguments, set_up },
		{ "what would go well later is a general failure", what_would_go_well_later_is_a_general_failure,
		  with_few_of_all },
		{ "what never goes well is a general failure", what_never_goes_well_is_a_general_failure,
		  with_few_bytes },
		{ "a message that is too large is a general failure", a_message_that_is_too_large_is_a_general_failure,
		  with_fewer_bytes },
		{ "no channel in time is a general failure", no_channel_in_time_is_a_general_failure,
		  with_one_channel },
		{ "another client of the app gets the real status", another_client_of_the_app_gets_the_real_status,
		  with_few_of_all },
	};

	for (size_t i = 0; i < N_OF(all); i++)
		for (size_t k = 0; k < N_OF(hals); k++)
			add_test(all[i].run, all[i].set_up, tear_down, (void *)&hals[k], "HAL %s: %s%s", hals[k].name,
			         hals[k].qos ? "not so: " : "", all[i].name);
	return _cmocka_run_group_tests("service: older clients (Q-20)", tests, n_tests, NULL, NULL);
}

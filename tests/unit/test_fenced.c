/*
 * test_fenced.c -- fenced executions of a real nnburstd: which are refused at once, what they wait for, what
 * the fence and the callback report in the end, and deaths of client or service meanwhile.
 */
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "nnb/fence.h"
#include "service_helpers.h"

enum { N = 64, CHAIN = 8 };

#define TRANSIENT NNB_STATUS_MISSED_DEADLINE_TRANSIENT
#define PERSISTENT NNB_STATUS_MISSED_DEADLINE_PERSISTENT

struct fixture {
	struct service s;
	struct nnb_model *adds;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct io io;
	const void *row;
};

static int set_up_with(void **state, const char *const *options)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, options);
	f->adds = vector_model(NNB_ADD, N, 1);
	io_init(&f->io, N);
	io_refresh(&f->io, 2);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	int r = set_up_with(state, OPTIONS(NULL));
	struct fixture *f = *state;

	f->client = app_open(&f->s);
	f->remote = app_prepare(f->client, f->adds);
	return r;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->s.gate->hold_runs, 0);
	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	nnb_model_free(f->adds);
	if (f->s.pid)
		service_settles(&f->s);
	service_fini(&f->s);
	io_fini(&f->io);
	free(f);
	return 0;
}

/* ---- fences ---- */

static int new_fence(void)
{
	int fence = -1;

	assert_int_equal(nnb_fence_new(&fence), 0);
	return fence;
}

static int old_fence(bool failed)
{
	int fence = new_fence();

	assert_int_equal(nnb_fence_signal(fence, failed), 0);
	return fence;
}

/* A fenced execution, and its fence. */
struct launched {
	struct nnb_fenced *fenced;
	int fence;
};

static struct launched launch(struct nnb_remote *remote, const struct nnb_call *call, const struct nnb_fenced_how *how)
{
	struct launched l = { NULL, -1 };

	assert_none(nnb_remote_execute_fenced(remote, call, how, &l.fenced, &l.fence, &why));
	assert_true(l.fenced && nnb_fence_state(l.fence) >= 0);
	assert_int_equal(fcntl(l.fence, F_GETFD), FD_CLOEXEC);
	return l;
}

static struct launched launch_behind(struct nnb_remote *remote, const struct nnb_call *call, int fence)
{
	return launch(remote, call, &(struct nnb_fenced_how){ .wait_for = &fence, .n_wait_for = 1 });
}

/* Wait for the fence, and expect @status from the callback. Frees the execution. */
static void expect_end(struct launched *l, enum nnb_status status)
{
	struct nnb_timing timing[2];
	struct nnb_reason why = { "" };

	assert_int_equal(nnb_fence_wait(&l->fence, 1, PATIENCE), status ? NNB_FENCE_FAILED : NNB_FENCE_SIGNALLED);
	assert_int_equal(nnb_fenced_info(l->fenced, &timing[0], &timing[1], &why), status);
	assert_true(!status == !why.text[0]);
	for (int i = 0; status && i < 2; i++)
		assert_true(timing[i].on_device_ns == UINT64_MAX && timing[i].in_driver_ns == UINT64_MAX);
	l->fenced = nnb_fenced_free(l->fenced);
	close(l->fence);
	l->fence = -1;
}

/* Expect that the launch fails at once, and gives nothing. */
static void expect_refusal(struct nnb_remote *remote, const struct nnb_call *call, const struct nnb_fenced_how *how,
                           enum nnb_status status, const char *words)
{
	struct nnb_fenced *untouched = (struct nnb_fenced *)remote, *fenced = untouched;
	struct nnb_reason why = { "" };
	int fence = -7;

	assert_int_equal(nnb_remote_execute_fenced(remote, call, how, &fenced, &fence, &why), status);
	assert_ptr_equal(fenced, untouched);
	assert_int_equal(fence, -7);
	if (!strstr(why.text, words))
		fail_msg("'%s' does not contain '%s'", why.text, words);
}

static bool untouched(const struct io *io)
{
	for (uint32_t i = 0; i < io->n; i++)
		if (io->y[i] != -1e9F)
			return false;
	return true;
}

static uint64_t later(uint64_t ns)
{
	return now_ns() + ns;
}

static void sleep_until(uint64_t then)
{
	while (now_ns() < then)
		poll_pause();
}

/* ---- refusals at launch ---- */

static const struct bad_fence {
	const char *name, *words;
	enum { NULL_HANDLE, PIPE, FILE_OF_8, FAILED, ITS_LIST } what;
} bad_fences[] = {
	{ "a null handle", "not open", NULL_HANDLE },
	{ "a pipe", "fence 1 is not a fence", PIPE },
	{ "a file", "fence 1 is not a fence", FILE_OF_8 },
	{ "a fence that has failed", "fence 1 has failed", FAILED },
	{ "no list", "missing", ITS_LIST },
};

static void an_unsuitable_fence_is_refused(void **state)
{
	struct fixture *f = *state;
	const struct bad_fence *row = f->row;
	int fences[3] = { old_fence(false), -1, new_fence() }, ends_of[2];
	struct nnb_fenced_how how = { .wait_for = row->what == ITS_LIST ? NULL : fences, .n_wait_for = 3 };

	assert_int_equal(pipe2(ends_of, O_CLOEXEC), 0);
	if (row->what == PIPE)
		fences[1] = dup(ends_of[0]);
	if (row->what == FILE_OF_8)
		fences[1] = new_file(8, 0);
	if (row->what == FAILED)
		fences[1] = old_fence(true);
	expect_refusal(f->remote, &f->io.call, &how, NNB_STATUS_INVALID_ARGUMENT, row->words);
	expect_sync(f->remote, &f->io, NNB_ADD); /* the connection still works */
	for (int i = 0; i < 3; i++)
		close(fences[i]);
	close(ends_of[0]);
	close(ends_of[1]);
}

static void an_output_that_is_not_fully_specified_is_refused(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_model *m = relu_model_of_any_extent(1);
	struct launched l;

	remote = app_prepare(f->client, m);
	f->io.in.rank = 1;
	f->io.in.dims[0] = N;
	assert_none(nnb_remote_execute(remote, &f->io.call, &f->io.answer, &why));
	expect_refusal(remote, &f->io.call, NULL, NNB_STATUS_INVALID_ARGUMENT, "output 0");
	f->io.out.rank = 1;
	f->io.out.dims[0] = N;
	l = launch(remote, &f->io.call, NULL);
	expect_end(&l, NNB_STATUS_NONE);
	assert_true(f->io.y[N - 1] == f->io.x[N - 1]);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

static void a_bad_request_comes_before_a_bad_fence_and_that_before_a_deadline(void **state)
{
	struct fixture *f = *state;
	int fence = old_fence(true);
	struct nnb_fenced_how how = { .wait_for = &fence, .n_wait_for = 1 };

	f->io.call.terms.deadline_ns = 1;
	f->io.in.location.length = 4;
	expect_refusal(f->remote, &f->io.call, &how, NNB_STATUS_INVALID_ARGUMENT, "input 0");
	f->io.in.location.length = N * 4;
	expect_refusal(f->remote, &f->io.call, &how, NNB_STATUS_INVALID_ARGUMENT, "has failed");
	how.n_wait_for = 0;
	expect_refusal(f->remote, &f->io.call, &how, PERSISTENT, "passed");
	close(fence);
}

static void a_service_that_is_gone_refuses(void **state)
{
	struct fixture *f = *state;

	service_kill(&f->s);
	while (nnb_client_alive(f->client))
		poll_pause();
	expect_refusal(f->remote, &f->io.call, NULL, NNB_STATUS_DEAD_OBJECT, "gone");
}

/* */
static void an_app_of_an_older_HAL_has_none(void **state)
{
	struct fixture *f = *state;
	const struct nnb_client_config older = { .socket = f->s.socket, .hal = NNB_HAL_1_2 };
	struct nnb_client *client;
	struct nnb_remote *remote;

	assert_int_equal(nnb_client_open(&client, &older, NULL), 0);
	remote = app_prepare(client, f->adds);
	expect_sync(remote, &f->io, NNB_ADD);
	expect_refusal(remote, &f->io.call, NULL, NNB_STATUS_INVALID_ARGUMENT, "HAL 1.3");
	nnb_remote_release(remote);
	nnb_client_close(client);
}

/* ---- the start after all fences ---- */

static void without_fences_it_starts_at_once(void **state)
{
	struct fixture *f = *state;
	struct launched l = launch(f->remote, &f->io.call, NULL);

	expect_end(&l, NNB_STATUS_NONE);
	assert_true(io_right(&f->io, NNB_ADD, 1));
	assert_int_equal(app_counts(f->client).fenced_executions, 1);
}

static void signalled_fences_are_accepted(void **state)
{
	struct fixture *f = *state;
	int fences[2] = { old_fence(false), eventfd(5, EFD_CLOEXEC) };
	struct launched l = launch(f->remote, &f->io.call, &(struct nnb_fenced_how){ fences, 2 });

	close(fences[0]); /* the service has its own copy */
	close(fences[1]);
	expect_end(&l, NNB_STATUS_NONE);
	assert_true(io_right(&f->io, NNB_ADD, 1));
}

static void all_fences_are_waited_for(void **state)
{
	struct fixture *f = *state;
	int fences[3] = { new_fence(), old_fence(false), new_fence() };
	struct launched l = launch(f->remote, &f->io.call, &(struct nnb_fenced_how){ fences, 3 });

	nnb_fence_signal(fences[2], false);
	for (int i = 0; i < 20; i++) {
		poll_pause();
		assert_int_equal(atomic_load(&f->s.gate->runs), 0);
		assert_int_equal(nnb_fence_state(l.fence), NNB_FENCE_PENDING);
	}
	assert_true(untouched(&f->io));
	app_comes_to_hold(f->client, app.executions_under_way, 1);
	nnb_fence_signal(fences[0], false);
	expect_end(&l, NNB_STATUS_NONE);
	assert_true(io_right(&f->io, NNB_ADD, 1));
	for (int i = 0; i < 3; i++)
		close(fences[i]);
}

/* The execution must not wait for the other fence. */
static void a_fence_that_fails_later_fails_the_execution_at_once(void **state)
{
	struct fixture *f = *state;
	int fences[2] = { new_fence(), new_fence() };
	struct launched l = launch(f->remote, &f->io.call, &(struct nnb_fenced_how){ fences, 2 });

	nnb_fence_signal(fences[1], true);
	expect_end(&l, NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(nnb_fence_state(fences[0]), NNB_FENCE_PENDING);
	assert_true(untouched(&f->io));
	close(fences[0]);
	close(fences[1]);
}

static void failing_its_own_fence_cancels_the_execution(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct launched l = launch_behind(f->remote, &f->io.call, fence);

	nnb_fence_signal(l.fence, true);
	expect_end(&l, NNB_STATUS_GENERAL_FAILURE);
	nnb_fence_signal(fence, false);
	app_comes_to_hold(f->client, app.executions_under_way, 0);
	assert_true(untouched(&f->io));
	close(fence);
}

/* More fences than a packet carries, and memory that a waiting execution holds. */
static void many_fences_are_waited_for(void **state)
{
	enum { MANY = 300 };
	struct fixture *f = *state;
	int fences[MANY];
	struct launched l;

	for (int i = 0; i < MANY; i++)
		fences[i] = new_fence();
	l = launch(f->remote, &f->io.call, &(struct nnb_fenced_how){ fences, MANY });
	app_comes_to_hold(f->client, app.pools, MANY + 1 + 1); /* the request's pool and the model's are held, too */
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(nnb_fence_state(l.fence), NNB_FENCE_PENDING);
		nnb_fence_signal(fences[i], false);
		close(fences[i]);
	}
	expect_end(&l, NNB_STATUS_NONE);
	app_comes_to_hold(f->client, app.executions_under_way, 0);
	app_comes_to_hold(f->client, app.pools, 1);
	assert_true(io_right(&f->io, NNB_ADD, 1));
}

/* ---- Q-34 ---- */

/* When the fence is signalled, the service has already unmapped the memory. */
static void after_the_fence_the_service_touches_nothing(void **state)
{
	struct fixture *f = *state;
	unsigned maps = service_footprint(&f->s).maps;

	for (int i = 0; i < 50; i++) {
		struct launched l = launch(f->remote, &f->io.call, NULL);

		assert_int_equal(nnb_fence_wait(&l.fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
		service_maps(&f->s, maps);
		expect_end(&l, NNB_STATUS_NONE);
	}
}

/* ---- the news ---- */

static void before_the_end_no_result_is_available(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct nnb_timing timing = { 1, 1 };
	struct nnb_reason why = { "" };
	struct launched l = launch_behind(f->remote, &f->io.call, fence);

	assert_int_equal(nnb_fenced_info(l.fenced, &timing, NULL, &why), NNB_STATUS_GENERAL_FAILURE);
	assert_string_equal(why.text, "the execution has not ended");
	assert_true(timing.on_device_ns == UINT64_MAX && timing.in_driver_ns == UINT64_MAX);
	atomic_store(&f->s.gate->hold_runs, 1);
	nnb_fence_signal(fence, false);
	await(&f->s.gate->held_runs, 1);
	assert_int_equal(nnb_fenced_info(l.fenced, NULL, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
	atomic_store(&f->s.gate->hold_runs, 0);
	expect_end(&l, NNB_STATUS_NONE);
	close(fence);
}

static void timing_is_from_the_launch_and_from_the_fences(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct nnb_timing launched, fenced;
	uint64_t begin = now_ns(), all;
	struct launched l;

	f->io.call.measure = true;
	l = launch_behind(f->remote, &f->io.call, fence);
	sleep_until(begin + 20 * MS);
	nnb_fence_signal(fence, false);
	assert_int_equal(nnb_fence_wait(&l.fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	all = now_ns() - begin;
	assert_int_equal(nnb_fenced_info(l.fenced, &launched, &fenced, NULL), NNB_STATUS_NONE);
	assert_true(launched.in_driver_ns <= all);
	assert_true(launched.in_driver_ns > fenced.in_driver_ns);
	assert_true(fenced.on_device_ns > 0 && fenced.on_device_ns <= fenced.in_driver_ns);
	assert_int_equal(launched.on_device_ns, fenced.on_device_ns);
	expect_end(&l, NNB_STATUS_NONE);
	close(fence);
}

static void timing_is_reported_only_on_request(void **state)
{
	struct fixture *f = *state;
	struct nnb_timing launched = { 1, 1 }, fenced = { 1, 1 };
	struct launched l = launch(f->remote, &f->io.call, NULL);

	assert_int_equal(nnb_fence_wait(&l.fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	assert_int_equal(nnb_fenced_info(l.fenced, &launched, &fenced, NULL), NNB_STATUS_NONE);
	assert_true(launched.on_device_ns == UINT64_MAX && launched.in_driver_ns == UINT64_MAX);
	assert_true(fenced.on_device_ns == UINT64_MAX && fenced.in_driver_ns == UINT64_MAX);
	expect_end(&l, NNB_STATUS_NONE);
}

/* As soon as the fence is signalled, several threads may query the result, repeatedly. */
static void the_result_is_available_when_the_fence_is_signalled(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 200; i++) {
		struct launched l = launch(f->remote, &f->io.call, NULL);

		while (nnb_fence_state(l.fence) == NNB_FENCE_PENDING)
			;
		assert_int_equal(nnb_fenced_info(l.fenced, NULL, NULL, NULL), NNB_STATUS_NONE);
		expect_end(&l, NNB_STATUS_NONE);
	}
}

static void freeing_the_handle_early_does_not_stop_the_execution(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct launched l = launch_behind(f->remote, &f->io.call, fence);

	nnb_fenced_free(l.fenced);
	f->remote = nnb_remote_release(f->remote);
	f->client = nnb_client_close(f->client);
	nnb_fence_signal(fence, false);
	assert_int_equal(nnb_fence_wait(&l.fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	assert_true(io_right(&f->io, NNB_ADD, 1));
	close(fence);
	close(l.fence);
	service_settles(&f->s);
	assert_null(nnb_fenced_free(NULL));
}

/* ---- deadlines and durations ---- */

static void a_past_deadline_is_refused_persistently(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct nnb_fenced_how how = { .wait_for = &fence, .n_wait_for = 1 };

	for (int i = 0; i < 3; i++) {
		f->io.call.terms.deadline_ns = now_ns();
		expect_refusal(f->remote, &f->io.call, &how, PERSISTENT, "passed");
	}
	close(fence);
}

static void an_impossible_duration_is_refused_persistently(void **state)
{
	struct fixture *f = *state;
	struct nnb_fenced_how how = { .duration_ns = 1 };

	for (int i = 0; i < 3; i++)
		expect_refusal(f->remote, &f->io.call, &how, PERSISTENT, "deadline");
}

static void a_deadline_ends_the_wait_for_fences(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct nnb_app_counts counts;
	struct launched l;
	uint32_t n;

	f->io.call.terms.deadline_ns = later(300 * MS); /* far enough in the future for the call to be accepted */
	l = launch_behind(f->remote, &f->io.call, fence);
	expect_end(&l, TRANSIENT);
	assert_true(now_ns() >= f->io.call.terms.deadline_ns);
	assert_true(untouched(&f->io));
	assert_int_equal(nnb_fence_state(fence), NNB_FENCE_PENDING);
	assert_none(nnb_client_apps(f->client, &counts, 1, &n, &why));
	assert_int_equal(counts.missed_transient, 1);
	close(fence);
}

/* Expect a miss: the gate holds the first operation until it is too late for the second one. */
static void expect_too_late(struct fixture *f, uint64_t deadline_ns, uint64_t duration_ns, uint64_t wait_ns)
{
	int fence = new_fence();
	struct nnb_fenced_how how = { .wait_for = &fence, .n_wait_for = 1, .duration_ns = duration_ns };
	struct launched l;

	atomic_store(&f->s.gate->hold_runs, 1);
	f->io.call.terms.deadline_ns = deadline_ns;
	l = launch(f->remote, &f->io.call, &how);
	nnb_fence_signal(fence, false);
	sleep_until(later(wait_ns));
	atomic_store(&f->s.gate->hold_runs, 0);
	expect_end(&l, TRANSIENT);
	close(fence);
}

static void a_duration_ends_the_execution(void **state)
{
	expect_too_late(*state, 0, 20 * MS, 30 * MS);
}

static void the_earlier_of_deadline_and_duration_counts(void **state)
{
	expect_too_late(*state, later(1000 * PATIENCE), 20 * MS, 30 * MS);
	expect_too_late(*state, later(300 * MS), 1000 * PATIENCE, 310 * MS);
}

static void a_duration_counts_from_when_all_fences_are_signalled(void **state)
{
	enum { DURATION_MS = 1000 };
	struct fixture *f = *state;
	int fences[2] = { new_fence(), new_fence() };
	struct nnb_fenced_how how = { fences, 2, DURATION_MS * MS };
	struct launched l = launch(f->remote, &f->io.call, &how);
	uint64_t begin = now_ns();

	nnb_fence_signal(fences[0], false);
	sleep_until(begin + (DURATION_MS + 50) * MS);
	assert_int_equal(nnb_fence_state(l.fence), NNB_FENCE_PENDING);
	nnb_fence_signal(fences[1], false);
	expect_end(&l, NNB_STATUS_NONE);
	assert_true(io_right(&f->io, NNB_ADD, 1));
	close(fences[0]);
	close(fences[1]);
}

static void an_unlimited_time_is_no_limit(void **state)
{
	struct fixture *f = *state;
	struct launched l;

	f->io.call.terms = (struct nnb_terms){ UINT64_MAX, UINT64_MAX };
	l = launch(f->remote, &f->io.call, &(struct nnb_fenced_how){ .duration_ns = UINT64_MAX });
	expect_end(&l, NNB_STATUS_NONE);
	assert_true(io_right(&f->io, NNB_ADD, 1));
}

static int set_up_advised(void **state)
{
	int r = set_up_with(state, OPTIONS("--deadline", "advise"));
	struct fixture *f = *state;

	f->client = app_open(&f->s);
	f->remote = app_prepare(f->client, f->adds);
	return r;
}

static void where_deadlines_are_advice_nothing_is_given_up(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct nnb_fenced_how how = { .wait_for = &fence, .n_wait_for = 1, .duration_ns = 1 };
	struct launched l;

	f->io.call.terms.deadline_ns = 1;
	l = launch(f->remote, &f->io.call, &how);
	for (int i = 0; i < 10; i++)
		poll_pause();
	assert_int_equal(nnb_fence_state(l.fence), NNB_FENCE_PENDING);
	nnb_fence_signal(fence, false);
	expect_end(&l, NNB_STATUS_NONE);
	assert_true(io_right(&f->io, NNB_ADD, 1));
	close(fence);
}

/* ---- chains ---- */

/* Each step reads what the one before wrote: x + c + c and x * c * c in turn, all in one pool. */
struct chain {
	struct nnb_pool *pool;
	float *values; /* CHAIN + 1 vectors */
	struct nnb_argument in[CHAIN], out[CHAIN];
	struct nnb_model *models[2];
	struct nnb_remote *remotes[2];
	struct launched launched[CHAIN];
};

static void chain_init(struct chain *c)
{
	*c = (struct chain){ .models = { vector_model(NNB_ADD, N, 1), vector_model(NNB_MUL, N, 1) } };
	assert_int_equal(nnb_pool_new(&c->pool, (CHAIN + 1) * N * 4), 0);
	c->values = nnb_pool_data(c->pool);
	for (uint32_t i = 0; i < CHAIN; i++) {
		c->in[i].location = (struct nnb_location){ 0, i * N * 4, N * 4 };
		c->out[i].location = (struct nnb_location){ 0, (i + 1) * N * 4, N * 4 };
	}
	for (uint32_t i = 0; i < (CHAIN + 1) * N; i++)
		c->values[i] = i < N ? (float)(i % 5) : -1e9F;
}

static void chain_fini(struct chain *c)
{
	for (int i = 0; i < 2; i++) {
		nnb_remote_release(c->remotes[i]);
		nnb_model_free(c->models[i]);
	}
	nnb_pool_free(c->pool);
}

/* Launch step @i, which waits for @n fences. */
static void chain_step(struct chain *c, uint32_t i, const int *fences, uint32_t n)
{
	const struct nnb_call call = { .inputs = &c->in[i],
		                       .outputs = &c->out[i],
		                       .pools = &c->pool,
		                       .n_inputs = 1,
		                       .n_outputs = 1,
		                       .n_pools = 1 };
	const struct nnb_fenced_how how = { .wait_for = fences, .n_wait_for = n };

	if (nnb_remote_execute_fenced(c->remotes[i % 2], &call, &how, &c->launched[i].fenced, &c->launched[i].fence,
	                              NULL))
		abort();
}

/* Launch every step behind the one before it, and the first behind @fence. */
static void chain_launch(struct chain *c, struct nnb_client *client, int fence)
{
	for (int i = 0; i < 2; i++)
		if (nnb_remote_prepare(client, c->models[i], NULL, NULL, &c->remotes[i], NULL))
			abort();
	for (uint32_t i = 0; i < CHAIN; i++)
		chain_step(c, i, i ? &c->launched[i - 1].fence : &fence, 1);
}

/* After @steps steps their vectors have the right values, and the others are unchanged. */
static void chain_has_run(const struct chain *c, uint32_t steps)
{
	for (uint32_t k = 0; k < N; k++) {
		float x = (float)(k % 5);

		for (uint32_t i = 0; i < CHAIN; i++) {
			x = i < steps ? vector_expected(i % 2 ? NNB_MUL : NNB_ADD, 1, k, x) : -1e9F;
			if (c->values[(i + 1) * N + k] != x)
				fail_msg("step %u[%u] is %g, not %g", i, k, c->values[(i + 1) * N + k], x);
		}
	}
}

static void a_chain_runs_in_its_order(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct chain c;

	chain_init(&c);
	chain_launch(&c, f->client, fence);
	chain_has_run(&c, 0);
	nnb_fence_signal(fence, false);
	assert_int_equal(nnb_fence_wait(&c.launched[CHAIN - 1].fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	chain_has_run(&c, CHAIN);
	for (int i = 0; i < CHAIN; i++)
		expect_end(&c.launched[i], NNB_STATUS_NONE);
	close(fence);
	chain_fini(&c);
}

static void an_execution_behind_a_failure_fails(void **state)
{
	enum { MIDDLE = 4 };
	struct fixture *f = *state;
	int fence = new_fence(), other = new_fence();
	struct chain c;

	chain_init(&c);
	for (int i = 0; i < 2; i++)
		c.remotes[i] = app_prepare(f->client, c.models[i]);
	for (uint32_t i = 0; i < CHAIN; i++) {
		int fences[2] = { i ? c.launched[i - 1].fence : fence, other };

		chain_step(&c, i, fences, i == MIDDLE ? 2 : 1);
	}
	nnb_fence_signal(fence, false);
	assert_int_equal(nnb_fence_wait(&c.launched[MIDDLE - 1].fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	assert_int_equal(nnb_fence_state(c.launched[MIDDLE].fence), NNB_FENCE_PENDING);
	nnb_fence_signal(other, true);
	for (int i = 0; i < CHAIN; i++)
		expect_end(&c.launched[i], i < MIDDLE ? NNB_STATUS_NONE : NNB_STATUS_GENERAL_FAILURE);
	chain_has_run(&c, MIDDLE);
	close(fence);
	close(other);
	chain_fini(&c);
}

/* ---- more than one process ---- */

static int receive_fd(int sock)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	int fd = -1;

	assert_int_equal(recvmsg(sock, &msg, MSG_CMSG_CLOEXEC), 1);
	assert_int_equal(control.align.cmsg_type, SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(&control.align), sizeof(fd));
	return fd;
}

/* Another app, which launches executions and passes the last one's fence on. */
struct other_app {
	const char *socket;
	struct chain chain;
	int fence; /* the first execution waits for it */
	int ends[2];
};

static void launch_a_chain(void *arg)
{
	struct other_app *o = arg;
	struct nnb_client *client;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = o->socket }, NULL) == 0);
	chain_launch(&o->chain, client, o->fence);
	must(fd_send(o->ends[1], ".", 1, o->chain.launched[CHAIN - 1].fence, 0));
	scene_stay();
}

static int start_other_app(struct other_app *o, const struct service *s, pid_t *pid)
{
	*o = (struct other_app){ .socket = s->socket, .fence = new_fence() };
	chain_init(&o->chain);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, o->ends), 0);
	*pid = spawn(launch_a_chain, o);
	return receive_fd(o->ends[0]);
}

static void other_app_fini(struct other_app *o, pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(o->fence);
	close(o->ends[0]);
	close(o->ends[1]);
	chain_fini(&o->chain);
}

/* The app that launched the chain is stopped, and the chain runs on. */
static void a_chain_runs_without_its_app(void **state)
{
	struct fixture *f = *state;
	struct other_app o;
	pid_t pid;
	int last = start_other_app(&o, &f->s, &pid), status;

	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(nnb_fence_state(last), NNB_FENCE_PENDING);
	nnb_fence_signal(o.fence, false);
	assert_int_equal(nnb_fence_wait(&last, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	chain_has_run(&o.chain, CHAIN);
	close(last);
	other_app_fini(&o, pid);
}

/* an execution of one app waits for that of another app. */
static void apps_can_wait_for_each_other(void **state)
{
	struct fixture *f = *state;
	struct launched l;
	struct other_app o;
	pid_t pid;
	int last = start_other_app(&o, &f->s, &pid);

	f->client = app_open(&f->s);
	f->remote = app_prepare(f->client, f->adds);
	l = launch_behind(f->remote, &f->io.call, last);
	nnb_fence_signal(o.fence, false);
	expect_end(&l, NNB_STATUS_NONE);
	chain_has_run(&o.chain, CHAIN);
	assert_true(io_right(&f->io, NNB_ADD, 1));
	close(last);
	other_app_fini(&o, pid);
}

static int set_up_alone(void **state)
{
	return set_up_with(state, OPTIONS(NULL));
}

/* executions that wait for these fences fail, and the service holds nothing for them. */
static void fences_of_a_client_that_dies_fail(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++) {
		struct other_app o;
		pid_t pid;
		int last = start_other_app(&o, &f->s, &pid);

		kill(pid, SIGKILL);
		assert_int_equal(nnb_fence_wait(&last, 1, PATIENCE), NNB_FENCE_FAILED);
		chain_has_run(&o.chain, 0);
		close(last);
		other_app_fini(&o, pid);
		service_settles(&f->s);
	}
}

/* Q-44, with one execution in the driver, and one that waits. */
static void fences_of_a_service_that_dies_fail(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct launched waits = launch_behind(f->remote, &f->io.call, fence), runs;
	struct io io;

	io_init(&io, N);
	atomic_store(&f->s.gate->hold_runs, 1);
	runs = launch(f->remote, &io.call, NULL);
	await(&f->s.gate->held_runs, 1);
	service_kill(&f->s);
	expect_end(&waits, NNB_STATUS_DEAD_OBJECT);
	expect_end(&runs, NNB_STATUS_DEAD_OBJECT);
	io_fini(&io);
	close(fence);
}

/* The service is killed at random times, also between its report and the signal. */
static void a_service_dies_anywhere(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 23;

	for (int i = 0; i < 30; i++) {
		struct launched l[4];

		for (size_t k = 0; k < N_OF(l); k++)
			l[k] = launch(f->remote, &f->io.call, NULL);
		for (uint64_t until = later(next_random(&seed) % (300000)); now_ns() < until;)
			;
		service_kill(&f->s);
		for (size_t k = 0; k < N_OF(l); k++) {
			int is = nnb_fence_wait(&l[k].fence, 1, PATIENCE);

			assert_int_not_equal(is, NNB_FENCE_PENDING);
			assert_int_equal(nnb_fenced_info(l[k].fenced, NULL, NULL, NULL),
			                 is == NNB_FENCE_FAILED ? NNB_STATUS_DEAD_OBJECT : NNB_STATUS_NONE);
			nnb_fenced_free(l[k].fenced);
			close(l[k].fence);
		}
		nnb_remote_release(f->remote);
		nnb_client_close(f->client);
		service_start(&f->s, OPTIONS(NULL));
		f->client = app_open(&f->s);
		f->remote = app_prepare(f->client, f->adds);
	}
}

/* The client gave up, so its fence is of no use: the service must cancel the execution. */
static void a_launch_that_was_given_up_is_cancelled(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct nnb_fenced_how how = { .wait_for = &fence, .n_wait_for = 1 };

	f->io.call.timeout_ns = 20 * MS;
	expect_sync(f->remote, &f->io, NNB_ADD); /* opens a channel, which has no pending message then */
	io_refresh(&f->io, 2);
	kill(f->s.pid, SIGSTOP);
	expect_refusal(f->remote, &f->io.call, &how, NNB_STATUS_GENERAL_FAILURE, "in time");
	kill(f->s.pid, SIGCONT);
	f->io.call.timeout_ns = 0;
	expect_sync(f->remote, &f->io, NNB_ADD);
	app_comes_to_hold(f->client, app.executions_under_way, 0);
	close(fence);
}

/* ---- side by side ---- */

struct async {
	atomic_uint times;
	enum nnb_status status;
};

static void note(void *arg, const struct nnb_result *result)
{
	struct async *a = arg;

	a->status = result->status;
	atomic_store(&a->times, 1);
}

static void all_paths_work_side_by_side(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *burst = app_burst(f->remote);
	int fence = new_fence();
	struct launched waits = launch_behind(f->remote, &f->io.call, fence), runs;
	struct async async = { 0 };
	struct io io[2];

	for (int i = 0; i < 2; i++) {
		io_init(&io[i], N);
		io_refresh(&io[i], (float)i);
	}
	for (int i = 0; i < 20; i++) {
		runs = launch(f->remote, &io[0].call, NULL);
		atomic_store(&async.times, 0);
		assert_none(nnb_remote_execute_async(f->remote, &io[1].call, note, &async, &why));
		expect_end(&runs, NNB_STATUS_NONE);
		await(&async.times, 1);
		assert_true(io_right(&io[0], NNB_ADD, 1) && io_right(&io[1], NNB_ADD, 1));
		expect_burst(burst, &io[0], NNB_ADD);
		expect_sync(f->remote, &io[1], NNB_ADD);
	}
	nnb_fence_signal(fence, false);
	expect_end(&waits, NNB_STATUS_NONE);
	assert_true(io_right(&f->io, NNB_ADD, 1));
	nnb_burst_free(burst);
	for (int i = 0; i < 2; i++)
		io_fini(&io[i]);
	close(fence);
}

/* ---- limits ---- */

static int set_up_limited(void **state)
{
	int r = set_up_with(state, OPTIONS("--limit", "async=2", "--limit", "pools=12"));
	struct fixture *f = *state;

	f->client = app_open(&f->s);
	f->remote = app_prepare(f->client, f->adds);
	return r;
}

static void executions_are_accepted_up_to_the_limit(void **state)
{
	struct fixture *f = *state;
	int fence = new_fence();
	struct nnb_fenced_how how = { .wait_for = &fence, .n_wait_for = 1 };
	struct launched l[2];

	for (int i = 0; i < 2; i++)
		l[i] = launch(f->remote, &f->io.call, &how);
	expect_refusal(f->remote, &f->io.call, &how, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, "asynchronous");
	nnb_fence_signal(fence, false);
	for (int i = 0; i < 2; i++)
		expect_end(&l[i], NNB_STATUS_NONE);
	app_comes_to_hold(f->client, app.executions_under_way, 0);
	l[0] = launch(f->remote, &f->io.call, &how);
	expect_end(&l[0], NNB_STATUS_NONE);
	close(fence);
}

static void a_waiting_execution_is_charged_for_its_memory(void **state)
{
	struct fixture *f = *state;
	int fences[12], fence = new_fence();
	struct nnb_fenced_how how = { .wait_for = fences, .n_wait_for = 8 };
	struct launched l;

	for (size_t i = 0; i < N_OF(fences); i++)
		fences[i] = fence;
	l = launch(f->remote, &f->io.call, &how);
	expect_refusal(f->remote, &f->io.call, &how, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, "pools");
	how.n_wait_for = 12;
	expect_refusal(f->remote, &f->io.call, &how, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, "pools");
	nnb_fence_signal(fence, false);
	expect_end(&l, NNB_STATUS_NONE);
	close(fence);
}

/* ---- all ---- */

#define TEST(function, words) add_test(function, set_up, tear_down, NULL, words)

static void add_rules(void)
{
	for (size_t i = 0; i < N_OF(bad_fences); i++)
		add_test(an_unsuitable_fence_is_refused, set_up, tear_down, (void *)&bad_fences[i],
		         "Q-31: an unsuitable fence is refused at once: %s", bad_fences[i].name);
	TEST(an_output_that_is_not_fully_specified_is_refused,
	     "Q-31: an output that is not fully specified is refused");
	TEST(a_bad_request_comes_before_a_bad_fence_and_that_before_a_deadline,
	     "Q-31: a bad request comes before a bad fence, and that before a deadline");
	TEST(a_service_that_is_gone_refuses, "Q-31: a service that is gone refuses");
	TEST(an_app_of_an_older_HAL_has_none, "Q-20: an app of an older HAL has no fenced executions");
	TEST(without_fences_it_starts_at_once, "Q-32: an execution without fences starts at once");
	TEST(signalled_fences_are_accepted, "Q-32: signalled fences are accepted");
	TEST(all_fences_are_waited_for, "Q-32: an execution waits for all its fences");
	TEST(a_fence_that_fails_later_fails_the_execution_at_once,
	     "Q-32: a fence that fails later fails the execution at once");
	TEST(failing_its_own_fence_cancels_the_execution, "failing its own fence cancels the execution");
	TEST(many_fences_are_waited_for, "Q-32: 300 fences are waited for");
	TEST(after_the_fence_the_service_touches_nothing, "Q-34: after the fence the service touches nothing");
	TEST(before_the_end_no_result_is_available, "Q-35: before the end no result is available");
	TEST(timing_is_from_the_launch_and_from_the_fences, "Q-35: timing is from the launch, and from the fences");
	TEST(timing_is_reported_only_on_request, "Q-35: timing is reported only on request");
	TEST(the_result_is_available_when_the_fence_is_signalled,
	     "Q-35: the result is available when the fence is signalled");
	TEST(freeing_the_handle_early_does_not_stop_the_execution,
	     "freeing the handle early does not stop the execution");
}

static void add_times(void)
{
	TEST(a_past_deadline_is_refused_persistently, "Q-16: a past deadline is refused persistently");
	TEST(an_impossible_duration_is_refused_persistently, "Q-21: an impossible duration is refused persistently");
	TEST(a_deadline_ends_the_wait_for_fences, "Q-32: a deadline ends the wait for fences");
	TEST(a_duration_ends_the_execution, "Q-36: a duration ends the execution");
	TEST(the_earlier_of_deadline_and_duration_counts, "Q-36: the earlier of deadline and duration counts");
	TEST(a_duration_counts_from_when_all_fences_are_signalled,
	     "Q-36: a duration counts from when all fences are signalled");
	TEST(an_unlimited_time_is_no_limit, "Q-12: an unlimited time is no limit");
	add_test(where_deadlines_are_advice_nothing_is_given_up, set_up_advised, tear_down, NULL,
	         "Q-14: where deadlines are advice nothing is given up");
}

static void add_company(void)
{
	TEST(a_chain_runs_in_its_order, "a chain runs in its order");
	TEST(an_execution_behind_a_failure_fails, "Q-32: an execution behind a failure fails");
	add_test(a_chain_runs_without_its_app, set_up_alone, tear_down, NULL, "a chain runs without its app");
	add_test(apps_can_wait_for_each_other, set_up_alone, tear_down, NULL, "apps can wait for each other");
	add_test(fences_of_a_client_that_dies_fail, set_up_alone, tear_down, NULL,
	         "Q-44: fences of a client that dies fail");
	TEST(fences_of_a_service_that_dies_fail, "Q-44: fences of a service that dies fail");
	TEST(a_service_dies_anywhere, "Q-44: a service dies anywhere");
	TEST(a_launch_that_was_given_up_is_cancelled, "a launch that was given up is cancelled");
	TEST(all_paths_work_side_by_side, "Q-37: all paths work side by side");
	add_test(executions_are_accepted_up_to_the_limit, set_up_limited, tear_down, NULL,
	         "executions are accepted up to the limit");
	add_test(a_waiting_execution_is_charged_for_its_memory, set_up_limited, tear_down, NULL,
	         "a waiting execution is charged for its memory");
}

int main(void)
{
	add_rules();
	add_times();
	add_company();
	return _cmocka_run_group_tests("fenced executions", tests, n_tests, NULL, NULL);
}

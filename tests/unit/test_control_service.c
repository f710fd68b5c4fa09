/*
 * test_control_service.c -- IF and WHILE in the service: on each path, within the timeout of the app's terms.
 * Other executions get the lane between iterations, and the loop of an app that dies ends.
 */
#include <semaphore.h>

#include "base.h"
#include "loop_models.h"
#include "nnb/fence.h"
#include "service_helpers.h"

enum { SYNC, ASYNC, BURST, FENCED, N_PATHS };
static const char *const path_names[N_PATHS] = { "sync", "async", "burst", "fenced" };

static const char *const preempts[] = { "save", "restart", "none" };

struct row {
	unsigned path, preempt;
};

struct fixture {
	struct service s;
	struct nnb_client *client;
	struct nnb_remote *counting;
	const struct row *row;
};

/* One lane, for which priorities count. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct nnb_model *m = loop_counting();

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "priority", "--preempt",
	                             preempts[f->row->preempt]));
	f->client = app_open(&f->s);
	f->counting = app_prepare(f->client, m);
	nnb_model_free(m);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nnb_remote_release(f->counting);
	nnb_client_close(f->client);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- one call ---- */

struct loop_call {
	struct nnb_pool *pool;
	float *x, *y;
	int32_t *n;
	struct nnb_argument in[2], out;
	struct nnb_output_shape shape;
	struct nnb_call call;
	struct nnb_answer answer;
	/* for an asynchronous execution */
	sem_t told;
	atomic_uint n_callbacks;
	enum nnb_status status;
};

static void loop_call_init(struct loop_call *c, int32_t n, uint64_t timeout_ns)
{
	*c = (struct loop_call){ .in = { { .location = { 0, 0, LOOP_N * 4 } }, { .location = { 0, LOOP_N * 4, 4 } } },
		                 .out.location = { 0, LOOP_N * 4 + 64, LOOP_N * 4 } };
	assert_int_equal(nnb_pool_new(&c->pool, 2 * LOOP_N * 4 + 64), 0);
	c->x = nnb_pool_data(c->pool);
	c->n = (int32_t *)(c->x + LOOP_N);
	c->y = c->x + LOOP_N + 16;
	*c->n = n;
	for (uint32_t i = 0; i < LOOP_N; i++)
		c->x[i] = (float)i + 1;
	c->call = (struct nnb_call){ .inputs = c->in,
		                     .outputs = &c->out,
		                     .n_inputs = 2,
		                     .n_outputs = 1,
		                     .pools = &c->pool,
		                     .n_pools = 1,
		                     .terms.loop_timeout_ns = timeout_ns };
	c->answer.shapes = &c->shape;
	sem_init(&c->told, 0, 0);
}

static void loop_call_fini(struct loop_call *c)
{
	sem_destroy(&c->told);
	nnb_pool_free(c->pool);
}

static bool is_counted(const struct loop_call *c)
{
	for (uint32_t i = 0; i < LOOP_N; i++)
		if (c->y[i] != c->x[i] + (float)*c->n)
			return false;
	return true;
}

static void on_done(void *arg, const struct nnb_result *result)
{
	struct loop_call *c = arg;

	c->status = result->status;
	atomic_fetch_add(&c->n_callbacks, 1);
	sem_post(&c->told);
}

static void launch(struct nnb_remote *remote, struct loop_call *c)
{
	assert_none(nnb_remote_execute_async(remote, &c->call, on_done, c, &why));
}

static enum nnb_status outcome(struct loop_call *c)
{
	while (sem_wait(&c->told))
		;
	return c->status;
}

static enum nnb_status by_fence(struct nnb_remote *remote, struct loop_call *c)
{
	struct nnb_fenced *fenced;
	enum nnb_status status;
	int fence, state;

	assert_none(nnb_remote_execute_fenced(remote, &c->call, NULL, &fenced, &fence, &why));
	do
		state = nnb_fence_wait(&fence, 1, 0);
	while (state == -EINTR);
	status = nnb_fenced_info(fenced, NULL, NULL, NULL);
	assert_true((state == NNB_FENCE_SIGNALLED) == !status);
	nnb_fenced_free(fenced);
	close(fence);
	return status;
}

static enum nnb_status by_burst(struct nnb_remote *remote, struct loop_call *c)
{
	struct nnb_burst *burst = app_burst(remote);
	enum nnb_status status = nnb_burst_execute(burst, &c->call, &c->answer, NULL);

	assert_false(c->answer.fallback);
	nnb_burst_free(burst);
	return status;
}

static enum nnb_status execute(struct nnb_remote *remote, unsigned path, struct loop_call *c)
{
	switch (path) {
	case ASYNC:
		launch(remote, c);
		return outcome(c);
	case BURST:
		return by_burst(remote, c);
	case FENCED:
		return by_fence(remote, c);
	default:
		return nnb_remote_execute(remote, &c->call, &c->answer, NULL);
	}
}

/* ---- tests ---- */

static void row_ends_within_its_timeout(void **state)
{
	struct fixture *f = *state;
	unsigned path = f->row->path;
	struct loop_call c;
	uint64_t began;

	loop_call_init(&c, 5, 0);
	assert_int_equal(execute(f->counting, path, &c), NNB_STATUS_NONE);
	assert_true(is_counted(&c));
	*c.n = -1;
	c.call.terms.loop_timeout_ns = 10 * MS;
	began = now_ns();
	assert_int_equal(execute(f->counting, path, &c), NNB_STATUS_MISSED_DEADLINE_TRANSIENT);
	assert_true(now_ns() - began >= 10 * MS && now_ns() - began < NNB_LOOP_DEFAULT_NS);
	*c.n = 7;
	assert_int_equal(execute(f->counting, path, &c), NNB_STATUS_NONE);
	assert_true(is_counted(&c));
	loop_call_fini(&c);
}

static struct nnb_remote *prepare_high(struct nnb_client *client, const struct nnb_model *m)
{
	const struct nnb_prepare how = { .preference = 1, .priority = NNB_PRIORITY_HIGH };
	struct nnb_remote *remote;

	assert_none(nnb_remote_prepare(client, m, &how, NULL, &remote, &why));
	return remote;
}

/*
 * While the loop runs, executions of a higher priority come and go. The loop's result is the same as alone. On a slow
 * machine it must not reach its timeout, so it is as short as can be.
 */
static void others_have_the_lane_between_iterations(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, LOOP_N, 1);
	struct nnb_remote *high = prepare_high(f->client, m);
	bool still_ran = false;
	struct io io;

	io_init(&io, LOOP_N);
	for (int32_t iterations = 1000; !still_ran && iterations < 1000000; iterations *= 4) {
		struct loop_call c;

		loop_call_init(&c, iterations, NNB_LOOP_MAX_NS);
		launch(f->counting, &c);
		while (!atomic_load(&f->s.gate->runs) && !atomic_load(&c.n_callbacks))
			poll_pause();
		for (int i = 0; i < 5; i++)
			expect_sync(high, &io, NNB_ADD);
		still_ran = !atomic_load(&c.n_callbacks);
		assert_int_equal(outcome(&c), NNB_STATUS_NONE);
		assert_true(is_counted(&c));
		loop_call_fini(&c);
	}
	assert_true(still_ran);
	io_fini(&io);
	nnb_remote_release(high);
	nnb_model_free(m);
}

/*
 * A loop is one operation, but its deadline ends it, whether or not the loop yields its lane inside the
 * operation.
 */
static void the_deadline_ends_a_loop(void **state)
{
	struct fixture *f = *state;
	struct loop_call c;
	enum nnb_status status = NNB_STATUS_MISSED_DEADLINE_PERSISTENT;
	uint64_t began = 0, budget = 20 * MS;

	/* on a busy machine the deadline may pass before the loop begins: allow more time then */
	for (; status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT && budget < NNB_LOOP_DEFAULT_NS / 2; budget *= 2) {
		loop_call_init(&c, -1, NNB_LOOP_MAX_NS);
		began = now_ns();
		c.call.terms.deadline_ns = began + budget;
		status = execute(f->counting, f->row->path, &c);
		loop_call_fini(&c);
	}
	assert_int_equal(status, NNB_STATUS_MISSED_DEADLINE_TRANSIENT);
	assert_true(now_ns() - began >= budget / 2 && now_ns() - began < NNB_LOOP_DEFAULT_NS);
}

/*
 * The lane must be free long before the loop's timeout. The test prints how long it took after the death, and
 * does not judge it.
 */
static void the_loop_of_a_dead_app_ends(void **state)
{
	struct fixture *f = *state;
	struct loop_call c;
	struct child child;
	uint64_t died;

	child_start(&child, "endless", &f->s, path_names[f->row->path]);
	assert_int_equal(child_read(&child), 'l');
	await(&f->s.gate->runs, 1);
	loop_call_init(&c, 3, 0);
	launch(f->counting, &c); /* waits for the lane */
	died = now_ns();
	child_kill(&child);
	assert_int_equal(outcome(&c), NNB_STATUS_NONE);
	died = now_ns() - died;
	print_message("another app's execution ended %.2f ms after the kill\n", (double)died / MS);
	assert_true(died < NNB_LOOP_DEFAULT_NS);
	assert_true(is_counted(&c));
	loop_call_fini(&c);
}

/* The scene of a process: a loop that runs until its timeout. */
static void endless_scene(const char *socket_path, const char *path)
{
	const struct nnb_client_config config = { .socket = socket_path };
	const struct nnb_prepare how = { .preference = 1, .priority = NNB_PRIORITY_HIGH };
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct loop_call c;

	loop_call_init(&c, -1, NNB_LOOP_MAX_NS);
	if (nnb_client_open(&client, &config, NULL) ||
	    nnb_remote_prepare(client, loop_counting(), &how, NULL, &remote, NULL))
		exit(1);
	scene_report('l'); /* the test waits until the loop runs */
	for (unsigned i = 0; i < N_PATHS; i++)
		if (!strcmp(path, path_names[i]))
			execute(remote, i, &c);
	exit(1);
}

int main(int argc, char **argv)
{
	static struct row rows[N_PATHS][N_OF(preempts)];

	for (unsigned i = 0; i < N_PATHS; i++)
		for (unsigned k = 0; k < N_OF(preempts); k++)
			rows[i][k] = (struct row){ i, k };
	if (argc == 5 && strcmp(argv[1], "--scene") == 0)
		endless_scene(argv[3], argv[4]);
	for (size_t i = 0; i < N_PATHS; i++)
		add_test(row_ends_within_its_timeout, set_up, tear_down, (void *)&rows[i][0],
		         "row ends within its timeout: by %s", path_names[i]);
	add_test(others_have_the_lane_between_iterations, set_up, tear_down, (void *)&rows[SYNC][0],
	         "others have the lane between iterations");
	for (size_t k = 0; k < N_OF(preempts); k++)
		for (size_t i = 0; i < N_PATHS; i++) {
			add_test(the_loop_of_a_dead_app_ends, set_up, tear_down, (void *)&rows[i][k],
			         "the loop of a dead app ends: by %s, preempt %s", path_names[i], preempts[k]);
			if (i != FENCED) /* a fenced execution has a duration instead */
				add_test(the_deadline_ends_a_loop, set_up, tear_down, (void *)&rows[i][k],
				         "the deadline ends a loop: by %s, preempt %s", path_names[i], preempts[k]);
		}
	return cmocka_run_group_tests_name("control_service", tests, NULL, NULL);
}

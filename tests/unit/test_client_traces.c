/*
 * test_client_traces.c -- the numbers that a client gives its executions, and the events that it emits about
 * them.
 *
 * The service is a process of its own. This process has a provider of the tests' (provider_fake.c): a test
 * enables events in it, and it keeps the last one.
 */
#include "nnb/fence.h"
#include "service_helpers.h"
#include "unit/provider_fake.h"

enum { N = 64 };
enum { BURST, SYNC, FENCED, ASYNC, FALLEN, N_WAYS };

struct fixture {
	struct one_app app;
	struct nnb_burst *narrow; /* every packet is too large for it */
	struct fake *fake;
	const void *row; /* the row, in a test made from rows */
};

static int set_up(void **state)
{
	const struct nnb_burst_config four = { .request_capacity = 4 };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->app.s);
	service_start(&f->app.s, OPTIONS(NULL));
	one_app_open(&f->app, N);
	f->app.burst = app_burst(f->app.remote);
	assert_none(nnb_remote_burst(f->app.remote, &four, &f->narrow, &why));
	f->fake = fake_loaded();
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	if (f->fake)
		memset(f->fake, 0, sizeof(*f->fake));
	nnb_burst_free(f->narrow);
	one_app_close(&f->app);
	free(f);
	return 0;
}

/* ---- each way ---- */

struct done {
	atomic_uint times;
	uint64_t exec;
	unsigned heard_before;
	struct fake *fake;
};

static void note(void *arg, const struct nnb_result *result)
{
	struct done *d = arg;

	d->exec = result->exec;
	d->heard_before = d->fake ? d->fake->heard : 0;
	atomic_fetch_add(&d->times, 1);
}

/* Launch, wait for the end, and return the execution's number. */
static uint64_t execute_fenced(struct fixture *f)
{
	struct nnb_fenced *fenced = NULL;
	uint64_t exec;
	int fence;

	assert_none(nnb_remote_execute_fenced(f->app.remote, &f->app.io.call, NULL, &fenced, &fence, &why));
	exec = nnb_fenced_exec(fenced);
	assert_int_equal(nnb_fence_wait(&fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	nnb_fenced_free(fenced);
	close(fence);
	return exec;
}

static uint64_t execute_async(struct fixture *f, struct done *done)
{
	*done = (struct done){ .fake = f->fake };
	assert_none(nnb_remote_execute_async(f->app.remote, &f->app.io.call, note, done, &why));
	await(&done->times, 1);
	return done->exec;
}

/* Execute in this way. Returns the execution's number. */
static uint64_t execute(struct fixture *f, int way)
{
	struct done done;

	io_refresh(&f->app.io, 1);
	f->app.io.answer.exec = 1;
	switch (way) {
	case BURST:
	case FALLEN:
		assert_none(nnb_burst_execute(way == BURST ? f->app.burst : f->narrow, &f->app.io.call,
		                              &f->app.io.answer, &why));
		assert_int_equal(f->app.io.answer.fallback, way == FALLEN);
		break;
	case SYNC:
		assert_none(nnb_remote_execute(f->app.remote, &f->app.io.call, &f->app.io.answer, &why));
		break;
	case FENCED:
		f->app.io.answer.exec = execute_fenced(f);
		break;
	default:
		f->app.io.answer.exec = execute_async(f, &done);
	}
	assert_true(io_right(&f->app.io, NNB_ADD, 1));
	return f->app.io.answer.exec;
}

/* ---- numbers of executions ---- */

static uint32_t stream_of(const struct fixture *f, int way)
{
	const struct nnb_service_info *info = nnb_client_info(f->app.client);

	switch (way) {
	case SYNC:
	case FALLEN:
		return info->sync_stream;
	case FENCED:
		return info->fenced_stream;
	default:
		return info->async_stream;
	}
}

static void each_kind_of_call_is_counted_in_a_stream_of_its_own(void **state)
{
	struct fixture *f = *state;
	const struct nnb_service_info *info = nnb_client_info(f->app.client);
	const uint32_t streams[] = { info->sync_stream, info->fenced_stream, info->async_stream };

	for (size_t i = 0; i < N_OF(streams); i++) {
		assert_int_equal(streams[i] >> 20, info->instance);
		assert_true(streams[i] != streams[(i + 1) % N_OF(streams)]);
	}
	for (uint32_t i = 1; i <= 3; i++)
		for (int way = SYNC; way <= ASYNC; way++)
			assert_int_equal(execute(f, way), (uint64_t)stream_of(f, way) << 32 | i);
}

static void the_requests_of_a_burst_are_counted_in_its_stream(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *other = app_burst(f->app.remote);
	uint64_t first = execute(f, BURST), of_other;

	assert_int_equal((uint32_t)first, 1);
	assert_int_equal(first >> 52, nnb_client_info(f->app.client)->instance);
	assert_none(nnb_burst_execute(other, &f->app.io.call, &f->app.io.answer, &why));
	of_other = f->app.io.answer.exec;
	assert_true((uint32_t)of_other == 1 && of_other != first);
	assert_int_equal(execute(f, BURST), first + 1);
	assert_int_equal(execute(f, BURST), first + 2);
	nnb_burst_free(other);
}

static void a_fallback_is_numbered_as_a_call_only(void **state)
{
	struct fixture *f = *state;
	uint64_t call = execute(f, SYNC), burst = execute(f, BURST);
	const struct nnb_burst_config narrow = { .request_capacity = 64 };
	struct nnb_pool *pools[64];
	struct nnb_call large = f->app.io.call;
	struct nnb_burst *other;

	assert_int_equal(execute(f, FALLEN), call + 1);
	assert_int_equal(execute(f, SYNC), call + 2);
	for (size_t i = 0; i < N_OF(pools); i++)
		pools[i] = f->app.io.pool;
	large.pools = pools;
	large.n_pools = N_OF(pools);
	assert_none(nnb_remote_burst(f->app.remote, &narrow, &other, &why));
	assert_none(nnb_burst_execute(other, &large, &f->app.io.answer, &why));
	assert_true(f->app.io.answer.fallback && f->app.io.answer.exec == call + 3);
	assert_int_equal(execute(f, BURST), burst + 1);
	nnb_burst_free(other);
}

static void a_call_refused_before_it_is_sent_has_no_number(void **state)
{
	struct fixture *f = *state;
	uint64_t call = execute(f, SYNC), burst = execute(f, BURST);
	struct nnb_pool *pool = NULL;
	struct nnb_call none = f->app.io.call;
	struct nnb_answer answer = { .exec = 7 };
	struct done done = { 0 };

	none.pools = &pool;
	assert_int_equal(nnb_remote_execute(f->app.remote, &none, &answer, NULL), NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(answer.exec, 0);
	answer.exec = 7;
	assert_int_equal(nnb_burst_execute(f->app.burst, &none, &answer, NULL), NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(answer.exec, 0);
	done.exec = 7;
	nnb_remote_execute_async(f->app.remote, &none, note, &done, NULL);
	assert_int_equal(atomic_load(&done.times), 1);
	assert_int_equal(done.exec, 0);
	assert_int_equal(execute(f, SYNC), call + 1);
	assert_int_equal(execute(f, BURST), burst + 1);
}

static void a_call_that_fails_has_a_number(void **state)
{
	struct fixture *f = *state;
	uint64_t call = execute(f, SYNC), burst = execute(f, BURST);

	f->app.io.in.location.length = 4;
	assert_int_equal(nnb_remote_execute(f->app.remote, &f->app.io.call, &f->app.io.answer, NULL),
	                 NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(f->app.io.answer.exec, call + 1);
	assert_int_equal(nnb_burst_execute(f->app.burst, &f->app.io.call, &f->app.io.answer, NULL),
	                 NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(f->app.io.answer.exec, burst + 1);
}

/* ---- events of executions ---- */

#ifndef NBT_OFF

/* Execute, and expect the event @event alone, once. Returns its fields, valid until the next event. */
static const void *expect_event(struct fixture *f, int way, enum nbt_event event, uint64_t *exec)
{
	f->fake->on[event] = 1;
	f->fake->heard = 0;
	*exec = execute(f, way);
	f->fake->on[event] = 0;
	assert_int_equal(f->fake->heard, 1);
	assert_int_equal(f->fake->last, event);
	return f->fake->bytes;
}

static const uint8_t path_of[N_WAYS] = { NBT_path_burst, NBT_path_sync, NBT_path_fenced, NBT_path_async,
	                                 NBT_path_sync };

static void expect_submit(struct fixture *f, int way)
{
	const struct nbt_exec_submit *e;
	uint64_t exec, deadline = UINT64_MAX / 2;

	f->app.io.call.terms.deadline_ns = deadline;
	f->app.io.call.measure = true;
	e = expect_event(f, way, NBT_EVENT_exec_submit, &exec);
	assert_true(e->exec == exec && e->model == nnb_remote_id(f->app.remote) && e->path == path_of[way]);
	assert_true(e->deadline_ns == deadline && e->pools == 1 && e->measure);
	assert_int_equal(e->fallback, way == FALLEN);
}

/*
 * A request has one datum each for itself, its input, its output and its pool, and one for each stated
 * dimension.
 */
static void expect_request_written(struct fixture *f, int way)
{
	uint64_t exec;
	const struct nbt_fmq_write *e = expect_event(f, way, NBT_EVENT_fmq_write, &exec);

	assert_int_equal(e->exec, exec);
	assert_int_equal(e->queue, way == BURST ? NBT_queue_request : NBT_queue_call_request);
	if (way == BURST)
		assert_in_range(e->items, 5, 8);
	else
		assert_int_equal(e->items, 1);
	assert_true(!e->used && !e->blocked_ns);
}

static void expect_answer_read(struct fixture *f, int way)
{
	uint64_t exec;
	const struct nbt_fmq_read *e = expect_event(f, way, NBT_EVENT_fmq_read, &exec);

	assert_int_equal(e->exec, exec);
	assert_int_equal(e->queue, way == BURST ? NBT_queue_result : NBT_queue_call_result);
	assert_true(e->items == (way == BURST ? 4 : 1) && e->used == e->items);
}

static void expect_return(struct fixture *f, int way)
{
	uint64_t exec;
	const struct nbt_exec_return *e = expect_event(f, way, NBT_EVENT_exec_return, &exec);

	assert_true(e->exec == exec && e->status == NBT_status_none);
}

static void expect_summary(struct fixture *f, int way)
{
	uint64_t exec, before = now_ns();
	const struct nbt_exec_client *e = expect_event(f, way, NBT_EVENT_exec_client, &exec);

	assert_true(e->exec == exec && e->model == nnb_remote_id(f->app.remote) && e->path == path_of[way]);
	assert_true(e->status == NBT_status_none && e->fallback == (way == FALLEN));
	assert_true(e->began >= before && e->at[0] <= e->at[1] && e->at[1] <= e->at[2]);
	assert_true(e->began + e->at[2] <= now_ns());
	assert_true(e->at[3] <= e->at[1]);
}

static const struct expected_event {
	const char *name;
	void (*run)(struct fixture *f, int way);
} expected_events[] = {
	{ "exec_submit", expect_submit }, { "fmq_write", expect_request_written }, { "fmq_read", expect_answer_read },
	{ "exec_return", expect_return }, { "exec_client", expect_summary },
};

static const char *const ways[N_WAYS] = { "a burst", "a call", "a fenced call", "an asynchronous call",
	                                  "a call in a burst's stead" };

static struct row {
	const struct expected_event *event;
	int way;
} rows[N_OF(expected_events) * N_WAYS];

static void row_emits_its_event(void **state)
{
	struct fixture *f = *state;
	const struct row *row = f->row;

	assert_non_null(f->fake);
	execute(f, row->way); /* without a listener */
	assert_int_equal(f->fake->heard, 0);
	row->event->run(f, row->way);
}

static void an_event_is_emitted_before_the_callback(void **state)
{
	struct fixture *f = *state;
	struct done done;

	f->fake->on[NBT_EVENT_exec_return] = 1;
	execute_async(f, &done);
	assert_int_equal(done.heard_before, 1);
}

/* The burst cannot know whether the service executed the request, so it reports how that ended, but no answer. */
static void a_burst_that_is_given_up_emits_its_return(void **state)
{
	struct fixture *f = *state;
	const struct nbt_exec_return *e = (const void *)f->fake->bytes;

	atomic_store(&f->app.s.gate->hold_runs, 1);
	f->fake->on[NBT_EVENT_exec_return] = f->fake->on[NBT_EVENT_fmq_read] = 1;
	f->app.io.call.timeout_ns = MS;
	assert_int_equal(nnb_burst_execute(f->app.burst, &f->app.io.call, &f->app.io.answer, NULL),
	                 NNB_STATUS_GENERAL_FAILURE);
	assert_true(f->fake->heard == 1 && f->fake->last == NBT_EVENT_exec_return);
	assert_true(e->exec == f->app.io.answer.exec && e->exec && e->status == NBT_status_general_failure);
	atomic_store(&f->app.s.gate->hold_runs, 0);
}

static void the_death_of_a_service_is_emitted(void **state)
{
	struct fixture *f = *state;
	const struct nbt_exec_return *e = (const void *)f->fake->bytes;

	service_kill(&f->app.s);
	while (nnb_client_alive(f->app.client))
		poll_pause();
	f->fake->on[NBT_EVENT_exec_return] = 1;
	assert_int_equal(nnb_remote_execute(f->app.remote, &f->app.io.call, &f->app.io.answer, NULL),
	                 NNB_STATUS_DEAD_OBJECT);
	assert_true(f->fake->heard == 1 && e->exec == f->app.io.answer.exec && e->status == NBT_status_dead_object);
	service_start(&f->app.s, OPTIONS(NULL));
}

/* The @i-th span event. */
static const struct nbt_app_span *span_at(const struct fake *fake, unsigned i)
{
	for (unsigned k = 0; k < fake->n && k < FAKE_LOG; k++)
		if (fake->log[k].event == NBT_EVENT_app_span && !i--)
			return (const void *)fake->log[k].bytes;
	fail_msg("the log has fewer spans");
	return NULL;
}

static void expect_span(const struct fake *fake, unsigned i, enum nbt_span_kind kind, enum nbt_owner owner, uint64_t id,
                        enum nbt_status status)
{
	const struct nbt_app_span *e = span_at(fake, i);

	assert_int_equal(e->kind, kind);
	assert_int_equal(e->owner, owner);
	assert_int_equal(e->owner_id, id);
	assert_int_equal(e->status, status);
	assert_true(e->took_ns && e->took_ns < PATIENCE && !e->since);
}

static void spans_around_executions_are_emitted(void **state)
{
	struct fixture *f = *state;
	const struct nnb_client_config nowhere = { .socket = "/nowhere" };
	const struct nnb_burst_config polls = { .window_ns = 7000 };
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_pool *pool;
	uint64_t stream;
	uint32_t connection;

	f->fake->on[NBT_EVENT_app_span] = 1;
	assert_int_not_equal(nnb_client_open(&client, &nowhere, NULL), 0);
	client = app_open(&f->app.s);
	connection = nnb_client_info(client)->connection;
	remote = app_prepare(client, f->app.adds);
	assert_none(nnb_remote_burst(remote, &polls, &burst, &why));
	assert_int_equal(nnb_pool_new(&pool, 4096), 0);
	assert_none(nnb_burst_execute(burst, &f->app.io.call, &f->app.io.answer, &why));
	stream = f->app.io.answer.exec >> 32;
	nnb_pool_free(pool);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
	expect_span(f->fake, 0, NBT_span_kind_connect, NBT_owner_process, (uint64_t)getpid(),
	            NBT_status_device_unavailable);
	expect_span(f->fake, 1, NBT_span_kind_connect, NBT_owner_connection, connection, NBT_status_none);
	expect_span(f->fake, 2, NBT_span_kind_burst_make, NBT_owner_stream, stream, NBT_status_none);
	expect_span(f->fake, 3, NBT_span_kind_pool_make, NBT_owner_process, (uint64_t)getpid(), NBT_status_none);
	expect_span(f->fake, 4, NBT_span_kind_pool_free, NBT_owner_process, (uint64_t)getpid(), NBT_status_none);
	expect_span(f->fake, 5, NBT_span_kind_burst_free, NBT_owner_stream, stream, NBT_status_none);
	expect_span(f->fake, 6, NBT_span_kind_disconnect, NBT_owner_process, (uint64_t)getpid(), NBT_status_none);
	assert_true(span_at(f->fake, 2)->value == 7 && span_at(f->fake, 3)->value == 4096);
}

static void add_rows(void)
{
	add_test(spans_around_executions_are_emitted, set_up, tear_down, NULL, "spans around executions are emitted");
	for (size_t i = 0; i < N_OF(rows); i++) {
		rows[i] = (struct row){ &expected_events[i / N_WAYS], (int)(i % N_WAYS) };
		add_test(row_emits_its_event, set_up, tear_down, &rows[i], "%s of %s", rows[i].event->name,
		         ways[i % N_WAYS]);
	}
	add_test(an_event_is_emitted_before_the_callback, set_up, tear_down, NULL,
	         "an event is emitted before the callback");
	add_test(a_burst_that_is_given_up_emits_its_return, set_up, tear_down, NULL,
	         "a burst that is given up emits its return");
	add_test(the_death_of_a_service_is_emitted, set_up, tear_down, NULL, "the death of a service is emitted");
}

#endif

int main(void)
{
	setenv("NNBURST_TRACEPOINTS", PROVIDER_FAKE, 1);
	add_test(each_kind_of_call_is_counted_in_a_stream_of_its_own, set_up, tear_down, NULL,
	         "each kind of call is counted in a stream of its own");
	add_test(the_requests_of_a_burst_are_counted_in_its_stream, set_up, tear_down, NULL,
	         "the requests of a burst are counted in its stream");
	add_test(a_fallback_is_numbered_as_a_call_only, set_up, tear_down, NULL,
	         "a fallback is numbered as a call only");
	add_test(a_call_refused_before_it_is_sent_has_no_number, set_up, tear_down, NULL,
	         "a call refused before it is sent has no number");
	add_test(a_call_that_fails_has_a_number, set_up, tear_down, NULL, "a call that fails has a number");
#ifndef NBT_OFF
	add_rows();
#endif
	return _cmocka_run_group_tests("client traces", tests, n_tests, NULL, NULL);
}

/*
 * test_service_buffers.c -- memory domains through a real nnburstd: what buffers cost an app and return, what
 * happens to them when a process dies, shared memory in their place, and that no other app can use them.
 *
 * Apps are processes. A thief tries 10^4 tokens, or NNB_TOKENS of them.
 */
#include <inttypes.h>

#include "nnb/buffer.h"
#include "nnb/fence.h"
#include "service_helpers.h"

enum { N = 64, BYTES = N * 4 };
#define MIB (1 << 20)

struct fixture {
	struct service s;
	const void *row;
	struct nnb_client *client;
	struct nnb_model *adds, *grows;
	struct nnb_remote *remote; /* prepared from `adds` */
	struct nnb_burst *burst;   /* on `remote`; NULL: none */
};

static struct nnb_client *open_as(const struct service *s, enum nnb_hal hal)
{
	const struct nnb_client_config config = { .socket = s->socket, .hal = hal };
	struct nnb_client *client;

	assert_int_equal(nnb_client_open(&client, &config, NULL), 0);
	return client;
}

static int set_up_with(void **state, const char *const *options, enum nnb_hal hal)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, options);
	f->client = open_as(&f->s, hal);
	f->adds = vector_model(NNB_ADD, N, 1);
	f->grows = vector_model_of_any_length();
	f->remote = app_prepare(f->client, f->adds);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, OPTIONS("--app-identity", "pid"), NNB_HAL_1_3);
}

static int with_two_buffers(void **state)
{
	return set_up_with(state, OPTIONS("--limit", "buffers=2"), NNB_HAL_1_3);
}

static int with_8_MiB(void **state)
{
	return set_up_with(state, OPTIONS("--limit", "bytes=8M"), NNB_HAL_1_3);
}

static int with_8_MiB_for_all(void **state)
{
	return set_up_with(state, OPTIONS("--app-identity", "pid", "--memory", "8M"), NNB_HAL_1_3);
}

static int for_an_older_app(void **state)
{
	return set_up_with(state, OPTIONS(NULL), NNB_HAL_1_2);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->s.gate->hold_runs, 0);
	atomic_store(&f->s.gate->hold_copies, 0);
	nnb_burst_free(f->burst);
	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	nnb_model_free(f->adds);
	nnb_model_free(f->grows);
	if (f->s.pid)
		service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- buffers ---- */

static const struct nnb_buffer_role first = { 0, 0, 1 };

/* The first input and the first output of one model, of @n floats; 0: of the model's own size. */
static struct nnb_buffer_desc desc_of(uint32_t n)
{
	return (struct nnb_buffer_desc){
		.rank = n > 0, .dims = { n }, .inputs = &first, .outputs = &first, .n_inputs = 1, .n_outputs = 1
	};
}

static void expect_status(enum nnb_status is, enum nnb_status want, const struct nnb_reason *why)
{
	if (is != want)
		fail_msg("%s and not %s: %s", nnb_status_name(is), nnb_status_name(want), why->text);
}

static struct nnb_remote_buffer *allocate(struct nnb_client *client, struct nnb_remote *remote, uint32_t n)
{
	const struct nnb_buffer_desc desc = desc_of(n);
	struct nnb_remote_buffer *b = NULL;

	assert_none(nnb_remote_buffer_new(&b, client, &remote, 1, &desc, false, &why));
	assert_false(nnb_remote_buffer_fell_back(b));
	return b;
}

static void expect_allocate(struct nnb_client *client, struct nnb_remote *remote, uint32_t n, enum nnb_status want)
{
	const struct nnb_buffer_desc desc = desc_of(n);
	struct nnb_remote_buffer *b = NULL;
	struct nnb_reason why = { "" };

	expect_status(nnb_remote_buffer_new(&b, client, &remote, 1, &desc, false, &why), want, &why);
	assert_true((want == NNB_STATUS_NONE) == (b != NULL));
	assert_true((want == NNB_STATUS_NONE) == (why.text[0] == '\0'));
	nnb_remote_buffer_free(b);
}

static struct nnb_pool *pool_of(uint32_t n, float from)
{
	struct nnb_pool *pool;
	float *x;

	assert_int_equal(nnb_pool_new(&pool, (uint64_t)n * 4), 0);
	x = nnb_pool_data(pool);
	for (uint32_t i = 0; i < n; i++)
		x[i] = from + (float)i;
	return pool;
}

static enum nnb_status copy_from(struct nnb_remote_buffer *b, const struct nnb_pool *pool, struct nnb_reason *why)
{
	const uint32_t n = (uint32_t)(nnb_pool_size(pool) / 4);

	return nnb_remote_buffer_copy_from(b, nnb_pool_memory(pool), 1, &n, why);
}

static void fill(struct nnb_remote_buffer *b, uint32_t n, float from)
{
	struct nnb_pool *pool = pool_of(n, from);

	assert_none(copy_from(b, pool, &why));
	nnb_pool_free(pool);
}

static enum nnb_status copy_to(struct nnb_remote_buffer *b, const struct nnb_pool *pool)
{
	return nnb_remote_buffer_copy_to(b, nnb_pool_memory(pool), NULL);
}

static void expect_uninitialised(struct nnb_remote_buffer *b, uint32_t n)
{
	struct nnb_pool *pool = pool_of(n, 0);

	assert_int_equal(copy_to(b, pool), NNB_STATUS_GENERAL_FAILURE);
	nnb_pool_free(pool);
}

/* The buffer holds what pool_of(@n, @from) holds, plus @added. */
static void expect_holds(struct nnb_remote_buffer *b, uint32_t n, float from, unsigned added)
{
	struct nnb_pool *pool = pool_of(n, -1e9F);
	const float *x = nnb_pool_data(pool);

	assert_none(nnb_remote_buffer_copy_to(b, nnb_pool_memory(pool), &why));
	for (uint32_t i = 0; i < n; i++) {
		float want = from + (float)i;

		for (unsigned k = 0; k < added; k++)
			want = vector_expected(NNB_ADD, 1, i, want);
		if (x[i] != want)
			fail_msg("element %u is %g, and not %g", i, (double)x[i], (double)want);
	}
	nnb_pool_free(pool);
}

/* ---- executions ---- */

/* Where an argument lies. */
struct place {
	struct nnb_pool *pool;
	struct nnb_argument argument;
};

static struct place in_buffer(const struct nnb_remote_buffer *b)
{
	return (struct place){ nnb_remote_buffer_pool(b), nnb_remote_buffer_argument(b, 0) };
}

/* The whole pool, or the whole buffer of its token. */
static struct place in_pool(struct nnb_pool *pool)
{
	return (struct place){ pool, { .location = { 0, 0, (uint32_t)nnb_pool_size(pool) } } };
}

static struct place with_length(struct place p, uint32_t n)
{
	p.argument.rank = 1;
	p.argument.dims[0] = n;
	return p;
}

struct request {
	struct nnb_pool *pools[2];
	struct nnb_argument in, out;
	struct nnb_output_shape shape;
	struct nnb_call call;
	struct nnb_answer answer;
};

static struct nnb_call *request(struct request *r, struct place in, struct place out)
{
	*r = (struct request){ .pools = { in.pool, out.pool }, .in = in.argument, .out = out.argument };
	r->out.location.pool = 1;
	r->answer.shapes = &r->shape;
	r->call = (struct nnb_call){
		.inputs = &r->in, .outputs = &r->out, .pools = r->pools, .n_inputs = 1, .n_outputs = 1, .n_pools = 2
	};
	return &r->call;
}

enum { SYNC, ASYNC, FENCED, BURST, PATHS };
static const char *const path_names[] = { "sync", "async", "fenced", "burst" };

/* P-32: where the launch fails, the callback has the same status. */
static enum nnb_status execute_to_the_callback(struct nnb_remote *remote, const struct nnb_call *call,
                                               struct nnb_reason *why)
{
	enum nnb_status told, status = execute_and_await(remote, call, &told, why);

	if (status)
		assert_int_equal(told, status);
	return told;
}

static enum nnb_status execute_fenced(struct nnb_remote *remote, const struct nnb_call *call, struct nnb_reason *why)
{
	struct nnb_fenced *fenced = NULL;
	int fence = -1;
	enum nnb_status status = nnb_remote_execute_fenced(remote, call, NULL, &fenced, &fence, why);

	if (status) {
		assert_true(!fenced && fence == -1);
		return status;
	}
	nnb_fence_wait(&fence, 1, 0);
	status = nnb_fenced_info(fenced, NULL, NULL, why);
	close(fence);
	nnb_fenced_free(fenced);
	return status;
}

static enum nnb_status execute(int path, struct nnb_remote *remote, struct nnb_burst *burst, struct request *r,
                               struct nnb_reason *why)
{
	enum nnb_status status;

	switch (path) {
	case SYNC:
		return nnb_remote_execute(remote, &r->call, &r->answer, why);
	case ASYNC:
		return execute_to_the_callback(remote, &r->call, why);
	case FENCED:
		return execute_fenced(remote, &r->call, why);
	default:
		status = nnb_burst_execute(burst, &r->call, &r->answer, why);
		assert_false(r->answer.fallback);
		return status;
	}
}

static void expect_execute(struct fixture *f, int path, struct request *r, enum nnb_status want)
{
	struct nnb_reason why = { "" };
	enum nnb_status is;

	if (path == BURST && !f->burst)
		f->burst = app_burst(f->remote);
	is = execute(path, f->remote, f->burst, r, &why);
	if (is != want)
		fail_msg("%s: %s and not %s: %s", path_names[path], nnb_status_name(is), nnb_status_name(want),
		         why.text);
}

/* ---- costs, and their return ---- */

static struct nnb_holdings holds(struct fixture *f)
{
	return app_counts(f->client).app;
}

/*
 * All holdings are as before, except the channels, which a client keeps. The service frees what an execution
 * held after its answer, so wait for that.
 */
static void expect_holds_again(struct fixture *f, struct nnb_holdings was)
{
	struct nnb_holdings is;
	uint64_t end = now_ns() + PATIENCE;

	do {
		is = holds(f);
		was.channels = is.channels;
	} while (memcmp(&is, &was, sizeof(is)) != 0 && now_ns() < end && (poll_pause(), true));
	assert_memory_equal(&is, &was, sizeof(is));
}

static void buffers_go_through_executions_of_every_path(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0);
	struct request r;

	for (int path = 0; path < PATHS; path++) {
		fill(a, N, 3 + (float)path);
		request(&r, in_buffer(a), in_buffer(b));
		expect_execute(f, path, &r, NNB_STATUS_NONE);
		request(&r, in_buffer(b), in_buffer(a));
		expect_execute(f, path, &r, NNB_STATUS_NONE);
		expect_holds(b, N, 3 + (float)path, 1);
		expect_holds(a, N, 3 + (float)path, 2);
	}
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
}

static void what_a_buffer_takes_is_given_back_when_it_is_freed(void **state)
{
	struct fixture *f = *state;
	struct nnb_holdings before = holds(f);
	struct nnb_remote_buffer *b[5];

	for (unsigned i = 0; i < N_OF(b); i++) {
		b[i] = allocate(f->client, f->remote, 0);
		fill(b[i], N, (float)i);
		assert_int_equal(holds(f).buffers, i + 1);
		assert_int_equal(holds(f).bytes, before.bytes + (i + 1) * BYTES);
		assert_int_equal(holds(f).pools, before.pools); /* the pools of a copy are returned */
	}
	app_comes_to_hold(f->client, all.buffers, N_OF(b));
	assert_int_equal(app_counts(f->client).limit.buffers, 1024);
	for (unsigned i = 0; i < N_OF(b); i++)
		nnb_remote_buffer_free(b[i]);
	expect_holds_again(f, before);
	app_comes_to_hold(f->client, all.buffers, 0);
}

/* M-33: a buffer of unknown size costs nothing until a write gives it a size. */
static void a_buffer_of_unknown_size_takes_what_is_written_to_it(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_holdings before = holds(f);
	struct nnb_remote_buffer *b = allocate(f->client, grows, 0);
	struct nnb_pool *x = pool_of(2 * N, 1);
	struct request r;

	assert_int_equal(holds(f).bytes, before.bytes);
	fill(b, N, 1);
	assert_int_equal(holds(f).bytes, before.bytes + BYTES);
	request(&r, with_length(in_pool(x), 2 * N), with_length(in_buffer(b), 2 * N));
	assert_none(nnb_remote_execute(grows, &r.call, &r.answer, &why));
	assert_int_equal(r.shape.dims[0], 2 * N);
	assert_int_equal(holds(f).bytes, before.bytes + 2 * BYTES);
	nnb_remote_buffer_free(b);
	expect_holds_again(f, before);
	nnb_remote_release(grows);
	nnb_pool_free(x);
}

static void a_buffer_outlives_its_model_and_its_client(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *client = app_open(&f->s);
	struct nnb_remote *remote = app_prepare(client, f->adds);
	struct nnb_remote_buffer *b = allocate(client, remote, 0);

	nnb_remote_release(remote);
	nnb_client_close(client);
	fill(b, N, 7);
	expect_holds(b, N, 7, 0);
	nnb_remote_buffer_free(b);
}

static void an_app_has_so_many_buffers_and_no_more(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *b[2] = { allocate(f->client, f->remote, 0), allocate(f->client, f->remote, 0) };
	struct nnb_service_counts before = app_counts(f->client);

	assert_int_equal(before.limit.buffers, 2);
	for (int i = 0; i < 3; i++)
		expect_allocate(f->client, f->remote, 0, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_int_equal(app_counts(f->client).refused, before.refused + 3);
	expect_allocate(f->client, f->remote, N + 1, NNB_STATUS_INVALID_ARGUMENT); /* a wrong argument is
	                                                                            * reported before a shortage */
	nnb_remote_buffer_free(b[1]);
	expect_allocate(f->client, f->remote, 0, NNB_STATUS_NONE);
	nnb_remote_buffer_free(b[0]);
}

static void an_app_has_so_many_bytes_in_buffers_and_no_more(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_remote_buffer *b = allocate(f->client, grows, 5 * MIB / 4);

	for (int i = 0; i < 3; i++)
		expect_allocate(f->client, grows, 5 * MIB / 4, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	nnb_remote_buffer_free(b);
	for (int i = 0; i < 3; i++)
		expect_allocate(f->client, grows, 9 * MIB / 4, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	expect_allocate(f->client, grows, 8 * MIB / 4,
	                NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT); /* the model needs a part of it */
	expect_allocate(f->client, grows, 5 * MIB / 4, NNB_STATUS_NONE);
	nnb_remote_release(grows);
}

/* The service counted the buffer before the driver refused it. */
static void what_the_driver_has_no_memory_for_is_not_counted(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_remote_buffer *b = allocate(f->client, grows, 0);
	struct nnb_pool *x = pool_of(N, 1);
	struct nnb_holdings before = holds(f);
	struct nnb_reason why = { "" };
	struct request r;

	request(&r, with_length(in_pool(x), N), with_length(in_buffer(b), N));
	atomic_store(&f->s.gate->no_buffers, 1);
	for (int i = 0; i < 3; i++) {
		expect_allocate(f->client, f->remote, 0, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
		expect_holds_again(f, before);
		expect_status(copy_from(b, x, &why), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
		expect_holds_again(f, before);
		expect_status(execute(SYNC, grows, NULL, &r, &why), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
		expect_holds_again(f, before);
	}
	atomic_store(&f->s.gate->no_buffers, 0);
	expect_status(copy_from(b, x, &why), NNB_STATUS_NONE, &why);
	expect_holds(b, N, 1, 0);
	before.bytes += BYTES;
	expect_holds_again(f, before);
	nnb_remote_buffer_free(b);
	nnb_remote_release(grows);
	nnb_pool_free(x);
}

/* A copy's memory counts beside the buffer's while the copy goes on. */
static void a_copy_takes_room_for_both_sides(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_remote_buffer *b = allocate(f->client, grows, 0), *other = allocate(f->client, grows, 3 * MIB / 4);
	struct nnb_pool *three = pool_of(3 * MIB / 4, 1), *five = pool_of(5 * MIB / 4, 1),
			*nine = pool_of(9 * MIB / 4, 1);
	struct nnb_reason why = { "" };

	for (int i = 0; i < 3; i++)
		expect_status(copy_from(b, three, &why), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
	nnb_remote_buffer_free(other);
	expect_status(copy_from(b, three, &why), NNB_STATUS_NONE, &why);
	assert_int_equal(copy_to(b, three), NNB_STATUS_NONE);
	expect_status(nnb_remote_buffer_copy_from(b, nnb_pool_memory(five), 1, &(uint32_t){ N }, &why),
	              NNB_STATUS_INVALID_ARGUMENT, &why);
	assert_int_equal(copy_to(b, nine), NNB_STATUS_INVALID_ARGUMENT); /* M-32: the size is checked first */
	expect_status(nnb_remote_buffer_copy_from(b, nnb_pool_memory(nine), 1, &(uint32_t){ N }, &why),
	              NNB_STATUS_INVALID_ARGUMENT, &why);
	expect_holds(b, 3 * MIB / 4, 1, 0); /* M-31: and the buffer holds what it held */
	for (int i = 0; i < 3; i++)
		expect_status(copy_from(b, five, &why), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, &why);
	assert_int_equal(copy_to(b, three), NNB_STATUS_GENERAL_FAILURE);
	nnb_remote_buffer_free(b);
	nnb_remote_release(grows);
	nnb_pool_free(three);
	nnb_pool_free(five);
	nnb_pool_free(nine);
}

/* The pool has 2 MiB; the buffer grows to as many. */
static void what_an_output_grows_to_is_counted(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_burst *burst = app_burst(grows);
	struct nnb_remote_buffer *b = allocate(f->client, grows, 0), *other = allocate(f->client, grows, 5 * MIB / 4);
	const uint32_t n = 2 * MIB / 4;
	struct nnb_pool *x = pool_of(n, 1);
	struct nnb_reason why = { "" };
	struct request r;

	for (int path = 0; path < PATHS; path++) {
		request(&r, with_length(in_pool(x), n), with_length(in_buffer(b), n));
		fill(b, N, 1);
		expect_status(execute(path, grows, burst, &r, &why), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
		expect_uninitialised(b, N);
	}
	nnb_remote_buffer_free(other);
	for (int path = 0; path < PATHS; path++)
		expect_status(execute(path, grows, burst, &r, &why), NNB_STATUS_NONE, &why);
	assert_int_equal(copy_to(b, x), NNB_STATUS_NONE);
	nnb_remote_buffer_free(b);
	nnb_burst_free(burst);
	nnb_remote_release(grows);
	nnb_pool_free(x);
}

/* A buffer that was refused more room once can still be named in an execution that needs no room. */
static void what_another_execution_was_refused_is_of_no_interest(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_burst *burst = app_burst(grows);
	struct nnb_remote_buffer *a = allocate(f->client, grows, 0), *b = allocate(f->client, grows, 0), *other;
	const uint32_t n = 5 * MIB / 8, large = 5 * MIB / 4;
	struct nnb_pool *x = pool_of(n, 1), *y = pool_of(large, 1), *pools[3];
	struct nnb_reason why = { "" };
	struct request r;

	for (int path = 0; path < PATHS; path++) {
		request(&r, with_length(in_pool(y), large), with_length(in_buffer(b), large));
		expect_status(execute(path, grows, burst, &r, &why), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, &why);
		nnb_burst_free(burst); /* the burst would keep the pools that it knows */
		burst = app_burst(grows);
		expect_status(copy_from(b, y, &why), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, &why);
		other = allocate(f->client, grows, 4 * MIB / 4);
		request(&r, with_length(in_pool(x), n), with_length(in_buffer(a), n));
		memcpy(pools, r.pools, sizeof(r.pools));
		pools[2] = nnb_remote_buffer_pool(b);
		r.call.pools = pools;
		r.call.n_pools = 3;
		expect_status(execute(path, grows, burst, &r, &why), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
		nnb_remote_buffer_free(other);
		expect_status(execute(path, grows, burst, &r, &why), NNB_STATUS_NONE, &why);
		nnb_remote_buffer_free(a);
		a = allocate(f->client, grows, 0);
		nnb_burst_free(burst);
		burst = app_burst(grows);
	}
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
	nnb_burst_free(burst);
	nnb_remote_release(grows);
	nnb_pool_free(x);
	nnb_pool_free(y);
}

/* P-30: a wrong argument is reported before a shortage of memory. */
static void what_is_wrong_comes_before_what_there_is_no_room_for(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0);
	struct nnb_pool *large = pool_of(9 * MIB / 4, 1), *pools[3];
	struct request r;

	fill(a, N, 3);
	fill(b, N, 5);
	for (int path = 0; path < BURST; path++) { /* a burst maps its pools before that (S-9) */
		request(&r, in_buffer(a), in_buffer(a));
		memcpy(pools, r.pools, sizeof(r.pools));
		pools[2] = large;
		r.call.pools = pools;
		r.call.n_pools = 3;
		expect_execute(f, path, &r, NNB_STATUS_INVALID_ARGUMENT);
		expect_holds(a, N, 3, 0);
		pools[1] = nnb_remote_buffer_pool(b);
		fill(b, N, 5);
		expect_execute(f, path, &r, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
		expect_holds(a, N, 3, 0);
		expect_uninitialised(b, N);
	}
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
	nnb_pool_free(large);
}

/*
 * 5 MiB fit, but 5 MiB more never fit beside them: the failure must be permanent, or an app would try for
 * ever.
 */
static void an_output_that_never_fits_beside_what_it_is_made_of_is_refused_for_good(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_burst *burst = app_burst(grows);
	struct nnb_remote_buffer *b = allocate(f->client, grows, 0);
	const uint32_t n = 5 * MIB / 4;
	struct nnb_pool *x = pool_of(n, 1);
	struct nnb_reason why = { "" };
	struct request r;

	request(&r, with_length(in_pool(x), n), with_length(in_buffer(b), n));
	for (int path = 0; path < PATHS; path++)
		expect_status(execute(path, grows, burst, &r, &why), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, &why);
	nnb_remote_buffer_free(b);
	nnb_burst_free(burst);
	nnb_remote_release(grows);
	nnb_pool_free(x);
}

/* ---- all apps together ---- */

static void have_a_buffer(const char *socket_path)
{
	struct nnb_model *m = vector_model_of_any_length();
	const struct nnb_buffer_desc desc = desc_of(5 * MIB / 4);
	struct nnb_remote_buffer *b;
	struct nnb_client *client;
	struct nnb_remote *remote;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	must(nnb_remote_buffer_new(&b, client, &remote, 1, &desc, false, NULL) == NNB_STATUS_NONE);
	scene_report('.');
	scene_stay();
}

/* The other app was killed: wait until the service has noticed. */
static void expect_to_be_alone(struct fixture *f)
{
	uint64_t end = now_ns() + PATIENCE;
	struct nnb_service_counts n;

	do {
		poll_pause();
		n = app_counts(f->client);
		n.all.channels = n.app.channels;
	} while (memcmp(&n.all, &n.app, sizeof(n.all)) != 0 && now_ns() < end);
	assert_memory_equal(&n.all, &n.app, sizeof(n.all));
}

static void a_buffer_that_fits_when_another_app_goes_is_refused_for_now(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct child c;

	child_start(&c, "has a buffer", &f->s, "");
	assert_int_equal(child_read(&c), '.');
	app_comes_to_hold(f->client, all.buffers, 1);
	for (int i = 0; i < 3; i++) {
		expect_allocate(f->client, grows, 5 * MIB / 4, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
		expect_allocate(f->client, grows, 9 * MIB / 4, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	}
	child_kill(&c);
	expect_to_be_alone(f);
	expect_allocate(f->client, grows, 5 * MIB / 4, NNB_STATUS_NONE);
	expect_allocate(f->client, grows, 9 * MIB / 4, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	nnb_remote_release(grows);
}

/* ---- refusals and failures ---- */

/* M-20, M-21: a refusal changes nothing. */
static void what_is_refused_on_any_path_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0),
				 *empty = allocate(f->client, f->remote, 0);
	struct request r;

	fill(a, N, 3);
	fill(b, N, 5);
	for (int path = 0; path < PATHS; path++) {
		request(&r, in_buffer(a), in_buffer(a));
		expect_execute(f, path, &r, NNB_STATUS_INVALID_ARGUMENT);
		request(&r, in_buffer(a), in_buffer(b));
		r.out.location.length = BYTES;
		expect_execute(f, path, &r, NNB_STATUS_INVALID_ARGUMENT);
		request(&r, in_buffer(a), in_buffer(b));
		r.in.location.offset = 4;
		r.call.terms.deadline_ns =
			path != BURST; /* P-30: the pool is checked later, and for a burst not at all here */
		expect_execute(f, path, &r, NNB_STATUS_INVALID_ARGUMENT);
		request(&r, in_buffer(empty), in_buffer(b));
		expect_execute(f, path, &r, NNB_STATUS_GENERAL_FAILURE);
		expect_holds(a, N, 3, 0);
		expect_holds(b, N, 5, 0);
	}
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
	nnb_remote_buffer_free(empty);
}

/* Section 11: every failed execution leaves its output uninitialised. */
static void what_misses_its_deadline_leaves_its_output_uninitialised(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0);
	struct request r;

	fill(a, N, 3);
	for (int path = 0; path < PATHS; path++) {
		request(&r, in_buffer(a), in_buffer(b));
		expect_execute(f, path, &r, NNB_STATUS_NONE); /* from now on the burst knows the slots */
		r.call.terms.deadline_ns = 1;
		expect_execute(f, path, &r, NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
		expect_uninitialised(b, N);
		expect_holds(a, N, 3, 0);
	}
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
}

struct launched {
	struct nnb_fenced *fenced;
	int fence;
};

static struct launched launch(struct fixture *f, struct request *r, int behind)
{
	const struct nnb_fenced_how how = { .wait_for = &behind, .n_wait_for = 1 };
	struct launched l;

	assert_none(nnb_remote_execute_fenced(f->remote, &r->call, &how, &l.fenced, &l.fence, &why));
	return l;
}

static void ends(struct launched *l, enum nnb_status want)
{
	nnb_fence_wait(&l->fence, 1, 0);
	assert_int_equal(nnb_fenced_info(l->fenced, NULL, NULL, NULL), want);
	nnb_fenced_free(l->fenced);
	close(l->fence);
}

static int new_fence(void)
{
	int fence;

	assert_int_equal(nnb_fence_new(&fence), 0);
	return fence;
}

/* The contents of a buffer matter when the execution begins, not before. */
static void a_chain_behind_a_fence_goes_through_buffers(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0);
	struct nnb_pool *x = pool_of(N, 3);
	struct nnb_fenced *none = NULL;
	struct launched l[3];
	struct request r;
	int fence = new_fence(), fence_of_none;

	request(&r, in_pool(x), in_buffer(a));
	l[0] = launch(f, &r, fence);
	request(&r, in_buffer(a), in_buffer(b));
	l[1] = launch(f, &r, l[0].fence);
	request(&r, in_buffer(b), in_pool(x));
	l[2] = launch(f, &r, l[1].fence);
	expect_uninitialised(a, N);
	request(&r, in_buffer(a), in_buffer(b)); /* without a fence the contents matter now */
	assert_int_equal(nnb_remote_execute_fenced(f->remote, &r.call, NULL, &none, &fence_of_none, NULL),
	                 NNB_STATUS_GENERAL_FAILURE);
	assert_null(none);
	nnb_fence_signal(fence, false);
	for (int i = 0; i < 3; i++)
		ends(&l[i], NNB_STATUS_NONE);
	expect_holds(a, N, 3, 1);
	expect_holds(b, N, 3, 2);
	assert_true(((float *)nnb_pool_data(x))[1] == vector_expected(NNB_ADD, 1, 1, 4) + 2 * 2 * 0.5F);
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
	nnb_pool_free(x);
	close(fence);
}

static void a_fence_that_fails_leaves_the_output_uninitialised(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *b = allocate(f->client, f->remote, 0);
	struct nnb_pool *x = pool_of(N, 3);
	struct launched l;
	struct request r;
	int fence = new_fence();

	fill(b, N, 5);
	request(&r, in_pool(x), in_buffer(b));
	l = launch(f, &r, fence);
	expect_holds(b, N, 5, 0);
	nnb_fence_signal(fence, true);
	ends(&l, NNB_STATUS_GENERAL_FAILURE);
	expect_uninitialised(b, N);
	nnb_remote_buffer_free(b);
	nnb_pool_free(x);
	close(fence);
}

/* P-13: the execution fails before it begins, and still counts as failed. */
static void what_cannot_be_launched_leaves_its_output_uninitialised(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *b;
	struct nnb_pool *x = pool_of(N, 3);
	struct nnb_holdings before;
	struct told_status held = { 0 };
	struct request r, other;

	assert_int_equal(service_stop(&f->s), 0);
	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	service_start(&f->s, OPTIONS("--limit", "async=1"));
	f->client = app_open(&f->s);
	f->remote = app_prepare(f->client, f->adds);
	b = allocate(f->client, f->remote, 0);
	before = holds(f);
	atomic_store(&f->s.gate->hold_runs, 1);
	request(&other, in_pool(x), in_pool(x));
	assert_none(nnb_remote_execute_async(f->remote, &other.call, told_note, &held, &why));
	await(&f->s.gate->held_runs, 1);
	for (int path = ASYNC; path <= FENCED; path++) {
		fill(b, N, 5);
		request(&r, in_pool(x), in_buffer(b));
		expect_execute(f, path, &r, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
		expect_uninitialised(b, N);
	}
	atomic_store(&f->s.gate->hold_runs, 0);
	await(&held.times, 1);
	expect_holds_again(f, before);
	nnb_remote_buffer_free(b);
	nnb_pool_free(x);
}

/* ---- two uses at once ---- */

/* M-11: a second user is refused meanwhile, and does not wait. */
static void a_use_during_a_write_is_refused_at_once(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0);
	struct nnb_pool *x = pool_of(N, 3), *y = pool_of(N, 3);
	struct told_status held = { 0 };
	struct request writes, r;

	fill(a, N, 7);
	fill(b, N, 8);
	f->burst = app_burst(f->remote);
	request(&writes, in_buffer(b), in_buffer(a));
	atomic_store(&f->s.gate->hold_runs, 1);
	assert_none(nnb_remote_execute_async(f->remote, &writes.call, told_note, &held, &why));
	await(&f->s.gate->held_runs, 1);
	for (int path = 0; path < PATHS; path++) {
		request(&r, in_buffer(a), in_pool(y));
		expect_execute(f, path, &r, NNB_STATUS_GENERAL_FAILURE);
		request(&r, in_pool(x), in_buffer(a));
		expect_execute(f, path, &r, NNB_STATUS_GENERAL_FAILURE);
		request(&r, in_pool(x), in_buffer(b)); /* an execution reads the buffer */
		expect_execute(f, path, &r, NNB_STATUS_GENERAL_FAILURE);
	}
	assert_int_equal(copy_to(a, y), NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(copy_from(a, x, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(copy_from(b, x, NULL), NNB_STATUS_GENERAL_FAILURE);
	expect_holds(b, N, 8, 0); /* a second reader is admitted */
	atomic_store(&f->s.gate->hold_runs, 0);
	await(&held.times, 1);
	assert_int_equal(held.status, NNB_STATUS_NONE);
	expect_holds(a, N, 8, 1);
	expect_holds(b, N, 8, 0);
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
	nnb_pool_free(x);
	nnb_pool_free(y);
}

/* M-8: the execution goes on with a buffer that has no token any more; then the service frees the buffer. */
static void a_freed_buffer_stays_for_its_users(void **state)
{
	struct fixture *f = *state;
	struct nnb_holdings before = holds(f);
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0);
	struct nnb_pool *y = pool_of(N, 0), *named;
	struct told_status held = { 0 };
	struct request reads, r;
	uint64_t end;

	fill(a, N, 7);
	assert_int_equal(nnb_pool_from(&named, nnb_pool_memory(nnb_remote_buffer_pool(a))), 0);
	request(&reads, in_buffer(a), in_buffer(b));
	atomic_store(&f->s.gate->hold_runs, 1);
	assert_none(nnb_remote_execute_async(f->remote, &reads.call, told_note, &held, &why));
	await(&f->s.gate->held_runs, 1);
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
	assert_int_equal(holds(f).buffers, 2);
	assert_int_equal(holds(f).bytes > before.bytes, 1);
	request(&r, in_pool(named), in_pool(y));
	expect_execute(f, SYNC, &r, NNB_STATUS_INVALID_ARGUMENT);
	atomic_store(&f->s.gate->hold_runs, 0);
	await(&held.times, 1);
	assert_int_equal(held.status, NNB_STATUS_NONE);
	for (end = now_ns() + PATIENCE; holds(f).executions_under_way && now_ns() < end;)
		poll_pause();
	expect_holds_again(f, before);
	nnb_pool_free(named);
	nnb_pool_free(y);
}

struct copier {
	struct nnb_remote_buffer *buffer;
	struct nnb_pool *pool;
	pthread_t thread;
	enum nnb_status status;
};

static void *copy_once(void *arg)
{
	struct copier *c = arg;

	c->status = copy_from(c->buffer, c->pool, NULL);
	return NULL;
}

static void a_copy_is_counted_while_it_takes_place(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *client = app_open(&f->s);
	struct nnb_remote *remote = app_prepare(client, f->adds);
	struct nnb_holdings before = app_counts(f->client).all;
	struct copier c = { .buffer = allocate(client, remote, 0), .pool = pool_of(N, 3) };

	atomic_store(&f->s.gate->hold_copies, 1);
	assert_int_equal(pthread_create(&c.thread, NULL, copy_once, &c), 0);
	await(&f->s.gate->held_copies, 1);
	app_comes_to_hold(f->client, all.bytes, before.bytes + 2 * BYTES);
	app_comes_to_hold(f->client, all.pools, before.pools + 1);
	atomic_store(&f->s.gate->hold_copies, 0);
	pthread_join(c.thread, NULL);
	assert_int_equal(c.status, NNB_STATUS_NONE);
	nnb_remote_buffer_free(c.buffer);
	nnb_pool_free(c.pool);
	nnb_remote_release(remote);
	nnb_client_close(client);
}

/* ---- shared memory in place of buffers ---- */

static const struct fallback_case {
	const char *name;
	const char *options[5];
	enum nnb_hal hal;
	uint32_t had; /* buffers that exist already */
	enum nnb_status refused;
} fallback_cases[] = {
	{ "an older app", { NULL }, NNB_HAL_1_2, 0, NNB_STATUS_GENERAL_FAILURE },
	{ "a driver without", { "--driver", DRIVER_BARE }, NNB_HAL_1_3, 0, NNB_STATUS_GENERAL_FAILURE },
	{ "no more buffers", { "--limit", "buffers=1" }, NNB_HAL_1_3, 1, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
	/* its model costs 5 times as much, and 696 for structs; executing costs 3 times */
	{ "no more bytes", { "--limit", "bytes=2896" }, NNB_HAL_1_3, 3, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
};

static int for_a_fallback(void **state)
{
	const struct fallback_case *row = *state;

	return set_up_with(state, row->options, row->hal);
}

static struct nnb_remote_buffer *expect_fallback(struct fixture *f, struct nnb_remote *remote, uint32_t n)
{
	const struct nnb_buffer_desc desc = desc_of(n);
	struct nnb_remote_buffer *b = NULL;

	assert_none(nnb_remote_buffer_new(&b, f->client, &remote, 1, &desc, true, &why));
	assert_true(nnb_remote_buffer_fell_back(b));
	return b;
}

/* M-31, M-32: copies are checked as those of a real buffer. */
static void expect_copies_to_be_checked(struct nnb_remote_buffer *b)
{
	static const struct {
		uint32_t floats, rank, dims[2];
		enum nnb_status want;
	} cases[] = {
		{ N / 2, 0, { 0 }, NNB_STATUS_INVALID_ARGUMENT },
		{ 2 * N, 0, { 0 }, NNB_STATUS_INVALID_ARGUMENT },
		{ N, 1, { N / 2 }, NNB_STATUS_INVALID_ARGUMENT },
		{ N, 1, { 0 }, NNB_STATUS_INVALID_ARGUMENT },
		{ N, 2, { N / 2, 2 }, NNB_STATUS_INVALID_ARGUMENT },
		{ N, NNB_RANK_MAX + 1, { N, 1 }, NNB_STATUS_INVALID_ARGUMENT },
		{ N, 1, { N }, NNB_STATUS_NONE },
		{ N, 0, { 0 }, NNB_STATUS_NONE },
	};
	const struct nnb_hardware_buffer picture = { 8, 8, 1, NNB_FORMAT_R8G8B8A8, 8 };
	struct nnb_memory memory;

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct nnb_pool *pool = pool_of(cases[i].floats, 9);

		assert_int_equal(
			nnb_remote_buffer_copy_from(b, nnb_pool_memory(pool), cases[i].rank, cases[i].dims, NULL),
			cases[i].want);
		if (cases[i].floats != N)
			assert_int_equal(copy_to(b, pool), NNB_STATUS_INVALID_ARGUMENT);
		nnb_pool_free(pool);
	}
	expect_holds(b, N, 9, 0);
	assert_int_equal(nnb_memory_hardware_buffer(&memory, &picture), 0);
	assert_int_equal(memory.size, BYTES);
	assert_int_equal(nnb_remote_buffer_copy_to(b, &memory, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(nnb_remote_buffer_copy_from(b, &memory, 0, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
	nnb_memory_close(&memory);
}

static void a_buffer_checks_what_is_copied(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *b = allocate(f->client, f->remote, 0);

	expect_copies_to_be_checked(b);
	nnb_remote_buffer_free(b);
}

/* The file of a copy is cut short, under the service or under this process. */
static void expect_a_torn_copy_to_fail(struct nnb_remote_buffer *b)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);
	struct nnb_memory memory;

	assert_int_equal(ftruncate(fd, BYTES), 0);
	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, BYTES, PROT_READ | PROT_WRITE, 0), 0);
	assert_none(nnb_remote_buffer_copy_from(b, &memory, 0, NULL, &why));
	assert_none(nnb_remote_buffer_copy_to(b, &memory, &why));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(nnb_remote_buffer_copy_to(b, &memory, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(nnb_remote_buffer_copy_from(b, &memory, 0, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
	nnb_memory_close(&memory);
	close(fd);
}

static void a_copy_of_what_is_cut_short_fails(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *b = allocate(f->client, f->remote, 0);

	expect_a_torn_copy_to_fail(b);
	expect_uninitialised(b, N);
	nnb_remote_buffer_free(b);
}

static void shared_memory_stands_in_for_a_missing_buffer(void **state)
{
	struct fixture *f = *state;
	const struct fallback_case *row = f->row;
	struct nnb_remote_buffer *had[4], *a, *b;
	struct nnb_holdings before;
	struct request r;

	for (uint32_t i = 0; i < row->had; i++)
		had[i] = allocate(f->client, f->remote, 0);
	before = holds(f);
	expect_allocate(f->client, f->remote, 0, row->refused);
	a = expect_fallback(f, f->remote, 0);
	b = expect_fallback(f, f->remote, 0);
	expect_holds_again(f, before);
	for (uint32_t i = 0; i < row->had; i++)
		nnb_remote_buffer_free(had[i]);
	assert_int_equal(nnb_remote_buffer_argument(a, 1).location.length, BYTES);
	assert_int_equal(*(float *)nnb_pool_data(nnb_remote_buffer_pool(a)), 0);
	expect_copies_to_be_checked(a);
	expect_a_torn_copy_to_fail(a);
	fill(a, N, 4);
	request(&r, in_buffer(a), in_buffer(b));
	expect_execute(f, SYNC, &r, NNB_STATUS_NONE);
	expect_holds(b, N, 4, 1);
	request(&r, in_buffer(b), in_buffer(a));
	expect_execute(f, BURST, &r, NNB_STATUS_NONE);
	expect_holds(a, N, 4, 2);
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(b);
}

/* Shared memory may be larger than any buffer of the service. */
static void what_is_too_large_for_the_service_may_fall_back(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);

	expect_allocate(f->client, grows, 9 * MIB / 4, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	nnb_remote_buffer_free(expect_fallback(f, grows, 9 * MIB / 4));
	nnb_remote_release(grows);
}

static void expect_no_fallback(struct nnb_client *client, struct nnb_remote *remote, const struct nnb_buffer_desc *desc,
                               enum nnb_status want)
{
	struct nnb_remote_buffer *b = NULL;
	struct nnb_reason why = { "" };

	expect_status(nnb_remote_buffer_new(&b, client, &remote, 1, desc, true, &why), want, &why);
	assert_null(b);
	assert_true(why.text[0]);
}

static void there_is_nothing_in_place_of_what_is_wrong_or_unknown(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *grows = app_prepare(f->client, f->grows);
	struct nnb_client *other = app_open(&f->s);
	const struct nnb_buffer_desc unknown = desc_of(0), wrong = desc_of(N + 1), none = { 0 };
	enum nnb_status of_unknown = f->row ? NNB_STATUS_GENERAL_FAILURE : NNB_STATUS_NONE;
	struct nnb_remote_buffer *b = NULL;

	if (of_unknown)
		expect_no_fallback(f->client, grows, &unknown, of_unknown);
	expect_no_fallback(f->client, f->remote, &wrong, NNB_STATUS_INVALID_ARGUMENT);
	expect_no_fallback(f->client, f->remote, &none, NNB_STATUS_INVALID_ARGUMENT);
	expect_no_fallback(f->client, NULL, &unknown, NNB_STATUS_INVALID_ARGUMENT);
	expect_no_fallback(other, f->remote, &unknown, NNB_STATUS_INVALID_ARGUMENT);
	nnb_client_close(other);
	service_kill(&f->s);
	while (nnb_client_alive(f->client))
		poll_pause();
	expect_no_fallback(f->client, f->remote, &unknown, NNB_STATUS_DEAD_OBJECT);
	assert_null(b);
	nnb_remote_release(grows);
}

/* ---- deaths ---- */

static struct gate *gate_of_the_service(void)
{
	int fd = open(getenv("NNB_GATE"), O_RDWR | O_CLOEXEC);
	struct gate *gate = mmap(NULL, sizeof(*gate), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	must(gate != MAP_FAILED);
	close(fd);
	return gate;
}

struct doomed {
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_remote_buffer *a, *b;
};

static void child_doomed(struct doomed *d, const char *socket_path)
{
	const struct nnb_buffer_desc desc = desc_of(0);
	struct nnb_pool *x = pool_of(N, 3);

	must(nnb_client_open(&d->client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(d->client, vector_model(NNB_ADD, N, 1), NULL, NULL, &d->remote, NULL) == 0);
	must(nnb_remote_buffer_new(&d->a, d->client, &d->remote, 1, &desc, false, NULL) == 0);
	must(nnb_remote_buffer_new(&d->b, d->client, &d->remote, 1, &desc, false, NULL) == 0);
	must(copy_from(d->a, x, NULL) == 0);
}

/* Two executions: from one buffer to the other; and, behind a fence, from that one to a pool. */
static void die_executing(const char *socket_path)
{
	struct nnb_pool *y = pool_of(N, 0);
	struct nnb_fenced_how how = { .n_wait_for = 1 };
	struct nnb_fenced *fenced;
	struct doomed d;
	struct request r;
	int fences[2];

	child_doomed(&d, socket_path);
	atomic_store(&gate_of_the_service()->hold_runs, 1);
	request(&r, in_buffer(d.a), in_buffer(d.b));
	must(!nnb_remote_execute_fenced(d.remote, &r.call, NULL, &fenced, &fences[0], NULL));
	request(&r, in_buffer(d.b), in_pool(y));
	how.wait_for = fences;
	must(!nnb_remote_execute_fenced(d.remote, &r.call, &how, &fenced, &fences[1], NULL));
	scene_report('.');
	scene_stay();
}

static void die_in_a_burst(const char *socket_path)
{
	struct nnb_burst *burst;
	struct doomed d;
	struct request r;

	child_doomed(&d, socket_path);
	must(nnb_remote_burst(d.remote, NULL, &burst, NULL) == 0);
	request(&r, in_buffer(d.a), in_buffer(d.b));
	must(nnb_burst_execute(burst, &r.call, NULL, NULL) == 0);
	atomic_store(&gate_of_the_service()->hold_runs, 1);
	scene_report('.');
	nnb_burst_execute(burst, &r.call, NULL, NULL);
	scene_stay();
}

static void die_copying(const char *socket_path)
{
	struct doomed d;

	child_doomed(&d, socket_path);
	atomic_store(&gate_of_the_service()->hold_copies, 1);
	scene_report('.');
	copy_to(d.a, pool_of(N, 0));
	scene_stay();
}

static const struct death {
	const char *name;
	void (*die)(const char *socket_path);
	unsigned runs, copies; /* how many are in the driver */
} deaths[] = {
	{ "executing", die_executing, .runs = 1 },
	{ "executing by burst", die_in_a_burst, .runs = 1 },
	{ "copying", die_copying, .copies = 1 },
};

static void what_a_client_had_is_given_back_when_it_is_killed(void **state)
{
	struct fixture *f = *state;
	const struct death *row = f->row;
	struct child c;
	struct io io;

	child_start(&c, row->name, &f->s, "");
	assert_int_equal(child_read(&c), '.');
	await(&f->s.gate->held_runs, row->runs);
	await(&f->s.gate->held_copies, row->copies);
	app_comes_to_hold(f->client, all.buffers, 2);
	child_kill(&c);
	app_comes_to_hold(f->client, all.buffers, 2); /* in use */
	atomic_store(&f->s.gate->hold_runs, 0);
	atomic_store(&f->s.gate->hold_copies, 0);
	expect_to_be_alone(f);
	assert_int_equal(atomic_load(&f->s.gate->buffers), 0);
	io_init(&io, N);
	expect_sync(f->remote, &io, NNB_ADD);
	io_fini(&io);
}

static void a_service_that_is_gone_has_no_buffers(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = NULL;
	struct nnb_pool *x = pool_of(N, 3);
	const struct nnb_buffer_desc desc = desc_of(0);
	struct copier c = { .buffer = a, .pool = x };
	struct request r;

	fill(a, N, 3);
	atomic_store(&f->s.gate->hold_copies, 1);
	assert_int_equal(pthread_create(&c.thread, NULL, copy_once, &c), 0);
	await(&f->s.gate->held_copies, 1);
	service_kill(&f->s);
	pthread_join(c.thread, NULL);
	assert_int_equal(c.status, NNB_STATUS_DEAD_OBJECT); /* a waiting caller gets the status */
	while (nnb_client_alive(f->client))
		poll_pause();
	assert_int_equal(nnb_remote_buffer_new(&b, f->client, &f->remote, 1, &desc, true, NULL),
	                 NNB_STATUS_DEAD_OBJECT);
	assert_null(b);
	assert_int_equal(copy_from(a, x, NULL), NNB_STATUS_DEAD_OBJECT);
	assert_int_equal(copy_to(a, x), NNB_STATUS_DEAD_OBJECT);
	request(&r, in_buffer(a), in_pool(x));
	expect_execute(f, SYNC, &r, NNB_STATUS_DEAD_OBJECT);
	nnb_remote_buffer_free(a);
	nnb_pool_free(x);
}

/* ---- theft ---- */

static struct nnb_pool *pool_of_token(uint64_t token)
{
	struct nnb_memory memory;
	struct nnb_pool *pool;

	nnb_memory_token(&memory, token);
	must(nnb_pool_from(&pool, &memory) == 0 && !nnb_pool_data(pool));
	return pool;
}

/* The token, as the memory that names the buffer has it. */
static uint64_t token_of(const struct nnb_remote_buffer *b)
{
	const struct nnb_memory *m = nnb_pool_memory(nnb_remote_buffer_pool(b));

	return (uint64_t)(uint32_t)m->ints[1] << 32 | (uint32_t)m->ints[0];
}

struct thief {
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_pool *own;
};

/* Try to read from the buffer, and to write to it, by this path. */
static void try_token(struct thief *t, int path, uint64_t token)
{
	struct nnb_pool *pool = pool_of_token(token);
	struct request r;

	request(&r, in_pool(pool), in_pool(t->own));
	must(execute(path, t->remote, t->burst, &r, NULL) == NNB_STATUS_INVALID_ARGUMENT);
	request(&r, in_pool(t->own), in_pool(pool));
	must(execute(path, t->remote, t->burst, &r, NULL) == NNB_STATUS_INVALID_ARGUMENT);
	nnb_pool_free(pool);
}

static void try_on_every_path(struct thief *t, uint64_t token)
{
	for (int path = 0; path < PATHS; path++)
		try_token(t, path, token);
}

/* Try values that are near the token. */
static void try_neighbours(struct thief *t, uint64_t token)
{
	for (int bit = 0; bit < 64; bit++)
		try_token(t, bit % PATHS, token ^ UINT64_C(1) << bit);
	for (uint64_t i = 1; i < 100; i++) {
		try_token(t, (int)(i % PATHS), token + i);
		try_token(t, (int)(i % PATHS), token - i);
		try_token(t, (int)(i % PATHS), i);
	}
	try_on_every_path(t, 0);
	try_on_every_path(t, UINT64_MAX);
	try_on_every_path(t, token >> 32 | token << 32);
	try_on_every_path(t, __builtin_bswap64(token));
}

static void steal_token(const char *socket_path, const char *token)
{
	const uint64_t told = strtoull(token, NULL, 16);
	const char *tokens = getenv("NNB_TOKENS");
	uint64_t seed = told ^ now_ns(), n = tokens ? strtoull(tokens, NULL, 10) : 10000;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct thief t = { .own = pool_of(N, 1) };
	struct nnb_client *client;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &t.remote, NULL) == NNB_STATUS_NONE);
	must(nnb_remote_burst(t.remote, NULL, &t.burst, NULL) == NNB_STATUS_NONE);
	try_on_every_path(&t, told);
	try_neighbours(&t, told);
	for (uint64_t i = 0; i < n; i++) {
		try_token(&t, i % 64 < PATHS ? (int)(i % 64) : SYNC, next_random(&seed));
		if (i % 4096 == 0)
			scene_report('.'); /* the owner goes on */
	}
	must(((float *)nnb_pool_data(t.own))[1] == 2); /* the thief's memory was not written */
	nnb_pool_free(t.own);
	nnb_burst_free(t.burst);
	nnb_remote_release(t.remote);
	nnb_client_close(client);
	nnb_model_free(m);
	exit(0);
}

/* M-21 */
static void a_token_is_of_no_use_to_another_app(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *empty = allocate(f->client, f->remote, 0);
	struct nnb_holdings before = holds(f);
	const struct nnb_remote_buffer *targets[] = { a, empty };
	char token[24];
	struct child c;

	fill(a, N, 3);
	for (size_t i = 0; i < N_OF(targets); i++) {
		snprintf(token, sizeof(token), "%" PRIx64, token_of(targets[i]));
		child_start(&c, "steals", &f->s, token);
		while (child_read(&c) == '.')
			;
		assert_int_equal(child_end(&c), 0);
		expect_holds(a, N, 3, 0);
		expect_uninitialised(empty, N);
		expect_holds_again(f, before);
	}
	expect_to_be_alone(f);
	nnb_remote_buffer_free(a);
	nnb_remote_buffer_free(empty);
}

/* One app, two connections: a buffer belongs to one connection. */
static void a_token_is_of_no_use_to_another_client(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *client = app_open(&f->s);
	struct thief t = { .own = pool_of(N, 1) };
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0);

	fill(a, N, 3);
	t.remote = app_prepare(client, f->adds);
	t.burst = app_burst(t.remote);
	try_on_every_path(&t, token_of(a));
	expect_holds(a, N, 3, 0);
	nnb_burst_free(t.burst);
	nnb_remote_release(t.remote);
	nnb_client_close(client);
	nnb_pool_free(t.own);
	nnb_remote_buffer_free(a);
}

/* M-8: also on a burst that has a slot for the buffer. */
static void a_token_means_nothing_once_the_buffer_is_freed(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote_buffer *a = allocate(f->client, f->remote, 0), *b = allocate(f->client, f->remote, 0);
	struct nnb_pool *token = pool_of_token(token_of(a));
	struct request r;

	fill(a, N, 3);
	request(&r, in_pool(token), in_buffer(b));
	for (int path = 0; path < PATHS; path++)
		expect_execute(f, path, &r, NNB_STATUS_NONE);
	nnb_remote_buffer_free(a);
	for (int path = 0; path < PATHS; path++)
		expect_execute(f, path, &r, NNB_STATUS_INVALID_ARGUMENT);
	expect_holds(b, N, 3, 1);
	nnb_remote_buffer_free(b);
	nnb_pool_free(token);
}

/* M-2 */
static void an_older_app_has_no_buffers(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *new = app_open(&f->s);
	struct nnb_remote *remote = app_prepare(new, f->adds);
	struct nnb_remote_buffer *b = allocate(new, remote, 0);
	struct nnb_pool *x = pool_of(N, 3), *token = pool_of_token(token_of(b));
	struct request r;

	expect_allocate(f->client, f->remote, 0, NNB_STATUS_GENERAL_FAILURE);
	request(&r, in_pool(token), in_pool(x));
	expect_execute(f, SYNC, &r, NNB_STATUS_INVALID_ARGUMENT);
	expect_execute(f, BURST, &r, NNB_STATUS_INVALID_ARGUMENT);
	nnb_remote_buffer_free(b);
	nnb_remote_release(remote);
	nnb_client_close(new);
	nnb_pool_free(x);
	nnb_pool_free(token);
}

static void play(const char *name, const char *socket_path, const char *argument)
{
	if (!strcmp(name, "has a buffer"))
		have_a_buffer(socket_path);
	if (!strcmp(name, "steals"))
		steal_token(socket_path, argument);
	for (size_t i = 0; i < N_OF(deaths); i++)
		if (!strcmp(name, deaths[i].name))
			deaths[i].die(socket_path);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		play(argv[2], argv[3], argv[4]);
		return 1;
	}
#define TEST(f, set_up) add_test(f, set_up, tear_down, NULL, "%s", #f)
	TEST(buffers_go_through_executions_of_every_path, set_up);
	TEST(what_a_buffer_takes_is_given_back_when_it_is_freed, set_up);
	TEST(a_buffer_of_unknown_size_takes_what_is_written_to_it, set_up);
	TEST(a_buffer_outlives_its_model_and_its_client, set_up);
	TEST(an_app_has_so_many_buffers_and_no_more, with_two_buffers);
	TEST(an_app_has_so_many_bytes_in_buffers_and_no_more, with_8_MiB);
	TEST(what_the_driver_has_no_memory_for_is_not_counted, with_8_MiB);
	TEST(a_copy_takes_room_for_both_sides, with_8_MiB);
	TEST(what_an_output_grows_to_is_counted, with_8_MiB);
	TEST(an_output_that_never_fits_beside_what_it_is_made_of_is_refused_for_good, with_8_MiB);
	TEST(what_another_execution_was_refused_is_of_no_interest, with_8_MiB);
	TEST(what_is_wrong_comes_before_what_there_is_no_room_for, with_8_MiB);
	TEST(a_buffer_that_fits_when_another_app_goes_is_refused_for_now, with_8_MiB_for_all);
	TEST(what_is_refused_on_any_path_changes_nothing, set_up);
	TEST(what_misses_its_deadline_leaves_its_output_uninitialised, set_up);
	TEST(a_chain_behind_a_fence_goes_through_buffers, set_up);
	TEST(a_fence_that_fails_leaves_the_output_uninitialised, set_up);
	TEST(what_cannot_be_launched_leaves_its_output_uninitialised, set_up);
	TEST(a_use_during_a_write_is_refused_at_once, set_up);
	TEST(a_freed_buffer_stays_for_its_users, set_up);
	TEST(a_copy_is_counted_while_it_takes_place, set_up);
	TEST(a_buffer_checks_what_is_copied, set_up);
	TEST(a_copy_of_what_is_cut_short_fails, set_up);
	for (size_t i = 0; i < N_OF(fallback_cases); i++)
		add_test(shared_memory_stands_in_for_a_missing_buffer, for_a_fallback, tear_down,
		         (void *)&fallback_cases[i], "shared memory stands in for a missing buffer: %s",
		         fallback_cases[i].name);
	TEST(what_is_too_large_for_the_service_may_fall_back, with_8_MiB);
	add_test(there_is_nothing_in_place_of_what_is_wrong_or_unknown, for_a_fallback, tear_down,
	         (void *)&fallback_cases[0], "there is nothing in place of what is wrong or unknown: %s",
	         fallback_cases[0].name);
	add_test(there_is_nothing_in_place_of_what_is_wrong_or_unknown, set_up, tear_down, NULL,
	         "there is nothing in place of what is wrong or unknown");
	for (size_t i = 0; i < N_OF(deaths); i++)
		add_test(what_a_client_had_is_given_back_when_it_is_killed, set_up, tear_down, (void *)&deaths[i],
		         "what a client had is given back when it is killed %s", deaths[i].name);
	TEST(a_service_that_is_gone_has_no_buffers, set_up);
	TEST(a_token_is_of_no_use_to_another_app, set_up);
	TEST(a_token_is_of_no_use_to_another_client, set_up);
	TEST(a_token_means_nothing_once_the_buffer_is_freed, set_up);
	TEST(an_older_app_has_no_buffers, for_an_older_app);
	return _cmocka_run_group_tests("service: buffers", tests, n_tests, NULL, NULL);
}

/*
 * test_service_charges.c -- memory that the driver takes for an app: temporaries whose shapes only an execution
 * knows, what it keeps of them for the next execution, and weights as XNNPACK packs them. The app is charged
 * for all of it, or refused.
 *
 * The kernel reports the service's real memory (RssAnon), but not under sanitizers, whose own memory is part of
 * it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include "service_helpers.h"

#define MIB UINT64_C(1048576)

enum {
	COPIES = 32,        /* copies of the image in the temporary */
	SIDE = 512,         /* side of the image: 1 MiB */
	SHAPES = 5,         /* more than the driver keeps plans for */
	LAYERS = 8,         /* layers of one output each */
	WEIGHTS = 1 << 16,  /* inputs of each layer: 2 MiB of weights in all */
	RUNS = 4,           /* executions of one model that wait inside an operation at the same time */
	UNCHARGED_MIB = 12, /* memory that the service may hold uncharged: stacks of threads, free memory of the heap */
	ODD_PERCENT = 3,
	N = 16,
	POOLS = 40 /* pools of a model, and of an execution */
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { RSS_TELLS = false, OUTPUTS = 2000, CALLS = 4 };
#else
enum { RSS_TELLS = true, OUTPUTS = 30000 /* outputs of a model */, CALLS = 12 /* concurrent calls of it */ };
#endif

/*
 * An image of any size, repeated COPIES times, of which an 8 x 8 pooling takes the maximum: the temporary is
 * COPIES times as large as the input, and the output half as large as it.
 */
static struct nnb_model *swelling_model(uint32_t side)
{
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .rank = 4, .dims = { 1, side, side, 1 } };
	uint32_t in, t, y, cat[COPIES + 1], pool[7];
	struct nnb_model *m;

	must(nnb_model_new(&m, "swelling", NNB_HAL_1_2) == 0);
	in = operand(m, &o);
	for (int i = 0; i < COPIES; i++)
		cat[i] = in;
	cat[COPIES] = int_scalar(m, 3);
	o.dims[3] = side ? COPIES : 0;
	t = operand(m, &o);
	must(nnb_model_operation(m, NNB_CONCATENATION, cat, COPIES + 1, &t, 1) >= 0);
	pool[0] = t;
	pool[1] = int_scalar(m, NNB_PADDING_VALID);
	pool[2] = pool[3] = pool[4] = pool[5] = int_scalar(m, 8);
	pool[6] = int_scalar(m, NNB_FUSED_NONE);
	o.dims[1] = o.dims[2] = side / 8;
	y = operand(m, &o);
	must(nnb_model_operation(m, NNB_MAX_POOL_2D, pool, 7, &y, 1) >= 0);
	must(nnb_model_finish(m, &in, 1, &y, 1) == 0);
	return m;
}

/* Layers of one output each: XNNPACK packs them for as many outputs as it computes at once. */
static struct nnb_model *padded_model(void)
{
	struct nnb_operand weights = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1, WEIGHTS } };
	struct nnb_operand result = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1, 1 } };
	float *values = calloc(WEIGHTS, sizeof(*values));
	uint32_t in[4], outs[LAYERS];
	struct nnb_model *m;

	must(values != NULL);
	for (uint32_t i = 0; i < WEIGHTS; i++)
		values[i] = (float)(i % 7);
	must(nnb_model_new(&m, "padded", NNB_HAL_1_0) == 0);
	in[0] = operand(m, &weights); /* the image has the same length */
	for (int i = 0; i < LAYERS; i++) {
		in[1] = operand(m, &weights);
		must(nnb_model_value(m, in[1], values, WEIGHTS * sizeof(*values)) == 0);
		in[2] = float_tensor(m, 1);
		must(nnb_model_value(m, in[2], values, sizeof(*values)) == 0);
		in[3] = int_scalar(m, NNB_FUSED_NONE);
		outs[i] = operand(m, &result);
		must(nnb_model_operation(m, NNB_FULLY_CONNECTED, in, 4, &outs[i], 1) >= 0);
	}
	must(nnb_model_finish(m, in, 1, outs, LAYERS) == 0);
	free(values);
	return m;
}

struct preparing {
	struct nnb_client *client;
	struct nnb_model *m;
	struct nnb_remote *remote;
	enum nnb_status status;
};

struct call {
	struct nnb_pool *pool;
	struct nnb_argument in, out;
	struct nnb_call call;
	struct nnb_output_shape shape;
	struct nnb_answer answer;
};

/* An image of this size, and room for the output. */
static void call_init(struct call *c, uint32_t side)
{
	const uint32_t in = side * side * 4, out = side / 8 * (side / 8) * COPIES * 4;

	must(nnb_pool_new(&c->pool, (uint64_t)in + out) == 0);
	for (uint32_t i = 0; i < side * side; i++)
		((float *)nnb_pool_data(c->pool))[i] = (float)(i % 1021);
	c->in = (struct nnb_argument){ .location = { 0, 0, in }, .rank = 4, .dims = { 1, side, side, 1 } };
	c->out = (struct nnb_argument){ .location = { 0, in, out } };
	c->call = (struct nnb_call){
		.inputs = &c->in, .outputs = &c->out, .pools = &c->pool, .n_inputs = 1, .n_outputs = 1, .n_pools = 1
	};
	c->answer = (struct nnb_answer){ .shapes = &c->shape };
}

/* The last output must be the maximum of the last 64 pixels. */
static bool call_right(const struct call *c, uint32_t side)
{
	const float *in = nnb_pool_data(c->pool), *out = in + (size_t)side * side;
	uint32_t last = side / 8 * (side / 8) * COPIES - 1;
	float most = 0;

	for (uint32_t y = side / 8 * 8 - 8; y < side / 8 * 8; y++)
		for (uint32_t x = side / 8 * 8 - 8; x < side / 8 * 8; x++)
			most = in[y * side + x] > most ? in[y * side + x] : most;
	return out[last] == most;
}

/* ---- the service ---- */

struct fixture {
	struct service s;
	struct nnb_client *client;
	uint64_t rss; /* before any app connected */
};

static uint64_t rss_of(const struct service *s)
{
	char path[48], line[128];
	unsigned long long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", s->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (!kib && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %llu", &kib) != 1)
			kib = 0;
	fclose(f);
	assert_true(kib);
	return kib * 1024;
}

static int set_up_with(void **state, const char *memory)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "edf", "--memory", memory));
	f->client = app_open(&f->s);
	f->rss = rss_of(&f->s);
	*state = f;
	return 0;
}

static int of_24_MiB(void **state)
{
	return set_up_with(state, "24M");
}

static int of_80_MiB(void **state)
{
	return set_up_with(state, "80M");
}

static int of_1_GiB(void **state)
{
	return set_up_with(state, "1G");
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	app_comes_to_hold(f->client, all.bytes, 0);
	nnb_client_close(f->client);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* The service must not hold more than its apps are charged for. */
static void expect_charged(const struct fixture *f, const char *when)
{
	uint64_t charged = app_counts(f->client).all.bytes, has = rss_of(&f->s) - f->rss;

	print_message("%s: %ju MiB are charged, the service has %ju MiB\n", when, (uintmax_t)(charged / MIB),
	              (uintmax_t)(has / MIB));
	if (RSS_TELLS)
		assert_true(has <= charged + charged * ODD_PERCENT / 100 + UNCHARGED_MIB * MIB);
}

/* ---- tests ---- */

/* The execution needs 32 MiB; its limit is 24. */
static void temporaries_of_unknown_shapes_are_refused_beyond_the_limit(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = swelling_model(0);
	struct nnb_remote *remote = app_prepare(f->client, m);
	struct nnb_burst *burst = app_burst(remote);
	struct call large, small;

	call_init(&large, SIDE);
	call_init(&small, SIDE / 4);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nnb_remote_execute(remote, &large.call, &large.answer, NULL),
		                 NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
		assert_int_equal(nnb_burst_execute(burst, &large.call, &large.answer, NULL),
		                 NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
		assert_none(nnb_remote_execute(remote, &small.call, &small.answer, &why)); /* 2 MiB */
		assert_true(call_right(&small, SIDE / 4));
	}
	expect_charged(f, "refused");
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_pool_free(large.pool);
	nnb_pool_free(small.pool);
	nnb_model_free(m);
}

/*
 * The driver keeps a plan for each shape, and a frame for each plan, which would be 160 MiB in all. It must
 * free kept memory when an execution needs memory.
 */
static void kept_memory_is_freed_for_an_execution_that_needs_it(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = swelling_model(0);
	struct nnb_remote *remote = app_prepare(f->client, m);

	for (uint32_t i = 0; i < 2 * SHAPES; i++) {
		uint32_t side = SIDE - 8 * (i % SHAPES);
		struct call c;

		call_init(&c, side);
		assert_none(nnb_remote_execute(remote, &c.call, &c.answer, &why));
		assert_true(call_right(&c, side));
		nnb_pool_free(c.pool);
		expect_charged(f, "kept");
	}
	nnb_remote_release(remote);
	nnb_model_free(m);
}

/* The same without a tight limit: kept memory is charged while it is kept, and it is bounded. */
static void kept_memory_is_charged_and_bounded(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = swelling_model(0);
	struct nnb_remote *remote = app_prepare(f->client, m);

	for (uint32_t i = 0; i < SHAPES; i++) {
		struct call c;

		call_init(&c, SIDE - 8 * i);
		assert_none(nnb_remote_execute(remote, &c.call, &c.answer, &why));
		nnb_pool_free(c.pool);
	}
	expect_charged(f, "five shapes");
	assert_in_range(app_counts(f->client).app.bytes, COPIES * MIB / 2, 4 * COPIES * MIB);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

static void packed_weights_are_charged_at_their_packed_size(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = padded_model();
	struct nnb_remote *remotes[RUNS];

	for (int i = 0; i < RUNS; i++)
		remotes[i] = app_prepare(f->client, m);
	expect_charged(f, "packed");
	for (int i = 0; i < RUNS; i++)
		nnb_remote_release(remotes[i]);
	nnb_model_free(m);
}

/* 2 MiB of weights exceed the limit when packed: they never fit, and afterwards nothing is charged for them. */
static void packed_weights_beyond_the_limit_are_refused(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = padded_model();
	struct nnb_remote *remote;

	for (int i = 0; i < 3; i++)
		assert_int_equal(nnb_remote_prepare(f->client, m, NULL, NULL, &remote, NULL),
		                 NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	nnb_model_free(m);
}

static void note(void *arg, const struct nnb_result *result)
{
	(void)result;
	sem_post(arg);
}

/*
 * Each execution has an earlier deadline than the one before it, which has begun: all wait inside their first
 * operation.
 */
static void runs_that_wait_inside_are_charged_for(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = swelling_model(SIDE);
	struct nnb_remote *remote = app_prepare(f->client, m);
	uint64_t now = now_ns(), before = app_counts(f->client).app.bytes;
	struct call c[RUNS];
	sem_t done;

	sem_init(&done, 0, 0);
	for (uint64_t i = 0; i < RUNS; i++) {
		call_init(&c[i], SIDE);
		c[i].call.terms.deadline_ns = now + (100 - 10 * i) * 1000 * MS;
		assert_none(nnb_remote_execute_async(remote, &c[i].call, note, &done, &why));
		usleep(5000);
	}
	for (int i = 0; i < RUNS; i++)
		while (sem_wait(&done))
			;
	expect_charged(f, "afterwards");
	assert_in_range(app_counts(f->client).app.bytes, before, before + (uint64_t)(RUNS + 1) * COPIES * MIB);
	for (int i = 0; i < RUNS; i++) {
		assert_true(call_right(&c[i], SIDE));
		nnb_pool_free(c[i].pool);
	}
	sem_destroy(&done);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

/* ---- calls ---- */

static struct nnb_model *model_of_many_outputs(void)
{
	uint32_t x, act, *outs = calloc(OUTPUTS, sizeof(*outs));
	struct nnb_model *m;

	must(outs != NULL);
	must(nnb_model_new(&m, "many outputs", NNB_HAL_1_0) == 0);
	x = float_tensor(m, 1);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < OUTPUTS; i++) {
		outs[i] = float_tensor(m, 1);
		must(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, x, act }, 3, &outs[i], 1) >= 0);
	}
	must(nnb_model_finish(m, &x, 1, outs, OUTPUTS) == 0);
	free(outs);
	return m;
}

struct calling {
	struct nnb_remote *remote;
	struct nnb_pool *pool;
	struct nnb_argument in, *outs;
	struct nnb_call call;
};

static void calling_init(struct calling *c, struct nnb_remote *remote)
{
	*c = (struct calling){ .remote = remote, .in = { .location = { 0, 0, 4 } } };
	c->outs = calloc(OUTPUTS, sizeof(*c->outs));
	assert_non_null(c->outs);
	assert_int_equal(nnb_pool_new(&c->pool, 4 * (OUTPUTS + UINT64_C(1))), 0);
	for (uint32_t i = 0; i < OUTPUTS; i++)
		c->outs[i] = (struct nnb_argument){ .location = { 0, 4 * (i + 1), 4 } };
	c->call = (struct nnb_call){ .inputs = &c->in,
		                     .outputs = c->outs,
		                     .pools = &c->pool,
		                     .n_inputs = 1,
		                     .n_outputs = OUTPUTS,
		                     .n_pools = 1 };
}

static void *executes(void *arg)
{
	const struct calling *c = arg;

	must(nnb_remote_execute(c->remote, &c->call, NULL, NULL) == NNB_STATUS_NONE);
	return NULL;
}

/* A call is charged for its decoded request, and for the shapes of all outputs, while it is under way. */
static void memory_of_calls_is_charged_for(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = model_of_many_outputs();
	struct nnb_remote *remote = app_prepare(f->client, m);
	struct nnb_burst *burst;
	pthread_t threads[CALLS];
	struct calling c;
	uint64_t before;
	sem_t done;

	calling_init(&c, remote);
	sem_init(&done, 0, 0);
	expect_charged(f, "a model of many outputs");
	before = app_counts(f->client).all.bytes;
	burst = app_burst(remote);
	assert_true(app_counts(f->client).all.bytes >= before + OUTPUTS * sizeof(struct nnb_output_shape));
	nnb_burst_free(burst);
	atomic_store(&f->s.gate->hold_runs, 1);
	for (int i = 0; i < CALLS; i++)
		assert_none(nnb_remote_execute_async(remote, &c.call, note, &done, &why));
	expect_charged(f, "asynchronous executions under way");
	atomic_store(&f->s.gate->hold_runs, 0);
	for (int i = 0; i < CALLS; i++)
		while (sem_wait(&done))
			;
	for (int i = 0; i < CALLS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, executes, &c), 0);
	for (int i = 0; i < CALLS; i++)
		pthread_join(threads[i], NULL);
	nnb_remote_release(remote);
	nnb_pool_free(c.pool);
	free(c.outs);
	sem_destroy(&done);
	nnb_model_free(m);
}

/* ---- file descriptors ---- */

/* Memory in a file that can be truncated: each process that maps it keeps the file open. */
static struct nnb_memory file_memory(void)
{
	struct nnb_memory memory;
	int fd = memfd_create("charged", MFD_CLOEXEC);

	must(fd >= 0 && ftruncate(fd, (off_t)N * 8) == 0);
	must(nnb_memory_mmap_fd(&memory, fd, (uint64_t)N * 8, PROT_READ | PROT_WRITE, 0) == 0);
	close(fd);
	return memory;
}

static void expect_descriptors_charged(const struct fixture *f, unsigned least)
{
	unsigned has = service_footprint(&f->s).fds - f->s.baseline.fds;
	uint64_t charged = app_counts(f->client).descriptors.all;

	print_message("%ju file descriptors are charged, the service has %u\n", (uintmax_t)charged, has);
	assert_true(has >= least);
	assert_true(has <= charged);
}

static void *prepares(void *arg)
{
	struct preparing *p = arg;

	p->status = nnb_remote_prepare(p->client, p->m, NULL, NULL, &p->remote, NULL);
	return NULL;
}

/* The charge counts the received files, and once more their mapping. */
static void files_of_a_model_are_charged_for_while_it_is_prepared(void **state)
{
	struct fixture *f = *state;
	struct preparing p = { .client = f->client, .m = vector_model(NNB_ADD, N, 1) };
	/* another connection for the query, because the app's channel is busy */
	struct nnb_client *other = app_open(&f->s);
	struct nnb_memory memory = file_memory();
	pthread_t thread;

	for (int i = 0; i < POOLS; i++)
		assert_true(nnb_model_pool(p.m, &memory) >= 0);
	nnb_memory_close(&memory);
	atomic_store(&f->s.gate->hold_prepares, 1);
	assert_int_equal(pthread_create(&thread, NULL, prepares, &p), 0);
	await(&f->s.gate->held_prepares, 1);
	expect_descriptors_charged(f, 2 * POOLS);
	atomic_store(&f->s.gate->hold_prepares, 0);
	pthread_join(thread, NULL);
	assert_none(p.status);
	expect_descriptors_charged(f, POOLS);
	nnb_remote_release(p.remote);
	nnb_client_close(other);
	nnb_model_free(p.m);
}

/* The message that brought the files has ended, but they stay open until their execution ends. */
static void files_of_executions_are_charged_for_until_they_are_closed(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_remote *remote = app_prepare(f->client, m);
	struct nnb_pool *pools[POOLS];
	struct io io;
	sem_t done;

	sem_init(&done, 0, 0);
	for (int i = 0; i < POOLS; i++) {
		struct nnb_memory memory = file_memory();

		assert_int_equal(nnb_pool_from(&pools[i], &memory), 0);
	}
	io_init_on(&io, N, pools[0]);
	io_refresh(&io, 1);
	io.call.pools = pools;
	io.call.n_pools = POOLS;
	atomic_store(&f->s.gate->hold_runs, 1);
	for (int i = 0; i < RUNS; i++)
		assert_none(nnb_remote_execute_async(remote, &io.call, note, &done, &why));
	await(&f->s.gate->held_runs, 1);
	expect_descriptors_charged(f, 2 * POOLS);
	atomic_store(&f->s.gate->hold_runs, 0);
	for (int i = 0; i < RUNS; i++)
		while (sem_wait(&done))
			;
	nnb_remote_release(remote);
	io_fini(&io);
	for (int i = 1; i < POOLS; i++)
		nnb_pool_free(pools[i]);
	sem_destroy(&done);
	nnb_model_free(m);
}

int main(void)
{
#define TEST(f, set_up) add_test(f, set_up, tear_down, NULL, "%s", #f)
	TEST(temporaries_of_unknown_shapes_are_refused_beyond_the_limit, of_24_MiB);
	TEST(kept_memory_is_freed_for_an_execution_that_needs_it, of_80_MiB);
	TEST(kept_memory_is_charged_and_bounded, of_1_GiB);
	TEST(packed_weights_are_charged_at_their_packed_size, of_1_GiB);
	TEST(packed_weights_beyond_the_limit_are_refused, of_24_MiB);
	TEST(runs_that_wait_inside_are_charged_for, of_1_GiB);
	TEST(memory_of_calls_is_charged_for, of_1_GiB);
	TEST(files_of_a_model_are_charged_for_while_it_is_prepared, of_1_GiB);
	TEST(files_of_executions_are_charged_for_until_they_are_closed, of_1_GiB);
	return _cmocka_run_group_tests("service: charges", tests, n_tests, NULL, NULL);
}

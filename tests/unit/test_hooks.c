/*
 * test_hooks.c -- the parameters that the library passes to a driver besides the computation: each run's
 * deadline, priority and burst; each buffer's roles; and when the device must be fast. The gate's driver notes
 * them, on every path.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nnb/buffer.h"
#include "nnb/fence.h"
#include "service_helpers.h"

enum { N = 16 };
#define FAR UINT64_C(600000000000)

struct fixture {
	struct service s;
	struct nnb_client *client;
	struct nnb_model *model;
	struct nnb_remote *remote;
	struct io io;
	uint64_t deadline; /* deadline of the latest call */
};

static const struct nnb_prepare how_for_tests = { .preference = 2, .priority = NNB_PRIORITY_HIGH };

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	service_start(&f->s, OPTIONS(NULL));
	f->client = app_open(&f->s);
	f->model = vector_model(NNB_ADD, N, 1);
	assert_none(nnb_remote_prepare(f->client, f->model, &how_for_tests, NULL, &f->remote, &why));
	io_init(&f->io, N);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	io_fini(&f->io);
	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	nnb_model_free(f->model);
	await(&f->s.gate->performance, 0);
	await(&f->s.gate->bursts, 0);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- runs ---- */

/* The next call, with other values and another deadline. */
static struct nnb_call *next_call(struct fixture *f, bool deadline)
{
	io_refresh(&f->io, 7);
	f->deadline = deadline ? now_ns() + FAR : 0;
	f->io.call.terms.deadline_ns = f->deadline;
	return &f->io.call;
}

/* The driver must have begun @n runs, the last of them with these values of the caller. */
static void expect_told(const struct gate *gate, unsigned n, uint64_t deadline, unsigned priority, unsigned burst)
{
	assert_int_equal(atomic_load(&gate->n_runs), n);
	assert_int_equal(atomic_load(&gate->run.deadline_ns), deadline);
	assert_int_equal(atomic_load(&gate->run.priority), priority);
	assert_int_equal(atomic_load(&gate->run.burst), burst);
}

/* the priority is that of the prepared model. */
static void calls_have_their_deadlines(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 4; i++) {
		assert_none(nnb_remote_execute(f->remote, next_call(f, i % 2 == 0), &f->io.answer, &why));
		expect_told(f->s.gate, i + 1, f->deadline, NNB_PRIORITY_HIGH, 0);
	}
}

static void fenced_executions_have_their_deadlines(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 4; i++) {
		struct nnb_fenced *fenced;
		int fence;

		assert_none(
			nnb_remote_execute_fenced(f->remote, next_call(f, i % 2 == 0), NULL, &fenced, &fence, &why));
		assert_int_equal(nnb_fence_wait(&fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
		expect_told(f->s.gate, i + 1, f->deadline, NNB_PRIORITY_HIGH, 0);
		nnb_fenced_free(fenced);
		close(fence);
	}
}

/* The library does not bind an equal request again, but its deadline is a new one. */
static void each_request_of_a_burst_has_its_deadline(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *burst = app_burst(f->remote);

	for (unsigned i = 0; i < 6; i++) {
		assert_none(nnb_burst_execute(burst, next_call(f, i % 3 != 2), &f->io.answer, &why));
		assert_true(io_right(&f->io, NNB_ADD, 1) && !f->io.answer.fallback);
		expect_told(f->s.gate, i + 1, f->deadline, NNB_PRIORITY_HIGH, 1);
	}
	nnb_burst_free(burst);
}

/* B-3; B-2: the device is fast until the last burst is closed. */
static void every_burst_has_a_context_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *first = app_burst(f->remote), *second = app_burst(f->remote);
	unsigned runs = 0;

	for (int i = 0; i < 3; i++) {
		assert_none(nnb_burst_execute(first, next_call(f, false), &f->io.answer, &why));
		expect_told(f->s.gate, ++runs, 0, NNB_PRIORITY_HIGH, 1);
		assert_none(nnb_burst_execute(second, next_call(f, false), &f->io.answer, &why));
		expect_told(f->s.gate, ++runs, 0, NNB_PRIORITY_HIGH, 2);
		assert_none(nnb_remote_execute(f->remote, next_call(f, false), &f->io.answer, &why));
		expect_told(f->s.gate, ++runs, 0, NNB_PRIORITY_HIGH, 0);
	}
	assert_int_equal(atomic_load(&f->s.gate->bursts), 2);
	nnb_burst_free(first);
	await(&f->s.gate->bursts, 1);
	assert_int_equal(atomic_load(&f->s.gate->performance), 1);
	nnb_burst_free(second);
	await(&f->s.gate->bursts, 0);
	await(&f->s.gate->performance, 0);
}

static void a_burst_goes_on_without_a_context(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *burst;

	atomic_store(&f->s.gate->no_bursts, 1);
	burst = app_burst(f->remote);
	assert_int_equal(atomic_load(&f->s.gate->performance), 1);
	assert_none(nnb_burst_execute(burst, next_call(f, true), &f->io.answer, &why));
	assert_true(io_right(&f->io, NNB_ADD, 1) && !f->io.answer.fallback);
	expect_told(f->s.gate, 1, f->deadline, NNB_PRIORITY_HIGH, 0);
	assert_int_equal(atomic_load(&f->s.gate->n_bursts), 1);
	assert_int_equal(atomic_load(&f->s.gate->bursts), 0);
	nnb_burst_free(burst);
}

/* A scene: an app with a burst. It writes a byte when the burst is ready. */
static int scene_burst(const char *socket)
{
	const struct nnb_client_config config = { .socket = socket };
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;

	if (nnb_client_open(&client, &config, NULL) ||
	    nnb_remote_prepare(client, vector_model(NNB_ADD, N, 1), &ordinary, NULL, &remote, NULL) ||
	    nnb_remote_burst(remote, NULL, &burst, NULL))
		return 1;
	scene_report('b');
	scene_stay();
}

static void an_app_that_dies_leaves_no_context(void **state)
{
	struct fixture *f = *state;
	struct child app;

	child_start(&app, "burst", &f->s, "");
	assert_int_equal(child_read(&app), 'b');
	assert_int_equal(atomic_load(&f->s.gate->bursts), 1);
	assert_int_equal(atomic_load(&f->s.gate->performance), 1);
	child_kill(&app);
	await(&f->s.gate->bursts, 0);
	await(&f->s.gate->performance, 0);
}

/* ---- without a service: the driver in this process, which shares the gate ---- */

struct local_device {
	struct nnb_device *device;
	struct nnb_prepared *prepared;
};

static struct local_device local_device_open(const struct fixture *f)
{
	struct local_device h = { 0 };

	setenv("NNB_GATE", f->s.gate_path, 1);
	h.device = open_device(DRIVER_GATE);
	assert_none(nnb_prepare(h.device, f->model, &how_for_tests, NULL, &h.prepared, &why));
	return h;
}

static void local_device_close(struct local_device *h)
{
	nnb_prepared_unref(h->prepared);
	nnb_device_unref(h->device);
}

static void local_bursts_pass_the_same_parameters(void **state)
{
	struct fixture *f = *state;
	struct local_device h = local_device_open(f);

	for (unsigned cached = 0; cached < 2; cached++) {
		struct nnb_burst *burst;

		assert_none(nnb_burst_local(&burst, h.prepared, cached, NULL, &why));
		assert_int_equal(atomic_load(&f->s.gate->performance), 1);
		for (unsigned i = 0; i < 3; i++) {
			assert_none(nnb_burst_execute(burst, next_call(f, i != 1), &f->io.answer, &why));
			assert_false(f->io.answer.fallback);
			expect_told(f->s.gate, 3 * cached + i + 1, f->deadline, NNB_PRIORITY_HIGH, cached + 1);
		}
		nnb_burst_free(burst);
		assert_int_equal(atomic_load(&f->s.gate->bursts), 0);
		assert_int_equal(atomic_load(&f->s.gate->performance), 0);
	}
	local_device_close(&h);
}

static void an_execution_without_terms_has_no_deadline(void **state)
{
	struct fixture *f = *state;
	struct local_device h = local_device_open(f);
	const struct nnb_memory *pool = nnb_pool_memory(f->io.pool);
	const struct nnb_request request = {
		.inputs = &f->io.in, .outputs = &f->io.out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = pool
	};

	next_call(f, true);
	assert_none(nnb_execute(h.prepared, &request, NULL, &why));
	expect_told(f->s.gate, 1, 0, NNB_PRIORITY_HIGH, 0);
	local_device_close(&h);
}

/* ---- buffers ---- */

static void expect_role(const struct gate_role *r, uint64_t graph, bool output, uint32_t preference, uint32_t priority,
                        float frequency)
{
	assert_true(r->graph == graph && r->index == 0 && r->output == output);
	assert_int_equal(r->preference, preference);
	assert_int_equal(r->priority, priority);
	assert_true(r->frequency == frequency);
}

static void the_driver_gets_a_buffers_roles(void **state)
{
	struct fixture *f = *state;
	const struct nnb_buffer_role in[] = { { 1, 0, 0.25F }, { 0, 0, 1 } }, out = { 0, 0, 1e-30F };
	const struct nnb_buffer_desc desc = { .inputs = in, .n_inputs = 2, .outputs = &out, .n_outputs = 1 };
	uint64_t first = f->s.gate->graph, second;
	const struct gate_buffer *b = &f->s.gate->buffer;
	struct nnb_remote *models[2] = { f->remote };
	struct nnb_remote_buffer *buffer;

	assert_none(nnb_remote_prepare(f->client, f->model, &(struct nnb_prepare){ 0, NNB_PRIORITY_LOW }, NULL,
	                               &models[1], &why));
	second = f->s.gate->graph;
	assert_true(first && second && first != second);
	assert_none(nnb_remote_buffer_new(&buffer, f->client, models, 2, &desc, false, &why));
	assert_int_equal(atomic_load(&f->s.gate->n_buffers), 1);
	assert_true(b->bytes == N * 4 && b->type == NNB_TENSOR_FLOAT32 && b->rank == 1 && b->dims[0] == N && b->fixed);
	assert_int_equal(b->n_roles, 3);
	expect_role(&b->roles[0], first, false, 2, NNB_PRIORITY_HIGH, 1);
	expect_role(&b->roles[1], first, true, 2, NNB_PRIORITY_HIGH, 1e-30F);
	expect_role(&b->roles[2], second, false, 0, NNB_PRIORITY_LOW, 0.25F);
	nnb_remote_buffer_free(buffer);
	nnb_remote_release(models[1]);
}

/*
 * M-33: the library asks the driver for the buffer when its size is known, and again for a larger one, even
 * after the model is gone.
 */
static void a_buffer_of_unknown_extents_is_allocated_late(void **state)
{
	struct fixture *f = *state;
	const struct nnb_buffer_role role = { 0, 0, 0.5F };
	const struct nnb_buffer_desc desc = { .inputs = &role, .n_inputs = 1 };
	static const struct {
		uint32_t n, asked;
	} copies[] = { { 8, 1 }, { 4, 1 }, { 8, 1 }, { 9, 2 } };
	const struct gate_buffer *b = &f->s.gate->buffer;
	struct nnb_model *any = vector_model_of_any_length();
	struct nnb_remote *remote;
	struct nnb_remote_buffer *buffer;
	uint64_t graph;

	assert_none(nnb_remote_prepare(f->client, any, &how_for_tests, NULL, &remote, &why));
	graph = f->s.gate->graph;
	assert_none(nnb_remote_buffer_new(&buffer, f->client, &remote, 1, &desc, false, &why));
	assert_int_equal(atomic_load(&f->s.gate->n_buffers), 0);
	nnb_remote_release(remote);
	for (size_t i = 0; i < N_OF(copies); i++) {
		struct nnb_memory from;

		assert_int_equal(nnb_memory_ashmem(&from, copies[i].n * 4), 0);
		assert_none(nnb_remote_buffer_copy_from(buffer, &from, 1, &copies[i].n, &why));
		nnb_memory_close(&from);
		assert_int_equal(atomic_load(&f->s.gate->n_buffers), copies[i].asked);
		if (copies[i].n >= 8)
			assert_true(b->bytes == copies[i].n * 4 && b->rank == 1 && b->dims[0] == copies[i].n);
		assert_true(!b->fixed && b->n_roles == 1);
		expect_role(&b->roles[0], graph, false, 2, NNB_PRIORITY_HIGH, 0.5F);
	}
	nnb_remote_buffer_free(buffer);
	nnb_model_free(any);
}

/* M-5: hostile roles do not reach the driver. */
static void hostile_roles_do_not_reach_the_driver(void **state)
{
	struct fixture *f = *state;
	const struct nnb_buffer_role rows[] = {
		{ 0, 0, 0 },         { 0, 0, -0.5F }, { 0, 0, 1.0001F },    { 0, 0, NAN }, { 0, 0, INFINITY },
		{ 0, 0, -INFINITY }, { 1, 0, 1 },     { UINT32_MAX, 0, 1 }, { 0, 1, 1 },   { 0, UINT32_MAX, 1 },
	};

	for (size_t i = 0; i < 2 * N_OF(rows); i++) {
		const struct nnb_buffer_role *role = &rows[i / 2];
		const struct nnb_buffer_desc desc = {
			.inputs = role, .outputs = role, .n_inputs = i % 2 == 0, .n_outputs = i % 2 == 1
		};
		struct nnb_remote_buffer *buffer;

		assert_int_equal(nnb_remote_buffer_new(&buffer, f->client, &f->remote, 1, &desc, false, NULL),
		                 NNB_STATUS_INVALID_ARGUMENT);
	}
	assert_int_equal(atomic_load(&f->s.gate->n_buffers), 0);
}

/* ---- hardware buffers ---- */

enum { WIDTH = 4, HEIGHT = N / WIDTH, STRIDE = 6 };

/*
 * Two images, input and output, as another device sees them: rows of STRIDE pixels, of which WIDTH hold an
 * element each.
 */
struct images {
	struct nnb_memory memories[2];
	struct nnb_pool *pools[2];
	float *pixels[2];
	struct nnb_argument in, out;
	struct nnb_call call;
	struct nnb_answer answer;
};

static void images_init(struct images *m, uint32_t format)
{
	const struct nnb_hardware_buffer what = { WIDTH, HEIGHT, 1, format, STRIDE };

	memset(m, 0, sizeof(*m));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(nnb_memory_hardware_buffer(&m->memories[i], &what), 0);
		m->pixels[i] =
			mmap(NULL, m->memories[i].size, PROT_READ | PROT_WRITE, MAP_SHARED, m->memories[i].fds[0], 0);
		assert_true(m->pixels[i] != MAP_FAILED);
		assert_int_equal(nnb_pool_from(&m->pools[i], &m->memories[i]), 0);
	}
	m->out.location.pool = 1;
	m->call = (struct nnb_call){
		.inputs = &m->in, .outputs = &m->out, .n_inputs = 1, .n_outputs = 1, .pools = m->pools, .n_pools = 2
	};
}

static void images_fini(struct images *m)
{
	for (int i = 0; i < 2; i++) {
		munmap(m->pixels[i], m->memories[i].size);
		nnb_pool_free(m->pools[i]);
		nnb_memory_close(&m->memories[i]);
	}
}

static struct nnb_call *images_fill(struct images *m, float first)
{
	for (uint32_t i = 0; i < STRIDE * HEIGHT; i++) {
		m->pixels[0][i] = first + (float)i;
		m->pixels[1][i] = -1;
	}
	return &m->call;
}

/* The output must be right, and the bytes between its rows unchanged. */
static void expect_images(const struct fixture *f, const struct images *m, float first)
{
	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < STRIDE; x++) {
			float is = m->pixels[1][y * STRIDE + x], pixel = first + (float)(y * STRIDE + x);
			float wanted = x < WIDTH ? vector_expected(NNB_ADD, 1, y * WIDTH + x, pixel) : -1;

			assert_true(is == wanted);
		}
	assert_int_equal(atomic_load(&f->s.gate->images), 0);
}

/* P-14: on each path, and by a burst that has the buffers in its cache. */
static void hardware_buffers_are_shown_to_the_driver(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *burst = app_burst(f->remote);
	struct nnb_fenced *fenced;
	struct images m;
	int fence;

	images_init(&m, NNB_FORMAT_R8G8B8A8);
	assert_none(nnb_remote_execute(f->remote, images_fill(&m, 1), &m.answer, &why));
	expect_images(f, &m, 1);
	assert_int_equal(atomic_load(&f->s.gate->n_images), 2);
	assert_none(nnb_remote_execute_fenced(f->remote, images_fill(&m, 2), NULL, &fenced, &fence, &why));
	assert_int_equal(nnb_fence_wait(&fence, 1, PATIENCE), NNB_FENCE_SIGNALLED);
	expect_images(f, &m, 2);
	nnb_fenced_free(fenced);
	close(fence);
	for (int i = 0; i < 3; i++) {
		assert_none(nnb_burst_execute(burst, images_fill(&m, 3 + (float)i), &m.answer, &why));
		assert_false(m.answer.fallback);
		expect_images(f, &m, 3 + (float)i);
		assert_none(nnb_burst_execute(burst, next_call(f, false), &f->io.answer, &why));
		assert_true(io_right(&f->io, NNB_ADD, 1));
	}
	assert_int_equal(atomic_load(&f->s.gate->n_images), 10);
	nnb_burst_free(burst);
	images_fini(&m);
}

/* P-15: the app goes on after it. */
static void a_hardware_buffer_that_the_driver_refuses_is_a_failure(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *burst = app_burst(f->remote);
	struct images m;

	images_init(&m, NNB_FORMAT_R8G8B8X8);
	for (int i = 0; i < 2; i++) {
		struct nnb_reason said = { "" };

		assert_int_equal(nnb_remote_execute(f->remote, images_fill(&m, 1), NULL, &said),
		                 NNB_STATUS_GENERAL_FAILURE);
		assert_string_equal(said.text,
		                    "input 0: the driver cannot use this hardware_buffer of format 0x2, 4 by 4 by 1");
		assert_int_equal(nnb_burst_execute(burst, images_fill(&m, 1), NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
		assert_none(nnb_burst_execute(burst, next_call(f, false), &f->io.answer, &why));
		assert_true(io_right(&f->io, NNB_ADD, 1));
	}
	assert_int_equal(atomic_load(&f->s.gate->images), 0);
	assert_int_equal(atomic_load(&f->s.gate->n_images), 4);
	assert_true(m.pixels[1][0] == -1);
	nnb_burst_free(burst);
	images_fini(&m);
}

/*
 * The client frees a slot after the server has read the slots and before the execution: the driver's buffer
 * must stay open until the execution ends (S-13).
 */
static void a_freed_slot_leaves_the_driver_its_hardware_buffer(void **state)
{
	enum { INPUT = 7, OUTPUT = 8 };
	struct fixture *f = *state;
	struct local_device h = local_device_open(f);
	struct nnb_burst_executor x;
	struct nnb_memory given[2];
	struct nnb_output_shape shape = { 0 };
	struct nnb_result result = { .shapes = &shape };
	struct images m;
	int32_t slots[2] = { INPUT, OUTPUT }, missing[2];
	struct nnb_packet_request p = { .slots = slots, .n_inputs = 1, .n_outputs = 1, .n_slots = 2, .changes = 1 };
	unsigned fds;

	images_init(&m, NNB_FORMAT_R8G8B8A8);
	p.inputs = &m.in;
	p.outputs = &m.out;
	assert_int_equal(nnb_burst_executor_cached(&x, h.prepared), 0);
	fds = count_fds();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(x.missing(x.arg, slots, 2, missing), i ? 1 : 2);
		for (int k = 0; k < 2; k++)
			assert_int_equal(nnb_memory_dup(&given[k], &m.memories[k]), 0);
		if (i)
			nnb_memory_close(&given[1]);
		assert_none(x.add(x.arg, missing, i ? 1 : 2, given, &why));
		assert_int_equal(count_fds(), fds + 2);
		assert_int_equal(x.missing(x.arg, slots, 2, missing), 0);
		x.remove(x.arg, INPUT);
		images_fill(&m, 1 + (float)i);
		x.execute(x.arg, &p, &result, NULL);
		assert_int_equal(result.status, NNB_STATUS_NONE);
		expect_images(f, &m, 1 + (float)i);
		assert_int_equal(count_fds(), fds + 1);
	}
	assert_int_equal(x.missing(x.arg, slots, 2, missing), 1);
	assert_int_equal(missing[0], INPUT);
	x.remove(x.arg, OUTPUT);
	assert_int_equal(count_fds(), fds);
	x.free(x.arg);
	images_fini(&m);
	local_device_close(&h);
}

static bool never(void *arg, uint32_t next_op)
{
	(void)arg;
	(void)next_op;
	return false;
}

/* In this process: an execution that is preempted and restarted keeps its buffers until it ends. */
static void a_preempted_execution_keeps_its_hardware_buffers(void **state)
{
	struct fixture *f = *state;
	struct local_device h = local_device_open(f);
	struct nnb_execution *e;
	struct nnb_request request;
	struct images m;
	bool finished;

	images_init(&m, NNB_FORMAT_R8G8B8A8);
	request = (struct nnb_request){
		.inputs = &m.in, .outputs = &m.out, .n_inputs = 1, .n_outputs = 1, .n_pools = 2, .pools = m.memories
	};
	images_fill(&m, 1);
	assert_none(nnb_execution_begin(h.prepared, &request, NULL, false, NULL, &e, &why));
	assert_none(nnb_execution_run(e, never, NULL, &finished));
	assert_false(finished);
	assert_int_equal(atomic_load(&f->s.gate->images), 2);
	assert_none(nnb_execution_restart(e));
	assert_none(nnb_execution_run(e, NULL, NULL, &finished));
	expect_images(f, &m, 1);
	assert_int_equal(nnb_execution_restart(e), NNB_STATUS_GENERAL_FAILURE); /* the buffers are closed */
	images_fill(&m, 2);
	assert_none(nnb_execution_again(e, &request, NULL, false, NULL, &why));
	nnb_execution_end(e); /* before it ran: nothing is written */
	assert_int_equal(atomic_load(&f->s.gate->images), 0);
	assert_true(m.pixels[1][0] == -1);
	images_fini(&m);
	local_device_close(&h);
}

/* ---- the fast state of the driver that is shipped ---- */

#define LATENCY "/dev/cpu_dma_latency"

/* The number of this process's open descriptors of it. */
static unsigned latency_requests(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char target[64];
		ssize_t bytes = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		n += bytes == (ssize_t)strlen(LATENCY) && memcmp(target, LATENCY, strlen(LATENCY)) == 0;
	}
	closedir(dir);
	return n;
}

/* The strictest wake-up latency of a CPU that any process has requested from the kernel. */
static int32_t most_microseconds(void)
{
	int fd = open(LATENCY, O_RDONLY | O_CLOEXEC);
	int32_t us = 0;

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &us, sizeof(us)), sizeof(us));
	close(fd);
	return us;
}

static void xnnpack_keeps_cpus_awake_for_a_burst(void **state)
{
	struct fixture *f = *state;
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p;
	struct nnb_burst *bursts[2];

	if (access(LATENCY, W_OK)) {
		nnb_device_unref(d);
		print_message("skipped: %s cannot be written here\n", LATENCY);
		skip();
	}
	assert_none(nnb_prepare(d, f->model, &how_for_tests, NULL, &p, &why));
	assert_int_equal(latency_requests(), 0);
	for (int i = 0; i < 2; i++)
		assert_none(nnb_burst_local(&bursts[i], p, true, NULL, &why));
	assert_int_equal(latency_requests(), 1);
	assert_true(most_microseconds() <= 20);
	nnb_burst_free(bursts[0]);
	assert_int_equal(latency_requests(), 1);
	nnb_burst_free(bursts[1]);
	assert_int_equal(latency_requests(), 0);
	nnb_prepared_unref(p);
	nnb_device_unref(d);
}

int main(int argc, char **argv)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest rows[] = {
		ROW(calls_have_their_deadlines),
		ROW(fenced_executions_have_their_deadlines),
		ROW(each_request_of_a_burst_has_its_deadline),
		ROW(every_burst_has_a_context_of_its_own),
		ROW(a_burst_goes_on_without_a_context),
		ROW(an_app_that_dies_leaves_no_context),
		ROW(local_bursts_pass_the_same_parameters),
		ROW(an_execution_without_terms_has_no_deadline),
		ROW(the_driver_gets_a_buffers_roles),
		ROW(a_buffer_of_unknown_extents_is_allocated_late),
		ROW(hostile_roles_do_not_reach_the_driver),
		ROW(hardware_buffers_are_shown_to_the_driver),
		ROW(a_hardware_buffer_that_the_driver_refuses_is_a_failure),
		ROW(a_freed_slot_leaves_the_driver_its_hardware_buffer),
		ROW(a_preempted_execution_keeps_its_hardware_buffers),
		ROW(xnnpack_keeps_cpus_awake_for_a_burst),
	};

	if (argc == 5 && !strcmp(argv[1], "--scene"))
		return scene_burst(argv[3]);
	return cmocka_run_group_tests(rows, NULL, NULL);
}

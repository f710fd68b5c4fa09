/* test_device.c -- devices, prepared models, executions: their answers, and the objects and fds that they hold. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit/device_helpers.h"

enum { N = 100 };

/* ---- devices ---- */

static void drivers_are_found_by_name(void **state)
{
	struct nnb_capabilities c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "null" : "xnnpack";
		struct nnb_device *d = open_device(name);

		assert_string_equal(nnb_device_name(d), name);
		assert_true(nnb_device_version(d)[0] != '\0');
		nnb_device_capabilities(d, &c); /* O-21: above zero, sorted by type */
		assert_true(c.relaxed.time > 0 && c.relaxed.power > 0 && c.n_types > 0);
		for (uint32_t t = 0; t < c.n_types; t++) {
			assert_true(c.types[t].performance.time > 0 && c.types[t].performance.power > 0);
			assert_true(t == 0 || c.types[t - 1].type < c.types[t].type);
		}
		nnb_device_unref(d);
	}
}

static void expect_no_driver(const char *name, int error, const char *why)
{
	struct nnb_device *d = NULL;
	struct nnb_reason reason = { "" };

	assert_int_equal(nnb_device_open(&d, name, &reason), error);
	assert_null(d);
	if (!strstr(reason.text, why))
		fail_msg("'%s' does not contain '%s'", reason.text, why);
}

static void a_file_that_is_not_a_driver_is_refused_with_a_reason(void **state)
{
	char dir[] = "/tmp/nnb_driver.XXXXXX", path[64];
	int fd;

	(void)state;
	expect_no_driver("nosuch", -ENOENT, "no driver 'nosuch'");
	expect_no_driver("", -ENAMETOOLONG, "names no driver");
	expect_no_driver("/lib/libc.so.6", -ELIBACC, "names no driver");
	expect_no_driver("/nonexistent/driver-x.so", -ENOENT, "/nonexistent/driver-x.so");
	expect_no_driver("/dev/null/driver-x.so", -ENOTDIR,
	                 "/dev/null/driver-x.so"); /* as for one that is not readable */
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/driver-x.so", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	close(fd);
	expect_no_driver(path, -ELIBACC, path);
	unlink(path);
	rmdir(dir);
}

/* ---- preparing ---- */

static void an_invalid_preference_or_priority_is_refused(void **state)
{
	const struct nnb_prepare bad[] = { { .preference = UINT32_MAX },
		                           { .preference = 3 }, /* mutateExecutionPreference */
		                           { .priority = UINT32_MAX },
		                           { .priority = 3 } }; /* mutatePriority, Q-40 */
	struct nnb_device *d = open_device("null");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = NULL;

	(void)state;
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(nnb_prepare(d, m, &bad[i], NULL, &p, NULL), NNB_STATUS_INVALID_ARGUMENT);
	assert_null(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

static void preparing_keeps_no_fd_and_leaves_the_model_alone(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	unsigned before = open_fds();
	struct nnb_prepared *p = prepared(d, m);

	(void)state;
	assert_int_equal(open_fds(), before);
	nnb_model_free(m); /* O-21: the prepared model does not need the model */
	expect_vector(p, NNB_ADD, N, 1);
	nnb_device_unref(d); /* a prepared model holds its device */
	expect_vector(p, NNB_ADD, N, 1);
	nnb_prepared_unref(p);
}

/* P-14, P-13: a pool that cannot be mapped. */
static void an_unmappable_constant_pool_is_unsupported_and_fails_to_prepare(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = NULL;
	bool supported[2] = { true, true };

	(void)state;
	assert_int_equal(m->n_pools, 1);
	close(m->pools[0].fds[0]);
	m->pools[0].fds[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(nnb_device_supported(d, m, supported, NULL), NNB_STATUS_NONE);
	assert_false(supported[0] || supported[1]);
	assert_int_equal(nnb_prepare(d, m, &ordinary, NULL, &p, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_null(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* y = x + c of 4 floats, c at @offset of an mmap_fd pool with protection @prot; c is 1, 2, 3, 4. */
static struct nnb_model *model_of_pool(uint32_t offset, int prot)
{
	const float c[4] = { 1, 2, 3, 4 };
	int fd = memfd_create("pool", MFD_CLOEXEC);
	struct nnb_memory pool;
	struct nnb_model *m;
	uint32_t in[3], y;

	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(pwrite(fd, c, sizeof(c), offset), sizeof(c));
	assert_int_equal(nnb_memory_mmap_fd(&pool, fd, 4096, prot, 0), 0);
	close(fd);
	assert_int_equal(nnb_model_new(&m, "", NNB_HAL_1_0), 0);
	in[0] = float_tensor(m, 4);
	in[1] = float_tensor(m, 4);
	in[2] = int_scalar(m, NNB_FUSED_NONE);
	y = float_tensor(m, 4);
	assert_int_equal(nnb_model_pool(m, &pool), 0);
	assert_int_equal(nnb_model_reference(m, in[1], 0, offset, sizeof(c)), 0);
	assert_true(nnb_model_operation(m, NNB_ADD, in, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 1, &y, 1), 0);
	nnb_memory_close(&pool);
	return m;
}

/* P-14: a pool that exists but may not be read is treated as a missing one. */
static void a_constant_pool_without_read_access_is_treated_as_missing(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = model_of_pool(0, PROT_WRITE);
	struct nnb_prepared *p = NULL;

	(void)state;
	assert_false(supports(d, m));
	assert_int_equal(nnb_prepare(d, m, &ordinary, NULL, &p, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_null(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* P-19: a constant may have any offset; kernels get it aligned. */
static void a_constant_at_an_odd_offset_is_right(void **state)
{
	struct nnb_device *d = open_device("xnnpack");

	(void)state;
	for (uint32_t offset = 0; offset < 8; offset++) {
		struct nnb_model *m = model_of_pool(offset, PROT_READ);
		struct nnb_prepared *p = prepared(d, m);
		struct vectors v;

		vectors_init(&v, 4);
		assert_int_equal(nnb_execute(p, &v.request, NULL, NULL), NNB_STATUS_NONE);
		for (uint32_t i = 0; i < 4; i++)
			assert_true(v.y[i] == v.x[i] + (float)(i + 1));
		vectors_fini(&v);
		nnb_prepared_unref(p);
		nnb_model_free(m);
	}
	nnb_device_unref(d);
}

static void an_oem_operation_is_valid_and_unsupported(void **state)
{
	const char *const names[] = { "xnnpack", "null" };
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = NULL;
	bool supported[2];

	(void)state;
	m->operations[1].type = NNB_OEM_OPERATION;
	for (size_t i = 0; i < N_OF(names); i++) {
		struct nnb_device *d = open_device(names[i]);

		assert_int_equal(nnb_device_supported(d, m, supported, NULL), NNB_STATUS_NONE);
		assert_true(supported[0]);
		assert_false(supported[1]);
		assert_int_equal(nnb_prepare(d, m, &ordinary, NULL, &p, NULL), NNB_STATUS_INVALID_ARGUMENT);
		nnb_device_unref(d);
	}
	nnb_model_free(m);
}

/* A scalar whose value only the request has: the driver reports it as not supported. */
static void a_scalar_as_a_model_input_is_unsupported(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m;
	uint32_t in[3], y;
	bool supported = true;

	(void)state;
	assert_int_equal(nnb_model_new(&m, "", NNB_HAL_1_0), 0);
	in[0] = float_tensor(m, 4);
	in[1] = float_tensor(m, 4);
	in[2] = operand(m, &(struct nnb_operand){ .type = NNB_INT32 });
	y = float_tensor(m, 4);
	assert_true(nnb_model_operation(m, NNB_ADD, in, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 3, &y, 1), 0);
	assert_int_equal(nnb_device_supported(d, m, &supported, NULL), NNB_STATUS_NONE);
	assert_false(supported);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- executing ---- */

static void outputs_are_reported_with_their_shapes(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_MUL, N, 1);
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_output_shape shape = { 0 };
	struct vectors v;

	(void)state;
	vectors_init(&v, N);
	assert_int_equal(nnb_execute(p, &v.request, &shape, NULL), NNB_STATUS_NONE);
	assert_true(shape.sufficient && shape.rank == 1 && shape.dims[0] == N); /* P-31 */
	vectors_fini(&v);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* y = relu(x); only the request states the extent. */
static struct nnb_prepared *dynamic_relu(struct nnb_device *d)
{
	struct nnb_model *m = relu_model_of_any_extent(2);
	struct nnb_prepared *p;

	p = prepared(d, m);
	nnb_model_free(m);
	return p;
}

static void dynamic_outputs_get_their_shape_from_the_inputs(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p = dynamic_relu(d);

	(void)state;
	for (uint32_t rows = 1; rows <= 12; rows++) { /* more shapes than the driver keeps */
		struct nnb_output_shape shape = { 0 };
		struct vectors v;

		vectors_init(&v, 3 * rows);
		v.in.rank = 2;
		v.in.dims[0] = rows;
		v.in.dims[1] = 3;
		assert_int_equal(nnb_execute(p, &v.request, &shape, NULL), NNB_STATUS_NONE);
		assert_true(shape.sufficient && shape.rank == 2 && shape.dims[0] == rows && shape.dims[1] == 3);
		for (uint32_t i = 0; i < 3 * rows; i++)
			assert_true(v.y[i] == (v.x[i] > 0 ? v.x[i] : 0));
		vectors_fini(&v);
	}
	nnb_prepared_unref(p);
	nnb_device_unref(d);
}

/* 4.5: one byte short. The output is not written, but its dimensions are reported. */
static void an_output_one_byte_short_is_insufficient(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p = dynamic_relu(d);
	struct nnb_output_shape shape = { 0 };
	struct vectors v;

	(void)state;
	vectors_init(&v, 6);
	v.in.rank = 2;
	v.in.dims[0] = 2;
	v.in.dims[1] = 3;
	v.out.location.length = 6 * 4 - 1;
	v.y[0] = 77;
	assert_int_equal(nnb_execute(p, &v.request, &shape, NULL), NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE);
	assert_true(!shape.sufficient && shape.rank == 2 && shape.dims[0] == 2 && shape.dims[1] == 3);
	assert_true(v.y[0] == 77);
	vectors_fini(&v);
	nnb_prepared_unref(p);
	nnb_device_unref(d);
}

/* R5: fenced outputs must be specified. */
static void a_fenced_execution_with_an_unspecified_output_is_refused(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p = dynamic_relu(d);
	struct nnb_execution *e = NULL;
	struct vectors v;

	(void)state;
	vectors_init(&v, 6);
	v.in.rank = 2;
	v.in.dims[0] = 2;
	v.in.dims[1] = 3;
	assert_int_equal(nnb_execution_begin(p, &v.request, NULL, true, NULL, &e, NULL), NNB_STATUS_INVALID_ARGUMENT);
	v.out.rank = 2;
	v.out.dims[0] = 2;
	v.out.dims[1] = 3;
	assert_int_equal(nnb_execution_begin(p, &v.request, NULL, true, NULL, &e, NULL), NNB_STATUS_NONE);
	nnb_execution_end(e);
	vectors_fini(&v);
	nnb_prepared_unref(p);
	nnb_device_unref(d);
}

static void a_request_pool_that_cannot_be_mapped_is_a_general_failure(void **state)
{
	struct nnb_device *d = open_device("null");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = prepared(d, m);
	struct vectors v;
	struct nnb_memory bad;

	(void)state;
	vectors_init(&v, N);
	bad = v.pool;
	bad.fds[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
	v.request.pools = &bad;
	assert_int_equal(nnb_execute(p, &v.request, NULL, NULL), NNB_STATUS_GENERAL_FAILURE); /* P-13 */
	close(bad.fds[0]);
	vectors_fini(&v);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- stopping between operations ---- */

static bool stop(void *arg, uint32_t next_op)
{
	*(uint32_t *)arg = next_op;
	return false;
}

static void an_execution_stops_at_a_checkpoint_and_goes_on(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_execution *e, *other;
	struct vectors v, w;
	uint32_t asked = 0;
	bool finished;

	(void)state;
	vectors_init(&v, N);
	vectors_init(&w, N);
	assert_int_equal(nnb_execution_begin(p, &v.request, NULL, false, NULL, &e, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_execution_run(e, stop, &asked, &finished), NNB_STATUS_NONE);
	assert_false(finished);
	assert_int_equal(asked, 1);
	assert_int_equal(nnb_execution_next_op(e), 1);

	/* Another execution of the same model runs in between, with other numbers. */
	for (uint32_t i = 0; i < N; i++)
		w.x[i] = 1000;
	assert_int_equal(nnb_execution_begin(p, &w.request, NULL, false, NULL, &other, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_execution_run(other, NULL, NULL, &finished), NNB_STATUS_NONE);
	assert_true(finished);
	nnb_execution_end(other);

	assert_int_equal(nnb_execution_run(e, stop, &asked, &finished), NNB_STATUS_NONE);
	/* a call's first operation has no checkpoint before it, and only one operation was left */
	assert_true(finished);
	for (uint32_t i = 0; i < N; i++) {
		assert_true(v.y[i] == vector_expected(NNB_ADD, 1, i, v.x[i]));
		assert_true(w.y[i] == vector_expected(NNB_ADD, 1, i, 1000));
	}
	/* the execution is over */
	assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_GENERAL_FAILURE);
	nnb_execution_end(e);
	vectors_fini(&v);
	vectors_fini(&w);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

static void one_execution_serves_request_after_request(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_execution *e;
	struct vectors v[2];
	struct nnb_request bad;
	uint32_t asked;
	bool finished;

	(void)state;
	vectors_init(&v[0], N);
	vectors_init(&v[1], N);
	bad = v[1].request;
	bad.n_outputs = 0;
	assert_int_equal(nnb_execution_begin(p, &v[0].request, NULL, false, NULL, &e, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_execution_run(e, stop, &asked, &finished),
	                 NNB_STATUS_NONE); /* stopped at a checkpoint, and never finished */
	for (int turn = 0; turn < 4; turn++) {
		struct vectors *now = &v[turn % 2];

		for (uint32_t i = 0; i < N; i++)
			now->x[i] = (float)((int)i + turn);
		/*
		 * with the test's mapping, then with its own; after a finished execution, and after a refused
		 * one
		 */
		assert_int_equal(
			nnb_execution_again(e, &now->request, turn < 2 ? &now->mapping : NULL, false, NULL, NULL),
			NNB_STATUS_NONE);
		assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_NONE);
		assert_true(finished);
		for (uint32_t i = 0; i < N; i++)
			assert_true(now->y[i] == vector_expected(NNB_ADD, 1, i, now->x[i]));
		assert_int_equal(nnb_execution_again(e, &bad, NULL, false, NULL, NULL), NNB_STATUS_INVALID_ARGUMENT);
		assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_GENERAL_FAILURE);
	}
	nnb_execution_end(e);
	vectors_fini(&v[0]);
	vectors_fini(&v[1]);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

static void a_restarted_execution_begins_with_the_first_operation(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_MUL, N, 1);
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_execution *e;
	struct vectors v;
	uint32_t asked;
	bool finished;

	(void)state;
	vectors_init(&v, N);
	assert_int_equal(nnb_execution_begin(p, &v.request, NULL, false, NULL, &e, NULL), NNB_STATUS_NONE);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nnb_execution_run(e, stop, &asked, &finished), NNB_STATUS_NONE);
		assert_int_equal(nnb_execution_restart(e), NNB_STATUS_NONE);
		assert_int_equal(nnb_execution_next_op(e), 0);
	}
	for (uint32_t i = 0; i < N; i++)
		v.x[i] = (float)(2 * i); /* the restarted run reads the current input */
	assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_NONE);
	for (uint32_t i = 0; i < N; i++)
		assert_true(v.y[i] == vector_expected(NNB_MUL, 1, i, (float)(2 * i)));
	nnb_execution_end(e);
	vectors_fini(&v);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

static void an_execution_that_is_given_up_leaves_nothing(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_execution *e;
	struct vectors v;
	uint32_t asked;
	bool finished;

	(void)state;
	vectors_init(&v, N);
	assert_int_equal(nnb_execution_begin(p, &v.request, NULL, false, NULL, &e, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_execution_run(e, stop, &asked, &finished), NNB_STATUS_NONE);
	nnb_prepared_unref(p); /* the execution holds the model */
	nnb_execution_end(e);
	vectors_fini(&v);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- side by side ---- */

struct side {
	struct nnb_prepared *p;
	enum nnb_op op;
	bool stops;
	pthread_t thread;
	unsigned wrong;
};

static bool sometimes(void *arg, uint32_t next_op)
{
	return ++*(unsigned *)arg % 3 || next_op == 0;
}

static void *run_beside(void *arg)
{
	struct side *s = arg;
	struct vectors v;
	unsigned turn = 0;

	vectors_init(&v, N);
	for (int i = 0; i < 300; i++) {
		struct nnb_execution *e;
		bool finished = false;

		for (uint32_t k = 0; k < N; k++)
			v.x[k] = (float)(i + (int)k);
		if (nnb_execution_begin(s->p, &v.request, i % 2 ? &v.mapping : NULL, false, NULL, &e, NULL)) {
			s->wrong++;
			continue;
		}
		while (!finished)
			if (nnb_execution_run(e, s->stops ? sometimes : NULL, &turn, &finished))
				s->wrong++;
		nnb_execution_end(e);
		for (uint32_t k = 0; k < N; k++)
			s->wrong += v.y[k] != vector_expected(s->op, 1, k, v.x[k]);
	}
	vectors_fini(&v);
	return NULL;
}

/* The page faults of this thread in an execution of @p. */
static long faults_of(struct nnb_prepared *p, const struct vectors *v)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	assert_int_equal(nnb_execute(p, &v->request, NULL, NULL), NNB_STATUS_NONE);
	getrusage(RUSAGE_THREAD, &after);
	return after.ru_minflt - before.ru_minflt;
}

/*
 * The pages of an output are mapped many at a time, as far as they are in memory. Where none is, each takes a page
 * fault of its own, and the rest of the execution takes the same ones.
 */
static void an_execution_maps_the_pages_of_its_output_together(void **state)
{
	enum { MANY = 1 << 18, OUTPUT = MANY * sizeof(float) };
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_ADD, MANY, 1);
	struct nnb_prepared *p = prepared(d, m);
	long here, missing = 0;
	struct vectors v;

	(void)state;
	vectors_init(&v, MANY);
	for (int i = 0; i < 2; i++) { /* once before it counts: it makes pages of its own */
		assert_int_equal(fallocate(v.pool.fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, OUTPUT, OUTPUT),
		                 0);
		missing = faults_of(p, &v);
	}
	here = faults_of(p, &v);
	assert_true(missing - here > OUTPUT / sysconf(_SC_PAGESIZE) / 2);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(v.y[i] == vector_expected(NNB_ADD, 1, i, v.x[i]));
	vectors_fini(&v);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* any mix of executions may run at once on one prepared model. */
static void executions_of_one_model_run_side_by_side(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m[2] = { vector_model(NNB_ADD, N, 1), vector_model(NNB_MUL, N, 1) };
	struct nnb_prepared *p[2] = { prepared(d, m[0]), prepared(d, m[1]) };
	struct side sides[6];

	(void)state;
	for (size_t i = 0; i < N_OF(sides); i++) {
		sides[i] = (struct side){ .p = p[i % 2], .op = i % 2 ? NNB_MUL : NNB_ADD, .stops = i >= 3 };
		assert_int_equal(pthread_create(&sides[i].thread, NULL, run_beside, &sides[i]), 0);
	}
	for (size_t i = 0; i < N_OF(sides); i++) {
		pthread_join(sides[i].thread, NULL);
		assert_int_equal(sides[i].wrong, 0);
	}
	for (int i = 0; i < 2; i++) {
		nnb_prepared_unref(p[i]);
		nnb_model_free(m[i]);
	}
	nnb_device_unref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drivers_are_found_by_name),
		cmocka_unit_test(a_file_that_is_not_a_driver_is_refused_with_a_reason),
		cmocka_unit_test(an_invalid_preference_or_priority_is_refused),
		cmocka_unit_test(preparing_keeps_no_fd_and_leaves_the_model_alone),
		cmocka_unit_test(an_unmappable_constant_pool_is_unsupported_and_fails_to_prepare),
		cmocka_unit_test(a_constant_pool_without_read_access_is_treated_as_missing),
		cmocka_unit_test(a_constant_at_an_odd_offset_is_right),
		cmocka_unit_test(an_oem_operation_is_valid_and_unsupported),
		cmocka_unit_test(a_scalar_as_a_model_input_is_unsupported),
		cmocka_unit_test(outputs_are_reported_with_their_shapes),
		cmocka_unit_test(dynamic_outputs_get_their_shape_from_the_inputs),
		cmocka_unit_test(an_output_one_byte_short_is_insufficient),
		cmocka_unit_test(a_fenced_execution_with_an_unspecified_output_is_refused),
		cmocka_unit_test(a_request_pool_that_cannot_be_mapped_is_a_general_failure),
		cmocka_unit_test(an_execution_stops_at_a_checkpoint_and_goes_on),
		cmocka_unit_test(one_execution_serves_request_after_request),
		cmocka_unit_test(a_restarted_execution_begins_with_the_first_operation),
		cmocka_unit_test(an_execution_that_is_given_up_leaves_nothing),
		cmocka_unit_test(an_execution_maps_the_pages_of_its_output_together),
		cmocka_unit_test(executions_of_one_model_run_side_by_side),
	};

	return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}

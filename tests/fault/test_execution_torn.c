/*
 * test_execution_torn.c -- pools that are truncated during executions: the execution that uses the pool fails,
 * and no other does.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/device_helpers.h"

static size_t page;

/* A file of @pages pages, each filled with its number + 1, and its mapping. */
struct file {
	int fd;
	struct nnb_mapping *mapping;
	uint8_t *at;
};

static void refill(int fd, size_t pages)
{
	uint8_t bytes[1 << 16];

	assert_int_equal(ftruncate(fd, (off_t)(pages * page)), 0);
	for (size_t i = 0; i < pages; i++) {
		memset(bytes, (int)i + 1, page);
		assert_int_equal(pwrite(fd, bytes, page, (off_t)(i * page)), page);
	}
}

static void file_init(struct file *f, size_t pages, int prot)
{
	struct nnb_memory m;

	f->fd = memfd_create("torn", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
	refill(f->fd, pages);
	assert_int_equal(nnb_memory_mmap_fd(&m, f->fd, pages * page, prot, 0), 0);
	assert_int_equal(nnb_map(&f->mapping, &m), 0);
	f->at = nnb_mapping_data(f->mapping);
	nnb_memory_close(&m);
}

static void file_fini(struct file *f)
{
	nnb_mapping_unref(f->mapping);
	close(f->fd);
}

/* cmocka replaces the SIGBUS handler for each test; each test restores the library's handler. */
static struct sigaction of_the_library;

static void restore_library_handler(void)
{
	assert_int_equal(sigaction(SIGBUS, &of_the_library, NULL), 0);
}

enum { N = 4096 }; /* floats: x and y are four pages each */

struct cutter {
	int fd;
	off_t to;
};

static bool cut_at_checkpoint(void *arg, uint32_t next_op)
{
	const struct cutter *c = arg;

	(void)next_op;
	assert_int_equal(ftruncate(c->fd, c->to), 0);
	return true;
}

struct vectors_in_file {
	struct file f;
	struct nnb_memory pool;
	struct nnb_argument in, out;
	struct nnb_request request;
};

static void in_file_init(struct vectors_in_file *v)
{
	*v = (struct vectors_in_file){ .in.location = { 0, 0, N * 4 }, .out.location = { 0, N * 4, N * 4 } };
	file_init(&v->f, N * 8 / page, PROT_READ | PROT_WRITE);
	assert_int_equal(nnb_memory_mmap_fd(&v->pool, v->f.fd, N * 8, PROT_READ | PROT_WRITE, 0), 0);
	v->request = (struct nnb_request){
		.inputs = &v->in, .outputs = &v->out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &v->pool
	};
}

static void in_file_fini(struct vectors_in_file *v)
{
	nnb_memory_close(&v->pool);
	file_fini(&v->f);
}

/* Between the two operations, the pool loses its end, where the output is. */
static void only_the_execution_of_the_torn_pool_fails(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_execution *e;
	struct vectors_in_file v;
	struct vectors other;
	bool finished;

	(void)state;
	restore_library_handler();
	in_file_init(&v);
	vectors_init(&other, N);
	for (int mapped = 0; mapped < 2; mapped++) { /* first mapped for this execution, then as a burst maps it */
		struct nnb_mapping *const *mappings = mapped ? &v.f.mapping : NULL;
		struct cutter cutter = { v.f.fd, N * 4 };

		assert_int_equal(nnb_execution_begin(p, &v.request, mappings, false, NULL, &e, NULL), NNB_STATUS_NONE);
		assert_int_equal(nnb_execution_run(e, cut_at_checkpoint, &cutter, &finished),
		                 NNB_STATUS_GENERAL_FAILURE);
		assert_true(finished);
		nnb_execution_end(e);

		expect_vector(p, NNB_ADD, N, 1); /* another execution is not affected */
		if (mapped) {                    /* still truncated: each further attempt fails */
			assert_int_equal(nnb_execution_begin(p, &v.request, mappings, false, NULL, &e, NULL),
			                 NNB_STATUS_NONE);
			assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_GENERAL_FAILURE);
			nnb_execution_end(e);
		} else {
			assert_int_equal(nnb_execution_begin(p, &v.request, NULL, false, NULL, &e, NULL),
			                 NNB_STATUS_GENERAL_FAILURE);
		}
		refill(v.f.fd, N * 8 / page);
		assert_int_equal(nnb_execution_begin(p, &v.request, mappings, false, NULL, &e, NULL), NNB_STATUS_NONE);
		assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_NONE);
		nnb_execution_end(e);
	}
	vectors_fini(&other);
	in_file_fini(&v);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* y = x + c, c in a file of its own. */
static struct nnb_model *model_with_file(struct file *f)
{
	struct nnb_memory pool;
	struct nnb_model *m;
	uint32_t x, c, act, y;

	file_init(f, N * 4 / page, PROT_READ);
	assert_int_equal(nnb_model_new(&m, "", NNB_HAL_1_0), 0);
	x = float_tensor(m, N);
	c = float_tensor(m, N);
	act = int_scalar(m, NNB_FUSED_NONE);
	y = float_tensor(m, N);
	assert_int_equal(nnb_memory_mmap_fd(&pool, f->fd, N * 4, PROT_READ, 0), 0);
	assert_int_equal(nnb_model_pool(m, &pool), 0);
	assert_int_equal(nnb_model_reference(m, c, 0, 0, N * 4), 0);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, c, act }, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	nnb_memory_close(&pool);
	return m;
}

static void truncated_constants_fail_executions_until_they_are_back(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct file f;
	struct nnb_model *m = model_with_file(&f);
	struct nnb_prepared *p = prepared(d, m);
	struct vectors v;

	(void)state;
	restore_library_handler();
	vectors_init(&v, N);
	assert_int_equal(nnb_execute(p, &v.request, NULL, NULL), NNB_STATUS_NONE);
	assert_int_equal(ftruncate(f.fd, 0), 0);
	assert_int_equal(nnb_execute(p, &v.request, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(nnb_execute(p, &v.request, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
	refill(f.fd, N * 4 / page);
	assert_int_equal(nnb_execute(p, &v.request, NULL, NULL), NNB_STATUS_NONE);
	vectors_fini(&v);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	file_fini(&f);
	nnb_device_unref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_execution_of_the_torn_pool_fails),
		cmocka_unit_test(truncated_constants_fail_executions_until_they_are_back),
	};
	struct file f;

	page = (size_t)sysconf(_SC_PAGESIZE);
	file_init(&f, 1, PROT_READ);
	file_fini(&f);
	sigaction(SIGBUS, NULL, &of_the_library);
	return cmocka_run_group_tests_name("torn pools", tests, NULL, NULL);
}

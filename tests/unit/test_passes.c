/*
 * test_passes.c -- each execution over files that can be cut asks the gate of their app first, whatever the execution
 * was made of: pools that it maps, pools that a burst has mapped before, the request that a burst repeats, and
 * constants of the model. The test stands in for the gate (memory/gate.h), and refuses one file.
 */
#include <sys/stat.h>

#include "unit/burst_helpers.h"

#include "memory/gate.h"

/* ---- the gate ---- */

static atomic_ulong refused; /* the inode of the file that may not be used; 0: none */
static atomic_uint asked;    /* how often the gate was asked for that file */

bool __real_nnb__gate_passes(struct nnb__gate *gate, int fd);
bool __wrap_nnb__gate_passes(struct nnb__gate *gate, int fd);

bool __wrap_nnb__gate_passes(struct nnb__gate *gate, int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	if (st.st_ino != atomic_load(&refused))
		return __real_nnb__gate_passes(gate, fd);
	atomic_fetch_add(&asked, 1);
	return false;
}

static void refuse(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	atomic_store(&asked, 0);
	atomic_store(&refused, st.st_ino);
}

/* ---- files that can be cut ---- */

static struct nnb_pool *pool_of(int fd)
{
	struct nnb_memory memory;
	struct nnb_pool *p;

	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, LENGTH * 8, PROT_READ | PROT_WRITE, 0), 0);
	assert_int_equal(nnb_pool_from(&p, &memory), 0);
	nnb_memory_close(&memory);
	return p;
}

/* As vector_model(NNB_ADD, LENGTH, FIRST), with its constants in the file @fd. */
static struct nnb_prepared *prepared_from(int fd)
{
	struct nnb_device *d = open_device(DRIVER_NULL);
	struct nnb_memory pool;
	struct nnb_prepared *p;
	struct nnb_model *m;
	uint32_t x, c, act, t, y;

	for (uint32_t i = 0; i < LENGTH; i++)
		assert_int_equal(pwrite(fd, &(float){ (float)(FIRST + i) / 4 }, 4, i * 4), 4);
	assert_int_equal(nnb_memory_mmap_fd(&pool, fd, LENGTH * 8, PROT_READ, 0), 0);
	assert_int_equal(nnb_model_new(&m, "adds from a file", NNB_HAL_1_0), 0);
	x = float_tensor(m, LENGTH);
	c = float_tensor(m, LENGTH);
	act = int_scalar(m, NNB_FUSED_NONE);
	t = float_tensor(m, LENGTH);
	y = float_tensor(m, LENGTH);
	assert_int_equal(nnb_model_pool(m, &pool), 0);
	assert_int_equal(nnb_model_reference(m, c, 0, 0, LENGTH * 4), 0);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, c, act }, 3, &t, 1) >= 0);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ t, c, act }, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	p = prepared(d, m);
	nnb_memory_close(&pool);
	nnb_model_free(m);
	nnb_device_unref(d);
	return p;
}

/* ---- the rows ---- */

struct row {
	const char *name;
	bool of_the_model; /* the file has the model's constants; otherwise it is the pool of the request */
	bool repeats;      /* the burst has executed the same request before */
};

/* By burst: refused while the gate refuses, and executed before and after that. */
static void a_burst_asks(void **state)
{
	const struct row *row = *state;
	int fd = new_file(LENGTH * 8, 0);
	struct nnb_prepared *p = row->of_the_model ? prepared_from(fd) : prepared_sum(DRIVER_NULL);
	struct nnb_pool *pool = row->of_the_model ? new_pool() : pool_of(fd);
	struct nnb_request_datum *datums;
	struct peer peer;
	struct sum sum;
	uint32_t n;

	sum_init(&sum, pool, pool);
	sum_prepare(&sum, 1);
	peer_init(&peer, p);
	peer.memories[0] = peer.memories[1] = *nnb_pool_memory(pool);
	datums = datums_of(&sum.call, false, &n);
	for (unsigned i = 0; row->repeats && i < 3; i++)
		expect_service(&peer, datums, n);
	refuse(fd);
	for (unsigned i = 1; i <= 3; i++) {
		expect_refusal(&peer, datums, n, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
		assert_true(atomic_load(&asked) >= i);
	}
	atomic_store(&refused, 0);
	for (unsigned i = 0; i < 3; i++)
		expect_service(&peer, datums, n);
	free(datums);
	peer_fini(&peer);
	nnb_pool_free(pool);
	nnb_prepared_unref(p);
	close(fd);
}

/* By call. */
static void a_call_asks(void **state)
{
	const struct row *row = *state;
	int fd = new_file(LENGTH * 8, 0);
	struct nnb_prepared *p = row->of_the_model ? prepared_from(fd) : prepared_sum(DRIVER_NULL);
	struct nnb_pool *pool = row->of_the_model ? new_pool() : pool_of(fd);
	struct nnb_memory memories[2];
	struct nnb_request request;
	struct sum sum;

	sum_init(&sum, pool, pool);
	sum_prepare(&sum, 1);
	request = request_of_call(&sum.call, memories);
	assert_int_equal(nnb_execute(p, &request, NULL, NULL), NNB_STATUS_NONE);
	refuse(fd);
	assert_int_equal(nnb_execute(p, &request, NULL, NULL), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_true(atomic_load(&asked) >= 1);
	atomic_store(&refused, 0);
	assert_int_equal(nnb_execute(p, &request, NULL, NULL), NNB_STATUS_NONE);
	nnb_pool_free(pool);
	nnb_prepared_unref(p);
	close(fd);
}

int main(void)
{
	static struct row rows[] = {
		{ "a pool of the request" },
		{ "a pool of a request that is repeated", .repeats = true },
		{ "constants of the model", .of_the_model = true },
		{ "constants of the model, a request that is repeated", .of_the_model = true, .repeats = true },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		add_test(a_burst_asks, NULL, NULL, &rows[i], "a burst, %s", rows[i].name);
		if (!rows[i].repeats)
			add_test(a_call_asks, NULL, NULL, &rows[i], "a call, %s", rows[i].name);
	}
	alarm(WATCHDOG_S);
	return _cmocka_run_group_tests("files that can be cut", tests, n_tests, NULL, NULL);
}

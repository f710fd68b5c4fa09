/*
 * test_service_statuses.c -- requests that are wrong in random ways: a call and a burst must answer with the
 * same status.
 *
 * NNB_SEED begins with another seed.
 */
#include "service_helpers.h"

#include "base.h"
#include "nnb/memory.h"

enum { N = 64, REQUESTS = 5000, POOLS = 3 };

struct fixture {
	struct service s;
	struct nnb_model *adds;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
};

static int set_up_with(void **state, const char *option)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "pid", option));
	f->adds = vector_model(NNB_ADD, N, 1);
	f->client = app_open(&f->s);
	f->remote = app_prepare(f->client, f->adds);
	f->burst = app_burst(f->remote);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, NULL);
}

static int set_up_plain(void **state)
{
	return set_up_with(state, "--plain-bursts");
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nnb_burst_free(f->burst);
	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	nnb_model_free(f->adds);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- invalid requests ---- */

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
	return (uint32_t)(lcg_next(&random_state) >> 33) % n;
}

static struct nnb_pool *file_pool(int prot, bool cut)
{
	int fd = memfd_create("pool", MFD_CLOEXEC);
	struct nnb_memory m;
	struct nnb_pool *p;

	assert_int_equal(ftruncate(fd, N * 8), 0);
	assert_int_equal(nnb_memory_mmap_fd(&m, fd, N * 8, prot, 0), 0);
	assert_int_equal(nnb_pool_from(&p, &m), 0);
	if (cut) /* this process has mapped it, and the service has unmapped it */
		assert_int_equal(ftruncate(fd, 0), 0);
	nnb_memory_close(&m);
	close(fd);
	return p;
}

static struct nnb_pool *image_pool(void)
{
	const struct nnb_hardware_buffer image = { 8, 8, 1, NNB_FORMAT_R8G8B8A8, 8 };
	struct nnb_memory m;
	struct nnb_pool *p;

	assert_int_equal(nnb_memory_hardware_buffer(&m, &image), 0);
	assert_int_equal(nnb_pool_from(&p, &m), 0);
	nnb_memory_close(&m);
	return p;
}

static struct nnb_pool *any_pool(void)
{
	struct nnb_pool *p;

	switch (below(8)) {
	case 0:
		return file_pool(PROT_READ | PROT_WRITE, true);
	case 1:
		return file_pool(PROT_READ, below(2));
	case 2:
		return file_pool(PROT_READ | PROT_WRITE, false);
	case 3:
		return image_pool();
	default:
		assert_int_equal(nnb_pool_new(&p, N * 8), 0);
		return p;
	}
}

static void spoil(struct nnb_argument *a)
{
	switch (below(9)) {
	case 0:
		a->location.pool = below(POOLS + 2);
		break;
	case 1:
		a->location.offset = below(N * 9);
		break;
	case 2:
		a->location.length = below(2) ? below(N * 9) : 0;
		break;
	case 3:
		a->location = (struct nnb_location){ .pool = a->location.pool };
		break;
	case 4:
		a->rank = below(3);
		a->dims[0] = below(2) ? N : below(N * 2);
		a->dims[1] = below(3);
		break;
	case 5:
		a->no_value = true;
		break;
	default:
		break; /* the answer is right */
	}
}

/* ---- both ways ---- */

static enum nnb_status by_burst(const struct fixture *f, const struct nnb_call *call, struct nnb_output_shape *shapes)
{
	struct nnb_answer answer = { .shapes = shapes };
	enum nnb_status status = nnb_burst_execute(f->burst, call, &answer, NULL);

	assert_false(answer.fallback);
	return status;
}

static enum nnb_status by_call(const struct fixture *f, const struct nnb_call *call, struct nnb_output_shape *shapes)
{
	struct nnb_answer answer = { .shapes = shapes };

	return nnb_remote_execute(f->remote, call, &answer, NULL);
}

static void a_call_and_a_burst_return_the_same_status(void **state)
{
	const char *seed = getenv("NNB_SEED");
	unsigned seen[NNB_STATUS_DEAD_OBJECT + 1] = { 0 };
	struct fixture *f = *state;

	random_state = seed ? (uint64_t)atoll(seed) : 1;
	for (uint32_t i = 0; i < REQUESTS; i++) {
		struct nnb_argument in[2] = { { .location = { below(POOLS), 0, N * 4 } } };
		struct nnb_argument out[2] = { { .location = { below(POOLS), N * 4, N * 4 } } };
		struct nnb_output_shape shapes[2];
		struct nnb_pool *pools[POOLS];
		struct nnb_call call = { .inputs = in, .outputs = out, .pools = pools, .n_pools = POOLS };
		enum nnb_status first, second;

		for (unsigned k = 0; k < POOLS; k++)
			pools[k] = any_pool();
		call.n_inputs = below(20) ? 1 : below(3);
		call.n_outputs = below(20) ? 1 : below(3);
		spoil(&in[0]);
		spoil(&out[0]);
		first = by_burst(f, &call, shapes);
		second = by_call(f, &call, shapes);
		if (first != second)
			fail_msg("request %u: %s by burst, and %s by call", i, nnb_status_name(first),
			         nnb_status_name(second));
		seen[first]++;
		for (unsigned k = 0; k < POOLS; k++)
			nnb_pool_free(pools[k]);
	}
	/* otherwise all requests might be malformed in the same way */
	assert_true(seen[NNB_STATUS_NONE] > REQUESTS / 50);
	assert_true(seen[NNB_STATUS_INVALID_ARGUMENT] > REQUESTS / 50);
	assert_true(seen[NNB_STATUS_GENERAL_FAILURE] > REQUESTS / 50);
}

int main(void)
{
	add_test(a_call_and_a_burst_return_the_same_status, set_up, tear_down, NULL,
	         "a call and a burst return the same status");
	add_test(a_call_and_a_burst_return_the_same_status, set_up_plain, tear_down, NULL,
	         "a call and a burst without a cache return the same status");
	return _cmocka_run_group_tests("service: statuses of wrong requests", tests, n_tests, NULL, NULL);
}

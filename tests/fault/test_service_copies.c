/*
 * test_service_copies.c -- an app that tears its files again and again: from then on the service copies its pools, and
 * maps none. Its results stay the same, nothing of it is mapped, and connecting anew changes nothing.
 */
#include "service_helpers.h"

#include "nnb/memory.h"

enum {
	N = 64,
	LARGE = 1 << 18, /* elements whose bytes are more than are copied anyway */
	TEARS = 60,      /* within a second or so */
	POOLS = 50
};

static const char *const no_options[] = { NULL };
static const char *const copied[] = { "--copied-pools", NULL };

static int set_up_with(void **state, const char *const *options)
{
	struct one_app *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	service_start(&f->s,
	              options[0] ? OPTIONS("--app-identity", "pid", options[0]) : OPTIONS("--app-identity", "pid"));
	one_app_open(f, N);
	f->burst = app_burst(f->remote);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, no_options);
}

static int set_up_copied(void **state)
{
	return set_up_with(state, copied);
}

static int tear_down(void **state)
{
	one_app_close(*state);
	free(*state);
	return 0;
}

/* What the service states of this process. */
static struct nnb_app_counts conduct_of(struct nnb_client *client)
{
	struct nnb_app_counts apps[8];
	uint32_t n;

	assert_none(nnb_client_apps(client, apps, N_OF(apps), &n, &why));
	for (uint32_t i = 0; i < n; i++)
		if (apps[i].app == nnb_client_info(client)->app)
			return apps[i];
	fail_msg("the service does not know this app");
	return apps[0];
}

/* A pool in a file that can shrink, of @n elements each way. *fd: the file. */
static struct nnb_pool *file_pool(uint32_t n, int *fd)
{
	struct nnb_memory memory;
	struct nnb_pool *pool;

	*fd = memfd_create("file", MFD_CLOEXEC);
	assert_true(*fd >= 0 && !ftruncate(*fd, (off_t)n * 8));
	assert_int_equal(nnb_memory_mmap_fd(&memory, *fd, (uint64_t)n * 8, PROT_READ | PROT_WRITE, 0), 0);
	assert_int_equal(nnb_pool_from(&pool, &memory), 0);
	nnb_memory_close(&memory);
	return pool;
}

/* Tear the file of a burst's pool until the service has had enough. */
static void offend(struct one_app *f)
{
	struct io io;
	int fd;

	io_init_on(&io, N, file_pool(N, &fd));
	assert_false(conduct_of(f->client).copied);
	for (int i = 0; i < TEARS && !conduct_of(f->client).copied; i++) {
		assert_int_equal(ftruncate(fd, (off_t)N * 8), 0);
		expect_burst(f->burst, &io, NNB_ADD);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(nnb_burst_execute(f->burst, &io.call, &io.answer, NULL), NNB_STATUS_GENERAL_FAILURE);
	}
	assert_true(conduct_of(f->client).copied);
	assert_int_equal(conduct_of(f->client).offences, 1);
	io_fini(&io);
	close(fd);
}

static void executes_as_before(struct one_app *f, struct nnb_remote *remote, struct nnb_burst *burst, struct io *io)
{
	struct nnb_call call = io->call;
	enum nnb_status told;

	(void)f;
	for (int i = 0; i < 3; i++) {
		expect_sync(remote, io, NNB_ADD);
		expect_burst(burst, io, NNB_ADD);
		io_refresh(io, 9);
		assert_int_equal(execute_and_await(remote, &call, &told, NULL), NNB_STATUS_NONE);
		assert_int_equal(told, NNB_STATUS_NONE);
		assert_true(io_right(io, NNB_ADD, 1));
	}
}

static void an_app_that_tears_again_and_again_is_served_by_copies(void **state)
{
	struct one_app *f = *state;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct io file, sealed;
	int fd;

	io_init_on(&file, N, file_pool(N, &fd));
	io_init(&sealed, N);
	executes_as_before(f, f->remote, f->burst, &sealed);
	offend(f);
	executes_as_before(f, f->remote, f->burst, &file);
	executes_as_before(f, f->remote, f->burst, &sealed); /* which the burst had mapped */
	/* a file that is too short is an error of that execution, whatever the way */
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(nnb_remote_execute(f->remote, &file.call, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(nnb_burst_execute(f->burst, &file.call, &file.answer, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(ftruncate(fd, (off_t)N * 8), 0);
	executes_as_before(f, f->remote, f->burst, &file);
	/* another connection of the same app */
	client = app_open(&f->s);
	assert_true(conduct_of(client).copied);
	remote = app_prepare(client, f->adds);
	expect_sync(remote, &file, NNB_ADD);
	nnb_remote_release(remote);
	nnb_client_close(client);
	io_fini(&file);
	io_fini(&sealed);
	close(fd);
}

static void of_an_offender_nothing_more_is_mapped(void **state)
{
	struct one_app *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, LARGE, 1);
	struct nnb_remote *remote = app_prepare(f->client, m);
	struct nnb_burst *burst = app_burst(remote);
	struct io io[POOLS];
	unsigned maps;

	offend(f);
	io_init(&io[0], LARGE);
	expect_burst(burst, &io[0], NNB_ADD);
	for (int i = 0; i < 5000 && service_footprint(&f->s).maps > f->s.baseline.maps + 20; i++)
		poll_pause();
	maps = service_footprint(&f->s).maps;
	for (int i = 1; i < POOLS; i++) {
		io_init(&io[i], LARGE);
		expect_burst(burst, &io[i], NNB_ADD);
		assert_true(service_footprint(&f->s).maps <= maps);
	}
	for (int i = 0; i < POOLS; i++)
		io_fini(&io[i]);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

static void another_app_is_not_affected(void **state)
{
	struct one_app *f = *state;
	struct child c;

	offend(f);
	child_start(&c, "visit", &f->s, "");
	assert_int_equal(child_read(&c), '.');
	child_kill(&c);
	app_comes_to_hold(f->client, all.connections, 1);
}

/* ---- what lies in pools of an app that is copied ---- */

/* The output lies where the input does, in the same pool, and in another pool of the same file. */
static void pools_that_overlap(void **state)
{
	struct one_app *f = *state;
	struct nnb_pool *pools[2];
	struct nnb_memory memory;
	struct nnb_argument in = { .location = { 0, 0, N * 4 } }, out = in;
	struct nnb_call call = {
		.inputs = &in, .outputs = &out, .pools = pools, .n_inputs = 1, .n_outputs = 1, .n_pools = 2
	};
	float *x;
	int fd;

	pools[0] = file_pool(N, &fd);
	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, N * 8, PROT_READ | PROT_WRITE, 0), 0);
	assert_int_equal(nnb_pool_from(&pools[1], &memory), 0);
	nnb_memory_close(&memory);
	x = nnb_pool_data(pools[0]);
	for (uint32_t pool = 0; pool < 2; pool++) {
		out.location.pool = pool;
		for (uint32_t i = 0; i < 2 * N; i++)
			x[i] = 3;
		assert_none(nnb_remote_execute(f->remote, &call, NULL, &why));
		for (uint32_t i = 0; i < N; i++)
			assert_true(x[i] == 3 + 2 * (float)(1 + i) / 4);
		for (uint32_t i = N; i < 2 * N; i++)
			assert_true(x[i] == 3); /* nothing is written beside an output */
	}
	nnb_pool_free(pools[0]);
	nnb_pool_free(pools[1]);
	close(fd);
}

/* y = x + c, where c lies in a pool. */
static struct nnb_model *model_with_constants(struct nnb_pool *constants)
{
	struct nnb_model *m;
	uint32_t x, c, act, y;
	int pool;

	assert_int_equal(nnb_model_new(&m, "constants", NNB_HAL_1_0), 0);
	x = float_tensor(m, N);
	c = float_tensor(m, N);
	pool = nnb_model_pool(m, nnb_pool_memory(constants));
	assert_true(pool >= 0);
	assert_int_equal(nnb_model_reference(m, c, (uint32_t)pool, 0, N * 4), 0);
	act = int_scalar(m, NNB_FUSED_NONE);
	y = float_tensor(m, N);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, c, act }, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	return m;
}

static void constants_of_models(void **state)
{
	struct one_app *f = *state;
	struct nnb_remote *remote;
	struct nnb_pool *constants;
	struct nnb_model *m;
	struct io io;

	assert_int_equal(nnb_pool_new(&constants, N * 4), 0);
	for (uint32_t i = 0; i < N; i++)
		((float *)nnb_pool_data(constants))[i] = (float)i;
	m = model_with_constants(constants);
	remote = app_prepare(f->client, m);
	io_init(&io, N);
	assert_none(nnb_remote_execute(remote, &io.call, NULL, &why));
	for (uint32_t i = 0; i < N; i++)
		assert_true(io.y[i] == io.x[i] + (float)i);
	io_fini(&io);
	nnb_remote_release(remote);
	nnb_model_free(m);
	nnb_pool_free(constants);
}

static void buffers_of_the_device(void **state)
{
	struct one_app *f = *state;
	const struct nnb_buffer_role role = { 0, 0, 1 };
	const struct nnb_buffer_desc desc = { .inputs = &role, .n_inputs = 1 };
	struct nnb_remote_buffer *buffer;
	struct nnb_pool *from, *to;

	assert_none(nnb_remote_buffer_new(&buffer, f->client, &f->remote, 1, &desc, false, &why));
	assert_int_equal(nnb_pool_new(&from, N * 4), 0);
	assert_int_equal(nnb_pool_new(&to, N * 4), 0);
	for (uint32_t i = 0; i < N; i++)
		((float *)nnb_pool_data(from))[i] = (float)i;
	assert_none(nnb_remote_buffer_copy_from(buffer, nnb_pool_memory(from), 0, NULL, &why));
	assert_none(nnb_remote_buffer_copy_to(buffer, nnb_pool_memory(to), &why));
	assert_memory_equal(nnb_pool_data(from), nnb_pool_data(to), N * 4);
	nnb_remote_buffer_free(buffer);
	nnb_pool_free(from);
	nnb_pool_free(to);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		const struct nnb_client_config config = { .socket = argv[3] };
		struct nnb_model *m = vector_model(NNB_ADD, N, 1);
		struct service s = { 0 };
		struct nnb_client *client;

		snprintf(s.socket, sizeof(s.socket), "%s", argv[3]);
		visit_service(&s, m, N);
		must(nnb_client_open(&client, &config, NULL) == 0);
		must(!conduct_of(client).copied && !conduct_of(client).offences);
		nnb_client_close(client);
		scene_report('.');
		scene_stay();
	}
#define TEST(f, up) cmocka_unit_test_setup_teardown(f, up, tear_down)
	const struct CMUnitTest all[] = {
		TEST(an_app_that_tears_again_and_again_is_served_by_copies, set_up),
		TEST(of_an_offender_nothing_more_is_mapped, set_up),
		TEST(another_app_is_not_affected, set_up),
		TEST(pools_that_overlap, set_up),
		TEST(pools_that_overlap, set_up_copied),
		TEST(constants_of_models, set_up),
		TEST(constants_of_models, set_up_copied),
		TEST(buffers_of_the_device, set_up),
		TEST(buffers_of_the_device, set_up_copied),
	};
	return cmocka_run_group_tests_name("service: copies", all, NULL, NULL);
}

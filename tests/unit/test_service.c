/*
 * test_service.c -- the service and its client, in two processes: what the service answers, and what it holds
 * meanwhile.
 *
 * Every test has a service of its own, which holds as much after the test as before it.
 */
#include <dirent.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "service_helpers.h"

enum { N = 64 }; /* floats of a vector: its constant is larger than NNB_COPY_MAX, so it is in a pool */

struct fixture {
	struct service s;
	struct nnb_model *adds;
	struct nnb_client *client;
	const void *row; /* the row of a test that has rows */
};

static int set_up_with(void **state, const char *const *options)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, options);
	f->adds = vector_model(NNB_ADD, N, 1);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, OPTIONS(NULL));
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->s.gate->hold_runs, 0);
	atomic_store(&f->s.gate->hold_prepares, 0);
	f->client = nnb_client_close(f->client);
	nnb_model_free(f->adds);
	if (f->s.pid)
		service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- the service and its clients ---- */

static void the_service_describes_itself(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *other;
	const struct nnb_service_info *info, *of_other;

	f->client = app_open(&f->s);
	other = app_open(&f->s);
	info = nnb_client_info(f->client);
	of_other = nnb_client_info(other);
	assert_int_equal(info->pid, f->s.pid);
	assert_in_range(info->instance, 1, 4095);
	assert_int_equal(of_other->instance, info->instance);
	assert_true(info->connection && info->connection != of_other->connection);
	assert_int_equal(info->app, geteuid() ? (uint32_t)getpid() : 0);
	assert_string_equal(info->driver, "gate");
	assert_string_equal(info->version, "1");
	assert_true(info->capabilities.n_types > 0 && info->capabilities.relaxed.time > 0); /* O-21 */
	assert_true(nnb_client_alive(f->client));
	nnb_client_close(other);
}

static void an_instance_has_another_number_than_the_one_before(void **state)
{
	struct fixture *f = *state;
	uint32_t seen[4];
	bool all_one = true;

	for (size_t i = 0; i < N_OF(seen); i++) {
		f->client = app_open(&f->s);
		seen[i] = nnb_client_info(f->client)->instance;
		f->client = nnb_client_close(f->client);
		assert_int_equal(service_stop(&f->s), 0);
		service_start(&f->s, OPTIONS(NULL));
		all_one &= seen[i] == seen[0];
	}
	assert_false(all_one);
}

/* Connect to the service until its queue of connections is full. */
static void service_crowd(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, r;

	strcpy(at.sun_path, path);
	do {
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		r = connect(fd, (const struct sockaddr *)&at, sizeof(at));
		close(fd);
	} while (!r);
}

static void a_client_that_is_not_accepted_gives_up_in_time(void **state)
{
	struct fixture *f = *state;
	const struct nnb_client_config brief = { .socket = f->s.socket, .timeout_ns = 30 * MS };
	struct nnb_client *client;

	assert_int_equal(kill(f->s.pid, SIGSTOP), 0);
	service_crowd(f->s.socket);
	assert_int_equal(nnb_client_open(&client, &brief, NULL), -ETIMEDOUT);
	assert_int_equal(kill(f->s.pid, SIGCONT), 0);
}

static void a_missing_service_is_an_error_in_words(void **state)
{
	struct fixture *f = *state;
	const struct nnb_client_config nowhere = { .socket = "/nonexistent/socket" }, left = { .socket = f->s.socket };
	struct nnb_client *untouched = (struct nnb_client *)f, *client = untouched;
	struct nnb_reason why = { "" };

	assert_int_equal(nnb_client_open(&client, &nowhere, &why), -ENOENT);
	assert_non_null(strstr(why.text, "/nonexistent/socket"));
	service_kill(&f->s); /* its socket stays */
	why.text[0] = '\0';
	assert_int_equal(nnb_client_open(&client, &left, &why), -ECONNREFUSED);
	assert_non_null(strstr(why.text, f->s.socket));
	assert_ptr_equal(client, untouched);
}

static void the_environment_gives_the_socket(void **state)
{
	struct fixture *f = *state;
	char path[96];

	setenv("NNBURST_SOCKET", f->s.socket, 1);
	assert_int_equal(nnb_client_open(&f->client, NULL, NULL), 0);
	assert_int_equal(nnb_client_info(f->client)->pid, f->s.pid);
	f->client = nnb_client_close(f->client);

	unsetenv("NNBURST_SOCKET");
	snprintf(path, sizeof(path), "%s/nnburst", f->s.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/nnburst/socket", f->s.dir);
	assert_int_equal(symlink(f->s.socket, path), 0);
	setenv("XDG_RUNTIME_DIR", f->s.dir, 1);
	assert_int_equal(nnb_client_open(&f->client, &(struct nnb_client_config){ .name = "an app" }, NULL), 0);
	assert_int_equal(nnb_client_info(f->client)->pid, f->s.pid);
	unsetenv("XDG_RUNTIME_DIR");
}

/* ---- models ---- */

static void support_is_reported_by_operation(void **state)
{
	struct fixture *f = *state;
	bool each[2] = { false, false };

	f->client = app_open(&f->s);
	assert_none(nnb_client_supported(f->client, f->adds, each, &why));
	assert_true(each[0] && each[1]);
	f->adds->operations[1].type = NNB_OEM_OPERATION;
	assert_none(nnb_client_supported(f->client, f->adds, each, &why));
	assert_true(each[0] && !each[1]);
}

/* P-14, P-13 */
static void a_pool_that_cannot_be_mapped_is_unsupported_and_fails_to_prepare(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = NULL;
	bool each[2] = { true, true };

	f->client = app_open(&f->s);
	close(f->adds->pools[0].fds[0]);
	f->adds->pools[0].fds[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_none(nnb_client_supported(f->client, f->adds, each, &why));
	assert_false(each[0] || each[1]);
	assert_int_equal(nnb_remote_prepare(f->client, f->adds, &ordinary, NULL, &remote, NULL),
	                 NNB_STATUS_GENERAL_FAILURE);
	assert_null(remote);
}

static void expect_prepare(struct nnb_client *client, const struct nnb_model *m, const struct nnb_prepare *how,
                           enum nnb_status status, const char *words)
{
	struct nnb_remote *untouched = (struct nnb_remote *)client, *remote = untouched;
	struct nnb_reason why = { "" };

	assert_int_equal(nnb_remote_prepare(client, m, how, NULL, &remote, &why), status);
	assert_ptr_equal(remote, untouched);
	if (!strstr(why.text, words))
		fail_msg("'%s' does not say '%s'", why.text, words);
}

static void an_invalid_model_is_refused_with_the_same_words_as_at_home(void **state)
{
	struct fixture *f = *state;
	struct nnb_device *home = open_device("xnnpack");
	struct nnb_prepared *p = NULL;
	struct nnb_reason at_home = { "" };

	f->client = app_open(&f->s);
	f->adds->operands[f->adds->operations[0].outputs[0]].type = NNB_TENSOR_INT32;
	assert_int_equal(nnb_prepare(home, f->adds, &ordinary, NULL, &p, &at_home), NNB_STATUS_INVALID_ARGUMENT);
	assert_true(at_home.text[0] != '\0');
	expect_prepare(f->client, f->adds, &ordinary, NNB_STATUS_INVALID_ARGUMENT, at_home.text);
	nnb_device_unref(home);
}

/* */
static void an_invalid_preference_or_priority_is_refused(void **state)
{
	struct fixture *f = *state;

	f->client = app_open(&f->s);
	expect_prepare(f->client, f->adds, &(struct nnb_prepare){ .preference = 3 }, NNB_STATUS_INVALID_ARGUMENT, "");
	expect_prepare(f->client, f->adds, &(struct nnb_prepare){ .priority = UINT32_MAX }, NNB_STATUS_INVALID_ARGUMENT,
	               "");
}

static void the_terms_of_a_preparation_are_optional(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct io io;

	f->client = app_open(&f->s);
	io_init(&io, N);
	assert_none(nnb_remote_prepare(f->client, f->adds, NULL, NULL, &remote, &why));
	assert_true(nnb_remote_id(remote) != 0);
	assert_int_equal(nnb_remote_model(remote)->n_operations, 2);
	assert_string_equal(nnb_remote_model(remote)->name, "adds");
	expect_sync(remote, &io, NNB_ADD);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* y = x + the sum of @n_constants vectors of 4, each in @in_pools a pool of its own or in the model. */
static struct nnb_model *long_sum(uint32_t n_constants, bool in_pools)
{
	const float one[4] = { 1, 1, 1, 1 };
	struct nnb_model *m;
	uint32_t x, at, act, c, y;
	struct nnb_memory pool;
	struct nnb_mapping *map;

	assert_int_equal(nnb_model_new(&m, "long sum", NNB_HAL_1_0), 0);
	x = at = float_tensor(m, 4);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < n_constants; i++, at = y) {
		c = float_tensor(m, 4);
		y = float_tensor(m, 4);
		if (in_pools) {
			assert_int_equal(nnb_memory_ashmem(&pool, sizeof(one)), 0);
			assert_int_equal(nnb_map(&map, &pool), 0);
			memcpy(nnb_mapping_data(map), one, sizeof(one));
			nnb_mapping_unref(map);
			assert_int_equal(nnb_model_pool(m, &pool), i);
			nnb_memory_close(&pool);
			assert_int_equal(nnb_model_reference(m, c, i, 0, sizeof(one)), 0);
		} else {
			assert_int_equal(nnb_model_value(m, c, one, sizeof(one)), 0);
		}
		assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ at, c, act }, 3, &y, 1) >= 0);
	}
	assert_int_equal(nnb_model_finish(m, &x, 1, &at, 1), 0);
	return m;
}

static void expect_long_sum(struct nnb_client *client, const struct nnb_model *m, uint32_t sum)
{
	struct nnb_remote *remote = app_prepare(client, m);
	struct nnb_burst *burst = app_burst(remote);
	struct io io;

	io_init(&io, 4);
	for (unsigned by_burst = 0; by_burst < 2; by_burst++) {
		io_refresh(&io, 2);
		if (by_burst)
			assert_none(nnb_burst_execute(burst, &io.call, NULL, &why));
		else
			assert_none(nnb_remote_execute(remote, &io.call, NULL, &why));
		for (uint32_t i = 0; i < 4; i++)
			assert_true(io.y[i] == io.x[i] + (float)sum);
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* The model's body goes in a memfd. */
static void a_model_beyond_64_KiB_arrives_whole(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = long_sum(2000, false);
	uint8_t *wire;
	size_t bytes;

	assert_int_equal(nnb_model_encode(m, &wire, &bytes), 0);
	assert_true(bytes > 64 * 1024);
	free(wire);
	f->client = app_open(&f->s);
	expect_long_sum(f->client, m, 2000);
	nnb_model_free(m);
}

/* The model's fds go in several packets. */
static void a_model_of_many_pools_arrives_whole(void **state)
{
	const uint32_t counts[] = { 252, 253, 254, 300, 600 };
	struct fixture *f = *state;

	f->client = app_open(&f->s);
	for (size_t i = 0; i < N_OF(counts); i++) {
		struct nnb_model *m = long_sum(counts[i], true);

		expect_long_sum(f->client, m, counts[i]);
		nnb_model_free(m);
	}
}

/* The last fd, in a packet behind the first one, is invalid: the message ends in the middle. */
static void a_model_that_cannot_be_sent_whole_spoils_no_other_call(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = long_sum(300, true);
	struct nnb_remote *remote = NULL;
	int was = m->pools[299].fds[0];

	f->client = app_open(&f->s);
	for (int i = 0; i < 3; i++) {
		m->pools[299].fds[0] = closed_fd();
		assert_int_equal(nnb_remote_prepare(f->client, m, NULL, NULL, &remote, NULL),
		                 NNB_STATUS_INVALID_ARGUMENT);
		app_comes_to_hold(f->client, app.models, 0);
		m->pools[299].fds[0] = was;
		remote = app_prepare(f->client, m);
		app_comes_to_hold(f->client, app.pools, 300);
		nnb_remote_release(remote);
	}
	nnb_model_free(m);
}

/* ---- caching (O-22) ---- */

enum { SPOILT_BYTE = 1, CUT = 2, ANOTHERS_TOKEN = 4, TOO_FEW_FILES = 8, RESTARTED = 16, REKEYED = 32 };

static const struct cache_case {
	const char *name;
	unsigned spoil;
	enum nnb_status status;
} cache_cases[] = {
	{ "what was saved is found", 0, NNB_STATUS_NONE },
	{ "what was saved is found by another instance that has the key", RESTARTED, NNB_STATUS_NONE },
	{ "an instance with another key does not believe it", RESTARTED | REKEYED, NNB_STATUS_GENERAL_FAILURE },
	{ "an entry with one bit changed is refused", SPOILT_BYTE, NNB_STATUS_GENERAL_FAILURE },
	{ "an entry that was cut short is refused", CUT, NNB_STATUS_GENERAL_FAILURE },
	{ "an entry of another token is refused", ANOTHERS_TOKEN, NNB_STATUS_GENERAL_FAILURE },
	{ "a wrong number of files is refused", TOO_FEW_FILES, NNB_STATUS_GENERAL_FAILURE },
};

static void restart(struct fixture *f, const char *key)
{
	f->client = nnb_client_close(f->client);
	assert_int_equal(service_stop(&f->s), 0);
	service_start(&f->s, OPTIONS("--cache-key", key));
	f->client = app_open(&f->s);
}

static void spoil(unsigned how, const int files[2], struct nnb_cache *cache)
{
	uint8_t byte;

	if (how & SPOILT_BYTE) {
		assert_int_equal(pread(files[0], &byte, 1, 100), 1);
		byte ^= 1;
		assert_int_equal(pwrite(files[0], &byte, 1, 100), 1);
	}
	if (how & CUT)
		assert_int_equal(ftruncate(files[0], 100), 0);
	if (how & ANOTHERS_TOKEN)
		cache->token[31] ^= 1;
	if (how & TOO_FEW_FILES)
		cache->n_data_files = 0;
}

static void expect_from_cache(struct fixture *f, const struct nnb_cache *cache, enum nnb_status status)
{
	struct nnb_remote *remote = NULL;
	struct nnb_reason why = { "" };
	struct io io;
	enum nnb_status is = nnb_remote_prepare_from_cache(f->client, f->adds, 0, cache, &remote, &why);

	if (is != status)
		fail_msg("%s: %s", nnb_status_name(is), why.text);
	if (status) {
		assert_null(remote);
		assert_true(why.text[0] != '\0');
		return;
	}
	io_init(&io, N);
	expect_sync(remote, &io, NNB_ADD);
	nnb_remote_release(remote);
	io_fini(&io);
}

static void a_cache_entry(void **state)
{
	struct fixture *f = *state;
	const struct cache_case *c = f->row;
	int files[2] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };
	struct nnb_cache cache = { &files[0], &files[1], 1, 1, { 7 } };
	struct nnb_remote *remote;
	char key[2][64];

	for (int i = 0; i < 2; i++)
		snprintf(key[i], sizeof(key[i]), "%s/key%d", f->s.dir, i);
	restart(f, key[0]);
	assert_none(nnb_remote_prepare(f->client, f->adds, &ordinary, &cache, &remote, &why));
	nnb_remote_release(remote);
	if (c->spoil & RESTARTED)
		restart(f, key[c->spoil & REKEYED ? 1 : 0]);
	spoil(c->spoil, files, &cache);
	expect_from_cache(f, &cache, c->status);
	close(files[0]);
	close(files[1]);
}

static void preparing_never_fails_for_the_caches_sake(void **state)
{
	struct fixture *f = *state;
	int files[2] = { open("/dev/full", O_RDWR | O_CLOEXEC), open("/dev/null", O_RDONLY | O_CLOEXEC) };
	struct nnb_cache cache = { &files[0], &files[1], 1, 1, { 7 } };
	struct nnb_remote *remote;

	f->client = app_open(&f->s);
	assert_none(nnb_remote_prepare(f->client, f->adds, &ordinary, &cache, &remote, &why));
	nnb_remote_release(remote);
	cache.n_model_files = 0;
	assert_none(nnb_remote_prepare(f->client, f->adds, &ordinary, &cache, &remote, &why));
	nnb_remote_release(remote);
	close(files[0]);
	close(files[1]);
}

/* ---- pools of every kind, on every path ---- */

static struct nnb_pool *ashmem_pool(void)
{
	struct nnb_pool *pool;

	assert_int_equal(nnb_pool_new(&pool, (uint64_t)N * 8), 0);
	return pool;
}

static struct nnb_pool *pool_and_close(struct nnb_memory *memory)
{
	struct nnb_pool *pool;

	assert_int_equal(nnb_pool_from(&pool, memory), 0);
	nnb_memory_close(memory);
	return pool;
}

/* Behind another page, in a file that any process with the fd could shrink. */
static struct nnb_pool *mmap_fd_pool(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("pool", MFD_CLOEXEC);
	struct nnb_memory memory;

	assert_int_equal(ftruncate(fd, (off_t)(page + (size_t)N * 8)), 0);
	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, (uint64_t)N * 8, PROT_READ | PROT_WRITE, page), 0);
	close(fd);
	return pool_and_close(&memory);
}

static struct nnb_pool *blob_pool(void)
{
	struct nnb_memory memory;

	assert_int_equal(nnb_memory_hardware_buffer_blob(&memory, (uint64_t)N * 8), 0);
	return pool_and_close(&memory);
}

static const struct pool_kind {
	const char *name;
	struct nnb_pool *(*make)(void);
} pool_kinds[] = {
	{ "ashmem", ashmem_pool },
	{ "mmap_fd", mmap_fd_pool },
	{ "hardware_buffer_blob", blob_pool },
};

static void a_pool_is_mapped_for_a_sync_execution_only(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	unsigned maps;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	maps = service_footprint(&f->s).maps;
	for (size_t i = 0; i < N_OF(pool_kinds); i++) {
		struct io io;

		io_init_on(&io, N, pool_kinds[i].make());
		for (unsigned k = 0; k < 3; k++) {
			expect_sync(remote, &io, NNB_ADD);
			assert_true(io.answer.n_shapes == 1 && io.shape.sufficient && io.shape.rank == 1 &&
			            io.shape.dims[0] == N); /* P-31 */
			service_maps(&f->s, maps);
		}
		io_fini(&io);
	}
	assert_int_equal(app_counts(f->client).sync_executions, 3 * N_OF(pool_kinds));
	nnb_remote_release(remote);
}

/* S-9, S-4: the service maps the pool from the first request until the client frees it, and no longer. */
static void a_burst_keeps_a_pool_mapped_until_it_is_freed(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	unsigned maps;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	maps = service_footprint(&f->s).maps;
	for (size_t i = 0; i < N_OF(pool_kinds); i++) {
		struct io io;

		io_init_on(&io, N, pool_kinds[i].make());
		for (unsigned k = 0; k < 3; k++) {
			expect_burst(burst, &io, NNB_ADD);
			service_maps(&f->s, maps + 1);
			app_comes_to_hold(f->client, app.pools, 1 + 1); /* the model's pool, and this one */
		}
		io_fini(&io);
		service_maps(&f->s, maps);
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
}

static void a_plain_burst_maps_anew_each_time(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	unsigned maps, fds;

	assert_int_equal(service_stop(&f->s), 0);
	service_start(&f->s, OPTIONS("--plain-bursts"));
	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	maps = service_footprint(&f->s).maps;
	fds = service_footprint(&f->s).fds;
	for (size_t i = 0; i < N_OF(pool_kinds); i++) {
		struct io io;

		io_init_on(&io, N, pool_kinds[i].make());
		for (unsigned k = 0; k < 3; k++)
			expect_burst(burst, &io, NNB_ADD);
		service_maps(&f->s, maps);
		assert_int_equal(service_footprint(&f->s).fds, fds + 1);
		io_fini(&io);
		assert_int_equal(service_footprint(&f->s).fds, fds);
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
}

/* P-13: an execution fails on both paths if its pool cannot be mapped. */
static void a_pool_that_cannot_be_mapped_is_a_general_failure(void **state)
{
	const struct nnb_hardware_buffer picture = { 8, 8, 1, NNB_FORMAT_R8G8B8X8, 8 }; /* the gate refuses it */
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_memory memory;
	struct io bad, good;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	assert_int_equal(nnb_memory_hardware_buffer(&memory, &picture), 0);
	io_init_on(&bad, 16, pool_and_close(&memory));
	io_init(&good, N);
	bad.in.location = bad.out.location = (struct nnb_location){ 0, 0, 0 }; /* P-18: all of it */
	assert_null(nnb_pool_data(bad.pool));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nnb_remote_execute(remote, &bad.call, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
		assert_int_equal(nnb_burst_execute(burst, &bad.call, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
		expect_burst(burst, &good, NNB_ADD);
	}
	io_fini(&bad);
	io_fini(&good);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
}

/* ---- executing ---- */

/* R-rules hold on every path, with the same status. */
static void a_bad_request_is_an_invalid_argument_on_every_path(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_answer answer = { 0 };
	struct nnb_reason why = { "" };
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	io_init(&io, N);
	io.in.location.length -= 4;
	assert_int_equal(nnb_remote_execute(remote, &io.call, &answer, &why), NNB_STATUS_INVALID_ARGUMENT);
	assert_true(why.text[0] != '\0');
	assert_int_equal(nnb_burst_execute(burst, &io.call, &answer, &why), NNB_STATUS_INVALID_ARGUMENT);
	assert_false(answer.fallback);                         /* B-26 */
	io.in.location = (struct nnb_location){ 1, 0, N * 4 }; /* no such pool */
	assert_int_equal(nnb_remote_execute(remote, &io.call, &answer, &why), NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(nnb_burst_execute(burst, &io.call, &answer, &why), NNB_STATUS_INVALID_ARGUMENT);
	io.call.n_inputs = 0;
	assert_int_equal(nnb_remote_execute(remote, &io.call, &answer, &why), NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(nnb_burst_execute(burst, &io.call, &answer, &why), NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(answer.n_shapes, 0);
	assert_true(answer.timing.in_driver_ns == UINT64_MAX);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* P-31: every path reports the size that a short output would have needed (section 11: shapes are kept). */
static void every_path_reports_the_shape_of_a_short_output(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = relu_model_of_any_extent(1);
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, m);
	burst = app_burst(remote);
	io_init(&io, N);
	io.in.rank = 1;
	io.in.dims[0] = N;
	io.out.location.length -= 4;
	for (unsigned by_burst = 0; by_burst < 2; by_burst++) {
		io.shape = (struct nnb_output_shape){ 0 };
		assert_int_equal(by_burst ? nnb_burst_execute(burst, &io.call, &io.answer, NULL)
		                          : nnb_remote_execute(remote, &io.call, &io.answer, NULL),
		                 NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE);
		assert_true(io.answer.n_shapes == 1 && !io.shape.sufficient && io.shape.rank == 1 &&
		            io.shape.dims[0] == N);
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_model_free(m);
	io_fini(&io);
}

/*
 * the time on the device is part of the time in the driver; without a request for them, there are none.
 */
static void timing_is_reported_on_request(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	io_init(&io, N);
	for (unsigned i = 0; i < 4; i++) {
		io.call.measure = i & 1;
		if (i & 2)
			expect_burst(burst, &io, NNB_ADD);
		else
			expect_sync(remote, &io, NNB_ADD);
		if (i & 1)
			assert_true(io.answer.timing.on_device_ns <= io.answer.timing.in_driver_ns &&
			            io.answer.timing.in_driver_ns != UINT64_MAX);
		else
			assert_true(io.answer.timing.on_device_ns == UINT64_MAX &&
			            io.answer.timing.in_driver_ns == UINT64_MAX);
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* y = x0 + x1 + ... of @n inputs of 4, each in a pool of its own. */
static struct nnb_model *sum_of_inputs(uint32_t n)
{
	uint32_t *in = calloc(n, sizeof(*in)), at, act, y;
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "sum of inputs", NNB_HAL_1_0), 0);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < n; i++)
		in[i] = float_tensor(m, 4);
	at = in[0];
	for (uint32_t i = 1; i < n; i++, at = y) {
		y = float_tensor(m, 4);
		assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ at, in[i], act }, 3, &y, 1) >= 0);
	}
	assert_int_equal(nnb_model_finish(m, in, n, &at, 1), 0);
	free(in);
	return m;
}

enum { MANY_POOLS = 300 };

struct many {
	struct nnb_pool *pools[MANY_POOLS];
	struct nnb_argument in[MANY_POOLS], out;
	struct nnb_call call;
};

static struct many *many_pools(void)
{
	struct many *many = calloc(1, sizeof(*many));

	assert_non_null(many);
	for (uint32_t i = 0; i < MANY_POOLS; i++) {
		float *x;

		assert_int_equal(nnb_pool_new(&many->pools[i], 64), 0);
		x = nnb_pool_data(many->pools[i]);
		for (uint32_t k = 0; k < 4; k++)
			x[k] = (float)(i + k);
		many->in[i].location = (struct nnb_location){ i, 0, 16 };
	}
	many->out.location = (struct nnb_location){ MANY_POOLS - 1, 32, 16 };
	many->call = (struct nnb_call){ .inputs = many->in,
		                        .outputs = &many->out,
		                        .pools = many->pools,
		                        .n_inputs = MANY_POOLS,
		                        .n_outputs = 1,
		                        .n_pools = MANY_POOLS };
	return many;
}

static void expect_many(struct many *many)
{
	float *y = (float *)nnb_pool_data(many->pools[MANY_POOLS - 1]) + 8;

	for (uint32_t k = 0; k < 4; k++) {
		assert_true(y[k] == MANY_POOLS * (MANY_POOLS - 1) / 2 + MANY_POOLS * (float)k);
		y[k] = 0;
	}
}

/* More fds than a packet carries, in a request and in the answer about slots. */
static void a_request_of_many_pools_is_right_on_every_path(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = sum_of_inputs(MANY_POOLS);
	struct nnb_burst_config roomy = { .request_capacity = 4096 };
	struct many *many = many_pools();
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_answer answer = { 0 };

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, m);
	assert_none(nnb_remote_burst(remote, &roomy, &burst, &why));
	assert_none(nnb_remote_execute(remote, &many->call, NULL, &why));
	expect_many(many);
	for (int i = 0; i < 2; i++) {
		assert_none(nnb_burst_execute(burst, &many->call, &answer, &why));
		assert_false(answer.fallback);
		expect_many(many);
	}
	assert_int_equal(app_counts(f->client).slot_lookups, 2 * MANY_POOLS);
	assert_int_equal(app_counts(f->client).slot_misses, MANY_POOLS);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_model_free(m);
	for (uint32_t i = 0; i < MANY_POOLS; i++)
		nnb_pool_free(many->pools[i]);
	free(many);
}

/* ---- asynchronous executions: P-32 ---- */

struct done {
	sem_t told;
	atomic_uint times;
	struct nnb_result result;
	struct nnb_output_shape shape;
};

static void done_init(struct done *d)
{
	*d = (struct done){ .result.status = NNB_STATUS_DEVICE_UNAVAILABLE };
	sem_init(&d->told, 0, 0);
}

static void note(void *arg, const struct nnb_result *result)
{
	struct done *d = arg;

	d->result = *result;
	if (result->n_shapes == 1)
		d->shape = result->shapes[0];
	atomic_fetch_add(&d->times, 1);
	sem_post(&d->told);
}

static void await_done(struct done *d)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)(PATIENCE / (1000 * MS));
	while (sem_timedwait(&d->told, &until))
		if (errno != EINTR)
			fail_msg("done is not called");
	assert_int_equal(atomic_load(&d->times), 1);
}

static void an_asynchronous_execution_is_reported_once(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct done done[8];
	struct io io[8];

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	for (size_t i = 0; i < N_OF(io); i++) {
		io_init(&io[i], N);
		io_refresh(&io[i], (float)i);
		done_init(&done[i]);
		assert_none(nnb_remote_execute_async(remote, &io[i].call, note, &done[i], &why));
	}
	for (size_t i = 0; i < N_OF(io); i++) {
		await_done(&done[i]);
		assert_int_equal(done[i].result.status, NNB_STATUS_NONE);
		assert_true(done[i].shape.sufficient && done[i].shape.dims[0] == N);
		assert_true(io_right(&io[i], NNB_ADD, 1));
		io_fini(&io[i]);
	}
	assert_int_equal(app_counts(f->client).async_executions, N_OF(io));
	nnb_remote_release(remote);
	for (size_t i = 0; i < N_OF(io); i++)
		assert_int_equal(atomic_load(&done[i].times), 1);
}

static void a_bad_asynchronous_execution_is_reported_and_returned(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct done done;
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	io_init(&io, N);
	done_init(&done);
	io.in.location.length = 4;
	assert_int_equal(nnb_remote_execute_async(remote, &io.call, note, &done, NULL), NNB_STATUS_INVALID_ARGUMENT);
	await_done(&done);
	assert_int_equal(done.result.status, NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(done.result.n_shapes, 0);
	nnb_remote_release(remote);
	io_fini(&io);
}

static void asynchronous_executions_do_not_wait_for_each_other(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct done held[3], later;
	struct io io[3], other;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	atomic_store(&f->s.gate->hold_runs, 1);
	for (size_t i = 0; i < N_OF(io); i++) {
		io_init(&io[i], N);
		io_refresh(&io[i], (float)(i + 1));
		done_init(&held[i]);
		assert_none(nnb_remote_execute_async(remote, &io[i].call, note, &held[i], &why));
	}
	await(&f->s.gate->held_runs, N_OF(io));
	app_comes_to_hold(f->client, app.executions_under_way, N_OF(io));
	assert_int_equal(atomic_load(&held[0].times), 0);
	atomic_store(&f->s.gate->hold_runs, 0);
	io_init(&other, N);
	io_refresh(&other, 9);
	done_init(&later);
	assert_none(nnb_remote_execute_async(remote, &other.call, note, &later, &why));
	await_done(&later);
	for (size_t i = 0; i < N_OF(io); i++) {
		await_done(&held[i]);
		assert_true(io_right(&io[i], NNB_ADD, 1));
		io_fini(&io[i]);
	}
	io_fini(&other);
	nnb_remote_release(remote);
}

/* ---- bursts ---- */

/* S-2, S-8, S-9: the service asks for a slot once. */
static void slots_are_warm_after_the_first_request(void **state)
{
	struct fixture *f = *state;
	struct nnb_service_counts counts;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	io_init(&io, N);
	for (int i = 0; i < 10; i++)
		expect_burst(burst, &io, NNB_ADD);
	counts = app_counts(f->client);
	assert_int_equal(counts.burst_requests, 10);
	assert_int_equal(counts.burst_malformed, 0);
	assert_int_equal(counts.slot_lookups, 10);
	assert_int_equal(counts.slot_misses, 1);
	io_fini(&io);
	io_init(&io, N); /* another memory, though the slot's number may be the same: S-6 */
	expect_burst(burst, &io, NNB_ADD);
	assert_int_equal(app_counts(f->client).slot_misses, 2);
	nnb_burst_free(burst);
	assert_int_equal(app_counts(f->client).slot_misses, 2); /* closed bursts are counted, too */
	nnb_remote_release(remote);
	io_fini(&io);
}

/* How many files of queues this process has in which no process can punch holes. */
static unsigned queues_kept(void)
{
	DIR *fds = opendir("/proc/self/fd");
	char to[PATH_MAX];
	struct dirent *e;
	unsigned n = 0;

	assert_non_null(fds);
	while ((e = readdir(fds))) {
		ssize_t length = readlinkat(dirfd(fds), e->d_name, to, sizeof(to) - 1);

		to[length < 0 ? 0 : length] = 0;
		n += strstr(to, "/memfd:nnb-fmq") == to && fcntl(atoi(e->d_name), F_GET_SEALS) & F_SEAL_FUTURE_WRITE;
	}
	closedir(fds);
	return n;
}

/* If the page went away, the service would wait for it with the lane of another app. */
static void a_client_takes_no_page_out_of_its_results(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	assert_int_equal(queues_kept(), 0);
	burst = app_burst(remote);
	assert_int_equal(queues_kept(), 1);
	io_init(&io, N);
	expect_burst(burst, &io, NNB_ADD);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

static void a_pool_is_known_to_each_burst_by_itself(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *multiplies = vector_model(NNB_MUL, N, 1);
	struct nnb_remote *remotes[2];
	struct nnb_burst *bursts[4];
	unsigned maps;
	struct io io;

	f->client = app_open(&f->s);
	remotes[0] = app_prepare(f->client, f->adds);
	remotes[1] = app_prepare(f->client, multiplies);
	for (size_t i = 0; i < N_OF(bursts); i++)
		bursts[i] = app_burst(remotes[i % 2]);
	maps = service_footprint(&f->s).maps;
	io_init(&io, N);
	for (size_t i = 0; i < 12; i++)
		expect_burst(bursts[i % 4], &io, i % 2 ? NNB_MUL : NNB_ADD);
	service_maps(&f->s, maps + 4);
	nnb_burst_free(bursts[3]);
	app_comes_to_hold(f->client, app.bursts, 3);
	io_fini(&io); /* all bursts forget it */
	app_comes_to_hold(f->client, app.pools, 2);
	for (size_t i = 0; i < 3; i++)
		nnb_burst_free(bursts[i]);
	nnb_remote_release(remotes[0]);
	nnb_remote_release(remotes[1]);
	nnb_model_free(multiplies);
}

/* B-2: a burst's life is the hint to the device. */
static void the_device_is_fast_while_there_is_a_burst(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *bursts[3];

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	assert_int_equal(app_counts(f->client).performance_held, 0);
	for (size_t i = 0; i < N_OF(bursts); i++) {
		bursts[i] = app_burst(remote);
		assert_int_equal(app_counts(f->client).performance_held, 1);
		assert_int_equal(atomic_load(&f->s.gate->performance), 1);
	}
	for (size_t i = 0; i < N_OF(bursts); i++) {
		assert_int_equal(app_counts(f->client).performance_held, 1);
		nnb_burst_free(bursts[i]);
	}
	assert_int_equal(app_counts(f->client).performance_held, 0);
	assert_int_equal(atomic_load(&f->s.gate->performance), 0);
	nnb_remote_release(remote);
}

static void closing_a_burst_releases_all_it_held(void **state)
{
	struct fixture *f = *state;
	struct nnb_service_counts before, after;
	struct footprint was, is;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io[5];

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	nnb_burst_free(app_burst(remote)); /* starts the worker that seals queues, which stays as long as the app */
	before = app_counts(f->client);
	was = service_footprint(&f->s);
	burst = app_burst(remote);
	for (size_t i = 0; i < N_OF(io); i++) {
		io_init(&io[i], N);
		expect_burst(burst, &io[i], NNB_ADD);
	}
	nnb_burst_free(burst);
	after = app_counts(f->client);
	is = service_footprint(&f->s);
	assert_int_equal(after.app.pools, before.app.pools);
	assert_int_equal(after.app.bytes, before.app.bytes);
	assert_int_equal(after.app.bursts, 0);
	assert_int_equal(is.fds, was.fds);
	assert_int_equal(is.threads, was.threads);
	assert_int_equal(is.maps, was.maps);
	for (size_t i = 0; i < N_OF(io); i++)
		io_fini(&io[i]);
	nnb_remote_release(remote);
}

/* B-26 */
static void a_packet_that_does_not_fit_goes_the_ordinary_way(void **state)
{
	const struct nnb_burst_config small = { .request_capacity = 4 };
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	assert_none(nnb_remote_burst(remote, &small, &burst, &why));
	io_init(&io, N);
	for (int i = 0; i < 3; i++) {
		io_refresh(&io, 1);
		assert_none(nnb_burst_execute(burst, &io.call, &io.answer, &why));
		assert_true(io.answer.fallback && io_right(&io, NNB_ADD, 1));
	}
	assert_int_equal(app_counts(f->client).burst_requests, 0);
	assert_int_equal(app_counts(f->client).sync_executions, 3);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* B-35 */
static void a_result_that_does_not_fit_is_a_general_failure(void **state)
{
	const struct nnb_burst_config small = { .result_capacity = NNB_RESULT_MIN };
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	assert_none(nnb_remote_burst(remote, &small, &burst, &why));
	io_init(&io, N);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nnb_burst_execute(burst, &io.call, &io.answer, NULL), NNB_STATUS_GENERAL_FAILURE);
		assert_true(!io.answer.fallback && !io.answer.n_shapes);
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* ---- several at once ---- */

struct caller {
	struct nnb_remote *remote;
	struct nnb_burst *burst; /* NULL: the ordinary way */
	uint64_t timeout_ns;
	pthread_t thread;
	struct io io;
	enum nnb_status status;
};

static void *caller_run(void *arg)
{
	struct caller *c = arg;

	c->io.call.timeout_ns = c->timeout_ns;
	c->status = c->burst ? nnb_burst_execute(c->burst, &c->io.call, &c->io.answer, NULL)
	                     : nnb_remote_execute(c->remote, &c->io.call, &c->io.answer, NULL);
	return NULL;
}

static void caller_start(struct caller *c, struct nnb_remote *remote, struct nnb_burst *burst)
{
	c->remote = remote;
	c->burst = burst;
	io_init(&c->io, N);
	io_refresh(&c->io, 4);
	assert_int_equal(pthread_create(&c->thread, NULL, caller_run, c), 0);
}

static enum nnb_status caller_finish(struct caller *c, bool right)
{
	pthread_join(c->thread, NULL);
	if (right)
		assert_true(io_right(&c->io, NNB_ADD, 1));
	io_fini(&c->io);
	return c->status;
}

/* All threads are in the driver at the same time. */
static void threads_of_one_client_are_served_side_by_side(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *bursts[2];
	struct caller callers[5] = { { 0 } };

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	atomic_store(&f->s.gate->hold_runs, 1);
	for (size_t i = 0; i < N_OF(callers); i++) {
		if (i < 2)
			bursts[i] = app_burst(remote);
		caller_start(&callers[i], remote, i < 2 ? bursts[i] : NULL);
	}
	await(&f->s.gate->held_runs, N_OF(callers));
	app_comes_to_hold(f->client, app.bursts, 2); /* other calls go on */
	atomic_store(&f->s.gate->hold_runs, 0);
	for (size_t i = 0; i < N_OF(callers); i++)
		assert_int_equal(caller_finish(&callers[i], true), NNB_STATUS_NONE);
	nnb_burst_free(bursts[0]);
	nnb_burst_free(bursts[1]);
	nnb_remote_release(remote);
}

/* B-28 */
static void a_second_request_on_a_burst_is_refused_at_once(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct caller caller = { 0 };
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	io_init(&io, N);
	atomic_store(&f->s.gate->hold_runs, 1);
	caller_start(&caller, remote, burst);
	await(&f->s.gate->held_runs, 1);
	assert_int_equal(nnb_burst_execute(burst, &io.call, &io.answer, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_false(io.answer.fallback);
	atomic_store(&f->s.gate->hold_runs, 0);
	assert_int_equal(caller_finish(&caller, true), NNB_STATUS_NONE);
	expect_burst(burst, &io, NNB_ADD);
	io_fini(&io);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
}

/*
 * Section 11: freeing memory does not wait for an execution. Here the execution was given up, and keeps its
 * memory until its end.
 */
static void a_pool_freed_under_an_execution_goes_when_that_ends(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct caller caller = { .timeout_ns = 30 * MS };
	uint64_t end = now_ns() + PATIENCE;
	unsigned maps;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	maps = service_footprint(&f->s).maps;
	atomic_store(&f->s.gate->hold_runs, 1);
	caller_start(&caller, remote, burst);
	await(&f->s.gate->held_runs, 1);
	assert_int_equal(caller_finish(&caller, false), NNB_STATUS_GENERAL_FAILURE); /* the caller frees the pool */
	service_maps(&f->s, maps + 1);
	app_comes_to_hold(f->client, app.pools, 2); /* the model's pool, and this one, which is still mapped */
	atomic_store(&f->s.gate->hold_runs, 0);
	app_comes_to_hold(f->client, app.pools, 1);
	while (service_footprint(&f->s).maps != maps && now_ns() < end)
		poll_pause();
	service_maps(&f->s, maps);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
}

struct crowd {
	const struct service *s;
	const struct nnb_model *model;
	enum nnb_op op;
	pthread_t thread;
	unsigned wrong, done;
};

/* A client that connects, prepares, executes by every path, and closes, time after time. */
static void *live_a_life(void *arg)
{
	struct crowd *c = arg;
	const struct nnb_client_config config = { .socket = c->s->socket };

	for (unsigned i = 0; i < 5; i++) {
		struct nnb_client *client;
		struct nnb_remote *remote = NULL;
		struct nnb_burst *burst = NULL;
		struct io io;

		if (nnb_client_open(&client, &config, NULL)) {
			c->wrong++;
			continue;
		}
		io_init(&io, N);
		c->wrong += nnb_remote_prepare(client, c->model, NULL, NULL, &remote, NULL) ||
		            nnb_remote_burst(remote, NULL, &burst, NULL);
		for (unsigned k = 0; burst && k < 20; k++) {
			io_refresh(&io, (float)k);
			c->wrong += (k & 1 ? nnb_burst_execute(burst, &io.call, NULL, NULL)
			                   : nnb_remote_execute(remote, &io.call, NULL, NULL)) != NNB_STATUS_NONE;
			c->wrong += !io_right(&io, c->op, 1);
			c->done++;
		}
		if (i & 1)
			io_fini(&io); /* before the burst, or after it */
		nnb_burst_free(burst);
		nnb_remote_release(remote);
		if (!(i & 1))
			io_fini(&io);
		nnb_client_close(client);
	}
	return NULL;
}

static void clients_come_and_go_side_by_side(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *multiplies = vector_model(NNB_MUL, N, 1);
	struct crowd crowd[6];

	for (size_t i = 0; i < N_OF(crowd); i++) {
		crowd[i] = (struct crowd){ &f->s, i & 1 ? multiplies : f->adds, i & 1 ? NNB_MUL : NNB_ADD };
		assert_int_equal(pthread_create(&crowd[i].thread, NULL, live_a_life, &crowd[i]), 0);
	}
	for (size_t i = 0; i < N_OF(crowd); i++) {
		pthread_join(crowd[i].thread, NULL);
		assert_int_equal(crowd[i].wrong, 0);
		assert_int_equal(crowd[i].done, 100);
	}
	nnb_model_free(multiplies);
}

/* ---- lifetimes ---- */

static void what_a_client_made_outlives_its_closing(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *client = app_open(&f->s);
	struct nnb_remote *remote = app_prepare(client, f->adds);
	struct nnb_burst *burst = app_burst(remote);
	struct io io;

	io_init(&io, N);
	nnb_client_close(client);
	expect_sync(remote, &io, NNB_ADD);
	expect_burst(burst, &io, NNB_ADD);
	nnb_remote_release(remote);
	expect_burst(burst, &io, NNB_ADD);
	io.in.rank = 0;
	nnb_burst_free(burst);
	io_fini(&io);
	service_settles(&f->s);
}

/* ---- timeouts ---- */

static void a_call_that_takes_too_long_is_given_up(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct caller caller = { .timeout_ns = 30 * MS };
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	atomic_store(&f->s.gate->hold_runs, 1);
	caller_start(&caller, remote, NULL);
	assert_int_equal(caller_finish(&caller, false), NNB_STATUS_GENERAL_FAILURE);
	assert_true(nnb_client_alive(f->client));
	atomic_store(&f->s.gate->hold_runs, 0);
	io_init(&io, N);
	for (int i = 0; i < 3; i++)
		expect_sync(remote, &io, NNB_ADD); /* a late answer is not taken for the next call's */
	nnb_remote_release(remote);
	io_fini(&io);
}

static void a_burst_that_was_given_up_falls_back_for_ever(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct caller caller = { .timeout_ns = 30 * MS };
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	atomic_store(&f->s.gate->hold_runs, 1);
	caller_start(&caller, remote, burst);
	assert_int_equal(caller_finish(&caller, false), NNB_STATUS_GENERAL_FAILURE);
	atomic_store(&f->s.gate->hold_runs, 0);
	io_init(&io, N);
	for (int i = 0; i < 3; i++) {
		io_refresh(&io, (float)i);
		assert_none(nnb_burst_execute(burst, &io.call, &io.answer, &why));
		assert_true(io.answer.fallback && io_right(&io, NNB_ADD, 1));
	}
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

static void a_client_has_a_timeout_for_all_else(void **state)
{
	struct fixture *f = *state;
	const struct nnb_client_config config = { .socket = f->s.socket, .timeout_ns = 300 * MS };
	struct nnb_remote *remote = NULL;

	assert_int_equal(nnb_client_open(&f->client, &config, NULL), 0);
	atomic_store(&f->s.gate->hold_prepares, 1);
	assert_int_equal(nnb_remote_prepare(f->client, f->adds, NULL, NULL, &remote, NULL), NNB_STATUS_GENERAL_FAILURE);
	assert_null(remote);
	assert_true(nnb_client_alive(f->client));
	atomic_store(&f->s.gate->hold_prepares, 0);
	/* The driver finishes the model in the end; the service frees it. */
	await(&f->s.gate->held_prepares, 0);
	await(&f->s.gate->prepared, 0);
}

/* ---- limits ---- */

static void expect_status(enum nnb_status is, enum nnb_status status, const struct nnb_reason *why)
{
	if (is != status || !why->text[0])
		fail_msg("%s (%s), and not %s", nnb_status_name(is), why->text, nnb_status_name(status));
}

#define TRANSIENT NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT
#define PERSISTENT NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT

static void connections_are_limited(struct fixture *f)
{
	const struct nnb_client_config config = { .socket = f->s.socket };
	struct nnb_client *clients[2] = { app_open(&f->s), app_open(&f->s) }, *more = NULL;

	for (int i = 0; i < 20; i++) { /* a race: the reason arrives although the service closes the connection */
		struct nnb_reason why = { "" };

		assert_true(nnb_client_open(&more, &config, &why) < 0);
		if (!strstr(why.text, "connections: the app has 2 of 2"))
			fail_msg("'%s' does not say how many", why.text);
	}
	app_comes_to_hold(clients[0], app.connections, 2);
	assert_int_equal(app_counts(clients[0]).limit.connections, 2);
	assert_int_equal(app_counts(clients[0]).refused, 20);
	nnb_client_close(clients[0]);
	nnb_client_close(clients[1]);
	service_settles(&f->s);
	nnb_client_close(app_open(&f->s));
}

/*
 * Two calls are in the driver. The third call of their client waits for one of them; another client waits for
 * nothing.
 */
static void channels_are_limited(struct fixture *f)
{
	struct nnb_client *other = app_open(&f->s);
	struct nnb_service_counts counts;
	struct nnb_remote *remote;
	struct caller callers[3] = { { 0 } };
	struct nnb_reason why = { "" };

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	atomic_store(&f->s.gate->hold_runs, 1);
	caller_start(&callers[0], remote, NULL);
	caller_start(&callers[1], remote, NULL);
	await(&f->s.gate->held_runs, 2);
	caller_start(&callers[2], remote, NULL);
	expect_status(nnb_client_counts(other, &counts, &why), TRANSIENT, &why);
	atomic_store(&f->s.gate->hold_runs, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(caller_finish(&callers[i], true), NNB_STATUS_NONE);
	assert_int_equal(app_counts(f->client).limit.channels, 2);
	nnb_remote_release(remote);
	f->client = nnb_client_close(f->client);
	while (nnb_client_counts(other, &counts, &why)) /* the refused client's channel comes back a little later */
		poll_pause();
	assert_in_range(counts.app.channels, 1, 2);
	nnb_client_close(other);
}

static void models_are_limited(struct fixture *f)
{
	struct nnb_remote *remotes[2], *more = NULL;
	struct nnb_reason why = { "" };

	f->client = app_open(&f->s);
	remotes[0] = app_prepare(f->client, f->adds);
	remotes[1] = app_prepare(f->client, f->adds);
	expect_status(nnb_remote_prepare(f->client, f->adds, NULL, NULL, &more, &why), TRANSIENT, &why);
	app_comes_to_hold(f->client, app.models, 2);
	nnb_remote_release(remotes[0]);
	remotes[0] = app_prepare(f->client, f->adds);
	nnb_remote_release(remotes[0]);
	nnb_remote_release(remotes[1]);
	app_comes_to_hold(f->client, app.models, 0);
	app_comes_to_hold(f->client, app.pools, 0);
	app_comes_to_hold(f->client, app.bytes, 0);
}

struct preparing {
	struct nnb_client *client;
	const struct nnb_model *m;
	struct nnb_remote *remote;
	enum nnb_status status;
};

static void *prepare_beside(void *arg)
{
	struct preparing *p = arg;

	p->status = nnb_remote_prepare(p->client, p->m, NULL, NULL, &p->remote, NULL);
	return NULL;
}

/*
 * One preparation is in the driver. Others of the app wait for it until their deadlines, and do not reach the
 * driver.
 */
static void preparations_are_limited(struct fixture *f)
{
	struct preparing first = { .client = app_open(&f->s), .m = f->adds }, third = { .m = f->adds };
	struct nnb_prepare how = { .preference = 1, .priority = NNB_PRIORITY_MEDIUM };
	struct nnb_remote *second = NULL;
	struct nnb_reason why = { "" };
	pthread_t threads[2];

	f->client = third.client = app_open(&f->s);
	atomic_store(&f->s.gate->hold_prepares, 1);
	assert_int_equal(pthread_create(&threads[0], NULL, prepare_beside, &first), 0);
	await(&f->s.gate->held_prepares, 1);
	how.deadline_ns = now_ns() + 20 * MS;
	expect_status(nnb_remote_prepare(f->client, f->adds, &how, NULL, &second, &why),
	              NNB_STATUS_MISSED_DEADLINE_TRANSIENT, &why);
	assert_null(second);
	assert_int_equal(pthread_create(&threads[1], NULL, prepare_beside, &third), 0);
	atomic_store(&f->s.gate->hold_prepares, 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_int_equal(first.status, NNB_STATUS_NONE);
	assert_int_equal(third.status, NNB_STATUS_NONE);
	nnb_remote_release(first.remote);
	nnb_remote_release(third.remote);
	nnb_client_close(first.client);
}

/* The limit is an app's, not a client's: two clients of one app share it. */
static void bursts_are_limited(struct fixture *f)
{
	struct nnb_client *other = app_open(&f->s);
	struct nnb_remote *remote, *of_other;
	struct nnb_burst *bursts[2], *more = NULL;
	struct nnb_reason why = { "" };
	struct io io;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	of_other = app_prepare(other, f->adds);
	bursts[0] = app_burst(remote);
	bursts[1] = app_burst(of_other);
	expect_status(nnb_remote_burst(remote, NULL, &more, &why), TRANSIENT, &why);
	assert_null(more);
	nnb_burst_free(bursts[1]);
	bursts[1] = app_burst(remote);
	io_init(&io, N);
	expect_burst(bursts[1], &io, NNB_ADD);
	nnb_burst_free(bursts[0]);
	nnb_burst_free(bursts[1]);
	nnb_remote_release(remote);
	nnb_remote_release(of_other);
	nnb_client_close(other);
	io_fini(&io);
}

/* The model has one pool, so two are left for requests. */
static void pools_are_limited(struct fixture *f)
{
	struct nnb_remote *remote, *many;
	struct nnb_model *sum = sum_of_inputs(MANY_POOLS);
	struct many *call = many_pools();
	struct nnb_burst *burst;
	struct nnb_reason why = { "" };
	struct io io[3];

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	for (int i = 0; i < 3; i++)
		io_init(&io[i], N);
	expect_burst(burst, &io[0], NNB_ADD);
	expect_burst(burst, &io[1], NNB_ADD);
	assert_int_equal(nnb_burst_execute(burst, &io[2].call, &io[2].answer, NULL), TRANSIENT);
	assert_false(io[2].answer.fallback);
	expect_status(nnb_remote_execute(remote, &io[2].call, NULL, &why), TRANSIENT, &why);
	expect_burst(burst, &io[0], NNB_ADD); /* the pools that the app has stay */
	io_fini(&io[0]);
	expect_sync(remote, &io[2], NNB_ADD);
	expect_burst(burst, &io[2], NNB_ADD);
	many = app_prepare(f->client, sum);
	why.text[0] = '\0';
	expect_status(nnb_remote_execute(many, &call->call, NULL, &why), PERSISTENT, &why); /* the request can
	                                                                                     * never fit */
	nnb_remote_release(many);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io[1]);
	io_fini(&io[2]);
	app_comes_to_hold(f->client, app.pools, 0);
	nnb_model_free(sum);
	for (uint32_t i = 0; i < MANY_POOLS; i++)
		nnb_pool_free(call->pools[i]);
	free(call);
}

static void a_model_of_too_many_pools_never_fits(struct fixture *f)
{
	struct nnb_model *m = long_sum(MANY_POOLS, true);
	struct nnb_remote *remote = NULL;
	struct nnb_reason why = { "" };

	f->client = app_open(&f->s);
	for (int i = 0; i < 3; i++) {
		expect_status(nnb_remote_prepare(f->client, m, NULL, NULL, &remote, &why), PERSISTENT, &why);
		app_comes_to_hold(f->client, app.pools, 0);
	}
	assert_null(remote);
	nnb_model_free(m);
	remote = app_prepare(f->client, f->adds);
	nnb_remote_release(remote);
}

static void asynchronous_executions_are_limited(struct fixture *f)
{
	struct nnb_remote *remote;
	struct nnb_reason refused = { "" };
	struct done done[3];
	struct io io[3];

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	atomic_store(&f->s.gate->hold_runs, 1);
	for (int i = 0; i < 3; i++) {
		io_init(&io[i], N);
		io_refresh(&io[i], 1);
		done_init(&done[i]);
	}
	assert_none(nnb_remote_execute_async(remote, &io[0].call, note, &done[0], &why));
	assert_none(nnb_remote_execute_async(remote, &io[1].call, note, &done[1], &why));
	expect_status(nnb_remote_execute_async(remote, &io[2].call, note, &done[2], &refused), TRANSIENT, &refused);
	await_done(&done[2]); /* P-32 */
	assert_int_equal(done[2].result.status, TRANSIENT);
	atomic_store(&f->s.gate->hold_runs, 0);
	await_done(&done[0]);
	await_done(&done[1]);
	assert_int_equal(done[0].result.status, NNB_STATUS_NONE);
	app_comes_to_hold(f->client, app.executions_under_way, 0);
	done_init(&done[2]);
	assert_none(nnb_remote_execute_async(remote, &io[2].call, note, &done[2], &why));
	await_done(&done[2]);
	for (int i = 0; i < 3; i++) {
		assert_true(io_right(&io[i], NNB_ADD, 1));
		io_fini(&io[i]);
	}
	nnb_remote_release(remote);
}

enum { BYTES = 256 * 1024 };

static void bytes_are_limited(struct fixture *f)
{
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_reason why = { "" };
	struct nnb_pool *large;
	struct io small, half, too_large;

	f->client = app_open(&f->s);
	remote = app_prepare(f->client, f->adds);
	burst = app_burst(remote);
	io_init(&small, N);
	assert_int_equal(nnb_pool_new(&large, BYTES * 3 / 4), 0);
	io_init_on(&half, N, large);
	assert_int_equal(nnb_pool_new(&large, BYTES + 1), 0);
	io_init_on(&too_large, N, large);
	expect_burst(burst, &half, NNB_ADD);
	expect_burst(burst, &small, NNB_ADD);
	assert_in_range(app_counts(f->client).app.bytes, BYTES * 3 / 4, BYTES);
	expect_status(nnb_remote_execute(remote, &half.call, NULL, &why), TRANSIENT, &why);
	why.text[0] = '\0';
	expect_status(nnb_remote_execute(remote, &too_large.call, NULL, &why), PERSISTENT, &why);
	assert_int_equal(nnb_burst_execute(burst, &too_large.call, NULL, NULL), PERSISTENT);
	expect_burst(burst, &half, NNB_ADD);
	nnb_burst_free(burst);
	expect_sync(remote, &half, NNB_ADD);
	nnb_remote_release(remote);
	app_comes_to_hold(f->client, app.bytes, 0);
	io_fini(&small);
	io_fini(&half);
	io_fini(&too_large);
}

/* A message takes memory, too, also one whose fds come in packets behind it. */
static void a_message_beyond_the_bytes_is_refused_and_the_next_call_is_right(struct fixture *f)
{
	struct nnb_model *m[2] = { long_sum(5000, false), long_sum(1500, true) };
	struct nnb_remote *remote = NULL;
	struct io io;

	f->client = app_open(&f->s);
	io_init(&io, N);
	for (int i = 0; i < 6; i++) {
		struct nnb_reason why = { "" };
		enum nnb_status is = nnb_remote_prepare(f->client, m[i % 2], NULL, NULL, &remote, &why);

		if (is != TRANSIENT && is != PERSISTENT)
			fail_msg("%s: %s", nnb_status_name(is), why.text);
		app_comes_to_hold(f->client, app.bytes, 0);
		remote = app_prepare(f->client, f->adds);
		expect_sync(remote, &io, NNB_ADD);
		nnb_remote_release(remote);
	}
	nnb_model_free(m[0]);
	nnb_model_free(m[1]);
	io_fini(&io);
}

static const struct limited {
	const char *name, *option;
	void (*run)(struct fixture *);
} limited[] = {
	{ "connections", "connections=2", connections_are_limited },
	{ "channels", "channels=2", channels_are_limited },
	{ "models", "models=2", models_are_limited },
	{ "bursts", "bursts=2", bursts_are_limited },
	{ "pools of requests", "pools=3", pools_are_limited },
	{ "pools of models", "pools=299", a_model_of_too_many_pools_never_fits },
	{ "preparations", "preparations=1", preparations_are_limited },
	{ "asynchronous executions", "async=2", asynchronous_executions_are_limited },
	{ "bytes", "bytes=262144", bytes_are_limited },
	{ "bytes of messages", "bytes=65536", a_message_beyond_the_bytes_is_refused_and_the_next_call_is_right },
};

static int set_up_limited(void **state)
{
	const struct limited *row = *state;

	return set_up_with(state, OPTIONS("--limit", row->option));
}

static void an_app_has_so_many(void **state)
{
	struct fixture *f = *state;
	const struct limited *row = f->row;

	row->run(f);
}

/* ---- all ---- */

#define TEST(function, words) add_test(function, set_up, tear_down, NULL, words)

static void add_first_tests(void)
{
	TEST(the_service_describes_itself, "the service describes itself");
	TEST(an_instance_has_another_number_than_the_one_before, "an instance has another number than the one before");
	TEST(a_client_that_is_not_accepted_gives_up_in_time, "a client that is not accepted gives up in time");
	TEST(a_missing_service_is_an_error_in_words, "a missing service is an error in words");
	TEST(the_environment_gives_the_socket, "the environment gives the socket");
	TEST(support_is_reported_by_operation, "support is reported by operation");
	TEST(a_pool_that_cannot_be_mapped_is_unsupported_and_fails_to_prepare,
	     "P-14, P-13: a constant's pool that cannot be mapped is unsupported, and fails to prepare");
	TEST(an_invalid_model_is_refused_with_the_same_words_as_at_home,
	     "an invalid model is refused with the same words as at home");
	TEST(an_invalid_preference_or_priority_is_refused, "Q-40: a preference or priority that is none is refused");
	TEST(the_terms_of_a_preparation_are_optional, "the terms of a preparation are optional");
	TEST(a_model_beyond_64_KiB_arrives_whole, "a model beyond 64 KiB arrives whole");
	TEST(a_model_of_many_pools_arrives_whole, "a model of many pools arrives whole");
	TEST(a_model_that_cannot_be_sent_whole_spoils_no_other_call,
	     "a model that cannot be sent whole spoils no other call");
	for (size_t i = 0; i < N_OF(cache_cases); i++)
		add_test(a_cache_entry, set_up, tear_down, (void *)&cache_cases[i], "O-22: %s", cache_cases[i].name);
	TEST(preparing_never_fails_for_the_caches_sake, "O-22: preparing never fails for the cache's sake");
}

static void add_execution_tests(void)
{
	TEST(a_pool_is_mapped_for_a_sync_execution_only, "a pool of any kind is mapped for a sync execution only");
	TEST(a_burst_keeps_a_pool_mapped_until_it_is_freed,
	     "S-4, S-9: a burst keeps a pool of any kind mapped until it is freed");
	TEST(a_plain_burst_maps_anew_each_time, "B-31: a plain burst maps anew each time");
	TEST(a_pool_that_cannot_be_mapped_is_a_general_failure,
	     "P-13: a request's pool that cannot be mapped is a general failure");
	TEST(a_bad_request_is_an_invalid_argument_on_every_path,
	     "S-12, B-26: a bad request is an invalid argument on every path");
	TEST(every_path_reports_the_shape_of_a_short_output, "P-31: a short output is told its shape on every path");
	TEST(timing_is_reported_on_request, "Q-38: timing is told if asked for");
	TEST(a_request_of_many_pools_is_right_on_every_path, "a request of 300 pools is right on every path");
	TEST(an_asynchronous_execution_is_reported_once, "P-32: an asynchronous execution is told once");
	TEST(a_bad_asynchronous_execution_is_reported_and_returned,
	     "P-32: a bad asynchronous execution is told, and returned");
	TEST(asynchronous_executions_do_not_wait_for_each_other, "asynchronous executions do not wait for each other");
}

static void add_burst_tests(void)
{
	TEST(slots_are_warm_after_the_first_request, "S-8: slots are warm after the first request");
	TEST(a_client_takes_no_page_out_of_its_results, "a client takes no page out of its results");
	TEST(a_pool_is_known_to_each_burst_by_itself, "a pool is known to each burst by itself");
	TEST(the_device_is_fast_while_there_is_a_burst, "B-2: the device is fast while there is a burst");
	TEST(closing_a_burst_releases_all_it_held, "S-14: closing a burst releases all it held");
	TEST(a_packet_that_does_not_fit_goes_the_ordinary_way,
	     "B-26: a packet that does not fit goes the ordinary way");
	TEST(a_result_that_does_not_fit_is_a_general_failure, "B-35: a result that does not fit is a general failure");
	TEST(threads_of_one_client_are_served_side_by_side, "threads of one client are served side by side");
	TEST(a_second_request_on_a_burst_is_refused_at_once, "B-28: a second request on a burst is refused at once");
	TEST(a_pool_freed_under_an_execution_goes_when_that_ends,
	     "a pool freed under an execution goes when that ends");
	TEST(clients_come_and_go_side_by_side, "clients come and go side by side");
	TEST(what_a_client_made_outlives_its_closing, "what a client made outlives its closing");
	TEST(a_call_that_takes_too_long_is_given_up, "a call that takes too long is given up");
	TEST(a_burst_that_was_given_up_falls_back_for_ever, "a burst that was given up falls back for ever");
	TEST(a_client_has_a_timeout_for_all_else, "a client has a timeout for all else");
}

int main(void)
{
	add_first_tests();
	add_execution_tests();
	add_burst_tests();
	for (size_t i = 0; i < N_OF(limited); i++)
		add_test(an_app_has_so_many, set_up_limited, tear_down, (void *)&limited[i], "an app's limit: %s",
		         limited[i].name);
	return _cmocka_run_group_tests("service", tests, n_tests, NULL, NULL);
}

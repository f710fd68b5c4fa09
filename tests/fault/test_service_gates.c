/*
 * test_service_gates.c -- apps whose files' locks are held, beside others. An app that holds no lock is never refused,
 * however busy the machine is; one that does makes the others wait for one call, and the service stops in time.
 *
 * Apps are users here: for root only. With NNB_SOAK_SECONDS, the number of calls is that of a long test.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault/lock_holder.h"
#include "service_helpers.h"

enum {
	N = 1 << 10,
	BURNERS = 2,
	BURNERS_LONG = 6,
	CALLS = 200, /* with new pools */
	CALLS_LONG = 4000,
	BUFFER_MIB = 32,
	BUFFER_MIB_LONG = 512,
	STOP_MS = 2000,
	UIDS = 65000
};

static const char *where;

static bool is_long(void)
{
	return getenv("NNB_SOAK_SECONDS");
}

static struct nnb_client *opened(void)
{
	struct nnb_client *client;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = where }, NULL) == 0);
	return client;
}

static struct nnb_remote *ready(struct nnb_client *client, const struct nnb_model *m)
{
	struct nnb_remote *remote;

	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	return remote;
}

static void burns(void)
{
	scene_report('.');
	for (volatile unsigned i = 0;; i++)
		;
}

/* Memory of the device comes and goes: the service's memory map is locked for long, and no file is the reason. */
static void takes_buffers(void)
{
	struct nnb_client *client = opened();
	struct nnb_remote *remote = ready(client, vector_model_of_any_length());
	const struct nnb_buffer_role role = { 0, 0, 1.0f };
	const struct nnb_buffer_desc desc = { .rank = 1,
		                              .dims = { (uint32_t)(is_long() ? BUFFER_MIB_LONG : BUFFER_MIB) << 18 },
		                              .inputs = &role,
		                              .n_inputs = 1 };

	scene_report('.');
	for (;;) {
		struct nnb_remote_buffer *buffer;

		must(nnb_remote_buffer_new(&buffer, client, &remote, 1, &desc, false, NULL) == NNB_STATUS_NONE);
		nnb_remote_buffer_free(buffer);
	}
}

static struct nnb_pool *pool_in(int fd)
{
	struct nnb_memory memory;
	struct nnb_pool *pool;

	must(nnb_memory_mmap_fd(&memory, fd, N * sizeof(float) * 2, PROT_READ | PROT_WRITE, 0) == 0);
	must(nnb_pool_from(&pool, &memory) == 0);
	nnb_memory_close(&memory);
	return pool;
}

static void begins(void)
{
	scene_report('.');
}

static void holds_the_lock_of_its_file(void)
{
	lock_hold_soon(ready(opened(), vector_model(NNB_ADD, N, 1)), N, begins, NULL);
}

static const struct scene {
	const char *name;
	void (*goes)(void);
} scenes[] = {
	{ "burns", burns },
	{ "takes buffers", takes_buffers },
	{ "holds the lock of its file", holds_the_lock_of_its_file },
};

static int set_up(void **state)
{
	struct one_app *f;

	if (geteuid())
		skip();
	f = calloc(1, sizeof(*f));
	assert_non_null(f);
	service_init(&f->s);
	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid", "--subuid", "none", "--lanes", "1"));
	one_app_open(f, N);
	*state = f;
	return 0;
}

static void scene_start(struct child *c, const struct one_app *f, const char *name, unsigned user)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", UIDS + user);
	child_start(c, name, &f->s, text);
	assert_int_equal(child_read(c), '.');
}

/* Make calls, each with a new pool, alternately one that can be cut and one that is sealed. Returns the longest, ns. */
static uint64_t calls_go_well(struct one_app *f, unsigned n)
{
	uint64_t longest = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t began = now_ns();
		struct nnb_reason why = { "" };
		enum nnb_status status;
		struct io io;
		int fd = -1;

		if (i % 2) {
			fd = memfd_create("pool", MFD_CLOEXEC);
			must(fd >= 0 && ftruncate(fd, N * sizeof(float) * 2) == 0);
			io_init_on(&io, N, pool_in(fd));
			close(fd);
		} else {
			io_init(&io, N);
		}
		io_refresh(&io, (float)i);
		status = nnb_remote_execute(f->remote, &io.call, NULL, &why);
		if (status)
			fail_msg("call %u: %s: %s", i, nnb_status_name(status), why.text);
		io_fini(&io);
		began = now_ns() - began;
		longest = began > longest ? began : longest;
	}
	return longest;
}

static void who_holds_no_lock_is_never_refused(void **state)
{
	static const char *const names[] = { "takes buffers", "holds the lock of its file" };
	struct child burners[BURNERS_LONG], others[N_OF(names)];
	unsigned calls = is_long() ? CALLS_LONG : CALLS, n = is_long() ? BURNERS_LONG : BURNERS;
	struct one_app *f = *state;
	uint64_t began, longest;

	for (unsigned i = 0; i < N_OF(names); i++)
		scene_start(&others[i], f, names[i], 2 + i);
	for (unsigned i = 0; i < n; i++)
		scene_start(&burners[i], f, "burns", 1);
	began = now_ns();
	longest = calls_go_well(f, calls);
	began = now_ns() - began;
	print_message("%u calls with new pools: %.0f per second, longest %.1f ms\n", calls,
	              calls / ((double)began / 1e9), (double)longest / 1e6);
	for (unsigned i = 0; i < N_OF(names); i++)
		child_kill(&others[i]);
	for (unsigned i = 0; i < n; i++)
		child_kill(&burners[i]);
	app_comes_to_hold(f->client, all.connections, 1);
}

/* The service, with an attack under way, stops in time, and another one starts on its socket. */
static void the_service_stops_in_time(void **state)
{
	struct one_app *f = *state;
	struct child attackers[2];
	uint64_t began;

	for (unsigned i = 0; i < N_OF(attackers); i++)
		scene_start(&attackers[i], f, "holds the lock of its file", 2);
	calls_go_well(f, CALLS / 4);
	began = now_ns();
	assert_int_equal(service_stop(&f->s), 0);
	began = now_ns() - began;
	print_message("stopped in %.0f ms\n", (double)began / 1e6);
	for (unsigned i = 0; i < N_OF(attackers); i++)
		child_kill(&attackers[i]);
}

/* The service has ended. */
static int tear_down(void **state)
{
	struct one_app *f = *state;

	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	nnb_model_free(f->adds);
	io_fini(&f->io);
	service_fini(&f->s);
	free(f);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		where = argv[3];
		become_user((uid_t)atoi(argv[4]));
		for (size_t i = 0; i < N_OF(scenes); i++)
			if (!strcmp(argv[2], scenes[i].name))
				scenes[i].goes();
		return 1;
	}
#define TEST(f) add_test(f, set_up, one_app_tear_down, NULL, "%s", #f)
	add_test(the_service_stops_in_time, set_up, tear_down, NULL, "%s", "the_service_stops_in_time");
	TEST(who_holds_no_lock_is_never_refused);
	return _cmocka_run_group_tests("service: locks of files", tests, n_tests, NULL, NULL);
}

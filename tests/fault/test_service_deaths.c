/*
 * test_service_deaths.c -- kill -9 of either side at every step: the other side goes on, and holds nothing of
 * the dead.
 *
 * Steps in which a well-behaved client cannot stop are in test_service_hostile.c.
 */
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "nnb/fence.h"
#include "service_helpers.h"

enum { N = 64 };

struct fixture {
	struct service s;
	struct nnb_model *adds;
	const void *row;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, OPTIONS("--limit", "preparations=1"));
	f->adds = vector_model(NNB_ADD, N, 1);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nnb_model_free(f->adds);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- clients that die ---- */

/* In a child: the objects that the steps use. */
struct doomed {
	struct nnb_client *client;
	struct nnb_model *model;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io[3];
};

static void ignore_outcome(void *arg, const struct nnb_result *result)
{
	(void)arg;
	(void)result;
}

static void doom_open(struct doomed *d, const char *socket_path)
{
	must(nnb_client_open(&d->client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
}

static void doom_prepare(struct doomed *d, const char *socket_path)
{
	doom_open(d, socket_path);
	d->model = vector_model(NNB_ADD, N, 1);
	must(nnb_remote_prepare(d->client, d->model, NULL, NULL, &d->remote, NULL) == NNB_STATUS_NONE);
}

static void doom_burst(struct doomed *d, const char *socket_path)
{
	doom_prepare(d, socket_path);
	must(nnb_remote_burst(d->remote, NULL, &d->burst, NULL) == NNB_STATUS_NONE);
	for (size_t i = 0; i < N_OF(d->io); i++)
		io_init(&d->io[i], N);
}

/* From now on executions are held; not earlier, because preparing executes some. */
static void hold_runs(void)
{
	int fd = open(getenv("NNB_GATE"), O_RDWR | O_CLOEXEC);
	struct gate *gate = mmap(NULL, sizeof(*gate), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	must(gate != MAP_FAILED);
	atomic_store(&gate->hold_runs, 1);
	munmap(gate, sizeof(*gate));
	close(fd);
}

static void connected(const char *socket_path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strcpy(at.sun_path, socket_path);
	must(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	scene_report('.');
}

static void introduced(const char *socket_path)
{
	struct doomed d;

	doom_open(&d, socket_path);
	scene_report('.');
}

static void counted(const char *socket_path)
{
	struct nnb_service_counts counts;
	struct doomed d;

	doom_open(&d, socket_path);
	must(nnb_client_counts(d.client, &counts, NULL) == NNB_STATUS_NONE);
	scene_report('.');
}

static void preparing(const char *socket_path)
{
	struct nnb_remote *remote;
	struct doomed d;

	doom_open(&d, socket_path);
	d.model = vector_model(NNB_ADD, N, 1);
	scene_report('.');
	nnb_remote_prepare(d.client, d.model, NULL, NULL, &remote, NULL);
}

static void *prepare_beside(void *arg)
{
	struct nnb_remote *remote;
	struct doomed *d = arg;

	nnb_remote_prepare(d->client, d->model, NULL, NULL, &remote, NULL);
	return NULL;
}

static void preparing_two(const char *socket_path)
{
	static struct doomed d;
	pthread_t threads[2];

	doom_open(&d, socket_path);
	d.model = vector_model(NNB_ADD, N, 1);
	for (int i = 0; i < 2; i++)
		must(pthread_create(&threads[i], NULL, prepare_beside, &d) == 0);
	scene_report('.');
	pthread_join(threads[0], NULL);
}

static void prepared_some(const char *socket_path)
{
	struct doomed d;

	for (int i = 0; i < 3; i++)
		doom_prepare(&d, socket_path);
	scene_report('.');
}

static void has_a_cold_burst(const char *socket_path)
{
	struct doomed d;

	doom_burst(&d, socket_path);
	scene_report('.');
}

static void has_a_warm_burst(const char *socket_path)
{
	struct doomed d;

	doom_burst(&d, socket_path);
	for (int i = 0; i < 9; i++)
		must(nnb_burst_execute(d.burst, &d.io[i % 3].call, NULL, NULL) == NNB_STATUS_NONE);
	scene_report('.');
}

static void executing_sync(const char *socket_path)
{
	struct doomed d;

	doom_burst(&d, socket_path);
	hold_runs();
	scene_report('.');
	nnb_remote_execute(d.remote, &d.io[0].call, NULL, NULL);
}

static void executing_async(const char *socket_path)
{
	struct doomed d;

	doom_burst(&d, socket_path);
	hold_runs();
	for (int i = 0; i < 3; i++)
		must(nnb_remote_execute_async(d.remote, &d.io[i].call, ignore_outcome, NULL, NULL) == NNB_STATUS_NONE);
	scene_report('.');
}

static void launch_fenced(struct doomed *d, int i, int fence)
{
	const struct nnb_fenced_how how = { .wait_for = &fence, .n_wait_for = fence >= 0 };
	struct nnb_fenced *fenced;
	int signalled;

	must(nnb_remote_execute_fenced(d->remote, &d->io[i].call, &how, &fenced, &signalled, NULL) == NNB_STATUS_NONE);
	nnb_fenced_free(fenced);
	close(signalled);
}

static void behind_a_fence(const char *socket_path)
{
	struct doomed d;
	int fence;

	doom_burst(&d, socket_path);
	must(nnb_fence_new(&fence) == 0);
	for (int i = 0; i < 3; i++)
		launch_fenced(&d, i, fence);
	scene_report('.');
}

static void executing_fenced(const char *socket_path)
{
	struct doomed d;

	doom_burst(&d, socket_path);
	hold_runs();
	launch_fenced(&d, 0, -1);
	scene_report('.');
}

static void executing_by_burst(const char *socket_path)
{
	struct doomed d;

	doom_burst(&d, socket_path);
	hold_runs();
	scene_report('.');
	nnb_burst_execute(d.burst, &d.io[0].call, NULL, NULL);
}

/* Copy into a buffer and out of it, and free the buffer. */
static void go_through_a_buffer(struct doomed *d)
{
	static const struct nnb_buffer_role first = { 0, 0, 1 };
	const struct nnb_buffer_desc desc = { .inputs = &first, .outputs = &first, .n_inputs = 1, .n_outputs = 1 };
	struct nnb_remote_buffer *b;
	struct nnb_pool *pools[2] = { d->io[0].pool };
	struct nnb_argument kept;
	struct nnb_call call = d->io[0].call;

	must(nnb_remote_buffer_new(&b, d->client, &d->remote, 1, &desc, false, NULL) == NNB_STATUS_NONE);
	pools[1] = nnb_remote_buffer_pool(b);
	kept = nnb_remote_buffer_argument(b, 1);
	call.pools = pools;
	call.n_pools = 2;
	call.outputs = &kept;
	must(nnb_burst_execute(d->burst, &call, NULL, NULL) == NNB_STATUS_NONE);
	call.outputs = d->io[0].call.outputs;
	call.inputs = &kept;
	must(nnb_remote_execute(d->remote, &call, NULL, NULL) == NNB_STATUS_NONE);
	nnb_remote_buffer_free(b);
}

/* A child that does everything as fast as possible, so that it dies at a random step. */
static void client_busy(const char *socket_path)
{
	struct doomed d;

	scene_report('.');
	for (;;) {
		doom_burst(&d, socket_path);
		for (int i = 0; i < 9; i++) {
			must(nnb_burst_execute(d.burst, &d.io[i % 3].call, NULL, NULL) == NNB_STATUS_NONE);
			must(nnb_remote_execute(d.remote, &d.io[i % 3].call, NULL, NULL) == NNB_STATUS_NONE);
			must(!nnb_remote_execute_async(d.remote, &d.io[i % 3].call, ignore_outcome, NULL, NULL));
			launch_fenced(&d, i % 3, -1);
			go_through_a_buffer(&d);
		}
		for (int i = 0; i < 3; i++)
			io_fini(&d.io[i]);
		nnb_burst_free(d.burst);
		nnb_remote_release(d.remote);
		nnb_client_close(d.client);
		nnb_model_free(d.model);
	}
}

static const struct step {
	const char *name;
	void (*go)(const char *socket_path);
	unsigned runs, prepares; /* how many of the child's runs and preparations are held when it dies */
} steps[] = {
	{ "connected", connected },
	{ "introduced", introduced },
	{ "with a channel", counted },
	{ "preparing a model", preparing, .prepares = 1 },
	{ "preparing two models, of which one waits for the other", preparing_two, .prepares = 1 },
	{ "with models", prepared_some },
	{ "with a cold burst", has_a_cold_burst },
	{ "with a warm burst", has_a_warm_burst },
	{ "in a sync execution", executing_sync, .runs = 1 },
	{ "in asynchronous executions", executing_async, .runs = 3 },
	{ "in a burst's execution", executing_by_burst, .runs = 1 },
	{ "behind a fence", behind_a_fence },
	{ "in a fenced execution", executing_fenced, .runs = 1 },
};

static void play(const char *name, const char *socket_path)
{
	if (!strcmp(name, "busy"))
		client_busy(socket_path);
	for (size_t i = 0; i < N_OF(steps); i++)
		if (!strcmp(name, steps[i].name))
			steps[i].go(socket_path);
	scene_stay();
}

/* Others are served meanwhile; afterwards the service holds what it held at first. */
static void a_client_dies(void **state)
{
	struct fixture *f = *state;
	const struct step *step = f->row;

	for (int i = 0; i < 5; i++) {
		struct child c;

		atomic_store(&f->s.gate->hold_prepares, step->prepares);
		child_start(&c, step->name, &f->s, "");
		assert_int_equal(child_read(&c), '.');
		await(&f->s.gate->held_runs, step->runs);
		await(&f->s.gate->held_prepares, step->prepares);
		child_kill(&c);
		if (i == 4) { /* the last time: the service serves others before the dead client's run has ended */
			struct nnb_client *client = app_open(&f->s);

			assert_int_equal(app_counts(client).app.bursts > 1, 0);
			nnb_client_close(client);
		}
		atomic_store(&f->s.gate->hold_runs, 0);
		atomic_store(&f->s.gate->hold_prepares, 0);
		service_settles(&f->s);
		visit_service(&f->s, f->adds, N);
	}
	service_settles(&f->s);
}

static void clients_die_at_random_steps(void **state)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");
	struct fixture *f = *state;
	uint64_t end = now_ns() + (soak ? (uint64_t)atoi(soak) * 1000 / 2 : 500) * MS, seed = 17;

	for (unsigned deaths = 0; deaths < 20 || now_ns() < end; deaths++) {
		struct child c;

		child_start(&c, "busy", &f->s, "");
		assert_int_equal(child_read(&c), '.');
		nanosleep(&(struct timespec){ .tv_nsec = (long)(next_random(&seed) % (20 * MS)) }, NULL);
		child_kill(&c);
		visit_service(&f->s, f->adds, N);
	}
	service_settles(&f->s);
}

/* ---- a service that dies ---- */

struct done {
	sem_t told;
	atomic_uint times;
	enum nnb_status status;
};

static void note(void *arg, const struct nnb_result *result)
{
	struct done *d = arg;

	d->status = result->status;
	atomic_fetch_add(&d->times, 1);
	sem_post(&d->told);
}

/* Everything that a client can wait for, each on a thread of its own. */
struct waiter {
	enum { SYNC, BURST, PREPARE } what;
	struct nnb_client *client;
	const struct nnb_model *model;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	pthread_t thread;
	struct io io;
	enum nnb_status status;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	struct nnb_remote *remote = NULL;

	switch (w->what) {
	case SYNC:
		w->status = nnb_remote_execute(w->remote, &w->io.call, &w->io.answer, NULL);
		break;
	case BURST:
		w->status = nnb_burst_execute(w->burst, &w->io.call, &w->io.answer, NULL);
		break;
	default:
		w->status = nnb_remote_prepare(w->client, w->model, NULL, NULL, &remote, NULL);
	}
	return NULL;
}

static void waiter_init(struct waiter *w, unsigned what, struct nnb_client *client, const struct nnb_model *model)
{
	*w = (struct waiter){ .what = what, .client = client, .model = model };
	w->remote = app_prepare(client, model);
	w->burst = what == BURST ? app_burst(w->remote) : NULL;
	io_init(&w->io, N);
}

static void start_all(struct fixture *f, struct waiter *w, size_t n)
{
	atomic_store(&f->s.gate->hold_runs, 1);
	atomic_store(&f->s.gate->hold_prepares, 1);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pthread_create(&w[i].thread, NULL, wait_for_it, &w[i]), 0);
	await(&f->s.gate->held_prepares, 1);
	await(&f->s.gate->held_runs, 2);
}

/* B-33, B-26: every waiting caller gets an answer; later requests take the ordinary path, which is dead too. */
static void no_call_waits_for_a_dead_service(void **state)
{
	struct fixture *f = *state;
	struct waiter w[3];
	struct nnb_client *client = app_open(&f->s);
	struct nnb_remote *remote = NULL;
	struct nnb_burst *burst = NULL;
	struct nnb_service_counts counts;

	for (unsigned i = 0; i < 3; i++)
		waiter_init(&w[i], i, client, f->adds);
	start_all(f, w, 3);
	service_kill(&f->s);
	for (int i = 0; i < 3; i++)
		pthread_join(w[i].thread, NULL);
	while (nnb_client_alive(client))
		poll_pause();
	assert_int_equal(w[SYNC].status, NNB_STATUS_DEAD_OBJECT);
	assert_int_equal(w[BURST].status, NNB_STATUS_GENERAL_FAILURE);
	assert_false(w[BURST].io.answer.fallback);
	assert_int_equal(w[PREPARE].status, NNB_STATUS_DEAD_OBJECT);
	assert_int_equal(nnb_burst_execute(w[BURST].burst, &w[BURST].io.call, &w[BURST].io.answer, NULL),
	                 NNB_STATUS_DEAD_OBJECT);
	assert_true(w[BURST].io.answer.fallback);
	assert_int_equal(nnb_client_counts(client, &counts, NULL), NNB_STATUS_DEAD_OBJECT);
	assert_int_equal(nnb_remote_prepare(client, f->adds, NULL, NULL, &remote, NULL), NNB_STATUS_DEAD_OBJECT);
	assert_int_equal(nnb_remote_burst(w[SYNC].remote, NULL, &burst, NULL), NNB_STATUS_DEAD_OBJECT);
	assert_true(!remote && !burst);
	for (int i = 0; i < 3; i++) {
		io_fini(&w[i].io); /* freeing works in any order, and does not wait */
		nnb_burst_free(w[i].burst);
		nnb_remote_release(w[i].remote);
	}
	nnb_client_close(client);
}

/* P-32 */
static void asynchronous_executions_of_a_dead_service_are_called_back_once(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *client = app_open(&f->s);
	struct nnb_remote *remote = app_prepare(client, f->adds);
	struct nnb_reason why = { "" };
	struct done done[4] = { 0 };
	struct io io[4];

	atomic_store(&f->s.gate->hold_runs, 1);
	for (int i = 0; i < 4; i++) {
		io_init(&io[i], N);
		sem_init(&done[i].told, 0, 0);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(nnb_remote_execute_async(remote, &io[i].call, note, &done[i], &why), NNB_STATUS_NONE);
	await(&f->s.gate->held_runs, 3);
	service_kill(&f->s);
	for (int i = 0; i < 3; i++) {
		while (sem_wait(&done[i].told))
			;
		assert_int_equal(done[i].status, NNB_STATUS_DEAD_OBJECT);
	}
	assert_int_equal(nnb_remote_execute_async(remote, &io[3].call, note, &done[3], &why), NNB_STATUS_DEAD_OBJECT);
	nnb_remote_release(remote);
	nnb_client_close(client);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(atomic_load(&done[i].times), 1);
		io_fini(&io[i]);
	}
}

struct load {
	const char *socket_path;
	const struct nnb_model *model;
	pthread_t thread;
	atomic_uint lives;
	atomic_bool enough;
	unsigned wrong;
};

/* Executes by burst and by call until the service is dead; then starts over. */
static void *execute_until_the_service_dies(void *arg)
{
	struct load *l = arg;
	const struct nnb_client_config config = { .socket = l->socket_path };

	while (!atomic_load(&l->enough)) {
		struct nnb_client *client;
		struct nnb_remote *remote = NULL;
		struct nnb_burst *burst = NULL;
		enum nnb_status status;
		struct io io;

		if (nnb_client_open(&client, &config, NULL)) {
			poll_pause();
			continue;
		}
		io_init(&io, N);
		status = nnb_remote_prepare(client, l->model, NULL, NULL, &remote, NULL);
		if (!status)
			status = nnb_remote_burst(remote, NULL, &burst, NULL);
		for (unsigned i = 0; !status && !atomic_load(&l->enough); i++) {
			io_refresh(&io, (float)(i % 100));
			status = i % 2 ? nnb_burst_execute(burst, &io.call, NULL, NULL)
			               : nnb_remote_execute(remote, &io.call, NULL, NULL);
			if (!status && !io_right(&io, NNB_ADD, 1))
				l->wrong++;
			atomic_fetch_add(&l->lives, 1);
		}
		if (status && status != NNB_STATUS_DEAD_OBJECT && status != NNB_STATUS_GENERAL_FAILURE)
			l->wrong++;
		nnb_burst_free(burst);
		nnb_remote_release(remote);
		nnb_client_close(client);
		io_fini(&io);
	}
	return NULL;
}

static void a_service_dies_at_random_steps(void **state)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");
	struct fixture *f = *state;
	uint64_t end = now_ns() + (soak ? (uint64_t)atoi(soak) * 1000 / 2 : 500) * MS, seed = 23;
	struct load loads[3] = { 0 };

	for (size_t i = 0; i < N_OF(loads); i++) {
		loads[i].socket_path = f->s.socket;
		loads[i].model = f->adds;
		assert_int_equal(pthread_create(&loads[i].thread, NULL, execute_until_the_service_dies, &loads[i]), 0);
	}
	for (unsigned deaths = 0; deaths < 10 || now_ns() < end; deaths++) {
		unsigned was = atomic_load(&loads[0].lives);

		while (atomic_load(&loads[0].lives) < was + 20)
			poll_pause();
		nanosleep(&(struct timespec){ .tv_nsec = (long)(next_random(&seed) % (5 * MS)) }, NULL);
		service_kill(&f->s);
		service_start(&f->s, OPTIONS(NULL));
	}
	for (size_t i = 0; i < N_OF(loads); i++)
		atomic_store(&loads[i].enough, true);
	for (size_t i = 0; i < N_OF(loads); i++) {
		pthread_join(loads[i].thread, NULL);
		assert_int_equal(loads[i].wrong, 0);
	}
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		play(argv[2], argv[3]);
		return 1;
	}
	for (size_t i = 0; i < N_OF(steps); i++)
		add_test(a_client_dies, set_up, tear_down, (void *)&steps[i], "a client dies %s", steps[i].name);
	add_test(clients_die_at_random_steps, set_up, tear_down, NULL, "clients die at random steps");
	add_test(no_call_waits_for_a_dead_service, set_up, tear_down, NULL,
	         "B-33, B-26: no call waits for a dead service");
	add_test(asynchronous_executions_of_a_dead_service_are_called_back_once, set_up, tear_down, NULL,
	         "P-32: asynchronous executions of a dead service are called back once");
	add_test(a_service_dies_at_random_steps, set_up, tear_down, NULL, "a service dies at random steps");
	return _cmocka_run_group_tests("service: deaths", tests, n_tests, NULL, NULL);
}

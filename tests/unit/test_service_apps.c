/*
 * test_service_apps.c -- the reports of a service about its rules, a model's times and the lane time of each
 * app; and which users get them.
 *
 * Apps are processes, or users where only root can report on them.
 */
#include <grp.h>

#include "nnb/service.h"
#include "service_helpers.h"

enum { N = 64 };

struct fixture {
	struct service s;
	const void *row;
	struct nnb_client *client;
	struct nnb_model *adds;
};

static int set_up_with(void **state, const char *const *options)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, options);
	f->client = app_open(&f->s);
	f->adds = vector_model(NNB_ADD, N, 1);
	*state = f;
	return 0;
}

static int by_pid(void **state)
{
	return set_up_with(state, OPTIONS("--app-identity", "pid"));
}

static int by_uid(void **state)
{
	return set_up_with(state, OPTIONS("--app-identity", "uid"));
}

static int by_pid_on_one_lane(void **state)
{
	return set_up_with(state, OPTIONS("--app-identity", "pid", "--lanes", "1"));
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nnb_client_close(f->client);
	nnb_model_free(f->adds);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- rules ---- */

static const struct rules_case {
	const char *name;
	const char *options[9];
	uint32_t policy, preempt, deadlines, lanes; /* lanes 0: one a cpu */
} rules_cases[] = {
	{ "fair", { "--policy", "fair" }, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, NNB_DEADLINES_ABORT, 16 },
	{ "priority", { "--policy", "priority" }, NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE, NNB_DEADLINES_ABORT, 16 },
	{ "fifo on one lane",
	  { "--policy", "fifo", "--lanes", "1" },
	  NNB_POLICY_FIFO,
	  NNB_PREEMPT_SAVE,
	  NNB_DEADLINES_ABORT,
	  1 },
	{ "edf that refuses",
	  { "--policy", "edf", "--deadline", "refuse", "--preempt", "none", "--lanes", "64" },
	  NNB_POLICY_EDF,
	  NNB_PREEMPT_NONE,
	  NNB_DEADLINES_REFUSE,
	  64 },
	{ "fair that advises and restarts",
	  { "--deadline", "advise", "--preempt", "restart" },
	  NNB_POLICY_FAIR,
	  NNB_PREEMPT_RESTART,
	  NNB_DEADLINES_ADVISE,
	  16 },
};

static int by_rules(void **state)
{
	const struct rules_case *c = *state;

	return set_up_with(state, c->options);
}

static void the_service_reports_its_rules(void **state)
{
	struct fixture *f = *state;
	const struct rules_case *c = f->row;
	const struct nnb_service_info *info = nnb_client_info(f->client);

	assert_int_equal(info->policy, c->policy);
	assert_int_equal(info->preempt, c->preempt);
	assert_int_equal(info->deadlines, c->deadlines);
	assert_int_equal(info->lanes, c->lanes);
}

/* ---- times ---- */

static void expect_times(struct nnb_remote *remote)
{
	struct nnb_times t;

	assert_none(nnb_remote_times(remote, &t, &why));
	assert_true(t.floor_ns > 0 && t.floor_ns <= t.estimate_ns);
	assert_true(t.step_ns > 0);
}

/*
 * The times are known at prepare, so that the service can judge the first deadline; also for a model from the
 * cache.
 */
static void a_models_times_are_known_when_it_is_prepared(void **state)
{
	struct fixture *f = *state;
	int files[2] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };
	const struct nnb_cache cache = { &files[0], &files[1], 1, 1, { 7 } };
	struct nnb_remote *remote;
	struct io io;

	assert_none(nnb_remote_prepare(f->client, f->adds, NULL, &cache, &remote, &why));
	expect_times(remote);
	io_init(&io, N);
	for (int i = 0; i < 20; i++)
		expect_sync(remote, &io, NNB_ADD);
	expect_times(remote);
	nnb_remote_release(remote);
	assert_none(nnb_remote_prepare_from_cache(f->client, f->adds, 0, &cache, &remote, &why));
	expect_times(remote);
	nnb_remote_release(remote);
	io_fini(&io);
	close(files[0]);
	close(files[1]);
}

/* ---- counts ---- */

/* The row of @app; NULL if the table has no row of @app. */
static const struct nnb_app_counts *row_of(const struct nnb_app_counts *rows, uint32_t n, uint32_t app)
{
	for (uint32_t i = 0; i < n; i++)
		if (rows[i].app == app)
			return &rows[i];
	return NULL;
}

static struct nnb_app_counts own_counts(struct nnb_client *client)
{
	struct nnb_app_counts rows[4];
	const struct nnb_app_counts *own;
	uint32_t n;

	assert_none(nnb_client_apps(client, rows, N_OF(rows), &n, &why));
	own = row_of(rows, n, nnb_client_info(client)->app);
	assert_non_null(own);
	return *own;
}

struct told {
	atomic_uint times;
	enum nnb_status status;
};

static void note(void *arg, const struct nnb_result *result)
{
	struct told *t = arg;

	t->status = result->status;
	atomic_fetch_add(&t->times, 1);
}

static void executions_of_every_path_are_counted(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = app_prepare(f->client, f->adds);
	struct nnb_burst *burst = app_burst(remote);
	uint64_t before = own_counts(f->client).executions;
	struct told told = { 0 };
	struct io io;

	io_init(&io, N);
	for (int i = 0; i < 5; i++) {
		expect_sync(remote, &io, NNB_ADD);
		expect_burst(burst, &io, NNB_ADD);
		expect_burst(burst, &io, NNB_ADD);
		assert_none(nnb_remote_execute_async(remote, &io.call, note, &told, &why));
		await(&told.times, (unsigned)i + 1);
	}
	assert_int_equal(own_counts(f->client).executions - before, 20);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

/* the miss comes as a result; the launch does not fail. */
static void missed_deadlines_are_counted_on_every_path(void **state)
{
	struct fixture *f = *state;
	struct nnb_remote *remote = app_prepare(f->client, f->adds);
	struct nnb_burst *burst = app_burst(remote);
	struct told told = { 0 };
	struct io io;

	io_init(&io, N);
	io.call.terms.deadline_ns = 1;
	assert_int_equal(nnb_remote_execute(remote, &io.call, NULL, NULL), NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	assert_int_equal(nnb_burst_execute(burst, &io.call, NULL, NULL), NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	assert_none(nnb_remote_execute_async(remote, &io.call, note, &told, &why));
	await(&told.times, 1);
	assert_int_equal(told.status, NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	assert_int_equal(own_counts(f->client).missed_persistent, 3);
	assert_int_equal(own_counts(f->client).missed_transient, 0);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	io_fini(&io);
}

static void counts_need_not_fit_the_room_there_is(void **state)
{
	struct fixture *f = *state;
	struct nnb_app_counts rows[2] = { { .app = 77 }, { .app = 77 } };
	struct child c;
	uint32_t n = 0;

	child_start(&c, "executes", &f->s, "");
	assert_int_equal(child_read(&c), '.');
	assert_none(nnb_client_apps(f->client, NULL, 0, &n, &why));
	assert_int_equal(n, 2);
	assert_none(nnb_client_apps(f->client, rows, 1, &n, &why));
	assert_int_equal(n, 2);
	assert_true(rows[0].app != 77 && rows[1].app == 77);
	child_kill(&c);
}

/* ---- one account for all an app does ---- */

enum { WIDE = 1 << 20, EXECUTE = 6, PREPARE = 6, MEASURED_MS = 600, MEASURES = 10 };

struct busy {
	const char *socket;
	atomic_bool over;
	_Atomic uint64_t executed, wrong;
	pthread_t threads[EXECUTE];
};

/* Several such threads together always have an execution that waits or runs. */
static void *execute_until_over(void *arg)
{
	struct busy *b = arg;
	struct nnb_model *m = vector_model(NNB_ADD, WIDE, 1);
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct io io;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = b->socket }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	io_init(&io, WIDE);
	while (!atomic_load(&b->over)) {
		if (nnb_remote_execute(remote, &io.call, NULL, NULL))
			atomic_fetch_add(&b->wrong, 1);
		atomic_fetch_add(&b->executed, 1);
	}
	nnb_remote_release(remote);
	nnb_client_close(client);
	io_fini(&io);
	nnb_model_free(m);
	return NULL;
}

static void *prepare_until_over(void *arg)
{
	struct busy *b = arg;
	struct nnb_model *m = vector_model(NNB_ADD, WIDE, 1);
	struct nnb_client *client;
	struct nnb_remote *remote;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = b->socket }, NULL) == 0);
	while (!atomic_load(&b->over)) {
		must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
		nnb_remote_release(remote);
	}
	nnb_client_close(client);
	nnb_model_free(m);
	return NULL;
}

static void execute_beside(struct busy *b, const char *socket_path)
{
	b->socket = socket_path;
	for (size_t i = 0; i < N_OF(b->threads); i++)
		must(pthread_create(&b->threads[i], NULL, execute_until_over, b) == 0);
}

static void stop_executing(struct busy *b)
{
	atomic_store(&b->over, true);
	for (size_t i = 0; i < N_OF(b->threads); i++)
		pthread_join(b->threads[i], NULL);
}

/* An app that executes and prepares, until it is killed. */
static void execute_and_prepare(const char *socket_path)
{
	static struct busy b;
	pthread_t thread;

	execute_beside(&b, socket_path);
	for (int i = 0; i < PREPARE; i++)
		must(pthread_create(&thread, NULL, prepare_until_over, &b) == 0);
	scene_report('.');
	scene_stay();
}

/* The part of the lane that this process gets, of all the time that passes. */
static double part_of_lane(struct nnb_client *client, struct busy *b)
{
	struct nnb_app_counts before, after;
	uint64_t began;

	while (!atomic_load(&b->executed))
		poll_pause();
	before = own_counts(client);
	began = now_ns();
	usleep(MEASURED_MS * 1000);
	after = own_counts(client);
	return (double)(after.received_ns - before.received_ns) / (double)(now_ns() - began);
}

/*
 * Two apps want the one lane all the time: each gets half of it, although one of them also prepares models.
 * Where the machine is busy, this process may not ask for it for a while; if preparing had a share of its
 * own, this process would never get more than a third.
 */
static void an_app_that_prepares_has_no_second_share(void **state)
{
	struct fixture *f = *state;
	struct nnb_app_counts rows[4];
	struct busy b = { 0 };
	struct child c;
	double part = 0;
	uint32_t n;

	child_start(&c, "executes and prepares", &f->s, "");
	assert_int_equal(child_read(&c), '.');
	execute_beside(&b, f->s.socket);
	for (int i = 0; i < MEASURES && part <= 0.42; i++)
		part = part_of_lane(f->client, &b);
	assert_none(nnb_client_apps(f->client, rows, N_OF(rows), &n, &why));
	child_kill(&c);
	stop_executing(&b);
	print_message("it has %.1f %% of the lane\n", 100 * part);
	assert_true(part > 0.42);
	assert_int_equal(atomic_load(&b.wrong), 0);
}

/* ---- which apps a user sees ---- */

/* An app that executes once, and writes how many apps the service shows it. */
static void execute_and_count(const char *socket_path)
{
	struct nnb_app_counts rows[4];
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct io io;
	uint32_t n;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	io_init(&io, N);
	must(nnb_remote_execute(remote, &io.call, NULL, NULL) == NNB_STATUS_NONE);
	must(nnb_client_apps(client, rows, N_OF(rows), &n, NULL) == NNB_STATUS_NONE);
	must(row_of(rows, n, nnb_client_info(client)->app) != NULL);
	scene_report(n == 1 ? '1' : '.');
	scene_stay();
}

static void become_another_user(void)
{
	must(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
}

/* The service's own user sees every app. */
static void the_service_s_user_sees_every_app(void **state)
{
	struct fixture *f = *state;
	struct nnb_app_counts rows[4];
	const struct nnb_app_counts *other;
	struct child c;
	uint32_t n;

	child_start(&c, "executes", &f->s, "");
	assert_int_equal(child_read(&c), '.');
	assert_none(nnb_client_apps(f->client, rows, N_OF(rows), &n, &why));
	assert_int_equal(n, 2);
	other = row_of(rows, n, (uint32_t)c.pid);
	assert_non_null(other);
	assert_int_equal(other->executions, 1);
	assert_int_equal(row_of(rows, n, (uint32_t)getpid())->executions, 0);
	child_kill(&c);
}

static void another_user_sees_itself_only(void **state)
{
	struct fixture *f = *state;
	struct nnb_app_counts rows[4];
	struct child c;
	uint32_t n;

	if (geteuid())
		skip();
	service_admit_other_users(&f->s);
	child_start(&c, "executes as another user", &f->s, "");
	assert_int_equal(child_read(&c), '1');
	assert_none(nnb_client_apps(f->client, rows, N_OF(rows), &n, &why));
	assert_int_equal(n, 2);
	assert_int_equal(row_of(rows, n, 65534)->executions, 1);
	child_kill(&c);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		if (!strcmp(argv[2], "executes as another user"))
			become_another_user();
		if (!strcmp(argv[2], "executes and prepares"))
			execute_and_prepare(argv[3]);
		execute_and_count(argv[3]);
	}
	for (size_t i = 0; i < N_OF(rules_cases); i++)
		add_test(the_service_reports_its_rules, by_rules, tear_down, (void *)&rules_cases[i],
		         "the service reports its rules: %s", rules_cases[i].name);
#define TEST(f, set_up) add_test(f, set_up, tear_down, NULL, "%s", #f)
	TEST(a_models_times_are_known_when_it_is_prepared, by_pid);
	TEST(executions_of_every_path_are_counted, by_pid);
	TEST(missed_deadlines_are_counted_on_every_path, by_pid);
	TEST(counts_need_not_fit_the_room_there_is, by_pid);
	TEST(an_app_that_prepares_has_no_second_share, by_pid_on_one_lane);
	TEST(the_service_s_user_sees_every_app, by_pid);
	TEST(another_user_sees_itself_only, by_uid);
	return _cmocka_run_group_tests("service: what it tells of apps", tests, n_tests, NULL, NULL);
}

/*
 * test_service_cancel.c -- operations that take hours, on the only lane: they end with their app, at their
 * deadline and at the end of their trial run, and can leave the lane in the middle.
 */
#include <poll.h>
#include <semaphore.h>
#include <signal.h>

#include "base.h"
#include "fault/hostile_models.h"
#include "service_helpers.h"

enum { SIDE = 2048, FILTER = 1024, CHANNELS = 4, N = 64, TRIES = 5, TIMES = 60, RUNS = 5, CACHE_FILES = 300 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { PATIENT = 20, ADDS = 10000 };
#else
enum { PATIENT = 1, ADDS = 150000 };
#endif

enum { KILLS = 5, QUIET_US = 20000 };

/* A model of one MAX_POOL_2D: a million outputs, each of a window of a million cells. */
static struct nnb_model *endless_model(void)
{
	const uint32_t out_side = SIDE - FILTER + 1;
	struct nnb_operand o = {
		.type = NNB_TENSOR_QUANT8_ASYMM, .rank = 4, .dims = { 1, SIDE, SIDE, CHANNELS }, .scale = 1
	};
	uint32_t in[7], out;
	struct nnb_model *m;

	must(nnb_model_new(&m, "endless", NNB_HAL_1_0) == 0);
	in[0] = operand(m, &o);
	in[1] = int_scalar(m, NNB_PADDING_VALID);
	in[2] = in[3] = int_scalar(m, 1);
	in[4] = in[5] = int_scalar(m, FILTER);
	in[6] = int_scalar(m, NNB_FUSED_NONE);
	o.dims[1] = o.dims[2] = out_side;
	out = operand(m, &o);
	must(nnb_model_operation(m, NNB_MAX_POOL_2D, in, 7, &out, 1) >= 0);
	must(nnb_model_finish(m, in, 1, &out, 1) == 0);
	return m;
}

/* A model of one CONV_2D, which XNNPACK computes in about 50 ms if @side is 40. */
static struct nnb_model *long_model(uint32_t side)
{
	enum { LONG_CHANNELS = 256, WEIGHTS = LONG_CHANNELS * 9 * LONG_CHANNELS };
	static float values[WEIGHTS];
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .rank = 4, .dims = { 1, side, side, LONG_CHANNELS } };
	struct nnb_operand weights = { .type = NNB_TENSOR_FLOAT32,
		                       .rank = 4,
		                       .dims = { LONG_CHANNELS, 3, 3, LONG_CHANNELS } };
	uint32_t in[7], out;
	struct nnb_model *m;

	must(nnb_model_new(&m, "long", NNB_HAL_1_0) == 0);
	in[0] = operand(m, &o);
	in[1] = operand(m, &weights);
	for (uint32_t i = 0; i < WEIGHTS; i++)
		values[i] = (float)(i % 31) / 32 - 0.5f;
	must(nnb_model_value(m, in[1], values, sizeof(values)) == 0);
	in[2] = float_tensor(m, LONG_CHANNELS);
	must(nnb_model_value(m, in[2], values, LONG_CHANNELS * sizeof(float)) == 0);
	in[3] = int_scalar(m, NNB_PADDING_VALID);
	in[4] = in[5] = int_scalar(m, 1);
	in[6] = int_scalar(m, NNB_FUSED_NONE);
	o.dims[1] = o.dims[2] = side - 2;
	out = operand(m, &o);
	must(nnb_model_operation(m, NNB_CONV_2D, in, 7, &out, 1) >= 0);
	must(nnb_model_finish(m, in, 1, &out, 1) == 0);
	return m;
}

struct endless {
	struct nnb_pool *pool;
	struct nnb_argument in, out;
	struct nnb_call call;
};

static void call_init(struct endless *e, const struct nnb_model *m)
{
	const struct nnb_operand *o[2] = { &m->operands[m->inputs[0]], &m->operands[m->outputs[0]] };
	uint64_t in_bytes, out_bytes;
	uint32_t in, out;

	must(nnb_operand_bytes(o[0]->type, o[0]->rank, o[0]->dims, &in_bytes) == 0);
	must(nnb_operand_bytes(o[1]->type, o[1]->rank, o[1]->dims, &out_bytes) == 0);
	in = (uint32_t)in_bytes;
	out = (uint32_t)out_bytes;
	must(nnb_pool_new(&e->pool, (uint64_t)in + out) == 0);
	e->in = (struct nnb_argument){ .location = { 0, 0, in } };
	e->out = (struct nnb_argument){ .location = { 0, in, out } };
	e->call = (struct nnb_call){
		.inputs = &e->in, .outputs = &e->out, .pools = &e->pool, .n_inputs = 1, .n_outputs = 1, .n_pools = 1
	};
}

static int set_up_with(void **state, const char *policy)
{
	struct one_app *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	service_start(&f->s,
	              OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", policy, "--limit", "work=1000000s"));
	one_app_open(f, N);
	*state = f;
	return 0;
}

static int fair(void **state)
{
	return set_up_with(state, "fair");
}

static int by_priority(void **state)
{
	return set_up_with(state, "priority");
}

static int by_deadline(void **state)
{
	return set_up_with(state, "edf");
}

static int fifo(void **state)
{
	return set_up_with(state, "fifo");
}

/* ---- the app ---- */

/* Prepares the model, reports that, and executes it. */
static void executes_endlessly(const char *socket_path)
{
	struct nnb_model *m = endless_model();
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct endless e;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	call_init(&e, m);
	scene_report('.');
	nnb_remote_execute(remote, &e.call, NULL, NULL);
	scene_report('!'); /* the scene must be killed before this line */
	scene_stay();
}

/* The counts of @app, as @client reads them. */
static struct nnb_app_counts counts_of(struct nnb_client *client, uint32_t app)
{
	struct nnb_app_counts rows[4];
	uint32_t n;

	must(nnb_client_apps(client, rows, N_OF(rows), &n, NULL) == NNB_STATUS_NONE);
	for (uint32_t i = 0; i < n; i++)
		if (rows[i].app == app)
			return rows[i];
	return (struct nnb_app_counts){ .app = app };
}

static void ignore(void *arg, const struct nnb_result *result)
{
	(void)arg;
	(void)result;
}

/*
 * Prepares the endless model, and executes it three times, with an earlier deadline each time: in an hour, in
 * half an hour, in 20 minutes.
 */
static void executes_thrice(const char *socket_path)
{
	struct nnb_model *m = endless_model();
	struct nnb_client *client;
	struct nnb_app_counts is;
	struct nnb_remote *remote;
	struct endless e[3];

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	for (uint64_t i = 0; i < 3; i++) {
		call_init(&e[i], m);
		e[i].call.terms.deadline_ns = now_ns() + 3600000 * MS / (i + 1);
		must(nnb_remote_execute_async(remote, &e[i].call, ignore, NULL, NULL) == NNB_STATUS_NONE);
		do { /* until the execution has replaced the one before on the lane */
			poll_pause();
			is = counts_of(client, (uint32_t)getpid());
		} while (!is.executions || is.preemptions < i || is.waiting != i);
	}
	scene_report('.');
	scene_stay();
}

/*
 * Executes a model of one long operation with low priority, first alone, and reports that. Then repeats it, and
 * reports whether the output differs.
 */
static void executes_for_long(const char *socket_path)
{
	const struct nnb_prepare low = { .preference = 1, .priority = NNB_PRIORITY_LOW };
	struct nnb_model *m = long_model(40);
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct endless e;
	float *in, *out, *alone;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, &low, NULL, &remote, NULL) == NNB_STATUS_NONE);
	call_init(&e, m);
	in = nnb_pool_data(e.pool);
	out = in + e.in.location.length / sizeof(float);
	for (uint32_t i = 0; i < e.in.location.length / sizeof(float); i++)
		in[i] = (float)(i % 251) / 64 - 2;
	alone = malloc(e.out.location.length);
	must(alone && nnb_remote_execute(remote, &e.call, NULL, NULL) == NNB_STATUS_NONE);
	memcpy(alone, out, e.out.location.length);
	scene_report('.');
	for (;;) {
		memset(out, 0, e.out.location.length);
		if (nnb_remote_execute(remote, &e.call, NULL, NULL) || memcmp(out, alone, e.out.location.length))
			scene_report('x');
	}
}

/* @app must get the only lane, with @waiting more executions that wait for it. */
static void await_lane(struct one_app *f, const struct child *app, uint32_t waiting)
{
	struct nnb_app_counts is = { 0 };

	for (uint64_t until = now_ns() + PATIENCE; !is.executions || is.waiting != waiting;) {
		assert_true(now_ns() < until);
		poll_pause();
		is = counts_of(f->client, (uint32_t)app->pid);
	}
}

static void has_the_lane(struct one_app *f, struct child *app)
{
	child_start(app, "executes endlessly", &f->s, "");
	assert_int_equal(child_read(app), '.');
	await_lane(f, app, 0);
}

/* A model that takes some hundred ms to prepare, and little memory. */
static struct nnb_model *heavy_model(void)
{
	struct nnb_model *m;

	must(nnb_model_new(&m, "heavy", NNB_HAL_1_0) == 0);
	chain_of_adds(m, ADDS);
	return m;
}

static void app_prepares(const char *socket_path, bool endlessly)
{
	struct nnb_model *m = heavy_model();
	struct nnb_client *client;
	struct nnb_remote *remote;

	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	scene_report('.');
	if (!endlessly)
		scene_stay();
	for (;;) {
		nnb_remote_release(remote);
		must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	}
}

/* The cpu time that the service's process has used. */
static uint64_t cpu_of_service(const struct one_app *f)
{
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(f->s.pid, &clock), 0);
	return clock_ns(clock);
}

/* ---- tests ---- */

/* The same, once the service is idle: it has released what it held for other apps, and uses no cpu time. */
static uint64_t cpu_at_rest(struct one_app *f)
{
	uint64_t before = 0, now;

	app_comes_to_hold(f->client, all.connections, 1);
	for (now = cpu_of_service(f); now != before; now = cpu_of_service(f)) {
		before = now;
		usleep(QUIET_US);
	}
	return now;
}

/*
 * The cpu time that the service uses after an app that plays @scene was killed, @after_us after the app reported its
 * start.
 */
static uint64_t cpu_after_death(struct one_app *f, const char *scene, useconds_t after_us)
{
	struct child app;
	uint64_t ns;

	child_start(&app, scene, &f->s, "");
	assert_int_equal(child_read(&app), '.');
	usleep(after_us);
	child_kill(&app);
	ns = cpu_of_service(f);
	return cpu_at_rest(f) - ns;
}

/*
 * Kill an app at any moment of a preparation: the service must release what the preparation allocated. The same
 * for an idle app.
 */
static void a_dead_app_ends_its_preparation(void **state)
{
	struct one_app *f = *state;
	uint64_t idle = 0, prepares = 0;

	for (useconds_t i = 0; i < KILLS; i++) {
		idle += cpu_after_death(f, "prepares", 0) / KILLS;
		prepares += cpu_after_death(f, "prepares endlessly", 50000 + 40000 * i) / KILLS;
	}
	print_message(
		"after the death of an app that prepares the service takes %.1f ms of cpu; of one that is idle %.1f\n",
		(double)prepares / 1e6, (double)idle / 1e6);
	assert_true(prepares <= idle + 10 * MS * PATIENT);
}

/*
 * By default, a model that would take hours is refused before it takes a lane: a model prepared beside it has
 * its trial run at once.
 */
static void a_model_that_would_take_hours_is_refused(void **state)
{
	struct one_app *f = *state;
	struct nnb_model *m = endless_model();
	struct nnb_remote *remote = NULL;
	struct nnb_reason why = { "" };
	struct nnb_client *client;
	uint64_t began;

	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	assert_int_equal(service_stop(&f->s), 0);
	service_start(&f->s, OPTIONS("--app-identity", "pid", "--lanes", "1"));
	f->client = client = app_open(&f->s);
	f->remote = app_prepare(client, f->adds);
	began = now_ns();
	assert_int_equal(nnb_remote_prepare(client, m, NULL, NULL, &remote, &why),
	                 NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	assert_null(remote);
	assert_non_null(strstr(why.text, "limit work"));
	print_message("refused after %.1f ms: %s\n", (double)(now_ns() - began) / 1e6, why.text);
	assert_true(now_ns() - began < 100 * MS * PATIENT);
	expect_sync(f->remote, &f->io, NNB_ADD);
	nnb_model_free(m);
}

/* The shapes are found during the run, so no estimate is possible. The execution ends at the limit all the same. */
static void an_execution_of_unknown_work_ends_at_the_limit(void **state)
{
	enum {
		IN = UNKNOWN_SIDE * UNKNOWN_SIDE * UNKNOWN_CHANNELS,
		OUT = 2 * (SIDE - FILTER + 1) * (SIDE - FILTER + 1) * 2 * CHANNELS
	};
	struct one_app *f = *state;
	struct nnb_model *m = model_of_unknown_work(FILTER);
	struct nnb_argument in[2] = { { .location = { 0, 0, IN } }, { .location = { 0, IN, 16 } } };
	struct nnb_argument out = { .location = { 0, IN + 64, OUT } };
	struct nnb_call call = { .inputs = in, .outputs = &out, .n_inputs = 2, .n_outputs = 1, .n_pools = 1 };
	struct nnb_reason why = { "" };
	struct nnb_remote *remote;
	struct nnb_pool *pool;
	uint64_t cpu;

	nnb_remote_release(f->remote);
	nnb_client_close(f->client);
	assert_int_equal(service_stop(&f->s), 0);
	service_start(&f->s, OPTIONS("--app-identity", "pid", "--lanes", "1", "--limit", "work=10ms"));
	f->client = app_open(&f->s);
	f->remote = app_prepare(f->client, f->adds);
	remote = app_prepare(f->client, m);
	assert_int_equal(nnb_pool_new(&pool, IN + 64 + OUT), 0);
	call.pools = &pool;
	memcpy((char *)nnb_pool_data(pool) + IN,
	       /* the model doubles the image's side */
	       (int32_t[]){ 1, SIDE / (2 * UNKNOWN_SIDE), SIDE / (2 * UNKNOWN_SIDE), 1 }, 16);
	cpu = cpu_of_service(f);
	assert_int_equal(nnb_remote_execute(remote, &call, NULL, &why), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	cpu = cpu_of_service(f) - cpu;
	print_message("ended after %.0f ms of cpu: %s\n", (double)cpu / 1e6, why.text);
	assert_non_null(strstr(why.text, "limit work"));
	assert_true(cpu >= 80 * MS && cpu < 300 * MS * PATIENT);
	expect_sync(f->remote, &f->io, NNB_ADD);
	nnb_pool_free(pool);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

static void a_trial_run_ends_inside_an_operation(void **state)
{
	struct one_app *f = *state;
	struct nnb_model *m = endless_model();
	uint64_t began = now_ns();
	struct nnb_remote *remote = app_prepare(f->client, m);

	print_message("prepared in %.0f ms\n", (double)(now_ns() - began) / 1e6);
	assert_true(now_ns() - began < 1500 * MS * PATIENT); /* the trial run takes 100 ms of these */
	nnb_remote_release(remote);
	nnb_model_free(m);
}

static void a_deadline_ends_an_execution_inside_an_operation(void **state)
{
	struct one_app *f = *state;
	struct nnb_model *m = endless_model();
	struct nnb_remote *remote = app_prepare(f->client, m);
	struct endless e;
	uint64_t began;

	call_init(&e, m);
	began = now_ns();
	e.call.terms.deadline_ns = began + 200 * MS;
	assert_int_equal(nnb_remote_execute(remote, &e.call, NULL, NULL), NNB_STATUS_MISSED_DEADLINE_TRANSIENT);
	print_message("ended after %.0f ms of 200\n", (double)(now_ns() - began) / 1e6);
	assert_true(now_ns() - began >= 200 * MS && now_ns() - began < 1000 * MS * PATIENT);
	nnb_pool_free(e.pool);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

struct preparing {
	struct nnb_client *client;
	struct nnb_model *m;
	struct nnb_remote *remote;
	struct nnb_cache cache;
	enum nnb_status status;
	atomic_bool over;
};

static void *prepares(void *arg)
{
	struct preparing *p = arg;

	p->status = nnb_remote_prepare(p->client, p->m, NULL, &p->cache, &p->remote, NULL);
	atomic_store(&p->over, true);
	return NULL;
}

/*
 * The message that brings the files ends long before the trial run of 100 ms does: query the app in the middle
 * of the trial run. How many queries come before the message depends on how busy the machine is, so the test
 * measures the time for which the files are charged.
 */
static void the_files_of_a_cache_are_charged_for_while_it_prepares(void **state)
{
	struct one_app *f = *state;
	struct preparing p = { .client = app_open(&f->s), .m = endless_model() };
	uint64_t before = app_counts(f->client).descriptors.app, first = 0, last = 0;
	int fd = memfd_create("cache", MFD_CLOEXEC), fds[CACHE_FILES];
	pthread_t thread;

	assert_true(fd >= 0);
	for (int i = 0; i < CACHE_FILES; i++)
		fds[i] = fd;
	p.cache = (struct nnb_cache){ .model_files = fds, .n_model_files = CACHE_FILES };
	assert_int_equal(pthread_create(&thread, NULL, prepares, &p), 0);
	while (!atomic_load(&p.over)) {
		if (app_counts(f->client).descriptors.app >= before + CACHE_FILES) {
			last = now_ns();
			first = first ? first : last;
		}
		usleep(1000);
	}
	pthread_join(thread, NULL);
	assert_none(p.status);
	print_message("charged for %.1f ms\n", (double)(last - first) / 1e6);
	assert_true(last - first >= 50 * MS);
	assert_true(app_counts(f->client).descriptors.app < before + CACHE_FILES);
	close(fd);
	nnb_remote_release(p.remote);
	nnb_client_close(p.client);
	nnb_model_free(p.m);
}

/* No execution is preempted here: the lane becomes free when the app is dead. */
static void a_dead_app_leaves_its_lane(void **state)
{
	struct one_app *f = *state;
	uint64_t least = UINT64_MAX, ns;

	for (int i = 0; i < TRIES; i++) {
		struct child app;

		has_the_lane(f, &app);
		ns = now_ns();
		child_kill(&app);
		expect_sync(f->remote, &f->io, NNB_ADD);
		ns = now_ns() - ns;
		least = ns < least ? ns : least;
	}
	print_message("another app has executed %.1f ms after its death\n", (double)least / 1e6);
	assert_true(least <= 10 * MS * PATIENT);
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The running app is over its share at once, so the next app to arrive preempts it. */
static void an_execution_leaves_its_lane_inside_an_operation(void **state)
{
	struct one_app *f = *state;
	uint64_t took[TIMES];
	struct child app;

	has_the_lane(f, &app);
	for (int i = 0; i < TIMES; i++) {
		uint64_t began = now_ns();

		expect_sync(f->remote, &f->io, NNB_ADD);
		took[i] = now_ns() - began;
		await_lane(f, &app, 0);
	}
	qsort(took, TIMES, sizeof(took[0]), by_time);
	print_message("an execution beside it takes %.2f ms, half of them, and %.2f ms at most\n",
	              (double)took[TIMES / 2] / 1e6, (double)took[TIMES - 1] / 1e6);
	assert_true(took[TIMES / 2] <= 10 * MS * PATIENT);
	child_kill(&app);
}

/*
 * An execution of low priority leaves its lane inside its only operation, resumes later, and gives the same
 * bits.
 */
static void a_preempted_execution_gives_the_same_output(void **state)
{
	struct one_app *f = *state;
	uint64_t took[TIMES], preemptions;
	struct pollfd wrong;
	struct child app;

	child_start(&app, "executes for long", &f->s, "");
	assert_int_equal(child_read(&app), '.');
	for (int i = 0; i < TIMES; i++) {
		uint64_t began = now_ns();

		expect_sync(f->remote, &f->io, NNB_ADD);
		took[i] = now_ns() - began;
		await_lane(f, &app, 0);
	}
	preemptions = counts_of(f->client, (uint32_t)app.pid).preemptions;
	wrong = (struct pollfd){ .fd = app.output, .events = POLLIN };
	assert_int_equal(poll(&wrong, 1, 0), 0);
	child_kill(&app);
	qsort(took, TIMES, sizeof(took[0]), by_time);
	print_message("it left the lane %ju times; an execution that preempts it takes %.2f ms (median), and %.2f ms "
	              "at most\n",
	              (uintmax_t)preemptions, (double)took[TIMES / 2] / 1e6, (double)took[TIMES - 1] / 1e6);
	assert_true(preemptions > TIMES / 10);
	assert_true(took[TIMES / 2] <= 10 * MS * PATIENT);
}

static void note(void *arg, const struct nnb_result *result)
{
	must(result->status == NNB_STATUS_NONE);
	sem_post(arg);
}

static uint64_t all_preemptions(const struct one_app *f)
{
	struct nnb_app_counts rows[4];
	uint64_t preemptions = 0;
	uint32_t n;

	assert_none(nnb_client_apps(f->client, rows, N_OF(rows), &n, &why));
	for (uint32_t i = 0; i < n; i++)
		preemptions += rows[i].preemptions;
	return preemptions;
}

/* The number of executions that have asked for a lane. */
static uint64_t all_executions(const struct one_app *f)
{
	struct nnb_app_counts rows[4];
	uint64_t executions = 0;
	uint32_t n;

	assert_none(nnb_client_apps(f->client, rows, N_OF(rows), &n, &why));
	for (uint32_t i = 0; i < n; i++)
		executions += rows[i].executions;
	return executions;
}

/* Each execution has an earlier deadline than the one before it, which has begun. */
static void runs_of_one_model_wait_inside_their_operations(void **state)
{
	struct one_app *f = *state;
	struct nnb_model *m = long_model(120);
	struct nnb_remote *remote = app_prepare(f->client, m);
	struct endless e[RUNS];
	uint64_t now = now_ns(), before = all_executions(f), preemptions;
	sem_t done;

	sem_init(&done, 0, 0);
	for (uint64_t i = 0; i < RUNS; i++) {
		call_init(&e[i], m);
		e[i].call.terms.deadline_ns = now + (100 - 10 * i) * 1000 * MS;
		assert_none(nnb_remote_execute_async(remote, &e[i].call, note, &done, &why));
		for (uint64_t until = now_ns() + PATIENCE; all_preemptions(f) < i && now_ns() < until;)
			poll_pause();
		for (uint64_t until = now_ns() + PATIENCE; all_executions(f) < before + i + 1 && now_ns() < until;)
			poll_pause();
	}
	for (int i = 0; i < RUNS; i++)
		while (sem_wait(&done))
			;
	preemptions = all_preemptions(f);
	print_message("%d runs, and room was made %ju times; all in %.0f ms\n", RUNS, (uintmax_t)preemptions,
	              (double)(now_ns() - now) / 1e6);
	assert_int_equal(preemptions, RUNS - 1);
	for (int i = 0; i < RUNS; i++)
		nnb_pool_free(e[i].pool);
	sem_destroy(&done);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

/* Three runs of one model wait inside its endless operation: each has left the lane to the next. */
static void runs_of_one_model_that_do_not_end_make_room_for_others(void **state)
{
	struct one_app *f = *state;
	uint64_t took[TIMES];
	struct child app;

	child_start(&app, "executes thrice", &f->s, "");
	assert_int_equal(child_read(&app), '.');
	for (uint64_t until = now_ns() + PATIENCE; all_preemptions(f) < 2;) {
		assert_true(now_ns() < until);
		poll_pause();
	}
	for (int i = 0; i < TIMES; i++) {
		uint64_t began = now_ns();

		io_refresh(&f->io, (float)i);
		f->io.call.terms.deadline_ns = began + 10000 * MS;
		assert_none(nnb_remote_execute(f->remote, &f->io.call, &f->io.answer, &why));
		assert_true(io_right(&f->io, NNB_ADD, 1));
		took[i] = now_ns() - began;
		await_lane(f, &app, 2);
	}
	f->io.call.terms.deadline_ns = 0;
	qsort(took, TIMES, sizeof(took[0]), by_time);
	print_message("an execution beside them takes %.2f ms, half of them, and %.2f ms at most\n",
	              (double)took[TIMES / 2] / 1e6, (double)took[TIMES - 1] / 1e6);
	assert_true(took[TIMES / 2] <= 10 * MS * PATIENT);
	child_kill(&app);
	expect_sync(f->remote, &f->io, NNB_ADD);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		if (!strcmp(argv[2], "executes for long"))
			executes_for_long(argv[3]);
		if (!strcmp(argv[2], "executes thrice"))
			executes_thrice(argv[3]);
		if (!strncmp(argv[2], "prepares", strlen("prepares")))
			app_prepares(argv[3], !strcmp(argv[2], "prepares endlessly"));
		executes_endlessly(argv[3]);
	}
	skip_without_files(2048);
#define TEST(f, set_up) add_test(f, set_up, one_app_tear_down, NULL, "%s", #f)
	TEST(a_model_that_would_take_hours_is_refused, fair);
	TEST(an_execution_of_unknown_work_ends_at_the_limit, fair);
	TEST(a_trial_run_ends_inside_an_operation, fair);
	TEST(a_deadline_ends_an_execution_inside_an_operation, fair);
	TEST(the_files_of_a_cache_are_charged_for_while_it_prepares, fifo);
	TEST(a_dead_app_leaves_its_lane, fifo);
	TEST(a_dead_app_ends_its_preparation, fair);
	TEST(an_execution_leaves_its_lane_inside_an_operation, fair);
	TEST(a_preempted_execution_gives_the_same_output, by_priority);
	TEST(runs_of_one_model_wait_inside_their_operations, by_deadline);
	TEST(runs_of_one_model_that_do_not_end_make_room_for_others, by_deadline);
	return _cmocka_run_group_tests("service: operations that do not end", tests, n_tests, NULL, NULL);
}

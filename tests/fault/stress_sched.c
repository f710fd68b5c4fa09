/*
 * stress_sched.c -- eight apps with four bursts each, and all other ways of executing, on two lanes: they
 * preempt each other, miss deadlines, and are killed. Meant for the sanitizers. NNB_SOAK_SECONDS sets the
 * length.
 *
 * Each result with status NONE is right to the last bit; only an execution with a deadline misses one; no
 * thread waits forever; and at the end the service holds what it held at first.
 */
#include <sys/socket.h>

#include "fault/stress_apps.h"
#include "qos_app.h"

enum { APPS = 8, BURSTS = 4, LIFE = 24 /* executions by a burst, at most */, SELDOM = 50 };

static const struct stress {
	const char *policy, *preempt, *deadline;
} rows[] = {
	{ "fair", "save", "abort" },   { "fair", "restart", "abort" }, { "priority", "save", "refuse" },
	{ "edf", "restart", "abort" }, { "edf", "save", "advise" },    { "fifo", "none", "abort" },
};

/* ---- in an app ---- */

struct tally {
	uint64_t right, missed_transient, missed_persistent;
};

struct worker {
	struct nnb_remote *const *models;
	struct tally tally;
	uint64_t seed;
	_Atomic uint64_t since; /* start of the current execution */
	atomic_bool *enough;
	pthread_t thread;
};

static const uint32_t n_ops_of[N_PRIORITIES] = { [LOW] = 12, [MEDIUM] = 6, [HIGH] = 3 };

static void trouble(const char *what, const struct outcome *o)
{
	fprintf(stderr, "app %d: %s: %s (%s)\n", (int)getpid(), what, nnb_status_name(o->status), o->why);
	_exit(3);
}

static uint64_t some_deadline(uint64_t *seed)
{
	uint64_t now = now_ns();

	switch (next_random(seed) % 8) {
	case 0:
		return now;
	case 1:
		return now + next_random(seed) % (300 * 1000);
	case 2:
		return now + next_random(seed) % (3 * MS);
	case 3:
		return now + next_random(seed) % (100 * MS);
	case 4:
		return UNLIMITED;
	default:
		return 0;
	}
}

static void judge(struct worker *w, const struct steps *s, const struct outcome *o)
{
	switch (o->status) {
	case NNB_STATUS_NONE:
		w->tally.right++;
		if (!o->right || !o->shapes_right)
			trouble("a result is wrong", o);
		return;
	case NNB_STATUS_MISSED_DEADLINE_TRANSIENT:
		w->tally.missed_transient++;
		break;
	case NNB_STATUS_MISSED_DEADLINE_PERSISTENT:
		w->tally.missed_persistent++;
		break;
	default:
		trouble("an execution fails", o);
	}
	if (!s->call.terms.deadline_ns || s->call.terms.deadline_ns == UNLIMITED)
		trouble("an execution misses a deadline that it does not have", o);
	if (o->n_shapes || o->timing.on_device_ns != UINT64_MAX || o->timing.in_driver_ns != UINT64_MAX)
		trouble("a failed execution has outputs", o);
}

/* Execute by @burst, or in another way. */
static void execute_once(struct worker *w, struct nnb_burst *burst, uint32_t model, struct steps *s)
{
	enum path path = (enum path)(next_random(&w->seed) % N_PATHS);
	struct outcome o = { 0 };

	steps_refresh(s);
	s->call.measure = next_random(&w->seed) % 2;
	s->call.terms.deadline_ns = some_deadline(&w->seed);
	atomic_store(&w->since, now_ns());
	if (next_random(&w->seed) % 2 || path == BY_BURST) {
		struct nnb_reason why = { "" };

		o.status = nnb_burst_execute(burst, &s->call, &s->answer, &why);
		o.n_shapes = s->answer.n_shapes;
		o.timing = s->answer.timing;
		o.right = o.shapes_right = !o.status && steps_right(s);
		if (s->answer.fallback)
			trouble("a burst falls back", &o);
	} else {
		steps_execute(w->models[model], path, s, &o);
	}
	judge(w, s, &o);
}

static void *works(void *arg)
{
	struct worker *w = arg;

	while (!atomic_load(w->enough)) {
		uint32_t model = (uint32_t)(next_random(&w->seed) % N_PRIORITIES);
		enum placing placing = (enum placing)(next_random(&w->seed) % 3);
		struct nnb_burst *burst = NULL;
		struct steps s;

		steps_init(&s, n_ops_of[model], placing, 1 + (uint32_t)(next_random(&w->seed) % 1000));
		if (nnb_remote_burst(w->models[model], NULL, &burst, NULL))
			_exit(4);
		for (uint64_t n = next_random(&w->seed) % LIFE; n && !atomic_load(w->enough); n--)
			execute_once(w, burst, model, &s);
		if (next_random(&w->seed) % 2) {
			steps_fini(&s);
			nnb_burst_free(burst);
		} else {
			nnb_burst_free(burst);
			steps_fini(&s);
		}
	}
	atomic_store(&w->since, UINT64_MAX);
	return NULL;
}

static void look_after(const struct worker *w)
{
	for (int i = 0; i < BURSTS; i++)
		stress_app_check_wait(atomic_load(&w[i].since));
}

static void prepare_all(struct nnb_client *client, struct nnb_remote **ret)
{
	for (uint32_t i = 0; i < N_PRIORITIES; i++) {
		const struct nnb_prepare how = { .preference = 1, .priority = i };
		struct nnb_model *m = step_model(n_ops_of[i]);

		if (nnb_remote_prepare(client, m, &how, NULL, &ret[i], NULL))
			_exit(6);
		nnb_model_free(m);
	}
}

/* Executes until the test writes to @line; then writes its counts to the test. */
static void app(const char *socket_path, int line, uint64_t seed)
{
	const struct nnb_client_config config = { .socket = socket_path };
	struct nnb_remote *models[N_PRIORITIES];
	struct worker workers[BURSTS] = { 0 };
	struct tally all = { 0 };
	struct nnb_client *client;
	atomic_bool enough = false;

	if (nnb_client_open(&client, &config, NULL))
		_exit(2);
	prepare_all(client, models);
	scene_report('.');
	for (unsigned i = 0; i < BURSTS; i++) {
		workers[i].models = models;
		workers[i].enough = &enough;
		workers[i].seed = seed * BURSTS + i + 1;
		atomic_store(&workers[i].since, now_ns());
		if (pthread_create(&workers[i].thread, NULL, works, &workers[i]))
			_exit(7);
	}
	while (!stress_app_is_called_off(line))
		look_after(workers);
	atomic_store(&enough, true);
	alarm(WATCHDOG_S);
	for (int i = 0; i < BURSTS; i++) {
		pthread_join(workers[i].thread, NULL);
		all.right += workers[i].tally.right;
		all.missed_transient += workers[i].tally.missed_transient;
		all.missed_persistent += workers[i].tally.missed_persistent;
	}
	for (uint32_t i = 0; i < N_PRIORITIES; i++)
		nnb_remote_release(models[i]);
	nnb_client_close(client);
	_exit(send(line, &all, sizeof(all), MSG_NOSIGNAL) == sizeof(all) ? 0 : 8);
}

/* ---- the test ---- */

struct crowd {
	struct stress_crowd apps;
	uint64_t preemptions, restarts; /* counts of the apps that were connected at the time of the query */
	struct tally tally;
};

static void end_one(struct crowd *c, unsigned i)
{
	struct tally t = { 0 };

	stress_app_end(&c->apps, i, &t, sizeof(t));
	c->tally.right += t.right;
	c->tally.missed_transient += t.missed_transient;
	c->tally.missed_persistent += t.missed_persistent;
}

/* Add up the counts of the apps that are alive. */
static void count(struct crowd *c)
{
	struct nnb_client *client = app_open(&c->apps.s);
	struct nnb_app_counts apps[4 * APPS];
	uint32_t n = 0;

	assert_none(nnb_client_apps(client, apps, N_OF(apps), &n, &why));
	for (uint32_t i = 0; i < n && i < N_OF(apps); i++) {
		c->preemptions += apps[i].preemptions;
		c->restarts += apps[i].restarts;
	}
	nnb_client_close(client);
}

/* Whether the time is over, and an execution was preempted if that is possible. */
static bool is_over(struct crowd *c, const struct stress *how, uint64_t end)
{
	if (now_ns() < end)
		return false;
	count(c);
	return c->preemptions || !strcmp(how->preempt, "none") || now_ns() > end + PATIENCE;
}

static void no_thread_waits_forever_and_nothing_is_left(void **state)
{
	const struct stress *how = *state;
	struct crowd c = { .apps = { .n = APPS, .shared_fd = -1, .seed = (uint64_t)(how - rows) + 7 } };
	struct service *s = &c.apps.s;
	uint64_t end;

	service_init(s);
	service_start(s, OPTIONS("--app-identity", "pid", "--lanes", "2", "--policy", how->policy, "--preempt",
	                         how->preempt, "--deadline", how->deadline));
	for (unsigned i = 0; i < APPS; i++)
		stress_app_start(&c.apps, i);
	end = now_ns() + stress_length_ns(N_OF(rows), 400 * MS);
	while (!is_over(&c, how, end))
		stress_crowd_step(&c.apps, 80 * MS);
	for (unsigned i = 0; i < APPS / 2; i++)
		stress_app_kill(&c.apps, i);
	for (unsigned i = APPS / 2; i < APPS; i++)
		end_one(&c, i);
	service_settles(s);
	print_message("%u apps, %u killed; of those that ended: %llu right, %llu missed for now, %llu for good; "
	              "%llu preempted, %llu started over\n",
	              c.apps.started, c.apps.killed, (unsigned long long)c.tally.right,
	              (unsigned long long)c.tally.missed_transient, (unsigned long long)c.tally.missed_persistent,
	              (unsigned long long)c.preemptions, (unsigned long long)c.restarts);
	assert_true(c.tally.right > 0);
	if (strcmp(how->preempt, "none"))
		assert_true(c.preemptions > 0);
	else /* a lane is lost only while its thread waits for a page, or for the memory map */
		assert_true(c.preemptions * SELDOM <= c.tally.right);
	assert_true(!c.restarts == !!strcmp(how->preempt, "restart"));
	service_fini(s);
}

int main(int argc, char **argv)
{
	struct stress_argument a;

	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		if (stress_app_read(&a, argv[4]))
			app(argv[3], a.line, a.number);
		return 1;
	}
	for (size_t i = 0; i < N_OF(rows); i++)
		add_test(no_thread_waits_forever_and_nothing_is_left, NULL, NULL, (void *)(uintptr_t)&rows[i],
		         "--policy %s --preempt %s --deadline %s", rows[i].policy, rows[i].preempt, rows[i].deadline);
	return _cmocka_run_group_tests("lanes: stress", tests, n_tests, NULL, NULL);
}

/*
 * stress_sched.c -- eight apps with four bursts each, and all other ways of executing, on two lanes: they
 * preempt each other, miss deadlines, and are killed. Meant for the sanitizers. NNB_SOAK_SECONDS sets the
 * length.
 *
 * Each result with status NONE is right to the last bit; only an execution with a deadline misses one; no
 * thread waits forever; and at the end the service holds what it held at first.
 */
#include <poll.h>
#include <sys/socket.h>

#include "qos_app.h"

enum { APPS = 8, BURSTS = 4, LIFE = 24 /* executions by a burst, at most */ };

static const struct stress {
	const char *policy, *preempt, *deadline;
} rows[] = {
	{ "fair", "save", "abort" },   { "fair", "restart", "abort" }, { "priority", "save", "refuse" },
	{ "edf", "restart", "abort" }, { "edf", "save", "advise" },    { "fifo", "none", "abort" },
};

static uint64_t length_ns(void)
{
	const char *s = getenv("NNB_SOAK_SECONDS");

	return s && atoi(s) > 0 ? (uint64_t)atoi(s) * 1000 * MS / N_OF(rows) : 400 * MS;
}

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
		trouble("it fails", o);
	}
	if (!s->call.terms.deadline_ns || s->call.terms.deadline_ns == UNLIMITED)
		trouble("it misses a deadline that it has not", o);
	if (o->n_shapes || o->timing.on_device_ns != UINT64_MAX || o->timing.in_driver_ns != UINT64_MAX)
		trouble("it failed, and says more", o);
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

/* Fail if a thread has waited for too long. */
static void look_after(const struct worker *w)
{
	for (int i = 0; i < BURSTS; i++) {
		uint64_t since = atomic_load(&w[i].since), now = now_ns();

		if (now > since && now - since > PATIENCE) {
			fprintf(stderr, "app %d waits for ever\n", (int)getpid());
			_exit(5);
		}
	}
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

static bool is_called_off(int line)
{
	struct pollfd at = { .fd = line, .events = POLLIN };
	char byte;

	return poll(&at, 1, 100) == 1 && recv(line, &byte, 1, 0) == 1;
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
	say('.');
	for (unsigned i = 0; i < BURSTS; i++) {
		workers[i].models = models;
		workers[i].enough = &enough;
		workers[i].seed = seed * BURSTS + i + 1;
		atomic_store(&workers[i].since, now_ns());
		if (pthread_create(&workers[i].thread, NULL, works, &workers[i]))
			_exit(7);
	}
	while (!is_called_off(line))
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
	struct service s;
	struct child apps[APPS];
	int lines[APPS];
	bool works[APPS]; /* whether each app has reported that it runs */
	uint64_t seed, started, killed;
	uint64_t preemptions, restarts; /* counts of the apps that were connected at the time of the query */
	struct tally tally;
};

static void start_one(struct crowd *c, unsigned i)
{
	char argument[64];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFD, 0), 0);
	snprintf(argument, sizeof(argument), "%d %u", ends[1], (unsigned)++c->started);
	child_start(&c->apps[i], "app", &c->s, argument);
	close(ends[1]);
	c->lines[i] = ends[0];
	c->works[i] = false;
}

static void hear(struct crowd *c, unsigned i)
{
	if (!c->works[i])
		assert_int_equal(child_hears(&c->apps[i]), '.');
	c->works[i] = true;
}

/* Kill an app in any step, even at its start. */
static void kill_one(struct crowd *c, unsigned i)
{
	child_kill(&c->apps[i]);
	close(c->lines[i]);
	c->killed++;
}

static void end_one(struct crowd *c, unsigned i)
{
	struct tally t = { 0 };
	int status;

	hear(c, i);
	assert_int_equal(send(c->lines[i], ".", 1, MSG_NOSIGNAL), 1);
	status = child_end(&c->apps[i]);
	if (status)
		fail_msg("an app ended with %d", status);
	assert_int_equal(recv(c->lines[i], &t, sizeof(t), 0), sizeof(t));
	close(c->lines[i]);
	c->tally.right += t.right;
	c->tally.missed_transient += t.missed_transient;
	c->tally.missed_persistent += t.missed_persistent;
}

/* Add up the counts of the apps that are alive. */
static void count(struct crowd *c)
{
	struct nnb_client *client = app_open(&c->s);
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

static void live(struct crowd *c, const struct stress *how)
{
	static const unsigned op_us[] = { 0, 0, 20, 100, 400 };
	uint64_t end = now_ns() + length_ns();

	while (!is_over(c, how, end)) {
		unsigned i = (unsigned)(next_random(&c->seed) % APPS);

		atomic_store(&c->s.gate->op_us, op_us[next_random(&c->seed) % N_OF(op_us)]);
		if (next_random(&c->seed) % 4)
			hear(c, i); /* wait, because otherwise the next kill may come before the start */
		nanosleep(&(struct timespec){ .tv_nsec = (long)(next_random(&c->seed) % (80 * MS)) }, NULL);
		kill_one(c, i);
		start_one(c, i);
	}
}

static void nobody_waits_for_ever_and_nothing_is_left(void **state)
{
	const struct stress *how = *state;
	struct crowd c = { .seed = (uint64_t)(how - rows) + 7 };

	service_init(&c.s);
	service_start(&c.s, OPTIONS("--app-identity", "pid", "--lanes", "2", "--policy", how->policy, "--preempt",
	                            how->preempt, "--deadline", how->deadline));
	for (unsigned i = 0; i < APPS; i++)
		start_one(&c, i);
	live(&c, how);
	for (unsigned i = 0; i < APPS / 2; i++)
		kill_one(&c, i);
	for (unsigned i = APPS / 2; i < APPS; i++)
		end_one(&c, i);
	service_settles(&c.s);
	print_message("%llu apps, %llu killed; of those that ended: %llu right, %llu missed for now, %llu for good; "
	              "%llu preempted, %llu started over\n",
	              (unsigned long long)c.started, (unsigned long long)c.killed, (unsigned long long)c.tally.right,
	              (unsigned long long)c.tally.missed_transient, (unsigned long long)c.tally.missed_persistent,
	              (unsigned long long)c.preemptions, (unsigned long long)c.restarts);
	assert_true(c.tally.right > 0);
	assert_true(!c.preemptions == !strcmp(how->preempt, "none"));
	assert_true(!c.restarts == !!strcmp(how->preempt, "restart"));
	service_fini(&c.s);
}

int main(int argc, char **argv)
{
	int line;
	unsigned seed;

	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		if (sscanf(argv[4], "%d %u", &line, &seed) == 2)
			app(argv[3], line, seed);
		return 1;
	}
	for (size_t i = 0; i < N_OF(rows); i++)
		add_test(nobody_waits_for_ever_and_nothing_is_left, NULL, NULL, (void *)(uintptr_t)&rows[i],
		         "--policy %s --preempt %s --deadline %s", rows[i].policy, rows[i].preempt, rows[i].deadline);
	return _cmocka_run_group_tests("lanes: stress", tests, n_tests, NULL, NULL);
}

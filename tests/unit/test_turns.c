/*
 * test_turns.c -- the order in which apps get lanes: policies, lanes and preemption of a real nnburstd,
 * between real apps.
 *
 * A test holds one execution on the only lane and puts others behind it one at a time; then the gate's notes
 * show the order in which they ran. The apps are app_scene.
 */
#include <sys/resource.h>

#include "qos_app.h"

enum { APPS = TURNS_APPS_MAX, JOBS = 6 };

/* Start a service, and @n apps, each with the step model once for each priority. */
static void begin(struct turns *f, unsigned n, const char *const *options)
{
	turns_start(f, options);
	while (f->n_apps < n)
		turns_add_app(f);
}

static void expect_notes_begin(struct turns *f, const char *wanted)
{
	const char *is = gate_notes(&f->s, true);

	if (strncmp(is, wanted, strlen(wanted)) != 0)
		fail_msg("what ran was '%s', and does not begin with '%s'", is, wanted);
}

/* ---- policies ---- */

enum { PASSED = UINT32_MAX };

struct job {
	uint32_t tag, app, priority;
	unsigned deadline_s; /* from now; 0: no deadline; PASSED: long ago */
	enum path path;
};

static uint64_t deadline_of(const struct job *j)
{
	if (j->deadline_s == PASSED)
		return 1;
	return j->deadline_s ? now_ns() + j->deadline_s * SECOND : 0;
}

static void tell(struct turns *f, const struct job *j)
{
	app_send_order(&f->apps[j->app], &(struct order){ .what = ORDER_EXECUTE,
	                                                  .model = j->priority,
	                                                  .path = j->path,
	                                                  .tag = j->tag,
	                                                  .deadline_ns = deadline_of(j) });
}

/* Wait until the job is on the lane; hold it there before operation @op. */
static void holds_the_lane(struct turns *f, const struct job *j, unsigned op)
{
	gate_hold(&f->s, op);
	tell(f, j);
	gate_has_seen(&f->s, 1);
}

#define QUEUE                                                                                                        \
	{                                                                                                            \
		{ 11, 1, LOW, 600, BY_SYNC }, { 12, 2, MEDIUM, 0, BY_BURST }, { 13, 1, HIGH, 900, BY_ASYNC },        \
			{ 14, 2, HIGH, 300, BY_FENCED }, { 15, 1, HIGH, 300, BY_BURST }, { 16, 2, LOW, 0, BY_SYNC }, \
	}

/* The first job, of app 0 and of no priority, holds the lane until all have come. */
static const struct policy_row {
	const char *name, *policy;
	struct job queue[JOBS];
	const char *order, *deadline; /* deadline: the service's mode; NULL: abort */
} policy_rows[] = {
	{ "fifo: who came first", "fifo", QUEUE, "10 11 12 13 14 15 16" },
	{ "priority: of any app, then in the order of arrival", "priority", QUEUE, "10 13 14 15 12 11 16" },
	{ "edf: the earliest deadline, then who came first, then those without", "edf", QUEUE, "10 14 15 11 13 12 16" },
	{ "edf: no deadline that has passed comes before any other",
	  "edf",
	  {
		  { 11, 1, LOW, PASSED, BY_SYNC },
		  { 12, 2, LOW, 0, BY_BURST },
		  { 13, 1, LOW, PASSED, BY_ASYNC },
		  { 14, 2, LOW, 600, BY_FENCED },
		  { 15, 1, HIGH, PASSED, BY_BURST },
		  { 16, 2, LOW, 900, BY_SYNC },
	  },
	  "10 14 16 11 12 13 15",
	  "advise" },
	{ "fair, in an app: priority, then deadline, then who came first",
	  "fair",
	  {
		  { 11, 1, LOW, 300, BY_SYNC },
		  { 12, 1, HIGH, 0, BY_BURST },
		  { 13, 1, HIGH, 600, BY_ASYNC },
		  { 14, 1, HIGH, 300, BY_FENCED },
		  { 15, 1, MEDIUM, 0, BY_BURST },
		  { 16, 1, HIGH, 0, BY_SYNC },
	  },
	  "10 14 13 12 16 15 11" },
};

static void a_policy_orders_the_waiting_jobs(void **state)
{
	struct turns *f = *state;
	const struct policy_row *row = f->row;

	begin(f, 3,
	      OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", row->policy, "--preempt", "none",
	              "--deadline", row->deadline ? row->deadline : "abort"));
	holds_the_lane(f, &(struct job){ 10, 0, MEDIUM }, 0);
	for (uint32_t i = 0; i < JOBS; i++) {
		tell(f, &row->queue[i]);
		await_waiting(f->watch, i + 1);
	}
	gate_open(&f->s);
	app_expect_right(&f->apps[0], 10);
	for (uint32_t i = 0; i < JOBS; i++) {
		struct outcome o = app_read_outcome(&f->apps[row->queue[i].app]);

		if (!o.right)
			fail_msg("%u: %s (%s)", o.tag, nnb_status_name(o.status), o.why);
	}
	turns_expect_notes(f, true, row->order);
}

/* Jobs of each path behind each other: one queue has them all. */
static void paths_compete_alike(void **state)
{
	struct turns *f = *state;
	char wanted[128] = "99";
	uint32_t n = 0;

	begin(f, 2, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "priority", "--preempt", "none"));
	holds_the_lane(f, &(struct job){ 99, 0, MEDIUM }, 0);
	for (uint32_t priority = 0; priority < N_PRIORITIES; priority++)
		for (unsigned path = 0; path < N_PATHS; path++) {
			tell(f, &(struct job){ 10 * (priority + 1) + path, 1, priority, 0, (enum path)path });
			await_waiting(f->watch, ++n);
		}
	gate_open(&f->s);
	app_expect_right(&f->apps[0], 99);
	for (; n; n--)
		assert_true(app_read_outcome(&f->apps[1]).right);
	for (uint32_t priority = N_PRIORITIES; priority--;)
		for (unsigned path = 0; path < N_PATHS; path++)
			snprintf(wanted + strlen(wanted), 8, " %u", 10 * (priority + 1) + path);
	turns_expect_notes(f, true, wanted);
}

/*
 * Apps take turns. Each execution is held for longer than the one before can have had the lane, so the app
 * that had the lane before has received more than the app that has it now, however slow the test is.
 */
static void fair_apps_take_turns(void **state)
{
	struct turns *f = *state;
	const unsigned n_apps = *(const unsigned *)f->row, each = JOBS / n_apps;
	uint64_t let, came, before;
	char wanted[128] = "99";

	begin(f, n_apps, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "fair", "--preempt", "none"));
	holds_the_lane(f, &(struct job){ 99, 0, MEDIUM }, 0);
	before = now_ns();
	for (uint32_t i = 0; i < JOBS; i++) { /* all jobs of one app, then all of the next */
		tell(f, &(struct job){ 10 * (i / each + 1) + i % each, i / each, MEDIUM });
		await_waiting(f->watch, i + 1);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		let = now_ns();
		gate_release_one(&f->s);
		gate_has_seen(&f->s, i + 2);
		came = now_ns();
		while (now_ns() < came + (came - before) + 2 * MS)
			poll_pause();
		before = let;
	}
	gate_open(&f->s);
	app_expect_right(&f->apps[0], 99);
	for (unsigned i = 0; i < JOBS; i++)
		assert_true(app_read_outcome(&f->apps[i / each]).right);
	for (unsigned i = 0; i < JOBS; i++)
		snprintf(wanted + strlen(wanted), 8, " %u", 10 * ((i + 1) % n_apps + 1) + i / n_apps);
	turns_expect_notes(f, true, wanted);
}

/* ---- lanes ---- */

static void two_lanes_are_two_at_a_time(void **state)
{
	struct turns *f = *state;

	begin(f, 2, OPTIONS("--app-identity", "pid", "--lanes", "2", "--preempt", "none"));
	assert_int_equal(nnb_client_info(f->watch)->lanes, 2);
	gate_hold(&f->s, 0);
	for (uint32_t i = 0; i < 5; i++)
		tell(f, &(struct job){ 10 + i, i % 2, MEDIUM, 0, (enum path)(i % N_PATHS) });
	gate_has_seen(&f->s, 2);
	await_waiting(f->watch, 3);
	gate_release_one(&f->s);
	gate_has_seen(&f->s, 3);
	await_waiting(f->watch, 2);
	assert_int_equal(atomic_load(&f->s.gate->held_runs), 2);
	gate_open(&f->s);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(app_read_outcome(&f->apps[i % 2]).right);
}

/* ---- the kernel's scheduler ---- */

static bool may_be_nice(void)
{
	int was = getpriority(PRIO_PROCESS, 0);
	bool may = setpriority(PRIO_PROCESS, 0, -10) == 0 && setpriority(PRIO_PROCESS, 0, was) == 0;

	return may;
}

static int nice_of(const struct service *s, int tid)
{
	char path[64], text[512] = "";
	int nice = 99;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)s->pid, tid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	/* the 19th field; the second, in parentheses, may have blanks */
	assert_int_equal(sscanf(strrchr(text, ')') + 1,
	                        " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d", &nice),
	                 1);
	return nice;
}

static void native_runs_all_at_once_with_the_kernel_s_priorities(void **state)
{
	static const int nice[] = { [LOW] = 10, [MEDIUM] = 0, [HIGH] = -10 };
	struct turns *f = *state;

	if (!may_be_nice())
		skip();
	begin(f, 2, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "native"));
	for (unsigned path = 0; path < N_PATHS; path++) {
		gate_hold(&f->s, 0);
		for (uint32_t i = 0; i < N_PRIORITIES; i++) {
			tell(f, &(struct job){ 10 + i, i % 2, i, 0, (enum path)path });
			gate_has_seen(&f->s, i + 1);
		}
		await_waiting(f->watch, 0);
		for (uint32_t i = 0; i < N_PRIORITIES; i++) {
			const struct gate_op *op = &f->s.gate->ops[i];

			assert_int_equal((uint32_t)op->tag, 10 + i);
			assert_int_equal(nice_of(&f->s, op->tid), nice[i]);
		}
		gate_open(&f->s);
		for (uint32_t i = 0; i < N_PRIORITIES; i++)
			assert_true(app_read_outcome(&f->apps[i % 2]).right);
	}
	assert_int_equal(nice_of(&f->s, f->s.pid), getpriority(PRIO_PROCESS, 0)); /* the service itself as before */
}

/*
 * Wait for the end of nnburstd as a user who may not raise priorities; return its exit status and its output.
 */
static int run_without_rights(const struct service *s, char *said, size_t room)
{
	int ends[2], status;
	ssize_t n;
	size_t all = 0;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		const struct rlimit none = { 0, 0 };

		if (setrlimit(RLIMIT_NICE, &none) || (!geteuid() && setresuid(65534, 65534, 65534)) ||
		    dup2(ends[1], 2) < 0)
			_exit(126);
		execl(NNBURSTD, "nnburstd", "--socket", s->socket, "--driver", "null", "--policy", "native", NULL);
		_exit(127);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + all, room - 1 - all)) > 0)
		all += (size_t)n;
	said[all] = '\0';
	close(ends[0]);
	status = reap(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void native_without_the_right_to_is_an_error_in_a_line(void **state)
{
	struct turns *f = *state;
	char said[512];
	int status;

	if (geteuid() && may_be_nice())
		skip(); /* the right comes from a capability that the test cannot drop */
	service_admit_other_users(&f->s);
	status = run_without_rights(&f->s, said, sizeof(said));
	if (status == 126 || status == 127)
		skip();
	assert_int_equal(status, 5);
	assert_non_null(strstr(said, "nice"));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

/* ---- preemption ---- */

static const struct preempt_row {
	const char *name, *mode, *policy;
	struct job low, high;
	bool at_once;
} preempt_rows[] = {
	{ "fair: higher priority of the same app", "save", "fair", { 10, 0, LOW }, { 20, 0, HIGH }, true },
	{ "fair: higher priority of the same app", "restart", "fair", { 10, 0, LOW }, { 20, 0, HIGH }, true },
	{ "fair: higher priority of the same app", "none", "fair", { 10, 0, LOW }, { 20, 0, HIGH } },
	{ "fair: the same priority of the same app", "save", "fair", { 10, 0, LOW }, { 20, 0, LOW } },
	{ "fair: an earlier deadline of the same app", "save", "fair", { 10, 0, LOW, 600 }, { 20, 0, LOW, 300 } },
	{ "priority: higher priority of another app", "save", "priority", { 10, 0, LOW }, { 20, 1, MEDIUM }, true },
	{ "priority: higher priority of another app", "restart", "priority", { 10, 0, MEDIUM }, { 20, 1, HIGH }, true },
	{ "priority: higher priority of another app", "none", "priority", { 10, 0, LOW }, { 20, 1, HIGH } },
	{ "priority: the same priority of another app", "save", "priority", { 10, 0, LOW }, { 20, 1, LOW } },
	{ "edf: an earlier deadline", "save", "edf", { 10, 0, HIGH, 600 }, { 20, 1, LOW, 300 }, true },
	{ "edf: an earlier deadline", "restart", "edf", { 10, 0, HIGH, 600 }, { 20, 1, LOW, 300 }, true },
	{ "edf: a deadline, before none", "save", "edf", { 10, 0, HIGH }, { 20, 1, LOW, 300 }, true },
	{ "edf: a later deadline", "save", "edf", { 10, 0, LOW, 300 }, { 20, 1, HIGH, 600 } },
	{ "fifo: higher priority of the same app", "save", "fifo", { 10, 0, LOW }, { 20, 0, HIGH } },
};

/* The notes that are expected when low meets high before operation @op of N_OPS. */
static const char *expected_notes(const struct preempt_row *row, unsigned op)
{
	static char text[256];
	bool leaves = row->at_once && op + 1 < N_OPS, over = !strcmp(row->mode, "restart");
	unsigned at = leaves ? op + 1 : N_OPS;

	text[0] = '\0';
	for (unsigned i = 0; i < at; i++)
		snprintf(text + strlen(text), 8, "%u:%u ", row->low.tag, i);
	for (unsigned i = 0; i < N_OPS; i++)
		snprintf(text + strlen(text), 8, "%u:%u ", row->high.tag, i);
	for (unsigned i = over && leaves ? 0 : at; i < N_OPS; i++)
		snprintf(text + strlen(text), 8, "%u:%u ", row->low.tag, i);
	text[strlen(text) - 1] = '\0';
	return text;
}

/* At every checkpoint, and by different paths. */
static void a_more_urgent_job_gets_the_lane_at_the_next_checkpoint(void **state)
{
	struct turns *f = *state;
	const struct preempt_row *row = f->row;
	struct job low = row->low, high = row->high;

	begin(f, 2, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", row->policy, "--preempt", row->mode));
	for (unsigned i = 0; i < N_OPS * N_PATHS; i++) {
		low.path = (enum path)(i % N_PATHS);
		high.path = (enum path)((i + i / N_PATHS) % N_PATHS);
		holds_the_lane(f, &low, i % N_OPS);
		tell(f, &high);
		await_waiting(f->watch, 1);
		gate_open(&f->s);
		for (int k = 0; k < 2; k++)
			assert_true(app_read_outcome(&f->apps[k ? high.app : low.app]).right);
		turns_expect_notes(f, false, expected_notes(row, i % N_OPS));
	}
}

/* An app that lags a quantum (a millisecond) behind gets the lane at a checkpoint, whatever the priorities. */
static void fair_an_app_that_lags_gets_the_lane(void **state)
{
	struct turns *f = *state;
	const char *mode = f->row;
	bool over = !strcmp(mode, "restart"), stays = !strcmp(mode, "none");
	uint64_t since;

	begin(f, 2, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "fair", "--preempt", mode));
	holds_the_lane(f, &(struct job){ 10, 0, HIGH }, 1);
	tell(f, &(struct job){ 20, 1, LOW });
	await_waiting(f->watch, 1);
	for (since = now_ns(); now_ns() < since + 5 * MS;)
		poll_pause();
	gate_open(&f->s);
	app_expect_right(&f->apps[0], 10);
	app_expect_right(&f->apps[1], 20);
	if (over) /* once more where the machine is so slow that the other app lags next */
		expect_notes_begin(f, "10 20 10");
	else
		turns_expect_notes(f, true, "10 20");
	assert_int_equal((uint32_t)f->s.gate->ops[2].tag, stays ? 10 : 20);
}

/* Restarts have a bound, because without one the low job would starve. */
static void restarts_are_bounded(void **state)
{
	enum { RESTARTS = 3 };
	struct turns *f = *state;
	const struct job low = { 10, 0, LOW };

	begin(f, 1, OPTIONS("--app-identity", "pid", "--lanes", "1", "--preempt", "restart"));
	holds_the_lane(f, &low, 0);
	for (unsigned i = 1; i <= RESTARTS; i++) {
		tell(f, &(struct job){ 20 + i, 0, HIGH });
		await_waiting(f->watch, 1);
		gate_release_one(&f->s);
		gate_has_seen(&f->s, 2 * i); /* the low job has left the lane */
		await_waiting(f->watch, 1);
		gate_release_one(&f->s);
		gate_has_seen(&f->s, 2 * i + 1); /* the low job begins again */
		app_expect_right(&f->apps[0], 20 + i);
	}
	tell(f, &(struct job){ 30, 0, HIGH });
	await_waiting(f->watch, 1);
	gate_release_one(&f->s);
	gate_has_seen(&f->s, 2 * RESTARTS + 2);
	app_expect_right(&f->apps[0], 10); /* before the last low job begins */
	gate_open(&f->s);
	app_expect_right(&f->apps[0], 30);
	turns_expect_notes(f, true, "10 21 10 22 10 23 10 30");
}

/* an execution that has overwritten its own input cannot restart: it is saved, or it finishes. */
static const struct overlap_row {
	const char *name, *mode;
	enum placing placing;
	const char *notes;
} overlap_rows[] = {
	{ "an output over its input, in one pool", "restart", OVER_INPUT, "10:0 10:1 10:2 10:3 20:0 20:1 20:2 20:3" },
	{ "an output over its input, in another pool of the same memory", "restart", OVER_INPUT_ELSEWHERE,
	  "10:0 10:1 10:2 10:3 20:0 20:1 20:2 20:3" },
	{ "an output beside its input", "restart", APART, "10:0 10:1 20:0 20:1 20:2 20:3 10:0 10:1 10:2 10:3" },
	{ "an output over its input, in one pool", "save", OVER_INPUT, "10:0 10:1 20:0 20:1 20:2 20:3 10:2 10:3" },
	{ "an output over its input, in another pool of the same memory", "save", OVER_INPUT_ELSEWHERE,
	  "10:0 10:1 20:0 20:1 20:2 20:3 10:2 10:3" },
};

static void what_has_written_over_its_input_never_starts_over(void **state)
{
	struct turns *f = *state;
	const struct overlap_row *row = f->row;

	begin(f, 1, OPTIONS("--app-identity", "pid", "--lanes", "1", "--preempt", row->mode));
	for (unsigned path = 0; path < N_PATHS; path++) {
		gate_hold(&f->s, 1);
		app_send_order(&f->apps[0], &(struct order){ .what = ORDER_EXECUTE,
		                                             .model = LOW,
		                                             .path = (enum path)path,
		                                             .tag = 10,
		                                             .placing = row->placing });
		gate_has_seen(&f->s, 1);
		tell(f, &(struct job){ 20, 0, HIGH });
		await_waiting(f->watch, 1);
		gate_open(&f->s);
		for (int i = 0; i < 2; i++)
			assert_true(app_read_outcome(&f->apps[0]).right);
		turns_expect_notes(f, false, row->notes);
	}
}

/* A preempted execution counts as in the driver, but not as on the device. */
static void time_off_the_lane_is_no_time_on_the_device(void **state)
{
	enum { HELD_MS = 30 };
	struct turns *f = *state;
	uint64_t began;

	begin(f, 1, OPTIONS("--app-identity", "pid", "--lanes", "1", "--preempt", "save"));
	gate_hold(&f->s, 0);
	app_send_order(&f->apps[0], &(struct order){ .what = ORDER_EXECUTE, .model = LOW, .tag = 10, .measure = true });
	gate_has_seen(&f->s, 1);
	app_send_order(&f->apps[0],
	               &(struct order){ .what = ORDER_EXECUTE, .model = HIGH, .tag = 20, .measure = true });
	await_waiting(f->watch, 1);
	gate_release_one(&f->s);
	gate_has_seen(&f->s, 2);
	for (began = now_ns(); now_ns() < began + HELD_MS * MS;)
		poll_pause();
	gate_open(&f->s);
	for (int i = 0; i < 2; i++) {
		struct outcome o = app_read_outcome(&f->apps[0]);

		assert_true(o.right);
		assert_true(o.timing.in_driver_ns != UINT64_MAX && o.timing.in_driver_ns >= HELD_MS * MS);
		if (o.tag == 20)
			assert_true(o.timing.on_device_ns >= HELD_MS * MS &&
			            o.timing.on_device_ns <= o.timing.in_driver_ns);
		else
			assert_true(o.timing.on_device_ns &&
			            o.timing.on_device_ns <= o.timing.in_driver_ns - HELD_MS * MS);
	}
}

/* ---- */

#define TEST(run, ...) add_test(run, turns_set_up, turns_tear_down, NULL, __VA_ARGS__)
#define TEST_ROW(run, row, ...) add_test(run, turns_set_up, turns_tear_down, (void *)(uintptr_t)(row), __VA_ARGS__)

static void add_preemption_tests(void)
{
	for (size_t i = 0; i < N_OF(preempt_rows); i++)
		TEST_ROW(a_more_urgent_job_gets_the_lane_at_the_next_checkpoint, &preempt_rows[i],
		         "--preempt %s, %s %s", preempt_rows[i].mode, preempt_rows[i].name,
		         preempt_rows[i].at_once ? "goes first at the next checkpoint" : "waits for the end");
	TEST_ROW(fair_an_app_that_lags_gets_the_lane, "save",
	         "fair: an app that lags gets the lane at a checkpoint (save)");
	TEST_ROW(fair_an_app_that_lags_gets_the_lane, "restart",
	         "fair: an app that lags gets the lane, and who had it starts over");
	TEST_ROW(fair_an_app_that_lags_gets_the_lane, "none",
	         "fair: an app that lags waits for the end without preemption");
	TEST(restarts_are_bounded, "Q-11: restarts of one execution are bounded");
	for (size_t i = 0; i < N_OF(overlap_rows); i++)
		TEST_ROW(what_has_written_over_its_input_never_starts_over, &overlap_rows[i], "Q-10, --preempt %s: %s",
		         overlap_rows[i].mode, overlap_rows[i].name);
	TEST(time_off_the_lane_is_no_time_on_the_device, "Q-38: time off the lane is no time on the device");
}

int main(int argc, char **argv)
{
	static const unsigned two = 2, three = 3;

	if (argc == 5 && !strcmp(argv[1], "--scene"))
		app_scene(argv[3], argv[4]);
	for (size_t i = 0; i < N_OF(policy_rows); i++)
		TEST_ROW(a_policy_orders_the_waiting_jobs, &policy_rows[i], "%s", policy_rows[i].name);
	TEST(paths_compete_alike, "executions of every path compete alike");
	TEST_ROW(fair_apps_take_turns, &two, "fair: two apps take turns");
	TEST_ROW(fair_apps_take_turns, &three, "fair: three apps take turns");
	TEST(two_lanes_are_two_at_a_time, "two lanes are two at a time");
	TEST(native_runs_all_at_once_with_the_kernel_s_priorities, "native: all run at once, and the kernel is told");
	TEST(native_without_the_right_to_is_an_error_in_a_line, "native: without the right to, an error in a line");
	add_preemption_tests();
	return _cmocka_run_group_tests("turns", tests, n_tests, NULL, NULL);
}

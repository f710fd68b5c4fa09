/*
 * test_qos.c -- quality of service as an app sees it: the tables of VTS's QualityOfServiceTests, and every
 * status of a deadline or a shortage from a real situation between two processes, with its promise kept.
 *
 * Where a test needs a deadline to be missed at a certain point, it tries longer and longer deadlines until
 * the machine gets there in time.
 */
#include "qos_app.h"

#define TRANSIENT NNB_STATUS_MISSED_DEADLINE_TRANSIENT
#define PERSISTENT NNB_STATUS_MISSED_DEADLINE_PERSISTENT
enum { RETRIES = 20 };

enum { OURS, OTHER }; /* the app that asks, and another app */

static void other_goes(struct turns *f)
{
	if (f->n_apps > OTHER)
		turns_end_app(f);
}

static void serve(struct turns *f, const char *const *options)
{
	const char *all[16] = { "--app-identity", "pid" };
	unsigned n = 2;

	while (*options)
		all[n++] = *options++;
	turns_start(f, all);
}

static void start_apps(struct turns *f)
{
	turns_add_app(f);
	turns_add_app(f);
}

static bool is_missed(enum nnb_status status)
{
	return status == TRANSIENT || status == PERSISTENT;
}

/* ---- the tables of section 6.7 ---- */

enum deadline { NONE_AT_ALL, NOW, SHORT, NEVER, N_DEADLINES };
static const char *const deadline_names[] = { "no deadline", "NOW", "SHORT", "UNLIMITED" };

static uint64_t deadline_at(enum deadline deadline)
{
	switch (deadline) {
	case NOW:
		return now_ns();
	case SHORT:
		return now_ns() + 5 * MS;
	default:
		return deadline == NEVER ? UNLIMITED : 0;
	}
}

static void expect_in_table(enum deadline deadline, enum nnb_status status, const char *why)
{
	bool good = !status;

	if (deadline == NOW)
		good = status == PERSISTENT; /* section 11 */
	else if (deadline == SHORT)
		good = !status || is_missed(status);
	if (!good)
		fail_msg("%s (%s)", nnb_status_name(status), why);
}

static struct table_row {
	char name[64];
	uint32_t priority;
	enum path path;
	enum deadline deadline;
} table_rows[N_PRIORITIES * N_PATHS * N_DEADLINES];

static void preparing(void **state)
{
	struct turns *f = *state;
	const struct table_row *row = f->row;
	struct nnb_prepare how = { .preference = 1, .priority = row->priority };
	struct nnb_model *m = step_model(N_OPS);
	struct nnb_remote *untouched = (struct nnb_remote *)f, *remote = untouched;
	struct nnb_reason why = { "" };
	enum nnb_status status;

	serve(f, OPTIONS(NULL));
	how.deadline_ns = deadline_at(row->deadline);
	status = nnb_remote_prepare(f->watch, m, &how, NULL, &remote, &why);
	expect_in_table(row->deadline, status, why.text);
	assert_true((remote != untouched) == !status); /* a model if and only if NONE */
	if (!status) {
		struct outcome o;
		struct steps s;

		steps_init(&s, N_OPS, APART, 5);
		steps_execute(remote, BY_SYNC, &s, &o);
		assert_true(o.right);
		steps_fini(&s);
		nnb_remote_release(remote);
	}
	nnb_model_free(m);
}

static void expect_timing(const struct outcome *o, bool measured)
{
	if (o->status || !measured) {
		assert_true(o->timing.on_device_ns == UINT64_MAX && o->timing.in_driver_ns == UINT64_MAX);
	} else {
		assert_true(o->timing.on_device_ns <= o->timing.in_driver_ns);
		assert_true(o->timing.in_driver_ns != UINT64_MAX);
	}
}

static void executing(void **state)
{
	struct turns *f = *state;
	const struct table_row *row = f->row;
	const struct nnb_prepare how = { .preference = 1, .priority = row->priority };
	struct nnb_model *m = step_model(N_OPS);
	struct nnb_remote *remote;
	struct outcome o;
	struct steps s;

	serve(f, OPTIONS(NULL));
	assert_none(nnb_remote_prepare(f->watch, m, &how, NULL, &remote, &why));
	steps_init(&s, N_OPS, APART, 7);
	for (int i = 0; i < 4; i++) {
		steps_refresh(&s);
		s.call.measure = i % 2;
		s.call.terms.loop_timeout_ns = i / 2 * MS; /* accepted: the model has no loops */
		s.call.terms.deadline_ns = deadline_at(row->deadline);
		steps_execute(remote, row->path, &s, &o);
		expect_in_table(row->deadline, o.status, o.why);
		if (row->path == BY_ASYNC) {
			assert_int_equal(o.launch, NNB_STATUS_NONE); /* */
			assert_int_equal(o.n_callbacks, 1);
		}
		assert_true(o.shapes_right && (o.n_shapes == 0 || o.n_shapes == 2));
		if (!o.status)
			assert_true(o.right && o.n_shapes == (row->path == BY_FENCED ? 0 : 2));
		else
			assert_int_equal(o.n_shapes, 0);
		expect_timing(&o, s.call.measure);
	}
	steps_fini(&s);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

/* */
static void an_invalid_priority_is_refused(void **state)
{
	static const uint32_t none[] = { 3, UINT32_MAX };
	struct turns *f = *state;
	struct nnb_model *m = step_model(N_OPS);
	struct nnb_remote *remote = NULL;
	bool each[N_OPS] = { false };

	serve(f, OPTIONS(NULL));
	for (size_t i = 0; i < N_OF(none); i++) {
		const struct nnb_prepare how = { .preference = 1, .priority = none[i] };

		assert_int_equal(nnb_remote_prepare(f->watch, m, &how, NULL, &remote, NULL),
		                 NNB_STATUS_INVALID_ARGUMENT);
		assert_null(remote);
	}
	assert_none(nnb_client_supported(f->watch, m, each, &why));
	for (int i = 0; i < N_OPS; i++)
		assert_true(each[i]);
	nnb_model_free(m);
}

/* ---- situations ---- */

static void tell(struct app *a, uint32_t priority, enum path path, uint32_t tag, uint64_t deadline_ns)
{
	app_send_order(a, &(struct order){ .what = ORDER_EXECUTE,
	                                   .model = priority,
	                                   .path = path,
	                                   .tag = tag,
	                                   .deadline_ns = deadline_ns,
	                                   .measure = true });
}

static void expect_miss(enum path path, const struct outcome *o, enum nnb_status status, const char *words)
{
	if (o->status != status)
		fail_msg("%s (%s), not %s", nnb_status_name(o->status), o->why, nnb_status_name(status));
	if (path == BY_SYNC && !strstr(o->why, words))
		fail_msg("'%s' does not say '%s'", o->why, words);
	if (path == BY_ASYNC)
		assert_true(o->launch == NNB_STATUS_NONE && o->n_callbacks == 1);
	assert_int_equal(o->n_shapes, 0);
	expect_timing(o, true);
}

/* The same again on a device that no other app uses: the execution succeeds in the end. */
static void works_now(struct turns *f, enum path path, uint64_t relative_ns)
{
	struct outcome o;
	int i = 0;

	do {
		tell(&f->apps[OURS], LOW, path, 11, now_ns() + relative_ns);
		o = app_read_outcome(&f->apps[OURS]);
	} while (is_missed(o.status) && ++i < RETRIES);
	if (!o.right)
		fail_msg("alone, too, it is %s (%s)", nnb_status_name(o.status), o.why);
}

/* The other app has so much queued before us that the service refuses us at once. */
static struct outcome queue_too_long(struct turns *f, enum path path, uint64_t relative_ns)
{
	enum { BEFORE_US = 24 };
	struct outcome o;

	gate_hold(&f->s, 0);
	for (uint32_t i = 0; i < BEFORE_US; i++)
		tell(&f->apps[OTHER], HIGH, (enum path)(i % N_PATHS), 20 + i, 0);
	gate_has_seen(&f->s, 1);
	await_waiting(f->watch, BEFORE_US - 1);
	tell(&f->apps[OURS], LOW, path, 10, now_ns() + relative_ns);
	o = app_read_outcome(&f->apps[OURS]);
	gate_open(&f->s);
	for (uint32_t i = 0; i < BEFORE_US; i++)
		assert_true(app_read_outcome(&f->apps[OTHER]).right);
	return o;
}

/* The other app keeps the lane, and we wait until the deadline has passed. */
static struct outcome lane_taken(struct turns *f, enum path path, uint64_t relative_ns)
{
	struct outcome o;

	gate_hold(&f->s, 0);
	tell(&f->apps[OTHER], LOW, BY_BURST, 20, 0);
	gate_has_seen(&f->s, 1);
	tell(&f->apps[OURS], LOW, path, 10, now_ns() + relative_ns);
	o = app_read_outcome(&f->apps[OURS]);
	gate_open(&f->s);
	assert_true(app_read_outcome(&f->apps[OTHER]).right);
	return o;
}

static void until(uint64_t moment_ns)
{
	while (now_ns() < moment_ns)
		poll_pause();
}

/*
 * We have the lane, and an operation takes until the deadline has passed. False: the service had refused us
 * before.
 */
static bool caught_up_with(struct turns *f, enum path path, uint64_t deadline_ns, unsigned op)
{
	gate_hold(&f->s, op);
	tell(&f->apps[OURS], LOW, path, 10, deadline_ns);
	while (!atomic_load(&f->s.gate->came))
		if (app_has_outcome(&f->apps[OURS]))
			return false;
	return true;
}

static struct outcome slow_operation(struct turns *f, enum path path, uint64_t relative_ns)
{
	uint64_t deadline_ns = now_ns() + relative_ns;

	if (caught_up_with(f, path, deadline_ns, 1))
		until(deadline_ns);
	gate_open(&f->s);
	return app_read_outcome(&f->apps[OURS]);
}

/* The other app has taken the lane from us, and keeps it until the deadline has passed. */
static struct outcome lane_taken_away(struct turns *f, enum path path, uint64_t relative_ns)
{
	struct outcome o;

	if (!caught_up_with(f, path, now_ns() + relative_ns, 0))
		return app_read_outcome(&f->apps[OURS]);
	tell(&f->apps[OTHER], HIGH, BY_BURST, 20, 0);
	await_waiting(f->watch, 1);
	gate_release_one(&f->s);
	o = app_read_outcome(&f->apps[OURS]);
	gate_open(&f->s);
	assert_true(app_read_outcome(&f->apps[OTHER]).right);
	return o;
}

static const struct miss_row {
	const char *name, *policy, *preempt;
	struct outcome (*happen)(struct turns *f, enum path path, uint64_t relative_ns);
	const char *words;
	unsigned first_ms; /* the first deadline to try */
	unsigned op_us;    /* the time of an operation while the models are prepared */
} miss_rows[] = {
	{ "at admission, because the queue before it lasts", "fifo", "none", queue_too_long,
	  "the queue before it lasts", 100, 10000 },
	{ "while it waits for a lane", "fair", "none", lane_taken, "the wait for a lane lasted until", 50 },
	{ "while it waits for a lane, where there is preemption", "fair", "save", lane_taken,
	  "the wait for a lane lasted until", 50 },
	{ "at a checkpoint", "fair", "none", slow_operation, "at a checkpoint", 100 },
	{ "while it is preempted", "priority", "save", lane_taken_away, "the wait for a lane lasted until", 200 },
	{ "while it is preempted, to start over", "priority", "restart", lane_taken_away,
	  "the wait for a lane lasted until", 200 },
};

/* The machine was slow: the deadline passed before the execution reached the point that the test wants. */
static bool is_too_early(enum path path, const struct outcome *o, const char *words)
{
	return o->status == PERSISTENT || (o->status == TRANSIENT && path == BY_SYNC && !strstr(o->why, words));
}

static void a_deadline_is_missed_for_now_and_not_when_alone(void **state)
{
	struct turns *f = *state;
	const struct miss_row *row = f->row;
	uint64_t relative_ns = 0;

	serve(f, OPTIONS("--lanes", "1", "--policy", row->policy, "--preempt", row->preempt));
	atomic_store(&f->s.gate->op_us, row->op_us);
	start_apps(f);
	atomic_store(&f->s.gate->op_us, 0);
	for (unsigned path = 0; path < N_PATHS; path++) {
		struct outcome o;

		relative_ns = row->first_ms * MS;
		do
			o = row->happen(f, (enum path)path, relative_ns);
		while (is_too_early((enum path)path, &o, row->words) && (relative_ns *= 2) < PATIENCE);
		expect_miss((enum path)path, &o, TRANSIENT, row->words);
		works_now(f, (enum path)path, relative_ns); /* the other app has no execution */
	}
	other_goes(f);
	for (unsigned path = 0; path < N_PATHS; path++)
		works_now(f, (enum path)path, relative_ns);
}

/* On an idle device, time after time. */
static void a_deadline_that_has_passed_is_missed_for_good(void **state)
{
	struct turns *f = *state;

	serve(f, OPTIONS(NULL));
	start_apps(f);
	other_goes(f);
	for (unsigned i = 0; i < RETRIES * N_PATHS; i++) {
		enum path path = (enum path)(i % N_PATHS);
		struct outcome o;

		tell(&f->apps[OURS], i % N_PRIORITIES, path, 10, i % 2 ? now_ns() : 1);
		o = app_read_outcome(&f->apps[OURS]);
		expect_miss(path, &o, PERSISTENT, "has passed");
	}
}

static void an_impossible_deadline_is_missed_for_good(void **state)
{
	enum {
		OP_US = 4000,
		SOON_MS = 4
	}; /* the shortest time of an operation, of N_OPS; and the time until
	                                     * the deadline */
	struct turns *f = *state;
	struct outcome o;

	serve(f, OPTIONS(NULL));
	atomic_store(&f->s.gate->op_us, OP_US);
	start_apps(f);
	other_goes(f);
	for (unsigned path = 0; path < N_PATHS; path++) {
		for (unsigned i = 0; i < 2 * RETRIES; i++) {
			tell(&f->apps[OURS], MEDIUM, (enum path)path, 10, now_ns() + SOON_MS * MS);
			o = app_read_outcome(&f->apps[OURS]);
			expect_miss((enum path)path, &o, PERSISTENT, "");
			if (i != RETRIES)
				continue;
			tell(&f->apps[OURS], MEDIUM, (enum path)path, 10, UNLIMITED); /* the service has an estimate
			                                                        * then, and keeps it */
			app_expect_right(&f->apps[OURS], 10);
		}
	}
}

/* ---- deadlines by mode ---- */

static const struct worth_row {
	const char *how;
	enum nnb_status passed, hopeless, waited, begun;
} worth_rows[] = {
	{ "abort", PERSISTENT, PERSISTENT, TRANSIENT, TRANSIENT },
	{ "refuse", PERSISTENT, PERSISTENT, TRANSIENT, NNB_STATUS_NONE },
	{ "advise", NNB_STATUS_NONE, NNB_STATUS_NONE, NNB_STATUS_NONE, NNB_STATUS_NONE },
};

static struct nnb_app_counts counts_of_app(struct turns *f)
{
	struct nnb_app_counts apps[8], ret = { 0 };
	uint32_t n = 0;

	assert_none(nnb_client_apps(f->watch, apps, N_OF(apps), &n, &why));
	for (uint32_t i = 0; i < n && i < N_OF(apps); i++)
		if (apps[i].app == (uint32_t)f->apps[OURS].child.pid)
			ret = apps[i];
	return ret;
}

/*
 * An execution waits behind the other until its deadline has passed; where the service gives up nothing for
 * that, until the other goes on.
 */
static struct outcome wait_behind(struct turns *f, enum path path, uint64_t relative_ns, bool patient)
{
	uint64_t deadline_ns;

	if (!patient)
		return lane_taken(f, path, relative_ns);
	gate_hold(&f->s, 0);
	tell(&f->apps[OTHER], LOW, BY_BURST, 20, 0);
	gate_has_seen(&f->s, 1);
	deadline_ns = now_ns() + relative_ns;
	tell(&f->apps[OURS], LOW, path, 10, deadline_ns);
	await_waiting(f->watch, 1);
	until(deadline_ns);
	assert_false(app_has_outcome(&f->apps[OURS]));
	gate_open(&f->s);
	assert_true(app_read_outcome(&f->apps[OTHER]).right);
	return app_read_outcome(&f->apps[OURS]);
}

static void expect_worth(const char *what, const struct outcome *o, enum nnb_status status)
{
	if (o->status != status || (!status && !o->right))
		fail_msg("%s: %s (%s), not %s", what, nnb_status_name(o->status), o->why, nnb_status_name(status));
}

static void a_deadline_works_as_in_the_service_s_mode(void **state)
{
	struct turns *f = *state;
	const struct worth_row *row = f->row;
	uint64_t late = 0, missed = 0;
	struct nnb_app_counts counts;

	serve(f, OPTIONS("--lanes", "1", "--deadline", row->how, "--preempt", "none"));
	start_apps(f);
	atomic_store(&f->s.gate->op_us, 20000);
	app_prepare_steps(&f->apps[OURS], 3, MEDIUM, N_OPS);
	atomic_store(&f->s.gate->op_us, 0);
	for (unsigned path = 0; path < N_PATHS; path++) {
		struct outcome o;
		uint64_t relative_ns;

		tell(&f->apps[OURS], LOW, (enum path)path, 10, now_ns());
		o = app_read_outcome(&f->apps[OURS]);
		expect_worth("passed", &o, row->passed);
		tell(&f->apps[OURS], 3, (enum path)path, 10, now_ns() + 2 * MS); /* the service's estimate is longer */
		o = app_read_outcome(&f->apps[OURS]);
		expect_worth("hopeless", &o, row->hopeless);
		relative_ns = 50 * MS;
		do
			o = wait_behind(f, (enum path)path, relative_ns, !row->waited);
		while (o.status == PERSISTENT && (relative_ns *= 2) < PATIENCE);
		expect_worth("waited", &o, row->waited);
		relative_ns = 100 * MS;
		do
			o = slow_operation(f, (enum path)path, relative_ns);
		while (!atomic_load(&f->s.gate->came) && (relative_ns *= 2) < PATIENCE); /* the execution never began */
		expect_worth("begun", &o, row->begun);
		missed += 1;
		late += !row->passed + !row->waited + !row->begun;
	}
	counts = counts_of_app(f);
	assert_true(counts.late >= late && (counts.missed_persistent >= missed) == (row->passed != NNB_STATUS_NONE));
}

/* ---- shortages while executing ---- */

/*
 * the app has as many executions as it may have. Other apps are not affected, and later there is room
 * again.
 */
static void too_many_at_once_is_for_now(void **state)
{
	struct turns *f = *state;
	struct outcome o;

	serve(f, OPTIONS("--limit", "async=2"));
	start_apps(f);
	for (unsigned path = BY_ASYNC; path <= BY_FENCED; path += BY_FENCED - BY_ASYNC) {
		gate_hold(&f->s, 0);
		for (unsigned i = 0; i < 2; i++)
			tell(&f->apps[OURS], MEDIUM, i ? BY_FENCED : BY_ASYNC, 20 + i, 0);
		gate_has_seen(&f->s, 2);
		for (int i = 0; i < 3; i++) {
			tell(&f->apps[OURS], MEDIUM, (enum path)path, 10, 0);
			o = app_read_outcome(&f->apps[OURS]);
			assert_int_equal(o.status, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
			assert_int_equal(o.launch, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT); /* P-32 */
			assert_int_equal(o.n_callbacks, path == BY_ASYNC);
			expect_timing(&o, true);
		}
		tell(&f->apps[OTHER], MEDIUM, (enum path)path, 30, 0);
		gate_has_seen(&f->s, 3);
		gate_open(&f->s);
		for (int i = 0; i < 2; i++)
			assert_true(app_read_outcome(&f->apps[OURS]).right);
		app_expect_right(&f->apps[OTHER], 30);
		tell(&f->apps[OURS], MEDIUM, (enum path)path, 10, 0);
		app_expect_right(&f->apps[OURS], 10);
	}
}

static void more_pools_than_allowed_is_for_good(void **state)
{
	struct turns *f = *state;

	serve(f, OPTIONS("--limit", "pools=1"));
	start_apps(f);
	other_goes(f);
	for (unsigned i = 0; i < RETRIES * N_PATHS; i++) {
		struct outcome o;

		tell(&f->apps[OURS], MEDIUM, (enum path)(i % N_PATHS), 10, 0);
		o = app_read_outcome(&f->apps[OURS]);
		if (o.status != NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT)
			fail_msg("%s: %s (%s)", path_names[i % N_PATHS], nnb_status_name(o.status), o.why);
		expect_timing(&o, true);
	}
}

/* ---- apps of HAL 1.2 (Q-20) ---- */

static void an_older_app(struct turns *f, struct nnb_client **client, struct nnb_remote **remote)
{
	const struct nnb_client_config config = { .socket = f->s.socket, .hal = NNB_HAL_1_2 };
	struct nnb_model *m = step_model(N_OPS);

	assert_int_equal(nnb_client_open(client, &config, NULL), 0);
	assert_none(nnb_remote_prepare(*client, m, NULL, NULL, remote, &why));
	nnb_model_free(m);
}

static void before_1_3_there_are_no_deadlines_and_no_priorities(void **state)
{
	struct turns *f = *state;
	struct nnb_model *m = step_model(N_OPS);
	struct nnb_remote *remote, *none = NULL;
	struct nnb_client *client;
	struct outcome o;
	struct steps s;

	serve(f, OPTIONS(NULL));
	an_older_app(f, &client, &remote);
	steps_init(&s, N_OPS, APART, 7);
	for (unsigned path = 0; path < N_PATHS; path++)
		for (int i = 0; i < 4; i++) {
			s.call.terms.deadline_ns = (const uint64_t[]){ 0, 1, UNLIMITED, 0 }[i];
			s.call.terms.loop_timeout_ns = i == 3;
			steps_refresh(&s);
			steps_execute(remote, (enum path)path, &s, &o);
			assert_int_equal(o.status,
			                 i || path == BY_FENCED ? NNB_STATUS_INVALID_ARGUMENT : NNB_STATUS_NONE);
			assert_true(o.status || o.right);
		}
	for (uint32_t i = 0; i < 4; i++) {
		const struct nnb_prepare how = { .preference = 1,
			                         .priority = i < N_PRIORITIES ? i : MEDIUM,
			                         .deadline_ns = i < N_PRIORITIES ? 0 : UNLIMITED };

		if (i == MEDIUM)
			continue;
		assert_int_equal(nnb_remote_prepare(client, m, &how, NULL, &none, NULL), NNB_STATUS_INVALID_ARGUMENT);
		assert_null(none);
	}
	steps_fini(&s);
	nnb_model_free(m);
	nnb_remote_release(remote);
	nnb_client_close(client);
}

static void before_1_3_a_shortage_is_a_general_failure(void **state)
{
	struct turns *f = *state;
	struct nnb_remote *remote;
	struct nnb_client *client;
	struct outcome o;
	struct steps s;

	serve(f, OPTIONS("--limit", "pools=1"));
	an_older_app(f, &client, &remote);
	steps_init(&s, N_OPS, APART, 7);
	for (unsigned path = 0; path < BY_FENCED; path++) {
		steps_execute(remote, (enum path)path, &s, &o);
		assert_int_equal(o.status, NNB_STATUS_GENERAL_FAILURE);
		assert_int_equal(o.launch, NNB_STATUS_GENERAL_FAILURE);
	}
	steps_fini(&s);
	nnb_remote_release(remote);
	nnb_client_close(client);
}

/* Other apps can still keep it from a lane; it waits as long as that takes. */
static void before_1_3_one_waits_for_its_lane(void **state)
{
	struct turns *f = *state;
	struct nnb_remote *remote;
	struct nnb_client *client;
	struct outcome o;
	struct steps s;

	serve(f, OPTIONS("--lanes", "1", "--preempt", "none"));
	an_older_app(f, &client, &remote);
	start_apps(f);
	steps_init(&s, N_OPS, APART, 7);
	gate_hold(&f->s, 0);
	tell(&f->apps[OURS], HIGH, BY_BURST, 20, UNLIMITED);
	gate_has_seen(&f->s, 1);
	gate_open(&f->s);
	steps_execute(remote, BY_BURST, &s, &o);
	assert_true(o.right);
	app_expect_right(&f->apps[OURS], 20);
	steps_fini(&s);
	nnb_remote_release(remote);
	nnb_client_close(client);
}

/* ---- */

#define TEST(run, ...) add_test(run, turns_set_up, turns_tear_down, NULL, __VA_ARGS__)
#define TEST_ROW(run, row, ...) add_test(run, turns_set_up, turns_tear_down, (void *)(uintptr_t)(row), __VA_ARGS__)

static void add_tables(void)
{
	size_t n = 0;

	for (uint32_t priority = 0; priority < N_PRIORITIES; priority++)
		for (unsigned path = 0; path < N_PATHS; path++)
			for (unsigned deadline = 0; deadline < N_DEADLINES; deadline++) {
				struct table_row *row = &table_rows[n++];

				row->priority = priority;
				row->path = (enum path)path;
				row->deadline = (enum deadline)deadline;
				if (!path)
					TEST_ROW(preparing, row, "6.7: prepare, priority %s, %s",
					         priority_names[priority], deadline_names[deadline]);
				TEST_ROW(executing, row, "6.7: execute %s, priority %s, %s", path_names[path],
				         priority_names[priority], deadline_names[deadline]);
			}
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene"))
		app_scene(argv[3], argv[4]);
	add_tables();
	TEST(an_invalid_priority_is_refused, "Q-40: a priority that is none is refused");
	for (size_t i = 0; i < N_OF(miss_rows); i++)
		TEST_ROW(a_deadline_is_missed_for_now_and_not_when_alone, &miss_rows[i],
		         "Q-21: a deadline is missed for now %s", miss_rows[i].name);
	TEST(a_deadline_that_has_passed_is_missed_for_good, "Q-21: a deadline that has passed is missed for good");
	TEST(an_impossible_deadline_is_missed_for_good, "Q-21: an impossible deadline is missed for good");
	for (size_t i = 0; i < N_OF(worth_rows); i++)
		TEST_ROW(a_deadline_works_as_in_the_service_s_mode, &worth_rows[i], "Q-14: --deadline %s",
		         worth_rows[i].how);
	TEST(too_many_at_once_is_for_now, "Q-22: too many executions at once is for now");
	TEST(more_pools_than_allowed_is_for_good, "Q-22: more pools than allowed is for good");
	TEST(before_1_3_there_are_no_deadlines_and_no_priorities,
	     "Q-20: before 1.3 there are no deadlines and no priorities");
	TEST(before_1_3_a_shortage_is_a_general_failure, "Q-20: before 1.3 a shortage is a general failure");
	TEST(before_1_3_one_waits_for_its_lane, "before 1.3 one waits for its lane");
	return _cmocka_run_group_tests("quality of service", tests, n_tests, NULL, NULL);
}

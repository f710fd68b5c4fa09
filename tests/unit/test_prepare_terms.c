/*
 * test_prepare_terms.c -- the terms of a preparation: priorities and deadlines, of a model and of a cache
 * entry, in this process and at a service in another process.
 */
#include "base.h"
#include "nnb/service.h"
#include "service_helpers.h"

enum { N = 64, HEAVY = 2000 /* operations */ };

enum way { AT_HOME, AT_HOME_FROM_CACHE, AT_THE_SERVICE, AT_THE_SERVICE_FROM_CACHE, N_WAYS };

static const char *const ways[] = { "at home", "at home, from the cache", "at the service",
	                            "at the service, from the cache" };

struct fixture {
	struct service s;
	struct nnb_device *home; /* the same driver, in this process */
	struct nnb_client *client;
	struct nnb_model *adds;
	int files[2][2];
	struct nnb_cache cache[2]; /* home's, and the service's */
	const void *row;
};

static int set_up_with(void **state, const char *const *options)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, options);
	f->home = open_device(DRIVER_GATE);
	f->client = app_open(&f->s);
	f->adds = vector_model(NNB_ADD, N, 1);
	for (int i = 0; i < 2; i++) {
		f->files[i][0] = memfd_create("model", MFD_CLOEXEC);
		f->files[i][1] = memfd_create("data", MFD_CLOEXEC);
		f->cache[i] = (struct nnb_cache){ &f->files[i][0], &f->files[i][1], 1, 1, { 7 } };
	}
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, OPTIONS(NULL));
}

static int set_up_advising(void **state)
{
	return set_up_with(state, OPTIONS("--deadline", "advise"));
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->s.gate->hold_prepares, 0);
	atomic_store(&f->s.gate->hold_runs, 0);
	await(&f->s.gate->prepared, 0); /* the driver holds no model that was refused */
	nnb_client_close(f->client);
	nnb_device_unref(f->home);
	nnb_model_free(f->adds);
	for (int i = 0; i < 4; i++)
		close(f->files[i / 2][i % 2]);
	service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- preparing by each way ---- */

static enum nnb_status prepare_at_home(struct fixture *f, enum way way, const struct nnb_model *m,
                                       const struct nnb_prepare *how, struct nnb_reason *why)
{
	struct nnb_prepared *untouched = (struct nnb_prepared *)f, *p = untouched;
	enum nnb_status status = way == AT_HOME
	                                 ? nnb_prepare(f->home, m, how, NULL, &p, why)
	                                 : nnb_prepare_from_cache(f->home, how->deadline_ns, &f->cache[0], &p, why);

	assert_true((p == untouched) == (status != NNB_STATUS_NONE));
	if (!status)
		nnb_prepared_unref(p);
	return status;
}

static enum nnb_status prepare_remotely(struct fixture *f, enum way way, const struct nnb_model *m,
                                        const struct nnb_prepare *how, struct nnb_reason *why)
{
	struct nnb_remote *untouched = (struct nnb_remote *)f, *p = untouched;
	enum nnb_status status = way == AT_THE_SERVICE ? nnb_remote_prepare(f->client, m, how, NULL, &p, why)
	                                               : nnb_remote_prepare_from_cache(f->client, m, how->deadline_ns,
	                                                                               &f->cache[1], &p, why);

	assert_true((p == untouched) == (status != NNB_STATUS_NONE));
	if (!status)
		nnb_remote_release(p);
	return status;
}

/* Prepare, and release the result, which exists exactly with NONE. */
static enum nnb_status prepare(struct fixture *f, enum way way, const struct nnb_model *m,
                               const struct nnb_prepare *how, struct nnb_reason *why)
{
	enum nnb_status status =
		way < AT_THE_SERVICE ? prepare_at_home(f, way, m, how, why) : prepare_remotely(f, way, m, how, why);

	assert_true(!status || why->text[0]);
	return status;
}

/* Save cache entries of @m for both ways. */
static void save(struct fixture *f, const struct nnb_model *m, const struct nnb_prepare *how)
{
	struct nnb_prepared *p;
	struct nnb_remote *remote;

	assert_none(nnb_prepare(f->home, m, how, &f->cache[0], &p, &why));
	nnb_prepared_unref(p);
	assert_none(nnb_remote_prepare(f->client, m, how, &f->cache[1], &remote, &why));
	nnb_remote_release(remote);
}

static bool is_missed(enum nnb_status status)
{
	return status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT || status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT;
}

/* ---- the cases of QualityOfServiceTests, and some more ---- */

enum deadline { NO_DEADLINE, LONG_AGO, NOW, SHORT, UNLIMITED, THE_LARGEST };

static const struct prepare_case {
	const char *name;
	enum deadline deadline;
	uint32_t priority;
} prepare_cases[] = {
	{ "priority low", NO_DEADLINE, NNB_PRIORITY_LOW },
	{ "priority medium", NO_DEADLINE, NNB_PRIORITY_MEDIUM },
	{ "priority high", NO_DEADLINE, NNB_PRIORITY_HIGH },
	{ "a deadline long ago", LONG_AGO, NNB_PRIORITY_MEDIUM },
	{ "deadline NOW", NOW, NNB_PRIORITY_MEDIUM },
	{ "deadline SHORT", SHORT, NNB_PRIORITY_MEDIUM },
	{ "deadline UNLIMITED", UNLIMITED, NNB_PRIORITY_MEDIUM },
	{ "deadline UNLIMITED, priority high", UNLIMITED, NNB_PRIORITY_HIGH },
	{ "the largest deadline", THE_LARGEST, NNB_PRIORITY_LOW },
};

static uint64_t deadline_at(enum deadline deadline)
{
	switch (deadline) {
	case LONG_AGO:
		return 1;
	case NOW:
		return now_ns();
	case SHORT:
		return now_ns() + 5 * MS;
	case UNLIMITED:
		return INT64_MAX;
	case THE_LARGEST:
		return UINT64_MAX;
	default:
		return 0;
	}
}

static void preparing_with(void **state)
{
	struct fixture *f = *state;
	const struct prepare_case *c = f->row;
	struct nnb_prepare how = { .preference = 1, .priority = c->priority };

	save(f, f->adds, &how);
	for (int way = 0; way < N_WAYS; way++) {
		struct nnb_reason why = { "" };
		enum nnb_status status;

		how.deadline_ns = deadline_at(c->deadline);
		status = prepare(f, (enum way)way, f->adds, &how, &why);
		if (c->deadline == SHORT ? status && !is_missed(status)
		                         : status != (c->deadline == LONG_AGO || c->deadline == NOW /* */
		                                              ? NNB_STATUS_MISSED_DEADLINE_PERSISTENT
		                                              : NNB_STATUS_NONE))
			fail_msg("%s: %s: %s", ways[way], nnb_status_name(status), why.text);
	}
}

/* A wrong argument is reported before a missed deadline. */
static void invalid_preferences_and_priorities_are_refused(void **state) /* O-4 */
{
	const uint32_t none[] = { 3, 4, 1u << 31, UINT32_MAX };
	struct fixture *f = *state;

	for (size_t i = 0; i < 4 * N_OF(none); i++) {
		const struct nnb_prepare how = { .preference = i & 1 ? none[i / 4] : 1,
			                         .priority = i & 1 ? 1 : none[i / 4],
			                         .deadline_ns = i & 2 ? 1 : 0 };
		struct nnb_prepared *p = NULL;
		struct nnb_reason why = { "" };
		bool from_cache;

		assert_int_equal(prepare(f, AT_HOME, f->adds, &how, &why), NNB_STATUS_INVALID_ARGUMENT);
		assert_int_equal(prepare(f, AT_THE_SERVICE, f->adds, &how, &why), NNB_STATUS_INVALID_ARGUMENT);
		assert_int_equal(
			nnb_prepare_cached(f->home, f->adds, &how, f->s.dir, f->cache[0].token, &p, &from_cache, &why),
			NNB_STATUS_INVALID_ARGUMENT);
		assert_null(p);
		/* The call saved no entry either. */
		assert_int_equal(nnb_prepare(f->home, f->adds, &how, &f->cache[0], &p, &why),
		                 NNB_STATUS_INVALID_ARGUMENT);
		assert_int_equal(prepare(f, AT_HOME_FROM_CACHE, f->adds, &ordinary, &why), NNB_STATUS_GENERAL_FAILURE);
	}
}

/* read back in this process, by a device like the service's. */
static void the_service_saves_the_priority_with_the_entry(void **state)
{
	struct fixture *f = *state;
	uint8_t key[NNB_KEY_BYTES];
	char path[64];

	snprintf(path, sizeof(path), "%s/key", f->s.dir);
	f->client = nnb_client_close(f->client);
	assert_int_equal(service_stop(&f->s), 0);
	service_start(&f->s, OPTIONS("--cache-key", path));
	assert_int_equal(nnb_cache_key_file(path, key), 0);
	nnb_device_cache_key(f->home, key);
	f->client = app_open(&f->s);
	for (uint32_t i = 0; i < 9; i++) {
		const struct nnb_prepare how = { .preference = i / 3, .priority = i % 3, .deadline_ns = INT64_MAX };
		struct nnb_remote *remote;
		struct nnb_prepared *p;

		assert_none(nnb_remote_prepare(f->client, f->adds, &how, &f->cache[1], &remote, &why));
		nnb_remote_release(remote);
		assert_none(nnb_prepare_from_cache(f->home, 0, &f->cache[1], &p, &why));
		assert_int_equal(nnb_prepared_how(p)->preference, how.preference);
		assert_int_equal(nnb_prepared_how(p)->priority, how.priority);
		assert_int_equal(nnb_prepared_how(p)->deadline_ns, 0);
		nnb_prepared_unref(p);
		assert_none(nnb_remote_prepare_from_cache(f->client, f->adds, 0, &f->cache[1], &remote, &why));
		nnb_remote_release(remote);
	}
}

struct call {
	struct nnb_burst *burst;
	struct io io;
	pthread_t thread;
	enum nnb_status status;
};

static void *execute(void *arg)
{
	struct call *c = arg;

	c->status = nnb_burst_execute(c->burst, &c->io.call, NULL, NULL);
	return NULL;
}

/* How long the client polls for the result of an execution that outlasts any polling window. */
static uint64_t polled_ns(struct fixture *f, struct call *c)
{
	struct nnb_fmq_waited last, total;

	atomic_store(&f->s.gate->hold_runs, 1);
	assert_int_equal(pthread_create(&c->thread, NULL, execute, c), 0);
	await(&f->s.gate->held_runs, 1);
	poll_pause();
	atomic_store(&f->s.gate->hold_runs, 0);
	pthread_join(c->thread, NULL);
	assert_int_equal(c->status, NNB_STATUS_NONE);
	nnb_burst_waited(c->burst, &last, &total);
	return last.spun_ns;
}

/* B-22, Q-4: the client learns the preference from the cache entry alone. */
static void a_burst_on_a_low_power_model_from_the_cache_does_not_poll(void **state)
{
	const struct nnb_prepare low_power = { .preference = 0, .priority = NNB_PRIORITY_MEDIUM };
	struct fixture *f = *state;
	struct nnb_remote *remote;
	struct call c;

	save(f, f->adds, &low_power);
	assert_none(nnb_remote_prepare_from_cache(f->client, f->adds, 0, &f->cache[1], &remote, &why));
	c.burst = app_burst(remote);
	io_init(&c.io, N);
	for (int i = 0; i < 20; i++)
		assert_int_equal(polled_ns(f, &c), 0);
	nnb_burst_free(c.burst);
	nnb_remote_release(remote);
	io_fini(&c.io);
}

/* ---- deadlines that pass during preparation ---- */

struct attempt {
	struct fixture *f;
	enum way way;
	struct nnb_prepare how;
	pthread_t thread;
	atomic_uint over;
	enum nnb_status status;
	struct nnb_reason why;
};

static void *attempt(void *arg)
{
	struct attempt *a = arg;

	a->status = prepare(a->f, a->way, a->f->adds, &a->how, &a->why);
	atomic_store(&a->over, 1);
	return NULL;
}

/* Prepare with @budget, and hold the driver for longer. False: the preparation did not begin in time. */
static bool attempt_that_is_held(struct attempt *a, uint64_t budget)
{
	struct gate *gate = a->f->s.gate;
	bool held;

	atomic_store(&gate->hold_prepares, 1);
	a->how.deadline_ns = now_ns() + budget;
	assert_int_equal(pthread_create(&a->thread, NULL, attempt, a), 0);
	while (!atomic_load(&gate->held_prepares) && !atomic_load(&a->over))
		poll_pause();
	held = atomic_load(&gate->held_prepares);
	while (now_ns() < a->how.deadline_ns)
		poll_pause();
	atomic_store(&gate->hold_prepares, 0);
	pthread_join(a->thread, NULL);
	return held;
}

/* the driver was held, so the miss is transient: a retry succeeds. */
static void a_deadline_that_passes_while_the_driver_waits_is_missed_for_now(void **state) /* */
{
	struct fixture *f = *state;

	save(f, f->adds, &ordinary);
	for (int way = 0; way < N_WAYS; way++) {
		uint64_t budget = 25 * MS;
		struct attempt a;
		struct nnb_reason why = { "" };

		do {
			a = (struct attempt){ .f = f, .way = (enum way)way, .how = ordinary };
			budget *= 2;
			assert_true(budget < PATIENCE);
		} while (!attempt_that_is_held(&a, budget));
		if (a.status != NNB_STATUS_MISSED_DEADLINE_TRANSIENT)
			fail_msg("%s: %s: %s", ways[way], nnb_status_name(a.status), a.why.text);
		a.how.deadline_ns = now_ns() + PATIENCE;
		assert_int_equal(prepare(f, (enum way)way, f->adds, &a.how, &why), NNB_STATUS_NONE);
	}
}

/* x + 1 + 1 + ... */
static struct nnb_model *heavy_model(void)
{
	const float one[4] = { 1, 1, 1, 1 };
	struct nnb_model *m;
	uint32_t x, at, act, y;

	assert_int_equal(nnb_model_new(&m, "heavy", NNB_HAL_1_0), 0);
	x = at = float_tensor(m, 4);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < HEAVY; i++, at = y) {
		uint32_t c = float_tensor(m, 4);

		y = float_tensor(m, 4);
		assert_int_equal(nnb_model_value(m, c, one, sizeof(one)), 0);
		assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ at, c, act }, 3, &y, 1) >= 0);
	}
	assert_int_equal(nnb_model_finish(m, &x, 1, &at, 1), 0);
	return m;
}

/*
 * the budget is below the cost, so the miss is permanent, at every try; with more time the preparation
 * succeeds.
 */
static void an_impossible_deadline_is_missed_for_good(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = heavy_model();
	struct nnb_prepare how = ordinary;
	struct nnb_reason why = { "" };
	uint64_t cost = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t began = thread_cpu_ns(), took;

		assert_int_equal(prepare(f, AT_HOME, m, &ordinary, &why), NNB_STATUS_NONE);
		took = thread_cpu_ns() - began;
		cost = took < cost ? took : cost;
	}
	for (int i = 0; i < 2 * 20; i++) {
		/*
		 * the driver goes on for 3 ms after the deadline; in that time it must find that twice the
		 * budget is too short
		 */
		how.deadline_ns = now_ns() + (cost / 8 < MS ? cost / 8 : MS);
		assert_int_equal(prepare(f, i & 1 ? AT_THE_SERVICE : AT_HOME, m, &how, &why),
		                 NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	}
	how.deadline_ns = now_ns() + PATIENCE;
	assert_int_equal(prepare(f, AT_HOME, m, &how, &why), NNB_STATUS_NONE);
	assert_int_equal(prepare(f, AT_THE_SERVICE, m, &how, &why), NNB_STATUS_NONE);
	nnb_model_free(m);
}

/* --deadline advise: the service gives up no preparation. */
static void an_advised_service_prepares_however_late(void **state)
{
	struct fixture *f = *state;
	struct nnb_prepare how = ordinary;
	struct nnb_reason why = { "" };

	assert_int_equal(nnb_client_info(f->client)->deadlines, NNB_DEADLINES_ADVISE);
	save(f, f->adds, &ordinary);
	for (int way = AT_THE_SERVICE; way < N_WAYS; way++) {
		struct attempt a = { .f = f, .way = (enum way)way, .how = ordinary };

		how.deadline_ns = 1;
		assert_int_equal(prepare(f, (enum way)way, f->adds, &how, &why), NNB_STATUS_NONE);
		assert_true(attempt_that_is_held(&a, 20 * MS));
		assert_int_equal(a.status, NNB_STATUS_NONE);
	}
}

#define TEST(f) add_test(f, set_up, tear_down, NULL, "%s", #f)

int main(void)
{
	for (size_t i = 0; i < N_OF(prepare_cases); i++)
		add_test(preparing_with, set_up, tear_down, (void *)&prepare_cases[i], "preparing with %s",
		         prepare_cases[i].name);
	TEST(invalid_preferences_and_priorities_are_refused);
	TEST(the_service_saves_the_priority_with_the_entry);
	TEST(a_burst_on_a_low_power_model_from_the_cache_does_not_poll);
	TEST(a_deadline_that_passes_while_the_driver_waits_is_missed_for_now);
	TEST(an_impossible_deadline_is_missed_for_good);
	add_test(an_advised_service_prepares_however_late, set_up_advising, tear_down, NULL,
	         "an advised service prepares however late");
	return _cmocka_run_group_tests("preparing: priorities and deadlines", tests, n_tests, NULL, NULL);
}

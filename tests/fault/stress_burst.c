/*
 * stress_burst.c -- bursts on several threads, under load: pools that are made and freed at any moment,
 * services that die, answers that come too late. Meant for the sanitizers. NNB_SOAK_SECONDS sets the length.
 *
 * The test checks each successful result; only a burst that was killed or gave up may fail. At the end there
 * are as many fds, mappings and threads as before.
 */
#include "fault/stress_length.h"
#include "unit/burst_helpers.h"

enum { WORKERS = 3, POOLS = 4, GRAVES = 8, LIFE = 60 /* executions of a burst, at most */ };

static const struct stress {
	const char *name;
	bool pools_go, services_die, answers_are_late, packets_do_not_fit;
} rows[] = {
	{ "bursts come and go" },
	{ "pools come and go, too", .pools_go = true },
	{ "services die", .pools_go = true, .services_die = true },
	{ "answers are late", .pools_go = true, .answers_are_late = true },
	{ "everything at once", true, true, true, true },
};

/* The current burst of a worker, which other threads may kill. */
struct stall {
	pthread_mutex_t lock;
	struct nnb_burst *burst;
	bool killed;
};

struct market {
	const struct stress *how;
	struct nnb_prepared *prepared;
	uint64_t end;
	_Atomic bool closed;
	struct stall stalls[WORKERS];
	struct nnb_pool *_Atomic graves[GRAVES]; /* memories that another thread frees */
	_Atomic uint64_t executions, fallbacks, failures;
	const char *_Atomic trouble;
};

struct worker {
	struct market *market;
	struct stall *stall;
	struct nnb_burst *burst;
	uint64_t seed;
	bool small, gave_up;
	struct nnb_pool *pools[POOLS];
	pthread_t thread;
};

static void trouble(struct market *m, const char *what)
{
	atomic_store(&m->trouble, what);
}

/* ---- pools ---- */

static struct nnb_pool *pool_or_abort(void)
{
	struct nnb_pool *p;

	if (nnb_pool_new(&p, LENGTH * 8))
		abort();
	return p;
}

/* Leave the pool to another thread, which frees it later, or free it here. */
static void leave_pool_to_another(struct market *m, struct nnb_pool *pool, uint64_t *seed)
{
	struct nnb_pool *none = NULL;

	if (!atomic_compare_exchange_strong(&m->graves[next_random(seed) % GRAVES], &none, pool))
		nnb_pool_free(pool);
}

static void replace_pool(struct worker *w, size_t i)
{
	leave_pool_to_another(w->market, w->pools[i], &w->seed);
	w->pools[i] = pool_or_abort();
}

static void *frees_pools(void *arg)
{
	struct market *m = arg;

	while (!atomic_load(&m->closed)) {
		for (size_t i = 0; i < GRAVES; i++)
			nnb_pool_free(atomic_exchange(&m->graves[i], NULL));
		nap();
	}
	return NULL;
}

/* ---- deaths ---- */

static void *kills(void *arg)
{
	struct market *m = arg;
	uint64_t seed = 77;

	while (!atomic_load(&m->closed)) {
		struct stall *s = &m->stalls[next_random(&seed) % WORKERS];

		pthread_mutex_lock(&s->lock);
		if (m->how->services_die && s->burst) {
			s->killed = true;
			nnb_burst_dead(s->burst);
		}
		pthread_mutex_unlock(&s->lock);
		nap();
	}
	return NULL;
}

static bool was_killed(struct stall *s)
{
	bool killed;

	pthread_mutex_lock(&s->lock);
	killed = s->killed;
	pthread_mutex_unlock(&s->lock);
	return killed;
}

static void show(struct stall *s, struct nnb_burst *b)
{
	pthread_mutex_lock(&s->lock);
	s->burst = b;
	s->killed = false;
	pthread_mutex_unlock(&s->lock);
}

/* ---- work ---- */

static bool open_burst(struct worker *w)
{
	static const uint64_t window[] = { NNB_FMQ_WINDOW_NONE, NNB_FMQ_WINDOW_AUTO, 2000 };
	struct nnb_burst_config c = { .window_ns = window[next_random(&w->seed) % N_OF(window)] };

	w->small = w->market->how->packets_do_not_fit && next_random(&w->seed) % 4 == 0;
	w->gave_up = false;
	c.request_capacity = w->small ? 4 : 0;
	if (nnb_burst_local(&w->burst, w->market->prepared, next_random(&w->seed) % 2, &c, NULL)) {
		trouble(w->market, "no burst was to be had");
		return false;
	}
	show(w->stall, w->burst);
	return true;
}

static void close_burst(struct worker *w)
{
	show(w->stall, NULL);
	w->burst = nnb_burst_free(w->burst);
}

/* Whether the burst had a reason to fall back or to fail. */
static bool may_have_failed(struct worker *w)
{
	return w->gave_up || was_killed(w->stall);
}

static void execute_once(struct worker *w)
{
	size_t x = next_random(&w->seed) % POOLS, y = next_random(&w->seed) % POOLS;
	float seed = (float)(next_random(&w->seed) % 1000);
	struct market *m = w->market;
	struct nnb_answer answer = { 0 };
	enum nnb_status status;
	bool late = m->how->answers_are_late && next_random(&w->seed) % 16 == 0;
	struct sum s;

	sum_init(&s, w->pools[x], w->pools[y]);
	sum_prepare(&s, seed);
	s.call.timeout_ns = late ? 1 + next_random(&w->seed) % 30000 : PATIENCE;
	s.call.measure = next_random(&w->seed) % 2;
	status = nnb_burst_execute(w->burst, &s.call, &answer, NULL);
	m->executions++;
	m->fallbacks += answer.fallback;
	if (!status && !sum_is_right(&s, seed))
		trouble(m, "a result is wrong");
	if (answer.fallback && !w->small && !may_have_failed(w))
		trouble(m, "a burst fell back for nothing");
	if (!status)
		return;
	w->gave_up |= late;
	m->failures++;
	if (status != NNB_STATUS_GENERAL_FAILURE || answer.fallback || !may_have_failed(w))
		trouble(m, "a burst failed for nothing");
	replace_pool(w, x); /* the service may still be writing */
	if (x != y)
		replace_pool(w, y);
}

static void *works(void *arg)
{
	struct worker *w = arg;
	struct market *m = w->market;

	for (size_t i = 0; i < POOLS; i++)
		w->pools[i] = pool_or_abort();
	while (now_ns() < m->end && !atomic_load(&m->trouble) && open_burst(w)) {
		for (uint64_t n = next_random(&w->seed) % LIFE; n; n--) {
			execute_once(w);
			if (m->how->pools_go && next_random(&w->seed) % 4 == 0)
				replace_pool(w, next_random(&w->seed) % POOLS);
		}
		if (next_random(&w->seed) % 2) /* other threads still free pools that the burst knows */
			replace_pool(w, next_random(&w->seed) % POOLS);
		close_burst(w);
	}
	for (size_t i = 0; i < POOLS; i++)
		nnb_pool_free(w->pools[i]);
	return NULL;
}

/* ---- */

static void run(struct market *m)
{
	struct worker workers[WORKERS];
	pthread_t killer, undertaker;

	for (size_t i = 0; i < WORKERS; i++)
		pthread_mutex_init(&m->stalls[i].lock, NULL);
	assert_int_equal(pthread_create(&killer, NULL, kills, m), 0);
	assert_int_equal(pthread_create(&undertaker, NULL, frees_pools, m), 0);
	for (size_t i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){ .market = m, .stall = &m->stalls[i], .seed = i + 1 };
		assert_int_equal(pthread_create(&workers[i].thread, NULL, works, &workers[i]), 0);
	}
	for (size_t i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	atomic_store(&m->closed, true);
	pthread_join(killer, NULL);
	pthread_join(undertaker, NULL);
	for (size_t i = 0; i < GRAVES; i++)
		nnb_pool_free(atomic_exchange(&m->graves[i], NULL));
}

static void nothing_breaks_and_nothing_is_left(void **state)
{
	struct market m = { .how = *state };
	unsigned fds = count_fds(), threads = count_threads(), mappings = count_memfd_mappings();

	m.prepared = prepared_sum("xnnpack");
	m.end = now_ns() + stress_length_ns(N_OF(rows), 700 * MS);
	run(&m);
	nnb_prepared_unref(m.prepared);
	if (m.trouble)
		fail_msg("%s", m.trouble);
	print_message("%llu executions, %llu fell back, %llu failed\n", (unsigned long long)m.executions,
	              (unsigned long long)m.fallbacks, (unsigned long long)m.failures);
	assert_true(m.executions > 100);
	assert_true(!m.how->services_die == !m.fallbacks || m.how->answers_are_late);
	assert_true(m.failures || !m.how->answers_are_late); /* otherwise the test had no late answer */
	await_threads(threads);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_memfd_mappings(), mappings);
}

int main(void)
{
	without_tracer();
	nnb_fmq_wake_cost(); /* the first call creates threads */
	for (size_t i = 0; i < N_OF(rows); i++)
		add_test(nothing_breaks_and_nothing_is_left, NULL, NULL, (void *)&rows[i], "%s", rows[i].name);
	return _cmocka_run_group_tests("bursts: stress", tests, n_tests, NULL, NULL);
}

/*
 * test_writes_told.c -- every write of a queue and every lookup of a slot emits an event, whichever side
 * makes it: a provider of the tests' own keeps the events.
 */
#include "unit/burst_helpers.h"

#include "unit/provider_fake.h"

static struct fake *fake;

static int set_up(void **state)
{
	struct nnb_fmq *q = burst_queue(8, 1); /* the first queue finds the provider */

	(void)state;
	nnb_fmq_free(q);
	fake = fake_loaded();
	assert_non_null(fake);
	memset(fake, 0, sizeof(*fake));
	alarm(WATCHDOG_S);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	memset(fake->on, 0, sizeof(fake->on));
	alarm(0);
	return 0;
}

static void listen_to(enum nbt_event event)
{
	__atomic_store_n(&fake->on[event], 1, __ATOMIC_RELAXED);
}

/* The @i-th event of its kind; NULL: there were fewer. It does not change later. */
static const void *heard(enum nbt_event event, unsigned i)
{
	const void *ret = NULL;

	pthread_mutex_lock(&fake->lock);
	assert_true(fake->n <= FAKE_LOG);
	for (unsigned k = 0; k < fake->n && !ret; k++)
		if (fake->log[k].event == event && !i--)
			ret = fake->log[k].bytes;
	pthread_mutex_unlock(&fake->lock);
	return ret;
}

#define HEARD(event, i) ((const struct nbt_##event *)heard(NBT_EVENT_##event, i))

static unsigned times_heard(enum nbt_event event)
{
	unsigned n = 0;

	while (heard(event, n))
		n++;
	return n;
}

/* ---- queues ---- */

static int in_place(struct nnb_fmq *q, const void *src, size_t n, int (*commit)(struct nnb_fmq *, size_t))
{
	struct nnb_fmq_tx tx;
	int r = nnb_fmq_begin_write(q, n, &tx);

	return r || !nnb_fmq_tx_copy_to(&tx, src, 0, n) ? r : commit(q, n);
}

static int writes(struct nnb_fmq *q, const void *src, size_t n)
{
	return nnb_fmq_write(q, src, n);
}

static int writes_blocking(struct nnb_fmq *q, const void *src, size_t n)
{
	return nnb_fmq_write_blocking(q, src, n, PATIENCE);
}

static int writes_with(struct nnb_fmq *q, const void *src, size_t n)
{
	return nnb_fmq_write_blocking_with(q, src, n, 1, 2, PATIENCE, NULL);
}

static int commits(struct nnb_fmq *q, const void *src, size_t n)
{
	return in_place(q, src, n, nnb_fmq_commit_write);
}

static int commits_and_wakes(struct nnb_fmq *q, const void *src, size_t n)
{
	return in_place(q, src, n, nnb_fmq_commit_write_and_wake);
}

static const struct way {
	const char *name;
	int (*write)(struct nnb_fmq *q, const void *src, size_t n);
	bool of_any; /* true: of unsynchronized queues, too */
} ways[] = {
	{ "nnb_fmq_write", writes, true },
	{ "nnb_fmq_write_blocking", writes_blocking, false },
	{ "nnb_fmq_write_blocking_with", writes_with, false },
	{ "nnb_fmq_commit_write", commits, true },
	{ "nnb_fmq_commit_write_and_wake", commits_and_wakes, false },
};

static void a_write_emits_an_event(void **state)
{
	const struct way *way = *state;
	const uint64_t words[3] = { 1, 2, 3 };
	struct nnb_fmq *q = burst_queue(8, 8), *other;

	assert_int_equal(way->write(q, words, 3), 0); /* without a listener */
	assert_int_equal(join_queue(&other, q), 0);
	listen_to(NBT_EVENT_fmq_write);
	assert_int_equal(way->write(other, words, 2), 0);
	assert_int_equal(way->write(other, words, 0), 0); /* no item, no event */
	assert_int_equal(nnb_fmq_write(other, words, 3), 0);
	assert_int_not_equal(nnb_fmq_write(other, words, 1), 0); /* full: no event */
	assert_int_equal(times_heard(NBT_EVENT_fmq_write), 2);
	assert_true(HEARD(fmq_write, 0)->items == 2 && HEARD(fmq_write, 0)->used == 3);
	assert_true(HEARD(fmq_write, 1)->items == 3 && HEARD(fmq_write, 1)->used == 5);
	assert_true(HEARD(fmq_write, 0)->queue == NBT_queue_other && !HEARD(fmq_write, 0)->exec);
	assert_true(HEARD(fmq_write, 0)->fmq && HEARD(fmq_write, 0)->fmq == HEARD(fmq_write, 1)->fmq);
	assert_int_equal(HEARD(fmq_write, 0)->blocked_ns, 0);
	nnb_fmq_free(other);
	nnb_fmq_free(q);
}

static void a_write_to_a_queue_that_does_not_wait_emits_an_event(void **state)
{
	const struct way *way = *state;
	const struct nnb_fmq_config c = { .elem_size = 8, .capacity = 4, .flavour = NNB_FMQ_UNSYNCHRONIZED };
	const uint64_t words[3] = { 1, 2, 3 };
	struct nnb_fmq *q;

	assert_int_equal(nnb_fmq_new(&q, &c), 0);
	listen_to(NBT_EVENT_fmq_write);
	for (int i = 0; i < 3; i++)
		assert_int_equal(way->write(q, words, 3), 0);
	assert_int_equal(times_heard(NBT_EVENT_fmq_write), 3);
	assert_true(HEARD(fmq_write, 2)->items == 3 && !HEARD(fmq_write, 2)->used);
	nnb_fmq_free(q);
}

static int reads_later(struct actor *a)
{
	uint64_t word;

	nanosleep(&(struct timespec){ .tv_nsec = 20 * MS }, NULL);
	return nnb_fmq_read_blocking(a->q, &word, 1, PATIENCE);
}

static void a_write_reports_how_long_there_was_no_room(void **state)
{
	struct nnb_fmq *q = burst_queue(8, 1);
	struct actor reader = { .act = reads_later, .q = q };
	uint64_t word = 1, began;

	(void)state;
	listen_to(NBT_EVENT_fmq_write);
	assert_int_equal(nnb_fmq_write(q, &word, 1), 0);
	assert_int_equal(nnb_fmq_write_blocking(q, &word, 1, MS), NNB_FMQ_TIMED_OUT); /* this wait counts, too */
	start(&reader);
	began = now_ns();
	assert_int_equal(nnb_fmq_write_blocking(q, &word, 1, PATIENCE), 0);
	assert_in_range(HEARD(fmq_write, 1)->blocked_ns, MS + 1, now_ns() - began + PATIENCE);
	assert_int_equal(finish(&reader), 0);
	assert_int_equal(nnb_fmq_read(q, &word, 1), 0);
	assert_int_equal(nnb_fmq_write(q, &word, 1), 0);
	assert_int_equal(HEARD(fmq_write, 2)->blocked_ns, 0); /* the earlier wait was another write's */
	nnb_fmq_free(q);
}

/* ---- bursts that no service numbers ---- */

static void listen_to_all(void)
{
	static const enum nbt_event events[] = { NBT_EVENT_fmq_write,      NBT_EVENT_slot_lookup,
		                                 NBT_EVENT_stream_open,    NBT_EVENT_client_connect,
		                                 NBT_EVENT_stream_close,   NBT_EVENT_sched_enqueue,
		                                 NBT_EVENT_sched_dispatch, NBT_EVENT_service_state };

	for (size_t i = 0; i < N_OF(events); i++)
		listen_to(events[i]);
}

static void expect_lookup(unsigned i, uint64_t exec, enum nbt_look look, bool hit)
{
	const struct nbt_slot_lookup *e = HEARD(slot_lookup, i);

	assert_non_null(e);
	assert_true(e->exec == exec);
	assert_int_equal(e->look, look);
	assert_int_equal(e->hit, hit);
}

/*
 * A burst of this process: events of request and result, and of each of its two pools when it is looked up.
 */
static void a_burst_of_this_process_emits_all_events(void **state)
{
	const bool cached = *(const bool *)*state;
	struct nnb_prepared *p = prepared_sum("xnnpack");
	struct nnb_answer answer = { 0 };
	struct nnb_burst *b;
	struct sum s;

	listen_to_all();
	sum_init(&s, new_pool(), new_pool());
	sum_prepare(&s, 5);
	assert_int_equal(nnb_burst_local(&b, p, cached, NULL, NULL), NNB_STATUS_NONE);
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_NONE);
	assert_true(answer.exec && (uint32_t)answer.exec == 1);
	assert_int_equal(times_heard(NBT_EVENT_fmq_write), 2);
	assert_true(HEARD(fmq_write, 0)->exec == answer.exec && HEARD(fmq_write, 1)->exec == answer.exec);
	assert_int_equal(HEARD(fmq_write, 0)->queue, NBT_queue_request);
	assert_int_equal(HEARD(fmq_write, 1)->queue, NBT_queue_result);
	assert_true(HEARD(fmq_write, 0)->fmq != HEARD(fmq_write, 1)->fmq);
	assert_int_equal(times_heard(NBT_EVENT_slot_lookup), 8);
	for (unsigned i = 0; i < 2; i++) {
		expect_lookup(i, answer.exec, NBT_look_client, false);
		expect_lookup(2 + i, answer.exec, NBT_look_first, false);
		expect_lookup(4 + i, answer.exec, NBT_look_again, false); /* looked up for the check before it
		                                                           * is mapped */
		expect_lookup(6 + i, answer.exec, NBT_look_again, true);
	}
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_NONE);
	assert_int_equal((uint32_t)answer.exec, 2);
	for (unsigned i = 0; i < 2; i++) {
		expect_lookup(8 + i, answer.exec, NBT_look_client, true);
		expect_lookup(10 + i, answer.exec, NBT_look_first, true);
	}
	assert_int_equal(times_heard(NBT_EVENT_slot_lookup), 12);
	assert_int_equal(times_heard(NBT_EVENT_stream_open), 1);
	assert_int_equal(HEARD(stream_open, 0)->stream, answer.exec >> 32);
	assert_int_equal(HEARD(stream_open, 0)->cache, cached ? NBT_cache_slots : NBT_cache_none);
	assert_true(HEARD(client_connect, 0)->pid == (uint32_t)getpid());
	assert_true(HEARD(client_connect, 0)->conn == HEARD(stream_open, 0)->conn);
	assert_true(times_heard(NBT_EVENT_sched_enqueue) == 2 && times_heard(NBT_EVENT_sched_dispatch) == 2);
	assert_int_equal(HEARD(sched_dispatch, 0)->lane, 254);
	nnb_burst_free(b);
	assert_int_equal(times_heard(NBT_EVENT_stream_close), 1);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
	nnb_prepared_unref(p);
}

static void a_new_listener_gets_the_present_state(void **state)
{
	struct nnb_prepared *p = prepared_sum("xnnpack");
	struct nnb_answer answer = { 0 };
	struct nnb_burst *b;
	struct sum s;

	(void)state;
	sum_init(&s, new_pool(), new_pool());
	sum_prepare(&s, 5);
	assert_int_equal(nnb_burst_local(&b, p, true, NULL, NULL), NNB_STATUS_NONE);
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_NONE);
	assert_int_equal(fake->n, 0);
	listen_to_all();
	listen_to(NBT_EVENT_pool_map);
	__atomic_store_n(&fake->listeners, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_NONE);
	assert_int_equal(times_heard(NBT_EVENT_stream_open), 1);
	assert_true(HEARD(stream_open, 0)->since && HEARD(stream_open, 0)->stream == answer.exec >> 32);
	assert_true(times_heard(NBT_EVENT_client_connect) == 1 && times_heard(NBT_EVENT_pool_map) == 2);
	assert_true(HEARD(pool_map, 0)->since && HEARD(pool_map, 0)->owner_id == answer.exec >> 32);
	nnb_burst_free(b);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
	nnb_prepared_unref(p);
}

/* The deadline of the call has passed. */
static void expect_missed(uint64_t exec, uint64_t deadline_ns)
{
	const struct nbt_deadline_miss *e = HEARD(deadline_miss, 0);

	assert_int_equal(times_heard(NBT_EVENT_deadline_miss), 1);
	assert_true(exec && e->exec == exec);
	assert_true(e->kind == NBT_miss_persistent && e->stage == NBT_stage_admission);
	assert_true(e->deadline_ns == deadline_ns && e->over_ns > 0);
}

static void a_missed_deadline_of_this_process_emits_an_event(void **state)
{
	const bool cached = *(const bool *)*state;
	struct nnb_prepared *p = prepared_sum("xnnpack");
	struct nnb_answer answer = { 0 };
	struct nnb_burst *b;
	struct sum s;

	sum_init(&s, new_pool(), new_pool());
	sum_prepare(&s, 5);
	assert_int_equal(nnb_burst_local(&b, p, cached, NULL, NULL), NNB_STATUS_NONE);
	listen_to(NBT_EVENT_deadline_miss);
	s.call.terms.deadline_ns = 5;
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	assert_false(answer.fallback);
	expect_missed(answer.exec, 5);
	nnb_burst_free(b);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
	nnb_prepared_unref(p);
}

/* A queue of two datums carries no request: the caller's thread executes it. */
static void a_request_that_no_queue_carries_emits_its_events(void **state)
{
	const struct nnb_burst_config config = { .request_capacity = 2 };
	const bool cached = *(const bool *)*state;
	struct nnb_prepared *p = prepared_sum("xnnpack");
	struct nnb_answer answer = { 0 };
	struct nnb_burst *b;
	struct sum s;

	listen_to_all();
	listen_to(NBT_EVENT_deadline_miss);
	listen_to(NBT_EVENT_exec_submit);
	sum_init(&s, new_pool(), new_pool());
	sum_prepare(&s, 5);
	assert_int_equal(nnb_burst_local(&b, p, cached, &config, NULL), NNB_STATUS_NONE);
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_NONE);
	assert_true(answer.fallback && (uint32_t)answer.exec == 1);
	assert_true(times_heard(NBT_EVENT_stream_open) == 2 && HEARD(stream_open, 1)->path == NBT_path_sync);
	assert_int_equal(HEARD(stream_open, 1)->stream, answer.exec >> 32);
	assert_true(times_heard(NBT_EVENT_exec_submit) == 1 && HEARD(exec_submit, 0)->exec == answer.exec);
	assert_true(HEARD(exec_submit, 0)->fallback && HEARD(exec_submit, 0)->path == NBT_path_sync);
	assert_true(times_heard(NBT_EVENT_sched_dispatch) == 1 && HEARD(sched_dispatch, 0)->exec == answer.exec);
	assert_int_equal(HEARD(sched_dispatch, 0)->lane, 254);
	s.call.terms.deadline_ns = 5;
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	assert_true(answer.fallback && (uint32_t)answer.exec == 2);
	expect_missed(answer.exec, 5);
	nnb_burst_free(b);
	assert_int_equal(times_heard(NBT_EVENT_stream_close), 2);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
	nnb_prepared_unref(p);
}

/*
 * Its deadline has passed, so the request is not executed; its slots are looked up all the same, because its
 * output buffers fail with it.
 */
static void the_lookups_of_a_refused_request_emit_events(void **state)
{
	struct nnb_prepared *p = prepared_sum("xnnpack");
	struct nnb_answer answer = { 0 };
	struct nnb_burst *b;
	struct sum s;

	(void)state;
	sum_init(&s, new_pool(), new_pool());
	sum_prepare(&s, 5);
	assert_int_equal(nnb_burst_local(&b, p, true, NULL, NULL), NNB_STATUS_NONE);
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_NONE);
	listen_to_all();
	s.call.terms.deadline_ns = 1;
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	assert_int_equal(times_heard(NBT_EVENT_slot_lookup), 4);
	for (unsigned i = 0; i < 2; i++) {
		expect_lookup(i, answer.exec, NBT_look_client, true);
		expect_lookup(2 + i, answer.exec, NBT_look_refused, true);
	}
	assert_int_equal(times_heard(NBT_EVENT_fmq_write), 2);
	nnb_burst_free(b);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
	nnb_prepared_unref(p);
}

/* A server with stream 0, of an app's own service: both sides give its executions the same numbers. */
static void a_context_of_an_app_s_own_emits_all_events(void **state)
{
	struct desk desk;
	struct nnb_answer answer = { 0 };
	struct nnb_burst *b;
	struct sum s;

	(void)state;
	listen_to_all();
	desk_init(&desk, prepared_sum("xnnpack"));
	b = desk_burst(&desk, NULL);
	sum_init(&s, new_pool(), new_pool());
	sum_prepare(&s, 5);
	assert_int_equal(burst_execute(b, &s.call, &answer, NULL), NNB_STATUS_NONE);
	assert_true(answer.exec);
	assert_true(HEARD(fmq_write, 0)->exec == answer.exec && HEARD(fmq_write, 1)->exec == answer.exec);
	assert_int_equal(times_heard(NBT_EVENT_slot_lookup), 8);
	nnb_burst_free(b);
	nnb_prepared_unref(desk.prepared);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
}

/* A server whose client writes datums itself; docs/examples/burst_context.c is a client whose server does. */
static void a_server_without_a_burst_emits_all_events(void **state)
{
	struct nnb_prepared *prepared = prepared_sum("xnnpack");
	struct nnb_request_datum *datums;
	struct peer p;
	struct sum s;
	uint32_t n;

	(void)state;
	listen_to_all();
	sum_init(&s, new_pool(), new_pool());
	sum_prepare(&s, 5);
	peer_init(&p, prepared);
	for (int i = 0; i < 2; i++)
		p.memories[i] = *nnb_pool_memory(s.call.pools[i]);
	datums = datums_of(&s.call, false, &n);
	expect_service(&p, datums, n);
	free(datums);
	assert_int_equal(times_heard(NBT_EVENT_fmq_write), 2);
	assert_true(HEARD(fmq_write, 0)->queue == NBT_queue_other && !HEARD(fmq_write, 0)->exec);
	assert_true(HEARD(fmq_write, 1)->queue == NBT_queue_result && (uint32_t)HEARD(fmq_write, 1)->exec == 1);
	assert_int_equal(times_heard(NBT_EVENT_slot_lookup), 6);
	peer_fini(&p);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
	nnb_prepared_unref(prepared);
}

static const bool both[] = { false, true };

int main(void)
{
	setenv("NNBURST_TRACEPOINTS", PROVIDER_FAKE, 1);
	for (size_t i = 0; i < N_OF(ways); i++) {
		add_test(a_write_emits_an_event, set_up, tear_down, (void *)&ways[i], "%s is told", ways[i].name);
		if (ways[i].of_any)
			add_test(a_write_to_a_queue_that_does_not_wait_emits_an_event, set_up, tear_down,
			         (void *)&ways[i], "%s is told where nothing waits", ways[i].name);
	}
	add_test(a_write_reports_how_long_there_was_no_room, set_up, tear_down, NULL,
	         "a write reports how long there was no room");
	for (size_t i = 0; i < N_OF(both); i++) {
		const char *name = both[i] ? "cached" : "plain";

		add_test(a_burst_of_this_process_emits_all_events, set_up, tear_down, (void *)&both[i],
		         "a burst of this process emits all events: %s", name);
		add_test(a_missed_deadline_of_this_process_emits_an_event, set_up, tear_down, (void *)&both[i],
		         "a missed deadline of this process emits an event: %s", name);
		add_test(a_request_that_no_queue_carries_emits_its_events, set_up, tear_down, (void *)&both[i],
		         "a request that no queue carries emits its events: %s", name);
	}
	add_test(a_new_listener_gets_the_present_state, set_up, tear_down, NULL,
	         "a new listener gets the present state");
	add_test(the_lookups_of_a_refused_request_emit_events, set_up, tear_down, NULL,
	         "the lookups of a refused request emit events");
	add_test(a_context_of_an_app_s_own_emits_all_events, set_up, tear_down, NULL,
	         "a context of one's own tells all");
	add_test(a_server_without_a_burst_emits_all_events, set_up, tear_down, NULL,
	         "a server without a burst emits all events");
	return _cmocka_run_group_tests("writes told", tests, n_tests, NULL, NULL);
}

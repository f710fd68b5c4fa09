/*
 * test_burst_slots.c -- slots: the number of each pool, how often the server asks for which slot, and what is
 * left of it after the pool is freed (S-1 to S-17).
 */
#include <sys/stat.h>

#include "unit/burst_helpers.h"

/* ---- the fixture: a burst with a service of its own, and some pools ---- */

enum { POOLS = 8 };

struct bench {
	struct desk desk;
	struct nnb_burst *burst;
	struct nnb_pool *pools[POOLS];
};

static int bench_init(void **state)
{
	struct bench *t = calloc(1, sizeof(*t));

	if (!t)
		return -1;
	desk_init(&t->desk, prepared_sum("xnnpack"));
	t->desk.plain = *(const bool *)*state;
	t->burst = desk_burst(&t->desk, NULL);
	for (int i = 0; i < POOLS; i++)
		t->pools[i] = new_pool();
	*state = t;
	alarm(WATCHDOG_S);
	return 0;
}

static int bench_fini(void **state)
{
	struct bench *t = *state;

	alarm(0);
	nnb_burst_free(t->burst);
	for (int i = 0; i < POOLS; i++)
		nnb_pool_free(t->pools[i]);
	nnb_prepared_unref(t->desk.prepared);
	free(t);
	return 0;
}

/* Execute with these pools: input in the first, output in the last. Check the result. */
static void expect_run_with(struct bench *t, struct nnb_pool *const *pools, uint32_t n)
{
	struct sum s;
	struct nnb_answer answer = { 0 };
	struct nnb_reason reason = { "" };

	sum_init(&s, pools[0], pools[n - 1]);
	s.out.location.pool = n - 1;
	s.call.pools = pools;
	s.call.n_pools = n;
	sum_prepare(&s, 5);
	if (burst_execute(t->burst, &s.call, &answer, &reason))
		fail_msg("%s", reason.text);
	assert_false(answer.fallback);
	assert_true(sum_is_right(&s, 5));
}

#define RUN_WITH(t, ...)                                           \
	do {                                                       \
		struct nnb_pool *const pools_[] = { __VA_ARGS__ }; \
		expect_run_with(t, pools_, N_OF(pools_));          \
	} while (0)

/* The last callback must be the @calls-th, and have asked for these slots. */
static void expect_asked(const struct bench *t, uint32_t calls, const int32_t *slots, uint32_t n)
{
	assert_int_equal(t->desk.calls, calls);
	assert_int_equal(t->desk.n_asked, n);
	assert_memory_equal(t->desk.asked, slots, n * sizeof(*slots));
}

#define EXPECT_ASKED(t, calls, ...)                           \
	do {                                                  \
		const int32_t slots_[] = { __VA_ARGS__ };     \
		expect_asked(t, calls, slots_, N_OF(slots_)); \
	} while (0)

/* Free pool @i, and set it to NULL. */
static void free_pool(struct bench *t, int i)
{
	t->pools[i] = nnb_pool_free(t->pools[i]);
}

static struct nnb_burst_counts counts_of(const struct bench *t)
{
	struct nnb_burst_counts c;

	nnb_burst_server_counts(t->desk.server, &c);
	return c;
}

/* ---- the client's side ---- */

static void a_pool_keeps_its_slot(void **state) /* S-2 */
{
	struct bench *t = *state;
	struct nnb_burst_counts c;

	RUN_WITH(t, t->pools[0], t->pools[1]);
	EXPECT_ASKED(t, 1, 0, 1);
	RUN_WITH(t, t->pools[1], t->pools[0]);
	RUN_WITH(t, t->pools[0], t->pools[1]);
	assert_int_equal(t->desk.calls, 1);
	RUN_WITH(t, t->pools[1], t->pools[2]);
	EXPECT_ASKED(t, 2, 2);
	c = counts_of(t); /* S-17 */
	assert_int_equal(c.requests, 4);
	assert_int_equal(c.lookups, 8);
	assert_int_equal(c.misses, 3);
	assert_int_equal(c.fetches, 2);
	assert_int_equal(c.malformed, 0);
}

static void the_last_slot_freed_is_the_next_one_given(void **state) /* S-2 */
{
	struct bench *t = *state;

	RUN_WITH(t, t->pools[0], t->pools[1], t->pools[2]);
	EXPECT_ASKED(t, 1, 0, 1, 2);
	free_pool(t, 2);
	free_pool(t, 0);
	assert_int_equal(t->desk.frees, 2);
	assert_int_equal(t->desk.freed[0], 2);
	assert_int_equal(t->desk.freed[1], 0);
	RUN_WITH(t, t->pools[3], t->pools[1]);
	EXPECT_ASKED(t, 2, 0);
	RUN_WITH(t, t->pools[4], t->pools[1]);
	EXPECT_ASKED(t, 3, 2);
	RUN_WITH(t, t->pools[5], t->pools[1]);
	EXPECT_ASKED(t, 4, 3);
}

static void another_pool_in_the_same_memory_is_another_pool(void **state)
{
	struct bench *t = *state;
	struct nnb_pool *twin;

	assert_int_equal(nnb_pool_from(&twin, nnb_pool_memory(t->pools[0])), 0);
	RUN_WITH(t, t->pools[0], t->pools[1]);
	RUN_WITH(t, twin, t->pools[1]);
	EXPECT_ASKED(t, 2, 2);
	nnb_pool_free(twin);
	assert_int_equal(t->desk.freed[0], 2);
}

static void a_pool_may_be_there_twice(void **state) /* S-3 */
{
	struct bench *t = *state;
	struct nnb_burst_counts c;

	RUN_WITH(t, t->pools[0], t->pools[1], t->pools[0], t->pools[1], t->pools[1]);
	EXPECT_ASKED(t, 1, 0, 1);
	RUN_WITH(t, t->pools[2], t->pools[2]);
	EXPECT_ASKED(t, 2, 2);
	c = counts_of(t);
	assert_int_equal(c.lookups, 7);
	assert_int_equal(c.misses, 3);
}

static void a_pool_that_the_burst_never_saw_is_freed_without_a_message(void **state) /* S-4 */
{
	struct bench *t = *state;

	free_pool(t, 3);
	assert_int_equal(t->desk.frees, 0);
	RUN_WITH(t, t->pools[0], t->pools[1]);
	free_pool(t, 0);
	assert_int_equal(t->desk.frees, 1);
	assert_null(nnb_pool_free(t->pools[0]));
	assert_int_equal(t->desk.frees, 1);
}

static void a_pool_is_freed_in_every_burst_that_has_seen_it(void **state) /* S-4 */
{
	struct bench *t = *state;
	struct desk second, third;
	struct nnb_burst *with, *without;
	struct sum s;

	desk_init(&second, t->desk.prepared);
	desk_init(&third, t->desk.prepared);
	with = desk_burst(&second, NULL);
	without = desk_burst(&third, NULL);
	RUN_WITH(t, t->pools[0], t->pools[1]);
	sum_init(&s, t->pools[2], t->pools[0]);
	expect_sum(with, &s, false);
	free_pool(t, 0);
	assert_int_equal(t->desk.frees, 1);
	assert_int_equal(t->desk.freed[0], 0);
	assert_int_equal(second.frees, 1);
	assert_int_equal(second.freed[0], 1);
	assert_int_equal(third.frees, 0);
	nnb_burst_free(with);
	nnb_burst_free(without);
	free_pool(t, 2); /* the burst that saw the pool is gone */
	assert_int_equal(second.frees, 1);
}

static void a_reused_slot_means_the_new_memory(void **state) /* S-6 */
{
	struct bench *t = *state;

	RUN_WITH(t, t->pools[0], t->pools[1]); /* RUN_WITH checks the result */
	for (uint32_t i = 0; i < 20; i++) {
		free_pool(t, 0);
		t->pools[0] = new_pool();
		RUN_WITH(t, t->pools[0], t->pools[1]);
		EXPECT_ASKED(t, 2 + i, 0);
	}
}

/* Free one pool on a thread of its own. */
static int frees_pool(struct actor *a)
{
	nnb_pool_free(a->arg);
	return 0;
}

static void a_slot_is_reused_only_when_the_service_has_released_it(void **state) /* S-5, S-6 */
{
	struct bench *t = *state;
	struct actor freeing = { .act = frees_pool, .arg = t->pools[0] };

	RUN_WITH(t, t->pools[0], t->pools[1]);
	t->pools[0] = NULL;
	gate_set(&t->desk.freeing, true);
	start(&freeing);
	gate_await(&t->desk.freeing);
	RUN_WITH(t, t->pools[2], t->pools[1]); /* does not wait for the free, and does not get slot 0 */
	EXPECT_ASKED(t, 2, 2);
	gate_set(&t->desk.freeing, false);
	finish(&freeing);
	RUN_WITH(t, t->pools[3], t->pools[1]);
	EXPECT_ASKED(t, 3, 0);
}

static void a_slot_that_the_service_does_not_release_is_never_reused(void **state) /* S-6 */
{
	struct bench *t = *state;

	RUN_WITH(t, t->pools[0], t->pools[1]);
	t->desk.keeps = NNB_STATUS_DEAD_OBJECT;
	free_pool(t, 0);
	t->desk.keeps = NNB_STATUS_NONE;
	RUN_WITH(t, t->pools[2], t->pools[1]);
	EXPECT_ASKED(t, 2, 2);
}

/* ---- the callback: S-7 ---- */

static ino_t inode(const struct nnb_memory *m)
{
	struct stat s;

	assert_int_equal(fstat(m->fds[0], &s), 0);
	return s.st_ino;
}

static void the_callback_answers_in_the_order_it_is_asked(void **state)
{
	static const int32_t slots[] = { 2, 0, 0, 1, 2 };
	struct bench *t = *state;
	struct nnb_memory got[N_OF(slots)] = { 0 };
	unsigned fds;

	RUN_WITH(t, t->pools[0], t->pools[1], t->pools[2]);
	fds = count_fds();
	assert_int_equal(t->desk.callback.memories(t->desk.callback.arg, slots, N_OF(slots), got), NNB_STATUS_NONE);
	assert_int_equal(count_fds(), fds + N_OF(slots)); /* the caller owns each */
	for (size_t i = 0; i < N_OF(slots); i++) {
		const struct nnb_memory *m = nnb_pool_memory(t->pools[slots[i]]);

		assert_true(inode(&got[i]) == inode(m));
		assert_int_equal(got[i].size, m->size);
		assert_string_equal(got[i].name, m->name);
		nnb_memory_close(&got[i]);
	}
	assert_int_equal(count_fds(), fds);
}

static const struct unknown_case {
	const char *name;
	int32_t slots[4]; /* the server knows 0 and 1; 2 was freed */
	uint32_t n;
} unknown_cases[] = {
	{ "one below zero", { -1 }, 1 },
	{ "the smallest", { INT32_MIN }, 1 },
	{ "the first never given", { 3 }, 1 },
	{ "the largest", { INT32_MAX }, 1 },
	{ "one that was freed", { 2 }, 1 },
	{ "known ones first", { 0, 1, 0, 2 }, 4 },
	{ "the unknown one first", { 7, 0, 1 }, 3 },
	{ "the unknown one between", { 1, -1, 0 }, 3 },
};

static void the_callback_answers_all_or_nothing(void **state)
{
	struct bench *t = *state;
	unsigned fds;

	RUN_WITH(t, t->pools[0], t->pools[1], t->pools[2]);
	free_pool(t, 2);
	fds = count_fds();
	for (size_t i = 0; i < N_OF(unknown_cases); i++) {
		const struct unknown_case *c = &unknown_cases[i];
		struct nnb_memory got[4] = { 0 };

		if (t->desk.callback.memories(t->desk.callback.arg, c->slots, c->n, got) != NNB_STATUS_INVALID_ARGUMENT)
			fail_msg("%s", c->name);
		assert_int_equal(count_fds(), fds);
	}
}

/* ---- the service's side ---- */

static void missing_slots_are_queried_at_once_sorted_and_each_once(void **state) /* S-8 */
{
	struct bench *t = *state;

	RUN_WITH(t, t->pools[0], t->pools[1], t->pools[2], t->pools[3], t->pools[4]);
	EXPECT_ASKED(t, 1, 0, 1, 2, 3, 4);
	for (int32_t slot = 1; slot <= 4; slot++)
		nnb_burst_server_free_memory(t->desk.server, slot);
	RUN_WITH(t, t->pools[4], t->pools[1], t->pools[0], t->pools[4], t->pools[2], t->pools[1]);
	EXPECT_ASKED(t, 2, 1, 2, 4);
	RUN_WITH(t, t->pools[3], t->pools[3], t->pools[4]);
	EXPECT_ASKED(t, 3, 3);
	RUN_WITH(t, t->pools[4], t->pools[3], t->pools[2], t->pools[1], t->pools[0]);
	assert_int_equal(t->desk.calls, 3);
}

static const enum nnb_status failures[] = { NNB_STATUS_GENERAL_FAILURE, NNB_STATUS_INVALID_ARGUMENT,
	                                    NNB_STATUS_DEVICE_UNAVAILABLE, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	                                    NNB_STATUS_DEAD_OBJECT };

static void a_request_fails_with_the_status_of_its_callback(void **state) /* S-10, section 11 */
{
	struct bench *t = *state;
	struct sum s;

	sum_init(&s, t->pools[0], t->pools[1]);
	for (uint32_t i = 0; i < N_OF(failures); i++) {
		t->desk.told = failures[i];
		expect_failure(t->burst, &s.call, failures[i]);
		EXPECT_ASKED(t, i + 1, 0, 1); /* the server kept none of the slots */
	}
	assert_int_equal(t->desk.executions, 0);
	t->desk.told = NNB_STATUS_NONE;
	expect_sum(t->burst, &s, false);
	EXPECT_ASKED(t, N_OF(failures) + 1, 0, 1);
	assert_int_equal(t->desk.fallbacks, 0);
}

/* A pool of memory that a message can carry, and that cannot be mapped. */
static struct nnb_pool *unmappable_pool(void)
{
	const struct nnb_hardware_buffer image = { 8, 8, 1, NNB_FORMAT_R8G8B8A8, 8 };
	struct nnb_memory m;
	struct nnb_pool *p;

	assert_int_equal(nnb_memory_hardware_buffer(&m, &image), 0);
	assert_int_equal(nnb_pool_from(&p, &m), 0);
	nnb_memory_close(&m);
	assert_null(nnb_pool_data(p));
	return p;
}

static void memory_that_cannot_be_mapped_stays_missing(void **state) /* S-11; P-13 where the server keeps no mapping */
{
	struct bench *t = *state;
	struct nnb_pool *image = unmappable_pool();
	struct nnb_pool *const pools[] = { t->pools[0], image };
	struct sum s;
	uint32_t calls;

	RUN_WITH(t, t->pools[0], t->pools[1]);
	sum_init(&s, t->pools[0], t->pools[1]);
	s.call.pools = pools;
	/* the whole output, so that nothing else is wrong with the request */
	s.out.location = (struct nnb_location){ .pool = 1 };
	for (uint32_t i = 0; i < 3; i++) {
		expect_failure(t->burst, &s.call, NNB_STATUS_GENERAL_FAILURE);
		EXPECT_ASKED(t, t->desk.plain ? 2 : 2 + i, 2);
	}
	calls = t->desk.calls;
	RUN_WITH(t, t->pools[0], t->pools[1]);
	assert_int_equal(t->desk.calls, calls);
	nnb_pool_free(image);
	RUN_WITH(t, t->pools[0], t->pools[1]);
}

static void a_request_is_validated_when_its_slots_are_known(void **state) /* S-12 */
{
	struct bench *t = *state;
	struct sum s;

	sum_init(&s, t->pools[0], t->pools[1]);
	s.call.n_inputs = 0;
	expect_failure(t->burst, &s.call, NNB_STATUS_INVALID_ARGUMENT);
	EXPECT_ASKED(t, 1, 0, 1);
	s.call.n_inputs = 1;
	expect_sum(t->burst, &s, false);
	assert_int_equal(t->desk.calls, 1); /* the server keeps them */
}

/* One execution on a thread of its own. */
struct execution {
	struct actor actor;
	struct nnb_burst *burst;
	struct sum sum;
};

static int executes(struct actor *a)
{
	struct execution *e = a->arg;

	return (int)burst_execute(e->burst, &e->sum.call, NULL, NULL);
}

static void execute_elsewhere(struct execution *e, struct bench *t, struct nnb_pool *x, struct nnb_pool *y)
{
	*e = (struct execution){ .actor = { .act = executes, .arg = e }, .burst = t->burst };
	sum_init(&e->sum, x, y);
	sum_prepare(&e->sum, 6);
	start(&e->actor);
}

static void a_slot_freed_in_an_execution_is_used_until_its_end(void **state) /* S-13 */
{
	struct bench *t = *state;
	struct execution e;

	for (uint32_t i = 1; i <= 5; i++) {
		gate_set(&t->desk.executing, true);
		execute_elsewhere(&e, t, t->pools[0], t->pools[1]);
		gate_await(&t->desk.executing);
		nnb_burst_server_free_memory(t->desk.server, 0); /* returns while the execution is held at the gate */
		nnb_burst_server_free_memory(t->desk.server, 1);
		nnb_burst_server_free_memory(t->desk.server, 1);
		gate_set(&t->desk.executing, false);
		assert_int_equal(finish(&e.actor), NNB_STATUS_NONE);
		assert_true(sum_is_right(&e.sum, 6));
		EXPECT_ASKED(t, i, 0, 1); /* the next request finds no slots */
	}
}

static void freeing_an_unknown_slot_is_harmless(void **state) /* S-13 */
{
	static const int32_t slots[] = { -1, INT32_MIN, INT32_MAX, 2, 1000000 };
	struct bench *t = *state;

	RUN_WITH(t, t->pools[0], t->pools[1]);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < N_OF(slots); i++)
			nnb_burst_server_free_memory(t->desk.server, slots[i]);
	RUN_WITH(t, t->pools[0], t->pools[1]);
	assert_int_equal(t->desk.calls, 1);
}

static void a_mapping_lives_as_long_as_its_slot(void **state) /* S-9, S-14 */
{
	struct bench *t = *state;
	unsigned fds = count_fds(), before = count_memfd_mappings();
	unsigned per_slot = t->desk.plain ? 0 : 1;

	RUN_WITH(t, t->pools[0], t->pools[1], t->pools[2]);
	assert_int_equal(count_memfd_mappings(), before + 3 * per_slot);
	assert_int_equal(count_fds(), fds + (t->desk.plain ? 3 : 0)); /* a mapping needs no fd */
	RUN_WITH(t, t->pools[0], t->pools[1]);
	assert_int_equal(count_memfd_mappings(), before + 3 * per_slot);
	nnb_burst_server_free_memory(t->desk.server, 2); /* a slot that the last request did not use */
	nnb_burst_server_free_memory(t->desk.server, 0); /* a slot of the last request */
	assert_int_equal(count_memfd_mappings(), before + per_slot);
	assert_int_equal(count_fds(), fds + (t->desk.plain ? 1 : 0));
	RUN_WITH(t, t->pools[0], t->pools[1], t->pools[2]);
	free_pool(t, 2); /* this closes the client's own mapping and fd, too */
	assert_int_equal(count_memfd_mappings(), before + 2 * per_slot - 1);
	t->burst = nnb_burst_free(t->burst);
	assert_int_equal(count_memfd_mappings(), before - 1 - 4); /* two queues, mapped on each side */
	assert_true(count_fds() < fds);
}

static void a_bogus_slot_is_refused_and_the_burst_goes_on(void **state) /* S-15 */
{
	static const int32_t bogus[] = { INT32_MAX, -1, INT32_MIN, SLOTS_MAX - 1 };
	struct bench *t = *state;
	struct nnb_request_datum *datums;
	struct peer p;
	struct sum s;
	uint32_t n;

	sum_init(&s, t->pools[0], t->pools[1]);
	peer_init(&p, t->desk.prepared);
	for (uint32_t i = 0; i < 2; i++)
		p.memories[i] = *nnb_pool_memory(t->pools[i]);
	datums = datums_of(&s.call, false, &n);
	for (size_t i = 0; i < N_OF(bogus); i++) {
		datums[n - 2].slot = bogus[i];
		for (int k = 0; k < 2; k++)
			expect_refusal(&p, datums, n, NNB_STATUS_INVALID_ARGUMENT);
		datums[n - 2].slot = 1;
		expect_service(&p, datums, n);
	}
	free(datums);
	peer_fini(&p);
}

/* ---- S-13b: neither side waits for the other with a lock held ---- */

static void a_pool_is_freed_while_the_service_asks_for_another(void **state)
{
	struct bench *t = *state;
	struct execution e;

	RUN_WITH(t, t->pools[0], t->pools[1]);
	gate_set(&t->desk.asking, true);
	execute_elsewhere(&e, t, t->pools[2], t->pools[3]);
	gate_await(&t->desk.asking);
	free_pool(t, 0); /* returns, although the callback has not */
	assert_int_equal(t->desk.frees, 1);
	gate_set(&t->desk.asking, false);
	assert_int_equal(finish(&e.actor), NNB_STATUS_NONE);
	assert_true(sum_is_right(&e.sum, 6));
}

static void a_pool_is_asked_for_while_another_is_being_freed(void **state)
{
	struct bench *t = *state;
	struct actor freeing = { .act = frees_pool, .arg = t->pools[0] };

	RUN_WITH(t, t->pools[0], t->pools[1]);
	t->pools[0] = NULL;
	gate_set(&t->desk.freeing, true);
	start(&freeing);
	gate_await(&t->desk.freeing);
	RUN_WITH(t, t->pools[2], t->pools[3]);
	gate_set(&t->desk.freeing, false);
	finish(&freeing);
}

static int frees_burst(struct actor *a)
{
	nnb_burst_free(a->arg);
	return 0;
}

/* A request whose client has given up may still be about to fetch its pools. */
static void the_callback_does_not_touch_a_pool_freed_after_its_burst(void **state)
{
	struct bench *t = *state;
	struct actor freeing = { .act = frees_burst, .arg = t->burst };
	struct sum s;

	sum_init(&s, t->pools[0], t->pools[1]);
	s.call.timeout_ns = 1;
	gate_set(&t->desk.asking, true);
	expect_failure(t->burst, &s.call, NNB_STATUS_GENERAL_FAILURE);
	gate_await(&t->desk.asking);
	start(&freeing);
	while (!t->desk.cancelled)
		nap();
	free_pool(t, 0);
	free_pool(t, 1);
	gate_set(&t->desk.asking, false);
	finish(&freeing);
	t->burst = NULL;
	assert_int_equal(t->desk.answered, NNB_STATUS_INVALID_ARGUMENT);
	assert_int_equal(t->desk.executions, 0);
}

/* Hands pools to a thread that frees them. */
struct undertaker {
	struct nnb_pool *_Atomic next;
	_Atomic bool stop;
};

static int hands_pools_over(struct actor *a)
{
	struct undertaker *u = a->arg;

	for (;;) {
		struct nnb_pool *p = atomic_exchange(&u->next, NULL);

		if (!p && atomic_load(&u->stop))
			return 0;
		if (p)
			nnb_pool_free(p);
		else
			sched_yield();
	}
}

static void pools_come_and_go_during_executions_with_others(void **state)
{
	enum { ROUNDS = 10000 };
	struct bench *t = *state;
	struct undertaker u = { NULL };
	struct actor burying = { .act = hands_pools_over, .arg = &u };
	struct nnb_pool *x = new_pool();

	start(&burying);
	for (int i = 0; i < ROUNDS; i++) {
		struct nnb_pool *y = new_pool(), *none = NULL;

		while (!atomic_compare_exchange_weak(&u.next, &none, x)) {
			none = NULL;
			sched_yield();
		}
		RUN_WITH(t, y, t->pools[1]);
		x = y;
	}
	atomic_store(&u.stop, true);
	finish(&burying);
	nnb_pool_free(x);
	assert_int_equal(t->desk.calls, ROUNDS);
	assert_int_equal(t->desk.frees, ROUNDS);
}

static const bool both[] = { false, true };

#define TEST(f)                                    \
	for (size_t i_ = 0; i_ < N_OF(both); i_++) \
	add_test(f, bench_init, bench_fini, (void *)&both[i_], "%s: %s", both[i_] ? "plain" : "cached", #f)

int main(void)
{
	without_tracer();
	TEST(a_pool_keeps_its_slot);
	TEST(the_last_slot_freed_is_the_next_one_given);
	TEST(another_pool_in_the_same_memory_is_another_pool);
	TEST(a_pool_may_be_there_twice);
	TEST(a_pool_that_the_burst_never_saw_is_freed_without_a_message);
	TEST(a_pool_is_freed_in_every_burst_that_has_seen_it);
	TEST(a_reused_slot_means_the_new_memory);
	TEST(a_slot_is_reused_only_when_the_service_has_released_it);
	TEST(a_slot_that_the_service_does_not_release_is_never_reused);
	TEST(the_callback_answers_in_the_order_it_is_asked);
	TEST(the_callback_answers_all_or_nothing);
	TEST(missing_slots_are_queried_at_once_sorted_and_each_once);
	TEST(a_request_fails_with_the_status_of_its_callback);
	TEST(memory_that_cannot_be_mapped_stays_missing);
	TEST(a_request_is_validated_when_its_slots_are_known);
	TEST(a_slot_freed_in_an_execution_is_used_until_its_end);
	TEST(freeing_an_unknown_slot_is_harmless);
	TEST(a_mapping_lives_as_long_as_its_slot);
	TEST(a_bogus_slot_is_refused_and_the_burst_goes_on);
	TEST(a_pool_is_freed_while_the_service_asks_for_another);
	TEST(a_pool_is_asked_for_while_another_is_being_freed);
	TEST(the_callback_does_not_touch_a_pool_freed_after_its_burst);
	TEST(pools_come_and_go_during_executions_with_others);
	return _cmocka_run_group_tests("slots", tests, n_tests, NULL, NULL);
}

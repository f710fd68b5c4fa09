/*
 * test_again.c -- the short way of a burst: a message that is in the ring already is not written again, and a request
 * that equals the last one is executed again at less cost, until anything changes.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "unit/burst_helpers.h"

#include "burst/executor.h"
#include "driver/execution.h"
#include "fmq/queue.h"
#include "sched/run.h"

/* ---- messages ---- */

/* Send @message, and expect the reader to get it. */
static void expect_sent(struct nnb_fmq *to, struct nnb_fmq *from, const uint64_t *message, size_t n)
{
	const uint64_t other[1] = { 0 };
	struct nnb_fmq_tx tx;
	uint64_t got[8];

	assert_int_equal(nnb__fmq_room_for(to, n), 0);
	nnb__fmq_send(to, message, n);
	assert_int_equal(nnb__fmq_await(from, PATIENCE), 0);
	assert_false(nnb__fmq_holds(from, other, 1));
	assert_false(nnb__fmq_holds(from, message, n - 1));
	if (nnb__fmq_holds(from, message, n) && message[0] % 2) {
		nnb__fmq_drop(from, n);
		return;
	}
	assert_int_equal(nnb__fmq_open(from, 0, &tx), 0);
	assert_int_equal(tx.first.n + tx.second.n, n);
	assert_true(nnb_fmq_tx_copy_from(&tx, got, 0, n));
	assert_memory_equal(got, message, n * sizeof(*got));
	assert_int_equal(nnb_fmq_commit_read(from, n), 0);
}

/* Capacities that are multiples of the message, and others, where it wraps and its place in the ring moves. */
static void a_message_is_sent_again_wherever_it_lies(void **state)
{
	const uint64_t messages[][3] = { { 1, 2, 3 }, { 1, 2, 3 }, { 4, 2, 3 }, { 4, 2, 7 } };

	(void)state;
	for (size_t capacity = 3; capacity <= 12; capacity++) {
		struct nnb_fmq *to = burst_queue(sizeof(uint64_t), capacity), *from;
		struct nnb_fmq_desc desc;

		nnb_fmq_describe(to, &desc);
		assert_int_equal(nnb_fmq_attach(&from, &desc,
		                                &(struct nnb_fmq_attach){ .elem_size = sizeof(uint64_t),
		                                                          .keep_counters = true }),
		                 0);
		for (unsigned i = 0; i < 100; i++)
			expect_sent(to, from, messages[i / 20 % N_OF(messages)], 2 + i / 50);
		nnb_fmq_free(from);
		nnb_fmq_free(to);
	}
}

/* What the reader, or another process, writes into the ring meanwhile is not sent. */
static void a_spoilt_ring_is_written_again(void **state)
{
	const uint64_t message[] = { 5, 6 };
	struct nnb_fmq *q = burst_queue(sizeof(uint64_t), 4);
	struct nnb_fmq_tx tx;
	uint64_t got[2];

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		if (i % 3 == 2)
			q->ring[i % 4 * sizeof(uint64_t)] ^= 1;
		assert_int_equal(nnb__fmq_room_for(q, 2), 0);
		nnb__fmq_send(q, message, 2);
		assert_int_equal(nnb_fmq_begin_receive(q, PATIENCE, &tx), 0);
		assert_true(nnb_fmq_tx_copy_from(&tx, got, 0, 2));
		assert_memory_equal(got, message, sizeof(got));
		assert_int_equal(nnb_fmq_commit_read(q, 2), 0);
	}
	nnb_fmq_free(q);
}

static void a_full_queue_has_no_room(void **state)
{
	const uint64_t message[] = { 1, 2, 3 };
	struct nnb_fmq *q = burst_queue(sizeof(uint64_t), 4);

	(void)state;
	assert_int_equal(nnb__fmq_room_for(q, 5), -EMSGSIZE);
	assert_int_equal(nnb__fmq_room_for(q, 3), 0);
	nnb__fmq_send(q, message, 3);
	assert_int_equal(nnb__fmq_room_for(q, 1), 0);
	assert_int_equal(nnb__fmq_room_for(q, 2), NNB_FMQ_FULL);
	nnb_fmq_free(q);
}

/* ---- executions ---- */

struct fixture {
	struct nnb__lanes lanes;
	struct nnb__lane_app app, others;
	struct nnb__times times;
	struct nnb_prepared *prepared;
	struct nnb_pool *pool;
	struct sum sum;
	struct nnb_burst_executor executor;
	struct nnb_packet_request request;
	struct nnb_output_shape shapes[1];
	int32_t slots[2];
	struct gate gives; /* a thread that gives back to the budget passes it */
	unsigned mapped;   /* as it was given back last */
};

static void budget_gives(void *arg, uint32_t pools, uint64_t bytes)
{
	struct fixture *f = arg;

	assert_true(pools && bytes);
	f->mapped = count_memfd_mappings();
	gate_pass(&f->gives);
}

static void begin(struct fixture *f, bool cached)
{
	const struct nnb__burst_place place = {
		.budget = { .give = budget_gives, .arg = f }, .lanes = &f->lanes, .app = &f->app, .times = &f->times
	};

	memset(f, 0, sizeof(*f));
	f->gives = (struct gate)GATE_INIT;
	assert_int_equal(nnb__lanes_init(&f->lanes, NNB_POLICY_FIFO, NNB_PREEMPT_SAVE, NNB_DEADLINES_ABORT, 1), 0);
	nnb__times_init(&f->times, 1, true, NULL, 0, 0);
	f->prepared = prepared_sum(DRIVER_NULL);
	f->pool = new_pool();
	sum_init(&f->sum, f->pool, f->pool);
	f->slots[0] = 3;
	f->slots[1] = 5;
	f->request = (struct nnb_packet_request){ .inputs = &f->sum.in,
		                                  .outputs = &f->sum.out,
		                                  .slots = f->slots,
		                                  .n_inputs = 1,
		                                  .n_outputs = 1,
		                                  .n_slots = 2 };
	assert_int_equal(nnb__burst_executor(&f->executor, f->prepared, cached, &place), 0);
}

static void end(struct fixture *f)
{
	f->executor.free(f->executor.arg);
	nnb_pool_free(f->pool);
	nnb_prepared_unref(f->prepared);
	nnb__times_fini(&f->times);
	nnb__lanes_fini(&f->lanes);
}

/* The long way. */
static void execute(struct fixture *f, const char *of)
{
	const struct nnb_burst_executor *x = &f->executor;
	struct nnb_result result = { .shapes = f->shapes };
	struct nnb_memory memories[2];
	int32_t missing[2];
	uint32_t n;

	assert_int_equal(x->admit(x->arg, &f->request, NULL), NNB_STATUS_NONE);
	n = x->missing(x->arg, f->slots, 2, missing);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(nnb_memory_dup(&memories[i], nnb_pool_memory(f->pool)), 0);
	if (n) {
		assert_int_equal(x->add(x->arg, missing, n, memories, NULL), NNB_STATUS_NONE);
		assert_int_equal(x->missing(x->arg, f->slots, 2, missing), 0);
	}
	x->execute(x->arg, &f->request, &result, NULL);
	if (result.status)
		fail_msg("%s: %s", of, nnb_status_name(result.status));
	x->answered(x->arg);
}

static bool runs_again(struct fixture *f)
{
	enum nnb_status status = NNB_STATUS_GENERAL_FAILURE;
	bool ran = f->executor.again(f->executor.arg, &status);

	f->executor.answered(f->executor.arg);
	if (ran)
		assert_int_equal(status, NNB_STATUS_NONE);
	return ran;
}

/* The first executions of a model are timed, and so take the long way. */
static void warm_up(struct fixture *f)
{
	for (unsigned i = 0; i < 100 && !runs_again(f); i++)
		execute(f, "warming up");
}

static void expect_again(struct fixture *f, const char *of)
{
	warm_up(f);
	if (!runs_again(f) && !runs_again(f)) { /* one in 64 is timed */
		execute(f, of);
		if (!runs_again(f))
			fail_msg("%s: it does not run again", of);
	}
}

static uint64_t executions(struct fixture *f)
{
	struct nnb_app_counts counts;

	nnb__lanes_counts(&f->lanes, &f->app, &counts);
	return counts.executions;
}

static void frees_a_slot_of_it(struct fixture *f)
{
	f->executor.remove(f->executor.arg, f->slots[0]);
}

static void has_another_request(struct fixture *f)
{
	f->request.changes++;
}

static void loses_its_lane(struct fixture *f)
{
	struct nnb__seat other;

	nnb__seat_init(&other, &f->lanes, &f->others, 1, NULL);
	assert_int_equal(nnb__lanes_take(&other, NNB__NEVER), 0);
	assert_false(runs_again(f)); /* it would be on the lane beside the other */
	nnb__lanes_give(&other);
}

static const struct {
	const char *name;
	void (*happens)(struct fixture *f);
} changes[] = { { "a slot is freed", frees_a_slot_of_it },
	        { "another request", has_another_request },
	        { "the lane is another's", loses_its_lane } };

static void an_execution_runs_again_until_something_changes(void **state)
{
	struct fixture f;
	uint64_t before;

	(void)state;
	begin(&f, true);
	execute(&f, "first");
	for (size_t i = 0; i < N_OF(changes); i++) {
		expect_again(&f, changes[i].name);
		changes[i].happens(&f);
		if (runs_again(&f))
			fail_msg("%s: it ran again all the same", changes[i].name);
		execute(&f, changes[i].name);
	}
	warm_up(&f);
	before = executions(&f);
	for (unsigned i = 0; i < 1000; i++)
		if (!runs_again(&f))
			execute(&f, "timed");
	assert_int_equal(executions(&f), before + 1000);
	end(&f);
}

static void one_in_64_is_timed(void **state)
{
	unsigned timed = 0;
	struct fixture f;

	(void)state;
	begin(&f, true);
	execute(&f, "first");
	warm_up(&f);
	for (unsigned i = 0; i < 640; i++)
		if (!runs_again(&f)) {
			execute(&f, "timed");
			timed++;
		}
	assert_int_equal(timed, 10);
	end(&f);
}

/* The memory of a freed slot is given back at once, though the execution could have run again. */
static void a_freed_slot_is_unmapped_at_once(void **state)
{
	struct fixture f;
	unsigned mapped;

	(void)state;
	begin(&f, true);
	mapped = count_memfd_mappings();
	execute(&f, "first");
	expect_again(&f, "before");
	assert_int_equal(count_memfd_mappings(), mapped + 2);
	f.executor.remove(f.executor.arg, 3);
	assert_int_equal(count_memfd_mappings(), mapped + 1);
	f.executor.remove(f.executor.arg, 5);
	assert_int_equal(count_memfd_mappings(), mapped);
	assert_false(runs_again(&f));
	end(&f);
}

static void *remove_first(void *arg)
{
	struct fixture *f = arg;

	f->executor.remove(f->executor.arg, f->slots[0]);
	return NULL;
}

/* Unmapping may take seconds, by the will of the app. Meanwhile it frees other slots, and executes. */
static void what_a_slot_held_is_released_without_the_lock(void **state)
{
	struct fixture f;
	unsigned mapped;
	pthread_t thread;

	(void)state;
	begin(&f, true);
	mapped = count_memfd_mappings();
	execute(&f, "first");
	expect_again(&f, "before");
	gate_set(&f.gives, true);
	assert_int_equal(pthread_create(&thread, NULL, remove_first, &f), 0);
	gate_await(&f.gives);
	assert_int_equal(f.mapped, mapped + 1); /* the other slot's: given back is what is not used any more */
	execute(&f, "while another thread releases");
	gate_set(&f.gives, false);
	pthread_join(thread, NULL);
	assert_int_equal(count_memfd_mappings(), mapped + 2);
	end(&f);
}

static void a_plain_executor_maps_each_time(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, false);
	for (unsigned i = 0; i < 30; i++) {
		execute(&f, "plain");
		assert_false(runs_again(&f));
	}
	end(&f);
}

/* Files may be torn or flushed, which the long way looks after. */
static void an_execution_in_a_file_takes_the_long_way(void **state)
{
	char path[] = P_tmpdir "/test_again-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	struct nnb_memory memory;
	struct fixture f;

	(void)state;
	begin(&f, true);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, 4096, PROT_READ | PROT_WRITE, 0), 0);
	nnb_pool_free(f.pool);
	assert_int_equal(nnb_pool_from(&f.pool, &memory), 0);
	nnb_memory_close(&memory);
	close(fd);
	for (unsigned i = 0; i < 30; i++) {
		execute(&f, "in a file");
		assert_false(runs_again(&f));
	}
	end(&f);
}

static void a_cancelled_execution_fails(void **state)
{
	enum nnb_status status = NNB_STATUS_NONE;
	struct fixture f;

	(void)state;
	begin(&f, true);
	execute(&f, "first");
	expect_again(&f, "before");
	f.executor.cancel(f.executor.arg);
	for (unsigned i = 0; i < 2 && !f.executor.again(f.executor.arg, &status); i++)
		;
	assert_int_equal(status, NNB_STATUS_GENERAL_FAILURE);
	end(&f);
}

/* ---- which requests a server serves again: the executor only counts ---- */

struct counter {
	_Atomic uint32_t executed, again;
	_Atomic uint32_t status; /* what again answers */
	atomic_bool refuses;     /* again does nothing */
};

static uint32_t misses_none(void *arg, const int32_t *slots, uint32_t n, int32_t *ret)
{
	(void)arg, (void)slots, (void)n, (void)ret;
	return 0;
}

static void counts_execution(void *arg, const struct nnb_packet_request *request, struct nnb_result *result,
                             struct nnb_reason *reason)
{
	struct counter *c = arg;

	(void)reason;
	c->executed++;
	result->status = NNB_STATUS_NONE;
	result->timing = request->measure ? (struct nnb_timing){ 1000 * c->executed, 1000 } : NNB_NO_TIMING;
	result->n_shapes = 1;
	result->shapes[0] = (struct nnb_output_shape){ .rank = 1, .dims = { 7 }, .sufficient = true };
}

static bool counts_again(void *arg, enum nnb_status *ret)
{
	struct counter *c = arg;

	if (c->refuses)
		return false;
	c->again++;
	*ret = c->status;
	return true;
}

static void frees_nothing(void *arg)
{
	(void)arg;
}

static void removes_nothing(void *arg, int32_t slot)
{
	(void)arg, (void)slot;
}

/* Send the request, and expect an answer; @again: of so many by the short way so far. */
static void expect_answer(struct peer *p, const struct counter *c, const struct nnb_request_datum *datums, uint32_t n,
                          enum nnb_status status, uint32_t executed, uint32_t again)
{
	struct nnb_result_datum result[RESULT_MAX];
	uint32_t got;

	peer_send(p, datums, n);
	got = peer_receive(p, result);
	assert_int_equal(result[0].packet.status, status);
	assert_int_equal(got, status ? NNB_RESULT_MIN : 4);
	assert_int_equal(result[0].packet.n_operands, status ? 0 : 1);
	if (!status)
		assert_int_equal(result[2].dimension, 7);
	assert_int_equal(c->executed, executed);
	assert_int_equal(c->again, again);
}

#ifndef NBT_OFF

static void emits_nothing(const void *event)
{
	(void)event;
}

/* Begin or end a session that records the ends of executions. */
static void session(bool begins)
{
	static const int on = 1;
	static const int *off;

	if (begins) {
		off = nbt__seam.enabled[NBT_EVENT_exec_end];
		nbt__seam.emit[NBT_EVENT_exec_end] = emits_nothing;
	}
	__atomic_store_n(&nbt__seam.enabled[NBT_EVENT_exec_end], begins ? &on : off, __ATOMIC_RELEASE);
}

#endif

static void only_equal_requests_without_terms_take_the_short_way(void **state)
{
	struct counter c = { .executed = 0 };
	const struct nnb_burst_executor executor = { .arg = &c,
		                                     .missing = misses_none,
		                                     .remove = removes_nothing,
		                                     .execute = counts_execution,
		                                     .again = counts_again,
		                                     .free = frees_nothing };
	struct nnb_pool *pool = new_pool();
	struct nnb_reason reason = { "" };
	struct nnb_request_datum *plain, *measured, terms[16] = { 0 };
	struct sum sum;
	struct peer p = { .request = burst_queue(sizeof(struct nnb_request_datum), NNB_BURST_CAPACITY),
		          .result = burst_queue(sizeof(struct nnb_result_datum), NNB_BURST_CAPACITY) };
	uint32_t n, m;

	(void)state;
	sum_init(&sum, pool, pool);
	plain = datums_of(&sum.call, false, &n);
	measured = datums_of(&sum.call, true, &m);
	memcpy(terms, plain, n * sizeof(*plain));
	terms[0].packet.size = n + 1;
	terms[n].kind = NNB_REQUEST_TERMS;
	terms[n].terms.loop_low = 5;
	if (peer_serve(&p, &executor, 1, &reason))
		fail_msg("%s", reason.text);
	expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, 1, 0);
	for (uint32_t i = 1; i < 40; i++) /* in all, less than a lap: a message that wraps takes the long way */
		expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, c.executed, i);
	for (uint32_t i = 0; i < 3; i++)
		expect_answer(&p, &c, measured, m, NNB_STATUS_NONE, 2 + i, 39);
	for (uint32_t i = 0; i < 3; i++)
		expect_answer(&p, &c, terms, n + 1, NNB_STATUS_NONE, 5 + i, 39);
	expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, 8, 39);
	expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, 8, 40);
	c.refuses = true;
	expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, 9, 40);
	c.refuses = false;
	c.status = NNB_STATUS_GENERAL_FAILURE;
	expect_answer(&p, &c, plain, n, NNB_STATUS_GENERAL_FAILURE, 9, 41);
	c.status = NNB_STATUS_NONE;
	expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, 10, 41); /* a failure is no result to send again */
#ifndef NBT_OFF
	session(true);
	expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, 11, 41);
	session(false);
#endif
	expect_answer(&p, &c, plain, n, NNB_STATUS_NONE, c.executed, 42);
	peer_fini(&p);
	nnb_pool_free(pool);
	free(plain);
	free(measured);
}

/* A message that wraps around is not compared beyond the end of the ring, where there may be no memory. */
static void a_message_that_wraps_is_not_read_beyond_the_ring(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const unsigned char zeroes[32];
	struct nnb_fmq q = { .ring = ring, .ring_bytes = page, .elem_size = 8 };

	(void)state;
	assert_true(ring != MAP_FAILED);
	assert_int_equal(mprotect(ring + page, page, PROT_NONE), 0);
	q.end[NNB_FMQ_READER] = (struct nnb_fmq_end){ .theirs = sizeof(zeroes), .at = page - sizeof(zeroes) / 2 };
	assert_false(nnb__fmq_holds(&q, zeroes, 4));
	q.end[NNB_FMQ_READER].at = page - sizeof(zeroes);
	assert_true(nnb__fmq_holds(&q, zeroes, 4));
	munmap(ring, 2 * page);
}

#ifndef NBT_OFF
/* ---- a session that begins midway ---- */

static struct {
	struct nnb__trace *of;
	unsigned ends, dispatches;
	uint64_t exec;
	uint8_t lane;
	bool on_lane, dispatched_on_lane;
} heard;

static void hear_end(const void *event)
{
	heard.ends++;
	heard.exec = ((const struct nbt_exec_end *)event)->exec;
	heard.lane = ((const struct nbt_exec_end *)event)->lane;
	heard.on_lane = atomic_load(&heard.of->on_lane);
}

static void hear_dispatch(const void *event)
{
	(void)event;
	heard.dispatches++;
	heard.dispatched_on_lane = atomic_load(&heard.of->on_lane);
}

/*
 * The server has looked, found no session, and asks the executor to run again; then a session begins. It may find the
 * execution on its lane (exec_state), so it must hear of its end, before the lane can be another's.
 */
static void a_session_that_begins_midway_hears_of_the_end(void **state)
{
	static int on = 1, off;
	struct nnb__trace trace = { .who.stream = 1 };
	struct fixture f;

	(void)state;
	begin(&f, true);
	f.request.trace = heard.of = &trace;
	for (unsigned i = 0; i < 100; i++) {
		nnb__trace_begin(&trace, nnb__exec_of(1, i + 1));
		execute(&f, "before the session");
		nnb__trace_end(&trace);
	}
	nbt__seam.emit[NBT_EVENT_exec_end] = hear_end;
	nbt__seam.emit[NBT_EVENT_sched_dispatch] = hear_dispatch;
	for (unsigned i = 0; i < 2 && !heard.ends; i++) { /* one in 64 is timed */
		nnb__trace_begin_again(&trace, nnb__exec_of(1, 200));
		assert_false(atomic_load(&trace.on_lane));
		nbt__seam.enabled[NBT_EVENT_exec_end] = nbt__seam.enabled[NBT_EVENT_sched_dispatch] = &on;
		if (runs_again(&f)) {
			assert_int_equal(heard.ends, 1);
			assert_int_equal(atomic_load(&trace.phase), NBT_phase_ended);
		}
		nbt__seam.enabled[NBT_EVENT_exec_end] = nbt__seam.enabled[NBT_EVENT_sched_dispatch] = &off;
		nnb__trace_end_again(&trace);
		if (!heard.ends) {
			nnb__trace_begin(&trace, nnb__exec_of(1, 201));
			execute(&f, "timed");
			nnb__trace_end(&trace);
		}
	}
	assert_int_equal(heard.ends, 1);
	assert_int_equal(heard.dispatches, 1);
	assert_int_equal(heard.exec, nnb__exec_of(1, 200));
	assert_int_equal(heard.lane, 0);
	assert_false(heard.on_lane);
	assert_false(heard.dispatched_on_lane); /* it may lose the lane once the event is emitted */
	end(&f);
}
#endif

#define TEST(t) add_test(t, NULL, NULL, NULL, "%s", #t)

/* An execution that has taken the files of one request takes none of the next one. */
static void files_are_taken_of_one_request(void **state)
{
	struct nnb_prepared *p = prepared_sum(DRIVER_NULL);
	struct nnb_execution *e;
	struct nnb_request request;
	struct nnb_memory taken;
	struct vectors v;

	(void)state;
	vectors_init(&v, LENGTH);
	request = v.request;
	request.pools = &taken;
	assert_int_equal(nnb_memory_dup(&taken, &v.pool), 0);
	assert_int_equal(nnb__execution_begin_held(p, &request, &taken, NULL, NULL, &e, NULL), NNB_STATUS_NONE);
	assert_int_equal(taken.fds[0], -1);
	assert_int_equal(nnb_execution_again(e, &v.request, NULL, false, NULL, NULL), NNB_STATUS_NONE);
	assert_true(v.pool.fds[0] >= 0);
	nnb_execution_end(e);
	vectors_fini(&v);
	nnb_prepared_unref(p);
}

int main(void)
{
	TEST(a_message_is_sent_again_wherever_it_lies);
	TEST(a_spoilt_ring_is_written_again);
	TEST(a_full_queue_has_no_room);
	TEST(an_execution_runs_again_until_something_changes);
	TEST(one_in_64_is_timed);
	TEST(a_freed_slot_is_unmapped_at_once);
	TEST(what_a_slot_held_is_released_without_the_lock);
	TEST(a_plain_executor_maps_each_time);
	TEST(an_execution_in_a_file_takes_the_long_way);
	TEST(a_cancelled_execution_fails);
	TEST(only_equal_requests_without_terms_take_the_short_way);
	TEST(a_message_that_wraps_is_not_read_beyond_the_ring);
	TEST(files_are_taken_of_one_request);
#ifndef NBT_OFF
	TEST(a_session_that_begins_midway_hears_of_the_end);
#endif
	alarm(WATCHDOG_S);
	return _cmocka_run_group_tests("again", tests, n_tests, NULL, NULL);
}

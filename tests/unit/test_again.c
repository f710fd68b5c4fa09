/* test_again.c -- a message that is in the ring already is not written again. */
#include "unit/burst_helpers.h"

#include "fmq/queue.h"

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

#define TEST(t) add_test(t, NULL, NULL, NULL, "%s", #t)

int main(void)
{
	TEST(a_message_is_sent_again_wherever_it_lies);
	TEST(a_spoilt_ring_is_written_again);
	TEST(a_full_queue_has_no_room);
	alarm(WATCHDOG_S);
	return _cmocka_run_group_tests("again", tests, n_tests, NULL, NULL);
}

/*
 * test_protocol_fds.c -- file descriptors that come with messages: whatever the headers announce and the peer
 * sends, the receiver holds no more fds than it has charged to the budget.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/protocol.h"

#include "base.h"

enum { PACKET = NNB__PACKET_FDS };

struct header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

/* ---- a budget that counts ---- */

static struct {
	uint32_t charged, most, limit;
} budget;

static enum nnb_status take(void *arg, uint32_t pools, uint64_t bytes)
{
	(void)arg;
	(void)bytes;
	assert_int_equal(pools, 0); /* the fds are not pools yet */
	return NNB_STATUS_NONE;
}

static void give(void *arg, uint32_t pools, uint64_t bytes)
{
	(void)arg;
	(void)bytes;
	assert_int_equal(pools, 0);
}

static enum nnb_status take_fds(void *arg, uint32_t n, struct nnb_reason *reason)
{
	(void)arg;
	(void)reason;
	if (n > budget.limit - budget.charged)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	budget.charged += n;
	budget.most = budget.charged > budget.most ? budget.charged : budget.most;
	return NNB_STATUS_NONE;
}

static void give_fds(void *arg, uint32_t n)
{
	(void)arg;
	assert_true(n <= budget.charged);
	budget.charged -= n;
}

/* ---- the peer ---- */

static void send_fds(int sock, uint16_t type, uint32_t announced, unsigned n)
{
	struct header h = { .magic = NNB__MAGIC, .type = type, .n_fds = announced };
	int fds[FDS_SENT_MOST];

	for (unsigned i = 0; i < n; i++)
		fds[i] = STDIN_FILENO;
	assert_true(fds_send(sock, &h, sizeof(h), fds, n, 0));
}

static unsigned held(const struct nnb__message *m)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < m->n_fds; i++)
		n += m->fds[i] >= 0;
	return n;
}

struct fixture {
	int ends[2];
	struct nnb__message m;
	unsigned fds;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .m.budget = { .take = take, .give = give, .take_fds = take_fds, .give_fds = give_fds } };
	budget.charged = budget.most = 0;
	budget.limit = 1000;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, f.ends))
		return -1;
	nnb__socket_timeout(f.ends[1], 1000000000);
	f.fds = open_fds();
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nnb__message_fini(&f->m);
	assert_int_equal(budget.charged, 0);
	assert_int_equal(open_fds(), f->fds);
	close(f->ends[0]);
	close(f->ends[1]);
	return 0;
}

/* The message holds as many fds as it is charged for. */
static void expect_charged(struct fixture *f)
{
	assert_int_equal(open_fds() - f->fds, held(&f->m));
	assert_true(held(&f->m) <= budget.charged);
}

/* ---- tests ---- */

static void what_is_not_announced_does_not_arrive(void **state)
{
	struct fixture *f = *state;

	for (uint32_t announced = 0; announced <= 3; announced++)
		for (unsigned come = announced; come <= PACKET; come += 1 + come / 8) {
			send_fds(f->ends[0], NNB__CHANNEL, announced, come);
			assert_int_equal(nnb__message_receive(f->ends[1], &f->m), 0);
			assert_int_equal(held(&f->m), announced);
			expect_charged(f);
		}
}

static void a_packet_brings_no_more_than_are_still_to_come(void **state)
{
	struct fixture *f = *state;

	send_fds(f->ends[0], NNB__CHANNEL, PACKET + 2, PACKET);
	send_fds(f->ends[0], NNB__MORE, PACKET, PACKET); /* the header announces 2 more */
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), 0);
	assert_int_equal(held(&f->m), PACKET + 2);
	assert_int_equal(budget.charged, PACKET + 2); /* each fd is charged once */
	expect_charged(f);
}

static void credentials_in_place_of_descriptors_are_refused(void **state)
{
	struct fixture *f = *state;
	const int on = 1, off = 0;

	assert_int_equal(setsockopt(f->ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	send_fds(f->ends[0], NNB__CHANNEL, 0, 0);
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), 0); /* without descriptors the message is received */
	send_fds(f->ends[0], NNB__CHANNEL, 2, 2);
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), -EBADMSG); /* credentials took the place of fds */
	expect_charged(f);
	assert_int_equal(setsockopt(f->ends[1], SOL_SOCKET, SO_PASSCRED, &off, sizeof(off)), 0);
	send_fds(f->ends[0], NNB__CHANNEL, 2, 2);
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), 0);
	assert_int_equal(held(&f->m), 2);
	expect_charged(f);
}

static void what_is_more_than_may_be_had_does_not_arrive(void **state)
{
	struct fixture *f = *state;

	for (budget.limit = 0; budget.limit < PACKET + 4; budget.limit += 3) {
		send_fds(f->ends[0], NNB__CHANNEL, PACKET + 4, PACKET);
		send_fds(f->ends[0], NNB__MORE, 4, 4);
		assert_int_equal(nnb__message_receive(f->ends[1], &f->m), -EDQUOT);
		assert_int_equal(held(&f->m), 0);
		expect_charged(f);
	}
	budget.limit = PACKET + 4;
	send_fds(f->ends[0], NNB__CHANNEL, PACKET + 4, PACKET);
	send_fds(f->ends[0], NNB__MORE, 4, 4);
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), 0);
	assert_int_equal(held(&f->m), PACKET + 4);
}

/* The message's model is taken apart: the files of a cache stay open, and charged. */
static void without_its_body_fds_stay_charged(void **state)
{
	struct fixture *f = *state;

	send_fds(f->ends[0], NNB__CHANNEL, 3, 3);
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), 0);
	nnb__message_drop_body(&f->m);
	expect_charged(f);
	assert_int_equal(budget.charged, 3);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_announced_does_not_arrive),
		TEST(a_packet_brings_no_more_than_are_still_to_come),
		TEST(credentials_in_place_of_descriptors_are_refused),
		TEST(what_is_more_than_may_be_had_does_not_arrive),
		TEST(without_its_body_fds_stay_charged),
	};

	return cmocka_run_group_tests_name("protocol: file descriptors", tests, NULL, NULL);
}

/*
 * test_protocol_time.c -- limits of the time that a message may take. A limit holds for the whole message,
 * whatever the peer does to the socket's options: the peer made the socket and has a duplicate of it.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "base/sys.h"
#include "wire/protocol.h"

enum {
	LIMIT_MS = 100,
	PARTS = 4000 /* one message has this many parts; each takes a millisecond or more, so together they take
	              * longer than the limit */
};

struct header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

struct fixture {
	int ends[2], duplicate; /* the second end is the service's */
	struct nnb__message m;
	atomic_bool enough;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){ 0 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, f.ends))
		return -1;
	f.duplicate = dup(f.ends[1]);
	*state = &f;
	return f.duplicate < 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nnb__message_fini(&f->m);
	close(f->ends[0]);
	close(f->ends[1]);
	close(f->duplicate);
	return 0;
}

/* A peer takes the options' limits off. */
static void take_limits_off(const struct fixture *f)
{
	const struct timeval none = { 0 };

	assert_int_equal(setsockopt(f->duplicate, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none)), 0);
	assert_int_equal(setsockopt(f->duplicate, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none)), 0);
}

/* Returns false if the service's end is closed. */
static bool send_fd(int sock, uint16_t type, uint32_t announced)
{
	struct header h = { .magic = NNB__MAGIC, .type = type, .n_fds = announced };

	return fd_send(sock, &h, sizeof(h), STDIN_FILENO, MSG_DONTWAIT);
}

static void expect_receive_ends(struct fixture *f, uint64_t least_ms)
{
	uint64_t began = nnb__now();

	take_limits_off(f);
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), -ETIMEDOUT);
	assert_true(nnb__now() - began >= least_ms * MS);
}

static void a_message_that_does_not_come_ends_in_time(void **state)
{
	struct fixture *f = *state;

	f->m.until = nnb__now() + LIMIT_MS * MS;
	expect_receive_ends(f, LIMIT_MS - 1);
	expect_receive_ends(f, 0); /* the limit is a point in time */
	f->m.until = 0;
	assert_true(send_fd(f->ends[0], NNB__CHANNEL, 1)); /* without a limit, too, a message is received */
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), 0);
}

static void half_a_message_ends_in_time(void **state)
{
	struct fixture *f = *state;

	f->m.rest_ns = LIMIT_MS * MS;
	assert_true(send_fd(f->ends[0], NNB__CHANNEL, 2));
	expect_receive_ends(f, LIMIT_MS);
}

static void *send_slowly(void *arg)
{
	struct fixture *f = arg;
	bool sent = send_fd(f->ends[0], NNB__CHANNEL, PARTS);

	while (sent && !atomic_load(&f->enough)) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		sent = send_fd(f->ends[0], NNB__MORE, 1);
	}
	return NULL;
}

/* Each packet comes within the limit, but the last one long after the limit of the message. */
static void a_message_in_many_parts_has_one_limit(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;

	f->m.rest_ns = LIMIT_MS * MS;
	assert_int_equal(pthread_create(&thread, NULL, send_slowly, f), 0);
	assert_int_equal(nnb__message_receive(f->ends[1], &f->m), -ETIMEDOUT);
	assert_true(f->m.n_fds < PARTS);
	atomic_store(&f->enough, true);
	pthread_join(thread, NULL);
}

static void a_message_for_which_there_is_no_room_ends_in_time(void **state)
{
	static const uint8_t bytes[NNB__INLINE_MAX * 100];
	struct fixture *f = *state;
	uint64_t began = nnb__now();

	nnb__message_begin(&f->m, NNB__ANSWER);
	nnb__put_bytes(&f->m, bytes, sizeof(bytes));
	f->m.until = began + LIMIT_MS * MS;
	take_limits_off(f);
	assert_int_equal(nnb__send_without_fds(f->ends[1], &f->m), -ETIMEDOUT);
	assert_true(nnb__now() - began >= LIMIT_MS * MS);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_message_that_does_not_come_ends_in_time),
		TEST(half_a_message_ends_in_time),
		TEST(a_message_in_many_parts_has_one_limit),
		TEST(a_message_for_which_there_is_no_room_ends_in_time),
	};

	return cmocka_run_group_tests_name("messages: limits of time", tests, NULL, NULL);
}

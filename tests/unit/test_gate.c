/*
 * test_gate.c -- what may be mapped of an app whose files' locks were held: the test is the process that tries files,
 * and answers as it likes. A call of nnb__gate_open and nnb__gate_close with a sleep between them is a slow one.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory/gate.h"

enum { SLOW_US = 20 * 1000, MAX_MS = 20 * 1000 };

static int prober, file; /* the test's end of the prober's socket; any file */

static int fd_of(int sock)
{
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))), byte;
	struct iovec data = { &byte, 1 };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct pollfd p = { .fd = sock, .events = POLLIN };
	int fd;

	if (poll(&p, 1, MAX_MS) != 1 || recvmsg(sock, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* A worker that answers each trial with what *arg is by then. */
static void *worker(void *arg)
{
	int sock = fd_of(prober), fd;

	while ((fd = fd_of(sock)) >= 0) {
		char is_free = (char)__atomic_load_n((int *)arg, __ATOMIC_RELAXED);

		close(fd);
		if (send(sock, &is_free, 1, MSG_NOSIGNAL) < 0)
			break;
	}
	return NULL;
}

static void map_slowly(struct nnb__gate *g)
{
	uint64_t began;

	assert_int_equal(nnb__gate_open(g, file, &began), 0);
	usleep(SLOW_US);
	nnb__gate_close(g, began, 1);
}

static void wait_while_refused(const struct nnb__gate *g)
{
	while (nnb__gate_refuses(g))
		usleep(1000);
}

/* An app's first slow call has its files tried; one that is slow after a trial that went well has the app wait. */
static void a_slow_app_is_tried_and_then_waits(void **state)
{
	static int is_free = 1;
	struct nnb__gate *g = nnb__gate_of(1), *other = nnb__gate_of(2), *again;
	pthread_t thread;
	uint64_t began;
	int own;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, worker, &is_free), 0);
	assert_int_equal(nnb__gate_open(g, file, &began), 0); /* no slow one: not tried */
	nnb__gate_close(g, began, 1);
	map_slowly(g);
	assert_false(nnb__gate_refuses(g));
	map_slowly(g); /* after a trial */
	assert_true(nnb__gate_refuses(g));
	assert_int_equal(nnb__gate_open(g, file, &began), -EBUSY);

	/* so it is for the app's next connection; others are unaffected */
	again = nnb__gate_of(1);
	assert_ptr_equal(again, g);
	nnb__gate_unref(g);
	assert_int_equal(nnb__gate_open(other, file, &began), 0);
	nnb__gate_close(other, began, 1);

	/* 50 times as long as the call took, which was at least 20 ms */
	usleep(500 * 1000);
	assert_true(nnb__gate_refuses(g));
	wait_while_refused(g);

	/* a file whose lock is held is not mapped, and not unmapped until it is free */
	__atomic_store_n(&is_free, 0, __ATOMIC_RELAXED);
	assert_int_equal(nnb__gate_open(g, file, &began), -EBUSY);
	wait_while_refused(g);
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	own = dup(file);
	nnb__gate_unmap(g, p, 4096, own);
	usleep(300 * 1000);
	assert_int_equal(msync(p, 4096, MS_ASYNC), 0); /* it is mapped */
	assert_int_equal(nnb__gate_open(g, file, &began), -EBUSY);
	__atomic_store_n(&is_free, 1, __ATOMIC_RELAXED);
	while (!msync(p, 4096, MS_ASYNC))
		usleep(1000);
	wait_while_refused(g);
	while (nnb__gate_open(g, file, &began)) /* the reaper has unmapped it, and may not have counted it yet */
		usleep(1000);
	nnb__gate_close(g, began, 1);
	nnb__gate_unref(again); /* the last: its worker ends */
	nnb__gate_unref(other);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Who began while another app's slow call was under way, and waited behind it, is not tried. */
static void who_waits_behind_a_slow_app_is_not_suspected(void **state)
{
	struct nnb__gate *g = nnb__gate_of(3), *victim = nnb__gate_of(4);
	uint64_t began, after;

	(void)state;
	for (int first = 0; first < 2; first++) { /* the one or the other ends first */
		assert_int_equal(nnb__gate_open(g, file, &began), 0);
		usleep(1000);
		assert_int_equal(nnb__gate_open(victim, file, &after), 0);
		usleep(SLOW_US);
		if (first)
			nnb__gate_close(victim, after, 1);
		nnb__gate_close(g, began, 1);
		if (!first)
			nnb__gate_close(victim, after, 1);
		nnb__gate_unref(g);
		g = nnb__gate_of(5);
	}
	/* were it suspected, it would be tried: no worker answers here, and so it would be refused */
	assert_int_equal(nnb__gate_open(victim, file, &after), 0);
	nnb__gate_close(victim, after, 1);
	assert_int_equal(nnb__gate_open(g, file, &began), -EBUSY);
	nnb__gate_unref(g);
	nnb__gate_unref(victim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_app_is_tried_and_then_waits),
		cmocka_unit_test(who_waits_behind_a_slow_app_is_not_suspected),
	};
	int pair[2];

	file = memfd_create("file", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, 4096) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return 1;
	prober = pair[1];
	if (nnb__gates_begin(pair[0]))
		return 1;
	return cmocka_run_group_tests_name("gates", tests, NULL, NULL);
}

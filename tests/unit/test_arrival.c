/*
 * test_arrival.c -- a porter closes files of a client whose close sleeps until a peer has read, and no peer reads here.
 *
 * SIGABRT ends a test whose close sleeps; SIGALRM is the porter's.
 */
#include "memory/arrival.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"

enum { LINGER_S = 900, HANG_S = 60, PACKETS = 20, FILES = 3 };

/* A TCP connection whose close takes LINGER_S, because its @ret_peer has not read what was sent. */
static int lingering(int *ret_peer)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
		  sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static const char bytes[1 << 16];
	socklen_t size = sizeof(at);

	assert_int_equal(bind(listener, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(sender, (const struct sockaddr *)&at, sizeof(at)), 0);
	*ret_peer = accept(listener, NULL, NULL);
	assert_true(*ret_peer >= 0);
	while (send(sender, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(setsockopt(sender, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	close(listener);
	return sender;
}

/* Each packet has a connection that lingers until the peer in the next packet has read. */
static void a_drain_waits_for_no_peer(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (int i = 0; i < PACKETS; i++) {
		int peer, sock = lingering(&peer);

		assert_true(fd_send(ends[0], "x", 1, sock, 0));
		assert_true(fd_send(ends[0], "x", 1, peer, 0));
		close(sock);
		close(peer);
	}
	nnb__line_drain(ends[1]);
	close(ends[0]);
	close(ends[1]);
}

/* Send a packet with FILES connections that linger. */
static void packet_send(int sock, int ret_peers[FILES])
{
	int files[FILES];

	for (int i = 0; i < FILES; i++)
		files[i] = lingering(&ret_peers[i]);
	assert_true(fds_send(sock, "x", 1, files, FILES, 0));
	for (int i = 0; i < FILES; i++)
		close(files[i]);
}

/* The kernel closes files that there is no room for, while the packet is received. */
static void files_that_are_refused_or_not_wanted(void **state)
{
	struct nnb__arrival in;
	int ends[2], peers[FILES];
	char byte;

	(void)state;
	for (uint32_t most = 0; most <= FILES; most++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
		packet_send(ends[0], peers);
		nnb__arrival_receive(ends[1], most, &byte, sizeof(byte), &in);
		assert_int_equal(in.bytes, 1);
		assert_int_equal(in.n, most);
		assert_int_equal(in.n_refused, most);
		assert_int_equal(in.lost, most < FILES);
		nnb__files_close(in.refused, in.n_refused);
		for (uint32_t i = 0; i < in.n; i++)
			close(in.fds[i]);
		for (int i = 0; i < FILES; i++)
			close(peers[i]);
		close(ends[0]);
		close(ends[1]);
	}
}

int main(void)
{
	const struct itimerspec hangs = { .it_value = { HANG_S, 0 } };
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGABRT };
	timer_t timer;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drain_waits_for_no_peer),
		cmocka_unit_test(files_that_are_refused_or_not_wanted),
	};

	if (timer_create(CLOCK_MONOTONIC, &how, &timer) || timer_settime(timer, 0, &hangs, NULL))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

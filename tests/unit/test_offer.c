/*
 * test_offer.c -- sockets that are offered while strangers connect to each name that they see.
 *
 * The strangers are this process as another user, between the listen() of an offer and its connect().
 */
#include "base/offer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

enum {
	STRANGER = 65534,
	HANG_S = 100, /* a test that takes longer hangs */
	FEW = 1,      /* strangers that leave the rest of the queue to others */
	MANY = 16,    /* a porter once took so many for the client's */
	CROWD = 1000, /* strangers that fill the queue only where net.core.somaxconn is less than usual */
};

static int (*real_connect)(int, const struct sockaddr *, socklen_t);
static int (*real_listen)(int, int);
static int most = INT_MAX; /* of connections that a queue takes, less one */
static unsigned filled;    /* so many of the next offers are filled by strangers */
static unsigned strangers; /* that connect to the next offer */
static int parcel = -1;    /* which each stranger tries to send */
static bool was_sent;

/* A connection stays in the queue of the offer after the stranger has closed it. */
static bool stranger_connects(const struct sockaddr *to, socklen_t size)
{
	const int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int r = real_connect(sock, to, size), error = errno;

	if (!r && parcel >= 0)
		was_sent |= fd_send(sock, "x", 1, parcel, 0);
	close(sock);
	errno = error;
	return !r;
}

int connect(int sock, const struct sockaddr *to, socklen_t size)
{
	if (!filled && !strangers)
		return real_connect(sock, to, size);
	assert_int_equal(seteuid(STRANGER), 0);
	if (filled) {
		while (stranger_connects(to, size))
			;
		assert_int_equal(errno, EAGAIN);
		filled--;
	}
	while (strangers && stranger_connects(to, size))
		strangers--;
	strangers = 0;
	assert_int_equal(seteuid(0), 0);
	return real_connect(sock, to, size);
}

int listen(int sock, int backlog)
{
	return real_listen(sock, backlog < most ? backlog : most);
}

static int set_up(void **state)
{
	(void)state;
	*(void **)&real_connect = dlsym(RTLD_NEXT, "connect");
	*(void **)&real_listen = dlsym(RTLD_NEXT, "listen");
	filled = strangers = 0;
	alarm(HANG_S);
	return 0;
}

static bool may_become_others(void)
{
	return geteuid() == 0;
}

/* The service's end is the other one of the client's. */
static void assert_offered(const int pair[2])
{
	const int end = nnb__offer_accept(pair[1]);
	char byte = 0;

	assert_true(end >= 0);
	assert_int_equal(send(pair[0], "c", 1, MSG_DONTWAIT), 1);
	assert_int_equal(recv(end, &byte, 1, MSG_DONTWAIT), 1);
	assert_int_equal(byte, 'c');
	close(end);
	close(pair[0]);
	close(pair[1]);
}

/* The client's end waits for messages. */
static void an_offered_socket_waits(void **state)
{
	int pair[2];

	(void)state;
	assert_int_equal(nnb__offer_new(pair), 0);
	assert_true(nnb__is_offer(pair[1]));
	assert_int_equal(fcntl(pair[0], F_GETFL) & O_NONBLOCK, 0);
	assert_offered(pair);
}

/* Strangers fill the queue of an offer before its own connection: another one is made. */
static void strangers_fill_some_offers(void **state)
{
	int pair[2];

	(void)state;
	if (!may_become_others())
		skip();
	filled = 5;
	assert_int_equal(nnb__offer_new(pair), 0);
	assert_int_equal(filled, 0);
	assert_offered(pair);
}

static void strangers_fill_every_offer(void **state)
{
	int pair[2];

	(void)state;
	if (!may_become_others())
		skip();
	filled = UINT_MAX;
	most = MANY; /* to save time */
	assert_int_equal(nnb__offer_new(pair), -EAGAIN);
	most = INT_MAX;
	filled = 0;
}

static void strangers_come_first(void **state)
{
	static const unsigned counts[] = { FEW, MANY, CROWD };
	int pair[2];

	(void)state;
	if (!may_become_others())
		skip();
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		strangers = counts[i];
		assert_int_equal(nnb__offer_new(pair), 0);
		assert_offered(pair);
	}
}

/* What another user sends to a connection of an offer that is not accepted yet brings no file. */
static void strangers_bring_no_files(void **state)
{
	int pair[2], is;

	(void)state;
	if (!may_become_others())
		skip();
	parcel = memfd_create("parcel", MFD_CLOEXEC);
	strangers = FEW;
	was_sent = false;
	assert_int_equal(nnb__offer_new(pair), 0);
	if (!getsockopt(pair[1], SOL_SOCKET, SO_PASSRIGHTS, &is, &(socklen_t){ sizeof(is) }))
		assert_false(was_sent);
	close(pair[1]);
	close(pair[0]);

	assert_int_equal(nnb__offer_new(pair), 0);
	is = nnb__offer_accept(pair[1]);
	assert_true(
		fd_send(pair[0], "x", 1, parcel, 0)); /* but the client may send files once the service has accepted */
	close(is);
	close(pair[0]);
	close(pair[1]);
	close(parcel);
	parcel = -1;
}

static void nobody_connects_to_an_offer_that_is_made(void **state)
{
	struct sockaddr_un at;
	socklen_t size = sizeof(at);
	const int late = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int pair[2];

	(void)state;
	assert_int_equal(nnb__offer_new(pair), 0);
	assert_int_equal(getsockname(pair[1], (struct sockaddr *)&at, &size), 0);
	assert_int_equal(real_connect(late, (struct sockaddr *)&at, size), -1);
	assert_int_equal(errno, ECONNREFUSED);
	assert_offered(pair);
	close(late);
}

/* A dishonest client offers what has no connection, or strangers' only: the service does not wait for one. */
static void an_offer_without_its_own_connection(void **state)
{
	const int offer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(at);

	(void)state;
	assert_int_equal(bind(offer, (struct sockaddr *)&at, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(offer, MANY), 0);
	assert_int_equal(getsockname(offer, (struct sockaddr *)&at, &size), 0);
	if (may_become_others()) {
		assert_int_equal(seteuid(STRANGER), 0);
		for (unsigned i = 0; i < MANY; i++)
			assert_true(stranger_connects((struct sockaddr *)&at, size));
		assert_int_equal(seteuid(0), 0);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(nnb__offer_accept(offer), -EINVAL);
	close(offer);
}

/* Without free descriptors there is no offer, for that reason. */
static void an_offer_without_descriptors(void **state)
{
	struct rlimit is, none;
	int pair[2];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &is), 0);
	none = (struct rlimit){ 0, is.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(nnb__offer_new(pair), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &is), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_offered_socket_waits, set_up),
		cmocka_unit_test_setup(strangers_fill_some_offers, set_up),
		cmocka_unit_test_setup(strangers_fill_every_offer, set_up),
		cmocka_unit_test_setup(strangers_come_first, set_up),
		cmocka_unit_test_setup(strangers_bring_no_files, set_up),
		cmocka_unit_test_setup(nobody_connects_to_an_offer_that_is_made, set_up),
		cmocka_unit_test_setup(an_offer_without_its_own_connection, set_up),
		cmocka_unit_test_setup(an_offer_without_descriptors, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

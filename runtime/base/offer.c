/* offer.c -- sockets that a client offers to a service, of which the service's end is the service's alone. */
#include "base/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76 /* Linux 6.5 */
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

/*
 * All users can read the name of an offer in /proc/net/unix and connect to it, until nnb__offer_new has shut it. To
 * keep its own connection out, they have to fill the queue, OFFERS times, each time between two system calls of a
 * thread.
 */
enum {
	BACKLOG = 4096, /* the kernel takes net.core.somaxconn, if that is less */
	OFFERS = 64,
};

void nnb__socket_take_files(int sock, bool takes)
{
	const int is = takes;

	setsockopt(sock, SOL_SOCKET, SO_PASSRIGHTS, &is, sizeof(is)); /* unknown to older kernels */
}

static int line_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

/*
 * Make an offer and connect to it. -EAGAIN: strangers have filled the queue. A stranger's connection must not bring
 * files: closing the offer closes it, too, with what is in its queue. So an offer takes no files, nor does a connection
 * before it is accepted. Once the offer is shut, all who come later are refused.
 */
static int offer_connect(int offer, int own)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	uint64_t drawn; /* the kernel chooses from 2^20 names, all of which one user may take */
	socklen_t size;

	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		return -errno;
	/* a name that is nowhere in the file system */
	size = offsetof(struct sockaddr_un, sun_path) + 1 +
	       (socklen_t)snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "nnburst-offer-%016" PRIx64, drawn);
	nnb__socket_take_files(offer, false);
	if (bind(offer, (const struct sockaddr *)&at, size) || listen(offer, BACKLOG) ||
	    fcntl(own, F_SETFL, O_NONBLOCK) || connect(own, (const struct sockaddr *)&at, size) ||
	    shutdown(offer, SHUT_RD) || fcntl(own, F_SETFL, 0))
		return -errno;
	return 0;
}

static int offer_try(int ret[2])
{
	int offer = line_socket(), own = line_socket(), r;

	r = offer < 0 || own < 0 ? -errno : offer_connect(offer, own);
	if (!r) {
		ret[0] = own;
		ret[1] = offer;
		return 0;
	}
	if (offer >= 0)
		close(offer);
	if (own >= 0)
		close(own);
	return r;
}

int nnb__offer_new(int ret[2])
{
	int r = -EAGAIN;

	for (int i = 0; i < OFFERS && r == -EAGAIN; i++)
		r = offer_try(ret);
	return r;
}

static int option_of(int fd, int option)
{
	int is = -1;
	socklen_t size = sizeof(is);

	return getsockopt(fd, SOL_SOCKET, option, &is, &size) ? -1 : is;
}

bool nnb__is_offer(int fd)
{
	return option_of(fd, SO_DOMAIN) == AF_UNIX && option_of(fd, SO_TYPE) == SOCK_SEQPACKET &&
	       option_of(fd, SO_ACCEPTCONN) == 1;
}

/* Whether one user listens at @offer and has connected to it. */
static bool is_of_one_user(int offer, int sock)
{
	struct ucred listens, connected;
	socklen_t size = sizeof(listens), other = sizeof(connected);

	return !getsockopt(offer, SOL_SOCKET, SO_PEERCRED, &listens, &size) &&
	       !getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &connected, &other) && listens.uid == connected.uid;
}

/* Nobody can connect to an offer that is shut: accept() returns what is in the queue, and -EINVAL after that. */
int nnb__offer_accept(int offer)
{
	const int off = 0;

	if (shutdown(offer, SHUT_RD))
		return -errno;
	for (;;) {
		int sock = accept4(offer, NULL, NULL, SOCK_CLOEXEC);

		if (sock < 0)
			return -errno;
		if (is_of_one_user(offer, sock)) {
			setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &off, sizeof(off));
			setsockopt(sock, SOL_SOCKET, SO_PASSPIDFD, &off, sizeof(off));
			nnb__socket_take_files(sock, true);
			return sock;
		}
		close(sock);
	}
}

/* offer.c -- sockets that a client offers to a service, of which the service's end is the service's alone. */
#include "base/offer.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76 /* Linux 6.5 */
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

enum { WAITING = 16 }; /* connections of other users that may come first */

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
 * Another user may connect to an offer, whose name everybody can read. That connection must not bring files: closing
 * the offer closes it, too, with what is in its queue. So an offer takes no files, nor does a connection before it is
 * accepted.
 */
int nnb__offer_new(int ret[2])
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(at);
	int offer = line_socket(), own = line_socket(), r = 0;

	/* a name that the kernel chooses, which is nowhere in the file system */
	if (offer >= 0 && own >= 0) /* otherwise errno is theirs */
		nnb__socket_take_files(offer, false);
	if (offer < 0 || own < 0 || bind(offer, (struct sockaddr *)&at, sizeof(sa_family_t)) ||
	    listen(offer, WAITING) || getsockname(offer, (struct sockaddr *)&at, &size) ||
	    connect(own, (struct sockaddr *)&at, size))
		r = -errno;
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

int nnb__offer_accept(int offer)
{
	const int off = 0;

	for (int i = 0; i < WAITING; i++) {
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
	return -EPERM;
}

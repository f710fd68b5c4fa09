/*
 * packet.c -- sends and receives what travels between the service, the prober and the workers.
 *
 * TRUST     Both ends of these sockets are processes of the service. What a client has sent is data here: its bytes are
 *           copied behind the answer, and its files are descriptors that a porter has judged (arrival.c). How many
 *           descriptors came is what the kernel says, not what the answer says.
 */
#include "memory/packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "memory/arrival.h"

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int) * NNB__ARRIVAL_FDS)];
};

int nnb__packet_send(int sock, struct nnb__packet *p, int flags)
{
	const size_t bytes = p->n_fds * sizeof(int);
	struct msghdr m = { .msg_iov = p->parts, .msg_iovlen = p->n_parts };
	union control control;
	ssize_t n;

	if (bytes) {
		control.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			                         .cmsg_type = SCM_RIGHTS,
			                         .cmsg_len = CMSG_LEN(bytes) };
		memcpy(CMSG_DATA(&control.head), p->fds, bytes);
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(bytes);
	}
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

ssize_t nnb__packet_receive(int sock, struct nnb__packet *p, int flags)
{
	struct msghdr m = { .msg_iov = p->parts, .msg_iovlen = p->n_parts };
	union control control;
	ssize_t n;

	if (p->n_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_LEN(p->n_fds * sizeof(int));
	}
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | flags);
	while (n < 0 && errno == EINTR);
	if (n > 0 && p->n_fds && m.msg_controllen >= CMSG_LEN(sizeof(int)) && control.head.cmsg_type == SCM_RIGHTS) {
		p->n_fds = (uint32_t)((control.head.cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(p->fds, CMSG_DATA(&control.head), p->n_fds * sizeof(int));
	} else {
		p->n_fds = 0;
	}
	return n < 0 ? -errno : n;
}

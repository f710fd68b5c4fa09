/*
 * desc.c -- the wire form of a queue's descriptor: how it travels to another process.
 *
 * LAYOUT    Little-endian. A header of 24 bytes: magic u32, version u16, grantors u16, fds u16, zero u16,
 *           quantum u32, flags u32, zero u32. Then 24 bytes a grantor: flags u32, fd index u32, offset u32,
 *           zero u32, extent u64. The fds travel beside it (SCM_RIGHTS), in the order of their indices.
 * TRUST     The bytes are a stranger's: their number must be exactly that which the counts give. The memory that they
 *           describe is judged when it is attached (region.c).
 */
#include "nnb/fmq.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/close.h"

#ifndef SCM_PIDFD
#define SCM_PIDFD 4 /* Linux 6.5 */
#endif

enum { MAGIC = 0x51424e4e /* "NNBQ" */, VERSION = 1 };

struct wire_header {
	uint32_t magic;
	uint16_t version;
	uint16_t n_grantors;
	uint16_t n_fds;
	uint16_t zero16;
	uint32_t quantum;
	uint32_t flags;
	uint32_t zero32;
};

struct wire_grantor {
	uint32_t flags;
	uint32_t fd_index;
	uint32_t offset;
	uint32_t zero;
	uint64_t extent;
};

_Static_assert(sizeof(struct wire_header) == 24, "the header has no padding");
_Static_assert(sizeof(struct wire_grantor) == 24, "a grantor has no padding");
_Static_assert(sizeof(struct wire_header) + NNB_FMQ_MAX_GRANTORS * sizeof(struct wire_grantor) == NNB_FMQ_WIRE_MAX,
               "the public constant is the largest descriptor");

int nnb_fmq_desc_encode(const struct nnb_fmq_desc *desc, void *buf, size_t size)
{
	size_t need = sizeof(struct wire_header) + desc->n_grantors * sizeof(struct wire_grantor);
	unsigned char *to = buf;
	struct wire_header h = {
		.magic = htole32(MAGIC),
		.version = htole16(VERSION),
		.n_grantors = htole16((uint16_t)desc->n_grantors),
		.n_fds = htole16((uint16_t)desc->n_fds),
		.quantum = htole32(desc->quantum),
		.flags = htole32(desc->flags),
	};

	if (desc->n_grantors > NNB_FMQ_MAX_GRANTORS || desc->n_fds > NNB_FMQ_MAX_FDS)
		return -EINVAL;
	if (size < need)
		return -ENOSPC;
	memcpy(to, &h, sizeof(h));
	to += sizeof(h);
	for (unsigned i = 0; i < desc->n_grantors; i++, to += sizeof(struct wire_grantor)) {
		const struct nnb_fmq_grantor *g = &desc->grantors[i];
		struct wire_grantor w = {
			.flags = htole32(g->flags),
			.fd_index = htole32(g->fd_index),
			.offset = htole32(g->offset),
			.extent = htole64(g->extent),
		};

		memcpy(to, &w, sizeof(w));
	}
	return (int)need;
}

int nnb_fmq_desc_decode(struct nnb_fmq_desc *ret, const void *buf, size_t size, const int *fds, size_t n_fds)
{
	const unsigned char *from = buf;
	struct nnb_fmq_desc d = { 0 };
	struct wire_header h;

	if (size < sizeof(h))
		return -EBADMSG;
	memcpy(&h, from, sizeof(h));
	from += sizeof(h);
	if (le32toh(h.magic) != MAGIC)
		return -EBADMSG;
	if (le16toh(h.version) != VERSION)
		return -EPROTONOSUPPORT;
	d.quantum = le32toh(h.quantum);
	d.flags = le32toh(h.flags);
	d.n_grantors = le16toh(h.n_grantors);
	d.n_fds = le16toh(h.n_fds);
	if (d.n_grantors > NNB_FMQ_MAX_GRANTORS || d.n_fds > NNB_FMQ_MAX_FDS || d.n_fds != n_fds || h.zero16 ||
	    h.zero32)
		return -EBADMSG;
	if (size != sizeof(h) + d.n_grantors * sizeof(struct wire_grantor))
		return -EBADMSG;
	for (unsigned i = 0; i < d.n_grantors; i++, from += sizeof(struct wire_grantor)) {
		struct wire_grantor w;

		memcpy(&w, from, sizeof(w));
		if (w.zero)
			return -EBADMSG;
		d.grantors[i] = (struct nnb_fmq_grantor){
			.flags = le32toh(w.flags),
			.fd_index = le32toh(w.fd_index),
			.offset = le32toh(w.offset),
			.extent = le64toh(w.extent),
		};
	}
	for (size_t i = 0; i < n_fds; i++)
		d.fds[i] = fds[i];
	*ret = d;
	return 0;
}

void nnb_fmq_desc_close(struct nnb_fmq_desc *desc)
{
	for (unsigned i = 0; i < desc->n_fds; i++)
		nnb__close(desc->fds[i]);
	desc->n_fds = 0;
}

union control {
	struct cmsghdr align;
	/* with SO_PASSCRED or SO_PASSPIDFD set, the kernel adds credentials or a pidfd */
	char bytes[CMSG_SPACE(sizeof(int) * NNB_FMQ_MAX_FDS) + CMSG_SPACE(sizeof(struct ucred)) +
	           CMSG_SPACE(sizeof(int))];
};

enum { RECEIVED_MAX = sizeof(union control) / sizeof(int) }; /* fds that could arrive in it */

int nnb_fmq_desc_send(int sock, const struct nnb_fmq_desc *desc)
{
	unsigned char wire[NNB_FMQ_WIRE_MAX];
	int size = nnb_fmq_desc_encode(desc, wire, sizeof(wire));
	struct iovec iov = { .iov_base = wire, .iov_len = (size_t)size };
	union control control = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t fd_bytes = sizeof(int) * desc->n_fds;
	ssize_t sent;

	if (size < 0)
		return size;
	if (fd_bytes) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(fd_bytes);
		control.align = (struct cmsghdr){ CMSG_LEN(fd_bytes), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.align), desc->fds, fd_bytes);
	}
	do
		sent = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return sent == size ? 0 : -EMSGSIZE;
}

/* Collect the fds of a message. Those for which there is no place the kernel has closed already. */
static size_t collect_fds(struct msghdr *msg, int ret[RECEIVED_MAX])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != SCM_PIDFD))
			continue;
		if (c->cmsg_type == SCM_PIDFD) { /* SO_PASSPIDFD is set on the socket; the pidfd is not needed */
			int pidfd;

			memcpy(&pidfd, CMSG_DATA(c), sizeof(pidfd));
			close(pidfd);
			continue;
		}
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		assert(n <= RECEIVED_MAX);
		memcpy(ret, CMSG_DATA(c), n * sizeof(int));
	}
	return n;
}

int nnb_fmq_desc_recv(int sock, struct nnb_fmq_desc *ret)
{
	unsigned char wire[NNB_FMQ_WIRE_MAX + 1]; /* one more, to notice what is too long */
	struct iovec iov = { .iov_base = wire, .iov_len = sizeof(wire) };
	union control control = { 0 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int fds[RECEIVED_MAX];
	ssize_t size;
	size_t n_fds;
	int r;

	do
		size = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	n_fds = collect_fds(&msg, fds);
	if (size == 0)
		r = -ECONNRESET;
	else if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		r = -EBADMSG;
	else
		r = nnb_fmq_desc_decode(ret, wire, (size_t)size, fds, n_fds);
	while (r < 0 && n_fds)
		close(fds[--n_fds]);
	return r;
}

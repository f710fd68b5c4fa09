/*
 * protocol.c -- messages over a Unix seqpacket socket.
 *
 * LAYOUT    A packet begins with a header: magic u32, type u16, flags u16, bytes of the body u32, number of fds u32. If
 *           flags has LARGE, the body is in a sealed memfd, which comes first of the packet's fds and is not counted;
 *           otherwise it follows. Fds beyond what a packet carries come in MORE packets behind it. If flags has PARTS,
 *           which only the service sets, so does the rest of the body.
 * CRASH     The receiver closes and frees the parts of a message that have arrived.
 * TRUST     Everything is untrusted. A body is copied before it is parsed, and a count is accepted only if as many
 *           bytes are left. Fds are moved into the message before anything is checked, so none is lost. A receiver
 *           with a budget peeks at the header first, and charges for the fds that it announces: the kernel gets room
 *           for no more, and drops the rest. The kernel charges fds in a queue to the user who sent them, until they
 *           are received. So the service sends none: otherwise a client that does not read its answers could keep the
 *           service from sending fds to others. The last one to close a file may wait for ever, also if the file was
 *           in a packet and was never received (memory/arrival.h). So a receiver that has porters looks at each packet
 *           before it takes it from the queue, and has a porter take one that has fds. No other process can have put
 *           another packet into its place meanwhile, because the receiver's end is its own (base/offer.h), and its
 *           porters'. A limit of time (nnb__message.until) holds whatever options a socket
 *           has: the receiver and the sender do not block in their calls, and poll.
 */
#include "wire/protocol.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/close.h"
#include "base/offer.h"
#include "base/pages.h"
#include "base/saturating.h"
#include "base/sealed.h"
#include "base/sys.h"
#include "base/vector.h"
#include "memory/wait.h"
#include "model/reason.h"

enum { LARGE = 1, PARTS = 2 };

#define EMPTY_NS UINT64_C(500000000) /* limit of the wait for what is left in a socket that is closed */

#ifndef SCM_PIDFD
#define SCM_PIDFD 4 /* Linux 6.5 */
#endif

struct header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

_Static_assert(sizeof(struct header) == 16, "the header has no padding");

/* ---- sockets that come with messages ---- */

/* Whether @fd is a socket of the kind that carries messages, so that shutdown ends every wait on it. */
static bool is_line(int fd)
{
	int domain = 0, type = 0;
	socklen_t size = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) && domain == AF_UNIX &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET;
}

/* Release what is in the queue of @sock, which has been shut down. A porter does that, because it may wait. */
static void line_empty(struct nnb__errands *porters, int sock)
{
	const struct nnb__errand_wait wait = { .limit_ns = EMPTY_NS };
	const int on = 1;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	/* so that any message counts as one that has fds, also an empty one (memory/arrival.c) */
	setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	if (recvmsg(sock, &msg, MSG_PEEK | MSG_DONTWAIT) > 0 || msg.msg_flags & MSG_CTRUNC)
		nnb__errand_empty(porters, sock, &wait);
}

void nnb__line_close(struct nnb__errands *porters, int sock)
{
	shutdown(sock, SHUT_RDWR);
	if (porters)
		line_empty(porters, sock);
	nnb__close(sock);
}

/* Close a file that came with @m. Porters hold a socket until it has been shut down and is empty. */
static void file_drop(const struct nnb__message *m, int fd)
{
	if (m->porters && is_line(fd))
		nnb__line_close(m->porters, fd);
	else
		nnb__close(fd);
}

/* ---- messages ---- */

void nnb__message_drop_body(struct nnb__message *m)
{
	m->bytes = m->at = 0;
	if (!m->borrowed)
		return;
	nnb__free_large(m->body);
	m->body = NULL;
	m->room = 0;
	assert(m->budget.give);
	m->budget.give(m->budget.arg, 0, m->borrowed);
	m->borrowed = 0;
}

void nnb__message_trim(struct nnb__message *m)
{
	assert(!m->received && !m->borrowed);
	if (m->room <= 2 * (size_t)NNB__INLINE_MAX)
		return;
	nnb__free_large(m->body);
	m->body = NULL;
	m->bytes = m->at = m->room = 0;
}

void nnb__message_begin(struct nnb__message *m, uint16_t type)
{
	for (uint32_t i = 0; m->received && i < m->n_fds; i++)
		if (m->fds[i] >= 0)
			file_drop(m, m->fds[i]);
	nnb__message_drop_body(m);
	if (m->arriving)
		m->budget.give_fds(m->budget.arg, m->arriving);
	m->type = type;
	m->n_fds = m->fds_at = 0;
	m->received = m->failed = false;
	m->arriving = 0;
}

void nnb__message_fini(struct nnb__message *m)
{
	nnb__message_begin(m, 0);
	free(m->body);
	free(m->fds);
	*m = (struct nnb__message){ 0 };
}

static bool room_for(struct nnb__message *m, size_t n)
{
	size_t need = m->bytes + n;

	assert(m->bytes <= m->room);
	if (need <= NNB__BODY_MAX && NNB__RESERVE(m->body, m->room, need, 256))
		return true;
	m->failed = true;
	return false;
}

static bool room_for_fds(struct nnb__message *m, uint32_t n)
{
	uint32_t need = m->n_fds + n;

	assert(m->n_fds <= m->room_fds);
	if (need <= NNB__FDS_MAX && NNB__RESERVE(m->fds, m->room_fds, need, 8))
		return true;
	m->failed = true;
	return false;
}

/* ---- putting together ---- */

void nnb__put_bytes(struct nnb__message *m, const void *from, size_t n)
{
	if (!n || !room_for(m, n))
		return;
	memcpy(m->body + m->bytes, from, n);
	m->bytes += n;
}

void nnb__put_u32(struct nnb__message *m, uint32_t n)
{
	nnb__put_bytes(m, &n, sizeof(n));
}

void nnb__put_u64(struct nnb__message *m, uint64_t n)
{
	nnb__put_bytes(m, &n, sizeof(n));
}

void nnb__put_text(struct nnb__message *m, const char *text)
{
	size_t n = strlen(text);

	nnb__put_u32(m, (uint32_t)n);
	nnb__put_bytes(m, text, n);
}

void nnb__put_fd(struct nnb__message *m, int fd)
{
	if (room_for_fds(m, 1))
		m->fds[m->n_fds++] = fd;
}

void nnb__put_memory(struct nnb__message *m, const struct nnb_memory *memory)
{
	char name[NNB_MEMORY_NAME] = "";

	if (memory->n_fds > NNB_MEMORY_FDS || memory->n_ints > NNB_MEMORY_INTS) {
		m->failed = true;
		return;
	}
	memcpy(name, memory->name, strnlen(memory->name, sizeof(name) - 1));
	nnb__put_bytes(m, name, sizeof(name));
	nnb__put_u64(m, memory->size);
	nnb__put_u32(m, memory->n_fds);
	nnb__put_u32(m, memory->n_ints);
	nnb__put_bytes(m, memory->ints, memory->n_ints * sizeof(memory->ints[0]));
	for (uint32_t i = 0; i < memory->n_fds; i++)
		nnb__put_fd(m, memory->fds[i]);
}

void nnb__put_dims(struct nnb__message *m, uint32_t rank, const uint32_t *dims)
{
	nnb__put_u32(m, rank);
	nnb__put_bytes(m, dims, rank * sizeof(dims[0]));
}

void nnb__put_roles(struct nnb__message *m, const struct nnb_buffer_role *roles, uint32_t n)
{
	nnb__put_u32(m, n);
	for (uint32_t i = 0; i < n; i++) {
		nnb__put_u32(m, roles[i].model);
		nnb__put_u32(m, roles[i].index);
		nnb__put_bytes(m, &roles[i].frequency, sizeof(roles[i].frequency));
	}
}

static void put_arguments(struct nnb__message *m, const struct nnb_argument *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, a++) {
		nnb__put_u32(m, a->no_value);
		nnb__put_u32(m, a->location.pool);
		nnb__put_u32(m, a->location.offset);
		nnb__put_u32(m, a->location.length);
		nnb__put_dims(m, a->rank, a->dims);
	}
}

void nnb__put_request(struct nnb__message *m, const struct nnb_call *call)
{
	nnb__put_u32(m, call->n_inputs);
	nnb__put_u32(m, call->n_outputs);
	nnb__put_u32(m, call->n_pools);
	put_arguments(m, call->inputs, call->n_inputs);
	put_arguments(m, call->outputs, call->n_outputs);
	for (uint32_t i = 0; i < call->n_pools; i++)
		nnb__put_memory(m, nnb_pool_memory(call->pools[i]));
}

void nnb__put_terms(struct nnb__message *m, const struct nnb_terms *terms)
{
	nnb__put_u64(m, terms->deadline_ns);
	nnb__put_u64(m, terms->loop_timeout_ns);
}

void nnb__put_result(struct nnb__message *m, const struct nnb_result *r)
{
	nnb__put_u32(m, r->status);
	nnb__put_u64(m, r->timing.on_device_ns);
	nnb__put_u64(m, r->timing.in_driver_ns);
	nnb__put_u32(m, r->n_shapes);
	for (uint32_t i = 0; i < r->n_shapes; i++) {
		nnb__put_u32(m, r->shapes[i].sufficient);
		nnb__put_dims(m, r->shapes[i].rank, r->shapes[i].dims);
	}
}

/* ---- taking apart ---- */

void nnb__get_bytes(struct nnb__message *m, void *to, size_t n)
{
	assert(m->at <= m->bytes);
	if (n > m->bytes - m->at) {
		m->failed = true;
		memset(to, 0, n);
		return;
	}
	if (n)
		memcpy(to, m->body + m->at, n);
	m->at += n;
}

uint32_t nnb__get_u32(struct nnb__message *m)
{
	uint32_t n;

	nnb__get_bytes(m, &n, sizeof(n));
	return n;
}

uint64_t nnb__get_u64(struct nnb__message *m)
{
	uint64_t n;

	nnb__get_bytes(m, &n, sizeof(n));
	return n;
}

void nnb__get_text(struct nnb__message *m, char *to, size_t room)
{
	uint32_t n = nnb__get_u32(m);
	size_t kept = n < room ? n : room - 1;

	to[0] = '\0';
	if (!nnb__message_holds(m, n, 1))
		return;
	memcpy(to, m->body + m->at, kept);
	to[kept] = '\0';
	m->at += n;
}

/* The next file, whatever it is; -1: the message has no more. */
static int fd_take(struct nnb__message *m)
{
	int fd;

	assert(m->fds_at <= m->n_fds);
	if (m->fds_at == m->n_fds) {
		m->failed = true;
		return -1;
	}
	fd = m->fds[m->fds_at];
	m->fds[m->fds_at++] = -1;
	return fd;
}

int nnb__get_fd(struct nnb__message *m)
{
	int fd = fd_take(m);

	/* no socket is wanted here, and who refuses it only closes it: a porter would hold it for ever */
	if (fd >= 0 && m->porters && is_line(fd)) {
		shutdown(fd, SHUT_RDWR);
		line_empty(m->porters, fd);
	}
	return fd;
}

void nnb__get_memory(struct nnb__message *m, struct nnb_memory *ret)
{
	struct nnb_memory memory = { 0 };
	uint32_t n_fds, n_ints;

	nnb__get_bytes(m, memory.name, sizeof(memory.name));
	memory.name[sizeof(memory.name) - 1] = '\0';
	memory.size = nnb__get_u64(m);
	n_fds = nnb__get_u32(m);
	n_ints = nnb__get_u32(m);
	if (n_fds > NNB_MEMORY_FDS || n_ints > NNB_MEMORY_INTS)
		m->failed = true;
	else
		nnb__get_bytes(m, memory.ints, n_ints * sizeof(memory.ints[0]));
	if (!m->failed) {
		memory.n_ints = n_ints;
		memory.n_fds = n_fds;
		for (uint32_t i = 0; i < n_fds; i++)
			memory.fds[i] = nnb__get_fd(m);
	}
	*ret = memory;
}

uint32_t nnb__get_dims(struct nnb__message *m, uint32_t dims[NNB_RANK_MAX])
{
	uint32_t rank = nnb__get_u32(m);

	if (rank > NNB_RANK_MAX) {
		m->failed = true;
		return 0;
	}
	nnb__get_bytes(m, dims, rank * sizeof(dims[0]));
	return rank;
}

bool nnb__get_roles(struct nnb__message *m, struct nnb_buffer_role **ret, uint32_t *ret_n)
{
	uint32_t n = nnb__get_u32(m);

	*ret = NULL;
	*ret_n = 0;
	if (n > NNB_BUFFER_ROLES_MAX)
		m->failed = true;
	if (!n || !nnb__message_holds(m, n, 3 * sizeof(uint32_t)))
		return true;
	*ret = calloc(n, sizeof(**ret));
	if (!*ret)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		(*ret)[i].model = nnb__get_u32(m);
		(*ret)[i].index = nnb__get_u32(m);
		nnb__get_bytes(m, &(*ret)[i].frequency, sizeof((*ret)[i].frequency));
	}
	*ret_n = n;
	return true;
}

bool nnb__message_holds(struct nnb__message *m, uint64_t n, size_t least)
{
	if (n > (m->bytes - m->at) / least)
		m->failed = true;
	return !m->failed;
}

bool nnb__message_taken(const struct nnb__message *m)
{
	return !m->failed && m->at == m->bytes && m->fds_at == m->n_fds;
}

/*
 * Read the numbers of inputs, outputs and pools. False: there are more than @most arguments, or than the rest of the
 * message has.
 */
static bool get_request_size(struct nnb__message *m, uint32_t most, uint32_t n[3])
{
	for (int i = 0; i < 3; i++)
		n[i] = nnb__get_u32(m);
	if ((uint64_t)n[0] + n[1] > most)
		m->failed = true;
	return nnb__message_holds(m, (uint64_t)n[0] + n[1] + n[2], 5 * sizeof(uint32_t));
}

uint64_t nnb__request_bytes(const struct nnb__message *m, uint32_t most)
{
	/* for each output: the room of a message can be twice the bytes in it */
	const uint64_t output = sizeof(struct nnb_output_shape) + 2 * (2 + NNB_RANK_MAX) * sizeof(uint32_t);
	struct nnb__message look = *m;
	uint32_t n[3];

	if (!get_request_size(&look, most, n))
		return 0;
	return ((uint64_t)n[0] + n[1]) * sizeof(struct nnb_argument) + n[1] * output +
	       n[2] * (uint64_t)sizeof(struct nnb_memory);
}

bool nnb__get_request(struct nnb__message *m, uint32_t most, struct nnb__request *ret)
{
	uint32_t size[3], n_inputs, n_outputs, n_pools;
	uint64_t n;

	*ret = (struct nnb__request){ 0 };
	if (!get_request_size(m, most, size))
		return false;
	n_inputs = size[0];
	n_outputs = size[1];
	n_pools = size[2];
	n = (uint64_t)n_inputs + n_outputs;
	ret->arguments = calloc(n + 1, sizeof(*ret->arguments));
	ret->pools = calloc((size_t)n_pools + 1, sizeof(*ret->pools));
	if (!ret->arguments || !ret->pools)
		m->failed = true;
	for (uint64_t i = 0; i < n && !m->failed; i++) {
		struct nnb_argument *a = &ret->arguments[i];

		a->no_value = nnb__get_u32(m);
		a->location.pool = nnb__get_u32(m);
		a->location.offset = nnb__get_u32(m);
		a->location.length = nnb__get_u32(m);
		a->rank = nnb__get_dims(m, a->dims);
	}
	ret->request = (struct nnb_request){
		.inputs = ret->arguments, .n_inputs = n_inputs, .n_outputs = n_outputs, .pools = ret->pools
	};
	for (; ret->request.n_pools < n_pools && !m->failed; ret->request.n_pools++)
		nnb__get_memory(m, &ret->pools[ret->request.n_pools]);
	if (m->failed) {
		nnb__request_fini(ret);
		return false;
	}
	ret->request.outputs = ret->arguments + n_inputs;
	return true;
}

void nnb__request_fini(struct nnb__request *r)
{
	for (uint32_t i = 0; i < r->request.n_pools; i++)
		nnb_memory_close(&r->pools[i]);
	free(r->arguments);
	free(r->pools);
	*r = (struct nnb__request){ 0 };
}

void nnb__get_terms(struct nnb__message *m, struct nnb_terms *ret)
{
	ret->deadline_ns = nnb__get_u64(m);
	ret->loop_timeout_ns = nnb__get_u64(m);
}

void nnb__get_result(struct nnb__message *m, struct nnb_result *ret, uint32_t room)
{
	uint32_t status = nnb__get_u32(m);
	struct nnb_output_shape unwanted;

	ret->status = status <= NNB_STATUS_DEAD_OBJECT ? (enum nnb_status)status : NNB_STATUS_GENERAL_FAILURE;
	ret->timing.on_device_ns = nnb__get_u64(m);
	ret->timing.in_driver_ns = nnb__get_u64(m);
	ret->n_shapes = nnb__get_u32(m);
	if (ret->n_shapes > room)
		m->failed = true;
	for (uint32_t i = 0; i < ret->n_shapes && !m->failed; i++) {
		struct nnb_output_shape *s = ret->shapes ? &ret->shapes[i] : &unwanted;

		s->sufficient = nnb__get_u32(m);
		s->rank = nnb__get_dims(m, s->dims);
	}
	if (m->failed) {
		ret->n_shapes = 0;
		ret->timing = NNB_NO_TIMING;
		ret->status = NNB_STATUS_GENERAL_FAILURE;
	}
}

/* ---- answers ---- */

void nnb__answer_begin(struct nnb__message *m, enum nnb_status status, const struct nnb_reason *reason)
{
	nnb__message_begin(m, NNB__ANSWER);
	nnb__put_u32(m, status);
	nnb__put_text(m, status && reason ? reason->text : "");
}

enum nnb_status nnb__answer_status(struct nnb__message *m, struct nnb_reason *reason)
{
	uint32_t status = nnb__get_u32(m);
	struct nnb_reason why;

	nnb__get_text(m, why.text, sizeof(why.text));
	if (m->type != NNB__ANSWER || m->failed || status > NNB_STATUS_DEAD_OBJECT) {
		nnb_because(reason, "the service sent a malformed answer");
		return NNB_STATUS_GENERAL_FAILURE;
	}
	if (status && reason)
		*reason = why;
	return (enum nnb_status)status;
}

/* ---- sending ---- */

union control {
	struct cmsghdr align;
	/* with SO_PASSCRED or SO_PASSPIDFD set, the kernel adds credentials or a pidfd */
	char bytes[CMSG_SPACE(sizeof(int) * NNB__PACKET_FDS) + CMSG_SPACE(sizeof(struct ucred)) +
	           CMSG_SPACE(sizeof(int))];
};

enum { ARRIVE_MAX = sizeof(union control) / sizeof(int) }; /* fds that could come with a packet */

/* Wait for @events on @sock. 0; -ETIMEDOUT: they did not come by @until. Another -errno. */
static int socket_wait(int sock, short events, uint64_t until)
{
	struct pollfd at = { .fd = sock, .events = events };
	uint64_t now = nnb__now(), left = until > now ? until - now : 0;
	const struct timespec limit = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
	int n = ppoll(&at, 1, &limit, NULL);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Receive into @msg, with @flags. @until: 0: as long as the socket's own limit lets it. The bytes, or -errno. */
static ssize_t packet_take(int sock, struct msghdr *msg, int flags, uint64_t until)
{
	int r = 0;

	while (!r) {
		ssize_t n = recvmsg(sock, msg, flags | (until ? MSG_DONTWAIT : 0));

		if (n >= 0)
			return n;
		if (errno == EAGAIN)
			r = until ? socket_wait(sock, POLLIN, until) : -ETIMEDOUT;
		else if (errno != EINTR)
			r = -errno;
	}
	return r;
}

/* Send @msg. 0 or -errno. */
static int packet_give(int sock, const struct msghdr *msg, uint64_t until)
{
	int r = 0;

	while (!r) {
		if (sendmsg(sock, msg, MSG_NOSIGNAL | (until ? MSG_DONTWAIT : 0)) >= 0)
			return 0;
		if (errno == EAGAIN)
			r = until ? socket_wait(sock, POLLOUT, until) : -ETIMEDOUT;
		else if (errno != EINTR)
			r = -errno;
	}
	return r;
}

static int send_packet(int sock, const struct header *h, const void *body, size_t bytes, const int *fds, uint32_t n_fds,
                       uint64_t until)
{
	struct iovec iov[2] = { { (void *)(uintptr_t)h, sizeof(*h) }, { (void *)(uintptr_t)body, bytes } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = bytes ? 2 : 1 };
	size_t fd_bytes = n_fds * sizeof(int);
	union control control;

	if (n_fds) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(fd_bytes);
		control.align = (struct cmsghdr){ CMSG_LEN(fd_bytes), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.align), fds, fd_bytes);
	}
	return packet_give(sock, &msg, until);
}

/* The body in a memfd of its own. An owned fd, or -errno. */
static int large_body(const struct nnb__message *m)
{
	int fd = nnb__sealed_new("nnburst-message", m->bytes);
	size_t done = 0;

	while (fd >= 0 && done < m->bytes) {
		ssize_t n = pwrite(fd, m->body + done, m->bytes - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			return -ENOMEM;
		}
		done += (size_t)n;
	}
	return fd;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int send_large(int sock, const struct nnb__message *m, struct header *h, uint32_t *sent)
{
	int fds[NNB__PACKET_FDS], r;

	*sent = min_u32(m->n_fds, NNB__PACKET_FDS - 1);
	if (*sent)
		memcpy(fds + 1, m->fds, *sent * sizeof(int));
	fds[0] = large_body(m);
	if (fds[0] < 0)
		return fds[0];
	h->flags = LARGE;
	r = send_packet(sock, h, NULL, 0, fds, *sent + 1, 0);
	close(fds[0]);
	return r;
}

int nnb__message_send(int sock, struct nnb__message *m)
{
	struct header h = { .magic = NNB__MAGIC, .type = m->type, .bytes = (uint32_t)m->bytes, .n_fds = m->n_fds };
	uint32_t sent = min_u32(m->n_fds, NNB__PACKET_FDS);
	int r;

	if (m->failed)
		return -EMSGSIZE;
	if (m->bytes <= NNB__INLINE_MAX)
		r = send_packet(sock, &h, m->body, m->bytes, m->fds, sent, 0);
	else
		r = send_large(sock, m, &h, &sent);
	while (!r && sent < m->n_fds) {
		uint32_t n = min_u32(m->n_fds - sent, NNB__PACKET_FDS);

		h = (struct header){ .magic = NNB__MAGIC, .type = NNB__MORE, .n_fds = n };
		r = send_packet(sock, &h, NULL, 0, m->fds + sent, n, 0);
		sent += n;
	}
	return r;
}

/* The body in packets of its own, behind the first. */
int nnb__send_without_fds(int sock, struct nnb__message *m)
{
	struct header h = { .magic = NNB__MAGIC, .type = m->type, .bytes = (uint32_t)m->bytes };
	size_t sent = 0, n = m->bytes < NNB__INLINE_MAX ? m->bytes : NNB__INLINE_MAX;
	int r = m->failed || m->n_fds || m->bytes > NNB__BODY_MAX ? -EMSGSIZE : 0;

	h.flags = n < m->bytes ? PARTS : 0;
	while (!r && (!sent || sent < m->bytes)) {
		r = send_packet(sock, &h, m->body + sent, n, NULL, 0, m->until);
		sent += n ? n : 1;
		n = m->bytes - sent < NNB__INLINE_MAX ? m->bytes - sent : NNB__INLINE_MAX;
		h = (struct header){ .magic = NNB__MAGIC, .type = NNB__MORE, .bytes = (uint32_t)n };
	}
	return r;
}

/* ---- receiving ---- */

/* Move the fds that came with a packet into the message, for whatever happens next. */
static int collect_fds(struct nnb__message *m, struct msghdr *msg)
{
	int fds[ARRIVE_MAX], r = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		uint32_t n;

		if (c->cmsg_level != SOL_SOCKET || (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != SCM_PIDFD))
			continue;
		if (c->cmsg_type == SCM_PIDFD) { /* the peer, whose socket it was, may have asked for that */
			memcpy(fds, CMSG_DATA(c), sizeof(int));
			close(fds[0]);
			continue;
		}
		n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
		if (room_for_fds(m, n)) {
			memcpy(m->fds + m->n_fds, fds, n * sizeof(int));
			m->n_fds += n;
			continue;
		}
		while (n)
			nnb__close(fds[--n]);
		r = -EBADMSG;
	}
	return r;
}

/* Look at the next packet, which stays where it is: its header, and whether it has fds, or credentials. 0 or -errno. */
static int packet_look(int sock, uint64_t until, struct header *h, bool *ret_loaded)
{
	struct iovec iov = { h, sizeof(*h) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = packet_take(sock, &msg, MSG_PEEK, until);

	*ret_loaded = msg.msg_flags & MSG_CTRUNC;
	return n < 0 ? (int)n : 0;
}

/*
 * Have a porter receive a packet that has fds, of which @most may come. The bytes, or -errno: -EMSGSIZE: it is longer
 * than there is room; -EDQUOT: it stays, because no porter was free.
 */
static ssize_t packet_fetch(int sock, struct nnb__message *m, const struct iovec iov[2], uint32_t most, bool *lost)
{
	const struct nnb__errand_wait wait = { .limit_ns = NNB__ERRAND_FILE_NS, .goes_on = nnb__wait_app_stays };
	int fds[NNB__PACKET_FDS];
	struct nnb__delivery d = { .parts = { iov[0], iov[1] }, .fds = fds, .n_fds = most };
	ssize_t n = nnb__errand_receive(m->porters, sock, &wait, &d);

	*lost = d.lost;
	m->stays = d.stays;
	if (d.stays) {
		m->refused = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		nnb_because(&m->why, "the limit of porters is reached: no process is free to receive the files");
		return -EDQUOT;
	}
	if (d.n_fds && !room_for_fds(m, d.n_fds)) {
		while (d.n_fds)
			file_drop(m, fds[--d.n_fds]);
		return -EBADMSG;
	}
	if (d.n_fds)
		memcpy(m->fds + m->n_fds, fds, d.n_fds * sizeof(int));
	m->n_fds += d.n_fds;
	return n;
}

/* Receive a packet that may have @most fds. The bytes, or -errno. */
static ssize_t packet_receive(int sock, struct nnb__message *m, const struct iovec iov[2], uint32_t most, bool loaded,
                              bool *lost)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = 2 };
	union control control;
	ssize_t n;
	int r;

	if (m->porters && loaded) {
		n = packet_fetch(sock, m, iov, most, lost);
		return n == -EMSGSIZE ? -EBADMSG : n;
	}
	/*
	 * A receiver that charges for fds offers the kernel room for @most and no byte more, because the kernel fills
	 * spare room with fds. Any other receiver has room for credentials and a pidfd, too (union control). One that
	 * has porters offers none: it has looked, and no other process receives from the socket.
	 */
	if (!m->porters) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(union control);
		if (m->budget.take_fds)
			msg.msg_controllen = most ? CMSG_LEN(sizeof(int) * most) : 0;
	}
	n = packet_take(sock, &msg, MSG_CMSG_CLOEXEC, m->ends);
	if (n < 0)
		return n;
	*lost = msg.msg_flags & MSG_CTRUNC;
	r = m->porters ? 0 : collect_fds(m, &msg);
	return r ? r : msg.msg_flags & MSG_TRUNC ? -EBADMSG : n;
}

/* One packet: its header, its body behind what there is, its fds likewise, of which there are @most. */
static int receive_packet(int sock, struct nnb__message *m, struct header *h, uint32_t most, bool loaded)
{
	const struct iovec iov[2] = { { h, sizeof(*h) }, { m->body + m->bytes, m->room - m->bytes } };
	uint32_t before = m->n_fds;
	bool lost = false;
	ssize_t n;

	assert(most <= NNB__PACKET_FDS && m->bytes <= m->room);
	n = packet_receive(sock, m, iov, most, loaded, &lost);
	if (n < 0)
		return (int)n;
	if (n == 0)
		return -ECONNRESET;
	if (n < (ssize_t)sizeof(*h) || h->magic != NNB__MAGIC)
		return -EBADMSG;
	if (lost && m->n_fds - before < most) /* beyond those that were to come, any may be lost */
		return -EBADMSG;
	m->bytes += (size_t)n - sizeof(*h);
	return 0;
}

/* One packet of a message that is refused: its header, and nothing of what it brings. */
static int drop_packet(int sock, struct nnb__message *m, struct header *h)
{
	struct iovec iov[2] = { { h, sizeof(*h) }, { NULL, 0 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 1 };
	bool loaded = false, lost;
	ssize_t n = m->porters ? packet_look(sock, m->ends, h, &loaded) : 0;

	if (!n)
		n = loaded ? packet_fetch(sock, m, iov, 0, &lost) : packet_take(sock, &msg, 0, m->ends);
	if (loaded && n == -EMSGSIZE) /* there is room for the header alone, which has been looked at */
		n = sizeof(*h);
	if (n < 0)
		return (int)n;
	if (n == 0)
		return -ECONNRESET;
	return n < (ssize_t)sizeof(*h) || h->magic != NNB__MAGIC || h->n_fds > NNB__FDS_MAX ? -EBADMSG : 0;
}

/* Charge the budget for fds that will arrive. 0 or -EDQUOT. */
static int borrow_fds(struct nnb__message *m, uint32_t fds)
{
	if (!m->budget.take_fds)
		return 0;
	m->refused = m->budget.take_fds(m->budget.arg, fds, &m->why);
	if (m->refused)
		return -EDQUOT;
	m->arriving += fds;
	return 0;
}

/* Copy the body out of the memfd, the packet's first fd. From then on no other process can change it. */
static int fetch_large(struct nnb__message *m, uint32_t bytes)
{
	uint64_t size;
	int fd, r;

	if (!m->n_fds || m->bytes || bytes > NNB__BODY_MAX)
		return -EBADMSG;
	fd = m->fds[0];
	memmove(m->fds, m->fds + 1, --m->n_fds * sizeof(int));
	r = nnb__sealed_bytes(fd, &size);
	if (!r && size < bytes)
		r = -EBADMSG;
	if (!r && m->budget.take) {
		m->refused = m->budget.take(m->budget.arg, 0, bytes);
		if (m->refused) {
			nnb_because(&m->why, "the message is more than the app may have");
			r = -EDQUOT;
		} else {
			m->borrowed += bytes;
		}
	}
	if (!r && !room_for(m, bytes))
		r = -ENOMEM;
	while (!r && m->bytes < bytes) {
		ssize_t n = pread(fd, m->body + m->bytes, bytes - m->bytes, (off_t)m->bytes);

		if (n > 0)
			m->bytes += (size_t)n;
		else if (n == 0 || errno != EINTR)
			r = -EBADMSG;
	}
	file_drop(m, fd);
	return r == -EPERM || r == -EBADF ? -EBADMSG : r;
}

/* One packet of the fds that are to come, at most @most. */
static int receive_fds(int sock, struct nnb__message *m, uint32_t most)
{
	struct header h = { 0 };
	uint32_t before = m->n_fds;
	size_t bytes = m->bytes;
	bool loaded = false;
	int r = room_for(m, 1) ? 0 : -ENOMEM;

	if (!r && m->porters)
		r = packet_look(sock, m->ends, &h, &loaded);
	if (!r)
		r = receive_packet(sock, m, &h, min_u32(most, NNB__PACKET_FDS), loaded);
	if (!r && (h.type != NNB__MORE || m->bytes != bytes || m->n_fds == before || m->n_fds - before > most))
		r = -EBADMSG;
	return r == -EDQUOT ? -EBUSY : r; /* half of a message cannot be refused */
}

/* One packet of the body that is to come. */
static int receive_part(int sock, struct nnb__message *m)
{
	struct header h = { 0 };
	size_t bytes = m->bytes;
	int r = room_for(m, NNB__INLINE_MAX) ? receive_packet(sock, m, &h, 0, false) : -ENOMEM;

	if (!r && (h.type != NNB__MORE || m->bytes == bytes || m->n_fds))
		r = -EBADMSG;
	return r;
}

/* The number of fds that come in packets behind one with this header. */
static uint32_t fds_behind(const struct header *h)
{
	return h->n_fds - min_u32(h->n_fds, NNB__PACKET_FDS - !!(h->flags & LARGE));
}

/* The rest of a message that is refused, so that the next one is found: @n_fds in packets of their own. */
static int pass_over(int sock, struct nnb__message *m, uint32_t n_fds)
{
	int r = 0;

	nnb__message_begin(m, 0);
	while (!r && n_fds) {
		struct header h = { 0 };

		r = drop_packet(sock, m, &h);
		if (!r && (h.type != NNB__MORE || !h.n_fds || h.n_fds > n_fds))
			r = -EBADMSG;
		n_fds -= r ? 0 : h.n_fds;
	}
	return !r ? -EDQUOT : r == -EDQUOT ? -EBUSY : r;
}

/* The first packet of a message is there: from now on the rest of it has its own limit of time. */
static void message_arrives(struct nnb__message *m)
{
	uint64_t rest = m->rest_ns ? nnb__saturating_sum(nnb__now(), m->rest_ns) : 0;

	if (rest && (!m->ends || rest < m->ends))
		m->ends = rest;
}

/* Take a message that was refused, and has stayed, out of the queue. -EAGAIN: it may stay still; another -errno. */
static int pass_late(int sock, struct nnb__message *m)
{
	struct header h = { 0 };
	int r;

	message_arrives(m);
	r = drop_packet(sock, m, &h);
	if (!r)
		r = pass_over(sock, m, fds_behind(&h));
	return r == -EDQUOT ? -EAGAIN : r;
}

/*
 * The fds of the next packet are charged for. 0, how many, and whether it has any; -EDQUOT: they are not, and the
 * message has been passed over.
 */
static int expect_fds(int sock, struct nnb__message *m, uint32_t *ret, bool *ret_loaded)
{
	struct header h = { 0 };
	int r;

	*ret = NNB__PACKET_FDS;
	*ret_loaded = false;
	if (!m->budget.take_fds)
		return 0;
	r = packet_look(sock, m->ends, &h, ret_loaded);
	*ret = min_u32(h.n_fds, NNB__PACKET_FDS);
	*ret = min_u32(*ret + !!(h.flags & LARGE), NNB__PACKET_FDS);
	if (r || !*ret)
		return r;
	if (!borrow_fds(m, *ret))
		return 0;
	message_arrives(m);
	r = drop_packet(sock, m, &h);
	return r ? r : pass_over(sock, m, fds_behind(&h));
}

int nnb__message_receive(int sock, struct nnb__message *m)
{
	struct header h = { 0 };
	uint32_t most;
	bool loaded;
	int r;

	assert(!m->porters || m->budget.take_fds);
	nnb__message_begin(m, 0);
	m->received = true;
	m->ends = m->until;
	if (!room_for(m, NNB__INLINE_MAX))
		return -ENOMEM;
	if (m->stays)
		return pass_late(sock, m);
	r = expect_fds(sock, m, &most, &loaded);
	if (r)
		return r;
	r = receive_packet(sock, m, &h, most, loaded);
	message_arrives(m);
	if (!r &&
	    (h.n_fds > NNB__FDS_MAX || h.bytes > NNB__BODY_MAX || h.flags & ~(m->budget.take ? LARGE : LARGE | PARTS)))
		r = -EBADMSG;
	if (!r && h.flags & LARGE)
		r = fetch_large(m, h.bytes);
	while (!r && h.flags & PARTS && m->bytes < h.bytes)
		r = receive_part(sock, m);
	if (!r && (m->bytes != h.bytes || m->n_fds > h.n_fds))
		r = -EBADMSG;
	if (!r && m->n_fds < h.n_fds)
		r = borrow_fds(m, h.n_fds - m->n_fds);
	if (r == -EDQUOT)
		return pass_over(sock, m, h.n_fds > m->n_fds ? h.n_fds - m->n_fds : 0);
	while (!r && m->n_fds < h.n_fds)
		r = receive_fds(sock, m, h.n_fds - m->n_fds);
	m->type = h.type;
	return r;
}

int nnb__get_line(struct nnb__message *m)
{
	int fd = fd_take(m), sock = -1;

	if (fd < 0 || (m->porters && is_line(fd))) /* accepted by a porter, which lets no other socket pass */
		return fd;
	if (!m->porters && nnb__is_offer(fd))
		sock = nnb__offer_accept(fd);
	nnb__close(fd);
	return sock < 0 ? -1 : sock;
}

void nnb__socket_timeout(int sock, uint64_t ns)
{
	struct timeval t = { (time_t)(ns / 1000000000), (suseconds_t)(ns % 1000000000 / 1000) };

	if (ns && !t.tv_sec && !t.tv_usec)
		t.tv_usec = 1;
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

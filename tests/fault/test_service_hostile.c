/*
 * test_service_hostile.c -- clients that lie, flood, stall and die, at a real nnburstd: the service serves
 * other clients, and afterwards holds nothing of the hostile ones.
 *
 * They speak the protocol of nnburstd(8) with code of their own. Each is a process, and so an app, that plays a
 * scene of main(): one particular attack, or a random session, whose seed is its argument. NNB_SOAK_SECONDS
 * plays as many sessions as fit, NNB_SEED begins with another seed.
 */
#include <inttypes.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "nnb/fence.h"
#include "nnb/packet.h"
#include "service_helpers.h"

enum { N = 64, BODY_MAX = 1 << 16, FDS_MAX = 600, PACKET_FDS = 253 };

/* ---- the protocol, as nnburstd(8) has it ---- */

enum {
	HELLO = 1,
	CHANNEL,
	EVENTS = 4,
	COUNTS = 16,
	SUPPORTED,
	PREPARE,
	FROM_CACHE,
	RELEASE,
	EXECUTE,
	ASYNC,
	BURST,
	CLOSE,
	FREE,
	EXECUTE_FENCED,
	TIMES,
	APPS,
	BUFFER,
	BUFFER_FREE,
	BUFFER_WRITE,
	BUFFER_READ,
	LAST_CALL = BUFFER_READ,
	DONE = 48,
	MEMORIES,
	FENCED,
	ANSWER = 64,
	MORE,
	LARGE = 1 /* a flag */
};

struct header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

struct out {
	uint16_t type;
	size_t n;
	unsigned n_fds;
	int fds[FDS_MAX];
	uint8_t body[BODY_MAX];
};

static void begin(struct out *o, uint16_t type)
{
	o->type = type;
	o->n = o->n_fds = 0;
}

static void put(struct out *o, const void *from, size_t n)
{
	if (n > sizeof(o->body) - o->n)
		n = sizeof(o->body) - o->n;
	memcpy(o->body + o->n, from, n);
	o->n += n;
}

static void put_u32(struct out *o, uint32_t n)
{
	put(o, &n, sizeof(n));
}

static void put_u64(struct out *o, uint64_t n)
{
	put(o, &n, sizeof(n));
}

static void put_text(struct out *o, const char *text)
{
	put_u32(o, (uint32_t)strlen(text));
	put(o, text, strlen(text));
}

static void put_fd(struct out *o, int fd)
{
	if (o->n_fds < FDS_MAX)
		o->fds[o->n_fds++] = fd;
}

static void put_memory(struct out *o, const struct nnb_memory *m)
{
	put(o, m->name, sizeof(m->name));
	put_u64(o, m->size);
	put_u32(o, m->n_fds);
	put_u32(o, m->n_ints);
	put(o, m->ints, m->n_ints * sizeof(m->ints[0]));
	for (uint32_t i = 0; i < m->n_fds; i++)
		put_fd(o, m->fds[i]);
}

static void put_argument(struct out *o, uint32_t pool, uint32_t offset, uint32_t length)
{
	const uint32_t words[] = { 0, pool, offset, length, 0 };

	put(o, words, sizeof(words));
}

static void put_queue(struct out *o, const struct nnb_fmq *q)
{
	uint8_t form[NNB_FMQ_WIRE_MAX];
	struct nnb_fmq_desc desc;
	int n;

	nnb_fmq_describe(q, &desc);
	n = nnb_fmq_desc_encode(&desc, form, sizeof(form));
	must(n > 0);
	put_u32(o, (uint32_t)n);
	put_u32(o, desc.n_fds);
	put(o, form, (size_t)n);
	for (uint32_t i = 0; i < desc.n_fds; i++)
		put_fd(o, desc.fds[i]);
}

/* Send one packet. Never waits, because the reader may be stopped. */
static bool send_packet(int sock, const struct header *h, const void *body, size_t n, const int *fds, unsigned n_fds)
{
	struct iovec iov[2] = { { (void *)(uintptr_t)h, sizeof(*h) }, { (void *)(uintptr_t)body, n } };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * PACKET_FDS)];
	} control;
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	if (n_fds > PACKET_FDS)
		n_fds = PACKET_FDS;
	if (n_fds) {
		control.align = (struct cmsghdr){ CMSG_LEN(n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.align), fds, n_fds * sizeof(int));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	return sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static bool send_out(int sock, const struct out *o)
{
	struct header h = { 0x43424e4e, o->type, 0, (uint32_t)o->n, o->n_fds };
	unsigned sent = o->n_fds < PACKET_FDS ? o->n_fds : PACKET_FDS;
	bool good = send_packet(sock, &h, o->body, o->n, o->fds, sent);

	while (good && sent < o->n_fds) {
		unsigned n = o->n_fds - sent < PACKET_FDS ? o->n_fds - sent : PACKET_FDS;

		h = (struct header){ 0x43424e4e, MORE, 0, 0, n };
		good = send_packet(sock, &h, NULL, 0, o->fds + sent, n);
		sent += n;
	}
	return good;
}

/* Receive one message: header and body. Returns -1 at a timeout or the end of the channel. */
static int receive(int sock, uint8_t *buf, size_t room, int timeout_ms)
{
	struct pollfd at = { .fd = sock, .events = POLLIN };
	ssize_t n = poll(&at, 1, timeout_ms) > 0 ? recv(sock, buf, room, MSG_DONTWAIT) : -1;

	return n >= (ssize_t)sizeof(struct header) ? (int)n : -1; /* the kernel closes fds that the message brought */
}

/* Wait for an answer: its status, and @room bytes after its reason; -1: no answer. */
static int answer_with(int sock, void *ret, size_t room, int timeout_ms)
{
	static _Thread_local uint8_t buf[BODY_MAX + sizeof(struct header)];
	int n = receive(sock, buf, sizeof(buf), timeout_ms);
	uint32_t status, text;

	if (n < (int)sizeof(struct header) + 8)
		return -1;
	memcpy(&status, buf + sizeof(struct header), sizeof(status));
	memcpy(&text, buf + sizeof(struct header) + 4, sizeof(text));
	if (room && n >= (int)(sizeof(struct header) + 8 + text + room))
		memcpy(ret, buf + sizeof(struct header) + 8 + text, room);
	return (int)status;
}

static int answer(int sock, int timeout_ms)
{
	return answer_with(sock, NULL, 0, timeout_ms);
}

/* ---- a client ---- */

enum { SOCKETS_MAX = 48 };

struct evil {
	uint64_t seed;
	struct sockaddr_un at;
	int life, events, line;
	int channels[SOCKETS_MAX];
	unsigned n_channels;
	uint32_t model_id, burst_id, buffer_id;
	uint64_t token;
	struct nnb_model *model;
	uint8_t *form;
	size_t form_bytes;
	struct nnb_memory pool, half, cut; /* half: as large as a buffer; cut: of a file that may be truncated */
	int fences[4];                     /* signalled, pending, failed, and an invalid one */
	unsigned n_fences;                 /* number of fences, of these, that the next execution waits for */
	int own_fence;                     /* the fence that the last execution signals */
	uint64_t deadline_ns;
	struct nnb_fmq *request, *result;
	struct raw raw_request, raw_result;
	int patience; /* ms, for answers to calls that open sockets */
	struct out out;
};

enum { PROMPT = 15000, SOON = 8 }; /* PROMPT: ms until an answer must come; SOON: until one may come */

static void evil_init(struct evil *e, const char *socket_path, uint64_t seed)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);

	*e = (struct evil){
		.seed = seed * 2 + 1, .at.sun_family = AF_UNIX, .life = -1, .events = -1, .line = -1, .patience = PROMPT
	};
	strcpy(e->at.sun_path, socket_path);
	e->model = vector_model(NNB_ADD, N, 1);
	must(nnb_model_encode(e->model, &e->form, &e->form_bytes) == 0);
	must(nnb_memory_ashmem(&e->pool, (uint64_t)N * 8) == 0);
	must(nnb_memory_ashmem(&e->half, (uint64_t)N * 4) == 0);
	must(ftruncate(fd, (off_t)N * 8) == 0);
	must(nnb_memory_mmap_fd(&e->cut, fd, (uint64_t)N * 8, PROT_READ | PROT_WRITE, 0) == 0);
	for (int i = 0; i < 3; i++)
		must(nnb_fence_new(&e->fences[i]) == 0);
	e->own_fence = -1;
	must(nnb_fence_signal(e->fences[0], false) == 0 && nnb_fence_signal(e->fences[2], true) == 0);
	e->fences[3] = dup(fd);
}

static int connected(const struct evil *e)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (connect(fd, (const struct sockaddr *)&e->at, sizeof(e->at))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A socket, and the offer of its other end: one that listens, and to which the first is connected. */
static bool pair(int ret[2])
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(at);

	for (int i = 0; i < 2; i++)
		ret[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return !bind(ret[1], (struct sockaddr *)&at, sizeof(at.sun_family)) && !listen(ret[1], 1) &&
	       !getsockname(ret[1], (struct sockaddr *)&at, &size) && !connect(ret[0], (struct sockaddr *)&at, size);
}

static int introduce(struct evil *e)
{
	int ends[2], status;

	if (e->life >= 0)
		close(e->life);
	e->life = connected(e);
	if (e->life < 0 || !pair(ends))
		return -1;
	begin(&e->out, HELLO);
	put_u32(&e->out, 9);
	put_u32(&e->out, NNB_HAL_1_3);
	put_text(&e->out, "evil");
	send_out(e->life, &e->out);
	status = answer(e->life, e->patience);
	if (status == NNB_STATUS_NONE) {
		begin(&e->out, EVENTS);
		put_fd(&e->out, ends[1]);
		send_out(e->life, &e->out);
		status = answer(e->life, e->patience);
	}
	close(ends[1]);
	if (e->events >= 0)
		close(e->events);
	e->events = ends[0];
	return status;
}

/*
 * On a new connection, introduce oneself in another version of the protocol, with a HAL version and further
 * fields if wanted.
 */
static void introduce_as(struct evil *e, uint32_t version, bool hal, bool more)
{
	uint8_t buf[4096] = { 0 };
	int fd = connected(e), n;
	char sentence[128];

	must(fd >= 0);
	begin(&e->out, HELLO);
	put_u32(&e->out, version);
	if (hal)
		put_u32(&e->out, NNB_HAL_1_3);
	put_text(&e->out, "other");
	if (more)
		put_u64(&e->out, version);
	must(send_out(fd, &e->out));
	n = receive(fd, buf, sizeof(buf) - 1, PROMPT);
	must(n > (int)sizeof(struct header) + 8);
	snprintf(sentence, sizeof(sentence), "the service speaks version 9 of the protocol, and not %u", version);
	must(memmem(buf, (size_t)n, sentence, strlen(sentence)));
	close(fd);
}

/* Offer @fd, or a proper socket (-1), as a channel. Returns the answer's status. */
static int offer_channel(struct evil *e, int fd)
{
	int ends[2] = { -1, -1 }, status;

	if (fd < 0 && !pair(ends))
		return -1;
	begin(&e->out, CHANNEL);
	put_fd(&e->out, fd < 0 ? ends[1] : fd);
	send_out(e->life, &e->out);
	if (fd < 0)
		close(ends[1]);
	status = answer(e->life, e->patience);
	if (fd < 0 && !status && e->n_channels < SOCKETS_MAX)
		e->channels[e->n_channels++] = ends[0];
	else if (fd < 0)
		close(ends[0]);
	return status;
}

static void put_model(struct evil *e)
{
	put_u32(&e->out, (uint32_t)e->form_bytes);
	put(&e->out, e->form, e->form_bytes);
	for (uint32_t i = 0; i < e->model->n_pools; i++)
		put_fd(&e->out, e->model->pools[i].fds[0]);
}

/* Add a deadline, and a cache. */
static void put_cache(struct evil *e, bool cache)
{
	static const uint8_t token[NNB_TOKEN_BYTES] = { 7 };
	const uint32_t counts[] = { cache, cache, cache };

	put_u64(&e->out, 0);
	put(&e->out, counts, sizeof(counts));
	put(&e->out, token, sizeof(token));
	for (int i = 0; cache && i < 2; i++)
		put_fd(&e->out, e->cut.fds[0]);
}

static void put_token(struct evil *e)
{
	struct nnb_memory memory;

	nnb_memory_token(&memory, e->token);
	put_memory(&e->out, &memory);
}

/* Add a request. With a token, sometimes put its input or output into that buffer. */
static void put_request(struct evil *e, bool cut)
{
	uint64_t kept = e->token ? next_random(&e->seed) % 4 : 0; /* 1: the input, 2: the output */
	const uint32_t words[] = { e->model_id, (uint32_t)next_random(&e->seed), 0 },
		       counts[] = { 1, 1, 1 + (kept > 0) };

	put(&e->out, words, sizeof(words));
	put_u64(&e->out, e->deadline_ns);
	put_u64(&e->out, 0);
	put(&e->out, counts, sizeof(counts));
	put_argument(&e->out, kept == 1, 0, kept == 1 ? 0 : N * 4);
	put_argument(&e->out, kept == 2, kept == 2 ? 0 : N * 4, kept == 2 ? 0 : N * 4);
	put_memory(&e->out, cut ? &e->cut : &e->pool);
	if (kept)
		put_token(e);
}

/* Add a role @n times; more than fits only claims to be there @n times. */
static void put_roles(struct evil *e, uint32_t n, uint32_t model, uint32_t index, float frequency)
{
	put_u32(&e->out, n);
	for (uint32_t i = 0; i < (n > 4096 ? 1 : n); i++) {
		put_u32(&e->out, model);
		put_u32(&e->out, index);
		put(&e->out, &frequency, sizeof(frequency));
	}
}

/* New queues, so that nothing is left in them. */
static void make_queues(struct evil *e)
{
	struct nnb_fmq_config c = { sizeof(struct nnb_request_datum), 256, NNB_FMQ_SYNCHRONIZED, NNB_FMQ_LAYOUT_SPREAD,
		                    .event_flag = true };

	raw_close(&e->raw_request);
	raw_close(&e->raw_result);
	nnb_fmq_free(e->request);
	nnb_fmq_free(e->result);
	must(nnb_fmq_new(&e->request, &c) == 0);
	c.elem_size = sizeof(struct nnb_result_datum);
	must(nnb_fmq_new(&e->result, &c) == 0);
	raw_open(&e->raw_request, e->request);
	raw_open(&e->raw_result, e->result);
}

/* The fence that an execution shall signal: a new one. */
static void put_own_fence(struct evil *e)
{
	if (e->own_fence >= 0)
		close(e->own_fence);
	must(nnb_fence_new(&e->own_fence) == 0);
	put_fd(&e->out, e->own_fence);
}

static void put_fenced(struct evil *e)
{
	put_request(e, next_random(&e->seed) % 4 == 0);
	put_u64(&e->out, 0);
	put_u32(&e->out, e->n_fences);
	put_u64(&e->out, next_random(&e->seed));
	for (unsigned i = 0; i < e->n_fences; i++)
		put_fd(&e->out, e->fences[i]);
	put_own_fence(e);
}

static void put_burst(struct evil *e)
{
	int ends[2];

	make_queues(e);
	put_u32(&e->out, e->model_id);
	put_u32(&e->out, 1);
	put_queue(&e->out, e->request);
	put_queue(&e->out, e->result);
	if (e->line >= 0)
		close(e->line);
	must(pair(ends));
	e->line = ends[0];
	put_fd(&e->out, ends[1]);
}

static void put_buffer(struct evil *e)
{
	put_u32(&e->out, 1);
	put_u32(&e->out, N);
	put_u32(&e->out, 1);
	put_u32(&e->out, e->model_id);
	put_roles(e, 1, 0, 0, 1);
	put_roles(e, 1, 0, 0, 0.5F);
}

/* Make a valid call. */
static void make_call(struct evil *e, uint16_t type)
{
	begin(&e->out, type);
	switch (type) {
	case SUPPORTED:
		put_model(e);
		break;
	case PREPARE:
		put_u32(&e->out, 1);
		put_u32(&e->out, 1);
		put_cache(e, next_random(&e->seed) % 4 == 0);
		put_model(e);
		break;
	case FROM_CACHE:
		put_cache(e, true);
		break;
	case EXECUTE:
	case ASYNC:
		put_request(e, next_random(&e->seed) % 4 == 0);
		if (type == ASYNC)
			put_u64(&e->out, next_random(&e->seed));
		break;
	case EXECUTE_FENCED:
		put_fenced(e);
		break;
	case RELEASE:
	case TIMES:
		put_u32(&e->out, e->model_id);
		break;
	case BURST:
		put_burst(e);
		break;
	case BUFFER:
		put_buffer(e);
		break;
	case BUFFER_FREE:
		put_u32(&e->out, e->buffer_id);
		break;
	case BUFFER_WRITE:
	case BUFFER_READ:
		put_u32(&e->out, e->buffer_id);
		if (type == BUFFER_WRITE)
			put_u32(&e->out, 0);
		put_memory(&e->out, &e->half);
		break;
	case CLOSE:
	case FREE:
		put_u32(&e->out, e->burst_id);
		if (type == FREE)
			put_u32(&e->out, (uint32_t)next_random(&e->seed) % 4);
		break;
	default:
		break;
	}
}

/* After the call, the line's other end belongs to the message alone. */
static void call_sent(struct evil *e, uint16_t type)
{
	if (type != BURST)
		return;
	close(e->out.fds[e->out.n_fds - 1]);
}

/* Send a valid call, and wait for its answer. */
static int call(struct evil *e, uint16_t type, int timeout_ms)
{
	struct {
		uint32_t id;
		uint8_t token[8];
	} made = { 0 };
	int status;

	make_call(e, type);
	send_out(e->channels[0], &e->out);
	call_sent(e, type);
	status = answer_with(e->channels[0], &made, type == BUFFER ? sizeof(made) : sizeof(made.id), timeout_ms);
	if (!status && (type == PREPARE || type == FROM_CACHE))
		e->model_id = made.id;
	if (!status && type == BURST)
		e->burst_id = made.id;
	if (!status && type == BUFFER) {
		e->buffer_id = made.id;
		memcpy(&e->token, made.token, sizeof(e->token));
	}
	return status;
}

/* Connect and go through the steps up to a warm start. */
static void evil_warm_up(struct evil *e, const char *socket_path, uint64_t seed)
{
	evil_init(e, socket_path, seed);
	must(introduce(e) == 0);
	must(offer_channel(e, -1) == 0);
	must(call(e, PREPARE, PROMPT) == 0);
	must(call(e, BURST, PROMPT) == 0);
}

/* ---- on the queues ---- */

static void write_request(struct evil *e, int32_t slot)
{
	const struct nnb_argument in = { .location = { 0, 0, N * 4 } }, out = { .location = { 0, N * 4, N * 4 } };
	const struct nnb_request request = { &in, &out, 1, 1, 1, NULL };
	size_t n = nnb_packet_request_size(&request, NULL);
	struct nnb_fmq_tx tx;

	if (nnb_fmq_begin_write(e->request, n, &tx))
		return;
	nnb_packet_request_build(&tx, &request, &slot, false, NULL);
	nnb_fmq_commit_write_and_wake(e->request, n);
}

/* Wait for a result: its status, or -1. */
static int read_result(struct evil *e, int timeout_ms)
{
	struct nnb_output_shape shapes[4];
	struct nnb_result result = { .shapes = shapes };
	struct nnb_fmq_tx tx;
	size_t n;
	int r = nnb_fmq_begin_read_blocking(e->result, 1, (uint64_t)timeout_ms * MS, &tx);

	n = r ? 0 : nnb_fmq_available_to_read(e->result);
	if (!n || nnb_fmq_begin_read(e->result, n, &tx))
		return -1;
	r = nnb_packet_result_parse(&result, N_OF(shapes), &tx, NULL);
	nnb_fmq_commit_read(e->result, n);
	return r ? -1 : (int)result.status;
}

/* Receive the service's query for slots. */
static bool receive_query(struct evil *e, int timeout_ms)
{
	uint8_t buf[4096];
	struct header h;

	if (receive(e->line, buf, sizeof(buf), timeout_ms) < 0)
		return false;
	memcpy(&h, buf, sizeof(h));
	return h.type == MEMORIES;
}

/* Answer the query with @n memories, whatever slots the service asked for. */
static void answer_query(struct evil *e, uint32_t n, const struct nnb_memory *memory)
{
	begin(&e->out, ANSWER);
	put_u32(&e->out, NNB_STATUS_NONE);
	put_text(&e->out, "");
	for (uint32_t i = 0; i < n; i++)
		put_memory(&e->out, memory);
	send_out(e->line, &e->out);
}

/* ---- fds of all kinds ---- */

static int sealed(off_t bytes, int seals)
{
	int fd = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd >= 0 && ftruncate(fd, bytes) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0);
	return fd;
}

static int one_end(int which, int of[2])
{
	close(of[!which]);
	return of[which];
}

static int odd_fd(struct evil *e)
{
	int ends[2] = { -1, -1 };

	switch (next_random(&e->seed) % 19) {
	case 0:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 1:
		return open("/dev/zero", O_RDWR | O_CLOEXEC);
	case 2:
		return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	case 3:
		return open("/proc/self/exe", O_PATH | O_CLOEXEC);
	case 4:
		return open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	case 5:
		must(pipe2(ends, O_CLOEXEC) == 0);
		return one_end(0, ends);
	case 6:
		must(pipe2(ends, O_CLOEXEC) == 0);
		return one_end(1, ends);
	case 7:
		return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	case 8:
		return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	case 9:
		return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	case 10:
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
		return one_end(0, ends);
	case 11:
		return eventfd(1, EFD_CLOEXEC);
	case 12:
		return epoll_create1(EPOLL_CLOEXEC);
	case 13:
		return sealed(0, F_SEAL_SHRINK);
	case 14:
		return sealed(4096, F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_GROW);
	case 15:
		return sealed((off_t)1 << 40, F_SEAL_SHRINK); /* the whole file is a hole */
	case 16:
		return dup(e->life);
	case 17:
		return dup(e->n_channels ? e->channels[0] : e->life);
	default:
		return memfd_create("unsealed", MFD_CLOEXEC);
	}
}

/* ---- one attack each; a scene that returns waits to be killed ---- */

static void dies_in_the_callback(struct evil *e)
{
	write_request(e, 0);
	must(receive_query(e, PROMPT));
}

/* The request must go on although the callback's channel is closed. */
static void hangs_up_in_the_callback(struct evil *e)
{
	write_request(e, 0);
	must(receive_query(e, PROMPT));
	close(e->line);
	e->line = -1;
	must(read_result(e, PROMPT) > 0);
	write_request(e, 0);
	must(read_result(e, PROMPT) > 0);
}

static void answers_with_too_few(struct evil *e)
{
	write_request(e, 0);
	must(receive_query(e, PROMPT));
	answer_query(e, 0, NULL);
	must(read_result(e, PROMPT) > 0);
}

static void answers_with_too_many(struct evil *e)
{
	write_request(e, 0);
	must(receive_query(e, PROMPT));
	answer_query(e, 500, &e->pool);
	must(read_result(e, PROMPT) > 0);
}

static void answers_before_it_is_asked(struct evil *e)
{
	for (int i = 0; i < 20; i++)
		answer_query(e, 1, &e->pool);
	for (int i = 0; i < 5; i++) {
		write_request(e, i);
		must(read_result(e, PROMPT) >= 0);
	}
}

static void answers_with_anything(struct evil *e)
{
	for (int i = 0; i < 40; i++) {
		struct nnb_memory odd = e->pool;

		odd.fds[0] = odd_fd(e);
		if (i % 2)
			strcpy(odd.name, "mmap_fd");
		write_request(e, i);
		if (receive_query(e, i ? SOON
		                       : PROMPT)) /* after an answer whose fd is not memory, the service asks no more */
			answer_query(e, 1, &odd);
		must(read_result(e, PROMPT) >= 0);
		close(odd.fds[0]);
	}
}

static void cuts_a_pool_short(struct evil *e)
{
	const int r = ftruncate(e->cut.fds[0], N * 8);

	must(r == 0);
	write_request(e, 0);
	must(receive_query(e, PROMPT));
	answer_query(e, 1, &e->cut);
	must(read_result(e, PROMPT) == NNB_STATUS_NONE);
	must(ftruncate(e->cut.fds[0], 0) == 0);
	for (int i = 0; i < 3; i++) {
		write_request(e, 0);
		must(read_result(e, PROMPT) > 0);
	}
}

/* B-15: the server must not be kept busy. */
static void spoils_the_counters(struct evil *e)
{
	atomic_store(raw_counter(&e->raw_request, NNB_FMQ_WRITE_COUNTER), 7);
	nnb_event_flag_wake(nnb_fmq_event_flag(e->request), UINT32_MAX);
	must(read_result(e, PROMPT) == NNB_STATUS_GENERAL_FAILURE);
}

/* The results find no room. */
static void never_takes_a_result(struct evil *e)
{
	write_request(e, 0);
	must(receive_query(e, PROMPT));
	answer_query(e, 1, &e->pool);
	for (int i = 0; i < 500; i++) {
		uint64_t end = now_ns() + 1000 * MS;

		write_request(e, 0);
		while (nnb_fmq_available_to_write(e->request) < nnb_fmq_capacity(e->request) && now_ns() < end)
			nap();
	}
}

/* This client reads no completion events: the service's sender blocks, and at last the client's calls do. */
static void never_reads_events(struct evil *e)
{
	int status = 0;

	for (int i = 0; i < 2000 && status >= 0; i++)
		status = call(e, ASYNC, 20 * SOON);
	must(status < 0);
}

static void never_reads_answers(struct evil *e)
{
	make_call(e, COUNTS);
	for (int i = 0; i < 5000; i++)
		if (!send_out(e->channels[0], &e->out) && errno != EAGAIN)
			break;
}

/*
 * The client offers a connected socket, of which it would keep a duplicate; and its own end, so that answers would
 * come back as calls.
 */
static void calls_itself(struct evil *e)
{
	int ends[2], connected_ends[2];

	must(pair(ends));
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, connected_ends) == 0);
	must(offer_channel(e, connected_ends[1]) == NNB_STATUS_INVALID_ARGUMENT);
	must(offer_channel(e, ends[0]) == NNB_STATUS_INVALID_ARGUMENT);
	must(offer_channel(e, ends[1]) == 0);
	begin(&e->out, ANSWER);
	put_u32(&e->out, 0);
	put_text(&e->out, "");
	for (int i = 0; i < 10; i++)
		send_out(ends[0], &e->out);
	make_call(e, COUNTS);
	send_out(ends[0], &e->out);
}

/* If the server waited on a socket that cannot be shut down, it would wait forever. */
static void offers_invalid_channels(struct evil *e)
{
	const int none[] = { socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK),
		             socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		             socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), eventfd(0, EFD_CLOEXEC) };
	int fd;

	for (size_t i = 0; i < N_OF(none); i++) {
		must(none[i] >= 0 && offer_channel(e, none[i]) == NNB_STATUS_INVALID_ARGUMENT);
		close(none[i]);
	}
	for (int i = 0; i < 60; i++) {
		/* the service still answers on this copy, while another process reads the other end */
		int ours = dup(e->life);

		fd = odd_fd(e);
		begin(&e->out, CHANNEL);
		put_fd(&e->out, fd);
		send_out(ours, &e->out);
		answer(ours, SOON);
		close(fd);
		close(ours);
	}
}

/* The option belongs to the socket, for all its readers: with each message the service would receive another fd. */
static void requests_pidfds_of_its_peers(struct evil *e)
{
	const int on = 1;
	int ends[2];

	must(pair(ends));
	must(setsockopt(ends[1], SOL_SOCKET, 76 /* SO_PASSPIDFD */, &on, sizeof(on)) == 0 || errno == ENOPROTOOPT);
	must(offer_channel(e, ends[1]) == 0);
	make_call(e, COUNTS);
	for (int i = 0; i < 200; i++) {
		must(send_out(ends[0], &e->out));
		must(answer(ends[0], PROMPT) == 0);
	}
}

/* A connection whose close takes a quarter of an hour unless the other end, *ret_peer, is read. */
static int lingering_to(int *ret_peer)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 900 };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(at);
	static char bytes[1 << 16];

	must(bind(listener, (const struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 1) == 0);
	must(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
	must(connect(sender, (const struct sockaddr *)&at, sizeof(at)) == 0);
	*ret_peer = accept(listener, NULL, NULL);
	must(*ret_peer >= 0);
	while (send(sender, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	must(setsockopt(sender, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0);
	return sender;
}

static int lingering(void)
{
	int peer;

	return lingering_to(&peer);
}

/*
 * A connection that outlives this process: another process holds the other end, longer than any wait of this
 * test.
 */
static int lingering_on(void)
{
	int peer, fd = lingering_to(&peer);
	pid_t holder = fork();

	must(holder >= 0);
	if (holder)
		return fd;
	must(dup2(peer, 0) == 0 && close_range(1, ~0U, 0) == 0);
	alarm(PATIENCE / MS / 1000 + 5);
	scene_stay();
}

static void *close_it(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

/* If this process closes it last, a thread of its own lingers. */
static void close_beside(int fd)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, close_it, (void *)(intptr_t)fd) == 0 && pthread_detach(thread) == 0);
}

/*
 * A message ends the channel, and after it comes a socket that is never received: closing the channel closes
 * it, too.
 */
static void leaves_fds_that_are_slow_to_close(struct evil *e)
{
	int ends[2], slow;

	for (int i = 0; i < 16; i++) {
		slow = lingering();
		must(pair(ends));
		begin(&e->out, ANSWER);
		send_out(ends[0], &e->out);
		put_fd(&e->out, slow);
		send_out(ends[0], &e->out);
		close_beside(slow);
		begin(&e->out, CHANNEL);
		put_fd(&e->out, ends[1]);
		send_out(e->life, &e->out);
		close_beside(ends[1]);
		must(answer(e->life, PROMPT) == 0);
	}
}

/* The same with refused connections; then the service must let the next client in. */
static void is_refused_with_fds_that_are_slow_to_close(struct evil *e)
{
	int fd, slow;

	for (int i = 0; i < 40; i++) {
		fd = connected(e);
		slow = lingering();
		begin(&e->out, ANSWER);
		put_fd(&e->out, slow);
		send_out(fd, &e->out);
		close_beside(slow);
	}
}

/* The burst's thread closes fds that are not memory, and the connection must end all the same. */
static void answers_with_fds_that_are_slow_to_close(struct evil *e)
{
	struct nnb_memory odd = e->pool;

	odd.fds[0] = lingering_on();
	strcpy(odd.name, "mmap_fd");
	write_request(e, 0);
	must(receive_query(e, PROMPT));
	answer_query(e, 1, &odd);
	close_beside(odd.fds[0]);
	read_result(e, SOON);
}

/* Calls with fds that are not memory, queues, fences or a cache: each on a channel of its own. */
static void calls_with_fds_that_are_slow_to_close(struct evil *e)
{
	static const uint16_t types[] = { BUFFER_WRITE, BUFFER_READ, EXECUTE_FENCED, PREPARE };
	const struct nnb_memory right = e->half;

	must(call(e, BUFFER, PROMPT) == NNB_STATUS_NONE);
	e->n_fences = 1;
	for (size_t i = 0; i < N_OF(types); i++) {
		int slow = lingering_on(), fence = e->fences[0];

		must(offer_channel(e, -1) == NNB_STATUS_NONE);
		e->half.fds[0] = e->fences[0] = slow;
		make_call(e, types[i]);
		if (types[i] == PREPARE)
			put_fd(&e->out, slow); /* one fd more than the call takes */
		send_out(e->channels[e->n_channels - 1], &e->out);
		e->half = right;
		e->fences[0] = fence;
		close_beside(slow);
	}
}

/* The size of a cache entry counts before the service reads it. */
static void prepares_from_an_enormous_cache(struct evil *e)
{
	must(ftruncate(e->cut.fds[0], (off_t)256 << 20) == 0);
	for (int i = 0; i < 10; i++)
		must(call(e, FROM_CACHE, PROMPT) == NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
}

/*
 * The service's end of the life line lies in a queue that the service has no reason to read: the client's death
 * must end the connection even so.
 */
static void leaves_its_life_line_behind(struct evil *e)
{
	begin(&e->out, ANSWER);
	put_fd(&e->out, e->life);
	must(send_out(e->line, &e->out));
}

static void leaves_its_life_line_with_the_events(struct evil *e)
{
	begin(&e->out, ANSWER);
	put_fd(&e->out, e->life);
	must(send_out(e->events, &e->out) || errno == EPIPE);
}

/* The rest of a message never comes. */
static void holds_fds_back(struct evil *e)
{
	for (int i = 0; i < 40; i++) {
		struct header h = { 0x43424e4e, PREPARE, 0, 0, 4096 };

		if (offer_channel(e, -1))
			break;
		for (unsigned k = 0; k < PACKET_FDS; k++)
			e->out.fds[k] = e->pool.fds[0];
		send_packet(e->channels[e->n_channels - 1], &h, NULL, 0, e->out.fds, PACKET_FDS);
		h = (struct header){ 0x43424e4e, MORE, 0, 0, PACKET_FDS };
		for (int k = 0; k < 10; k++)
			send_packet(e->channels[e->n_channels - 1], &h, NULL, 0, e->out.fds, PACKET_FDS);
	}
}

static void announces_a_message_larger_than_the_limit(struct evil *e)
{
	static const uint32_t counts[] = { 1, 4096, 4097, 1 << 20, UINT32_MAX };

	for (size_t i = 0; i < N_OF(counts); i++) {
		struct header h = { 0x43424e4e, COUNTS, 0, counts[i], 0 };

		send_packet(e->channels[0], &h, NULL, 0, NULL, 0);
		offer_channel(e, -1);
		h = (struct header){ 0x43424e4e, COUNTS, 0, 0, counts[i] };
		send_packet(e->channels[e->n_channels - 1], &h, NULL, 0, NULL, 0);
		h.flags = LARGE;
		h.bytes = UINT32_MAX - counts[i];
		offer_channel(e, -1);
		send_packet(e->channels[e->n_channels - 1], &h, NULL, 0, e->pool.fds, 1);
	}
}

static void floods_channels(struct evil *e)
{
	unsigned refused = 0;

	for (int i = 0; i < 10000; i++) {
		int status = offer_channel(e, -1);

		must(status == NNB_STATUS_NONE || status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
		refused += status != NNB_STATUS_NONE;
		if (e->n_channels == SOCKETS_MAX && refused == 0)
			e->n_channels--; /* the channel stays open, unused */
	}
	must(refused > 9000);
}

static void floods(struct evil *e, uint16_t type, unsigned most)
{
	unsigned refused = 0;

	for (int i = 0; i < 2000; i++) {
		int status, line = e->line;

		if (type == BURST)
			e->line = -1; /* the earlier burst keeps its own line */
		status = call(e, type, PROMPT);
		must(status == NNB_STATUS_NONE || status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
		refused += status != NNB_STATUS_NONE;
		if (type == BURST && (status || i > 300))
			close(line);
	}
	must(refused >= 2000 - most);
}

static void floods_models(struct evil *e)
{
	floods(e, PREPARE, 64);
}

static void floods_bursts(struct evil *e)
{
	floods(e, BURST, 256);
}

static void floods_buffers(struct evil *e)
{
	floods(e, BUFFER, 1024);
}

static void floods_connections(struct evil *e)
{
	int fds[400];

	for (size_t i = 0; i < N_OF(fds); i++)
		fds[i] = connected(e);
	for (size_t i = 0; i < N_OF(fds); i += 3)
		close(fds[i]);
}

/* Ids are guessable: one thread makes objects on a channel, another one frees them at once on its own channel. */
struct thief {
	int channel;
	atomic_uint id; /* the last one made */
	atomic_bool enough;
	pthread_t thread;
};

static void *free_new_objects(void *arg)
{
	struct out *o = calloc(1, sizeof(*o));
	struct thief *t = arg;

	must(o);
	for (uint32_t i = 0; !atomic_load(&t->enough); i++) {
		begin(o, (const uint16_t[]){ CLOSE, RELEASE, BUFFER_FREE }[i % 3]);
		put_u32(o, atomic_load(&t->id) + i % 8);
		send_out(t->channel, o);
		answer(t->channel, PROMPT);
	}
	free(o);
	return NULL;
}

static void steals_what_another_channel_makes(struct evil *e)
{
	struct thief thief = { 0 };

	must(offer_channel(e, -1) == 0);
	thief.channel = e->channels[1];
	must(pthread_create(&thief.thread, NULL, free_new_objects, &thief) == 0);
	for (int i = 0; i < 300; i++) {
		if (call(e, PREPARE, PROMPT) == 0) {
			call(e, BURST, PROMPT);
			if (call(e, BUFFER, PROMPT) == 0)
				call(e, BUFFER_WRITE, PROMPT);
			call(e, EXECUTE, PROMPT);
		}
		atomic_store(&thief.id, i % 2 ? e->burst_id : e->buffer_id);
	}
	atomic_store(&thief.enough, true);
	pthread_join(thief.thread, NULL);
}

static const struct wish {
	uint32_t rank, n_models, n_roles, model, index;
	float frequency;
	bool more_bytes, more_fds;
} wishes[] = {
	{ 9, 1, 1, 0, 0, 1 },
	{ UINT32_MAX, 1, 1, 0, 0, 1 },
	{ 1, 0, 1, 0, 0, 1 },
	{ 1, 2049, 1, 0, 0, 1 },
	{ 1, UINT32_MAX, 1, 0, 0, 1 },
	{ 1, 1, 0, 0, 0, 1 },
	{ 1, 1, 2, 0, 0, 1 },
	{ 1, 1, 1025, 0, 0, 1 },
	{ 1, 1, UINT32_MAX, 0, 0, 1 },
	{ 1, 1, 1, 1, 0, 1 },
	{ 1, 1, 1, UINT32_MAX, 0, 1 },
	{ 1, 1, 1, 0, 1, 1 },
	{ 1, 1, 1, 0, UINT32_MAX, 1 },
	{ 1, 1, 1, 0, 0, 0 },
	{ 1, 1, 1, 0, 0, -0.5F },
	{ 1, 1, 1, 0, 0, 10 },
	{ 1, 1, 1, 0, 0, __builtin_nanf("") },
	{ 1, 1, 1, 0, 0, 1, .more_bytes = true },
	{ 1, 1, 1, 0, 0, 1, .more_fds = true },
	{ 2, 1, 1, 0, 0, 1 },
};

/* The channel must go on. */
static void requests_impossible_buffers(struct evil *e)
{
	for (size_t i = 0; i < N_OF(wishes); i++) {
		const struct wish *w = &wishes[i];

		begin(&e->out, BUFFER);
		put_u32(&e->out, w->rank);
		for (uint32_t d = 0; d < (w->rank > 16 ? 1 : w->rank); d++)
			put_u32(&e->out, N);
		put_u32(&e->out, w->n_models);
		for (uint32_t k = 0; k < (w->n_models > 4096 ? 1 : w->n_models); k++)
			put_u32(&e->out, e->model_id);
		put_roles(e, w->n_roles, w->model, w->index, w->frequency);
		put_roles(e, 0, 0, 0, 0);
		if (w->more_bytes)
			put_u32(&e->out, 0);
		if (w->more_fds)
			put_fd(&e->out, e->pool.fds[0]);
		must(send_out(e->channels[0], &e->out));
		must(answer(e->channels[0], PROMPT) == NNB_STATUS_INVALID_ARGUMENT);
	}
	must(call(e, BUFFER, PROMPT) == NNB_STATUS_NONE);
}

static const struct odd_copy {
	uint32_t id, rank; /* id: an offset to the right one */
	const char *kind;
	uint64_t size; /* size: an offset to the right one */
	uint32_t n_fds, n_ints;
	bool more_bytes, no_fd;
} odd_copies[] = {
	{ 1, 0, "ashmem", 0, 1, 0 },
	{ UINT32_MAX, 0, "ashmem", 0, 1, 0 },
	{ 0, 9, "ashmem", 0, 1, 0 },
	{ 0, UINT32_MAX, "ashmem", 0, 1, 0 },
	{ 0, 0, "ashmem", 1, 1, 0 },
	{ 0, 0, "ashmem", UINT64_MAX, 1, 0 },
	{ 0, 0, "ashmem", 0, 2, 0 },
	{ 0, 0, "ashmem", 0, 3, 0 },
	{ 0, 0, "ashmem", 0, 0, 0 },
	{ 0, 0, "ashmem", 0, 1, 9 },
	{ 0, 0, "ashmem", 0, 1, UINT32_MAX },
	{ 0, 0, "ashmem", 0, UINT32_MAX, 0 },
	{ 0, 0, "ashmem", 0, 1, 0, .more_bytes = true },
	{ 0, 0, "ashmem", 0, 1, 0, .no_fd = true },
	{ 0, 0, "mmap_fd", 0, 1, 2 },
	{ 0, 0, "token", 0, 0, 2 },
	{ 0, 0, "hardware_buffer", 0, 1, 5 },
	{ 0, 0, "", 0, 1, 0 },
	{ 0, 0, "123456789 123456789 123456789 12", 0, 1, 0 },
};

static void put_odd_copy(struct evil *e, const struct odd_copy *c, uint16_t type)
{
	char name[NNB_MEMORY_NAME] = "";

	memcpy(name, c->kind, strnlen(c->kind, sizeof(name)));
	begin(&e->out, type);
	put_u32(&e->out, e->buffer_id + c->id);
	for (uint32_t i = 0; type == BUFFER_WRITE && i < 1 + (c->rank > 16 ? 1 : c->rank); i++)
		put_u32(&e->out, i ? N : c->rank);
	put(&e->out, name, sizeof(name));
	put_u64(&e->out, e->half.size + c->size);
	put_u32(&e->out, c->n_fds);
	put_u32(&e->out, c->n_ints);
	for (uint32_t i = 0; i < c->n_ints % 16; i++)
		put_u32(&e->out, i);
	for (uint32_t i = 0; i < c->n_fds % 16 && !c->no_fd; i++)
		put_fd(&e->out, e->half.fds[0]);
	if (c->more_bytes)
		put_u32(&e->out, 0);
}

static void requests_impossible_copies(struct evil *e)
{
	must(call(e, BUFFER, PROMPT) == NNB_STATUS_NONE);
	for (size_t i = 0; i < 2 * N_OF(odd_copies); i++) {
		const struct odd_copy *c = &odd_copies[i / 2];

		if (i % 2 && c->rank) /* BUFFER_READ takes no rank */
			continue;
		must(call(e, BUFFER_WRITE, PROMPT) == NNB_STATUS_NONE);
		put_odd_copy(e, c, i % 2 ? BUFFER_READ : BUFFER_WRITE);
		must(send_out(e->channels[0], &e->out));
		must(answer(e->channels[0], PROMPT) > 0);
	}
	must(call(e, BUFFER_WRITE, PROMPT) == NNB_STATUS_NONE);
	must(call(e, BUFFER_READ, PROMPT) == NNB_STATUS_NONE);
}

static void copies_fds_of_any_kind(struct evil *e)
{
	const struct nnb_memory right = e->half;

	must(call(e, BUFFER, PROMPT) == NNB_STATUS_NONE);
	for (int i = 0; i < 200; i++) {
		e->half.fds[0] = odd_fd(e);
		strcpy(e->half.name, i % 2 ? "mmap_fd" : "ashmem");
		e->half.n_ints = i % 2 ? 3 : 0;
		e->half.ints[0] = PROT_READ | PROT_WRITE;
		must(call(e, i % 4 < 2 ? BUFFER_WRITE : BUFFER_READ, PROMPT) >= 0);
		close(e->half.fds[0]);
	}
	e->half = right;
	must(call(e, BUFFER_WRITE, PROMPT) == NNB_STATUS_NONE);
}

struct cutter {
	int fd;
	atomic_bool enough;
	pthread_t thread;
};

static void *cut_and_grow(void *arg)
{
	struct cutter *c = arg;

	while (!atomic_load(&c->enough))
		must(ftruncate(c->fd, 0) == 0 && ftruncate(c->fd, (off_t)N * 4) == 0);
	return NULL;
}

static void truncates_files_during_copies(struct evil *e)
{
	struct cutter c = { .fd = e->cut.fds[0] };

	must(ftruncate(c.fd, (off_t)N * 4) == 0);
	nnb_memory_close(&e->half);
	must(nnb_memory_mmap_fd(&e->half, c.fd, (uint64_t)N * 4, PROT_READ | PROT_WRITE, 0) == 0);
	must(call(e, BUFFER, PROMPT) == NNB_STATUS_NONE);
	must(call(e, BUFFER_WRITE, PROMPT) == NNB_STATUS_NONE);
	must(pthread_create(&c.thread, NULL, cut_and_grow, &c) == 0);
	for (int i = 0; i < 500; i++) {
		int status = call(e, i % 2 ? BUFFER_READ : BUFFER_WRITE, PROMPT);

		must(status == NNB_STATUS_NONE || status == NNB_STATUS_GENERAL_FAILURE);
	}
	atomic_store(&c.enough, true);
	pthread_join(c.thread, NULL);
	must(call(e, BUFFER_WRITE, PROMPT) == NNB_STATUS_NONE);
}

static struct nnb_service_counts counts_of(struct evil *e)
{
	struct nnb_service_counts counts = { 0 };

	make_call(e, COUNTS);
	must(send_out(e->channels[0], &e->out));
	/* the message has the fields without the padding after the last (test_protocol_fields) */
	must(answer_with(e->channels[0], &counts, offsetof(struct nnb_service_counts, performance_held) + 4, PROMPT) ==
	     NNB_STATUS_NONE);
	return counts;
}

/*
 * A client that cannot receive an answer never learns the number of its buffer: the service must not keep the buffer.
 */
static void receives_no_answers(struct evil *e)
{
	uint64_t end = now_ns() + PATIENCE;

	for (int i = 0; i < 10; i++) {
		must(offer_channel(e, -1) == NNB_STATUS_NONE);
		must(shutdown(e->channels[1], SHUT_RD) == 0);
		make_call(e, BUFFER);
		must(send_out(e->channels[1], &e->out));
		while (counts_of(e).app.channels != 1)
			must(now_ns() < end);
		must(counts_of(e).app.buffers == 0);
		close(e->channels[--e->n_channels]);
	}
}

/* The service checks each fence fd before it waits on it. */
static void waits_for_fds_that_are_not_fences(struct evil *e)
{
	unsigned refused = 0;

	e->n_fences = 1;
	for (int i = 0; i < 100; i++) {
		int status;

		close(e->fences[0]);
		e->fences[0] = odd_fd(e);
		status = call(e, EXECUTE_FENCED, PROMPT);
		must(status == NNB_STATUS_INVALID_ARGUMENT || nnb_fence_state(e->fences[0]) >= 0);
		refused += status != NNB_STATUS_NONE;
	}
	must(refused > 80);
}

static void floods_behind_a_fence(struct evil *e)
{
	e->n_fences = 2;
	floods(e, EXECUTE_FENCED, 64);
}

/* An execution shall signal an fd that is not a fence, or a fence that is signalled already. */
static void passes_its_own_fence_that_is_none(struct evil *e)
{
	unsigned refused = 0;

	e->n_fences = 0;
	for (int i = 0; i < 100; i++) {
		int fd = i % 2 ? odd_fd(e) : dup(e->fences[0]);

		make_call(e, EXECUTE_FENCED);
		e->out.fds[e->out.n_fds - 1] = fd;
		must(send_out(e->channels[0], &e->out));
		refused += answer(e->channels[0], PROMPT) == NNB_STATUS_INVALID_ARGUMENT;
		close(fd);
	}
	must(refused > 80);
}

/*
 * The client sends no fence, not even its own, and claims to have sent some: the largest count plus its own
 * fence overflows to 0.
 */
static void counts_fences_that_it_has_not_sent(struct evil *e)
{
	static const uint32_t counts[] = { UINT32_MAX, UINT32_MAX - 1, 0, 1 };

	e->n_fences = 0;
	for (size_t i = 0; i < N_OF(counts); i++) {
		must(offer_channel(e, -1) == NNB_STATUS_NONE);
		make_call(e, EXECUTE_FENCED);
		e->out.n_fds--;
		memcpy(e->out.body + e->out.n - sizeof(uint64_t) - sizeof(counts[i]), &counts[i], sizeof(counts[i]));
		must(send_out(e->channels[e->n_channels - 1], &e->out));
		must(answer(e->channels[e->n_channels - 1], PROMPT) == NNB_STATUS_INVALID_ARGUMENT);
	}
}

/* The content of a hello of another version is unknown: the service answers it all the same. */
static void speaks_other_versions(struct evil *e)
{
	introduce_as(e, 3, false, false);
	introduce_as(e, 6, true, false);
	introduce_as(e, 10, true, true);
}

/*
 * The client makes its own fence fail just when the service signals it; the second of the two writes must not
 * wait.
 */
static void fights_for_its_fence(struct evil *e)
{
	static const uint64_t failed = UINT64_C(0xfffffffffffffffe);
	int n = 0;

	e->n_fences = 2;
	for (; n < 1000; n++) {
		uint64_t then;
		int fence;

		make_call(e, EXECUTE_FENCED);
		must(send_out(e->channels[0], &e->out));
		if (answer(e->channels[0], PROMPT)) /* the service refuses because too many executions wait already */
			break;
		fence = e->own_fence;
		e->own_fence = -1;
		nnb_fence_signal(e->fences[1], true);
		for (then = now_ns() + next_random(&e->seed) % 60000; now_ns() < then;)
			;
		if (write(fence, &failed, sizeof(failed)) > 0)
			fcntl(fence, F_SETFL, 0);
		close(fence);
		close(e->fences[1]);
		must(nnb_fence_new(&e->fences[1]) == 0);
	}
	must(n > 60);
}

static const struct evil_scene {
	const char *name;
	void (*play)(struct evil *);
} evils[] = {
	{ "dies in the callback", dies_in_the_callback },
	{ "hangs up in the callback", hangs_up_in_the_callback },
	{ "answers the callback with too few", answers_with_too_few },
	{ "answers the callback with too many", answers_with_too_many },
	{ "answers before it is asked", answers_before_it_is_asked },
	{ "answers with fds of any kind", answers_with_anything },
	{ "cuts a pool short", cuts_a_pool_short },
	{ "spoils the counters", spoils_the_counters },
	{ "never takes a result", never_takes_a_result },
	{ "never reads events", never_reads_events },
	{ "never reads answers", never_reads_answers },
	{ "calls itself", calls_itself },
	{ "offers invalid channels", offers_invalid_channels },
	{ "requests pidfds of its peers", requests_pidfds_of_its_peers },
	{ "leaves fds that are slow to close", leaves_fds_that_are_slow_to_close },
	{ "is refused with fds that are slow to close", is_refused_with_fds_that_are_slow_to_close },
	{ "answers with fds that are slow to close", answers_with_fds_that_are_slow_to_close },
	{ "calls with fds that are slow to close", calls_with_fds_that_are_slow_to_close },
	{ "prepares from an enormous cache", prepares_from_an_enormous_cache },
	{ "leaves its life line behind", leaves_its_life_line_behind },
	{ "leaves its life line with the events", leaves_its_life_line_with_the_events },
	{ "holds fds back", holds_fds_back },
	{ "announces a message larger than the limit", announces_a_message_larger_than_the_limit },
	{ "floods with channels", floods_channels },
	{ "floods with models", floods_models },
	{ "floods with bursts", floods_bursts },
	{ "floods with buffers", floods_buffers },
	{ "requests impossible buffers", requests_impossible_buffers },
	{ "requests impossible copies", requests_impossible_copies },
	{ "copies fds of any kind", copies_fds_of_any_kind },
	{ "truncates files during copies", truncates_files_during_copies },
	{ "receives no answers", receives_no_answers },
	{ "floods with connections", floods_connections },
	{ "frees objects of another channel", steals_what_another_channel_makes },
	{ "waits for fds that are not fences", waits_for_fds_that_are_not_fences },
	{ "passes an fd as its own fence that is none", passes_its_own_fence_that_is_none },
	{ "floods behind a fence", floods_behind_a_fence },
	{ "counts fences that it has not sent", counts_fences_that_it_has_not_sent },
	{ "speaks other versions", speaks_other_versions },
	{ "fights for its fence", fights_for_its_fence },
};

/* ---- random sessions ---- */

static uint64_t chance(struct evil *e, uint64_t n)
{
	return next_random(&e->seed) % n;
}

static int some_socket(struct evil *e)
{
	switch (chance(e, 12)) {
	case 0:
		return e->life;
	case 1:
		return e->events;
	case 2:
		return e->line;
	default:
		return e->n_channels ? e->channels[chance(e, e->n_channels)] : e->life;
	}
}

static uint32_t some_number(struct evil *e)
{
	static const uint32_t numbers[] = { 0,    1,       2,       8,          9,          255,       4096,
		                            4097, 1 << 16, 1 << 20, 0x7fffffff, 0x80000000, UINT32_MAX };

	return chance(e, 4) ? numbers[chance(e, N_OF(numbers))] : (uint32_t)next_random(&e->seed);
}

static void spoil_bytes(struct evil *e, uint8_t *bytes, size_t n)
{
	uint32_t number = some_number(e);

	for (uint64_t i = 1 + chance(e, 3); n && i; i--) {
		if (chance(e, 2))
			bytes[chance(e, n)] ^= (uint8_t)(1 << chance(e, 8));
		else if (n >= 4)
			memcpy(bytes + (chance(e, n - 3) & ~UINT64_C(3)), &number, 4);
	}
}

static void spoil_fds(struct evil *e, struct out *o, int *odd)
{
	*odd = odd_fd(e);
	switch (chance(e, 4)) {
	case 0:
		if (o->n_fds)
			o->n_fds--;
		break;
	case 1:
		put_fd(o, *odd);
		break;
	case 2:
		for (uint64_t i = chance(e, 300); i; i--)
			put_fd(o, e->pool.fds[0]);
		break;
	default:
		if (o->n_fds)
			o->fds[chance(e, o->n_fds)] = *odd;
	}
}

/* Send the body in a memfd, or bring another fd in its place. */
static void send_large(struct evil *e, int sock)
{
	struct header h = { 0x43424e4e, e->out.type, LARGE, (uint32_t)e->out.n, e->out.n_fds };
	int fd = chance(e, 3) ? memfd_create("body", MFD_CLOEXEC | MFD_ALLOW_SEALING) : odd_fd(e);
	int fds[PACKET_FDS];

	if (chance(e, 4)) {
		if (write(fd, e->out.body, e->out.n) < 0)
			h.bytes++;
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	}
	if (chance(e, 3) == 0)
		h.bytes = some_number(e);
	if (e->out.n_fds > PACKET_FDS - 1)
		e->out.n_fds = PACKET_FDS - 1;
	fds[0] = fd;
	memcpy(fds + 1, e->out.fds, e->out.n_fds * sizeof(int));
	send_packet(sock, &h, e->out.body, chance(e, 8) ? 0 : e->out.n, fds, e->out.n_fds + 1);
	if (chance(e, 4) == 0 && ftruncate(fd, 0) < 0)
		close(e->cut.fds[0]);
	close(fd);
}

static void send_wrong_header(struct evil *e, int sock)
{
	struct header h = { 0x43424e4e, e->out.type, 0, (uint32_t)e->out.n, e->out.n_fds };

	spoil_bytes(e, (uint8_t *)&h, sizeof(h));
	send_packet(sock, &h, e->out.body, e->out.n, e->out.fds, e->out.n_fds);
}

/* A call with a few wrong bytes. */
static void mutate_a_call(struct evil *e)
{
	uint16_t type = (uint16_t)(COUNTS + chance(e, LAST_CALL - COUNTS + 1));
	int sock = some_socket(e), odd = -1, line = -1;

	make_call(e, type);
	if (type == BURST)
		line = e->out.fds[e->out.n_fds - 1];
	if (chance(e, 2))
		spoil_bytes(e, e->out.body, e->out.n);
	if (chance(e, 6) == 0)
		e->out.n = chance(e, e->out.n + 1);
	if (chance(e, 3) == 0)
		spoil_fds(e, &e->out, &odd);
	if (chance(e, 8) == 0)
		e->out.type = (uint16_t)chance(e, 70);
	switch (chance(e, 8)) {
	case 0:
		send_large(e, sock);
		break;
	case 1:
		send_wrong_header(e, sock);
		break;
	default:
		send_out(sock, &e->out);
	}
	close(odd);
	close(line);
	answer(sock, chance(e, 3) ? SOON : 0);
}

static void call_rightly(struct evil *e)
{
	if (e->n_channels)
		call(e, (uint16_t)(COUNTS + chance(e, LAST_CALL - COUNTS + 1)), SOON);
}

static void send_noise(struct evil *e)
{
	uint8_t noise[512];
	size_t n = chance(e, sizeof(noise));

	for (size_t i = 0; i < n; i++)
		noise[i] = (uint8_t)next_random(&e->seed);
	if (n >= 4 && chance(e, 2))
		memcpy(noise, &(uint32_t){ 0x43424e4e }, 4);
	send(some_socket(e), noise, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void open_channel(struct evil *e)
{
	int fd = chance(e, 3) ? -1 : odd_fd(e);

	begin(&e->out, CHANNEL);
	if (e->life < 0)
		return;
	offer_channel(e, fd);
	close(fd);
}

static void spoil_a_queue(struct evil *e)
{
	const struct raw *raw = chance(e, 2) ? &e->raw_request : &e->raw_result;
	static const uint64_t values[] = { 0, 1, 24, 48, UINT64_MAX, UINT64_C(1) << 63, 6144, 6168 };

	if (!e->request)
		return;
	if (chance(e, 3))
		atomic_store(raw_counter(raw, chance(e, 2) ? NNB_FMQ_READ_COUNTER : NNB_FMQ_WRITE_COUNTER),
		             chance(e, 3) ? values[chance(e, N_OF(values))] : next_random(&e->seed));
	if (chance(e, 3) == 0)
		atomic_store(raw_flag(raw), (uint32_t)next_random(&e->seed));
	nnb_event_flag_wake(nnb_fmq_event_flag(e->request), UINT32_MAX);
}

static void write_noise(struct evil *e)
{
	size_t n = 1 + chance(e, 12);
	struct nnb_fmq_tx tx;
	uint8_t datums[12][sizeof(struct nnb_request_datum)] = { { 0 } };

	if (!e->request || nnb_fmq_begin_write(e->request, n, &tx))
		return;
	for (size_t i = 0; i < n; i++)
		datums[i][0] = (uint8_t)chance(e, 8);
	((struct nnb_request_datum *)datums)->packet.size = chance(e, 3) ? (uint32_t)n : some_number(e);
	spoil_bytes(e, datums[0], n * sizeof(datums[0]));
	nnb_fmq_tx_copy_to(&tx, datums, 0, n);
	nnb_fmq_commit_write_and_wake(e->request, n);
	read_result(e, SOON);
}

static void execute_by_burst(struct evil *e)
{
	static const int32_t slots[] = { 0, 1, 2, 3, -1, INT32_MAX, INT32_MIN };
	struct nnb_memory token;

	if (!e->request)
		return;
	write_request(e, slots[chance(e, N_OF(slots))]);
	if (chance(e, 4) == 0 || !receive_query(e, SOON))
		return;
	switch (chance(e, 6)) {
	case 0:
		answer_query(e, (uint32_t)chance(e, 4), &e->cut);
		break;
	case 1:
		e->line = (close(e->line), -1);
		break;
	case 2:
		send_noise(e);
		break;
	case 3:
		nnb_memory_token(&token, e->token);
		answer_query(e, 1, &token);
		break;
	default:
		answer_query(e, 1, chance(e, 3) ? &e->pool : &e->cut);
	}
	if (chance(e, 4))
		read_result(e, SOON);
}

static void cut_or_grow(struct evil *e)
{
	if (ftruncate(e->cut.fds[0], chance(e, 2) ? 0 : (off_t)N * 8) < 0)
		e->cut.fds[0] = memfd_create("cut", MFD_CLOEXEC);
}

/*
 * Change the fences to wait for and the deadline; sometimes signal a fence, so that pending executions begin,
 * and make a new one.
 */
static void change_the_times(struct evil *e)
{
	static const uint64_t deadlines[] = { 0, 0, 0, 1, UINT64_MAX };

	e->n_fences = (unsigned)chance(e, N_OF(e->fences) + 1);
	e->deadline_ns = chance(e, 4) ? deadlines[chance(e, N_OF(deadlines))] : now_ns() + chance(e, 20 * MS);
	if (chance(e, 3))
		return;
	nnb_fence_signal(e->fences[1], chance(e, 2));
	close(e->fences[1]);
	must(nnb_fence_new(&e->fences[1]) == 0);
}

/* Connect and play as many steps as the service allows. */
static void start_over(struct evil *e)
{
	while (e->n_channels)
		close(e->channels[--e->n_channels]);
	introduce(e);
	if (chance(e, 10))
		offer_channel(e, -1);
	if (chance(e, 10) && e->n_channels)
		call(e, PREPARE, e->patience);
	if (chance(e, 6) && e->n_channels)
		call(e, BURST, e->patience);
	if (chance(e, 2) && e->n_channels)
		call(e, BUFFER, e->patience);
}

static void hang_up(struct evil *e)
{
	switch (chance(e, 6)) {
	case 0:
		close(e->events);
		e->events = -1;
		break;
	case 1:
		close(e->line);
		e->line = -1;
		break;
	case 2:
		shutdown(some_socket(e), (int)chance(e, 3));
		break;
	case 3:
		start_over(e);
		break;
	default:
		if (e->n_channels)
			close(e->channels[--e->n_channels]);
	}
}

static void die(struct evil *e)
{
	if (chance(e, 4) == 0)
		raise(SIGKILL);
}

static void (*const acts[])(struct evil *) = {
	mutate_a_call,    mutate_a_call,    mutate_a_call, mutate_a_call,    call_rightly,
	call_rightly,     call_rightly,     send_noise,    open_channel,     spoil_a_queue,
	write_noise,      execute_by_burst, start_over,    hang_up,          execute_by_burst,
	execute_by_burst, cut_or_grow,      die,           change_the_times, change_the_times,
};

static void play_session(struct evil *e)
{
	uint64_t n = 1 + chance(e, 50);

	start_over(e);
	e->patience = 3 * SOON;
	while (n--)
		acts[chance(e, N_OF(acts))](e);
	if (chance(e, 2))
		raise(SIGKILL);
}

/* P-32, in the service: one completion event for each execution, also for one that could not begin. */
static void count_completion_events(struct evil *e, const char *socket_path)
{
	uint8_t buf[512];
	struct header h;
	uint64_t serial, told = 0;

	evil_warm_up(e, socket_path, 1);
	for (uint64_t i = 0; i < 32; i++) {
		make_call(e, ASYNC);
		if (i % 4 == 0)
			/* the input's location has no value, although this input needs one */
			memset(e->out.body + 10 * 4, 0xff, 4);
		memcpy(e->out.body + e->out.n - sizeof(i), &i, sizeof(i));
		send_out(e->channels[0], &e->out);
		must(answer(e->channels[0], PROMPT) == (i % 4 ? NNB_STATUS_NONE : NNB_STATUS_INVALID_ARGUMENT));
	}
	for (int i = 0; i < 32; i++) {
		must(receive(e->events, buf, sizeof(buf), PROMPT) > (int)(sizeof(h) + sizeof(serial)));
		memcpy(&h, buf, sizeof(h));
		memcpy(&serial, buf + sizeof(h), sizeof(serial));
		must(h.type == DONE && serial < 32 && !(told >> serial & 1));
		told |= UINT64_C(1) << serial;
	}
	must(call(e, COUNTS, PROMPT) == 0);
	must(receive(e->events, buf, sizeof(buf), 0) < 0);
}

static void expect_end(int sock)
{
	struct pollfd at = { .fd = sock, .events = POLLIN };
	uint8_t buf[64];

	must(poll(&at, 1, PROMPT) == 1);
	must(recv(sock, buf, sizeof(buf), 0) <= 0);
}

/*
 * In a process of its own: execute asynchronously, and do not read the events, until the service closes the
 * connection. A slow service may reach its limit of executions before the events fill their socket: then go on.
 */
static pid_t read_no_events(const char *socket_path)
{
	static struct evil e;
	struct pollfd events = { .events = POLLRDHUP };
	int status = NNB_STATUS_NONE;
	pid_t pid = fork();

	if (pid)
		return pid;
	evil_warm_up(&e, socket_path, 3);
	events.fd = e.events;
	for (int i = 0; i < 50000 && poll(&events, 1, status ? 10 : 0) == 0; i++) {
		status = call(&e, ASYNC, PROMPT);
		if (status < 0) /* the service has closed the connection */
			break;
		must(status == NNB_STATUS_NONE || status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	}
	must(poll(&events, 1, PROMPT) == 1);
	_exit(0);
}

static void stall(struct evil *e, const char *socket_path)
{
	static struct evil other;
	struct header h = { 0x43424e4e, CHANNEL, 0, 0, 2 };
	pid_t deaf = read_no_events(socket_path);
	int silent, status;

	evil_warm_up(e, socket_path, 1);
	evil_warm_up(&other, socket_path, 2);
	silent = connected(e);
	must(send_packet(other.life, &h, NULL, 0, e->pool.fds, 1)); /* the second fd never comes */
	h.type = SUPPORTED;
	must(send_packet(other.channels[0], &h, NULL, 0, e->pool.fds, 1));
	must(call(e, BURST, PROMPT) == NNB_STATUS_NONE);
	write_request(e, 0);
	must(receive_query(e, PROMPT));
	must(read_result(e, PROMPT) == NNB_STATUS_GENERAL_FAILURE);
	write_request(e, 0); /* the service does not ask again */
	must(read_result(e, PROMPT) == NNB_STATUS_GENERAL_FAILURE);
	must(!receive_query(e, 0));
	expect_end(silent);
	expect_end(other.channels[0]);
	expect_end(other.life);
	must(waitpid(deaf, &status, 0) == deaf && status == 0);
	scene_report('.');
}

static void play(const char *name, const char *socket_path, const char *argument)
{
	static struct evil e;

	if (!strcmp(name, "session")) {
		evil_init(&e, socket_path, (uint64_t)atoll(argument));
		play_session(&e);
		return;
	}
	if (!strcmp(name, "counts")) {
		count_completion_events(&e, socket_path);
		return;
	}
	if (!strcmp(name, "stalls")) {
		stall(&e, socket_path);
		return;
	}
	for (size_t i = 0; i < N_OF(evils); i++) {
		if (strcmp(name, evils[i].name) != 0)
			continue;
		evil_warm_up(&e, socket_path, 1);
		evils[i].play(&e);
		scene_report('.');
		scene_stay();
	}
}

/* ---- the good client, which must not notice ---- */

struct good {
	struct service s;
	struct nnb_model *adds;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct io io;
	struct footprint at_rest; /* resources of the service with this client */
	struct nnb_holdings holds;
	const struct evil_scene *row;
};

static int set_up(void **state)
{
	struct good *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->row = *state;
	service_init(&g->s);
	service_start(&g->s, OPTIONS("--app-identity", "pid", "--limit", "bytes=64M"));
	g->adds = vector_model(NNB_ADD, N, 1);
	g->client = app_open(&g->s);
	g->remote = app_prepare(g->client, g->adds);
	g->burst = app_burst(g->remote);
	io_init(&g->io, N);
	expect_sync(g->remote, &g->io, NNB_ADD);
	expect_burst(g->burst, &g->io, NNB_ADD);
	g->holds = app_counts(g->client).all;
	g->at_rest = service_footprint(&g->s);
	*state = g;
	return 0;
}

static int tear_down(void **state)
{
	struct good *g = *state;

	nnb_burst_free(g->burst);
	nnb_remote_release(g->remote);
	nnb_client_close(g->client);
	nnb_model_free(g->adds);
	io_fini(&g->io);
	service_settles(&g->s);
	service_fini(&g->s);
	free(g);
	return 0;
}

static void expect_good(struct good *g)
{
	expect_burst(g->burst, &g->io, NNB_ADD);
	expect_sync(g->remote, &g->io, NNB_ADD);
}

/* No other client is left, and the service must hold what it held at first. */
static void expect_alone(struct good *g)
{
	uint64_t end = now_ns() + PATIENCE;

	for (;; poll_pause()) {
		struct footprint is = service_footprint(&g->s);
		struct nnb_holdings holds = app_counts(g->client).all;

		if (!memcmp(&is, &g->at_rest, sizeof(is)) && !memcmp(&holds, &g->holds, sizeof(holds)))
			return;
		if (now_ns() < end)
			continue;
		service_show(&g->s);
		fail_msg("%u fds (%u), %u threads (%u), %u maps (%u); %d connections, %d channels, %d models, %d "
		         "bursts, %d buffers, "
		         "%d pools, %d executions",
		         is.fds, g->at_rest.fds, is.threads, g->at_rest.threads, is.maps, g->at_rest.maps,
		         (int)holds.connections, (int)holds.channels, (int)holds.models, (int)holds.bursts,
		         (int)holds.buffers, (int)holds.pools, (int)holds.executions_under_way);
	}
}

static void other_clients_do_not_notice(void **state)
{
	struct good *g = *state;
	struct child c;

	for (int i = 0; i < 3; i++) {
		child_start(&c, g->row->name, &g->s, "");
		for (int k = 0; k < 20; k++)
			expect_good(g);
		assert_int_equal(child_read(&c), '.');
		expect_good(g);
		child_kill(&c);
		expect_good(g);
	}
	expect_alone(g);
}

/* The burst's thread must end, and use no more cpu time. */
static void a_burst_whose_counters_are_spoilt_is_over(void **state)
{
	struct good *g = *state;
	uint64_t end = now_ns() + PATIENCE;
	struct child c;

	child_start(&c, "spoils the counters", &g->s, "");
	assert_int_equal(child_read(&c), '.');
	/* the threads of a connection and a channel, without a burst */
	while (service_footprint(&g->s).threads != g->at_rest.threads + 2) {
		if (now_ns() >= end)
			fail_msg("the burst's thread does not end");
		poll_pause();
	}
	child_kill(&c);
	expect_alone(g);
}

static void each_execution_has_one_completion_event(void **state)
{
	struct good *g = *state;
	struct child c;

	child_start(&c, "counts", &g->s, "");
	assert_int_equal(child_end(&c), 0);
	expect_alone(g);
}

/*
 * Clients have ten seconds for each step: to introduce themselves, to end a message, and to answer a query for
 * slots.
 */
static void a_client_that_stalls_is_disconnected(void **state)
{
	struct good *g = *state;
	struct child c;

	child_start(&c, "stalls", &g->s, "");
	for (int i = 0; i < 20; i++)
		expect_good(g);
	assert_int_equal(child_read(&c), '.');
	assert_int_equal(child_end(&c), 0);
	expect_alone(g);
}

enum { AT_ONCE = 3, SESSIONS = 300 };

static void random_sessions(void **state)
{
	const char *soak = getenv("NNB_SOAK_SECONDS"), *seed = getenv("NNB_SEED");
	uint64_t end = now_ns() + (soak ? (uint64_t)atoi(soak) : 0) * 1000 * MS;
	uint64_t first = seed ? (uint64_t)atoll(seed) : 1, next = first;
	struct good *g = *state;
	struct nnb_service_counts counts;
	struct child children[AT_ONCE];

	while (next < first + SESSIONS || now_ns() < end) {
		for (int i = 0; i < AT_ONCE; i++) {
			char argument[24];

			snprintf(argument, sizeof(argument), "%" PRIu64, next++);
			child_start(&children[i], "session", &g->s, argument);
		}
		for (int i = 0; i < AT_ONCE; i++) {
			int status = child_end(&children[i]);

			expect_good(g);
			if (status > 0)
				fail_msg("session %" PRIu64 " ends with %d", next - AT_ONCE + (uint64_t)i, status);
		}
		if (next % 10 < AT_ONCE)
			expect_alone(g);
	}
	expect_alone(g);
	counts = app_counts(g->client);
	print_message("counted: %" PRIu64 " hostile sessions\n", next - first);
	print_message("%" PRIu64 " sessions, seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " sync, %" PRIu64
	              " async, %" PRIu64 " fenced executions, %" PRIu64 " requests (%" PRIu64 " malformed), %" PRIu64
	              " slots of %" PRIu64 " asked for, %" PRIu64 " refusals\n",
	              next - first, first, next - 1, counts.sync_executions, counts.async_executions,
	              counts.fenced_executions, counts.burst_requests, counts.burst_malformed, counts.slot_misses,
	              counts.slot_lookups, counts.refused);
	/* All steps before this point were reached. */
	assert_true(counts.burst_malformed && counts.async_executions && counts.fenced_executions &&
	            counts.slot_misses > 10);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		play(argv[2], argv[3], argv[4]);
		return 0;
	}
	for (size_t i = 0; i < N_OF(evils); i++)
		add_test(other_clients_do_not_notice, set_up, tear_down, (void *)&evils[i],
		         "other clients do not notice %s", evils[i].name);
	add_test(a_burst_whose_counters_are_spoilt_is_over, set_up, tear_down, NULL,
	         "B-15: a burst whose counters are spoilt is over");
	add_test(each_execution_has_one_completion_event, set_up, tear_down, NULL,
	         "P-32: each execution has one completion event");
	add_test(a_client_that_stalls_is_disconnected, set_up, tear_down, NULL, "a client that stalls is disconnected");
	add_test(random_sessions, set_up, tear_down, NULL, "random sessions");
	return _cmocka_run_group_tests("service: hostile clients", tests, n_tests, NULL, NULL);
}

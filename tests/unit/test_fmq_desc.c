/* test_fmq_desc.c -- a queue's descriptor on the wire: its bytes, refusals, and its transport over a socket. */
#include "fmq_helpers.h"

#include <sys/resource.h>
#include <sys/socket.h>

enum { HEADER = 24, GRANTOR = 24 };

/* A descriptor of two fds whose fields all differ. */
static struct nnb_fmq_desc sample(void)
{
	return (struct nnb_fmq_desc){
		.quantum = 0x01020304,
		.flags = 2,
		.n_grantors = 3,
		.n_fds = 2,
		.grantors = {
			{ .flags = 0x11121314, .fd_index = 1, .offset = 0x21222324, .extent = 0x3132333435363738 },
			{ .fd_index = 0, .offset = 8, .extent = 8 },
			{ .fd_index = 0x41424344, .offset = 0x7ffffff8, .extent = UINT64_MAX },
		},
		.fds = { 30, 31 },
	};
}

static const unsigned char golden[HEADER + 3 * GRANTOR] = {
	'N',  'N',  'B',  'Q',  1,    0,    3,    0,    2,    0,    0,    0,
	0x04, 0x03, 0x02, 0x01, 2,    0,    0,    0,    0,    0,    0,    0,

	0x14, 0x13, 0x12, 0x11, 1,    0,    0,    0,    0x24, 0x23, 0x22, 0x21,
	0,    0,    0,    0,    0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,

	0,    0,    0,    0,    0,    0,    0,    0,    8,    0,    0,    0,
	0,    0,    0,    0,    8,    0,    0,    0,    0,    0,    0,    0,

	0,    0,    0,    0,    0x44, 0x43, 0x42, 0x41, 0xf8, 0xff, 0xff, 0x7f,
	0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

static void assert_same(const struct nnb_fmq_desc *a, const struct nnb_fmq_desc *b)
{
	assert_int_equal(a->quantum, b->quantum);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->n_grantors, b->n_grantors);
	assert_int_equal(a->n_fds, b->n_fds);
	for (unsigned i = 0; i < a->n_grantors; i++) {
		assert_int_equal(a->grantors[i].flags, b->grantors[i].flags);
		assert_int_equal(a->grantors[i].fd_index, b->grantors[i].fd_index);
		assert_int_equal(a->grantors[i].offset, b->grantors[i].offset);
		assert_int_equal(a->grantors[i].zero, b->grantors[i].zero);
		assert_int_equal(a->grantors[i].extent, b->grantors[i].extent);
	}
}

/* Decoding must return @want and, if that is an error, give nothing. */
static void decodes_to(int want, const void *wire, size_t size, size_t n_fds)
{
	static const int fds[8] = { 30, 31, 32, 33, 34, 35, 36, 37 };
	/* the exact size, so that the address sanitizer sees a read past the end */
	unsigned char *exact = malloc(size ? size : 1);
	struct nnb_fmq_desc d;
	struct nnb_fmq_desc untouched;
	int r;

	memcpy(exact, wire, size);
	memset(&d, 0x5a, sizeof(d));
	untouched = d;
	r = nnb_fmq_desc_decode(&d, exact, size, fds, n_fds);
	free(exact);
	assert_int_equal(r, want);
	if (r)
		assert_memory_equal(&d, &untouched, sizeof(d));
}

static void bytes_are_as_written_down(void **state)
{
	struct nnb_fmq_desc in = sample();
	struct nnb_fmq_desc out;
	unsigned char wire[NNB_FMQ_WIRE_MAX];

	(void)state;
	assert_int_equal(nnb_fmq_desc_encode(&in, wire, sizeof(wire)), sizeof(golden));
	assert_memory_equal(wire, golden, sizeof(golden));
	assert_int_equal(nnb_fmq_desc_decode(&out, golden, sizeof(golden), in.fds, 2), 0);
	assert_same(&in, &out);
	assert_memory_equal(in.fds, out.fds, 2 * sizeof(int));
}

static void any_descriptor_survives(void **state)
{
	uint64_t chance = 2;

	(void)state;
	for (unsigned k = 0; k < 2000; k++) {
		struct nnb_fmq_desc in = { .n_grantors = (uint32_t)(next_random(&chance) % (NNB_FMQ_MAX_GRANTORS + 1)),
			                   .n_fds = (uint32_t)(next_random(&chance) % (NNB_FMQ_MAX_FDS + 1)) };
		struct nnb_fmq_desc out;
		unsigned char wire[NNB_FMQ_WIRE_MAX];
		int need = HEADER + (int)in.n_grantors * GRANTOR;

		in.quantum = (uint32_t)next_random(&chance);
		in.flags = (uint32_t)next_random(&chance);
		for (unsigned i = 0; i < in.n_grantors; i++) {
			in.grantors[i].flags = (uint32_t)next_random(&chance);
			in.grantors[i].fd_index = (uint32_t)next_random(&chance);
			in.grantors[i].offset = (uint32_t)next_random(&chance);
			in.grantors[i].extent = next_random(&chance);
		}
		for (unsigned i = 0; i < in.n_fds; i++)
			in.fds[i] = (int)(next_random(&chance) % 1000);
		assert_int_equal(nnb_fmq_desc_encode(&in, wire, (size_t)need), need); /* needs no more than that */
		assert_int_equal(nnb_fmq_desc_decode(&out, wire, (size_t)need, in.fds, in.n_fds), 0);
		assert_same(&in, &out);
		assert_memory_equal(in.fds, out.fds, in.n_fds * sizeof(int));
	}
}

static void every_other_length_is_refused(void **state)
{
	struct nnb_fmq_desc d = sample();
	unsigned char wire[NNB_FMQ_WIRE_MAX + 64] = { 0 };

	(void)state;
	for (d.n_grantors = 0; d.n_grantors <= NNB_FMQ_MAX_GRANTORS; d.n_grantors++) {
		size_t size = HEADER + d.n_grantors * GRANTOR;

		assert_int_equal(nnb_fmq_desc_encode(&d, wire, NNB_FMQ_WIRE_MAX), size);
		for (size_t n = 0; n <= sizeof(wire); n++)
			decodes_to(n == size ? 0 : -EBADMSG, wire, n, 2);
	}
}

static void encode_stays_within_its_buffer(void **state)
{
	struct nnb_fmq_desc d = sample();
	unsigned char wire[sizeof(golden)];

	(void)state;
	for (size_t size = 0; size < sizeof(golden); size++) {
		unsigned char *exact = malloc(size ? size : 1);

		assert_int_equal(nnb_fmq_desc_encode(&d, exact, size), -ENOSPC);
		free(exact);
	}
	d.n_grantors = NNB_FMQ_MAX_GRANTORS + 1;
	assert_int_equal(nnb_fmq_desc_encode(&d, wire, sizeof(wire)), -EINVAL);
	d.n_grantors = UINT32_MAX;
	assert_int_equal(nnb_fmq_desc_encode(&d, wire, sizeof(wire)), -EINVAL);
	d = sample();
	d.n_fds = NNB_FMQ_MAX_FDS + 1;
	assert_int_equal(nnb_fmq_desc_encode(&d, wire, sizeof(wire)), -EINVAL);
	d.n_fds = UINT32_MAX;
	assert_int_equal(nnb_fmq_desc_encode(&d, wire, sizeof(wire)), -EINVAL);
}

/* ---- bytes that are not a descriptor ---- */

struct forgery {
	const char *name;
	size_t at;
	unsigned char value;
	int want;
};

static const struct forgery forgeries[] = {
	{ "first byte of the magic", 0, 'n', -EBADMSG },
	{ "last byte of the magic", 3, 0, -EBADMSG },
	{ "version 0", 4, 0, -EPROTONOSUPPORT },
	{ "version 2", 4, 2, -EPROTONOSUPPORT },
	{ "version 257", 5, 1, -EPROTONOSUPPORT },
	{ "one grantor less", 6, 2, -EBADMSG },
	{ "one grantor more", 6, 4, -EBADMSG },
	{ "more grantors than there can be", 6, NNB_FMQ_MAX_GRANTORS + 1, -EBADMSG },
	{ "256 grantors more", 7, 1, -EBADMSG },
	{ "one fd less", 8, 1, -EBADMSG },
	{ "one fd more", 8, 3, -EBADMSG },
	{ "more fds than there can be", 8, NNB_FMQ_MAX_FDS + 1, -EBADMSG },
	{ "256 fds more", 9, 1, -EBADMSG },
	{ "zero after the fds", 10, 1, -EBADMSG },
	{ "zero after the fds, high", 11, 0x80, -EBADMSG },
	{ "zero after the flags", 20, 1, -EBADMSG },
	{ "zero after the flags, high", 23, 0x80, -EBADMSG },
	{ "zero in the first grantor", HEADER + 12, 1, -EBADMSG },
	{ "zero in the last grantor, high", HEADER + 2 * GRANTOR + 15, 0x80, -EBADMSG },
};

static void forged_descriptors_are_refused(void **state)
{
	const struct forgery *f = *state;
	unsigned char wire[sizeof(golden)];

	memcpy(wire, golden, sizeof(wire));
	wire[f->at] = f->value;
	decodes_to(f->want, wire, sizeof(wire), 2);
}

static void counts_must_agree(void **state)
{
	unsigned char wire[HEADER + 9 * GRANTOR] = { 0 };

	(void)state;
	for (size_t n_fds = 0; n_fds < 8; n_fds++)
		decodes_to(n_fds == 2 ? 0 : -EBADMSG, golden, sizeof(golden), n_fds);
	memcpy(wire, golden, sizeof(golden));
	wire[6] = 9; /* right number of fds, wrong size */
	decodes_to(-EBADMSG, wire, sizeof(wire), 2);
	wire[6] = 8;
	decodes_to(0, wire, HEADER + 8 * GRANTOR, 2);
	wire[8] = NNB_FMQ_MAX_FDS + 1;
	decodes_to(-EBADMSG, wire, HEADER + 8 * GRANTOR, NNB_FMQ_MAX_FDS + 1);
}

/* ---- over a socket ---- */

struct link {
	const char *name;
	int type;
	int ends[2];
	struct nnb_fmq *q;
	struct nnb_fmq_desc desc; /* the descriptor of q, with two fds */
	unsigned fds;
};

static struct link links[] = {
	{ .name = "SOCK_SEQPACKET", .type = SOCK_SEQPACKET },
	{ .name = "SOCK_STREAM", .type = SOCK_STREAM },
};

static int connect_link(void **state)
{
	struct link *l = *state;
	struct nnb_fmq_config config = { .elem_size = 8, .capacity = 8, .flavour = NNB_FMQ_SYNCHRONIZED };

	alarm(WATCHDOG_S);
	if (new_queue(&l->q, config, &arrangements[2]) < 0 ||
	    socketpair(AF_UNIX, l->type | SOCK_CLOEXEC, 0, l->ends) < 0)
		return -1;
	nnb_fmq_describe(l->q, &l->desc);
	l->fds = count_fds();
	return 0;
}

static int disconnect_link(void **state)
{
	struct link *l = *state;

	close(l->ends[0]);
	close(l->ends[1]);
	l->q = nnb_fmq_free(l->q);
	return 0;
}

/* Send @size bytes and @n_fds copies of an fd, which need not be a valid message. */
static void send_raw(const struct link *l, const void *bytes, size_t size, unsigned n_fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(16 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds) {
		struct cmsghdr *c = &control.align;

		msg.msg_control = control.space;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		for (unsigned i = 0; i < n_fds; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &l->desc.fds[0], sizeof(int));
	}
	assert_int_equal(sendmsg(l->ends[0], &msg, MSG_NOSIGNAL), size);
}

/* Receiving must return @want, leave *ret alone and keep no fd. */
static void receives(const struct link *l, int want)
{
	struct nnb_fmq_desc d;
	struct nnb_fmq_desc untouched;

	memset(&d, 0x5a, sizeof(d));
	untouched = d;
	assert_int_equal(nnb_fmq_desc_recv(l->ends[1], &d), want);
	assert_memory_equal(&d, &untouched, sizeof(d));
	assert_int_equal(count_fds(), l->fds);
}

static void arrives_with_its_fds(void **state)
{
	struct link *l = *state;
	struct nnb_fmq_attach how = { .elem_size = 8, .keep_counters = true };
	uint64_t e = 77;
	struct nnb_fmq_desc d;
	struct nnb_fmq *q;

	assert_int_equal(nnb_fmq_write(l->q, &e, 1), 0);
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &l->desc), 0);
	assert_int_equal(count_fds(), l->fds);
	assert_int_equal(nnb_fmq_desc_recv(l->ends[1], &d), 0);
	assert_same(&d, &l->desc);
	assert_int_equal(count_fds(), l->fds + 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_not_equal(d.fds[i], l->desc.fds[i]);
		assert_int_equal(fcntl(d.fds[i], F_GETFD), FD_CLOEXEC);
	}
	l->q = nnb_fmq_free(l->q); /* the sent fds stay valid */
	assert_int_equal(nnb_fmq_attach(&q, &d, &how), 0);
	nnb_fmq_desc_close(&d);
	assert_int_equal(d.n_fds, 0);
	nnb_fmq_desc_close(&d);
	e = 0;
	assert_int_equal(nnb_fmq_read(q, &e, 1), 0);
	assert_int_equal(e, 77);
	nnb_fmq_free(q);
	assert_int_equal(count_fds(), l->fds - 2);
}

static void several_in_a_row_stay_apart(void **state)
{
	struct link *l = *state;
	struct nnb_fmq_desc d;
	char more[8];

	for (unsigned i = 0; i < 5; i++) {
		l->desc.quantum = i + 1;
		assert_int_equal(nnb_fmq_desc_send(l->ends[0], &l->desc), 0);
	}
	send_raw(l, "more", 4, 0);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(nnb_fmq_desc_recv(l->ends[1], &d), 0);
		assert_int_equal(d.quantum, i + 1);
		nnb_fmq_desc_close(&d);
	}
	assert_int_equal(recv(l->ends[1], more, sizeof(more), 0), 4); /* the message after it is left in the socket */
	assert_memory_equal(more, "more", 4);
	assert_int_equal(count_fds(), l->fds);
}

static void as_many_fds_as_there_can_be(void **state)
{
	struct link *l = *state;
	struct nnb_fmq_desc d;

	l->desc.n_fds = NNB_FMQ_MAX_FDS;
	for (unsigned i = 2; i < NNB_FMQ_MAX_FDS; i++)
		l->desc.fds[i] = l->desc.fds[0];
	l->desc.n_grantors = NNB_FMQ_MAX_GRANTORS;
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &l->desc), 0);
	assert_int_equal(nnb_fmq_desc_recv(l->ends[1], &d), 0);
	assert_same(&d, &l->desc);
	assert_int_equal(count_fds(), l->fds + NNB_FMQ_MAX_FDS);
	nnb_fmq_desc_close(&d);
	l->desc.n_fds = 0;
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &l->desc), 0);
	assert_int_equal(nnb_fmq_desc_recv(l->ends[1], &d), 0);
	assert_int_equal(d.n_fds, 0);
	assert_int_equal(count_fds(), l->fds);
}

static void end_of_file(void **state)
{
	struct link *l = *state;

	assert_int_equal(shutdown(l->ends[0], SHUT_WR), 0);
	receives(l, -ECONNRESET);
	receives(l, -ECONNRESET);
}

static void messages_that_are_too_long_are_refused(void **state)
{
	struct link *l = *state;
	unsigned char wire[1024] = { 0 };
	static const size_t sizes[] = { NNB_FMQ_WIRE_MAX + 1, NNB_FMQ_WIRE_MAX + 2, sizeof(wire) };

	memcpy(wire, golden, sizeof(golden));
	wire[6] = NNB_FMQ_MAX_GRANTORS;
	for (size_t i = 0; i < N_OF(sizes); i++) {
		send_raw(l, wire, sizes[i], 2);
		receives(l, -EBADMSG);
		while (recv(l->ends[1], wire + 512, 512, MSG_DONTWAIT) > 0) /* drop the rest of a stream */
			;
	}
}

static void wrong_number_of_fds(void **state)
{
	struct link *l = *state;
	unsigned char wire[sizeof(golden)];

	memcpy(wire, golden, sizeof(wire));
	for (wire[8] = 0; wire[8] <= NNB_FMQ_MAX_FDS; wire[8]++)
		for (unsigned n = 0; n < 12; n++)
			if (n != wire[8]) {
				send_raw(l, wire, sizeof(wire), n);
				receives(l, -EBADMSG);
			}
}

static void messages_without_a_descriptor_are_refused(void **state)
{
	struct link *l = *state;
	unsigned char wire[sizeof(golden)];

	for (unsigned n = 0; n < 4; n++) {
		send_raw(l, "hello", 5, n);
		receives(l, -EBADMSG);
	}
	memcpy(wire, golden, sizeof(golden));
	wire[4] = 2;
	send_raw(l, wire, sizeof(wire), 2);
	receives(l, -EPROTONOSUPPORT);
	send_raw(l, golden, sizeof(golden) - 1, 2);
	receives(l, -EBADMSG);
	if (l->type == SOCK_SEQPACKET) {
		send_raw(l, "", 0, 2); /* not an end of file, but the receiver cannot distinguish them */
		receives(l, -ECONNRESET);
	}
	send_raw(l, golden, sizeof(golden), 2); /* no earlier message has spoilt the next one */
	assert_int_equal(nnb_fmq_desc_recv(l->ends[1], &l->desc), 0);
	nnb_fmq_desc_close(&l->desc);
}

static void a_message_that_cannot_be_sent_is_an_error(void **state)
{
	struct link *l = *state;
	struct nnb_fmq_desc d = l->desc;

	d.n_fds = NNB_FMQ_MAX_FDS + 1;
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &d), -EINVAL);
	d = l->desc;
	d.n_grantors = NNB_FMQ_MAX_GRANTORS + 1;
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &d), -EINVAL);
	d = l->desc;
	d.fds[1] = closed_fd();
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &d), -EBADF);
	assert_int_equal(nnb_fmq_desc_send(closed_fd(), &l->desc), -EBADF);
	assert_int_equal(nnb_fmq_desc_send(l->desc.fds[0], &l->desc), -ENOTSOCK);
	assert_int_equal(nnb_fmq_desc_recv(l->desc.fds[0], &d), -ENOTSOCK);
	assert_int_equal(recv(l->ends[1], &d, sizeof(d), MSG_DONTWAIT), -1); /* nothing was sent */
	assert_int_equal(shutdown(l->ends[1], SHUT_RDWR), 0);
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &l->desc), -EPIPE); /* without a SIGPIPE */
	assert_int_equal(count_fds(), l->fds);
}

/* In a child that may open one fd more, while the message brings two. */
static void receive_at_the_limit(void *arg)
{
	const struct link *l = arg;
	struct rlimit limit = { 64, 64 };
	struct nnb_fmq_desc d;
	unsigned fds;
	int last = -1;
	int fd;

	must(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fd = dup(l->ends[1])) >= 0)
		last = fd;
	must(last >= 0 && close(last) == 0);
	fds = count_fds();
	must(nnb_fmq_desc_recv(l->ends[1], &d) == -EBADMSG);
	must(count_fds() == fds);
}

static void no_free_fds_are_an_error(void **state)
{
	struct link *l = *state;

	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &l->desc), 0);
	assert_int_equal(reap(spawn(receive_at_the_limit, l)), 0);
}

static void beside_credentials(void **state)
{
	struct link *l = *state;
	struct nnb_fmq_desc d;
	int on = 1;

	assert_int_equal(setsockopt(l->ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	assert_int_equal(nnb_fmq_desc_send(l->ends[0], &l->desc), 0);
	assert_int_equal(nnb_fmq_desc_recv(l->ends[1], &d), 0);
	assert_int_equal(d.n_fds, l->desc.n_fds);
	nnb_fmq_desc_close(&d);
	assert_int_equal(count_fds(), l->fds);
}

static const struct {
	const char *name;
	CMUnitTestFunction run;
} journeys[] = {
	{ "arrives with its fds, close-on-exec", arrives_with_its_fds },
	{ "several in a row stay apart", several_in_a_row_stay_apart },
	{ "the most fds, and no fds", as_many_fds_as_there_can_be },
	{ "beside credentials, where the receiver asks for them", beside_credentials },
	{ "end of file", end_of_file },
	{ "messages that are too long are refused", messages_that_are_too_long_are_refused },
	{ "too many and too few fds", wrong_number_of_fds },
	{ "messages without a descriptor are refused", messages_without_a_descriptor_are_refused },
	{ "invalid descriptors, and a closed socket", a_message_that_cannot_be_sent_is_an_error },
	{ "no free fds are an error to receive", no_free_fds_are_an_error },
};

int main(void)
{
	without_tracer();
	add_test(bytes_are_as_written_down, NULL, NULL, NULL, "the bytes are as written down");
	add_test(any_descriptor_survives, NULL, NULL, NULL, "any descriptor survives the wire");
	add_test(every_other_length_is_refused, NULL, NULL, NULL, "every other length is refused");
	add_test(encode_stays_within_its_buffer, NULL, NULL, NULL, "encode stays within its buffer");
	add_test(counts_must_agree, NULL, NULL, NULL, "counts must agree");
	for (size_t i = 0; i < N_OF(forgeries); i++)
		add_test(forged_descriptors_are_refused, NULL, NULL, (void *)(uintptr_t)&forgeries[i],
		         "forged descriptors are refused: %s", forgeries[i].name);
	for (size_t i = 0; i < N_OF(journeys); i++)
		for (size_t k = 0; k < N_OF(links); k++)
			add_test(journeys[i].run, connect_link, disconnect_link, &links[k], "%s (%s)", journeys[i].name,
			         links[k].name);
	return cmocka_run_group_tests_name("fmq_desc", tests, NULL, NULL);
}

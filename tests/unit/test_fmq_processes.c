/*
 * test_fmq_processes.c -- queues between processes: libfmq's two-process tests under their names.
 *
 * A row is a script that the client (this process) runs with one server or more. Servers are child processes
 * that start before a queue exists. They receive the queue's descriptor over a socket, and execute the commands
 * that they receive over that socket. Element number i of a queue is always the same int32, so each side knows
 * what it must read.
 */
#include "fmq_helpers.h"

#include <sys/socket.h>

enum {
	SYNC_CAPACITY = (4096 - 16) / 4,
	UNSYNC_CAPACITY = 1024,
	LOW = 0x100, /* event bits, in rows that choose their own */
	HIGH = 0x200,
};

#define SYNC NNB_FMQ_SYNCHRONIZED
#define UNSYNC NNB_FMQ_UNSYNCHRONIZED
#define FULL NNB_FMQ_FULL
#define EMPTY NNB_FMQ_EMPTY
#define OVERRUN NNB_FMQ_OVERRUN

/* ---- commands of both sides ---- */

enum op {
	END,
	WRITE,
	WRITE_TX,
	WRITE_BLOCKING,      /* the short form */
	WRITE_BLOCKING_WITH, /* the long form, with the row's bits and a named flag */
	READ,
	READ_TX,
	READ_BLOCKING,
	READ_BLOCKING_WITH,
	ROOM,   /* available_to_write is n */
	UNREAD, /* available_to_read is n */
	POKE,   /* set the write counter to n */
	ATTACH, /* attach to the queue whose descriptor follows; n is the element size */
	ECHO,   /* read one element of any kind and send it back */
	/* The client's alone: */
	JOIN, /* make @who attach, too */
	WAIT, /* wait for the call that LET gave to @who */
};

struct command {
	enum op op;
	size_t n;      /* elements in each call */
	size_t rounds; /* number of calls */
	uint64_t at;   /* number of the first element */
};

struct reply {
	long result;
	unsigned char element[64]; /* ECHO */
};

static int32_t element(uint64_t i)
{
	return (int32_t)(i * 2654435761u);
}

static int write_by(struct nnb_fmq *q, enum op op, const int32_t *src, size_t n)
{
	struct nnb_fmq_tx tx;
	int r;

	switch (op) {
	case WRITE:
		return nnb_fmq_write(q, src, n);
	case WRITE_BLOCKING:
		return nnb_fmq_write_blocking(q, src, n, PATIENCE);
	case WRITE_BLOCKING_WITH:
		return nnb_fmq_write_blocking_with(q, src, n, LOW, HIGH, PATIENCE, nnb_fmq_event_flag(q));
	default:
		r = nnb_fmq_begin_write(q, n, &tx);
		if (r)
			return r;
		return nnb_fmq_tx_copy_to(&tx, src, 0, n) ? nnb_fmq_commit_write(q, n) : -EPROTO;
	}
}

static int read_by(struct nnb_fmq *q, enum op op, int32_t *dst, size_t n)
{
	struct nnb_fmq_tx tx;
	int r;

	switch (op) {
	case READ:
		return nnb_fmq_read(q, dst, n);
	case READ_BLOCKING:
		return nnb_fmq_read_blocking(q, dst, n, PATIENCE);
	case READ_BLOCKING_WITH:
		return nnb_fmq_read_blocking_with(q, dst, n, LOW, HIGH, PATIENCE, nnb_fmq_event_flag(q));
	default:
		r = nnb_fmq_begin_read(q, n, &tx);
		if (r)
			return r;
		return nnb_fmq_tx_copy_from(&tx, dst, 0, n) ? nnb_fmq_commit_read(q, n) : -EPROTO;
	}
}

/* Returns what the queue's function returned; -EILSEQ if the elements read differ from those written. */
static int transfer(struct nnb_fmq *q, const struct command *c)
{
	int32_t *elements = calloc(c->n + 1, sizeof(*elements));
	uint64_t at = c->at;
	int r = 0;

	for (size_t round = 0; round < c->rounds && !r; round++, at += c->n) {
		for (size_t i = 0; i < c->n && c->op < READ; i++)
			elements[i] = element(at + i);
		r = c->op < READ ? write_by(q, c->op, elements, c->n) : read_by(q, c->op, elements, c->n);
		for (size_t i = 0; i < c->n && c->op >= READ && !r; i++)
			if (elements[i] != element(at + i))
				r = -EILSEQ;
	}
	free(elements);
	return r;
}

static long perform(struct nnb_fmq *q, const struct command *c)
{
	struct raw raw;

	switch (c->op) {
	case ROOM:
		return (long)nnb_fmq_available_to_write(q);
	case UNREAD:
		return (long)nnb_fmq_available_to_read(q);
	case POKE:
		raw_open(&raw, q);
		atomic_store(raw_counter(&raw, NNB_FMQ_WRITE_COUNTER), c->n);
		raw_close(&raw);
		return 0;
	default:
		return transfer(q, c);
	}
}

/* ---- the server ---- */

static int attach_received(int sock, size_t elem_size, struct nnb_fmq **ret)
{
	struct nnb_fmq_attach how = { .elem_size = elem_size, .keep_counters = true };
	struct nnb_fmq_desc d;
	int r = nnb_fmq_desc_recv(sock, &d);

	if (r)
		return r;
	r = nnb_fmq_attach(ret, &d, &how);
	nnb_fmq_desc_close(&d);
	return r;
}

static void serve(void *arg)
{
	int sock = *(int *)arg;
	struct nnb_fmq *q = NULL;
	struct command c;
	ssize_t n;

	while ((n = recv(sock, &c, sizeof(c), 0)) == (ssize_t)sizeof(c)) {
		struct reply reply = { 0 };

		if (c.op == ATTACH) {
			must(!q);
			reply.result = attach_received(sock, c.n, &q);
		} else {
			must(q);
			if (c.op == ECHO)
				reply.result = nnb_fmq_read(q, reply.element, 1);
			else
				reply.result = perform(q, &c);
		}
		must(send(sock, &reply, sizeof(reply), MSG_NOSIGNAL) == (ssize_t)sizeof(reply));
	}
	must(n == 0); /* the client has ended */
	nnb_fmq_free(q);
}

/* ---- the client ---- */

enum who { CLIENT, CLIENT2, SERVER, SERVER2, SERVER3, N_PARTIES };

struct party {
	pid_t pid; /* 0 for the client's two parties */
	int sock;
	struct nnb_fmq *q;   /* the client's handle */
	uint64_t read;       /* elements read; all parties share what is written */
	struct command busy; /* a command of LET, until WAIT */
};

struct step {
	enum who who;
	enum op op;
	size_t n;
	long want;
	size_t rounds; /* 0 means 1 */
	bool let;      /* go on during the call; WAIT takes its result */
};

struct row {
	const char *name;
	const char *rules;
	enum nnb_fmq_flavour flavour;
	struct step steps[24];
};

struct bench {
	const struct row *row;
	const struct arrangement *in;
	struct party party[N_PARTIES];
	uint64_t written;
};

static void start_server(struct party *p)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	p->pid = spawn(serve, &ends[1]);
	assert_true(p->pid > 0);
	close(ends[1]);
	p->sock = ends[0];
}

static void command(const struct party *p, const struct command *c)
{
	assert_int_equal(send(p->sock, c, sizeof(*c), MSG_NOSIGNAL), sizeof(*c));
}

static struct reply reply_of(const struct party *p)
{
	struct reply reply;

	assert_int_equal(recv(p->sock, &reply, sizeof(reply), 0), sizeof(reply));
	return reply;
}

static long join(struct bench *b, struct party *p)
{
	struct nnb_fmq *q = b->party[CLIENT].q;
	struct command c = { .op = ATTACH, .n = nnb_fmq_elem_size(q) };
	struct nnb_fmq_desc d;

	if (!p->pid)
		return join_queue(&p->q, q);
	nnb_fmq_describe(q, &d);
	command(p, &c);
	assert_int_equal(nnb_fmq_desc_send(p->sock, &d), 0);
	return reply_of(p).result;
}

/* Update the expected counts after a call that returned @r. */
static void account(struct bench *b, struct party *p, const struct command *c, long r)
{
	if (c->op < READ)
		b->written += r ? 0 : c->n * c->rounds;
	else if (c->op <= READ_BLOCKING_WITH)
		p->read = r == OVERRUN ? b->written : p->read + (r ? 0 : c->n * c->rounds);
}

static long take_step(struct bench *b, const struct step *s)
{
	struct party *p = &b->party[s->who];
	struct command c = { .op = s->op, .n = s->n, .rounds = s->rounds ? s->rounds : 1 };
	long r;

	if (s->op == JOIN)
		return join(b, p);
	if (s->op == WAIT) {
		r = reply_of(p).result;
		account(b, p, &p->busy, r);
		p->busy.op = END;
		return r;
	}
	c.at = s->op < READ ? b->written : p->read;
	if (p->pid) {
		command(p, &c);
		if (s->let) {
			p->busy = c;
			return s->want;
		}
		r = reply_of(p).result;
	} else {
		r = perform(p->q, &c);
	}
	account(b, p, &c, r);
	return r;
}

static int set_up(void **state)
{
	struct bench *b = *state;
	struct nnb_fmq_config config = {
		.elem_size = sizeof(int32_t),
		.capacity = b->row->flavour == SYNC ? SYNC_CAPACITY : UNSYNC_CAPACITY,
		.flavour = b->row->flavour,
		.event_flag = b->row->flavour == SYNC,
	};

	alarm(WATCHDOG_S);
	start_server(&b->party[SERVER]);
	for (const struct step *s = b->row->steps; s->op; s++)
		if (s->who > SERVER && !b->party[s->who].pid)
			start_server(&b->party[s->who]);
	if (new_queue(&b->party[CLIENT].q, config, b->in) < 0)
		return -1;
	return (int)join(b, &b->party[SERVER]);
}

static int tear_down(void **state)
{
	struct bench *b = *state;
	int status = 0;

	for (unsigned i = 0; i < N_PARTIES; i++) {
		struct party *p = &b->party[i];

		p->q = nnb_fmq_free(p->q);
		if (!p->pid)
			continue;
		if (p->busy.op) /* the row has failed */
			kill(p->pid, SIGKILL);
		shutdown(p->sock, SHUT_RDWR); /* shutdown, because servers that were started later hold the fd, too */
		close(p->sock);
		status |= reap(p->pid);
		p->pid = 0;
	}
	return status ? -1 : 0;
}

static void run_row(void **state)
{
	struct bench *b = *state;

	for (const struct step *s = b->row->steps; s->op; s++) {
		long is = take_step(b, s);
		long want = s->op == ROOM || s->op == UNREAD ? (long)s->n : s->want;

		if (is != want)
			fail_msg("step %d gives %ld, not %ld", (int)(s - b->row->steps) + 1, is, want);
	}
}

/* clang-format off */
#define N SYNC_CAPACITY
#define LET .let = true
#define TIMES .rounds =
static const struct row sync_rows[] = {
	{ "SyncClient.BlockingReadWrite1", "F-26", SYNC,
	  .steps = { { SERVER, WRITE_BLOCKING_WITH, 64, LET }, { CLIENT, READ_BLOCKING_WITH, 64 }, { SERVER, WAIT } } },
	{ "SyncClient.BlockingReadWrite1, the client writes", "F-26", SYNC,
	  .steps = { { SERVER, READ_BLOCKING_WITH, 64, LET }, { CLIENT, WRITE_BLOCKING_WITH, 64 }, { SERVER, WAIT } } },
	{ "SyncClient.BlockingReadWrite2", "F-26", SYNC,
	  .steps = { { SERVER, WRITE_BLOCKING, 64, LET }, { CLIENT, READ_BLOCKING, 64 }, { SERVER, WAIT } } },
	{ "SyncClient.BlockingReadWrite2, the client writes", "F-26", SYNC,
	  .steps = { { SERVER, READ_BLOCKING, 64, LET }, { CLIENT, WRITE_BLOCKING, 64 }, { SERVER, WAIT } } },
	{ "SyncClient.BlockingReadWriteRepeat1", "F-28", SYNC,
	  .steps = { { SERVER, READ_BLOCKING, 64, TIMES 1024, LET }, { CLIENT, WRITE_BLOCKING, 64, TIMES 1024 },
		     { SERVER, WAIT }, { CLIENT, WRITE_BLOCKING, N }, { SERVER, READ, N } } },
	{ "SyncClient.BlockingReadWriteRepeat2", "F-28 F-31", SYNC,
	  .steps = { { SERVER, READ_BLOCKING, 128, TIMES 512, LET }, { CLIENT, WRITE_BLOCKING, 64, TIMES 1024 },
		     { SERVER, WAIT }, { CLIENT, WRITE_BLOCKING, N }, { SERVER, READ, N } } },
	{ "SyncClient.BlockingReadWriteRepeat3", "F-28 F-31", SYNC,
	  .steps = { { SERVER, READ_BLOCKING, 32, TIMES 2048, LET }, { CLIENT, WRITE_BLOCKING, 64, TIMES 1024 },
		     { SERVER, WAIT }, { CLIENT, WRITE_BLOCKING, N }, { SERVER, READ, N } } },
	{ "SyncClient.BlockingReadWriteZeroMessages", "F-29", SYNC,
	  .steps = { { SERVER, WRITE_BLOCKING, 0, LET }, { CLIENT, READ_BLOCKING, 0 }, { SERVER, WAIT },
		     { SERVER, READ_BLOCKING, 0 }, { CLIENT, WRITE_BLOCKING, 0 }, { CLIENT, UNREAD, 0 } } },
	{ "SyncClient.SmallInputReaderTest1", "F-19", SYNC,
	  .steps = { { SERVER, WRITE, 16 }, { CLIENT, READ, 16 } } },
	{ "SyncClient.SmallInputReaderTest2", "F-18", SYNC,
	  .steps = { { SERVER, WRITE, 16 }, { CLIENT, READ_TX, 16 } } },
	{ "SyncClient.MisalignedWriteCounter", "F-5", SYNC,
	  .steps = { { CLIENT, POKE, N * 4 - 1 }, { SERVER, WRITE, 1, -EBADMSG }, { SERVER, WRITE, 64, -EBADMSG } } },
	{ "SyncClient.SmallInputWriterTest1", "F-15", SYNC,
	  .steps = { { CLIENT, ROOM, N }, { CLIENT, WRITE, 16 }, { SERVER, READ, 16 }, { CLIENT, ROOM, N } } },
	{ "SyncClient.SmallInputWriterTest2", "F-15", SYNC,
	  .steps = { { CLIENT, ROOM, N }, { CLIENT, WRITE_TX, 16 }, { SERVER, READ, 16 }, { CLIENT, ROOM, N } } },
	{ "SyncClient.ReadWhenEmpty", "F-18", SYNC,
	  .steps = { { CLIENT, UNREAD, 0 }, { CLIENT, READ, 4, EMPTY }, { CLIENT, READ_TX, 4, EMPTY } } },
	{ "SyncClient.WriteWhenFull", "F-17", SYNC,
	  .steps = { { CLIENT, WRITE, N }, { CLIENT, ROOM, 0 }, { CLIENT, WRITE, 1, FULL },
		     { CLIENT, WRITE_TX, 1, FULL }, { SERVER, READ, N } } },
	{ "SyncClient.LargeInputTest1", "F-3", SYNC,
	  .steps = { { SERVER, WRITE, N }, { CLIENT, READ, N } } },
	{ "SyncClient.LargeInputTest2", "F-17", SYNC,
	  .steps = { { SERVER, WRITE, 2048, -EMSGSIZE }, { CLIENT, UNREAD, 0 }, { CLIENT, READ, 2048, -EMSGSIZE },
		     { CLIENT, READ, N, EMPTY } } },
	{ "SyncClient.LargeInputTest3", "F-17", SYNC,
	  .steps = { { SERVER, WRITE, N }, { SERVER, WRITE, 1, FULL }, { SERVER, WRITE, N, FULL },
		     { CLIENT, READ, N } } },
	{ "SyncClient.MultipleRead", "F-19", SYNC,
	  .steps = { { SERVER, WRITE, 500 }, { CLIENT, READ, 100, TIMES 5 }, { CLIENT, UNREAD, 0 } } },
	{ "SyncClient.MultipleWrite", "F-19", SYNC,
	  .steps = { { CLIENT, WRITE, 100, TIMES 5 }, { SERVER, READ, 500 }, { CLIENT, ROOM, N } } },
	{ "SyncClient.ReadWriteWrapAround", "F-3", SYNC,
	  .steps = { { CLIENT, WRITE, N - 1 }, { SERVER, READ, N - 1 }, { CLIENT, WRITE, N }, { SERVER, READ, N } } },
	{ "SyncClient.ReadWriteWrapAround2", "F-3", SYNC,
	  .steps = { { CLIENT, WRITE_TX, N - 1 }, { SERVER, READ_TX, N - 1 }, { CLIENT, WRITE_TX, N },
		     { SERVER, READ_TX, N } } },
};
#undef N
#define N UNSYNC_CAPACITY
static const struct row unsync_rows[] = {
	{ "UnsyncMultiProcess.MultipleReadersAfterOverflow", "F-13 F-18", UNSYNC,
	  .steps = { { SERVER2, JOIN }, { SERVER, WRITE, N }, { SERVER, WRITE, 1 }, { SERVER2, READ, N, OVERRUN },
		     { SERVER, WRITE, 16 }, { SERVER2, READ, 16 }, { SERVER3, JOIN }, { SERVER3, READ, 16, OVERRUN },
		     { SERVER, WRITE, 16 }, { SERVER3, READ, 16 }, { SERVER2, READ, 16 } } },
	{ "UnsyncClient.SmallInputReaderTest1", "F-19", UNSYNC,
	  .steps = { { SERVER, WRITE, 16 }, { CLIENT, READ, 16 } } },
	{ "UnsyncClient.SmallInputWriterTest1", "F-19", UNSYNC,
	  .steps = { { CLIENT, WRITE, 16 }, { SERVER, READ, 16 } } },
	{ "UnsyncClient.ReadWhenEmpty", "F-18", UNSYNC,
	  .steps = { { CLIENT, READ, 2, EMPTY }, { CLIENT, UNREAD, 0 } } },
	{ "UnsyncClient.WriteWhenFull", "F-1", UNSYNC,
	  .steps = { { CLIENT, WRITE, N }, { CLIENT, ROOM, 0 }, { CLIENT, WRITE, 1 }, { SERVER, READ, N, OVERRUN } } },
	{ "UnsyncClient.LargeInputTest1", "F-3", UNSYNC,
	  .steps = { { SERVER, WRITE, N }, { CLIENT, READ, N } } },
	{ "UnsyncClient.LargeInputTest2", "F-17", UNSYNC,
	  .steps = { { SERVER, WRITE, N + 1, -EMSGSIZE }, { CLIENT, UNREAD, 0 }, { CLIENT, READ, N, EMPTY } } },
	{ "UnsyncClient.LargeInputTest3", "F-18", UNSYNC,
	  .steps = { { SERVER, WRITE, N }, { SERVER, WRITE, 1 }, { CLIENT, READ, N, OVERRUN }, { SERVER, WRITE, N },
		     { CLIENT, READ, N } } },
	{ "UnsyncClient.MultipleRead", "F-19", UNSYNC,
	  .steps = { { SERVER, WRITE, 500 }, { CLIENT, READ, 100, TIMES 5 } } },
	{ "UnsyncClient.MultipleWrite", "F-19", UNSYNC,
	  .steps = { { CLIENT, WRITE, 100, TIMES 5 }, { SERVER, READ, 500 } } },
	{ "UnsyncClient.ReadWriteWrapAround", "F-3", UNSYNC,
	  .steps = { { CLIENT, WRITE, N - 1 }, { SERVER, READ, N - 1 }, { CLIENT, WRITE, N }, { SERVER, READ, N } } },
	{ "UnsyncClient.SmallInputMultipleReaderTest", "F-13", UNSYNC,
	  .steps = { { CLIENT2, JOIN }, { SERVER, WRITE, 16 }, { CLIENT, READ, 16 }, { CLIENT2, READ, 16 } } },
	{ "UnsyncClient.OverflowNotificationTest", "F-18", UNSYNC,
	  .steps = { { CLIENT2, JOIN }, { SERVER, WRITE, N }, { SERVER, WRITE, 1 }, { CLIENT, READ, N, OVERRUN },
		     { CLIENT2, READ, N, OVERRUN } } },
};
#undef N
/* clang-format on */

/* ---- AidlTypeChecks.FixedSizeParcelableTest: an element of each kind of plain data ---- */

struct fixed_parcelable {
	int32_t a;
	char b;
	double c[3];
	enum { RED = 7 } d;
};

union fixed_union {
	uint64_t a;
	char b[12];
};

#define KIND(type, ...)                                       \
	{                                                     \
#type, sizeof(type), &(const type)__VA_ARGS__ \
	}

static const struct kind {
	const char *name;
	size_t size;
	const void *value;
} kinds[] = {
	KIND(struct fixed_parcelable, { -5, 'x', { 1, 2, 3 }, RED }),
	KIND(union fixed_union, { .b = "hello world" }),
	KIND(enum nnb_fmq_side, { NNB_FMQ_READER }),
	KIND(bool, { true }),
	KIND(int8_t, { -8 }),
	KIND(char, { 'c' }),
	KIND(uint16_t, { 0x20ac }), /* char16 */
	KIND(int32_t, { -32 }),
	KIND(int64_t, { INT64_MIN }),
	KIND(float, { 0.5F }),
	KIND(double, { -0.25 }),
};

static void one_element_of(const struct bench *b, const struct kind *kind)
{
	struct nnb_fmq_config config = { .elem_size = kind->size, .capacity = 64, .flavour = SYNC };
	struct bench one = { .in = b->in };
	struct party *server = &one.party[SERVER];
	struct reply reply;

	start_server(server);
	assert_int_equal(new_queue(&one.party[CLIENT].q, config, b->in), 0);
	assert_int_equal(join(&one, server), 0);
	assert_int_equal(nnb_fmq_write(one.party[CLIENT].q, kind->value, 1), 0);
	command(server, &(struct command){ .op = ECHO });
	reply = reply_of(server);
	assert_int_equal(reply.result, 0);
	if (memcmp(reply.element, kind->value, kind->size) != 0)
		fail_msg("a %s came back different", kind->name);
	nnb_fmq_free(one.party[CLIENT].q);
	shutdown(server->sock, SHUT_RDWR);
	close(server->sock);
	assert_int_equal(reap(server->pid), 0);
}

static void plain_data(void **state)
{
	alarm(WATCHDOG_S);
	for (size_t i = 0; i < N_OF(kinds); i++)
		one_element_of(*state, &kinds[i]);
}

static struct bench *new_bench(const struct row *row, const struct arrangement *in)
{
	static struct bench benches[N_OF(tests)];
	struct bench *b = &benches[n_tests];

	*b = (struct bench){ .row = row, .in = in };
	return b;
}

int main(void)
{
	without_tracer();
	for (size_t k = 0; k < N_OF(arrangements); k++) {
		const struct arrangement *in = &arrangements[k];

		for (size_t i = 0; i < N_OF(sync_rows); i++)
			add_test(run_row, set_up, tear_down, new_bench(&sync_rows[i], in), "%s (%s) %s",
			         sync_rows[i].name, in->name, sync_rows[i].rules);
		for (size_t i = 0; i < N_OF(unsync_rows); i++)
			add_test(run_row, set_up, tear_down, new_bench(&unsync_rows[i], in), "%s (%s) %s",
			         unsync_rows[i].name, in->name, unsync_rows[i].rules);
		add_test(plain_data, NULL, NULL, new_bench(NULL, in), "AidlTypeChecks.FixedSizeParcelableTest (%s) F-2",
		         in->name);
	}
	return cmocka_run_group_tests_name("fmq_processes", tests, NULL, NULL);
}

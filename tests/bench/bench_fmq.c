/*
 * bench_fmq -- the fast message queue against the cache line below it and the kernel's transports beside it.
 *
 * Two processes, in three placements: on two cpus, wherever the kernel puts them, on one cpu. Round trips of
 * one message; messages one way, singly and in batches of 16; and the cost of queues that no program uses.
 * Every message carries its number and is checked: a mode that loses or repeats one ends the run.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "nnb/fmq.h"
#include "peers.h"

enum { BATCH_MAX = 16, CAPACITY = 1024 };

/* ---- transports: two directions between a client and a server ---- */

struct link {
	size_t bytes; /* bytes of a message */
	struct nnb_fmq *q[2];
	uint64_t window;
	int fd[2][2]; /* by direction: read end, write end; a socket pair: by side */
	mqd_t mq[2];
};

static void fmq_open(struct link *l)
{
	struct nnb_fmq_config c = {
		.elem_size = l->bytes,
		.capacity = CAPACITY,
		.flavour = NNB_FMQ_SYNCHRONIZED,
		.event_flag = true,
		.window_ns = l->window,
	};

	for (int i = 0; i < 2; i++) {
		errno = -nnb_fmq_new(&l->q[i], &c);
		if (errno)
			die("making a queue");
	}
}

static void fmq_open_with(struct link *l, uint64_t window)
{
	l->window = window;
	fmq_open(l);
}

static void fmq_open_poll(struct link *l)
{
	fmq_open_with(l, NNB_FMQ_WINDOW_ALWAYS);
}

static void fmq_open_block(struct link *l)
{
	fmq_open_with(l, NNB_FMQ_WINDOW_NONE);
}

static void fmq_open_hybrid(struct link *l)
{
	fmq_open_with(l, NNB_FMQ_WINDOW_AUTO);
}

/* The calls that never wait, in a loop, as libfmq's own benchmark has it. */
static void fmq_send_spinning(struct link *l, int side, const void *p)
{
	while (nnb_fmq_write(l->q[side], p, 1) == NNB_FMQ_FULL)
		;
}

static void fmq_recv_spinning(struct link *l, int side, void *p)
{
	while (nnb_fmq_read(l->q[!side], p, 1) == NNB_FMQ_EMPTY)
		;
}

/* The calls that may wait; the window decides how. */
static void fmq_send(struct link *l, int side, const void *p)
{
	nnb_fmq_write_blocking(l->q[side], p, 1, 0);
}

static void fmq_recv(struct link *l, int side, void *p)
{
	nnb_fmq_read_blocking(l->q[!side], p, 1, 0);
}

/* The same, built and parsed in the ring. */
static void fmq_send_in_place(struct link *l, int side, const void *p)
{
	struct nnb_fmq_tx tx;

	if (nnb_fmq_begin_write_blocking(l->q[side], 1, 0, &tx) == 0) {
		memcpy(tx.first.base, p, sizeof(uint64_t));
		nnb_fmq_commit_write_and_wake(l->q[side], 1);
	}
}

static void fmq_recv_in_place(struct link *l, int side, void *p)
{
	struct nnb_fmq_tx tx;

	if (nnb_fmq_begin_read_blocking(l->q[!side], 1, 0, &tx) == 0) {
		memcpy(p, tx.first.base, sizeof(uint64_t));
		nnb_fmq_commit_read_and_wake(l->q[!side], 1);
	}
}

static void pipe_open(struct link *l)
{
	for (int i = 0; i < 2; i++)
		if (pipe2(l->fd[i], O_CLOEXEC) < 0)
			die("pipe");
	fcntl(l->fd[CLIENT][1], F_SETPIPE_SZ, 1 << 20);
}

static void pipe_send(struct link *l, int side, const void *p)
{
	write_fully(l->fd[side][1], p, l->bytes);
}

static void pipe_recv(struct link *l, int side, void *p)
{
	read_fully(l->fd[!side][0], p, l->bytes);
}

static void socket_open(struct link *l)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->fd[0]) < 0)
		die("socketpair");
}

static void socket_send(struct link *l, int side, const void *p)
{
	write_fully(l->fd[0][side], p, l->bytes);
}

static void socket_recv(struct link *l, int side, void *p)
{
	read_fully(l->fd[0][side], p, l->bytes);
}

static void mq_open_both(struct link *l)
{
	struct mq_attr attr = { .mq_maxmsg = 8, .mq_msgsize = MESSAGE_MAX };
	char name[64];

	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "/burstscope-bench-%d-%d", (int)getpid(), i);
		l->mq[i] = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
		if (l->mq[i] == (mqd_t)-1)
			die("mq_open");
		mq_unlink(name);
	}
}

static void posix_mq_send(struct link *l, int side, const void *p)
{
	if (mq_send(l->mq[side], p, l->bytes, 0) < 0)
		die("mq_send");
}

static void posix_mq_recv(struct link *l, int side, void *p)
{
	char buf[MESSAGE_MAX];

	if (mq_receive(l->mq[!side], buf, sizeof(buf), NULL) < 0)
		die("mq_receive");
	memcpy(p, buf, l->bytes);
}

enum {
	LIMIT,
	LIMIT_PAUSE,
	FMQ_SPIN,
	FMQ_POLL,
	FMQ_IN_PLACE,
	FMQ_BLOCK,
	FMQ_HYBRID,
	FUTEX,
	PIPE,
	SOCKET,
	MQ,
	N_TRANSPORTS,
};

static const struct transport transports[N_TRANSPORTS] = {
	[LIMIT] = { "cache lines", lines_open, line_send, line_recv, true },
	[LIMIT_PAUSE] = { "cache lines, pause", lines_open, line_send, line_recv_pause, true },
	[FMQ_SPIN] = { "fmq spinning", fmq_open_poll, fmq_send_spinning, fmq_recv_spinning, true },
	[FMQ_POLL] = { "fmq polling", fmq_open_poll, fmq_send, fmq_recv, true },
	[FMQ_IN_PLACE] = { "fmq polling, in place", fmq_open_poll, fmq_send_in_place, fmq_recv_in_place, true },
	[FMQ_BLOCK] = { "fmq blocking", fmq_open_block, fmq_send, fmq_recv, false },
	[FMQ_HYBRID] = { "fmq hybrid", fmq_open_hybrid, fmq_send, fmq_recv, true },
	[FUTEX] = { "raw futex", futex_open, futex_send, futex_recv, false },
	[PIPE] = { "pipe", pipe_open, pipe_send, pipe_recv, false },
	[SOCKET] = { "unix seqpacket", socket_open, socket_send, socket_recv, false },
	[MQ] = { "posix mq", mq_open_both, posix_mq_send, posix_mq_recv, false },
};

static void close_link(struct link *l)
{
	for (int i = 0; i < 2; i++) {
		l->q[i] = nnb_fmq_free(l->q[i]);
		for (int j = 0; j < 2; j++)
			if (l->fd[i][j] > 0)
				close(l->fd[i][j]);
		if (l->mq[i] > 0)
			mq_close(l->mq[i]);
	}
}

/* In the other process: handles of its own on the same queues. */
static void attach_link(struct link *l)
{
	for (int i = 0; i < 2 && l->q[i]; i++) {
		struct nnb_fmq_attach how = { .elem_size = l->bytes,
			                      .keep_counters = true,
			                      .window_ns = nnb_fmq_window(l->q[i]) };
		struct nnb_fmq_desc d;

		nnb_fmq_describe(l->q[i], &d);
		errno = -nnb_fmq_attach(&l->q[i], &d, &how);
		if (errno)
			die("attaching");
	}
}

/* ---- round trips ---- */

static void trips(struct bench *b, size_t row, const struct transport *t, size_t bytes, int placement)
{
	struct link l = { .bytes = bytes };

	settle(placement, CLIENT);
	t->open(&l);
	round_trips(b, row, &l, attach_link, t, placement);
	close_link(&l);
}

/* ---- one way ---- */

struct stream {
	const struct transport *t;
	unsigned batch;
	uint64_t messages;
	int done; /* written when all have been read */
};

static void stream_send(struct link *l, const struct stream *s, const char *buf)
{
	if (s->t == &transports[PIPE])
		write_fully(l->fd[CLIENT][1], buf, s->batch * l->bytes);
	else if (s->t == &transports[SOCKET])
		write_fully(l->fd[0][CLIENT], buf, s->batch * l->bytes);
	else
		nnb_fmq_write_blocking(l->q[CLIENT], buf, s->batch, 0);
}

static void stream_recv(struct link *l, const struct stream *s, char *buf)
{
	if (s->t == &transports[PIPE])
		read_fully(l->fd[CLIENT][0], buf, s->batch * l->bytes);
	else if (s->t == &transports[SOCKET])
		read_fully(l->fd[0][SERVER], buf, s->batch * l->bytes);
	else
		nnb_fmq_read_blocking(l->q[CLIENT], buf, s->batch, 0);
}

static void drain(struct link *l, const void *arg)
{
	const struct stream *s = arg;
	char buf[BATCH_MAX * MESSAGE_MAX];

	for (uint64_t i = 0; i < s->messages; i += s->batch) {
		stream_recv(l, s, buf);
		check(buf, i, s->t);
		check(buf + (s->batch - 1) * l->bytes, i + s->batch - 1, s->t);
	}
	write_fully(s->done, "", 1);
}

static void one_way(struct bench *b, size_t row, const struct transport *t, size_t bytes, unsigned batch)
{
	struct link l = { .bytes = bytes };
	struct stream s = { .t = t, .batch = batch, .messages = (b->quick ? 1 : 10) * (batch > 1 ? 16000 : 4000) };
	char buf[BATCH_MAX * MESSAGE_MAX] = { 0 };
	uint64_t start;
	int done[2];
	pid_t peer;
	char c;

	if (pipe2(done, O_CLOEXEC) < 0)
		die("pipe");
	s.done = done[1];
	settle(TWO_CPUS, CLIENT);
	t->open(&l);
	peer = start_peer(&l, attach_link, TWO_CPUS, drain, &s);
	start = bench_now();
	for (uint64_t i = 0; i < s.messages; i += batch) {
		for (uint64_t j = 0; j < batch; j++)
			memcpy(buf + j * bytes, &(uint64_t){ i + j }, sizeof(uint64_t));
		stream_send(&l, &s, buf);
	}
	read_fully(done[0], &c, 1);
	bench_sample(b, row, (double)(bench_now() - start) / (double)s.messages);
	bench_round_done(b, row);
	end_peer(peer);
	close_link(&l);
	close(done[0]);
	close(done[1]);
}

/* ---- idle ---- */

enum { IDLE_QUEUES = 64 };

static void *sleep_on(void *q)
{
	uint64_t v;

	nnb_fmq_read_blocking(q, &v, 1, 0);
	return NULL;
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

/* Milliseconds of cpu in @seconds for queues whose readers sleep. */
static double idle(unsigned seconds)
{
	struct nnb_fmq_config c = { 8, CAPACITY, NNB_FMQ_SYNCHRONIZED, .event_flag = true };
	struct nnb_fmq *q[IDLE_QUEUES];
	pthread_t thread[IDLE_QUEUES];
	struct timespec settle_time = { .tv_nsec = 100000000 };
	double before;

	settle(UNPINNED, CLIENT);
	for (int i = 0; i < IDLE_QUEUES; i++) {
		errno = -nnb_fmq_new(&q[i], &c);
		if (errno || pthread_create(&thread[i], NULL, sleep_on, q[i]))
			die("64 queues");
	}
	nanosleep(&settle_time, NULL);
	before = cpu_ms();
	sleep(seconds);
	before = cpu_ms() - before;
	for (int i = 0; i < IDLE_QUEUES; i++) {
		nnb_fmq_write_blocking(q[i], &(uint64_t){ 0 }, 1, 0);
		pthread_join(thread[i], NULL);
		nnb_fmq_free(q[i]);
	}
	return before;
}

/* ---- the whole ---- */

static const size_t sizes[] = { 8, 64, 256 };
static const unsigned batches[] = { 1, BATCH_MAX };

enum { N_SIZES = 3, N_BATCHES = 2, N_WAYS = 3 };

static const int ways[N_WAYS] = { FMQ_HYBRID, PIPE, SOCKET };

/*
 * The cache lines carry no payload, and the sleeping transports' times do not depend on it. On one cpu whatever
 * spins without a look at its peer's cpu would measure the scheduler's time slice.
 */
static bool worth_measuring(int placement, int transport, size_t bytes)
{
	if (transport <= FMQ_SPIN && placement == ONE_CPU)
		return false;
	return bytes == 64 || (transport >= FMQ_SPIN && transport <= FMQ_HYBRID);
}

struct rows {
	size_t trip[N_PLACEMENTS][N_TRANSPORTS][N_SIZES];
	size_t way[N_WAYS][N_SIZES][N_BATCHES];
};

static void make_rows(struct bench *b, struct rows *r)
{
	char name[64];

	for (int p = 0; p < N_PLACEMENTS; p++)
		for (int t = 0; t < N_TRANSPORTS; t++)
			for (int s = 0; s < N_SIZES; s++) {
				if (!worth_measuring(p, t, sizes[s]))
					continue;
				snprintf(name, sizeof(name), "%s/%s/%zu B", placements[p], transports[t].name,
				         sizes[s]);
				r->trip[p][t][s] = bench_row(b, name);
			}
	for (int w = 0; w < N_WAYS; w++)
		for (int s = 0; s < N_SIZES; s++)
			for (int n = 0; n < N_BATCHES; n++) {
				snprintf(name, sizeof(name), "one way/%s/%zu B x %u", transports[ways[w]].name,
				         sizes[s], batches[n]);
				r->way[w][s][n] = bench_row(b, name);
			}
}

static void measure(struct bench *b, const struct rows *r)
{
	for (unsigned round = 0; round < b->rounds; round++) {
		for (int p = 0; p < N_PLACEMENTS; p++)
			for (int s = 0; s < N_SIZES; s++)
				for (int t = 0; t < N_TRANSPORTS; t++)
					if (worth_measuring(p, t, sizes[s]))
						trips(b, r->trip[p][t][s], &transports[t], sizes[s], p);
		for (int s = 0; s < N_SIZES; s++)
			for (int n = 0; n < N_BATCHES; n++)
				for (int w = 0; w < N_WAYS; w++)
					one_way(b, r->way[w][s][n], &transports[ways[w]], sizes[s], batches[n]);
	}
}

static void judge(struct bench *b, const struct rows *r)
{
	char name[80];
	double v;

	for (int s = 0; s < N_SIZES; s++) {
		snprintf(name, sizeof(name), "two cpus: fmq spinning %zu B / cache lines", sizes[s]);
		v = bench_ratio(b, name, r->trip[TWO_CPUS][FMQ_SPIN][s], r->trip[TWO_CPUS][LIMIT][1],
		                r->trip[TWO_CPUS][LIMIT_PAUSE][1]);
		if (sizes[s] == 64)
			bench_at_most(b, name, v, 1.6);
	}
	bench_ratio(b, "two cpus: fmq polling 64 B / cache lines", r->trip[TWO_CPUS][FMQ_POLL][1],
	            r->trip[TWO_CPUS][LIMIT][1], r->trip[TWO_CPUS][LIMIT_PAUSE][1]);
	bench_ratio(b, "two cpus: fmq polling in place 64 B / cache lines", r->trip[TWO_CPUS][FMQ_IN_PLACE][1],
	            r->trip[TWO_CPUS][LIMIT][1], r->trip[TWO_CPUS][LIMIT_PAUSE][1]);
	for (int p = 0; p < N_PLACEMENTS; p++) {
		snprintf(name, sizeof(name), "%s: fmq blocking 64 B / raw futex", placements[p]);
		v = bench_ratio(b, name, r->trip[p][FMQ_BLOCK][1], r->trip[p][FUTEX][1], SIZE_MAX);
		bench_at_most(b, name, v, 1.1);
	}
	for (int p = 0; p < N_PLACEMENTS; p++) {
		snprintf(name, sizeof(name), "%s: fmq hybrid 64 B / better of spinning, futex", placements[p]);
		v = bench_ratio(b, name, r->trip[p][FMQ_HYBRID][1], r->trip[p][FUTEX][1],
		                p == ONE_CPU ? SIZE_MAX : r->trip[p][FMQ_SPIN][1]);
		bench_at_most(b, name, v, 1.25);
	}
	for (int s = 0; s < N_SIZES; s++) {
		snprintf(name, sizeof(name), "one way x16, %zu B: pipe / fmq", sizes[s]);
		v = bench_ratio(b, name, r->way[1][s][1], r->way[0][s][1], SIZE_MAX);
		bench_at_least(b, name, v, 3);
	}
}

int main(int argc, char **argv)
{
	struct bench b;
	struct rows rows;

	bench_open(&b, "fmq", 21, argc, argv);
	find_cpus();
	make_rows(&b, &rows);
	measure(&b, &rows);
	judge(&b, &rows);
	bench_at_most(&b, "64 idle queues, sleeping readers: cpu ms in 10 s", idle(b.quick ? 1 : 10), 10);
	return bench_close(&b);
}

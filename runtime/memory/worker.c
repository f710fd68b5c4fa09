/*
 * worker.c -- the process that makes calls on an app's file, or receives the app's messages, for the service.
 *
 * BOUND     A worker holds no file but that of its errand. A porter, which receives messages, also has the sockets of
 *           the app (arrival.c), and keeps what it has passed until the service has closed that (base/kept.h). When its
 *           app is gone, a porter shuts its sockets down, takes all out of their queues, however long that takes, and
 *           ends. A former porter (places.c) stays until its sockets have been shut down and are empty, and does the
 *           same when its app is gone.
 * CONCURRENCY  One thread, and one errand at a time. A worker ends with the service's end of its socket.
 * TRUST     The file may be anything, and change at any time. A worker touches no page of it.
 */
#include "memory/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/kept.h"
#include "base/sys.h"
#include "memory/arrival.h"
#include "memory/errand.h"

/* ---- calls, in a worker or without one ---- */

/* How long the calling thread has slept in mmap and munmap of a page of @fd. 0 or -errno. */
static int file_try(int fd, uint64_t *ret_blocked_ns)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t delay = nnb__cpu_delay(), cpu = nnb__cpu_now(), began = nnb__now(), busy, delayed;
	struct rusage before, after;
	void *p;
	int r;

	getrusage(RUSAGE_THREAD, &before);
	p = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	r = p == MAP_FAILED ? -errno : 0;
	if (!r)
		munmap(p, page);
	getrusage(RUSAGE_THREAD, &after);
	*ret_blocked_ns = nnb__now() - began;
	busy = nnb__cpu_now() - cpu;
	delayed = nnb__cpu_delay();
	if (delay != UINT64_MAX && delayed != UINT64_MAX)
		busy += delayed - delay;
	/* A thread that has not slept was only without a cpu, also where the kernel does not count that time. */
	if (after.ru_nvcsw == before.ru_nvcsw || busy > *ret_blocked_ns)
		busy = *ret_blocked_ns;
	*ret_blocked_ns -= busy;
	return r;
}

static int64_t file_size(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? st.st_size : -EINVAL;
}

struct nnb__errand_answer nnb__errand_make(const struct nnb__errand_request *q, int fd, void *data)
{
	struct nnb__errand_answer a = { 0 };

	switch (q->call) {
	case NNB__ERRAND_TRY:
		a.result = file_try(fd, &a.blocked_ns);
		return a;
	case NNB__ERRAND_SIZE:
		a.result = file_size(fd);
		return a;
	case NNB__ERRAND_SEAL:
		a.result = fcntl(fd, F_ADD_SEALS, (int)q->at);
		break;
	case NNB__ERRAND_TRUNCATE:
		a.result = ftruncate(fd, (off_t)q->at);
		break;
	case NNB__ERRAND_READ:
		a.result = pread(fd, data, q->n, (off_t)q->at);
		break;
	default:
		a.result = pwrite(fd, data, q->n, (off_t)q->at);
		break;
	}
	if (a.result < 0)
		a.result = -errno;
	return a;
}

/* ---- the process ---- */

enum { LINGER_LOOK_MS = 50 }; /* between two looks, where there is no memory to wait better */

enum { HEADER_MOST = 64 }; /* what a client's packet may have beside NNB__ERRAND_BYTES */

/* Has the messages of its clients, and holds their sockets, and their files. */
static struct nnb__held held;

/*
 * Receive a packet from @client, answer with it, and close what does not stay here: after the answer, because that may
 * wait. What is refused is closed before the next errand all the same, so a second answer tells when that is done.
 * False: the service has ended.
 */
static bool arrival_answer(int sock, const struct nnb__errand_request *q, int client, unsigned char *data)
{
	static struct nnb__arrival in;
	static uint32_t numbers[NNB__ARRIVAL_FDS];
	struct nnb__errand_answer a;
	struct nnb__packet out = { .parts = { { &a, sizeof(a) } }, .n_parts = 1, .fds = in.fds };
	bool sent, delivered;

	nnb__arrival_receive(client, q->n, data, NNB__ERRAND_BYTES + HEADER_MOST, &in);
	if (in.bytes > 0 && !nnb__held_keep(&held, in.is_kept, in.n))
		in.bytes = -EMFILE;
	a = (struct nnb__errand_answer){ .result = in.bytes, .lost = in.lost, .refused = in.n_refused > 0 };
	if (in.bytes > 0) {
		for (uint32_t i = 0; i < in.n; i++)
			numbers[i] = !in.is_kept[i] ? NNB__NOT_KEPT
			                            : (uint32_t)in.fds[i] | (in.is_small[i] ? NNB__KEPT_SMALL : 0);
		out.parts[out.n_parts++] = (struct iovec){ numbers, q->n * sizeof(numbers[0]) };
		out.parts[out.n_parts++] = (struct iovec){ data, (size_t)in.bytes };
		out.n_fds = a.files = in.n;
	}
	sent = !nnb__packet_send(sock, &out, 0);
	delivered = sent && in.bytes > 0;
	for (uint32_t i = 0, line = 0; i < in.n; i++) {
		bool is_line = line < in.n_lines && in.lines[line] == in.fds[i];

		if (in.bytes > 0 && in.is_kept[i]) {
			if (delivered)
				continue;
			held.n_kept--;
		}
		line += is_line;
		if (is_line && !delivered)
			nnb__line_drain(in.fds[i]); /* the service does not have it, and never shuts it down */
		if (!is_line || !delivered || nnb__held_add(&held, in.fds[i]))
			close(in.fds[i]);
	}
	nnb__files_close(in.refused, in.n_refused);
	out = (struct nnb__packet){ .parts = { { &a, sizeof(a) } }, .n_parts = 1 };
	return sent && (!in.n_refused || !nnb__packet_send(sock, &out, 0));
}

static int gone = -1; /* in a porter: an eventfd that is signalled when its app is gone */

static bool app_is_gone(int wait_ms)
{
	struct pollfd p = { .fd = gone, .events = POLLIN };

	return poll(&p, 1, wait_ms) > 0;
}

/*
 * The service has no more errands for this worker. Stay until nothing is held. When the app is gone, the service uses
 * no socket of the app any more, and what is in a queue still is this worker's to close. If the service ends before it
 * has closed its files, this worker is killed, after that.
 */
static _Noreturn void worker_linger(int sock)
{
	if (!app_is_gone(0)) { /* otherwise the service counts this worker until all is closed */
		close(sock);
		do
			nnb__held_wait(&held, gone);
		while ((held.n || held.n_kept) && !app_is_gone(LINGER_LOOK_MS));
	}
	nnb__held_drain(&held);
	_exit(0);
}

_Noreturn void nnb__worker_run(int sock)
{
	static unsigned char data[NNB__ERRAND_BYTES + HEADER_MOST];
	struct nnb__errand_request q = { .n = (uint32_t)getpid() };
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct nnb__packet first = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &fd, .n_fds = fd >= 0 };

	if (nnb__packet_send(sock, &first, 0))
		_exit(1);
	if (fd >= 0)
		close(fd);
	for (;;) {
		struct nnb__packet in = { .parts = { { &q, sizeof(q) }, { data, NNB__ERRAND_BYTES } },
			                  .n_parts = 2,
			                  .fds = &fd,
			                  .n_fds = 1 };
		struct nnb__errand_answer a = { 0 };
		struct nnb__packet out = { .parts = { { &a, sizeof(a) }, { data, 0 } }, .n_parts = 2 };
		ssize_t n;

		nnb__held_wait(&held, sock);
		n = nnb__packet_receive(sock, &in, 0);
		if (n < (ssize_t)sizeof(q) || !in.n_fds || q.n > NNB__ERRAND_BYTES)
			worker_linger(sock);
		if (q.call == NNB__ERRAND_APP) {
			gone = fd;
			continue;
		}
		if (q.call == NNB__ERRAND_KEEP) {
			nnb__held_begin(&held, fd);
			continue;
		}
		if (q.call == NNB__ERRAND_RECEIVE) {
			bool goes_on = arrival_answer(sock, &q, fd, data);

			close(fd); /* it is held, or the service has it */
			if (!goes_on)
				worker_linger(sock);
			continue;
		}
		if (q.call == NNB__ERRAND_HOLD) {
			a.result = nnb__held_add(&held, fd);
		} else if (q.call == NNB__ERRAND_EMPTY) {
			nnb__line_drain(fd);
			close(fd);
		} else {
			a = nnb__errand_make(&q, fd, data);
			close(fd); /* before the answer, because it may wait, too */
		}
		if (q.call == NNB__ERRAND_READ && a.result > 0)
			out.parts[1].iov_len = (size_t)a.result;
		if (nnb__packet_send(sock, &out, 0))
			worker_linger(sock);
	}
}

/*
 * errand.c -- calls on an app's file that may wait for ever, made by a process that works for that app alone.
 *
 * BOUND     A caller waits until its limit at most, for a free worker and for the answer. Which workers there may be is
 *           decided in places.c; what they do is in worker.c.
 * CONCURRENCY  Any thread. A caller has the worker of its errand for itself, and uses its socket without a lock. The
 *           worker has one errand at a time, so its next message is the answer.
 */
#include "memory/errand.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/kept.h"
#include "base/sys.h"
#include "memory/arrival.h"
#include "memory/packet.h"
#include "memory/places.h"
#include "memory/worker.h"

enum { STUCK_LOOKS = 3, STUCK_LOOK_US = 1000 };

/*
 * Whether @w sleeps where no signal ends the sleep, and not for a moment only. A worker that is ready and has no cpu
 * does not.
 */
static bool worker_is_stuck(const struct nnb__worker *w)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/stat", w->pid);
	for (int look = 0; look < STUCK_LOOKS; look++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		const char *state;

		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = '\0';
		state = strrchr(text, ')'); /* "PID (NAME) D ..." */
		if (!state || strncmp(state, ") D", 3) != 0)
			return false;
		usleep(STUCK_LOOK_US);
	}
	return true;
}

/* Wait for the next message of @w. 0; -ETIMEDOUT, -ECANCELED; -EIO: it has ended. */
static int packet_await(const struct nnb__worker *w, const struct nnb__errand_wait *wait, uint64_t until)
{
	struct pollfd p = { .fd = w->sock, .events = POLLIN };

	for (;;) {
		uint64_t now = nnb__now(), left = now < until ? until - now : 0;
		const struct timespec at = { 0, (long)(left < NNB__SLICE_NS ? left : NNB__SLICE_NS) };
		int r = ppoll(&p, 1, &at, NULL);

		if (r > 0)
			return p.revents & POLLIN ? 0 : -EIO;
		if (r < 0 && errno != EINTR)
			return -EIO;
		if (!nnb__errand_is_wanted(wait))
			return -ECANCELED;
		if (now >= until)
			return -ETIMEDOUT;
	}
}

/* Receive the first message of @w, which has its pidfd. False: it has ended. */
static bool worker_greet(struct nnb__worker *w)
{
	struct nnb__errand_request hello = { 0 };
	int fd;
	struct nnb__packet first = { .parts = { { &hello, sizeof(hello) } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	if (nnb__packet_receive(w->sock, &first, MSG_DONTWAIT) <= 0)
		return false;
	w->pid = (pid_t)hello.n;
	w->process = first.n_fds ? fd : -1;
	if (w->kind == NNB__PORTERS && w->process >= 0) { /* it is never killed */
		close(w->process);
		w->process = -1;
	}
	return true;
}

/* Receive the answer, and before it the first message of a worker. 0, or as packet_await. */
static int answer_await(struct nnb__worker *w, struct nnb__packet *in, const struct nnb__errand_wait *wait,
                        uint64_t until)
{
	for (;;) {
		int r = packet_await(w, wait, until);

		if (r)
			return r;
		if (w->pid)
			return nnb__packet_receive(w->sock, in, MSG_DONTWAIT) >=
			                       (ssize_t)sizeof(struct nnb__errand_answer)
			               ? 0
			               : -EIO;
		if (!worker_greet(w))
			return -EIO;
	}
}

/* No answer of the porter @w can come from now on. Receive the one that came before, as answer_await does. */
static bool answered_late(struct nnb__worker *w, struct nnb__packet *in)
{
	shutdown(w->sock, SHUT_RD);
	return (w->pid || worker_greet(w)) &&
	       nnb__packet_receive(w->sock, in, MSG_DONTWAIT) >= (ssize_t)sizeof(struct nnb__errand_answer);
}

static uint64_t limit_of(const struct nnb__errand_wait *wait)
{
	uint64_t now = nnb__now();

	return wait->limit_ns < UINT64_MAX - now ? now + wait->limit_ns : UINT64_MAX;
}

/* What comes with an answer. */
struct spoils {
	struct iovec parts[3];
	unsigned n_parts;
	int *fds;
	uint32_t n_fds;          /* as in struct nnb__packet */
	bool begun;              /* a worker had the errand */
	const uint32_t *numbers; /* the first part: by which the porter keeps these files, or NNB__NOT_KEPT */
};

/* @files came with an answer of the porter @w, or were sent and are lost. */
static void files_keep(const struct nnb__worker *w, struct spoils *s, uint32_t files)
{
	for (uint32_t i = 0; i < files; i++) {
		const uint32_t number = s->numbers[i];

		if (number == NNB__NOT_KEPT || !w->keeper)
			continue;
		if (i < s->n_fds)
			nnb__kept_add(w->keeper, s->fds[i],
			              number); /* without memory, it is kept until the porter ends */
		else
			nnb__keeper_tell(w->keeper, number);
	}
}

/* Wait for the answer of @w to a call that was sent, and give the worker back. */
static struct nnb__errand_answer errand_end(struct nnb__errands *e, struct nnb__worker *w, uint32_t call,
                                            struct spoils *s, const struct nnb__errand_wait *wait, uint64_t until)
{
	struct nnb__errand_answer a = { .result = -EIO };
	struct nnb__packet in = { .parts = { { &a, sizeof(a) }, s->parts[0], s->parts[1], s->parts[2] },
		                  .n_parts = 1 + s->n_parts,
		                  .fds = s->fds,
		                  .n_fds = s->n_fds };
	const uint32_t most = s->n_fds;
	int r = answer_await(w, &in, wait, until);
	bool answers = !r || (w->kind == NNB__PORTERS && (r == -ETIMEDOUT || r == -ECANCELED) && answered_late(w, &in));
	bool is_stuck;

	s->n_fds = answers ? in.n_fds : 0;
	if (answers && a.files && a.files <= most)
		files_keep(w, s, a.files);
	if (!answers)
		a = (struct nnb__errand_answer){ .result = r };
	if (s->n_fds < a.files)
		a.lost = true; /* this process had no room for all of them */
	is_stuck = call == NNB__ERRAND_TRY && (r == -ETIMEDOUT || r == -ECANCELED) && worker_is_stuck(w);
	if (is_stuck)
		a.blocked_ns = nnb__now() - w->began;
	/* A porter that has answered late, with nothing to close, would wait for another errand: it is ended. */
	nnb__place_give(e, w, answers && r && !a.refused ? -EIO : r, a.refused, is_stuck);
	return a;
}

static enum nnb__worker_kind kind_of(uint32_t call)
{
	return call == NNB__ERRAND_TRY ? NNB__TRIERS : call >= NNB__ERRAND_HOLD ? NNB__PORTERS : NNB__CALLERS;
}

/* Have a worker make the call. @data: what it writes. The answer; a->result is -errno as in the header. */
static struct nnb__errand_answer errand_run(struct nnb__errands *e, struct nnb__errand_request q, int fd, void *data,
                                            struct spoils *s, const struct nnb__errand_wait *wait)
{
	struct nnb__packet out = { .parts = { { &q, sizeof(q) }, { data, data ? q.n : 0 } },
		                   .n_parts = data ? 2 : 1,
		                   .fds = &fd,
		                   .n_fds = 1 };
	uint64_t until = limit_of(wait);
	struct nnb__worker *w;
	int r;

	assert(q.n <= NNB__ERRAND_BYTES);
	r = nnb__place_take(e, kind_of(q.call), wait, until, &w);
	s->begun = !r;
	if (!r && nnb__packet_send(w->sock, &out, MSG_DONTWAIT)) {
		r = -EIO;
		nnb__place_give(e, w, r, false, false);
	}
	if (!r)
		return errand_end(e, w, q.call, s, wait, until);
	s->n_fds = 0;
	return (struct nnb__errand_answer){ .result = r };
}

/* Have a worker make the call, or make it here. */
static struct nnb__errand_answer call_run(struct nnb__errands *e, struct nnb__errand_request q, int fd, void *data,
                                          const struct nnb__errand_wait *wait)
{
	struct spoils s = { .parts = { { data, q.n } }, .n_parts = q.call == NNB__ERRAND_READ };

	assert(q.n <= NNB__ERRAND_BYTES);
	return e ? errand_run(e, q, fd, q.call == NNB__ERRAND_WRITE ? data : NULL, &s, wait)
	         : nnb__errand_make(&q, fd, data);
}

/* ---- errands ---- */

int nnb__errand_try(struct nnb__errands *e, int fd, const struct nnb__errand_wait *wait, uint64_t *ret_blocked_ns)
{
	struct nnb__errand_answer a =
		call_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_TRY }, fd, NULL, wait);

	*ret_blocked_ns = a.blocked_ns;
	return (int)a.result;
}

int nnb__errand_try_begin(struct nnb__errands *e, int fd)
{
	const struct nnb__errand_wait none = { 0 };
	struct nnb__errand_request q = { .call = NNB__ERRAND_TRY };
	struct nnb__packet out = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };
	struct nnb__worker *w;
	int r = nnb__place_take(e, NNB__TRIERS, &none, 0, &w);

	if (r)
		return r;
	if (!nnb__packet_send(w->sock, &out, MSG_DONTWAIT))
		return nnb__place_number(e, w);
	nnb__place_give(e, w, -EIO, false, false);
	return -EIO;
}

bool nnb__errand_try_has_ended(struct nnb__errands *e, int trial)
{
	struct nnb__worker *w = nnb__place_worker(e, trial);
	struct pollfd p = { .fd = w->sock, .events = POLLIN };

	assert(w->state == NNB__WORKER_BUSY);
	while (poll(&p, 1, 0) > 0)
		if (w->pid || !worker_greet(w))
			return true;
	return false;
}

int nnb__errand_try_end(struct nnb__errands *e, int trial, const struct nnb__errand_wait *wait,
                        uint64_t *ret_blocked_ns)
{
	struct nnb__worker *w = nnb__place_worker(e, trial);
	struct spoils none = { 0 };
	struct nnb__errand_answer a = errand_end(e, w, NNB__ERRAND_TRY, &none, wait, limit_of(wait));

	*ret_blocked_ns = a.blocked_ns;
	return (int)a.result;
}

int nnb__errand_seal(struct nnb__errands *e, int fd, int seals, const struct nnb__errand_wait *wait)
{
	return (int)call_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_SEAL, .at = (uint64_t)seals }, fd,
	                     NULL, wait)
	        .result;
}

int nnb__errand_truncate(struct nnb__errands *e, int fd, uint64_t bytes, const struct nnb__errand_wait *wait)
{
	return (int)call_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_TRUNCATE, .at = bytes }, fd, NULL,
	                     wait)
	        .result;
}

int nnb__errand_size(struct nnb__errands *e, int fd, const struct nnb__errand_wait *wait, uint64_t *ret)
{
	struct nnb__errand_answer a =
		call_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_SIZE }, fd, NULL, wait);

	if (a.result < 0)
		return (int)a.result;
	*ret = (uint64_t)a.result;
	return 0;
}

int nnb__errand_hold(struct nnb__errands *e, int sock, const struct nnb__errand_wait *wait)
{
	struct spoils none = { 0 };
	int r = (int)errand_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_HOLD }, sock, NULL, &none, wait)
	                .result;

	return r == -ETIMEDOUT && !none.begun ? -EAGAIN : r;
}

int nnb__errand_empty(struct nnb__errands *e, int sock, const struct nnb__errand_wait *wait)
{
	struct spoils none = { 0 };

	return (int)errand_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_EMPTY }, sock, NULL, &none, wait)
	        .result;
}

ssize_t nnb__errand_receive(struct nnb__errands *e, int sock, const struct nnb__errand_wait *wait,
                            struct nnb__delivery *d)
{
	uint32_t numbers[NNB__ARRIVAL_FDS];
	struct spoils s = { .parts = { { numbers, d->n_fds * sizeof(numbers[0]) }, d->parts[0], d->parts[1] },
		            .n_parts = 3,
		            .fds = d->fds,
		            .n_fds = d->n_fds,
		            .numbers = numbers };
	struct nnb__errand_answer a;

	assert(d->n_fds <= NNB__ARRIVAL_FDS);
	a = errand_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_RECEIVE, .n = d->n_fds }, sock, NULL, &s,
	               wait);
	d->n_fds = s.n_fds;
	d->lost = a.lost;
	d->stays = !s.begun && a.result == -ETIMEDOUT;
	/* a porter has more room than the caller may have */
	return a.result > (int64_t)(d->parts[0].iov_len + d->parts[1].iov_len) ? -EMSGSIZE : a.result;
}

ssize_t nnb__errand_read(struct nnb__errands *e, int fd, uint64_t at, void *data, size_t n,
                         const struct nnb__errand_wait *wait)
{
	return call_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_READ, .at = at, .n = (uint32_t)n }, fd,
	                data, wait)
	        .result;
}

ssize_t nnb__errand_write(struct nnb__errands *e, int fd, uint64_t at, const void *data, size_t n,
                          const struct nnb__errand_wait *wait)
{
	/* the worker has the data in its own memory: nothing here changes them */
	return call_run(e, (struct nnb__errand_request){ .call = NNB__ERRAND_WRITE, .at = at, .n = (uint32_t)n }, fd,
	                (void *)(uintptr_t)data, wait)
	        .result;
}

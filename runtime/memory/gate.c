/*
 * gate.c -- bounds how long the files of one app can make the other apps of a service wait.
 *
 * BOUND     A call is slow if it slept, and kept the process's memory map for SLOW_NS or more. The first slow call of
 *           an app costs the others what it takes, and makes the app suspected for SUSPECTED_NS. Before each map and
 *           unmap of a suspected app, another process maps and unmaps the file. If that takes long, the file's lock
 *           is held: a map is refused, and an unmap is left to the reaper, which tries again later. The lock may be
 *           taken between the trial and the call. Such a call is slow, too: then nothing of the app is mapped or
 *           unmapped for COST times as long, and for twice as many times after each further one (up to COST <<
 *           STRIKES_MAX). So the others wait for one call in SUSPECTED_NS without a slow one, and for a COST-th of
 *           the time while an app goes on.
 * CONCURRENCY  Any thread. A gate's turn is held during one map or unmap of its app, with its trial, and orders the
 *           gate's socket. So of an app one thread at a time is in the kernel, and those behind it see what it
 *           found. Nothing waits for a turn but threads of that app, and the reaper. The lock of the list guards the
 *           list of gates, their references, and the list of what is to be unmapped; it is held for no system call
 *           but close and what malloc does. Times of gates are atomic, because a signal handler changes them, too
 *           (tear.c; it interrupts no holder of the list's lock), and are hints: relaxed.
 *           The calls of all gates exclude each other in the kernel, by the lock on the memory map, and get it about
 *           in the order in which they began. So a call is charged for the time since it began, and since each call
 *           of other gates that began before it ended; and for nothing while such a call has not ended: it may have
 *           had the lock, and have no cpu to tell so. So who waited behind a slow call is not taken for a slow one.
 * PROCESSES  The prober is forked when the service has mapped no file of an app, and starts a worker for each
 *           suspected app, on a socket of its own. A worker that waits for a file's lock keeps nobody else; the next
 *           trial of its app fails while it has not answered. The prober and the workers end with the service's ends
 *           of their sockets.
 * CRASH     Without a prober or a worker, every trial fails: suspected apps map nothing, the others are unaffected.
 * TRUST     The file may change or be cut at any time: a worker touches no page of it.
 */
#include "memory/gate.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/close.h"
#include "base/sys.h"

enum {
	SLOW_NS = 5 * 1000 * 1000,      /* a call that keeps the memory map for so long is slow */
	TRIAL_NS = 2 * 1000 * 1000,     /* a trial that sleeps for so long finds the file's lock held */
	TRIAL_WAIT_MS = 2000,           /* for a worker's answer, which may have to wait for a cpu */
	REFUSED_NS = 250 * 1000 * 1000, /* after a trial that failed */
	REAP_NS = 50 * 1000 * 1000,     /* between two rounds of the reaper */
	COST = 50,                      /* of the time that a slow call of a suspected app took */
	STRIKES_MAX = 5
};
#define SUSPECTED_NS (UINT64_C(600) * 1000 * 1000 * 1000)

struct nnb__gate {
	struct nnb__gate *next;
	uint32_t key;
	uint64_t refs; /* with one for each mapping that waits for the reaper; under the list's lock */

	pthread_mutex_t turn;
	int worker;     /* the socket of its worker; -1: none. Under the turn */
	bool awaited;   /* the worker has not answered yet. Under the turn */
	uint64_t delay; /* delay_of, before the call that is under way. Under the turn */
	uint64_t slept; /* sleeps_of_thread, before the call that is under way. Under the turn */
	uint64_t late;  /* mappings that wait for the reaper; under the list's lock */

	_Atomic uint64_t suspected_until, refused_until;
	_Atomic uint32_t strikes;              /* slow calls since the app is suspected */
	_Atomic uint64_t now_since;            /* when the call that is under way began; 0: none is */
	_Atomic uint64_t last_since, last_end; /* of the call before */
};

/* A mapping that waits for the reaper. */
struct late {
	struct late *next;
	struct nnb__gate *gate;
	void *start;
	size_t bytes;
	int fd;
};

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some_late = PTHREAD_COND_INITIALIZER;
static struct nnb__gate *gates;
static struct late *lates;
static int prober = -1; /* written once, before any gate exists */
static atomic_bool leaving;
static _Atomic uint64_t mapped;
static _Thread_local struct nnb__gate *mine;

/* ---- the processes that try ---- */

static int fd_send(int sock, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = {
			      .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) } };
	char byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Returns the fd, or -1 at the end of the socket. */
static int fd_receive(int sock)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t n;
	int fd;

	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0 || m.msg_controllen < CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/*
 * A worker: for each file, answer whether it could be mapped and unmapped without a wait. Time in which the process
 * was ready and had no cpu is none.
 */
static _Noreturn void worker_run(int sock)
{
	int fd;

	while ((fd = fd_receive(sock)) >= 0) {
		uint64_t delay = nnb__cpu_delay(), began = nnb__now(), slept;
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		void *p = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
		char is_free = p != MAP_FAILED && !munmap(p, page);

		slept = nnb__now() - began;
		delay = delay == UINT64_MAX ? 0 : nnb__cpu_delay() - delay;
		slept -= delay < slept ? delay : slept;
		is_free = is_free && slept < TRIAL_NS;
		close(fd);
		if (send(sock, &is_free, 1, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* The prober: start a worker on each socket that comes. */
static _Noreturn void prober_run(int sock)
{
	int fd;

	while ((fd = fd_receive(sock)) >= 0) {
		if (!fork()) {
			close(sock);
			worker_run(fd);
		}
		close(fd);
	}
	_exit(0);
}

int nnb__prober_start(int *ret)
{
	int pair[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		r = -errno;
		close(pair[0]);
		close(pair[1]);
		return r;
	}
	if (!pid) {
		struct sigaction ignored = { .sa_handler = SIG_IGN };

		sigaction(SIGCHLD, &ignored, NULL); /* no worker is waited for */
		prctl(PR_SET_NAME, "nnburstd-prober");
		if (dup2(pair[1], 3) != 3)
			_exit(1);
		syscall(SYS_close_range, 4U, ~0U, 0U);
		for (int fd = 0; fd < 3; fd++)
			close(fd); /* whoever reads what the service prints waits for no worker */
		if (dup(3) < 0 || dup(3) < 0 || dup(3) < 0) /* no file of an app gets these numbers */
			_exit(1);
		prober_run(3);
	}
	close(pair[1]);
	*ret = pair[0];
	return 0;
}

/* Have a worker for @g. Its turn is held. */
static bool worker_have(struct nnb__gate *g)
{
	int pair[2];

	if (g->worker >= 0)
		return true;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	if (fd_send(prober, pair[1])) {
		close(pair[0]);
		close(pair[1]);
		return false;
	}
	close(pair[1]);
	g->worker = pair[0];
	g->awaited = false;
	return true;
}

static void worker_drop(struct nnb__gate *g)
{
	if (g->worker >= 0)
		close(g->worker);
	g->worker = -1;
	g->awaited = false;
}

/* Take the worker's answer: 1 or 0, or -1: there is none yet. Its turn is held. */
static int worker_answer(struct nnb__gate *g, int wait_ms)
{
	struct pollfd p = { .fd = g->worker, .events = POLLIN };
	char is_free;
	int r;

	do
		r = poll(&p, 1, wait_ms);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return -1;
	if (recv(g->worker, &is_free, 1, MSG_DONTWAIT) != 1) {
		worker_drop(g); /* it has ended */
		return 0;
	}
	g->awaited = false;
	return is_free;
}

/* Whether the lock of @fd's file is free, as far as another process can find out. The turn of @g is held. */
static bool file_is_free(struct nnb__gate *g, int fd)
{
	if (fd < 0 || !worker_have(g) || (g->awaited && worker_answer(g, 0) < 0) || !worker_have(g))
		return false;
	if (fd_send(g->worker, fd)) {
		worker_drop(g);
		return false;
	}
	g->awaited = true;
	return worker_answer(g, TRIAL_WAIT_MS) == 1;
}

/* ---- times ---- */

static bool gate_suspects(const struct nnb__gate *g)
{
	return nnb__now() < atomic_load_explicit(&g->suspected_until, memory_order_relaxed);
}

bool nnb__gate_refuses(const struct nnb__gate *g)
{
	uint64_t until = g ? atomic_load_explicit(&g->refused_until, memory_order_relaxed) : 0;

	return until && nnb__now() < until;
}

static void refuse_until(struct nnb__gate *g, uint64_t until)
{
	if (atomic_load_explicit(&g->refused_until, memory_order_relaxed) < until)
		atomic_store_explicit(&g->refused_until, until, memory_order_relaxed);
}

/* For how long a call of @g had the memory map that began at @began and ended at @now; at most. */
static uint64_t had_map(const struct nnb__gate *g, uint64_t began, uint64_t now)
{
	uint64_t from = began;

	if (now - began < SLOW_NS)
		return now - began;
	pthread_mutex_lock(&list);
	for (const struct nnb__gate *other = gates; other; other = other->next) {
		uint64_t since = atomic_load_explicit(&other->now_since, memory_order_relaxed);
		uint64_t end = atomic_load_explicit(&other->last_end, memory_order_relaxed);

		if (other == g)
			continue;
		if (since && since < began)
			from = now;
		if (atomic_load_explicit(&other->last_since, memory_order_relaxed) < began && end > from)
			from = end;
	}
	pthread_mutex_unlock(&list);
	return from < now ? now - from : 0;
}

/*
 * A call of @g that began at @began has ended. @delay: for how long this thread had been ready without a cpu by then;
 * 0: not known.
 */
static void gate_charge(struct nnb__gate *g, uint64_t began, uint64_t delay)
{
	uint64_t now = nnb__now(), delay_ns = delay ? nnb__cpu_delay() - delay : 0, had = had_map(g, began, now), cost;

	had -= delay_ns < had ? delay_ns : had;
	if (had < SLOW_NS)
		return;
	if (gate_suspects(g)) {
		uint32_t strikes = atomic_fetch_add_explicit(&g->strikes, 1, memory_order_relaxed);

		cost = had * COST << (strikes < STRIKES_MAX ? strikes : STRIKES_MAX);
		refuse_until(g, now + cost);
		now += cost;
	} else {
		atomic_store_explicit(&g->strikes, 0, memory_order_relaxed);
	}
	atomic_store_explicit(&g->suspected_until, now + SUSPECTED_NS, memory_order_relaxed);
}

void nnb__gate_charge(struct nnb__gate *g, uint64_t began)
{
	if (g)
		gate_charge(g, began, 0);
}

/* ---- calls ---- */

/* How long this thread has been without a cpu. Asked only of suspected apps, because it costs a system call. */
static uint64_t delay_of(const struct nnb__gate *g)
{
	uint64_t delay = gate_suspects(g) ? nnb__cpu_delay() : UINT64_MAX;

	return delay == UINT64_MAX ? 0 : delay;
}

/* How often this thread has slept. A call that was only interrupted on a busy cpu has not waited for a file. */
static uint64_t sleeps_of_thread(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : (uint64_t)usage.ru_nvcsw;
}

/* The turn of @g is held, from before call_begin to after call_end. Returns the time. */
static uint64_t call_begin(struct nnb__gate *g)
{
	uint64_t now;

	g->delay = delay_of(g);
	g->slept = sleeps_of_thread();
	now = nnb__now();
	atomic_store_explicit(&g->now_since, now, memory_order_relaxed);
	return now;
}

static void call_end(struct nnb__gate *g, uint64_t began)
{
	if (sleeps_of_thread() != g->slept)
		gate_charge(g, began, g->delay);
	atomic_store_explicit(&g->last_since, began, memory_order_relaxed);
	atomic_store_explicit(&g->last_end, nnb__now(), memory_order_relaxed);
	atomic_store_explicit(&g->now_since, 0, memory_order_relaxed);
}

static uint64_t late_of(struct nnb__gate *g)
{
	uint64_t n;

	pthread_mutex_lock(&list);
	n = g->late;
	pthread_mutex_unlock(&list);
	return n;
}

int nnb__gate_open(struct nnb__gate *g, int fd, uint64_t *ret_began)
{
	if (!g)
		return 0;
	pthread_mutex_lock(&g->turn);
	if (gate_suspects(g)) {
		bool waits = nnb__gate_refuses(g) || late_of(g); /* not prolonged by asking again */

		if (waits || !file_is_free(g, fd)) {
			if (!waits)
				refuse_until(g, nnb__now() + REFUSED_NS);
			pthread_mutex_unlock(&g->turn);
			return -EBUSY;
		}
	}
	*ret_began = call_begin(g);
	return 0;
}

void nnb__gate_close(struct nnb__gate *g, uint64_t began, unsigned more)
{
	if (!g)
		return;
	call_end(g, began);
	atomic_fetch_add_explicit(&mapped, more, memory_order_relaxed);
	pthread_mutex_unlock(&g->turn);
}

/* The turn of @g is held. */
static void unmap_now(struct nnb__gate *g, void *start, size_t bytes)
{
	uint64_t began = call_begin(g);

	munmap(start, bytes);
	call_end(g, began);
	atomic_fetch_sub_explicit(&mapped, 1, memory_order_relaxed);
}

/* Leave the mapping to the reaper. False: no memory. */
static bool unmap_later(struct nnb__gate *g, void *start, size_t bytes, int fd)
{
	struct late *l = malloc(sizeof(*l));

	if (!l)
		return false;
	*l = (struct late){ .gate = g, .start = start, .bytes = bytes, .fd = fd };
	pthread_mutex_lock(&list);
	g->refs++;
	g->late++;
	l->next = lates;
	lates = l;
	pthread_cond_signal(&some_late);
	pthread_mutex_unlock(&list);
	return true;
}

static void file_close(int fd)
{
	if (fd >= 0)
		nnb__close(fd);
}

void nnb__gate_unmap(struct nnb__gate *g, void *start, size_t bytes, int fd)
{
	bool later = false;

	if (!g) {
		munmap(start, bytes);
		file_close(fd);
		return;
	}
	if (atomic_load_explicit(&leaving, memory_order_relaxed)) {
		file_close(fd);
		return;
	}
	if (nnb__gate_refuses(g) && unmap_later(g, start, bytes, fd)) /* without a wait for the turn */
		return;
	pthread_mutex_lock(&g->turn);
	if (gate_suspects(g) && (nnb__gate_refuses(g) || late_of(g) || !file_is_free(g, fd)))
		later = unmap_later(g, start, bytes, fd);
	if (!later)
		unmap_now(g, start, bytes);
	pthread_mutex_unlock(&g->turn);
	if (!later)
		file_close(fd);
}

/* ---- the reaper ---- */

/* Unmap @l, if its app need not wait and its file's lock is free. */
static bool late_unmap(struct late *l)
{
	struct nnb__gate *g = l->gate;
	bool done = false;

	if (nnb__gate_refuses(g) || pthread_mutex_trylock(&g->turn))
		return false;
	if (file_is_free(g, l->fd)) {
		unmap_now(g, l->start, l->bytes);
		done = true;
	} else {
		refuse_until(g, nnb__now() + REFUSED_NS);
	}
	pthread_mutex_unlock(&g->turn);
	if (done)
		file_close(l->fd);
	return done;
}

static void *reap(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&list);
	for (;;) {
		struct late *taken = lates, *kept = NULL;

		lates = NULL;
		pthread_mutex_unlock(&list);
		while (taken && !atomic_load_explicit(&leaving, memory_order_relaxed)) {
			struct late *l = taken;

			taken = l->next;
			if (late_unmap(l)) {
				pthread_mutex_lock(&list);
				l->gate->late--;
				pthread_mutex_unlock(&list);
				nnb__gate_unref(l->gate);
				free(l);
			} else {
				l->next = kept;
				kept = l;
			}
		}
		pthread_mutex_lock(&list);
		while (kept) {
			struct late *l = kept;

			kept = l->next;
			l->next = lates;
			lates = l;
		}
		if (lates) {
			pthread_mutex_unlock(&list);
			usleep(REAP_NS / 1000);
			pthread_mutex_lock(&list);
		}
		while (!lates)
			pthread_cond_wait(&some_late, &list);
	}
	return NULL;
}

/* ---- gates ---- */

int nnb__gates_begin(int sock)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	if (prober >= 0)
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = -pthread_create(&thread, &attr, reap, NULL);
	pthread_attr_destroy(&attr);
	if (!r)
		prober = sock;
	return r;
}

void nnb__gates_leave(void)
{
	atomic_store_explicit(&leaving, true, memory_order_relaxed);
}

uint64_t nnb__gates_mapped(void)
{
	return atomic_load_explicit(&mapped, memory_order_relaxed);
}

static void gate_free(struct nnb__gate *g)
{
	worker_drop(g);
	pthread_mutex_destroy(&g->turn);
	free(g);
}

/* Free the gates that nobody uses, and of which nothing need be remembered. The lock of the list is held. */
static void gates_forget(void)
{
	struct nnb__gate **at = &gates;

	while (*at) {
		struct nnb__gate *g = *at;

		if (g->refs || gate_suspects(g)) {
			at = &g->next;
			continue;
		}
		*at = g->next;
		gate_free(g);
	}
}

struct nnb__gate *nnb__gate_of(uint32_t key)
{
	struct nnb__gate *g;

	if (prober < 0)
		return NULL;
	pthread_mutex_lock(&list);
	for (g = gates; g && g->key != key;)
		g = g->next;
	if (!g) {
		gates_forget();
		g = calloc(1, sizeof(*g));
		if (g) {
			g->key = key;
			g->worker = -1;
			pthread_mutex_init(&g->turn, NULL);
			g->next = gates;
			gates = g;
		}
	}
	if (g)
		g->refs++;
	pthread_mutex_unlock(&list);
	return g;
}

struct nnb__gate *nnb__gate_ref(struct nnb__gate *g)
{
	if (!g)
		return NULL;
	pthread_mutex_lock(&list);
	g->refs++;
	pthread_mutex_unlock(&list);
	return g;
}

struct nnb__gate *nnb__gate_unref(struct nnb__gate *g)
{
	if (!g)
		return NULL;
	pthread_mutex_lock(&list);
	assert(g->refs);
	if (!--g->refs)
		worker_drop(g); /* nobody has its turn */
	pthread_mutex_unlock(&list);
	return NULL;
}

void nnb__gate_enter(struct nnb__gate *g)
{
	mine = g;
}

struct nnb__gate *nnb__gate_mine(void)
{
	return mine;
}

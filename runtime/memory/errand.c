/*
 * errand.c -- calls on an app's file that may wait for ever, made by a process that works for that app alone.
 *
 * BOUND     A caller waits until its limit at most, for a free worker and for the answer. A worker that has not
 *           answered is killed. If a call keeps the worker where no signal ends it, the worker stays and counts
 *           against its app. An app has few workers, and all apps together have a limit. A worker holds no file but
 *           that of its errand. Trials have workers and limits of their own, so that an app that keeps all others at
 *           work, or has left them behind, is tried nevertheless (suspicion.c). Messages with files have workers and
 *           limits of their own, too. Some apps are guaranteed one of each. A porter, which receives messages, also has
 *           the sockets of the app (arrival.c). It is never killed while the service lives, because the service would
 *           be the last one to close them. When its app is gone, a porter shuts its sockets down, takes all out of
 *           their queues, however long that takes, and ends; it counts until then. A porter whose place another app
 *           takes is a former one, and so is one that was left behind and comes back: they stay until their sockets
 *           have been shut down and are empty, and do the same when their app is gone. A former one counts against its
 *           own app, and against a limit of former porters of all apps. Beyond that limit, no porter leaves its place,
 *           and one that comes back counts as left behind. A porter keeps what it has passed until the service has
 *           closed that (base/kept.h).
 * CONCURRENCY  Any thread. One lock guards all workers' records. No thread waits under it: no socket blocks there, and
 *           no file of an app is closed there. A caller whose worker is BUSY uses the socket of that worker without
 *           the lock. The worker has one errand at a time, so its next message is the answer. A thread of its own
 *           closes what is left here of porters that end with their apps.
 * PROCESSES  The prober is forked while the service has one thread and no file of an app. The prober forks a worker for
 *           each socket that it receives, and ignores SIGCHLD, so that no zombie stays. The service's death ends all of
 *           them: by the ends of their sockets, and by the signal that the kernel sends when a parent dies, because
 *           a thread that never ends keeps the sockets of a dead process open. A worker ends with the service's end
 *           of its socket. The prober itself ends when all threads of the service have: until then its workers have
 *           the sockets that these threads close. A service that has closed all of them ends the prober itself.
 *           The prober also has the service's lock file. It looks every 0.2 s whether the main thread of the service
 *           exits, and unlocks the file then: that thread itself may wait for ever for a file that it closes.
 * CRASH     If the prober dies (for lack of memory, say), errands fail: the service cannot fork another one beside its
 *           threads, and calls without a limit would be worse.
 * TRUST     The file may be anything, and change at any time. A worker touches no page of it.
 */
#include "memory/errand.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kept.h"
#include "base/lock.h"
#include "base/sys.h"
#include "memory/arrival.h"

#define SLICE_NS UINT64_C(20000000) /* between two questions whether the caller still wants the answer */

enum { STUCK_LOOKS = 3, STUCK_LOOK_US = 1000 };
#define CLOSE_NS UINT64_C(1000000000)   /* for refused files; then it is left behind */
#define GOING_LOOK_NS UINT64_C(1000000) /* between two looks whether a porter that is about to end has ended */
#define STUCK_NS UINT64_C(10000000000)  /* what was killed and has not ended for so long has not only no cpu */

enum { REAP_US = 5000 }; /* between two looks whether porters have ended whose apps are gone */

enum { PROBER_SOCK = 3 };       /* the prober's end of its socket */
enum { SERVICE_LOOK_MS = 200 }; /* between two looks of the prober whether the service exits */
enum { STOP_WAITS = 200, STOP_WAIT_US = 1000 };
/* What the prober receives: a descriptor for that, or of that, which it ends after; or the service ends soon. */
enum { A_WORKER, A_LOCK, A_PROCESS, THE_END };

enum call { TRY, SEAL, TRUNCATE, SIZE, READ, WRITE, HOLD, RECEIVE, EMPTY, APP, KEEP };

enum { LINGER_LOOK_MS = 50 }; /* between two looks, where there is no memory to wait better */

enum { HEADER_MOST = 64 }; /* what a client's packet may have beside NNB__ERRAND_BYTES */

struct request {
	uint64_t at; /* or the seals, or the size to be */
	uint32_t n;  /* bytes, or the files to receive */
	uint32_t call;
};

struct answer {
	int64_t result;         /* of the call, or -errno */
	uint64_t blocked_ns;    /* of TRY */
	uint32_t lost, refused; /* of RECEIVE: more files came than were wanted; some are refused, and closed now */
	uint32_t files;         /* of RECEIVE: the descriptors with this answer */
};

/*
 * Behind the answer to RECEIVE, for each file that it may bring: the descriptor by which the porter keeps that file
 * (base/kept.h), or this.
 */
#define NOT_KEPT UINT32_MAX

/* A message on a worker's socket: a head, numbers of files, data of up to two parts, and descriptors. */
struct packet {
	struct iovec parts[4];
	unsigned n_parts;
	int *fds;
	uint32_t n_fds; /* to be sent; or the room for those that are received, and then their number */
};

/* ---- packets ---- */

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int) * NNB__ARRIVAL_FDS)];
};

/* 0 or -errno. */
static int packet_send(int sock, struct packet *p, int flags)
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

/* The number of bytes, with the parts and descriptors of @p filled; 0: the socket's end; or -errno. */
static ssize_t packet_receive(int sock, struct packet *p, int flags)
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

/* ---- the calls, in a worker or without one ---- */

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

static struct answer call_make(const struct request *q, int fd, void *data)
{
	struct answer a = { 0 };

	switch (q->call) {
	case TRY:
		a.result = file_try(fd, &a.blocked_ns);
		return a;
	case SIZE:
		a.result = file_size(fd);
		return a;
	case SEAL:
		a.result = fcntl(fd, F_ADD_SEALS, (int)q->at);
		break;
	case TRUNCATE:
		a.result = ftruncate(fd, (off_t)q->at);
		break;
	case READ:
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

/* ---- the processes ---- */

/* Has the messages of its clients, and holds their sockets, and their files. */
static struct nnb__held held;

/*
 * Receive a packet from @client, answer with it, and close what does not stay here: after the answer, because that may
 * wait. What is refused is closed before the next errand all the same, so a second answer tells when that is done.
 * False: the service has ended.
 */
static bool arrival_answer(int sock, const struct request *q, int client, unsigned char *data)
{
	static struct nnb__arrival in;
	static uint32_t numbers[NNB__ARRIVAL_FDS];
	struct answer a;
	struct packet out = { .parts = { { &a, sizeof(a) } }, .n_parts = 1, .fds = in.fds };
	bool sent, delivered;

	nnb__arrival_receive(client, q->n, data, NNB__ERRAND_BYTES + HEADER_MOST, &in);
	if (in.bytes > 0 && !nnb__held_keep(&held, in.is_kept, in.n))
		in.bytes = -EMFILE;
	a = (struct answer){ .result = in.bytes, .lost = in.lost, .refused = in.n_refused > 0 };
	if (in.bytes > 0) {
		for (uint32_t i = 0; i < in.n; i++)
			numbers[i] = in.is_kept[i] ? (uint32_t)in.fds[i] : NOT_KEPT;
		out.parts[out.n_parts++] = (struct iovec){ numbers, q->n * sizeof(numbers[0]) };
		out.parts[out.n_parts++] = (struct iovec){ data, (size_t)in.bytes };
		out.n_fds = a.files = in.n;
	}
	sent = !packet_send(sock, &out, 0);
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
	out = (struct packet){ .parts = { { &a, sizeof(a) } }, .n_parts = 1 };
	return sent && (!in.n_refused || !packet_send(sock, &out, 0));
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

static _Noreturn void worker_run(int sock)
{
	static unsigned char data[NNB__ERRAND_BYTES + HEADER_MOST];
	struct request q = { .n = (uint32_t)getpid() };
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct packet first = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &fd, .n_fds = fd >= 0 };

	if (packet_send(sock, &first, 0))
		_exit(1);
	if (fd >= 0)
		close(fd);
	for (;;) {
		struct packet in = { .parts = { { &q, sizeof(q) }, { data, NNB__ERRAND_BYTES } },
			             .n_parts = 2,
			             .fds = &fd,
			             .n_fds = 1 };
		struct answer a = { 0 };
		struct packet out = { .parts = { { &a, sizeof(a) }, { data, 0 } }, .n_parts = 2 };
		ssize_t n;

		nnb__held_wait(&held, sock);
		n = packet_receive(sock, &in, 0);
		if (n < (ssize_t)sizeof(q) || !in.n_fds || q.n > NNB__ERRAND_BYTES)
			worker_linger(sock);
		if (q.call == APP) {
			gone = fd;
			continue;
		}
		if (q.call == KEEP) {
			nnb__held_begin(&held, fd);
			continue;
		}
		if (q.call == RECEIVE) {
			bool goes_on = arrival_answer(sock, &q, fd, data);

			close(fd); /* it is held, or the service has it */
			if (!goes_on)
				worker_linger(sock);
			continue;
		}
		if (q.call == HOLD) {
			a.result = nnb__held_add(&held, fd);
		} else if (q.call == EMPTY) {
			nnb__line_drain(fd);
			close(fd);
		} else {
			a = call_make(&q, fd, data);
			close(fd); /* before the answer, because it may wait, too */
		}
		if (q.call == READ && a.result > 0)
			out.parts[1].iov_len = (size_t)a.result;
		if (packet_send(sock, &out, 0))
			worker_linger(sock);
	}
}

/* This process gets @signal when @parent, its parent, ends; it ends at once if that has happened already. */
static void die_with(pid_t parent, int signal)
{
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(0);
}

static volatile sig_atomic_t kept_lock = -1; /* in the prober: a duplicate of the service's lock file */
static struct pollfd of_service = { .fd = -1, .events = POLLIN }; /* in the prober: its pidfd */

static void process_await(struct pollfd *of)
{
	while (of->fd >= 0 && poll(of, 1, -1) < 0 && errno == EINTR)
		;
}

/*
 * The service has ended, as far as it can end. Its workers end with the prober: not before all threads of the service
 * have, which close its sockets and files, and the process that unmaps what the service has left mapped, if there is
 * one: its pidfd is in a message that the service has sent before it exited. Called while no message is being received.
 */
static void prober_end(int signal)
{
	char what;
	int fd;
	struct packet in = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	(void)signal;
	if (kept_lock >= 0)
		flock(kept_lock, LOCK_UN);
	process_await(&of_service);
	for (; packet_receive(PROBER_SOCK, &in, MSG_DONTWAIT) > 0; in.n_fds = 1)
		if (in.n_fds && what == A_PROCESS)
			process_await(&(struct pollfd){ .fd = fd, .events = POLLIN });
	_exit(0);
}

static void lock_keep(int fd)
{
	int before = kept_lock;

	kept_lock = fd; /* first: the handler may run at any moment, and unlocks this one */
	if (before >= 0)
		close(before);
}

/*
 * Whether the main thread of the service is exiting. The kernel sends no signal and closes no file before that thread
 * has closed all, and the file of an app can make it wait for ever.
 */
static bool service_exits(pid_t service)
{
	enum { EXITING = 4 }; /* PF_EXITING */
	unsigned long flags = 0;
	char path[64], text[256];
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", service);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')'); /* "PID (NAME) STATE PARENT GROUP SESSION TTY GROUP FLAGS ..." */
	return at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 && flags & EXITING;
}

/* Start a worker on each socket that comes, and keep the last lock file that comes. */
static _Noreturn void prober_run(void)
{
	const struct timespec look = { 0, SERVICE_LOOK_MS * 1000000L };
	const int sock = PROBER_SOCK;
	const pid_t self = getpid(), service = getppid();
	sigset_t none;
	char what;

	of_service.fd = (int)syscall(SYS_pidfd_open, service, 0);
	sigemptyset(&none);
	for (;;) {
		int fd;
		struct packet in = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };
		struct pollfd p = { .fd = sock, .events = POLLIN };

		if (ppoll(&p, 1, &look, &none) <= 0) { /* prober_end runs here only */
			if (service_exits(service))
				prober_end(0);
			continue;
		}
		if (packet_receive(sock, &in, 0) <= 0)
			prober_end(0);
		if (what == THE_END)
			_exit(0);
		if (in.n_fds && what == A_PROCESS) {
			process_await(&(struct pollfd){ .fd = fd, .events = POLLIN });
			prober_end(0);
		}
		if (in.n_fds && what == A_LOCK) {
			lock_keep(fd);
			continue;
		}
		if (in.n_fds && !fork()) {
			die_with(self, SIGKILL);
			lock_keep(-1);
			if (of_service.fd >= 0)
				close(of_service.fd);
			prctl(PR_SET_NAME, "nnburstd-errand");
			if (dup2(fd, sock) < 0)
				_exit(1);
			close(fd);
			worker_run(sock);
		}
		if (in.n_fds)
			close(fd);
	}
}

/*
 * Keep only @sock, as PROBER_SOCK. A program that reads the service's output until its end must not wait for workers,
 * so they do not have that file.
 */
static void descriptors_close(int sock)
{
	int nothing;

	if (dup2(sock, PROBER_SOCK) < 0 || chdir("/"))
		_exit(1);
	syscall(SYS_close_range, PROBER_SOCK + 1U, ~0U, 0U);
	nothing = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++) /* no file of an app gets these numbers */
		if (dup2(nothing < 0 ? PROBER_SOCK : nothing, fd) < 0)
			_exit(1);
	if (nothing > PROBER_SOCK)
		close(nothing);
}

static pid_t prober_pid;

int nnb__prober_start(int *ret)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, ends = { .sa_handler = prober_end };
	const pid_t self = getpid();
	int pair[2], r;
	sigset_t own;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (!pid) {
		sigemptyset(&own);
		sigaddset(&own, SIGUSR2);
		sigaction(SIGUSR2, &ends, NULL);
		sigprocmask(SIG_BLOCK, &own, NULL);
		die_with(self, SIGUSR2);
		sigaction(SIGCHLD, &ignored, NULL); /* no worker is waited for */
		sigaction(SIGXFSZ, &ignored, NULL);
		prctl(PR_SET_NAME, "nnburstd-prober");
		descriptors_close(pair[1]);
		prober_run();
	}
	r = pid < 0 ? -errno : 0;
	sigaction(SIGPIPE, &ignored, NULL); /* a porter that has ended takes no number */
	close(pair[1]);
	if (r) {
		close(pair[0]);
		return r;
	}
	prober_pid = pid;
	*ret = pair[0];
	return 0;
}

int nnb__prober_keep(int sock, int fd)
{
	char what = A_LOCK;
	struct packet p = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	return packet_send(sock, &p, MSG_DONTWAIT);
}

int nnb__prober_follow(int sock, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;
	char what = A_PROCESS;
	struct packet p = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	if (fd < 0)
		return -errno;
	r = packet_send(sock, &p, MSG_DONTWAIT);
	close(fd);
	return r;
}

void nnb__prober_stop(int sock)
{
	char what = THE_END;
	struct packet p = { .parts = { { &what, 1 } }, .n_parts = 1 };

	if (nnb__kept_stays()) /* it ends once the files that its workers keep are unmapped */
		return;
	packet_send(sock, &p, MSG_DONTWAIT);
	for (int waits = 0; waits < STOP_WAITS && !waitpid(prober_pid, NULL, WNOHANG); waits++)
		usleep(STOP_WAIT_US);
}

/* ---- places ---- */

/* CLOSING: it closes files that it has refused, and tells when that is done. */
enum state { NONE, IDLE, BUSY, CLOSING, LEFT };

enum kind { CALLS, TRIALS, PORTERS, KINDS };

struct worker {
	enum state state;
	enum kind kind; /* if it has a process */
	int sock;
	pid_t pid;      /* 0: its first message has not come */
	int process;    /* its pidfd; -1: not known */
	uint64_t began; /* of its last errand, or of its closing */
	bool is_stuck;  /* it slept where no signal ends the sleep when it was left behind. Of trials only */
	bool is_going;  /* its app is gone, and it ends once it has closed all that is left. Of porters only */
	bool is_beyond; /* its app is guaranteed this one: it does not count against the limit of all apps */
	struct nnb__keeper *keeper; /* it keeps files; NULL: it cannot. Of porters only */
};

/* A porter whose place another app has taken, or that was left behind and has come back. */
struct former {
	struct nnb__keeper *keeper; /* NULL: none. It shows whether the porter has ended */
	uint64_t gone;              /* when its app was gone, so that it is about to end; 0: not yet */
};

struct nnb__errands {
	struct former formers[NNB__ERRAND_PORTERS_ALL];
	bool is_guaranteed; /* it may have a process for trials, and a porter, beyond the limits of all apps */
	struct nnb__errands *next;
	uint32_t key;
	uint32_t refs;
	uint64_t unused_at; /* when its app was gone, if refs is 0 */
	int gone; /* an eventfd that its porters have, too, and that is signalled when no one uses this; -1: none yet */
	struct worker workers[NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS + NNB__ERRAND_PORTERS];
};

/* Which workers of an app are of a kind, and how many of these it may leave behind. */
static const struct {
	int first, end;
	unsigned left;
} places[KINDS] = {
	[CALLS] = { 0, NNB__ERRAND_WORKERS, NNB__ERRAND_LEFT },
	[TRIALS] = { NNB__ERRAND_WORKERS, NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS, NNB__ERRAND_TRIERS },
	[PORTERS] = { NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS,
	              NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS + NNB__ERRAND_PORTERS, NNB__ERRAND_PORTERS },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of this */
static pthread_cond_t some_idle = PTHREAD_COND_INITIALIZER;
static struct nnb__errands *all;
static unsigned n_workers[KINDS], workers_most[KINDS]; /* of all apps, without those that are beyond */
static unsigned n_formers, formers_most;               /* of all apps */
static unsigned n_guaranteed, guaranteed_most;         /* apps, without those that are always guaranteed */
static uint32_t always[NNB__ERRAND_ALWAYS];            /* keys of apps that are always guaranteed */
static unsigned n_always;
static int prober = -1; /* written once, before any errands exist */

static _Thread_local struct nnb__errands *mine;

void nnb__errands_begin(int sock, unsigned workers)
{
	pthread_mutex_lock(&lock);
	if (prober < 0) {
		prober = sock;
		workers_most[CALLS] = workers;
		workers_most[TRIALS] = workers / 2 > NNB__ERRAND_TRIERS ? workers / 2 : NNB__ERRAND_TRIERS;
		workers_most[PORTERS] = 2 * workers;
		formers_most = workers_most[PORTERS];
	}
	pthread_mutex_unlock(&lock);
}

void nnb__errands_guarantee(unsigned apps, const uint32_t *keys, unsigned n)
{
	assert(n <= NNB__ERRAND_ALWAYS);
	pthread_mutex_lock(&lock);
	if (!guaranteed_most && !n_always) {
		guaranteed_most = apps;
		n_always = n;
		for (unsigned i = 0; i < n; i++)
			always[i] = keys[i];
	}
	pthread_mutex_unlock(&lock);
}

/* The lock is held. */
static void worker_end(struct worker *w)
{
	assert(nnb__is_locked(&lock) && (w->is_beyond || n_workers[w->kind]));
	n_workers[w->kind] -= !w->is_beyond;
	close(w->sock);
	if (w->process >= 0)
		close(w->process);
	nnb__keeper_unref(w->keeper);
	*w = (struct worker){ .state = NONE, .sock = -1, .process = -1 };
}

/* A worker has all its sockets closed once it has ended, however long that takes. */
static bool worker_has_ended(const struct worker *w)
{
	struct pollfd p = { .fd = w->sock };

	return poll(&p, 1, 0) > 0;
}

/* Forget the former porters that have ended. Returns the number of the others, and *ret_left: that count. Locked. */
static unsigned formers_left(struct nnb__errands *e, unsigned *ret_left)
{
	unsigned n = 0;

	assert(nnb__is_locked(&lock));
	*ret_left = 0;
	for (int i = 0; i < NNB__ERRAND_PORTERS_ALL; i++) {
		struct former *f = &e->formers[i];

		if (f->keeper && nnb__keeper_has_ended(f->keeper)) {
			f->keeper = nnb__keeper_unref(f->keeper);
			n_formers--;
		}
		n += f->keeper != NULL;
		*ret_left += f->keeper && f->gone && nnb__now() - f->gone >= CLOSE_NS;
	}
	return n;
}

/*
 * The service has no more errands for the porter @w of @e, which stays until it holds nothing. False: there is no room
 * for another former porter. The lock is held.
 */
static bool former_add(struct nnb__errands *e, const struct worker *w)
{
	int i = 0;

	assert(nnb__is_locked(&lock));
	if (!w->keeper || nnb__keeper_has_ended(w->keeper))
		return true;
	if (n_formers >= formers_most)
		return false;
	while (i < NNB__ERRAND_PORTERS_ALL && e->formers[i].keeper)
		i++;
	assert(i < NNB__ERRAND_PORTERS_ALL); /* porter_fits */
	e->formers[i] = (struct former){ .keeper = nnb__keeper_ref(w->keeper), .gone = e->refs ? 0 : nnb__now() };
	n_formers++;
	return true;
}

/*
 * The service has no more errands for @w, which has ended, or does so once it holds nothing: its place is free, unless
 * it has no room among the former porters. The lock is held.
 */
static void worker_retire(struct nnb__errands *e, struct worker *w)
{
	if (w->kind != PORTERS || former_add(e, w)) {
		worker_end(w);
		return;
	}
	w->state = LEFT;
	shutdown(w->sock, SHUT_RDWR);
}

/*
 * Leave @w behind. One that holds sockets of the app is not killed: the service would be the last one to close them.
 * The lock is held.
 */
static void worker_leave(struct nnb__errands *e, struct worker *w)
{
	char byte;

	assert(nnb__is_locked(&lock));
	w->state = LEFT;
	if (w->kind != PORTERS && w->process >= 0)
		syscall(SYS_pidfd_send_signal, w->process, SIGKILL, NULL, 0);
	/*
	 * One that has not begun yet ends after this errand. An answer of a porter would stay in the queue with its
	 * files, so it cannot come any more; then the porter ends, too. One that has just sent its second answer, which
	 * has no files, waits for the end of its socket.
	 */
	shutdown(w->sock, w->kind == PORTERS ? SHUT_RD : SHUT_WR);
	if (w->kind == PORTERS && recv(w->sock, &byte, 1, MSG_DONTWAIT) > 0)
		worker_retire(e, w);
}

/*
 * Whether @w, which was left behind, counts against its app. One that has made a trial was killed soon, and may only
 * have had no cpu to end: that is no fault of the app. Nor is it that a porter whose app was gone is about to end.
 */
static bool worker_counts(const struct worker *w)
{
	uint64_t grace;

	if (w->state != LEFT)
		return false;
	grace = w->kind == TRIALS && !w->is_stuck ? STUCK_NS : w->is_going ? CLOSE_NS : 0;
	return !grace || nnb__now() - w->began >= grace;
}

/* Forget the workers of a kind that were left behind and have ended. Returns the number of the others. Locked. */
static unsigned left_behind(struct nnb__errands *e, enum kind kind)
{
	unsigned n = 0;

	assert(nnb__is_locked(&lock));
	for (int i = places[kind].first; i < places[kind].end; i++) {
		if (e->workers[i].state == LEFT && worker_has_ended(&e->workers[i]))
			worker_retire(e, &e->workers[i]);
		n += e->workers[i].state == LEFT;
	}
	return n;
}

/* Whether @e may have another porter, with those whose places other apps have taken. The lock is held. */
static bool porter_fits(struct nnb__errands *e)
{
	unsigned left, n = formers_left(e, &left);

	for (int i = places[PORTERS].first; i < places[PORTERS].end; i++)
		n += e->workers[i].state != NONE;
	return n < NNB__ERRAND_PORTERS_ALL;
}

/* Whether the app @key is guaranteed its own workers, whichever come before. The lock is held. */
static bool is_always(uint32_t key)
{
	bool is = false;

	assert(nnb__is_locked(&lock));
	for (unsigned i = 0; i < n_always; i++)
		is |= always[i] == key;
	return is;
}

/* Another app may be guaranteed now what @e was. The lock is held. */
static void guarantee_end(struct nnb__errands *e)
{
	n_guaranteed -= e->is_guaranteed && !is_always(e->key);
	e->is_guaranteed = false;
}

/* Free the errands that no one uses and that have left nothing behind. The lock is held. */
static void errands_forget(void)
{
	struct nnb__errands **at = &all;

	assert(nnb__is_locked(&lock));
	while (*at) {
		struct nnb__errands *e = *at;
		unsigned left = left_behind(e, CALLS) + left_behind(e, TRIALS) + left_behind(e, PORTERS), none;

		/* after those that were left behind, which may become former ones */
		if (left + formers_left(e, &none) || e->refs) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		guarantee_end(e);
		free(e);
	}
}

/* Take the second answer of @w, which closes files; or leave it behind, if that takes long. The lock is held. */
static void worker_closes(struct nnb__errands *e, struct worker *w)
{
	struct answer a;
	struct packet p = { .parts = { { &a, sizeof(a) } }, .n_parts = 1 };
	ssize_t n = packet_receive(w->sock, &p, MSG_DONTWAIT);

	assert(nnb__is_locked(&lock));
	if (n > 0)
		w->state = IDLE;
	else if (n != -EAGAIN)
		worker_retire(e, w);
	else if (nnb__now() - w->began >= CLOSE_NS)
		worker_leave(e, w);
}

/*
 * No one uses @w any more. A porter closes what is in the queues of its app's sockets before it ends, and counts until
 * then: against the limit of all apps, whether its app is guaranteed one or not. The lock is held.
 */
static void worker_dismiss(struct nnb__errands *e, struct worker *w)
{
	if (w->state == CLOSING)
		worker_closes(e, w);
	if (w->state == CLOSING)
		worker_leave(e, w);
	if (w->state == IDLE && w->kind == PORTERS) {
		n_workers[PORTERS] += w->is_beyond;
		w->is_beyond = false;
		w->is_going = true;
		w->began = nnb__now();
		w->state = LEFT;
		shutdown(w->sock, SHUT_WR); /* it sees the end of its socket, and has no answer to send */
	}
	if (w->state == IDLE)
		worker_end(w);
}

static bool reaps; /* the thread that forgets workers whose apps are gone is there; the lock guards it */

/*
 * Whether some workers of an app that is gone are about to end. Those that have not ended for long are forgotten later
 * (errands_forget). The lock is held.
 */
static bool is_any_going(void)
{
	const uint64_t now = nnb__now();

	assert(nnb__is_locked(&lock));
	for (struct nnb__errands *e = all; e; e = e->next)
		if (!e->refs && now - e->unused_at < STUCK_NS) /* otherwise errands_forget has freed it */
			return true;
	return false;
}

static void *errands_reap(void *arg)
{
	bool goes_on = true;

	while (goes_on) {
		usleep(REAP_US);
		pthread_mutex_lock(&lock);
		errands_forget();
		goes_on = reaps = is_any_going();
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* Close the descriptors of workers soon after they have ended, even if no other app comes. The lock is held. */
static void errands_reap_soon(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	assert(nnb__is_locked(&lock));
	if (reaps || !is_any_going())
		return;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	reaps = !pthread_create(&thread, &attr, errands_reap, NULL);
	pthread_attr_destroy(&attr);
}

/* The app of @e is gone: dismiss its workers. The lock is held. */
static void errands_quit(struct nnb__errands *e)
{
	const uint64_t one = 1;
	bool left = false;

	assert(nnb__is_locked(&lock) && !e->refs);
	if (e->gone >= 0) {
		(void)!write(e->gone, &one, sizeof(one)); /* first: a porter asks at the end of its socket */
		close(e->gone);
	}
	e->gone = -1;
	e->unused_at = nnb__now();
	for (int i = 0; i < NNB__ERRAND_PORTERS_ALL; i++)
		e->formers[i].gone = e->formers[i].gone ? e->formers[i].gone : nnb__now();
	for (int i = 0; i < places[PORTERS].end; i++) {
		worker_dismiss(e, &e->workers[i]);
		left |= e->workers[i].state == LEFT && !e->workers[i].is_going;
	}
	if (!left) /* another app may be guaranteed now what this one was */
		guarantee_end(e);
	errands_forget();
	errands_reap_soon();
}

/* An app comes, or comes back before all its workers have ended. The lock is held. */
static void errands_enlist(struct nnb__errands *e)
{
	assert(nnb__is_locked(&lock) && !e->refs);
	if (e->is_guaranteed || (!is_always(e->key) && n_guaranteed >= guaranteed_most))
		return;
	e->is_guaranteed = true;
	n_guaranteed += !is_always(e->key);
}

struct nnb__errands *nnb__errands_of(uint32_t key)
{
	struct nnb__errands *e;

	pthread_mutex_lock(&lock);
	if (prober >= 0)
		errands_forget();
	for (e = all; e && e->key != key;)
		e = e->next;
	if (!e && prober >= 0 && (e = calloc(1, sizeof(*e)))) {
		e->key = key;
		e->gone = -1;
		e->next = all;
		all = e;
	}
	if (e && !e->refs)
		errands_enlist(e);
	if (e)
		e->refs++;
	pthread_mutex_unlock(&lock);
	return e;
}

struct nnb__errands *nnb__errands_unref(struct nnb__errands *e)
{
	if (!e)
		return NULL;
	pthread_mutex_lock(&lock);
	assert(e->refs);
	if (!--e->refs)
		errands_quit(e);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void nnb__errands_enter(struct nnb__errands *e)
{
	mine = e;
}

struct nnb__errands *nnb__errands_mine(void)
{
	return mine;
}

unsigned nnb__errands_left(struct nnb__errands *e)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = left_behind(e, CALLS);
	pthread_mutex_unlock(&lock);
	return n;
}

/* The lock is held. */
static bool is_full(enum kind kind)
{
	return n_workers[kind] >= workers_most[kind];
}

/* Whether the next worker of @e may be beyond the limit of all apps. The lock is held. */
static bool is_guaranteed_one(const struct nnb__errands *e, enum kind kind)
{
	bool has = false;

	for (int i = places[kind].first; i < places[kind].end; i++)
		has |= e->workers[i].is_beyond;
	return kind != CALLS && e->is_guaranteed && !has;
}

enum { NO_PLACE = 1 }; /* a condition: the limit of all apps allows no other worker now */

/*
 * Make a place for another worker, in place of one that has ended, or of an idle one. 0; NO_PLACE; -EBUSY: all were
 * left behind. That is not the fault of the app whose file is tried, so a trial never gets -EBUSY here. The lock is
 * held.
 */
static int place_make(enum kind kind)
{
	unsigned left = 0, none;

	assert(nnb__is_locked(&lock));
	for (struct nnb__errands *e = all; e && kind == PORTERS && n_formers >= formers_most; e = e->next)
		formers_left(e, &none);
	for (struct nnb__errands *e = all; e && is_full(kind); e = e->next) {
		left_behind(e, kind);
		for (int i = places[kind].first; i < places[kind].end && is_full(kind); i++) {
			struct worker *w = &e->workers[i];

			left += worker_counts(w) && !w->is_beyond;
			/* the end of one that is beyond makes no place */
			if (w->state == IDLE && !w->is_beyond && (kind != PORTERS || former_add(e, w)))
				worker_end(w);
		}
	}
	if (!is_full(kind))
		return 0;
	return kind == TRIALS || left < workers_most[kind] ? NO_PLACE : -EBUSY;
}

/*
 * Give the porter at the other end of @sock what tells it that the app of @e is gone. One without it waits for its
 * sockets alone.
 */
static void porter_enlist(struct nnb__errands *e, int sock)
{
	struct request q = { .call = APP };
	struct packet out = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &e->gone, .n_fds = 1 };

	assert(nnb__is_locked(&lock));
	if (e->gone < 0)
		e->gone = eventfd(0, EFD_CLOEXEC);
	if (e->gone >= 0)
		packet_send(sock, &out, MSG_DONTWAIT);
}

/* Give the porter at the other end of @sock the pipe that tells it which files are closed here. NULL: it keeps none. */
static struct nnb__keeper *keeper_start(int sock)
{
	struct request q = { .call = KEEP };
	int ends[2];
	struct packet out = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &ends[0], .n_fds = 1 };
	struct nnb__keeper *keeper = NULL;

	assert(nnb__is_locked(&lock));
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return NULL;
	keeper = nnb__keeper_new(ends[1]);
	if (keeper && packet_send(sock, &out, MSG_DONTWAIT))
		keeper = nnb__keeper_unref(keeper);
	close(ends[0]);
	return keeper;
}

/* Have the prober start @w of @app. 0; NO_PLACE; -EAGAIN: later, maybe; another -errno. The lock is held. */
static int worker_start(struct nnb__errands *app, struct worker *w, enum kind kind)
{
	const bool is_beyond = is_guaranteed_one(app, kind);
	char what = A_WORKER;
	int pair[2], r;
	struct packet p = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &pair[1], .n_fds = 1 };

	assert(nnb__is_locked(&lock) && w->state == NONE);
	if (kind == PORTERS && !porter_fits(app))
		return NO_PLACE;
	r = is_beyond ? 0 : place_make(kind);
	if (r)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	r = packet_send(prober, &p, MSG_DONTWAIT);
	close(pair[1]);
	if (r) {
		close(pair[0]);
		if (r == -EPIPE)
			waitpid(prober_pid, NULL, WNOHANG); /* it has ended */
		return r == -EAGAIN ? r : -EIO;
	}
	*w = (struct worker){ .state = BUSY, .kind = kind, .sock = pair[0], .process = -1, .is_beyond = is_beyond };
	n_workers[kind] += !is_beyond;
	if (kind == PORTERS) {
		porter_enlist(app, pair[0]);
		w->keeper = keeper_start(pair[0]);
	}
	return 0;
}

static uint64_t time_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_wanted(const struct nnb__errand_wait *wait)
{
	return !wait->goes_on || wait->goes_on();
}

unsigned nnb__errands_stuck(struct nnb__errands *e, unsigned *ret_left)
{
	unsigned n = 0;

	pthread_mutex_lock(&lock);
	*ret_left = left_behind(e, TRIALS);
	for (int i = places[TRIALS].first; i < places[TRIALS].end; i++)
		n += worker_counts(&e->workers[i]);
	pthread_mutex_unlock(&lock);
	return n;
}

/* Take the place of an idle worker, or start one. 0 and *ret, BUSY; or -errno. */
static int worker_take(struct nnb__errands *e, enum kind kind, const struct nnb__errand_wait *wait, uint64_t until,
                       struct worker **ret)
{
	int r;

	pthread_mutex_lock(&lock);
	for (;;) {
		struct worker *empty = NULL, *idle = NULL;
		uint64_t now, slice;
		struct timespec at;
		unsigned left = 0, going = 0;

		left_behind(e, kind);
		if (kind == PORTERS)
			formers_left(e, &left);
		for (int i = places[kind].first; i < places[kind].end; i++) {
			struct worker *w = &e->workers[i];

			if (w->state == CLOSING)
				worker_closes(e, w);
			if (w->state == IDLE && worker_has_ended(w)) /* for lack of memory, say */
				worker_retire(e, w);
			left += worker_counts(w);
			going += w->is_going;
			empty = w->state == NONE ? w : empty;
			idle = w->state == IDLE ? w : idle;
		}
		if (left >= places[kind].left) {
			r = -EBUSY;
			break;
		}
		r = idle ? 0 : empty ? worker_start(e, empty, kind) : -EAGAIN;
		if (r == NO_PLACE) /* a worker of @e for trials is one of those that leave no place */
			r = kind == TRIALS && left ? -EBUSY : -EAGAIN;
		now = nnb__now();
		if (!r) {
			*ret = idle ? idle : empty;
			(*ret)->state = BUSY;
			(*ret)->began = now;
		}
		if (r != -EAGAIN)
			break;
		r = -ETIMEDOUT;
		if (now >= until)
			break;
		slice = time_min(until, now + (going ? GOING_LOOK_NS : SLICE_NS));
		at = (struct timespec){ (time_t)(slice / 1000000000), (long)(slice % 1000000000) };
		pthread_cond_clockwait(&some_idle, &lock, CLOCK_MONOTONIC, &at);
		pthread_mutex_unlock(&lock);
		if (!is_wanted(wait))
			return -ECANCELED;
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return r;
}

/*
 * Whether @w sleeps where no signal ends the sleep, and not for a moment only. A worker that is ready and has no cpu
 * does not.
 */
static bool worker_is_stuck(const struct worker *w)
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

/* The errand is over with @r, the result of answer_await. @closes: the worker closes files still. */
static void worker_give(struct nnb__errands *e, struct worker *w, int r, bool closes, bool is_stuck)
{
	pthread_mutex_lock(&lock);
	assert(w->state == BUSY);
	w->is_stuck = is_stuck;
	if (!r) {
		w->state = closes ? CLOSING : IDLE;
		w->began = closes ? nnb__now() : w->began;
	} else if (r == -ETIMEDOUT || r == -ECANCELED) {
		worker_leave(e, w);
	} else {
		worker_retire(e, w);
	}
	pthread_cond_broadcast(&some_idle);
	pthread_mutex_unlock(&lock);
}

/* Wait for the next message of @w. 0; -ETIMEDOUT, -ECANCELED; -EIO: it has ended. */
static int packet_await(const struct worker *w, const struct nnb__errand_wait *wait, uint64_t until)
{
	struct pollfd p = { .fd = w->sock, .events = POLLIN };

	for (;;) {
		uint64_t now = nnb__now(), slice = now < until ? time_min(until - now, SLICE_NS) : 0;
		const struct timespec at = { 0, (long)slice };
		int r = ppoll(&p, 1, &at, NULL);

		if (r > 0)
			return p.revents & POLLIN ? 0 : -EIO;
		if (r < 0 && errno != EINTR)
			return -EIO;
		if (!is_wanted(wait))
			return -ECANCELED;
		if (now >= until)
			return -ETIMEDOUT;
	}
}

/* Receive the first message of @w, which has its pidfd. False: it has ended. */
static bool worker_greet(struct worker *w)
{
	struct request hello = { 0 };
	int fd;
	struct packet first = { .parts = { { &hello, sizeof(hello) } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	if (packet_receive(w->sock, &first, MSG_DONTWAIT) <= 0)
		return false;
	w->pid = (pid_t)hello.n;
	w->process = first.n_fds ? fd : -1;
	return true;
}

/* Receive the answer, and before it the first message of a worker. 0, or as packet_await. */
static int answer_await(struct worker *w, struct packet *in, const struct nnb__errand_wait *wait, uint64_t until)
{
	for (;;) {
		int r = packet_await(w, wait, until);

		if (r)
			return r;
		if (w->pid)
			return packet_receive(w->sock, in, MSG_DONTWAIT) >= (ssize_t)sizeof(struct answer) ? 0 : -EIO;
		if (!worker_greet(w))
			return -EIO;
	}
}

/* No answer of the porter @w can come from now on. Receive the one that came before, as answer_await does. */
static bool answered_late(struct worker *w, struct packet *in)
{
	shutdown(w->sock, SHUT_RD);
	return (w->pid || worker_greet(w)) &&
	       packet_receive(w->sock, in, MSG_DONTWAIT) >= (ssize_t)sizeof(struct answer);
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
	uint32_t n_fds;          /* as in struct packet */
	const uint32_t *numbers; /* of RECEIVE: by which the porter keeps these files, or NOT_KEPT; the first part */
};

/* @files came with an answer of the porter @w, or were sent and are lost. */
static void files_keep(const struct worker *w, struct spoils *s, uint32_t files)
{
	for (uint32_t i = 0; i < files; i++) {
		const uint32_t number = s->numbers[i];

		if (number == NOT_KEPT || !w->keeper)
			continue;
		if (i < s->n_fds)
			nnb__kept_add(w->keeper, s->fds[i],
			              number); /* without memory, it is kept until the porter ends */
		else
			nnb__keeper_tell(w->keeper, number);
	}
}

/* Wait for the answer of @w to a call that was sent, and give the worker back. */
static struct answer errand_end(struct nnb__errands *e, struct worker *w, uint32_t call, struct spoils *s,
                                const struct nnb__errand_wait *wait, uint64_t until)
{
	struct answer a = { .result = -EIO };
	struct packet in = { .parts = { { &a, sizeof(a) }, s->parts[0], s->parts[1], s->parts[2] },
		             .n_parts = 1 + s->n_parts,
		             .fds = s->fds,
		             .n_fds = s->n_fds };
	const uint32_t most = s->n_fds;
	int r = answer_await(w, &in, wait, until);
	bool answers = !r || (w->kind == PORTERS && (r == -ETIMEDOUT || r == -ECANCELED) && answered_late(w, &in));
	bool is_stuck;

	s->n_fds = answers ? in.n_fds : 0;
	if (answers && a.files && a.files <= most)
		files_keep(w, s, a.files);
	if (!answers)
		a = (struct answer){ .result = r };
	if (s->n_fds < a.files)
		a.lost = true; /* this process had no room for all of them */
	is_stuck = call == TRY && (r == -ETIMEDOUT || r == -ECANCELED) && worker_is_stuck(w);
	if (is_stuck)
		a.blocked_ns = nnb__now() - w->began;
	/* A porter that has answered late, with nothing to close, would wait for another errand: it is ended. */
	worker_give(e, w, answers && r && !a.refused ? -EIO : r, a.refused, is_stuck);
	return a;
}

static enum kind kind_of(uint32_t call)
{
	return call == TRY ? TRIALS : call >= HOLD ? PORTERS : CALLS;
}

/* Have a worker make the call. @data: what it writes. The answer; a->result is -errno as in the header. */
static struct answer errand_run(struct nnb__errands *e, struct request q, int fd, void *data, struct spoils *s,
                                const struct nnb__errand_wait *wait)
{
	struct packet out = { .parts = { { &q, sizeof(q) }, { data, data ? q.n : 0 } },
		              .n_parts = data ? 2 : 1,
		              .fds = &fd,
		              .n_fds = 1 };
	uint64_t until = limit_of(wait);
	struct worker *w;
	int r;

	assert(q.n <= NNB__ERRAND_BYTES);
	r = worker_take(e, kind_of(q.call), wait, until, &w);
	if (!r && packet_send(w->sock, &out, MSG_DONTWAIT)) {
		r = -EIO;
		worker_give(e, w, r, false, false);
	}
	if (!r)
		return errand_end(e, w, q.call, s, wait, until);
	s->n_fds = 0;
	return (struct answer){ .result = r };
}

/* Have a worker make the call, or make it here. */
static struct answer call_run(struct nnb__errands *e, struct request q, int fd, void *data,
                              const struct nnb__errand_wait *wait)
{
	struct spoils s = { .parts = { { data, q.n } }, .n_parts = q.call == READ };

	assert(q.n <= NNB__ERRAND_BYTES);
	return e ? errand_run(e, q, fd, q.call == WRITE ? data : NULL, &s, wait) : call_make(&q, fd, data);
}

/* ---- errands ---- */

int nnb__errand_try(struct nnb__errands *e, int fd, const struct nnb__errand_wait *wait, uint64_t *ret_blocked_ns)
{
	struct answer a = call_run(e, (struct request){ .call = TRY }, fd, NULL, wait);

	*ret_blocked_ns = a.blocked_ns;
	return (int)a.result;
}

int nnb__errand_try_begin(struct nnb__errands *e, int fd)
{
	const struct nnb__errand_wait none = { 0 };
	struct request q = { .call = TRY };
	struct packet out = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };
	struct worker *w;
	int r = worker_take(e, TRIALS, &none, 0, &w);

	if (r)
		return r;
	if (!packet_send(w->sock, &out, MSG_DONTWAIT))
		return (int)(w - e->workers);
	worker_give(e, w, -EIO, false, false);
	return -EIO;
}

bool nnb__errand_try_has_ended(struct nnb__errands *e, int trial)
{
	struct worker *w = &e->workers[trial];
	struct pollfd p = { .fd = w->sock, .events = POLLIN };

	assert(w->state == BUSY);
	while (poll(&p, 1, 0) > 0)
		if (w->pid || !worker_greet(w))
			return true;
	return false;
}

int nnb__errand_try_end(struct nnb__errands *e, int trial, const struct nnb__errand_wait *wait,
                        uint64_t *ret_blocked_ns)
{
	struct worker *w = &e->workers[trial];
	struct spoils none = { 0 };
	struct answer a = errand_end(e, w, TRY, &none, wait, limit_of(wait));

	*ret_blocked_ns = a.blocked_ns;
	return (int)a.result;
}

int nnb__errand_seal(struct nnb__errands *e, int fd, int seals, const struct nnb__errand_wait *wait)
{
	return (int)call_run(e, (struct request){ .call = SEAL, .at = (uint64_t)seals }, fd, NULL, wait).result;
}

int nnb__errand_truncate(struct nnb__errands *e, int fd, uint64_t bytes, const struct nnb__errand_wait *wait)
{
	return (int)call_run(e, (struct request){ .call = TRUNCATE, .at = bytes }, fd, NULL, wait).result;
}

int nnb__errand_size(struct nnb__errands *e, int fd, const struct nnb__errand_wait *wait, uint64_t *ret)
{
	struct answer a = call_run(e, (struct request){ .call = SIZE }, fd, NULL, wait);

	if (a.result < 0)
		return (int)a.result;
	*ret = (uint64_t)a.result;
	return 0;
}

int nnb__errand_hold(struct nnb__errands *e, int sock, const struct nnb__errand_wait *wait)
{
	struct spoils none = { 0 };

	return (int)errand_run(e, (struct request){ .call = HOLD }, sock, NULL, &none, wait).result;
}

int nnb__errand_empty(struct nnb__errands *e, int sock, const struct nnb__errand_wait *wait)
{
	struct spoils none = { 0 };

	return (int)errand_run(e, (struct request){ .call = EMPTY }, sock, NULL, &none, wait).result;
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
	struct answer a;

	assert(d->n_fds <= NNB__ARRIVAL_FDS);
	a = errand_run(e, (struct request){ .call = RECEIVE, .n = d->n_fds }, sock, NULL, &s, wait);
	d->n_fds = s.n_fds;
	d->lost = a.lost;
	/* a porter has more room than the caller may have */
	return a.result > (int64_t)(d->parts[0].iov_len + d->parts[1].iov_len) ? -EMSGSIZE : a.result;
}

ssize_t nnb__errand_read(struct nnb__errands *e, int fd, uint64_t at, void *data, size_t n,
                         const struct nnb__errand_wait *wait)
{
	return call_run(e, (struct request){ .call = READ, .at = at, .n = (uint32_t)n }, fd, data, wait).result;
}

ssize_t nnb__errand_write(struct nnb__errands *e, int fd, uint64_t at, const void *data, size_t n,
                          const struct nnb__errand_wait *wait)
{
	/* the worker has the data in its own memory: nothing here changes them */
	return call_run(e, (struct request){ .call = WRITE, .at = at, .n = (uint32_t)n }, fd, (void *)(uintptr_t)data,
	                wait)
	        .result;
}

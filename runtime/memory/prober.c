/*
 * prober.c -- the process that starts workers, and ends what is left of the service.
 *
 * PROCESSES  The prober is forked while the service has one thread and no file of an app. The prober forks a worker for
 *           each socket that it receives, and ignores SIGCHLD, so that no zombie stays. The service's death ends all of
 *           them: by the ends of their sockets, and by the signal that the kernel sends when a parent dies, because
 *           a thread that never ends keeps the sockets of a dead process open. The prober itself ends when all threads
 *           of the service have: until then its workers have the sockets that these threads close. A service that has
 *           closed all of them ends the prober itself. The prober also has the service's lock file. It looks every
 *           0.2 s whether the main thread of the service exits, and unlocks the file then: that thread itself may wait
 *           for ever for a file that it closes.
 * CRASH     If the prober dies (for lack of memory, say), errands fail: the service cannot fork another one beside its
 *           threads, and calls without a limit would be worse.
 */
#include "memory/prober.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kept.h"
#include "memory/packet.h"
#include "memory/worker.h"

enum { PROBER_SOCK = 3 };       /* the prober's end of its socket */
enum { SERVICE_LOOK_MS = 200 }; /* between two looks of the prober whether the service exits */
enum { STOP_WAITS = 200, STOP_WAIT_US = 1000 };
/* What the prober receives: a descriptor for that, or of that, which it ends after; or the service ends soon. */
enum { A_WORKER, A_LOCK, A_PROCESS, THE_END };

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
	struct nnb__packet in = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	(void)signal;
	if (kept_lock >= 0)
		flock(kept_lock, LOCK_UN);
	process_await(&of_service);
	for (; nnb__packet_receive(PROBER_SOCK, &in, MSG_DONTWAIT) > 0; in.n_fds = 1)
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
		struct nnb__packet in = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };
		struct pollfd p = { .fd = sock, .events = POLLIN };

		if (ppoll(&p, 1, &look, &none) <= 0) { /* prober_end runs here only */
			if (service_exits(service))
				prober_end(0);
			continue;
		}
		if (nnb__packet_receive(sock, &in, 0) <= 0)
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
			nnb__worker_run(sock);
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

int nnb__prober_keep(int prober, int fd)
{
	char what = A_LOCK;
	struct nnb__packet p = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	return nnb__packet_send(prober, &p, MSG_DONTWAIT);
}

int nnb__prober_follow(int prober, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;
	char what = A_PROCESS;
	struct nnb__packet p = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &fd, .n_fds = 1 };

	if (fd < 0)
		return -errno;
	r = nnb__packet_send(prober, &p, MSG_DONTWAIT);
	close(fd);
	return r;
}

void nnb__prober_stop(int prober)
{
	char what = THE_END;
	struct nnb__packet p = { .parts = { { &what, 1 } }, .n_parts = 1 };

	if (nnb__kept_stays()) /* it ends once the files that its workers keep are unmapped */
		return;
	nnb__packet_send(prober, &p, MSG_DONTWAIT);
	for (int waits = 0; waits < STOP_WAITS && !waitpid(prober_pid, NULL, WNOHANG); waits++)
		usleep(STOP_WAIT_US);
}

int nnb__prober_work(int prober, int sock)
{
	char what = A_WORKER;
	struct nnb__packet p = { .parts = { { &what, 1 } }, .n_parts = 1, .fds = &sock, .n_fds = 1 };
	int r = nnb__packet_send(prober, &p, MSG_DONTWAIT);

	close(sock);
	if (r == -EPIPE)
		waitpid(prober_pid, NULL, WNOHANG); /* it has ended */
	return !r || r == -EAGAIN ? r : -EIO;
}

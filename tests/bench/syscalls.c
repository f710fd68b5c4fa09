/* syscalls.c -- see syscalls.h. */
#include "syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peers.h"

enum { TRACED_MAX = 1024, QUIET_MS = 50, SYSCALL_STOP = SIGTRAP | 0x80 };

struct tracing {
	pid_t tids[TRACED_MAX];
	unsigned n;
};

void syscalls_mark(void)
{
	syscall(SYS_getppid);
}

/* Stop a thread that runs or sleeps. */
static void stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, 0L, 0L) || waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		die("stopping a thread");
}

static void go_on(pid_t tid, int signal)
{
	if (ptrace(PTRACE_SYSCALL, tid, 0L, (long)signal))
		die("letting a thread go on");
}

/* False: we may not. */
static bool trace(struct tracing *t, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, 0L, (long)PTRACE_O_TRACESYSGOOD)) {
		if (errno == EPERM || errno == ENOSYS)
			return false;
		die("tracing a thread");
	}
	t->tids[t->n++] = tid;
	stop(tid);
	go_on(tid, 0);
	return true;
}

static bool trace_all(struct tracing *t, pid_t pid)
{
	bool may = true;
	struct dirent *e;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		die(path);
	while (may && t->n < TRACED_MAX && (e = readdir(tasks)))
		if (e->d_name[0] != '.')
			may = trace(t, atoi(e->d_name));
	closedir(tasks);
	return may;
}

static void untrace_all(struct tracing *t, pid_t stopped)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (t->tids[i] != stopped)
			stop(t->tids[i]);
		ptrace(PTRACE_DETACH, t->tids[i], 0L, 0L);
	}
}

/* Wait for a thread to stop. True: where a system call begins, and which. */
static bool next_call(pid_t *tid, int *signal, uint64_t *nr)
{
	struct __ptrace_syscall_info info;
	int status;

	*tid = waitpid(-1, &status, __WALL);
	if (*tid < 0 || !WIFSTOPPED(status)) {
		fprintf(stderr, "%s: what was traced has ended\n", program_invocation_short_name);
		exit(1);
	}
	*signal = 0;
	if (WSTOPSIG(status) != SYSCALL_STOP) {
		if (status >> 16 == 0)
			*signal = WSTOPSIG(status);
		return false;
	}
	if (ptrace(PTRACE_GET_SYSCALL_INFO, *tid, sizeof(info), &info) <= 0)
		die("looking at a system call");
	*nr = info.entry.nr;
	return info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

/*
 * To be stopped interrupts a system call, and to go on begins it again, or another: wait until that is over, which is
 * when no thread has stopped for a while.
 */
static void settle_down(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int status;

	for (int quiet = 0; quiet < QUIET_MS; quiet++) {
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (tid > 0 && WIFSTOPPED(status)) {
			go_on(tid, 0);
			quiet = 0;
		}
		nanosleep(&moment, NULL);
	}
}

/* Until @marker stands at its second mark. */
static long count(pid_t marker)
{
	unsigned marks = 0;
	long n = 0;

	for (;;) {
		uint64_t nr;
		int signal;
		pid_t tid;

		if (next_call(&tid, &signal, &nr)) {
			if (tid == marker && nr == SYS_getppid)
				marks++;
			else
				n += marks == 1;
			if (marks == 2)
				return n;
		}
		go_on(tid, signal);
	}
}

long syscalls_between_marks(pid_t marker, pid_t other, void (*go)(void *arg), void *arg)
{
	struct tracing t = { .n = 0 };
	bool may = trace_all(&t, marker) && trace_all(&t, other);
	long n = -1;

	if (may)
		settle_down();
	go(arg);
	if (may)
		n = count(marker);
	untrace_all(&t, may ? marker : -1);
	return n;
}

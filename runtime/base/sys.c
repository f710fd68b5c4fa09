/*
 * sys.c -- system calls: clocks, futexes, and what the kernel knows of a thread: its delays (schedstat), what it waits
 * for, its slice. The futexes are the shared kind: their users are processes.
 */
#include "base/sys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

uint32_t nnb__cpu(void)
{
	return (uint32_t)sched_getcpu();
}

static uint64_t clock_ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t nnb__now(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}

uint64_t nnb__cpu_now(void)
{
	return clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- how long a thread was ready and had no cpu ---- */

static __thread int schedstat; /* 0: not open yet; -1: the kernel has no such file; otherwise 1 + its fd */
static pthread_key_t schedstat_key;
static pthread_once_t schedstat_once = PTHREAD_ONCE_INIT;
static bool schedstat_closes;

static void close_schedstat(void *fd)
{
	close((int)(intptr_t)fd - 1);
}

/* The file that a forked child has is its parent's thread's. */
static void forget_schedstat(void)
{
	if (schedstat > 0)
		close(schedstat - 1);
	if (schedstat)
		pthread_setspecific(schedstat_key, NULL);
	schedstat = 0;
}

static void make_schedstat_key(void)
{
	schedstat_closes =
		!pthread_atfork(NULL, NULL, forget_schedstat) && !pthread_key_create(&schedstat_key, close_schedstat);
}

/* Return the next number of the file and move @*at behind it; UINT64_MAX if the file has no more numbers. */
static uint64_t next_number(char **at)
{
	char *text = *at;
	uint64_t number;

	errno = 0;
	number = strtoull(text, at, 10);
	return errno || *at == text || (**at != ' ' && **at != '\n') ? UINT64_MAX : number;
}

/* The file has the time on a cpu, the time ready and on none, and how often the thread came on one. */
bool nnb__cpu_stat(struct nnb__cpu_stat *ret)
{
	bool is_first = !schedstat;
	char text[96], *at = text;
	uint64_t delay, turns;
	ssize_t n;

	if (is_first) {
		int fd = -1;

		pthread_once(&schedstat_once, make_schedstat_key);
		if (schedstat_closes)
			fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && pthread_setspecific(schedstat_key, (void *)(intptr_t)(fd + 1))) {
			close(fd);
			fd = -1;
		}
		schedstat = fd < 0 ? -1 : fd + 1;
	}
	n = schedstat < 0 ? 0 : pread(schedstat - 1, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (next_number(&at) == UINT64_MAX)
		return false;
	delay = next_number(&at);
	turns = next_number(&at);
	if (delay == UINT64_MAX || turns == UINT64_MAX || !turns) /* a kernel that does not count writes 0 0 0 */
		return false;
	*ret = (struct nnb__cpu_stat){ .delay_ns = delay, .turns = turns, .is_first = is_first };
	return true;
}

uint64_t nnb__cpu_delay(void)
{
	struct nnb__cpu_stat now;

	return nnb__cpu_stat(&now) ? now.delay_ns : UINT64_MAX;
}

/* The clock of that thread's cpu time, as pthread_getcpuclockid makes it of a pthread_t. */
static clockid_t cpu_clock_of(int tid)
{
	return (clockid_t)(~(unsigned)tid << 3 | 6);
}

static bool changes_the_map(long call)
{
	return call == SYS_mmap || call == SYS_munmap || call == SYS_madvise;
}

/*
 * The file begins with the number of the system call that the thread sleeps in, or with -1: it sleeps, and is in none.
 * Of a thread that is ready it says "running", and cpu time that stands still meanwhile tells that it has no cpu.
 */
enum nnb__thread_wait nnb__thread_waits(int tid)
{
	uint64_t cpu = clock_ns_of(cpu_clock_of(tid));
	char text[256];
	ssize_t n;
	int fd;

	snprintf(text, sizeof(text), "/proc/self/task/%d/syscall", tid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NNB__WAIT_OTHER;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	if (!strncmp(text, "running", 7))
		return clock_ns_of(cpu_clock_of(tid)) == cpu ? NNB__WAIT_CPU : NNB__WAIT_OTHER;
	if (!strncmp(text, "-1 ", 3) || (isdigit((unsigned char)*text) && changes_the_map(strtol(text, NULL, 10))))
		return NNB__WAIT_PAGE;
	return NNB__WAIT_OTHER;
}

void nnb__thread_slice(uint64_t ns)
{
	/* struct sched_attr, which not every libc has */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} how = { .size = sizeof(how) };

	if (syscall(SYS_sched_getattr, 0, &how, sizeof(how), 0) ||
	    (how.policy != SCHED_OTHER && how.policy != SCHED_BATCH))
		return;
	how.runtime = ns;
	syscall(SYS_sched_setattr, 0, &how, 0);
}

const void *nnb__this_thread(void)
{
	return &schedstat;
}

/* ---- futexes ---- */

int nnb__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline)
{
	struct timespec t = { .tv_sec = (time_t)(deadline / NS_PER_S), .tv_nsec = (long)(deadline % NS_PER_S) };

	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, deadline == UINT64_MAX ? NULL : &t, NULL, bits) < 0)
		return -errno;
	return 0;
}

int nnb__futex_wake_some(_Atomic uint32_t *word, int most, uint32_t bits)
{
	if (syscall(SYS_futex, word, FUTEX_WAKE_BITSET, most, NULL, NULL, bits) < 0)
		return -errno;
	return 0;
}

int nnb__futex_wake(_Atomic uint32_t *word, uint32_t bits)
{
	return nnb__futex_wake_some(word, INT_MAX, bits);
}

/* By /proc/thread-self, because /proc/self is empty if the first thread has ended. */
bool nnb__is_eventfd(int fd)
{
	static const char wanted[] = "anon_inode:[eventfd]";
	char path[64], is[sizeof(wanted)];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	n = readlink(path, is, sizeof(is));
	return n == sizeof(wanted) - 1 && !memcmp(is, wanted, sizeof(wanted) - 1);
}

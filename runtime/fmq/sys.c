/* sys.c -- clock and futex, as system calls. The futex is the shared kind: its users are processes. */
#include "sys.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

uint32_t nnb__cpu(void)
{
	return (uint32_t)sched_getcpu();
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t nnb__now(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

uint64_t nnb__cpu_now(void)
{
	return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

int nnb__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline)
{
	struct timespec t = { .tv_sec = (time_t)(deadline / NS_PER_S), .tv_nsec = (long)(deadline % NS_PER_S) };

	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, deadline == UINT64_MAX ? NULL : &t, NULL, bits) < 0)
		return -errno;
	return 0;
}

int nnb__futex_wake(_Atomic uint32_t *word, uint32_t bits)
{
	if (syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits) < 0)
		return -errno;
	return 0;
}

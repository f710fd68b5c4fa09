/* sys.h -- system calls: clocks, the cpu's number, futexes, and the delays, waits and slices of threads. */
#ifndef NNB_BASE_SYS_H
#define NNB_BASE_SYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The cpu this thread is on. */
uint32_t nnb__cpu(void);

/* Pause between two polls of a cache line that another thread will write. */
static inline void nnb__relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/*
 * Fetch the cache line at @p for writing, without waiting for it. Compilers have only the fetch for reading for
 * x86-64 unless an option names the cpu; cpus without this instruction do nothing.
 */
static inline void nnb__fetch_to_write(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" ::"m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/*
 * Another cpu is about to read the cache line at @p, which this thread has written: move it to a cache that both
 * share. Where a cpu has no CLDEMOTE, these bytes do nothing.
 */
static inline void nnb__hand_over(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile(
		".byte 0x0f, 0x1c, 0x07" ::"D"(p)
		: "memory"); /* cldemote (%rdi): assemblers know the mnemonic only with an option that names the cpu */
#else
	(void)p;
#endif
}

/* CLOCK_MONOTONIC in ns. */
uint64_t nnb__now(void);

/* The cpu time that this thread has used, in ns. */
uint64_t nnb__cpu_now(void);

/*
 * How long this thread has been ready to run and on no cpu so far, in ns (/proc/thread-self/schedstat); UINT64_MAX:
 * the kernel does not count. It costs 1.3 us, and 10 us the first time that a thread asks.
 */
uint64_t nnb__cpu_delay(void);

struct nnb__cpu_stat {
	uint64_t delay_ns; /* as nnb__cpu_delay */
	uint64_t turns;    /* how often this thread has come on a cpu */
	bool is_first;     /* this thread has not asked before */
};

/* False: the kernel does not count. A call costs as much as one of nnb__cpu_delay. */
bool nnb__cpu_stat(struct nnb__cpu_stat *ret);

enum nnb__thread_wait {
	NNB__WAIT_OTHER, /* a system call, or no wait; or unknown, as in a process that is not dumpable */
	NNB__WAIT_PAGE,  /* it sleeps in a page fault, or in a system call that changes the memory map */
	NNB__WAIT_CPU    /* it is ready, and has no cpu */
};

/*
 * The time that the kernel plans for this thread to run at a stretch; 0: as for any other. It changes no share of the
 * cpus: a thread that wakes and has a shorter one runs first (Linux 6.12; nothing happens before that).
 */
void nnb__thread_slice(uint64_t ns);

/* What that thread of this process waits for (/proc/self/task/TID/syscall, and its cpu time). */
enum nnb__thread_wait nnb__thread_waits(int tid);

/* An address that identifies this thread. */
const void *nnb__this_thread(void);

/*
 * Sleep on @word while it is @expected, until woken for a bit of @bits or until @deadline (CLOCK_MONOTONIC ns,
 * UINT64_MAX: for ever). 0 woken; -EAGAIN the word differed; -EINTR; -ETIMEDOUT; another -errno.
 */
int nnb__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline);

/* Wake every thread that sleeps on @word for a bit of @bits. 0 or -errno. */
int nnb__futex_wake(_Atomic uint32_t *word, uint32_t bits);

/* Wake @most of them at most. */
int nnb__futex_wake_some(_Atomic uint32_t *word, int most, uint32_t bits);

/* Whether @fd is an eventfd. Does not wait, whatever it is. */
bool nnb__is_eventfd(int fd);

#endif

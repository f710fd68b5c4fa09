/*
 * last.c -- exits without a wait for the files that this process has mapped.
 *
 * The kernel unmaps the memory in the last process that uses it, before that process's exit is seen. A child that
 * shares the memory (CLONE_VM) is that last process, so the exit of this one is seen at once. The prober ends after
 * that child: until then its workers keep the files of apps that are mapped, so that the child is not the last process
 * to close them.
 *
 * CONCURRENCY  The child runs while this thread waits, and beside the other threads until they are ended. It has a
 *           stack of its own, and makes system calls only, which may change the errno of this thread.
 */
#include "service/last.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nnb/service.h"

enum { STACK = 64 << 10, WAIT_US = 50, WAITS = 4000 };

static atomic_bool is_apart; /* the child has no files of this process any more */

static int stay(void *arg)
{
	struct pollfd parent = { .fd = (int)syscall(SYS_pidfd_open, (pid_t)(intptr_t)arg, 0), .events = POLLIN };

	if (parent.fd > 0)
		syscall(SYS_close_range, 0U, (unsigned)parent.fd - 1, 0U);
	syscall(SYS_close_range, (unsigned)parent.fd + 1, ~0U, 0U);
	atomic_store_explicit(&is_apart, true, memory_order_release);
	while (parent.fd >= 0 &&
	       syscall(SYS_ppoll, &parent, 1UL, NULL, NULL, 0UL) < 0) /* readable once all its threads have ended */
		;
	syscall(SYS_exit_group, 0);
	return 0;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { HAS_CHILD = 0 }; /* the sanitizer's clone() has the child read this thread's stack, which is gone by then */
#else
enum { HAS_CHILD = 1 };
#endif

_Noreturn void last_exit(int status, int prober)
{
	static unsigned char stack[STACK] __attribute__((aligned(64)));
	pid_t pid = HAS_CHILD ? clone(stay, stack + sizeof(stack), CLONE_VM | SIGCHLD, (void *)(intptr_t)getpid()) : -1;

	if (pid > 0 && prober > 0)
		nnb_service_prober_follow(prober, pid);
	for (int i = 0; pid > 0 && i < WAITS && !atomic_load_explicit(&is_apart, memory_order_acquire); i++)
		usleep(WAIT_US);
	_exit(status);
}

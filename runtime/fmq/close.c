/*
 * close.c -- closing what a client has given to a service.
 *
 * CONCURRENCY  Any thread. The signal comes from a timer of the thread's own, and while it closes only.
 * PROGRESS  The kernel closes all that a socket's queue holds before the thread returns from close, and looks for signals
 *           at each of them: once one has come none of them sleeps. What remains is the work: some us for each fd in the
 *           queue, of which the kernel lets a user have RLIMIT_NOFILE in flight. Where there is no timer to be had, the
 *           sleep lasts.
 */
#include "fmq/close.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define PATIENCE_NS 200000

static atomic_bool armed;

static void wake_up(int signal)
{
	(void)signal;
}

void nnb__close_arm(void)
{
	const struct sigaction ours = { .sa_handler = wake_up }; /* no SA_RESTART */
	struct sigaction is;

	if (sigaction(SIGURG, NULL, &is))
		return;
	if (!(is.sa_flags & SA_SIGINFO) && (is.sa_handler == SIG_DFL || is.sa_handler == SIG_IGN))
		sigaction(SIGURG, &ours, NULL);
	atomic_store_explicit(&armed, true, memory_order_relaxed);
}

/* Again and again, in case that the first one comes before the thread sleeps. */
static bool start_timer(timer_t *ret)
{
	const struct itimerspec when = { { 0, PATIENCE_NS }, { 0, PATIENCE_NS } };
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG };

	how.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &how, ret))
		return false;
	if (timer_settime(*ret, 0, &when, NULL) == 0)
		return true;
	timer_delete(*ret);
	return false;
}

void nnb__close(int fd)
{
	sigset_t urgent, before;
	struct stat st;
	timer_t timer;

	if (!atomic_load_explicit(&armed, memory_order_relaxed) || fstat(fd, &st) || !S_ISSOCK(st.st_mode) ||
	    !start_timer(&timer)) {
		close(fd);
		return;
	}
	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_UNBLOCK, &urgent, &before);
	close(fd);
	timer_delete(timer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

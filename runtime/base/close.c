/*
 * close.c -- closes files that a client has sent to a service, without sleeping for long.
 *
 * CONCURRENCY  Any thread. The signal comes from a timer of the closing thread, only while it closes.
 * PROGRESS  Before close returns, the kernel closes all files in the queue of a socket, and checks for a pending
 *           signal at each of them: once a signal is pending, none of them sleeps. The cpu time remains: some us for
 *           each fd in the queue, and the kernel lets a user have RLIMIT_NOFILE fds in flight. Without a timer, the
 *           sleep is not interrupted.
 */
#include "base/close.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/kept.h"

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

/* Start a periodic timer, because its first signal may arrive before the thread sleeps. */
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

static void fd_close(int fd)
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

static void fd_finish(int fd, bool is_mapped)
{
	struct nnb__kept *kept = nnb__kept_take(fd);

	if (is_mapped)
		close(fd);
	else
		fd_close(fd);
	nnb__kept_end(kept);
}

void nnb__close(int fd)
{
	fd_finish(fd, false);
}

void nnb__close_mapped(int fd)
{
	fd_finish(fd, true);
}

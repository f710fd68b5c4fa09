/*
 * outlive.c -- linked into an executable, so that it outlives LTTng's session daemon.
 *
 * If an event matches a trigger, LTTng-UST (2.13) notifies the session daemon with writev on a pipe. If the daemon
 * has just died, the kernel sends SIGPIPE, which ends the program; and where SIGPIPE is ignored, LTTng-UST calls
 * abort at the error EPIPE. At EAGAIN it counts the notification as discarded, and continues. The dynamic linker
 * prefers an executable's writev to the C library's, for calls by LTTng-UST, too. So this writev makes EPIPE of a
 * pipe EAGAIN, without a signal. All other calls have the usual results and signals.
 *
 * CONCURRENCY  Any thread, and signal handlers. The signal mask of the thread is restored.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) ssize_t writev(int fd, const struct iovec *iov, int n)
{
	sigset_t sigpipe, before, pending;
	struct stat st;
	ssize_t done;
	int error;

	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode) || sigpending(&pending) ||
	    pthread_sigmask(SIG_BLOCK, &sigpipe, &before))
		return syscall(SYS_writev, fd, iov, n);
	done = syscall(SYS_writev, fd, iov, n);
	error = errno;
	if (done < 0 && error == EPIPE) {
		if (!sigismember(&pending, SIGPIPE)) {
			const struct timespec now = { 0 };

			/* The kernel sends SIGPIPE to the thread that writes, so no other thread's is taken here. */
			while (sigtimedwait(&sigpipe, NULL, &now) < 0 && errno == EINTR)
				;
		}
		error = EAGAIN;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return done;
}

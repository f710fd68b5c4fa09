/*
 * trial.c -- reads a trace in a child first, and reports how the child ended.
 *
 * CRASH    The child goes with its parent. What it left in $TMPDIR goes with the next import.
 * TRUST    The child may be what the trace has made of it: of its output, a text is believed, which is copied
 *          once the child is gone.
 * STOP     A signal that the caller handles ends the trial: the child is killed. Signals are blocked from
 *          before the look at the caller's flag until the wait, so that none is lost in between.
 * KILL     A signal that the child's own instructions do not raise came from outside: from the kernel, which
 *          had no memory left, or from another process. It shows nothing about the trace.
 */
#include "trial.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode.h"

enum { CAN_BE_READ = 0, CANNOT_BE_READ = 1, NO_MEANS = 2 }; /* the child's statuses */

static _Noreturn void read_all(char *const *directories, size_t n, pid_t parent, struct bsa_err *err)
{
	const struct bsa_decode_options alone = { .threads = 1, .may_be_foreign = true };
	const struct bsa_event *event;
	struct bsa_decode *d;
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NO_MEANS);
	r = bsa_decode_open(&d, (const char *const *)directories, n, &alone, err);
	if (r == 0) {
		do
			r = bsa_decode_next(d, &event, err);
		while (r > 0);
		bsa_decode_free(d);
	}
	_exit(r == 0 ? CAN_BE_READ : r == BSA_E_INPUT ? CANNOT_BE_READ : NO_MEANS);
}

static bool asked_to_stop(const atomic_bool *stop)
{
	return stop && atomic_load(stop);
}

/* Wait for the child's end: true; or for a signal: false. */
static bool wait_end(pid_t child, const atomic_bool *stop, const sigset_t *mask)
{
	struct pollfd end = { .fd = pidfd_open(child, 0), .events = POLLIN };
	bool ended;

	if (end.fd < 0) /* the kernel has no pidfd */
		return !asked_to_stop(stop);
	ended = !asked_to_stop(stop) && ppoll(&end, 1, NULL, mask) > 0;
	close(end.fd);
	return ended;
}

static bool is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGTRAP || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGSYS;
}

int bsa_trial(char *const *directories, size_t n_directories, const atomic_bool *stop, struct bsa_err *err)
{
	struct bsa_err *said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), child = -1;
	sigset_t all, before;
	int status = 0, r = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (asked_to_stop(stop)) {
		r = bsa_fail(err, BSA_E_STOPPED, "stopped");
	} else if (said == MAP_FAILED || (child = fork()) < 0) {
		r = bsa_fail(err, BSA_E_ENV, "no process to try a trace in: %s", strerror(errno));
	} else if (!child) {
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		read_all(directories, n_directories, parent, said);
	} else if (!wait_end(child, stop, &before)) {
		kill(child, SIGKILL);
		r = bsa_fail(err, BSA_E_STOPPED, "stopped");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0 && WIFSIGNALED(status) && is_crash(WTERMSIG(status))) {
		r = bsa_fail(err, BSA_E_INPUT,
		             "%s cannot be read: the library that reads traces has crashed on it (%s)", directories[0],
		             strsignal(WTERMSIG(status)));
	} else if (r == 0 && WIFSIGNALED(status)) {
		r = bsa_fail(err, BSA_E_ENV,
		             "the process that tried to read %s was ended (%s); perhaps no memory was left",
		             directories[0], strsignal(WTERMSIG(status)));
	} else if (r == 0 && WEXITSTATUS(status) != CAN_BE_READ) {
		said->text[sizeof(said->text) - 1] = '\0';
		r = bsa_fail(err, WEXITSTATUS(status) == NO_MEANS ? BSA_E_ENV : BSA_E_INPUT, "%s",
		             *said->text ? said->text : "a trace cannot be read");
	}
	if (said != MAP_FAILED)
		munmap(said, sizeof(*said));
	return r;
}

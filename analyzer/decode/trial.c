/*
 * trial.c -- see trial.h.
 *
 * CRASH    The child goes with its parent. What it left in $TMPDIR goes with the next import.
 * TRUST    The child may be what the trace has made of it: of its output, a text is believed, which is copied once the child is gone.
 * STOP     A signal that the caller handles ends the trial: the child is killed.
 */
#include "trial.h"

#include <errno.h>
#include <poll.h>
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

int bsa_trial(char *const *directories, size_t n_directories, struct bsa_err *err)
{
	struct bsa_err *said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), child = said == MAP_FAILED ? -1 : fork();
	struct pollfd end = { .events = POLLIN };
	bool ended;
	int status = 0, r = 0;

	if (!child)
		read_all(directories, n_directories, parent, said);
	if (child < 0) {
		r = bsa_fail(err, BSA_E_ENV, "no process to try a trace in: %s", strerror(errno));
	} else {
		/* Wait for the child's end, or for a signal. */
		end.fd = pidfd_open(child, 0);
		ended = end.fd < 0 || poll(&end, 1, -1) > 0;
		if (end.fd >= 0)
			close(end.fd);
		if (!ended) {
			kill(child, SIGKILL);
			r = bsa_fail(err, BSA_E_STOPPED, "stopped");
		}
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0 && WIFSIGNALED(status)) {
		r = bsa_fail(err, BSA_E_INPUT,
		             "%s cannot be read: the library that reads traces has crashed on it (%s)", directories[0],
		             strsignal(WTERMSIG(status)));
	} else if (r == 0 && WEXITSTATUS(status) != CAN_BE_READ) {
		said->text[sizeof(said->text) - 1] = '\0';
		r = bsa_fail(err, WEXITSTATUS(status) == NO_MEANS ? BSA_E_ENV : BSA_E_INPUT, "%s",
		             *said->text ? said->text : "a trace cannot be read");
	}
	if (said != MAP_FAILED)
		munmap(said, sizeof(*said));
	return r;
}

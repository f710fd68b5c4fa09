/*
 * registers.c -- loads the provider in a child, and asks the session daemon until it lists the
 * child.
 *
 * CRASH  A provider that crashes takes the child with it, and the pipe ends without a word. The
 *        child is gone when we are.
 */
#include "record/registers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/programs.h"

enum { LOOK_MS = 20, LOOKS = 250 };

static int look_for_provider(const struct bsv_lttng *lttng, const char *provider, pid_t pid, int says,
                             struct bsa_err *err)
{
	const struct timespec a_while = { .tv_nsec = LOOK_MS * 1000000L };
	char why[256];
	ssize_t n = read(says, why, sizeof(why) - 1);

	if (n <= 0)
		return bsa_fail(err, BSA_E_ENV, "%s: a program that loads it ends", provider);
	why[n] = 0;
	if (*why)
		return bsa_fail(err, BSA_E_ENV, "%s", why);
	for (int i = 0; i < LOOKS; i++) {
		if (bsv_program_is_met(lttng, pid))
			return 0;
		nanosleep(&a_while, NULL);
	}
	return bsa_fail(err, BSA_E_ENV, "a program that has loaded it is not met by the session daemon");
}

int bsv_registers(const struct bsv_lttng *lttng, const char *provider, struct bsa_err *err)
{
	pid_t parent = getpid(), pid;
	const char *why = "";
	void *object;
	int says[2], r;

	if (pipe2(says, O_CLOEXEC))
		return bsa_fail(err, BSA_E_ENV, "no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		/* Report whether the provider was loaded, then wait to be killed. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		object = dlopen(provider, RTLD_NOW | RTLD_LOCAL);
		if (!object)
			why = dlerror();
		else if (!dlsym(object, "nbt_provider"))
			why = "it is no provider of events";
		if (write(says[1], why, strlen(why) + 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(says[1]);
	r = pid < 0 ? bsa_fail(err, BSA_E_ENV, "no process: %s", strerror(errno))
	            : look_for_provider(lttng, provider, pid, says[0], err);
	close(says[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return r;
}

/*
 * test_decode_means.c -- the machine fails while traces are opened: the decoder reports an error of the environment, and never says
 * that a sound trace is broken. A signal ends the trial of a trace at once.
 *
 * This program replaces opendir() and pidfd_open() for every library that it loads.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/ctf_writer.h"
#include "decode/decode.h"
#include "decode/trial.h"

enum { PATH = 512, STALLED_S = 60 };

static char top[PATH / 2], other[PATH], user[PATH];
static atomic_bool stop;

/* ---- the functions of libc that fail ---- */

static pid_t parent;
static int child_signal;  /* the trial's child raises it; 0: none */
static bool child_stalls; /* the trial's child reads nothing */
static bool stop_late;    /* the parent gets a signal just before it waits */

__attribute__((visibility("default"))) DIR *opendir(const char *name)
{
	DIR *(*real)(const char *);

	*(void **)&real = dlsym(RTLD_NEXT, "opendir");
	if (parent && getpid() != parent) {
		if (child_signal) {
			signal(child_signal, SIG_DFL);
			raise(child_signal);
		}
		if (child_stalls)
			sleep(STALLED_S);
	}
	return real(name);
}

__attribute__((visibility("default"))) int pidfd_open(pid_t pid, unsigned flags)
{
	if (stop_late)
		raise(SIGUSR1);
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

static void on_signal(int signal)
{
	(void)signal;
	atomic_store(&stop, true);
}

static int restore(void **state)
{
	(void)state;
	child_signal = 0;
	child_stalls = stop_late = false;
	atomic_store(&stop, false);
	return 0;
}

/* ---- the trial ---- */

static int open_both(struct bsa_err *err)
{
	const char *paths[] = { other, user };
	const struct bsa_decode_options options = { .threads = 1, .stop = &stop };
	struct bsa_decode *d = NULL;
	int r = bsa_decode_open(&d, paths, 2, &options, err);

	bsa_decode_free(d);
	return r;
}

static void a_killed_trial_is_no_fault_of_the_trace(void **state)
{
	static const int outside[] = { SIGKILL, SIGTERM, SIGXCPU };
	struct bsa_err err = { "" };
	char *directory = user;

	(void)state;
	assert_int_equal(bsa_trial(&directory, 1, NULL, &err), 0);
	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
		child_signal = outside[i];
		assert_int_equal(bsa_trial(&directory, 1, NULL, &err), BSA_E_ENV);
		assert_non_null(strstr(err.text, strsignal(outside[i])));
		assert_null(strstr(err.text, "crashed"));
	}
	child_signal = SIGKILL;
	assert_int_equal(open_both(&err), BSA_E_ENV);
}

static void a_crash_is_a_fault_of_the_trace(void **state)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGTRAP, SIGFPE, SIGILL };
	struct bsa_err err = { "" };
	char *directory = user;

	(void)state;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
		child_signal = crashes[i];
		assert_int_equal(bsa_trial(&directory, 1, NULL, &err), BSA_E_INPUT);
		assert_non_null(strstr(err.text, "crashed"));
	}
	assert_int_equal(open_both(&err), 0); /* without the user's trace */
}

/* The alarm's default action ends this program if a trial waits for its child, which sleeps longer. */
static void a_signal_ends_the_trial_whenever_it_comes(void **state)
{
	struct bsa_err err = { "" };
	char *directory = user;
	sigset_t mask;

	(void)state;
	child_stalls = true;
	alarm(STALLED_S / 2);
	stop_late = true;
	assert_int_equal(bsa_trial(&directory, 1, &stop, &err), BSA_E_STOPPED);
	assert_true(atomic_load(&stop));
	stop_late = false;
	assert_int_equal(bsa_trial(&directory, 1, &stop, &err), BSA_E_STOPPED);
	assert_int_equal(open_both(&err), BSA_E_STOPPED);
	alarm(0);
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	assert_false(sigismember(&mask, SIGUSR1));
}

static void write_trace(const char *directory)
{
	struct ctf_writer *w = ctf_writer_new(directory, &(struct ctf_options){ .packet = 2 });

	ctf_writer_script(w,
	                  "100 exec_return exec=1\n100 exec_return exec=2 cpu=1\n110 exec_return exec=3\n"
	                  "120 exec_return exec=5\n130 exec_return exec=7\n140 exec_return exec=4 cpu=1\n",
	                  1);
	ctf_writer_free(w);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, restore)
	const struct CMUnitTest all[] = {
		T(a_killed_trial_is_no_fault_of_the_trace),
		T(a_crash_is_a_fault_of_the_trace),
		T(a_signal_ends_the_trial_whenever_it_comes),
	};
#undef T
	const char *where = getenv("TMPDIR");
	char command[2 * PATH];
	int failed;

	restore(NULL);
	snprintf(top, sizeof(top), "%.200s/test_decode_means-XXXXXX", where ? where : "/tmp");
	if (!mkdtemp(top))
		return 1;
	unsetenv("TMPDIR");
	snprintf(command, sizeof(command), "mkdir -p '%s/ust/uid/1000'", top);
	if (system(command))
		return 1;
	snprintf(other, sizeof(other), "%s/other", top);
	snprintf(user, sizeof(user), "%s/ust/uid/1000/64-bit", top);
	write_trace(other);
	write_trace(user);
	parent = getpid();
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART }, NULL);
	failed = cmocka_run_group_tests(all, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command) || failed;
}

/*
 * test_decode_means.c -- the machine fails while traces are opened and read: the decoder reports an error of
 * the environment, and never reports that a sound trace is broken. A signal ends the trial of a trace at once.
 *
 * This program replaces opendir(), pidfd_open() and mmap() for every library that it loads.
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
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/ctf_writer.h"
#include "decode/decode.h"
#include "decode/trial.h"

enum { PATH = 512, STALLED_S = 60, MAPS_MAX = 64, EVENTS = 6 };

static char top[PATH / 2], other[PATH], user[PATH], cut[PATH];
static atomic_bool stop;

/* ---- the functions of libc that fail ---- */

static pid_t parent;
static int child_signal;  /* the trial's child raises it; 0: no signal */
static bool child_stalls; /* the trial's child reads nothing */
static bool stop_late;    /* the parent gets a signal just before it waits */
static int leaves;        /* errno after a mapping of a stream file that does not fail; 0: as it was */
static int maps_left;     /* the next mapping of a stream file that fails, after this many; negative: none */

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

static bool is_stream(int fd)
{
	char link[64], path[PATH];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return strstr(path, "/cpu_");
}

/* TSan maps memory with it before TSan can be called. */
__attribute__((visibility("default"), no_sanitize("thread"))) void *mmap(void *address, size_t bytes, int protection,
                                                                         int flags, int fd, off_t offset)
{
	if (fd >= 0 && maps_left >= 0 && is_stream(fd) && !maps_left--) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	address = (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
	if (address != MAP_FAILED && fd >= 0 && leaves && is_stream(fd))
		errno = leaves;
	return address;
}

static void on_signal(int signal)
{
	(void)signal;
	atomic_store(&stop, true);
}

static int restore(void **state)
{
	(void)state;
	child_signal = leaves = 0;
	child_stalls = stop_late = false;
	maps_left = -1;
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

static void a_killed_trial_is_not_blamed_on_the_trace(void **state)
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

static void a_crash_is_blamed_on_the_trace(void **state)
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

/* ---- memory ---- */

/* Each mapping of the stream files fails in turn. The decoder may try again, and then reads the whole trace. */
static void a_failed_mapping_is_not_blamed_on_the_trace(void **state)
{
	const char *path = other;
	const struct bsa_decode_options options = { .threads = 1, .decoder = BSA_DECODER_BABELTRACE2 };
	int n = 0, failed = 0;

	(void)state;
	for (; n < MAPS_MAX; n++) {
		const struct bsa_event *e;
		struct bsa_decode *d = NULL;
		struct bsa_err err = { "" };
		size_t events = 0;
		int r;

		maps_left = n;
		r = bsa_decode_open(&d, &path, 1, &options, &err);
		while (r >= 0 && (r = bsa_decode_next(d, &e, &err)) > 0)
			events++;
		if (r == 0)
			assert_false(bsa_decode_decoded(d, 0).cut);
		bsa_decode_free(d);
		if (r != BSA_E_ENV && (r != 0 || events != EVENTS))
			fail_msg("mapping %d: %d, %zu events, %s", n, r, events, err.text);
		assert_true(r == 0 || strstr(err.text, "memory"));
		failed += r != 0;
		if (maps_left >= 0) /* the decoder made fewer mappings than that */
			break;
	}
	assert_in_range(n, 3, MAPS_MAX - 1); /* mappings for the trial, for the index, and for reading */
	assert_in_range(failed, 3, n);
}

/*
 * A function that does not fail may leave anything in errno: that does not make the end of a cut stream a fault of
 * the machine.
 */
static void a_cut_stream_is_not_blamed_on_the_machine(void **state)
{
	const char *path = cut;
	const struct bsa_decode_options options = { .threads = 1, .decoder = BSA_DECODER_BABELTRACE2 };
	const struct bsa_event *e;
	struct bsa_decode *d = NULL;
	struct bsa_err err = { "" };
	size_t events = 0;
	int r;

	(void)state;
	leaves = EINVAL;
	r = bsa_decode_open(&d, &path, 1, &options, &err);
	while (r >= 0 && (r = bsa_decode_next(d, &e, &err)) > 0)
		events++;
	if (r)
		fail_msg("%d: %s", r, err.text);
	assert_true(bsa_decode_decoded(d, 0).cut);
	assert_in_range(events, 1, EVENTS);
	bsa_decode_free(d);
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
		T(a_killed_trial_is_not_blamed_on_the_trace), T(a_crash_is_blamed_on_the_trace),
		T(a_signal_ends_the_trial_whenever_it_comes), T(a_failed_mapping_is_not_blamed_on_the_trace),
		T(a_cut_stream_is_not_blamed_on_the_machine),
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
	snprintf(cut, sizeof(cut), "%s/cut", top);
	write_trace(cut);
	snprintf(command, sizeof(command), "truncate -s -2 '%s/cpu_0'", cut);
	if (system(command))
		return 1;
	parent = getpid();
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART }, NULL);
	failed = cmocka_run_group_tests(all, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command) || failed;
}

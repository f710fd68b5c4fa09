/*
 * apart.c -- runs the importer as a child, and waits for its end and its report.
 *
 * LAYOUT   The importer reports through memory that both processes share. The parent sees the
 *          importer's end on a pidfd; or, where the kernel has no pidfd, on a pipe whose other end
 *          only the importer holds. Only the importer loads the library that reads traces: a
 *          command that reads a database does without it.
 * CRASH    An importer that crashes leaves no result; the parent removes its unfinished file. The
 *          kernel kills the importer with its parent; the next import then removes the unfinished
 *          file.
 * TRUST    The importer reads hostile traces, which may have taken control of its report. The
 *          memory's file is sealed, so that no access faults. The parent copies the report once,
 *          after the importer's end, and checks the copy: a process that the importer left behind
 *          cannot change the copy, and cannot make the parent wait. The caller that prints the
 *          error must escape what is not printable.
 * SIGNALS  The terminal sends Ctrl-C to both. The importer ignores it; the parent stops the
 *          importer by SIGUSR1, which stays blocked until the importer handles it.
 */
#include "input/apart.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/places.h"
#include "input/shared.h"

enum { LOOK_MS = 50, NUMBER_MAX = 16, NOT_STARTED = 127 };
static const rlim_t most_memory =
	1 << 30; /* an import needs some tens of MiB; a corrupt trace may ask for any amount */

static volatile sig_atomic_t child, interrupted;

/* ---- find the importer ---- */

int bsv_importer_find(char ret[PATH_MAX], struct bsa_err *err)
{
	static const char *const places[] = { "", BSV_LIBEXEC "/" };
	char own[PATH_MAX], *slash;

	if (!bsv_place_self(own))
		return bsa_fail(err, BSA_E_ENV, "cannot find the path of this program: %s", strerror(errno));
	slash = strrchr(own, '/');
	if (slash)
		slash[1] = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (snprintf(ret, PATH_MAX, "%s%s%s", own, places[i], BSV_IMPORTER) < PATH_MAX && !access(ret, X_OK))
			return 0;
	return bsa_fail(err, BSA_E_ENV, "%s is neither in %s nor in %s%s; install burstscope again", BSV_IMPORTER, own,
	                own, BSV_LIBEXEC);
}

/* ---- the parent ---- */

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
	if (child)
		kill(child, SIGUSR1);
}

static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
enum { N_CAUGHT = sizeof(caught) / sizeof(*caught) };

static int importer_crashed(const struct bsa_import_options *options, int status, struct bsa_err *err)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	bsa_import_clean(options->output);
	if (interrupted)
		return bsa_fail(err, BSA_E_STOPPED, "stopped");
	if (signal == SIGKILL)
		return bsa_fail(err, BSA_E_ENV, "the importer was killed; perhaps no memory was left");
	if (!signal && WEXITSTATUS(status) == NOT_STARTED)
		return bsa_fail(err, BSA_E_ENV, "%s does not start; is libbabeltrace2 installed?", BSV_IMPORTER);
	if (!signal && WEXITSTATUS(status) == BSV_IMPORTER_STRANGE)
		return bsa_fail(err, BSA_E_ENV, "%s is of another version; install burstscope again", BSV_IMPORTER);
	return bsa_fail(err, BSA_E_INPUT, "%s%s cannot be read: the library that reads traces has crashed on it (%s)",
	                options->traces[0], options->n_traces > 1 ? " or one of the others" : "",
	                signal ? strsignal(signal) : "it ended without a result");
}

/* ---- the importer's report ---- */

static int importer_wait(const struct bsa_import_options *options, const struct bsv_shared *s, int memory, int gone,
                         struct bsa_imported *ret, struct bsa_err *err)
{
	struct bsv_shared report;
	struct stat st;
	bool valid;
	pid_t pid = child;
	int status = 0, r, ended = pidfd_open(pid, 0);
	struct pollfd p = { .fd = ended < 0 ? gone : ended, .events = POLLIN };

	if (interrupted) /* the signal arrived before child was set */
		kill(pid, SIGUSR1);
	do {
		struct bsa_import_progress progress = {
			.bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed),
			.all_bytes = atomic_load_explicit(&s->all_bytes, memory_order_relaxed),
			.events = atomic_load_explicit(&s->events, memory_order_relaxed),
			.finishing = atomic_load_explicit(&s->finishing, memory_order_relaxed) != 0,
		};

		if (progress.bytes > progress.all_bytes)
			progress.bytes = progress.all_bytes;
		if (options->progress)
			options->progress(options->progress_ctx, &progress);
		r = poll(&p, 1, options->progress ? LOOK_MS : -1);
	} while (!r || (r < 0 && errno == EINTR));
	if (ended >= 0)
		close(ended);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;

	/* Copy the report, which no process can change then, and check it. */
	if (pread(memory, &report, sizeof(report), 0) != (ssize_t)sizeof(report) || report.said != 1)
		return importer_crashed(options, status, err);
	report.err.text[sizeof(report.err.text) - 1] = '\0';
	valid = report.code
	                ? report.code <= BSA_E_USAGE && report.code >= BSA_E_STOPPED
	                : !stat(options->output, &st) && S_ISREG(st.st_mode); /* a success must have made the file */
	if (!WIFEXITED(status) || WEXITSTATUS(status) || !valid)
		return importer_crashed(options, status, err);
	if (!report.code)
		*ret = report.imported;
	else if (err)
		*err = report.err;
	return report.code;
}

static int process_failed(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "cannot start a process for the import: %s", strerror(errno));
}

/* Start the importer; -1: no process. SIGUSR1 stays blocked until the importer handles it. */
static pid_t importer_start(const char *importer, const char *const *argv, int memory, int gone)
{
	pid_t parent = getpid(), pid;
	sigset_t stop, before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGUSR1);
	sigprocmask(SIG_BLOCK, &stop, &before);
	pid = fork();
	if (!pid) {
		struct rlimit limit;
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		/*
		 * Take signals from the parent only, die with it, limit the memory, and drop what
		 * the library prints.
		 */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		if (BSV_LIMIT_MEMORY && !getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur > most_memory) {
			limit.rlim_cur = most_memory;
			setrlimit(RLIMIT_DATA, &limit);
		}
		if (null >= 0)
			dup2(null, STDERR_FILENO); /* an abort() of the library prints there */

		/* Run the importer, which inherits these two descriptors. */
		fcntl(memory, F_SETFD, 0);
		fcntl(gone, F_SETFD, 0);
		execv(importer, (char *const *)argv);
		_exit(NOT_STARTED);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int import_with(const struct bsa_import_options *options, const char *importer, struct bsv_shared *s, int memory,
                       struct bsa_imported *ret, struct bsa_err *err)
{
	char fd[NUMBER_MAX], threads[NUMBER_MAX], flags[3] = "", service[NUMBER_MAX] = "-";
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND }, before[N_CAUGHT];
	/* the arguments of the importer before the traces, in the order of shared.h */
	const char *const first[] = { BSV_IMPORTER, BURSTSCOPE_VERSION, fd, flags, threads, service, options->output };
	const size_t n_first = sizeof(first) / sizeof(*first);
	const char **argv;
	size_t n = 0;
	int gone[2], r;
	pid_t pid;

	snprintf(fd, sizeof(fd), "%d", memory);
	snprintf(threads, sizeof(threads), "%u", options->threads);
	if (options->append)
		flags[n++] = BSV_FLAG_APPEND;
	if (options->keep_operations)
		flags[n++] = BSV_FLAG_KEEP;
	if (options->service_uid)
		snprintf(service, sizeof(service), "%" PRIu32, *options->service_uid);
	argv = calloc(n_first + options->n_traces + 1, sizeof(*argv));
	if (!argv || pipe2(gone, O_CLOEXEC)) {
		free(argv);
		return process_failed(err);
	}
	memcpy(argv, first, sizeof(first));
	memcpy(argv + n_first, options->traces, options->n_traces * sizeof(*argv));
	assert(!child); /* the handler knows one importer */
	interrupted = 0;
	/* A signal that was ignored from the start stays ignored: nohup, and background jobs of a script. */
	for (size_t i = 0; i < N_CAUGHT; i++)
		if (!sigaction(caught[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
			sigaction(caught[i], &sa, NULL);
	pid = importer_start(importer, argv, memory, gone[1]);
	child = pid > 0 ? pid : 0;
	close(gone[1]);
	r = pid < 0 ? process_failed(err) : importer_wait(options, s, memory, gone[0], ret, err);
	for (size_t i = 0; i < N_CAUGHT; i++)
		sigaction(caught[i], &before[i], NULL); /* the handlers of before */
	close(gone[0]);
	free(argv);
	return r;
}

int bsv_import_apart(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err)
{
	char importer[PATH_MAX];
	void *s = MAP_FAILED;
	int memory, r = bsv_importer_find(importer, err);

	if (r < 0)
		return r;
	memory = memfd_create(BSV_IMPORTER, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory >= 0 && !ftruncate(memory, sizeof(struct bsv_shared)) &&
	    !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		s = mmap(NULL, sizeof(struct bsv_shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (s == MAP_FAILED) {
		r = process_failed(err);
		if (memory >= 0)
			close(memory);
		return r;
	}
	r = import_with(options, importer, s, memory, ret, err);
	munmap(s, sizeof(struct bsv_shared));
	close(memory);
	return r;
}

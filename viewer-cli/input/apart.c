/*
 * apart.c -- see apart.h: a child that becomes the importer, and a parent that waits for it.
 *
 * LAYOUT   What the importer has to say is in memory that both share; its end is seen on a pidfd, or, where there is none to be
 *          had, on a pipe of which the importer has the other end. The library that reads traces is the importer's alone: who
 *          asks a database does not even load it.
 * CRASH    An importer that crashes leaves its result unsaid; the parent removes what it left. A parent that is killed takes its
 *          child with it, and the next import removes what that left.
 * TRUST    The importer reads hostile traces, and what it says may be theirs. The memory's file is sealed, so that no access to it
 *          can fault; what it said is copied once, when it is gone, and judged then: a process that it has left behind
 *          changes nothing any more, nor can it make us wait. Who shows its error shows what is not printable as escapes.
 * SIGNALS  The terminal sends Ctrl-C to both: the child ignores it, and is told to stop by the parent, with SIGUSR1, which is held
 *          back until the importer listens to it.
 */
#include "input/apart.h"

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

#include "importer/shared.h"
#include "input/places.h"

enum { LOOK_MS = 50, ARGS_BEFORE_TRACES = 7, NUMBER_MAX = 16, NOT_STARTED = 127 };
static const rlim_t most_memory = 1 << 30; /* an import takes some tens of MiB; a spoilt trace may ask for anything */

static volatile sig_atomic_t child, interrupted;

/* ---- where the importer is ---- */

int bsv_importer_find(char ret[PATH_MAX], struct bsa_err *err)
{
	static const char *const places[] = { "", BSV_LIBEXEC "/" };
	char own[PATH_MAX], *slash;

	if (!bsv_place_self(own))
		return bsa_fail(err, BSA_E_ENV, "cannot tell where this program is: %s", strerror(errno));
	slash = strrchr(own, '/');
	if (slash)
		slash[1] = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (snprintf(ret, PATH_MAX, "%s%s%s", own, places[i], BSV_IMPORTER) < PATH_MAX && !access(ret, X_OK))
			return 0;
	return bsa_fail(err, BSA_E_ENV, "%s is neither in %s nor in %s%s; install burstscope again", BSV_IMPORTER, own,
	                own, BSV_LIBEXEC);
}

/* Its arguments, as shared.h has them: owned; what they point to is borrowed. NULL: no memory. */
static const char **arguments_of(const struct bsa_import_options *o, const char *fd, const char *flags,
                                 const char *threads, const char *service)
{
	const char **argv = calloc(ARGS_BEFORE_TRACES + o->n_traces + 1, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return NULL;
	argv[n++] = BSV_IMPORTER;
	argv[n++] = BURSTSCOPE_VERSION;
	argv[n++] = fd;
	argv[n++] = flags;
	argv[n++] = threads;
	argv[n++] = service;
	argv[n++] = o->output;
	memcpy(argv + n, o->traces, o->n_traces * sizeof(*argv));
	return argv;
}

/* ---- the child ---- */

/* Nobody but our parent has anything to say to us, and we have to say nothing but what is in memory. */
static void be_a_child(pid_t parent)
{
	struct rlimit limit;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

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
		dup2(null, STDERR_FILENO); /* of an abort() of the library's */
}

/* With the ends of ours that it is to have. */
static _Noreturn void become(const char *importer, const char *const *argv, int memory, int gone)
{
	fcntl(memory, F_SETFD, 0);
	fcntl(gone, F_SETFD, 0);
	execv(importer, (char *const *)argv);
	_exit(NOT_STARTED);
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

/* What whoever started us had us ignore stays ignored: nohup, and background jobs of a script. */
static void catch_signals(struct sigaction before[N_CAUGHT])
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND };

	for (size_t i = 0; i < N_CAUGHT; i++)
		if (!sigaction(caught[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
			sigaction(caught[i], &sa, NULL);
}

/* As they were. */
static void give_back_signals(const struct sigaction before[N_CAUGHT])
{
	for (size_t i = 0; i < N_CAUGHT; i++)
		sigaction(caught[i], &before[i], NULL);
}

static void watch(const struct bsa_import_options *options, const struct bsv_shared *s, int gone)
{
	struct pollfd p = { .fd = gone, .events = POLLIN };
	int r;

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
}

static int crashed(const struct bsa_import_options *options, int status, struct bsa_err *err)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	bsa_import_clean(options->output);
	if (interrupted)
		return bsa_fail(err, BSA_E_STOPPED, "stopped");
	if (signal == SIGKILL)
		return bsa_fail(err, BSA_E_ENV, "killed; was there no memory left?");
	if (!signal && WEXITSTATUS(status) == NOT_STARTED)
		return bsa_fail(err, BSA_E_ENV, "%s does not start; is libbabeltrace2 installed?", BSV_IMPORTER);
	if (!signal && WEXITSTATUS(status) == BSV_IMPORTER_STRANGE)
		return bsa_fail(err, BSA_E_ENV, "%s is not of this version; install burstscope again", BSV_IMPORTER);
	return bsa_fail(err, BSA_E_INPUT, "%s%s cannot be read: the library that reads traces has crashed on it (%s)",
	                options->traces[0], options->n_traces > 1 ? " or one of the others" : "",
	                signal ? strsignal(signal) : "it just ended");
}

/* ---- what the importer has said ---- */

static bool is_result(const struct bsv_shared *heard, const struct bsa_import_options *options)
{
	struct stat st;

	if (heard->code)
		return heard->code <= BSA_E_USAGE && heard->code >= BSA_E_STOPPED;
	return !stat(options->output, &st) && S_ISREG(st.st_mode); /* which it says that it has made */
}

/* A copy of what is in the memory, which nobody can change any more. False: it is not there, or cannot be. */
static bool hear(int memory, int status, const struct bsa_import_options *options, struct bsv_shared *ret)
{
	if (pread(memory, ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret) || ret->said != 1)
		return false;
	ret->err.text[sizeof(ret->err.text) - 1] = '\0';
	return WIFEXITED(status) && !WEXITSTATUS(status) && is_result(ret, options);
}

static int wait_for(const struct bsa_import_options *options, const struct bsv_shared *s, int memory, int gone,
                    struct bsa_imported *ret, struct bsa_err *err)
{
	struct bsv_shared heard;
	pid_t pid = child;
	int status = 0, ended = pidfd_open(pid, 0);

	if (interrupted) /* before there was a child to be told */
		kill(pid, SIGUSR1);
	watch(options, s, ended < 0 ? gone : ended);
	if (ended >= 0)
		close(ended);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	if (!hear(memory, status, options, &heard))
		return crashed(options, status, err);
	if (!heard.code)
		*ret = heard.imported;
	else if (err)
		*err = heard.err;
	return heard.code;
}

static int no_process(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "no process to import in: %s", strerror(errno));
}

/* What both share, and its file. NULL: errno says why. */
static struct bsv_shared *make_shared(int *ret_fd)
{
	int fd = memfd_create(BSV_IMPORTER, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *s = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(struct bsv_shared)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		s = mmap(NULL, sizeof(struct bsv_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED && fd >= 0)
		close(fd);
	*ret_fd = fd;
	return s == MAP_FAILED ? NULL : s;
}

/* The importer, or -1. Nobody can tell it to stop before it listens. */
static pid_t start(const char *importer, const char *const *argv, int memory, int gone)
{
	pid_t parent = getpid(), pid;
	sigset_t stop, before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGUSR1);
	sigprocmask(SIG_BLOCK, &stop, &before);
	pid = fork();
	if (!pid) {
		be_a_child(parent);
		become(importer, argv, memory, gone);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int import_with(const struct bsa_import_options *options, const char *importer, struct bsv_shared *s, int memory,
                       struct bsa_imported *ret, struct bsa_err *err)
{
	char fd[NUMBER_MAX], threads[NUMBER_MAX], flags[3] = "", service[NUMBER_MAX] = "-";
	const char **argv;
	struct sigaction before[N_CAUGHT];
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
	argv = arguments_of(options, fd, flags, threads, service);
	if (!argv || pipe2(gone, O_CLOEXEC)) {
		free(argv);
		return no_process(err);
	}
	interrupted = 0;
	catch_signals(before);
	pid = start(importer, argv, memory, gone[1]);
	child = pid > 0 ? pid : 0;
	close(gone[1]);
	r = pid < 0 ? no_process(err) : wait_for(options, s, memory, gone[0], ret, err);
	give_back_signals(before);
	close(gone[0]);
	free(argv);
	return r;
}

int bsv_import_apart(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err)
{
	char importer[PATH_MAX];
	struct bsv_shared *s;
	int memory, r = bsv_importer_find(importer, err);

	if (r < 0)
		return r;
	s = make_shared(&memory);
	if (!s)
		return no_process(err);
	r = import_with(options, importer, s, memory, ret, err);
	munmap(s, sizeof(*s));
	close(memory);
	return r;
}

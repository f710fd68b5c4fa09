/*
 * apart.c -- see apart.h: a child that imports, and a parent that waits for it.
 *
 * LAYOUT   What the child has to say is in memory that both share; a pipe of which only the child has the one end says that
 *          it is gone.
 * CRASH    A child that crashes leaves its result unsaid; the parent removes what it left. A parent that is killed takes its
 *          child with it, and the next import removes what that left.
 * SIGNALS  The terminal sends Ctrl-C to both: the child ignores it, and is told to stop by the parent, with SIGUSR1.
 */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 50 };
static const rlim_t most_memory = 1 << 30; /* an import takes some tens of MiB; a spoilt trace may ask for anything */

struct shared {
	atomic_uint_least64_t bytes, all_bytes, events;
	atomic_bool finishing;

	/* read once the child is gone */
	bool said;
	int code;
	struct bsa_imported imported;
	struct bsa_err err;
};

static volatile sig_atomic_t child, interrupted;

/* ---- the child ---- */

static void on_stop(int signal)
{
	(void)signal;
	interrupted = 1;
	bsa_import_stop();
}

static void tell(void *ctx, const struct bsa_import_progress *p)
{
	struct shared *s = ctx;

	if (interrupted) /* perhaps before there was an import to be stopped */
		bsa_import_stop();
	atomic_store_explicit(&s->bytes, p->bytes, memory_order_relaxed);
	atomic_store_explicit(&s->all_bytes, p->all_bytes, memory_order_relaxed);
	atomic_store_explicit(&s->events, p->events, memory_order_relaxed);
	atomic_store_explicit(&s->finishing, p->finishing, memory_order_relaxed);
}

/* Nobody but our parent has anything to say to us, and we have to say nothing but what is in @s. */
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
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_stop, .sa_flags = SA_RESTART }, NULL);
	if (BSV_LIMIT_MEMORY && !getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur > most_memory) {
		limit.rlim_cur = most_memory;
		setrlimit(RLIMIT_DATA, &limit);
	}
	if (null >= 0)
		dup2(null, STDERR_FILENO); /* of an abort() of the library's */
}

static _Noreturn void import(const struct bsa_import_options *options, struct shared *s)
{
	struct bsa_import_options own = *options;

	own.progress = tell;
	own.progress_ctx = s;
	s->code = bsa_import(&own, &s->imported, &s->err);
	s->said = true;
	_exit(0);
}

/* ---- the parent ---- */

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
	if (child)
		kill(child, SIGUSR1);
}

static void catch_signals(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND };

	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++) {
		struct sigaction before;

		/* what whoever started us had us ignore stays ignored: nohup, and background jobs of a script */
		if (!sigaction(caught[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(caught[i], &sa, NULL);
	}
}

static void watch(const struct bsa_import_options *options, const struct shared *s, int gone)
{
	struct pollfd p = { .fd = gone };
	int r;

	do {
		struct bsa_import_progress progress = {
			.bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed),
			.all_bytes = atomic_load_explicit(&s->all_bytes, memory_order_relaxed),
			.events = atomic_load_explicit(&s->events, memory_order_relaxed),
			.finishing = atomic_load_explicit(&s->finishing, memory_order_relaxed),
		};

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
	return bsa_fail(err, BSA_E_INPUT, "%s%s cannot be read: the library that reads traces has crashed on it (%s)",
	                options->traces[0], options->n_traces > 1 ? " or one of the others" : "",
	                signal ? strsignal(signal) : "it just ended");
}

static int wait_for(const struct bsa_import_options *options, struct shared *s, int gone, struct bsa_imported *ret,
                    struct bsa_err *err)
{
	pid_t pid = child;
	int status = 0;

	if (interrupted) /* before there was a child to be told */
		kill(pid, SIGUSR1);
	watch(options, s, gone);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	if (!s->said)
		return crashed(options, status, err);
	if (s->code >= 0)
		*ret = s->imported;
	else if (err)
		*err = s->err;
	return s->code;
}

static int no_process(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "no process to import in: %s", strerror(errno));
}

int bsv_import_apart(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err)
{
	pid_t parent = getpid(), pid;
	struct shared *s;
	int gone[2], r;

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED || pipe2(gone, O_CLOEXEC))
		return no_process(err);
	catch_signals();
	pid = fork();
	if (pid < 0)
		return no_process(err);
	if (!pid) {
		close(gone[0]);
		be_a_child(parent);
		import(options, s);
	}
	child = pid;
	close(gone[1]);
	r = wait_for(options, s, gone[0], ret, err);
	close(gone[0]);
	munmap(s, sizeof(*s));
	return r;
}

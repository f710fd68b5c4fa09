/*
 * daemon.c -- looks for a session daemon, starts one of our own if there is none, and waits until
 * it answers.
 *
 * SIGNALS  A session daemon of our own starts with the default action for all signals, whatever we
 *          block or ignore. It has its own process group, so Ctrl-C does not reach it.
 * CRASH    It is shared (keeper.h): if we are killed, it runs on for the others who use it, or
 *          ends. Where there can be no keeper, it gets SIGTERM when we end. Its output goes to
 *          memory, so no reader is needed.
 *          While a daemon ends, it answers no request, and no other one can start: a recording that
 *          begins then waits for its end.
 */
#include "record/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/keeper.h"
#include "record/programs.h"
#include "record/session.h"

enum {
	LOOK_MS = 20,
	PATIENCE_S = 30,
	ENDS_S = 10 /* time for another daemon to end, with its consumer daemons, or to begin */
};

/* The words of lttng-sessiond for it. */
static const char another_runs[] = "A session daemon is already running.";

/* The daemon that was left to others, and is our child still; 0: none. */
static pid_t left;

/* As liblttng-ctl's own program finds it. */
static const char *daemon_program(void)
{
	const char *path = getenv("LTTNG_SESSIOND_PATH");

	return path && *path ? path : "lttng-sessiond";
}

/*
 * Without --no-kernel, a daemon of root loads the modules of the kernel tracer, which takes time
 * and changes the machine.
 */
static _Noreturn void be_daemon(pid_t parent, const struct bsv_daemon *d, bool kernel)
{
	char *const argv[] = { (char *)daemon_program(), kernel ? NULL : (char *)"--no-kernel", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), noted;
	sigset_t none;

	if (d->shared < 0)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(d->output, STDOUT_FILENO);
	dup2(d->output, STDERR_FILENO);
	noted = d->shared >= 0 ? bsv_keeper_note(d->shared) : 0;
	if (noted) {
		if (noted > 0)
			dprintf(STDERR_FILENO, "%s\n", another_runs);
		else
			dprintf(STDERR_FILENO, "cannot write burstscope.lock beside the daemon's sockets: %s\n",
			        strerror(-noted));
		_exit(1);
	}
	execvp(*argv, argv);
	dprintf(STDERR_FILENO, "%s\n", strerror(errno));
	_exit(127);
}

/* Is our own still there? */
static bool own_runs(struct bsv_daemon *d)
{
	if (waitpid(d->pid, NULL, WNOHANG) != d->pid)
		return true;
	d->pid = 0;
	return false;
}

/* The last line of its output. */
static void last_words(int output, char ret[256])
{
	char text[4096], *line = text;
	off_t end = lseek(output, 0, SEEK_END), from = end > 4095 ? end - 4095 : 0;
	ssize_t n = pread(output, text, sizeof(text) - 1, from);

	text[n > 0 ? n : 0] = 0;
	for (char *at = text; *at; at++)
		if (*at == '\n' && at[1])
			line = at + 1;
	snprintf(ret, 256, "%.*s", (int)strcspn(line, "\n"), line);
	for (char *at = ret; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static void look_again_soon(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
}

/* A daemon that has no keeper, or that does not answer one. */
static void end_own(struct bsv_daemon *d)
{
	if (d->pid > 0) {
		bool is_written = bsv_session_none(d->lttng);

		kill(d->pid, SIGTERM);
		for (int i = 0; own_runs(d) && i < PATIENCE_S * 1000 / LOOK_MS; i++) {
			if (is_written && i == BSV_CONSUMERS_END_MS / LOOK_MS)
				bsv_programs_end_consumers(d->pid);
			look_again_soon();
		}
	}
	if (d->pid > 0) { /* the daemon hangs */
		kill(d->pid, SIGKILL);
		while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static int not_started(struct bsv_daemon *d, const char *what, struct bsa_err *err)
{
	char words[256];

	end_own(d);
	last_words(d->output, words);
	return bsa_fail(err, BSA_E_ENV, "%s %s%s%s; run burstscope doctor to check the installation of lttng-tools",
	                daemon_program(), what, *words ? ": " : "", words);
}

/*
 * Whether our daemon has ended because it found another one that does not answer: that one is
 * ending, or has just begun.
 */
static bool found_another(const struct bsv_daemon *d)
{
	char words[256];

	last_words(d->output, words);
	return strstr(words, "already running") != NULL;
}

/* 0; or, when ours has ended since there is another one, 1. */
static int start_own(struct bsv_daemon *d, const struct bsv_lttng *lttng, bool kernel, bool patient,
                     struct bsa_err *err)
{
	pid_t parent = getpid();

	if (d->shared >= 0) /* before there is a daemon, so that no daemon is left without a keeper to end it */
		bsv_keeper_begin(d->shared, lttng);
	d->output = memfd_create("lttng-sessiond", MFD_CLOEXEC);
	d->pid = d->output < 0 ? -1 : fork();
	if (d->pid < 0) {
		d->pid = 0;
		return bsa_fail(err, BSA_E_ENV, "no process for a session daemon: %s", strerror(errno));
	}
	if (!d->pid)
		be_daemon(parent, d, kernel);
	for (int i = 0; i < PATIENCE_S * 1000 / LOOK_MS; i++) {
		if (!own_runs(d))
			return patient && found_another(d) ? 1 : not_started(d, "does not start", err);
		if (lttng->session_daemon_alive() == 1)
			return 0;
		look_again_soon();
	}
	return not_started(d, "starts, and does not answer", err);
}

static void close_output(struct bsv_daemon *d)
{
	if (d->output >= 0)
		close(d->output);
	d->output = -1;
}

int bsv_daemon_open(struct bsv_daemon *ret, const struct bsv_lttng *lttng, bool kernel, struct bsa_err *err)
{
	char directory[PATH_MAX];
	uint64_t until;
	int r = 1;

	if (left && waitpid(left, NULL, WNOHANG))
		left = 0;
	*ret = (struct bsv_daemon){ .output = -1, .lttng = lttng, .shared = bsv_keeper_share() };
	if (ret->shared >= 0)
		bsv_keeper_begin_start(ret->shared);

	/* Start a daemon unless there is one. */
	until = bsv_now_ms() + ENDS_S * 1000;
	while (r > 0 && lttng->session_daemon_alive() != 1) {
		/*
		 * A session daemon that is killed leaves its consumer daemons, which end a moment later and then
		 * remove their sockets by name. The daemon that is started here gives its own consumer daemons the
		 * same names. If it started before that moment, it could lose their sockets, and then LTTng can
		 * make no channel.
		 */
		while (bsv_keeper_directory(directory) && bsv_programs_consume(directory) && bsv_now_ms() < until)
			look_again_soon();
		r = start_own(ret, lttng, kernel, bsv_now_ms() < until, err);
		if (r > 0) {
			close_output(ret);
			look_again_soon();
		}
	}

	if (ret->shared >= 0) {
		bsv_keeper_end_start(ret->shared);
		bsv_keeper_look(ret->shared, lttng);
	}
	if (r < 0)
		bsv_daemon_close(ret);
	return r < 0 ? r : 0;
}

bool bsv_daemon_alive(struct bsv_daemon *d, const struct bsv_lttng *lttng)
{
	if (d->pid) {
		if (own_runs(d))
			return true;
		/* another program takes no lock of ours, and may have started a daemon at the same time */
		if (!found_another(d))
			return false;
	}
	return lttng->session_daemon_alive() == 1;
}

void bsv_daemon_close(struct bsv_daemon *d)
{
	if (!d->lttng)
		return;
	if (d->shared >= 0)
		bsv_keeper_leave(d->shared, d->lttng);
	else
		end_own(d);
	if (d->pid > 0 && own_runs(d))
		left = d->pid;
	close_output(d);
	*d = (struct bsv_daemon){ .output = -1, .shared = -1 };
}

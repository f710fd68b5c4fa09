/*
 * workload.c -- starts the recorded command, and waits for its end or for a signal.
 *
 * SIGNALS  There are no handlers. A blocked signal stays pending until bsv_signals_next takes it,
 *          so nothing is interrupted half done and no signal is missed. Several signals of a kind
 *          are seen as one, which is enough: children are waited for one by one.
 * CRASH    If we are killed, a command in our process group goes on; one in a group of its own gets SIGTERM.
 */
#include "record/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/screen.h"
#include "input/places.h"

enum { PATIENCE_MS = 10000, REPORT_MS = 1000, LOOK_MS = 100 };

/* ---- signals ---- */

void bsv_signals_hold(struct bsv_signals *s)
{
	static const int ours[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction before;

	sigemptyset(&s->held);
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		/* signals that were ignored when we were started stay ignored: nohup, background jobs of a script */
		if (!sigaction(ours[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaddset(&s->held, ours[i]);
	sigaddset(&s->held, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, &s->pipe_before); /* a daemon that has gone */
	sigprocmask(SIG_BLOCK, &s->held, &s->before);
}

/* As it was before: when we are done, and in a child before it becomes another program. */
static void restore_signals(const struct bsv_signals *s)
{
	sigaction(SIGPIPE, &s->pipe_before, NULL);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

void bsv_signals_release(struct bsv_signals *s)
{
	const struct timespec none = { 0 };

	while (sigtimedwait(&s->held, NULL, &none) > 0) /* drop pending signals: they were acted upon */
		;
	restore_signals(s);
}

int bsv_signals_next(const struct bsv_signals *s, int ms, bool *ret_typed)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	siginfo_t info;
	int signal = sigtimedwait(&s->held, &info, &t);

	if (signal <= 0)
		return 0;
	*ret_typed = info.si_code == SI_KERNEL;
	return signal;
}

/* ---- the command ---- */

int bsv_workload_find(const char *name, struct bsa_err *err)
{
	char whole[PATH_MAX];
	struct stat st;

	if (!strchr(name, '/'))
		return bsv_place_in_path(name, whole)
		               ? 0
		               : bsa_fail(err, BSA_E_USAGE, "%s: there is no such program in $PATH", name);
	if (stat(name, &st) || !S_ISREG(st.st_mode) || access(name, X_OK))
		return bsa_fail(err, BSA_E_USAGE, "%s is no program that can be run", name);
	return 0;
}

int bsv_workload_start(struct bsv_workload *w, const char *const *argv, const struct bsv_signals *s,
                       struct bsa_err *err)
{
	pid_t parent = getpid();
	int failed[2], null, why = 0;

	if (pipe2(failed, O_CLOEXEC))
		return bsa_fail(err, BSA_E_ENV, "no pipe: %s", strerror(errno));
	w->pid = fork();
	if (!w->pid) {
		null = w->silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
		if (null >= 0)
			dup2(null, STDOUT_FILENO);
		if (w->apart) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			if (getppid() != parent)
				_exit(1);
			setsid();
		}
		restore_signals(s);
		execvp(*argv, (char *const *)argv);
		why = errno;
		_exit(write(failed[1], &why, sizeof(why)) < 0 ? 126 : 127);
	}
	why = w->pid < 0 ? errno : 0;
	close(failed[1]);
	while (!why && read(failed[0], &why, sizeof(why)) < 0 && errno == EINTR)
		;
	close(failed[0]);
	if (!why)
		return 0;
	if (w->pid > 0)
		waitpid(w->pid, NULL, 0);
	w->pid = 0;
	return bsa_fail(err, BSA_E_USAGE, "%s cannot be run: %s", *argv, strerror(why));
}

bool bsv_workload_ended(struct bsv_workload *w)
{
	if (w->pid && !w->ended && waitpid(w->pid, &w->status, WNOHANG) == w->pid)
		w->ended = true;
	return w->ended;
}

void bsv_workload_stop(struct bsv_workload *w, const struct bsv_signals *s)
{
	const uint64_t asked_at = bsv_now();
	bool reported = !w->told_as;

	if (!w->pid)
		return;
	while (!bsv_workload_ended(w)) {
		bool typed;
		int signal = bsv_signals_next(s, LOOK_MS, &typed), waited = (int)((bsv_now() - asked_at) / 1000000);

		if (waited >= REPORT_MS && !reported)
			bsv_notice("waiting: %s (pid %ld) has not ended yet; after %d s it gets SIGKILL", w->told_as,
			           (long)w->pid, PATIENCE_MS / 1000);
		reported |= waited >= REPORT_MS;
		if (waited < PATIENCE_MS && (!signal || signal == SIGCHLD))
			continue;
		if (!kill(w->pid, SIGKILL) && !w->killed_after_ms)
			w->killed_after_ms = waited ? waited : 1;
	}
}

int bsv_workload_exit_status(const struct bsv_workload *w)
{
	return WIFSIGNALED(w->status) ? 128 + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}

const char *bsv_workload_text(const struct bsv_workload *w, char to[BSV_WORKLOAD_TEXT])
{
	if (WIFSIGNALED(w->status) && WTERMSIG(w->status) == SIGKILL && w->killed_after_ms)
		snprintf(to, BSV_WORKLOAD_TEXT, "was ended by burstscope's SIGKILL, %.1f s after it was asked to end",
		         w->killed_after_ms / 1e3);
	else if (WIFSIGNALED(w->status))
		snprintf(to, BSV_WORKLOAD_TEXT, "was ended by SIG%s", sigabbrev_np(WTERMSIG(w->status)));
	else
		snprintf(to, BSV_WORKLOAD_TEXT, "ended with %d", WEXITSTATUS(w->status));
	return to;
}

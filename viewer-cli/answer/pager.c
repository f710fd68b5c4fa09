/*
 * pager.c -- see pager.h.
 *
 * SIGNALS  While there is a pager, Ctrl-C is the pager's, and a pager that has gone is a write that fails: SIGINT and SIGPIPE are ignored,
 *          and are afterwards as they were. The child is forked before, and so has them as they were.
 * CRASH    If we are killed the pager is at the end of its input, and stays until its reader has had enough.
 */
#include "answer/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *command(void)
{
	const char *ours = getenv("BURSTSCOPE_PAGER"), *all = getenv("PAGER"), *term = getenv("TERM");
	const char *ret = ours ? ours : all && *all ? all : "less";

	return !*ret || !strcmp(ret, "cat") || !term || !strcmp(term, "dumb") ? NULL : ret;
}

static _Noreturn void be_the_pager(const char *run, int from)
{
	dup2(from, STDIN_FILENO);
	/* less: end where it fits on one page, do not fold lines, let colours through, and leave the page on the screen */
	setenv("LESS", "FRSX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", run, (char *)NULL);
	_exit(127);
}

static bool there_is(const char *run)
{
	char test[512];
	size_t n = strcspn(run, " \t;|&<>()'\"$`\\");

	if (run[n] || n + 32 > sizeof(test)) /* more than a word: sh may say what it thinks of it */
		return true;
	snprintf(test, sizeof(test), "command -v %s >/dev/null 2>&1", run);
	return !system(test);
}

void bsv_pager_begin(struct bsv_pager *p, bool wanted)
{
	const char *run = wanted && isatty(STDOUT_FILENO) ? command() : NULL;
	int fds[2];

	*p = (struct bsv_pager){ .to = stdout };
	if (!run || !there_is(run) || pipe2(fds, O_CLOEXEC))
		return;
	fflush(stdout);
	p->pid = fork();
	if (p->pid == 0)
		be_the_pager(run, fds[0]);
	close(fds[0]);
	p->to = p->pid > 0 ? fdopen(fds[1], "w") : NULL;
	if (!p->to) {
		close(fds[1]);
		p->to = stdout;
		return;
	}
	p->on_pipe = signal(SIGPIPE, SIG_IGN);
	p->on_interrupt = signal(SIGINT, SIG_IGN); /* that one is the pager's */
}

void bsv_pager_end(struct bsv_pager *p)
{
	if (p->to == stdout)
		return;
	fclose(p->to);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGPIPE, p->on_pipe);
	signal(SIGINT, p->on_interrupt);
}

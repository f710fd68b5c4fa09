/*
 * pager.c -- starts the pager behind a pipe, which answers are written to, and waits for its
 * end.
 *
 * SIGNALS  While the pager runs, it handles Ctrl-C, and its end makes our writes fail: we ignore
 *          SIGINT and SIGPIPE, and restore their handlers afterwards. The pager is forked before
 *          that, and so inherits the original handlers.
 * CRASH    If this process is killed, the pager reaches the end of its input, and stays until the user leaves it.
 */
#include "answer/pager.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool pager_exists(const char *run)
{
	char test[512];
	size_t n = strcspn(run, " \t;|&<>()'\"$`\\");

	if (run[n] || n + 32 > sizeof(test)) /* more than a word: sh reports an error itself */
		return true;
	snprintf(test, sizeof(test), "command -v %s >/dev/null 2>&1", run);
	return !system(test);
}

void bsv_pager_begin(struct bsv_pager *p, bool wanted)
{
	const char *ours = getenv("BURSTSCOPE_PAGER"), *all = getenv("PAGER"), *term = getenv("TERM");
	const char *run = ours ? ours : all && *all ? all : "less";
	int fds[2];

	*p = (struct bsv_pager){ .to = stdout };
	if (!wanted || !isatty(STDOUT_FILENO) || !*run || !strcmp(run, "cat") || !term || !strcmp(term, "dumb"))
		return;
	if (!pager_exists(run) || pipe2(fds, O_CLOEXEC))
		return;
	fflush(stdout);
	p->pid = fork();
	if (p->pid == 0) {
		dup2(fds[0], STDIN_FILENO);
		/*
		 * less: end where it fits on one page, do not fold lines, let colours through, and
		 * leave the page on the screen
		 */
		setenv("LESS", "FRSX", 0);
		setenv("LV", "-c", 0);
		execl("/bin/sh", "sh", "-c", run, (char *)NULL);
		_exit(127);
	}
	close(fds[0]);
	p->to = p->pid > 0 ? fdopen(fds[1], "w") : NULL;
	if (!p->to) {
		close(fds[1]);
		p->to = stdout;
		return;
	}
	p->on_pipe = signal(SIGPIPE, SIG_IGN);
	p->on_interrupt = signal(SIGINT, SIG_IGN); /* the pager handles Ctrl-C */
}

void bsv_pager_end(struct bsv_pager *p)
{
	if (p->to == stdout)
		return;
	assert(p->pid > 0);
	fclose(p->to);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGPIPE, p->on_pipe);
	signal(SIGINT, p->on_interrupt);
}

/* browser.c -- opens a page in the user's browser. */
#include "base/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OPENER_LOOKS = 75 }; /* 1.5 s */

extern char **environ;

/* The error output of xdg-open is dropped: xdg-open prints an error for each browser that it looks for. */
int bsv_browser_open(const char *page, struct bsa_err *err)
{
	char path[PATH_MAX]; /* an absolute path is no option and no URL */
	char *const argv[] = { "xdg-open", realpath(page, path) ? path : (char *)page, NULL };
	const struct timespec a_while = { .tv_nsec = 20000000 };
	posix_spawn_file_actions_t actions;
	pid_t pid, ended = 0;
	int status = 0;
	int r = posix_spawn_file_actions_init(&actions);

	if (!r) {
		r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		if (!r)
			r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (r)
		return bsa_fail(err, BSA_E_ENV, "%s is there, but cannot be opened: xdg-open: %s", page, strerror(r));
	/* xdg-open ends at once if there is no browser; otherwise it may run for as long as the browser does. */
	for (int i = 0; i < OPENER_LOOKS; i++) {
		ended = waitpid(pid, &status, WNOHANG);
		if (ended == pid || (ended < 0 && errno != EINTR))
			break;
		nanosleep(&a_while, NULL);
	}
	if (ended == pid && status)
		return bsa_fail(err, BSA_E_ENV, "%s is there, but xdg-open finds no browser to open it", page);
	return 0;
}

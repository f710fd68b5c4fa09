/* report.c -- burstscope report: a recording as one page that any browser opens, with what the commands answer in it. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "report/make.h"

#define LEAST_BYTES INT64_C(1000000)

enum { OPENER_LOOKS = 75 }; /* 1.5 s */

extern char **environ;

struct options {
	const char *output, *title, *compare;
	struct bsv_quantity max_size;
	bool open;
};

static const struct bsv_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "FILE.html",
	  .says = "the page, written when it is whole; otherwise the standard output",
	  .offset = offsetof(struct options, output) },
	{ .name = "title",
	  .kind = BSV_TEXT,
	  .argument = "TEXT",
	  .says = "what the page is called; otherwise the recording's name",
	  .offset = offsetof(struct options, title) },
	{ .name = "compare",
	  .kind = BSV_TEXT,
	  .argument = "INPUT2",
	  .says = "show INPUT2 beside INPUT, and how it differs, as burstscope diff answers",
	  .offset = offsetof(struct options, compare) },
	{ .name = "max-size",
	  .kind = BSV_SIZE,
	  .argument = "SIZE",
	  .says = "how large the page may become (20M); beyond it, the page has a stated share of the executions",
	  .offset = offsetof(struct options, max_size) },
	{ .name = "open", .says = "open the page in a browser", .offset = offsetof(struct options, open) },
	{ .name = NULL },
};

static int check(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;

	if (!o->output && o->open)
		return bsa_fail(err, BSA_E_USAGE, "--open opens a file: give -o FILE.html");
	if (!o->output && isatty(STDOUT_FILENO))
		return bsa_fail(err, BSA_E_USAGE, "a page is for a browser: give -o FILE.html");
	if (o->max_size.given && o->max_size.value < LEAST_BYTES)
		return bsa_fail(err, BSA_E_USAGE, "--max-size: a page takes at least 1M");
	return 0;
}

/* xdg-open ends at once where there is no browser, and may go on for as long as the browser does where there is one. */
static int opener_status(pid_t pid)
{
	const struct timespec a_while = { .tv_nsec = 20000000 };
	int status = 0;

	for (int i = 0; i < OPENER_LOOKS; i++) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended == pid)
			return status;
		if (ended < 0 && errno != EINTR)
			return 0;
		nanosleep(&a_while, NULL);
	}
	return 0;
}

/* What xdg-open says is left out: it says it of each browser that it looks for. */
static int open_browser(const char *page, struct bsa_err *err)
{
	char *const argv[] = { "xdg-open", (char *)page, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r = posix_spawn_file_actions_init(&actions);

	if (!r) {
		r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		if (!r)
			r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (r)
		return bsa_fail(err, BSA_E_ENV, "%s is written; it cannot be opened: xdg-open: %s", page, strerror(r));
	if (opener_status(pid))
		return bsa_fail(err, BSA_E_ENV, "%s is written; xdg-open finds no browser to open it with", page);
	return 0;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	const struct bsv_report_wanted wanted = {
		.output = o->output, .title = o->title, .compare = o->compare, .bytes = o->max_size.value
	};
	int r = check(call, err);

	if (r >= 0)
		r = bsv_report_make(call, call->operands[0], &wanted, err);
	return r >= 0 && o->open ? open_browser(o->output, err) : r;
}

const struct bsv_command bsv_report_command = {
	.name = "report",
	.operands = "[INPUT]",
	.says = "one page that any browser opens: findings, timeline, latency, misses, fairness",
	.examples = "  burstscope report -o bursts.html bursts.db\n"
		    "  burstscope report -o slow.html --from 2s --to 3s --open bursts.db\n"
		    "  burstscope report -o change.html --compare after.db before.db\n",
	.more = "The page needs no network and no server: it can be sent as it is. Its tables are what the commands "
		"answer, of\n"
		"each part the first 500 rows.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.asks = BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_ANY,
	.run = run,
};

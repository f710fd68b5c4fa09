/*
 * maker.c -- makes a case of a snapshot in a child: import, diagnosis, case.json.
 *
 * CRASH  The process is killed when the watcher dies: what it leaves is a case that is half made.
 *        If it crashes itself, or takes longer than the watcher has patience, the watcher writes
 *        that down in case.json, beside the trace.
 */
#include "watch/maker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scoped.h"
#include "base/text.h"
#include "input/apart.h"
#include "input/input.h"
#include "record/packets.h"
#include "report/make.h"
#include "watch/diagnose.h"

enum { MADE, NOTHING, NOT_EXPLAINED }; /* its exit status */

static int path_in(const char *directory, const char *name, char ret[PATH_MAX], struct bsa_err *err)
{
	if (snprintf(ret, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
		return bsa_fail(err, BSA_E_ENV, "%s: too long a name", directory);
	return 0;
}

/*
 * The timeline and the charts of the page are about the time of the case: of a quiet cpu the
 * buffers may hold what happened hours ago. Its commands name the database by @known_as, because a
 * reader copies them when the case is finished.
 */
static int make_page(const struct bsv_case *c, const char *database, const char *known_as, const char *page,
                     struct bsa_err *err)
{
	struct bsv_call call = { .command = &bsv_report_command, .common.quiet = true, .known_as = known_as };
	const struct bsv_page_wanted wanted = { .output = page, .title = c->summary };
	bsv_scoped_input input = { .db = NULL };
	int64_t from;
	int r = bsv_input_open(&input, database, &call, err);

	if (r < 0)
		return r;
	from = bsv_diagnose_when(c, &input, err) - c->before - input.began;
	if (from > 0)
		call.asked.from = (struct bsv_quantity){ .given = true, .value = from };
	return bsv_page_make(&call, database, &wanted, err);
}

static void not_explained(struct bsv_case *c, const char *why)
{
	free(c->state);
	free(c->why);
	c->state = strdup("unexplained");
	c->why = strdup(why);
	if (!c->summary)
		c->summary = bsv_text("%s fired, and is not explained: %s", c->n_fired ? c->fired[0].on : "a condition",
		                      why);
}

static int make_case(struct bsv_case *c, const char *directory)
{
	char database[PATH_MAX], known_as[PATH_MAX], page[PATH_MAX];
	const struct bsa_import_options wanted = { .traces = &directory, .n_traces = 1, .output = database };
	struct bsa_imported imported = { .begun_later = 1 }; /* of a trace that is not imported, it is not known */
	const size_t n = strlen(directory), half = strlen(BSV_CASE_HALF);
	bool is_half = n > half && !strcmp(directory + n - half, BSV_CASE_HALF);
	bsv_scoped_text *final = strndup(directory, is_half ? n - half : n); /* as it is called when it is finished */
	struct bsa_err err = { "" };
	bool met = true;
	int r = path_in(directory, "trace.db", database, &err);

	if (r >= 0)
		r = path_in(directory, "report.html", page, &err);
	if (r >= 0)
		r = final ? path_in(final, "trace.db", known_as, &err) : bsv_no_memory(&err);
	if (r >= 0 && access(database, F_OK)) /* a session at a relay daemon has no trace, but a database at once */
		r = bsv_import_apart(&wanted, &imported, &err);
	if (imported.begun_later)
		c->watched = -1;
	if (r >= 0)
		r = bsv_diagnose(c, database, &met, &err);
	if (r >= 0 && !met)
		return NOTHING;
	if (r < 0)
		not_explained(c, err.text);
	else if (make_page(c, database, known_as, page, &err) < 0 && !c->why)
		c->why = bsv_text("there is no page of it: %s", err.text);
	c->bytes = bsv_directory_bytes(directory);
	return bsv_case_write(c, directory, &err) < 0 ? NOT_EXPLAINED : MADE;
}

pid_t bsv_maker_start(const char *directory, struct bsa_err *err)
{
	pid_t parent = getpid(), pid;
	int status = NOT_EXPLAINED;
	struct bsv_case c;
	sigset_t none;

	fflush(NULL); /* otherwise the child would write our buffered output again */
	pid = fork();
	if (pid < 0)
		return bsa_fail(err, BSA_E_ENV, "no process to make a case: %s", strerror(errno));
	if (pid > 0)
		return pid;

	/* the maker */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NOT_EXPLAINED);
	setpgid(0, 0); /* Ctrl-C is for the watcher, which waits for us */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (bsv_case_read(&c, directory, err) >= 0) {
		status = make_case(&c, directory);
		bsv_case_fini(&c);
	}
	_exit(status);
}

enum bsv_made bsv_maker_result(int status, const char *directory)
{
	struct bsa_err err = { "" };
	struct bsv_case half;
	char why[96];

	if (WIFEXITED(status) && WEXITSTATUS(status) == NOTHING)
		return BSV_MADE_NOTHING;
	if (WIFEXITED(status) && WEXITSTATUS(status) == MADE)
		return BSV_MADE_CASE;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "the import was ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "the case could not be written");
	if (bsv_case_read(&half, directory, &err) < 0)
		return BSV_MADE_NOTHING;
	not_explained(&half, why);
	bsv_case_write(&half, directory, &err);
	bsv_case_fini(&half);
	return BSV_MADE_CASE;
}

/*
 * demo.c -- burstscope demo: records, imports and analyses a workload of our own, first with an
 * unfair service, then with a fair one.
 *
 * SIGNALS  Blocked from the first file made to the last file removed; each wait takes them from
 *          bsv_signals (workload.h).
 * CRASH    If this process is killed, the service gets SIGTERM, and the directory of its socket stays below /tmp.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/command.h"
#include "base/numbers.h"
#include "base/rows.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "base/template.h"
#include "base/text.h"
#include "input/places.h"
#include "record/record.h"
#include "record/workload.h"

#define SCENARIO "demo"

enum { DEFAULT_S = 5, LOOK_MS = 20, PATIENCE_LOOKS = 1500, MOST_WORDS = 16 };

struct options {
	const char *output;
	struct bsv_quantity duration;
};

static const struct bsv_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "DIR",
	  .says = "keep the recordings in this directory (default: burstscope-demo-YYYYmmdd-HHMMSS)",
	  .offset = offsetof(struct options, output) },
	{ .name = "for",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "length of each of the two recordings (default: 5s); below 3s they show little",
	  .offset = offsetof(struct options, duration) },
	{ .name = NULL },
};

struct demo {
	const struct bsv_call *call;
	struct bsv_screen screen;
	struct bsv_signals signals;
	char self[PATH_MAX], service[PATH_MAX], load[PATH_MAX];
	char scratch[64], socket[80], duration[32];
	char *directory; /* directory of all files that are kept */
	struct bsv_workload daemon;
};

/* ---- the service ---- */

static int service_start(struct demo *d, const char *policy, struct bsa_err *err)
{
	const char *const argv[] = { d->service, "--socket", d->socket, "--app-identity", "pid",    "--lanes",
		                     "1",        "--policy", policy,    "--deadline",     "advise", NULL };
	struct stat st;
	int r;

	d->daemon = (struct bsv_workload){ .apart = true };
	r = bsv_workload_start(&d->daemon, argv, &d->signals, err);
	for (int i = 0; r >= 0 && stat(d->socket, &st); i++) {
		const struct timespec a_while = { .tv_nsec = LOOK_MS * 1000000L };

		if (bsv_workload_ended(&d->daemon) || i > PATIENCE_LOOKS)
			return bsa_fail(err, BSA_E_ENV, "nnburstd does not start");
		nanosleep(&a_while, NULL);
	}
	return r;
}

static void service_stop(struct demo *d)
{
	if (d->daemon.pid && !bsv_workload_ended(&d->daemon)) {
		kill(d->daemon.pid, SIGTERM);
		bsv_workload_stop(&d->daemon, &d->signals);
	}
	d->daemon = (struct bsv_workload){ .pid = 0 };
	unlink(d->socket);
}

/* ---- programs ---- */

/* @say: in place of the program's path. */
static void command_print(const struct demo *d, const char *say, const char *const *words)
{
	printf("\n%s$ %s", bsv_paint_on(&d->screen, BSV_TITLE), say);
	for (int i = 0; i < MOST_WORDS && words[i]; i++)
		if (strcmp(words[i], "--no-pager") != 0) {
			putchar(' ');
			bsv_print_word(words[i], stdout);
		}
	puts(bsv_paint_off(&d->screen, BSV_TITLE));
	fflush(stdout);
}

/*
 * Print the command line, and run it. @most: the largest exit status that is not an error. @silent: its output is not
 * shown, and the caller has printed the command line.
 */
static int program_run(struct demo *d, const char *say, const char *program, const char *const *words, int most,
                       bool silent, struct bsa_err *err)
{
	const char *argv[MOST_WORDS + 2] = { program };
	struct bsv_workload w = { .silent = silent };
	char text[BSV_WORKLOAD_TEXT];
	int r;

	for (int i = 0; i < MOST_WORDS && words[i]; i++)
		argv[i + 1] = words[i];
	if (!silent)
		command_print(d, say, words);
	r = bsv_workload_start(&w, argv, &d->signals, err);
	if (r < 0)
		return r;

	/* Wait until the program ends, or a signal arrives. */
	while (!bsv_workload_ended(&w)) {
		bool typed;
		int signal = bsv_signals_next(&d->signals, 1000, &typed);

		if (!signal || signal == SIGCHLD)
			continue;
		if (!typed)
			kill(w.pid, signal);
		bsv_workload_stop(&w, &d->signals);
		return bsa_fail(err, BSA_E_STOPPED, "stopped; the files so far are in %s", d->directory);
	}
	if (!WIFEXITED(w.status) || WEXITSTATUS(w.status) > most)
		return bsa_fail(err, BSA_E_ENV, "%s %s", say, bsv_workload_text(&w, text));
	return 0;
}

/* Run burstscope COMMAND [WORD] INPUT. */
static int burstscope_run(struct demo *d, const char *command, const char *word, const char *input, struct bsa_err *err)
{
	const char *words[] = { command, "--no-pager", word ? word : input, word ? input : NULL, NULL };

	return program_run(d, "burstscope", d->self, words, BSV_DONE, false, err);
}

static char *kept_path(const struct demo *d, const char *name, const char *ending)
{
	return bsv_text("%s/%s%s", d->directory, name, ending);
}

static int record_into(struct demo *d, const char *trace, const char *policy, struct bsa_err *err)
{
	const struct bsv_recording_options wanted = { .directory = trace,
		                                      .min_free = UINT64_MAX,
		                                      .quiet = d->call->common.quiet };
	struct bsv_recording recording = { .directory = NULL };
	struct bsv_recorded done = { .bytes = 0 };
	const char *const words[] = { "--quiet", "--socket", d->socket, "--duration", d->duration, SCENARIO, NULL };
	bsv_scoped_text *as = bsv_text("burstscope record --service %s -o %s -- nnburst-load", d->socket, trace);
	int r = bsv_recording_plan(&recording, &wanted, err);

	printf("\n%s$ nnburstd --socket %s --app-identity pid --lanes 1 --policy %s --deadline advise &%s\n",
	       bsv_paint_on(&d->screen, BSV_TITLE), d->socket, policy, bsv_paint_off(&d->screen, BSV_TITLE));
	/* printed as the one burstscope command that does the same, before what the recording reports */
	if (as)
		command_print(d, as, words);
	if (r >= 0)
		r = bsv_recording_start(&recording, err);
	if (r >= 0)
		r = service_start(d, policy, err);
	if (r >= 0)
		bsv_recording_is_of_service(&recording, d->daemon.pid);
	if (r >= 0)
		r = as ? program_run(d, as, d->load, words, BSV_DONE, true, err) : bsv_no_memory(err);
	service_stop(d);
	if (r >= 0)
		r = bsv_recording_stop(&recording, err);
	if (r >= 0)
		r = bsv_recording_result(&recording, &done, err);
	if (r >= 0 && !d->call->common.quiet) {
		bsv_recording_advise(&recording, &done, 0);
		fprintf(stderr, "recorded %s: %.2f s; ", trace, (double)done.ns / 1e9);
		bsv_recording_report_lost(&recording, &done);
	}
	if (r >= 0)
		r = bsv_recording_written(&recording, &done, err);
	bsv_recording_close(&recording);
	if (r >= 0 && !done.bytes)
		return bsa_fail(err, BSA_E_ENV, "nothing was recorded; burstscope doctor finds out why");
	return r;
}

static int record_one(struct demo *d, const char *policy, char **ret_db, struct bsa_err *err)
{
	bsv_scoped_text *trace = kept_path(d, policy, ""), *db = kept_path(d, policy, ".db");
	const char *const words[] = { "import", "-o", db, trace, NULL };
	int r = trace && db ? record_into(d, trace, policy, err) : bsv_no_memory(err);

	if (r >= 0)
		r = program_run(d, "burstscope", d->self, words, BSV_DONE, false, err);
	*ret_db = db;
	db = NULL;
	return r;
}

/* ---- the story ---- */

static void print_paragraph(const struct demo *d, const char *text)
{
	printf("\n");
	bsv_print_wrapped(stdout, &d->screen, BSV_PLAIN, text, 0);
}

/* Explain the most late miss with the most frequent cause; the slowest execution if no deadline was missed. */
static int explain_miss(struct demo *d, const char *path, struct bsa_err *err)
{
	char id[32] = "slowest";
	struct bsa_db *db;
	struct bsv_rows *rows = NULL;
	int r = bsa_db_open(&db, path, err);

	if (r < 0)
		return r;
	r = bsv_rows_query(&rows, db, bsv_sql_demo_miss, err);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r > 0 && bsv_rows_get(rows, 0, 0))
		snprintf(id, sizeof(id), "%" PRId64, bsv_rows_get(rows, 0, 0));
	bsv_rows_free(rows);
	bsa_db_close(db);
	return r < 0 ? r : burstscope_run(d, "explain", id, path, err);
}

/* Figures that are compared in the last paragraph. */
struct outcome {
	int64_t deadlines, missed, lag_ns;
};

static int outcome_read(struct outcome *ret, const char *path, struct bsa_err *err)
{
	struct bsa_db *db = NULL;
	struct bsv_rows *rows = NULL;
	int r = bsa_db_open(&db, path, err);

	if (r >= 0)
		r = bsv_rows_query(&rows, db, bsv_sql_demo_outcome, err);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r > 0)
		*ret = (struct outcome){ bsv_rows_get(rows, 0, 0), bsv_rows_get(rows, 1, 0), bsv_rows_get(rows, 2, 0) };
	bsv_rows_free(rows);
	bsa_db_close(db);
	return r < 0 ? r : 0;
}

static int print_outcome(const struct demo *d, const char *fifo, const char *fair, struct bsa_err *err)
{
	struct outcome a = { 0 }, b = { 0 };
	char text[320], lag_a[BSV_DURATION_TEXT], lag_b[BSV_DURATION_TEXT];
	int r = outcome_read(&a, fifo, err);

	if (r >= 0)
		r = outcome_read(&b, fair, err);
	if (r < 0 || !a.deadlines || !b.deadlines)
		return r;
	snprintf(text, sizeof(text),
	         "Served in the order of arrival, the camera missed %.0f %% of its deadlines; with shares %.0f %%. The "
	         "app furthest behind its share was %s behind; with shares %s.",
	         100 * (double)a.missed / (double)a.deadlines, 100 * (double)b.missed / (double)b.deadlines,
	         bsv_duration(lag_a, a.lag_ns), bsv_duration(lag_b, b.lag_ns));
	print_paragraph(d, text);
	return 0;
}

static int show_all(struct demo *d, struct bsa_err *err)
{
	bsv_scoped_text *fifo = NULL, *fair = NULL, *page = kept_path(d, "demo", ".html");
	int r;

	print_paragraph(
		d, "A camera, whose frames must be done within 10 ms, shares a device with a background app and with a "
		   "greedy app. The service serves requests in the order of arrival.");
	r = record_one(d, "fifo", &fifo, err);
	if (r >= 0)
		r = burstscope_run(d, "summary", NULL, fifo, err);
	if (r >= 0)
		r = burstscope_run(d, "overhead", NULL, fifo, err);
	if (r >= 0)
		r = burstscope_run(d, "misses", NULL, fifo, err);
	if (r >= 0)
		r = explain_miss(d, fifo, err);
	if (r >= 0)
		r = burstscope_run(d, "fairness", NULL, fifo, err);
	if (r >= 0) {
		print_paragraph(d, "The same workload, with a service that gives each app its share:");
		r = record_one(d, "fair", &fair, err);
	}
	if (r >= 0)
		r = burstscope_run(d, "misses", NULL, fair, err);
	if (r >= 0)
		r = burstscope_run(d, "fairness", NULL, fair, err);

	if (r >= 0)
		r = print_outcome(d, fifo, fair, err);
	if (r >= 0) {
		/* a page that compares both recordings */
		const char *const words[] = { "report", "--compare", fair, "-o", page, fifo, NULL };

		r = page ? program_run(d, "burstscope", d->self, words, BSV_DONE, false, err) : bsv_no_memory(err);
	}
	if (r >= 0)
		printf("\nThe recordings are in %s. Open demo.html there in a browser. Commands to try next:\n"
		       "  burstscope diff %s %s\n"
		       "  burstscope timeline %s\n"
		       "  burstscope latency --by app %s\n"
		       "  burstscope sql --list\n"
		       "  burstscope record -- YOUR PROGRAM\n",
		       d->directory, fifo, fair, fifo, fifo);
	return r;
}

/* ---- setup and cleanup ---- */

static int make_places(struct demo *d, const char *output, struct bsa_err *err)
{
	d->directory = output ? strdup(output) : bsv_stamped("burstscope-demo");
	if (!d->directory)
		return bsv_no_memory(err);
	if (mkdir(d->directory, 0755))
		return bsa_fail(err, errno == EEXIST ? BSA_E_USAGE : BSA_E_ENV,
		                "cannot make %s: %s; name another directory with -o", d->directory, strerror(errno));
	snprintf(d->scratch, sizeof(d->scratch), "/tmp/burstscope-demo-XXXXXX");
	if (!mkdtemp(d->scratch)) {
		*d->scratch = 0;
		return bsa_fail(err, BSA_E_ENV, "no directory for a socket below /tmp: %s", strerror(errno));
	}
	snprintf(d->socket, sizeof(d->socket), "%s/socket", d->scratch);
	return 0;
}

static int demo_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	int64_t ns = o->duration.given ? o->duration.value : DEFAULT_S * INT64_C(1000000000);
	struct demo d = { .call = call, .screen = bsv_screen_get(call->asked.color) };
	int r;

	if (!bsv_place_self(d.self))
		return bsa_fail(err, BSA_E_ENV, "/proc/self/exe: %s", strerror(errno));
	if (!bsv_place_program("nnburstd", d.service))
		return bsa_fail(err, BSA_E_ENV,
		                "no nnburstd beside burstscope, nor in $PATH; install all of burstscope");
	if (!bsv_place_program("nnburst-load", d.load))
		return bsa_fail(err, BSA_E_ENV,
		                "no nnburst-load beside burstscope, nor in $PATH; install all of burstscope");
	if (ns < 1000000 || ns > 3600 * INT64_C(1000000000))
		return bsa_fail(err, BSA_E_USAGE, "--for: write a time from 1ms to 1h");
	if (ns % 1000000000)
		snprintf(d.duration, sizeof(d.duration), "%lldms", (long long)(ns / 1000000));
	else
		snprintf(d.duration, sizeof(d.duration), "%llds", (long long)(ns / 1000000000));
	bsv_signals_hold(&d.signals);
	r = make_places(&d, o->output, err);
	if (r >= 0)
		r = show_all(&d, err);
	service_stop(&d);
	if (*d.scratch)
		bsv_remove_tree(d.scratch);
	if (d.directory)
		rmdir(d.directory); /* succeeds only if it is empty */
	free(d.directory);
	bsv_signals_release(&d.signals);
	return r < 0 ? r : BSV_DONE;
}

const struct bsv_command bsv_demo = {
	.name = "demo",
	.operands = "",
	.says = "record and analyse a workload of our own",
	.examples = "  burstscope demo\n"
		    "  burstscope demo --for 10s -o shown\n",
	.more = "The demo starts nnburstd and the apps of the scenario demo (nnburst-load(1)), records them, and "
		"analyses the recording with several commands, each of which it prints. Then it does the same with "
		"another policy. Other services that run meanwhile are left out of the recordings. The recordings "
		"are kept; all programs that it started are stopped.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 0,
	.run = demo_run,
};

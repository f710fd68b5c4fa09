/* record.c -- burstscope record: record a workload with LTTng. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/coverage.h"
#include "base/numbers.h"
#include "base/rows.h"
#include "base/screen.h"
#include "base/template.h"
#include "input/apart.h"
#include "record/options.h"
#include "record/programs.h"
#include "record/record.h"
#include "record/workload.h"
#include "report/make.h"

enum {
	TICK_MS = 100,
	TICKS_A_LOOK = 5,
	IMPORT_AT_ONCE = 256 << 20,
	LONG_STOP_NS = 1000000000
}; /* IMPORT_AT_ONCE: bytes, imported within seconds */

struct options {
	const char *output;
	int detail;
	struct bsv_quantity buffer, duration, min_free;
	const char *service, *app;
	unsigned pid;
	bool print_commands, no_import, report, kernel;
};

static const struct bsv_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "DIR",
	  .says = "record into this directory (default: burstscope-YYYYmmdd-HHMMSS)",
	  .offset = offsetof(struct options, output) },
	BSV_OPTION_DETAIL(
		struct options, bsv_details,
		"compact: one event on each side for an execution; full, the default: every boundary; verbose: every "
		"operation"),
	BSV_OPTION_BUFFER(struct options),
	BSV_OPTION_FOR(struct options),
	BSV_OPTIONS_SCOPE(struct options),
	{ .name = "kernel",
	  .says = "also record which thread each cpu runs, interrupts and frequencies, by LTTng's kernel tracer",
	  .offset = offsetof(struct options, kernel) },
	{ .name = "min-free",
	  .kind = BSV_SIZE,
	  .argument = "SIZE",
	  .says = "stop when no more than this is free on the file system (default: 64M, or the size of LTTng's "
	          "buffers "
	          "if that "
	          "is more); 0K: record until nothing is free",
	  .offset = offsetof(struct options, min_free) },
	{ .name = "report",
	  .says = "also make a page, DIR.html beside DIR: burstscope-report(1)",
	  .offset = offsetof(struct options, report) },
	{ .name = "no-import",
	  .says = "do not import; the first command that reads the recording does",
	  .offset = offsetof(struct options, no_import) },
	{ .name = "print-commands",
	  .says = "print the equivalent lttng commands, and do nothing",
	  .offset = offsetof(struct options, print_commands) },
	{ .name = NULL },
};

/* ---- --print-commands ---- */

static int print_commands(const struct bsv_recording *r, const struct bsv_call *call)
{
	const struct options *o = call->options;

	bsv_session_print_start(&r->session, stdout);
	if (call->n_operands && o->duration.given)
		printf("timeout %.9g ", (double)o->duration.value / 1e9);
	for (size_t i = 0; i < call->n_operands; i++) {
		bsv_print_word(call->operands[i], stdout);
		putchar(i + 1 < call->n_operands ? ' ' : '\n');
	}
	if (!call->n_operands && o->duration.given)
		printf("sleep %.9g\n", (double)o->duration.value / 1e9);
	else if (!call->n_operands)
		puts("read -r -p 'recording; Enter stops '");
	bsv_session_print_stop(&r->session, stdout);
	return BSV_DONE;
}

/* ---- recording ---- */

struct run {
	struct bsv_recording recording;
	struct bsv_signals signals;
	struct bsv_workload workload;
	struct bsv_progress line;
	int64_t for_ns; /* length of the recording; negative: until a signal, or the command's end */
	bool full;      /* whether the recording stopped because the file system was full */
	bool stopped;   /* whether --for or a signal ended the recording, and with it the command */
};

static void draw_progress(struct run *run)
{
	struct bsv_recording *r = &run->recording;
	char size[BSV_BYTES_TEXT], lost[BSV_COUNT_MAX];

	if (!run->line.on || bsv_session_look(&r->session, NULL) < 0)
		return;
	bsv_bytes(size, bsv_directory_bytes(r->directory));
	if (r->session.lost_events)
		bsv_progress_draw(&run->line, "%5.1f s  %s  LOST %s events", (double)(bsv_now() - r->began) / 1e9, size,
		                  bsv_count(lost, r->session.lost_events));
	else
		bsv_progress_draw(&run->line, "%5.1f s  %s  no event lost%s", (double)(bsv_now() - r->began) / 1e9,
		                  size, run->workload.pid || run->for_ns >= 0 ? "" : "  Ctrl-C stops");
}

/* Wait for the end of the recording. BSA_E_ENV: the session daemon is gone. */
static int recording_wait(struct run *run, struct bsa_err *err)
{
	for (unsigned tick = 0;; tick++) {
		int64_t left = run->for_ns < 0 ? INT64_MAX : run->for_ns - (int64_t)(bsv_now() - run->recording.began);
		int ms = left / 1000000 < TICK_MS ? (int)(left / 1000000) : TICK_MS, signal, r;
		bool typed = false;

		if (left <= 0) {
			run->stopped = true;
			if (run->workload.pid)
				kill(run->workload.pid, SIGTERM);
			return 0;
		}
		signal = bsv_signals_next(&run->signals, ms ? ms : 1, &typed);
		if (signal == SIGCHLD && bsv_workload_ended(&run->workload))
			return 0;
		if (signal && signal != SIGCHLD) {
			run->stopped = true;
			if (run->workload.pid && !typed)
				kill(run->workload.pid, signal);
			return 0;
		}
		run->full = !bsv_recording_has_room(&run->recording);
		if (run->full)
			return 0;
		if (tick % TICKS_A_LOOK)
			continue;
		if (!bsv_daemon_alive(&run->recording.daemon, run->recording.lttng))
			r = bsa_fail(err, BSA_E_ENV, "lttng-sessiond has gone");
		else
			r = bsv_session_check(&run->recording.session, err);
		if (r < 0)
			return bsa_wrap(err, BSA_E_ENV, "the files written so far are in %s", run->recording.directory);
		draw_progress(run);
	}
}

static void draw_import(void *ctx, const struct bsa_import_progress *p)
{
	struct bsv_progress *line = ctx;

	if (bsv_progress_due(line))
		bsv_progress_draw(line, "counting: %.2f M events", (double)p->events / 1e6);
}

/* DIR.db or DIR.html. False: the name is too long. */
static bool name_beside(const struct run *run, const char *end, char ret[PATH_MAX])
{
	const char *trace = run->recording.directory;
	size_t length = strlen(trace);

	while (length > 1 && trace[length - 1] == '/')
		length--;
	return snprintf(ret, PATH_MAX, "%.*s%s", (int)length, trace, end) < PATH_MAX;
}

/* Import a recording that is not too large at once, which also counts its events. False: not imported. */
static bool import_recording(struct run *run, const struct bsv_recorded *done, struct bsa_imported *ret)
{
	const char *const trace = run->recording.directory;
	char output[PATH_MAX];
	const struct bsa_import_options wanted = {
		.traces = &trace, .n_traces = 1, .output = output, .progress = draw_import, .progress_ctx = &run->line
	};
	uint64_t is, least = run->recording.room.least;
	struct bsa_err err;
	bool imported;

	if (done->files_bytes > IMPORT_AT_ONCE || done->cut_metadata)
		return false;

	/* A database needs up to twice the room of the recording, in the same directory. */
	is = bsv_room_free(trace);
	if (is <= least || is - least <= 2 * done->files_bytes) {
		fputs("not imported, because there is too little room beside it: name another place with burstscope "
		      "import -o\n",
		      stderr);
		return false;
	}
	if (!name_beside(run, ".db", output))
		return false;
	if (!access(output, F_OK)) {
		fprintf(stderr, "not imported, because %s exists already; burstscope import replaces it\n", output);
		return false;
	}
	imported = bsv_import_apart(&wanted, ret, &err) >= 0;
	bsv_progress_fini(&run->line);
	if (!imported)
		fprintf(stderr, "not imported: %s\n", err.text);
	return imported;
}

static void print_result(const struct run *run, const struct bsv_recorded *done, const struct bsa_imported *imported)
{
	char events[BSV_COUNT_MAX], executions[BSV_COUNT_MAX], size[BSV_BYTES_TEXT];

	fprintf(stderr, "recorded %s: %.2f s, %s", run->recording.name, (double)done->ns / 1e9,
	        bsv_bytes(size, done->files_bytes));
	if (imported)
		fprintf(stderr, ", %s %s, %s %s", bsv_count(events, imported->events),
		        bsv_plural(imported->events, "event", "events"), bsv_count(executions, imported->executions),
		        bsv_plural(imported->executions, "execution", "executions"));
	fputc('\n', stderr);
	if (done->stopping_ns >= LONG_STOP_NS)
		fprintf(stderr,
		        "LTTng took %.2f s to stop the recording; if it recorded events of that time, the answers "
		        "cover "
		        "that time, too\n",
		        (double)done->stopping_ns / 1e9);
	bsv_recording_report_lost(&run->recording, done);
	if (imported) {
		/* Did several services run at once? Then each answer would judge them together. */
		struct bsv_coverage coverage = { .services = 1 };
		struct bsa_db *db = NULL;
		char path[PATH_MAX], count[BSV_COUNT_MAX];

		if (name_beside(run, ".db", path) && bsa_db_open(&db, path, NULL) >= 0)
			bsv_coverage_read(&coverage, db, NULL);
		bsa_db_close(db);
		if (coverage.services > 1)
			bsv_notice(BSV_SERVICES, bsv_count(count, (uint64_t)coverage.services));
	}
	fputs(imported && !imported->executions ? "it has no executions, so no answers; next: burstscope doctor "
	                                        : "next: burstscope summary ",
	      stderr);
	bsv_print_word(run->recording.name, stderr);
	fputc('\n', stderr);
}

/* A failure to make the page does not make the recording a failure. */
static void make_page(const struct run *run, const struct bsv_call *call, bool is_imported)
{
	char database[PATH_MAX], page[PATH_MAX];
	const struct bsv_page_wanted wanted = { .output = page };
	struct bsv_call about = *call;
	struct bsa_err why;
	const char *named;
	bool has_name = name_beside(run, ".html", page);

	if (!is_imported) {
		/* There may be a page of an earlier recording, which must not be taken for this one's. */
		fputs("no page was made, because the recording is not imported", stderr);
		if (has_name && !access(page, F_OK))
			fprintf(stderr, "; %s is of an earlier one", page);
		fprintf(stderr, "; later: burstscope report -o PAGE.html ");
		bsv_print_word(run->recording.name, stderr);
		fputc('\n', stderr);
		return;
	}
	if (!has_name || !name_beside(run, ".db", database))
		return;
	/* as the user named it: its directories are private from the readers of the page */
	named = database + (strlen(run->recording.directory) - strlen(run->recording.name));
	about.known_as = named;
	if (bsv_page_make(&about, database, &wanted, &why) < 0)
		fprintf(stderr, "no page was made: %s\n", why.text);
	else if (!call->common.quiet)
		fprintf(stderr, "the page is %s\n", page + (named - database));
}

/*
 * BSA_E_ENV: a service ended in the midst of the recording. One that is silent and still there is reported only: it may
 * hang, and hanging is recorded.
 */
static int check_services(const struct run *run, bool quiet, struct bsa_err *err)
{
	struct bsv_rows *rows = NULL;
	struct bsa_db *db = NULL;
	char path[PATH_MAX], duration[BSV_DURATION_TEXT], count[BSV_COUNT_MAX];
	int r = name_beside(run, ".db", path) ? bsa_db_open(&db, path, err) : 0;

	if (r >= 0 && db)
		r = bsv_rows_query(&rows, db, bsv_sql_silent_services, err);
	while (r >= 0 && rows && (r = bsv_rows_step(rows, err)) > 0) {
		const long pid = (long)bsv_rows_get(rows, 0, 0);
		const int64_t silent = bsv_rows_get(rows, 1, -1);
		const uint64_t dead = (uint64_t)bsv_rows_get(rows, 2, 0);
		const bool has_ended = bsv_program_has_ended((pid_t)pid);

		if (has_ended && silent >= 0)
			r = bsa_fail(err, BSA_E_ENV,
			             "the service (pid %ld) has ended: no event of it was recorded in the last %s, "
			             "though clients had work for it",
			             pid, bsv_duration(duration, silent));
		else if (has_ended)
			r = bsa_fail(err, BSA_E_ENV,
			             "the service (pid %ld) has ended, and %s %s their service dead (DEAD_OBJECT)", pid,
			             bsv_count(count, dead), bsv_plural(dead, "execution found", "executions found"));
		else if (silent >= 0)
			bsv_notice_unless(quiet,
			                  "the service (pid %ld) was silent for the last %s, though clients had work "
			                  "for it; its process is still there",
			                  pid, bsv_duration(duration, silent));
	}
	bsv_rows_free(rows);
	bsa_db_close(db);
	return r < 0 ? r : 0;
}

/* Why there may be no event, as far as that can be found out. */
static int nothing_recorded(const struct run *run, const struct bsv_call *call, struct bsa_err *err)
{
	const struct bsv_scope *scope = &run->recording.options.scope;
	struct bsv_program service;
	char asked[BSV_SCOPE_TEXT + 16] = "", text[BSV_SCOPE_TEXT], other[160] = "";

	if (bsv_scope_is_set(scope))
		snprintf(asked, sizeof(asked), " for scope %s", bsv_scope_text(scope, text));
	if (geteuid() && bsv_programs_of_others(&service))
		snprintf(other, sizeof(other), "%s (pid %ld) is of another user, and root alone can record it; ",
		         service.name, (long)service.pid);
	return bsa_fail(err, BSA_E_ENV,
	                "nothing was recorded%s: no program emitted events; %s%s%srun burstscope doctor", asked, other,
	                *asked ? "a recording without a scope shows which apps there are: burstscope record, then "
	                         "burstscope summary; or "
	                       : "",
	                call->n_operands ? "check that the command works without burstscope record, and " : "");
}

static int record_all(struct run *run, const struct bsv_call *call, struct bsv_recorded *ret, struct bsa_err *err)
{
	struct bsa_err second;
	int r = bsv_recording_start(&run->recording, err), stopped;
	char text[BSV_WORKLOAD_TEXT];

	if (!call->common.quiet && call->n_operands)
		run->workload.told_as = call->operands[0];
	if (r >= 0 && call->n_operands)
		r = bsv_workload_start(&run->workload, call->operands, &run->signals, err);
	if (r < 0)
		return r;
	r = recording_wait(run, err);
	if (run->full) /* at once, because the command may fill the remaining room */
		bsv_recording_end(&run->recording);
	if (run->full && run->workload.pid)
		kill(run->workload.pid, SIGTERM);
	bsv_progress_fini(&run->line);
	bsv_workload_stop(&run->workload, &run->signals);
	stopped = bsv_recording_stop(&run->recording, r < 0 ? &second : err);
	if (run->workload.pid && !call->common.quiet)
		fprintf(stderr, "%s %s\n", call->operands[0], bsv_workload_text(&run->workload, text));
	if (r < 0 || stopped < 0)
		return r < 0 ? r : stopped;
	r = bsv_recording_result(&run->recording, ret, err);
	if (r >= 0 && !ret->bytes && (ret->n_short || ret->cut_metadata))
		return bsv_recording_written(&run->recording, ret, err);
	return r >= 0 && !ret->bytes ? nothing_recorded(run, call, err) : r;
}

static void recording_fini(struct run *run)
{
	bsv_progress_fini(&run->line);
	bsv_recording_close(&run->recording);
}

static int record_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct bsv_recording_options wanted = {
		.directory = o->output,
		.detail = (enum bsv_detail)o->detail,
		.buffer = (uint64_t)o->buffer.value,
		.min_free = o->min_free.given ? (uint64_t)o->min_free.value : UINT64_MAX,
		.quiet = call->common.quiet || o->print_commands,
		.verbose = call->common.verbose,
		.kernel = o->kernel,
	};
	struct bsa_imported imported;
	struct bsv_recorded done;
	const char *program = call->n_operands ? call->operands[0] : "";
	size_t length = strlen(program);
	char size[BSV_BYTES_TEXT];
	bool is_imported, is_whole;
	__attribute__((cleanup(recording_fini))) struct run run = { .for_ns = o->duration.given ? o->duration.value
		                                                                                : -1 };
	int r;

	if (o->report && o->no_import)
		return bsa_fail(err, BSA_E_USAGE, "--report needs the database: leave out --no-import");
	if (o->report && length > 5 && !strcmp(program + length - 5, ".html") && access(program, X_OK))
		return bsa_fail(err, BSA_E_USAGE, "--report takes no file, as %s: the page of -o DIR is DIR.html",
		                program);
	if ((o->buffer.given && !o->buffer.value) || (o->duration.given && !o->duration.value))
		return bsa_fail(err, BSA_E_USAGE, "--%s: 0 is out of range", o->buffer.given ? "buffer" : "for");
	r = call->n_operands ? bsv_workload_find(call->operands[0], err) : 0;
	if (r >= 0)
		r = bsv_scope_read(&wanted.scope, o->service, o->app, o->pid, err);
	if (r >= 0)
		r = bsv_recording_plan(&run.recording, &wanted, err);
	if (r < 0)
		return r;
	if (o->print_commands)
		return print_commands(&run.recording, call);
	bsv_progress_init(&run.line, !call->common.quiet);
	bsv_signals_hold(&run.signals);
	r = record_all(&run, call, &done, err);
	if (r < 0)
		recording_fini(&run);
	bsv_signals_release(&run.signals);
	if (r < 0)
		return r;
	is_imported = !o->no_import && import_recording(&run, &done, &imported);
	if (is_imported)
		bsv_recording_imported(&done, &imported);
	bsv_recording_advise(&run.recording, &done, is_imported ? imported.events : 0);
	if (!call->common.quiet)
		print_result(&run, &done, is_imported ? &imported : NULL);
	if (o->report)
		make_page(&run, call, is_imported);
	r = bsv_recording_written(&run.recording, &done, err);
	if (r >= 0 && is_imported && !run.full)
		r = check_services(&run, call->common.quiet, err);
	if (r < 0)
		return r;
	if (!run.full) /* the command's status, unless burstscope record ended the command itself */
		return run.workload.pid && !run.stopped ? bsv_workload_exit_status(&run.workload) : BSV_DONE;

	/*
	 * The recording is complete up to here, unless something was lost before; but it is shorter
	 * than the user asked for.
	 */
	is_whole = !done.lost_events && !done.lost_packets;
	return bsa_fail(err, BSA_E_ENV, "stopped after %.2f s, because less than %s was free (--min-free)%s%s%s",
	                (double)(run.recording.ended - run.recording.began) / 1e9,
	                bsv_size_option(size, run.recording.room.least), is_whole ? "; " : "",
	                is_whole ? run.recording.name : "", is_whole ? " is complete up to then" : "");
}

const struct bsv_command bsv_record = {
	.name = "record",
	.operands = "[-- CMD...]",
	.says = "record a workload with LTTng",
	.examples = "  burstscope record                          # running programs, until Ctrl-C\n"
		    "  burstscope record --for 10s                # for ten seconds\n"
		    "  burstscope record -- nnburst-load audio    # while a program runs\n"
		    "  burstscope record --detail compact -o night --for 8h\n",
	.more = "Records the events of all programs that emit them: as root those of all users, otherwise those of "
		"the user. nnburstd may run already, or be started later. If no session daemon of LTTng runs, "
		"record starts one, which ends with the last command that uses it. Ctrl-C stops the recording and "
		"keeps it.\n"
		"A recording of up to 256 MiB is imported at once, into DIR.db beside DIR, unless that exists; "
		"another Ctrl-C leaves the import to the first command that reads the recording. "
		"DIR/burstscope.record keeps the settings, for burstscope doctor DIR.\n"
		"The status is that of CMD if CMD ended by itself (128 and the number of the signal, if one ended "
		"it), otherwise 0; 2 if CMD cannot be run; and 5 if nothing was recorded, not all of it could be "
		"written, the service ended while clients had work for it, or --min-free stopped the recording.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 4096,
	.asks = 0,
	.lasts = true,
	.run = record_run,
};

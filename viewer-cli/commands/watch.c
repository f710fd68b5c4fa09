/*
 * watch.c -- burstscope watch: waits for a condition, keeps the time before and after it with a
 * diagnosis, and continues.
 */
#include <string.h>

#include "base/command.h"
#include "live/url.h"
#include "record/options.h"
#include "record/room.h"
#include "watch/watch.h"

#define SECOND INT64_C(1000000000)

#define USUAL_DIRECTORY "burstscope-cases"

enum { USUAL_KEEP = 20, KEEP_MOST = 100000 };

static const int64_t usual_before = 5 * SECOND, least_before = SECOND / 10, usual_after = SECOND,
		     usual_cooldown = 600 * SECOND, usual_window = 10 * SECOND, least_window = SECOND,
		     most_window = 600 * SECOND;
static const int64_t noticed_after = 4 * SECOND; /* a condition that the fold decides is noticed this late, at most */
static const uint64_t usual_disk = UINT64_C(1) << 30;

struct options {
	struct bsv_texts on;
	const char *output, *exec, *service, *app, *url;
	int detail;
	unsigned keep, stop_after, pid;
	struct bsv_quantity before, after, cooldown, duration, buffer, max_disk, min_free, ring, window;
	bool syslog;
};

static const struct bsv_option options[] = {
	{ .name = "on",
	  .kind = BSV_TEXTS,
	  .argument = "CONDITION",
	  .says = "miss, error, death, starvation>TIME, inversion>TIME or silence>TIME, or one of these narrowed down, "
	          "as "
	          "miss:app=camera,persistent; or a rule of check, as 'p99 e2e of app=camera <= 5ms', that fails; may "
	          "be repeated",
	  .offset = offsetof(struct options, on) },
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "DIR",
	  .says = "keep the cases in this directory (default: " USUAL_DIRECTORY ")",
	  .offset = offsetof(struct options, output) },
	{ .name = "window",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "judge rules over a window of this length (default: 10s)",
	  .offset = offsetof(struct options, window) },
	{ .name = "before",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "time to keep before the condition (default: 5s); the buffers are sized for it by what runs already",
	  .offset = offsetof(struct options, before) },
	{ .name = "after",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "time to keep after the condition (default: 1s)",
	  .offset = offsetof(struct options, after) },
	{ .name = "cooldown",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "count repetitions of a cause within this time, and do not keep them (default: 10min); 0s: keep all",
	  .offset = offsetof(struct options, cooldown) },
	{ .name = "keep",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "keep N cases (default: 20); the user with most of them loses the oldest",
	  .offset = offsetof(struct options, keep),
	  .least = 1,
	  .most = KEEP_MOST },
	{ .name = "max-disk",
	  .kind = BSV_SIZE,
	  .argument = "SIZE",
	  .says = "keep as many cases as fit into this size (default: 1G); 0K: no limit",
	  .offset = offsetof(struct options, max_disk) },
	{ .name = "min-free",
	  .kind = BSV_SIZE,
	  .argument = "SIZE",
	  .says = "keep no case if less than this would be free (default: 64M)",
	  .offset = offsetof(struct options, min_free) },
	{ .name = "exec",
	  .kind = BSV_TEXT,
	  .argument = "CMD",
	  .says = "run this shell command for each case, with $BURSTSCOPE_CASE, $BURSTSCOPE_SUMMARY and "
	          "$BURSTSCOPE_FINDING",
	  .offset = offsetof(struct options, exec) },
	{ .name = "syslog",
	  .says = "also send the line of each case to the system log",
	  .offset = offsetof(struct options, syslog) },
	BSV_OPTION_DETAIL(struct options, bsv_details_compact, "as burstscope record has it, but compact by default"),
	BSV_OPTION_BUFFER(struct options),
	BSV_OPTION_RING(struct options),
	BSV_OPTION_URL(struct options),
	BSV_OPTION_FOR(struct options),
	BSV_OPTIONS_SCOPE(struct options),
	{ .name = "stop-after",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "stop after this number of cases",
	  .offset = offsetof(struct options, stop_after),
	  .least = 1,
	  .most = KEEP_MOST },
	{ .name = NULL },
};

static int64_t time_or(const struct bsv_quantity *given, int64_t otherwise)
{
	return given->given ? given->value : otherwise;
}

/* Read the conditions, and refuse what cannot be asked for, or known, of another host. */
static int read_conditions(const struct options *o, struct bsv_condition ret[BSV_CONDITIONS_MOST], struct bsa_err *err)
{
	int r = 0;

	if (!o->on.n)
		return bsa_fail(
			err, BSA_E_USAGE,
			"--on is missing: write miss, error, death, or another condition of burstscope watch --help");
	for (size_t i = 0; r >= 0 && i < o->on.n; i++) {
		r = bsv_condition_read(&ret[i], o->on.of[i], err);
		for (size_t j = 0; r >= 0 && j < i; j++)
			if (!strcmp(ret[j].text, ret[i].text))
				r = bsa_fail(err, BSA_E_USAGE, "--on %s is there twice", ret[i].text);
	}
	if (r >= 0)
		r = bsv_live_options_check(o->url, false, err);
	if (r >= 0 && o->url && (o->detail || o->buffer.given || o->service || o->app || o->pid))
		r = bsa_fail(err, BSA_E_USAGE,
		             "--url: the session runs on another host; leave out --detail, --buffer, --service, --app "
		             "and --pid");
	for (size_t i = 0; r >= 0 && o->url && i < o->on.n; i++)
		if (ret[i].decided == BSV_BY_EVENT)
			r = bsa_fail(err, BSA_E_USAGE,
			             "--on %s: the LTTng of the host that records decides that; with --url write "
			             "starvation>TIME, inversion>TIME, silence>TIME or a rule, as 'miss ratio <= 1 %%'",
			             ret[i].text);
	return r;
}

static int watch_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct bsv_condition conditions[BSV_CONDITIONS_MOST];
	struct bsv_watch_options wanted = {
		.conditions = conditions,
		.n_conditions = o->on.n,
		.directory = o->output ? o->output : USUAL_DIRECTORY,
		.url = o->url,
		.detail = bsv_detail_compact(o->detail),
		.buffer = (uint64_t)o->buffer.value,
		.window = time_or(&o->window, usual_window),
		.before = time_or(&o->before, usual_before),
		.after = time_or(&o->after, usual_after),
		.asked_before = time_or(&o->before, usual_before),
		.cooldown = time_or(&o->cooldown, usual_cooldown),
		.duration = time_or(&o->duration, -1),
		.keep = o->keep ? o->keep : USUAL_KEEP,
		.max_disk = o->max_disk.given ? (uint64_t)o->max_disk.value : usual_disk,
		.min_free = o->min_free.given ? (uint64_t)o->min_free.value : BSV_ROOM_USUAL,
		.exec = o->exec,
		.most = o->stop_after,
		.syslog = o->syslog,
		.quiet = call->common.quiet,
		.verbose = call->common.verbose,
	};
	int64_t least = 0;
	int r;

	if (o->duration.given && !o->duration.value)
		return bsa_fail(err, BSA_E_USAGE, "--for: 0 is out of range");
	r = read_conditions(o, conditions, err);
	if (r >= 0)
		r = bsv_scope_read(&wanted.scope, o->service, o->app, o->pid, err);
	if (r < 0)
		return r;
	if (wanted.before < least_before || wanted.before > 3600 * SECOND || wanted.after > 3600 * SECOND)
		return bsa_fail(err, BSA_E_USAGE, "--before: write 100ms to 1h; --after: write up to 1h");
	if (wanted.window < least_window || wanted.window > most_window)
		return bsa_fail(err, BSA_E_USAGE, "--window: write 1s to 10min");

	/* What is under way is in full events only. */
	for (size_t i = 0; i < wanted.n_conditions && wanted.detail == BSV_DETAIL_COMPACT; i++)
		if (conditions[i].watched == BSV_WATCH_SILENCE)
			wanted.detail = BSV_DETAIL_FULL;

	/* The buffers must still hold the window in which a rule failed when the failure is noticed. */
	for (size_t i = 0; i < wanted.n_conditions; i++) {
		int64_t needs = conditions[i].decided == BSV_BY_FOLD ? noticed_after : 0;

		needs += conditions[i].watched == BSV_WATCH_RULE ? wanted.window : 0;
		needs += conditions[i].watched == BSV_WATCH_SILENCE ? conditions[i].longer_than : 0;
		least = least < needs ? needs : least;
	}
	if (wanted.before < least)
		wanted.before = least;
	r = bsv_option_ring(&wanted.ring, &o->ring, err);
	if (r >= 0 && !*wanted.directory)
		r = bsa_fail(err, BSA_E_USAGE, "--output: the name of the directory is empty");
	if (r >= 0)
		r = bsv_watch_run(&wanted, err);
	return r < 0 ? r : BSV_DONE;
}

const struct bsv_command bsv_watch = {
	.name = "watch",
	.operands = "",
	.says = "wait for a miss, an error, a death, starvation, or a failed rule, and keep the time around it, "
		"with a diagnosis",
	.examples = "  burstscope watch --on miss\n"
		    "  burstscope watch --on miss:app=camera,persistent --on error --on death -o /var/lib/burstscope\n"
		    "  burstscope watch --on miss:cause=hogged --exec 'mail -s \"$BURSTSCOPE_SUMMARY\" me'\n"
		    "  burstscope watch --on 'starvation>200ms' --on 'p99 e2e of app=camera <= 60ms' --window 30s\n"
		    "  burstscope watch --on 'silence>2s' --on 'miss ratio <= 1 %'\n"
		    "  burstscope watch --on 'starvation>200ms' --url net://192.0.2.2/host/phone/far\n"
		    "  burstscope watch --on error:status=DEAD_OBJECT --before 20s --after 2s --stop-after 1\n",
	.more = "LTTng overwrites its buffers in memory all the time; nothing is written to disk until a condition "
		"fires. Then the content of the buffers becomes a case: a directory with the trace, its database, "
		"a page and case.json. The diagnosis is printed in one line. burstscope cases lists the cases.\n"
		"A condition is a word with optional filters: miss[:app=,model=,kind=,cause=,culprit=], where kind "
		"is transient, persistent or late; error[:app=,model=,status=]; death[:app=]; "
		"starvation>TIME[:app=,model=]; inversion>TIME[:app=,model=]; silence>TIME, which records at detail "
		"full: a service emitted no event for longer, and for ten times as long as an execution is estimated "
		"to "
		"run, while clients waited for it; or a rule of burstscope-slo(5): a "
		"percentile, a miss ratio or a number of executions, which fires when it fails over the last "
		"--window. Conditions that no single event decides are decided by a process that reads all "
		"recorded events, in a ring of files in memory.\n"
		"With --url watch reads a session of another host, and decides all conditions so.\n"
		"watch runs until Ctrl-C. The status is 0, or 5 if watch cannot start.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 0,
	.lasts = true,
	.run = watch_run,
};

/*
 * record.c -- takes a recording through its steps: choose buffers and directory, have a daemon,
 * start the session, watch the disk, stop, and count what was lost.
 */
#include "record/record.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "bsa/import.h"
#include "record/keeper.h"
#include "record/lost.h"
#include "record/owner.h"
#include "record/probe.h"
#include "record/programs.h"
#include "record/scratch.h"
#include "record/waiting.h"

enum {
	LOOK_MS = 50,
	SOON_MS = 500,
	MEET_MS = 8000,
	USERS = 2,
	LEAST_BUFFER = 64 << 10
}; /* users: that of the service, and that of an app */

/* ---- where ---- */

char *bsv_stamped(const char *prefix)
{
	char stamp[32], *name = NULL;
	time_t now = time(NULL);
	struct tm tm;

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	for (int i = 1; !name && i < 100; i++) {
		if (asprintf(&name, i > 1 ? "%s-%s-%d" : "%s-%s", prefix, stamp, i) < 0)
			return NULL;
		if (!access(name, F_OK)) {
			free(name);
			name = NULL;
		}
	}
	return name;
}

static int make_directory(struct bsv_recording *r, struct bsa_err *err)
{
	unsigned n = 0;
	DIR *d;

	r->made = !mkdir(r->directory, 0755); /* even if the umask is 0, only this user may write there */
	if (!r->made && errno != EEXIST)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be made: %s", r->name, strerror(errno));
	d = opendir(r->directory);
	if (!d)
		return bsa_fail(err, BSA_E_USAGE, "%s: %s; say with -o which directory to make", r->name,
		                strerror(errno));
	while (n < 3 && readdir(d))
		n++;
	closedir(d);
	if (n == 3) /* an entry beside . and .. */
		return bsa_fail(err, BSA_E_USAGE, "%s is not empty; name another directory with -o, or remove it",
		                r->name);
	/* another user could put a link there, behind which root's consumer daemon would write */
	if (bsv_check_owner(r->directory, r->name, err) < 0)
		return BSA_E_ENV;
	if (access(r->directory, W_OK | X_OK))
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", r->name, strerror(errno));
	return 0;
}

/* ---- how much room ---- */

static void choose_buffers(struct bsv_recording *r, uint64_t rate)
{
	uint64_t size = bsv_size_to_hold(r->options.detail, rate, r->options.hold_ns),
		 room = bsv_room(&r->machine, USERS) / 2;
	char a[BSV_BYTES_TEXT], b[BSV_BYTES_TEXT];

	if (size > room) {
		uint64_t wanted = size;

		while (size > room && size > LEAST_BUFFER)
			size /= 2;
		bsv_notice_unless(
			r->options.quiet,
			"buffers: %s for each cpu instead of %s, for there is no more room; events may be lost",
			bsv_bytes(a, size), bsv_bytes(b, wanted));
	}
	r->session.buffers = bsv_buffers_of(size);
}

/* There must be memory for one set of buffers, otherwise LTTng records nothing and reports no error. */
static int check_room(const struct bsv_recording *r, struct bsa_err *err)
{
	uint64_t size = bsv_buffers_size(r->session.buffers), room = bsv_room(&r->machine, 1);
	char a[BSV_BYTES_TEXT], b[BSV_BYTES_TEXT], c[BSV_BYTES_TEXT];

	if (size <= room)
		return 0;
	bsv_bytes(a, r->machine.shm < r->machine.memory ? r->machine.shm : r->machine.memory);
	while (size > room && size > 2 * LEAST_BUFFER)
		size /= 2;
	return bsa_fail(err, BSA_E_ENV, "%s has %s, and buffers of %s for each of %u cpus do not fit; try --buffer %s",
	                r->machine.shm < r->machine.memory ? "/dev/shm" : "this machine", a,
	                bsv_bytes(b, bsv_buffers_size(r->session.buffers)), r->machine.cpus, bsv_size_option(c, size));
}

int bsv_recording_plan(struct bsv_recording *r, const struct bsv_recording_options *options, struct bsa_err *err)
{
	char here[PATH_MAX], a[BSV_BYTES_TEXT], b[BSV_BYTES_TEXT], c[BSV_BYTES_TEXT];

	*r = (struct bsv_recording){ .options = *options, .machine = bsv_machine_look() };

	/* The name of the directory is made absolute before the directory exists. */
	if (options->directory && !*options->directory)
		return bsa_fail(err, BSA_E_USAGE, "--output: a directory has a name");
	r->name = options->directory ? strdup(options->directory) : bsv_stamped("burstscope");
	if (!r->name)
		return bsv_no_memory(err);
	if (*r->name != '/' && !getcwd(here, sizeof(here)))
		return bsa_fail(err, BSA_E_ENV, "the working directory cannot be told: %s", strerror(errno));
	if (asprintf(&r->directory, "%s%s%s", *r->name == '/' ? "" : here, *r->name == '/' ? "" : "/", r->name) < 0) {
		r->directory = NULL;
		return bsv_no_memory(err);
	}
	if (strlen(r->directory) > PATH_MAX - 512) /* leaves room for the names that LTTng adds below it */
		return bsa_fail(err, BSA_E_USAGE, "%.40s...: its name is too long", r->name);

	bsv_session_name(r->session.name);
	r->session.directory = r->directory;
	r->session.detail = options->detail;
	r->session.snapshot = options->snapshot;
	r->session.live = options->live;
	r->session.scope = options->scope;
	r->session.kernel = options->kernel;

	if (options->buffer > BSV_BUFFER_MOST)
		return bsa_fail(err, BSA_E_USAGE, "--buffer: more than %s is more than LTTng takes",
		                bsv_size_option(a, BSV_BUFFER_MOST));
	if (options->buffer)
		r->session.buffers = bsv_buffers_of(options->buffer);
	else
		choose_buffers(r, 0);
	if (options->buffer && bsv_buffers_size(r->session.buffers) != options->buffer)
		bsv_notice_unless(r->options.quiet,
		                  "buffers: %s for each cpu, which is %" PRIu64
		                  " of %s: the next size above %s that LTTng takes",
		                  bsv_bytes(a, bsv_buffers_size(r->session.buffers)), r->session.buffers.n,
		                  bsv_bytes(b, r->session.buffers.each), bsv_bytes(c, options->buffer));
	return check_room(r, err);
}

/* ---- beginning ---- */

static int have_daemon(struct bsv_recording *r, struct bsa_err *err)
{
	unsigned stale;
	int k = bsv_lttng_load(&r->lttng, err);

	if (k >= 0)
		k = bsv_daemon_open(&r->daemon, r->lttng, r->options.kernel, err);
	if (k < 0)
		return k;
	r->session.lttng = r->lttng;
	if (r->daemon.pid)
		bsv_notice_unless(r->options.quiet,
		                  "lttng-sessiond: none was there; started one for as long as this takes");
	if (r->daemon.pid && r->daemon.shared < 0)
		bsv_notice_unless(
			r->options.quiet,
			"lttng-sessiond: it ends with this command, even while other burstscope commands use it, "
			"because burstscope.lock beside its sockets cannot be opened; is that a file of this user?");
	stale = bsv_keeper_sweep(r->lttng);
	bsv_scratch_sweep(); /* removes those whose sessions died with their daemon, too */
	if (stale)
		bsv_notice_unless(r->options.quiet, "ended %u %s of burstscope record, whose %s killed", stale,
		                  bsv_plural(stale, "session", "sessions"),
		                  bsv_plural(stale, "process was", "processes were"));
	return bsv_session_check_consumer(r->lttng, err);
}

/*
 * Programs that lost a daemon look for the next one every five seconds. @ret: how many there are,
 * whether met or not.
 */
static int meet_programs(struct bsv_recording *r, unsigned *ret, struct bsa_err *err)
{
	const struct timespec a_while = { .tv_nsec = LOOK_MS * 1000000L };
	struct bsv_program programs[BSV_PROGRAMS_MOST];
	unsigned n = bsv_programs_find(programs), unmet;
	sigset_t pending; /* signals are blocked meanwhile */

	*ret = n;
	for (int i = 0; (unmet = bsv_programs_unmet(programs, n, r->lttng)) && i < MEET_MS / LOOK_MS; i++) {
		if (!sigpending(&pending) &&
		    (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		     sigismember(&pending, SIGHUP) == 1))
			return bsa_fail(err, BSA_E_STOPPED, "stopped before anything was recorded");
		if (i == SOON_MS / LOOK_MS)
			bsv_notice_unless(r->options.quiet, "waiting for %s (pid %ld)%s to find the session daemon",
			                  programs[0].name, (long)programs[0].pid, unmet > 1 ? " and others" : "");
		nanosleep(&a_while, NULL);
	}
	for (unsigned i = 0; i < unmet; i++)
		bsv_notice_unless(r->options.quiet,
		                  "NOT RECORDED: %s (pid %ld), which looks for another session daemon; is its $HOME or "
		                  "$LTTNG_HOME another?",
		                  programs[i].name, (long)programs[i].pid);
	return 0;
}

/*
 * CLOCK_BOOTTIME less CLOCK_MONOTONIC: of some readings the one that took the least time, half of
 * which it may be wrong by.
 */
static int64_t boottime_now(void)
{
	enum { READINGS = 8 };
	struct timespec boot;
	uint64_t least = UINT64_MAX;
	int64_t ret = 0;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = bsv_now(), took;

		clock_gettime(CLOCK_BOOTTIME, &boot);
		took = bsv_now() - before;
		if (took >= least)
			continue;
		least = took;
		ret = (int64_t)boot.tv_sec * 1000000000 + boot.tv_nsec - (int64_t)(before + took / 2);
	}
	return ret < 0 ? 0 : ret;
}

void bsv_recording_note(const struct bsv_recording *r, const char *directory)
{
	enum { SAME_NS = 1000000 };
	int64_t now = r->ended ? boottime_now() : r->boottime;
	/* A machine that slept meanwhile has another difference afterwards: then none is given. */
	int64_t boottime = now - r->boottime > SAME_NS ? -1 : r->boottime;

	bsv_settings_write(directory, &(struct bsv_settings_kept){ .session = r->session.name,
	                                                           .detail = r->options.detail,
	                                                           .buffer = bsv_buffers_size(r->session.buffers),
	                                                           .began = r->began,
	                                                           .ended = r->ended,
	                                                           .boottime = boottime,
	                                                           .scope = &r->options.scope });
}

static void keep_settings(const struct bsv_recording *r)
{
	bsv_recording_note(r, r->directory);
}

void bsv_recording_is_of_service(struct bsv_recording *r, pid_t pid)
{
	r->options.scope.service = (uint32_t)pid;
	keep_settings(r);
}

static int check_disk(struct bsv_recording *r, struct bsa_err *err)
{
	uint64_t held = bsv_buffers_size(r->session.buffers) * r->machine.cpus;
	uint64_t least = r->options.min_free, is = bsv_room_free(r->directory);
	char a[BSV_BYTES_TEXT], b[BSV_BYTES_TEXT];

	if (least == UINT64_MAX) /* room for the contents of the buffers when the recording stops */
		least = held > BSV_ROOM_USUAL ? held : BSV_ROOM_USUAL;
	bsv_room_begin(&r->room, least, is, bsv_now());
	if (least && is <= least)
		return bsa_fail(err, BSA_E_ENV,
		                "%s: %s are free there, and %s are to be left (--min-free); nothing would be recorded",
		                r->name, bsv_bytes(a, is), bsv_bytes(b, least));
	if (least && is / 4 < least)
		bsv_notice_unless(r->options.quiet,
		                  "room: %s are free; the recording stops when %s are left (--min-free)",
		                  bsv_bytes(a, is), bsv_bytes(b, least));
	return 0;
}

bool bsv_recording_has_room(struct bsv_recording *r)
{
	char a[BSV_BYTES_TEXT];
	double seconds;

	switch (bsv_room_look(&r->room, bsv_room_free(r->directory), bsv_now(), &seconds)) {
	case BSV_ROOM_NONE:
		return false;
	case BSV_ROOM_SOON:
		bsv_notice_unless(r->options.quiet,
		                  "room: %s are free, which is enough for another %.0f s, and then the recording stops",
		                  bsv_bytes(a, r->room.before), seconds);
		return true;
	default:
		return true;
	}
}

int bsv_recording_start(struct bsv_recording *r, struct bsa_err *err)
{
	char a[BSV_BYTES_TEXT], scope[BSV_SCOPE_TEXT];
	struct bsv_waiting waiting;
	int k = r->options.snapshot ? 0 : make_directory(r, err);
	char *whole = k < 0 ? NULL : realpath(r->directory, NULL); /* LTTng wants no dots */

	r->entered = k >= 0 && !r->options.snapshot;
	if (whole) {
		free(r->directory);
		r->directory = whole;
		r->session.directory = whole;
	}
	if (k >= 0)
		k = have_daemon(r, err);
	if (k >= 0 && r->options.kernel)
		k = bsv_session_check_kernel(r->lttng, err);
	if (k >= 0)
		k = meet_programs(r, &r->programs, err);
	/* A workload that runs already can be asked how much it writes, unless there is no time for a probe. */
	if (k >= 0 && r->programs && !r->options.live.timer_us && (!r->options.buffer || r->options.snapshot)) {
		r->rate = bsv_probe(&r->probed, r->lttng, r->options.detail, r->session.buffers);
		if (r->options.verbose)
			bsv_notice_unless(r->options.quiet, "buffers: what runs already writes %s a second on one cpu",
			                  bsv_bytes(a, r->rate));
		if (!r->options.buffer)
			choose_buffers(r, r->rate);
	}
	if (k >= 0)
		k = check_room(r, err);
	if (k >= 0 && !r->options.snapshot)
		k = check_disk(r, err);
	if (k >= 0) {
		bsv_waiting_begin(&waiting, r->options.quiet);
		k = bsv_session_start(&r->session, err);
		bsv_waiting_end(&waiting);
	}
	if (k < 0)
		return k;
	r->began = bsv_now();
	if (r->options.snapshot)
		return 0;
	r->boottime = boottime_now();
	keep_settings(r);
	bsv_notice_unless(r->options.quiet, "recording into %s: detail %s, buffers of %s for each of %u %s", r->name,
	                  bsv_detail_name(r->options.detail), bsv_bytes(a, bsv_buffers_size(r->session.buffers)),
	                  r->machine.cpus, bsv_plural(r->machine.cpus, "cpu", "cpus"));
	if (bsv_scope_is_set(&r->options.scope))
		bsv_notice_unless(r->options.quiet, "%s", bsv_scope_describe(&r->options.scope, scope));
	return 0;
}

/* ---- ending ---- */

void bsv_recording_end(struct bsv_recording *r)
{
	struct bsv_waiting waiting;

	r->ended = bsv_now();
	bsv_waiting_begin(&waiting, r->options.quiet);
	bsv_session_flush(&r->session, NULL);
	bsv_waiting_end(&waiting);
}

int bsv_recording_stop(struct bsv_recording *r, struct bsa_err *err)
{
	struct bsv_waiting waiting;
	uint64_t asked_at = bsv_now();
	int k;

	if (!r->ended)
		r->ended = asked_at;
	bsv_waiting_begin(&waiting, r->options.quiet);
	k = bsv_session_stop(&r->session, err);
	r->stopping_ns = bsv_now() - asked_at;
	r->cut = k < 0;
	if (!r->options.snapshot)
		keep_settings(r);
	bsv_daemon_close(&r->daemon);
	bsv_waiting_end(&waiting);
	return k;
}

void bsv_recording_close(struct bsv_recording *r)
{
	bool empty = false; /* for all we know */
	struct bsv_packets p;
	char below[PATH_MAX];

	if (r->session.made && bsv_session_stop(&r->session, NULL) < 0)
		r->cut = true;
	bsv_daemon_close(&r->daemon);
	if (r->entered && bsv_packets_read(&p, r->directory, NULL) >= 0) {
		empty = true;
		for (size_t i = 0; i < p.n; i++)
			empty &= !p.streams[i].bytes;
		if (r->cut)
			empty = !p.files_bytes;
		bsv_packets_fini(&p);
	}
	if (empty) { /* LTTng made its directories, and wrote no events */
		snprintf(below, sizeof(below), "%s/ust", r->directory);
		bsv_remove_tree(below);
		bsv_settings_remove(r->directory);
		if (r->made)
			rmdir(r->directory);
	}
	bsv_probe_close(&r->probed);
	free(r->name);
	free(r->directory);
	*r = (struct bsv_recording){ .directory = NULL };
}

int bsv_recording_result(struct bsv_recording *r, struct bsv_recorded *ret, struct bsa_err *err)
{
	const struct bsv_stream *worst =
		NULL; /* the buffer that lost most in a row: what it would have taken is enough for all */
	struct bsv_packets p;
	uint64_t whole;
	int k = bsv_packets_read(&p, r->directory, err);

	if (k < 0)
		return k;
	*ret = (struct bsv_recorded){ .files_bytes = p.files_bytes,
		                      .ns = r->ended - r->began,
		                      .stopping_ns = r->stopping_ns,
		                      .n_streams = p.n,
		                      .cut_metadata = p.cut_metadata,
		                      .end = r->session.end,
		                      .lost_events = r->session.lost_events,
		                      .lost_packets = r->session.lost_packets };
	for (size_t i = 0; i < p.n; i++)
		ret->bytes += p.streams[i].bytes;
	ret->n_short = bsv_packets_short(&p, r->ended, &whole);
	ret->whole_ns = whole > r->began ? whole - r->began : 0;
	for (size_t i = 0; i < p.n; i++)
		if (p.streams[i].lost_most > (worst ? worst->lost_most : 0))
			worst = &p.streams[i];
	if (worst) {
		ret->cpu = worst->cpu;
		ret->lost_most = worst->lost_most;
		ret->rate = worst->rate;
	}
	bsv_packets_fini(&p);
	return 0;
}

void bsv_recording_imported(struct bsv_recorded *done, const struct bsa_imported *imported)
{
	done->holes = imported->holes;
}

void bsv_recording_advise(const struct bsv_recording *r, struct bsv_recorded *done, uint64_t events)
{
	double each = events ? (double)done->bytes / (double)events : bsv_event_bytes(r->options.detail);

	if (done->lost_most)
		done->advice = bsv_advise(bsv_buffers_size(r->session.buffers), done->rate,
		                          bsv_bytes_of(done->lost_most, each));
}

int bsv_recording_written(const struct bsv_recording *r, const struct bsv_recorded *done, struct bsa_err *err)
{
	const char *why =
		bsv_room_free(r->directory) < BSV_ROOM_USUAL ? "there was no room" : "LTTng could not write it";

	if (done->cut_metadata)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be read: its metadata is cut, for %s", r->name, why);
	if (done->n_short)
		return bsa_fail(err, BSA_E_ENV, "not all of it is in %s, for %s", r->name, why);
	if (done->holes)
		return bsa_fail(err, BSA_E_ENV, "not all of it is in %s; burstscope doctor %s shows what is missing",
		                r->name, r->name);
	if (done->end != LTTNG_OK)
		return bsa_fail(err, BSA_E_ENV, "not all of it may be in %s: LTTng could not end the session: %s",
		                r->name, r->lttng->strerror(-done->end));
	return 0;
}

void bsv_recording_report_lost(const struct bsv_recording *r, const struct bsv_recorded *done)
{
	const struct bsv_advice *advice = &done->advice;
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_BYTES_TEXT], d[BSV_BYTES_TEXT];

	/* LTTng only writes to its log what it could not write, and does not count it. */
	if (done->cut_metadata)
		fputs("LOST: everything, because the metadata is cut off, and without it the rest cannot be read\n",
		      stderr);
	else if (done->n_short)
		fprintf(stderr, "LOST: %zu of %zu buffers %s not all there; what all of them have ends after %.2f s\n",
		        done->n_short, done->n_streams, bsv_plural(done->n_short, "is", "are"),
		        (double)done->whole_ns / 1e9);
	else if (done->holes)
		fprintf(stderr, "LOST: %s %s not recorded; LTTng does not count such losses\n",
		        bsv_count(a, done->holes), bsv_plural(done->holes, "interval was", "intervals were"));
	else if (done->end != LTTNG_OK)
		fputs("LOST: perhaps some of its end, for LTTng could not end the session\n", stderr);

	if (!done->lost_events && !done->lost_packets) {
		if (!done->n_short && !done->cut_metadata && !done->holes && done->end == LTTNG_OK)
			fputs("LTTng counted no lost events\n", stderr);
		return;
	}
	fprintf(stderr, "LOST in channel bursts: %s %s, %s %s\n", bsv_count(a, done->lost_events),
	        bsv_plural(done->lost_events, "event", "events"), bsv_count(b, done->lost_packets),
	        bsv_plural(done->lost_packets, "packet", "packets"));
	if (!advice->size)
		return;
	fprintf(stderr, "why: cpu %u wrote up to %s a second; %s of buffers hold %.1f ms of that\n", done->cpu,
	        bsv_bytes(c, advice->rate), bsv_bytes(d, bsv_buffers_size(r->session.buffers)),
	        (double)advice->held_ns / 1e6);
	fprintf(stderr, "     %s events in a row, about %s or %.1f ms of it, found no room\n",
	        bsv_count(a, done->lost_most), bsv_bytes(c, advice->lost_bytes),
	        (double)(advice->stall_ns - advice->held_ns) / 1e6);
	fprintf(stderr, "try: --buffer %s%s\n", bsv_size_option(d, advice->size),
	        r->options.detail == BSV_DETAIL_COMPACT ? "" : ", or --detail compact, which writes far less");
}

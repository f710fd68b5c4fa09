/*
 * watch.c -- waits for conditions, and has a case made of each that fires.
 *
 * STATES   armed: a session whose buffers are written over, and a trigger for each event that may
 *          be a condition. The first notification begins a case. From then on for --after ns more
 *          of them belong to it; then the snapshot is taken, and a process of its own (maker.h)
 *          makes the case of it, while this one is armed still: the next notification begins the
 *          next case. Not armed: the session daemon has gone. Until there is one again nothing is
 *          caught, which is reported then, as a gap.
 * FOLD     Where a condition takes a fold, the session is not a snapshot's: it writes to a ring of
 *          tracefiles in memory, which a process of its own reads (streamed.h), and the last
 *          seconds of which are copied when a condition fires. Triggers work beside it. There is
 *          one session in either case, so that programs emit each event once. That process may be
 *          killed: another one reads the ring anew.
 * RELAY    A session of another host (--url) is read by that process, too, which keeps the last
 *          records in memory, and makes the database of a case of them: while it does, nothing else
 *          is asked of it. There is no trace, no trigger, and no session to be made again; when the
 *          relay has gone, the process finds it again. Times of a case are on the clock of the
 *          trace, which is that of the other host.
 * REST     A condition that fires all the time must not keep a core busy with imports. Between
 *          snapshots there is a rest: as long as the buffers can wait for, which is half of
 *          --before; longer, up to a quarter of the cooldown, while all that comes is known
 *          already. An event of a model or a connection that is not known ends a rest that is
 *          longer than the buffers can wait for.
 * STATE    The state that a service emitted when it was asked last may have been written over: so
 *          it is asked again every half of --before, and when a condition fires
 *          (bsv_session_retell). Without that, apps and models in a case would have no names. A
 *          ring holds more, and state that is emitted again is a hole in a recording that is read:
 *          there it is asked again only if the ring was written over.
 * CRASH    Half cases: store.h. The session and its triggers: the next one of ours to begin removes
 *          them (record/session.c, triggers.c). Makers die with us. What was caught, and was not
 *          finished, is finished at the next start.
 * SIGNALS  Held, and taken where nothing is half done. The first one ends after the case that is
 *          being made; the second one at once.
 */
#include "watch/watch.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "base/text.h"
#include "live/save.h"
#include "record/record.h"
#include "record/ring.h"
#include "record/workload.h"
#include "watch/known.h"
#include "watch/maker.h"
#include "watch/manager.h"
#include "watch/streamed.h"

enum {
	TICK_MS = 40,
	QUEUE_MOST = 3,
	HOOKS_MOST = 4,
	AT_ONCE = 4096,
	SHARE = 10 /* one part of so many may be spent on cases */
};

#define SECOND INT64_C(1000000000)

static const int64_t maker_patience = 120 * SECOND, retry_least = SECOND, retry_most = 16 * SECOND,
		     relay_patience = 10 * SECOND, daemon_patience = 2 * SECOND, ring_patience = 3 * SECOND,
		     unseen_every = 10 * SECOND;

/* A snapshot that no case has been made of yet. */
struct taken {
	char path[PATH_MAX];
	int64_t at; /* CLOCK_MONOTONIC */
};

struct watching {
	const struct bsv_watch_options *o;
	struct bsv_recording recording;
	struct bsv_triggers triggers;
	struct bsv_rule rules[BSV_RULES_MOST];
	unsigned condition_of[BSV_RULES_MOST];
	char filters[BSV_CONDITIONS_MOST][64], scoped[BSV_RULES_MOST][BSV_SCOPE_FILTER];
	size_t n_rules;
	bool folds; /* a condition takes a fold */
	struct bsv_streamed streamed;
	int64_t asked_at, unseen_at, reader_at;
	uint32_t source; /* enum bsa_live_source, as it was reported last */
	bool saving;     /* the reader makes the database of the case behind the queue */
	char saved_on[sizeof(((struct bsv_condition *)NULL)->text)]; /* its condition */
	int64_t fired_at;                                            /* CLOCK_MONOTONIC: when the pending case began */
	uint64_t unseen[BSV_CONDITIONS_MOST];                        /* windows, as they were reported last */
	struct bsv_store store;
	struct bsv_signals signals;
	struct bsv_known known;
	bool armed, own_daemon, stopping, at_once, extended;
	bool daemon_gone; /* while not armed: there was no session daemon */
	bool advised;     /* that larger buffers would hold more */
	bool dead;        /* LTTng takes no snapshot of the session: its consumer daemon has gone, perhaps */
	int64_t armed_at, began, gone_at, try_at, retry, retold_at, looked_at, watchdog, notified_at;
	struct bsv_case next; /* the pending case, if a condition has fired */
	int64_t due, rest_until, snapshot_at, gap;
	unsigned repeats;
	struct taken queue[QUEUE_MOST];
	size_t n_queue;
	pid_t maker;
	struct taken making;
	int64_t making_since;
	pid_t hooks[HOOKS_MOST];
	uint64_t n_cases, n_again, n_lost, n_left; /* left: begun, and more than were asked for */
};

static int64_t clock_realtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static void notify_manager(const struct watching *w)
{
	char text[160], a[BSV_COUNT_MAX], b[BSV_COUNT_MAX];

	snprintf(text, sizeof(text), "STATUS=%s; %s cases, %s counted only",
	         w->armed ? "watching" : "no session daemon", bsv_count(a, w->n_cases), bsv_count(b, w->n_again));
	bsv_manager_notify(text);
}

/* ---- armed, or not ---- */

/* Cases that have been captured and are not made yet. */
static size_t cases_captured(const struct watching *w)
{
	return w->n_queue + w->saving + (w->maker > 0);
}

/* Report why the watch does not end at once, and what ends it. */
static void report_pending(struct watching *w, const char *now)
{
	size_t pending = cases_captured(w) + (w->armed && w->next.n_fired);
	char n[BSV_COUNT_MAX];

	if (pending)
		bsv_notice_unless(w->o->quiet, "%s %s pending: watch ends when that is done; %s ends it at once",
		                  bsv_count(n, pending), bsv_plural(pending, "case is", "cases are"), now);
}

static void take_signal(struct watching *w, int ms)
{
	bool typed = false;
	int signal = bsv_signals_next(&w->signals, ms, &typed);

	if (!signal || signal == SIGCHLD)
		return;
	if (!w->stopping)
		report_pending(w, "a second Ctrl-C");
	w->at_once = w->stopping;
	w->stopping = true;
	w->due = bsv_now_signed(); /* make a case now of what has fired so far */
}

static int begin_reading(struct watching *w, bool again, struct bsa_err *err)
{
	const struct bsv_watching watching = { .conditions = w->o->conditions,
		                               .n_conditions = w->o->n_conditions,
		                               .window_ns = (uint64_t)w->o->window,
		                               .keep_bytes = w->o->url ? w->o->ring : 0 };
	bool compact =
		w->o->detail == BSV_DETAIL_COMPACT && !w->o->url; /* 0 for another host's session: its traces have it */

	w->reader_at = bsv_now_signed();
	memset(w->unseen, 0, sizeof(w->unseen));
	return again ? bsv_streamed_begin_again(&w->streamed, &watching, compact, err)
	             : bsv_streamed_begin(&w->streamed, &watching, compact, err);
}

static void disarm_conditions(struct watching *w)
{
	bsv_triggers_close(&w->triggers);
	bsv_recording_close(&w->recording);
	bsv_streamed_end(&w->streamed);
	w->armed = false;
}

/* Until the relay has answered. BSA_E_ENV: it does not, or has no such session. */
static int arm_relay(struct watching *w, struct bsa_err *err)
{
	int64_t until;
	int r;

	w->streamed.remote = true;
	snprintf(w->streamed.directory, sizeof(w->streamed.directory), "%s", w->o->url);
	r = begin_reading(w, false, err);
	until = bsv_now_signed() + relay_patience;
	while (r >= 0 && !w->stopping &&
	       (r = bsv_reader_state(&w->streamed.reader, -1, &w->streamed.figures, err)) >= 0 &&
	       (!r || w->streamed.figures.state.source == BSA_LIVE_CONNECTING)) {
		if (r && bsv_now_signed() > until)
			r = bsa_fail(err, BSA_E_ENV, "%s: no relay (lttng-relayd) answers within %d s", w->o->url,
			             (int)(relay_patience / SECOND));
		else
			take_signal(w, TICK_MS);
	}
	w->armed = r >= 0;
	if (!w->armed)
		disarm_conditions(w);
	return r;
}

static int arm_conditions(struct watching *w, bool quiet, struct bsa_err *err)
{
	struct bsv_recording_options wanted = { .directory = w->folds ? w->streamed.directory : w->store.directory,
		                                .detail = w->o->detail,
		                                .buffer = w->o->buffer,
		                                .quiet = quiet || w->folds,
		                                .verbose = w->o->verbose,
		                                .scope = w->o->scope,
		                                .snapshot = !w->folds };
	int r = w->folds ? bsv_ring_make(w->streamed.directory, w->o->ring, err) : 0;

	if (w->folds)
		wanted.live = bsv_ring_session(w->o->ring, BSV_STREAMED_TIMER_US);
	else
		wanted.hold_ns = (uint64_t)(w->o->before + w->o->after);
	if (r >= 0)
		r = bsv_recording_plan(&w->recording, &wanted, err);
	if (r >= 0)
		r = bsv_recording_start(&w->recording, err);
	if (r >= 0 && w->n_rules)
		r = bsv_triggers_open(&w->triggers, w->recording.lttng, w->recording.session.name, w->rules, w->n_rules,
		                      err);
	if (r >= 0 && w->folds)
		r = begin_reading(w, false, err);
	w->armed = r >= 0;
	w->own_daemon = w->armed && w->recording.daemon.pid;
	if (!w->armed)
		disarm_conditions(w);
	w->retold_at = w->looked_at = w->armed_at = bsv_now_signed();
	return w->armed ? 0 : r;
}

static void take_snapshot(struct watching *w);
static void report_not_caught(struct watching *w, const char *on, const char *why);

static void lost_daemon(struct watching *w, const char *why)
{
	/*
	 * The session daemon has gone, and its buffers with it; the files of a ring are there until
	 * the session is made again.
	 */
	if (w->next.n_fired && w->folds && w->n_queue < QUEUE_MOST) {
		take_snapshot(w);
	} else if (w->next.n_fired) {
		report_not_caught(w, w->next.fired[0].on, "LTTng's daemons ended before its time was over");
		bsv_case_fini(&w->next);
	}
	disarm_conditions(w);
	w->gone_at = bsv_now_signed();
	w->retry = retry_least;
	/* a daemon that another program started may come back by itself */
	w->try_at = w->gone_at + (w->own_daemon ? 0 : daemon_patience);
	bsv_notice_unless(w->o->quiet, "nothing is watched: %s; the session is made again as soon as that can be", why);
	notify_manager(w);
}

static void arm_again(struct watching *w)
{
	const struct bsv_lttng *lttng;
	struct bsa_err err = { "" };
	char gap[BSV_DURATION_TEXT];
	bool alive = bsv_lttng_load(&lttng, &err) >= 0 && lttng->session_daemon_alive() == 1;
	bool back = alive && w->daemon_gone;

	w->daemon_gone = !alive;
	if (bsv_now_signed() < w->try_at && !back)
		return;
	if (arm_conditions(w, true, &err) < 0) {
		w->try_at = bsv_now_signed() + w->retry;
		w->retry = w->retry < retry_most ? 2 * w->retry : retry_most;
		return;
	}
	w->gap += bsv_now_signed() - w->gone_at;
	bsv_notice_unless(w->o->quiet, "watching again; what happened in the %s before was not caught",
	                  bsv_duration(gap, bsv_now_signed() - w->gone_at));
	notify_manager(w);
}

/* ---- conditions that fire ---- */

static void begin_case(struct watching *w, const char *on)
{
	char after[BSV_DURATION_TEXT];

	if (w->o->verbose)
		bsv_notice_unless(w->o->quiet, "%s fired: its case begins, and is taken in %s", on,
		                  bsv_duration(after, w->o->after));
	w->next = (struct bsv_case){ .state = strdup("caught"),
		                     .caught = clock_realtime(),
		                     .at = w->o->url ? (int64_t)w->streamed.figures.state.until : bsv_now_signed(),
		                     .before = w->o->before,
		                     .after = w->o->after,
		                     .held = -1,
		                     .watched = -1,
		                     .recorded = -1,
		                     .gap = w->gap };
	if (!w->o->url && w->next.at > w->armed_at)
		w->next.watched = w->next.at - w->armed_at;
	w->gap = 0;
	w->fired_at = bsv_now_signed();
	w->due = w->fired_at + w->o->after;
	w->extended = false;
	if (w->o->url || (w->folds && w->streamed.figures.state.bytes < w->o->ring / 2))
		/* the ring holds names of apps and models; a relay's session is known from its beginning */
		return;
	if (w->armed && bsv_session_retell(&w->recording.session, NULL) >= 0)
		w->retold_at = bsv_now_signed();
}

/* @n times; @key is what makes it another one than those before. NULL: it belongs to no case. */
static struct bsv_case_fired *fire_condition(struct watching *w, unsigned condition, uint64_t n, uint64_t key)
{
	const char *on = w->o->conditions[condition].text;
	struct bsv_case *c = &w->next;
	struct bsv_case_fired *f;
	int64_t at = clock_realtime(), soon, least;
	size_t i = 0;

	if (!c->n_fired && w->stopping)
		return NULL; /* otherwise the loop would not end */
	if (!c->n_fired)
		begin_case(w, on);

	while (i < c->n_fired && strcmp(c->fired[i].on, on) != 0)
		i++;
	if (i == BSV_CONDITIONS_MOST)
		return NULL;
	f = &c->fired[i];
	if (i == c->n_fired) {
		strcpy(f->on, on);
		c->n_fired++;
	}
	f->n += n;
	if (bsv_known_event_seen(&w->known, condition, key, at))
		return f;
	bsv_known_event_add(&w->known, condition, key, at);

	/*
	 * Something new has fired: of what it is about, too, there is to be an end, and its
	 * beginning must not be written over.
	 */
	soon = bsv_now_signed() + w->o->after;
	least = w->snapshot_at + w->o->before / 2;
	if (bsv_now_signed() > w->due && !w->extended) { /* once, or events that do not end would put it off for ever */
		w->due = soon;
		w->extended = true;
	}
	if (w->rest_until > (soon > least ? soon : least))
		w->rest_until = soon > least ? soon : least;
	return f;
}

static void report_not_caught(struct watching *w, const char *on, const char *why)
{
	char a[BSV_COUNT_MAX];

	w->n_lost++;
	bsv_notice("NOT CAUGHT: %s fired: %s (%s so far)", on, why, bsv_count(a, w->n_lost));
}

static void lost_reader(struct watching *w, const char *why)
{
	struct bsa_err err = { "" };

	if (bsv_now_signed() - w->reader_at < SECOND)
		return;
	if (!w->o->url) {
		bsv_notice_unless(w->o->quiet, "%s: another one begins, and reads what the ring still holds", why);
	} else if (w->source !=
	           BSA_LIVE_LOST) { /* a look fails each second until the relay and the session are there again */
		w->source = BSA_LIVE_LOST;
		w->gone_at = bsv_now_signed();
		bsv_notice_unless(
			w->o->quiet,
			"nothing is watched: %s; what was kept is lost, and the relay is asked again each second", why);
	}
	if (begin_reading(w, true, &err) < 0)
		bsv_notice_unless(w->o->quiet, "%s; it is tried again", err.text);
}

/* The relay has gone, or is there again, or the session is over. */
static void report_relay(struct watching *w)
{
	uint32_t source = w->streamed.figures.state.source;
	char gap[BSV_DURATION_TEXT];

	if (source == BSA_LIVE_LOST && w->source != BSA_LIVE_LOST) {
		w->gone_at = bsv_now_signed();
		bsv_notice_unless(w->o->quiet,
		                  "nothing is watched: the relay at %s has gone; it is asked again each second",
		                  w->o->url);
	}
	if (source == BSA_LIVE_READING && w->source == BSA_LIVE_LOST) {
		w->gap += bsv_now_signed() - w->gone_at;
		bsv_notice_unless(w->o->quiet, "watching again; what happened in the %s before was not caught",
		                  bsv_duration(gap, bsv_now_signed() - w->gone_at));
	}
	if (source == BSA_LIVE_ENDED && w->source != BSA_LIVE_ENDED) {
		bsv_notice_unless(w->o->quiet, "%s has ended", w->streamed.figures.session);
		w->stopping = true;
		w->due = bsv_now_signed();
	}
	w->source = source;
}

static void ask_to_save(struct watching *w)
{
	char path[PATH_MAX + 16];
	struct bsa_err err = { "" };
	int r;

	snprintf(path, sizeof(path), "%s/trace.db", w->queue[w->n_queue].path);
	r = bsv_streamed_save(&w->streamed, path, &err);
	w->saving = !r;
	if (r > 0)
		w->n_queue++;
	if (r < 0) {
		bsv_remove_tree(w->queue[w->n_queue].path);
		report_not_caught(w, w->saved_on, err.text);
	}
	if (r == BSA_E_ENV)
		lost_reader(w, err.text);
}

/* A text of the process that reads the recording, which is not trusted. */
static char *reader_text(const char *text)
{
	return bsv_printable(text, strlen(text), 0);
}

/* A window that was not seen whole is no window in which the rule held. */
static void report_unseen(struct watching *w)
{
	const struct bsa_live_state *s = &w->streamed.figures.state;
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_COUNT_MAX];

	for (size_t i = 0; i < w->o->n_conditions; i++) {
		const struct bsv_folded *f = &w->streamed.figures.folded[i];
		bsv_scoped_text *why = NULL, *counted = NULL;

		if (f->unseen <= w->unseen[i])
			continue;
		why = reader_text(f->lost);
		if (s->lost_events || s->lost_packets)
			counted = bsv_text(" (LTTng counted %s lost events and %s lost packets so far)",
			                   bsv_count(b, s->lost_events), bsv_count(c, s->lost_packets));
		bsv_notice_unless(w->o->quiet,
		                  "%s: cannot tell whether it held in %s %s, of which events are missing: %s%s",
		                  w->o->conditions[i].text, bsv_count(a, f->unseen - w->unseen[i]),
		                  bsv_plural(f->unseen - w->unseen[i], "window", "windows"), why ? why : "",
		                  counted ? counted : "");
		w->unseen[i] = f->unseen;
		w->unseen_at = bsv_now_signed();
	}
}

static void ask_reader(struct watching *w)
{
	struct bsv_streamed_fired fired;
	struct bsv_case_fired *f;
	struct bsa_err err = { "" };
	int r;

	if (w->saving) {
		ask_to_save(w);
		return;
	}
	if (!w->streamed.reader.asked && bsv_now_signed() - w->asked_at < BSV_STREAMED_ASK_MS * INT64_C(1000000))
		return;
	if (!w->streamed.reader.asked)
		w->asked_at = bsv_now_signed();
	r = bsv_streamed_ask(&w->streamed, &err);
	if (r < 0)
		lost_reader(w, err.text);
	if (r <= 0)
		return; /* the reader is asked again at the next step */
	while (bsv_streamed_next(&w->streamed, &fired)) {
		f = fire_condition(w, fired.condition, fired.n, 0);
		if (!f || f->to)
			continue;
		f->from = fired.from ? (int64_t)fired.from : 0;
		f->to = fired.from ? (int64_t)fired.to : 0;
	}

	if (bsv_now_signed() - w->unseen_at >= unseen_every)
		report_unseen(w);
	if (w->o->url)
		report_relay(w);
}

static void take_notifications(struct watching *w)
{
	struct bsa_err err = { "" };
	struct bsv_notified n;
	int r = 0;

	if (w->folds)
		ask_reader(w);
	for (unsigned i = 0; w->n_rules && i < AT_ONCE && (r = bsv_triggers_next(&w->triggers, &n, &err)) > 0; i++) {
		bool execution = !strcmp(w->rules[n.rule].captures[0], "exec");
		struct bsv_case_fired *f = fire_condition(w, w->condition_of[n.rule], 1, n.values[execution ? 1 : 0]);

		if (f && execution && n.values[0] && f->n_execs < BSV_CASE_EXECS)
			f->execs[f->n_execs++] = n.values[0];
	}
	if (r >= 0 && !w->o->url && bsv_now_signed() - w->looked_at >= SECOND) {
		w->looked_at = bsv_now_signed();
		r = bsv_daemon_alive(&w->recording.daemon, w->recording.lttng)
		            ? bsv_session_check(&w->recording.session, &err)
		            : bsa_fail(&err, BSA_E_ENV, "lttng-sessiond has gone");
	}
	if (r < 0)
		lost_daemon(w, err.text);
}

/* ---- a snapshot ---- */

static int take_buffers(struct watching *w, const char *path, struct bsa_err *err)
{
	int r = bsv_session_snapshot(&w->recording.session, path, err);
	char from[PATH_MAX + 300], trace[PATH_MAX + 8];
	struct dirent *entry;
	bool found = false;
	DIR *d;

	w->dead = r < 0;
	if (r < 0)
		return r;

	/* LTTng adds when, and a number, to the name that it was given. */
	snprintf(trace, sizeof(trace), "%s/trace", path);
	d = opendir(path);
	while (d && !found && (entry = readdir(d))) {
		if (strncmp(entry->d_name, "trace-", 6))
			continue;
		snprintf(from, sizeof(from), "%s/%s", path, entry->d_name);
		found = !rename(from, trace);
	}
	if (d)
		closedir(d);
	if (!found)
		return bsa_fail(err, BSA_E_ENV, "LTTng wrote nothing into %s", path);
	if (bsv_scope_is_set(&w->o->scope))
		bsv_recording_note(&w->recording, trace);
	return r;
}

static int take_into(struct watching *w, struct taken *ret, struct bsa_err *err)
{
	/* There must be room for the buffers of two users and a database of the same size. */
	uint64_t held = w->o->url  ? w->o->ring
	                : w->folds ? bsv_directory_bytes(w->streamed.directory)
	                           : bsv_buffers_size(w->recording.session.buffers) * w->recording.machine.cpus;
	uint64_t is = bsv_room_free(w->store.directory);
	char trace[PATH_MAX + 8];
	size_t bytes;
	int r;

	if (is <= w->o->min_free || is - w->o->min_free <= 2 * held)
		return bsa_fail(err, BSA_E_ENV, "%s: there is too little room for a case there (--min-free)",
		                w->store.directory);
	r = bsv_store_begin(&w->store, &w->next, ret->path, err);
	if (r < 0)
		return r;
	if (w->next.after <
	    bsv_now_signed() - w->fired_at) /* there was a rest, and what fired meanwhile belongs to it, too */
		w->next.after = bsv_now_signed() - w->fired_at;
	r = bsv_case_write(&w->next, ret->path, err);
	if (r >= 0 && w->folds && !w->o->url) { /* a relay's session is saved: ask_to_save */
		/* Copy the trace files of the time around the condition; whole files, so they begin earlier. */
		unsigned seconds = (unsigned)((bsv_now_signed() - w->fired_at + w->o->before) / SECOND) + 2;

		snprintf(trace, sizeof(trace), "%s/trace", ret->path);
		r = bsv_live_save(w->streamed.directory, trace, seconds, &bytes, err);
	} else if (r >= 0 && !w->o->url) {
		r = take_buffers(w, ret->path, err);
	}
	if (r < 0)
		bsv_remove_tree(ret->path);
	ret->at = bsv_now_signed();
	return r;
}

/* Its time is over; and of a ring, what was recorded until then is in files, or never will be. */
static bool is_due(const struct watching *w)
{
	if (!w->armed || !w->next.n_fired || bsv_now_signed() < w->due || w->n_queue == QUEUE_MOST)
		return false;
	if ((bsv_now_signed() < w->rest_until && !w->stopping) || w->saving || (w->o->url && w->streamed.reader.asked))
		return false;
	return !w->folds ||
	       (int64_t)w->streamed.figures.state.until - w->streamed.figures.state.clock_lead_ns >= w->due ||
	       bsv_now_signed() >= w->due + ring_patience;
}

static void take_snapshot(struct watching *w)
{
	struct bsa_err err = { "" };
	int r = take_into(w, &w->queue[w->n_queue], &err);

	if (r < 0)
		report_not_caught(w, w->next.fired[0].on, err.text);
	else if (!w->o->url)
		w->n_queue++;
	w->saving = r >= 0 && w->o->url;
	snprintf(w->saved_on, sizeof(w->saved_on), "%s", w->next.fired[0].on);
	w->snapshot_at = bsv_now_signed();
	w->rest_until = w->snapshot_at + w->o->before / 2;
	bsv_case_fini(&w->next);
	if (w->dead && w->armed)
		lost_daemon(w, "LTTng takes no snapshot, and if lttng-consumerd has gone, not before lttng-sessiond is "
		               "started again");
	w->dead = false;
}

/* ---- what becomes of it ---- */

static void run_hook(struct watching *w, const struct bsv_case *c, const char *path)
{
	bsv_scoped_text *line = NULL, *shown = NULL;
	size_t free_one = 0;

	while (free_one < HOOKS_MOST && w->hooks[free_one])
		free_one++;
	if (free_one == HOOKS_MOST) {
		bsv_notice_unless(w->o->quiet, "--exec: %d of them still run; it is not run for %s", HOOKS_MOST,
		                  c->name);
		return;
	}
	fflush(NULL);
	w->hooks[free_one] = fork();
	if (w->hooks[free_one] < 0)
		w->hooks[free_one] = 0;
	if (w->hooks[free_one])
		return;
	bsv_signals_release(&w->signals);
	setpgid(0, 0);
	setenv("BURSTSCOPE_CASE", path, 1);
	/*
	 * The hook gets the summary as it is printed: names of apps bring no control characters
	 * into it, and no name makes an option of it.
	 */
	line = bsv_case_line(c);
	shown = line ? bsv_printable(line, strlen(line), 0) : NULL;
	if (shown && *shown == '-')
		*shown = '?';
	setenv("BURSTSCOPE_SUMMARY", shown ? shown : "", 1);
	setenv("BURSTSCOPE_FINDING", c->n_causes && c->causes[0].finding ? c->causes[0].finding : "", 1);
	execl("/bin/sh", "sh", "-c", w->o->exec, (char *)NULL);
	_exit(127);
}

/* The line: to the standard output, which is the journal's where systemd runs us, and to the system's log. */
static void report_case(const struct watching *w, const struct bsv_case *c, const char *path)
{
	bsv_scoped_text *text = bsv_case_line(c), *shown = text ? bsv_printable(text, strlen(text), 0) : NULL,
			*line = NULL;

	line = bsv_text("%s%s [%s]", getenv("JOURNAL_STREAM") ? "<4>" : "", shown ? shown : "no memory", path);
	bsv_print_line(stdout, line ? line : "no memory");
	fflush(stdout);
	if (w->o->syslog)
		syslog(LOG_WARNING, "%s [%s]", shown ? shown : "no memory", path);
}

static void count_again(struct watching *w, const struct bsv_case *c, const char *name)
{
	char path[PATH_MAX + BSV_CASE_NAME];
	struct bsv_case first;

	w->n_again++;
	w->repeats++;
	if (!name)
		return;
	snprintf(path, sizeof(path), "%s/%s", w->store.directory, name);
	if (bsv_case_read(&first, path, NULL) < 0)
		return; /* the case was removed, because there was no room for it */
	first.again++;
	first.again_last = c->caught;
	bsv_case_write(&first, path, NULL);
	bsv_case_fini(&first);
}

/* The new cause comes first, and is what the case is about. */
static void put_first(struct bsv_case *c, size_t place, const char *path)
{
	struct bsv_case_cause cause = c->causes[place];

	if (!place)
		return;
	memmove(&c->causes[1], &c->causes[0], place * sizeof(cause));
	c->causes[0] = cause;
	free(c->summary);
	c->summary = cause.what ? strdup(cause.what) : NULL;
	bsv_case_write(c, path, NULL);
}

/* A case without a cause is known by its condition. */
static void name_cause(struct bsv_case *c)
{
	if (c->n_causes || !c->n_fired)
		return;
	c->causes[c->n_causes++] = (struct bsv_case_cause){ .condition = strdup(c->fired[0].on),
		                                            .finding = strdup("unexplained"),
		                                            .n = c->fired[0].n };
}

static bool has_enough(const struct watching *w)
{
	return w->o->most && w->n_cases >= w->o->most;
}

/*
 * The watcher had been there for long enough, and yet the case holds less than was asked for. The
 * advice is printed once.
 */
static void advise_buffers(struct watching *w, const struct bsv_case *c)
{
	uint64_t size = w->folds ? w->o->ring : bsv_buffers_size(w->recording.session.buffers);
	double wanted = c->held > 0 ? (double)size * (double)c->before / (double)c->held * 1.25 : 0;
	char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT], d[BSV_BYTES_TEXT];

	if (w->advised || w->o->url || c->held < 0 || c->held >= c->before || c->at - w->armed_at < c->before)
		return;
	w->advised = true;
	if (c->recorded >= c->before) { /* the ring reaches far enough */
		bsv_notice_unless(
			w->o->quiet,
			"%s has %s of the %s before without a loss: its recording begins earlier, and events of it "
			"were lost; burstscope doctor %s/%s/trace.db has when and why",
			c->name, bsv_duration(a, c->held), bsv_duration(b, c->before), w->store.directory, c->name);
		return;
	}
	bsv_notice_unless(w->o->quiet, "%s has %s of the %s before: a larger --%s%s%s keeps more", c->name,
	                  bsv_duration(a, c->held), bsv_duration(b, c->before), w->folds ? "ring" : "buffer",
	                  wanted > 0 && wanted < 4e9 ? ", as " : "",
	                  wanted > 0 && wanted < 4e9 ? bsv_size_option(d, (uint64_t)wanted) : "");
}

/* Keep it, or count it, if it is nothing new. */
static void judge_case(struct watching *w, char path[PATH_MAX])
{
	struct bsa_err err = { "" };
	struct bsv_case c;
	size_t place;
	bool again;

	if (bsv_case_read(&c, path, NULL) < 0) {
		bsv_remove_tree(path);
		return;
	}
	name_cause(&c);
	again = bsv_known_find_new(&w->known, &c) == c.n_causes; /* a case with its cause was kept a short while ago */
	bsv_known_forget_removed(&w->known, &w->store, &c);
	place = bsv_known_find_new(&w->known, &c);
	if (place < c.n_causes) {
		put_first(&c, place, path);
		if (bsv_store_finish(&w->store, path, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			bsv_case_fini(&c);
			return;
		}
		w->n_cases++;
		/* more causes than cases fit must not keep a core busy either */
		w->repeats = again ? w->repeats + 1 : 0;
		bsv_known_add(&w->known, &c);
		bsv_store_prune(&w->store, w->o->keep, w->o->max_disk);
		report_case(w, &c, path);
		advise_buffers(w, &c);
		if (w->o->exec)
			run_hook(w, &c, path);
		notify_manager(w);
	} else {
		count_again(w, &c, bsv_known_case(&w->known, &c));
		bsv_remove_tree(path);
		notify_manager(w);
	}
	bsv_case_fini(&c);
}

static void reap_makers(struct watching *w)
{
	int64_t least, most;
	int status;

	for (size_t i = 0; i < HOOKS_MOST; i++)
		if (w->hooks[i] && waitpid(w->hooks[i], &status, WNOHANG) == w->hooks[i])
			w->hooks[i] = 0;
	if (!w->maker)
		return;
	if (bsv_now_signed() - w->making_since > maker_patience)
		kill(w->maker, SIGKILL);
	if (waitpid(w->maker, &status, WNOHANG) != w->maker)
		return;
	w->maker = 0;
	if (bsv_maker_result(status, w->making.path) == BSV_MADE_NOTHING)
		bsv_remove_tree(w->making.path);
	else
		judge_case(w, w->making.path);

	/* the rest after the case */
	least = SHARE * (bsv_now_signed() - w->making_since);
	most = w->o->before / 2;
	for (unsigned i = 0; i < w->repeats && most < w->known.cooldown / 4; i++)
		most *= 2;
	if (w->repeats)
		least = most;
	w->rest_until = w->making.at + (least < most ? least : most);
}

/* ---- the beginning: what one before us left ---- */

enum half { HALF_EMPTY, HALF_FINISHED, HALF_REPEATED };

/* Keep or count the case, whose diagnosis is there, as the watcher that caught it would have. */
static enum half judge_half(struct watching *w, struct bsv_case *c, char path[PATH_MAX])
{
	struct bsa_err err = { "" };
	size_t place;

	name_cause(c);
	place = bsv_known_find_new(&w->known, c);
	if (c->n_causes && place == c->n_causes) {
		count_again(w, c, bsv_known_case(&w->known, c));
		return HALF_REPEATED;
	}
	if (!c->why)
		c->why = strdup("its watcher was ended before it was finished; the next one did that");
	put_first(c, place, path);
	if (bsv_case_write(c, path, &err) < 0 || bsv_store_finish(&w->store, path, &err) < 0)
		return HALF_EMPTY;
	bsv_known_add(&w->known, c);
	report_case(w, c, path);
	return HALF_FINISHED;
}

static enum half finish_half(struct watching *w, char path[PATH_MAX])
{
	struct bsa_err err = { "" };
	struct bsv_case c;
	char trace[PATH_MAX + 8], database[PATH_MAX + 16];
	enum half half = HALF_EMPTY;
	int status;
	pid_t pid;

	snprintf(trace, sizeof(trace), "%s/trace", path);
	snprintf(database, sizeof(database), "%s/trace.db", path);
	if (access(trace, F_OK) && access(database, F_OK))
		return HALF_EMPTY;
	pid = bsv_maker_start(path, &err);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || bsv_maker_result(status, path) == BSV_MADE_NOTHING)
		return HALF_EMPTY;
	if (bsv_case_read(&c, path, &err) >= 0 && !strcmp(c.state ? c.state : "", "explained"))
		half = judge_half(w, &c, path);
	bsv_case_fini(&c);
	return half;
}

/* The causes of whole cases are known by now. */
static void clean_up(struct watching *w)
{
	unsigned halves[] = { [HALF_EMPTY] = 0, [HALF_FINISHED] = 0, [HALF_REPEATED] = 0 };
	char **names, path[PATH_MAX];
	size_t n;

	if (bsv_store_list(w->store.directory, true, &names, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		enum half half;

		snprintf(path, sizeof(path), "%s", names[i]);
		half = finish_half(w, path);
		halves[half]++;
		if (half != HALF_FINISHED)
			bsv_remove_tree(path);
	}
	bsv_store_list_free(names, n);
	if (n) {
		unsigned again = halves[HALF_REPEATED], empty = halves[HALF_EMPTY], finished = halves[HALF_FINISHED];
		bsv_scoped_text *repeated =
			again ? bsv_text(", %u %s counted, because the same cause was kept within --cooldown", again,
		                         bsv_plural(again, "repetition was", "repetitions were"))
			      : strdup("");
		bsv_scoped_text *removed =
			empty ? bsv_text(", %u with too little in %s removed", empty, bsv_plural(empty, "it", "them"))
			      : strdup("");

		bsv_notice_unless(w->o->quiet, "a watcher before this one ended early: %u %s finished%s%s", finished,
		                  bsv_plural(finished, "case was", "cases were"), repeated ? repeated : "",
		                  removed ? removed : "");
	}
	w->n_again = w->repeats = 0; /* counts of the watcher before */
	bsv_store_prune(&w->store, w->o->keep, w->o->max_disk);
}

/* ---- all of it ---- */

enum { CONDITIONS_TEXT = BSV_CONDITIONS_MOST * (sizeof(((struct bsv_condition *)0)->text) + 2) };

/* "miss, error": those that are so decided. */
static const char *conditions_text(const struct watching *w, enum bsv_decided decided, char to[CONDITIONS_TEXT])
{
	char *end = to;

	*to = 0;
	for (size_t i = 0; i < w->o->n_conditions; i++)
		if (w->o->conditions[i].decided == decided)
			end += sprintf(end, "%s%s", end > to ? ", " : "", w->o->conditions[i].text);
	return to;
}

/*
 * The time that the buffers last, and the size that would last for as long as was asked for. A ring
 * reports its size, and a case what it holds.
 */
static void report_held(const struct watching *w)
{
	const struct bsv_recording *r = &w->recording;
	uint64_t asked = (uint64_t)(w->o->before + w->o->after), size = bsv_buffers_size(r->session.buffers);
	uint64_t held = r->rate ? bsv_size_holds(size, r->rate) : 0;
	uint64_t larger = r->rate ? bsv_size_to_hold(w->o->detail, r->rate, asked) : 0;
	char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT], c[BSV_BYTES_TEXT], d[BSV_DURATION_TEXT];

	if (!r->rate)
		bsv_notice("how long the buffers last is not known, because no program emitted events when they were "
		           "made: start the programs first, or give a --buffer");
	else if (held >= asked)
		bsv_notice("the buffers last about %s at the rate of the beginning", bsv_duration(a, (int64_t)held));
	else if (bsv_size_holds(larger, r->rate) >= asked)
		bsv_notice("the buffers last about %s at the rate of the beginning, and less than the %s that --before "
		           "and --after ask for: --buffer %s would do",
		           bsv_duration(a, (int64_t)held), bsv_duration(b, (int64_t)asked), bsv_size_option(c, larger));
	else
		bsv_notice("the buffers last about %s at the rate of the beginning, and less than the %s that --before "
		           "and --after ask for; the largest that LTTng takes, --buffer %s, would last about %s",
		           bsv_duration(a, (int64_t)held), bsv_duration(b, (int64_t)asked), bsv_size_option(c, larger),
		           bsv_duration(d, (int64_t)bsv_size_holds(larger, r->rate)));
}

static void report_begun(const struct watching *w)
{
	char buffer[BSV_BYTES_TEXT], before[BSV_DURATION_TEXT], after[BSV_DURATION_TEXT], window[BSV_DURATION_TEXT];
	char scope[BSV_SCOPE_TEXT], conditions[CONDITIONS_TEXT], asked[BSV_DURATION_TEXT];
	bsv_scoped_text *raised = NULL;
	bool rule = false;

	if (w->n_rules)
		bsv_notice("watching by LTTng's triggers, which see single events%s: %s",
		           w->folds ? "" : "; nothing is written until one fires",
		           conditions_text(w, BSV_BY_EVENT, conditions));
	if (w->o->url)
		bsv_notice(
			"watching %s by a fold over all events that the relay passes on, the last %s of which are kept "
			"in memory; rules over %s: %s",
			w->streamed.figures.session, bsv_bytes(buffer, w->o->ring), bsv_duration(window, w->o->window),
			conditions_text(w, BSV_BY_FOLD, conditions));
	else if (w->folds)
		bsv_notice("watching by a fold over all events, which are in a ring of %s for each cpu and user in %s; "
		           "rules over %s: %s",
		           bsv_bytes(buffer, w->o->ring), w->streamed.directory, bsv_duration(window, w->o->window),
		           conditions_text(w, BSV_BY_FOLD, conditions));
	if (bsv_scope_is_set(&w->o->scope))
		bsv_notice("%s", bsv_scope_describe(&w->o->scope, scope));
	for (size_t i = 0; i < w->o->n_conditions; i++)
		rule |= w->o->conditions[i].watched == BSV_WATCH_RULE;
	if (w->o->before > w->o->asked_before)
		raised = bsv_text(" (not %s, because a condition of the fold is known seconds later%s)",
		                  bsv_duration(asked, w->o->asked_before), rule ? ", and a rule is over a window" : "");
	if (w->o->url) {
		bsv_notice("cases go into %s: %s before%s and %s after; databases without traces, which the relay has",
		           w->o->directory, bsv_duration(before, w->o->before), raised ? raised : "",
		           bsv_duration(after, w->o->after));
		return;
	}
	if (!w->folds)
		report_held(w);
	bsv_notice("cases go into %s: %s before%s and %s after; detail %s, buffers of %s for each of %u %s",
	           w->o->directory, bsv_duration(before, w->o->before), raised ? raised : "",
	           bsv_duration(after, w->o->after), bsv_detail_name(w->o->detail),
	           bsv_bytes(buffer, bsv_buffers_size(w->recording.session.buffers)), w->recording.machine.cpus,
	           bsv_plural(w->recording.machine.cpus, "cpu", "cpus"));

	/* A watcher that can see nothing must not look like a service that does nothing wrong. */
	if (!w->recording.programs && geteuid())
		bsv_notice("no program of this user that emits events is running; only root can watch other users' "
		           "programs");
	else if (!w->recording.programs)
		bsv_notice("no program that emits events is running; those that start later are watched");
}

/* Report how a rule was judged, so that silence does not look like a rule that held. */
static void report_windows(const struct watching *w, size_t i)
{
	const struct bsv_folded *f = &w->streamed.figures.folded[i];
	bsv_scoped_text *lost = NULL, *silent = NULL, *unsure = NULL, *late = NULL;
	bsv_scoped_text *why = reader_text(f->why), *loss = reader_text(f->lost);
	char n[BSV_COUNT_MAX];

	if (f->unseen)
		lost = bsv_text(
			"; in %s of them events were lost, so that nothing is said of these (the last time: %s)",
			bsv_count(n, f->unseen), loss ? loss : "");
	if (f->silent)
		silent = bsv_text("; in %s of them a service was silent while clients waited for it, so that nothing "
		                  "passes in these",
		                  bsv_count(n, f->silent));
	if (f->unsure)
		unsure = bsv_text("; %s of them cannot be judged, the last one because: %s", bsv_count(n, f->unsure),
		                  why ? why : "");
	if (f->too_late)
		late = bsv_text("; %s %s arrived too late to be judged", bsv_count(n, f->too_late),
		                bsv_plural(f->too_late, "execution", "executions"));
	bsv_notice_unless(w->o->quiet, "%s: %s %s judged%s%s%s%s", w->o->conditions[i].text, bsv_count(n, f->judged),
	                  bsv_plural(f->judged, "window", "windows"), lost ? lost : "", silent ? silent : "",
	                  unsure ? unsure : "", late ? late : "");
}

/* Report what the fold may not have seen, so that silence does not look like a service that does nothing wrong. */
static void report_judged(const struct watching *w)
{
	char n[BSV_COUNT_MAX];

	for (size_t i = 0; i < w->o->n_conditions; i++) {
		const struct bsv_folded *f = &w->streamed.figures.folded[i];
		const char *text = w->o->conditions[i].text;
		bsv_scoped_text *why = reader_text(f->lost);

		if (w->o->conditions[i].watched == BSV_WATCH_RULE)
			report_windows(w, i);
		if (w->o->conditions[i].watched == BSV_WATCH_SILENCE && !f->judged)
			bsv_notice_unless(w->o->quiet,
			                  "%s: cannot tell: no events were read that show what is under way", text);
		if (w->o->conditions[i].watched != BSV_WATCH_STARVATION &&
		    w->o->conditions[i].watched != BSV_WATCH_INVERSION)
			continue;
		if (f->losses)
			bsv_notice_unless(
				w->o->quiet,
				"%s: events were lost %s %s, so that waits may not have been seen; the last time: "
				"%s",
				text, bsv_count(n, f->losses), bsv_plural(f->losses, "time", "times"), why ? why : "");
		if (f->unsure)
			bsv_notice_unless(
				w->o->quiet,
				"%s: not judged for %s %s that took longer than a second: compact events do not "
				"show in time which app held the lanes; watch at --detail full",
				text, bsv_count(n, f->unsure), bsv_plural(f->unsure, "execution", "executions"));
	}
}

static void watch_step(struct watching *w)
{
	/* Not more often than the buffers are written over, and not more often than once a second. */
	const int64_t retell_every = w->o->before / 2 > SECOND ? w->o->before / 2 : SECOND;
	struct bsa_err err = { "" };

	if (w->armed)
		take_notifications(w);
	else if (!w->stopping) /* making a session may take seconds, in which no signal is taken */
		arm_again(w);
	if (w->armed && !w->folds && bsv_now_signed() - w->retold_at >= retell_every) {
		w->retold_at = bsv_now_signed();
		bsv_session_retell(&w->recording.session, NULL);
	}
	if (is_due(w))
		take_snapshot(w);
	if (!w->maker && w->n_queue) {
		w->making = w->queue[0];
		w->n_queue--;
		memmove(&w->queue[0], &w->queue[1], w->n_queue * sizeof(w->queue[0]));
		w->making_since = bsv_now_signed();
		w->maker = bsv_maker_start(w->making.path, &err);
		if (w->maker <= 0) {
			w->maker = 0;
			bsv_notice_unless(w->o->quiet, "%s; the case is finished at the next start", err.text);
		}
	}
	reap_makers(w);
	if (w->watchdog && bsv_now_signed() - w->notified_at >= w->watchdog) {
		w->notified_at = bsv_now_signed();
		bsv_manager_notify("WATCHDOG=1");
	}
}

static bool is_over(const struct watching *w)
{
	if (has_enough(w))
		return true;
	return w->at_once || (w->stopping && !w->maker && !w->n_queue && !w->saving && (!w->next.n_fired || !w->armed));
}

static void watch_loop(struct watching *w)
{
	char text[BSV_COUNT_MAX];
	size_t n;

	while (!is_over(w)) {
		take_signal(w, TICK_MS);
		if (!w->stopping && w->o->duration >= 0 && bsv_now_signed() - w->began >= w->o->duration) {
			report_pending(w, "Ctrl-C");
			w->stopping = true;
		}
		watch_step(w);
	}

	/* The cases that a second signal leaves, and what has begun and is not finished when the watch ends. */
	n = cases_captured(w);
	if (w->at_once && !has_enough(w) && n)
		bsv_notice_unless(w->o->quiet, "%s %s unfinished; the next watcher finishes what is in %s",
		                  bsv_count(text, n), bsv_plural(n, "case is", "cases are"), w->store.directory);
	if (has_enough(w))
		w->n_left = n + (w->next.n_fired > 0);
	else if (w->next.n_fired)
		report_not_caught(w, w->next.fired[0].on, "watch was ended before its time was over");
	bsv_case_fini(&w->next);
	if (!w->maker)
		return;
	kill(w->maker, SIGKILL);
	waitpid(w->maker, NULL, 0);
	w->maker = 0;
	if (has_enough(w)) /* otherwise the next watcher finishes it */
		bsv_remove_tree(w->making.path);
}

static void watching_fini(struct watching *w)
{
	disarm_conditions(w);
	bsv_store_close(&w->store);
	bsv_known_fini(&w->known);
	bsv_case_fini(&w->next);
}

int bsv_watch_run(const struct bsv_watch_options *options, struct bsa_err *err)
{
	__attribute__((cleanup(watching_fini))) struct watching w = { .o = options,
		                                                      .known.cooldown = options->cooldown };
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], c[BSV_COUNT_MAX], d[BSV_COUNT_MAX];
	int r = bsv_store_open(&w.store, options->directory, err);

	if (r < 0)
		return r;
	w.watchdog = (int64_t)bsv_manager_watchdog();

	/* the triggers of all conditions */
	for (size_t i = 0; i < w.o->n_conditions; i++) {
		size_t n = bsv_condition_rules(&w.o->conditions[i], w.o->detail, &w.rules[w.n_rules], w.filters[i]);

		for (size_t j = 0; j < n; j++, w.n_rules++) {
			struct bsv_rule *rule = &w.rules[w.n_rules];
			char *filter = w.scoped[w.n_rules];

			w.condition_of[w.n_rules] = (unsigned)i;
			rule->filter = bsv_scope_filter(&w.o->scope, rule->event, rule->filter, filter) ? filter : NULL;
		}
		w.folds |= w.o->conditions[i].decided == BSV_BY_FOLD;
	}

	bsv_signals_hold(&w.signals);
	bsv_known_read(&w.known, &w.store, clock_realtime());
	clean_up(&w);
	r = options->url ? arm_relay(&w, err) : arm_conditions(&w, options->quiet, err);
	w.began = bsv_now_signed();
	if (r >= 0) {
		if (!options->quiet)
			report_begun(&w);
		bsv_manager_notify("READY=1");
		notify_manager(&w);
		watch_loop(&w);

		/* Snapshots that were taken while the last case that was asked for was made. */
		for (size_t i = 0; has_enough(&w) && i < w.n_queue + w.saving; i++)
			bsv_remove_tree(w.queue[i].path);
		bsv_manager_notify("STOPPING=1");
		report_judged(&w);
		bsv_notice_unless(options->quiet, "in all: %s %s, %s %s counted, %s not caught%s%s%s%s",
		                  bsv_count(a, w.n_cases), bsv_plural(w.n_cases, "case", "cases"),
		                  bsv_count(b, w.n_again), bsv_plural(w.n_again, "repetition", "repetitions"),
		                  bsv_count(c, w.n_lost), w.n_left ? "; " : "", w.n_left ? bsv_count(d, w.n_left) : "",
		                  w.n_left ? " more had begun at the end, and " : "",
		                  w.n_left ? bsv_plural(w.n_left, "was dropped", "were dropped") : "");
		disarm_conditions(&w);
	}
	bsv_signals_release(&w.signals);
	return r;
}

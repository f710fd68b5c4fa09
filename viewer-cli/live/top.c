/*
 * top.c -- the loop of burstscope top and burstscope exporter.
 *
 * STATES   recording: there is a session, and a process that reads its files (reader.h). Lost: the
 *          session daemon has ended; nothing is recorded until there is one again, and the screen
 *          reports that; then a new session is made, in a directory of its own, and the length of
 *          the interruption is reported. Ended: the session of another user of LTTng is over; its
 *          last figures stay.
 * RELAY    A session of another host is read by that process, which also finds the relay again when
 *          it has gone; here its state is shown.
 * FILES    The files of an own session: in a directory in memory if there is room (XDG_RUNTIME_DIR,
 *          /dev/shm), of a bounded size, and removed at the end. CRASH: the directory has the name
 *          of a probe's, and the session an own name: the next recording removes both.
 * FIGURES  Asked for, and waited for 0.5 s at a time: until they come, the old ones stay, and keys
 *          and signals are heeded. The last ones, after a signal that ends top: for 5 s, or until
 *          the next such signal.
 * METRICS  Fetched from that process whenever a client scrapes. The loop waits 5 s for it once, and
 *          answers 503 at once while that answer is open; a signal ends the wait. So a process that
 *          is busy, or stopped, keeps neither other clients nor the end waiting. A process that
 *          crashed counts from 0 again, which Prometheus understands.
 * SIGNALS  Blocked, and read from a descriptor beside the keys. SIGTSTP restores the terminal first.
 */
#include "live/top.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "exporter/http.h"
#include "live/reader.h"
#include "live/save.h"
#include "live/terminal.h"
#include "live/view.h"
#include "record/record.h"
#include "record/ring.h"
#include "record/workload.h"

enum {
	DRAW_MS = 100,
	ALIVE_MS = 500,
	TIMER_US = 10000,
	SAVED_SECONDS = 30,
	MESSAGE = 160,
	CRASHES_MOST = 8,
	SOURCE = 512
};

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static const int64_t relay_patience = 10 * SECOND, last_patience = 5 * SECOND;

/* A page of metrics, for all requests that were complete before it was begun. */
struct metrics_page {
	char *body; /* NULL: none */
	size_t bytes;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
};

struct top {
	const struct bsv_top_options *o;
	struct bsv_recording recording;
	struct bsv_reader reader;
	struct bsv_http *http;       /* NULL: it is shown */
	struct metrics_page kept[2]; /* in the older text format, and in OpenMetrics */
	struct bsv_signals signals;
	int signal_fd;
	sigset_t before;
	char directory[PATH_MAX]; /* directory of the session that is read, or its URL */
	char source[SOURCE], message[MESSAGE], app[sizeof(((struct bsa_live_row *)0)->app)];
	struct bsv_figures figures, figures_of_relay;
	struct bsa_live_row *rows;
	struct bsv_view_part part; /* apps of the rows, if apps are left out: 0 apps of 0 */
	enum bsv_view_sort sort;
	bool help;   /* the keys and the columns are explained */
	bool causes; /* all of them are shown, in as many lines as that takes */
	bool screen, paused, stopping, lost, ended, redraw;
	bool moving;      /* the process that reads is to go on in @directory, and was not told yet */
	bool interrupted; /* a signal asked for the end */
	bool reader_gone; /* the reader of the standard output has closed it */
	bool held_back;   /* as bsv_session_find reports of the session of another user of LTTng */
	int failed;       /* enum bsa_code: it cannot continue, because of @failure */
	struct bsa_err failure;
	int64_t began, drawn_at, alive_at, lost_at, try_at, save_after;
	unsigned crashes;
};

static bool is_end_asked(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

static void __attribute__((format(printf, 2, 3))) print_message(struct top *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->message, sizeof(t->message), format, args);
	va_end(args);
	t->redraw = true;
	if (t->http)
		fprintf(stderr, "burstscope: exporter: %s\n", t->message);
}

/* ---- where it is recorded to ---- */

static uint64_t ring_of(const struct top *t)
{
	return t->o->ring ? t->o->ring : BSV_RING_USUAL;
}

static bool is_own(const struct top *t)
{
	return !t->o->session && !t->o->url;
}

static void leave_session(struct top *t)
{
	if (!is_own(t))
		return;
	bsv_recording_close(&t->recording);
	if (*t->directory)
		bsv_remove_tree(t->directory);
	*t->directory = 0;
}

static int top_begin(struct top *t, struct bsa_err *err)
{
	const struct bsv_lttng *lttng;
	int r = 0;

	if (is_own(t)) {
		struct bsv_recording_options wanted = {
			.directory = t->directory,
			.detail = t->o->detail,
			.buffer = t->o->buffer,
			.live = bsv_ring_session(ring_of(t), TIMER_US),
			.scope = t->o->scope,
			.quiet = true,
		};

		r = bsv_ring_make(t->directory, ring_of(t), err);
		if (r >= 0)
			r = bsv_recording_plan(&t->recording, &wanted, err);
		if (r >= 0)
			r = bsv_recording_start(&t->recording, err);
		if (r < 0)
			leave_session(t);
	} else if (t->o->session) {
		r = bsv_lttng_load(&lttng, err);
		if (r >= 0)
			r = bsv_session_find(lttng, t->o->session, t->directory, &t->held_back, err);
	}
	if (r < 0)
		return r;
	if (t->o->url)
		snprintf(t->directory, sizeof(t->directory), "%s", t->o->url);
	if (t->o->url)
		snprintf(t->source, sizeof(t->source), "%s", t->o->url);
	else if (t->o->session)
		snprintf(t->source, sizeof(t->source), "session %s", t->o->session);
	else
		snprintf(t->source, sizeof(t->source), "its own session, %s", bsv_detail_name(t->o->detail));
	return 0;
}

static int begin_reading(struct top *t, struct bsa_err *err)
{
	return bsv_reader_open(&t->reader, t->directory, (uint64_t)t->o->settle,
	                       is_own(t) && t->o->detail == BSV_DETAIL_COMPACT, t->o->listen ? &t->o->buckets : NULL,
	                       t->held_back, err);
}

/* ---- what there is by now ---- */

/* A reader that crashed, as @r shows, is begun anew, on what is in the files still: not for ever, though. */
static int begin_reading_again(struct top *t, int r, struct bsa_err *err)
{
	if (++t->crashes > CRASHES_MOST)
		return bsa_wrap(err, r, "the process that reads the recording crashes again and again");
	print_message(t, "%.100s: it begins anew", err->text);
	bsv_reader_close(&t->reader);
	memset(&t->figures, 0, sizeof(t->figures));
	t->moving = false;
	return begin_reading(t, err);
}

/* Is it the first row of its app? */
static bool is_new_app(const struct top *t, uint32_t row)
{
	for (uint32_t i = 0; i < row; i++)
		if (!strcmp(t->rows[i].app, t->rows[row].app))
			return false;
	return true;
}

/* What the figures that have just come mean for this screen. */
static void use_figures(struct top *t, bool finish)
{
	bool scoped = bsv_scope_is_set(&t->o->scope);

	if (t->held_back && !*t->figures.why)
		snprintf(t->figures.why, sizeof(t->figures.why),
		         "without a switch timer LTTng keeps events in memory until a packet is full");
	if (scoped || (finish && *t->app)) {
		/* For rows of the whole time: the sum of those that are shown, and how many apps they are of. */
		t->part = (struct bsv_view_part){ .apps = 0 };
		for (uint32_t i = 0; i < t->figures.n_rows; i++) {
			const struct bsa_live_row *row = &t->rows[i];
			bool is_new = is_new_app(t, i),
			     is_meant = bsv_scope_means(&t->o->scope, row->app, row->key, row->uid) &&
			                (!*t->app || !strcmp(t->app, row->app));

			t->part.of_apps += is_new;
			t->part.apps += is_new && is_meant;
			if (is_meant)
				bsa_live_sum_add(&t->part.sum, &row->sum);
		}
		if (t->figures.n_rows == BSV_FIGURES_ROWS && !*t->figures.why)
			snprintf(t->figures.why, sizeof(t->figures.why),
			         "there were too many apps and models to keep all apart");
	}
	if (scoped) {
		/*
		 * Keep the rows of the scope that were active, with executions or time on lanes, in
		 * the last seconds.
		 */
		uint32_t n = 0;

		for (uint32_t i = 0; i < t->figures.n_rows; i++) {
			const struct bsa_live_row *row = &t->rows[i];

			if (bsv_scope_means(&t->o->scope, row->app, row->key, row->uid) &&
			    (finish || row->executions || row->run_ns || row->queue_ns))
				t->rows[n++] = *row;
		}
		t->figures.n_rows = n;
	}
}

/* Report what the state in @figures, which have just come, says of the relay. */
static void heed_relay(struct top *t, const struct bsv_figures *figures)
{
	uint32_t source = figures->state.source;

	/* The relay has gone, or is there again, according to @source. */
	if (source == BSA_LIVE_LOST && !t->lost) {
		t->lost_at = bsv_now_signed();
		print_message(t, "the relay at %.80s has gone, and nothing is read", t->o->url);
	}
	if (source == BSA_LIVE_READING && t->lost)
		print_message(t, "the relay is there again: nothing was read for %.1f s",
		              (double)(bsv_now_signed() - t->lost_at) / 1e9);
	t->lost = source == BSA_LIVE_LOST;
	if (source == BSA_LIVE_ENDED && !t->ended)
		print_message(t, "%.140s has ended", figures->session);
	t->ended = source == BSA_LIVE_ENDED;
}

/* 1: t->figures and t->rows are new; 0: not yet, or the process was begun again. */
static int top_ask(struct top *t, bool finish, struct bsa_err *err)
{
	enum bsv_reader_rows which = finish                           ? BSV_ROWS_FINISH
	                             : bsv_scope_is_set(&t->o->scope) ? BSV_ROWS_ALL
	                                                              : BSV_ROWS_LAST;
	int r = bsv_reader_ask(&t->reader, which, t->signal_fd, &t->figures, t->rows, err);

	if (r > 0)
		use_figures(t, finish);
	if (r > 0 && t->o->url && !finish)
		heed_relay(t, &t->figures);
	return r >= 0 || finish ? r : begin_reading_again(t, r, err);
}

/*
 * The last figures. Where a signal has asked for the end, they are waited for 5 s, and no longer than until the next
 * such signal; otherwise until a signal asks for the end. 1, or an error. The terminal is not taken here.
 */
static int await_figures(struct top *t, bool finish, struct bsa_err *err)
{
	const int64_t until = t->interrupted ? bsv_now_signed() + last_patience : INT64_MAX;
	struct signalfd_siginfo info;
	int r;

	while (!(r = top_ask(t, finish, err))) {
		bool is_over = bsv_now_signed() >= until;

		if (read(t->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
			is_over |= is_end_asked((int)info.ssi_signo);
			if (info.ssi_signo == SIGTSTP)
				raise(SIGSTOP);
		}
		if (is_over)
			return bsa_fail(err, BSA_E_ENV,
			                "stopped before the process that reads the recording had answered");
	}
	return r;
}

/* ---- metrics ---- */

static struct bsv_http_page page_of_sentence(int status, const char *text)
{
	char *body = strdup(text);

	return (struct bsv_http_page){
		.status = status, .type = "text/plain; charset=utf-8", .body = body, .bytes = body ? strlen(body) : 0
	};
}

/* Give *@page the metrics that are kept in @kept. False: they are too old, or there is no memory. */
static bool page_again(const struct metrics_page *kept, uint64_t arrived_ns, struct bsv_http_page *page)
{
	if (!kept->body || kept->begun_ns < arrived_ns)
		return false;
	page->body = malloc(kept->bytes ? kept->bytes : 1);
	if (!page->body)
		return false;
	memcpy(page->body, kept->body, kept->bytes);
	page->bytes = kept->bytes;
	return true;
}

/* Keep a copy of @page. */
static void page_keep(struct metrics_page *kept, const struct bsv_http_page *page, uint64_t begun_ns)
{
	free(kept->body);
	kept->body = malloc(page->bytes ? page->bytes : 1);
	if (!kept->body)
		return;
	memcpy(kept->body, page->body, page->bytes);
	kept->bytes = page->bytes;
	kept->begun_ns = begun_ns;
}

static struct bsv_http_page page_asked(void *context, const char *path, const char *accept, uint64_t arrived_ns)
{
	struct top *t = context;
	bool openmetrics = strstr(accept, "application/openmetrics-text");
	struct metrics_page *kept = &t->kept[openmetrics];
	uint64_t begun_ns;
	struct bsv_http_page page = { .status = 200,
		                      .type = openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		                                          : "text/plain; version=0.0.4; charset=utf-8" };
	int r;

	if (!strcmp(path, "/metrics")) {
		if (page_again(kept, arrived_ns, &page))
			return page;
		begun_ns = t->reader.counting ? t->reader.counting_since : bsv_now(); /* an answer can come late */
		r = bsv_reader_metrics(&t->reader, openmetrics ? BSV_OPENMETRICS : BSV_PROMETHEUS_TEXT, t->signal_fd,
		                       &page.body, &page.bytes, &t->failure);
		if (r > 0) {
			page_keep(kept, &page, begun_ns);
			return page;
		}
		if (!r)
			return page_of_sentence(503, "the process that reads the recording is busy: ask again later\n");
		t->failed = begin_reading_again(t, r, &t->failure);
		return page_of_sentence(503, "the recording cannot be read just now\n");
	}
	if (!strcmp(path, "/healthz") && t->lost && t->o->url)
		return page_of_sentence(503, "nothing is read: the relay has gone\n");
	if (!strcmp(path, "/healthz") && t->lost)
		return page_of_sentence(503, "nothing is recorded: the session daemon of LTTng has gone\n");
	if (!strcmp(path, "/healthz"))
		return page_of_sentence(200, "ok\n");
	if (!strcmp(path, "/"))
		return page_of_sentence(200, "burstscope exporter: /metrics, /healthz\n");
	return page_of_sentence(404, "there are /metrics and /healthz\n");
}

/* ---- the session daemon, and sessions of others ---- */

/* Send the process that reads the old directory to the new one. It may be busy: then again later. */
static void move_reader(struct top *t)
{
	struct bsa_err err = { "" };
	int r = bsv_reader_move(&t->reader, t->directory, t->signal_fd, &err);

	t->moving = !r;
	if (r < 0) { /* a new process reads the new directory */
		t->failed = begin_reading_again(t, r, &err);
		t->failure = err;
	}
}

static void begin_again(struct top *t)
{
	struct bsa_err err = { "" };

	if (bsv_now_signed() < t->try_at)
		return;
	if (top_begin(t, &err) < 0) {
		leave_session(t);
		t->try_at = bsv_now_signed() + SECOND;
		print_message(t, "nothing is recorded: %.120s", err.text);
		return;
	}
	t->lost = false;
	t->moving = true;
	print_message(t, "a session was made anew: nothing was recorded for %.1f s",
	              (double)(bsv_now_signed() - t->lost_at) / 1e9);
}

/* 1: t->figures_of_relay are new; 0: ask again later. */
static int ask_of_relay(struct top *t, struct bsa_err *err)
{
	int r = bsv_reader_state(&t->reader, t->signal_fd, &t->figures_of_relay, err);

	if (r > 0 && *t->figures_of_relay.session)
		snprintf(t->source, sizeof(t->source), "%s at %s", t->figures_of_relay.session, t->o->url);
	return r;
}

/*
 * The figures of top have the state, too (top_ask): no question takes the place of one for them,
 * because a process that takes long for each answer would then answer neither.
 */
static void look_after_relay(struct top *t)
{
	int r;

	if (!bsv_reader_take_metrics(&t->reader) || (!t->paused && bsv_reader_is_asking(&t->reader)))
		return;
	r = ask_of_relay(t, &t->failure);
	if (r < 0)
		t->failed = begin_reading_again(t, r, &t->failure);
	if (r > 0)
		heed_relay(t, &t->figures_of_relay);
}

static void look_after_session(struct top *t)
{
	char path[PATH_MAX];
	const struct bsv_lttng *lttng;
	struct bsa_err err = { "" };

	if (t->lost && is_own(t)) {
		begin_again(t);
		return;
	}
	if (t->moving)
		move_reader(t);
	if (t->ended || bsv_now_signed() < t->alive_at)
		return;
	t->alive_at = bsv_now_signed() + ALIVE_MS * MS;
	if (t->o->url) {
		look_after_relay(t);
		return;
	}
	if (t->o->session) {
		if (bsv_lttng_load(&lttng, &err) >= 0 &&
		    bsv_session_find(lttng, t->o->session, path, &t->held_back, &err) >= 0)
			return;
		t->ended = true;
		t->held_back = false; /* the end of a session writes what was in memory */
		print_message(t, "session %s has ended", t->o->session);
		return;
	}
	if (!bsv_daemon_alive(&t->recording.daemon, t->recording.lttng))
		bsa_fail(&err, BSA_E_ENV, "lttng-sessiond has gone");
	else if (bsv_session_check(&t->recording.session, &err) >= 0)
		return;
	t->lost = true;
	t->lost_at = t->try_at = bsv_now_signed();
	print_message(t, "nothing is recorded: %.130s", err.text);
}

/* ---- the last seconds, kept ---- */

static void ask_to_save(struct top *t)
{
	if (t->o->url) {
		print_message(t, "nothing to save here: the trace is at the relay");
		return;
	}
	/*
	 * The ring may have overwritten the events that name objects: let services repeat them. Not
	 * earlier, because the repetition makes a hole of a time in which nothing happened.
	 */
	if (is_own(t) && !t->lost && t->figures.state.bytes >= ring_of(t) / 2)
		bsv_session_retell(&t->recording.session, NULL);
	t->save_after = bsv_now_signed();
	print_message(t, "saving");
}

/* Once all is in files that was there when the key was typed. */
static void top_save(struct top *t)
{
	struct bsa_err err = { "" };
	char *name;
	size_t bytes;
	char size[BSV_BYTES_TEXT];

	if (!t->save_after || (int64_t)t->figures.state.until < t->save_after)
		return;
	t->save_after = 0;
	name = bsv_stamped("burstscope");
	if (!name || bsv_live_save(t->directory, name, SAVED_SECONDS, &bytes, &err) < 0)
		print_message(t, "not saved: %.120s", name ? err.text : "no memory");
	else
		print_message(t, "saved: %s, %s", name, bsv_bytes(size, bytes));
	free(name);
}

/* ---- shown ---- */

/* An empty table must not look like an idle service. */
static const char *unheard_text(const struct top *t)
{
	if (t->o->url)
		return "no service has been heard";
	if (t->o->session)
		return "no service has been heard; without a switch timer LTTng writes full buffers";
	return geteuid() ? "no service of this user has been heard; only root can record other users'"
	                 : "no service has emitted an event: it is idle, or not running";
}

static struct bsv_view view_of(const struct top *t)
{
	return (struct bsv_view){ .figures = &t->figures,
		                  .rows = t->rows,
		                  .screen = t->o->screen,
		                  .source = t->source,
		                  .message = *t->message ? t->message : NULL,
		                  .unheard = unheard_text(t),
		                  .app = *t->app ? t->app : NULL,
		                  .part = t->part.apps < t->part.of_apps ? &t->part : NULL,
		                  .sort = t->sort,
		                  .now = (uint64_t)(bsv_now_signed() + t->figures.state.clock_lead_ns),
		                  .paused = t->paused,
		                  .causes = t->causes,
		                  .help = t->help,
		                  .held_back = t->held_back };
}

static int top_print(struct top *t, bool final, struct bsa_err *err)
{
	struct bsv_view v = view_of(t);
	int r = 0;

	if (t->o->json)
		bsv_view_json(&v, final, stdout);
	else if (final)
		bsv_view_sum(&v, t->screen ? stderr : stdout);
	else
		r = bsv_view_print(&v, stdout, err);
	if (!t->o->json && !final)
		putchar('\n');
	if (r >= 0 && (fflush(stdout) || ferror(stdout))) {
		t->reader_gone = errno == EPIPE;
		return bsa_fail(err, BSA_E_ENV, "cannot write: %s", strerror(errno));
	}
	return r;
}

static int top_show(struct top *t, struct bsa_err *err)
{
	int64_t every = t->screen ? DRAW_MS * MS : t->o->interval;
	struct bsv_view v;
	char *text = NULL;
	size_t n = 0;
	FILE *f;
	int r = 0;

	if (!(t->redraw || bsv_now_signed() >= t->drawn_at + every) ||
	    (!t->screen && bsv_now_signed() < t->drawn_at + t->o->interval))
		return 0;
	if (!t->paused)
		r = t->stopping ? await_figures(t, false, err) : top_ask(t, false, err);
	if (r < 0)
		return r;
	if (!r && !t->paused && !t->screen)
		return 0; /* no line without new figures */
	t->redraw = false;
	t->drawn_at = bsv_now_signed();
	if (t->save_after)
		top_save(t);
	if (!t->screen) {
		t->stopping |= t->o->once;
		return top_print(t, false, err);
	}

	v = view_of(t);
	f = open_memstream(&text, &n);
	if (!f)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	bsv_terminal_size(&v.screen.width, &v.height);
	v.keys = true;
	r = bsv_view_print(&v, f, err);
	fclose(f);
	if (r >= 0)
		bsv_terminal_show(text, n);
	free(text);
	return r;
}

/* ---- keys and signals ---- */

static void next_app(struct top *t)
{
	const struct bsv_view v = view_of(t);
	const char *next = bsv_view_next_app(&v, v.app);

	snprintf(t->app, sizeof(t->app), "%s", next ? next : "");
}

static void heed_signal(struct top *t, int signal)
{
	if (is_end_asked(signal))
		t->stopping = t->interrupted = true;
	if (signal == SIGTSTP) {
		if (t->screen)
			bsv_terminal_give();
		raise(SIGSTOP);
		if (t->screen)
			bsv_terminal_take();
	}
	t->redraw = true;
}

static void wait_for_something(struct top *t)
{
	int64_t left =
		t->http ? ALIVE_MS * MS : t->drawn_at + (t->screen ? DRAW_MS * MS : t->o->interval) - bsv_now_signed();
	struct pollfd p[] = { { .fd = t->signal_fd, .events = POLLIN },
		              { .fd = t->screen ? STDIN_FILENO : -1, .events = POLLIN },
		              { .fd = t->http ? bsv_http_fd(t->http) : -1, .events = POLLIN },
		              { .fd = t->http || t->screen ? -1 : STDOUT_FILENO } }; /* its errors */
	struct signalfd_siginfo info;
	int key, ms, ready;

	if (left > ALIVE_MS * MS)
		left = ALIVE_MS * MS;
	if (t->o->duration >= 0 && t->began + t->o->duration - bsv_now_signed() < left)
		left = t->began + t->o->duration - bsv_now_signed();
	ms = left > 0 ? (int)(left / MS) + 1 : 0;
	ready = poll(p, sizeof(p) / sizeof(*p), t->http ? bsv_http_patience(t->http, ms) : ms);
	if (t->http)
		bsv_http_run(t->http);
	if (ready <= 0)
		return;
	if (p[0].revents && read(t->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		heed_signal(t, (int)info.ssi_signo);
	if ((p[1].revents & (POLLHUP | POLLERR)) || (p[3].revents & POLLERR))
		t->stopping = true; /* the terminal has gone, or who reads the output */
	while (p[1].revents && (key = bsv_terminal_key())) {
		if (key != 'c') /* c may be typed to read all of it */
			*t->message = 0;
		t->redraw = true;
		if (key == 'q' || key == 'Q')
			t->stopping = true;
		else if (key == 'o')
			t->sort = (t->sort + 1) % BSV_VIEW_SORTS;
		else if (key == 'a')
			next_app(t);
		else if (key == 'p' || key == ' ')
			t->paused = !t->paused;
		else if (key == 'c')
			t->causes = !t->causes;
		else if (key == 's')
			ask_to_save(t);
		else if (key == '?' || key == 'h')
			t->help = !t->help;
	}
}

/* ---- all of it ---- */

/*
 * Until the relay has answered, or a signal comes. BSA_E_ENV: it does not answer, or has no such session. A
 * process that has not said so yet is busy: the reader waits a minute for it.
 */
static int await_relay(struct top *t, struct bsa_err *err)
{
	const int64_t until = bsv_now_signed() + relay_patience;
	struct signalfd_siginfo info;
	int r = 0;

	while ((r = ask_of_relay(t, err)) >= 0 && (!r || t->figures_of_relay.state.source == BSA_LIVE_CONNECTING)) {
		struct pollfd p = { .fd = t->signal_fd, .events = POLLIN };

		if (r && bsv_now_signed() > until)
			return bsa_fail(err, BSA_E_ENV, "%s: no relay (lttng-relayd) answers within %d s", t->o->url,
			                (int)(relay_patience / SECOND));
		if (poll(&p, 1, DRAW_MS) > 0 && read(t->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
			heed_signal(t, (int)info.ssi_signo);
		if (t->stopping)
			return 0;
	}
	return r;
}

static int top_run(struct top *t, struct bsa_err *err)
{
	int r = 0;

	if (t->o->listen) {
		r = bsv_http_open(&t->http, t->o->listen, page_asked, t, err);
		if (r >= 0 && bsv_http_is_public(t->http))
			print_message(t, "%s: other machines can read the names of apps and models, and what they do",
			              bsv_http_where(t->http));
	}
	if (r >= 0)
		r = top_begin(t, err);
	if (r >= 0)
		r = begin_reading(t, err);
	if (r >= 0 && t->o->url)
		r = await_relay(t, err);
	if (r < 0)
		return r;
	if (t->http)
		fprintf(stderr, "burstscope: exporter: http://%s/metrics, of %s\n", bsv_http_where(t->http), t->source);
	if (t->held_back)
		fprintf(stderr,
		        "burstscope: session %s: LTTng holds events back until a packet is full: not every channel has "
		        "a switch timer (lttng enable-channel --switch-timer)\n",
		        t->o->session);
	if (bsv_scope_is_of_nobody(&t->o->scope) && !t->o->url)
		print_message(t, "no process %" PRIu32 " is running here", t->o->scope.pid);
	t->screen = !t->http && !t->o->json && !t->o->once && bsv_terminal_take();
	t->began = bsv_now_signed();
	t->drawn_at = t->screen ? 0 : t->began;
	r = 0;
	while (r >= 0 && !t->stopping) {
		wait_for_something(t);
		look_after_session(t);
		/*
		 * Nothing of it is left to be removed that LTTng could write to: a daemon that died
		 * leaves its files.
		 */
		if (t->lost && *t->directory && is_own(t))
			leave_session(t);
		t->stopping |= t->o->duration >= 0 && bsv_now_signed() >= t->began + t->o->duration;
		t->stopping |= t->ended && !t->screen;
		if (!t->http && (!t->stopping || (t->o->once && !t->screen)))
			r = top_show(t, err);
		if (r >= 0 && t->failed < 0) {
			*err = t->failure;
			r = t->failed;
		}
	}
	bsv_terminal_give();
	if (r < 0)
		return r;

	r = !is_own(t) || t->lost ? 0 : bsv_recording_stop(&t->recording, err);
	if (t->http)
		return r;
	if (r >= 0)
		r = await_figures(t, true, err);
	return r < 0 ? r : top_print(t, true, err);
}

int bsv_top_run(const struct bsv_top_options *options, struct bsa_err *err)
{
	struct top t = { .o = options, .signal_fd = -1 };
	sigset_t all;
	int r;

	t.rows = calloc(BSV_FIGURES_ROWS, sizeof(*t.rows));
	if (!t.rows)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	bsv_signals_hold(&t.signals);
	all = t.signals.held;
	sigdelset(&all, SIGCHLD);
	sigaddset(&all, SIGWINCH);
	sigaddset(&all, SIGQUIT);
	sigaddset(&all, SIGTSTP);
	sigprocmask(SIG_BLOCK, &all, &t.before);
	t.signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	r = top_run(&t, err);
	bsv_http_free(t.http);
	free(t.kept[0].body);
	free(t.kept[1].body);
	bsv_reader_close(&t.reader);
	leave_session(&t);
	if (t.signal_fd >= 0)
		close(t.signal_fd);
	sigprocmask(SIG_SETMASK, &t.before, NULL);
	bsv_signals_release(&t.signals);
	free(t.rows);
	if (t.reader_gone)
		/* held back until the session was removed; it ends this command as it ends the others */
		raise(SIGPIPE);
	return r;
}

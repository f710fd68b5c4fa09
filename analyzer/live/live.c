/*
 * live.c -- passes records of the follower through the checks of an import into the fold, and its
 * facts to misses and rows.
 *
 * A fold is begun with the first record, and anew where its service's records cannot be one service's
 * (services.h), where traces turn out to be of another detail than was assumed, and in another directory.
 * What an import finds out by reading a second time (users.h, bsa_fold_latest_summary) is known here when it
 * is too late: then the sums are not exact, and are marked so.
 */
#include "bsa/live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decode/growing.h"
#include "fold/fold.h"
#include "live/execution.h"
#include "live/kept.h"
#include "live/labels.h"
#include "live/misses.h"
#include "live/rows.h"
#include "services.h"
#include "users.h"

static const uint64_t horizon_ns = 1000000000; /* as an import has it, which is what makes the sums the same */
enum { TENANTS_MAX = 4096 };                   /* apps whose shares are kept: beyond that, idle apps are dropped */

struct bsa_live {
	struct bsa_growing growing;
	struct bsa_fold *fold;
	struct bsa_facts facts;
	struct bsa_misses *misses;
	struct bsa_rows *rows;
	struct bsa_services *services;
	struct bsa_users *users;
	struct bsa_kept *kept;           /* NULL: no records are kept */
	struct bsa_live_options options; /* without the directory and the url */
	struct bsa_fold_ids last;
	size_t n_traces; /* number of traces that users.h has */
	bool compact;    /* detail that the fold assumes */
	bool failed;     /* no memory, within a fact */
	bool finished;
	bool late_summaries, users_again, passed_doubts;
	struct bsa_live_state state;
	uint64_t late_executions;   /* of folds that are over: bsa_fold_late_summaries */
	uint64_t event_at;          /* time of the current record */
	uint64_t began;             /* the first record; BSA_NEVER: there was none */
	struct bsa_followed before; /* sums of the directories that were left */
	struct bsa_decoded decoded; /* only its sums are used */
};

static int live_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "there is no memory left to follow a recording");
}

/* ---- facts ---- */

static void note_failure(struct bsa_live *l, int failed)
{
	l->failed |= failed != 0;
}

static void on_app(void *ctx, const struct bsa_app *a)
{
	struct bsa_live *l = ctx;

	note_failure(l, bsa_rows_app(l->rows, a));
}

static void on_model(void *ctx, const struct bsa_model *m)
{
	struct bsa_live *l = ctx;

	note_failure(l, bsa_rows_model(l->rows, m));
	if (!l->options.calls_only)
		note_failure(l, bsa_misses_model(l->misses, m));
}

static void on_rules(void *ctx, const struct bsa_rules *r)
{
	struct bsa_live *l = ctx;

	l->state.lanes = r->lanes;
	l->state.services++;
	bsa_misses_rules(l->misses, r);
}

static void on_over(void *ctx, const struct bsa_execution *x)
{
	struct bsa_live *l = ctx;
	struct timespec t;
	uint64_t now;

	if (l->options.calls_only)
		return;
	note_failure(l, bsa_rows_over(l->rows, x));
	if (x->path == BSA_PATH_PREPARE)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t); /* the clock of the trace, which is LTTng's */
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + (uint64_t)l->state.clock_lead_ns;
	bsa_rows_counted(l->rows, l->event_at, now);
}

static void on_execution(void *ctx, const struct bsa_execution *x)
{
	struct bsa_live *l = ctx;
	unsigned cause = BSA_CAUSES;

	if (!l->options.calls_only) {
		note_failure(l, bsa_misses_execution(l->misses, x, &cause));
		note_failure(l, bsa_rows_execution(l->rows, x, cause));
	}
	if (l->options.calls.execution && x->path != BSA_PATH_PREPARE)
		bsa_live_execution_of(&l->options.calls, l->rows, x, cause, l->state.until);
}

static void on_wait(void *ctx, const struct bsa_wait *w)
{
	struct bsa_live *l = ctx;

	if (!l->options.calls_only)
		note_failure(l, bsa_misses_wait(l->misses, w));
}

static void on_slice(void *ctx, const struct bsa_slice *s)
{
	struct bsa_live *l = ctx;

	if (!l->options.calls_only)
		note_failure(l, bsa_misses_slice(l->misses, s));
}

static void on_preemption(void *ctx, const struct bsa_preemption *p)
{
	struct bsa_live *l = ctx;

	if (!l->options.calls_only)
		note_failure(l, bsa_misses_preemption(l->misses, p));
}

static void on_refused_so_far(void *ctx, const struct bsa_refused *r)
{
	struct bsa_live *l = ctx;

	if (!l->options.calls_only)
		note_failure(l, bsa_misses_refused(l->misses, r));
}

static void on_refused(void *ctx, const struct bsa_refused *r)
{
	struct bsa_live *l = ctx;

	if (!l->options.calls_only)
		bsa_misses_refused_proven(l->misses, r);
}

static void on_window(void *ctx, const struct bsa_lag *lag)
{
	struct bsa_live *l = ctx;
	char app[BSA_ROWS_APP_TEXT];

	bsa_rows_window_of(l->rows, lag);
	if (!l->options.calls.share)
		return;
	bsa_rows_app_name(l->rows, lag->app, app);
	l->options.calls.share(l->options.calls.ctx, app, bsa_rows_app_user(l->rows, lag->app), lag->received,
	                       lag->entitled);
}

static void on_lag(void *ctx, const struct bsa_lag *lag)
{
	const struct bsa_live *l = ctx;
	char app[BSA_ROWS_APP_TEXT];

	if (!l->options.calls.lag)
		return;
	bsa_rows_app_name(l->rows, lag->app, app);
	l->options.calls.lag(l->options.calls.ctx, app, bsa_rows_app_user(l->rows, lag->app), lag->lag);
}

static void on_starved(void *ctx, const struct bsa_starved *s)
{
	const struct bsa_live *l = ctx;
	char app[BSA_ROWS_APP_TEXT];

	if (!l->options.calls.starved)
		return;
	bsa_rows_app_name(l->rows, s->app, app);
	l->options.calls.starved(l->options.calls.ctx,
	                         &(struct bsa_live_starved){ .app = app,
	                                                     .model = bsa_rows_model_name(l->rows, s->model),
	                                                     .model_id = s->model,
	                                                     .uid = bsa_rows_app_user(l->rows, s->app),
	                                                     .ended = s->began + s->gap,
	                                                     .gap_ns = s->gap });
}

static void on_inverted(void *ctx, const struct bsa_inverted *i)
{
	const struct bsa_live *l = ctx;

	if (l->options.calls.inverted)
		l->options.calls.inverted(l->options.calls.ctx, i->began + i->dur, i->dur);
}

static void on_mapping(void *ctx, const struct bsa_mapping *m)
{
	const struct bsa_live *l = ctx;

	if (l->options.calls.mapped)
		l->options.calls.mapped(l->options.calls.ctx, bsa_live_label(BSA_LABELS_owner, m->owner),
		                        bsa_live_label(BSA_LABELS_pool_kind, m->kind),
		                        m->bytes == BSA_NEVER ? 0 : m->bytes);
}

static void on_share(void *ctx, const struct bsa_share *s)
{
	struct bsa_live *l = ctx;

	bsa_rows_share(l->rows, s);
	l->state.received_ns += s->received;
	l->state.entitled_ns += s->entitled;
}

static void report_lost(const struct bsa_live *l, uint64_t began, uint64_t ended, const char *why)
{
	if (l->options.calls.lost)
		l->options.calls.lost(l->options.calls.ctx, began, ended, why);
}

static const char *loss_text(const struct bsa_lost *lost)
{
	static const char *const texts[] = {
		[BSA_LOSS_EVENTS] = "LTTng dropped events, because its buffers were full",
		[BSA_LOSS_PACKETS] = "LTTng dropped or overwrote packets",
		[BSA_LOSS_HEAD] = "the recording of a cpu or process began later than the others",
		[BSA_LOSS_GAP] = "no event could be recorded for a moment, as when a recording begins or ends",
		[BSA_LOSS_TAIL] = "the recording of a cpu or process ended before the others",
		[BSA_LOSS_CUT] = "a file of the recording is cut or broken",
		[BSA_LOSS_STREAM] = "the file of a cpu is missing",
		[BSA_LOSS_UNUSABLE] = "an event had numbers that cannot be",
	};

	return lost->cause < sizeof(texts) / sizeof(*texts) && texts[lost->cause] ? texts[lost->cause]
	                                                                          : "events were lost";
}

static void on_lost(void *ctx, const struct bsa_lost *lost)
{
	struct bsa_live *l = ctx;

	l->state.losses++;
	report_lost(l, lost->began, lost->ended, loss_text(lost));
}

/* Executions under way are reported as far as they are known, and their ends are unknown. */
static void note_gap(struct bsa_live *l)
{
	l->state.gaps++;
	report_lost(l, l->state.until > horizon_ns ? l->state.until - horizon_ns : 0, l->event_at,
	            "the reader began anew");
}

#define NOTHING_OF(kind)                                                        \
	static void nothing_of_##kind(void *ctx, const struct bsa_##kind *fact) \
	{                                                                       \
		(void)ctx, (void)fact;                                          \
	}
/* clang-format off */
#define OTHERS(K)                                                                                       \
	K(process) K(stream) K(possible_wait) K(unknown_lane) K(deadline_missed) K(exhausted)           \
	K(slot_missed) K(buffer) K(buffer_used) K(interfered) K(chosen) K(spanned)
/* clang-format on */
OTHERS(NOTHING_OF)

static struct bsa_facts facts_of(struct bsa_live *l)
{
	struct bsa_facts f = { .ctx = l,
		               .app = on_app,
		               .model = on_model,
		               .rules = on_rules,
		               .over = on_over,
		               .execution = on_execution,
		               .wait = on_wait,
		               .slice = on_slice,
		               .preemption = on_preemption,
		               .refused = on_refused,
		               .refused_so_far = on_refused_so_far,
		               .window = on_window,
		               .share = on_share,
		               .lag = on_lag,
		               .starved = on_starved,
		               .inverted = on_inverted,
		               .mapping = on_mapping,
		               .lost = on_lost };

#define IS_NOTHING(kind) f.kind = nothing_of_##kind;
	OTHERS(IS_NOTHING)
	return f;
}

/* ---- one fold after the other ---- */

static int begin_fold(struct bsa_live *l, struct bsa_err *err)
{
	const struct bsa_fold_options options = { .goes_on = true,
		                                  .horizon_ns = l->options.compact ? horizon_ns : 0,
		                                  .starvation_ns = l->options.starvation_ns,
		                                  .tenants_max = TENANTS_MAX,
		                                  .last = l->last };

	l->compact = l->options.compact;
	l->fold = bsa_fold_new(&l->facts, &options);
	l->services = bsa_services_new();
	return l->fold && l->services ? 0 : live_no_memory(err);
}

static int begin_users(struct bsa_live *l, struct bsa_err *err)
{
	bsa_users_free(l->users);
	l->n_traces = 0;
	l->users = bsa_users_new(USERS_UNKNOWN);
	return l->users ? 0 : live_no_memory(err);
}

static int end_fold(struct bsa_live *l, struct bsa_err *err)
{
	struct bsa_services_silence silence;
	uint32_t from;

	if (!l->fold)
		return 0;
	if (bsa_fold_finish(l->fold) || l->failed)
		return live_no_memory(err);
	/* A service that fell silent before its clients did: as in importer.c. */
	from = 0;
	while (bsa_services_silence(l->services, &from, &silence))
		l->state.losses++;
	l->passed_doubts |= bsa_fold_passed_doubts(l->fold);
	l->late_executions += bsa_fold_late_summaries(l->fold);
	l->late_summaries |= l->compact && bsa_fold_latest_summary(l->fold) > horizon_ns;
	l->last = bsa_fold_last(l->fold);
	l->fold = bsa_fold_free(l->fold);
	l->services = bsa_services_free(l->services);
	return 0;
}

/* ---- records ---- */

static int take_record(struct bsa_live *l, const struct bsa_event *e, struct bsa_err *err)
{
	int r = 0, counts;

	if (l->fold && l->compact != l->options.compact) {
		note_gap(l);
		r = end_fold(l, err);
	}
	if (r >= 0 && !l->fold)
		r = begin_fold(l, err);
	if (r < 0)
		return r;
	l->event_at = e->at > l->event_at ? e->at : l->event_at;
	if (e->kind != BSA_loss) {
		bsa_rows_begin(l->rows, e->at);
		l->began = l->began == BSA_NEVER ? e->at : l->began;
	}
	counts = bsa_users_event(l->users, e);
	if (counts < 0)
		return live_no_memory(err);
	l->state.impostors += !counts;
	if (!counts)
		return 0;
	if (l->kept && bsa_kept_add(l->kept, e))
		return live_no_memory(err);
	r = bsa_services_event(l->services, e, err);
	if (r == BSA_E_INPUT) { /* two services that an import would refuse to put together */
		note_gap(l);
		r = end_fold(l, err);
		if (r >= 0)
			r = begin_fold(l, err);
	}
	if (r < 0)
		return r;
	return bsa_fold_event(l->fold, e) || l->failed ? live_no_memory(err) : 0;
}

static int take_all(struct bsa_live *l, struct bsa_err *err)
{
	const struct bsa_event *e;
	const struct bsa_trace *t;
	int r;

	/* A record's trace is known before the look that the record comes with. */
	while ((t = bsa_growing_trace(&l->growing, l->n_traces)) && t->path) {
		if (bsa_users_trace(l->users, (uint32_t)++l->n_traces, t->uid))
			return live_no_memory(err);
		l->options.compact |= t->compact;
	}

	while ((r = bsa_growing_next(&l->growing, &e, err)) > 0)
		if ((r = take_record(l, e, err)) < 0)
			return r;
	return r;
}

int bsa_live_look(struct bsa_live *l, uint64_t now, struct bsa_err *err)
{
	static const enum bsa_live_source sources[] = { [BSA_REMOTE_CONNECTING] = BSA_LIVE_CONNECTING,
		                                        [BSA_REMOTE_READING] = BSA_LIVE_READING,
		                                        [BSA_REMOTE_LOST] = BSA_LIVE_LOST,
		                                        [BSA_REMOTE_ENDED] = BSA_LIVE_ENDED,
		                                        [BSA_REMOTE_FAILED] = BSA_LIVE_LOST };
	const struct bsa_followed before = bsa_growing_followed(&l->growing);
	struct bsa_remote *remote = l->growing.remote;
	int r;

	if (remote) { /* first, so that what the state promises has been taken */
		l->state.source = sources[bsa_remote_state(remote)];
		l->state.missed = bsa_remote_missed(remote) || l->state.source == BSA_LIVE_CONNECTING;
		(void)bsa_remote_lead(remote, &l->state.clock_lead_ns); /* not known before the first record: 0 */
	}
	r = bsa_growing_look(&l->growing, now, err);
	if (r >= 0)
		r = take_all(l, err);
	if (r >= 0) {
		const struct bsa_followed f = bsa_growing_followed(&l->growing);
		uint64_t until = bsa_growing_until(&l->growing), behind = horizon_ns + f.late_ns;

		/* Records that the fold did not have, or had too late, may be of any execution of that time. */
		if (f.late != before.late || f.broken != before.broken || f.lost_hold != before.lost_hold)
			report_lost(l, l->state.until > behind ? l->state.until - behind : 0,
			            until == BSA_NEVER ? l->state.until : until,
			            f.lost_hold != before.lost_hold
			                    ? "files of the ring were written over before they were read"
			            : f.broken != before.broken ? "a file of the recording is broken"
			                                        : "events arrived too late");
	}
	if (r >= 0 && bsa_growing_until(&l->growing) != BSA_NEVER) {
		l->state.until = bsa_growing_until(&l->growing);
		if (l->fold && bsa_fold_quiet(l->fold, l->state.until))
			return live_no_memory(err);
		bsa_rows_advance(l->rows, l->state.until);
	}
	return r;
}

uint64_t bsa_live_next(const struct bsa_live *l, int *ret_fd)
{
	*ret_fd = bsa_growing_changes(&l->growing);
	return bsa_growing_settles(&l->growing);
}

int bsa_live_save(const struct bsa_live *l, const char *output, struct bsa_err *err)
{
	const struct bsa_trace **traces = l->kept ? calloc(l->n_traces + 1, sizeof(*traces)) : NULL;
	int r;

	if (!traces)
		return l->kept ? live_no_memory(err) : bsa_fail(err, BSA_E_INPUT, "no records are kept");
	for (size_t i = 0; i < l->n_traces; i++)
		traces[i] = bsa_growing_trace(&l->growing, i);
	r = bsa_kept_import(l->kept, traces, l->n_traces, output, err);
	free(traces);
	return r;
}

static void on_recause(void *ctx, uint32_t app, uint32_t model, unsigned was, unsigned is)
{
	bsa_rows_recause(((struct bsa_live *)ctx)->rows, app, model, was, is);
}

/* All that is in files is taken, and the fold is over. */
static int leave_trace(struct bsa_live *l, struct bsa_err *err)
{
	int r = bsa_growing_look(&l->growing, BSA_NEVER, err);

	if (r >= 0)
		r = take_all(l, err);
	if (r >= 0)
		r = end_fold(l, err);
	if (r >= 0)
		l->users_again |= bsa_users_decided(l->users).again;
	return r;
}

int bsa_live_finish(struct bsa_live *l, struct bsa_err *err)
{
	int r = l->finished ? 0 : leave_trace(l, err);

	if (r < 0 || l->finished)
		return r;
	l->finished = true;
	bsa_misses_again(l->misses, on_recause, l);
	return 0;
}

/* Add the counts of this directory to those of the earlier ones. */
static void add_up(const struct bsa_live *l, struct bsa_followed *ret, struct bsa_decoded *ret_decoded)
{
	const struct bsa_followed f = bsa_growing_followed(&l->growing);

	*ret = (struct bsa_followed){ .late = l->before.late + f.late,
		                      .late_ns = f.late_ns > l->before.late_ns ? f.late_ns : l->before.late_ns,
		                      .broken = l->before.broken + f.broken,
		                      .lost_hold = l->before.lost_hold + f.lost_hold,
		                      .bytes = l->before.bytes + f.bytes,
		                      .unread = f.unread,
		                      .streams = f.streams };
	*ret_decoded = l->decoded;
	for (size_t i = 0; i < l->n_traces; i++) {
		struct bsa_decoded d = bsa_growing_decoded(&l->growing, i);

		ret_decoded->events += d.events;
		ret_decoded->foreign += d.foreign;
		ret_decoded->lost_events += d.lost_events;
		ret_decoded->lost_packets += d.lost_packets;
	}
}

int bsa_live_move(struct bsa_live *l, const char *directory, struct bsa_err *err)
{
	struct bsa_followed followed;
	struct bsa_decoded decoded;
	int r = leave_trace(l, err);

	if (r < 0)
		return r;
	add_up(l, &followed, &decoded);
	l->before = followed;
	l->decoded = decoded;
	note_gap(l);
	bsa_growing_close(&l->growing);
	r = bsa_growing_open(&l->growing, directory, l->options.settle_ns, NULL, err);
	return r < 0 ? r : begin_users(l, err);
}

/* ---- all of it ---- */

int bsa_live_open(struct bsa_live **ret, const struct bsa_live_options *options, struct bsa_err *err)
{
	struct bsa_live *l = calloc(1, sizeof(*l));
	int r = l ? 0 : live_no_memory(err);

	if (r == 0) {
		l->options = *options;
		l->options.directory = l->options.url = NULL;
		l->began = BSA_NEVER;
		l->misses = bsa_misses_new();
		l->rows = bsa_rows_new();
		l->facts = facts_of(l);
		l->kept = options->keep_bytes ? bsa_kept_new(options->keep_bytes) : NULL;
		r = l->misses && l->rows && (l->kept || !options->keep_bytes) ? begin_users(l, err)
		                                                              : live_no_memory(err);
	}
	if (r == 0)
		r = bsa_growing_open(&l->growing, options->directory, options->settle_ns, options->url, err);
	if (r) {
		bsa_live_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct bsa_live *bsa_live_free(struct bsa_live *l)
{
	if (!l)
		return NULL;
	bsa_growing_close(&l->growing);
	bsa_fold_free(l->fold);
	bsa_services_free(l->services);
	bsa_users_free(l->users);
	bsa_misses_free(l->misses);
	bsa_rows_free(l->rows);
	bsa_kept_free(l->kept);
	free(l);
	return NULL;
}

/* ---- asked ---- */

static const char *why_inexact(const struct bsa_live *l, const struct bsa_live_state *s, uint64_t unread)
{
	if (unread)
		return "LTTng keeps the metadata in memory, without which no event can be read";
	if (s->gaps)
		return "it began anew";
	if (s->missed)
		return "it had begun before it was read, or the relay was gone, or it ended unread";
	if (s->overwritten)
		return "tracefiles were written anew before they were read";
	if (s->broken)
		return "a tracefile made no sense";
	if (s->late)
		return "records came later than was waited for";
	if (l->passed_doubts || (l->fold && bsa_fold_passed_doubts(l->fold)))
		return "an execution seemed to be under way for seconds in which nothing was recorded";
	if (l->late_summaries)
		return "summaries came later than a second";
	if (l->users_again)
		return "whose events they were became known too late";
	return bsa_misses_is_exact(l->misses) ? NULL : "there were too many executions to know for all what is typical";
}

static void state_awaited(struct bsa_live_state *s, const struct bsa_live *l)
{
	struct bsa_awaited a;

	s->awaited = s->overdue = s->awaited_ns = s->silent_ns = s->stalled_ns = s->quiet_ns = BSA_LIVE_UNKNOWN;
	if (l->event_at && s->until)
		s->quiet_ns = s->until > l->event_at ? s->until - l->event_at : 0;
	if (!l->fold || l->compact || !s->until)
		return;
	a = bsa_fold_awaited(l->fold, s->until);
	s->awaited = a.n;
	s->overdue = a.overdue;
	s->stalled_ns = a.stalled ? s->until - a.stalled : 0;
	if (a.n)
		s->awaited_ns = s->until - a.submitted;
	if (a.unheard)
		s->silent_ns = s->until > a.unheard ? s->until - a.unheard : 0;
}

struct bsa_live_state bsa_live_state(const struct bsa_live *l)
{
	struct bsa_live_state s = l->state;
	struct bsa_followed f;
	struct bsa_decoded d;

	state_awaited(&s, l);
	add_up(l, &f, &d);
	s.events = d.events - d.foreign;
	s.lost_events = d.lost_events;
	s.lost_packets = d.lost_packets;
	s.late_summaries = l->late_executions + (l->fold ? bsa_fold_late_summaries(l->fold) : 0);
	s.sum = bsa_rows_sum(l->rows);
	s.window_ns = bsa_rows_window(l->rows);
	s.counted_p50_ns = bsa_rows_counted_rank(l->rows, 500);
	s.counted_p99_ns = bsa_rows_counted_rank(l->rows, 990);
	s.late = f.late;
	s.late_ns = f.late_ns;
	s.broken = f.broken;
	s.overwritten = f.lost_hold;
	s.bytes = f.bytes;
	s.streams = f.streams;
	s.why = why_inexact(l, &s, f.unread);
	s.exact = !s.why;
	return s;
}

void bsa_live_name(const struct bsa_live *l, char *ret, size_t size)
{
	*ret = 0;
	if (l->growing.remote)
		bsa_remote_name(l->growing.remote, ret, size);
}

size_t bsa_live_rows(const struct bsa_live *l, bool all, struct bsa_live_row *ret, size_t max)
{
	return bsa_rows_get(l->rows, all, ret, max);
}

uint64_t bsa_live_began(const struct bsa_live *l)
{
	return l->began;
}

bool bsa_live_share(const struct bsa_live *l, uint32_t app_id, uint64_t *ret_received, uint64_t *ret_entitled)
{
	return bsa_rows_share_of(l->rows, app_id, ret_received, ret_entitled);
}

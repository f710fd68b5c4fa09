/* rows.c -- converts facts of the fold to rows of the database, and texts to valid UTF-8. */
#include "store/rows.h"

#include "store/crowd.h"
#include "store/execution.h"
#include "store/lags.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/spill.h"

#include <string.h>

/* The fold and the database must use the same numbers for the same labels. */
#define SAME(label, number) static_assert((int)LABEL_##label == (int)(number), "labels.def and fold/ disagree")
SAME(priority_high, BSA_PRIORITY_HIGH);
SAME(path_async, BSA_PATH_ASYNC);
SAME(path_fenced, BSA_PATH_FENCED);
SAME(status_NONE, BSA_STATUS_NONE);
SAME(status_MISSED_DEADLINE_PERSISTENT, BSA_STATUS_MISSED_DEADLINE_PERSISTENT);
SAME(role_service, BSA_ROLE_SERVICE);
SAME(buffer_op_reject, BSA_BUFFER_REJECT);
SAME(miss_late, BSA_MISS_LATE);
SAME(quality_open, BSA_QUALITY_OPEN);
SAME(sides_client, BSA_SIDES_CLIENT);
SAME(wait_kind_preempted, BSA_WAIT_PREEMPTED);
SAME(occupancy_unknown, BSA_UNKNOWN);
SAME(cause_hogged, BSA_HOGGED);
SAME(cause_unused, BSA_UNUSED);
SAME(cause_unknown, BSA_CAUSE_UNKNOWN);
SAME(cause_submitted_late, BSA_SUBMITTED_LATE);
SAME(cause_machine_busy, BSA_MACHINE_BUSY);
SAME(cause_stalled, BSA_CAUSE_STALLED);
SAME(cause_stopped, BSA_CAUSE_STOPPED);
SAME(cause_long_run, BSA_LONG_RUN);
SAME(cause_overbooked, BSA_CAUSES - 1);
SAME(phase_preempted, BSA_PREEMPTED);
SAME(phase_signal, BSA_PHASES - 1);
SAME(look_client, BSA_LOOK_CLIENT);
SAME(span_kind_burst_close, BSA_SPAN_BURST_CLOSE);

/* ---- text ---- */

/* Length in bytes of the UTF-8 character at @p; 0: not valid (overlong, a surrogate, or beyond Unicode). */
static size_t utf8_bytes(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

void bsa_rows_clean(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p;) {
		size_t n = utf8_bytes(p);

		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
}

/* A copy of @text in @room, cut to @bytes and made UTF-8. NULL for NULL. */
static const char *clean_copy(const char *text, char *room, size_t bytes)
{
	size_t n;

	if (!text)
		return NULL;
	n = strnlen(text, bytes - 1);
	memcpy(room, text, n);
	room[n] = 0;
	bsa_rows_clean(room);
	return room;
}

/* ---- who ---- */

static void on_app(void *ctx, const struct bsa_app *a)
{
	struct bsa_store *s = ctx;
	char name[BSA_TEXT];

	STATEMENT_ROW(s, app, .id = sql_id(a->id), .trace_id = sql_id(a->trace), .key = a->key,
	              .uid = a->uid_known ? a->uid : NOTHING, .name = clean_copy(a->name, name, sizeof(name)),
	              .shown = NULL);
}

static void on_process(void *ctx, const struct bsa_process *p)
{
	struct bsa_store *s = ctx;
	char name[BSA_TEXT];

	STATEMENT_ROW(s, process, .id = sql_id(p->id), .trace_id = sql_id(p->trace), .pid = p->pid,
	              .app_id = sql_id(p->app), .role = p->role, .name = clean_copy(p->name, name, sizeof(name)));
}

void bsa_store_cpu_state(struct bsa_store *s, const struct bsa_cpu_state *c)
{
	char name[BSA_TEXT];

	STATEMENT_ROW(s, cpu_state, .cpu = c->cpu, .began = sql_time(s->offset, c->began),
	              .ended = sql_time(s->offset, c->ended), .did = c->did, .tid = c->tid ? c->tid : NOTHING,
	              .name = clean_copy(c->name ? c->name : "", name, sizeof(name)),
	              .khz = c->khz ? sql_count(c->khz) : NOTHING);
}

static void on_rules(void *ctx, const struct bsa_rules *r)
{
	struct bsa_store *s = ctx;

	ROW(s, rules, .trace_id = sql_id(r->trace), .process_id = sql_id(r->process), .instance = r->instance,
	    .at = sql_time(s->offset, r->at), .policy = r->policy, .preempt = r->preempt_mode, .lanes = r->lanes,
	    .spin_us = r->spin_us, .deadlines = sql_label(r->deadlines));
}

static void on_model(void *ctx, const struct bsa_model *m)
{
	struct bsa_store *s = ctx;
	char name[BSA_TEXT];

	STATEMENT_ROW(
		s, model, .id = sql_id(m->id), .trace_id = sql_id(m->trace), .process_id = sql_id(m->process),
		.app_id = sql_id(m->app), .number = sql_id(m->number), .name = clean_copy(m->name, name, sizeof(name)),
		.priority = sql_label(m->priority), .operations = m->operations,
		.const_bytes = sql_count(m->const_bytes), .digest = m->digest ? m->digest : NOTHING,
		/* 0: the service does not know it yet */
		.step_ns = m->step_ns ? sql_ns(m->step_ns) : NOTHING,
		.look_ns = m->look_ns ? sql_ns(m->look_ns) : NOTHING,
		.estimate_ns = m->estimate_ns ? sql_ns(m->estimate_ns) : NOTHING,
		.measured_ns = m->measured_ns ? sql_ns(m->measured_ns) : NOTHING, .prepare_ns = sql_ns(m->prepare_ns),
		.prepared = sql_time(s->offset, m->prepared), .released = sql_time(s->offset, m->released),
		.deadline = m->deadline ? sql_time(s->offset, m->deadline) : NOTHING, .status = sql_label(m->status));
}

static int64_t at_most(uint32_t us)
{
	return us == UINT32_MAX ? NOTHING : us;
}

static void on_stream(void *ctx, const struct bsa_stream *t)
{
	struct bsa_store *s = ctx;

	ROW(s, stream, .id = sql_id(t->id), .trace_id = sql_id(t->trace), .number = t->number,
	    .path = sql_label(t->path), .app_id = sql_id(t->app), .model_id = sql_id(t->model),
	    .process_id = sql_id(t->process), .opened = sql_time(s->offset, t->opened),
	    .closed = sql_time(s->offset, t->closed), .reason = sql_label(t->reason),
	    .executions = sql_count(t->executions), .cold = sql_count(t->cold), .first = sql_time(s->offset, t->first),
	    .last = sql_time(s->offset, t->last ? t->last : BSA_NEVER), .spin_us = at_most(t->spin_us),
	    .client_spin_us = at_most(t->client_spin_us), .cache = sql_label(t->cache));
}

static void on_spanned(void *ctx, const struct bsa_spanned *p)
{
	struct bsa_store *s = ctx;
	int64_t began = sql_time(s->offset, p->began);

	ROW(s, span, .kind = p->kind, .trace_id = sql_id(p->trace), .app_id = sql_id(p->app),
	    .process_id = sql_id(p->process), .pid = sql_id(p->pid), .stream_id = sql_id(p->stream), .began = began,
	    .took_ns = sql_minus(sql_time(s->offset, p->ended), began), .value = sql_count(p->value),
	    .status = sql_label(p->status));
}

/* ---- executions ---- */

/* No event of @x has a time: only its queue operations, lookups or waits were recorded. */
static bool is_timeless(const struct bsa_execution *x)
{
	for (size_t i = 0; i < BSA_BOUNDARIES; i++)
		if (x->at[i] != BSA_NEVER)
			return false;
	return x->missed_at == BSA_NEVER;
}

static void on_execution(void *ctx, const struct bsa_execution *x)
{
	struct bsa_store *s = ctx;

	if (s->code)
		return;
	if (x->path == BSA_PATH_PREPARE) { /* preparations are not counted as executions */
		bsa_execution_store(s, x);
		return;
	}
	s->counts.executions++;
	if (x->quality <= BSA_QUALITY_OPEN)
		s->counts.quality[x->quality]++;
	s->missed += x->miss != BSA_MISS_NONE;
	s->timeless += x->quality != BSA_QUALITY_COMPLETE && is_timeless(x);
	bsa_execution_store(s, x);
	/* an execution that was refused or given up does not show what an answer costs */
	if (x->quality == BSA_QUALITY_COMPLETE && x->status == BSA_STATUS_NONE && bsa_spill_add(s->spill, x))
		bsa_store_fail(s, BSA_E_ENV, "cannot write a scratch file beside %s: %s", s->file.output,
		               bsa_spill_error(s->spill));
}

static void on_slice(void *ctx, const struct bsa_slice *x)
{
	struct bsa_store *s = ctx;

	ROW(s, slice, .id = NOTHING, .execution_id = sql_id(x->execution), .began = sql_time(s->offset, x->began),
	    .dur_ns = sql_minus(sql_time(s->offset, x->ended), sql_time(s->offset, x->began)),
	    .trace_id = sql_id(x->trace), .instance = x->instance, .lane = x->lane);
}

static void on_wait(void *ctx, const struct bsa_wait *w)
{
	bsa_crowd_wait(ctx, w);
}

static void on_occupied(void *ctx, const struct bsa_occupied *o)
{
	bsa_crowd_occupied(ctx, o);
}

static bool span_covers(int64_t began, int64_t ended, int64_t other_began, int64_t other_ended)
{
	return (began == NOTHING || (other_began != NOTHING && began <= other_began)) &&
	       (ended == NOTHING || (other_ended != NOTHING && ended >= other_ended));
}

static void write_stranger(struct bsa_store *s)
{
	if (s->stranger.waits)
		ROW(s, possible_wait, .execution_id = NOTHING, .app_id = NOTHING, .model_id = NOTHING,
		    .began = s->stranger.began, .ended = s->stranger.ended);
	s->stranger.waits = false;
}

static void on_possible_wait(void *ctx, const struct bsa_possible_wait *w)
{
	struct bsa_store *s = ctx;
	int64_t began = sql_time(s->offset, w->began), ended = sql_time(s->offset, w->ended);

	if (w->execution || w->app || w->model) {
		ROW(s, possible_wait, .execution_id = sql_id(w->execution), .app_id = sql_id(w->app),
		    .model_id = sql_id(w->model), .began = began, .ended = ended);
		return;
	}

	/*
	 * An execution that may have waited in a part of a time may have waited in all of it, so a row within
	 * another row adds nothing. Each event of an execution that was evicted brings such a row, from the
	 * beginning of the recording on.
	 */
	if (s->stranger.waits && span_covers(s->stranger.began, s->stranger.ended, began, ended))
		return;
	if (s->stranger.waits && !span_covers(began, ended, s->stranger.began, s->stranger.ended))
		write_stranger(s);
	s->stranger = (struct bsa_stranger){ true, began, ended };
}

static void on_unknown_lane(void *ctx, const struct bsa_unknown_lane *l)
{
	struct bsa_store *s = ctx;

	ROW(s, unknown_lane, .execution_id = sql_id(l->execution), .instance = l->instance, .lane = l->lane,
	    .began = sql_time(s->offset, l->began), .ended = sql_time(s->offset, l->ended));
}

static void on_preemption(void *ctx, const struct bsa_preemption *p)
{
	struct bsa_store *s = ctx;

	ROW(s, preemption, .execution_id = sql_id(p->execution), .by_execution_id = sql_id(p->by),
	    .asked = sql_time(s->offset, p->asked), .stopped = sql_time(s->offset, p->stopped),
	    .resumed = sql_time(s->offset, p->resumed), .at_op = p->at_op, .mode = p->mode, .lane = p->lane,
	    .redo_ns = sql_ns(p->redo));
}

static void on_deadline_missed(void *ctx, const struct bsa_deadline_missed *d)
{
	struct bsa_store *s = ctx;

	ROW(s, deadline_miss, .trace_id = sql_id(d->trace), .execution_id = sql_id(d->execution),
	    .model_id = sql_id(d->model), .at = sql_time(s->offset, d->at), .kind = d->kind, .stage = d->stage,
	    .deadline = d->deadline ? sql_time(s->offset, d->deadline) : NOTHING, .estimate_ns = sql_ns(d->estimate),
	    .over_ns = sql_clamped(d->over));
}

static void on_refused(void *ctx, const struct bsa_refused *r)
{
	struct bsa_store *s = ctx;

	ROW(s, refusal, .execution_id = sql_id(r->execution), .lane_free = sql_time(s->offset, r->lane_free),
	    .held_until = sql_time(s->offset, r->held_until), .holder_id = sql_id(r->holder),
	    .holder_app_id = sql_id(r->holder_app), .holder_cause = r->holder_cause,
	    .queue_free = sql_time(s->offset, r->queue_free), .queue_cause = r->queue_cause,
	    .queue_id = sql_id(r->queue), .queue_app_id = sql_id(r->queue_app), .own_queue_ns = sql_ns(r->own_ns),
	    .others_queue_ns = sql_ns(r->others_ns));
}

static void on_exhausted(void *ctx, const struct bsa_exhausted *e)
{
	struct bsa_store *s = ctx;

	ROW(s, exhausted, .trace_id = sql_id(e->trace), .owner = e->owner, .owner_id = sql_given(e->owner_id),
	    .execution_id = sql_id(e->execution), .model_id = sql_id(e->model), .app_id = sql_id(e->app),
	    .at = sql_time(s->offset, e->at), .kind = e->kind, .resource = e->resource, .asked = sql_count(e->asked),
	    .limit_value = sql_count(e->limit));
}

/* ---- memory ---- */

static void on_slot_missed(void *ctx, const struct bsa_slot_missed *m)
{
	struct bsa_store *s = ctx;

	ROW(s, slot_miss, .execution_id = sql_id(m->execution), .at = sql_time(s->offset, m->at), .slot = m->slot,
	    .fetch_ns = sql_ns(m->fetch_ns), .map_ns = sql_ns(m->map_ns));
}

static void on_mapping(void *ctx, const struct bsa_mapping *m)
{
	struct bsa_store *s = ctx;

	ROW(s, mapping, .id = sql_id(m->id), .trace_id = sql_id(m->trace), .owner = m->owner,
	    .owner_id = sql_given(m->owner_id), .stream_id = sql_id(m->stream), .slot = m->slot, .kind = m->kind,
	    .bytes = sql_count(m->bytes), .mapped = sql_time(s->offset, m->mapped),
	    .unmapped = sql_time(s->offset, m->unmapped), .took_ns = sql_ns(m->took), .status = sql_label(m->status),
	    .cause = sql_label(m->cause));
}

static void on_buffer(void *ctx, const struct bsa_buffer *b)
{
	struct bsa_store *s = ctx;

	ROW(s, buffer, .id = sql_id(b->id), .trace_id = sql_id(b->trace), .app_id = sql_id(b->app),
	    .number = sql_id(b->number), .bytes = sql_count(b->bytes), .roles = b->roles,
	    .allocated = sql_time(s->offset, b->allocated), .freed = sql_time(s->offset, b->freed),
	    .status = sql_label(b->status), .cause = sql_label(b->cause));
}

static void on_buffer_used(void *ctx, const struct bsa_buffer_used *u)
{
	struct bsa_store *s = ctx;

	ROW(s, buffer_use, .buffer_id = sql_id(u->buffer), .execution_id = sql_id(u->execution),
	    .at = sql_time(s->offset, u->at), .op = u->op, .bytes = sql_count(u->bytes), .took_ns = sql_ns(u->took),
	    .status = sql_label(u->status), .cause = sql_label(u->cause));
}

/* ---- between apps, and inside one ---- */

static void on_inverted(void *ctx, const struct bsa_inverted *i)
{
	bsa_inverted_add(ctx, i);
}

static void on_starved(void *ctx, const struct bsa_starved *v)
{
	struct bsa_store *s = ctx;

	ROW(s, starvation, .execution_id = sql_id(v->execution), .app_id = sql_id(v->app), .model_id = sql_id(v->model),
	    .began = sql_time(s->offset, v->began), .gap_ns = sql_ns(v->gap), .bypassed = v->bypassed,
	    .top_culprit_app_id = sql_id(v->top_culprit_app), .top_culprit_ns = sql_ns(v->top_culprit_ns),
	    .open = v->open);
}

static void on_share(void *ctx, const struct bsa_share *h)
{
	struct bsa_store *s = ctx;

	ROW(s, share, .app_id = sql_id(h->app), .received_ns = sql_ns(h->received), .entitled_ns = sql_ns(h->entitled),
	    .max_lag_ns = sql_clamped(h->max_lag), .max_lag_at = sql_time(s->offset, h->max_lag_at),
	    .most_lag_ns = sql_in_range(h->most_lag));
}

static void on_lag(void *ctx, const struct bsa_lag *l)
{
	bsa_lags_add(ctx, l);
}

static void on_lag_window(void *ctx, const struct bsa_lag_window *w)
{
	bsa_lags_window(ctx, w);
}

static void on_interfered(void *ctx, const struct bsa_interfered *i)
{
	struct bsa_store *s = ctx;

	ROW(s, interference, .by_app_id = sql_id(i->by), .app_id = sql_id(i->app), .ns = sql_ns(i->ns));
}

static void on_chosen(void *ctx, const struct bsa_chosen *c)
{
	struct bsa_store *s = ctx;

	ROW(s, choice, .id = NOTHING, .at = sql_time(s->offset, c->at), .chosen_id = sql_id(c->chosen),
	    .passed_over_id = sql_id(c->passed_over), .honoured = c->honoured, .app_id = sql_id(c->app));
}

/* ---- single operations; losses ---- */

static void on_fmq_op(void *ctx, const struct bsa_fmq_op *o)
{
	struct bsa_store *s = ctx;

	ROW(s, fmq_op, .id = NOTHING, .execution_id = sql_id(o->execution), .at = sql_time(s->offset, o->at),
	    .bits = PACK(fmq_op, .queue = o->queue == BSA_QUEUE_OTHER ? 0 : o->queue, .op = o->write != 0,
	                 .other = o->queue == BSA_QUEUE_OTHER),
	    .items = o->items, .used = o->used, .blocked_ns = sql_ns(o->blocked), .spun_ns = sql_ns(o->spun),
	    .slept_ns = sql_ns(o->slept), .number = o->number ? sql_count(o->number) : NOTHING);
}

static void on_lookup(void *ctx, const struct bsa_lookup *l)
{
	struct bsa_store *s = ctx;

	ROW(s, lookup, .id = NOTHING, .execution_id = sql_id(l->execution), .at = sql_time(s->offset, l->at),
	    .slot = l->slot, .hit = l->hit != 0, .look = l->look);
}

static void on_operation(void *ctx, const struct bsa_operation *o)
{
	struct bsa_store *s = ctx;

	ROW(s, operation, .id = NOTHING, .execution_id = sql_id(o->execution), .op = o->op, .type = o->type,
	    .began = sql_time(s->offset, o->began), .ended = sql_time(s->offset, o->ended));
}

static void on_lost(void *ctx, const struct bsa_lost *l)
{
	struct bsa_store *s = ctx;

	ROW(s, loss, .trace_id = sql_id(l->trace), .cpu = l->cpu == UINT32_MAX ? NOTHING : l->cpu,
	    .pid = sql_id(l->pid), .began = sql_time(s->offset, l->began), .ended = sql_time(s->offset, l->ended),
	    .events = sql_count(l->events), .packets = sql_count(l->packets), .cause = l->cause);
}

static void on_silence(void *ctx, const struct bsa_silence *l)
{
	struct bsa_store *s = ctx;

	ROW(s, silence, .trace_id = sql_id(l->trace), .process_id = sql_id(l->process), .instance = l->instance,
	    .began = sql_time(s->offset, l->began), .ended = sql_time(s->offset, l->ended),
	    .heard = sql_time(s->offset, l->heard), .awaited = l->awaited, .failed = l->failed,
	    .execution_id = sql_id(l->execution), .went_on = l->went_on);
}

struct bsa_facts bsa_store_facts(struct bsa_store *s)
{
	return (struct bsa_facts){
		.ctx = s,
		.app = on_app,
		.process = on_process,
		.rules = on_rules,
		.model = on_model,
		.stream = on_stream,
		.execution = on_execution,
		.slice = on_slice,
		.wait = on_wait,
		.occupied = on_occupied,
		.possible_wait = on_possible_wait,
		.unknown_lane = on_unknown_lane,
		.preemption = on_preemption,
		.deadline_missed = on_deadline_missed,
		.refused = on_refused,
		.exhausted = on_exhausted,
		.slot_missed = on_slot_missed,
		.mapping = on_mapping,
		.buffer = on_buffer,
		.buffer_used = on_buffer_used,
		.inverted = on_inverted,
		.starved = on_starved,
		.share = on_share,
		.lag = on_lag,
		.lag_window = on_lag_window,
		.interfered = on_interfered,
		.chosen = on_chosen,
		.fmq_op = s->keep_operations ? on_fmq_op : NULL,
		.lookup = s->keep_operations ? on_lookup : NULL,
		.operation = on_operation, /* only verbose traces have them */
		.lost = on_lost,
		.spanned = on_spanned,
		.silence = on_silence,
	};
}

void bsa_rows_finish(struct bsa_store *s)
{
	write_stranger(s);
}

/* ---- traces ---- */

int bsa_store_trace(struct bsa_store *s, const struct bsa_trace_row *row, struct bsa_err *err)
{
	char uuid[4096], path[4096], host[4096], session[4096], clock[4096];
	cleanup_stmt sqlite3_stmt *same = NULL;

	if (s->code)
		return bsa_store_check(s, err);
	same = bsa_store_prepare(s, "SELECT path FROM trace WHERE uuid = ? AND id <> ?");
	if (!same)
		return bsa_store_check(s, err);
	clean_copy(row->uuid, uuid, sizeof(uuid));
	sqlite3_bind_text(same, 1, row->uuid && *row->uuid ? uuid : NULL, -1, SQLITE_STATIC);
	sqlite3_bind_int64(same, 2, row->id);
	if (bsa_store_step(s, same))
		return bsa_fail(err, BSA_E_INPUT, "%s is in the database already (as %s)",
		                row->path ? row->path : "the trace", (const char *)sqlite3_column_text(same, 0));
	if (row->id > s->last_trace)
		s->last_trace = row->id;
	STATEMENT_ROW(
		s, trace, .id = row->id, .uuid = clean_copy(row->uuid, uuid, sizeof(uuid)),
		.path = clean_copy(row->path, path, sizeof(path)), .host = clean_copy(row->host, host, sizeof(host)),
		.session = clean_copy(row->session, session, sizeof(session)),
		.began = sql_time(row->clock_offset, row->began), .ended = sql_time(row->clock_offset, row->ended),
		.recorded_until = row->recorded_until ? sql_time(row->clock_offset, row->recorded_until) : NOTHING,
		.over_by = row->over_by ? sql_time(row->clock_offset, row->over_by) : NOTHING,
		.events = sql_count(row->events), .lost_events = sql_count(row->lost_events),
		.lost_packets = sql_count(row->lost_packets), .clock = clean_copy(row->clock, clock, sizeof(clock)),
		.clock_offset = sql_clamped(row->clock_offset), .foreign_events = sql_count(row->foreign),
		.unusable_events = sql_count(row->unusable), .cut = row->cut,
		.uid = row->uid == UINT32_MAX ? NOTHING : (int64_t)row->uid,
		.impostor_events = sql_count(row->impostors),
		.boottime_ns = row->boottime_known ? sql_clamped(row->boottime) : NOTHING,
		.unreadable = row->unreadable);
	return bsa_store_check(s, err);
}

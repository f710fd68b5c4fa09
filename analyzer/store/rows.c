/* rows.c -- see rows.h. */
#include "store/rows.h"

#include "store/crowd.h"
#include "store/execution.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/spill.h"

#include <string.h>

/* The fold and the database must give the same things the same numbers. */
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
SAME(cause_machine_busy, BSA_CAUSES - 1);
SAME(phase_preempted, BSA_PREEMPTED);
SAME(phase_signal, BSA_PHASES - 1);
SAME(look_client, BSA_LOOK_CLIENT);
SAME(span_kind_burst_close, BSA_SPAN_BURST_CLOSE);

/* ---- text ---- */

/* How many bytes the character at @p has, or 0 where it is none: too long a form, a surrogate, beyond Unicode. */
static size_t character(const unsigned char *p)
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

void rows_clean(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p;) {
		size_t n = character(p);

		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
}

/* A copy of @text in @room, cut to @bytes and made UTF-8. NULL for NULL. */
static const char *clean(const char *text, char *room, size_t bytes)
{
	size_t n;

	if (!text)
		return NULL;
	n = strnlen(text, bytes - 1);
	memcpy(room, text, n);
	room[n] = 0;
	rows_clean(room);
	return room;
}

/* ---- who ---- */

static void on_app(void *ctx, const struct bsa_app *a)
{
	struct bsa_store *s = ctx;
	char name[BSA_TEXT];

	STATEMENT_ROW(s, app, .id = ref(a->id), .trace_id = ref(a->trace), .key = a->key,
	              .uid = a->uid_known ? a->uid : NOTHING, .name = clean(a->name, name, sizeof(name)),
	              .shown = NULL);
}

static void on_process(void *ctx, const struct bsa_process *p)
{
	struct bsa_store *s = ctx;
	char name[BSA_TEXT];

	STATEMENT_ROW(s, process, .id = ref(p->id), .trace_id = ref(p->trace), .pid = p->pid, .app_id = ref(p->app),
	              .role = p->role, .name = clean(p->name, name, sizeof(name)));
}

static void on_rules(void *ctx, const struct bsa_rules *r)
{
	struct bsa_store *s = ctx;

	ROW(s, rules, .trace_id = ref(r->trace), .process_id = ref(r->process), .instance = r->instance,
	    .at = when(s->offset, r->at), .policy = r->policy, .preempt = r->preempt_mode, .lanes = r->lanes,
	    .spin_us = r->spin_us, .deadlines = named(r->deadlines));
}

static void on_model(void *ctx, const struct bsa_model *m)
{
	struct bsa_store *s = ctx;
	char name[BSA_TEXT];

	STATEMENT_ROW(s, model, .id = ref(m->id), .trace_id = ref(m->trace), .process_id = ref(m->process),
	              .app_id = ref(m->app), .number = ref(m->number), .name = clean(m->name, name, sizeof(name)),
	              .priority = named(m->priority), .operations = m->operations, .const_bytes = count(m->const_bytes),
	              /* 0: the service does not know it yet */
	              .step_ns = m->step_ns ? ns(m->step_ns) : NOTHING,
	              .estimate_ns = m->estimate_ns ? ns(m->estimate_ns) : NOTHING, .prepare_ns = ns(m->prepare_ns),
	              .prepared = when(s->offset, m->prepared), .released = when(s->offset, m->released),
	              .deadline = m->deadline ? when(s->offset, m->deadline) : NOTHING, .status = named(m->status));
}

static int64_t at_most(uint32_t us)
{
	return us == UINT32_MAX ? NOTHING : us;
}

static void on_stream(void *ctx, const struct bsa_stream *t)
{
	struct bsa_store *s = ctx;

	ROW(s, stream, .id = ref(t->id), .trace_id = ref(t->trace), .number = t->number, .path = named(t->path),
	    .app_id = ref(t->app), .model_id = ref(t->model), .process_id = ref(t->process),
	    .opened = when(s->offset, t->opened), .closed = when(s->offset, t->closed), .reason = named(t->reason),
	    .executions = count(t->executions), .cold = count(t->cold), .first = when(s->offset, t->first),
	    .spin_us = at_most(t->spin_us), .client_spin_us = at_most(t->client_spin_us), .cache = named(t->cache));
}

static void on_spanned(void *ctx, const struct bsa_spanned *p)
{
	struct bsa_store *s = ctx;
	int64_t began = when(s->offset, p->began);

	ROW(s, span, .kind = p->kind, .trace_id = ref(p->trace), .app_id = ref(p->app), .process_id = ref(p->process),
	    .pid = ref(p->pid), .stream_id = ref(p->stream), .began = began,
	    .took_ns = minus(when(s->offset, p->ended), began), .value = count(p->value), .status = named(p->status));
}

/* ---- executions ---- */

static void on_execution(void *ctx, const struct bsa_execution *x)
{
	struct bsa_store *s = ctx;

	if (s->code)
		return;
	if (x->path == BSA_PATH_PREPARE) { /* preparations are not counted as executions */
		execution_store(s, x);
		return;
	}
	s->counts.executions++;
	if (x->quality <= BSA_QUALITY_OPEN)
		s->counts.quality[x->quality]++;
	s->missed += x->miss != BSA_MISS_NONE;
	execution_store(s, x);
	/* an execution that was refused or given up does not show what an answer costs */
	if (x->quality == BSA_QUALITY_COMPLETE && x->status == BSA_STATUS_NONE && spill_add(s->spill, x))
		store_fail(s, BSA_E_ENV, "cannot write a scratch file beside %s: %s", s->file.output,
		           spill_error(s->spill));
}

/* Its length: beginning and end are both bounded. */
static int64_t length(struct bsa_store *s, uint64_t began, uint64_t ended)
{
	return minus(when(s->offset, ended), when(s->offset, began));
}

static void on_slice(void *ctx, const struct bsa_slice *x)
{
	struct bsa_store *s = ctx;

	ROW(s, slice, .id = NOTHING, .execution_id = ref(x->execution), .began = when(s->offset, x->began),
	    .dur_ns = length(s, x->began, x->ended), .trace_id = ref(x->trace), .instance = x->instance,
	    .lane = x->lane);
}

static void on_wait(void *ctx, const struct bsa_wait *w)
{
	crowd_wait(ctx, w);
}

static void on_occupied(void *ctx, const struct bsa_occupied *o)
{
	crowd_occupied(ctx, o);
}

static void on_possible_wait(void *ctx, const struct bsa_possible_wait *w)
{
	struct bsa_store *s = ctx;

	ROW(s, possible_wait, .execution_id = ref(w->execution), .app_id = ref(w->app), .model_id = ref(w->model),
	    .began = when(s->offset, w->began), .ended = when(s->offset, w->ended));
}

static void on_unknown_lane(void *ctx, const struct bsa_unknown_lane *l)
{
	struct bsa_store *s = ctx;

	ROW(s, unknown_lane, .execution_id = ref(l->execution), .instance = l->instance, .lane = l->lane,
	    .began = when(s->offset, l->began), .ended = when(s->offset, l->ended));
}

static void on_preemption(void *ctx, const struct bsa_preemption *p)
{
	struct bsa_store *s = ctx;

	ROW(s, preemption, .execution_id = ref(p->execution), .by_execution_id = ref(p->by),
	    .asked = when(s->offset, p->asked), .stopped = when(s->offset, p->stopped),
	    .resumed = when(s->offset, p->resumed), .at_op = p->at_op, .mode = p->mode, .lane = p->lane,
	    .redo_ns = ns(p->redo));
}

static void on_deadline_missed(void *ctx, const struct bsa_deadline_missed *d)
{
	struct bsa_store *s = ctx;

	ROW(s, deadline_miss, .trace_id = ref(d->trace), .execution_id = ref(d->execution), .model_id = ref(d->model),
	    .at = when(s->offset, d->at), .kind = d->kind, .stage = d->stage,
	    .deadline = d->deadline ? when(s->offset, d->deadline) : NOTHING, .estimate_ns = ns(d->estimate),
	    .over_ns = bounded(d->over));
}

static void on_refused(void *ctx, const struct bsa_refused *r)
{
	struct bsa_store *s = ctx;

	ROW(s, refusal, .execution_id = ref(r->execution), .lane_free = when(s->offset, r->lane_free),
	    .holder_id = ref(r->holder), .holder_app_id = ref(r->holder_app), .holder_cause = r->holder_cause,
	    .queue_free = when(s->offset, r->queue_free), .queue_cause = r->queue_cause);
}

static void on_exhausted(void *ctx, const struct bsa_exhausted *e)
{
	struct bsa_store *s = ctx;

	ROW(s, exhausted, .trace_id = ref(e->trace), .owner = e->owner, .owner_id = given(e->owner_id),
	    .execution_id = ref(e->execution), .model_id = ref(e->model), .app_id = ref(e->app),
	    .at = when(s->offset, e->at), .kind = e->kind, .resource = e->resource, .asked = count(e->asked),
	    .limit_value = count(e->limit));
}

/* ---- memory ---- */

static void on_slot_missed(void *ctx, const struct bsa_slot_missed *m)
{
	struct bsa_store *s = ctx;

	ROW(s, slot_miss, .execution_id = ref(m->execution), .at = when(s->offset, m->at), .slot = m->slot,
	    .fetch_ns = ns(m->fetch_ns), .map_ns = ns(m->map_ns));
}

static void on_mapping(void *ctx, const struct bsa_mapping *m)
{
	struct bsa_store *s = ctx;

	ROW(s, mapping, .id = ref(m->id), .trace_id = ref(m->trace), .owner = m->owner, .owner_id = given(m->owner_id),
	    .stream_id = ref(m->stream), .slot = m->slot, .kind = m->kind, .bytes = count(m->bytes),
	    .mapped = when(s->offset, m->mapped), .unmapped = when(s->offset, m->unmapped), .took_ns = ns(m->took),
	    .status = named(m->status), .cause = named(m->cause));
}

static void on_buffer(void *ctx, const struct bsa_buffer *b)
{
	struct bsa_store *s = ctx;

	ROW(s, buffer, .id = ref(b->id), .trace_id = ref(b->trace), .app_id = ref(b->app), .number = ref(b->number),
	    .bytes = count(b->bytes), .roles = b->roles, .allocated = when(s->offset, b->allocated),
	    .freed = when(s->offset, b->freed), .status = named(b->status), .cause = named(b->cause));
}

static void on_buffer_used(void *ctx, const struct bsa_buffer_used *u)
{
	struct bsa_store *s = ctx;

	ROW(s, buffer_use, .buffer_id = ref(u->buffer), .execution_id = ref(u->execution), .at = when(s->offset, u->at),
	    .op = u->op, .bytes = count(u->bytes), .took_ns = ns(u->took), .status = named(u->status),
	    .cause = named(u->cause));
}

/* ---- between apps, and inside one ---- */

static void on_inverted(void *ctx, const struct bsa_inverted *i)
{
	inverted_add(ctx, i);
}

static void on_starved(void *ctx, const struct bsa_starved *v)
{
	struct bsa_store *s = ctx;

	ROW(s, starvation, .execution_id = ref(v->execution), .app_id = ref(v->app), .model_id = ref(v->model),
	    .began = when(s->offset, v->began), .gap_ns = ns(v->gap), .bypassed = v->bypassed,
	    .top_culprit_app_id = ref(v->top_culprit_app), .top_culprit_ns = ns(v->top_culprit_ns), .open = v->open);
}

static void on_share(void *ctx, const struct bsa_share *h)
{
	struct bsa_store *s = ctx;

	ROW(s, share, .app_id = ref(h->app), .received_ns = ns(h->received), .entitled_ns = ns(h->entitled),
	    .max_lag_ns = bounded(h->max_lag), .max_lag_at = when(s->offset, h->max_lag_at),
	    .most_lag_ns = bound(h->most_lag));
}

static void on_lag(void *ctx, const struct bsa_lag *l)
{
	struct bsa_store *s = ctx;

	ROW(s, lag, .window_began = when(s->offset, l->window_began), .app_id = ref(l->app),
	    .received_ns = ns(l->received), .entitled_ns = ns(l->entitled), .lag_ns = bound(l->lag),
	    .most_ns = bound(l->most));
}

static void on_interfered(void *ctx, const struct bsa_interfered *i)
{
	struct bsa_store *s = ctx;

	ROW(s, interference, .by_app_id = ref(i->by), .app_id = ref(i->app), .ns = ns(i->ns));
}

static void on_chosen(void *ctx, const struct bsa_chosen *c)
{
	struct bsa_store *s = ctx;

	ROW(s, choice, .id = NOTHING, .at = when(s->offset, c->at), .chosen_id = ref(c->chosen),
	    .passed_over_id = ref(c->passed_over), .honoured = c->honoured, .app_id = ref(c->app));
}

/* ---- single operations; losses ---- */

static void on_fmq_op(void *ctx, const struct bsa_fmq_op *o)
{
	struct bsa_store *s = ctx;

	ROW(s, fmq_op, .id = NOTHING, .execution_id = ref(o->execution), .at = when(s->offset, o->at),
	    .bits = PACK(fmq_op, .queue = o->queue == BSA_QUEUE_OTHER ? 0 : o->queue, .op = o->write != 0,
	                 .other = o->queue == BSA_QUEUE_OTHER),
	    .items = o->items, .used = o->used, .blocked_ns = ns(o->blocked), .spun_ns = ns(o->spun),
	    .slept_ns = ns(o->slept), .number = o->number ? count(o->number) : NOTHING);
}

static void on_lookup(void *ctx, const struct bsa_lookup *l)
{
	struct bsa_store *s = ctx;

	ROW(s, lookup, .id = NOTHING, .execution_id = ref(l->execution), .at = when(s->offset, l->at), .slot = l->slot,
	    .hit = l->hit != 0, .look = l->look);
}

static void on_operation(void *ctx, const struct bsa_operation *o)
{
	struct bsa_store *s = ctx;

	ROW(s, operation, .id = NOTHING, .execution_id = ref(o->execution), .op = o->op, .type = o->type,
	    .began = when(s->offset, o->began), .ended = when(s->offset, o->ended));
}

static void on_lost(void *ctx, const struct bsa_lost *l)
{
	struct bsa_store *s = ctx;

	ROW(s, loss, .trace_id = ref(l->trace), .cpu = l->cpu == UINT32_MAX ? NOTHING : l->cpu, .pid = ref(l->pid),
	    .began = when(s->offset, l->began), .ended = when(s->offset, l->ended), .events = count(l->events),
	    .packets = count(l->packets), .cause = l->cause);
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
		.interfered = on_interfered,
		.chosen = on_chosen,
		.fmq_op = s->keep_operations ? on_fmq_op : NULL,
		.lookup = s->keep_operations ? on_lookup : NULL,
		.operation = on_operation, /* there are none but in verbose traces */
		.lost = on_lost,
		.spanned = on_spanned,
	};
}

/* ---- traces ---- */

int bsa_store_trace(struct bsa_store *s, const struct bsa_trace_row *row, struct bsa_err *err)
{
	char uuid[4096], path[4096], host[4096], session[4096], clock[4096];
	cleanup_stmt sqlite3_stmt *same = NULL;

	if (s->code)
		return bsa_store_check(s, err);
	same = store_prepare(s, "SELECT path FROM trace WHERE uuid = ? AND id <> ?");
	if (!same)
		return bsa_store_check(s, err);
	clean(row->uuid, uuid, sizeof(uuid));
	sqlite3_bind_text(same, 1, row->uuid && *row->uuid ? uuid : NULL, -1, SQLITE_STATIC);
	sqlite3_bind_int64(same, 2, row->id);
	if (store_step(s, same))
		return bsa_fail(err, BSA_E_INPUT, "%s is in the database already (as %s)",
		                row->path ? row->path : "the trace", (const char *)sqlite3_column_text(same, 0));
	if (row->id > s->last_trace)
		s->last_trace = row->id;
	STATEMENT_ROW(
		s, trace, .id = row->id, .uuid = clean(row->uuid, uuid, sizeof(uuid)),
		.path = clean(row->path, path, sizeof(path)), .host = clean(row->host, host, sizeof(host)),
		.session = clean(row->session, session, sizeof(session)), .began = when(row->clock_offset, row->began),
		.ended = when(row->clock_offset, row->ended), .events = count(row->events),
		.lost_events = count(row->lost_events), .lost_packets = count(row->lost_packets),
		.clock = clean(row->clock, clock, sizeof(clock)), .clock_offset = bounded(row->clock_offset),
		.foreign_events = count(row->foreign), .unusable_events = count(row->unusable), .cut = row->cut,
		.uid = row->uid == UINT32_MAX ? NOTHING : (int64_t)row->uid, .impostor_events = count(row->impostors),
		.boottime_ns = row->boottime_known ? bounded(row->boottime) : NOTHING, .unreadable = row->unreadable);
	return bsa_store_check(s, err);
}

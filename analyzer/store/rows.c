/* rows.c -- see rows.h. */
#include "store/rows.h"

#include "store/execution.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/spill.h"

#include <string.h>

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

static void bind(sqlite3_stmt *q, int at, int64_t v)
{
	if (v == NOTHING)
		sqlite3_bind_null(q, at);
	else
		sqlite3_bind_int64(q, at, v);
}

/* Cut to @bytes. */
static void bind_text(sqlite3_stmt *q, int at, const char *text, char *room, size_t bytes)
{
	size_t n;

	if (!text) {
		sqlite3_bind_null(q, at);
		return;
	}
	n = strnlen(text, bytes - 1);
	memcpy(room, text, n);
	room[n] = 0;
	rows_clean(room);
	sqlite3_bind_text(q, at, room, -1, SQLITE_TRANSIENT);
}

static void bind_name(sqlite3_stmt *q, int at, const char name[BSA_TEXT])
{
	char room[BSA_TEXT];

	bind_text(q, at, name, room, sizeof(room));
}

/* ---- who ---- */

static void on_app(void *ctx, const struct bsa_app *a)
{
	struct bsa_store *s = ctx;
	sqlite3_stmt *q = s->text_rows[TEXT_APP];

	if (s->code)
		return;
	bind(q, 1, ref(a->id));
	bind(q, 2, ref(a->trace));
	bind(q, 3, a->key);
	bind(q, 4, a->uid_known ? a->uid : NOTHING);
	bind_name(q, 5, a->name);
	store_do(s, q);
}

static void on_process(void *ctx, const struct bsa_process *p)
{
	struct bsa_store *s = ctx;
	sqlite3_stmt *q = s->text_rows[TEXT_PROCESS];

	if (s->code)
		return;
	bind(q, 1, ref(p->id));
	bind(q, 2, ref(p->trace));
	bind(q, 3, p->pid);
	bind(q, 4, ref(p->app));
	bind(q, 5, p->role);
	bind_name(q, 6, p->name);
	store_do(s, q);
}

static void on_rules(void *ctx, const struct bsa_rules *r)
{
	struct bsa_store *s = ctx;

	ROW(s, RULES, ref(r->trace), ref(r->process), r->instance, when(s->offset, r->at), r->policy, r->preempt_mode,
	    r->lanes, r->spin_us);
}

static void on_model(void *ctx, const struct bsa_model *m)
{
	struct bsa_store *s = ctx;
	sqlite3_stmt *q = s->text_rows[TEXT_MODEL];

	if (s->code)
		return;
	bind(q, 1, ref(m->id));
	bind(q, 2, ref(m->trace));
	bind(q, 3, ref(m->process));
	bind(q, 4, ref(m->app));
	bind(q, 5, ref(m->number));
	bind_name(q, 6, m->name);
	bind(q, 7, named(m->priority));
	bind(q, 8, m->operations);
	bind(q, 9, count(m->const_bytes));
	/* nobody knows them yet: 0 */
	bind(q, 10, m->step_ns ? ns(m->step_ns) : NOTHING);
	bind(q, 11, m->estimate_ns ? ns(m->estimate_ns) : NOTHING);
	bind(q, 12, ns(m->prepare_ns));
	bind(q, 13, when(s->offset, m->prepared));
	bind(q, 14, when(s->offset, m->released));
	bind(q, 15, m->deadline ? when(s->offset, m->deadline) : NOTHING);
	bind(q, 16, named(m->status));
	store_do(s, q);
}

static void on_stream(void *ctx, const struct bsa_stream *t)
{
	struct bsa_store *s = ctx;

	ROW(s, STREAM, ref(t->id), ref(t->trace), t->number, named(t->path), ref(t->app), ref(t->model),
	    ref(t->process), when(s->offset, t->opened), when(s->offset, t->closed), named(t->reason),
	    count(t->executions), count(t->cold), when(s->offset, t->first));
}

/* ---- executions ---- */

static void on_execution(void *ctx, const struct bsa_execution *x)
{
	struct bsa_store *s = ctx;

	if (s->code)
		return;
	s->counts.executions++;
	if (x->quality <= BSA_QUALITY_OPEN)
		s->counts.quality[x->quality]++;
	s->missed += x->miss != BSA_MISS_NONE;
	execution_store(s, x);
	/* what was refused or given up says nothing of what an answer costs */
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

	ROW(s, SLICE, NOTHING, ref(x->execution), when(s->offset, x->began), length(s, x->began, x->ended),
	    ref(x->trace), x->instance, x->lane);
}

static void on_wait(void *ctx, const struct bsa_wait *w)
{
	struct bsa_store *s = ctx;

	ROW(s, WAIT, NOTHING, ref(w->execution), when(s->offset, w->began), length(s, w->began, w->ended),
	    ref(w->blocker), ref(w->blocker_app),
	    (w->kind & 1) | w->lane << 1 | (w->occupancy & 3) << 9 | (w->cause & 31) << 11);
}

static void on_preemption(void *ctx, const struct bsa_preemption *p)
{
	struct bsa_store *s = ctx;

	ROW(s, PREEMPTION, ref(p->execution), ref(p->by), when(s->offset, p->asked), when(s->offset, p->stopped),
	    when(s->offset, p->resumed), p->at_op, p->mode, p->lane, ns(p->redo));
}

static void on_deadline_missed(void *ctx, const struct bsa_deadline_missed *d)
{
	struct bsa_store *s = ctx;

	ROW(s, DEADLINE_MISS, ref(d->trace), ref(d->execution), ref(d->model), when(s->offset, d->at), d->kind,
	    d->stage, d->deadline ? when(s->offset, d->deadline) : NOTHING, ns(d->estimate), bounded(d->over));
}

static void on_refused(void *ctx, const struct bsa_refused *r)
{
	struct bsa_store *s = ctx;

	ROW(s, REFUSAL, ref(r->execution), when(s->offset, r->lane_free), ref(r->holder), ref(r->holder_app),
	    r->holder_cause);
}

static void on_exhausted(void *ctx, const struct bsa_exhausted *e)
{
	struct bsa_store *s = ctx;

	ROW(s, EXHAUSTED, ref(e->trace), e->owner, (int64_t)e->owner_id, ref(e->execution), ref(e->model), ref(e->app),
	    when(s->offset, e->at), e->kind, e->resource, count(e->asked), count(e->limit));
}

/* ---- memory ---- */

static void on_slot_missed(void *ctx, const struct bsa_slot_missed *m)
{
	struct bsa_store *s = ctx;

	ROW(s, SLOT_MISS, ref(m->execution), when(s->offset, m->at), m->slot, ns(m->fetch_ns), ns(m->map_ns));
}

static void on_mapping(void *ctx, const struct bsa_mapping *m)
{
	struct bsa_store *s = ctx;

	ROW(s, MAPPING, ref(m->id), ref(m->trace), m->owner, (int64_t)m->owner_id, ref(m->stream), m->slot, m->kind,
	    count(m->bytes), when(s->offset, m->mapped), when(s->offset, m->unmapped), ns(m->took), named(m->status),
	    named(m->cause));
}

static void on_buffer(void *ctx, const struct bsa_buffer *b)
{
	struct bsa_store *s = ctx;

	ROW(s, BUFFER, ref(b->id), ref(b->trace), ref(b->app), ref(b->number), count(b->bytes), b->roles,
	    when(s->offset, b->allocated), when(s->offset, b->freed), named(b->status), named(b->cause));
}

static void on_buffer_used(void *ctx, const struct bsa_buffer_used *u)
{
	struct bsa_store *s = ctx;

	ROW(s, BUFFER_USE, ref(u->buffer), ref(u->execution), when(s->offset, u->at), u->op, count(u->bytes),
	    ns(u->took), named(u->status), named(u->cause));
}

/* ---- between apps, and inside one ---- */

static void on_inverted(void *ctx, const struct bsa_inverted *i)
{
	struct bsa_store *s = ctx;

	ROW(s, INVERSION, ref(i->victim), ref(i->holder), i->lane, when(s->offset, i->began), ns(i->dur));
}

static void on_starved(void *ctx, const struct bsa_starved *v)
{
	struct bsa_store *s = ctx;

	ROW(s, STARVATION, ref(v->execution), ref(v->app), ref(v->model), when(s->offset, v->began), ns(v->gap),
	    v->bypassed, ref(v->top_culprit_app), ns(v->top_culprit_ns));
}

static void on_share(void *ctx, const struct bsa_share *h)
{
	struct bsa_store *s = ctx;

	ROW(s, SHARE, ref(h->app), ns(h->received), ns(h->entitled), bounded(h->max_lag),
	    when(s->offset, h->max_lag_at));
}

static void on_lag(void *ctx, const struct bsa_lag *l)
{
	struct bsa_store *s = ctx;

	ROW(s, LAG, when(s->offset, l->window_began), ref(l->app), ns(l->received), ns(l->entitled), bounded(l->lag));
}

static void on_interfered(void *ctx, const struct bsa_interfered *i)
{
	struct bsa_store *s = ctx;

	ROW(s, INTERFERENCE, ref(i->by), ref(i->app), ns(i->ns));
}

static void on_chosen(void *ctx, const struct bsa_chosen *c)
{
	struct bsa_store *s = ctx;

	ROW(s, CHOICE, NOTHING, when(s->offset, c->at), ref(c->chosen), ref(c->passed_over), c->honoured);
}

/* ---- single operations; losses ---- */

static void on_fmq_op(void *ctx, const struct bsa_fmq_op *o)
{
	struct bsa_store *s = ctx;

	ROW(s, FMQ_OP, NOTHING, ref(o->execution), when(s->offset, o->at), (o->queue & 3) | (o->write ? 4 : 0),
	    o->items, o->used, ns(o->blocked), ns(o->spun), ns(o->slept));
}

static void on_lookup(void *ctx, const struct bsa_lookup *l)
{
	struct bsa_store *s = ctx;

	ROW(s, LOOKUP, NOTHING, ref(l->execution), when(s->offset, l->at), l->slot, l->hit != 0);
}

static void on_operation(void *ctx, const struct bsa_operation *o)
{
	struct bsa_store *s = ctx;

	ROW(s, OPERATION, NOTHING, ref(o->execution), o->op, o->type, when(s->offset, o->began),
	    when(s->offset, o->ended));
}

static void on_lost(void *ctx, const struct bsa_lost *l)
{
	struct bsa_store *s = ctx;

	ROW(s, LOSS, ref(l->trace), l->cpu == UINT32_MAX ? NOTHING : l->cpu, ref(l->pid), when(s->offset, l->began),
	    when(s->offset, l->ended), count(l->events), count(l->packets));
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
	};
}

/* ---- traces ---- */

int bsa_store_trace(struct bsa_store *s, const struct bsa_trace_row *row, struct bsa_err *err)
{
	char room[4096];
	sqlite3_stmt *q = s->text_rows[TEXT_TRACE];
	cleanup_stmt sqlite3_stmt *same = NULL;

	if (s->code)
		return bsa_store_check(s, err);
	same = store_prepare(s, "SELECT path FROM trace WHERE uuid = ? AND id <> ?");
	if (!same)
		return bsa_store_check(s, err);
	bind_text(same, 1, row->uuid && *row->uuid ? row->uuid : NULL, room, sizeof(room));
	bind(same, 2, row->id);
	if (store_step(s, same))
		return bsa_fail(err, BSA_E_INPUT, "%s is in the database already (as %s)",
		                row->path ? row->path : "the trace", (const char *)sqlite3_column_text(same, 0));
	if (row->id > s->last_trace)
		s->last_trace = row->id;
	bind(q, 1, row->id);
	bind_text(q, 2, row->uuid, room, sizeof(room));
	bind_text(q, 3, row->path, room, sizeof(room));
	bind_text(q, 4, row->host, room, sizeof(room));
	bind_text(q, 5, row->session, room, sizeof(room));
	bind(q, 6, when(row->clock_offset, row->began));
	bind(q, 7, when(row->clock_offset, row->ended));
	bind(q, 8, count(row->events));
	bind(q, 9, count(row->lost_events));
	bind(q, 10, count(row->lost_packets));
	bind_text(q, 11, row->clock, room, sizeof(room));
	bind(q, 12, bounded(row->clock_offset));
	bind(q, 13, count(row->foreign));
	bind(q, 14, count(row->unusable));
	bind(q, 15, row->cut);
	store_do(s, q);
	return bsa_store_check(s, err);
}

int rows_init(struct bsa_store *s)
{
	static const char *const sql[TEXT_ROWS] = {
		[TEXT_TRACE] = "REPLACE INTO trace VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		[TEXT_APP] = "REPLACE INTO app VALUES(?,?,?,?,?)",
		[TEXT_PROCESS] = "REPLACE INTO stored_process VALUES(?,?,?,?,?,?)",
		[TEXT_MODEL] = "REPLACE INTO stored_model VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	};

	for (unsigned i = 0; i < TEXT_ROWS && !s->code; i++)
		s->text_rows[i] = store_prepare(s, sql[i]);
	return s->code;
}

void rows_fini(struct bsa_store *s)
{
	for (unsigned i = 0; i < TEXT_ROWS; i++)
		sqlite3_finalize(s->text_rows[i]);
	memset(s->text_rows, 0, sizeof(s->text_rows));
}

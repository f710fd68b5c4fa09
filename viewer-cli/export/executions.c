/*
 * executions.c -- executions for a trace viewer: each with its phases, its waits and the outcome of
 * its deadline, on the track of its stream.
 *
 * ORDER   Executions are read in the order of their ids, as they are stored. The events of one
 *         execution are emitted in the order of their times. Executions of a stream that overlap
 *         have tracks of their own side by side (bsv_row_for).
 * LOOKUP  Waits, preemptions and causes of misses are read ordered by execution, SPAN executions at a time.
 * WAITS   If one wait is all of the queue phase, one slice stands for both, and has both
 *         categories. Otherwise waits are inside the phase. If another execution held the lane
 *         during a wait, a flow joins the wait to an instant on that lane, at the begin of the
 *         wait. In each phase, the waits beyond the first WAITS_EACH of the execution are one slice: the
 *         number of all waits grows like that of the executions times that of those which run meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/template.h"
#include "export/world.h"

enum { SPAN = 1024, WAITS_EACH = 256 };

/* Columns of reports/export_executions.sql. */
enum column {
	ID,
	STREAM,
	SEQ,
	APP,
	MODEL,
	PRIORITY,
	PATH,
	STATUS,
	MISS,
	QUALITY,
	SIDES,
	COLD,
	FALLBACK,
	DEADLINE,
	LATENESS,
	MISSED_AT,
	PREEMPTIONS,
	REDO,
	CPU,
	SUBMITTED,
	REQUEST_WRITTEN,
	REQUEST_READ,
	DECODED,
	FENCED,
	ENQUEUED,
	DISPATCHED,
	RUN_ENDED,
	RESULT_WRITTEN,
	RESULT_READ,
	RETURNED,
	SIGNALLED,
	PREPARE_NS,
	SEND_NS,
	DECODE_NS,
	FENCE_NS,
	SLOTS_NS,
	QUEUE_NS,
	REPLY_NS,
	RETURN_NS,
	FINISH_NS,
	SIGNAL_NS
};

/*
 * Phases in the order of their time. @otherwise: where it begins if the first is unknown. Run and
 * what interrupts it are drawn apart.
 */
static const struct phase {
	const char *name;
	enum column began, otherwise, length;
} phases[] = {
	{ "prepare", SUBMITTED, SUBMITTED, PREPARE_NS },
	{ "send", REQUEST_WRITTEN, REQUEST_WRITTEN, SEND_NS },
	{ "decode", REQUEST_READ, REQUEST_READ, DECODE_NS },
	{ "fence", DECODED, DECODED, FENCE_NS },
	{ "slots", FENCED, DECODED, SLOTS_NS },
	{ "queue", ENQUEUED, ENQUEUED, QUEUE_NS },
	{ "run", DISPATCHED, DISPATCHED, RUN_ENDED },
	{ "reply", RUN_ENDED, RUN_ENDED, REPLY_NS },
	{ "return", RESULT_WRITTEN, RESULT_WRITTEN, RETURN_NS },
	{ "finish", RESULT_READ, RESULT_READ, FINISH_NS },
	{ "signal", RUN_ENDED, RUN_ENDED, SIGNAL_NS },
};

/* Rows read beside executions, by execution id. */
struct beside {
	struct bsa_query *q;
	int64_t to; /* end of the span of ids that was queried */
	bool row;
};

struct telling {
	struct bsv_world *w;
	enum bsv_detail_of_export detail;
	struct bsa_query *q;
	struct beside waits, preemptions, causes;
	struct bsa_query *last_wait;
	uint64_t flows; /* number of flows of waits so far */
	struct bsa_err *err;
	int failed; /* 0, or negative */
	/* the current execution: */
	int64_t id, began, ended, drawn; /* drawn: until then */
	struct bsv_stream_of *stream;
	struct bsv_owner *owner;
	struct bsv_sequence *q_of;
	uint64_t process;
	bool answered; /* its flow has ended */
	unsigned waits_drawn;
	char parts[BSV_ARGS_MOST][40], cause[40]; /* names of arguments, and the primary cause */
};

/* ---- rows ---- */

static bool column_known(const struct bsa_query *q, size_t column, int64_t *ret)
{
	if (bsa_query_type(q, column) != BSA_INT)
		return false;
	*ret = bsa_query_get_int(q, column);
	return true;
}

static const char *text_of(const struct bsa_query *q, size_t column)
{
	return bsa_query_get_string(q, column, NULL);
}

static void beside_step(struct telling *t, struct beside *b)
{
	int r = bsa_query_step(b->q, t->err);

	b->row = r > 0;
	if (r < 0)
		t->failed = r;
}

/* To the first row of the execution under way, if there is one. Executions come in the order of their ids. */
static bool beside_seek(struct telling *t, struct beside *b)
{
	if (t->id > b->to) {
		b->to = t->id > INT64_MAX - SPAN ? INT64_MAX : t->id + SPAN - 1;
		bsa_query_again(b->q);
		bsa_query_int(b->q, ":from", t->id);
		bsa_query_int(b->q, ":to", b->to);
		beside_step(t, b);
	}
	while (b->row && bsa_query_get_int(b->q, 0) < t->id)
		beside_step(t, b);
	return b->row && bsa_query_get_int(b->q, 0) == t->id;
}

/* ---- slices ---- */

static struct bsv_sink_event event_of(const struct telling *t, const char *name, unsigned category, int64_t began,
                                      int64_t ended)
{
	return (struct bsv_sink_event){ .track = t->q_of->track,
		                        .process = t->process,
		                        .at = began,
		                        .until = ended,
		                        .name = { name, 0 },
		                        .categories = 1u << category };
}

static void draw_slice(struct telling *t, const struct bsv_sink_event *e)
{
	struct bsv_sink *s = t->w->sink;

	s->begin(s, t->q_of, e);
	s->end(s, t->q_of, e);
}

/* ---- waits: execution_id, began, ended, kind, lane, occupancy, blocker_id, blocker_app_id, cause, open, n ---- */

enum {
	WAIT_BEGAN = 1,
	WAIT_ENDED,
	WAIT_KIND,
	WAIT_LANE,
	WAIT_OCCUPANCY,
	WAIT_BLOCKER,
	WAIT_APP,
	WAIT_CAUSE,
	WAIT_OPEN,
	WAIT_N
};

static void wait_args(struct telling *t, struct bsv_args *args)
{
	const struct bsa_query *q = t->waits.q;
	struct bsv_sink_text app;
	int64_t value;

	bsv_arg_text(args, "cause", text_of(q, WAIT_CAUSE), 0);
	bsv_arg_text(args, "occupancy", text_of(q, WAIT_OCCUPANCY), 0);
	bsv_arg_text(args, "open", text_of(q, WAIT_OPEN), 0);
	if (column_known(q, WAIT_BLOCKER, &value))
		bsv_arg_int(args, "blocker_id", value);
	if (!column_known(q, WAIT_APP, &value))
		return;
	app = bsv_named_text(&t->w->apps, value);
	bsv_arg_text(args, "blocker_app", app.text, app.key);
}

/* A flow's number: those of executions are even. */
static uint64_t wait_flow(struct telling *t)
{
	int64_t blocker;

	return column_known(t->waits.q, WAIT_BLOCKER, &blocker) && t->stream ? 2 * ++t->flows + 1 : 0;
}

/* On the lane that was held, at the time at which this wait began. */
static void draw_holder(struct telling *t, uint64_t flow, int64_t at)
{
	struct bsv_service_of *service = t->stream ? &t->w->services[t->stream->service] : NULL;
	struct bsv_sink_event e;
	struct bsv_args args = { 0 };
	int64_t lane, blocker;

	if (!flow || !column_known(t->waits.q, WAIT_LANE, &lane) || !column_known(t->waits.q, WAIT_BLOCKER, &blocker))
		return;
	bsv_arg_int(&args, "id", blocker);
	bsv_arg_int(&args, "waiting_id", t->id);
	e = event_of(t, "waited for", BSV_CAT_HOLDER, at, at);
	e.track = bsv_service_lane(t->w, service, lane);
	e.process = service->track;
	e.flow = flow;
	e.flow_ends = true;
	e.args = &args;
	t->w->sink->instant(t->w->sink, t->q_of, &e);
}

static void draw_wait(struct telling *t, int64_t began, int64_t ended, int64_t until)
{
	const char *cause = text_of(t->waits.q, WAIT_CAUSE);
	struct bsv_sink_event e = event_of(t, cause ? cause : "unknown", BSV_CAT_WAIT, began, ended);
	struct bsv_args args = { 0 };

	wait_args(t, &args);
	e.args = &args;
	e.flow = wait_flow(t);
	if (began >= t->drawn && ended >= began && ended <= until) {
		t->w->sink->begin(t->w->sink, t->q_of, &e);
		draw_holder(t, e.flow, began);
		t->w->sink->end(t->w->sink, t->q_of, &e);
		t->drawn = ended;
		return;
	}
	bsv_arg_int(&args, "began", began); /* a contradiction in the database, which is exported as it is */
	bsv_arg_int(&args, "ended", ended);
	e.flow = 0;
	e.at = t->drawn;
	t->w->sink->instant(t->w->sink, t->q_of, &e);
}

/* Waits that follow each other, drawn as one. */
struct more_waits {
	int64_t n, began, ended;
};

static void draw_more_waits(struct telling *t, const struct more_waits *more, int64_t until)
{
	int64_t began = more->began > t->drawn ? more->began : t->drawn,
		ended = more->ended < until ? more->ended : until;
	struct bsv_sink_event e = event_of(t, "more waits", BSV_CAT_WAIT, began, ended);
	struct bsv_args args = { 0 };

	if (!more->n)
		return;
	bsv_arg_int(&args, "waits", more->n);
	e.args = &args;
	if (ended < began) { /* a contradiction in the database, as in draw_wait */
		e.at = t->drawn;
		t->w->sink->instant(t->w->sink, t->q_of, &e);
		return;
	}
	draw_slice(t, &e);
	t->drawn = ended;
}

/* Those that begin before @before, of the execution under way. They end until @until at most. */
static void draw_waits(struct telling *t, int64_t before, int64_t until)
{
	struct more_waits more = { 0 };

	if (t->detail != BSV_EXPORT_ALL)
		return;
	while (!t->failed && beside_seek(t, &t->waits)) {
		int64_t began = bsa_query_get_int(t->waits.q, WAIT_BEGAN),
			ended = bsa_query_get_int(t->waits.q, WAIT_ENDED);

		if (began >= before)
			break;
		if (t->waits_drawn < WAITS_EACH) {
			t->waits_drawn++;
			draw_wait(t, began, ended, until);
		} else {
			more.began = more.n ? more.began : began;
			more.ended = more.n && more.ended > ended ? more.ended : ended;
			more.n += bsa_query_get_int(t->waits.q, WAIT_N);
		}
		beside_step(t, &t->waits);
	}
	draw_more_waits(t, &more, until);
}

/* ---- phases ---- */

/* A phase in which it waits. */
static void draw_waiting(struct telling *t, const char *name, int64_t began, int64_t ended)
{
	struct bsv_sink_event e = event_of(t, name, BSV_CAT_PHASE, began, ended);
	bool waits = t->detail == BSV_EXPORT_ALL && beside_seek(t, &t->waits);
	struct bsv_args args = { 0 };

	e.args = &args;
	if (waits && bsa_query_get_int(t->waits.q, WAIT_BEGAN) == began &&
	    bsa_query_get_int(t->waits.q, WAIT_ENDED) == ended) {
		wait_args(t, &args);
		e.flow = wait_flow(t);
		e.categories |= 1u << BSV_CAT_WAIT;
		t->w->sink->begin(t->w->sink, t->q_of, &e);
		draw_holder(t, e.flow, began);
		beside_step(t, &t->waits);
	} else {
		t->w->sink->begin(t->w->sink, t->q_of, &e);
	}
	draw_waits(t, ended, ended);
	t->w->sink->end(t->w->sink, t->q_of, &e);
	t->drawn = ended;
}

/* preemptions: execution_id, stopped, resumed, by_execution_id, mode, redo_ns */
enum { STOPPED = 1, RESUMED };

static void draw_stretch(struct telling *t, int64_t began, int64_t ended)
{
	struct bsv_sink_event e = event_of(t, "run", BSV_CAT_PHASE, began, ended);

	if (ended > began)
		draw_slice(t, &e);
	t->drawn = ended;
}

/* Between @began and @ended it ran, but for when it was off its lane. */
static void draw_run(struct telling *t, int64_t began, int64_t ended)
{
	int64_t preempted, stopped, resumed;

	if (column_known(t->q, PREEMPTIONS, &preempted) && !preempted) {
		draw_stretch(t, began, ended);
		return;
	}
	for (; !t->failed && beside_seek(t, &t->preemptions); beside_step(t, &t->preemptions)) {
		if (!column_known(t->preemptions.q, STOPPED, &stopped) || stopped < t->drawn || stopped > ended)
			continue;
		if (!column_known(t->preemptions.q, RESUMED, &resumed) || resumed > ended)
			resumed = ended;
		if (resumed < stopped)
			continue;
		draw_stretch(t, t->drawn, stopped);
		draw_waiting(t, "preempted", stopped, resumed);
	}
	draw_stretch(t, t->drawn, ended);
}

static void draw_phase(struct telling *t, const struct phase *p)
{
	struct bsv_sink_event e;
	int64_t began, length, ended;

	if ((!column_known(t->q, p->began, &began) && !column_known(t->q, p->otherwise, &began)) ||
	    !column_known(t->q, p->length, &length))
		return;
	ended = length;
	if (p->length != RUN_ENDED && __builtin_add_overflow(began, length, &ended))
		return;
	draw_waits(t, began, began);
	if (began < t->drawn || ended > t->ended || ended <= began)
		return;
	t->drawn = began;
	if (p->length == QUEUE_NS) {
		draw_waiting(t, p->name, began, ended);
	} else if (p->length == RUN_ENDED) {
		draw_run(t, began, ended);
	} else {
		e = event_of(t, p->name, BSV_CAT_PHASE, began, ended);
		if (p->began >= RUN_ENDED && !t->answered && t->detail == BSV_EXPORT_ALL) {
			e.flow = 2 * (uint64_t)t->id;
			e.flow_ends = t->answered = true;
		}
		draw_slice(t, &e);
		t->drawn = ended;
	}
}

/* ---- one execution ---- */

static void find_ends(struct telling *t)
{
	int64_t at;
	bool any = false;

	for (size_t c = SUBMITTED; c <= SIGNALLED; c++) {
		if (!column_known(t->q, c, &at))
			continue;
		t->began = any && t->began < at ? t->began : at;
		t->ended = any && t->ended > at ? t->ended : at;
		any = true;
	}
	if (!any && !column_known(t->q, MISSED_AT, &t->began) && !column_known(t->q, DEADLINE, &t->began))
		t->began = t->w->clocks.began;
	if (!any)
		t->ended = t->began;
	if (t->detail != BSV_EXPORT_ALL || (column_known(t->q, QUEUE_NS, &at) && column_known(t->q, RUN_ENDED, &at)))
		return;
	bsa_query_again(t->last_wait); /* the last wait may end later than everything else that is known */
	bsa_query_int(t->last_wait, ":id", t->id);
	if (bsa_query_step(t->last_wait, t->err) > 0 && column_known(t->last_wait, 0, &at) && at > t->ended)
		t->ended = at;
	if (column_known(t->last_wait, 1, &at) && at < t->began)
		t->began = at;
}

static void draw_execution(struct telling *t)
{
	struct bsv_sink *s = t->w->sink;
	struct bsv_sink_event e;
	const char *quality = text_of(t->q, QUALITY), *sides = text_of(t->q, SIDES);
	struct bsv_args args = { 0 };
	int64_t model, value;

	t->drawn = t->began;
	t->answered = false;
	t->waits_drawn = 0;
	bsv_arg_int(&args, "id", t->id);
	bsv_arg_int(&args, "seq", bsa_query_get_int(t->q, SEQ));
	bsv_arg_text(&args, "priority", text_of(t->q, PRIORITY), 0);
	bsv_arg_text(&args, "status", text_of(t->q, STATUS), 0);
	if (quality && strcmp(quality, "complete"))
		bsv_arg_text(&args, "quality", quality, 0);
	if (sides && strcmp(sides, "both"))
		bsv_arg_text(&args, "sides", sides, 0);
	if (column_known(t->q, COLD, &value) && value)
		bsv_arg_int(&args, "cold", value);
	if (column_known(t->q, FALLBACK, &value) && value)
		bsv_arg_int(&args, "fallback", value);
	if (column_known(t->q, REDO, &value) && value)
		bsv_arg_int(&args, "redo_ns", value);
	if (column_known(t->q, CPU, &value))
		bsv_arg_int(&args, "cpu_ns", value);

	e = event_of(t, text_of(t->q, PATH), BSV_CAT_EXECUTION, t->began, t->ended);
	e.name = bsv_named_text(&t->w->models, column_known(t->q, MODEL, &model) ? model : -1);
	if (!e.name.text)
		e.name = (struct bsv_sink_text){ text_of(t->q, PATH) ? text_of(t->q, PATH) : "execution", 0 };
	e.args = &args;
	e.flow = t->detail == BSV_EXPORT_ALL ? 2 * (uint64_t)t->id : 0;
	s->begin(s, t->q_of, &e);
	for (size_t p = 0; p < sizeof(phases) / sizeof(*phases); p++)
		draw_phase(t, &phases[p]);
	draw_waits(t, INT64_MAX, t->ended);
	s->end(s, t->q_of, &e);
}

/* ---- its deadline ---- */

/* causes: execution_id, cause, late_ns of all culprits, is_primary, culprit_execution_id, culprit_app_id */
enum { CAUSE_NAME = 1, CAUSE_LATE, CAUSE_PRIMARY, CAUSE_EXECUTION, CAUSE_APP };

/* The primary cause comes first; then each has its part of the lateness. */
static void miss_args(struct telling *t, struct bsv_args *args)
{
	static const char part[] = "late_ns: ";
	struct bsv_sink_text app = { NULL, 0 };
	int64_t value;

	for (; !t->failed && beside_seek(t, &t->causes); beside_step(t, &t->causes)) {
		const char *cause = text_of(t->causes.q, CAUSE_NAME);

		if (column_known(t->causes.q, CAUSE_PRIMARY, &value) && value) {
			snprintf(t->cause, sizeof(t->cause), "%s",
			         cause ? cause : "unknown"); /* the row's is gone with it */
			bsv_arg_text(args, "cause", t->cause, 0);
			if (column_known(t->causes.q, CAUSE_EXECUTION, &value))
				bsv_arg_int(args, "culprit_id", value);
			if (column_known(t->causes.q, CAUSE_APP, &value))
				app = bsv_named_text(&t->w->apps, value);
			bsv_arg_text(args, "culprit_app", app.text, app.key);
		}
		if (args->n < BSV_ARGS_MOST && column_known(t->causes.q, CAUSE_LATE, &value)) {
			snprintf(t->parts[args->n], sizeof(t->parts[0]), "%s%s", part, cause ? cause : "unknown");
			bsv_arg_int(args, t->parts[args->n], value);
		}
	}
}

static void draw_mark(struct telling *t, const char *name, unsigned category, int64_t at, const struct bsv_args *args)
{
	uint64_t process = bsv_owner_track(t->w, t->owner);
	struct bsv_sink_event e = {
		.process = process, .at = at, .name = { name, 0 }, .categories = 1u << category, .args = args
	};

	if (!t->owner->deadlines)
		t->owner->deadlines = bsv_world_track(t->w, BSV_TRACK_SLICES, process, process, 0, "deadlines");
	e.track = t->owner->deadlines;
	t->w->sink->instant(t->w->sink, &t->w->beside, &e);
}

static void draw_deadline(struct telling *t)
{
	const char *miss = text_of(t->q, MISS);
	struct bsv_args args = { 0 };
	int64_t deadline = 0, value, at;
	bool has = column_known(t->q, DEADLINE, &deadline);

	bsv_arg_int(&args, "id", t->id);
	if (has && t->detail != BSV_EXPORT_LANES)
		draw_mark(t, "deadline", BSV_CAT_DEADLINE, deadline, &args);
	if (!miss)
		return;
	at = t->ended;
	if (!strcmp(miss, "predicted") && column_known(t->q, MISSED_AT, &value))
		at = value;
	else if (strcmp(miss, "predicted") && has && column_known(t->q, LATENESS, &value))
		__builtin_add_overflow(deadline, value, &at);
	bsv_arg_text(&args, "miss", miss, 0);
	if (column_known(t->q, LATENESS, &value))
		bsv_arg_int(&args, "lateness_ns", value);
	miss_args(t, &args);
	draw_mark(t, "missed", BSV_CAT_MISS, at, &args);
}

/* ---- all of them ---- */

static void draw_row(struct telling *t)
{
	char name[40];
	struct bsv_row *row;
	uint64_t parent;

	t->id = bsa_query_get_int(t->q, ID);
	t->stream = bsv_world_stream(t->w, bsa_query_get_int(t->q, STREAM));
	t->owner = t->stream ? t->stream->owner : bsv_world_shown(t->w, bsa_query_get_int(t->q, APP));
	find_ends(t);
	if (t->detail != BSV_EXPORT_LANES) {
		struct bsv_side_by_side *rows = t->stream ? &t->stream->rows : &t->w->streamless;

		parent = t->process =
			t->stream ? bsv_owner_track(t->w, t->owner) : bsv_owner_track(t->w, bsv_world_app(t->w, -1));
		if (t->stream)
			snprintf(name, sizeof(name), "%s %lld", t->stream->path, (long long)t->stream->number);
		else
			snprintf(name, sizeof(name), "no stream");
		row = bsv_row_for(t->w, rows, t->began, t->ended, parent, t->process, name);
		if (!row)
			return;
		t->q_of = &row->sequence;
		draw_execution(t);
	}
	draw_deadline(t);
}

static int open_beside(struct telling *t, struct beside *b, const char *sql)
{
	b->to = INT64_MIN;
	return bsv_query_new(&b->q, t->w->input->db, sql,
	                     (const struct bsv_placeholder[]){ { "cause", bsv_sql_wait_run_cause }, { NULL, NULL } },
	                     t->err);
}

int bsv_draw_executions(struct bsv_world *w, enum bsv_detail_of_export detail, struct bsa_err *err)
{
	struct telling t = { .w = w, .detail = detail, .err = err };
	int r = bsv_query_new(&t.q, w->input->db, bsv_sql_export_executions,
	                      (const struct bsv_placeholder[]){ { "relations", w->input->with }, { NULL, NULL } }, err);

	if (r >= 0) {
		bsa_query_int(t.q, ":all", detail != BSV_EXPORT_LANES);
		r = open_beside(&t, &t.waits, bsv_sql_export_waits);
	}
	if (r >= 0)
		bsa_query_int(t.waits.q, ":each", WAITS_EACH + 1); /* also if draw_waiting draws the first one */
	if (r >= 0)
		r = open_beside(&t, &t.preemptions, bsv_sql_export_preemptions);
	if (r >= 0)
		r = open_beside(&t, &t.causes, bsv_sql_export_causes);
	if (r >= 0)
		r = bsa_query_new(&t.last_wait, w->input->db, bsv_sql_export_wait_ends, err);
	while (r >= 0 && !t.failed && !w->sink->failed && (r = bsa_query_step(t.q, err)) > 0) {
		draw_row(&t);
		if (w->no_memory)
			r = bsv_no_memory(err);
	}
	bsa_query_free(t.q);
	bsa_query_free(t.waits.q);
	bsa_query_free(t.preemptions.q);
	bsa_query_free(t.causes.q);
	bsa_query_free(t.last_wait);
	return r < 0 ? r : t.failed;
}

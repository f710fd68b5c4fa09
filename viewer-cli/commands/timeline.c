/* timeline.c -- burstscope timeline: draws lanes and queues as text, around a time, an execution or a miss. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "base/quantity.h"
#include "base/scoped.h"
#include "base/template.h"
#include "input/which.h"
#include "render/bars.h"
#include "render/render.h"
#include "render/timeline.h"

enum {
	AROUND_NS = 50000000, /* default span around a time */
	AROUND_TIMES = 3,     /* default span around an execution, as a multiple of its length */
	ROWS_MOST = 10000,    /* default limit of rows of each part */
	WIDTH_MOST = 1000,
};

/* Times of a database are limited to plus or minus this. */
#define TIME_MOST ((int64_t)1 << 62)

struct options {
	const char *around;
	struct bsv_quantity span;
	unsigned width;
	int by;
};

enum { BY_APP, BY_MODEL };

static const char *const bys[] = { "app", "model", NULL };

static const struct bsv_option options[] = {
	{ .name = "around",
	  .kind = BSV_TEXT,
	  .argument = "WHAT",
	  .says = "centre on an execution (as in burstscope explain) or on a time such as 1.5s",
	  .offset = offsetof(struct options, around) },
	{ .name = "span",
	  .kind = BSV_DURATION,
	  .argument = "T",
	  .says = "length shown (default: 3 times the execution; 50ms for a time)",
	  .offset = offsetof(struct options, span) },
	{ .name = "width",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "width in columns (default: the terminal's)",
	  .offset = offsetof(struct options, width),
	  .most = WIDTH_MOST },
	{ .name = "by",
	  .kind = BSV_CHOICE,
	  .argument = "app|model",
	  .says = "show the queues of apps or of models",
	  .offset = offsetof(struct options, by),
	  .choices = bys },
	{ .name = NULL },
};

enum { STREAMS = 256, SERVICES = 64 };

/* A service, and the time in which executions without a recorded end may have held its lanes. */
struct open_service {
	int64_t service, from, until;
};

struct asked {
	const struct bsv_call *call;
	const struct options *options;
	struct bsv_input input;
	struct bsv_answer *answer;
	struct bsv_timeline *timeline;
	struct bsa_query *stretches; /* stretches on lanes of execution :id */
	struct bsa_query *services;  /* service of stream :id */
	struct {
		int64_t stream, service;
	} served[STREAMS]; /* cache of the services of streams, by stream modulo STREAMS */
	struct open_service open[SERVICES];
	size_t n_open;
	int64_t undated;     /* missed deadlines of which it is not known when */
	int64_t focus;       /* execution.id in the focus; 0: no focus */
	int64_t from, to;    /* time since the recording began */
	int64_t first, last; /* range of the execution.ids that may be drawn */
};

static void asked_fini(struct asked *a)
{
	bsv_timeline_free(a->timeline);
	bsa_query_free(a->stretches);
	bsa_query_free(a->services);
	bsv_answer_free(a->answer);
	bsv_input_close(&a->input);
}

/* ---- time range ---- */

static int64_t clamp_between(int64_t v, int64_t least, int64_t most)
{
	return v < least ? least : v > most ? most : v;
}

static int64_t recording_length(const struct asked *a)
{
	return clamp_between(bsv_input_length(&a->input), 1, TIME_MOST);
}

/* The time of an execution, from its first recorded event to its last. */
static int execution_time(const struct asked *a, int64_t id, int64_t *began, int64_t *ended, struct bsa_err *err)
{
	bsv_scoped_text *sql = bsv_which_fill(&a->input, bsv_sql_explain_execution, id), *all = NULL;
	bsv_scoped_rows *rows = NULL;
	int r;

	all = sql ? bsv_fill(bsv_sql_timeline_time,
	                     (const struct bsv_placeholder[]){ { "execution", sql }, { NULL, NULL } })
	          : NULL;
	r = all ? bsv_rows_query(&rows, a->input.db, all, err) : bsv_no_memory(err);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r < 0)
		return r;
	if (!r || bsv_rows_cell(rows, 0).type != BSA_INT)
		return bsa_fail(err, BSA_E_USAGE, "execution %" PRId64 " has no recorded time", id);
	*began = bsv_rows_get(rows, 0, 0);
	*ended = bsv_rows_get(rows, 1, *began);
	return 0;
}

/* Set a->from and a->to by --around and --span, or by --from and --to. */
static int read_range(struct asked *a, struct bsa_err *err)
{
	const struct bsv_asked *asked = &a->call->asked;
	const struct bsv_quantity *span = &a->options->span;
	const char *around = a->options->around;
	int64_t began, ended, all = AROUND_NS;
	int r;

	if (!around) {
		a->from = asked->from.given ? clamp_between(asked->from.value, 0, recording_length(a) - 1) : 0;
		a->to = asked->to.given ? clamp_between(asked->to.value, a->from + 1, recording_length(a))
		                        : recording_length(a);
		return 0;
	}

	if (bsv_duration_read(around, &began)) {
		ended = began;
		if (began > recording_length(a))
			return bsa_fail(err, BSA_E_USAGE, "--around %s is after the end of the recording", around);
	} else {
		r = bsv_which(&a->focus, &a->input, around, err);
		if (r >= 0)
			r = execution_time(a, a->focus, &began, &ended, err);
		if (r < 0)
			return r;
		began = clamp_between(began, -TIME_MOST / 8, TIME_MOST / 8);
		ended = clamp_between(ended, began + 1, TIME_MOST / 8 + 1);
		all = AROUND_TIMES * (ended - began);
	}
	if (span->given)
		all = clamp_between(span->value, 1, TIME_MOST / 2);
	a->from = began + (ended - began) / 2 - all / 2;
	a->to = a->from + all;
	return 0;
}

/* ---- queries ---- */

/* @relative counts from the start of the recording. */
static int64_t absolute_time(const struct asked *a, int64_t relative)
{
	int64_t ret;

	if (__builtin_add_overflow(a->input.began, relative, &ret))
		return relative < 0 ? INT64_MIN : INT64_MAX;
	return ret;
}

static char *range_sql(const struct asked *a, const char *template)
{
	bsv_scoped_text *within = NULL;
	char began[32], ended[32], from[32], to[32], first[32], last[32], limit[32];
	struct bsv_placeholder placeholders[] = { { "under_way", "1" }, /* the whole recording needs no condition */
		                                  { "with", a->input.with },
		                                  { "began", began },
		                                  { "ended", ended },
		                                  { "from", from },
		                                  { "to", to },
		                                  { "first", first },
		                                  { "last", last },
		                                  { "limit", limit },
		                                  { "cause", bsv_sql_wait_run_cause },
		                                  { "by", a->options->by == BY_APP ? "app_id" : "model_id" },
		                                  { NULL, NULL } };

	snprintf(began, sizeof(began), "%" PRId64, a->input.began);
	snprintf(ended, sizeof(ended), "%" PRId64, absolute_time(a, recording_length(a)));
	snprintf(from, sizeof(from), "%" PRId64, absolute_time(a, a->from));
	snprintf(to, sizeof(to), "%" PRId64, absolute_time(a, a->to));
	snprintf(first, sizeof(first), "%" PRId64, a->first);
	snprintf(last, sizeof(last), "%" PRId64, a->last);
	snprintf(limit, sizeof(limit), "%u", a->call->asked.limit ? a->call->asked.limit : ROWS_MOST);
	if (a->from > 0 || a->to < recording_length(a)) {
		within = bsv_fill(bsv_sql_under_way, placeholders);
		if (!within)
			return NULL;
		placeholders[0].text = within;
	}
	return bsv_fill(template, placeholders);
}

/* A function called with each row. */
typedef void row_function(struct asked *a, const struct bsv_rows *row);

static int rows_each(struct asked *a, const char *sql, const struct bsv_value *values, row_function *tell,
                     struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_rows_bound(&rows, a->input.db, sql, values, err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
		tell(a, rows);
	return r;
}

/* ---- for people ---- */

/* Columns of timeline_drawn.sql. */
enum { WHAT, BEGAN, ENDED, APP, WHO, STREAM, LANE, READY, NOT_READY, DEADLINE, MISSED, ID, UNTIL, IS_MISS };
enum { AN_EXECUTION, A_WAIT, A_PREEMPTION };

/*
 * Read an integer; false: NULL. A million rows are read: their types are asked for only where the
 * value alone is ambiguous.
 */
static bool query_int(const struct bsa_query *q, size_t column, int64_t *ret)
{
	int64_t value = bsa_query_get_int(q, column);

	if (!value && bsa_query_type(q, column) != BSA_INT)
		return false;
	*ret = value;
	return true;
}

/* @at relative to the start of the recording. */
static int64_t relative_time(const struct asked *a, int64_t at)
{
	int64_t ret;

	if (__builtin_sub_overflow(at, a->input.began, &ret))
		return at < 0 ? INT64_MIN : INT64_MAX;
	return ret;
}

/* The service of stream @id, numbered as in add_all. */
static int64_t service_of(struct asked *a, int64_t id)
{
	size_t i = (uint64_t)id % STREAMS;

	if (a->served[i].stream != id) {
		bsa_query_again(a->services);
		bsa_query_int(a->services, ":id", id);
		a->served[i].service = bsa_query_step(a->services, NULL) > 0 ? bsa_query_get_int(a->services, 0) : 0;
		a->served[i].stream = id;
	}
	return a->served[i].service;
}

static void add_execution(struct asked *a, const struct bsa_query *q)
{
	int64_t app = 0, began = 0, ended, stream, lane, at;
	bool had_lane = query_int(q, BEGAN, &began);

	if (had_lane && query_int(q, LANE, &lane)) {
		if (query_int(q, ENDED, &ended) && query_int(q, STREAM, &stream)) {
			query_int(q, APP, &app);
			bsv_timeline_held(a->timeline, service_of(a, stream), lane, app, began, ended);
		}
	} else if (had_lane && query_int(q, ID, &at)) {
		/* Draw each stretch of an execution that was on lanes several times. */
		query_int(q, APP, &app);
		bsa_query_again(a->stretches);
		bsa_query_int(a->stretches, ":id", at);
		while (bsa_query_step(a->stretches, NULL) > 0)
			bsv_timeline_held(a->timeline, bsa_query_get_int(a->stretches, 0),
			                  bsa_query_get_int(a->stretches, 1), app,
			                  relative_time(a, bsa_query_get_int(a->stretches, 2)),
			                  relative_time(a, bsa_query_get_int(a->stretches, 3)));
	}
	/* The end of an execution's run is not recorded: it may have held a lane until it was over. */
	if ((had_lane || query_int(q, READY, &began)) && query_int(q, UNTIL, &at) && query_int(q, STREAM, &stream)) {
		int64_t service = service_of(a, stream);
		struct open_service *o = a->open;

		while (o < a->open + a->n_open && o->service != service)
			o++;
		if (o == a->open + a->n_open && a->n_open < SERVICES) {
			*o = (struct open_service){ service, began, at };
			a->n_open++;
		}
		if (o < a->open + a->n_open) {
			o->from = began < o->from ? began : o->from;
			o->until = at > o->until ? at : o->until;
		}
	}
	if (query_int(q, DEADLINE, &at))
		bsv_timeline_mark(a->timeline, BSV_MARK_DEADLINE, at);
	if (query_int(q, MISSED, &at))
		bsv_timeline_mark(a->timeline, BSV_MARK_MISSED, at);
	else if (query_int(q, IS_MISS, &at))
		a->undated += at;
}

/* Each column of a million rows is read once. */
static int add_all_drawn(struct asked *a, struct bsa_err *err)
{
	bsv_scoped_text *sql = range_sql(a, bsv_sql_timeline_drawn);
	bsv_scoped_query *q = NULL;
	int r = sql ? bsa_query_new(&q, a->input.db, sql, err) : bsv_no_memory(err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		int64_t what = bsa_query_get_int(q, WHAT), ready, not_ready, who, at;

		if (query_int(q, READY, &ready) && query_int(q, NOT_READY, &not_ready))
			bsv_timeline_waited(a->timeline, query_int(q, WHO, &who) ? who : 0, ready, not_ready);
		if (what == AN_EXECUTION)
			add_execution(a, q);
		else if (what == A_PREEMPTION && query_int(q, BEGAN, &at))
			bsv_timeline_mark(a->timeline, BSV_MARK_STOPPED, at);
	}
	return r;
}

static void add_lane(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_lane(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0));
}

static void add_loss(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_lost(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0));
}

static void add_unknown(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_unknown(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0), bsv_rows_get(r, 2, 0),
	                     bsv_rows_get(r, 3, 0));
}

static void add_silence(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_open(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0), bsv_rows_get(r, 2, 0));
}

static void add_focus_row(struct asked *a, const struct bsv_rows *r)
{
	static const enum bsv_state states[] = { BSV_UNDER_WAY, BSV_WAITING, BSV_ON_LANE };
	char name[32];

	snprintf(name, sizeof(name), "exec %" PRId64, a->focus);
	bsv_timeline_focus(a->timeline, name, states[bsv_rows_get(r, 0, 0)], bsv_rows_get(r, 1, 0),
	                   bsv_rows_get(r, 2, 0));
}

/* The first text that @template returns of @id; owned by the caller. NULL: no memory. */
static char *timeline_name_of(void *ctx, const char *template, const char *otherwise, int64_t id)
{
	struct asked *a = ctx;
	bsv_scoped_text *sql =
		bsv_fill(template, (const struct bsv_placeholder[]){ { "relations", a->input.with }, { NULL, NULL } });
	const struct bsv_value values[] = { { ":id", id, NULL }, { 0 } };
	bsv_scoped_rows *rows = NULL;

	if (!sql || bsv_rows_bound(&rows, a->input.db, sql, values, NULL) < 0)
		return NULL;
	if (bsv_rows_step(rows, NULL) > 0 && bsv_rows_cell(rows, 0).text)
		return strndup(bsv_rows_cell(rows, 0).text, bsv_rows_cell(rows, 0).bytes);
	return strdup(otherwise);
}

static char *app_name(void *ctx, int64_t id)
{
	return timeline_name_of(ctx, bsv_sql_timeline_app, "unknown app", id);
}

static char *model_name(void *ctx, int64_t id)
{
	return timeline_name_of(ctx, bsv_sql_timeline_model, "unknown model", id);
}

static void add_cpu(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_cpu(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0), bsv_rows_get(r, 2, 0),
	                 bsv_rows_get(r, 3, 0));
}

static int add_all(struct asked *a, struct bsa_err *err)
{
	const struct bsv_value zero = { ":began", a->input.began, NULL },
			       from = { ":from", absolute_time(a, a->from), NULL },
			       to = { ":to", absolute_time(a, a->to), NULL }, id = { ":id", a->focus, NULL };
	struct bsv_value first = { ":from", 0, NULL }, last = { ":to", 0, NULL };
	bsv_scoped_text *unknown = NULL;
	/* Add every lane of the services' rules. Without rules, drawn executions add the lanes that they held. */
	int r = rows_each(a, bsv_sql_timeline_lanes, (const struct bsv_value[]){ to, { 0 } }, add_lane, err);

	if (r >= 0)
		r = bsa_query_new(&a->stretches, a->input.db, bsv_sql_timeline_stretches, err);
	if (r >= 0)
		r = bsa_query_new(&a->services, a->input.db, bsv_sql_timeline_service, err);
	if (r >= 0)
		r = add_all_drawn(a, err);

	if (r >= 0)
		r = rows_each(a, bsv_sql_timeline_lost, (const struct bsv_value[]){ zero, { 0 } }, add_loss, err);
	unknown = r >= 0 ? range_sql(a, bsv_sql_timeline_unknown) : NULL;
	if (r >= 0)
		r = unknown ? rows_each(a, unknown, NULL, add_unknown, err) : bsv_no_memory(err);
	if (r >= 0)
		r = rows_each(a, bsv_sql_timeline_silences, (const struct bsv_value[]){ zero, { 0 } }, add_silence,
		              err);
	for (size_t i = 0; i < a->n_open; i++)
		bsv_timeline_open(a->timeline, a->open[i].service, a->open[i].from, a->open[i].until);

	if (r >= 0)
		r = rows_each(a, bsv_sql_timeline_threads, (const struct bsv_value[]){ zero, from, to, { 0 } }, add_cpu,
		              err);
	if (r < 0 || !a->focus)
		return r;
	r = execution_time(a, a->focus, &first.integer, &last.integer, err);
	if (r < 0)
		return r;
	return rows_each(a, bsv_sql_timeline_focus, (const struct bsv_value[]){ zero, first, last, id, { 0 } },
	                 add_focus_row, err);
}

static int timeline_draw(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err)
{
	struct asked *a = ctx;
	bool by_app = a->options->by == BY_APP;
	struct bsv_timeline_names names = { app_name, by_app ? app_name : model_name, a, bys[a->options->by] };
	int width = a->options->width ? (int)a->options->width : bsv_columns(screen), r;

	a->timeline = bsv_timeline_new(a->from, a->to, width);
	bsv_timeline_recorded(a->timeline, 0, recording_length(a));
	r = add_all(a, err);
	if (a->undated)
		bsv_answer_note(a->answer, "%" PRId64 " missed %s no mark: it is not known when the execution was over",
		                a->undated, a->undated == 1 ? "deadline has" : "deadlines have");
	return r < 0 ? r : bsv_timeline_draw(a->timeline, &names, to, screen, err);
}

/* ---- the command ---- */

static int timeline_run(const struct bsv_call *call, struct bsa_err *err)
{
	unsigned limit = call->asked.limit ? call->asked.limit : ROWS_MOST;
	__attribute__((cleanup(asked_fini))) struct asked a = { .call = call, .options = call->options };
	bool drawn = call->asked.format == BSV_TABLE && !call->asked.part && !call->asked.show_sql;
	bsv_scoped_rows *rows = NULL;
	const struct bsv_quantity *span = &a.options->span;
	const char *around = a.options->around;
	int64_t time;
	int r;

	if (around && (call->asked.from.given || call->asked.to.given))
		return bsa_fail(err, BSA_E_USAGE, "--around sets the time: leave out --from and --to");
	if (span->given && !around)
		return bsa_fail(err, BSA_E_USAGE, "--span needs --around");
	if (span->given && !span->value)
		return bsa_fail(err, BSA_E_USAGE, "--span: 0 is out of range");
	if (around && !bsv_duration_read(around, &time) && !bsv_is_which(around))
		return bsa_fail(err, BSA_E_USAGE,
		                "--around '%s' is neither an execution (its id, STREAM/SEQ, worst or slowest) nor a "
		                "time such as 1.5s",
		                around);
	r = bsv_input_open(&a.input, call->operands[0], call, err);
	if (r >= 0)
		r = bsv_input_needs_executions(&a.input, err);
	if (r >= 0)
		r = read_range(&a, err);
	if (r < 0)
		return r;

	/*
	 * Find the executions that may be under way between a.from and a.to: all, in an older
	 * database, which has no id_block.
	 */
	a.last = INT64_MAX;
	if (bsv_rows_bound(&rows, a.input.db, bsv_sql_timeline_ids,
	                   (const struct bsv_value[]){ { ":from", absolute_time(&a, a.from), NULL },
	                                               { ":to", absolute_time(&a, a.to), NULL },
	                                               { 0 } },
	                   NULL) >= 0 &&
	    bsv_rows_step(rows, err) > 0) {
		a.first = bsv_rows_get(rows, 0, 1);
		a.last = bsv_rows_get(rows, 1, 0);
	}
	rows = bsv_rows_free(rows);

	a.answer = bsv_answer_new(call, &a.input);
	if (bsv_rows_query(&rows, a.input.db, bsv_sql_timeline_native, NULL) >= 0 && bsv_rows_step(rows, NULL) > 0)
		bsv_answer_note(a.answer, "policy native has no lanes: when its executions ran was not recorded");
	if (drawn) {
		bsv_answer_draw(a.answer, timeline_draw, &a);
		return bsv_answer_print(a.answer, false, err);
	}
	bsv_answer_sql(a.answer, "slices", "holders of lanes", range_sql(&a, bsv_sql_timeline_slices));
	bsv_answer_sql(a.answer, "waits", "executions ready and not on a lane", range_sql(&a, bsv_sql_timeline_waits));
	bsv_answer_sql(a.answer, "marks", "misses, deadlines, preemptions", range_sql(&a, bsv_sql_timeline_marks));
	bsv_answer_sql(a.answer, "losses", "losses of events", range_sql(&a, bsv_sql_timeline_losses));
	bsv_answer_sql(a.answer, "cpus", "activity of cpus", range_sql(&a, bsv_sql_timeline_cpus));
	if (a.input.executions > (int64_t)limit)
		bsv_answer_note(a.answer, "at most %u rows of each part; change that with --limit", limit);
	return bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_timeline = {
	.name = "timeline",
	.operands = "[INPUT]",
	.says = "lanes and queues over time, as text",
	.examples = "  burstscope timeline                           # all of the newest recording\n"
		    "  burstscope timeline --around worst bursts.db  # around the most late miss\n"
		    "  burstscope timeline --around 1.5s --span 10ms # around a time\n"
		    "  burstscope timeline --from 1s --to 1.2s --by model --width 160 bursts.db\n",
	.more = "Each lane has two rows: the app that held it longest in each column, a letter for each app; and "
		"how much of the column it was held, in eighths. Below them: for each app or model, the number of "
		"executions that were ready and waiting; and marks of deadlines (|), missed deadlines (!), "
		"preemptions (^), and lost events (?). A question mark on a lane means that its holder is unknown: "
		"events were lost, or events about the "
		"lane were not recorded. A service with policy native has "
		"no lanes.\n"
		"If the kernel was recorded, too, a row for each cpu: how much of the column it ran threads.\n"
		"\n"
		"--format json or csv prints the stretches, not the drawing: the first 10000 of each part, or as "
		"many as --limit allows.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "slices", "waits", "marks", "losses", "cpus", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.whole = true,
	.run = timeline_run,
};

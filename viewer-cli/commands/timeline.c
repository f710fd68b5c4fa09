/* timeline.c -- burstscope timeline: lanes and queues as text, around a moment, an execution or a miss. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/scoped.h"
#include "answer/template.h"
#include "input/which.h"
#include "render/bars.h"
#include "render/render.h"
#include "render/timeline.h"

enum {
	AROUND_NS = 50000000, /* what is shown around a moment */
	AROUND_TIMES = 3,     /* and around an execution, of its length */
	ROWS_MOST = 10000,    /* of each part, unless --limit says otherwise */
	WIDTH_MOST = 1000,
};

/* Times of a database are between this and what is below 0 of it. */
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
	  .says = "centred on an execution (as explain takes it) or a time, as in 1.5s",
	  .offset = offsetof(struct options, around) },
	{ .name = "span",
	  .kind = BSV_DURATION,
	  .argument = "T",
	  .says = "so much around it (3 times the execution; 50ms of a time)",
	  .offset = offsetof(struct options, span) },
	{ .name = "width",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "columns, in place of the terminal's",
	  .offset = offsetof(struct options, width),
	  .most = WIDTH_MOST },
	{ .name = "by",
	  .kind = BSV_CHOICE,
	  .argument = "app|model",
	  .says = "whose queues are shown",
	  .offset = offsetof(struct options, by),
	  .choices = bys },
	{ .name = NULL },
};

enum { STREAMS = 256 };

struct asked {
	const struct bsv_call *call;
	const struct options *options;
	struct bsv_input input;
	struct bsv_answer *answer;
	struct bsv_timeline *timeline;
	struct bsa_query *stretches; /* of one execution, :id */
	struct bsa_query *services;  /* of one stream, :id */
	struct {
		int64_t stream, service;
	} served[STREAMS];   /* by stream: those that were asked for last */
	int64_t focus;       /* execution.id, or 0 */
	int64_t from, to;    /* since the recording began */
	int64_t first, last; /* execution.ids that may be in it */
};

static void asked_fini(struct asked *a)
{
	bsv_timeline_free(a->timeline);
	bsa_query_free(a->stretches);
	bsa_query_free(a->services);
	bsv_answer_free(a->answer);
	bsv_input_close(&a->input);
}

/* ---- when ---- */

static int64_t clamped(int64_t v, int64_t least, int64_t most)
{
	return v < least ? least : v > most ? most : v;
}

static int64_t length(const struct asked *a)
{
	return clamped(bsv_input_length(&a->input), 1, TIME_MOST);
}

/* @text is one time: "1.5s". */
static bool is_time(const char *text, int64_t *ret)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },  { "s", 1e9 },
		      { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 } };
	char *end;
	double v = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;

	for (size_t i = 0; v >= 0 && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].name) && v * units[i].ns < (double)TIME_MOST) {
			*ret = (int64_t)(v * units[i].ns + 0.5);
			return true;
		}
	return false;
}

/* Where an execution was, from the first to the last that is known of it. */
static int where(const struct asked *a, int64_t id, int64_t *began, int64_t *ended, struct bsa_err *err)
{
	char at[32], name[32];
	struct bsv_hole holes[] = { { "with", a->input.with }, { "began", at }, { "id", name }, { NULL, NULL } };
	bsv_scoped_text *sql = NULL, *all = NULL;
	bsv_scoped_rows *rows = NULL;
	int r;

	snprintf(at, sizeof(at), "%" PRId64, a->input.began);
	snprintf(name, sizeof(name), "%" PRId64, id);
	sql = bsv_fill(bsv_sql_explain_execution, holes);
	all = sql ? bsv_text("SELECT began_at, ended_at FROM (%s)", sql) : NULL;
	r = all ? bsv_rows_query(&rows, a->input.db, all, err) : bsv_no_memory(err);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r < 0)
		return r;
	if (!r || bsv_rows_cell(rows, 0).type != BSA_INT)
		return bsa_fail(err, BSA_E_USAGE, "nobody knows when execution %" PRId64 " was", id);
	*began = bsv_rows_get(rows, 0, 0);
	*ended = bsv_rows_get(rows, 1, *began);
	return 0;
}

/* --around and --span into a->from and a->to. */
static int around(struct asked *a, struct bsa_err *err)
{
	const struct bsv_quantity *span = &a->options->span;
	int64_t began, ended, all = AROUND_NS;

	if (is_time(a->options->around, &began)) {
		ended = began;
		if (began > length(a))
			return bsa_fail(err, BSA_E_USAGE, "--around %s is after the end of the recording",
			                a->options->around);
	} else {
		int r;

		if (!bsv_is_which(a->options->around))
			return bsa_fail(err, BSA_E_USAGE,
			                "--around '%s' is neither an execution (its id, STREAM/SEQ, worst or "
			                "slowest) nor a time such as 1.5s",
			                a->options->around);
		r = bsv_which(&a->focus, &a->input, a->options->around, err);
		if (r >= 0)
			r = where(a, a->focus, &began, &ended, err);
		if (r < 0)
			return r;
		began = clamped(began, -TIME_MOST / 8, TIME_MOST / 8);
		ended = clamped(ended, began + 1, TIME_MOST / 8 + 1);
		all = AROUND_TIMES * (ended - began);
	}
	if (span->given)
		all = clamped(span->value, 1, TIME_MOST / 2);
	a->from = began + (ended - began) / 2 - all / 2;
	a->to = a->from + all;
	return 0;
}

static int when(struct asked *a, struct bsa_err *err)
{
	const struct bsv_asked *asked = &a->call->asked;

	if (a->options->around && (asked->from.given || asked->to.given))
		return bsa_fail(err, BSA_E_USAGE, "--around says when: it does not go together with --from and --to");
	if (a->options->span.given && !a->options->around)
		return bsa_fail(err, BSA_E_USAGE, "--span says how much there is around something: give --around, too");
	if (a->options->span.given && !a->options->span.value)
		return bsa_fail(err, BSA_E_USAGE, "--span 0: there is nothing to be seen in no time at all");
	if (a->options->around)
		return around(a, err);
	a->from = asked->from.given ? clamped(asked->from.value, 0, length(a) - 1) : 0;
	a->to = asked->to.given ? clamped(asked->to.value, a->from + 1, length(a)) : length(a);
	return 0;
}

/* ---- what is asked ---- */

/* @relative is since the recording began. */
static int64_t absolute(const struct asked *a, int64_t relative)
{
	int64_t ret;

	if (__builtin_add_overflow(a->input.began, relative, &ret))
		return relative < 0 ? INT64_MIN : INT64_MAX;
	return ret;
}

/* SQL: executions that are under way between a->from and a->to. If that is all of the recording, none is held against the time. */
static char *under_way(const struct asked *a)
{
	if (a->from <= 0 && a->to >= length(a))
		return strdup("1");
	return bsv_text(
		"id BETWEEN %" PRId64 " AND %" PRId64 "\n"
		"\tAND coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, "
		"run_ended, result_written, result_read, returned, signalled) < %" PRId64 "\n"
		"\tAND coalesce(signalled, returned, result_read, result_written, run_ended, dispatched, enqueued, "
		"fenced, decoded, request_read, request_written, submitted) >= %" PRId64,
		a->first, a->last, absolute(a, a->to), absolute(a, a->from));
}

static char *fill(const struct asked *a, const char *template)
{
	bsv_scoped_text *within = under_way(a);
	char began[32], from[32], to[32], first[32], last[32], limit[32];
	struct bsv_hole holes[] = { { "with", a->input.with },
		                    { "began", began },
		                    { "from", from },
		                    { "to", to },
		                    { "first", first },
		                    { "last", last },
		                    { "limit", limit },
		                    { "under_way", within },
		                    { "by", a->options->by == BY_APP ? "app_id" : "model_id" },
		                    { NULL, NULL } };

	snprintf(began, sizeof(began), "%" PRId64, a->input.began);
	snprintf(from, sizeof(from), "%" PRId64, absolute(a, a->from));
	snprintf(to, sizeof(to), "%" PRId64, absolute(a, a->to));
	snprintf(first, sizeof(first), "%" PRId64, a->first);
	snprintf(last, sizeof(last), "%" PRId64, a->last);
	snprintf(limit, sizeof(limit), "%u", a->call->asked.limit ? a->call->asked.limit : ROWS_MOST);
	return within ? bsv_fill(template, holes) : NULL;
}

/* What is done with each row. */
typedef void told(struct asked *a, const struct bsv_rows *row);

static int each(struct asked *a, char *own, told *tell, struct bsa_err *err)
{
	bsv_scoped_text *sql = own;
	bsv_scoped_rows *rows = NULL;
	int r = sql ? bsv_rows_query(&rows, a->input.db, sql, err) : bsv_no_memory(err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
		tell(a, rows);
	return r;
}

/* ---- for people ---- */

/* Where the columns of timeline_drawn are. */
enum { WHAT, BEGAN, ENDED, APP, WHO, STREAM, LANE, READY, NOT_READY, DEADLINE, MISSED, SEVERAL };

/* Is there a number? Each column of a million rows is read once. */
static bool there(const struct bsv_rows *r, size_t column, int64_t *ret)
{
	struct bsv_cell cell = bsv_rows_cell(r, column);

	*ret = cell.integer;
	return cell.type == BSA_INT;
}

/* @at since the recording began. */
static int64_t relative(const struct asked *a, int64_t at)
{
	int64_t ret;

	if (__builtin_sub_overflow(at, a->input.began, &ret))
		return at < 0 ? INT64_MIN : INT64_MAX;
	return ret;
}

/* An execution that was on lanes more than once: each time. */
static void tell_stretches(struct asked *a, int64_t id, int64_t app)
{
	struct bsa_query *q = a->stretches;

	bsa_query_again(q);
	bsa_query_int(q, ":id", id);
	while (bsa_query_step(q, NULL) > 0)
		bsv_timeline_held(a->timeline, bsa_query_get_int(q, 0), bsa_query_get_int(q, 1), app,
		                  relative(a, bsa_query_get_int(q, 2)), relative(a, bsa_query_get_int(q, 3)));
}

/* The service of stream @id, as tell_lanes numbers it. */
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

static void tell_execution(struct asked *a, const struct bsv_rows *r)
{
	int64_t app, began, ended, stream, lane, at;

	if (!there(r, APP, &app))
		app = 0;
	if (there(r, BEGAN, &began) && there(r, ENDED, &ended) && there(r, STREAM, &stream) && there(r, LANE, &lane))
		bsv_timeline_held(a->timeline, service_of(a, stream), lane, app, began, ended);
	if (there(r, SEVERAL, &at))
		tell_stretches(a, at, app);
	if (there(r, DEADLINE, &at))
		bsv_timeline_mark(a->timeline, BSV_MARK_DEADLINE, at);
	if (there(r, MISSED, &at))
		bsv_timeline_mark(a->timeline, BSV_MARK_MISSED, at);
}

static void tell_drawn(struct asked *a, const struct bsv_rows *r)
{
	const char *what = bsv_rows_cell(r, WHAT).text;
	int64_t ready, not_ready, who, at;

	if (there(r, READY, &ready) && there(r, NOT_READY, &not_ready))
		bsv_timeline_waited(a->timeline, there(r, WHO, &who) ? who : 0, ready, not_ready);
	if (*what == 'e')
		tell_execution(a, r);
	else if (*what == 'p' && there(r, BEGAN, &at))
		bsv_timeline_mark(a->timeline, BSV_MARK_STOPPED, at);
}

static void tell_lane(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_lane(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0));
}

static void tell_loss(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_lost(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0));
}

static void tell_unknown(struct asked *a, const struct bsv_rows *r)
{
	bsv_timeline_unknown(a->timeline, bsv_rows_get(r, 0, 0), bsv_rows_get(r, 1, 0), bsv_rows_get(r, 2, 0),
	                     bsv_rows_get(r, 3, 0));
}

static void tell_focus(struct asked *a, const struct bsv_rows *r)
{
	static const enum bsv_state states[] = { BSV_UNDER_WAY, BSV_WAITING, BSV_ON_LANE };
	char name[32];

	snprintf(name, sizeof(name), "exec %" PRId64, a->focus);
	bsv_timeline_focus(a->timeline, name, states[bsv_rows_get(r, 0, 0)], bsv_rows_get(r, 1, 0),
	                   bsv_rows_get(r, 2, 0));
}

/* Every lane that a service said it has; if nobody said so, those that somebody had. */
static int tell_lanes(struct asked *a, struct bsa_err *err)
{
	return each(a,
	            bsv_text("WITH RECURSIVE n(lane) AS (SELECT 0 UNION ALL SELECT lane + 1 FROM n WHERE lane < 63) "
	                     "SELECT DISTINCT trace_id * 4096 + instance AS service, lane FROM service_rules JOIN n "
	                     "ON lane < lanes WHERE at < %" PRId64 " ORDER BY 1, 2",
	                     absolute(a, a->to)),
	            tell_lane, err);
}

static int tell_the_focus(struct asked *a, struct bsa_err *err)
{
	int64_t began, ended;
	int r;

	if (!a->focus)
		return 0;
	r = where(a, a->focus, &began, &ended, err);
	if (r < 0)
		return r;
	return each(a,
	            bsv_text("SELECT 0, %" PRId64 ", %" PRId64 " UNION ALL SELECT 1, began - %" PRId64
	                     ", ended - %" PRId64 " FROM wait WHERE execution_id = %" PRId64
	                     " UNION ALL SELECT 2, began - %" PRId64 ", ended - %" PRId64
	                     " FROM lane_slice WHERE execution_id = %" PRId64,
	                     began, ended, a->input.began, a->input.began, a->focus, a->input.began, a->input.began,
	                     a->focus),
	            tell_focus, err);
}

/* Where somebody was on a lane and when somebody was next is unknown in between, if events were lost then (docs/figures.md). */
static int tell_losses(struct asked *a, struct bsa_err *err)
{
	int r;

	if (!a->input.coverage.losses)
		return 0;
	r = each(a,
	         bsv_text("SELECT began - %" PRId64 ", ended - %" PRId64 " FROM loss ORDER BY began", a->input.began,
	                  a->input.began),
	         tell_loss, err);
	return r < 0 ? r : each(a, fill(a, bsv_sql_timeline_unknown), tell_unknown, err);
}

/* What @sql, with a place for input->with and for @id, says; owned by the caller. NULL: no memory. */
static char *name_of(void *ctx, const char *sql, const char *otherwise, int64_t id)
{
	struct asked *a = ctx;
	bsv_scoped_text *whole = bsv_text("%s %s%" PRId64, a->input.with, sql, id);
	bsv_scoped_rows *rows = NULL;

	if (!whole || bsv_rows_query(&rows, a->input.db, whole, NULL) < 0)
		return NULL;
	if (bsv_rows_step(rows, NULL) > 0 && bsv_rows_cell(rows, 0).text)
		return strndup(bsv_rows_cell(rows, 0).text, bsv_rows_cell(rows, 0).bytes);
	return strdup(otherwise);
}

static char *app_name(void *ctx, int64_t id)
{
	return name_of(ctx, "SELECT name FROM apps WHERE id = ", "unknown app", id);
}

/* Models of several apps may be called the same. */
static char *model_name(void *ctx, int64_t id)
{
	return name_of(ctx,
	               "SELECT ifnull(a.name || '/', '') || m.name FROM models m JOIN model d ON d.id = m.id "
	               "LEFT JOIN apps a ON a.id = d.app_id WHERE m.id = ",
	               "unknown model", id);
}

/* Which executions may be under way between a->from and a->to: all, where the file does not say. */
static int narrow(struct asked *a, struct bsa_err *err)
{
	bsv_scoped_text *sql = bsv_text("SELECT min(first_id), max(last_id) FROM id_block WHERE began < %" PRId64
	                                " AND ended >= %" PRId64,
	                                absolute(a, a->to), absolute(a, a->from));
	bsv_scoped_rows *rows = NULL;

	if (!sql)
		return bsv_no_memory(err);
	a->last = INT64_MAX;
	if (bsv_rows_query(&rows, a->input.db, sql, NULL) < 0) /* of before there was one */
		return 0;
	if (bsv_rows_step(rows, err) > 0) {
		a->first = bsv_rows_get(rows, 0, 1);
		a->last = bsv_rows_get(rows, 1, 0);
	}
	return 0;
}

static int tell_all(struct asked *a, struct bsa_err *err)
{
	int r = tell_lanes(a, err);

	if (r >= 0)
		r = bsa_query_new(&a->stretches, a->input.db,
		                  "SELECT trace_id * 4096 + instance, lane, began, ended FROM lane_slice WHERE "
		                  "execution_id = :id",
		                  err);
	if (r >= 0)
		r = bsa_query_new(&a->services, a->input.db,
		                  "SELECT trace_id * 4096 + (number >> 20) FROM stream WHERE id = :id", err);
	if (r >= 0)
		r = each(a, fill(a, bsv_sql_timeline_drawn), tell_drawn, err);
	if (r >= 0)
		r = tell_losses(a, err);
	return r < 0 ? r : tell_the_focus(a, err);
}

static int draw(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err)
{
	struct asked *a = ctx;
	bool by_app = a->options->by == BY_APP;
	struct bsv_timeline_names names = { app_name, by_app ? app_name : model_name, a, bys[a->options->by] };
	int width = a->options->width ? (int)a->options->width : bsv_columns(screen), r;

	a->timeline = bsv_timeline_new(a->from, a->to, width);
	bsv_timeline_recorded(a->timeline, 0, length(a));
	r = tell_all(a, err);
	return r < 0 ? r : bsv_timeline_draw(a->timeline, &names, to, screen, err);
}

/* ---- the command ---- */

static void add_parts(struct asked *a)
{
	unsigned limit = a->call->asked.limit ? a->call->asked.limit : ROWS_MOST;

	bsv_answer_sql(a->answer, "slices", "who had a lane", fill(a, bsv_sql_timeline_slices));
	bsv_answer_sql(a->answer, "waits", "who was ready, and not on a lane", fill(a, bsv_sql_timeline_waits));
	bsv_answer_sql(a->answer, "marks", "misses, deadlines, preemptions", fill(a, bsv_sql_timeline_marks));
	bsv_answer_sql(a->answer, "losses", "when events were lost", fill(a, bsv_sql_timeline_losses));
	if (a->input.executions > (int64_t)limit)
		bsv_answer_note(a->answer, "at most %u rows of each part: --limit says otherwise", limit);
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	__attribute__((cleanup(asked_fini))) struct asked a = { .call = call, .options = call->options };
	bool drawn = call->asked.format == BSV_TABLE && !call->asked.part && !call->asked.show_sql;
	int r = bsv_input_open(&a.input, call->operands[0], call, err);

	if (r >= 0)
		r = bsv_input_needs_executions(&a.input, err);
	if (r >= 0)
		r = when(&a, err);
	if (r >= 0)
		r = narrow(&a, err);
	if (r < 0)
		return r;
	a.answer = bsv_answer_new(call, &a.input);
	if (drawn)
		bsv_answer_draw(a.answer, draw, &a);
	else
		add_parts(&a);
	return bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_timeline = {
	.name = "timeline",
	.operands = "[INPUT]",
	.says = "lanes and queues over time, as text",
	.examples = "  burstscope timeline                                  # all of the newest recording\n"
		    "  burstscope timeline --around worst bursts.db         # around the miss that was latest\n"
		    "  burstscope timeline --around 1.5s --span 10ms        # around a moment\n"
		    "  burstscope timeline --from 1s --to 1.2s --by model --width 160 bursts.db\n",
	.more = "Each lane has two rows: who had it longest in each column, a letter for each app; and how much of "
		"the\n"
		"column it was held at all, in eighths. Below, for each app or model, how many executions were ready "
		"and\n"
		"waiting; and where deadlines were (|), were missed (!), where somebody was preempted (^), and where\n"
		"events were lost (?). Where nobody knows who had a lane there is a question mark, and no guess.\n"
		"\n"
		"--format json or csv has the stretches themselves, not what is drawn of them: the first 10000 of each "
		"part,\n"
		"or as many as --limit says.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = run,
};

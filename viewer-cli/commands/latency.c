/* latency.c -- burstscope latency: how long executions took, and in which phase. */
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/dressed.h"
#include "audit/groups.h"
#include "base/command.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "render/render.h"

enum {
	FEW_GROUPS = 4,      /* limit of groups that get a histogram by default, */
	FEW_SAMPLES = 50000, /* if they have so few samples that reading these takes no time */
	MOST_ROWS = 20,      /* most rows of a group's histogram, for people */
	MANY_GROUPS = 12,    /* more groups: the table of phases is too long to read */
};

static const char *const phases[] = { "e2e", "overhead",  "prepare", "send",   "decode", "fence",  "slots", "queue",
	                              "run", "preempted", "reply",   "return", "finish", "signal", NULL };

struct options {
	const char *by;
	int phase;
	bool histogram;
};

static const struct bsv_option options[] = {
	{ .name = "by",
	  .kind = BSV_TEXT,
	  .argument = "app,model,priority,path,burst",
	  .says = "group executions by these, separated by commas (default: "
	          "app,model,path)",
	  .offset = offsetof(struct options, by) },
	{ .name = "phase",
	  .kind = BSV_CHOICE,
	  .argument = "PHASE",
	  .says = "show this phase, or overhead, and not the time from end to end (e2e)",
	  .offset = offsetof(struct options, phase),
	  .choices = phases },
	{ .name = "histogram", .says = "show histograms of all groups", .offset = offsetof(struct options, histogram) },
	{ .name = NULL },
};

/* Data that must outlive the answer. */
struct latency {
	struct bsv_input input;
	struct bsv_groups groups;
	struct bsv_taken taken;
	struct bsv_dressed shares, buckets;
	struct bsv_answer *answer;
	const struct bsv_call *call;
	const char *phase;
	char *value, *title;
	bool people; /* whether the output is for people: rows are dressed */
	struct bsv_screen screen;
};

static void latency_fini(struct latency *l)
{
	bsv_answer_free(l->answer);
	bsv_dressed_fini(&l->shares);
	bsv_dressed_fini(&l->buckets);
	free(l->value);
	free(l->title);
	bsv_input_close(&l->input);
}

/* Is @part shown to people? A part that is not shown need not be dressed. */
static bool is_for_people(const struct latency *l, const char *part)
{
	return l->people && (!l->call->asked.part || !strcmp(l->call->asked.part, part));
}

static bool is_asked(const struct latency *l, const char *part)
{
	return l->call->asked.part && !strcmp(l->call->asked.part, part);
}

/* An empty table is shown only where --part names it. @rows is owned here. */
static void add_nonempty(struct latency *l, const char *name, const char *title, struct bsv_rows *rows,
                         struct bsa_err *err)
{
	if (is_asked(l, name) || bsv_rows_peek(rows, err) > 0)
		bsv_answer_rows(l->answer, name, title, rows);
	else
		bsv_rows_free(rows);
}

static int add_phases(struct latency *l, struct bsa_err *err)
{
	static const char title[] = "time by phase";
	char *sql = bsv_groups_sql(&l->groups, &l->input, bsv_sql_phases_stored, bsv_sql_phases_picked, "", "");
	struct bsv_rows *rows;
	int r;

	if (!is_for_people(l, "phases")) {
		bsv_answer_sql(l->answer, "phases", title, sql);
		return 0;
	}
	r = bsv_dressed_shares(&rows, &l->shares, l->input.db, sql, l->groups.keys, 1, &l->screen, err);
	free(sql);
	if (r >= 0)
		add_nonempty(l, "phases", title, rows, err);
	return r;
}

static int add_histogram(struct latency *l, struct bsa_err *err)
{
	static const char title[] = "histogram of latencies";
	struct bsv_groups groups = l->groups;
	struct bsv_rows *rows;
	char *sql;
	int r;

	groups.stored = false; /* phase_stat has no single executions */
	sql = bsv_groups_sql(&groups, &l->input, NULL, bsv_sql_histogram, l->phase, l->value);
	if (!is_for_people(l, "histogram")) {
		bsv_answer_sql(l->answer, "histogram", title, sql);
		return 0;
	}
	r = bsv_dressed_histogram(&rows, &l->buckets, l->input.db, sql, groups.keys, MOST_ROWS, &l->screen, err);
	free(sql);
	if (r < 0)
		return r;
	add_nonempty(l, "histogram", title, rows, err);
	return 0;
}

static int latency_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	__attribute__((cleanup(latency_fini))) struct latency l = { .call = call, .phase = phases[o->phase] };
	bool few;
	int r = bsv_groups_parse(&l.groups, o->by, err);

	if (r >= 0)
		r = bsv_input_open(&l.input, call->operands[0], call, err);
	if (r >= 0)
		r = bsv_groups_read(&l.groups, &l.input, err);
	if (r < 0)
		return r;
	l.answer = bsv_answer_new(call, &l.input);
	l.value = strcmp(l.phase, "overhead")
	                  ? bsv_fill(bsv_sql_phase_of_execution,
	                             (const struct bsv_placeholder[]){ { "phase", l.phase }, { NULL, NULL } })
	                  : strdup(bsv_sql_overhead_of_execution);
	l.title = o->phase ? bsv_text("latency: %s", l.phase) : bsv_text("latency, from end to end");
	if (!l.answer || !l.value || !l.title)
		return bsv_no_memory(err);
	l.people = call->asked.format == BSV_TABLE && !call->asked.show_sql;
	l.screen = bsv_screen_get(call->asked.color);
	bsv_answer_sql(
		l.answer, "latency", l.title,
		bsv_groups_sql(&l.groups, &l.input, bsv_sql_latency_stored, bsv_sql_latency_picked, l.phase, l.value));
	r = bsv_groups_taken(&l.taken, &l.groups, &l.input, err);
	few = l.groups.n <= MANY_GROUPS && !(l.groups.by & BSV_BY_BURST) && !l.taken.slow;
	if (r >= 0 && !o->phase && (!l.people || is_asked(&l, "phases") || few))
		r = add_phases(&l, err);
	else if (r >= 0 && !o->phase)
		bsv_answer_note(l.answer, "for phases of so many %s: --part phases",
		                l.taken.slow ? "executions" : "groups");
	if (r >= 0 && (o->histogram || is_asked(&l, "histogram") ||
	               (l.groups.n <= FEW_GROUPS && l.groups.answered <= FEW_SAMPLES && !(l.groups.by & BSV_BY_BURST))))
		r = add_histogram(&l, err);
	if (r < 0)
		return r;
	bsv_groups_remark(l.answer, &l.groups, &l.taken);
	r = bsv_groups_warn(l.answer, &l.groups, &l.input, err);
	return r < 0 ? r : bsv_answer_print(l.answer, false, err);
}

const struct bsv_command bsv_latency = {
	.name = "latency",
	.operands = "[INPUT]",
	.says = "latency from end to end and by phase: percentiles and histograms",
	.examples = "  burstscope latency\n"
		    "  burstscope latency --by app,priority bursts.db\n"
		    "  burstscope latency --phase queue --histogram --where \"app = 'camera'\"\n",
	.more = "Percentiles are exact, over executions that are complete and were answered; cold and warm "
		"executions of a burst are in different groups. Phases: prepare, send, decode, fence, slots, "
		"queue, run, preempted, reply, return, finish, signal.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "latency", "phases", "histogram", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = latency_run,
};

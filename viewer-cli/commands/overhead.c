/* overhead.c -- burstscope overhead: the time that executions take beyond their useful run, and its causes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "audit/advice.h"
#include "audit/gain.h"
#include "audit/groups.h"
#include "audit/habits.h"
#include "audit/kept.h"
#include "base/command.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "input/fill.h"
#include "render/render.h"

struct options {
	const char *by;
};

static const struct bsv_option options[] = {
	{ .name = "by",
	  .kind = BSV_TEXT,
	  .argument = "app,model,priority,path,burst",
	  .says = "group executions by these, separated by commas (default: "
	          "app,model,path)",
	  .offset = offsetof(struct options, by) },
	{ .name = NULL },
};

struct overhead {
	struct bsv_input input;
	struct bsv_groups groups;
	struct bsv_answer *answer;
	bool people; /* whether the output is for people */
	bool all;    /* whether to add empty parts, too, because --part asked for a part */
};

static void overhead_fini(struct overhead *o)
{
	bsv_answer_free(o->answer);
	bsv_input_close(&o->input);
}

/* An empty table is for programs only. @rows is owned here. */
static int add_nonempty(struct overhead *o, const char *name, const char *title, struct bsv_rows *rows,
                        struct bsa_err *err)
{
	int r = bsv_rows_peek(rows, err);

	if (r > 0 || (r == 0 && o->all))
		bsv_answer_rows(o->answer, name, title, rows);
	else
		bsv_rows_free(rows);
	return r < 0 ? r : 0;
}

/* Add the rows of the query @own, which is freed; an empty table is for programs only. */
static int add_query(struct overhead *o, const char *name, const char *title, char *own, struct bsa_err *err)
{
	struct bsv_rows *rows;
	int r;

	if (!o->people) {
		bsv_answer_sql(o->answer, name, title, own);
		return 0;
	}
	r = own ? bsv_rows_query(&rows, o->input.db, own, err) : bsv_no_memory(err);
	free(own);
	return r < 0 ? r : add_nonempty(o, name, title, rows, err);
}

enum { NUMBER = 1, SUM, PATH_OF_MOST = 6 }; /* columns of overhead_causes_stored.sql */

/* Add an advice against the largest cause. */
static int add_remedy(struct overhead *o, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	struct bsv_settings settings = { .known = false };
	const char *cause, *advice;
	int64_t n;
	int r = o->input.picks || !o->people
	                ? 0
	                : bsv_input_row(&rows, &o->input, bsv_sql_overhead_causes_stored, NULL, err);

	if (r <= 0) /* not asked, or no execution has overhead with a cause */
		return r;
	r = bsv_settings_read(&settings, &o->input, err);
	if (r < 0)
		return r;
	cause = bsv_rows_cell(rows, 0).text;
	n = bsv_rows_get(rows, NUMBER, 0);
	advice = bsv_advice(&(struct bsv_advised){ .cause = cause,
	                                           .path = bsv_rows_cell(rows, PATH_OF_MOST).text,
	                                           .mean_ns = n > 0 ? bsv_rows_get(rows, SUM, 0) / n : 0 },
	                    &settings);
	if (advice)
		bsv_answer_note(o->answer, "Against %s: %s", cause, advice);
	return 0;
}

static int add_parts(struct overhead *o, struct bsa_err *err)
{
	struct bsv_groups causes = o->groups, cold = o->groups;
	int64_t from = o->input.from > o->input.began ? o->input.from : o->input.began;
	int64_t to = o->input.to < o->input.ended ? o->input.to : o->input.ended;
	bsv_scoped_text *length = bsv_text("%" PRId64, to > from ? to - from : 1);
	const struct bsv_placeholder placeholders[] = { { "length", length }, { NULL, NULL } };
	struct bsv_taken taken;
	struct bsv_habit habit;
	struct bsv_rows *gain;
	int r = bsv_groups_taken(&taken, &o->groups, &o->input, err);

	if (r < 0)
		return r;
	bsv_answer_sql(o->answer, "overhead", "overhead: time of executions beyond their useful run",
	               bsv_groups_sql(&o->groups, &o->input, bsv_sql_overhead_stored, bsv_sql_overhead_picked,
	                              "overhead", bsv_sql_overhead_of_execution));

	/*
	 * Add the causes, unless that takes long and --part did not ask for it. Stored sums of
	 * groups can be added up.
	 */
	causes.stored = bsv_input_with_groups(&o->input) && !(causes.by & BSV_BY_BURST);
	snprintf(causes.kind, sizeof(causes.kind), "%s", bsv_sql_kind_of_app); /* whatever --by is */
	if (taken.n && taken.slow && o->input.picks && !o->all)
		bsv_answer_note(o->answer, "for causes of so many executions: --part causes");
	else if (taken.n || o->all)
		bsv_answer_sql(
			o->answer, "causes", "overhead by cause, with the app that had most of it",
			bsv_kept_rows(&o->input, bsv_groups_sql(&causes, &o->input, bsv_sql_overhead_causes_stored,
		                                                bsv_sql_overhead_causes_picked, "overhead",
		                                                bsv_sql_overhead_of_execution)));

	cold.stored = cold.paired;
	r = add_query(o, "cold", "medians of cold and warm executions, with the causes of the difference",
	              bsv_groups_sql(&cold, &o->input, bsv_sql_overhead_cold_stored, bsv_sql_overhead_cold_picked,
	                             "overhead", bsv_sql_overhead_of_execution),
	              err);
	if (r >= 0)
		r = bsv_gain(&gain, &o->input, err);
	if (r < 0)
		return r;
	r = add_nonempty(o, "gain", "time saved by a burst against calls, difference of medians with 95 % intervals",
	                 gain, err);
	if (r >= 0)
		/*
		 * The work of apps around their executions; with many connections and bursts that
		 * takes as much time again.
		 */
		r = add_query(o, "around", "time around executions: connections, bursts, pools",
		              length ? bsv_input_fill(&o->input, bsv_sql_overhead_around, placeholders) : NULL, err);

	/* Note an app that makes a burst for each call. */
	if (r >= 0)
		r = o->input.picks ? 0 : bsv_habit_read(&habit, &o->input, err);
	if (r < 0)
		return r;
	if (r > 0) {
		bsv_answer_note(o->answer, "%s. Against that: %s.", habit.says, bsv_habit_remedy);
		bsv_habit_fini(&habit);
	}
	bsv_groups_remark(o->answer, &o->groups, &taken);
	r = bsv_groups_warn(o->answer, &o->groups, &o->input, err);
	return r < 0 ? r : add_remedy(o, err);
}

static int overhead_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *options_given = call->options;
	__attribute__((cleanup(overhead_fini))) struct overhead o = { .answer = NULL };
	int r = bsv_groups_parse(&o.groups, options_given->by, err);

	if (r >= 0)
		r = bsv_input_open(&o.input, call->operands[0], call, err);
	if (r >= 0)
		r = bsv_groups_read(&o.groups, &o.input, err);
	if (r < 0)
		return r;
	o.people = call->asked.format == BSV_TABLE && !call->asked.show_sql;
	o.all = !o.people || call->asked.part;
	o.answer = bsv_answer_new(call, &o.input);
	if (!o.answer)
		return bsv_no_memory(err);
	r = add_parts(&o, err);
	return r < 0 ? r : bsv_answer_print(o.answer, false, err);
}

const struct bsv_command bsv_overhead = {
	.name = "overhead",
	.operands = "[INPUT]",
	.says = "time beyond the useful run: by cause, cold against warm, and bursts against calls",
	.examples = "  burstscope overhead\n"
		    "  burstscope overhead --by app,priority bursts.db\n"
		    "  burstscope overhead --part causes --where \"app = 'camera' AND NOT cold\" bursts.db\n",
	.more = "Overhead is the time from end to end less the useful time on a lane, without work done again. A "
		"cold execution met slots that the service did not know. The causes are those of misses, here with "
		"all the time that they took. --where, --from and --to pick the executions to count. The part "
		"around has the time of apps beside executions: connecting, and making and freeing bursts and "
		"pools; the service's work for a burst is part of the client's time.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "overhead", "causes", "cold", "gain", "around", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = overhead_run,
};

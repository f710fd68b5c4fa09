/* slots.c -- burstscope slots: the slots of bursts: hits, misses, and the cost of a miss. */
#include "answer/report.h"
#include "base/command.h"
#include "base/scoped.h"
#include "base/template.h"

static int slots_run(const struct bsv_call *call, struct bsa_err *err)
{
	bsv_scoped_report report = { 0 };
	struct bsv_placeholder each[] = { { "each", bsv_sql_slots_each_picked }, { NULL, NULL } };
	struct bsv_rows *rows = NULL;
	bool stored = false;
	int r = bsv_report_open(&report, call, err);

	/*
	 * Are the stored sums sufficient? Not if an execution may know an app or a model that its
	 * burst does not, if a model has no name to be counted by, or if two groups would need a
	 * common median.
	 */
	if (r >= 0 && !report.input.picks) {
		r = bsv_rows_query(&rows, report.input.db, bsv_sql_slots_is_stored, err);
		if (r >= 0)
			r = bsv_rows_step(rows, err);
		stored = r > 0 && bsv_rows_get(rows, 0, 0);
		bsv_rows_free(rows);
	}
	if (r < 0)
		return r;
	if (stored)
		each[0].text = bsv_sql_slots_each;
	bsv_report_part(&report, "models", "slots looked up by bursts", stored ? bsv_sql_slots_stored : bsv_sql_slots,
	                NULL);
	bsv_report_part(&report, "cost", "cost of unknown slots: fetch by execution, map by slot", bsv_sql_slots_cost,
	                NULL);
	bsv_report_part(&report, "bursts", "lifetime of bursts", bsv_sql_slots_bursts, each);
	bsv_answer_note(report.answer,
	                "A burst that an app keeps knows its slots; a burst that is used once is always cold.");
	return bsv_answer_print(report.answer, false, err);
}

const struct bsv_command bsv_slots = {
	.name = "slots",
	.operands = "[INPUT]",
	.says = "the slots of bursts: hits, misses, and the cost of a miss",
	.examples = "  burstscope slots\n"
		    "  burstscope slots --from 1s recording.db     # without the start of the apps\n",
	.more = "Parts: models, cost, bursts.\n",
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "models", "cost", "bursts", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = slots_run,
};

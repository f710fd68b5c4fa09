/* preemptions.c -- burstscope preemptions: preemptions by pair, their delay, and the work done again. */
#include "answer/report.h"
#include "base/command.h"

static int preemptions_run(const struct bsv_call *call, struct bsa_err *err)
{
	bsv_scoped_report report = { 0 };
	int r = bsv_report_open(&report, call, err);

	if (r < 0)
		return r;
	bsv_report_part(&report, "pairs", "preemptions by preempted and preempting app", bsv_sql_preemptions, NULL);
	bsv_report_part(&report, "models", "cost by model", bsv_sql_preemptions_models, NULL);
	bsv_answer_note(
		report.answer,
		"Delay: from the request to stop until the lane was released; step: the longest "
		"time between two checkpoints, "
		"measured when the model was prepared; - if it was not, because no trial run ended "
		"within 100 ms or the preparation was not recorded. The machine causes a delay far beyond the step.");
	return bsv_answer_print(report.answer, false, err);
}

const struct bsv_command bsv_preemptions = {
	.name = "preemptions",
	.operands = "[INPUT]",
	.says = "preemptions by pair, their delay, and the work done again",
	.examples = "  burstscope preemptions\n"
		    "  burstscope preemptions --where \"priority = 'low'\" recording.db\n",
	.more = "Parts: pairs, models.\n",
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "pairs", "models", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = preemptions_run,
};

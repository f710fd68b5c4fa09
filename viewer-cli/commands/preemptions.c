/* preemptions.c -- burstscope preemptions: who stopped whom, how fast, and what had to be done again. */
#include "audit/audit.h"
#include "command.h"

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	cleanup_auditing a = { 0 };
	int r = bsv_auditing_open(&a, call, err);

	if (r < 0)
		return r;
	bsv_audit_part(&a, "pairs", "who was taken off a lane, and for whom", bsv_sql_preemptions, NULL);
	bsv_audit_part(&a, "models", "what that cost", bsv_sql_preemptions_models, NULL);
	bsv_answer_note(a.answer, "Delay: from when it was asked to stop until it was off its lane; step: the longest "
	                          "stretch between two checkpoints, "
	                          "as measured when the model was prepared. A delay far beyond that is the machine's.");
	return bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_preemptions = {
	.name = "preemptions",
	.operands = "[INPUT]",
	.says = "who stopped whom, how fast, and what had to be done again",
	.examples = "  burstscope preemptions\n"
		    "  burstscope preemptions --where \"priority = 'low'\" recording.db\n",
	.more = "Parts: pairs, models.\n",
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = run,
};

/* slots.c -- burstscope slots: the slots of bursts: hits, misses, and what a miss costs. */
#include "audit/audit.h"
#include "command.h"

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	cleanup_auditing a = { 0 };
	int r = bsv_auditing_open(&a, call, err);

	if (r < 0)
		return r;
	bsv_audit_part(&a, "models", "slots that bursts looked up", bsv_sql_slots, NULL);
	bsv_audit_part(&a, "cost", "what those cost that were not known: to fetch by execution, to map by slot",
	               bsv_sql_slots_cost, NULL);
	bsv_audit_part(&a, "bursts", "how long bursts live", bsv_sql_slots_bursts, NULL);
	bsv_answer_note(a.answer, "A burst that is kept knows its slots: one that is used once is cold each time.");
	return bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_slots = {
	.name = "slots",
	.operands = "[INPUT]",
	.says = "the slots of bursts: hits, misses, and what a miss costs",
	.examples = "  burstscope slots\n"
		    "  burstscope slots --from 1s recording.db     # without the start of the apps\n",
	.more = "Parts: models, cost, bursts.\n",
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = run,
};

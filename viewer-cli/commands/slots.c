/* slots.c -- burstscope slots: the slots of bursts: hits, misses, and the cost of a miss. */
#include "answer/scoped.h"
#include "audit/audit.h"
#include "command.h"

/* One row per burst, app and model: of the picked executions, or of all. */
static const char each_picked[] =
	"SELECT b.id, p.app_id, p.app, p.model, count(*) AS n, b.closed - b.opened AS open_ns, b.first_ns "
	"FROM picked p CROSS JOIN burst b ON b.id = p.burst_id GROUP BY b.id, p.app_id, p.model";
static const char each_stored[] =
	"SELECT b.id, b.app_id, a.name AS app, m.name AS model, b.executions AS n, b.closed - b.opened AS open_ns, "
	"b.first_ns FROM burst b LEFT JOIN apps a ON a.id = b.app_id LEFT JOIN models m ON m.id = b.model_id "
	"WHERE b.executions > 0";

/*
 *
 * Are the stored sums sufficient? Not if an execution may know an app or a model that its burst does not, if a model has no name to be counted by, or if
 * two groups would need a common median.
 */
static int is_stored(const struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r;

	if (input->picks)
		return 0;
	r = bsv_rows_query(
		&rows, input->db,
		"SELECT NOT EXISTS (SELECT 1 FROM burst WHERE executions > 0 AND (app_id IS NULL OR model_id IS "
		"NULL)) AND NOT EXISTS (SELECT 1 FROM model WHERE ifnull(name, '') = '') AND NOT EXISTS ("
		"SELECT 1 FROM phase_stat WHERE path = 'burst' AND phase = 'slots' GROUP BY app_id, model, "
		"cold HAVING count(*) > 1)",
		err);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	return r <= 0 ? r : bsv_rows_get(rows, 0, 0) != 0;
}

static int slots_run(const struct bsv_call *call, struct bsa_err *err)
{
	cleanup_auditing a = { 0 };
	struct bsv_hole each[] = { { "each", each_picked }, { NULL, NULL } };
	int r = bsv_auditing_open(&a, call, err), stored = r < 0 ? r : is_stored(&a.input, err);

	if (stored < 0)
		return stored;
	if (stored)
		each[0].text = each_stored;
	bsv_audit_part(&a, "models", "slots looked up by bursts", stored ? bsv_sql_slots_stored : bsv_sql_slots, NULL);
	bsv_audit_part(&a, "cost", "cost of unknown slots: fetch by execution, map by slot", bsv_sql_slots_cost, NULL);
	bsv_audit_part(&a, "bursts", "lifetime of bursts", bsv_sql_slots_bursts, each);
	bsv_answer_note(a.answer,
	                "A burst that an app keeps knows its slots; a burst that is used once is always cold.");
	return bsv_answer_print(a.answer, false, err);
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
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = slots_run,
};

/* memory.c -- burstscope memory: pools that were mapped, and buffers that the driver kept. */
#include "audit/audit.h"
#include "base/command.h"
#include "base/scoped.h"

/* Most recordings have no such rows: then a table does not show the part. */
static int add_optional_part(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                             struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_audit_row(&rows, &a->input, template, NULL, err);

	bsv_audit_part(a, name, title, template, NULL);
	if (r <= 0)
		bsv_answer_hide(a->answer);
	return r;
}

static int memory_run(const struct bsv_call *call, struct bsa_err *err)
{
	cleanup_auditing a = { 0 };
	int r = bsv_auditing_open(&a, call, err);
	bool all;

	if (r < 0)
		return r;
	all = !a.input.picks;
	bsv_audit_part(&a, "pools", "mapped pools", all ? bsv_sql_memory_pools_stored : bsv_sql_memory_pools, NULL);
	bsv_audit_part(&a, "peak", "peak of mapped memory", all ? bsv_sql_memory_peak_stored : bsv_sql_memory_peak,
	               NULL);
	r = add_optional_part(&a, "buffers", "buffers kept by the driver", bsv_sql_memory_buffers, err);
	if (r >= 0)
		r = add_optional_part(&a, "rejects", "forbidden uses of buffers", bsv_sql_memory_rejects, err);
	if (r >= 0)
		r = add_optional_part(&a, "exhausted", "requests beyond the limit of memory", bsv_sql_memory_exhausted,
		                      err);
	return r < 0 ? r : bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_memory = {
	.name = "memory",
	.operands = "[INPUT]",
	.says = "mapped pools, and buffers kept by the driver",
	.examples = "  burstscope memory\n"
		    "  burstscope memory --from 2s --part pools recording.db\n",
	.more = "Parts: pools, peak, buffers, rejects, exhausted. Pools of owner exec were mapped for one "
		"execution, those of owner stream for the slots of a burst; the longer a pool lives, the less it "
		"costs.\n",
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.whole = true,
	.run = memory_run,
};

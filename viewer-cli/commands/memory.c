/* memory.c -- burstscope memory: pools that were mapped, and buffers that the driver kept. */
#include "answer/scoped.h"
#include "audit/audit.h"
#include "command.h"

/* Is there any row of it? */
static int is_any(const struct bsv_auditing *a, const char *template, bool *ret, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_audit_row(&rows, &a->input, template, NULL, err);

	*ret = r > 0;
	return r;
}

/* Most recordings have none: then it is not shown as a table. */
static int part(struct bsv_auditing *a, const char *name, const char *title, const char *template, struct bsa_err *err)
{
	bool any;
	int r = is_any(a, template, &any, err);

	bsv_audit_part(a, name, title, template, NULL);
	if (!any)
		bsv_answer_hide(a->answer);
	return r;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	cleanup_auditing a = { 0 };
	int r = bsv_auditing_open(&a, call, err);
	bool all;

	if (r < 0)
		return r;
	all = !a.input.picks;
	bsv_audit_part(&a, "pools", "pools that were mapped", all ? bsv_sql_memory_pools_stored : bsv_sql_memory_pools,
	               NULL);
	bsv_audit_part(&a, "peak", "the most that was mapped at a time",
	               all ? bsv_sql_memory_peak_stored : bsv_sql_memory_peak, NULL);
	r = part(&a, "buffers", "buffers that the driver keeps", bsv_sql_memory_buffers, err);
	if (r >= 0)
		r = part(&a, "rejects", "uses of them that the rules forbid", bsv_sql_memory_rejects, err);
	if (r >= 0)
		r = part(&a, "exhausted", "more was asked for than there is", bsv_sql_memory_exhausted, err);
	return r < 0 ? r : bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_memory = {
	.name = "memory",
	.operands = "[INPUT]",
	.says = "pools that were mapped, and buffers that the driver kept",
	.examples = "  burstscope memory\n"
		    "  burstscope memory --from 2s --part pools recording.db\n",
	.more = "Parts: pools, peak, buffers, rejects, exhausted. Pools of owner exec were mapped for one execution, "
		"those of owner stream for the slots\n"
		"of a burst; the longer they live, the less they cost.\n",
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN | BSV_ASK_LIMIT,
	.run = run,
};

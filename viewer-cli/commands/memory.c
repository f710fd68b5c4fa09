/* memory.c -- burstscope memory: pools that were mapped, and buffers that the driver kept. */
#include "answer/report.h"
#include "base/command.h"
#include "base/scoped.h"
#include "input/fill.h"

/* Most recordings have no such rows: then a table does not show the part. */
static int show_optional_part(struct bsv_report *report, const char *name, const char *title, const char *template,
                              struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_input_row(&rows, &report->input, template, NULL, err);

	if (r >= 0)
		bsv_report_show(report, bsv_report_ask(report, name, template, NULL), title,
		                r ? BSV_FOR_ALL : BSV_FOR_PROGRAMS);
	return r;
}

static int memory_run(const struct bsv_call *call, struct bsa_err *err)
{
	bsv_scoped_report report = { 0 };
	bsv_scoped_rows *refused = NULL;
	int r = bsv_report_open(&report, call, err);
	bool all;

	/* where every model was refused, there is no execution, and the refusals are what is asked for */
	if (r >= 0 && !report.input.executions) {
		r = bsv_input_row(&refused, &report.input, bsv_sql_memory_exhausted, NULL, err);
		r = r ? r : bsv_input_needs_executions(&report.input, err);
	}
	if (r < 0)
		return r;
	all = !report.input.picks;
	bsv_report_part(&report, "pools", "mapped pools", all ? bsv_sql_memory_pools_stored : bsv_sql_memory_pools,
	                NULL);
	bsv_report_part(&report, "peak", "peak of mapped memory",
	                all ? bsv_sql_memory_peak_stored : bsv_sql_memory_peak, NULL);
	r = show_optional_part(&report, "buffers", "buffers kept by the driver", bsv_sql_memory_buffers, err);
	if (r >= 0)
		r = show_optional_part(&report, "rejects", "forbidden uses of buffers", bsv_sql_memory_rejects, err);
	if (r >= 0)
		r = show_optional_part(&report, "exhausted", "requests beyond the limit of memory",
		                       bsv_sql_memory_exhausted, err);
	return r < 0 ? r : bsv_answer_print(report.answer, false, err);
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
	.parts = (const char *const[]){ "pools", "peak", "buffers", "rejects", "exhausted", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_ANY,
	.whole = true,
	.run = memory_run,
};

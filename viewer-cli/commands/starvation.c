/* starvation.c -- burstscope starvation: work that waited too long, and the apps that held the lanes. */
#include "answer/report.h"
#include "audit/judge.h"
#include "audit/verdicts.h"
#include "base/command.h"

struct options {
	struct bsv_quantity threshold;
};

static const struct bsv_option options[] = {
	{ .name = "threshold",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "longest wait of ready work for a lane that is not starvation (default: 100ms and ten times the "
	          "median run)",
	  .offset = offsetof(struct options, threshold) },
	{ .name = NULL },
};

static int starvation_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	const struct bsv_bounds bounds = { .threshold = o->threshold };
	struct bsv_judgement judgement = { 0 };
	bsv_scoped_report report = { 0 };
	struct bsv_placeholder placeholders[] = { { "episodes", NULL }, { NULL, NULL } };
	bool any;
	int r = bsv_report_open(&report, call, err);

	if (r >= 0)
		r = bsv_judge(&judgement, BSV_STARVATION, &report.input, &bounds, err);
	if (r < 0)
		return r;
	any = judgement.rules[0].figure > 0;
	placeholders[0].text = bsv_report_keep(&report, bsv_starvation_episodes(&report.input, &o->threshold));

	bsv_report_part(&report, "victims", "starved work by app and model", bsv_sql_starvation_victims, placeholders);
	bsv_report_part(&report, "culprits", "starvation by culprit, the app that held the lane longest",
	                bsv_sql_starvation_culprits, placeholders);
	bsv_report_part(&report, "episodes", "episodes of starvation", bsv_sql_starvation_episodes, placeholders);
	if (!any) {
		bsv_answer_hide(report.answer, "culprits");
		bsv_answer_hide(report.answer, "episodes");
	}
	if (judgement.rules[0].outcome == BSV_FAIL)
		bsv_answer_note(report.answer,
		                "One execution in detail: burstscope explain ID; the lanes at that time: "
		                "burstscope timeline --from TIME");
	bsv_judgement_show(report.answer, &judgement);
	return bsv_answer_print(report.answer, false, err);
}

const struct bsv_command bsv_starvation = {
	.name = "starvation",
	.operands = "[INPUT]",
	.says = "work that waited too long, and the apps that held the lanes",
	.examples = "  burstscope starvation\n"
		    "  burstscope starvation --verdict --threshold 50ms recording.db\n"
		    "  burstscope starvation --part episodes --format csv >episodes.csv\n",
	.more = "Parts: victims, culprits, episodes. Bypassed counts executions that were ready later and got a "
		"lane first: all of other apps, and those of the same app without a higher priority. The culprit "
		"is the app that held the lane for longest.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "victims", "culprits", "episodes", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_VERDICT,
	.run = starvation_run,
};

/* starvation.c -- burstscope starvation: who waited too long, and who had the lanes meanwhile. */
#include "audit/audit.h"
#include "audit/judge.h"
#include "audit/verdicts.h"
#include "command.h"

struct options {
	struct bsv_quantity threshold;
};

static const struct bsv_option options[] = {
	{ .name = "threshold",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "what was ready and waited for a lane for longer was starved; otherwise 100ms and ten times the "
	          "median run",
	  .offset = offsetof(struct options, threshold) },
	{ .name = NULL },
};

static void parts(struct bsv_auditing *a, const struct options *o, bool any)
{
	char *episodes = bsv_audit_keep(a, bsv_starvation_episodes(&a->input, &o->threshold));
	const struct bsv_hole holes[] = { { "episodes", episodes }, { NULL, NULL } };

	bsv_audit_part(a, "victims", "what was ready and got no lane for too long", bsv_sql_starvation_victims, holes);
	bsv_audit_part(a, "culprits", "who had the lane longest meanwhile", bsv_sql_starvation_culprits, holes);
	if (!any)
		bsv_answer_hide(a->answer);
	bsv_audit_part(a, "episodes", "each time", bsv_sql_starvation_episodes, holes);
	if (!any)
		bsv_answer_hide(a->answer);
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	const struct bsv_bounds bounds = { .threshold = o->threshold };
	struct bsv_judgement judgement = { 0 };
	cleanup_auditing a = { 0 };
	int r = bsv_auditing_open(&a, call, err);

	if (r >= 0)
		r = bsv_judge(&judgement, BSV_STARVATION, &a.input, &bounds, err);
	if (r < 0)
		return r;
	parts(&a, o, judgement.rules[0].figure > 0);
	if (judgement.rules[0].outcome == BSV_FAIL)
		bsv_answer_note(a.answer, "One of them in full: burstscope explain ID; what the lanes did then: "
		                          "burstscope timeline --from TIME");
	bsv_audit_verdicts(&a, &judgement);
	return bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_starvation = {
	.name = "starvation",
	.operands = "[INPUT]",
	.says = "who waited too long, and who had the lanes meanwhile",
	.examples = "  burstscope starvation\n"
		    "  burstscope starvation --verdict --threshold 50ms recording.db\n"
		    "  burstscope starvation --part episodes --format csv >episodes.csv\n",
	.more = "Parts: victims, culprits, episodes. Bypassed counts those that were ready later and got a lane first: "
		"of other apps any, of\n"
		"its own those of no higher priority. The culprit is the app that had the lane it waited for "
		"longest.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_LIMIT | BSV_ASK_VERDICT,
	.run = run,
};

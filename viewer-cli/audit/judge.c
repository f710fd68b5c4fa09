/* judge.c -- see verdicts.h and judge.h: facts of a recording, and what they come to. */
#include <inttypes.h>
#include <stdio.h>

#include "answer/scoped.h"
#include "audit/audit.h"
#include "audit/judge.h"
#include "audit/verdicts.h"

static int judge_fairness(struct bsv_judgement *ret, const struct bsv_input *input, const struct bsv_bounds *bounds,
                          struct bsa_err *err)
{
	bool timed = input->from != INT64_MIN || input->to != INT64_MAX;
	const struct bsv_hole holes[] = {
		{ "most",
		  timed ? "SELECT lag_ns AS max_lag_ns, app_id FROM windows ORDER BY lag_ns DESC, app_id LIMIT 1"
		        : "SELECT max_lag_ns, app_id FROM app_share ORDER BY max_lag_ns DESC, app_id LIMIT 1" },
		{ NULL, NULL }
	};
	bsv_scoped_rows *rows = NULL;
	int r = bsv_audit_row(&rows, input, bsv_sql_verdict_fairness, holes, err);

	if (r <= 0)
		return r;
	bsv_rule_fairness(ret,
	                  &(struct bsv_fairness_facts){ .apps = bsv_rows_get(rows, 0, 0),
	                                                .lanes = bsv_rows_get(rows, 1, 1),
	                                                .max_lag_ns = bsv_rows_get(rows, 2, 0),
	                                                .app = bsv_rows_cell(rows, 3).text,
	                                                .stretch_ns = bsv_rows_get(rows, 4, 0),
	                                                .losses = bsv_rows_get(rows, 5, 0) },
	                  bounds);
	return 0;
}

/* While it is not on a cpu, nothing can stop it. */
const char bsv_off_core_of_holder[] = "max(coalesce(h.run_ns - h.cpu_ns, 0), 0)";

char *bsv_starvation_episodes(const struct bsv_input *input, const struct bsv_quantity *threshold)
{
	const char *only = input->picks ? "WHERE EXISTS (SELECT 1 FROM picked p WHERE p.id = s.execution_id)" : "";
	char ns[24];
	const struct bsv_hole longer[] = { { "threshold", ns }, { NULL, NULL } };
	const struct bsv_hole stored[] = { { "only", only }, { NULL, NULL } };

	if (!threshold->given)
		return bsv_fill(bsv_sql_starved, stored);
	snprintf(ns, sizeof(ns), "%" PRId64, threshold->value);
	return bsv_fill(bsv_sql_starved_longer, longer);
}

static int judge_starvation(struct bsv_judgement *ret, const struct bsv_input *input, const struct bsv_bounds *bounds,
                            struct bsa_err *err)
{
	static const struct bsv_quantity none;
	bsv_scoped_text *episodes = bsv_starvation_episodes(input, bounds ? &bounds->threshold : &none);
	bsv_scoped_text *all = bsv_text("SELECT %" PRId64, input->executions);
	const struct bsv_hole holes[] = { { "episodes", episodes },
		                          { "executions", input->picks ? "SELECT count(*) FROM picked" : all },
		                          { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	int r = bsv_audit_row(&rows, input, bsv_sql_verdict_starvation, holes, err);

	if (r <= 0)
		return r;
	bsv_rule_starvation(ret,
	                    &(struct bsv_starvation_facts){ .episodes = bsv_rows_get(rows, 0, 0),
	                                                    .max_gap_ns = bsv_rows_get(rows, 1, 0),
	                                                    .executions = bsv_rows_get(rows, 2, 0),
	                                                    .losses = bsv_rows_get(rows, 3, 0) },
	                    bounds);
	return 0;
}

static int judge_priority(struct bsv_judgement *ret, const struct bsv_input *input, const struct bsv_bounds *bounds,
                          struct bsa_err *err)
{
	bool given = bounds && bounds->inversion.given;
	const struct bsv_hole holes[] = {
		{ "stretches", bsv_sql_stretches },
		{ "choices", bsv_sql_choices },
		{ "off_core", bsv_off_core_of_holder },
		{ "only_victims", input->picks ? "CROSS JOIN picked v ON v.id = i.victim_id" : "" },
		{ "only_chosen", input->picks ? "CROSS JOIN picked p ON p.id = c.chosen_id" : "" },
		{ "excess", given ? "dur_ns" : "dur_ns - stretch_ns" },
		{ NULL, NULL },
	};
	bsv_scoped_rows *rows = NULL;
	int r = bsv_audit_row(&rows, input, bsv_sql_verdict_priority, holes, err);

	if (r <= 0)
		return r;
	bsv_rule_priority(ret,
	                  &(struct bsv_priority_facts){ .inversions = bsv_rows_get(rows, 0, 0),
	                                                .dur_ns = bsv_rows_get(rows, 1, 0),
	                                                .stretch_ns = bsv_rows_get(rows, 2, 0),
	                                                .choices = bsv_rows_get(rows, 3, 0),
	                                                .honoured = bsv_rows_get(rows, 4, 0),
	                                                .mixed = bsv_rows_get(rows, 5, 0),
	                                                .losses = bsv_rows_get(rows, 6, 0) },
	                  bounds);
	return 0;
}

int bsv_judge(struct bsv_judgement *ret, enum bsv_audit audit, struct bsv_input *input, const struct bsv_bounds *bounds,
              struct bsa_err *err)
{
	switch (audit) {
	case BSV_FAIRNESS:
		return judge_fairness(ret, input, bounds, err);
	case BSV_STARVATION:
		return judge_starvation(ret, input, bounds, err);
	case BSV_PRIORITY:
		return judge_priority(ret, input, bounds, err);
	}
	return 0;
}

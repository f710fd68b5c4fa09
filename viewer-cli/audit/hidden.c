/*
 * hidden.c -- fills reports/hidden.sql: how little of an unrecorded model may become known, and how
 * far the asked time reaches.
 */
#include "audit/hidden.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scoped.h"
#include "base/template.h"
#include "input/fill.h"

/*
 * The least that a model writes that becomes known, and is executed, in a hole: the service
 * prepares it, which runs it TRIAL_RUNS times, and then it is executed. Each of these executions
 * has a number among those that became ready, and one event of the service at least (of compact
 * detail, its summary); model_prepare is one more. A model without trial runs writes less
 * (docs/figures.md).
 */
enum { TRIAL_RUNS = 3, STRANGE_EXECUTIONS = TRIAL_RUNS + 1, STRANGE_EVENTS = STRANGE_EXECUTIONS + 1 };

int bsv_hidden_make(const struct bsv_input *input, struct bsa_err *err)
{
	bool some = input->picks && !bsv_input_is_timed(input);
	char ended[24], executions[8], events[8];
	bsv_scoped_text *reach = NULL, *tables = NULL;

	snprintf(ended, sizeof(ended), "%" PRId64, input->over_by);
	snprintf(executions, sizeof(executions), "%d", STRANGE_EXECUTIONS);
	snprintf(events, sizeof(events), "%d", STRANGE_EVENTS);
	if (input->to == INT64_MAX)
		reach = strdup(bsv_sql_reach_whole);
	else
		reach = bsv_input_fill(input, bsv_sql_reach_asked,
		                       (const struct bsv_placeholder[]){ { "ended", ended }, { NULL, NULL } });
	tables = bsv_input_fill(input, bsv_sql_hidden,
	                        (const struct bsv_placeholder[]){ { "ended", ended },
	                                                          { "reach", reach },
	                                                          { "strange_executions", executions },
	                                                          { "strange_events", events },
	                                                          { "judged", some ? bsv_sql_is_picked : "1" },
	                                                          { NULL, NULL } });
	return tables ? bsa_db_make_temporary(input->db, tables, err) : bsv_no_memory(err);
}

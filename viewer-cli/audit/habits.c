/* habits.c -- words the costliest habit, which SQL finds. */
#include "audit/habits.h"

#include <stdlib.h>
#include <string.h>

#include "audit/finding.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"
#include "input/fill.h"

/* Columns of overhead_habits.sql. */
enum {
	HABIT_APP,
	HABIT_MODEL,
	HABIT_BURSTS,
	HABIT_EXECUTIONS,
	HABIT_AROUND,
	HABIT_E2E,
	HABIT_SUM,
	HABIT_BY_CLIENT,
	HABIT_FIRST,
	HABIT_LAST
};

const char bsv_habit_remedy[] = "make one burst for a model and keep it; it also keeps what the service knows of pools";

void bsv_habit_fini(struct bsv_habit *h)
{
	free(h->app);
	free(h->model);
	free(h->says);
}

int bsv_habit_read(struct bsv_habit *ret, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	bsv_scoped_text *beyond = NULL;
	char bursts[BSV_COUNT_MAX], executions[BSV_COUNT_MAX];
	char around[BSV_DURATION_TEXT], e2e[BSV_DURATION_TEXT];
	const char *app, *model, *least;
	int64_t cost, end_to_end;
	int r = bsv_input_row(&rows, input, bsv_sql_overhead_habits, NULL, err);

	*ret = (struct bsv_habit){ .sum_ns = 0 };
	if (r <= 0)
		return r;
	app = bsv_rows_cell(rows, HABIT_APP).text;
	model = bsv_rows_cell(rows, HABIT_MODEL).text;
	ret->app = bsv_text_copy(app);
	ret->model = bsv_text_copy(model);
	ret->sum_ns = bsv_rows_get(rows, HABIT_SUM, 0);
	ret->first_at = bsv_rows_get(rows, HABIT_FIRST, BSV_WHEN_UNKNOWN);
	ret->last_at = bsv_rows_get(rows, HABIT_LAST, BSV_WHEN_UNKNOWN);

	/* Figures of the service alone are a lower bound. */
	least = bsv_rows_get(rows, HABIT_BY_CLIENT, 0) ? "" : "at least ";
	cost = bsv_rows_get(rows, HABIT_AROUND, 0);
	end_to_end = bsv_rows_get(rows, HABIT_E2E, -1);
	if (end_to_end < 0)
		beyond = strdup("");
	else
		beyond = bsv_text(", on top of the %s from end to end", bsv_duration_beside(e2e, end_to_end, cost));
	if (!beyond)
		return bsv_no_memory(err);
	ret->says = bsv_text("%s makes a burst per call%s%s: %s bursts for %s executions; making and freeing them "
	                     "takes %s%s an execution%s",
	                     app && *app ? app : "an app", model ? " of " : "", model ? model : "",
	                     bsv_count(bursts, (uint64_t)bsv_rows_get(rows, HABIT_BURSTS, 0)),
	                     bsv_count(executions, (uint64_t)bsv_rows_get(rows, HABIT_EXECUTIONS, 0)), least,
	                     bsv_duration_beside(around, cost, end_to_end), beyond);
	return ret->says ? 1 : bsv_no_memory(err);
}

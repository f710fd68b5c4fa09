/* outcomes.c -- counts of missed deadlines in SQL and in words; a loss makes them lower bounds. */
#include "audit/outcomes.h"

#include <inttypes.h>
#include <stdio.h>

#include "audit/kept.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "render/render.h"

enum { NUMBER_TEXT = 24 };

/*
 * SQL: the number of executions for which @condition holds; that is the number itself where *kept, of several answers,
 * has it. Owned by the caller; NULL: no memory.
 */
static char *number_sql(const struct bsv_input *input, const char *condition, int64_t *kept)
{
	const struct bsv_placeholder placeholders[] = { { "condition", condition }, { NULL, NULL } };
	bsv_scoped_rows *rows = NULL;
	bsv_scoped_text *asked = kept && *kept < 0 ? bsv_fill(bsv_sql_count_of, placeholders) : NULL;

	if (asked && bsv_rows_query(&rows, input->db, asked, NULL) >= 0 && bsv_rows_step(rows, NULL) > 0)
		*kept = bsv_rows_get(rows, 0, -1);
	return kept && *kept >= 0 ? bsv_text("%" PRId64, *kept) : bsv_fill(bsv_sql_count_if, placeholders);
}

char *bsv_unknown_deadlines(const struct bsv_input *input)
{
	if (!input->coverage.unsure_deadlines)
		return bsv_text("0");
	return number_sql(input, bsv_sql_deadline_unknown, input->kept ? &input->kept->n_unknown : NULL);
}

char *bsv_outcome_unknown(const struct bsv_input *input)
{
	char ended[NUMBER_TEXT];

	snprintf(ended, sizeof(ended), "%" PRId64, input->over_by);
	return bsv_fill(bsv_sql_outcome_unknown, (const struct bsv_placeholder[]){ { "ended", ended },
	                                                                           { "one_side", bsv_sql_one_side },
	                                                                           { NULL, NULL } });
}

char *bsv_unseen_outcomes(const struct bsv_input *input)
{
	bsv_scoped_text *condition = input->coverage.unsure_outcomes ? bsv_outcome_unknown(input) : NULL;

	if (!input->coverage.unsure_outcomes)
		return bsv_text("0");
	return condition ? number_sql(input, condition, input->kept ? &input->kept->n_unseen : NULL) : NULL;
}

const char *bsv_recorded(char to[BSV_RECORDED_TEXT], int64_t n, bool lost)
{
	char count[BSV_COUNT_MAX];

	snprintf(to, BSV_RECORDED_TEXT, lost ? "the %s recorded" : "%s", bsv_count(count, (uint64_t)n));
	return to;
}

char *bsv_missed_at_least(const struct bsv_missed *m)
{
	char missed[BSV_COUNT_MAX], all[BSV_RECORDED_TEXT], unknown[BSV_COUNT_MAX], unseen[BSV_COUNT_MAX];

	bsv_count(missed, (uint64_t)m->missed);
	bsv_recorded(all, m->deadlines + m->unknown, m->lost);
	bsv_count(unknown, (uint64_t)m->unknown);
	bsv_count(unseen, (uint64_t)m->unseen);
	if (!m->unknown)
		return bsv_text("at least %s of %s deadlines %s missed; the outcome of %s of them is not known", missed,
		                all, m->missed == 1 ? "was" : "were", unseen);
	if (!m->unseen)
		return bsv_text("at least %s of %s executions missed a deadline; for %s of them, it is not known "
		                "whether there was one",
		                missed, all, unknown);
	return bsv_text("at least %s of %s executions missed a deadline; for %s of them, it is not known whether there "
	                "was one, "
	                "and for %s, whether it was met",
	                missed, all, unknown, unseen);
}

const char *bsv_percent(char to[BSV_PERCENT_TEXT], int64_t part, int64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (part != whole && percent > 99.9) {
		int64_t hundredths = (int64_t)(percent * 1000);

		snprintf(to, BSV_PERCENT_TEXT, "%.3f", (double)(hundredths < 99999 ? hundredths : 99999) / 1000);
	} else {
		snprintf(to, BSV_PERCENT_TEXT, "%.3g", percent);
	}
	return to;
}

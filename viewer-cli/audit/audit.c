/* audit.c -- see audit.h. */
#include "audit/audit.h"

#include "base/say.h"
#include "base/scoped.h"
#include "base/template.h"
#include "render/render.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMON = 7, OWN_MAX = 12, NUMBER_TEXT = 24 };

int bsv_auditing_open(struct bsv_auditing *a, const struct bsv_call *call, struct bsa_err *err)
{
	int r;

	*a = (struct bsv_auditing){ .call = call };
	r = bsv_input_open(&a->input, call->operands[0], call, err);
	if (r >= 0 && !(call->command->asks & BSV_ASK_ANY))
		r = bsv_input_needs_executions(&a->input, err);
	if (r >= 0)
		a->answer = bsv_answer_new(call, &a->input);
	return r;
}

void bsv_auditing_close(struct bsv_auditing *a)
{
	bsv_answer_free(a->answer);
	for (size_t i = 0; i < a->n_rows; i++)
		bsv_rows_free(a->rows[i]);
	for (size_t i = 0; i < a->n_texts; i++)
		free(a->texts[i]);
	bsv_input_close(&a->input);
}

char *bsv_audit_fill(const struct bsv_input *input, const char *template, const struct bsv_hole *own)
{
	char began[NUMBER_TEXT], from[NUMBER_TEXT], to[NUMBER_TEXT];
	bool picks = input->picks; /* only executions picked by the options need the joins below */
	struct bsv_hole holes[COMMON + OWN_MAX + 1] = {
		{ "with", input->with },
		{ "began", began },
		{ "from", from },
		{ "to", to },
		{ "only_preempted", picks ? bsv_sql_only_preempted : "" },
		{ "only_victims", picks ? bsv_sql_only_victims : "" },
		{ "only_chosen", picks ? bsv_sql_only_chosen : "" },
	};
	size_t n = COMMON;

	/* the smallest number cannot be written as a literal of SQL */
	snprintf(from, sizeof(from), "%" PRId64, input->from == INT64_MIN ? -INT64_MAX : input->from);
	snprintf(to, sizeof(to), "%" PRId64, input->to);
	snprintf(began, sizeof(began), "%" PRId64, input->began);
	for (; own && own->name; own++) {
		assert(n < COMMON + OWN_MAX);
		if (!own->text)
			return NULL;
		holes[n++] = *own;
	}
	holes[n] = (struct bsv_hole){ NULL, NULL };
	return bsv_fill(template, holes);
}

void bsv_audit_part(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                    const struct bsv_hole *own)
{
	bsv_answer_sql(a->answer, name, title, bsv_audit_fill(&a->input, template, own));
}

void bsv_audit_hidden(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                      const struct bsv_hole *own)
{
	const struct bsv_asked *asked = &a->call->asked;

	if (asked->format == BSV_TABLE && !asked->part && !asked->show_sql)
		return;
	bsv_audit_part(a, name, title, template, own);
	bsv_answer_hide(a->answer);
}

struct bsv_rows *bsv_audit_rows(struct bsv_auditing *a, const char *template, const struct bsv_hole *own)
{
	struct bsv_rows *query = NULL, *ret = NULL;
	int r = bsv_audit_row(&query, &a->input, template, own, NULL);

	if (query) { /* the rows in memory borrow the columns of the query */
		assert(a->n_rows < sizeof(a->rows) / sizeof(*a->rows));
		a->rows[a->n_rows++] = query;
		ret = bsv_rows_new(bsv_rows_column(query, 0), bsv_rows_columns(query));
	}
	for (; ret && r > 0; r = bsv_rows_step(query, NULL))
		for (size_t i = 0; i < bsv_rows_columns(query); i++) {
			struct bsv_cell cell = bsv_rows_cell(query, i);

			if (cell.type == BSA_INT)
				bsv_rows_int(ret, cell.integer);
			else if (cell.type == BSA_REAL)
				bsv_rows_real(ret, cell.real);
			else if (cell.type == BSA_STRING)
				bsv_rows_text(ret, cell.text);
			else
				bsv_rows_null(ret);
		}
	return r < 0 ? bsv_rows_free(ret) : ret;
}

void bsv_audit_part_of(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                       const struct bsv_hole *own, struct bsv_rows *rows)
{
	if (!rows || a->call->asked.show_sql) {
		bsv_rows_free(rows);
		bsv_audit_part(a, name, title, template, own);
	} else {
		bsv_rows_again(rows);
		bsv_answer_rows(a->answer, name, title, rows);
	}
}

int bsv_audit_row(struct bsv_rows **ret, const struct bsv_input *input, const char *template,
                  const struct bsv_hole *own, struct bsa_err *err)
{
	char *sql = bsv_audit_fill(input, template, own);
	int r = sql ? bsv_rows_query(ret, input->db, sql, err) : bsv_no_memory(err);

	free(sql);
	return r < 0 ? r : bsv_rows_step(*ret, err);
}

char *bsv_audit_keep(struct bsv_auditing *a, char *text)
{
	assert(a->n_texts < sizeof(a->texts) / sizeof(*a->texts));
	return a->texts[a->n_texts++] = text;
}

char *bsv_audit_unknown_deadlines(const struct bsv_input *input)
{
	if (!input->unsure_deadlines)
		return bsv_text("0");
	return bsv_fill(bsv_sql_count_if,
	                (const struct bsv_hole[]){ { "condition", bsv_sql_deadline_unknown }, { NULL, NULL } });
}

char *bsv_audit_outcome_unknown(const struct bsv_input *input)
{
	char ended[NUMBER_TEXT];

	snprintf(ended, sizeof(ended), "%" PRId64, input->ended);
	return bsv_fill(
		bsv_sql_outcome_unknown,
		(const struct bsv_hole[]){ { "ended", ended }, { "one_side", bsv_sql_one_side }, { NULL, NULL } });
}

char *bsv_audit_unseen_outcomes(const struct bsv_input *input)
{
	bsv_scoped_text *condition = input->unsure_outcomes ? bsv_audit_outcome_unknown(input) : NULL;

	if (!input->unsure_outcomes)
		return bsv_text("0");
	return condition ? bsv_fill(bsv_sql_count_if,
	                            (const struct bsv_hole[]){ { "condition", condition }, { NULL, NULL } })
	                 : NULL;
}

const char *bsv_recorded(char to[BSV_RECORDED_TEXT], int64_t n, bool lost)
{
	char count[BSV_COUNT_MAX];

	snprintf(to, BSV_RECORDED_TEXT, lost ? "the %s recorded" : "%s", bsv_count(count, (uint64_t)n));
	return to;
}

char *bsv_audit_at_least(const struct bsv_missed *m)
{
	char missed[BSV_COUNT_MAX], all[BSV_RECORDED_TEXT], unknown[BSV_COUNT_MAX], unseen[BSV_COUNT_MAX];

	bsv_count(missed, (uint64_t)m->missed);
	bsv_recorded(all, m->deadlines + m->unknown, m->lost);
	bsv_count(unknown, (uint64_t)m->unknown);
	bsv_count(unseen, (uint64_t)m->unseen);
	if (!m->unknown)
		return bsv_text("at least %s of %s deadlines %s missed; whether %s of them %s met is not known", missed,
		                all, m->missed == 1 ? "was" : "were", unseen, m->unseen == 1 ? "was" : "were");
	if (!m->unseen)
		return bsv_text(
			"at least %s of %s executions missed a deadline; whether %s of them had one is not known",
			missed, all, unknown);
	return bsv_text(
		"at least %s of %s executions missed a deadline; whether %s of them had one, and %s met theirs, is "
		"not known",
		missed, all, unknown, unseen);
}

void bsv_audit_verdicts(struct bsv_auditing *a, const struct bsv_judgement *judgement)
{
	for (size_t i = 0; i < judgement->n; i++)
		bsv_answer_verdict(a->answer, &judgement->rules[i]);
}

const char *bsv_audit_text(struct bsv_auditing *a, const char *format, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	return n < 0 ? NULL : bsv_audit_keep(a, text);
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

/* report.c -- see report.h. */
#include "answer/report.h"

#include "input/fill.h"
#include "render/render.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int bsv_report_open(struct bsv_report *report, const struct bsv_call *call, struct bsa_err *err)
{
	int r;

	*report = (struct bsv_report){ .call = call };
	r = bsv_input_open(&report->input, call->operands[0], call, err);
	if (r >= 0 && !(call->command->asks & BSV_ASK_ANY))
		r = bsv_input_needs_executions(&report->input, err);
	if (r >= 0)
		report->answer = bsv_answer_new(call, &report->input);
	return r;
}

void bsv_report_close(struct bsv_report *report)
{
	bsv_answer_free(report->answer);
	for (size_t i = 0; i < report->n_rows; i++)
		bsv_rows_free(report->rows[i]);
	for (size_t i = 0; i < report->n_texts; i++)
		free(report->texts[i]);
	bsv_input_close(&report->input);
}

void bsv_report_part(struct bsv_report *report, const char *name, const char *title, const char *template,
                     const struct bsv_hole *own)
{
	bsv_answer_sql(report->answer, name, title, bsv_input_fill(&report->input, template, own));
}

void bsv_report_hidden(struct bsv_report *report, const char *name, const char *title, const char *template,
                       const struct bsv_hole *own)
{
	const struct bsv_asked *asked = &report->call->asked;

	if (asked->format == BSV_TABLE && !asked->part && !asked->show_sql)
		return;
	bsv_report_part(report, name, title, template, own);
	bsv_answer_hide(report->answer);
}

struct bsv_rows *bsv_report_rows(struct bsv_report *report, const char *template, const struct bsv_hole *own)
{
	struct bsv_rows *query = NULL, *ret = NULL;
	int r = bsv_input_row(&query, &report->input, template, own, NULL);

	if (query) { /* the rows in memory borrow the columns of the query */
		assert(report->n_rows < sizeof(report->rows) / sizeof(*report->rows));
		report->rows[report->n_rows++] = query;
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

void bsv_report_part_of(struct bsv_report *report, const char *name, const char *title, const char *template,
                        const struct bsv_hole *own, struct bsv_rows *rows)
{
	if (!rows || report->call->asked.show_sql) {
		bsv_rows_free(rows);
		bsv_report_part(report, name, title, template, own);
	} else {
		bsv_rows_again(rows);
		bsv_answer_rows(report->answer, name, title, rows);
	}
}

char *bsv_report_keep(struct bsv_report *report, char *text)
{
	assert(report->n_texts < sizeof(report->texts) / sizeof(*report->texts));
	return report->texts[report->n_texts++] = text;
}

const char *bsv_report_text(struct bsv_report *report, const char *format, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	return n < 0 ? NULL : bsv_report_keep(report, text);
}

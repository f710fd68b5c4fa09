/* report.c -- the parts of a report: their queries, the rows that were read, and which of them the answer owns. */
#include "answer/report.h"

#include "base/scoped.h"
#include "input/fill.h"

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
	for (size_t i = 0; i < report->n_parts; i++) {
		free(report->parts[i].sql);
		bsv_rows_free(report->parts[i].rows);
		bsv_rows_free(report->parts[i].query);
	}
	for (size_t i = 0; i < report->n_texts; i++)
		free(report->texts[i]);
	bsv_input_close(&report->input);
}

struct bsv_report_part *bsv_report_ask(struct bsv_report *report, const char *name, const char *template,
                                       const struct bsv_placeholder *own)
{
	struct bsv_report_part *ret = &report->parts[report->n_parts];

	assert(report->n_parts < sizeof(report->parts) / sizeof(*report->parts));
	report->n_parts++;
	*ret = (struct bsv_report_part){ .name = name, .sql = bsv_input_fill(&report->input, template, own) };
	return ret;
}

int bsv_report_read(struct bsv_rows **ret, const struct bsv_report *report, struct bsv_report_part *part,
                    struct bsa_err *err)
{
	struct bsv_rows *query;
	int r = part->sql ? bsv_rows_query(&part->query, report->input.db, part->sql, err) : bsv_no_memory(err);

	assert(!part->rows);
	if (r < 0)
		return r;
	query = part->query;
	r = bsv_rows_step(query, err);
	if (r >= 0)
		part->rows = bsv_rows_new(bsv_rows_column(query, 0), bsv_rows_columns(query));
	if (r >= 0 && !part->rows)
		return bsv_no_memory(err);
	for (; r > 0; r = bsv_rows_step(query, err))
		for (size_t i = 0; i < bsv_rows_columns(query); i++) {
			struct bsv_cell cell = bsv_rows_cell(query, i);

			if (cell.type == BSA_INT)
				bsv_rows_int(part->rows, cell.integer);
			else if (cell.type == BSA_REAL)
				bsv_rows_real(part->rows, cell.real);
			else if (cell.type == BSA_STRING)
				bsv_rows_text(part->rows, cell.text);
			else
				bsv_rows_null(part->rows);
		}
	if (r >= 0)
		*ret = part->rows;
	return r;
}

void bsv_report_show(struct bsv_report *report, struct bsv_report_part *part, const char *title,
                     enum bsv_readers readers)
{
	if (part->rows && !report->call->asked.show_sql) {
		bsv_rows_again(part->rows);
		bsv_answer_rows(report->answer, part->name, title, part->rows);
		part->rows = NULL;
	} else {
		bsv_answer_sql(report->answer, part->name, title, part->sql);
		part->sql = NULL;
	}
	if (readers == BSV_FOR_PROGRAMS)
		bsv_answer_hide(report->answer, part->name);
}

void bsv_report_part(struct bsv_report *report, const char *name, const char *title, const char *template,
                     const struct bsv_placeholder *own)
{
	bsv_report_show(report, bsv_report_ask(report, name, template, own), title, BSV_FOR_ALL);
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

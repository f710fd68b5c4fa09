/*
 * report.h -- the common part of the reports: a recording, an answer about it, and SQL templates with their holes filled.
 */
#ifndef BSV_ANSWER_REPORT_H
#define BSV_ANSWER_REPORT_H

#include "answer/answer.h"
#include "base/template.h"

struct bsv_report {
	struct bsv_input input;
	struct bsv_answer *answer;
	const struct bsv_call *call;
	char *texts[16]; /* texts that the answer borrows */
	struct bsv_rows *rows[6];
	size_t n_texts, n_rows;
};

int bsv_report_open(struct bsv_report *report, const struct bsv_call *call, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_report_close(struct bsv_report *report);

/* Add the rows of the filled template as a part of the answer. */
void bsv_report_part(struct bsv_report *report, const char *name, const char *title, const char *template,
                     const struct bsv_hole *own);

/* The same, for programs and for --part: a table neither shows nor computes this part otherwise. */
void bsv_report_hidden(struct bsv_report *report, const char *name, const char *title, const char *template,
                       const struct bsv_hole *own);

/*
 * All rows of the filled template, to be read before bsv_report_part_of adds them as a part. NULL: they could not be read; bsv_report_part_of then reports
 * the error. Borrowed until that call.
 */
struct bsv_rows *bsv_report_rows(struct bsv_report *report, const char *template, const struct bsv_hole *own);

/* Add @rows, which the answer then owns, as a part; NULL: add the rows of the template. */
void bsv_report_part_of(struct bsv_report *report, const char *name, const char *title, const char *template,
                        const struct bsv_hole *own, struct bsv_rows *rows);

/* A title: as bsv_text, and borrowed for as long as @report lives. NULL: no memory. */
const char *bsv_report_text(struct bsv_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keep @text until @report is closed, and free it then. Returns @text. */
char *bsv_report_keep(struct bsv_report *report, char *text);

#define bsv_scoped_report __attribute__((cleanup(bsv_report_close))) struct bsv_report

#endif

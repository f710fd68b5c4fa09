/*
 * report.h -- the report of a command about one recording. A command makes it in two phases:
 *
 * ASK   bsv_report_ask fills the query of each part. bsv_report_read reads the rows of a part where
 *       titles and notes need their sums.
 * SHOW  bsv_report_show adds a part to the answer. The order of these calls is the order of the parts.
 *
 * bsv_report_part does both for a part that nothing else depends on.
 */
#ifndef BSV_ANSWER_REPORT_H
#define BSV_ANSWER_REPORT_H

#include "answer/answer.h"
#include "base/template.h"

/* A question of the report. All of it is owned by the report. */
struct bsv_report_part {
	const char *name;
	char *sql;              /* NULL: no memory, or the answer owns it */
	struct bsv_rows *query; /* the rows borrow its columns */
	struct bsv_rows *rows;  /* NULL: not read, or the answer owns them */
};

enum bsv_readers {
	BSV_FOR_ALL,
	BSV_FOR_PROGRAMS /* a table neither shows nor computes the part, unless --part names it */
};

struct bsv_report {
	struct bsv_input input;
	struct bsv_answer *answer;
	const struct bsv_call *call;
	char *texts[16]; /* texts that the answer borrows */
	struct bsv_report_part parts[12];
	size_t n_texts, n_parts;
};

int bsv_report_open(struct bsv_report *report, const struct bsv_call *call, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_report_close(struct bsv_report *report);

/* Fill the query of a part. Borrowed until the report is closed; never NULL. @name is borrowed. */
struct bsv_report_part *bsv_report_ask(struct bsv_report *report, const char *name, const char *template,
                                       const struct bsv_placeholder *own);

/* Read all rows of @part, once. *ret, before its first row, is borrowed until the part is shown. */
int bsv_report_read(struct bsv_rows **ret, const struct bsv_report *report, struct bsv_report_part *part,
                    struct bsa_err *err);

/* Add @part to the answer, once. @title is borrowed; NULL: the part has no title. */
void bsv_report_show(struct bsv_report *report, struct bsv_report_part *part, const char *title,
                     enum bsv_readers readers);

/* Ask and show, for all readers. */
void bsv_report_part(struct bsv_report *report, const char *name, const char *title, const char *template,
                     const struct bsv_placeholder *own);

/* A title: as bsv_text, and borrowed for as long as @report lives. NULL: no memory. */
const char *bsv_report_text(struct bsv_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keep @text until @report is closed, and free it then. Returns @text. */
char *bsv_report_keep(struct bsv_report *report, char *text);

#define bsv_scoped_report __attribute__((cleanup(bsv_report_close))) struct bsv_report

#endif

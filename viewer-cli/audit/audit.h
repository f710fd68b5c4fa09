/*
 * audit.h -- the common part of the reports: a recording, an answer about it, and SQL templates with their holes filled.
 */
#ifndef BSV_AUDIT_H
#define BSV_AUDIT_H

#include "answer/answer.h"
#include "audit/verdicts.h"
#include "base/template.h"

struct bsv_auditing {
	struct bsv_input input;
	struct bsv_answer *answer;
	const struct bsv_call *call;
	char *texts[16]; /* texts that the answer borrows */
	struct bsv_rows *rows[6];
	size_t n_texts, n_rows;
};

int bsv_auditing_open(struct bsv_auditing *a, const struct bsv_call *call, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_auditing_close(struct bsv_auditing *a);

/*
 * @template with the holes @own (NULL: none) and the holes that every template may have: @with@; @began@, the start of the recording; @from@ and @to@
 * as numbers; and @only_preempted@, @only_victims@, @only_chosen@, joins that keep of preemptions s, inversions i and choices c those of the picked
 * executions. Owned by the caller; NULL: no memory.
 */
char *bsv_audit_fill(const struct bsv_input *input, const char *template, const struct bsv_hole *own);

/* Add the rows of the filled template as a part of the answer. */
void bsv_audit_part(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                    const struct bsv_hole *own);

/* The same, for programs and for --part: a table neither shows nor computes this part otherwise. */
void bsv_audit_hidden(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                      const struct bsv_hole *own);

/*
 * All rows of the filled template, to be read before bsv_audit_part_of adds them as a part. NULL: they could not be read; bsv_audit_part_of then reports
 * the error. Borrowed until that call.
 */
struct bsv_rows *bsv_audit_rows(struct bsv_auditing *a, const char *template, const struct bsv_hole *own);

/* Add @rows, which the answer then owns, as a part; NULL: add the rows of the template. */
void bsv_audit_part_of(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                       const struct bsv_hole *own, struct bsv_rows *rows);

/*
 * The first row of the filled template, for C code. *ret is owned by the caller. Returns 1: a row; 0: no row. Negative: an error.
 */
int bsv_audit_row(struct bsv_rows **ret, const struct bsv_input *input, const char *template,
                  const struct bsv_hole *own, struct bsa_err *err);

/* A title: as bsv_text, and borrowed for as long as @a lives. NULL: no memory. */
const char *bsv_audit_text(struct bsv_auditing *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keep @text until @a is closed, and free it then. Returns @text. */
char *bsv_audit_keep(struct bsv_auditing *a, char *text);

/* SQL: the number of executions that may or may not have had a deadline. Owned by the caller; NULL: no memory. */
char *bsv_audit_unknown_deadlines(const struct bsv_input *input);

/*
 * SQL: a condition on executions that had a deadline and may or may not have met it; and an expression for their number. Owned by the caller; NULL: no
 * memory.
 */
char *bsv_audit_outcome_unknown(const struct bsv_input *input);
char *bsv_audit_unseen_outcomes(const struct bsv_input *input);

struct bsv_missed {
	int64_t deadlines, missed;
	int64_t unknown; /* executions that may have had a deadline */
	int64_t unseen;  /* number of deadlines that may or may not have been met */
	bool lost;       /* whether executions may have been lost: then the deadlines are those that were recorded */
};

/* "330", or, if executions may have been lost, "the 330 recorded". Returns @to. */
enum { BSV_RECORDED_TEXT = 64 };
const char *bsv_recorded(char to[BSV_RECORDED_TEXT], int64_t n, bool lost);

/* The sentence for people where unknown or unseen is not 0. Owned by the caller; NULL: no memory. */
char *bsv_audit_at_least(const struct bsv_missed *m);

/* @judgement is borrowed until the answer is printed. */
void bsv_audit_verdicts(struct bsv_auditing *a, const struct bsv_judgement *judgement);

/* Writes "1.5" or "99.96", never rounded up to 100, into @to and returns @to. */
enum { BSV_PERCENT_TEXT = 16 };
const char *bsv_percent(char to[BSV_PERCENT_TEXT], int64_t part, int64_t whole);

#define cleanup_auditing __attribute__((cleanup(bsv_auditing_close))) struct bsv_auditing

#endif

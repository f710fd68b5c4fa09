/*
 * audit.h -- what the audits have in common: a recording, an answer about it, and templates that are filled for them.
 */
#ifndef BSV_AUDIT_H
#define BSV_AUDIT_H

#include "answer/answer.h"
#include "answer/template.h"
#include "audit/verdicts.h"

struct bsv_auditing {
	struct bsv_input input;
	struct bsv_answer *answer;
	const struct bsv_call *call;
	char *texts[16]; /* what the answer borrows */
	struct bsv_rows *rows[5];
	size_t n_texts, n_rows;
};

int bsv_auditing_open(struct bsv_auditing *a, const struct bsv_call *call, struct bsa_err *err);

/* All 0 is fine. */
void bsv_auditing_close(struct bsv_auditing *a);

/*
 * @template with @own (NULL: none), and with what every template may have: @with@; @began@, of the recording; @from@ and @to@ as numbers;
 * @only_preempted@, @only_victims@, @only_chosen@, for a FROM: of preemptions s, inversions i, choices c, those of what was picked.
 * Owned by the caller; NULL: no memory.
 */
char *bsv_audit_fill(const struct bsv_input *input, const char *template, const struct bsv_hole *own);

/* That as a part of the answer. */
void bsv_audit_part(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                    const struct bsv_hole *own);

/* The same, for programs, and for who asks for it by name: as a table it is not shown otherwise, nor worked out. */
void bsv_audit_hidden(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                      const struct bsv_hole *own);

/*
 * All rows of it, which can be looked at before they are taken for a part: bsv_audit_part_of. NULL: they cannot be had, which that
 * says. Borrowed until then.
 */
struct bsv_rows *bsv_audit_rows(struct bsv_auditing *a, const char *template, const struct bsv_hole *own);

/* @rows is taken. */
void bsv_audit_part_of(struct bsv_auditing *a, const char *name, const char *title, const char *template,
                       const struct bsv_hole *own, struct bsv_rows *rows);

/* The first row of it, for C. *ret is owned by the caller. 1: there is one; 0: none. Negative: why not. */
int bsv_audit_row(struct bsv_rows **ret, const struct bsv_input *input, const char *template,
                  const struct bsv_hole *own, struct bsa_err *err);

/* A title: as bsv_text, and borrowed for as long as @a is. NULL, if there is no memory. */
const char *bsv_audit_text(struct bsv_auditing *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* @text is taken, and freed with @a. */
char *bsv_audit_keep(struct bsv_auditing *a, char *text);

/* SQL: of how many executions it is not known whether they had a deadline. Owned by the caller; NULL: no memory. */
char *bsv_audit_unknown_deadlines(const struct bsv_input *input);

/* SQL: a condition on executions, that one had a deadline, and whether it met it is not known; and an expression, of how many. Owned by the caller; NULL: no
 * memory. */
char *bsv_audit_outcome_unknown(const struct bsv_input *input);
char *bsv_audit_unseen_outcomes(const struct bsv_input *input);

struct bsv_missed {
	int64_t deadlines, missed;
	int64_t unknown; /* executions that may have had a deadline */
	int64_t unseen;  /* of the deadlines: whether they were met is not known */
};

/* What is said where not all of that is known. Owned by the caller; NULL: no memory. */
char *bsv_audit_at_least(const struct bsv_missed *m);

/* @judgement is borrowed until the answer is printed. */
void bsv_audit_verdicts(struct bsv_auditing *a, const struct bsv_judgement *judgement);

/* Into @to, which is returned: "1.5", "99.96", never rounded to a whole hundred. */
enum { BSV_PERCENT_TEXT = 16 };
const char *bsv_percent(char to[BSV_PERCENT_TEXT], int64_t part, int64_t whole);

#define cleanup_auditing __attribute__((cleanup(bsv_auditing_close))) struct bsv_auditing

#endif

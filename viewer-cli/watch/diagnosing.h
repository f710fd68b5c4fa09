/* diagnosing.h -- shared by diagnose.c and diagnose_fold.c: a case, its database, and the causes found there. */
#ifndef BSV_DIAGNOSING_H
#define BSV_DIAGNOSING_H

#include "input/fill.h"
#include "watch/case.h"

struct bsv_diagnosing {
	struct bsv_case *c;
	const char *database;
	struct bsv_input input;
	const struct bsv_condition *condition; /* the one in hand */
	const struct bsv_case_fired *fired;
	const char *episodes; /* SQL of a template's @episodes@; NULL for other templates */
	int64_t at;           /* the case's, on the clock of the database */
	int64_t slack;        /* time before and after the condition that belongs to the case, too */
};

/* A column of a row, by its name. Texts are borrowed until the next row. */
int64_t bsv_diagnosing_number(const struct bsv_rows *rows, const char *name, int64_t otherwise);
const char *bsv_diagnosing_text(const struct bsv_rows *rows, const char *name);

/* "camera's mobilenet", as far as both are known. Owned by the caller; NULL: no memory. */
char *bsv_diagnosing_whose(const char *app, const char *model);

/* The rows of @template, none of them taken yet. @only, SQL, is taken. */
int bsv_diagnosing_ask(struct bsv_rows **ret, struct bsv_diagnosing *d, const char *template, char *only,
                       struct bsa_err *err);

/* Add @cause to the case, with the condition that is diagnosed. All texts of @cause are taken. */
void bsv_diagnosing_add(struct bsv_diagnosing *d, struct bsv_case_cause cause);

/* The same; app, user and model are read from @row. */
void bsv_diagnosing_add_row(struct bsv_diagnosing *d, const struct bsv_rows *row, struct bsv_case_cause cause);

/* @add for each row of @template. */
int bsv_diagnosing_add_all(struct bsv_diagnosing *d, const char *template, char *only,
                           void (*add)(struct bsv_diagnosing *d, const struct bsv_rows *row), struct bsa_err *err);

/* Deadlines that were missed in the time of the case, by their causes. @only, SQL, is taken. */
int bsv_diagnose_misses(struct bsv_diagnosing *d, char *only, struct bsa_err *err);

/* ---- diagnose_fold.c: of the condition in hand; @only, SQL, is taken ---- */

int bsv_diagnose_starvation(struct bsv_diagnosing *d, char *only, struct bsa_err *err);
int bsv_diagnose_inversion(struct bsv_diagnosing *d, char *only, struct bsa_err *err);
int bsv_diagnose_silence(struct bsv_diagnosing *d, char *only, struct bsa_err *err);
int bsv_diagnose_rule(struct bsv_diagnosing *d, struct bsa_err *err);

#endif

/*
 * answer.h -- the answer of a command: parts, each of which is a table; notes below them; a
 * verdict; and the coverage, which shows how far to trust the figures.
 *
 * As a table, all parts are printed with their titles, or the drawing of the command replaces them.
 * In JSON the members columns and rows are the first part, and the member parts has the others. CSV
 * has the first part only. --part NAME prints that part alone, in any format.
 */
#ifndef BSV_ANSWER_H
#define BSV_ANSWER_H

#include "base/rows.h"
#include "base/screen.h"
#include "input/input.h"

struct bsv_answer;

enum bsv_outcome { BSV_PASS, BSV_FAIL, BSV_CANNOT_TELL };

/* One rule and its outcome. Strings are borrowed until the answer is printed; a duration is in ns. */
struct bsv_verdict {
	const char *name;  /* name of the rule, such as max_lag_ns */
	const char *class; /* class of figure and bound, as in bsv_column; NULL: plain numbers */
	double figure, bound;
	enum bsv_outcome outcome;
	bool idle;       /* passed, because nothing happened that the rule could judge */
	const char *why; /* reason, a sentence for people; NULL: the numbers are reason enough */
};

/*
 * NULL: no memory. All functions below accept NULL. @call and @input are borrowed. @input may be
 * NULL: the answer is not about a database.
 */
struct bsv_answer *bsv_answer_new(const struct bsv_call *call, struct bsv_input *input);

/* Frees the answer; accepts NULL. Returns NULL. */
struct bsv_answer *bsv_answer_free(struct bsv_answer *a);

static inline void bsv_answer_fini(struct bsv_answer **a)
{
	bsv_answer_free(*a);
}

/* An answer that is freed at the end of its scope. */
#define bsv_scoped_answer __attribute__((cleanup(bsv_answer_fini))) struct bsv_answer

/*
 * Add a part. The answer owns @sql or @rows from here on (NULL: no memory, which bsv_answer_print
 * reports). @name and @title are borrowed; @title NULL: the part has no title.
 */
void bsv_answer_sql(struct bsv_answer *a, const char *name, const char *title, char *sql);
void bsv_answer_rows(struct bsv_answer *a, const char *name, const char *title, struct bsv_rows *rows);

/* The times and durations of the part @name are printed as they are, in ns. */
void bsv_answer_raw(struct bsv_answer *a, const char *name);

/* The part @name is for programs: a table neither shows nor computes the part, unless --part names it. */
void bsv_answer_hide(struct bsv_answer *a, const char *name);

/*
 * Print a drawing for people in place of all parts (but not where --part names one). @draw prints
 * to @to; @screen has the width of the drawing, and whether colours are allowed.
 */
void bsv_answer_draw(struct bsv_answer *a,
                     int (*draw)(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err), void *ctx);

/* Print the answer to @to, which is borrowed and not a terminal, in place of the standard output. */
void bsv_answer_to(struct bsv_answer *a, FILE *to);

/*
 * Name the @options that decided what was replayed. A table names them before its parts, JSON in
 * the member "replayed_with", and CSV in a last column of that name. @options is borrowed until the
 * answer is printed; "": none, so what was recorded.
 */
void bsv_answer_replayed(struct bsv_answer *a, const char *options);

/* Add a note below the parts, for people: how to read the answer, and which command to run next. In JSON: notes. */
void bsv_answer_note(struct bsv_answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Add one rule. The verdict of the answer is its worst rule, and among equals the first; FAIL is
 * worse than CANNOT TELL.
 */
void bsv_answer_verdict(struct bsv_answer *a, const struct bsv_verdict *v);

/*
 * Print the answer (or, for --show-sql, the SQL of its parts). Returns an exit status: with
 * --verdict, or @judged, the status of the verdict; otherwise BSV_DONE. Negative: an error.
 */
int bsv_answer_print(struct bsv_answer *a, bool judged, struct bsa_err *err);

#endif

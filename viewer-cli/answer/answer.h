/*
 * answer.h -- what a command answers: parts, each of which is a table; remarks beneath; a verdict; and how far to trust all that.
 *
 * As a table, all parts are shown with their titles, or what a command draws instead of them. In JSON the first part has the members columns
 * and rows, the others are below parts. CSV has the first part. --part NAME is that part alone, in any form.
 */
#ifndef BSV_ANSWER_H
#define BSV_ANSWER_H

#include "answer/rows.h"
#include "answer/screen.h"
#include "input/input.h"

struct bsv_answer;

enum bsv_outcome { BSV_PASS, BSV_FAIL, BSV_CANNOT_TELL };

/* One rule, and what came of it. Strings are borrowed until the answer is printed; a duration is in ns. */
struct bsv_verdict {
	const char *name;  /* what was looked at: max_lag_ns */
	const char *class; /* of figure and bound, as in bsv_column: they are printed as such; NULL: plain numbers */
	double figure, bound;
	enum bsv_outcome outcome;
	const char *why; /* a sentence for people; NULL: the numbers say it all */
};

/* NULL: no memory. All functions below are fine with that. @call and @input are borrowed. @input may be NULL: no database is behind it. */
struct bsv_answer *bsv_answer_new(const struct bsv_call *call, struct bsv_input *input);

/* NULL is fine. Returns NULL. */
struct bsv_answer *bsv_answer_free(struct bsv_answer *a);

static inline void bsv_answer_fini(struct bsv_answer **a)
{
	bsv_answer_free(*a);
}

/* One that goes away at the end of its scope. */
#define bsv_scoped_answer __attribute__((cleanup(bsv_answer_fini))) struct bsv_answer

/* A part: @sql or @rows is taken (NULL: no memory, which bsv_answer_print says). @name and @title are borrowed; @title NULL: none. */
void bsv_answer_sql(struct bsv_answer *a, const char *name, const char *title, char *sql);
void bsv_answer_rows(struct bsv_answer *a, const char *name, const char *title, struct bsv_rows *rows);

/* The times and durations of the latest part are printed as they are, in ns. */
void bsv_answer_raw(struct bsv_answer *a);

/* The latest part is there for programs: it is not shown as a table unless --part asks for it. */
void bsv_answer_hide(struct bsv_answer *a);

/*
 * Shown to people in place of all parts (but not for --part). It prints to @to, and knows from @screen how wide it may be and whether
 * there are colours.
 */
void bsv_answer_draw(struct bsv_answer *a,
                     int (*draw)(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err), void *ctx);

/* It is printed to @to, which is borrowed, and no screen; not to the standard output. */
void bsv_answer_to(struct bsv_answer *a, FILE *to);

/* A line beneath the parts, for people: what to make of it, and what to ask next. In JSON: notes. */
void bsv_answer_note(struct bsv_answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One of its rules. The answer's verdict is the worst of them, the first one of the worst; failed is worse than cannot tell. */
void bsv_answer_verdict(struct bsv_answer *a, const struct bsv_verdict *v);

/*
 * Print it (or, for --show-sql, the SQL of its parts). Returns an exit status: with --verdict, or @judged, that of the verdict; otherwise
 * BSV_DONE. Or negative.
 */
int bsv_answer_print(struct bsv_answer *a, bool judged, struct bsa_err *err);

#endif

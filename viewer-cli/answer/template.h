/*
 * template.h -- SQL with holes. The files below reports/ are strings, bsv_sql_NAME of reports/NAME.sql.
 */
#ifndef BSV_TEMPLATE_H
#define BSV_TEMPLATE_H

#include "reports.h" /* made from reports/: extern const char bsv_sql_NAME[] */

struct bsv_hole {
	const char *name, *text; /* a row with a NULL name ends a table */
};

/* @template, with @text for each @name@. Owned by the caller; NULL: no memory. A hole without a text is a bug. */
char *bsv_fill(const char *template, const struct bsv_hole *holes);

/* As printf, into memory that the caller owns; NULL: no memory. */
char *bsv_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A string of SQL, with its quotes; owned by the caller. */
char *bsv_quoted(const char *s);

#endif

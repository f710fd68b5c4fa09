/* template.h -- SQL with holes. Each file reports/NAME.sql is the string bsv_sql_NAME. */
#ifndef BSV_BASE_TEMPLATE_H
#define BSV_BASE_TEMPLATE_H

#include "reports.h" /* made from reports/: extern const char bsv_sql_NAME[] */

struct bsv_hole {
	const char *name, *text; /* a row with a NULL name ends a table */
};

/* Replace each @name@ in @template by its @text. Owned by the caller; NULL: no memory. A hole without a text is a bug. */
char *bsv_fill(const char *template, const struct bsv_hole *holes);

/* As printf, into memory owned by the caller; NULL: no memory. */
char *bsv_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* @s as a quoted string of SQL; owned by the caller. */
char *bsv_quoted(const char *s);

#endif

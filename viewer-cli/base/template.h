/*
 * template.h -- SQL with placeholders. Each file reports/NAME.sql is the string bsv_sql_NAME.
 *
 * C code has no SQL of its own. A statement that is no report, because C code alone reads its rows,
 * is a file like a report:
 *
 *   a number or a text   is a parameter, ":id": bsa_query_int gives a prepared query its value, and
 *                        bsv_rows_bound gives rows their values.
 *   a relation, a column is a placeholder, "@relation@".
 *   apps, models, picked (input/input.h) come from the placeholder "@relations@" at the beginning of the
 *                        statement, which the struct bsv_input's @with fills. A report has "@with@"
 *                        there: burstscope sql lists what has it.
 *
 *   r = bsv_query_new(&q, db, bsv_sql_NAME,
 *                     (const struct bsv_placeholder[]){ { "relations", input->with }, { NULL, NULL } }, err);
 *
 * SQL that is put into other statements is reports/parts/NAME.sql: the string bsv_sql_NAME without
 * the comment at its beginning and the end of its last line, because people see these statements
 * (--show-sql). What is only a line or two, such as a condition or a list of columns, stands with
 * others of its subject in reports/fragments/FILE.sql, each after a comment "-- NAME: what it is".
 */
#ifndef BSV_BASE_TEMPLATE_H
#define BSV_BASE_TEMPLATE_H

#include "bsa/db.h"
#include "reports.h" /* made from reports/: extern const char bsv_sql_NAME[] */

struct bsv_placeholder {
	const char *name, *text; /* a row with a NULL name ends a table */
};

/*
 * Replace each @name@ in @template by its @text. Owned by the caller; NULL: no memory. A placeholder
 * without a text is a bug.
 */
char *bsv_fill(const char *template, const struct bsv_placeholder *placeholders);

/*
 * Fill and prepare @template; NULL @placeholders: it has none. *ret is owned by the caller, who gives each
 * parameter its value before the first step.
 */
int bsv_query_new(struct bsa_query **ret, struct bsa_db *db, const char *template,
                  const struct bsv_placeholder *placeholders, struct bsa_err *err);

/* "@all AND @more"; where one of them is empty, the other one. Takes both; NULL: no memory, or one of them was NULL. */
char *bsv_and(char *all, char *more);

/* "@all AND @column = 'value'"; NULL @value: @all. Takes @all; NULL: no memory, or it was NULL. */
char *bsv_and_equal(char *all, const char *column, const char *value);

/* @s as a quoted string of SQL; owned by the caller. */
char *bsv_quoted(const char *s);

#endif

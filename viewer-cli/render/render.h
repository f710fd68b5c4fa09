/*
 * render.h -- the rows of a query, for people or programs.
 *
 * Rows are printed as they come: however many there are, a table keeps only the first ones, to see how wide its columns are.
 */
#ifndef BSV_RENDER_H
#define BSV_RENDER_H

#include "bsa/db.h"
#include "coverage.h"

#include <stdio.h>

enum bsv_format { BSV_TABLE, BSV_JSON, BSV_CSV };

/* Their names, in this order, ended by NULL. */
extern const char *const bsv_formats[];

/* What stands around the rows in JSON. */
struct bsv_answer {
	const char *command, *input;
	const struct bsv_coverage *coverage;
};

/* All rows of @q, which was not stepped yet, a query of @db. */
int bsv_render(FILE *to, enum bsv_format format, struct bsa_db *db, struct bsa_query *q,
               const struct bsv_answer *answer, struct bsa_err *err);

/* One each, for bsv_render. */
int bsv_render_table(FILE *to, struct bsa_query *q, struct bsa_err *err);
int bsv_render_csv(FILE *to, struct bsa_query *q, struct bsa_err *err);
int bsv_render_json(FILE *to, struct bsa_db *db, struct bsa_query *q, const struct bsv_answer *answer,
                    struct bsa_err *err);

#endif

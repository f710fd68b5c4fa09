/*
 * render.h -- rows, for people or programs.
 *
 * They are printed as they come: however many there are, a table keeps only the first ones, to see
 * how wide its columns are.
 */
#ifndef BSV_RENDER_H
#define BSV_RENDER_H

#include "base/coverage.h"
#include "base/rows.h"
#include "base/screen.h"

#include <stdio.h>

enum bsv_format { BSV_TABLE, BSV_JSON, BSV_CSV };

/* Their names, in this order, ended by NULL. */
extern const char *const bsv_formats[];

/*
 * All rows of @rows, none of which was taken yet. @raw: with the columns' own names, and ns as they
 * are. A table that is wider than the screen is broken into blocks of columns.
 */
int bsv_render_table(FILE *to, struct bsv_rows *rows, const struct bsv_screen *screen, bool raw, struct bsa_err *err);

enum bsv_csv {
	BSV_CSV_ESCAPED = 1, /* for a terminal, with nothing in it that one would obey */
	BSV_CSV_SAFE = 2     /* for a spreadsheet, with no text in it that one would compute */
};

/*
 * @replayed: the value of a last column "replayed_with" in each row; NULL: there is no such column.
 * @how: bits of enum bsv_csv.
 */
int bsv_render_csv(FILE *to, struct bsv_rows *rows, const char *replayed, unsigned how, struct bsa_err *err);

/*
 * The version of the JSON of answers, docs/answer.schema.json. Until 4 it was BSA_SCHEMA_VERSION of
 * the database; since 5 the two count on their own: 5 made strings of integers beyond 2^53, and put
 * times since the start of the recording beside those since 1970.
 */
enum { BSV_ANSWER_VERSION = 5 };

/*
 * The members columns and rows of an object. @start: when the recording began, on the clock of
 * @rows; NULL if rows are not of one recording.
 */
int bsv_render_json(FILE *to, struct bsv_rows *rows, const int64_t *start, struct bsa_err *err);

/* As printf does it, in less time: there may be a hundred million. */
void bsv_print_int(FILE *to, int64_t value);

/* The parts of objects: a string; a member; a number, or null if JSON has no such number. */
void bsv_json_text(FILE *to, const char *s, size_t n);
void bsv_json_field(FILE *to, const char *name, const char *value);
void bsv_json_real(FILE *to, double value);

#endif

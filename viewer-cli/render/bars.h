/*
 * bars.h -- tables that have a bar at the end of each row: stretches of time, all to one scale, below each other.
 *
 * Sections have columns of their own, but the bars of all begin in the same column. Nothing is
 * wider than the screen: columns that can be done without are left out, names are cut, and at last
 * there are no bars.
 */
#ifndef BSV_RENDER_BARS_H
#define BSV_RENDER_BARS_H

#include "base/screen.h"
#include "bsa/err.h"

struct bsv_bars_column {
	const char *name; /* NULL ends them */
	bool right;
	int dear;  /* 0: always there; otherwise the largest is left out first */
	int least; /* 0: never cut; otherwise it may be, to so many */
};

struct bsv_bars;

/*
 * Bars for the time from @from to @to. NULL: no memory, which bsv_bars_print reports. The functions
 * below accept NULL.
 */
struct bsv_bars *bsv_bars_new(int64_t from, int64_t to);

/* NULL is fine. Returns NULL. */
struct bsv_bars *bsv_bars_free(struct bsv_bars *b);

/* A line through all bars: e.g. the deadline. */
void bsv_bars_line(struct bsv_bars *b, int64_t at);

/* @columns are borrowed until it is printed. @title: a line above it, which is copied; NULL: none. */
void bsv_bars_section(struct bsv_bars *b, const char *title, const struct bsv_bars_column *columns);

/* The next row; @paint is its bar's. Then its cells, from the left on: text is copied, NULL is "". */
void bsv_bars_row(struct bsv_bars *b, int paint);
void bsv_bars_cell(struct bsv_bars *b, const char *text);

/* Add a stretch to the row's bar. If stretches overlap, the bar shows too much. */
void bsv_bars_stretch(struct bsv_bars *b, int64_t began, int64_t ended);

/* A mark in the row's bar, one column wide; later ones lie above. @glyph is borrowed. */
void bsv_bars_mark(struct bsv_bars *b, int64_t at, const char *glyph);

/* A line of text below the latest row, as wide as all; copied. */
void bsv_bars_text(struct bsv_bars *b, const char *text);

/* 0, or negative. */
int bsv_bars_print(struct bsv_bars *b, FILE *to, const struct bsv_screen *screen, struct bsa_err *err);

enum { BSV_WIDTH_OTHERWISE = 80 }; /* where a screen has no end */

static inline int bsv_columns(const struct bsv_screen *screen)
{
	return screen->width > 0 ? screen->width : BSV_WIDTH_OTHERWISE;
}

/* @text in lines that are not wider than the screen, the second and later ones with @indent blanks before them. */
void bsv_wrap(FILE *to, const struct bsv_screen *screen, int indent, const char *text);

#endif

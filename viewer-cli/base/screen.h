/* screen.h -- the screen that output is printed to: its width, and whether it has colours and more than ASCII. */
#ifndef BSV_BASE_SCREEN_H
#define BSV_BASE_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bsv_screen {
	int width;  /* width in columns; 0: no limit, because the standard output is not a terminal */
	bool color; /* colours allowed, by --color, NO_COLOR, TERM and whether it is a terminal */
	bool unicode;
};

/* Paints name a meaning, not a colour: a reader without colours must miss nothing. */
enum bsv_paint {
	BSV_PLAIN,
	BSV_TITLE,
	BSV_GOOD,
	BSV_BAD,
	BSV_UNSURE_PAINT,
	BSV_FAINT,
	BSV_HUE /* + 0 to 5: hues that distinguish things */
};

/* The screen of the standard output; @color is enum bsv_color. */
struct bsv_screen bsv_screen_get(int color);

/* The sequences that turn @paint on and off; "" without colours. */
const char *bsv_paint_on(const struct bsv_screen *s, int paint);
const char *bsv_paint_off(const struct bsv_screen *s, int paint);

/* Print @s in as many lines as it needs; all but the first are indented by @indent. Line ends in @s are kept. */
void bsv_print_wrapped(FILE *to, const struct bsv_screen *screen, int paint, const char *s, int indent);

/* The same, behind @used columns of the first line, and after a @word that alone is painted. */
void bsv_print_painted(FILE *to, const struct bsv_screen *screen, int paint, const char *word, const char *s, int used,
                       int indent);

/* The columns of the terminal @to; 0: @to is not a terminal. */
int bsv_terminal_width(FILE *to);

/*
 * Print one line. Where @to is a terminal, it becomes as many lines as it needs, broken between
 * words; all but the first are indented. In a file or a pipe it stays one line, because programs
 * read it.
 */
void bsv_print_line(FILE *to, const char *line);

/* The same on standard error, for people. Names of strangers in it are the caller's to make printable. */
void bsv_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, unless @quiet. */
void bsv_notice_unless(bool quiet, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A progress line that is redrawn in place, at most ten times a second; never drawn where standard
 * error is not a terminal.
 */
struct bsv_progress {
	bool on, shown;
	uint64_t drawn_ns;
};

void bsv_progress_init(struct bsv_progress *p, bool wanted);

/* Is it time to redraw? */
bool bsv_progress_due(struct bsv_progress *p);
void bsv_progress_draw(struct bsv_progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Erase the line. */
void bsv_progress_fini(struct bsv_progress *p);

#endif

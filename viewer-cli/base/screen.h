/* screen.h -- the screen that output is printed to: its width, and whether it has colours and more than ASCII. */
#ifndef BSV_BASE_SCREEN_H
#define BSV_BASE_SCREEN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
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

/* Columns that the UTF-8 text @s takes up on a terminal (wide letters: 2; combining ones: 0). */
int bsv_width(const char *s);

/* Decode the first letter of @s, which has @n bytes, n > 0. Returns its length; 0: not UTF-8. */
size_t bsv_letter(const char *s, size_t n, uint32_t *ret);

/*
 * How many of the first @most bytes of the UTF-8 text @s are whole letters: the precision with
 * which printf cuts it between two of them.
 */
int bsv_cut(const char *s, int most);

/*
 * Must @letter not reach a terminal, because a terminal obeys it as a control, turns the direction
 * of text with it, or shows nothing?
 */
bool bsv_obeyed(uint32_t letter);

/*
 * Names come from strangers. Returns @s with such letters escaped, cut to @most columns (0: no
 * limit) with an ellipsis. Owned by the caller; NULL: no memory.
 */
char *bsv_printable(const char *s, size_t bytes, int most);

/* The same without a limit, but line breaks stay. Owned by the caller; NULL: no memory. */
char *bsv_printable_lines(const char *s, size_t bytes);

/* How many bytes of @s fit into a line @width wide: to the end of a word, if a word ends there. */
size_t bsv_line(const char *s, int width);

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
void bsv_notice_of(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

enum { BSV_DURATION_TEXT = 32 };

/* Writes "1.25 ms", in the unit that fits, into @to and returns @to: as duration() of SQL prints it. */
const char *bsv_duration(char to[BSV_DURATION_TEXT], int64_t ns);

/*
 * The same in the unit of @other, with which a sentence compares it, if that is the larger one and
 * @ns is at least a hundredth of it.
 */
const char *bsv_duration_beside(char to[BSV_DURATION_TEXT], int64_t ns, int64_t other);

/*
 * @ns, truncated and limited to plus or minus 2^62, so that the difference of two results does not
 * overflow. Not a number: 0.
 */
int64_t bsv_whole(double ns);

#endif

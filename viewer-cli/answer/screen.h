/*
 * screen.h -- what is printed to: how wide it is, and whether it has colours and more than ASCII.
 */
#ifndef BSV_SCREEN_H
#define BSV_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bsv_screen {
	int width;  /* 0: no end, where the standard output is no terminal */
	bool color; /* --color, NO_COLOR, TERM, a terminal */
	bool unicode;
};

/* What it means, never what it looks like: whoever sees no colours must miss nothing. */
enum bsv_paint {
	BSV_PLAIN,
	BSV_TITLE,
	BSV_GOOD,
	BSV_BAD,
	BSV_UNSURE_PAINT,
	BSV_FAINT,
	BSV_HUE /* + 0 to 5: to tell things apart */
};

/* Of the standard output; @color is enum bsv_color. */
struct bsv_screen bsv_screen_get(int color);

/* What turns @paint on, and off again; "" without colours. */
const char *bsv_paint_on(const struct bsv_screen *s, int paint);
const char *bsv_paint_off(const struct bsv_screen *s, int paint);

/* Columns that UTF-8 takes up on a terminal (wide letters: 2; combining ones: 0). */
int bsv_width(const char *s);

/* The letter that @s begins with, of @n bytes, n > 0, and its length; 0: it is no UTF-8. */
size_t bsv_letter(const char *s, size_t n, uint32_t *ret);

/* Does a terminal do something other than to show it? */
bool bsv_obeyed(uint32_t letter);

/*
 * Names come from strangers: @s with nothing in it that a terminal would obey, cut to @most columns (0: any) with an ellipsis. Owned by the caller;
 * NULL: no memory.
 */
char *bsv_printable(const char *s, size_t bytes, int most);

/* How many bytes of @s, at most @width wide, go into a line: to the end of a word, if there is one. */
size_t bsv_line(const char *s, int width);

/* @s, in as many lines as it takes, all but the first @indent further right. Lines that it has stay as they are. */
void bsv_print_wrapped(FILE *to, const struct bsv_screen *screen, int paint, const char *s, int indent);

/* The same, behind @used columns of the first line, and a @word that is painted alone. */
void bsv_print_painted(FILE *to, const struct bsv_screen *screen, int paint, const char *word, const char *s, int used,
                       int indent);

enum { BSV_DURATION_TEXT = 32 };

/* "1.25 ms", with the unit that fits, into @to, which is returned: as duration() of SQL says it. */
const char *bsv_duration(char to[BSV_DURATION_TEXT], int64_t ns);

/* @ns, cut, however much it is: up to 2^62 of them, of which two can be told apart. Not a number is 0. */
int64_t bsv_whole(double ns);

#endif

/* letters.h -- the letters of UTF-8 text: how to decode them, how wide they are, and which a terminal must not get. */
#ifndef BSV_BASE_LETTERS_H
#define BSV_BASE_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does the locale that main has set write UTF-8? */
bool bsv_has_unicode(void);

/* Columns that the UTF-8 text @s takes up on a terminal (wide letters: 2; combining ones: 0). */
int bsv_width(const char *s);

/* Decode the first letter of @s, which has @n bytes, n > 0. Returns its length; 0: not UTF-8, and *ret is U+FFFD. */
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

#endif

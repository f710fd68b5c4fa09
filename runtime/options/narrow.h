/*
 * narrow.h -- prints the lines and tables of a program in the width of the terminal.
 *
 * A table is printed as lines whose cells are separated by NARROW_CELL instead of a blank. Where the terminal is
 * narrower than the table, the table is printed in parts below each other: each has the first cell of every line, and
 * as many of the other columns as there is room for. Other lines are broken between words; the text behind a name and
 * two blanks goes on below itself. In a file or a pipe every line stays whole.
 */
#ifndef NNB_OPTIONS_NARROW_H
#define NNB_OPTIONS_NARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define NARROW_CELL "\v"

struct narrow {
	FILE *before; /* the standard output meanwhile */
	char *text;   /* owned */
	size_t bytes, room;
};

/*
 * @n stays where it is until narrow_end. Keep what is printed to the standard output, until narrow_end. If there is
 * no memory now, the lines are printed as they come.
 */
void narrow_begin(struct narrow *n);

/*
 * Print the kept lines, in the width of the standard output. False: there was no memory for all of them; an error
 * line reports it.
 */
bool narrow_end(struct narrow *n);

/* Print @text, lines of @bytes in all, in @width columns; 0: any number. Each line ends with a line end. */
void narrow_print(FILE *to, const char *text, size_t bytes, size_t width);

#endif

/*
 * terminal.h -- the whole screen of a terminal, and keys; given back as it was, whatever ends the program.
 */
#ifndef BSV_LIVE_TERMINAL_H
#define BSV_LIVE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Take the screen: letters are not shown, keys come at once. False: there is no terminal on the
 * standard input and output.
 */
bool bsv_terminal_take(void);

/* Give it back. It may be taken again. Not taken is fine. */
void bsv_terminal_give(void);

/* How many lines and columns there are. */
void bsv_terminal_size(int *ret_columns, int *ret_lines);

/* Show @text, of whole lines, instead of what is there. */
void bsv_terminal_show(const char *text, size_t n);

/* The next key that was typed; 0: none. */
int bsv_terminal_key(void);

#endif

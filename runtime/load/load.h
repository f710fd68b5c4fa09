/*
 * load.h -- shared by the files of nnburst-load: exit statuses, units of time, and text for a terminal.
 *
 * nnburst-load(1), nnburst-scenario(5).
 */
#ifndef LOAD_H
#define LOAD_H

#include <stddef.h>
#include <stdint.h>

/* Exit status. */
enum { LOAD_DONE = 0, LOAD_FAILED = 1, LOAD_USAGE = 2, LOAD_INPUT = 4, LOAD_ENVIRONMENT = 5 };

#define LOAD_US 1000u
#define LOAD_MS 1000000u
#define LOAD_S 1000000000ull

/* Replace all but printable ASCII, before a text of a file goes to a terminal. */
void load_make_printable(char *text);

#endif

/*
 * load.h -- shared by the files of nnburst-load: exit statuses, and the text of words and times.
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

/* CLOCK_MONOTONIC, in ns. */
uint64_t load_now(void);

/* Replace all but printable ASCII, before a text of a file goes to a terminal. */
void load_make_printable(char *text);

/* A number with a unit (ns, us, ms, s, min), as in "2.5ms". 0 and *ret in ns, or -EINVAL. */
int load_time(const char *text, uint64_t *ret);

/* The reverse, in the largest unit that leaves a whole number: "2500us". Returns @to. */
enum { LOAD_TIME_TEXT = 32 };
char *load_time_text(char to[LOAD_TIME_TEXT], uint64_t ns);

#endif

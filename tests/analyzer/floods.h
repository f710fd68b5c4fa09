/*
 * floods.h -- traces in which one thing is there very often: an identity that the fold keeps, or a fact that the database has rows of.
 *
 * Whoever can emit events can make each of them.
 */
#ifndef ANALYZER_FLOODS_H
#define ANALYZER_FLOODS_H

#include <stdio.h>

struct flood {
	const char *name;                    /* NULL: there are no more */
	void (*write)(FILE *to, unsigned n); /* lines of script.h: @n of what the flood is of */
	const char *known;                   /* the bar that it breaks with many; NULL: none */
};

extern const struct flood floods[];

/* One event, whatever @n is. */
void flood_nothing(FILE *to, unsigned n);

/* Lines of @f, @n of what it is of. Owned by the caller: free. */
char *flood_lines(const struct flood *f, unsigned n);

#endif

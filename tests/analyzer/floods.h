/*
 * floods.h -- traces in which one thing is there very often: an identity that the fold keeps, or a fact that the
 * database has rows of.
 *
 * Each program that can emit events can make each of them.
 */
#ifndef ANALYZER_FLOODS_H
#define ANALYZER_FLOODS_H

#include <stdbool.h>
#include <stdio.h>

/*
 * A flood is a service of one lane, an app if it has one, the lines @before, and @each for every thing i, from 0. In
 * these lines are numbers: $c $m $s of the app's connection, model and stream; $C $S of a connection and stream i,
 * the first of which are the app's; $N $T of a model and stream i behind the app's; $i and $I are i and i + 1. A
 * flood that cannot be written so has a function.
 */
struct flood {
	const char *name; /* NULL: there are no more */
	bool has_app;
	const char *before, *each;
	void (*write)(FILE *to, unsigned n); /* instead of those: lines of script.h, @n of what the flood is of */
	const char *known;                   /* the bar that it breaks with many; NULL: no bar */
};

extern const struct flood floods[];

/* One event, whatever @n is. */
void flood_nothing(FILE *to, unsigned n);

/* Lines of @f, @n of what it is of. Owned by the caller: free. */
char *flood_lines(const struct flood *f, unsigned n);

#endif

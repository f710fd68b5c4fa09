/*
 * abort_unless.h -- abort_unless() for conditions of a test's own building blocks: it prints the condition and
 * its place.
 */
#ifndef ABORT_UNLESS_H
#define ABORT_UNLESS_H

#include <stdio.h>
#include <stdlib.h>

#define abort_unless(what)                                                                 \
	do {                                                                               \
		if (!(what)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                           \
		}                                                                          \
	} while (0)

#endif

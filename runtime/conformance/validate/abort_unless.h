/*
 * abort_unless.h -- for conditions that cannot fail while the validator builds its models: a failure prints its place
 * and aborts.
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

/* abort_unless.h -- for what cannot fail in what the validator builds its models from: a broken one says so, and where. */
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

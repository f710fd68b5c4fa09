/* open.c -- finds and loads the tracepoint provider. */
#include "trace/open.h"

#include <pthread.h>

#include "base/beside.h"
#include "nbt/nbt.h"

static void provider_find(void)
{
	char path[NNB__PATH_BYTES];

	nbt_open(nnb__path_beside("tracepoints.so", path) ? NULL : path, NULL);
}

void nnb__trace_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, provider_find);
}

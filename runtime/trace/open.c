/* open.c -- finds and loads the tracepoint provider. */
#include "trace/open.h"

#include <pthread.h>

#include "base/beside.h"
#include "nbt/nbt.h"
#include "trace/wait_file.h"

/*
 * Must LTTng-UST stay away from the file? A program that makes the file leaves it empty for some microseconds, so an
 * empty one is looked at again.
 */
static bool is_trap(const char *path)
{
	struct stat st;

	if (nnb__wait_file_look(path, &st) != -EPERM)
		return false;
	usleep(10000);
	return nnb__wait_file_look(path, &st) == -EPERM;
}

static void provider_find(void)
{
	char path[NNB__PATH_BYTES], own[NNB__WAIT_FILE_BYTES];

	nnb__wait_file_own(own);
	if (is_trap(NNB__WAIT_FILE) || is_trap(own))
		return;
	nbt_open(nnb__path_beside("tracepoints.so", path) ? NULL : path, NULL);
}

void nnb__trace_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, provider_find);
}

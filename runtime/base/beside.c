/* beside.c -- asks the dynamic linker (dladdr) where this library lies, and makes paths beside it. */
#include "base/beside.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nnb__path_beside(const char *name, char ret[NNB__PATH_BYTES])
{
	char own[NNB__PATH_BYTES];
	Dl_info info;
	int n;

	if (!dladdr(&nnb__path_beside, &info) || !realpath(info.dli_fname, own))
		return -ENOENT;
	*strrchr(own, '/') = '\0';
	n = snprintf(ret, NNB__PATH_BYTES, "%s/nnburst/%s", own, name);
	return n < 0 || n >= NNB__PATH_BYTES ? -ENAMETOOLONG : 0;
}

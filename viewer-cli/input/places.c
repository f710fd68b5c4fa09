/* places.c -- finds our own program and directory, other programs, and the provider of events. */
#include "input/places.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool bsv_place_self(char ret[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", ret, PATH_MAX - 1);

	if (n <= 0)
		return false;
	ret[n] = 0;
	return true;
}

/* The directory of burstscope. */
static bool own_directory(char ret[PATH_MAX])
{
	char *slash = bsv_place_self(ret) ? strrchr(ret, '/') : NULL;

	if (!slash)
		return false;
	*slash = 0;
	return true;
}

/* The real path of @path, if it is a file with @mode. */
static bool place_take(const char *path, int mode, char ret[PATH_MAX])
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, mode) && realpath(path, ret);
}

bool bsv_place_in_path(const char *name, char ret[PATH_MAX])
{
	const char *at = getenv("PATH");
	char whole[PATH_MAX];

	for (at = at ? at : "/bin:/usr/bin"; *at; at += strspn(at, ":")) {
		int n = (int)strcspn(at, ":");

		if (snprintf(whole, sizeof(whole), "%.*s/%s", n, at, name) < (int)sizeof(whole) &&
		    place_take(whole, X_OK, ret))
			return true;
		at += n;
	}
	return false;
}

bool bsv_place_program(const char *name, char ret[PATH_MAX])
{
	static const char *const near[] = { ".", "../sbin", "../bin", "../runtime" };
	char own[PATH_MAX], whole[PATH_MAX];

	if (own_directory(own))
		for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++)
			if (snprintf(whole, sizeof(whole), "%s/%s/%s", own, near[i], name) < (int)sizeof(whole) &&
			    place_take(whole, X_OK, ret))
				return true;
	return bsv_place_in_path(name, ret);
}

bool bsv_place_provider(char ret[PATH_MAX])
{
	static const char *const near[] = { "../runtime", "../lib", "../lib/*", "../lib64" };
	char own[PATH_MAX], pattern[PATH_MAX];
	bool found = false;

	for (size_t i = 0; own_directory(own) && !found && i < sizeof(near) / sizeof(*near); i++) {
		glob_t g;

		if (snprintf(pattern, sizeof(pattern), "%s/%s/nnburst/tracepoints.so", own, near[i]) >=
		            (int)sizeof(pattern) ||
		    glob(pattern, 0, NULL, &g))
			continue;
		found = place_take(g.gl_pathv[0], R_OK, ret);
		globfree(&g);
	}
	return found;
}

/* folders.c -- see folders.h. */
#include "analyzer/folders.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PATH = 512, PATHS = 16 };

static char top[PATH / 2]; /* the program's */
static char place[PATH];   /* the test's */
static int tests;

int folders_make(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(top, sizeof(top), "%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", program_invocation_short_name);
	return !mkdtemp(top);
}

int folders_remove(void **state)
{
	char command[PATH];

	(void)state;
	if (getenv("KEEP"))
		return 0;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

int folder_begin(void **state)
{
	(void)state;
	snprintf(place, sizeof(place), "%s/%d", top, tests++);
	return mkdir(place, 0700);
}

const char *folder_at(const char *format, ...)
{
	static char paths[PATHS][2 * PATH];
	static int next;
	char *path = paths[next++ % PATHS];
	va_list args;
	int n = snprintf(path, PATH, "%s/", place);

	va_start(args, format);
	vsnprintf(path + n, PATH, format, args);
	va_end(args);
	return path;
}

/* recorded.c -- see recorded.h. What the file says is a stranger's: a session's name to compare with, and a number. */
#include "recorded.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsa/regular.h"

#define NAME "burstscope.record"

enum { ABOVE = 6, LINES = 32 }; /* LTTng's directories are four below the session's, six if it was rotated */

/* Whether it is about this session; *ret_until is what it says. */
static bool read_lines(FILE *f, const char *session, uint64_t *ret_until)
{
	char line[512];
	bool is = false;

	*ret_until = 0;
	for (int i = 0; i < LINES && fgets(line, sizeof(line), f); i++) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "session ", 8))
			is = !strcmp(line + 8, session);
		else if (!strncmp(line, "ended ", 6) && sscanf(line + 6, "%" SCNu64, ret_until) != 1)
			*ret_until = 0;
	}
	return is;
}

static bool read_file(const char *directory, const char *session, uint64_t *ret_until)
{
	char path[PATH_MAX + sizeof(NAME) + 1];
	bool is;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "%s/" NAME, directory);
	fd = bsa_open_regular(path);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	is = read_lines(f, session, ret_until);
	fclose(f);
	return is;
}

uint64_t bsa_recorded_until(const char *directory, const char *session)
{
	char path[PATH_MAX], *slash = path;
	uint64_t until = 0;

	if (!*session || !realpath(directory, path))
		return 0;
	for (int i = 0; i <= ABOVE && slash; i++) {
		if (read_file(path, session, &until))
			return until <= INT64_MAX ? until : 0;
		slash = strrchr(path, '/');
		if (slash)
			*slash = 0;
	}
	return 0;
}

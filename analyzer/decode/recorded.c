/*
 * recorded.c -- reads burstscope.record. The file is untrusted: its contents are a session's name
 * to compare with, and numbers.
 */
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

enum {
	ABOVE = 6,
	LINES = 32,
	STREAMS_MAX = 1 << 12
}; /* LTTng's directories are four below the session's, six if it was rotated */

/* True: the file is about this session, and *ret has its content. */
static bool read_file(const char *directory, const char *session, struct bsa_recorded *ret)
{
	char path[PATH_MAX + sizeof(NAME) + 1], line[512];
	bool is = false;
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
	*ret = (struct bsa_recorded){ 0 };
	for (int i = 0; i < LINES && fgets(line, sizeof(line), f); i++) {
		struct bsa_scoped *scope = &ret->scope;

		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "session ", 8))
			is = !strcmp(line + 8, session);
		else if (!strncmp(line, "ended ", 6) && sscanf(line + 6, "%" SCNu64, &ret->until) != 1)
			ret->until = 0;
		else if (!strncmp(line, "streams ", 8) &&
		         (sscanf(line + 8, "%" SCNu32, &ret->streams) != 1 || ret->streams > STREAMS_MAX))
			ret->streams = 0;
		else if (!strncmp(line, "boottime ", 9))
			ret->boottime_known = sscanf(line + 9, "%" SCNd64, &ret->boottime) == 1 && ret->boottime >= 0 &&
			                      ret->boottime < INT64_C(1) << 62;
		else if (!strncmp(line, "scope_app ", 10) && strlen(line + 10) < sizeof(scope->app))
			memcpy(scope->app, line + 10, strlen(line + 10) + 1);
		else if (!strncmp(line, "scope_pid ", 10) && sscanf(line + 10, "%" SCNu32, &scope->pid) != 1)
			scope->pid = 0;
		else if (!strncmp(line, "scope_service ", 14) && sscanf(line + 14, "%" SCNu32, &scope->service) != 1)
			scope->service = 0;
	}
	fclose(f);
	return is;
}

struct bsa_recorded bsa_recorded(const char *directory, const char *session)
{
	struct bsa_recorded none = { 0 }, ret;
	char path[PATH_MAX], *slash = path;

	if (!*session || !realpath(directory, path))
		return none;
	for (int i = 0; i <= ABOVE && slash; i++) {
		if (read_file(path, session, &ret)) {
			ret.until = ret.until <= INT64_MAX ? ret.until : 0;
			return ret;
		}
		slash = strrchr(path, '/');
		if (slash)
			*slash = 0;
	}
	return none;
}

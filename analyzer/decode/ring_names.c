/* ring_names.c -- reads names of LTTng's directories, files and sessions. */
#include "ring_names.h"

#include <stddef.h>
#include <string.h>

/* Whether @name ends with @n digits after a hyphen, before @end. Returns where the hyphen is; NULL: it does not. */
static const char *before_digits(const char *name, const char *end, size_t n)
{
	const char *at = end;

	while (at > name && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at > name && at[-1] == '-' && at < end && (!n || (size_t)(end - at) == n) ? at - 1 : NULL;
}

bool bsa_is_of_snapshot(const char *path)
{
	while (*path) {
		const char *end = path + strcspn(path, "/"), *at = before_digits(path, end, 0);

		at = at ? before_digits(path, at, 6) : NULL;
		if (at && before_digits(path, at, 8))
			return true;
		path = *end ? end + 1 : end;
	}
	return false;
}

bool bsa_is_of_rotation(const char *path)
{
	static const char digits[] = "0123456789";

	for (; *path; path += strcspn(path, "/"), path += *path == '/') {
		if (strspn(path, digits) == 8 && path[8] == 'T' && strspn(path + 9, digits) == 6 &&
		    (path[15] == '+' || path[15] == '-'))
			return true;
	}
	return false;
}

bool bsa_is_tracefile(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *last = strrchr(name, '_'), *at = last;

	while (at && at > name && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at && at < last && at > name && at[-1] == '_' && last[1];
}

bool bsa_is_ring_session(const char *session)
{
	return !strncmp(session, "burstscope-", strlen("burstscope-"));
}

/* template.c -- see template.h. */
#include "base/template.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text for the hole ("@name@...") at @at, and the length of the hole; NULL: there is no hole at @at. */
static const char *hole_at(const char *at, const struct bsv_hole *holes, size_t *ret_length)
{
	size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");

	if (n == 0 || at[n + 1] != '@')
		return NULL;
	for (; holes->name; holes++)
		if (strlen(holes->name) == n && !memcmp(holes->name, at + 1, n)) {
			*ret_length = n + 2;
			return holes->text;
		}
	assert(!"a hole without a text");
	return NULL;
}

char *bsv_fill(const char *template, const struct bsv_hole *holes)
{
	char *ret = NULL;
	size_t bytes;
	FILE *to = open_memstream(&ret, &bytes);
	bool fine;

	if (!to)
		return NULL;
	for (const char *at = template; *at;) {
		size_t length = 0;
		const char *text = *at == '@' ? hole_at(at, holes, &length) : NULL;

		if (text) {
			fputs(text, to);
			at += length;
		} else {
			fputc(*at++, to);
		}
	}
	fine = !ferror(to);
	if (fclose(to) || !fine) {
		free(ret);
		return NULL;
	}
	return ret;
}

char *bsv_text(const char *format, ...)
{
	va_list args;
	char *ret;
	int n;

	va_start(args, format);
	n = vasprintf(&ret, format, args);
	va_end(args);
	return n < 0 ? NULL : ret;
}

char *bsv_quoted(const char *s)
{
	char *ret = malloc(2 * strlen(s) + 3), *at = ret;

	if (!ret)
		return NULL;
	*at++ = '\'';
	for (; *s; s++) {
		if (*s == '\'')
			*at++ = '\'';
		*at++ = *s;
	}
	*at++ = '\'';
	*at = 0;
	return ret;
}

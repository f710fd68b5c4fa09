/* err.c -- formats the text of an error, adds to it, and maps its code to an exit status. */
#include "bsa/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int bsa_fail(struct bsa_err *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

int bsa_wrap(struct bsa_err *err, int code, const char *format, ...)
{
	char before[sizeof(err->text)];
	size_t n, kept;
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	vsnprintf(before, sizeof(before) - strlen(": "), format, args);
	va_end(args);
	strcat(before, ": ");
	n = strlen(before);
	kept = strnlen(err->text, sizeof(err->text) - n - 1);
	memmove(err->text + n, err->text, kept);
	err->text[n + kept] = 0;
	memcpy(err->text, before, n);
	return code;
}

int bsa_exit_status(int code)
{
	switch (code) {
	case BSA_OK:
		return 0;
	case BSA_E_USAGE:
		return 2;
	case BSA_E_INPUT:
		return 4;
	case BSA_E_STOPPED:
		return 130;
	default:
		return 5;
	}
}

/* reason.c -- formats reasons. A text that is too long is cut off at the end. */
#include "model/reason.h"

#include <stdarg.h>
#include <stdio.h>

void nnb_because(struct nnb_reason *reason, const char *format, ...)
{
	va_list args;

	if (!reason)
		return;
	va_start(args, format);
	vsnprintf(reason->text, sizeof(reason->text), format, args);
	va_end(args);
}

void nnb__within(struct nnb_reason *reason, const char *format, ...)
{
	char where[sizeof(reason->text)], whole[2 * sizeof(reason->text) + 2];
	va_list args;

	if (!reason)
		return;
	va_start(args, format);
	vsnprintf(where, sizeof(where), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "%s: %s", where, reason->text);
	snprintf(reason->text, sizeof(reason->text), "%.*s", (int)sizeof(reason->text) - 1, whole);
}

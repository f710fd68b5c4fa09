/* text.c -- makes, copies and joins texts. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/scoped.h"

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

char *bsv_full_name(const char *app, const char *model)
{
	if (app && model)
		return bsv_text("%s's %s", app, model);
	if (app)
		return bsv_text("%s", app);
	return model ? bsv_text("%s", model) : NULL;
}

char *bsv_text_copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

bool bsv_text_join(char **text, char *more)
{
	bsv_scoped_text *added = more, *before = *text;

	if (added && before && *added && *before)
		*text = bsv_text("%s; %s", before, added);
	else
		*text = added ? strdup(*added || !before ? added : before) : NULL;
	return *text;
}

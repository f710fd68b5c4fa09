/* say.c -- counts with groups of digits, names in words, and a line of progress that is drawn over itself. */
#include "base/say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scoped.h"
#include "base/screen.h"
#include "base/template.h"

enum { REDRAW_NS = 100000000, WIDTH = 78 };

const char *bsv_count(char to[BSV_COUNT_MAX], uint64_t n)
{
	char digits[BSV_COUNT_MAX];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *at = to;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*at++ = ' ';
		*at++ = digits[i];
	}
	*at = 0;
	return to;
}

const char *bsv_plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

void bsv_progress_init(struct bsv_progress *p, bool wanted)
{
	*p = (struct bsv_progress){ .on = wanted && isatty(STDERR_FILENO) };
}

bool bsv_progress_due(struct bsv_progress *p)
{
	uint64_t now;

	if (!p->on)
		return false;
	now = bsv_now();
	if (p->shown && now - p->drawn_ns < REDRAW_NS)
		return false;
	p->drawn_ns = now;
	return true;
}

/* A line as wide as the terminal would go on in the next one, which is not drawn over. */
static int progress_width(void)
{
	int columns = bsv_terminal_width(stderr);

	return columns && columns <= WIDTH ? columns - 1 : WIDTH;
}

void bsv_progress_draw(struct bsv_progress *p, const char *format, ...)
{
	char line[WIDTH + 1];
	va_list args;

	if (!p->on)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "\r%-*.*s\r", progress_width(), progress_width(),
	        line); /* the echo of a key, such as ^C, then is in this line */
	p->shown = true;
}

void bsv_progress_fini(struct bsv_progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r%*s\r", progress_width(), "");
	p->shown = false;
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

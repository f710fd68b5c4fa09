/* screen.c -- the width and the colours of the terminal; lines, notices and progress that are printed on it. */
#include "base/screen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/letters.h"

enum { NARROWEST = 20, WIDEST = 10000, REDRAW_NS = 100000000, PROGRESS_WIDTH = 78 };

/* ---- the terminal ---- */

/* 0: $COLUMNS has no width. */
static int width_of_environment(void)
{
	const char *columns = getenv("COLUMNS");
	char *end = NULL;
	long n = columns ? strtol(columns, &end, 10) : 0;

	return columns && !*end && n >= NARROWEST && n <= WIDEST ? (int)n : 0;
}

/* 0: @fd is no terminal. */
static int width_of_terminal(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= NARROWEST)
		return size.ws_col;
	return 80;
}

struct bsv_screen bsv_screen_get(int color)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	bool is_colored = color == BSV_COLOR_ALWAYS;
	int width = width_of_environment();

	if (!width)
		width = width_of_terminal(STDOUT_FILENO);
	if (color == BSV_COLOR_AUTO)
		is_colored = !(no && *no) && term && *term && strcmp(term, "dumb") && isatty(STDOUT_FILENO);
	return (struct bsv_screen){ .width = width, .color = is_colored, .unicode = bsv_has_unicode() };
}

static const char *const paints[] = {
	[BSV_PLAIN] = "",           [BSV_TITLE] = "\033[1m",         [BSV_GOOD] = "\033[32m",
	[BSV_BAD] = "\033[1;31m",   [BSV_UNSURE_PAINT] = "\033[33m", [BSV_FAINT] = "\033[2m",
	[BSV_HUE] = "\033[36m",     [BSV_HUE + 1] = "\033[33m",      [BSV_HUE + 2] = "\033[35m",
	[BSV_HUE + 3] = "\033[32m", [BSV_HUE + 4] = "\033[34m",      [BSV_HUE + 5] = "\033[31m",
};

const char *bsv_paint_on(const struct bsv_screen *s, int paint)
{
	bool known = paint >= 0 && paint < (int)(sizeof(paints) / sizeof(*paints));

	return s->color && known ? paints[paint] : "";
}

const char *bsv_paint_off(const struct bsv_screen *s, int paint)
{
	return *bsv_paint_on(s, paint) ? "\033[0m" : "";
}

/* ---- lines ---- */

/* The first line begins behind @used columns. */
static void wrapped_print(FILE *to, const struct bsv_screen *screen, int paint, const char *s, int used, int indent)
{
	bool endless = !screen->width;

	for (;;) {
		int room = screen->width - used > NARROWEST / 2 ? screen->width - used : NARROWEST / 2;
		size_t n = endless ? strcspn(s, "\n") : bsv_line(s, room);

		fprintf(to, "%s%.*s%s\n", bsv_paint_on(screen, paint), (int)n, s, bsv_paint_off(screen, paint));
		s += n;
		if (!*s)
			return;
		s += *s == '\n' ? 1 : strspn(s, " ");
		fprintf(to, "%*s", indent, "");
		used = indent;
	}
}

void bsv_print_wrapped(FILE *to, const struct bsv_screen *screen, int paint, const char *s, int indent)
{
	wrapped_print(to, screen, paint, s, 0, indent);
}

void bsv_print_painted(FILE *to, const struct bsv_screen *screen, int paint, const char *word, const char *s, int used,
                       int indent)
{
	fprintf(to, "%s%s%s", bsv_paint_on(screen, paint), word, bsv_paint_off(screen, paint));
	wrapped_print(to, screen, BSV_PLAIN, s, used + bsv_width(word), indent);
}

int bsv_terminal_width(FILE *to)
{
	int n = width_of_terminal(fileno(to));

	return n && width_of_environment() ? width_of_environment() : n;
}

void bsv_print_line(FILE *to, const char *line)
{
	struct bsv_screen screen = { .width = bsv_terminal_width(to) };

	bsv_print_wrapped(to, &screen, BSV_PLAIN, line, 2);
}

/* ---- notices ---- */

static void notice_print(const char *format, va_list args)
{
	char *line;

	if (vasprintf(&line, format, args) < 0)
		return;
	bsv_print_line(stderr, line);
	free(line);
}

void bsv_notice(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	notice_print(format, args);
	va_end(args);
}

void bsv_notice_unless(bool quiet, const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	notice_print(format, args);
	va_end(args);
}

/* ---- progress ---- */

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

	return columns && columns <= PROGRESS_WIDTH ? columns - 1 : PROGRESS_WIDTH;
}

void bsv_progress_draw(struct bsv_progress *p, const char *format, ...)
{
	char line[PROGRESS_WIDTH + 1];
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

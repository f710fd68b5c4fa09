/*
 * narrow.c -- keeps what a program prints in memory, measures the columns, and prints lines and tables in the width
 * of the terminal.
 */
#include "options/narrow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/vector.h"

enum { CELL = '\v', NARROWEST = 20, CELLS_MOST = 32, INDENT = 2 };

/* ---- one line ---- */

struct line {
	const char *at, *end; /* without the line end */
};

/* Columns that UTF-8 takes up. */
static size_t text_width(const char *at, const char *end)
{
	size_t width = 0;

	for (; at < end; at++)
		width += ((unsigned char)*at & 0xc0) != 0x80;
	return width;
}

static void print_whole(FILE *to, struct line line)
{
	for (; line.at < line.end; line.at++)
		fputc(*line.at == CELL ? ' ' : *line.at, to);
	fputc('\n', to);
}

/*
 * The last place between words up to which there are no more than @width columns; or else the first such place; or
 * else the end.
 */
static const char *line_break(struct line line, size_t width)
{
	const char *last = NULL;

	for (const char *at = line.at + 1; at < line.end; at++) {
		if (*at != ' ' || at[-1] == ' ')
			continue;
		if (last && text_width(line.at, at) > width)
			break;
		last = at;
	}
	return last ? last : line.end;
}

/* Where the lines below @line begin: below its text, if a name stands before that, as in a list. */
static size_t line_indent(struct line line, size_t width)
{
	const char *name = line.at, *text;

	while (name < line.end && *name != ' ')
		name++;
	for (text = name; text < line.end && *text == ' ';)
		text++;
	if (name == line.at || text - name < 2 || text_width(line.at, text) > width / 3)
		return INDENT;
	return text_width(line.at, text);
}

static void print_wrapped(FILE *to, struct line line, size_t width)
{
	const size_t indent = line_indent(line, width);

	for (size_t room = width; text_width(line.at, line.end) > room; room = width - indent) {
		const char *stop = line_break(line, room);

		if (stop == line.end)
			break;
		print_whole(to, (struct line){ line.at, stop });
		fprintf(to, "%*s", (int)indent, "");
		line.at = stop + strspn(stop, " ");
	}
	print_whole(to, line);
}

/* ---- a table: lines with cells ---- */

struct table {
	struct line lines; /* all of them, with their line ends */
	size_t cells, width[CELLS_MOST];
};

/* Take the next line from @text. False: @text is empty. */
static bool line_take(struct line *text, struct line *ret)
{
	const char *end;

	if (text->at >= text->end)
		return false;
	end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	*ret = (struct line){ text->at, end ? end : text->end };
	text->at = end ? end + 1 : text->end;
	return true;
}

static bool has_cells(struct line line)
{
	return memchr(line.at, CELL, (size_t)(line.end - line.at));
}

/* The cell of this number; empty, if the line has not as many. */
static struct line cell_of(struct line line, size_t number)
{
	const char *stop;

	for (; number && line.at < line.end; number--) {
		stop = memchr(line.at, CELL, (size_t)(line.end - line.at));
		line.at = stop ? stop + 1 : line.end;
	}
	stop = line.at < line.end ? memchr(line.at, CELL, (size_t)(line.end - line.at)) : NULL;
	return (struct line){ line.at, stop ? stop : line.end };
}

static void table_measure(struct table *t)
{
	struct line text = t->lines, line;

	while (line_take(&text, &line)) {
		size_t cells = 1;

		for (const char *at = line.at; at < line.end; at++)
			cells += *at == CELL;
		t->cells = cells > t->cells ? cells : t->cells;
		for (size_t i = 0; i < cells && i < CELLS_MOST; i++) {
			struct line cell = cell_of(line, i);
			size_t width = text_width(cell.at, cell.end);

			t->width[i] = width > t->width[i] ? width : t->width[i];
		}
	}
}

static size_t table_width(const struct table *t)
{
	size_t width = t->cells - 1;

	for (size_t i = 0; i < t->cells; i++)
		width += t->width[i];
	return width;
}

/* Print @cell behind *blanks; the blanks at its end are left for the next one, so that no line ends with any. */
static void print_cell(FILE *to, struct line cell, size_t *blanks)
{
	const char *end = cell.end;

	while (end > cell.at && end[-1] == ' ')
		end--;
	if (end > cell.at) {
		fprintf(to, "%*s", (int)*blanks, "");
		fwrite(cell.at, 1, (size_t)(end - cell.at), to);
		*blanks = 0;
	}
	*blanks += (size_t)(cell.end - end);
}

/* Each line's first cell, and those from @first up to @end. Numbers stand at the right of a cell; names fill theirs. */
static void print_part(FILE *to, const struct table *t, size_t first, size_t end)
{
	struct line text = t->lines, line;

	while (line_take(&text, &line)) {
		struct line cell = cell_of(line, 0);
		size_t blanks = 0;

		print_cell(to, cell, &blanks);
		blanks += t->width[0] - text_width(cell.at, cell.end);
		for (size_t i = first; i < end; i++) {
			cell = cell_of(line, i);
			blanks += 1 + t->width[i] - text_width(cell.at, cell.end);
			print_cell(to, cell, &blanks);
		}
		fputc('\n', to);
	}
}

static void print_table(FILE *to, struct line lines, size_t width)
{
	struct table t = { .lines = lines };
	struct line text = lines, line;

	table_measure(&t);
	if (!width || t.cells > CELLS_MOST || table_width(&t) <= width) {
		while (line_take(&text, &line))
			print_whole(to, line);
		return;
	}
	for (size_t first = 1, end = 1; first < t.cells; first = end) {
		size_t used = t.width[0];

		while (end < t.cells && (end == first || used + 1 + t.width[end] <= width))
			used += 1 + t.width[end++];
		if (first > 1)
			fputc('\n', to);
		print_part(to, &t, first, end);
	}
}

/* ---- all of it ---- */

void narrow_print(FILE *to, const char *text, size_t bytes, size_t width)
{
	struct line left = { text, text + bytes }, line, rest;

	while (line_take(&left, &line)) {
		if (has_cells(line)) {
			struct line table = line;

			for (rest = left; line_take(&rest, &line) && has_cells(line); left = rest)
				;
			table.end = left.at;
			print_table(to, table, width);
		} else if (width) {
			print_wrapped(to, line, width);
		} else {
			print_whole(to, line);
		}
	}
}

/* 0: the standard output is no terminal. */
static size_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	long n = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (n < NARROWEST)
		n = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
	return n < NARROWEST ? 80 : (size_t)n;
}

/* The stream's write function. A memstream would lose what there is no memory for, and set no error. */
static ssize_t keep_text(void *cookie, const char *text, size_t bytes)
{
	struct narrow *n = cookie;

	if (!NNB__RESERVE(n->text, n->room, n->bytes + bytes, BUFSIZ))
		return 0;
	memcpy(n->text + n->bytes, text, bytes);
	n->bytes += bytes;
	return (ssize_t)bytes;
}

void narrow_begin(struct narrow *n)
{
	FILE *memory;

	*n = (struct narrow){ .before = stdout };
	memory = fopencookie(n, "w", (cookie_io_functions_t){ .write = keep_text });
	if (memory)
		stdout = memory; /* a variable, in the C library of GNU */
}

bool narrow_end(struct narrow *n)
{
	FILE *memory = stdout;
	bool lost;

	if (memory == n->before)
		return true;
	stdout = n->before;
	lost = ferror(memory);
	lost = fclose(memory) || lost;
	if (n->text)
		narrow_print(stdout, n->text, n->bytes, terminal_width());
	free(n->text);
	if (lost)
		fprintf(stderr, "%s: no memory: a part of the output is missing\n", program_invocation_short_name);
	return !lost;
}

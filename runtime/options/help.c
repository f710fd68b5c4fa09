/* help.c -- prints the help of a program, in 80 columns. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80, LEFT_MOST = 26, LEFT_ROOM = 96 };

/* Print @text in lines of COLUMNS; the first begins at column @at, the others at column @indent. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	while (*text) {
		size_t word = strcspn(text, " ");

		if (at > indent && at + 1 + word > COLUMNS) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)word, text);
		at += word;
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* "--record[=DIR]" */
static size_t left_of(const struct option_row *row, char ret[LEFT_ROOM])
{
	char value[OPTIONS_VALUE_ROOM];

	if (row->kind == OPTION_SWITCH)
		return (size_t)snprintf(ret, LEFT_ROOM, "--%s", row->name);
	return (size_t)snprintf(ret, LEFT_ROOM, row->bare ? "--%s[=%s]" : "--%s %s", row->name,
	                        options_value(row, value));
}

void options_help(const struct program *p)
{
	const char *lead = "usage:";
	size_t widest = 0, indent;
	const struct option_row *row;
	char left[LEFT_ROOM];

	for (const char *line = p->usage; *line;) {
		size_t n = strcspn(line, "\n");

		printf("%s %s %.*s\n", lead, p->name, (int)n, line);
		lead = "      ";
		line += n + (line[n] == '\n');
	}
	putchar('\n');
	print_wrapped(p->about, 0, 0);
	putchar('\n');
	/* the options, with what each does beside it, or below it if it is wide */
	for (size_t i = 0; (row = options_row(p, i)); i++) {
		size_t width = left_of(row, left);

		if (width > widest && width <= LEFT_MOST)
			widest = width;
	}
	indent = widest + 4;
	for (size_t i = 0; (row = options_row(p, i)); i++) {
		size_t width = left_of(row, left);

		if (width > widest)
			printf("  %s\n%*s", left, (int)indent, "");
		else
			printf("  %-*s  ", (int)widest, left);
		print_wrapped(row->text, indent, indent);
	}
	printf("\nExit status: ");
	print_wrapped(p->statuses, strlen("Exit status: "), strlen("Exit status: "));
	printf("See %s.\n", p->manual);
}

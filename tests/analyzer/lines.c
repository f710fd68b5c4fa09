/* lines.c -- see lines.h. */
#include "analyzer/lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lines_wrong(const struct lines *l, const char *what)
{
	fprintf(stderr, "%s:%u: %s\n", l->path, l->number, what);
	abort();
}

void lines_read(struct lines *l, void (*take)(struct lines *l, char *line))
{
	FILE *in = fopen(l->path, "r");
	char *line = NULL;
	size_t room = 0;

	if (!in)
		lines_wrong(l, "cannot be opened");
	while (getline(&line, &room, in) > 0) {
		size_t n = strlen(line);

		while (n && isspace((unsigned char)line[n - 1]))
			line[--n] = 0;
		l->number++;
		take(l, line);
	}
	free(line);
	fclose(in);
}

void lines_append(char **to, const char *text)
{
	size_t had = *to ? strlen(*to) : 0;

	*to = realloc(*to, had + strlen(text) + 2);
	if (!*to)
		abort();
	sprintf(*to + had, "%s\n", text);
}

char *lines_copy(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	return copy;
}

void *lines_one_more(void *array, size_t *n, size_t size)
{
	char *all = realloc(*(void **)array, (*n + 1) * size);

	if (!all)
		abort();
	*(void **)array = all;
	return memset(all + (*n)++ * size, 0, size);
}

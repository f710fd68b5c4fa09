/*
 * lines.h -- what the readers of the analyzer's files of cases share: a file line by line, and texts and arrays that
 * grow.
 *
 * A file that cannot be read, and a lack of memory, end the program.
 */
#ifndef ANALYZER_LINES_H
#define ANALYZER_LINES_H

#include <stddef.h>

/* The place of the present line, which every reading begins with. */
struct lines {
	const char *path;
	unsigned number; /* from 1 */
};

/* Hand each line of the file at @l->path to @take, without the blanks at its end; @l is borrowed for the call. */
void lines_read(struct lines *l, void (*take)(struct lines *l, char *line));

/* Print the present place and @what, and end the program. */
void lines_wrong(const struct lines *l, const char *what) __attribute__((noreturn));

/* Put @text and an end of line behind *to, which the caller owns; NULL is an empty text. */
void lines_append(char **to, const char *text);

/* A copy of @text, owned by the caller. */
char *lines_copy(const char *text);

/*
 * One more element of @size bytes, all zero, behind the @n of *array, which the caller owns; borrowed until the next
 * one.
 */
void *lines_one_more(void *array, size_t *n, size_t size);

#endif

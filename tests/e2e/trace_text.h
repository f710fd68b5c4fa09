/*
 * trace_text.h -- read events, one by one, from the output of `babeltrace2 --clock-cycles --no-delta`.
 */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "nbt/events.h"

enum { TEXT_FIELDS = 32, TEXT_ITEMS = 10, TEXT_LINE = 4096 };

struct text_field {
	const char *name;
	uint64_t items[TEXT_ITEMS]; /* a text has no items */
	unsigned n;
};

struct text_event {
	uint64_t at; /* of the raw clock */
	enum nbt_event what;
	unsigned n_fields;
	struct text_field fields[TEXT_FIELDS];
};

struct text_input {
	FILE *file;
	const char *path; /* borrowed */
	uint64_t line;
	char text[TEXT_LINE];
	struct text_event event;
};

extern const char *const text_names[NBT_EVENTS];

/* Open @path; "-" is the standard input. False: the file cannot be read; the reason is printed. */
bool text_open(struct text_input *in, const char *path);
void text_close(struct text_input *in);

/*
 * Read the next event into in->event. 1; 0: the end; -1: the line is no event of the catalogue; the reason is
 * printed.
 */
int text_next(struct text_input *in);

/* A field of the catalogue; without it in the trace, the program ends with 2. */
uint64_t text_get(const struct text_event *event, const char *field);
const struct text_field *text_list(const struct text_event *event, const char *field);

#endif

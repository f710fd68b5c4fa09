/* trace_text.c -- see trace_text.h. */
#include "trace_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#define NBT_EVENT(name, sides, level, about, fields) #name,
const char *const text_names[NBT_EVENTS] = {
#include "nbt/events.def"
};

bool text_open(struct text_input *in, const char *path)
{
	in->path = path;
	in->line = 0;
	in->file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	if (!in->file)
		fprintf(stderr, "trace_check: %s: %s\n", path, strerror(errno));
	return in->file;
}

void text_close(struct text_input *in)
{
	if (in->file && in->file != stdin)
		fclose(in->file);
	in->file = NULL;
}

static bool skip(char **p, const char *what)
{
	size_t n = strlen(what);

	if (strncmp(*p, what, n))
		return false;
	*p += n;
	return true;
}

static bool number(char **p, uint64_t *ret)
{
	char *end;

	*ret = strtoull(*p, &end, 10); /* a negative number is stored modulo 2^64 */
	if (end == *p)
		return false;
	*p = end;
	return true;
}

/* ( "label" : container = 3 ), or ( <unknown> : container = 3 ) */
static bool label(char **p, uint64_t *ret)
{
	*p = strstr(*p, "container = ");
	return *p && skip(p, "container = ") && number(p, ret) && skip(p, " )");
}

/* [ [0] = 1, [1] = 2 ] */
static bool list(char **p, struct text_field *field)
{
	while (skip(p, " [") || skip(p, ", [")) {
		*p = strstr(*p, "] = ");
		if (!*p || field->n == TEXT_ITEMS || !skip(p, "] = ") || !number(p, &field->items[field->n++]))
			return false;
	}
	return skip(p, " ]");
}

static bool quoted(char **p)
{
	for (; **p && **p != '"'; (*p)++)
		if (**p == '\\' && (*p)[1])
			(*p)++;
	return skip(p, "\"");
}

static bool value(char **p, struct text_field *field)
{
	field->n = 0;
	if (skip(p, "["))
		return list(p, field);
	if (skip(p, "\""))
		return quoted(p);
	field->n = 1;
	return skip(p, "( ") ? label(p, field->items) : number(p, field->items);
}

/* a = 1, b = 2 } */
static bool fields(char *p, struct text_event *event)
{
	for (event->n_fields = 0; event->n_fields < TEXT_FIELDS;) {
		struct text_field *field = &event->fields[event->n_fields++];
		char *name = p;

		p = strstr(p, " = ");
		if (!p)
			return false;
		*p = 0;
		p += 3;
		field->name = name;
		if (!value(&p, field))
			return false;
		if (!skip(&p, ", "))
			return skip(&p, " }");
	}
	return false;
}

static bool named(const char *name, enum nbt_event *ret)
{
	for (int i = 0; i < NBT_EVENTS; i++)
		if (!strcmp(text_names[i], name)) {
			*ret = (enum nbt_event)i;
			return true;
		}
	return false;
}

/* [00000049849328475150] host nnburst:exec_end: { cpu_id = 0 }, { exec = ... } */
static bool event_of(char *line, struct text_event *event)
{
	char *p = line, *name;

	if (!skip(&p, "[") || !number(&p, &event->at) || !skip(&p, "] "))
		return false;
	name = strstr(p, "nnburst:");
	if (!name)
		return false;
	name += strlen("nnburst:");
	p = strchr(name, ':');
	if (!p)
		return false;
	*p++ = 0;
	p = strstr(p, " }, { "); /* earlier parts of the line have no text field */
	return p && named(name, &event->what) && fields(p + strlen(" }, { "), event);
}

int text_next(struct text_input *in)
{
	char kept[120];

	if (!in->file || !fgets(in->text, sizeof(in->text), in->file))
		return 0;
	in->line++;
	snprintf(kept, sizeof(kept), "%.*s", (int)sizeof(kept) - 1, in->text);
	kept[strcspn(kept, "\n")] = 0;
	if (strchr(in->text, '\n') && event_of(in->text, &in->event))
		return 1;
	fprintf(stderr, "trace_check: %s:%llu: not an event: %s\n", in->path, (unsigned long long)in->line, kept);
	return -1;
}

const struct text_field *text_list(const struct text_event *event, const char *field)
{
	for (unsigned i = 0; i < event->n_fields; i++)
		if (!strcmp(event->fields[i].name, field))
			return &event->fields[i];
	fprintf(stderr, "trace_check: a %s without %s\n", text_names[event->what], field);
	exit(2);
}

uint64_t text_get(const struct text_event *event, const char *field)
{
	const struct text_field *found = text_list(event, field);

	return found->n ? found->items[0] : 0;
}

/* catalogue.c -- the catalogue as docs/events.md shows it: a row an event, a row an enumeration. */
#include <stdio.h>
#include <string.h>

#include "nbt/events.h"

static const char *level(const char *name)
{
	static const char *const names[][2] = {
		{ "RARE", "a" }, { "FULL", "f" }, { "VERBOSE", "v" }, { "COMPACT", "c" }
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i][0], name))
			return names[i][1];
	return "?";
}

int main(void)
{
	const char *comma;

#define NBT_EVENT(name, sides, lv, about, fields)               \
	printf("| `%s` | %s %s | ", #name, #sides, level(#lv)); \
	comma = "";                                             \
	fields printf(" | %s |\n", about);
#define NBT_INT(type, name) printf("%s%s %s", comma, #name, #type), comma = ", ";
#define NBT_LABEL(enumeration, name) printf("%s%s *%s*", comma, #name, #enumeration), comma = ", ";
#define NBT_ARRAY(type, name, n) printf("%s%s %s[%d]", comma, #name, #type, n), comma = ", ";
#define NBT_TEXT(name) printf("%s%s text", comma, #name), comma = ", ";
#include "nbt/events.def"

#define NBT_ENUMERATION(name, labels) \
	printf("| *%s* | ", #name);   \
	comma = "";                   \
	labels printf(" |\n");
#define NBT_VALUE(enumeration, label, number) printf("%s%s %d", comma, #label, number), comma = ", ";
#include "nbt/enums.def"
	return 0;
}

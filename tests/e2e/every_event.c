/*
 * every_event.c PROVIDER [ask] -- emit every event of the catalogue twice, and print what a trace must have
 * of it.
 *
 * A line an event: its level, then the event as babeltrace2 prints it. The first time each field has a number
 * of its own, the second time the largest one. With "ask": emit nothing; for each line read, print whether a
 * session has begun.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "nbt/nbt.h"

static bool largest;
static uint64_t last;

static uint64_t next(void)
{
	return largest ? UINT64_MAX : ++last;
}

/* ---- named numbers: one with a name, or one without ---- */

struct label {
	const char *name;
	unsigned number;
};

#define NBT_ENUMERATION(name, labels) static const struct label labels_of_##name[] = { labels };
#define NBT_VALUE(enumeration, label, number) { #label, number },
#include "nbt/enums.def"

static uint8_t pick(const struct label *labels, size_t n)
{
	return largest ? UINT8_MAX : (uint8_t)labels[++last % n].number;
}

static void show_label(const char *field, unsigned number, const struct label *labels, size_t n)
{
	const char *name = NULL;

	for (size_t i = 0; i < n; i++)
		if (labels[i].number == number)
			name = labels[i].name;
	if (name)
		printf("%s = ( \"%s\" : container = %u )", field, name, number);
	else
		printf("%s = ( <unknown> : container = %u )", field, number);
}

/* ---- numbers ---- */

#define IS_SIGNED_u8 false
#define IS_SIGNED_u16 false
#define IS_SIGNED_u32 false
#define IS_SIGNED_u64 false
#define IS_SIGNED_i32 true
#define IS_SIGNED_i64 true

static void show_number(const char *field, uint64_t number, bool is_signed)
{
	if (is_signed)
		printf("%s = %" PRId64, field, (int64_t)number);
	else
		printf("%s = %" PRIu64, field, number);
}

static const char *text(void)
{
	static char long_one[NBT_TEXT_MAX + 1];
	static char short_one[32];

	memset(long_one, 'x', NBT_TEXT_MAX);
	snprintf(short_one, sizeof(short_one), "name %" PRIu64, next());
	return largest ? long_one : short_one;
}

/* ---- all of them ---- */

#define COMMA (printf("%s", first ? "" : ", "), first = false)

/* The same list of fields is read twice: once to set them, and once to print them. */
#define NBT_INT(type, name)                  \
	if (setting)                         \
		e.name = (nbt_##type)next(); \
	else                                 \
		COMMA, show_number(#name, (uint64_t)e.name, IS_SIGNED_##type);
#define NBT_LABEL(enumeration, name)                                                   \
	if (setting)                                                                   \
		e.name = pick(labels_of_##enumeration, N_OF(labels_of_##enumeration)); \
	else                                                                           \
		COMMA, show_label(#name, e.name, labels_of_##enumeration, N_OF(labels_of_##enumeration));
#define NBT_ARRAY(type, name, n)                 \
	if (!setting)                            \
		COMMA, printf("%s = [ ", #name); \
	for (unsigned i = 0; i < (n); i++)       \
		if (setting)                     \
			e.name[i] = next();      \
		else                             \
			printf("%s[%u] = %" PRIu64 "%s", i ? ", " : "", i, e.name[i], i + 1 < (n) ? "" : " ]");
#define NBT_TEXT(name)           \
	if (setting)             \
		e.name = text(); \
	else                     \
		COMMA, printf("%s = \"%s\"", #name, e.name);
#define NBT_EVENT(name, sides, level, about, fields)             \
	static void emit_##name(void)                            \
	{                                                        \
		struct nbt_##name e;                             \
		bool first = true;                               \
                                                                 \
		printf("%s nnburst:%s: { ", #level, #name);      \
		for (int setting = 1; setting >= 0; setting--) { \
			fields                                   \
		}                                                \
		printf(" }\n");                                  \
		if (nbt_on(NBT_EVENT_##name))                    \
			nbt__seam.emit[NBT_EVENT_##name](&e);    \
	}
#include "nbt/events.def"

static void emit_all(void)
{
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#define NBT_EVENT(name, sides, level, about, fields) emit_##name();
#include "nbt/events.def"
}

static void answer(void)
{
	char line[16];
	uint64_t seen = 0;

	while (fgets(line, sizeof(line), stdin)) {
		puts(nbt_news(&seen) ? "news" : "none");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *why;

	if (argc < 2 || nbt_open(argv[1], &why)) {
		fprintf(stderr, "every_event: %s\n", argc < 2 ? "which provider?" : why);
		return 1;
	}
	if (argc > 2) {
		answer();
		return 0;
	}
	emit_all();
	largest = true;
	emit_all();
	return 0;
}

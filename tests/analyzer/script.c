/* script.c -- see script.h. The catalogue has which fields there are. */
#include "analyzer/script.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

/* ---- what can be written ---- */

struct field {
	const char *name;
	size_t offset, width, n; /* n numbers of that width; of a text n is its bytes */
	const char *enumeration; /* NULL if the numbers have no names */
	bool text, never;        /* never: all bits set, where it is not given */
};

#define FIELD(field, ...)                        \
	{ .name = #field,                        \
	  .offset = offsetof(record, field),     \
	  .width = sizeof(((record *)0)->field), \
	  .n = 1,                                \
	  .never = is_never(#field),             \
	  __VA_ARGS__ },

/* As in event.h: what a trace does not have is 0, but for these. */
#define is_never(name) \
	(!__builtin_strcmp(name, "cpu_ns") || !__builtin_strcmp(name, "lane") || !__builtin_strcmp(name, "deadlines"))

#define NBT_EVENT(event, sides, level, about, list)                 \
	static const struct field *fields_of_##event(void)          \
	{                                                           \
		typedef struct bsa_##event record;                  \
		static const struct field fields[] = { list{ 0 } }; \
		return fields;                                      \
	}
#define NBT_INT(type, name) FIELD(name)
#define NBT_LABEL(labels, name) FIELD(name, .enumeration = #labels)
#define NBT_ARRAY(type, name, count) FIELD(name, .width = sizeof(((record *)0)->name[0]), .n = count, .never = true)
#define NBT_TEXT(name) FIELD(name, .width = 1, .n = BSA_TEXT, .text = true)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#include "nbt/events.def"
#pragma GCC diagnostic pop

static const struct field *fields_of_loss(void)
{
	typedef struct bsa_loss record;
	static const struct field fields[] = { FIELD(ended) FIELD(events) FIELD(packets) FIELD(pid) FIELD(rotated)
		                                       FIELD(known) FIELD(cause, .enumeration = "cause of a loss"){
							       .name = "cpu",
							       .offset = offsetof(record, cpu),
							       .width = sizeof(uint32_t),
							       .n = 1,
							       .never = true },
		                               { 0 } };
	return fields;
}

static const struct {
	const char *name;
	size_t size;
	const struct field *(*fields)(void);
} kinds[] = {
#define K(name) [BSA_##name] = { #name, (sizeof(struct bsa_##name) + 7) / 8 * 8, fields_of_##name },
	BSA_KINDS(K)
#undef K
};

static const struct {
	const char *enumeration, *label;
	uint64_t number;
} values[] = {
#define NBT_ENUMERATION(name, labels) labels
#define NBT_VALUE(name, text, value) { #name, #text, value },
#include "nbt/enums.def"
	{ "cause of a loss", "events", BSA_LOSS_EVENTS }, { "cause of a loss", "packets", BSA_LOSS_PACKETS },
	{ "cause of a loss", "head", BSA_LOSS_HEAD },     { "cause of a loss", "gap", BSA_LOSS_GAP },
	{ "cause of a loss", "tail", BSA_LOSS_TAIL },     { "cause of a loss", "cut", BSA_LOSS_CUT },
	{ "cause of a loss", "stream", BSA_LOSS_STREAM },
};

/* ---- reading ---- */

struct script {
	const char *at;
	unsigned line;
	uint64_t now;
	_Alignas(8) unsigned char record[SCRIPT_RECORD_MAX];
};

static void __attribute__((noreturn)) wrong(const struct script *s, const char *what, const char *text, size_t n)
{
	fprintf(stderr, "script, line %u: %s: %.*s\n", s->line, what, (int)n, text);
	abort();
}

static void fill(void *record, const struct field *f)
{
	for (; f->name; f++)
		if (f->never)
			memset((char *)record + f->offset, 0xff, f->width * f->n);
}

void script_blank(struct bsa_event *ret, enum bsa_kind kind, uint64_t at)
{
	size_t size = sizeof(*ret) + kinds[kind].size;

	memset(ret, 0, size);
	*ret = (struct bsa_event){ .at = at, .trace = 1, .kind = (uint16_t)kind, .size = (uint16_t)size };
	fill(ret + 1, kinds[kind].fields());
}

static bool is_word(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && !strncmp(word, text, n);
}

/* A word of the line that @s is at; how long it is. 0: there are no more. */
static size_t word(struct script *s, const char **ret)
{
	size_t n;

	s->at += strspn(s->at, " \t");
	n = *s->at == '#' ? 0 : strcspn(s->at, " \t\n");
	*ret = s->at;
	s->at += n;
	return n;
}

static uint64_t suffix(const struct script *s, const char *text, size_t n)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} units[] = { { "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };

	for (size_t i = 0; i < N_OF(units); i++)
		if (is_word(text, n, units[i].text))
			return units[i].ns;
	wrong(s, "no number", text, n);
}

static uint64_t number(const struct script *s, const char *text, size_t n)
{
	bool minus = n > 1 && *text == '-';
	char *end;
	uint64_t v;

	if (n == 1 && *text == '-')
		return UINT64_MAX;
	v = strtoull(text + minus, &end, 0);
	if (end == text + minus || end > text + n)
		wrong(s, "no number", text, n);
	if (*end == ':' && end < text + n)
		v = v << 32 | strtoull(end + 1, &end, 0);
	v *= suffix(s, end, (size_t)(text + n - end));
	return minus ? -v : v;
}

static uint64_t value(const struct script *s, const struct field *f, const char *text, size_t n)
{
	if (f->enumeration)
		for (size_t i = 0; i < N_OF(values); i++)
			if (!strcmp(values[i].enumeration, f->enumeration) && is_word(text, n, values[i].label))
				return values[i].number;
	return number(s, text, n);
}

static void put(void *record, const struct field *f, size_t i, uint64_t v)
{
	memcpy((char *)record + f->offset + i * f->width, &v, f->width); /* little-endian, as all that we run on */
}

static void give(const struct script *s, void *record, const struct field *f, const char *text, size_t n)
{
	if (f->text) {
		if (n >= f->n)
			wrong(s, "too long", text, n);
		memcpy((char *)record + f->offset, text, n);
		return;
	}
	for (size_t i = 0;; i++) {
		const char *comma = memchr(text, ',', n);
		size_t len = comma ? (size_t)(comma - text) : n;

		if (i >= f->n)
			wrong(s, "too many numbers", f->name, strlen(f->name));
		put(record, f, i, value(s, f, text, len));
		if (!comma)
			return;
		text += len + 1;
		n -= len + 1;
	}
}

static void assign(struct script *s, struct bsa_event *e, const char *text, size_t n)
{
	const char *is = memchr(text, '=', n);
	size_t name = is ? (size_t)(is - text) : 0;

	if (!is)
		wrong(s, "that is no FIELD=VALUE", text, n);
	if (is_word(text, name, "trace")) {
		e->trace = (uint32_t)number(s, is + 1, n - name - 1);
		return;
	}
	for (const struct field *f = kinds[e->kind].fields(); f->name; f++)
		if (is_word(text, name, f->name)) {
			give(s, e + 1, f, is + 1, n - name - 1);
			return;
		}
	wrong(s, "no such field", text, n);
}

static enum bsa_kind kind_of(const struct script *s, const char *text, size_t n)
{
	for (enum bsa_kind kind = 0; kind < BSA_N_KINDS; kind++)
		if (is_word(text, n, kinds[kind].name))
			return kind;
	wrong(s, "no such event", text, n);
}

static uint64_t time_of(const struct script *s, const char *text, size_t n)
{
	bool relative = *text == '+', late = *text == '<';
	uint64_t at = number(s, text + (relative || late), n - (relative || late)) + (relative ? s->now : 0);

	if (at < s->now && !late)
		wrong(s, "that was before the line before", text, n);
	return at;
}

/* Past the end of the line, comment and all. */
static void end_line(struct script *s)
{
	s->at += strcspn(s->at, "\n");
	s->at += *s->at == '\n';
}

static const struct bsa_event *read_line(struct script *s, const char *at, size_t n)
{
	struct bsa_event *e = (void *)s->record;
	const char *text;

	s->now = time_of(s, at, n);
	n = word(s, &text);
	script_blank(e, kind_of(s, text, n), s->now);
	while ((n = word(s, &text)))
		assign(s, e, text, n);
	return e;
}

/* ---- scripts ---- */

struct script *script_new(const char *text)
{
	struct script *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->at = text;
	return s;
}

char *script_read_file(const char *path)
{
	char *text = file_content(path, NULL);

	if (!text || !*text) {
		fprintf(stderr, "%s: cannot be read\n", path);
		abort();
	}
	return text;
}

struct script *script_free(struct script *s)
{
	free(s);
	return NULL;
}

const struct bsa_event *script_next(struct script *s)
{
	while (*s->at) {
		const struct bsa_event *e = NULL;
		const char *text;
		size_t n;

		s->line++;
		n = word(s, &text);
		if (n)
			e = read_line(s, text, n);
		end_line(s);
		if (e)
			return e;
	}
	return NULL;
}

struct bsa_event *script_record(const char *line)
{
	struct script s = { .at = line };
	const struct bsa_event *e = script_next(&s);
	struct bsa_event *ret;

	if (!e)
		wrong(&s, "no event", line, strlen(line));
	ret = malloc(e->size);
	if (!ret)
		abort();
	return memcpy(ret, e, e->size);
}

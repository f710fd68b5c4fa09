/*
 * embed.c -- a program that the build runs: embed OUT NAME FILE... [-- NAME FILE...]... writes a C file with
 * one string per NAME.
 *
 * A string is the text of its FILEs, one after the other. In a FILE, the program replaces text between two @
 * from relations.def and labels.def:
 *
 *   @tables@                      CREATE TABLE of every table
 *   @descriptions@                INSERT INTO schema_doc for every relation that is not called stored_, and for its
 *                                 columns
 *   @columns RELATION [ALIAS] [[FROM]..[TO]]@
 *                                 the columns of a table, or of a view that shows the columns of its table;
 *                                 from FROM to TO
 *   @LABELS EXPRESSION@           the name of the number EXPRESSION, or NULL
 *   @LABELS:NAME@                 the number of NAME
 *   @values LABELS@               rows of VALUES: number, name
 *   @bits WORD.FIELD [ALIAS]@     the number in a field of a packed column
 *   @value WORD.FIELD [ALIAS]@    the value of the field as views show it: a name, a number, or NULL for unknown
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the definitions ---- */

enum null { OPTIONAL, REQUIRED };

struct column {
	const char *name;     /* NULL ends the array */
	const char *declared; /* the type in CREATE TABLE; NULL: a field of bits, or a column of a view */
	const char *unit, *labels, *about;
	const char *table, *source; /* for a view: the table (NULL: relation.of) and the column that it shows */
	enum null null;
	bool since, word;
	unsigned bits;
};

enum kind { TABLE, VIEW };

struct relation {
	const char *name, *sql, *of, *about;
	enum kind kind;
	const struct column *columns;
};

/* The name of the entry that ends CREATE TABLE of a table WITHOUT ROWID; its @about is that end. */
#define END_OF_TABLE "/"

/* clang-format off */
#define REL_KEY(n, a) { .name = #n, .declared = "INTEGER PRIMARY KEY", .unit = "id", .about = a, .null = REQUIRED },
#define REL_INT(n, u, nul, a) { .name = #n, .declared = "INTEGER", .unit = u, .about = a, .null = nul },
#define REL_SINCE(n, nul, a) \
	{ .name = #n, .declared = "INTEGER", .unit = "time", .about = a, .null = nul, .since = true },
#define REL_LABEL(n, l, nul, a) \
	{ .name = #n, .declared = "INTEGER", .unit = "label", .labels = #l, .about = a, .null = nul },
#define REL_TEXT(n, nul, a) { .name = #n, .declared = "TEXT", .unit = "text", .about = a, .null = nul },
#define REL_WORD(t, n, fields) { .name = #n, .declared = "INTEGER", .unit = "number", .word = true }, fields
#define REL_BITS(t, n, b, u, nul, a) { .name = #n, .unit = u, .about = a, .null = nul, .bits = b },
#define REL_LABEL_BITS(t, n, b, l, nul, a) \
	{ .name = #n, .unit = "label", .labels = #l, .about = a, .null = nul, .bits = b },
#define REL_ROWS_BY(...) { .name = END_OF_TABLE, .about = ", PRIMARY KEY(" #__VA_ARGS__ ")) WITHOUT ROWID" },
#define REL_TEXT_KEY(n, a) { .name = #n, .declared = "TEXT PRIMARY KEY", .unit = "text", .about = a, .null = REQUIRED },
#define REL_ANY(n, a) { .name = #n, .declared = "", .unit = "", .about = a },
#define REL_WITHOUT_ROWID() { .name = END_OF_TABLE, .about = ") WITHOUT ROWID" },
#define REL_SAME(n) { .name = #n, .source = #n },
#define REL_SAME_IN(t, n) { .name = #n, .source = #n, .table = #t },
#define REL_RENAMED(n, c) { .name = #n, .source = #c },
#define REL_SHOWN(n, u, a) { .name = #n, .unit = u, .about = a },
#define COLUMNS(...) (const struct column[]){ __VA_ARGS__ { .name = NULL } }
#define TABLE_(n, t, a, ...) { .name = #n, .sql = #t, .about = a, .kind = TABLE, .columns = COLUMNS(__VA_ARGS__) },
#define REL_BATCH(n, t, room, a, c) TABLE_(n, t, a, c)
#define REL_STATEMENT(n, t, a, c) TABLE_(n, t, a, c)
#define REL_FILLED(n, t, a, c) TABLE_(n, t, a, c)
#define REL_VIEW(n, o, a, c) { .name = #n, .sql = #n, .of = #o, .about = a, .kind = VIEW, .columns = COLUMNS(c) },
/* clang-format on */
static const struct relation relations[] = {
#include "store/relations.def"
};

struct name {
	const char *name;
	unsigned number;
};

static const struct labels {
	const char *labels;
	const struct name *names;
} all_labels[] = {
#define REL_NAME(l, n, i) { #n, i },
#define REL_LABELS(l, names) { #l, (const struct name[]){ names{ NULL, 0 } } },
#include "store/labels.def"
};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- errors ---- */

static const char *file; /* the file being read */

static _Noreturn __attribute__((format(printf, 1, 2))) void embed_fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "embed: %s: ", file);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* ---- looking up ---- */

static const struct relation *find_relation(enum kind kind, const char *sql)
{
	for (size_t i = 0; i < N_OF(relations); i++)
		if (relations[i].kind == kind && !strcmp(relations[i].sql, sql))
			return &relations[i];
	return NULL;
}

/* By its C name. */
static const struct relation *find_table(const char *name)
{
	for (size_t i = 0; i < N_OF(relations); i++)
		if (relations[i].kind == TABLE && !strcmp(relations[i].name, name))
			return &relations[i];
	return NULL;
}

static const struct column *find_column(const struct relation *r, const char *name)
{
	for (const struct column *c = r ? r->columns : NULL; c && c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static const struct labels *find_labels(const char *labels)
{
	for (size_t i = 0; i < N_OF(all_labels); i++)
		if (!strcmp(all_labels[i].labels, labels))
			return &all_labels[i];
	return NULL;
}

/* A field of a packed column, its word, and its lowest bit there. */
struct field {
	const struct column *field, *word;
	unsigned at;
	bool topmost; /* no field lies above it, and SQL needs no mask */
};

static bool find_field(const struct relation *r, const struct column *c, struct field *ret)
{
	*ret = (struct field){ .field = c };
	for (const struct column *w = r->columns; w->name && w <= c; w++) {
		if (w->word)
			*ret = (struct field){ .field = c, .word = w };
		else if (w < c)
			ret->at += w->bits;
	}
	ret->topmost = c[1].bits == 0;
	return c->bits > 0;
}

/* @name is WORD.FIELD. */
static struct field field_named(const char *name)
{
	struct field found = { .field = NULL }, f;
	char text[128];

	for (size_t i = 0; i < N_OF(relations); i++)
		for (const struct column *c = relations[i].columns; c->name; c++) {
			if (!find_field(&relations[i], c, &f))
				continue;
			snprintf(text, sizeof(text), "%s.%s", f.word->name, c->name);
			if (!strcmp(text, name)) {
				if (found.field)
					embed_fail("more than one field is called %s", name);
				found = f;
			}
		}
	if (!found.field)
		embed_fail("no field is called %s", name);
	return found;
}

/* ---- writing ---- */

static void write_value(FILE *out, const char *labels, const char *expression)
{
	const struct labels *l = find_labels(labels);

	if (!l)
		embed_fail("no labels are called %s", labels);
	fprintf(out, "CASE %s", expression);
	for (const struct name *n = l->names; n->name; n++)
		fprintf(out, " WHEN %u THEN '%s'", n->number, n->name);
	fputs(" END", out);
}

/* @alias ends in a dot, or is empty. */
static void write_bits(FILE *out, const struct field *f, const char *alias)
{
	fprintf(out, "%s%s", alias, f->word->name);
	if (f->at)
		fprintf(out, " >> %u", f->at);
	if (!f->topmost)
		fprintf(out, " & %u", (1U << f->field->bits) - 1);
}

static void write_field(FILE *out, const struct field *f, const char *alias)
{
	char bits[256] = "";
	FILE *text = fmemopen(bits, sizeof(bits), "w");

	if (!text)
		embed_fail("no memory");
	write_bits(text, f, alias);
	fclose(text);
	if (f->field->labels)
		write_value(out, f->field->labels, bits);
	else if (f->field->null == REQUIRED)
		fputs(bits, out);
	else if (!strcmp(f->field->unit, "0/1"))
		fprintf(out, "CASE %s WHEN 0 THEN 0 WHEN 1 THEN 1 END", bits);
	else
		fprintf(out, "NULLIF(%s, %u)", bits, (1U << f->field->bits) - 1);
}

static void write_tables(FILE *out)
{
	for (size_t i = 0; i < N_OF(relations); i++) {
		const struct relation *r = &relations[i];
		const char *end = ")", *between = "";

		if (r->kind != TABLE)
			continue;
		fprintf(out, "CREATE TABLE %s(", r->sql);
		for (const struct column *c = r->columns; c->name; c++) {
			if (!strcmp(c->name, END_OF_TABLE)) {
				end = c->about;
			} else if (c->declared) {
				fprintf(out, "%s%s%s%s%s", between, c->name, *c->declared ? " " : "", c->declared,
				        c->null == REQUIRED ? " NOT NULL" : "");
				between = ", ";
			}
		}
		fprintf(out, "%s;\n", end);
	}
}

static void write_description(FILE *out, const char *relation, const char *column, const char *unit, const char *about)
{
	static const char *between = "INSERT INTO schema_doc VALUES\n";

	fprintf(out, "%s('%s', '%s', '%s', ", between, relation, column, unit);
	fputc('\'', out);
	for (; *about; about++) {
		if (*about == '\'')
			fputc('\'', out);
		fputc(*about, out);
	}
	fputs("')", out);
	between = ",\n";
}

/* schema_doc leaves out relations called stored_. */
static void write_descriptions(FILE *out)
{
	for (size_t i = 0; i < N_OF(relations); i++) {
		const struct relation *r = &relations[i], *of = r->of ? find_table(r->of) : NULL;

		if (!strncmp(r->sql, "stored_", strlen("stored_")))
			continue;
		if (r->of && strcmp(r->of, "none") && !of)
			embed_fail("view %s: no table is called %s", r->name, r->of);
		if (!r->about && !of)
			embed_fail("view %s has no sentence", r->name);
		write_description(out, r->sql, "", "", r->about ? r->about : of->about);
		for (const struct column *c = r->columns; c->name; c++) {
			/* The column that has the unit and the sentence of @c: @c, or the column that it shows. */
			const struct relation *table = find_table(c->table ? c->table : r->of ? r->of : "");
			const struct column *source = c->source ? find_column(table, c->source) : c;

			if (!source)
				embed_fail("%s.%s: its table has no column %s", r->name, c->name, c->source);
			if (strcmp(c->name, END_OF_TABLE))
				write_description(out, r->sql, c->name, source->unit, source->about);
		}
	}
	fputs(";\n", out);
}

/* A column in a SELECT. */
static void write_column(FILE *out, const struct relation *r, const struct column *c, const char *alias)
{
	const struct relation *of = r->kind == VIEW ? find_table(c->table ? c->table : r->of) : r;
	const struct column *source = find_column(of, c->source ? c->source : c->name);
	struct field f;

	if (!source || source->word)
		embed_fail("%s.%s is not a column of its table: write it as SQL", r->name, c->name);
	if (find_field(of, source, &f)) {
		write_field(out, &f, alias);
		fprintf(out, " AS %s", c->name);
	} else if (source->labels) {
		char expression[128];

		snprintf(expression, sizeof(expression), "%s%s", alias, source->name);
		write_value(out, source->labels, expression);
		fprintf(out, " AS %s", c->name);
	} else if (source->since && r->kind == TABLE) {
		fprintf(out, "%sbase + %s%s AS %s", alias, alias, source->name, c->name);
	} else {
		fprintf(out, "%s%s", alias, source->name);
		if (strcmp(source->name, c->name))
			fprintf(out, " AS %s", c->name);
	}
}

/* RELATION, ALIAS and FROM..TO in @words. */
static void write_columns(FILE *out, char *words)
{
	char *name = strtok(words, " "), *alias = strtok(NULL, " "), *range = strtok(NULL, " "), *to = NULL,
	     dotted[64] = "";
	const struct relation *r = name ? find_relation(VIEW, name) : NULL;
	const char *between = "";
	bool within;

	if (!r)
		r = name ? find_relation(TABLE, name) : NULL;
	if (!r)
		embed_fail("no relation is called %s", name ? name : "");
	if (alias && strstr(alias, "..")) {
		range = alias;
		alias = NULL;
	}
	if (alias)
		snprintf(dotted, sizeof(dotted), "%s.", alias);
	if (range) {
		to = strstr(range, "..");
		if (!to)
			embed_fail("%s: not FROM..TO", range);
		*to = 0;
		to += 2;
		if ((*range && !find_column(r, range)) || (*to && !find_column(r, to)))
			embed_fail("%s has no column %s or %s", name, range, to);
	}
	within = !range || !*range;
	for (const struct column *c = r->columns; c->name && strcmp(c->name, END_OF_TABLE); c++) {
		within |= !strcmp(c->name, range ? range : "");
		if (within && (r->kind == VIEW || c->declared)) {
			fputs(between, out);
			write_column(out, r, c, dotted);
			between = ", ";
		}
		if (to && !strcmp(c->name, to))
			break;
	}
	if (!*between)
		embed_fail("%s: no columns", name);
}

/* @text stood between two @. */
static void write_template(FILE *out, char *text)
{
	char *rest = text + strcspn(text, " :");
	char after = *rest;

	if (after)
		*rest++ = 0;
	if (after == ':') { /* LABELS:NAME */
		const struct labels *l = find_labels(text);
		const struct name *n = l ? l->names : NULL;

		while (n && n->name && strcmp(n->name, rest))
			n++;
		if (!n || !n->name)
			embed_fail("no label is called %s:%s", text, rest);
		fprintf(out, "%u", n->number);
	} else if (!strcmp(text, "tables"))
		write_tables(out);
	else if (!strcmp(text, "descriptions"))
		write_descriptions(out);
	else if (!strcmp(text, "columns"))
		write_columns(out, rest);
	else if (!strcmp(text, "values")) {
		const struct labels *l = find_labels(rest);

		if (!l)
			embed_fail("no labels are called %s", rest);
		for (const struct name *n = l->names; n->name; n++)
			fprintf(out, "%s(%u, '%s')", n == l->names ? "" : ", ", n->number, n->name);
	} else if (!strcmp(text, "bits") || !strcmp(text, "value")) { /* WORD.FIELD and ALIAS */
		char *name = strtok(rest, " "), *alias = strtok(NULL, " ");
		char dotted[64] = "";
		struct field f = field_named(name ? name : "");

		if (alias)
			snprintf(dotted, sizeof(dotted), "%s.", alias);
		if (!strcmp(text, "value"))
			write_field(out, &f, dotted);
		else
			write_bits(out, &f, dotted);
	} else
		write_value(out, text, rest);
}

/* ---- files ---- */

static void expand_file(FILE *out, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL, *at, *end;
	size_t room = 0;

	file = path;
	if (!f || getdelim(&text, &room, 0, f) < 0)
		embed_fail("%s", strerror(errno));
	fclose(f);

	at = text;
	for (char *begin; (begin = strchr(at, '@')); at = end + 1) {
		end = strchr(begin + 1, '@');
		if (!end)
			embed_fail("an @ without a second one");
		*begin = *end = 0;
		fputs(at, out);
		write_template(out, begin + 1);
	}
	fputs(at, out);
	free(text);
}

int main(int argc, char **argv)
{
	FILE *out = argc > 3 ? fopen(argv[1], "w") : NULL;
	bool failed;

	file = argc > 1 ? argv[1] : "usage";
	if (!out)
		embed_fail("%s", argc > 3 ? strerror(errno) : "embed OUT NAME FILE... [-- NAME FILE...]...");
	fputs("/* Made from SQL by embed.c. */\n#include \"store/sql.h\"\n\n", out);
	for (int i = 2; i < argc; i++) {
		const char *name = argv[i];
		char *text = NULL;
		size_t n = 0;
		FILE *sql = open_memstream(&text, &n);

		if (!sql)
			embed_fail("no memory");
		while (++i < argc && strcmp(argv[i], "--"))
			expand_file(sql, argv[i]);
		fclose(sql);

		/* A C string literal; each line of @text is a line of it. */
		fprintf(out, "const char bsa_sql_%s[] =\n\t\"", name);
		for (const char *at = text; *at; at++) {
			if (*at == '\n') {
				fputs(at[1] ? "\\n\"\n\t\"" : "\\n", out);
				continue;
			}
			if (*at == '"' || *at == '\\')
				fputc('\\', out);
			fputc(*at, out);
		}
		fputs("\";\n", out);
		free(text);
	}
	file = argv[1];
	failed = ferror(out); /* of a write before the last, which fclose() need not report */
	if (fclose(out) || failed)
		embed_fail("cannot write");
	return 0;
}

/* fold_file.c -- reads the cases line by line, and puts the lines of a fragment where a case names it. */
#include "analyzer/fold_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 9, LINE_SIZE = 4096 };

struct reading {
	const char *path;
	unsigned line;
	struct fold_file *file;
	struct bsa_fold_options options; /* options of cases that give none */
	struct fold_case *current;       /* NULL: before the first case of the file */
	char **to; /* where events go: a text of the current case, or of a fragment; NULL: nowhere */
};

static void __attribute__((noreturn)) file_wrong(const struct reading *r, const char *what)
{
	fprintf(stderr, "%s:%u: %s\n", r->path, r->line, what);
	abort();
}

static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	return copy;
}

/* Put @line and an end of line behind *to. */
static void append_line(char **to, const char *line)
{
	size_t had = *to ? strlen(*to) : 0;

	*to = realloc(*to, had + strlen(line) + 2);
	if (!*to)
		abort();
	sprintf(*to + had, "%s\n", line);
}

/* One more element, all zero, behind the @n of *array. */
static void *one_more(void *array, size_t *n, size_t size)
{
	char *all = realloc(*(void **)array, (*n + 1) * size);

	if (!all)
		abort();
	*(void **)array = all;
	return memset(all + (*n)++ * size, 0, size);
}

/* ---- fragments ---- */

/* @line is names of fragments, each followed by its arguments. */
static void append_fragments(const struct reading *r, char **to, const char *line);

static void append_events(const struct reading *r, char **to, const char *line)
{
	if (isupper((unsigned char)*line))
		append_fragments(r, to, line);
	else
		append_line(to, line);
}

static void append_fragment(const struct reading *r, char **to, const char *name, char *const *arguments)
{
	const char *at = NULL;

	for (size_t i = 0; i < r->file->n_fragments && !at; i++)
		if (!strcmp(r->file->fragments[i].name, name))
			at = r->file->fragments[i].lines;
	if (!at)
		file_wrong(r, name);
	for (; *at; at++) { /* each line */
		char line[LINE_SIZE] = "";

		for (size_t n; *at != '\n'; at += n) {
			const char *part = at;

			n = strcspn(at, "$\n");
			if (!n && at[1] >= '1' && at[1] < '1' + ARGUMENTS_MAX) {
				part = arguments[at[1] - '1'] ? arguments[at[1] - '1'] : "";
				n = 2;
			} else if (!n) {
				file_wrong(r, "a fragment has a $ without a number");
			}
			if (strlen(line) + (part == at ? n : strlen(part)) >= sizeof(line))
				file_wrong(r, "too long");
			strncat(line, part, part == at ? n : strlen(part));
		}
		append_events(r, to, line);
	}
}

static void append_fragments(const struct reading *r, char **to, const char *line)
{
	char *copy = copy_of(line), *rest = NULL, *word = strtok_r(copy, " ", &rest);

	while (word) {
		char *arguments[ARGUMENTS_MAX] = { NULL };
		const char *name = word;
		size_t n = 0;

		while ((word = strtok_r(NULL, " ", &rest)) && !isupper((unsigned char)*word)) {
			if (n == ARGUMENTS_MAX)
				file_wrong(r, "too many arguments");
			arguments[n++] = word;
		}
		append_fragment(r, to, name, arguments);
	}
	free(copy);
}

static void end_case(struct reading *r)
{
	const struct fold_case *c = r->current;

	if (c && (c->full ? !*c->full || !c->compact || !*c->compact || *c->wants : !*c->wants))
		file_wrong(r, "the case before this line has no answer, or no two forms");
}

static void begin_fragment(struct reading *r, char *line)
{
	struct fold_fragment *f = one_more(&r->file->fragments, &r->file->n_fragments, sizeof(*f));
	char *lines = line + strcspn(line, " ");

	end_case(r);
	r->current = NULL;
	r->to = NULL;
	if (*lines) {
		*lines++ = 0;
		append_line(&f->lines, lines);
	} else {
		f->lines = copy_of("");
		r->to = &f->lines;
	}
	f->name = copy_of(line);
}

/* ---- cases ---- */

static void begin_case(struct reading *r, const char *name)
{
	struct fold_case *c;

	end_case(r);
	c = one_more(&r->file->cases, &r->file->n_cases, sizeof(*c));
	*c = (struct fold_case){
		.name = copy_of(name), .script = copy_of(""), .wants = copy_of(""), .options = r->options
	};
	r->current = c;
	r->to = &c->script;
}

static void read_options(const struct reading *r, struct bsa_fold_options *ret, const char *line)
{
	*ret = (struct bsa_fold_options){ 0 };
	for (int n = 0; *line; line += n, n = 0)
		if ((sscanf(line, " horizon_ns=%" SCNu64 "%n", &ret->horizon_ns, &n) != 1 &&
		     sscanf(line, " under_way_max=%" SCNu32 "%n", &ret->under_way_max, &n) != 1))
			file_wrong(r, "no option of the fold");
}

static void begin_form(struct reading *r, bool full)
{
	char **form = full ? &r->current->full : &r->current->compact;

	if (*form)
		file_wrong(r, "the case has this form already");
	*form = copy_of("");
	r->to = form;
}

/* A line of what has begun: an answer or another form of the case, events of the case, or a line of the fragment. */
static void read_inner_line(struct reading *r, const char *line)
{
	bool full = !strcmp(line, "/full");

	if (!r->to)
		file_wrong(r, "this line belongs to no case and no fragment");
	else if (!r->current)
		append_line(r->to, line);
	else if (full || !strcmp(line, "/compact"))
		begin_form(r, full);
	else if (!strncmp(line, "= ", 2))
		append_line(&r->current->wants, line + 2);
	else
		append_events(r, r->to, line);
}

static void read_line(struct reading *r, char *line)
{
	size_t n = strlen(line);

	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = 0;
	if (!n && !r->current)
		r->to = NULL; /* the end of a fragment */
	if (!n || *line == '#')
		return;
	if (*line == ':')
		begin_fragment(r, line + 1);
	else if (!strncmp(line, "== ", 3))
		begin_case(r, line + 3);
	else if (!strncmp(line, "with ", 5))
		read_options(r, r->current ? &r->current->options : &r->options, line + 4);
	else
		read_inner_line(r, line);
}

void fold_file_read(struct fold_file *to, const char *path)
{
	struct reading r = { .path = path, .file = to };
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	if (!in)
		file_wrong(&r, "cannot be opened");
	while (getline(&line, &room, in) > 0) {
		r.line++;
		read_line(&r, line);
	}
	end_case(&r);
	free(line);
	fclose(in);
}

void fold_file_fini(struct fold_file *f)
{
	for (size_t i = 0; i < f->n_fragments; i++) {
		free(f->fragments[i].name);
		free(f->fragments[i].lines);
	}
	for (size_t i = 0; i < f->n_cases; i++) {
		free(f->cases[i].name);
		free(f->cases[i].script);
		free(f->cases[i].wants);
		free(f->cases[i].full);
		free(f->cases[i].compact);
	}
	free(f->fragments);
	free(f->cases);
}

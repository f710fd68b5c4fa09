/* fold_file.c -- reads the cases line by line, and puts the lines of a fragment where a case names it. */
#include "analyzer/fold_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/lines.h"

enum { ARGUMENTS_MAX = 9, LINE_SIZE = 4096 };

struct reading {
	struct lines lines; /* first: the reading is found from it */
	struct fold_file *file;
	struct bsa_fold_options options; /* options of cases that give none */
	struct fold_case *current;       /* NULL: before the first case of the file */
	char **to; /* where events go: a text of the current case, or of a fragment; NULL: nowhere */
};

/* ---- fragments ---- */

/* @line is names of fragments, each followed by its arguments. */
static void append_fragments(const struct reading *r, char **to, const char *line);

static void append_events(const struct reading *r, char **to, const char *line)
{
	if (isupper((unsigned char)*line))
		append_fragments(r, to, line);
	else
		lines_append(to, line);
}

static void append_fragment(const struct reading *r, char **to, const char *name, char *const *arguments)
{
	const char *at = NULL;

	for (size_t i = r->file->n_fragments; i-- > 0 && !at;)
		if (!strcmp(r->file->fragments[i].name, name))
			at = r->file->fragments[i].lines;
	if (!at)
		lines_wrong(&r->lines, name);
	for (; *at; at++) { /* each line */
		char line[LINE_SIZE] = "";

		for (size_t n; *at != '\n'; at += n) {
			const char *part = at;

			n = strcspn(at, "$\n");
			if (!n && at[1] >= '1' && at[1] < '1' + ARGUMENTS_MAX) {
				part = arguments[at[1] - '1'] ? arguments[at[1] - '1'] : "";
				n = 2;
			} else if (!n) {
				lines_wrong(&r->lines, "a fragment has a $ without a number");
			}
			if (strlen(line) + (part == at ? n : strlen(part)) >= sizeof(line))
				lines_wrong(&r->lines, "too long");
			strncat(line, part, part == at ? n : strlen(part));
		}
		append_events(r, to, line);
	}
}

static void append_fragments(const struct reading *r, char **to, const char *line)
{
	char *copy = lines_copy(line), *rest = NULL, *word = strtok_r(copy, " ", &rest);

	while (word) {
		char *arguments[ARGUMENTS_MAX] = { NULL };
		const char *name = word;
		size_t n = 0;

		while ((word = strtok_r(NULL, " ", &rest)) && !isupper((unsigned char)*word)) {
			if (n == ARGUMENTS_MAX)
				lines_wrong(&r->lines, "too many arguments");
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
		lines_wrong(&r->lines, "the case before this line has no answer, or no two forms");
}

static void begin_fragment(struct reading *r, char *line)
{
	struct fold_fragment *f = lines_one_more(&r->file->fragments, &r->file->n_fragments, sizeof(*f));
	char *lines = line + strcspn(line, " ");

	end_case(r);
	r->current = NULL;
	r->to = NULL;
	if (*lines) {
		*lines++ = 0;
		lines_append(&f->lines, lines);
	} else {
		f->lines = lines_copy("");
		r->to = &f->lines;
	}
	f->name = lines_copy(line);
}

/* ---- cases ---- */

static void begin_case(struct reading *r, const char *name)
{
	struct fold_case *c;

	end_case(r);
	c = lines_one_more(&r->file->cases, &r->file->n_cases, sizeof(*c));
	*c = (struct fold_case){
		.name = lines_copy(name), .script = lines_copy(""), .wants = lines_copy(""), .options = r->options
	};
	r->current = c;
	r->to = &c->script;
}

static void read_options(const struct reading *r, struct bsa_fold_options *ret, const char *line)
{
	*ret = (struct bsa_fold_options){ 0 };
	for (int n = 0; *line; line += n, n = 0)
		if ((sscanf(line, " horizon_ns=%" SCNu64 "%n", &ret->horizon_ns, &n) != 1 &&
		     sscanf(line, " under_way_max=%" SCNu32 "%n", &ret->under_way_max, &n) != 1 &&
		     sscanf(line, " declared=%" SCNx64 "%n", &ret->declared, &n) != 1))
			lines_wrong(&r->lines, "no option of the fold");
}

static void read_end(const struct reading *r, struct fold_end *ret, const char *line)
{
	for (int n = 0; *line; line += n, n = 0)
		if ((sscanf(line, " until=%" SCNu64 "%n", &ret->until, &n) != 1 &&
		     sscanf(line, " over_by=%" SCNu64 "%n", &ret->over_by, &n) != 1))
			lines_wrong(&r->lines, "no end of a recording");
}

static void begin_form(struct reading *r, bool full)
{
	char **form = full ? &r->current->full : &r->current->compact;

	if (*form)
		lines_wrong(&r->lines, "the case has this form already");
	*form = lines_copy("");
	r->to = form;
}

/* A line of what has begun: an answer or another form of the case, events of the case, or a line of the fragment. */
static void read_inner_line(struct reading *r, const char *line)
{
	bool full = !strcmp(line, "/full");

	if (!r->to)
		lines_wrong(&r->lines, "this line belongs to no case and no fragment");
	else if (!r->current)
		lines_append(r->to, line);
	else if (full || !strcmp(line, "/compact"))
		begin_form(r, full);
	else if (!strncmp(line, "= ", 2))
		lines_append(&r->current->wants, line + 2);
	else
		append_events(r, r->to, line);
}

static void read_line(struct lines *lines, char *line)
{
	struct reading *r = (struct reading *)lines;

	if (!*line && !r->current)
		r->to = NULL; /* the end of a fragment */
	if (!*line || *line == '#')
		return;
	if (*line == ':')
		begin_fragment(r, line + 1);
	else if (!strncmp(line, "== ", 3))
		begin_case(r, line + 3);
	else if (!strncmp(line, "with ", 5))
		read_options(r, r->current ? &r->current->options : &r->options, line + 4);
	else if (!strncmp(line, "recorded ", 9) && r->current)
		read_end(r, &r->current->end, line + 8);
	else
		read_inner_line(r, line);
}

void fold_file_read(struct fold_file *to, const char *path)
{
	struct reading r = { .lines = { .path = path }, .file = to };

	lines_read(&r.lines, read_line);
	end_case(&r);
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

/* case_file.c -- see case_file.h. */
#include "analyzer/case_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	const char *path;
	unsigned line;
	struct case_file *file;
	char *common; /* the lines that each case begins with */
	char mark;    /* sign of the line before: ? or =, or 0 */
};

static void __attribute__((noreturn)) wrong(const struct reading *r, const char *what)
{
	fprintf(stderr, "%s:%u: %s\n", r->path, r->line, what);
	abort();
}

/* Put @text and an end of line behind *to. */
static void append(char **to, const char *text)
{
	size_t had = *to ? strlen(*to) : 0;

	*to = realloc(*to, had + strlen(text) + 2);
	if (!*to)
		abort();
	sprintf(*to + had, "%s\n", text);
}

static void *grown(void *array, size_t n, size_t size)
{
	array = realloc(array, (n + 1) * size);
	if (!array)
		abort();
	memset((char *)array + n * size, 0, size);
	return array;
}

static unsigned forms_of(const char *sentence)
{
	if (!strncmp(sentence, "full: ", 6) || !strncmp(sentence, "kept: ", 6))
		return CASE_FULL;
	return strncmp(sentence, "compact: ", 9) ? CASE_BOTH : CASE_COMPACT;
}

static void read_sentence(struct reading *r, const char *text)
{
	struct case_file *f = r->file;
	struct a_case *c;

	f->cases = grown(f->cases, f->n, sizeof(*f->cases));
	c = &f->cases[f->n++];
	c->name = strdup(text);
	c->trace = strdup(r->common ? r->common : "");
	c->forms = forms_of(text);
	c->kept = !strncmp(text, "kept: ", 6);
	if (!c->name || !c->trace)
		abort();
}

static struct a_case *the_case(struct reading *r)
{
	if (!r->file->n)
		wrong(r, "this belongs to no case");
	return &r->file->cases[r->file->n - 1];
}

static void read_question(struct reading *r, const char *text)
{
	struct a_case *c = the_case(r);
	struct question *q;
	unsigned forms = CASE_BOTH;

	if (!strncmp(text, "/full", 5) || !strncmp(text, "/compact", 8)) {
		forms = text[1] == 'f' ? CASE_FULL : CASE_COMPACT;
		text += strcspn(text, " ");
	}
	if (r->mark != '?') {
		c->questions = grown(c->questions, c->n_questions, sizeof(*c->questions));
		q = &c->questions[c->n_questions++];
		*q = (struct question){ .line = r->line, .forms = forms, .answer = strdup("") };
	}
	append(&c->questions[c->n_questions - 1].sql, text);
}

static void read_answer(struct reading *r, const char *text)
{
	struct a_case *c = the_case(r);

	if (!c->n_questions || !r->mark)
		wrong(r, "an answer to no question");
	text += strspn(text, " ");
	if (strcmp(text, "nothing"))
		append(&c->questions[c->n_questions - 1].answer, text);
}

static void read_line(struct reading *r, char *line)
{
	size_t n = strlen(line);

	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = 0;
	if (!strncmp(line, "== ", 3)) {
		read_sentence(r, line + 3);
	} else if (*line == '?') {
		read_question(r, line + 1);
	} else if (*line == '=') {
		read_answer(r, line + 1);
	} else if (*line && *line != '#') {
		if (r->file->n && !strncmp(line, "lose ", 5))
			the_case(r)->lossy = true;
		append(r->file->n ? &the_case(r)->trace : &r->common, line);
	}
	r->mark = *line == '?' || (*line == '=' && line[1] != '=') ? *line : 0;
}

void case_file_read(struct case_file *ret, const char *path)
{
	struct reading r = { .path = path, .file = ret };
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	*ret = (struct case_file){ 0 };
	if (!in)
		wrong(&r, "cannot be opened");
	while (getline(&line, &room, in) > 0) {
		r.line++;
		read_line(&r, line);
	}
	free(line);
	free(r.common);
	fclose(in);
	for (size_t i = 0; i < ret->n; i++)
		if (!ret->cases[i].n_questions)
			wrong(&r, ret->cases[i].name); /* asks nothing */
}

void case_file_fini(struct case_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct a_case *c = &f->cases[i];

		for (size_t k = 0; k < c->n_questions; k++) {
			free(c->questions[k].sql);
			free(c->questions[k].answer);
		}
		free(c->questions);
		free(c->name);
		free(c->trace);
	}
	free(f->cases);
	*f = (struct case_file){ 0 };
}

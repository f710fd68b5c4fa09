/* case_file.c -- see case_file.h. */
#include "analyzer/case_file.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/lines.h"

struct reading {
	struct lines lines; /* first: the reading is found from it */
	struct case_file *file;
	char *common; /* the lines that each case begins with */
	char mark;    /* sign of the line before: ? or =, or 0 */
};

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

	c = lines_one_more(&f->cases, &f->n, sizeof(*c));
	c->name = lines_copy(text);
	c->trace = lines_copy(r->common ? r->common : "");
	c->forms = forms_of(text);
	c->kept = !strncmp(text, "kept: ", 6);
}

static struct a_case *the_case(struct reading *r)
{
	if (!r->file->n)
		lines_wrong(&r->lines, "this belongs to no case");
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
		q = lines_one_more(&c->questions, &c->n_questions, sizeof(*q));
		*q = (struct question){ .line = r->lines.number, .forms = forms, .answer = lines_copy("") };
	}
	lines_append(&c->questions[c->n_questions - 1].sql, text);
}

static void read_answer(struct reading *r, const char *text)
{
	struct a_case *c = the_case(r);

	if (!c->n_questions || !r->mark)
		lines_wrong(&r->lines, "an answer to no question");
	text += strspn(text, " ");
	if (strcmp(text, "nothing"))
		lines_append(&c->questions[c->n_questions - 1].answer, text);
}

static void read_line(struct lines *lines, char *line)
{
	struct reading *r = (struct reading *)lines;

	if (!strncmp(line, "== ", 3)) {
		read_sentence(r, line + 3);
	} else if (*line == '?') {
		read_question(r, line + 1);
	} else if (*line == '=') {
		read_answer(r, line + 1);
	} else if (*line && *line != '#') {
		if (r->file->n && !strncmp(line, "lose ", 5))
			the_case(r)->lossy = true;
		lines_append(r->file->n ? &the_case(r)->trace : &r->common, line);
	}
	r->mark = *line == '?' || (*line == '=' && line[1] != '=') ? *line : 0;
}

void case_file_read(struct case_file *ret, const char *path)
{
	struct reading r = { .lines = { .path = path }, .file = ret };

	*ret = (struct case_file){ 0 };
	lines_read(&r.lines, read_line);
	free(r.common);
	for (size_t i = 0; i < ret->n; i++)
		if (!ret->cases[i].n_questions)
			lines_wrong(&r.lines, ret->cases[i].name); /* a case without a question */
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

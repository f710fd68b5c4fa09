/* describe_man.c -- fills in the parts of manual pages that the tables of commands and options define. */
#include <errno.h>
#include <string.h>

#include "base/scoped.h"
#include "options/describe.h"
#include "options/options.h"

/* Print plain text: escape what troff would take for a request or an escape. */
static void print_text(FILE *to, const char *s, size_t n)
{
	if (n && (*s == '.' || *s == '\''))
		fputs("\\&", to);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\')
			fputs("\\e", to);
		else if (s[i] == '-')
			fputs("\\-", to);
		else
			fputc(s[i], to);
	}
}

static void print_line(FILE *to, const char *s)
{
	print_text(to, s, strlen(s));
	fputc('\n', to);
}

static void print_head(FILE *to, const struct bsv_command *c)
{
	fputs(".Dt BURSTSCOPE-", to);
	for (const char *s = c->name; *s; s++)
		fputc(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s, to);
	fprintf(to, " 1\n.Os burstscope\n.Sh NAME\n.Nm burstscope-%s\n.Nd ", c->name);
	print_line(to, c->says);
	fprintf(to, ".Sh SYNOPSIS\n.Nm burstscope\n.Cm %s\n.Op Ar option ...\n", c->name);
	/* "[INPUT] QUERY..." */
	for (const char *s = c->operands; *s;) {
		size_t n = strcspn(s, " ]");

		if (*s == ' ') {
			s++;
		} else if (*s == '[') {
			fputs(".Oo\n", to);
			s++;
		} else if (*s == ']') {
			fputs(".Oc\n", to);
			s++;
		} else if (n == 2 && !strncmp(s, "--", n)) {
			fputs(".Fl \\&-\n", to);
			s += n;
		} else if (n > 3 && !strncmp(s + n - 3, "...", 3)) {
			fprintf(to, ".Ar %.*s ...\n", (int)n - 3, s);
			s += n;
		} else {
			fprintf(to, ".Ar %.*s\n", (int)n, s);
			s += n;
		}
	}
}

/* Print the .It of an option: its names, its argument and its purpose. */
static void print_option(void *ctx, const struct bsv_option *o)
{
	FILE *to = ctx;

	fputs(".It ", to);
	if (o->letter)
		fprintf(to, "Fl %c , -%s", o->letter, o->name);
	else
		fprintf(to, "Fl -%s", o->name);
	if (o->kind == BSV_CHOICE) {
		for (size_t i = 0; o->choices[i]; i++)
			fprintf(to, "%s %s", i ? " |" : " Cm", o->choices[i]);
	} else if (o->argument) {
		fprintf(to, " Ar %s", o->argument);
	}
	fputc('\n', to);
	print_line(to, o->says);
}

static void man_options(FILE *to, const struct bsv_command *c)
{
	fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", to);
	bsv_options_each(c, print_option, to);
	fputs(".El\n", to);
	if (c->more) {
		const char *s = c->more;
		bool inside = false;

		/* Print sentences, which troff may fill, and indented lines, which it must keep. */
		fputs(".Pp\n", to);
		for (size_t n; *s; s += n + (s[n] == '\n')) {
			n = strcspn(s, "\n");
			if (inside != (*s == ' ')) {
				inside = !inside;
				fputs(inside ? ".Bd -literal -compact\n" : ".Ed\n", to);
			}
			if (!n) {
				fputs(".Pp\n", to);
				continue;
			}
			print_text(to, s, n);
			fputc('\n', to);
		}
		if (inside)
			fputs(".Ed\n", to);
	}
}

static void print_examples(FILE *to, const struct bsv_command *c)
{
	const char *s = c->examples;

	fputs(".Sh EXAMPLES\n.Bd -literal -compact\n", to);
	while (*s) {
		size_t n = strcspn(s, "\n");

		print_text(to, s, n);
		fputc('\n', to);
		s += n + (s[n] == '\n');
	}
	fputs(".Ed\n", to);
}

static void print_status(FILE *to, const struct bsv_command *c)
{
	bool judges = c->asks & BSV_ASK_VERDICT;

	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nDone", to);
	fputs(c->refuses ? ", whatever is predicted.\n"
	      : judges ? ", whatever the answer; with\n.Fl -verdict :\npassed.\n.It 1\nWith\n.Fl -verdict :\nfailed.\n"
	      : c->lasts ? ", or stopped by SIGINT, SIGTERM or SIGHUP.\n"
	                 : ".\n",
	      to);
	fputs(".It 2\nWrong usage.\n", to);
	if (judges)
		fputs(".It 3\nWith\n.Fl -verdict :\ncannot tell.\n", to);
	else if (c->refuses)
		fputs(".It 3\nThe recording does not say enough for an answer; the verdict names the reason.\n", to);
	fputs(".It 4\nThe input cannot be read, for want of permission, too, or is invalid.\n"
	      ".It 5\nThe environment is at fault: no space, no permission to write, record or listen, or a program is "
	      "not installed.\n"
	      ".It 130\nStopped by SIGINT, SIGTERM or SIGHUP",
	      to);
	fputs(c->lasts ? " before it began.\n" : ".\n", to);
	fputs(".El\n.Pp\nAn error is one line on standard error; standard output is then empty.\n", to);
}

/* Replace @mark, the text between two @. False: no such mark. */
static bool mark_fill(FILE *to, const char *mark)
{
	static const struct {
		const char *name;
		void (*tell)(FILE *to, const struct bsv_command *c);
	} known[] = { { "head ", print_head },
		      { "options ", man_options },
		      { "examples ", print_examples },
		      { "status ", print_status } };

	if (!strcmp(mark, "commands")) {
		fputs(".Bl -tag -compact -width burstscope-preemptions\n", to);
		for (const struct bsv_command *const *c = bsv_commands; *c; c++) {
			fprintf(to, ".It Xr burstscope-%s 1\n", (*c)->name);
			print_line(to, (*c)->says);
		}
		fputs(".El\n", to);
		return true;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t n = strlen(known[i].name);
		const struct bsv_command *c = NULL;

		if (!strncmp(mark, known[i].name, n))
			c = bsv_command_named(mark + n, strlen(mark + n));
		if (c) {
			known[i].tell(to, c);
			return true;
		}
	}
	return false;
}

static void file_fini(FILE **file)
{
	if (*file)
		fclose(*file);
}

int bsv_describe_man(FILE *to, const char *path)
{
	__attribute__((cleanup(file_fini))) FILE *from = fopen(path, "re");
	bsv_scoped_text *read = NULL;
	size_t room = 0;
	ssize_t n;

	if (!from) {
		fprintf(stderr, "burstscope: help: %s: %s\n", path, strerror(errno));
		return BSV_INPUT;
	}
	while ((n = getline(&read, &room, from)) > 0) {
		if (n < 3 || read[0] != '@' || strcmp(read + n - 2, "@\n")) {
			fputs(read, to);
			continue;
		}
		read[n - 2] = 0;
		if (!mark_fill(to, read + 1)) {
			fprintf(stderr, "burstscope: help: %s: unknown mark @%s@\n", path, read + 1);
			return BSV_INPUT;
		}
	}
	return BSV_DONE;
}

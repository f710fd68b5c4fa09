/* options.c -- reads command lines by the program's table (options.h), with getopt_long, but no name abbreviated. */
#include "options/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "options/nearest.h"

enum { OPTIONS_MOST = 32, FIRST = 256 };

enum { HELP, VERSION, COMPLETION };

static const char *const shells[] = { "bash", "zsh", NULL };

const struct option_row options_own[OPTIONS_OWN] = {
	[HELP] = { .name = "help", .text = "print this text" },
	[VERSION] = { .name = "version", .text = "print the version" },
	[COMPLETION] = { .name = "completion",
	                 .kind = OPTION_CHOICE,
	                 .choices = shells,
	                 .text = "print the completion of these options for a shell" },
};

const struct option_row *options_row(const struct program *p, size_t i)
{
	if (i < p->n_rows)
		return &p->rows[i];
	return i - p->n_rows < OPTIONS_OWN ? &options_own[i - p->n_rows] : NULL;
}

int options_wrong(const struct program *p, const char *format, ...)
{
	size_t n = strlen(format);
	va_list args;

	fprintf(stderr, "%s: ", p->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "%s %s --help\n", n && format[n - 1] == '?' ? " See" : "; see", p->name);
	return OPTIONS_WRONG;
}

const char *options_value(const struct option_row *row, char ret[OPTIONS_VALUE_ROOM])
{
	size_t n = 0;

	if (!row->choices)
		return row->argument;
	for (size_t i = 0; row->choices[i]; i++) {
		n += (size_t)snprintf(ret + n, OPTIONS_VALUE_ROOM - n, "%s%s", i ? "|" : "", row->choices[i]);
		assert(n < OPTIONS_VALUE_ROOM);
	}
	return ret;
}

static int choice_take(const struct program *p, const struct option_row *row, const char *text, unsigned *ret)
{
	char words[OPTIONS_VALUE_ROOM];
	const char *nearest;
	unsigned i = 0;

	for (; row->choices[i]; i++)
		if (strcmp(row->choices[i], text) == 0) {
			*ret = i;
			return OPTIONS_READ;
		}
	nearest = nearest_word(text, row->choices, i, sizeof(row->choices[0]));
	if (nearest)
		return options_wrong(p, "--%s: no '%s'; did you mean '%s'?", row->name, text, nearest);
	return options_wrong(p, "--%s: no '%s'; write %s", row->name, text, options_value(row, words));
}

static int option_take(const struct program *p, const struct option_row *row, const char *text, void *own)
{
	void *at = (char *)own + row->offset;

	if (row->bare)
		*(bool *)((char *)own + row->given) = true;
	switch (row->kind) {
	case OPTION_SWITCH:
		*(bool *)at = true;
		return OPTIONS_READ;
	case OPTION_TEXT:
		*(const char **)at = text;
		return !text || *text ? OPTIONS_READ : options_wrong(p, "--%s: %s is empty", row->name, row->argument);
	case OPTION_CHOICE:
		return choice_take(p, row, text, at);
	case OPTION_PARSED:
		return row->parse(text, at)
		               ? OPTIONS_READ
		               : options_wrong(p, "--%s: '%s' is not valid; write %s", row->name, text, row->such_as);
	}
	return OPTIONS_READ;
}

/*
 * Report why getopt refused @word. @row: the known option whose value is missing or not allowed; NULL: the option is
 * unknown.
 */
static int option_refused(const struct program *p, const struct option_row *row, const char *word,
                          const struct option *longs, size_t n)
{
	const char *nearest;
	char name[OPTIONS_VALUE_ROOM];

	if (row && row->kind != OPTION_SWITCH)
		return options_wrong(p, "--%s: %s is missing", row->name, options_value(row, name));
	if (row)
		return options_wrong(p, "--%s takes no value", row->name);
	if (optopt)
		return options_wrong(p, "no option '-%c'", optopt);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	nearest = nearest_word(name, &longs[0].name, n, sizeof(longs[0]));
	if (nearest)
		return options_wrong(p, "no option '--%s'; did you mean '--%s'?", name, nearest);
	return options_wrong(p, "no option '--%s'", name);
}

int options_written(const struct program *p)
{
	if (!fflush(stdout) && !ferror(stdout))
		return OPTIONS_DONE;
	fprintf(stderr, "%s: cannot write the output\n", p->name);
	return OPTIONS_ENVIRONMENT;
}

static int own_take(const struct program *p, size_t which, const char *text)
{
	unsigned shell;
	int status = which == COMPLETION ? choice_take(p, &options_own[COMPLETION], text, &shell) : OPTIONS_READ;

	if (status != OPTIONS_READ)
		return status;
	if (which == HELP)
		options_help(p);
	else if (which == VERSION)
		printf("%s %s\n", p->name, p->version);
	else
		(shell ? options_zsh : options_bash)(p);
	return options_written(p);
}

int options_read(const struct program *p, void *own, int argc, char **argv, int *first)
{
	struct option longs[OPTIONS_MOST + 1] = { { 0 } };
	const struct option_row *row;
	int c, status = OPTIONS_READ;
	size_t n = 0;

	for (; (row = options_row(p, n)); n++) {
		int argument = row->kind == OPTION_SWITCH ? no_argument
		               : row->bare                ? optional_argument
		                                          : required_argument;

		assert(n < OPTIONS_MOST);
		assert(!row->bare || row->kind == OPTION_TEXT); /* the only kind that can be without a value */
		longs[n] = (struct option){ row->name, argument, NULL, FIRST + (int)n };
	}
	opterr = 0;
	while (status == OPTIONS_READ && (c = getopt_long(argc, argv, ":h", longs, NULL)) >= 0) {
		const bool refused = c == '?' || c == ':';
		const char *word = argv[optind - 1 - (!refused && optarg == argv[optind - 1])];
		size_t i = c == 'h' ? p->n_rows + HELP : (size_t)(c - FIRST);

		row = (refused ? optopt : c) >= FIRST ? options_row(p, (size_t)((refused ? optopt : c) - FIRST)) : NULL;
		/*
		 * getopt takes the beginning of a name for the name, until another option begins like that: a script
		 * that relies on it fails with a later version.
		 */
		if (row && strcspn(word + 2, "=") < strlen(row->name))
			status = options_wrong(p, "no option '--%.*s'; did you mean '--%s'?",
			                       (int)strcspn(word + 2, "="), word + 2, row->name);
		else if (refused)
			status = option_refused(p, row, word, longs, n);
		else
			status = i < p->n_rows ? option_take(p, &p->rows[i], optarg, own)
			                       : own_take(p, i - p->n_rows, optarg);
	}
	*first = optind;
	return status;
}

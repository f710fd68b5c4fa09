/*
 * describe.c -- lists the kinds of words that completions offer, and chooses the form of a
 * description.
 */
#include "options/describe.h"

#include <string.h>

enum bsv_word bsv_word_of(const char *name)
{
	static const struct {
		const char *name;
		enum bsv_word is;
	} known[] = {
		{ "DB", BSV_FILE },         { "FILE", BSV_FILE },      { "INPUT", BSV_FILE },
		{ "A", BSV_FILE },          { "B", BSV_FILE },         { "DIR", BSV_DIRECTORY },
		{ "TRACE", BSV_DIRECTORY }, { "EXEC", BSV_EXECUTION }, { "WHAT", BSV_EXECUTION },
		{ "TABLE", BSV_RELATION },  { "QUERY", BSV_QUERY },    { "CMD", BSV_PROGRAM },
	};
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == n && !strncmp(known[i].name, name, n))
			return known[i].is;
	return BSV_ANY;
}

bool bsv_command_takes(const struct bsv_command *command, enum bsv_word word)
{
	for (const char *at = command->operands; *at;) {
		at += strcspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (*at && bsv_word_of(at) == word)
			return true;
		at += strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	}
	return false;
}

const struct bsv_command *bsv_command_named(const char *name, size_t n)
{
	for (const struct bsv_command *const *c = bsv_commands; *c; c++)
		if (strlen((*c)->name) == n && !strncmp((*c)->name, name, n))
			return *c;
	return NULL;
}

int bsv_describe(int argc, char **argv)
{
	const char *as = argc ? argv[0] : "";

	if (!strcmp(as, "bash") && argc == 1)
		bsv_describe_bash(stdout);
	else if (!strcmp(as, "zsh") && argc == 1)
		bsv_describe_zsh(stdout);
	else if (!strcmp(as, "man") && argc == 2)
		return bsv_describe_man(stdout, argv[1]);
	else {
		fputs("burstscope: help: --as bash, --as zsh or --as man FILE\n", stderr);
		return BSV_USAGE;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fputs("burstscope: help: the standard output cannot be written\n", stderr);
		return BSV_ENVIRONMENT;
	}
	return BSV_DONE;
}

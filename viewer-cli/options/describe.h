/*
 * describe.h -- what the tables of commands and options say, in the words of others: of manual pages, and of shells. For the build.
 */
#ifndef BSV_DESCRIBE_H
#define BSV_DESCRIBE_H

#include <stdio.h>

#include "command.h"

/*
 * What comes after `burstscope help --as`: "bash" or "zsh", a completion; or "man FILE", FILE with its marks filled in. Each is a line of its
 * own:
 *
 *   @head COMMAND@       title, NAME and SYNOPSIS
 *   @options COMMAND@    OPTIONS
 *   @examples COMMAND@   EXAMPLES
 *   @status COMMAND@     EXIT STATUS
 *   @commands@           a list of all commands, with their pages
 *
 * Returns an exit status.
 */
int bsv_describe(int argc, char **argv);

/* Each of them. The pages' one says on standard error what is wrong with @path, and returns an exit status. */
int bsv_describe_man(FILE *to, const char *path);
void bsv_describe_bash(FILE *to);
void bsv_describe_zsh(FILE *to);

/* The command whose name is @n letters at @name; NULL: none. */
const struct bsv_command *bsv_command_named(const char *name, size_t n);

/* What a word of a command line is, by the name that it has in usage. */
enum bsv_word { BSV_ANY, BSV_FILE, BSV_DIRECTORY, BSV_EXECUTION, BSV_RELATION, BSV_QUERY, BSV_PROGRAM };

/* @name need not end where the word does: "INPUT]". */
enum bsv_word bsv_word_of(const char *name);

/* Any of the operands of @command is such a word. */
bool bsv_takes(const struct bsv_command *command, enum bsv_word word);

#endif

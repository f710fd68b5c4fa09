/*
 * describe.h -- the tables of commands and options as manual pages and as shell completions. The build calls this.
 */
#ifndef BSV_DESCRIBE_H
#define BSV_DESCRIBE_H

#include <stdio.h>

#include "base/command.h"

/*
 * The arguments after `burstscope help --as`: "bash" or "zsh" prints a completion; "man FILE"
 * prints FILE with its marks replaced. A mark is a line of its own:
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

/* The three descriptions. bsv_describe_man prints errors about @path to standard error, and returns an exit status. */
int bsv_describe_man(FILE *to, const char *path);
void bsv_describe_bash(FILE *to);
void bsv_describe_zsh(FILE *to);

/* The command whose name is the @n letters at @name; NULL: no such command. */
const struct bsv_command *bsv_command_named(const char *name, size_t n);

/* Kinds of words on a command line, known by their name in the usage. */
enum bsv_word { BSV_ANY, BSV_FILE, BSV_DIRECTORY, BSV_EXECUTION, BSV_RELATION, BSV_QUERY, BSV_PROGRAM };

/* @name may continue after the word: "INPUT]". */
enum bsv_word bsv_word_of(const char *name);

/* Is any operand of @command such a word? */
bool bsv_command_takes(const struct bsv_command *command, enum bsv_word word);

#endif

/*
 * options.h -- the command line of a program as one table: it is read, printed as help, and made into completions for
 * shells.
 */
#ifndef NNB_OPTIONS_H
#define NNB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { OPTIONS_READ = -1, OPTIONS_DONE = 0, OPTIONS_WRONG = 2, OPTIONS_ENVIRONMENT = 5 };

enum option_kind {
	OPTION_SWITCH, /* bool, becomes true */
	OPTION_TEXT,   /* const char *, never empty */
	OPTION_CHOICE, /* unsigned: the index of the word in @choices */
	OPTION_PARSED  /* @parse stores the value */
};

struct option_row {
	const char *name;
	enum option_kind kind;
	/*
	 * How the help names the value; NULL for a choice, whose words it lists. Words in lower case, separated by |,
	 * can be given as they are: completions offer them, files for FILE and PATH, and directories for DIR.
	 */
	const char *argument;
	const char *text;           /* a line of the help */
	size_t offset;              /* in the options of the program */
	const char *const *choices; /* the words, then NULL */
	bool bare;                  /* the value may be left out: the text is then NULL */
	size_t given;               /* for a bare option: the offset of the bool that notes that the option was given */
	bool repeats; /* each one counts, so completions go on to offer it; of others the last one counts */
	bool (*parse)(const char *text, void *at); /* false: @text is not valid */
	const char *such_as;                       /* valid values, for the error */
	const char *offers;                        /* words that completions offer instead of those of @argument */
};

/* Name, manual page and texts of a program. A text that a program does not have is NULL. */
struct program {
	const char *name, *manual, *version;
	const char *usage;    /* one line for each form, without the name */
	const char *about;    /* a description of the program, without line breaks */
	const char *statuses; /* exit statuses, without line breaks */
	const struct option_row *rows;
	size_t n_rows;
	const char *operand_words; /* completions offer these as operands, */
	const char *operand_list;  /* an option: the operands are the first words of the lines that it prints */
	const char *operand_files; /* endings of files that can be operands, too, separated by | */
};

/*
 * Read the options into @own, and put the operands at the end of @argv, from *first on. Returns OPTIONS_READ, or the
 * exit status with which the program has to end: OPTIONS_DONE after --help, --version or --completion,
 * OPTIONS_ENVIRONMENT if that could not be written, OPTIONS_WRONG after one line on standard error.
 */
int options_read(const struct program *p, void *own, int argc, char **argv, int *first);

/* Flush the standard output. Returns OPTIONS_DONE, or OPTIONS_ENVIRONMENT after one line on standard error. */
int options_written(const struct program *p);

/* Print "NAME: SENTENCE; see NAME --help" to standard error. Returns OPTIONS_WRONG. */
__attribute__((format(printf, 2, 3))) int options_wrong(const struct program *p, const char *format, ...);

/* ---- for this folder ---- */

enum { OPTIONS_OWN = 3 };

/* The options that each program has: --help, --version, --completion. */
extern const struct option_row options_own[OPTIONS_OWN];

/* The name of an option's value in the help: its argument, or its choices separated by |. Returns @ret. */
enum { OPTIONS_VALUE_ROOM = 64 };
const char *options_value(const struct option_row *row, char ret[OPTIONS_VALUE_ROOM]);

/* The row @i of the program's table and, behind it, of options_own. NULL: past the end. */
const struct option_row *options_row(const struct program *p, size_t i);

void options_help(const struct program *p);
void options_bash(const struct program *p);
void options_zsh(const struct program *p);

#endif

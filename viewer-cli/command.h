/*
 * command.h -- what a command of burstscope is: a row of this kind, in a file of its own below commands/.
 *
 * A command returns an exit status, or one of bsa_code and a sentence: only main prints that. Data goes to the standard
 * output, and everything else to standard error.
 */
#ifndef BSV_COMMAND_H
#define BSV_COMMAND_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Of all our programs. */
enum bsv_status {
	BSV_DONE,   /* or passed */
	BSV_FAILED, /* a check or verdict that was asked for */
	BSV_USAGE,
	BSV_UNSURE,      /* losses, or too few samples */
	BSV_INPUT,       /* unreadable, or wrong */
	BSV_ENVIRONMENT, /* no LTTng, no permission, no space */
};

enum bsv_kind { BSV_SWITCH, BSV_TEXT, BSV_NUMBER, BSV_CHOICE };

/* A row with a NULL name ends a table. */
struct bsv_option {
	const char *name;
	char letter; /* 0: none */
	enum bsv_kind kind;
	const char *argument; /* what it is called in usage; a choice's are its choices, with | between them */
	const char *says;
	size_t offset; /* in the command's options, of a bool, const char *, unsigned, or int (which choice) */
	const char *const *choices; /* ended by NULL */
	unsigned most;              /* of a number */
};

/* What every command has. */
struct bsv_common {
	bool help, quiet, verbose;
};

struct bsv_call {
	struct bsv_common common;
	const void *options;         /* the command's own struct, all 0 where nothing was said */
	const char *const *operands; /* n_operands of them, then NULL */
	size_t n_operands;
};

struct bsv_command {
	const char *name, *operands, *says, *examples, *more;
	const struct bsv_option *options;
	size_t options_size, min, max; /* min and max: operands */
	int (*run)(const struct bsv_call *call, struct bsa_err *err);
};

enum { BSV_OPTIONS_MAX = 256 }; /* bytes of a command's options */

extern const struct bsv_command bsv_import, bsv_schema, bsv_sql;

#endif

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
#include <stdint.h>
#include <stdio.h>

/* Of all our programs. */
enum bsv_status {
	BSV_DONE,   /* or passed */
	BSV_FAILED, /* a check or verdict that was asked for */
	BSV_USAGE,
	BSV_UNSURE,      /* losses, or too few samples */
	BSV_INPUT,       /* unreadable, or wrong */
	BSV_ENVIRONMENT, /* no LTTng, no permission, no space */
};

enum bsv_kind { BSV_SWITCH, BSV_TEXT, BSV_TEXTS, BSV_NUMBER, BSV_CHOICE, BSV_DURATION, BSV_SIZE };

enum { BSV_TEXTS_MOST = 8 };

/* Of an option that may be given more than once: in the order in which they were. */
struct bsv_texts {
	const char *of[BSV_TEXTS_MOST];
	size_t n;
};

/* A length of time that may be given, as in 5ms; or a size in bytes, as in 4M. */
struct bsv_quantity {
	bool given;
	int64_t value; /* ns, or bytes; never below 0 */
};

/* A row with a NULL name ends a table. */
struct bsv_option {
	const char *name;
	char letter; /* 0: none */
	enum bsv_kind kind;
	const char *argument; /* what it is called in usage; a choice's are its choices, with | between them */
	const char *says;
	size_t offset; /* in the command's options, of a bool, const char *, struct bsv_texts, unsigned, int (which choice) or struct bsv_quantity */
	const char *const *choices; /* ended by NULL */
	unsigned least, most;       /* of a number */
};

/* What every command has. */
struct bsv_common {
	bool help, quiet, verbose;
};

/* What commands that answer share: a command has those options whose bits are in its asks. */
enum bsv_asks {
	BSV_ASK_FORMAT = 1,   /* --format, --csv-safe, --part, --show-sql, --no-pager, --color */
	BSV_ASK_WHERE = 2,    /* --where */
	BSV_ASK_WHEN = 4,     /* --from, --to */
	BSV_ASK_LIMIT = 8,    /* --limit */
	BSV_ASK_VERDICT = 16, /* --verdict */
	BSV_ASK_ANY = 32      /* no option: it has an answer though there are no executions, or does not ask for any */
};

enum bsv_color { BSV_COLOR_AUTO, BSV_COLOR_ALWAYS, BSV_COLOR_NEVER };

struct bsv_asked {
	int format, color; /* enum bsv_format, enum bsv_color */
	bool show_sql, no_pager, verdict, csv_safe;
	const char *part, *where;     /* NULL: not given */
	struct bsv_quantity from, to; /* since the first event of the recording */
	unsigned limit;               /* rows of the first part; 0: not given */
};

struct bsv_call {
	const struct bsv_command *command;
	struct bsv_common common;
	struct bsv_asked asked;
	const void *options;         /* the command's own struct, all 0 where nothing was said */
	const char *const *operands; /* n_operands of them, then NULL */
	size_t n_operands;
	size_t n_before; /* operands before a `--`; n_operands, if there is none */
	FILE *to;        /* where its answer is printed; NULL: the standard output. Borrowed */
	unsigned most;   /* rows of each part of its answer; 0: any number */
};

struct bsv_command {
	const char *name, *operands, *says, *examples, *more;
	const struct bsv_option *options;
	size_t options_size, min, max; /* min and max: operands */
	unsigned asks;                 /* enum bsv_asks */
	int (*run)(const struct bsv_call *call, struct bsa_err *err);
};

enum { BSV_OPTIONS_MAX = 256 }; /* bytes of a command's options */

/* All of them, in the order in which they are shown, then NULL. */
extern const struct bsv_command *const bsv_commands[];

extern const struct bsv_command bsv_cases, bsv_check, bsv_demo, bsv_diff, bsv_doctor, bsv_explain, bsv_export,
	bsv_exporter, bsv_fairness, bsv_import, bsv_latency, bsv_memory, bsv_misses, bsv_overhead, bsv_preemptions,
	bsv_priority, bsv_record, bsv_schema, bsv_slots, bsv_sql, bsv_starvation, bsv_summary, bsv_report_command,
	bsv_timeline, bsv_top, bsv_watch, bsv_whatif;

#endif

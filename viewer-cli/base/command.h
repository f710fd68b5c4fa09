/*
 * base/command.h -- the row that describes a command of burstscope; each command is a file below commands/.
 *
 * A command returns an exit status, or a bsa_code and a sentence, which only main prints. Data goes
 * to the standard output, and everything else to standard error.
 */
#ifndef BSV_BASE_COMMAND_H
#define BSV_BASE_COMMAND_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit status of all our programs. */
enum bsv_status {
	BSV_DONE,   /* done, or passed */
	BSV_FAILED, /* a check or verdict that the user asked for failed */
	BSV_USAGE,
	BSV_UNSURE,      /* losses, or too few samples, to decide */
	BSV_INPUT,       /* the input cannot be read, whatever the reason, or is invalid */
	BSV_ENVIRONMENT, /* no LTTng, no space, no memory, or no permission to write, record or listen */
};

enum bsv_kind { BSV_SWITCH, BSV_TEXT, BSV_TEXTS, BSV_NUMBER, BSV_CHOICE, BSV_DURATION, BSV_SIZE };

enum { BSV_TEXTS_MOST = 8 };

/* Values of an option that may be given more than once, in the order given. */
struct bsv_texts {
	const char *of[BSV_TEXTS_MOST];
	size_t n;
};

/* A duration, as 5ms, or a size in bytes, as 4M. */
struct bsv_quantity {
	bool given;
	int64_t value; /* value in ns or bytes; never negative */
};

/* A row with a NULL name ends a table. */
struct bsv_option {
	const char *name;
	char letter; /* short name; 0: no short name */
	enum bsv_kind kind;
	const char *argument; /* name of the argument in usage; for a choice its words, separated by | */
	const char *says;
	/*
	 * offset in the command's options of a bool, const char *, struct bsv_texts, unsigned, int
	 * (index of the choice) or struct bsv_quantity
	 */
	size_t offset;
	const char *const *choices; /* words of a choice, then NULL */
	unsigned least, most;       /* range of a number */
	const char *meant_by;       /* another name, under which users look for it; NULL: none. It is refused */
};

/* Options of every command. */
struct bsv_common {
	bool help, quiet, verbose;
};

/* Options that many commands share: a command has the options whose bits are set in its asks. */
enum bsv_asks {
	BSV_ASK_FORMAT = 1,   /* --format, --csv-safe, --part, --show-sql, --no-pager, --color */
	BSV_ASK_WHERE = 2,    /* --where */
	BSV_ASK_WHEN = 4,     /* --from, --to */
	BSV_ASK_LIMIT = 8,    /* --limit */
	BSV_ASK_VERDICT = 16, /* --verdict */
	BSV_ASK_ANY = 32      /* not an option: the command works without executions */
};

enum bsv_color { BSV_COLOR_AUTO, BSV_COLOR_ALWAYS, BSV_COLOR_NEVER };

struct bsv_asked {
	int format, color; /* enum bsv_format, enum bsv_color */
	bool show_sql, no_pager, verdict, csv_safe;
	const char *part, *where;     /* NULL: not given */
	struct bsv_quantity from, to; /* times since the first event of the recording */
	unsigned limit;               /* number of rows of each part; 0: not given */
};

struct bsv_call {
	const struct bsv_command *command;
	struct bsv_common common;
	struct bsv_asked asked;
	const void *options;         /* the command's own struct, all 0 where an option was not given */
	const char *const *operands; /* n_operands words, then NULL */
	size_t n_operands;
	size_t n_before; /* operands before a `--`; n_operands, if there is none */
	FILE *to;        /* stream that the answer is printed to; NULL: the standard output. Borrowed */
	unsigned most;   /* number of rows of each part of the answer; 0: no limit */
	/*
	 * path by which the answer names the input, which will be renamed to it; NULL: the path of
	 * the input. Borrowed
	 */
	const char *known_as;
	/*
	 * an input that is open, and stays open while the command runs: what was read of its database
	 * need not be read again; NULL: none. Borrowed
	 */
	const struct bsv_input *open;
	bool many; /* several answers about the input follow: what each of them counts is counted once */
};

enum { BSV_LONG_PART_ROWS = 10 /* of bsv_command.long_part */ };

struct bsv_command {
	const char *name, *operands, *says, *examples, *more;
	const struct bsv_option *options;
	size_t options_size, min, max; /* min, max: number of operands */
	unsigned asks;                 /* enum bsv_asks */
	const char *const *parts;      /* with BSV_ASK_FORMAT: names of all parts that an answer may have, then NULL */
	/* a table of all parts has only the first BSV_LONG_PART_ROWS rows of this part; --limit decides otherwise */
	const char *long_part;
	/* the command answers for the whole recording, also where only a part was asked for (record/scope.h) */
	bool whole;
	/* the exit status is 3, without --verdict too, where the recording does not say enough for an answer */
	bool refuses;
	bool lasts; /* SIGINT, SIGTERM and SIGHUP end the command normally, with status 0 */
	int (*run)(const struct bsv_call *call, struct bsa_err *err);
};

enum { BSV_OPTIONS_MAX = 1024 }; /* size limit of a command's options, bytes */

/* All commands in the order of the usage, then NULL. */
extern const struct bsv_command *const bsv_commands[];

extern const struct bsv_command bsv_cases, bsv_check, bsv_demo, bsv_diff, bsv_doctor, bsv_explain, bsv_export,
	bsv_exporter, bsv_fairness, bsv_import, bsv_latency, bsv_memory, bsv_misses, bsv_overhead, bsv_preemptions,
	bsv_priority, bsv_record, bsv_schema, bsv_slots, bsv_sql, bsv_starvation, bsv_summary, bsv_report_command,
	bsv_timeline, bsv_top, bsv_watch, bsv_whatif;

#endif

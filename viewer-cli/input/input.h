/*
 * input.h -- the input of a command: a database, or a trace, which is first imported into a database beside it.
 */
#ifndef BSV_INPUT_H
#define BSV_INPUT_H

#include "base/command.h"
#include "base/coverage.h"
#include "bsa/db.h"
#include "bsa/executions.h"

struct bsv_kept;

struct bsv_input {
	struct bsa_db *db;
	bool db_is_borrowed;    /* of bsv_call.open, which picks the same, until this input is closed */
	struct bsv_asked asked; /* of the call; its texts are borrowed */
	char *path;             /* path of the database */
	char *known_as;         /* path by which an answer names the database, see struct bsv_call */
	struct bsv_coverage coverage;
	int64_t began, ended; /* start and end of the recording: the first event of any trace, and the last, or later */
	int64_t over_by;      /* the recording was over by then; ended, or later where its end is not known */
	int64_t executions;   /* number of executions in the recording */
	int64_t from, to;     /* asked time, on the clock of the database; INT64_MIN, INT64_MAX: no limit */
	/*
	 * whether --where, --from, --to or the recording's scope leave executions out: then figures
	 * stored for all executions do not hold
	 */
	bool picks;
	char *scope;       /* SQL: ids of the streams that alone were asked for when it was recorded; NULL: all */
	char *with;        /* SQL, see below */
	char *with_groups; /* SQL, see below; NULL: --where depends on single executions, or leaves none out */
	/*
	 * what the audits found out (audit/kept.h), while several commands answer about this input: those that
	 * borrow its connection use it, too; NULL: nothing is kept. Borrowed
	 */
	struct bsv_kept *kept;
};

/*
 * Open @name. NULL: the newest recording or database in the working directory, whose name is then
 * printed to standard error. A trace directory is imported, with a notice and progress, unless a
 * database of it exists that is not older. Reads --where, --from and --to; BSA_E_USAGE: one of them
 * is invalid. *ret is owned by the caller, for bsv_input_close.
 */
int bsv_input_open(struct bsv_input *ret, const char *name, const struct bsv_call *call, struct bsa_err *err);

/*
 * BSA_E_INPUT: there are no executions. bsv_input_open checks this for commands with BSV_ASK_WHERE
 * and without BSV_ASK_ANY.
 */
int bsv_input_needs_executions(const struct bsv_input *input, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_input_close(struct bsv_input *input);

/*
 * Write down which executions are picked, in temporary tables of the connection, for the queries of this input and of
 * those that borrow its connection. After an error, queries look for them as before.
 */
int bsv_input_keep_picked(struct bsv_input *input, struct bsa_err *err);

/* Do --from or --to limit the asked time? */
bool bsv_input_is_timed(const struct bsv_input *input);

/* The length of the recording in ns; INT64_MAX where a database claims more. */
int64_t bsv_input_length(const struct bsv_input *input);

/*
 * Read the picked executions, for an answer that needs no more of them than bsa_executions_step gives. @more: as
 * bsa_executions_new. *ret is owned by the caller.
 */
int bsv_input_executions(struct bsa_executions **ret, const struct bsv_input *input, bool more, struct bsa_err *err);

/* An input that is closed at the end of its scope. */
#define bsv_scoped_input __attribute__((cleanup(bsv_input_close))) struct bsv_input

/*
 * @with begins every query: "WITH ... ", with three relations, which cost nothing unless they are
 * used. More relations may follow after a comma.
 *
 *   apps(id, name)     the name of an app for people; its key is added where it has no name, or
 *                      where others have the same name
 *   models(id, name)   the name of a model, which others may have, too; a number where it has no name
 *   picked             the picked executions: all columns of execution, and app and model, their names
 *
 * @with_groups begins a query about stored groups of executions, where --where depends on nothing
 * but app, model, priority and path, and so picks whole groups. In such a query phase_stat,
 * overhead_cause and execution_count contain the picked groups only.
 */

/* The beginning of a query about stored groups, if these answer for the picked executions; otherwise NULL. */
const char *bsv_input_with_groups(const struct bsv_input *input);

#endif

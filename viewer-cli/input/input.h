/*
 * input.h -- what a question is put to: a database, or a trace that is imported first, into a database beside it.
 */
#ifndef BSV_INPUT_H
#define BSV_INPUT_H

#include "answer/coverage.h"
#include "bsa/db.h"
#include "command.h"

struct bsv_input {
	struct bsa_db *db;
	char *path; /* of the database */
	struct bsv_coverage coverage;
	int64_t began, ended;  /* of the recording: from the first event of a trace to the last one */
	int64_t executions;    /* in all of it */
	bool unsure_deadlines; /* of some executions it may not be known whether they had a deadline */
	bool unsure_outcomes;  /* of some deadlines it may not be known whether they were met */
	int64_t from, to;      /* what was asked for, on the clock of the database; INT64_MIN, INT64_MAX: any */
	bool picks; /* --where, --from or --to leave something out: what is stored of all executions does not hold */
	char *with; /* SQL, see below */
	char *with_groups; /* SQL, see below; NULL: --where is about single executions, or nothing is left out */
};

/*
 * Open @name; NULL: the newest recording, or database of one, in the working directory, and say on standard error which one that
 * is. A directory is imported, with a notice and progress, unless its database is there and is not older. Looks at
 * --where, --from and --to: BSA_E_USAGE where they cannot be. *ret is owned by the caller, and to be given to
 * bsv_input_close.
 */
int bsv_input_open(struct bsv_input *ret, const char *name, const struct bsv_call *call, struct bsa_err *err);

/* BSA_E_INPUT: there are none. Who asks for executions (BSV_ASK_WHERE) has it asked when the input is opened, unless BSV_ASK_ANY. */
int bsv_input_needs_executions(const struct bsv_input *input, struct bsa_err *err);

/* All 0 is fine. */
void bsv_input_close(struct bsv_input *input);

/* How long the recording is, ns; the most there can be, where a database says more. */
int64_t bsv_input_length(const struct bsv_input *input);

/* One that goes away at the end of its scope. */
#define bsv_scoped_input __attribute__((cleanup(bsv_input_close))) struct bsv_input

/*
 * @with is what each query begins with, "WITH ... ", with three relations (which cost nothing unless they are used):
 *
 *   apps(id, name)     what an app is called for people: its name; with its key where others have the same, or it has none
 *   models(id, name)   its name, which others may have, too; a number where it has none
 *   picked             the executions that were asked for: all columns of execution, and app and model, their names
 *
 * More may follow after a comma.
 *
 * @with_groups begins a query of what is stored of groups of executions, where --where depends on nothing but app, model, priority and
 * path, and so picks whole groups: phase_stat, overhead_cause and execution_count have the rows of those only.
 */

/* Does what is stored of groups hold for the executions that were picked? Then a query of it begins with the one that is returned; NULL: no. */
const char *bsv_input_with_groups(const struct bsv_input *input);

#endif

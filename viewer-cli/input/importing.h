/*
 * importing.h -- an import with output for people: a progress line, the result, and the place for the database.
 */
#ifndef BSV_IMPORTING_H
#define BSV_IMPORTING_H

#include "base/command.h"
#include "bsa/import.h"

#include <limits.h>

/*
 * Import @options in a process of its own. Progress and result are printed to standard error,
 * unless @call is quiet; the progress callback of @options is not used.
 */
int bsv_importing(const struct bsa_import_options *options, const struct bsv_call *call, struct bsa_err *err);

/* Writes the path of the database beside the trace NAME, NAME.db, into @ret. */
int bsv_importing_beside(const char *trace, char ret[PATH_MAX], struct bsa_err *err);

#endif

/*
 * importing.h -- an import as people see it: a line that tells how far it is, what came of it, and a place for the database.
 */
#ifndef BSV_IMPORTING_H
#define BSV_IMPORTING_H

#include "bsa/import.h"
#include "command.h"

#include <limits.h>

/* Run @options, without their progress, in a process apart, and say how it went on standard error, unless @call is to be quiet. */
int bsv_importing(const struct bsa_import_options *options, const struct bsv_call *call, struct bsa_err *err);

/* NAME.db beside the trace NAME. */
int bsv_importing_beside(const char *trace, char ret[PATH_MAX], struct bsa_err *err);

#endif

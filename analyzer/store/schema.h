/* schema.h -- checks that a database has the tables and views of this build, before any of them is read. */
#ifndef BSA_STORE_SCHEMA_H
#define BSA_STORE_SCHEMA_H

#include "bsa/err.h"

#include <sqlite3.h>

/*
 * A file may be a stranger's, whose view of a name that we ask can be anything: endless, or of a size that no
 * disk has. 0: every table and view is there as this build makes it; the file may have others. BSA_E_INPUT:
 * another build made it, or no import did. @path is for the sentence.
 */
int bsa_schema_check(sqlite3 *sql, const char *path, struct bsa_err *err);

#endif

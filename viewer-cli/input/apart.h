/*
 * apart.h -- an import in a process of its own: the library that reads traces aborts on some that are hostile, and on none of
 * them burstscope may end without a word, or leave half a file.
 */
#ifndef BSV_APART_H
#define BSV_APART_H

#include "bsa/import.h"

#include <limits.h>

/*
 * As bsa_import, with progress told here; SIGINT, SIGTERM and SIGHUP stop it, the second one at once; afterwards
 * they are as they were.
 * BSA_E_INPUT, too: the process has crashed.
 */
int bsv_import_apart(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err);

/* The importer: beside this program, where it was built, or where it was installed. BSA_E_ENV: there is none. */
int bsv_importer_find(char ret[PATH_MAX], struct bsa_err *err);

#endif

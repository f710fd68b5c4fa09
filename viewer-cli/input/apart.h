/*
 * apart.h -- an import in a process of its own: the library that reads traces aborts on some
 * hostile traces, and burstscope must then still print an error, and must not leave half a file.
 */
#ifndef BSV_APART_H
#define BSV_APART_H

#include "bsa/import.h"

#include <limits.h>

/*
 * As bsa_import, and reports progress. SIGINT, SIGTERM and SIGHUP stop the import, a second one at
 * once; their handlers are restored afterwards. BSA_E_INPUT also means that the process crashed.
 */
int bsv_import_apart(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err);

/* Find the importer: beside this program in the build tree, or where it was installed. BSA_E_ENV: not found. */
int bsv_importer_find(char ret[PATH_MAX], struct bsa_err *err);

#endif

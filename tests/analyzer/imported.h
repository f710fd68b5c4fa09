/*
 * imported.h -- a database of records that are written as text (script.h), as an import of one trace makes it.
 */
#ifndef ANALYZER_IMPORTED_H
#define ANALYZER_IMPORTED_H

#include "decode/decode.h"
#include "importer.h"

/*
 * Import the records of @text as those of @trace; NULL: of a trace without properties. The test fails if that does
 * not succeed.
 */
void import_script(const char *text, const struct bsa_importer_options *options, const struct bsa_trace *trace);

#endif

/*
 * save.h -- copies the contents of a session's tracefiles into a recording of its own, while the session goes on.
 */
#ifndef BSV_LIVE_SAVE_H
#define BSV_LIVE_SAVE_H

#include "bsa/err.h"

#include <stddef.h>

/*
 * Copy the trace below @from to @to, which is made: of each buffer the tracefiles that were written
 * to in the last @seconds. One that is written anew meanwhile is left out, and an import reports
 * what is missing. Where there is nothing to be copied, there is no @to. 0, and *ret_bytes are in
 * files; BSA_E_ENV.
 */
int bsv_live_save(const char *from, const char *to, unsigned seconds, size_t *ret_bytes, struct bsa_err *err);

#endif

/*
 * recording.h -- where recordings are: trace directories, and databases of them.
 */
#ifndef BSV_RECORDING_H
#define BSV_RECORDING_H

#include "bsa/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* When anything in the trace directory @path was changed, in ns; 0: there is no trace in it, or errno is EACCES. */
int64_t bsv_recording_changed(const char *path);

/* When the file @path was; 0: there is none. */
int64_t bsv_file_changed(const char *path);

/* The newest trace directory, or database of ours, in the working directory. BSA_E_INPUT: there is none. */
int bsv_recording_newest(char ret[PATH_MAX], struct bsa_err *err);

/* A place for a database of @trace, where beside it is none: below $XDG_CACHE_HOME, which is made. */
int bsv_recording_cache(const char *trace, char ret[PATH_MAX], struct bsa_err *err);

#endif

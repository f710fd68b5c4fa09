/*
 * recording.h -- find recordings: trace directories, and databases of them.
 */
#ifndef BSV_RECORDING_H
#define BSV_RECORDING_H

#include "bsa/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The time of the latest change in the trace directory @path, in ns; 0: there is no trace in it
 * (ENOENT), it has streams and no metadata (ENODATA), or there is no permission (EACCES).
 */
int64_t bsv_recording_changed(const char *path);

enum bsv_case_place {
	BSV_NO_CASE,
	BSV_A_CASE,   /* a case of burstscope watch: the events around one moment */
	BSV_THE_CASES /* the directory with all of them */
};

/* Is the directory @path one of burstscope watch? @ret: the database of a case, or the name of one of the cases. */
enum bsv_case_place bsv_recording_case(const char *path, char ret[PATH_MAX]);

/* The time of the latest change of the file @path; 0: no such file. */
int64_t bsv_file_changed(const char *path);

/*
 * Find the newest trace directory, or database of burstscope, in the working directory.
 * BSA_E_INPUT: the directory has neither.
 */
int bsv_recording_newest(char ret[PATH_MAX], struct bsa_err *err);

/*
 * The path of a database of @trace below $XDG_CACHE_HOME, for a trace without a place beside it.
 * Makes the directories.
 */
int bsv_recording_cache(const char *trace, char ret[PATH_MAX], struct bsa_err *err);

#endif

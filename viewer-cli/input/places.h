/*
 * places.h -- find the programs and files that belong to burstscope: installed beside it, or in the build tree.
 */
#ifndef BSV_PLACES_H
#define BSV_PLACES_H

#include <limits.h>
#include <stdbool.h>

/* The path of this program. False: see errno. */
bool bsv_place_self(char ret[PATH_MAX]);

/* Find the program @name near burstscope, or in $PATH. False: not found. */
bool bsv_place_program(const char *name, char ret[PATH_MAX]);

/* Find the program @name as execvp would. False: not found. */
bool bsv_place_in_path(const char *name, char ret[PATH_MAX]);

/* Find the tracepoint provider. */
bool bsv_place_provider(char ret[PATH_MAX]);

#endif

/*
 * places.h -- the programs and files that belong to burstscope: installed beside it, or in the tree it was built in.
 */
#ifndef BSV_PLACES_H
#define BSV_PLACES_H

#include <limits.h>
#include <stdbool.h>

/* This program itself. errno says why not. */
bool bsv_place_self(char ret[PATH_MAX]);

/* The program @name: near burstscope, or in $PATH. false: there is none. */
bool bsv_place_program(const char *name, char ret[PATH_MAX]);

/* The program @name, as execvp finds it. false: there is none. */
bool bsv_place_in_path(const char *name, char ret[PATH_MAX]);

/* The provider of events. */
bool bsv_place_provider(char ret[PATH_MAX]);

#endif

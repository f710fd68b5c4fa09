/* discover.h -- finds the traces below some paths: the directories with a file named metadata. */
#ifndef BSA_DECODE_DISCOVER_H
#define BSA_DECODE_DISCOVER_H

#include "bsa/err.h"

#include <stddef.h>

/* Owned by the caller, ended by bsa_places_fini. */
struct bsa_places {
	char **paths; /* as they were given, and what is below them: in the order given, then by name */
	size_t n, room;
};

/*
 * 0; BSA_E_INPUT: a path is not there, cannot be read, has no trace below it, or leads to what another one led to;
 * BSA_E_ENV: there is no memory. Links are followed. What is below a trace is the trace's.
 */
int bsa_discover(struct bsa_places *ret, const char *const *paths, size_t n_paths, struct bsa_err *err);

void bsa_places_fini(struct bsa_places *places);

#endif

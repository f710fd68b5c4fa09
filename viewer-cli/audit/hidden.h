/* hidden.h -- waits that a recording may hide, in SQL that the rules share. */
#ifndef BSV_HIDDEN_H
#define BSV_HIDDEN_H

#include "input/input.h"

/*
 * SQL, for a WITH: the waits that may be hidden from @input, as reports/hidden.sql defines them.
 * Owned by the caller; NULL: no memory.
 */
char *bsv_hidden_waits(const struct bsv_input *input);

#endif

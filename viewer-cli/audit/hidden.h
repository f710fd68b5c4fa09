/* hidden.h -- waits that a recording may hide, in tables that the rules share. */
#ifndef BSV_HIDDEN_H
#define BSV_HIDDEN_H

#include "input/input.h"

/*
 * Make the temporary tables of reports/hidden.sql, about the waits that may be hidden from @input;
 * nothing if they exist.
 */
int bsv_hidden_make(const struct bsv_input *input, struct bsa_err *err);

#endif

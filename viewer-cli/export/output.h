/*
 * output.h -- a file that is written whole or not at all: under another name, until all of it is
 * there. A device or a pipe is written as it is, unless another user put it there.
 */
#ifndef BSV_OUTPUT_H
#define BSV_OUTPUT_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes to @to, which is borrowed. Negative: why not. */
typedef int bsv_writes(void *ctx, FILE *to, struct bsa_err *err);

/*
 * Return what @writes returned; BSA_E_ENV: @name cannot be written. If a signal ends the process,
 * the unfinished file is removed.
 */
int bsv_output_write(const char *name, bsv_writes *writes, void *ctx, struct bsa_err *err);

/* Are both the same file? */
bool bsv_output_is(const char *a, const char *b);

#endif

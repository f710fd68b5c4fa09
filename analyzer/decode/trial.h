/*
 * trial.h -- whether a trace can be read to its end, found out at no risk.
 *
 * A user writes the names of his events, and so what is in the metadata of his trace, and his packets: he can
 * have the library that reads them fail, or crash. A child reads the trace alone first.
 */
#ifndef BSA_DECODE_TRIAL_H
#define BSA_DECODE_TRIAL_H

#include "bsa/err.h"

#include <stdatomic.h>
#include <stddef.h>

/*
 * Read the trace that is in @directories. 0; BSA_E_INPUT: it cannot be read; BSA_E_ENV: the machine, or
 * another process, ended the trial; BSA_E_STOPPED: a signal came meanwhile, or its handler had set @stop
 * before. @stop may be NULL.
 */
int bsa_trial(char *const *directories, size_t n_directories, const atomic_bool *stop, struct bsa_err *err);

#endif

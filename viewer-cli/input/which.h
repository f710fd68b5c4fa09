/*
 * which.h -- the names by which people refer to an execution.
 */
#ifndef BSV_WHICH_H
#define BSV_WHICH_H

#include "input/input.h"

/*
 * "4711": execution.id; "0x80000001/17": number of a stream, and place in it; "worst": the most
 * late miss; "slowest": the longest from end to end, among the picked executions. BSA_E_USAGE: not
 * such a name, or no such execution.
 */
int bsv_which(int64_t *ret_id, struct bsv_input *input, const char *name, struct bsa_err *err);

/* Has @name the form of such a name? */
bool bsv_is_which(const char *name);

/*
 * @template, a query about the execution @id, filled: @id@, @estimate@ (which_estimate.sql), and what
 * bsv_input_fill fills. Owned by the caller; NULL: no memory.
 */
char *bsv_which_fill(const struct bsv_input *input, const char *template, int64_t id);

/* Fails because @name has no such form, with a suggestion where it is nearly one. Returns BSA_E_USAGE. */
int bsv_which_unknown(const char *name, struct bsa_err *err);

#endif

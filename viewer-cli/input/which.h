/*
 * which.h -- an execution, as people name it.
 */
#ifndef BSV_WHICH_H
#define BSV_WHICH_H

#include "input/input.h"

/*
 * "4711": execution.id; "0x80000001/17": the number of a stream, and the place in it; "worst": the miss that was latest; "slowest": the
 * longest from end to end (of what was picked). BSA_E_USAGE: that is none, or there is none.
 */
int bsv_which(int64_t *ret_id, struct bsv_input *input, const char *name, struct bsa_err *err);

/* Has @name the form of one? */
bool bsv_is_which(const char *name);

#endif

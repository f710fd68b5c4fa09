/* execution.h -- executions, for who does the same one again and again. */
#ifndef NNB_DRIVER_EXECUTION_H
#define NNB_DRIVER_EXECUTION_H

#include "nnb/device.h"

/*
 * Of an execution that was begun: would beginning it again with the same request, and the same mappings, come to the
 * same? Then nnb_execution_restart does that for less. It does not where an input's value decides a shape.
 */
bool nnb__execution_repeats(const struct nnb_execution *execution);

/* Can it start over and come to the same? Not if an output lies over an input or a pool of
 * the model's, whatever pools they were said to be in; nor if there are too many of them to say. */
bool nnb__execution_can_restart(const struct nnb_execution *execution);

/* nnb_request_validate, but for what depends on the pools. */
enum nnb_status nnb__prepared_check(const struct nnb_prepared *prepared, const struct nnb_request *request,
                                    struct nnb_reason *reason);

/* Have all its runs the same shapes, whatever the request? */
bool nnb__prepared_is_fixed(const struct nnb_prepared *prepared);

#endif

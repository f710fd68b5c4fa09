/* execution.h -- executions, for who does the same one again and again. */
#ifndef NNB_DRIVER_EXECUTION_H
#define NNB_DRIVER_EXECUTION_H

#include "nnb/device.h"

/*
 * Of an execution that was begun: would beginning it again with the same request, and the same mappings, come to the
 * same? Then nnb_execution_restart does that for less. It does not where an input's value decides a shape.
 */
bool nnb__execution_repeats(const struct nnb_execution *execution);

#endif

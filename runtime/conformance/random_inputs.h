/* random_inputs.h -- an example for a model whose file has none: random inputs of its types, and no outputs to compare with. */
#ifndef RANDOM_INPUTS_H
#define RANDOM_INPUTS_H

#include "nnb/model.h"

/* Takes @model, also on failure. 0 and *ret owned; -EINVAL, with a reason: an input's extent is not known; -ENOMEM. */
int random_inputs(struct nnb_model_file **ret, struct nnb_model *model, struct nnb_reason *reason);

#endif

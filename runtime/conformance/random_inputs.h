/*
 * random_inputs.h -- an example for a model whose file has no example: random inputs of its types, without expected
 * outputs.
 */
#ifndef RANDOM_INPUTS_H
#define RANDOM_INPUTS_H

#include "nnb/model.h"

/*
 * Takes ownership of @model, also on failure. 0 and *ret owned; -EINVAL and a reason: an input's extent is unknown;
 * -ENOMEM.
 */
int random_inputs(struct nnb_model_file **ret, struct nnb_model *model, struct nnb_reason *reason);

#endif

/*
 * model_mutations.h -- everything that VTS spoils of a valid model (section 7.3), each at every place there is.
 *
 * The mutations are those of HAL 1.0, by their names in VTS. Each leaves the rest of the model right, so that only
 * the one rule it breaks can be the reason to refuse it.
 */
#ifndef MODEL_MUTATIONS_H
#define MODEL_MUTATIONS_H

#include "nnb/model.h"

/* @mutated and @what ("mutateOperandRank: operand 3 gets rank 1") are only for the call. */
typedef void mutation_fn(const struct nnb_model *mutated, const char *what, void *arg);

size_t mutation_count(void);
const char *mutation_name(size_t kind); /* "mutateOperandRank"; static */
const char *mutation_rule(size_t kind); /* "O-14", which it breaks; static */

/* Call @each for every mutation of that kind that @model, a valid one, has a place for. How many there were. */
size_t mutate_model_as(size_t kind, const struct nnb_model *model, mutation_fn *each, void *arg);

/* All kinds, one after the other. */
size_t mutate_model(const struct nnb_model *model, mutation_fn *each, void *arg);

#endif

/*
 * model_mutations.h -- all mutations by which VTS makes a valid model invalid (section 7.3), each at every possible
 * place.
 *
 * The mutations are those of HAL 1.0, by their names in VTS. Each mutation breaks exactly one rule, so that only this
 * rule can be the reason for a refusal.
 */
#ifndef MODEL_MUTATIONS_H
#define MODEL_MUTATIONS_H

#include "nnb/model.h"

/* @mutated and @what ("mutateOperandRank: operand 3 gets rank 1") are valid only during the call. */
typedef void mutation_fn(const struct nnb_model *mutated, const char *what, void *arg);

size_t mutation_count(void);
const char *mutation_name(size_t kind); /* "mutateOperandRank"; static */
const char *mutation_rule(size_t kind); /* "O-14", the rule that it breaks; static */

/*
 * Call @each for every place of the valid @model at which this kind of mutation is possible. Returns the number of
 * calls.
 */
size_t mutate_model_as(size_t kind, const struct nnb_model *model, mutation_fn *each, void *arg);

/* The same for all kinds, one after the other. */
size_t mutate_model(const struct nnb_model *model, mutation_fn *each, void *arg);

#endif

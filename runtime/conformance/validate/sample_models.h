/*
 * sample_models.h -- valid models: each operation in each of its forms, and a few graphs.
 *
 * The suites change one of these to create an invalid model or request.
 */
#ifndef SAMPLE_MODELS_H
#define SAMPLE_MODELS_H

#include "nnb/model.h"

size_t sample_count(void);
const char *sample_name(size_t i);                /* a description; static */
struct nnb_model *sample_new(size_t i);           /* owned; aborts if out of memory */
struct nnb_model *sample_named(const char *name); /* the sample of this name; owned */

/* Add an operand. Returns its index; aborts if that fails. */
uint32_t sample_operand(struct nnb_model *m, const struct nnb_operand *o);

#endif

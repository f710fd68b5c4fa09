/*
 * sample_models.h -- valid models: each operation in each of its forms, and a few graphs.
 *
 * What is wrong with a model or a request is shown by spoiling one of these.
 */
#ifndef SAMPLE_MODELS_H
#define SAMPLE_MODELS_H

#include "nnb/model.h"

size_t sample_count(void);
const char *sample_name(size_t i);                /* a sentence; static */
struct nnb_model *sample_new(size_t i);           /* owned; aborts rather than return NULL */
struct nnb_model *sample_named(const char *name); /* the same by its name */

#endif

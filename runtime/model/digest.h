/* digest.h -- a number by which models differ. */
#ifndef NNB_MODEL_DIGEST_H
#define NNB_MODEL_DIGEST_H

#include "nnb/model.h"

/*
 * A digest of a valid model: of its operations, its operands with their dimensions and quantisation, the constants
 * that it holds itself, and its subgraphs. The model's name is not in it, nor are the bytes of constants in pools,
 * which the app can change. Never 0.
 *
 * The same model has the same digest in every process, so two recordings can be compared. The digest is no proof
 * against an app that wants two of its own models to look alike.
 */
uint32_t nnb__model_digest(const struct nnb_model *model);

#endif

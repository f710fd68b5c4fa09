/* hostile_models.h -- models that an attacker would prepare. */
#ifndef HOSTILE_MODELS_H
#define HOSTILE_MODELS_H

#include "nnb/model.h"

enum { UNKNOWN_SIDE = 64, UNKNOWN_CHANNELS = 4 };

/*
 * A model whose shapes and cost are known only when it runs. Inputs: a quant8 image of UNKNOWN_SIDE and
 * UNKNOWN_CHANNELS, and 4 INT32. Another operation doubles these multiples, a TILE repeats the image by them,
 * and a MAX_POOL_2D with windows of @filter pools the result.
 */
struct nnb_model *model_of_unknown_work(int32_t filter);

#endif

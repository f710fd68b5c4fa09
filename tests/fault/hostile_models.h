/* hostile_models.h -- models for tests that an attacker would prepare. */
#ifndef HOSTILE_MODELS_H
#define HOSTILE_MODELS_H

#include "nnb/model.h"

enum { UNKNOWN_SIDE = 64, UNKNOWN_CHANNELS = 4 };

/*
 * Of a quant8 image of UNKNOWN_SIDE and UNKNOWN_CHANNELS, and 4 INT32: a TILE of twice these multiples, which another operation computes,
 * and a MAX_POOL_2D of what that gives, with windows of @filter. So its shapes and its cost are found when it runs.
 */
struct nnb_model *model_of_unknown_work(int32_t filter);

#endif

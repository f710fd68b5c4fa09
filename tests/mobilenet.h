/* mobilenet.h -- MobileNets (224 x 224 x 3, 11 classes) with generated weights: v1 of width 0.25, v2, v3. */
#ifndef MOBILENET_H
#define MOBILENET_H

#include "nnb/model.h"

enum { MOBILENET_SIDE = 224, MOBILENET_CLASSES = 11, MOBILENET_OPERATIONS = 30 };
enum { MOBILENET_IN_BYTES = MOBILENET_SIDE * MOBILENET_SIDE * 3 * 4, MOBILENET_OUT_BYTES = MOBILENET_CLASSES * 4 };

/* The model, finished and valid; aborts without memory. Owned by the caller. */
struct nnb_model *mobilenet_new(void);

/* The same in another width, counted in quarters: 4 is plain MobileNet. */
struct nnb_model *mobilenet_new_wide(uint32_t quarters);

/*
 * The shapes of version 2 of width 1, and of version 3 small. The latter is of HAL 1.3: it has a MEAN and
 * HARD_SWISH.
 */
struct nnb_model *mobilenet_v2_new(void);
struct nnb_model *mobilenet_v3_new(void);

/* A model as the text of a model file (nnb_model(5)). The caller frees it. */
char *mobilenet_text(const struct nnb_model *model);

#endif

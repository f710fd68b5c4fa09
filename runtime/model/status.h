/* status.h -- statuses as older clients know them. */
#ifndef NNB_MODEL_STATUS_H
#define NNB_MODEL_STATUS_H

#include "nnb/status.h"

/* HAL 1.2 and before have neither deadlines nor exhausted resources: GENERAL_FAILURE for those. */
enum nnb_status nnb__status_of_1_2(enum nnb_status status);

#endif

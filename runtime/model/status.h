/* status.h -- conversion of statuses for older clients. */
#ifndef NNB_MODEL_STATUS_H
#define NNB_MODEL_STATUS_H

#include "nnb/status.h"

/*
 * HAL 1.2 and earlier have no status for a missed deadline or for exhausted resources: those become GENERAL_FAILURE
 * (Q-20).
 */
enum nnb_status nnb__status_of_1_2(enum nnb_status status);

#endif

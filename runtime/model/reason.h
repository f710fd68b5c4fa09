/* reason.h -- reasons with their context: each caller adds the place in front. */
#ifndef NNB_MODEL_REASON_H
#define NNB_MODEL_REASON_H

#include "nnb/status.h"

/* Put the formatted place in front of the reason's text. */
void nnb__within(struct nnb_reason *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/* reason.h -- telling why, from the inside out. */
#ifndef NNB_MODEL_REASON_H
#define NNB_MODEL_REASON_H

#include "nnb/status.h"

/* The reason applies to a part of something: put where before what it says. */
void nnb__within(struct nnb_reason *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

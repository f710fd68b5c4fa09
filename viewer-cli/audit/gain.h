/*
 * gain.h -- how much time a burst saves against synchronous calls, in each phase, for the same model and app.
 */
#ifndef BSV_GAIN_H
#define BSV_GAIN_H

#include "base/rows.h"
#include "input/input.h"

/*
 * One row per phase and per app and model that used both: the medians of warm executions of bursts
 * and of synchronous ones, and their difference with an interval that contains the true difference
 * in 95 of 100 cases. *ret is owned by the caller.
 */
int bsv_gain(struct bsv_rows **ret, struct bsv_input *input, struct bsa_err *err);

#endif

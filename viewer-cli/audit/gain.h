/*
 * gain.h -- what a burst gains over calls: of the same model and app, what each phase takes less.
 */
#ifndef BSV_GAIN_H
#define BSV_GAIN_H

#include "answer/rows.h"
#include "input/input.h"

/*
 * One row per app and model that had both, and phase: the medians of warm executions of bursts and of synchronous ones, and their difference with an
 * interval that has the true one in 95 of 100 cases. *ret is owned by the caller.
 */
int bsv_gain(struct bsv_rows **ret, struct bsv_input *input, struct bsa_err *err);

#endif

/*
 * compare.h -- compares an output with the expected one, within the tolerances of the HAL's own tests (D-10 in
 * docs/hal-rules.md).
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "nnb/model.h"

/* Returns the number of elements that differ too much, and describes the first of them. */
size_t compare_output(const struct nnb_model *m, uint32_t output, const void *got, const void *want, size_t bytes,
                      struct nnb_reason *reason);

#endif

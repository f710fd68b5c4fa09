/* compare.h -- is an output what the file expects, within the tolerances of the HAL's own tests (D-10)? */
#ifndef COMPARE_H
#define COMPARE_H

#include "nnb/model.h"

/* How many of an output's elements are off, and the first of them in words. */
size_t compare(const struct nnb_model *m, uint32_t output, const void *got, const void *want, size_t bytes,
               struct nnb_reason *reason);

#endif

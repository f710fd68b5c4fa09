/*
 * saturated.h -- sums and products of sizes that stay at UINT64_MAX, and then fit nowhere. base/saturating.h has the
 * same for the rest of the runtime, which a driver may not include.
 */
#ifndef NNBX_SATURATED_H
#define NNBX_SATURATED_H

#include <stdint.h>

#include "nnb/driver.h"

static inline uint64_t saturated_product(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t saturated_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Elements of a shape that may be a stranger's. */
static inline uint64_t saturated_elements(const struct nnb_shape *shape)
{
	uint64_t n = shape->omitted ? 0 : 1;

	for (uint32_t d = 0; d < shape->rank; d++)
		n = saturated_product(n, shape->dims[d]);
	return n;
}

#endif

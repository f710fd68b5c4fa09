/*
 * saturating.h -- sums and products that stay at UINT64_MAX, which stands for "without end": sizes and times that a
 * peer may choose.
 */
#ifndef NNB_BASE_SATURATING_H
#define NNB_BASE_SATURATING_H

#include <stdint.h>

/* The sum, or UINT64_MAX if it is larger. */
static inline uint64_t nnb__saturating_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The product, or UINT64_MAX if it is larger. */
static inline uint64_t nnb__saturating_product(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif

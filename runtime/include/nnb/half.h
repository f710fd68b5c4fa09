/*
 * half.h -- converts between float and IEEE 754's half precision, the format of FLOAT16 and TENSOR_FLOAT16.
 *
 * Rounds to the nearest, ties to even; a value that is too large becomes infinite, and a NaN stays a NaN. The
 * conversions are plain arithmetic on bits, so that a compiler can vectorise a loop of them on any processor.
 */
#ifndef NNB_HALF_H
#define NNB_HALF_H

#include <stdint.h>
#include <string.h>

#include "nnb/defs.h"

NNB_BEGIN_DECLS

static inline uint32_t nnb_float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float nnb_float_of_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline float nnb_half_to_float(uint16_t half)
{
	uint32_t w = (uint32_t)half << 16, twice = w + w;
	/* The exponent moves from a bias of 15 to one of 127; a subnormal half is a normal float. */
	float normal = nnb_float_of_bits((twice >> 4) + (0xe0u << 23)) * 0x1p-112f;
	float subnormal = nnb_float_of_bits((twice >> 17) | (126u << 23)) - 0.5f;

	return nnb_float_of_bits((w & 0x80000000u) | nnb_float_bits(twice < 1u << 27 ? subnormal : normal));
}

static inline uint16_t nnb_float_to_half(float x)
{
	uint32_t w = nnb_float_bits(x), twice = w + w, sign = w & 0x80000000u;
	uint32_t exponent = (twice & 0xff000000u) < 0x71000000u ? 0x71000000u : twice & 0xff000000u;
	/* A value above the largest half becomes infinite here; adding a power of two rounds off the bits that a half
	 * lacks. */
	float base = nnb_float_of_bits(w & 0x7fffffffu) * 0x1p+112f * 0x1p-110f;
	uint32_t bits = nnb_float_bits(nnb_float_of_bits((exponent >> 1) + 0x07800000u) + base);
	uint32_t rounded = ((bits >> 13) & 0x7c00u) + (bits & 0xfffu);

	return (uint16_t)((sign >> 16) | (twice > 0xff000000u ? 0x7e00u : rounded));
}

NNB_END_DECLS

#endif

/*
 * base/mixed.h -- numbers of a trace, mixed for hash tables: numbers that differ in a few bits, in whatever
 * place, are far from each other.
 *
 * A trace is untrusted. Whoever knows these functions can make numbers that mix to the same; nothing but time
 * may depend on that.
 */
#ifndef BSA_BASE_MIXED_H
#define BSA_BASE_MIXED_H

#include <stdint.h>

static inline uint64_t bsa_mixed(uint64_t v)
{
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 32;
}

/* A number for @text, and for @number besides: different texts may have the same number. */
static inline uint64_t bsa_mixed_text(uint64_t number, const char *text)
{
	uint64_t v = bsa_mixed(number);

	for (; *text; text++)
		v = (v ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
	return bsa_mixed(v);
}

#endif

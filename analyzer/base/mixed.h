/*
 * base/mixed.h -- numbers of a trace, mixed for hash tables: numbers that differ in a few bits, in whatever
 * place, are far from each other.
 *
 * A trace is untrusted: an app that knew these functions wholly could choose numbers that mix to the same, and make
 * each look-up as slow as a list. So they have a secret that each process draws anew. Nothing but time may depend on
 * it: no order of mixed numbers reaches a database, or is printed.
 */
#ifndef BSA_BASE_MIXED_H
#define BSA_BASE_MIXED_H

#include <stdint.h>

struct bsa_mix_secret {
	uint64_t start, factor; /* the factor is odd */
};

/* Drawn before main, and not changed since. Hidden: a shared object reads its own without a detour. */
extern struct bsa_mix_secret bsa_mix_secret __attribute__((visibility("hidden")));

static inline uint64_t bsa_mixed(uint64_t v)
{
	v ^= bsa_mix_secret.start;
	v ^= v >> 32;
	v *= bsa_mix_secret.factor;
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 32;
}

/* A number for @text, and for @number besides: different texts may have the same number. */
static inline uint64_t bsa_mixed_text(uint64_t number, const char *text)
{
	uint64_t v = bsa_mixed(number);

	for (; *text; text++)
		v = (v ^ (unsigned char)*text) * bsa_mix_secret.factor;
	return bsa_mixed(v);
}

#endif

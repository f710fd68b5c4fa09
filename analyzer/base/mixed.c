/* mixed.c -- draws the secret of mixed.h, when the program or library is loaded. */
#include "base/mixed.h"

#include <stddef.h>
#include <sys/random.h>
#include <time.h>

struct bsa_mix_secret bsa_mix_secret;

__attribute__((constructor)) static void draw_secret(void)
{
	uint64_t drawn[2];
	struct timespec now;

	/* A kernel without random numbers yet: the secret is a poor one, and only time depends on it. */
	if (getrandom(drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		drawn[0] = (uint64_t)now.tv_nsec * UINT64_C(0xd6e8feb86659fd93) ^ (uint64_t)(uintptr_t)&now;
		drawn[1] = drawn[0] * UINT64_C(0x9e3779b97f4a7c15);
	}
	bsa_mix_secret.start = drawn[0];
	bsa_mix_secret.factor = drawn[1] | 1; /* an even factor would lose a bit of each number */
}

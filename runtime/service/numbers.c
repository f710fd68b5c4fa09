/* numbers.c -- see numbers.h. */
#include "service/numbers.h"

#include <assert.h>

/* Make @highest + @by the highest number, and take it. */
static void numbers_advance(struct nnb__numbers *n, uint32_t by)
{
	uint32_t words = by / 64, bits = by % 64;

	assert(by);
	for (int i = NNB__NUMBERS_WORDS - 1; i >= 0; i--) {
		uint64_t word = (uint32_t)i >= words ? n->taken[(uint32_t)i - words] << bits : 0;

		if (bits && (uint32_t)i > words)
			word |= n->taken[(uint32_t)i - words - 1] >> (64 - bits);
		n->taken[i] = word;
	}
	n->taken[0] |= 1;
	n->wrapped |= n->highest + by < by;
	n->highest += by;
}

uint32_t nnb__number_take(struct nnb__numbers *n, uint32_t asked)
{
	uint32_t ahead = asked - n->highest, behind = n->highest - asked;

	if (asked && ahead && ahead <= NNB__NUMBERS_AHEAD) {
		numbers_advance(n, ahead);
		return asked;
	}
	if (asked && behind < NNB__NUMBERS_AHEAD && (behind < n->highest || n->wrapped) &&
	    !(n->taken[behind / 64] >> behind % 64 & 1)) {
		n->taken[behind / 64] |= UINT64_C(1) << behind % 64;
		return asked;
	}
	numbers_advance(n, n->highest == UINT32_MAX ? 2 : 1); /* 0 is no number */
	return n->highest;
}

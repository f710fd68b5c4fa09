/* numbers.c -- a ring of bits for the numbers that were taken, which moves on with the highest number. */
#include "service/numbers.h"

#include <assert.h>
#include <stdbool.h>

static uint64_t *word_of(struct nnb__numbers *n, uint32_t number)
{
	return &n->taken[number % NNB__NUMBERS_BEHIND / 64];
}

static uint64_t bit_of(uint32_t number)
{
	return UINT64_C(1) << number % 64;
}

/*
 * Advance the highest number to @number, @by steps. The numbers in between, which reuse the places of older ones,
 * become free.
 */
static void numbers_advance(struct nnb__numbers *n, uint32_t number, uint32_t by)
{
	assert(by && by <= NNB__NUMBERS_AHEAD);
	for (uint32_t i = 0; i < by; i++)
		*word_of(n, number - i) &= ~bit_of(number - i);
	n->highest = number;
}

uint32_t nnb__number_take(struct nnb__numbers *n, uint32_t asked)
{
	uint32_t ahead = (asked - n->highest) & NNB__NUMBER_MOST, behind = (n->highest - asked) & NNB__NUMBER_MOST;
	bool usable = asked && asked <= NNB__NUMBER_MOST;

	if (usable && ahead && ahead <= NNB__NUMBERS_AHEAD)
		numbers_advance(n, asked, ahead);
	else if (!usable || behind >= NNB__NUMBERS_BEHIND || (*word_of(n, asked) & bit_of(asked)))
		return ~NNB__NUMBER_MOST | n->given++;
	*word_of(n, asked) |= bit_of(asked);
	return asked;
}

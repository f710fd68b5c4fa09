/*
 * numbers.h -- the numbers of a connection's calls of one kind, which identify executions in traces.
 *
 * The client numbers its calls, so that its own events and the service's name the same execution. Numbers are untrusted: if two calls had
 * the same number, all events of the second one would be attributed to the first, and its lane time to no execution. So the service takes a
 * number only once. Calls on several channels may overtake each other, by fewer than NNB__NUMBERS_AHEAD numbers.
 */
#ifndef NNB_SERVICE_NUMBERS_H
#define NNB_SERVICE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

enum { NNB__NUMBERS_AHEAD = 256, NNB__NUMBERS_WORDS = NNB__NUMBERS_AHEAD / 64 };

/* All 0 at first. */
struct nnb__numbers {
	uint32_t highest;
	bool wrapped; /* the highest one was UINT32_MAX before: numbers before 0 may still arrive */
	uint64_t taken[NNB__NUMBERS_WORDS]; /* bit i: highest - i is taken */
};

/*
 * Take @asked, the client's number of a call. Returns it; or a number that follows the highest one, if @asked is 0, was taken already, or is
 * too far from the highest one. A number is returned once, until all 2^32 - 1 were returned. One thread at a time.
 */
uint32_t nnb__number_take(struct nnb__numbers *n, uint32_t asked);

#endif

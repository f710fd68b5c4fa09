/*
 * numbers.h -- the numbers of a connection's calls of one kind, which identify executions in traces.
 *
 * The client numbers its calls, so that its own events and the service's name the same execution. Numbers are
 * untrusted: if two calls had the same number, all events of the second one would be attributed to the first, and its
 * lane time to no execution. So the service takes a number only once. Calls on several channels may overtake each
 * other: a thread that is off its cpu for a while sends its call behind many others'. The service gives a call whose
 * number cannot be taken a number of its own. An import then shows two executions of this call, each seen by one side
 * alone.
 */
#ifndef NNB_SERVICE_NUMBERS_H
#define NNB_SERVICE_NUMBERS_H

#include <stdint.h>

enum {
	NNB__NUMBERS_AHEAD = 1024,  /* a call may come before at most so many others */
	NNB__NUMBERS_BEHIND = 16384 /* a call may come behind fewer than so many others; a power of 2 */
};
/* the largest number of a client, after which comes 1; the service's own numbers are greater */
#define NNB__NUMBER_MOST UINT32_C(0x7fffffff)

/* All 0 at first. */
struct nnb__numbers {
	uint32_t highest; /* the highest number taken from the client */
	uint32_t given;   /* numbers of the service's own so far */
	uint64_t taken[NNB__NUMBERS_BEHIND /
	               64]; /* a ring of bits, by number: of the highest one, and of those behind it */
};

/*
 * Take @asked, the client's number of a call. Returns it; or a number of the service's own, if @asked is 0, was taken
 * already, or is too far from the highest one. A number is returned once, until all of its kind were returned or
 * passed over. One thread at a time.
 */
uint32_t nnb__number_take(struct nnb__numbers *n, uint32_t asked);

#endif

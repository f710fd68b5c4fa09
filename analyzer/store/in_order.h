/*
 * in_order.h -- calls that come nearly in the order in which they were ready, in that order: executions are
 * stored as they end.
 *
 * CONCURRENCY  None: it is its caller's.
 */
#ifndef BSA_STORE_IN_ORDER_H
#define BSA_STORE_IN_ORDER_H

#include "replay/sharing.h"

#include <stdbool.h>
#include <stdint.h>

enum { IN_ORDER_MOST = 4096 }; /* that wait for one that was ready before them */

/* All zero: empty. */
struct bsa_in_order {
	struct waiting {
		uint64_t ready, came; /* came: a number of their order */
		uint32_t place;       /* the place of the call */
	} heap[IN_ORDER_MOST];
	struct bsa_sharing_call calls[IN_ORDER_MOST];
	uint32_t free[IN_ORDER_MOST]; /* places that were used, and no longer are */
	uint32_t n, n_free;
	uint64_t came, latest;
};

static inline bool in_order_full(const struct bsa_in_order *o)
{
	return o->n == IN_ORDER_MOST;
}

/* Not while it is full. */
void bsa_in_order_put(struct bsa_in_order *o, const struct bsa_sharing_call *call);

/*
 * Take the call that was ready first; there must be one. False: it was ready before the call taken last, so
 * the calls arrive in too little order for the room.
 */
bool bsa_in_order_take(struct bsa_in_order *o, struct bsa_sharing_call *ret);

#endif

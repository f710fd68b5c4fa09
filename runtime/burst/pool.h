/* pool.h -- inside of a pool, and what bursts do when it goes. */
#ifndef NNB_BURST_POOL_H
#define NNB_BURST_POOL_H

#include "nnb/burst.h"

/* Constant as long as it lives. */
struct nnb_pool {
	uint64_t id; /* never the same twice in a process */
	struct nnb_memory memory;
	struct nnb_mapping *mapping; /* NULL: it cannot be mapped */
};

/* controller.c: every burst there is forgets @pool. */
void nnb__bursts_forget(const struct nnb_pool *pool);

#endif

/* pool.h -- the fields of a pool, and the call that frees its slots in all bursts. */
#ifndef NNB_BURST_POOL_H
#define NNB_BURST_POOL_H

#include "nnb/burst.h"

/* No field changes while the pool exists. */
struct nnb_pool {
	uint64_t id; /* unique in the process, also over time */
	struct nnb_memory memory;
	struct nnb_mapping *mapping; /* NULL: this kind of memory cannot be mapped */
};

/* Free the slots of @pool in all bursts of the process. Defined in controller.c, which has the list of bursts. */
void nnb__bursts_forget(const struct nnb_pool *pool);

#endif

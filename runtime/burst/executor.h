/* executor.h -- a burst's executor for who answers for the memory it keeps. */
#ifndef NNB_BURST_EXECUTOR_H
#define NNB_BURST_EXECUTOR_H

#include "nnb/burst.h"

/* Who is asked before pools are kept, and told when they are no more. Any thread. All zeroes: nobody. */
struct nnb__budget {
	enum nnb_status (*take)(void *arg, uint32_t pools, uint64_t bytes); /* NONE, RESOURCE_EXHAUSTED_* */
	void (*give)(void *arg, uint32_t pools, uint64_t bytes);
	void *arg;
};

/* 0 or -ENOMEM. */
int nnb__burst_executor(struct nnb_burst_executor *ret, struct nnb_prepared *prepared, bool cached,
                        const struct nnb__budget *budget);

#endif

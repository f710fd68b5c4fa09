/* executor.h -- a burst's executor for who answers for the memory it keeps. */
#ifndef NNB_BURST_EXECUTOR_H
#define NNB_BURST_EXECUTOR_H

#include "memory/budget.h"
#include "nnb/burst.h"

struct nnb__lanes;
struct nnb__lane_app;
struct nnb__times;

/* Where a service has it run. All zeroes: in nobody's way, whenever it is asked to. */
struct nnb__burst_place {
	struct nnb__budget budget;
	struct nnb__lanes *lanes;
	struct nnb__lane_app *app;
	struct nnb__times *times;
	uint32_t stream; /* what traces call the burst; 0: nothing is said */
};

/* What @place names is borrowed until the executor is freed. 0 or -ENOMEM. */
int nnb__burst_executor(struct nnb_burst_executor *ret, struct nnb_prepared *prepared, bool cached,
                        const struct nnb__burst_place *place);

#endif

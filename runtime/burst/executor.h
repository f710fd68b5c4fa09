/* executor.h -- an executor of bursts that charges its memory to a budget and runs on a service's lanes. */
#ifndef NNB_BURST_EXECUTOR_H
#define NNB_BURST_EXECUTOR_H

#include "memory/budget.h"
#include "nnb/burst.h"

struct nnb__lanes;
struct nnb__lane_app;
struct nnb__times;

/* The budget, lanes and counters that an executor uses. All zeroes: no budget and no lanes; it executes at once. */
struct nnb__burst_place {
	struct nnb__budget budget;
	struct nnb__lanes *lanes;
	struct nnb__lane_app *app;
	struct nnb__times *times;
	uint32_t stream; /* number of the burst in traces; 0: no events */
};

/* Make an executor. All pointers in @place are borrowed until the executor is freed. 0 or -ENOMEM. */
int nnb__burst_executor(struct nnb_burst_executor *ret, struct nnb_prepared *prepared, bool cached,
                        const struct nnb__burst_place *place);

#endif

/*
 * cost.h -- what an execution will cost, estimated from its shapes before it runs (costs.def).
 *
 * The estimate is of one core's time, coarse, and never 0. It is there to refuse what is absurd.
 */
#ifndef NNB_MODEL_COST_H
#define NNB_MODEL_COST_H

#include "nnb/driver.h"

/* Of operation @op with these shapes of all operands, in ns. UINT64_MAX: beyond counting. 0: a shape is not known. */
uint64_t nnb__operation_cost(const struct nnb_graph *graph, uint32_t op, const struct nnb_shape *shapes);

/* Of all operations whose shapes are known. UINT64_MAX: beyond counting. */
uint64_t nnb__model_cost(const struct nnb_graph *graph, const struct nnb_shape *shapes);

/* Of each subgraph of the main @graph, which is an nnb__graph's: ret[i], all 0 before. */
void nnb__referenced_costs(const struct nnb_graph *graph, uint64_t *ret);

#endif

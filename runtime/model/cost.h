/*
 * cost.h -- estimates the cost of an execution from its shapes, before the execution runs (costs.def).
 *
 * The estimate is the time of one core. The estimate is coarse; its purpose is to refuse absurd requests.
 */
#ifndef NNB_MODEL_COST_H
#define NNB_MODEL_COST_H

#include "nnb/driver.h"

/*
 * A sum of more products, or a tile of more elements, is computed by a plain loop: the limits of
 * driver/xnnpack/tile_limits.h, which no file of libnnburst includes. test_cost.c holds both together.
 */
enum { NNB__TILE_PRODUCTS = 1 << 16, NNB__TILE_ELEMENTS = 1 << 20 };

/*
 * The cost of operation @op in ns, with these shapes of all operands. UINT64_MAX: out of range. 0: a shape is not
 * known; no other cost is 0. @graph is the member of a struct nnb__graph if @op is an IF or a WHILE.
 */
uint64_t nnb__operation_cost(const struct nnb_graph *graph, uint32_t op, const struct nnb_shape *shapes);

/* The cost of all operations whose shapes are known. UINT64_MAX: out of range. */
uint64_t nnb__model_cost(const struct nnb_graph *graph, const struct nnb_shape *shapes);

/*
 * The cost of each subgraph of the main @graph, which must be the member of a struct nnb__graph: ret[i], all 0 on
 * entry.
 */
void nnb__referenced_costs(const struct nnb_graph *graph, uint64_t *ret);

#endif

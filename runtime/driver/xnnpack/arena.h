/* arena.h -- where in one block of memory each temporary of a run lies, so that those never alive together share. */
#ifndef NNBX_ARENA_H
#define NNBX_ARENA_H

#include "nnb/driver.h"

enum { NNBX_ALIGNMENT = 64 };

/*
 * Give each temporary of the graph, in these shapes, its @offsets[operand]; others get SIZE_MAX. 0 and the bytes
 * of the block, slack included; -EOVERFLOW; -ENOMEM.
 */
int nnbx_arena_plan(const struct nnb_graph *graph, const struct nnb_shape *shapes, size_t *offsets, size_t *ret_bytes);

#endif

/*
 * packing.h -- looks while XNNPACK packs weights, or fills in its pointers: one call of XNNPACK's, of up to seconds.
 */
#ifndef NNBX_PACKING_H
#define NNBX_PACKING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Call @body, which calls XNNPACK once to create or to set up an operator. Where a look is under way
 * (kernels/look.h), each part of a large block that XNNPACK writes for the first time is a look. False: the look
 * ended @body in the midst, or before it began. Then @undo was called, which deletes the operator if there is one;
 * XNNPACK's other blocks are free.
 */
bool nnbx_packing(void (*body)(void *arg), void (*undo)(void *arg), void *arg);

/* For XNNPACK's allocator (memory.c): a block is new (false: there are too many), and is about to be freed. */
bool nnbx_packing_allocated(void *at, size_t bytes);
void nnbx_packing_freed(const void *at);

#endif

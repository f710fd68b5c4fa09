/*
 * tiles.h -- the driver's own loops for XNNPACK, which computes an operation in tiles: between two tiles the driver
 * looks whether it must stop.
 */
#ifndef NNBX_TILES_H
#define NNBX_TILES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * For the setups of the calling thread that follow, XNNPACK is to make tiles as if for @threads threads; 1 is as usual.
 * More make tiles smaller, and the results are the same to the last bit: what an element is computed of does not
 * change.
 */
void nnbx_tiles_for(size_t threads);

/*
 * Does XNNPACK call the driver's loops? Otherwise it computes an operation without a look. Call this after XNNPACK has
 * run an operation.
 */
bool nnbx_tiles_ours(void);

#endif

/*
 * tile_limits.h -- how much of an operation XNNPACK computes without a check.
 */
#ifndef NNBX_TILE_LIMITS_H
#define NNBX_TILE_LIMITS_H

/*
 * Within a tile of XNNPACK's there is no check. So a tile has at most so many elements of an element-wise operation
 * or cells of a pool, or sums of so many products; larger work is left to the plain kernels. Each limit takes some
 * 0.3 ms. NNB__TILE_ELEMENTS and NNB__TILE_PRODUCTS (model/cost.h) are the same numbers.
 */
enum { NNBX_TILE_WORK = 1 << 20, NNBX_TILE_DEPTH = 1 << 16 };

#endif

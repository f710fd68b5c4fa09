/* fence.h -- waiting for fences, for threads that must be able to stop. */
#ifndef NNB_FENCE_FENCE_H
#define NNB_FENCE_FENCE_H

#include "nnb/fence.h"

/*
 * As nnb_fence_wait, but until @until of CLOCK_MONOTONIC in ns (UINT64_MAX: for ever). -ECANCELED: the line, a socket,
 * was hung up on, or @own, a fence, is no more pending.
 */
int nnb__fence_wait(const int *fences, uint32_t n, uint64_t until, int line, int own);

#endif

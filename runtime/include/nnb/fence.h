/*
 * fence.h -- sync fences: one side signals a fence once, the other sides wait for it.
 *
 * A fence is an eventfd. Its count is its state: 0 pending, 1 signalled, 0xfffffffffffffffe failed. No side ever
 * reads the eventfd, so the state never changes again: poll(2) reports a signalled fence readable and writable, a
 * failed one readable only. A fence is passed and closed like any fd. Any thread may call anything here.
 * nnb_fence(3).
 */
#ifndef NNB_FENCE_H
#define NNB_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/defs.h"

NNB_BEGIN_DECLS

enum nnb_fence_state { NNB_FENCE_PENDING, NNB_FENCE_SIGNALLED, NNB_FENCE_FAILED };

/* Make a pending fence. 0, and the caller owns *ret; or -errno. */
NNB_PUBLIC int nnb_fence_new(int *ret);

/* Signal the fence, or make it fail. A second call changes nothing. 0; -EINVAL: the fd is not a fence. */
NNB_PUBLIC int nnb_fence_signal(int fence, bool failed);

/* The fence's state; -EINVAL: the fd is not a fence. */
NNB_PUBLIC int nnb_fence_state(int fence);

/*
 * Wait until all fences are signalled or one has failed; @timeout_ns 0: wait for ever. NNB_FENCE_SIGNALLED (also if
 * @n is 0), NNB_FENCE_FAILED, NNB_FENCE_PENDING at the timeout; -EINVAL: an fd is not a fence; -EINTR; -ENOMEM.
 */
NNB_PUBLIC int nnb_fence_wait(const int *fences, uint32_t n, uint64_t timeout_ns);

NNB_END_DECLS

#endif

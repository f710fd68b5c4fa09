/*
 * fence.h -- sync fences: what one side waits for and the other signals, once.
 *
 * A fence is an eventfd. Its count says how it stands: 0 it is pending, 1 it is signalled, 0xfffffffffffffffe it has
 * failed. Nobody ever reads it, so it stays as it is: poll(2) finds one that is signalled readable and writable, and one
 * that has failed readable only. Fds are passed and closed like any other. Any thread; nnb_fence(3).
 */
#ifndef NNB_FENCE_H
#define NNB_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/defs.h"

NNB_BEGIN_DECLS

enum nnb_fence_state { NNB_FENCE_PENDING, NNB_FENCE_SIGNALLED, NNB_FENCE_FAILED };

/* A pending one. 0 and *ret owned; -errno. */
NNB_PUBLIC int nnb_fence_new(int *ret);

/* Say how it went. Who comes second changes nothing. 0; -EINVAL: it is no fence. */
NNB_PUBLIC int nnb_fence_signal(int fence, bool failed);

/* Its state; -EINVAL: it is no fence. */
NNB_PUBLIC int nnb_fence_state(int fence);

/*
 * Wait until all of them are signalled or one has failed; @timeout_ns 0: for ever. NNB_FENCE_SIGNALLED (for none, too),
 * NNB_FENCE_FAILED, NNB_FENCE_PENDING: the time is over; -EINVAL: one is no fence; -EINTR; -ENOMEM.
 */
NNB_PUBLIC int nnb_fence_wait(const int *fences, uint32_t n, uint64_t timeout_ns);

NNB_END_DECLS

#endif

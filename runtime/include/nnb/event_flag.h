/*
 * nnb_event_flag -- 32 bits in shared memory that threads of any process can set and sleep on.
 *
 * A bit says "this happened since somebody last looked". Waiting consumes the bits waited for; a bit set
 * before the wait began ends it at once, and several wakes before the sleeper runs are one. So: wake after
 * changing what the bit stands for, and look again after every wait.
 *
 * Any thread may call wake and wait on one handle at any time. Returns are 0, -errno, or a positive
 * NNB_EVENT_* condition.
 */
#ifndef NNB_EVENT_FLAG_H
#define NNB_EVENT_FLAG_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/defs.h"

NNB_BEGIN_DECLS

struct nnb_event_flag; /* opaque; process memory, the word alone is shared */

enum {
	NNB_EVENT_TIMED_OUT = 1, /* no bit came in time */
};

/*
 * Make a handle for the word at @word: 4-byte aligned, in memory that all parties share (MAP_SHARED where
 * they are processes). The word is borrowed until the handle is deleted and is left as it is: its creator
 * zeroes it. 0 and *ret owned by the caller, or -EINVAL (null or misaligned word), -ENOMEM.
 */
NNB_PUBLIC int nnb_event_flag_new(struct nnb_event_flag **ret, uint32_t *word);

/* Delete and clear *flag. Nobody may be waiting through it. 0, or -EINVAL when there is nothing to delete. */
NNB_PUBLIC int nnb_event_flag_delete(struct nnb_event_flag **flag);

/*
 * Set the bits of @mask. If one was not set before, wake everybody who waits for one of them. A mask of 0
 * does nothing. What was written before is visible to the waiter that takes the bit. 0 or -errno.
 */
NNB_PUBLIC int nnb_event_flag_wake(struct nnb_event_flag *flag, uint32_t mask);

/*
 * Wait until a bit of @mask is set, take all of @mask's set bits and store them in *ret_bits.
 * @timeout_ns counts from the call; 0 waits for ever. With @retry false a wake-up that brought no bit ends
 * the wait with -EAGAIN or -EINTR; with true it goes on in what is left of the time.
 * 0; NNB_EVENT_TIMED_OUT; -EINVAL for a zero mask or null @ret_bits. *ret_bits is 0 unless 0 is returned.
 */
NNB_PUBLIC int nnb_event_flag_wait(struct nnb_event_flag *flag, uint32_t mask, uint32_t *ret_bits, uint64_t timeout_ns,
                                   bool retry);

NNB_END_DECLS

#endif

/*
 * nnb_event_flag -- 32 bits in shared memory that threads of any process can set and sleep on.
 *
 * A set bit means "this has happened since the last wait for the bit". A wait consumes its bits; a bit that was set
 * before the wait ends it at once, and several wakes before the sleeper runs count as one. So wake after changing
 * the state that the bit stands for, and check the state again after every wait.
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

struct nnb_event_flag; /* opaque; in process memory: only the word is shared */

enum {
	NNB_EVENT_TIMED_OUT = 1, /* no bit was set before the timeout */
};

/*
 * Make a handle for the word at @word: 4-byte aligned, in memory that all parties share (MAP_SHARED where
 * they are processes). The word is borrowed until the handle is deleted, and is not changed: its creator
 * must zero it. 0 and *ret owned by the caller, or -EINVAL (null or misaligned word), -ENOMEM.
 */
NNB_PUBLIC int nnb_event_flag_new(struct nnb_event_flag **ret, uint32_t *word);

/* Delete and clear *flag. No thread may be waiting through it. 0, or -EINVAL if *flag is NULL. */
NNB_PUBLIC int nnb_event_flag_delete(struct nnb_event_flag **flag);

/*
 * Set the bits of @mask. If a bit was not set before, wake every thread that waits for one of them. A mask of 0
 * does nothing. The waiter that takes the bit sees all writes made before this call. 0 or -errno.
 */
NNB_PUBLIC int nnb_event_flag_wake(struct nnb_event_flag *flag, uint32_t mask);

/*
 * Wait until a bit of @mask is set, take all of @mask's set bits and store them in *ret_bits.
 * @timeout_ns counts from the call; 0 waits for ever. With @retry false, a wake-up without a bit ends
 * the wait with -EAGAIN or -EINTR; with @retry true, the wait goes on until the timeout.
 * 0; NNB_EVENT_TIMED_OUT; -EINVAL for a zero mask or null @ret_bits. *ret_bits is 0 unless 0 is returned.
 */
NNB_PUBLIC int nnb_event_flag_wait(struct nnb_event_flag *flag, uint32_t mask, uint32_t *ret_bits, uint64_t timeout_ns,
                                   bool retry);

NNB_END_DECLS

#endif

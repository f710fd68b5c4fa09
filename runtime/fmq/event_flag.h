/* event_flag.h -- inside of the event flag, for the queue that embeds one. The protocol is in event_flag.c. */
#ifndef NNB_FMQ_EVENT_FLAG_H
#define NNB_FMQ_EVENT_FLAG_H

#include "nnb/event_flag.h"

#include <stdatomic.h>

struct nnb_event_flag {
	_Atomic uint32_t *word;
	_Atomic uint32_t *sleepers; /* shared count of threads in or near a sleep; NULL: no count */
	int wakes_most;             /* a wake through this handle wakes no more threads than this; 0: all */
};

/* For the waker, after it has published in shared memory: wake the waiters that have armed the bits. */
static inline void nnb__flag_signal(struct nnb_event_flag *flag, uint32_t mask)
{
	atomic_thread_fence(memory_order_seq_cst); /* (3) */
	if (__builtin_expect((atomic_load_explicit(flag->word, memory_order_relaxed) & mask) != mask, 0))
		nnb_event_flag_wake(flag, mask);
}

/* For the waiter: clear the bits, so that the next signal wakes. Then check again; then sleep on the returned word. */
uint32_t nnb__flag_arm(struct nnb_event_flag *flag, uint32_t mask);

/* For the waiter: no wake is needed for the bits any more. */
void nnb__flag_disarm(struct nnb_event_flag *flag, uint32_t mask);

/* Sleep like nnb__futex_wait, and count as a sleeper meanwhile. */
int nnb__flag_sleep(struct nnb_event_flag *flag, uint32_t seen, uint32_t mask, uint64_t deadline);

#endif

/*
 * wait.h -- waits for the files of an app, which end when the app is gone, or the service stops.
 *
 * CONCURRENCY  Any thread.
 */
#ifndef NNB_MEMORY_WAIT_H
#define NNB_MEMORY_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* This thread's waits are over once *gone is set, borrowed until the next call or the thread's end; NULL: never. */
void nnb__wait_enter(const atomic_bool *gone);

/* The service stops: from now on the waits of all threads are over. Or another one begins. */
void nnb__waits_end(void);
void nnb__waits_begin(void);
bool nnb__waits_have_ended(void);

/* Whether this thread must not wait any more. */
bool nnb__wait_is_over(void);

/* Whether *gone is not set; waits of other threads may have ended. */
bool nnb__wait_app_stays(void);

/* When to ask again whether a wait until @until is over. Times are of nnb__now. */
uint64_t nnb__wait_slice(uint64_t now, uint64_t until);

/* Sleep until @until. False: the wait is over. */
bool nnb__wait_until(uint64_t until);

#endif

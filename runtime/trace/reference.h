/*
 * reference.h -- how fast the cpu is just now: a small computation, always the same, and how long it takes.
 *
 * Other programs, and other guests of the same machine, slow a cpu down without taking it away: by a half within seconds. A recording in which
 * the same computation is timed again and again can be compared with another one all the same (burstscope-diff(1)).
 *
 * CONCURRENCY  What was measured is the thread's own.
 */
#ifndef NNB_TRACE_REFERENCE_H
#define NNB_TRACE_REFERENCE_H

#include <stdint.h>

/* Do it, if this thread has not done it for 5 ms: takes some 6 us. The thread has nothing else to do. */
void nnb__reference_measure(void);

/* The cpu time of the latest one that this thread has not told of. 0: there was none since. */
uint64_t nnb__reference_take(void);

#endif

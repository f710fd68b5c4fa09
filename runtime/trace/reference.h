/*
 * reference.h -- how fast the cpu is just now: a small computation, always the same, and how long it takes.
 *
 * Other programs, and other guests of the same machine, slow a cpu down without taking it away: by a half within
 * seconds. A recording in which the same computation is timed again and again can be compared with another one all
 * the same (burstscope-diff(1)).
 *
 * It is made of what networks are made of, each part for what threads of other programs on the same core take:
 * integer operations, for the units of the core; products of floats; and two sweeps over memory. The first sweep
 * finds in the second-level cache what they left there of that memory, which shows most; the second sweep finds all
 * of it.
 *
 * CONCURRENCY  What was measured is the thread's own. The memory that is swept is all threads'; the first one writes
 *              it, and nothing does later.
 */
#ifndef NNB_TRACE_REFERENCE_H
#define NNB_TRACE_REFERENCE_H

#include <stdint.h>

/* Do it, if this thread has not done it for 5 ms: takes 8 us or more. The thread has nothing else to do. */
void nnb__reference_measure(void);

/* The cpu time of the latest measurement that this thread has not emitted. 0: there was none since. */
uint64_t nnb__reference_take(void);

#endif

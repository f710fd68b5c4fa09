/*
 * loops.h -- what driver_loops.c puts in the place of what the library has: nnb_loops. All zeroes: nothing. And what the runs of one
 * model take of memory.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include "nnb/driver.h"

struct loops {
	struct nnb_look look;
	struct nnb_loops loops;                   /* timeout_ns 0: the library's */
	const struct nnb_loops *_Atomic librarys; /* of the last run that began, for as long as it lasts */
	uint64_t charged, most;                   /* bytes: now, and at most since the test set it to 0 */
	uint64_t limit;                           /* of charged; 0: none */
};

#endif

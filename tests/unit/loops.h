/*
 * loops.h -- settings that driver_loops.c uses in place of the library's nnb_loops, and an account of the
 * memory that the runs of one model use. All zeroes: the library's.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include "nnb/driver.h"

struct loops {
	struct nnb_look look;
	struct nnb_loops loops; /* timeout_ns 0: use the library's */
	/* the library's loops for the last run that began, while the run lasts */
	const struct nnb_loops *_Atomic librarys;
	uint64_t charged, most; /* bytes now, and the most since the test set it to 0 */
	uint64_t limit;         /* limit of charged; 0: no limit */
};

#endif

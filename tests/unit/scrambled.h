/*
 * scrambled.h -- what a test shares with the driver "scrambled" in its own process: what it was told, and what it is to
 * do about it. The test finds it as "nnb_scrambled" in the driver's file.
 */
#ifndef SCRAMBLED_H
#define SCRAMBLED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "nnb/status.h"

struct scrambled {
	/* the driver's */
	atomic_uint made, freed, written, read;      /* buffers */
	atomic_uint inputs_kept, outputs_kept, runs; /* of runs that were begun, ever */
	/* the test's */
	atomic_int refuses;     /* what buffer_new says: -errno; 0: it has them */
	atomic_uint run_begins; /* what run_begin says, and run_op: a status */
	atomic_uint run_ends;
	void (*in_copy)(void *arg); /* called in the middle of each buffer_write and buffer_read; NULL: nobody */
	void *arg;
	void *_Atomic copied_to; /* by the last buffer_read, to be found in its middle */
};

#endif

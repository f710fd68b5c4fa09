/*
 * scrambled.h -- memory that a test shares with the driver "scrambled" in its own process: the driver's counts, and the
 * answers that the test chooses. The test finds the symbol "nnb_scrambled" in the driver's file.
 */
#ifndef SCRAMBLED_H
#define SCRAMBLED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "nnb/status.h"

struct scrambled {
	/* the driver's */
	atomic_uint made, freed, written, read;      /* buffers */
	atomic_uint inputs_kept, outputs_kept, runs; /* inputs and outputs kept, and runs begun, so far */
	/* the test's */
	atomic_int refuses;     /* the result of buffer_new: -errno; 0: success */
	atomic_uint run_begins; /* the status that run_begin and run_op return */
	atomic_uint run_ends;
	void (*in_copy)(void *arg); /* called in the middle of each buffer_write and buffer_read; NULL: no call */
	void *arg;
	void *_Atomic copied_to; /* the memory of the last buffer_read, set in its middle */
};

#endif

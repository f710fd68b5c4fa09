/*
 * job.h -- arguments for a model of the checks or the tests, which share them: all inputs in one pool, all outputs in
 * another.
 */
#ifndef JOB_H
#define JOB_H

#include "nnb/burst.h"

struct job {
	struct nnb_argument *args; /* inputs, then outputs; owned */
	struct nnb_pool *pools[2]; /* owned */
	struct nnb_call call;
};

/*
 * Fill the inputs with small numbers. Where the first operation is a RESHAPE, each input of 32-bit
 * integers has the shape that the operation gives, and zeroes behind it. False: out of memory, or
 * too large for a pool; then @j is all zeroes.
 */
bool job_init(struct job *j, const struct nnb_model *m);
void job_fini(struct job *j); /* @j may be all zeroes */

#endif

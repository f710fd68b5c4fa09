/*
 * job.h -- arguments for any model: all inputs in one pool, all outputs in another. The checks and the tests share
 * them.
 */
#ifndef JOB_H
#define JOB_H

#include "nnb/burst.h"

struct job {
	struct nnb_argument *args; /* inputs, then outputs; owned */
	struct nnb_pool *pools[2]; /* owned */
	struct nnb_call call;
};

/* Fill the inputs with small numbers. False: out of memory, or too large for a pool; then @j is all zeroes. */
bool job_init(struct job *j, const struct nnb_model *m);
void job_fini(struct job *j); /* @j may be all zeroes */

#endif

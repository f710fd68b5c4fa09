/*
 * stalls.h -- a thread that takes lanes away from executions whose threads wait for a page.
 */
#ifndef NNB_SCHED_STALLS_H
#define NNB_SCHED_STALLS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "sched/lanes.h"

struct nnb__stalls {
	struct nnb__lanes *lanes; /* borrowed until nnb__stalls_end */
	pthread_t thread;
	bool runs;
	atomic_bool ending;
};

/* Start the thread. 0 or -errno. */
int nnb__stalls_start(struct nnb__stalls *stalls, struct nnb__lanes *lanes);

/* End the thread, if it was started. */
void nnb__stalls_end(struct nnb__stalls *stalls);

#endif

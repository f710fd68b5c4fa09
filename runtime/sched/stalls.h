/*
 * stalls.h -- a thread that takes lanes away from executions whose threads wait for a page.
 */
#ifndef NNB_SCHED_STALLS_H
#define NNB_SCHED_STALLS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "sched/lanes.h"

/* What is known of a lane: which seat has it, and in how many rounds in a row its thread waited for a page. */
struct nnb__lane_watch {
	struct nnb__lane_holder holder;
	uint32_t rounds;
};

struct nnb__stalls {
	struct nnb__lanes *lanes; /* borrowed until nnb__lanes_fini */
	pthread_t thread;
	bool runs;
	atomic_bool ending;
	_Atomic uint32_t sleeps; /* a futex: 1: the thread sleeps until a seat waits, or is about to; 0: it does not */
	struct nnb__lane_watch watched[NNB__LANES_MAX]; /* of the thread: nnb__stalls_round */
};

/*
 * Call this before a seat takes a lane. Seats that begin to wait use @stalls from then on, so it must stay until
 * nnb__lanes_fini.
 */
void nnb__stalls_init(struct nnb__stalls *stalls, struct nnb__lanes *lanes);

/* Start the thread. 0 or -errno. */
int nnb__stalls_start(struct nnb__stalls *stalls);

/* End the thread, if it was started. */
void nnb__stalls_end(struct nnb__stalls *stalls);

/*
 * One round of the thread. While seats wait, it takes away the lane of an execution that was on it a round before, and
 * whose thread waits for a page in two rounds in a row; or in one round, if the execution has lost a lane before.
 * *ret_waiting: seats wait. Returns the number of lanes that went to other seats. One thread at a time calls this: the
 * one of nnb__stalls_start, or a test without it.
 *
 * One round is enough for the executions of an app on probation (nnb__lanes_take_away), whether their threads wait for
 * a page or for a cpu; a seat that begins to wait looks at them as well; and a lane that such an execution got while it
 * waited is passed on, if its thread has not come for it yet.
 */
uint32_t nnb__stalls_round(struct nnb__stalls *stalls, bool *ret_waiting);

#endif

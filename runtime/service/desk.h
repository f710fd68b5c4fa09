/*
 * desk.h -- bounds how many calls of an app about whole models the service works on at once.
 *
 * Reading, checking and preparing a model takes cpu time outside of lanes, on the thread of the call's channel, of
 * which an app may have many. An app's desk has few places; a call without one waits. So an app's calls take no more
 * cpu time from others than as many busy processes of that app would.
 *
 * CONCURRENCY  Any thread. The order in which waiting calls get a place is not specified.
 */
#ifndef NNB_SERVICE_DESK_H
#define NNB_SERVICE_DESK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nnb__desk {
	pthread_mutex_t lock;  /* guards busy */
	pthread_cond_t change; /* a place is free, or a client has gone */
	uint32_t places, busy;
};

void nnb__desk_init(struct nnb__desk *desk, uint32_t places);
void nnb__desk_fini(struct nnb__desk *desk);

enum nnb__desk_answer { NNB__DESK_PLACE, NNB__DESK_GONE, NNB__DESK_LATE };

/*
 * Wait for a place. GONE: @gone has become true before, whose setter calls nnb__desk_look afterwards. LATE: @until
 * (by nnb__now; 0: for ever) has passed before.
 */
enum nnb__desk_answer nnb__desk_enter(struct nnb__desk *desk, const atomic_bool *gone, uint64_t until);
void nnb__desk_leave(struct nnb__desk *desk);

/* Have the waiting calls look whether their clients have gone. */
void nnb__desk_look(struct nnb__desk *desk);

#endif

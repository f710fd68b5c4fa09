/*
 * sweep.h -- closing the sockets of clients that are refused, on a thread for all of them: who accepts does not wait.
 */
#ifndef NNB_SERVICE_SWEEP_H
#define NNB_SERVICE_SWEEP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Sockets that wait to be closed, of all users and of one. Beyond that the caller closes its own. */
enum { NNB__SWEEP_MAX = 256, NNB__SWEEP_OF_ONE = 16 };

struct nnb__sweeper {
	pthread_mutex_t lock; /* guards the following fields */
	pthread_cond_t changed;
	pthread_t thread;
	bool runs, ending, ended;
	int last; /* to be closed at the end; -1: nothing */
	uint32_t first, n;
	struct {
		int fd;
		uint32_t uid;
	} queue[NNB__SWEEP_MAX];
};

void nnb__sweeper_init(struct nnb__sweeper *sweeper); /* without its thread */
void nnb__sweeper_fini(struct nnb__sweeper *sweeper); /* its thread has ended, or never began */

/* 0 or -errno. */
int nnb__sweeper_start(struct nnb__sweeper *sweeper);

/* Close @fd, of a client of @uid: soon, or now. */
void nnb__sweeper_close(struct nnb__sweeper *sweeper, int fd, uint32_t uid);

/* Close everything queued, then @last, and end. No thread may sweep any more. */
void nnb__sweeper_end(struct nnb__sweeper *sweeper, int last);

/* Wait for the end until @until_ns, by nnb__now. False: it is not there yet; nnb__sweeper_fini must not be called. */
bool nnb__sweeper_wait(struct nnb__sweeper *sweeper, uint64_t until_ns);

#endif

/*
 * sweep.h -- closes the sockets of refused clients on a thread of its own, so that the accepting thread does not wait.
 */
#ifndef NNB_SERVICE_SWEEP_H
#define NNB_SERVICE_SWEEP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Limits of the queue: sockets of all users, and of one user. Beyond them the caller closes its socket itself. */
enum { NNB__SWEEP_MAX = 256, NNB__SWEEP_OF_ONE = 16 };

struct nnb__sweeper {
	pthread_mutex_t lock; /* guards the following fields */
	pthread_cond_t changed;
	pthread_t thread;
	bool runs, ending, ended;
	int last; /* socket that is closed at the end; -1: no socket */
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

/* Close @fd, the socket of a client of the account @uid: on the thread soon, or at once if the queue is full. */
void nnb__sweeper_close(struct nnb__sweeper *sweeper, int fd, uint32_t uid);

/* Close everything queued, then @last, and end. No thread may sweep any more. */
void nnb__sweeper_end(struct nnb__sweeper *sweeper, int last);

/*
 * Wait until the thread has ended, or until @until_ns of nnb__now. False: it has not; then do not call
 * nnb__sweeper_fini.
 */
bool nnb__sweeper_wait(struct nnb__sweeper *sweeper, uint64_t until_ns);

#endif

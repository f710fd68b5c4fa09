/*
 * waiting.h -- names the program that LTTng waits for, if a request to LTTng takes long.
 *
 * The session daemon asks each program in turn, and waits some seconds for the answer of one that is stopped.
 */
#ifndef BSV_WAITING_H
#define BSV_WAITING_H

#include <pthread.h>
#include <stdbool.h>

struct bsv_waiting {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool runs, is_over; /* runs: there is the thread */
};

/* From now on, until bsv_waiting_end: after a second, report once. Without a thread nothing is reported. */
void bsv_waiting_begin(struct bsv_waiting *w, bool quiet);
void bsv_waiting_end(struct bsv_waiting *w);

#endif

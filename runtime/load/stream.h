/* stream.h -- one thread of a stream: executes when it is time, and counts. */
#ifndef LOAD_STREAM_H
#define LOAD_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include "board.h"
#include "work.h"

/* Shared by all threads of an app. */
struct load_run {
	struct load_board *board;
	struct nnb_client *client;
	pthread_mutex_t lock; /* guards the board's problem and outcomes */
	uint64_t began;       /* CLOCK_MONOTONIC; set before any thread starts */
	atomic_bool stopping;
	int stop; /* an eventfd that can be read from when it is time to stop */
	int idle; /* an eventfd that each thread adds 1 to in the end */
};

/* Shared by the threads of a stream. */
struct load_line {
	struct load_run *run;
	const struct load_stream *stream;
	struct load_work *work;    /* owned */
	struct nnb_remote *remote; /* owned */
	struct load_outcome *outcome;
	atomic_int_least64_t left; /* executions; unless all there is time for */
};

struct load_thread {
	struct load_line *line;
	struct load_figures *figures;
	struct load_log *log; /* NULL if the run keeps no log */
	uint64_t seed;        /* seed of the stream's jitter */
	pthread_t thread;
};

/* The thread's function; @arg is a struct load_thread. */
void *load_thread_main(void *arg);

#endif

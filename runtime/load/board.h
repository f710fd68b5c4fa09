/*
 * board.h -- memory that an app's process shares with its parent: the parent's orders and the app's results.
 *
 * The parent writes the first part before it starts the process. It may read the state and the numbers of executions
 * at any time, and the rest once the process has ended. So the counts of an app that dies are not lost.
 */
#ifndef LOAD_BOARD_H
#define LOAD_BOARD_H

#include <limits.h>
#include <stdatomic.h>

#include "log.h"
#include "nnb/client.h"
#include "scenario.h"
#include "stats.h"

enum load_phase { LOAD_STARTING, LOAD_READY, LOAD_RUNNING, LOAD_FINISHED, LOAD_BROKEN };

struct load_orders {
	uint32_t app; /* index of the app in the scenario */
	uint64_t seed, duration_ns, timeout_ns;
	int64_t executions;
	char name[LOAD_NAME], dir[LOAD_MODEL]; /* as load_scenario_parse takes them */
	char socket[PATH_MAX];                 /* "": the default */
	size_t scenario_bytes, board_bytes;
	uint64_t log_room; /* entries of each thread's log; 0: no log */
};

struct load_outcome { /* the outcome of a stream */
	uint64_t prepare_ns;
	enum nnb_status prepared; /* a missed deadline: then nothing was executed */
	uint32_t remote;          /* the service's number of the model */
	struct nnb_times times;   /* as the service returned them after the last execution */
	bool broken;
	struct nnb_reason reason;                 /* the reason why the stream broke */
	struct nnb_reason reasons[LOAD_STATUSES]; /* by status: the reason of the first execution with it */
};

struct load_board {
	struct load_orders orders;

	atomic_int state; /* enum load_phase */
	int status;       /* if the state is BROKEN: the exit status of nnburst-load */
	struct nnb_reason problem;
	uint64_t began, ended; /* CLOCK_MONOTONIC */
	struct nnb_service_info service;
	/* the service's counts of this app, before its first and after its last execution */
	struct nnb_app_counts before, after;
	bool counted; /* the service has answered both queries */
	struct load_outcome outcomes[LOAD_STREAMS_MAX];
	struct load_figures figures[]; /* figures of each thread, stream by stream; then the threads' logs */
};

static inline size_t load_board_bytes(const struct load_app *app, uint64_t log_room)
{
	return sizeof(struct load_board) + app->n_threads * (sizeof(struct load_figures) + load_log_bytes(log_room));
}

/* NULL if the run keeps no log. */
static inline struct load_log *load_board_log(struct load_board *board, const struct load_app *app, uint32_t thread)
{
	uint64_t room = board->orders.log_room;
	char *logs = (char *)&board->figures[app->n_threads];

	return room ? (struct load_log *)(void *)(logs + thread * load_log_bytes(room)) : NULL;
}

/* The fds an app is started with. */
struct load_fds {
	/* a socket: the app sends a byte when it is ready; the parent answers with the time to begin; its end means
	 * stop */
	int orders;
	int scenario; /* shared memory: the text */
	int board;    /* shared memory: struct load_board */
};

/* Be an app. Returns the exit status. */
int load_app_main(const struct load_fds *fds);

#endif

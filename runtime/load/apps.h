/* apps.h -- the processes of the apps: starts them, has them begin and stop, and collects them. */
#ifndef LOAD_APPS_H
#define LOAD_APPS_H

#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "board.h"

struct load_process {
	pid_t pid; /* 0: not started */
	int orders;
	struct load_board *board; /* NULL: not started */
	bool ready, gone, slow;   /* slow: it did not stop, and was killed */
	int wait_status;
	struct rusage usage;
};

struct load_session {
	const struct load_scenario *scenario;
	const char *text; /* the scenario's text, which the apps parse themselves */
	size_t text_bytes;
	const char *socket; /* NULL: the usual */
	uint64_t seed, duration_ns;
	uint64_t log_room; /* entries of each thread's log; 0: no log */
	bool progress;     /* on standard error */

	struct load_process *processes; /* one for each app */
	uint64_t began, ended;
	bool interrupted;
};

/*
 * Run all apps from beginning to end. Returns the exit status of what kept them from running, with the reason, or
 * DONE: then their boards have the results.
 */
int load_session_run(struct load_session *session, struct nnb_reason *reason);
void load_session_fini(struct load_session *session);

/* Write the log that there is of all apps. How many executions are not in it. */
uint64_t load_session_log(const struct load_session *session, FILE *to);

/* Did the app come to its end as it should? */
bool load_process_fine(const struct load_process *process);

#endif

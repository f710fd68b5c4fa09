/*
 * recorder.h -- recording with LTTng for a benchmark: sessions of a daemon that is the benchmark's own, by LTTng's
 * command line. What fails here ends the run.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdint.h>
#include <sys/types.h>

/* Before all else: be run by @script (tracing.sh), which starts the daemon; it starts this program once more. */
void recorder_inside(const char *script, char **argv);

/*
 * Record the events of @events, some arguments of `lttng enable-event` a string, of these processes and of no
 * others, from now on, with buffers as `lttng enable-channel` gets them by @buffers.
 */
void recorder_start(const char *session, const char *buffers, const char *const events[], const pid_t *pids,
                    size_t n_pids);

/* Buffers for a bench: a second or two without a consumer that empties them. */
#define RECORDER_AMPLE "--subbuf-size=4M --num-subbuf=8"

/* The result of a session. */
struct recorded {
	uint64_t events, lost; /* those in the trace, and those that there was no room for, as LTTng counts them */
	uint64_t bytes;        /* bytes of the files of events */
};

void recorder_stop(const char *session, struct recorded *ret);

/*
 * For a session that was stopped: how many events with a number `exec` there are of each of them, the first @skip
 * executions aside: the most, and the fewest.
 */
void recorder_per_execution(const char *session, unsigned skip, unsigned *ret_fewest, unsigned *ret_most);

/* Its trace is needed no more. */
void recorder_forget(const char *session);

#endif

/*
 * trace_judge.h -- check whether the facts in events about executions can be true: docs/events.md, applied to
 * a trace.
 *
 * Events come in the order of their times. The judge keeps an execution's facts until the execution is over,
 * so its memory depends on the number of executions under way, not on the length of the trace. Each fault is
 * printed in one line.
 */
#ifndef TRACE_JUDGE_H
#define TRACE_JUDGE_H

#include "trace_text.h"

struct judge_terms {
	bool full, compact;    /* each execution must be in this form */
	bool witnessed;        /* each execution must be in the log */
	uint64_t from;         /* not 0: the recording began under load; executions that began before this time
	                        * are not judged */
	bool cut;              /* the recording ended under load, or a process died: executions without an end
	                        * are not judged */
	bool holes;            /* the recorder died, and events are lost: only recorded events can be faults */
	bool own;              /* a process without a service numbers its bursts, and reports no service */
	uint64_t tolerance_ns; /* how far two reports of one time may differ, */
	unsigned strays;       /* except for this many of a thousand: a thread may lose its cpu between the two */
};

/* The facts of an execution from another source: the times of the app's request and answer. */
struct judge_witness {
	uint64_t exec, submitted, returned;
	bool failed, met;
};

/* @witness is borrowed, sorted by exec. */
void judge_begin(const struct judge_terms *terms, struct judge_witness *witness, size_t n_witness);

/*
 * @is_full: boundaries count. Otherwise only exec_client and exec_service count: rare events are in every
 * recording.
 */
void judge_event(const struct text_event *event, bool is_full);

/* Print the totals. Returns whether there was no fault. */
bool judge_end(void);

/* Report a fault that belongs to no execution. */
void judge_object(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

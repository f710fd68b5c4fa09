/*
 * trace_judge.h -- whether the facts in events about executions can be true: docs/events.md, held against a trace.
 *
 * Events come in the order of their times. Of an execution is kept what it takes to judge it, until it is over: so the
 * length of a trace does not matter, only how many executions are under way. Each fault is printed in one line.
 */
#ifndef TRACE_JUDGE_H
#define TRACE_JUDGE_H

#include "trace_text.h"

struct judge_terms {
	bool full, compact;    /* each execution is to be there in this form */
	bool witnessed;        /* the same in the log */
	uint64_t from;         /* not 0: recording began under load: what began before this is not judged */
	bool cut;              /* recording ended under load, or a process died: nor is what has no end */
	bool holes;            /* the recorder died, and events are lost: only what is there can be wrong */
	bool own;              /* a process without a service numbers its bursts, and reports no service */
	uint64_t tolerance_ns; /* by how much two ways to report one time may differ, */
	unsigned strays;       /* all but this many of a thousand: a thread may lose its cpu between the two */
};

/* The facts of an execution from another source: when the app asked and when it had its answer. */
struct judge_witness {
	uint64_t exec, submitted, returned;
	bool failed, met;
};

/* @witness is borrowed, sorted by exec. */
void judge_begin(const struct judge_terms *terms, struct judge_witness *witness, size_t n_witness);

/* @is_full: boundaries count. Otherwise only exec_client and exec_service do: rare events are in every recording. */
void judge_event(const struct text_event *event, bool is_full);

/* Totals to the standard output. Is all well? */
bool judge_end(void);

/* Something is wrong that is no execution's. */
void judge_object(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

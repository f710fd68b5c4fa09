/*
 * importing.h -- the traces and programs for measuring imports: a trace that is recorded here and now, and programs
 * whose time and memory the kernel reports.
 */
#ifndef IMPORTING_H
#define IMPORTING_H

#include <stdint.h>

#include "pair.h"
#include "recorder.h"

enum { PATH_BYTES = 512 };

enum detail { DETAIL_COMPACT, DETAIL_FULL };

/* The contents of a trace, and its place. */
struct trace {
	char path[PATH_BYTES];
	uint32_t executions;
	struct recorded got;
};

/* A service with the null driver, and an app: what fails here ends the run. */
void importing_open(struct pair *p);

/* Record @executions no-op bursts, at a pace at which nothing is lost. */
void importing_record(struct trace *ret, const char *name, enum detail detail, const struct pair *p,
                      uint32_t executions);

struct ran {
	uint64_t ns, peak_bytes;
	int status; /* as of exit; 128 and more: killed by a signal */
};

/* Run a program, found by PATH, to its end; its output is kept in $NNB_TRACES/said. */
struct ran run_program(const char *const argv[]);

/* The same; a status other than 0 ends the run, with its output. */
struct ran must_run(const char *const argv[]);

uint64_t bytes_of(const char *path);

/* The answer of a database to a query for a number. */
double answer_of(const char *db, const char *query);

#endif

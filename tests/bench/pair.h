/*
 * pair.h -- a service, and an app of it: each a process, both of one build and with one provider of tracepoints or
 * none. Any number of pairs may be there at once; one without a request sleeps.
 */
#ifndef PAIR_H
#define PAIR_H

#include <stdint.h>

#include "daemon.h"

struct pair {
	struct daemon service;
	pid_t app;
	int sock;
	uint64_t window_ns;
};

struct pair_config {
	const char *nnburstd, *app; /* programs; app: tracing_app */
	const char *provider;       /* "": nothing is traced */
	const char *driver;
	uint64_t window_ns; /* how both sides of a burst wait: NNB_FMQ_WINDOW_ALWAYS, _NONE or _AUTO */
};

/* The requests to an app, by a burst of its own: to execute, and to report how long that took. */
struct pair_order {
	uint32_t mobilenet; /* its width, in quarters; 0: two small pools, and next to nothing to compute */
	uint32_t warm_up, batches, batch;
	uint32_t per_second; /* not 0: so many executions and no more, as they come due, every millisecond */
	uint64_t window_ns;  /* set by pair_run */
};

/* Each failure here ends the run. */
void pair_open(struct pair *p, const struct pair_config *config);
void pair_close(struct pair *p);

/* Whether both have a file of this name mapped; 1, 0, or -1: one of them has. */
int pair_maps(const struct pair *p, const char *name);

/* Each side on a cpu of its own. @ret: a mean of each batch, in ns. */
void pair_run(const struct pair *p, const struct pair_order *order, double *ret);

#endif

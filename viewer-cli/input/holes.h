/*
 * holes.h -- which of an app's time in a recording was not recorded, or not in full.
 */
#ifndef BSV_HOLES_H
#define BSV_HOLES_H

#include "input/input.h"

struct bsv_holes {
	struct bsv_hole_seen {
		int64_t began, ended;
		char *app; /* it can hide this app's executions only; NULL: anybody's */
	} * of;            /* by began */
	size_t n;
	struct bsv_presence {
		char *app;
		int64_t from, to; /* it had a stream: executions can have been hidden only then */
	} * apps;
	size_t n_apps;
	int64_t began, ended; /* the recording */
};

/* *ret is owned by the caller, for bsv_holes_fini, on failure too. */
int bsv_holes_read(struct bsv_holes *ret, const struct bsv_input *input, struct bsa_err *err);

/* All 0 is fine. */
void bsv_holes_fini(struct bsv_holes *h);

/* The share of the time of @app (a name) that lies in holes, 0 to 1. *ret_touched: there is a hole in it, however short. */
double bsv_holes_share(const struct bsv_holes *h, const char *app, bool *ret_touched);

#endif

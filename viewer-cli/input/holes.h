/*
 * holes.h -- how much of an app's time in a recording was not recorded, or not wholly.
 */
#ifndef BSV_HOLES_H
#define BSV_HOLES_H

#include "input/input.h"

struct bsv_holes {
	struct bsv_hole_seen {
		int64_t began, ended;
		char *app; /* app whose executions the hole can hide; NULL: any app */
	} * of;            /* holes, ordered by began */
	size_t n;
	struct bsv_presence {
		char *app;
		int64_t from, to; /* time with a stream: only then can executions have been hidden */
	} * apps;
	size_t n_apps;
	int64_t began, ended; /* start and end of the recording */
};

/* *ret is owned by the caller, for bsv_holes_fini, also after an error. */
int bsv_holes_read(struct bsv_holes *ret, const struct bsv_input *input, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_holes_fini(struct bsv_holes *h);

/*
 * The share (0 to 1) of the time of the app named @app that lies in holes. *ret_touched: whether
 * any hole touches that time, however short.
 */
double bsv_holes_share(const struct bsv_holes *h, const char *app, bool *ret_touched);

#endif

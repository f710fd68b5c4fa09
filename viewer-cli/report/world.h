/*
 * world.h -- reads what the page draws from a database: executions, lanes, waits, preemptions,
 * causes of misses, losses and lags, as packs.
 *
 * SAMPLES  If there are more executions than the page may have, it has these: those that missed a
 *          deadline, those named by a cause, an inversion or a preemption, those that held a lane
 *          while one that missed waited, and one of each bsv_shown.stride others. The overview
 *          counts all of them.
 * TIMES    are relative to the beginning of the recording, so that a browser's numbers, exact up to
 *          2^53, hold them for 104 days.
 */
#ifndef BSV_REPORT_WORLD_H
#define BSV_REPORT_WORLD_H

#include "input/input.h"

#include <stdio.h>

enum { BSV_OVERVIEW_BINS = 1024, BSV_OVERVIEW_APPS = 8 };

struct bsv_shown {
	int64_t stride; /* 1: all executions are in the page */
	int64_t executions, all;
};

/*
 * Write packs, and the labels that they refer to, to @packs; names and the overview, which are
 * drawn first, to @first. @bytes: how large the page may become, about. @suffix: of the names of
 * packs, overview and labels, so that a page may have two recordings.
 */
int bsv_world_write(struct bsv_shown *ret, struct bsv_input *input, const char *suffix, int64_t bytes, FILE *first,
                    FILE *packs, struct bsa_err *err);

/* JSON of a text, for a script element: no < is in it. */
void bsv_page_text(FILE *to, const char *text);

#endif

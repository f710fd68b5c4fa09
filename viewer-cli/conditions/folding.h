/*
 * folding.h -- the conditions of burstscope watch that take a fold (BSV_BY_FOLD), held against a
 * recording while it grows.
 *
 * It lives in the process that reads the recording (importer/follow.c); what came of each condition
 * goes to the watcher as counters. One thread.
 */
#ifndef BSV_CONDITIONS_FOLDING_H
#define BSV_CONDITIONS_FOLDING_H

#include "bsa/live.h"
#include "conditions/condition.h"

enum { BSV_FOLDED_WHY = 320, BSV_FOLDED_LOST = 96 };

/* The state of a condition since the begin. Times are on the clock of the trace, which is CLOCK_MONOTONIC. */
struct bsv_folded {
	uint64_t fired;    /* silences, waits that were too long, or windows in which the rule failed */
	uint64_t from, to; /* the last window, or silence as far as it was seen; from 0: there was none */
	uint64_t judged;   /* windows: all; for a silence: looks that could have seen one */
	uint64_t unseen;   /* those in which events were lost, */
	uint64_t silent;   /* those in which nothing failed, but a service with requests was silent, */
	uint64_t unsure;   /* windows that could not be judged for another reason: @why; of an inversion: executions */
	uint64_t losses;   /* times of which events were lost, for the reason @lost */
	uint64_t too_late; /* executions that were reported when their windows were no longer kept */
	char why[BSV_FOLDED_WHY];   /* why the last unsure window was not judged; "": there was none */
	char lost[BSV_FOLDED_LOST]; /* why the events of the last loss are missing; "": there was none */
};

struct bsv_folding;

/*
 * @conditions are copied; those that are BSV_BY_EVENT count nothing. BSA_E_ENV: no memory;
 * BSA_E_USAGE. *ret is owned by the caller.
 */
int bsv_folding_new(struct bsv_folding **ret, const struct bsv_condition *conditions, size_t n, uint64_t window_ns,
                    struct bsa_err *err);
struct bsv_folding *bsv_folding_free(struct bsv_folding *f); /* NULL is fine; returns NULL */

/* Set the options of bsa_live_open, except for the directory. */
void bsv_folding_options(struct bsv_folding *f, struct bsa_live_options *ret);

/* @l has looked: judge what is known by now. */
void bsv_folding_look(struct bsv_folding *f, const struct bsa_live *l);

/* @ret: of each condition, in their order. */
void bsv_folding_get(const struct bsv_folding *f, struct bsv_folded ret[BSV_CONDITIONS_MOST]);

#endif

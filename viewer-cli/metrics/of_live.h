/*
 * of_live.h -- the metrics of a recording that still grows, counted as its figures become known.
 *
 * They equal those of the recording's database at the end, with two exceptions: a missed deadline
 * counts for the cause that was found at once, from the typical phases until then, and has no
 * exemplar, because that execution cannot be queried; and a pool counts when its mapping has ended.
 * A process that is followed for months makes any number of apps: apps with the same name count as
 * one.
 *
 * One thread.
 */
#ifndef BSV_METRICS_OF_LIVE_H
#define BSV_METRICS_OF_LIVE_H

#include "bsa/live.h"
#include "metrics/metrics.h"

struct bsv_metrics_of_live;

/* @m is borrowed until it is freed. NULL: no memory. */
struct bsv_metrics_of_live *bsv_metrics_of_live_new(struct bsv_metrics *m);

/* NULL is fine. Returns NULL. */
struct bsv_metrics_of_live *bsv_metrics_of_live_free(struct bsv_metrics_of_live *f);

/* The callbacks for bsa_live_open. */
struct bsa_live_calls bsv_metrics_of_live_calls(struct bsv_metrics_of_live *f);

/* LTTng holds events back until a packet is full. */
void bsv_metrics_of_live_held_back(struct bsv_metrics_of_live *f);

/* Take the metrics that have no callback from @state. */
void bsv_metrics_of_live_state(struct bsv_metrics_of_live *f, const struct bsa_live_state *state);

#endif

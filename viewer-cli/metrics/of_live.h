/*
 * of_live.h -- the metrics of a recording that still grows, counted as its figures become known.
 *
 * They are those of its database once it is over, but for two: a missed deadline counts for the cause that was found at once, by what was typical
 * until then, and has no exemplar, since nobody can ask for that execution; and a pool counts when its mapping has ended. A process that
 * is followed for months makes apps without end: those of one name are one.
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

/* What bsa_live_open is to tell. */
struct bsa_live_tells bsv_metrics_of_live_tells(struct bsv_metrics_of_live *f);

/* What is not told, but stands in its state. */
void bsv_metrics_of_live_state(struct bsv_metrics_of_live *f, const struct bsa_live_state *state);

#endif

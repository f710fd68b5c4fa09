/*
 * prediction.h -- predicts the outcome of a recording under other rules, and how certain that is.
 *
 * INTERVAL  From the lowest to the highest bound of the block bootstraps over time of all replays
 *           (noise.h), and wider by how far the replay under the recorded rules is from what was
 *           recorded (of this group and figure): in points for shares of calls and of lane time,
 *           and by a factor for latencies. An interval of misses is no narrower than the number of
 *           calls with a deadline allows. If no group shows how far the replay is off, the interval
 *           is unknown.
 * TOO FEW   A latency is predicted only if as many executions were served in the recording as the
 *           recorded figure needs: of fewer, the runs, ways and answers that a replay draws from
 *           are too few, and the intervals did not hold (docs/performance.md).
 * EFFECT    Of one figure, the interval against the recorded figure, which has an interval of its
 *           own: a block bootstrap over time.
 */
#ifndef BSV_WHATIF_PREDICTION_H
#define BSV_WHATIF_PREDICTION_H

#include "whatif/trials.h"

enum {
	BSV_DRAWS = 11,
	BSV_P50_LEAST = 20, /* served executions that a median needs */
	BSV_P99_LEAST = 100
};

enum bsv_figure {
	BSV_FIGURE_MISSED, /* percent of the calls of a group */
	BSV_FIGURE_P50,    /* ns, of a group */
	BSV_FIGURE_P99,
	BSV_FIGURE_SHARE /* percent of the lane time, of an app */
};

struct bsv_prediction {
	const struct bsv_past *past;
	struct bsv_group_figures *recorded; /* owned */
	struct bsv_noise recorded_noise;
	/* owned; [0]: under the recorded rules, [1]: under the changed ones */
	struct bsv_group_figures *draws[2][BSV_DRAWS];
	struct bsv_noise noise[BSV_DRAWS]; /* noise of the replays under the changed rules */
};

/* False: no memory; *ret is for bsv_prediction_fini in any case, and borrows @past. */
bool bsv_predict(struct bsv_prediction *ret, const struct bsv_past *past, const struct bsv_whatif_change *change);

/* All 0 is fine. */
void bsv_prediction_fini(struct bsv_prediction *p);

/* @i: a group, or for BSV_FIGURE_SHARE an app. NAN: unknown, because too few calls were served. */
double bsv_prediction_recorded(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

/*
 * How many executions the group @i must have had served in the recording for @figure to be
 * predicted; 0: it is predicted in any case, or there were as many.
 */
unsigned bsv_prediction_lacks(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

/*
 * Were too few executions of the group @i served in a replay for @figure, which is then unknown?
 * *ret_served: how many were, in the replay that had the fewest.
 */
bool bsv_prediction_is_short(const struct bsv_prediction *p, size_t i, enum bsv_figure figure, uint64_t *ret_served);

/*
 * The least and the most of a figure of BSV_DRAWS replays, by seed, and what is predicted: the
 * median. If a thread waited for a single answer, the median is of the replays in which the thread
 * goes on. All are NAN if a value is.
 */
struct bsv_spread bsv_prediction_spread(const struct bsv_past *past, const double *values);

/* Under the recorded rules: of the replays alone. */
struct bsv_spread bsv_prediction_replayed(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

/*
 * Under the changed rules: the median, and the interval; its bounds are NAN if they are unknown,
 * and all is NAN if the prediction lacks executions.
 */
struct bsv_spread bsv_prediction_interval(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

/*
 * "less" or "more": the interval lies wholly below or above that of the recorded figure. "same":
 * the change changes the figure in no replay. "cannot tell": otherwise, and if the prediction lacks
 * executions. NULL: the figure is unknown.
 */
const char *bsv_prediction_effect(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

#endif

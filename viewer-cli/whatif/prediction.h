/*
 * prediction.h -- what would have become of a recording under other rules, and how certain that is.
 *
 * INTERVAL  From the lowest to the highest bound of the block bootstraps over time of all replays (noise.h), and
 *           wider by how far the replay under the recorded rules is from what was recorded (of this group and figure): in points for
 *           shares of calls and of lane time, and by a factor for latencies.
 */
#ifndef BSV_WHATIF_PREDICTION_H
#define BSV_WHATIF_PREDICTION_H

#include "whatif/trials.h"

enum { BSV_DRAWS = 11 };

enum bsv_figure {
	BSV_FIGURE_MISSED, /* percent of the calls of a group */
	BSV_FIGURE_P50,    /* ns, of a group */
	BSV_FIGURE_P99,
	BSV_FIGURE_SHARE /* percent of the lane time, of an app */
};

struct bsv_prediction {
	const struct bsv_past *past;
	struct bsv_group_figures *recorded; /* owned */
	struct bsv_group_figures
		*draws[2][BSV_DRAWS];      /* owned; [0]: under the recorded rules, [1]: under the changed ones */
	struct bsv_noise noise[BSV_DRAWS]; /* of the replays under the changed rules */
};

/* False: no memory; *ret is for bsv_prediction_fini in any case, and borrows @past. */
bool bsv_predict(struct bsv_prediction *ret, const struct bsv_past *past, const struct bsv_whatif_change *change);

/* All 0 is fine. */
void bsv_prediction_fini(struct bsv_prediction *p);

/* @i: a group, or for BSV_FIGURE_SHARE an app. NAN: unknown, because too few calls were served. */
double bsv_prediction_recorded(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

/* Under the recorded rules: of the replays alone. */
struct bsv_spread bsv_prediction_replayed(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

/* Under the changed rules: the median, and the interval. */
struct bsv_spread bsv_prediction_interval(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

/*
 * "less", "more" or "same" if all replays agree, and if the difference exceeds the error of the replay under the recorded rules; otherwise
 * "cannot tell". NULL: the figure is unknown.
 */
const char *bsv_prediction_effect(const struct bsv_prediction *p, size_t i, enum bsv_figure figure);

#endif

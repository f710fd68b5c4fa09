/*
 * compute.h -- how much cpu time the runs of a group take, at one speed of the machine.
 *
 * A machine's cpus are not as fast as they were a minute ago: other guests share their cores, and who was preempted finds its caches used by
 * others. Recordings tell of both: the time of a computation that is always the same (execution.reference_ns), and for which share of their runs
 * threads were ready and had no cpu (run_delay_ns). How the logarithm of a run's cpu time follows these two is found within the recordings: their
 * time is cut into blocks, and a plane is fitted to the blocks, less the mean of their recording. With its slopes each recording is taken
 * to the speed and the crowd that all have in the mean.
 *
 * ASSUMED: what changed between A and B changes neither the reference nor how often others take the cpu; and what holds within
 * recordings holds from one to the next. The reference reads memory that may have left the caches: a model that uses much more or much less memory in
 * B changes it a little, and a part of that change is taken for the machine's.
 */
#ifndef BSV_STATS_COMPUTE_H
#define BSV_STATS_COMPUTE_H

#include "stats/estimate.h"

enum { BSV_COMPUTE_BLOCKS = 16, BSV_REFERENCES_MIN = 16 };

enum { BSV_SPEED, BSV_CROWD, BSV_INFLUENCES }; /* the logarithm of the reference; the share of runs without a cpu */

/* Runs whose cpu time is known. All borrowed. */
struct bsv_computing {
	struct bsv_series cpu, references;
	const int64_t *delay, *run; /* cpu.n each: of the run; delay 0: none, or not known */
};

/* One recording: means, in which the outermost hundredth of times at either end counts as the one before it. */
struct bsv_computed {
	struct bsv_computed_block {
		double cpu, influence[BSV_INFLUENCES], weight; /* cpu: logarithm */
	} all, blocks[BSV_COMPUTE_BLOCKS];
	unsigned n; /* blocks */
};

/* False: there are too few. */
bool bsv_computed_of(struct bsv_computed *ret, const struct bsv_computing *of);

struct bsv_slopes {
	double slope[BSV_INFLUENCES], covariance[BSV_INFLUENCES][BSV_INFLUENCES];
};

/* How much the logarithm of cpu time grows with each influence, over @n recordings. */
struct bsv_slopes bsv_computed_slopes(const struct bsv_computed *of, size_t n);

/* The logarithm of cpu time under these influences. */
struct bsv_estimate bsv_computed_at(const struct bsv_computed *c, const struct bsv_slopes *s,
                                    const double influence[BSV_INFLUENCES]);

/* The variance that the slopes have at influences that are @apart. */
double bsv_slopes_variance(const struct bsv_slopes *s, const double apart[BSV_INFLUENCES]);

#endif

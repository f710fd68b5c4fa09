/*
 * compute.h -- the cpu time of a group's runs, at one speed of the machine.
 *
 * The speed of a machine's cpus changes within minutes: other guests share their cores, and a
 * preempted thread finds its caches used by others. Recordings show both: the time of a computation
 * that is always the same (execution.reference_ns), and the share of their runs for which threads
 * were ready and had no cpu (run_delay_ns). The recordings themselves show how the logarithm of a
 * run's cpu time follows these two influences: their time is cut into blocks, and a plane is fitted
 * to the blocks, less the mean of their recording. Its slopes convert each recording to the mean
 * speed and crowd of all.
 *
 * ASSUMED: the change between A and B affects neither the reference nor how often others take the
 * cpu; and a relation within recordings also holds between them. The reference reads memory that
 * may have left the caches: a model that uses much more or much less memory in B changes the
 * reference a little, and part of that change is then attributed to the machine.
 */
#ifndef BSV_STATS_COMPUTE_H
#define BSV_STATS_COMPUTE_H

#include "stats/estimate.h"

enum { BSV_COMPUTE_BLOCKS = 16, BSV_REFERENCES_MIN = 16 };

enum { BSV_SPEED, BSV_CROWD, BSV_INFLUENCES }; /* the logarithm of the reference; the share of runs without a cpu */

/* Runs with a known cpu time. All borrowed. */
struct bsv_computing {
	struct bsv_series cpu, references;
	const int64_t *delay, *run; /* cpu.n each: delay and length of the run; delay 0: none, or unknown */
};

/* One recording: means over values limited to the 1st and 99th percentile. */
struct bsv_computed {
	struct bsv_computed_block {
		double cpu, influence[BSV_INFLUENCES], weight; /* cpu: logarithm of cpu time */
	} all, blocks[BSV_COMPUTE_BLOCKS];
	unsigned n; /* number of blocks */
};

/* False: too few samples or blocks. */
bool bsv_computed_of(struct bsv_computed *ret, const struct bsv_computing *of);

struct bsv_slopes {
	double slope[BSV_INFLUENCES], covariance[BSV_INFLUENCES][BSV_INFLUENCES];
};

/* How much the logarithm of cpu time grows with each influence, over @n recordings. */
struct bsv_slopes bsv_computed_slopes(const struct bsv_computed *of, size_t n);

/* The logarithm of cpu time at these influences. */
struct bsv_estimate bsv_computed_at(const struct bsv_computed *c, const struct bsv_slopes *s,
                                    const double influence[BSV_INFLUENCES]);

/* The variance that the slopes add to a difference of influences @apart. */
double bsv_slopes_variance(const struct bsv_slopes *s, const double apart[BSV_INFLUENCES]);

#endif

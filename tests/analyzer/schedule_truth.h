/*
 * schedule_truth.h -- the facts that a fold ought to find out of a simulated schedule, worked out the slow way: by
 * looking at everything, for everything, from what the simulator kept and never from its events.
 */
#ifndef SCHEDULE_TRUTH_H
#define SCHEDULE_TRUTH_H

#include "analyzer/collect.h"
#include "analyzer/schedule_sim.h"
#include "fold/fold.h"

/*
 * Facts with numbers of its own: executions, apps, models and streams as they lie in @s, from 1. Of kinds that have
 * to do with executions and lanes alone. @options: as of the fold; windows and thresholds.
 */
void truth_tell(struct collected *ret, const struct sim *s, const struct bsa_fold_options *options);

#endif

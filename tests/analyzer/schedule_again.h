/*
 * schedule_again.h -- the state that services emit again of a simulated schedule when a recording begins in the middle
 * of it (docs/events.md, rule 5).
 */
#ifndef ANALYZER_SCHEDULE_AGAIN_H
#define ANALYZER_SCHEDULE_AGAIN_H

#include "analyzer/schedule_sim.h"

/*
 * The events that services emit at @at, into @ret, which has room for n_events + n_execs of them: what exists then,
 * in the order in which it came, then the state of each execution that a service has. @knows_waits: for each execution
 * that waits, they know since when; otherwise only for those that have been on a lane. Returns how many events there
 * are.
 */
size_t sim_tell_again(const struct sim *s, uint64_t at, bool knows_waits, struct sim_event *ret);

#endif

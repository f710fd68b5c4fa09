/*
 * run.h -- running an execution under the rules: its deadline, its lane, its turn. The one way, whatever path it came.
 */
#ifndef NNB_SCHED_RUN_H
#define NNB_SCHED_RUN_H

#include "nnb/device.h"
#include "nnb/packet.h"
#include "sched/lanes.h"
#include "sched/times.h"

/* Where executions of one model, for one app, run: one at a time, one thread at a time. */
struct nnb__runner {
	struct nnb__seat seat;    /* its lanes are NULL: without any */
	struct nnb__times *times; /* of the model; NULL: nothing is known */
	enum nnb_deadlines deadlines;
	struct nnb__trace untold; /* of who has none: seat.trace points here */
	atomic_uint *trials;      /* of nnb__seed: what counts trial runs in the stream of seat.trace; NULL: no event */
};

/* @lanes, @app and @times may all be NULL. @cancelled: as of a seat. It stays where it is from then on. */
void nnb__runner_init(struct nnb__runner *runner, struct nnb__lanes *lanes, struct nnb__lane_app *app,
                      struct nnb__times *times, uint32_t priority, const atomic_bool *cancelled);

/*
 * Is there any point in beginning? NONE; MISSED_DEADLINE_PERSISTENT: it could not even be done alone, now or ever;
 * MISSED_DEADLINE_TRANSIENT: others are before it.
 */
enum nnb_status nnb__admit(struct nnb__runner *runner, const struct nnb_terms *terms, struct nnb_reason *reason);

/*
 * Run what was begun, on a lane, and make room when asked to. What the execution says; or MISSED_DEADLINE_TRANSIENT; or
 * GENERAL_FAILURE: it was cancelled. @on_device_ns, where it is not NULL, is from its first turn to its end, and
 * written with NONE only.
 */
enum nnb_status nnb__run(struct nnb__runner *runner, struct nnb_execution *execution, const struct nnb_terms *terms,
                         uint64_t *on_device_ns, struct nnb_reason *reason);

/* What trying a model takes of memory; 0: it cannot be tried. */
uint64_t nnb__seed_bytes(const struct nnb_model *model);

/*
 * See how long @prepared takes, on a lane, with zeroes for inputs, until @until (0: not at all) and not for long:
 * runner->times is initialised.
 */
void nnb__seed(struct nnb__runner *runner, struct nnb_prepared *prepared, uint64_t until);

#endif

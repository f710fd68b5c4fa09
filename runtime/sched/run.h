/*
 * run.h -- runs an execution under the rules for lanes and deadlines; every path of execution ends here.
 */
#ifndef NNB_SCHED_RUN_H
#define NNB_SCHED_RUN_H

#include "nnb/device.h"
#include "nnb/packet.h"
#include "sched/lanes.h"
#include "sched/times.h"

/* Runs the executions of one model for one app, one at a time. One thread at a time uses it. */
struct nnb__runner {
	struct nnb__seat seat;    /* seat.lanes NULL: run without lanes */
	struct nnb__times *times; /* the model's times; NULL: unknown */
	enum nnb_deadlines deadlines;
	struct nnb__trace untraced; /* seat.trace points here while there is no other trace */
	atomic_uint *trials; /* counter of trial runs in the stream of seat.trace, for nnb__seed; NULL: no events */
};

/*
 * @lanes, @app and @times may be NULL. @cancelled: like nnb__seat.cancelled. The runner must not be moved in memory
 * afterwards.
 */
void nnb__runner_init(struct nnb__runner *runner, struct nnb__lanes *lanes, struct nnb__lane_app *app,
                      struct nnb__times *times, uint32_t priority, const atomic_bool *cancelled);

/*
 * Admit or refuse an execution. NONE; MISSED_DEADLINE_PERSISTENT: it cannot meet its deadline even on an idle device;
 * MISSED_DEADLINE_TRANSIENT: the queue before it is too long.
 */
enum nnb_status nnb__admit(struct nnb__runner *runner, const struct nnb_terms *terms, struct nnb_reason *reason);

/*
 * Run a begun execution on a lane, and yield the lane when required. Returns the status of the execution; or
 * MISSED_DEADLINE_TRANSIENT; or GENERAL_FAILURE: it was cancelled. *on_device_ns, unless NULL: the time that it had a
 * lane, written with NONE only.
 */
enum nnb_status nnb__run(struct nnb__runner *runner, struct nnb_execution *execution, const struct nnb_terms *terms,
                         uint64_t *on_device_ns, struct nnb_reason *reason);

/*
 * Run an execution that was restarted like the last one of the runner, which nnb__run ran without a deadline and
 * without a time to measure. True: *ret is its status, as of nnb__run. False: nothing has happened, because its lane is
 * not kept, or the run must be timed; call nnb__run.
 */
bool nnb__run_again(struct nnb__runner *runner, struct nnb_execution *execution, enum nnb_status *ret);

/* The memory that trial runs of a model take; 0: no trial run is possible. */
uint64_t nnb__seed_bytes(const struct nnb_model *model);

/*
 * Measure @prepared by trial runs on a lane, with zeroes as inputs, until @until (0: no trial run) and for a limited
 * time. Initialises runner->times.
 */
void nnb__seed(struct nnb__runner *runner, struct nnb_prepared *prepared, uint64_t until);

#endif

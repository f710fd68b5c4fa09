/*
 * run.c -- runs an execution under the rules for lanes and deadlines.
 *
 * An execution is admitted, waits for a lane, and runs one operation at a time. Between two operations the runner
 * checks whether the execution is cancelled, whether it must yield its lane, and whether its deadline can still be
 * met. It reads the clock only if something depends on it. Inside an operation the driver calls
 * run_look for the same checks: an execution that yields there keeps its memory on the device and waits on the
 * driver's stack; one that would have to start over yields only between operations. Any number of runs may wait
 * inside an operation: the memory that they keep is charged to their app (nnb_account).
 *
 * An execution whose thread waits for a page of its app's memory makes no look, and may lose its lane meanwhile
 * (sched/stalls.c). Its thread computes on without a lane once the page has come, and waits for a lane at its next
 * look, inside the operation, whatever --preempt is. If it has no more looks, it ends without another lane.
 *
 * An execution is refused before it begins if its estimate exceeds the limit on work (model/cost.h). If there is no
 * estimate, because a shape is known only during the run, or if the estimate is too low, a look ends the execution
 * after as much cpu time as the limit allows, times the error that an estimate may have.
 */
#include "sched/run.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "driver/execution.h"
#include "memory/gate.h"
#include "model/reason.h"
#include "policy/terms.h"

enum {
	SEEDS = 3,              /* trial runs that measure a model */
	TOUCHED_BYTES = 4096,   /* of their memory: at most a page */
	TOUCHED_PART = 1 << 19, /* between two readings of the clock */
	ESTIMATED_WITHIN = 8,   /* the factor by which an estimate may be wrong (model/cost.h) */
	/* looks for each check of the cpu time: some ms apart, without reading the clock in between */
	LOOKS_A_CHECK = 256
};
#define SEED_AT_MOST_NS 100000000 /* for touching their memory, and again for beginning them */

/* The stretches of a trial run between two looks or checkpoints: their sum, and that of their squares. */
struct stretches {
	double ns, squares;
};

struct run {
	struct nnb__runner *runner;
	struct nnb_execution *execution;
	uint64_t deadline; /* the deadline for which the run is given up; NNB__NEVER: none */
	uint64_t stop_at;  /* end of the time for trial runs; NNB__NEVER otherwise */
	uint64_t loop_ns;  /* timeout of each loop; 0: the default */
	uint64_t asked_ns; /* the caller's deadline, even if the run is not given up for it; 0: no deadline */
	uint64_t most_ns;  /* limit of cpu time inside operations; 0: no limit */
	uint64_t looked;   /* time of the first check of it, or 0 ... */
	uint64_t cpu;      /* ... and the thread's cpu time then */
	uint32_t looks;
	uint64_t *op_ns;             /* trial runs: the time of each operation. NULL otherwise */
	struct stretches *stretches; /* likewise */
	uint64_t asked;              /* trial runs: time of the last look */
	bool watched;                /* the clock is read at every checkpoint */
	uint64_t last;               /* if watched: time of the last checkpoint, or of the start on the lane */
	uint64_t longest;            /* if watched: longest time between two checkpoints */
	enum nnb_status stopped;
	bool inside;                 /* the run was stopped inside an operation */
	bool off_lane;               /* the run was stopped inside an operation, and has lost its lane */
	struct nnb_reason *reason;   /* the reason of a failure inside an operation */
	uint64_t carry;              /* trial runs: time of the current operation before the run yielded */
	bool broken;                 /* the run has been off its lane in between */
	struct nnb__times_now times; /* of the runner's times, when the run began */
	bool timed;                  /* read the clock: when it begins and ends, and is off its lane */
	uint64_t ended, off_ns;      /* end of the run, and the time off its lane in between; 0: it is not timed */
	/* after starting over, for events: operations before redo_until are done again, since redo_from */
	uint32_t redo_until;
	uint64_t redo_from, redo_ns;
};

/*
 * *run = { 0 }. For a whole struct of this size gcc chooses a string instruction, which starts slowly; for pieces,
 * a few stores.
 */
static inline void run_clear(struct run *run)
{
	enum { PIECE = 64, PIECES = sizeof(*run) / PIECE, REST = sizeof(*run) % PIECE };
	char *at = (char *)run;

	for (int i = 0; i < PIECES; i++)
		memset(at + (size_t)i * PIECE, 0, PIECE);
	memset(at + (size_t)PIECES * PIECE, 0, REST);
}

void nnb__runner_init(struct nnb__runner *r, struct nnb__lanes *lanes, struct nnb__lane_app *app,
                      struct nnb__times *times, uint32_t priority, const atomic_bool *cancelled)
{
	r->times = times;
	r->deadlines = lanes ? lanes->deadlines : NNB_DEADLINES_ABORT;
	nnb__seat_init(&r->seat, lanes, app, priority, cancelled);
	r->untraced = (struct nnb__trace){ 0 };
	r->seat.trace = &r->untraced;
	r->trials = NULL;
}

/* ---- deadlines ---- */

static uint64_t least_left(const struct nnb__runner *r, uint32_t op)
{
	return r->times ? nnb__times_least(r->times, op) : 0;
}

static struct nnb__lane_app *app_of(const struct nnb__runner *r)
{
	return (struct nnb__lane_app *)r->seat.job.app;
}

static void trace_missed(const struct nnb__runner *r, uint64_t deadline_ns, enum nbt_miss kind, enum nbt_stage stage)
{
	struct nnb__trace *t = r->seat.trace;
	uint64_t estimate = r->times ? atomic_load_explicit(&r->times->estimate_ns, memory_order_relaxed) : 0;

	if (r->seat.lanes)
		nnb__trace_numbered(r->seat.trace, &r->seat.lanes->numbers);
	if (nbt_on(NBT_EVENT_deadline_miss))
		nnb__trace_missed(t, kind, stage, estimate, (int64_t)(nnb__now() - deadline_ns));
}

static enum nnb_status deadline_missed(const struct nnb__runner *r, uint64_t deadline_ns, enum nnb_status status,
                                       enum nbt_stage stage, const char *why, struct nnb_reason *reason)
{
	struct nnb__lane_app *app = app_of(r);
	bool persistent = status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT;

	if (app)
		atomic_fetch_add_explicit(persistent ? &app->missed_persistent : &app->missed_transient, 1,
		                          memory_order_relaxed);
	trace_missed(r, deadline_ns, persistent ? NBT_miss_persistent : NBT_miss_transient, stage);
	nnb_because(reason, "%s", why);
	return status;
}

enum nnb_status nnb__admit(struct nnb__runner *r, const struct nnb_terms *terms, struct nnb_reason *reason)
{
	uint64_t now, floor;
	enum nnb__admission admission;

	if (!terms->deadline_ns || r->deadlines == NNB_DEADLINES_ADVISE)
		return NNB_STATUS_NONE;
	now = nnb__now();
	floor = least_left(r, 0);
	admission = nnb__admission(r->deadlines, terms->deadline_ns, now, floor, 0);
	if (admission == NNB__ADMITTED && r->seat.lanes) {
		r->seat.job.deadline_ns = terms->deadline_ns;
		admission =
			nnb__admission(r->deadlines, terms->deadline_ns, now, floor, nnb__lanes_wait(&r->seat, now));
	}
	switch (admission) {
	case NNB__PASSED:
		return deadline_missed(r, terms->deadline_ns, NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
		                       NBT_stage_admission, "the deadline has passed", reason);
	case NNB__TOO_LONG:
		return deadline_missed(r, terms->deadline_ns, NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
		                       NBT_stage_admission,
		                       "the model takes longer than until the deadline, even alone", reason);
	case NNB__TOO_FULL:
		return deadline_missed(r, terms->deadline_ns, NNB_STATUS_MISSED_DEADLINE_TRANSIENT, NBT_stage_admission,
		                       "the queue before it lasts past the deadline", reason);
	default:
		return NNB_STATUS_NONE;
	}
}

/* The time after which running from operation @op cannot meet the deadline. */
static uint64_t latest_start(const struct run *run, uint32_t op)
{
	return run->deadline == NNB__NEVER ? NNB__NEVER : nnb__too_late(run->deadline, least_left(run->runner, op));
}

/* ---- checkpoints ---- */

static bool run_is_cancelled(const struct nnb__runner *r)
{
	return r->seat.cancelled && atomic_load_explicit(r->seat.cancelled, memory_order_relaxed);
}

/* A trial run is asked here whether it continues, by a look or at a checkpoint. */
static void note_look(struct run *run, uint64_t now)
{
	double ns = (double)(now - (run->asked > run->last ? run->asked : run->last));

	run->asked = now;
	run->stretches->ns += ns;
	run->stretches->squares += ns * ns;
}

static void note_stretch(struct run *run, uint32_t op, uint64_t now)
{
	uint64_t ns = now - run->last;

	if (run->stretches)
		note_look(run, now);
	run->last = now;
	if (ns > run->longest)
		run->longest = ns;
	ns += run->carry;
	run->carry = 0;
	if (run->op_ns && (!run->op_ns[op] || ns < run->op_ns[op]))
		run->op_ns[op] = ns ? ns : 1;
}

/* The time at which a run before operation @next is given up, or a trial run has taken long enough. */
static uint64_t give_up_time(const struct run *run, uint32_t next)
{
	uint64_t at = latest_start(run, next);

	return at < run->stop_at ? at : run->stop_at;
}

/* Whether to continue with operation @next on this lane. */
static bool run_continues(struct run *run, uint32_t next)
{
	struct nnb__seat *seat = &run->runner->seat;
	uint64_t yield_at = atomic_load_explicit(&seat->yield_at, memory_order_relaxed), now;

	if (run_is_cancelled(run->runner)) {
		run->stopped = NNB_STATUS_GENERAL_FAILURE;
		return false;
	}
	if (yield_at == NNB__NEVER && run->deadline == NNB__NEVER && !run->watched)
		return true;
	now = nnb__now();
	if (run->watched)
		note_stretch(run, next - 1, now);
	switch (nnb__at_checkpoint(now, give_up_time(run, next), yield_at)) {
	case NNB__GIVES_UP:
		run->stopped = NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
		return false;
	case NNB__IS_ASKED:
		return !nnb__lanes_yields(seat, now);
	default:
		return true;
	}
}

/* The run has done again what it had done before it started over. */
static void end_redo(struct run *run)
{
	assert(run->redo_until);
	run->redo_ns = nnb__now() - run->redo_from;
	run->redo_until = 0;
}

static void trace_op_end(const struct run *run, uint32_t op)
{
	NNB__EMIT(run->runner->seat.trace, op_end, .op = (uint16_t)op,
	          .type = nnb__execution_op_type(run->execution, op));
}

/* ---- lanes ---- */

static enum nnb_status run_late(const struct run *run, enum nbt_stage stage, const char *why, struct nnb_reason *reason)
{
	if (run->op_ns) /* a trial run that has taken long enough misses no deadline */
		return NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
	return deadline_missed(run->runner, run->asked_ns, NNB_STATUS_MISSED_DEADLINE_TRANSIENT, stage, why, reason);
}

static enum nnb_status wait_status(const struct run *run, int error, struct nnb_reason *reason)
{
	switch (error) {
	case 0:
		return NNB_STATUS_NONE;
	case -ETIMEDOUT:
		return run_late(run, NBT_stage_queue,
		                "the wait for a lane lasted until the deadline could no longer be met", reason);
	default:
		nnb_because(reason, "the execution was cancelled: its app is gone");
		return NNB_STATUS_GENERAL_FAILURE;
	}
}

/* The run is on a lane again. If it starts @over, the operations before @next are done again. */
static void trace_resumed(struct run *run, bool over, uint32_t next)
{
	struct nnb__seat *seat = &run->runner->seat;

	nnb__trace_resumed(seat->trace, (uint32_t)seat->job.lane, over ? 0 : next, over);
	if (over && seat->trace->exec && nbt_on(NBT_EVENT_sched_resume)) {
		run->redo_until = next > run->redo_until ? next : run->redo_until;
		run->redo_from = nnb__now(); /* after the event, because emitting it is part of the stretch */
	}
}

/*
 * Another thread took the lane away, and emitted that. What this stretch has done again counts nowhere: it ended at a
 * moment that this thread did not see.
 */
static void note_loss(struct run *run)
{
	run->runner->seat.trace->preemptions++;
	run->redo_until = 0;
	run->redo_ns = 0;
	run->broken = true;
}

/*
 * Yield the lane, and wait for one again, unless no other execution wants it any more. *on_lane: whether the run has
 * a lane afterwards. @left_from: the first operation of which nothing is done yet; how much is left of a current one
 * is unknown.
 */
static enum nnb_status lane_yield(struct run *run, uint32_t left_from, bool *on_lane, struct nnb_reason *reason)
{
	struct nnb__seat *seat = &run->runner->seat;
	bool over = !nnb__lanes_lost(seat) && seat->lanes->policy.preempt == NNB_PREEMPT_RESTART, left;
	uint32_t next = nnb_execution_next_op(run->execution);
	uint64_t until = latest_start(run, over ? 0 : left_from), yields_at = run->timed ? nnb__now() : 0;
	enum nnb_status status;

	if (run->redo_until)
		run->redo_ns = nnb__now() - run->redo_from; /* the whole stretch was done again */
	atomic_store_explicit(&seat->next_op, next, memory_order_relaxed);
	seat->redo_ns = run->redo_ns;
	nnb__trace_delayed(seat->trace, NNB__DELAY_RUN); /* off the lane, delays are not those of the run */
	status = wait_status(run, nnb__lanes_yield(seat, until, &left), reason);
	if (seat->regains) { /* also if the lane was lost in the last moment */
		note_loss(run);
		over = false;
	}

	nnb__trace_delay(seat->trace);
	*on_lane = !status;
	run->broken |= left;
	if (run->timed && left)
		run->off_ns += nnb__now() - (seat->regains ? seat->regains_since : yields_at);
	if (left)
		run->redo_ns = 0; /* the preemption event has reported it */
	if (status)
		run->redo_until = 0;
	if (!status && left)
		trace_resumed(run, over, next);
	if (!status && left && over)
		status = nnb_execution_restart(run->execution);
	if (run->watched && left)
		run->last = run->op_ns ? nnb__now() : seat->job.since;
	return status;
}

/* ---- inside an operation ---- */

/* Yield inside an operation, which keeps what it has computed. */
static bool lane_yield_inside(struct run *run, uint64_t now)
{
	bool on_lane;

	if (run->watched)
		run->carry += now - run->last;
	run->stopped = lane_yield(run, nnb_execution_next_op(run->execution) + 1, &on_lane, run->reason);
	if (run->watched && on_lane)
		run->last = nnb__now();
	run->inside = run->stopped;
	run->off_lane = !on_lane;
	return !run->stopped;
}

/* Whether the run has used more cpu time than any execution may. Waiting for a lane uses none. */
static bool work_exceeded(struct run *run, uint64_t now)
{
	if (!run->looked) {
		run->looked = now;
		run->cpu = nnb__cpu_now();
		return false;
	}
	return now - run->looked > run->most_ns && nnb__cpu_now() - run->cpu > run->most_ns;
}

static bool run_stop_inside(struct run *run, enum nnb_status status)
{
	run->stopped = status;
	run->inside = true;
	return false;
}

/* Called by the driver inside an operation: whether it must continue. */
static bool run_look(void *arg)
{
	struct run *run = arg;
	struct nnb__seat *seat = &run->runner->seat;
	uint64_t yield_at = atomic_load_explicit(&seat->yield_at, memory_order_relaxed), now;
	bool due = run->most_ns && ++run->looks % LOOKS_A_CHECK == 0;

	if (run_is_cancelled(run->runner))
		return run_stop_inside(run, NNB_STATUS_GENERAL_FAILURE);
	if (yield_at == NNB__NEVER && run->deadline == NNB__NEVER && run->stop_at == NNB__NEVER && !due)
		return true;
	now = nnb__now();
	if (nnb__lanes_lost(seat))
		return lane_yield_inside(run, now);
	if (run->stretches)
		note_look(run, now);
	if (due && work_exceeded(run, now)) {
		nnb_because(run->reason,
		            "the execution used %.3g s of cpu time, the limit of one execution (limit work)",
		            (double)run->most_ns / 1e9);
		return run_stop_inside(run, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	}
	switch (nnb__at_checkpoint(now, give_up_time(run, nnb_execution_next_op(run->execution) + 1), yield_at)) {
	case NNB__GIVES_UP:
		return run_stop_inside(run, NNB_STATUS_MISSED_DEADLINE_TRANSIENT);
	case NNB__IS_ASKED:
		return !nnb__leaves_inside(seat->lanes->policy.preempt) || !nnb__lanes_yields(seat, now) ||
		       lane_yield_inside(run, now);
	default:
		return true;
	}
}

/* Called between two operations: whether to go on with operation @next on this lane. */
static bool run_checkpoint(void *arg, uint32_t next)
{
	struct run *run = arg;
	bool on;

	assert(next);
	atomic_store_explicit(&run->runner->seat.next_op, next, memory_order_relaxed);
	if (nnb__lanes_lost(&run->runner->seat) && !lane_yield_inside(run, nnb__now()))
		return false;
	trace_op_end(run, next - 1);
	if (__builtin_expect(run->redo_until && next >= run->redo_until, 0))
		end_redo(run);
	on = run_continues(run, next);
	NNB__EMIT(run->runner->seat.trace, checkpoint, .op = (uint16_t)next, .flag = on);
	return on;
}

/* Run to the end, stretch by stretch. *on_lane: whether the run has a lane afterwards. */
static enum nnb_status run_stretches(struct run *run, bool *on_lane, struct nnb_reason *reason)
{
	enum nnb_status status;
	bool finished;

	*on_lane = true;
	for (;;) {
		if (run_is_cancelled(run->runner)) /* the caller cancelled it while it waited, or since */
			return wait_status(run, -ECANCELED, reason);
		status = nnb__execution_compute(run->execution, run_checkpoint, run, &finished);
		if (run->inside) {
			*on_lane = !run->off_lane;
			return run->stopped == NNB_STATUS_MISSED_DEADLINE_TRANSIENT && *on_lane
			               ? run_late(run, NBT_stage_running,
			                          "at a checkpoint the deadline could no longer be met", reason)
			               : run->stopped;
		}
		if (status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT) /* from the driver: the timeout of a loop */
			nnb_because(reason, "a loop in operation %u exceeded the loop timeout",
			            nnb_execution_next_op(run->execution));
		else if (status)
			nnb_because(reason, "running the model failed at operation %u",
			            nnb_execution_next_op(run->execution));
		if (finished && !status &&
		    !nnb__lanes_lost(&run->runner->seat)) /* events of operations are on a lane */
			trace_op_end(run, nnb_execution_next_op(run->execution) - 1);
		if (finished && !status && run->watched)
			note_stretch(run, nnb_execution_next_op(run->execution) - 1, nnb__now());
		if (status || finished)
			return status;
		if (run->stopped == NNB_STATUS_MISSED_DEADLINE_TRANSIENT)
			return run_late(run, NBT_stage_running, "at a checkpoint the deadline could no longer be met",
			                reason);
		if (run->stopped)
			return run->stopped;
		status = lane_yield(run, nnb_execution_next_op(run->execution), on_lane, reason);
		if (status)
			return status;
	}
}

/* Called by the driver at the end of each iteration of a loop. */
static void trace_iteration(void *arg, uint32_t op, uint32_t depth, uint64_t iteration)
{
	const struct run *run = arg;

	if (nnb__lanes_lost(&run->runner->seat)) /* this event is on a lane */
		return;
	NNB__EMIT(run->runner->seat.trace, loop_iteration, .op = (uint16_t)op, .depth = (uint8_t)depth,
	          .iteration = iteration);
}

static enum nnb_status run_observed(struct run *run, bool *on_lane, struct nnb_reason *reason)
{
	uint64_t limit = nnb__execution_work_limit(run->execution);
	enum nnb_status status;

	run->reason = reason;
	run->most_ns = limit < UINT64_MAX / ESTIMATED_WITHIN ? limit * ESTIMATED_WITHIN : 0;
	nnb__execution_look(run->execution, run_look, run);
	nnb__execution_loops(run->execution, run->loop_ns, trace_iteration, run);
	nnb__execution_deadline(run->execution, run->asked_ns);
	status = run_stretches(run, on_lane, reason);
	nnb__execution_loops(run->execution, 0, NULL, NULL);
	nnb__execution_deadline(run->execution, 0);
	nnb__execution_look(run->execution, NULL, NULL);
	return status;
}

static void trace_ended(struct run *run, enum nnb_status status, bool on_lane, uint64_t cpu)
{
	struct nnb__trace *t = run->runner->seat.trace;

	if (cpu != NNB__NEVER_REACHED)
		cpu = nnb__cpu_now() - cpu;
	nnb__trace_delayed(t, NNB__DELAY_RUN);
	if (run->redo_until)
		end_redo(run);
	t->redo_ns += run->redo_ns;
	if (run->op_ns && on_lane && status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT)
		status = NNB_STATUS_NONE; /* a trial run that was cut short has served its purpose */
	if (!status && run->ended && run->asked_ns && run->ended >= run->asked_ns)
		trace_missed(run->runner, run->asked_ns, NBT_miss_late, NBT_stage_done);
	nnb__trace_ended(t, status, nnb_execution_next_op(run->execution), cpu);
}

/* Wait for a lane, then run on it. If the run is timed, *began is the time of the start. */
static enum nnb_status run_on_lane(struct run *run, uint64_t until, uint64_t *began, struct nnb_reason *reason)
{
	struct nnb__runner *r = run->runner;
	struct nnb__trace *t = r->seat.trace;
	bool counts = r->seat.lanes && nbt_on(NBT_EVENT_sched_enqueue), on_lane = true, asked;
	uint32_t ahead = counts ? nnb__lanes_announce(&r->seat) : 0;
	uint64_t lost_at, cpu;
	enum nnb_status status;

	nnb__trace_delayed(t, NNB__DELAY_DECODE);
	nnb__trace_enqueued(t, run->times.estimate_ns, r->seat.job.floor_ns, ahead);
	if (r->seat.lanes) {
		status = wait_status(run, nnb__lanes_take(&r->seat, until), reason);
		if (status)
			return status;
	}
	/* read the thread's cpu time if the model runs long enough to afford that (docs/events.md) */
	asked = run->times.is_long && t->exec && (t->compact || nbt_on(NBT_EVENT_exec_end));
	nnb__trace_dispatched(t, r->seat.job.lane == NNB__NO_LANE ? NNB__NO_LANES : (uint32_t)r->seat.job.lane);
	nnb__trace_reads_delay(t, run->times.is_long);
	cpu = asked ? nnb__cpu_now() : NNB__NEVER_REACHED;
	*began = 0;
	if (__builtin_expect(run->timed, 0)) { /* every run that is watched is timed */
		*began = nnb__now();
		run->last = r->seat.lanes && r->seat.job.since && !run->op_ns ? r->seat.job.since : *began;
	}
	if (run->timed && *began >= until)
		status = run_late(run, NBT_stage_queue, "a lane came too late to meet the deadline", reason);
	else
		status = run_observed(run, &on_lane, reason);
	run->ended = run->timed ? nnb__now() : 0;
	/* no event of a loss may come after that of the end */
	if (on_lane && r->seat.lanes && (nbt_on(NBT_EVENT_sched_preempt) || nnb__lanes_lost(&r->seat)) &&
	    !nnb__lanes_end(&r->seat, &lost_at)) {
		note_loss(run);
		run->off_ns += run->ended > lost_at ? run->ended - lost_at : 0;
		on_lane = false;
	}
	trace_ended(run, status, on_lane, cpu);
	if (r->seat.lanes && on_lane)
		nnb__lanes_give(&r->seat);
	return status;
}

/* If outputs overlap inputs, a second attempt would read outputs of the first: forbid starting over. */
static __attribute__((noinline)) uint32_t restarts_before(const struct run *run)
{
	return nnb__execution_can_restart(run->execution) ? 0 : NNB__RESTARTS_MAX;
}

static inline void prepare_to_leave(struct run *run)
{
	struct nnb__seat *seat = &run->runner->seat;
	bool starts_over = seat->lanes && seat->lanes->policy.preempt == NNB_PREEMPT_RESTART;

	seat->job.restarts = starts_over ? restarts_before(run) : 0;
}

/*
 * The run has ended, and its lane is given back. If its outputs must be flushed to a file, do that now: a disk may
 * take long, and the app chooses the file. The thread that got the lane does not wait for it.
 */
static enum nnb_status publish_outputs(struct nnb__runner *r, struct nnb_execution *e, struct nnb_reason *reason)
{
	enum nnb_status status;

	if (__builtin_expect(!nnb__execution_is_computed(e), 1))
		return NNB_STATUS_NONE;
	nnb__lanes_wake(&r->seat);
	status = nnb__execution_publish(e);
	if (status)
		nnb_because(reason, "the outputs cannot be written to their file");
	return status;
}

enum nnb_status nnb__run(struct nnb__runner *r, struct nnb_execution *e, const struct nnb_terms *terms,
                         uint64_t *on_device_ns, struct nnb_reason *reason)
{
	uint64_t deadline = terms->deadline_ns ? terms->deadline_ns : NNB__NEVER;
	uint64_t began, until;
	enum nnb_status status;
	struct run run;

	run_clear(&run);
	run.runner = r;
	run.execution = e;
	run.deadline = nnb__given_up_for(r->deadlines, deadline);
	run.loop_ns = terms->loop_timeout_ns;
	run.asked_ns = terms->deadline_ns;
	run.stop_at = NNB__NEVER;
	if (r->times)
		run.times = nnb__times_now(r->times);
	if (r->seat.trace == &r->untraced) /* a runner may run again */
		nnb__trace_begin(&r->untraced, 0);
	r->seat.job.deadline_ns = terms->deadline_ns ? nnb__ordered_by(deadline, nnb__now()) : NNB__NEVER;
	r->seat.job.floor_ns = run.times.least_ns;
	until = nnb__waits_until(r->deadlines, deadline, r->seat.job.floor_ns);
	run.watched = run.times.is_long;
	run.timed = run.watched || on_device_ns || terms->deadline_ns || (r->times && nnb__times_due(r->times));
	prepare_to_leave(&run);
	nnb__lanes_slice(app_of(r), run.watched);
	status = run_on_lane(&run, until, &began, reason);
	if (run.watched && run.ended && r->seat.lanes)
		nnb__lanes_worked(r->seat.lanes, app_of(r), run.ended, run.ended - began - run.off_ns);
	if (!status)
		status = publish_outputs(r, e, reason);
	if (status || !run.timed)
		return status;
	if (on_device_ns)
		*on_device_ns = run.ended - began - run.off_ns;
	if (r->times && !run.broken)
		nnb__times_learn(r->times, run.ended - began);
	if (run.watched)
		nnb__times_stretch(r->times, run.longest);
	if (terms->deadline_ns && run.ended >= terms->deadline_ns && app_of(r))
		atomic_fetch_add_explicit(&app_of(r)->late, 1, memory_order_relaxed);
	return NNB_STATUS_NONE;
}

bool nnb__run_again(struct nnb__runner *r, struct nnb_execution *e, enum nnb_status *ret)
{
	struct nnb__seat *seat = &r->seat;
	bool on_lane = true;
	uint64_t lost_at;
	struct run run;

	if (seat->lanes && !nnb__lanes_kept(seat))
		return false;
	if (r->times && !nnb__times_pass(r->times))
		return false;
	run_clear(&run);
	run.runner = r;
	run.execution = e;
	run.deadline = run.stop_at = NNB__NEVER;
	prepare_to_leave(&run);
	if (seat->trace == &r->untraced)
		nnb__trace_begin_again(&r->untraced, 0);
	*ret = seat->lanes ? wait_status(&run, nnb__lanes_take(seat, NNB__NEVER), NULL) : NNB_STATUS_NONE;
	if (*ret)
		return true;
	/* A session that has begun since the server looked finds the execution on its lane, and hears of its end. */
	nnb__trace_dispatched(seat->trace, seat->job.lane == NNB__NO_LANE ? NNB__NO_LANES : (uint32_t)seat->job.lane);
	*ret = run_observed(&run, &on_lane, NULL);
	if (on_lane && seat->lanes && (nbt_on(NBT_EVENT_sched_preempt) || nnb__lanes_lost(seat)) &&
	    !nnb__lanes_end(seat, &lost_at)) {
		note_loss(&run);
		on_lane = false;
	}
	trace_ended(&run, *ret, on_lane, NNB__NEVER_REACHED);
	if (seat->lanes && on_lane)
		nnb__lanes_give(seat);
	return true;
}

/* ---- seeds ---- */

/*
 * Place the arguments in one pool, inputs first; write them into @a unless it is NULL. Returns the bytes; 0: too
 * many.
 */
static uint64_t arguments_lay_out(const struct nnb_model *m, struct nnb_argument *a)
{
	uint64_t at = 0, bytes;

	for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
		const struct nnb_operand *o =
			&m->operands[i < m->n_inputs ? m->inputs[i] : m->outputs[i - m->n_inputs]];

		if (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || at + bytes > UINT32_MAX)
			return 0;
		if (a)
			a[i].location = (struct nnb_location){ .offset = (uint32_t)at, .length = (uint32_t)bytes };
		at = (at + bytes + 63) / 64 * 64;
	}
	return at ? at : 64;
}

uint64_t nnb__seed_bytes(const struct nnb_model *m)
{
	return arguments_lay_out(m, NULL);
}

static int seed_request(const struct nnb_model *m, struct nnb_request *ret, struct nnb_memory *pool)
{
	struct nnb_argument *a = calloc((size_t)m->n_inputs + m->n_outputs + 1, sizeof(*a));
	uint64_t bytes;
	int r;

	if (!a)
		return -ENOMEM;
	bytes = arguments_lay_out(m, a);
	r = bytes ? nnb_memory_ashmem(pool, bytes) : -EOVERFLOW;
	if (r) {
		free(a);
		return r;
	}
	*ret = (struct nnb_request){ .inputs = a,
		                     .outputs = a + m->n_inputs,
		                     .n_inputs = m->n_inputs,
		                     .n_outputs = m->n_outputs,
		                     .n_pools = 1,
		                     .pools = pool };
	return 0;
}

/* One trial run. Returns its cpu time; *whole: it ran to the end. */
static uint64_t seed_once(struct nnb__runner *r, struct nnb_prepared *prepared, const struct nnb_request *request,
                          struct nnb_mapping *mapping, uint64_t *op_ns, uint64_t until, bool *whole,
                          uint64_t *ret_look_ns)
{
	struct stretches stretches = { 0 };
	struct run run = { .runner = r,
		           .deadline = NNB__NEVER,
		           .op_ns = op_ns,
		           .stretches = &stretches,
		           .watched = true,
		           .timed = true };
	uint64_t began, cpu, exec = 0; /* the number of the trial run in the stream of its connection; 0: no events */
	enum nnb_status status;

	*whole = false;
	if (nnb_execution_begin(prepared, request, &mapping, false, NULL, &run.execution, NULL))
		return 0;
	if (r->trials)
		exec = nnb__exec_of(r->seat.trace->who.stream,
		                    atomic_fetch_add_explicit(r->trials, 1, memory_order_relaxed) + 1);
	nnb__trace_begin_trial(r->seat.trace, exec);
	prepare_to_leave(&run);
	run.stop_at = until;
	cpu = nnb__cpu_now();
	status = run_on_lane(&run, run.stop_at, &began, NULL);
	cpu = nnb__cpu_now() - cpu;
	nnb_execution_end(run.execution);
	nnb__trace_refused(r->seat.trace, status);
	nnb__trace_end(r->seat.trace);
	*whole = !status;
	if (*whole && stretches.ns > 0)
		*ret_look_ns = (uint64_t)(stretches.squares / stretches.ns);
	return cpu;
}

/* Map a pool of the service's own, which waits for no file of the app. NULL: it cannot be mapped. */
static struct nnb_mapping *map_own(const struct nnb_memory *pool)
{
	struct nnb__gate *gate = nnb__gate_swap(NULL);
	struct nnb_mapping *mapping;
	int r = nnb_map(&mapping, pool);

	nnb__gate_swap(gate);
	return r ? NULL : mapping;
}

/* When trial runs that begin now, or the touching of their memory, have taken long enough: @until at the latest. */
static uint64_t seed_end(uint64_t until)
{
	uint64_t end = nnb__now() + SEED_AT_MOST_NS;

	return end < until ? end : until;
}

/*
 * Make the pages of the mapping before the runs have a lane, but not for longer than @until: a run that makes them
 * looks much less often than one that computes, and the executions that wait for its lane wait for that.
 */
static void seed_touch(const struct nnb__runner *r, struct nnb_mapping *mapping, uint64_t until)
{
	volatile char *data = nnb_mapping_data(mapping);
	uint64_t bytes = nnb_mapping_size(mapping);

	for (uint64_t at = 0; at < bytes; at += TOUCHED_BYTES) {
		if (at % TOUCHED_PART == 0 && (nnb__now() >= until || run_is_cancelled(r)))
			return;
		data[at] = 0;
	}
}

void nnb__seed(struct nnb__runner *r, struct nnb_prepared *prepared, uint64_t until)
{
	const struct nnb_model *m = nnb_prepared_model(prepared);
	struct nnb__times *times = r->times;
	uint64_t *op_ns = calloc(m->n_operations, sizeof(*op_ns)), least_ns = 0, look_ns = 0, ns;
	bool whole = false, ever = false, fixed = nnb__prepared_is_fixed(prepared);
	struct nnb_mapping *mapping = NULL; /* one mapping for all runs, so that page faults are not measured */
	struct nnb_request request;
	struct nnb_memory pool;

	r->times = NULL; /* no times exist yet by which to judge the trial runs */
	if (until && op_ns && fixed && !seed_request(m, &request, &pool)) {
		mapping = map_own(&pool);
		if (mapping)
			seed_touch(r, mapping, seed_end(until));
		until = seed_end(until);
		for (int i = 0; mapping && i < SEEDS && (whole || !i); i++) {
			ns = seed_once(r, prepared, &request, mapping, op_ns, until, &whole, &look_ns);
			if (whole || !ever)
				least_ns = ns < least_ns || !ever ? ns : least_ns;
			ever |= whole;
		}
		nnb_mapping_unref(mapping);
		nnb_memory_close(&pool);
		free((void *)request.inputs);
	}
	nnb__times_init(times, m->n_operations, fixed, ever ? op_ns : NULL, least_ns, look_ns);
	r->times = times;
	free(op_ns);
}

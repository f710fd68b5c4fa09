/*
 * run.c -- running an execution under the rules.
 *
 * An execution is admitted, waits for a lane, runs an operation at a time, and between two of them looks whether it was
 * cancelled, whether it is to make room, and whether its deadline can still be kept. The clock is read
 * only where something depends on it. Inside an operation the driver asks the same (look): there, an execution that makes
 * room keeps what it has of the device's memory and waits on the driver's stack; one that would have to start over makes
 * room between operations only. Any number of runs may wait inside: what they keep is charged to their app (nnb_account).
 *
 * Before it begins, an execution is refused if it is estimated to take more than the limit on work (model/cost.h). What cannot be
 * estimated, because a shape is found by the run itself, or is estimated too low, ends in a look: after as much cpu time
 * as the limit allows, and what an estimate may be wrong by.
 */
#include "sched/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/execution.h"
#include "fmq/sys.h"
#include "model/reason.h"
#include "policy/terms.h"

enum {
	SEEDS = 3,            /* runs to see how long a model takes ... */
	ESTIMATED_WITHIN = 8, /* model/cost.h: a factor */
	LOOKS_A_CHECK = 64    /* of what an execution has taken: some ms, and no clock is read for the looks between */
};
#define SEED_AT_MOST_NS 100000000 /* ... and when to stop looking */

struct run {
	struct nnb__runner *runner;
	struct nnb_execution *execution;
	uint64_t deadline; /* that it is given up for; NNB__NEVER: none */
	uint64_t stop_at;  /* of a seed: NNB__NEVER otherwise */
	uint64_t loop_ns;  /* of each loop; 0: the default */
	uint64_t asked_ns; /* the deadline that its caller set, whatever becomes of it; 0: none */
	uint64_t most_ns;  /* of cpu time inside operations; 0: any */
	uint64_t looked;   /* when that was first checked, or 0 ... */
	uint64_t cpu;      /* ... and the thread's cpu time then */
	uint32_t looks;
	uint64_t *op_ns;  /* of a seed: what each operation took */
	bool watched;     /* the clock is read at every checkpoint */
	uint64_t last;    /* then: when the last one was, or when it got its lane */
	uint64_t longest; /* then: the longest time between two of them */
	enum nnb_status stopped;
	bool inside;               /* it was stopped within an operation */
	bool off_lane;             /* likewise, and has no lane any more */
	struct nnb_reason *reason; /* for what is said within an operation */
	uint64_t carry;            /* of a seed: what the operation under way took before it made room */
	bool broken;               /* it has not run in one stretch */
	uint64_t ended;            /* when, if it is timed */
	/* for who is told of it, once it was started over: what was done before is redone up to here, from then */
	uint32_t redo_until;
	uint64_t redo_from, redo_ns;
};

void nnb__runner_init(struct nnb__runner *r, struct nnb__lanes *lanes, struct nnb__lane_app *app,
                      struct nnb__times *times, uint32_t priority, const atomic_bool *cancelled)
{
	r->times = times;
	r->deadlines = lanes ? lanes->deadlines : NNB_DEADLINES_ABORT;
	nnb__seat_init(&r->seat, lanes, app, priority, cancelled);
	r->untold = (struct nnb__trace){ 0 };
	r->seat.trace = &r->untold;
	r->trials = NULL;
}

/* ---- deadlines ---- */

static uint64_t least(const struct nnb__runner *r, uint32_t op)
{
	return r->times ? nnb__times_least(r->times, op) : 0;
}

static struct nnb__lane_app *app_of(const struct nnb__runner *r)
{
	return (struct nnb__lane_app *)r->seat.job.app;
}

static void tell_missed(const struct nnb__runner *r, enum nbt_miss kind, enum nbt_stage stage)
{
	struct nnb__trace *t = r->seat.trace;
	uint64_t estimate = r->times ? atomic_load_explicit(&r->times->estimate_ns, memory_order_relaxed) : 0;

	if (r->seat.lanes)
		nnb__trace_numbered(r->seat.trace, &r->seat.lanes->numbers);
	if (nbt_on(NBT_EVENT_deadline_miss))
		nnb__trace_missed(t, kind, stage, estimate, (int64_t)(nnb__now() - t->deadline_ns));
}

static enum nnb_status missed(const struct nnb__runner *r, enum nnb_status status, enum nbt_stage stage,
                              const char *why, struct nnb_reason *reason)
{
	struct nnb__lane_app *app = app_of(r);
	bool persistent = status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT;

	if (app)
		atomic_fetch_add_explicit(persistent ? &app->missed_persistent : &app->missed_transient, 1,
		                          memory_order_relaxed);
	tell_missed(r, persistent ? NBT_miss_persistent : NBT_miss_transient, stage);
	nnb_because(reason, "%s", why);
	return status;
}

/* What was decided: NONE, or it is missed before it begins. */
static enum nnb_status admitted(const struct nnb__runner *r, enum nnb__admission admission, struct nnb_reason *reason)
{
	switch (admission) {
	case NNB__PASSED:
		return missed(r, NNB_STATUS_MISSED_DEADLINE_PERSISTENT, NBT_stage_admission, "the deadline has passed",
		              reason);
	case NNB__TOO_LONG:
		return missed(r, NNB_STATUS_MISSED_DEADLINE_PERSISTENT, NBT_stage_admission,
		              "the model takes longer than until the deadline, even alone", reason);
	case NNB__TOO_FULL:
		return missed(r, NNB_STATUS_MISSED_DEADLINE_TRANSIENT, NBT_stage_admission,
		              "others are before it until past the deadline", reason);
	default:
		return NNB_STATUS_NONE;
	}
}

enum nnb_status nnb__admit(struct nnb__runner *r, const struct nnb_terms *terms, struct nnb_reason *reason)
{
	uint64_t now, floor;
	enum nnb__admission admission;

	if (!terms->deadline_ns || r->deadlines == NNB_DEADLINES_ADVISE)
		return NNB_STATUS_NONE;
	now = nnb__now();
	floor = least(r, 0);
	admission = nnb__admission(r->deadlines, terms->deadline_ns, now, floor, 0);
	if (admission == NNB__ADMITTED && r->seat.lanes) {
		r->seat.job.deadline_ns = terms->deadline_ns;
		admission =
			nnb__admission(r->deadlines, terms->deadline_ns, now, floor, nnb__lanes_wait(&r->seat, now));
	}
	return admitted(r, admission, reason);
}

/* When it is too late to go on from operation @op. */
static uint64_t too_late(const struct run *run, uint32_t op)
{
	return run->deadline == NNB__NEVER ? NNB__NEVER : nnb__too_late(run->deadline, least(run->runner, op));
}

/* ---- checkpoints ---- */

static bool is_cancelled(const struct nnb__runner *r)
{
	return r->seat.cancelled && atomic_load_explicit(r->seat.cancelled, memory_order_relaxed);
}

static void note_stretch(struct run *run, uint32_t op, uint64_t now)
{
	uint64_t ns = now - run->last;

	run->last = now;
	if (ns > run->longest)
		run->longest = ns;
	ns += run->carry;
	run->carry = 0;
	if (run->op_ns && (!run->op_ns[op] || ns < run->op_ns[op]))
		run->op_ns[op] = ns ? ns : 1;
}

/* When it is given up, or a seed has taken enough time, if it has come to operation @next. */
static uint64_t gives_up_at(const struct run *run, uint32_t next)
{
	uint64_t at = too_late(run, next);

	return at < run->stop_at ? at : run->stop_at;
}

/* Go on with operation @next? */
static bool goes_on(struct run *run, uint32_t next)
{
	struct nnb__seat *seat = &run->runner->seat;
	uint64_t yield_at = atomic_load_explicit(&seat->yield_at, memory_order_relaxed), now;

	if (is_cancelled(run->runner)) {
		run->stopped = NNB_STATUS_GENERAL_FAILURE;
		return false;
	}
	if (yield_at == NNB__NEVER && run->deadline == NNB__NEVER && !run->watched)
		return true;
	now = nnb__now();
	if (run->watched)
		note_stretch(run, next - 1, now);
	switch (nnb__at_checkpoint(now, gives_up_at(run, next), yield_at)) {
	case NNB__GIVES_UP:
		run->stopped = NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
		return false;
	case NNB__IS_ASKED:
		return !nnb__lanes_yields(seat, now);
	default:
		return true;
	}
}

/* As far as it had come before it was started over. */
static void end_redo(struct run *run)
{
	run->redo_ns = nnb__now() - run->redo_from;
	run->redo_until = 0;
}

static void tell_op(const struct run *run, uint32_t op)
{
	NNB__SAY(run->runner->seat.trace, op_end, .op = (uint16_t)op,
	         .type = nnb__execution_op_type(run->execution, op));
}

static bool checkpoint(void *arg, uint32_t next)
{
	struct run *run = arg;
	bool on;

	tell_op(run, next - 1);
	if (__builtin_expect(run->redo_until && next >= run->redo_until, 0))
		end_redo(run);
	on = goes_on(run, next);
	NNB__SAY(run->runner->seat.trace, checkpoint, .op = (uint16_t)next, .flag = on);
	return on;
}

/* ---- lanes ---- */

static enum nnb_status late(const struct run *run, enum nbt_stage stage, const char *why, struct nnb_reason *reason)
{
	if (run->op_ns) /* a seed has only taken enough time */
		return NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
	return missed(run->runner, NNB_STATUS_MISSED_DEADLINE_TRANSIENT, stage, why, reason);
}

static enum nnb_status waited(const struct run *run, int error, struct nnb_reason *reason)
{
	switch (error) {
	case 0:
		return NNB_STATUS_NONE;
	case -ETIMEDOUT:
		return late(run, NBT_stage_queue, "it waited until it was too late", reason);
	default:
		nnb_because(reason, "nobody waits for it any more");
		return NNB_STATUS_GENERAL_FAILURE;
	}
}

/* On a lane again. What was done before operation @next is to be redone if it starts @over. */
static void tell_resumed(struct run *run, bool over, uint32_t next)
{
	struct nnb__seat *seat = &run->runner->seat;

	nnb__trace_resumed(seat->trace, (uint32_t)seat->job.lane, over ? 0 : next, over);
	if (over && seat->trace->exec && nbt_on(NBT_EVENT_sched_resume)) {
		run->redo_until = next > run->redo_until ? next : run->redo_until;
		run->redo_from = nnb__now(); /* after what was said: it is part of the stretch */
	}
}

/*
 * Off the lane, and on one again, unless nobody wants it any more. *on_lane: whether it has one then. @left_from: the first
 * operation that is wholly to be done: where one is under way, the next, for how much of it is left is not known.
 */
static enum nnb_status make_room(struct run *run, uint32_t left_from, bool *on_lane, struct nnb_reason *reason)
{
	struct nnb__seat *seat = &run->runner->seat;
	bool over = seat->lanes->policy.preempt == NNB_PREEMPT_RESTART, left;
	uint32_t next = nnb_execution_next_op(run->execution);
	uint64_t until = too_late(run, over ? 0 : left_from);
	enum nnb_status status;

	if (run->redo_until)
		run->redo_ns = nnb__now() - run->redo_from; /* all of this stretch */
	seat->next_op = next;
	seat->redo_ns = run->redo_ns;
	nnb__trace_delayed(seat->trace, NNB__DELAY_RUN); /* off its lane it has no delay of the run */
	status = waited(run, nnb__lanes_yield(seat, until, &left), reason);

	nnb__trace_delay(seat->trace);
	*on_lane = !status;
	run->broken |= left;
	if (left)
		run->redo_ns = 0; /* that has been said */
	if (status)
		run->redo_until = 0;
	if (!status && left)
		tell_resumed(run, over, next);
	if (!status && left && over)
		status = nnb_execution_restart(run->execution);
	if (run->watched && left)
		run->last = run->op_ns ? nnb__now() : seat->job.since;
	return status;
}

/* ---- inside an operation ---- */

/* What the operation has computed stays where it is. */
static bool make_room_inside(struct run *run, uint64_t now)
{
	bool on_lane;

	if (run->watched)
		run->carry += now - run->last;
	run->stopped = make_room(run, nnb_execution_next_op(run->execution) + 1, &on_lane, run->reason);
	if (run->watched && on_lane)
		run->last = nnb__now();
	run->inside = run->stopped;
	run->off_lane = !on_lane;
	return !run->stopped;
}

/* Has it had more cpu time than any execution may? The time that it waits off its lane is none. */
static bool is_over_work(struct run *run, uint64_t now)
{
	if (!run->looked) {
		run->looked = now;
		run->cpu = nnb__cpu_now();
		return false;
	}
	return now - run->looked > run->most_ns && nnb__cpu_now() - run->cpu > run->most_ns;
}

static bool stop_inside(struct run *run, enum nnb_status status)
{
	run->stopped = status;
	run->inside = true;
	return false;
}

/* The driver asks in the midst of an operation: is it to go on? */
static bool look(void *arg)
{
	struct run *run = arg;
	struct nnb__seat *seat = &run->runner->seat;
	uint64_t yield_at = atomic_load_explicit(&seat->yield_at, memory_order_relaxed), now;
	bool due = run->most_ns && ++run->looks % LOOKS_A_CHECK == 0;

	if (is_cancelled(run->runner))
		return stop_inside(run, NNB_STATUS_GENERAL_FAILURE);
	if (yield_at == NNB__NEVER && run->deadline == NNB__NEVER && run->stop_at == NNB__NEVER && !due)
		return true;
	now = nnb__now();
	if (due && is_over_work(run, now)) {
		nnb_because(run->reason,
		            "it has taken %.3g s of cpu time, which is the most that an execution may (limit work)",
		            (double)run->most_ns / 1e9);
		return stop_inside(run, NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	}
	switch (nnb__at_checkpoint(now, gives_up_at(run, nnb_execution_next_op(run->execution) + 1), yield_at)) {
	case NNB__GIVES_UP:
		return stop_inside(run, NNB_STATUS_MISSED_DEADLINE_TRANSIENT);
	case NNB__IS_ASKED:
		return !nnb__leaves_inside(seat->lanes->policy.preempt) || !nnb__lanes_yields(seat, now) ||
		       make_room_inside(run, now);
	default:
		return true;
	}
}

static void say_failed(const struct run *run, enum nnb_status status, struct nnb_reason *reason)
{
	uint32_t op = nnb_execution_next_op(run->execution);

	if (status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT) /* of a driver's: a loop's time */
		nnb_because(reason, "a loop in operation %u took longer than a loop may", op);
	else
		nnb_because(reason, "running the model failed at operation %u", op);
}

/* Run to the end, a stretch at a time. *on_lane: whether it has one then. */
static enum nnb_status run_on(struct run *run, bool *on_lane, struct nnb_reason *reason)
{
	enum nnb_status status;
	bool finished;

	*on_lane = true;
	for (;;) {
		if (is_cancelled(run->runner)) /* while it waited, or just then */
			return waited(run, -ECANCELED, reason);
		status = nnb_execution_run(run->execution, checkpoint, run, &finished);
		if (run->inside) {
			*on_lane = !run->off_lane;
			return run->stopped == NNB_STATUS_MISSED_DEADLINE_TRANSIENT && *on_lane
			               ? late(run, NBT_stage_running, "at a checkpoint it was too late", reason)
			               : run->stopped;
		}
		if (status)
			say_failed(run, status, reason);
		if (finished && !status)
			tell_op(run, nnb_execution_next_op(run->execution) - 1);
		if (finished && !status && run->watched)
			note_stretch(run, nnb_execution_next_op(run->execution) - 1, nnb__now());
		if (status || finished)
			return status;
		if (run->stopped == NNB_STATUS_MISSED_DEADLINE_TRANSIENT)
			return late(run, NBT_stage_running, "at a checkpoint it was too late", reason);
		if (run->stopped)
			return run->stopped;
		status = make_room(run, nnb_execution_next_op(run->execution), on_lane, reason);
		if (status)
			return status;
	}
}

/* The driver has come to the end of an iteration. */
static void tell_iteration(void *arg, uint32_t op, uint32_t depth, uint64_t iteration)
{
	const struct run *run = arg;

	NNB__SAY(run->runner->seat.trace, loop_iteration, .op = (uint16_t)op, .depth = (uint8_t)depth,
	         .iteration = iteration);
}

static enum nnb_status look_while(struct run *run, bool *on_lane, struct nnb_reason *reason)
{
	uint64_t limit = nnb__execution_work_limit(run->execution);
	enum nnb_status status;

	run->reason = reason;
	run->most_ns = limit < UINT64_MAX / ESTIMATED_WITHIN ? limit * ESTIMATED_WITHIN : 0;
	nnb__execution_look(run->execution, look, run);
	nnb__execution_loops(run->execution, run->loop_ns, tell_iteration, run);
	nnb__execution_deadline(run->execution, run->asked_ns);
	status = run_on(run, on_lane, reason);
	nnb__execution_loops(run->execution, 0, NULL, NULL);
	nnb__execution_deadline(run->execution, 0);
	nnb__execution_look(run->execution, NULL, NULL);
	return status;
}

static void tell_enqueued(struct nnb__runner *r)
{
	bool counts = r->seat.lanes && nbt_on(NBT_EVENT_sched_enqueue);
	uint32_t ahead = counts ? nnb__lanes_announce(&r->seat) : 0;
	uint64_t estimate = r->times ? atomic_load_explicit(&r->times->estimate_ns, memory_order_relaxed) : 0;

	nnb__trace_delayed(r->seat.trace, NNB__DELAY_DECODE);
	nnb__trace_enqueued(r->seat.trace, estimate, r->seat.job.floor_ns, ahead);
}

/* Returns the thread's cpu time, where it is worth the look (events.md). */
static uint64_t tell_dispatched(struct nnb__runner *r)
{
	struct nnb__trace *t = r->seat.trace;
	bool asked = t->exec && (t->compact || nbt_on(NBT_EVENT_exec_end));
	bool is_long = r->times && nnb__times_is_long(r->times);

	nnb__trace_dispatched(t, r->seat.job.lane == NNB__NO_LANE ? NNB__NO_LANES : (uint32_t)r->seat.job.lane);
	nnb__trace_reads_delay(t, is_long);
	return asked && is_long ? nnb__cpu_now() : NNB__NEVER_REACHED;
}

static void tell_ended(struct run *run, enum nnb_status status, bool on_lane, uint64_t cpu)
{
	struct nnb__trace *t = run->runner->seat.trace;

	if (cpu != NNB__NEVER_REACHED)
		cpu = nnb__cpu_now() - cpu;
	nnb__trace_delayed(t, NNB__DELAY_RUN);
	if (run->redo_until)
		end_redo(run);
	t->redo_ns += run->redo_ns;
	if (run->op_ns && on_lane && status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT)
		status = NNB_STATUS_NONE; /* a trial run that was cut short has done what it was for */
	if (!status && run->ended && run->ended >= run->runner->seat.job.deadline_ns)
		tell_missed(run->runner, NBT_miss_late, NBT_stage_done);
	nnb__trace_ended(t, status, nnb_execution_next_op(run->execution), cpu);
}

/* Wait for a lane; then run on it. */
static enum nnb_status run_on_lane(struct run *run, uint64_t until, uint64_t *began, struct nnb_reason *reason)
{
	struct nnb__runner *r = run->runner;
	bool on_lane = true;
	enum nnb_status status;
	uint64_t cpu;

	tell_enqueued(r);
	if (r->seat.lanes) {
		status = waited(run, nnb__lanes_take(&r->seat, until), reason);
		if (status)
			return status;
	}
	cpu = tell_dispatched(r);
	*began = *began ? nnb__now() : 0;
	run->last = r->seat.lanes && r->seat.job.since && !run->op_ns ? r->seat.job.since : *began;
	if (*began >= until && *began)
		status = late(run, NBT_stage_queue, "it would have begun too late", reason);
	else
		status = look_while(run, &on_lane, reason);
	run->ended = *began ? nnb__now() : 0;
	tell_ended(run, status, on_lane, cpu);
	if (r->seat.lanes && on_lane)
		nnb__lanes_give(&r->seat);
	return status;
}

/* Outputs that lie over inputs are what the next attempt would read: it must not be made to start over. */
static void prepare_to_leave(struct run *run)
{
	struct nnb__seat *seat = &run->runner->seat;

	seat->job.restarts = 0;
	if (seat->lanes && seat->lanes->policy.preempt == NNB_PREEMPT_RESTART &&
	    !nnb__execution_can_restart(run->execution))
		seat->job.restarts = NNB__RESTARTS_MAX;
}

enum nnb_status nnb__run(struct nnb__runner *r, struct nnb_execution *e, const struct nnb_terms *terms,
                         uint64_t *on_device_ns, struct nnb_reason *reason)
{
	uint64_t deadline = terms->deadline_ns ? terms->deadline_ns : NNB__NEVER;
	struct run run = { .runner = r,
		           .execution = e,
		           .deadline = nnb__given_up_for(r->deadlines, deadline),
		           .loop_ns = terms->loop_timeout_ns,
		           .asked_ns = terms->deadline_ns,
		           .stop_at = NNB__NEVER };
	bool learn = r->times && nnb__times_due(r->times);
	uint64_t began = learn || on_device_ns || terms->deadline_ns, until;
	enum nnb_status status;

	r->seat.job.deadline_ns = deadline;
	r->seat.job.floor_ns = least(r, 0);
	until = nnb__waits_until(r->deadlines, deadline, r->seat.job.floor_ns);
	run.watched = r->times && nnb__times_is_long(r->times);
	prepare_to_leave(&run);
	status = run_on_lane(&run, until, &began, reason);
	if (status || !began)
		return status;
	if (on_device_ns)
		*on_device_ns = run.ended - began;
	if (r->times && !run.broken)
		nnb__times_learn(r->times, run.ended - began);
	if (run.watched)
		nnb__times_stretch(r->times, run.longest);
	if (terms->deadline_ns && run.ended >= terms->deadline_ns && app_of(r))
		atomic_fetch_add_explicit(&app_of(r)->late, 1, memory_order_relaxed);
	return NNB_STATUS_NONE;
}

/* ---- seeds ---- */

static uint64_t place_after(uint64_t at, uint64_t bytes)
{
	return (at + bytes + 63) / 64 * 64;
}

/* Where the arguments lie in one pool, inputs first, into @a unless it is NULL. What they take; 0: too much. */
static uint64_t lay_out(const struct nnb_model *m, struct nnb_argument *a)
{
	uint64_t at = 0, bytes;

	for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
		const struct nnb_operand *o =
			&m->operands[i < m->n_inputs ? m->inputs[i] : m->outputs[i - m->n_inputs]];

		if (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || at + bytes > UINT32_MAX)
			return 0;
		if (a)
			a[i].location = (struct nnb_location){ .offset = (uint32_t)at, .length = (uint32_t)bytes };
		at = place_after(at, bytes);
	}
	return at ? at : 64;
}

uint64_t nnb__seed_bytes(const struct nnb_model *m)
{
	return lay_out(m, NULL);
}

static int make_request(const struct nnb_model *m, struct nnb_request *ret, struct nnb_memory *pool)
{
	struct nnb_argument *a = calloc((size_t)m->n_inputs + m->n_outputs + 1, sizeof(*a));
	uint64_t bytes;
	int r;

	if (!a)
		return -ENOMEM;
	bytes = lay_out(m, a);
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

/* The number of a trial run, in the stream of its connection; 0: it has none. */
static uint64_t number_of(const struct nnb__runner *r)
{
	return r->trials ? nnb__exec_of(r->seat.trace->who.stream,
	                                atomic_fetch_add_explicit(r->trials, 1, memory_order_relaxed) + 1)
	                 : 0;
}

/* Run it once. The cpu it took; *whole: all of it. */
static uint64_t seed_once(struct nnb__runner *r, struct nnb_prepared *prepared, const struct nnb_request *request,
                          struct nnb_mapping *mapping, uint64_t *op_ns, uint64_t until, bool *whole)
{
	struct run run = { .runner = r, .deadline = NNB__NEVER, .op_ns = op_ns, .watched = true };
	uint64_t began = true, cpu;
	enum nnb_status status;

	*whole = false;
	if (nnb_execution_begin(prepared, request, &mapping, false, NULL, &run.execution, NULL))
		return 0;
	nnb__trace_begin_trial(r->seat.trace, number_of(r));
	prepare_to_leave(&run);
	run.stop_at = until;
	cpu = nnb__cpu_now();
	status = run_on_lane(&run, run.stop_at, &began, NULL);
	cpu = nnb__cpu_now() - cpu;
	nnb_execution_end(run.execution);
	nnb__trace_refused(r->seat.trace, status);
	nnb__trace_end(r->seat.trace);
	*whole = !status;
	return cpu;
}

void nnb__seed(struct nnb__runner *r, struct nnb_prepared *prepared, uint64_t until)
{
	const struct nnb_model *m = nnb_prepared_model(prepared);
	struct nnb__times *times = r->times;
	uint64_t *op_ns = calloc(m->n_operations, sizeof(*op_ns)), least_ns = 0, ns;
	bool whole = false, ever = false, fixed = nnb__prepared_is_fixed(prepared);
	struct nnb_mapping *mapping = NULL; /* one for all: page faults are not what is to be seen */
	struct nnb_request request;
	struct nnb_memory pool;

	r->times = NULL; /* there is nothing yet to be judged by */
	if (until && op_ns && fixed && !make_request(m, &request, &pool)) {
		until = nnb__now() + SEED_AT_MOST_NS < until ? nnb__now() + SEED_AT_MOST_NS : until;
		if (nnb_map(&mapping, &pool))
			mapping = NULL;
		for (int i = 0; mapping && i < SEEDS && (whole || !i); i++) {
			ns = seed_once(r, prepared, &request, mapping, op_ns, until, &whole);
			if (whole || !ever)
				least_ns = ns < least_ns || !ever ? ns : least_ns;
			ever |= whole;
		}
		nnb_mapping_unref(mapping);
		nnb_memory_close(&pool);
		free((void *)request.inputs);
	}
	nnb__times_init(times, m->n_operations, fixed, ever ? op_ns : NULL, least_ns);
	r->times = times;
	free(op_ns);
}

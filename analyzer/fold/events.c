/* events.c -- applies each event to its execution. */
#include "fold/inside.h"

#include <errno.h>

enum { LANES_MAX = 64, INSTANCE_SHIFT = 20 + 32 };

/* ---- whose it is ---- */

static void set_model(struct bsa_fold *f, struct bsa_exec *x, uint32_t number, uint8_t by)
{
	const struct bsa_model_known *m;

	if (!number || number == x->model || by < x->said_by)
		return;
	m = bsa_model_of(f, number);
	if (!m)
		return;
	x->model = number;
	x->model_priority = m->fact.priority;
	x->fact.model = x->sched.model = m->fact.id;
	x->sched.step_ns =
		m->fact.step_ns ? m->fact.step_ns : BSA_NEVER; /* unknown: so long that nothing is blamed on it */
	if (x->fact.priority == 255)
		x->sched.priority = m->fact.priority;
	x->model_estimate = m->fact.estimate_ns ? m->fact.estimate_ns : BSA_NEVER;
	if (x->fact.estimate == BSA_NEVER)
		x->sched.estimate_ns = x->model_estimate;
}

static void set_identity(struct bsa_fold *f, struct bsa_exec *x, uint32_t model, uint32_t app, uint8_t priority,
                         uint8_t by)
{
	struct bsa_app_known *a;

	set_model(f, x, model, by);
	if (by < x->said_by)
		return;
	x->said_by = by;
	x->fact.priority = x->sched.priority = priority;
	if (x->fact.app && (app == x->app || !app))
		return;
	a = bsa_app_of(f, (uint16_t)(x->fact.exec >> INSTANCE_SHIFT), app);
	if (!a)
		return;
	x->app = app;
	x->fact.app = x->sched.app = a->fact.id;
	if (!x->stream->fact.app)
		bsa_stream_is_of(x->stream, a);
}

static void set_path(struct bsa_exec *x, uint8_t path)
{
	if (x->fact.path != BSA_PATH_UNKNOWN)
		return;
	x->fact.path = path;
	if (x->stream->fact.path == BSA_PATH_UNKNOWN)
		x->stream->fact.path = path;
}

/* 0 means no deadline, and so does the HAL's -1. */
static bool is_deadline(uint64_t told)
{
	return told && told != BSA_NEVER;
}

/* The deadline that the app set. The service's value is better for a fenced execution with a duration. */
static void asked_deadline(struct bsa_exec *x, uint64_t deadline, uint64_t duration)
{
	x->deadline_said = true;
	if (!x->fact.deadline && is_deadline(deadline))
		x->fact.deadline = deadline;
	if (!x->fact.duration)
		x->fact.duration = duration;
}

/* All three, or none: a client may emit anything, also what stands for an unknown time. */
static void reported_submit_delay(struct bsa_exec *x, uint64_t delay, uint64_t gap, uint32_t turns)
{
	if (!turns || delay == BSA_NEVER || gap == BSA_NEVER || x->fact.submit_turns)
		return;
	x->fact.submit_delay = delay;
	x->fact.submit_gap = gap;
	x->fact.submit_turns = turns;
}

static void reported_deadline(struct bsa_exec *x, uint64_t deadline)
{
	x->deadline_said = true;
	if (is_deadline(deadline))
		x->fact.deadline = deadline;
}

static void reported_estimate(struct bsa_exec *x, uint64_t estimate)
{
	if (estimate)
		x->fact.estimate = x->sched.estimate_ns = estimate;
}

/*
 * The service answers for @x, which it reported as under way, and the end of @x was not seen: perhaps @x had
 * ended before that report, as the service reports executions until they are answered.
 */
static void answered_unended(struct bsa_fold *f, struct bsa_exec *x)
{
	if (x->placed && x->late_start && x->fact.at[BSA_RUN_ENDED] == BSA_NEVER && !f->options.horizon_ns)
		bsa_exec_step(f, x, BSA_STEP_FORGET, f->now, BSA_LANE_NONE);
}

/* ---- boundaries, as they happen ---- */

/* False: it was reached before. */
static bool reach_boundary(struct bsa_fold *f, struct bsa_exec *x, enum bsa_boundary b)
{
	if (x->fact.at[b] != BSA_NEVER || !bsa_exec_may_reach(x, b)) {
		bsa_fold_absurd(f);
		return false;
	}
	x->fact.at[b] = f->at;
	return true;
}

void bsa_on_exec_submit(struct bsa_fold *f, const struct bsa_exec_submit *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_CLIENT);

	f->full = true;
	if (!x)
		return;
	x->asked = true;
	if (!reach_boundary(f, x, BSA_SUBMITTED))
		return;
	set_path(x, e->path);
	set_model(f, x, e->model, BSA_SAID_BY_ASKING);
	asked_deadline(x, e->deadline_ns, e->duration_ns);
	reported_submit_delay(x, e->delay_ns, e->gap_ns, e->turns);
	x->fact.fallback = e->fallback;
}

static bool is_request(uint8_t queue)
{
	return queue == BSA_QUEUE_REQUEST || queue == BSA_QUEUE_CALL_REQUEST;
}

static void queue_of_result(struct bsa_exec *x, uint8_t queue)
{
	if (x->fact.path == BSA_PATH_UNKNOWN && queue <= BSA_QUEUE_RESULT)
		set_path(x, BSA_PATH_BURST);
}

static void report_write(const struct bsa_fold *f, const struct bsa_exec *x, const struct bsa_fmq_write *e)
{
	struct bsa_fmq_op op = { .execution = x ? x->fact.id : 0,
		                 .at = f->at,
		                 .number = e->fmq,
		                 .blocked = e->blocked_ns,
		                 .items = e->items,
		                 .used = e->used,
		                 .queue = e->queue,
		                 .write = true };

	f->facts.fmq_op(f->facts.ctx, &op);
}

void bsa_on_fmq_write(struct bsa_fold *f, const struct bsa_fmq_write *e)
{
	bool asks = is_request(e->queue);
	struct bsa_exec *x;

	if (e->queue > BSA_QUEUE_OTHER || (e->queue == BSA_QUEUE_OTHER && e->exec)) {
		bsa_fold_absurd(f);
		return;
	}
	if (!e->exec) { /* a message between programs that use queues for something of their own */
		if (f->facts.fmq_op)
			report_write(f, NULL, e);
		return;
	}
	x = bsa_exec_heard(f, e->exec, asks ? BSA_HEARD_CLIENT : BSA_HEARD_SERVICE);
	if (!x || !reach_boundary(f, x, asks ? BSA_REQUEST_WRITTEN : BSA_RESULT_WRITTEN))
		return;
	queue_of_result(x, e->queue);
	(asks ? &x->fact.request : &x->fact.result)->blocked = e->blocked_ns;
	if (f->facts.fmq_op)
		report_write(f, x, e);
	if (!asks && x->fact.path != BSA_PATH_FENCED && x->fact.path != BSA_PATH_UNKNOWN) /* not of a launch */
		answered_unended(f, x);
	if (!asks)
		bsa_exec_look_over(f, x);
}

void bsa_on_fmq_read(struct bsa_fold *f, const struct bsa_fmq_read *e)
{
	bool asks = is_request(e->queue);
	struct bsa_waited *waited;
	struct bsa_exec *x;

	if (e->queue > BSA_QUEUE_CALL_RESULT) {
		bsa_fold_absurd(f);
		return;
	}
	x = bsa_exec_heard(f, e->exec, asks ? BSA_HEARD_SERVICE : BSA_HEARD_CLIENT);
	if (!x || !reach_boundary(f, x, asks ? BSA_REQUEST_READ : BSA_RESULT_READ))
		return;
	if (f->n_listing && asks && !x->late_start)
		bsa_service_begins(f, (uint16_t)(e->exec >> INSTANCE_SHIFT));
	queue_of_result(x, e->queue);
	waited = asks ? &x->fact.request : &x->fact.result;
	waited->spun = e->spun_ns;
	waited->slept = e->slept_ns;
	if (f->facts.fmq_op) {
		struct bsa_fmq_op op = { .execution = x->fact.id,
			                 .at = f->at,
			                 .spun = e->spun_ns,
			                 .slept = e->slept_ns,
			                 .items = e->items,
			                 .used = e->used,
			                 .queue = e->queue };

		f->facts.fmq_op(f->facts.ctx, &op);
	}
}

void bsa_on_request_decode(struct bsa_fold *f, const struct bsa_request_decode *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);

	if (!x || !reach_boundary(f, x, BSA_DECODED))
		return;
	x->slots = e->status ? 0 : e->pools; /* a malformed request is not looked up */
	set_model(f, x, e->model, BSA_SAID_BY_ASKING);
}

void bsa_on_fence_wait(struct bsa_fold *f, const struct bsa_fence_wait *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);

	if (!x || !reach_boundary(f, x, BSA_FENCED))
		return;
	set_path(x, BSA_PATH_FENCED);
	x->fact.fence_free = !e->fences;
}

void bsa_on_slot_lookup(struct bsa_fold *f, const struct bsa_slot_lookup *e)
{
	struct bsa_exec *x =
		bsa_exec_heard(f, e->exec, e->look == BSA_LOOK_CLIENT ? BSA_HEARD_CLIENT : BSA_HEARD_SERVICE);

	if (!x)
		return;
	if (e->look > BSA_LOOK_CLIENT) {
		bsa_fold_absurd(f);
		return;
	}
	if (e->look == BSA_LOOK_FIRST) /* the others do not make it cold */
		x->fact.lookups++;
	if (e->look == BSA_LOOK_FIRST && !e->hit) {
		x->fact.misses++;
		bsa_exec_missed_slot(f, x, e->slot);
	}
	if (f->facts.lookup) {
		struct bsa_lookup l = {
			.execution = x->fact.id, .at = f->at, .slot = e->slot, .hit = e->hit != 0, .look = e->look
		};

		f->facts.lookup(f->facts.ctx, &l);
	}
}

void bsa_on_slot_fetch(struct bsa_fold *f, const struct bsa_slot_fetch *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);

	if (x)
		x->fetch_ns = e->took_ns;
}

/* ---- lanes, as it happens ---- */

static bool has_ended(const struct bsa_exec *x)
{
	return x->fact.at[BSA_RUN_ENDED] != BSA_NEVER;
}

void bsa_on_sched_enqueue(struct bsa_fold *f, const struct bsa_sched_enqueue *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);
	uint64_t last = 0;

	f->full = f->full_lanes = true;
	if (!x && !f->n_given_up++)
		f->given_up_ready = f->now;
	if (!x || !reach_boundary(f, x, BSA_ENQUEUED))
		return;
	set_identity(f, x, e->model, e->app, e->priority, BSA_SAID_BY_SCHEDULER);
	reported_deadline(x, e->deadline_ns);
	reported_estimate(x, e->estimate_ns);
	x->fact.floor = e->floor_ns;
	x->sched.queue_empty = !e->ahead;

	/* The last time that is certain to lie before @x took its number. */
	for (int b = BSA_REQUEST_READ; b < BSA_ENQUEUED; b++)
		if (x->fact.at[b] != BSA_NEVER && x->fact.at[b] > last)
			last = x->fact.at[b];
	bsa_numbers_see(f, x, e->nth_ready, last);
	if (!has_ended(x) && !x->scheduled)
		bsa_exec_step(f, x, BSA_STEP_READY, f->step_at, BSA_LANE_NONE);
}

/*
 * Like bsa_exec_heard, for an event on a lane. If the execution was already reported as over, the lane's
 * holder is unknown now.
 */
static struct bsa_exec *on_lane(struct bsa_fold *f, uint64_t exec, uint8_t lane)
{
	struct bsa_exec *x = bsa_exec_heard(f, exec, BSA_HEARD_SERVICE);

	if (!x && lane < LANES_MAX)
		bsa_fold_unknown(f, f->now, f->now);
	if (!x) /* the execution was given up too early: whether it waited is unknown */
		(void)bsa_schedule_report_possible(f->schedule, &(const struct bsa_scheduled){ .id = 0 }, BSA_NEVER,
		                                   f->now);
	return x;
}

void bsa_on_sched_dispatch(struct bsa_fold *f, const struct bsa_sched_dispatch *e)
{
	struct bsa_exec *x = on_lane(f, e->exec, e->lane);

	if (!x && f->n_given_up)
		f->n_given_up--;
	if (!x || !reach_boundary(f, x, BSA_DISPATCHED))
		return;
	x->op_began = f->at;
	bsa_fold_lane_given(f, x);
	if (!has_ended(x) && !x->off)
		bsa_exec_step(f, x, BSA_STEP_DISPATCH, f->step_at, e->lane);
}

/* Whether it is running, as far as events have reported. */
static bool is_running(struct bsa_fold *f, const struct bsa_exec *x)
{
	if (has_ended(x))
		bsa_fold_absurd(f);
	return !has_ended(x);
}

/*
 * Whether to pass the execution's lane to the schedule, even if the schedule does not have it: no other
 * execution was on the lane then. One that was on its lane before the recording is not passed on, unless a
 * summary may still report all of it.
 */
static bool is_placed(const struct bsa_fold *f, const struct bsa_exec *x, uint8_t lane)
{
	return x->placed || ((!x->late_start || f->options.horizon_ns) && lane < LANES_MAX);
}

void bsa_on_sched_preempt(struct bsa_fold *f, const struct bsa_sched_preempt *e)
{
	const struct bsa_exec *by = NULL;
	struct bsa_exec *x;
	uint64_t by_id;

	/* The execution that preempted may have had no event yet. */
	if (e->by && e->by != e->exec)
		by = bsa_table_find(&f->execs.table, e->by);
	if (!by && e->by && e->by != e->exec)
		by = bsa_exec_of(f, e->by);
	by_id = by ? by->fact.id : 0; /* on_lane may free @by, and reuse its memory */
	x = on_lane(f, e->exec, e->lane);
	if (!x || !is_running(f, x))
		return;
	x->broken |= x->off;
	if (x->off)
		bsa_exec_report_stop(f, x, BSA_NEVER);
	if (!x->stops++)
		x->first_lane = e->lane;
	x->stop = (struct bsa_preemption){ .execution = x->fact.id,
		                           .by = by_id,
		                           .asked = e->asked_ns <= f->at ? f->at - e->asked_ns : BSA_NEVER,
		                           .stopped = f->at,
		                           .resumed = BSA_NEVER,
		                           .redo = e->redo_ns,
		                           .at_op = e->at_op,
		                           .mode = e->mode,
		                           .lane = e->lane };
	x->off = true;
	x->ready_again = x->found_stalled = false;
	if (is_placed(f, x, e->lane))
		bsa_exec_step(f, x,
		              e->mode == BSA_MODE_NO_CPU    ? BSA_STEP_LOSE
		              : e->mode == BSA_MODE_STALLED ? BSA_STEP_STALL
		              : e->mode == BSA_MODE_RESTART ? BSA_STEP_RESTART
		                                            : BSA_STEP_STOP,
		              f->step_at, e->lane);
}

/* The execution is on a lane again, or has ended without one. */
static void off_until_now(struct bsa_fold *f, struct bsa_exec *x, uint64_t now, uint64_t resumed)
{
	if (now >= x->stop.stopped)
		x->off_ns += now - x->stop.stopped;
	else
		x->broken = true;
	bsa_exec_report_stop(f, x, resumed);
}

/* An event of @x of that @kind, since @since, was not recorded. */
static void exec_lacks_event(struct bsa_fold *f, struct bsa_exec *x, uint64_t since, enum bsa_kind kind)
{
	x->broken = true;
	if (!x->late_start && since <= f->at && !bsa_losses_touch(&f->losses, since, f->at))
		f->missing |= UINT64_C(1) << kind;
}

void bsa_on_sched_ready(struct bsa_fold *f, const struct bsa_sched_ready *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);

	if (!x || !is_running(f, x))
		return;
	x->ready_again = true;
	x->found_stalled = false;
	bsa_exec_step(f, x, BSA_STEP_READY_AGAIN, f->step_at, BSA_LANE_NONE);
}

void bsa_on_sched_resume(struct bsa_fold *f, const struct bsa_sched_resume *e)
{
	struct bsa_exec *x = on_lane(f, e->exec, e->lane);

	if (!x || !is_running(f, x))
		return;

	/*
	 * A hole since its preemption may hide a resume and another preemption: then this resume belongs to
	 * that one. So does one of before.
	 */
	if (x->off && (f->at < x->stop.stopped || bsa_losses_touch(&f->losses, x->stop.stopped, f->at)))
		off_until_now(f, x, f->at, BSA_NEVER);
	else if (x->off)
		off_until_now(f, x, f->at, f->at);
	else
		exec_lacks_event(f, x, x->fact.at[BSA_DISPATCHED], BSA_sched_preempt);
	x->op_began = f->at;
	x->found_stalled = false;
	bsa_exec_step(f, x, BSA_STEP_RESUME, f->step_at, e->lane);
}

void bsa_on_op_end(struct bsa_fold *f, const struct bsa_op_end *e)
{
	struct bsa_exec *x;

	if (!f->facts.operation)
		return;
	x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);
	if (x) {
		struct bsa_operation op = { .execution = x->fact.id,
			                    .began = x->op_began <= f->at ? x->op_began : BSA_NEVER,
			                    .ended = f->at,
			                    .type = e->type,
			                    .op = e->op };

		f->facts.operation(f->facts.ctx, &op);
		x->op_began = f->at;
	}
}

/* The lane on which it ended, at @at with @status, or none. The event names its last lane. */
static uint8_t ended_on(struct bsa_fold *f, struct bsa_exec *x, uint64_t at, uint8_t status, uint8_t lane)
{
	uint64_t stopped = x->stop.stopped;

	x->sched.on_lane_to_its_end = status == BSA_STATUS_NONE;
	if (!x->off) /* found_stalled: its thread went on without a lane, or it was given up */
		return x->found_stalled && !f->losses.n ? BSA_LANE_NONE : lane;
	/* success: it was on a lane again, without a recorded event, unless its thread went on without a lane */
	if (status == BSA_STATUS_NONE && (!bsa_mode_stalls(x->stop.mode) || x->ready_again)) {
		exec_lacks_event(f, x, stopped, BSA_sched_resume);
		bsa_exec_report_stop(f, x, BSA_NEVER);
		return lane;
	}
	off_until_now(f, x, at, BSA_NEVER);
	/* Or it waited for a lane again, and got one, and the session has neither event. */
	x->broken |= status == BSA_STATUS_NONE && !bsa_fold_has_kind(f, x, BSA_sched_ready) &&
	             !bsa_fold_has_kind(f, x, BSA_sched_resume);
	if (!bsa_losses_touch(&f->losses, stopped, at))
		return BSA_LANE_NONE;
	x->broken = true;
	return lane;
}

void bsa_on_exec_end(struct bsa_fold *f, const struct bsa_exec_end *e)
{
	struct bsa_exec *x = on_lane(f, e->exec, e->lane);
	uint8_t lane;

	if (!x || !reach_boundary(f, x, BSA_RUN_ENDED))
		return;
	x->lane = e->lane;
	x->ended = e->status;
	x->fact.cpu = e->cpu_ns;
	x->fact.redo = e->redo_ns;
	if (e->nth_over)
		bsa_numbers_see(f, x, e->n_ready, x->fact.at[BSA_DISPATCHED]);
	lane = ended_on(f, x, f->at, e->status, e->lane);
	if (is_placed(f, x, lane))
		bsa_exec_step(f, x, BSA_STEP_END, f->step_at, lane);
	else
		bsa_exec_died(f, x);
	if (bsa_exec_is_trial(x))
		bsa_exec_look_over(f, x);
}

/* ---- ends, as they happen ---- */

void bsa_on_exec_delay(struct bsa_fold *f, const struct bsa_exec_delay *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);

	for (int part = 0; x && part < BSA_DELAYS; part++)
		x->fact.delay[part] = e->delays[part];
	if (x)
		x->fact.reference = e->reference_ns;
}

void bsa_on_deadline_miss(struct bsa_fold *f, const struct bsa_deadline_miss *e)
{
	uint8_t side = e->stage == BSA_STAGE_RETURNED ? 0 : BSA_HEARD_SERVICE; /* both sides emit this stage */
	struct bsa_exec *x = e->exec ? bsa_exec_heard(f, e->exec, side) : NULL;
	const struct bsa_model_known *m;
	struct bsa_deadline_missed fact;

	if (e->exec && !x)
		return;
	m = e->model ? bsa_model_of(f, e->model) : NULL;
	fact = (struct bsa_deadline_missed){ .execution = x ? x->fact.id : 0,
		                             .at = f->at,
		                             .deadline = e->deadline_ns,
		                             .estimate = e->estimate_ns ? e->estimate_ns : BSA_NEVER,
		                             .over = e->over_ns,
		                             .model = m ? m->fact.id : 0,
		                             .trace = f->trace,
		                             .kind = e->kind,
		                             .stage = e->stage };
	f->facts.deadline_missed(f->facts.ctx, &fact);
	if (!x)
		return;
	set_model(f, x, e->model, BSA_SAID_BY_ASKING);
	reported_deadline(x, e->deadline_ns);
	if (x->fact.estimate == BSA_NEVER)
		reported_estimate(x, e->estimate_ns);
	if (x->fact.missed_at != BSA_NEVER)
		return;
	x->fact.missed_at = f->at;
	x->fact.lateness = e->over_ns;
	x->miss_stage = e->stage;
	if (e->stage == BSA_STAGE_ADMISSION && !x->scheduled && !has_ended(x))
		bsa_exec_step(f, x, BSA_STEP_REFUSED, f->step_at, BSA_LANE_NONE);
}

void bsa_on_exec_return(struct bsa_fold *f, const struct bsa_exec_return *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_CLIENT);

	if (!x || !reach_boundary(f, x, BSA_RETURNED))
		return;
	x->returned = e->status;
	if (x->fact.at[BSA_RUN_ENDED] == BSA_NEVER && x->fact.at[BSA_RESULT_WRITTEN] == BSA_NEVER &&
	    (e->status != BSA_STATUS_NONE || (x->fact.path != BSA_PATH_FENCED && !bsa_exec_may_be_launch(x))))
		bsa_voices_untold(f, x);
	bsa_exec_look_over(f, x);
}

void bsa_on_fence_signal(struct bsa_fold *f, const struct bsa_fence_signal *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);

	if (!x || !reach_boundary(f, x, BSA_SIGNALLED))
		return;
	set_path(x, BSA_PATH_FENCED);
	x->signalled = e->status;
	answered_unended(f, x);
	bsa_exec_look_over(f, x);
}

/* ---- all boundaries of a side ---- */

/* A time that a summary has; BSA_NEVER: none, or one that cannot be. @last: the one before it. */
static uint64_t summary_time(struct bsa_fold *f, uint64_t began, uint64_t after, uint64_t *last)
{
	uint64_t at = began + after;

	if (after == BSA_NEVER)
		return BSA_NEVER;
	if (at < began || at < *last || at > f->now) {
		bsa_fold_absurd(f);
		return BSA_NEVER;
	}
	*last = at;
	return at;
}

/* True: that was not known. */
static bool fill_boundary(struct bsa_exec *x, enum bsa_boundary b, uint64_t at)
{
	bool fills = x->fact.at[b] == BSA_NEVER && at != BSA_NEVER && bsa_exec_may_reach(x, b);

	if (fills)
		x->fact.at[b] = at;
	return fills;
}

static void fill_number(uint64_t *number, uint64_t told)
{
	if (*number == BSA_NEVER)
		*number = told;
}

static bool is_first(struct bsa_fold *f, bool has_one)
{
	if (has_one)
		bsa_fold_absurd(f);
	return !has_one;
}

/* A summary comes when its execution is over: the execution had its number when it began. */
static void numbered_at(const struct bsa_exec *x)
{
	struct bsa_stream_known *s = x->stream;
	uint64_t began = bsa_exec_first_seen(x);

	if (!bsa_stream_is_serial(s) && (uint32_t)x->fact.exec == s->newest && began < s->newest_at)
		s->newest_at = began;
}

void bsa_on_exec_client(struct bsa_fold *f, const struct bsa_exec_client *e)
{
	static const enum bsa_boundary boundaries[] = { BSA_REQUEST_WRITTEN, BSA_RESULT_READ, BSA_RETURNED };
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_CLIENT);
	uint64_t last = 0;

	if (!x || !is_first(f, x->has_client))
		return;
	x->has_client = true;
	set_path(x, e->path);
	set_model(f, x, e->model, BSA_SAID_BY_ASKING);
	asked_deadline(x, e->deadline_ns, e->duration_ns);
	reported_submit_delay(x, e->delay_ns, e->gap_ns, e->turns);
	if (x->fact.fallback == 255)
		x->fact.fallback = e->fallback;
	if (x->returned == BSA_STATUS_UNKNOWN)
		x->returned = e->status;
	fill_boundary(x, BSA_SUBMITTED, summary_time(f, e->began, 0, &last));
	for (int i = 0; i < 3; i++)
		fill_boundary(x, boundaries[i], summary_time(f, e->began, e->at[i], &last));
	fill_number(&x->fact.result.slept, e->at[3]);
	numbered_at(x);
	bsa_exec_look_over(f, x);
}

/* The parts of a summary that the schedule does not have yet. */
struct news {
	bool enqueued, dispatched, ended;
};

/* When the first of the news was; BSA_NEVER if there are no news. */
static uint64_t first_of(const struct bsa_exec *x, const struct news *n)
{
	const uint64_t *at = x->fact.at;

	return n->enqueued     ? at[BSA_ENQUEUED]
	       : n->dispatched ? at[BSA_DISPATCHED]
	       : n->ended      ? at[BSA_RUN_ENDED]
	                       : BSA_NEVER;
}

/* Its summary is late: the length of its wait is certain, but not the holders. The wait may be starvation. */
static void summary_is_late(struct bsa_fold *f, struct bsa_exec *x)
{
	const uint64_t *at = x->fact.at;

	if (x->scheduled && !x->found_on)
		return;
	x->late = true;
	if (at[BSA_ENQUEUED] != BSA_NEVER && at[BSA_DISPATCHED] != BSA_NEVER &&
	    bsa_schedule_report_possible(f->schedule, &x->sched, at[BSA_ENQUEUED], at[BSA_DISPATCHED]))
		f->failed = -ENOMEM;
}

/* False: too late for the schedule to hear of it. */
static bool is_in_time(struct bsa_fold *f, struct bsa_exec *x, struct news *n)
{
	uint64_t first = first_of(x, n);
	struct news rest;

	if (first == BSA_NEVER)
		return true;
	if (f->now - first > f->latest_summary)
		f->latest_summary = f->now - first;
	if (first > f->known)
		return true;
	/*
	 * Has the schedule heard of what is too late of the summary, because exec_state reported it, and is
	 * the rest in time?
	 */
	rest = (struct news){ false, n->dispatched && !x->found_on, n->ended };
	if ((x->found_queued || x->found_on) && x->scheduled && n->enqueued && first_of(x, &rest) > f->known) {
		*n = rest;
		if (x->found_on)
			summary_is_late(f, x); /* the schedule has not had its wait before that */
		return true;
	}
	f->left_out.late++;
	return false;
}

static void note_reported(struct bsa_fold *f, struct bsa_exec *x, const struct news *n, uint8_t lane, uint8_t end_lane)
{
	const uint64_t *at = x->fact.at;

	if (n->enqueued)
		bsa_exec_step(f, x, BSA_STEP_READY, at[BSA_ENQUEUED], BSA_LANE_NONE);
	if (n->dispatched && x->sched.counted)
		bsa_exec_step(f, x, BSA_STEP_DISPATCH, at[BSA_DISPATCHED], x->stops ? x->first_lane : lane);
	else if (n->dispatched) /* its first lane is unknown */
		bsa_exec_step(f, x, BSA_STEP_FORGET, at[BSA_DISPATCHED], BSA_LANE_NONE);
	if (x->end_noted)
		x->placed = false;
	else if (has_ended(x) && (n->enqueued || n->dispatched || is_placed(f, x, end_lane)))
		bsa_exec_step(f, x, BSA_STEP_END, at[BSA_RUN_ENDED], end_lane);
}

void bsa_on_exec_service(struct bsa_fold *f, const struct bsa_exec_service *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);
	struct news news;
	uint64_t last = 0, over, ready, began;
	uint8_t end_lane;

	if (!x || !is_first(f, x->has_service))
		return;
	x->has_service = true;
	set_path(x, e->path);
	set_identity(f, x, e->model, e->app, e->priority, BSA_SAID_BY_SUMMARY);
	reported_deadline(x, e->deadline_ns);
	x->fact.lookups = e->lookups;
	x->fact.misses = e->misses;
	x->told_stops = e->preemptions;
	x->served = e->status;
	if (x->lane == BSA_LANE_NONE)
		x->lane = e->lane;
	fill_number(&x->fact.request.slept, e->at[6]);
	x->answer_blocked = e->at[7];
	fill_number(&x->fact.redo, e->at[8]);
	fill_number(&x->fact.cpu, e->at[9]);
	for (int part = 0; part < BSA_DELAYS; part++)
		fill_number(&x->fact.delay[part], e->delays[part]);
	if (!x->fact.reference)
		x->fact.reference = e->reference_ns;

	/* The boundaries, in the order in which they come. */
	fill_boundary(x, BSA_REQUEST_READ, summary_time(f, e->began, 0, &last));
	fill_boundary(x, BSA_DECODED, summary_time(f, e->began, e->at[0], &last));
	fill_boundary(x, BSA_FENCED, summary_time(f, e->began, e->at[1], &last));
	news.enqueued = fill_boundary(x, BSA_ENQUEUED, summary_time(f, e->began, e->at[2], &last));
	news.dispatched = fill_boundary(x, BSA_DISPATCHED, summary_time(f, e->began, e->at[3], &last));
	news.ended = fill_boundary(x, BSA_RUN_ENDED, summary_time(f, e->began, e->at[4], &last));
	x->answered = summary_time(f, e->began, e->at[5], &last);

	/* How late the summary was written. */
	over = x->answered != BSA_NEVER ? x->answered : x->fact.at[BSA_RUN_ENDED];
	if (over != BSA_NEVER && over <= f->now && f->now - over > f->latest_written)
		f->latest_written = f->now - over;

	/* The event that has when @x was ready was not recorded, and not because it was lost. */
	ready = x->fact.at[BSA_ENQUEUED];
	f->summed_lanes |= news.enqueued && ready > f->began && !bsa_losses_touch(&f->losses, ready, ready);
	/* A stop of it was not recorded, and not because it was lost, or was before the recording. */
	began = x->fact.at[BSA_DISPATCHED];
	f->summed_stops |= e->preemptions > x->stops && began != BSA_NEVER && began > f->began &&
	                   !bsa_losses_touch(&f->losses, began, f->at);
	numbered_at(x);
	end_lane = news.ended ? ended_on(f, x, x->fact.at[BSA_RUN_ENDED], e->status, e->lane) : x->lane;
	x->sched.counted = x->told_stops == x->stops && !x->broken;
	if (ready != BSA_NEVER)
		bsa_numbers_see(f, x, e->n_ready, x->fact.at[BSA_RUN_ENDED]);
	bsa_numbers_hear(f, x, e);
	if (is_in_time(f, x, &news))
		note_reported(f, x, &news, e->lane, end_lane);
	else
		summary_is_late(f, x);
	bsa_exec_look_over(f, x);
}

/* When the wait in which an execution was found began; 0: unknown. A time to come cannot be. */
static uint64_t found_since(struct bsa_fold *f, uint64_t ready)
{
	if (ready <= f->now)
		return ready;
	bsa_fold_absurd(f);
	return 0;
}

/*
 * With summaries, the schedule has not yet taken what was since f->known, so @x is listed as waiting since
 * its wait began, or since then. If its summary comes in time, the schedule ignores this step. A wait that
 * began before f->known is longer than the horizon: ask for more.
 */
static void found_waiting(struct bsa_fold *f, struct bsa_exec *x, enum bsa_step step)
{
	uint64_t since = x->sched.found_since, at = f->now;

	if (f->options.horizon_ns && since) {
		x->found_queued = step == BSA_STEP_FOUND_READY;
		if (f->now - since > f->latest_summary)
			f->latest_summary = f->now - since;
		if (f->known < f->now)
			at = since > f->known ? since : f->known + 1;
	}
	bsa_exec_step(f, x, step, at, BSA_LANE_NONE);
}

void bsa_on_exec_state(struct bsa_fold *f, const struct bsa_exec_state *e)
{
	struct bsa_exec *x = bsa_exec_heard(f, e->exec, BSA_HEARD_SERVICE);
	bool stalled;

	if (!x)
		return;
	x->late_start |= x->fact.at[BSA_REQUEST_READ] == BSA_NEVER;
	set_path(x, e->path);
	set_identity(f, x, e->model, e->app, e->priority, BSA_SAID_BY_STATE);
	reported_deadline(x, e->deadline_ns);
	stalled = e->phase == BSA_STATE_PREEMPTED && !e->ready_ns; /* off its lane, and waits for none that is known */
	x->found_waiting =
		x->late_start && (e->phase == BSA_STATE_QUEUED || e->phase == BSA_STATE_PREEMPTED) && !stalled;
	if (x->found_waiting)
		x->sched.found_since = found_since(f, e->ready_ns);
	/* Events of this execution that the fold has seen already are newer than the state that exec_state gives. */
	if (x->scheduled || has_ended(x))
		return;
	if (stalled) {
		x->found_stalled = bsa_schedule_is_told_ready(f->schedule, x->sched.instance);
		if (x->found_stalled)
			bsa_exec_step(f, x, BSA_STEP_FOUND_STALLED, f->now, BSA_LANE_NONE);
		return;
	}
	x->found_on = f->options.horizon_ns && (e->phase == BSA_STATE_PREEMPTED || e->phase == BSA_STATE_RUNNING);
	if (e->phase == BSA_STATE_QUEUED)
		found_waiting(f, x, BSA_STEP_FOUND_READY);
	else if (e->phase == BSA_STATE_PREEMPTED)
		found_waiting(f, x, BSA_STEP_FOUND_STOPPED);
	else if (e->phase == BSA_STATE_RUNNING && (e->lane < LANES_MAX || e->lane == BSA_LANE_NATIVE))
		bsa_exec_step(f, x, BSA_STEP_FOUND_ON, f->now, e->lane);
}

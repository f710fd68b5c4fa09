/*
 * schedule.h -- reconstructs the lanes of a service over time: their holders, the waits behind them, and the
 * apps' shares.
 *
 * The assembler (fold.c, exec.c) notes steps of executions, in any order, when it learns of them; the
 * schedule takes the steps in the order of their times, once everything up to their time is known. With
 * summaries among the events, this is the case a horizon after that time; without them, at once: a step is
 * taken when it is noted.
 */
#ifndef BSA_FOLD_SCHEDULE_H
#define BSA_FOLD_SCHEDULE_H

#include "fold/facts.h"
#include "fold/fold.h"

struct bsa_schedule;

enum bsa_step {
	BSA_STEP_READY,       /* sched_enqueue: ready */
	BSA_STEP_DISPATCH,    /* its first lane */
	BSA_STEP_STOP,        /* the execution is preempted */
	BSA_STEP_RESTART,     /* the same, and it will begin anew */
	BSA_STEP_STALL,       /* it lost its lane because its thread cannot use it: it is not ready */
	BSA_STEP_READY_AGAIN, /* stalled until now, and ready for a lane again */
	BSA_STEP_RESUME,
	BSA_STEP_END,     /* exec_end, on a lane or not */
	BSA_STEP_REFUSED, /* refused: deadline_miss before it was ready */
	BSA_STEP_FORGET,  /* its end was not recorded: remove it from all lists; its slice is unknown */
	/* the recording began while it was ready, preempted, stalled, or on a lane */
	BSA_STEP_FOUND_READY,
	BSA_STEP_FOUND_STOPPED,
	BSA_STEP_LOSE,          /* as STALL, but its thread was ready to run and had no cpu */
	BSA_STEP_FOUND_STALLED, /* only of a service that tells when stalled executions are ready again */
	BSA_STEP_FOUND_ON,
	BSA_STEP_CUT /* the recording ends while it is under way */
};

enum bsa_scheduled_state {
	BSA_SCHEDULED_OFF, /* the schedule knows nothing of it: not yet, or no longer */
	BSA_SCHEDULED_READY,
	BSA_SCHEDULED_ON, /* on a lane */
	BSA_SCHEDULED_STOPPED,
	/*
	 * off its lane since STALL, and not ready until READY_AGAIN; if its service does not emit that, whether it
	 * waits for a lane again is unknown
	 */
	BSA_SCHEDULED_STALLED,
	BSA_SCHEDULED_OVER
};

/*
 * The schedule's view of an execution, a member of the assembler's own struct; zero at first. The assembler
 * owns it; the schedule borrows it from its first step until bsa_scheduled_idle is true: this is always so
 * when END or FORGET was taken and no step is left, and for all after bsa_schedule_finish. Freeing it then
 * needs no call.
 *
 * The assembler sets the first part before it notes a step, and may improve it between steps; the schedule
 * writes the second part, which the assembler reads when the execution is over.
 */
struct bsa_scheduled {
	uint64_t id;
	uint64_t step_ns;     /* longest operation of its model; BSA_NEVER: unknown */
	uint64_t estimate_ns; /* how long the service expected it to have a lane; BSA_NEVER: unknown */
	uint32_t app, model, trace;
	uint16_t instance;    /* the service, below 4096 */
	uint8_t priority;     /* above BSA_PRIORITY_HIGH: unknown */
	uint64_t ready_after; /* a lower bound of the time at which it became ready; 0: unknown */
	bool queue_empty; /* for READY: at some time since @ready_after no execution of the service waited for a lane */
	uint64_t found_since;    /* for FOUND_READY, FOUND_STOPPED: begin of its wait; 0: unknown */
	bool on_lane_to_its_end; /* the execution succeeded, so it did not end while it waited */
	/* set before FORGET: it is over, because the next one of its stream began or the stream was closed */
	bool known_over;
	bool counted; /* all of its preemptions were recorded, by the count in exec_service: a loss hides none */
	/*
	 * set before CUT, which is at the last event of its service: the time by which it was over, because it was
	 * answered, or the recording ended; until then it may have waited on, without an event. 0: at CUT
	 */
	uint64_t over_by;

	uint8_t state;        /* enum bsa_scheduled_state */
	uint32_t steps_left;  /* steps noted, but not taken yet */
	uint32_t bypassed;    /* count over its ended waits; a lower bound if there were losses, or if bypassed_more */
	bool bypassed_more;   /* not all bypasses were counted */
	uint64_t ready_since; /* begin of its last wait, or of the time in which it is stalled */
	uint64_t slice_began; /* begin of its last stretch on a lane */
	uint64_t lane_ns,
		ready_ns; /* totals of the stretches that are certain; ready_ns: with those that are stalled */
	bool sliced;      /* a stretch on a lane was reported as a slice */
	uint64_t waited[BSA_WAIT_CAUSES];
	uint64_t stalled; /* total of the times in which it was off its lane, and certainly not ready */
	uint64_t no_cpu;  /* the same, since LOSE */
	bool loses;       /* it was LOSE that made it stalled */
	bool begins_anew; /* it was RESTART that made it wait */
	int16_t lane;     /* after its end: the lane that it certainly held all the time, or -1 */
	bool idle;        /* its queue phase was one wait while @lane was idle, or was empty, or the policy is native */
	bool on_native;   /* its last stretch was under the native policy, without a lane */
	/* a stretch on or off a lane is unknown. The assembler may set it before DISPATCH or RESUME for the coming
	 * stretch */
	bool uncertain;

	/* private to the schedule */
	uint64_t listed_ns; /* estimate_ns, when it was put into the list of those that wait; BSA_NEVER: unknown */
	bool doubtful, was_late;
	bool resumed; /* its last stretch on a lane began with RESUME, and no step has shown until when it lasted */
	/* in compact detail: it was under way when its service's recording began, so it may end without a step */
	bool found;
	bool forgotten; /* its last step noted is FORGET or CUT, and is not taken yet */
	uint8_t level, last_rank;
	uint32_t stretches; /* stretches on lanes, and times of unknown state; 0: certainly never on a lane */
	uint32_t pending;   /* for the counts of bypasses: struct bsa_level */
	uint64_t last_noted;
	uint64_t last_taken; /* time of its last step; 0: no step yet */
	/*
	 * The service reported, at that time, that no execution waited, while this one was in the list of
	 * those that may still wait: so its wait ended, but a lane may have been meant for it. 0: no such
	 * report since its last step.
	 */
	uint64_t none_waited_at;
	uint8_t open; /* enum bsa_open of its current wait */
	struct bsa_scheduled *prev, *next;
	struct bsa_device *device; /* the service of its steps so far; NULL before its first step */
	struct bsa_tenant *tenant; /* entry of its app while it waits or is on a lane, otherwise NULL */
};

/* Whether the assembler may free it. */
static inline bool bsa_scheduled_idle(const struct bsa_scheduled *x)
{
	return !x->steps_left &&
	       (x->state == BSA_SCHEDULED_OFF || x->state == BSA_SCHEDULED_STALLED || x->state == BSA_SCHEDULED_OVER);
}

/*
 * Make a schedule, which reports to @facts: slice, wait, possible_wait, unknown_lane, inverted, starved,
 * share, lag, interfered, chosen, refused. NULL: no memory.
 */
struct bsa_schedule *bsa_schedule_new(const struct bsa_facts *facts, const struct bsa_fold_options *options);
struct bsa_schedule *bsa_schedule_free(struct bsa_schedule *s);

/* The recording begins at @at: a hole that begins no later may hide waits of any length. */
void bsa_schedule_set_begin(struct bsa_schedule *s, uint64_t at);

/*
 * Service @instance has @lanes lanes from @at on; @idle: it has just begun, so all lanes are idle. All
 * functions here that return int return 0; or -ENOMEM, after which only free is allowed.
 */
int bsa_schedule_lanes(struct bsa_schedule *s, uint16_t instance, uint64_t at, unsigned lanes, bool native, bool idle);

/* Service @instance emits when a stalled execution is ready again: without that event, it is not. 0 or -ENOMEM. */
int bsa_schedule_tells_ready(struct bsa_schedule *s, uint16_t instance);
bool bsa_schedule_is_told_ready(const struct bsa_schedule *s, uint16_t instance);

/*
 * Note that @x made @step at @at, on @lane (for DISPATCH, STOP, STALL, RESUME, END; 255: none). Of steps with
 * the same time, END, STOP and STALL are taken first, then READY and READY_AGAIN, then DISPATCH and RESUME, but a
 * step never overtakes an earlier noted step of the same execution. With horizon_ns == 0, @at must not decrease,
 * and steps are taken as they are noted. A step earlier than one already taken is too late: it makes its lane
 * unknown until the next step there.
 */
int bsa_schedule_step(struct bsa_schedule *s, struct bsa_scheduled *x, enum bsa_step step, uint64_t at, uint8_t lane);

/*
 * Events of some trace of the fold were lost from @began to @ended, inclusive. Call this before any step of
 * that time is taken. Everything that overlaps the loss is unknown. Unless lane events themselves are
 * recorded (@full), a lost summary may concern times before the loss: within a horizon before it no lane is
 * certainly idle, and shares are not counted.
 */
int bsa_schedule_add_loss(struct bsa_schedule *s, uint64_t began, uint64_t ended, bool full);

/*
 * Like bsa_schedule_add_loss, if the hidden lane times are known: lanes are unknown from @from to @until.
 * @from BSA_NEVER: events were lost, but no lane time is hidden.
 */
int bsa_schedule_add_hole(struct bsa_schedule *s, uint64_t began, uint64_t ended, uint64_t from, uint64_t until);

/*
 * From @at on, and until one of service @instance is taken, its steps STOP, RESTART, STALL, LOSE and RESUME are not
 * recorded, although there may be some: all of that time is a hole of that service. 0 or -ENOMEM.
 */
int bsa_schedule_lacks_stops(struct bsa_schedule *s, uint16_t instance, uint64_t at);

/* Whether they were not in any part of this time. */
bool bsa_schedule_lacked_stops(const struct bsa_schedule *s, uint16_t instance, uint64_t began, uint64_t ended);

/*
 * Whether each service that gave lanes gave one that an execution held, so that an END is missing, or those steps, and
 * took none of these: the schedule takes them for missing since the holder got the lane, and until the first one of
 * that service is taken.
 */
bool bsa_schedule_is_crowded(const struct bsa_schedule *s);

/* Memory of its apps. */
size_t bsa_schedule_tenant_bytes(const struct bsa_schedule *s);

/* Whether the earliest steps must be taken before more can be noted. */
bool bsa_schedule_is_full(const struct bsa_schedule *s);

/*
 * At the end of the recording, executions may be under way whose summaries are missing, since @since at the
 * earliest: shares are uncertain from then on, and a lane without a holder at the end is unknown since its
 * last step. From @began to @ended no lane is certain at all, because summaries of that time may be late.
 */
int bsa_schedule_set_unsummed(struct bsa_schedule *s, uint64_t since, uint64_t began, uint64_t ended);

/*
 * An execution of @stream without any recorded event may have existed from @after to @before, as far as holes
 * could hide it, and may still exist unless @over: report how long it may have waited.
 */
void bsa_schedule_report_hidden(struct bsa_schedule *s, const struct bsa_stream *stream, uint64_t after,
                                uint64_t before, bool over);

/*
 * Report that @x, without any noted step, may have waited from @since (BSA_NEVER: before the recording) to
 * @until. 0 or -ENOMEM; never fails for @x without an id, an execution without any recorded event.
 */
int bsa_schedule_report_possible(struct bsa_schedule *s, const struct bsa_scheduled *x, uint64_t since, uint64_t until);

/*
 * From @at on, service @instance emits what was under way when the recording began; with @over it has
 * finished that. Until then unreported executions may be ready or on lanes; after that, lanes without a
 * holder are idle.
 */
int bsa_schedule_listing(struct bsa_schedule *s, uint16_t instance, uint64_t at, bool over);

/* Whether lanes of service @instance may be unknown in any part of this time. */
bool bsa_schedule_is_unsure(const struct bsa_schedule *s, uint16_t instance, uint64_t began, uint64_t ended);

/* Whether events were lost in any part of this time. */
bool bsa_schedule_is_lost(const struct bsa_schedule *s, uint64_t began, uint64_t ended);

/* Everything up to @known has been noted: take the steps that are due. Cheap if there are none. */
int bsa_schedule_advance(struct bsa_schedule *s, uint64_t known);

/* At the end, before finish: service @instance is recorded up to @at, unless it has later steps. */
void bsa_schedule_set_end(struct bsa_schedule *s, uint16_t instance, uint64_t at);

/* The same: service @instance was silent from @from until the end. */
void bsa_schedule_set_silent(struct bsa_schedule *s, uint16_t instance, uint64_t from);

/*
 * Everything is noted: take all steps, close what is open, report shares and interference up to @at. Then
 * only free, is_lost, left_out, report_unrecorded.
 */
int bsa_schedule_finish(struct bsa_schedule *s, uint64_t at);

/*
 * After finish: service @instance was not recorded from @began to @ended: report that all of its lanes are unknown
 * then. If executions may be under way whose summaries are missing, finish has reported that already.
 */
void bsa_schedule_report_unrecorded(const struct bsa_schedule *s, uint16_t instance, uint64_t began, uint64_t ended);

/* The counts of what the schedule itself left out. */
struct bsa_left_out bsa_schedule_left_out(const struct bsa_schedule *s);

#endif

/*
 * schedule.h -- the lanes of a service as time goes on: who held them, who waited behind whom, who had more than their share.
 *
 * The assembling half of the fold (fold.c, exec.c) notes steps of executions, each when it learns of it; this half takes them
 * in the order of their times, once the time up to which everything is known has passed them. With summaries among the
 * events that is the horizon behind the events' own time; without them it is now, and a step is taken when it is noted.
 */
#ifndef BSA_FOLD_SCHEDULE_H
#define BSA_FOLD_SCHEDULE_H

#include "fold/facts.h"
#include "fold/fold.h"

struct bsa_schedule;

enum bsa_step {
	BSA_STEP_READY,    /* sched_enqueue */
	BSA_STEP_DISPATCH, /* first time on a lane */
	BSA_STEP_STOP,     /* preempted */
	BSA_STEP_RESUME,
	BSA_STEP_END,     /* exec_end, wherever it was */
	BSA_STEP_REFUSED, /* deadline_miss before it was ready */
	BSA_STEP_FORGET,  /* its end was not recorded: off every list, its slice is unknown */
	/* The recording began while it was ready, stopped, or on a lane. */
	BSA_STEP_FOUND_READY,
	BSA_STEP_FOUND_STOPPED,
	BSA_STEP_FOUND_ON,
	BSA_STEP_CUT /* the recording ends while it is under way */
};

enum bsa_scheduled_state {
	BSA_SCHEDULED_OFF, /* nothing is known of it: not yet, or no more */
	BSA_SCHEDULED_READY,
	BSA_SCHEDULED_ON, /* a lane */
	BSA_SCHEDULED_STOPPED,
	BSA_SCHEDULED_OVER
};

/*
 * An execution as the schedule sees it: a part of the assembling half's own struct, zero at first. It is the assembler's,
 * and borrowed by the schedule from its first step until bsa_scheduled_idle says so: after END or FORGET was taken and
 * no step is left it always does, and after bsa_schedule_finish for all. Nothing of the schedule's hangs on it.
 *
 * The first part is set by the assembler before a step is noted, and may get better between steps; the second is the
 * schedule's, and is read by the assembler when it is over.
 */
struct bsa_scheduled {
	uint64_t id;
	uint64_t step_ns; /* its model's; BSA_NEVER: unknown */
	uint32_t app, model, trace;
	uint16_t instance;    /* of the service: below 4096 */
	uint8_t priority;     /* more than BSA_PRIORITY_HIGH: unknown */
	uint64_t ready_after; /* it was ready no earlier; 0: unknown */
	bool queue_empty; /* READY: at some time since @ready_after the service had no execution that waited for a lane */
	uint64_t found_since;    /* FOUND_READY, FOUND_STOPPED: it has waited since, or longer if 0 */
	bool on_lane_to_its_end; /* it was answered well, so it did not end while it waited */
	bool passed; /* it is over, as the next one of its stream began or that was closed: told before FORGET */
	bool counted; /* how often it was preempted is known (exec_service), and as often was seen: a loss hides nothing of it */

	uint8_t state;        /* enum bsa_scheduled_state */
	uint32_t steps_left;  /* noted, and not taken yet */
	uint32_t bypassed;    /* in all its waits that are over; at least, if there were losses, or bypassed_more */
	bool bypassed_more;   /* not all were counted */
	uint64_t ready_since; /* the beginning of its last wait */
	uint64_t slice_began; /* of its last stretch on a lane */
	uint64_t lane_ns, ready_ns; /* of stretches known for certain */
	bool sliced;                /* a stretch on a lane was told as a slice */
	uint64_t waited[BSA_WAIT_CAUSES];
	int16_t lane; /* after its end: the one it was on all the time and for certain, or -1 */
	bool idle;    /* its queue phase was one wait while @lane was idle, or of no length, or the policy is native */
	bool on_native; /* its last stretch was on a lane that is none */
	bool uncertain; /* a stretch of it on a lane, or off it, is unknown. May be set before DISPATCH or RESUME: so is this one */

	/* nobody else's business */
	bool doubtful, was_late;
	uint8_t level, last_rank;
	uint32_t stretches, pending;
	uint64_t last_noted;
	uint64_t last_taken; /* its last step; 0: none */
	uint64_t
		handing; /* it waited, and the service said that none did by then: a lane may have been on its way to it; 0: no */
	uint8_t open; /* enum bsa_open, of its wait in hand */
	struct bsa_scheduled *prev, *next;
	struct bsa_tenant *tenant;
};

/* May the assembler free it? */
static inline bool bsa_scheduled_idle(const struct bsa_scheduled *x)
{
	return !x->steps_left && (x->state == BSA_SCHEDULED_OFF || x->state == BSA_SCHEDULED_OVER);
}

/*
 * Calls of @facts that it makes: slice, wait, possible_wait, unknown_lane, inverted, starved, share, lag, interfered, chosen,
 * refused. NULL: no memory.
 */
struct bsa_schedule *bsa_schedule_new(const struct bsa_facts *facts, const struct bsa_fold_options *options);
struct bsa_schedule *bsa_schedule_free(struct bsa_schedule *s);

/* The recording begins at @at: a hole that begins no later may hide waits of any length. */
void bsa_schedule_begin(struct bsa_schedule *s, uint64_t at);

/*
 * How many lanes service @instance has, from @at on; @idle: it has just begun, so nobody is on any. What returns int here
 * returns 0, or -ENOMEM, after which only free is allowed.
 */
int bsa_schedule_lanes(struct bsa_schedule *s, uint16_t instance, uint64_t at, unsigned lanes, bool native, bool idle);

/*
 * @x made this step at @at, on @lane (of DISPATCH, STOP, RESUME, END; 255: none). Steps of one time: END and STOP first, then
 * READY, then DISPATCH and RESUME, but never before one that was noted earlier of the same execution. With horizon_ns == 0
 * @at never falls, and steps are taken as they are noted. A step before one that was taken already comes too late: what it
 * says of a lane makes that unknown until the next step there.
 */
int bsa_schedule_step(struct bsa_schedule *s, struct bsa_scheduled *x, enum bsa_step step, uint64_t at, uint8_t lane);

/*
 * Events were lost from @began to @ended, both included, of any trace of the fold. The caller says so before any step of that time
 * is taken. Whatever overlaps the loss is unknown. Unless events of lanes are recorded themselves (@full), a summary that was lost
 * would have told of times before the loss: within a horizon before it no lane is certain to be idle, and shares are not counted.
 */
int bsa_schedule_loss(struct bsa_schedule *s, uint64_t began, uint64_t ended, bool full);

/*
 * The same where it is known which lanes the loss hides: from @from to @until they are unknown. @from BSA_NEVER: it hides none, though
 * events were lost.
 */
int bsa_schedule_hole(struct bsa_schedule *s, uint64_t began, uint64_t ended, uint64_t from, uint64_t until);

/* No more steps can be noted without taking those that are the earliest. */
bool bsa_schedule_is_full(const struct bsa_schedule *s);

/*
 * When the recording ends, executions may be under way whose summaries are still to come, since @since at the earliest: which shares
 * apps had from then on is not certain, and of a lane that nobody seems to hold at the end nothing is known since the last step there.
 * From @began to @ended no lane is certain at all: summaries of that time may be late.
 */
int bsa_schedule_unsummed(struct bsa_schedule *s, uint64_t since, uint64_t began, uint64_t ended);

/*
 * An execution of @stream of which no event was recorded may have been there from @after to @before, as far as holes
 * could hide it, and may be there still unless it is @over: tell how long it may have waited.
 */
void bsa_schedule_hidden(struct bsa_schedule *s, const struct bsa_stream *stream, uint64_t after, uint64_t before,
                         bool over);

/*
 * @x, of which no step was noted, may have waited from @since (BSA_NEVER: before the recording) to @until. 0 or -ENOMEM. @x without an
 * id is one of which no event was recorded: never fails.
 */
int bsa_schedule_possible(struct bsa_schedule *s, const struct bsa_scheduled *x, uint64_t since, uint64_t until);

/*
 * From @at on, service @instance tells of what was under way when the recording began, or, if @over, has done so. Until then
 * others may be ready or on lanes of which nothing was told yet; then lanes that none has are idle.
 */
int bsa_schedule_finding(struct bsa_schedule *s, uint16_t instance, uint64_t at, bool over);

/* May lanes be unknown for any of this time? */
bool bsa_schedule_unsure(const struct bsa_schedule *s, uint64_t began, uint64_t ended);

/* Is any of this time lost? */
bool bsa_schedule_lost(const struct bsa_schedule *s, uint64_t began, uint64_t ended);

/* Everything up to @known has been noted: take what is due. Cheap when nothing is. */
int bsa_schedule_advance(struct bsa_schedule *s, uint64_t known);

/* At the end, before finish: service @instance is known up to @at, if that is no earlier than its steps. */
void bsa_schedule_ends(struct bsa_schedule *s, uint16_t instance, uint64_t at);

/* All is noted: take all of it, close what is open, tell shares and interference up to @at. Then only free, lost, left_out. */
int bsa_schedule_finish(struct bsa_schedule *s, uint64_t at);

/* absurd, late and forgotten of what it was told. */
struct bsa_left_out bsa_schedule_left_out(const struct bsa_schedule *s);

#endif

/*
 * exec.h -- executions under way: what events have said of each, until it is over and can be told.
 *
 * Events may come in any order, and any of them may be missing. What can be told of an execution when it is over is judged in
 * judge.c, from what is kept here.
 */
#ifndef BSA_FOLD_EXEC_H
#define BSA_FOLD_EXEC_H

#include "fold/facts.h"
#include "fold/list.h"
#include "fold/schedule.h"
#include "fold/table.h"
#include "fold/voices.h"

struct bsa_fold;
struct bsa_stream_known;

/* Who said of whom an execution is: what has a higher rank holds. */
enum { BSA_SAID_BY_STREAM, BSA_SAID_BY_ASKING, BSA_SAID_BY_STATE, BSA_SAID_BY_SUMMARY, BSA_SAID_BY_SCHEDULER };

/* A lookup that missed. */
struct bsa_slot_miss {
	struct bsa_slot_miss *next;
	uint64_t at, map_ns;
	int32_t slot;
};

struct bsa_exec {
	struct bsa_entry entry; /* exec */
	struct bsa_execution fact;
	struct bsa_scheduled sched;
	struct bsa_link of_stream, under_way; /* under_way: or waiting, when it is over, for the schedule */
	struct bsa_stream_known *stream;
	struct bsa_preemption stop; /* if it is off its lane: by .stopped */
	struct bsa_slot_miss *slot_misses;
	uint64_t last;           /* event */
	uint64_t answered;       /* exec_service's last boundary: a result, or a signal */
	uint64_t answer_blocked; /* likewise */
	uint64_t noted_until;    /* the last of its steps that the schedule has */
	uint64_t off_ns;         /* its preempted stretches that are over */
	uint64_t op_began, fetch_ns, model_estimate;
	uint32_t model, app; /* as the service numbers them, to see whether they are the same */
	uint16_t stops, told_stops;
	uint8_t said_by;
	uint8_t heard;
	uint8_t lane, first_lane; /* exec_end's or exec_service's; the one that it was first stopped on */
	uint8_t ended, returned, signalled, served; /* statuses: of exec_end, exec_return, fence_signal, exec_service */
	uint8_t model_priority, miss_stage;
	bool has_client, has_service;
	bool deadline_said; /* an event tells whether it has one */
	bool off;           /* its lane: @stop is open */
	bool broken;        /* a preemption, or its end, was not seen */
	bool late_start;    /* told by exec_state */
	bool found_waiting; /* and it was ready, or stopped, then */
	bool placed;        /* the schedule has it, and does not know its end */
	bool scheduled;     /* it had it */
	bool end_noted;     /* it does */
	bool passed;        /* later ones of its stream began, or that was closed: it is over, whatever was seen */
	bool over;          /* it waits for the schedule only */
	bool evicted;
	bool numbered; /* an event tells that it became ready: it is no number that is missing */
	bool late;     /* its summary came too late for the schedule, which knows nothing of it */
	bool silent;   /* it is over, as its client tells, and no service was heard since: voices.h */
};

struct bsa_execs {
	struct bsa_table table;
	struct bsa_exec *last; /* the one that was asked for last; NULL */
	struct bsa_link under_way, waiting;
	struct bsa_exec *spare; /* by entry.next */
	struct bsa_slab *slabs;
	struct bsa_slot_miss *spare_misses;
	struct bsa_miss_slab *miss_slabs;
	uint32_t n, n_misses;
	uint32_t n_silent, n_silent_of[BSA_INSTANCES]; /* of those that wait; of each service */
};

int bsa_execs_init(struct bsa_execs *xs);
void bsa_execs_fini(struct bsa_fold *f);

/* ---- events ---- */

void bsa_on_exec_submit(struct bsa_fold *f, const struct bsa_exec_submit *e);
void bsa_on_fmq_write(struct bsa_fold *f, const struct bsa_fmq_write *e);
void bsa_on_fmq_read(struct bsa_fold *f, const struct bsa_fmq_read *e);
void bsa_on_request_decode(struct bsa_fold *f, const struct bsa_request_decode *e);
void bsa_on_fence_wait(struct bsa_fold *f, const struct bsa_fence_wait *e);
void bsa_on_slot_lookup(struct bsa_fold *f, const struct bsa_slot_lookup *e);
void bsa_on_slot_fetch(struct bsa_fold *f, const struct bsa_slot_fetch *e);
void bsa_on_sched_enqueue(struct bsa_fold *f, const struct bsa_sched_enqueue *e);
void bsa_on_sched_dispatch(struct bsa_fold *f, const struct bsa_sched_dispatch *e);
void bsa_on_sched_preempt(struct bsa_fold *f, const struct bsa_sched_preempt *e);
void bsa_on_sched_resume(struct bsa_fold *f, const struct bsa_sched_resume *e);
void bsa_on_op_end(struct bsa_fold *f, const struct bsa_op_end *e);
void bsa_on_exec_end(struct bsa_fold *f, const struct bsa_exec_end *e);
void bsa_on_deadline_miss(struct bsa_fold *f, const struct bsa_deadline_miss *e);
void bsa_on_exec_return(struct bsa_fold *f, const struct bsa_exec_return *e);
void bsa_on_exec_delay(struct bsa_fold *f, const struct bsa_exec_delay *e);
void bsa_on_fence_signal(struct bsa_fold *f, const struct bsa_fence_signal *e);
void bsa_on_exec_client(struct bsa_fold *f, const struct bsa_exec_client *e);
void bsa_on_exec_service(struct bsa_fold *f, const struct bsa_exec_service *e);
void bsa_on_exec_state(struct bsa_fold *f, const struct bsa_exec_state *e);

/* ---- for others ---- */

/* Under way, or from now on; NULL: it is over, or is none, or there is no memory. */
struct bsa_exec *bsa_exec_of(struct bsa_fold *f, uint64_t exec);

/* The same, of whom this side has said something. */
struct bsa_exec *bsa_exec_heard(struct bsa_fold *f, uint64_t exec, uint8_t side);

/* Note a step of it. */
void bsa_exec_step(struct bsa_fold *f, struct bsa_exec *x, enum bsa_step step, uint64_t at, uint8_t lane);

/* It ended without a lane, and was not seen to be ready: it may have been where nothing was recorded, and have waited. */
void bsa_exec_died(struct bsa_fold *f, struct bsa_exec *x);

/* Its preemption is over. */
void bsa_exec_tell_stop(const struct bsa_fold *f, struct bsa_exec *x, uint64_t resumed);

void bsa_exec_missed_slot(struct bsa_fold *f, struct bsa_exec *x, int32_t slot);

/* Tell it if it is over. Then it is no more. */
void bsa_exec_look_over(struct bsa_fold *f, struct bsa_exec *x);

/* @slot was mapped for an execution of @s (or for @exec): it took @took_ns. */
void bsa_exec_mapped(struct bsa_fold *f, struct bsa_stream_known *s, uint64_t exec, int32_t slot, uint64_t took_ns);

/* More is known of @s than when those of it began that are under way. */
void bsa_execs_told(struct bsa_stream_known *s);

/*
 * Those of @s before @next (NULL: all) are over, as their burst goes on or is closed. Where a hole hides their ends, the schedule
 * would have them wait on.
 */
void bsa_execs_over(struct bsa_fold *f, struct bsa_stream_known *s, const struct bsa_exec *next);

/* Service @instance (BSA_NO_INSTANCE: any) was heard, so it was recorded: of those that are over it just does not tell. */
void bsa_execs_forget_silent(struct bsa_fold *f, unsigned instance);

/* Nothing more will be heard of those of @s. */
void bsa_execs_conclude(struct bsa_fold *f, struct bsa_stream_known *s);

/* Of those under way, whatever is over by now. */
void bsa_execs_advance(struct bsa_fold *f);

/* None will have another event. */
void bsa_execs_finish(struct bsa_fold *f);

/* The first and the last of its boundaries that are known; BSA_NEVER, 0: none. */
uint64_t bsa_exec_first_seen(const struct bsa_exec *x);
uint64_t bsa_exec_last_seen(const struct bsa_exec *x);

/* Later ones of its stream began, or that was closed. */
bool bsa_exec_is_passed(const struct bsa_exec *x);

/* Was anything lost between @at and where it can have begun? */
bool bsa_exec_lost_before(const struct bsa_fold *f, const struct bsa_exec *x, uint64_t at);

/* A trial run: it is of the service alone, is ready when it begins, and over when it ends. */
static inline bool bsa_exec_is_trial(const struct bsa_exec *x)
{
	return x->fact.path == BSA_PATH_PREPARE;
}

/* ---- judge.c ---- */

/* A fenced one whose launch was answered well: it ends with its signal. */
bool bsa_exec_launched(const struct bsa_exec *x);

/*
 * Its path is unknown, so it may be the launch of a fenced one: then fences are among what is before its queue, and its answer
 * ends nothing.
 */
bool bsa_exec_may_be_launch(const struct bsa_exec *x);

/* All of its fact that is made of what was seen: phases, miss, quality. */
void bsa_exec_judge(struct bsa_fold *f, struct bsa_exec *x);

#endif

/*
 * exec.h -- executions under way: collects the events of each, until it is over and its fact can be reported.
 *
 * Events may arrive in any order, and any of them may be missing. When an execution is over, judge.c decides
 * from the collected events what is known about it.
 */
#ifndef BSA_FOLD_EXEC_H
#define BSA_FOLD_EXEC_H

#include "base/table.h"
#include "fold/facts.h"
#include "fold/list.h"
#include "fold/schedule.h"
#include "fold/voices.h"

struct bsa_fold;
struct bsa_stream_known;

/* The source of an execution's app and model: a source of higher rank wins. */
enum { BSA_SAID_BY_STREAM, BSA_SAID_BY_ASKING, BSA_SAID_BY_STATE, BSA_SAID_BY_SUMMARY, BSA_SAID_BY_SCHEDULER };

/* A slot lookup that missed. */
struct bsa_slot_miss {
	struct bsa_slot_miss *next;
	uint64_t at, map_ns;
	int32_t slot;
};

struct bsa_exec {
	struct bsa_entry entry; /* exec */
	struct bsa_execution fact;
	struct bsa_scheduled sched;
	/* under_way: or, when it is over, the list of those that wait for the schedule */
	struct bsa_link of_stream, under_way;
	struct bsa_stream_known *stream;
	struct bsa_preemption stop; /* valid if it is off its lane: .stopped is set */
	struct bsa_slot_miss *slot_misses;
	uint64_t last;           /* time of the last event */
	uint64_t answered;       /* last boundary of exec_service: a result, or a signal */
	uint64_t answer_blocked; /* time for which that was blocked */
	uint64_t noted_until;    /* time of its last step noted in the schedule */
	uint64_t off_ns;         /* total of its ended preempted stretches */
	uint64_t op_began, fetch_ns, model_estimate;
	uint32_t model, app; /* the service's numbers, to detect a change */
	uint16_t stops, told_stops;
	uint16_t slots; /* number of slots of its request, as request_decode has it */
	uint8_t said_by;
	uint8_t heard;
	uint8_t lane, first_lane;                   /* lane in exec_end or exec_service; lane of its first preemption */
	uint8_t ended, returned, signalled, served; /* statuses in exec_end, exec_return, fence_signal, exec_service */
	uint8_t model_priority, miss_stage;
	bool has_client, has_service;
	bool deadline_said; /* an event reported whether it has a deadline */
	bool off;           /* the execution is off its lane: @stop is open */
	bool found_stalled; /* late_start: it was stalled then, the schedule has that, and nothing else happened yet */
	bool ready_again;   /* off its lane: it was stalled, and sched_ready reported that it waits for a lane again */
	bool broken;        /* a preemption, or its end, was not recorded */
	bool late_start;    /* first seen in exec_state */
	bool found_waiting; /* late_start: the execution was ready, or preempted, at that time */
	bool found_queued; /* with summaries: exec_state reported since when it was queued, and the schedule has that */
	/* with summaries: exec_state reported that it was on a lane, or preempted, and the schedule has that */
	bool found_on;
	bool placed;    /* the schedule has it, without its end */
	bool scheduled; /* the schedule had it at some time */
	bool end_noted; /* the schedule has its end */
	/* a later one of its stream began, or the stream was closed: so it is over, even without a recorded end */
	bool passed;
	bool over; /* the execution is over, and waits for the schedule only */
	bool evicted;
	bool asked;    /* its exec_submit was recorded, not only a summary */
	bool numbered; /* an event reported that it became ready, so its number is not missing */
	bool late;     /* its summary came too late: the schedule lacks it */
	bool silent;   /* its client reported its end, and no service was heard since: voices.h */
};

struct bsa_execs {
	struct bsa_table table;
	struct bsa_exec *last; /* the last result of a lookup; may be NULL */
	struct bsa_link under_way, waiting;
	struct bsa_exec *spare; /* by entry.next */
	struct bsa_slab *slabs;
	struct bsa_slot_miss *spare_misses;
	struct bsa_miss_slab *miss_slabs;
	uint32_t n, n_misses;
	uint32_t n_silent, n_silent_of[BSA_INSTANCES]; /* silent ones among those that wait; by service */
	uint64_t quiet_at[2];                          /* bsa_execs_quiet was called at this time; [1]: for_long */
	bool doubts_passed; /* lanes were reported that the end of the records might have found unknown */
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
void bsa_on_sched_ready(struct bsa_fold *f, const struct bsa_sched_ready *e);
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

/* ---- for other files of the fold ---- */

/* The execution, which is created if it is new; NULL: it is over, @exec is 0, or no memory. */
struct bsa_exec *bsa_exec_of(struct bsa_fold *f, uint64_t exec);

/* Like bsa_exec_of; also records that @side has reported it. */
struct bsa_exec *bsa_exec_heard(struct bsa_fold *f, uint64_t exec, uint8_t side);

/* Note a step of the execution in the schedule. */
void bsa_exec_step(struct bsa_fold *f, struct bsa_exec *x, enum bsa_step step, uint64_t at, uint8_t lane);

/* The execution ended without a lane and without a recorded ready: it may have waited during a hole. */
void bsa_exec_died(struct bsa_fold *f, struct bsa_exec *x);

/* Report its preemption, which has ended. */
void bsa_exec_report_stop(const struct bsa_fold *f, struct bsa_exec *x, uint64_t resumed);

void bsa_exec_missed_slot(struct bsa_fold *f, struct bsa_exec *x, int32_t slot);

/* If the execution is over, report and free it. */
void bsa_exec_look_over(struct bsa_fold *f, struct bsa_exec *x);

/* @slot was mapped for an execution of @s (or for @exec) in @took_ns. */
void bsa_exec_mapped(struct bsa_fold *f, struct bsa_stream_known *s, uint64_t exec, int32_t slot, uint64_t took_ns);

/* More is known about @s: update its executions under way. */
void bsa_execs_reported(struct bsa_stream_known *s);

/*
 * The executions of @s before @next (NULL: all) are over, because their burst went on or was closed. Without
 * this, an execution whose end is lost would wait for ever in the schedule.
 */
void bsa_execs_over(struct bsa_fold *f, struct bsa_stream_known *s, const struct bsa_exec *next);

/*
 * Service @instance (BSA_NO_INSTANCE: any) was heard, so it is recorded: its executions that are over are no
 * longer silent.
 */
void bsa_execs_forget_silent(struct bsa_fold *f, unsigned instance);

/* No more events of the executions of @s will arrive. */
void bsa_execs_conclude(struct bsa_fold *f, struct bsa_stream_known *s);

/* Report the executions under way that are over by now. */
void bsa_execs_advance(struct bsa_fold *f);

/* There was no record for a horizon: report the executions that are over as the end of the records would. */
/* @for_long: report them also where the end of the records could still find lanes unknown. */
void bsa_execs_quiet(struct bsa_fold *f, bool for_long);

/* No execution will have another event. */
void bsa_execs_finish(struct bsa_fold *f);

/* The first and the last known boundary; BSA_NEVER, 0: no boundary is known. */
uint64_t bsa_exec_first_seen(const struct bsa_exec *x);
uint64_t bsa_exec_last_seen(const struct bsa_exec *x);

/* Whether a later one of its stream began, or the stream was closed. */
bool bsa_exec_is_passed(const struct bsa_exec *x);

/* Whether events were lost between @at and its earliest possible beginning. */
bool bsa_exec_lost_before(const struct bsa_fold *f, const struct bsa_exec *x, uint64_t at);

/* Whether it is a trial run: only the service's, ready when it begins, and over when it ends. */
static inline bool bsa_exec_is_trial(const struct bsa_exec *x)
{
	return x->fact.path == BSA_PATH_PREPARE;
}

/* A trial run has no request and no answer, so only the boundaries between them. */
static inline bool bsa_exec_may_reach(const struct bsa_exec *x, enum bsa_boundary b)
{
	return !bsa_exec_is_trial(x) || (b >= BSA_ENQUEUED && b <= BSA_RUN_ENDED);
}

/* ---- judge.c ---- */

/* Whether it is a fenced one with a successful launch: it ends with its signal. */
bool bsa_exec_launched(const struct bsa_exec *x);

/*
 * Whether it may be the launch of a fenced one, because its path is unknown: then fences may precede its
 * queue phase, and its answer is not its end.
 */
bool bsa_exec_may_be_launch(const struct bsa_exec *x);

/*
 * Whether its client ended the call with a failure, after it had asked and before the service had answered: as by a
 * timeout. Then the service may go on, and its return ends nothing.
 */
bool bsa_exec_was_left(const struct bsa_exec *x);

/* Derive the rest of its fact: phases, miss, quality. */
void bsa_exec_judge(struct bsa_fold *f, struct bsa_exec *x);

#endif

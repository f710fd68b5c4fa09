/*
 * facts.h -- the output of the fold: one struct for each kind of row that follows from events alone.
 *
 * The fold reports facts through a table of callbacks as soon as they are certain; all pointers are borrowed
 * for the call. It numbers the facts (ids) from 1, per kind; 0 means none. Times are raw ns of the host's
 * clock. BSA_NEVER means unknown, in times and durations alike. The store computes from these facts what
 * needs the whole trace (percentiles, typical phases, causes of misses), with blame.h.
 */
#ifndef BSA_FOLD_FACTS_H
#define BSA_FOLD_FACTS_H

#include "fold/event.h"

#include <stdbool.h>

/* ---- objects: reported again, with the same id, whenever more is known. The last report is valid. ---- */

struct bsa_app {
	uint32_t id, trace, key, uid;
	bool uid_known;
	char name[BSA_TEXT];
};

enum bsa_role { BSA_ROLE_CLIENT, BSA_ROLE_SERVICE };

struct bsa_process {
	uint32_t id, trace, pid, app; /* app 0: the service */
	uint8_t role;
	char name[BSA_TEXT];
};

/* bsa_rules.policy. Neither FIFO nor NATIVE, which has no lanes, stops an execution for another one. */
enum { BSA_POLICY_FAIR, BSA_POLICY_PRIORITY, BSA_POLICY_FIFO, BSA_POLICY_EDF, BSA_POLICY_NATIVE };
enum { BSA_PREEMPT_NONE, BSA_PREEMPT_RESTART, BSA_PREEMPT_SAVE }; /* bsa_rules.preempt_mode */

/* Scheduling rules in force from @at on. Reported when they change. */
struct bsa_rules {
	uint64_t at;
	uint32_t trace, process, spin_us;
	uint16_t instance;
	uint8_t policy, preempt_mode, lanes, deadlines; /* deadlines 255: unknown */
};

struct bsa_model {
	uint64_t const_bytes, step_ns, look_ns, estimate_ns, prepare_ns, prepared, released; /* the last two: times */
	uint64_t measured_ns;                     /* the estimate as of prepared; BSA_NEVER: unknown */
	uint64_t deadline;                        /* deadline of the preparation; 0: no deadline */
	uint32_t id, trace, process, app, number; /* number: the service's; 0: the preparation failed */
	uint32_t digest;                          /* 0: unknown */
	uint16_t operations;
	uint8_t priority, status; /* 255: unknown (no event reported it) */
	char name[BSA_TEXT];
};

struct bsa_stream {
	uint64_t opened, closed, executions, cold; /* cold: in burst streams; BSA_NEVER: unknown of some of them */
	uint64_t first;                            /* time of the first submission */
	/* latest time at which an execution was seen; 0: none was; BSA_NEVER: one was still under way at the
	 * end */
	uint64_t last;
	uint32_t id, trace, number, app, model, process; /* model 0: any */
	uint32_t spin_us, client_spin_us;                /* UINT32_MAX: unknown, or for ever */
	uint8_t path, reason;                            /* reason 255: not closed, or unknown */
	uint8_t cache;                                   /* 255: unknown */
};

/* ---- one execution ---- */

/*
 * In the order of their times, except that the answer to the launch of a fenced one (RESULT_WRITTEN to
 * RETURNED) is earlier.
 */
enum bsa_boundary {
	BSA_SUBMITTED,
	BSA_REQUEST_WRITTEN,
	BSA_REQUEST_READ,
	BSA_DECODED,
	BSA_FENCED,
	BSA_ENQUEUED,
	BSA_DISPATCHED,
	BSA_RUN_ENDED,
	BSA_RESULT_WRITTEN,
	BSA_RESULT_READ,
	BSA_RETURNED,
	BSA_SIGNALLED,
	BSA_BOUNDARIES
};

/* The times between boundaries. */
enum bsa_phase {
	BSA_PREPARE,
	BSA_SEND,
	BSA_DECODE,
	BSA_FENCE,
	BSA_SLOTS,
	BSA_QUEUE,
	BSA_RUN,
	BSA_PREEMPTED,
	BSA_REPLY,
	BSA_RETURN,
	BSA_FINISH,
	BSA_SIGNAL,
	BSA_PHASES
};

#define BSA_COUNT_UNKNOWN UINT32_MAX
#define BSA_LATENESS_UNKNOWN INT64_MIN

enum bsa_miss { BSA_MISS_NONE, BSA_MISS_PREDICTED, BSA_MISS_ABORTED, BSA_MISS_LATE };
enum bsa_quality { BSA_QUALITY_COMPLETE, BSA_QUALITY_HEAD, BSA_QUALITY_TAIL, BSA_QUALITY_GAP, BSA_QUALITY_OPEN };
enum bsa_sides { BSA_SIDES_BOTH, BSA_SIDES_SERVICE, BSA_SIDES_CLIENT };

/* Causes of lost time (docs/figures.md). */
enum bsa_cause {
	BSA_TOO_BIG,
	BSA_TOO_TIGHT,
	BSA_QUEUED_BEHIND,
	BSA_INVERSION,
	BSA_CROWDED_OUT,
	BSA_HOGGED,
	BSA_CAUSE_PREEMPTED,
	BSA_REDO,
	BSA_HANDOVER,
	BSA_COLD,
	BSA_WOKEN_LATE,
	BSA_POLLED_LATE,
	BSA_QUEUE_FULL,
	BSA_SLOW_COMPUTE,
	BSA_OFF_CORE,
	BSA_SERVICE,
	BSA_CLIENT,
	BSA_DEPENDENCY,
	BSA_BAD_ESTIMATE,
	BSA_OWN_RUN, /* budget only */
	BSA_UNUSED,  /* budget only */
	BSA_CAUSE_UNKNOWN,
	BSA_SUBMITTED_LATE,
	BSA_MACHINE_BUSY,
	BSA_CAUSE_STALLED,
	BSA_CAUSE_STOPPED,
	BSA_LONG_RUN,
	BSA_OVERBOOKED, /* databases hold these numbers: append only */
	BSA_CAUSES
};

/* The causes of waits begin with BSA_QUEUED_BEHIND; this is their number. */
enum { BSA_WAIT_CAUSES = BSA_HANDOVER - BSA_QUEUED_BEHIND + 1 };

/* The work of an execution's thread while it had no cpu: before it was ready, on a lane, and answering. */
enum { BSA_DELAY_DECODE, BSA_DELAY_RUN, BSA_DELAY_REPLY, BSA_DELAYS };

struct bsa_waited {
	uint64_t blocked, spun, slept;
};

struct bsa_execution {
	uint64_t id, exec; /* exec: as in the trace, stream number << 32 | seq */
	uint64_t at[BSA_BOUNDARIES];
	/* in ns; 0 for a phase that the path does not have, or that never began, as a later event proves */
	uint64_t phase[BSA_PHASES];
	uint64_t e2e, run, redo, cpu, queue, preempted, slots;
	uint64_t delay[BSA_DELAYS]; /* run-queue delay within these parts; BSA_NEVER: not measured */
	uint64_t submit_delay; /* run-queue delay of the submitting thread since its call before; see submit_turns */
	uint64_t submit_gap;   /* how long ago that was */
	/* ns of its bsa_wait facts, by cause minus BSA_QUEUED_BEHIND; other parts of its waits are unknown, or
	 * @idle. */
	uint64_t waited[BSA_WAIT_CAUSES];
	uint64_t stalled; /* off its lane, and certainly not ready for one */
	uint64_t no_cpu;  /* the same, because its thread had no cpu */
	struct bsa_waited request, result;
	uint64_t deadline, duration, estimate; /* 0: none; estimate BSA_NEVER: unknown */
	uint64_t floor;                        /* the scheduler's lower bound of its lane time; 0: unknown */
	uint64_t reference; /* duration of the reference computation, on the answering thread; 0: not reported */
	uint64_t missed_at; /* time of the deadline_miss event, or BSA_NEVER */
	int64_t lateness;   /* valid where miss is not NONE; BSA_LATENESS_UNKNOWN */
	uint32_t trace, stream, app, model;              /* stream 0: not reported (bsa_left_out.streamless) */
	uint32_t lookups, misses, preemptions, bypassed; /* BSA_COUNT_UNKNOWN: not all of them were recorded */
	/* stretches on a cpu of that thread since then; 0: submit_delay and submit_gap are unknown */
	uint32_t submit_turns;
	uint8_t path, priority, fallback, status; /* 255: unknown */
	uint8_t miss, quality, sides;
	int8_t cold;     /* -1: not applicable (no burst), or unknown */
	int16_t lane;    /* the lane that it certainly held from dispatched to run_ended; otherwise -1: see slices */
	bool idle;       /* its queue phase is one wait for that lane while it was idle: no bsa_wait reports it */
	bool fence_free; /* path fenced: there was no fence that it waited for */
};

/* Whether an execution had no slot that the service did not know: a burst of which that is unknown may have had one. */
static inline bool bsa_is_warm(uint8_t path, int8_t cold)
{
	return !cold || (cold < 0 && path != BSA_PATH_BURST);
}

/*
 * The times on a lane of a preempted execution. For others, lane, dispatched and run_ended have them. Slices
 * of a lane never overlap.
 */
struct bsa_slice {
	uint64_t execution, began, ended;
	uint32_t trace;
	uint16_t instance;
	uint8_t lane;
};

enum bsa_wait_kind { BSA_WAIT_QUEUE, BSA_WAIT_PREEMPTED };

/* Ends of a wait that were not recorded: the wait is longer than reported. Bits. */
enum bsa_open { BSA_OPEN_START = 1, BSA_OPEN_END = 2 };
enum bsa_occupancy { BSA_HELD, BSA_IDLE, BSA_UNKNOWN };

/* A stretch of a wait. The stretches of a wait are in order, without gaps between them; there may be only one. */
struct bsa_wait {
	uint64_t execution, began, ended, blocker;
	uint32_t blocker_app;
	uint8_t kind, lane, occupancy, cause;
	uint8_t open; /* enum bsa_open of the whole wait: the same in all its stretches */
	uint32_t app; /* app of the waiting execution; 0: unknown */
	uint16_t instance;
	uint8_t level; /* priority of the waiting execution; 3: unknown */
};

/*
 * A stretch of a lane that ended while an execution waited. The stretches of a lane are in order, and between
 * them the lane was idle. Reported before the waits that it explains.
 */
struct bsa_occupied {
	uint64_t began, ended, blocker;
	uint32_t app;
	uint16_t instance;
	uint8_t lane, occupancy, level;
	bool hogging;
};

/*
 * A wait that lost events may hide: @execution may have been ready without a lane from @began to @ended, or
 * for any part of that time. A wait within a single hole follows from the hole alone, and is not reported.
 */
struct bsa_possible_wait {
	uint64_t execution;    /* 0: an execution without any recorded event */
	uint64_t began, ended; /* began BSA_NEVER: before the recording */
	uint32_t app, model;
};

/*
 * A lane whose holder is unknown for part of this time, because that part was not recorded. If an execution
 * may have held the lane before or after that part, @execution names it: then no other execution held the
 * lane outside the unknown part.
 */
struct bsa_unknown_lane {
	uint64_t execution;    /* the only one that may have held the lane all this time; 0: any execution */
	uint64_t began, ended; /* began BSA_NEVER: before the recording */
	uint16_t instance;
	uint8_t lane;
};

struct bsa_preemption {
	/* by 0: unknown; resumed BSA_NEVER: never resumed, or unknown */
	uint64_t execution, by, asked, stopped, resumed, redo;
	uint16_t at_op;
	uint8_t mode, lane;
};

struct bsa_deadline_missed {
	uint64_t execution, at, deadline, estimate; /* execution 0: the preparation of a model */
	int64_t over;
	uint32_t model, trace;
	uint8_t kind, stage;
};

/*
 * An execution refused before it was ready, with the lanes that it would have met. Reported when it is
 * certain that a lane was free for it, or at the end.
 */
struct bsa_refused {
	uint64_t execution, at; /* at: time of the refusal */
	/*
	 * First time after the refusal at which any lane was free. BSA_NEVER: not seen, or a hole may hide an earlier
	 * one.
	 */
	uint64_t lane_free;
	uint64_t held_until; /* from the refusal until then no lane was free */
	/*
	 * First time after the refusal at which a lane was idle and no execution waited. BSA_NEVER: not seen,
	 * or a hole may hide an earlier one.
	 */
	uint64_t queue_free;
	uint64_t holder; /* the execution on lane 0 at the refusal; 0: the lane was idle, or unknown */
	/* the execution that had waited longest: of the other app, if only one waited; of its own app, if no
	 * other did; 0 if executions of several other apps waited, or none did */
	uint64_t queue;
	/*
	 * how long the service expected those to have a lane that waited at the refusal: of its own app, and of all
	 * others; 0: none waited; BSA_NEVER: unknown of one of them, as of one that has had a lane before and does not
	 * begin anew, or a hole may hide which ones waited
	 */
	uint64_t own_ns, others_ns;
	uint32_t holder_app, queue_app;
	uint8_t holder_cause; /* BSA_QUEUED_BEHIND, _INVERSION, _CROWDED_OUT, _HOGGED, or BSA_CAUSE_UNKNOWN */
	/*
	 * BSA_QUEUED_BEHIND, if only its own app waited at the refusal; BSA_CROWDED_OUT, if another one did;
	 * BSA_CAUSE_UNKNOWN, without @queue, if a hole may hide which apps waited
	 */
	uint8_t queue_cause;
};

struct bsa_exhausted {
	uint64_t execution, owner_id, at, asked, limit;
	uint32_t model, app, trace;
	uint8_t owner, kind, resource;
};

struct bsa_slot_missed {
	uint64_t execution, at, fetch_ns,
		map_ns; /* BSA_NEVER: not reported; fetch_ns covers all slots of one callback */
	int32_t slot;
};

struct bsa_mapping {
	uint64_t id, bytes, mapped, unmapped, took, owner_id;
	uint32_t stream, trace; /* stream 0: the owner is not a stream */
	int32_t slot;
	uint8_t owner, kind, status, cause; /* cause 255: not unmapped, or unknown */
};

struct bsa_buffer {
	uint64_t bytes, allocated, freed;
	uint32_t id, trace, app, number;
	uint16_t roles;
	uint8_t status, cause;
};

enum bsa_buffer_op { BSA_BUFFER_TO, BSA_BUFFER_FROM, BSA_BUFFER_REJECT };

struct bsa_buffer_used {
	uint64_t execution, at, bytes, took;
	uint32_t buffer;
	uint8_t op, status, cause; /* 255: not reported */
};

/* ---- between apps, and inside one ---- */

struct bsa_inverted {
	uint64_t victim, holder, began, dur;
	uint64_t step; /* longest operation of the holder's model; dur is longer */
	uint8_t lane;
	uint8_t open; /* enum bsa_open: the inversion is longer than reported */
};

/*
 * An execution was ready without a lane for longer than bsa_fold_options.starvation_ns. Whether this is
 * starvation depends on the model's median.
 */
struct bsa_starved {
	uint64_t execution, began, gap, top_culprit_ns;
	uint32_t app, top_culprit_app, bypassed, model;
	uint8_t open; /* enum bsa_open: @gap is the recorded part of the wait */
};

/*
 * Lane time of one app over the whole trace, without times of losses: reported once, at the end. With
 * bsa_fold_options.tenants_max it may be reported in parts (bsa_left_out.parts): their times add up, and the
 * parts before the last one have no upper bound of the lag if there were holes.
 */
struct bsa_share {
	uint64_t received, entitled, max_lag_at; /* max_lag_at BSA_NEVER: no lag */
	int64_t max_lag;                         /* a lower bound if there were holes */
	int64_t most_lag; /* an upper bound: the same if there were no holes; INT64_MAX: unknown */
	uint32_t app;
};

/*
 * With bsa_fold_options.tenants_max, a window of an app may be reported in parts, of which some may be of no
 * time at all.
 */
enum { BSA_LAG_PARTS = 720720 };

struct bsa_lag {
	uint64_t window_began, received, entitled;
	int64_t lag;  /* largest lag in the window: lower bound */
	int64_t most; /* upper bound */
	/* their remainder beyond the rounded number, in parts of a ns: up to half of BSA_LAG_PARTS, of either sign */
	int32_t lag_part, most_part;
	uint32_t app;
	bool in_parts; /* other facts of the same window and app may be other parts of it */

	/*
	 * The app waited through these windows of the service, and received nothing: this fact is of the last one. In
	 * each earlier one the bounds of its lag are less by what those of such an app rose by since. last 0: none of
	 * these windows.
	 */
	uint64_t first, last; /* bsa_lag_window.number */
	uint64_t sum;         /* bsa_lag_window.sum of the last one, and its part */
	int32_t sum_part;
	uint16_t instance;
};

/*
 * A window in which some apps of a service waited: those that waited all of it were entitled to the same. Reported
 * before the lags in it. The windows of a service have adjacent numbers, from 1.
 */
struct bsa_lag_window {
	uint64_t number, began, entitled;
	uint64_t sum;     /* what the bounds of the lag of such an app rose by, since the recording began */
	int32_t sum_part; /* and parts of a ns: 0 to BSA_LAG_PARTS - 1 */
	uint16_t instance;
	bool kept; /* a lag that is reported later than those of the next window may be of it, or of the one before */
};

/* Executions of @app waited because @by held a lane. */
struct bsa_interfered {
	uint64_t ns;
	uint32_t by, app; /* by 0: any app, because there are too many pairs */
};

struct bsa_chosen {
	uint64_t at, chosen, passed_over;
	uint32_t app; /* app of both executions */
	bool honoured;
};

/* ---- single operations: reported only if requested ---- */

struct bsa_fmq_op {
	uint64_t execution, at, blocked, spun, slept; /* execution 0: of no execution */
	uint64_t number;                              /* number of the queue; 0: a socket, or unknown */
	uint32_t items, used;
	uint8_t queue, write;
};

struct bsa_lookup {
	uint64_t execution, at;
	int32_t slot;
	uint8_t hit, look; /* look: enum bsa_look */
};

struct bsa_operation {
	uint64_t execution, began, ended;
	uint32_t type;
	uint16_t op;
};

/* ---- around executions ---- */

/* Connecting, or making or freeing a burst or a pool. The service's spans for it lie within the client's. */
struct bsa_spanned {
	uint64_t began, ended;
	uint64_t value;                            /* bytes of a pool, or microseconds that a burst polls */
	uint32_t trace, app, process, stream, pid; /* 0: unknown, or none; pid: if the process is unknown yet */
	uint8_t kind, status;                      /* kind: enum bsa_span_kind */
};

/* ---- the trace ---- */

struct bsa_lost {
	uint64_t began, ended, events, packets;
	uint32_t trace, cpu, pid;
	uint8_t cause; /* enum bsa_loss_cause */
};

/*
 * No event of a service was recorded from @began to @ended, though clients waited for it.
 *
 *   until the end of the recording   it may hang, or be dead, or not recorded any more: the events do not tell.
 *                                    Reported at the end
 *   went_on                          it was stopped, or had no cpu: voices.h has what proves that. Reported when the
 *                                    executions that were under way then are over
 */
struct bsa_silence {
	uint64_t began, ended; /* began: its last event, or the first time at which a client waited, if that is later */
	uint64_t heard;        /* its last event until @began */
	uint64_t execution;    /* the one that waits longest; 0: none waits */
	uint32_t trace, process; /* of the service; process 0: unknown */
	uint32_t awaited;        /* number of executions whose clients wait for the answer at @ended */
	uint32_t failed; /* number of executions that failed for their clients since, without a word of the service */
	uint16_t instance;
	bool went_on; /* the service emitted events after @ended */
};

/* Counts of what the fold left out, by reason. */
struct bsa_left_out {
	uint64_t stragglers; /* events of executions that had already ended */
	/* events with an impossible number (valid.h): they are used without the number, or left out if they
	 * need it */
	uint64_t unusable;
	uint64_t absurd;    /* events that contradict others: a time before an earlier boundary, an impossible lane */
	uint64_t evicted;   /* executions given up because too many were under way */
	uint64_t late;      /* summaries later than the horizon: their slices are unknown */
	uint64_t forgotten; /* stretches of waits beyond the kept history of lanes: unknown */
	uint64_t pairs; /* stretches of waits whose bsa_interfered lacks the holder, because there are too many pairs */
	/* shares, and windows of apps, that were reported before their end, so there may be more parts of
	 * them */
	uint64_t parts;
	/* executions that became ready without a recorded event; BSA_NEVER: any number, hidden by losses */
	uint64_t unseen;
	/* upper bound of the choices that are not reported, or not as certain, because a loss hides since when
	 * the lane was free, or which executions waited */
	uint64_t untold;
	uint64_t not_yet,
		/* executions without their beginning, of which the service emitted all since it took the request:
		 * their app was not recorded yet, or not any more */
		no_more;
	uint64_t inside;     /* others without their beginning, of streams that were opened in the recording */
	uint64_t streamless; /* executions of one event, whose streams are not reported because there are too many */
	/* 1 << kind: no event of that kind, though others show that there were some: they were not recorded */
	uint64_t absent;
};

struct bsa_facts {
	void *ctx;
	void (*app)(void *ctx, const struct bsa_app *);
	void (*process)(void *ctx, const struct bsa_process *);
	void (*rules)(void *ctx, const struct bsa_rules *);
	void (*model)(void *ctx, const struct bsa_model *);
	void (*stream)(void *ctx, const struct bsa_stream *);
	void (*execution)(void *ctx, const struct bsa_execution *);
	void (*slice)(void *ctx, const struct bsa_slice *);
	void (*wait)(void *ctx, const struct bsa_wait *);
	void (*occupied)(void *ctx, const struct bsa_occupied *); /* NULL: not wanted */
	void (*possible_wait)(void *ctx, const struct bsa_possible_wait *);
	void (*unknown_lane)(void *ctx, const struct bsa_unknown_lane *);
	void (*preemption)(void *ctx, const struct bsa_preemption *);
	void (*deadline_missed)(void *ctx, const struct bsa_deadline_missed *);
	void (*refused)(void *ctx, const struct bsa_refused *);
	void (*exhausted)(void *ctx, const struct bsa_exhausted *);
	void (*slot_missed)(void *ctx, const struct bsa_slot_missed *);
	void (*mapping)(void *ctx, const struct bsa_mapping *);
	void (*buffer)(void *ctx, const struct bsa_buffer *);
	void (*buffer_used)(void *ctx, const struct bsa_buffer_used *);
	void (*inverted)(void *ctx, const struct bsa_inverted *);
	void (*starved)(void *ctx, const struct bsa_starved *);
	void (*share)(void *ctx, const struct bsa_share *);
	void (*lag)(void *ctx, const struct bsa_lag *);
	void (*lag_window)(void *ctx, const struct bsa_lag_window *); /* NULL: each lag is of one window */
	void (*interfered)(void *ctx, const struct bsa_interfered *);
	void (*chosen)(void *ctx, const struct bsa_chosen *);
	void (*fmq_op)(void *ctx, const struct bsa_fmq_op *);       /* NULL: not wanted */
	void (*lookup)(void *ctx, const struct bsa_lookup *);       /* NULL: not wanted */
	void (*operation)(void *ctx, const struct bsa_operation *); /* NULL: not wanted */
	void (*lost)(void *ctx, const struct bsa_lost *);
	void (*silence)(void *ctx, const struct bsa_silence *); /* NULL: not wanted */
	void (*spanned)(void *ctx, const struct bsa_spanned *);
	/*
	 * NULL: not wanted. Reported of each execution once, before @execution, as soon as no event of it is
	 * to come: what it waited for, and on which lane it was, is not known yet, and may never be.
	 */
	void (*over)(void *ctx, const struct bsa_execution *);
	/*
	 * NULL: not wanted. The figures that will be reported as @lag, as soon as the window is over, though
	 * the lag of it may not be known before the end: what was received, and what apps were entitled to,
	 * is.
	 */
	void (*window)(void *ctx, const struct bsa_lag *);
	/*
	 * NULL: not wanted. An early report of a refusal, when a lane seems to be free for it. The later
	 * @refused is final, and may differ because the lane proves not to have been free.
	 */
	void (*refused_so_far)(void *ctx, const struct bsa_refused *);
};

#endif

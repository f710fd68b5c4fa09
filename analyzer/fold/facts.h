/*
 * facts.h -- what the fold finds out: one struct for each row that can be told from events alone.
 *
 * Facts come through a table of calls as soon as they are certain; what is in them is borrowed for the call. Numbers that
 * refer to other facts (ids) are given by the fold, from 1, per kind; 0 is none. Times are raw ns of the host's clock.
 * BSA_NEVER is unknown, in times and durations alike. What needs the whole trace (percentiles, typical phases, causes of
 * misses) is made from these by the store, with blame.h.
 */
#ifndef BSA_FOLD_FACTS_H
#define BSA_FOLD_FACTS_H

#include "fold/event.h"

#include <stdbool.h>

/* ---- who is there: told anew, with the same id, whenever more is known. The last one holds. ---- */

struct bsa_app {
	uint32_t id, trace, key, uid;
	bool uid_known;
	char name[BSA_TEXT];
};

enum bsa_role { BSA_ROLE_CLIENT, BSA_ROLE_SERVICE };

struct bsa_process {
	uint32_t id, trace, pid, app; /* the service is of no app */
	uint8_t role;
	char name[BSA_TEXT];
};

/* Rules in force from @at on. One each time that they are different. */
struct bsa_rules {
	uint64_t at;
	uint32_t trace, process, spin_us;
	uint16_t instance;
	uint8_t policy, preempt_mode, lanes, deadlines; /* deadlines 255: unknown */
};

struct bsa_model {
	uint64_t const_bytes, step_ns, estimate_ns, prepare_ns, prepared, released; /* the last two: times */
	uint64_t deadline;                                                          /* of preparing; 0: none */
	uint32_t id, trace, process, app, number; /* number: the service's; 0: could not be prepared */
	uint16_t operations;
	uint8_t priority, status; /* 255: unknown (nobody told of it) */
	char name[BSA_TEXT];
};

struct bsa_stream {
	uint64_t opened, closed, executions, cold,
		first; /* cold of burst streams; first: when the first one was submitted */
	uint32_t id, trace, number, app, model, process; /* model 0: any */
	uint32_t spin_us, client_spin_us;                /* UINT32_MAX: unknown, or for ever */
	uint8_t path, reason;                            /* reason 255: not closed, or unknown */
	uint8_t cache;                                   /* 255: unknown */
};

/* ---- one execution ---- */

/* In the order of their times, but that the answer to a fenced one's launch (RESULT_WRITTEN to RETURNED) comes earlier. */
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

/* What boundaries are between. */
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

/* Why a stretch of waiting was: the causes of audits.md that one wait can have. */
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
	BSA_MACHINE_BUSY, /* databases hold these numbers: append only */
	BSA_CAUSES
};

/* Those from BSA_QUEUED_BEHIND on that a wait can have. */
enum { BSA_WAIT_CAUSES = BSA_HANDOVER - BSA_QUEUED_BEHIND + 1 };

/* What the thread of an execution was at while it had no cpu: before it was ready, on a lane, and answering. */
enum { BSA_DELAY_DECODE, BSA_DELAY_RUN, BSA_DELAY_REPLY, BSA_DELAYS };

struct bsa_waited {
	uint64_t blocked, spun, slept;
};

struct bsa_execution {
	uint64_t id, exec; /* exec: as in the trace, stream number << 32 | seq */
	uint64_t at[BSA_BOUNDARIES];
	uint64_t phase
		[BSA_PHASES]; /* ns; a phase that its path does not have, or that something later proves never began, is 0 */
	uint64_t e2e, run, redo, cpu, queue, preempted, slots;
	uint64_t delay[BSA_DELAYS]; /* of that, its thread was ready and on no cpu; BSA_NEVER: not read */
	/* ns of what was told as bsa_wait, by cause, less BSA_QUEUED_BEHIND; what waits are not of these is unknown, or @idle. */
	uint64_t waited[BSA_WAIT_CAUSES];
	struct bsa_waited request, result;
	uint64_t deadline, duration, estimate; /* 0: none; estimate BSA_NEVER: unknown */
	uint64_t floor;     /* the least that the scheduler expected it to take of a lane; 0: unknown */
	uint64_t reference; /* what the reference computation took, on the thread that answered; 0: not told */
	uint64_t missed_at; /* deadline_miss, or BSA_NEVER */
	int64_t lateness;   /* valid where miss is not NONE; BSA_LATENESS_UNKNOWN */
	uint32_t trace, stream, app, model;
	uint32_t lookups, misses, preemptions, bypassed; /* BSA_COUNT_UNKNOWN: not all of them were recorded */
	uint8_t path, priority, fallback, status;        /* 255: unknown */
	uint8_t miss, quality, sides;
	int8_t cold; /* -1: not said (no burst) */
	int16_t lane; /* the one it was on all the time, from dispatched to run_ended, for certain; otherwise -1: see slices */
	bool idle; /* its queue phase is one wait, on that lane, while it was idle: not told as a bsa_wait */
};

/* Times on a lane of those that were preempted. Of others lane, dispatched and run_ended say it. Never overlap on a lane. */
struct bsa_slice {
	uint64_t execution, began, ended;
	uint32_t trace;
	uint16_t instance;
	uint8_t lane;
};

enum bsa_wait_kind { BSA_WAIT_QUEUE, BSA_WAIT_PREEMPTED };

/* Which ends of a wait were not recorded: the wait is longer than what is told of it. Bits. */
enum bsa_open { BSA_OPEN_START = 1, BSA_OPEN_END = 2 };
enum bsa_occupancy { BSA_HELD, BSA_IDLE, BSA_UNKNOWN };

/* Stretches of a wait come one after the other, and tile it. All of it may be one. */
struct bsa_wait {
	uint64_t execution, began, ended, blocker;
	uint32_t blocker_app;
	uint8_t kind, lane, occupancy, cause;
	uint8_t open; /* enum bsa_open, of the whole wait: the same in each of its stretches */
	uint32_t app; /* of who waits; 0: unknown */
	uint16_t instance;
	uint8_t level; /* the priority of who waits; 3: unknown */
};

/*
 * A stretch of a lane, which ended while somebody waited: those of a lane come in the order of their times, and between them the lane was
 * idle. Told before the waits that are behind it.
 */
struct bsa_occupied {
	uint64_t began, ended, blocker;
	uint32_t app;
	uint16_t instance;
	uint8_t lane, occupancy, level;
	bool hogging;
};

/*
 * What events that were not recorded may hide: @execution may have been ready without a lane from @began to @ended, or for any
 * part of that time. A wait within a single hole follows from the hole alone, and needs no such fact.
 */
struct bsa_possible_wait {
	uint64_t execution;    /* 0: one of which no event was recorded */
	uint64_t began, ended; /* began BSA_NEVER: before the recording */
	uint32_t app, model;
};

/*
 * A lane whose holder, if it had one, is not known for all of this time: part of it was not recorded. An execution that may have held it
 * before or after that part, too, is told beside it: then nobody else had the lane outside of the unknown time.
 */
struct bsa_unknown_lane {
	uint64_t execution;    /* it alone may have held the lane for all of this time; 0: anybody may */
	uint64_t began, ended; /* began BSA_NEVER: before the recording */
	uint16_t instance;
	uint8_t lane;
};

struct bsa_preemption {
	uint64_t execution, by, asked, stopped, resumed, redo; /* by 0: unknown; resumed BSA_NEVER: never, or unknown */
	uint16_t at_op;
	uint8_t mode, lane;
};

struct bsa_deadline_missed {
	uint64_t execution, at, deadline, estimate; /* execution 0: a model was prepared */
	int64_t over;
	uint32_t model, trace;
	uint8_t kind, stage;
};

/* Of one that was refused before it was ready: what it would have met. Told when a lane was free for it, or at the end. */
struct bsa_refused {
	uint64_t execution, at; /* at: of the refusal */
	uint64_t lane_free;     /* the first time from the refusal on that any lane was; BSA_NEVER: not seen */
	uint64_t
		queue_free; /* the first time from then on that a lane was idle and no execution waited; BSA_NEVER: not seen */
	uint64_t holder; /* the execution on lane 0 at the refusal; 0: the lane was idle, or unknown */
	uint32_t holder_app;
	uint8_t holder_cause; /* BSA_QUEUED_BEHIND, _INVERSION, _CROWDED_OUT, _HOGGED, or BSA_CAUSE_UNKNOWN */
	uint8_t queue_cause; /* BSA_QUEUED_BEHIND, if only its own app waited at the refusal; otherwise BSA_CROWDED_OUT */
};

struct bsa_exhausted {
	uint64_t execution, owner_id, at, asked, limit;
	uint32_t model, app, trace;
	uint8_t owner, kind, resource;
};

struct bsa_slot_missed {
	uint64_t execution, at, fetch_ns,
		map_ns; /* BSA_NEVER: nobody said; fetch_ns is that of all slots asked for at once */
	int32_t slot;
};

struct bsa_mapping {
	uint64_t id, bytes, mapped, unmapped, took, owner_id;
	uint32_t stream, trace; /* stream 0: another owner's */
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
	uint8_t op, status, cause; /* 255: not said */
};

/* ---- between apps, and inside one ---- */

struct bsa_inverted {
	uint64_t victim, holder, began, dur;
	uint64_t step; /* of the holder's model: dur is longer */
	uint8_t lane;
	uint8_t open; /* enum bsa_open: it is longer than what is told of it */
};

/* Ready without a lane for longer than bsa_fold_options.starvation_ns: whether that is an episode depends on the model's median. */
struct bsa_starved {
	uint64_t execution, began, gap, top_culprit_ns;
	uint32_t app, top_culprit_app, bypassed, model;
	uint8_t open; /* enum bsa_open: @gap is the part of the wait that was recorded */
};

/* Of one app: over all of the trace. Times lost to losses are in neither. */
struct bsa_share {
	uint64_t received, entitled, max_lag_at; /* max_lag_at BSA_NEVER: no lag */
	int64_t max_lag;                         /* at least, if there were holes */
	int64_t most_lag;                        /* at most: the same, if there were none */
	uint32_t app;
};

struct bsa_lag {
	uint64_t window_began, received, entitled;
	int64_t lag;  /* the largest in the window; at least */
	int64_t most; /* at most */
	uint32_t app;
};

/* @by's holding a lane made executions of @app wait. */
struct bsa_interfered {
	uint64_t ns;
	uint32_t by, app; /* by 0: any app, of more pairs than are told apart */
};

struct bsa_chosen {
	uint64_t at, chosen, passed_over;
	uint32_t app; /* of both */
	bool honoured;
};

/* ---- single operations: told if asked for ---- */

struct bsa_fmq_op {
	uint64_t execution, at, blocked, spun, slept; /* execution 0: of none */
	uint64_t number;                              /* of the queue; 0: a socket, or not said */
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

/* Connecting, or making or freeing a burst or a pool. What the service does for it lies within what the client does. */
struct bsa_spanned {
	uint64_t began, ended;
	uint64_t value;                            /* bytes of a pool, or microseconds that a burst polls */
	uint32_t trace, app, process, stream, pid; /* 0: unknown, or none; pid: where the process is not known yet */
	uint8_t kind, status;                      /* kind: enum bsa_span_kind */
};

/* ---- of the trace ---- */

struct bsa_lost {
	uint64_t began, ended, events, packets;
	uint32_t trace, cpu, pid;
	uint8_t cause; /* enum bsa_loss_cause */
};

/* What the fold left out, and why. */
struct bsa_left_out {
	uint64_t stragglers; /* events of executions that were over already */
	uint64_t
		unusable; /* events with a number that cannot be (valid.h): left out, or used without it where it may be unknown */
	uint64_t absurd;    /* events that cannot be: a time before another one's, a lane that is none */
	uint64_t evicted;   /* executions given up because too many were under way */
	uint64_t late;      /* summaries that came later than the horizon: their slices are unknown */
	uint64_t forgotten; /* stretches of waits longer than the history of lanes that is kept: unknown */
	uint64_t
		pairs; /* stretches of waits whose bsa_interfered names who waited, and not who had the lane: too many pairs */
	uint64_t
		unseen; /* executions that became ready and of which no event tells that; BSA_NEVER: as many as losses may hide */
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
	void (*interfered)(void *ctx, const struct bsa_interfered *);
	void (*chosen)(void *ctx, const struct bsa_chosen *);
	void (*fmq_op)(void *ctx, const struct bsa_fmq_op *);       /* NULL: not wanted */
	void (*lookup)(void *ctx, const struct bsa_lookup *);       /* NULL: not wanted */
	void (*operation)(void *ctx, const struct bsa_operation *); /* NULL: not wanted */
	void (*lost)(void *ctx, const struct bsa_lost *);
	void (*spanned)(void *ctx, const struct bsa_spanned *);
	/*
	 * NULL: not wanted. Told of each execution once, before @execution, as soon as no event of it is to come: what it waited for, and
	 * on which lane it was, is not known yet, and may never be.
	 */
	void (*over)(void *ctx, const struct bsa_execution *);
	/*
	 * NULL: not wanted. What will be told as @lag, as soon as the window is over, though the lag of it may not be known before the end:
	 * what was received, and what apps were entitled to, is.
	 */
	void (*window)(void *ctx, const struct bsa_lag *);
};

#endif

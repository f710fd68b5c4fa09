/*
 * trace.h -- emits the events at the boundaries of an execution (docs/events.md).
 *
 * Each side of an execution has a struct of its own, which passes through the boundaries in order. Which events to
 * emit, and which times to keep for the compact events at the end (exec_client, exec_service), is decided when the
 * execution begins. Without a trace session, a boundary costs two branches and does not read the clock.
 *
 * CONCURRENCY  Only the thread that works on the execution uses the struct. The fields of the service's struct that
 *              other threads read, to emit what is under way (exec_state), are atomic.
 */
#ifndef NNB_TRACE_TRACE_H
#define NNB_TRACE_TRACE_H

#include <assert.h>
#include <stdatomic.h>

#include "base/sys.h"
#include "nbt/nbt.h"
#include "nnb/fmq.h"
#include "nnb/status.h"
#include "trace/reference.h"

/* The numbers of an execution's stream, model and app. Stream 0: no events. */
struct nnb__trace_who {
	uint32_t stream, model, app;
	uint8_t priority, path; /* enum nnb_priority, enum nbt_path */
};

static inline uint64_t nnb__exec_of(uint32_t stream, uint32_t number)
{
	return stream ? (uint64_t)stream << 32 | number : 0;
}

#define NNB__NEVER_REACHED UINT64_MAX

/* Emit @event for the execution of @t, a struct nnb__trace or nnb__call_trace. */
#define NNB__EMIT(t, event, ...)                                    \
	do {                                                        \
		if (nbt_on(NBT_EVENT_##event) && (t)->exec)         \
			NBT(event, .exec = (t)->exec, __VA_ARGS__); \
	} while (0)

enum { NNB__NO_LANES = 254, NNB__NEVER_RAN = 255 }; /* instead of a lane; the former with the policy native */

/* ---- the service's side ---- */

/* Indexes of exec_service's `at`. */
enum {
	NNB__AT_DECODED,
	NNB__AT_FENCED,
	NNB__AT_ENQUEUED,
	NNB__AT_DISPATCHED,
	NNB__AT_RUN_ENDED,
	NNB__AT_RESULT_WRITTEN,
	NNB__REQUEST_SLEPT,
	NNB__RESULT_BLOCKED,
	NNB__REDONE,
	NNB__CPU,
	NNB__SERVICE_ATS
};

/* Parts of exec_delay and exec_service: the work of an execution's thread while it was ready and had no cpu. */
enum { NNB__DELAY_DECODE, NNB__DELAY_RUN, NNB__DELAY_REPLY, NNB__DELAYS };

/* How many executions of a service became ready, and how many of them have ended: of those that are recorded. Wraps. */
struct nnb__trace_numbers {
	_Atomic uint32_t ready, over;
};

struct nnb__trace {
	_Atomic uint64_t exec; /* 0: emit nothing */
	_Atomic uint8_t phase; /* enum nbt_phase */
	_Atomic uint8_t lane;
	_Atomic bool on_lane; /* and the event of that was emitted: it may lose the lane */
	_Atomic uint64_t deadline_ns;
	_Atomic uint64_t ready_ns; /* since when it waits for a lane; 0: it does not */
	struct nnb__trace_who who; /* set before others can look */
	bool compact;              /* boundaries are kept */
	bool ended;                /* exec_end was emitted */
	uint8_t status;
	uint16_t lookups, misses, preemptions, ops;
	uint64_t began, redo_ns, at[NNB__SERVICE_ATS];

	/* The run-queue delay of the thread, read for models that are long enough for that to cost nothing. */
	bool is_long;             /* as the model was when it was last looked at */
	bool has_delays;          /* a session recorded delays when the execution began */
	bool reads_delay;         /* the delay of this execution is read */
	const void *delay_thread; /* the thread of delay_from; on another thread delay_from is invalid */
	uint64_t delay_from, delays[NNB__DELAYS]; /* NNB__NEVER_REACHED: unknown, or not read */
	uint64_t reference_ns;                    /* 0: not measured */

	struct nnb__trace_numbers *numbers; /* borrowed until the execution ends; NULL: it is not counted */
	uint32_t nth_ready, nth_over, n_ready;
};

static inline void nnb__trace_at(struct nnb__trace *t, int boundary)
{
	if (__builtin_expect(t->compact, 0))
		t->at[boundary] = nnb__now() - t->began;
}

void nnb__trace_delays_begin(struct nnb__trace *t);
void nnb__trace_delay_from(struct nnb__trace *t);
void nnb__trace_delay_to(struct nnb__trace *t, int part);

/* Begin to measure the delay of the part that nnb__trace_delayed will name. */
static inline void nnb__trace_delay(struct nnb__trace *t)
{
	if (__builtin_expect(t->reads_delay, 0))
		nnb__trace_delay_from(t);
}

static inline void nnb__trace_delayed(struct nnb__trace *t, int part)
{
	if (__builtin_expect(t->reads_delay, 0))
		nnb__trace_delay_to(t, part);
}

/* A request was taken: from here on the trace is of @exec. */
static inline void nnb__trace_begin(struct nnb__trace *t, uint64_t exec)
{
	t->ended = false;
	t->preemptions = 0;
	t->redo_ns = 0;
	t->compact = nbt_on(NBT_EVENT_exec_service);
	atomic_store_explicit(&t->deadline_ns, 0, memory_order_relaxed); /* unknown until the request is decoded */
	atomic_store_explicit(&t->lane, NNB__NEVER_RAN, memory_order_relaxed);
	atomic_store_explicit(&t->phase, NBT_phase_decode, memory_order_relaxed);
	atomic_store_explicit(&t->on_lane, false, memory_order_relaxed);
	atomic_store_explicit(&t->exec, exec, memory_order_relaxed);
	t->reads_delay = false;
	t->has_delays = t->compact || nbt_on(NBT_EVENT_exec_delay);
	t->numbers = NULL;
	t->nth_ready = t->nth_over = t->n_ready = 0;
	if (__builtin_expect(t->has_delays, 0))
		nnb__trace_delays_begin(t);
}

/* Whether no trace session asks for any event of an execution that runs at once, on a lane that was kept. */
static inline bool nnb__trace_is_silent(void)
{
	return !(nbt_on(NBT_EVENT_service_state) || nbt_on(NBT_EVENT_exec_service) || nbt_on(NBT_EVENT_exec_delay) ||
	         nbt_on(NBT_EVENT_fmq_read) || nbt_on(NBT_EVENT_fmq_write) || nbt_on(NBT_EVENT_request_decode) ||
	         nbt_on(NBT_EVENT_slot_lookup) || nbt_on(NBT_EVENT_sched_enqueue) || nbt_on(NBT_EVENT_sched_dispatch) ||
	         nbt_on(NBT_EVENT_checkpoint) || nbt_on(NBT_EVENT_op_end) || nbt_on(NBT_EVENT_sched_preempt) ||
	         nbt_on(NBT_EVENT_exec_end));
}

/* Is nothing of the execution recorded? */
static inline bool nnb__trace_was_silent(const struct nnb__trace *t)
{
	return !t->compact && !t->has_delays && !t->numbers;
}

/*
 * An execution of @exec begins, and nothing of it or of the last one is recorded: only what another thread may look for
 * is kept, and what a session that begins meanwhile has of its end. nnb__trace_end_again ends it.
 */
static inline void nnb__trace_begin_again(struct nnb__trace *t, uint64_t exec)
{
	t->ended = false;
	t->redo_ns = 0;
	t->nth_over = t->n_ready = 0;
	atomic_store_explicit(&t->phase, NBT_phase_queued, memory_order_relaxed);
	atomic_store_explicit(&t->exec, exec, memory_order_relaxed);
}

static inline void nnb__trace_end_again(struct nnb__trace *t)
{
	atomic_store_explicit(&t->on_lane, false, memory_order_relaxed);
	atomic_store_explicit(&t->exec, 0, memory_order_relaxed);
}

/* The execution is on a lane: whether to read its delays from here on. @is_long: runs of its model are long enough. */
static inline void nnb__trace_reads_delay(struct nnb__trace *t, bool is_long)
{
	t->is_long = is_long;
	t->reads_delay = is_long && t->exec && t->has_delays;
	nnb__trace_delay(t);
}

/* The service itself begins, without a request: a trial run of a model that is being prepared. */
void nnb__trace_begin_trial(struct nnb__trace *t, uint64_t exec);

/*
 * Whether a caller should measure how it waited for the request, and call nnb__trace_taken. @used: items in the queue
 * before.
 */
static inline bool nnb__trace_asks(const struct nnb__trace *t)
{
	return __builtin_expect(t->compact, 0) || nbt_on(NBT_EVENT_fmq_read);
}

void nnb__trace_taken(struct nnb__trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                      const struct nnb_fmq_waited *waited);

static inline void nnb__trace_decoded(struct nnb__trace *t, uint32_t operands, uint32_t pools, uint64_t deadline_ns,
                                      enum nnb_status status)
{
	nnb__trace_at(t, NNB__AT_DECODED);
	atomic_store_explicit(&t->deadline_ns, deadline_ns, memory_order_relaxed);
	NNB__EMIT(t, request_decode, .model = t->who.model, .operands = (uint16_t)operands, .pools = (uint16_t)pools,
	          .status = (uint8_t)status);
}

/* The deadline has become known, or nearer. */
static inline void nnb__trace_deadline(struct nnb__trace *t, uint64_t deadline_ns)
{
	atomic_store_explicit(&t->deadline_ns, deadline_ns, memory_order_relaxed);
}

static inline void nnb__trace_fenced(struct nnb__trace *t, uint32_t fences, uint64_t took_ns, enum nnb_status status)
{
	nnb__trace_at(t, NNB__AT_FENCED);
	NNB__EMIT(t, fence_wait, .fences = (uint16_t)fences, .took_ns = took_ns, .status = (uint8_t)status);
}

static inline void nnb__trace_lookup(const struct nnb__trace *t, int32_t slot, bool hit, enum nbt_look look)
{
	NNB__EMIT(t, slot_lookup, .slot = slot, .hit = hit, .look = look);
}

/* The execution is about to become ready for the first time: give it its number among @numbers. */
static inline void nnb__trace_numbered(struct nnb__trace *t, struct nnb__trace_numbers *numbers)
{
	if (__builtin_expect(!t->exec || !(t->compact || nbt_on(NBT_EVENT_sched_enqueue)), 1))
		return;
	assert(!t->numbers);
	t->numbers = numbers;
	t->nth_ready = atomic_fetch_add_explicit(&numbers->ready, 1, memory_order_acq_rel) + 1;
}

/* @floor_ns: the least that the policy expects it to take of a lane; 0: unknown. */
static inline void nnb__trace_enqueued(struct nnb__trace *t, uint64_t estimate_ns, uint64_t floor_ns, uint32_t ahead)
{
	nnb__trace_at(t, NNB__AT_ENQUEUED);
	atomic_store_explicit(&t->phase, NBT_phase_queued, memory_order_relaxed);
	NNB__EMIT(t, sched_enqueue, .model = t->who.model, .app = t->who.app, .priority = t->who.priority,
	          .deadline_ns = t->deadline_ns, .estimate_ns = estimate_ns,
	          .ahead = (uint16_t)(ahead < UINT16_MAX ? ahead : UINT16_MAX), .floor_ns = floor_ns,
	          .nth_ready = t->nth_ready);
}

/* The execution waits for a lane since @since; 0: it no longer waits. */
static inline void nnb__trace_waits(struct nnb__trace *t, uint64_t since)
{
	atomic_store_explicit(&t->ready_ns, since, memory_order_relaxed);
}

static inline void nnb__trace_dispatched(struct nnb__trace *t, uint32_t lane)
{
	nnb__trace_at(t, NNB__AT_DISPATCHED);
	atomic_store_explicit(&t->lane, (uint8_t)lane, memory_order_relaxed);
	atomic_store_explicit(&t->phase, NBT_phase_running, memory_order_relaxed);
	NNB__EMIT(t, sched_dispatch, .lane = (uint8_t)lane);
	atomic_store_explicit(&t->on_lane, true, memory_order_release);
}

/* Call before another execution can run on the lane. */
static inline void nnb__trace_preempted(struct nnb__trace *t, uint64_t by, uint32_t at_op, bool restart,
                                        uint64_t asked_ns, uint64_t redo_ns)
{
	t->preemptions++;
	t->redo_ns += redo_ns;
	NNB__EMIT(t, sched_preempt, .by = by, .lane = t->lane, .at_op = (uint16_t)at_op,
	          .mode = restart ? NBT_mode_restart : NBT_mode_save, .asked_ns = asked_ns, .redo_ns = redo_ns);
	atomic_store_explicit(&t->phase, NBT_phase_preempted, memory_order_relaxed);
	atomic_store_explicit(&t->on_lane, false, memory_order_relaxed);
}

/*
 * The lane was taken away, because its thread waits for a page (@stalled) or for a cpu: called by another thread than
 * the one that works on the execution, before another execution can run on the lane. That thread counts the preemption
 * when it finds out.
 */
static inline void nnb__trace_lost(struct nnb__trace *t, uint64_t by, uint32_t at_op, bool stalled, uint64_t asked_ns)
{
	NNB__EMIT(t, sched_preempt, .by = by, .lane = t->lane, .at_op = (uint16_t)at_op,
	          .mode = stalled ? NBT_mode_stalled : NBT_mode_no_cpu, .asked_ns = asked_ns, .redo_ns = 0);
	atomic_store_explicit(&t->phase, NBT_phase_preempted, memory_order_relaxed);
	atomic_store_explicit(&t->on_lane, false, memory_order_relaxed);
}

/* The execution, which lost its lane, waits for one again since @now. Call before it can get one. */
static inline void nnb__trace_ready(struct nnb__trace *t, uint64_t now)
{
	nnb__trace_waits(t, now); /* first, so that exec_state has the wait if no session has the event */
	if (nbt_on(NBT_EVENT_sched_ready) && t->exec)
		NBT(sched_ready, .exec = t->exec);
}

static inline void nnb__trace_resumed(struct nnb__trace *t, uint32_t lane, uint32_t from_op, bool restart)
{
	atomic_store_explicit(&t->lane, (uint8_t)lane, memory_order_relaxed);
	atomic_store_explicit(&t->phase, NBT_phase_running, memory_order_relaxed);
	NNB__EMIT(t, sched_resume, .lane = (uint8_t)lane, .from_op = (uint16_t)from_op,
	          .resumed = restart ? NBT_resumed_restart : NBT_resumed_resume);
	atomic_store_explicit(&t->on_lane, true, memory_order_release);
}

/* The part of nnb__trace_ended for executions that are recorded. */
void nnb__trace_emit_end(struct nnb__trace *t, enum nnb_status status, uint32_t ops_run, uint64_t cpu_ns);

/* Call once for every request that was read, before another execution can run on its lane. */
static inline void nnb__trace_ended(struct nnb__trace *t, enum nnb_status status, uint32_t ops_run, uint64_t cpu_ns)
{
	assert(!t->ended);
	nnb__trace_at(t, NNB__AT_RUN_ENDED);
	atomic_store_explicit(&t->phase, NBT_phase_ended, memory_order_relaxed); /* before its lane is another's */
	atomic_store_explicit(&t->on_lane, false, memory_order_relaxed);
	t->ended = true;
	t->status = (uint8_t)status;
	t->ops = (uint16_t)ops_run;
	t->at[NNB__CPU] = cpu_ns;
	if (__builtin_expect(t->numbers != NULL, 0) || nbt_on(NBT_EVENT_exec_end))
		nnb__trace_emit_end(t, status, ops_run, cpu_ns);
}

/* The execution ends without a lane. Does nothing if nnb__trace_ended was called. */
static inline void nnb__trace_refused(struct nnb__trace *t, enum nnb_status status)
{
	if (!t->ended)
		nnb__trace_ended(t, status, 0, NNB__NEVER_REACHED);
}

static inline void nnb__trace_missed(struct nnb__trace *t, enum nbt_miss kind, enum nbt_stage stage,
                                     uint64_t estimate_ns, int64_t over_ns)
{
	NNB__EMIT(t, deadline_miss, .model = t->who.model, .kind = kind, .stage = stage, .deadline_ns = t->deadline_ns,
	          .estimate_ns = estimate_ns, .over_ns = over_ns);
}

void nnb__trace_emit_delays(struct nnb__trace *t);

/* The thread is about to sleep: measure the reference computation now, if a trace session wants it. */
static inline void nnb__trace_idle(const struct nnb__trace *t)
{
	if (__builtin_expect(t->is_long && (t->compact || nbt_on(NBT_EVENT_exec_delay)), 0))
		nnb__reference_measure();
}

/* The result is complete, and about to be published: by a queue, on a socket, or by a fence. */
static inline void nnb__trace_result(struct nnb__trace *t)
{
	if (__builtin_expect(t->reads_delay, 0))
		nnb__trace_emit_delays(t);
	nnb__trace_at(t, NNB__AT_RESULT_WRITTEN);
}

/* The answer is about to be published in a queue, which emits its own event. */
static inline void nnb__trace_replies(struct nnb__trace *t)
{
	nnb__trace_result(t);
	t->at[NNB__RESULT_BLOCKED] = 0;
}

/* The answer is about to be published on a socket. */
static inline void nnb__trace_answers(struct nnb__trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                                      uint64_t blocked_ns)
{
	nnb__trace_replies(t);
	t->at[NNB__RESULT_BLOCKED] = blocked_ns;
	NNB__EMIT(t, fmq_write, .queue = queue, .items = items, .used = used, .blocked_ns = blocked_ns);
}

void nnb__trace_emit_compact(struct nnb__trace *t);

/* The execution is over on this side: emit the compact event. */
static inline void nnb__trace_end(struct nnb__trace *t)
{
	if (__builtin_expect(t->compact, 0))
		nnb__trace_emit_compact(t);
	atomic_store_explicit(&t->exec, 0, memory_order_relaxed);
}

/* Emit that the execution is under way, for a trace session that has begun. Any thread. */
void nnb__trace_emit_state(const struct nnb__trace *t);

/* ---- the client's side ---- */

/* Indexes of exec_client's `at`. */
enum { NNB__AT_REQUEST_WRITTEN, NNB__AT_RESULT_READ, NNB__AT_RETURNED, NNB__RESULT_SLEPT, NNB__CLIENT_ATS };

struct nnb__call_trace {
	uint64_t exec; /* 0: emit nothing */
	uint32_t model;
	uint8_t path; /* enum nbt_path */
	bool fallback, compact;
	uint64_t deadline_ns, duration_ns, began, at[NNB__CLIENT_ATS];
	uint64_t delay_ns; /* how long its thread was ready to run and on no cpu since its call before */
	uint64_t gap_ns;   /* how long ago that was */
	uint32_t turns;    /* on a cpu, in that time, the one that it was on included; 0: all three are unknown */
};

/* The call of the app. */
struct nnb__asked {
	uint32_t model, pools;
	enum nbt_path path;
	uint64_t deadline_ns, duration_ns; /* duration_ns: that it may take once its fences are signalled; 0: any */
	bool measure, fallback;
};

/* The slow paths of the functions below, if a trace session is active. */
__attribute__((noinline)) void nnb__call_began(struct nnb__call_trace *t, const struct nnb__asked *asked);
__attribute__((noinline)) void nnb__call_heard(struct nnb__call_trace *t, enum nbt_queue queue, uint32_t items,
                                               uint32_t used, const struct nnb_fmq_waited *waited);
__attribute__((noinline)) void nnb__call_ended(struct nnb__call_trace *t, enum nnb_status status);

/* Whether the boundary of @event has anything to do. */
static inline bool nnb__call_listened(const struct nnb__call_trace *t, enum nbt_event event)
{
	return __builtin_expect(t->compact, 0) || nbt_on(event);
}

static inline void nnb__call_number(struct nnb__call_trace *t, uint64_t exec)
{
	t->exec = exec;
	t->deadline_ns =
		0; /* unless a session records the call: a session that begins later cannot know the deadline */
	t->compact = __builtin_expect(nbt_on(NBT_EVENT_exec_client) && exec, 0);
}

/*
 * The app calls: the further arguments are fields of struct nnb__asked, and are not evaluated without a trace
 * session.
 */
#define NNB__CALL_BEGIN(t, exec, ...)                                                  \
	do {                                                                           \
		nnb__call_number(t, exec);                                             \
		if (nnb__call_listened(t, NBT_EVENT_exec_submit))                      \
			nnb__call_began(t, &(const struct nnb__asked){ __VA_ARGS__ }); \
	} while (0)

/* The request is about to be published in a queue, which emits its own event. */
static inline void nnb__call_writes(struct nnb__call_trace *t)
{
	if (__builtin_expect(t->compact, 0))
		t->at[NNB__AT_REQUEST_WRITTEN] = nnb__now() - t->began;
}

/* The request is about to be published on a socket. */
static inline void nnb__call_asks(struct nnb__call_trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                                  uint64_t blocked_ns)
{
	nnb__call_writes(t);
	NNB__EMIT(t, fmq_write, .queue = queue, .items = items, .used = used, .blocked_ns = blocked_ns);
}

/* The answer was read. @waited may be NULL: not measured. */
static inline void nnb__call_hears(struct nnb__call_trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                                   const struct nnb_fmq_waited *waited)
{
	if (nnb__call_listened(t, NBT_EVENT_fmq_read))
		nnb__call_heard(t, queue, items, used, waited);
}

/* The call returns to the app. */
static inline void nnb__call_end(struct nnb__call_trace *t, enum nnb_status status)
{
	if (nnb__call_listened(t, NBT_EVENT_exec_return))
		nnb__call_ended(t, status);
}

#endif

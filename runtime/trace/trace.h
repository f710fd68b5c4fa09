/*
 * trace.h -- an execution as traces see it: what is said at each of its boundaries (docs/events.md).
 *
 * Each side of an execution has one struct, its own, which it takes from boundary to boundary. What is said, and what is
 * kept to be said at the end (exec_client, exec_service), is decided when it begins. With nobody listening, a boundary
 * is two branches, and no clock is read.
 *
 * CONCURRENCY  A struct is the thread's that is at work on the execution. What others may read of the service's, to say what
 *              is under way (exec_state), is atomic.
 */
#ifndef NNB_TRACE_TRACE_H
#define NNB_TRACE_TRACE_H

#include <stdatomic.h>

#include "fmq/sys.h"
#include "nbt/nbt.h"
#include "nnb/fmq.h"
#include "nnb/status.h"
#include "trace/reference.h"

/* What the numbers are made of. Stream 0: nothing is said of it. */
struct nnb__trace_who {
	uint32_t stream, model, app;
	uint8_t priority, path; /* enum nnb_priority, enum nbt_path */
};

static inline uint64_t nnb__exec_of(uint32_t stream, uint32_t number)
{
	return stream ? (uint64_t)stream << 32 | number : 0;
}

#define NNB__NEVER_REACHED UINT64_MAX

/* Say it of the execution of @t, a struct nnb__trace or nnb__call_trace. */
#define NNB__SAY(t, event, ...)                                     \
	do {                                                        \
		if (nbt_on(NBT_EVENT_##event) && (t)->exec)         \
			NBT(event, .exec = (t)->exec, __VA_ARGS__); \
	} while (0)

enum { NNB__NO_LANES = 254, NNB__NEVER_RAN = 255 }; /* instead of a lane; the former with the policy native */

/* ---- the service's side ---- */

/* Of exec_service's `at`. */
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

/* Of exec_delay and exec_service: what an execution's thread was at while it was ready and had no cpu. */
enum { NNB__DELAY_DECODE, NNB__DELAY_RUN, NNB__DELAY_REPLY, NNB__DELAYS };

/* How many executions of a service became ready, and how many of them have ended: of those that are recorded. Wraps. */
struct nnb__trace_numbers {
	_Atomic uint32_t ready, over;
};

struct nnb__trace {
	_Atomic uint64_t exec; /* 0: nothing is said */
	_Atomic uint8_t phase; /* enum nbt_phase */
	_Atomic uint8_t lane;
	_Atomic uint64_t deadline_ns;
	_Atomic uint64_t ready_ns; /* since when it waits for a lane; 0: it does not */
	struct nnb__trace_who who; /* set before others can look */
	bool compact;              /* boundaries are kept */
	bool ended;                /* exec_end has been said */
	uint8_t status;
	uint16_t lookups, misses, preemptions, ops;
	uint64_t began, redo_ns, at[NNB__SERVICE_ATS];

	/* The run-queue delay of the thread, read for models that are long enough for that to cost nothing. */
	bool is_long;                             /* as the model was when it was last looked at */
	bool reads_delay;                         /* of this execution */
	const void *delay_thread;                 /* whose delay_from is: another thread's is no beginning */
	uint64_t delay_from, delays[NNB__DELAYS]; /* NNB__NEVER_REACHED: unknown, or not read */
	uint64_t reference_ns;                    /* 0: none */

	struct nnb__trace_numbers *numbers; /* borrowed until the execution ends; NULL: it is not counted */
	uint32_t nth_ready, nth_over, n_ready;
};

static inline void nnb__trace_at(struct nnb__trace *t, int boundary)
{
	if (t->compact)
		t->at[boundary] = nnb__now() - t->began;
}

void nnb__trace_delays_begin(struct nnb__trace *t);
void nnb__trace_delay_from(struct nnb__trace *t);
void nnb__trace_delay_to(struct nnb__trace *t, int part);

/* What the thread waits from here on for a cpu is of the part that nnb__trace_delayed says next. */
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
	atomic_store_explicit(&t->lane, NNB__NEVER_RAN, memory_order_relaxed);
	atomic_store_explicit(&t->phase, NBT_phase_decode, memory_order_relaxed);
	atomic_store_explicit(&t->exec, exec, memory_order_relaxed);
	t->reads_delay = false;
	t->numbers = NULL;
	t->nth_ready = t->nth_over = t->n_ready = 0;
	if (__builtin_expect(t->compact || nbt_on(NBT_EVENT_exec_delay), 0))
		nnb__trace_delays_begin(t);
}

/* It is on a lane. Is the delay of this execution to be read from here on? @is_long: its model takes long enough. */
static inline void nnb__trace_reads_delay(struct nnb__trace *t, bool is_long)
{
	t->is_long = is_long;
	t->reads_delay = is_long && t->exec && (t->compact || nbt_on(NBT_EVENT_exec_delay));
	nnb__trace_delay(t);
}

/* The service itself begins, without a request: a trial run of a model that is being prepared. */
void nnb__trace_begin_trial(struct nnb__trace *t, uint64_t exec);

/* Does anybody want to know how it was waited for? Then nnb__trace_taken. @used: items in the queue before. */
static inline bool nnb__trace_asks(const struct nnb__trace *t)
{
	return t->compact || nbt_on(NBT_EVENT_fmq_read);
}

void nnb__trace_taken(struct nnb__trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                      const struct nnb_fmq_waited *waited);

static inline void nnb__trace_decoded(struct nnb__trace *t, uint32_t operands, uint32_t pools, uint64_t deadline_ns,
                                      enum nnb_status status)
{
	nnb__trace_at(t, NNB__AT_DECODED);
	atomic_store_explicit(&t->deadline_ns, deadline_ns, memory_order_relaxed);
	NNB__SAY(t, request_decode, .model = t->who.model, .operands = (uint16_t)operands, .pools = (uint16_t)pools,
	         .status = (uint8_t)status);
}

/* By when it has to be over is known better now. */
static inline void nnb__trace_deadline(struct nnb__trace *t, uint64_t deadline_ns)
{
	atomic_store_explicit(&t->deadline_ns, deadline_ns, memory_order_relaxed);
}

static inline void nnb__trace_fenced(struct nnb__trace *t, uint32_t fences, uint64_t took_ns, enum nnb_status status)
{
	nnb__trace_at(t, NNB__AT_FENCED);
	NNB__SAY(t, fence_wait, .fences = (uint16_t)fences, .took_ns = took_ns, .status = (uint8_t)status);
}

static inline void nnb__trace_lookup(const struct nnb__trace *t, int32_t slot, bool hit, enum nbt_look look)
{
	NNB__SAY(t, slot_lookup, .slot = slot, .hit = hit, .look = look);
}

/* It is about to become ready: for the first time, and among those of @numbers. */
static inline void nnb__trace_numbered(struct nnb__trace *t, struct nnb__trace_numbers *numbers)
{
	if (__builtin_expect(!t->exec || !(t->compact || nbt_on(NBT_EVENT_sched_enqueue)), 1))
		return;
	t->numbers = numbers;
	t->nth_ready = atomic_fetch_add_explicit(&numbers->ready, 1, memory_order_acq_rel) + 1;
}

/* @floor_ns: the least that the policy expects it to take of a lane; 0: unknown. */
static inline void nnb__trace_enqueued(struct nnb__trace *t, uint64_t estimate_ns, uint64_t floor_ns, uint32_t ahead)
{
	nnb__trace_at(t, NNB__AT_ENQUEUED);
	atomic_store_explicit(&t->phase, NBT_phase_queued, memory_order_relaxed);
	NNB__SAY(t, sched_enqueue, .model = t->who.model, .app = t->who.app, .priority = t->who.priority,
	         .deadline_ns = t->deadline_ns, .estimate_ns = estimate_ns,
	         .ahead = (uint16_t)(ahead < UINT16_MAX ? ahead : UINT16_MAX), .floor_ns = floor_ns,
	         .nth_ready = t->nth_ready);
}

/* It waits for a lane since @since, or, with 0, no more. */
static inline void nnb__trace_waits(struct nnb__trace *t, uint64_t since)
{
	atomic_store_explicit(&t->ready_ns, since, memory_order_relaxed);
}

static inline void nnb__trace_dispatched(struct nnb__trace *t, uint32_t lane)
{
	nnb__trace_at(t, NNB__AT_DISPATCHED);
	atomic_store_explicit(&t->lane, (uint8_t)lane, memory_order_relaxed);
	atomic_store_explicit(&t->phase, NBT_phase_running, memory_order_relaxed);
	NNB__SAY(t, sched_dispatch, .lane = (uint8_t)lane);
}

/* Before the lane is anybody else's. */
static inline void nnb__trace_preempted(struct nnb__trace *t, uint64_t by, uint32_t at_op, bool restart,
                                        uint64_t asked_ns, uint64_t redo_ns)
{
	t->preemptions++;
	t->redo_ns += redo_ns;
	NNB__SAY(t, sched_preempt, .by = by, .lane = t->lane, .at_op = (uint16_t)at_op,
	         .mode = restart ? NBT_mode_restart : NBT_mode_save, .asked_ns = asked_ns, .redo_ns = redo_ns);
	atomic_store_explicit(&t->phase, NBT_phase_preempted, memory_order_relaxed);
}

static inline void nnb__trace_resumed(struct nnb__trace *t, uint32_t lane, uint32_t from_op, bool restart)
{
	atomic_store_explicit(&t->lane, (uint8_t)lane, memory_order_relaxed);
	atomic_store_explicit(&t->phase, NBT_phase_running, memory_order_relaxed);
	NNB__SAY(t, sched_resume, .lane = (uint8_t)lane, .from_op = (uint16_t)from_op,
	         .resumed = restart ? NBT_resumed_restart : NBT_resumed_resume);
}

/* Once for every request that was taken: before its lane, if it has one, is anybody else's. */
void nnb__trace_ended(struct nnb__trace *t, enum nnb_status status, uint32_t ops_run, uint64_t cpu_ns);

/* It never had a lane, or has said so already. */
static inline void nnb__trace_refused(struct nnb__trace *t, enum nnb_status status)
{
	if (!t->ended)
		nnb__trace_ended(t, status, 0, NNB__NEVER_REACHED);
}

static inline void nnb__trace_missed(struct nnb__trace *t, enum nbt_miss kind, enum nbt_stage stage,
                                     uint64_t estimate_ns, int64_t over_ns)
{
	NNB__SAY(t, deadline_miss, .model = t->who.model, .kind = kind, .stage = stage, .deadline_ns = t->deadline_ns,
	         .estimate_ns = estimate_ns, .over_ns = over_ns);
}

void nnb__trace_tell_delays(struct nnb__trace *t);

/* Its thread has nothing to do, and is about to sleep: time for what whoever listens wants to know of the machine. */
static inline void nnb__trace_idle(const struct nnb__trace *t)
{
	if (__builtin_expect(t->is_long && (t->compact || nbt_on(NBT_EVENT_exec_delay)), 0))
		nnb__reference_measure();
}

/* About to publish the answer in a queue, which tells of that itself. */
static inline void nnb__trace_replies(struct nnb__trace *t)
{
	if (__builtin_expect(t->reads_delay, 0))
		nnb__trace_tell_delays(t);
	nnb__trace_at(t, NNB__AT_RESULT_WRITTEN);
	t->at[NNB__RESULT_BLOCKED] = 0;
}

/* About to publish the answer on a socket. */
static inline void nnb__trace_answers(struct nnb__trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                                      uint64_t blocked_ns)
{
	nnb__trace_replies(t);
	t->at[NNB__RESULT_BLOCKED] = blocked_ns;
	NNB__SAY(t, fmq_write, .queue = queue, .items = items, .used = used, .blocked_ns = blocked_ns);
}

/* Nobody waits for anything of it any more. */
void nnb__trace_end(struct nnb__trace *t);

/* It is under way, for who has begun to listen. Any thread. */
void nnb__trace_tell(const struct nnb__trace *t);

/* ---- the client's side ---- */

/* Of exec_client's `at`. */
enum { NNB__AT_REQUEST_WRITTEN, NNB__AT_RESULT_READ, NNB__AT_RETURNED, NNB__RESULT_SLEPT, NNB__CLIENT_ATS };

struct nnb__call_trace {
	uint64_t exec; /* 0: nothing is said */
	uint32_t model;
	uint8_t path; /* enum nbt_path */
	bool fallback, compact;
	uint64_t deadline_ns, duration_ns, began, at[NNB__CLIENT_ATS];
};

/* What the app asks for. */
struct nnb__asked {
	uint32_t model, pools;
	enum nbt_path path;
	uint64_t deadline_ns, duration_ns; /* duration_ns: that it may take once its fences are signalled; 0: any */
	bool measure, fallback;
};

/* What the functions below do where somebody listens. */
__attribute__((noinline)) void nnb__call_began(struct nnb__call_trace *t, const struct nnb__asked *asked);
__attribute__((noinline)) void nnb__call_heard(struct nnb__call_trace *t, enum nbt_queue queue, uint32_t items,
                                               uint32_t used, const struct nnb_fmq_waited *waited);
__attribute__((noinline)) void nnb__call_ended(struct nnb__call_trace *t, enum nnb_status status);

/* Is there anything to do at the boundary of which @event tells? */
static inline bool nnb__call_listened(const struct nnb__call_trace *t, enum nbt_event event)
{
	return __builtin_expect(t->compact, 0) || nbt_on(event);
}

static inline void nnb__call_number(struct nnb__call_trace *t, uint64_t exec)
{
	t->exec = exec;
	t->compact = __builtin_expect(nbt_on(NBT_EVENT_exec_client) && exec, 0);
}

/* The app asks: what follows are fields of struct nnb__asked, which are not evaluated where nobody listens. */
#define NNB__CALL_BEGIN(t, exec, ...)                                                  \
	do {                                                                           \
		nnb__call_number(t, exec);                                             \
		if (nnb__call_listened(t, NBT_EVENT_exec_submit))                      \
			nnb__call_began(t, &(const struct nnb__asked){ __VA_ARGS__ }); \
	} while (0)

/* About to publish the request in a queue, which tells of that itself. */
static inline void nnb__call_writes(struct nnb__call_trace *t)
{
	if (__builtin_expect(t->compact, 0))
		t->at[NNB__AT_REQUEST_WRITTEN] = nnb__now() - t->began;
}

/* About to publish the request on a socket. */
static inline void nnb__call_asks(struct nnb__call_trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                                  uint64_t blocked_ns)
{
	nnb__call_writes(t);
	NNB__SAY(t, fmq_write, .queue = queue, .items = items, .used = used, .blocked_ns = blocked_ns);
}

/* The answer was taken. @waited: NULL: nobody knows how. */
static inline void nnb__call_hears(struct nnb__call_trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                                   const struct nnb_fmq_waited *waited)
{
	if (nnb__call_listened(t, NBT_EVENT_fmq_read))
		nnb__call_heard(t, queue, items, used, waited);
}

/* The app has it. */
static inline void nnb__call_end(struct nnb__call_trace *t, enum nnb_status status)
{
	if (nnb__call_listened(t, NBT_EVENT_exec_return))
		nnb__call_ended(t, status);
}

#endif

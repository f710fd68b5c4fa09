/*
 * event.h -- one event of a trace, as a decoder hands it to the fold.
 *
 * A record is a struct bsa_event, followed directly by the fields of its kind: struct bsa_<kind>. Both are
 * plain numbers in the host's byte order, 8-byte aligned. Names and widths are those of the catalogue
 * (docs/events.md); decode compares each of them with the catalogue at compile time. A field that a trace
 * lacks is 0, except that cpu_ns, at[] and delays[] are BSA_NEVER, lane and deadlines are 255, and
 * client_spin_us is UINT32_MAX.
 *
 * Records are in the order of their times, except where a recording is read while it grows: there a record
 * may come late. Their contents are untrusted: only the kind and the size of a record, which the decoder
 * writes, are reliable.
 */
#ifndef BSA_FOLD_EVENT_H
#define BSA_FOLD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BSA_NEVER UINT64_MAX

/* In the catalogue's order, then the kinds that the decoder adds. */
/* clang-format off */
#define BSA_KINDS(K) \
	K(service_state) K(client_connect) K(client_disconnect) K(model_prepare) K(model_release) K(stream_open) \
	K(stream_close) K(performance_hold) K(exec_submit) K(fmq_write) K(fmq_read) K(request_decode) K(fence_wait) \
	K(slot_lookup) K(slot_fetch) K(pool_map) K(pool_unmap) K(sched_enqueue) K(sched_dispatch) K(sched_preempt) \
	K(sched_resume) K(checkpoint) K(op_end) K(exec_end) K(deadline_miss) K(resource_exhausted) K(exec_return) \
	K(fence_signal) K(exec_client) K(exec_service) K(exec_state) K(buffer_allocate) K(buffer_copy) \
	K(buffer_reject) K(buffer_free) K(app_span) K(exec_delay) K(loop_iteration) K(sched_ready) \
	K(loss)
/* clang-format on */

enum bsa_kind {
#define K(name) BSA_##name,
	BSA_KINDS(K)
#undef K
		BSA_N_KINDS
};

struct bsa_event {
	uint64_t at;    /* raw clock of its host, ns */
	uint32_t trace; /* number of the trace, from 1, which the import assigns */
	uint16_t kind;
	uint16_t size; /* bytes of the record with its header: a multiple of 8 */
};

/* BSA_OF(event, fmq_read)->exec */
#define BSA_OF(event, name) ((const struct bsa_##name *)((event) + 1))

enum { BSA_TEXT = 64 }; /* bytes of a name, terminated by 0; longer names are truncated */

struct bsa_service_state {
	uint64_t since;
	uint32_t pid, spin_us;
	uint16_t instance, contract;
	uint8_t policy, preempt_mode, lanes, deadlines; /* deadlines 255: not given */
};
struct bsa_client_connect {
	uint64_t since;
	uint32_t conn, pid, uid, app;
	char name[BSA_TEXT];
};
struct bsa_client_disconnect {
	uint32_t conn;
	uint8_t reason;
};
struct bsa_model_prepare {
	uint64_t const_bytes, estimate_ns, step_ns, deadline_ns, took_ns, since, look_ns;
	uint32_t model, conn, digest;
	uint16_t ops;
	uint8_t priority, status;
	char name[BSA_TEXT];
};
struct bsa_model_release {
	uint32_t model;
};
struct bsa_stream_open {
	uint64_t since;
	uint32_t stream, conn, model, request_capacity, result_capacity, spin_us;
	uint32_t client_spin_us; /* UINT32_MAX: not given, or for ever */
	uint8_t path, cache;
};
struct bsa_stream_close {
	uint32_t stream;
	uint8_t reason;
};
struct bsa_performance_hold {
	uint8_t on;
};
struct bsa_exec_submit {
	uint64_t exec, deadline_ns, duration_ns, delay_ns, gap_ns;
	uint32_t model, turns; /* turns 0: delay_ns and gap_ns are unknown */
	uint16_t pools;
	uint8_t path, measure, fallback;
};
struct bsa_fmq_write {
	uint64_t exec, blocked_ns, fmq;
	uint32_t items, used;
	uint8_t queue;
};
struct bsa_fmq_read {
	uint64_t exec, spun_ns, slept_ns;
	uint32_t items, used;
	uint16_t wakeups;
	uint8_t queue;
};
struct bsa_request_decode {
	uint64_t exec;
	uint32_t model;
	uint16_t operands, pools;
	uint8_t status;
};
struct bsa_fence_wait {
	uint64_t exec, took_ns;
	uint16_t fences;
	uint8_t status;
};
struct bsa_slot_lookup {
	uint64_t exec;
	int32_t slot;
	uint8_t hit, look;
};
struct bsa_slot_fetch {
	uint64_t exec, took_ns;
	uint32_t stream;
	uint16_t slots;
	uint8_t status;
};
struct bsa_pool_map {
	uint64_t owner_id, bytes, took_ns, since;
	int32_t slot;
	uint8_t owner, kind, status;
};
struct bsa_pool_unmap {
	uint64_t owner_id;
	int32_t slot;
	uint8_t owner, cause;
};
struct bsa_sched_enqueue {
	uint64_t exec, deadline_ns, estimate_ns, floor_ns;
	uint32_t model, app, nth_ready;
	uint16_t ahead;
	uint8_t priority;
};
struct bsa_sched_dispatch {
	uint64_t exec;
	uint8_t lane;
};
struct bsa_sched_preempt {
	uint64_t exec, by, asked_ns, redo_ns;
	uint16_t at_op;
	uint8_t lane, mode;
};
struct bsa_sched_resume {
	uint64_t exec;
	uint16_t from_op;
	uint8_t lane, resumed;
};
struct bsa_sched_ready {
	uint64_t exec;
};
struct bsa_checkpoint {
	uint64_t exec;
	uint16_t op;
	uint8_t flag;
};
struct bsa_op_end {
	uint64_t exec;
	uint32_t type;
	uint16_t op;
};
struct bsa_exec_end {
	uint64_t exec, cpu_ns, redo_ns;
	uint32_t nth_over, n_ready;
	uint16_t ops_run;
	uint8_t lane, status;
};
struct bsa_deadline_miss {
	uint64_t exec, deadline_ns, estimate_ns;
	int64_t over_ns;
	uint32_t model;
	uint8_t kind, stage;
};
struct bsa_resource_exhausted {
	uint64_t owner_id, asked, limit;
	uint8_t owner, kind, resource;
};
struct bsa_exec_return {
	uint64_t exec;
	uint8_t status;
};
struct bsa_fence_signal {
	uint64_t exec;
	uint8_t status;
};
struct bsa_exec_client {
	uint64_t exec, deadline_ns, duration_ns, began, at[4], delay_ns, gap_ns;
	uint32_t model, turns;
	uint8_t path, status, fallback;
};
struct bsa_exec_service {
	uint64_t exec, deadline_ns, began, at[10], delays[3], reference_ns;
	uint32_t model, app, nth_ready, nth_over, n_ready;
	uint16_t lookups, misses, preemptions;
	uint8_t priority, path, lane, status;
};
struct bsa_exec_state {
	uint64_t exec, deadline_ns, since, ready_ns;
	uint32_t model, app;
	uint8_t priority, path, phase, lane;
};
struct bsa_buffer_allocate {
	uint64_t bytes, since;
	uint32_t buffer, conn;
	uint16_t roles;
	uint8_t status;
};
struct bsa_buffer_copy {
	uint64_t bytes, took_ns;
	uint32_t buffer;
	uint8_t dir, status;
};
struct bsa_buffer_reject {
	uint64_t exec;
	uint32_t buffer;
	uint8_t cause;
};
struct bsa_buffer_free {
	uint32_t buffer;
	uint8_t cause;
};
struct bsa_app_span {
	uint64_t owner_id, value, took_ns, since;
	uint8_t kind, owner, status;
};

/*
 * Why a part of a trace was not seen. The decoder cannot decide whether a head, a gap or a tail hid anything:
 * such a record is a question, which the fold answers from the events beside it (pending.h).
 */
enum bsa_loss_cause {
	BSA_LOSS_EVENTS,  /* the tracer dropped events because its buffer was full */
	BSA_LOSS_PACKETS, /* packets were overwritten, or dropped, or are in another file */
	BSA_LOSS_HEAD,    /* this stream begins later than the recording: the tracer overwrote what was before */
	BSA_LOSS_GAP,     /* no stream of the recording has a packet for this time: it may have been stopped */
	BSA_LOSS_TAIL,    /* this stream ends before another one of its trace does, or before the recording did */
	BSA_LOSS_CUT,     /* the file of this stream is cut, or cannot be read from here on, or contradicts itself */
	BSA_LOSS_STREAM,  /* the stream of a cpu is missing */
	BSA_LOSS_CAUSES,
	BSA_LOSS_UNCHECKED = BSA_LOSS_CAUSES, /* for facts only: whether all of a trace was recorded is not known */
	BSA_LOSS_UNUSABLE = 9 /* for facts only: an event of the service has numbers that cannot be (valid.h) */
};

/* A part of a trace was not seen, from @at to @ended; emitted at the beginning, so before any event of that time. */
struct bsa_loss {
	uint64_t ended;
	uint64_t events, packets; /* BSA_NEVER: the tracer did not count them */
	uint32_t cpu;             /* UINT32_MAX: unknown, or all */
	uint32_t pid;             /* 0: unknown */
	uint32_t cause;           /* enum bsa_loss_cause */
	uint16_t rotated;         /* for a gap: the session was rotated in it, which leaves a gap without a stop */
	uint16_t known;           /* for a head or a tail: it is certain, whatever events show */
};

/* The numbers that have names, as in the catalogue. */
enum bsa_priority { BSA_PRIORITY_LOW, BSA_PRIORITY_MEDIUM, BSA_PRIORITY_HIGH };
enum bsa_path {
	BSA_PATH_BURST,
	BSA_PATH_SYNC,
	BSA_PATH_FENCED,
	BSA_PATH_ASYNC,
	BSA_PATH_PREPARE, /* a trial run of a model that is being prepared: no app asks for it, or is answered */
	BSA_PATH_UNKNOWN = 255
};
enum bsa_queue { BSA_QUEUE_REQUEST, BSA_QUEUE_RESULT, BSA_QUEUE_CALL_REQUEST, BSA_QUEUE_CALL_RESULT, BSA_QUEUE_OTHER };
enum bsa_look { BSA_LOOK_FIRST, BSA_LOOK_AGAIN, BSA_LOOK_REFUSED, BSA_LOOK_CLIENT };
enum bsa_status { /* those that the fold asks for */
	          BSA_STATUS_NONE = 0,
	          BSA_STATUS_MISSED_DEADLINE_TRANSIENT = 5,
	          BSA_STATUS_MISSED_DEADLINE_PERSISTENT = 6,
	          BSA_STATUS_DEAD_OBJECT = 9,
	          BSA_STATUS_UNKNOWN = 255
};
enum bsa_stage {
	BSA_STAGE_PREPARE,
	BSA_STAGE_ADMISSION,
	BSA_STAGE_QUEUE,
	BSA_STAGE_RUNNING,
	BSA_STAGE_DONE,
	BSA_STAGE_RETURNED
};
/*
 * Of sched_preempt: the execution begins anew later; its thread waits for a page (services with a contract below 3: or,
 * on probation, for a cpu); or it is ready, on probation, and has no cpu.
 */
enum { BSA_MODE_RESTART = 1, BSA_MODE_STALLED = 2, BSA_MODE_NO_CPU = 3 };

/* Whether the execution left its lane because its thread could not use it: it is not ready until sched_ready. */
static inline bool bsa_mode_stalls(uint8_t mode)
{
	return mode == BSA_MODE_STALLED || mode == BSA_MODE_NO_CPU;
}
enum bsa_state_phase { BSA_STATE_DECODE, BSA_STATE_QUEUED, BSA_STATE_RUNNING, BSA_STATE_PREEMPTED, BSA_STATE_ENDED };
struct bsa_exec_delay {
	uint64_t exec, delays[3], reference_ns;
};
struct bsa_loop_iteration {
	uint64_t exec, iteration;
	uint16_t op;
	uint8_t depth;
};
enum bsa_span_kind {
	BSA_SPAN_CONNECT,
	BSA_SPAN_DISCONNECT,
	BSA_SPAN_BURST_MAKE,
	BSA_SPAN_BURST_FREE,
	BSA_SPAN_POOL_MAKE,
	BSA_SPAN_POOL_FREE,
	BSA_SPAN_BURST_CONFIGURE,
	BSA_SPAN_BURST_CLOSE,
	BSA_SPAN_KINDS
};
enum { BSA_OWNER_STREAM = 1, BSA_OWNER_CONNECTION = 5, BSA_OWNER_PROCESS = 6 };
enum { BSA_LANE_NATIVE = 254, BSA_LANE_NONE = 255 };

#endif

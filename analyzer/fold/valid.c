/* valid.c -- the table of the ranges that each field of each event may have, and the check by it. */
#include "fold/valid.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { LANES = 64 };

static_assert((BSA_TIME_MOST & (BSA_TIME_MOST - 1)) == 0, "numbers below it have no bit in common with it");

/* The range of a number. */
enum rule {
	/* every number it has bits for: a reference, a count, or a label, of which a later catalogue has more */
	RULE_ANY,
	RULE_EXEC,         /* a valid stream, and a valid number in it */
	RULE_EXEC_OR_NONE, /* like RULE_EXEC, or 0 */
	RULE_INSTANCE,
	RULE_LANE,         /* a lane of the service, or the driver's own */
	RULE_LANE_OR_NONE, /* like RULE_LANE, or no lane */
	RULE_TIME,         /* 0: no time */
	RULE_NS,
	RULE_ASKED_PATH,  /* a path that an app can use: not a trial run */
	RULE_NS_OR_NEVER, /* BSA_NEVER: not known. What is too large is not known either */
	RULE_ASKED        /* a time or duration that an app chooses: a larger one is the largest, -1 none */
};

struct field {
	uint16_t at; /* from the record's beginning */
	uint8_t bytes, n;
	uint8_t rule;  /* enum rule. Those without a rule come last, and RULE_ANY ends the search */
	uint8_t words; /* @n if they are times of 8 bytes, of which is_surely_valid looks at all at once; else 0 */
};

#define IS_TIME(rule) ((rule) == RULE_TIME || (rule) == RULE_NS || (rule) == RULE_ASKED || (rule) == RULE_NS_OR_NEVER)
#define BYTES(member) (sizeof(member) > 8 ? 8 : sizeof(member)) /* bytes of one element; elements of arrays have 8 */
#define FIELD(kind, name, its_rule)                                                            \
	{ .at = sizeof(struct bsa_event) + offsetof(struct bsa_##kind, name),                  \
	  .bytes = BYTES(((struct bsa_##kind *)0)->name),                                      \
	  .n = sizeof(((struct bsa_##kind *)0)->name) / BYTES(((struct bsa_##kind *)0)->name), \
	  .rule = its_rule,                                                                    \
	  .words = IS_TIME(its_rule) && BYTES(((struct bsa_##kind *)0)->name) == 8             \
		           ? sizeof(((struct bsa_##kind *)0)->name) / 8                        \
		           : 0 },

/* clang-format off */
#define ANY(kind, name) FIELD(kind, name, RULE_ANY)
#define EXEC(kind, name) FIELD(kind, name, RULE_EXEC)
#define EXEC_OR_NONE(kind, name) FIELD(kind, name, RULE_EXEC_OR_NONE)
#define INSTANCE(kind, name) FIELD(kind, name, RULE_INSTANCE)
#define LANE(kind, name) FIELD(kind, name, RULE_LANE)
#define LANE_OR_NONE(kind, name) FIELD(kind, name, RULE_LANE_OR_NONE)
#define TIME(kind, name) FIELD(kind, name, RULE_TIME)
#define NS(kind, name) FIELD(kind, name, RULE_NS)
#define NS_OR_NEVER(kind, name) FIELD(kind, name, RULE_NS_OR_NEVER)
#define ASKED(kind, name) FIELD(kind, name, RULE_ASKED)
#define ASKED_PATH(kind, name) FIELD(kind, name, RULE_ASKED_PATH)
#define END { .bytes = 0 }

static const struct field *const fields[BSA_N_KINDS] = {
	[BSA_service_state] = (const struct field[]){ INSTANCE(service_state, instance) TIME(service_state, since)
		ANY(service_state, pid) ANY(service_state, policy) ANY(service_state, preempt_mode)
		ANY(service_state, lanes) ANY(service_state, spin_us) ANY(service_state, contract)
		ANY(service_state, deadlines) END },
	[BSA_client_connect] = (const struct field[]){ TIME(client_connect, since) ANY(client_connect, conn)
		ANY(client_connect, pid) ANY(client_connect, uid) ANY(client_connect, app) END },
	[BSA_client_disconnect] = (const struct field[]){ ANY(client_disconnect, conn) ANY(client_disconnect, reason) END },
	[BSA_model_prepare] = (const struct field[]){ NS(model_prepare, estimate_ns) NS(model_prepare, step_ns)
		NS(model_prepare, look_ns)
		ASKED(model_prepare, deadline_ns) NS(model_prepare, took_ns) TIME(model_prepare, since)
		ANY(model_prepare, model) ANY(model_prepare, conn) ANY(model_prepare, priority) ANY(model_prepare, ops)
		ANY(model_prepare, const_bytes) ANY(model_prepare, status) ANY(model_prepare, digest) END },
	[BSA_model_release] = (const struct field[]){ ANY(model_release, model) END },
	[BSA_stream_open] = (const struct field[]){ TIME(stream_open, since) ANY(stream_open, stream)
		ANY(stream_open, conn) ANY(stream_open, path) ANY(stream_open, model) ANY(stream_open, request_capacity)
		ANY(stream_open, result_capacity) ANY(stream_open, spin_us) ANY(stream_open, cache)
		ANY(stream_open, client_spin_us) END },
	[BSA_stream_close] = (const struct field[]){ ANY(stream_close, stream) ANY(stream_close, reason) END },
	[BSA_performance_hold] = (const struct field[]){ ANY(performance_hold, on) END },
	[BSA_exec_submit] = (const struct field[]){ EXEC(exec_submit, exec) ASKED_PATH(exec_submit, path) ASKED(exec_submit, deadline_ns)
		ASKED(exec_submit, duration_ns) ANY(exec_submit, model) ANY(exec_submit, pools)
		NS(exec_submit, delay_ns) NS(exec_submit, gap_ns) ANY(exec_submit, turns)
		ANY(exec_submit, measure) ANY(exec_submit, fallback) END },
	[BSA_fmq_write] = (const struct field[]){ EXEC_OR_NONE(fmq_write, exec) NS(fmq_write, blocked_ns)
		ANY(fmq_write, queue) ANY(fmq_write, items) ANY(fmq_write, used) ANY(fmq_write, fmq) END },
	[BSA_fmq_read] = (const struct field[]){ EXEC(fmq_read, exec) NS(fmq_read, spun_ns) NS(fmq_read, slept_ns)
		ANY(fmq_read, queue) ANY(fmq_read, items) ANY(fmq_read, used) ANY(fmq_read, wakeups) END },
	[BSA_request_decode] = (const struct field[]){ EXEC(request_decode, exec) ANY(request_decode, model)
		ANY(request_decode, operands) ANY(request_decode, pools) ANY(request_decode, status) END },
	[BSA_fence_wait] = (const struct field[]){ EXEC(fence_wait, exec) NS(fence_wait, took_ns) ANY(fence_wait, fences)
		ANY(fence_wait, status) END },
	[BSA_slot_lookup] = (const struct field[]){ EXEC(slot_lookup, exec) ANY(slot_lookup, slot) ANY(slot_lookup, hit)
		ANY(slot_lookup, look) END },
	[BSA_slot_fetch] = (const struct field[]){ EXEC(slot_fetch, exec) NS(slot_fetch, took_ns) ANY(slot_fetch, stream)
		ANY(slot_fetch, slots) ANY(slot_fetch, status) END },
	[BSA_pool_map] = (const struct field[]){ NS(pool_map, took_ns) TIME(pool_map, since) ANY(pool_map, owner)
		ANY(pool_map, owner_id) ANY(pool_map, slot) ANY(pool_map, kind) ANY(pool_map, bytes)
		ANY(pool_map, status) END },
	[BSA_pool_unmap] = (const struct field[]){ ANY(pool_unmap, owner) ANY(pool_unmap, owner_id) ANY(pool_unmap, slot)
		ANY(pool_unmap, cause) END },
	[BSA_sched_enqueue] = (const struct field[]){ EXEC(sched_enqueue, exec) ASKED(sched_enqueue, deadline_ns)
		NS(sched_enqueue, estimate_ns) NS(sched_enqueue, floor_ns) ANY(sched_enqueue, model)
		ANY(sched_enqueue, app) ANY(sched_enqueue, priority) ANY(sched_enqueue, ahead)
		ANY(sched_enqueue, nth_ready) END },
	[BSA_sched_dispatch] = (const struct field[]){ EXEC(sched_dispatch, exec) LANE(sched_dispatch, lane) END },
	[BSA_sched_preempt] = (const struct field[]){ EXEC(sched_preempt, exec) LANE(sched_preempt, lane)
		NS(sched_preempt, redo_ns) ANY(sched_preempt, by) ANY(sched_preempt, at_op) ANY(sched_preempt, mode)
		ANY(sched_preempt, asked_ns) END },
	[BSA_sched_resume] = (const struct field[]){ EXEC(sched_resume, exec) LANE(sched_resume, lane)
		ANY(sched_resume, from_op) ANY(sched_resume, resumed) END },
	[BSA_sched_ready] = (const struct field[]){ EXEC(sched_ready, exec) END },
	[BSA_checkpoint] = (const struct field[]){ EXEC(checkpoint, exec) ANY(checkpoint, op) ANY(checkpoint, flag) END },
	[BSA_op_end] = (const struct field[]){ EXEC(op_end, exec) ANY(op_end, op) ANY(op_end, type) END },
	[BSA_exec_end] = (const struct field[]){ EXEC(exec_end, exec) LANE_OR_NONE(exec_end, lane)
		NS_OR_NEVER(exec_end, cpu_ns) NS(exec_end, redo_ns) ANY(exec_end, status) ANY(exec_end, ops_run)
		ANY(exec_end, nth_over) ANY(exec_end, n_ready) END },
	[BSA_deadline_miss] = (const struct field[]){ EXEC_OR_NONE(deadline_miss, exec) ASKED(deadline_miss, deadline_ns)
		NS(deadline_miss, estimate_ns) ANY(deadline_miss, model) ANY(deadline_miss, kind)
		ANY(deadline_miss, stage) ANY(deadline_miss, over_ns) END },
	[BSA_resource_exhausted] = (const struct field[]){ ANY(resource_exhausted, owner)
		ANY(resource_exhausted, owner_id) ANY(resource_exhausted, kind) ANY(resource_exhausted, resource)
		ANY(resource_exhausted, asked) ANY(resource_exhausted, limit) END },
	[BSA_exec_return] = (const struct field[]){ EXEC(exec_return, exec) ANY(exec_return, status) END },
	[BSA_fence_signal] = (const struct field[]){ EXEC(fence_signal, exec) ANY(fence_signal, status) END },
	[BSA_exec_client] = (const struct field[]){ EXEC(exec_client, exec) ASKED_PATH(exec_client, path)
		ASKED(exec_client, deadline_ns)
		TIME(exec_client, began) NS_OR_NEVER(exec_client, at) ASKED(exec_client, duration_ns)
		NS(exec_client, delay_ns) NS(exec_client, gap_ns) ANY(exec_client, turns)
		ANY(exec_client, model) ANY(exec_client, status) ANY(exec_client, fallback) END },
	[BSA_exec_service] = (const struct field[]){ EXEC(exec_service, exec) LANE_OR_NONE(exec_service, lane)
		TIME(exec_service, began) NS_OR_NEVER(exec_service, at) ASKED(exec_service, deadline_ns)
		NS_OR_NEVER(exec_service, delays) NS(exec_service, reference_ns) ANY(exec_service, model) ANY(exec_service, app)
		ANY(exec_service, priority) ANY(exec_service, path) ANY(exec_service, status) ANY(exec_service, lookups)
		ANY(exec_service, misses) ANY(exec_service, preemptions) ANY(exec_service, nth_ready)
		ANY(exec_service, nth_over) ANY(exec_service, n_ready) END },
	[BSA_exec_state] = (const struct field[]){ EXEC(exec_state, exec) ASKED(exec_state, deadline_ns)
		LANE_OR_NONE(exec_state, lane) TIME(exec_state, since) TIME(exec_state, ready_ns) ANY(exec_state, model)
		ANY(exec_state, app) ANY(exec_state, priority) ANY(exec_state, path) ANY(exec_state, phase) END },
	[BSA_buffer_allocate] = (const struct field[]){ TIME(buffer_allocate, since) ANY(buffer_allocate, buffer)
		ANY(buffer_allocate, conn) ANY(buffer_allocate, bytes) ANY(buffer_allocate, roles)
		ANY(buffer_allocate, status) END },
	[BSA_buffer_copy] = (const struct field[]){ NS(buffer_copy, took_ns) ANY(buffer_copy, buffer)
		ANY(buffer_copy, dir) ANY(buffer_copy, bytes) ANY(buffer_copy, status) END },
	[BSA_buffer_reject] = (const struct field[]){ EXEC_OR_NONE(buffer_reject, exec) ANY(buffer_reject, buffer)
		ANY(buffer_reject, cause) END },
	[BSA_buffer_free] = (const struct field[]){ ANY(buffer_free, buffer) ANY(buffer_free, cause) END },
	[BSA_app_span] = (const struct field[]){ NS(app_span, took_ns) TIME(app_span, since) ANY(app_span, kind)
		ANY(app_span, owner) ANY(app_span, owner_id) ANY(app_span, value) ANY(app_span, status) END },
	[BSA_exec_delay] = (const struct field[]){ EXEC(exec_delay, exec) NS_OR_NEVER(exec_delay, delays)
		NS(exec_delay, reference_ns) END },
	[BSA_loop_iteration] = (const struct field[]){ EXEC(loop_iteration, exec) ANY(loop_iteration, iteration)
		ANY(loop_iteration, op) ANY(loop_iteration, depth) END },
	[BSA_loss] = (const struct field[]){ END }, /* the decoder's own */
};
/* clang-format on */

static uint64_t number_at(const struct bsa_event *e, const struct field *f, unsigned i)
{
	const char *at = (const char *)e + f->at + i * f->bytes;
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (f->bytes) { /* the host's order, whatever that is */
	case 8:
		memcpy(&wide, at, 8);
		return wide;
	case 4:
		memcpy(&word, at, 4);
		return word;
	case 2:
		memcpy(&half, at, 2);
		return half;
	default:
		return (uint8_t)*at;
	}
}

static bool is_lane(uint64_t lane)
{
	return lane < LANES || lane == BSA_LANE_NATIVE;
}

static bool can_be(enum rule rule, uint64_t number)
{
	switch (rule) {
	case RULE_EXEC:
		return (uint32_t)number && number >> 32;
	case RULE_EXEC_OR_NONE:
		return !number || can_be(RULE_EXEC, number);
	case RULE_INSTANCE:
		return number < 4096;
	case RULE_LANE:
		return is_lane(number);
	case RULE_LANE_OR_NONE:
		return is_lane(number) || number == BSA_LANE_NONE;
	case RULE_TIME:
	case RULE_NS:
	case RULE_ASKED:
		return number <= BSA_TIME_MOST;
	case RULE_NS_OR_NEVER:
		return number <= BSA_TIME_MOST || number == BSA_NEVER;
	case RULE_ASKED_PATH:
		return number != BSA_PATH_PREPARE;
	case RULE_ANY:
		break;
	}
	return true;
}

/* Whether all numbers of a field are surely valid, found out fast. False: can_be decides about each of them. */
static inline bool is_surely_valid(const struct bsa_event *e, const struct field *f)
{
	const char *at = (const char *)e + f->at, *end = at + f->words * sizeof(uint64_t);
	uint64_t more = f->rule == RULE_NS_OR_NEVER ? 1 : 0; /* BSA_NEVER becomes 0 */
	uint64_t bits = 0, number;

	if (!f->words)
		return f->rule == RULE_EXEC && f->bytes == sizeof(number) && can_be(RULE_EXEC, number_at(e, f, 0));
	for (; at < end; at += sizeof(number)) {
		memcpy(&number, at, sizeof(number));
		bits |= number + more;
	}
	return bits < BSA_TIME_MOST;
}

const struct bsa_event *bsa_valid(const struct bsa_event *e, struct bsa_mended *room, bool *ret_unknown)
{
	*ret_unknown = false;
	for (const struct field *f = fields[e->kind]; f->rule != RULE_ANY; f++) {
		if (__builtin_expect(is_surely_valid(e, f), 1))
			continue;
		for (unsigned i = 0; i < f->n; i++) {
			uint64_t number = number_at(e, f, i);

			if (__builtin_expect(can_be((enum rule)f->rule, number), 1))
				continue;
			if (f->rule != RULE_ASKED && f->rule != RULE_NS_OR_NEVER)
				return NULL;
			*ret_unknown |= f->rule == RULE_NS_OR_NEVER;

			/* Replace the number, in a copy of the event. The HAL's -1 means no deadline, like 0. */
			if (f->rule == RULE_ASKED)
				number = number == BSA_NEVER ? 0 : BSA_TIME_MOST;
			else
				number = BSA_NEVER;
			assert(e->size <= sizeof(*room) && f->bytes == sizeof(number));
			if (e != (const struct bsa_event *)room->words)
				memcpy(room->words, e, e->size);
			memcpy((char *)room->words + f->at + i * sizeof(number), &number, sizeof(number));
			e = (const struct bsa_event *)room->words;
		}
	}
	return e;
}

bool bsa_valid_knows(enum bsa_kind kind, uint16_t at)
{
	for (const struct field *f = fields[kind]; f->bytes; f++)
		if (f->at == at)
			return true;
	return false;
}

bool bsa_valid_is_of_service(const struct bsa_event *e)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_exec_submit:
	case BSA_exec_return:
	case BSA_exec_client:
		return false;
	case BSA_fmq_write:
		return BSA_OF(e, fmq_write)->queue == BSA_QUEUE_RESULT ||
		       BSA_OF(e, fmq_write)->queue == BSA_QUEUE_CALL_RESULT;
	case BSA_fmq_read:
		return BSA_OF(e, fmq_read)->queue == BSA_QUEUE_REQUEST ||
		       BSA_OF(e, fmq_read)->queue == BSA_QUEUE_CALL_REQUEST;
	case BSA_slot_lookup:
		return BSA_OF(e, slot_lookup)->look != BSA_LOOK_CLIENT;
	case BSA_deadline_miss: /* the service, too, may emit that of what it signals */
		return BSA_OF(e, deadline_miss)->stage != BSA_STAGE_RETURNED;
	case BSA_app_span:
		return BSA_OF(e, app_span)->kind == BSA_SPAN_BURST_CONFIGURE ||
		       BSA_OF(e, app_span)->kind == BSA_SPAN_BURST_CLOSE;
	default:
		return true;
	}
}

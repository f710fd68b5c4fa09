/*
 * controller.c -- the client's side of a burst.
 *
 * CONCURRENCY  One execution at a time (in_flight); it owns the two queues, the packet's lists and the answer. The
 *           slots have a lock of their own. Meanwhile any thread may run the service's callback, call nnb_burst_dead,
 *           or free a pool. To free a pool, a thread walks a list of all bursts of the process, under a lock; it
 *           takes a reference to a burst before it releases the lock and calls the service, so it holds no lock
 *           during that call.
 * ORDERING  (1) end of an execution: store in_flight false, release   --- pairs with (2)
 *           (2) begin: exchange, acquire  => the next execution sees the queue handles as the last one left them
 *           (3) a slot is freed: increment generation, release        --- pairs with (4)
 *           (4) slots_lookup: load it, acquire, before looking up       => no slot outlives its pool here, even if
 *               a new pool is made at the same address
 * PROGRESS  A warm execution makes no system call except to wake a sleeping service, or to sleep; it allocates
 *           nothing and takes no lock.
 * CRASH     The thread that detects the death of the service calls nnb_burst_dead, which ends the wait for a result. A
 *           sleeping thread also wakes once a second to check, in case a hostile service has undone the wake.
 * TRUST     Results are parsed as untrusted data, from a copy. The shapes that the service reports are checked against
 *           the model. A result is compared with the last one where it lies; if they are equal, the last answer, which
 *           was checked, is given again, and nothing more is read.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "burst/pool.h"
#include "burst/repeat.h"
#include "burst/result.h"
#include "burst/slots.h"
#include "fmq/queue.h"
#include "nnb/burst.h"
#include "trace/open.h"
#include "trace/own.h"
#include "trace/span.h"
#include "trace/trace.h"

#define LOOK_UP_NS UINT64_C(1000000000)

struct nnb_burst {
	atomic_uint holders;
	struct nnb_burst_service service;
	bool configured;
	void *context; /* the service's, if so */
	struct nnb_fmq *request, *result;
	struct nnb__slots slots;
	atomic_bool in_flight;
	atomic_bool dead; /* nothing is sent any more */
	/* the pools of the last request and their slots: room for as many as fit a packet */
	const struct nnb_pool **pools;
	int32_t *by_pool;
	uint32_t n_pools, room;
	uint32_t generation; /* generation of the slots at the last lookup */
	/* the last request, which is copied to the queue if the next call repeats it; n_packet 0: none */
	struct nnb_request_datum *packet;
	uint32_t n_packet;
	/*
	 * The result of that request, and the answer that it became, for a result that repeats it: NONE without
	 * timing, and the shapes. n_heard 0: none. Room for any result, and for one shape for each output of the model.
	 */
	uint32_t n_heard, n_shapes, room_shapes;
	struct nnb_result_datum *heard;
	struct nnb_output_shape *shapes;
	uint32_t stream, model;         /* numbers of the burst and its model in traces */
	struct nnb__own own;            /* if neither the service nor its server numbers the burst */
	uint32_t sent;                  /* requests: their numbers */
	struct nnb_burst *next, **from; /* all bursts */
};

static pthread_mutex_t bursts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nnb_burst *bursts;

/* ---- life ---- */

static void burst_unref(struct nnb_burst *b)
{
	unsigned had = atomic_fetch_sub_explicit(&b->holders, 1, memory_order_acq_rel);

	assert(had > 0);
	if (had != 1)
		return;
	if (b->configured)
		b->service.close(b->context);
	if (b->service.release)
		b->service.release(b->service.arg);
	nnb_fmq_free(b->request);
	nnb_fmq_free(b->result);
	nnb__slots_fini(&b->slots);
	free(b->by_pool);
	free(b->pools);
	free(b->packet);
	free(b->heard);
	free(b->shapes);
	nnb__own_end(&b->own);
	free(b);
}

static enum nnb_status burst_memories(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *ret)
{
	struct nnb_burst *b = arg;

	return nnb__slots_memories(&b->slots, slots, n, ret);
}

static int make_queue(struct nnb_fmq **ret, size_t elem_size, uint32_t capacity, uint64_t window_ns)
{
	const struct nnb_fmq_config c = {
		.elem_size = elem_size,
		.capacity = capacity ? capacity : NNB_BURST_CAPACITY,
		.flavour = NNB_FMQ_SYNCHRONIZED,
		.event_flag = true,
		.window_ns = window_ns,
	};

	return c.capacity > NNB_BURST_CAPACITY_MAX ? -EINVAL : nnb_fmq_new(ret, &c);
}

/* Room for the last request and its result. */
static int make_packets(struct nnb_burst *b)
{
	b->room_shapes = b->service.model ? b->service.model->n_outputs : 0;
	b->packet = calloc(b->room, sizeof(*b->packet));
	b->heard = calloc(nnb_fmq_capacity(b->result), sizeof(*b->heard));
	b->shapes = calloc((size_t)b->room_shapes + 1, sizeof(*b->shapes));
	return b->packet && b->heard && b->shapes ? 0 : -ENOMEM;
}

/* The burst's number in traces: from the service, from its server through the queue, or from this process. */
static void burst_number(struct nnb_burst *b)
{
	nnb__fmq_is_of_burst(b->request, NBT_queue_request);
	nnb__fmq_is_of_burst(b->result, NBT_queue_result);
	if (b->service.called)
		b->service.called(b->context, &b->stream, &b->model);
	if (!b->stream)
		b->stream = nnb__fmq_stream(b->request);
	if (b->stream)
		return;
	b->stream = nnb__own_number();
	b->own = (struct nnb__own){ .stream = b->stream,
		                    .path = NBT_path_burst,
		                    .request_capacity = (uint32_t)nnb_fmq_capacity(b->request),
		                    .result_capacity = (uint32_t)nnb_fmq_capacity(b->result),
		                    .client_spin_us = nnb__fmq_window_us(b->result) };
	nnb__own_begin(&b->own);
}

static enum nnb_status burst_new(struct nnb_burst **ret, const struct nnb_burst_service *service,
                                 const struct nnb_burst_config *config, struct nnb_reason *reason)
{
	static const struct nnb_burst_config usual;
	struct nnb_burst *b = calloc(1, sizeof(*b));
	struct nnb_fmq_desc request, result;
	enum nnb_status status =
		service->extended ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_GENERAL_FAILURE; /* */
	int r = b ? 0 : -ENOMEM;

	if (!b) {
		if (service->release)
			service->release(service->arg);
		nnb_because(reason, "no memory for a burst");
		return status;
	}
	atomic_init(&b->holders, 1);
	b->service = *service;
	nnb__slots_init(&b->slots);
	if (!config)
		config = &usual;
	r = make_queue(&b->request, sizeof(struct nnb_request_datum), config->request_capacity, config->window_ns);
	if (!r)
		r = make_queue(&b->result, sizeof(struct nnb_result_datum), config->result_capacity, config->window_ns);
	if (!r) {
		b->room = (uint32_t)nnb_fmq_capacity(b->request);
		b->by_pool = calloc(b->room, sizeof(*b->by_pool));
		b->pools = calloc(b->room, sizeof(*b->pools));
		r = b->by_pool && b->pools ? make_packets(b) : -ENOMEM;
	}
	if (r) {
		nnb_because(reason, "no queues for a burst: error %d", -r);
		if (r == -EINVAL)
			status = NNB_STATUS_INVALID_ARGUMENT;
	} else {
		nnb_fmq_describe(b->request, &request);
		nnb_fmq_describe(b->result, &result);
		status = service->configure(service->arg, &(struct nnb_burst_callback){ burst_memories, b }, &request,
		                            &result, &b->context, reason);
	}
	if (status) {
		burst_unref(b);
		return status;
	}
	b->configured = true;
	burst_number(b);
	pthread_mutex_lock(&bursts_lock);
	b->next = bursts;
	b->from = &bursts;
	if (bursts)
		bursts->from = &b->next;
	bursts = b;
	pthread_mutex_unlock(&bursts_lock);
	*ret = b;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_burst_new(struct nnb_burst **ret, const struct nnb_burst_service *service,
                              const struct nnb_burst_config *config, struct nnb_reason *reason)
{
	enum nnb_status status;
	uint64_t began;

	nnb__trace_open();
	began = nnb__span_begin();
	status = burst_new(ret, service, config, reason);
	if (status)
		nnb__span_end_own(began, NBT_span_kind_burst_make, 0, status);
	else
		nnb__span_end(began, NBT_span_kind_burst_make, NBT_owner_stream, (*ret)->stream,
		              nnb__fmq_window_us((*ret)->result), status);
	return status;
}

struct nnb_burst *nnb_burst_free(struct nnb_burst *b)
{
	uint64_t began = nnb__span_begin();
	uint32_t stream;

	if (!b)
		return NULL;
	stream = b->stream;
	pthread_mutex_lock(&bursts_lock);
	assert(*b->from == b);
	*b->from = b->next;
	if (b->next)
		b->next->from = b->from;
	nnb__slots_forget(&b->slots); /* a pool that goes now does not find us any more, so we must not know it */
	pthread_mutex_unlock(&bursts_lock);
	burst_unref(b); /* a pool that is going just now has a count too, and then the last of us closes it */
	nnb__span_end(began, NBT_span_kind_burst_free, NBT_owner_stream, stream, 0, NNB_STATUS_NONE);
	return NULL;
}

void nnb_burst_dead(struct nnb_burst *b)
{
	atomic_store_explicit(&b->dead, true, memory_order_relaxed);
	nnb_fmq_shut(b->result);
}

/* ---- the end of a pool (S-4) ---- */

/* Take the slot of @pool from a burst that has one. Returns the burst, with a reference; NULL: no burst has a slot. */
static struct nnb_burst *pool_user(const struct nnb_pool *pool, int32_t *slot)
{
	struct nnb_burst *b;

	pthread_mutex_lock(&bursts_lock);
	for (b = bursts; b && !nnb__slots_give_up(&b->slots, pool, slot); b = b->next)
		;
	if (b)
		atomic_fetch_add_explicit(&b->holders, 1, memory_order_relaxed);
	pthread_mutex_unlock(&bursts_lock);
	return b;
}

void nnb__bursts_forget(const struct nnb_pool *pool)
{
	struct nnb_burst *b;
	int32_t slot;

	while ((b = pool_user(pool, &slot))) {
		/* S-6: only a slot that the service has let go of may mean something else one day */
		if (!b->service.free_memory(b->context, slot))
			nnb__slots_give_back(&b->slots, slot);
		burst_unref(b);
	}
}

/* ---- executing ---- */

static inline bool same_pools(const struct nnb_burst *b, const struct nnb_call *call)
{
	if (b->n_pools != call->n_pools || b->generation != nnb__slots_generation(&b->slots))
		return false;
	for (uint32_t i = 0; i < call->n_pools; i++)
		if (call->pools[i] != b->pools[i])
			return false;
	return true;
}

/* Emit the lookups of a request with the same pools as the last one. */
static __attribute__((noinline, cold)) void emit_same_lookups(const struct nnb_burst *b, uint64_t exec)
{
	for (uint32_t i = 0; i < b->n_pools; i++)
		NBT(slot_lookup, .exec = exec, .slot = b->by_pool[i], .hit = true, .look = NBT_look_client);
}

/* Know the slots of the call's pools. A burst is likely asked for the same ones as before. */
static int slots_lookup(struct nnb_burst *b, const struct nnb_call *call, uint64_t exec)
{
	int r;

	assert(call->n_pools <= b->room); /* the request fits the packet, so its pools fit the lists */
	if (__builtin_expect(b->n_packet || same_pools(b, call), 1)) {
		if (nbt_on(NBT_EVENT_slot_lookup))
			emit_same_lookups(b, exec);
		return 0;
	}
	b->n_pools = 0;
	b->generation = nnb__slots_generation(&b->slots);
	r = nnb__slots_of(&b->slots, call->pools, call->n_pools, exec, b->by_pool);
	if (r)
		return r;
	for (uint32_t i = 0; i < call->n_pools; i++)
		b->pools[i] = call->pools[i];
	b->n_pools = call->n_pools;
	return 0;
}

/* Write the packet of @n datums, unless it only repeats the last one. */
static void write_packet(struct nnb_burst *b, const struct nnb_call *call, size_t n)
{
	const struct nnb_fmq_tx packet = { .first = { b->packet, n }, .elem_size = sizeof(*b->packet) };
	struct nnb_request request;

	if (__builtin_expect(b->n_packet, 1)) {
		nnb__packet_set_terms(b->packet, n, &call->terms);
		return;
	}
	request = nnb__call_request(call);
	nnb_packet_request_build(&packet, &request, b->by_pool, call->measure, &call->terms);
	b->n_packet = (uint32_t)n;
	b->n_heard = 0;
}

/* 0: it may have been delivered. Otherwise it certainly was not, and it has no number. */
static int send_request(struct nnb_burst *b, const struct nnb_call *call, struct nnb__call_trace *t,
                        struct nnb_reason *reason)
{
	struct nnb_request request;
	size_t n = b->n_packet;
	int r;

	if (!n) {
		request = nnb__call_request(call);
		n = nnb_packet_request_size(&request, &call->terms);
	}
	if (atomic_load_explicit(&b->dead, memory_order_relaxed) || n > b->room)
		return -EPIPE;
	r = nnb__fmq_room_for(b->request, n);
	if (!r) {
		NNB__CALL_BEGIN(t, nnb__exec_of(b->stream, b->sent + 1), .model = b->model, .path = NBT_path_burst,
		                .deadline_ns = call->terms.deadline_ns, .pools = call->n_pools,
		                .measure = call->measure);
		r = slots_lookup(b, call, t->exec);
	}
	if (r) {
		nnb_because(reason, "the burst cannot carry the request: error %d", r);
		return r;
	}
	write_packet(b, call, n);
	b->sent++;
	nnb__call_writes(t);
	nnb__fmq_writes_for(b->request, t->exec);
	nnb__fmq_send(b->request, b->packet, n);
	return 0;
}

static void add_waited(const struct nnb_burst *b, struct nnb_fmq_waited *to)
{
	struct nnb_fmq_waited last;

	nnb_fmq_waited(b->result, NNB_FMQ_READER, &last, NULL);
	to->spun_ns += last.spun_ns;
	to->slept_ns += last.slept_ns;
	to->wakeups += last.wakeups;
}

/* Wait for a result. 0, or why there will be none. */
static int wait_for_result(struct nnb_burst *b, uint64_t timeout_ns, struct nnb__call_trace *t)
{
	struct nnb_fmq_waited waited = { 0 };
	uint64_t left = timeout_ns ? timeout_ns : UINT64_MAX, turn;
	int r;

	for (;;) {
		turn = left < LOOK_UP_NS ? left : LOOK_UP_NS;
		r = nnb__fmq_await(b->result, turn);
		assert(turn <= left);
		left -= timeout_ns ? turn : 0;
		if (r != NNB_FMQ_TIMED_OUT || !left)
			break;
		add_waited(b, &waited);
	}
	if (!r && nnb__call_listened(t, NBT_EVENT_fmq_read)) {
		const struct nnb_fmq_end *e = &b->result->end[NNB_FMQ_READER];
		uint32_t n = (uint32_t)((e->theirs - e->mine) / sizeof(*b->heard)); /* the datums that have come */

		add_waited(b, &waited);
		nnb__call_hears(t, NBT_queue_result, n, n, &waited);
	}
	return r;
}

/*
 * Give the last answer again if the result equals the last one, which was parsed and checked. @answer: NULL, or as
 * nnb__answer_none left it. False: the result differs, and is still in the queue.
 */
static inline bool answer_repeats(struct nnb_burst *b, struct nnb_answer *answer)
{
	if (!b->n_heard || (b->n_shapes && !(answer && answer->shapes)) ||
	    !nnb__fmq_holds(b->result, b->heard, b->n_heard))
		return false;
	nnb__fmq_drop(b->result, b->n_heard);
	if (answer)
		answer->n_shapes = b->n_shapes;
	for (uint32_t i = 0; i < b->n_shapes; i++)
		answer->shapes[i] = b->shapes[i];
	return true;
}

/* Keep what a result became, if the same result would become the same again. b->heard is that result. */
static void keep_answer(struct nnb_burst *b, size_t n, const struct nnb_call *call, const struct nnb_result *result)
{
	if (!b->n_packet || result->status || call->measure || result->n_shapes > b->room_shapes ||
	    (result->n_shapes && !result->shapes))
		return;
	for (uint32_t i = 0; i < result->n_shapes; i++)
		b->shapes[i] = result->shapes[i];
	b->n_shapes = result->n_shapes;
	b->n_heard = (uint32_t)n;
}

/* Parse a result, and check it. A malformed one is GENERAL_FAILURE, and no reason to fall back (B-18). */
static enum nnb_status take_result(struct nnb_burst *b, const struct nnb_call *call, struct nnb_answer *answer,
                                   struct nnb_reason *reason)
{
	struct nnb_result result = { .status = NNB_STATUS_GENERAL_FAILURE,
		                     .timing = NNB_NO_TIMING,
		                     .shapes = answer ? answer->shapes : NULL };
	struct nnb_fmq_tx tx, copy = { .elem_size = sizeof(*b->heard) };
	enum nnb_status status;
	bool parsed;
	size_t n;

	b->n_heard = 0;
	nnb__fmq_open(b->result, 0, &tx);
	n = tx.first.n + tx.second.n;
	nnb__tx_read(&tx, b->heard);
	copy.first = (struct nnb_fmq_region){ b->heard, n };
	parsed = !nnb_packet_result_parse(&result, call->n_outputs, &copy, reason);
	nnb_fmq_commit_read(b->result, n);
	status = nnb__answer_from_result(b->service.model, call, &result, answer, reason);
	if (parsed)
		keep_answer(b, n, call, &result);
	return status;
}

/* Receive the answer. */
static enum nnb_status result_receive(struct nnb_burst *b, const struct nnb_call *call, struct nnb__call_trace *t,
                                      struct nnb_answer *answer, struct nnb_reason *reason)
{
	int r = wait_for_result(b, call->timeout_ns, t);

	if (__builtin_expect(!r, 1)) {
		nnb__fmq_expects_write(b->request); /* a burst is likely to be asked for the same again, soon */
		if (__builtin_expect(answer_repeats(b, answer), 1))
			return NNB_STATUS_NONE;
		return take_result(b, call, answer, reason);
	}
	nnb_because(reason, r == -ESHUTDOWN          ? "the service is gone"
	                    : r == NNB_FMQ_TIMED_OUT ? "no answer in time: the burst is given up"
	                                             : "the counters of the result queue are invalid");
	nnb_burst_dead(b); /* an answer that comes now would be taken for the next one's */
	return NNB_STATUS_GENERAL_FAILURE;
}

/* Execute, as the only call in flight. */
static enum nnb_status execute_alone(struct nnb_burst *b, const struct nnb_call *call, struct nnb_answer *answer,
                                     struct nnb_reason *reason)
{
	struct nnb__call_trace trace;
	enum nnb_status status;

	if (__builtin_expect(!nnb__packet_repeats(b->packet, b->n_packet, call) || !same_pools(b, call), 0)) {
		b->n_packet = 0;
		if (!nnb__call_packable(call, reason))
			return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (__builtin_expect(!send_request(b, call, &trace, reason), 1)) {
		status = result_receive(b, call, &trace, answer, reason);
		if (answer)
			answer->exec = trace.exec;
		nnb__call_end(&trace, status);
		return status;
	}
	status = b->service.execute(b->service.arg, call, answer, reason);
	if (answer)
		answer->fallback = true;
	return status;
}

enum nnb_status nnb_burst_execute(struct nnb_burst *b, const struct nnb_call *call, struct nnb_answer *answer,
                                  struct nnb_reason *reason)
{
	enum nnb_status status;

	nnb__answer_none(answer);
	if (nnb__has_terms(&call->terms) && !b->service.extended) {
		nnb_because(reason, "this burst carries no deadlines");
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (atomic_exchange_explicit(&b->in_flight, true, memory_order_acquire)) { /* (2) */
		nnb_because(reason, "the burst is executing already");
		return NNB_STATUS_GENERAL_FAILURE;
	}
	status = execute_alone(b, call, answer, reason);
	assert(atomic_load_explicit(&b->in_flight, memory_order_relaxed));
	atomic_store_explicit(&b->in_flight, false, memory_order_release); /* (1) */
	return status;
}

void nnb_burst_waited(const struct nnb_burst *b, struct nnb_fmq_waited *ret_last, struct nnb_fmq_waited *ret_total)
{
	nnb_fmq_waited(b->result, NNB_FMQ_READER, ret_last, ret_total);
}

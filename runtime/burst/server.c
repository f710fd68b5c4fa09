/*
 * server.c -- the service's side of a burst: a thread that reads requests and answers them.
 *
 * CONCURRENCY  The thread owns the queues, the parsed request and the result. Freeing a slot is passed on to the
 *           executor, which has its own locks. The thread stores the counts, and any thread may load them.
 * ORDERING  The queues order the packets. To stop: set stopping, then shut the queue, again and again until the
 *           thread has ended; the thread checks stopping before it answers (B-32: no stray result).
 * THE SHORT WAY  A burst asks for the same again and again. Once a request was answered with NONE and needed no clock,
 *           the thread keeps its bytes and those of the result (n_again). While no trace session is active, the next
 *           request is compared with those bytes where it lies. If it equals them, the executor runs the same
 *           execution again, and the result is sent again: nothing is parsed, looked up, admitted or built. The
 *           executor refuses if anything has changed on its side, before it does anything (executor.c, AGAIN).
 *           A difference of one bit, terms, MEASURE, a failure or a trace session leads to the long way, which
 *           decides anew whether the next request may take the short one.
 * PROGRESS  The thread sleeps only for requests, or in the callback. It never waits for room: a client that has not
 *           read its last result gets none (B-16). A store into the result queue may wait for a client that takes
 *           pages out of its file. Where the server cannot seal the file, the executor wakes the thread that got its
 *           lane first, and the client is answered then (answers_first).
 * CRASH     If a client dies, the thread stays asleep; the part of the service that detects the death frees the server.
 * TRUST     A packet is parsed as untrusted data, and a malformed one is answered (B-18). On the short way, its bytes
 *           are compared once, and only the kept ones are used. Impossible counters are
 *           answered once; if they are still impossible at the next check, the thread ends (B-15).
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sys.h"
#include "burst/repeat.h"
#include "burst/server.h"
#include "burst/slots.h"
#include "fmq/queue.h"
#include "memory/gate.h"
#include "model/status.h"
#include "nnb/burst.h"
#include "trace/own.h"
#include "trace/trace.h"

#define SHUT_AGAIN_NS 10000000
/*
 * One thread of the client waits for a result. If an app has more of them, waking all would keep the thread that got
 * the lane waiting.
 */
#define READERS_WOKEN_MOST 8

struct nnb_burst_server {
	struct nnb_burst_callback callback;
	void (*taken)(void *arg);
	struct nnb_burst_executor executor;
	struct nnb_fmq *request, *result;
	struct nnb__gate *gate; /* of the thread that made it; the app outlives the burst */
	pthread_t thread;
	bool joined;
	bool answers_first; /* sending a result waits for no client; constant while the thread runs */
	atomic_bool stopping;
	_Atomic uint32_t out; /* the thread is about to end */
	_Atomic uint64_t requests, malformed, lookups, misses, fetches;

	/* owned by the thread */
	struct nnb_packet_request packet;
	struct nnb_output_shape *shapes;
	struct nnb_result_datum *answer; /* the last result, as it was sent */
	uint32_t n_again;                /* datums of it, if the next request may be served_again; 0 otherwise */
	int32_t *missing;
	uint32_t number;         /* number of requests read */
	struct nnb__own own;     /* for a burst that no service numbers */
	struct nnb__trace trace; /* trace of the current request; other threads read its atomic fields */
};

static inline void counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

static inline bool server_is_stopping(const struct nnb_burst_server *s)
{
	return atomic_load_explicit(&s->stopping, memory_order_relaxed);
}

/* ---- slots ---- */

/*
 * Ask the client for the memory of all missing slots in one callback (S-8). The executor keeps the memories that it
 * can use (S-9, S-11).
 */
static enum nnb_status memories_fetch(struct nnb_burst_server *s, uint32_t n)
{
	struct nnb_memory *memories = calloc(n, sizeof(*memories));
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	uint64_t asked;

	if (!memories)
		return status;
	counter_add(&s->fetches, 1);
	asked = nnb__now();
	status = s->callback.memories(s->callback.arg, s->missing, n, memories);
	NNB__EMIT(&s->trace, slot_fetch, .stream = s->trace.who.stream, .slots = (uint16_t)n,
	          .took_ns = nnb__now() - asked, .status = (uint8_t)status);
	if (!status) /* S-10, section 11 */
		status = s->executor.add(s->executor.arg, s->missing, n, memories, NULL);
	free(memories);
	return status;
}

/* @n: how many slots are missing. */
static __attribute__((noinline, cold)) void emit_lookups(struct nnb_burst_server *s, uint32_t n, enum nbt_look look)
{
	const struct nnb_packet_request *p = &s->packet;

	for (uint32_t i = 0; i < p->n_slots; i++)
		nnb__trace_lookup(&s->trace, p->slots[i],
		                  !bsearch(&p->slots[i], s->missing, n, sizeof(p->slots[0]), nnb__by_slot), look);
}

/*
 * Write the request's slots that the executor does not know into s->missing, and return their number. Emits each
 * lookup.
 */
static inline uint32_t look_up(struct nnb_burst_server *s, enum nbt_look look)
{
	const struct nnb_packet_request *p = &s->packet;
	uint32_t n = s->executor.missing(s->executor.arg, p->slots, p->n_slots, s->missing);

	assert(n <= p->n_slots);
	if (nbt_on(NBT_EVENT_slot_lookup))
		emit_lookups(s, n, look);
	return n;
}

static enum nnb_status slots_resolve(struct nnb_burst_server *s)
{
	const struct nnb_packet_request *p = &s->packet;
	uint32_t n = look_up(s, NBT_look_first);
	enum nnb_status status;

	counter_add(&s->lookups, p->n_slots);
	s->trace.lookups = (uint16_t)p->n_slots;
	s->trace.misses = (uint16_t)n;
	if (__builtin_expect(!n, 1))
		return NNB_STATUS_NONE;
	counter_add(&s->misses, n);
	status = memories_fetch(s, n);
	if (!status && look_up(s, NBT_look_again)) /* a slot was freed under the request that uses it */
		status = NNB_STATUS_INVALID_ARGUMENT;
	return status;
}

/* ---- requests ---- */

/* Begin the trace of a packet that was taken. A malformed packet has a number, too. */
static void begin_trace(struct nnb_burst_server *s, uint32_t items)
{
	struct nnb_fmq_waited waited;

	s->number++;
	nnb__trace_begin(&s->trace, nnb__exec_of(s->trace.who.stream, s->number));
	if (!nnb__trace_asks(&s->trace))
		return;
	nnb_fmq_waited(s->request, NNB_FMQ_READER, &waited, NULL);
	nnb__trace_taken(&s->trace, NBT_queue_request, items, items, &waited);
}

/*
 * Parse all of a packet (B-14), for which the queue is @ready. 0; -EBADMSG: it is malformed; -EIO: the queue's counters
 * are invalid; another error: the queue was shut.
 */
static int request_take(struct nnb_burst_server *s, int ready)
{
	struct nnb_fmq_tx tx;
	int r = nnb__fmq_open(s->request, ready, &tx);

	if (r)
		return r == -EBADMSG ? -EIO : r;
	if (nbt_on(NBT_EVENT_service_state) && s->taken)
		s->taken(s->callback.arg);
	if (nnb__own_news(&s->own) && s->executor.emit_all)
		s->executor.emit_all(s->executor.arg);
	begin_trace(s, (uint32_t)(tx.first.n + tx.second.n));
	r = nnb_packet_request_parse(&s->packet, &tx, NULL);
	nnb_fmq_commit_read(s->request, tx.first.n + tx.second.n);
	return r;
}

/*
 * Answer. A result that does not fit becomes a failure (B-35); if even that does not fit, the client does not read
 * its results.
 */
static void result_send(struct nnb_burst_server *s, struct nnb_result *result)
{
	size_t n = nnb_packet_result_size(result);
	struct nnb_fmq_tx tx = { .elem_size = sizeof(*s->answer) };

	if (server_is_stopping(s))
		return;
	if (!s->packet.extended)
		result->status = nnb__status_of_1_2(result->status);
	if (nnb__fmq_room_for(s->result, n)) {
		*result = (struct nnb_result){ .status = NNB_STATUS_GENERAL_FAILURE, .timing = NNB_NO_TIMING };
		n = NNB_RESULT_MIN;
		if (nnb__fmq_room_for(s->result, n))
			return;
	}
	tx.first = (struct nnb_fmq_region){ s->answer, n };
	nnb_packet_result_build(&tx, result);
	nnb__trace_replies(&s->trace);
	nnb__fmq_writes_for(s->result, s->trace.exec);
	nnb__fmq_send(s->result, s->answer, n);
}

static void request_serve(struct nnb_burst_server *s)
{
	struct nnb_result result = { .timing = NNB_NO_TIMING, .shapes = s->shapes };
	uint64_t taken = s->packet.measure ? nnb__now() : 0;

	nnb__trace_decoded(&s->trace, s->packet.n_inputs + s->packet.n_outputs, s->packet.n_slots,
	                   s->packet.terms.deadline_ns, result.status);
	result.status = s->executor.admit(s->executor.arg, &s->packet, NULL);
	if (!result.status) {
		result.status = slots_resolve(s);
		if (result.status && result.status != NNB_STATUS_INVALID_ARGUMENT && s->executor.forgo)
			s->executor.forgo(s->executor.arg, &s->packet);
	}
	if (!result.status)
		s->executor.execute(s->executor.arg, &s->packet, &result, NULL);
	if (s->packet.measure && !result.status)
		result.timing.in_driver_ns = nnb__now() - taken;
	else
		result.timing = NNB_NO_TIMING;
	nnb__trace_refused(&s->trace, result.status);
	if (__builtin_expect(!s->answers_first, 0))
		s->executor.answered(s->executor.arg);
	result_send(s, &result);
	s->executor.answered(s->executor.arg);
	if (!result.status && s->executor.again && !s->packet.measure && !nnb__has_terms(&s->packet.terms) &&
	    nnb__trace_was_silent(&s->trace))
		s->n_again = (uint32_t)nnb_packet_result_size(&result);
}

/* Send what became of the last request once more. */
static inline void answer_again(struct nnb_burst_server *s, enum nnb_status status)
{
	struct nnb_result result = { .status = status, .timing = NNB_NO_TIMING, .shapes = s->shapes };

	if (__builtin_expect(!status && !server_is_stopping(s) && !nnb__fmq_room_for(s->result, s->n_again), 1)) {
		nnb__fmq_writes_for(s->result, s->trace.exec);
		nnb__fmq_send(s->result, s->answer, s->n_again);
		return;
	}
	s->n_again = 0;
	result.n_shapes = status ? 0 : s->packet.n_outputs;
	result_send(s, &result);
}

/*
 * The short way of a request that equals the last one, of which all is known: it was answered, needs no clock, and no
 * trace session is active. It is compared where it lies; the executor runs the execution again, unless anything has
 * changed since; and the last result is sent again. False: nothing has happened.
 */
static bool served_again(struct nnb_burst_server *s)
{
	enum nnb_status status;

	if (!s->n_again || !nnb__trace_is_silent() || !nnb__fmq_holds(s->request, s->packet.datums, s->packet.n_datums))
		return false;
	nnb__trace_begin_again(&s->trace, nnb__exec_of(s->trace.who.stream, s->number + 1));
	if (__builtin_expect(!s->executor.again(s->executor.arg, &status), 0)) {
		nnb__trace_end_again(&s->trace);
		return false;
	}
	s->number++;
	nnb__trace_refused(&s->trace, status); /* unless it has ended on a lane */
	nnb__fmq_drop(s->request, s->packet.n_datums);
	counter_add(&s->requests, 1);
	counter_add(&s->lookups, s->packet.n_slots);
	if (__builtin_expect(!s->answers_first, 0))
		s->executor.answered(s->executor.arg);
	answer_again(s, status);
	s->executor.answered(s->executor.arg);
	nnb__trace_end_again(&s->trace);
	return true;
}

/* The queue is empty and the thread is about to sleep, so it has time to measure the reference computation. */
static void before_sleep(void *arg)
{
	const struct nnb_burst_server *s = arg;

	nnb__trace_idle(&s->trace);
}

static void *server_thread(void *arg)
{
	struct nnb_burst_server *s = arg;
	bool spoilt = false;
	int r;

	nnb__gate_enter(s->gate, &s->stopping);
	s->request->before_sleep = before_sleep;
	s->request->before_sleep_arg = s;

	for (;;) {
		r = nnb__fmq_await(s->request, 0);
		nnb__fmq_expects_write(s->result);
		if (__builtin_expect(!r && served_again(s), 1)) {
			spoilt = false;
			continue;
		}
		s->n_again = 0;
		r = request_take(s, r);
		if (server_is_stopping(s) || (r && r != -EBADMSG && r != -EIO) || (r == -EIO && spoilt))
			break;
		spoilt = r == -EIO;
		counter_add(&s->requests, 1);
		if (r) {
			struct nnb_result result = { .status = NNB_STATUS_GENERAL_FAILURE, .timing = NNB_NO_TIMING };

			counter_add(&s->malformed, 1);
			nnb__trace_decoded(&s->trace, 0, 0, 0, result.status);
			nnb__trace_refused(&s->trace, result.status);
			result_send(s, &result);
		} else
			request_serve(s);
		nnb__trace_end(&s->trace);
	}
	atomic_store_explicit(&s->out, true, memory_order_relaxed);
	nnb__futex_wake(&s->out, UINT32_MAX); /* the waiting thread joins this thread next */
	return NULL;
}

/* ---- life ---- */

static enum nnb_status admits_all(void *arg, const struct nnb_packet_request *request, struct nnb_reason *reason)
{
	(void)arg, (void)request, (void)reason;
	return NNB_STATUS_NONE;
}

static void nothing_to_do(void *arg)
{
	(void)arg;
}

static struct nnb_burst_server *server_free(struct nnb_burst_server *s)
{
	nnb_fmq_free(s->request);
	nnb_fmq_free(s->result);
	nnb_packet_request_fini(&s->packet);
	free(s->shapes);
	free(s->answer);
	free(s->missing);
	s->executor.free(s->executor.arg);
	nnb__own_end(&s->own);
	free(s);
	return NULL;
}

static int queue_attach(struct nnb_fmq **ret, const struct nnb_fmq_desc *desc, size_t elem_size, uint64_t window_ns)
{
	const struct nnb_fmq_attach how = { .elem_size = elem_size, .keep_counters = true, .window_ns = window_ns };
	int r = nnb_fmq_attach(ret, desc, &how);

	if (!r && (nnb_fmq_flavour(*ret) != NNB_FMQ_SYNCHRONIZED || !nnb_fmq_event_flag(*ret)))
		return -EOPNOTSUPP; /* B-23 */
	return r;
}

static enum nnb_status server_start(struct nnb_burst_server *s, const struct nnb_burst_server_config *c,
                                    struct nnb_reason *reason)
{
	size_t capacity;
	int r = queue_attach(&s->request, c->request, sizeof(struct nnb_request_datum), c->window_ns);

	if (!r)
		r = queue_attach(&s->result, c->result, sizeof(struct nnb_result_datum), c->window_ns);
	if (r == -EBUSY) {
		nnb_because(reason, NNB__GATE_REASON);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (r) {
		nnb_because(reason, "a queue cannot be attached, or is not one that a burst can use");
		return NNB_STATUS_GENERAL_FAILURE;
	}
	capacity = nnb_fmq_capacity(s->request);
	if (capacity > NNB_BURST_CAPACITY_MAX || nnb_fmq_capacity(s->result) > NNB_BURST_CAPACITY_MAX ||
	    nnb_fmq_capacity(s->result) < NNB_RESULT_MIN) {
		nnb_because(reason, "a queue is too large, or too small for any result");
		return NNB_STATUS_GENERAL_FAILURE;
	}
	s->shapes = calloc((size_t)c->n_outputs_max + 1, sizeof(*s->shapes));
	s->answer = calloc(NNB_RESULT_MIN + (size_t)c->n_outputs_max * (1 + NNB_RANK_MAX), sizeof(*s->answer));
	s->missing = calloc(capacity, sizeof(*s->missing));
	if (!s->shapes || !s->answer || !s->missing || nnb_packet_request_init(&s->packet, capacity)) {
		nnb_because(reason, "no memory for a burst");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	s->packet.extended = c->extended;
	s->packet.trace = &s->trace;
	nnb__fmq_is_of_burst(s->request, NBT_queue_request);
	nnb__fmq_is_of_burst(s->result, NBT_queue_result);
	s->result->flag.wakes_most = READERS_WOKEN_MOST;
	s->answers_first = c->answers_first && nnb__fmq_keep_pages(s->result);
	/* Set the number of the burst in traces, from the service or from this process, and pass it to the client and
	 * the executor. */
	if (!c->stream) {
		s->own = (struct nnb__own){ .stream = nnb__own_number(),
			                    .path = NBT_path_burst,
			                    .request_capacity = (uint32_t)nnb_fmq_capacity(s->request),
			                    .result_capacity = (uint32_t)nnb_fmq_capacity(s->result),
			                    .spin_us = nnb__fmq_window_us(s->request),
			                    .client_spin_us = nnb__fmq_maker_window_us(s->result),
			                    .cache = c->plain ? NBT_cache_none : NBT_cache_slots };
		s->trace.who.stream = s->own.stream;
		s->trace.who.app = (uint32_t)getpid(); /* as in nnb__own_begin */
		nnb__own_begin(&s->own);
	}
	nnb__fmq_set_stream(s->request, s->trace.who.stream);
	if (s->executor.set_stream)
		s->executor.set_stream(s->executor.arg, s->trace.who.stream);
	if (pthread_create(&s->thread, NULL, server_thread, s)) {
		nnb_because(reason, "no thread for a burst");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_burst_server_new(struct nnb_burst_server **ret, const struct nnb_burst_server_config *c,
                                     struct nnb_reason *reason)
{
	struct nnb_burst_server *s = calloc(1, sizeof(*s));
	enum nnb_status status;

	if (!s) {
		c->executor.free(c->executor.arg);
		nnb_because(reason, "no memory for a burst");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	s->callback = c->callback;
	s->gate = nnb__gate_mine();
	s->taken = c->taken;
	s->executor = c->executor;
	if (!s->executor.admit)
		s->executor.admit = admits_all;
	if (!s->executor.answered)
		s->executor.answered = nothing_to_do;
	s->trace.who = (struct nnb__trace_who){ c->stream, c->model, c->app, (uint8_t)c->priority, NBT_path_burst };
	status = server_start(s, c, reason);
	if (status)
		server_free(s);
	else
		*ret = s;
	return status;
}

void nnb_burst_server_free_memory(struct nnb_burst_server *s, int32_t slot)
{
	s->executor.remove(s->executor.arg, slot);
}

void nnb_burst_server_counts(const struct nnb_burst_server *s, struct nnb_burst_counts *ret)
{
	ret->requests = atomic_load_explicit(&s->requests, memory_order_relaxed);
	ret->malformed = atomic_load_explicit(&s->malformed, memory_order_relaxed);
	ret->lookups = atomic_load_explicit(&s->lookups, memory_order_relaxed);
	ret->misses = atomic_load_explicit(&s->misses, memory_order_relaxed);
	ret->fetches = atomic_load_explicit(&s->fetches, memory_order_relaxed);
}

void nnb__burst_server_queues(const struct nnb_burst_server *s, struct nnb__burst_queues *ret)
{
	ret->request = (uint32_t)nnb_fmq_capacity(s->request);
	ret->result = (uint32_t)nnb_fmq_capacity(s->result);
	ret->window_ns = nnb_fmq_window(s->request);
	ret->client_spin_us = nnb__fmq_maker_window_us(s->result);
}

void nnb__burst_server_emit_state(const struct nnb_burst_server *s)
{
	if (s->executor.emit_all)
		s->executor.emit_all(s->executor.arg);
	nnb__trace_emit_state(&s->trace);
}

void nnb__burst_server_halt(struct nnb_burst_server *s)
{
	atomic_store_explicit(&s->stopping, true, memory_order_relaxed);
	if (s->executor.cancel)
		s->executor.cancel(s->executor.arg);
}

void nnb_burst_server_stop(struct nnb_burst_server *s)
{
	if (s->joined)
		return;
	nnb__burst_server_halt(s);
	/* A hostile peer can put the thread back to sleep, so it is woken until it is out. */
	while (!atomic_load_explicit(&s->out, memory_order_relaxed)) {
		nnb_fmq_shut(s->request);
		nnb__futex_wait(&s->out, false, UINT32_MAX, nnb__now() + SHUT_AGAIN_NS);
	}
	pthread_join(s->thread, NULL);
	s->joined = true;
}

struct nnb_burst_server *nnb_burst_server_free(struct nnb_burst_server *s)
{
	if (!s)
		return NULL;
	nnb_burst_server_stop(s);
	return server_free(s);
}

/*
 * burst.h -- bursts: the same prepared model executed again and again through two queues, its pools known by slot.
 *
 * Four things, usable apart:
 *   nnb_pool          memory that an app shares with a service, and that remembers where it has a slot;
 *   nnb_burst         the client's side, the controller: packs requests, waits for results, falls back;
 *   nnb_burst_server  the service's side, the context: a thread that takes requests and answers them;
 *   nnb_burst_executor  what such a thread runs, and where it keeps the pools it has been given.
 * The two sides know each other by two queues, a callback from the service to the client (slot to memory), and one
 * call the other way (a slot is free). Both can be in one process: nnb_burst_local. In two: nnb/client.h.
 *
 * Rules B-1 to B-36 and S-1 to S-17 of the HAL. nnb_burst(3).
 */
#ifndef NNB_BURST_H
#define NNB_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/device.h"
#include "nnb/fmq.h"
#include "nnb/memory.h"
#include "nnb/model.h"
#include "nnb/packet.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

/* ---- pools: any thread; freeing one excludes every other use of it ---- */

struct nnb_pool;

/* @bytes of zeroed shared memory, mapped. 0 and *ret owned; -errno. */
NNB_PUBLIC int nnb_pool_new(struct nnb_pool **ret, uint64_t bytes);

/* A pool of somebody else's memory, which is duplicated. Of a kind that cannot be mapped, its data are NULL. */
NNB_PUBLIC int nnb_pool_from(struct nnb_pool **ret, const struct nnb_memory *memory);

NNB_PUBLIC void *nnb_pool_data(const struct nnb_pool *pool); /* borrowed */
NNB_PUBLIC uint64_t nnb_pool_size(const struct nnb_pool *pool);
NNB_PUBLIC const struct nnb_memory *nnb_pool_memory(const struct nnb_pool *pool); /* borrowed */

/* Unmap it here, and have every burst that has seen it forget it (S-4). NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_pool *nnb_pool_free(struct nnb_pool *pool);

/* ---- what is asked and what is answered, on every path ---- */

struct nnb_call {
	const struct nnb_argument *inputs, *outputs;
	struct nnb_pool *const *pools;
	uint32_t n_inputs, n_outputs, n_pools;
	bool measure;
	uint64_t timeout_ns;    /* to wait for the answer; 0: for ever */
	struct nnb_terms terms; /* what the service is told; all zeroes: nothing */
};

struct nnb_answer {
	struct nnb_output_shape *shapes; /* in: NULL, or room for the call's n_outputs */
	uint32_t n_shapes;               /* how many there are: none, or one an output (P-31) */
	struct nnb_timing timing;
	bool fallback; /* a burst did not carry it: it went the ordinary way */
	uint64_t exec; /* what traces call the execution (docs/events.md); 0: nothing: it was refused before */
};

/* ---- the client's side ---- */

struct nnb_burst;

enum { NNB_BURST_CAPACITY = 1024, NNB_BURST_CAPACITY_MAX = 1 << 13 }; /* datums of a queue (B-8) */

struct nnb_burst_config {
	uint32_t request_capacity, result_capacity; /* datums; 0: NNB_BURST_CAPACITY */
	/* How long to poll for a result before sleeping: NNB_FMQ_WINDOW_*, or ns. AUTO sleeps at once for a model that
	 * was prepared for low power (B-22). */
	uint64_t window_ns;
};

/* What the service calls for memory it does not know. Made by nnb_burst, or by a client of one's own. */
struct nnb_burst_callback {
	/*
	 * The memories of @n slots, in their order, and the reverse of S-7: NONE and all of ret[], owned by the
	 * caller; or another status and none. Called by any thread, at most one at a time.
	 */
	enum nnb_status (*memories)(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *ret);
	void *arg;
};

/* How a controller reaches the service: IPreparedModel and IBurstContext, as the controller needs them. */
struct nnb_burst_service {
	/* Configure a burst on these queues (B-6). NONE and *context. The callback is valid until close. */
	enum nnb_status (*configure)(void *arg, const struct nnb_burst_callback *callback,
	                             const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
	                             void **context, struct nnb_reason *reason);
	/* Forget a slot. When it returns, the service will not take the slot for what it was. */
	enum nnb_status (*free_memory)(void *context, int32_t slot);
	void (*close)(void *context);
	/* The ordinary path, for what the burst cannot carry (B-26). */
	enum nnb_status (*execute)(void *arg, const struct nnb_call *call, struct nnb_answer *answer,
	                           struct nnb_reason *reason);
	/* Nobody uses @arg any more. NULL: nobody need know. */
	void (*release)(void *arg);
	const struct nnb_model *model; /* what is executed; borrowed until release */
	/* What traces call the burst, once it is configured, and the model. NULL: a server in this process, or the burst
	 * itself, finds a number. */
	void (*called)(void *context, uint32_t *stream, uint32_t *model);
	bool extended; /* it takes NNB_REQUEST_TERMS; else calls with terms are INVALID_ARGUMENT */
	void *arg;
};

/*
 * Make the queues and have the service configure a burst. NONE and *ret owned; DEVICE_UNAVAILABLE, GENERAL_FAILURE,
 * INVALID_ARGUMENT, RESOURCE_EXHAUSTED_*: and then release has been called.
 */
NNB_PUBLIC enum nnb_status nnb_burst_new(struct nnb_burst **ret, const struct nnb_burst_service *service,
                                         const struct nnb_burst_config *config, struct nnb_reason *reason);

/* The same with the service in this process: a server on a thread of its own. @cached: as nnb_burst_executor_*. */
NNB_PUBLIC enum nnb_status nnb_burst_local(struct nnb_burst **ret, struct nnb_prepared *prepared, bool cached,
                                           const struct nnb_burst_config *config, struct nnb_reason *reason);

/*
 * Execute, and wait. One at a time: a second caller is refused with GENERAL_FAILURE at once (B-28). Where the
 * request was certainly not delivered (it does not fit, the service is gone) it goes the ordinary way and
 * answer->fallback says so; once it may have been delivered, never: a service that is lost then is GENERAL_FAILURE
 * (B-26), and so is an answer that does not come in time, after which the burst is of no more use and everything
 * falls back. @answer may be NULL.
 */
NNB_PUBLIC enum nnb_status nnb_burst_execute(struct nnb_burst *burst, const struct nnb_call *call,
                                             struct nnb_answer *answer, struct nnb_reason *reason);

/* The service is gone: whoever waits, or will, is not to. Any thread, any time before free. */
NNB_PUBLIC void nnb_burst_dead(struct nnb_burst *burst);

/* How the executing thread waited for results. For the thread that executes. */
NNB_PUBLIC void nnb_burst_waited(const struct nnb_burst *burst, struct nnb_fmq_waited *ret_last,
                                 struct nnb_fmq_waited *ret_total);

/* Close it: the service lets go of everything. Nobody may be executing. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_burst *nnb_burst_free(struct nnb_burst *burst);

/* ---- the service's side ---- */

/*
 * What a server runs (B-31). Its functions are called on the server's thread, but remove and cancel, which may be
 * called at any time from any.
 */
struct nnb_burst_executor {
	void *arg;

	/*
	 * Which of these slots it has no memory for: sorted, each once, into @ret, and their number. Where there
	 * are none, what the slots mean is held until the next execute has returned, whatever is removed meanwhile.
	 */
	uint32_t (*missing)(void *arg, const int32_t *slots, uint32_t n, int32_t *ret);

	/*
	 * Have @memories, which are taken, for @slots, the @n that were missing. NONE; or why one cannot be used: that one
	 * and those after it stay missing (S-9, S-11).
	 */
	enum nnb_status (*add)(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *memories,
	                       struct nnb_reason *reason);

	/* Forget a slot. An unknown one is fine (S-13). */
	void (*remove)(void *arg, int32_t slot);

	/*
	 * Is it worth looking for its memory? NONE; or a status that is the answer. The pools are not known yet. NULL: yes.
	 */
	enum nnb_status (*admit)(void *arg, const struct nnb_packet_request *request, struct nnb_reason *reason);

	/* It is not executed after all: the memory of some slot could not be had. NULL: nobody need know. */
	void (*forgo)(void *arg, const struct nnb_packet_request *request);

	/* Execute what was parsed, after missing has found nothing missing. @result's shapes have room for all outputs. */
	void (*execute)(void *arg, const struct nnb_packet_request *request, struct nnb_result *result,
	                struct nnb_reason *reason);

	/* What is being executed need not be finished: nobody waits for it. Any thread. NULL: it always finishes. */
	void (*cancel)(void *arg);

	/*
	 * Have traces told what is mapped: somebody has begun to listen. Any thread, with locks of a service's held, so it
	 * calls nobody. NULL: nothing is.
	 */
	void (*tell)(void *arg);

	/* The server is gone. */
	void (*free)(void *arg);

	/* What traces call the burst. Before everything else. NULL: nobody need know. */
	void (*called)(void *arg, uint32_t stream);
};

/*
 * Two of them: one that maps a slot's memory once and keeps that, and one that keeps the memory itself and maps it
 * anew for every execution. Both hold @prepared. 0 and *ret, or -ENOMEM.
 */
NNB_PUBLIC int nnb_burst_executor_cached(struct nnb_burst_executor *ret, struct nnb_prepared *prepared);
NNB_PUBLIC int nnb_burst_executor_plain(struct nnb_burst_executor *ret, struct nnb_prepared *prepared);

struct nnb_burst_server;

struct nnb_burst_server_config {
	const struct nnb_fmq_desc *request, *result; /* borrowed for the call, not trusted */
	struct nnb_burst_callback callback;
	struct nnb_burst_executor executor; /* taken, whatever happens */
	uint32_t n_outputs_max;             /* of the model: the room for shapes */
	bool extended;                      /* requests may have terms */
	uint64_t window_ns;                 /* how long to poll for a request before sleeping */
	/* What traces call them (docs/events.md), and the model's priority. Stream 0: the server finds a number. */
	uint32_t stream, model, app, priority;
	bool plain; /* for traces: the executor keeps nothing mapped between requests */
	/* While somebody listens: with the callback's arg, when a request was taken, before that is said. NULL: nobody. */
	void (*taken)(void *arg);
};

/*
 * Attach to the queues and start the thread. NONE and *ret owned; GENERAL_FAILURE: a queue is none, has no event
 * flag, or is too small for any answer (B-7, B-23); RESOURCE_EXHAUSTED_TRANSIENT: no memory or no thread.
 */
NNB_PUBLIC enum nnb_status nnb_burst_server_new(struct nnb_burst_server **ret,
                                                const struct nnb_burst_server_config *config,
                                                struct nnb_reason *reason);

/* IBurstContext.freeMemory. Any thread. Does not wait for an execution: that keeps what it uses (section 11). */
NNB_PUBLIC void nnb_burst_server_free_memory(struct nnb_burst_server *server, int32_t slot);

/* What it has done so far. Any thread. */
struct nnb_burst_counts {
	uint64_t requests, malformed, lookups, misses, fetches;
};
NNB_PUBLIC void nnb_burst_server_counts(const struct nnb_burst_server *server, struct nnb_burst_counts *ret);

/*
 * Stop the thread, without an answer to whatever it was doing (B-32). A callback under way must come back by itself,
 * or be made to, by who made it. Its counts are final then.
 */
NNB_PUBLIC void nnb_burst_server_stop(struct nnb_burst_server *server);

/* Stop it, and release all. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_burst_server *nnb_burst_server_free(struct nnb_burst_server *server);

NNB_END_DECLS

#endif

/*
 * burst.h -- bursts: one prepared model executed again and again through two queues, with its pools cached by slot.
 *
 * Four parts, which can be used separately:
 *   nnb_pool          memory that an app shares with a service, with the slots that it has in bursts;
 *   nnb_burst         the client's side, the controller: packs requests, waits for results, falls back;
 *   nnb_burst_server  the service's side, the context: a thread that reads requests and answers them;
 *   nnb_burst_executor  what this thread runs, and where it keeps the pools that it received.
 * The two sides are connected by two queues, a callback from the service to the client (slot to memory), and one call
 * from the client to the service (free a slot). Both can be in one process: nnb_burst_local. In two: nnb/client.h.
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

/* A pool of existing memory, which is duplicated. The data are NULL if the kind of memory cannot be mapped. */
NNB_PUBLIC int nnb_pool_from(struct nnb_pool **ret, const struct nnb_memory *memory);

NNB_PUBLIC void *nnb_pool_data(const struct nnb_pool *pool); /* borrowed */
NNB_PUBLIC uint64_t nnb_pool_size(const struct nnb_pool *pool);
NNB_PUBLIC const struct nnb_memory *nnb_pool_memory(const struct nnb_pool *pool); /* borrowed */

/* Unmap the pool, and free its slots in all bursts that have used it (S-4). NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_pool *nnb_pool_free(struct nnb_pool *pool);

/* ---- calls and answers, the same on every path ---- */

struct nnb_call {
	const struct nnb_argument *inputs, *outputs;
	struct nnb_pool *const *pools;
	uint32_t n_inputs, n_outputs, n_pools;
	bool measure;
	uint64_t timeout_ns;    /* timeout of the wait for the answer; 0: no timeout */
	struct nnb_terms terms; /* deadline and loop timeout; all zeroes: neither */
};

struct nnb_answer {
	struct nnb_output_shape *shapes; /* set by the caller: NULL, or room for the call's n_outputs */
	uint32_t n_shapes;               /* 0, or one for each output (P-31) */
	struct nnb_timing timing;
	bool fallback; /* the burst could not carry the call: it took the ordinary path */
	uint64_t exec; /* number of the execution in traces (docs/events.md); 0: refused before it had one */
};

/* ---- the client's side ---- */

struct nnb_burst;

/*
 * Datums of a queue (B-8). The default is a multiple of 4, 5, 6, 8, 9 and 10: a message of so many datums that is sent
 * again and again comes to the same places in each lap of the ring, and is written only once.
 */
enum { NNB_BURST_CAPACITY = 1080, NNB_BURST_CAPACITY_MAX = 1 << 13 };

struct nnb_burst_config {
	uint32_t request_capacity, result_capacity; /* datums; 0: NNB_BURST_CAPACITY */
	/* How long to poll for a result before sleeping: NNB_FMQ_WINDOW_*, or ns. AUTO sleeps at once if the model was
	 * prepared for low power (B-22). */
	uint64_t window_ns;
};

/*
 * The client's callback, which the service calls for slots whose memory it lacks. Implemented by nnb_burst, or by
 * another client.
 */
struct nnb_burst_callback {
	/*
	 * Write the memories of @n slots into ret[], in the same order (S-7). NONE, and the caller owns all of ret[];
	 * or another status, and ret[] holds none. Any thread may call this, one at a time.
	 */
	enum nnb_status (*memories)(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *ret);
	void *arg;
};

/* How a controller reaches the service: the parts of IPreparedModel and IBurstContext that it needs. */
struct nnb_burst_service {
	/* Configure a burst on these queues (B-6). NONE and *context. The callback is valid until close. */
	enum nnb_status (*configure)(void *arg, const struct nnb_burst_callback *callback,
	                             const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
	                             void **context, struct nnb_reason *reason);
	/* Free a slot. After this returns, the service never uses the slot's old memory for a new request. */
	enum nnb_status (*free_memory)(void *context, int32_t slot);
	void (*close)(void *context);
	/* The ordinary path, for calls that the burst cannot carry (B-26). */
	enum nnb_status (*execute)(void *arg, const struct nnb_call *call, struct nnb_answer *answer,
	                           struct nnb_reason *reason);
	/* The burst no longer uses @arg. May be NULL. */
	void (*release)(void *arg);
	const struct nnb_model *model; /* the model that the burst executes; borrowed until release */
	/* The numbers of the configured burst and of the model in traces. NULL: a server in this process, or the burst
	 * itself, chooses a number. */
	void (*called)(void *context, uint32_t *stream, uint32_t *model);
	bool extended; /* the service accepts NNB_REQUEST_TERMS; otherwise a call with terms is INVALID_ARGUMENT */
	void *arg;
};

/*
 * Make the queues and have the service configure a burst. NONE, and the caller owns *ret; or DEVICE_UNAVAILABLE,
 * GENERAL_FAILURE, INVALID_ARGUMENT, RESOURCE_EXHAUSTED_*, and release has been called.
 */
NNB_PUBLIC enum nnb_status nnb_burst_new(struct nnb_burst **ret, const struct nnb_burst_service *service,
                                         const struct nnb_burst_config *config, struct nnb_reason *reason);

/* Like nnb_burst_new, with a server on a thread of this process. @cached chooses between the nnb_burst_executor_*. */
NNB_PUBLIC enum nnb_status nnb_burst_local(struct nnb_burst **ret, struct nnb_prepared *prepared, bool cached,
                                           const struct nnb_burst_config *config, struct nnb_reason *reason);

/*
 * Execute, and wait for the answer. One call at a time: a second caller gets GENERAL_FAILURE at once (B-28). If the
 * request was certainly not delivered (it does not fit, or the service is gone), it takes the ordinary path, and
 * answer->fallback is set. A request that may have been delivered never does: if the service dies then, or the answer
 * does not arrive before the timeout, the status is GENERAL_FAILURE (B-26). After such a timeout the burst cannot be
 * used any more, and all calls fall back. @answer may be NULL.
 */
NNB_PUBLIC enum nnb_status nnb_burst_execute(struct nnb_burst *burst, const struct nnb_call *call,
                                             struct nnb_answer *answer, struct nnb_reason *reason);

/*
 * The service is gone: end the wait for a result, and let no later call wait. From any thread, at any time before
 * free.
 */
NNB_PUBLIC void nnb_burst_dead(struct nnb_burst *burst);

/* How long the executing thread waited for results. Only that thread may call this. */
NNB_PUBLIC void nnb_burst_waited(const struct nnb_burst *burst, struct nnb_fmq_waited *ret_last,
                                 struct nnb_fmq_waited *ret_total);

/*
 * Close the burst: the service releases everything that belongs to it. No thread may be executing. NULL is fine.
 * Returns NULL.
 */
NNB_PUBLIC struct nnb_burst *nnb_burst_free(struct nnb_burst *burst);

/* ---- the service's side ---- */

/*
 * The executor of a server (B-31). The server's thread calls its functions; any thread may call remove, cancel and
 * emit_all, at any time.
 */
struct nnb_burst_executor {
	void *arg;

	/*
	 * Write the slots without a memory into @ret, sorted and without repetition, and return their number. If there
	 * are none, the executor holds the slots' memories until the next execute has returned, even if they are
	 * removed.
	 */
	uint32_t (*missing)(void *arg, const int32_t *slots, uint32_t n, int32_t *ret);

	/*
	 * Add @memories, which the executor takes, for @slots, the @n missing ones. NONE; or a status if a memory
	 * cannot be used: its slot and those after it stay missing (S-9, S-11), except for tokens, which are added.
	 */
	enum nnb_status (*add)(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *memories,
	                       struct nnb_reason *reason);

	/* Remove a slot. An unknown slot is accepted (S-13). */
	void (*remove)(void *arg, int32_t slot);

	/*
	 * Admit the request before the memories of its slots are known. NONE; or the status to answer at once. May be
	 * NULL.
	 */
	enum nnb_status (*admit)(void *arg, const struct nnb_packet_request *request, struct nnb_reason *reason);

	/* An admitted request is not executed: the memory of a slot was not available. May be NULL. */
	void (*forgo)(void *arg, const struct nnb_packet_request *request);

	/*
	 * Execute the request, which nnb_packet_request_parse filled in. Called when missing has returned 0.
	 * @result's shapes have room for all outputs. An array that the server uses again must still have what
	 * the last call wrote: if the request is the same as then, the executor does not write it again.
	 */
	void (*execute)(void *arg, const struct nnb_packet_request *request, struct nnb_result *result,
	                struct nnb_reason *reason);

	/* The result of the current execution is not needed: end it early. From any thread. NULL: it always
	 * finishes. */
	void (*cancel)(void *arg);

	/*
	 * Emit events about everything that is mapped, because a trace session has begun. From any thread, which
	 * holds locks of the service: so this must not call back. NULL: nothing is mapped.
	 */
	void (*emit_all)(void *arg);

	/* The server has ended: free the executor. */
	void (*free)(void *arg);

	/* The number of the burst in traces; called before the other functions. May be NULL. */
	void (*set_stream)(void *arg, uint32_t stream);

	/*
	 * The server has sent the result of the current execution, or sends none, or sending it may wait for the
	 * client. The executor does now what it put off, e.g. it wakes the next execution. May be called again for
	 * the same execution. May be NULL.
	 */
	void (*answered)(void *arg);

	/*
	 * Execute the last request again: the server got the same bytes, without terms and without MEASURE, execute
	 * answered NONE, and no trace session is active. Instead of admit, missing and execute. True: *ret is the
	 * status; with NONE, the result is the last one. False: nothing has happened, and the server calls those.
	 * May be NULL.
	 */
	bool (*again)(void *arg, enum nnb_status *ret);
};

/*
 * Two executors: the cached one maps a slot's memory once and keeps the mapping; the plain one keeps the memory's fds
 * and maps them for every execution. Both hold a reference to @prepared. 0 and *ret, or -ENOMEM.
 */
NNB_PUBLIC int nnb_burst_executor_cached(struct nnb_burst_executor *ret, struct nnb_prepared *prepared);
NNB_PUBLIC int nnb_burst_executor_plain(struct nnb_burst_executor *ret, struct nnb_prepared *prepared);

struct nnb_burst_server;

struct nnb_burst_server_config {
	const struct nnb_fmq_desc *request, *result; /* borrowed for the call, not trusted */
	struct nnb_burst_callback callback;
	struct nnb_burst_executor executor; /* taken, even on failure */
	uint32_t n_outputs_max;             /* number of the model's outputs: the room for shapes */
	bool extended;                      /* requests may have terms */
	uint64_t window_ns;                 /* how long to poll for a request before sleeping */
	/* Their numbers in traces (docs/events.md), and the model's priority. Stream 0: the server chooses a number. */
	uint32_t stream, model, app, priority;
	bool plain; /* for traces: the executor keeps no mapping between requests */
	/* Called with the callback's arg when a request was read, before its event is emitted, if a trace session is
	 * active. May be NULL. */
	void (*taken)(void *arg);
	/*
	 * Send a result before the executor's answered is called, if that cannot wait for the client. The server
	 * seals the result queue's files (F_SEAL_FUTURE_WRITE), if they are not sealed against further seals and are
	 * sealed against growing.
	 */
	bool answers_first;
};

/*
 * Attach to the queues and start the thread. NONE, and the caller owns *ret; GENERAL_FAILURE: a queue cannot be
 * attached, has no event flag, or is too small for any answer (B-7, B-23); RESOURCE_EXHAUSTED_TRANSIENT: no memory or
 * no thread.
 */
NNB_PUBLIC enum nnb_status nnb_burst_server_new(struct nnb_burst_server **ret,
                                                const struct nnb_burst_server_config *config,
                                                struct nnb_reason *reason);

/*
 * IBurstContext.freeMemory. From any thread. Does not wait for the current execution, which keeps the memory that it
 * uses.
 */
NNB_PUBLIC void nnb_burst_server_free_memory(struct nnb_burst_server *server, int32_t slot);

/* Counts of the server's requests and lookups so far. From any thread. */
struct nnb_burst_counts {
	uint64_t requests, malformed, lookups, misses, fetches;
};
NNB_PUBLIC void nnb_burst_server_counts(const struct nnb_burst_server *server, struct nnb_burst_counts *ret);

/*
 * Stop the thread, without an answer to its current request (B-32). If a callback is under way, it must return: its
 * implementer has to see to that. Afterwards the counts are final.
 */
NNB_PUBLIC void nnb_burst_server_stop(struct nnb_burst_server *server);

/* Stop the server, and free it. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_burst_server *nnb_burst_server_free(struct nnb_burst_server *server);

NNB_END_DECLS

#endif

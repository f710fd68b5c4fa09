/*
 * client.h -- an app's side of the service nnburstd: connect, prepare, execute one way or the other.
 *
 * Any thread may call anything; closing or freeing something excludes every other use of it. Everything here holds
 * what it needs: a client may be closed before its models, a model before its bursts. Calls that wait do so until
 * the answer comes, the service dies (DEAD_OBJECT), or a timeout is over (GENERAL_FAILURE).
 *
 * A program is not to fork without exec while it has a client, and expect the child to use it. nnb_client(3).
 */
#ifndef NNB_CLIENT_H
#define NNB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/buffer.h"
#include "nnb/burst.h"
#include "nnb/defs.h"
#include "nnb/device.h"
#include "nnb/model.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

/* ---- the connection ---- */

struct nnb_client;

struct nnb_client_config {
	const char *socket;  /* NULL: $NNBURST_SOCKET, $XDG_RUNTIME_DIR/nnburst/socket if there, /run/nnburst/socket */
	const char *name;    /* for people to read; NULL: the program's */
	uint64_t timeout_ns; /* of each call that has none of its own; 0: for ever */
	/*
	 * The HAL's version that the app was made for; 0: NNB_HAL_1_3. Before that there are neither deadlines nor
	 * priorities, which are INVALID_ARGUMENT then, nor their statuses, which are GENERAL_FAILURE. A model of a
	 * later HAL is an INVALID_ARGUMENT.
	 */
	enum nnb_hal hal;
};

/* @config may be NULL. 0 and *ret owned; -errno: no service there, or none that wants us; the reason has words. */
NNB_PUBLIC int nnb_client_open(struct nnb_client **ret, const struct nnb_client_config *config,
                               struct nnb_reason *reason);

/* NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_client *nnb_client_close(struct nnb_client *client);

struct nnb_service_info {
	uint32_t pid;                               /* of the service */
	uint32_t instance;                          /* its number, 1 to 4095, another after each start */
	uint32_t connection;                        /* ours */
	uint32_t app;                               /* who the service takes us for: a uid, or a pid */
	uint32_t policy, preempt, deadlines, lanes; /* its rules (nnb/service.h) */
	uint32_t sync_stream, fenced_stream,
		async_stream; /* what traces call our calls of each kind (docs/events.md) */
	char driver[NNB_NAME_MAX], version[NNB_NAME_MAX];
	struct nnb_capabilities capabilities;
};

NNB_PUBLIC const struct nnb_service_info *nnb_client_info(const struct nnb_client *client); /* borrowed */

/* Is the service still there? */
NNB_PUBLIC bool nnb_client_alive(const struct nnb_client *client);

/* What the service holds and has done: for all apps, and for this one. */
struct nnb_service_counts {
	struct nnb_holdings {
		uint64_t connections, channels, models, bursts, buffers, pools, bytes, executions_under_way;
	} all, app, limit; /* limit: what this app may have; UINT64_MAX: anything */
	/*
	 * What the machine lets the service have, and who has it: the service charges an app with the most that what it holds
	 * can take. Limit: the machine's; most: what one app may have; guaranteed: what each of the first 64 apps can
	 * have, whatever the others hold.
	 */
	struct nnb_budget {
		uint64_t limit, most, guaranteed, all, app;
	} descriptors, mappings, memory;
	uint64_t burst_requests, burst_malformed, slot_lookups, slot_misses;
	uint64_t sync_executions, async_executions, fenced_executions, refused;
	uint32_t performance_held; /* 1: the device is kept in its fast state */
};

NNB_PUBLIC enum nnb_status nnb_client_counts(struct nnb_client *client, struct nnb_service_counts *ret,
                                             struct nnb_reason *reason);

/*
 * What apps got of the lanes. Times are of when somebody waited for a lane; when nobody does, everybody has all they can
 * use. Entitled: lanes and time shared out equally among the apps with something ready or running, none of them more
 * than it has use for. Lag: what an app was entitled to and did not receive since it last had nothing to do.
 */
struct nnb_app_counts {
	uint32_t app;     /* a uid, or a pid */
	uint32_t waiting; /* executions that wait for a lane, now */
	uint64_t executions;
	uint64_t preemptions, restarts;
	uint64_t missed_transient, missed_persistent, late; /* deadlines; late: finished all the same */
	uint64_t received_ns, entitled_ns;
	int64_t max_lag_ns;
	uint64_t longest_wait_ns; /* for a lane, in one stretch */
};

/*
 * At most @room of them into @ret, and *n, how many there are. Who is neither root nor the service's own user is told of
 * itself only.
 */
NNB_PUBLIC enum nnb_status nnb_client_apps(struct nnb_client *client, struct nnb_app_counts *ret, uint32_t room,
                                           uint32_t *n, struct nnb_reason *reason);

/* ---- models ---- */

/* Which operations the service's device takes: one bool each (nnb_device_supported). */
NNB_PUBLIC enum nnb_status nnb_client_supported(struct nnb_client *client, const struct nnb_model *model, bool *ret,
                                                struct nnb_reason *reason);

struct nnb_remote; /* a model that the service has prepared */

/* As nnb_prepare. @model is borrowed for the call. NONE and *ret owned. @how may be NULL: fast answers, medium. */
NNB_PUBLIC enum nnb_status nnb_remote_prepare(struct nnb_client *client, const struct nnb_model *model,
                                              const struct nnb_prepare *how, const struct nnb_cache *cache,
                                              struct nnb_remote **ret, struct nnb_reason *reason);

/* As nnb_prepare_from_cache. @model, which the cache entry was made of, is borrowed for the call. */
NNB_PUBLIC enum nnb_status nnb_remote_prepare_from_cache(struct nnb_client *client, const struct nnb_model *model,
                                                         uint64_t deadline_ns, const struct nnb_cache *cache,
                                                         struct nnb_remote **ret, struct nnb_reason *reason);

/* What the service knows of how long it takes. 0: nothing yet. */
struct nnb_times {
	uint64_t floor_ns;    /* the least it has ever taken of a lane */
	uint64_t estimate_ns; /* what it takes, lately */
	uint64_t step_ns;     /* its longest operation, alone on the device: checkpoints are that far apart, at most */
	uint64_t longest_ns;  /* the longest time between two checkpoints that was seen, whatever the reason */
};

NNB_PUBLIC enum nnb_status nnb_remote_times(struct nnb_remote *remote, struct nnb_times *ret,
                                            struct nnb_reason *reason);

NNB_PUBLIC const struct nnb_model *nnb_remote_model(const struct nnb_remote *remote); /* borrowed; without its pools */
NNB_PUBLIC uint32_t nnb_remote_id(const struct nnb_remote *remote);                   /* what the service calls it */
NNB_PUBLIC struct nnb_remote *nnb_remote_release(struct nnb_remote *remote);          /* NULL is fine. Returns NULL. */

/* ---- executing ---- */

/* The ordinary path: pools are passed, mapped and unmapped for this execution. @answer may be NULL. */
NNB_PUBLIC enum nnb_status nnb_remote_execute(struct nnb_remote *remote, const struct nnb_call *call,
                                              struct nnb_answer *answer, struct nnb_reason *reason);

/*
 * The same without waiting. @done is called exactly once, whatever this returns (P-32): on a thread of the client's, or
 * before this returns. Until then the pools must stay. What it is told has shapes that are valid during the call only,
 * and in exec what traces call the execution.
 * It must not execute by a burst: that may ask the very thread what a slot is.
 * A timeout is not looked at.
 */
NNB_PUBLIC enum nnb_status nnb_remote_execute_async(struct nnb_remote *remote, const struct nnb_call *call,
                                                    void (*done)(void *arg, const struct nnb_result *result), void *arg,
                                                    struct nnb_reason *reason);

/* ---- fenced execution: nothing is waited for here but the launch (Q-31 to Q-36) ---- */

struct nnb_fenced;

struct nnb_fenced_how {
	const int *wait_for; /* fences (nnb/fence.h), borrowed for the call */
	uint32_t n_wait_for;
	uint64_t duration_ns; /* how long it may take once they are signalled; 0: as long as it likes */
};

/*
 * Execute once all fences are signalled. NONE: *ret and the fence *ret_fence are owned (nnb_fenced_free, close); the
 * fence is signalled when the outputs are there, or fails. Every other status: at once, and nothing is owned;
 * INVALID_ARGUMENT: also a fence that is none or has failed, outputs that are not fully specified. Until the fence is
 * signalled or has failed the pools must stay. It fails too when the service dies. @how may be NULL.
 */
NNB_PUBLIC enum nnb_status nnb_remote_execute_fenced(struct nnb_remote *remote, const struct nnb_call *call,
                                                     const struct nnb_fenced_how *how, struct nnb_fenced **ret,
                                                     int *ret_fence, struct nnb_reason *reason);

/*
 * What became of it. GENERAL_FAILURE before it is over. Timings were measured if the call asked for it and it went
 * well: from the launch, and from when the last fence was signalled, to its own signal. Both may be NULL.
 */
NNB_PUBLIC enum nnb_status nnb_fenced_info(struct nnb_fenced *fenced, struct nnb_timing *since_launch,
                                           struct nnb_timing *since_fences, struct nnb_reason *reason);

/* What traces call it (docs/events.md). */
NNB_PUBLIC uint64_t nnb_fenced_exec(const struct nnb_fenced *fenced);

/* At any time: the execution goes on. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_fenced *nnb_fenced_free(struct nnb_fenced *fenced);

/* ---- bursts ---- */

/* A burst on it. @config may be NULL. NONE and *ret owned: nnb_burst_execute, nnb_burst_free. */
NNB_PUBLIC enum nnb_status nnb_remote_burst(struct nnb_remote *remote, const struct nnb_burst_config *config,
                                            struct nnb_burst **ret, struct nnb_reason *reason);

/*
 * How a controller of one's own reaches the service: to configure one burst with its own queues and callback, once. What the
 * service says on the queues is not looked at. NONE and *ret; release it when its context is closed, or was never configured.
 */
NNB_PUBLIC enum nnb_status nnb_remote_burst_service(struct nnb_remote *remote, struct nnb_burst_service *ret,
                                                    struct nnb_reason *reason);

/* ---- memory domains: buffers that the service's driver keeps ---- */

struct nnb_remote_buffer;

/*
 * As nnb_buffer_new, for models of this client. RESOURCE_EXHAUSTED_*: also more than the app may have, or all apps
 * together. It goes with its client, or earlier. With @fall_back, what is refused for another reason than
 * INVALID_ARGUMENT, and is of a size that is known, is made of shared memory instead: *ret is used in the same way then,
 * and holds zeroes at first.
 */
NNB_PUBLIC enum nnb_status nnb_remote_buffer_new(struct nnb_remote_buffer **ret, struct nnb_client *client,
                                                 struct nnb_remote *const *models, uint32_t n_models,
                                                 const struct nnb_buffer_desc *desc, bool fall_back,
                                                 struct nnb_reason *reason);

/* Is it shared memory after all? */
NNB_PUBLIC bool nnb_remote_buffer_fell_back(const struct nnb_remote_buffer *buffer);

/* How a call names it: as a pool (borrowed), and as an argument that is all of pool @pool of the call. */
NNB_PUBLIC struct nnb_pool *nnb_remote_buffer_pool(const struct nnb_remote_buffer *buffer);
NNB_PUBLIC struct nnb_argument nnb_remote_buffer_argument(const struct nnb_remote_buffer *buffer, uint32_t pool);

/* As nnb_buffer_copy_from and nnb_buffer_copy_to; with pools: nnb_pool_memory. */
NNB_PUBLIC enum nnb_status nnb_remote_buffer_copy_from(struct nnb_remote_buffer *buffer, const struct nnb_memory *from,
                                                       uint32_t rank, const uint32_t *dims, struct nnb_reason *reason);
NNB_PUBLIC enum nnb_status nnb_remote_buffer_copy_to(struct nnb_remote_buffer *buffer, const struct nnb_memory *to,
                                                     struct nnb_reason *reason);

/*
 * Executions that were launched with it end well; a call that has not returned is a use of it. NULL is fine. Returns
 * NULL.
 */
NNB_PUBLIC struct nnb_remote_buffer *nnb_remote_buffer_free(struct nnb_remote_buffer *buffer);

NNB_END_DECLS

#endif

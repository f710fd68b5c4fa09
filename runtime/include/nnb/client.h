/*
 * client.h -- the app's side of the service nnburstd: connect, prepare, execute by each of the four paths.
 *
 * Any thread may call anything here; closing or freeing an object excludes every other use of it. Every object holds
 * references to what it needs: a client may be closed before its models, a model before its bursts. A call that waits
 * returns when the answer arrives, the service dies (DEAD_OBJECT), or its timeout ends (GENERAL_FAILURE).
 *
 * After a fork without exec, only the parent may use the client. nnb_client(3).
 */
#ifndef NNB_CLIENT_H
#define NNB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/buffer.h"
#include "nnb/burst.h"
#include "nnb/counts.h"
#include "nnb/defs.h"
#include "nnb/device.h"
#include "nnb/model.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

/* ---- the connection ---- */

struct nnb_client;

struct nnb_client_config {
	const char *socket;  /* NULL: $NNBURST_SOCKET, $XDG_RUNTIME_DIR/nnburst/socket if there, /run/nnburst/socket */
	const char *name;    /* the app's name, for people to read; NULL: the program's name */
	uint64_t timeout_ns; /* of the connection, and of calls that set none of their own; 0: no timeout */
	/*
	 * The version of the HAL that the app was written for; 0: NNB_HAL_1_3. Earlier versions have no deadlines and
	 * no priorities: these are INVALID_ARGUMENT then, and the statuses for them become GENERAL_FAILURE. A
	 * model of a later HAL is INVALID_ARGUMENT.
	 */
	enum nnb_hal hal;
};

/*
 * @config may be NULL. 0, and the caller owns *ret; -errno: there is no service, or it refuses this client; see
 * @reason.
 */
NNB_PUBLIC int nnb_client_open(struct nnb_client **ret, const struct nnb_client_config *config,
                               struct nnb_reason *reason);

/* NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_client *nnb_client_close(struct nnb_client *client);

NNB_PUBLIC const struct nnb_service_info *nnb_client_info(const struct nnb_client *client); /* borrowed */

/* Whether the connection to the service still stands. */
NNB_PUBLIC bool nnb_client_alive(const struct nnb_client *client);

NNB_PUBLIC enum nnb_status nnb_client_counts(struct nnb_client *client, struct nnb_service_counts *ret,
                                             struct nnb_reason *reason);

/*
 * The lane time that an app received. Times count only while an execution waits for a lane; otherwise every app gets
 * all it can use. entitled: the lanes' time divided equally among the apps that have an execution ready or running,
 * none of them more than it can use. Lag: entitled minus received since the app last was idle.
 */
/*
 * Write the counts of at most @room apps into @ret, and the number of apps into *n. Clients that are neither root nor
 * the service's own user see only their own app.
 */
NNB_PUBLIC enum nnb_status nnb_client_apps(struct nnb_client *client, struct nnb_app_counts *ret, uint32_t room,
                                           uint32_t *n, struct nnb_reason *reason);

/* ---- models ---- */

/* For each operation, whether the service's device supports it: one bool each (nnb_device_supported). */
NNB_PUBLIC enum nnb_status nnb_client_supported(struct nnb_client *client, const struct nnb_model *model, bool *ret,
                                                struct nnb_reason *reason);

struct nnb_remote; /* a model that the service has prepared */

/*
 * Like nnb_prepare. @model is borrowed for the call. NONE, and the caller owns *ret. @how may be NULL: fast answers,
 * medium priority.
 */
NNB_PUBLIC enum nnb_status nnb_remote_prepare(struct nnb_client *client, const struct nnb_model *model,
                                              const struct nnb_prepare *how, const struct nnb_cache *cache,
                                              struct nnb_remote **ret, struct nnb_reason *reason);

/* Like nnb_prepare_from_cache. @model is the one from which the cache entry was made; borrowed for the call. */
NNB_PUBLIC enum nnb_status nnb_remote_prepare_from_cache(struct nnb_client *client, const struct nnb_model *model,
                                                         uint64_t deadline_ns, const struct nnb_cache *cache,
                                                         struct nnb_remote **ret, struct nnb_reason *reason);

NNB_PUBLIC enum nnb_status nnb_remote_times(struct nnb_remote *remote, struct nnb_times *ret,
                                            struct nnb_reason *reason);

NNB_PUBLIC const struct nnb_model *
nnb_remote_model(const struct nnb_remote *remote);                           /* borrowed; without its pools' memory */
NNB_PUBLIC uint32_t nnb_remote_id(const struct nnb_remote *remote);          /* the service's number of the model */
NNB_PUBLIC struct nnb_remote *nnb_remote_release(struct nnb_remote *remote); /* NULL is fine. Returns NULL. */

/* ---- executing ---- */

/* The ordinary path: pools are passed, mapped and unmapped for this execution. @answer may be NULL. */
NNB_PUBLIC enum nnb_status nnb_remote_execute(struct nnb_remote *remote, const struct nnb_call *call,
                                              struct nnb_answer *answer, struct nnb_reason *reason);

/*
 * Like nnb_remote_execute, without waiting. @done is called exactly once, whatever this function returns (P-32): on a
 * thread of the client, or before this returns. The pools must stay until then. The shapes of the result are valid
 * only during the call of @done; exec is the number of the execution in traces. @done must not execute by a burst,
 * because the service may ask the very same thread for a slot's memory. The call's timeout is ignored.
 */
NNB_PUBLIC enum nnb_status nnb_remote_execute_async(struct nnb_remote *remote, const struct nnb_call *call,
                                                    void (*done)(void *arg, const struct nnb_result *result), void *arg,
                                                    struct nnb_reason *reason);

/* ---- fenced execution: the call returns when the execution is launched (Q-31 to Q-36) ---- */

struct nnb_fenced;

struct nnb_fenced_how {
	const int *wait_for; /* fences (nnb/fence.h), borrowed for the call */
	uint32_t n_wait_for;
	uint64_t duration_ns; /* limit of the time after the fences are signalled; 0: no limit */
};

/*
 * Execute once all fences are signalled. NONE: the caller owns *ret and the fence *ret_fence (nnb_fenced_free,
 * close); the fence is signalled when the outputs are written, and fails if the execution fails or the service dies.
 * Any other status is returned at once, and the caller owns nothing; INVALID_ARGUMENT includes an fd that is not a
 * fence, a failed fence, and outputs that are not fully specified. The pools must stay until the fence is signalled
 * or has failed. @how may be NULL.
 */
NNB_PUBLIC enum nnb_status nnb_remote_execute_fenced(struct nnb_remote *remote, const struct nnb_call *call,
                                                     const struct nnb_fenced_how *how, struct nnb_fenced **ret,
                                                     int *ret_fence, struct nnb_reason *reason);

/*
 * The status of the execution. GENERAL_FAILURE while it is under way. The timings are measured if the call
 * asked for them and the execution succeeded: from the launch, and from the signal of the last fence, to the signal
 * of its own fence. Both may be NULL.
 */
NNB_PUBLIC enum nnb_status nnb_fenced_info(struct nnb_fenced *fenced, struct nnb_timing *since_launch,
                                           struct nnb_timing *since_fences, struct nnb_reason *reason);

/* The number of the execution in traces (docs/events.md). */
NNB_PUBLIC uint64_t nnb_fenced_exec(const struct nnb_fenced *fenced);

/* Free the handle, at any time: the execution continues. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_fenced *nnb_fenced_free(struct nnb_fenced *fenced);

/* ---- bursts ---- */

/* Open a burst on the model. @config may be NULL. NONE, and the caller owns *ret: nnb_burst_execute, nnb_burst_free. */
NNB_PUBLIC enum nnb_status nnb_remote_burst(struct nnb_remote *remote, const struct nnb_burst_config *config,
                                            struct nnb_burst **ret, struct nnb_reason *reason);

/*
 * For another implementation of the controller: how it reaches the service, to configure one burst with its own
 * queues and callback, once. The library does not read the queues. NONE and *ret; call release after the context is
 * closed, or if it was never configured.
 */
NNB_PUBLIC enum nnb_status nnb_remote_burst_service(struct nnb_remote *remote, struct nnb_burst_service *ret,
                                                    struct nnb_reason *reason);

/* ---- memory domains: buffers that the service's driver keeps ---- */

struct nnb_remote_buffer;

/*
 * Like nnb_buffer_new, for models of this client. RESOURCE_EXHAUSTED_* also if the buffer exceeds the limit of the
 * app, or of all apps together. The buffer ends with its client at the latest. With @fall_back, a buffer that is
 * refused, but not as INVALID_ARGUMENT, and whose size is known, becomes shared memory: *ret is used in the same way
 * then, and holds zeroes at first.
 */
NNB_PUBLIC enum nnb_status nnb_remote_buffer_new(struct nnb_remote_buffer **ret, struct nnb_client *client,
                                                 struct nnb_remote *const *models, uint32_t n_models,
                                                 const struct nnb_buffer_desc *desc, bool fall_back,
                                                 struct nnb_reason *reason);

/* Whether the buffer is shared memory because the driver refused it. */
NNB_PUBLIC bool nnb_remote_buffer_fell_back(const struct nnb_remote_buffer *buffer);

/* The buffer as a pool of a call (borrowed), and as an argument that is the whole of pool @pool of the call. */
NNB_PUBLIC struct nnb_pool *nnb_remote_buffer_pool(const struct nnb_remote_buffer *buffer);
NNB_PUBLIC struct nnb_argument nnb_remote_buffer_argument(const struct nnb_remote_buffer *buffer, uint32_t pool);

/* Like nnb_buffer_copy_from and nnb_buffer_copy_to; for a pool's memory see nnb_pool_memory. */
NNB_PUBLIC enum nnb_status nnb_remote_buffer_copy_from(struct nnb_remote_buffer *buffer, const struct nnb_memory *from,
                                                       uint32_t rank, const uint32_t *dims, struct nnb_reason *reason);
NNB_PUBLIC enum nnb_status nnb_remote_buffer_copy_to(struct nnb_remote_buffer *buffer, const struct nnb_memory *to,
                                                     struct nnb_reason *reason);

/*
 * Free the buffer. Executions that were launched with it end normally; a call that has not returned still uses it,
 * and must return first. NULL is fine. Returns NULL.
 */
NNB_PUBLIC struct nnb_remote_buffer *nnb_remote_buffer_free(struct nnb_remote_buffer *buffer);

NNB_END_DECLS

#endif

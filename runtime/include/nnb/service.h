/*
 * service.h -- the service itself: what nnburstd runs, and a program of one's own can.
 *
 * It listens on a Unix socket, and gives each client what nnb/client.h promises. A client that misbehaves or dies
 * loses what it had, and nobody else does. nnburstd(8).
 */
#ifndef NNB_SERVICE_H
#define NNB_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/device.h"
#include "nnb/policy.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

struct nnb_service;

enum nnb_app_identity {
	NNB_APP_UID, /* an app is a user, as on Android; anybody may connect */
	NNB_APP_PID  /* an app is a process; only the service's own user may connect */
};

/* What one app may have at a time; 0: the default. */
struct nnb_service_limits {
	uint32_t connections; /* 16 */
	uint32_t channels;    /* 64: calls under way at once */
	uint32_t models;      /* 64 */
	uint32_t bursts;      /* 256 */
	uint32_t buffers;     /* 1024: memory domains */
	uint32_t pools;       /* 4096: of models, kept by bursts, and of calls under way */
	uint32_t async;       /* 64: executions under way */
	uint64_t work_ns;     /* 60 s: that an execution is estimated to take, alone */
	uint64_t bytes;       /* 4 GiB: of those pools and buffers, of models' operands, and of messages */
};

struct nnb_service_config {
	const char *socket; /* a path */
	enum nnb_app_identity identity;
	struct nnb_device *device; /* borrowed until close */
	struct nnb_service_limits limits;
	uint32_t connections; /* of all apps; 0: 256 */
	enum nnb_policy policy;
	enum nnb_preempt preempt;
	enum nnb_deadlines deadlines;
	uint32_t lanes;       /* executions at a time, to 64; 0: one a cpu. Of no meaning to NNB_POLICY_NATIVE */
	uint64_t memory;      /* bytes that all apps together may have, as of limits; 0: as much as there is */
	uint64_t window_ns;   /* how long bursts poll for a request: NNB_FMQ_WINDOW_*, or ns */
	bool plain_bursts;    /* bursts do not keep mappings (B-31 a) */
	uint64_t callback_ns; /* how long a client may take to say what a slot is; 0: 10 s */
};

/*
 * Bind and listen. 0 and *ret owned; -EADDRINUSE: another instance has that socket; another -errno. A socket that
 * nobody listens on is replaced.
 */
NNB_PUBLIC int nnb_service_open(struct nnb_service **ret, const struct nnb_service_config *config,
                                struct nnb_reason *reason);

/*
 * Serve until stopped; then every client is let go, within 1.5 s. 0 or -errno. -EBUSY: something has not ended by then (an
 * operation of the driver, a file system that does not answer), and a thread is still at it: close must not be called, only
 * exit, which is what ends it.
 */
NNB_PUBLIC int nnb_service_run(struct nnb_service *service);

/* Have run return. Any thread, any time before close, and from a signal handler. */
NNB_PUBLIC void nnb_service_stop(struct nnb_service *service);

/* Remove the socket, free all. It must not be running. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_service *nnb_service_close(struct nnb_service *service);

NNB_END_DECLS

#endif

/*
 * service.h -- the service that nnburstd runs, and that other programs can embed.
 *
 * The service listens on a Unix socket and serves clients of nnb/client.h. A client that misbehaves or dies loses its
 * own objects; other clients keep theirs. nnburstd(8).
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
	NNB_APP_UID, /* each user is an app, as on Android, with the subordinate uids; every user may connect */
	NNB_APP_PID  /* each process is an app; only the service's own user may connect */
};

/* Limits of one app. 0: the default, given here. */
struct nnb_service_limits {
	uint32_t connections; /* 16 */
	uint32_t channels;    /* 64: concurrent calls */
	uint32_t models;      /* 64 */
	uint32_t bursts;      /* 256 */
	uint32_t buffers;     /* 1024: memory domains */
	uint32_t pools;       /* 4096: pools of models, of bursts, and of calls under way */
	uint32_t async;       /* 64: asynchronous executions under way */
	/* half of the cpus: calls that read whole models and are worked on at the same time; more calls wait */
	uint32_t preparations;
	uint64_t work_ns; /* 60 s: estimated duration of one execution on an idle core */
	uint64_t bytes;   /* 4 GiB: in these pools and buffers, in models' operands, and in messages */
};

struct nnb_service_config {
	const char *socket; /* a path */
	enum nnb_app_identity identity;
	struct nnb_device *device; /* borrowed until close */
	struct nnb_service_limits limits;
	uint32_t connections; /* limit of all apps together; 0: 256 */
	enum nnb_policy policy;
	enum nnb_preempt preempt;
	enum nnb_deadlines deadlines;
	uint32_t lanes;  /* concurrent executions, at most 64; 0: one for each cpu. NNB_POLICY_NATIVE ignores it */
	uint64_t memory; /* limit of bytes of all apps together, counted as in limits.bytes; 0: the machine's memory */
	uint64_t window_ns;   /* how long bursts poll for a request: NNB_FMQ_WINDOW_*, or ns */
	bool plain_bursts;    /* bursts do not keep mappings (B-31 a) */
	uint64_t callback_ns; /* time for a client to answer which memory a slot is; 0: 10 s */
	/* A file, subuid(5), whose uids are one app with their account (NNB_APP_UID). NULL: none. Borrowed until
	 * close. */
	const char *subuid;
	int prober; /* from nnb_service_prober, borrowed until the process ends; 0: no prober */
};

/*
 * Start a process, the prober, which starts others that make calls on the files of apps: calls that such a file can
 * keep from ever returning (nnburstd(8)). Call this once, in the main thread, before the process starts another thread
 * or opens a service. The prober ends with the process. 0 and *ret, a socket; or -errno. Without a prober, an app can
 * keep a thread of the service waiting for ever, which then not even SIGKILL ends.
 */
NNB_PUBLIC int nnb_service_prober(int *ret);

/*
 * Before the process exits: end the prober, and wait for its end, 0.2 s at most. Does nothing if files of apps stay
 * mapped: then the prober ends once the kernel has unmapped them.
 */
NNB_PUBLIC void nnb_service_prober_stop(int prober);

/* The prober ends after the process @pid, too, because that shares the memory of this one. 0 or -errno. */
NNB_PUBLIC int nnb_service_prober_follow(int prober, int pid);

/*
 * The number of mappings of apps' files that there are, of all services of the process. After nnb_service_run, the
 * kernel unmaps them when the process exits. 0 without a prober.
 */
NNB_PUBLIC uint64_t nnb_service_mapped(void);

/*
 * Bind and listen. 0, and the caller owns *ret; -EADDRINUSE: another instance listens on that socket; another -errno. A
 * socket on which no process listens is replaced.
 */
NNB_PUBLIC int nnb_service_open(struct nnb_service **ret, const struct nnb_service_config *config,
                                struct nnb_reason *reason);

/*
 * Serve until stopped, then disconnect every client within 1.5 s. 0 or -errno. -EBUSY: a thread has not ended by then
 * (it is in an operation of the driver, or waits for a file system that does not answer): the caller must not call
 * close, but exit.
 */
NNB_PUBLIC int nnb_service_run(struct nnb_service *service);

/* Make nnb_service_run return. From any thread or signal handler, at any time before close. */
NNB_PUBLIC void nnb_service_stop(struct nnb_service *service);

/* Remove the socket and free the service, which must not be running. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_service *nnb_service_close(struct nnb_service *service);

NNB_END_DECLS

#endif

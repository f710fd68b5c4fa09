/*
 * counts.h -- the structs that the service answers with: its rules, what it holds, the lane time of each app, the
 * times of models.
 *
 * nnb/client.h has the calls. The messages carry them a field at a time (runtime/wire/fields.c).
 */
#ifndef NNB_COUNTS_H
#define NNB_COUNTS_H

#include <stdint.h>

#include "nnb/device.h"

/* The service that answers, and its rules. */
struct nnb_service_info {
	uint32_t pid;        /* the service's process */
	uint32_t instance;   /* number of this run of the service, 1 to 4095; another one after each start */
	uint32_t connection; /* the number of this connection */
	uint32_t app;        /* the app that this client counts as: the uid of an account, or a pid */
	uint32_t policy, preempt, deadlines, lanes; /* the service's rules (nnb/service.h) */
	uint32_t sync_stream, fenced_stream,
		async_stream; /* the stream numbers in traces of this client's calls of each kind (docs/events.md) */
	char driver[NNB_NAME_MAX], version[NNB_NAME_MAX];
	struct nnb_capabilities capabilities;
};

/* Resources that the service holds, and counts of its calls, for all apps and for this one. */
struct nnb_service_counts {
	struct nnb_holdings {
		uint64_t connections, channels, models, bursts, buffers, pools, bytes, executions_under_way;
	} all, app, limit; /* limit: the limits of this app; UINT64_MAX: no limit */
	/*
	 * Resources that the machine limits. The service charges an app with the most that its objects can use.
	 * limit: the machine's limit; most: the limit of one app; guaranteed: what each of the first 64 apps can get,
	 * regardless of the others; all, app: charged to all apps, and to this one.
	 */
	struct nnb_budget {
		uint64_t limit, most, guaranteed, all, app;
	} descriptors, mappings, memory, threads;
	uint64_t burst_requests, burst_malformed, slot_lookups, slot_misses;
	uint64_t sync_executions, async_executions, fenced_executions, refused;
	uint32_t performance_held; /* 1: the device is kept in its fast state */
};

struct nnb_app_counts {
	uint32_t app;     /* a uid, or a pid */
	uint32_t waiting; /* executions that wait for a lane at the moment */
	uint64_t executions;
	uint64_t preemptions, restarts;
	/* missed deadlines by status; late: finished after the deadline */
	uint64_t missed_transient, missed_persistent, late;
	uint64_t received_ns, entitled_ns;
	int64_t max_lag_ns;
	uint64_t longest_wait_ns; /* the longest uninterrupted wait for a lane */
};

/* How long executions of a model take, as the service has measured. 0: not measured yet. */
struct nnb_times {
	uint64_t floor_ns;    /* shortest lane time of an execution */
	uint64_t estimate_ns; /* recent lane time of an execution */
	uint64_t step_ns;     /* longest operation on an idle device: the largest distance of checkpoints */
	uint64_t longest_ns;  /* longest time between two checkpoints of all executions so far */
};

#endif

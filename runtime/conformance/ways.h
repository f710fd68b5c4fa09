/*
 * ways.h -- executes one example of a model in every requested way: each path, with inputs and outputs in shared
 * memory and in the device's memory. All ways must produce the same bits.
 */
#ifndef WAYS_H
#define WAYS_H

#include "device_memory.h"
#include "nnb/client.h"

/* The paths of an execution: through a service, or in this process, where the execution can be preempted. */
enum { BY_SYNC = 1, BY_BURST = 2, BY_FENCED = 4, AT_ONE_GO = 8, SAVED = 16, RESTARTED = 32 };
enum { SERVICE_PATHS = 3, N_PATHS = 6 };
extern const char *const path_names[N_PATHS];

/* The memory of inputs and outputs. */
enum { SHARED, DEVICE, N_MEMORIES };

struct ways {
	unsigned paths;
	bool memories[N_MEMORIES];
	uint64_t arguments,
		kept; /* arguments for DEVICE memory: their number, and how many of them the device accepted */
};

/* A model that can be executed, by a service or in this process. All zeroes: no model. */
struct target {
	struct nnb_prepared *prepared; /* set in this process; otherwise remote is set */
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct device_memory memory;
	bool fails; /* every execution must fail, and there is no output to compare */
};

void target_free(struct target *t);

/* Run the example in all ways. False: an execution failed or an output is wrong; the reason describes it. */
bool run_example(struct ways *ways, const struct target *t, const struct nnb_example *x, struct nnb_reason *reason);

#endif

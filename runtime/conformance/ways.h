/*
 * ways.h -- one example of a model, executed in every way that was asked for: each path there is, with inputs and outputs
 * in memory that is shared, and in the device's. All ways have to give the same bits.
 */
#ifndef WAYS_H
#define WAYS_H

#include "device_memory.h"
#include "nnb/client.h"

/* The paths an execution can take: through a service, or in this process, where it can be preempted. */
enum { BY_SYNC = 1, BY_BURST = 2, BY_FENCED = 4, AT_ONE_GO = 8, SAVED = 16, RESTARTED = 32 };
enum { SERVICE_PATHS = 3, N_PATHS = 6 };
extern const char *const path_names[N_PATHS];

/* Where inputs and outputs lie. */
enum { SHARED, DEVICE, N_MEMORIES };

struct ways {
	unsigned paths;
	bool memories[N_MEMORIES];
	uint64_t arguments,
		kept; /* counted, where one is DEVICE: those that there were, and those that did lie there */
};

/* A model that can be executed, one way or another. All zeroes are none. */
struct target {
	struct nnb_prepared *prepared; /* or else */
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct device_memory memory;
	bool fails; /* no execution of it may succeed, and there is nothing to compare */
};

void target_free(struct target *t);

/* False: it failed, or an output is not as it should be: the reason says what. */
bool run_example(struct ways *ways, const struct target *t, const struct nnb_example *x, struct nnb_reason *reason);

#endif

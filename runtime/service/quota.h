/*
 * quota.h -- divides the machine's limits of one process among apps: file descriptors, mappings, memory, threads.
 *
 * A quota has a limit, in units. The service keeps a quarter of the limit for itself. Each of the first APPS apps is
 * guaranteed a part of the limit, whatever other apps hold; an app's units beyond its guarantee come out of a part
 * that all apps share. No app holds more than `most`.
 *
 *     limit L = 1/4 service + APPS * 1/128 guaranteed (1/2) + 1/4 shared;  most = 1/4
 *
 * CONCURRENCY  None: the caller orders the calls on one quota.
 */
#ifndef NNB_SERVICE_QUOTA_H
#define NNB_SERVICE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NNB__QUOTA_APPS = 64,
	NNB__QUOTA_ADMINISTRATORS = 2, /* of these, for root and the service's own user, whenever they come */
	NNB__QUOTA_PARTS = 128
};

struct nnb__quota {
	uint64_t limit, guaranteed, most, shared;
	uint64_t used, shared_used; /* by all apps */
};

/* The units that one app holds of a quota. */
struct nnb__quota_held {
	uint64_t units;
	bool guaranteed; /* one of the first apps, which have a guaranteed share */
};

enum nnb__quota_answer {
	NNB__QUOTA_HAS,   /* the units are available */
	NNB__QUOTA_OWN,   /* the app would hold more than one app may */
	NNB__QUOTA_SHARED /* the app holds its guarantee, and the shared part is used up */
};

/* Initialise from the machine's @limit. */
void nnb__quota_init(struct nnb__quota *quota, uint64_t limit);

/* Initialise from a @limit for apps alone: the service keeps nothing for itself, and an app may use all of it. */
void nnb__quota_init_of_apps(struct nnb__quota *quota, uint64_t limit);

/* Whether @held can have @n units more. Changes nothing. */
enum nnb__quota_answer nnb__quota_asks(const struct nnb__quota *quota, const struct nnb__quota_held *held, uint64_t n);

/* Move @n units to @held, after nnb__quota_asks has returned NNB__QUOTA_HAS, or back. */
void nnb__quota_take(struct nnb__quota *quota, struct nnb__quota_held *held, uint64_t n);
void nnb__quota_give(struct nnb__quota *quota, struct nnb__quota_held *held, uint64_t n);

/* ---- the machine's limits for this process ---- */

uint64_t nnb__machine_descriptors(void); /* RLIMIT_NOFILE, as it is now */
uint64_t nnb__machine_mappings(void);    /* vm.max_map_count */
uint64_t nnb__machine_memory(void);      /* the least of: the machine's memory, memory.max of the cgroups, RLIMIT_AS */

/*
 * The threads that this process may have: the least of what RLIMIT_NPROC, pids.max of the cgroups, kernel.threads-max
 * and kernel.pid_max leave beside the threads that other processes have now. *name: the name of that limit, a
 * literal.
 */
uint64_t nnb__machine_threads(const char **name);

#endif

/*
 * quota.h -- how what the machine lets one process have is shared out among apps: file descriptors, mappings, memory.
 *
 * A quota has a limit, in units. A quarter of the limit stays the service's. Each of the first APPS apps is guaranteed a
 * part of the limit, whatever the others hold; what an app holds beyond its guarantee comes out of a part that all of them
 * share. No app holds more than `most`.
 *
 *     limit L = 1/4 service + APPS * 1/128 guaranteed (1/2) + 1/4 shared;  most = 1/4
 *
 * CONCURRENCY  None: the caller orders the calls on one quota.
 */
#ifndef NNB_SERVICE_QUOTA_H
#define NNB_SERVICE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

enum { NNB__QUOTA_APPS = 64, NNB__QUOTA_PARTS = 128 };

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
	NNB__QUOTA_HAS,
	NNB__QUOTA_OWN,   /* the app would have more than an app may */
	NNB__QUOTA_SHARED /* the app has its guarantee, and the shared part is used up */
};

/* Initialise from the machine's @limit. */
void nnb__quota_init(struct nnb__quota *quota, uint64_t limit);

/* Initialise from a @limit for apps alone: the service keeps nothing for itself, and an app may use all of it. */
void nnb__quota_init_of_apps(struct nnb__quota *quota, uint64_t limit);

/* Would @held have @n units more? Nothing changes. */
enum nnb__quota_answer nnb__quota_asks(const struct nnb__quota *quota, const struct nnb__quota_held *held, uint64_t n);

/* @held has @n units more: nnb__quota_asks has said so. */
void nnb__quota_take(struct nnb__quota *quota, struct nnb__quota_held *held, uint64_t n);
void nnb__quota_give(struct nnb__quota *quota, struct nnb__quota_held *held, uint64_t n);

/* ---- what the machine lets this process have ---- */

uint64_t nnb__machine_descriptors(void); /* RLIMIT_NOFILE, as it is now */
uint64_t nnb__machine_mappings(void);    /* vm.max_map_count */
uint64_t nnb__machine_memory(void);      /* the least of: the machine's memory, memory.max of the cgroups, RLIMIT_AS */

#endif

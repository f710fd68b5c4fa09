/*
 * slots.h -- the client's slots: which pool has which number in one burst (S-1 to S-7).
 *
 * CONCURRENCY  Everything may be called at any time from any thread: one lock orders it, under which nobody waits.
 *              A pool that is being given up takes two steps, with the message to the service in between and no lock
 *              held (S-13b): it has its slot still, and is found by nobody.
 */
#ifndef NNB_BURST_SLOTS_H
#define NNB_BURST_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "burst/map.h"
#include "burst/pool.h"
#include "nnb/status.h"

/* For qsort and bsearch of int32_t. */
int nnb__by_slot(const void *a, const void *b);

struct nnb__slots {
	pthread_mutex_t lock;
	atomic_uint generation;          /* slots given up so far */
	struct nnb__map by_pool;         /* a pool's id to its slot */
	const struct nnb_pool **by_slot; /* NULL: nobody's, or being given up */
	int32_t *freed;                  /* a stack: the last one freed is the next one given (S-2) */
	uint32_t n, n_freed, room;       /* slots ever given; of those, freed; room for both lists */
};

void nnb__slots_init(struct nnb__slots *slots);
void nnb__slots_fini(struct nnb__slots *slots);

/* The slots of @n pools; those that have none get one. Traces are told of each lookup, as @exec's. 0 or -ENOMEM. */
int nnb__slots_of(struct nnb__slots *slots, struct nnb_pool *const *pools, uint32_t n, uint64_t exec, int32_t *ret);

/* Another one: a pool has lost its slot. Look before slots are looked up. */
static inline uint32_t nnb__slots_generation(const struct nnb__slots *slots)
{
	return atomic_load_explicit(&slots->generation, memory_order_acquire);
}

/* S-7: the memories of these slots, duplicated; all or none. */
enum nnb_status nnb__slots_memories(struct nnb__slots *slots, const int32_t *which, uint32_t n, struct nnb_memory *ret);

/* Has the pool a slot? Then nobody finds it from now on, and the slot is to be given back. */
bool nnb__slots_give_up(struct nnb__slots *slots, const struct nnb_pool *pool, int32_t *ret);
void nnb__slots_give_back(struct nnb__slots *slots, int32_t slot);

/* No slot means anything from now on. */
void nnb__slots_forget(struct nnb__slots *slots);

#endif

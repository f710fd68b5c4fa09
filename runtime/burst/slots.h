/*
 * slots.h -- the client's slots: which pool has which number in one burst (S-1 to S-7).
 *
 * CONCURRENCY  Any thread may call any function between init and fini. One lock orders the calls; no thread blocks
 *              while it holds the lock. A slot is freed in two steps, give_up and give_back; between them the caller
 *              sends the message to the service, without the lock (S-13b). Between the two steps no lookup finds the
 *              pool, and no other pool can get the slot.
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
	atomic_uint generation;          /* number of slots given up so far */
	struct nnb__map by_pool;         /* slot of each pool, by the pool's id */
	const struct nnb_pool **by_slot; /* pool of each slot; NULL: the slot is free, or is being given up */
	int32_t *freed;                  /* stack of free slots: the slot freed last is assigned next (S-2) */
	uint32_t n, n_freed, room;       /* slots ever assigned; free slots among them; room of both lists */
};

void nnb__slots_init(struct nnb__slots *slots);
void nnb__slots_fini(struct nnb__slots *slots);

/*
 * Find the slots of @n pools, and assign a slot to each pool without one. Emit an event for each lookup, with @exec.
 * 0 or -ENOMEM.
 */
int nnb__slots_of(struct nnb__slots *slots, struct nnb_pool *const *pools, uint32_t n, uint64_t exec, int32_t *ret);

/* A changed generation means that a pool has lost its slot. Load the generation before looking up slots. */
static inline uint32_t nnb__slots_generation(const struct nnb__slots *slots)
{
	return atomic_load_explicit(&slots->generation, memory_order_acquire);
}

/* Duplicate the memories of these slots, all or none (S-7). */
enum nnb_status nnb__slots_memories(struct nnb__slots *slots, const int32_t *which, uint32_t n, struct nnb_memory *ret);

/*
 * True: the pool had the slot *ret, no lookup finds it any more, and the caller must call give_back. False: the pool
 * has no slot.
 */
bool nnb__slots_give_up(struct nnb__slots *slots, const struct nnb_pool *pool, int32_t *ret);
void nnb__slots_give_back(struct nnb__slots *slots, int32_t slot);

/* Forget the pool of every slot: nnb__slots_memories refuses all slots assigned so far. */
void nnb__slots_forget(struct nnb__slots *slots);

#endif

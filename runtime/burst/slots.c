/* slots.c -- the client's slots: a map from pools to slots, an array from slots to pools, and a stack of free slots. */
#include "burst/slots.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "nbt/nbt.h"

int nnb__by_slot(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

void nnb__slots_init(struct nnb__slots *s)
{
	*s = (struct nnb__slots){ 0 };
	pthread_mutex_init(&s->lock, NULL);
}

void nnb__slots_fini(struct nnb__slots *s)
{
	nnb__map_fini(&s->by_pool);
	free(s->by_slot);
	free(s->freed);
	pthread_mutex_destroy(&s->lock);
}

static int slot_assign(struct nnb__slots *s, const struct nnb_pool *pool, uint32_t *ret)
{
	uint32_t slot = s->n_freed ? (uint32_t)s->freed[s->n_freed - 1] : s->n;
	uint32_t room = s->room, both = s->room;

	if (!s->n_freed &&
	    (!NNB__RESERVE(s->by_slot, room, s->n + 1, 16) || !NNB__RESERVE(s->freed, both, s->n + 1, 16)))
		return -ENOMEM;
	s->room = both;
	if (nnb__map_put(&s->by_pool, pool->id, slot))
		return -ENOMEM;
	if (s->n_freed)
		s->n_freed--;
	else
		s->n++;
	assert(slot < s->n && s->n <= s->room);
	s->by_slot[slot] = pool;
	*ret = slot;
	return 0;
}

int nnb__slots_of(struct nnb__slots *s, struct nnb_pool *const *pools, uint32_t n, uint64_t exec, int32_t *ret)
{
	int r = 0;

	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot;
		bool has = nnb__map_get(&s->by_pool, pools[i]->id, &slot);

		if (!has)
			r = slot_assign(s, pools[i], &slot);
		if (r)
			break;
		ret[i] = (int32_t)slot;
		NBT(slot_lookup, .exec = exec, .slot = ret[i], .hit = has, .look = NBT_look_client);
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

enum nnb_status nnb__slots_memories(struct nnb__slots *s, const int32_t *which, uint32_t n, struct nnb_memory *ret)
{
	enum nnb_status status = NNB_STATUS_NONE;
	uint32_t done = 0;

	pthread_mutex_lock(&s->lock);
	for (; done < n && !status; done++) {
		const struct nnb_pool *pool =
			which[done] < 0 || (uint32_t)which[done] >= s->n ? NULL : s->by_slot[which[done]];

		if (!pool)
			status = NNB_STATUS_INVALID_ARGUMENT;
		else if (nnb_memory_dup(&ret[done], &pool->memory))
			status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		if (status)
			break;
	}
	pthread_mutex_unlock(&s->lock);
	while (status && done)
		nnb_memory_close(&ret[--done]);
	return status;
}

bool nnb__slots_give_up(struct nnb__slots *s, const struct nnb_pool *pool, int32_t *ret)
{
	uint32_t slot;
	bool has;

	pthread_mutex_lock(&s->lock);
	has = nnb__map_take(&s->by_pool, pool->id, &slot);
	if (has) {
		assert(slot < s->n);
		s->by_slot[slot] = NULL;
		atomic_fetch_add_explicit(&s->generation, 1, memory_order_release);
		*ret = (int32_t)slot;
	}
	pthread_mutex_unlock(&s->lock);
	return has;
}

void nnb__slots_give_back(struct nnb__slots *s, int32_t slot)
{
	pthread_mutex_lock(&s->lock);
	assert(slot >= 0 && (uint32_t)slot < s->n && !s->by_slot[slot]);
	assert(s->n_freed < s->n); /* the stack has room for every slot ever assigned */
	s->freed[s->n_freed++] = slot;
	pthread_mutex_unlock(&s->lock);
}

void nnb__slots_forget(struct nnb__slots *s)
{
	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->n; i++)
		s->by_slot[i] = NULL;
	pthread_mutex_unlock(&s->lock);
}

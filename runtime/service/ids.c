/*
 * ids.c -- a set of bits for the serials of living objects, and the serial that was taken last.
 *
 * CONCURRENCY  The lock of the set guards all of it. It is the innermost lock: a thread that takes or gives an id may
 *           hold the service's lock and a connection's.
 * PROGRESS  A search looks at each word of the set once, and at the first one twice: some 16 000 words if nearly all
 *           serials are taken.
 */
#include "service/ids.h"

#include <assert.h>

#include "base/lock.h"

enum { WORDS = NNB__ID_SERIALS / 64 };

void nnb__ids_init(struct nnb__ids *ids, uint32_t instance)
{
	assert(instance < UINT32_C(1) << (32 - NNB__ID_SERIAL_BITS));
	pthread_mutex_init(&ids->lock, NULL);
	ids->instance = instance;
	ids->taken[0] = 1; /* serial 0 is no serial: with instance 0 the id would be 0 */
}

void nnb__ids_fini(struct nnb__ids *ids)
{
	pthread_mutex_destroy(&ids->lock);
}

/* The first free serial after the last one that was taken; 0: all are taken. The lock is held. */
static uint32_t serial_find(const struct nnb__ids *ids)
{
	uint32_t from = (ids->last + 1) % NNB__ID_SERIALS;
	uint64_t usable =
		UINT64_MAX << from % 64; /* in the first word, the serials before the last one come at the end */

	assert(nnb__is_locked(&ids->lock));
	for (uint32_t i = 0; i <= WORDS; i++) {
		uint32_t word = (from / 64 + i) % WORDS;
		uint64_t unused = ~ids->taken[word] & usable;

		if (unused)
			return word * 64 + (uint32_t)__builtin_ctzll(unused);
		usable = UINT64_MAX;
	}
	return 0;
}

uint32_t nnb__id_take(struct nnb__ids *ids)
{
	uint32_t serial, id = 0;

	pthread_mutex_lock(&ids->lock);
	serial = serial_find(ids);
	if (serial) {
		ids->taken[serial / 64] |= UINT64_C(1) << serial % 64;
		ids->last = serial;
		id = ids->instance << NNB__ID_SERIAL_BITS | serial;
	}
	pthread_mutex_unlock(&ids->lock);
	return id;
}

void nnb__id_give(struct nnb__ids *ids, uint32_t id)
{
	uint32_t serial = id % NNB__ID_SERIALS;
	uint64_t bit = UINT64_C(1) << serial % 64;

	if (!id)
		return;
	pthread_mutex_lock(&ids->lock);
	assert(serial && id >> NNB__ID_SERIAL_BITS == ids->instance && (ids->taken[serial / 64] & bit));
	ids->taken[serial / 64] &= ~bit;
	pthread_mutex_unlock(&ids->lock);
}

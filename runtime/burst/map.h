/*
 * map.h -- a hash map from a 64-bit key to a 32-bit number. It finds slots by memory, and memory by slot.
 *
 * CONCURRENCY  The map has no lock; its user holds one for every call.
 */
#ifndef NNB_BURST_MAP_H
#define NNB_BURST_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct nnb__map_entry {
	uint64_t key;
	uint32_t value;
	bool used;
};

/* All zeroes is an empty map. */
struct nnb__map {
	struct nnb__map_entry *entries;
	uint32_t mask, n; /* mask + 1 entries: a power of two, more than half of them unused */
};

void nnb__map_fini(struct nnb__map *map);

/* Insert a key, which the map must not contain yet. 0 or -ENOMEM. */
int nnb__map_put(struct nnb__map *map, uint64_t key, uint32_t value);

/* Remove a key. True, and *ret is its value; false: the map does not contain the key. */
bool nnb__map_take(struct nnb__map *map, uint64_t key, uint32_t *ret);

static inline uint32_t nnb__map_home(const struct nnb__map *map, uint64_t key)
{
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & map->mask;
}

static inline bool nnb__map_get(const struct nnb__map *map, uint64_t key, uint32_t *ret)
{
	if (!map->n)
		return false;
	for (uint32_t i = nnb__map_home(map, key); map->entries[i].used; i = (i + 1) & map->mask) {
		if (map->entries[i].key == key) {
			*ret = map->entries[i].value;
			return true;
		}
	}
	return false;
}

#endif

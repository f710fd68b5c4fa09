/*
 * map.h -- the hash map of this room: a number for each key, which is a number, too.
 *
 * LAYOUT  Open addressing in a power of two of places, which doubles when three quarters of them
 *         are taken. Keys and values are in the places themselves, so that most look-ups touch one
 *         cache line. No key is ever removed, but all of them together are.
 * ZERO    The value 0 means that the map does not have the key. A caller that numbers things from 0
 *         stores the number + 1.
 * TEXTS   The key of a text is bsv_map_text of it, and two texts may have the same key by chance. The caller keeps the
 *         texts, compares them, and takes key + 1, and so on, for a text that finds another one at its key.
 * TRUST   Names of a trace are untrusted: an app that knew where a key goes could choose names that all go to the same
 *         place, and make each look-up as slow as a list. So places and keys of texts depend on a secret that each
 *         process draws anew. Nothing but time may depend on it: the order of places must not reach an answer.
 */
#ifndef BSV_BASE_MAP_H
#define BSV_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsv_map_place {
	uint64_t key, value; /* value 0: the place is free */
};

/* Zero it; fini frees its memory. */
struct bsv_map {
	struct bsv_map_place *places; /* owned; NULL as long as the map has never had a key */
	size_t n, room;               /* places that are taken at most; all places */
};

void bsv_map_fini(struct bsv_map *m);

/* Remove all keys. The memory stays: as many keys as there were can be added, and bsv_map_at does not fail. */
void bsv_map_clear(struct bsv_map *m);

/* Make room for @n keys, which are then added without another allocation. False: no memory. */
bool bsv_map_reserve(struct bsv_map *m, size_t n);

/* The value of @key, to be changed, borrowed until the next call; 0 if the key is new. NULL: no memory. */
uint64_t *bsv_map_at(struct bsv_map *m, uint64_t key);

/* The value of @key, or 0. */
uint64_t bsv_map_get(const struct bsv_map *m, uint64_t key);

/*
 * The key of @n bytes, which follow those that @key is of; 0 and any other number begin a key. For this process
 * alone.
 */
uint64_t bsv_map_text(uint64_t key, const void *bytes, size_t n);

/*
 * For what outlives the process, and no key of a map: FNV-1a of @n bytes, after those that @hash is of; BSV_HASH_NONE
 * is the hash of no byte.
 */
#define BSV_HASH_NONE UINT64_C(0xcbf29ce484222325)
uint64_t bsv_hash(uint64_t hash, const void *bytes, size_t n);

#endif
